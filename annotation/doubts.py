"""The objections to a sample or tool, one plain sentence per fact, in the reviewer's language.

Turns are named as on the screen. Checks give facts with their verdicts, and an English sentence
for each kind of fact. Verdicts without facts, such as those of older versions, get one sentence
per check. The checks' own texts, with their scores, are shown separately and folded. In the
conversation the doubtful words are marked, and so are those that prove a value.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.annotation.calls import shortened, write_name, write_value
from callwright.annotation.rendering import user_name
from callwright.annotation.screens import SampleScreenWords
from callwright.language.packs import unspaced
from callwright.warehouse.records import DoubtedFact, Sample, Turn, UserTurn, Verdict

DOUBTED, PROVING = ("⟦", "⟧"), ("‹", "›")
_VALUE, _REASON = 120, 300  # characters
_TRACED = "traced"  # the check of what took place
_READ = ("adds", "gives_other")  # facts whose other value was read in the user's words


class _Stretch(NamedTuple):
    """A span in a user's turn or in the message that comes with it, and how to mark it."""

    turn: int
    in_message: bool
    start: int
    end: int
    marks: tuple[str, str] = DOUBTED

    def touches(self, other: "_Stretch") -> bool:
        """Whether two stretches overlap."""
        is_same_text = (self.turn, self.in_message) == (other.turn, other.in_message)
        return is_same_text and self.start < other.end and other.start < self.end


def doubt_sentences(
    turns: Sequence[Turn], verdicts: Sequence[Verdict], words: SampleScreenWords
) -> list[str]:
    """Return a sentence for each doubted fact, contradicted ones first, without duplicates.

    `turns` are those of the conversation; empty where the screen shows none.
    """
    sentences: list[str] = []
    repeated = _repeated([*_doubts(verdicts)])
    # of what took place that check tells which unsaid values are suspicious: most are implied
    is_traced = any(one.check == _TRACED for one in verdicts)
    doubted = (one for one in verdicts if one.decision != "proved")
    worst = sorted(
        doubted, key=lambda one: (one.decision != "contradicted", not one.doubts, one.check)
    )
    for verdict in worst:
        fresh = (doubt for doubt in verdict.doubts if doubt not in repeated)
        if is_traced:
            fresh = (doubt for doubt in fresh if doubt.kind != "unstated")
        doubt_lines = [fact_sentence(doubt, turns, words) for doubt in fresh]
        sentences += filter(None, doubt_lines)
        if not verdict.doubts or not all(doubt_lines):
            sentence = words.check.get(verdict.check, words.check_other.format(check=verdict.check))
            sentences.append(
                f"{sentence} ({shortened(verdict.reason, _REASON)})" if verdict.reason else sentence
            )
    return list(dict.fromkeys(sentences))


def _repeated(doubts: Sequence[DoubtedFact]) -> list[DoubtedFact]:
    """Return the facts that other facts already cover, and explain better.

    These are leftover words inside another fact's quote, and additions whose value is in the
    quote of an unused statement about the same argument.
    """
    unused_doubts = [one for one in doubts if one.kind == "stated_unused"]
    quotes = [one.quote for one in doubts if one.quote and one.kind != "words_left"]

    def is_told(one: DoubtedFact) -> bool:
        if one.kind == "words_left":
            return any(one.quote in quote for quote in quotes)
        alike = (
            other
            for other in unused_doubts
            if one.kind == "adds" and one.argument == other.argument
        )
        return any(str(one.other) in other.quote for other in alike)

    return [*filter(is_told, doubts)]


def preferred_tools(verdicts: Sequence[Verdict]) -> set[str]:
    """Return the tools that a check would call instead, or as well."""
    return {doubt.tool for doubt in _doubts(verdicts) if doubt.tool}


def with_marks(sample: Sample, verdicts: Sequence[Verdict]) -> Sample:
    """Return a copy of the sample for display, with doubtful words and proving words marked."""
    kept_stretches: list[_Stretch] = []
    doubted = (found for doubt in _doubts(verdicts) if (found := _stated(doubt, sample.turns)))
    for span in (*doubted, *_proving(sample, verdicts)):
        if not any(map(span.touches, kept_stretches)):
            kept_stretches.append(span)
    marked = list(sample.turns)
    for span in sorted(kept_stretches, key=lambda stretch: -stretch.start):
        marked[span.turn] = _marked(marked[span.turn], span)
    return sample.with_changes(turns=tuple(marked))


def _marked(turn: Turn, one: _Stretch) -> Turn:
    if not isinstance(turn, UserTurn):
        return turn
    text = turn.external.text if one.in_message and turn.external else turn.text
    begins, ends = one.marks
    text = f"{text[: one.start]}{begins}{text[one.start : one.end]}{ends}{text[one.end :]}"
    if one.in_message and turn.external:
        return turn.with_changes(external=turn.external.with_changes(text=text))
    return turn.with_changes(text=text)


def _proving(sample: Sample, verdicts: Sequence[Verdict]) -> Iterator[_Stretch]:
    """Yield the spans that prove values, longest first: a list's span contains its members'."""
    of_calls = [item for call in sample.all_calls for item in call.evidence]
    stretches: set[_Stretch] = set()
    for item in (*of_calls, *(item for verdict in verdicts for item in verdict.evidence)):
        turn = None
        if item.turn is not None and item.turn < len(sample.turns):
            turn = sample.turns[item.turn]
        if isinstance(turn, UserTurn) and item.start is not None and item.end is not None:
            text = turn.external.text if item.in_message and turn.external else turn.text
            if item.quote and text[item.start : item.end] == item.quote:
                stretches.add(
                    _Stretch(item.turn or 0, item.in_message, item.start, item.end, PROVING)
                )
    return iter(sorted(stretches, key=lambda one: (one.start - one.end, one)))


def _doubts(verdicts: Sequence[Verdict]) -> Iterator[DoubtedFact]:
    return (
        doubt for verdict in verdicts if verdict.decision != "proved" for doubt in verdict.doubts
    )


def fact_sentence(doubt: DoubtedFact, turns: Sequence[Turn], words: SampleScreenWords) -> str:
    """Return a fact as a sentence in the screen's language, else in English.

    "" if its check no longer exists or has no sentence for it. `turns` is as for
    `doubt_sentences`.
    """
    users = [index for index, turn in enumerate(turns) if isinstance(turn, UserTurn)]
    stated = _stated(doubt, turns)
    before = [] if doubt.turn is None else [at for at in users if at < doubt.turn]
    at = stated.turn if stated else before[-1] if before else None
    where = ""
    if at is not None and users[1:]:  # told where the user speaks more than once
        where = words.at_turn.format(turn=user_name(users.index(at) + 1, words))
    return words.doubt.get(doubt.kind, doubt.sentence).format(
        name=write_name(doubt.argument),
        value=_written(doubt.value, doubt, words),
        other=_written(doubt.other, doubt, words),
        words=shortened(doubt.quote, _VALUE),
        tool=write_name(doubt.tool),
        where=where,
        argument=f" ({write_name(doubt.argument)})" if doubt.argument else "",
        said=shortened(str(doubt.other), _REASON),
    )


def _written(value: JsonValue, doubt: DoubtedFact, words: SampleScreenWords) -> str:
    """Return a value as the screen shows it, with dialogue acts and operations by their names."""
    names = words.managed
    if doubt.kind != "unmanaged":
        names = {str(act): name for act, name in words.act.items()}
    if isinstance(value, list) and doubt.kind in ("acts_differ", "acts_open", "unmanaged"):
        return " / ".join(names.get(str(one), str(one)) for one in value)
    return shortened(write_value(value), _VALUE)


def _stated(doubt: DoubtedFact, turns: Sequence[Turn]) -> _Stretch | None:
    """Return the words that a doubt is about, from the latest turn before the call with them."""
    is_read = doubt.kind in _READ and not isinstance(doubt.other, bool) and doubt.other is not None
    text = doubt.quote or (str(doubt.other) if is_read else "")
    before = turns if doubt.turn is None else turns[: doubt.turn]
    pattern = re.compile(re.escape(text) if doubt.quote else _by_itself(text))
    places = (_found(at, turn, pattern) for at, turn in reversed([*enumerate(before)]))
    return next((one for one in places if one), None) if text else None


def _by_itself(text: str) -> str:
    """Return a pattern for a text as a whole word or number: 5 does not match in RD21458."""
    joins = f"[^\\W{unspaced()}]"
    begins, ends = (f"(?<!{joins})", f"(?!{joins})")
    is_word = re.compile(joins).fullmatch
    return f"{begins if is_word(text[:1]) else ''}{re.escape(text)}{ends if is_word(text[-1:]) else ''}"  # noqa: E501


def _found(at: int, turn: Turn, pattern: re.Pattern[str]) -> _Stretch | None:
    found = pattern.search(turn.text) if isinstance(turn, UserTurn) else None
    return _Stretch(at, in_message=False, start=found.start(), end=found.end()) if found else None
