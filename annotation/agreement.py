"""Inter-reviewer agreement, and which edits count as the same answer."""

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
    """One reviewer's rating of one item, with the reasons that they named."""

    item: str
    reviewer: str
    label: str
    reasons: tuple[str, ...] = ()


class Agreement(NamedTuple):
    """How far reviewers agree by one measure; `value` is None where the measure is undefined.

    `items` counts the items for which somebody named the reason; for all other subjects, the
    items that two or more reviewers rated.
    """

    measure: Measure
    slice_by: SliceBy
    slice_value: str
    value: float | None
    items: int
    reviewers: int


def answer_of_edit(edited: Sample) -> str:
    """Return a key of an edit's content; edits that say and call the same have the same key.

    The order and spacing in which people typed it make no difference. Evidence is left out,
    because it follows from the content.
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
    """Return all agreement figures: overall, by reviewer, by pair of reviewers, by reason.

    The ratings of an item are in the order in which they were given, one per reviewer. Each
    reviewer is compared with all others together.
    """
    shared = [word for ratings in _shared(words) for word in ratings]
    if not shared:
        return []
    return [*_over_all(shared), *_by_pair(shared), *_by_reason(shared)]


def observed_agreement(words: Sequence[ItemRating]) -> float | None:
    """Return the share of rating pairs for an item that agree, as a mean over the items."""
    shares = list(map(_share, _shared(words)))
    return sum(shares) / len(shares) if shares else None


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa of paired labels, or None if chance alone would agree on all items."""
    labels = sorted({label for pair in pairs for label in pair})
    if len(labels) < _TWO:
        return None
    from statsmodels.stats.inter_rater import cohens_kappa

    counts = Counter(pairs)
    table = [[counts[one, other] for other in labels] for one in labels]
    return float(cohens_kappa(table, return_results=False))


def fleiss_kappa(words: Sequence[ItemRating]) -> float | None:
    """Return Fleiss' kappa, or None if fewer than two labels occur.

    Fleiss' kappa needs equally many ratings per item, so each item counts with its first n,
    where n is the smallest number of ratings that any item has. Items with fewer than two
    ratings are left out.
    """
    items = _shared(words)
    count = min(map(len, items), default=0)
    table = _table([ratings[:count] for ratings in items])
    if not table or len(table[0]) < _TWO:
        return None
    from statsmodels.stats.inter_rater import fleiss_kappa as kappa_of

    return float(kappa_of(table))


def krippendorff_alpha(words: Sequence[ItemRating]) -> float | None:
    """Return Krippendorff's alpha for nominal labels, or None if fewer than two labels occur.

    Items may have different numbers of ratings; those with fewer than two are left out.
    (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", part C)
    """
    table = _table(_shared(words))
    if not table or len(table[0]) < _TWO:
        return None
    totals: list[int] = [sum(column) for column in zip(*table, strict=True)]
    observed = sum(_unlike_pairs(row) / (sum(row) - 1) for row in table)
    return 1 - observed * (sum(totals) - 1) / _unlike_pairs(totals)


def _unlike_pairs(counts: Sequence[int]) -> int:
    """Return how many ordered pairs of ratings differ, given how often each label occurs."""
    return sum(counts) ** 2 - sum(count**2 for count in counts)


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
    """Label pairs of a reviewer and others on the same items, with those items and people."""

    pairs: list[tuple[str, str]]
    items: set[str]
    others: set[str]


def _by_pair(words: Sequence[ItemRating]) -> Iterator[Agreement]:
    """Yield the agreement of each reviewer with all others, then of each pair of reviewers."""
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
    """Yield, for each reason, how far reviewers agree on the items that it applies to."""
    for reason in sorted({reason for word in words for reason in word.reasons}):
        named = (word._replace(label=str(reason in word.reasons)) for word in words)
        items = {word.item for word in words if reason in word.reasons}
        reviewers = {word.reviewer for word in words if word.item in items}
        alpha = krippendorff_alpha([*named])
        yield Agreement("krippendorff_alpha", "reason", reason, alpha, len(items), len(reviewers))


def _by_item(words: Sequence[ItemRating]) -> dict[str, list[ItemRating]]:
    return grouped(words, attrgetter("item"))


def _shared(words: Sequence[ItemRating]) -> list[list[ItemRating]]:
    """Return the ratings of each item that two or more reviewers rated."""
    return [ratings for ratings in _by_item(words).values() if len(ratings) >= _TWO]


def _share(ratings: Sequence[ItemRating]) -> float:
    same = sum(one.label == other.label for one, other in combinations(ratings, 2))
    return same / (len(ratings) * (len(ratings) - 1) / 2)


def _table(items: Sequence[Sequence[ItemRating]]) -> list[list[int]]:
    """Return how often each item got each label: one row per item, one column per used label."""
    labels = sorted({word.label for ratings in items for word in ratings})
    counts = [Counter(word.label for word in ratings) for ratings in items]
    return [[count[label] for label in labels] for count in counts]
