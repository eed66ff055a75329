"""CallNavi's table over its folders of questions and predictions: what share is right, by difficulty and over all."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from pydantic import JsonValue
from rapidfuzz.distance.Levenshtein import normalized_similarity

from callwright.validators.metrics.callnavi.answers import GoldAnswer, Match, Washed, is_routed, match_answer, wash
from callwright.warehouse.errors import ConfigurationError

QUESTIONS = "Questions"
PREDICTED = ("predict", "predit")  # the published scripts write the one or the other
DIFFICULTIES = ("easy", "medium", "hard")


class GoldQuestion(NamedTuple):
    """A question and its gold answer."""

    id: str
    domain: str
    request: str
    gold: GoldAnswer
    difficulty: str


class CallNaviScore(NamedTuple):
    """All verdicts on one answer."""

    id: str
    difficulty: str
    washed: Washed
    routed: bool
    match: Match

    @property
    def problem(self) -> str:
        """Why the answer could not be read, empty where it could."""
        return self.washed.problem or self.match.problem


class Shares(NamedTuple):
    """What share of the questions is right, or a mean over them; None where there is no question.

    `macro` is the mean of the difficulties; `counts` has how many are right, or what the means are made of.
    """

    easy: float | None
    medium: float | None
    hard: float | None
    overall: float | None
    macro: float | None
    counts: Mapping[str, float]


def score_answer(question: GoldQuestion, answer: object, *, repair: bool = True) -> CallNaviScore:
    """Score what was answered to a question: a text, or a JSON value."""
    washed = wash(answer, repair=repair)
    says_calls = isinstance(washed.value, dict) and washed.readable
    return CallNaviScore(
        id=question.id,
        difficulty=question.difficulty,
        washed=washed,
        routed=is_routed(washed.value if says_calls else answer, question.gold.names),
        match=match_answer(washed.value, question.gold),
    )


def share_right(judged: Iterable[tuple[str, float]]) -> Shares:
    """The shares of what was judged, each verdict or score with the difficulty of its question."""
    asked: Counter[str] = Counter()
    right: dict[str, float] = defaultdict(int)
    for difficulty, verdict in judged:
        asked[difficulty] += 1
        right[difficulty] += verdict
    shares = {name: right[name] / asked[name] for name in DIFFICULTIES if asked[name]}
    return Shares(
        easy=shares.get("easy"),
        medium=shares.get("medium"),
        hard=shares.get("hard"),
        overall=sum(right.values()) / asked.total() if asked else None,
        macro=fmean(shares.values()) if shares else None,
        counts={name: right[name] for name in dict.fromkeys((*DIFFICULTIES, *asked))},
    )


def summarise(scores: Sequence[CallNaviScore]) -> dict[str, Shares]:
    """CallNavi's figures by name. Syntax is judged before any repair; structure and AST after it."""
    verdicts = {
        "syntax_validity": [one.washed.valid for one in scores],
        "syntax_validity_repaired": [one.washed.readable for one in scores],
        "routing": [one.routed for one in scores],
        "order": [one.match.order for one in scores],
        "structure": [one.match.structure for one in scores],
        "ast": [one.match.ast for one in scores],
    }
    levels = [one.difficulty for one in scores]
    return {name: share_right(zip(levels, judged, strict=True)) for name, judged in verdicts.items()}


def summarise_stability(questions: Sequence[GoldQuestion], runs: Sequence[Sequence[object]]) -> dict[str, Shares]:
    """How steady the answers of several runs are, each run having an answer to every question in their order."""
    levels = [question.difficulty for question in questions]
    scores = [
        measure_stability([
            answer if isinstance(answer, str) else "" if answer is None else json.dumps(answer, ensure_ascii=False)
            for answer in answers
        ])
        for answers in zip(*runs, strict=True)
    ]  # fmt: skip
    return {
        f"{name}_stability": share_right(zip(levels, (getattr(score, name) for score in scores), strict=True))
        for name in Stability._fields
    }


class Stability(NamedTuple):
    """Two scores in 0..1: by election, where a majority counts, and by Levenshtein, where being near counts."""

    election: float
    levenshtein: float


def measure_stability(answers: Sequence[str]) -> Stability:
    """How alike the answers of all runs to one question are; one run is stable, none says nothing and counts 0."""
    if not answers:
        return Stability(0.0, 0.0)
    texts = [settled(answer) for answer in answers]
    first, *later = texts
    near = [normalized_similarity(first, text) for text in later]  # 1 - distance / the longer one's length
    # (F1 - F2) / (N - F2), F1 and F2 being how often the two most frequent answers came; a tie is 0
    second, most = sorted((0, *Counter(texts).values()))[-2:]
    return Stability((most - second) / (len(texts) - second), sum(near) / len(near) if near else 1.0)


def settled(answer: str) -> str:
    """The answer without white space, case and the backticks around it."""
    return "".join(answer.split()).lower().strip("`")


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
    return [
        next((row[name] for name in PREDICTED if name in row), None) if isinstance(row, dict) else None for row in found
    ]


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
