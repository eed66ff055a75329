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


def test_a_sentence_without_a_slot_for_what_is_stated_is_not_drawn() -> None:
    assert Sentence("wake me at {time}").draw(frozenset({"label"}), Random(1)) is None
    assert Sentence("wake me at {time}").draw(frozenset(), Random(1)) is None


def test_a_plural_follows_its_number() -> None:
    seats = Sentence("book {seats} seat[s] on {train}")
    stated = frozenset({"seats", "train"})
    assert seats.draw(stated, Random(1)) == "book {seats} seats on {train}"
    assert seats.draw(stated, Random(1), frozenset({"seats"})) == "book {seats} seat on {train}"
    for text in ("book 1 seat on IC5", "book 2 seats on IC5"):
        assert seats.read(text, any_value) == {"seats": text.split()[1], "train": "IC5"}


@pytest.mark.parametrize(
    "other", ["set a timer for 7", "set an alarm for 7 please", "", "alarm", "set an alarm called"]
)
def test_another_sentence_is_not_read(other: str) -> None:
    assert ALARM.read(other, lambda slot, words: words in {"7", VALUES[slot]}) is None


def test_a_short_word_that_may_be_missing_is_no_plural() -> None:
    wake = Sentence("wake {people} of us [up]")
    drawn = {
        wake.draw(frozenset({"people"}), Random(seed), frozenset({"people"})) for seed in range(20)
    }
    assert drawn == {"wake {people} of us", "wake {people} of us up"}


def test_a_script_without_spaces_is_read() -> None:
    sentence = Sentence("设一个[{time}的]闹钟[，铃声用{sound}]")
    assert sentence.read("设一个早上七点半的闹钟，铃声用鸟鸣", any_value) == {
        "time": "早上七点半",
        "sound": "鸟鸣",
    }
    assert sentence.draw(frozenset({"sound"}), Random(1)) == "设一个闹钟，铃声用{sound}"


def test_the_word_for_want_of_a_value_is_no_value() -> None:
    sentence = Sentence("look for ({product}|something) [in {color}]")
    assert sentence.read("look for something in blue", lambda _slot, _words: True) == {
        "color": "blue"
    }


def test_a_word_ends_where_a_word_of_the_text_does() -> None:
    said = Sentence("fly from {origin} to {destination}").read(
        "fly from Cape Town to Oslo", any_value
    )
    assert said == {"origin": "Cape Town", "destination": "Oslo"}


def test_bare_sentences_are_those_without_a_mark_at_their_end() -> None:
    assert Sentence("set an alarm").is_bare
    assert not Sentence("Can my alarm ring at {time}?").is_bare
    assert not Sentence("帮我设闹钟。").is_bare


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
    ("text", "slots"),
    [
        ("{a} to {a}", ("a",)),
        ("[{a}] and [{b} {a}]", ("a",)),
        ("(in {a}|{a} has) it", ()),
        ("{a} [{b}]", ()),
    ],
)
def test_a_slot_that_one_sentence_says_twice_is_known(text: str, slots: tuple[str, ...]) -> None:
    assert Sentence(text).repeated == slots


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


def test_a_sentence_whose_last_part_may_be_missing_is_whole_without_it() -> None:
    assert not Sentence("Can you cancel event {event}? [Tell them {message}.]").is_bare
    assert Sentence("cancel event {event} [and tell them {message}]").is_bare
