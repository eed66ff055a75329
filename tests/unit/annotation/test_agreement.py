"""Figures of agreement, held against examples worked out by hand and known ones."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.annotation.agreement import (
    Agreement,
    ItemRating,
    answer_of_edit,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    measure_agreement,
    observed_agreement,
)
from callwright.warehouse.records import CallTurn, GoldCall, Sample, UserTurn

PEOPLE = ("ann", "bob", "cem", "dee")
LABELS = st.sampled_from(["accept", "edit", "reject"])


def words_of(*items: str) -> list[ItemRating]:
    """Words of one letter, a group an item: by ann, bob, cem and dee; a dot for who said
    nothing.
    """
    return [
        ItemRating(str(item), person, label)
        for item, labels in enumerate(items)
        for person, label in zip(PEOPLE, labels, strict=False)
        if label != "."
    ]


def found(words: list[ItemRating], measure: str, slice_by: str, slice_value: str = "") -> Agreement:
    rows = {(row.measure, row.slice_by, row.slice_value): row for row in measure_agreement(words)}
    return rows[measure, slice_by, slice_value]  # type: ignore[index]


def test_cohens_kappa_of_two_who_judged_fifty_things() -> None:
    """Both say yes 20 times, both no 15 times: they agree on .7; by chance, saying yes in .5 and
    .6, on .5.
    """
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    assert cohen_kappa(pairs) == pytest.approx((0.7 - 0.5) / (1 - 0.5))


def test_fleiss_kappa_of_the_known_fourteen_raters() -> None:
    counts = [
        "0 0 0 0 14",
        "0 2 6 4 2",
        "0 0 3 5 6",
        "0 3 9 2 0",
        "2 2 8 1 1",
        "7 7 0 0 0",
        "3 2 6 3 0",
        "2 5 3 2 2",
        "6 5 2 1 0",
        "0 2 2 3 7",
    ]
    labels = [
        chain.from_iterable([str(at)] * int(count) for at, count in enumerate(row.split()))
        for row in counts
    ]
    words = [
        ItemRating(str(item), str(rater), label)
        for item, row in enumerate(labels)
        for rater, label in enumerate(row)
    ]
    assert fleiss_kappa(words) == pytest.approx(0.210, abs=0.0005)


def test_fleiss_kappa_takes_as_many_words_of_each_item_as_the_shortest_has() -> None:
    assert fleiss_kappa(words_of("aar", "ar", "rr")) == fleiss_kappa(words_of("aa", "ar", "rr"))


@pytest.mark.parametrize(
    ("reviewers", "alpha"),
    [
        (("0100000010", "1110010000"), 0.095),
        (("aabbdcccedda", "babbbccceddd"), 0.692),
        (("123321412...", "1233224125.3", ".3332342251.", "12332441251."), 0.743),
    ],
)
def test_krippendorffs_alpha_of_his_own_examples(reviewers: tuple[str, ...], alpha: float) -> None:
    """A, B and C of "Computing Krippendorff's Alpha-Reliability" (2011)."""
    words = words_of(*map("".join, zip(*reviewers, strict=True)))
    assert krippendorff_alpha(words) == pytest.approx(alpha, abs=0.0005)


@pytest.mark.parametrize("items", [(), ("a",), ("a", "r.."), ("aa", "aaa"), ("aa", ".r")])
def test_what_is_not_defined_has_no_value(items: tuple[str, ...]) -> None:
    words = words_of(*items)
    assert fleiss_kappa(words) is None
    assert krippendorff_alpha(words) is None
    assert cohen_kappa([("a", "a")] * 3) is None
    assert cohen_kappa([]) is None
    assert all(row.value is None for row in measure_agreement(words) if row.measure != "observed")


def test_items_of_which_one_person_spoke_tell_nothing() -> None:
    assert observed_agreement(words_of("a", "r")) is None
    assert measure_agreement(words_of("a", "r")) == []
    assert measure_agreement(words_of("aa", "r", "rr", "ar")) == measure_agreement(
        words_of("aa", ".", "rr", "ar")
    )


def test_each_reviewer_is_held_against_all_others_and_each_pair_against_itself() -> None:
    words = words_of("aar", "rr", "a.a", "rra")
    assert found(words, "observed", "reviewer", "cem") == Agreement(
        "observed", "reviewer", "cem", 1 / 5, 3, 3
    )
    assert found(words, "observed", "pair", "ann / bob") == Agreement(
        "observed", "pair", "ann / bob", 1.0, 3, 2
    )
    assert found(words, "cohen_kappa", "pair", "ann / bob").value == pytest.approx(1)
    # ann and cem: a-r, a-a, r-a; they agree on 1/3, by chance on 2/3 * 2/3 + 1/3 * 1/3
    assert found(words, "cohen_kappa", "pair", "ann / cem").value == pytest.approx(
        (1 / 3 - 5 / 9) / (4 / 9)
    )
    assert found(words, "observed", "all").items == 4


def test_a_reason_is_agreed_on_where_people_name_it_for_the_same_items() -> None:
    words = [
        ItemRating("1", "ann", "reject", ("wrong_value", "other")),
        ItemRating("1", "bob", "reject", ("wrong_value",)),
        ItemRating("2", "ann", "accept"),
        ItemRating("2", "bob", "reject", ("other",)),
    ]
    assert found(words, "krippendorff_alpha", "reason", "wrong_value").value == pytest.approx(1)
    other = found(words, "krippendorff_alpha", "reason", "other")
    assert other.value == pytest.approx(1 - 4 / (2 * 2 * 2 / 3))
    assert (other.items, other.reviewers) == (2, 2)


@given(st.lists(st.lists(LABELS, min_size=2, max_size=4), min_size=1, max_size=8))
def test_no_figure_is_above_one_and_names_of_people_change_none(items: list[list[str]]) -> None:
    words = [
        ItemRating(str(at), person, label)
        for at, labels in enumerate(items)
        for person, label in zip(PEOPLE, labels, strict=False)
    ]
    turned = [word._replace(reviewer=PEOPLE[-1 - PEOPLE.index(word.reviewer)]) for word in words]
    for measure in (observed_agreement, fleiss_kappa, krippendorff_alpha):
        value = measure(words)
        assert value is None or value <= 1 + 1e-9
        assert measure(turned) == value


def test_edits_are_one_answer_whatever_their_blanks_and_the_order_of_calls_due_together() -> None:
    def answer(text: str, *cities: str) -> str:
        calls = tuple(GoldCall(tool="weather", arguments={"city": city}) for city in cities)
        turns = (UserTurn(text=text), CallTurn(calls=calls))
        return answer_of_edit(
            Sample(kind="perfect", language="en", category="", candidates=(), turns=turns)
        )

    edited = answer("Rain in Oslo or Rome?", "Oslo", "Rome")
    assert answer("Rain  in Oslo or Rome? ", "Rome", "Oslo") == edited
    assert answer("Rain in Oslo and Rome?", "Oslo", "Rome") != edited
    assert answer("Rain in Oslo or Rome?", "Oslo", "Rom") != edited
