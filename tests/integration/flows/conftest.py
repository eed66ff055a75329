"""The fixtures of these tests."""

from tests.support.flows.fixtures import *  # noqa: F403
from tests.support.flows.four_recipes import four_recipes  # noqa: F401 - here, so that two files share what it builds
