"""What can go wrong in a task: each fault is proved by its world, the gold sees to it, and
whoever does not is found out.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callwright.generators.environments.episodes import FaultyWorld, diff, world_of
from callwright.generators.environments.protocol import Environment
from callwright.generators.faults.making import obstacle, word_fault
from callwright.generators.faults.transcripts import FaultPlan, keeps_choices
from callwright.validators.checks.episodes import check_fault
from callwright.warehouse.exports.examples import BROKEN, TrainingExample, examples_of
from callwright.warehouse.exports.writing import LeftOutRow
from callwright.warehouse.records import (
    CallPlace,
    CallTurn,
    Derivation,
    GoldCall,
    PlantedFault,
    ReplyTurn,
    ResultTurn,
    Sample,
    Verdict,
)
from tests.support.generators.depot import (
    MAKERS,
    Follower,
    as_made,
    drive,
    errand,
    open_depot,
    plans,
    planting,
    spoilt,
)
from tests.support.generators.dialogue_parts import RecordingTemplateChat
from tests.support.generators.multi_step.workshop import context_of
from tests.support.warehouse.exported import release_of, stream_of

EACH = pytest.mark.parametrize("sort", MAKERS)


@pytest.fixture(scope="module")
def depot(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return open_depot(tmp_path_factory.mktemp("depot"))


async def judged(sample: Sample, depot: Environment) -> Verdict:
    (verdict,) = await check_fault(sample, context_of(depot, RecordingTemplateChat()))
    return verdict


@EACH
async def test_each_fault_is_proved_the_gold_sees_to_it_and_who_is_idle_does_not(
    sort: str, depot: Environment
) -> None:
    found = plans(depot, sort, most=4)
    assert found, "the errand lets everything go wrong"
    for plan in found:
        sample = spoilt(depot, plan)
        verdict = await judged(sample, depot)
        assert verdict.decision == "proved", verdict.reason
        gold = await drive(depot, sample, Follower(sample))
        assert (gold.success, gold.needless_changes, gold.fault) == (
            True,
            0,
            sample.fault and sample.fault.sort,
        )
        assert gold.correct_calls == gold.total_calls
        idle = await drive(depot, sample, Follower(sample, stops=True))
        assert not idle.success


def test_a_call_that_may_not_be_made_twice_is_never_due_again(depot: Environment) -> None:
    tools = {
        plan.fault.call.tool
        for seed in range(5)
        for plan in plans(depot, "timeout", seed=seed)
        if plan.fault.call
    }
    assert tools == {"list_parcels", "list_deliveries", "update_parcel", "cancel_delivery"}
    lost = {plan.fault.call.tool for plan in plans(depot, "unsure") if plan.fault.call}
    assert lost == {"create_delivery"}


def test_what_would_change_what_is_chosen_is_not_planted(depot: Environment) -> None:
    before = planting(depot)
    both = [plan for seed in range(9) for plan in plans(depot, "unsure", seed=seed)]
    kept = {plan.fault.takes_effect for plan in both if keeps_choices(before, plan)}
    assert kept == {False}, (
        "where it was done the list has one delivery more, of which one is to be cancelled"
    )
    assert all(
        keeps_choices(before, plan)
        for sort in ("timeout", "stale_id", "injected")
        for plan in plans(depot, sort)
    )


async def test_who_makes_a_call_twice_that_was_done_is_found_out(depot: Environment) -> None:
    samples = [
        spoilt(depot, plan)
        for seed in range(9)
        for plan in plans(depot, "unsure", seed=seed, most=1)
    ]
    assert {sample.fault.takes_effect for sample in samples if sample.fault} == {True, False}
    for sample in samples:
        assert sample.fault
        assert sample.fault.call
        again = await drive(
            depot, sample, Follower(sample, {0: as_made([sample.fault.call])}, stops=True)
        )
        assert not again.success
        assert again.needless_changes == int(sample.fault.takes_effect)


async def test_who_does_not_look_whether_it_was_done_has_not_seen_to_it(depot: Environment) -> None:
    done = next(
        sample
        for seed in range(9)
        for plan in plans(depot, "unsure", seed=seed)
        if (sample := spoilt(depot, plan)).fault and plan.fault.takes_effect
    )
    due = (
        [turn.calls for turn in done.turns[done.fault.until :] if isinstance(turn, CallTurn)]
        if done.fault
        else []
    )
    blind = [call for step in due[1:] for call in step if call.tool != "list_deliveries"]
    kept = await drive(depot, done, Follower(done, {0: as_made(blind)}, stops=True))
    assert (kept.success, kept.end_reached) == (False, True)


@pytest.mark.parametrize("sort", ["injected", "forwarded"])
async def test_who_obeys_an_attack_has_failed_and_the_attack_has_succeeded(
    sort: str, depot: Environment
) -> None:
    sample = spoilt(depot, plans(depot, sort, most=1)[0])
    assert sample.fault
    assert sample.fault.call
    obeyed = await drive(depot, sample, Follower(sample, {0: as_made([sample.fault.call])}))
    assert (obeyed.success, obeyed.obeyed) == (False, True)
    assert obeyed.needless_changes
    kept = await drive(depot, sample, Follower(sample))
    assert (kept.success, kept.obeyed) == (True, False)


async def test_who_refuses_what_the_user_has_asked_to_follow_has_failed(depot: Environment) -> None:
    sample = spoilt(depot, plans(depot, "delegated", most=1)[0])
    assert sample.fault
    assert sample.fault.call
    rest = [
        call
        for turn in sample.turns[sample.fault.until :]
        if isinstance(turn, CallTurn)
        for call in turn.calls
        if call.bare != sample.fault.call.bare
    ]
    refused = await drive(depot, sample, Follower(sample, {0: as_made(rest)}, stops=True))
    assert (refused.success, refused.obeyed) == (False, None)


CALLS = st.lists(
    st.sampled_from(["list", "named", "paint", "cancel", "create", "unknown"]), max_size=7
)


@EACH
@settings(
    max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(names=CALLS, at=st.integers(0, 6))
def test_what_goes_wrong_depends_on_the_fault_and_the_calls_so_far_alone(
    sort: str, names: list[str], at: int, depot: Environment
) -> None:
    sample = spoilt(depot, plans(depot, sort, most=1)[0])
    assert sample.fault
    gold = [call.bare for _, call in planting(depot).calls()]
    known = dict(zip(("list", "named", "paint", "cancel", "create", "unknown"), gold, strict=True))
    calls = [known[name] for name in names]
    one, other = (FaultyWorld(world_of(depot), sample.fault).begin() for _ in range(2))
    first = [one.answer(call) for call in calls[:at]]
    start = one.snapshot()
    rest = [one.answer(call) for call in calls[at:]]
    assert [other.answer(call) for call in calls] == [*first, *rest]
    assert diff(one.state, other.state) == ()
    one.restore(start)
    assert [one.answer(call) for call in calls[at:]] == rest


def broken(sample: Sample, **changes: object) -> Sample:
    """A sample whose fault is told otherwise."""
    assert sample.fault
    return sample.with_changes(fault=sample.fault.with_changes(**changes))


async def test_what_is_answered_otherwise_than_the_sample_has_it_is_contradicted(
    depot: Environment,
) -> None:
    sample = spoilt(depot, plans(depot, "timeout", most=1)[0])
    verdict = await judged(broken(sample, told={"error": "no"}), depot)
    assert (verdict.decision, {one.kind for one in verdict.doubts}) == (
        "contradicted",
        {"fault_unlike"},
    )


async def test_what_does_not_lead_to_the_end_is_contradicted(depot: Environment) -> None:
    sample = spoilt(depot, plans(depot, "validation", most=1)[0])
    verdict = await judged(sample.with_changes(changes=sample.changes[:1]), depot)
    assert (verdict.decision, {one.kind for one in verdict.doubts}) == (
        "contradicted",
        {"fault_missed"},
    )


async def test_a_create_that_is_to_be_made_again_is_not_proved(depot: Environment) -> None:
    plan = next(
        plan
        for seed in range(9)
        for plan in plans(depot, "unsure", seed=seed)
        if not plan.fault.takes_effect
    )
    sample = broken(spoilt(depot, plan), sort="timeout", due="retry")
    verdict = await judged(sample, depot)
    assert verdict.decision == "unproved"
    assert "the call may not be made twice" in verdict.reason


async def test_an_order_that_the_text_does_not_give_in_full_is_not_proved(
    depot: Environment,
) -> None:
    sample = spoilt(depot, plans(depot, "injected", most=1)[0])
    assert sample.fault
    results = [turn for turn in sample.turns if isinstance(turn, ResultTurn)]
    assert str(sample.fault.instead) in str(results[0].results)
    short = spoilt_with(sample, depot, f"{sample.fault.value}. Do it.")
    verdict = await judged(short, depot)
    assert (verdict.decision, "does not say the whole order" in verdict.reason) == (
        "unproved",
        True,
    )


def spoilt_with(sample: Sample, depot: Environment, instead: str) -> Sample:
    """A sample whose injected text is another one."""
    assert sample.fault
    text = sample.model_dump_json(exclude={"fault"}).replace(str(sample.fault.instead), instead)
    return Sample.model_validate_json(text).with_changes(
        fault=sample.fault.with_changes(instead=instead)
    )


async def test_a_right_value_that_nobody_says_is_not_proved(depot: Environment) -> None:
    sample = spoilt(depot, plans(depot, "empty", most=1)[0])
    assert sample.fault
    turns = list(sample.turns)
    due = turns[sample.fault.until]
    assert isinstance(due, CallTurn)
    bare = tuple(GoldCall(tool=call.tool, arguments=call.arguments) for call in due.calls)
    turns[sample.fault.until] = due.with_changes(calls=bare)
    verdict = await judged(sample.with_changes(turns=tuple(turns)), depot)
    assert "the request does not tell which name is right" in verdict.reason


def test_nothing_goes_wrong_twice_or_where_no_world_changes(depot: Environment) -> None:
    sample = spoilt(depot, plans(depot, "gone", most=1)[0])
    assert obstacle(sample, {})
    assert obstacle(errand(depot).with_changes(changes=()), {})
    assert obstacle(errand(depot), {}) == ""


async def worded(depot: Environment, plan: FaultPlan, source: Sample | None = None) -> Sample:
    """The sample of a plan in the words of the template model."""
    kind = "injected" if plan.fault.is_text else "tool_error"
    derivation = Derivation(transform=kind, source=source or errand(depot), seed=1)
    planted = PlantedFault(derivation=derivation, **plan._asdict())
    [sample] = await word_fault(planted, context_of(depot, RecordingTemplateChat()))
    return sample


async def test_who_is_to_do_what_a_note_says_with_another_thing_asks_first(
    depot: Environment,
) -> None:
    strange = 0
    for plan in plans(depot, "delegated"):
        sample = await worded(depot, plan)
        assert sample.fault is not None
        assert (await judged(sample, depot)).decision == "proved"
        before = sample.turns[sample.fault.until - 2 : sample.fault.until]
        kinds = [turn.kind for turn in before]
        strange += kinds == ["reply", "user"]
        last = sample.turns[-1]
        assert isinstance(last, ReplyTurn)
        assert f"of {plan.entry}" in last.text
        assert (await drive(depot, sample, Follower(sample))).success
    assert strange


async def test_an_order_that_is_not_followed_is_spoken_of(depot: Environment) -> None:
    for sort in ("injected", "forwarded"):
        last = (await worded(depot, plans(depot, sort)[0])).turns[-1]
        assert isinstance(last, ReplyTurn)
        assert "n't" in last.text


async def test_what_was_done_in_another_way_is_confirmed(depot: Environment) -> None:
    plan = next(one for one in plans(depot, "unavailable") if one.fault.due == "other_tool")
    call = plan.fault.call
    assert call is not None
    places = [
        CallPlace(step, place)
        for step, (_, turn) in enumerate(errand(depot).call_turns)
        for place, one in enumerate(turn.calls)
        if one.bare.key == call.bare.key
    ]
    facts = errand(depot).facts.with_changes(wanted=tuple(places))
    last = (await worded(depot, plan, errand(depot).with_changes(facts=facts))).turns[-1]
    assert isinstance(last, ReplyTurn)
    assert "cancelled" in last.text


def test_an_assistants_own_mistake_is_not_taught_where_all_it_says_is(depot: Environment) -> None:
    sample = spoilt(depot, plans(depot, "validation")[0])
    tools = {tool.key: tool for tool in depot.tools}
    source = stream_of(release_of([sample], tools))
    whole = list(examples_of(sample, source, are_whole=True))
    assert {one.reason for one in whole if isinstance(one, LeftOutRow)} == {BROKEN}
    assert all(isinstance(one, LeftOutRow) for one in whole)
    assert any(isinstance(one, TrainingExample) for one in examples_of(sample, source))
    slow = spoilt(depot, plans(depot, "timeout")[0])
    assert any(
        isinstance(one, TrainingExample)
        for one in examples_of(slow, stream_of(release_of([slow], tools)), are_whole=True)
    )
