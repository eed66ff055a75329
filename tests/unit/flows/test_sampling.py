"""Of many records those are chosen that differ: of each tool and outcome, what was said most
often and what is least like it.
"""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from callwright.flows.recipe import STRATA
from callwright.flows.sources import choose
from callwright.generators.taken import CALL
from callwright.warehouse.records import CallTurn, GoldCall, Sample, TakenRecord, UserTurn


def record(text: str, tool: str = "a", outcome: str = "ok") -> TakenRecord:
    calls = (GoldCall(tool=tool, arguments={"q": " ".join(text.casefold().split())}),)
    sample = Sample(
        kind=CALL,
        language="en",
        category="",
        candidates=(),
        turns=(UserTurn(text=text), CallTurn(calls=calls)),
    )
    return TakenRecord(where=text, format="openai", sample=sample, outcome=outcome)


def by_letter(texts: Sequence[str]) -> list[list[float]]:
    """Texts are alike that begin with the same letter."""
    return [
        [float(text[0].casefold() == letter) for letter in "abcdefghijklmnopqrstuvwxyz"]
        for text in texts
    ]


def test_those_that_say_the_same_are_one_with_its_count() -> None:
    read = [record("Rain?"), record("rain?"), record("  Rain?  "), record("Snow?")]
    chosen = choose(lambda: read, 10, STRATA, by_letter)
    assert (chosen.seen, chosen.folded) == ({0: 3, 3: 1}, 2)


def test_a_rare_tool_and_a_rare_outcome_have_their_share() -> None:
    read = [
        *(record(f"a{number}") for number in range(200)),
        record("b", tool="rare"),
        record("c", outcome="error"),
    ]
    chosen = choose(lambda: read, 6, STRATA, by_letter)
    assert {200, 201} <= chosen.seen.keys()
    assert len(chosen.seen) == 6
    assert chosen.not_chosen == 196


def test_what_is_new_comes_before_what_is_like_the_others() -> None:
    read = [*(record(f"a{number}") for number in range(50)), record("b1"), record("c1")]
    chosen = choose(lambda: read, 3, ("tool",), by_letter)
    assert {50, 51} <= chosen.seen.keys()


@given(st.lists(st.sampled_from(["a", "b", "c", "d1", "d2"]), max_size=30), st.integers(1, 8))
def test_every_record_is_chosen_folded_or_left(texts: list[str], take: int) -> None:
    read = [record(text) for text in texts]
    chosen = choose(lambda: read, take, STRATA, by_letter)
    assert sum(chosen.seen.values()) <= len(read)
    assert len(chosen.seen) + chosen.folded + chosen.not_chosen == len(read)
    assert len(chosen.seen) == min(take, len(set(texts)))
