"""Running a file of cases: which module knows its groups, and what came out."""

import json
from pathlib import Path
from typing import Any

from tests.conformance import hammerbench
from tests.conformance.comparing import Outcome, Run, UnknownCaseError

ABOUT = "about"
KNOWN: dict[str, dict[str, Run]] = {"hammerbench": hammerbench.GROUPS}


def run_file(file: Path) -> list[Outcome]:
    """Every case of the file. Raises UnknownCaseError where any of it is not understood: nothing is skipped."""
    content = _read(file)
    groups = {name: cases for name, cases in content.items() if name != ABOUT}
    runs = next((known for known in KNOWN.values() if groups.keys() <= known.keys()), None)
    if runs is None or not groups:
        known_groups = {name: sorted(known) for name, known in KNOWN.items()}
        raise UnknownCaseError(f"{file} has the groups {sorted(groups)}; the runners know {known_groups}.")
    return [
        Outcome(group, str(case.get("id", at)), runs[group](case, file.resolve().parent))
        for group, cases in groups.items()
        for at, case in enumerate(cases)
    ]


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnknownCaseError(f"{file} can't be read as JSON: {error}.") from error
    if not isinstance(content, dict):
        raise UnknownCaseError(f"{file} is not an object of groups of cases.")
    return content
