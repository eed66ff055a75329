"""Reading CONFETTI's rows, as BFCL has them: accepted calls, dialogue acts, questions where there are any, predictions."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from callwright.warehouse.errors import ConfigurationError

CALLS, ACTS, POSSIBLE = "*conversationsclean*.json*", "*dialogacts*.json*", "possible_answer"
_NUMBERED = re.compile(r"^(?P<dialogue>.+)_(?P<place>\d+)$")


class DueCall(NamedTuple):
    """A call that is due: the accepted names and values, the dialogue, and which of its calls it is."""

    id: str
    dialogue: str
    place: int
    answer: dict[str, dict[str, Any]]


class AgentTurn(NamedTuple):
    """An agent turn: its acts, how many calls it makes, and how many user turns there were so far."""

    id: str
    dialogue: str
    acts: list[str]
    calls: int
    user_turns: int


class QuestionContext(NamedTuple):
    """What a question shows: the documents of its tools, and how many user turns there were so far."""

    tools: list[dict[str, Any]]
    user_turns: int


class GoldAnswers(NamedTuple):
    """All that is due: calls in their order, chains of them that belong to one turn, and agent turns."""

    calls: list[DueCall]
    chains: list[list[DueCall]]
    turns: list[AgentTurn]
    user_turns: dict[str, int]
    problems: list[str]


def read_answers(folder: Path) -> GoldAnswers:
    """The accepted calls and, where they are given, the turns. Raises ConfigurationError where there is no call."""
    place = folder / POSSIBLE if (folder / POSSIBLE).is_dir() else folder
    calls = [_due_call(row, where) for file in sorted(place.glob(CALLS)) for row, where in _rows(file)]
    if not calls:
        raise ConfigurationError(f"There is no file {CALLS} with accepted calls in {str(place)!r}.")
    turns = [_turn(row, where) for file in sorted(place.glob(ACTS)) for row, where in _rows(file)]
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


def _chains(calls: list[DueCall], calling: Mapping[str, list[AgentTurn]]) -> tuple[list[list[DueCall]], list[str]]:
    """The calls of each turn; a dialogue whose turns do not tell of its calls has a chain for each of them."""
    chains: list[list[DueCall]] = []
    problems: list[str] = []
    for dialogue, group in groupby(calls, key=lambda call: call.dialogue):
        due = list(group)
        lengths = [turn.calls for turn in calling.get(dialogue, ())]
        if sum(lengths) != len(due):
            problems.append(f"{dialogue} has {len(due)} calls, and turns that make {sum(lengths)}; each is a chain.")
            lengths = [1] * len(due)
        left = iter(due)
        chains += [[next(left) for _ in range(length)] for length in lengths]
    return chains, problems


def read_predictions(place: Path) -> dict[str, dict[str, Any]]:
    """The rows of a file, or of all files of a folder, by their ids. Raises ConfigurationError where there is none."""
    files = sorted(place.glob("**/*.json*")) if place.is_dir() else [place]
    rows = [row for file in files for row, _ in _rows(file)]
    named = {row["id"]: row for row in reversed(rows) if isinstance(row.get("id"), str)}
    if not named:
        raise ConfigurationError(f'{str(place)!r} holds no predictions: rows with an "id" are read.')
    return named


def read_questions(place: Path | None) -> dict[str, QuestionContext]:
    """The questions by their ids, where there are question files."""
    if place is None:
        return {}
    files = sorted(place.glob("*.json*")) if place.is_dir() else [place]
    return {str(row.get("id")): _asked(row) for file in files for row, _ in _rows(file)}


def _asked(row: dict[str, Any]) -> QuestionContext:
    tools, turns = row.get("function"), row.get("question")
    stated = [one for turn in turns if isinstance(turn, list) for one in turn] if isinstance(turns, list) else []
    return QuestionContext(
        [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else [],
        sum(isinstance(one, dict) and one.get("role") == "user" for one in stated),
    )


def _due_call(row: dict[str, Any], where: str) -> DueCall:
    match row:
        case {"id": str(name), "dialog_id": str(numbered), "ground_truth": [{**answer}]} if len(answer) == 1:
            dialogue, place = _numbered(numbered, where)
            tool, accepted = next(iter(answer.items()))
            if isinstance(accepted, dict) and all(isinstance(one, list) for one in accepted.values()):
                return DueCall(name, dialogue, place, {str(tool): accepted})
    raise ConfigurationError(f'{where} has no "id", "dialog_id" and "ground_truth" with one accepted call.')


def _turn(row: dict[str, Any], where: str) -> AgentTurn:
    match row:
        case {"id": str(name), "dialog_id": str(numbered), "ground_truth": [*acts], "ground_truth_content": [*stated]}:
            dialogue, place = _numbered(numbered, where)
            return AgentTurn(name, dialogue, [str(act) for act in acts], max(0, len(stated) - 1), place + 1)
    raise ConfigurationError(f'{where} has no "id", "dialog_id", "ground_truth" and "ground_truth_content".')


def _numbered(name: str, where: str) -> tuple[str, int]:
    match = _NUMBERED.match(name)
    if match is None:
        raise ConfigurationError(f"{where} has the dialogue {name!r}, which does not end in a number.")
    return match["dialogue"], int(match["place"])


def _rows(file: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects of a JSON list, or of a file with one a line. Raises ConfigurationError where it is neither."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigurationError(f"{file} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file} is not UTF-8 text: {error}.") from error
    try:
        loaded = json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in _lines(text)]
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file} is not valid JSON, nor JSON lines: {error}.") from error
    for at, row in enumerate(loaded):
        if not isinstance(row, dict):
            raise ConfigurationError(f"{file}#/{at} is no object.")
        yield row, f"{file}#/{at}"


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]
