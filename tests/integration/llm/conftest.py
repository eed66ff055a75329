"""The fixtures of these tests."""

from tests.support.llm.fixtures import *  # noqa: F403
