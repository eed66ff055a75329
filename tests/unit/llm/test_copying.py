"""A reply that repeats a worked example is no answer."""

import pytest
from pydantic import JsonValue

from callwright.llm.chat import REFUSED, ChatMessage, Prompt
from callwright.llm.copying import copied_words

SYSTEM = """Ask for the detail.
<example>
detail: the colour of the kite
{"question": "Which colour shall the kite have?", "place": "Harbour Meadow"}
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
        ({"question": "Which colour shall the kite have?"}, "which colour shall the kite"),
        (
            {"parts": ["Well: for [room], which  colour shall the KITE"]},
            "which colour shall the kite",
        ),
        ({"question": "Which colour shall the room have?", "kind": "open"}, ""),
        ({"place": "harbour meadow"}, "harbour meadow"),
        ({"place": "The Harbour Meadow on the left"}, ""),
    ],
)
def test_words_of_the_example_are_found_in_a_reply(reply: JsonValue, words: str) -> None:
    assert copied_words(prompt_about("detail: the room"), reply) == words


def test_a_copy_puts_its_own_slot_in() -> None:
    system = (
        '<example>\n[meadow]: where\n{"request": "Lend me a kite at [meadow], please."}\n</example>'
    )
    task = ChatMessage(role="user", content="[city]: where")
    prompt = prompt_about("").with_changes(
        messages=(ChatMessage(role="system", content=system), task)
    )
    assert copied_words(prompt, {"request": "Lend me a kite at [city]"}) == "lend me a kite at"


def test_ideographs_count_one_by_one() -> None:
    system = '<example>\n[meadow]\n{"request": "我想在[meadow]那儿放红色的大风筝。"}\n</example>'
    prompt = prompt_about("").with_changes(
        messages=(ChatMessage(role="system", content=system), ChatMessage(role="user", content=""))
    )
    assert (
        copied_words(prompt, {"request": "我想在[city]那儿放红色的大风筝"})
        == "我想在那儿放红色的大"
    )
    assert copied_words(prompt, {"request": "我想在[city]那儿吃饭"}) == ""


def test_an_example_may_stand_before_the_task_as_a_message_with_its_answer() -> None:
    shown = (
        ChatMessage(role="system", content="Ask."),
        ChatMessage(role="user", content="the colour of the kite"),
        ChatMessage(role="assistant", content='{"question": "Which colour shall the kite have?"}'),
        ChatMessage(role="user", content="the size of the room"),
    )
    prompt = prompt_about("").with_changes(messages=shown)
    copied = {"question": "Which colour shall the kite have?"}
    assert copied_words(prompt, copied) == "which colour shall the kite"
    refused = shown[3].with_changes(content=f"{REFUSED} It names no room.")
    assert copied_words(prompt.with_changes(messages=(*shown[:3], refused)), copied) == ""


def test_words_that_the_task_says_itself_are_no_copy() -> None:
    task = prompt_about("known: which colour shall the kite have?")
    assert copied_words(task, {"question": "Which colour shall the kite have?"}) == ""


def test_a_prompt_without_examples_has_nothing_to_be_copied() -> None:
    prompt = prompt_about("x").with_changes(
        messages=(ChatMessage(role="user", content="<example>no</example>"),)
    )
    assert copied_words(prompt, {"question": "no"}) == ""
