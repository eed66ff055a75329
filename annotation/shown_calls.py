"""The calls under review as annotators read them: each argument with the words that prove it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from annotation.call_changes import shift_turn
from annotation.conversation import user_name
from annotation.dialogue_lines import is_dialogue
from annotation.typed_values import write_name, write_value
from annotation.words import Words
from warehouse.records import Evidence, Sample, UserTurn, Verdict


def tell_calls(sample: Sample, verdicts: Sequence[Verdict], words: Words) -> str:
    """The calls due in the end: the tool's name, then a line for each argument and where its value comes from."""
    if not sample.gold:
        return words.no_call_after_shift if shift_turn(sample) is not None else words.no_calls
    return "\n".join(_call_lines(sample, verdicts, words))


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
