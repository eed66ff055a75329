"""Which of the samples that have landed a release takes, and what is left out of each build, and why."""

from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import datetime
from typing import Literal, NamedTuple

from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

LeftOut = Literal["", "trial", "older", "not asked for", "filtered"]


class Selection(NamedTuple):
    """Which landed samples a release takes: of these builds, recipes, kinds and languages, none named for all; and by a condition.

    Of each recipe the newest whole build counts; any other build, a trial too, is taken where it is named by (the beginning of) its
    key. `where` is a condition in SQL over the columns of accepted_samples.
    """

    recipes: tuple[str, ...] = ()
    builds: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    where: str = ""


class BuildShare(NamedTuple):
    """How many of the samples that a build has landed are `taken`, and why the others are left out; "" where none is."""

    build: str
    recipe: str
    is_trial: bool
    finished_at: datetime | None
    landed: int
    taken: int
    left_out: LeftOut


class SelectedSamples(NamedTuple):
    """The keys of the samples that a selection takes, in order, and what it takes and leaves out of each build."""

    keys: tuple[str, ...]
    builds: tuple[BuildShare, ...]


def select_samples(warehouse: Warehouse, selection: Selection) -> SelectedSamples:
    """The landed samples that a selection takes. Raises ConfigurationError where it names what there is not, or nothing is left."""
    builds = warehouse.rows(sql("selecting.builds"))
    if not builds:
        raise ConfigurationError(
            "Nothing has been accepted, so there is nothing to release. Run `callwright build` first."
        )
    _require_known("recipe", selection.recipes, {row["recipe"] for row in builds})
    _require_known("kind", selection.kinds, {kind for row in builds for kind in row["kinds"]})
    _require_known("language", selection.languages, {language for row in builds for language in row["languages"]})
    named = frozenset(_build_named(start, builds) for start in selection.builds)
    reasons = {row["key"]: _left_out(row, selection, named) for row in builds}
    taken = [key for key, reason in reasons.items() if not reason]
    if not taken:
        raise ConfigurationError(_nothing_taken(builds, reasons))
    keys = _keys_of(warehouse, taken, selection)
    if not keys:
        raise ConfigurationError("No accepted sample is as --kind, --language and --where ask for.")
    return SelectedSamples(keys, tuple(_shares(warehouse, keys, builds, reasons)))


def _require_known(what: str, names: Sequence[str], known: Set[str]) -> None:
    strange = [name for name in names if name not in known]
    if strange:
        raise ConfigurationError(
            f"No accepted sample is of the {what} {strange[0]!r}; there are samples of {', '.join(sorted(known))}."
        )


def _build_named(start: str, builds: Sequence[Row]) -> str:
    found = [row["key"] for row in builds if start and row["key"].startswith(start)]
    if len(found) == 1:
        return str(found[0])
    known = ", ".join(f"{row['key']} ({row['recipe']}{', a trial' if row['is_trial'] else ''})" for row in builds)
    problem = f"Several builds begin with {start!r}" if found else f"No build that has landed samples is {start!r}"
    raise ConfigurationError(f"{problem}; there are {known}.")


def _left_out(build: Row, selection: Selection, named: Set[str]) -> LeftOut:
    """Why nothing of a build is taken, "" where it is."""
    if selection.recipes and build["recipe"] not in selection.recipes:
        return "not asked for"
    if named:
        return "" if build["key"] in named else "not asked for"
    if build["is_trial"]:
        return "trial"
    return "" if build["is_latest"] else "older"


def _nothing_taken(builds: Sequence[Row], reasons: Mapping[str, LeftOut]) -> str:
    trials = [row for row in builds if reasons[row["key"]] == "trial"]
    if not trials:
        return "No build is both of these recipes and one of these builds."
    tried = ", ".join(f"{row['key']} ({row['recipe']}, {row['landed']} samples)" for row in trials)
    return (
        f"Only trials have landed samples: {tried}. `callwright build RECIPE` without --limit makes what a release takes; "
        f"to take a trial, name it: --build {trials[0]['key']}."
    )


def _keys_of(warehouse: Warehouse, builds: Sequence[str], selection: Selection) -> tuple[str, ...]:
    lists = [list(names) for names in (builds, selection.kinds, selection.languages)]
    keys = (row["subject"] for row in warehouse.rows(sql("selecting.selected"), lists))
    if not selection.where:
        return tuple(keys)
    matching = _matching(warehouse, selection.where)
    return tuple(key for key in keys if key in matching)


def _matching(warehouse: Warehouse, where: str) -> Set[str]:
    """The keys of the accepted samples that a condition holds for; it is run where nothing can be changed or read besides."""
    try:
        columns, rows = warehouse.query(f"select key from accepted_samples where (\n{where}\n)")  # noqa: S608 - locked up
    except ConfigurationError as error:
        known = ", ".join(warehouse.query("select * from accepted_samples limit 0")[0])
        raise ConfigurationError(
            f"--where {where!r} is no condition on accepted samples; its columns are {known}. {error}"
        ) from error
    if columns != ["key"]:
        raise ConfigurationError(f"--where {where!r} must be one condition, and is more than that.")
    return {str(key) for (key,) in rows}


def _shares(
    warehouse: Warehouse, keys: Sequence[str], builds: Sequence[Row], reasons: Mapping[str, LeftOut]
) -> Iterator[BuildShare]:
    counts = {row["build"]: row["taken"] for row in warehouse.rows(sql("selecting.taken"), [list(keys)])}
    for row in builds:
        taken = counts.get(row["key"], 0)
        reason = "" if taken == row["landed"] else reasons[row["key"]] or "filtered"
        yield BuildShare(
            build=row["key"],
            recipe=row["recipe"],
            is_trial=row["is_trial"],
            finished_at=row["finished_at"],
            landed=row["landed"],
            taken=taken,
            left_out=reason,
        )
