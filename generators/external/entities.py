"""Find an argument that the user may only point at: where it is said, and which one to take.

It is of one of nine kinds of entities (HammerBench 4.2.4).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple, get_args

import orjson
from pydantic import BaseModel, JsonValue

from callwright.generators.families import Order
from callwright.generators.stages import StageContext, asked_origin
from callwright.generators.tools import titled_schema, tools_by_name
from callwright.language.calls.parameters import entity_of
from callwright.language.dates import HALF_DAY, find_dates, find_times, moment_parts
from callwright.language.packs import of, own_letters, packaged, unspaced
from callwright.language.schemas import Kind, choices_of, kind_of
from callwright.language.values import locate
from callwright.language.wording import find_phrase
from callwright.llm.prompts import render
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.records import (
    CallTurn,
    Derivation,
    EntityKind,
    EntityReference,
    GoldCall,
    JsonSchema,
    Language,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

MASK = " … "
NO_ENTITY = "No argument {} is a person, a place, a time or another of the nine kinds of entities."
PROMPTS = "callwright.generators.external.prompts"
STAGE = "entities"
TEMPLATE = "find_entities"
LONGEST_NAME = 80
_TYPED = frozenset({"date", "time", "date-time"})
_CODE = re.compile(r"(?=(?:\D*\d){2})[A-Za-z0-9][A-Za-z0-9 ._/#-]{1,30}")
_PLATE = re.compile(
    rf"(?=.*\d)(?=.*[A-Za-z{unspaced()}])[A-Za-z0-9{unspaced()}][A-Za-z0-9{unspaced()} ·.-]{{3,19}}"
)
_LETTER = re.compile(r"[^\W\d_]")


APPS_FILE = "apps.yaml"
KINDS: tuple[EntityKind, ...] = get_args(EntityKind)


class TurnMention(NamedTuple):
    """A value that user turn `turn` states, from `start` to `end`, for an argument of `tool`."""

    turn: int
    start: int
    end: int
    tool: Tool
    argument: str
    value: JsonValue

    @property
    def schema(self) -> JsonSchema:
        """The schema of the argument, with its name as the title."""
        return titled_schema(self.tool, self.argument)


def find_mentions(sample: Sample, tools: Mapping[str, Tool]) -> list[TurnMention]:
    """List the arguments that user turns say, once per turn and value, in conversation order."""
    named = tools_by_name(sample, tools)
    mentions_by_key: dict[tuple[int, str, str, bytes], TurnMention] = {}
    for snapshot in sample.snapshots():
        for call in snapshot.calls:
            tool = named.get(call.tool)
            for mention in _mentions(call, tool, snapshot.prefix) if tool else ():
                key = (mention.turn, call.tool, mention.argument, orjson.dumps(mention.value))
                mentions_by_key.setdefault(key, mention)
    return sorted(mentions_by_key.values(), key=lambda one: (one.turn, one.start))


def _mentions(call: GoldCall, tool: Tool, prefix: tuple[Turn, ...]) -> Iterator[TurnMention]:
    for argument, value in call.arguments.items():
        if argument not in tool.properties:
            continue
        place = say_where(call, argument, value, titled_schema(tool, argument), prefix)
        if place is not None:
            yield TurnMention(*place, tool, argument, value)


def say_where(
    call: GoldCall, argument: str, value: JsonValue, schema: JsonSchema, prefix: tuple[Turn, ...]
) -> tuple[int, int, int] | None:
    """Return the user turn and span that say an argument; None if a message or result does.

    None also if nothing says it.
    """
    hint = next((one for one in call.evidence if one.argument == argument), None)
    if hint is None:
        return _searched(value, schema, prefix)
    at = hint.turn if hint.turn is not None and hint.turn < len(prefix) else None
    turn = None if at is None or hint.in_message else prefix[at]
    if at is None or hint.start is None or hint.end is None or not isinstance(turn, UserTurn):
        return None
    found = locate(value, schema, turn.text[hint.start : hint.end])
    return None if found is None else (at, hint.start + found.start, hint.start + found.end)


def _searched(
    value: JsonValue, schema: JsonSchema, prefix: tuple[Turn, ...]
) -> tuple[int, int, int] | None:
    """Search without evidence: return the place in the last user turn that states the value."""
    for index in range(len(prefix) - 1, -1, -1):
        turn = prefix[index]
        found = locate(value, schema, turn.text) if isinstance(turn, UserTurn) else None
        if found is not None:
            return index, found.start, found.end
    return None


def is_pointable(mention: TurnMention, mentions: list[TurnMention], sample: Sample) -> bool:
    """Whether a message could replace the mention.

    The value must be stated there and nowhere else, and no other argument may share its words.
    """
    text = _text(sample.turns[mention.turn])[mention.start : mention.end]
    value_place = locate(mention.value, mention.schema, text)
    if value_place is None or value_place.rule == HALF_DAY:
        return False
    for other_mention in mentions:
        is_beside = other_mention.turn == mention.turn and other_mention.value != mention.value
        if is_beside and other_mention.start < mention.end and mention.start < other_mention.end:
            return False
    return not _is_stated_elsewhere(mention, sample)


def _is_stated_elsewhere(mention: TurnMention, sample: Sample) -> bool:
    due = first_call_turn(sample, mention.turn)
    for index, turn in enumerate(sample.turns):
        if not isinstance(turn, UserTurn) and index >= due:
            continue
        text = _text(turn)
        if index == mention.turn:
            text = masked(text, mention.start, mention.end)
        if locate(mention.value, mention.schema, text) is not None:
            return True
    return False


def first_call_turn(sample: Sample, turn: int) -> int:
    """Return the index of the first call turn after `turn`, or the number of turns if none."""
    later = (at for at, one in enumerate(sample.turns) if at > turn and isinstance(one, CallTurn))
    return next(later, len(sample.turns))


def _text(turn: Turn) -> str:
    match turn:
        case UserTurn(text=text, external=external):
            return text if external is None else f"{text}\n{external.text}"
        case ReplyTurn(text=text):
            return text
        case ResultTurn(results=results):
            return orjson.dumps(results).decode()
        case CallTurn():
            return ""


_DIGIT = re.compile(r"\d")
_SHORTEST_CHOICE = 3
_DATED: frozenset[Kind] = frozenset({"date", "date-time"})
_CLOCKED: frozenset[Kind] = frozenset({"time", "date-time"})


class OtherValue(NamedTuple):
    """A gold value that must stay where it is stated."""

    argument: str
    value: JsonValue
    schema: JsonSchema


def other_values(sample: Sample, tools: Iterable[Tool], value: JsonValue) -> list[OtherValue]:
    """Return every value of the sample's gold calls except `value`, each once."""
    named = {tool.name: tool for tool in tools}
    distinct_values: list[OtherValue] = []
    for snapshot in sample.snapshots():
        for call in snapshot.calls:
            for argument, other in call.arguments.items():
                one = OtherValue(argument, other, titled_schema(named.get(call.tool), argument))
                if other != value and one not in distinct_values:
                    distinct_values.append(one)
    return distinct_values


def masked(text: str, start: int, end: int) -> str:
    """Return the text with `start`..`end` replaced by a mask."""
    return text[:start] + MASK + text[end:]


def says_other(text: str, others: Iterable[OtherValue]) -> str:
    """Return a sentence on which of the other values the text states, or ""."""
    for said_value in others:
        found = locate(said_value.value, said_value.schema, text)
        if found is not None:
            words = text[found.start : found.end]
            return (
                f"{words!r} says {said_value.value!r}, which is the value of"
                f" {said_value.argument!r}."
            )
    return ""


def fills_parameter(text: str, tool: Tool, argument: str) -> str:
    """Say which other parameter of the tool the text could fill, or return "".

    Free-text parameters are skipped, because any words could fill them.
    """
    for name, schema in tool.properties.items():
        words = _value_for(text, schema) if name != argument else ""
        if words:
            return f"{words!r} could be taken for the parameter {name!r}."
    return ""


def says_another_time(text: str, schema: JsonSchema) -> bool:
    """Whether the text has a date or a time of day that the parameter itself could accept."""
    kind = kind_of(schema)
    return bool((kind in _DATED and find_dates(text)) or (kind in _CLOCKED and find_times(text)))


def _value_for(text: str, schema: JsonSchema) -> str:
    kind = kind_of(schema)
    if kind == "enum":
        options = (one for one in map(str, choices_of(schema)) if _is_telling(one))
        return next((option for option in options if find_phrase(option, text)), "")
    if kind in ("integer", "number"):
        match = _DIGIT.search(text)
        return match.group() if match else ""
    typed = find_dates(text) if kind in _DATED else []
    typed += find_times(text) if kind in _CLOCKED else []
    return text[typed[0].start : typed[0].end] if typed else ""


def _is_telling(option: str) -> bool:
    return len(option) >= _SHORTEST_CHOICE or (len(option) > 1 and bool(own_letters(option)))


class App(NamedTuple):
    """An app that holds messages: its key, its weight, and the kinds that it never holds."""

    name: str
    weight: int
    without: tuple[EntityKind, ...] = ()

    def called(self, language: Language) -> str:
        """Return the app's name as people use it."""
        return str(of(language).data["external"]["apps"][self.name])


@cache
def apps() -> dict[str, App]:
    """Return the apps by key, in the order of the file."""
    return {
        name: App(name, int(entry["weight"]), tuple(entry.get("without", ())))
        for name, entry in packaged("callwright.generators.external", APPS_FILE).items()
    }


def described(kind: EntityKind, language: Language) -> str:
    """Return a language's description of the kind of thing that can be pointed at."""
    return str(of(language).data["external"]["entities"][kind])


def app_named(name: str) -> App:
    """Return the app with this key. Raises ConfigurationError, which lists the known ones."""
    if name not in apps():
        raise ConfigurationError(f"There is no app {name!r}; the apps are {', '.join(apps())}.")
    return apps()[name]


class FoundEntity(BaseModel):
    """An argument, by its id in the question, and the kind of entity that its value is."""

    id: int
    entity: EntityKind


class Entities(BaseModel):
    """The arguments whose values are entities; those that are none are left out."""

    entities: list[FoundEntity]


async def find_entities(derivation: Derivation, context: StageContext) -> list[EntityReference]:
    """Pick an argument of the source that is an entity, and the app of a message about it.

    Arguments that the model names but don't exist are skipped; if none are left, parameter names
    decide. Raises RecordError if the source has none.
    """
    source = derivation.source
    problem = obstacle(source, context.tools)
    if problem:
        raise RecordError(problem)
    every = find_mentions(source, context.tools)
    open_to = [one for one in answered(every, source) if isinstance(one.value, str)]
    mentions = [one for one in open_to if is_pointable(one, every, source)]
    found = await _ask(derivation, mentions, context)
    plausible = [pair for pair in found if is_plausible(*pair)] or _by_name(mentions)
    if not plausible:
        listed = ", ".join(f"{mention.argument} = {mention.value!r}" for mention in mentions)
        raise RecordError(f"None of {listed} is an entity that a user would only point at.")
    mention, kind = context.rng.choice(plausible)
    usual = [one for one in apps().values() if kind not in one.without]
    # none whose name says what a parameter of the tool could take
    tool, argument = mention.tool, mention.argument
    called = [(one, one.called(source.language)) for one in usual]
    allowed = [one for one, name in called if not fills_parameter(name, tool, argument)] or usual
    app = context.rng.choices(allowed, weights=[one.weight for one in allowed])[0]
    origin = asked_origin(STAGE, derivation, derivation.seed, context, (PROMPTS, TEMPLATE))
    reference = EntityReference(
        derivation=derivation,
        turn=mention.turn,
        argument=argument,
        value=mention.value,
        entity=kind,
        app=app.name,
    )
    return [reference.with_changes(origin=origin)]


def obstacle(sample: Sample, tools: Mapping[str, Tool]) -> str:
    """Return why no argument of the sample can be pointed at, or "" if one can."""
    if not sample.all_calls:
        return f"No call is due in this {sample.kind} sample, so it has no argument to point at."
    if any(isinstance(turn, UserTurn) and turn.external is not None for turn in sample.turns):
        return f"The user of this {sample.kind} sample points at a message already."
    mentions = find_mentions(sample, tools)
    likely = [one for one, _ in _by_name(answered(mentions, sample))]
    if not likely:
        where = "says" if len(_user_turns(sample)) == 1 else "answers with"
        return NO_ENTITY.format(f"that the user {where}")
    if not any(is_pointable(one, mentions, sample) for one in likely):
        listed = ", ".join(dict.fromkeys(one.argument for one in likely))
        return f"The values of {listed} are said more than once, or together with others."
    return ""


def tool_obstacle(_order: Order, tool: Tool) -> str:
    """Why no sample about a tool has an argument to point at, "" where one may."""
    schemas = {name: titled_schema(tool, name) for name in tool.choosable}
    if any(entity_of(*one) and kind_of(one[1]) in {"text", *_TYPED} for one in schemas.items()):
        return ""
    return NO_ENTITY.format("of the tool")


def is_plausible(mention: TurnMention, kind: EntityKind) -> bool:
    """Whether the value has the form of an entity of this kind."""
    if not isinstance(mention.value, str) or kind_of(mention.schema) == "enum":
        return False
    value, declared = mention.value.strip(), kind_of(mention.schema)
    match kind:
        case "time":
            return declared in _TYPED or bool(moment_parts(value))
        case _ if declared != "text" or moment_parts(value):
            return False
        case "plate":
            return _PLATE.fullmatch(value) is not None
        case "id_number":
            return _CODE.fullmatch(value) is not None
        case _:
            is_short = len(value) <= LONGEST_NAME and "\n" not in value
            return is_short and _LETTER.search(value) is not None


def answered(mentions: list[TurnMention], sample: Sample) -> list[TurnMention]:
    """Return mentions after the first user turn or, if it is the only one, all.

    Later turns are answers, in which the user says more (HammerBench 4.2.4).
    """
    turns = _user_turns(sample)
    return [one for one in mentions if len(turns) == 1 or one.turn != turns[0]]


def _user_turns(sample: Sample) -> list[int]:
    return [index for index, turn in enumerate(sample.turns) if isinstance(turn, UserTurn)]


def _by_name(mentions: list[TurnMention]) -> list[tuple[TurnMention, EntityKind]]:
    """Return the entities among the arguments, judged by parameter names and descriptions."""
    named = ((one, entity_of(one.argument, one.schema)) for one in mentions)
    return [(one, kind) for one, kind in named if kind and is_plausible(one, kind)]


async def _ask(
    derivation: Derivation, mentions: list[TurnMention], context: StageContext
) -> list[tuple[TurnMention, EntityKind]]:
    language = derivation.source.language
    shown = [
        {"id": at, "tool": one.tool.description, "parameter": one.argument, "schema": one.schema}
        | {"value": one.value}
        for at, one in enumerate(mentions)
    ]
    kinds = [{"kind": kind, "description": described(kind, language)} for kind in KINDS]
    seed = derivation.seed
    prompt = render(PROMPTS, TEMPLATE, kinds=kinds, arguments=shown, language=language, seed=seed)
    answer = await context.chat.ask(prompt, Entities)
    known = (one for one in answer.entities if 0 <= one.id < len(mentions))
    return [(mentions[one.id], one.entity) for one in known]
