"""What golds of tasks hold of their worlds, so that no split tells what another one tests.

All samples of one world (an environment under a seed) are in one split. Worlds draw their names
and amounts from finite vocabularies, so golds of two worlds may still share one: such samples go
into the same split while that is small enough to be placed, else those in the smaller split are
left out.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from pydantic import JsonValue

from callwright.warehouse.answers import values_at
from callwright.warehouse.queries import sql
from callwright.warehouse.records import CallTurn, JsonSchema, ResultTurn, Sample, Tool
from callwright.warehouse.releases.reading import read_tools, samples_by_key
from callwright.warehouse.store import Warehouse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

COUNTED = 100  # whole numbers below it count or number things
_BATCH = 1_000
_NAMES = frozenset({"name", "title", "label"})
_DAY_OR_TIME = re.compile(r"\d{4}-\d\d(-\d\d)?([ T].*)?|\d\d:\d\d(:\d\d)?")


class SharedValue(NamedTuple):
    """A sample that is left out of its split, as its gold shares a value with another split's."""

    subject: str
    split: str
    value: str
    other_split: str


def gold_values(sample: Sample, tools: Mapping[str, Tool]) -> frozenset[str]:
    """Return the ids, names and amounts in a task's gold, as text; `tools` are by name.

    They are the texts and numbers in the arguments of its calls, the ids of what is changed, and
    of the results that the user is told the names of things and the numbers. Some of these tell
    nothing of a world and are not among them: values that the tool's schema lists (`enum`,
    `const`, `default`, `examples`, booleans), days and times, and whole numbers below 100, which
    count or number things.
    """
    found = {str(change.id) for change in sample.changes}
    for call in sample.all_calls:
        properties = tools[call.tool].properties if call.tool in tools else {}
        for name, value in call.arguments.items():
            found.update(_drawn(value, properties.get(name) or {}))
    found.update(_told(sample))
    return frozenset(found)


def _drawn(value: JsonValue, schema: JsonSchema) -> Iterator[str]:
    """Yield the single values of an argument that its schema does not list."""
    if isinstance(value, dict):
        members = schema.get("properties") or {}
        for name, member in value.items():
            yield from _drawn(member, members.get(name) or {})
    elif isinstance(value, list):
        for member in value:
            yield from _drawn(member, schema.get("items") or {})
    elif _is_of_world(value) and value not in _listed(schema):
        yield str(value)


def _listed(schema: JsonSchema) -> list[JsonValue]:
    branches = [one for word in ("anyOf", "oneOf", "allOf") for one in schema.get(word) or ()]
    return [
        *(schema.get("enum") or ()),
        *(schema.get("examples") or ()),
        *(schema[word] for word in ("const", "default") if word in schema),
        *(one for branch in branches for one in _listed(branch)),
    ]


def _is_of_world(value: JsonValue) -> bool:
    if isinstance(value, str):
        return value != "" and not _DAY_OR_TIME.fullmatch(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) >= COUNTED or value % 1 != 0


def _told(sample: Sample) -> Iterator[str]:
    """Yield the names and numbers of results that the user wants to be told."""
    steps = [
        results.results
        for calls, results in pairwise(sample.turns)
        if isinstance(calls, CallTurn) and isinstance(results, ResultTurn)
    ]
    for asked in sample.facts.asked:
        if asked.step >= len(steps) or asked.place >= len(steps[asked.step]):
            continue
        is_name = asked.path.rpartition(".")[2] in _NAMES
        for value in values_at(steps[asked.step][asked.place], asked.path):
            if _is_of_world(value) and (is_name or not isinstance(value, str)):
                yield str(value)


def values_of_worlds(warehouse: Warehouse, keys: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the `gold_values` of the samples of environments with several worlds, by key."""
    found: dict[str, frozenset[str]] = {}
    several = [row["key"] for row in warehouse.rows(sql("splits.of_several_worlds"), [list(keys)])]
    for start in range(0, len(several), _BATCH):
        samples = samples_by_key(warehouse, several[start : start + _BATCH])
        named = {key for sample in samples.values() for key in sample.candidates}
        tools = read_tools(warehouse, sorted(named))
        for key, sample in samples.items():
            own = {tools[one].name: tools[one] for one in sample.candidates if one in tools}
            found[key] = gold_values(sample, own)
    return found


def join_sharing(groups: "Numbers", values: Sequence[frozenset[str]], most: int) -> "Numbers":
    """Return the groups with those joined whose samples share a value, the rarest values first.

    None gets larger than `most` samples that way. `values` are those of each sample.
    """
    import numpy as np

    roots = {one: one for one in groups.tolist()}
    sizes = dict(
        zip(*(part.tolist() for part in np.unique(groups, return_counts=True)), strict=True)
    )

    def root(group: int) -> int:
        while roots[group] != group:
            roots[group] = group = roots[roots[group]]
        return group

    holders: defaultdict[str, set[int]] = defaultdict(set)
    for group, own in zip(groups.tolist(), values, strict=True):
        for value in own:
            holders[value].add(group)
    for value in sorted(holders, key=lambda one: (len(holders[one]), one)):
        joined = sorted({root(one) for one in holders[value]})
        if len(joined) > 1 and sum(sizes[one] for one in joined) <= most:
            for one in joined[1:]:
                roots[one] = joined[0]
                sizes[joined[0]] += sizes[one]
    found: Numbers = np.array([root(one) for one in groups.tolist()], dtype=np.int64)
    return found


def find_shared(
    keys: Sequence[str],
    splits: Sequence[str],
    values: Mapping[str, frozenset[str]],
    shares: Mapping[str, float],
) -> list[SharedValue]:
    """Return the samples whose gold shares a value with that of a larger split, in key order."""
    places: defaultdict[str, set[str]] = defaultdict(set)
    for key, split in zip(keys, splits, strict=True):
        for value in values.get(key, ()):
            places[value].add(split)
    largest = {
        value: max(sorted(found), key=lambda name: shares[name])
        for value, found in places.items()
        if len(found) > 1
    }
    return [
        SharedValue(key, split, shared[0], largest[shared[0]])
        for key, split in zip(keys, splits, strict=True)
        if (
            shared := sorted(one for one in values.get(key, ()) if largest.get(one, split) != split)
        )
    ]
