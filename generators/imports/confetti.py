"""Conversations in CONFETTI's shape, that of BFCL v2, as samples: what stands in the question of a dialogue's last turn.

The published folder has answers alone. Without their questions nobody knows what was stated, and nothing is read.
"""

from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path

import orjson
from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder
from callwright.generators.catalogs.catalog import Problem, shown
from callwright.generators.catalogs.documents import DocumentItem, existing, read_rows
from callwright.generators.catalogs.papers import BFCL_WORDS, put_bfcl_function
from callwright.generators.catalogs.rewriting import renaming_types
from callwright.generators.conversations import CONVERSATION
from callwright.generators.imports.reading import (
    Fields,
    ImportedRecord,
    RecordReader,
    SampleFormat,
    broken,
    language_of_user,
    parsed,
    unread,
)
from callwright.generators.multi_step.samples import add_evidence
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.exports.bfcl import ACTS, ACTS_FILE, POSSIBLE
from callwright.warehouse.records import (
    CallTurn,
    DialogueAct,
    Message,
    Origin,
    ReplyTurn,
    ResultTurn,
    Sample,
    Turn,
    UserTurn,
    trait_tag,
)

STAGE = "import_confetti"
_ACTS: dict[str, DialogueAct] = {
    "agent_seek_information": "seek", "agent_inform_user": "inform", "agent_reject_request": "reject",
    "agent_function_calling": "call", "agent_other": "other",
}  # fmt: skip


def read_confetti_samples(path: Path) -> Iterator[ImportedRecord]:
    """Every dialogue of a folder. Raises ConfigurationError where it has no questions: answers do not tell what was stated."""
    questions = existing(path) / ACTS_FILE
    if not questions.is_file():
        missing = f"{ACTS_FILE!r} is expected beside {POSSIBLE!r}."
        raise ConfigurationError(f"{str(path)!r} has no questions of agent turns: {missing}")
    answers = {
        str(row.value.get("id")): row.value
        for row in read_rows(path / POSSIBLE / ACTS_FILE)
        if isinstance(row, DocumentItem) and isinstance(row.value, dict)
    }
    last: dict[str, tuple[str, Fields]] = {}
    for row in read_rows(questions):
        if isinstance(row, Problem):
            yield unread(row)
        elif not isinstance(row.value, dict):
            yield broken(row.where, "The row is no object.")
        else:
            dialogue, _, _number = str(row.value.get("dialog_id")).rpartition("_")
            last[dialogue] = (row.where, row.value)
    builder = CatalogBuilder("confetti", change=renaming_types(BFCL_WORDS, reported=False), by_category=False)
    for dialogue, (where, fields) in last.items():
        yield _ConfettiReader(where, builder).record(dialogue, fields, answers.get(str(fields.get("id"))))


class _ConfettiReader(RecordReader):
    word = "dialogue"

    def record(self, dialogue: str, fields: Fields, answer: Fields | None) -> ImportedRecord:
        question = fields.get("question")
        listed = [one if isinstance(one, list) else [one] for one in (question if isinstance(question, list) else [])]
        turns = self._turns([*chain.from_iterable(listed), *self._last_turn(fields, answer)])
        category = str(fields.get("category") or "")
        stated = fields.get("function")
        documents = stated if isinstance(stated, list) else []
        if not documents:
            self.refuse("0 of its 0 functions can't be used")
        tools = self.tools_of(
            documents, "function", lambda one, at: put_bfcl_function(one, at, category, "", self._builder)
        )
        if not turns or not isinstance(turns[0], UserTurn):
            self.refuse("The dialogue does not begin with the user")
        return self.imported(
            lambda: Sample(
                kind=CONVERSATION,
                language=language_of_user(turns),
                category=category,
                candidates=tuple(tool.key for tool in tools),
                turns=add_evidence(turns, {tool.name: tool for tool in tools}),
                tags=(trait_tag("confetti_dialogue", orjson.dumps(dialogue).decode()),),
                origin=Origin(stage=STAGE),
            ),
            tools,
        )

    def _last_turn(self, fields: Fields, answer: Fields | None) -> list[JsonValue]:
        """What the agent does last: as its messages, else its words alone, for nothing tells what its calls returned."""
        turn = fields.get("turn")
        if isinstance(turn, list):
            return turn
        match answer:
            case {"ground_truth": [*acts], "ground_truth_content": [*calls, str(words)]}:
                if calls:
                    self.note("incomplete_listing", f"What the last {len(calls)} calls returned is not told; left out.")
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
                self.refuse(f"{len(turn.calls)} calls have {results} results")
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
                turns.append(CallTurn(calls=tuple(self.calls_of(made, closed=False)), executed=True))
            case {"role": "assistant", "content": str(text)}:
                labels = message.get("acts")
                named = [str(label) for label in labels] if isinstance(labels, list) else []
                for label in named:
                    if label not in _ACTS:
                        self.refuse(f"A dialogue act is {label!r}, none of {', '.join(_ACTS)}")
                acts = tuple(_ACTS[label] for label in named if label in _ACTS)
                turns.append(ReplyTurn(text=text, acts=acts))
            case {"role": "tool", "content": str(text)}:
                before = turns.pop() if turns and isinstance(turns[-1], ResultTurn) else None
                known = before.results if isinstance(before, ResultTurn) else ()
                turns.append(ResultTurn(results=(*known, parsed(text))))
            case _:
                self.refuse(f"A message is {shown(message)}")


FORMAT = SampleFormat("confetti", "conversations in CONFETTI's form", read_confetti_samples)
