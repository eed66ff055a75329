"""Runs of our own as rows of ComplexFuncBench's result files."""

from callwright.validators.metrics.complexeval.results import ResultRow, RowError
from callwright.validators.metrics.complexeval.runs import RunOutcome


def row_of(
    identity: str,
    outcome: RunOutcome,
    *,
    completeness: int | None = None,
    correctness: int | None = None,
) -> ResultRow:
    """A run of our own as such a row."""
    mistakes = outcome.mistakes if outcome.problem is None else (outcome.problem,)
    return ResultRow(
        id=identity,
        success=outcome.success,
        errors=tuple(RowError(one.kind, one.parameter) for one in mistakes),
        correct_calls=outcome.correct_calls,
        total_calls=outcome.total_calls,
        success_turns=outcome.success_turns,
        total_turns=outcome.total_turns,
        real_turns=outcome.real_turns,
        completeness=completeness,
        correctness=correctness,
    )
