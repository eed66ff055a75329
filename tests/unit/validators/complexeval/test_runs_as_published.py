"""Runs as the published code goes, with its quirks (EVALUATORS 2.3 to 2.5)."""

from hypothesis import given
from hypothesis import strategies as st

from tests.support.validators.complexeval.paths import (
    DESTINATION,
    FILTER,
    HOTELS,
    REVIEWS,
    call,
    drive,
    open_run,
    step,
    without,
)

MODE = "as_published_code"
PERFECT = ([DESTINATION], [FILTER], [HOTELS, REVIEWS])


async def test_a_perfect_run_succeeds() -> None:
    outcome, _ = await drive(open_run(MODE), *PERFECT, "Done.")
    assert (outcome.message, outcome.correct_calls, outcome.success_turns) == ("Success.", 4, 3)


@given(
    steps=st.lists(
        st.lists(st.text(max_size=3), min_size=1, max_size=3, unique=True), min_size=1, max_size=4
    )
)
async def test_a_perfect_run_scores_one_in_the_published_mode_too(steps: list[list[str]]) -> None:
    calls = [
        [call("Get_Reviews", hotel_id=f"{at}{name}") for name in names]
        for at, names in enumerate(steps)
    ]
    run = open_run(MODE, chain=[step(*one) for one in calls])
    outcome, _ = await drive(run, *calls, "Done.")
    assert outcome.success
    assert outcome.correct_calls == outcome.total_calls


async def test_a_fault_of_the_form_alone_does_not_end_it() -> None:
    broken = without(FILTER, "dest_id")
    outcome, judged = await drive(
        open_run(MODE), [DESTINATION], [broken], [FILTER], [HOTELS, REVIEWS], "Done."
    )
    assert outcome.success
    assert isinstance(judged[1][0].observation, dict)


async def test_a_model_that_makes_the_same_fault_for_ever_is_stopped() -> None:
    outcome, judged = await drive(
        open_run(MODE, turn_limit=7), *[[without(DESTINATION, "query")]] * 20
    )
    assert len(judged) == 7
    assert outcome.error is not None
    assert outcome.error.error_type == "turn_limit"


async def test_a_sample_without_gold_is_a_failure_with_a_reason() -> None:
    for mode in ("as_paper", MODE):
        run = open_run(mode, chain=[])  # type: ignore[arg-type]
        assert run.outcome is not None
        assert run.outcome.error is not None
        assert "no gold call" in run.outcome.error.reason
