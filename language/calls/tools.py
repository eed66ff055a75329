"""A tool as the template model sees it: what it does, as a person asks for it, and its parameters; analysed once from its JSON."""

import re
from collections import Counter
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import orjson

from callwright.language.calls.parameters import CODED, NUMERIC, Cues, cues_of, meaning_of, meaning_row, short_forms
from callwright.language.names import humanise, split_name
from callwright.language.packs import COMMON_SCRIPT, language_of, of, script_of
from callwright.language.schemas import json_type
from callwright.language.values import topic_phrase
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE, JsonSchema, Language

_LONGEST_TOPIC = 40
_TELLING_LETTERS = 4
_SPACES = re.compile(r"[\s_\-]+")
_IDENTIFIES = re.compile(r"(?:^| )(?:id|ids|number|no|key)$")
_FLAG = re.compile(r"(?:is|has|have|allow|use|can|should|with|all|include|enable|do|auto|maintainer|\w+ \w+ \w+)\b")
_VAGUE = frozenset({"state", "value", "flag", "force", "mode", "private", "public"})
_WHOLE = frozenset({"body", "data", "payload", "request", "object", "input"})
_OWNER = re.compile(r"(?:user|account|customer)(?: ?(?:name|id))?$")
_OWN = re.compile(r"\b(?:my|me)\b")
_CLAUSE = re.compile(
    r"[`*<>{}\[\]|\\_=#:]|\b(?:should|must|can|will)\b|^(?:block|create|return|pass|update)(?: \S+){3,}|^[Ii]nitialize\b"
)
_LONGEST_TOPIC_WORDS = 6
_CLOCK = r"([01]\d|2[0-3]):[0-5]\d$"
_SPOKEN: dict[str, JsonSchema] = {
    "date": {"type": "string", "format": "date"}, "birthday": {"type": "string", "format": "date"},
    "time": {"type": "string", "pattern": f"^{_CLOCK}"},
    "moment": {"type": "string", "pattern": rf"^\d{{4}}-\d{{2}}-\d{{2}} {_CLOCK}"},
}  # fmt: skip


class ParameterView(NamedTuple):
    """A parameter with its kind, the schema by which its words are read, and what people call it."""

    name: str
    schema: JsonSchema
    kind: str
    spoken: JsonSchema
    cues: Cues
    topic: str

    @property
    def gap(self) -> str:
        """Why nobody would state this parameter in the words that are known for it, "" where somebody would."""
        cue = self.cues.by_script[COMMON_SCRIPT]
        is_flag = json_type(self.schema) == "boolean" and not self.topic and len(self.cues.by_script) == 1
        if is_flag and (_FLAG.match(cue) or cue in _VAGUE or self.schema.get("description")):
            return f"what {self.name!r} turns on is not known from its description"
        if json_type(self.schema) == "object" and self.name.lower() in _WHOLE:
            return f"{self.name!r} takes a whole object, which nobody says"
        if json_type(self.schema) == "array" and json_type(self.schema.get("items") or {}) in ("object", "array"):
            return f"{self.name!r} takes a list of objects, which nobody says"
        return "" if len(cue) > 1 or len(self.cues.by_script) > 1 else f"what to call {self.name!r} is not known"

    @property
    def is_identifier(self) -> bool:
        """Whether its values tell which thing is meant: ids and codes, names of files and repositories."""
        if self.kind in CODED | {"code", "pattern"} or _IDENTIFIES.search(" ".join(split_name(self.name))):
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


class CueTable(NamedTuple):
    """One expression for all cues of some parameters, and whose cue each is; weak ones need a value right beside."""

    pattern: re.Pattern[str]
    owners: dict[str, tuple[int, bool]]

    def owner(self, stated: str) -> tuple[int, bool]:
        """The index of the parameter that these words call, and whether the cue is a strong one."""
        key = squeeze(stated)
        return self.owners[key] if key in self.owners else self.owners[key.removesuffix("s")]


class ToolView:
    """What one tool offers: its action in words, its parameters, and the words that speak for it."""

    def __init__(self, tool: dict[str, Any]) -> None:
        self.name = str(tool.get("name", ""))
        self.description = str(tool.get("description") or "")
        self.actions = action_phrases(self.name, self.description)
        stated = (*self.actions, name_phrase(self.name))
        spaced = {phrase: script_of(phrase) == COMMON_SCRIPT for phrase in stated}
        telling = (phrase for phrase in stated if (" " in phrase if spaced[phrase] else len(phrase) > 1))
        self.keys = tuple(dict.fromkeys(phrase.lower() for phrase in telling))
        schema = tool.get("parameters") or {}
        self.required = tuple(schema.get("required") or ())
        self.parameters = parameter_views(schema)

    @cached_property
    def gap(self) -> str:
        """Why nobody would ask for this tool in the words that are known for it, "" where somebody would."""
        gap = action_gap(self.name, self.description)
        owner = next((name for name in self.required if _OWNER.match(" ".join(split_name(name)))), "")
        if not gap and owner and _OWN.search(self.actions[0]):
            gap = f"{self.actions[0]!r} asks for one's own, but {owner!r} names whose it is"
        return gap

    @cached_property
    def cues(self) -> CueTable | None:
        """The cues of its parameters, None where it has none."""
        return cue_table(self.parameters)

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
    """The view of a tool as a prompt shows it (a JSON object with name, description, parameters)."""
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        raise ReplyError(f"template/v1 expects a tool as a JSON object with a name, not {str(tool)[:80]!r}.")
    return _view(orjson.dumps({key: tool.get(key) for key in ("name", "description", "parameters")}))


@lru_cache(4096)
def _view(tool: bytes) -> ToolView:
    return ToolView(orjson.loads(tool))


def parameter_views(schema: JsonSchema) -> tuple[ParameterView, ...]:
    """The views of the members of an object schema."""
    members = schema.get("properties") or {}
    views = tuple(_parameter(name, member) for name, member in members.items() if isinstance(member, dict))
    called = Counter(squeeze(cue) for view in views for cue in set(view.cues.by_script.values()))
    return tuple(
        view if all(called[squeeze(cue)] == 1 for cue in view.cues.by_script.values()) else _by_name(view, called)
        for view in views
    )


def _by_name(view: ParameterView, called: Counter[str]) -> ParameterView:
    """The same view, called by its name where another parameter is called the same."""
    named = humanise(view.name)
    cues = {script: named if called[squeeze(cue)] > 1 else cue for script, cue in view.cues.by_script.items()}
    others = [cue for script, cue in cues.items() if script != COMMON_SCRIPT]
    return view._replace(cues=Cues(cues, tuple(dict.fromkeys((cues[COMMON_SCRIPT], named, *others)))))


def cue_table(parameters: tuple[ParameterView, ...]) -> CueTable | None:
    """The cues of these parameters: strong ones first come, weak ones only where nobody else claims them."""
    owners: dict[str, tuple[int, bool]] = {}
    spelled: dict[str, str] = {}
    for index, parameter in enumerate(parameters):
        for cue in parameter.cues.spoken + ((parameter.topic,) if parameter.topic else ()):
            owners.setdefault(squeeze(cue), (index, True))
            spelled.setdefault(squeeze(cue), cue)
    shared: set[str] = set()
    weak: dict[str, tuple[int, bool]] = {}
    for index, parameter in enumerate(parameters):
        _, *last = parameter.cues.by_script[COMMON_SCRIPT].split()[-2:] or [""]
        for cue in (*short_forms(parameter.name), *(word for word in last if len(word) >= _TELLING_LETTERS)):
            key = squeeze(cue)
            if key in owners and owners[key][0] != index:
                continue
            if weak.setdefault(key, (index, False))[0] != index:
                shared.add(key)
            spelled.setdefault(key, cue)
    owners.update({key: owner for key, owner in weak.items() if key not in shared and key not in owners and key})
    ordered = sorted((spelled[key] for key in owners if key), key=len, reverse=True)
    if not ordered:
        return None
    return CueTable(re.compile("|".join(map(_spelling, ordered)), re.IGNORECASE), owners)


@lru_cache(16384)
def squeeze(cue: str) -> str:
    """A cue as it is looked up: lower case, nothing between its words."""
    return _SPACES.sub("", cue.lower())


def _parameter(name: str, schema: JsonSchema) -> ParameterView:
    kind = meaning_of(name, schema)
    description = str(schema.get("description") or "")
    cues = cues_of(name, description)
    topic = topic_phrase(schema) if json_type(schema) == "boolean" else ""
    if len(topic) > _LONGEST_TOPIC or len(topic.split()) > _LONGEST_TOPIC_WORDS or _CLAUSE.search(topic):
        topic = ""
    if topic:
        cues = Cues({**cues.by_script, script_of(topic): topic}, cues.spoken)
    spoken = schema
    if json_type(schema) == "string" and not any(map(schema.get, ("pattern", "format", "enum"))):
        spoken = _SPOKEN.get(kind, schema)  # a bare "startDate" is stated as a date
    return ParameterView(name, schema, kind, spoken, cues, topic)


def _spelling(cue: str) -> str:
    if script_of(cue) != COMMON_SCRIPT:
        return re.escape(cue)
    inside = r"[\s_\-]*".join(map(re.escape, cue.split()))
    return rf"(?<![A-Za-z0-9]){inside}s?(?![A-Za-z0-9])"


_CODE = re.compile(r"[`*<>{}\[\]|\\_=#/]|\w[A-Z]\w*[a-z][A-Z]|\.\w")
_FEWEST_WORDS, _MOST_WORDS = 2, 13


@lru_cache(8192)
def action_phrase(name: str, description: str) -> str:
    """What to ask of the tool, in the language of its description: "retrieve the tracking status of a shipment"."""
    return of(language_of(description)).rules.action_of(name, description) or name_phrase(name)


@lru_cache(8192)
def action_phrases(name: str, description: str) -> tuple[str, ...]:
    """All the ways in which the action is stated: as described, with another verb for it, and in words of its own."""
    phrase = action_phrase(name, description)
    return (phrase, *of(language_of(phrase)).rules.other_actions(phrase), *own_words(name, description))


@lru_cache(8192)
def own_words(name: str, description: str) -> tuple[str, ...]:
    """What people say for a tool of ours, by the language's deeds.yaml; () for any other tool."""
    language = language_of(action_phrase(name, description))
    return tuple(of(language).data.get("deeds", {}).get(name, ()))


@lru_cache(8192)
def name_phrase(name: str) -> str:
    """The tool's name as words, in the imperative where it begins with a verb."""
    return of(DEFAULT_LANGUAGE).rules.action_of_name(name)  # that names in code are in


@lru_cache(8192)
def action_gap(name: str, description: str) -> str:
    """Why nobody would ask for this tool in the words that are known for it, "" where somebody would."""
    phrase = action_phrase(name, description)
    unsayable = of(language_of(phrase)).cues["unsayable"]
    found, count = _CODE.search(phrase) or re.search(unsayable, phrase, re.IGNORECASE), len(phrase.split())
    stated = f"{phrase!r}, which its name and description come to,"
    if found:
        return f"{stated} is nothing that people ask for ({found[0].strip()!r})"
    if script_of(phrase) == COMMON_SCRIPT and not _FEWEST_WORDS <= count <= _MOST_WORDS:
        return f"{stated} has {count} words; {_FEWEST_WORDS} to {_MOST_WORDS} are asked"
    return ""


def field_phrase(name: str, language: Language) -> str:
    """What people call the field of a tool that they speak of loosely: "my banking"; of no field where its name has none."""
    shapes = of(language).data["conversations"]
    field = humanise(name.split(".", maxsplit=1)[0]) if "." in name else ""
    return str(shapes["field"].replace("{f}", field) if field else shapes["anything"])
