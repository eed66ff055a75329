"""Cases of which `make test` takes a few and `make test-all` all."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], some: Collection[Any]) -> list[Any]:
    """The cases for `parametrize`; those that are not among `some` are slow. Raises where one of `some` is no case."""
    found = list(cases)
    assert all(case in found for case in some), some
    return [pytest.param(case, marks=[] if case in some else [pytest.mark.slow]) for case in found]
