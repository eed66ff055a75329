"""Reading CallNavi's folders: the questions of each domain, and what a model predicted for them."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from callwright.validators.metrics.callnavi.answers import GoldAnswer
from callwright.validators.metrics.callnavi.scores import GoldQuestion
from callwright.warehouse.errors import ConfigurationError

QUESTIONS = "Questions"
PREDICTED = ("predict", "predit")  # the published scripts write the one or the other


class PredictedQuestions(NamedTuple):
    """The questions with what was predicted for each, None where nothing was, and what is odd about the files."""

    pairs: list[tuple[GoldQuestion, object]]
    problems: list[str]


def read_questions(folder: Path) -> list[GoldQuestion]:
    """The questions of all domains. Raises ConfigurationError where there is none, or one has another form."""
    place = folder / QUESTIONS if (folder / QUESTIONS).is_dir() else folder
    files = sorted(place.glob("*.json"))
    if not files:
        raise ConfigurationError(f"There is no DOMAIN.json with questions in {str(place)!r}.")
    return [
        _question(row, file.stem, f"{file}#/{at}") for file in files for at, row in enumerate(_list(file, "questions"))
    ]


def read_answers(questions: Sequence[GoldQuestion], folder: Path) -> PredictedQuestions:
    """What was predicted for each question: by its id where the rows have ids, else by their order.

    Raises ConfigurationError where no domain of the questions has a file, or a file is no list.
    """
    domains = list(dict.fromkeys(question.domain for question in questions))
    present = [domain for domain in domains if (folder / f"{domain}.json").is_file()]
    if not present:
        raise ConfigurationError(
            f"{str(folder)!r} has no predictions: a file DOMAIN.json is read for each of {', '.join(domains)}."
        )
    pairs: list[tuple[GoldQuestion, object]] = []
    problems = [f"There is no file {d}.json: its questions count as wrong." for d in domains if d not in present]
    for domain in domains:
        asked = [question for question in questions if question.domain == domain]
        rows = _list(folder / f"{domain}.json", "predictions") if domain in present else []
        predicted = _by_question(asked, rows, domain, problems)
        pairs += zip(asked, predicted, strict=True)
    return PredictedQuestions(pairs, problems)


def _by_question(asked: list[GoldQuestion], rows: list[JsonValue], domain: str, problems: list[str]) -> list[object]:
    named = [row.get("id") for row in rows if isinstance(row, dict)]
    if len(named) == len(rows) and rows and all(isinstance(one, str) for one in named):
        twice = [str(one) for one, count in Counter(named).items() if count > 1]
        unknown = set(map(str, named)) - {question.id for question in asked}
        problems += [f"{domain}.json has more than one row with the id {one!r}; the first counts." for one in twice]
        problems += [f"{domain}.json has a row for {one!r}, which is no question." for one in sorted(unknown)]
        by_id = {str(name): row for name, row in zip(reversed(named), reversed(rows), strict=True)}
        found = [by_id.get(question.id) for question in asked]
    else:
        found = [*rows[: len(asked)], *[None] * (len(asked) - len(rows))]
        if rows and len(rows) != len(asked):
            problems.append(f"{domain}.json has {len(rows)} rows for {len(asked)} questions; they are taken in order.")
    return [_predicted(row) for row in found]


def _predicted(row: JsonValue) -> object:
    if not isinstance(row, dict):
        return None
    return next((row[name] for name in PREDICTED if name in row), None)


def _question(row: JsonValue, domain: str, where: str) -> GoldQuestion:
    match row:
        case {
            "id": str(name),
            "question": [*stated],
            "ground_truth": {"API": [*names], "parameters": [*parameters]},
            "difficulty": str(difficulty),
        }:
            request = " ".join(str(turn["content"]) for turn in stated if isinstance(turn, dict) and "content" in turn)
            named = [one for one in names if isinstance(one, str)]
            given = [one for one in parameters if isinstance(one, dict)]
            if (len(named), len(given)) == (len(names), len(parameters)):
                return GoldQuestion(name, domain, request, GoldAnswer(named, given), difficulty)
    raise ConfigurationError(
        f'{where} is no question of CallNavi: it needs "id", "question", "ground_truth" with "API" and "parameters", '
        'and "difficulty".'
    )


def _list(file: Path, what: str) -> list[JsonValue]:
    try:
        value = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(f"{file} can't be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file} is not valid JSON: {error}.") from error
    if not isinstance(value, list):
        raise ConfigurationError(f"{file} is no list of {what}.")
    return value
