"""The fixtures of these tests."""

from tests.support.flows.fixtures import *  # noqa: F403
