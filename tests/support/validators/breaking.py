"""Good conversations broken in known ways: what a check must not prove."""

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.text import fold
from callwright.language.values import locate
from callwright.language.vocabulary import find_corrections
from callwright.language.wording import content_keys
from callwright.warehouse.records import CallTurn, GoldCall, ReplyTurn, Sample, Tool, Turn, UserTurn

Arguments = dict[str, JsonValue]
_DIGIT = re.compile(r"\d")
_MOST_TRIES = 30


class BreakableSample(NamedTuple):
    """A conversation to break, its tools, and what other conversations have for a parameter or answer to a question."""

    sample: Sample
    tools: Sequence[Tool]
    values: Mapping[str, list[JsonValue]]
    answers: Sequence[str]

    @property
    def snapshots(self) -> list[tuple[int, GoldCall]]:
        """The turns with a call."""
        return [
            (index, turn.calls[0])
            for index, turn in enumerate(self.sample.turns)
            if isinstance(turn, CallTurn) and turn.calls
        ]

    @property
    def users(self) -> str:
        """All that the user says or hands over."""
        turns = [turn for turn in self.sample.turns if isinstance(turn, UserTurn)]
        return "\n".join(f"{turn.text}\n{turn.external.text if turn.external else ''}" for turn in turns)


Breaker = Callable[[BreakableSample, Random], Sample | None]


def with_calls(sample: Sample, calls: Mapping[int, GoldCall]) -> Sample:
    """The sample with other calls at these turns."""
    turns = [CallTurn(calls=(calls[index],)) if index in calls else turn for index, turn in enumerate(sample.turns)]
    return sample.with_changes(turns=tuple(turns))


def with_arguments(subject: BreakableSample, changes: Mapping[int, Arguments]) -> Sample:
    """The sample with other arguments at these turns."""
    calls = {
        index: call.with_changes(arguments=changes[index], evidence=())
        for index, call in subject.snapshots
        if index in changes
    }
    return with_calls(subject.sample, calls)


def is_said(subject: BreakableSample, value: JsonValue, name: str = "") -> bool:
    """Whether the conversation has the words of a value, in whatever form, or has it for an argument."""
    words = {key.deep for key in content_keys(subject.users)}
    plain = fold(str(value))
    used = {fold(str(other)) for _, call in subject.snapshots for other in call.arguments.values()}
    schema = next((tool.properties[name] for tool in subject.tools if name in tool.properties), {})
    return (
        plain in fold(subject.users)
        or {key.deep for key in content_keys(str(value))} <= words
        or plain in used
        or locate(value, schema, subject.users) is not None
    )


def steps(subject: BreakableSample) -> list[tuple[int, Arguments, Arguments]]:
    """Each call turn with its arguments and those of the one before."""
    found: list[tuple[int, Arguments, Arguments]] = []
    before: Arguments = {}
    for index, call in subject.snapshots:
        found.append((index, dict(call.arguments), before))
        before = dict(call.arguments)
    return found


def ahead(subject: BreakableSample, rng: Random) -> Sample | None:
    """A snapshot has an argument that is said only later."""
    rows = steps(subject)
    places = [
        (earlier, name)
        for number, (_, arguments, before) in enumerate(rows)
        for name in arguments
        if name not in before
        for earlier in range(number)
    ]
    if not places:
        return None
    first, name = rng.choice(places)
    later = next(arguments[name] for _, arguments, _ in rows if name in arguments)
    stop = next(number for number, (_, arguments, _) in enumerate(rows) if name in arguments)
    last = rng.choice((first + 1, stop))
    return with_arguments(subject, {rows[number][0]: {**rows[number][1], name: later} for number in range(first, last)})


def old_value(subject: BreakableSample, rng: Random) -> Sample | None:
    """A value that was overridden stays."""
    rows = steps(subject)
    changed = [
        (number, name, before[name])
        for number, (_, arguments, before) in enumerate(rows)
        for name in arguments
        if name in before and before[name] != arguments[name]
    ]
    changed += _taken_back(subject, rows)
    if not changed:
        return None
    number, name, old = rng.choice(changed)
    new = rows[number][1][name]
    return with_arguments(
        subject,
        {index: {**arguments, name: old} for index, arguments, _ in rows[number:] if arguments.get(name) == new},
    )


def _taken_back(
    subject: BreakableSample, rows: list[tuple[int, Arguments, Arguments]]
) -> list[tuple[int, str, JsonValue]]:
    """Values that are taken back in the turn that says them."""
    found: list[tuple[int, str, JsonValue]] = []
    for number, (index, arguments, before) in enumerate(rows):
        turn = subject.sample.turns[index - 1]
        if not isinstance(turn, UserTurn) or not find_corrections(turn.text):
            continue
        said = turn.text[: find_corrections(turn.text)[0].start]
        for name, value in arguments.items():
            if name in before and before[name] == value:
                continue
            others = [one for one in subject.values.get(name, []) if one != value and locate(one, {}, said)]
            found += [(number, name, other) for other in others if fold(str(other)) not in fold(str(value))][:1]
    return found


def dropped(subject: BreakableSample, rng: Random) -> Sample | None:
    """An argument is lost: at one snapshot, from one on, or wherever it was known."""
    rows = steps(subject)
    having = [(number, name) for number, (_, arguments, _) in enumerate(rows) for name in arguments]
    if not having:
        return None
    number, name = rng.choice(having)
    with_it = [other for other, (_, arguments, _) in enumerate(rows) if name in arguments]
    where = rng.choice(([number], [other for other in with_it if other >= number], with_it))
    return with_arguments(
        subject,
        {rows[other][0]: {key: value for key, value in rows[other][1].items() if key != name} for other in where},
    )


def wrong_tool(subject: BreakableSample, rng: Random) -> Sample | None:
    """All snapshots call another candidate."""
    names = {call.tool for _, call in subject.snapshots}
    others = [tool.name for tool in subject.tools if tool.name not in names]
    if not others or not names:
        return None
    other = rng.choice(others)
    return with_calls(
        subject.sample,
        {index: call.with_changes(tool=other, evidence=()) for index, call in subject.snapshots},
    )


def wrong_tool_once(subject: BreakableSample, rng: Random) -> Sample | None:
    """One snapshot calls another candidate."""
    others = [tool.name for tool in subject.tools if tool.name not in {call.tool for _, call in subject.snapshots}]
    if not others or len(subject.snapshots) < 2:
        return None
    index, call = rng.choice(subject.snapshots)
    return with_calls(subject.sample, {index: call.with_changes(tool=rng.choice(others), evidence=())})


def nowhere_said(subject: BreakableSample, rng: Random) -> Sample | None:
    """An argument has a value of another conversation."""
    names = sorted({name for _, call in subject.snapshots for name in call.arguments})
    for _ in range(_MOST_TRIES if names else 0):
        name = rng.choice(names)
        value = rng.choice(subject.values.get(name) or [None])
        if value not in (None, "", []) and not is_said(subject, value, name):
            return _replaced(subject, name, value, rng)
    return None


def _replaced(subject: BreakableSample, name: str, value: JsonValue, rng: Random) -> Sample:
    """The argument has another value wherever it is known, or from some snapshot on."""
    having = [(index, arguments) for index, arguments, _ in steps(subject) if name in arguments]
    first = rng.choice((0, rng.randrange(len(having))))
    return with_arguments(subject, {index: {**arguments, name: value} for index, arguments in having[first:]})


def changed_digit(subject: BreakableSample, rng: Random) -> Sample | None:
    """One digit of a value is another."""
    places = sorted(
        {
            (name, str(value))
            for _, call in subject.snapshots
            for name, value in call.arguments.items()
            if isinstance(value, str | int) and not isinstance(value, bool) and _DIGIT.search(str(value))
        }
    )
    for _ in range(_MOST_TRIES if places else 0):
        name, text = rng.choice(places)
        at = rng.choice([match.start() for match in _DIGIT.finditer(text)])
        other = f"{text[:at]}{(int(text[at]) + rng.randrange(1, 10)) % 10}{text[at + 1 :]}"
        original = next(call.arguments[name] for _, call in subject.snapshots if name in call.arguments)
        value: JsonValue = int(other) if isinstance(original, int) else other
        if fold(str(value)) not in fold(subject.users):
            return _replaced(subject, name, value, rng)
    return None


def swapped(subject: BreakableSample, rng: Random) -> Sample | None:
    """Two arguments have each other's value."""
    last = dict(subject.snapshots[-1][1].arguments) if subject.snapshots else {}
    pairs = [(one, other) for one in last for other in last if one < other and last[one] != last[other]]
    if not pairs:
        return None
    one, other = rng.choice(pairs)
    changes = {
        index: {**arguments, one: arguments[other], other: arguments[one]}
        for index, arguments, _ in steps(subject)
        if one in arguments and other in arguments
    }
    return with_arguments(subject, changes)


def of_another(subject: BreakableSample, rng: Random) -> Sample | None:
    """An argument has the value of another one."""
    last = dict(subject.snapshots[-1][1].arguments) if subject.snapshots else {}
    pairs = [(one, other) for one in last for other in last if one != other and last[one] != last[other]]
    if not pairs:
        return None
    one, other = rng.choice(pairs)
    return _replaced(subject, one, last[other], rng)


def renamed(subject: BreakableSample, rng: Random) -> Sample | None:
    """A value is given for another parameter of the tool, which nobody asked for."""
    if not subject.snapshots:
        return None
    tool = next(tool for tool in subject.tools if tool.name == subject.snapshots[-1][1].tool)
    last = dict(subject.snapshots[-1][1].arguments)
    spare = [name for name in tool.properties if name not in last]
    if not last or not spare:
        return None
    name, other = rng.choice(sorted(last)), rng.choice(spare)
    return with_arguments(
        subject,
        {
            index: {(other if key == name else key): value for key, value in arguments.items()}
            for index, arguments, _ in steps(subject)
        },
    )


def only_asked(subject: BreakableSample, rng: Random) -> Sample | None:
    """An argument is there that was asked for and not yet answered."""
    rows = steps(subject)
    places = [
        (number, name)
        for number, (_, arguments, _) in enumerate(rows[:-1])
        for name in rows[number + 1][1]
        if name not in arguments
    ]
    if not places:
        return None
    number, name = rng.choice(places)
    value = rng.choice(subject.values.get(name) or [rows[number + 1][1][name]])
    return with_arguments(subject, {rows[number][0]: {**rows[number][1], name: value}})


def exchanged(subject: BreakableSample, rng: Random) -> Sample | None:
    """Two snapshots stand at each other's place."""
    rows = steps(subject)
    pairs = [(one, two) for one in range(len(rows)) for two in range(one) if rows[one][1] != rows[two][1]]
    if not pairs:
        return None
    one, two = rng.choice(pairs)
    return with_arguments(subject, {rows[one][0]: rows[two][1], rows[two][0]: rows[one][1]})


def other_answer(subject: BreakableSample, rng: Random) -> Sample | None:
    """The user answers something else than what the snapshot holds."""
    rows = [row for row in steps(subject)[1:] if row[1] != row[2]]
    if not rows:
        return None
    index, arguments, before = rng.choice(rows)
    fresh = [value for name, value in arguments.items() if before.get(name) != value]
    answer = rng.choice(subject.answers)
    turn = subject.sample.turns[index - 1]
    if not isinstance(turn, UserTurn) or any(fold(str(value)) in fold(answer) for value in fresh):
        return None
    turns: list[Turn] = [*subject.sample.turns]
    turns[index - 1] = UserTurn(text=answer)
    return subject.sample.with_changes(turns=tuple(turns))


def call_after_shift(subject: BreakableSample, rng: Random) -> Sample | None:
    """A call is due although the user has turned to something else."""
    turns = [*subject.sample.turns]
    idle = next((index for index, turn in enumerate(turns) if isinstance(turn, CallTurn) and not turn.calls), None)
    if idle is None or not subject.snapshots:
        return None
    call = subject.snapshots[-1][1]
    names = [name for name in subject.values if name not in call.arguments and _declares(subject, call.tool, name)]
    if names and rng.random() < 0.5:
        name = rng.choice(sorted(names))
        call = call.with_changes(arguments={**call.arguments, name: rng.choice(subject.values[name])}, evidence=())
    turns[idle] = CallTurn(calls=(call,))
    return subject.sample.with_changes(turns=tuple(turns))


def _declares(subject: BreakableSample, tool: str, name: str) -> bool:
    return any(one.name == tool and name in one.properties for one in subject.tools)


def refused_answer(subject: BreakableSample, rng: Random) -> Sample | None:
    """No call is due although the user goes on answering."""
    rows = [row for row in steps(subject)[1:] if row[1] != row[2]]
    if not rows:
        return None
    index = rng.choice(rows)[0]
    refusal = {"en": "Sorry, none of the tools can do that.", "zh": "抱歉，没有合适的工具。"}[subject.sample.language]
    turns = (*subject.sample.turns[:index], CallTurn(), ReplyTurn(text=refusal))
    return subject.sample.with_changes(turns=turns)


KNOWN: tuple[Breaker, ...] = (ahead, old_value, dropped, wrong_tool, nowhere_said)
FURTHER: tuple[Breaker, ...] = (
    wrong_tool_once, changed_digit, swapped, of_another, renamed, only_asked, exchanged, other_answer,
    call_after_shift, refused_answer,
)  # fmt: skip


def subjects_of(pairs: Sequence[tuple[Sample, Sequence[Tool]]]) -> list[BreakableSample]:
    """Conversations to break, with the values and the answers of all of them at hand."""
    values: dict[str, list[JsonValue]] = {}
    answers: list[str] = []
    for sample, _ in pairs:
        for snapshot in sample.snapshots():
            for call in snapshot.calls:
                for name, value in call.arguments.items():
                    if value not in (None, "", []) and value not in values.setdefault(name, []):
                        values[name].append(value)
        answers += [turn.text for turn in sample.turns[3:] if isinstance(turn, UserTurn)]
    return [BreakableSample(sample, tools, values, answers or ["Hm."]) for sample, tools in pairs]
