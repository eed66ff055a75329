"""Read BFCL's questions with possible answers, and CONFETTI's conversations (as in BFCL v2).

Of BFCL's single turns, and of steps of conversations from our own export, the first of the
accepted values is the gold, and no call is due if the category says so; several turns are read
in `bfcl_turns.py`. Of CONFETTI, the question of a dialogue's last turn is read. The published
folder has only answers; without the questions nothing is read.
"""

from collections.abc import Iterator, Mapping
from itertools import chain, pairwise
from pathlib import Path

from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder
from callwright.generators.catalogs.catalog import Problem, shown
from callwright.generators.catalogs.documents import DocumentItem, existing, read_rows
from callwright.generators.catalogs.papers import LANGUAGES, put_bfcl_function
from callwright.generators.conversations import CONVERSATION
from callwright.generators.imports.answers import UnreadableChat, calls_due
from callwright.generators.imports.bfcl_turns import DOCUMENTS, TurnsReader, beside
from callwright.generators.imports.chats import ChatReader, ChatRow, sample_files
from callwright.generators.imports.reading import (
    AcceptedValues,
    Fields,
    ImportedRecord,
    RecordReader,
    SampleFormat,
    add_result,
    broken,
    item_of,
    items,
    language_of_user,
    names_beside,
    parsed,
    part,
    unread,
)
from callwright.generators.multi_step.samples import add_evidence
from callwright.warehouse.counts import count_of
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
_ANY_CALL = "relevance"  # and of those in which some call is due, whichever it is
_UNTYPED = frozenset({"any", "string"})  # types of Java and JavaScript that code fits as it is


def read_bfcl_samples(path: Path) -> Iterator[ImportedRecord]:
    """Yield the questions of a file or folder, and one record for all of a file without gold.

    Raises ConfigurationError if there are none.
    """
    names = names_beside(path)
    chats = ChatReader("bfcl", names)
    for file in sample_files(path):
        if not {ANSWERS, DOCUMENTS} & {*file.parts}:
            yield from _read_file(file, chats, TurnsReader(file, names))


def _read_file(file: Path, chats: ChatReader, turns: TurnsReader) -> Iterator[ImportedRecord]:
    category = file.stem.split("_", 2)[-1] if file.stem.startswith("BFCL_v") else file.stem
    answers = _answers(file)
    without_gold = 0
    for row in read_rows(file):
        if isinstance(row, Problem):
            yield unread(row)
        elif isinstance(row.value, dict):
            fields = row.value
            identity = item_of(fields)
            truth = answers.get(identity) if answers is not None else None
            if _has_no_gold(fields, truth, category):
                without_gold += 1
                continue
            if "involved_classes" in fields:
                record = turns.record(row.where, fields, truth)
            else:
                record = _read_question(row.where, fields, category, truth, chats)
            yield record._replace(item=identity, line=row.line)
    if without_gold:
        reason = (
            f"The gold of {count_of(without_gold, 'question')} of {file.name} names no calls, so"
            " nothing is read of them."
        )
        yield unread(Problem(where=str(file), kind="no_gold", message=reason))


def _has_no_gold(fields: Fields, truth: JsonValue, category: str) -> bool:
    """Whether a question's gold is a text, or only that some call is due."""
    if truth is None:
        return category.endswith(_ANY_CALL) and _IDLE not in category
    texts = items(truth)
    return "involved_classes" in fields and bool(texts) and isinstance(texts[0], str)


def _answers(file: Path) -> Mapping[str, JsonValue] | None:
    """Return the ground truth of a file's questions by id; None if there is no such file."""
    found = beside(file, ANSWERS, file.name)
    if found is None:
        return None
    rows = (row.value for row in read_rows(found) if isinstance(row, DocumentItem))
    return {
        str(row["id"]): row.get("ground_truth")
        for row in rows
        if isinstance(row, dict) and "id" in row
    }


def _read_question(
    where: str, fields: Fields, category: str, truth: JsonValue, chats: ChatReader
) -> ImportedRecord:
    functions = fields.get("function")
    turns = items(fields.get("question"))
    why = ""
    if not turns or functions is None:
        why = "it has no question, or no functions"
    elif len(turns) > 1 and isinstance(turns[0], list):
        why = "it has several turns and no classes, so that nobody knows what its calls return"
    elif truth is None and _IDLE not in category:
        why = f"no possible answer has the id {shown(fields.get('id'))}"
    due: list[JsonValue] = []
    try:
        due = [first_call(one) for one in calls_due(truth if truth is not None else [])]
    except UnreadableChat as error:
        why = why or str(error)
    if why:
        return broken(where, f"The question can't be read: {why}; it is left out.")
    said: list[JsonValue] = [*(turns[0] if isinstance(turns[0], list) else turns)]
    made: list[JsonValue] = [{"role": "assistant", "tool_calls": due}] if due else []
    tools = functions if isinstance(functions, list) else None
    if tools and category.endswith(tuple(f"_{name}" for name in LANGUAGES)):
        tools = [_with_code(one) for one in tools]
    record = chats.chat(where, ChatRow([*said, *made], tools, category=category, is_idle=not due))
    return record._replace(accepted=_accepted(record, truth))


def _with_code(schema: JsonValue) -> JsonValue:
    """Return a function or schema whose values may be code: a variable, a constant, a call.

    The answers for Java and JavaScript have code as text in the place of any value.
    """
    if not isinstance(schema, dict):
        return schema
    kept = dict(schema)
    if isinstance(parameters := schema.get("parameters"), dict):  # an object, and never code
        kept["parameters"] = {**parameters, **_members_with_code(parameters)}
        return kept
    if isinstance(kind := schema.get("type"), str) and kind.lower() not in _UNTYPED:
        kept["type"] = [kind, "string"]
    if "items" in schema:
        kept["items"] = _with_code(schema["items"])
    return {**kept, **_members_with_code(schema)}


def _members_with_code(schema: Fields) -> Fields:
    members = schema.get("properties")
    if not isinstance(members, dict):
        return {}
    return {"properties": {name: _with_code(one) for name, one in members.items()}}


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
        AcceptedValues(turn, place, path, tuple(map(_plain, _present(values))), "" in values)
        for place, answer in enumerate(truth)
        if isinstance(answer, dict)
        for stated in answer.values()
        if isinstance(stated, dict)
        for path, values in _with_members(stated)
    )


def _with_members(stated: Fields) -> Iterator[tuple[str, list[JsonValue]]]:
    """Yield the accepted values of each argument, then those of the members of its first value."""
    for name, values in stated.items():
        if not isinstance(values, list):
            continue
        yield name, values
        first = next(iter(_present(values)), None)
        listed = enumerate(first) if isinstance(first, list) else ()
        for path, whole in ((name, first), *((f"{name}[{at}]", one) for at, one in listed)):
            for member, accepted in _members(whole).items():
                yield f"{path}.{member}", accepted


def _present(values: list[JsonValue]) -> list[JsonValue]:
    """Return accepted values without the empty text, which says that there may be none."""
    return [one for one in values if one != ""]


def first_call(accepted: JsonValue) -> Fields:
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
    arguments = {name: _plain(value) for name, value in _first_of_each(listed).items()}
    return {"name": tool, "arguments": arguments}


def _first_of_each(listed: Mapping[str, list[JsonValue]]) -> Fields:
    """Return the first value of each name, without those that are missing in the first place."""
    return {name: values[0] for name, values in listed.items() if values and values[0] != ""}


def _plain(value: JsonValue) -> JsonValue:
    """Return a value with the first accepted value of each member of an object, or of its objects.

    The checker looks one level deep: what stands in a member is as it is.
    """
    if isinstance(value, list):
        return [_plain_object(one) for one in value]
    return _plain_object(value)


def _plain_object(value: JsonValue) -> JsonValue:
    members = _members(value)
    return _first_of_each(members) if members else value


def _members(value: JsonValue) -> dict[str, list[JsonValue]]:
    """Return the accepted values of an object's members; {} if they are not listed."""
    members = value if isinstance(value, dict) else {}
    listed = {name: one for name, one in members.items() if isinstance(one, list)}
    return listed if len(listed) == len(members) else {}


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
    last: dict[str, tuple[DocumentItem, Fields]] = {}
    for row in read_rows(questions):
        if isinstance(row, Problem):
            yield unread(row)
        elif not isinstance(row.value, dict):
            yield broken(row.where, "The row is no object.")
        else:
            dialogue, _, _number = str(row.value.get("dialog_id")).rpartition("_")
            last[dialogue] = (row, row.value)
    names = names_beside(path)
    builder = CatalogBuilder("confetti", types_are_told=False, by_category=False, names=names)
    for dialogue, (row, fields) in last.items():
        answer = answers.get(str(fields.get("id")))
        record = _ConfettiReader(row.where, builder).record(dialogue, fields, answer)
        yield record._replace(item=dialogue, line=row.line)


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
