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
from callwright.annotation.reviews import Returned
from callwright.annotation.sample_review import review_task
from callwright.annotation.screens import interface_languages, words_in
from callwright.validators.checks import declaring
from callwright.validators.checks.table import all_checks, in_english, told_in_english
from callwright.validators.checks.table import doubt_sentences as english_sentences
from callwright.warehouse.records import (
    NO_FACTS,
    CallTurn,
    DoubtedFact,
    Evidence,
    GoldCall,
    Origin,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
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
        "Whoever reads the conversation alone makes another call. (No time was said.)",
    ]
    assert task.details.splitlines() == [
        "FAILED · grounding: The time is said nowhere.",
        "UNSURE · consistency 0.91: No time was said.",
    ]
    assert task.passed == "ok · format"


def test_each_argument_shows_where_its_value_comes_from(sample, tools):
    task = review_task(sample, tools, [], reason="-")
    assert task.calls_shown.splitlines() == [
        "book_table",
        "  restaurant = Trattoria Verde   ← “Trattoria Verde” (said)",
        "  date = 2026-05-03   ← “3rd of May” (said otherwise)",
        "  time = 19:30   ← no evidence",
        "  people = 4   ← “four” (said otherwise)",
    ]


def test_the_evidence_of_a_check_counts_more_than_the_generators_own(sample, tools):
    found = Evidence(
        argument="time", kind="normalised", quote="half past seven in the evening", rule="time"
    )
    verdict = Verdict(subject=sample.key, check="grounding", decision="proved", evidence=(found,))
    task = review_task(sample, tools, [verdict], reason="-")
    assert (
        "  time = 19:30   ← “half past seven in the evening” (said otherwise)" in task.calls_shown
    )


def test_where_a_check_may_mean_either_of_two_calls_their_own_evidence_is_shown(sample, tools):
    def cancel(name: str) -> GoldCall:
        said = Evidence(argument="booking", kind="span", quote=name)
        return GoldCall(tool="cancel_table", arguments={"booking": name}, evidence=(said,))

    both = sample.with_changes(
        turns=(sample.turns[0], CallTurn(calls=(cancel("B1"), cancel("B2"))))
    )
    found = Evidence(argument="booking", kind="span", quote="B2")
    verdict = Verdict(subject=both.key, check="grounding", decision="proved", evidence=(found,))
    shown = review_task(both, tools, [verdict], reason="-").calls_shown
    assert [line for line in shown.splitlines() if "←" in line] == [
        "  booking = B1   ← “B1” (said)",
        "  booking = B2   ← “B2” (said)",
    ]


def test_a_value_that_was_corrected_comes_from_the_correction(dialogue, tools):
    earlier = Evidence(
        argument="people", kind="normalised", turn=7, start=7, end=12, quote="three", rule="number"
    )
    verdict = Verdict(
        subject=dialogue.key, check="grounding", decision="unproved", evidence=(earlier,)
    )
    shown = review_task(dialogue, tools, [verdict], reason="-").calls_shown
    assert "  people = 4   ← “four” (User 4 · said otherwise)" in shown


def test_two_checks_that_say_the_same_are_told_once_in_plain_words(sample, tools):
    said = "None of the options was chosen."
    verdicts = [
        Verdict(subject=sample.key, check=name, decision="unproved", reason=said)
        for name in ("reading", "meaning")
    ]
    task = review_task(
        sample, tools, verdicts, reason=f"reading: {said} meaning: {said}", language="zh"
    )
    assert task.why == words_in("zh").in_doubt


def test_an_external_message_speaks_with_a_voice_of_its_own(sample, tools):
    lines = review_task(sample, tools, [], reason="-").conversation
    assert [line.author for line in lines] == ["User", "✉"]
    assert lines[1].text == "[Mail] See you there!"


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


def test_the_evidence_of_a_conversation_names_the_turn_and_the_message(dialogue, tools):
    assert review_task(dialogue, tools, [], reason="-").calls_shown.splitlines() == [
        "book_table",
        "  restaurant = Blue Boat   ← “Blue Boat” (User 1 · said)",
        "  date = 2026-05-03   ← “3rd of May” (User 2 · Message · said otherwise)",
        "  people = 4   ← “four” (User 4 · said otherwise)",
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


def test_a_shift_that_no_tag_tells_is_seen_where_a_value_changes(dialogue, tools):
    untold = dialogue.with_changes(facts=NO_FACTS)
    assert review_task(untold, tools, [], reason="-").conversation[-1].text.startswith("⚑ shift:")
    calm = dialogue.with_changes(turns=dialogue.turns[:8], facts=SampleFacts(shifts=(7,)))
    assert "⚑" not in "".join(
        line.text for line in review_task(calm, tools, [], reason="-").conversation
    )


def test_a_value_in_a_message_is_no_change_of_mind(dialogue, tools):
    pointed = dialogue.with_changes(
        kind="sQsA_external", turns=dialogue.turns[:5], facts=SampleFacts(shifts=(1,))
    )
    assert (
        review_task(pointed, tools, [], reason="-").conversation[-1].text == "+ date = 2026-05-03"
    )


def test_executed_calls_are_told_whole_and_with_what_came_back(sample, tools):
    earlier = GoldCall(tool="cancel_table", arguments={"booking": "B1"})
    other = GoldCall(tool="cancel_table", arguments={"booking": "B2"})
    longer = sample.with_changes(
        turns=(
            UserTurn(text="Cancel B1."),
            CallTurn(calls=(earlier, other), executed=True),
            ResultTurn(results=({"done": True}, None)),
            CallTurn(calls=(earlier, other), executed=True),
            ReplyTurn(text="Cancelled."),
            *sample.turns,
        )
    )
    lines = review_task(longer, tools, [], reason="-").conversation
    assert [line.author for line in lines] == [
        "User 1",
        "→",
        "API result",
        "→",
        "Assistant",
        "User 2",
        "✉",
        "→",
    ]
    assert lines[1].text == lines[3].text
    assert lines[1].text == "cancel_table   + booking = B1  |  cancel_table   + booking = B2"
    assert lines[2].text == '{"done": true}\nnull'


def test_of_several_calls_only_those_that_change_are_told(sample, tools):
    def due(first: str, second: str) -> CallTurn:
        return CallTurn(
            calls=tuple(
                GoldCall(tool="cancel_table", arguments={"booking": one}) for one in (first, second)
            )
        )

    turns = [
        UserTurn(text="."),
        due("B1", "B2"),
        UserTurn(text="."),
        due("B1", "B3"),
        UserTurn(text="."),
        due("B1", "B3"),
    ]
    lines = review_task(sample.with_changes(turns=tuple(turns)), tools, [], reason="-").conversation
    assert [line.text for line in lines if line.author == "→"][1:] == [
        "⚑ shift:   cancel_table   ~ booking: B2 → B3",
        "nothing changes",
    ]


def test_tools_are_described_with_types_needs_and_limits(sample, tools):
    text = review_task(sample, tools, [], reason="-").tools
    assert "book_table: Books a table in a restaurant." in text
    assert "  • date (date, required) Day of the visit." in text
    assert "  • people (integer, optional, 1…20) How many guests come." in text
    assert "  • seating (string, optional, one of inside / outside / bar, = inside)" in text


def test_the_tools_of_the_calls_due_stand_apart_from_the_others(sample, tools):
    task = review_task(sample, tools[::-1], [], reason="-")
    assert task.tools.startswith("book_table: ")
    assert "cancel_table: " not in task.tools
    assert task.other_tools.startswith("cancel_table: ")


def test_a_parameter_that_has_choices_but_no_type_shows_its_choices(sample, tools):
    schema = {"type": "object", "properties": {"seat": {"enum": ["aisle", 3]}, "name": {}}}
    text = review_task(sample, [tools[0].with_changes(parameters=schema)], [], reason="-").tools
    assert "  • seat (optional, one of aisle / 3)" in text
    assert "  • name (any, optional)" in text


def test_the_annotator_reads_what_kind_of_sample_it_is(make_sample, tools):
    title = review_task(make_sample(kind="imperfect"), tools, [], reason="-").title
    assert (
        title
        == "dining · imperfect · details are left out on purpose; the calls hold only what is said"
    )
    made_of_another = review_task(make_sample(kind="mQmA_SO_case1"), tools, [], reason="-").title
    assert made_of_another.startswith(
        "dining · mQmA_SO_case1 · the user corrects a value in the turn that says it"
    )
    assert (
        review_task(make_sample(kind="hitherto_unknown"), tools, [], reason="-").title
        == "dining · hitherto_unknown"
    )


def test_what_the_failed_checks_say_is_not_said_twice(sample, tools, verdicts):
    both = "consistency: No time was said. grounding: The time is said nowhere."
    for reason in ("The time is said nowhere.", both):
        assert review_task(sample, tools, verdicts, reason=reason).why == "A check did not pass."
    edited = "As edited by ann: The time is said nowhere."
    made = sample.with_changes(origin=Origin(stage="review"))
    assert (
        review_task(made, tools, verdicts, reason=edited).why
        == "As edited by ann: A check did not pass."
    )
    assert review_task(sample, tools, verdicts, reason="Look again.").why == "Look again."


FACTS = [
    (
        "adds",
        "The user also seems to give time: seven, but the call does not use it.",
        "用户似乎还给出了 time：seven",
    ),
    (
        "gives_other",
        "For time the call has 19:30, but whoever reads the conversation alone takes seven.",
        "time 在调用里是 19:30",
    ),
    (
        "calls_other",
        "Whoever reads the conversation alone calls cancel_table instead.",
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


@pytest.mark.parametrize("language", interface_languages())
def test_a_kind_that_no_check_declares_any_more_is_told_by_its_check_and_reason(language, dialogue):
    fact = DoubtedFact(kind="retired_long_ago", turn=2)
    found = Verdict(
        subject="s", check="gone", decision="unproved", reason="It was so.", doubts=(fact,)
    )
    [told] = doubt_sentences(dialogue.turns, told_in_english([found]), words_in(language))
    assert "gone" in told
    assert told.endswith("(It was so.)")


def test_a_doubt_of_a_check_of_somebody_elses_is_told_in_english_where_nobody_has_translated_it(
    dialogue,
):
    fact = DoubtedFact(
        kind="impolite", quote="now", sentence="The user says “{words}” and not please."
    )
    found = Verdict(subject="s", check="please", decision="unproved", reason="-", doubts=(fact,))
    for language in interface_languages():
        assert doubt_sentences(dialogue.turns, [found], words_in(language)) == [
            "The user says “now” and not please."
        ]


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


def test_what_several_checks_found_in_the_same_words_is_told_once(sample):
    facts = [
        DoubtedFact(kind="adds", argument="seating", other="outside"),
        DoubtedFact(kind="stated_unused", argument="seating", quote="outside"),
        DoubtedFact(kind="words_left", quote="outside"),
        DoubtedFact(kind="adds", argument="time", other="18:00"),
        DoubtedFact(kind="words_left", quote="by the river"),
    ]
    found = [
        Verdict(subject=sample.key, check=f"c{at}", decision="unproved", doubts=(fact,))
        for at, fact in enumerate(facts)
    ]
    assert doubt_sentences(sample.turns, told_in_english(found), words_in("en")) == [
        "The user says “outside”, which seems to be seating, but the call does not use it.",
        "The user also seems to give time: 18:00, but the call does not use it.",
        "“by the river” belongs to no call.",
    ]


def test_calls_of_earlier_turns_are_folded_by_turn_with_the_evidence_of_what_is_new(
    dialogue, tools
):
    assert review_task(dialogue, tools, [], reason="-").earlier_calls.splitlines() == [
        "User 1",
        "  book_table",
        "    restaurant = Blue Boat   ← “Blue Boat” (User 1 · said)",
        "User 2",
        "  book_table",
        "    date = 2026-05-03   ← “3rd of May” (User 2 · Message · said otherwise)",
        "User 3",
        "  book_table",
        "    people = 3   ← “three” (User 3 · said otherwise)",
    ]


def test_many_calls_are_seen_in_part_and_folded_whole(sample, tools):
    many = sample.with_changes(turns=(sample.turns[0], CallTurn(calls=sample.gold * 12)))
    task = review_task(many, tools, [], reason="-")
    assert task.calls_shown.splitlines()[-1] == "… 20 more"
    assert len(task.calls_shown.splitlines()) == 41
    assert len(task.earlier_calls.splitlines()) == 60


def test_dialogue_acts_in_doubt_have_their_names_on_the_screen(dialogue):
    fact = DoubtedFact(kind="acts_differ", turn=2, value=["inform"], other=["inform", "seek"])
    found = Verdict(subject=dialogue.key, check="replies", decision="contradicted", doubts=(fact,))
    [told] = doubt_sentences(dialogue.turns, [found], words_in("es"))
    assert told == "La respuesta está marcada como informa, pero parece informa / pide."


def test_a_long_result_has_a_line_for_each_of_its_entries(dialogue, tools):
    found = [
        {"name": f"House {number}", "rooms": ["blue", "green"], "price": number}
        for number in range(3)
    ]
    turns = (
        dialogue.turns[0],
        dialogue.turns[1].with_changes(executed=True),
        ResultTurn(results=({"hotels": found},)),
    )
    [shown] = [
        line.text
        for line in review_task(
            dialogue.with_changes(turns=turns), tools, [], reason="-"
        ).conversation
        if line.author == "API result"
    ]
    assert json.loads(shown) == {"hotels": found}
    assert '[ "blue", "green" ]' in shown


def test_a_fact_without_words_names_the_turn_before_its_call(dialogue):
    places = [index for index, turn in enumerate(dialogue.turns) if turn.kind == "calls"]
    fact = DoubtedFact(kind="turn_gives_nothing", turn=places[1])
    found = Verdict(subject=dialogue.key, check="dialogue", decision="unproved", doubts=(fact,))
    [told] = doubt_sentences(dialogue.turns, told_in_english([found]), words_in("en"))
    assert told == "What the user answers (User 2) changes nothing in the call."


def test_words_that_prove_a_value_are_marked_too_and_doubts_win(sample, tools):
    proof = next(
        item for call in sample.gold for item in call.evidence if item.quote and not item.in_message
    )
    shown = review_task(sample, tools, [], reason="-").conversation[0].text
    assert f"‹{proof.quote}›" in shown
    fact = DoubtedFact(kind="words_left", quote=proof.quote)
    found = Verdict(subject=sample.key, check="coverage", decision="unproved", doubts=(fact,))
    shown = review_task(sample, tools, [found], reason="-").conversation[0].text
    assert f"⟦{proof.quote}⟧" in shown
    assert f"‹{proof.quote}›" not in shown
    assert re.sub("[⟦⟧‹›]", "", shown) == sample.request


def test_doubts_name_the_turn_and_mark_its_words(dialogue, tools):
    number = max(index for index, turn in enumerate(dialogue.turns) if turn.kind == "user")
    said = dialogue.turns[number].text.split()[0]
    fact = DoubtedFact(kind="stated_unused", argument="time", quote=said)
    found = Verdict(subject=dialogue.key, check="gone", decision="unproved", doubts=(fact,))
    task = review_task(dialogue, tools, told_in_english([found]), reason="-")
    users = sum(turn.kind == "user" for turn in dialogue.turns)
    assert f"says “{said}” (User {users})" in task.failed
    assert any(
        line.author == f"User {users}" and f"⟦{said}⟧" in line.text for line in task.conversation
    )
    assert "⟦" not in task.request


def test_where_no_call_is_due_the_annotator_reads_a_sentence_and_edits_an_empty_list(sample, tools):
    silent = sample.with_changes(turns=(sample.turns[0], CallTurn()))
    task = review_task(silent, tools, [], reason="-")
    assert task.calls_shown == "No call is due (no candidate tool fits)"
    assert json.loads(task.calls) == []


def test_the_words_around_a_sample_are_chinese_for_a_chinese_annotator(sample, tools, verdicts):
    task = review_task(sample, tools, verdicts, reason="-", language="zh")
    assert task.failed.startswith("有的取值在对话中找不到出处。")
    assert task.details.startswith("未通过 · grounding")
    assert task.conversation[0].author == "用户"
    assert "必填" in task.tools


def test_a_conversation_is_told_in_chinese_for_a_chinese_annotator(dialogue, tools):
    task = review_task(dialogue, tools, [], reason="-", language="zh")
    assert [line.author for line in task.conversation][:4] == ["用户 1", "→", "助手", "用户 2"]
    assert task.conversation[-1].text == "⚑ 转变:   ~ people: 3 → 4"
    assert "  date = 2026-05-03   ← “3rd of May” (用户 2 · 消息 · 换了说法)" in task.calls_shown
    assert task.request.startswith(
        "用户 1: A table at Blue Boat, please.\n-> book_table\n+ restaurant = Blue Boat\n助手: "
    )
    assert task.calls == ""


def test_an_edit_that_came_back_is_found_again_with_what_was_typed(sample, tools):
    returned = Returned(
        request="Book it.", calls="[oops", problem="The calls are not JSON.", version=1
    )
    task = review_task(sample, tools, [], reason="A check failed.", returned=returned)
    assert task.callwright_key.endswith(":2")
    assert task.why == "Your edit came back: The calls are not JSON.\nA check failed."
    assert (task.request, task.calls) == ("Book it.", "[oops")


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
