"""The fixtures of these tests."""

from tests.support.annotation.fixtures import *  # noqa: F403
