"""`python -m tests.conformance CASES.json [--json]`: exit 0 all agree, 1 some differ, 2 the file
is not understood.
"""

import argparse
import json
import sys
from pathlib import Path

from callwright.warehouse.errors import CallwrightError
from tests.conformance.comparing import CaseOutcome, UnknownCaseError
from tests.conformance.running import run_file


def main(arguments: list[str] | None = None) -> int:
    """Run a file of cases and say what differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("cases", type=Path, help="a file of (input, official result) pairs")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    options = parser.parse_args(arguments)
    try:
        outcomes = run_file(options.cases)
    except (UnknownCaseError, CallwrightError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    differing = [outcome for outcome in outcomes if outcome.differences]
    write = _write_json if options.json else _write_lines
    write(differing, len(outcomes) - len(differing))
    return 1 if differing else 0


def _write_lines(differing: list[CaseOutcome], agreeing: int) -> None:
    for outcome in differing:
        for difference in outcome.differences:
            sys.stdout.write(
                f"{outcome.group} {outcome.name}: {difference.figure} is officially"
                f" {difference.official!r}, ours is {difference.ours!r}\n"
            )
    sys.stdout.write(f"{agreeing} agree, {len(differing)} differ\n")


def _write_json(differing: list[CaseOutcome], agreeing: int) -> None:
    differences = [
        {"group": outcome.group, "case": outcome.name, **difference._asdict()}
        for outcome in differing
        for difference in outcome.differences
    ]
    report = {"agree": agreeing, "differ": len(differing), "differences": differences}
    sys.stdout.write(json.dumps(report, ensure_ascii=False, default=str) + "\n")


if __name__ == "__main__":
    sys.exit(main())
