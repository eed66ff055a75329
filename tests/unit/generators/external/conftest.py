"""The fixtures of these tests."""

from tests.support.generators.external.fixtures import *  # noqa: F403
