"""Pushing to a real Label Studio while it, the way to it or this process fails: no task is lost,
none stands there twice.
"""

import signal
import subprocess
import sys
import time

import pytest

from callwright.warehouse.errors import CallwrightError
from tests.support.fault_proxy import Fault
from tests.support.flows.live_sites import LiveSite
from tests.support.flows.small_builds import TOP, environment
from tests.support.sampling import sampled

pytestmark = [pytest.mark.labelstudio, pytest.mark.enable_socket]

IMPORT = r"^POST /api/projects/\d+/import"
NEVER_ARRIVED = {
    "500 before it": Fault(delivered=False, status=500),
    "429": Fault(delivered=False, status=429),
    "429 with a wish": Fault(delivered=False, status=429, headers={"Retry-After": "0"}),
    "cut before it": Fault(delivered=False, cut=True),
}
CARRIED_OUT = {
    "500 after it": Fault(status=500),
    "502 after it": Fault(status=502),
    "429 after it": Fault(status=429, headers={"Retry-After": "0"}),
    "truncated JSON": Fault(share=0.5),
    "an empty answer": Fault(share=0),
    "cut in the answer": Fault(share=0.5, cut=True),
    "cut before the answer": Fault(share=0, cut=True),
}
FAULTS = NEVER_ARRIVED | CARRIED_OUT


@pytest.mark.parametrize("name", sampled(FAULTS, ()))
def test_an_import_that_is_answered_badly_makes_each_task_once(live: LiveSite, name: str) -> None:
    live.proxy.expect(IMPORT, FAULTS[name])
    pushed = live.site.push()
    assert not live.proxy.faults
    assert sum(pushed) == len(live.asked())
    live.validate_all_is_there_once()
    assert live.proxy.count(IMPORT) == (2 if name in NEVER_ARRIVED else 1), (
        "what arrived is not sent again"
    )
    assert live.site.push() == (0, 0)


def test_a_server_killed_in_the_middle_of_an_import_is_filled_up_when_it_is_back(
    live: LiveSite,
) -> None:
    def power_cut() -> None:
        time.sleep(0.05)
        live.server.kill()

    live.proxy.expect(IMPORT, Fault(meanwhile=power_cut))
    with pytest.raises(CallwrightError, match="Label Studio at"):
        live.site.push()
    assert live.proxy.count(IMPORT) >= 1
    assert live.site.value("select count(*) from review_requests where pushed_at is not null") == 0
    live.server.start()
    live.proxy.heal()
    assert sum(live.site.push()) == len(live.asked())
    live.validate_all_is_there_once()


# Pushes, and ends itself as kill -9 would: between the import and its bookkeeping, or right after
# that.
_DYING = """
import os, signal, sys
from pathlib import Path
from callwright.annotation.studio.client import LabelStudio
from callwright.flows.progress import SilentProgress
from callwright.flows.review.pushing import push_reviews
from tests.support.flows.small_builds import settings_of
from callwright.warehouse.store import Warehouse

home, url, token, moment = Path(sys.argv[1]), *sys.argv[2:]
class Dying(LabelStudio):
    def push(self, *args, **kwargs):
        pushed = super().push(*args, **kwargs)
        put_rows = Warehouse.put_rows
        def put(self, *args, **kwargs):
            if moment == "after":
                put_rows(self, *args, **kwargs)
            os.kill(os.getpid(), signal.SIGKILL)
        Warehouse.put_rows = put
        return pushed
push_reviews(settings_of(home), Dying(url, token, name="local"), SilentProgress())
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_crash_between_import_and_bookkeeping_doubles_nothing(
    live: LiveSite, moment: str
) -> None:
    info, home = live.server.info, live.site.settings.home
    died = subprocess.run(
        [sys.executable, "-c", _DYING, str(home), info.url, info.token, moment],
        cwd=TOP,
        env=environment(home, PYTHONPATH=str(TOP)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert live.people.keys() == live.asked()
    noted = live.site.value("select count(*) from review_requests where pushed_at is not null")
    assert (noted, live.site.value("select count(*) from task_states")) == (
        (len(live.asked()),) * 2 if moment == "after" else (0, 0)
    )
    assert live.site.push() == ((0, 0) if moment == "after" else (0, len(live.asked())))
    live.validate_all_is_there_once()


def test_two_pushes_at_once_from_two_processes_make_each_task_once(live: LiveSite) -> None:
    info = live.server.info
    named = {"LABEL_STUDIO_URL": info.url, "LABEL_STUDIO_API_KEY": info.token}
    pushes = [
        subprocess.Popen(
            [sys.executable, "-m", "callwright", "review", "push", "--json"],
            cwd=TOP,
            env=environment(live.site.settings.home, **named),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [push.communicate(timeout=300) for push in pushes]
    assert [push.returncode for push in pushes] == [0, 0], said
    live.validate_all_is_there_once()
