"""BFCL's format: question and possible-answer files for due calls, question files for others.

One due call makes a question of the category `multiple`; several make one of
`parallel_multiple`, or of `parallel` if there is only one tool to call. Where calls were carried
out, each step is a question of its own, after the calls and results before it; the last snapshot
always is. What nobody can know before an earlier call returns may be left out, or be the
placeholder.

The format's checker (bfcl-eval 2026.3.23, `ast_checker`) decides the shapes here. It can't say
that a call is due with fewer arguments than its tool requires, so nothing is required, and what
the gold leaves out is [""]: it may be missing, and no value of it is right but its default. It
has no word for a question or for an equal tool in place of the call. It looks one level
into objects: their members are lists of accepted values, and anything deeper is compared as it
stands. If a list mixes whole numbers and others, all are written as decimals, because the
checker wants one type. Its decoder reads calls as Python: tools and parameters have names that
are identifiers.

CONFETTI's conversations have the shape of BFCL v2: a question for each call, and one for each
agent turn with its acts.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby, permutations
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.writing import (
    UNKNOWN,
    Format,
    ReleaseSplit,
    Write,
    json_text,
    stated_id,
    user_text,
    wire_sample,
)
from callwright.warehouse.records import (
    Allowance,
    CallTurn,
    GoldCall,
    JsonSchema,
    Message,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

_TYPES = {
    "object": "dict",
    "number": "float",
    "array": "array",
    "string": "string",
    "integer": "integer",
    "boolean": "boolean",
}


_MOST_ORDERED = 4  # members of a list of which every order is written out


class DueCalls(NamedTuple):
    """What a question asks for: the calls of the turn `turn` of a sample."""

    sample: Sample
    turn: int
    calls: tuple[GoldCall, ...]


def due_turns(sample: Sample) -> Iterator[DueCalls]:
    """Yield the turns to ask about: every step carried out, and the last snapshot."""
    turns = sample.call_turns
    steps = [(at, turn) for at, turn in turns if turn.executed or at == turns[-1][0]]
    for at, turn in steps:
        yield DueCalls(sample, at, turn.calls)
    if not turns:
        yield DueCalls(sample, len(sample.turns), ())


def accepted_calls(
    calls: Iterable[GoldCall], tools: Iterable[Tool], allowances: Iterable[Allowance] = ()
) -> list[dict[str, Any]]:
    """Return each due call with the values that are right for every parameter.

    Defaults said or left out and lists without order are written as alternatives. Raises
    RecordError for an unknown tool.
    """
    allowed = list(allowances)
    calls, by_name = list(calls), {tool.name: tool for tool in tools}
    unknown = next((call.tool for call in calls if call.tool not in by_name), None)
    if unknown is not None:
        raise RecordError(
            "BFCL can't ask for a call of a tool that is no candidate: no candidate has this name."
        )
    return [
        {
            call.tool: _accepted(
                call, by_name[call.tool], [one for one in allowed if one.call == place]
            )
        }
        for place, call in enumerate(calls)
    ]


def function_docs(
    tools: Iterable[Tool], calls: Iterable[GoldCall] = (), *, with_required: bool = False
) -> list[dict[str, Any]]:
    """Return the tools as BFCL describes functions; due calls decide types that schemas lack."""
    listed = list(tools)
    given: dict[str, dict[str, JsonValue]] = {}
    for call in calls:
        given.setdefault(call.tool, {}).update(call.arguments)
    docs = [_doc(tool, given.get(tool.name, {})) for tool in listed]
    for doc, tool in zip(docs, listed, strict=True) if with_required else ():
        doc["parameters"]["required"] = [*tool.required]
    return docs


def _category(due: DueCalls) -> str:
    """Return the category of the file for these calls; several of the only tool have their own."""
    if len(due.calls) > 1:
        return "parallel" if len(due.sample.candidates) == 1 else "parallel_multiple"
    return "multiple" if due.calls else "irrelevance"


def messages_of(turns: Iterable[Turn]) -> Iterator[dict[str, str]]:
    """Yield what was said, and the executed calls with what they returned."""
    for turn in turns:
        match turn:
            case UserTurn():
                yield {"role": "user", "content": user_text(turn)}
            case ReplyTurn(text=text):
                yield {"role": "assistant", "content": text}
            case CallTurn(calls=calls, executed=True):
                yield {"role": "assistant", "content": calls_text(calls)}
            case ResultTurn(results=results):
                yield from _tool_messages(results)


def _tool_messages(results: Iterable[JsonValue]) -> Iterator[dict[str, Any]]:
    return ({"role": "tool", "content": json_text(result)} for result in results)


def calls_text(calls: Iterable[GoldCall]) -> str:
    """Return calls in the notation that BFCL's decoder reads."""
    written = []
    for call in calls:
        shown = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
        written.append(f"{call.tool}({shown})")
    return f"[{', '.join(written)}]"


def _doc(tool: Tool, given: dict[str, JsonValue]) -> dict[str, Any]:
    properties = {name: _typed(schema, given.get(name)) for name, schema in tool.properties.items()}
    return {
        **tool.signature,
        "parameters": {"type": "dict", "properties": properties, "required": []},
    }


def _typed(schema: JsonSchema, value: JsonValue = None) -> dict[str, Any]:
    """Return a parameter in BFCL's types, by its schema or else by the gold value's type."""
    offered = [*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())]
    branches = [one for one in offered if one.get("type") != "null"]
    schema = {**branches[0], **schema} if branches and "type" not in schema else schema
    declared = schema.get("type")
    if isinstance(declared, list):
        declared = next((one for one in declared if one != "null"), None)
    kind = _TYPES.get(str(declared)) or _type_of(value)
    if isinstance(value, dict | list):
        # a gold value that its schema does not allow is what is asked for all the same
        kind = _type_of(value)
    typed: dict[str, Any] = {"type": kind, "description": str(schema.get("description", ""))}
    if "enum" in schema:
        typed["enum"] = schema["enum"]
    if kind == "array":
        items = schema.get("items")
        first = value[0] if isinstance(value, list) and value else None
        typed["items"] = _typed(items if isinstance(items, dict) else {}, first)
    if kind == "dict" and isinstance(schema.get("properties"), dict):
        members = schema["properties"].items()
        typed["properties"] = {name: _typed(member) for name, member in members}
    return typed


def _type_of(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "boolean"
    return {int: "integer", float: "float", list: "array", dict: "dict"}.get(type(value), "string")


def _accepted(call: GoldCall, tool: Tool, allowances: Iterable[Allowance]) -> dict[str, list[Any]]:
    given = call.arguments
    values = {name: [_wrapped(given[name])] if name in given else [""] for name in tool.properties}
    for one in allowances:
        if one.sort == "default":
            values[one.argument] = [_wrapped(given.get(one.argument, one.value)), ""]
        elif one.sort == "order" and isinstance(one.value, list):
            values[one.argument] = [_wrapped(order) for order in _orders(one.value)]
    return {
        name: [UNKNOWN, ""] if given.get(name) == UNKNOWN else accepted
        for name, accepted in values.items()
    }


def _orders(members: list[JsonValue]) -> list[list[JsonValue]]:
    """Return a list in all orders, each once, or as it stands if it is long."""
    orders = permutations(members) if len(members) <= _MOST_ORDERED else [members]
    return [*{json_text(list(one)): list(one) for one in orders}.values()]


def _wrapped(value: JsonValue) -> JsonValue:
    """Return a value as the checker compares it: object members are put into lists."""
    if isinstance(value, dict):
        return {name: [member] for name, member in value.items()}
    if not isinstance(value, list):
        return value
    if {type(one) for one in value} == {int, float}:
        return [float(one) for one in value if isinstance(one, int | float)]
    return [_wrapped(one) if isinstance(one, dict) else one for one in value]


def _begin(part: ReleaseSplit) -> Write:
    """Write a file of questions per category, and one of answers if calls are due."""
    names, allowances = part.named(python=True), part.source.allowances

    def write(sample: Sample) -> int:
        by_key = part.source.tools
        tools = [names.shown(by_key[key]) for key in sample.candidates]
        made = [
            (
                due,
                accepted_calls(
                    due.calls,
                    tools,
                    [
                        one.with_changes(argument=names.parameter(one.argument))
                        for one in allowances(sample, due.turn, by_key)
                    ],
                ),
            )
            for due in due_turns(wire_sample(sample, names))
        ]
        for due, truth in made:
            category = _category(due)
            file = f"BFCL_v4_{category}.json"
            identity = {"id": f"{category}_{part.lines[file]}"}
            messages = list(messages_of(due.sample.turns[: due.turn]))
            functions = function_docs(tools, due.calls)
            origin = {"callwright_key": sample.key, "callwright_turn": due.turn}
            row = identity | {"question": [messages], "function": functions, **origin} | part.mark
            part.add_line(file, row)
            if truth:
                name = f"possible_answer/{file}"
                part.add_line(name, identity | {"ground_truth": truth} | part.mark_of_tests)
        return len(made)

    return write


FORMAT = Format(
    name="bfcl",
    holds=(
        "questions and accepted answers, a file a category: `multiple`, `parallel`,"
        " `parallel_multiple`, `irrelevance`"
    ),
    readers="bfcl-eval's checker and decoder",
    begin=_begin,
    has_folders=True,
)


CALLS_FILE = "BFCL_v2_conversationsclean.json"
ACTS_FILE = "BFCL_v2_dialogacts.json"
POSSIBLE = "possible_answer"
CALLS_ID, ACTS_ID = "conversationsclean", "dialogacts"
ACTS = {
    "seek": "agent_seek_information",
    "inform": "agent_inform_user",
    "reject": "agent_reject_request",
    "call": "agent_function_calling",
    "other": "agent_other",
}

Question = dict[str, Any]


def dialogue_of(sample: Sample) -> str:
    """Return the conversation's name: the one it was imported with, else its key."""
    stated = stated_id(sample, "confetti")
    return sample.key if stated is None else str(stated)


def validate_conversation(sample: Sample) -> None:
    """Raise RecordError if calls before the last turn were not executed.

    Nobody can tell what follows a call without a result; the last one, as after a shift, is only
    due.
    """
    for turn in sample.turns[:-1]:
        if isinstance(turn, CallTurn) and turn.calls and not turn.executed:
            raise RecordError(
                "CONFETTI's conversations have results, and before the last turn are calls that"
                " nobody carried out."
            )


def _calls(sample: Sample, tools: list[Tool]) -> Iterator[tuple[Question, Question]]:
    """Yield a question and an answer for each call, after the gold calls before it in its turn."""
    for at, turn in enumerate(sample.turns):
        following = [one for one in sample.turns[at + 1 : at + 2] if isinstance(one, ResultTurn)]
        for number, call in enumerate(turn.calls) if isinstance(turn, CallTurn) else ():
            before = list(sample.turns[:at])
            if number and isinstance(turn, CallTurn):
                before.append(turn.with_changes(calls=turn.calls[:number]))
                before += [one.with_changes(results=one.results[:number]) for one in following]
            docs = function_docs(tools, (call,), with_required=True)
            [answer] = accepted_calls((call,), tools)
            required_call = {name: _required(due) for name, due in answer.items()}
            question = {"question": [list(_conversation_messages(before))], "function": docs}
            yield question, {"ground_truth": [required_call]}


def _required(due: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: value for name, value in due.items() if value != [""]}


def _agent_turns(sample: Sample, tools: list[Tool]) -> Iterator[tuple[Question, Question]]:
    """Yield a question and answer for each agent turn, up to the user's next turn."""
    spoken = groupby(enumerate(sample.turns), lambda one: isinstance(one[1], UserTurn))
    for group in (list(group) for is_user, group in spoken if not is_user):
        turns = [turn for _, turn in group]
        calls = [call for turn in turns if isinstance(turn, CallTurn) for call in turn.calls]
        acts = [act for turn in turns if isinstance(turn, ReplyTurn) for act in turn.acts]
        labels = list(dict.fromkeys(ACTS[act] for act in (*(("call",) if calls else ()), *acts)))
        words = "\n\n".join(turn.text for turn in turns if isinstance(turn, ReplyTurn))
        written = []
        for call in calls:
            given = ",".join(f"{name}=[{value!r}]" for name, value in call.arguments.items())
            written.append(f"{call.tool}({given})")
        question_row = {
            "question": [list(_conversation_messages(sample.turns[: group[0][0]]))],
            "function": function_docs(tools, with_required=True),
            "turn": list(_conversation_messages(turns)),
            "category": sample.category,
        }
        yield question_row, {"ground_truth": labels, "ground_truth_content": [*written, words]}


def _conversation_messages(turns: Iterable[Turn]) -> Iterator[Question]:
    for turn in turns:
        match turn:
            case UserTurn(text=text, external=None):
                yield {"role": "user", "content": text}
            case UserTurn(text=text, external=Message(app=app, text=message)):
                yield {"role": "user", "content": text, "message": {"app": app, "text": message}}
            case ReplyTurn(text=text, acts=acts):
                labels = {"acts": [ACTS[act] for act in acts]} if acts else {}
                yield {"role": "assistant", "content": text, **labels}
            case CallTurn(calls=calls) if calls:
                made = [{"name": call.tool, "arguments": call.arguments} for call in calls]
                yield {"role": "assistant", "content": "", "tool_calls": made}
            case ResultTurn(results=results):
                yield from _tool_messages(results)


def _begin_conversations(part: ReleaseSplit) -> Write:
    """Write each question with everything said, called and returned before it.

    The published folder has only the accepted answers.

    Here every question stands beside them, with the tools; calls in its messages are objects,
    and an agent turn has all its messages, so that the original conversation can be read back.
    """
    names = part.named(python=True)

    def write(stated: Sample) -> int:
        validate_conversation(stated)
        sample = wire_sample(stated, names)
        tools = [names.shown(part.source.tools[key]) for key in sample.candidates]
        files = ((CALLS_FILE, CALLS_ID, _calls), (ACTS_FILE, ACTS_ID, _agent_turns))
        made = [(file, word, list(asked(sample, tools))) for file, word, asked in files]
        for file, word, rows in made:
            for number, (question, answer) in enumerate(rows):
                dialogue = f"{dialogue_of(stated)}_{number}"
                at = {"id": f"{word}_{part.lines[file]}", "dialog_id": dialogue}
                part.add_line(file, at | question | part.mark_of_tests)
                part.add_line(f"{POSSIBLE}/{file}", at | answer | part.mark_of_tests)
        return sum(len(rows) for _, _, rows in made)

    return write


CONFETTI = Format(
    name="confetti",
    holds=(
        "a question for each call and for each agent turn of conversations, accepted answers in"
        " `possible_answer`"
    ),
    readers="readers of BFCL v2's shape, and `release import confetti`",
    begin=_begin_conversations,
    has_folders=True,
)
