"""Audits of the metric: whatever a model answered is shown as text, and whatever comes back is a
review or a reason why not.
"""

import json
import unicodedata
from datetime import UTC, datetime
from typing import get_args
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from callwright.annotation.prediction_audit import (
    AuditCase,
    AuditTask,
    audit_task,
    parse_audit,
    visible,
)
from callwright.annotation.screens import PREDICTION_AUDIT, audit_words_in, screen_for
from callwright.annotation.studio.records import PulledAnnotation
from callwright.validators.metrics.mistakes import ErrorType
from callwright.warehouse.errors import AnnotationError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    Prediction,
    Sample,
    Tool,
    UserTurn,
)

DUE = GoldCall(tool="book_table", arguments={"restaurant": "Blue Boat", "people": 4})
TOOL = Tool(
    name="book_table",
    description="Books a table.",
    category="dining",
    parameters={
        "type": "object",
        "properties": {"restaurant": {"type": "string"}, "people": {"type": "integer"}},
    },
)
REQUEST = UserTurn(text="A table for four at Blue Boat, please.")
MODEL = "openai/some-model"


def sample_of(*due: GoldCall, **changes: object) -> Sample:
    made = Sample(
        kind="perfect",
        language="en",
        category="dining",
        candidates=(TOOL.key,),
        turns=(REQUEST, CallTurn(calls=due)),
    )
    return made.with_changes(**changes)


def answer_of(
    sample: Sample, *calls: Call, turn: int = 1, text: str = "", **changes: object
) -> Prediction:
    made = Prediction(
        release="v1", subject=sample.key, turn=turn, candidate=MODEL, text=text, calls=calls
    )
    return made.with_changes(**changes)


def task_of(
    answer: Prediction, sample: Sample, error_type: str = "", **options: object
) -> AuditTask:
    return audit_task(
        AuditCase(answer, sample, [TOOL], error_type), **{"reason": "Drawn."} | options
    )


def called(tool: str = "book_table", /, **arguments: object) -> Call:
    return Call(tool=tool, arguments=arguments)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
calls_made = st.lists(
    st.builds(
        Call,
        tool=st.text(min_size=1, max_size=20) | st.just("book_table"),
        arguments=st.dictionaries(
            st.text(max_size=20) | st.just("people"), json_values, max_size=4
        ),
    ),
    max_size=3,
)


@example([], " \n", "", "en")
@example([Call(tool=" ")], "\u202e\x00", "wrong_tool", "zh")
@given(calls_made, st.text(), st.sampled_from(get_args(ErrorType)), st.sampled_from(["en", "zh"]))
def test_whatever_a_model_answers_becomes_text_that_a_server_can_hold(
    calls, text, error_type, language
):
    sample = sample_of(DUE)
    task = task_of(answer_of(sample, *calls, text=text), sample, error_type, language=language)
    told = json.loads(json.dumps(task.data()))
    shown = [line["text"] for line in told["conversation"]]
    shown += [told[name] for name in ("metric", "gold", "answer", "whole", "tools", "why", "title")]
    assert all(isinstance(one, str) and one.strip() for one in shown)
    for one in shown:
        one.encode("utf-8")
        hidden = [letter for letter in one if not letter.isprintable() and letter not in "\n\t"]
        assert {unicodedata.category(letter) for letter in hidden} <= {"Zs"}
    assert MODEL not in json.dumps(task.data())


@given(st.text(alphabet=st.characters(exclude_characters="\\")))
def test_what_nobody_sees_is_written_so_that_it_can_be_read_back(text):
    as_json = "".join(
        letter if letter not in '\n\t"' and letter.isprintable() else json.dumps(letter)[1:-1]
        for letter in visible(text)
    )
    assert json.loads(f'"{as_json}"') == text


def test_marks_say_what_differs_letter_by_letter():
    sample = sample_of(DUE)
    task = task_of(
        answer_of(sample, called(restaurant="Blue Boat", people="4", time="19:30")),
        sample,
        "wrong_value",
    )
    assert task.answer.splitlines() == [
        "  book_table",
        "    restaurant = Blue Boat",
        '≠   people = "4"',
        "+   time = 19:30",
    ]
    assert task.gold.splitlines() == [
        "  book_table",
        "    restaurant = Blue Boat",
        "    people = 4",
    ]
    lacking = task_of(answer_of(sample, called(people=4)), sample, "missing_argument")
    assert lacking.gold.splitlines() == [
        "  book_table",
        "−   restaurant = Blue Boat",
        "    people = 4",
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_whatever_the_audit_screen_shows_is_in_the_task(language):
    sample = sample_of(DUE)
    tree = ET.fromstring(screen_for(PREDICTION_AUDIT, language).config)  # noqa: S314 - our own file
    shown = {
        value[1:] for element in tree.iter() if (value := element.get("value", "")).startswith("$")
    }
    assert {"metric", "gold", "answer"} < shown <= set(task_of(answer_of(sample), sample).data())


def annotation_of(result: list[dict[str, object]], **changes: object) -> PulledAnnotation:
    return PulledAnnotation(
        **{
            "server": "s",
            "task_id": 7,
            "annotation_id": 70,
            "kind": PREDICTION_AUDIT,
            "subject": "p1",
            "version": 1,
            "reviewer": "ann",
            "reviewed_at": datetime(2026, 11, 21, tzinfo=UTC),
            "seconds": 4.0,
            "result": tuple(result),
        }
        | changes
    )


def held(name: str, field: str, *values: object) -> dict[str, object]:
    return {
        "from_name": name,
        "to_name": "conversation",
        "type": field,
        "value": {field: list(values)},
    }


def test_a_verdict_with_its_reasons_is_a_review():
    parsed = parse_audit(
        annotation_of(
            [
                held("verdict", "choices", "reject"),
                held("reasons", "choices", "too_strict", "gold_wrong"),
                held("comment", "text", "It is a nickname."),
            ]
        ),
        "p1",
    )
    assert (parsed.review.decision, parsed.review.reasons) == (
        "reject",
        ("too_strict", "gold_wrong"),
    )
    assert (parsed.review.comment, parsed.review.result) == ("It is a nickname.", None)
    assert (
        parse_audit(annotation_of([held("verdict", "choices", "accept")]), "p1").review.decision
        == "accept"
    )


@pytest.mark.parametrize(
    "result",
    [
        [held("verdict", "choices", "edit")],
        [held("verdict", "choices", "reject"), held("reasons", "choices", "wrong_tool")],
        [held("verdict", "choices", "maybe")],
    ],
)
def test_what_the_screen_does_not_offer_is_refused_with_the_task(result):
    with pytest.raises(AnnotationError, match=r"[Tt]ask 7 .* changed by hand"):
        parse_audit(annotation_of(result), "p1")


control = st.fixed_dictionaries(
    {
        "from_name": st.sampled_from(["verdict", "reasons", "comment", "about"]) | json_values,
        "value": (
            json_values
            | st.fixed_dictionaries(
                {
                    "choices": st.lists(
                        st.sampled_from(["accept", "reject", "gold_wrong", "other"]) | json_values,
                        max_size=3,
                    )
                }
            )
            | st.fixed_dictionaries(
                {"text": st.lists(st.text(), max_size=2) | st.text() | json_values}
            )
        ),
    }
) | st.dictionaries(st.text(), json_values, max_size=3)


@given(st.lists(control, max_size=4), st.booleans())
def test_whatever_an_annotation_holds_is_a_review_an_answer_that_goes_back_or_a_misfit(
    result, skipped
):
    try:
        parsed = parse_audit(annotation_of(result, skipped=skipped), "p1")
    except AnnotationError:
        return
    assert skipped or (parsed.review is None) != (parsed.returned is None)
    if parsed.review is not None:
        assert parsed.review.decision in ("accept", "reject")
        assert bool(parsed.review.reasons) == (parsed.review.decision == "reject")
        assert set(parsed.review.reasons) <= set(audit_words_in("en").reason)
