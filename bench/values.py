"""What rules prove of the values of labelled requests, argument by argument: `python -m bench.values FILE [--json]`.

Each line is a request as `check requests` reads it, with `label` (right or wrong), `defect`, and for a wrong one perhaps
`wrong`: the names of the arguments that the defect makes wrong. A wrong line without it is counted by the sorts of values that
its defect speaks of, where it names one, and else left out; the output tells how many lines that are.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from callwright.validators.values.parameters import leaves_of
from callwright.validators.values.said import hear
from callwright.validators.values.standing import CallReading, read_call
from callwright.warehouse.records import Tool

# What a defect's name says that it makes wrong; those of the deed, and of what a value is told of, name no sort.
_SORTS = {
    "unit": {"number"}, "off": {"number"}, "miscounted": {"number"}, "exact": {"number"}, "boolean": {"boolean"},
    "weekday": {"day", "moment"}, "week": {"day", "moment"}, "am": {"clock", "moment"}, "truncated": {"name"},
}  # fmt: skip


def main() -> None:
    """Print how many arguments of right and of wrong lines have which standing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    counts, left_out = count_standings(chosen.file)
    if chosen.json:
        print(json.dumps({**counts, "lines_left_out": left_out}, indent=2))
        return
    for label, found in counts.items():
        rest = ", ".join(f"{found[name]} {name}" for name in ("stated", "unproved", "contradicted"))
        share = found["proved"] / max(1, found.total())
        print(f"{label}: {found['proved']} of {found.total()} proved ({share:.1%}), {rest}")
    print(f"wrong lines of which no argument is known to be wrong: {left_out}")


def count_standings(file: Path) -> tuple[dict[str, Counter[str]], int]:
    """How many arguments of right and of wrong lines have which standing, and how many wrong lines are left out."""
    counts: dict[str, Counter[str]] = {"right": Counter(), "wrong": Counter()}
    left_out = 0
    for line in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        tool, reading = read_line(line)
        names = list(_counted(line, tool)) if line["label"] == "wrong" else list(line["arguments"])
        left_out += not names
        counts[line["label"]].update(reading.arguments[name].standing for name in names)
    return counts, left_out


def read_line(line: Mapping[str, Any]) -> tuple[Tool, CallReading]:
    """The tool of a line, and what its words prove of its call."""
    tool = Tool(category="", **{"description": "", **line["tool"]})
    now = datetime.fromisoformat(line["now"]).replace(tzinfo=UTC) if line.get("now") else None
    return tool, read_call(tool, line["arguments"], [hear(line["request"], line["language"], now)])


def _counted(line: Mapping[str, Any], tool: Tool) -> Iterator[str]:
    if "wrong" in line:
        yield from line["wrong"]
        return
    words = re.findall("[a-z]+", line["defect"])
    sorts = set[str]().union(*(_SORTS.get(word, set()) for word in words))
    all_leaves = leaves_of(tool, line["arguments"])
    leaves = [leaf for leaf in all_leaves if leaf.sort in sorts]
    if "swapped" in words:
        leaves = [leaf for leaf in all_leaves if leaf.parameter.role or leaf.parameter.edge]
    if "truncated" in words:
        leaves = sorted(leaves, key=lambda leaf: len(str(leaf.value)))[-1:]
    yield from dict.fromkeys(leaf.argument for leaf in leaves)


if __name__ == "__main__":
    main()
