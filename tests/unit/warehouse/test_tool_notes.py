"""Tests of the notes at the end of descriptions, which no agent sees."""

from callwright.warehouse.tool_notes import ToolNote, notes_in, without_notes

LISTED = ToolNote("list_orders", "data", "id")
OWN = ToolNote("get_cart", "", "order.id", listed=False)


def test_a_description_is_read_as_its_notes() -> None:
    assert [*notes_in(f"Id of the order. {LISTED} {OWN}")] == [LISTED, OWN]
    assert without_notes(f"Id of the order. {LISTED} {OWN}") == "Id of the order."
