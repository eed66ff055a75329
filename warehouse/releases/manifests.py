"""The manifest of a release: the hash of each row that it is made of, so that a change of what is frozen is noticed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.warehouse.errors import StoreError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Release, content_key
from callwright.warehouse.releases.reading import list_releases, release_named
from callwright.warehouse.store import Warehouse

Change = Literal["changed", "missing", "added or removed", "edited"]
_SHOWN = 3


class ReleaseChange(NamedTuple):
    """A row of a release that is not what was frozen; changes of the whole have no key."""

    change: Change
    table: Literal["samples", "tools", "release_samples"]
    key: str = ""


class ReleaseState(NamedTuple):
    """Whether a release is what it was when its manifest was made: it is where nothing has changed."""

    release: Release
    changes: tuple[ReleaseChange, ...]

    @property
    def is_intact(self) -> bool:
        """Whether nothing has changed."""
        return not self.changes

    @property
    def sentence(self) -> str:
        """What was found, for people."""
        since = (
            "as it was frozen" if self.release.manifest_made == "release" else "as it was when its manifest was made"
        )
        if self.is_intact:
            return f"{self.release.name} is {since}: {self.release.samples} samples, each row as in the manifest."
        named = ", ".join(f"{one.table} {one.key} {one.change}".replace("  ", " ") for one in self.changes[:_SHOWN])
        more = f" and {len(self.changes) - _SHOWN} more" if len(self.changes) > _SHOWN else ""
        return f"{self.release.name} is not {since}: {named}{more}."


def content_hash(keys: Sequence[str], splits: Sequence[str] = ()) -> str:
    """The hash of a release's content: its sample keys in order, each with its split where there are splits.

    Keys are hashes of what samples and their tools say, so it is the same wherever the same samples were made.
    """
    content: JsonValue = [[key, split] for key, split in zip(keys, splits, strict=True)] if splits else list(keys)
    return content_key(content)


def verify_release(warehouse: Warehouse, name: str) -> ReleaseState:
    """Compare a release with its manifest, row by row. Raises ConfigurationError for an unknown name."""
    return _state(warehouse, release_named(warehouse, name))


def verify_releases(warehouse: Warehouse) -> list[ReleaseState]:
    """All releases compared with their manifests, the newest first."""
    return [_state(warehouse, release) for release in list_releases(warehouse)]


def require_intact(warehouse: Warehouse, name: str) -> Release:
    """The release with this name. Raises StoreError where it is not what was frozen, ConfigurationError for an unknown name."""
    state = verify_release(warehouse, name)
    if not state.is_intact:
        raise StoreError(
            f"{state.sentence} A release never changes: put back what was changed, or create another one of what there is now."
        )
    return state.release


def _state(warehouse: Warehouse, release: Release) -> ReleaseState:
    name = release.name
    found = warehouse.rows_by_name(
        {
            "samples": (sql("manifests.changed_samples"), [name]),
            "tools": (sql("manifests.changed_tools"), [name]),
            "manifest": (sql("manifests.manifest_hash"), [name, name]),
            "keys": (sql("manifests.keys"), [name]),
        }
    )
    changes = [ReleaseChange(row["change"], "samples", row["key"]) for row in found["samples"]]
    changes += [ReleaseChange(row["change"], "tools", row["key"]) for row in found["tools"]]
    is_manifest = (found["manifest"][0]["hash"] or "") == release.manifest_hash
    changes += _changes_of_the_whole(release, found["keys"][0], is_manifest=is_manifest)
    return ReleaseState(release, tuple(changes))


def _changes_of_the_whole(
    release: Release, listed: Mapping[str, Sequence[str] | None], *, is_manifest: bool
) -> Iterator[ReleaseChange]:
    keys, splits = listed["keys"] or (), listed["splits"] or ()
    if len(keys) != release.samples:
        yield ReleaseChange("added or removed", "release_samples")
    elif not is_manifest or content_hash(keys, splits if release.splits else ()) != release.content_hash:
        yield ReleaseChange("edited", "release_samples")
