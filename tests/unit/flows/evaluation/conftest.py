"""The fixtures of these tests."""

from tests.support.validators.fixtures import *  # noqa: F403
