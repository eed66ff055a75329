"""Collections in batches, or grouped by a key."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield `size` items at a time, in order, reading no more of them than needed.

    >>> [*batches("abcde", 2)]
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    left = iter(items)
    while some := list(islice(left, size)):
        yield some


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Group the items by their `key`, in order.

    >>> grouped(["ab", "c", "de"], len)
    {2: ['ab', 'de'], 1: ['c']}
    """
    found: dict[Key, list[Item]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found
