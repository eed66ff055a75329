"""Levenshtein distances of many pairs of texts at once: the tables of all pairs are filled side by side.

A column of a table is kept as the bits of two numbers, which say where it rises and where it falls (Hyyrö 2001): a few
operations give 64 cells. numpy does them for all pairs and for all words of a column; each word is a step behind the one
above it, whose carry it takes over. Only cells near the diagonal are looked at, as most texts differ little (Ukkonen 1985):
what lies further off counts as if it rose all the way, so that a distance is exact if it is no more than the reach.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Bits = NDArray[np.uint64]
    Numbers = NDArray[np.int64]

FEW = 8  # pairs for which numpy is not worth its import
_WORD = 64
_LARGEST = 1 << 19  # how many words the tables of a batch may have
_MOST = 4096
_REACH = 128  # how far from the diagonal the first look goes
_WIDER = 4

Pair = tuple[str, str]


def distances(pairs: Sequence[Pair]) -> list[int]:
    """How many characters must be put in, taken out or changed to make one text of the other, for each pair."""
    different = {pair: _without_shared_ends(*sorted(pair, key=len)) for pair in set(pairs)}
    found = {pair: len(cut[1]) for pair, cut in different.items() if not cut[0]}
    left = sorted(different.keys() - found.keys(), key=lambda pair: (*map(len, different[pair]), pair))
    if len(left) < FEW:
        found |= {pair: _distance(*different[pair]) for pair in left}
    else:
        reach = _REACH
        while left:
            for batch in _batches(left, different):
                found |= dict(zip(batch, _measure([different[pair] for pair in batch], reach), strict=True))
            left = [pair for pair in left if found[pair] > reach]
            reach *= _WIDER
    return [found[pair] for pair in pairs]


def _without_shared_ends(one: str, other: str) -> Pair:
    """Two texts without what both begin and end with, which changes no distance."""
    at = _shared(one, other)
    one, other = one[at:], other[at:]
    end = _shared(one[::-1], other[::-1])
    return one[: len(one) - end], other[: len(other) - end]


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _distance(one: str, other: str) -> int:
    """The distance of one pair, a whole column in one of Python's own numbers."""
    places: dict[str, int] = {}
    for at, character in enumerate(one):
        places[character] = places.get(character, 0) | 1 << at
    whole = (1 << len(one)) - 1
    rises, falls = whole, 0
    for character in other:
        same = places.get(character, 0)
        down = same | falls
        along = (((same & rises) + rises) ^ rises) | same
        up = falls | ~(along | rises)
        back = rises & along
        up, back = (up << 1 | 1) & whole, back << 1 & whole
        rises = (back | ~(down | up)) & whole
        falls = up & down
    return len(other) + rises.bit_count() - falls.bit_count()


def _batches(pairs: Sequence[Pair], cut: dict[Pair, Pair]) -> Iterator[list[Pair]]:
    """Pairs of about the same length, as many as their tables may be large."""
    batch: list[Pair] = []
    characters: set[str] = set()
    for pair in pairs:
        one = cut[pair][0]
        words = len(one) // _WORD + 1
        wider = characters | set(one)
        if batch and (len(batch) == _MOST or (len(batch) + 1) * words * len(wider) > _LARGEST):
            yield batch
            batch, wider = [], set(one)
        batch.append(pair)
        characters = wider
    if batch:
        yield batch


class _Coded(NamedTuple):
    """Pairs as numbers: where each character stands in the first texts, and the second ones, a row a place.

    `places` has a number of bits for each word of a column, each pair and each character; code 0 stands nowhere.
    """

    places: Bits
    texts: Numbers


def _measure(pairs: Sequence[Pair], reach: int) -> list[int]:
    """The distances of pairs none of which has an empty text; what is more than `reach` may be too much."""
    import numpy as np

    lengths, ends = (np.array([len(pair[side]) for pair in pairs]) for side in (0, 1))
    words, count = int(lengths.max()) // _WORD + 1, len(pairs)
    coded = _code(pairs, words)
    tables = (np.arange(words * count) * coded.places.shape[-1]).reshape(words, count)
    flat = coded.places.reshape(-1)
    rises, falls = np.full((words, count), ~np.uint64(0)), np.zeros((words, count), np.uint64)
    ups, backs = np.zeros((words + 1, count), np.uint64), np.zeros((words + 1, count), np.uint64)
    ups[0] = 1  # the table's first row counts up
    # the step at which a word is through with its text, or has it beyond its reach
    numbers = np.arange(words)[:, None]
    last = np.minimum(ends - 1 + numbers, (_WORD + 1) * numbers + _WORD - 1 + reach).reshape(-1)
    order = np.argsort(last, kind="stable")
    bounds = np.searchsorted(last[order], np.arange(int(last.max()) + 2))
    masks, totals = _masks(lengths, words), ends.copy()
    for step in range(int(last.max()) + 1):
        low = max(0, -((reach + _WORD - 1 - step) // (_WORD + 1)))
        high = min(words, step + 1, (step + reach) // (_WORD + 1) + 1)
        same = flat.take(tables[low:high] + coded.texts[step - high + 1 : step - low + 1][::-1])
        carried = slice(low + 1, high + 1)
        ups[carried], backs[carried] = _advance(same, rises[low:high], falls[low:high], ups[low:high], backs[low:high])
        ups[low], backs[low] = 1, 0  # for the first word within reach, once the one above it is not
        ended = order[bounds[step] : bounds[step + 1]]
        if len(ended):
            mask = masks.take(ended)
            change = np.bitwise_count(rises.take(ended) & mask).astype(np.int64)
            change -= np.bitwise_count(falls.take(ended) & mask)
            np.add.at(totals, ended % count, change)
    return [int(number) for number in totals]


def _advance(same: Bits, rises: Bits, falls: Bits, up_in: Bits, back_in: Bits) -> tuple[Bits, Bits]:
    """One column further: `rises` and `falls` are changed; what goes up and back at the last row of each word."""
    import numpy as np

    one, top = np.uint64(1), np.uint64(_WORD - 1)
    down = same | falls
    same |= back_in
    along = same & rises
    along += rises  # what is carried out of a word comes to the next one as `back_in`
    along ^= rises
    along |= same
    back = rises & along
    along |= rises
    up = np.invert(along, out=along)
    up |= falls
    out = up >> top, back >> top
    up <<= one
    up |= up_in
    back <<= one
    back |= back_in
    np.bitwise_and(up, down, out=falls)
    down |= up
    np.invert(down, out=down)
    np.bitwise_or(back, down, out=rises)
    return out


def _code(pairs: Sequence[Pair], words: int) -> _Coded:
    import numpy as np

    ones, others = (_spread([pair[side] for pair in pairs]) for side in (0, 1))
    known = np.unique(ones.characters)
    codes = np.zeros(int(max(ones.characters.max(), others.characters.max())) + 1, np.int64)
    codes[known] = np.arange(1, len(known) + 1)
    places = np.zeros((words, len(pairs), len(known) + 1), np.uint64)
    bits = np.uint64(1) << (ones.at % _WORD).astype(np.uint64)
    np.bitwise_or.at(places, (ones.at // _WORD, ones.pair, codes[ones.characters]), bits)
    texts = np.zeros((int(others.at.max()) + 1 + words, len(pairs)), np.int64)
    texts[others.at, others.pair] = codes[others.characters]
    return _Coded(places, texts)


class _Spread(NamedTuple):
    """The characters of some texts, one after the other, each with its place and the number of its text."""

    characters: Numbers
    at: Numbers
    pair: Numbers


def _spread(texts: Sequence[str]) -> _Spread:
    import numpy as np

    lengths = np.array([len(text) for text in texts])
    written = "".join(texts).encode("utf-32-le", "surrogatepass")
    starts = np.cumsum(lengths) - lengths
    return _Spread(
        np.frombuffer(written, np.uint32).astype(np.int64),
        np.arange(int(lengths.sum())) - np.repeat(starts, lengths),
        np.repeat(np.arange(len(texts)), lengths),
    )


def _masks(lengths: Numbers, words: int) -> Bits:
    """Which bits of each word belong to a text."""
    import numpy as np

    left = np.clip(lengths - np.arange(words)[:, None] * _WORD, 0, _WORD).astype(np.uint64)
    full = ~np.uint64(0)
    masks: Bits = np.where(left == _WORD, full, (np.uint64(1) << (left % np.uint64(_WORD))) - np.uint64(1))
    return masks
