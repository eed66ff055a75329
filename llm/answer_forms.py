"""How a model's server takes the schema of an answer: found out once, and kept in the ledger's file for later builds.

From the best form on down: `strict` (held to a strict schema), `schema` (a schema as it is), `object` (any JSON object, the schema
stated in words), `words`. A server whose part is not known gets the words besides, for it may pass over what it does not know.
"""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

from callwright.llm.answer_schemas import strict_schema
from callwright.llm.chat import ChatRequest
from callwright.llm.ledger import open_answers
from callwright.warehouse.errors import StoreError

Form = Literal["strict", "schema", "object", "words"]
_FORMS: tuple[Form, ...] = get_args(Form)
_TAKE_SCHEMAS = frozenset({"hosted_vllm", "lm_studio", "ollama_chat"})  # their servers do, for any model
_ABOUT_SCHEMAS = re.compile(
    r"response[_ ]format|json[_ ]schema|structured output|guided[_ ]json|grammar", re.IGNORECASE
)
_ABOUT_THIS_ONE = re.compile(r"invalid (?:json )?schema", re.IGNORECASE)
_TABLE = "create table if not exists answer_forms (model text primary key, form text not null)"
_PUT = "insert into answer_forms (model, form) values (?, ?) on conflict (model) do update set form = excluded.form"


class StatedSchema(NamedTuple):
    """What a request states of its answer's schema: in `response_format`, and whether in words too."""

    form: Form
    response_format: dict[str, Any] | None
    is_told: bool


class AnswerForms:
    """The form in which one model is told its answers' schemas."""

    def __init__(self, name: str, ledger: Path | None = None) -> None:
        """For the model PROVIDER/MODEL; what is found out is kept in the file `ledger`, where there is one."""
        self._name = name
        self._ledger = ledger
        self._form: Form = "strict"
        self._is_proved = False
        self._read_from: str | None = None  # the server for which the file was read

    def state(self, request: ChatRequest, *, is_known: bool, below: Form | None = None) -> StatedSchema:
        """How a request with a schema states it; `is_known` tells that the model takes schemas, by what is known of it.

        A request whose schema was refused stands `below` the form in which it was.
        """
        schema, wish = request.schema or {}, _wish(request)
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
        match form:
            case "strict" | "schema":
                return StatedSchema("schema", _response_format(schema, is_strict=False), not takes)
            case "object":
                return StatedSchema("object", {"type": "json_object"}, is_told=True)
            case "words":
                return StatedSchema("words", None, is_told=True)

    def refused(self, request: ChatRequest, stated: Form, text: str) -> bool:
        """Whether a provider refuses a request for the schema that came with it, and a plainer form may do.

        One that took others before refuses this schema only; else it takes no such form, and is spared it from now on.
        """
        if request.schema is None or _wish(request) != "auto" or stated == "words" or not _ABOUT_SCHEMAS.search(text):
            return False
        if not self._is_proved and not _ABOUT_THIS_ONE.search(text):
            self._settle(request, _FORMS[_FORMS.index(stated) + 1])
        return True

    def answered(self, request: ChatRequest, stated: Form, text: str) -> None:
        """Learn from a reply: what does not begin as an object was held to no schema."""
        if request.schema is None or _wish(request) != "auto" or not text.strip() or self._is_proved:
            return
        if text.lstrip().startswith("{"):
            if stated == self._form:
                self._settle(request, stated, is_proved=True)
        elif stated in {"strict", "schema"}:
            self._settle(request, "object")

    def _settle(self, request: ChatRequest, form: Form, *, is_proved: bool = False) -> None:
        self._form = max(self._form, form, key=_FORMS.index)  # of requests under way at once some come late
        self._is_proved = is_proved
        if self._ledger is not None and is_proved:
            with closing(open_answers(self._ledger)) as connection:
                self._tell(connection, _PUT, (self._key(request), form))

    def _look_up(self, request: ChatRequest) -> None:
        """Read what an earlier process found out of this model's server."""
        if self._ledger is None or self._read_from is not None:
            return
        self._read_from = self._key(request)
        with closing(open_answers(self._ledger)) as connection:
            row = self._tell(connection, "select form from answer_forms where model = ?", (self._read_from,))
        if row and row[0] in _FORMS:
            self._form, self._is_proved = row[0], True

    def _tell(self, connection: sqlite3.Connection, asked: str, values: tuple[str, ...]) -> tuple[str] | None:
        try:
            connection.execute(_TABLE)
            return cast("tuple[str] | None", connection.execute(asked, values).fetchone())
        except sqlite3.Error as error:
            text = f"The ledger at {self._ledger} could not keep how {self._name} takes schemas: {error}."
            raise StoreError(text) from error

    def _key(self, request: ChatRequest) -> str:
        return f"{self._name} {dict(request.options).get('api_base', '')}"


def _wish(request: ChatRequest) -> str:
    return str(dict(request.options).get("structured", "auto"))


def _response_format(schema: dict[str, Any], *, is_strict: bool) -> dict[str, Any]:
    """The schema as OpenAI's chat format has it."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": is_strict}}
