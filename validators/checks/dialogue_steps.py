"""A conversation cut into steps: what was said since the snapshot before, and what the calls were then."""

from collections.abc import Iterator
from typing import NamedTuple

from pydantic import JsonValue

from validators.checks.evidence import Said, said_in
from warehouse.records import Arguments, CallTurn, GoldCall, ReplyTurn, Sample, Snapshot, UserTurn

NOTHING: tuple[JsonValue, ...] = (None, "", [], {})


class Step(NamedTuple):
    """A snapshot, the texts that lead from the one before to it (the latest first), and the calls of that one.

    A step is `free` where calls are carried out on the way: then anything that was said or returned may be used.
    """

    number: int
    snapshot: Snapshot
    said: tuple[Said, ...]
    question: str
    before: tuple[GoldCall, ...]
    is_free: bool

    @property
    def text(self) -> str:
        """The user's own words at this step."""
        return "\n".join(one.text for one in reversed(self.said) if not one.in_message)

    @property
    def has_message(self) -> bool:
        """Whether the user points to a message."""
        return any(one.in_message for one in self.said)

    def pairs(self) -> Iterator[tuple[GoldCall, GoldCall | None]]:
        """Each call that is due with the same call at the snapshot before, None where there was none.

        Where fewer or more were due there, as where one call of a plan is wanted again, it is the one of the same tool.
        """
        same_number = len(self.before) == len(self.snapshot.calls)
        for index, call in enumerate(self.snapshot.calls):
            of_tool = [one for one in self.before if one.tool == call.tool]
            yield call, self.before[index] if same_number else of_tool[0] if len(of_tool) == 1 else None


def steps_of(sample: Sample) -> list[Step]:
    """The steps of a conversation, one a snapshot."""
    steps: list[Step] = []
    before: tuple[GoldCall, ...] = ()
    turn_before, is_free = -1, False
    for number, snapshot in enumerate(sample.snapshots()):
        said = tuple(one for one in said_in(snapshot.prefix) if one.turn > turn_before)
        turn = sample.turns[snapshot.turn]
        is_free = is_free or (isinstance(turn, CallTurn) and turn.executed)
        steps.append(Step(number, snapshot, said, _question(snapshot, turn_before), before, is_free))
        turn_before, before = snapshot.turn, snapshot.calls
    return steps


def given(call: GoldCall | None) -> Arguments:
    """The arguments of a call that have a value; labels of published data hold empty ones."""
    return {} if call is None else {name: value for name, value in call.arguments.items() if value not in NOTHING}


def texts_after(sample: Sample, turn: int) -> list[Said]:
    """What the user says only after the turn `turn`."""
    return [one for one in said_in(sample.turns) if one.turn > turn]


def _question(snapshot: Snapshot, after: int) -> str:
    """What the assistant said between the snapshot before and the user's last turn."""
    return "\n".join(turn.text for turn in snapshot.prefix[after + 1 :] if isinstance(turn, ReplyTurn))


def user_turns(sample: Sample) -> int:
    """How often the user speaks."""
    return sum(isinstance(turn, UserTurn) for turn in sample.turns)
