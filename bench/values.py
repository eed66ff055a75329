"""How the values of labelled requests compare with the evidence found in their words.

Usage: `python -m bench.values FILE [--json]`. Each line is a request as `check requests` reads
it, with `label` (right or wrong) and, for a wrong one, optionally `wrong`: the names of the
arguments that its defect makes wrong. With `--corrections` each line is a question of BFCL with
its functions and the ground truth before and after its correction: the figures are how many of
each are contradicted without a model, by words or by the schema.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from callwright.flows.api.building import check_requests
from callwright.generators.imports.bfcl import ANSWERS, read_bfcl_samples
from callwright.generators.tools import argument_problems
from callwright.validators.evidence import find_in_sample

_QUESTIONS = "BFCL_v4_simple.json"


def main() -> None:
    """Print the table of evidence, or the contradicted golds before and after correction."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--corrections", action="store_true")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    counts = count_corrections(chosen.file) if chosen.corrections else count_standings(chosen.file)
    if chosen.json:
        print(json.dumps(counts, indent=2))
        return
    for name, found in counts.items():
        print(f"{name}: {', '.join(f'{count} {what}' for what, count in found.items())}")


def count_standings(file: Path) -> dict[str, dict[str, int]]:
    """Count arguments by evidence, label and language, and the contradicted lines."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for line, found in zip(lines, check_requests(lines), strict=True):
        label, language = line["label"], line["language"]
        names = (
            found.arguments
            if label == "right"
            else [one for one in line.get("wrong", ()) if one in found.arguments]
        )
        for name in (f"{label} {language}", f"{label}, all"):
            counts[name].update(dict.fromkeys(("said", "derived", "not_said", "contradicted"), 0))
            counts[name].update(found.arguments[one] for one in names)
        counts[f"{label} lines"].update(
            ["all", *["contradicted"] * (found.decision == "contradicted")]
        )
    return {name: dict(found) for name, found in sorted(counts.items())}


def count_corrections(file: Path) -> dict[str, dict[str, int]]:
    """Count golds contradicted by their words or the schema, before and after correction."""
    counts: dict[str, dict[str, int]] = {}
    for name, truth in (("before", "old_ground_truth"), ("after", "ground_truth")):
        found = Counter(golds=0, contradicted=0, by_words=0, by_schema=0)
        for line in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            words, schema = _is_contradicted(line, line[truth])
            found.update(golds=1, contradicted=words or schema, by_words=words, by_schema=schema)
        counts[name] = dict(found)
    return counts


def _given(value: object) -> object:
    """Return a ground-truth value without the optional members of its objects."""
    if isinstance(value, list):
        return [_given(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _given(one)
        for name, one in value.items()
        if not (isinstance(one, list) and one[:1] == [""])
    }


def _is_contradicted(line: Mapping[str, Any], truth: list[dict[str, object]]) -> tuple[bool, bool]:
    """Return whether the words and whether the tools' schemas contradict a gold of BFCL."""
    truth = [{tool: _given(values) for tool, values in call.items()} for call in truth]
    with TemporaryDirectory() as folder:
        answers = Path(folder) / ANSWERS
        answers.mkdir()
        (Path(folder) / _QUESTIONS).write_text(json.dumps(dict(line)), encoding="utf-8")
        (answers / _QUESTIONS).write_text(
            json.dumps({"id": line["id"], "ground_truth": truth}), encoding="utf-8"
        )
        records = [*read_bfcl_samples(Path(folder))]
    by_words = by_schema = False
    for one in records:
        if one.sample is None:
            by_schema = True
            continue
        tools = {tool.name: tool for tool in one.tools}
        by_words |= any(
            found.standing == "contradicted" and not found.is_undeclared
            for _, found in find_in_sample(one.sample, one.tools)
        )
        for call in one.sample.all_calls:
            by_schema |= call.tool not in tools or bool(
                argument_problems(tools[call.tool], call.arguments, partial=True)
            )
    return by_words, by_schema


if __name__ == "__main__":
    main()
