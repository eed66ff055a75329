"""The tools of a request in several steps: sentences that ask for them or point at an entry."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import combinations
from random import Random
from typing import Any, NamedTuple

import orjson
from pydantic import JsonValue

from callwright.language.calls.entries import (
    FAMILIES,
    affinity,
    is_number_of_thing,
    is_query,
    noun_for,
    rank_words,
)
from callwright.language.calls.tools import ParameterView, ToolView, parameter_views
from callwright.language.names import deed_of, humanise, plural, split_name
from callwright.language.pages import filled, lines
from callwright.language.sentences import Sentence
from callwright.llm.template.sentences import (
    SENTENCE_END,
    ToolSentences,
    all_sentences,
    brought_for,
    own_files,
)
from callwright.llm.tool_sentences import SentenceFile
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE, JsonSchema
from callwright.warehouse.tool_notes import ToolNote, notes_in

_NO_ASPECT = frozenset({"name", "id", "code", "token", "slug", "key"})
_READS = frozenset({"list", "search", "look"})
_ARTICLES = ("the ", "a ", "an ", "all ", "every ")
_MOST_TOLD = 2  # parameters that stand behind a noun
_MOST_JOINED = 3  # values that one "with" joins
_MARKS = re.compile(r"[\[\](){}<>|:;\\]")


class GoalTool(ToolView):
    """A tool as the prompt shows it, with the sentences that ask for it."""

    def schema(self, parameter: str) -> JsonSchema:
        """Return the schema of a parameter; works for "legs[].fromId" too."""
        first, _, member = parameter.partition("[].")
        schema = self.properties.get(first) or {}
        if member:
            return ((schema.get("items") or {}).get("properties") or {}).get(member) or {}
        return schema

    def slot(self, parameter: str) -> ParameterView:
        """Return the view of a parameter; works for "legs[].fromId" too."""
        first, _, member = parameter.partition("[].")
        views = (
            parameter_views(self.schema(first).get("items") or {}) if member else self.parameters
        )
        return next(view for view in views if view.name == (member or first))

    @cached_property
    def query(self) -> str:
        """The only text parameter that a lookup needs, or "" if the tool is not a lookup."""
        if len(self.required) != 1:
            return ""
        name = self.required[0]
        linked = self._has_notes(name)
        return name if is_query(name, self.schema(name), linked=linked) else ""

    @cached_property
    def own(self) -> ToolSentences | None:
        """The sentences that people say to the tool, or None if there are none.

        Shipped sentences may leave out parameters that nobody states.
        """
        if self._brought:
            return self._brought
        found = all_sentences(DEFAULT_LANGUAGE).get(self.name)
        slots = found.requests[0].slots if found else frozenset[str]()
        is_same = slots >= {*self.required} and (not slots or not slots.isdisjoint(self.properties))
        return found if is_same else None

    @cached_property
    def _brought(self) -> ToolSentences | None:
        return brought_for(self, DEFAULT_LANGUAGE)

    @cached_property
    def sentences(self) -> ToolSentences:
        """Its own sentences, or else plain ones made of its title and parameters.

        They speak of an entry in the place of the title's noun ("cancel {delivery_id}" for
        "Cancel a delivery"), and say what something should be where the tool changes it.
        """
        if self.own:
            return self.own
        requests = [self._plain(self._title)]
        (entry, *more) = self._entries or [("", "")]
        if entry[0] and not more and deed_of(self._title.partition(" ")[0]) == "change":
            requests += [
                f"The {humanise(first)} of {{{entry[0]}}} should be {{{first}}}"
                + "".join(
                    f"[, its {humanise(one)} {{{one}}}]" for one in self._values if one != first
                )
                + "."
                for first in self._values
            ]
        return ToolSentences.model_validate({"requests": requests})

    @cached_property
    def _title(self) -> str:
        return _MARKS.sub("", self.title)

    @cached_property
    def _entries(self) -> tuple[tuple[str, str], ...]:
        """The parameters that take an entry, each with the noun of one."""
        found = (
            (name, next(notes_in(str(self.schema(name).get("description", ""))), None))
            for name in self.properties
            if name != self.query and re.fullmatch(r"\w+", name)
        )
        return tuple(
            (name, noun_for(origin.entries, origin.source)) for name, origin in found if origin
        )

    @cached_property
    def _values(self) -> tuple[str, ...]:
        """The parameters whose values are stated."""
        taken = dict(self._entries)
        return tuple(
            one for one in self.properties if re.fullmatch(r"\w+", one) and one not in taken
        )

    def _plain(self, title: str) -> str:
        """Return a title as a sentence template with all parameters, none of which must be said."""
        for name, noun in self._entries:
            title, count = re.subn(
                rf"(?<![\w{{|])(?:(?:an?|one|the) )?{re.escape(noun)}(?!\w)",
                f"({{{name}}}|a {noun})",
                title,
                count=1,
            )
            title += "" if count else f"[ {{{name}}}]" if " " not in title else f"[, {{{name}}}]"
        return title + _with_values(self._values)

    def noun(self, entries: str) -> str:
        """Return what an entry of its response is called, with what it takes at most twice."""
        told = [f"[ of {{{name}}}]" for name, _ in self._entries]
        told += [_with_values((name,)) for name in self._values if name != self.query]
        return noun_for(entries, self.name) + ("".join(told) if len(told) <= _MOST_TOLD else "")

    def _has_notes(self, parameter: str) -> bool:
        return any(notes_in(str(self.schema(parameter).get("description", ""))))

    @cached_property
    def facts(self) -> tuple[Sentence, ...]:
        """The sentences that ask for fields of the tool's result."""
        if self.sentences.facts:
            return self.sentences.facts
        verb, _, rest = self._title.partition(" ")
        if not self.own and rest and deed_of(verb) in _READS:
            article = "" if rest.startswith(_ARTICLES) else "the "
            told = {"thing": f"{article}{self._plain(rest)}", "fields_": "{fields_}"}
            return tuple(
                Sentence(filled(one.text, told)) for one in lines(DEFAULT_LANGUAGE, "goals.told")
            )
        (asked,) = lines(DEFAULT_LANGUAGE, "goals.asked")
        requests = (one.text for one in self.sentences.requests if one.is_bare)
        return tuple(
            Sentence(filled(asked.text, {"a": one, "fields_": "{fields_}"})) for one in requests
        )


def _with_values(names: Sequence[str]) -> str:
    """Return a part of a template that states any of these parameters."""
    first, rest = names[:_MOST_JOINED], names[_MOST_JOINED:]
    ways = [
        " and ".join(f"the {humanise(name)} {{{name}}}" for name in some)
        for count in range(len(first), 0, -1)
        for some in combinations(first, count)
    ]
    joined = f"[ with ({'|'.join(ways)})]" if ways[1:] else f"[ with {ways[0]}]" if ways else ""
    return joined + "".join(f"[, {humanise(name)} {{{name}}}]" for name in rest)


class Toolbox:
    """The tools shown, by name."""

    def __init__(self, tools: Iterable[GoalTool]) -> None:
        """Store the tools by name."""
        self.tools: Mapping[str, GoalTool] = {tool.name: tool for tool in tools}

    def is_lookup(self, name: str) -> bool:
        """Whether the tool finds a thing by the single text that names it."""
        return bool(self.tools[name].query)

    def inside(self, name: str, parameter: str) -> ToolNote | None:
        """Return the origin of a parameter whose call needs only what a call of `name` says.

        The request then names just the entry. None if there is no such origin.
        """
        for origin in self.origins(name, parameter):
            needed = self.tools[origin.source].required
            is_known = parameter not in needed and self.tools[name].properties.keys() >= {*needed}
            if (
                is_known
                and not self.is_lookup(origin.source)
                and (needed or not is_number_of_thing(parameter))
            ):
                return origin
        return None

    def lookup_for(self, name: str, parameter: str) -> ToolNote | None:
        """Return the origin that finds a thing by name, closest to the tool's name, or None."""
        if self.tools[name].query == parameter:
            return None
        found = [
            origin for origin in self.origins(name, parameter) if self.is_lookup(origin.source)
        ]
        return max(found, key=lambda origin: affinity(name, origin.source), default=None)

    def origins(self, name: str, parameter: str) -> list[ToolNote]:
        """Return the origins in shown tools that a parameter's description names."""
        description = str(self.tools[name].schema(parameter).get("description", ""))
        return [origin for origin in notes_in(description) if origin.source in self.tools]

    def pointers(self, tool: str, entries: str) -> "Pointers":
        """Return the words that refer to one of `entries` in the response of a tool."""
        own = self.tools[tool].own
        return pointers(
            (own and own.noun) or self.tools[tool].noun(entries), own.called if own else "called"
        )


def read_toolbox(shown: JsonValue) -> Toolbox:
    """Return the tools of a section <tools>. Raise ReplyError if they are not valid."""
    return _toolbox(orjson.dumps(shown), own_files())


@lru_cache(256)
def _toolbox(shown: bytes, _brought: tuple[SentenceFile, ...]) -> Toolbox:
    tools = orjson.loads(shown)
    if not isinstance(tools, list) or not all(
        isinstance(tool, dict) and tool.get("name") for tool in tools
    ):
        raise ReplyError("template/v1 expects in <tools> a list of tools with their names.")
    return Toolbox(map(GoalTool, _with_guessed_notes(tools)))


def _with_guessed_notes(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Add notes by names to tools that have none, as in their own documents.

    An `order_id` is the `id` of an entry that `list_orders` returns, or of what `create_order`
    does; what `list_items` lists by it tells it as well. A tool that takes it does not.
    """
    noted: list[dict[str, Any]] = []
    for tool in tools:
        schema = tool.get("parameters") or {}
        properties = dict(schema.get("properties") or {})
        for name, one in properties.items():
            own = str(one.get("description") or "")
            if any(notes_in(own)):
                return [dict(tool) for tool in tools]
            if guessed := " ".join(map(str, _guessed_notes(name, tools))):
                properties[name] = {**one, "description": f"{own} {guessed}".strip()}
        noted.append({**tool, "parameters": {**schema, "properties": properties}})
    return noted


def _guessed_notes(parameter: str, tools: Sequence[Mapping[str, Any]]) -> Iterator[ToolNote]:
    *thing, last = split_name(parameter)
    if last != "id" or not thing:
        return
    takers = [parameter in ((one.get("parameters") or {}).get("properties") or {}) for one in tools]
    names = [str(one["name"]) for one in tools]
    told_of = [split_name(name)[1:] for name in names]
    many = _plural_of(thing)
    # what is listed by an order's id has that id ("list_items", so "get_item")
    listed = {about for about, takes in zip(told_of, takers, strict=True) if takes}
    for name, about, takes in zip(names, told_of, takers, strict=True):
        if takes:
            continue
        if about in (many, tuple(thing)):
            yield ToolNote(name, "", "id", listed=about == many)
        elif _plural_of(about) in listed:
            yield ToolNote(name, "", parameter, listed=False)


def _plural_of(words: Sequence[str]) -> tuple[str, ...]:
    return split_name(plural(" ".join(words))) if words else ()


class Rule(NamedTuple):
    """How an entry is meant: by rank, by name, or as the only one.

    The kinds are "rank" by a phrase with {} for the noun, "called" or "contains" a name, "only",
    and "query".
    """

    kind: str
    text: str = ""


class Pointed(NamedTuple):
    """The rules for an entry, () for the entry meant before, and what its words say of its call."""

    rules: tuple[Rule, ...]
    given: dict[str, str]


class Pointers:
    """The words for an entry called by a noun that may state arguments: "[{colour}] bicycle"."""

    def __init__(self, noun: str, called: str) -> None:
        """Take the noun, and the word that joins it to a name."""
        self._noun, self._called = Sentence(noun), called
        self.noun = self._noun.draw(frozenset(), Random(0)) or noun

    def says(self, stated: Iterable[str]) -> bool:
        """Whether the noun can say these parameters of the call."""
        return self._noun.slots.issuperset(stated)

    def write(self, rules: Sequence[Rule], given: Mapping[str, str]) -> str:
        """Return the words for the entry that the rules pick in the response to a `given` call."""
        words = {"noun": filled(self._noun.draw(frozenset(given), Random(0)) or self.noun, given)}
        shape = Rule("same")
        for rule in rules:
            shape = rule if rule.kind == "rank" else Rule(rule.kind)
            slot = {"contains": "part", "called": "name"}.get(rule.kind)
            words |= {slot: quoted(rule.text)} if slot else {}
        words |= {"called": self._called} if "name" in words else {}
        return filled(_entry_lines()[shape].draw(frozenset(words), Random(0)) or "", words)

    def read(self, words: str, is_value: Callable[[str, str], bool]) -> Pointed | None:
        """Return the entry that `words` refer to, or None.

        `is_value` says which words a slot of the noun accepts.
        """

        def is_said(slot: str, said: str) -> bool:
            if slot == "noun":
                return self._noun.read(said, is_value) is not None
            return slot != "called" or said == self._called

        for shape, line in _entry_lines().items():
            slot_words = line.read(words, is_said)
            if slot_words is not None:
                parts = (
                    (Rule("contains", slot_words["part"].strip('"')),)
                    if "part" in slot_words
                    else ()
                )
                last = (
                    Rule("called", slot_words["name"].strip('"')) if "name" in slot_words else shape
                )
                rules = parts if shape.kind in ("same", "contains") else (*parts, last)
                return Pointed(rules, self._noun.read(slot_words["noun"], is_value) or {})
        return None


@cache
def _entry_lines() -> Mapping[Rule, Sentence]:
    """Return the line for an entry by each rule that can select it."""
    kinds = ("same", "only", "called", "contains")
    of_page = {Rule(kind): lines(DEFAULT_LANGUAGE, f"goals.entries.{kind}")[0] for kind in kinds}
    (ranked,) = lines(DEFAULT_LANGUAGE, "goals.entries.ranked")
    phrases = [phrase for family in FAMILIES for phrase in (family.low, family.high)]
    return of_page | {
        Rule("rank", one): Sentence(f"the {one.format(ranked.text)}") for one in phrases
    }


def quoted(words: str) -> str:
    """Return a name as written in a request: in quotes if a sentence seems to end inside it."""
    return f'"{words}"' if SENTENCE_END.search(words) else words


def rules_of(where: Sequence[Mapping[str, JsonValue]]) -> tuple[Rule, ...]:
    """Return the rules for an entry's conditions: a part of its name, then the first other."""
    return tuple(sorted(map(_rule, where), key=lambda rule: rule.kind != "contains"))[:2]


def _rule(condition: Mapping[str, JsonValue]) -> Rule:
    test, field = str(condition["test"]), str(condition.get("field", ""))
    if test in ("equals", "contains"):
        return Rule("called" if test == "equals" else test, str(condition["value"]))
    if test == "only":
        return Rule(test)
    if (words := rank_words(test, field)) is None:
        raise ReplyError(f"template/v1 has no word for the {test} {field!r}.")
    return Rule("rank", words)


@lru_cache(1024)
def pointers(noun: str, called: str = "called") -> Pointers:
    """Return the words that refer to an entry of this noun."""
    return Pointers(noun, called)


def aspect_of(field: str) -> str:
    """Return in words which property of an entry a field is, "" if its own name or key."""
    words = [word for piece in field.replace("[0]", "").split(".") for word in split_name(piece)]
    kept = list(dict.fromkeys(word for word in words if word not in _NO_ASPECT))
    return " ".join(kept) if len(kept) > 1 else ""
