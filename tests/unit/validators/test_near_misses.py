"""Near misses: calls by code that are almost the gold ones, and never the same in another notation."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from callwright.generators.tools import argument_problems
from callwright.language.schemas import fits
from callwright.testing import make_tool
from callwright.validators.near_misses.due import (
    Due,
    Leaf,
    NearMiss,
    Option,
    is_same_call,
    is_same_option,
    leaves,
    with_leaf,
)
from callwright.validators.near_misses.table import MAKERS, near_misses, of_maker
from callwright.warehouse.records import Call, JsonSchema, Tool

TRIP = make_tool(
    "book_trip",
    "Book a trip from one city to another.",
    origin="string",
    target="string",
    day={"type": "string", "format": "date"},
    seats={"type": "integer", "minimum": 1},
    quiet={"type": "boolean", "default": False},
    rate={"enum": ["plain", "flexible"]},
    legs={"type": "array", "items": {"type": "object", "properties": {"stop": {"type": "string"}}}},
    required=["origin", "target"],
)
CANCEL = make_tool("cancel_trip", "Give a ticket back.", trip="string", required=["trip"])
TOOLS = {tool.name: tool for tool in (TRIP, CANCEL)}
GOLD = {
    "origin": "Oslo", "target": "Bergen", "day": "2027-03-05", "seats": 2, "quiet": True, "rate": "plain",
    "legs": [{"stop": "Voss"}, {"stop": "Finse"}],
}  # fmt: skip


def due_of(*calls: Call, act: str = "call", is_ordered: bool = False) -> Due:
    option = Option(tuple(calls), act)  # type: ignore[arg-type]
    return Due(1, (), option, (), TOOLS, "en", is_ordered)


def trip(**arguments: JsonValue) -> Call:
    return Call(tool="book_trip", arguments=arguments)


def made(name: str, due: Due, seed: int = 0) -> list[NearMiss]:
    return [*of_maker(next(one for one in MAKERS if one.name == name), due, Random(seed))]


@given(seed=st.integers(0, 10_000))
def test_near_misses_are_other_calls_that_the_schemas_allow_and_no_two_are_the_same(seed: int) -> None:
    due = due_of(trip(**GOLD))
    found = near_misses(due, Random(seed))
    assert 5 <= len(found) <= 8
    for at, one in enumerate(found):
        assert not is_same_option(due.option, one.option, TOOLS, is_ordered=False), one
        assert not any(is_same_option(one.option, other.option, TOOLS, is_ordered=False) for other in found[:at])
        for call in one.option.calls:
            assert argument_problems(TOOLS[call.tool], call.arguments, partial=False) == [], one


def test_near_misses_are_the_same_for_the_same_seed_and_others_for_another() -> None:
    due = due_of(trip(**GOLD))
    assert near_misses(due, Random(3)) == near_misses(due, Random(3))
    assert near_misses(due, Random(3)) != near_misses(due, Random(4))


def test_required_arguments_are_left_out_in_the_order_of_the_call_whatever_the_process() -> None:
    names = [f"part_{at}" for at in range(12)]
    tool = make_tool("build", "Build it.", **dict.fromkeys([*names, "lacking"], "string"), required=[*names, "lacking"])
    call = Call(tool="build", arguments=dict.fromkeys(names, "x"))
    due = Due(1, (), Option((call,)), (), {"build": tool}, "en")
    dropped = made("required_argument_dropped", due)
    left_out = [next(name for name in names if name not in one.option.calls[0].arguments) for one in dropped]
    assert left_out == names[: len(left_out)]
    assert len(left_out) > 1


def test_both_roles_of_like_form_are_exchanged() -> None:
    [one] = made("arguments_exchanged", due_of(trip(origin="Oslo", target="Bergen")))
    assert one.option.calls == (trip(origin="Bergen", target="Oslo"),)


def test_values_of_two_calls_of_a_set_are_exchanged_by_their_parameter() -> None:
    due = due_of(trip(origin="Oslo", target="Voss"), trip(origin="Rome", target="Bari"))
    found = [one.option.calls for one in made("arguments_exchanged", due)]
    assert (trip(origin="Rome", target="Voss"), trip(origin="Oslo", target="Bari")) in found
    assert (trip(origin="Oslo", target="Rome"), trip(origin="Voss", target="Bari")) not in found


def test_a_member_of_a_list_of_objects_gets_another_value_in_its_place() -> None:
    due = due_of(trip(origin="Oslo", target="Bergen", legs=[{"stop": "Voss 1"}]))
    [one] = made("digit_changed", due)
    assert one.option.calls[0].arguments["legs"] != [{"stop": "Voss 1"}]
    assert one.option.calls[0].arguments["origin"] == "Oslo"


@pytest.mark.parametrize(
    ("given_value", "other"),
    [
        (trip(origin="Oslo"), trip(origin="Oslo", quiet=False)),  # an equal default
        (trip(origin="Oslo"), trip(origin="Oslo", day="")),  # nothing stated
        (trip(origin="Oslo"), trip(origin=" oslo ")),  # another notation
        (trip(seats=2), trip(seats=2.0)),
        (trip(rate="plain"), trip(rate="Plain")),
    ],
)
def test_a_default_and_another_notation_are_the_same_call(given_value: Call, other: Call) -> None:
    assert is_same_call(given_value, other, TOOLS)
    assert is_same_call(other, given_value, TOOLS)


def test_a_list_of_all_choices_is_no_choice_and_its_order_says_nothing() -> None:
    tool = make_tool("find", topics={"type": "array", "items": {"enum": ["a", "b", "c"]}})
    tools = {"find": tool}
    everything = Call(tool="find", arguments={"topics": ["c", "a", "b"]})
    assert is_same_call(everything, Call(tool="find"), tools)
    one, other = (Call(tool="find", arguments={"topics": list(value)}) for value in ("ab", "ba"))
    assert is_same_call(one, other, tools)
    assert not is_same_call(one, everything, tools)


def test_calls_of_a_set_have_no_order_and_those_of_a_plan_have_one() -> None:
    one, other = Option((trip(seats=1), trip(seats=2))), Option((trip(seats=2), trip(seats=1)))
    assert is_same_option(one, other, TOOLS, is_ordered=False)
    assert not is_same_option(one, other, TOOLS, is_ordered=True)


def test_who_lacks_a_required_argument_may_have_to_be_asked_so_that_asking_is_no_near_miss() -> None:
    assert made("question", due_of(trip(origin="Oslo"))) == []
    assert [one.option.act for one in made("question", due_of(trip(origin="Oslo", target="Bergen")))] == ["ask"]


def test_a_plan_has_its_unknown_value_guessed_and_its_calls_turned_round() -> None:
    find, cancel = trip(origin="Oslo", target="Bergen"), Call(tool="cancel_trip", arguments={"trip": "$$$"})
    due = due_of(find, cancel, is_ordered=True)
    assert [one.option.calls for one in made("calls_reordered", due)] == [(cancel, find)]
    [guessed] = made("unknown_guessed", due)
    assert guessed.option.calls[1].arguments["trip"] != "$$$"


def test_a_call_without_arguments_or_siblings_still_has_near_misses() -> None:
    alone = make_tool("ring_bell", "Ring the bell.")
    due = Due(1, (), Option((Call(tool="ring_bell"),)), (), {"ring_bell": alone}, "en")
    assert {one.defect for one in near_misses(due, Random(1))} == {"call_repeated", "no_call", "question"}


@given(
    value=st.one_of(st.text(max_size=30), st.integers(), st.floats(allow_nan=False), st.booleans(), st.none()),
    schema=st.sampled_from([{}, {"type": "string"}, {"type": "integer"}, {"type": "array"}, {"format": "date"}]),
    seed=st.integers(0, 100),
)
def test_no_value_whatever_it_is_breaks_a_maker(value: JsonValue, schema: JsonSchema, seed: int) -> None:
    tool: Tool = make_tool("any", held=schema)
    due = Due(1, (), Option((Call(tool="any", arguments={"held": value}),)), (), {"any": tool}, "en")
    for one in near_misses(due, Random(seed)):
        held = next(iter(one.option.calls), Call(tool="any")).arguments.get("held")
        if one.defect in ("number_off_by_one", "day_shifted", "digit_changed"):
            assert fits(held, schema)


def test_a_leaf_is_replaced_at_its_place_alone() -> None:
    due = due_of(trip(legs=[{"stop": "Voss"}, {"stop": "Finse"}]))
    [_, second] = leaves(due)
    assert second == Leaf(0, ("legs", 1, "stop"), "Finse", {"type": "string"})
    assert with_leaf(due.option, second, "Geilo").calls[0].arguments == {"legs": [{"stop": "Voss"}, {"stop": "Geilo"}]}


def test_a_call_that_is_due_later_may_as_well_be_made_now() -> None:
    later = trip(origin="Oslo", target="Voss")
    due = due_of(trip(origin="Oslo", target="Bergen"))._replace(later=(later,))
    assert not [one for seed in range(40) for one in near_misses(due, Random(seed)) if later in one.option.calls]
