"""How far people agree who answered the same questions, each on their own, and which edits are
one answer.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations
from operator import attrgetter
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.warehouse.batches import grouped
from callwright.warehouse.records import CallTurn, Sample, Turn, content_key

Measure = Literal["observed", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha"]
SliceBy = Literal["all", "reviewer", "pair", "reason"]
_TWO = 2  # fewer can't agree


class ItemRating(NamedTuple):
    """How one reviewer rates one item, and the reasons named for it."""

    item: str
    reviewer: str
    label: str
    reasons: tuple[str, ...] = ()


class Agreement(NamedTuple):
    """How far people agree by a measure; `value` is None where the measure is not defined.

    `items` of a reason are those for which somebody named it; of all else those that two or more
    spoke about.
    """

    measure: Measure
    slice_by: SliceBy
    slice_value: str
    value: float | None
    items: int
    reviewers: int


def answer_of_edit(edited: Sample) -> str:
    """What an edit says: the same for all that make the same of a sample, in whatever order and
    with whatever blanks they type it.

    It is what is said and called; the proofs of the values, which follow from that, are left out.
    """
    return content_key([_content_of(turn) for turn in edited.turns])


def _content_of(turn: Turn) -> JsonValue:
    if isinstance(turn, CallTurn):  # calls that are due together have no order
        calls = sorted(content_key([call.tool, call.arguments]) for call in turn.calls)
        return [turn.executed, *calls]
    return _without_blanks(turn.model_dump(mode="json"))


def _without_blanks(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, dict):
        return {name: _without_blanks(held) for name, held in value.items()}
    return [_without_blanks(held) for held in value] if isinstance(value, list) else value


def measure_agreement(words: Sequence[ItemRating]) -> list[Agreement]:
    """All figures about the agreement in `words`: over all, by reviewer, by pair of them, by
    reason.

    The words about an item stand in the order in which they were ratings; each reviewer has one. A
    reviewer is compared with all others together.
    """
    shared = [word for ratings in _shared(words) for word in ratings]
    if not shared:
        return []
    return [*_over_all(shared), *_by_pair(shared), *_by_reason(shared)]


def observed_agreement(words: Sequence[ItemRating]) -> float | None:
    """The share of the pairs of words about an item that say the same, as a mean over items."""
    shares = list(map(_share, _shared(words)))
    return sum(shares) / len(shares) if shares else None


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's kappa of pairs of labels for the same items; None where chance alone would agree
    on all.
    """
    labels = sorted({label for pair in pairs for label in pair})
    if len(labels) < _TWO:
        return None
    from statsmodels.stats.inter_rater import cohens_kappa

    counts = Counter(pairs)
    table = [[counts[one, other] for other in labels] for one in labels]
    return float(cohens_kappa(table, return_results=False))


def fleiss_kappa(words: Sequence[ItemRating]) -> float | None:
    """Fleiss' kappa: it needs as many words about each item, so the first few count, as many as
    the shortest item has.
    """
    items = _shared(words)
    count = min(map(len, items), default=0)
    table = _table([ratings[:count] for ratings in items])
    if not table or len(table[0]) < _TWO:
        return None
    from statsmodels.stats.inter_rater import fleiss_kappa as kappa_of

    return float(kappa_of(table))


def krippendorff_alpha(words: Sequence[ItemRating]) -> float | None:
    """Krippendorff's alpha for labels without an order; items may have different numbers of
    words.
    """
    table = _table(_shared(words))
    if not table or len(table[0]) < _TWO:
        return None
    import krippendorff

    return float(krippendorff.alpha(value_counts=table, level_of_measurement="nominal"))


def _over_all(words: Sequence[ItemRating]) -> Iterator[Agreement]:
    measures: dict[Measure, Callable[[Sequence[ItemRating]], float | None]] = {
        "observed": observed_agreement,
        "fleiss_kappa": fleiss_kappa,
        "krippendorff_alpha": krippendorff_alpha,
    }
    items, reviewers = len(_by_item(words)), len({word.reviewer for word in words})
    for measure, of in measures.items():
        yield Agreement(measure, "all", "", of(words), items, reviewers)


class _Met(NamedTuple):
    """The labels that a reviewer and others gave the same items, and which items and others
    these were.
    """

    pairs: list[tuple[str, str]]
    items: set[str]
    others: set[str]


def _by_pair(words: Sequence[ItemRating]) -> Iterator[Agreement]:
    """Each reviewer against all others, then each pair of reviewers."""
    alone: defaultdict[str, _Met] = defaultdict(lambda: _Met([], set(), set()))
    couples: defaultdict[str, _Met] = defaultdict(lambda: _Met([], set(), set()))
    for item, ratings in _by_item(words).items():
        for one, other in permutations(ratings, 2):
            _meet(alone[one.reviewer], item, one, other)
        for one, other in combinations(sorted(ratings, key=lambda word: word.reviewer), 2):
            _meet(couples[f"{one.reviewer} / {other.reviewer}"], item, one, other)
    slices: list[tuple[SliceBy, dict[str, _Met]]] = [("reviewer", alone), ("pair", couples)]
    for slice_by, slices_of in slices:
        for name, met in sorted(slices_of.items()):
            same = sum(one == other for one, other in met.pairs) / len(met.pairs)
            items, reviewers = len(met.items), len(met.others)
            yield Agreement("observed", slice_by, name, same, items, reviewers)
            yield Agreement("cohen_kappa", slice_by, name, cohen_kappa(met.pairs), items, reviewers)


def _meet(met: _Met, item: str, one: ItemRating, other: ItemRating) -> None:
    met.pairs.append((one.label, other.label))
    met.items.add(item)
    met.others.update((one.reviewer, other.reviewer))


def _by_reason(words: Sequence[ItemRating]) -> Iterator[Agreement]:
    """Whether people agree for which items a reason is to be named."""
    for reason in sorted({reason for word in words for reason in word.reasons}):
        named = (word._replace(label=str(reason in word.reasons)) for word in words)
        items = {word.item for word in words if reason in word.reasons}
        reviewers = {word.reviewer for word in words if word.item in items}
        alpha = krippendorff_alpha([*named])
        yield Agreement("krippendorff_alpha", "reason", reason, alpha, len(items), len(reviewers))


def _by_item(words: Sequence[ItemRating]) -> dict[str, list[ItemRating]]:
    return grouped(words, attrgetter("item"))


def _shared(words: Sequence[ItemRating]) -> list[list[ItemRating]]:
    """The words about each item that two or more spoke about."""
    return [ratings for ratings in _by_item(words).values() if len(ratings) >= _TWO]


def _share(ratings: Sequence[ItemRating]) -> float:
    same = sum(one.label == other.label for one, other in combinations(ratings, 2))
    return same / (len(ratings) * (len(ratings) - 1) / 2)


def _table(items: Sequence[Sequence[ItemRating]]) -> list[list[int]]:
    """How often each item was given each label: a row an item, a column a label that occurs."""
    labels = sorted({word.label for ratings in items for word in ratings})
    counts = [Counter(word.label for word in ratings) for ratings in items]
    return [[count[label] for label in labels] for count in counts]
