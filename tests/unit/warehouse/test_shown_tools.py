"""Tools as those see them who answer, read or learn: without examples, and without notes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from callwright.generators.catalogs import read_catalog
from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.generators.own_values import NO_VALUES
from callwright.generators.transcripts import shown_tools
from callwright.language.calls.parameters import stated_choices
from callwright.language.schemas import choices_of, kind_of
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.exports.writing import tool_document
from callwright.warehouse.records import JsonSchema, Tool
from callwright.warehouse.shown_tools import as_shown, without_examples
from callwright.warehouse.tool_notes import ToolNote

LISTED = ToolNote("list_orders", "data", "id")
OWN = ToolNote("get_cart", "", "order.id", listed=False)


def tool_of(**properties: JsonSchema) -> Tool:
    parameters = {"type": "object", "properties": properties}
    return Tool(name="pay", description="Pays.", parameters=parameters, category="Orders")


def shown(schema: JsonSchema) -> JsonSchema:
    return as_shown(tool_of(one=schema)).properties["one"]


def test_a_tool_without_notes_is_described_as_in_its_document() -> None:
    def noted(*notes: str) -> Tool:
        own = " ".join(("Id of an order (`id`).", *notes))
        one = {"type": "object", "properties": {"id": {"type": "string", "description": own}}}
        bare = {"type": "string", "description": " ".join(notes)} if notes else {"type": "string"}
        return tool_of(
            id={"type": "string", "description": own},
            bare=bare,
            deep={"type": "array", "items": one},
            description={"type": "string", "description": own},
            fixed={"const": {"description": str(LISTED)}, "description": ""},
        )

    assert as_shown(noted(str(LISTED), str(OWN))) == noted()
    assert as_shown(noted()) == noted()
    assert without_examples(noted(str(LISTED))) == noted(str(LISTED))


def test_examples_are_not_shown_wherever_a_schema_has_them() -> None:
    flower = {"type": "string", "examples": ["rose", "tulip"], "example": "lily"}
    bare = {"type": "string"}
    assert shown(flower) == bare
    assert shown({"type": "array", "items": flower}) == {"type": "array", "items": bare}
    assert shown({"anyOf": [flower, {"type": "null"}]}) == {"anyOf": [bare, {"type": "null"}]}
    assert shown({"type": "object", "properties": {"examples": flower}}) == {
        "type": "object",
        "properties": {"examples": bare},
    }
    assert shown({"type": "integer", "examples": [4711]}) == {"type": "integer"}


def test_what_is_returned_has_no_examples_either() -> None:
    returns = {"type": "object", "properties": {"ship": {"type": "string", "examples": ["Comet"]}}}
    tool = tool_of().with_changes(returns=returns)
    assert as_shown(tool).returns == {"type": "object", "properties": {"ship": {"type": "string"}}}


def test_what_the_document_fixes_stays() -> None:
    fixed = {"type": "string", "enum": ["rose", "tulip"], "default": "rose"}
    assert shown(fixed) == fixed
    assert shown({"const": {"examples": ["rose"]}}) == {"const": {"examples": ["rose"]}}


@pytest.mark.parametrize(
    ("examples", "form"),
    [
        (["QX417", "AB123"], ["QX000"]),
        (["31/12/2026"], ["00/00/0000"]),
        (["+14155552671"], ["+00000000000"]),
        (["the one", "R-5521-c"], ["R-0000-c"]),
        (["12 Main Street 4711"], None),
        (["M8"], None),
        (["EUR"], None),
    ],
)
def test_of_a_code_its_form_is_shown(examples: list[str], form: list[str] | None) -> None:
    assert shown({"type": "string", "examples": examples}).get("examples") == form
    assert "examples" not in shown({"format": "date", "type": "string", "examples": examples})


def free_texts(tool: Tool) -> Iterator[str]:
    """Draw a value for each parameter, as planners do, and yield the texts that are no choices."""
    rng = Random(tool.key)
    for name in tool.choosable:
        try:
            value = NO_VALUES.fill(tool, [name], tool.language, rng)[name]
        except ReplyError:
            continue
        schema = tool.properties[name]
        inner = schema.get("items", {}) if isinstance(value, list) else schema
        for one in value if isinstance(value, list) else [value]:
            is_chosen = choices_of(inner) or stated_choices({**schema, **inner})
            if isinstance(one, str) and kind_of(inner) == "text" and not is_chosen:
                yield one


def given_away(tools: list[Tool]) -> tuple[int, list[str]]:
    """Return how many free texts are drawn, and those that stand in what is shown of the tool."""
    count, found = 0, list[str]()
    for tool in tools:
        texts = [*free_texts(tool)]
        count += len(texts)
        views = (tool_document(tool), *shown_tools([tool]))
        whole = json.dumps(views, ensure_ascii=False).casefold()
        found += [
            text
            for text in texts
            if re.search(rf"(?<!\w){re.escape(text.casefold())}(?!\w)", whole)
        ]
    return count, found


@pytest.mark.parametrize(("language", "least"), [("en", 200), ("zh", 200), ("es", 50)])
def test_no_free_text_of_a_call_stands_in_what_is_shown(language: str, least: int) -> None:
    count, found = given_away(seed_tools([language]))
    assert count >= least
    assert found == []


@pytest.mark.parametrize("name", ["netlify.swagger2.yml", "slack.swagger2.json"])
def test_no_free_text_stands_in_what_is_shown_of_a_foreign_document(
    shared: Path, name: str
) -> None:
    count, found = given_away([*read_catalog("openapi", shared / "data" / "openapi" / name).tools])
    assert count >= 200
    assert found == []
