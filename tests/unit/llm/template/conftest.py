"""The fixtures of these tests."""

from tests.support.llm.template.fixtures import *  # noqa: F403
