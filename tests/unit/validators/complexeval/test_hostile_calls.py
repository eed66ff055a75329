"""Whatever a model sends as calls, a run takes it, goes on or ends, and tells why."""

from functools import cache, partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.metrics.complexeval.calls import CandidateCall, read_call
from callwright.validators.metrics.complexeval.rules import RunRules
from callwright.validators.metrics.complexeval.runs import SampleRun
from callwright.warehouse.records import Call, EvalMode, Tool
from tests.support.validators.complexeval.paths import CHAIN, HOTELS, TOOLS, matchers, open_run
from tests.support.validators.complexeval.rows import row_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
NAMES = st.sampled_from([one.name for one in TOOLS] + ["", "nope", "Search-Hotels"]) | st.text(
    max_size=5
)
PARAMETERS = st.dictionaries(
    st.sampled_from(["query", "dest_id", "adults", "hotel_id", "categories_filter", "x"]), JSON
)
CALLS = st.lists(st.builds(CandidateCall, NAMES, PARAMETERS | JSON), max_size=4)
MODES: tuple[EvalMode, ...] = ("as_paper", "as_published_code")


@cache
def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


@given(
    turns=st.lists(CALLS, max_size=5),
    mode=st.sampled_from(MODES),
    text=st.none() | st.text(max_size=3),
)
async def test_no_calls_break_a_run(
    turns: list[list[CandidateCall]], mode: EvalMode, text: str | None
) -> None:
    run = open_run(mode, turn_limit=4)
    for calls in turns:
        if run.outcome is None:
            judged = await run.take(calls)
            assert len(judged) in {0, len(calls)}
            assert all(one.matched or one.mistake for one in judged) or mode == "as_published_code"
    outcome = run.outcome or await run.finish(text)
    assert 0 <= outcome.success_turns <= outcome.total_turns == len(CHAIN)
    assert outcome.success or outcome.error is not None
    assert row_of("Hotels-0", outcome).success == outcome.success


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "arguments",
    [
        {"query": nested(50)},
        {"query": nested(5_000)},
        partial(nested, 500_000),  # made when it is needed: it takes a second
        '{"query": ' + "[" * 200_000 + "]" * 200_000 + "}",
        {"query": 10**20_000},
        '{"query": 1' + "0" * 20_000 + "}",
        {"query": float("inf")},
        '{"query": NaN}',
        {"query": "\ud800"},
        {"\udfff": 1},
        {"query": "x" * 1_000_000},
        {"query": None},
        {str(number): number for number in range(5_000)},
    ],
    ids=range(13),
)
async def test_values_that_are_too_much_are_mistakes_and_no_exceptions(
    mode: EvalMode, arguments: Any
) -> None:
    if isinstance(arguments, partial):
        arguments = {"query": arguments()}
    run = open_run(mode)
    judged = await run.take([CandidateCall("Search_Hotel_Destination", arguments)])
    assert not any(one.matched for one in judged)
    outcome = run.outcome or await run.finish("Done.")
    assert not outcome.success


@pytest.mark.parametrize(
    ("value", "told"),
    [(nested(101), "nested too deep"), (10**30, "Integer exceeds"), ("\ud800", "surrogates")],
)
def test_a_value_that_can_not_be_kept_is_told_as_such(value: Any, told: str) -> None:
    assert isinstance(read_call(CandidateCall("f", {"x": nested(90)}), ["f"]), Call)
    reason = read_call(CandidateCall("f", {"x": value}), ["f"])
    assert isinstance(reason, str)
    assert told in reason


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {"dest_id": True}},
        {"type": "object", "properties": {"dest_id": {"type": 3}}},
        {"type": "object", "properties": [], "required": []},
    ],
)
@pytest.mark.parametrize("mode", MODES)
async def test_odd_schemas_break_no_run(mode: EvalMode, parameters: dict[str, Any]) -> None:
    odd = Tool(name="Search_Hotels", description="", parameters=parameters, category="")
    run = SampleRun(CHAIN[2:], [odd], mode, matchers(), RunRules())
    await run.take([CandidateCall("Search_Hotels", HOTELS.arguments)])
    outcome = run.outcome or await run.finish("")
    assert not outcome.success
