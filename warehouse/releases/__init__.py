"""Releases: frozen, named sets of accepted samples."""

from callwright.warehouse.releases.differences import ReleaseDiff, changed_samples, diff_releases
from callwright.warehouse.releases.duplicates import CrossDuplicate
from callwright.warehouse.releases.freezing import MadeRelease, Terms, create_release, freeze, make_release
from callwright.warehouse.releases.manifests import (
    ReleaseChange,
    ReleaseState,
    require_intact,
    verify_release,
    verify_releases,
)
from callwright.warehouse.releases.reading import (
    ReleaseContent,
    ReleaseStream,
    check_release_name,
    count_kinds,
    keys_of_kinds,
    list_releases,
    read_release,
    read_sample,
    read_tools,
    release_named,
    stream_release,
)
from callwright.warehouse.releases.selecting import BuildShare, LeftOut, SelectedSamples, Selection, select_samples
from callwright.warehouse.releases.splits import SplitBy, parse_shares, parse_split_by

__all__ = [
    "BuildShare",
    "CrossDuplicate",
    "LeftOut",
    "MadeRelease",
    "ReleaseChange",
    "ReleaseContent",
    "ReleaseDiff",
    "ReleaseState",
    "ReleaseStream",
    "SelectedSamples",
    "Selection",
    "SplitBy",
    "Terms",
    "changed_samples",
    "check_release_name",
    "count_kinds",
    "create_release",
    "diff_releases",
    "freeze",
    "keys_of_kinds",
    "list_releases",
    "make_release",
    "parse_shares",
    "parse_split_by",
    "read_release",
    "read_sample",
    "read_tools",
    "release_named",
    "require_intact",
    "select_samples",
    "stream_release",
    "verify_release",
    "verify_releases",
]
