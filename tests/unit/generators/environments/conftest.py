"""The fixtures of these tests."""

from tests.support.generators.environments.fixtures import *  # noqa: F403
