"""What an audit finds in golds that BFCL's maintainers corrected, and in the corrected ones.

Usage: `python -m bench.bfcl_corrections FILE [--perfect] [--model NAME] [--json]`. FILE has a line
for each correction: a question of BFCL with `old_ground_truth` and `ground_truth`. Recall is the
share of old golds with a finding above `note`, false alarms are that of the corrected ones.
`--perfect` adds a reader that has read the corrected gold: what any reader can find at most.
"""

import argparse
import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import orjson

from bench.bfcl import check_calls
from callwright.flows.data_audit.readers import opened_look
from callwright.flows.data_audit.running import AuditedData, audited_files
from callwright.flows.settings import read_settings
from callwright.generators.imports.reading import SOURCES, ImportedRecord, read_source
from callwright.validators.audit.findings import Finding, find_in_record
from callwright.validators.metrics.confetti.bfcl import DecodedCall
from callwright.validators.metrics.ratios import share_interval
from callwright.warehouse.exports.bfcl import POSSIBLE

OLD, NEW = "old_ground_truth", "ground_truth"
READING = "reading_differs"
Case = Mapping[str, Any]


class Row(NamedTuple):
    """How many old and corrected golds have a finding of a sort; "" is any sort."""

    sort: str
    old: int
    new: int


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--perfect", action="store_true")
    parser.add_argument("--model", action="append", default=[], help="a reader; may be repeated")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    cases = [orjson.loads(line) for line in chosen.file.read_bytes().splitlines() if line.strip()]
    rows = table(cases, is_perfect=chosen.perfect, models=chosen.model)
    if chosen.json:
        print(json.dumps({"cases": len(cases), "rows": [row._asdict() for row in rows]}))
        return
    print(f"{len(cases)} corrections\n| sort | recall | false alarms |\n|---|---:|---:|")
    for row in rows:
        shares = (_share(one, len(cases)) for one in (row.old, row.new))
        print(f"| {row.sort or 'any'} | {' | '.join(shares)} |")


def _share(met: int, whole: int) -> str:
    low, high = share_interval(met, whole)
    return f"{met} ({met / whole:.0%}, {low:.0%}-{high:.0%})"


def table(
    cases: Sequence[Case], *, is_perfect: bool = False, models: Sequence[str] = ()
) -> list[Row]:
    """Return the golds with findings, of any sort first, then by sort."""
    sorts = [sorts_found(cases, gold, models) for gold in (OLD, NEW)]
    if is_perfect:
        for case in cases:
            if not sorts[0].get(case["id"]) and _is_refused(case):
                sorts[0][case["id"]] = {READING}
    named = sorted({sort for found in sorts for some in found.values() for sort in some})
    return [
        Row("", *(sum(map(bool, found.values())) for found in sorts)),
        *(Row(name, *(sum(name in one for one in f.values()) for f in sorts)) for name in named),
    ]


def sorts_found(
    cases: Sequence[Case], gold: str, models: Sequence[str] = ()
) -> dict[str, set[str]]:
    """Return the sorts of the findings above `note` by question, for one of its golds."""
    with TemporaryDirectory() as folder:
        write_questions(cases, gold, Path(folder))
        data = audited_files([Path(folder)], "bfcl", models=models)
        records = [*data.read()]
        found = asyncio.run(_find(data, records))
    if len(records) != len(cases):
        raise ValueError(f"{len(records)} records are read of {len(cases)} corrections.")
    sorts: dict[str, set[str]] = {record.item: set() for record in records}
    for one in found:
        if one.severity != "note":
            sorts[one.item].add(one.sort)
    return sorts


async def _find(data: AuditedData, records: Sequence[ImportedRecord]) -> list[Finding]:
    """Return what code finds in records, and the data's models, if any."""
    if not data.models:
        return [one for record in records for one in find_in_record(record)]
    async with opened_look(data, (), read_settings()) as look:
        return [*await look(records)]


def write_questions(cases: Iterable[Case], gold: str, folder: Path) -> None:
    """Write questions with one of their golds as BFCL publishes them."""
    (folder / POSSIBLE).mkdir()
    for case in cases:
        name = f"BFCL_v4_{case['category']}.json"
        question = {key: case[key] for key in ("id", "question", "function")}
        answer = {"id": case["id"], "ground_truth": case[gold]}
        for path, row in ((folder / name, question), (folder / POSSIBLE / name, answer)):
            with path.open("ab") as file:
                file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))


def _is_refused(case: Case) -> bool:
    """Whether the corrected gold refuses the old one."""
    with TemporaryDirectory() as folder:
        write_questions([case], OLD, Path(folder))
        [record] = read_source(SOURCES.named("bfcl"), Path(folder))
    calls = record.sample.all_calls if record.sample else ()
    made = [DecodedCall(one.tool, dict(one.arguments)) for one in calls]
    return not check_calls(case["function"], made, case[NEW], case["category"]).valid


if __name__ == "__main__":
    main()
