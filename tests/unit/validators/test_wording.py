"""What nobody says: markup, placeholders, doubled words, texts that break off."""

import pytest

from callwright.validators.checks.wording import problems_of, words_of_tool
from callwright.warehouse.records import Sample, Tool


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Book **a table** for four.", "has markup: '**a table**'"),
        ("```json```", "has markup: '```'"),
        ("Play [this](http://x.org) song", "has markup: '[this](http://x.org)'"),
        ("Book a table for {party_size}", "has a placeholder: '{party_size}'"),
        ("Send it to [your name], please", "has a placeholder: '[your name]'"),
        ("给【姓名】发消息", "has a placeholder: '【姓名】'"),
        ("What is the the weather?", "says a word twice: 'the the'"),
        ("Book a table for four and", "seems to be cut off: 'and'"),
        ("帮我订一张，", "seems to be cut off: '，'"),
        ("  ", "says nothing"),
    ],
)
def test_what_nobody_says_is_named(text: str, problem: str) -> None:
    assert [one.problem for one in problems_of(text)] == [problem]


@pytest.mark.parametrize(
    "text",
    [
        "Book a table at Luigi's for four at 19:30, please.",
        "I had had enough. What is that?",
        "订明天七点的位子",
        "Is 3 < 4?",
        "Wake me at 7 - or 8.",
        "Mail anna_b@x.org the file my_notes.txt",
        "Go on...",
    ],
)
def test_what_people_say_is_left_alone(text: str) -> None:
    assert list(problems_of(text)) == []


def test_the_tools_own_words_are_named(perfect: Sample, tools: dict[str, Tool]) -> None:
    tool = tools[perfect.candidates[0]].with_changes(
        name="get_pull_request_status",
        description=(
            "Get the combined status of all status checks for the head commit of a pull request."
        ),
        parameters={"type": "object", "properties": {"pull_number": {"type": "integer"}}},
    )
    copied = (
        "Hey, get the combined status of all status checks for the head commit of a pull request,"
        " please."
    )
    assert any("copies the description" in one.problem for one in words_of_tool(copied, tool))
    assert [one.problem for one in words_of_tool("The pull_number is 7.", tool)] == [
        "has a name as code has it: 'pull_number'"
    ]
    assert (
        list(
            words_of_tool(
                'Did the checks of pull request 7 pass? The file is "pull_number.py".', tool
            )
        )
        == []
    )
