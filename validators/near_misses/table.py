"""The table of near misses: every kind of defect that calls may have, and the near misses that are shown beside the gold.

The same makers put defects into samples where checks and readers are measured, so that a reader is measured on what it is
asked to tell apart.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from random import Random
from typing import NamedTuple

from callwright.validators.near_misses import calls, values
from callwright.validators.near_misses.due import Due, NearMiss, Option, is_same_option, leaves, with_leaf
from callwright.validators.near_misses.values import ValueChange, other_values

SHOWN = 6  # near misses that are calls; what an assistant may do in the stead of calling comes besides

OptionMaker = Callable[[Due, Random], Iterator[Option]]


class Maker(NamedTuple):
    """A kind of defect: what it makes wrong, and the options that have it, likely ones first."""

    name: str
    breaks: str
    make: OptionMaker
    is_act: bool = False  # whether nothing is called at all


def _of_values(change: ValueChange) -> OptionMaker:
    """The options with another value somewhere, any place first."""

    def make(due: Due, rng: Random) -> Iterator[Option]:
        found = leaves(due)
        for leaf in rng.sample(found, len(found)):
            for value in other_values(change, leaf, due, rng):
                yield with_leaf(due.option, leaf, value)

    return make


def _guessed(due: Due, rng: Random) -> Iterator[Option]:
    """Where something is asked or told first: the next call, with another value than the one that it will have."""
    if not due.calls and due.later:
        early = due.with_option(Option(due.later[:1]))
        for change in rng.sample(_CHANGES, len(_CHANGES)):
            yield from _of_values(change)(early, rng)


_CHANGES = (
    values.value_of_other, values.number_off, values.digit_changed, values.letter_changed, values.day_shifted,
    values.hour_off, values.neighbour_choice, values.flag_flipped,
)  # fmt: skip

MAKERS = (
    Maker("value_of_other", "a gold value is that of something else", _of_values(values.value_of_other)),
    Maker("number_off_by_one", "a gold number is one too many or too few", _of_values(values.number_off)),
    Maker("magnitude_off", "a gold number is ten times too large or too small", _of_values(values.magnitude_off)),
    Maker("digit_changed", "a gold code or text has another digit", _of_values(values.digit_changed)),
    Maker("letter_changed", "a gold code has another letter", _of_values(values.letter_changed)),
    Maker("day_shifted", "a gold date is a day or a week off", _of_values(values.day_shifted)),
    Maker(
        "month_and_day_exchanged", "month and day of a gold date are exchanged",
        _of_values(values.month_and_day_exchanged),
    ),
    Maker("year_shifted", "a gold date is a year off", _of_values(values.year_shifted)),
    Maker("half_day_off", "a gold time is twelve hours off", _of_values(values.half_day_off)),
    Maker("hour_off", "a gold time is an hour or half an hour off", _of_values(values.hour_off)),
    Maker("neighbour_choice", "the gold has another choice of the schema", _of_values(values.neighbour_choice)),
    Maker("flag_flipped", "a gold flag is the other way round", _of_values(values.flag_flipped)),
    Maker("item_dropped", "a gold list lacks a member", calls.item_dropped),
    Maker("item_added", "a gold list has a member too many", calls.item_added),
    Maker("arguments_exchanged", "two arguments have each other's values", calls.arguments_exchanged),
    Maker("optional_argument_dropped", "an optional argument that is said is missing", calls.optional_argument_dropped),
    Maker("required_argument_dropped", "a required argument that is said is missing", calls.required_argument_dropped),
    Maker("argument_added", "an argument that nobody says is there", calls.argument_added),
    Maker("other_tool", "another candidate is called", calls.other_tool),
    Maker("call_repeated", "a call stands twice", calls.call_repeated),
    Maker("call_dropped", "one of several calls is missing", calls.call_dropped),
    Maker("call_unasked", "a call stands there that nobody asked for", calls.call_unasked),
    Maker("calls_reordered", "a call stands before the one that it depends on", calls.calls_reordered),
    Maker("unknown_guessed", "a value that nobody can know yet is made up", calls.unknown_guessed),
    Maker("unknown_for_known", "a value that is said is marked as unknown", calls.unknown_for_known),
    Maker("call_guessed", "a call that is not due yet is made with a value that nobody gave", _guessed),
    Maker("no_call", "no call is said to be due though one is", calls.no_call, is_act=True),
    Maker("question", "something is to be asked first though all is known", calls.question, is_act=True),
)  # fmt: skip


def of_maker(maker: Maker, due: Due, rng: Random) -> Iterator[NearMiss]:
    """The near misses of one kind.

    What comes to the same as the gold is none, nor what makes a call that is due later: it may as well be made now.
    """
    for option in maker.make(due, rng):
        is_early = any(call in due.later and call not in due.calls for call in option.calls)
        if not is_early and not is_same_option(due.option, option, due.tools, is_ordered=due.is_ordered):
            yield NearMiss(maker.name, option)


def near_misses(due: Due, rng: Random, shown: int = SHOWN) -> list[NearMiss]:
    """Up to `shown` near misses of different kinds that are calls, and the acts in their stead; no two do the same."""
    rows = zip_longest(*(_few(maker, due, rng) for maker in _in_turn(rng)))
    made = _distinct(due, [one for row in rows for one in row if one is not None], shown)
    acts = [one for maker in MAKERS if maker.is_act for one in of_maker(maker, due, rng)]
    return [*made, *acts]


def _in_turn(rng: Random) -> list[Maker]:
    """The kinds in random order, one of those of which every call has some in front, the others of them at the end."""
    told = [maker for maker in MAKERS if not maker.is_act and maker.name not in _ALWAYS]
    always = rng.sample([maker for maker in MAKERS if maker.name in _ALWAYS], len(_ALWAYS))
    return [*rng.sample([*told, always[0]], len(told) + 1), *always[1:]]


_ALWAYS = ("call_repeated", "call_unasked")  # they are easily told, and shall not crowd out others
_FEW = 3  # of one kind, so that a tool with many values does not make hundreds


def _few(maker: Maker, due: Due, rng: Random) -> list[NearMiss]:
    return [one for one, _ in zip(of_maker(maker, due, rng), range(_FEW), strict=False)]


def _distinct(due: Due, made: Sequence[NearMiss], most: int) -> list[NearMiss]:
    kept: list[NearMiss] = []
    for one in made:
        if len(kept) == most:
            break
        if not any(_is_same(due, one.option, other.option) for other in kept):
            kept.append(one)
    return kept


def _is_same(due: Due, one: Option, other: Option) -> bool:
    return is_same_option(one, other, due.tools, is_ordered=due.is_ordered)
