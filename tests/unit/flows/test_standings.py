"""Where a decided sample stands, and what that makes of its seat: pure."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.flows.review.resolutions import (
    Decision,
    Resolution,
    is_settled_by_people,
    outcomes_of,
    resolution_of,
)
from callwright.flows.stages import all_stages
from callwright.warehouse.records import Outcome, StageOutcome

NOW = datetime(2026, 11, 21, tzinfo=UTC)
NAMES = "abcdef"
ORDER = [stage.name for stage in all_stages()]


def decided(
    subject: str, decision: str, result: str | None = None, reasons: tuple[str, ...] = ()
) -> Decision:
    return Decision(subject, decision, f"reviewer of {subject}", NOW, reasons, result)


def seat(stage: str, outcome: StageOutcome) -> Outcome:
    return Outcome(build="build", subject="a", stage=stage, outcome=outcome)


def decisions(*given: Decision) -> dict[str, Decision]:
    return {decision.subject: decision for decision in given}


def test_an_edit_lands_waits_or_goes_on_to_the_next_decision() -> None:
    edit = decided("a", "edit", "b")
    assert resolution_of("a", decisions(edit), {})[:3] == ("passed", "b", "reviewer of a")
    assert resolution_of("a", decisions(edit), {"b": "No."})[:2] == ("waiting", "b")
    accepted = resolution_of("a", decisions(edit, decided("b", "accept")), {"b": "No."})
    assert accepted[:3] == ("passed", "b", "reviewer of b")
    assert (
        resolution_of("a", decisions(edit, decided("b", "reject")), {"b": "No."}).outcome
        == "rejected"
    )


@given(
    st.dictionaries(
        st.sampled_from(NAMES),
        st.tuples(st.sampled_from(["accept", "reject", "edit"]), st.sampled_from(NAMES)),
        min_size=1,
    ),
    st.dictionaries(st.sampled_from(NAMES), st.just("No.")),
)
def test_edits_always_come_to_an_end(
    chosen: dict[str, tuple[str, str]], doubts: dict[str, str]
) -> None:
    known = {
        name: decided(name, kind, result if kind == "edit" else None)
        for name, (kind, result) in chosen.items()
    }
    for subject in known:
        resolution = resolution_of(subject, known, doubts)
        assert resolution.reason
        assert resolution.subject in NAMES


@given(
    st.sampled_from(ORDER[ORDER.index("format") :]),
    st.sampled_from(["waiting", "rejected", "passed"]),
    st.sampled_from(["passed", "rejected", "waiting"]),
    st.booleans(),
    st.booleans(),
)
def test_a_seat_stays_one_seat(
    stage: str, before: str, outcome: str, is_own: bool, is_there: bool
) -> None:
    """Its steps are neighbours, each but the last passes it on, and only a sample that stands
    for itself lands here.
    """
    at = seat(stage, before)
    resolution = Resolution(outcome, "a" if is_own else "b", "ann", NOW, "accepted", "Why.")
    steps = outcomes_of(at, resolution, is_there=is_there)
    places = [ORDER.index(step.stage) for step in steps]
    assert places == list(range(places[0], places[0] + len(places)))
    assert all(step.outcome == "passed" for step in steps[:-1])
    assert places[0] <= ORDER.index(stage)
    if steps[-1].stage == "land" and steps[-1].outcome == "passed":
        assert is_own
        assert outcome == "passed"


@pytest.mark.parametrize(
    ("stage", "outcome", "settled"),
    [
        ("consistency", "waiting", True),
        ("consistency", "rejected", True),
        ("review", "passed", True),
        ("land", "passed", True),
        ("land", "rejected", True),
        ("duplicates", "rejected", False),
        ("meaning", "passed", False),
        ("format", "failed", False),
    ],
)
def test_people_decide_about_what_waits_was_rejected_by_them_or_has_landed(
    stage, outcome, settled
) -> None:
    assert is_settled_by_people(seat(stage, outcome)) is settled
