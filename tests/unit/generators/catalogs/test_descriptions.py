from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.catalogs.descriptions import described, plain_text, without_choices


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (
            "The SID of the [Account](https://example.org/a) that *made* it.",
            "The SID of the Account that made it.",
        ),
        ("Can be `closed` or `active`.", "Can be closed or active."),
        (
            "Of the form `processor-<environment>-<id>`, <your_key> first.",
            "Of the form processor-<environment>-<id>, <your_key> first.",
        ),
        ("`.` means nobody has won yet.", "'.' means nobody has won yet."),
        ("<p>Creates a <b>user</b>.</p>\n<p>Slowly.</p>", "Creates a user.\nSlowly."),
        ("One<br>two &amp; three", "One\ntwo & three"),
        ("# Title\n\nSome **text**:\n\n- `a`: one\n- b\n", "Title\n\nSome text:\n- a: one\n- b"),
        ("| a | b |\n|---|---|\n| `1` | 2 |\n", "- a | b\n- 1 | 2"),
        ("Run:\n```sh\ncurl x\n```\n", "Run:"),
        ("![logo](x.png)Finds *pets*", "Finds pets"),
    ],
)
def test_markup_is_taken_off_a_description(text: str, plain: str) -> None:
    assert plain_text(text) == plain


@given(st.text(alphabet="ab *_`[](){}<>!#|\\&;p/\n-~.1", max_size=80) | st.text(max_size=60))
def test_any_text_is_cleaned_and_what_comes_out_has_no_tags(text: str) -> None:
    assert isinstance(plain_text(text), str)
    assert isinstance(described(text, text), str)


@pytest.mark.parametrize(
    ("summary", "description", "joined"),
    [
        (
            "Create user.",
            "Only by the *logged in* user.",
            "Create user. Only by the logged in user.",
        ),
        ("List pets", "List pets of a store.", "List pets of a store."),
        ("`List` pets", None, "List pets"),
        (None, None, None),
        (3, {"$ref": "x"}, {"$ref": "x"}),
    ],
)
def test_summary_and_description_are_joined(
    summary: object, description: object, joined: object
) -> None:
    assert described(summary, description) == joined  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "choices", "kept"),
    [
        ("The status. One of: open, closed.", ["open", "closed"], "The status."),
        ("The status.\n- open\n- closed", ["closed", "open"], "The status."),
        (
            "The status: 'open', 'closed' or 'in-between'",
            ["open", "closed", "in-between"],
            "The status",
        ),
        (
            "The status, open or closed, as people see it.",
            ["open", "closed"],
            "The status, open or closed, as people see it.",
        ),
        ("The status. One of: open.", ["open", "closed"], "The status. One of: open."),
        (
            "Sets whether it is reopen, closed",
            ["open", "closed"],
            "Sets whether it is reopen, closed",
        ),
        ("open, closed", ["open", "closed"], "open, closed"),
        ("Size. 1, 2 and 3", [1, 2, 3], "Size."),
        (
            "Tells the state, either open or closed.",
            ["open", "closed"],
            "Tells the state, either open or closed.",
        ),
        ("Only open", ["open"], "Only open"),
        ("", ["", "a"], ""),
    ],
)
def test_choices_that_the_schema_lists_are_not_listed_twice(
    text: str, choices: list[Any], kept: str
) -> None:
    assert without_choices(text, choices) == kept
