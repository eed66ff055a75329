"""Reading replies as calls."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.flows.evaluation.predictions import parse_completion
from callwright.llm.chat import Completion
from callwright.validators.metrics.hammerbench.scores import parse_reply
from callwright.warehouse.records import Call, Tool
from callwright.warehouse.wire_names import wire_names

CALL = {
    "name": "book_table",
    "arguments": {"restaurant": "Lindenhof", "party_size": 4, "tags": ["a]", "b"]},
}
EXPECTED = [("book_table", CALL["arguments"])]
STYLES = ["lenient", "default", "mistral", "xlam", "toolace"]
PIECES = [
    '{"name"',
    '"a"',
    ":",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "=",
    "```json",
    "```",
    "\n",
    ",",
    "x",
    "-",
    "1e999",
    "'",
]
PIECES += [
    "[TOOL_CALLS][",
    '"tool_calls": [',
    '"arguments"',
    '"parameters"',
    "**",
    "\\ud800",
    "9" * 30,
    "NaN",
    "\x00",
]


@pytest.mark.parametrize("style", STYLES)
@given(text=st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=14).map("".join)))
def test_no_reply_breaks_a_parser(text: str, style) -> None:
    parsed = parse_reply(text, style)
    assert (parsed.calls is None) == bool(parsed.problem)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "text", ["[" * 50_000, "(" * 50_000, "-" * 90_000, '{"name": ' * 9_000, "f(" * 9_000]
)
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


PYTHON = "book_table(restaurant='Lindenhof', party_size=4, tags=['a]', 'b'])"
ARGUMENTS = json.dumps(CALL["arguments"])


@pytest.mark.parametrize(
    "text",
    [
        str([CALL]),
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"[{PYTHON}]",
        f"{PYTHON};",
        f"```python\n[\n    {PYTHON},\n]\n```",
        f"```json\n{PYTHON}\n```\nThis books the table.",
        f"```[{PYTHON}]```",
        f"Here is the call:\n\n[{PYTHON}]\n\nAnything else?",
        f"[{PYTHON}]\nThis books a table.",
        json.dumps([PYTHON]),
        f"print(default_api.{PYTHON})",
        f"<|python_start|>[{PYTHON}]<|python_end|>",
        PYTHON.replace("_", "\\_"),
        f"book_table({ARGUMENTS})",
        f"book_table\n{ARGUMENTS}",
        f"<function=book_table>{ARGUMENTS}</function>",
        f"[TOOL_CALLS]book_table[ARGS]{ARGUMENTS}",
        f"[TOOL_CALLS] book_table{ARGUMENTS}",
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>book_table\n```json\n{ARGUMENTS}\n```<｜tool▁call▁end｜>",
        f"<｜tool▁call▁begin｜>book_table<｜tool▁sep｜>{ARGUMENTS}<｜tool▁call▁end｜>",
        f"<|tool_call_begin|>functions.book_table:0<|tool_call_argument_begin|>{ARGUMENTS}<|tool_call_end|>",
        (
            "<|channel|>commentary to=functions.book_table"
            f" <|constrain|>json<|message|>{ARGUMENTS}<|call|>"
        ),
        f">>>book_table\n{ARGUMENTS}",
        json.dumps({"type": "tool_use", "name": "book_table", "input": CALL["arguments"]}),
        json.dumps({"API": ["book_table"], "parameters": [CALL["arguments"]]}),
        f'<think>Or {{"name": "other", "arguments": {{}}}}?</think>{json.dumps(CALL)}',
        f'Or {{"name": "other", "arguments": {{}}}}?\n</think>\n\n{json.dumps(CALL)}',
    ],
)
def test_a_call_is_found_in_whatever_notation_models_have_for_it(text: str) -> None:
    assert [tuple(call) for call in parse_reply(text, "lenient").calls or ()] == EXPECTED


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>\n<function=book>\n<parameter=city>\nLyon\n</parameter>\n<parameter=tags>\n[1]\n</parameter>\n</function>\n</tool_call>",
        (
            '<invoke name="book"><parameter name="city">Lyon</parameter><parameter'
            ' name="tags">[1]</parameter></invoke>'
        ),
        "<tool_call>book\n<arg_key>city</arg_key>\n<arg_value>Lyon</arg_value>\n<arg_key>tags</arg_key>\n<arg_value>[1]</arg_value>\n</tool_call>",
    ],
)
def test_values_between_tags_are_texts_but_for_lists_and_objects(text: str) -> None:
    assert parse_reply(text, "lenient").calls == (("book", {"city": "Lyon", "tags": [1]}),)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[f(1, b=2)]", "without a name"),
        ("[f(a=g(b=1))]", "no plain value"),
        ("[f(a=city)]", "no plain value"),
        ("[f(a=1e999)]", "beyond all bounds"),
        ("[f(a=1, b=[2)", "does not end"),
        ('{"name": "f", "arguments": "Lyon"}', "no object"),
        ('<function=f>{"a": 1</function>', "no object of arguments"),
        ('[{"name": "f", "arguments": {}}, {"name": "g", "argum', "not valid JSON"),
        ('{"name": "f", "arguments": {"name": "g", "arguments": {}', "not valid JSON"),
        ('{"name": "f", "arguments": {"a": 1, "a": 2}}', "not valid JSON"),
        ("<think>f or g?", "thinks"),
        ("  ", "empty"),
        ('{"name": "book_table", "arguments": {"city": ', "not valid JSON"),
        ('{"name": "", "arguments": {}}', "no tool's name"),
        ('{"name": 3, "arguments": {}}', "no tool's name"),
        ("x" * 100_001, "100001 characters"),
    ],
)
def test_of_a_call_that_can_not_be_read_no_part_is_guessed(text: str, problem: str) -> None:
    parsed = parse_reply(text, "lenient")
    assert parsed.calls is None
    assert problem in parsed.problem


@pytest.mark.parametrize(
    "text",
    [
        "You could call book_table(city='Lyon'), which books a table.",
        "For example:\n\n```python\nimport shop\nprice = shop.price(item='pen')\n```",
        "In code:\n```python\nuser = {'name': name, 'age': 3}\n```",
        "Call `book(city='Lyon')` where that is meant.",
        "Sorry, none of my tools can do this.",
        "抱歉，没有合适的工具。",
        "Set {1, 2}?",
        "[none]",
    ],
)
def test_what_is_told_of_in_prose_and_a_refusal_are_no_call(text: str) -> None:
    assert parse_reply(text, "lenient") == ((), "")


def test_native_calls_come_first_and_silence_is_no_call() -> None:
    native = Completion("thinking", (Call(tool="book_table", arguments={"party_size": 4}),))
    assert parse_completion(native).calls == (("book_table", {"party_size": 4}),)
    assert parse_completion(Completion("", ())).calls == ()
    assert parse_completion(Completion(json.dumps(CALL), None)).calls == tuple(EXPECTED)
    assert parse_completion(Completion("", None)).calls is None


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (
            "[f(a='x', n=-2, t=true, l=['y', 1.5], d={'k': None})]",
            (("f", {"a": "x", "n": -2, "t": "true", "l": ["y", 1.5], "d": {"k": None}}),),
        ),
        (
            '[Food.Tables.book(city="Bergen"), g()]',
            (("Food.Tables.book", {"city": "Bergen"}), ("g", {})),
        ),
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


def test_calls_have_their_own_names_again_natively_and_in_text() -> None:
    members = {"$filter": {"type": "string"}, "of": {"properties": {"first name": {}}}}
    parameters = {"type": "object", "properties": members}
    tool = Tool(name="查询天气", description="", parameters=parameters, category="")
    names = wire_names([tool])
    own = {"$filter": "x", "of": {"first name": "Ada"}, "note": {"first name": "kept"}}
    wire = names.arguments(tool.name, own)
    assert wire == {"filter": "x", "of": {"first_name": "Ada"}, "note": {"first name": "kept"}}
    called = Call(tool=names.tool(tool.name), arguments=wire)
    native = Completion("", (called,), names=names)
    said = json.dumps({"name": called.tool, "arguments": wire})
    for completion in (native, Completion(said, None, names=names)):
        assert parse_completion(completion).calls == ((tool.name, own),)
    untouched = Completion(json.dumps({"name": tool.name, "arguments": own}), None, names=names)
    assert parse_completion(untouched).calls == ((tool.name, own),)
