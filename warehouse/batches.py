"""Many things, some at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """So many items at a time, in their order; no more of them is read than is asked for.

    >>> [*batches("abcde", 2)]
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    left = iter(items)
    while some := list(islice(left, size)):
        yield some
