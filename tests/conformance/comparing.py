"""What every file of cases shares: how an official result is held against ours."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

Case = Mapping[str, Any]
Run = Callable[[Case, Path], list["Difference"]]

TOLERANCE = 1e-9
META = frozenset({"id", "exercises", "source", "note"})


class UnknownCaseError(Exception):
    """A file holds a group, a key or a mode that its runner does not know."""


class Difference(NamedTuple):
    """One figure of one case in which we differ from the official result."""

    figure: str
    official: Any
    ours: Any


class CaseOutcome(NamedTuple):
    """One case and where we differ in it: nowhere, if it agrees."""

    group: str
    name: str
    differences: list[Difference]


def require_keys(case: Case, known: set[str]) -> None:
    """Refuse a case with a key that nobody looks at."""
    unknown = set(case) - known - META
    if unknown:
        raise UnknownCaseError(
            f"the case {case.get('id', '')!r} has the unknown keys {sorted(unknown)}"
        )


def compare(official: Mapping[str, Any], ours: Mapping[str, Any]) -> list[Difference]:
    """The figures in which `ours` differs; an official figure that we do not compute is an
    unknown key.
    """
    unknown = set(official) - set(ours)
    if unknown:
        raise UnknownCaseError(f"the official result has the unknown figures {sorted(unknown)}")
    return [
        Difference(figure, wanted, ours[figure])
        for figure, wanted in official.items()
        if not _is_same(wanted, ours[figure])
    ]


def compare_crash(crash: str, scores: Mapping[str, Any], *, is_failure: bool) -> list[Difference]:
    """Where the official code crashed, we agree by scoring a failure: whole figures, and the
    failure named.
    """
    whole = all(math.isfinite(value) for value in scores.values())
    return [] if whole and is_failure else [Difference("crash", crash, dict(scores))]


def _is_same(official: Any, ours: Any) -> bool:
    if isinstance(official, float) or isinstance(ours, float):
        return math.isclose(official, ours, rel_tol=0, abs_tol=TOLERANCE)
    return official == ours
