"""Sentences that rule a call and fit no shape: which there are, and of which calls they speak."""

from typing import Any

import pytest

from callwright.language.calls.prose_rules import read_rules
from callwright.language.calls.unread_rules import UnreadRule
from callwright.warehouse.records import JsonSchema

TEXT: JsonSchema = {"type": "string"}
FLAG: JsonSchema = {"type": "boolean"}
MEMBERS: dict[str, JsonSchema] = {
    "title": TEXT,
    "file_ids": {"type": "array", "items": TEXT},
    "file_urls": {"type": "array", "items": TEXT},
    "from_day": TEXT,
    "to_day": TEXT,
    "kind": {"type": "string", "enum": ["note", "bill"]},
    "test_mode": FLAG,
}


def unread_of(sentence: str, about: str = "", **required: JsonSchema) -> tuple[UnreadRule, ...]:
    """Return the unread rules of a sentence about the tool, or about one of its parameters."""
    properties = {**MEMBERS, **required}
    if about:
        properties[about] = {**properties[about], "description": sentence}
    parameters = {"type": "object", "properties": properties, "required": [*required]}
    return read_rules("" if about else sentence, parameters).open


def speaks(sentence: str, about: str, *, is_whole: bool = True, **given: Any) -> bool:
    return any(one.speaks_of(given, is_whole=is_whole) for one in unread_of(sentence, about))


@pytest.mark.parametrize(
    ("about", "sentence", "kept", "broken"),
    [
        ("file_ids", "This endpoint requires either file_ids or file_urls, but not both.", {"file_ids": ["a"]}, {"title": "x"}),
        ("file_ids", "Required unless file_urls is used, you may not use both.", {"file_urls": ["a"]}, {"title": "x"}),
        ("", "To know which one it is, you have to specify either file_ids or file_urls, not both.", {"file_urls": ["a"]}, {"file_ids": ["a"], "file_urls": ["b"]}),
        ("title", "Required when the file_ids is not passed or it is null.", {"file_ids": ["a"]}, {"kind": "bill"}),
        ("title", "Use either this field or file_urls.", {"title": "x"}, {"title": "x", "file_urls": ["a"]}),
        ("from_day", "Both the from_day and the to_day must be present.", {"from_day": "1", "to_day": "2"}, {"from_day": "1"}),
        ("from_day", "The first day in MM/DD/YYYY format.", {"from_day": "05/31/2027"}, {"from_day": "2027-05-31"}),
        ("title", "The place in the format of 'City, State'.", {"title": "Boston, MA"}, {"title": "Boston"}),
        ("title", "The name of the shelf in `owner/name` format.", {"title": "ben/atlas"}, {"title": "atlas"}),
        ("from_day", "Updatable only when the order is packed, otherwise it will fail.", {"title": "x"}, {"from_day": "1"}),
        ("title", "Must reference the label of a drawer.", {"kind": "note"}, {"title": "x"}),
        ("title", "Can only be one of these account names.", {"kind": "note"}, {"title": "x"}),
        ("", "The from_day must not be more than 10 years in the past.", {"title": "x"}, {"from_day": "1"}),
    ],
)  # fmt: skip
def test_a_sentence_speaks_of_calls_that_may_break_it(
    about: str, sentence: str, kept: dict[str, Any], broken: dict[str, Any]
) -> None:
    assert not speaks(sentence, about, **kept)
    assert speaks(sentence, about, **broken)


def test_a_replaced_tool_is_doubted_in_every_call() -> None:
    [rule] = unread_of("This endpoint is deprecated in favor of rows.")
    assert rule.speaks_of({}, is_whole=False)


def test_what_a_call_lacks_is_no_fault_while_more_is_to_be_said() -> None:
    sentence = "This endpoint requires either file_ids or file_urls, but not both."
    assert not speaks(sentence, "file_ids", is_whole=False, title="x")
    assert speaks(sentence, "file_ids", is_whole=False, file_ids=["a"], file_urls=["b"])


@pytest.mark.parametrize(
    ("about", "sentence"),
    [
        ("", "Requires the scope files:write."),
        ("", "You must have the permission to read files."),
        ("", "You may send at most 100 requests per minute."),
        ("", "The response must be read before the next call."),
        ("", "Only the fields you provide will be updated."),
        ("title", "The title that should be shown to readers."),
        ("title", "Must be unique."),
        ("title", "Only available on the Premium plan and higher."),
        ("to_day", "Must be after `from_day`."),
        ("file_ids", "Required when a role exists for the template."),
        ("title", "It can be useful for storing notes in a structured format."),
        ("", "If test_mode is not set, a page is added where all readers will be required to sign."),
        ("title", "The maximum length must not exceed 20 characters."),
    ],
)  # fmt: skip
def test_sentences_about_something_else_are_no_rules_of_a_call(about: str, sentence: str) -> None:
    assert unread_of(sentence, about) == ()


def test_what_the_schema_says_too_is_no_unread_rule() -> None:
    assert unread_of("Must be one of the kinds: `note` or `bill`.", "kind") == ()
    day: JsonSchema = {**TEXT, "format": "date", "description": "A day in YYYY-MM-DD format."}
    assert unread_of("Plan it.", day=day) == ()


def test_rules_of_members_speak_of_the_objects_within() -> None:
    place: JsonSchema = {
        "type": "object",
        "properties": {"label_id": {**TEXT, "description": "Must match the label of a drawer."}},
    }
    [rule] = unread_of("Send it.", places={"type": "array", "items": place})
    assert rule.about == "places.label_id"
    assert rule.speaks_of({"places": [{}, {"label_id": "a"}]}, is_whole=True)
    assert not rule.speaks_of({"places": [{}]}, is_whole=True)
