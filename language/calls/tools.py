"""A tool as the template model sees it, its purpose and parameters, computed once from JSON."""

import re
from collections import Counter
from collections.abc import Sequence
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
from callwright.language.names import (
    deed_of,
    function_words,
    humanise,
    singular,
    split_name,
    with_article,
)
from callwright.language.packs import COMMON_SCRIPT, language_of, of, script_of, widened, writes
from callwright.language.pages import filled, shapes_in
from callwright.language.schemas import json_type
from callwright.language.values import topic_phrase
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE, JsonSchema, Language

_SPACES = re.compile(r"[\s_\-]+")
_JOINING = frozenset({"by", "for", "of", "to", "from", "in", "on", "at", "with", "and", "or"})
_GROUP = re.compile(r"^[A-Z][a-zA-Z0-9]*_(?=[A-Z][a-z]+[A-Z])")
_IDENTIFIES = re.compile(r"(?:^| )(?:id|ids|number|no|key)$")
_CODE = re.compile(
    r"[`*<>{}\[\]|\\_=#:]|\b(?:should|must|can|will)\b|\w[A-Z]\w*[a-z][A-Z]|\.\w|(?<!\w)'"
)
_SENTENCE = re.compile(widened(r"@[.](?!\d)|@[;!(]|\n"))
_WORDS, _ARTICLES = re.compile(r"[a-z]+"), frozenset({"a", "an", "the"})
_DETERMINERS = _ARTICLES | {"all", "one", "this", "my", "your", "every", "each", "multiple", "new"}
_BESIDE = re.compile(r"^((?:or|and) )([a-z]+)\b")  # "creates or updates a file"
# in front of what a tool is about these are no verbs
_NO_VERBS = (
    _JOINING
    | _ARTICLES
    | {
        *(
            "all",
            "both",
            "if",
            "when",
            "whether",
            "this",
            "that",
            "these",
            "it",
            "as",
            "given",
            "last",
        ),
        *("is", "are", "was", "has", "have", "will", "can", "does", "per", "after", "before"),
    }
)
_THIS = re.compile(r"^this (?:(?:endpoint|method|operation|api|call) )?(?=\w+s )", re.IGNORECASE)
_ASIDE = re.compile(r", which .*", re.IGNORECASE)
_LATER_CLAUSE = re.compile(r",? and (?=\w+s )|, ")
# "of the given chapter", "with the given id", "of the libraries passed": none is given by who asks
_GIVEN = re.compile(
    r"\b(?:an?|the|this) (?:given|specified|provided|supplied|passed) (?!\w+s\b|id\b)(\w+)",
    re.IGNORECASE,
)
_GIVEN_BEFORE = re.compile(
    r" (?:for|from|of|by|with|on)(?: the| an?)? (?:(?:given|specified|provided|supplied|passed)"
    r" (?:ids?|\w+s)\b|[\w-]+ (?:given|specified|provided|supplied|passed)$).*",
    re.IGNORECASE,
)
_YOUR = re.compile(r"\b([Yy])our\b")
# what stands for things without naming any
_PROFORMS = _ARTICLES | {"all", "one", "many", "each", "multiple", "single", "by", "id"}
_READING = frozenset({"get", "delete"})
_METHODS = frozenset({"post", "put", "patch"})  # people say none of them of what they want
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
    """A parameter with its kind, the schema by which its words are read, and its titles.

    `topic` is what a flag turns on or off, according to its description.
    """

    name: str
    schema: JsonSchema
    kind: str
    spoken: JsonSchema
    titles: tuple[str, ...]
    topic: str

    def called(self, language: Language) -> str:
        """Return the title to use in this language."""
        return title_among(self.titles, language)

    @property
    def is_identifier(self) -> bool:
        """Whether its values identify a thing: ids, codes, names of files and repositories."""
        words = " ".join(split_name(self.name))
        if self.kind in CODED | {"code", "pattern"} or _IDENTIFIES.search(words):
            return True
        row = meaning_row(self.name, self.schema)
        give = row.give if row else {}
        is_named = str(give.get("kind", "")).endswith(("name", "handle", "path"))
        return is_named or bool({"faker", "shape"} & give.keys())

    @property
    def is_number(self) -> bool:
        """Whether its values are stated as numbers, even if the schema declares them as text."""
        return self.kind in NUMERIC


class TitleTable(NamedTuple):
    """One pattern for everything that some parameters are called, and the position of each."""

    pattern: re.Pattern[str]
    owners: dict[str, int]

    def owner(self, stated: str) -> int:
        """Return the index of the parameter that these words name."""
        key = squeeze(stated)
        return self.owners[key] if key in self.owners else self.owners[key.removesuffix("s")]


class ToolView:
    """A description of one tool: what it does in words, and its parameters."""

    def __init__(self, tool: dict[str, Any]) -> None:
        self.name = str(tool.get("name", ""))
        self.description = str(tool.get("description") or "")
        schema = tool.get("parameters") or {}
        self.required = tuple(schema.get("required") or ())
        self.parameters = parameter_views(schema)

    @cached_property
    def title(self) -> str:
        """What the tool does, according to its documentation."""
        return tool_title(self.name, self.description)

    def does(self, language: Language) -> str:
        """What it does: its title if that is in the language, else the words of its name."""
        is_spoken = writes(language, self.title) or of(language).script != COMMON_SCRIPT
        return self.title if is_spoken else name_words(self.name)

    @cached_property
    def table(self) -> TitleTable | None:
        """The titles of its parameters, or None if it has none."""
        return title_table(self.parameters)

    def parameter(self, name: object) -> ParameterView:
        """Return the parameter of this name. Raise ReplyError if the tool has none."""
        found = next((one for one in self.parameters if one.name == name), None)
        if found is None:
            raise ReplyError(f"The tool {self.name!r} has no parameter {name!r}.")
        return found

    @cached_property
    def properties(self) -> dict[str, JsonSchema]:
        """The schemas of its parameters by name."""
        return {parameter.name: parameter.schema for parameter in self.parameters}


def view_of(tool: object) -> ToolView:
    """Return the view of a tool as a prompt shows it.

    The tool is a JSON object with name, description and parameters. Raises ReplyError if it is
    not an object with a name.
    """
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        problem = "template/v1 expects a tool as a JSON object with a name"
        raise ReplyError(f"{problem}, not {str(tool)[:80]!r}.")
    shown = {key: tool.get(key) for key in ("name", "description", "parameters")}
    return _view(orjson.dumps(shown))


@lru_cache(4096)
def _view(tool: bytes) -> ToolView:
    return ToolView(orjson.loads(tool))


@lru_cache(8192)
def tool_title(name: str, description: str) -> str:
    """Return what a tool does: the first sentence of its description, or its name in words.

    The sentence is used if it is short and says what the tool does. "Creates a task. …" of
    `createTask` becomes "create a task"; "Task creation endpoint" says less than "create task". A
    name made of an address says less than any sentence: `patch_tasks_id` is "move a task".
    """
    words = function_words(name)
    sentence = _asked(first_sentence(description))
    if sentence and script_of(sentence) != COMMON_SCRIPT:
        return sentence if len(sentence) <= _MOST_CHARACTERS else name_words(name)
    verb = sentence.partition(" ")[0].lower()
    forms = (verb, verb[:-1], verb[:-2]) if verb.endswith(("s", "d")) else (verb,)
    # a long sentence still says more than a name that begins with a thing: `users_setAdmin`
    is_thing = bool(words) and words[0] not in forms and deed_of(words[0]) == "other"
    says_more = (
        is_thing and words[0] not in _METHODS and any(deed_of(one) != "other" for one in forms)
    )
    is_path = is_address(words)
    if is_path and len(sentence.split()) > _MOST_WORDS:
        sentence = _LATER_CLAUSE.split(sentence, maxsplit=1)[0]
    most = _MOST_WORDS * (1 + (says_more or is_path))
    rest = sentence.partition(" ")[2]
    is_short = rest and len(sentence.split()) <= most and not _CODE.search(sentence)
    if not is_short or language_of(description) != DEFAULT_LANGUAGE:
        return sentence[0].lower() + sentence[1:] if is_short else name_words(name)
    if _PROFORMS.issuperset(_WORDS.findall(rest.lower())):  # "Get All" of one group of many
        return name_words(name)
    after = rest.split()[2:] if _BESIDE.match(rest) else rest.split()
    if {*map(str.lower, after[:1])} & _DETERMINERS and verb not in _NO_VERBS:  # "sends a …"
        return f"{_base_form(verb) or verb} {_BESIDE.sub(_in_base_form, rest)}"
    begins_with_verb = bool(words) and (deed_of(words[0]) != "other" or words[0] in _METHODS)
    own = words[:1] if begins_with_verb else words
    known = [one for one in forms if one in own or deed_of(one) != "other"]
    if known:
        return f"{known[0]} {rest}"
    if verb in _NO_VERBS if is_path else not _is_about(words, verb, rest):
        return name_words(name)
    is_noun = singular(verb) in words or rest.split()[0].lower() in _JOINING
    return f"{verb if is_noun else _base_form(verb) or verb} {rest}"


def _base_form(verb: str) -> str:
    """Return the base form of an English verb in the third person, or "" of another word."""
    base = verb[:-1] if verb.endswith("zes") else singular(verb)
    return "" if base == verb else base


def _in_base_form(found: re.Match[str]) -> str:
    return f"{found[1]}{_base_form(found[2]) or found[2]}"


def _asked(sentence: str) -> str:
    """Return a sentence of documentation as who asks says it: of "my" things, and none "given"."""
    plain = _ASIDE.sub("", _THIS.sub("", sentence))
    bare = _GIVEN.sub(lambda found: with_article(found[1]), plain)
    own = _YOUR.sub(lambda found: f"{'M' if found[1] == 'Y' else 'm'}y", bare)
    return _GIVEN_BEFORE.sub("", own)


def is_address(words: Sequence[str]) -> bool:
    """Whether a tool's name is a method and a path: "get_api_libraries"."""
    is_path = "api" in words or "id" in words[2:]
    return bool(words) and (words[0] in _METHODS or (words[0] in _READING and is_path))


def first_sentence(description: str) -> str:
    """Return the first sentence of a description, without its end mark."""
    return _SENTENCE.split(description.strip(), maxsplit=1)[0].strip(" ,'\"")


def _is_about(words: Sequence[str], verb: str, rest: str) -> bool:
    """Whether all that a sentence is about stands in a tool's name, but not what it does to it."""
    named = set(map(singular, words))
    about = {singular(one) for one in _WORDS.findall(rest.lower())} - _ARTICLES - _JOINING
    return bool(about) and about <= named and not any(one.startswith(verb) for one in named)


@lru_cache(8192)
def name_words(name: str) -> str:
    """Return a tool's name in words, without its group.

    `Clock.Alarms.setAlarm` is "set alarm", and `Offices_GetOpeningHours` "get opening hours". Of a
    name made of a function and its address (`get_all_api_foods_get`) its method is left out.
    """
    *groups, last = name.rstrip(".").split(".")
    own = _GROUP.sub("", last)
    words = split_name(own)
    if len(words) == 1 and groups and words[0] in _READING:  # "v1.health.get"
        return humanise(f"{last}_{groups[-1]}")
    if "api" in words and words[-1] in _METHODS | _READING:
        own = "_".join(one for one in words[:-1] if one != "api")
    return humanise(own)


def parameter_views(schema: JsonSchema) -> tuple[ParameterView, ...]:
    """Return the views of an object schema's members, called by their names if titles clash."""
    members = (schema.get("properties") or {}).items()
    views = [_parameter(name, one) for name, one in members if isinstance(one, dict)]
    often = Counter(squeeze(one.titles[0]) for one in views)
    own = (one.titles[-1:] if often[squeeze(one.titles[0])] > 1 else one.titles for one in views)
    return tuple(one._replace(titles=titles) for one, titles in zip(views, own, strict=True))


def title_table(parameters: tuple[ParameterView, ...]) -> TitleTable | None:
    """Return the titles of these parameters, with short forms that belong to only one of them."""
    owners: dict[str, int] = {}
    spelled: dict[str, str] = {}
    for at, parameter in enumerate(parameters):
        for title in (*parameter.titles, *([parameter.topic] if parameter.topic else ())):
            owners.setdefault(squeeze(title), at)
            spelled.setdefault(squeeze(title), title)
    forms = ((at, form) for at, one in enumerate(parameters) for form in short_forms(one.name))
    short = [(squeeze(form), form, at) for at, form in forms]
    for key, form, at in short:
        is_own = all(other == at for one, _, other in short if one == key)
        if is_own and owners.setdefault(key, at) == at:
            spelled.setdefault(key, form)
    found = (spelled[key] for key in owners if key in spelled and key)
    ordered = sorted(found, key=len, reverse=True)
    pattern = re.compile("|".join(map(_spelling, ordered)), re.IGNORECASE)
    return TitleTable(pattern, owners) if ordered else None


@lru_cache(16384)
def squeeze(title: str) -> str:
    """Return a title as a lookup key: in lower case, without spaces."""
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


def field_phrase(names: Sequence[str], language: Language) -> str:
    """Return a loose name for what tools are about, such as "my banking" or "my push token"."""
    fields = {humanise(name.split(".", maxsplit=1)[0]) if "." in name else "" for name in names}
    field = fields.pop() if len(fields) == 1 else ""
    if not field and of(language).code == DEFAULT_LANGUAGE:
        first, *others = map(_things_in, names)
        field = " ".join(word for word in first if all(word in other for other in others))
    (shape,) = shapes_in(language, f"conversations.{'field' if field else 'anything'}")
    return filled(shape, {"field": field})


def _things_in(name: str) -> list[str]:
    """Return the words of a tool's name for what it is about: "errors" of `get_errors_for_job`."""
    words = function_words(name)
    verbs = [at for at, word in enumerate(words) if deed_of(word) != "other"]
    about = words[1 + max(verbs, default=0) :] or words[:-1]  # its verb is before or behind
    end = next((at for at, word in enumerate(about) if word in _JOINING), len(about))
    return humanise("_".join(about[:end])).split() if end else []
