"""The tables of CONFETTI 5 over its own rows: AST soft over calls and chains, acts, validity."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from math import prod
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from callwright.validators.metrics.confetti.bfcl import Decoded, DecodedCall, decode_calls
from callwright.validators.metrics.confetti.soft import (
    Combining,
    StringScorer,
    foresee,
    score_call,
    score_exactly,
    texts_to_compare,
)
from callwright.warehouse.errors import ConfigurationError

Row = dict[str, Any]
_AT_ONCE = 4096
CALLS_FILES, ACTS_FILES, POSSIBLE = (
    "*conversationsclean*.json*",
    "*dialogacts*.json*",
    "possible_answer",
)
RANGES = {
    "chain_length": ("1", "2", "3", "4+"),
    "user_turns": ("1-5", "6-10", "11+"),
    "tools": ("1-9", "10-19", "20+"),
}
_NUMBERED = re.compile(r"^(?P<dialogue>.+)_(?P<place>\d+)$")
ACTS = ("inform", "seek", "reject", "call", "other")
NAMES = {  # what the labels of its files and of candidates mean
    "agent_inform_user": "inform",
    "agent_seek_information": "seek",
    "seek_info": "seek",
    "agent_reject_request": "reject",
    "agent_function_calling": "call",
    "function_calling": "call",
    "agent_other": "other",
    **dict(zip(ACTS, ACTS, strict=True)),
}


class DueCall(NamedTuple):
    """A due call: accepted names and values, its dialogue, and its position there."""

    id: str
    dialogue: str
    place: int
    answer: dict[str, dict[str, Any]]


class AgentTurn(NamedTuple):
    """An agent turn: its acts, its number of calls, and the user turns so far."""

    id: str
    dialogue: str
    acts: list[str]
    calls: int
    user_turns: int


class QuestionContext(NamedTuple):
    """What a question shows: the documents of its tools, and the number of user turns so far."""

    tools: list[dict[str, Any]]
    user_turns: int


class GoldAnswers(NamedTuple):
    """Everything due: calls in their order, chains of those in one turn, and agent turns."""

    calls: list[DueCall]
    chains: list[list[DueCall]]
    turns: list[AgentTurn]
    user_turns: dict[str, int]
    problems: list[str]


class ScoredCall(NamedTuple):
    """A due call with its prediction's strict and soft score, and what is wrong with it."""

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
    """All figures; those of chains are products over calls, each predicted after gold ones."""

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
    """Return the calls of a predicted row: a text as models write it, or one object per call."""
    if row is None:
        return Decoded(None, "There is no prediction.")
    result = row.get("result")
    if isinstance(result, str):
        return decode_calls(result, any_name=True)
    if not isinstance(result, list) or not all(
        isinstance(one, dict) and len(one) == 1 for one in result
    ):
        return Decoded(None, f"The result {result!r:.200} is neither a text nor a list of calls.")
    calls: list[DecodedCall] = []
    for name, given in (pair for one in result for pair in one.items()):
        try:  # providers give the arguments of native calls as text
            arguments = json.loads(given) if isinstance(given, str) else given
        except (ValueError, RecursionError):
            arguments = None
        if not isinstance(arguments, dict):
            return Decoded(None, "The arguments of a call are no object.")
        calls.append(DecodedCall(name, arguments))
    return Decoded(calls)


def score_confetti(
    answers: GoldAnswers,
    predicted: Mapping[str, Row],
    scorer: StringScorer,
    combining: Combining = Combining(),  # noqa: B008 - a plain value that nobody changes
    questions: Mapping[str, QuestionContext] | None = None,
) -> ConfettiScores:
    """Score predicted rows against everything due; a missing prediction is worth 0."""
    contexts = questions or {}
    scored: dict[str, ScoredCall] = {}
    for start in range(0, len(answers.calls), _AT_ONCE):
        due = [
            (call, read_result(predicted.get(call.id)))
            for call in answers.calls[start : start + _AT_ONCE]
        ]
        single = (
            (call, made.calls[0]) for call, made in due if made.calls and len(made.calls) == 1
        )
        foresee(
            scorer, (pair for call, made in single for pair in texts_to_compare(made, call.answer))
        )
        scored |= {
            call.id: _score(call, made, scorer, combining, contexts.get(call.id))
            for call, made in due
        }
    products = [
        (
            chain,
            prod(scored[one.id].soft for one in chain),
            prod(scored[one.id].strict for one in chain),
        )
        for chain in answers.chains
    ]
    firsts = [chain[0].id for chain in answers.chains]
    spoken = [
        contexts[one].user_turns if one in contexts else answers.user_turns.get(one)
        for one in firsts
    ]
    tools = [len(contexts[one].tools) if one in contexts else None for one in firsts]
    unknown = predicted.keys() - scored.keys() - {turn.id for turn in answers.turns}
    return ConfettiScores(
        calls=len(scored),
        chains=len(products),
        ast_soft=fmean(one.soft for one in scored.values()),
        ast=fmean(one.strict for one in scored.values()),
        ast_soft_chains=fmean(soft for _, soft, _ in products),
        ast_chains=fmean(strict for _, _, strict in products),
        by_chain_length=_sliced(products, map(len, answers.chains), "chain_length"),
        by_user_turns=_sliced(products, spoken, "user_turns"),
        by_tools=_sliced(products, tools, "tools"),
        acts=_acts(answers, predicted),
        validity=_validity(answers, predicted),
        problems=[
            *answers.problems,
            *(f"The row {name!r} answers nothing that is asked." for name in sorted(unknown)),
            *(f"{one.id}: {one.problem}" for one in scored.values() if one.problem),
        ],
    )


def _score(
    call: DueCall,
    made: Decoded,
    scorer: StringScorer,
    combining: Combining,
    asked: QuestionContext | None,
) -> ScoredCall:
    name = next(iter(call.answer))
    document = next(
        (tool for tool in (asked.tools if asked else ()) if tool.get("name") == name), None
    )
    soft = score_call(made.calls, call.answer, scorer, combining, document)
    strict = score_call(made.calls, call.answer, score_exactly, Combining("least"), document)
    return ScoredCall(call.id, float(strict.score == 1), soft.score, made.problem)


def _sliced(
    products: Sequence[tuple[list[DueCall], float, float]], numbers: Iterable[int | None], what: str
) -> dict[str, Slice]:
    """Group the chains by the range of their number; those without a number are left out."""
    kinds: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for (_, soft, strict), number in zip(products, numbers, strict=True):
        if number is not None:
            kinds[bucket_of(number, what)].append((soft, strict))
    return {
        name: Slice(len(found), *map(fmean, zip(*found, strict=True)))
        for name, found in sorted(kinds.items(), key=lambda kind: (len(kind[0]), kind[0]))
    }


def bucket_of(number: int, what: str) -> str:
    """Return which of the paper's ranges for chains a number is in (CONFETTI 5.2)."""
    *ranges, beyond = RANGES[what]
    return next((name for name in ranges if number <= int(name.rpartition("-")[2])), beyond)


def _acts(answers: GoldAnswers, predicted: Mapping[str, Row]) -> ActScores | None:
    """Return the scores of acts over all predicted turns.

    A prediction's acts are its labels; without labels, a mere call is recognised by its form.
    None if nothing was predicted.
    """
    pairs = []
    for turn, row in ((turn, predicted[turn.id]) for turn in answers.turns if turn.id in predicted):
        acts = read_acts(row["acts"] if "acts" in row else row.get("result"))
        if acts is None and "acts" not in row and read_result(row).calls:
            acts = frozenset({"call"})
        pairs.append((read_acts(turn.acts) or frozenset(), acts or frozenset()))
    return score_acts(pairs) if pairs else None


def _validity(answers: GoldAnswers, predicted: Mapping[str, Row]) -> Validity | None:
    """Return the validity over the rows with a judge's list of made-up parameters for each call."""
    judged = []
    for due in answers.calls:
        row = predicted.get(due.id) or {}
        words = row.get("hallucinated_parameters")
        calls = read_result(row).calls if isinstance(words, list) else None
        for at, call in enumerate(calls or ()):
            word = words[at] if isinstance(words, list) and at < len(words) else []
            made_up = [str(name) for name in word] if isinstance(word, list) else []
            judged.append((call, next(iter(due.answer)), made_up))
    return measure_validity(judged) if judged else None


class ActScores(NamedTuple):
    """The agreement of predicted acts with the annotated ones.

    `accuracy` counts a turn as right if it has one act in common; precision, recall and f1 are
    over all labels. In `confusion` each turn weighs 1: on the acts in common, else on all pairs
    of an annotated and a predicted act; "none" stands for a prediction without any act.
    """

    turns: int
    accuracy: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    confusion: dict[str, dict[str, float]]


def read_acts(stated: object) -> frozenset[str] | None:
    """Return the acts of a list of labels, or a text with commas; None for an unknown label."""
    words = stated.split(",") if isinstance(stated, str) else stated
    if not isinstance(words, list | tuple | frozenset | set) or not all(
        isinstance(one, str) for one in words
    ):
        return None
    labels = [str(one).strip().strip("'\"[].").lower() for one in words]
    known = [NAMES.get(label) for label in labels if label]
    return frozenset(act for act in known if act) if all(known) else None


def score_acts(pairs: Sequence[tuple[Iterable[str], Iterable[str]]]) -> ActScores:
    """Score turns, each with its annotated and its predicted acts."""
    turns = [(frozenset(gold), frozenset(predicted)) for gold, predicted in pairs]
    right = sum(bool(gold & predicted) for gold, predicted in turns)
    shared = sum(len(gold & predicted) for gold, predicted in turns)
    predicted_count, due = (
        sum(len(predicted) for _, predicted in turns),
        sum(len(gold) for gold, _ in turns),
    )
    weights: dict[tuple[str, str], float] = defaultdict(float)
    for gold, predicted in turns:
        pairs_of = [(act, as_) for act in gold for as_ in predicted or {"none"}]
        cells = [(act, act) for act in gold & predicted] or pairs_of
        for cell in cells:
            weights[cell] += 1 / len(cells)
    return ActScores(
        turns=len(turns),
        accuracy=right / len(turns) if turns else None,
        precision=shared / predicted_count if predicted_count else None,
        recall=shared / due if due else None,
        f1=2 * shared / (predicted_count + due) if predicted_count + due else None,
        confusion={
            act: {as_: weights[act, as_] for as_ in (*ACTS, "none") if weights[act, as_]}
            for act in ACTS
        },
    )


class Validity(NamedTuple):
    """The share of valid parameters, or None if there are none to judge.

    `rate` divides by the parameters of calls with the right name, as the paper's text says;
    `rate_of_all` by those of all predicted calls, as its formula says.
    """

    rate: float | None
    rate_of_all: float | None
    judged: int
    predicted: int


def measure_validity(judged: Iterable[tuple[DecodedCall, str, Collection[str]]]) -> Validity:
    """Return the validity over predicted calls.

    Each comes with the tool that is due and the names that a judge calls made up. In a call to
    another tool no parameter is valid; names that are no parameters of a call have no effect.
    """
    valid = named = predicted = 0
    for call, due, made_up in judged:
        predicted += len(call.arguments)
        if call.name == due:
            named += len(call.arguments)
            valid += sum(name not in made_up for name in call.arguments)
    return Validity(
        valid / named if named else None, valid / predicted if predicted else None, named, predicted
    )


def read_answers(folder: Path) -> GoldAnswers:
    """Return the accepted calls and, if given, the turns.

    Raises ConfigurationError if there are no calls.
    """
    place = folder / POSSIBLE if (folder / POSSIBLE).is_dir() else folder
    calls = [
        _due_call(row, where)
        for file in sorted(place.glob(CALLS_FILES))
        for row, where in _rows(file)
    ]
    if not calls:
        problem = f"There is no file {CALLS_FILES} with accepted calls in {str(place)!r}."
        raise ConfigurationError(problem)
    turns = [
        _turn(row, where) for file in sorted(place.glob(ACTS_FILES)) for row, where in _rows(file)
    ]
    calls.sort(key=lambda call: (call.dialogue, call.place))
    calling: dict[str, list[AgentTurn]] = defaultdict(list)
    for turn in turns:
        if turn.calls:
            calling[turn.dialogue].append(turn)
    chains, problems = _chains(calls, calling)
    user_turns = {
        chain[0].id: turn.user_turns
        for dialogue, group in groupby(chains, key=lambda chain: chain[0].dialogue)
        for chain, turn in zip(group, calling.get(dialogue, ()), strict=False)
    }
    return GoldAnswers(calls, chains, turns, user_turns, problems)


def _chains(
    calls: list[DueCall], calling: Mapping[str, list[AgentTurn]]
) -> tuple[list[list[DueCall]], list[str]]:
    """Return the calls of each turn, or each call alone if turns don't fit, and problems."""
    chains: list[list[DueCall]] = []
    problems: list[str] = []
    for dialogue, group in groupby(calls, key=lambda call: call.dialogue):
        due = list(group)
        lengths = [turn.calls for turn in calling.get(dialogue, ())]
        if sum(lengths) != len(due):
            problems.append(
                f"{dialogue} has {len(due)} calls, and turns that make {sum(lengths)}; each is a"
                " chain."
            )
            lengths = [1] * len(due)
        left = iter(due)
        chains += [[next(left) for _ in range(length)] for length in lengths]
    return chains, problems


def read_predictions(place: Path) -> dict[str, dict[str, Any]]:
    """Return the rows of a file, or of all files of a folder, by id.

    Raises ConfigurationError if there are none.
    """
    files = sorted(place.glob("**/*.json*")) if place.is_dir() else [place]
    rows = [row for file in files for row, _ in _rows(file)]
    named = {row["id"]: row for row in reversed(rows) if isinstance(row.get("id"), str)}
    if not named:
        problem = f'{str(place)!r} holds no predictions: rows with an "id" are read.'
        raise ConfigurationError(problem)
    return named


def read_questions(place: Path | None) -> dict[str, QuestionContext]:
    """Return the questions by id, if there are question files."""
    if place is None:
        return {}
    files = sorted(place.glob("*.json*")) if place.is_dir() else [place]
    contexts: dict[str, QuestionContext] = {}
    for row in (row for file in files for row, _ in _rows(file)):
        tools, turns = (
            (row[name] if isinstance(row.get(name), list) else [])
            for name in ("function", "question")
        )
        stated = [one for turn in turns if isinstance(turn, list) for one in turn]
        users = sum(isinstance(one, dict) and one.get("role") == "user" for one in stated)
        contexts[str(row.get("id"))] = QuestionContext(
            [tool for tool in tools if isinstance(tool, dict)], users
        )
    return contexts


def _due_call(row: dict[str, Any], where: str) -> DueCall:
    match row:
        case {"id": str(name), "dialog_id": str(numbered), "ground_truth": [{**answer}]} if (
            len(answer) == 1
        ):
            dialogue, place = _numbered(numbered, where)
            tool, accepted = next(iter(answer.items()))
            if isinstance(accepted, dict) and all(
                isinstance(one, list) for one in accepted.values()
            ):
                return DueCall(name, dialogue, place, {str(tool): accepted})
    problem = f'{where} has no "id", "dialog_id" and "ground_truth" with one accepted call.'
    raise ConfigurationError(problem)


def _turn(row: dict[str, Any], where: str) -> AgentTurn:
    match row:
        case {
            "id": str(name),
            "dialog_id": str(numbered),
            "ground_truth": [*acts],
            "ground_truth_content": [*stated],
        }:
            dialogue, place = _numbered(numbered, where)
            return AgentTurn(
                name, dialogue, [str(act) for act in acts], max(0, len(stated) - 1), place + 1
            )
    problem = f'{where} has no "id", "dialog_id", "ground_truth" and "ground_truth_content".'
    raise ConfigurationError(problem)


def _numbered(name: str, where: str) -> tuple[str, int]:
    match = _NUMBERED.match(name)
    if match is None:
        problem = f"{where} has the dialogue {name!r}, which does not end in a number."
        raise ConfigurationError(problem)
    return match["dialogue"], int(match["place"])


def _rows(file: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the objects of a JSON list, or of a file with one per line.

    Raises ConfigurationError if it is neither.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigurationError(f"{file} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file} is not UTF-8 text: {error}.") from error
    try:
        lines = (line for line in text.split("\n") if line.strip())
        loaded = json.loads(text) if text.lstrip().startswith("[") else list(map(json.loads, lines))
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file} is not valid JSON, nor JSON lines: {error}.") from error
    for at, row in enumerate(loaded):
        if not isinstance(row, dict):
            raise ConfigurationError(f"{file}#/{at} is no object.")
        yield row, f"{file}#/{at}"
