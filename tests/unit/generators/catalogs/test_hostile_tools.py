"""Tool documents that nobody would write: numbers beyond 64 bits, names without letters; each is
kept or told.
"""

import json
import math
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.generators.catalogs.builder import CatalogBuilder, ToolDraft
from callwright.generators.catalogs.catalog import Catalog, check_catalog
from callwright.generators.catalogs.tool_lists import read_openai
from callwright.language.calls.parameters import entity_of, titles_of
from callwright.language.calls.sampling import fill_in, make_plain, make_value
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Call, Tool

BIG = 10**30
NAMELESS = (
    "$",
    "_",
    "1",
    "",
    "。",
    "…",
    "__",
    " ",
    "\n",
    "-",
    ".",
    "/",
    "😀",
    "[]",
    "()",
    "'",
    '"',
    "\\",
    "{}",
)
Schema = dict[str, Any]


def catalog_of(tmp_path: Path, schema: Schema, name: str = "amount") -> Catalog:
    parameters = {"type": "object", "properties": {name: schema}, "required": [name]}
    file = tmp_path / "tools.json"
    file.write_text(
        json.dumps([{"name": "send", "description": "Send tokens.", "parameters": parameters}])
    )
    return read_openai(file)


@pytest.mark.parametrize(
    ("stated", "kept"),
    [
        ({"maximum": 2**256 - 1, "minimum": 0}, {"minimum": 0}),
        ({"minimum": -BIG, "maximum": 7}, {"maximum": 7}),
        ({"exclusiveMaximum": 2**64}, {}),
        ({"enum": [1, 2**70]}, {"enum": [1]}),
        ({"default": BIG}, {}),
        ({"examples": [2**64, 5]}, {}),
    ],
)
def test_what_is_beyond_64_bits_is_dropped_and_told(
    tmp_path: Path, stated: Schema, kept: Schema
) -> None:
    catalog = catalog_of(tmp_path, {"type": "integer", **stated})
    assert [tool.properties["amount"] for tool in catalog.tools] == [{"type": "integer", **kept}]
    [problem] = [one for one in catalog.problems if one.kind == "invalid_keyword"]
    assert "what is beyond 64 bits is dropped" in problem.message


@pytest.mark.parametrize(
    "stated",
    [{"minimum": BIG}, {"maximum": -BIG}, {"enum": [2**64]}, {"const": 2**64}, {"multipleOf": BIG}],
)
def test_a_tool_for_which_no_number_within_64_bits_is_left_is_left_out_and_told(
    tmp_path: Path, stated: Schema
) -> None:
    catalog = catalog_of(tmp_path, {"type": ["integer", "null"], **stated})
    assert catalog.tools == ()
    assert any(
        one.kind == "invalid_schema" and "no whole number within 64 bits fits" in one.message
        for one in catalog.problems
    )


@pytest.mark.parametrize("example", [2**63, 2**64 - 1, -(2**63)])
def test_numbers_of_64_bits_are_kept_and_those_like_them_are_of_64_bits(
    tmp_path: Path, example: int
) -> None:
    [tool] = catalog_of(tmp_path, {"type": "integer", "examples": [example]}, "order_id").tools
    assert tool.properties["order_id"]["examples"] == [example]
    for seed in range(20):
        orjson.dumps(make_value("order_id", tool.properties["order_id"], "en", Random(seed)))


def test_numbers_of_a_server_are_exact_and_what_is_beyond_is_told_all_the_same() -> None:
    builder = CatalogBuilder("mcp")
    schema: Schema = {
        "type": "object",
        "properties": {"amount": {"type": "integer", "maximum": 2**256 - 1}},
    }
    assert (
        builder.put(
            ToolDraft(
                "a server",
                "all",
                "send",
                "Send tokens.",
                schema,
                {"type": "number", "maximum": BIG},
            )
        )
        is not None
    )
    assert [one.kind for one in builder.problems] == ["invalid_keyword"]


def test_a_whole_number_beyond_64_bits_is_never_made() -> None:
    with pytest.raises(ReplyError, match=r"64 bits|satisfies"):
        make_value("amount", {"type": "integer", "minimum": 1e30}, "en", Random(1))


@pytest.mark.parametrize("fewest", [10**9, 1e30])
def test_a_list_without_end_is_not_made(fewest: float) -> None:
    for make in (make_value, make_plain):
        with pytest.raises(ReplyError, match=r"at most 50 are given|satisfies"):
            make(
                "items",
                {"type": "array", "minItems": fewest, "items": {"type": "boolean"}},
                "en",
                Random(1),
            )


names = st.one_of(
    st.sampled_from([*NAMELESS, "$ref", "$filter", "a.b", "x[y]", "名字", "order_id", "id", "by"]),
    st.text(max_size=8),
)
numbers = st.one_of(
    st.integers(), st.sampled_from([2**63, 2**64, -(2**63) - 1, BIG, -BIG, 10**400]), st.floats()
)
values = st.one_of(numbers, st.none(), st.booleans(), st.text(max_size=6))
TYPES = (
    "string",
    "integer",
    "number",
    "boolean",
    "array",
    "object",
    "null",
    "any",
    "STRING",
    "dict",
)
words = {
    "type": st.one_of(st.sampled_from(TYPES), st.lists(st.sampled_from(TYPES), max_size=3)),
    "enum": st.lists(values, max_size=3),
    "const": values,
    "default": values,
    "examples": st.lists(values, max_size=3),
    "format": st.sampled_from(["date", "email", "uuid", "nonsense"]),
    "description": st.text(max_size=20),
    "pattern": st.sampled_from(["^a+$", "(", "[0-9]{3}", ""]),
    "required": st.one_of(st.booleans(), st.lists(names, max_size=2)),
    **dict.fromkeys(
        ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"], numbers
    ),
    **dict.fromkeys(["minLength", "maxLength", "minItems", "maxItems", "minProperties"], numbers),
}
flat = st.fixed_dictionaries({}, optional=words)
schemas = st.recursive(
    flat,
    lambda inner: st.builds(
        lambda one, more: {**one, **more},
        flat,
        st.fixed_dictionaries(
            {},
            optional={
                "items": inner,
                "properties": st.dictionaries(names, inner, max_size=2),
                "anyOf": st.lists(inner, max_size=2),
            },
        ),
    ),
    max_leaves=4,
)


@pytest.mark.parametrize("odd", [math.inf, -math.inf, math.nan, 10**400])
@pytest.mark.parametrize("word", ["const", "default", "maximum"])
def test_a_number_that_json_cannot_hold_is_kept_as_what_is_read_back(word: str, odd: float) -> None:
    builder = CatalogBuilder("openai")
    schema: Any = {"type": "object", "properties": {"size": {"type": "number", word: odd}}}
    tool = builder.put(ToolDraft("tools.py#/0", "all", "resize", "Resizes.", schema))
    assert builder.problems if tool is None else Tool.kept(tool.key, tool.model_dump_json()) == tool


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(names, schemas, max_size=3), names, st.text(max_size=20), st.integers(0, 99))
def test_whatever_a_document_states_is_kept_or_told(
    properties: dict[str, Schema], name: str, description: str, seed: int
) -> None:
    builder = CatalogBuilder("openai")
    parameters: Any = {"type": "object", "properties": properties, "required": list(properties)[:1]}
    tool = builder.put(ToolDraft("tools.json#/0", "all", name, description, parameters, parameters))
    if tool is None:
        assert builder.problems
        return
    assert Tool.kept(tool.key, tool.model_dump_json()) == tool
    assert isinstance(check_catalog([tool]), list)
    for one, schema in tool.properties.items():
        entity_of(one, schema)
        assert titles_of(one, str(schema.get("description") or ""))
        for make in (make_value, make_plain):
            try:
                value = make(one, schema, "en", Random(seed))
            except ReplyError:
                continue
            assert Call(tool=tool.name, arguments={one: value}).key
    try:
        fill_in(list(tool.properties), dict(tool.properties), "en", Random(seed))
    except ReplyError:
        return
