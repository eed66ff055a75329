"""Tools under other names: calls come back as they were, what is not shown is nobody's, and runs
see one side only.
"""

from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from callwright.flows.evaluation.paths import PathRun, run_path
from callwright.flows.evaluation.predictions import PromptingStrategy, predict
from callwright.flows.evaluation.tool_changes import AS_THEY_ARE, ShownTools, with_names
from callwright.generators.stages import StageContext
from callwright.llm.function_model import FunctionModel
from callwright.validators.metrics.callnavi.answers import notation_of
from callwright.validators.metrics.ratios import CandidateRun
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    MultiStepRun,
    ResultTurn,
    Sample,
    Tool,
    UserTurn,
)
from tests.support.flows.inn_world import TOOLS, Inns, inn_sample

NAMES = st.sampled_from([*"abcdef"])
RENAMES = st.dictionaries(NAMES, st.sampled_from([*"abcdefxyz"])).filter(
    lambda names: len({names.get(one, one) for one in "abcdef"}) == len("abcdef")
)


@given(RENAMES, st.dictionaries(NAMES, st.integers() | st.text()))
def test_what_fits_a_schema_fits_it_under_other_names(
    names: dict[str, str], arguments: dict[str, Any]
) -> None:
    schema = {
        "type": "object",
        "required": ["a"],
        "properties": {one: {"type": "integer"} for one in "abcdef"},
        "anyOf": [{"required": ["b"]}, {"required": ["c"], "properties": {"c": {"minimum": 3}}}],
        "dependentRequired": {"d": ["e"]},
        "if": {"required": ["f"]},
        "then": {"required": ["b"]},
    }
    renamed = {names.get(name, name): value for name, value in arguments.items()}
    fits = Draft202012Validator(schema).is_valid(arguments)
    assert Draft202012Validator(with_names(schema, names)).is_valid(renamed) == fits


def test_the_label_says_the_name_and_the_content_and_hides_no_notation() -> None:
    tool = Tool(name="a", description="", parameters={}, category="")
    one, other = (
        ShownTools(name="words", tools={"k": tool.with_changes(description=text)})
        for text in ("1", "2")
    )
    assert one.label.startswith("words@")
    assert one.label != other.label
    assert AS_THEY_ARE.label == ""
    for strategy, notation, found in (
        ("direct", "yaml", "yaml"),
        ("direct", "json", "json"),
        ("native", "json", None),
    ):
        assert notation_of(PromptingStrategy(strategy, notation, tools=one.label).label) == found  # type: ignore[arg-type]


BOOK = Tool(
    name="book",
    description="Book a table.",
    category="Food",
    parameters={
        "type": "object",
        "required": ["day"],
        "properties": {"day": {"type": "string"}, "guests": {"type": "integer"}},
    },
)
RESERVE = BOOK.with_changes(name="reserve", parameters=with_names(BOOK.parameters, {"day": "date"}))
SHOWN = ShownTools(
    name="words",
    tools={BOOK.key: RESERVE},
    names={"book": "reserve"},
    parameters={"book": {"day": "date"}},
)
TWICE = Sample(
    kind="conversation",
    language="en",
    category="Food",
    candidates=(BOOK.key,),
    turns=(
        UserTurn(text="A table for today."),
        CallTurn(calls=(GoldCall(tool="book", arguments={"day": "today"}),), executed=True),
        ResultTurn(results=({"day": "today"},)),
        UserTurn(text="And one for tomorrow."),
        CallTurn(calls=(GoldCall(tool="book", arguments={"day": "tomorrow"}),), executed=True),
    ),
)


async def test_a_candidate_sees_the_other_names_in_tools_and_history_and_is_kept_in_the_release_s() -> (
    None
):
    seen: list[str] = []

    def agent(
        messages: list[dict[str, Any]], tools: list[dict[str, Any]]
    ) -> list[tuple[str, dict[str, str]]]:
        [tool] = tools
        seen.append(str([messages, tools]))
        day = "tomorrow" if "tomorrow" in str(messages) else "today"
        return [(tool["function"]["name"], {"date": day}), ("book", {"day": day})]

    context = StageContext(
        FunctionModel("agent", agent, lambda _: None, ""), Random(1), {BOOK.key: BOOK}
    )
    prompting = PromptingStrategy("messages", tools=SHOWN.label)
    run = CandidateRun("v1", "agent", prompting.label)
    first, second = await predict(TWICE, context, run=run, prompting=prompting, shown=SHOWN)
    assert (first.subject, second.turn) == (TWICE.key, 4)
    assert [
        [(call.tool, call.arguments) for call in one.calls or ()] for one in (first, second)
    ] == [
        [("book", {"day": day}), ("book (its former name)", {"day": day})]
        for day in ("today", "tomorrow")
    ]
    assert '"date": "today"' in seen[1].replace("\\", "") or '"date":"today"' in seen[1].replace(
        "\\", ""
    )
    assert "'name': 'book'" not in seen[1]


async def test_a_run_goes_its_way_under_other_names() -> None:
    sample, inns = inn_sample("Rome"), Inns()
    names = {tool.name: f"{tool.name}_2" for tool in TOOLS}
    parameters = {"Search_Inns": {"dest_id": "place"}, "Inn_Details": {"inn_id": "dest_id"}}
    changed = {
        tool.key: tool.with_changes(
            name=names[tool.name],
            parameters=with_names(tool.parameters, parameters.get(tool.name, {})),
        )
        for tool in TOOLS
    }
    shown = ShownTools(name="second", tools=changed, names=names, parameters=parameters)
    steps = [turn.calls for turn in sample.turns if isinstance(turn, CallTurn)]
    asked: list[str] = []

    def agent(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> object:
        asked.append(str([messages, tools]))
        made = sum("tool_calls" in message for message in messages)
        if made == len(steps):
            return "It has 12 rooms."
        return [tuple(shown.show(call.tool, call.arguments)) for call in steps[made]]

    context = StageContext(
        FunctionModel("agent", agent, lambda _: None, ""),
        Random(1),
        {one.key: one for one in TOOLS},
        {"inns": inns},
    )
    run = PathRun("v1", "agent", "messages", shown=shown)
    [kept] = [
        one for one in await run_path(sample, context, run=run) if isinstance(one, MultiStepRun)
    ]
    assert (kept.success, kept.subject, kept.strategy) == (
        True,
        sample.key,
        f"messages/tools({shown.label})",
    )
    assert [call.tool for turn in kept.messages for call in turn.calls] == [
        call.tool for step in steps for call in step
    ]
    assert not any(f"'{name}'" in asked[-1] for name in names)
    assert "place" in asked[-1]
