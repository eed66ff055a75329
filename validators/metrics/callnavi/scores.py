"""CallNavi's table: what share of the questions an answer is right in, by difficulty, overall and as a macro mean."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from rapidfuzz.distance.Levenshtein import normalized_similarity

from callwright.validators.metrics.callnavi.answers import GoldAnswer, Match, Washed, is_routed, match_answer, wash

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
    return Stability(_elect(texts), sum(near) / len(near) if near else 1.0)


def settled(answer: str) -> str:
    """The answer without white space, case and the backticks around it."""
    return "".join(answer.split()).lower().strip("`")


def _elect(texts: Sequence[str]) -> float:
    """(F1 - F2) / (N - F2), F1 and F2 being how often the two most frequent answers came; a tie is 0."""
    counts: dict[str, int] = {}
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
    second, first = sorted((0, *counts.values()))[-2:]
    return (first - second) / (len(texts) - second)
