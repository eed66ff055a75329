"""Reading replies as calls."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.llm.chat import Completion
from callwright.validators.replies.reading import parse_completion, parse_reply
from callwright.warehouse.records import Call

CALL = {"name": "book_table", "arguments": {"restaurant": "Lindenhof", "party_size": 4, "tags": ["a]", "b"]}}
EXPECTED = [("book_table", CALL["arguments"])]
STYLES = ["lenient", "default", "mistral", "xlam", "toolace"]
PIECES = ['{"name"', '"a"', ":", "{", "}", "[", "]", "(", ")", "=", "```json", "```", "\n", ",", "x", "-", "1e999", "'"]
PIECES += ["[TOOL_CALLS][", '"tool_calls": [', '"arguments"', '"parameters"', "**", "\\ud800", "9" * 30, "NaN", "\x00"]


@pytest.mark.parametrize("style", STYLES)
@given(text=st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=14).map("".join)))
def test_no_reply_breaks_a_parser(text: str, style) -> None:
    parsed = parse_reply(text, style)
    assert (parsed.calls is None) == bool(parsed.problem)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("text", ["[" * 50_000, "(" * 50_000, "-" * 90_000, '{"name": ' * 9_000, "f(" * 9_000])
def test_deep_nesting_is_refused_not_followed(text: str, style) -> None:
    assert not parse_reply(text, style).calls


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CALL),
        f"```json\n{json.dumps(CALL, indent=2)}\n```",
        f"```\n{json.dumps(CALL)}\n```",
        f"I would call this: {json.dumps(CALL)} Anything else?",
        json.dumps([CALL]),
        json.dumps({"tool_calls": [{"type": "function", "function": CALL}]}),
        json.dumps({"name": "book_table", "arguments": json.dumps(CALL["arguments"])}),
        json.dumps({"name": "book_table", "parameters": CALL["arguments"]}),
        f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>",
        f"[TOOL_CALLS][{json.dumps(CALL)}]",
    ],
)
def test_a_call_is_found_however_it_is_wrapped(text: str) -> None:
    assert [tuple(call) for call in parse_reply(text, "lenient").calls or ()] == EXPECTED


@given(
    names=st.lists(st.text(min_size=1, alphabet="abc_."), min_size=1, max_size=3),
    arguments=st.dictionaries(
        st.text(max_size=4), st.one_of(st.integers(-9, 9), st.text(max_size=9), st.none()), max_size=3
    ),
)
def test_what_is_written_as_json_is_read_back(names: list[str], arguments: dict) -> None:
    written = [{"name": name, "arguments": arguments} for name in names]
    parsed = parse_reply("Here: " + "\n".join(map(json.dumps, written)), "lenient")
    assert [tuple(call) for call in parsed.calls or ()] == [(name, arguments) for name in names]


@pytest.mark.parametrize(
    "text", ["Sorry, none of my tools can do this.", "抱歉，没有合适的工具。", "Set {1, 2}?", "[none]"]
)
def test_a_refusal_makes_no_call(text: str) -> None:
    assert parse_reply(text, "lenient") == ((), "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("  ", "empty"),
        ('{"name": "book_table", "arguments": {"city": ', "not valid JSON"),
        ('{"name": "", "arguments": {}}', "no tool's name"),
        ('{"name": 3, "arguments": {}}', "no tool's name"),
        ("x" * 100_001, "100001 characters"),
    ],
)
def test_a_reply_that_breaks_off_can_not_be_read(text: str, problem: str) -> None:
    parsed = parse_reply(text, "lenient")
    assert parsed.calls is None
    assert problem in parsed.problem


def test_numbers_that_no_store_takes_are_not_read() -> None:
    assert parse_reply('{"name": "f", "arguments": {"n": NaN}}', "lenient").calls is None


def test_native_calls_come_first_and_silence_is_no_call() -> None:
    native = Completion("thinking", (Call(tool="book_table", arguments={"party_size": 4}),))
    assert parse_completion(native).calls == (("book_table", {"party_size": 4}),)
    assert parse_completion(Completion("", ())).calls == ()
    assert parse_completion(Completion(json.dumps(CALL), None)).calls == tuple(EXPECTED)
    assert parse_completion(Completion("", None)).calls is None


def test_unsaid_values_are_dropped() -> None:
    text = '{"name": "f", "parameters": {"a": "", "b": "\\\\", "c": "x"}}'
    assert parse_reply(text, "default").calls == (("f", {"c": "x"}),)


def test_parallel_calls_on_lines_leave_the_last_one() -> None:
    lines = '```json\n{"name": "f"}\n{"name": "g"}\n```'
    assert parse_reply(lines, "default").calls == (("g", {}),)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (
            "[f(a='x', n=-2, t=true, l=['y', 1.5], d={'k': None})]",
            (("f", {"a": "x", "n": -2, "t": "true", "l": ["y", 1.5], "d": {"k": None}}),),
        ),
        ('[Food.Tables.book(city="Bergen"), g()]', (("Food.Tables.book", {"city": "Bergen"}), ("g", {}))),
        ("[f('positional', a=1)]", (("f", {"a": 1}),)),
    ],
)
def test_python_calls_are_read_and_not_run(text: str, calls: tuple) -> None:
    assert parse_reply(text, "toolace").calls == calls


@pytest.mark.parametrize(
    "text",
    [
        "[f(a=__import__('os').getpid())]",
        "[f(a=1+1)]",
        "[f(a=g())]",
        "f",
        "[f(a={**b})]",
        "[f()(a=1)]",
        "[(lambda: 1)()]",
        "[f(a={1: 2})]",
        "[f(a=lambda: 1)]",
        "[f(a=b'x')]",
    ],
)
def test_python_that_is_no_plain_call_is_refused(text: str) -> None:
    parsed = parse_reply(text, "toolace")
    assert parsed.calls is None
    assert parsed.problem.startswith("The reply is not a list of calls")


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("mistral", '[TOOL_CALLS][{"name": "f", "arguments": {"l": ["x"]}}]'),
        ("mistral", '{"name": "f"}'),
        ("xlam", "[]"),
    ],
)
def test_what_the_published_parsers_can_not_read_stays_unread(style, text: str) -> None:
    assert parse_reply(text, style).calls is None


def test_xlam_objects_are_read() -> None:
    text = '{"tool_calls": [{"name": "f", "arguments": {"a": "x"}}]}'
    assert parse_reply(text, "xlam").calls == (("f", {"a": "x"}),)
