"""Pulling from a real Label Studio while it, the way to it or this process fails: nothing is
lost, nothing counts twice.
"""

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.review.pulling import Pulled
from callwright.warehouse.errors import CallwrightError, TransientError
from tests.support.fault_proxy import Fault
from tests.support.flows.live_sites import LiveSite, edit_politely, say_different_things
from tests.support.flows.review_sites import NOTHING_NEW
from tests.support.flows.small_builds import TOP, environment
from tests.support.sampling import sampled

pytestmark = [pytest.mark.labelstudio, pytest.mark.enable_socket]

EXPORT = r"^GET /api/projects/\d+/export"
SEARCH = r"^GET /api/tasks"
ALL_SAID = Pulled(reviews=2, accepted=1, rejected=1, returned=1)
WITH_EDIT = Pulled(reviews=3, accepted=1, edited=1, rejected=1, returned=1)
FAULTS = {
    "500": Fault(status=500),
    "429": Fault(status=429),
    "429 with a wish": Fault(status=429, headers={"Retry-After": "0"}),
    "truncated JSON": Fault(share=0.6),
    "an empty answer": Fault(share=0),
    "cut before the answer": Fault(share=0, cut=True),
    "cut in the answer": Fault(share=0.6, cut=True),
}


@pytest.fixture
def said(live: LiveSite) -> LiveSite:
    """A live site in which people said one of everything but an edit, and nobody has pulled it."""
    live.site.push()
    say_different_things(live, live.site.asked("doubtful")[:2] + live.site.asked("spot check")[:2])
    return live


@pytest.fixture
def edited(said: LiveSite) -> LiveSite:
    """The same with an edit, which a pull runs through the checks."""
    edit_politely(said, said.site.asked("spot check")[2])
    return said


@pytest.fixture(scope="module")
def undisturbed() -> dict[Pulled, Any]:
    """What pulls left behind to which nothing happened, by what they brought."""
    return {}


def validate_it_ended_as_undisturbed(
    live: LiveSite, undisturbed: dict[Pulled, Any], brought: Pulled
) -> None:
    """The books are those of a pull without any fault, and another pull brings nothing."""
    assert live.site.pull() == NOTHING_NEW
    live.validate_all_is_there_once()
    assert live.left_behind() == undisturbed[brought]


@pytest.fixture(autouse=True)
def _pull_without_faults(
    request: pytest.FixtureRequest, undisturbed: dict[Pulled, Any], tmp_path: Path
) -> None:
    """Before the first test that needs it: the same things said and pulled with nothing in the
    way.
    """
    brought = WITH_EDIT if "edited" in request.fixturenames else ALL_SAID
    if brought not in undisturbed:
        live = request.getfixturevalue("edited" if brought is WITH_EDIT else "said")
        kept = live.site.settings.home
        shutil.copytree(kept, tmp_path / "kept")
        assert live.site.pull() == brought
        undisturbed[brought] = live.left_behind()
        shutil.rmtree(kept)
        shutil.copytree(tmp_path / "kept", kept)


@pytest.mark.parametrize("name", sampled(FAULTS, ()))
def test_a_pull_that_is_answered_badly_brings_all(
    said: LiveSite, name: str, undisturbed: dict[Pulled, Any]
) -> None:
    said.proxy.expect(SEARCH, FAULTS[name])
    said.proxy.expect(EXPORT, FAULTS[name])
    assert said.site.pull() == ALL_SAID
    assert not said.proxy.faults
    validate_it_ended_as_undisturbed(said, undisturbed, ALL_SAID)


def test_trouble_that_stays_and_a_killed_server_leave_half_a_pull_nowhere_and_a_pull_answered_badly_and_slowly_brings_all(
    edited: LiveSite, undisturbed: dict[Pulled, Any]
) -> None:
    before = edited.left_behind()
    for name in ("500", "truncated JSON"):
        edited.proxy.expect(EXPORT, *[FAULTS[name]] * 5)
        with pytest.raises(TransientError):
            edited.site.pull()
        assert edited.left_behind() == before, "half a pull is none"
        edited.proxy.heal()
    edited.proxy.expect(EXPORT, Fault(meanwhile=edited.server.kill))
    with pytest.raises(CallwrightError, match="Label Studio at"):
        edited.site.pull()
    assert edited.left_behind() == before
    edited.server.start()
    edited.proxy.heal()
    badly = [FAULTS[name] for name in ("500", "truncated JSON", "cut in the answer")]
    edited.proxy.expect(SEARCH, *badly)
    edited.proxy.expect(EXPORT, *badly, Fault(wait=1.5))
    assert edited.site.pull() == WITH_EDIT
    assert not edited.proxy.faults
    validate_it_ended_as_undisturbed(edited, undisturbed, WITH_EDIT)


# Pulls, and ends itself as kill -9 would after so many writes to the warehouse.
_DYING = """
import asyncio, os, signal, sys
from pathlib import Path
from typing import Any
from callwright.annotation.studio.client import LabelStudio
from callwright.flows.review.pulling import pull_reviews
from callwright.flows.progress import SilentProgress
from tests.support.flows.small_builds import settings_of
from callwright.warehouse.store import Warehouse

home, url, token, left = Path(sys.argv[1]), sys.argv[2], sys.argv[3], [int(sys.argv[4])]
put_rows = Warehouse.put_rows
def put(self, *args, **kwargs):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    put_rows(self, *args, **kwargs)
Warehouse.put_rows = put
asyncio.run(pull_reviews(settings_of(home), LabelStudio(url, token, name="local"), SilentProgress()))
"""


@pytest.mark.slow
@pytest.mark.parametrize("writes", [1, 3])
def test_a_pull_that_was_killed_is_ended_by_the_next_one(
    edited: LiveSite, writes: int, undisturbed: dict[Pulled, Any]
) -> None:
    info, home = edited.server.info, edited.site.settings.home
    died = subprocess.run(
        [sys.executable, "-c", _DYING, str(home), info.url, info.token, str(writes)],
        cwd=TOP,
        env=environment(home, PYTHONPATH=str(TOP)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    edited.site.pull()
    validate_it_ended_as_undisturbed(edited, undisturbed, WITH_EDIT)


def test_two_pulls_at_once_from_two_processes_bring_everything_once(
    edited: LiveSite, undisturbed: dict[Pulled, Any]
) -> None:
    info, home = edited.server.info, edited.site.settings.home
    edited.site.warehouse.execute("update review_requests set server = ?", [info.url])
    edited.site.warehouse.execute("update task_states set server = ?", [info.url])
    named = {"LABEL_STUDIO_URL": info.url, "LABEL_STUDIO_API_KEY": info.token}
    pulls = [
        subprocess.Popen(
            [sys.executable, "-m", "callwright", "review", "pull"],
            cwd=TOP,
            env=environment(home, **named),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    told = [pull.communicate(timeout=300) for pull in pulls]
    assert [pull.returncode for pull in pulls] == [0, 0], told
    assert sorted(out.splitlines()[0] for out, _ in told) == [
        "3 new reviews: 1 accepted, 1 edited, 1 rejected.",
        "No new reviews.",
    ]
    assert edited.site.value("select count(*) from reviews") == 3
    assert edited.site.value("select count(*) from review_rounds") == 1
    edited.validate_all_is_there_once()
