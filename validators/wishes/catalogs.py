"""Which calls a question over a whole catalog asks for: a clause for each, what lookups find inside the clause that needs it."""

import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from callwright.generators.routing.tool_graph import UNKNOWN, unknown_arguments
from callwright.language.calls.frames import Stretch, glue_of, left_over, shapes_in
from callwright.language.names import humanise, split_name
from callwright.language.packs import of
from callwright.validators.checks.routing import words_of
from callwright.validators.checks.verdicts import Finding, unproved
from callwright.validators.wishes.accounts import places_of, words_left
from callwright.warehouse.records import DoubtedFact, GoldCall, JsonSchema, Language, Sample, Tool, UserTurn

_ID = frozenset({"number", "id", "code", "key"})
_SECTIONS = ("single", "first", "later", "stated", "again", "with", "rest")
_ARTICLES = ("a", "an", "the", "of", "to", "and", "by")
_WORD = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*")


def find_in_catalog(sample: Sample, tools: Mapping[str, Tool]) -> list[Finding]:
    """What speaks against the calls of a question being those that its clauses ask for, in their order."""
    calls = [call for call in sample.gold if call.tool in tools]
    text = " ".join(turn.text for turn in sample.turns if isinstance(turn, UserTurn))
    feeding = {feed.call for call in calls for feed in unknown_arguments(call).values()}
    asked = [call for at, call in enumerate(calls) if at not in feeding]
    clauses = _clauses(text, sample.language)
    found: list[Finding] = []
    if len(clauses) != len(asked):
        reason = f"{len(clauses)} things are asked for, and {len(asked)} calls are due that feed no other."
        found.append(unproved(reason, DoubtedFact(kind="calls_miscounted", value=len(asked), other=len(clauses))))
    for call, clause in zip(asked, clauses, strict=False):
        lacking = _lacking(call, tools[call.tool], clause, sample.language)
        if lacking:
            reason = f"{clause!r} does not ask to {tools[call.tool].description.lower()}: {', '.join(lacking)}."
            found.append(unproved(reason, DoubtedFact(kind="other_deed", tool=call.tool, quote=clause)))
    for call in calls:
        found += _unbound(call, tools[call.tool], text)
    return found + [words_left(words) for words in _left(text, calls, tools, sample.language)]


def _clauses(text: str, language: Language) -> list[str]:
    leads = "|".join(re.escape(shape.partition("{")[0]) for shape in shapes_in(language, "routing.later"))
    return re.split(rf"(?<=[.?])\s(?={leads})", text) if leads else [text]


def _lacking(call: GoldCall, tool: Tool, clause: str, language: Language) -> list[str]:
    """The words of what a tool does that a clause lacks; another verb of the same meaning will do."""
    described = tool.description.strip().rstrip(".").lower()
    verbs: Mapping[str, Sequence[str]] = of(language).data["routing"]["verbs"] if _has_book(language) else {}
    verb = next((one for one in verbs if described.startswith(f"{one} ")), "")
    stated = words_of(clause)
    found = {word for name, value in call.arguments.items() if value == UNKNOWN for word in words_of(_thing(name))}
    lacking = sorted(words_of(described.removeprefix(f"{verb} ")) - stated - found)
    if verb and not any(re.search(rf"\b{re.escape(one)}\b", clause, re.IGNORECASE) for one in verbs[verb]):
        lacking.append(verb)
    return lacking


def _has_book(language: Language) -> bool:
    return bool(shapes_in(language, "routing.single"))


def _unbound(call: GoldCall, tool: Tool, text: str) -> Iterator[Finding]:
    """Values that do not stand behind what their parameter is called."""
    given = {name: value for name, value in call.arguments.items() if value != UNKNOWN}
    for name, value in given.items():
        schema = tool.properties.get(name, {})
        called = "|".join(re.escape(one) for one in _called(name, schema))
        before = rf"(?:\b(?:{called})(?: with number| number| is)?|\bto) [\"“']?$"
        places = list(places_of(value, {"title": name, **schema}, text))
        if not any(re.search(before, text[: one.start], re.IGNORECASE) for one in places):
            fact = DoubtedFact(kind="unstated", tool=call.tool, argument=name, value=value)
            yield unproved(f"The words do not give {value!r} as {name!r} of {call.tool}.", fact)


def _called(name: str, schema: JsonSchema) -> list[str]:
    names = [str(schema.get("description") or ""), humanise(name), _thing(name)]
    return sorted({one for one in names if one}, key=len, reverse=True)


def _thing(name: str) -> str:
    """What a parameter identifies: "debit card" for debitCardNumber, "" where its name speaks of no identity."""
    *thing, last = split_name(name)
    return " ".join(thing) if thing and last in _ID else ""


def _left(text: str, calls: Sequence[GoldCall], tools: Mapping[str, Tool], language: Language) -> list[str]:
    """The words that no due tool, parameter or value accounts for."""
    phrases = [*glue_of(language, *(f"routing.{one}" for one in _SECTIONS)), *_ARTICLES]
    phrases += shapes_in(language, "routing.verbs") if _has_book(language) else ()
    stretches: list[Stretch] = []
    for call in calls:
        tool = tools[call.tool]
        phrases += _WORD.findall(tool.description)
        for name, value in call.arguments.items():
            schema: JsonSchema = tool.properties.get(name, {})
            phrases += [word for one in _called(name, schema) for word in _WORD.findall(one)]
            stretches += _stated(value, {"title": name, **schema}, text)
    return left_over(text, phrases, stretches)


def _stated(value: JsonValue, schema: JsonSchema, text: str) -> Iterator[Stretch]:
    if value != UNKNOWN:
        yield from places_of(value, schema, text)
