"""Counts in sentences."""


def count_of(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun in the singular or plural.

    `many` is the plural if it is not `one` with an s.

    >>> count_of(1, "call"), count_of(2, "call"), count_of(1, "sample has", "samples have")
    ('1 call', '2 calls', '1 sample has')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
