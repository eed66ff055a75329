"""Running a file of cases: which module knows its groups, and what came out."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.conformance import callnavi, complexfuncbench, confetti, hammerbench
from tests.conformance.comparing import CaseOutcome, Run, UnknownCaseError

ABOUT = "about"


class Suite(NamedTuple):
    """The runners of a paper's groups, given the `materials` that its file brings beside them."""

    open_groups: Callable[[Mapping[str, Any]], dict[str, Run]]
    materials: frozenset[str] = frozenset()


KNOWN: dict[str, Suite] = {
    "hammerbench": Suite(lambda _: hammerbench.GROUPS),
    "callnavi": Suite(lambda _: callnavi.GROUPS),
    "confetti": Suite(lambda _: confetti.GROUPS),
    "complexfuncbench": Suite(
        lambda materials: complexfuncbench.Cases(materials).groups(), complexfuncbench.MATERIALS
    ),
}


def run_file(file: Path) -> list[CaseOutcome]:
    """Every case of the file.

    Raises UnknownCaseError where any of it is not understood: nothing is skipped.
    """
    content = _read(file)
    content.pop(ABOUT, None)
    suite = next(
        (
            one
            for one in KNOWN.values()
            if content.keys() <= one.open_groups({}).keys() | one.materials
        ),
        None,
    )
    groups = (
        {}
        if suite is None
        else {name: cases for name, cases in content.items() if name not in suite.materials}
    )
    if suite is None or not groups:
        known_groups = {name: sorted(one.open_groups({})) for name, one in KNOWN.items()}
        raise UnknownCaseError(
            f"{file} has the groups {sorted(content)}; the runners know {known_groups}."
        )
    runs = suite.open_groups(content)
    return [
        CaseOutcome(group, str(case.get("id", at)), runs[group](case, file.resolve().parent))
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
