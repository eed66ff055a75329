"""The table of kinds: what samples there are, of which other kinds they are made, and how many the papers have of each.

The rows are those of the families, each of which stands in its own folder. Counts are those of the paper that a kind's
traits name; only HammerBench's have a part in a build of the paper's size.
"""

from collections.abc import Callable, Iterable
from functools import cache

from callwright.generators.conversations import FAMILY as CONVERSATIONS
from callwright.generators.dialogues import FAMILY as DIALOGUES
from callwright.generators.external import FAMILY as EXTERNAL
from callwright.generators.families import Family, Kind, Traits
from callwright.generators.multi_step import FAMILY as MULTI_STEP
from callwright.generators.parallel import FAMILY as PARALLEL
from callwright.generators.routing import FAMILY as ROUTING
from callwright.generators.shifts import FAMILY as SHIFTS
from callwright.generators.single_turn import FAMILY as SINGLE_TURN
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Transform
from callwright.warehouse.rows import Row

FAMILIES: tuple[Family, ...] = (SINGLE_TURN, DIALOGUES, SHIFTS, EXTERNAL, MULTI_STEP, ROUTING, CONVERSATIONS, PARALLEL)
KINDS = {kind.name: kind for family in FAMILIES for kind in family.kinds}
_ANYWHERE: dict[Transform, str] = dict(pair for family in FAMILIES for pair in family.anywhere)
_PUBLISHED = Traits("HammerBench")  # of kinds that only published files have


def kind_named(name: str) -> Kind:
    """The kind of this name; shifts and external information take any kind: `perfect_SO_case1`, `mQmA_external`.

    Raises ConfigurationError that lists the kinds there are.
    """
    if name in KINDS:
        return KINDS[name]
    for transform, group in _ANYWHERE.items():
        source = name.removesuffix(f"_{transform}")
        if source != name and name_of(kind_named(source).name, transform) == name:
            row = next(kind for kind in KINDS.values() if kind.transform == transform)
            traits = _transformed(kind_named(source).traits, row.traits)
            about = f"{transform} of {source}"
            return row._replace(
                name=name, about=about, group=group, traits=traits, sources=(source,), paper=None, scale=0
            )
    raise ConfigurationError(
        f"There is no kind of sample {name!r}; the kinds are {', '.join(KINDS)}, and any of them followed by "
        f"{', '.join(f'_{transform}' for transform in _ANYWHERE)}."
    )


@cache
def traits_of(name: str) -> Traits:
    """What samples of a kind are like; a kind that only published files have is as HammerBench's requests are."""
    try:
        return kind_named(name).traits
    except ConfigurationError:
        return _PUBLISHED


def kinds_with(trait: Callable[[Traits], bool]) -> tuple[str, ...]:
    """The names of the kinds in the table that have a trait."""
    return tuple(name for name, kind in KINDS.items() if trait(kind.traits))


def kind_after_edit(name: str, *, is_idle: bool, is_whole: bool) -> str:
    """The kind that a request of the kind `name` is of once a person has changed its calls.

    Only where the kind says how complete the call is: of its family the one that says what holds now.
    """
    traits = traits_of(name)
    if traits.calls != "one" or not (traits.is_whole or traits.is_partial or traits.is_idle):
        return name
    if is_idle:
        return _sibling(name, lambda one: one.is_idle)
    return _sibling(name, (lambda one: one.is_whole) if is_whole else (lambda one: one.is_partial))


def _sibling(name: str, holds: Callable[[Traits], bool]) -> str:
    """The first kind of the same family with a trait; `name` itself where it has it, or no kind has."""
    family = next(family for family in FAMILIES if any(kind.name == name for kind in family.kinds))
    found = [kind.name for kind in family.kinds if holds(kind.traits)]
    return name if name in found or not found else found[0]


def _transformed(source: Traits, row: Traits) -> Traits:
    """The traits that a row's transform leaves: a sample that was a whole run of calls is asked for the call due in the end."""
    return source._replace(
        asked="call" if source.asked == "path" else source.asked,
        is_whole=False,
        is_partial=False,
        is_idle=False,
        is_long=source.is_long or row.shift != "message",
        is_changed=True,
        has_correction=source.has_correction or row.has_correction,
        has_acts=False,
        spread="",
        shift=row.shift,
    )


def kind_rows(names: Iterable[str] = ()) -> list[Row]:
    """The table as the warehouse keeps it, for views to join; with it the kinds named that are made of others."""
    families = {kind.group: family.name for family in FAMILIES for kind in family.kinds} | {
        group: family.name for family in FAMILIES for _, group in family.anywhere
    }
    others = (kind_named(name) for name in names if name not in KINDS)
    return [_row(kind, families[kind.group]) for kind in (*KINDS.values(), *others)]


def _row(kind: Kind, family: str) -> Row:
    traits = kind.traits
    return {
        "name": kind.name, "family": family, "paper": traits.paper, "paper_count": kind.paper, "calls": traits.calls,
        "asked": traits.asked, "has_results": traits.is_executed, "is_long": traits.is_long, "has_catalog": traits.has_catalog,
        "has_acts": traits.has_acts, "difficulty": traits.difficulty, "shift": traits.shift, "reviews": list(traits.reviews),
    }  # fmt: skip


def name_of(source: str, transform: Transform) -> str:
    """The kind that a transform makes of a sample of the kind `source`."""
    for kind in KINDS.values():
        if kind.transform == transform and source in kind.sources:
            return kind.name
    return f"{source}_{transform}"


def waves_of(names: Iterable[str]) -> list[tuple[Kind, ...]]:
    """The kinds in the order in which they can be made: each wave is made of samples of those before it.

    Raises ConfigurationError where a kind is asked for whose sources are not.
    """
    left = {name: kind_named(name) for name in names}
    made: set[str] = set()
    waves: list[tuple[Kind, ...]] = []
    while left:
        wave = tuple(
            kind for kind in left.values() if all(source in made or source not in left for source in kind.sources)
        )
        for kind in wave:
            if kind.sources and not made.intersection(kind.sources):
                raise ConfigurationError(
                    f"Samples of the kind {kind.name!r} are made of the kinds {', '.join(kind.sources)}; ask for one of them too."
                )
            del left[kind.name]
        made |= {kind.name for kind in wave}
        waves.append(wave)
    return waves
