"""Freezing samples under a name: once and for good, with a version, a manifest and, where asked for, splits."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import NamedTuple

from pydantic import JsonValue

from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import FIRST_VERSION, Release
from callwright.warehouse.releases.duplicates import CrossDuplicate, find_duplicates
from callwright.warehouse.releases.manifests import content_hash
from callwright.warehouse.releases.reading import check_release_name, list_releases, release_named, splits_of
from callwright.warehouse.releases.selecting import SelectedSamples, Selection, select_samples
from callwright.warehouse.releases.splits import SplitBy, SplitPlan, plan_splits
from callwright.warehouse.rows import rows_of
from callwright.warehouse.store import Warehouse

_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


class Terms(NamedTuple):
    """How a release is made of what is selected.

    `shares` are those of its splits, none for no splits. The `version` follows from what has changed since the release `follows`
    unless it is given; without either the newest release of the same selection is followed.
    """

    note: str = ""
    shares: Mapping[str, float] = MappingProxyType({})
    by: SplitBy = "relatives"
    version: str = ""
    follows: str = ""


class MadeRelease(NamedTuple):
    """A release with what it takes of each build, its samples by split, and the near duplicates across splits."""

    release: Release
    selected: SelectedSamples
    splits: Mapping[str, int]
    groups: int
    duplicates: Sequence[CrossDuplicate]


def create_release(warehouse: Warehouse, name: str, recipes: Sequence[str] = (), note: str = "") -> Release:
    """Freeze what the newest whole build of each recipe has landed; the same content under the same name is the same release.

    Raises ConfigurationError where nothing has landed, or where the name is taken by other content.
    """
    return make_release(warehouse, name, Selection(recipes=tuple(recipes)), Terms(note)).release


def make_release(
    warehouse: Warehouse, name: str, selection: Selection, terms: Terms, *, snapshot: Warehouse | None = None
) -> MadeRelease:
    """Freeze what a selection takes, in splits where there are shares; all is read of the `snapshot` where there is one.

    Raises ConfigurationError where nothing is selected, a split would stay empty, or the name is taken by other content.
    """
    check_release_name(name)
    read = snapshot or warehouse
    selected = select_samples(read, selection)
    stated = _stated(selection, selected, terms)
    earlier = _followed(read, name, stated, terms)
    before = splits_of(read, earlier.name) if earlier else {}
    plan = SplitPlan((), ())
    duplicates: Sequence[CrossDuplicate] = ()
    if terms.shares:
        plan = plan_splits(read, selected.keys, terms.shares, terms.by, before)
        duplicates = find_duplicates(read, selected.keys, plan.splits)
    now = dict(zip(selected.keys, plan.splits or [""] * len(selected.keys), strict=True))
    release = Release(
        name=name,
        content_hash=content_hash(selected.keys, plan.splits),
        samples=len(selected.keys),
        created_at=datetime.now(UTC),
        note=terms.note,
        version=terms.version or (next_version(earlier.version, before, now) if earlier else FIRST_VERSION),
        follows=earlier.name if earlier else "",
        selection=stated,
        splits=dict(terms.shares),
    )
    kept = _keep(warehouse, release, selected.keys, plan, duplicates)
    return MadeRelease(kept, selected, Counter(plan.splits), len(set(plan.groups)), duplicates)


def freeze(warehouse: Warehouse, name: str, keys: Sequence[str], note: str = "") -> Release:
    """Give samples that are kept a name for good, by their keys, sorted; the same under the same name is the same release.

    Raises ConfigurationError where the name is no name, or is taken by others.
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
    """A semantic version as it is. Raises ConfigurationError where it is none."""
    if not _VERSION.fullmatch(version):
        raise ConfigurationError(f"--version {version!r} is no semantic version: three numbers, as in 1.2.0.")
    return version


def next_version(version: str, before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """The version after one, of what each sample's split was and is: what breaks a comparison of scores is a major step.

    That is a sample that went or stands in another split; where samples only came it is a minor one, else a patch.
    """
    major, minor, patch = map(int, version.split("."))
    if any(key not in now or (split and now[key] != split) for key, split in before.items()):
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if len(now) > len(before) else f"{major}.{minor}.{patch + 1}"


def _stated(selection: Selection, selected: SelectedSamples, terms: Terms) -> dict[str, JsonValue]:
    """What the release was asked to take, as it is kept; releases of the same are versions of one."""
    recipes: list[JsonValue] = [*sorted({share.recipe for share in selected.builds if share.taken})]
    named = {"builds": selection.builds, "kinds": selection.kinds, "languages": selection.languages}
    stated: dict[str, JsonValue] = {"recipes": recipes}
    stated |= {name: [*sorted(given)] for name, given in named.items() if given}
    stated |= {"where": selection.where} if selection.where else {}
    return stated | ({"by": terms.by} if terms.shares else {})


def _followed(warehouse: Warehouse, name: str, stated: Mapping[str, JsonValue], terms: Terms) -> Release | None:
    if terms.version:
        check_version(terms.version)
    if terms.follows:
        return release_named(warehouse, terms.follows)
    same = (one for one in list_releases(warehouse) if one.name != name and one.selection == stated)
    return next(same, None)


def _keep(
    warehouse: Warehouse, release: Release, keys: Sequence[str], plan: SplitPlan, duplicates: Sequence[CrossDuplicate]
) -> Release:
    """Write a release with its manifest, in one transaction; one that is there under its name stays as it is."""
    existing = {one.name: one for one in list_releases(warehouse)}.get(release.name)
    if existing is not None:
        if existing.content_hash == release.content_hash:
            return existing
        same = (
            "the same samples in other splits"
            if set(splits_of(warehouse, release.name)) == {*keys}
            else "other samples"
        )
        raise ConfigurationError(
            f"The release {release.name!r} exists and is immutable: it holds {existing.samples} samples, which are {same}. "
            "Choose another name."
        )
    with warehouse.writing() as connection:
        connection.execute(
            sql("manifests.chosen"),
            [list(keys), list(plan.splits or [None] * len(keys)), list(plan.groups or [None] * len(keys))],
        )
        connection.execute(sql("manifests.take_samples"), [release.name])
        connection.execute(sql("manifests.take_tools"), [release.name])
        connection.execute("drop table chosen")
        columns = [list(column) for column in zip(*duplicates, strict=True)] or [[], [], [], [], []]
        connection.execute(sql("manifests.duplicates"), [release.name, *columns])
        hashed = connection.execute(sql("manifests.manifest_hash"), [release.name, release.name]).fetchone()
        release = release.with_changes(manifest_hash=hashed[0] if hashed and hashed[0] else "")
        ((table, row),) = rows_of([release], release.created_at)
        places = ", ".join("?" * len(row))
        connection.execute(f"insert into {table} ({', '.join(row)}) values ({places})", [*row.values()])  # noqa: S608
    return release
