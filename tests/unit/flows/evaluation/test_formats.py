"""Answers in JSON and YAML: what was asked for, what a repair finds, and hostile text that is a
failure and nothing worse.
"""

import re

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from callwright.flows.evaluation.predictions import parse_calls, parse_yaml_calls, read_names
from callwright.llm.chat import Completion
from callwright.validators.metrics.callnavi.answers import (
    is_valid,
    join_replies,
    read_value,
    split_replies,
)

CALLS = "- name: book\n  arguments:\n    day: 2026-03-04\n    note: no\n    hour: 7\n"
WANTED = [("book", {"day": "2026-03-04", "note": "no", "hour": 7})]
TEXT = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=12)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def said(text: str, notation: str = "yaml"):
    parsed = parse_calls(Completion(text, None), notation)
    return None if parsed.calls is None else [(call.tool, call.arguments) for call in parsed.calls]


@pytest.mark.parametrize(
    "text", [CALLS, f"```yaml\n{CALLS}```", f"Here it is:\n```yml\n{CALLS}```\nDone."]
)
def test_calls_in_yaml_are_read_as_the_json_they_stand_for(text: str) -> None:
    assert said(text) == WANTED


@pytest.mark.parametrize(
    "text",
    [
        "name: &x book\narguments: *x",
        "- !!python/object/apply:os.system {name: x}",
        "name: [",
        "- name: book\n  arguments: {a: !!binary xx}",
        "name:\n\tx",
        "x" * 200_000 + "\nname: book",
        "name: 3",
    ],
)
def test_hostile_or_broken_yaml_can_not_be_read(text: str) -> None:
    parsed = parse_yaml_calls(text)
    assert parsed.calls is None
    assert parsed.problem


@given(st.text(max_size=80))
def test_whatever_is_said_is_read_or_refused(text: str) -> None:
    for notation in ("json", "yaml"):
        parsed = parse_calls(Completion(text, None), notation)
        assert parsed.calls is not None or parsed.problem
        assert isinstance(is_valid(text, notation), bool)


class QuotingDumper(yaml.SafeDumper):
    """Quotes a text that YAML 1.2 takes for a number, and 1.1 does not: "1E0"."""


QuotingDumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z"),
    list("-+.0123456789"),
)


@given(st.dictionaries(TEXT.filter(bool), PLAIN, max_size=3))
@example({"1E0": None})
@example({"a": "1E0"})
def test_arguments_survive_yaml(arguments: dict[str, object]) -> None:
    written = yaml.dump(
        [{"name": "book", "arguments": arguments}], Dumper=QuotingDumper, allow_unicode=True
    )
    assert said(written) == [("book", arguments)]


@pytest.mark.parametrize(
    ("text", "notation", "names"),
    [
        ('["find", "magic"]', "json", ["find", "magic"]),
        ("- find\n- book\n", "yaml", ["find", "book"]),
        ('{"API": ["book"]}', "json", ["book"]),
        ('[{"name": "book"}, 4]', "json", ["book"]),
        ("First find, then `book`.", "json", ["find", "book"]),
        ("[]", "json", []),
        ("None of them.", "yaml", []),
    ],
)
def test_names_are_those_listed_else_those_known_that_occur(
    text: str, notation: str, names: list[str]
) -> None:
    assert read_names(text, {"find", "book"}, notation) == names


def test_an_answer_of_several_replies_is_valid_where_all_are() -> None:
    answer = join_replies(['[{"name": "book"}]', "[]"])
    assert split_replies(answer) == ['[{"name": "book"}]', "[]"]
    assert is_valid(answer, "json")
    assert not is_valid(join_replies(["[]", "Well."]), "json")
    assert read_value("[]", "json") == []
