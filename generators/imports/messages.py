"""Messages as turns: one reader of what was said, called and returned, for all the ways in which chats are written down.

It knows the chat completions API (with its older `function_call`), the responses API's items, blocks as Anthropic has them, parts
as OpenTelemetry's conventions have them, ShareGPT's `from` and `value`, and calls that stand in the text (Hermes' tags, lists of
Python calls, JSON). Each message becomes events; the events become turns that follow each other as those of a sample do. A
conversation that does not is refused with the number of the message, never mended by a guess.
"""

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.catalogs.catalog import shown
from callwright.generators.imports.reading import Fields, items, objects, parsed
from callwright.llm.written_calls import end_of, parse_python, python_call, read_python
from callwright.warehouse.counts import count_of
from callwright.warehouse.records import Arguments, CallTurn, GoldCall, ReplyTurn, ResultTurn, Turn, UserTurn

_SIDES = {
    "system": "system", "developer": "system",
    "user": "user", "human": "user",
    "assistant": "assistant", "gpt": "assistant", "model": "assistant", "ai": "assistant", "agent": "assistant",
    "function_call": "call", "tool_call": "call",
    "tool": "result", "function": "result", "observation": "result", "tool_response": "result", "ipython": "result",
    "tool_output": "result", "tool_result": "result",
}  # fmt: skip
_NAMES, _GIVEN = ("name", "function_name", "tool"), ("arguments", "input", "parameters", "args")
_IDS = ("tool_call_id", "call_id", "tool_use_id", "source_call_id", "id")
_RETURNED = ("output", "content", "response", "result", "value")
_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL)
_TAGGED = re.compile(r"<(tool_call|tool_response)>(.*?)</\1>", re.DOTALL)
_CALLED = re.compile(r"[\s,]*([A-Za-z_](?:[^()\[\]{}='\"\n,]{0,126}[^()\[\]{}='\"\s,])?)\(")
_SPOKEN_PARTS = frozenset({"text", "input_text", "output_text", "refusal"})
_CALL_PARTS = frozenset({"tool_use", "tool_call", "function_call", "server_tool_call", "function"})
_RESULT_PARTS = frozenset({"tool_result", "tool_call_response", "function_call_output", "server_tool_call_response"})
_SILENT_PARTS = frozenset({"reasoning", "thinking", "redacted_thinking", "summary_text"})


class UnreadableChat(ValueError):  # noqa: N818 - a reason, which becomes the record's problem
    """Why messages are no conversation that a sample can hold."""


class Spoken(NamedTuple):
    """What one side says."""

    side: str
    text: str


class Called(NamedTuple):
    """A call that the assistant makes; `id` is "" where it has none."""

    tool: str
    arguments: Arguments
    id: str = ""


class Returned(NamedTuple):
    """What a call returned; the id or the name tells which one, "" where neither is there."""

    value: JsonValue
    id: str = ""
    tool: str = ""


Event = Spoken | Called | Returned


class Chat(NamedTuple):
    """A conversation: its turns, what the assistant was told before, and what a sample has no place for, as sentences."""

    turns: tuple[Turn, ...]
    system: str = ""
    lost: tuple[str, ...] = ()


def read_chat(messages: JsonValue) -> Chat:
    """The conversation in a list of messages, or in the JSON text of one. Raises UnreadableChat that says what is wrong."""
    listed = parsed(messages)
    if not isinstance(listed, list) or not listed:
        raise UnreadableChat(f"the messages are {shown(messages)}, not a list of messages")
    gathered = _Gathered()
    for number, message in enumerate(listed, 1):
        gathered.number = number
        for event in events_of(message):
            gathered.add(event)
    return gathered.end()


def events_of(message: JsonValue) -> Iterator[Event]:
    """What one message says, calls and returns. Raises UnreadableChat where it is no message."""
    if not isinstance(message, dict):
        raise UnreadableChat(f"a message is {shown(message)}, not an object")
    kind, stated = message.get("type"), message.get("role", message.get("from"))
    if stated is None and isinstance(kind, str):
        yield from _item(kind, message)
        return
    side = _SIDES.get(str(stated).lower())
    if side is None:
        raise UnreadableChat(f"a message has the role {shown(stated)}")
    content = next((message[word] for word in ("content", "value", "parts") if message.get(word) is not None), None)
    if side == "result":
        yield from _results(content, message)
    elif side == "call":
        yield from _stated_calls(content if content is not None else message)
    else:
        single = parsed(message.get("function_call"))
        stated_calls = [*items(message.get("tool_calls")), *([single] if isinstance(single, dict) else [])]
        calls = [_call(one) for one in stated_calls]
        yield from _said(side, content, reads_calls=side == "assistant" and not calls)
        yield from calls


def _item(kind: str, item: Fields) -> Iterator[Event]:
    """An item of the responses API, or a part of a message; thoughts are nobody's words."""
    if kind in _CALL_PARTS:
        yield _call(item)
    elif kind in _RESULT_PARTS:
        yield _returned(item)
    elif kind in _SPOKEN_PARTS:
        yield Spoken("", str(item.get("text", item.get("content", item.get("refusal", "")))))
    elif kind not in _SILENT_PARTS:
        raise UnreadableChat(f"a part of a message is of the type {shown(kind)}, which is no text, call or result")


def _call(stated: JsonValue) -> Called:
    """A call, however it is wrapped. Raises UnreadableChat where it has no name, or arguments that are no object."""
    if not isinstance(stated, dict):
        raise UnreadableChat(f"a call is {shown(stated)}, not an object")
    inner = stated.get("function")
    fields = inner if isinstance(inner, dict) else stated if not isinstance(inner, str) else {**stated, "name": inner}
    name = next((fields[word] for word in _NAMES if fields.get(word)), None)
    given = next((fields[word] for word in _GIVEN if fields.get(word) is not None), {})
    arguments = parsed(given) if given != "" else {}
    if not isinstance(name, str):
        raise UnreadableChat(f"a call has the name {shown(name)}")
    if not isinstance(arguments, dict):
        raise UnreadableChat(f"the arguments of {name} are {shown(given)}, not an object")
    return Called(name, arguments, _id_of(stated))


def _id_of(fields: Fields) -> str:
    return str(next((fields[word] for word in _IDS if fields.get(word)), ""))


def _returned(fields: Fields) -> Returned:
    """What a call returned: JSON where its text is some, the text of its parts where it has any."""
    value = next((fields[word] for word in _RETURNED if word in fields), None)
    name = fields.get("name", fields.get("function"))
    if isinstance(value, list) and value and all(isinstance(one, dict) and one.get("type") == "text" for one in value):
        value = "\n".join(str(one.get("text", "")) for one in objects(value))
    return Returned(parsed(value), _id_of(fields), name if isinstance(name, str) else "")


def _results(content: JsonValue, message: Fields) -> Iterator[Returned]:
    """What a message of a tool holds: one result, or one in each of Hermes' tags, or parts with one each."""
    if isinstance(content, list) and any(str(one.get("type")) in _RESULT_PARTS for one in objects(content)):
        yield from (_returned(one) for one in content if isinstance(one, dict))
        return
    tagged = _TAGGED.findall(content) if isinstance(content, str) else []
    for _, inner in tagged:
        held = parsed(inner.strip())
        is_wrapped = isinstance(held, dict) and "content" in held and held.keys() <= {"name", "content", *_IDS}
        yield _returned(held) if is_wrapped and isinstance(held, dict) else Returned(held)
    if not tagged:
        yield _returned({**message, "content": content})


def _said(side: str, content: JsonValue, *, reads_calls: bool) -> Iterator[Event]:
    """The words and the calls of a content, in their order."""
    if content is None:
        return
    if isinstance(content, list):
        for part in content:
            if isinstance(part, str):
                yield Spoken(side, part)
                continue
            if not isinstance(part, dict) or not isinstance(part.get("type"), str):
                raise UnreadableChat(f"a part of a message is {shown(part)}")
            for event in _item(str(part["type"]), part):
                yield event._replace(side=side) if isinstance(event, Spoken) else event
        return
    if not isinstance(content, str):
        raise UnreadableChat(f"a message of the {side} has the content {shown(content)}")
    has_thoughts = side == "assistant" and _THOUGHTS.search(content)
    text = _THOUGHTS.sub("", content).strip() if has_thoughts else content
    calls = [*_calls_in(text)] if reads_calls else []
    if calls:
        text = _TAGGED.sub("", text).strip() if _TAGGED.search(text) else ""
    if text.strip():
        yield Spoken(side, text)
    yield from calls


def _calls_in(text: str) -> Iterator[Called]:
    """The calls that an assistant's text makes: in Hermes' tags, or where all of it is a list of calls."""
    tagged = [inner for tag, inner in _TAGGED.findall(text) if tag == "tool_call"]
    if tagged:
        for inner in tagged:
            yield from _stated_calls(inner.strip())
    elif text.strip().startswith("[") and text.strip().endswith("]"):
        listed = items(text)
        are_calls = all(isinstance(one, dict) and "name" in one and one.keys() & {*_GIVEN} for one in listed)
        yield from python_calls(text) or (map(_call, listed) if are_calls else ())


def _stated_calls(content: JsonValue) -> Iterator[Called]:
    """The calls of a message that holds nothing else. Raises UnreadableChat where there are none."""
    held = parsed(content)
    if isinstance(held, str):
        tagged = [inner.strip() for tag, inner in _TAGGED.findall(held) if tag == "tool_call"]
        if tagged:
            for inner in tagged:
                yield from _stated_calls(inner)
            return
        calls = python_calls(held)
        if calls:
            yield from calls
            return
        literal = read_python(held)  # as some data sets write calls
        if literal is None:
            raise UnreadableChat(f"a message of a call holds {shown(held)}, which is no call")
        held = literal
    listed = held if isinstance(held, list) else [held]
    if not listed:
        raise UnreadableChat("a message of a call holds none")
    yield from map(_call, listed)


def python_calls(text: str) -> list[Called]:
    """The calls in a list of Python calls with literal values (BFCL, ToolACE with spaces in names); none where it is no list."""
    plain = text.strip()
    inner = plain[1:-1] if plain.startswith("[") and plain.endswith("]") else plain
    calls, at = list[Called](), 0
    while named := _CALLED.match(inner, at):
        end = end_of(inner, named.end() - 1)
        call = None if end is None else _python_call(named[1].strip(), inner[named.end() - 1 : end])
        if end is None or call is None:
            return []
        calls.append(call)
        at = end
    return calls if calls and not inner[at:].strip(" ,\n") else []


def _python_call(name: str, given: str) -> Called | None:
    match parse_python(f"f{given}"):
        case [ast.Expr(value=ast.Call() as node)]:
            with suppress(ValueError, RecursionError):
                return Called(name, python_call(node).arguments)
    return None


class _Gathered:
    """The turns so far; calls wait for what they return."""

    def __init__(self) -> None:
        self.number = 0
        self._turns: list[Turn] = []
        self._system: list[str] = []
        self._lost: dict[str, None] = {}
        self._calls: list[Called] = []
        self._results: dict[int, JsonValue] = {}

    def add(self, event: Event) -> None:
        """Take in what happens next. Raises UnreadableChat where it can't come here."""
        match event:
            case Spoken(side="system", text=text):
                self._system.append(text)
            case Spoken(side="user", text=text):
                self._close()
                self._say(UserTurn(text=text))
            case Spoken(text=text):
                self._close()
                self._say(ReplyTurn(text=text))
            case Called():
                if self._results:
                    self._close()
                before = self._turns[-1] if self._turns else None
                if isinstance(before, ReplyTurn):
                    self._lost["What the assistant says beside its calls is left out."] = None
                    self._turns.pop()
                elif isinstance(before, CallTurn):
                    raise UnreadableChat(f"message {self.number} calls again before the calls before it returned")
                if not self._calls and not self._turns:
                    raise UnreadableChat("the user says nothing before the first call")
                self._calls.append(event)
            case Returned():
                self._return(event)

    def end(self) -> Chat:
        """The conversation. Raises UnreadableChat where there is none."""
        self._close()
        turns = self._turns
        if turns and isinstance(turns[0], ReplyTurn):
            self._lost["The assistant speaks before the user does; its greeting is left out."] = None
            turns = turns[1:]
        if turns and isinstance(turns[-1], UserTurn) and any(isinstance(one, CallTurn) for one in turns):
            self._lost["Nobody answers what the user says last; it is left out."] = None
            turns = turns[:-1]
        if not turns or not isinstance(turns[0], UserTurn):
            raise UnreadableChat("the user says nothing before the first call")
        if not any(isinstance(one, CallTurn) for one in turns):  # that nothing is called is what is due
            at = len(turns) - isinstance(turns[-1], ReplyTurn)
            turns = [*turns[:at], CallTurn(), *turns[at:]]
        return Chat(tuple(turns), "\n".join(self._system), tuple(self._lost))

    def _say(self, turn: UserTurn | ReplyTurn) -> None:
        before = self._turns[-1] if self._turns else None
        if not turn.text.strip():
            return
        if isinstance(before, UserTurn | ReplyTurn) and before.kind == turn.kind:
            self._turns[-1] = before.with_changes(text=f"{before.text}\n{turn.text}")
            return
        if isinstance(turn, UserTurn) and isinstance(before, CallTurn | ResultTurn):
            what = "calls that returned nothing" if isinstance(before, CallTurn) else "results that nobody told"
            raise UnreadableChat(f"message {self.number} is the user's, after {what}")
        self._turns.append(turn)

    def _return(self, result: Returned) -> None:
        places = [at for at in range(len(self._calls)) if at not in self._results]
        same = [at for at in places if result.id and self._calls[at].id == result.id]
        named = [at for at in places if result.tool and self._calls[at].tool == result.tool]
        values = result.value if isinstance(result.value, list) else []
        if not same and len(places) == len(self._calls) == len(values) > 1:
            self._results = dict(enumerate(values))  # ShareGPT has all that came back in one message
            return
        found = next(iter(same or named or places), None)
        if found is None:
            raise UnreadableChat(f"message {self.number} is a result, and no call waits for one")
        self._results[found] = result.value

    def _close(self) -> None:
        """Keep the calls that wait, with what they returned."""
        if not self._calls:
            return
        if self._results and len(self._results) < len(self._calls):
            raise UnreadableChat(
                f"before message {self.number} {len(self._results)} of {count_of(len(self._calls), 'call')} returned"
            )
        calls = tuple(GoldCall(tool=one.tool, arguments=one.arguments) for one in self._calls)
        self._turns.append(CallTurn(calls=calls, executed=bool(self._results)))
        if self._results:
            self._turns.append(ResultTurn(results=tuple(self._results[at] for at in range(len(calls)))))
        self._calls, self._results = [], {}
