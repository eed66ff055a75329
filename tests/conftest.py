"""What every test may ask for."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from flows.cli.ending import silence_teardown

# A slow machine is no bug, and the first example of a test may import a vendor.
settings.register_profile("callwright", deadline=None)
settings.load_profile("callwright")
silence_teardown()  # so that pytest's closing line is the last

pytest_plugins = ["tests.servers"]

SHARED = Path(__file__).resolve().parents[1].parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the public data and the official cases; its absence is a failure in CI."""
    if SHARED.is_dir():
        return SHARED
    reason = f"The public data are not at {SHARED}."
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
