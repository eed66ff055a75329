"""Planning what is made of samples."""

from itertools import islice

from callwright.generators.derivations import plan_derivations
from callwright.generators.kinds import kind_named
from callwright.warehouse.records import CallTurn, GoldCall, Sample, Tool, UserTurn

PARAMETERS = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("city", "day", "seats")},
    "required": ["city", "day", "seats"],
}


def tool_named(name: str) -> Tool:
    return Tool(name=name, description=f"{name} things.", parameters=PARAMETERS, category=name)


TOOLS = {tool.key: tool for tool in map(tool_named, ("Book", "Cancel", "Find", "Pay"))}
KEYS = tuple(TOOLS)


def sample(
    number: int, *, given: int = 1, gold: int = 0, candidates: tuple[str, ...] = KEYS[:3]
) -> Sample:
    arguments = {name: f"{name} {number}" for name in ("city", "day", "seats")[:given]}
    call = GoldCall(tool=TOOLS[KEYS[gold]].name, arguments=arguments)
    turns = (UserTurn(text=f"Request {number}"), CallTurn(calls=(call,)))
    return Sample(kind="imperfect", language="en", category="x", candidates=candidates, turns=turns)


SOURCES = [sample(number, given=1 + number % 2) for number in range(40)]


def planned(
    name: str,
    sources: list[Sample],
    obstacle: str = "",
    others: list[Sample] = [],  # noqa: B006
) -> list[str]:
    found = plan_derivations(
        kind_named(name), sources, TOOLS, seed=4, obstacle=lambda *_: obstacle, others=others
    )
    return [one.key for one in islice(found, 200)]


def test_the_order_of_the_sources_does_not_matter() -> None:
    assert planned("mSv", SOURCES) == planned("mSv", SOURCES[::-1])


def test_no_derivation_comes_twice_and_a_dialogue_is_made_of_a_source_once() -> None:
    assert len(set(planned("mSv", SOURCES))) == 3 * len(SOURCES)
    assert len(set(planned("sQsA", SOURCES))) == len(SOURCES)


def test_a_source_with_an_obstacle_is_passed_over() -> None:
    assert planned("mQmA", SOURCES, obstacle="It has one question only.") == []


def test_an_intent_shift_borrows_a_request_that_no_candidate_serves() -> None:
    others = [sample(100, gold=1), sample(101, gold=3, candidates=KEYS)]
    found = list(
        plan_derivations(
            kind_named("IS"), SOURCES, TOOLS, seed=4, obstacle=lambda *_: "", others=others
        )
    )
    assert {one.other.key for one in found if one.other} == {others[1].key}
    assert len(found) == 3 * len(SOURCES)
    assert all(one.origin and others[1].key in one.origin.parents for one in found)
