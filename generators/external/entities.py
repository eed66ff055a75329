"""Finding an argument that the user may only point at: one of nine kinds of entities (HammerBench 4.2.4)."""

import re
from collections.abc import Mapping
from functools import cache
from random import Random
from typing import NamedTuple, get_args

from pydantic import BaseModel

from callwright.generators.external.mentions import TurnMention, fills_parameter, find_mentions, is_pointable
from callwright.generators.stages import StageContext, asked_origin
from callwright.language.calls.parameters import entity_of
from callwright.language.dates import moment_parts
from callwright.language.packs import of, packaged, unspaced
from callwright.language.schemas import kind_of
from callwright.llm.prompts import render
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.records import (
    Derivation,
    EntityKind,
    EntityReference,
    Language,
    Sample,
    Tool,
    UserTurn,
)

PROMPTS = "callwright.generators.external.prompts"
STAGE = "entities"
TEMPLATE = "find_entities"
LONGEST_NAME = 80
_TYPED = frozenset({"date", "time", "date-time"})
_CODE = re.compile(r"(?=(?:\D*\d){2})[A-Za-z0-9][A-Za-z0-9 ._/#-]{1,30}")
_PLATE = re.compile(rf"(?=.*\d)(?=.*[A-Za-z{unspaced()}])[A-Za-z0-9{unspaced()}][A-Za-z0-9{unspaced()} ·.-]{{3,19}}")
_LETTER = re.compile(r"[^\W\d_]")


APPS_FILE = "apps.yaml"
KINDS: tuple[EntityKind, ...] = get_args(EntityKind)


class App(NamedTuple):
    """A place where messages are found: its key, how often it is taken, and never for what."""

    name: str
    weight: int
    without: tuple[EntityKind, ...] = ()

    def called(self, language: Language) -> str:
        """What people call it."""
        return str(of(language).data["external"]["apps"][self.name])


@cache
def apps() -> dict[str, App]:
    """The apps by key, in the order of the file."""
    return {
        name: App(name, int(entry["weight"]), tuple(entry.get("without", ())))
        for name, entry in packaged("callwright.generators.external", APPS_FILE).items()
    }


def described(kind: EntityKind, language: Language) -> str:
    """What kind of thing can be pointed at, in a language."""
    return str(of(language).data["external"]["entities"][kind])


def app_named(name: str) -> App:
    """The app with this key. Raises ConfigurationError that lists the known ones."""
    if name not in apps():
        raise ConfigurationError(f"There is no app {name!r}; the apps are {', '.join(apps())}.")
    return apps()[name]


def pick_app(allowed: list[App], rng: Random) -> App:
    """One of the allowed apps, the paper's five more often than others."""
    return rng.choices(allowed, weights=[app.weight for app in allowed])[0]


class FoundEntity(BaseModel):
    """An argument, by its id in the question, and the kind of entity that its value is."""

    id: int
    entity: EntityKind


class Entities(BaseModel):
    """The arguments whose values are entities; those that are none are left out."""

    entities: list[FoundEntity]


async def find_entities(derivation: Derivation, context: StageContext) -> list[EntityReference]:
    """One argument of the source that is an entity, and the app that a message about it will come from.

    What the model names that is not there is passed over; where nothing is left of its answer the parameters' names tell.
    Raises RecordError where the source has none.
    """
    source = derivation.source
    problem = obstacle(source, context.tools)
    if problem:
        raise RecordError(problem)
    mentions = _pointable(source, context.tools)
    found = await _ask(derivation, mentions, context)
    plausible = [(mention, kind) for mention, kind in found if is_plausible(mention, kind)] or _by_name(mentions)
    if not plausible:
        listed = ", ".join(f"{mention.argument} = {mention.value!r}" for mention in mentions)
        raise RecordError(f"None of {listed} is an entity that a user would only point at.")
    mention, kind = context.rng.choice(plausible)
    app = pick_app(_apps_for(mention, kind, source.language), context.rng)
    origin = asked_origin(STAGE, derivation, derivation.seed, context, (PROMPTS, TEMPLATE))
    return [
        EntityReference(
            derivation=derivation,
            turn=mention.turn,
            argument=mention.argument,
            value=mention.value,
            entity=kind,
            app=app.name,
            origin=origin,
        )
    ]


def obstacle(sample: Sample, tools: Mapping[str, Tool]) -> str:
    """Why no argument of the sample can be pointed at, "" where one can."""
    if not any(snapshot.calls for snapshot in sample.snapshots()):
        return f"No call is due in this {sample.kind} sample, so that there is no argument to point at."
    if any(isinstance(turn, UserTurn) and turn.external is not None for turn in sample.turns):
        return f"The user of this {sample.kind} sample points at a message already."
    mentions = find_mentions(sample, tools)
    open_to = answered(mentions, sample)
    likely = [one for one in open_to if (kind := entity_of(one.argument, one.schema)) and is_plausible(one, kind)]
    if not likely:
        where = "says" if len(_user_turns(sample)) == 1 else "answers with"
        return (
            f"No argument that the user {where} is a person, a place, a time or another of the nine kinds of entities."
        )
    if not any(is_pointable(one, mentions, sample) for one in likely):
        listed = ", ".join(dict.fromkeys(one.argument for one in likely))
        return (
            f"The values of {listed} are said more than once, or together with others, so that none can be pointed at."
        )
    return ""


def is_plausible(mention: TurnMention, kind: EntityKind) -> bool:
    """Whether the value has the form of such an entity."""
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
            return len(value) <= LONGEST_NAME and "\n" not in value and _LETTER.search(value) is not None


def answered(mentions: list[TurnMention], sample: Sample) -> list[TurnMention]:
    """The mentions in answers, where the user says more than the first request (HammerBench 4.2.4); else all."""
    turns = _user_turns(sample)
    return [one for one in mentions if len(turns) == 1 or one.turn != turns[0]]


def _user_turns(sample: Sample) -> list[int]:
    return [index for index, turn in enumerate(sample.turns) if isinstance(turn, UserTurn)]


def _pointable(sample: Sample, tools: Mapping[str, Tool]) -> list[TurnMention]:
    mentions = find_mentions(sample, tools)
    open_to = answered(mentions, sample)
    return [one for one in open_to if isinstance(one.value, str) and is_pointable(one, mentions, sample)]


def _by_name(mentions: list[TurnMention]) -> list[tuple[TurnMention, EntityKind]]:
    """The entities among the arguments as their parameters are named and described."""
    named = ((one, entity_of(one.argument, one.schema)) for one in mentions)
    return [(one, kind) for one, kind in named if kind and is_plausible(one, kind)]


async def _ask(
    derivation: Derivation, mentions: list[TurnMention], context: StageContext
) -> list[tuple[TurnMention, EntityKind]]:
    language = derivation.source.language
    shown = [
        {"id": index, "tool": one.tool.description, "parameter": one.argument, "schema": one.schema, "value": one.value}
        for index, one in enumerate(mentions)
    ]
    kinds = [{"kind": kind, "description": described(kind, language)} for kind in KINDS]
    prompt = render(PROMPTS, TEMPLATE, kinds=kinds, arguments=shown, language=language, seed=derivation.seed)
    answer = await context.chat.ask(prompt, Entities)
    return [(mentions[one.id], one.entity) for one in answer.entities if 0 <= one.id < len(mentions)]


def _apps_for(mention: TurnMention, kind: EntityKind, language: Language) -> list[App]:
    """The apps where such an entity is found, without those whose names say what a parameter of the tool could take."""
    usual = [one for one in apps().values() if kind not in one.without]
    kept = [one for one in usual if not fills_parameter(one.called(language), mention.tool, mention.argument)]
    return kept or usual
