"""Tests of the notes at the end of descriptions, which no agent sees."""

from callwright.warehouse.records import Tool
from callwright.warehouse.tool_notes import ToolNote, notes_in, without_notes

LISTED = ToolNote("list_orders", "data", "id")
OWN = ToolNote("get_cart", "", "order.id", listed=False)


def test_a_description_is_read_as_its_notes() -> None:
    assert [*notes_in(f"Id of the order. {LISTED} {OWN}")] == [LISTED, OWN]


def test_a_tool_without_notes_is_described_as_in_its_document() -> None:
    def tool_of(*notes: str) -> Tool:
        own = " ".join(("Id of an order (`id`).", *notes))
        one = {"type": "object", "properties": {"id": {"type": "string", "description": own}}}
        bare = {"type": "string", "description": " ".join(notes)} if notes else {"type": "string"}
        properties = {"id": {"type": "string", "description": own}, "bare": bare}
        properties |= {"deep": {"type": "array", "items": one}, "description": {"type": "string"}}
        properties |= {"fixed": {"const": {"description": str(LISTED)}, "description": ""}}
        parameters = {"type": "object", "properties": properties}
        return Tool(name="pay", description="Pays.", parameters=parameters, category="Orders")

    assert without_notes(tool_of(str(LISTED), str(OWN))) == tool_of()
    assert without_notes(tool_of()) == tool_of()
