"""Cases of which `make test` takes a few and `make test-all` all."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow(*values: Any) -> Any:
    """A case for `parametrize` that only `make test-all` takes."""
    return pytest.param(*values, marks=pytest.mark.slow)


def sampled(cases: Iterable[Any], some: Collection[Any]) -> list[Any]:
    """The cases for `parametrize`; those that are not among `some` are slow.

    Raises where one of `some` is no case.
    """
    found = list(cases)
    assert all(case in found for case in some), some
    return [case if case in some else slow(case) for case in found]
