"""OpenAI's chat format for fine-tuning: a row for each thing that an assistant should do, which its last message is.

A row asks the question while a required argument is missing, calls once all are known, answers after a result, or says that
no tool fits. Messages of the assistant before the last one have the weight 0: each is taught by the row that ends with it.
Where a row came from stands in a second file, line by line: the format has no place for it.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, assert_never

import orjson

from warehouse.exports.callnavi import UNKNOWN
from warehouse.exports.describing import plain_names, tool_document, user_text
from warehouse.records import CallTurn, GoldCall, ReplyTurn, ResultTurn, Sample, Tool, Turn, UserTurn
from warehouse.releases import ReleaseContent

Message = dict[str, Any]
MOST_TOOLS = 128
NOT_ASKED = "a required argument is missing, and nobody asks for it"
NO_WORDS = "no tool fits, and we have no words to say so in this language"
NOT_KNOWN = "a value is known from the result of an earlier call only, which was not made"
NO_SUCH_TOOL = "a call is due whose tool is no candidate, or with an argument that its tool does not declare"


class OpenAIRow(NamedTuple):
    """A row, and where it comes from."""

    row: dict[str, Any]
    origin: dict[str, Any]


class LeftOut(NamedTuple):
    """A place of a sample that makes no row, and why."""

    sample: Sample
    turn: int
    reason: str


def openai_rows(content: ReleaseContent) -> Iterator[OpenAIRow | LeftOut]:
    """All that the samples of a release teach, sample by sample; tool names are made plain."""
    for sample in content.samples:
        tools = {content.tools[key].name: content.tools[key] for key in sample.candidates}
        refusal = content.refusals.get(sample.language, "")
        for at in _taught(sample.turns):
            problem = _problem(sample.turns, at, tools) or ("" if refusal else _wordless(sample.turns, at))
            yield LeftOut(sample, at, problem) if problem else _row(sample, at, tools, refusal)


def _taught(turns: Sequence[Turn]) -> Iterator[int]:
    """The turns that an assistant takes: snapshots, and what it says to a user or after a result."""
    for at, turn in enumerate(turns):
        before = turns[at - 1] if at else None
        if isinstance(turn, CallTurn) or (isinstance(turn, ReplyTurn) and isinstance(before, UserTurn | ResultTurn)):
            yield at


def _problem(turns: Sequence[Turn], at: int, tools: dict[str, Tool]) -> str:
    """Why a turn can't be taught, "" where it can."""
    made = [call for turn in turns[:at] if isinstance(turn, CallTurn) and turn.executed for call in turn.calls]
    turn = turns[at]
    due = list(turn.calls) if isinstance(turn, CallTurn) else []
    if any(_is_undeclared(call, tools) for call in (*made, *due)):
        return NO_SUCH_TOOL
    if any(_is_open(call) for call in (*made, *due)):
        return NOT_KNOWN
    if any(_lacks(call, tools) for call in made):
        return NOT_ASKED
    is_asked = isinstance(_following(turns, at), ReplyTurn)
    return NOT_ASKED if any(_lacks(call, tools) for call in due) and not is_asked else ""


def _wordless(turns: Sequence[Turn], at: int) -> str:
    turn = turns[at]
    is_worded = isinstance(_following(turns, at), ReplyTurn)
    return "" if is_worded or not isinstance(turn, CallTurn) or turn.calls else NO_WORDS


def _is_undeclared(call: GoldCall, tools: dict[str, Tool]) -> bool:
    return call.tool not in tools or not call.arguments.keys() <= tools[call.tool].properties.keys()


def _is_open(call: GoldCall) -> bool:
    return UNKNOWN in orjson.dumps(call.arguments).decode()


def _lacks(call: GoldCall, tools: dict[str, Tool]) -> bool:
    return any(name not in call.arguments for name in tools[call.tool].required)


def _following(turns: Sequence[Turn], at: int) -> Turn | None:
    return turns[at + 1] if at + 1 < len(turns) else None


def _row(sample: Sample, at: int, tools: dict[str, Tool], refusal: str) -> OpenAIRow:
    names = plain_names(tools.values())
    last = _last_message(sample.turns, at, tools, names, refusal)
    system = [{"role": "system", "content": sample.system_message}] if sample.system_message else []
    messages = [*system, *_messages(sample.turns[:at], names), last]
    called = {call.tool for turn in sample.turns if isinstance(turn, CallTurn) for call in turn.calls}
    shown = _shown(list(tools.values()), called)
    listed = [{"type": "function", "function": tool_document(tool, names[tool.name])} for tool in shown]
    row: dict[str, Any] = {"messages": messages} | ({"tools": listed} if listed else {})
    origin = {
        "key": sample.key, "turn": at, "kind": sample.kind, "language": sample.language, "category": sample.category,
        "names": {plain: name for name, plain in names.items() if plain != name},
        "tools_left_out": [tool.name for tool in tools.values() if tool not in shown],
    }  # fmt: skip
    return OpenAIRow(row, origin)


def _shown(tools: list[Tool], called: set[str]) -> list[Tool]:
    """At most 128 tools in their order, those that are called among them."""
    needless = [tool.name for tool in tools if tool.name not in called]
    dropped = set(needless[max(0, MOST_TOOLS - (len(tools) - len(needless))) :])
    return [tool for tool in tools if tool.name not in dropped]


def _last_message(
    turns: Sequence[Turn], at: int, tools: dict[str, Tool], names: dict[str, str], refusal: str
) -> Message:
    """What the assistant should do at a turn."""
    turn, following = turns[at], _following(turns, at)
    if isinstance(turn, ReplyTurn):
        return {"role": "assistant", "content": turn.text}
    calls = turn.calls if isinstance(turn, CallTurn) else ()
    if calls and not any(_lacks(call, tools) for call in calls):
        return {"role": "assistant", "tool_calls": _tool_calls(calls, names, at)}
    stated = following.text if isinstance(following, ReplyTurn) else refusal
    return {"role": "assistant", "content": stated}


def _messages(turns: Iterable[Turn], names: dict[str, str]) -> Iterator[Message]:
    """What was stated, called and returned; a snapshot at which nothing was carried out says nothing."""
    for at, turn in enumerate(turns):
        match turn:
            case UserTurn():
                yield {"role": "user", "content": user_text(turn)}
            case CallTurn(calls=calls, executed=executed):
                if executed and calls:
                    yield {"role": "assistant", "tool_calls": _tool_calls(calls, names, at), "weight": 0}
            case ResultTurn(results=results):
                for number, result in enumerate(results):
                    content = result if isinstance(result, str) else orjson.dumps(result).decode()
                    yield {"role": "tool", "tool_call_id": f"call_{at - 1}_{number}", "content": content}
            case ReplyTurn(text=text):
                yield {"role": "assistant", "content": text, "weight": 0}
            case _:
                assert_never(turn)


def _tool_calls(calls: Iterable[GoldCall], names: dict[str, str], turn: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{turn}_{number}",
            "type": "function",
            "function": {"name": names[call.tool], "arguments": orjson.dumps(call.arguments).decode()},
        }
        for number, call in enumerate(calls)
    ]
