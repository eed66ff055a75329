"""Figures of readers that read the same planted places: what each caught and doubted, at what price, and whom it pays to ask."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from callwright.validators.metrics.intervals import share_interval
from callwright.warehouse.records import PlantedReading


class ReaderFigures(NamedTuple):
    """How a model read: shares lie between `_low` and `_high` with 95 % confidence, and are None where nothing was planted.

    `wrong` is the share of wrong ones to be expected among what it chooses, `most_wrong` what it may be as far as is known.
    `dollars` are those of a thousand readings, None where nobody knows the price; `tokens` those of one.
    """

    model: str
    planted: int
    caught: int
    catch_rate: float | None
    catch_low: float | None
    catch_high: float | None
    doubles: int
    doubted_doubles: int
    false_doubts: float | None
    doubts_low: float | None
    doubts_high: float | None
    wrong: float | None
    most_wrong: float | None
    tokens: float
    dollars: float | None


def figures_of(
    model: str,
    readings: Iterable[PlantedReading],
    wrong_before: float,
    *,
    tokens: float = 0.0,
    dollars: float | None = None,
) -> ReaderFigures:
    """What a model's readings come to where `wrong_before` of what is read is wrong."""
    outcomes = [one.outcome for one in readings]
    caught, missed = outcomes.count("caught"), outcomes.count("missed")
    doubted, passed = outcomes.count("falsely_doubted"), outcomes.count("passed")
    planted, doubles = caught + missed, doubted + passed
    of_caught, of_doubts = (
        share_interval(met, whole) if whole else None for met, whole in ((caught, planted), (doubted, doubles))
    )
    wrong = most_wrong = None
    if of_caught is not None:
        wrong = wrong_among_chosen(wrong_before, missed / planted, doubted / doubles if doubles else 0.0)
        most_wrong = wrong_among_chosen(wrong_before, 1 - of_caught.low, of_doubts.high if of_doubts else 1.0)
    return ReaderFigures(
        model=model,
        planted=planted,
        caught=caught,
        catch_rate=caught / planted if planted else None,
        catch_low=of_caught and of_caught.low,
        catch_high=of_caught and of_caught.high,
        doubles=doubles,
        doubted_doubles=doubted,
        false_doubts=doubted / doubles if doubles else None,
        doubts_low=of_doubts and of_doubts.low,
        doubts_high=of_doubts and of_doubts.high,
        wrong=wrong,
        most_wrong=most_wrong,
        tokens=tokens,
        dollars=dollars,
    )


def wrong_among_chosen(wrong_before: float, missed: float, doubted: float) -> float:
    """The share of wrong ones among what a reader chooses, by how many it misses, and how many right ones it doubts.

    >>> round(wrong_among_chosen(0.1, 0.2, 0.0), 4)
    0.0217
    """
    chosen_wrong, chosen_right = wrong_before * missed, (1 - wrong_before) * (1 - doubted)
    return chosen_wrong / (chosen_wrong + chosen_right) if chosen_wrong + chosen_right else 1.0


def cheapest(figures: Sequence[ReaderFigures], wrong_at_most: float) -> ReaderFigures | None:
    """The cheapest reader of a known price of which it is known that no more is wrong; of two as cheap the more careful one."""
    good = [one for one in figures if one.most_wrong is not None and one.most_wrong <= wrong_at_most]
    priced = [one for one in good if one.dollars is not None]
    return min(priced, key=lambda one: (one.dollars, one.most_wrong, one.model), default=None)
