"""ToolACE's replies: calls as Python text, `[Tool.name(city="Oslo", nights=2)]`, read as a syntax tree, never run."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from validators.replies.parsed import ParsedReply, ReplyCall, unreadable

if TYPE_CHECKING:
    from pydantic import JsonValue

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
        warnings.simplefilter("ignore")  # Python warns about odd literals; a model's habits are no news to our user
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
