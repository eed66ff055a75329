"""Calls written as Python text, `[f(a=1), g(b="x")]`, read as BFCL reads them: a syntax tree, never run."""

import ast
import keyword
import operator
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

LONGEST = 100_000
_LARGEST = 10**15
_WIDEST = 10_000
_MARK = "_ǂ"
_RESERVED = re.compile(rf"(?<=[(,\s])({'|'.join(keyword.kwlist)})(?=\s*=[^=])")


class DecodedCall(NamedTuple):
    """A call as it was made: values as Python has them, a bare word being a text."""

    name: str
    arguments: dict[str, Any]


class Decoded(NamedTuple):
    """The calls of a reply, None where it can't be read; `problem` tells why not, by the kind of trouble and a text."""

    calls: list[DecodedCall] | None
    problem: str = ""


def decode_calls(text: str, *, any_name: bool = False) -> Decoded:
    """The calls of a reply; positional arguments are lost, as they are officially.

    A parameter that is called `class` or `from` can't be written in Python, and officially not be read. With `any_name`
    it is read all the same.
    """
    decoded = _decode(text)
    if any_name and decoded.calls is None and _RESERVED.search(text):
        return _decode(_RESERVED.sub(rf"\1{_MARK}", text))
    return decoded


def _decode(text: str) -> Decoded:
    stripped = text.strip("`\n ")
    if len(stripped) > LONGEST:
        return Decoded(None, f"The reply has {len(stripped)} characters; up to {LONGEST} are read.")
    bracketed = f"{'' if stripped.startswith('[') else '['}{stripped}{'' if stripped.endswith(']') else ']'}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a model's odd literals are not reported to our user
            body = _unmarked(ast.parse(bracketed, mode="eval").body)
        return Decoded([_call(member) for member in (body.elts if isinstance(body, ast.List) else [body])])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Decoded(None, f"The reply is not a list of calls: {error}.")


def _unmarked(tree: ast.expr) -> ast.expr:
    """The tree with names and texts as they were written."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg is not None:
            node.arg = node.arg.removesuffix(_MARK)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = node.value.replace(_MARK, "")
    return tree


def says_call(decoded: Decoded) -> bool:
    """Whether a reply calls anything (BFCL's relevance): no call can be read, or none with any content."""
    return bool(decoded.calls)


def _call(node: ast.expr) -> DecodedCall:
    if not isinstance(node, ast.Call):
        raise ValueError(f"{ast.unparse(node)!r} is no call")
    named = {word.arg: _value(word.value) for word in node.keywords if word.arg is not None}
    if len(named) < len(node.keywords):
        raise ValueError(f"{ast.unparse(node)!r} spreads its arguments, or gives one twice")
    return DecodedCall(_name(node.func), named)


def _name(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _value(node: ast.expr) -> Any:  # noqa: ANN401 - whatever Python can write down
    match node:
        case ast.Constant(value=value):
            return "..." if value is ... else value
        case ast.UnaryOp() | ast.BinOp():
            return _figure(node)
        case ast.List(elts=members):
            return [_value(member) for member in members]
        case ast.Tuple(elts=members):
            return tuple(_value(member) for member in members)
        case ast.Dict(keys=names, values=values) if None not in names:
            return {_key(name): _value(value) for name, value in zip(names, values, strict=True) if name is not None}
        case ast.Name(id=word):
            return word
        case _:
            return _written(node)


def _written(node: ast.expr) -> Any:  # noqa: ANN401 - see above
    """What is no literal: a call inside a call, or the words of one that gives nothing by name."""
    match node:
        case ast.Call(keywords=[_, *_]):
            inner = _call(node)
            return {inner.name: inner.arguments}
        case ast.Call() | ast.Subscript():
            return ast.unparse(node)
        case _:
            raise ValueError(f"{ast.unparse(node)!r} is no plain value")


def _key(node: ast.expr) -> Any:  # noqa: ANN401 - whatever Python takes for a key
    key = _value(node)
    if isinstance(key, list | dict):
        raise ValueError(f"{ast.unparse(node)!r} is no member's name")
    return key


_REACHED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def _figure(node: ast.expr) -> Any:  # noqa: ANN401 - a number or a text
    """What a sum, a product or the like of plain numbers comes to; texts are put together. Nothing is executed."""
    match node:
        case ast.Constant(value=int() | float() | str() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.UnaryOp(op=ast.UAdd(), operand=ast.Constant(value=int() | float() as value)):
            return value
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _REACHED:
            one, other = _figure(left), _figure(right)
            if isinstance(one, str) and isinstance(other, str) and isinstance(op, ast.Add):
                return one + other
            try:
                return _number(_REACHED[type(op)](_number(one, node), _number(other, node)), node)
            except (ZeroDivisionError, OverflowError) as error:
                raise ValueError(f"{ast.unparse(node)!r} has no value: {error}") from error
        case _:
            raise ValueError(f"{ast.unparse(node)!r} is no plain value")


def _number(value: Any, node: ast.expr) -> Any:  # noqa: ANN401 - a number goes in and comes out
    if isinstance(value, str) or abs(value) > _LARGEST:
        raise ValueError(f"{ast.unparse(node)[:_WIDEST]!r} is no number that a call needs")
    return value
