"""CallNavi's table: what share of the questions an answer is right in, by difficulty, overall and as a macro mean."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from validators.metrics.callnavi.matching import GoldAnswer, Match, match_answer
from validators.metrics.callnavi.routing import is_routed
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
    """What share of the questions is right; `macro` is the mean of the difficulties, None where there is no question."""

    easy: float | None
    medium: float | None
    hard: float | None
    overall: float | None
    macro: float | None
    counts: Mapping[str, int]


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


def share_right(judged: Iterable[tuple[str, bool]]) -> Shares:
    """The shares of what was judged, each verdict with the difficulty of its question."""
    asked: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for difficulty, verdict in judged:
        asked[difficulty] += 1
        right[difficulty] += verdict
    shares = {name: right[name] / asked[name] for name in DIFFICULTIES if asked[name]}
    return Shares(
        easy=shares.get("easy"),
        medium=shares.get("medium"),
        hard=shares.get("hard"),
        overall=right.total() / asked.total() if asked else None,
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
