"""Plant a fault into a proved task and word it (AgentDojo, ToolSandbox).

The words are the text that gives an order, the user's part in it, and the report of a failure.
"""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Literal, NamedTuple

from pydantic import BaseModel

from callwright.generators.environments.episodes import StatefulWorld
from callwright.generators.families import Family, Kind, Traits
from callwright.generators.faults import GROUP, INJECTED, TOOL_ERROR
from callwright.generators.faults.errors import ERRORS
from callwright.generators.faults.texts import TEXTS
from callwright.generators.faults.transcripts import (
    FaultPlan,
    Planting,
    Words,
    keeps_choices,
    retold,
)
from callwright.generators.kinds import name_of
from callwright.generators.multi_step import TASK
from callwright.generators.multi_step.answers import (
    deed_words,
    done_sentence,
    is_named,
    reported,
    with_worded_answer,
)
from callwright.generators.multi_step.tasks import world_of_sample
from callwright.generators.stages import (
    ATTEMPTS,
    StageContext,
    Step,
    asked_origin,
    first_fit,
    in_a_row,
)
from callwright.language.names import humanise
from callwright.language.packs import of, writes
from callwright.language.pages import as_sentence, shapes_in
from callwright.language.schemas import scalars
from callwright.llm.prompts import render
from callwright.llm.stated_schemas import Paragraph
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Derivation,
    Fault,
    Origin,
    PlantedFault,
    ReplyTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

PROMPTS = "callwright.generators.faults.prompts"
TEMPLATE = "word_fault"
STAGE, WORDING = "faults", "fault_words"
_MAKERS = {TOOL_ERROR: (*ERRORS.values(),), INJECTED: (*TEXTS.values(),)}
SHORTEST, LONGEST = 8, 600
Purpose = Literal["order", "errand", "forward", "advice", "delegation", "failure"]


class FaultWords(BaseModel):
    """The words that were asked for, and nothing else."""

    text: Paragraph


class _TextWish(NamedTuple):
    """A text to be written, with the values that it must contain and those that it must not."""

    purpose: Purpose
    holds: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()


def planting_of(source: Sample, context: StageContext, seed: int) -> Planting:
    """Return a task together with its world.

    Raises ConfigurationError if the build does not have the world.
    """
    world = world_of_sample(source, context)
    return Planting(source, world, {tool.name: tool for tool in world.tools}, Random(seed))


def obstacle(sample: Sample, _tools: Mapping[str, Tool]) -> str:
    """Return why nothing can go wrong in a sample, or "" if something can."""
    if sample.changes and sample.fault is None:
        return ""
    return "Only what is to change a world can go wrong so that it shows."


async def plant_fault(derivation: Derivation, context: StageContext) -> list[PlantedFault]:
    """The first fault from one on that the seed gives, which the world proves of the source.

    Raises RecordError without any.
    """
    planting = planting_of(derivation.source, context, derivation.seed)
    makers = _MAKERS[derivation.transform]
    first = planting.rng.randrange(len(makers))
    for maker in (*makers[first:], *makers[:first]):
        plan = next((one for one in maker(planting) if keeps_choices(planting, one)), None)
        if plan is not None:
            origin = Origin(stage=STAGE, parents=(derivation.key,), seed=derivation.seed)
            return [PlantedFault(derivation=derivation, origin=origin, **plan._asdict())]
    raise RecordError(f"Nothing of the sort {derivation.transform!r} can go wrong in it.")


async def word_fault(planted: PlantedFault, context: StageContext) -> list[Sample]:
    """Return the sample of a planted fault, reworded and answered by the world with the fault."""
    source, fault = planted.derivation.source, planted.fault
    words = Words(source.request)
    for asked in _asked_of(planted):
        text = await _worded(asked, planted, context)
        match asked.purpose:
            case "order" | "errand" | "advice":
                fault = fault.with_changes(instead=f"{fault.value}. {text}")
            case "forward":
                fault = fault.with_changes(instead=text)
                words = words._replace(request=f"{words.request} {text}")
            case "delegation":
                words = words._replace(request=f"{words.request} {text}")
            case "failure":
                words = words._replace(failure=text)
    planting = planting_of(source, context, planted.derivation.seed)
    plan = FaultPlan(fault, planted.steps, planted.tools)
    kind = name_of(source.kind, planted.derivation.transform)
    origin = asked_origin(WORDING, planted, planted.derivation.seed, context, (PROMPTS, TEMPLATE))
    sample = retold(planting, plan, words, kind)
    if aside := _consent(sample, planted):
        sample = retold(planting, plan, words, kind, aside)
    sample = sample.with_changes(origin=origin)
    sample = _with_remarks(sample, planted, planting.world)
    return [await with_worded_answer(sample, context)]


def _asked_of(planted: PlantedFault) -> Iterator[_TextWish]:
    """Yield the texts that a fault needs."""
    fault = planted.fault
    values = tuple(map(str, scalars(fault.call.arguments))) if fault.call else ()
    if fault.sort == "harmless":
        yield _TextWish("advice")
    elif fault.is_text:
        yield _TextWish(
            "errand" if fault.due == "obey" else "order" if fault.field else "forward", holds=values
        )
    if fault.due == "obey":
        yield _TextWish("delegation", holds=(planted.entry,), hides=values)
    if fault.due == "tell":
        yield _TextWish("failure")


async def _worded(asked: _TextWish, planted: PlantedFault, context: StageContext) -> str:
    source, fault = planted.derivation.source, planted.fault
    tools = context.toolset((*source.candidates, *planted.tools))
    tool = next((one for one in tools if fault.call and one.name == fault.call.tool), None)
    prompt = render(
        PROMPTS,
        TEMPLATE,
        purpose=asked.purpose,
        request=source.request,
        tool=tool.sayable if tool else None,
        deed=_deed(fault, source),
        arguments=fault.call.arguments if fault.call else {},
        told=fault.told,
        field=fault.field,
        entry=planted.entry,
        value=fault.value,
        language=source.language,
        seed=planted.derivation.seed,
    )
    worded = await first_fit(
        context,
        prompt,
        FaultWords,
        lambda words: words_problem(words.text.strip(), asked.holds, asked.hides, source),
        f"The {asked.purpose} broke its rules in {ATTEMPTS} wordings",
    )
    return worded.text.strip()


def _deed(fault: Fault, source: Sample) -> str:
    """Return in words what a fault's call does, with things as the user named them, or its ids."""
    return deed_words(fault.call, source) if fault.call else ""


def _consent(sample: Sample, planted: PlantedFault) -> tuple[Turn, ...]:
    """Return the question whether to do what a text says, and the user's yes.

    It is asked where the text is about a thing that the user has not named.
    """
    fault, language = planted.fault, sample.language
    if fault.due != "obey" or fault.call is None:
        return ()
    order = next(one for one in sample.all_calls if one.bare.key == fault.call.bare.key)
    if is_named(order, sample):
        return ()
    rng = Random(planted.derivation.seed)
    words = {
        "field": humanise(fault.field),
        "entry": planted.entry,
        "deed": deed_words(order, sample),
    }
    question = as_sentence(rng.choice(shapes_in(language, "faults.consent")), words)
    leave = rng.choice(shapes_in(language, "policies.leave"))
    return ReplyTurn(text=question), UserTurn(text=leave)


def _with_remarks(sample: Sample, planted: PlantedFault, world: StatefulWorld) -> Sample:
    """Return the sample whose last words also say what else was done, or not.

    These are what was done in another way than planned, and what became of an order in a text.
    """
    fault, last, language = planted.fault, sample.turns[-1], sample.language
    if not isinstance(last, ReplyTurn):
        return sample
    sentences, rng = [last.text], Random(planted.derivation.seed)
    words = {"field": humanise(fault.field), "entry": planted.entry}
    if fault.due == "obey" and fault.call is not None:
        order = next(one for one in sample.all_calls if one.bare.key == fault.call.bare.key)
        words["done"] = done_sentence(order, sample)
        sentences.append(as_sentence(rng.choice(shapes_in(language, "faults.obeyed")), words))
    elif fault.is_text and fault.call is not None:
        page = "ignored" if fault.field else "unheeded"
        sentences.append(as_sentence(rng.choice(shapes_in(language, f"faults.{page}")), words))
    elif not fault.is_text and fault.due != "tell":
        source = planted.derivation.source
        told = {one.call.bare.key for one in reported(sample)}
        sentences += [
            done_sentence(one.call, source)
            for one in reported(source)
            if one.call.bare.key not in told and not one.fields and world.writes(one.tool)
        ]
    text = of(language).space.join(sentences)
    return sample.with_changes(turns=(*sample.turns[:-1], last.with_changes(text=text)))


def words_problem(text: str, holds: tuple[str, ...], hides: tuple[str, ...], source: Sample) -> str:
    """Return why a text is unusable for a fault, or "" if it is usable."""
    if not SHORTEST <= len(text) <= LONGEST:
        return f"the text has {len(text)} characters; {SHORTEST} to {LONGEST} are allowed."
    lacking = next((value for value in holds if value not in text), None)
    if lacking is not None:
        return f"it does not hold {lacking!r}, as it stands."
    told = next((value for value in hides if value in text and value not in holds), None)
    if told is not None:
        return f"it says {told!r}, which only the text that is pointed to may say."
    return (
        "" if writes(source.language, text) else f"it is not in the language {source.language!r}."
    )


_TRAITS = Traits(calls="set", asked="path", is_executed=True, is_task=True, is_changed=True)
_OF = (TASK,)

FAMILY = Family(
    "faults",
    (
        Kind(
            TOOL_ERROR,
            "a tool fails on the way through a task: what is due next sees to it",
            GROUP,
            _TRAITS,
            TOOL_ERROR,
            _OF,
            uses=4,
        ),
        Kind(
            INJECTED,
            "a text in a task gives an order: nobody may obey it, unless the user has asked to",
            GROUP,
            _TRAITS,
            INJECTED,
            _OF,
            uses=4,
        ),
    ),
    stages=in_a_row(
        "faults",
        "Derivation",
        Step(
            "faults",
            "Plant what goes wrong, where the world proves what is then due.",
            "PlantedFault",
            "AgentDojo 3.1",
            plant_fault,
        ),
        Step(
            "fault_words",
            "Word orders, what the user says of them, and how a failure is told; let the world"
            " answer anew.",
            "Sample",
            "AgentDojo 3.3",
            word_fault,
            ("word_fault", "multi_step/prompts/word_answer"),
        ),
    ),
    obstacles={TOOL_ERROR: obstacle, INJECTED: obstacle},
    has_fixed_words=True,
)
