"""Finding samples that say what another one said."""

import io
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import orjson
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.checks.duplicates import (
    REWORDED,
    ComparedSamples,
    find_duplicates,
    short_hash,
)
from callwright.warehouse.records import CallTurn, GoldCall, Sample, UserTurn, Verdict

LONG = (
    "please book a quiet table by the window at Lindenhof for the four of us and our small dog this"
    " coming evening"
)


def sample(
    text: str, *, tool: str | None = "book", candidates: tuple[str, ...] = ("a", "b"), **arguments
) -> Sample:
    calls = (GoldCall(tool=tool, arguments=arguments),) if tool else ()
    return Sample(
        kind="perfect",
        language="en",
        category="Food",
        candidates=candidates,
        withheld=() if tool else ("w",),
        turns=(UserTurn(text=text), CallTurn(calls=calls)),
    )


def compared(samples: Iterable[Sample], **settings) -> ComparedSamples:
    found = ComparedSamples(io.BytesIO(), **settings)
    for one in {one.key: one for one in samples}.values():
        found.add(one)
    return found


def keys_of(samples: Iterable[Sample]) -> list[str]:
    return [one.key for one in samples]


def verdicts(
    *samples: Sample, known: Sequence[Sample] = (), reworded: float | None = None
) -> list[Verdict]:
    everything = compared([*known, *samples])
    return list(
        find_duplicates(keys_of(samples), everything, known=keys_of(known), reworded=reworded)
    )


def decisions(*samples: Sample, reworded: float | None = None) -> list[str]:
    return [verdict.decision for verdict in verdicts(*samples, reworded=reworded)]


def test_the_first_is_proved_and_its_twin_names_it() -> None:
    first, other = sample(LONG), sample(LONG.replace("our small dog", "our tiny dog") + " or so")
    alone, unlike, twin = verdicts(first, other, sample(LONG + " thanks"))
    assert alone.reason == unlike.reason == "It is unlike all before it."
    assert twin.decision == "contradicted"
    assert first.key in twin.reason
    assert 0.9 <= (twin.score or 0) < 1


def test_spelling_does_not_hide_a_twin() -> None:
    assert decisions(sample("Book a table!", n=4), sample("book   a TABLE", n=4)) == [
        "proved",
        "contradicted",
    ]


def test_the_same_text_with_another_gold_is_ambiguous() -> None:
    _, verdict = verdicts(sample("Book a table", n=4), sample("Book a table", n=5))
    assert verdict.decision == "contradicted"
    assert "other calls are due" in verdict.reason


def test_the_same_text_before_other_tools_may_lead_elsewhere() -> None:
    with_gold, without = (
        sample("Book a table"),
        sample("Book a table", tool=None, candidates=("b", "c")),
    )
    assert decisions(with_gold, without) == ["proved", "proved"]
    assert decisions(with_gold, sample("Book a table", tool=None)) == ["proved", "contradicted"]


@pytest.mark.parametrize(
    ("text", "again"),
    [
        (
            "Call me at 7. Then book table 12 at Roma, please.",
            "Then book table 12 at Roma, please. Call me at 7.",
        ),
        (
            "请帮我订罗马餐厅的座位。时间是晚上七点半，四个人。",
            "时间是晚上七点半，四个人。请帮我订罗马餐厅的座位。",
        ),
    ],
)
def test_another_order_of_sentences_is_the_same_request(text: str, again: str) -> None:
    assert decisions(sample(text), sample(again)) == ["proved", "contradicted"]


def by_definition(
    samples: Sequence[Sample], threshold: float
) -> Iterator[tuple[str, float | None]]:
    """Each sample against every other one before it: the reason, and the likeness where it is a
    twin.
    """

    def words(one: Sample) -> set[str]:
        return set(one.request.split())

    def likeness(one: Sample, other: Sample) -> float:
        may_be_twins = (one.kind, one.gold) == (other.kind, other.gold)
        numbers = [
            sorted(word for word in x.request.split() if word.isdigit()) for x in (one, other)
        ]
        mine, others = words(one), words(other)
        return (
            len(mine & others) / len(mine | others)
            if may_be_twins and numbers[0] == numbers[1]
            else 0
        )

    def of_same_words(one: Sample, other: Sample) -> str:
        if one.request.split() != other.request.split():
            return ""
        is_same_end, mine, others = (
            one.gold == other.gold,
            set(one.candidates),
            set(other.candidates),
        )
        is_ambiguous = one.gold[0].tool == other.gold[0].tool or mine <= others or others <= mine
        why = "to the same end" if is_same_end else "but other calls are due"
        says = f"It says what {other.key} says, word for word, {why}."
        return says if is_same_end or is_ambiguous else ""

    for one in samples:
        before = list({other.key: other for other in samples[: samples.index(one)]}.values())
        same = [said for other in before if (said := of_same_words(one, other))]
        nearest = max(before, key=lambda other: likeness(one, other), default=None)
        near = likeness(one, nearest) if nearest else 0
        if same:
            yield same[0], 1.0
        elif nearest and near >= threshold:
            yield f"It is {near:.0%} like {nearest.key}, to the same end.", round(near, 4)
        else:
            yield "It is unlike all before it.", None


_SAMPLES = st.builds(
    lambda words, kind, tool, n, others: sample(
        " ".join(words), tool=tool, candidates=("a", *sorted(others)), n=n
    ).with_changes(kind=kind),
    st.lists(st.sampled_from("ab1"), min_size=1, max_size=9),
    st.sampled_from(["perfect", "imperfect"]),
    st.sampled_from(["book", "cancel"]),
    st.integers(0, 1),
    st.sets(st.sampled_from("bc")),
)


@pytest.mark.parametrize(
    "hashed", [short_hash, len, lambda _: 0], ids=["hashes", "collisions", "one-group"]
)
@given(
    samples=st.lists(_SAMPLES, max_size=14),
    again=st.lists(st.integers(0, 13), max_size=4),
    known=st.integers(0, 6),
    threshold=st.sampled_from([0.4, 0.6, 0.9, 1.0]),
)
def test_verdicts_are_exactly_those_of_comparing_all_pairs(
    hashed: Callable[[str], int],
    samples: list[Sample],
    again: list[int],
    known: int,
    threshold: float,
) -> None:
    samples = [*samples, *(samples[at] for at in again if at < len(samples))]
    everything = compared(samples, hashed=hashed)
    keys = keys_of(samples)
    found = find_duplicates(
        keys[known:], everything, known=keys[:known], threshold=threshold, reworded=None
    )
    told = [(one.subject, one.reason, one.score) for one in found]
    expected = zip(samples, by_definition(samples, threshold), strict=True)
    assert told == [(one.key, *verdict) for one, verdict in expected][known:]


def many(count: int) -> Iterator[Sample]:
    return (
        sample(f"{LONG} and call me {at} times when it is {at % 97} past", n=at % 50)
        for at in range(count)
    )


def test_it_keeps_up_with_many_samples_of_one_tool() -> None:
    samples = list(many(1_000))
    started = time.process_time()
    assert set(decisions(*samples)) == {"proved"}
    assert time.process_time() - started < 2  # 0.15 s on a free machine


def test_little_of_a_sample_stays_in_memory(tmp_path: Path) -> None:
    def proved() -> int:
        everything, keys = ComparedSamples((tmp_path / "compared").open("w+b")), []
        for one in many(1_000):
            everything.add(one)
            keys.append(one.key)
        return sum(verdict.decision == "proved" for verdict in find_duplicates(keys, everything))

    proved()  # numpy is loaded, and caches of a size of their own are full
    tracemalloc.start()
    try:
        assert proved() == 1_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak / 1_000 < 300  # 80 of them its key; the samples have 3,000 bytes each in memory


# -- in other words

_REWORDINGS = yaml.safe_load(
    (Path(__file__).parent / "rewordings.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_reworded_requests_are_found_and_others_to_the_same_end_are_not(
    shared: Path, language: str
) -> None:
    lines = (shared / "cases" / "free_wordings.jsonl").read_text(encoding="utf-8").splitlines()
    wordings = {row["id"]: row for row in map(orjson.loads, lines)}
    pairs = {key: pair for key, pair in _REWORDINGS.items() if key.startswith(language)}

    def asking(key: str, text: str, name: str) -> Sample:
        """Of another tool for each pair, so that nothing but the pair is compared."""
        due = sample(text, tool=f"{key} {name}", **wordings[key]["arguments"])
        return due.with_changes(language=language)

    def found(name: str) -> int:
        asked = [
            asking(key, text, name)
            for key in pairs
            for text in (wordings[key]["request"], pairs[key][name])
        ]
        return decisions(*asked, reworded=REWORDED).count("contradicted")

    again, unlike = found("again"), found("unlike")
    assert again / (again + unlike) >= 0.95
    assert again / len(pairs) >= 0.8


def test_other_words_are_compared_only_where_the_same_calls_are_due() -> None:
    one, again = "Could you book a quiet table at Roma?", "Please book a quiet table at Roma"
    asked = [sample(text, place="Roma") for text in (one, again)]
    assert decisions(*asked, reworded=REWORDED) == ["proved", "contradicted"]
    assert (
        decisions(asked[0], sample(again, place="Roma", n=2), reworded=REWORDED) == ["proved"] * 2
    )
    assert (
        decisions(*(sample(text, tool=None) for text in (one, again)), reworded=REWORDED)
        == ["proved"] * 2
    )
    assert (
        decisions(sample(one + " I'm 20"), sample(again + ", I'm 30"), reworded=REWORDED)
        == ["proved"] * 2
    )


def test_a_conversation_is_as_alike_as_its_least_alike_turn() -> None:
    def talk(*texts: str) -> Sample:
        users = (UserTurn(text=text) for text in texts)
        return sample(texts[0]).with_changes(
            turns=(*users, CallTurn(calls=(GoldCall(tool="book"),)))
        )

    one = talk("Could you book a quiet table?", "By the window please, the kids love trains.")
    again = talk("Please book a quiet table", "By the window please, the kids love trains!")
    other = talk("Please book a quiet table", "My back hurts, so no high chairs.")
    assert decisions(one, again, reworded=REWORDED) == ["proved", "contradicted"]
    assert (
        decisions(one, other, talk("Please book a quiet table"), reworded=REWORDED)
        == ["proved"] * 3
    )
