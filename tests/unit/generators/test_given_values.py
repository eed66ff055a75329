"""Values that a model gives: cut, mended in type, put together from several answers, and drawn
where none has one.
"""

from collections.abc import Sequence

import pytest
from pydantic import JsonValue

from callwright.generators.given_values import ArgumentValues, WantedValues, collect_values, mended
from callwright.llm.chat import ChatMessage, Prompt
from callwright.testing import ScriptedModel
from callwright.warehouse.records import Arguments, JsonSchema, Tool

TABLE = Tool(
    name="book_table",
    description="Book a table.",
    category="Food",
    parameters={
        "type": "object",
        "properties": {
            "restaurant": {"type": "string", "description": "Name of the restaurant"},
            "guests": {"type": "integer", "minimum": 1, "maximum": 20},
            "seating": {"type": "string", "enum": ["Terrace", "Inside"]},
            "time": {
                "type": "string",
                "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$",
                "description": "Time of day, HH:MM",
            },
        },
        "required": ["restaurant"],
    },
)
NAMES = ("restaurant", "guests", "seating", "time")
WANTED = WantedValues(TABLE, NAMES, "en", seed=5)
GOOD: Arguments = {"restaurant": "Blue Door", "guests": 3, "seating": "Inside", "time": "19:30"}


@pytest.mark.parametrize(
    ("value", "schema", "meant"),
    [
        ("3", {"type": "integer"}, 3),
        ("1,200.5", {"type": "number"}, 1200.5),
        (3.0, {"type": "integer"}, 3),
        (12345, {"type": "string"}, "12345"),
        ("TRUE", {"type": "boolean"}, True),
        ("terrace", {"type": "string", "enum": ["Terrace", "Inside"]}, "Terrace"),
        ("7:30 pm", TABLE.properties["time"], "19:30"),
        ("April 1, 2027", {"type": "string", "format": "date"}, "2027-04-01"),
        ("salt", {"type": "array", "items": {"type": "string"}}, ["salt"]),
        (["salt"], {"type": "string"}, "salt"),
        ("soon", {"type": "string", "format": "date"}, "soon"),
        ("many", {"type": "integer"}, "many"),
        (None, {"type": "string"}, None),
    ],
)
def test_a_value_of_another_type_is_the_value_that_it_stands_for(
    value: JsonValue, schema: JsonSchema, meant: JsonValue
) -> None:
    assert mended(value, schema) == meant


PROMPT = Prompt(
    name="fill", version="1", messages=(ChatMessage(role="user", content="Values, please."),)
)


def answering(*answers: Arguments) -> ScriptedModel:
    return ScriptedModel({"fill": [ArgumentValues(values=one) for one in answers]})


async def collected(*answers: Arguments) -> Arguments:
    given, _ = await collect_values(answering(*answers), PROMPT, ArgumentValues, WANTED)
    return given


@pytest.mark.parametrize(
    "answers",
    [
        [{"restaurant": "Blue Door", "guests": 3}, {"seating": "inside"}, {"time": "19:30"}],
        [
            {"restaurant": "Blue Door", "guests": 99},
            {"guests": "3", "seating": "Inside"},
            {"time": "half", **GOOD},
        ],
    ],
)
async def test_three_answers_are_put_together(answers: Sequence[Arguments]) -> None:
    assert await collected(*answers) == GOOD


@pytest.mark.parametrize(
    ("added", "kept"),
    [({}, []), ({"guests": 3}, ["guests"]), ({"guests": 99, "time": "19:30"}, ["time"])],
)
async def test_what_may_be_given_besides_is_the_models_choice_and_never_asked_for_again(
    added: Arguments, kept: list[str]
) -> None:
    model = answering({"restaurant": "Blue Door", **added})
    wanted = WANTED._replace(names=["restaurant"], may=["guests", "time"])
    given, _ = await collect_values(model, PROMPT, ArgumentValues, wanted)
    assert list(given) == ["restaurant", *kept]
    assert len(model.asked) == 1
