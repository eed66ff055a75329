"""What datasheets and manifests of environments say of their tasks."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from callwright.warehouse.exports.writing import ReleaseSplit
from callwright.warehouse.records import Sample

_KIND, _MODEL = "kind", "model that worded the request"
_FIRST_STATE = "first state"  # not shown: a world with a seed
_HEADINGS = (_KIND, "language", "world", "calls of the gold", "tools offered", _MODEL)


def counted(sample: Sample) -> Iterator[tuple[str, str | int]]:
    """Yield what a datasheet counts of a task, each value under its heading."""
    world, calls, tools = sample.facts.environment, len(sample.all_calls), len(sample.candidates)
    model = sample.origin.model if sample.origin else "none"
    values = (sample.kind, sample.language, world, calls, tools, model)
    yield from zip(_HEADINGS, values, strict=True)
    yield _FIRST_STATE, f"{world} {sample.simulation_seed}"


def described(parts: Sequence[ReleaseSplit]) -> dict[str, Any]:
    """Return what a template of a datasheet or manifest is given, by name."""
    source = parts[0].source
    total = sum((part.counted for part in parts), Counter[tuple[str, str | int]]())
    by_heading = {
        heading: sorted((value, number) for (one, value), number in total.items() if one == heading)
        for heading in _HEADINGS
    }
    kinds = {part.split or "all": part.certified["end_states"] for part in parts}
    opened = {name: world.document for name, world in source.worlds.items()}
    seeds = {one.get("seed") for one in opened.values()}
    states = Counter(str(value).rpartition(" ")[0] for one, value in total if one == _FIRST_STATE)
    return {
        "version": source.release.version,
        "content_hash": source.release.content_hash,
        "by_heading": by_heading,
        "by_split": {split: number for split, number in kinds.items() if number},
        "models": ", ".join(str(value) for value, _ in by_heading[_MODEL]),
        "seed": seeds.pop() if len(seeds) == 1 else None,
        "seeds": [
            {
                "world": name,
                "environment": one.get("environment"),
                "seed": one.get("seed"),
                "states": states[name],
            }
            for name, one in opened.items()
        ],
    }
