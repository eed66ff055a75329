"""A goal in a person's words: a sentence for each call to ask for, with words for its sources."""

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from pydantic import JsonValue

from callwright.language.packs import language_of, of
from callwright.language.pages import as_sentence, filled, shapes_in
from callwright.language.sentences import Sentence
from callwright.language.text import capitalised
from callwright.llm.template.goal_reading import (
    JOINT,
    LEG,
    QUERY,
    complete,
    last_meant,
    node_of,
    read_clauses,
    read_goal,
)
from callwright.llm.template.goal_sources import (
    FromEntry,
    KnownValue,
    Members,
    Node,
    Parts,
    Source,
    Unknown,
    entries_in,
)
from callwright.llm.template.goal_tools import (
    GoalTool,
    Pointers,
    Toolbox,
    aspect_of,
    quoted,
    read_toolbox,
    rules_of,
)
from callwright.llm.template.sections import Sections
from callwright.llm.template.sentences import SENTENCE_END, read_sentence, say_slot, word_request
from callwright.llm.tool_sentences import FIELDS
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE

Given = Mapping[str, Any]  # a PlannedCall or a ValueSource as JSON
_TRIES = 12
_GREETED, _OPENED, _CLOSED, _JOINED, _REPEATED = 0.6, 0.85, 0.6, 0.3, 0.95
_ARTICLE = re.compile(r"^(?:The|An?)\b")
_CLOCK = re.compile(r"\d{1,2}:|\d{1,2}\s?[ap]m|(?!the )[a-z]")


def word_goal(sections: Sections, rng: Random) -> str:
    """Return the request for the calls in <calls>, which is read back as these calls.

    The tools are in <tools>. Raises ReplyError if the prompt lacks either, or there are no such
    words.
    """
    language = sections.word("language", DEFAULT_LANGUAGE)
    if language != DEFAULT_LANGUAGE:
        raise ReplyError(
            f"template/v1 words goals in several steps in {of(DEFAULT_LANGUAGE).name} only; use"
            f" another model for {of(language).name}."
        )
    calls, box = sections.listed("calls"), read_toolbox(sections.json("tools"))
    for name in dict.fromkeys(str(call["tool"]) for call in calls):
        if name not in box.tools:
            raise ReplyError(f"template/v1 finds no tool {name!r} in <tools>.")
    for _ in range(_TRIES):
        goal = _GoalRenderer(calls, box, rng)
        request = goal.request(sections.word("subject", "myself"))
        read = read_goal(request, box).nodes
        if all(node in read for node in goal.nodes) and all(node in goal.nodes for node in read):
            return request
    raise ReplyError(
        f"template/v1 finds no words for the calls {[call['tool'] for call in calls]} that it reads"
        " as these."
    )


def leave_open(sections: Sections, rng: Random) -> str:
    """Return the <request> without the values in <held>, as far as its tools' sentences can.

    What was left out can then be asked for.
    """
    request, box = sections.text("request"), read_toolbox(sections.json("tools"))
    for held in sections.listed("held"):
        tool, parameter = str(held["tool"]), str(held["parameter"])
        for new in _left_out(request, tool, parameter, box, rng):
            nodes = read_goal(new, box).nodes
            lacking = [
                one for node in nodes for one in node.sources.values() if isinstance(one, Unknown)
            ]
            if len(nodes) == len(read_goal(request, box).nodes) and any(
                parameter in one.parameters for one in lacking
            ):
                request = new
                break
        else:
            request = _of_one_call(request, tool, parameter, box, rng)
    return request


def _of_one_call(request: str, tool: str, parameter: str, box: Toolbox, rng: Random) -> str:
    """Return a request for a single call without a parameter, or as it is if it is none."""
    view, language = box.tools.get(tool), language_of(request)
    read = read_sentence(view, request, language) if view else None
    if view is None or read is None or read.rest or parameter not in read.arguments:
        return request
    kept = {name: value for name, value in read.arguments.items() if name != parameter}
    return word_request(view, kept, language, rng).request


def _left_out(request: str, tool: str, parameter: str, box: Toolbox, rng: Random) -> Iterator[str]:
    """Yield the request with another sentence for a call, in which a parameter is not said."""
    shown = box.tools.get(tool)
    clauses = (clause for _, some in read_clauses(request, box) for clause in some)
    for clause in clauses if shown else ():
        if clause.node.tool != tool or parameter not in clause.said:
            continue
        rest = {
            name: _ARTICLE.sub(lambda found: found[0].lower(), words)
            for name, words in clause.said.items()
            if name != parameter
        }
        sentences = shown.sentences.requests if shown else ()
        for one in rng.sample(sentences, len(sentences)):
            text = one.draw(frozenset(rest), rng) if one.is_bare or not clause.is_bare else None
            if text is None:
                continue
            new = filled(text, rest)
            if clause.is_bare:
                new = capitalised(new) if clause.text[0].isupper() else new
            else:
                lead = rng.choice(shapes_in(DEFAULT_LANGUAGE, "goals.leads"))
                new = as_sentence(lead, {"a": new}) if one.is_bare else capitalised(new)
            yield request.replace(clause.text, new, 1)


def _nodes_of(calls: Sequence[Given], box: Toolbox) -> list[Node]:
    """Return the calls with their sources, each after the calls that it depends on."""
    nodes: list[Node] = []

    def source_of(given: Given) -> Source:
        match given["kind"]:
            case "picked":
                giver = nodes[given["call"]]
                rules = (QUERY,) if box.is_lookup(giver.tool) else rules_of(given["where"])
                later_by = given.get("later_by") or 0
                return FromEntry(giver, given["entries"], given["field"], rules, later_by)
            case "composed":
                parts = tuple(map(source_of, given["parts"]))
                is_object = given["shape"] == "object"
                if is_object:
                    return Members(dict(zip(given["names"], parts, strict=True)))
                return Parts(parts, given["shape"] == "joined")
            case _:
                return KnownValue(given.get("value"))

    for call in calls:
        sources = {
            name: source_of(one)
            for name, one in call["arguments"].items()
            if one["kind"] != "default"
        }
        node = node_of(box, call["tool"], sources)
        if node is None:
            raise ReplyError(f"template/v1 finds no value for all that {call['tool']!r} requires.")
        nodes.append(node)
    return nodes


class _GoalRenderer:
    """The state of rendering one request; the thing mentioned last is "that hotel"."""

    def __init__(self, calls: Sequence[Given], box: Toolbox, rng: Random) -> None:
        self._box, self._rng = box, rng
        self.nodes = _nodes_of(calls, box)
        pairs = [*zip(self.nodes, calls, strict=True)]
        self._wanted = [
            (node, call.get("asked") or ()) for node, call in pairs if call.get("wanted")
        ] or [(self.nodes[-1], ())]
        self._spoken: list[Node] = []
        self._last: dict[str, FromEntry] = {}
        self._begun: set[tuple[str, ...]] = set()

    def request(self, subject: str) -> str:
        """Return the request."""
        order = [node for wanted, _ in self._wanted for node in self._before(wanted)]
        sentences = self._joined(
            [self._clause(node) for at, node in enumerate(order) if node not in order[:at]]
        )
        around = (("greetings", _GREETED), (f"openings.{subject}", _OPENED), ("closings", _CLOSED))
        *before, closing = (
            self._line(place) if self._rng.random() < often else "" for place, often in around
        )
        return " ".join(filter(None, [*before, *sentences, closing]))

    def _line(self, place: str) -> str:
        return self._rng.choice(shapes_in(DEFAULT_LANGUAGE, f"goals.{place}"))

    def _joined(self, clauses: Sequence[tuple[str, Sentence]]) -> Iterator[str]:
        """Yield the clauses as sentences, joining some in pairs."""

        def is_short(sentence: Sentence) -> bool:
            return sentence.is_bare and FIELDS not in sentence.slots

        leads = shapes_in(DEFAULT_LANGUAGE, "goals.later")
        waiting, later = [*clauses], self._rng.sample(leads, len(leads))
        while waiting:
            if len(waiting) == len(clauses):
                lead = self._line("leads")
            else:
                lead = later[len(waiting) % len(later)]
            text, sentence = waiting.pop(0)
            if (
                waiting
                and is_short(sentence)
                and is_short(waiting[0][1])
                and self._rng.random() < _JOINED
            ):
                text = filled(self._line("joined"), {"a": text, "b": waiting.pop(0)[0]})
            yield as_sentence(lead, {"a": text}) if sentence.is_bare else capitalised(text)

    def _before(self, node: Node) -> Iterator[Node]:
        """Yield the calls to ask for before `node` can be asked for, and `node` itself.

        Calls that the words for an entry imply are left out.
        """
        for name, source in node.sources.items():
            for entry in entries_in([source]):
                *before, giver = self._before(entry.node)
                yield from before
                is_told = self._pointers(entry).says(self._stated(giver))
                is_wanted = any(giver == wanted for wanted, _ in self._wanted)
                if self._kind(node, name, entry) == "ranked" and (is_wanted or not is_told):
                    yield giver
        yield node

    def _kind(self, node: Node, parameter: str, entry: FromEntry) -> str:
        """Return how an entry is referred to.

        "lookup": by what was looked up; "inside": by its name alone; "ranked": by its rank;
        "through": as what its call is about.
        """
        inside = self._box.inside(node.tool, parameter)
        if self._box.is_lookup(entry.node.tool):
            return "lookup"
        if inside and inside.source == entry.node.tool:
            return "inside"
        if not entry.entries and not entry.rules and self._about(entry.node):
            return "through"
        return "ranked"

    def _about(self, node: Node) -> str:
        """Return the parameter for the one entry that a call is about, "" if it must say more."""
        name, *more = self._stated(node) or [""]
        source = node.sources.get(name)
        return name if not more and isinstance(source, FromEntry) and source.rules else ""

    def _stated(self, node: Node) -> dict[str, Source]:
        """Return the sources that a call's sentence states, without those its reader completes."""
        kinds = {
            name: {self._kind(node, name, one) for one in entries_in([source])}
            for name, source in node.sources.items()
        }
        sources = {
            name: source for name, source in node.sources.items() if "inside" not in kinds[name]
        }
        earlier, shown = self.nodes[: self.nodes.index(node)], self._box.tools[node.tool]
        defaults = {
            name: KnownValue(shown.schema(name)["default"])
            for name in shown.required
            if "default" in shown.schema(name)
        }
        stated_sources = {
            name: source for name, source in sources.items() if source != defaults.get(name)
        }
        for name in (one for one in reversed(sources) if "through" not in kinds[one]):
            fewer = {other: source for other, source in stated_sources.items() if other != name}
            completed = complete(self._box, earlier, node.tool, fewer)
            if all(completed.get(one) == source for one, source in sources.items()):
                stated_sources = fewer
        return {
            name: source
            for name, source in node.sources.items()
            if name in stated_sources or name not in sources
        }

    def _clause(self, node: Node) -> tuple[str, Sentence]:
        """Return the words that ask for a call, and the sentence from which they were drawn."""
        tool, stated_sources = self._box.tools[node.tool], self._stated(node)
        asked_fields = next((fields for wanted, fields in self._wanted if wanted == node), ())
        names = {*stated_sources, FIELDS} if asked_fields else {*stated_sources}
        ones = frozenset(name for name, one in stated_sources.items() if one == KnownValue(1))
        drawn = (
            (one, one.draw(frozenset(names), self._rng, ones))
            for one in (tool.facts if asked_fields else tool.sentences.requests)
        )
        ways = [(sentence, text) for sentence, text in drawn if text]
        if not ways:
            raise ReplyError(
                f"template/v1 has no sentence for a call of {node.tool!r} that states"
                f" {sorted(stated_sources)}."
            )
        # no two sentences begin alike, where others are at hand
        fresh = [way for way in ways if _beginning(way[1]) not in self._begun]
        sentence, text = self._rng.choice(fresh or ways)
        self._begun.add(_beginning(text))
        words = {name: self._words(node, name, source) for name, source in stated_sources.items()}
        self._spoken.append(node)
        self._last |= last_meant(self._box, node)
        return filled(text, {**words, FIELDS: _listed(asked_fields)}), sentence

    def _pointers(self, entry: FromEntry) -> Pointers:
        return self._box.pointers(entry.node.tool, entry.entries)

    def _words(self, node: Node, parameter: str, source: Source) -> str:
        match source:
            case KnownValue(value=value):
                return self._value(self._box.tools[node.tool], parameter, value)
            case Members(members=members):
                return self._leg(node, parameter, members)
            case Parts(parts=parts, is_text=is_text):
                words = (self._words(node, parameter, part) for part in parts)
                return (JOINT if is_text else LEG).join(words)
            case FromEntry():
                return self._entry(node, parameter, source)
            case Unknown():
                raise ReplyError(f"template/v1 can't say {parameter!r}, which nobody knows.")

    def _value(self, tool: GoalTool, parameter: str, value: JsonValue) -> str:
        view = tool.slot(parameter)
        said = say_slot(view, value, tool.sentences, DEFAULT_LANGUAGE, self._rng)
        words = said.shown if SENTENCE_END.search(said.words) else said.words
        return (
            f"{'at' if _CLOCK.match(words) else 'on'} {words}" if view.kind == "moment" else words
        )

    def _leg(self, node: Node, parameter: str, members: Mapping[str, Source]) -> str:
        member_words = {
            name: self._words(node, f"{parameter}[].{name}", part) for name, part in members.items()
        }
        shape = self._box.tools[node.tool].sentences.parts.get(parameter)
        drawn = shape.draw(frozenset(member_words), self._rng) if shape else None
        if drawn is None:
            raise ReplyError(
                f"template/v1 has no words for an entry of {parameter!r} that states"
                f" {sorted(member_words)}."
            )
        return filled(drawn, member_words)

    def _entry(self, node: Node, parameter: str, entry: FromEntry) -> str:
        kind, giver = self._kind(node, parameter, entry), entry.node
        if kind == "inside":
            return next((quoted(rule.text) for rule in entry.rules if rule.kind == "called"), "")
        if about := self._box.tools[giver.tool].query or (
            self._about(giver) if kind == "through" else ""
        ):
            return self._words(giver, about, giver.sources[about])
        words, aspect = self._pointed(entry), aspect_of(entry.field)
        if aspect:
            words = filled(self._line("aspect"), {"aspect": aspect, "entry": words})
        later = {"minutes": str(entry.later_by), "moment": words}
        return filled(self._line("after"), later) if entry.later_by else words

    def _pointed(self, entry: FromEntry) -> str:
        pointers = self._pointers(entry)
        last = self._last.get(pointers.noun)
        if (
            last
            and (last.node, last.rules) == (entry.node, entry.rules)
            and self._rng.random() < _REPEATED
        ):
            return pointers.write((), {})
        stated_sources = {} if entry.node in self._spoken else self._stated(entry.node)
        noun_words = {
            name: self._words(entry.node, name, one)
            for name, one in stated_sources.items()
            if pointers.says(stated_sources)
        }
        return pointers.write(entry.rules, noun_words)


def _beginning(text: str) -> tuple[str, ...]:
    """Return the first words of a sentence, or those behind the thing that it begins with."""
    return tuple(word for word in text.split() if "{" not in word)[:2]


def _listed(fields: Sequence[str]) -> str:
    return " and ".join([", ".join(fields[:-1]), fields[-1]] if fields[1:] else fields)
