"""Every check has an answer to any sample that validates: a verdict, or a RecordError that says
what is wrong with it.
"""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.generators.stages import StageContext
from callwright.validators.checks.path import check_path
from callwright.validators.checks.table import all_checks
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import CallTurn, Sample
from tests.support.conversational import converse, template_context
from tests.support.generators.multi_step.town import goal
from tests.support.validators.mutating import mutants
from tests.unit.generators.multi_step.test_disambiguation import context as town_context
from tests.unit.validators.test_path import sample_of

RULES = [check for check in all_checks() if check.role is None]


async def answer_to(sample: Sample, context: StageContext) -> None:
    for check in RULES:
        if not check.applies(sample):
            continue
        try:
            verdicts = await check(sample, context)
        except (RecordError, ReplyError):
            continue
        assert [(one.subject, one.check) for one in verdicts] == [(sample.key, check.name)]
        assert [one for one in verdicts if one.decision != "proved" and not one.doubts] == [], (
            "a doubt is a typed fact"
        )


@given(seed=st.integers(0, 10_000))
async def test_a_broken_path_is_answered(seed: int) -> None:
    sample = await sample_of(goal())
    broken_ones = list(mutants(sample, Random(seed), 3))
    assert broken_ones
    for broken in broken_ones:
        await answer_to(broken, town_context())


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
async def test_a_broken_conversation_is_answered(seed: int) -> None:
    sample = await converse("goal_correction" if seed % 2 else "goal_stacking", seed=seed % 7)
    broken_ones = list(mutants(sample, Random(seed), 4))
    assert broken_ones
    for broken in broken_ones:
        await answer_to(broken, template_context())


async def test_a_call_that_no_rule_leads_to_is_contradicted() -> None:
    sample = await sample_of(goal())
    first = next(index for index, turn in enumerate(sample.turns) if isinstance(turn, CallTurn))
    call_turn, results = sample.turns[first], sample.turns[first + 1]
    assert isinstance(call_turn, CallTurn)
    twice = (
        call_turn.with_changes(calls=call_turn.calls * 2),
        results.with_changes(results=results.results * 2),
    )
    broken = sample.with_changes(turns=(*sample.turns[:first], *twice, *sample.turns[first + 2 :]))
    [verdict] = await check_path(broken, town_context())
    assert verdict.decision == "contradicted"


@pytest.mark.parametrize(
    "path", ["turns[0].results[0].data", "turns[3].results[7].data", "turns[99].results[0].x"]
)
async def test_evidence_in_a_response_that_is_of_no_call_is_contradicted(path: str) -> None:
    sample = await sample_of(goal())
    body = sample.model_dump(mode="json")
    evidence = [
        one
        for turn in body["turns"]
        for call in turn.get("calls", ())
        for one in call["evidence"]
        if one["path"]
    ]
    assert evidence
    for one in evidence:
        one["path"] = path
    [verdict] = await check_path(Sample.model_validate(body), town_context())
    assert verdict.decision == "contradicted"
