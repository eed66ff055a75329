"""Which argument a user may point at, and what stands against it."""

from callwright.generators.external.entities import KINDS, apps, described, find_entities, obstacle
from callwright.language.packs import known
from callwright.warehouse.records import CallTurn, Message, Sample, UserTurn
from tests.support.generators.external.fixtures import TOOLS, context_of, derivation, found


def test_the_nine_kinds_and_the_papers_five_apps_are_told_in_every_language() -> None:
    assert len(KINDS) == 9
    assert all(described(kind, language) for kind in KINDS for language in known())
    assert list(apps())[:5] == ["sms", "email", "instant_messaging", "social_media", "notebook"]
    assert all(app.called(language) for app in apps().values() for language in known())


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


def test_a_source_without_a_call_has_no_argument_to_point_at(perfect: Sample) -> None:
    idle = perfect.with_changes(kind="irrelevant", turns=(perfect.turns[0], CallTurn()))
    assert obstacle(idle, TOOLS).startswith("No call is due in this irrelevant sample")


def test_a_source_that_points_already_is_left_alone(perfect: Sample) -> None:
    turn = UserTurn(text="Order a car.", external=Message(app="SMS", text="From the old mill."))
    assert "points at a message already" in obstacle(
        perfect.with_changes(turns=(turn, *perfect.turns[1:])), TOOLS
    )


def test_a_value_that_is_said_twice_can_not_be_pointed_at(dialogue: Sample) -> None:
    again = [
        turn.with_changes(text=f"{turn.text} As I said, from the old mill to Central Station.")
        if isinstance(turn, UserTurn)
        else turn
        for turn in dialogue.turns
    ]
    told = obstacle(dialogue.with_changes(turns=tuple(again)), TOOLS)
    assert told.startswith("The values of pickup, destination are said more than once")
