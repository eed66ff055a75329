"""A sample's conversation for the page, with evidence, and a candidate's answer beside the gold."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, assert_never

from pydantic import JsonValue

from callwright.annotation.calls import ArgumentChange, changes, goes_on, is_same, shift_turn
from callwright.annotation.edits import is_part_of
from callwright.annotation.picks import render_source
from callwright.annotation.prediction_audit import partners_of, visible
from callwright.annotation.screens import words_in
from callwright.flows.pages.look import page_words
from callwright.warehouse.records import (
    DEFAULT_LANGUAGE,
    Call,
    CallTurn,
    DialogueAct,
    Evidence,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    UserTurn,
)
from callwright.warehouse.rows import Row


class Piece(NamedTuple):
    """A stretch of text and the numbers of the arguments that it proves."""

    text: str
    marks: tuple[int, ...] = ()


class ShownArgument(NamedTuple):
    """An argument with its value as JSON text and its evidence.

    `number` marks the words that prove it, 0 if there are none; `sign` says whether it is new
    (+), changed (~) or as before (""); `turn` is that of an earlier result that gives it.
    """

    name: str
    value: str
    number: int = 0
    how: str = ""
    sign: str = ""
    before: str = ""
    turn: int | None = None


class ProvedCall(NamedTuple):
    """A call that is due; `gone` are the arguments that it no longer has."""

    tool: str
    arguments: tuple[ShownArgument, ...]
    gone: tuple[str, ...] = ()


class ShownTurn(NamedTuple):
    """One turn: `at` is its position, `kind` that of the record.

    `app` and `message` are from outside the conversation.
    """

    at: int
    kind: str
    pieces: tuple[Piece, ...] = ()
    app: str = ""
    message: tuple[Piece, ...] = ()
    calls: tuple[ProvedCall, ...] = ()
    results: tuple[str, ...] = ()
    acts: tuple[DialogueAct, ...] = ()
    is_shift: bool = False


def show_conversation(sample: Sample, proofs: Sequence[Evidence]) -> list[ShownTurn]:
    """Return the turns of a sample.

    `proofs` is the evidence of the grounding check; where it is silent the generator's counts.
    """
    evidence = _Evidenced(sample, proofs)
    shift = shift_turn(sample)
    before: CallTurn | None = None
    shown: list[ShownTurn] = []
    for index, turn in enumerate(sample.turns):
        match turn:
            case UserTurn(text=text, external=external):
                shown_turn = ShownTurn(
                    index, turn.kind, evidence.pieces(text, index, in_message=False)
                )
                if external is not None:
                    message = evidence.pieces(external.text, index, in_message=True)
                    shown_turn = shown_turn._replace(app=external.app, message=message)
            case CallTurn():
                shown_turn = ShownTurn(
                    index, turn.kind, calls=tuple(_calls(before, turn, index, evidence))
                )
                before = turn
            case ResultTurn(results=results):
                shown_turn = ShownTurn(
                    index, turn.kind, results=tuple(write_json(one, indent=2) for one in results)
                )
            case ReplyTurn(text=text, acts=acts):
                shown_turn = ShownTurn(index, turn.kind, (Piece(text),), acts=acts)
            case _:
                assert_never(turn)
        shown.append(shown_turn._replace(is_shift=index == shift))
    return shown


def tell_marks(turns: Iterable[ShownTurn]) -> dict[int, str]:
    """Return what marked words prove, by their number: the argument, its value, and how."""
    arguments = (argument for turn in turns for call in turn.calls for argument in call.arguments)
    return {one.number: f"{one.name} = {one.value}: {one.how}" for one in arguments if one.number}


def cut_text(text: str, stretches: Iterable[tuple[int, int, int]]) -> tuple[Piece, ...]:
    """Return the text in pieces, each with the numbers of the spans (start, end, number) on it.

    No text is lost.
    """
    inside = [
        (max(0, start), min(len(text), end), number)
        for start, end, number in stretches
        if start < end
    ]
    edges = sorted(
        {
            0,
            len(text),
            *(edge for start, end, _ in inside for edge in (start, end) if edge <= len(text)),
        }
    )
    pieces = [
        Piece(
            text[low:high],
            tuple(
                sorted({number for start, end, number in inside if start <= low and high <= end})
            ),
        )
        for low, high in pairwise(edges)
    ]
    return tuple(piece for piece in pieces if piece.text)


def write_json(value: JsonValue, indent: int | None = None) -> str:
    """Return a value as JSON for people."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


class _Evidenced:
    """The evidence for each argument of a sample, and the numbers that mark its words."""

    def __init__(self, sample: Sample, proofs: Sequence[Evidence]) -> None:
        self._proofs = proofs
        self._last = sample.gold
        self._numbers: dict[tuple[str, str], int] = {}
        self._stretches: dict[tuple[int, bool], set[tuple[int, int, int]]] = {}
        for call in sample.all_calls:
            for name, evidence_item in (
                (known, one) for known in call.arguments for one in self.of(call, known)
            ):
                if (
                    evidence_item.turn is not None
                    and evidence_item.start is not None
                    and evidence_item.end is not None
                ):
                    number = self._numbers.setdefault(_named(call, name), len(self._numbers) + 1)
                    self._stretches.setdefault(
                        (evidence_item.turn, evidence_item.in_message), set()
                    ).add((evidence_item.start, evidence_item.end, number))

    def of(self, call: GoldCall, name: str) -> Sequence[Evidence]:
        """Return the evidence for an argument: the check's if unambiguous, else the generator's."""
        own = [one for one in call.evidence if is_part_of(one.argument, name)]
        holders = [one for one in self._last if name in one.arguments]
        if len(holders) != 1 or holders[0].tool != call.tool:
            return own
        if not is_same(holders[0].arguments[name], call.arguments[name]):
            return own
        # Of a value that was given anew the last proof counts: those before it are of calls before
        # this one.
        proofs = [one for one in self._proofs if is_part_of(one.argument, name)]
        return (
            list(
                {
                    one.argument: one for one in sorted(proofs, key=lambda one: one.turn or 0)
                }.values()
            )
            or own
        )

    def is_found(self, evidence: Evidence) -> bool:
        """Whether the grounding check found the evidence; else only the generator states it."""
        return evidence in self._proofs

    def number(self, call: GoldCall, name: str) -> int:
        """Return the number of an argument; 0 if no words are marked for it."""
        return self._numbers.get(_named(call, name), 0)

    def pieces(self, text: str, turn: int, *, in_message: bool) -> tuple[Piece, ...]:
        """Return a text of a turn, cut where evidence begins and ends."""
        return cut_text(text, self._stretches.get((turn, in_message), ()))


def _named(call: GoldCall, name: str) -> tuple[str, str]:
    """Return the key of a number: an argument with its value, in whichever call."""
    return name, write_json(call.arguments[name])


def _calls(
    before: CallTurn | None, turn: CallTurn, index: int, evidence: _Evidenced
) -> Iterator[ProvedCall]:
    olds = (
        before.calls if before is not None and goes_on(before, turn) else (None,) * len(turn.calls)
    )
    for old, call in zip(olds, turn.calls, strict=True):
        changed = {change.name: change for change in changes(old, call)} if old is not None else {}
        arguments = (_argument(call, name, evidence, changed.get(name)) for name in call.arguments)
        gone = tuple(change.name for change in changed.values() if change.sign == "-")
        yield ProvedCall(call.tool, tuple(arguments), gone)


def _argument(
    call: GoldCall, name: str, evidence: _Evidenced, change: ArgumentChange | None
) -> ShownArgument:
    evidence_items = evidence.of(call, name)
    return ShownArgument(
        name,
        write_json(call.arguments[name]),
        evidence.number(call, name),
        ", ".join(
            dict.fromkeys(_how(one, is_found=evidence.is_found(one)) for one in evidence_items)
        ),
        change.sign if change is not None else "",
        write_json(change.old) if change is not None and change.sign == "~" else "",
        next((one.turn for one in evidence_items if one.kind == "response"), None),
    )


def _how(evidence: Evidence, *, is_found: bool) -> str:
    otherwise: str = (
        evidence.path if evidence.kind == "response" else page_words()["evidence"][evidence.kind]
    )
    how = otherwise
    if evidence.rule and evidence.kind != "context":
        how = render_source(evidence, words_in(DEFAULT_LANGUAGE))
    standing: str = page_words()["standings"][
        "said" if evidence.kind in ("span", "normalised") else "derived"
    ]
    return f"{standing}: {how}" if is_found else how


_WORDS = 1_500


class AnsweredArgument(NamedTuple):
    """An argument as due and in each answer, None if missing, and whether each answer is right."""

    name: str
    due: str | None
    answers: tuple[str | None, ...]
    right: tuple[bool, ...]


class AnsweredCall(NamedTuple):
    """A due call beside each answer's; the tool is "" on a side without one."""

    due: str
    answers: tuple[str, ...]
    arguments: tuple[AnsweredArgument, ...]


class ShownAnswer(NamedTuple):
    """An answer: its row, and its calls in pairs; `words` is the text of one without calls."""

    row: Row
    calls: tuple[AnsweredCall, ...]
    words: str
    is_unreadable: bool


def show_answer(row: Row) -> ShownAnswer:
    """Return an item as it is shown."""
    due, made = _calls_in(row["due"]), _calls_in(row["calls"])
    words = "" if made else visible(str(row["problem"] or row["text"] or "").strip()[:_WORDS])
    return ShownAnswer(row, pair_calls(due, made), words, row["calls"] is None)


class ShownPair(NamedTuple):
    """One item with the answers of two candidates, their calls side by side."""

    answers: tuple[ShownAnswer, ShownAnswer]
    calls: tuple[AnsweredCall, ...]


def show_pair(one: Row, other: Row) -> ShownPair:
    """Return two answers to one item, side by side."""
    calls = pair_calls(_calls_in(one["due"]), _calls_in(one["calls"]), _calls_in(other["calls"]))
    return ShownPair((show_answer(one), show_answer(other)), calls)


def pair_calls(due: Sequence[Call], *answers: Sequence[Call]) -> tuple[AnsweredCall, ...]:
    """Return each due call with its match in each answer, then the surplus calls by tool."""
    partners = [partners_of(due, made) for made in answers]
    answered_calls = [
        _beside(
            call,
            [
                made[at[place]] if place in at else None
                for made, at in zip(answers, partners, strict=True)
            ],
        )
        for place, call in enumerate(due)
    ]
    left = [
        [call for place, call in enumerate(made) if place not in at.values()]
        for made, at in zip(answers, partners, strict=True)
    ]
    while first := next((calls[0] for calls in left if calls), None):
        alike = [next((call for call in calls if call.tool == first.tool), None) for calls in left]
        for calls, call in zip(left, alike, strict=True):
            if call is not None:
                calls.remove(call)
        answered_calls.append(_beside(None, alike))
    return tuple(answered_calls)


def _beside(due: Call | None, made: Sequence[Call | None]) -> AnsweredCall:
    """Pair a call with each answer's; an argument is right if both have it alike or neither."""
    wanted = due.arguments if due else {}
    answer_arguments = [call.arguments if call else {} for call in made]
    arguments = tuple(
        AnsweredArgument(
            name,
            write_json(wanted[name]) if name in wanted else None,
            tuple(write_json(one[name]) if name in one else None for one in answer_arguments),
            tuple(
                is_same([wanted.get(name), name in wanted], [one.get(name), name in one])
                for one in answer_arguments
            ),
        )
        for name in dict.fromkeys(name for side in (wanted, *answer_arguments) for name in side)
    )
    return AnsweredCall(
        due.tool if due else "", tuple(call.tool if call else "" for call in made), arguments
    )


def _calls_in(text: str | None) -> list[Call]:
    """Return the calls in a column, skipping values that are not calls."""
    found = json.loads(text) if text else None
    return [
        Call.model_construct(tool=str(one["tool"]), arguments=one.get("arguments") or {})
        for one in found or ()
        if isinstance(one, dict) and "tool" in one
    ]
