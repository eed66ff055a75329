"""Whether a real conversation says the values of its calls, and its assistant writes well.

The gold of a generated sample exists before its words; that of a taken one is what an assistant
did, which may have been wrong. So a value that nothing in the conversation says is for people,
whatever a reader chooses. Nobody says beforehand a text that the assistant composes (a mail's
body), so it is read by a rubric.
"""

import re
from collections.abc import Iterator
from typing import Annotated, NamedTuple

import orjson
from pydantic import BaseModel, Field

from callwright.generators.kinds import traits_of
from callwright.generators.stages import StageContext
from callwright.generators.tools import outlined_tools
from callwright.generators.transcripts import conversation_text, shown_call
from callwright.language.packs import unspaced
from callwright.language.schemas import choices_of, kind_of, leaves
from callwright.language.values import locate
from callwright.llm.models import reads_language
from callwright.llm.stated_schemas import Line
from callwright.validators.checks.declaring import reader, rule
from callwright.validators.checks.grounding import ground
from callwright.validators.checks.verdicts import Finding, unproved
from callwright.validators.judges import COMPOSED, ask_opinion
from callwright.validators.likely_wrong import find_suspicions
from callwright.validators.origins import root_of
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import (
    DoubtedFact,
    GoldCall,
    JsonSchema,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
)
from callwright.warehouse.shown_tools import without_examples

_COMPOSED_WORDS = 8  # a text this long is written, not passed on
_LEAST = 4  # of 5
_TELLING = 3  # characters: what is shorter stands in any text
_SHORT_CODE = re.compile("[A-Z]{2,3}")  # of a country, a currency: a choice
_UNSTATED = ("unstated", "other_said")


class ComposedScore(BaseModel):
    """How well a text that the assistant wrote does what is asked and keeps to what is known."""

    reason: Line
    score: Annotated[int, Field(ge=1, le=5)]


class ComposedText(NamedTuple):
    """A text that the assistant wrote itself: the call's turn, the call, and the argument."""

    turn: int
    call: GoldCall
    argument: str


def is_taken(sample: Sample) -> bool:
    """Whether the sample is a recorded conversation, so that its calls may be wrong."""
    return traits_of(sample.kind).is_taken


@rule(
    "traced",
    "3",
    "Of a conversation that took place: is a value of a call likely wrong, or said by nothing?",
    source="docs/sources.md",
    applies=is_taken,
    proof="Something in the conversation says each value.",
    most=None,
    doubts={
        "exchanged": "The words{where} give {other} for {name}, and not {value}.",
        "corrected": "{name} = {value} is taken back{where}, and {other} said instead.",
        "either": "For {name} the words{where} allow {other} as well as {value}.",
        "like_value": "{other} is said{where} and not used; it may be meant by {name} = {value}.",
        "untraced": "Nothing in the conversation says {name} = {value}.",
    },
)
def check_traced(sample: Sample, context: StageContext) -> Iterator[Finding]:
    """Find the values that are likely wrong, the likeliest first, then those that nothing says.

    Sources are the user, a result and the assistant's own words. Choices and flags are implied far
    more often than they are said: that nothing says one is no doubt, and left to readers.
    """
    tools = context.toolset(sample.candidates)
    suspicions = find_suspicions(sample, tools)
    for suspicion in suspicions:
        yield unproved(suspicion.reason, suspicion.fact)
    suspected = {(one.fact.turn, one.fact.argument) for one in suspicions}
    by_name = {tool.name: tool for tool in tools}
    composed = {(one.turn, one.argument) for one in composed_texts(sample, tools)}
    for doubt in ground(sample, tools).doubts:
        at = doubt.turn or 0
        name = root_of(doubt.argument)
        is_implied = (
            isinstance(doubt.value, bool)
            or _SHORT_CODE.fullmatch(str(doubt.value)) is not None
            or _is_choice(doubt, at, sample, by_name)
        )
        is_doubted = (doubt.turn, doubt.argument) in suspected
        if doubt.kind not in _UNSTATED or (at, name) in composed or is_implied or is_doubted:
            continue
        calls = next((one.calls for one in sample.snapshots() if one.turn == at), ())
        schema = next(
            (_schema(call, name, by_name) for call in calls if name in call.arguments), {}
        )
        # anybody's words or a result before may have the value, in whichever writing of it
        texts, plain = (
            [sample.system_message, *_texts(sample.turns[:at])],
            str(doubt.value).casefold(),
        )
        is_held = len(plain) >= _TELLING and any(plain in text.casefold() for text in texts)
        if not is_held and not any(locate(doubt.value, schema, text) for text in texts):
            reason = (
                f"Before turn {at} nothing in the conversation says {doubt.argument} ="
                f" {doubt.value!r}."
            )
            fact = DoubtedFact(kind="untraced", turn=at, argument=doubt.argument, value=doubt.value)
            yield unproved(reason, fact)


def _is_choice(doubt: DoubtedFact, turn: int, sample: Sample, tools: dict[str, Tool]) -> bool:
    """Whether a value is one of the choices that its schema offers."""
    calls = next((one.calls for one in sample.snapshots() if one.turn == turn), ())
    within = (
        leaf
        for call in calls
        for name, value in call.arguments.items()
        for leaf in leaves(value, _schema(call, name, tools), (name,))
    )
    return any(value == doubt.value and choices_of(schema) for _, value, schema in within)


def composed_texts(sample: Sample, tools: list[Tool]) -> Iterator[ComposedText]:
    """Yield the long texts that the assistant wrote itself, for parameters that take any text.

    Nobody said them before.
    """
    by_name = {tool.name: tool for tool in tools}
    for snapshot in sample.snapshots():
        earlier_text = "\n".join([sample.system_message, *_texts(snapshot.prefix)]).casefold()
        for call in snapshot.calls:
            for name, value in call.arguments.items():
                is_free = isinstance(value, str) and kind_of(_schema(call, name, by_name)) == "text"
                if (
                    is_free
                    and _is_written(str(value))
                    and str(value).casefold() not in earlier_text
                ):
                    yield ComposedText(snapshot.turn, call, name)


def _has_composed(sample: Sample) -> bool:
    calls = sample.all_calls
    values = (value for call in calls for value in call.arguments.values())
    return is_taken(sample) and any(
        isinstance(value, str) and _is_written(value) for value in values
    )


@reader(
    "composed",
    "1",
    "Does each text that the assistant wrote itself do what is asked, and make nothing up?",
    source="docs/sources.md",
    role="judge",
    prompts=(COMPOSED,),
    applies=_has_composed,
    proof=(
        "The judge finds what the assistant wrote itself to do what is asked, and nothing made up."
    ),
    doubts={
        "composed_amiss": "{name} is written by the assistant, and a model finds it amiss: {said}",
        "composed_unread": (
            "{name} is written by the assistant; no model that reads language has read it."
        ),
    },
)
async def check_composed(sample: Sample, context: StageContext) -> list[Finding]:
    """Let the judge read each composed text beside the conversation before it."""
    findings: list[Finding] = []
    tools = context.toolset(sample.candidates)
    for composed in composed_texts(sample, tools):
        fact = DoubtedFact(kind="composed_unread", turn=composed.turn, argument=composed.argument)
        if not reads_language(context.chat.name):
            reason = (
                f"No model that reads language has read {composed.argument!r}, which is composed."
            )
            findings.append(unproved(reason, fact))
            continue
        try:
            opinion = await ask_opinion(
                context.chat,
                COMPOSED,
                ComposedScore,
                sample.briefing,
                language=sample.language,
                tools=outlined_tools(
                    (without_examples(tool), composed.call.arguments)
                    for tool in tools
                    if tool.name == composed.call.tool
                ),
                conversation=conversation_text(sample.turns[: composed.turn]),
                call=shown_call(composed.call),
                parameter=composed.argument,
            )
        except ReplyError as error:
            reason = (
                f"The judge gave no answer about {composed.argument!r} that can be read: {error}"
            )
            findings.append(unproved(reason, fact))
            continue
        if opinion.score < _LEAST:
            amiss = DoubtedFact(
                kind="composed_amiss",
                turn=composed.turn,
                argument=composed.argument,
                other=opinion.reason,
            )
            reason = (
                f"The judge gives {composed.argument!r} before turn {composed.turn} {opinion.score}"
                f" of 5: {opinion.reason}"
            )
            findings.append(unproved(reason, amiss))
    return findings


def _schema(call: GoldCall, name: str, tools: dict[str, Tool]) -> JsonSchema:
    tool = tools.get(call.tool)
    return tool.properties.get(name, {}) if tool else {}


def _is_written(text: str) -> bool:
    """Whether a text is long enough to be somebody's own writing.

    In scripts without spaces two characters count as a word.
    """
    dense = len(re.findall(f"[{unspaced()}]", text))
    return len(text.split()) + dense // 2 >= _COMPOSED_WORDS


def _texts(prefix: tuple[Turn, ...]) -> Iterator[str]:
    for turn in prefix:
        if isinstance(turn, ResultTurn):
            yield from (
                one if isinstance(one, str) else orjson.dumps(one).decode() for one in turn.results
            )
        elif isinstance(turn, ReplyTurn):
            yield turn.text
        elif turn.kind == "user":
            yield turn.text
            yield turn.external.text if turn.external else ""
