"""Tools on their screen, and what people make of them."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.annotation.reviews import UnusableEdit
from callwright.annotation.screens import screen_for
from callwright.annotation.studio.records import PulledAnnotation
from callwright.annotation.tool_review import (
    ToolSurroundings,
    ToolTask,
    boxes,
    parse_tool_review,
    read_returned,
    tool_task,
)
from callwright.validators.checks.table import in_english, told_in_english
from callwright.warehouse.records import DoubtedFact, Evidence, Language, Tool, Verdict
from tests.unit.annotation.test_screens import _tree

TIME = {"type": "string", "description": "time of day"}


def _tool(name: str, description: str, **properties: dict[str, object]) -> Tool:
    parameters = {"type": "object", "properties": properties, "required": [*properties][:1]}
    returns = {"type": "object", "properties": {"success": {"type": "boolean"}}}
    return Tool(
        name=name, description=description, category="Clock", parameters=parameters, returns=returns
    )


SET = _tool("Clock.Alarms.setAlarm", "Set an alarm.", time=TIME)
MAKE = _tool("Clock.Alarms.makeAlarm", "Make a new alarm.", time=TIME, label={"type": "string"})
OTHER = _tool("Clock.Timers.startTimer", "Start a timer.", minutes={"type": "integer"})
FAR = SET.with_changes(category="Weather", name="Weather.Now.show")
TWIN = Evidence(argument="twin", kind="normalised", quote=SET.name, path=SET.key, rule="twin")
NEAR = DoubtedFact(kind="tools_near", tool=MAKE.name, other=SET.name)
DOUBT = Verdict(
    subject=MAKE.key,
    check="tool_redundancy",
    decision="unproved",
    reason="…: names 80% alike",
    evidence=(TWIN,),
    doubts=(NEAR,),
)
GAP = DoubtedFact(kind="unmanaged", tool=SET.name, argument="alarm", other=["change", "delete"])
PASSED = Verdict(subject=MAKE.key, check="tool_complexity", decision="proved")


def _task(language: Language = "en", **more: Any) -> ToolTask:
    company = ToolSurroundings([SET, MAKE, OTHER, FAR], in_english([GAP]))
    return tool_task(
        MAKE, company, told_in_english([DOUBT, PASSED]), reason="-", language=language, **more
    )


def _annotate(
    verdict: tuple[str, ...], *, subject: str = MAKE.key, skipped: bool = False, **held: str
) -> PulledAnnotation:
    controls: list[dict[str, Any]] = (
        [{"from_name": "verdict", "value": {"choices": list(verdict)}}] if verdict else []
    )
    reasons = held.pop("reasons", "")
    controls += [{"from_name": "reasons", "value": {"choices": [reasons]}}] if reasons else []
    controls += [{"from_name": name, "value": {"text": [text]}} for name, text in held.items()]
    return PulledAnnotation(
        server="local",
        task_id=1,
        annotation_id=2,
        kind="tool_review",
        subject=subject,
        version=1,
        reviewer="ann",
        reviewed_at=datetime(2026, 11, 21, tzinfo=UTC),
        seconds=4.0,
        skipped=skipped,
        result=tuple(controls),
    )


@pytest.mark.parametrize("language", ["en", "zh"])
def test_whatever_the_screen_shows_is_in_the_task(language: Language) -> None:
    tree = _tree(screen_for("tool_review", language))
    shown = {
        value[1:] for element in tree.iter() if (value := element.get("value", "")).startswith("$")
    }
    assert shown == set(_task(language).data()) - {"callwright_key", "subject", "version"}


def test_the_table_of_tasks_shows_no_json() -> None:
    hidden = screen_for("tool_review").hidden_columns
    shown = {name: str(value) for name, value in _task().data().items() if name not in hidden}
    assert [name for name, text in shown.items() if text.startswith(("[", "{"))] == []


def test_both_languages_answer_alike_and_no_hotkey_is_given_twice() -> None:
    kept = ("name", "alias", "hotkey", "toName", "choice", "required")
    controls = [
        [
            [element.get(name) for name in kept]
            for element in _tree(screen_for("tool_review", language)).iter()
        ]
        for language in ("en", "zh")
    ]
    assert controls[0] == controls[1]
    keys = [control[2] for control in controls[0] if control[2]]
    assert keys == [str(number) for number in range(1, 10)]


def test_the_twin_stands_beside_the_tool_and_the_category_behind_it() -> None:
    task = _task()
    assert [(line.author, line.text) for line in task.tool] == [
        ("name", "Clock.Alarms.makeAlarm"),
        ("description", "Make a new alarm."),
        ("time", "(string, required) time of day"),
        ("label", "(string, optional)"),
        ("→ returns", "success"),
    ]
    assert task.twin.splitlines() == [
        "Clock.Alarms.setAlarm: Set an alarm.",
        "  • time (string, required) time of day",
        "→ returns: success",
    ]
    assert task.company.splitlines() == [f"{one.name}: {one.description}" for one in (SET, OTHER)]
    assert task.why == "Clock.Alarms.makeAlarm may do the same as Clock.Alarms.setAlarm."
    assert (
        task.gaps
        == "No tool of the category lets anybody change / delete what Clock.Alarms.setAlarm makes"
        " (alarm)."
    )
    assert task.callwright_key == f"tool_review:{MAKE.key}:1"


def test_an_accepted_and_a_rejected_tool_give_reviews() -> None:
    accepted = parse_tool_review(_annotate(("accept",), comment="Fine."), MAKE).review
    assert accepted is not None
    assert (accepted.subject, accepted.kind, accepted.decision) == (
        MAKE.key,
        "tool_review",
        "accept",
    )
    assert (accepted.comment, accepted.result) == ("Fine.", None)
    rejected = parse_tool_review(_annotate(("reject",), reasons="redundant"), MAKE).review
    assert rejected is not None
    assert rejected.reasons == ("redundant",)


def test_an_edited_tool_is_a_new_one_named_by_the_review() -> None:
    schema = {"type": "object", "properties": {"when": TIME}, "required": ["when"]}
    held = {
        "edited_name": " Clock.Alarms.wakeMe ",
        "edited_description": "Wake\nme.",
        "edited_parameters": json.dumps(schema),
    }
    parsed = parse_tool_review(_annotate(("edit",), **held), MAKE)
    edited = MAKE.with_changes(
        name="Clock.Alarms.wakeMe", description="Wake me.", parameters=schema
    )
    assert parsed.edited == edited
    assert parsed.review is not None
    assert (parsed.review.decision, parsed.review.result) == ("edit", edited.key)


@pytest.mark.parametrize(
    ("held", "problem"),
    [
        ({"edited_name": "wake me"}, "is not a valid tool name"),
        ({"edited_name": "1st"}, "is not a valid tool name"),
        ({"edited_description": " "}, "needs a description"),
        ({"edited_parameters": "{"}, "not valid JSON"),
        ({"edited_parameters": "[]"}, "schema of an object"),
        ({"edited_parameters": '{"type": "object", "properties": []}'}, '"properties" must hold'),
        (
            {"edited_parameters": '{"type": "object", "properties": {"a": {"type": "text"}}}'},
            "not a valid JSON Schema",
        ),
        (
            {"edited_parameters": '{"type": "object", "properties": {}, "required": ["a"]}'},
            "'a' is required",
        ),
        ({"edited_parameters": '{"type": "object", "type": "array"}'}, "given twice"),
        ({"edited_parameters": '{"type": "object", "required": "a"}'}, "not a valid JSON Schema"),
    ],
)
def test_an_edit_that_makes_no_tool_goes_back_with_all_that_was_typed(
    held: dict[str, str], problem: str
) -> None:
    parsed = parse_tool_review(
        _annotate(("edit",), **{"edited_parameters": boxes(MAKE).parameters} | held), MAKE
    )
    assert parsed.review is None
    assert parsed.edited is None
    assert parsed.returned is not None
    assert problem in parsed.returned.problem
    back = _task(returned=parsed.returned)
    typed = boxes(MAKE).model_dump() | {
        name.removeprefix("edited_"): text for name, text in held.items()
    }
    assert {field: getattr(back, field) for field in typed} == typed
    assert back.version == 2
    assert problem in back.why


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(WORDS, WORDS, WORDS)
def test_whatever_is_typed_comes_back_as_it_was_but_for_breaks_in_a_name(
    name: str, description: str, text: str
) -> None:
    typed = {"edited_name": name, "edited_description": description, "edited_parameters": text}
    returned = parse_tool_review(_annotate((), **typed), MAKE).returned
    assert returned is not None
    back = read_returned(UnusableEdit.model_validate(returned.model_dump()))
    assert (back.description, back.parameters) == (description, text)
    assert back.name == " ".join(name.split())
