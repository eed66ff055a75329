"""Whether the conversation can only mean its gold: nothing else is stated for an argument later, or besides it.

What is stated last holds (HammerBench 4.2.3): a gold value that is the last one said is fine, whatever was stated before.
Another value said after it contradicts the sample where the user takes the first one back; otherwise it is unproved,
for people can tell a slip of the tongue from a change of mind. A value for a parameter that the gold leaves out counts
too where it is stated outright.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.shifts.turns import is_conversation, is_path
from callwright.generators.stages import StageContext
from callwright.language.calls.tools import ParameterView, ToolView
from callwright.language.dates import find_dates
from callwright.language.names import split_name
from callwright.language.packs import signs
from callwright.language.readers.moments import find_times
from callwright.language.text import Found, fold
from callwright.language.values import locate
from callwright.validators.blind.several_calls import reads_a_set
from callwright.validators.checks.declaring import ARGUMENTS, rule
from callwright.validators.checks.evidence import is_routed
from callwright.validators.checks.statements import SHAPED, Speech, Statement, hear, view_tool
from callwright.validators.checks.verdicts import Finding, contradicted, unproved
from callwright.warehouse.records import CallTurn, DoubtedFact, GoldCall, Sample, Snapshot, Tool, UserTurn, Verdict

_SEPARATORS = signs(" ,.;-—…\"'”{close}")
_QUOTED_END = signs(" \"'”{close}")
_NOTHING: tuple[JsonValue, ...] = (None, "", [], {})


class _CallContext(NamedTuple):
    """A gold call, how people speak of its tool, and all that they said before it, the latest first."""

    call: GoldCall
    view: ToolView
    speeches: list[Speech]


def applies_to(sample: Sample) -> bool:
    """Whether a call is due at some turn; what responses leave open is the check of paths to find.

    In a simulated conversation the calls that were made were proved before, when nothing had been shifted yet.

    Where several calls are due at once, what one takes is stated beside the other's: the check of routing sees to questions
    over a whole catalog, that of all calls to sets of calls.
    """
    due = [len(snapshot.calls) for snapshot in _due_snapshots(sample)]
    return any(due) and not is_path(sample) and not ((is_routed(sample) or reads_a_set(sample)) and max(due) > 1)


@rule(
    "ambiguity", "1", "Is each gold value the last one said for its argument, and nothing said beside the gold?",
    source="HammerBench 4.2.3",
    applies=applies_to,
    settles=ARGUMENTS,
    left_to="readers",
    proof="Nothing else is said for an argument after its gold value.",
    most=None,
    doubts={
        "stated_later": "The call has {name} = {value}, but later the user says “{words}”{where}.",
        "taken_back": "The user takes {name} = {value} back and says “{words}”{where}.",
    },
)  # fmt: skip
def check_ambiguity(sample: Sample, context: StageContext) -> Iterator[Finding]:
    """Look for a second reading of every gold argument of every snapshot."""
    return _second_readings(sample, context.toolset(sample.candidates))


def find_ambiguity(sample: Sample, tools: Sequence[Tool]) -> Verdict:
    """The verdict on `sample`, whose calls are of `tools`."""
    return check_ambiguity.verdict(sample, _second_readings(sample, tools))


def _second_readings(sample: Sample, tools: Sequence[Tool]) -> Iterator[Finding]:
    by_name = {tool.name: tool for tool in tools}
    for snapshot in _due_snapshots(sample):
        for call in snapshot.calls:
            if call.tool in by_name:
                yield from _call_findings(call, by_name[call.tool], snapshot)


def _due_snapshots(sample: Sample) -> list[Snapshot]:
    """The snapshots, those of a simulated conversation without the ones whose calls were made."""
    due = [not (isinstance(turn, CallTurn) and turn.executed) for turn in sample.turns]
    return [one for one in sample.snapshots() if not is_conversation(sample) or due[one.turn]]


def _call_findings(call: GoldCall, tool: Tool, snapshot: Snapshot) -> Iterator[Finding]:
    view = view_tool(tool)
    users = [turn for turn in snapshot.prefix if isinstance(turn, UserTurn)]
    subject = _CallContext(call, view, [hear(view, turn.text) for turn in reversed(users)])
    for parameter in view.parameters:
        value = call.arguments.get(parameter.name)
        if value in _NOTHING:
            yield from _extra(parameter, subject)
        elif not isinstance(value, dict) and _is_users(parameter, value, subject):
            yield from _overriding(parameter, value, subject)


def _is_users(parameter: ParameterView, value: JsonValue, subject: _CallContext) -> bool:
    """Whether it is for the user's own words to say the value: they do say it, or it is a default, or a yes or no."""
    if isinstance(value, bool) or parameter.schema.get("default") == value:
        return True
    return any(_locate(parameter, value, speech.text) for speech in subject.speeches)


def _overriding(parameter: ParameterView, value: JsonValue, subject: _CallContext) -> Iterator[Finding]:
    """Values said for the parameter after its gold value, in the turn of that or a later one."""
    for speech in subject.speeches:
        last = _last_stated(value, parameter, speech)
        rivals = [*_restated(parameter, value, speech, last), *_taken_back(parameter, value, speech, last)]
        for rival in rivals:
            if not _is_explained(rival, subject, speech):
                yield _finding(rival, value, speech)
                return
        if last:
            return


def _last_stated(value: JsonValue, parameter: ParameterView, speech: Speech) -> int:
    """Where the text has said `value` for the last time, 0 where it never says it."""
    stated = [one for one in speech.statements if one.parameter.name == parameter.name]
    agreeing = max([one.end for one in stated if one.value == value], default=0)
    # a yes or no is found over all that names its topic, so look for it behind what is distinguished
    last = max([one.end for one in stated], default=0) if isinstance(value, bool) else 0
    begin = last
    while found := _locate(parameter, value, speech.text[last:]):
        last += max(found.end, 1)
    return max(agreeing, last) if last > begin else agreeing


def _restated(parameter: ParameterView, value: JsonValue, speech: Speech, last: int) -> Iterator[Statement]:
    """Other values said by the parameter's own name."""
    for statement in speech.statements:
        if statement.parameter.name != parameter.name or statement.stated < last or _is_beside(statement.value, value):
            continue
        if 0 < last <= statement.start and not speech.text[last : statement.start].strip(_QUOTED_END):
            continue  # "4 guests for ...": the name goes with the value before it
        yield statement


def _taken_back(parameter: ParameterView, value: JsonValue, speech: Speech, last: int) -> Iterator[Statement]:
    """Other values said without a name, behind words that take the gold value back: "for 4, I mean 6"."""
    for correction in speech.corrections if last else []:
        if correction.start < last:
            continue
        is_next = not speech.text[last : correction.start].strip(_SEPARATORS)
        if parameter.is_number or parameter.kind in SHAPED:
            reading = speech.value_at(parameter, correction.end)
        else:
            reading = speech.clause_at(correction.end) if is_next else None
        if reading is not None and not _is_beside(reading.value, value):
            yield Statement(
                parameter, reading.value, correction.start, reading.start, reading.end, corrects=False, outright=True
            )


def _is_beside(stated: JsonValue, value: JsonValue) -> bool:
    """Whether what is stated goes with the value: a part of it, or the time of day to its date."""
    stated_items, items = (one if isinstance(one, list) else [one] for one in (stated, value))
    if all(any(_is_part(str(one), str(item)) for item in items) for one in stated_items):
        return True
    mine, theirs = _clocks(str(value)), _clocks(str(stated))
    return bool(mine and theirs) and not mine & theirs


def _is_part(words: str, value: str) -> bool:
    return bool(re.search(rf"(?<!\d){re.escape(fold(words))}(?!\d)", fold(value)))


def _clocks(text: str) -> set[str]:
    return {name for name, find in (("date", find_dates), ("time", find_times)) if find(text)}


def _extra(parameter: ParameterView, subject: _CallContext) -> Iterator[Finding]:
    """A value said outright for a parameter that the gold call leaves out."""
    for speech in subject.speeches:
        for statement in (*speech.statements, *speech.unnamed):
            is_extra = statement.parameter.name == parameter.name and statement.outright
            if is_extra and not _is_explained(statement, subject, speech):
                words = speech.text[statement.stated : statement.end]
                yield unproved(
                    f"{words!r} is said for {parameter.name!r}, which the call of {subject.call.tool!r} lacks.",
                    DoubtedFact(kind="stated_unused", tool=subject.call.tool, argument=parameter.name, quote=words),
                )
                return


def _is_explained(rival: Statement, subject: _CallContext, speech: Speech) -> bool:
    """Whether the rival's words are where another argument of the call has its value from."""
    words = speech.text[rival.stated : rival.end]
    rest = [other.text for other in subject.speeches if other is not speech]
    rest.append(f"{speech.text[: rival.start]}|{speech.text[rival.end :]}")
    return any(
        _locate(other, value, words)
        and (_are_alike(other, rival.parameter) or not any(_locate(other, value, text) for text in rest))
        for other in subject.view.parameters
        if other.name != rival.parameter.name and (value := subject.call.arguments.get(other.name)) not in _NOTHING
    )


def _are_alike(one: ParameterView, other: ParameterView) -> bool:
    """Whether two parameters are called by the same word, so that the name of one may speak of the other."""
    return bool(set(split_name(one.name)) & set(split_name(other.name)))


def _locate(parameter: ParameterView, value: JsonValue, text: str) -> Found | None:
    return locate(value, parameter.schema, text)


def _finding(rival: Statement, value: JsonValue, speech: Speech) -> Finding:
    words = speech.text[rival.stated : rival.end].rstrip(signs("."))
    reason = f"{rival.parameter.name!r} is {value!r}, but {words!r} is said for it later"
    fact = DoubtedFact(kind="stated_later", argument=rival.parameter.name, value=value, quote=words)
    if rival.corrects:
        return contradicted(f"{reason}, taking that back.", fact.with_changes(kind="taken_back"))
    return unproved(f"{reason}.", fact)
