"""What the arguments of a multi-step sample were picked out of, and which other entries fit as well."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from generators.multi_step.picking import Entry, entries_of, has, read_rule, rivals, value_at
from warehouse.errors import RecordError
from warehouse.records import CallTurn, Evidence, GoldCall, Picked, ResultTurn, Sample

ENVIRONMENT_TAG = "environment="
_RESULT = re.compile(r"turns\[(\d+)\]\.results\[(\d+)\]\.?(.*)", re.DOTALL)
_INDEX = re.compile(r"\[(\d+)\]")


class Pick(NamedTuple):
    """An argument that is picked out of a response: by which rule, and which entry it is."""

    tool: str
    argument: str
    rule: Picked
    entry: int


class Contest(NamedTuple):
    """A list in a response out of which something is picked; `rivals` are the entries that fit as well.

    `turn` and `result` say where the response stands in the sample.
    """

    turn: int
    result: int
    entries: str
    picks: tuple[Pick, ...]
    rivals: tuple[Entry, ...]

    @property
    def chosen(self) -> list[int]:
        """The entries that are picked, in the order of the list."""
        return sorted({pick.entry for pick in self.picks})


def has_steps(sample: Sample) -> bool:
    """Whether the calls of a sample were made step by step in an environment."""
    return any(tag.startswith(ENVIRONMENT_TAG) for tag in sample.tags) and any(
        isinstance(turn, CallTurn) and turn.executed for turn in sample.turns
    )


def step_turns(sample: Sample) -> list[int]:
    """The index of each call turn; its place in the list is the number of the step."""
    return [index for index, turn in enumerate(sample.turns) if isinstance(turn, CallTurn)]


def contests_of(sample: Sample) -> list[Contest]:
    """The lists out of which the arguments of a sample are picked, in the order of its turns."""
    found: dict[tuple[int, int, str], list[Pick]] = {}
    for call in _calls(sample):
        for evidence in call.evidence:
            place = _place(sample, evidence)
            if place is not None:
                turn, result, rule, entry = place
                pick = Pick(call.tool, evidence.argument, rule, entry)
                found.setdefault((turn, result, rule.entries), []).append(pick)
    return [
        Contest(*place, tuple(picks), tuple(find_rivals(_response(sample, *place[:2]), picks)))
        for place, picks in sorted(found.items())
    ]


def response_of(sample: Sample, contest: Contest) -> JsonValue:
    """The response in which a contest takes place."""
    return _response(sample, contest.turn, contest.result)


def find_rivals(response: JsonValue, picks: Sequence[Pick]) -> list[Entry]:
    """The entries that meet the conditions of a pick as well and give another value; those picked themselves are none."""
    chosen = {pick.entry for pick in picks}
    found: dict[int, Entry] = {}
    for pick in picks:
        entries = entries_of(response, pick.rule.entries)
        value = value_at(entries[pick.entry].value, pick.rule.field)
        for entry in rivals(entries, pick.rule.where, pick.entry):
            is_other = has(entry.value, pick.rule.field) and value_at(entry.value, pick.rule.field) != value
            if is_other and entry.index not in chosen:
                found[entry.index] = entry
    return [found[index] for index in sorted(found)]


def told_fields(picks: Iterable[Pick]) -> list[str]:
    """The fields of an entry that matter: those of the conditions, then those that are picked."""
    rules = [pick.rule for pick in picks]
    asked = [condition.field for rule in rules for condition in rule.where if condition.field]
    return list(dict.fromkeys([*asked, *(rule.field for rule in rules if rule.field)]))


def _calls(sample: Sample) -> Iterator[GoldCall]:
    return (call for turn in sample.turns if isinstance(turn, CallTurn) for call in turn.calls)


def _place(sample: Sample, evidence: Evidence) -> tuple[int, int, Picked, int] | None:
    """Where the evidence leads: turn, result, rule and entry; None where it tells of no entry that is there."""
    found = _RESULT.fullmatch(evidence.path) if evidence.kind == "response" and evidence.rule else None
    if found is None:
        return None
    turn, result = int(found[1]), int(found[2])
    try:
        rule = read_rule(evidence.rule, 0)
        entries = entries_of(_response(sample, turn, result), rule.entries)
        index = _INDEX.match(found[3].removeprefix(rule.entries))
        entry = int(index[1]) if index else 0
        value_at(entries[entry].value, rule.field)
    except (RecordError, IndexError):
        return None  # evidence that leads nowhere is the checks' matter; there is nothing to show for it
    return turn, result, rule, entry


def _response(sample: Sample, turn: int, result: int) -> JsonValue:
    held = sample.turns[turn]
    if not isinstance(held, ResultTurn):
        raise RecordError(f"Turn {turn} of the sample {sample.key} holds no results.")
    return held.results[result]
