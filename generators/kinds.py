"""The table of families and their kinds, with source kinds and the papers' counts.

Counts are those of the paper that a kind's traits name; only HammerBench's are part of a build
of the paper's size.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, cast

from callwright.generators.environments.protocol import Environment
from callwright.generators.families import Family, Kind, Obstacle, Traits, problem_of_family
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Transform
from callwright.warehouse.registry import Registry
from callwright.warehouse.rows import Row

FAMILIES = Registry(
    "kinds",
    Family,
    "family of samples",
    "families",
    first=(
        "single_turn",
        "dialogues",
        "shifts",
        "external",
        "multi_step",
        "faults",
        "users",
        "policies",
        "routing",
        "conversations",
        "parallel",
        "taken",
    ),
    problem_of=problem_of_family,
)
_PUBLISHED = Traits("HammerBench")  # of kinds that only published files have


def all_kinds() -> Mapping[str, Kind]:
    """Return the registered kinds of all families by name, in order."""
    return _kinds_of(FAMILIES.version)


@cache
def _kinds_of(_version: int) -> Mapping[str, Kind]:
    return {kind.name: kind for family in FAMILIES.rows() for kind in family.kinds}


def family_of(kind: str) -> Family:
    """Return the family that makes samples of a kind.

    Raises ConfigurationError if there is no such kind.
    """
    group = kind_named(kind).group
    return next(
        family for family in FAMILIES.rows() if any(stage.group == group for stage in family.stages)
    )


def obstacle_to(
    transform: Transform, environments: Callable[[], Mapping[str, Environment]] = dict
) -> Obstacle:
    """Return what says why a transform can't be made of a sample; it may ask the environments."""
    families = (family for family in FAMILIES.rows() if transform in family.obstacles)
    found: Any = next(families).obstacles[transform]  # it takes two arguments or three
    if len(inspect.signature(found).parameters) < 3:  # noqa: PLR2004
        return cast("Obstacle", found)
    return lambda sample, tools: found(sample, tools, environments())


def _anywhere() -> dict[Transform, str]:
    return dict(pair for family in FAMILIES.rows() for pair in family.anywhere)


def kind_named(name: str) -> Kind:
    """Return the kind of this name; shifts and external information apply to any kind.

    Examples are `perfect_SO_case1` and `mQmA_external`. Raises ConfigurationError that lists the
    kinds.
    """
    kinds = all_kinds()
    if name in kinds:
        return kinds[name]
    for transform, group in _anywhere().items():
        source = name.removesuffix(f"_{transform}")
        if source != name and name_of(kind_named(source).name, transform) == name:
            row = next(kind for kind in kinds.values() if kind.transform == transform)
            traits = _transformed(kind_named(source).traits, row.traits)
            about = f"{transform} of {source}"
            return row._replace(
                name=name,
                about=about,
                group=group,
                traits=traits,
                sources=(source,),
                paper=None,
                scale=0,
            )
    raise ConfigurationError(
        f"There is no kind of sample {name!r}; the kinds are {', '.join(kinds)}, and any of them"
        f" followed by {', '.join(f'_{transform}' for transform in _anywhere())}."
    )


def traits_of(name: str) -> Traits:
    """Return a kind's traits; kinds only in published files get those of HammerBench requests."""
    return _traits_of(name, FAMILIES.version)


@cache
def _traits_of(name: str, _version: int) -> Traits:
    try:
        return kind_named(name).traits
    except ConfigurationError:
        return _PUBLISHED


def kinds_with(trait: Callable[[Traits], bool]) -> tuple[str, ...]:
    """Return the names of the registered kinds that have a trait."""
    return tuple(name for name, kind in all_kinds().items() if trait(kind.traits))


def kind_after_edit(name: str, *, is_idle: bool, is_whole: bool) -> str:
    """Return the kind of a request of kind `name` after a person has changed its calls.

    It differs only if the kind states how complete the call is: then it is the kind of its
    family that describes the new call.
    """
    traits = traits_of(name)
    if traits.calls != "one" or not (traits.is_whole or traits.is_partial or traits.is_idle):
        return name
    if is_idle:
        return _sibling(name, lambda one: one.is_idle)
    return _sibling(name, (lambda one: one.is_whole) if is_whole else (lambda one: one.is_partial))


def _sibling(name: str, holds: Callable[[Traits], bool]) -> str:
    """Return the family's first kind with a trait, or `name` if it has it or no kind has."""
    family = family_of(name)
    found = [kind.name for kind in family.kinds if holds(kind.traits)]
    return name if name in found or not found else found[0]


def _transformed(source: Traits, row: Traits) -> Traits:
    """Return a row's traits after its transform; a path's sample is asked for its last call."""
    return replace(
        source,
        asked="call" if source.asked == "path" else source.asked,
        is_whole=False,
        is_partial=False,
        is_idle=False,
        is_long=source.is_long or row.shift != "message",
        is_changed=True,
        is_task=False,
        is_ruled=False,
        has_correction=source.has_correction or row.has_correction,
        has_acts=False,
        spread="",
        shift=row.shift,
    )


def kind_rows(names: Iterable[str] = ()) -> list[Row]:
    """Return the table's rows for the warehouse's views, with the derived kinds among `names`."""
    kinds_by_name = all_kinds()
    families = {kind.group: family.name for family in FAMILIES.rows() for kind in family.kinds} | {
        group: family.name for family in FAMILIES.rows() for _, group in family.anywhere
    }
    others = (kind_named(name) for name in names if name not in kinds_by_name)
    return [_row(kind, families[kind.group]) for kind in (*kinds_by_name.values(), *others)]


def _row(kind: Kind, family: str) -> Row:
    traits = kind.traits
    return {
        "name": kind.name,
        "family": family,
        "paper": traits.paper,
        "calls": traits.calls,
        "asked": traits.asked,
        "has_results": traits.is_executed,
        "has_acts": traits.has_acts,
        "difficulty": traits.difficulty,
        "shift": traits.shift,
        "reviews": list(traits.reviews),
    }


def name_of(source: str, transform: Transform) -> str:
    """Return the kind that a transform makes from a sample of the kind `source`."""
    for kind in all_kinds().values():
        if kind.transform == transform and source in kind.sources:
            return kind.name
    return f"{source}_{transform}"


def waves_of(names: Iterable[str]) -> list[tuple[Kind, ...]]:
    """Return the kinds in waves, each made only from samples of earlier waves."""
    left = {name: kind_named(name) for name in names}
    waves: list[tuple[Kind, ...]] = []
    while left:
        wave = tuple(kind for kind in left.values() if left.keys().isdisjoint(kind.sources))
        for kind in wave:
            del left[kind.name]
        waves.append(wave)
    return waves


def brought_along(asked: Mapping[str, int]) -> dict[str, int]:
    """Return the kinds, with counts, that must also be made because requested kinds need them.

    A requested kind with none of its sources adds the first of these, which adds its own in
    turn.

    >>> brought_along({"mQmA": 4, "external": 6, "imperfect": 9})
    {'sQsA': 4}
    """
    counts = {name: count for name, count in asked.items() if count}
    brought: dict[str, int] = {}

    def bring(kind: Kind, count: int) -> None:
        if kind.sources and counts.keys().isdisjoint(kind.sources):
            source = kind.sources[0]
            if brought.get(source, 0) < count:
                brought[source] = count
                bring(kind_named(source), count)

    for name, count in counts.items():
        bring(kind_named(name), count)
    return brought
