"""Which argument a user may point at, and what stands against it."""

import pytest

from callwright.generators.external.entities import (
    KINDS,
    Entities,
    TurnMention,
    app_named,
    apps,
    described,
    find_entities,
    find_mentions,
    is_plausible,
    obstacle,
)
from callwright.language.packs import known
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import CallTurn, Message, Sample, Tool, UserTurn
from tests.support.generators.external.fixtures import TOOLS, context_of, derivation, found


def test_the_nine_kinds_and_the_papers_five_apps_are_told_in_every_language() -> None:
    assert len(KINDS) == 9
    assert all(described(kind, language) for kind in KINDS for language in known())
    assert list(apps())[:5] == ["sms", "email", "instant_messaging", "social_media", "notebook"]
    assert all(app.called(language) for app in apps().values() for language in known())


def test_an_unknown_app_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="sms, email"):
        app_named("telegraph")


async def test_one_of_the_entities_is_chosen_with_an_app(perfect: Sample) -> None:
    context = context_of(find_entities=[found((0, "location"), (1, "location"))])
    (reference,) = await find_entities(derivation(perfect), context)
    assert (reference.argument, reference.value) in {
        ("pickup", "the old mill"),
        ("destination", "Central Station"),
    }
    assert reference.entity == "location"
    assert reference.app in apps()
    assert reference.turn == 0


async def test_kinds_that_a_value_does_not_have_the_form_of_are_left_out(perfect: Sample) -> None:
    context = context_of(find_entities=[found((0, "plate"), (0, "time"), (1, "location"))])
    (reference,) = await find_entities(derivation(perfect), context)
    assert (reference.argument, reference.entity) == ("destination", "location")


@pytest.mark.parametrize("answer", [found(), found((0, "id_number")), found((7, "person"))])
async def test_where_a_model_names_nothing_that_is_there_the_parameters_names_tell(
    perfect: Sample, answer: Entities
) -> None:
    (reference,) = await find_entities(derivation(perfect), context_of(find_entities=[answer]))
    assert (reference.argument, reference.entity) in {
        ("pickup", "location"),
        ("destination", "location"),
    }


async def test_arguments_that_are_not_there_are_passed_over(perfect: Sample) -> None:
    context = context_of(find_entities=[found((7, "person"), (1, "location"))])
    (reference,) = await find_entities(derivation(perfect), context)
    assert reference.argument == "destination"


async def test_in_a_dialogue_an_answer_is_chosen(dialogue: Sample) -> None:
    context = context_of(find_entities=[found((0, "location"), (1, "location"))])
    (reference,) = await find_entities(derivation(dialogue), context)
    assert reference.turn in {3, 6}


def test_a_source_without_a_call_has_no_argument_to_point_at(perfect: Sample) -> None:
    idle = perfect.with_changes(kind="irrelevant", turns=(perfect.turns[0], CallTurn()))
    assert obstacle(idle, TOOLS).startswith("No call is due in this irrelevant sample")


def test_a_source_that_points_already_is_left_alone(perfect: Sample) -> None:
    turn = UserTurn(text="Order a car.", external=Message(app="SMS", text="From the old mill."))
    assert "points at a message already" in obstacle(
        perfect.with_changes(turns=(turn, *perfect.turns[1:])), TOOLS
    )


def test_numbers_and_choices_are_no_entities(perfect: Sample) -> None:
    call = perfect.gold[0].with_changes(
        arguments={"passengers": 3}, evidence=perfect.gold[0].evidence[2:]
    )
    source = perfect.with_changes(turns=(perfect.turns[0], CallTurn(calls=(call,))))
    assert obstacle(source, TOOLS).startswith("No argument that the user says is a person")


def test_a_value_that_is_said_twice_can_not_be_pointed_at(dialogue: Sample) -> None:
    again = [
        turn.with_changes(text=f"{turn.text} As I said, from the old mill to Central Station.")
        if isinstance(turn, UserTurn)
        else turn
        for turn in dialogue.turns
    ]
    told = obstacle(dialogue.with_changes(turns=tuple(again)), TOOLS)
    assert told.startswith("The values of pickup, destination are said more than once")


def test_without_evidence_the_words_tell_where_an_argument_is_said(dialogue: Sample) -> None:
    bare = [
        turn.with_changes(calls=tuple(call.with_changes(evidence=()) for call in turn.calls))
        if isinstance(turn, CallTurn)
        else turn
        for turn in dialogue.turns
    ]
    mentions = find_mentions(dialogue.with_changes(turns=tuple(bare)), TOOLS)
    assert mentions == find_mentions(dialogue, TOOLS)
    assert obstacle(dialogue.with_changes(turns=tuple(bare)), TOOLS) == ""


@pytest.mark.parametrize(
    ("schema", "value", "fitting"),
    [
        ({"type": "string", "format": "date"}, "2027-03-04", {"time"}),
        ({"type": "string"}, "Last Friday at 10am", {"time"}),
        (
            {"type": "string"},
            "粤B6789X",
            {"plate", "person", "company", "product", "location", "song", "singer"},
        ),
        ({"type": "string"}, "48201937", {"id_number"}),
        (
            {"type": "string"},
            "Moonlight Sonata",
            {"person", "company", "product", "location", "song", "singer"},
        ),
        ({"type": "string", "enum": ["Home", "Work"]}, "Home", set()),
        ({"type": "integer"}, 48201937, set()),
        ({"type": "boolean"}, True, set()),
    ],
)
def test_each_kind_has_its_form(
    schema: dict[str, object], value: object, fitting: set[str]
) -> None:
    tool = Tool(
        name="t",
        description="T.",
        category="c",
        parameters={"type": "object", "properties": {"p": schema}},
    )
    mention = TurnMention(0, 0, 1, tool, "p", value)  # type: ignore[arg-type]
    assert {kind for kind in KINDS if is_plausible(mention, kind)} == fitting
