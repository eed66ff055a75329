"""The reply styles that HammerBench scores: plain or fenced JSON, Mistral's tag and xLAM's object (EVALUATORS 1.3).

Read as the published evaluator reads them, so that its numbers come out again: what it cannot read, this cannot either.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import TYPE_CHECKING, Literal

from callwright.llm.written_calls import ParsedReply, ReplyCall, unreadable

if TYPE_CHECKING:
    from pydantic import JsonValue

    from callwright.warehouse.records import Arguments


HammerBenchStyle = Literal["default", "mistral", "xlam"]

_FENCE = re.compile(r"```json(.*?)```", re.DOTALL)
_FIRST_CALL = '{"name"'
_OPENINGS = {"mistral": "[TOOL_CALLS][", "xlam": '"tool_calls": ['}
_UNSTATED = ("", "\\")


def parse_hammerbench(text: str, style: HammerBenchStyle) -> ParsedReply:
    """The calls of a reply in one of HammerBench's JSON styles."""
    if style == "default":
        whole = _whole_call(text)
        return ParsedReply((whole,)) if whole else _read_blocks(_blocks(text))
    _, opening, rest = text.partition(_OPENINGS[style])
    if not opening:
        return unreadable(f"The reply has no {_OPENINGS[style]!r}, with which calls of the style {style!r} begin.")
    return _read_blocks([rest.partition("]")[0]])


def _whole_call(text: str) -> ReplyCall | None:
    """The reply as one call with `parameters`; None where it is something else, which is then read in blocks."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or "parameters" not in value or "name" not in value:
        return None
    return ReplyCall(value["name"], _cleaned(value["parameters"]))


def _blocks(text: str) -> list[str]:
    fenced = _FENCE.findall(text)
    return fenced or [text[text.find(_FIRST_CALL) :]]


def _read_blocks(blocks: list[str]) -> ParsedReply:
    calls = []
    for block in blocks:
        try:
            value = _block_value(block)
        except (ValueError, RecursionError) as error:
            return unreadable(f"The reply holds no JSON that can be read: {error}.")
        if not isinstance(value, dict) or "name" not in value:
            return unreadable("The reply's JSON is no object with a name.")
        calls.append(ReplyCall(value["name"], _cleaned(value.get("arguments", value.get("parameters")))))
    return ParsedReply(tuple(calls))


def _block_value(block: str) -> JsonValue:
    """The block as JSON, else its last line: parallel calls stand one on a line, and the last one counts."""
    try:
        value: JsonValue = json.loads(block)
    except ValueError:
        lines = block.splitlines()
        value = json.loads(lines[-1]) if lines else json.loads("")
    return value


def _cleaned(arguments: JsonValue) -> Arguments:
    """The arguments that say something; what is no object says nothing."""
    if not isinstance(arguments, dict):
        return {}
    return {name: value for name, value in arguments.items() if value not in _UNSTATED}


_LONGEST = 100_000


def parse_toolace(text: str) -> ParsedReply:
    """The calls of a reply in ToolACE's style; positional arguments are lost, as in the published evaluator."""
    if len(text) > _LONGEST:
        return unreadable(f"The reply has {len(text)} characters; up to {_LONGEST} are read.")
    try:
        calls = tuple(_call(node) for node in _nodes(_tree(text.strip("[]'"))))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return unreadable(f"The reply is not a list of calls: {error}.")
    return ParsedReply(calls)


def _tree(text: str) -> ast.expr:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # Python warns about odd literals; a model's habits are not reported to our user
        return ast.parse(text, mode="eval").body


def _nodes(body: ast.expr) -> list[ast.expr]:
    return body.elts if isinstance(body, ast.Tuple | ast.List) else [body]


def _call(node: ast.expr) -> ReplyCall:
    if not isinstance(node, ast.Call):
        raise ValueError(f"{ast.unparse(node)!r} is no call")
    return ReplyCall(_name(node.func), {word.arg: _value(word.value) for word in node.keywords if word.arg is not None})


def _name(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise ValueError(f"{ast.unparse(node)!r} names no tool")
    return ".".join([node.id, *reversed(parts)])


def _value(node: ast.expr) -> JsonValue:
    """The JSON value that a literal stands for; a bare word such as `true` stays the word it is."""
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.List(elts=members) | ast.Tuple(elts=members):
            return [_value(member) for member in members]
        case ast.Dict(keys=names, values=values):
            return {_member_name(name): _value(value) for name, value in zip(names, values, strict=True)}
        case ast.Name(id=word):
            return word
        case _:
            raise ValueError(f"{ast.unparse(node)!r} is no plain value")


def _member_name(node: ast.expr | None) -> str:
    match node:
        case ast.Constant(value=str() as name):
            return name
        case None:
            raise ValueError("a dictionary is spread into another")
        case _:
            raise ValueError(f"{ast.unparse(node)!r} is no member name")
