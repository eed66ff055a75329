"""A tool as the template model sees it: what it does, by its document, and its parameters;
analysed once from its JSON.
"""

import re
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import orjson

from callwright.language.calls.parameters import (
    CODED,
    NUMERIC,
    meaning_of,
    meaning_row,
    short_forms,
    title_among,
    titles_of,
)
from callwright.language.names import deed_of, function_words, humanise, split_name
from callwright.language.packs import COMMON_SCRIPT, language_of, of, script_of, widened, writes
from callwright.language.pages import filled, shapes_in
from callwright.language.schemas import json_type
from callwright.language.values import topic_phrase
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE, JsonSchema, Language

_SPACES = re.compile(r"[\s_\-]+")
_IDENTIFIES = re.compile(r"(?:^| )(?:id|ids|number|no|key)$")
_CODE = re.compile(r"[`*<>{}\[\]|\\_=#:]|\b(?:should|must|can|will)\b|\w[A-Z]\w*[a-z][A-Z]|\.\w")
_SENTENCE = re.compile(widened(r"@[.](?!\d)|@[;!(]|\n"))
_MOST_WORDS, _MOST_CHARACTERS = 9, 24  # of a title, in scripts with and without spaces
_MOST_TOPIC_WORDS, _LONGEST_TOPIC = 6, 40
_CLOCK = r"([01]\d|2[0-3]):[0-5]\d$"
_SPOKEN: dict[str, JsonSchema] = {
    "date": {"type": "string", "format": "date"},
    "birthday": {"type": "string", "format": "date"},
    "time": {"type": "string", "pattern": f"^{_CLOCK}"},
    "moment": {"type": "string", "pattern": rf"^\d{{4}}-\d{{2}}-\d{{2}} {_CLOCK}"},
}


class ParameterView(NamedTuple):
    """A parameter with its kind, the schema by which its words are read, and what people call it.

    `topic` is what a flag turns on or off, by its description.
    """

    name: str
    schema: JsonSchema
    kind: str
    spoken: JsonSchema
    titles: tuple[str, ...]
    topic: str

    def called(self, language: Language) -> str:
        """What to call it in this language."""
        return title_among(self.titles, language)

    @property
    def is_identifier(self) -> bool:
        """Whether its values tell which thing is meant: ids and codes, names of files and
        repositories.
        """
        if self.kind in CODED | {"code", "pattern"} or _IDENTIFIES.search(
            " ".join(split_name(self.name))
        ):
            return True
        row = meaning_row(self.name, self.schema)
        if row is None:
            return False
        return bool({"faker", "shape"} & row.give.keys()) or str(row.give.get("kind", "")).endswith(
            ("name", "handle", "path")
        )

    @property
    def is_number(self) -> bool:
        """Whether its values are stated as numbers, also where the schema calls them text."""
        return self.kind in NUMERIC


class TitleTable(NamedTuple):
    """One expression for all that some parameters are called, and the place of the parameter
    that each calls.
    """

    pattern: re.Pattern[str]
    owners: dict[str, int]

    def owner(self, stated: str) -> int:
        """The place of the parameter that these words call."""
        key = squeeze(stated)
        return self.owners[key] if key in self.owners else self.owners[key.removesuffix("s")]


class ToolView:
    """What one tool offers: what it does in words, and its parameters."""

    def __init__(self, tool: dict[str, Any]) -> None:
        self.name = str(tool.get("name", ""))
        self.description = str(tool.get("description") or "")
        schema = tool.get("parameters") or {}
        self.required = tuple(schema.get("required") or ())
        self.parameters = parameter_views(schema)

    @cached_property
    def title(self) -> str:
        """What it does, by its document."""
        return tool_title(self.name, self.description)

    def does(self, language: Language) -> str:
        """What it does in a language: its title where that is in it, else the words of its name."""
        is_spoken = writes(language, self.title) or of(language).script != COMMON_SCRIPT
        return self.title if is_spoken else name_words(self.name)

    @cached_property
    def table(self) -> TitleTable | None:
        """What its parameters are called, None where it has none."""
        return title_table(self.parameters)

    def parameter(self, name: object) -> ParameterView:
        """The parameter of this name; ReplyError where the tool has none."""
        found = next((one for one in self.parameters if one.name == name), None)
        if found is None:
            raise ReplyError(f"The tool {self.name!r} has no parameter {name!r}.")
        return found

    @cached_property
    def properties(self) -> dict[str, JsonSchema]:
        """The schemas of its parameters by name."""
        return {parameter.name: parameter.schema for parameter in self.parameters}


def view_of(tool: object) -> ToolView:
    """The view of a tool as a prompt shows it (a JSON object with name, description,
    parameters).
    """
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        raise ReplyError(
            f"template/v1 expects a tool as a JSON object with a name, not {str(tool)[:80]!r}."
        )
    return _view(
        orjson.dumps({key: tool.get(key) for key in ("name", "description", "parameters")})
    )


@lru_cache(4096)
def _view(tool: bytes) -> ToolView:
    return ToolView(orjson.loads(tool))


@lru_cache(8192)
def tool_title(name: str, description: str) -> str:
    """What a tool does: the first sentence of its description where that is short and tells it,
    else its name in words.

    "Creates a task. …" of `createTask` is "create a task", and "Task creation endpoint" says less
    than "create task".
    """
    words = function_words(name)
    said = _SENTENCE.split(description.strip(), maxsplit=1)[0].strip(" ,'\"")
    if said and script_of(said) != COMMON_SCRIPT:
        return said if len(said) <= _MOST_CHARACTERS else name_words(name)
    first, _, rest = said.partition(" ")
    is_short = rest and len(said.split()) <= _MOST_WORDS and not _CODE.search(said)
    if not is_short or language_of(description) != DEFAULT_LANGUAGE:
        return said[0].lower() + said[1:] if is_short else name_words(name)
    verb = first.lower()
    stems = {verb, verb[:-1], verb[:-2]} & {*words}  # "creates", "fetches"
    if not stems and deed_of(verb) == "other":
        return name_words(name)
    return f"{stems.pop() if stems else verb} {rest}"


@lru_cache(8192)
def name_words(name: str) -> str:
    """The name of a tool in words, without the group that it is in: `Clock.Alarms.setAlarm` is
    "set alarm".
    """
    return humanise(name.rpartition(".")[2] or name)


def parameter_views(schema: JsonSchema) -> tuple[ParameterView, ...]:
    """The views of the members of an object schema; those that would be called the same are
    called by their names.
    """
    members = schema.get("properties") or {}
    views = [
        _parameter(name, member) for name, member in members.items() if isinstance(member, dict)
    ]
    first = [squeeze(one.titles[0]) for one in views]
    return tuple(
        one._replace(titles=one.titles[-1:]) if first.count(squeeze(one.titles[0])) > 1 else one
        for one in views
    )


def title_table(parameters: tuple[ParameterView, ...]) -> TitleTable | None:
    """What these parameters are called; short forms only where one parameter alone has them."""
    owners: dict[str, int] = {}
    spelled: dict[str, str] = {}
    for at, parameter in enumerate(parameters):
        for title in (*parameter.titles, *([parameter.topic] if parameter.topic else ())):
            owners.setdefault(squeeze(title), at)
            spelled.setdefault(squeeze(title), title)
    short = [
        (squeeze(form), form, at)
        for at, one in enumerate(parameters)
        for form in short_forms(one.name)
    ]
    for key, form, at in short:
        if (
            all(other == at for one, _, other in short if one == key)
            and owners.setdefault(key, at) == at
        ):
            spelled.setdefault(key, form)
    found = (spelled[key] for key in owners if key in spelled and key)
    ordered = sorted(found, key=len, reverse=True)
    if ordered:
        return TitleTable(re.compile("|".join(map(_spelling, ordered)), re.IGNORECASE), owners)
    return None


@lru_cache(16384)
def squeeze(title: str) -> str:
    """What a parameter is called as it is looked up: lower case, nothing between its words."""
    return _SPACES.sub("", title.lower())


def _parameter(name: str, schema: JsonSchema) -> ParameterView:
    kind = meaning_of(name, schema)
    topic = topic_phrase(schema) if json_type(schema) == "boolean" else ""
    if len(topic) > _LONGEST_TOPIC or len(topic.split()) > _MOST_TOPIC_WORDS or _CODE.search(topic):
        topic = ""
    spoken = schema
    if json_type(schema) == "string" and not any(map(schema.get, ("pattern", "format", "enum"))):
        spoken = _SPOKEN.get(kind, schema)  # a bare "startDate" is stated as a date
    titles = titles_of(name, str(schema.get("description") or ""))
    return ParameterView(name, schema, kind, spoken, titles, topic)


def _spelling(title: str) -> str:
    if script_of(title) != COMMON_SCRIPT:
        return re.escape(title)
    inside = r"[\s_\-]*".join(map(re.escape, title.split()))
    return rf"(?<![A-Za-z0-9]){inside}s?(?![A-Za-z0-9])"


def field_phrase(name: str, language: Language) -> str:
    """What people call the field of a tool that they speak of loosely: "my banking"; of no field
    where its name has none.
    """
    field = humanise(name.split(".", maxsplit=1)[0]) if "." in name else ""
    (shape,) = shapes_in(language, f"conversations.{'field' if field else 'anything'}")
    return filled(shape, {"field": field})
