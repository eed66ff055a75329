"""Whether simulated results answer their calls, and agree with themselves and with each other.

Code invents the results of an imported document from its schemas, so that one may be about another
thing than the call, or contradict itself. Code proves only what it can compare member by member:
small, flat things. What it does not prove is left to a judge who reads language, else to people.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.document_world import DocumentWorld
from callwright.generators.environments.episodes import StatefulWorld, unwrapped
from callwright.generators.environments.joined import JoinedWorld
from callwright.generators.environments.linking import is_opaque, words_of
from callwright.generators.environments.protocol import Environment
from callwright.generators.environments.simulated import (
    LOOKING,
    ROOT,
    error_of,
    is_switched_off,
    verb_of,
)
from callwright.generators.kinds import traits_of
from callwright.generators.stages import StageContext
from callwright.generators.tools import told_in_lines
from callwright.generators.transcripts import conversation_text
from callwright.language.calls.sampling import out_of_order
from callwright.language.names import deed_of
from callwright.language.schemas import DATE_VALUE
from callwright.llm.models import reads_language
from callwright.validators.checks.declaring import reader
from callwright.validators.checks.facts import LEAST, CalledResult, results_in, tools_of
from callwright.validators.checks.verdicts import Finding, proved, unproved
from callwright.validators.judges import RESULTS, ResultsScore, ask_opinion
from callwright.validators.reading.points import shortened
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DoubtedFact, JsonSchema, ResultTurn, Sample


class Thing(NamedTuple):
    """A flat object in a result, the name under which it stands there, and whether in a list."""

    under: str
    members: Mapping[str, JsonValue]
    is_entry: bool = False

    def names(self, member: str) -> tuple[list[str], list[str]]:
        """Return the words of a member's name, alone and after those of the thing."""
        return words_of(member), [*words_of(self.under), *words_of(member)]


_MOST_MEMBERS = 9  # that code compares
_UPPER = frozenset({"max", "maximum", "before", "until", "to", "end", "lt", "lte", "le"})
_LOWER = frozenset({"min", "minimum", "after", "since", "from", "start", "gt", "gte", "ge"})
_STATES = frozenset({"status", "state", "phase"})
_BEING = frozenset({"is", "was", "has"})
_COUNTS = frozenset({"total", "count"})


@reader(
    "results",
    "1",
    "Do the simulated results answer their calls, and contradict nothing?",
    source="docs/checks.md",
    role="judge",
    prompts=(RESULTS,),
    applies=lambda sample: (
        any(isinstance(turn, ResultTurn) for turn in sample.turns)
        and not traits_of(sample.kind).is_taken
    ),
    doubts={
        "result_unclear": "Code can't tell that what {tool} returned answers its call: {said}.",
        "judged_results": "A model finds that the results do not fit: {said}",
    },
)
async def check_results(sample: Sample, context: StageContext) -> list[Finding]:
    """Compare small results with their calls; a judge who reads language reads the others."""
    if not _is_invented(sample, context):
        return [proved("The results are not invented from a document.")]
    found = [*_unclear(sample, context)]
    if not found:
        return [proved("The results repeat what was asked, and contradict nothing.")]
    if not reads_language(context.chat.name):
        return found
    try:
        opinion = await ask_opinion(
            context.chat,
            RESULTS,
            ResultsScore,
            sample.time_sentence,
            language=sample.language,
            tools=told_in_lines(context.toolset(sample.candidates)),
            conversation=conversation_text(map(shortened, sample.turns)),
        )
    except ReplyError as error:
        reason = f"The judge gave no answer about the results that can be read: {error}"
        return [*found, unproved(reason, DoubtedFact(kind="unread"))]
    if opinion.score >= LEAST:
        return [proved("The judge finds that the results answer their calls.")]
    fact = DoubtedFact(kind="judged_results", other=opinion.reason)
    reason = f"The judge gives the results {opinion.score} of 5: {opinion.reason}"
    return [unproved(reason, fact)]


def _is_invented(sample: Sample, context: StageContext) -> bool:
    """Whether code made the results from schemas; rules of a world and servers are no invention."""
    name = sample.facts.environment
    if name in context.environments:
        return _invents(unwrapped(context.environments[name]))
    return bool(name) or sample.simulation_seed is not None


def _invents(world: Environment | StatefulWorld) -> bool:
    if isinstance(world, JoinedWorld):
        return any(map(_invents, world.worlds))
    world = unwrapped(world)
    return isinstance(world, DocumentWorld) and world.rules is None


def _unclear(sample: Sample, context: StageContext) -> Iterator[Finding]:
    """Yield what code can't confirm about each result, once for a call."""
    known = dict[tuple[str, str], Mapping[str, JsonValue]]()
    for turn, made in results_in(sample, tools_of(sample, context)):
        problem = "; ".join(dict.fromkeys((*_problems(made), *_differences(made, known))))
        if problem:
            name = made.call.tool
            fact = DoubtedFact(kind="result_unclear", turn=turn, tool=name, other=problem)
            yield unproved(
                f"At turn {turn} code can't confirm what {name} returned: {problem}.", fact
            )


def _problems(made: CalledResult) -> Iterator[str]:
    result = made.result
    if error_of(result):
        return
    is_reading = deed_of(verb_of(made.tool)) in LOOKING
    things = _things(result)
    if things is None:
        kind = "nested" if isinstance(result, dict | list) else "a bare value"
        yield f"it is {kind}"
    elif is_reading and not (made.tool.returns and isinstance(result, dict | list)):
        yield "the document does not say what it looks like"
    elif result is False:
        yield "it is false"
    for thing in things or ():
        yield from _problems_of(thing, made, is_reading=is_reading)
    lone = [one for one in things or () if not one.is_entry and _ids_of(one)]
    yield from _other_id(lone[0], made) if lone else ()


def _things(result: JsonValue, under: str = "") -> list[Thing] | None:
    """Return the flat objects of a result, without what wraps them; None if it is not so simple."""
    if isinstance(result, list):
        members = [one for one in result if isinstance(one, dict) and _is_flat(one)]
        return (
            [Thing(under, one, is_entry=True) for one in members]
            if len(members) == len(result)
            else None
        )
    if not isinstance(result, dict):
        return [] if result is None or isinstance(result, bool) else None
    parts = {name: one for name, one in result.items() if not _is_plain(one)}
    if len(parts) > 1 or (parts and under):
        return None
    own = Thing(under, {name: one for name, one in result.items() if name not in parts})
    for name, part in parts.items():
        within = _things(part, name)
        if within is None or any(_counts_less(*one, within) for one in own.members.items()):
            return None
        return [own, *within]
    return [own]


def _is_flat(thing: Mapping[str, JsonValue]) -> bool:
    return all(map(_is_plain, thing.values()))


def _is_plain(value: JsonValue) -> bool:
    """Whether a value is a scalar or a list of them; an empty list may be one of anything."""
    members = value if isinstance(value, list) else [value]
    return bool(members) and not any(isinstance(one, dict | list) for one in members)


def _counts_less(name: str, value: JsonValue, things: Sequence[Thing]) -> bool:
    return not _COUNTS.isdisjoint(words_of(name)) and isinstance(value, int) and value < len(things)


def _problems_of(thing: Thing, made: CalledResult, *, is_reading: bool) -> Iterator[str]:
    if len(thing.members) > _MOST_MEMBERS:
        yield "it has more members than code compares"
    for argument, wanted in made.call.arguments.items():
        for name, held in thing.members.items():
            if words_of(argument) in thing.names(name):
                if not _agree(held, wanted, is_reading=is_reading):
                    yield f"{name} is {held!r}, and the call has {wanted!r}"
            elif not _is_within(held, wanted, words_of(name), words_of(argument)):
                yield f"{name} is {held!r}, which {argument} = {wanted!r} excludes"
    yield from _wrong_states(thing, made, is_reading=is_reading)
    yield from _wrong_order(thing)


def _agree(held: JsonValue, wanted: JsonValue, *, is_reading: bool) -> bool:
    if isinstance(held, list) and not isinstance(wanted, list):
        return any(_agree(one, wanted, is_reading=is_reading) for one in held)
    if isinstance(wanted, list) and not isinstance(held, list):
        return any(_agree(held, one, is_reading=is_reading) for one in wanted)
    one, other = str(held).casefold(), str(wanted).casefold()
    return held == wanted or one == other or (is_reading and isinstance(held, str) and other in one)


def _is_within(
    held: JsonValue, wanted: JsonValue, member: Sequence[str], argument: Sequence[str]
) -> bool:
    """Whether a member lies within the bound that an argument sets, if it is one of that member."""
    base = [word for word in argument if word not in _UPPER | _LOWER]
    is_meant = base == member if base else _is_time(held) and _is_time(wanted)
    if len(base) == len(argument) or not is_meant:
        return True
    are_numbers = all(isinstance(one, int | float) for one in (held, wanted))
    if not are_numbers and not (_is_time(held) and _is_time(wanted)):
        return True
    first, last = (wanted, held) if _UPPER.isdisjoint(argument) else (held, wanted)
    return first <= last if are_numbers else str(first) <= str(last)  # type: ignore[operator]


def _ids_of(thing: Thing) -> list[JsonValue]:
    return [
        held for name, held in thing.members.items() if is_opaque(name) and len(words_of(name)) == 1
    ]


def _other_id(thing: Thing, made: CalledResult) -> Iterator[str]:
    """Yield a lone thing's own id that is none of those that the call names."""
    named = [str(value) for name, value in made.call.arguments.items() if is_opaque(name)]
    own, makes = _ids_of(thing), deed_of(verb_of(made.tool)) == "make"
    if named and not makes and not any(str(one) in named for one in own):
        yield f"its id is {own[0]!r}, and the call has {named[0]!r}"


def _wrong_states(thing: Thing, made: CalledResult, *, is_reading: bool) -> Iterator[str]:
    verb, given = verb_of(made.tool), [words_of(name) for name in made.call.arguments]
    states = {
        name: held
        for name, held in thing.members.items()
        if _is_state(name, held) or (isinstance(held, bool) and is_switched_off(name, made.tool))
    }
    if len(states) > 1:
        yield f"{' and '.join(states)} may contradict each other"
    for name, held in thing.members.items():
        is_off = is_switched_off(name, made.tool)
        if words_of(name) in given:
            continue
        if is_off and held and (not is_reading or _is_time(held)):
            yield f"{name} is {held!r}"
        if held is False and not is_reading and not is_off:
            yield f"{name} is false"
    is_changing = not is_reading and deed_of(verb) not in ("make", "change")
    for name, held in states.items():
        says_so = str(held).casefold().startswith(verb[:ROOT].casefold())
        if is_changing and isinstance(held, str) and words_of(name) not in given and not says_so:
            yield f"{name} is {held!r}"


def _is_state(name: str, held: JsonValue) -> bool:
    """Whether a member says how a thing is: `active`, `is_open`, or anything of a status."""
    words = [word for word in words_of(name) if word not in _BEING]
    return not _STATES.isdisjoint(words) or (isinstance(held, bool) and len(words) == 1)


def _wrong_order(thing: Thing) -> Iterator[str]:
    values = {name: held for name, held in thing.members.items() if not isinstance(held, bool)}
    schemas: dict[str, JsonSchema] = {name: _schema_of(held) for name, held in values.items()}
    if amiss := out_of_order(values, schemas):
        yield f"{amiss[0]} comes after {amiss[1]}"
    times = [name for name, held in values.items() if _is_time(held)]
    for one, other in combinations(times, 2):
        pair = {one: schemas[one], other: schemas[other]}
        first, last = f"{'1' * 4}-01-01", f"{'2' * 4}-01-01"
        if not any(
            out_of_order({one: own, other: others}, pair)
            for own, others in ((first, last), (last, first))
        ):
            yield f"nothing says which of {one} and {other} comes first"


def _schema_of(held: JsonValue) -> JsonSchema:
    if isinstance(held, str):
        return {"type": "string", "format": "date-time"} if _is_time(held) else {"type": "string"}
    return {"type": "number"} if isinstance(held, int | float) else {}


def _is_time(value: JsonValue) -> bool:
    return isinstance(value, str) and DATE_VALUE.match(value) is not None


def _differences(
    made: CalledResult, known: dict[tuple[str, str], Mapping[str, JsonValue]]
) -> Iterator[str]:
    """Yield members in which a thing differs from what an earlier result says, and note it.

    What a call that writes names may be another one since.
    """
    if deed_of(verb_of(made.tool)) not in LOOKING:
        named = {str(value) for value in made.call.arguments.values()}
        for key in [key for key in known if key[1] in named]:
            del known[key]
    for thing in _things(made.result) or ():
        own = next((name for name in thing.members if is_opaque(name)), "")
        if not own:
            continue
        now = thing.members
        before = known.setdefault((own, str(now[own])), now)
        for name in before.keys() & now.keys():
            if before[name] != now[name]:
                yield f"{name} of {now[own]!r} was {before[name]!r}, and is {now[name]!r}"
