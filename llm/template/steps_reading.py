"""Understanding a request for several steps: which tools it asks for, and where each argument is to come from."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.frames import Stretch, left_over
from callwright.language.text import fold
from callwright.language.values import locate, read_value
from callwright.llm.template.steps_phrases import (
    ABOUT,
    ToolPhrasing,
    ask_pattern,
    aspect_of,
    frame,
    noun_for,
    phrasing_of,
    trimmed,
    value_pattern,
    without_asked,
)
from callwright.llm.template.steps_sources import (
    FromEntry,
    KnownValue,
    Node,
    Parts,
    ResponseField,
    Rule,
    ShownTools,
    Source,
    read_pick,
)
from callwright.warehouse.records import JsonSchema

_AROUND_VALUES = ("the", "at", "on", "in", "for")
_ASPECT = re.compile(r"the (?P<aspect>[a-z ]+?) of (?P<entry>(?:the|that) .+)")
_LATER = re.compile(r"(?P<later>\d+) minutes after (?P<entry>(?:the|that) .+) arrives")
_LANDING = "arrival time"
_JOINT = " plus "
_SHOWN = ("type", "format", "enum", "pattern")


class _Clause(NamedTuple):
    tool: str
    stated: dict[str, str]  # by parameter, the words


def read_request(request: str, toolbox: ShownTools) -> list[Node]:
    """The calls that the request needs, each after its sources; none where no tool is asked for in known words."""
    return _parsed(without_asked(request), toolbox).nodes


def _parsed(request: str, toolbox: ShownTools) -> "_StepsParser":
    phrasings = {name: phrasing_of(tool) for name, tool in toolbox.tools.items()}
    reading, place = _StepsParser(toolbox), ""
    for match, names, end in _asks(request, phrasings):
        text = trimmed(request[match.end() : end])
        meant = [_Clause(name, _stated(text, phrasings[name], place)) for name in names]
        first, slots = meant[0].stated, phrasings[meant[0].tool].slots
        place = next((first[slot.parameter] for slot in slots if slot.there and slot.parameter in first), "") or place
        meant.sort(key=lambda clause: -len(clause.stated))
        reading.add(next((clause for clause in meant if reading.is_about_known(clause)), meant[0]))
    return reading


class StepsReading(NamedTuple):
    """The calls that a request needs, each after its sources, and the words that say nothing about them."""

    nodes: list[Node]
    unread: list[str]


def read_strictly(request: str, toolbox: ShownTools) -> StepsReading:
    """Read a request and account for its words: asks with all that is stated for them, openings, leads and closings."""
    phrasings = {name: phrasing_of(tool) for name, tool in toolbox.tools.items()}
    stretches: list[Stretch] = []
    request = without_asked(request)
    for match, names, end in _asks(request, phrasings):
        body = request[match.end() : end]
        text = trimmed(body)
        is_read = text and any(_stated(text, phrasings[name], "") for name in names)
        stretches.append(Stretch(match.start(), match.end() + (body.find(text) + len(text) if is_read else 0)))
    reading = _parsed(request, toolbox)
    return StepsReading(reading.nodes, [*left_over(request, frame().phrases, stretches), *dict.fromkeys(reading.loose)])


def _says_just(value: JsonValue, schema: JsonSchema, words: str) -> bool:
    """Whether the words are a value and nothing beside it."""
    if value is None or value == words:
        return True
    found = locate(value, schema, words)
    return found is not None and not left_over(words, _AROUND_VALUES, [Stretch(found.start, found.end)])


def _asks(request: str, phrasings: Mapping[str, ToolPhrasing]) -> Iterator[tuple[re.Match[str], list[str], int]]:
    """Each ask in a request with the tools that it may be for, and where what is stated for it ends."""
    asks: dict[str, list[str]] = {}
    for name, phrasing in phrasings.items():
        for ask in phrasing.asks:
            asks.setdefault(ask.rstrip("?"), []).append(name)
    ordered = sorted(asks, key=len, reverse=True)
    heads = re.compile("|".join(rf"(?P<a{at}>\b{ask_pattern(ask)}\b)" for at, ask in enumerate(ordered)), re.IGNORECASE)
    found = list(heads.finditer(request)) if asks else []
    for at, match in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(request)
        yield match, asks[ordered[int(str(match.lastgroup)[1:])]], end


def _stated(text: str, phrasing: ToolPhrasing, place: str) -> dict[str, str]:
    """The words for each parameter; `place` is where one says "there"."""
    optional = []
    for at, slot in enumerate(phrasing.slots):
        phrases = [value_pattern(phrase, f"s{at}_{n}") for n, phrase in enumerate(slot.phrases)]
        phrases += [f"(?P<t{at}>there)"] if slot.there else []
        optional.append(rf"(?:[\s,]+(?:{'|'.join(phrases)})(?=[\s,]|$))?")
    whole = re.fullmatch("".join(optional) + r"\s*", " " + text)
    groups = whole.groupdict() if whole else {}
    stated: dict[str, str] = {}
    for at, slot in enumerate(phrasing.slots):
        hits = [groups[f"s{at}_{n}"] for n in range(len(slot.phrases)) if groups.get(f"s{at}_{n}")]
        if hits:
            value = hits[0].strip(" ,")
            is_called = slot.phrases == ABOUT and groups.get(f"s{at}_{len(ABOUT) - 1}")
            noun = phrasing.asks[0].rpartition(" ")[2]
            stated[slot.parameter] = f"the {noun} called {value}" if is_called else value
            if stated[slot.parameter] == "there":
                stated[slot.parameter] = place
        elif groups.get(f"t{at}"):
            stated[slot.parameter] = place
    return stated


class _StepsParser:
    def __init__(self, toolbox: ShownTools) -> None:
        self.nodes: list[Node] = []
        self.loose: list[str] = []  # words that say more than their value
        self._toolbox = toolbox
        self._meant: dict[str, tuple[int, tuple[Rule, ...]]] = {}

    def add(self, clause: _Clause) -> None:
        tool = self._toolbox.tools[clause.tool]
        sources: dict[str, Source] = {}
        inside: dict[str, tuple[ResponseField, str]] = {}
        for parameter, words in clause.stated.items():
            origins = self._toolbox.origins(clause.tool, parameter)
            origin = next((one for one in origins if self._toolbox.is_inside(one.source, clause.tool, parameter)), None)
            if origin is not None:
                inside[parameter] = (origin, words)
            else:
                sources[parameter] = self._source(clause.tool, parameter, words)
        self._complete(clause.tool, sources)
        for name in tool.required:
            if name in sources or name in inside:
                continue
            if (given := self._given_whole(clause.tool, name)) is not None:
                sources[name] = given
            elif "default" in tool.schema(name):
                sources[name] = KnownValue(tool.schema(name)["default"])
        for parameter, (origin, words) in inside.items():
            sources[parameter] = self._named_inside(origin, words, sources)
        if all(name in sources for name in tool.required):
            self._keep(Node(clause.tool, {name: sources[name] for name in tool.properties if name in sources}))

    def _given_whole(self, tool: str, name: str) -> Source | None:
        """What the newest response that is one thing gives to a tool without phrases, where no word says which thing is meant."""
        if not phrasing_of(self._toolbox.tools[tool]).plain:
            return None
        origins = {one.source: one for one in self._toolbox.origins(tool, name) if not one.listed}
        newest = next((at for at in reversed(range(len(self.nodes))) if self.nodes[at].tool in origins), None)
        return None if newest is None else FromEntry(newest, "", origins[self.nodes[newest].tool].field, ())

    def is_about_known(self, clause: _Clause) -> bool:
        """Whether the clause speaks of an entry of a search that was asked for before."""
        known = {node.tool for node in self.nodes}
        return any(
            origin.source in known and read_pick(words, self._noun(origin)) is not None
            for parameter, words in clause.stated.items()
            for origin in self._toolbox.origins(clause.tool, parameter)
        )

    def _keep(self, node: Node) -> int:
        if node in self.nodes:
            return self.nodes.index(node)
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _named_inside(self, origin: ResponseField, words: str, sources: Mapping[str, Source]) -> Source:
        required = self._toolbox.tools[origin.source].required
        node = self._keep(Node(origin.source, {name: sources[name] for name in required if name in sources}))
        called = next(
            (rule.text for rule in read_pick(words, self._noun(origin)) or () if rule.kind == "called"), words
        )
        names = called.split(_JOINT)
        parts = tuple(FromEntry(node, origin.entries, origin.field, (Rule("called", name),)) for name in names)
        return parts[0] if len(parts) == 1 else Parts("joined", (), parts)

    def _source(self, tool: str, parameter: str, words: str) -> Source:
        shown = self._toolbox.tools[tool]
        schema = shown.schema(parameter)
        if shown.members(parameter):
            return self._legs(tool, parameter, words)
        origins = self._toolbox.origins(tool, parameter)
        if (meant := self._entry(origins, words) or self._through(origins, words)) is not None:
            return meant
        lookup = None if (self._toolbox.tools[tool].query == parameter) else self._toolbox.lookup_for(tool, parameter)
        if lookup is None:
            value = read_value(words, schema)
            value = words if value is None and schema.get("type") == "string" else value
            if not _says_just(value, schema, words):
                self.loose.append(words)
            return KnownValue(value)
        query = self._toolbox.tools[lookup.source].query
        node = self._keep(Node(lookup.source, {query: self._source(lookup.source, query, words)}))
        held = self.nodes[node].sources[query]
        stated = words if isinstance(held, KnownValue) else ""
        return FromEntry(node, lookup.entries, lookup.field, (Rule("query", stated),))

    def _entry(self, origins: list[ResponseField], words: str) -> FromEntry | None:
        """The entry of an earlier search that the words mean."""
        # what of the entry is meant, and how many minutes later
        aspect, entry, later = "", words, 0
        if found := _LATER.fullmatch(words):
            aspect, entry, later = _LANDING, found["entry"], int(found["later"])
        elif found := _ASPECT.fullmatch(words):
            aspect, entry = found["aspect"], found["entry"]
        for origin in origins:
            known = [at for at, node in enumerate(self.nodes) if node.tool == origin.source]
            if not known or not origin.listed or self._toolbox.is_lookup(origin.source):
                continue
            noun = self._noun(origin)
            rules = read_pick(entry, noun)
            if rules is None or aspect_of(origin.field) != aspect:
                continue
            if rules or noun not in self._meant:
                self._meant[noun] = (known[-1], rules)
            node, rules = self._meant[noun]
            if self.nodes[node].tool == origin.source:
                return FromEntry(node, origin.entries, origin.field, rules, later)
        return None

    def _through(self, origins: list[ResponseField], words: str) -> FromEntry | None:
        """What the response as a whole gives to a call about the entry that the words mean."""
        for origin in origins:
            if origin.listed or self._toolbox.is_lookup(origin.source):
                continue
            tool = self._toolbox.tools[origin.source]
            for name in tool.required:
                meant = self._entry(self._toolbox.origins(origin.source, name), words)
                if meant is not None:
                    sources: dict[str, Source] = {name: meant}
                    self._complete(origin.source, sources)
                    if all(need in sources for need in tool.required):
                        return FromEntry(self._keep(Node(origin.source, sources)), "", origin.field, ())
        return None

    def _noun(self, origin: ResponseField) -> str:
        return phrasing_of(self._toolbox.tools[origin.source]).noun or noun_for(origin.entries, origin.source)

    def _legs(self, tool: str, parameter: str, words: str) -> Source:
        slot = next(one for one in phrasing_of(self._toolbox.tools[tool]).slots if one.parameter == parameter)
        pattern = r"[\s,]+".join(value_pattern(phrase, f"m{at}") for at, (_, phrase) in enumerate(slot.members))
        legs: list[Source] = []
        names = tuple(self._toolbox.tools[tool].members(parameter))
        for leg in re.split(r",? then ", words):
            match = re.fullmatch(pattern, leg.strip(" ,"))
            if match is None:
                return KnownValue([])
            stated = {name: match[f"m{at}"] for at, (name, _) in enumerate(slot.members)}
            parts = [self._source(tool, f"{parameter}[].{name}", stated[name]) for name in names if name in stated]
            legs.append(Parts("object", tuple(name for name in names if name in stated), tuple(parts)))
        return Parts("list", (), tuple(legs))

    def _complete(self, tool: str, sources: dict[str, Source]) -> None:
        """What goes with an entry that was named, and what its search was already given."""
        shown = self._toolbox.tools[tool]
        for name in shown.required:
            if name not in sources and (found := self._alongside(tool, name, sources)) is not None:
                sources[name] = found
        searches = [one.node for one in sources.values() if isinstance(one, FromEntry)]
        for node in dict.fromkeys(searches):
            if self._toolbox.is_lookup(self.nodes[node].tool):
                continue
            theirs = self._toolbox.tools[self.nodes[node].tool].properties
            for name, source in self.nodes[node].sources.items():
                if (
                    name in shown.properties
                    and name not in sources
                    and all(shown.properties[name].get(part) == theirs[name].get(part) for part in _SHOWN)
                ):
                    sources[name] = source

    def _alongside(self, tool: str, name: str, sources: Mapping[str, Source]) -> Source | None:
        ranked: list[tuple[bool, int, Source]] = []
        for origin, (other, held) in product(self._toolbox.origins(tool, name), sources.items()):
            if isinstance(held, FromEntry) and self.nodes[held.node].tool == origin.source:
                rules = held.rules if held.entries == origin.entries else ()
                found = FromEntry(held.node, origin.entries, origin.field, rules)
                # what another parameter takes already is a last resort: a car that is returned where it was fetched
                ranked.append((found not in sources.values(), _alike(fold(other), fold(name)), found))
        return max(ranked, key=lambda one: one[:2])[2] if ranked else None


def _alike(one: str, other: str) -> int:
    return next((at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), len(one))
