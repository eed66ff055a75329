"""Calls that models write into text, in every known notation; nothing is ever executed.

It reads what can't be misread: JSON with any wrapping, the same in Python's notation, Python
calls with named values, a tool's name before the object of its arguments, and values between
tags. A train of thought is skipped, and calls mentioned in prose are no calls. A call that
breaks off, gives values without names, or computes them can't be read: no part of it is guessed.
"""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from callwright.warehouse.json_text import REPLY_DECODER, keepable, members_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic import JsonValue

    from callwright.warehouse.records import Arguments


class ReplyCall(NamedTuple):
    """A call as found in a reply; `tool` is a string in any call that could be made."""

    tool: JsonValue
    arguments: Arguments


class ParsedReply(NamedTuple):
    """The calls of a reply: empty if it makes none, None if unreadable; `problem` says why."""

    calls: tuple[ReplyCall, ...] | None
    problem: str = ""


def unreadable(problem: str) -> ParsedReply:
    """Return a reply that cannot be read, with the reason as a sentence."""
    return ParsedReply(None, problem)


LONGEST = 100_000


def parse_lenient(text: str) -> ParsedReply:
    """Return the calls in a reply, in order."""
    if not text.strip():
        return unreadable("The reply is empty.")
    if len(text) > LONGEST:
        return unreadable(f"The reply has {len(text)} characters; up to {LONGEST} are read.")
    answer_text = after_thought(text)
    if answer_text is None:
        return unreadable("The reply thinks, and does not come to an answer.")
    try:
        calls = next(filter(None, (read(answer_text) for read in _NOTATIONS)), [])
    except ValueError as error:
        return unreadable(f"The reply makes a call that can't be read: {error}.")
    nameless = [call for call in calls if not isinstance(call.tool, str) or not call.tool.strip()]
    if nameless:
        return unreadable(f"The reply calls {nameless[0].tool!r}, which is no tool's name.")
    if not calls and _breaks_off(answer_text):
        return unreadable("The reply begins a call that is not valid JSON, or has no name.")
    return ParsedReply(tuple(calls))


_THINKING = re.compile(r"(?:<(?:think|thinking)>|\[THINK\])")
_THOUGHT = re.compile(r"</(?:think|thinking)>|\[/THINK\]")


def after_thought(text: str) -> str | None:
    """Return the text after the reasoning at its beginning, or None if the reasoning has no end.

    Reasoning that begins in the prompt, as in many chat templates, also ends at its mark.
    """
    opening, end = _THINKING.search(text), _THOUGHT.search(text)
    if opening is not None and not text[: opening.start()].strip():
        return None if end is None else text[end.end() :]
    is_told = opening is None and text.lstrip()[:1] not in {"{", "["}
    return text if end is None or not is_told else text[end.end() :]


def thought_of(text: str) -> str:
    """Return the train of thought at a text's beginning, without marks; "" if none ends."""
    said = after_thought(text)
    if said is None or said == text:
        return ""
    thought = text[: len(text) - len(said)]
    return _THOUGHT.sub("", _THINKING.sub("", thought)).strip()


# JSON, and Python's notation of the same.

_TRIES = 64
_OPENERS = re.compile(r"[{\[]")
_DATA = re.compile(r"""[{\[]\s*["'{\[]""")
_BRACKETS = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|([{\[(])|[}\])]""", re.DOTALL)
TRACE_OF_A_CALL = re.compile(r"""["']?(?:name|function|tool_calls?)["']?\s*:""", re.IGNORECASE)
_TRACE_OF_ARGUMENTS = re.compile(r"""["'](?:arguments|parameters)["']\s*:""")
_BEGINS_AS_DATA = re.compile(r"\W*(?:<[^>]*>|\[/?[A-Z_]+\]|```\w*|\s)*[{\[]")
_NAMES = ("name", "tool", "tool_name", "function")
_ARGUMENTS = ("arguments", "parameters", "params", "args", "input")
_WRAPPERS = ("tool_calls", "function", "function_call")
_PLAN = ("API", "parameters")  # CallNavi's lists of names and of arguments, one for each call


def _breaks_off(text: str) -> bool:
    """Whether a text without calls begins one: as data, or as a name with its arguments."""
    if not TRACE_OF_A_CALL.search(text):
        return False
    return _BEGINS_AS_DATA.match(text) is not None or _TRACE_OF_ARGUMENTS.search(text) is not None


def _in_json(text: str) -> list[ReplyCall]:
    return [call for value in _values(text) for call in calls_in(value)]


def _values(text: str) -> Iterator[JsonValue]:
    """Yield the objects and lists in the text, outermost first, skipping other brackets."""
    position: int | None = 0
    for _ in range(_TRIES):
        opener = None if position is None else _OPENERS.search(text, position)
        if opener is None:
            return
        if (found := value_at(text, opener.start())) is not None:
            value, position = found
            yield value
        else:  # of data that are broken no part is read
            is_data = _DATA.match(text, opener.start())
            position = end_of(text, opener.start()) if is_data else opener.end()


def value_at(text: str, start: int) -> tuple[JsonValue, int] | None:
    """Return the value that begins here, and where it ends."""
    try:
        value, end = REPLY_DECODER.raw_decode(text, start)
        return keepable(value), end
    except (ValueError, RecursionError):
        closed = end_of(text, start)
        read = None if closed is None else read_python(text[start:closed])
        return None if read is None or closed is None else (read, closed)


def end_of(text: str, start: int) -> int | None:
    """Return where the bracket that opens here closes, or None; text may be in any quotes."""
    depth = 0
    for sign in _BRACKETS.finditer(text, start):
        if not sign[1]:
            depth += 1 if sign[2] else -1
        if not depth:
            return sign.end()
    return None


def read_object(text: str) -> dict[str, JsonValue] | None:
    """Return the object that a text is, in JSON or Python's notation, or None."""
    found = value_at(text, 0) if text.startswith("{") else None
    if found is None or text[found[1] :].strip() or not isinstance(found[0], dict):
        return None
    return found[0]


def calls_in(value: JsonValue) -> list[ReplyCall]:
    """Return the calls in a JSON value, however it wraps them."""
    if isinstance(value, list):
        return [call for member in value for call in calls_in(member)]
    if not isinstance(value, dict):
        return []
    for wrapper in _WRAPPERS:
        if isinstance(value.get(wrapper), dict | list):
            return calls_in(value[wrapper])
    if _PLAN[0] in value:
        return _planned(*map(value.get, _PLAN))
    name_word = next((word for word in _NAMES if word in value), None)
    arguments_word = next((word for word in _ARGUMENTS if word in value), None)
    if name_word is None or (arguments_word is None and len(value) > 1) or "description" in value:
        return []  # other data, or what a tool is like
    return [ReplyCall(value[name_word], _arguments(value.get(arguments_word or "")))]


def _planned(names: JsonValue, arguments: JsonValue) -> list[ReplyCall]:
    if (
        not isinstance(names, list)
        or not isinstance(arguments, list)
        or len(names) != len(arguments)
    ):
        return []
    return [
        ReplyCall(name, _arguments(given)) for name, given in zip(names, arguments, strict=True)
    ]


def _arguments(value: JsonValue) -> Arguments:
    """Return the arguments, also if given as a JSON string. Raise ValueError if not an object."""
    given = read_object(value) if isinstance(value, str) else value
    if value and not isinstance(given, dict):
        raise ValueError(f"its arguments are {value!r}, no object")
    return given if isinstance(given, dict) else {}


# Python calls, and literals.

_CALL = re.compile(r"[A-Za-z_][\w.\\]*\s*\(")
_FENCE = re.compile(r"```(?:\w*\n)?(.*?)```", re.DOTALL)
_TOKEN = re.compile(r"<[|\uff5c][^<>]*[|\uff5c]>|</?tool_calls?>|\[/?TOOL_CALLS?\]")
_LIST = re.compile(r"^[ \t]*\[(?=\s*[\"']?[A-Za-z_][\w.\\]*\()", re.MULTILINE)
# by Markdown, and by JSON: no escapes in Python
_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)\\([_/])")
_MARK = "_ǂ"
_RESERVED = re.compile(rf"(?<=[(,\s])({'|'.join(keyword.kwlist)})(?=\s*=[^=])")
_WORDS = {"true": True, "false": False, "null": None}
_PRINTED = "default_api."  # Gemini prints what its tools give back, by the name of a module


def _in_python(text: str) -> list[ReplyCall]:
    """Return the calls of a text that consists of calls, fenced or not, or of lists in it.

    Raises ValueError if a call has computed values, or values without a parameter's name.
    """
    if not _CALL.search(text):
        return []
    bare = _TOKEN.sub("\n", text).strip()
    fenced = _FENCE.match(bare)
    nodes = _nodes((fenced[1] if fenced else bare).strip())
    listed = (
        [node for part in _lists(bare) for node in _nodes(part) or ()] if nodes is None else nodes
    )
    return [python_call(node) for node in listed]


def _lists(text: str) -> Iterator[str]:
    """Yield the lists of calls that stand on lines of their own.

    Raises ValueError if one does not end.
    """
    for opening in _LIST.finditer(text):
        start = opening.end() - 1
        end = end_of(text, start)
        if end is None:
            raise ValueError("a list of calls does not end")
        if not text[end:].partition("\n")[0].strip(".,;` "):
            yield text[start:end]


def _nodes(text: str) -> list[ast.Call] | None:
    """Return the calls that a text consists of, listed or in a row, or None."""
    tree = parse_python(text) or parse_python(_ESCAPED.sub(r"\1\2", text))
    members = [
        _unpacked(statement.value) for statement in tree or () if isinstance(statement, ast.Expr)
    ]
    calls = [node for listed in members for node in listed]
    is_all = (
        tree is not None
        and len(members) == len(tree)
        and all(isinstance(node, ast.Call) for node in calls)
    )
    return [node for node in calls if isinstance(node, ast.Call)] if is_all else None


def _unpacked(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.List | ast.Tuple):
        return [inner for member in node.elts for inner in _unpacked(member)]
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _CALL.match(node.value):
        inner = _nodes(node.value)
        return [node] if inner is None else [*inner]
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
        and not node.keywords
    ):
        return node.args
    return [node]


def parse_python(text: str) -> list[ast.stmt] | None:
    """Return a text's statements, None if not Python; allows parameters `class` and `from`."""
    try:
        with warnings.catch_warnings():
            # Python warns about odd literals; a model's habits are not reported
            warnings.simplefilter("ignore")
            tree = ast.parse(_RESERVED.sub(rf"\1{_MARK}", text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg is not None:
            node.arg = node.arg.removesuffix(_MARK)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = node.value.replace(_MARK, "")
    return tree.body


def python_call(node: ast.Call) -> ReplyCall:
    """Return a call whose values are plain and named, or all in one object.

    Raises ValueError.
    """
    name = ast.unparse(node.func)
    if len(node.args) == 1 and isinstance(node.args[0], ast.Dict) and not node.keywords:
        whole = keepable(python_value(node.args[0]))
        return ReplyCall(name.removeprefix(_PRINTED), _arguments(whole))
    named = {word.arg: python_value(word.value) for word in node.keywords if word.arg is not None}
    if node.args or len(named) < len(node.keywords):
        raise ValueError(f"that of {name} gives values without a name, or one twice")
    keepable(named)
    return ReplyCall(name.removeprefix(_PRINTED), named)


def read_python(text: str) -> JsonValue:
    """Return the list or object that a text holds in Python notation, or None if there is none."""
    tree = parse_python(_ESCAPED.sub(r"\1\2", text))
    if tree is None or len(tree) != 1 or not isinstance(tree[0], ast.Expr):
        return None
    try:
        return keepable(python_value(tree[0].value))
    except (ValueError, RecursionError):
        return None


def python_value(node: ast.expr) -> JsonValue:
    """Return the JSON value of a literal. Raise ValueError if the node is not a literal."""
    match node:
        case ast.Constant(value=float() as number) if not isfinite(number):
            raise ValueError(f"{ast.unparse(node)!r} is beyond all bounds")
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.List(elts=members) | ast.Tuple(elts=members):
            return [python_value(member) for member in members]
        case ast.Dict(keys=names, values=values):
            return members_once(
                [
                    (_member(name), python_value(value))
                    for name, value in zip(names, values, strict=True)
                ]
            )
        case ast.Name(id=word) if word in _WORDS:
            return _WORDS[word]
        case _:
            raise ValueError(f"{ast.unparse(node)!r} is no plain value")


def _member(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise ValueError("an object has a member whose name is no text")


# A tool's name, and behind it the object of its arguments, as templates of chat models have it.

_NAMED = re.compile(
    "|".join(
        notation.replace("NAME", rf"(?P<n{number}>[A-Za-z_][\w.-]*)")
        for number, notation in enumerate(
            (
                r"<function=NAME>",  # Llama, functionary
                r"\[TOOL_CALLS\]\s*NAME(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?",  # Mistral
                # DeepSeek
                r"<\uff5ctool▁call▁begin\uff5c>(?:function<\uff5ctool▁sep\uff5c>)?NAME(?:<\uff5ctool▁sep\uff5c>|\s*```json)",
                # Kimi
                r"<\|tool_call_begin\|>(?:functions\.)?NAME(?::\d+)?\s*<\|tool_call_argument_begin\|>",
                r"to=functions\.NAME\b[^{}]*<\|message\|>",  # OpenAI's open models
                r"^>>>NAME\n",  # functionary
                r"\A\s*NAME\s*\n(?=\s*\{.*\}\s*\Z)",  # GLM-4: the whole reply
            )
        )
    ),
    re.DOTALL | re.MULTILINE,
)


def _behind_names(text: str) -> list[ReplyCall]:
    calls = []
    for opening in _NAMED.finditer(text):
        start = len(text) - len(text[opening.end() :].lstrip())
        argument_object = value_at(text, start) if text[start : start + 1] == "{" else None
        if argument_object is None:
            if text[start : start + 1] == "<":  # values between tags
                return []
            raise ValueError(f"no object of arguments stands behind {opening[0].strip()!r}")
        calls.append(
            ReplyCall(next(filter(None, opening.groups())), _arguments(argument_object[0]))
        )
    return calls


# A tool's name, and each of its values between tags: texts all of them, but for lists and objects.

_TAGGED = (
    # Qwen-Coder
    (r"<function=([\w.-]+)>(.*?)</function>", r"<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>"),
    (
        r"<invoke name=\"([\w.-]+)\">(.*?)</invoke>",
        r"<parameter name=\"([\w.-]+)\"[^>]*>(.*?)</parameter>",
    ),  # Claude
    (
        r"<tool_call>\s*([\w.-]+)\s*(.*?)</tool_call>",
        r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>",
    ),  # GLM
)


def _in_tags(text: str) -> list[ReplyCall]:
    for call, argument in _TAGGED:
        tagged_calls = re.findall(call, text, re.DOTALL)
        if tagged_calls and (
            re.search(argument, text, re.DOTALL)
            or not any(inner.strip() for _, inner in tagged_calls)
        ):
            return [
                ReplyCall(
                    name,
                    {
                        name: _structured(text)
                        for name, text in re.findall(argument, inner, re.DOTALL)
                    },
                )
                for name, inner in tagged_calls
            ]
    return []


def _structured(text: str) -> JsonValue:
    found = value_at(text, 0) if text[:1] in {"{", "["} else None
    return text if found is None or text[found[1] :].strip() else found[0]


_NOTATIONS: tuple[Callable[[str], list[ReplyCall]], ...] = (
    _in_python,
    _behind_names,
    _in_tags,
    _in_json,
)


# ToolACE's list of calls, as the published evaluators read it: a bare word is a text.


def parse_toolace(text: str) -> ParsedReply:
    """Return the calls of a reply in ToolACE's style.

    Positional arguments are lost, as in the published evaluator.
    """
    if len(text) > LONGEST:
        return unreadable(f"The reply has {len(text)} characters; up to {LONGEST} are read.")
    try:
        body = python_tree(text.strip("[]'"))
        calls = [
            _listed_call(node)
            for node in (body.elts if isinstance(body, ast.Tuple | ast.List) else [body])
        ]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return unreadable(f"The reply is not a list of calls: {error}.")
    return ParsedReply(tuple(calls))


def python_tree(text: str) -> ast.expr:
    """Parse an expression in Python's notation, hiding warnings; SyntaxError if it is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body


def _listed_call(node: ast.expr) -> ReplyCall:
    if not isinstance(node, ast.Call):
        raise ValueError(f"{ast.unparse(node)!r} is no call")
    tool = node.func
    while isinstance(tool, ast.Attribute):
        tool = tool.value
    if not isinstance(tool, ast.Name):
        raise ValueError(f"{ast.unparse(tool)!r} names no tool")
    arguments = {
        word.arg: _listed_value(word.value) for word in node.keywords if word.arg is not None
    }
    return ReplyCall(ast.unparse(node.func), arguments)


def _listed_value(node: ast.expr) -> JsonValue:
    """The JSON value that a literal stands for; a bare word such as `true` stays the word it is."""
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.List(elts=members) | ast.Tuple(elts=members):
            return [_listed_value(member) for member in members]
        case ast.Dict(keys=names, values=values):
            return {
                _listed_member(name): _listed_value(value)
                for name, value in zip(names, values, strict=True)
            }
        case ast.Name(id=word):
            return word
        case _:
            raise ValueError(f"{ast.unparse(node)!r} is no plain value")


def _listed_member(node: ast.expr | None) -> str:
    if node is None:
        raise ValueError("a dictionary is spread into another")
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        raise ValueError(f"{ast.unparse(node)!r} is no member name")
    return node.value
