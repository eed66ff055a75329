"""The schema of an answer as a request states it.

It is narrowed to the tool at hand, and strict for servers that enforce schemas.

How a model's server takes a schema is found out once and kept in the ledger's file for later
builds. The forms, best first: `strict` (enforced, strict schema), `schema` (the schema as it
is), `object` (any JSON object, the schema stated in words), `words`. A server whose support is
unknown also gets the words, because it may ignore what it does not know.

Strict servers take only a part of JSON Schema: every member required (null if it may be
missing), no other members, no keywords beyond theirs. What they don't take is put into words; a
schema with a member of any shape has no strict form.
"""

import re
import sqlite3
from abc import ABCMeta
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import closing
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

import orjson
from pydantic import BaseModel

from callwright.llm.chat import Answer, ChatRequest, RawReply
from callwright.llm.ledger import open_answers
from callwright.llm.stated_schemas import portable_pattern, stated_schema
from callwright.warehouse.errors import CallwrightError, StoreError
from callwright.warehouse.records import JsonSchema, Tool

_KINDS = 1024  # of narrowed answers that are remembered: a tool's, by what is asked of it
_NOTES = frozenset(
    {"title", "description", "default", "examples", "example", "deprecated", "readOnly"}
    | {"writeOnly", "$comment"}
)
_STRICT = frozenset(
    {"type", "enum", "const", "pattern", "format", "multipleOf", "minimum", "maximum"}
    | {"items", "anyOf", "$ref", "exclusiveMinimum", "exclusiveMaximum", "minItems"}
    | {"maxItems", "$defs", "title", "description", "properties", "required"}
    | {"additionalProperties"}
)
_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
_DEEPEST, _MOST_CHOICES, _MOST_MEMBERS = 10, 1000, 5000  # of a strict schema, as OpenAI has it
_NOT_STRICT = frozenset(
    {"allOf", "oneOf", "patternProperties", "prefixItems", "$dynamicRef", "not"}
)
_ANYTHING: JsonSchema = {}


def arguments_schema(tool: Tool, needed: Iterable[str], others: Iterable[str] = ()) -> JsonSchema:
    """Return the schema of an object with a tool's arguments: `needed` ones and `others`.

    The `others` are optional, and nothing else is allowed. It has types, choices, patterns and
    bounds only: the meanings are in the tool, which the prompt shows anyway.
    """
    required = [*needed]
    names = dict.fromkeys((*required, *others))
    return closed({name: _bare(tool.properties[name]) for name in names}, required)


def closed(properties: JsonSchema, required: Iterable[str] | None = None) -> JsonSchema:
    """The schema of an object with these properties alone, all of them required unless stated."""
    names = [*(properties if required is None else required)]
    closed = {"type": "object", "properties": properties, "required": names}
    return {**closed, "additionalProperties": False}


def calls_schema(
    tools: Iterable[Tool], *, is_whole: bool, unknown: str | None = None
) -> JsonSchema:
    """Return the schema of a list of calls of these tools only.

    `is_whole` requires the tools' required arguments. `unknown` is a placeholder allowed as the
    value of any argument, or None if every value is known.
    """
    each = []
    for tool in tools:
        arguments = arguments_schema(tool, tool.required if is_whole else (), tool.properties)
        if unknown is not None:
            other, members = {"type": "string", "enum": [unknown]}, arguments["properties"].items()
            arguments["properties"] = {name: {"anyOf": [one, other]} for name, one in members}
        named = {"type": "string", "enum": [tool.name]}
        each.append(closed({"tool": named, "arguments": arguments}))
    return {"type": "array", "items": {"anyOf": each}}


def _bare(schema: Any) -> Any:  # noqa: ANN401 - a JSON Schema, or a part of one
    """Return a parameter's schema without notes; a reference becomes a schema for any value."""
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema or "$dynamicRef" in schema:
        return _ANYTHING
    bare: dict[str, Any] = {}
    for name, value in schema.items():
        if name in {"properties", "patternProperties"} and isinstance(value, dict):
            bare[name] = {one: _bare(inner) for one, inner in value.items()}
        elif name in {"enum", "const", "required"}:
            bare[name] = value
        elif name == "pattern" and isinstance(value, str):
            bare[name] = portable_pattern(value)
        elif name not in _NOTES and not name.startswith("x-"):
            bare[name] = [_bare(one) for one in value] if isinstance(value, list) else _bare(value)
    return bare


def narrowed(answer: type[Answer], members: Mapping[str, JsonSchema]) -> type[Answer]:
    """Return `answer` with these `members` schemas in what models see; it reads the same."""
    return _narrowed(answer, orjson.dumps(members))


@lru_cache(_KINDS)
def _narrowed(answer: type[Answer], members: bytes) -> type[Answer]:
    schema = orjson.loads(_stated(answer))
    schema["properties"] |= orjson.loads(members)
    used = orjson.dumps(schema["properties"]).decode()
    kept = {name: one for name, one in schema.pop("$defs", {}).items() if f"#/$defs/{name}" in used}
    whole = schema | ({"$defs": kept} if kept else {})
    namespace = {
        "model_json_schema": classmethod(lambda _: whole),
        "__module__": answer.__module__,
        "__doc__": answer.__doc__,
    }
    # Past pydantic, which would take up the same fields again, and 4 ms for the same validator.
    return ABCMeta.__new__(type(answer), answer.__name__, (answer,), namespace)


@cache
def _stated(answer: type[BaseModel]) -> bytes:
    return orjson.dumps(stated_schema(answer))


def without_nulls(value: Mapping[str, Any], schema: JsonSchema) -> dict[str, Any]:
    """Return an object without nulls where the schema allows none, as in strict answers."""
    members = schema.get("properties") or {}
    nulls = (name for name, one in value.items() if one is None and name in members)
    dropped = {name for name in nulls if not _takes_null(members[name])}
    return {name: one for name, one in value.items() if name not in dropped}


def _takes_null(schema: JsonSchema) -> bool:
    kinds = schema.get("type")
    if kinds is None or schema.get("nullable"):
        return "enum" not in schema or None in schema["enum"]
    return "null" in ([kinds] if isinstance(kinds, str) else kinds)


@lru_cache(_KINDS)
def _strict_text(schema: bytes) -> bytes:
    try:
        return orjson.dumps(_strict(orjson.loads(schema), 0, _Bounds()))
    except _NoStrictFormError:
        return b""


def strict_schema(schema: JsonSchema) -> JsonSchema | None:
    """Return the schema in the part that strict servers take, None if it has no such form."""
    text = _strict_text(orjson.dumps(schema))
    return cast("JsonSchema", orjson.loads(text)) if text else None


class _NoStrictFormError(Exception):
    """The schema allows something that a strict schema cannot express."""


class _Bounds:
    """How much a strict schema holds so far."""

    choices = members = 0

    def count(self, schema: JsonSchema, depth: int) -> None:
        self.choices += len(schema.get("enum") or ())
        self.members += len(schema.get("properties") or ())
        if depth > _DEEPEST or self.choices > _MOST_CHOICES or self.members > _MOST_MEMBERS:
            raise _NoStrictFormError


def _strict(schema: Any, depth: int, bounds: _Bounds) -> JsonSchema:  # noqa: ANN401 - a JSON Schema, or what stands for one
    if not isinstance(schema, dict):
        raise _NoStrictFormError
    if schema.get("nullable"):
        others = {name: one for name, one in schema.items() if name != "nullable"}
        return _nullable(_strict(others, depth, bounds))
    schema = _merged(schema)
    bounds.count(schema, depth)
    made = _in_their_words(schema)
    if "$defs" in made:
        made["$defs"] = {name: _strict(one, depth, bounds) for name, one in made["$defs"].items()}
    if "anyOf" in made:
        made["anyOf"] = [_strict(one, depth, bounds) for one in made["anyOf"]]
    kinds = made.get("type")
    if "properties" in made or kinds == "object":
        _close(made, depth, bounds)
    elif kinds == "array" or "items" in made:
        made["items"] = _strict(made.get("items"), depth + 1, bounds)
    elif (isinstance(kinds, list) and {"object", "array"} & {*kinds}) or not made.keys() & {
        "type",
        "enum",
        "const",
        "anyOf",
        "$ref",
    }:
        raise _NoStrictFormError
    return made


def _in_their_words(schema: JsonSchema) -> JsonSchema:
    """Return a schema in the terms that strict servers know, with the rest in its description."""
    known_part = {name: value for name, value in schema.items() if name in _STRICT}
    if schema.get("format") not in _FORMATS:
        known_part.pop("format", None)
    if "(?" in str(schema.get("pattern")):
        del known_part["pattern"]
    others = [name for name in schema if name not in known_part and name not in _NOTES]
    if others:
        said = ", ".join(f"{name} {orjson.dumps(schema[name]).decode()}" for name in others)
        parts = [*filter(None, [schema.get("description")]), f"Holds besides: {said}."]
        known_part["description"] = " ".join(parts)
    return known_part


def _merged(schema: JsonSchema) -> JsonSchema:
    """Return a schema with `oneOf` as `anyOf`, and without an `allOf` that has only one part."""
    if "oneOf" in schema and "anyOf" not in schema:
        schema = {("anyOf" if name == "oneOf" else name): value for name, value in schema.items()}
    parts = schema.get("allOf")
    if isinstance(parts, list) and len(parts) == 1 and isinstance(parts[0], dict):
        schema = {**parts[0], **{name: value for name, value in schema.items() if name != "allOf"}}
    if not _NOT_STRICT.isdisjoint(schema):
        raise _NoStrictFormError
    return schema


def _close(made: JsonSchema, depth: int, bounds: _Bounds) -> None:
    """Make an object schema strict: all members required, null if optional, no others allowed.

    Raises _NoStrictFormError if the object may have other members.
    """
    members, required = made.get("properties") or {}, made.get("required") or ()
    others = made.get("additionalProperties")
    if isinstance(others, dict) or (not members and others is not False):
        raise _NoStrictFormError
    inner = {name: _strict(one, depth + 1, bounds) for name, one in members.items()}
    optional = {name: _nullable(one) for name, one in inner.items() if name not in required}
    made["properties"] = inner | optional
    made["required"] = [*members]
    made["additionalProperties"] = False


def _nullable(schema: JsonSchema) -> JsonSchema:
    kinds = schema.get("type")
    if isinstance(kinds, str) and kinds != "null" and not schema.keys() & {"enum", "const"}:
        return {**schema, "type": [kinds, "null"]}
    if isinstance(kinds, list) and "null" in kinds and "enum" not in schema:
        return schema
    return {"anyOf": [schema, {"type": "null"}]}


Form = Literal["strict", "schema", "object", "words"]
_FORMS: tuple[Form, ...] = get_args(Form)
# their servers do, for any model
_TAKE_SCHEMAS = frozenset({"hosted_vllm", "lm_studio", "ollama_chat"})
_ABOUT_SCHEMAS = re.compile(
    r"response[_ ]format|json[_ ]schema|structured output|guided[_ ]json|grammar", re.IGNORECASE
)
_ABOUT_THIS_ONE = re.compile(r"invalid (?:json )?schema", re.IGNORECASE)
_TABLE = "create table if not exists answer_forms (model text primary key, form text not null)"
_PUT = (
    "insert into answer_forms (model, form) values (?, ?) on conflict (model) do update set form ="
    " excluded.form"
)


class StatedSchema(NamedTuple):
    """How a request states its answer's schema: `response_format`, and whether also in words."""

    form: Form
    response_format: dict[str, Any] | None
    is_told: bool


class RefusedError(Exception):
    """A request was refused, perhaps because of its schema.

    It holds the provider's words, and the error to raise if the schema was not the cause.
    """

    def __init__(self, said: str, error: CallwrightError) -> None:
        """Store both."""
        super().__init__(said)
        self.said, self.error = said, error


class AnswerForms:
    """The form in which the schemas of answers are sent to one model."""

    def __init__(self, name: str, ledger: Path | None = None) -> None:
        """For the model PROVIDER/MODEL; findings are kept in the file `ledger`, if there is one."""
        self._name = name
        self._ledger = ledger
        self._form: Form = "strict"
        self._is_proved = False
        self._read_from: str | None = None  # the server for which the file was read

    async def ask(
        self,
        request: ChatRequest,
        send: Callable[[StatedSchema | None], Awaitable[RawReply]],
        *,
        is_known: bool,
    ) -> RawReply:
        """Return the reply from `send`, asking again for each schema form that is refused.

        `is_known` says that the model is known to take schemas. `send` raises RefusedError for
        any error that may be about the schema.
        """
        below: Form | None = None
        while True:
            stated_schema = None
            if request.schema is not None:
                stated_schema = self._state(request, request.schema, below, is_known=is_known)
            try:
                reply = await send(stated_schema)
            except RefusedError as refused:
                if stated_schema is None or not self._refused(
                    request, stated_schema.form, refused.said
                ):
                    raise refused.error from refused.__cause__
                below = stated_schema.form
                continue
            if stated_schema is not None:
                self._answered(request, stated_schema.form, reply.text)
            return reply

    def _state(
        self, request: ChatRequest, schema: dict[str, Any], below: Form | None, *, is_known: bool
    ) -> StatedSchema:
        """Return how a request states its schema: in the best form `below` the refused one."""
        wish = _wish(request)
        if wish == "schema":
            return StatedSchema("schema", _response_format(schema, is_strict=False), is_told=False)
        if wish == "prompt":
            return StatedSchema("words", None, is_told=True)
        self._look_up(request)
        form = _FORMS[max(_FORMS.index(self._form), _FORMS.index(below) + 1 if below else 0)]
        takes = is_known or self._name.partition("/")[0] in _TAKE_SCHEMAS
        strict = strict_schema(schema) if form == "strict" else None
        if strict is not None:
            return StatedSchema("strict", _response_format(strict, is_strict=True), not takes)
        if form in {"strict", "schema"}:
            return StatedSchema("schema", _response_format(schema, is_strict=False), not takes)
        response_format = {"type": "json_object"} if form == "object" else None
        return StatedSchema(form, response_format, is_told=True)

    def _refused(self, request: ChatRequest, stated: Form, text: str) -> bool:
        """Whether a request was refused for its schema, so that a simpler form may do.

        A server that took other schemas refuses only this one. Otherwise it does not take this
        form, and later requests do without it.
        """
        if _wish(request) != "auto" or stated == "words" or not _ABOUT_SCHEMAS.search(text):
            return False
        if not self._is_proved and not _ABOUT_THIS_ONE.search(text):
            self._settle(request, _FORMS[_FORMS.index(stated) + 1])
        return True

    def _answered(self, request: ChatRequest, stated: Form, text: str) -> None:
        """Learn from a reply: if it does not begin as an object, the server applied no schema."""
        if _wish(request) != "auto" or not text.strip() or self._is_proved:
            return
        if text.lstrip().startswith("{"):
            if stated == self._form:
                self._settle(request, stated, is_proved=True)
        elif stated in {"strict", "schema"}:
            self._settle(request, "object")

    def _settle(self, request: ChatRequest, form: Form, *, is_proved: bool = False) -> None:
        # of requests under way at once some come late
        self._form = max(self._form, form, key=_FORMS.index)
        self._is_proved = is_proved
        if self._ledger is not None and is_proved:
            with closing(open_answers(self._ledger)) as connection:
                self._tell(connection, _PUT, (self._key(request), form))

    def _look_up(self, request: ChatRequest) -> None:
        """Read what an earlier process learned about this model's server."""
        if self._ledger is None or self._read_from is not None:
            return
        self._read_from = self._key(request)
        with closing(open_answers(self._ledger)) as connection:
            asked = "select form from answer_forms where model = ?"
            row = self._tell(connection, asked, (self._read_from,))
        if row and row[0] in _FORMS:
            self._form, self._is_proved = row[0], True

    def _tell(
        self, connection: sqlite3.Connection, asked: str, values: tuple[str, ...]
    ) -> tuple[str] | None:
        try:
            connection.execute(_TABLE)
            return cast("tuple[str] | None", connection.execute(asked, values).fetchone())
        except sqlite3.Error as error:
            text = f"The ledger at {self._ledger} could not keep how {self._name} takes schemas"
            raise StoreError(f"{text}: {error}.") from error

    def _key(self, request: ChatRequest) -> str:
        return f"{self._name} {dict(request.options).get('api_base', '')}"


def _wish(request: ChatRequest) -> str:
    return str(dict(request.options).get("structured", "auto"))


def _response_format(schema: dict[str, Any], *, is_strict: bool) -> dict[str, Any]:
    """Return the schema in OpenAI's chat format."""
    answer = {"name": "answer", "schema": schema, "strict": is_strict}
    return {"type": "json_schema", "json_schema": answer}
