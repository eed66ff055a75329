"""Questions over a whole catalog: what is proved of good ones, and what must not be proved of
broken ones.
"""

from collections.abc import Callable

import pytest

from callwright.generators.catalogs.own_catalogs import domain_tools
from callwright.generators.routing import ROUTING_EASY, ROUTING_HARD, ROUTING_MEDIUM
from callwright.generators.routing.tool_graph import UNKNOWN, unknown_arguments, unknown_evidence
from callwright.validators.checks.format import check_format
from callwright.validators.checks.grounding import ground
from callwright.validators.checks.routing import check_routing, route
from callwright.validators.checks.verdicts import Answer
from callwright.warehouse.records import CallTurn, GoldCall, Sample, SampleFacts, Tool, UserTurn
from tests.support.generators.routing.asking import context_of, questions

BANK = domain_tools(["Bank"])


async def sample_of(kind: str, calls: int) -> Sample:
    return next(one for one in await questions(kind, count=40) if len(one.gold) == calls)


def with_gold(sample: Sample, *calls: GoldCall) -> Sample:
    return sample.with_changes(turns=(sample.turns[0], CallTurn(calls=calls)))


def saying(sample: Sample, text: str) -> Sample:
    return sample.with_changes(turns=(UserTurn(text=text), sample.turns[1]))


def verdict_on(sample: Sample, tools: list[Tool] = BANK) -> Answer:
    return route(sample, tools, tools)


def without_last(sample: Sample) -> Sample:
    return with_gold(sample, *sample.gold[:-1])


def reversed_calls(sample: Sample) -> Sample:
    return with_gold(sample, *reversed(sample.gold))


def with_invented_tool(sample: Sample) -> Sample:
    return with_gold(sample, sample.gold[0].with_changes(tool="teleportCustomer"), *sample.gold[1:])


def without_an_argument(sample: Sample) -> Sample:
    return with_gold(
        sample, *sample.gold[:-1], sample.gold[-1].with_changes(arguments={}, evidence=())
    )


def with_other_difficulty(sample: Sample) -> Sample:
    other = "medium" if sample.kind != ROUTING_MEDIUM else "easy"
    return sample.with_changes(facts=SampleFacts(difficulty=other))


def with_fewer_candidates(sample: Sample) -> Sample:
    keys = {tool.name: tool.key for tool in BANK}
    due = {keys[call.tool] for call in sample.gold}
    return sample.with_changes(candidates=tuple(sorted(due)))


ANY_KIND: list[Callable[[Sample], Sample]] = [
    without_last,
    with_invented_tool,
    without_an_argument,
    with_other_difficulty,
    with_fewer_candidates,
]


@pytest.mark.parametrize("breaks", ANY_KIND)
@pytest.mark.parametrize(
    ("kind", "calls"), [(ROUTING_EASY, 1), (ROUTING_MEDIUM, 2), (ROUTING_HARD, 2)]
)
async def test_a_broken_question_is_contradicted(
    kind: str, calls: int, breaks: Callable[[Sample], Sample]
) -> None:
    broken = breaks(await sample_of(kind, calls))
    [verdict] = await check_routing(broken, context_of("Bank"))
    assert verdict.decision == "contradicted", verdict.reason


async def test_a_call_before_its_source_is_contradicted() -> None:
    verdict = verdict_on(reversed_calls(await sample_of(ROUTING_HARD, 3)))
    assert verdict.decision == "contradicted"
    assert "is not made before call" in verdict.reason


def refed(call: GoldCall, feed: tuple[int, str] | None) -> GoldCall:
    [name] = unknown_arguments(call)
    kept = tuple(one for one in call.evidence if one.argument != name)
    return call.with_changes(
        evidence=kept if feed is None else (*kept, unknown_evidence(name, *feed))
    )


@pytest.mark.parametrize(
    ("feed", "reason"),
    [
        (None, "its evidence names no call that returns it"),
        ((0, "balance"), "returns no 'balance'"),
        ((1, "accountNumber"), "not made before"),
        ((7, "accountNumber"), "not made before"),
    ],
)
async def test_an_unknown_value_that_nothing_returns_is_contradicted(
    feed: tuple[int, str] | None, reason: str
) -> None:
    sample = await sample_of(ROUTING_HARD, 2)
    broken = with_gold(sample, sample.gold[0], refed(sample.gold[1], feed))
    verdict = verdict_on(broken)
    assert verdict.decision == "contradicted"
    assert reason in verdict.reason
    assert ground(broken, BANK).decision != "proved"


async def test_a_placeholder_in_an_easy_question_is_contradicted() -> None:
    sample = await sample_of(ROUTING_EASY, 1)
    [call] = sample.gold
    hidden = call.with_changes(arguments=dict.fromkeys(call.arguments, UNKNOWN), evidence=())
    verdict = verdict_on(with_gold(sample, hidden))
    assert verdict.decision == "contradicted"
    assert "The question is easy, but a value is unknown." in verdict.reason
    [formal] = await check_format(with_gold(sample, hidden), context_of("Bank"))
    assert formal.decision == "contradicted"


async def test_a_value_that_is_not_said_is_unproved() -> None:
    sample = await sample_of(ROUTING_EASY, 1)
    text = sample.request
    for one in sorted(sample.gold[0].evidence, key=lambda one: -(one.start or 0)):
        text = f"{text[: one.start]}it{text[one.end :]}"
    verdict = verdict_on(saying(sample, text))
    assert verdict.decision == "unproved"
    assert "The request does not say" in verdict.reason


async def test_calls_asked_for_in_another_order_are_unproved() -> None:
    for sample in await questions(ROUTING_MEDIUM, count=30):
        spans = [{(one.start, one.end) for one in call.evidence} for call in sample.gold]
        if len(spans) == 2 and not spans[0] & spans[1]:
            verdict = verdict_on(reversed_calls(sample))
            assert verdict.decision == "unproved"
            assert "but the request speaks of it later" in verdict.reason


async def test_a_tool_with_a_twin_in_the_catalog_is_contradicted() -> None:
    sample = await sample_of(ROUTING_EASY, 1)
    own = next(tool for tool in BANK if tool.name == sample.gold[0].tool)
    twin = own.with_changes(name=f"{own.name}Again")
    tools = [*BANK, twin]
    verdict = route(sample.with_changes(candidates=tuple(tool.key for tool in tools)), tools, tools)
    assert verdict.decision == "contradicted"
    assert f"{twin.name} does what {own.name} does" in verdict.reason
