"""What each sort of doubt weighs for the queue, fitted to what people answered in this project."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from callwright.warehouse.queries import sql
from callwright.warehouse.store import Warehouse

FEWEST_ANSWERS = 50  # before that many, the priors say more than the answers
_SPREAD = 1.0  # of a weight around its prior: answers to few questions move it little
_ROUNDS = 50
_CLOSE = 1e-8
_LONGEST_STEP = 2.0


class DecidedQuestion(NamedTuple):
    """A decided question: its sorts, and whether people changed what it is about."""

    sorts: tuple[str, ...]
    has_changed: bool


def fit_weights(
    decided: Sequence[DecidedQuestion], priors: Mapping[str, float]
) -> dict[str, float]:
    """Return the weight of each sort, in log-odds: a logistic fit drawn to the priors.

    A sort without a prior is drawn to 0; one of the priors that no question has keeps it.
    """
    import numpy as np  # a tenth of a second, and every build reads this file

    names = sorted({*priors, *(sort for one in decided for sort in one.sorts)})
    places = {name: place for place, name in enumerate(names)}
    has = np.zeros((len(decided), len(names)))
    for row, one in enumerate(decided):
        has[row, [places[sort] for sort in one.sorts]] = 1
    changed = np.array([one.has_changed for one in decided], dtype=float)
    prior = np.array([priors.get(name, 0.0) for name in names])
    weights = prior.copy()
    for _ in range(_ROUNDS):  # Newton's steps; the prior sees to it that there is one minimum
        expected = 1 / (1 + np.exp(-has @ weights))
        slope = has.T @ (expected - changed) + (weights - prior) / _SPREAD**2
        curve = (has.T * (expected * (1 - expected))) @ has + np.eye(len(names)) / _SPREAD**2
        step = np.linalg.solve(curve, slope)
        length = np.abs(step).max(initial=0)
        weights -= step * min(1, _LONGEST_STEP / max(length, _CLOSE))
        if length < _CLOSE:
            break
    return dict(zip(names, weights.tolist(), strict=True))


def refit_weights(warehouse: Warehouse) -> bool:
    """Fit the weights to all answers once there are enough; return whether there are."""
    rows = warehouse.rows(sql("questions.answered"))
    if len(rows) < FEWEST_ANSWERS:
        return False
    decided = [DecidedQuestion(tuple(row["sorts"]), row["has_changed"]) for row in rows]
    priors = {
        row["sort"]: row["prior"] for row in warehouse.rows("select sort, prior from doubt_sorts")
    }
    fitted = {"fitted_on": len(rows), "fitted_at": datetime.now(UTC)}
    weights = fit_weights(decided, priors)
    warehouse.put_rows(
        {"sort_weights": [{"sort": s, "weight": w} | fitted for s, w in weights.items()]}
    )
    return True
