"""Splits of a release: each in proportion, with nothing of one origin in two of them.

Samples are related if they share a parent, however far back (a tool is no parent), the same
calls due at their end, the same template, or a request that says the same once its values are
masked. Tasks are also related if they play in one of several worlds of their environment, whose
golds share no value across splits (worlds.py); with `by="tool"`, samples also if they call the
same tool or ask for the same withheld one.
Relatives of relatives are related: a split takes all of a group or none.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.extras import require_extra
from callwright.warehouse.queries import sql
from callwright.warehouse.releases.worlds import (
    SharedValue,
    find_shared,
    join_sharing,
    values_of_worlds,
)
from callwright.warehouse.store import Warehouse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


SplitBy = Literal["relatives", "tool"]
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_JOINED = 0.5  # of the smallest split, as large a group may grow by shared values
_ROUNDING = 1e-6  # of shares that people write with a few digits


class SplitPlan(NamedTuple):
    """The split of each sample, and the first key of its inseparable group, in key order.

    The split of those `left_out` is "".
    """

    splits: tuple[str, ...]
    groups: tuple[str, ...]
    left_out: tuple[SharedValue, ...] = ()


def parse_shares(text: str) -> dict[str, float]:
    """Parse the value of `--splits`: "train=0.8,test=0.2".

    Raises ConfigurationError if it is not a set of named shares that add up to the whole.
    """
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = (piece.strip() for piece in part.partition("="))
        is_share = re.fullmatch(r"\d*\.?\d+", share) is not None and float(share) > 0
        if not is_share or not _NAME.fullmatch(name) or name in shares:
            raise ConfigurationError(
                f"--splits {text!r} must be different names with their shares, as in "
                f"train=0.8,test=0.2; {part!r} is not."
            )
        shares[name] = float(share)
    if len(shares) == 1 or abs(sum(shares.values()) - 1) > _ROUNDING:
        raise ConfigurationError(
            f"--splits {text!r} needs two or more shares that add up to 1; they add up to"
            f" {sum(shares.values()):g}."
        )
    return shares


def plan_splits(
    warehouse: Warehouse,
    keys: Sequence[str],
    shares: Mapping[str, float],
    by: SplitBy = "relatives",
    earlier: Mapping[str, str] = MappingProxyType({}),
) -> SplitPlan:
    """Assign samples, named by their keys in order, to splits.

    Relatives of what is in a split of an `earlier` release go there. Raises ConfigurationError
    if a split would stay empty.
    """
    import numpy as np

    with warehouse.reading() as connection:
        asked = [key for key, split in earlier.items() if split in shares]
        there = connection.execute(sql("splits.there"), [asked]).fetchall()
        splits_before = {key: earlier[key] for (key,) in there}
        everything = sorted({*keys, *splits_before})
        chosen_keys = "create temp table chosen as select unnest(?::varchar[]) as key"
        connection.execute(chosen_keys, [everything])
        samples = connection.execute(sql("splits.samples")).fetchnumpy()
        linked_by = sql("splits.edges_and_tools" if by == "tool" else "splits.edges")
        edges = connection.execute(linked_by).fetchnumpy()
        connection.execute("drop table chosen")
    groups = group_relatives(samples["node"], edges["one"], edges["other"])
    values = values_of_worlds(warehouse, keys)
    if values:
        most = int(len(keys) * min(shares.values()) * _JOINED)
        groups = join_sharing(groups, [values.get(key, frozenset()) for key in everything], most)
    wanted = set(keys)
    is_new = np.array([key in wanted for key in everything], dtype=bool)
    names = list(shares)
    places = [names.index(splits_before[key]) if key in splits_before else -1 for key in everything]
    earlier_places = np.array(places, dtype=np.int64)
    fixed = earlier_splits(groups, earlier_places, list(shares.values()))
    new_groups, levels = groups[is_new], [samples[level][is_new] for level in _LEVELS]
    chosen = assign_groups(new_groups, levels, list(shares.values()), fixed[is_new])
    splits = tuple(names[place] for place in chosen.tolist())
    left_out = find_shared(keys, splits, values, shares)
    without = {one.subject for one in left_out}
    splits = tuple("" if key in without else one for key, one in zip(keys, splits, strict=True))
    empty = [name for name in names if name not in splits]
    if empty and any(one.split == empty[0] for one in left_out):
        raise ConfigurationError(_all_shared(empty[0], left_out))
    if empty:
        linked = " or that call the same tools" if by == "tool" else ""
        number = len(set(new_groups.tolist()))
        raise ConfigurationError(
            f"The split {empty[0]!r} would stay empty: relatives{linked} may not be parted, and the"
            f" {len(keys)} samples are {number} {'group' if number == 1 else 'groups'} of them."
            " Give it a larger share, or release kinds one by one."
        )
    _, firsts, members = np.unique(new_groups, return_index=True, return_inverse=True)
    group_keys = tuple(keys[first] for first in firsts[members].tolist())
    return SplitPlan(splits, group_keys, tuple(left_out))


def _all_shared(name: str, left_out: Sequence[SharedValue]) -> str:
    """Return why a split is empty once samples that share values with others are left out."""
    mine = [one for one in left_out if one.split == name]
    return (
        f"The split {name!r} would stay empty: the gold of all its {count_of(len(mine), 'sample')}"
        f" shares an id, a name or an amount with another split's, such as {mine[0].value!r}. Their"
        " world seems to hold the same things under every seed; build with `worlds: 1` to part its"
        " tasks by their relatives alone."
    )


def earlier_splits(groups: "Numbers", places: "Numbers", shares: Sequence[float]) -> "Numbers":
    """Return the split that each sample's group had in an earlier release, -1 if none.

    If it had several, it is the largest: what was learned from may be learned from again, but
    not tested on.
    """
    import numpy as np

    by_size = np.argsort(shares, kind="stable")  # the splits, the smallest first
    ranks = np.where(places < 0, -1, np.argsort(by_size, kind="stable")[places])
    best = np.full(len(groups), -1)
    np.maximum.at(best, groups, ranks)
    at = best[groups]
    found: Numbers = np.where(at < 0, -1, by_size[at])
    return found


def group_relatives(
    samples: "NDArray[Any]", one: "NDArray[Any]", other: "NDArray[Any]"
) -> "Numbers":
    """Return the position of the first sample in each sample's group, given the links' ends.

    `one` and `other` are the ends of the links between samples.
    """
    require_extra("build")
    import numpy as np
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    nodes, places = np.unique(np.concatenate([samples, one, other]), return_inverse=True)
    ends = places[len(samples) :].reshape(2, -1)
    is_linked = np.ones(ends.shape[1], dtype=bool)
    links = coo_matrix((is_linked, (ends[0], ends[1])), shape=(len(nodes), len(nodes)))
    _, labels = connected_components(links, directed=False)
    own = labels[places[: len(samples)]]
    _, firsts, members = np.unique(own, return_index=True, return_inverse=True)
    found: Numbers = firsts[members].astype(np.int64)
    return found


def assign_groups(
    groups: "Numbers", levels: Sequence["Numbers"], shares: Sequence[float], fixed: "Numbers"
) -> "Numbers":
    """Return the position of the split of each sample; groups stay whole.

    After the `fixed` groups the largest are placed first. `levels` are the strata of each
    sample, from all of them down to the finest. A split is measured by the squared difference
    between what it has of each stratum and its share of it, relative to that share (chi-square).
    The same groups in the same order of keys give the same splits.
    """
    import numpy as np

    widths = [int(numbers.max(initial=-1)) + 1 for numbers in levels]
    # where each level's strata begin: none has the number of another
    offsets = accumulate(widths[:-1], initial=0)
    shifted = [numbers + offset for numbers, offset in zip(levels, offsets, strict=True)]
    strata = np.concatenate(shifted)
    _, firsts, members, sizes = np.unique(
        groups, return_index=True, return_inverse=True, return_counts=True
    )
    fixed_splits = fixed[firsts]
    width = int(strata.max(initial=0)) + 1
    cells, counts = np.unique(np.tile(members, len(levels)) * width + strata, return_counts=True)
    bounds = np.searchsorted(cells, np.arange(len(sizes) + 1) * width).tolist()
    due = np.outer(shares, np.bincount(strata))  # of each stratum in each split
    is_counted = due.min(axis=0) >= 1  # smaller strata can't be in each split
    is_counted[0] = True  # all samples
    weights = np.where(is_counted, 1 / np.maximum(due, 1), 0).tolist()
    beside = (-due).tolist()
    of_cells, in_cells = (cells % width).tolist(), counts.tolist()
    chosen = [0] * len(sizes)
    for group in np.lexsort((-sizes, fixed_splits < 0)).tolist():
        group_cells = [
            (of_cells[at], in_cells[at]) for at in range(bounds[group], bounds[group + 1])
        ]
        costs = [
            sum(
                number * (2 * row[stratum] + number) * weight[stratum]
                for stratum, number in group_cells
            )
            for row, weight in zip(beside, weights, strict=True)
        ]
        best = int(fixed_splits[group]) if fixed_splits[group] >= 0 else costs.index(min(costs))
        for stratum, number in group_cells:
            beside[best][stratum] += number
        chosen[group] = best
    placed: Numbers = np.asarray(chosen, dtype=np.int64)[members]
    return placed


_LEVELS = ("everything", "of_kind", "of_category")


LEAST_LIKENESS = 0.85  # of the characters of two requests, in order


class CrossDuplicate(NamedTuple):
    """A sample outside the largest split, and the most similar one in another split."""

    subject: str
    split: str
    other: str
    other_split: str
    likeness: float


def find_duplicates(
    warehouse: Warehouse, keys: Sequence[str], splits: Sequence[str]
) -> list[CrossDuplicate]:
    """Return the nearest duplicate in another split for samples outside the largest split.

    They are in key order; a sample without one is left out.
    """
    from rapidfuzz import fuzz
    from rapidfuzz.process import cpdist

    with warehouse.reading() as connection:
        chosen = "select unnest(?::varchar[]) as key, unnest(?::varchar[]) as split"
        connection.execute(f"create temp table chosen as {chosen}", [list(keys), list(splits)])
        for statement in (sql("splits.texts"), sql("splits.rarer"), sql("splits.shared")):
            connection.execute(statement)
        pairs = connection.execute(sql("splits.candidates")).fetchall()
        for table in _TABLES:
            connection.execute(f"drop table {table}")
    if not pairs:
        return []
    subjects, own, others, other_splits, texts, other_texts = zip(*pairs, strict=True)
    least = 100 * LEAST_LIKENESS
    likeness = (cpdist(texts, other_texts, scorer=fuzz.ratio, score_cutoff=least) / 100).tolist()
    best: dict[str, CrossDuplicate] = {}
    for duplicate in map(CrossDuplicate, subjects, own, others, other_splits, likeness):
        known = best.get(duplicate.subject, duplicate)
        is_better = (duplicate.likeness, known.other) > (known.likeness, duplicate.other)
        if duplicate.likeness and (known is duplicate or is_better):
            best[duplicate.subject] = duplicate
    return [best[subject] for subject in sorted(best)]


_TABLES = ("chosen", "texts", "rarer", "shared")
