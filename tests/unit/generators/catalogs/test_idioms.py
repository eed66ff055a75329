"""OpenAPI's ways of saying things come out as one plain schema that allows the same values; what
is wrong costs a keyword.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from callwright.generators.catalogs import read_catalog
from callwright.generators.catalogs.idioms import as_json_schema
from callwright.generators.catalogs.rewriting import rewrite

TEXT = {"type": "string"}
CAT = {"type": "object", "required": ["kind", "name"], "properties": {"kind": TEXT, "name": TEXT}}


def read(folder: Path, schema: Any, **schemas: Any) -> Any:
    """The schema of the one field `it` of a body, and the kinds of what was odd."""
    body = {
        "content": {
            "application/json": {
                "schema": {"type": "object", "properties": {"it": schema, "and": TEXT}}
            }
        }
    }
    operation = {"operationId": "make", "description": "Makes.", "requestBody": body}
    path = folder / "api.json"
    stated = {
        "openapi": "3.1.0",
        "paths": {"/it": {"post": operation}},
        "components": {"schemas": schemas},
    }
    path.write_text(json.dumps(stated))
    catalog = read_catalog("openapi", path)
    return catalog.tools[0].properties["it"], [problem.kind for problem in catalog.problems]


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


@pytest.mark.parametrize(
    ("stated", "plain"),
    [
        (
            {"type": "integer", "oneOf": [{"const": 60}, {"const": 1440}]},
            {"type": "integer", "enum": [60, 1440]},
        ),
        (
            {
                "oneOf": [
                    {"const": 60, "title": "An hour"},
                    {"const": 1440, "description": "A day."},
                ],
                "description": "How long.",
            },
            {"enum": [60, 1440], "description": "How long. 60: An hour; 1440: A day."},
        ),
        (
            {
                "oneOf": [
                    {"type": "null"},
                    {"type": "integer", "oneOf": [{"const": 1}, {"const": 2}]},
                ]
            },
            {"type": ["integer", "null"], "enum": [1, 2, None]},
        ),
        (
            {"anyOf": [TEXT, {"type": "null"}], "maxLength": 9},
            {"type": ["string", "null"], "maxLength": 9},
        ),
        ({"oneOf": [TEXT, {"type": "integer"}]}, {"oneOf": [TEXT, {"type": "integer"}]}),
        (
            {"anyOf": [TEXT | {"description": "A."}, TEXT | {"description": "B."}]},
            TEXT | {"description": "A."},
        ),
        (
            {"anyOf": [TEXT, TEXT | {"enum": ["small", "large"]}]},
            TEXT | {"examples": ["small", "large"]},
        ),
        (
            {"anyOf": [TEXT | {"enum": ["a"]}, TEXT | {"enum": ["b", "a"]}]},
            TEXT | {"enum": ["a", "b"]},
        ),
        ({"type": ["string"], "nullable": True}, {"type": ["string", "null"]}),
        (
            {"allOf": [ref("Text"), {"readOnly": False, "nullable": True, "description": "B."}]},
            TEXT | {"readOnly": False, "description": "B."},
        ),
        (
            {"allOf": [ref("Text")], "description": "B.", "maxLength": 3},
            TEXT | {"description": "B.", "maxLength": 3},
        ),
        (
            {
                "allOf": [
                    {"type": "number", "minimum": 1},
                    {"type": "integer", "minimum": 3, "maximum": 9},
                ]
            },
            {"type": "integer", "minimum": 3, "maximum": 9},
        ),
        (
            {
                "allOf": [
                    ref("Cat"),
                    {"properties": {"name": {"maxLength": 3}, "age": TEXT}, "required": ["age"]},
                ]
            },
            {
                "type": "object",
                "required": ["kind", "name", "age"],
                "properties": {"kind": TEXT, "name": TEXT | {"maxLength": 3}, "age": TEXT},
            },
        ),
        (
            {"allOf": [{"pattern": "a"}, {"pattern": "b"}]},
            {"allOf": [{"pattern": "a"}, {"pattern": "b"}]},
        ),
        (
            {"type": "string", "examples": {"one": {"value": "a"}, "two": {"value": "b"}}},
            TEXT | {"examples": ["a", "b"]},
        ),
        (
            {"$ref": "#/$defs/Own", "$defs": {"Own": TEXT | {"maxLength": 2}}},
            TEXT | {"maxLength": 2},
        ),
        (
            {"type": "array", "items": {"$ref": "#/$defs/Own"}, "$defs": {"Own": TEXT}},
            {"type": "array", "items": TEXT},
        ),
        (
            {"type": "object", "properties": {"$ref": "#/components/schemas/Members"}},
            {"type": "object", "properties": {"a": TEXT}},
        ),
        (
            {"type": "object", "properties": {"a": {"type": "string", "required": True}}},
            {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
        ),
    ],
)
def test_an_idiom_is_one_plain_schema(stated: Any, plain: Any, tmp_path: Path) -> None:
    assert read(tmp_path, stated, Text=TEXT, Cat=CAT, Members={"a": TEXT})[0] == plain


@pytest.mark.parametrize(
    ("mapping", "told"),
    [({"tom": "#/components/schemas/Cat"}, ["tom"]), ({"tom": "Cat"}, ["tom"]), (None, ["Cat"])],
)
def test_alternatives_say_what_tells_them_apart(
    mapping: Any, told: list[str], tmp_path: Path
) -> None:
    dog = CAT | {"properties": CAT["properties"] | {"kind": {"const": "hound"}}}  # type: ignore[operator] # a dict
    discriminator = {"propertyName": "kind"} | ({"mapping": mapping} if mapping else {})
    stated = {"oneOf": [ref("Cat"), ref("Dog")], "discriminator": discriminator}
    cat, hound = read(tmp_path, stated, Cat=CAT, Dog=dog)[0]["oneOf"]
    assert cat["properties"]["kind"] == TEXT | {"enum": told}
    assert hound["properties"]["kind"] == {"const": "hound"}


@pytest.mark.parametrize(
    ("stated", "plain", "kinds"),
    [
        ({"type": "strng"}, {}, ["invalid_keyword", "untyped_parameter"]),
        ({"type": "string", "minLength": "3"}, TEXT, ["invalid_keyword"]),
        ({"type": "string", "enum": "a, b"}, TEXT, ["invalid_keyword"]),
        ({"type": "string", "enum": [2023, True]}, TEXT | {"enum": ["2023", "true"]}, []),
        ({"type": "integer", "enum": ["1", "2"]}, {"type": "integer", "enum": [1, 2]}, []),
        (
            {"type": "integer", "enum": ["low", "high"]},
            {"enum": ["low", "high"]},
            ["invalid_keyword"],
        ),
        (
            {"type": "object", "properties": {"a": "text"}},
            {"type": "object", "properties": {"a": {}}},
            ["invalid_keyword"],
        ),
        ({"type": "object", "properties": ["a"]}, {"type": "object"}, ["invalid_keyword"]),
        ({"type": "object", "required": "a"}, {"type": "object"}, ["invalid_keyword"]),
        ({"type": "array", "items": "text"}, {"type": "array"}, ["invalid_keyword"]),
        ({"anyOf": "text", "type": "string"}, TEXT, ["invalid_keyword"]),
    ],
)
def test_what_is_no_schema_costs_a_keyword_and_no_tool(
    stated: Any, plain: Any, kinds: list[str], tmp_path: Path
) -> None:
    assert read(tmp_path, stated) == (plain, kinds)


NUMBERS = st.integers(0, 4)
PLAIN = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["string", "integer", "null"])}),
    st.fixed_dictionaries({"const": st.one_of(NUMBERS, st.sampled_from(["a", "b", None]))}),
    st.fixed_dictionaries(
        {"enum": st.lists(st.one_of(NUMBERS, st.sampled_from(["a", "b"])), min_size=1, max_size=3)}
    ),
    st.fixed_dictionaries(
        {"type": st.just("integer"), "minimum": NUMBERS}, optional={"maximum": NUMBERS}
    ),
    st.fixed_dictionaries({"type": st.sampled_from([["string", "null"], ["integer", "string"]])}),
)
SCHEMAS = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {"anyOf": st.lists(inner, min_size=1, max_size=3)},
            optional={
                "minimum": NUMBERS,
                "type": st.sampled_from(["string", "integer", ["integer", "null"]]),
            },
        ),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=3)}),
    ),
    max_leaves=6,
)


def through(schema: Any) -> Any:
    """The schema with each of its nodes changed, innermost first."""
    inside = {
        key: [through(one) for one in schema[key]] for key in ("anyOf", "allOf") if key in schema
    }
    return as_json_schema({**schema, **inside}, [])


@given(SCHEMAS)
def test_a_plain_schema_allows_the_same_values(schema: Any) -> None:
    plain = through(schema)
    for value in (0, 1, 2, 3, 4, "a", "b", "c", None):
        assert Draft202012Validator(plain).is_valid(value) == Draft202012Validator(schema).is_valid(
            value
        )
    assert through(plain) == plain


KEYWORDS = [
    "type",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "properties",
    "required",
    "items",
    "nullable",
]
MORE = ["minimum", "exclusiveMinimum", "example", "examples", "discriminator", "description"]
WORDS = st.sampled_from([*KEYWORDS, *MORE])
JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["string", "a", "null"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=4)),
    max_leaves=8,
)


@given(st.dictionaries(WORDS, JSON, max_size=5))
def test_whatever_a_document_says_a_schema_is_read(schema: dict[str, Any]) -> None:
    assert isinstance(rewrite(schema, as_json_schema).schema, dict)


@pytest.mark.parametrize(
    ("examples", "form"),
    [
        (["2021-09-15T15:53:00Z"], "date-time"),
        (["2021-09-15T15:53:00Z", "2021-09-15T17:53:00.25+02:00"], "date-time"),
        (["2021-09-15"], "date"),
        (["2021-09-15T15:53:00Z", "yesterday"], None),
        (["2021-09-15T15:53:00"], None),
        (["15:53"], None),
    ],
)
def test_examples_show_the_format_of_moments_that_states_none(
    tmp_path: Path, examples: list[str], form: str | None
) -> None:
    made, _ = read(tmp_path, {**TEXT, "examples": examples})
    assert made.get("format") == form
    [one, *_] = examples
    stated, _ = read(tmp_path, {**TEXT, "example": one, "pattern": "^2"})
    assert "format" not in stated
