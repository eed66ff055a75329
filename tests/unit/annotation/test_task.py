import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright import validators
from callwright.annotation.calls import write_calls
from callwright.annotation.doubts import doubt_sentences, with_marks
from callwright.annotation.sample_review import review_task
from callwright.annotation.screens import interface_languages, words_in
from callwright.validators.checks import declaring
from callwright.validators.checks.table import all_checks, in_english, told_in_english
from callwright.validators.checks.table import doubt_sentences as english_sentences
from callwright.warehouse.records import (
    CallTurn,
    DoubtedFact,
    GoldCall,
    ReplyTurn,
    Sample,
    UserTurn,
    Verdict,
)

HOSTILE = (
    '<script>alert(1)</script><img src=x onerror="alert(2)"> <View><Choices/></View> {{7*7}}'
    " \u202e$calls"
)


def test_a_task_is_named_by_its_kind_its_subject_and_its_version(sample, tools, verdicts):
    task = review_task(sample, tools, verdicts, reason="A check failed.")
    assert task.callwright_key == f"sample_review:{sample.key}:1"
    assert task.data()["callwright_key"] == task.callwright_key


def test_what_failed_stands_apart_from_what_passed_and_the_worst_comes_first(
    sample, tools, verdicts
):
    task = review_task(sample, tools, verdicts, reason="A check failed.")
    assert task.failed.splitlines() == [
        "Not every value was found in the conversation. (The time is said nowhere.)",
        "The reader makes another call. (No time was said.)",
    ]
    assert task.details.splitlines() == [
        "FAILED · grounding: The time is said nowhere.",
        "UNSURE · consistency 0.91: No time was said.",
    ]
    assert task.passed == "ok · format"


def test_what_a_reader_has_settled_is_no_open_doubt(sample, tools):
    doubt = DoubtedFact(kind="unstated", argument="time", value="19:00", quote="Trattoria Verde")
    unstated = Verdict(subject=sample.key, check="grounding", decision="unproved", doubts=(doubt,))
    [told] = told_in_english([unstated])
    task = review_task(sample, tools, [told], reason="-", settled={"grounding"})
    assert (task.failed, task.details) == ("none", "none")
    assert task.passed == "UNSURE, settled by a reader · grounding"
    assert "⟦" not in str(task.conversation)
    assert "time" in review_task(sample, tools, [told], reason="-").failed


@pytest.mark.parametrize(
    ("kind", "asks"),
    [
        ("perfect", "make exactly these calls"),
        ("imperfect", "what nobody says stays empty"),
        ("task", "bring about what is asked for"),
    ],
)
def test_the_question_fits_the_kind(kind, asks, sample, tools):
    task = review_task(sample.with_changes(kind=kind), tools, [], reason="-")
    assert asks in task.question


def test_where_no_call_is_due_people_are_asked_whether_that_is_right(sample, tools):
    idle = sample.with_changes(kind="irrelevant", turns=(sample.turns[0], CallTurn(calls=())))
    assert "right that no call is made" in review_task(idle, tools, [], reason="-").question


def test_each_argument_shows_where_its_value_comes_from(sample, tools):
    task = review_task(sample, tools, [], reason="-")
    assert task.calls_shown.splitlines() == [
        "book_table",
        "  restaurant = Trattoria Verde   ← “Trattoria Verde” (said)",
        "  date = 2026-05-03   ← “3rd of May” (said otherwise)",
        "  time = 19:30   ← no evidence",
        "  people = 4   ← “four” (said otherwise)",
    ]


def test_a_conversation_tells_after_each_user_turn_only_what_is_new(dialogue, tools):
    lines = review_task(dialogue, tools, [], reason="-").conversation
    assert [(line.author, line.text) for line in lines] == [
        ("User 1", "A table at ‹Blue Boat›, please."),
        ("→", "book_table   + restaurant = Blue Boat"),
        ("Assistant", "For which day?"),
        ("User 2", "The day that Ann names."),
        ("✉", "[Mail] Let us meet on the ‹3rd of May›."),
        ("→", "+ date = 2026-05-03"),
        ("Assistant", "How many are you?"),
        ("User 3", "We are ‹three›."),
        ("→", "+ people = 3"),
        ("Assistant", "At what time?"),
        ("User 4", "Sorry, there will be ‹four› of us."),
        ("→", "⚑ shift:   ~ people: 3 → 4"),
    ]


def test_where_the_user_turns_away_no_call_is_due_any_more_and_all_tools_are_compared(
    dialogue, tools
):
    turns = (*dialogue.turns[:-1], CallTurn(), ReplyTurn(text="I can't."))
    turned = dialogue.with_changes(kind="IS", turns=turns, facts=dialogue.facts)
    task = review_task(turned, tools[::-1], [], reason="-")
    assert [line.text for line in task.conversation][-2:] == [
        "⚑ shift:   no call is due",
        "I can't.",
    ]
    assert task.calls_shown == "No call is due any more"
    assert task.tools.splitlines() == [
        "book_table (restaurant, date, time, people, seating): Books a table in a restaurant.",
        "cancel_table (booking): Cancels a booked table.",
    ]
    assert "  • booking (string, required) Booking number." in task.other_tools


def test_tools_are_described_with_types_needs_and_limits(sample, tools):
    text = review_task(sample, tools, [], reason="-").tools
    assert "book_table: Books a table in a restaurant." in text
    assert "  • date (date, required) Day of the visit." in text
    assert "  • people (integer, optional, 1…20) How many guests come." in text
    assert "  • seating (string, optional, one of inside / outside / bar, = inside)" in text


FACTS = [
    (
        "adds",
        "The user also seems to give time: seven, but the call does not use it.",
        "用户似乎还给出了 time：seven",
    ),
    (
        "gives_other",
        "The call has 19:30 for time, but the reader has seven.",
        "time 在调用里是 19:30",
    ),
    (
        "calls_other",
        "The reader calls cancel_table instead.",
        "只读对话的人会改为调用 cancel_table",
    ),
]


@pytest.mark.parametrize(("kind", "english", "chinese"), FACTS)
def test_what_a_check_found_is_one_sentence_a_fact_in_the_language_of_the_screen(
    kind, english, chinese, sample, tools
):
    fact = DoubtedFact(
        kind=kind, argument="time", value="19:30", other="seven", quote="seven", tool="cancel_table"
    )
    reason = "At snapshot 2 the zero-shot reading adds 'time'."
    found = Verdict(
        subject=sample.key,
        check="consistency",
        decision="unproved",
        score=0.67,
        reason=reason,
        doubts=(fact,),
    )
    [found] = told_in_english([found])
    twice = found.with_changes(check="meaning")
    task = review_task(sample, tools, [found, twice], reason=reason)
    assert task.failed == english
    assert task.details.splitlines()[0] == f"UNSURE · consistency 0.67: {reason}"
    assert review_task(sample, tools, [found], reason=reason, language="zh").failed.startswith(
        chinese
    )
    assert "cancel_table: " in task.tools


EXAMPLE = DoubtedFact(
    kind="adds",
    turn=2,
    tool="book_table",
    argument="time",
    value="19:30",
    other="seven",
    quote="by eight",
)


@pytest.mark.parametrize("language", interface_languages())
def test_every_fact_and_every_check_has_a_sentence_in_every_language(language, dialogue):
    words, english = words_in(language), english_sentences()
    assert set(words.doubt) == (set() if language == "en" else set(english)), (
        "a translation for each, and no other"
    )
    told = {}
    for kind in english:
        doubts = in_english([EXAMPLE.with_changes(kind=kind)])
        found = Verdict(subject="s", check="c", decision="unproved", doubts=doubts)
        [told[kind]] = doubt_sentences(dialogue.turns, [found], words)
    assert len(set(told.values())) == len(told)
    assert not [text for text in told.values() if "{" in text or "None" in text]
    assert {check.name for check in all_checks()} <= set(words.check)
    assert not set(words.doubt.values()) & set(english.values())


def test_each_kind_of_doubt_that_the_checks_name_has_an_english_sentence_and_none_is_left_over():
    paths = set(Path(validators.__file__).parent.rglob("*.py")) - {
        Path(declaring.__file__)
    }  # it shows an example
    sources = [path.read_text("utf-8") for path in paths]
    named = {kind for text in sources for kind in re.findall(r'kind=\s*"(\w+)"', text)}
    facts = {kind for text in sources for kind in re.findall(r'DoubtedFact\(\s*kind="(\w+)"', text)}
    quoted = Counter(word for text in sources for word in re.findall(r'"(\w+)"', text))
    assert len(facts) > 30
    assert facts <= set(english_sentences())
    unused = [kind for kind in english_sentences() if kind not in named and quoted[kind] == 1]
    assert unused == [], "a sentence is left of a fact that is gone"


def test_a_value_that_was_read_is_marked_where_it_stands_by_itself(make_sample, tools):
    sample = make_sample("Rate ride RD21458 with 5, 5星吧.")
    fact = DoubtedFact(kind="gives_other", turn=1, argument="people", value=4, other=5)
    found = Verdict(subject=sample.key, check="meaning", decision="unproved", doubts=(fact,))
    shown = with_marks(sample.with_changes(turns=(sample.turns[0], CallTurn(calls=()))), [found])
    assert shown.request == "Rate ride RD21458 with ⟦5⟧, 5星吧."
    digits = found.with_changes(
        doubts=(fact.with_changes(other="5"),)
    )  # a text that looks like a number is marked as well
    assert (
        with_marks(
            sample.with_changes(turns=(sample.turns[0], CallTurn(calls=()))), [digits]
        ).request
        == shown.request
    )
    other = fact.with_changes(other=8)
    unmarked = with_marks(
        sample.with_changes(turns=(sample.turns[0], CallTurn(calls=()))),
        [found.with_changes(doubts=(other,))],
    )
    assert unmarked.request == sample.request


def test_the_words_around_a_sample_are_chinese_for_a_chinese_annotator(sample, tools, verdicts):
    task = review_task(sample, tools, verdicts, reason="-", language="zh")
    assert task.failed.startswith("有的取值在对话中找不到出处。")
    assert task.details.startswith("未通过 · grounding")
    assert task.conversation[0].author == "用户"
    assert "必填" in task.tools


def test_hostile_text_is_passed_on_letter_by_letter(make_sample, tools):
    sample = make_sample(HOSTILE)
    verdict = Verdict(subject=sample.key, check="judge", decision="contradicted", reason=HOSTILE)
    data = review_task(sample, tools, [verdict], reason=f"{HOSTILE}!").data()
    assert data["conversation"][0]["text"] == HOSTILE
    assert data["why"] == f"{HOSTILE}!"
    assert HOSTILE in data["failed"]


@given(text=st.text(max_size=200), value=st.text(max_size=50))
def test_any_text_makes_a_task_that_json_can_carry(text: str, value: str):
    call = GoldCall(tool="t", arguments={"a": value})
    sample = Sample(
        kind="perfect",
        language="en",
        category="c",
        candidates=(),
        turns=(UserTurn(text=text), CallTurn(calls=(call,))),
    )
    data = review_task(sample, [], [], reason=text).data()
    assert json.loads(json.dumps(data)) == data
    assert data["request"] == text
    assert json.loads(write_calls((call,))) == [{"tool": "t", "arguments": {"a": value}}]
