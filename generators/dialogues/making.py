"""Make dialogues for incomplete requests: slots, order, values, wording (HammerBench 4.2.2)."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Literal, NamedTuple

from pydantic import BaseModel, JsonValue

from callwright.generators.dialogues import DIALOGUE, TRAJECTORIES, trajectories
from callwright.generators.dialogues.trajectories import merge_trajectories
from callwright.generators.families import Family, Kind, Order, Traits, value_obstacle
from callwright.generators.given_values import ArgumentValues, WantedValues, collect_values
from callwright.generators.slots import (
    Filled,
    detail_line,
    draw_manner,
    fill,
    slots_of,
    wording_problem,
)
from callwright.generators.slots import Slot as WordSlot
from callwright.generators.stages import (
    ATTEMPTS,
    StageContext,
    Step,
    asked_origin,
    first_fit,
    in_a_row,
)
from callwright.generators.tools import EMPTY, as_outlined, titled_schema
from callwright.generators.transcripts import conversation_text
from callwright.language.packs import LanguagePattern, writes
from callwright.language.text import fold
from callwright.language.values import locate
from callwright.llm.chat import Prompt
from callwright.llm.prompts import render
from callwright.llm.stated_schemas import Line
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    NO_FACTS,
    Arguments,
    CallTurn,
    Derivation,
    Evidence,
    GoldCall,
    Language,
    ReplyTurn,
    Sample,
    Slot,
    SlotPlan,
    Tool,
    Transform,
    Turn,
    UserTurn,
)

PROMPTS = "callwright.generators.dialogues.prompts"
SLOTS_STAGE = "slots"
SLOTS_TEMPLATE = "fill_slots"
_IN_ORDER = 0.6  # of the dialogues ask in the order in which the tool declares its parameters


def obstacle(sample: Sample, tools: Mapping[str, Tool]) -> str:
    """Return why questions and answers can't continue this sample, or "" if they can."""
    match sample.turns:
        case (UserTurn(), CallTurn(calls=(_,), executed=False)):
            pass
        case (UserTurn(), CallTurn(calls=calls, executed=False)):
            return (
                f"{len(calls)} calls are due after the request; questions go on from exactly one."
            )
        case turns:
            return (
                f"The sample has {len(turns)} turns; questions follow a request and one due call."
            )
    try:
        tool = gold_tool(sample, tools)
    except RecordError:
        return f"The tool {sample.gold[0].tool!r} is not among the candidates."
    if not missing_slots(sample, tool):
        return (
            f"The request gives every parameter that {tool.name!r} requires; nothing is to ask for."
        )
    return ""


def known_arguments(sample: Sample) -> Arguments:
    """Return the last call's arguments without empty values, which imported labels contain."""
    return {name: value for name, value in sample.gold[0].arguments.items() if value not in EMPTY}


def missing_slots(sample: Sample, tool: Tool) -> tuple[str, ...]:
    """Return the tool's required parameters that the sample's call lacks."""
    known = known_arguments(sample)
    return tuple(name for name in tool.properties if name in tool.required and name not in known)


def gold_tool(sample: Sample, tools: Mapping[str, Tool]) -> Tool:
    """Return the tool of the sample's last call; RecordError if it is not among the candidates."""
    named = (tools[key] for key in sample.candidates if key in tools)
    tool = next((tool for tool in named if tool.name == sample.gold[0].tool), None)
    if tool is None:
        name = sample.gold[0].tool
        message = f"The tool {name!r} is not among the candidates of the sample {sample.key!r}."
        raise RecordError(message)
    return tool


async def plan_slots(derivation: Derivation, context: StageContext) -> list[SlotPlan]:
    """Choose the parameters to ask for, in a seeded order, each with an unmistakable value.

    Raises RecordError if nothing is missing, and ReplyError if neither three answers nor a draw
    give a usable value.
    """
    source = derivation.source
    reason = obstacle(source, context.tools)
    if reason:
        raise RecordError(f"No dialogue can be made of the sample {source.key!r}: {reason}")
    tool, known_values = gold_tool(source, context.tools), known_arguments(source)
    missing = missing_slots(source, tool)

    def objection(name: str, values: Arguments) -> str:
        return _objection(name, values, source, tool)

    own = context.own_values.draw(
        tool, missing, Random(f"{derivation.seed}:own"), known=known_values, objection=objection
    )
    left = tuple(name for name in missing if name not in own)
    known_values = {**known_values, **own}
    prompt = render(
        PROMPTS,
        SLOTS_TEMPLATE,
        tool=as_outlined(tool, left),
        request=source.request,
        known=known_values,
        parameters=left,
        language=source.language,
        seed=derivation.seed,
    )
    slot_values = dict(own)
    if left:
        wanted = WantedValues(tool, left, source.language, derivation.seed, known_values, objection)
        wanted = wanted._replace(extends=False)
        slot_values |= (await collect_values(context.chat, prompt, ArgumentValues, wanted))[0]
    rng = Random(derivation.seed)
    order = missing if rng.random() < _IN_ORDER else rng.sample(missing, len(missing))
    prompts = (PROMPTS, SLOTS_TEMPLATE)
    origin = asked_origin(SLOTS_STAGE, derivation, derivation.seed, context, prompts)
    slots = tuple(Slot(parameter=name, value=slot_values[name]) for name in order)
    return [SlotPlan(derivation=derivation, slots=slots, origin=origin)]


def _objection(name: str, values: Arguments, source: Sample, tool: Tool) -> str:
    """Return why a value can't be answered beside the others, or ""; booleans always can."""
    value = values[name]
    if isinstance(value, bool):
        return ""
    folded_value = fold(str(value))
    for other_name, taken in values.items():
        parsed = fold(str(taken))
        is_part = (
            isinstance(value, str)
            and isinstance(taken, str)
            and (folded_value in parsed or parsed in folded_value)
        )
        if (
            other_name != name
            and not isinstance(taken, bool)
            and (parsed == folded_value or is_part)
        ):
            return f"the value {value!r} of {name!r} could be taken for that of {other_name!r}."
    if locate(value, tool.properties[name], source.request) is not None:
        return f"the request says {value!r} already, so that nobody would ask for {name!r}."
    return ""


STAGE = "dialogues"
KIND = "sQsA"
QUESTION = "ask_question"
ANSWER = "answer_question"
LONGEST_QUESTION = 200
AnswerForm = Literal["bare", "sentence"]

_BARE_SHARE = 0.45
_FEWEST_OPTIONS = 2
_ASKING = LanguagePattern(r"@[?]\s*$|@{asking}")


class SlotQuestion(BaseModel):
    """The assistant's question for one parameter."""

    question: Line


class SlotAnswer(BaseModel):
    """The user's answer, with a slot for the value."""

    answer: Line


class _DialogueContext(NamedTuple):
    """The data that stays the same while a dialogue is written."""

    plan: SlotPlan
    tool: Tool
    context: StageContext

    @property
    def language(self) -> Language:
        return self.plan.derivation.source.language

    @property
    def seed(self) -> int:
        return self.plan.derivation.seed

    def slots(self, slot: Slot) -> tuple[WordSlot, ...]:
        """Return the slot of an answer, said in the manner of this user."""
        rng = Random(f"{self.seed}:{slot.parameter}")
        manner = draw_manner(Random(f"{self.seed}:manner"))
        return slots_of([(self.tool, {slot.parameter: slot.value})], self.language, manner, rng)

    def prompt(self, template: str, turns: Sequence[Turn], **more: object) -> Prompt:
        """Return the prompt for the question or answer that follows these turns."""
        told = {"language": self.language, "seed": self.seed}
        return render(PROMPTS, template, conversation=conversation_text(turns), **told, **more)


async def write_dialogues(plan: SlotPlan, context: StageContext) -> list[Sample]:
    """Write a dialogue that asks for one slot after another, with a snapshot after each answer.

    Raises ReplyError if three wordings of a question or answer don't fit, with the last one's
    reason.
    """
    source = plan.derivation.source
    dialogue = _DialogueContext(plan, gold_tool(source, context.tools), context)
    known_values, evidence = known_arguments(source), list(source.gold[0].evidence)
    turns: list[Turn] = [source.turns[0], _snapshot(dialogue.tool, known_values, evidence)]
    rng = Random(dialogue.seed)
    for slot, form in zip(plan.slots, answer_forms(len(plan.slots), rng), strict=True):
        turns.append(ReplyTurn(text=await _ask(slot, known_values, turns, dialogue)))
        wanted = dialogue.slots(slot)
        answer = await _answer(slot, wanted, known_values, form, turns, dialogue)
        known_values = {**known_values, slot.parameter: slot.value}
        evidence += answer.evidence(wanted, turn=len(turns))
        turns += [UserTurn(text=answer.text), _snapshot(dialogue.tool, known_values, evidence)]
    origin = asked_origin(STAGE, plan, dialogue.seed, context, (PROMPTS, QUESTION, ANSWER))
    return [source.with_changes(kind=KIND, turns=tuple(turns), facts=NO_FACTS, origin=origin)]


def answer_forms(count: int, rng: Random) -> list[AnswerForm]:
    """Draw the form of each answer: some are bare values, but never all of several."""
    drawn: list[AnswerForm] = [
        "bare" if rng.random() < _BARE_SHARE else "sentence" for _ in range(count)
    ]
    if count > 1 and "sentence" not in drawn:
        drawn[rng.randrange(count)] = "sentence"
    return drawn


async def _ask(
    slot: Slot, known: Arguments, turns: Sequence[Turn], dialogue: _DialogueContext
) -> str:
    answer = await first_fit(
        dialogue.context,
        dialogue.prompt(
            QUESTION,
            turns,
            tool=dialogue.tool,
            detail=detail_line(dialogue.tool, slot.parameter),
            known=known,
            parameter=slot.parameter,
        ),
        SlotQuestion,
        lambda given: question_problem(
            given.question.strip(), slot, known, dialogue.tool, dialogue.language
        ),
        f"The question for {slot.parameter!r} did not fit in {ATTEMPTS} wordings",
    )
    return answer.question.strip()


async def _answer(  # noqa: PLR0917 - what is to be said, and after what
    slot: Slot,
    wanted: Sequence[WordSlot],
    known: Arguments,
    form: AnswerForm,
    turns: Sequence[Turn],
    dialogue: _DialogueContext,
) -> Filled:
    others = {one.parameter: one.value for one in dialogue.plan.slots if one != slot} | known
    told = {"parameter": slot.parameter, "manner": form}
    answer = await first_fit(
        dialogue.context,
        dialogue.prompt(ANSWER, turns, tool=dialogue.tool, slot=wanted[0], **told),
        SlotAnswer,
        lambda given: answer_problem(given.answer, wanted, others, dialogue, turns),
        f"The answer for {slot.parameter!r} did not fit in {ATTEMPTS} wordings",
    )
    return fill(answer.answer, wanted)


def question_problem(
    question: str, slot: Slot, known: Arguments, tool: Tool, language: Language
) -> str:
    """Return why this can't ask for the slot, or ""; it must be a short question without values."""
    if not question or len(question) > LONGEST_QUESTION or "\n" in question:
        return f"{question!r} is not one line of 1 to {LONGEST_QUESTION} characters."
    if not writes(language, question):
        return f"{question!r} is not in the language {language!r}."
    if not _ASKING.of(question).search(question):
        return f"{question!r} asks for nothing."
    for name, value in {**known, slot.parameter: slot.value}.items():
        if _gives_away(question, value, name, slot, tool):
            return f"{question!r} says the value {value!r} of {name!r}."
    return ""


def answer_problem(
    text: str,
    wanted: Sequence[WordSlot],
    others: Arguments,
    dialogue: _DialogueContext,
    turns: Sequence[Turn],
) -> str:
    """Return why this can't answer a question, or ""; it must have the slot and no other value."""
    problem = wording_problem(text, wanted, dialogue.language, known=conversation_text(turns))
    if problem:
        return problem
    filled = fill(text, wanted)
    [place] = filled.places.values()
    rest = f"{filled.text[: place.start]} | {filled.text[place.end :]}"
    for name, value in others.items():
        if (
            not isinstance(value, bool)
            and locate(value, titled_schema(dialogue.tool, name), rest) is not None
        ):
            return f"The answer also says {value!r}, which is the {name!r}. Leave it out."
    return ""


def _gives_away(question: str, value: JsonValue, name: str, slot: Slot, tool: Tool) -> bool:
    """Whether the question says a value.

    Naming the subject of a yes or no doesn't state it, and listing options doesn't say one.
    """
    schema = titled_schema(tool, name)
    if isinstance(value, bool) or locate(value, schema, question) is None:
        return False
    described = f"{slot.parameter} {tool.properties[slot.parameter].get('description', '')}"
    if name != slot.parameter and locate(value, schema, described) is not None:
        return False  # the name of what is asked for says it too
    options = schema.get("enum") or ()
    listed = sum(locate(option, {}, question) is not None for option in options)
    return name != slot.parameter or listed < _FEWEST_OPTIONS


def _snapshot(tool: Tool, arguments: Arguments, evidence: Sequence[Evidence]) -> CallTurn:
    proofs = tuple(one for one in evidence if one.argument in arguments)
    constants = tool.constants
    calls = (GoldCall(tool=tool.name, arguments=arguments, evidence=proofs, constants=constants),)
    return CallTurn(calls=calls)


_LONG = Traits("HammerBench", is_long=True, is_changed=True)
_OF: tuple[tuple[Transform, str], ...] = (
    ("mQmA", "several questions at once, all answered"),
    ("mQsA", "several questions at once, one answered"),
    ("sQmA", "one question, several answers"),
)
_ASKED = Kind("sQsA", "asked and answered one by one", DIALOGUE, _LONG, "sQsA", ("imperfect",))
_MERGED = (Kind(name, about, TRAJECTORIES, _LONG, name, ("sQsA",), 404, 404) for name, about in _OF)
_CHOOSE = "Choose in which order the missing arguments are asked for, and a value for each."
_WORD = "Word each question and each answer, and note the call that is due after every answer."
_MERGE = "Merge questions and answers of a dialogue, by code."
_PAPER, _PROMPTS = "HammerBench 4.2.2", (QUESTION, ANSWER)
_STEPS = (
    Step(SLOTS_STAGE, _CHOOSE, "SlotPlan", _PAPER, plan_slots, (SLOTS_TEMPLATE,)),
    Step(STAGE, _WORD, "Sample", f"{_PAPER}, D.7", write_dialogues, _PROMPTS, (ANSWER,)),
)
_MERGING = Step("trajectories", _MERGE, "Sample", _PAPER, merge_trajectories)


def tool_obstacle(order: Order, tool: Tool) -> str:
    """Why no dialogue of the order's kind can be about a tool, "" where one can."""
    if order.kind.group == TRAJECTORIES:
        return trajectories.too_few(len(tool.required))
    return value_obstacle(order, tool)


FAMILY = Family(
    "dialogues",
    (
        _ASKED._replace(paper=1098, scale=1098, favours_lacking=True, is_decided_by_tool=True),
        *_MERGED,
    ),
    stages=(
        *in_a_row("dialogues", "Derivation", *_STEPS, group=DIALOGUE),
        *in_a_row("dialogues", "Derivation", _MERGING, group=TRAJECTORIES),
    ),
    obstacles={"sQsA": obstacle} | dict.fromkeys((name for name, _ in _OF), trajectories.obstacle),
    tool_obstacle=tool_obstacle,
)
