"""The judge's score of a prediction: a number in double brackets (CallNavi 5.2)."""

import re
from collections.abc import Iterable
from statistics import fmean
from typing import NamedTuple

_RATING = re.compile(r"\[\[\s*([01](?:\.\d+)?|\.\d+)\s*\]\]")


class Ratings(NamedTuple):
    """The mean of the ratings that could be read, None without any, and how many could not."""

    mean: float | None
    read: int
    unread: int


def read_rating(reply: str) -> float | None:
    """The rating in 0..1 of a judge's reply, None where it gives none, or one beyond."""
    found = _RATING.search(reply)
    rating = float(found[1]) if found else None
    return rating if rating is not None and rating <= 1 else None


def mean_rating(replies: Iterable[str]) -> Ratings:
    """The score of all replies; a judge that gives no rating says nothing of the prediction."""
    ratings = [read_rating(reply) for reply in replies]
    read = [rating for rating in ratings if rating is not None]
    return Ratings(fmean(read) if read else None, len(read), len(ratings) - len(read))
