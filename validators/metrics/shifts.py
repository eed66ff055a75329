"""At which snapshots of a sample a shift, or a value from outside, takes effect: HammerBench's third choice of them."""

from collections.abc import Iterator

from generators.shifts.turns import SHIFT_TAG
from warehouse.records import CallTurn, Sample, Snapshot, UserTurn

_INSERTED = "SO_case2"
# How the published records word an overriding in the turn that says the value: they bring no tags.
_OVERRIDINGS = ("I'm sorry, ", "抱歉, ")


def shifted_snapshots(sample: Sample) -> list[int]:
    """The numbers of these snapshots, from 0; none where nothing shifts.

    Samples say it by their tags. Of published records it is read from the turns, as their lists of snapshots have it. A
    turn that was inserted for an overriding counts with the one after it, as in the paper's runs (EVALUATORS 1.5).
    """
    snapshots = list(sample.snapshots())
    numbers = {int(tag.removeprefix(SHIFT_TAG)) for tag in sample.tags if tag.startswith(SHIFT_TAG)}
    numbers = numbers or set(_found(sample, snapshots))
    if _is_made_by(_INSERTED, sample):
        numbers |= {number + 1 for number in numbers}
    return sorted(number for number in numbers if number < len(snapshots))


def _found(sample: Sample, snapshots: list[Snapshot]) -> Iterator[int]:
    if snapshots and (_is_made_by("mSv", sample) or _is_made_by("IS", sample)):
        yield len(snapshots) - 1
        return
    for number, snapshot in enumerate(snapshots):
        said = _said_before(snapshot)
        is_worded = _is_made_by("SO_case1", sample) and any(words in said.text for words in _OVERRIDINGS)
        is_inserted = _is_made_by(_INSERTED, sample) and number > 0 and _overrides(snapshots[number - 1], snapshot)
        if said.external is not None or is_worded or is_inserted:
            yield number


def _is_made_by(transform: str, sample: Sample) -> bool:
    return sample.kind == transform or sample.kind.endswith(f"_{transform}")


def _said_before(snapshot: Snapshot) -> UserTurn:
    """What the user said since the snapshot before."""
    for turn in reversed(snapshot.prefix):
        if isinstance(turn, UserTurn):
            return turn
        if isinstance(turn, CallTurn):
            break
    return UserTurn(text="")


def _overrides(before: Snapshot, here: Snapshot) -> bool:
    """Whether an argument has another value than at the snapshot before."""
    if not before.calls or not here.calls:
        return False
    earlier, later = before.calls[0].arguments, here.calls[0].arguments
    return any(name in later and later[name] != value for name, value in earlier.items())
