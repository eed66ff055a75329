"""Finding samples that say what another one said."""

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from validators.checks.duplicates import DuplicateIndex
from warehouse.records import CallTurn, GoldCall, Message, Sample, UserTurn

LONG = "please book a quiet table by the window at Lindenhof for the four of us and our small dog this coming evening"


def sample(text: str, *, tool: str | None = "book", candidates: tuple[str, ...] = ("a", "b"), **arguments) -> Sample:
    calls = (GoldCall(tool=tool, arguments=arguments),) if tool else ()
    return Sample(
        kind="perfect",
        language="en",
        category="Food",
        candidates=candidates,
        withheld=() if tool else ("w",),
        turns=(UserTurn(text=text), CallTurn(calls=calls)),
    )


def decisions(*samples: Sample) -> list[str]:
    index = DuplicateIndex()
    return [index.verdict(one).decision for one in samples]


def test_the_first_is_proved_and_its_twin_names_it() -> None:
    index, first = DuplicateIndex(), sample(LONG)
    assert index.verdict(first).reason == "It is unlike the 0 before it."
    twin = index.verdict(sample(LONG.replace("our small dog", "our tiny dog") + " or so"))
    assert twin.decision == "proved"
    twin = index.verdict(sample(LONG + " thanks"))
    assert twin.decision == "contradicted"
    assert first.key in twin.reason
    assert 0.9 <= (twin.score or 0) < 1


def test_spelling_does_not_hide_a_twin() -> None:
    assert decisions(sample("Book a table!", n=4), sample("book   a TABLE", n=4)) == ["proved", "contradicted"]


def test_requests_that_differ_in_a_value_are_two() -> None:
    one, other = sample(f"{LONG} at 19:00", time="19:00"), sample(f"{LONG} at 20:00", time="20:00")
    assert decisions(one, other) == ["proved", "proved"]


def test_numbers_tell_apart_what_has_no_gold() -> None:
    one, other = sample(f"{LONG} at table 19", tool=None), sample(f"{LONG} at table 20", tool=None)
    assert decisions(one, other, sample(f"{LONG}, at table 20!", tool=None)) == ["proved", "proved", "contradicted"]


def test_the_same_text_with_another_gold_is_ambiguous() -> None:
    index = DuplicateIndex()
    index.verdict(sample("Book a table", n=4))
    verdict = index.verdict(sample("Book a table", n=5))
    assert verdict.decision == "contradicted"
    assert "other calls are due" in verdict.reason


def test_the_same_text_before_other_tools_may_lead_elsewhere() -> None:
    with_gold, without = sample("Book a table"), sample("Book a table", tool=None, candidates=("b", "c"))
    assert decisions(with_gold, without) == ["proved", "proved"]
    assert decisions(with_gold, sample("Book a table", tool=None)) == ["proved", "contradicted"]


def test_a_sample_asked_about_twice_is_no_twin_of_itself() -> None:
    index, first, second = DuplicateIndex(), sample(LONG), sample("Cancel it")
    before = [index.verdict(one) for one in (first, second)]
    assert [index.verdict(one) for one in (first, second)] == before


def test_chinese_is_compared_by_pairs_of_characters() -> None:
    text = "请帮我在林登霍夫餐厅预订今天晚上七点半四个人的靠窗安静一点的座位谢谢"
    assert decisions(sample(text), sample(text + "你"), sample("取消预订")) == ["proved", "contradicted", "proved"]


@settings(max_examples=60)
@given(texts=st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=12).map(" ".join), max_size=12))
def test_the_index_finds_exactly_what_comparing_all_pairs_finds(texts: list[str]) -> None:
    def shingles(text: str) -> set:
        words = text.split()
        return {tuple(words[at : at + 3]) for at in range(len(words) - 2)} or {tuple(words)}

    expected, kept = [], []
    for text in texts:
        mine = shingles(text)
        alike = any(text == other or len(mine & theirs) / len(mine | theirs) >= 0.9 for other, theirs in kept)
        expected.append("contradicted" if alike else "proved")
        kept.append((text, mine))
    index, found, seen = DuplicateIndex(), [], {}
    for text in texts:
        one = sample(text, candidates=("a", str(len(seen))))
        seen[one.key] = None
        found.append(index.verdict(one).decision)
    assert found == expected


def test_the_index_keeps_up_with_many_samples_of_one_tool() -> None:
    samples = [sample(f"{LONG} and call me {at} times when it is {at % 97} past", n=at % 50) for at in range(1_000)]
    index = DuplicateIndex()
    started = time.perf_counter()
    verdicts = [index.verdict(one) for one in samples]
    assert time.perf_counter() - started < 2  # 0.15 s on a free machine
    assert {verdict.decision for verdict in verdicts} == {"proved"}


def test_requests_that_lean_on_one_message_are_compared_by_their_own_words() -> None:
    def leaning(words: str, message: str, **arguments) -> Sample:
        user = UserTurn(text=words, external=Message(app="Mail", text=message))
        return sample(words, **arguments).with_changes(turns=(user, *sample(words, **arguments).turns[1:]))

    one = leaning("Book the place in the mail", LONG, place="Lindenhof")
    assert decisions(one, leaning("Reserve where the mail says", LONG, place="Lindenhof")) == ["proved", "proved"]
    assert (
        decisions(one, leaning("Book the place in the mail", "Meet at Zum Adler", place="Zum Adler")) == ["proved"] * 2
    )
    assert decisions(one, leaning("book the place in the mail!", LONG, place="Lindenhof")) == ["proved", "contradicted"]
