"""Evaluations as they were asked for: one that was cut off is taken up with the same candidates and conditions."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.flows.evaluation.evaluation_run import USUAL, Conditions
from callwright.flows.recipe import Candidate
from callwright.llm.models import ModelSettings
from callwright.validators.strategies import STRATEGIES, PromptingStrategy
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import content_key
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

_MODELS = ("judge", "router")
_LEFT_OUT = ("environments", "functions", "budget")  # what is there only while it runs, and what each command may spend


class AskedFor(NamedTuple):
    """Whom an evaluation asks, and how."""

    candidates: list[Candidate]
    conditions: Conditions


@contextmanager
def noting(
    warehouse: Warehouse, release: str, candidates: Sequence[Candidate], conditions: Conditions
) -> Iterator[None]:
    """Note what an evaluation was asked for, and, unless it is cut off within, that it has ended."""
    row = _row(release, AskedFor(list(candidates), conditions))
    warehouse.put_rows({"evaluations": [row]})
    yield
    warehouse.put_rows({"evaluations": [row | {"finished_at": datetime.now(UTC)}]})


def cut_off(warehouse: Warehouse, release: str, budget: float | None = None) -> AskedFor:
    """The newest evaluation of a release, where it has not ended. Raises ConfigurationError where there is nothing to take up."""
    rows = warehouse.rows(
        "select candidates, conditions, finished_at from evaluations where release = ? order by started_at desc limit 1",
        [release],
    )
    if not rows:
        raise ConfigurationError(f"The release {release!r} was not evaluated yet. Name candidates: --model NAME.")
    if rows[0]["finished_at"] is not None:
        raise ConfigurationError(f"The last evaluation of {release!r} went to its end; there is nothing to resume.")
    stated = orjson.loads(rows[0]["conditions"])
    if not stated.keys() <= {*Conditions._fields}:
        raise ConfigurationError(
            f"The last evaluation of {release!r} was asked for by an earlier version, which had other switches. "
            "Name its candidates again: --model NAME; what they answered is kept."
        )
    for name in _MODELS:
        stated[name] = ModelSettings.model_validate_json(orjson.dumps(stated[name])) if stated[name] else None
    stated["prompting"] = PromptingStrategy(**stated["prompting"])
    if not STRATEGIES[stated["prompting"].strategy].is_for_models:
        raise ConfigurationError(
            f"The last evaluation of {release!r} was of a Python function; evaluate it from Python again."
        )
    candidates = [Candidate.model_validate_json(orjson.dumps(one)) for one in orjson.loads(rows[0]["candidates"])]
    return AskedFor(candidates, USUAL._replace(**stated, budget=budget))


def _row(release: str, asked: AskedFor) -> Row:
    """How an evaluation is kept: keys of providers are nowhere in it."""
    stated = {name: value for name, value in asked.conditions._asdict().items() if name not in _LEFT_OUT}
    for name in _MODELS:
        stated[name] = stated[name].model_dump(mode="json") if stated[name] else None
    stated["prompting"] = asked.conditions.prompting._asdict()
    candidates: list[JsonValue] = [one.model_dump(mode="json") for one in asked.candidates]
    return {
        "key": content_key([release, candidates, stated]),
        "release": release,
        "candidates": orjson.dumps(candidates).decode(),
        "conditions": orjson.dumps(stated).decode(),
        "started_at": datetime.now(UTC),
        "finished_at": None,
    }
