"""Understanding a request for several steps: the tools' sentences recognise each clause.

Their slots give the sources of arguments.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import product
from operator import itemgetter
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.names import deed_of, function_words
from callwright.language.pages import read_line, shapes_in
from callwright.language.sentences import Sentence
from callwright.language.text import outside_quotes
from callwright.language.values import locate
from callwright.llm.template.goal_sources import (
    FromEntry,
    KnownValue,
    Members,
    Node,
    Parts,
    Source,
    Unknown,
    entries_in,
    with_givers,
)
from callwright.llm.template.goal_tools import GoalTool, Rule, Toolbox, aspect_of
from callwright.llm.template.sentences import SENTENCE_END, read_slot
from callwright.llm.tool_sentences import FIELDS
from callwright.warehouse.records import DEFAULT_LANGUAGE, JsonSchema
from callwright.warehouse.tool_notes import ToolNote

LEG, JOINT = ", then ", " plus "
QUERY = Rule("query")
_AROUND_VALUES = frozenset({"the", "at", "on", "in", "for"})


class GoalReading(NamedTuple):
    """The calls that a request needs, each after its sources.

    Also the fields asked for, by tool, and the sentences that say nothing.
    """

    nodes: tuple[Node, ...]
    asked: Mapping[str, tuple[str, ...]]
    unread: tuple[str, ...]


@lru_cache(1024)
def read_goal(request: str, box: Toolbox) -> GoalReading:
    """Read a request by the sentences of the tools shown."""
    nodes, fields_by_tool, unread = list[Node](), dict[str, tuple[str, ...]](), list[str]()
    for sentence, clauses in read_clauses(request, box):
        unread += [] if clauses else [sentence]
        for clause in clauses:
            fields_by_tool[clause.node.tool] = (
                *fields_by_tool.get(clause.node.tool, ()),
                *clause.fields,
            )
            nodes += [one for one in clause.new_nodes(nodes) if one not in nodes]
    return GoalReading(tuple(nodes), fields_by_tool, tuple(unread))


def read_clauses(request: str, box: Toolbox) -> Iterator[tuple[str, "list[Clause]"]]:
    """Yield each sentence of a request that asks for something, with its clauses."""
    nodes: list[Node] = []
    last: dict[str, FromEntry] = {}
    ends = [found.end() for found in outside_quotes(SENTENCE_END, request)]
    for start, end in zip([0, *ends], [*ends, len(request)], strict=True):
        sentence = request[start:end].strip()
        if sentence in _asides():
            continue
        clauses = _SentenceReader(box, nodes, last).read(sentence)
        yield sentence, clauses
        for clause in clauses:
            nodes += [one for one in clause.new_nodes(nodes) if one not in nodes]
            last |= last_meant(box, clause.node)


@cache
def _asides() -> frozenset[str]:
    """Return the sentences that ask for nothing."""
    places = ("goals.greetings", "goals.openings", "goals.closings")
    return frozenset(one for place in places for one in shapes_in(DEFAULT_LANGUAGE, place))


def last_meant(box: Toolbox, node: Node) -> dict[str, FromEntry]:
    """Return the last entry that the words for a call refer to, by noun."""
    entries = (entry for one in with_givers(node) for entry in entries_in(one.sources.values()))
    meant = (one for one in entries if one.rules and not box.is_lookup(one.node.tool))
    return {box.pointers(one.node.tool, one.entries).noun: one for one in meant}


class Clause(NamedTuple):
    """A requested call and response fields; `own` counts the letters outside the slots.

    `said` has the words in each slot of the tool's sentence, and `text` is the whole clause.
    """

    node: Node
    fields: tuple[str, ...]
    own: int
    said: Mapping[str, str]
    text: str
    is_bare: bool

    @property
    def open(self) -> int:
        """How many values the person would have to be asked for."""
        return sum(isinstance(one, Unknown) for one in self.node.sources.values())

    def new_nodes(self, nodes: Sequence[Node]) -> list[Node]:
        """Return the calls that it needs which were not mentioned yet, and its own call."""
        return [one for one in with_givers(self.node) if one not in nodes]


class _SentenceReader:
    """Reads a sentence given the calls mentioned before it; `last` is what "that hotel" means."""

    def __init__(self, box: Toolbox, nodes: Sequence[Node], last: Mapping[str, FromEntry]) -> None:
        self._box, self._nodes, self._last = box, nodes, last
        self._known = {node.tool: node for node in nodes}
        self._read: dict[tuple[str, str, str], Source | None] = {}

    def read(self, text: str) -> list[Clause]:
        """Return a sentence's clauses: one alone, or one or two after a lead; empty if neither."""
        if alone := self.read_clause(text, is_bare=False):
            return [alone]
        places = ("goals.leads", "goals.later")
        led = (
            found["a"]
            for one in places
            for found in read_line(DEFAULT_LANGUAGE, one, text, lambda *_: True)
        )
        return next((clauses for one in led if (clauses := self._joined(one))), [])

    def _joined(self, text: str) -> list[Clause]:
        for shape in shapes_in(DEFAULT_LANGUAGE, "goals.joined"):
            link = shape.removeprefix("{a}").removesuffix("{b}")
            for found in re.finditer(re.escape(link), text):
                first = self.read_clause(text[: found.start()], is_bare=True)
                second = first and self._after(first).read_clause(text[found.end() :], is_bare=True)
                if first and second:
                    return [first, second]
        whole = self.read_clause(text, is_bare=True)
        return [whole] if whole else []

    def _after(self, clause: Clause) -> "_SentenceReader":
        nodes = [*self._nodes, *clause.new_nodes(self._nodes)]
        return _SentenceReader(
            self._box, nodes, {**self._last, **last_meant(self._box, clause.node)}
        )

    def read_clause(self, text: str, *, is_bare: bool) -> Clause | None:
        """Return the reading with the fewest unmentioned calls, then most own words, or None."""
        readings = (
            self._read_by(one, tool, text)
            for tool in self._box.tools.values()
            for one in (*tool.facts, *tool.sentences.requests)
            if one.is_bare == is_bare
        )
        clauses = [one for one in readings if one is not None]
        return min(
            clauses,
            key=lambda one: (one.open, len(one.new_nodes(self._nodes)), -one.own),
            default=None,
        )

    def _read_by(self, sentence: Sentence, tool: GoalTool, text: str) -> Clause | None:
        inside = {
            name: found for name in tool.properties if (found := self._box.inside(tool.name, name))
        }

        def is_said(slot: str, words: str) -> bool:
            if slot in inside:
                return _value(tool, slot, words) is not None
            return slot == FIELDS or self._is_said(tool.name, slot, words)

        slot_words = sentence.read(text, is_said)
        if slot_words is None:
            return None
        said = dict(slot_words)
        own = len(text) - sum(map(len, slot_words.values()))
        fields = (
            tuple(re.split(r", | and ", slot_words.pop(FIELDS))) if FIELDS in slot_words else ()
        )
        named = {
            name: str(_value(tool, name, slot_words.pop(name)))
            for name in inside
            if name in slot_words
        }
        sources = complete(self._box, self._nodes, tool.name, self._sources(tool.name, slot_words))
        for name, words in named.items():
            origin = inside[name]
            needed = {
                one: sources[one]
                for one in self._box.tools[origin.source].required
                if one in sources
            }
            if (giver := node_of(self._box, origin.source, needed)) is None:
                return None
            field = FromEntry(giver, origin.entries, origin.field, ())
            parts = [field._replace(rules=(Rule("called", one),)) for one in words.split(JOINT)]
            sources[name] = Parts(tuple(parts), is_text=True) if parts[1:] else parts[0]
        sources |= self._left_open(tool, sentence, sources)
        node = node_of(self._box, tool.name, sources)
        return node and Clause(node, fields, own, said, text, sentence.is_bare)

    def _left_open(
        self, tool: GoalTool, sentence: Sentence, sources: Mapping[str, Source]
    ) -> dict[str, Source]:
        """Return what a call lacks that people say: required values, or anything to change."""
        lacking = [
            name
            for name in tool.required
            if name not in sources
            and "default" not in tool.schema(name)
            and not self._box.origins(tool.name, name)
        ]
        found: dict[str, Source] = {name: Unknown((name,)) for name in lacking}
        options = tuple(
            name for name in tool.properties if name in sentence.slots - {*tool.required}
        )
        if (
            options
            and not {*sources} - {*tool.required}
            and deed_of(function_words(tool.name)[0]) == "change"
        ):
            found[options[0]] = Unknown(options)
        return found

    def _is_said(self, tool: str, parameter: str, words: str) -> bool:
        return self._source(tool, parameter, words) is not None

    def _sources(self, tool: str, said: Mapping[str, str], within: str = "") -> dict[str, Source]:
        read = {name: self._source(tool, f"{within}{name}", words) for name, words in said.items()}
        return {name: source for name, source in read.items() if source}

    def _source(self, tool: str, parameter: str, words: str) -> Source | None:
        """Return what words say for a parameter (entry, lookup or value), None if nothing."""
        key = (tool, parameter, words)
        if key not in self._read:
            self._read[key] = self._read_source(*key)
        return self._read[key]

    def _read_source(self, tool: str, parameter: str, words: str) -> Source | None:
        shown, origins = self._box.tools[tool], self._box.origins(tool, parameter)
        if not shown.schema(parameter):
            return None
        if (shape := shown.sentences.parts.get(parameter)) is not None:
            within = f"{parameter}[]."
            legs = [
                shape.read(leg, lambda name, one: self._is_said(tool, f"{within}{name}", one))
                for leg in words.split(LEG)
            ]
            members = [Members(self._sources(tool, leg, within)) for leg in legs if leg]
            return Parts(tuple(members), is_text=False) if len(members) == len(legs) else None
        if (meant := self._entry(origins, words) or self._through(origins, words)) is not None:
            return meant
        if (lookup := self._box.lookup_for(tool, parameter)) is not None:
            query = self._sources(lookup.source, {self._box.tools[lookup.source].query: words})
            if query:
                return FromEntry(Node(lookup.source, query), lookup.entries, lookup.field, (QUERY,))
            return None
        value = _value(shown, parameter, words)
        is_id = parameter != shown.query and any(
            not self._box.is_lookup(one.source) for one in origins
        )
        is_just = (
            " " not in str(value) if is_id else _says_just(value, shown.schema(parameter), words)
        )
        return KnownValue(value) if value is not None and is_just else None

    def _entry(self, origins: Sequence[ToolNote], words: str) -> FromEntry | None:
        """Return the entry that the words mean, of a call mentioned or fully stated, or None."""
        later = _read_line("after", words)
        listed = (one for one in origins if one.listed and not self._box.is_lookup(one.source))
        for origin in sorted(listed, key=lambda one: one.source not in self._known):
            entry = later.get("moment", words)
            pointers = self._box.pointers(origin.source, origin.entries)
            if aspect := aspect_of(origin.field):
                entry = _read_line("aspect", entry, aspect=aspect).get("entry", "")
            pointed = pointers.read(entry, partial(self._is_said, origin.source))
            if pointed is None:
                continue
            node = self._known.get(origin.source)
            rules = pointed.rules
            last = self._last.get(pointers.noun)
            if not rules and last:
                node, rules = last.node, last.rules
            elif rules and (pointed.given or node is None):
                node = self._node(origin.source, self._sources(origin.source, pointed.given))
            if node is not None and node.tool == origin.source:
                later_by = int(later.get("minutes", 0))
                return FromEntry(node, origin.entries, origin.field, rules, later_by)
        return None

    def _through(self, origins: Sequence[ToolNote], words: str) -> FromEntry | None:
        """Return a response as a whole, to a call about the entry that the words mean."""
        for origin in (
            one for one in origins if not one.listed and not self._box.is_lookup(one.source)
        ):
            for name in self._box.tools[origin.source].required:
                meant = self._entry(self._box.origins(origin.source, name), words)
                node = self._node(origin.source, {name: meant}) if meant else None
                if node is not None:
                    return FromEntry(node, "", origin.field, ())
        return None

    def _node(self, tool: str, stated: Mapping[str, Source]) -> Node | None:
        return node_of(self._box, tool, complete(self._box, self._nodes, tool, stated))


def _read_line(name: str, text: str, **fixed: str) -> dict[str, str]:
    """Return the words of a line of the page by slot, or an empty dict if the text is not one."""
    found = read_line(
        DEFAULT_LANGUAGE, f"goals.{name}", text, lambda slot, words: words == fixed.get(slot, words)
    )
    return next(found, {})


def node_of(box: Toolbox, tool: str, sources: Mapping[str, Source]) -> Node | None:
    """Return the call with arguments from sources or defaults, None if one is missing."""
    shown, all_sources = box.tools[tool], dict(sources)
    for name in shown.required:
        if name not in all_sources and "default" not in shown.schema(name):
            return None
        all_sources.setdefault(name, KnownValue(shown.schema(name).get("default")))
    return Node(tool, {name: all_sources[name] for name in shown.properties if name in all_sources})


@lru_cache(65536)
def _value(tool: GoalTool, parameter: str, words: str) -> JsonValue:
    return read_slot(tool.slot(parameter), tool.sentences, words)


def _says_just(value: JsonValue, schema: JsonSchema, words: str) -> bool:
    """Whether the words are a value and nothing else."""
    if isinstance(value, dict):  # its members are named, each up to the next
        return True
    found = locate(value, schema, words)
    beside = f"{words[: found.start]} {words[found.end :]}" if found else words
    return value == words or (
        found is not None and {*re.findall(r"\w+", beside.lower())} <= _AROUND_VALUES
    )


def complete(
    box: Toolbox, nodes: Sequence[Node], tool: str, stated: Mapping[str, Source]
) -> dict[str, Source]:
    """Complete the sources of a call with those that nobody has to state.

    These are what goes with an entry that was named, what its search was given, and the newest
    response if no word says which thing is meant.
    """
    shown, sources = box.tools[tool], dict(stated)
    for name in shown.required:
        if (
            name not in sources
            and (beside := _alongside(box.origins(tool, name), name, sources)) is not None
        ):
            sources[name] = beside
    searches = [
        one.node
        for one in sources.values()
        if isinstance(one, FromEntry) and not box.is_lookup(one.node.tool)
    ]
    for search in searches:
        is_said = box.pointers(search.tool, "").says
        search_sources = {
            name: one
            for name, one in search.sources.items()
            if name in shown.properties and not is_said([name])
        }
        sources = {**search_sources, **sources}
    for name in (one for one in shown.required if one not in sources):
        whole = {one.source: one.field for one in box.origins(tool, name) if not one.listed}
        newest = next((one for one in reversed(nodes) if one.tool in whole), None)
        if newest is not None:
            return complete(
                box, nodes, tool, {**sources, name: FromEntry(newest, "", whole[newest.tool], ())}
            )
    return sources


def _alongside(
    origins: Sequence[ToolNote], name: str, sources: Mapping[str, Source]
) -> Source | None:
    """Return the field of the entry that another parameter also takes something from, or None.

    Of several parameters, the one that shares the longest start with this name decides.
    """
    candidates: list[tuple[int, Source]] = []
    for origin, (other, other_source) in product(origins, sources.items()):
        if isinstance(other_source, FromEntry) and other_source.node.tool == origin.source:
            rules = other_source.rules if other_source.entries == origin.entries else ()
            alike = sum(1 for at in range(1, len(name) + 1) if other.startswith(name[:at]))
            candidates.append(
                (alike, FromEntry(other_source.node, origin.entries, origin.field, rules))
            )
    return max(candidates, key=itemgetter(0), default=(0, None))[1]
