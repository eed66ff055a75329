"""Reading calls and names out of a candidate's reply: native calls, the notation asked for, else
any other that says them.

HammerBench's styles are plain or fenced JSON, Mistral's tag, xLAM's object and ToolACE's list
(EVALUATORS 1.3). They are read as the published evaluator reads them, so that its numbers come out
again: what it cannot read, this cannot either. Nothing in a reply is ever run.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import TYPE_CHECKING, Literal, assert_never

from callwright.llm.written_calls import (
    LONGEST,
    TRACE_OF_A_CALL,
    ParsedReply,
    ReplyCall,
    calls_in,
    parse_lenient,
    unreadable,
)
from callwright.warehouse.yaml_text import bounded_events

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pydantic import JsonValue

    from callwright.llm.chat import Completion
    from callwright.warehouse.records import Arguments

Style = Literal["lenient", "default", "mistral", "xlam", "toolace"]
Notation = Literal["json", "yaml"]

NAMES = "API"  # what CallNavi's answers have the names of tools under
_WASHED = (("'", '"'), ("```json", ""), ("```", ""))
_FENCE = re.compile(r"```json(.*?)```", re.DOTALL)
_FENCED = re.compile(
    r"^[ \t]*```(?:ya?ml)?[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE | re.IGNORECASE
)
_FIRST_CALL = '{"name"'
_OPENINGS = {"mistral": "[TOOL_CALLS][", "xlam": '"tool_calls": ['}
_UNSTATED = ("", "\\")
_LONGEST_LIST = 100_000
_PARTS = "\f"  # stands between the replies of one answer; no model writes it
_WORD = re.compile(r"[^\s\"'`,\[\]{}()]+")


def parse_reply(text: str, style: Style) -> ParsedReply:
    """The calls of `text` as a model of this style writes them; `default` is HammerBench's own
    JSON style.
    """
    match style:
        case "lenient":
            return parse_lenient(text)
        case "toolace":
            return parse_toolace(text)
        case "default":
            return _parse_plainly(text)
        case "mistral" | "xlam":
            _, opening, rest = text.partition(_OPENINGS[style])
            if not opening:
                problem = (
                    f"The reply has no {_OPENINGS[style]!r}, with which calls of the style"
                    f" {style!r} begin."
                )
                return unreadable(problem)
            return _read_blocks([rest.partition("]")[0]])
        case _:
            assert_never(style)


def parse_completion(completion: Completion, style: Style = "lenient") -> ParsedReply:
    """The calls of a reply: the native ones where the provider has any, else those in its text."""
    if completion.calls:
        parsed = ParsedReply(
            tuple(ReplyCall(call.tool, call.arguments) for call in completion.calls)
        )
    elif completion.calls is not None and not completion.text.strip():
        parsed = ParsedReply(())
    else:
        parsed = parse_reply(completion.text, style)
    return _by_own_names(parsed, completion.names)


def parse_calls(completion: Completion, notation: Notation) -> ParsedReply:
    """The calls of a reply: native ones, those in the notation asked for, else those in any
    other.
    """
    if completion.calls or notation == "json":
        return parse_completion(completion)
    parsed = parse_yaml_calls(completion.text)
    if not parsed.calls:
        other = parse_lenient(completion.text)
        parsed = other if other.calls else parsed
    return _by_own_names(parsed, completion.names)


def _by_own_names(parsed: ParsedReply, names: Mapping[str, str]) -> ParsedReply:
    """A reply whose calls have the tools' own names in place of those on the wire, however they
    came.

    A name that no tool has stays as it was written: it is what the model called.
    """
    if not names or not parsed.calls:
        return parsed
    calls = tuple(
        call._replace(tool=names.get(call.tool, call.tool)) if isinstance(call.tool, str) else call
        for call in parsed.calls
    )
    return parsed._replace(calls=calls)


def read_names(text: str, known: Collection[str], notation: Notation) -> list[str]:
    """The tools that a reply names, in its order: its list as it stands, else the known names
    that occur in it.
    """
    value = read_value(text, notation)
    if isinstance(value, dict):
        value = value.get(NAMES, value.get("tools", value.get("names")))
    if isinstance(value, list):
        named = (member.get("name") if isinstance(member, dict) else member for member in value)
        return [name for name in named if isinstance(name, str) and name]
    return [word for found in _WORD.finditer(text) if (word := found[0].rstrip(".:;")) in known]


def read_value(text: str, notation: Notation) -> JsonValue:
    """The value that a reply is in the notation asked for, None where it is none.

    JSON is read without its fences; an apostrophe inside a value does no harm.
    """
    if notation == "yaml":
        return YamlReply(text).value
    for written in (text.replace("```json", "").replace("```", ""), wash_text(text)):
        try:
            value: JsonValue = json.loads(written)
        except (ValueError, RecursionError):
            continue
        return value
    return None


def wash_text(text: str) -> str:
    """The text with apostrophes as quotation marks and without its fences, as CallNavi's
    published code washes it.
    """
    for found, put in _WASHED:
        text = text.replace(found, put)
    return text


def is_valid(text: str, notation: Notation) -> bool:
    """Whether every reply of an answer is of the notation asked for, before any repair (CallNavi
    5.1).
    """
    if notation == "yaml":
        return all(YamlReply(part).has_structure for part in split_replies(text))
    return all(read_value(part, notation) is not None for part in split_replies(text))


def join_replies(texts: Sequence[str]) -> str:
    """The replies that one answer took, as one text."""
    return _PARTS.join(text.replace(_PARTS, " ") for text in texts)


def split_replies(text: str) -> list[str]:
    """The replies that one answer took."""
    return text.split(_PARTS)


class YamlReply:
    """A reply's YAML: its value, or the problem why there is none."""

    def __init__(self, text: str) -> None:
        """Read the fenced part of a text where it has one, else all of it."""
        # with pydantic and jsonschema behind them, which scoring a log of JSON replies has no need
        # of
        from callwright.generators.catalogs.catalog import Problem
        from callwright.generators.catalogs.documents import parse_yaml

        fenced = _FENCED.search(text)
        body = fenced[1] if fenced else text
        self.value: JsonValue = None
        self.problem = _forbidden(body)
        if not self.problem:
            read = parse_yaml(body, "the reply")
            if isinstance(read, Problem):
                self.problem = read.message[0].upper() + read.message[1:]
            else:
                self.value = read

    @property
    def has_structure(self) -> bool:
        """Whether it is YAML that says more than a text does."""
        return not self.problem and isinstance(self.value, dict | list)


def parse_yaml_calls(text: str) -> ParsedReply:
    """The calls of a reply in YAML, in its order; a sentence is no call, a call that breaks off
    can't be read.
    """
    if not text.strip():
        return unreadable("The reply is empty.")
    reply = YamlReply(text)
    if reply.problem:
        return (
            unreadable(reply.problem)
            if TRACE_OF_A_CALL.search(text) or len(text) > LONGEST
            else ParsedReply(())
        )
    calls = calls_in(reply.value)
    nameless = [call for call in calls if not isinstance(call.tool, str) or not call.tool.strip()]
    if nameless:
        return unreadable(f"The reply calls {nameless[0].tool!r}, which is no tool's name.")
    if not calls and reply.has_structure and TRACE_OF_A_CALL.search(text):
        return unreadable("The reply's YAML names a call, but not in the form that was asked for.")
    return ParsedReply(tuple(calls))


def _forbidden(body: str) -> str:
    """Why a text is not read at all, "" where it may be: what a reply has no need of may hide
    any amount of text.
    """
    import yaml

    if len(body) > LONGEST:
        return f"The reply has {len(body)} characters; up to {LONGEST} are read."
    try:
        for event in bounded_events(body):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                return "The reply's YAML has an anchor or an alias; a call needs none."
            tag = getattr(event, "tag", None)
            if tag:
                return f"The reply's YAML has the tag {tag!r}; a call needs none."
    except yaml.YAMLError as error:
        return f"The reply is no YAML: {' '.join(str(error).split())}."
    return ""


def _parse_plainly(text: str) -> ParsedReply:
    """The calls of HammerBench's own style: the reply as one call with `parameters`, else its
    blocks.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and "parameters" in value and "name" in value:
        return ParsedReply((ReplyCall(value["name"], _cleaned(value["parameters"])),))
    return _read_blocks(_FENCE.findall(text) or [text[text.find(_FIRST_CALL) :]])


def _read_blocks(blocks: list[str]) -> ParsedReply:
    calls = []
    for block in blocks:
        try:
            value = _block_value(block)
        except (ValueError, RecursionError) as error:
            return unreadable(f"The reply holds no JSON that can be read: {error}.")
        if not isinstance(value, dict) or "name" not in value:
            return unreadable("The reply's JSON is no object with a name.")
        calls.append(
            ReplyCall(value["name"], _cleaned(value.get("arguments", value.get("parameters"))))
        )
    return ParsedReply(tuple(calls))


def _block_value(block: str) -> JsonValue:
    """The block as JSON, else its last line: parallel calls stand one on a line, and the last
    one counts.
    """
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


def parse_toolace(text: str) -> ParsedReply:
    """The calls of a reply in ToolACE's style; positional arguments are lost, as in the
    published evaluator.
    """
    if len(text) > _LONGEST_LIST:
        return unreadable(f"The reply has {len(text)} characters; up to {_LONGEST_LIST} are read.")
    try:
        body = python_tree(text.strip("[]'"))
        calls = [
            _call(node)
            for node in (body.elts if isinstance(body, ast.Tuple | ast.List) else [body])
        ]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return unreadable(f"The reply is not a list of calls: {error}.")
    return ParsedReply(tuple(calls))


def python_tree(text: str) -> ast.expr:
    """What an expression in Python's notation says; its warnings about a model's odd literals
    are not for our user.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body


def _call(node: ast.expr) -> ReplyCall:
    if not isinstance(node, ast.Call):
        raise ValueError(f"{ast.unparse(node)!r} is no call")
    tool = node.func
    while isinstance(tool, ast.Attribute):
        tool = tool.value
    if not isinstance(tool, ast.Name):
        raise ValueError(f"{ast.unparse(tool)!r} names no tool")
    arguments = {word.arg: _value(word.value) for word in node.keywords if word.arg is not None}
    return ReplyCall(ast.unparse(node.func), arguments)


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
            return {_member(name): _value(value) for name, value in zip(names, values, strict=True)}
        case ast.Name(id=word):
            return word
        case _:
            raise ValueError(f"{ast.unparse(node)!r} is no plain value")


def _member(node: ast.expr | None) -> str:
    if node is None:
        raise ValueError("a dictionary is spread into another")
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        raise ValueError(f"{ast.unparse(node)!r} is no member name")
    return node.value
