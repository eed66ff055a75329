"""Readings: a reader's calls shown beside the gold calls, and the sample that adopts them."""

from collections.abc import Iterable, Iterator, Sequence

from pydantic import JsonValue

from callwright.annotation.calls import is_same, same_calls, write_name, write_value
from callwright.annotation.doubts import DOUBTED
from callwright.annotation.edits import with_turns
from callwright.annotation.rendering import user_name
from callwright.annotation.screens import SampleScreenWords
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    Reading,
    Sample,
    UserTurn,
    Verdict,
)


def differing(sample: Sample, readings: Iterable[Reading]) -> list[Reading]:
    """Return the readings that differ from the gold at their turn."""
    found = (one for one in readings if one.votes and one.turn < len(sample.turns))
    return [one for one in found if not same_calls(_gold(sample, one), one.calls)]


def readings_of(verdicts: Iterable[Verdict]) -> list[Reading]:
    """Return the readings of these verdicts."""
    return [reading for verdict in verdicts for reading in verdict.readings]


def _gold(sample: Sample, reading: Reading) -> tuple[GoldCall, ...]:
    turn = sample.turns[reading.turn]
    return turn.calls if isinstance(turn, CallTurn) else ()


def render_readings(sample: Sample, verdicts: Sequence[Verdict], words: SampleScreenWords) -> str:
    """Return the gold and each reading below it, differences in ⟦ ⟧; "" if nothing differs."""
    found = differing(sample, readings_of(verdicts))
    return "\n\n".join("\n".join(_pair(sample, one, words)) for one in found)


def _pair(sample: Sample, reading: Reading, words: SampleScreenWords) -> Iterator[str]:
    gold = [call.bare for call in _gold(sample, reading)]
    users = [at for at, turn in enumerate(sample.turns) if isinstance(turn, UserTurn)]
    before = sum(at < reading.turn for at in users)
    if len(users) > 1 and before:
        yield user_name(before, words)
    written = [_in_order_of(call, gold) for call in reading.calls]
    yield f"{words.gold}: {_way(gold, written, words)}"
    yield f"{words.reader}: {_way(written, gold, words)}"


def _in_order_of(call: Call, gold: Sequence[Call]) -> Call:
    """Return the call with its arguments in the gold's order, so that the two line up."""
    order = [*next((one.arguments for one in gold if one.tool == call.tool), ()), *call.arguments]
    arguments = {name: call.arguments[name] for name in order if name in call.arguments}
    return call.with_changes(arguments=arguments)


def _way(calls: Sequence[Call], others: Sequence[Call], words: SampleScreenWords) -> str:
    """Return the calls on one line, marking what the others lack or have differently."""
    if not calls:
        return _marked(words.no_call)
    rest, shown = [*others], []
    for call in calls:
        counterpart = next((one for one in rest if one.tool == call.tool), None)
        if counterpart is None:
            shown.append(_marked(_call(call, None)))
        else:
            rest.remove(counterpart)
            shown.append(_call(call, counterpart))
    return "  |  ".join(shown)


def _call(call: Call, other: Call | None) -> str:
    given = (_argument(name, value, other) for name, value in call.arguments.items())
    return f"{write_name(call.tool)}({', '.join(given)})"


def _argument(name: str, value: JsonValue, other: Call | None) -> str:
    argument_text = f"{write_name(name)} = {write_value(value)}"
    if other is None:
        return argument_text
    same = name in other.arguments and is_same(value, other.arguments[name])
    return argument_text if same else _marked(argument_text)


def _marked(text: str) -> str:
    return f"{DOUBTED[0]}{text}{DOUBTED[1]}"


def take_readings(sample: Sample, readings: Iterable[Reading]) -> Sample:
    """Return a child of the sample with the reader's calls wherever they differ from the gold.

    Raises RecordError if nothing differs, or if a call was executed and would have another
    result.
    """
    taken = differing(sample, readings)
    if not taken:
        raise RecordError(
            "No reader wrote other calls than those shown. Accept them, edit them, or reject"
            " the sample."
        )
    turns = list(sample.turns)
    for taken_reading in taken:
        turn = turns[taken_reading.turn]
        if not isinstance(turn, CallTurn) or turn.executed:
            raise RecordError(
                "The reader's calls can't be used here, because the results that follow"
                " belong to the calls shown. Edit the conversation, or reject the sample."
            )
        calls = tuple(
            GoldCall(tool=call.tool, arguments=call.arguments) for call in taken_reading.calls
        )
        turns[taken_reading.turn] = turn.with_changes(calls=calls)
    return with_turns(sample, turns)
