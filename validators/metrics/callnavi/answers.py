"""An answer as CallNavi reads it, and whether it names the right calls with the right parameters (CallNavi 5.1).

A few characters are washed off, then it is JSON or it is not; placeholders take any value.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from callwright.llm.written_calls import ParsedReply, parse_lenient
from callwright.validators.replies import NAMES, parse_toolace, python_tree, wash_text

if TYPE_CHECKING:
    from pydantic import JsonValue

    Answer = dict[str, JsonValue]

PARAMETERS = "parameters"
UNKNOWN = "$$$"
LONGEST = 20_000  # ten times what the longest gold answer has
_TRIES = 16
_FENCE = re.compile(r"```[A-Za-z]*")
_TOKENS = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|,\s*(?=[}\]])|.""", re.DOTALL)
_WORDS = {"true": "True", "false": "False", "null": "None", "none": "None"}
_YAML_DATE = "tag:yaml.org,2002:timestamp"
_YAML = re.compile(rf"^{NAMES}\s*:", re.MULTILINE)
_QUOTING = str.maketrans("", "", "'\"[]\n `\\")
_KINDS = {dict: "an object", list: "a list", str: "a text", type(None): "null", bool: "a truth value"}


class Washed(NamedTuple):
    """What an answer says: `valid` as it came, `repaired` where it could be read by our rules only.

    An answer that can't be read says nothing: its value is an empty object and `problem` tells why.
    """

    value: JsonValue
    valid: bool
    repaired: bool = False
    problem: str = ""

    @property
    def readable(self) -> bool:
        """Whether the answer is JSON, at once or after its repair."""
        return self.valid or self.repaired


def wash(answer: object, *, repair: bool = True) -> Washed:
    """Read an answer, a text or a JSON value. Any JSON is valid; the published repair by a model is ours by rule."""
    if isinstance(answer, dict | list):
        return Washed(answer, valid=True)
    if not isinstance(answer, str):
        return Washed({}, valid=False, problem=f"The prediction is {answer!r}, neither a text nor an object.")
    try:
        return Washed(json.loads(wash_text(answer)), valid=True)
    except (ValueError, RecursionError) as error:
        problem = f"The answer is not JSON: {error}."
    repaired = repair_answer(answer) if repair else None
    if repaired is None:
        return Washed({}, valid=False, problem=problem)
    return Washed(repaired, valid=False, repaired=True)


def repair_answer(text: str) -> Answer | None:
    """The names and parameters that a text means, None where it means none."""
    if len(text) > LONGEST:
        return None
    body = _FENCE.sub("", text)
    end = body.rfind("}") + 1
    for opener in islice(re.finditer(r"\{", body[:end]), _TRIES):
        stretch = body[opener.start() : end]
        for value in (_as_json(stretch), _as_python(stretch)):
            if isinstance(value, dict) and NAMES in value:
                return value
    return _from_yaml(body) or _from_calls(parse_lenient(body)) or _from_calls(parse_toolace(body.strip()))


def _as_json(stretch: str) -> JsonValue:
    try:
        value, _ = json.JSONDecoder().raw_decode(stretch)
    except (ValueError, RecursionError):
        return None
    return value  # type: ignore[no-any-return] # the decoder's own type is Any


def _as_python(stretch: str) -> JsonValue:
    """The value in Python's or JavaScript's notation; a trailing comma or a note behind the object does no harm."""
    written = _TOKENS.sub(_as_written, stretch)
    depth, end = 0, 0
    for token in _TOKENS.finditer(written):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        end = token.end()
        if not depth:  # its first brace closes
            break
    for text in dict.fromkeys((written, written[:end])):
        try:
            return _plain(ast.literal_eval(python_tree(text)))
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    return None


def _as_written(token: re.Match[str]) -> str:
    """A token as Python writes it: no comma stands before a closing bracket."""
    if token[0][0] == "," and token.string[token.end() : token.end() + 1] in {"}", "]"}:
        return ""
    return _WORDS.get(token[0], token[0])


def _plain(value: object) -> JsonValue:
    """The value where JSON has the like of it. Raises ValueError where it has not."""
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    if isinstance(value, dict):
        return {str(name): _plain(member) for name, member in value.items()}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise ValueError(f"{value!r} is nothing that JSON has.")


def _from_yaml(body: str) -> Answer | None:
    if not _YAML.search(body) or "&" in body:  # an alias may stand for any amount of text
        return None
    import yaml

    class PlainLoader(yaml.SafeLoader):  # a date stays the text that it is in JSON
        yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own way
            first: [(tag, pattern) for tag, pattern in known if tag != _YAML_DATE]
            for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }

    try:
        plain = _plain(yaml.load(body, Loader=PlainLoader))  # noqa: S506 - a safe loader, with fewer kinds of scalar
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return plain if isinstance(plain, dict) else None


def _from_calls(reply: ParsedReply) -> Answer | None:
    if not reply.calls:
        return None
    return {NAMES: [call.tool for call in reply.calls], PARAMETERS: [call.arguments for call in reply.calls]}


class GoldAnswer(NamedTuple):
    """The calls of a question: their names, and the parameters of each."""

    names: list[str]
    parameters: list[dict[str, JsonValue]]


class Match(NamedTuple):
    """An answer's verdicts: the same names in order, each parameter named, and each value right.

    `problem` tells what could not be read; such an answer is wrong in all three.
    """

    order: bool
    structure: bool
    ast: bool
    problem: str = ""


WRONG = Match(order=False, structure=False, ast=False)


def match_answer(made: object, gold: GoldAnswer) -> Match:
    """Hold an answer against the gold one, as the published code does where that does not crash.

    The order counts, what the gold answer does not name is not looked at, and a placeholder of the answer's own is a
    value like any other.
    """
    if not isinstance(made, dict):
        return WRONG._replace(problem=f"The answer is {_kind(made)}, not an object.")
    if NAMES not in made or PARAMETERS not in made:
        return WRONG._replace(problem=f"The answer lacks {NAMES!r} or {PARAMETERS!r}.")
    if made == {NAMES: gold.names, PARAMETERS: gold.parameters}:
        return Match(order=True, structure=True, ast=True)
    if made[NAMES] != gold.names:
        return WRONG
    parameters = made[PARAMETERS]
    if not isinstance(parameters, list | dict | str):
        return WRONG._replace(problem=f"{PARAMETERS!r} is {_kind(parameters)}, not a list.")
    if len(parameters) != len(gold.parameters):
        return WRONG
    if isinstance(parameters, dict) and any(gold.parameters):  # as a dictionary it is only counted, not looked into
        return WRONG._replace(problem=f"{PARAMETERS!r} is an object, not a list.")
    return _match_calls(list(parameters), gold.parameters)


def _match_calls(made: list[JsonValue], gold: list[dict[str, JsonValue]]) -> Match:
    structure = ast = True
    for given, wanted in zip(made, gold, strict=True):
        if wanted and not isinstance(given, dict | list | str):
            return WRONG._replace(problem=f"The parameters of a call are {_kind(given)}, not an object.")
        for name, value in wanted.items():
            if name not in given:  # type: ignore[operator] # whatever has no members was refused above
                structure = ast = False
                break
            if value in (UNKNOWN, {}):
                continue
            if not isinstance(given, dict):
                return WRONG._replace(problem=f"The parameters of a call are {_kind(given)}, not an object.")
            ast = ast and given[name] == value
    return Match(order=True, structure=structure, ast=ast)


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")


def names_text(names: object) -> str:
    """Names as the published code compares them: without quotes, brackets, spaces and case; commas stay."""
    return (names if isinstance(names, str) else str(names)).translate(_QUOTING).lower()


def is_routed(answer: object, gold: Sequence[str]) -> bool:
    """Whether the names are those of the question, in its order.

    `answer` is what a router said, a text or a list of names, or a whole answer with its names under "API".
    """
    named = answer.get(NAMES) if isinstance(answer, dict) else answer
    return isinstance(named, str | list) and names_text(named) == names_text(list(gold))
