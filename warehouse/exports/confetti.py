"""Conversations in CONFETTI's shape, that of BFCL v2: a question for each call, and one for each agent turn with its acts.

A question has all that was stated, called and returned before it. The published folder has the accepted answers only. Here
every question stands beside them, with the tools; calls in its messages are objects, and an agent turn has all its messages,
so that the conversation can be read back as it was.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

import orjson

from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.bfcl import accepted_calls, function_docs
from callwright.warehouse.exports.writing import Format, Names, ReleaseSplit, Write, identifier_names, stated_id
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    Message,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

CALLS_FILE, ACTS_FILE, POSSIBLE = "BFCL_v2_conversationsclean.json", "BFCL_v2_dialogacts.json", "possible_answer"
CALLS_ID, ACTS_ID = "conversationsclean", "dialogacts"
ACTS = {
    "seek": "agent_seek_information",
    "inform": "agent_inform_user",
    "reject": "agent_reject_request",
    "call": "agent_function_calling",
    "other": "agent_other",
}

Row = dict[str, Any]


class _AnsweredQuestion(NamedTuple):
    """A question and what answers it."""

    question: Row
    answer: Row


class _CallPosition(NamedTuple):
    """A call of a conversation: the turn it belongs to, which of the turn's calls it is."""

    turn: int
    number: int
    call: GoldCall


def dialogue_of(sample: Sample) -> str:
    """What the conversation is called: the name it was imported with, else its key."""
    stated = stated_id(sample, "confetti_dialogue")
    return sample.key if stated is None else str(stated)


def validate_conversation(sample: Sample) -> None:
    """Raise RecordError where calls before the last turn were not carried out.

    Nobody can tell what comes after a call without a result; a last one, as after a shift, is due and no more.
    """
    for turn in sample.turns[:-1]:
        if isinstance(turn, CallTurn) and turn.calls and not turn.executed:
            raise RecordError(
                "CONFETTI's conversations have results, and before the last turn are calls that nobody carried out."
            )


def _calls(sample: Sample, tools: list[Tool]) -> Iterator[_AnsweredQuestion]:
    """A question for each call."""
    names = identifier_names(tools, with_parameters=False)
    for place in _places(sample):
        messages = [*_messages(sample.turns[: place.turn], names), *_half_turn(sample, place, names)]
        docs = function_docs(tools, names, (place.call,), with_required=True)
        [answer] = accepted_calls((place.call,), tools, names)
        stated = {name: {key: value for key, value in due.items() if value != [""]} for name, due in answer.items()}
        yield _AnsweredQuestion({"question": [messages], "function": docs}, {"ground_truth": [stated]})


def _places(sample: Sample) -> Iterator[_CallPosition]:
    for at, turn in enumerate(sample.turns):
        if isinstance(turn, CallTurn):
            yield from (_CallPosition(at, number, call) for number, call in enumerate(turn.calls))


def _half_turn(sample: Sample, place: _CallPosition, names: Names) -> Iterator[Row]:
    """The calls of the same turn before this one, with their results: each is asked for after the gold ones before it."""
    turn, following = sample.turns[place.turn], sample.turns[place.turn + 1 : place.turn + 2]
    if place.number and isinstance(turn, CallTurn):
        yield _call_message(turn.calls[: place.number], names)
        for result in following:
            if isinstance(result, ResultTurn):
                yield from _result_messages(result.results[: place.number])


def _agent_turns(sample: Sample, tools: list[Tool]) -> Iterator[_AnsweredQuestion]:
    """A question for each agent turn: all that the agent does before the user speaks again."""
    names = identifier_names(tools, with_parameters=False)
    spoken = enumerate(sample.turns)
    agents = (
        list(group) for is_user, group in groupby(spoken, lambda one: isinstance(one[1], UserTurn)) if not is_user
    )
    for group in agents:
        turns = [turn for _, turn in group]
        calls = [call for turn in turns if isinstance(turn, CallTurn) for call in turn.calls]
        acts = [act for turn in turns if isinstance(turn, ReplyTurn) for act in turn.acts]
        labels = list(dict.fromkeys(ACTS[act] for act in (*(("call",) if calls else ()), *acts)))
        words = "\n\n".join(turn.text for turn in turns if isinstance(turn, ReplyTurn))
        written = [_call_text(call, names) for call in calls]
        asked = {
            "question": [list(_messages(sample.turns[: group[0][0]], names))],
            "function": function_docs(tools, names, with_required=True),
            "turn": list(_messages(turns, names)),
            "category": sample.category,
        }
        yield _AnsweredQuestion(asked, {"ground_truth": labels, "ground_truth_content": [*written, words]})


def _call_text(call: GoldCall, names: Names) -> str:
    return f"{names.tool(call.tool)}({','.join(f'{name}=[{value!r}]' for name, value in call.arguments.items())})"


def _messages(turns: Iterable[Turn], names: Names) -> Iterator[Row]:
    for turn in turns:
        match turn:
            case UserTurn(text=text, external=None):
                yield {"role": "user", "content": text}
            case UserTurn(text=text, external=Message(app=app, text=message)):
                yield {"role": "user", "content": text, "message": {"app": app, "text": message}}
            case ReplyTurn(text=text, acts=acts):
                yield {"role": "assistant", "content": text} | ({"acts": [ACTS[act] for act in acts]} if acts else {})
            case CallTurn(calls=calls) if calls:
                yield _call_message(calls, names)
            case ResultTurn(results=results):
                yield from _result_messages(results)


def _call_message(calls: Iterable[GoldCall], names: Names) -> Row:
    made = [{"name": names.tool(call.tool), "arguments": call.arguments} for call in calls]
    return {"role": "assistant", "content": "", "tool_calls": made}


def _result_messages(results: Iterable[Any]) -> Iterator[Row]:
    yield from ({"role": "tool", "content": orjson.dumps(result).decode()} for result in results)


def _begin(part: ReleaseSplit) -> Write:
    def write(sample: Sample) -> int:
        validate_conversation(sample)
        tools = [part.source.tools[key] for key in sample.candidates]
        files = ((CALLS_FILE, CALLS_ID, _calls), (ACTS_FILE, ACTS_ID, _agent_turns))
        made = [(file, word, list(asked(sample, tools))) for file, word, asked in files]
        for file, word, rows in made:
            for number, row in enumerate(rows):
                at = {"id": f"{word}_{part.lines[file]}", "dialog_id": f"{dialogue_of(sample)}_{number}"}
                part.add_line(file, at | row.question | part.mark_of_tests)
                part.add_line(f"{POSSIBLE}/{file}", at | row.answer | part.mark_of_tests)
        return sum(len(rows) for _, _, rows in made)

    return write


FORMAT = Format(
    name="confetti",
    holds="a question for each call and for each agent turn of conversations, accepted answers in `possible_answer`",
    readers="readers of BFCL v2's shape, and `release import confetti`",
    begin=_begin,
    has_folders=True,
)
