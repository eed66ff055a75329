"""What two releases do not share: samples that came and went, and those that were made anew of the same parents."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.warehouse.queries import sql
from callwright.warehouse.releases.reading import release_named
from callwright.warehouse.store import Warehouse


class FieldChange(NamedTuple):
    """A field of a sample that is another one in the later release."""

    field: str
    old: JsonValue
    new: JsonValue


class ChangedSample(NamedTuple):
    """A sample of the older release, and the one of the later release that was made of the same parents, or of itself."""

    old: str
    new: str
    kind: str
    fields: tuple[FieldChange, ...]


class ChangedField(NamedTuple):
    """How many samples changed in a field, and the first of them."""

    field: str
    samples: int
    first: str
    change: FieldChange


class KindDiff(NamedTuple):
    """How many samples of a kind came, went, were made anew and stayed."""

    kind: str
    added: int
    removed: int
    changed: int
    kept: int


class ReleaseDiff(NamedTuple):
    """The keys of the samples that came and went, the pairs of those that changed, and how many stayed as they are.

    `moved` are the kept ones that stand in another split, with both splits, where both releases have splits. `fields` are the
    most changed first; what changed in each sample `changed_samples` tells.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[tuple[str, str], ...]
    kept: int
    kinds: tuple[KindDiff, ...]
    moved: tuple[tuple[str, str, str], ...]
    fields: tuple[ChangedField, ...]


def diff_releases(warehouse: Warehouse, old: str, new: str) -> ReleaseDiff:
    """What `new` holds that `old` does not, and the other way round. Raises ConfigurationError for an unknown release."""
    names = [release_named(warehouse, name).name for name in (old, new)]
    with warehouse.reading():  # of one state, also of a copy that may not be written to
        pairs = tuple((one, other) for one, other, _ in warehouse.stream(sql("differences.pairs"), names))
        paired = {key for pair in pairs for key in pair}
        alone = [row for row in warehouse.stream(sql("differences.alone"), names) if row[0] not in paired]
        kept = dict(warehouse.stream(sql("differences.kept"), names))
        moved = tuple((key, was, now) for key, was, now in warehouse.stream(sql("differences.moved"), names))
        numbers, first, anew = Counter[str](), dict[str, tuple[str, FieldChange]](), Counter[str]()
        for sample in changed_samples(warehouse, old, new, pairs):
            anew[sample.kind] += 1
            numbers.update(change.field for change in sample.fields)
            for change in sample.fields:
                first.setdefault(change.field, (sample.new, change))
    came, went = (Counter(kind for _, kind, is_new in alone if is_new is side) for side in (True, False))
    return ReleaseDiff(
        added=tuple(key for key, _, is_new in alone if is_new),
        removed=tuple(key for key, _, is_new in alone if not is_new),
        changed=pairs,
        kept=sum(kept.values()),
        kinds=tuple(
            KindDiff(kind, came[kind], went[kind], anew[kind], kept.get(kind, 0))
            for kind in sorted({*came, *went, *anew, *kept})
        ),
        moved=moved,
        fields=tuple(ChangedField(name, number, *first[name]) for name, number in numbers.most_common()),
    )


def changed_samples(
    warehouse: Warehouse, old: str, new: str, pairs: Sequence[tuple[str, str]]
) -> Iterator[ChangedSample]:
    """What changed in each of the pairs of samples, field by field, a few in memory together."""
    for start in range(0, len(pairs), _AT_ONCE):
        some = pairs[start : start + _AT_ONCE]
        keys = [[one for one, _ in some], [other for _, other in some]]
        for one, other, kind, *sides in warehouse.stream(sql("differences.changed"), [*keys, old, new]):
            before, after = map(orjson.loads, sides)
            fields = [FieldChange(name, before[name], after[name]) for name in before if before[name] != after[name]]
            yield ChangedSample(one, other, kind, tuple(fields))


_AT_ONCE = 2000  # pairs: each pass reads the table of samples
