"""Reading an answer as CallNavi does: a few characters are washed off, then it is JSON or it is not (CallNavi 5.1)."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from callwright.validators.replies.parsing import ParsedReply, parse_lenient
from callwright.validators.replies.published import parse_toolace

if TYPE_CHECKING:
    from pydantic import JsonValue

    Answer = dict[str, JsonValue]

_REPLACED = (("'", '"'), ("```json", ""), ("```", ""))


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


def wash_text(text: str) -> str:
    """The text with apostrophes as quotation marks and without its fences, as the published code washes it."""
    for found, put in _REPLACED:
        text = text.replace(found, put)
    return text


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


LONGEST = 20_000  # ten times what the longest gold answer has
NAMES, PARAMETERS = "API", "parameters"
_TRIES = 16
_FENCE = re.compile(r"```[A-Za-z]*")
_TOKENS = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|,\s*(?=[}\]])|.""", re.DOTALL)
_WORDS = {"true": "True", "false": "False", "null": "None", "none": "None"}
_YAML_DATE = "tag:yaml.org,2002:timestamp"
_YAML = re.compile(rf"^{NAMES}\s*:", re.MULTILINE)


def repair_answer(text: str) -> Answer | None:
    """The names and parameters that a text means, None where it means none."""
    if len(text) > LONGEST:
        return None
    body = _FENCE.sub("", text)
    for stretch in _objects(body):
        for value in (_as_json(stretch), _as_python(stretch)):
            if isinstance(value, dict) and NAMES in value:
                return value
    return _from_yaml(body) or _from_calls(parse_lenient(body)) or _from_calls(parse_toolace(body.strip()))


def _objects(body: str) -> Iterator[str]:
    """The stretches that may be the answer's object: from each opening brace to the last closing one."""
    end = body.rfind("}") + 1
    for opener in list(re.finditer(r"\{", body))[:_TRIES]:
        if opener.start() < end:
            yield body[opener.start() : end]


def _as_json(stretch: str) -> JsonValue:
    try:
        value, _ = json.JSONDecoder().raw_decode(stretch)
    except (ValueError, RecursionError):
        return None
    return value  # type: ignore[no-any-return] # the decoder's own type is Any


def _as_python(stretch: str) -> JsonValue:
    """The value in Python's or JavaScript's notation; a trailing comma or a note behind the object does no harm."""
    written = _TOKENS.sub(_as_written, stretch)
    for text in dict.fromkeys((written, _balanced(written))):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a foreign text's odd escapes are not reported
                return _plain(ast.literal_eval(text))
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    return None


def _as_written(token: re.Match[str]) -> str:
    """A token as Python writes it: no comma stands before a closing bracket."""
    if token[0][0] == "," and token.string[token.end() : token.end() + 1] in {"}", "]"}:
        return ""
    return _WORDS.get(token[0], token[0])


def _balanced(written: str) -> str:
    """The text up to where its first brace closes."""
    depth, end = 0, 0
    for token in _TOKENS.finditer(written):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        end = token.end()
        if not depth:
            break
    return written[:end]


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
