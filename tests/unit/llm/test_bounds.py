"""Replies past a bound: an error with its reason, before anything recursive or quadratic sees
them.
"""

import pytest

from callwright.llm.answers import DEEPEST, LONGEST, depth_of, validate_calls, validate_text
from callwright.llm.chat import RawReply
from callwright.llm.wire_format import WireCall, read_calls
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Call


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return {"a": value}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 600 + "]" * 600, "nested more than 100 deep"),
        ("[" * 1_200, "nested more than 100 deep"),
        ('{"a":' * 1_200 + "1" + "}" * 1_200, "nested more than 100 deep"),
        ("f(" * 1_200, "nested more than 100 deep"),
        ("It is " + "9" * 5_000, "number of more than 100 digits"),
        ('{"text": "' + "9" * 320 + '"}', "number of more than 100 digits"),
        ('{"arguments": {"code": 9400111899223100000000}}', "beyond 64 bits"),
        ("a" * (LONGEST + 1), "characters"),
    ],
)
def test_what_is_past_a_bound_is_said(text, reason):
    with pytest.raises(ReplyError, match=reason):
        validate_text(text)


@pytest.mark.parametrize(
    "text",
    [
        (
            '{"code": "9400111899223100000000", "n": 18446744073709551615, "x":'
            " 1.2345678901234567890123}"
        ),
        "Track 9400111899223100000000 :( :( please",
        '{"text": "' + "[" * 300 + '"}',
        "",
    ],
)
def test_what_is_within_the_bounds_passes(text):
    validate_text(text)
    assert depth_of(text) <= DEEPEST
    assert len(text) <= LONGEST


@pytest.mark.parametrize(
    "arguments", [nested(252), {"n": 9400111899223100000000}, {"s": "9" * 400}]
)
def test_native_calls_are_bounded_too(arguments):
    call = Call.model_construct(tool="f", arguments=arguments)
    with pytest.raises(ReplyError):
        validate_calls([call])


@pytest.mark.parametrize(
    "text", ['{"a":' + "[" * 900 + "]" * 900 + "}", '{"a": 9400111899223100000000}']
)
def test_arguments_past_a_bound_are_text_that_no_call_is_read_from(text):
    assert read_calls([WireCall("f", text)]) is None


@pytest.mark.parametrize("text", ["[" * 600 + "]" * 600, '{"a": ' + "9" * 5_000 + "}"])
async def test_a_reply_past_a_bound_is_kept_and_ends_nothing(chat_with, scripted, prompt, text):
    chat = chat_with(scripted(*[RawReply(text)] * 2))
    for _ in range(2):  # the second time from the ledger
        with pytest.raises(ReplyError):
            await chat.complete(prompt)
