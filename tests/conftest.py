"""What every test may ask for."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from callwright.flows.settings import silence_teardown

# A slow machine is no bug, and the first example of a test may import a vendor. A change is judged
# by the same examples each time, so that a fault that was always there does not refuse what did not
# make it; those are looked for by chance in test-all.
settings.register_profile("callwright", deadline=None, max_examples=15, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=200)  # make test-all
settings.load_profile("callwright")
silence_teardown()  # so that pytest's closing line is the last

# A shell starts what it puts behind itself with Ctrl-C ignored, nohup what it starts with SIGHUP,
# and all that is started from there would ignore them too.
for ignorable, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(ignorable) is signal.SIG_IGN:
        signal.signal(ignorable, handler)

pytest_plugins = ["tests.support.new_warehouses", "tests.support.servers"]

SHARED = Path(__file__).resolve().parents[1].parent / "shared"


# Who asks for one of these stays in one worker, so that each is made once in the whole run: a
# server's start takes 8 s of a processor, the builds of all four recipes 15.
_SHARED = ("killable_studio", "label_studio_server", "prefect_server", "four_recipes")

# What waits for servers begins first, so that the other worker has work beside it until the end;
# small units come last.
_ORDER = ("walk", "labelstudio", "prefect", "live", "integration", "conformance", "unit")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A file's tests go to one worker, as do those of a shared thing and of a group; they are
    handed out by `_ORDER`.
    """
    tests = Path(__file__).parent
    ranks: dict[pytest.Item, int] = {}
    for item in items:
        group = item.get_closest_marker("xdist_group")
        place = item.path.relative_to(tests)
        if group is None:
            thing = next(
                (name for name in _SHARED if name in getattr(item, "fixturenames", ())), None
            )
            item.add_marker(pytest.mark.xdist_group(thing or "/".join(place.parts)))
        known = [
            name
            for name in (*(mark.name for mark in item.iter_markers()), place.parts[0])
            if name in _ORDER
        ]
        ranks[item] = min(map(_ORDER.index, known), default=len(_ORDER))
    items.sort(key=ranks.__getitem__)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the public data and the official cases; its absence is a failure in CI."""
    if SHARED.is_dir():
        return SHARED
    reason = f"The public data are not at {SHARED}."
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
