"""ComplexFuncBench's tables over many runs: success, calls, answers, errors, steps (4.2, 4.3)."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO

from callwright.validators.metrics.complexeval.rules import ERROR_TYPES, SUCCESS
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import EvalMode

CROSS = "Cross"
PUBLISHED_DOMAIN, PUBLISHED_CROSS, PUBLISHED_ALL = 150, 400, 1000
ALWAYS_SHOWN = ("func_error", "param_missing", "hallucination", "value_error", "stop_early")


class Figures(NamedTuple):
    """Some runs: the shares of successes and of gold calls made, with the counts behind them."""

    success: float
    call_acc: float
    samples: int
    succeeded: int
    correct_calls: int
    total_calls: int


class StepFigures(NamedTuple):
    """Steps made against the shortest: runs by number of steps, means, and extra steps."""

    runs: int
    made: Mapping[int, int]
    shortest: Mapping[int, int]
    extra: Mapping[int, int]
    mean_made: float
    mean_shortest: float


class Summary(NamedTuple):
    """The tables.

    Completeness and correctness are means from 0 to 2, None if no answer was scored.

    `error_types` are shares of all errors, by the paper's names and by other ends of runs;
    `value_error_parameters` are shares of value errors with a known parameter, by its type.
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
    """Return the tables over some runs; published code divides by the full benchmark's counts.

    The paper divides by how many there are.
    """
    by_domain: dict[str, list[ResultRow]] = defaultdict(list)
    for row in rows:
        by_domain[row.domain].append(row)
    is_published = mode == "as_published_code"
    complete = _scored(row.completeness for row in rows)
    errors = [error for row in rows for error in row.errors]
    types: Counter[str] = Counter(ERROR_TYPES.get(error.kind, "other") for error in errors)
    wrong: Counter[str] = Counter(
        parameter_type(error.parameter)
        for error in errors
        if error.kind == "value_error" and error.parameter
    )
    pairs = [(row.real_turns, row.total_turns) for row in rows if row.real_turns is not None]
    steps_made, shortest = [steps for steps, _ in pairs], [least for _, least in pairs]
    columns = (steps_made, shortest, [steps - least for steps, least in pairs])
    counts = [dict(sorted(Counter(column).items())) for column in columns]
    return Summary(
        overall=_figures(rows, PUBLISHED_ALL if is_published else len(rows)),
        domains={
            name: _figures(
                own,
                (
                    len(own)
                    if not is_published
                    else PUBLISHED_CROSS
                    if name == CROSS
                    else PUBLISHED_DOMAIN
                ),
            )
            for name, own in by_domain.items()
        },
        completeness=_mean(complete),
        correctness=_mean(_scored(row.correctness for row in rows)),
        answers=len(complete),
        error_types={**dict.fromkeys(ALWAYS_SHOWN, 0.0), **_shares(types)},
        errors=len(errors),
        value_error_parameters=_shares(wrong),
        steps=StepFigures(
            len(steps_made),
            counts[0],
            counts[1],
            counts[2],
            _mean(steps_made) or 0.0,
            _mean(shortest) or 0.0,
        ),
    )


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


def _scored(scores: Iterable[int | None]) -> list[int]:
    """Return the scores that a judge gave, without failures (-1) and empty answers (-2)."""
    return [score for score in scores if score is not None and score >= 0]


def _mean(numbers: Sequence[int]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


def _shares(counts: Mapping[str, int]) -> dict[str, float]:
    whole = sum(counts.values())
    return {
        name: number / whole
        for name, number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    }


ParameterType = Literal[
    "filter",
    "legs",
    "token",
    "slug",
    "date",
    "location",
    "key",
    "id",
    "time",
    "sort_by",
    "type",
    "age",
    "people",
    "other",
]


# Patterns over the words of a parameter's name, joined by spaces. The first that fits decides: what
# a name says at its end comes before what it is about.
_RULES: dict[ParameterType, str] = {
    "legs": r"legs?",
    "filter": r"filters?|facilit(y|ies)",
    "token": r"tokens?",
    "slug": r"slugs?",
    "key": r"keys?$",
    "id": r"ids?$",
    "sort_by": r"sort|sorted|sorter|sorting|order by",
    "type": r"types?$",
    "age": r"ages?",
    "date": r"dates?|day|month|check ?in|check ?out",
    "time": r"times?|hour|clock",
    "people": r"people|adults?|child(ren)?|infants?|passengers?|guests?|travell?ers?|persons?",
    "location": (
        r"locations?|city|country|place|address|destination|origin|latitude|longitude|lat|lon(g)?|coordinates|airport"
        r"|area|query"
    ),
}
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


@lru_cache(4096)
def parameter_type(name: str) -> ParameterType:
    """Return the type of a parameter by its name, also for places inside: "legs[0].fromId"."""
    words = " ".join(word.lower() for word in _WORDS.findall(re.split(r"[.\[]", name)[0]))
    return next(
        (kind for kind, pattern in _RULES.items() if re.search(rf"\b(?:{pattern})\b", words)),
        "other",
    )


_COUNTS = {
    "correct_calls": "correct_call_num",
    "total_calls": "total_call_num",
    "success_turns": "success_turn_num",
    "total_turns": "total_turn_num",
}
_SCORES = frozenset({-2, -1, 0, 1, 2})
_SHOWN = 60


class RowError(NamedTuple):
    """An error of a row: its name there, and its parameter if stated."""

    kind: str
    parameter: str = ""


class ResultRow(NamedTuple):
    """One sample's run.

    Scores are 0, 1 or 2; -1 if the judge failed, -2 if the answer was empty, None if not asked.

    `real_turns` is None in files that do not state it.
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


def read_results(file: Path) -> list[ResultRow]:
    """Return the rows of a file, a JSON list or JSON lines.

    Raises ConfigurationError if it is missing or holds none.
    """
    try:
        with file.open(encoding="utf-8-sig") as opened:
            rows = list(_rows(opened, file))
    except (OSError, UnicodeDecodeError) as error:
        message = f"{file} can't be read: {error}. Give a file of ComplexFuncBench results."
        raise ConfigurationError(message) from error
    if not rows:
        problem = f"{file} has no results in it. Give a file of ComplexFuncBench results."
        raise ConfigurationError(problem)
    return rows


def parse_results(value: Any, source: str) -> list[ResultRow]:  # noqa: ANN401 - a foreign file's content
    """Return the rows in a JSON value.

    Raises ConfigurationError, naming `source` and the row, if one has another form.
    """
    if not isinstance(value, list):
        raise ConfigurationError(f"{source} is not a list of results, nor one result a line.")
    return [_row(one, f"{source}, row {number}") for number, one in enumerate(value)]


def repeated(rows: Sequence[ResultRow]) -> list[str]:
    """Return the ids of more than one row; every one of their rows is counted."""
    return [identity for identity, number in Counter(row.id for row in rows).items() if number > 1]


def _rows(opened: TextIO, file: Path) -> Iterator[ResultRow]:
    """Yield the rows, keeping one line in memory, since a row may hold a whole conversation."""
    start = next((line for line in opened if line.strip()), "")
    if start.lstrip().startswith("["):
        value = _decoded(start + opened.read())
        if value is None:
            raise ConfigurationError(
                f"{file} can't be read as a JSON list. Give a file of ComplexFuncBench results."
            )
        yield from parse_results(value, str(file))
        return
    for number, line in enumerate(chain([start], opened)):
        if line.strip():
            value = _decoded(line)
            if value is None:
                shown = line.strip()[:_SHOWN]
                raise ConfigurationError(
                    f"{file} is neither a JSON list nor JSON lines: it has the line {shown!r}."
                )
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
        message = f'{where} is no result: it needs a text "id", a "message" and a "count_dict".'
        raise ConfigurationError(message)
    numbers = {field: _count(counts.get(name), name, where) for field, name in _COUNTS.items()}
    real = counts.get("real_turn_num")
    answer = fields.get("resp_eval")
    if answer is not None and not isinstance(answer, dict):
        problem = f'{where}: "resp_eval" is {_brief(answer)}, neither an object nor null.'
        raise ConfigurationError(problem)
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
    """Return the errors that a message names; other text is an error without a name."""
    if message == SUCCESS:
        return ()
    listed = message if isinstance(message, list) else [message]
    return tuple(
        (
            RowError(str(one.get("error_type", "")), str(one.get("parameter", "")))
            if isinstance(one, dict)
            else RowError("")
        )
        for one in listed
    )


def _count(value: Any, name: str, where: str) -> int:  # noqa: ANN401 - a foreign file's content
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        problem = f'{where}: the "{name}" of "count_dict" is {_brief(value)}, no count.'
        raise ConfigurationError(problem)
    return value


def _score(value: Any, where: str) -> int | None:  # noqa: ANN401 - a foreign file's content
    if value is None:
        return None
    score = value.get("score") if isinstance(value, dict) else value
    if isinstance(score, bool) or not isinstance(score, int) or score not in _SCORES:
        problem = f'{where}: a "score" of "resp_eval" is {_brief(score)}; it is one of -2 to 2.'
        raise ConfigurationError(problem)
    return score


def _brief(value: Any) -> str:  # noqa: ANN401 - a foreign file's content
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
