"""A reply that repeats a worked example is no answer."""

import pytest
from pydantic import JsonValue

from callwright.llm.chat import ChatMessage, Prompt
from callwright.llm.copying import copied_words

SYSTEM = """Ask for the detail.
<example>
detail: the colour of the kite
{"question": "Which colour shall the kite have?", "kind": "open"}
</example>
<example>
Just prose.
</example>"""


def prompt_about(task: str) -> Prompt:
    messages = (ChatMessage(role="system", content=SYSTEM), ChatMessage(role="user", content=task))
    return Prompt(name="ask", version="v", messages=messages)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"question": "Which colour shall the kite have?"}, "Which colour shall the kite have?"),
        (
            {"parts": ["Well: which colour  shall the KITE have?"]},
            "Which colour shall the kite have?",
        ),
        ({"question": "Which room is it?", "kind": "open"}, ""),
    ],
)
def test_words_of_the_example_are_found_in_a_reply(reply: JsonValue, words: str) -> None:
    assert copied_words(prompt_about("detail: the room"), reply) == words


def test_words_that_the_task_says_itself_are_no_copy() -> None:
    task = prompt_about("known: which colour shall the kite have?")
    assert copied_words(task, {"question": "Which colour shall the kite have?"}) == ""


def test_a_prompt_without_examples_has_nothing_to_be_copied() -> None:
    prompt = prompt_about("x").with_changes(
        messages=(ChatMessage(role="user", content="<example>no</example>"),)
    )
    assert copied_words(prompt, {"question": "no"}) == ""
