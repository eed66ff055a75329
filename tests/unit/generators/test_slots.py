"""Planning what is asked for: what is missing, in which order, and values that nobody takes for
another.
"""

import re

import pytest

from callwright.generators.dialogues.making import obstacle, plan_slots
from callwright.generators.given_values import ArgumentValues
from callwright.generators.tools import argument_problems
from callwright.testing import ScriptedModel
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Arguments, CallTurn, Language
from tests.support.generators.dialogue_parts import (
    TABLE,
    TOOLS,
    VALUES,
    RecordingTemplateChat,
    context,
    derivation,
    dialogue,
    imperfect,
)


def values(given: Arguments) -> ArgumentValues:
    return ArgumentValues(values=given)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_every_required_parameter_that_the_request_lacks_is_asked_for(
    language: Language,
) -> None:
    [plan] = await plan_slots(
        derivation(imperfect(language, guests=4)), context(RecordingTemplateChat())
    )
    assert {slot.parameter for slot in plan.slots} == {"date", "time", "seating"}
    assert plan.origin is not None
    assert plan.origin.seed == 5
    assert plan.origin.parents == (plan.derivation.key,)


WRONG = [{**VALUES, "guests": 40}, {**VALUES, "seating": ""}, {"date": "2027-03-05"}]


@pytest.mark.parametrize("wrong", WRONG)
async def test_what_three_answers_lack_is_drawn_and_the_rest_of_them_kept(wrong: Arguments) -> None:
    [plan] = await plan_slots(
        derivation(imperfect()), context(ScriptedModel({"fill_slots": [values(wrong)] * 3}))
    )
    planned = {slot.parameter: slot.value for slot in plan.slots}
    kept = {name: value for name, value in wrong.items() if value not in (40, "")}
    assert kept.items() <= planned.items()
    assert planned.keys() == VALUES.keys()
    assert not argument_problems(TABLE, planned, partial=True)


@pytest.mark.parametrize("note", ["Blue Door", "the blue door at eight", "Blue"])
async def test_a_value_that_could_be_taken_for_a_known_one_is_asked_for_anew(note: str) -> None:
    tool = TABLE.with_changes(parameters={**TABLE.parameters, "required": ["restaurant", "note"]})
    source = imperfect().with_changes(candidates=(tool.key,))
    chat = ScriptedModel(
        {"fill_slots": [values({"note": note}), values({"note": "a cake at the end"})]}
    )
    [plan] = await plan_slots(derivation(source), context(chat)._replace(tools={tool.key: tool}))
    assert [slot.value for slot in plan.slots] == ["a cake at the end"]
    assert chat.left == {}


async def test_two_slots_never_have_the_same_value() -> None:
    schema = {**TABLE.parameters, "required": ["restaurant", "note"]}
    tool = TABLE.with_changes(parameters=schema)
    source = imperfect().with_changes(candidates=(tool.key,))
    call = source.gold[0].with_changes(arguments={}, evidence=())
    source = source.with_changes(
        turns=(source.turns[0].model_copy(update={"text": "Book a table"}), CallTurn(calls=(call,)))
    )
    alike = values({"restaurant": "Pier Nine", "note": "near pier nine please"})
    apart = values({"restaurant": "Pier Nine", "note": "a cake at the end"})
    chat = ScriptedModel({"fill_slots": [alike, apart]})
    [plan] = await plan_slots(derivation(source), context(chat)._replace(tools={tool.key: tool}))
    assert {slot.value for slot in plan.slots} == {"Pier Nine", "a cake at the end"}


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (
            imperfect(date="2027-03-05", time="19:30", guests=4, seating="bar"),
            "gives every parameter",
        ),
        (dialogue("date"), "has 5 turns"),
        (imperfect().with_changes(turns=(imperfect().turns[0], CallTurn())), "0 calls are due"),
        (imperfect().with_changes(candidates=()), "not among the candidates"),
    ],
)
async def test_where_nothing_can_be_asked_the_obstacle_is_told_in_advance(
    sample: object, reason: str
) -> None:
    assert re.search(reason, obstacle(sample, TOOLS))  # type: ignore[arg-type]
    with pytest.raises(RecordError, match=reason):
        await plan_slots(derivation(sample), context())  # type: ignore[arg-type]
