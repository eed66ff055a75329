"""Shifts and external messages on plans and on conversations: each is proved by the checks, or
there is a reason why not.
"""

from pathlib import Path

import pytest

from callwright.flows.settings import Settings
from callwright.generators.kinds import kind_named, obstacle_to
from callwright.warehouse.records import CallTurn, Sample
from callwright.warehouse.releases import read_tools
from tests.support.flows.small_builds import build, settings_of, unmeasured_recipe, warehouse_of

OF_PLANS = {
    "routing_easy_mSv": 2,
    "routing_easy_SO_case1": 2,
    "routing_medium_mSv": 1,
    "routing_medium_SO_case1": 1,
    "routing_hard_SO_case1": 1,
    "routing_hard_mSv": 1,
}
OF_TALKS = {"conversation_external": 2, "conversation_mSv": 2, "conversation_IS": 2}
OVERRIDDEN = {
    "conversation_SO_case1": 2,
    "conversation_SO_case2": 2,
}  # where no result has come of the value yet
SEED = ["Banking", "Hotels", "Parcels", "Rides", "Weather", "Music"]


def made_by(
    settings: Settings, samples: dict[str, int], tools: list[dict[str, object]]
) -> list[Sample]:
    build(unmeasured_recipe(samples=samples, tools=tools, languages=["en"]), settings)
    bodies = warehouse_of(settings).rows("select body from samples")
    return [Sample.model_validate_json(row["body"]) for row in bodies]


def landed(settings: Settings) -> dict[str, int]:
    rows = warehouse_of(settings).rows(
        "select s.kind, count(*) as n from acceptances a join samples s on s.key = a.subject group"
        " by s.kind"
    )
    return {row["kind"]: row["n"] for row in rows}


def unproved(settings: Settings, kinds: dict[str, int]) -> list[tuple[str, str]]:
    sql = """
        select s.kind, f.reason from outcomes f join samples s on s.key = f.subject
        where f.outcome <> 'passed' and list_contains(?::varchar[], s.kind)
    """
    return [(row["kind"], row["reason"]) for row in warehouse_of(settings).rows(sql, [list(kinds)])]


def test_plans_are_shifted_and_proved_or_there_is_a_reason(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    sources = {"routing_easy": 4, "routing_medium": 3, "routing_hard": 3}
    samples = made_by(settings, sources | OF_PLANS, [{"domains": "all"}])
    kinds = {sample.kind for sample in samples}
    assert set(OF_PLANS) <= kinds
    there, doubts = landed(settings), unproved(settings, OF_PLANS)
    assert sum(there.get(kind, 0) for kind in OF_PLANS) + len(doubts) == sum(
        sample.kind in OF_PLANS for sample in samples
    )
    assert all(reason for _, reason in doubts)
    assert sum(there.get(kind, 0) for kind in OF_PLANS) >= sum(OF_PLANS.values()) * 3 / 4
    tools = read_tools(
        warehouse_of(settings), sorted({key for sample in samples for key in sample.candidates})
    )
    plans = [sample for sample in samples if sample.kind in sources]
    for transform, reason in (
        ("IS", "speaks only once"),
        ("SO_case2", "No question is open|in words that were found"),
    ):
        told = {obstacle_to(transform)(plan, tools) for plan in plans}
        assert all(any(one in text for one in reason.split("|")) for text in told), told


def test_conversations_are_shifted_and_proved_or_there_is_a_reason(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    samples = made_by(
        settings, {"perfect": 3, "conversation": 12} | OF_TALKS | OVERRIDDEN, [{"seed": SEED}]
    )
    assert set(OF_TALKS) <= {sample.kind for sample in samples}
    kinds = OF_TALKS | OVERRIDDEN
    there, doubts = landed(settings), unproved(settings, kinds)
    made = sum(sample.kind in kinds for sample in samples)
    assert sum(there.get(kind, 0) for kind in kinds) + len(doubts) == made
    assert sum(there.get(kind, 0) for kind in kinds) >= sum(kinds.values()) / 2
    assert all(reason for _, reason in doubts)
    shifted = next(sample for sample in samples if sample.kind == "conversation_IS")
    assert [turn.calls for turn in shifted.turns if isinstance(turn, CallTurn)][-1] == (), (
        "nothing is due at the end"
    )
    for sample in samples:
        if sample.kind.startswith("conversation_SO"):
            [*_, last] = [turn for turn in sample.turns if isinstance(turn, CallTurn)]
            assert not last.executed, "a result would not be true of another value"


@pytest.mark.parametrize("kind", [*OF_PLANS, *OF_TALKS, *OVERRIDDEN])
def test_a_shifted_kind_is_named_after_its_source(kind: str) -> None:
    found = kind_named(kind)
    assert found.sources == (kind.removesuffix(f"_{found.transform}"),)
