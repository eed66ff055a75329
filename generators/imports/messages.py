"""Read messages as turns, whatever the notation of what was said, called and returned.

It knows the chat completions API (with its older `function_call`), the items of the responses
API, Anthropic's blocks, the parts of OpenTelemetry's conventions, ShareGPT's `from` and `value`,
and calls in the text (`answers.py`). Each message becomes events; the events become turns in the
order of a sample. A conversation in another order, or with an unreadable answer, is refused with
the number of the message, never repaired by guessing.
"""

from collections.abc import Iterator
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.catalogs.catalog import shown
from callwright.generators.imports.answers import (
    Called,
    UnreadableChat,
    call_of,
    calls_of_message,
    differ,
    id_of,
    is_absent,
    read_answer,
    refuse_failed,
    refuse_withheld,
)
from callwright.generators.imports.reading import Fields, items, objects, parsed
from callwright.warehouse.counts import count_of
from callwright.warehouse.records import CallTurn, GoldCall, ReplyTurn, ResultTurn, Turn, UserTurn

_SIDES = {
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "gpt", "model", "ai", "agent"), "assistant"),
    **dict.fromkeys(("function_call", "tool_call"), "call"),
    **dict.fromkeys(("tool", "function", "observation", "tool_response"), "result"),
    **dict.fromkeys(("ipython", "tool_output", "tool_result"), "result"),
}
_RETURNED = ("output", "content", "response", "result", "value")
_RESPONSE = ("<tool_response>", "</tool_response>")
_SPOKEN_PARTS = frozenset({"text", "input_text", "output_text", "refusal"})
_CALL_PARTS = frozenset({"tool_use", "tool_call", "function_call", "server_tool_call", "function"})
_RESULT_PARTS = frozenset(
    {"tool_result", "tool_call_response", "function_call_output", "server_tool_call_response"}
)
_SILENT_PARTS = frozenset({"reasoning", "thinking", "redacted_thinking", "summary_text"})
_CUT = dict.fromkeys(("length", "max_tokens"), "was cut off")
_CUT |= {"content_filter": "was withheld", "error": "failed"}
_MOST_CALLS = 1000  # at once: no person reads more
# how an answer with calls ends
_CALLING = frozenset({"tool_calls", "tool_call", "function_call", "tool_use"})


class Spoken(NamedTuple):
    """The words of one side."""

    side: str
    text: str


class Returned(NamedTuple):
    """A call's result; its id or name tells which call, and is "" if missing."""

    value: JsonValue
    id: str = ""
    tool: str = ""


Event = Spoken | Called | Returned


class Chat(NamedTuple):
    """A conversation: its turns, the system message, and notes on what a sample can't hold."""

    turns: tuple[Turn, ...]
    system: str = ""
    lost: tuple[str, ...] = ()


def read_chat(messages: JsonValue, *, is_idle: bool = False) -> Chat:
    """Read the conversation in a list of messages or its JSON text.

    `is_idle` says that no call is due at its end. Raises UnreadableChat that says what is wrong.
    """
    listed = parsed(messages)
    if not isinstance(listed, list) or not listed:
        raise UnreadableChat(f"the messages are {shown(messages)}, not a list of messages")
    gathered = _Gathered()
    for number, message in enumerate(listed, 1):
        gathered.number = number
        events = [*events_of(message)]
        if not events and _is_answer(message):
            gathered.note_silence()
        for event in events:
            gathered.add(event)
    return gathered.end(is_idle=is_idle)


def _is_answer(message: JsonValue) -> bool:
    """Whether a message is the assistant's, as items without a role are."""
    stated = message.get("role", message.get("from")) if isinstance(message, dict) else None
    return stated is None or _SIDES.get(str(stated).lower()) in ("assistant", "call")


def events_of(message: JsonValue) -> Iterator[Event]:
    """Yield the words, calls and results of one message.

    Raises UnreadableChat if it is no message, or can't be read.
    """
    if not isinstance(message, dict):
        raise UnreadableChat(f"a message is {shown(message)}, not an object")
    kind, role_name = message.get("type"), message.get("role", message.get("from"))
    if role_name is None and isinstance(kind, str):
        yield from _item(kind, message, "assistant")
        return
    content = _first(message, "content", "value", "parts")
    match _SIDES.get(str(role_name).lower()):
        case "result":
            yield from _results(content, message)
        case "call":
            yield from calls_of_message(content if content is not None else message)
        case "assistant":
            yield from _answered(content, message)
        case str(side):
            yield from _said(side, content)
        case None:
            raise UnreadableChat(f"a message has the role {shown(role_name)}")


def _first(fields: Fields, *names: str) -> JsonValue:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _answered(content: JsonValue, message: Fields) -> Iterator[Event]:
    """Yield the assistant's words and calls in a message; calls are beside or in its content.

    Raises UnreadableChat.
    """
    for word in ("finish_reason", "stop_reason"):
        if (reason := _CUT.get(str(message.get(word)))) is not None:
            raise UnreadableChat(f"an answer {reason} ({word} {message[word]!r})")
    if invalid := items(message.get("invalid_tool_calls")):
        raise UnreadableChat(f"an answer has calls that were found invalid: {shown(invalid)}")
    calls = _calls_beside(message)
    content_events = [*_said("assistant", content or message.get("refusal"))]
    within = [one for one in content_events if isinstance(one, Called)]
    if calls and within and differ(calls, within):  # some logs have the same calls in both places
        others = shown([one.tool for one in within])
        raise UnreadableChat(f"an answer makes calls, and others in its content: {others}")
    ends = {str(message.get("finish_reason")), str(message.get("stop_reason"))}
    if not (calls or within) and _CALLING & ends:
        raise UnreadableChat("an answer ends in a call, and has none")
    yield from (one for one in content_events if not (calls and isinstance(one, Called)))
    yield from calls


def _calls_beside(message: Fields) -> list[Called]:
    """Return the calls beside a message's content.

    Raises UnreadableChat if they can't be read.
    """
    listed, single = parsed(message.get("tool_calls")), parsed(message.get("function_call"))
    if not isinstance(listed, list) and listed:
        raise UnreadableChat(f"the calls of a message are {shown(listed)}, not a list")
    if not isinstance(single, dict) and single:
        raise UnreadableChat(f"the call of a message is {shown(single)}, not an object")
    calls = [*map(call_of, items(listed))]
    older = call_of(single) if isinstance(single, dict) and single else None
    if older and older[:2] not in [one[:2] for one in calls]:  # some loggers write both forms
        calls.append(older)
    return calls


def _item(kind: str, item: Fields, side: str) -> Iterator[Event]:
    """Read an item of the responses API, or a part of a message; thoughts are skipped."""
    if kind in _CALL_PARTS:
        yield call_of(item)
    elif kind in _RESULT_PARTS:
        yield _returned(item)
    elif kind in _SPOKEN_PARTS:
        text = _first(item, "text", "content", "refusal")
        yield from _spoken(side, "" if text is None else text)
    elif kind not in _SILENT_PARTS:
        what = "which is no text, call or result"
        raise UnreadableChat(f"a part of a message is of the type {shown(kind)}, {what}")


def _spoken(side: str, text: JsonValue) -> Iterator[Event]:
    """Yield the words of a text, and the calls in it if the assistant writes it.

    Raises UnreadableChat if it can't be read.
    """
    if not isinstance(text, str):
        raise UnreadableChat(f"a message of the {side} has the content {shown(text)}")
    if side != "system":
        refuse_withheld(text)
    if side == "assistant":
        refuse_failed(text)
    if side == "assistant" and is_absent(text):
        return
    said, calls = read_answer(text) if side == "assistant" else (text, ())
    if said.strip():
        yield Spoken(side, said)
    yield from calls


def _returned(fields: Fields) -> Returned:
    """Return a call's result: its JSON if the text is JSON, or the text of its parts."""
    value = next((fields[word] for word in _RETURNED if word in fields), None)
    name = fields.get("name", fields.get("function"))
    texts = [str(one.get("text", "")) for one in objects(value) if one.get("type") == "text"]
    if isinstance(value, list) and value and len(texts) == len(value):
        value = "\n".join(texts)
    return Returned(parsed(value), id_of(fields), name if isinstance(name, str) else "")


def _results(content: JsonValue, message: Fields) -> Iterator[Returned]:
    """Yield a tool message's results: one, or one for each Hermes tag or result part."""
    parts = objects(content) if isinstance(content, list) else []
    if any(str(one.get("type")) in _RESULT_PARTS for one in parts):
        yield from map(_returned, parts)
        return
    tagged = [*_responses_in(content)] if isinstance(content, str) else []
    for inner in tagged:
        held = parsed(inner)
        is_wrapped = isinstance(held, dict) and "content" in held and held.keys() <= _WRAPPING
        yield _returned(held) if is_wrapped and isinstance(held, dict) else Returned(held)
    if not tagged:
        yield _returned({**message, "content": content})


_WRAPPING = frozenset(
    {"name", "content", "tool_call_id", "call_id", "tool_use_id", "source_call_id", "id"}
)


def _responses_in(text: str) -> Iterator[str]:
    """Yield the content of each of Hermes' tags around a result."""
    opening, closing = _RESPONSE
    at = text.find(opening)
    while at >= 0 and (end := text.find(closing, at)) >= 0:
        yield text[at + len(opening) : end].strip()
        at = text.find(opening, end)


def _said(side: str, content: JsonValue) -> Iterator[Event]:
    """Yield the words and the calls of a content, in order."""
    if isinstance(content, list):
        for part in content:
            if isinstance(part, str):
                yield from _spoken(side, part)
            elif isinstance(part, dict) and isinstance(part.get("type"), str):
                yield from _item(str(part["type"]), part, side)
            else:
                raise UnreadableChat(f"a part of a message is {shown(part)}")
    elif content is not None:
        yield from _spoken(side, content)


class _Gathered:
    """The turns so far; calls wait for their results."""

    def __init__(self) -> None:
        self.number = 0
        self._turns: list[Turn] = []
        self._system: list[str] = []
        self._lost: dict[str, None] = {}
        self._calls: list[Called] = []
        self._results: dict[int, JsonValue] = {}
        # of the last turn, where that is of words: one side may speak many times in a row
        self._texts: list[str] = []
        # the number of a message in which the assistant says and calls nothing, 0 where it did then
        self._silent = 0
        self._has_answer = False  # whether the assistant has answered to what came last

    def note_silence(self) -> None:
        """Note that the assistant neither speaks nor calls, so its answer is unknown."""
        if not self._has_answer:
            self._silent = self.number

    def _close_answer(self) -> None:
        """End the assistant's answer. Raises UnreadableChat if it is empty."""
        if self._silent:
            raise UnreadableChat(f"message {self._silent} is an answer of neither words nor calls")
        self._has_answer = False

    def add(self, event: Event) -> None:
        """Add the next event. Raises UnreadableChat if it can't come here."""
        if isinstance(event, Called) or (isinstance(event, Spoken) and event.side == "assistant"):
            self._silent, self._has_answer = 0, True
        match event:
            case Spoken(side="system", text=text):
                self._system.append(text)
            case Spoken(side="user", text=text):
                self._close_answer()
                self._close()
                self._say(UserTurn(text=text))
            case Spoken(text=text):
                self._close()
                self._say(ReplyTurn(text=text))
            case Called():
                self._call(event)
            case Returned():
                self._close_answer()
                self._return(event)

    def _call(self, call: Called) -> None:
        if self._results:
            self._close()
        self._settle()
        before = self._turns[-1] if self._turns else None
        if isinstance(before, ReplyTurn):
            self._lost["What the assistant says beside its calls is left out."] = None
            self._turns.pop()
        elif isinstance(before, CallTurn):
            message = f"message {self.number} calls again before the calls before it returned"
            raise UnreadableChat(message)
        if not self._calls and not self._turns:
            raise UnreadableChat("the user says nothing before the first call")
        if len(self._calls) >= _MOST_CALLS:
            message = f"message {self.number} makes more than {_MOST_CALLS} calls at once"
            raise UnreadableChat(message)
        self._calls.append(call)
        if call.note:
            self._lost[call.note] = None

    def end(self, *, is_idle: bool) -> Chat:
        """Return the conversation. Raises UnreadableChat if it is empty or nobody answers."""
        self._close_answer()
        self._close()
        self._settle()
        turns, replies = self._turns, CallTurn if is_idle else CallTurn | ReplyTurn
        if turns and isinstance(turns[0], ReplyTurn):
            lost = "The assistant speaks before the user does; its greeting is left out."
            self._lost[lost], turns = None, turns[1:]
        is_open = bool(turns) and isinstance(turns[-1], UserTurn)
        if is_open and any(isinstance(one, replies) for one in turns):
            self._lost["Nobody answers what the user says last; it is left out."] = None
            turns = turns[:-1]
        if not turns or not isinstance(turns[0], UserTurn):
            raise UnreadableChat("the user says nothing before the first call")
        if isinstance(turns[-1], UserTurn) and not is_idle:
            message = "nobody answers what the user says, so that nobody knows what is due"
            raise UnreadableChat(message)
        if not any(isinstance(one, CallTurn) for one in turns):  # nothing is called: that is due
            at = len(turns) - isinstance(turns[-1], ReplyTurn)
            turns = [*turns[:at], CallTurn(), *turns[at:]]
        return Chat(tuple(turns), "\n".join(self._system), tuple(self._lost))

    def _say(self, turn: UserTurn | ReplyTurn) -> None:
        before = self._turns[-1] if self._turns else None
        if not turn.text.strip():
            return
        if isinstance(before, UserTurn | ReplyTurn) and before.kind == turn.kind:
            self._texts.append(turn.text)
            return
        self._settle()
        if isinstance(turn, UserTurn) and isinstance(before, CallTurn | ResultTurn):
            what = "results that nobody told"
            if isinstance(before, CallTurn):
                what = "calls that returned nothing"
            raise UnreadableChat(f"message {self.number} is the user's, after {what}")
        self._turns.append(turn)
        self._texts = [turn.text]

    def _settle(self) -> None:
        """Join what one side said in several messages into its turn."""
        last = self._turns[-1] if self._turns else None
        if isinstance(last, UserTurn | ReplyTurn) and len(self._texts) > 1:
            self._turns[-1] = last.with_changes(text="\n".join(self._texts))
        self._texts = []

    def _return(self, result: Returned) -> None:
        places = [at for at in range(len(self._calls)) if at not in self._results]
        same = [at for at in places if result.id and self._calls[at].id == result.id]
        named = [at for at in places if result.tool and self._calls[at].tool == result.tool]
        values = result.value if isinstance(result.value, list) else []
        if not same and len(places) == len(self._calls) == len(values) > 1:
            self._results = dict(enumerate(values))  # ShareGPT has all in one message
            return
        found = next(iter(same or named or places), None)
        if found is None:
            raise UnreadableChat(f"message {self.number} is a result, and no call waits for one")
        self._results[found] = result.value

    def _close(self) -> None:
        """Store the waiting calls with their results."""
        if not self._calls:
            return
        if self._results and len(self._results) < len(self._calls):
            made = count_of(len(self._calls), "call")
            told = f"{len(self._results)} of {made} returned"
            raise UnreadableChat(f"before message {self.number} {told}")
        calls = tuple(GoldCall(tool=one.tool, arguments=one.arguments) for one in self._calls)
        self._turns.append(CallTurn(calls=calls, executed=bool(self._results)))
        if self._results:
            results = tuple(self._results[at] for at in range(len(calls)))
            self._turns.append(ResultTurn(results=results))
        self._calls, self._results = [], {}
