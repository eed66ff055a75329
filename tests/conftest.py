"""What every test may ask for."""

import gc
import os
from pathlib import Path

import pytest

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


def pytest_unconfigure() -> None:
    """Let go of what failed assertions hold, so that DuckDB has no objects left to complain about at exit."""
    gc.collect()
