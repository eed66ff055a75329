"""CONFETTI's tables: AST soft over calls and chains, by tools, user turns and length, acts and validity (CONFETTI 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod
from statistics import fmean
from typing import Any, NamedTuple

from callwright.validators.metrics.confetti.decoding import Decoded, DecodedCall, decode_calls
from callwright.validators.metrics.confetti.files import DueCall, GoldAnswers, QuestionContext
from callwright.validators.metrics.confetti.soft import (
    Combining,
    StringScorer,
    foresee,
    score_call,
    score_exactly,
    texts_to_compare,
)

Row = dict[str, Any]
_AT_ONCE = 4096


class ScoredCall(NamedTuple):
    """A due call with what was predicted: its strict and its soft score, and what is wrong with the prediction."""

    id: str
    strict: float
    soft: float
    problem: str


class Slice(NamedTuple):
    """The chains of one kind: how many, and their mean scores."""

    chains: int
    ast_soft: float
    ast: float


class ConfettiScores(NamedTuple):
    """All figures; those of chains are products over their calls, each predicted after the gold ones before it."""

    calls: int
    chains: int
    ast_soft: float
    ast: float
    ast_soft_chains: float
    ast_chains: float
    by_chain_length: dict[str, Slice]
    by_user_turns: dict[str, Slice]
    by_tools: dict[str, Slice]
    acts: ActScores | None
    validity: Validity | None
    problems: list[str]


def read_result(row: Row | None) -> Decoded:
    """The calls of a predicted row: a text as models write it, or objects with a call each."""
    if row is None:
        return Decoded(None, "There is no prediction.")
    result = row.get("result")
    if isinstance(result, str):
        return decode_calls(result, any_name=True)
    if not isinstance(result, list) or not all(isinstance(one, dict) and len(one) == 1 for one in result):
        return Decoded(None, f"The result {result!r:.200} is neither a text nor a list of calls.")
    calls = [_made(name, given) for one in result for name, given in one.items()]
    if None in calls:
        return Decoded(None, "The arguments of a call are no object.")
    return Decoded([call for call in calls if call is not None])


def _made(name: str, given: object) -> DecodedCall | None:
    if isinstance(given, str):  # as providers give the arguments of native calls
        import json

        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return None
    return DecodedCall(name, given) if isinstance(given, dict) else None


def score_confetti(
    answers: GoldAnswers,
    predicted: Mapping[str, Row],
    scorer: StringScorer,
    combining: Combining = Combining(),  # noqa: B008 - a plain value that nobody changes
    questions: Mapping[str, QuestionContext] | None = None,
) -> ConfettiScores:
    """Score predicted rows against all that is due; what was not predicted is worth 0."""
    known = questions or {}
    scored: dict[str, ScoredCall] = {}
    for start in range(0, len(answers.calls), _AT_ONCE):
        due = [(call, read_result(predicted.get(call.id))) for call in answers.calls[start : start + _AT_ONCE]]
        foresee(scorer, (pair for call, made in due for pair in _texts_to_compare(call, made)))
        scored |= {call.id: _score(call, made, scorer, combining, known.get(call.id)) for call, made in due}
    products = [
        (chain, prod(scored[one.id].soft for one in chain), prod(scored[one.id].strict for one in chain))
        for chain in answers.chains
    ]
    slices = _slicer(products)
    unknown = predicted.keys() - scored.keys() - {turn.id for turn in answers.turns}
    return ConfettiScores(
        calls=len(scored),
        chains=len(products),
        ast_soft=fmean(one.soft for one in scored.values()),
        ast=fmean(one.strict for one in scored.values()),
        ast_soft_chains=fmean(soft for _, soft, _ in products),
        ast_chains=fmean(strict for _, _, strict in products),
        by_chain_length=slices(lambda chain: bucket_of(len(chain), ((1, 1), (2, 2), (3, 3)), "4+")),
        by_user_turns=slices(lambda chain: _turns(chain[0].id, known, answers)),
        by_tools=slices(lambda chain: _tools(known.get(chain[0].id))),
        acts=_acts(answers, predicted),
        validity=_validity(answers, predicted),
        problems=[
            *answers.problems,
            *(f"The row {name!r} answers nothing that is asked." for name in sorted(unknown)),
            *(f"{one.id}: {one.problem}" for one in scored.values() if one.problem),
        ],
    )


def _texts_to_compare(call: DueCall, made: Decoded) -> Iterator[tuple[str, str]]:
    if made.calls and len(made.calls) == 1:
        yield from texts_to_compare(made.calls[0], call.answer)


def _score(
    call: DueCall, made: Decoded, scorer: StringScorer, combining: Combining, asked: QuestionContext | None
) -> ScoredCall:
    name = next(iter(call.answer))
    document = next((tool for tool in (asked.tools if asked else ()) if tool.get("name") == name), None)
    soft = score_call(made.calls, call.answer, scorer, combining, document)
    strict = score_call(made.calls, call.answer, score_exactly, Combining("least"), document)
    return ScoredCall(call.id, float(strict.score == 1), soft.score, made.problem)


def _slicer(
    products: Sequence[tuple[list[DueCall], float, float]],
) -> Callable[[Callable[[list[DueCall]], str]], dict[str, Slice]]:
    def slices(name_of: Callable[[list[DueCall]], str]) -> dict[str, Slice]:
        kinds: dict[str, list[tuple[float, float]]] = {}
        for chain, soft, strict in products:
            kinds.setdefault(name_of(chain), []).append((soft, strict))
        return {
            name: Slice(len(found), fmean(soft for soft, _ in found), fmean(strict for _, strict in found))
            for name, found in sorted(kinds.items(), key=lambda kind: (len(kind[0]), kind[0]))
            if name
        }

    return slices


def bucket_of(number: int, ranges: Iterable[tuple[int, int]], beyond: str) -> str:
    """Which of these ranges a number is in, as figures are told apart by."""
    for least, most in ranges:
        if number <= most:
            return str(least) if least == most else f"{least}-{most}"
    return beyond


def _turns(first: str, known: Mapping[str, QuestionContext], answers: GoldAnswers) -> str:
    """The user turns so far: those of the question, else by the number of the agent's turn."""
    number = known[first].user_turns if first in known else answers.user_turns.get(first)
    return "" if number is None else bucket_of(number, ((1, 5), (6, 10)), "11+")


def _tools(asked: QuestionContext | None) -> str:
    return "" if asked is None else bucket_of(len(asked.tools), ((1, 9), (10, 19)), "20+")


def _acts(answers: GoldAnswers, predicted: Mapping[str, Row]) -> ActScores | None:
    """The acts of all turns that were predicted: by their labels, else a mere call is known by its form."""
    pairs = []
    for turn in answers.turns:
        row = predicted.get(turn.id)
        if row is not None:
            pairs.append((read_acts(turn.acts) or frozenset(), _predicted_acts(row)))
    return score_acts(pairs) if pairs else None


def _predicted_acts(row: Row) -> frozenset[str]:
    acts = read_acts(row["acts"] if "acts" in row else row.get("result"))
    if acts is None and "acts" not in row and read_result(row).calls:
        return frozenset({"call"})
    return acts or frozenset()


def _validity(answers: GoldAnswers, predicted: Mapping[str, Row]) -> Validity | None:
    """Over the rows that bring a judge's word, a list of made-up parameters for each call."""
    judged = []
    for due in answers.calls:
        row = predicted.get(due.id) or {}
        words = row.get("hallucinated_parameters")
        calls = read_result(row).calls if isinstance(words, list) else None
        for at, call in enumerate(calls or ()):
            word = words[at] if isinstance(words, list) and at < len(words) else []
            made_up = [str(name) for name in word] if isinstance(word, list) else []
            judged.append(judged_call(call, next(iter(due.answer)), made_up))
    return measure_validity(judged) if judged else None


ACTS = ("inform", "seek", "reject", "call", "other")
NAMES = {
    "agent_inform_user": "inform",
    "inform": "inform",
    "agent_seek_information": "seek",
    "seek_info": "seek",
    "seek": "seek",
    "agent_reject_request": "reject",
    "reject": "reject",
    "agent_function_calling": "call",
    "function_calling": "call",
    "call": "call",
    "agent_other": "other",
    "other": "other",
}


class ActScores(NamedTuple):
    """How far predicted acts agree with the annotated ones.

    `accuracy` counts a turn right that has one act in common; precision, recall and f1 are over all labels. In
    `confusion` each turn weighs 1: on the acts that it has in common, else on all pairs of an annotated act and a
    predicted one; "none" stands for a prediction without any act.
    """

    turns: int
    accuracy: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    confusion: dict[str, dict[str, float]]


def read_acts(stated: object) -> frozenset[str] | None:
    """The acts of a list of labels, or of a text with commas; None where it has a word that is no label."""
    words = stated.split(",") if isinstance(stated, str) else stated
    if not isinstance(words, list | tuple | frozenset | set) or not all(isinstance(one, str) for one in words):
        return None
    labels = [str(one).strip().strip("'\"[].").lower() for one in words]
    known = [NAMES.get(label) for label in labels if label]
    return frozenset(act for act in known if act) if all(known) else None


def score_acts(pairs: Sequence[tuple[Iterable[str], Iterable[str]]]) -> ActScores:
    """Score turns, each with its annotated acts and its predicted ones."""
    turns = [(frozenset(gold), frozenset(predicted)) for gold, predicted in pairs]
    right = sum(bool(gold & predicted) for gold, predicted in turns)
    shared = sum(len(gold & predicted) for gold, predicted in turns)
    stated, due = sum(len(predicted) for _, predicted in turns), sum(len(gold) for gold, _ in turns)
    return ActScores(
        turns=len(turns),
        accuracy=right / len(turns) if turns else None,
        precision=shared / stated if stated else None,
        recall=shared / due if due else None,
        f1=2 * shared / (stated + due) if stated + due else None,
        confusion=_confuse(turns),
    )


def _confuse(turns: Sequence[tuple[frozenset[str], frozenset[str]]]) -> dict[str, dict[str, float]]:
    weights: Counter[tuple[str, str]] = Counter()
    for gold, predicted in turns:
        cells = [(act, act) for act in gold & predicted] or [
            (act, as_) for act in gold for as_ in predicted or {"none"}
        ]
        for cell in cells:
            weights[cell] += 1 / len(cells)  # type: ignore[assignment] # a Counter adds up fractions as well
    columns = [*ACTS, "none"]
    return {act: {as_: float(weights[act, as_]) for as_ in columns if weights[act, as_]} for act in ACTS}


class PredictedCallScore(NamedTuple):
    """A predicted call: whether its name is right, how many parameters it has, and how many of them are valid."""

    name_right: bool
    parameters: int
    valid: int


class Validity(NamedTuple):
    """The share of valid parameters, None where there is no parameter to judge.

    `rate` divides by the parameters of calls with the right name, as the paper's text has it; `rate_of_all` by those of
    all predicted calls, as its formula has it.
    """

    rate: float | None
    rate_of_all: float | None
    judged: int
    predicted: int


def judged_call(call: DecodedCall, gold_name: str, made_up: Iterable[str]) -> PredictedCallScore:
    """A call with a judge's word on it; names that are no parameters of the call say nothing."""
    invented = set(made_up) & call.arguments.keys()
    return PredictedCallScore(call.name == gold_name, len(call.arguments), len(call.arguments) - len(invented))


def measure_validity(calls: Sequence[PredictedCallScore]) -> Validity:
    """The validity over all calls; of a call to another tool no parameter is valid."""
    valid = sum(call.valid for call in calls if call.name_right)
    judged = sum(call.parameters for call in calls if call.name_right)
    predicted = sum(call.parameters for call in calls)
    return Validity(valid / judged if judged else None, valid / predicted if predicted else None, judged, predicted)
