"""The model as judge of two ways to go on: a choice that only stands in a result was made by
nobody.
"""

import json
from typing import Any

import pytest

from callwright.llm.template.judging import settle
from callwright.llm.template.sections import Sections

TOOL: dict[str, Any] = {
    "name": "update_parcel",
    "description": "Change a parcel.",
    "parameters": {
        "type": "object",
        "properties": {
            "parcel_id": {"type": "string"},
            "service": {"type": "string", "enum": ["standard", "express"]},
        },
        "required": ["parcel_id"],
    },
}
TALK = 'user: Change parcel w8.\nresult: {"id": "w8", "service": "standard"}'
PLAIN = [{"tool": "update_parcel", "arguments": {"parcel_id": "w8"}}]
MORE = [{"tool": "update_parcel", "arguments": {"parcel_id": "w8", "service": "standard"}}]


@pytest.mark.parametrize(
    ("talk", "right"), [(TALK, "first"), (f"{TALK}\nuser: By standard service.", "second")]
)
def test_a_choice_that_only_stands_in_a_result_was_made_by_nobody(talk: str, right: str) -> None:
    shown = {"tools": [TOOL], "first": PLAIN, "second": MORE}
    sections = Sections({name: json.dumps(value) for name, value in shown.items()}, talk)
    assert settle(sections)["right"] == right
