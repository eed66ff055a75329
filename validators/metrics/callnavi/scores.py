"""CallNavi's table: what share of the questions an answer is right in, by difficulty, overall and as a macro mean."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from validators.metrics.callnavi.matching import GoldAnswer, Match, match_answer
from validators.metrics.callnavi.routing import is_routed
from validators.metrics.callnavi.stability import measure_stability
from validators.metrics.callnavi.washing import Washed, wash

DIFFICULTIES = ("easy", "medium", "hard")


class Question(NamedTuple):
    """A question and its gold answer."""

    id: str
    domain: str
    request: str
    gold: GoldAnswer
    difficulty: str


class AnswerScore(NamedTuple):
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


def score_answer(question: Question, answer: object, *, repair: bool = True) -> AnswerScore:
    """Score what was answered to a question: a text, or a JSON value."""
    washed = wash(answer, repair=repair)
    says_calls = isinstance(washed.value, dict) and washed.readable
    return AnswerScore(
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


def summarise(scores: Sequence[AnswerScore]) -> dict[str, Shares]:
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


def summarise_stability(questions: Sequence[Question], runs: Sequence[Sequence[object]]) -> dict[str, Shares]:
    """How steady the answers of several runs are, each run having an answer to every question in their order."""
    scores = [
        (question.difficulty, measure_stability([_written(answer) for answer in answers]))
        for question, answers in zip(questions, zip(*runs, strict=True), strict=True)
    ]
    return {
        "election_stability": share_right((difficulty, score.election) for difficulty, score in scores),
        "levenshtein_stability": share_right((difficulty, score.levenshtein) for difficulty, score in scores),
    }


def _written(answer: object) -> str:
    """An answer as a text; one that came as a value, in its JSON."""
    if isinstance(answer, str):
        return answer
    return "" if answer is None else json.dumps(answer, ensure_ascii=False)
