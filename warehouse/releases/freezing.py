"""Freezing samples under a name, with a version, a manifest and, on request, splits."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from contextlib import nullcontext
from datetime import UTC, datetime
from itertools import compress
from types import MappingProxyType
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import FIRST_VERSION, Release
from callwright.warehouse.releases.reading import (
    check_release_name,
    content_hash,
    list_releases,
    release_named,
    splits_of,
)
from callwright.warehouse.releases.splits import (
    CrossDuplicate,
    SplitBy,
    SplitPlan,
    find_duplicates,
    plan_splits,
)
from callwright.warehouse.releases.worlds import SharedValue
from callwright.warehouse.rows import Row, rows_of
from callwright.warehouse.store import Warehouse

_NOTABLE_MISS = 0.02  # how far a split may be off its share without a word
LeftOut = Literal["", "trial", "older", "not asked for", "filtered"]


class Selection(NamedTuple):
    """The accepted samples that a release takes: by build, recipe, kind, language and condition.

    An empty field takes all. The newest complete build of each recipe counts; any other build,
    even a trial, is taken if it is named by (the beginning of) its key. `where` is a condition
    in SQL over the columns of accepted_samples.
    """

    recipes: tuple[str, ...] = ()
    builds: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    where: str = ""


class BuildShare(NamedTuple):
    """How many of a build's landed samples are `taken`, and why others are not ("" if all are)."""

    build: str
    recipe: str
    is_trial: bool
    finished_at: datetime | None
    landed: int
    taken: int
    left_out: LeftOut


class SelectedSamples(NamedTuple):
    """The keys of the selected samples, in order, and what is taken and left out by build."""

    keys: tuple[str, ...]
    builds: tuple[BuildShare, ...]


def select_samples(warehouse: Warehouse, selection: Selection) -> SelectedSamples:
    """Return the accepted samples that match a selection.

    Raises ConfigurationError if it names something unknown, or if nothing is left.
    """
    builds = warehouse.rows(sql("selecting.builds"))
    if not builds:
        problem = "There are no accepted samples to release. Run `callwright build RECIPE` first."
        raise ConfigurationError(problem)
    _require_known("recipe", selection.recipes, {row["recipe"] for row in builds})
    _require_known("kind", selection.kinds, {kind for row in builds for kind in row["kinds"]})
    known = {language for row in builds for language in row["languages"]}
    _require_known("language", selection.languages, known)
    named = frozenset(_build_beginning_with(start, builds) for start in selection.builds)
    reasons = {row["key"]: _reason_left_out(row, selection, named) for row in builds}
    taken = [key for key, reason in reasons.items() if not reason]
    if not taken:
        raise ConfigurationError(_why_nothing_is_taken(builds, reasons))
    keys = _keys_of(warehouse, taken, selection)
    if not keys:
        raise ConfigurationError("No accepted sample matches --kind, --language and --where.")
    rows = warehouse.rows(sql("selecting.taken"), [list(keys)])
    counts = {row["build"]: row["taken"] for row in rows}
    shares = [_share(row, counts.get(row["key"], 0), reasons[row["key"]]) for row in builds]
    return SelectedSamples(keys, tuple(shares))


def _share(build: Row, taken: int, reason: LeftOut) -> BuildShare:
    return BuildShare(
        build=build["key"],
        recipe=build["recipe"],
        is_trial=build["is_trial"],
        finished_at=build["finished_at"],
        landed=build["landed"],
        taken=taken,
        left_out="" if taken == build["landed"] else reason or "filtered",
    )


def _require_known(what: str, names: Sequence[str], known: Set[str]) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        problem = f"There are no accepted samples of the {what} {unknown[0]!r}."
        raise ConfigurationError(f"{problem} There are some of {', '.join(sorted(known))}.")


def _build_beginning_with(start: str, builds: Sequence[Row]) -> str:
    matches = [row["key"] for row in builds if start and row["key"].startswith(start)]
    if len(matches) == 1:
        return str(matches[0])
    problem = "Several builds begin" if matches else "No build with accepted samples begins"
    listed = ", ".join(
        f"{row['key']} ({row['recipe']}{', a trial' if row['is_trial'] else ''})" for row in builds
    )
    raise ConfigurationError(f"{problem} with {start!r}. The builds are {listed}.")


def _reason_left_out(build: Row, selection: Selection, named: Set[str]) -> LeftOut:
    """Return why nothing of a build is taken, or "" if it is taken."""
    if selection.recipes and build["recipe"] not in selection.recipes:
        return "not asked for"
    if named:
        return "" if build["key"] in named else "not asked for"
    if build["is_trial"]:
        return "trial"
    return "" if build["is_latest"] else "older"


def _why_nothing_is_taken(builds: Sequence[Row], reasons: Mapping[str, LeftOut]) -> str:
    trials = [row for row in builds if reasons[row["key"]] == "trial"]
    if not trials:
        return "No build named by --build belongs to a recipe named by --recipe."
    listed = ", ".join(
        f"{row['key']} ({row['recipe']}, {count_of(row['landed'], 'sample')})" for row in trials
    )
    return (
        f"Only trial builds have accepted samples: {listed}. Build without --limit, or name a trial"
        f" to take it: --build {trials[0]['key']}."
    )


def _keys_of(warehouse: Warehouse, builds: Sequence[str], selection: Selection) -> tuple[str, ...]:
    lists = [list(names) for names in (builds, selection.kinds, selection.languages)]
    keys = (row["subject"] for row in warehouse.rows(sql("selecting.selected"), lists))
    if not selection.where:
        return tuple(keys)
    matching = warehouse.keys_where(selection.where)
    return tuple(key for key in keys if key in matching)


_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


class Terms(NamedTuple):
    """How to make a release from the selected samples.

    `shares` are those of its splits, or none for no splits. The `version`, unless given, follows
    from what has changed since the release `follows`, which is by default the newest release of
    the same selection.
    """

    note: str = ""
    shares: Mapping[str, float] = MappingProxyType({})
    by: SplitBy = "relatives"
    version: str = ""
    follows: str = ""


class MadeRelease(NamedTuple):
    """A release with its builds, its samples by split, and near duplicates across splits.

    `groups` is the number of groups of relatives, the largest with `largest_group` samples;
    `kept` samples are in the split that they had in the release that this one follows. Those
    `left_out` share a value of their gold with a task of a larger split.
    """

    release: Release
    selected: SelectedSamples
    splits: Mapping[str, int]
    groups: int
    duplicates: Sequence[CrossDuplicate]
    largest_group: int = 0
    kept: int = 0
    left_out: Sequence[SharedValue] = ()

    @property
    def shared(self) -> int:
        """How many times a sample was supplied again by another recipe."""
        taken = sum(share.taken for share in self.selected.builds)
        return taken - self.release.samples - len(self.left_out)

    @property
    def missed(self) -> dict[str, float]:
        """The splits off by more than two points, each with how much larger or smaller it is."""
        total, shares = self.release.samples, self.release.splits.items()
        excess = {name: self.splits[name] / total - share for name, share in shares}
        return {name: by for name, by in excess.items() if abs(by) > _NOTABLE_MISS}


def create_release(
    warehouse: Warehouse, name: str, recipes: Sequence[str] = (), note: str = ""
) -> Release:
    """Freeze what the newest complete build of each recipe has landed.

    The same content under the same name is the same release. Raises ConfigurationError if
    nothing has landed, or the name is taken by other content.
    """
    return make_release(warehouse, name, Selection(recipes=tuple(recipes)), Terms(note)).release


def make_release(
    warehouse: Warehouse,
    name: str,
    selection: Selection,
    terms: Terms,
    *,
    snapshot: Warehouse | None = None,
) -> MadeRelease:
    """Freeze what a selection takes, in splits if there are shares.

    Everything is read from the `snapshot`, if given. Raises ConfigurationError if nothing is
    selected, a split would stay empty, or the name is taken by other content.
    """
    check_release_name(name)
    read = snapshot or warehouse
    # A condition of the user's is asked by a DuckDB of its own, which must open the file itself: so
    # no connection is held open meanwhile.
    with nullcontext() if selection.where else read.reading_together():
        selected = select_samples(read, selection)
        full_selection = _selection_as_stored(selection, selected, terms)
        earlier = _release_to_follow(read, name, full_selection, terms)
        before = splits_of(read, earlier.name) if earlier else {}
    plan, keys, left_out = SplitPlan((), ()), selected.keys, tuple[SharedValue, ...]()
    duplicates: Sequence[CrossDuplicate] = ()
    if terms.shares:
        plan = plan_splits(read, selected.keys, terms.shares, terms.by, before)
        left_out = plan.left_out
        keys, plan = _placed(selected.keys, plan)
        duplicates = find_duplicates(read, keys, plan.splits)
    now = dict(zip(keys, plan.splits or [""] * len(keys), strict=True))
    next_one = next_version(earlier.version, before, now) if earlier else FIRST_VERSION
    release = Release(
        name=name,
        content_hash=content_hash(keys, plan.splits),
        samples=len(keys),
        created_at=datetime.now(UTC),
        note=terms.note,
        version=terms.version or next_one,
        follows=earlier.name if earlier else "",
        selection=full_selection,
        splits=dict(terms.shares),
    )
    groups = Counter(plan.groups)
    return MadeRelease(
        release=_keep(warehouse, release, keys, plan, duplicates),
        selected=selected,
        splits=Counter(plan.splits),
        groups=len(groups),
        duplicates=duplicates,
        largest_group=max(groups.values(), default=0),
        kept=sum(1 for key, split in now.items() if split and before.get(key) == split),
        left_out=left_out,
    )


def _placed(keys: Sequence[str], plan: SplitPlan) -> tuple[tuple[str, ...], SplitPlan]:
    """Return the keys that have a split, and their plan; the rest is left out of the release."""
    is_placed = [bool(split) for split in plan.splits]
    splits, groups = (tuple(compress(column, is_placed)) for column in plan[:2])
    return tuple(compress(keys, is_placed)), SplitPlan(splits, groups)


def freeze(warehouse: Warehouse, name: str, keys: Sequence[str], note: str = "") -> Release:
    """Give stored samples, by their sorted keys, a permanent name.

    The same keys under the same name are the same release. Raises ConfigurationError if the name
    is invalid, or is taken by others.
    """
    release = Release(
        name=check_release_name(name),
        content_hash=content_hash(keys),
        samples=len(keys),
        created_at=datetime.now(UTC),
        note=note,
    )
    return _keep(warehouse, release, keys, SplitPlan((), ()), ())


def check_version(version: str) -> str:
    """Return a semantic version unchanged. Raise ConfigurationError if it is not one."""
    if not _VERSION.fullmatch(version):
        problem = f"--version {version!r} is not a semantic version. An example: 1.2.0"
        raise ConfigurationError(problem)
    return version


def next_version(version: str, before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the version after one, given the old and new split of each sample.

    A change that breaks comparison of scores is a major step: a sample is gone or in another
    split. If samples were only added it is a minor one, else a patch.

        next_version("1.2.0", {"a": "train"}, {"a": "test"})               # 2.0.0
        next_version("1.2.0", {"a": "train"}, {"a": "train", "b": "test"})  # 1.3.0
        next_version("1.2.0", {"a": "train"}, {"a": "train"})              # 1.2.1
    """
    major, minor, patch = map(int, version.split("."))
    if any(key not in now or (split and now[key] != split) for key, split in before.items()):
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if len(now) > len(before) else f"{major}.{minor}.{patch + 1}"


def _selection_as_stored(
    selection: Selection, selected: SelectedSamples, terms: Terms
) -> dict[str, JsonValue]:
    """Return what a release selects, for storage; releases with the same are versions of one."""
    recipes: list[JsonValue] = [*sorted({share.recipe for share in selected.builds if share.taken})]
    stored: dict[str, JsonValue] = {"recipes": recipes}
    lists = {"builds": selection.builds, "kinds": selection.kinds, "languages": selection.languages}
    stored |= {name: [*sorted(values)] for name, values in lists.items() if values}
    if selection.where:
        stored["where"] = selection.where
    if terms.shares:
        stored["by"] = terms.by
    return stored


def _release_to_follow(
    warehouse: Warehouse, name: str, selection: Mapping[str, JsonValue], terms: Terms
) -> Release | None:
    """Return the release that `terms` name, else the newest of the same selection, or None."""
    if terms.version:
        check_version(terms.version)
    if terms.follows:
        return release_named(warehouse, terms.follows)
    others = (one for one in list_releases(warehouse) if one.name != name)
    return next((one for one in others if one.selection == selection), None)


def _keep(
    warehouse: Warehouse,
    release: Release,
    keys: Sequence[str],
    plan: SplitPlan,
    duplicates: Sequence[CrossDuplicate],
) -> Release:
    """Write a release with its manifest, in one transaction.

    A release with the same content under its name stays as it is. Raises ConfigurationError if
    the name has other content.
    """
    existing = {one.name: one for one in list_releases(warehouse)}.get(release.name)
    if existing is not None:
        if existing.content_hash == release.content_hash:
            return existing
        has_same_samples = set(splits_of(warehouse, release.name)) == {*keys}
        held = "the same samples in other splits" if has_same_samples else "other samples"
        raise ConfigurationError(
            f"A release {release.name!r} already exists and cannot be changed. It has {held}"
            f" ({existing.samples}). Choose another name."
        )
    with warehouse.writing() as connection:
        splits, groups = (list(one or [None] * len(keys)) for one in plan[:2])
        connection.execute(sql("manifests.chosen"), [list(keys), splits, groups])
        connection.execute(sql("manifests.take_samples"), [release.name])
        connection.execute(sql("manifests.take_tools"), [release.name])
        connection.execute("drop table chosen")
        columns = [list(column) for column in zip(*duplicates, strict=True)] or [[], [], [], [], []]
        connection.execute(sql("manifests.duplicates"), [release.name, *columns])
        hashed = connection.execute(
            sql("manifests.manifest_hash"), [release.name, release.name]
        ).fetchone()
        release = release.with_changes(manifest_hash=hashed[0] if hashed and hashed[0] else "")
        ((table, row),) = rows_of([release], release.created_at)
        places = ", ".join("?" * len(row))
        insert = f"insert into {table} ({', '.join(row)}) values ({places})"  # noqa: S608
        connection.execute(insert, [*row.values()])
    return release
