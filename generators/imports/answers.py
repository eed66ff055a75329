"""Read an assistant's answers as calls, or as words without any mark of a call.

A text that looks like a call but can't be read must not pass as words, because then no call
would seem to be due. So the marks that models put around calls are known here, even if the text
behind them is not readable.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from itertools import chain
from typing import NamedTuple
from unicodedata import category

from pydantic import JsonValue

from callwright.generators.catalogs.catalog import shown
from callwright.generators.imports.reading import Fields, items, objects, parsed, part, words
from callwright.language.packs import packaged
from callwright.llm.written_calls import end_of, parse_python, python_call, read_python, value_at
from callwright.warehouse.json_text import REPLY_DECODER, read_json
from callwright.warehouse.records import Arguments, ReplyTurn, Turn


class UnreadableChat(ValueError):  # noqa: N818 - a reason, which becomes the record's problem
    """Messages are not a conversation that a sample can hold; the message says why."""


class Called(NamedTuple):
    """A call by the assistant; `id` may be "", and `note` says what was repaired in reading it."""

    tool: str
    arguments: Arguments
    id: str = ""
    note: str = ""


class ParsedAnswer(NamedTuple):
    """The words of a text besides its calls, and the calls."""

    words: str
    calls: tuple[Called, ...]


_PACKAGE, _MARKS_FILE = "callwright.generators.imports", "marks.yaml"
_NAMES, _GIVEN = ("name", "function_name", "tool"), ("arguments", "input", "parameters", "args")
_IDS = ("tool_call_id", "call_id", "tool_use_id", "source_call_id", "id")
_GAP = re.compile(r"[\s,;]*")

_FENCE, _FENCED = "```", frozenset({"", "json", "python", "py"})
_CALLED = re.compile(r"[\s,]*([A-Za-z_](?:[^()\[\]{}='\"\n,]{0,126}[^()\[\]{}='\"\s,])?)\(")
_TRACES = re.compile(  # of a list of Python calls, and of a call in JSON
    r"\[\s{0,9}[A-Za-z_][^()\[\]{}='\"\n,]{0,127}\(\s{0,9}(?:[A-Za-z_]\w{0,127}\s{0,9}=(?!=)|\))"
    r"""|\\?["'](?:name|function|tool|tool_name|function_name)\\?["']\s{0,9}:\s{0,9}\\?["'][^"'\n]{1,128}["']\s{0,9},"""
    r"""\s{0,9}\\?["'](?:arguments|parameters|args|input)\\?["']\s{0,9}:"""
    r"""|\\?["']tool_calls\\?["']\s{0,9}:"""
)
_THOUGHTS = ("think", "thinking", "reasoning")
_TAG = (
    r"<[|\uff5c][^<>|\uff5c\s]{1,40}[|\uff5c]?>"
    r"|<[^<>\s]{0,24}?(?:tool|function)s?[_\u2581]?(?:call|use|code)"
)
_UNFINISHED = frozenset({"incomplete", "failed", "cancelled"})


def read_answer(text: str) -> ParsedAnswer:
    """Return the words and the calls of an assistant's text.

    Raises UnreadableChat if it looks like a call but is not.
    """
    answer_text = _without_end(_without_thoughts(text))
    if calls := _whole(answer_text):
        return ParsedAnswer("", tuple(calls))
    spoken, at = list[str](), 0
    while mark := _marks().search(answer_text, at):
        found, end = _behind(answer_text, mark)
        spoken.append(answer_text[at : mark.start()])
        calls += found
        at = end
    spoken.append(answer_text[at:])
    rest = "".join(spoken)
    if trace := _TRACES.search(rest):
        message = f"the words {shown(trace[0])} look like a call, and none can be read there"
        raise UnreadableChat(message)
    return ParsedAnswer(rest.strip() if calls else rest, tuple(calls))


@cache
def _marks() -> re.Pattern[str]:
    marks = packaged(_PACKAGE, _MARKS_FILE)
    known = map(re.escape, (*marks["read"], *marks["not_read"]))
    return re.compile("|".join((*known, _TAG)), re.IGNORECASE)


def trace_of_call(turns: Iterable[Turn], tools: Iterable[str]) -> str:
    """Return what in the assistant's words calls a tool by its name, in any notation, or ""."""
    replies = [turn.text for turn in turns if isinstance(turn, ReplyTurn)]
    pattern = _calls_by_name(frozenset(tools)) if replies else None
    found = filter(None, map(pattern.search, replies)) if pattern else ()
    return next((trace[0] for trace in found), "")


@lru_cache(256)
def _calls_by_name(tools: frozenset[str]) -> re.Pattern[str] | None:
    if not tools:
        return None
    named = "|".join(map(re.escape, sorted(tools, key=len, reverse=True)))
    return re.compile(
        rf"""(?<![\w.])(?:{named})[({{]|=\s*["'](?:{named})["']|["'](?:{named})["']\s*:\s*[{{\[]"""
    )


def is_absent(text: str) -> bool:
    """Whether a text has no words, or those of a program for none: "...", "{}", "None"."""
    has_words = any(one.isalnum() or category(one) == "So" for one in text)  # emojis are answers
    return not has_words or text.strip().casefold() in packaged(_PACKAGE, _MARKS_FILE)["absent"]


def refuse_withheld(text: str) -> None:
    """Raise UnreadableChat if a log has replaced the words, or some of them, by a mark."""
    marks, bare = packaged(_PACKAGE, _MARKS_FILE), text.strip()
    if bare.casefold() in marks["withheld"]:
        raise UnreadableChat(f"what was said is withheld: {shown(bare)}")
    if any(mark in bare for mark in marks["cut"]):
        raise UnreadableChat(f"what was said is cut in the middle: {shown(bare)}")


def refuse_failed(text: str) -> None:
    """Raise UnreadableChat if an answer is a page or an error of the server that was asked."""
    begun = text.lstrip().casefold()
    if begun.startswith(tuple(packaged(_PACKAGE, _MARKS_FILE)["failed"])):
        raise UnreadableChat(f"an answer is what a server says that fails: {shown(text.strip())}")


def _without_end(text: str) -> str:
    bare, ends = text.rstrip(), tuple(packaged(_PACKAGE, _MARKS_FILE)["ends"])
    while bare.endswith(ends):
        bare = bare[: bare.rindex("<")].rstrip()
        text = bare
    return text


def _without_thoughts(text: str) -> str:
    """Return the text without its trains of thought.

    Raises UnreadableChat if it never comes to an answer.
    """
    for word in _THOUGHTS:
        opening, closing = f"<{word}>", f"</{word}>"
        kept_pieces, at = list[str](), 0
        while (begin := text.find(opening, at)) >= 0:
            end = text.find(closing, begin)
            if end < 0:
                raise UnreadableChat(f"an answer has {opening!r}, which does not end")
            kept_pieces.append(text[at:begin])
            at = end + len(closing)
        if at:
            text = "".join((*kept_pieces, text[at:])).strip()
        text = text.rpartition(closing)[2]  # one that the prompt began
    return text


def _whole(said: str) -> list[Called]:
    """Return the calls of a text that is nothing but calls, in JSON or Python, or else [].

    The text may be in a code fence.
    """
    text = said.strip()
    language, _, inner = text.removeprefix(_FENCE).removesuffix(_FENCE).partition("\n")
    is_fenced = text.startswith(_FENCE) and text.endswith(_FENCE)
    if is_fenced and language.strip().lower() in _FENCED:
        text = inner.strip()
    if text.startswith("[") and (calls := python_calls(text)):
        return calls
    if not text.startswith(("[", "{")):
        return []
    call_data: JsonValue
    try:
        call_data = read_json(text)
    except ValueError:
        call_data = read_python(text)
    listed = call_data if isinstance(call_data, list) else [call_data]
    are_calls = bool(listed) and all(isinstance(one, dict) and _is_call(one) for one in listed)
    return [call_of(one) for one in listed] if are_calls else []


def _is_call(fields: Fields) -> bool:
    inner = fields.get("function")
    fields = inner if isinstance(inner, dict) else fields
    is_named = any(isinstance(fields.get(word), str) for word in (*_NAMES, "function"))
    return is_named and bool(fields.keys() & {*_GIVEN}) and "description" not in fields


def _behind(text: str, mark: re.Match[str]) -> tuple[list[Called], int]:
    """Return the calls after a mark, and where they end. Raises UnreadableChat."""
    read: Mapping[str, str] = packaged(_PACKAGE, _MARKS_FILE)["read"]
    closing, at, calls = read.get(mark[0].lower()), mark.end(), list[Called]()
    if closing is None:
        raise UnreadableChat(f"an answer has {mark[0]!r}, and calls in this notation are not read")
    while True:
        gap = _GAP.match(text, at)
        begin = gap.end() if gap else at
        if not text.startswith(("{", "["), begin):
            break
        found = value_at(text, begin)
        if found is None:
            raise UnreadableChat(f"behind {mark[0]!r} stands no call that can be read")
        value, at = found
        calls += map(call_of, value if isinstance(value, list) else [value])
    if not calls:
        raise UnreadableChat(f"an answer has {mark[0]!r}, and no call in JSON behind it")
    if not closing:
        return calls, at
    if text[begin : begin + len(closing)].lower() != closing:
        raise UnreadableChat(f"an answer has {mark[0]!r}, and no {closing!r} behind its call")
    return calls, begin + len(closing)


def call_of(stated: JsonValue) -> Called:
    """Return a call, however it is wrapped.

    Raises UnreadableChat if it has no name, or its arguments are not an object.
    """
    if not isinstance(stated, dict):
        raise UnreadableChat(f"a call is {shown(stated)}, not an object")
    if failed := stated.get("parse_error"):
        raise UnreadableChat(f"a call could not be read when it was made: {shown(failed)}")
    inner = stated.get("function")
    fields = {**stated, "name": inner} if isinstance(inner, str) else stated
    fields = inner if isinstance(inner, dict) else fields
    name = next((fields[word] for word in _NAMES if fields.get(word)), None)
    given_arguments = next((fields[word] for word in _GIVEN if fields.get(word) is not None), {})
    if not isinstance(name, str):
        kind = f" of the type {shown(stated['type'])}" if "type" in stated else ""
        raise UnreadableChat(f"a call{kind} has the name {shown(name)}")
    arguments, note = given_arguments, ""
    if isinstance(arguments, str):
        arguments = _arguments_in(arguments, name)
    if isinstance(arguments, str):  # some loggers write JSON text as JSON text once more
        arguments = _arguments_in(arguments, name)
        note = "Arguments were written as JSON text twice over."
    if not isinstance(arguments, dict):
        raise UnreadableChat(f"the arguments of {name} are {shown(given_arguments)}, not an object")
    for text in _texts_in(arguments):
        refuse_withheld(text)
    return Called(name, arguments, id_of(stated), note)


def _texts_in(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list() | dict():
            for one in value.values() if isinstance(value, dict) else value:
                yield from _texts_in(one)
        case _:
            return


_NO_ARGUMENTS = frozenset({"", "null", '{}""'})  # as streams without any are put together


def _arguments_in(text: str, name: str) -> JsonValue:
    """Return the arguments in a JSON text.

    Raises UnreadableChat, which says why, if they can't be kept.
    """
    if text.strip() in _NO_ARGUMENTS:
        return {}
    try:
        return read_json(text)
    except ValueError as error:
        reason = "they are more than one value" if _is_begun(text) else str(error)
        message = f"the arguments of {name} can't be read, {reason}: {shown(text)}"
        raise UnreadableChat(message) from error


def _is_begun(text: str) -> bool:
    """Whether a text begins with a value, and more stands behind it."""
    try:
        _, end = REPLY_DECODER.raw_decode(text.strip())
    except (ValueError, RecursionError):
        return False
    return end < len(text.strip())


def id_of(fields: Fields) -> str:
    """Return the id of a call, or of the call that a result answers; "" if there is none."""
    return str(next((fields[word] for word in _IDS if fields.get(word)), ""))


def calls_of_message(content: JsonValue) -> list[Called]:
    """Return the calls of a message that holds nothing else.

    Raises UnreadableChat if there are none.
    """
    call_data = parsed(content)
    if isinstance(call_data, str):
        found = read_answer(call_data)
        if found.calls:
            return [*found.calls]
        if calls := python_calls(call_data):
            return calls
        literal = read_python(call_data)  # as some data sets write calls
        if literal is None:
            raise UnreadableChat(f"a message of a call holds {shown(call_data)}, which is no call")
        call_data = literal
    listed = call_data if isinstance(call_data, list) else [call_data]
    if not listed:
        raise UnreadableChat("a message of a call holds none")
    return [*map(call_of, listed)]


def python_calls(text: str) -> list[Called]:
    """Return the calls of a list of Python calls with literal values, or [] if there is none.

    Names may contain spaces (BFCL, ToolACE).
    """
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


def messages_of_reply(stated: JsonValue) -> list[JsonValue]:
    """Return the messages of a provider's reply, as a log keeps it.

    It is a reply of the chat completions API or the responses API, a single message, or the
    chunks of a stream. Raises UnreadableChat if it failed, was cut off, or is none of these.
    """
    reply_data = parsed(stated)
    if isinstance(reply_data, list):
        reply_data = _joined(reply_data)
    if not isinstance(reply_data, dict):
        raise UnreadableChat(f"the answer is {shown(stated)}, not the reply of a provider")
    inner = part(reply_data, "body") or reply_data
    if "choices" in inner:
        return [_chosen(inner["choices"])]
    if (status := words(inner, "status")) in _UNFINISHED:
        raise UnreadableChat(f"the answer is {status}")
    if isinstance(inner.get("output"), list):
        return items(inner["output"])
    if inner.get("role") == "assistant":
        return [inner]
    problem_text = f"the answer has the fields {shown(sorted(inner)[:8])}"
    if failed := inner.get("error"):
        problem_text = f"the request failed: {shown(failed)}"
    raise UnreadableChat(f"{problem_text}, and no message")


def _chosen(choices: JsonValue) -> JsonValue:
    """Return the message of the choice numbered 0, or else of the first. Raises UnreadableChat."""
    numbered = (one for one in objects(choices) if one.get("index") == 0)
    first = next(numbered, next(iter(items(choices)), None))
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(message, dict):
        raise UnreadableChat(f"the choices of the answer are {shown(choices)}, without a message")
    return {"role": "assistant", "finish_reason": first.get("finish_reason"), **message}


def _joined(chunks: list[JsonValue]) -> JsonValue:
    """Join the chunks of a streamed chat completion, or take the last responses API event.

    Raises UnreadableChat for any other chunks, which nobody knows how to join.
    """
    known = objects(chunks)
    whole = [one.get("response") for one in known if one.get("type") == "response.completed"]
    if whole:
        return whole[-1]
    held = [one["choices"] for one in known if isinstance(one.get("choices"), list)]
    if not chunks or len(held) < len(chunks):
        message = f"the answer is {shown(chunks)}, chunks of a stream that can't be put together"
        raise UnreadableChat(message)
    stream = _Stream()
    for choice in chain.from_iterable(map(objects, held)):
        if choice.get("index") in (None, 0):
            stream.add(choice)
    return {"choices": [stream.choice()]}


class _Stream:
    """The message that builds up from the deltas of a stream."""

    def __init__(self) -> None:
        self._said, self._reason = list[str](), ""
        self._calls: dict[str, dict[str, list[str]]] = {}

    def add(self, choice: Fields) -> None:
        """Add the next delta. Raises UnreadableChat."""
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            raise UnreadableChat(f"a chunk of the answer is {shown(choice)}, without a delta")
        self._said.append(words(delta, "content", "refusal"))
        self._reason = words(choice, "finish_reason") or self._reason
        made, older = delta.get("tool_calls"), delta.get("function_call")
        for call_delta in items(made) if made else []:
            if not isinstance(call_delta, dict) or not isinstance(call_delta.get("index"), int):
                message = f"a chunk of the answer has the call {shown(call_delta)} without an index"
                raise UnreadableChat(message)
            self._put(
                str(call_delta["index"]), part(call_delta, "function"), words(call_delta, "id")
            )
        if isinstance(older, dict):
            self._put("0", older, "")

    def _put(self, index: str, function: Fields, identity: str) -> None:
        call = self._calls.setdefault(index, {"id": [], "name": [], "arguments": []})
        given = {"id": identity, **{word: words(function, word) for word in ("name", "arguments")}}
        for word, text in given.items():
            call[word] += [text] if text else []

    def choice(self) -> Fields:
        """Return the whole message. Raises UnreadableChat if a call has two names."""
        calls: list[JsonValue] = []
        for call in self._calls.values():
            if len({*call["name"]}) > 1:
                raise UnreadableChat(f"the chunks of a call name {shown(call['name'])}")
            name, identity = next(iter(call["name"]), None), next(iter(call["id"]), "")
            function: Fields = {"name": name, "arguments": "".join(call["arguments"])}
            calls.append({"id": identity, "type": "function", "function": function})
        content = "".join(self._said) or None
        message: Fields = {"role": "assistant", "content": content, "tool_calls": calls}
        return {"message": message, "finish_reason": self._reason}


def calls_due(stated: JsonValue) -> list[JsonValue]:
    """Return the calls that a row states as due; [] if it states that none is.

    Raises UnreadableChat if it is not a list.
    """
    listed = parsed(stated)
    if not isinstance(listed, list):
        raise UnreadableChat(f"the calls that are due are {shown(stated)}, not a list")
    return listed


def differ(calls: Iterable[Called], others: Iterable[Called]) -> bool:
    """Whether two lists contain different calls."""

    def plain(listed: Iterable[Called]) -> Iterator[tuple[str, Arguments]]:
        return ((one.tool, one.arguments) for one in listed)

    return [*plain(calls)] != [*plain(others)]
