"""Schemas of answers: narrowed to a tool, and strict where they have a strict form."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, JsonValue

from callwright.generators.tools import mended
from callwright.language.schemas import fits
from callwright.llm.answer_schemas import arguments_schema, narrowed, strict_schema, without_nulls
from callwright.llm.stated_schemas import Line, portable_pattern, stated_schema
from callwright.warehouse.records import Tool

TOOL = Tool(
    name="book_room",
    description="Books a room.",
    category="hotels",
    parameters={
        "type": "object",
        "required": ["city"],
        "properties": {
            "city": {
                "type": "string",
                "description": "Where.",
                "pattern": "^[A-Z]",
                "examples": ["Oslo"],
            },
            "guests": {"type": "integer", "minimum": 1, "default": 2},
            "extras": {
                "type": "array",
                "maxItems": 2,
                "items": {"type": "string", "enum": ["cot", "desk"], "x-order": 1},
            },
            "guest": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string", "description": "Who.", "minLength": 2},
                    "age": {"type": "integer"},
                    "description": {"type": ["string", "null"]},
                },
            },
        },
    },
)


class Given(BaseModel):
    """Values."""

    values: dict[str, JsonValue]
    words: str


def test_an_answer_is_narrowed_to_the_names_types_and_bounds_of_a_tool():
    answer = narrowed(Given, {"values": arguments_schema(TOOL, ["city", "extras"], ["guests"])})

    stated = answer.model_json_schema()
    assert stated["title"] == answer.__name__ == "Given"
    assert stated["properties"]["values"] == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "pattern": "^[A-Z]"},
            "extras": {
                "type": "array",
                "maxItems": 2,
                "items": {"type": "string", "enum": ["cot", "desk"]},
            },
            "guests": {"type": "integer", "minimum": 1},
        },
        "required": ["city", "extras"],
        "additionalProperties": False,
    }
    assert stated["properties"]["words"] == stated_schema(Given)["properties"]["words"]
    assert isinstance(answer.model_validate({"values": {"city": "Oslo"}, "words": ""}), Given)
    assert (
        narrowed(Given, {"values": arguments_schema(TOOL, ["city", "extras"], ["guests"])})
        is answer
    )


def test_a_strict_schema_requires_all_and_says_what_it_can_not_state():
    strict = strict_schema(arguments_schema(TOOL, ["guest"], ["guests", "extras"]))

    assert strict is not None
    assert strict["required"] == ["guest", "guests", "extras"]
    assert strict["properties"]["guests"] == {"type": ["integer", "null"], "minimum": 1}
    guest = strict["properties"]["guest"]
    assert (guest["required"], guest["additionalProperties"]) == (
        ["name", "age", "description"],
        False,
    )
    assert guest["properties"]["name"] == {
        "type": "string",
        "description": "Holds besides: minLength 2.",
    }
    assert guest["properties"]["description"] == {"type": ["string", "null"]}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (
            {"type": "string", "format": "uri"},
            {"type": "string", "description": 'Holds besides: format "uri".'},
        ),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"enum": ["a", "b"]}, {"enum": ["a", "b"]}),
        (
            {"oneOf": [{"type": "string"}, {"const": 1}]},
            {"anyOf": [{"type": "string"}, {"const": 1}]},
        ),
        ({"allOf": [{"type": "integer"}], "minimum": 2}, {"type": "integer", "minimum": 2}),
        *(
            (one, None)
            for one in (
                {},
                {"type": "object"},
                {"type": "array"},
                {"type": ["object", "null"]},
                {"not": {}},
            )
        ),
        ({"type": "object", "additionalProperties": {"type": "string"}}, None),
        ({"allOf": [{"type": "string"}, {"minLength": 1}]}, None),
        ({"enum": [*range(1001)]}, None),
    ],
)
def test_what_strict_servers_can_be_told(schema, strict):
    whole = strict_schema({"type": "object", "properties": {"a": schema}, "required": ["a"]})
    assert (whole and whole["properties"]["a"]) == strict


def test_answers_of_our_own_have_a_strict_form():
    class Nested(BaseModel):
        """With what may lack."""

        inner: list[Given] = []

    assert strict_schema(Given.model_json_schema()) is None  # values of any shape
    answer = narrowed(Given, {"values": arguments_schema(TOOL, ["city"])})
    assert strict_schema(answer.model_json_schema()) is not None
    assert strict_schema(Nested.model_json_schema()) is None


def test_a_null_for_what_lacks_is_left_out_again():
    schema = TOOL.properties["guest"]
    assert without_nulls({"name": "Al", "age": None, "description": None}, schema) == {
        "name": "Al",
        "description": None,
    }
    guests = {"type": "array", "items": schema}
    assert mended([{"name": "Al", "age": None}, {"name": "Bo", "age": "3"}], guests) == [
        {"name": "Al"},
        {"name": "Bo", "age": 3},
    ]


SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "integer", "minimum": 0},
            {"enum": ["a", 1]},
            {"type": "boolean"},
        ]
    ),
    lambda inner: (
        st.builds(lambda one: {"type": "array", "items": one, "uniqueItems": True}, inner)
        | st.builds(
            lambda members, needed: {
                "type": "object",
                "properties": members,
                "required": [*members][:needed],
            },
            st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=3),
            st.integers(0, 3),
        )
    ),
    max_leaves=6,
)


def _plainest(schema: dict[str, Any]) -> JsonValue:
    if "anyOf" in schema:
        return _plainest(schema["anyOf"][-1])
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema["type"][-1] if isinstance(schema["type"], list) else schema["type"]
    if kind == "object":
        return {name: _plainest(one) for name, one in schema["properties"].items()}
    return {"array": [], "string": "x", "integer": 1, "boolean": True, "null": None}[kind]


@given(SCHEMAS)
def test_what_fits_the_strict_form_fits_the_schema_once_nulls_are_left_out(schema):
    strict = strict_schema({"type": "object", "properties": {"a": schema}, "required": ["a"]})
    assert strict is not None
    value = _plainest(strict["properties"]["a"])
    assert fits(value, strict["properties"]["a"])
    assert fits(mended(value, schema), schema)


class Told(BaseModel):
    """Words for those who read the code."""

    title: Line
    description: str = ""


def test_an_answer_is_stated_without_the_words_of_its_class():
    assert stated_schema(Told) == {
        "title": "Told",
        "type": "object",
        "properties": {
            "title": {"type": "string", "maxLength": 300},
            "description": {"type": "string"},
        },
        "required": ["title"],
    }


@pytest.mark.parametrize(
    ("given_pattern", "stated"),
    [
        (r"^SE-\d{3}$", "^SE-[0-9]{3}$"),
        (r"[\d,.]+", "[0-9,.]+"),
        (r"\\d\[\d", r"\\d\[[0-9]"),
        ("^[A-Z]$", "^[A-Z]$"),
    ],
)
def test_digits_are_written_as_a_range(given_pattern: str, stated: str):
    assert portable_pattern(given_pattern) == stated
