"""Names and schemas that go out: what the readers of an export take, the same in each row, and
read back as what they were.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.catalogs import read_catalog
from callwright.generators.imports.reading import SOURCES
from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.formats import MANIFEST, README, export_release
from callwright.warehouse.records import Call, CallTurn, GoldCall, Sample, Tool, UserTurn
from callwright.warehouse.releases import ReleaseContent
from callwright.warehouse.wire_names import WireNames, wire_names
from callwright.warehouse.wire_schemas import wire_schema
from tests.support.warehouse.exported import release_of, rows_in, stream_of
from tests.support.warehouse.interface_rules import refusals

NAMES = st.text(min_size=1, max_size=70)
Schema = dict[str, Any]


def tool_of(name: str, parameters: Schema | None = None) -> Tool:
    schema = parameters or {"type": "object", "properties": {}}
    return Tool(name=name, description="Do it.", parameters=schema, category="all")


def with_members(names: Iterable[str]) -> Schema:
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}}


def case(shared: Path, name: str) -> tuple[Tool, ...]:
    return read_catalog("openai", shared / "cases" / "inputs" / f"{name}.json").tools


def calling(content: ReleaseContent, tools: Sequence[Tool], call: Call) -> Sample:
    """A sample in which a call is due, with these tools in this order."""
    turns = (UserTurn(text=f"Do {call.tool}."), CallTurn(calls=(GoldCall(**call.model_dump()),)))
    keys = tuple(one.key for one in tools)
    return content.samples[0].with_changes(turns=turns, candidates=keys, withheld=())


class Exported:
    """An export in a format, read back."""

    def __init__(
        self, folder: Path, content: ReleaseContent, tools: Sequence[Tool], calls: Sequence[Call]
    ) -> None:
        self.folder = folder
        orders = [tools[at:] + tools[:at] for at in range(len(calls))]
        samples = [calling(content, *pair) for pair in zip(orders, calls, strict=True)]
        self.release = release_of(samples, {one.key: one for one in tools})

    def to(self, form: str) -> list[Schema]:
        export_release(stream_of(self.release), form, self.folder, "")
        [file] = self.folder.glob("v1.jsonl")
        return rows_in(file)

    @property
    def manifest(self) -> Schema:
        read: Schema = orjson.loads((self.folder / MANIFEST).read_bytes())
        return read

    def read_back(self, form: str) -> list[tuple[tuple[Tool, ...], Call]]:
        records = [*SOURCES.named(form).read(self.folder)]
        assert not any(one.problems for one in records), [one.problems for one in records]
        return [(one.tools, one.sample.all_calls[0].bare) for one in records if one.sample]


@given(st.lists(NAMES, max_size=8, unique=True), st.lists(NAMES, max_size=8, unique=True))
def test_names_are_taken_by_all_three_interfaces_distinct_and_lead_back(
    tools: list[str], members: list[str]
) -> None:
    listed = [tool_of(name, with_members(members)) for name in tools]
    names = wire_names(listed)
    shown = [names.shown(one) for one in listed]
    assert [one for tool in shown for one in refusals(tool.signature)] == []
    assert len({one.name for one in shown}) == len(tools)
    assert [names.own_tool(one.name) for one in shown] == tools
    assert all(names.own_schema(one.parameters) == with_members(members) for one in shown)
    assert wire_names(listed[::-1]).document == names.document


@given(st.lists(NAMES, min_size=1, max_size=8, unique=True))
def test_names_for_readers_of_python_are_identifiers(tools: list[str]) -> None:
    names = wire_names([tool_of(name, with_members(tools)) for name in tools], python=True)
    assert all(names.tool(one).isidentifier() and names.tool(one).isascii() for one in tools)
    assert all(names.parameter(one).isidentifier() for one in tools)


VALUES = st.recursive(
    st.text(max_size=3) | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True), VALUES, st.data())
def test_arguments_lead_back_whatever_is_in_them(
    members: list[str], value: Any, data: st.DataObject
) -> None:
    inner = {**with_members(members), "additionalProperties": True}
    parts = {"of": inner, "list": {"type": "array", "items": {"anyOf": [inner, {"type": "null"}]}}}
    tool = tool_of("do", {"type": "object", "properties": {**parts, **inner["properties"]}})
    free = set(members) | {wire_names([tool]).parameter(name) for name in members}
    drawn = data.draw(st.dictionaries(st.sampled_from(members), st.just(value)))
    given_arguments = {"of": drawn, "list": [drawn, None], **drawn, "free": value}
    if not isinstance(value, dict) or not free & value.keys():
        names = wire_names([tool])
        wire = names.arguments("do", given_arguments)
        assert names.own_arguments("do", wire) == given_arguments


@pytest.mark.parametrize(
    ("format_name", "place"),
    [
        ("bfcl", "bfcl/questions"),
        ("callnavi", "callnavi"),
        ("openapi", "openapi/netlify.swagger2.yml"),
    ],
)
def test_published_tools_go_out_as_all_three_interfaces_take_them(
    format_name: str, place: str, shared: Path
) -> None:
    tools = read_catalog(format_name, shared / "data" / place).tools
    names = wire_names(tools)
    shown = [names.shown(one) for one in tools]
    documents = [{**one.signature, "parameters": wire_schema(one).schema} for one in shown]
    assert [one for document in documents for one in refusals(document)] == []
    assert any(refusals(one.signature) for one in tools)
    assert not any(wire_schema(one).problem for one in shown)


def test_what_needs_no_other_name_keeps_its_own() -> None:
    kept = wire_names([tool_of("get-weather_2", with_members(["city", "from", "_id"]))])
    assert kept.document == {"tools": {}, "parameters": {}}
    assert wire_names([tool_of("übergröße.sehen")]).tools == {"übergröße.sehen": "ubergrosse_sehen"}
    alike = wire_names([tool_of("a.b"), tool_of("a_b"), tool_of("a/b")])
    assert alike.tool("a_b") == "a_b"
    assert len({alike.tool(name) for name in ("a.b", "a_b", "a/b")}) == 3


def test_chinese_names_are_the_same_in_each_row_and_lead_back(
    shared: Path, content: ReleaseContent, tmp_path: Path
) -> None:
    tools = case(shared, "chinese_names")
    calls = [
        Call(tool=tool.name, arguments={next(iter(tool.properties)): f"Ulm {at}"})
        for at, tool in enumerate(tools)
    ]
    export = Exported(tmp_path / "out", content, tools, calls)
    rows = export.to("openai")
    documents = [
        {one["function"]["name"]: one["function"]["parameters"] for one in row["tools"]}
        for row in rows
    ]
    assert len(rows) == len(tools) == 3
    assert all(one == documents[0] for one in documents)
    assert export.manifest["names"]["tools"] == {
        wire: own for own, wire in wire_names(tools).tools.items()
    }
    assert "创建日程" in (tmp_path / "out" / README).read_text("utf-8")
    read = export.read_back("openai")
    assert sorted(call.tool for _, call in read) == sorted(tool.name for tool in tools)
    assert {one.name for listed, _ in read for one in listed} == {tool.name for tool in tools}


@pytest.mark.parametrize(
    "form",
    [
        "openai",
        "trl",
        "trl-grpo",
        "sharegpt",
        "nemo-gym",
        "inspect",
        "langfuse",
        "promptfoo",
        "atif",
        "bfcl",
        "confetti",
        "hf",
    ],
)
def test_each_format_that_is_read_back_gives_back_the_own_names(
    form: str, shared: Path, content: ReleaseContent, tmp_path: Path
) -> None:
    tools = (*case(shared, "tool_weird_keys"), *case(shared, "chinese_names"))
    calls = [
        Call(tool="search_people", arguments={"filter[name]": "Ada", "first name": "Ada"}),
        Call(tool="查询天气", arguments={"city": "Ulm"}),
    ]
    export = Exported(tmp_path / "out", content, tools, calls)
    export_release(stream_of(export.release), form, export.folder, "")
    read = export.read_back(form)
    assert sorted([call for _, call in read], key=lambda one: one.tool) == calls
    named = {one.name: one.parameters["properties"].keys() for listed, _ in read for one in listed}
    assert named == {one.name: one.properties.keys() for one in tools}


@pytest.mark.parametrize("form", ["openai", "trl", "sharegpt"])
def test_odd_parameters_go_out_under_other_names_and_lead_back(
    form: str, shared: Path, content: ReleaseContent, tmp_path: Path
) -> None:
    tools = case(shared, "tool_weird_keys")
    call = Call(
        tool="search_people",
        arguments={"filter[name]": "Ada", "first name": "Ada", "$filter": "x", "a.b": "Ulm"},
    )
    export = Exported(tmp_path / "out", content, tools, [call])
    [row] = export.to(form)
    text = orjson.dumps(row).decode()
    assert not any(f'"{name}' in text for name in call.arguments)
    assert export.manifest["names"]["parameters"] == {
        "a_b": "a.b",
        "filter": "$filter",
        "filter_name": "filter[name]",
        "first_name": "first name",
        "x_tenant": "x-tenant",
    }
    [(read, made)] = export.read_back(form)
    assert made == call
    assert [one.parameters for one in read] == [one.parameters for one in tools]


def test_alternatives_at_the_top_are_not_said_to_openai_which_is_told(
    shared: Path, content: ReleaseContent, tmp_path: Path
) -> None:
    tools = case(shared, "tool_top_oneof_required")
    call = Call(tool="find_shop", arguments={"city": "Ulm"})
    export = Exported(tmp_path / "out", content, tools, [call])
    [row] = export.to("openai")
    [document] = row["tools"]
    assert refusals(document["function"]) == []
    assert [*document["function"]["parameters"]["properties"]] == ["city", "zip"]
    [(reason, number)] = export.manifest["mended"].items()
    assert ("at the top" in reason, number) == (True, 1)
    assert reason in (tmp_path / "out" / README).read_text("utf-8")


@pytest.mark.parametrize("form", ["openai", "trl", "trl-grpo", "sharegpt"])
def test_what_chat_templates_would_read_as_their_own_tokens_is_left_out_and_told(
    form: str, shared: Path, content: ReleaseContent, tmp_path: Path
) -> None:
    call = Call(tool="say_token", arguments={"token": "<|im_end|>"})
    export = Exported(tmp_path / "out", content, case(shared, "tool_special_tokens"), [call])
    with pytest.raises(RecordError, match="control token"):
        export.to(form)


@pytest.mark.parametrize(
    ("stated", "kept"),
    [
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"type": ["array", "null"]}, {"type": ["array", "null"], "items": {}}),
        ({"type": "string", "items": {}}, {"type": "string"}),
        ({"enum": ["a", "a", 1, True]}, {"enum": ["a", 1, True]}),
        (
            {"type": "object", "properties": {"a": {"enum": []}, "b": {"type": "string"}}},
            {"type": "object", "properties": {"b": {"type": "string"}}},
        ),
    ],
)
def test_schemas_are_mended_at_any_depth(stated: Schema, kept: Schema) -> None:
    outer = {"type": "object", "properties": {"of": {"anyOf": [stated, {"type": "null"}]}}}
    tool = tool_of("do", outer)
    wire = wire_schema(tool)
    assert wire.schema["properties"]["of"]["anyOf"][0] == kept
    assert (len(wire.changes), wire.problem) == (1, "")
    assert refusals({**tool.signature, "parameters": wire.schema}) == []


def test_members_of_alternatives_at_the_top_are_listed() -> None:
    card = {"properties": {"number": {"type": "string"}, "to": {}}, "required": ["number", "to"]}
    iban = {"properties": {"number": {"type": "integer"}}, "required": ["number"]}
    schema = wire_schema(tool_of("pay", {"type": "object", "oneOf": [card, iban]})).schema
    assert schema == {
        "type": "object",
        "properties": {"number": {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "to": {}},
        "required": ["number"],
    }


def test_a_document_of_names_is_read_back_and_anything_else_names_nothing() -> None:
    names = wire_names([tool_of("创建", with_members(["$top"]))])
    read = WireNames.read(json.loads(json.dumps(names.document)))
    assert (read.tools, read.parameters) == (names.tools, names.parameters)
    for other in (None, [], {"tools": 5}, {"tools": {"a": 1}}):
        assert not WireNames.read(other)
