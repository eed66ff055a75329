"""A model whose server goes away for a while is waited for; the build loses nothing by it, and
the server is left in peace.
"""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from callwright.flows.progress import SilentProgress
from callwright.flows.run.land import BuildReport
from callwright.warehouse.errors import UnavailableError
from tests.support.flows.model_server import LOADING, ModelServer, Refusal, ServedRequest
from tests.support.flows.small_builds import (
    build,
    patiently,
    settings_of,
    small_recipe,
    start,
    stub_roles,
    write_recipe,
)
from tests.support.sampling import slow

KINDS = {"perfect": 6, "irrelevant": 4}
AWAY = 3.0  # seconds; 2 tries of a request take a tenth of one
ALL = sum(KINDS.values())


def made_of(report: BuildReport) -> int:
    """How many samples were made, none of which a fault of the server has cost."""
    assert sum(row.failed for row in report.funnel) == 0
    return sum(row.made for row in report.composition)


def away_for(
    server: ModelServer, refusal: Refusal, *, after: int = 5, seconds: float = AWAY
) -> list[float]:
    """Have a server refuse all requests for so long from its `after`-th on; when the refused
    ones came.
    """
    refused: list[float] = []

    def behave(asked: ServedRequest) -> Refusal | None:
        now = time.monotonic()
        if asked.number < after or (refused and now - refused[0] > seconds):
            return None
        refused.append(now)
        return refusal

    server.behaviour = behave
    return refused


def looks_of(refused: list[float], at_once: float = 0.05) -> list[float]:
    """When a server that is away was looked at, behind the requests that were under way at the
    beginning.
    """
    return [moment for moment in refused if moment - refused[0] > at_once]


@pytest.mark.parametrize("status", [429, slow(502), 503])
def test_a_server_that_is_away_for_a_while_is_waited_for_and_the_pause_is_shown(
    model_server: ModelServer, tmp_path: Path, status: int
) -> None:
    states: list[str] = []

    class Live(SilentProgress):
        is_live = True

        def show(self, state: str) -> None:
            states.append(state)

    refused = away_for(model_server, LOADING._replace(status=status))
    recipe = small_recipe(samples=KINDS, models=stub_roles(model_server, attempts=2))
    report = build(recipe, settings_of(tmp_path), Live())
    assert made_of(report) == ALL
    assert len(refused) <= 48 + 12, (
        "those under way when it went, and then one at a time, each after a longer wait"
    )
    assert any(
        state.startswith("Waiting for openai/stub since ") and "Loading model" in state
        for state in states
    )
    assert "Loading model" not in states[-1]


def test_after_the_patience_a_build_ends_says_so_and_the_next_one_goes_on(
    model_server: ModelServer, tmp_path: Path
) -> None:
    away_for(model_server, LOADING, after=25, seconds=600)
    models = stub_roles(model_server, attempts=2, patience=1.0)
    recipe, settings = small_recipe(samples=KINDS, models=models), settings_of(tmp_path)
    with pytest.raises(UnavailableError) as raised:
        build(recipe, settings)
    assert "openai/stub can't answer now: Loading model" in str(raised.value)
    assert "its setting patience (1 s) says how long to wait" in str(raised.value)
    assert "Finished work is kept, and the next build continues from there" in str(raised.value)
    answered = model_server.answered.copy()
    assert answered.total() >= 20
    model_server.behaviour = lambda asked: None
    assert made_of(build(recipe, settings)) == ALL
    assert all(
        times == 1 for question, times in model_server.answered.items() if question in answered
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_build_that_waits_for_a_model_can_be_stopped_at_once(
    model_server: ModelServer, tmp_path: Path, number: signal.Signals
) -> None:
    refused = away_for(model_server, LOADING, after=25, seconds=600)
    recipe = write_recipe(tmp_path, samples=KINDS, models=stub_roles(model_server))
    process = start("build", str(recipe), "--no-review", home=tmp_path / "home")
    try:
        patiently(lambda: len(looks_of(refused)) > 3)
        process.send_signal(number)
        _, said = process.communicate(timeout=15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "Stopped" in said
