"""Releases as they are read: which there are, and what one of them holds."""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import orjson

from callwright.warehouse.errors import ConfigurationError, StoreError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Language, Release, Sample, Tool
from callwright.warehouse.store import Warehouse

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class ReleaseContent(NamedTuple):
    """What a release holds: its samples in key order, every tool they name by key, and the split of each sample ("" for none)."""

    release: Release
    samples: tuple[Sample, ...]
    tools: dict[str, Tool]
    splits: Mapping[str, str] = MappingProxyType({})


class ReleaseStream(NamedTuple):
    """A release whose samples are read one after another: each behind its split, "" where it has none; and its tools by key."""

    release: Release
    samples: Iterable[tuple[str, Sample]]
    tools: Mapping[str, Tool]
    refusals: Mapping[Language, str] = MappingProxyType({})  # how an assistant says that no tool fits
    of_template: Mapping[str, int] = MappingProxyType(
        {}
    )  # by kind, the samples of the template model that were left out


def list_releases(warehouse: Warehouse) -> list[Release]:
    """All releases, the newest first."""
    rows = warehouse.rows(f"select {_COLUMNS} from releases order by created_at desc, name")  # noqa: S608 - our own
    return [
        Release.model_validate(row | {name: orjson.loads(row[name]) for name in ("selection", "splits")})
        for row in rows
    ]


_COLUMNS = """name, content_hash, samples, created_at, note, version, follows, selection, splits, manifest_hash, manifest_made"""


def check_release_name(name: str) -> str:
    """A name for a release, which files and folders are named after. Raises ConfigurationError where it can't be one."""
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"A release can't be named {name!r}: names are up to 100 letters, digits, '.', '-' and '_', the first no sign."
        )
    return name


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
    stream = stream_release(warehouse, name, without=without)
    return ReleaseContent(
        stream.release, tuple(sample for _, sample in stream.samples), dict(stream.tools), splits_of(warehouse, name)
    )


def stream_release(
    warehouse: Warehouse,
    name: str,
    *,
    without: Sequence[str] = (),
    with_template: bool = True,
    refusals: Mapping[Language, str] = MappingProxyType({}),
) -> ReleaseStream:
    """A release with its samples in key order but those of the kinds in `without`, to be taken once; nobody writes meanwhile.

    Without `with_template`, what the template model worded, or alone judged, is left out and counted. Raises
    ConfigurationError for an unknown name.
    """
    release = release_named(warehouse, name)
    wanted = warehouse.rows("select tool from release_tools where release = ?", [release.name])
    asked = [release.name, list(without)]
    left_out = () if with_template else warehouse.rows(sql("releases.of_template"), asked)
    found = warehouse.stream(sql("releases.bodies"), [*asked, with_template])
    samples = ((split, Sample.model_validate(orjson.loads(body))) for split, body in found)
    tools = read_tools(warehouse, [row["tool"] for row in wanted])
    return ReleaseStream(release, samples, tools, refusals, {row["kind"]: row["samples"] for row in left_out})


def splits_of(warehouse: Warehouse, name: str) -> dict[str, str]:
    """The split of each sample of a release by its key, "" where it has none."""
    rows = warehouse.rows("select subject, split from release_samples where release = ?", [name])
    return {row["subject"]: row["split"] or "" for row in rows}


def count_kinds(warehouse: Warehouse, name: str) -> dict[str, int]:
    """How many samples of each kind a release has. Raises ConfigurationError for an unknown name."""
    return {
        row["kind"]: row["samples"]
        for row in warehouse.rows(sql("releases.kinds"), [release_named(warehouse, name).name])
    }


def keys_of_kinds(warehouse: Warehouse, name: str, kinds: Sequence[str]) -> dict[str, str]:
    """The keys of a release's samples of these kinds in order, each with its split, "": what is too large to be read at once."""
    return {
        row["key"]: row["split"] or "" for row in warehouse.rows(sql("releases.keys_of_kinds"), [name, list(kinds)])
    }


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
            constants={} if row["constants"] is None else orjson.loads(row["constants"]),
            plumbing=tuple(row["plumbing"] or ()),
        )
        for row in rows
    )
    return {tool.key: tool for tool in tools}
