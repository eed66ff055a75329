"""Choosing among many records those that differ: by tool, outcome, error and feedback, and by how new what is said is.

Records in which the users say the same and the same is called are folded into one, with their count. Of each record memory holds
three numbers; of a stratum no more than some hundreds are read for what they say.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nsmallest
from typing import Literal, NamedTuple

import numpy as np

from callwright.generators.taken import print_of
from callwright.warehouse.records import CallTurn, TakenRecord, UserTurn

Stratum = Literal["tool", "outcome", "error", "feedback"]
STRATA: tuple[Stratum, ...] = ("tool", "outcome", "error", "feedback")
_POOL = 400  # records of a stratum among which the newest are looked for
_PER_CHOSEN = 4  # and so many for each that is chosen of it
Encode = Callable[[Sequence[str]], Sequence[Sequence[float]]]


class Chosen(NamedTuple):
    """The places of the records that were chosen, each with how many say the same; and how many were folded, and not chosen."""

    seen: dict[int, int]
    folded: int
    not_chosen: int


def choose(read: Callable[[], Iterable[TakenRecord]], take: int, by: Sequence[Stratum], encode: Encode) -> Chosen:
    """Choose so many of the records that `read` gives, the same each time; each stratum has an even share, as far as it goes.

    `encode` gives a vector of length one for each text.
    """
    firsts: dict[bytes, int] = {}
    seen, places, strata, names = array("L"), array("L"), array("L"), dict[str, int]()
    for place, record in enumerate(read()):
        if record.sample is None:
            continue
        print_ = print_of(record.sample)
        if print_ in firsts:
            seen[firsts[print_]] += 1
            continue
        firsts[print_] = len(seen)
        seen.append(1)
        places.append(place)
        strata.append(names.setdefault(_stratum(record, by), len(names)))
    shares = _shares(np.bincount(np.frombuffer(strata, dtype=strata.typecode), minlength=len(names)).tolist(), take)
    pools = _pools(strata, shares, [*firsts])
    wanted = {places[at] for pool in pools for at in pool}
    texts = {
        place: (
            "\n".join(turn.text for turn in record.sample.turns if isinstance(turn, UserTurn)) if record.sample else ""
        )
        for place, record in enumerate(read())
        if place in wanted and record.sample
    }
    chosen = list[int]()
    for pool, share in zip(pools, shares, strict=True):
        said = [texts[places[at]] for at in pool] if share < len(pool) else []
        first = max(range(len(pool)), key=lambda one: seen[pool[one]], default=0)
        chosen += [pool[at] for at in _newest(encode(said), first, share)] if said else pool
    return Chosen({places[at]: seen[at] for at in sorted(chosen)}, sum(seen) - len(seen), len(seen) - len(chosen))


def _stratum(record: TakenRecord, by: Sequence[Stratum]) -> str:
    sample = record.sample
    turns = sample.turns if sample else ()
    tools = sorted({call.tool for turn in turns if isinstance(turn, CallTurn) for call in turn.calls})
    told = {"tool": " ".join(tools), "outcome": record.outcome, "error": record.error, "feedback": record.feedback}
    return "\n".join(told[one] for one in by)


def _shares(sizes: Sequence[int], take: int) -> list[int]:
    """How many of each stratum: even shares, what a small one leaves goes to the others."""
    shares, left = [0] * len(sizes), take
    for number, at in enumerate(sorted(range(len(sizes)), key=lambda one: sizes[one])):
        shares[at] = min(sizes[at], -(-left // (len(sizes) - number)))
        left -= shares[at]
    return shares


def _pools(strata: Sequence[int], shares: Sequence[int], prints: Sequence[bytes]) -> list[list[int]]:
    """Of each stratum the records among which is chosen, in an order of their own, whichever came first."""
    members: list[list[int]] = [[] for _ in shares]
    for at, stratum in enumerate(strata):
        members[stratum].append(at)
    return [
        nsmallest(max(_POOL, _PER_CHOSEN * share), some, key=prints.__getitem__) if share else []
        for some, share in zip(members, shares, strict=True)
    ]


def _newest(rows: Sequence[Sequence[float]], first: int, share: int) -> Iterator[int]:
    """So many places of vectors: the first one, then always the one that is least like those before it."""
    vectors = np.asarray(rows, dtype=np.float32)
    likest = np.full(len(vectors), -2.0, dtype=np.float32)
    at = first
    for _ in range(share):
        yield at
        likest = np.maximum(likest, vectors @ vectors[at])
        likest[at] = np.inf
        at = int(np.argmin(likest))
