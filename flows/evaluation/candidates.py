"""Who is evaluated: a label with the settings that it is asked with, which other settings make another candidate of."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.flows.progress import Progress
from callwright.flows.recipe import Candidate
from callwright.llm.models import ModelSettings
from callwright.validators.judges import COMPLETENESS, CORRECTNESS, SAME_ON_PATH, opinion_versions
from callwright.validators.path_runs import path_prompts_seen
from callwright.validators.strategies import prompts_seen
from callwright.warehouse.records import content_key
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse


class NamedCandidate(NamedTuple):
    """A candidate of a release: the name that its answers and scores are kept under, its model, a hash of its settings."""

    name: str
    label: str
    model: ModelSettings
    settings: str


def name_candidates(
    warehouse: Warehouse,
    release: str,
    candidates: Sequence[Candidate],
    conditions: Mapping[str, JsonValue],
    progress: Progress,
) -> list[NamedCandidate]:
    """The candidates under the names that they have on a release, each noted with its settings.

    A label keeps its name as long as its settings are the same; with other ones it gets a further one ("label#2"), and what it
    answered before stays. `conditions` are what may change runs over the release's multi-step samples.
    """
    rows = warehouse.rows("select candidate, label, settings from candidate_settings where release = ?", [release])
    names = {(row["label"], row["settings"]): row["candidate"] for row in rows}
    taken = {row["candidate"] for row in rows} | {one.label for one in candidates}
    named: list[NamedCandidate] = []
    new: list[Row] = []
    for one in candidates:
        asked = _settings(one.model)
        settings = content_key([asked, dict(conditions)])
        name = names.get((one.label, settings)) or _new_name(one.label, {label for label, _ in names}, taken)
        if (one.label, settings) not in names:
            taken.add(name)
            new.append(_row(release, one, name, settings, conditions))
            if name != one.label:
                progress.say(
                    f"{one.label} had other settings when {release} was last evaluated; with these it is {name}."
                )
        named.append(NamedCandidate(name, one.label, one.model, settings))
    warehouse.put_rows({"candidate_settings": new})
    return named


def _new_name(label: str, labels: set[str], taken: set[str]) -> str:
    if label not in labels:
        return label
    number = 2
    while f"{label}#{number}" in taken:
        number += 1
    return f"{label}#{number}"


def _row(release: str, candidate: Candidate, name: str, settings: str, conditions: Mapping[str, JsonValue]) -> Row:
    return {
        "release": release,
        "candidate": name,
        "label": candidate.label,
        "settings": settings,
        "model": candidate.model.name,
        "options": orjson.dumps(dict(candidate.model.options)).decode(),
        "prompts": _prompts(),
        "conditions": orjson.dumps(dict(conditions)).decode(),
        "code_version": version("callwright"),
        "first_asked_at": datetime.now(UTC),
    }


def _settings(model: ModelSettings) -> JsonValue:
    """All that may change a candidate's answer beside what it is asked about."""
    return [model.name, [list(option) for option in model.options], _prompts()]


def _prompts() -> str:
    """The versions of all prompts that candidates may see, by whatever strategy."""
    return content_key([*prompts_seen(), *path_prompts_seen()])


def path_conditions(turn_limit: int, environments: Sequence[str]) -> dict[str, JsonValue]:
    """What may change runs over multi-step samples beside the candidate: how long they may be, and who answers and judges."""
    judges: list[JsonValue] = [*opinion_versions(SAME_ON_PATH, COMPLETENESS, CORRECTNESS)]
    return {"turn_limit": turn_limit, "environments": [*sorted(environments)], "judges": judges}
