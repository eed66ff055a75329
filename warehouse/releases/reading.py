"""Reading releases: which there are, their content, whether it is intact, and differences."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

import orjson
from pydantic import JsonValue

from callwright.warehouse.errors import ConfigurationError, StoreError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import (
    Allowance,
    Language,
    Original,
    Release,
    Sample,
    SampleFacts,
    Tool,
    content_key,
)
from callwright.warehouse.releases.answers import SampleAnswers
from callwright.warehouse.releases.grounds import SampleGrounds
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class ReleaseContent(NamedTuple):
    """What a release holds: samples in key order, tools by key, and splits ("" for none)."""

    release: Release
    samples: tuple[Sample, ...]
    tools: dict[str, Tool]
    splits: Mapping[str, str] = MappingProxyType({})


class AssistantWords(NamedTuple):
    """What an assistant may say if no tool fits, and be told before a conversation; "" for none."""

    refusals: tuple[str, ...] = ()
    system_messages: tuple[str, ...] = ()


class ShippedWorld(NamedTuple):
    """A world for tasks as it is shipped: the document to open it, and its tools' names.

    The names are those for players. `files` are the texts of files that it consists of, by name,
    `parts` the names of the worlds that it is made of, if any.
    """

    document: Mapping[str, JsonValue]
    names: Mapping[str, str]
    files: Mapping[str, str] = MappingProxyType({})
    parts: tuple[str, ...] = ()


def _nothing_besides(*_: object) -> tuple[Allowance, ...]:
    return ()


class ReleaseStream(NamedTuple):
    """A release read sample by sample, each after its split ("" if none), with tools by key."""

    release: Release
    samples: Iterable[tuple[str, Sample]]
    tools: Mapping[str, Tool]
    # for rows of training whose samples have none
    words: Mapping[Language, AssistantWords] = MappingProxyType({})
    # by kind, the samples of the template model that were left out
    of_template: Mapping[str, int] = MappingProxyType({})
    # what was answered to the sample that was taken last
    answers: Callable[[Sample], SampleAnswers] | None = None
    # by name, where a format has a place for them
    worlds: Mapping[str, ShippedWorld] = MappingProxyType({})
    # what answers at a turn of a sample may do otherwise than its gold
    allowances: Callable[[Sample, int, Mapping[str, Tool]], Iterable[Allowance]] = _nothing_besides
    # why the sample that was taken last is right
    grounds: Callable[[Sample], SampleGrounds] = lambda _: SampleGrounds()
    # how well models read, by language, family and sort of defect ("" for all)
    readers: Sequence[Row] = ()
    # what cheats earn in its tasks
    cheats: Sequence[Row] = ()
    # whether rows that are chats have parallel calls one after another
    one_call_at_a_time: bool = False


def list_releases(warehouse: Warehouse) -> list[Release]:
    """Return all releases, newest first."""
    rows = warehouse.rows(f"select {_COLUMNS} from releases order by created_at desc, name")  # noqa: S608 - our own
    for row in rows:
        row |= {name: orjson.loads(row[name]) for name in ("selection", "splits")}
    return [*map(Release.model_validate, rows)]


_COLUMNS = """name, content_hash, samples, created_at, note, version, follows, selection, splits, manifest_hash"""  # noqa: E501


def check_release_name(name: str) -> str:
    """Return a valid release name, after which files and folders are named.

    Raises ConfigurationError if it is not valid.
    """
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"A release can't be named {name!r}. Names have up to 100 letters, digits, '.', '-' and"
            " '_', and begin with a letter or digit."
        )
    return name


def release_named(warehouse: Warehouse, name: str) -> Release:
    """Return the release with this name. Raise ConfigurationError that lists the known names."""
    releases = {release.name: release for release in list_releases(warehouse)}
    if name not in releases:
        hint = (
            f"The releases are {', '.join(releases)}."
            if releases
            else f"There are no releases yet; create one with `callwright release create {name}`."
        )
        raise ConfigurationError(f"No release is named {name!r}. {hint}")
    return releases[name]


def read_release(warehouse: Warehouse, name: str, *, without: Sequence[str] = ()) -> ReleaseContent:
    """Return a release with its tools and samples, except those of the kinds in `without`.

    Raises ConfigurationError for an unknown name.
    """
    with warehouse.reading_together():
        stream = stream_release(warehouse, name, without=without)
        samples = tuple(sample for _, sample in stream.samples)
        tools = dict(stream.tools)
        return ReleaseContent(stream.release, samples, tools, splits_of(warehouse, name))


def stream_release(
    warehouse: Warehouse,
    name: str,
    *,
    without: Sequence[str] = (),
    with_template: bool = True,
    words: Mapping[Language, AssistantWords] = MappingProxyType({}),
) -> ReleaseStream:
    """Return a release with its samples in key order, to be read once.

    Samples of the kinds in `without` are left out. Nobody can write meanwhile. Without
    `with_template`, what the template model worded, or alone judged, is left out and counted.
    Raises ConfigurationError for an unknown name.
    """
    with warehouse.reading_together():
        release = release_named(warehouse, name)
        wanted = warehouse.rows("select tool from release_tools where release = ?", [release.name])
        asked = [release.name, list(without)]
        left_out = () if with_template else warehouse.rows(sql("releases.of_template"), asked)
        tools = read_tools(warehouse, [row["tool"] for row in wanted])
    found = warehouse.stream(sql("releases.bodies"), [*asked, with_template])
    samples = ((split, Sample.model_validate(orjson.loads(body))) for split, body in found)
    of_template = {row["kind"]: row["samples"] for row in left_out}
    return ReleaseStream(release, samples, tools, words, of_template)


def splits_of(warehouse: Warehouse, name: str) -> dict[str, str]:
    """Return the split of each sample of a release by key, "" if it has none."""
    rows = warehouse.rows("select subject, split from release_samples where release = ?", [name])
    return {row["subject"]: row["split"] or "" for row in rows}


def count_kinds(warehouse: Warehouse, name: str) -> dict[str, int]:
    """Return the number of samples of each kind in a release.

    Raises ConfigurationError for an unknown name.
    """
    rows = warehouse.rows(sql("releases.kinds"), [release_named(warehouse, name).name])
    return {row["kind"]: row["samples"] for row in rows}


def keys_of_kinds(warehouse: Warehouse, name: str, kinds: Sequence[str]) -> dict[str, str]:
    """Return the keys, each with its split or "", of a release's samples of these kinds.

    They are in key order; use this for kinds that are too large to be read at once.
    """
    rows = warehouse.rows(sql("releases.keys_of_kinds"), [name, list(kinds)])
    return {row["key"]: row["split"] or "" for row in rows}


def samples_by_key(warehouse: Warehouse, keys: Sequence[str]) -> dict[str, Sample]:
    """Return the samples in the warehouse that have these keys, by key."""
    asked = "select key, body from samples where list_contains(?::varchar[], key) order by key"
    rows = warehouse.rows(asked, [list(keys)])
    return {row["key"]: Sample.model_validate_json(row["body"]) for row in rows}


def read_tools(warehouse: Warehouse, keys: Sequence[str]) -> dict[str, Tool]:
    """Return the tools with these keys, by key."""
    asked = "select * from tools where list_contains(?::varchar[], key)"
    rows = warehouse.rows(asked, [list(keys)])
    return {tool.key: tool for tool in map(tool_of, rows)}


def tool_of(row: Row) -> Tool:
    """Return the tool in a row of `tools`."""
    return Tool(
        name=row["name"],
        description=row["description"],
        parameters=orjson.loads(row["parameters"]),
        returns=None if row["returns"] is None else orjson.loads(row["returns"]),
        category=row["category"],
        language=row["language"],
        source=row["source"],
        constants={} if row["constants"] is None else orjson.loads(row["constants"]),
        plumbing=tuple(row["plumbing"] or ()),
        original=row["original"] and Original.model_validate_json(row["original"]),
    )


Change = Literal["changed", "missing", "added or removed", "edited"]
_SHOWN = 3


class ReleaseChange(NamedTuple):
    """A row of a release that differs from the frozen one; changes of the whole have no key."""

    change: Change
    table: Literal["samples", "tools", "release_samples"]
    key: str = ""


class ReleaseState(NamedTuple):
    """Whether a release is as it was frozen: intact if nothing has changed."""

    release: Release
    changes: tuple[ReleaseChange, ...]

    @property
    def is_intact(self) -> bool:
        """Whether nothing has changed."""
        return not self.changes

    @property
    def sentence(self) -> str:
        """The result in a sentence for people."""
        since = "as it was frozen"
        if self.is_intact:
            return (
                f"{self.release.name} is {since}: {self.release.samples} samples, each row as in"
                " the manifest."
            )
        told = (f"{one.table} {one.key} {one.change}" for one in self.changes[:_SHOWN])
        named = ", ".join(one.replace("  ", " ") for one in told)
        more = f" and {len(self.changes) - _SHOWN} more" if len(self.changes) > _SHOWN else ""
        return f"{self.release.name} is not {since}: {named}{more}."


def content_hash(keys: Sequence[str], splits: Sequence[str] = ()) -> str:
    """Return the hash of a release's content: its sample keys in order, with any splits.

    Keys are hashes of what samples and their tools say, so it is the same wherever the same
    samples were made.
    """
    content: JsonValue = (
        [[key, split] for key, split in zip(keys, splits, strict=True)] if splits else list(keys)
    )
    return content_key(content)


def verify_release(warehouse: Warehouse, name: str) -> ReleaseState:
    """Compare a release with its manifest, row by row.

    Raises ConfigurationError for an unknown name.
    """
    return _state(warehouse, release_named(warehouse, name))


def verify_releases(warehouse: Warehouse) -> list[ReleaseState]:
    """Compare all releases with their manifests, newest first."""
    return [_state(warehouse, release) for release in list_releases(warehouse)]


def require_intact(warehouse: Warehouse, name: str) -> Release:
    """Return the release with this name.

    Raises StoreError if it differs from what was frozen, ConfigurationError for an unknown name.
    """
    state = verify_release(warehouse, name)
    if not state.is_intact:
        raise StoreError(
            f"{state.sentence} A release never changes: put back what was changed, or create"
            " another one of what there is now."
        )
    return state.release


def _state(warehouse: Warehouse, release: Release) -> ReleaseState:
    name = release.name
    queries = {
        "samples": (sql("manifests.changed_samples"), [name]),
        "tools": (sql("manifests.changed_tools"), [name]),
        "manifest": (sql("manifests.manifest_hash"), [name, name]),
        "keys": (sql("manifests.keys"), [name]),
    }
    state_rows = warehouse.rows_by_name(queries)
    changes = [ReleaseChange(row["change"], "samples", row["key"]) for row in state_rows["samples"]]
    changes += [ReleaseChange(row["change"], "tools", row["key"]) for row in state_rows["tools"]]
    is_manifest = (state_rows["manifest"][0]["hash"] or "") == release.manifest_hash
    keys, splits = state_rows["keys"][0]["keys"] or (), state_rows["keys"][0]["splits"] or ()
    hashed = content_hash(keys, splits if release.splits else ())
    if len(keys) != release.samples:
        changes.append(ReleaseChange("added or removed", "release_samples"))
    elif not is_manifest or hashed != release.content_hash:
        changes.append(ReleaseChange("edited", "release_samples"))
    return ReleaseState(release, tuple(changes))


class FieldChange(NamedTuple):
    """A field of a sample that differs in the later release."""

    field: str
    old: JsonValue
    new: JsonValue


class ChangedSample(NamedTuple):
    """A sample of the older release, and one of the later made of the same parents or of it."""

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
    """How many samples of a kind were added, removed, remade and kept."""

    kind: str
    added: int
    removed: int
    changed: int
    kept: int


class ReleaseDiff(NamedTuple):
    """The keys of samples that came and went, the changed pairs, and how many stayed the same.

    `moved` are the kept ones that are in another split, with both splits, if both releases have
    splits. `fields` has the most changed first; `changed_samples` says what changed in each
    sample.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[tuple[str, str], ...]
    kept: int
    kinds: tuple[KindDiff, ...]
    moved: tuple[tuple[str, str, str], ...]
    fields: tuple[ChangedField, ...]


def diff_releases(warehouse: Warehouse, old: str, new: str) -> ReleaseDiff:
    """Return what `new` holds that `old` does not, and vice versa.

    Raises ConfigurationError for an unknown release.
    """
    names = [release_named(warehouse, name).name for name in (old, new)]
    with warehouse.reading():  # of one state, also of a copy that may not be written to
        found = {
            name: list(warehouse.stream(sql(f"differences.{name}"), names))
            for name in ("pairs", "alone", "kept", "moved")
        }
        pairs = tuple((one, other) for one, other, _ in found["pairs"])
        paired = {key for pair in pairs for key in pair}
        alone = [row for row in found["alone"] if row[0] not in paired]
        kept_counts, moved = (
            dict(found["kept"]),
            tuple((key, was, now) for key, was, now in found["moved"]),
        )
        numbers, first, anew = Counter[str](), dict[str, tuple[str, FieldChange]](), Counter[str]()
        for sample in changed_samples(warehouse, old, new, pairs):
            anew[sample.kind] += 1
            numbers.update(change.field for change in sample.fields)
            for change in sample.fields:
                first.setdefault(change.field, (sample.new, change))
    came, went = (
        Counter(kind for _, kind, is_new in alone if is_new is side) for side in (True, False)
    )
    kinds = (
        KindDiff(kind, came[kind], went[kind], anew[kind], kept_counts.get(kind, 0))
        for kind in sorted({*came, *went, *anew, *kept_counts})
    )
    fields = (ChangedField(name, number, *first[name]) for name, number in numbers.most_common())
    return ReleaseDiff(
        added=tuple(key for key, _, is_new in alone if is_new),
        removed=tuple(key for key, _, is_new in alone if not is_new),
        changed=pairs,
        kept=sum(kept_counts.values()),
        kinds=tuple(kinds),
        moved=moved,
        fields=tuple(fields),
    )


def changed_samples(
    warehouse: Warehouse, old: str, new: str, pairs: Sequence[tuple[str, str]]
) -> Iterator[ChangedSample]:
    """Yield what changed in each pair of samples, field by field, with few in memory at a time."""
    for start in range(0, len(pairs), _AT_ONCE):
        some = pairs[start : start + _AT_ONCE]
        keys = [[one for one, _ in some], [other for _, other in some]]
        rows = warehouse.stream(sql("differences.changed"), [*keys, old, new])
        for old_key, new_key, kind, *sides in rows:
            before, after = map(orjson.loads, sides)
            for side in (before, after):  # older bodies hold texts
                facts = SampleFacts.model_validate(side["facts"] or {})
                side["facts"] = facts.model_dump(mode="json")
            changed = (name for name in before if before[name] != after[name])
            fields = (FieldChange(name, before[name], after[name]) for name in changed)
            yield ChangedSample(old_key, new_key, kind, tuple(fields))


_AT_ONCE = 2000  # pairs: each pass reads the table of samples
