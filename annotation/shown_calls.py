"""The calls under review as annotators read them: each argument with the words that prove it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from annotation.call_changes import shift_turn
from annotation.conversation import user_name
from annotation.dialogue_lines import is_dialogue
from annotation.edits import is_part_of
from annotation.excerpts import without_long_words
from annotation.picks import has_steps, step_turns
from annotation.typed_values import write_name, write_value
from annotation.words import Words
from warehouse.records import Evidence, GoldCall, Sample, UserTurn, Verdict

_VALUE = 80
_PARTS = 12


def tell_calls(sample: Sample, verdicts: Sequence[Verdict], words: Words) -> str:
    """The calls due in the end: the tool's name, then a line for each argument and where its value comes from.

    Of a multi-step sample the calls of every step.
    """
    if has_steps(sample):
        return "\n".join(_step_lines(sample, words))
    if not sample.gold:
        return words.no_call_after_shift if shift_turn(sample) is not None else words.no_calls
    return "\n".join(_call_lines(sample, verdicts, words))


def _step_lines(sample: Sample, words: Words) -> Iterator[str]:
    for number, snapshot in enumerate(sample.snapshots(), 1):
        yield f"{words.step.format(number=number)}"
        for call in snapshot.calls:
            yield f"  {write_name(call.tool)}"
            for name, value in call.arguments.items():
                shown = without_long_words(write_value(value))
                yield from _argument_lines(call, name, shown, _Steps(sample, words))
            if not call.arguments:
                yield f"    {words.no_arguments}"


class _Steps(NamedTuple):
    """The sample of several steps in which a value comes from somewhere."""

    sample: Sample
    words: Words

    def source(self, evidence: Evidence | None) -> str:
        """Where a value comes from; of one out of a response the step and the rule of the pick."""
        turns = step_turns(self.sample)
        if evidence is None or evidence.kind != "response" or (evidence.turn or 0) - 1 not in turns:
            return _source(evidence, {}, self.words)
        step = self.words.step.format(number=turns.index((evidence.turn or 0) - 1) + 1)
        return f"{step} · {evidence.rule or evidence.path}"


def _argument_lines(call: GoldCall, name: str, value: str, steps: _Steps) -> Iterator[str]:
    """An argument and where it comes from; one that is put together has a line for each part."""
    parts = [one for one in call.evidence if is_part_of(one.argument, name)]
    shown = value if len(value) <= _VALUE else f"{value[:_VALUE]}…"
    if [one.argument for one in parts] in ([], [name]):
        yield f"    {write_name(name)} = {shown}   ← {steps.source(next(iter(parts), None))}"
        return
    yield f"    {write_name(name)} = {shown}"
    for part in parts[:_PARTS]:
        yield f"      {part.argument}   ← {steps.source(part)}"
    if len(parts) > _PARTS:
        yield f"      {steps.words.more_entries.format(count=len(parts) - _PARTS)}"


def _call_lines(sample: Sample, verdicts: Sequence[Verdict], words: Words) -> Iterator[str]:
    proved = {item.argument: item for verdict in verdicts for item in verdict.evidence}
    uses = Counter(name for call in sample.gold for name in call.arguments)
    places = _places(sample, words)
    for call in sample.gold:
        own = {item.argument: item for item in call.evidence}
        yield write_name(call.tool)
        for name, value in call.arguments.items():
            checked = proved.get(name) if uses[name] == 1 else None  # a check does not say which of two calls it means
            source = _source(checked or own.get(name) or proved.get(name), places, words)
            yield f"  {write_name(name)} = {write_value(value)}   ← {source}"
        if not call.arguments:
            yield f"  {words.no_arguments}"


def _places(sample: Sample, words: Words) -> Mapping[int, str]:
    """What each user turn is called, where there is more than one to choose from."""
    users = [index for index, turn in enumerate(sample.turns) if isinstance(turn, UserTurn)]
    return {index: user_name(number, words) for number, index in enumerate(users, 1)} if is_dialogue(sample) else {}


def _source(evidence: Evidence | None, places: Mapping[int, str], words: Words) -> str:
    if evidence is None:
        return words.no_evidence
    how = evidence.rule or words.evidence_kind[evidence.kind]
    if not evidence.quote:
        return f"{evidence.path} ({how})" if evidence.path else how
    place = places.get(-1 if evidence.turn is None else evidence.turn, "")
    message = words.message if evidence.in_message else ""
    where = " · ".join(filter(None, [place, message, how]))
    return f"“{evidence.quote}” ({where})"
