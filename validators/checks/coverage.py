"""Coverage, the dual of grounding: whether all of a request is in its call, and whether the call is what it asks for.

Grounding asks whether all of the call is in the text. What is left of the text is a doubt that names its words: a number or
a day that no argument takes, a negation, an alternative, a condition, a correction, a second wish, a past deed, a text cut
short, another deed than the tool's. Rules decide here; what they can't decide, a judge reads.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from callwright.generators.kinds import traits_of
from callwright.generators.stages import StageContext
from callwright.language.cues import has_cues
from callwright.language.values import locate, locate_text
from callwright.validators.checks.declaring import MEANING, rule
from callwright.validators.checks.statements import hear, view_tool
from callwright.validators.checks.verdicts import Finding, contradicted, unproved
from callwright.validators.readings.cue_readings import cues_left
from callwright.validators.readings.leftover_words import words_left
from callwright.validators.readings.omissions import (
    amounts_left,
    listed_on,
    text_cut_short,
    times_left,
    unmentioned,
    weekdays_amiss,
)
from callwright.validators.readings.other_deeds import framed_request, other_deeds, requests_quoted
from callwright.validators.readings.request_reading import merge_readings, read_leaves
from callwright.validators.readings.request_text import (
    ArgumentLeaf,
    ArgumentReading,
    Grade,
    RequestText,
    Span,
    leaves_of,
    parse_request,
)
from callwright.warehouse.records import (
    Arguments,
    DoubtedFact,
    GoldCall,
    ReplyTurn,
    Sample,
    Snapshot,
    Tool,
    Turn,
    UserTurn,
)


class RequestReading(NamedTuple):
    """What rules and readers make of a request: each argument's grade, and doubts about the rest of its words."""

    arguments: tuple[ArgumentReading, ...]
    doubts: tuple[Finding, ...]

    @property
    def decision(self) -> Grade:
        """Proved where every argument is, and nothing is left over."""
        if any(one.grade == "contradicted" for one in self.arguments):
            return "contradicted"
        is_open = self.doubts or any(one.grade != "proved" for one in self.arguments)
        return "unproved" if is_open else "proved"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not proved, one sentence a fact."""
        of_arguments = (one.reason for one in self.arguments if one.grade != "proved")
        return (*of_arguments, *dict.fromkeys(one.reason for one in self.doubts))


def read_request(tool: Tool, arguments: Arguments, request: str, language: str, now: datetime | None) -> RequestReading:
    """Read `request` against the call of `tool` with `arguments`; `now` is when it was stated, None where nobody knows."""
    if not has_cues(language):
        unknown = f"No rules know the language {language!r}."
        unread = tuple(ArgumentReading(name, "unproved", (), unknown) for name in arguments)
        return RequestReading(unread, (unproved(unknown, DoubtedFact(kind="not_read")),))
    text = parse_request(request, language, now)
    leaves = leaves_of(tool, arguments)
    readings = read_leaves(leaves, text)
    doubts = [
        *_left_over(tool, arguments, text, leaves, readings),
        *(
            unproved(f"The required parameter {name!r} has no value.", _lacking(tool, name))
            for name in tool.required
            if name not in arguments
        ),
        *framed_request(tool, text, readings),
        *_other_deeds(tool, text, leaves, readings),
    ]
    return RequestReading(merge_readings(arguments, leaves, readings), tuple(doubts))


def _lacking(tool: Tool, name: str) -> DoubtedFact:
    return DoubtedFact(kind="required_missing", tool=tool.name, argument=name)


def _other_deeds(
    tool: Tool, text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> Iterator[Finding]:
    fact = DoubtedFact(kind="other_deed", tool=tool.name)
    yield from (unproved(reason, fact) for reason in other_deeds(tool, text, leaves, readings))


def applies_to(sample: Sample) -> bool:
    """Whether rules can account for the words: one call a turn at most, and none made yet."""
    traits = traits_of(sample.kind)
    snapshots = [snapshot for snapshot in sample.snapshots() if snapshot.calls]
    is_read = traits.asked == "call" and not traits.is_executed
    return is_read and bool(snapshots) and all(len(snapshot.calls) == 1 for snapshot in snapshots)


@rule(
    "coverage", "6", "Is every word of the user's part of the call, and the call what is asked for?",
    source="HammerBench 4.2.1",
    applies=applies_to,
    settles=MEANING,
    left_to="readers",
    proof="Every word of the user's belongs to the call.",
    most=None,
    doubts={
        "named_unused": "The words seem to speak of {name}, which the call lacks.",
        "text_cut": "The text in {name} leaves out “{words}”{where}.",
        "weekday_amiss": "“{words}”{where} names a weekday that the day does not fall on.",
        "framed": "“{words}” before the request may give it another meaning.",
        "quoted": "“{words}”{where} is quoted: somebody else may be asking.",
    },
)  # fmt: skip
def check_coverage(sample: Sample, context: StageContext) -> list[Finding]:
    """Account for every word of the user's, snapshot by snapshot; whether the words say the arguments is grounding's to tell."""
    tools = {tool.name: tool for tool in context.toolset(sample.candidates)}
    findings: list[Finding] = []
    tools_due = {call.tool for snapshot in sample.snapshots() for call in snapshot.calls}
    read = False
    for snapshot in sample.snapshots():
        for call in snapshot.calls:
            tool = tools.get(call.tool)
            if tool is None:
                fact = DoubtedFact(kind="tool_unknown", tool=call.tool)
                findings.append(contradicted(f"The tool {call.tool!r} is not among the candidates.", fact))
                continue
            earlier = _earlier_values(sample, snapshot) if traits_of(sample.kind).has_correction else None
            unread = 0 if not read and len(tools_due) == 1 else -1
            read = True
            reading = read_snapshot(tool, call, snapshot.prefix, sample.language, earlier, first=unread)
            findings += reading.doubts
    return findings


def read_snapshot(
    tool: Tool,
    call: GoldCall,
    prefix: Sequence[Turn],
    language: str,
    earlier: Sequence[str] | None = None,
    *,
    first: int = -1,
) -> RequestReading:
    """Read all that a user said before a call against it: arguments from any turn, left-over words in the last one.

    `earlier` are the values of calls that were due before, where the conversation may take them back, else None.
    `first` is the first of the texts whose words are to be accounted for: the last alone unless given.
    """
    texts = list(_user_texts(prefix, language))
    if earlier is not None:
        texts = [one._replace(is_shifted=True, replaced=_find_stated(tool, call, one, earlier)) for one in texts]
    leaves = leaves_of(tool, call.arguments)
    by_turn = [read_leaves(leaves, text) for text in texts]
    readings = [
        next((readings[at] for readings in reversed(by_turn) if readings[at].grade == "proved"), by_turn[-1][at])
        for at in range(len(leaves))
    ]
    doubts: list[Finding] = []
    for text, read in [*zip(texts, by_turn, strict=True)][first:]:
        doubts += _left_over(tool, call.arguments, text, leaves, read)
    if len(texts) == 1 or first == 0:
        doubts += framed_request(tool, texts[0], by_turn[0])
        doubts += _other_deeds(tool, texts[0], leaves, by_turn[0])
    return RequestReading(merge_readings(call.arguments, leaves, readings), tuple(doubts))


def _left_over(
    tool: Tool,
    arguments: Arguments,
    text: RequestText,
    leaves: Sequence[ArgumentLeaf],
    readings: Sequence[ArgumentReading],
) -> Iterator[Finding]:
    """What a text of the user's has beside the call, by what kind of words it is."""
    yield from amounts_left(tool, text, leaves, readings)
    yield from times_left(tool, text, leaves, readings)
    yield from weekdays_amiss(text)
    yield from listed_on(text, leaves, readings)
    yield from requests_quoted(tool, text, readings)
    yield from cues_left(tool, text, leaves, readings)
    yield from words_left(tool, text, leaves, readings)
    yield from text_cut_short(text, leaves, readings)
    yield from unmentioned(tool, arguments, text, readings)


def _user_texts(prefix: Sequence[Turn], language: str) -> Iterator[RequestText]:
    question = ""
    for turn in prefix:
        if isinstance(turn, ReplyTurn):
            question = turn.text
        elif isinstance(turn, UserTurn):
            message = turn.external.text if turn.external else ""
            yield parse_request(turn.text, language, None, question=question, message=message)
            question = ""


def _earlier_values(sample: Sample, snapshot: Snapshot) -> list[str]:
    """The texts that the calls due before had for values: what a shift may take the place of."""
    calls = [call for other in sample.snapshots() if other.turn < snapshot.turn for call in other.calls]
    return [str(value) for call in calls for value in call.arguments.values() if isinstance(value, str)]


def _find_stated(tool: Tool, call: GoldCall, text: RequestText, earlier: Sequence[str]) -> tuple[Span, ...]:
    """Where a text states values for parameters of the call, old ones and new ones: the check of ambiguity sees which holds."""
    speech = hear(view_tool(tool), text.text[: text.own])
    stated = [one for one in (*speech.statements, *speech.unnamed) if one.parameter.name in call.arguments]
    values = [*earlier, *(str(value) for value in call.arguments.values() if isinstance(value, str))]
    held = [found for value in values if (found := locate_text(value, text.text))]
    stated_again = [found for value in values if (found := locate(value, {}, text.text))]
    return (
        *(Span(one.stated, one.end) for one in stated),
        *(Span(one.start, one.end) for one in (*held, *stated_again)),
    )
