"""A goal in a person's words: a clause for each call that somebody would ask for, its sources stated inside it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from callwright.language.calls.tools import action_gap
from callwright.language.names import plural
from callwright.language.packs import of
from callwright.language.values import write_value
from callwright.llm.template.sections import Sections
from callwright.llm.template.steps_phrases import (
    ABOUT,
    PhraseSlot,
    ToolPhrasing,
    Voice,
    aspect_of,
    choose_voice,
    frame,
    noun_for,
    phrasing_of,
    write_asked,
)
from callwright.llm.template.steps_sources import ShownTools, read_toolbox, write_pick
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE

Source = Mapping[str, Any]  # a ValueSource as JSON
_ARTICLES = frozenset({"the", "a", "an", "my", "of", "for", "in"})
_JOINED = 0.3
_REPEATED = 0.8
_THERE = 0.6
_JOINT = " plus "
_CLOCK = re.compile(r"\d{1,2}:|\d{1,2}\s?[ap]m|(?!the )[a-z]")
_STYLES = 6  # phrases of one style go together: from … to …, checking in on … and checking out on …


class ShownCall(NamedTuple):
    """A call as the prompt shows it."""

    tool: str
    arguments: Mapping[str, Source]
    wanted: bool
    asked: Sequence[str]


def word_goal(sections: Sections, rng: Random) -> str:
    """The request for the calls in <calls> with the tools in <tools>; ReplyError where the prompt shows none."""
    calls = sections.listed("calls")
    language = sections.word("language", DEFAULT_LANGUAGE)
    if language != DEFAULT_LANGUAGE:
        raise ReplyError(
            f"template/v1 words goals in several steps in {of(DEFAULT_LANGUAGE).name} only; use another model for"
            f" {of(language).name}."
        )
    asked = [
        ShownCall(str(call["tool"]), call["arguments"], call.get("wanted") is True, call.get("asked") or ())
        for call in calls
    ]
    toolbox = read_toolbox(sections.json("tools"))
    unknown = [call.tool for call in asked if call.tool not in toolbox.tools]
    if unknown:
        raise ReplyError(f"template/v1 finds no tool {unknown[0]!r} in <tools>.")
    return _StepsRenderer(asked, toolbox, rng).request(sections.word("subject", "myself"))


class _StepsRenderer:
    def __init__(self, calls: Sequence[ShownCall], toolbox: ShownTools, rng: Random) -> None:
        self._calls, self._toolbox, self._rng = calls, toolbox, rng
        self._phrasings = {name: phrasing_of(tool) for name, tool in toolbox.tools.items()}
        self._meant: dict[str, str] = {}  # by tool, the last entry of its response that was named
        self._place = ""

    def request(self, subject: str) -> str:
        wanted = [at for at, call in enumerate(self._calls) if call.wanted] or [len(self._calls) - 1]
        order = list(dict.fromkeys(index for at in wanted for index in self._before(at)))
        for name in dict.fromkeys(self._calls[index].tool for index in order):
            if self._phrasings[name].plain and (gap := action_gap(name, self._toolbox.tools[name].description)):
                raise ReplyError(f"template/v1 can't word a step: {gap}.")
        plain = all(self._phrasings[self._calls[index].tool].plain for index in order)
        voice = choose_voice(subject, travels=not plain, adults=max(map(self._adults, order)), rng=self._rng)
        sentences = [voice.opening, *self._sentences([self._clause(index, voice) for index in order])]
        plain_calls = (self._calls[at] for at in order if self._phrasings[self._calls[at].tool].plain)
        asked = write_asked((self._noun_of_answer(call.tool), call.asked) for call in plain_calls if call.wanted)
        sentences += [asked] if asked else []
        closing = self._rng.choice(frame().closings)
        return " ".join([*sentences, closing] if closing else sentences)

    def _noun_of_answer(self, tool: str) -> str:
        """What a tool returns, in the plural where others take something of an entry of its list."""
        shown = self._toolbox.tools.values()
        origins = (origin for one in shown for name in one.properties for origin in one.origins(name))
        noun = noun_for("", tool)
        return plural(noun) if any(one.source == tool and one.listed for one in origins) else noun

    def _adults(self, index: int) -> int:
        """How many adults a call is for, by what it says or leaves to its tool; 0 where it counts none."""
        call = self._calls[index]
        source = call.arguments.get("adults", {})
        count = source.get("value", self._toolbox.tools[call.tool].schema("adults").get("default"))
        return count if isinstance(count, int) else 0

    def _before(self, index: int) -> Iterator[int]:
        """The calls to ask for until `index` can be asked for, and itself."""
        for name, source in _leaves(self._calls[index].arguments):
            if source["kind"] == "picked":
                phrasing = self._selection_of_pick(index, name, source)
                if phrasing == "ranked":
                    yield from self._before(source["call"])
                elif phrasing in {"lookup", "through"}:
                    yield from (at for at in self._before(source["call"]) if at != source["call"])
        yield index

    def _selection_of_pick(self, index: int, parameter: str, source: Source) -> str:
        call = self._calls[index]
        tool = self._calls[source["call"]].tool
        if self._toolbox.is_lookup(tool):
            return "lookup"
        if self._toolbox.is_inside(tool, call.tool, parameter):
            return "inside"
        together = [one for _, one in _leaves(call.arguments) if one.get("call") == source["call"]]
        given = self._calls[source["call"]].arguments.items()
        # whether the person has to say something for a call that nobody else's clause says
        says_more = any(one["kind"] == "said" and call.arguments.get(name) != one for name, one in given)
        return "ranked" if says_more or any(one["entries"] or one["where"] for one in together) else "through"

    def _sentences(self, clauses: Sequence[str]) -> list[str]:
        sentences: list[str] = []
        leads = list(frame().later_leads)
        self._rng.shuffle(leads)
        for at, clause in enumerate(clauses):
            is_question = clause.endswith("?")
            if at and not is_question and sentences[-1].endswith(".") and self._rng.random() < _JOINED:
                sentences[-1] = sentences[-1][:-1] + self._rng.choice(frame().links) + clause + "."
                continue
            stands_alone = is_question or clause.startswith(tuple(frame().needs.values()))
            lead = "" if stands_alone else leads[at % len(leads)] if at else self._rng.choice(frame().leads)
            end = "" if is_question else "?" if lead in {"Could you ", "Can you "} else "."
            sentence = lead + clause + end
            sentences.append(sentence[0].upper() + sentence[1:])
        return sentences

    def _clause(self, index: int, voice: Voice) -> str:
        call = self._calls[index]
        phrasing = self._phrasings[call.tool]
        chosen = self._rng.choice(phrasing.asks)
        ask = chosen.rstrip("?").replace("{whom}", voice.whom).replace("{needs}", frame().needs[voice.whom])
        stated = list(self._stated(index, phrasing))
        return " ".join([ask, *stated]).replace(" namely ", ", namely ") + ("?" if chosen.endswith("?") else "")

    def _stated(self, index: int, phrasing: ToolPhrasing) -> Iterator[str]:
        if phrasing.plain:
            yield from self._stated_plainly(index, phrasing)
            return
        call = self._calls[index]
        rendered: set[tuple[int, str, str]] = set()
        style = self._rng.randrange(_STYLES)
        for slot in phrasing.slots:
            source = call.arguments.get(slot.parameter)
            if source is None or source["kind"] == "default" or self._is_inherited(index, slot.parameter):
                continue
            if source["kind"] == "picked":  # an entry is stated once for all parameters that take something of it
                entry = (source["call"], source["entries"], str(source["where"]))
                if entry in rendered:
                    continue
                rendered.add(entry)
            words = self._slot(index, slot, source, style)
            if words:
                yield words

    def _stated_plainly(self, index: int, phrasing: ToolPhrasing) -> Iterator[str]:
        """The values of a tool without phrases of its own: the thing that it is about, then "with this and that"."""
        call, words = self._calls[index], phrasing.asks[0].split()
        about, rest = list[str](), list[str]()
        for slot in phrasing.slots:
            source = call.arguments.get(slot.parameter)
            if source is None or source["kind"] == "default" or self._is_inherited(index, slot.parameter):
                continue
            value = self._value(index, slot.parameter, source)
            if slot.phrases == ABOUT and value:
                about.append(_about(words, value))
            elif value:
                rest.append(slot.phrases[1 if rest else 0].format(value))
        # "the cheapest delivery with status done" would be one that is done already
        yield from (f"{one}," if rest and one.startswith("namely ") else one for one in about)
        yield from rest

    def _is_inherited(self, index: int, parameter: str) -> bool:
        call = self._calls[index]
        picked = [(name, source) for name, source in _leaves(call.arguments) if source["kind"] == "picked"]
        searches = {
            source["call"]
            for name, source in picked
            if self._selection_of_pick(index, name, source) in {"ranked", "through"}
        }
        return any(self._calls[at].arguments.get(parameter) == call.arguments[parameter] for at in searches)

    def _slot(self, index: int, slot: PhraseSlot, source: Source, style: int) -> str:
        phrase = slot.phrases[style % len(slot.phrases)]
        if slot.members:
            return phrase.format(self._members(index, slot, source))
        value = self._value(index, slot.parameter, source)
        if not value:
            return ""
        if slot.there:
            known, self._place = self._place, value
            if known == value and self._rng.random() < _THERE:
                return "there"
        if slot.moment and " minutes after " not in value:
            value = f"{'at' if _CLOCK.match(value) else 'on'} {value}"
        return phrase.format(value)

    def _members(self, index: int, slot: PhraseSlot, source: Source) -> str:
        legs = []
        for part in source["parts"]:
            given = dict(zip(part["names"], part["parts"], strict=True))
            said = [(name, phrase) for name, phrase in slot.members if name in given]
            values = ((phrase, self._value(index, f"{slot.parameter}[].{name}", given[name])) for name, phrase in said)
            legs.append(" ".join(phrase.format(value) for phrase, value in values))
        return ", then ".join(legs)

    def _value(self, index: int, parameter: str, source: Source) -> str:
        tool = self._toolbox.tools[self._calls[index].tool]
        if source["kind"] == "said":
            return write_value(source["value"], tool.schema(parameter), DEFAULT_LANGUAGE, self._rng)
        if source["kind"] == "composed":
            parts = (self._value(index, parameter, part) for part in source["parts"])
            return _JOINT.join(part for part in parts if part)
        if source["kind"] == "default":
            return ""
        phrasing = self._selection_of_pick(index, parameter, source)
        giver = self._calls[source["call"]]
        if phrasing == "lookup":
            query = self._toolbox.tools[giver.tool].query
            return self._value(source["call"], query, giver.arguments[query])
        if phrasing == "through":
            picked = ((name, one) for name, one in giver.arguments.items() if one["kind"] == "picked")
            through = next(((name, one) for name, one in picked if one["entries"] or one["where"]), None)
            return self._value(source["call"], *through) if through else ""
        if phrasing == "inside":
            named = [condition["value"] for condition in source["where"] if condition["test"] == "equals"]
            name = str(named[0]) if named else ""
            is_plain = name and self._phrasings[self._calls[index].tool].plain
            return f"the {noun_for(source['entries'], giver.tool)} called {name}" if is_plain else name
        return self._ranked(source)

    def _ranked(self, source: Source) -> str:
        giver = self._calls[source["call"]].tool
        noun = self._phrasings[giver].noun or noun_for(source["entries"], giver)
        if not source["entries"] and not source["where"]:
            return ""
        full = write_pick(source["where"], noun)
        repeated = self._meant.get(noun) == f"{source['call']} {full}" and self._rng.random() < _REPEATED
        self._meant[noun] = f"{source['call']} {full}"
        words = f"that {noun}" if repeated else full
        about = aspect_of(source["field"])
        if source.get("later_by"):
            return f"{source['later_by']} minutes after {words} arrives"
        return f"the {about} of {words}" if about else words


def _about(action: Sequence[str], value: str) -> str:
    """The words for what a tool is about, behind its action: "for the pet called Rex", "called Rex" behind "find the pet"."""
    if value.startswith(f"the {action[-1]} called "):
        return value.removeprefix(f"the {action[-1]} ")
    stated = value.partition(" called ")[0].split()
    is_spoken_of = any(
        word in stated or word.removesuffix("s") in stated for word in action[1:] if word not in _ARTICLES
    )
    return f"namely {value}" if is_spoken_of else f"for {value}"


def _leaves(arguments: Mapping[str, Source]) -> Iterator[tuple[str, Source]]:
    for name, source in arguments.items():
        waiting = [source]
        while waiting:
            one = waiting.pop(0)
            if one["kind"] == "composed":
                waiting = [*one["parts"], *waiting]
            else:
                yield name, one
