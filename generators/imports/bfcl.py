"""Read BFCL's questions with possible answers, and CONFETTI's conversations (as in BFCL v2).

Of BFCL, single turns are read, and steps of conversations from our own export: the first of the
accepted values is the gold, and no call is due if the category says so. Of CONFETTI, the
question of a dialogue's last turn is read. The published folder has only answers; without the
questions nothing is read.
"""

from collections.abc import Iterator, Mapping
from itertools import chain, pairwise
from pathlib import Path

from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder
from callwright.generators.catalogs.catalog import Problem, shown
from callwright.generators.catalogs.documents import DocumentItem, existing, read_rows
from callwright.generators.catalogs.papers import put_bfcl_function
from callwright.generators.conversations import CONVERSATION
from callwright.generators.imports.answers import UnreadableChat, calls_due
from callwright.generators.imports.chats import ChatReader, ChatRow, sample_files
from callwright.generators.imports.reading import (
    AcceptedValues,
    Fields,
    ImportedRecord,
    RecordReader,
    SampleFormat,
    add_result,
    broken,
    items,
    language_of_user,
    names_beside,
    parsed,
    part,
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
    PaperId,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    Turn,
    UserTurn,
)

ANSWERS = "possible_answer"
_IDLE = "irrelevance"  # in the names of the categories in which no call is due


def read_bfcl_samples(path: Path) -> Iterator[ImportedRecord]:
    """Yield the questions of a file or folder. Raises ConfigurationError if there are none."""
    chats = ChatReader("bfcl", names_beside(path))
    for file in sample_files(path):
        if ANSWERS in file.parts:
            continue
        category = file.stem.split("_", 2)[-1] if file.stem.startswith("BFCL_v") else file.stem
        answers = _answers(file)
        for row in read_rows(file):
            if isinstance(row, Problem):
                yield unread(row)
            elif isinstance(row.value, dict):
                yield _read_question(row.where, row.value, category, answers, chats)


def _answers(file: Path) -> Mapping[str, JsonValue] | None:
    """Return the ground truth of a file's questions by id; None if there is no such file."""
    beside = [folder / ANSWERS / file.name for folder in (file.parent, file.parent.parent)]
    found = next((one for one in beside if one.is_file()), None)
    if found is None:
        return None
    rows = (row.value for row in read_rows(found) if isinstance(row, DocumentItem))
    return {
        str(row["id"]): row.get("ground_truth")
        for row in rows
        if isinstance(row, dict) and "id" in row
    }


def _read_question(
    where: str,
    fields: Fields,
    category: str,
    answers: Mapping[str, JsonValue] | None,
    chats: ChatReader,
) -> ImportedRecord:
    functions = fields.get("function")
    turns = items(fields.get("question"))
    truth = answers.get(str(fields.get("id"))) if answers is not None else None
    why = ""
    if not turns or functions is None:
        why = "it has no question, or no functions (those of multi-turn questions are elsewhere)"
    elif len(turns) > 1 and isinstance(turns[0], list):
        why = "it has several turns, and only BFCL's own simulators know what calls return"
    elif truth is None and _IDLE not in category:
        why = f"no possible answer has the id {shown(fields.get('id'))}"
    due: list[JsonValue] = []
    try:
        due = [_call(one) for one in calls_due(truth if truth is not None else [])]
    except UnreadableChat as error:
        why = why or str(error)
    if why:
        return broken(where, f"The question can't be read: {why}; it is left out.")
    said: list[JsonValue] = [*(turns[0] if isinstance(turns[0], list) else turns)]
    made: list[JsonValue] = [{"role": "assistant", "tool_calls": due}] if due else []
    tools = functions if isinstance(functions, list) else None
    record = chats.chat(where, ChatRow([*said, *made], tools, category=category, is_idle=not due))
    return record._replace(item=str(fields.get("id") or ""), accepted=_accepted(record, truth))


def _accepted(record: ImportedRecord, truth: JsonValue) -> tuple[AcceptedValues, ...]:
    """Return all values that the possible answers of a single turn accept."""
    if record.sample is None or not isinstance(truth, list):
        return ()
    turn = next(
        (at for at, one in enumerate(record.sample.turns) if isinstance(one, CallTurn)), None
    )
    if turn is None:
        return ()
    return tuple(
        AcceptedValues(
            turn, place, name, tuple(_plain(one) for one in values if one != ""), "" in values
        )
        for place, answer in enumerate(truth)
        if isinstance(answer, dict)
        for stated in answer.values()
        if isinstance(stated, dict)
        for name, values in stated.items()
        if isinstance(values, list)
    )


def _call(accepted: JsonValue) -> JsonValue:
    """Return a call with the first accepted value of each parameter.

    Parameters that may be missing in the first place are left out. Raises UnreadableChat if it
    is not a tool with lists of values.
    """
    if not isinstance(accepted, dict) or len(accepted) != 1:
        raise UnreadableChat(f"a possible answer is {shown(accepted)}, not a call")
    [(tool, values)] = accepted.items()
    listed = {name: one for name, one in part(accepted, tool).items() if isinstance(one, list)}
    if not isinstance(values, dict) or len(listed) < len(values):
        raise UnreadableChat(f"the possible answer {shown(accepted)} has no lists of values")
    first = ((name, one[0]) for name, one in listed.items() if one and one[0] != "")
    return {"name": tool, "arguments": {name: _plain(value) for name, value in first}}


def _plain(value: JsonValue) -> JsonValue:
    """Return a value without the lists that the checker requires around members of objects."""
    if isinstance(value, list):
        return [_plain(one) if isinstance(one, dict) else one for one in value]
    if isinstance(value, dict):
        wrapped = {name: one[0] for name, one in value.items() if isinstance(one, list) and one}
        members = wrapped if len(wrapped) == len(value) else value
        return {name: _plain(one) for name, one in members.items()}
    return value


BFCL = SampleFormat("bfcl", "BFCL's questions with their possible answers", read_bfcl_samples)


_ACTS: dict[str, DialogueAct] = {
    "agent_seek_information": "seek",
    "agent_inform_user": "inform",
    "agent_reject_request": "reject",
    "agent_function_calling": "call",
    "agent_other": "other",
}


def read_confetti_samples(path: Path) -> Iterator[ImportedRecord]:
    """Yield every dialogue of a folder.

    Raises ConfigurationError if it has no questions: answers don't contain what was said.
    """
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
    names = names_beside(path)
    builder = CatalogBuilder("confetti", types_are_told=False, by_category=False, names=names)
    for dialogue, (where, fields) in last.items():
        yield _ConfettiReader(where, builder).record(
            dialogue, fields, answers.get(str(fields.get("id")))
        )


class _ConfettiReader(RecordReader):
    word = "dialogue"

    def record(self, dialogue: str, fields: Fields, answer: Fields | None) -> ImportedRecord:
        category, documents = str(fields.get("category") or ""), items(fields.get("function"))
        if not documents:
            self.refuse("0 of its 0 functions can't be used")
        tools = self.tools_of(
            documents,
            "function",
            lambda one, at: put_bfcl_function(one, at, category, "", self._builder),
        )
        questions = items(fields.get("question"))
        listed = (one if isinstance(one, list) else [one] for one in questions)
        turns = self._turns([*chain.from_iterable(listed), *self._last_turn(fields, answer)])
        if not turns or not isinstance(turns[0], UserTurn):
            self.refuse("The dialogue does not begin with the user")
        elif isinstance(turns[-1], UserTurn):
            self.refuse("Nobody answers what the user says last")
        return self.imported(
            lambda: Sample(
                kind=CONVERSATION,
                language=language_of_user(turns),
                category=category,
                candidates=tuple(tool.key for tool in tools),
                turns=add_evidence(turns, {tool.name: tool for tool in tools}),
                facts=SampleFacts(paper_id=PaperId("confetti", dialogue)),
                origin=Origin(stage="import_confetti"),
            ),
            tools,
        )

    def _last_turn(self, fields: Fields, answer: Fields | None) -> list[JsonValue]:
        """Return the agent's last messages, or its words alone if its calls have no results."""
        turn = fields.get("turn")
        if isinstance(turn, list):
            return turn
        match answer:
            case {"ground_truth": [*acts], "ground_truth_content": [*calls, str(words)]}:
                if calls:
                    self.note(
                        "incomplete_listing",
                        f"What the last {len(calls)} calls returned is not told; left out.",
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
                self.refuse(f"{len(turn.calls)} calls have {results} results")
        if turns and isinstance(turns[-1], CallTurn):  # due, and not carried out any more
            turns[-1] = turns[-1].with_changes(executed=False)
        return turns

    def _add(self, message: Fields, turns: list[Turn]) -> None:
        match message:
            case {"role": "user", "content": str(text)}:
                match message.get("message"):
                    case {"app": str(app), "text": str(told)}:
                        turns.append(UserTurn(text=text, external=Message(app=app, text=told)))
                    case _:
                        turns.append(UserTurn(text=text))
            case {"role": "assistant", "tool_calls": [*made]} if made:
                calls = tuple(self.calls_of(made, closed=False))
                turns.append(CallTurn(calls=calls, executed=True))
            case {"role": "assistant", "content": str(text)}:
                labels = message.get("acts")
                named = [str(label) for label in labels] if isinstance(labels, list) else []
                for label in named:
                    if label not in _ACTS:
                        self.refuse(f"A dialogue act is {label!r}, none of {', '.join(_ACTS)}")
                acts = tuple(_ACTS[label] for label in named if label in _ACTS)
                turns.append(ReplyTurn(text=text, acts=acts))
            case {"role": "tool", "content": str(text)}:
                add_result(turns, parsed(text))
            case _:
                self.refuse(f"A message is {shown(message)}")


CONFETTI = SampleFormat("confetti", "conversations in CONFETTI's form", read_confetti_samples)
