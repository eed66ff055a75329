"""Conversations in CONFETTI's shape, that of BFCL v2, as samples: what stands in the question of a dialogue's last turn.

The published folder has answers alone. Without their questions nobody knows what was stated, and nothing is read.
"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from generators.catalogs.bfcl import TYPE_WORDS, put_function
from generators.catalogs.builder import CatalogBuilder
from generators.catalogs.catalog import Problem, ProblemKind, shown
from generators.catalogs.documents import DocumentItem, existing, read_rows
from generators.catalogs.rewriting import renaming_types
from generators.conversations.family import CONVERSATION
from generators.multi_step.samples import add_evidence
from language.packs import main_language
from warehouse.errors import ConfigurationError
from warehouse.exports.confetti import ACTS, ACTS_FILE, POSSIBLE
from warehouse.records import (
    CallTurn,
    DialogueAct,
    GoldCall,
    Message,
    Origin,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
    trait_tag,
)

STAGE = "import_confetti"
_ACTS: dict[str, DialogueAct] = {
    "agent_seek_information": "seek", "agent_inform_user": "inform", "agent_reject_request": "reject",
    "agent_function_calling": "call", "agent_other": "other",
}  # fmt: skip

Fields = dict[str, JsonValue]


class ConfettiRecord(NamedTuple):
    """A dialogue as a sample with its candidate tools; `sample` is None where it can't be read: `problems` say why."""

    where: str
    sample: Sample | None
    tools: tuple[Tool, ...]
    problems: tuple[Problem, ...] = ()


def read_confetti_samples(path: Path) -> Iterator[ConfettiRecord]:
    """Every dialogue of a folder. Raises ConfigurationError where it has no questions: answers do not tell what was stated."""
    questions = existing(path) / ACTS_FILE
    if not questions.is_file():
        raise ConfigurationError(
            f"{str(path)!r} has no questions of agent turns: {ACTS_FILE!r} is expected beside {POSSIBLE!r}."
        )
    answers = {
        str(row.value.get("id")): row.value
        for row in read_rows(path / POSSIBLE / ACTS_FILE)
        if isinstance(row, DocumentItem) and isinstance(row.value, dict)
    }
    last: dict[str, tuple[str, Fields]] = {}
    for row in read_rows(questions):
        if isinstance(row, Problem) or not isinstance(row.value, dict):
            problem = row if isinstance(row, Problem) else _problem(row.where, "bad_record", "The row is no object.")
            yield ConfettiRecord(row.where, None, (), (problem,))
            continue
        dialogue, _, _number = str(row.value.get("dialog_id")).rpartition("_")
        last[dialogue] = (row.where, row.value)
    builder = CatalogBuilder("confetti", change=renaming_types(TYPE_WORDS, reported=False), by_category=False)
    for dialogue, (where, fields) in last.items():
        yield _ConfettiReader(where, builder).record(dialogue, fields, answers.get(str(fields.get("id"))))


def _problem(where: str, kind: ProblemKind, message: str) -> Problem:
    return Problem(where=where, kind=kind, message=message)


class _ConfettiReader:
    """Reads one dialogue, and gathers what was found wrong."""

    def __init__(self, where: str, builder: CatalogBuilder) -> None:
        self._where, self._builder = where, builder
        self._problems: list[Problem] = []
        self._readable = True

    def record(self, dialogue: str, fields: Fields, answer: Fields | None) -> ConfettiRecord:
        turns = self._turns([*_stated(fields.get("question")), *self._last_turn(fields, answer)])
        category = str(fields.get("category") or "")
        tools = self._tools(fields.get("function"), category)
        if not turns or not isinstance(turns[0], UserTurn):
            self._refuse("The dialogue does not begin with the user")
        if not self._readable:
            return ConfettiRecord(self._where, None, (), tuple(self._problems))
        sample = Sample(
            kind=CONVERSATION,
            language=main_language(" ".join(turn.text for turn in turns if isinstance(turn, UserTurn))),
            category=category,
            candidates=tuple(tool.key for tool in tools),
            turns=add_evidence(turns, {tool.name: tool for tool in tools}),
            tags=(trait_tag("confetti_dialogue", orjson.dumps(dialogue).decode()),),
            origin=Origin(stage=STAGE),
        )
        return ConfettiRecord(self._where, sample, tools, tuple(self._problems))

    def _last_turn(self, fields: Fields, answer: Fields | None) -> list[JsonValue]:
        """What the agent does last: as its messages, else its words alone, for nothing tells what its calls returned."""
        turn = fields.get("turn")
        if isinstance(turn, list):
            return turn
        match answer:
            case {"ground_truth": [*acts], "ground_truth_content": [*calls, str(words)]}:
                if calls:
                    self._note(
                        "incomplete_listing", f"What the last {len(calls)} calls returned is not told; left out."
                    )
                spoken: list[JsonValue] = [act for act in acts if act != ACTS["call"]]
                return [{"role": "assistant", "content": words, "acts": spoken}]
        return []

    def _turns(self, messages: list[JsonValue]) -> list[Turn]:
        turns: list[Turn] = []
        for message in messages:
            self._add(message if isinstance(message, dict) else {}, turns)
        for turn, following in pairwise(turns):
            results = len(following.results) if isinstance(following, ResultTurn) else 0
            if isinstance(turn, CallTurn) and results != len(turn.calls):
                self._refuse(f"{len(turn.calls)} calls have {results} results")
        if turns and isinstance(turns[-1], CallTurn):  # due, and not carried out any more
            turns[-1] = turns[-1].with_changes(executed=False)
        return turns

    def _add(self, message: Fields, turns: list[Turn]) -> None:
        match message:
            case {"role": "user", "content": str(text), "message": {"app": str(app), "text": str(message_text)}}:
                turns.append(UserTurn(text=text, external=Message(app=app, text=message_text)))
            case {"role": "user", "content": str(text)}:
                turns.append(UserTurn(text=text))
            case {"role": "assistant", "tool_calls": [*made]} if made:
                turns.append(CallTurn(calls=tuple(self._calls(made)), executed=True))
            case {"role": "assistant", "content": str(text)}:
                turns.append(ReplyTurn(text=text, acts=self._acts(message.get("acts"))))
            case {"role": "tool", "content": str(text)}:
                before = turns.pop() if turns and isinstance(turns[-1], ResultTurn) else None
                known = before.results if isinstance(before, ResultTurn) else ()
                turns.append(ResultTurn(results=(*known, _value(text))))
            case _:
                self._refuse(f"A message is {shown(message)}")

    def _calls(self, made: list[JsonValue]) -> Iterator[GoldCall]:
        for call in made:
            match call:
                case {"name": str(name), "arguments": dict(arguments)} if name:
                    yield GoldCall(tool=name, arguments=arguments)
                case _:
                    self._refuse(f"A call is {shown(call)}, not a name and arguments")

    def _acts(self, labels: JsonValue) -> tuple[DialogueAct, ...]:
        listed = [str(label) for label in labels] if isinstance(labels, list) else []
        for label in listed:
            if label not in _ACTS:
                self._refuse(f"A dialogue act is {label!r}, none of {', '.join(_ACTS)}")
        return tuple(_ACTS[label] for label in listed if label in _ACTS)

    def _tools(self, listed: JsonValue, category: str) -> tuple[Tool, ...]:
        before = len(self._builder.problems)
        docs = listed if isinstance(listed, list) else []
        put = [
            put_function(doc, f"{self._where}/function/{at}", category, "", self._builder)
            for at, doc in enumerate(docs)
        ]
        self._problems += self._builder.problems[before:]
        tools = tuple(tool for tool in put if tool is not None)
        if not docs or len(tools) < len(docs):
            self._refuse(f"{len(docs) - len(tools)} of its {len(docs)} functions can't be used")
        return tools

    def _refuse(self, reason: str) -> None:
        self._readable = False
        self._note("bad_record", f"{reason}; the dialogue is left out.")

    def _note(self, kind: ProblemKind, message: str) -> None:
        self._problems.append(_problem(self._where, kind, message))


def _stated(question: JsonValue) -> list[JsonValue]:
    """The messages of a question, which stand in a list of turns."""
    turns = question if isinstance(question, list) else []
    return [message for turn in turns for message in (turn if isinstance(turn, list) else [turn])]


def _value(text: str) -> JsonValue:
    """A result, which is JSON, else the text that it is."""
    try:
        value: JsonValue = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return value
