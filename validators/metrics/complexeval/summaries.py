"""ComplexFuncBench's tables over many runs: success, call accuracy, answers, errors and steps (ComplexFuncBench 4.2, 4.3)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from validators.metrics.complexeval.mistakes import ERROR_TYPES
from validators.metrics.parameter_types import parameter_type

if TYPE_CHECKING:
    from validators.metrics.complexeval.results import ResultRow
    from warehouse.records import EvalMode

CROSS = "Cross"
PUBLISHED_DOMAIN, PUBLISHED_CROSS, PUBLISHED_ALL = 150, 400, 1000
ALWAYS_TOLD = ("func_error", "param_missing", "hallucination", "value_error", "stop_early")


class Figures(NamedTuple):
    """Some runs: the share that succeeded and the share of gold calls that were made, with what they are shares of."""

    success: float
    call_acc: float
    samples: int
    succeeded: int
    correct_calls: int
    total_calls: int


class StepFigures(NamedTuple):
    """Steps made against the shortest: how many runs made how many, the means, and how many steps more than needed."""

    runs: int
    made: Mapping[int, int]
    shortest: Mapping[int, int]
    extra: Mapping[int, int]
    mean_made: float
    mean_shortest: float


class Summary(NamedTuple):
    """The tables. Completeness and correctness are means from 0 to 2, None where no answer was scored.

    `error_types` are shares of all errors, by the paper's names and by what else ended runs; `value_error_parameters`
    are shares of the value errors that tell their parameter, by its type.
    """

    overall: Figures
    domains: Mapping[str, Figures]
    completeness: float | None
    correctness: float | None
    answers: int
    error_types: Mapping[str, float]
    errors: int
    value_error_parameters: Mapping[str, float]
    steps: StepFigures


def summarise(rows: Sequence[ResultRow], mode: EvalMode) -> Summary:
    """The tables over some runs; the published code divides by the full benchmark's counts, the paper by how many there are."""
    by_domain: dict[str, list[ResultRow]] = defaultdict(list)
    for row in rows:
        by_domain[row.domain].append(row)
    is_published = mode == "as_published_code"
    errors = [error for row in rows for error in row.errors]
    types: Counter[str] = Counter(ERROR_TYPES.get(error.kind, "other") for error in errors)
    wrong: Counter[str] = Counter(
        parameter_type(error.parameter) for error in errors if error.kind == "value_error" and error.parameter
    )
    return Summary(
        overall=_figures(rows, PUBLISHED_ALL if is_published else len(rows)),
        domains={
            name: _figures(of_domain, _published_whole(name) if is_published else len(of_domain))
            for name, of_domain in by_domain.items()
        },
        completeness=_mean(row.completeness for row in rows),
        correctness=_mean(row.correctness for row in rows),
        answers=len(list(_scored(row.completeness for row in rows))),
        error_types={**dict.fromkeys(ALWAYS_TOLD, 0.0), **_shares(types)},
        errors=len(errors),
        value_error_parameters=_shares(wrong),
        steps=_steps([(row.real_turns, row.total_turns) for row in rows if row.real_turns is not None]),
    )


def _published_whole(domain: str) -> int:
    return PUBLISHED_CROSS if domain == CROSS else PUBLISHED_DOMAIN


def _figures(rows: Sequence[ResultRow], whole: int) -> Figures:
    succeeded = sum(row.success for row in rows)
    correct, total = sum(row.correct_calls for row in rows), sum(row.total_calls for row in rows)
    return Figures(
        success=succeeded / whole if whole else 0.0,
        call_acc=correct / total if total else 0.0,
        samples=len(rows),
        succeeded=succeeded,
        correct_calls=correct,
        total_calls=total,
    )


def _steps(pairs: Sequence[tuple[int, int]]) -> StepFigures:
    made = [steps for steps, _ in pairs]
    shortest = [steps for _, steps in pairs]
    return StepFigures(
        runs=len(pairs),
        made=_counted(made),
        shortest=_counted(shortest),
        extra=_counted([steps - least for steps, least in pairs]),
        mean_made=sum(made) / len(pairs) if pairs else 0.0,
        mean_shortest=sum(shortest) / len(pairs) if pairs else 0.0,
    )


def _counted(numbers: Iterable[int]) -> dict[int, int]:
    return dict(sorted(Counter(numbers).items()))


def _scored(scores: Iterable[int | None]) -> Iterator[int]:
    """The scores that a judge gave: it may have failed (-1), and an empty answer was not shown to it (-2)."""
    return (score for score in scores if score is not None and score >= 0)


def _mean(scores: Iterable[int | None]) -> float | None:
    given = list(_scored(scores))
    return sum(given) / len(given) if given else None


def _shares(counts: Mapping[str, int]) -> dict[str, float]:
    whole = sum(counts.values())
    return {name: number / whole for name, number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))}
