"""Releases: frozen, named sets of accepted samples."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import NamedTuple

import orjson

from warehouse.errors import ConfigurationError, StoreError
from warehouse.records import Language, Release, Sample, Tool, content_key
from warehouse.store import Warehouse


class ReleaseContent(NamedTuple):
    """What a release holds: its samples in key order, and every tool they name, by key."""

    release: Release
    samples: tuple[Sample, ...]
    tools: dict[str, Tool]
    refusals: Mapping[Language, str] = MappingProxyType({})  # how an assistant says that no tool fits


class ReleaseDiff(NamedTuple):
    """The keys of the samples that two releases do not share."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    kept: int


def create_release(warehouse: Warehouse, name: str, recipes: Sequence[str] = (), note: str = "") -> Release:
    """Freeze what the newest build of each recipe has landed; the same content under the same name is the same release.

    Raises ConfigurationError where nothing has landed, or where the name is taken by other content.
    """
    keys = [row["subject"] for row in warehouse.rows(_LANDED, [list(recipes), list(recipes)])]
    if not keys:
        of = f" by the recipes {', '.join(recipes)}" if recipes else ""
        raise ConfigurationError(
            f"Nothing has been accepted{of}, so there is nothing to release. Run `callwright build` first."
        )
    return freeze(warehouse, name, keys, note)


def freeze(warehouse: Warehouse, name: str, keys: Sequence[str], note: str = "") -> Release:
    """Give samples that are kept a name for good, by their keys, sorted; the same under the same name is the same release.

    Raises ConfigurationError where the name is taken by others.
    """
    release = Release(
        name=name, content_hash=content_key(list(keys)), samples=len(keys), created_at=datetime.now(UTC), note=note
    )
    existing = {one.name: one for one in list_releases(warehouse)}.get(name)
    if existing is not None:
        if existing.content_hash == release.content_hash:
            return existing
        raise ConfigurationError(
            f"The release {name!r} exists and is immutable: it holds {existing.samples} other samples. Choose another name."
        )
    warehouse.put_rows(
        {
            "releases": [dict(release) | {"key": release.key}],
            "release_samples": [{"release": name, "subject": key} for key in keys],
        }
    )
    return release


_LANDED = """
    select a.subject from acceptances a
    where a.withdrawn_at is null and (len(?::varchar[]) = 0 or list_contains(?::varchar[], a.recipe))
        and exists (select 1 from outcomes f join latest_builds l on l.build = f.build
            where f.stage = 'land' and f.outcome = 'passed' and f.subject = a.subject)
    order by a.subject
"""


def list_releases(warehouse: Warehouse) -> list[Release]:
    """All releases, the newest first."""
    rows = warehouse.rows("select name, content_hash, samples, created_at, note from releases order by created_at desc")
    return [Release.model_validate(row) for row in rows]


def release_named(warehouse: Warehouse, name: str) -> Release:
    """The release with this name. Raises ConfigurationError that lists the names there are."""
    releases = list_releases(warehouse)
    for release in releases:
        if release.name == name:
            return release
    known = ", ".join(release.name for release in releases) or "none yet: `callwright release create NAME` makes one"
    raise ConfigurationError(f"There is no release {name!r}; the releases are {known}.")


def read_release(warehouse: Warehouse, name: str, *, without: Sequence[str] = ()) -> ReleaseContent:
    """A release with its samples but those of the kinds in `without`, and their tools.

    Raises ConfigurationError for an unknown name.
    """
    release = release_named(warehouse, name)
    rows = warehouse.rows(
        """
        select s.body from samples s join release_samples r on r.subject = s.key
        where r.release = ? and not list_contains(?::varchar[], s.kind) order by s.key
        """,
        [name, list(without)],
    )
    samples = tuple(Sample.model_validate(orjson.loads(row["body"])) for row in rows)
    wanted = sorted({key for sample in samples for key in (*sample.candidates, *sample.withheld)})
    return ReleaseContent(release, samples, read_tools(warehouse, wanted))


def keys_of_kinds(warehouse: Warehouse, name: str, kinds: Sequence[str]) -> list[str]:
    """The keys of a release's samples of these kinds, in order: what is too large to be read at once."""
    sql = """
        select s.key from samples s join release_samples r on r.subject = s.key
        where r.release = ? and list_contains(?::varchar[], s.kind) order by s.key
    """
    return [row["key"] for row in warehouse.rows(sql, [name, list(kinds)])]


def read_sample(warehouse: Warehouse, key: str) -> Sample:
    """One sample by its key. Raises StoreError where there is none."""
    rows = warehouse.rows("select body from samples where key = ?", [key])
    if not rows:
        raise StoreError(f"The warehouse has no sample {key!r}. Was it made in another work folder?")
    return Sample.model_validate_json(rows[0]["body"])


def read_tools(warehouse: Warehouse, keys: Sequence[str]) -> dict[str, Tool]:
    """The tools with these keys, by key."""
    rows = warehouse.rows("select * from tools where list_contains(?::varchar[], key)", [list(keys)])
    tools = (
        Tool(
            name=row["name"],
            description=row["description"],
            parameters=orjson.loads(row["parameters"]),
            returns=None if row["returns"] is None else orjson.loads(row["returns"]),
            category=row["category"],
            language=row["language"],
            source=row["source"],
        )
        for row in rows
    )
    return {tool.key: tool for tool in tools}


def diff_releases(warehouse: Warehouse, old: str, new: str) -> ReleaseDiff:
    """What `new` holds that `old` does not, and the other way round."""
    before, after = (_keys(warehouse, release_named(warehouse, name).name) for name in (old, new))
    return ReleaseDiff(tuple(sorted(after - before)), tuple(sorted(before - after)), len(before & after))


def _keys(warehouse: Warehouse, name: str) -> set[str]:
    return {row["subject"] for row in warehouse.rows("select subject from release_samples where release = ?", [name])}
