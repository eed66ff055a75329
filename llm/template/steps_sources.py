"""Where the arguments of steps come from, by which words an entry of a list is picked, and which calls are due next."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache, reduce
from typing import Any, NamedTuple, Union

import orjson
from pydantic import JsonValue

from callwright.language.calls.entries import (
    FAMILIES,
    affinity,
    is_number_of_thing,
    is_query,
    name_paths,
    named,
    rank_fields,
    rank_words,
    read_rank,
    text_at,
    value_in,
)
from callwright.language.names import humanise
from callwright.language.text import fold
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import JsonSchema

_ORIGIN = re.compile(
    r"\(`(?P<field>[^`]*)`(?P<listed> of an entry(?: of `(?P<entries>[^`]*)`)?)? in the response of (?P<source>[^\s()]+)\)"
)


class ResponseField(NamedTuple):
    """The `field` of an entry of `entries` in the response of the tool `source`; not `listed`: of the response itself."""

    source: str
    entries: str
    field: str
    listed: bool = True


class StepTool(NamedTuple):
    """A tool as the prompt shows it."""

    name: str
    description: str
    properties: Mapping[str, JsonSchema]
    required: tuple[str, ...]

    def schema(self, parameter: str) -> JsonSchema:
        """The schema of a parameter, of "legs[].fromId" too."""
        first, _, member = parameter.partition("[].")
        schema = self.properties.get(first) or {}
        return ((schema.get("items") or {}).get("properties") or {}).get(member) or {} if member else schema

    def members(self, parameter: str) -> tuple[str, ...]:
        """The required members of the objects that a list parameter holds, () for any other."""
        items = self.schema(parameter).get("items") or {}
        return tuple(items.get("required") or items.get("properties") or ())

    def origins(self, parameter: str) -> tuple[ResponseField, ...]:
        """Where the parameter's description says that its value comes from."""
        return _origins(str(self.schema(parameter).get("description", "")))

    @property
    def query(self) -> str:
        """The one text that a lookup needs, "" where the tool is none."""
        if len(self.required) != 1:
            return ""
        name = self.required[0]
        linked = bool(self.origins(name))
        return name if is_query(name, self.properties.get(name) or {}, linked=linked) else ""


class ShownTools(NamedTuple):
    """The tools shown, by name."""

    tools: Mapping[str, StepTool]

    def is_lookup(self, name: str) -> bool:
        """Whether the tool finds a thing by the one text that names it."""
        return name in self.tools and bool(self.tools[name].query)

    def is_inside(self, source: str, name: str, parameter: str) -> bool:
        """Whether what a call of `name` says besides `parameter` is all that a call of `source` needs."""
        if source not in self.tools or self.is_lookup(source):
            return False
        known, needed = self.tools[name].properties, self.tools[source].required
        if not needed and is_number_of_thing(parameter):
            return False
        return all(need in known and need != parameter for need in needed)

    def lookup_for(self, name: str, parameter: str) -> "ResponseField | None":
        """The origin of a parameter that finds a thing by its name, the one closest to the tool's own name."""
        found = [origin for origin in self.origins(name, parameter) if self.is_lookup(origin.source)]
        return max(found, key=lambda origin: affinity(name, origin.source), default=None)

    def origins(self, name: str, parameter: str) -> list[ResponseField]:
        """Where a parameter's value can come from, of the tools that are shown."""
        return [origin for origin in self.tools[name].origins(parameter) if origin.source in self.tools]


def read_toolbox(shown: JsonValue) -> ShownTools:
    """The tools of a section <tools>; ReplyError where they are none."""
    return _toolbox(orjson.dumps(shown))


@lru_cache(256)
def _toolbox(shown: bytes) -> ShownTools:
    tools = orjson.loads(shown)
    if not isinstance(tools, list) or not all(isinstance(tool, dict) and tool.get("name") for tool in tools):
        raise ReplyError("template/v1 expects in <tools> a list of tools with their names.")
    read: dict[str, StepTool] = {}
    for tool in tools:
        name, parameters = str(tool["name"]), tool.get("parameters") or {}
        properties, required = parameters.get("properties") or {}, tuple(parameters.get("required") or ())
        read[name] = StepTool(name, str(tool.get("description") or ""), properties, required)
    return ShownTools(read)


@lru_cache(4096)
def _origins(description: str) -> tuple[ResponseField, ...]:
    return tuple(
        ResponseField(found["source"], found["entries"] or "", found["field"], bool(found["listed"]))
        for found in _ORIGIN.finditer(description)
    )


_WITHIN = re.compile(r" with (?P<part>.+?) in its name\b")


class Rule(NamedTuple):
    """How an entry is meant: "rank" by a phrase with {} for the noun, "called" or "contains" a name, "only", "query"."""

    kind: str
    text: str = ""


def write_pick(where: Sequence[Mapping[str, JsonValue]], noun: str) -> str:
    """The words for the entry that meets the conditions."""
    for condition in where:
        if condition["test"] == "contains":
            noun = f"{noun} with {condition['value']} in its name"
    for condition in where:
        test, field = str(condition["test"]), str(condition.get("field", ""))
        if test == "only":
            return f"the only {noun}"
        if test == "equals":
            return f"the {noun} called {condition['value']}"
        if test != "contains":
            words = rank_words(test, field)
            pattern = words or f"{{}} with the {test} {humanise(field.rpartition('.')[2])}"
            return f"the {pattern.format(noun)}"
    return f"the {noun}"


def read_pick(words: str, noun: str) -> tuple[Rule, ...] | None:
    """The rules that `words` state for an entry called `noun`, () for the entry meant before, None where they state none."""
    text = words.strip()
    within = _WITHIN.search(text)
    rules: list[Rule] = []
    if within:
        rules.append(Rule("contains", within["part"]))
        text = text[: within.start()] + text[within.end() :]
    if text.lower() in {f"that {noun}".lower(), f"that same {noun}".lower(), "it"}:
        return ()
    rule = _read_rule(text, noun)
    if rule is not None:
        return (*rules, rule)
    return tuple(rules) if rules and text.lower() == f"the {noun}".lower() else None


def _read_rule(text: str, noun: str) -> Rule | None:
    lower = text.lower()
    if lower == f"the only {noun}".lower():
        return Rule("only")
    called = re.fullmatch(rf"the {re.escape(noun)} (?:called|named) (?P<name>.+)", text, re.IGNORECASE)
    if called:
        return Rule("called", called["name"])
    patterns = [pattern for family in FAMILIES for pattern in (family.low, family.high)]
    ranked = next((pattern for pattern in patterns if lower == f"the {pattern.format(noun)}".lower()), None)
    if ranked:
        return Rule("rank", ranked)
    other = re.fullmatch(
        rf"the {re.escape(noun)} with the (?P<rank>lowest|highest|earliest|latest) (?P<field>.+)", text
    )
    return Rule(other["rank"], other["field"]) if other else None


def pick(entries: Sequence[JsonValue], rules: Sequence[Rule]) -> JsonValue | None:
    """The entry that the rules mean, None where there is none such."""
    left = reduce(_left, rules, list(entries))
    return left[0] if left else None


def _left(entries: list[JsonValue], rule: Rule) -> list[JsonValue]:
    if not entries or rule.kind == "only":
        return entries
    if rule.kind == "contains":
        paths = name_paths(entries)
        return [entry for entry in entries if any(fold(rule.text) in fold(text_at(entry, path)) for path in paths)]
    if rule.kind in {"called", "query"}:
        found = named(entries, rule.text)
        return [entries[found[0]]] if found else (entries[:1] if rule.kind == "query" else [])
    if rule.kind == "rank":
        ranked = read_rank(rule.text, entries[0])
        return _best(entries, *ranked) if ranked else []
    paths = [path for path in rank_fields(entries[0]).values() if humanise(path.rpartition(".")[2]) == rule.text]
    return _best(entries, rule.kind, paths[0]) if paths else []


def _best(entries: list[JsonValue], test: str, path: str) -> list[JsonValue]:
    """The entries with the best of the numbers at a path, of the texts where there is no number."""
    held = [(value_in(entry, path), entry) for entry in entries]
    numbers = [one for one in held if isinstance(one[0], int | float) and not isinstance(one[0], bool)]
    ranked: list[tuple[Any, JsonValue]] = numbers or [one for one in held if isinstance(one[0], str)]
    if not ranked:
        return []
    best = (min if test in {"lowest", "earliest"} else max)(value for value, _ in ranked)
    return [entry for value, entry in ranked if value == best]


class KnownValue(NamedTuple):
    """A value that was stated, or that the schema gives."""

    value: JsonValue


class FromEntry(NamedTuple):
    """The `field` of the entry of `entries` that the rules mean, in the response to the call `node`."""

    node: int
    entries: str
    field: str
    rules: tuple[Rule, ...]
    later_by: int = 0


class Parts(NamedTuple):
    """Several values in one: a list of objects (`names`), or a text of them joined by a comma."""

    shape: str
    names: tuple[str, ...]
    parts: "tuple[Source, ...]"


Source = Union[KnownValue, FromEntry, Parts]  # noqa: UP007 - a forward reference in it


class Node(NamedTuple):
    """A call to make once its sources are known."""

    tool: str
    sources: Mapping[str, Source]


def called_entries(nodes: Sequence[Node]) -> Iterator[str]:
    """The entries of responses that the words of a request call by name."""
    waiting: list[Source] = [source for node in nodes for source in node.sources.values()]
    while waiting:
        source = waiting.pop()
        if isinstance(source, Parts):
            waiting += source.parts
        elif isinstance(source, FromEntry):
            yield from (rule.text for rule in source.rules if rule.kind == "called")


_JOINT = ","


class _UnknownError(Exception):
    """A value that no response gives."""


Made = Mapping[bytes, JsonValue]


def due_calls(nodes: Sequence[Node], made: Made) -> list[tuple[str, dict[str, JsonValue]]]:
    """The calls to make at once after those `made`, which are given by name with what they returned."""
    calls: list[tuple[str, dict[str, JsonValue]]] = []
    known = _Responses(nodes, {})
    for at, node in enumerate(nodes):
        try:
            arguments = {name: known.value(source) for name, source in node.sources.items()}
        except _UnknownError:
            continue
        name = made_name(node.tool, arguments)
        if name in made:
            known.by_node[at] = made[name]
        elif (node.tool, arguments) not in calls:
            calls.append((node.tool, arguments))
    return calls


def made_name(tool: str, arguments: JsonValue) -> bytes:
    """The name of a call among those made."""
    return orjson.dumps([tool, arguments], option=orjson.OPT_SORT_KEYS)


class _Responses(NamedTuple):
    """What calls returned, by the place of their nodes, and the values that it gives."""

    nodes: Sequence[Node]
    by_node: dict[int, JsonValue]

    def value(self, source: Source) -> JsonValue:
        """The value of a source. Raises _UnknownError."""
        match source:
            case KnownValue(value=value):
                return value
            case FromEntry():
                return self._entry(source)
            case Parts(shape="object", names=names, parts=parts):
                return dict(zip(names, map(self.value, parts), strict=True))
            case Parts(shape=shape, parts=parts):
                values = [self.value(part) for part in parts]
                return _JOINT.join(map(str, values)) if shape == "joined" else values

    def _entry(self, source: FromEntry) -> JsonValue:
        if source.node not in self.by_node:
            raise _UnknownError
        response, rules = self.by_node[source.node], source.rules
        if rules == (Rule("query", ""),):  # a look-up whose words came out of a response is read by what was looked up
            rules = (Rule("query", str(self.value(next(iter(self.nodes[source.node].sources.values()))))),)
        held = value_in(response, source.entries) if source.entries else response
        entries = held if isinstance(held, list) else [held]
        entry = pick([entry for entry in entries if value_in(entry, source.field) is not None], rules)
        value = value_in(entry, source.field) if entry is not None else None
        if value is None:
            raise _UnknownError
        return _later(value, source.later_by) if source.later_by else value


def _later(value: JsonValue, minutes: int) -> JsonValue:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise _UnknownError from error
    separator = "T" if "T" in str(value) else " "
    later = moment + timedelta(minutes=minutes)
    return later.isoformat(sep=separator, timespec="seconds" if str(value).count(":") > 1 else "minutes")
