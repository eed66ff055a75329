"""Words of a conversation in which the user takes a value back, or wants the same once more with another one."""

from collections.abc import Sequence

from language.cues import Cue
from language.values import locate, locate_text
from validators.checks.statements import hear, view_tool
from validators.readings.request_text import RequestText, Span
from warehouse.records import GoldCall, Sample, Snapshot, Tool

_AHEAD = 40  # characters from what takes a value back to the one that holds
_NEXT, _CLOSE = 1, 12  # characters between a correction and what holds, and around the words of a wish for more


def earlier_values(sample: Sample, snapshot: Snapshot) -> list[str]:
    """The texts that the calls due before had for values: what a shift may take the place of."""
    calls = [call for other in sample.snapshots() if other.turn < snapshot.turn for call in other.calls]
    return [str(value) for call in calls for value in call.arguments.values() if isinstance(value, str)]


def find_stated(tool: Tool, call: GoldCall, text: RequestText, earlier: Sequence[str]) -> tuple[Span, ...]:
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


def is_of_correction(text: RequestText, cue: Cue, spans: Sequence[Span], taken_back: Sequence[Span]) -> bool:
    """Whether a cue takes back what the call does not have, or what it is changed to is the call's."""
    ahead = [*spans, *text.replaced] if cue.kind == "correction" else text.replaced
    if text.is_shifted and any(0 <= one.start - cue.start <= _AHEAD for one in ahead):
        return True
    is_changed = cue.kind == "correction" and any(0 <= one.start - cue.end <= _NEXT for one in spans)
    return is_changed or any(one.start <= cue.start < one.end for one in taken_back)


def wants_again(text: RequestText, cue: Cue) -> bool:
    """Whether a cue of a later turn asks for the same with another value: "and what if it is at nine?", "and also"."""
    if cue.kind in ("condition", "hypothetical"):
        return bool(text.question) and cue.start < _CLOSE
    return cue.kind == "second_wish" and text.has_cue("once_more", max(0, cue.start - _CLOSE), cue.end + _CLOSE)
