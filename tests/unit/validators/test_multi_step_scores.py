"""ComplexFuncBench's metrics over runs: what is divided by what, in which slices, under which
names.
"""

from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.metrics.complexeval.paths import METRICS, metric_names, score_runs
from callwright.validators.metrics.table import RunResult, RunsOf

OF = RunsOf("v1", "m", "as_paper")
RIGHT = RunResult(
    0,
    "multi_step",
    "Hotels",
    "en",
    success=True,
    correct_calls=4,
    total_calls=4,
    completeness=2,
    correctness=1,
)
WRONG = RIGHT._replace(
    kind="multi_step_cross",
    category="Cross",
    success=False,
    correct_calls=2,
    total_calls=8,
    completeness=None,
    correctness=None,
)
ENDED = RIGHT._replace(kind="task", needless_changes=3, end_reached=True, untold=0)

results = st.builds(
    RunResult,
    run=st.integers(0, 1),
    kind=st.sampled_from(["multi_step", "multi_step_cross"]),
    category=st.sampled_from(["Hotels", "Flights", "Cross"]),
    language=st.just("en"),
    success=st.booleans(),
    correct_calls=st.integers(0, 5),
    total_calls=st.integers(5, 9),
    completeness=st.none() | st.integers(0, 2),
    correctness=st.none() | st.integers(0, 2),
    needless_changes=st.none() | st.integers(0, 2),
    times=st.integers(1, 3),
)


def values(*members: RunResult, of: RunsOf = OF) -> dict[tuple[str, str, str], tuple[float, int]]:
    return {
        (one.metric, one.slice_by, one.slice_value): (one.value, one.count)
        for one in score_runs(members, of)
    }


def test_calls_are_counted_over_all_runs_and_answers_over_those_that_were_scored() -> None:
    found = values(RIGHT, WRONG)
    assert found["success_rate", "all", ""] == (0.5, 2)
    assert found["call_acc", "all", ""] == (0.5, 12)
    assert found["completeness", "all", ""] == (2, 1)
    assert found["correctness", "category", "Hotels"] == (1, 1)
    assert ("correctness", "category", "Cross") not in found
    assert found["call_acc", "kind", "multi_step_cross"] == (0.25, 8)


def test_how_a_world_ends_is_counted_over_tasks_alone() -> None:
    silent = ENDED._replace(success=False, needless_changes=1, end_reached=False, untold=2)
    found = values(RIGHT, WRONG, ENDED, silent)
    assert found["told", "all", ""] == (0.5, 2)
    assert found["end_state", "all", ""] == (0.5, 2)
    assert found["needless_changes", "all", ""] == (2, 2)
    assert ("end_state", "kind", "multi_step") not in found


def test_where_something_goes_wrong_utility_and_safety_are_counted_apart() -> None:
    failed = ENDED._replace(fault="timeout", success=False, end_reached=False)
    attacked = ENDED._replace(fault="injected", obeyed=False)
    obeyed = attacked._replace(success=False, end_reached=False, obeyed=True)
    found = values(
        RIGHT,
        failed,
        failed._replace(success=True),
        attacked,
        obeyed,
        attacked,
        attacked,
        ENDED._replace(fault="harmless"),
    )
    assert found["recovery_rate", "all", ""] == (0.5, 2)
    assert found["utility_under_attack", "all", ""] == (0.75, 4)
    assert found["attack_success_rate", "all", ""] == (0.25, 4)
    assert found["benign_utility", "all", ""] == (1, 1)
    assert found["success_rate", "fault", "timeout"] == (0.5, 2)
    assert ("success_rate", "fault", "") not in found, (
        "where nothing goes wrong there is no such slice"
    )


def test_under_policies_violations_and_refusals_are_counted_apart() -> None:
    obeyed = ENDED._replace(policy="planned", policy_sort="refused", violated=False)
    allowed = ENDED._replace(policy="ask", policy_sort="allowed", violated=False, refused=False)
    found = values(
        RIGHT, obeyed, obeyed._replace(violated=True), allowed, allowed._replace(refused=True)
    )
    assert found["policy_violations", "all", ""] == (0.25, 4)
    assert found["over_refusals", "all", ""] == (0.5, 2)
    assert found["policy_violations", "policy", "planned"] == (0.5, 2)
    assert found["policy_violations", "policy_sort", "allowed"] == (0, 2)
    assert ("policy_violations", "policy", "") not in found


def test_the_published_codes_way_has_names_of_its_own() -> None:
    faulty = [
        ENDED._replace(fault=fault, obeyed=obeyed)
        for fault, obeyed in (("gone", None), ("injected", True), ("delegated", None))
    ] + [ENDED._replace(policy="ask", policy_sort="allowed", violated=False, refused=False)]
    found = values(RIGHT, ENDED, *faulty, of=OF._replace(mode="as_published_code"))
    assert {metric for metric, _, _ in found} == set(metric_names("as_published_code"))
    assert set(metric_names("as_published_code")).isdisjoint(metric_names("as_paper"))
    assert metric_names("as_paper") == METRICS


@given(st.lists(results, max_size=12))
def test_slices_add_up_and_the_order_of_runs_is_free(members: list[RunResult]) -> None:
    scores = score_runs(members, OF)
    assert scores == score_runs(members[::-1], OF)
    for whole in (one for one in scores if one.slice_by == "all"):
        parts = [
            one
            for one in scores
            if (one.slice_by, one.metric, one.run) == ("category", whole.metric, whole.run)
        ]
        assert sum(one.count for one in parts) == whole.count
        assert abs(sum(one.value * one.count for one in parts) - whole.value * whole.count) < 1e-9
        assert 0 <= whole.value <= (1 if whole.metric in {"success_rate", "call_acc"} else 2)
