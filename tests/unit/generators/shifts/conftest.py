"""The fixtures of these tests."""

from tests.support.generators.shifts.fixtures import *  # noqa: F403
