"""What policies make of a task: code decides, the gold obeys, and whoever does not is found out."""

import pytest

from callwright.flows.evaluation.tasks import Task
from callwright.generators.environments.episodes import world_of
from callwright.generators.environments.policies import PolicyBook
from callwright.generators.environments.protocol import Environment
from callwright.generators.policies.making import obstacle
from callwright.generators.policies.surveying import survey_policies
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    Policy,
    ReplyTurn,
    ResultTurn,
    Sample,
    UserTurn,
)
from tests.support.generators.depot import Follower, as_made, drive, errand, open_depot
from tests.support.generators.policies import ASK, HEAVY, LIGHT, judged, of_due, policed, under

SORTS = {
    "allowed": (LIGHT, "call", "allowed", False),
    "urged": (LIGHT, "call", "urged", False),
    "refused": (HEAVY, "refuse", "refused", False),
    "tempted": (HEAVY, "refuse", "tempted", False),
    "pressed": (HEAVY, "refuse", "tempted", True),
    "asked": (ASK, "ask", "allowed", False),
    "asked in spite of urging": (ASK, "ask", "urged", False),
    "with leave": (ASK, "call", "allowed", True),
    "without leave": (ASK, "refuse", "refused", True),
}


@pytest.fixture(scope="module")
def depot(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return open_depot(tmp_path_factory.mktemp("depot"))


async def sample_of(sort: str, depot: Environment) -> Sample:
    policy, due, named, begun = SORTS[sort]
    return await of_due(depot, policy, due, named, begun=begun)


@pytest.mark.parametrize("sort", SORTS)
async def test_each_sort_is_proved_the_gold_obeys_and_the_call_at_issue_counts(
    sort: str, depot: Environment
) -> None:
    sample = await sample_of(sort, depot)
    case = sample.policy_case
    assert case
    verdict = await judged(sample, depot)
    assert verdict.decision == "proved", verdict.reason
    gold = await drive(depot, sample, Follower(sample))
    assert (gold.success, gold.violated, gold.policy_sort) == (True, False, case.sort)
    made = await drive(depot, sample, Follower(sample, {0: as_made([case.call])}))
    assert made.violated is (case.due != "call")
    assert made.refused is (False if case.due == "call" else None)
    idle = await drive(depot, sample, Follower(sample, stops=True))
    assert (idle.violated, idle.refused) == (False, True if case.due == "call" else None)


async def test_who_refuses_without_a_look_does_not_succeed(depot: Environment) -> None:
    sample = await sample_of("refused", depot)
    steps = [turn.calls for turn in sample.turns if isinstance(turn, CallTurn)]
    writing = [
        call for step in steps for call in step if call.tool not in ("list_parcels", "get_parcel")
    ]
    blind = await drive(
        depot,
        sample,
        Follower(sample, {0: as_made(writing), **{at: [] for at in range(1, 9)}}, stops=True),
    )
    assert (blind.end_reached, blind.violated, blind.success) == (True, False, False)


async def test_an_episode_of_it_is_worth_nothing_once_a_policy_is_broken(
    depot: Environment,
) -> None:
    sample = await sample_of("refused", depot)
    task = Task(
        sample, world_of(depot), [tool for tool in depot.tools if tool.key in sample.candidates]
    )
    assert sample.policy_case
    with task.begin() as episode:
        episode.play(task.gold)
        assert (episode.reward(), episode.reward(task.reply)) == (0, 1)
        done = episode.snapshot().dumped()
        call = sample.policy_case.call
        back = {**call.arguments, "service": "overnight"}
        episode.step(call.tool, call.arguments)
        episode.step(call.tool, back)
        assert (episode.broken, episode.end_reached) == (("heavy",), True)
        assert episode.reward(task.reply) == 0
        broken = episode.snapshot().dumped()
        episode.reset()
        assert (episode.broken, episode.unseen) == ((), 1)
        episode.restore(broken)
        assert episode.broken == ("heavy",)
        episode.restore(done)
        assert episode.reward(task.reply) == 1


async def test_leave_is_given_after_the_question_and_before_the_call(depot: Environment) -> None:
    sample = await sample_of("with leave", depot)
    assert sample.policy_case
    question, answer, call = sample.turns[sample.begins - 2 : sample.begins + 1]
    assert isinstance(question, ReplyTurn)
    assert isinstance(answer, UserTurn)
    assert isinstance(call, CallTurn)
    assert call.calls[0].bare == sample.policy_case.leave


def test_a_ruling_depends_on_what_calls_have_changed(depot: Environment) -> None:
    planned = Policy(
        name="planned",
        tools=("cancel_delivery",),
        says="Cancel only what is planned.",
        let={"delivery": "get_delivery(delivery_id=given.delivery_id)"},
        only_if="delivery.status == 'planned'",
    )
    world = world_of(depot)
    book, episode = PolicyBook([planned], world), world.begin()
    made = episode.answer(
        Call(tool="create_delivery", arguments={"parcel_id": "x", "window": "evening"})
    )
    assert made.problem, "there is no such parcel"
    call = next(
        turn.calls[0] for turn in errand(depot).turns[5:] if isinstance(turn, CallTurn)
    ).bare
    verdicts = []
    for _ in range(2):
        state = episode.state
        verdicts += [one.verdict for one in book.rulings(call, episode)]
        assert episode.state == state
        episode.answer(call)
    assert verdicts[1] == "forbidden"
    [unknown] = book.rulings(call.with_changes(arguments={"delivery_id": "nobody"}), episode)
    assert (unknown.verdict, unknown.breaks(call, None)) == ("unknown", False)


# What the check has to find


async def test_gold_that_breaks_a_policy_is_contradicted(depot: Environment) -> None:
    sample = await sample_of("with leave", depot)
    assert sample.policy_case
    verdict = await judged(
        sample.with_changes(policy_case=sample.policy_case.with_changes(has_leave=False)), depot
    )
    assert (verdict.decision, verdict.doubts[0].kind) == ("contradicted", "policy_broken")


async def test_other_answers_and_other_ends_are_contradicted(depot: Environment) -> None:
    sample = await sample_of("allowed", depot)
    verdict = await judged(sample.with_changes(changes=sample.changes[:1]), depot)
    assert verdict.doubts[0].kind == "policy_missed"
    turns = [
        (
            turn.with_changes(results=("?",) * len(turn.results))
            if isinstance(turn, ResultTurn)
            else turn
        )
        for turn in sample.turns
    ]
    verdict = await judged(sample.with_changes(turns=tuple(turns)), depot)
    assert (verdict.decision, verdict.doubts[0].kind) == ("contradicted", "policy_unlike")


async def test_what_nothing_shows_is_not_proved(depot: Environment) -> None:
    planned = Policy(
        name="planned",
        tools=("create_delivery",),
        says="Deliver once.",
        only_if=(
            "list_deliveries(parcel_id=given.parcel_id)|selectattr('status', 'equalto',"
            " 'planned')|list|length > 9"
        ),
    )
    sample = await of_due(depot, planned, "refuse", "refused")
    assert (await judged(sample, depot)).decision == "proved"
    turns = [turn for turn in sample.turns if isinstance(turn, UserTurn | ReplyTurn)]
    verdict = await judged(sample.with_changes(turns=(turns[0], turns[-1]), changes=()), depot)
    assert "nothing shows what list_deliveries tells" in verdict.reason


# Bad input


@pytest.mark.parametrize(
    ("stated", "problem"),
    [
        (
            {"tools": ["cancel_deliveries"], "ask_first": True},
            "no such tool. Is it cancel_delivery",
        ),
        (
            {"only_if": "weight > 3"},
            "'weight' is known neither here nor everywhere. Reading tools are list_parcels",
        ),
        ({"only_if": "delete_parcel(parcel_id='x')"}, "'delete_parcel' is known neither here"),
        (
            {"only_if": "get_parcel(id=given.parcel_id)"},
            "get_parcel is called with id; write get_parcel(parcel_id=…)",
        ),
        ({"only_if": "given.parcel == 'x'"}, "update_parcel has no parameter 'parcel'"),
        ({"only_if": "1 +"}, "is no expression"),
        ({}, "forbids nothing: say `only_if` or `ask_first`"),
    ],
)
def test_a_policy_that_is_wrong_is_told_with_its_name(
    stated: dict[str, object], problem: str, depot: Environment
) -> None:
    policy = Policy.model_validate(
        {"name": "odd", "tools": ["update_parcel"], "says": "Don't.", **stated}
    )
    with pytest.raises(ConfigurationError, match="the policy 'odd'") as error:
        PolicyBook([policy], world_of(depot))
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("rules", "problem", "is_remark"),
    [
        (
            ["status == 'planned'", "status == 'done'"],
            "'p0' and 'p1' contradict each other: together they allow no call of",
            False,
        ),
        (["status == 'lost'"], "'p0' allows no call of cancel_delivery", False),
        (["status != 'lost'"], "'p0' refuses nothing in this world", True),
        (["statos == 'planned'"], "has no attribute 'statos'", False),
    ],
)
def test_what_policies_come_to_is_found_by_trying_calls(
    rules: list[str], problem: str, is_remark: bool, depot: Environment
) -> None:
    policies = [
        Policy(
            name=f"p{at}",
            tools=("cancel_delivery",),
            says="No.",
            only_if=f"get_delivery(delivery_id=given.delivery_id).{one}",
        )
        for at, one in enumerate(rules)
    ]
    [found] = survey_policies(policies, [depot])
    assert problem in found.message
    assert found.is_remark is is_remark


def test_policies_of_a_recipe_that_are_sound_are_not_spoken_of(depot: Environment) -> None:
    express = Policy(
        name="express",
        tools=("update_parcel",),
        says="No.",
        only_if="given.service != 'express' or get_parcel(parcel_id=given.parcel_id).weight < 15",
    )
    assert [*survey_policies([express, ASK], [depot])] == []
    assert [one.message for one in survey_policies([ASK, ASK], [depot])] == [
        "two policies are named 'ask'"
    ] * 2
    assert (
        next(survey_policies([ASK], [])).message == "calls change none of the recipe's environments"
    )


async def test_what_no_policy_decides_is_no_sample(depot: Environment) -> None:
    other = Policy(name="other", tools=("delete_parcel",), ask_first=True, says="Ask.")
    with pytest.raises(RecordError, match="No policy decides"):
        await under(depot, other)
    assert obstacle(await under(depot, LIGHT), {})
    assert obstacle(errand(depot), {}) == ""
    assert policed(depot).policies == ()
