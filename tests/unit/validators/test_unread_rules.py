"""Rules of a document that nothing reads: a sample that they may concern is left to readers."""

from callwright.testing import make_sample, make_tool, run_check
from callwright.validators.checks.unread_rules import check_unread_rules
from callwright.warehouse.records import JsonSchema

TEXT: JsonSchema = {"type": "string"}
SENTENCE = "This endpoint requires either file_ids or file_urls, but not both"
UPLOAD = make_tool("send_note", "Send a note.", title="string").with_changes(
    parameters={
        "type": "object",
        "properties": {
            "title": TEXT,
            "file_ids": {**TEXT, "description": f"Files. {SENTENCE}."},
            "file_urls": {**TEXT, "description": f"Addresses. {SENTENCE}."},
        },
        "required": ["title"],
    },
    plumbing=("file_ids",),
)


def test_a_call_that_an_unread_rule_may_forbid_is_doubted_once_with_the_sentence() -> None:
    sample = make_sample([UPLOAD], "Send the note Plans.", {"send_note": {"title": "Plans"}})
    verdict = run_check(check_unread_rules, sample, [UPLOAD])
    assert verdict.decision == "unproved"
    assert [(one.kind, one.other) for one in verdict.doubts] == [("unread_rule", SENTENCE)]
    assert SENTENCE in verdict.reason


def test_a_call_of_which_no_rule_speaks_is_proved() -> None:
    arguments = {"title": "Plans", "file_urls": "a.pdf"}
    sample = make_sample([UPLOAD], "Send the note Plans with a.pdf.", {"send_note": arguments})
    assert run_check(check_unread_rules, sample, [UPLOAD]).decision == "proved"


def test_a_call_that_lacks_what_is_required_is_not_held_to_what_it_lacks() -> None:
    sample = make_sample([UPLOAD], "Send a note.", {"send_note": {}}, kind="imperfect")
    assert run_check(check_unread_rules, sample, [UPLOAD]).decision == "proved"
