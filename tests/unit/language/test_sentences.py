"""Sentences as data: drawn for just what is stated, and recognised by the same template."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.language.sentences import Sentence
from callwright.warehouse.errors import ConfigurationError

ALARM = Sentence(
    "set an alarm [called {label}] [for {time}] [(on|every) {day}] [with {snooze} minute[s] of"
    " snooze]"
)
VALUES = {"label": "the school run", "time": "half past seven", "day": "Friday", "snooze": "9"}


def any_value(_slot: str, _words: str) -> bool:
    return True


@given(st.frozensets(st.sampled_from(sorted(VALUES))), st.randoms(use_true_random=False))
def test_a_sentence_says_just_what_is_stated_and_is_read_back(
    stated: frozenset[str], rng: Random
) -> None:
    text = ALARM.draw(stated, rng)
    assert text is not None
    for name in stated:
        text = text.replace(f"{{{name}}}", VALUES[name])
    assert "{" not in text
    assert "  " not in text
    said = ALARM.read(text, lambda slot, words: words == VALUES[slot])
    assert said == {name: VALUES[name] for name in stated}


def test_a_script_without_spaces_is_read() -> None:
    sentence = Sentence("设一个[{time}的]闹钟[，铃声用{sound}]")
    assert sentence.read("设一个早上七点半的闹钟，铃声用鸟鸣", any_value) == {
        "time": "早上七点半",
        "sound": "鸟鸣",
    }
    assert sentence.draw(frozenset({"sound"}), Random(1)) == "设一个闹钟，铃声用{sound}"


@pytest.mark.parametrize(
    "text", ["set [an alarm", "set (an|a alarm", "set {alarm", "set an alarm]"]
)
def test_what_is_no_template_is_told(text: str) -> None:
    with pytest.raises(ConfigurationError, match="can't be read"):
        Sentence(text)


@given(st.text(max_size=80))
def test_any_text_is_a_template_or_is_told(text: str) -> None:
    try:
        sentence = Sentence(text)
    except ConfigurationError:
        return
    drawn = sentence.draw(sentence.slots, Random(0))
    assert drawn is None or all(drawn.count(f"{{{one}}}") == 1 for one in sentence.slots)
    assert (sentence.read(text, any_value) or {}).keys() <= sentence.slots


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("book [a", "the brackets (), [] and {} do not match"),
        ("book a)", "the brackets (), [] and {} do not match"),
        ("", "a sentence, a slot or a part in brackets is empty"),
        ("[" * 400 + "a" + "]" * 400, "its brackets are nested more than 20 levels deep"),
    ],
)
def test_why_a_sentence_can_not_be_read_is_told_in_a_line(text: str, reason: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        Sentence(text)
    assert str(raised.value).endswith(f"can't be read: {reason}.")
    assert len(str(raised.value)) < 200
