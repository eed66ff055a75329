"""ComplexFuncBench's result files: one row a sample, with how its run ended, the counts and the scores of the answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from validators.metrics.complexeval.outcomes import SUCCESS
from warehouse.errors import ConfigurationError

if TYPE_CHECKING:
    from validators.metrics.complexeval.outcomes import Outcome

_COUNTS = {
    "correct_calls": "correct_call_num",
    "total_calls": "total_call_num",
    "success_turns": "success_turn_num",
    "total_turns": "total_turn_num",
}
_SCORES = frozenset({-2, -1, 0, 1, 2})
_SHOWN = 60


class RowError(NamedTuple):
    """An error of a row: its name there, and the parameter where one is told."""

    kind: str
    parameter: str = ""


class ResultRow(NamedTuple):
    """One sample's run. Scores are 0, 1 or 2; -1 where the judge failed, -2 where the answer was empty, None if unasked.

    `real_turns` is None in files that do not tell it.
    """

    id: str
    success: bool
    errors: tuple[RowError, ...]
    correct_calls: int
    total_calls: int
    success_turns: int
    total_turns: int
    real_turns: int | None = None
    completeness: int | None = None
    correctness: int | None = None

    @property
    def domain(self) -> str:
        """The id without its number."""
        return self.id.rpartition("-")[0] or self.id


def row_of(
    identity: str, outcome: Outcome, *, completeness: int | None = None, correctness: int | None = None
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


def read_results(file: Path) -> list[ResultRow]:
    """The rows of a file, a JSON list or JSON lines. Raises ConfigurationError where it is missing or holds none."""
    try:
        with file.open(encoding="utf-8-sig") as opened:
            rows = list(_rows(opened, file))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file} can't be read: {error}. Give a file of ComplexFuncBench results.") from error
    if not rows:
        raise ConfigurationError(f"{file} has no results in it. Give a file of ComplexFuncBench results.")
    return rows


def parse_results(value: Any, source: str) -> list[ResultRow]:  # noqa: ANN401 - a foreign file's content
    """The rows in a JSON value. Raises ConfigurationError, naming `source` and the row, where one has another form."""
    if not isinstance(value, list):
        raise ConfigurationError(f"{source} is not a list of results, nor one result a line.")
    return [_row(one, f"{source}, row {number}") for number, one in enumerate(value)]


def repeated(rows: Sequence[ResultRow]) -> list[str]:
    """The ids that more than one row has: each of their rows is counted."""
    return [identity for identity, number in Counter(row.id for row in rows).items() if number > 1]


def _rows(opened: TextIO, file: Path) -> Iterator[ResultRow]:
    """One line at a time is in memory: a row may bring a whole conversation with it."""
    start = next((line for line in opened if line.strip()), "")
    if start.lstrip().startswith("["):
        value = _decoded(start + opened.read())
        if value is None:
            raise ConfigurationError(f"{file} can't be read as a JSON list. Give a file of ComplexFuncBench results.")
        yield from parse_results(value, str(file))
        return
    for number, line in enumerate(chain([start], opened)):
        if line.strip():
            value = _decoded(line)
            if value is None:
                told = line.strip()[:_SHOWN]
                raise ConfigurationError(f"{file} is neither a JSON list nor JSON lines: it has the line {told!r}.")
            yield _row(value, f"{file}, row {number}")


def _decoded(text: str) -> Any:  # noqa: ANN401 - a foreign file's content
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _row(value: Any, where: str) -> ResultRow:  # noqa: ANN401 - a foreign file's content
    fields = value if isinstance(value, dict) else {}
    identity, counts = fields.get("id"), fields.get("count_dict")
    if not isinstance(identity, str) or "message" not in fields or not isinstance(counts, dict):
        raise ConfigurationError(f'{where} is no result: it needs a text "id", a "message" and a "count_dict".')
    numbers = {field: _count(counts.get(name), name, where) for field, name in _COUNTS.items()}
    real = counts.get("real_turn_num")
    answer = fields.get("resp_eval")
    if answer is not None and not isinstance(answer, dict):
        raise ConfigurationError(f'{where}: "resp_eval" is {_brief(answer)}, neither an object nor null.')
    return ResultRow(
        id=identity,
        success=fields["message"] == SUCCESS,
        errors=_errors(fields["message"]),
        **numbers,
        real_turns=None if real is None else _count(real, "real_turn_num", where),
        completeness=_score((answer or {}).get("complete"), where),
        correctness=_score((answer or {}).get("correct"), where),
    )


def _errors(message: Any) -> tuple[RowError, ...]:  # noqa: ANN401 - a foreign file's content
    """What a message names as wrong; a text of any other kind is an error without a name."""
    if message == SUCCESS:
        return ()
    listed = message if isinstance(message, list) else [message]
    return tuple(
        RowError(str(one.get("error_type", "")), str(one.get("parameter", "")))
        if isinstance(one, dict)
        else RowError("")
        for one in listed
    )


def _count(value: Any, name: str, where: str) -> int:  # noqa: ANN401 - a foreign file's content
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ConfigurationError(f'{where}: the "{name}" of "count_dict" is {_brief(value)}, no count.')
    return value


def _score(value: Any, where: str) -> int | None:  # noqa: ANN401 - a foreign file's content
    if value is None:
        return None
    score = value.get("score") if isinstance(value, dict) else value
    if isinstance(score, bool) or not isinstance(score, int) or score not in _SCORES:
        raise ConfigurationError(f'{where}: a "score" of "resp_eval" is {_brief(score)}; it is one of -2 to 2.')
    return score


def _brief(value: Any) -> str:  # noqa: ANN401 - a foreign file's content
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
