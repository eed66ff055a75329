"""One real sample of each kind, made and checked aside: what tools allow, tried and not promised.

The samples are made by template/v1 and thrown away.
"""

from collections.abc import Iterable
from typing import NamedTuple

from callwright.flows.catalogs import aside
from callwright.flows.planning.possible import KindRow
from callwright.flows.progress import Progress, SilentProgress
from callwright.flows.recipe import Recipe
from callwright.flows.run.land import BuildReport
from callwright.flows.run.plan import build_dataset
from callwright.flows.settings import Settings, open_warehouse
from callwright.generators.kinds import kind_named
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.store import Warehouse

# in place of a sample that its checks keep back, so many others are tried
_OTHERS = 2.0
_LENIENT = {"caught_at_least": 0.0, "agreed_at_least": 0.0}  # of so few nothing is measured


class TriedKind(NamedTuple):
    """What came of trying a kind: how many samples were made, and how many of them landed.

    `reason` is why none landed, "" if one did.
    """

    kind: str
    made: int
    landed: int
    reason: str


async def try_kinds(
    recipe: Recipe, rows: Iterable[KindRow], settings: Settings, progress: Progress | None = None
) -> tuple[TriedKind, ...]:
    """Make a sample of each kind that a survey calls possible, and tell what landed.

    The kinds that it calls impossible have its reason.
    """
    surveyed = {row.kind: row for row in rows}
    possible = {name: row.asked for name, row in surveyed.items() if row.usable}
    tried = {
        name: TriedKind(name, 0, 0, row.reason) for name, row in surveyed.items() if not row.usable
    }
    trial = _trial_of(recipe, possible)
    with aside(recipe, settings) as elsewhere:
        try:
            report = await build_dataset(
                trial, elsewhere._replace(workers=1), progress or SilentProgress()
            )
        except ConfigurationError as error:  # known before anything is planned
            tried |= {name: TriedKind(name, 0, 0, str(error)) for name in possible}
        else:
            reasons = _reasons(report, open_warehouse(elsewhere))
            for row in report.composition:
                reason = "" if row.landed else reasons.get(row.kind, "None was made.")
                tried[row.kind] = TriedKind(row.kind, row.made, row.landed, reason)
    return tuple(tried[name] for name in surveyed)


def _trial_of(recipe: Recipe, samples: dict[str, int]) -> Recipe:
    """Return the recipe for one sample of each kind, and more of what others are made of."""
    changes = {
        "samples": samples,
        "spare": _OTHERS,
        "accept": recipe.accept.model_copy(update=_LENIENT),
        "readers": recipe.readers.model_copy(update={"planted": 0}),
        "review": recipe.review.model_copy(update={"spot_checks": 0}),
    }
    return recipe.model_copy(update=changes).with_preview(1)


def _reasons(report: BuildReport, warehouse: Warehouse) -> dict[str, str]:
    """Return for each kind what kept its samples back: a check, a stage, or the planner."""
    reasons: dict[str, str] = {}
    for row in warehouse.rows(sql("trying.doubted"), [report.build]):
        told = f"{row['check_name']}: {row['reason']}"
        reasons.setdefault(row["kind"], told)
    failed = warehouse.rows(sql("trying.failed"), [report.build])
    for kind in (row.kind for row in report.composition):
        own = (one for one in failed if one["stage_group"] == kind_named(kind).group)
        if (first := next(own, None)) is not None:
            reasons.setdefault(kind, f"{first['stage']}: {first['reason']}")
    for left_out in report.left_out:
        reasons.setdefault(left_out.kind, left_out.reason)
    return reasons
