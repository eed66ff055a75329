"""Measuring a reader: its calls are compared with the gold, and with planted defects.

A reader writes without knowing the gold, so nothing in its prompts reveals what is planted: what
it wrote for the check is compared with a wrong gold, and only a difference is settled, as in the
check. The defects are those that people make, from the request's own words. `figures_of` says
what a reader caught and doubted, by sort; `cheapest` which reader is worth its price.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

from callwright.generators.stages import Stage, StageContext
from callwright.validators.judges import PICK_TOOLS, SETTLE, WRITE, opinion_versions
from callwright.validators.metrics.ratios import share_interval
from callwright.validators.reading.defects import PLANTED, of_maker
from callwright.validators.reading.points import DuePoint, due_points
from callwright.validators.reading.writing import (
    MODEL,
    BlindReader,
    agrees,
    check_reading,
    read_point,
)
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import PlantedReading, ReadingOutcome, Sample, Tool

GROUP = "measuring"
DEFECTS = 0.75  # the share of what is planted that is a defect; the rest are golds as they are
_VERSION = "2"  # raised where other points or defects would be planted
# by whether a defect is planted, and whether it is doubted
_OUTCOMES: dict[tuple[bool, bool], ReadingOutcome] = {
    (True, True): "caught",
    (True, False): "missed",
    (False, True): "falsely_doubted",
    (False, False): "passed",
}


class PlantedPoint(NamedTuple):
    """A point of a sample, the same with claimed calls, and its defect's sort, "" for the gold."""

    point: DuePoint
    claimed: DuePoint
    defect: str


def plant(sample: Sample, tools: Sequence[Tool], rng: Random) -> PlantedPoint:
    """Return a point of the sample with a defect in place of the gold, or with the gold itself.

    All sorts of defect that fit are equally likely. Raises RecordError if nothing is due in the
    sample.
    """
    is_defect = rng.random() < DEFECTS
    return plant_each(sample, tools, rng, defects=1 if is_defect else 0)[-1 if is_defect else 0]


def plant_each(
    sample: Sample, tools: Sequence[Tool], rng: Random, *, defects: int
) -> list[PlantedPoint]:
    """Return a point of the sample with the gold, then with up to `defects` sorts of defects.

    Each sort comes once. Raises RecordError if nothing is due in the sample.
    """
    points = [point for point in due_points(sample, tools) if point.calls]
    if not points:
        raise RecordError("Nothing is due in the sample.")
    rng.shuffle(points)
    planted = [PlantedPoint(points[0], points[0], "")]
    for maker in rng.sample(PLANTED, len(PLANTED)) if defects else ():
        for point in points:
            made = next(of_maker(maker, point, rng), None)
            if made is not None:
                planted.append(PlantedPoint(point, point.with_calls(made.calls), made.defect))
                break
        if len(planted) > defects:
            break
    return planted


async def read_planted(
    sample: Sample, planted: PlantedPoint, context: StageContext, reader: BlindReader = MODEL
) -> PlantedReading:
    """Compare a reader's calls at a point with what is planted there, as the check does."""
    try:
        reading = await read_point(
            planted.point, sample, context, claimed=planted.claimed, reader=reader
        )
        is_doubted = not agrees(reading, planted.claimed, context.rouge_l)
        reason = " and ".join(reading.votes)
    except ReplyError as error:  # what can't be read leaves a sample to people, as a doubt does
        is_doubted, reason = True, str(error)
    return PlantedReading(
        subject=sample.key,
        check=check_reading.name,
        reader=reader.name or context.chat.name,
        turn=planted.point.turn,
        defect=planted.defect,
        outcome=_OUTCOMES[bool(planted.defect), is_doubted],
        reason=reason,
        version=planting_version(),
    )


def planting_version() -> str:
    """Return the version of planted defects and prompts; readings of another one are redone."""
    return "+".join((_VERSION, check_reading.version, *opinion_versions(WRITE, PICK_TOOLS, SETTLE)))


async def _read(sample: Sample, context: StageContext) -> list[PlantedReading]:
    read = sample.underlying  # as the check reads it
    planted = plant(read, context.toolset(read.candidates), context.rng)
    reading = await read_planted(read, planted, context)
    return [reading.with_changes(subject=sample.key)]


PLANTED_READING = Stage(
    "planted_reading",
    GROUP,
    "How often does the checker agree with wrong calls, or doubt right ones?",
    "Sample",
    "PlantedReading",
    check_reading.source,
    _read,
    "checker",
    check_reading.templates,
)
STAGES = (PLANTED_READING,)


FEWEST = 5  # planted defects of a sort, below which nothing is said of the sort


class SortFigures(NamedTuple):
    """What a reader caught of one sort of defect; `rate` is in `low`..`high` (Wilson, 95 %)."""

    defect: str
    planted: int
    caught: int
    rate: float
    low: float
    high: float


class ReaderFigures(NamedTuple):
    """How well a reader read; shares come with a Wilson interval (95 %), `_low` to `_high`.

    They are None if nothing was planted. `sorts` are its figures by sort of defect, the worst
    first. `wrong` is the expected share of wrong golds among those it agrees with, `most_wrong`
    the most that it may be by its worst sort. `problem` is why a recipe by default lets it
    settle nothing, "" if it may settle. `dollars` are for a thousand readings, None if the price
    is unknown; `tokens` for one.
    """

    model: str
    planted: int
    caught: int
    catch_rate: float | None
    catch_low: float | None
    catch_high: float | None
    sorts: list[SortFigures]
    doubles: int
    doubted_doubles: int
    false_doubts: float | None
    doubts_low: float | None
    doubts_high: float | None
    wrong: float | None
    most_wrong: float | None
    problem: str
    tokens: float
    dollars: float | None


_CAUGHT_AT_LEAST = 0.9  # of planted defects
_AGREED_AT_LEAST = 0.5  # of intact golds


def figures_of(
    model: str,
    readings: Sequence[PlantedReading],
    wrong_before: float,
    *,
    tokens: float = 0.0,
    dollars: float | None = None,
) -> ReaderFigures:
    """Return a reader's figures if `wrong_before` is the share of wrong items in what it reads."""
    outcomes = [one.outcome for one in readings]
    caught, missed = outcomes.count("caught"), outcomes.count("missed")
    doubted, passed = outcomes.count("falsely_doubted"), outcomes.count("passed")
    planted, doubles = caught + missed, doubted + passed
    of_caught, of_doubts = (
        share_interval(met, whole) if whole else None
        for met, whole in ((caught, planted), (doubted, doubles))
    )
    sorts = _by_sort(readings)
    wrong = most_wrong = None
    if of_caught is not None:
        lowest = min((one.low for one in sorts if one.planted >= FEWEST), default=of_caught.low)
        wrong = wrong_among_chosen(
            wrong_before, missed / planted, doubted / doubles if doubles else 0.0
        )
        most_wrong = wrong_among_chosen(
            wrong_before, 1 - lowest, of_doubts.high if of_doubts else 1.0
        )
    return ReaderFigures(
        model=model,
        planted=planted,
        caught=caught,
        catch_rate=caught / planted if planted else None,
        catch_low=of_caught and of_caught.low,
        catch_high=of_caught and of_caught.high,
        sorts=sorts,
        doubles=doubles,
        doubted_doubles=doubted,
        false_doubts=doubted / doubles if doubles else None,
        doubts_low=of_doubts and of_doubts.low,
        doubts_high=of_doubts and of_doubts.high,
        wrong=wrong,
        most_wrong=most_wrong,
        problem=_problem(caught, planted, sorts, (passed, doubles)),
        tokens=tokens,
        dollars=dollars,
    )


def _by_sort(readings: Iterable[PlantedReading]) -> list[SortFigures]:
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for one in readings:
        if one.defect:
            counts[one.defect][0] += 1
            counts[one.defect][1] += one.outcome == "caught"
    figures = []
    for defect, (planted, caught) in counts.items():
        between = share_interval(caught, planted)
        figures.append(
            SortFigures(defect, planted, caught, caught / planted, between.low, between.high)
        )
    return sorted(figures, key=lambda one: (one.rate, one.defect))


def _problem(
    caught: int, planted: int, sorts: Sequence[SortFigures], agreed: tuple[int, int]
) -> str:
    """Return why a reader with these figures may settle nothing, or "" if it may."""
    if not planted:
        return "has read nothing that was planted"
    if caught / planted < _CAUGHT_AT_LEAST:
        return f"caught {caught} of {planted} planted defects"
    low = next(
        (one for one in sorts if one.planted >= FEWEST and one.high < _CAUGHT_AT_LEAST), None
    )
    if low is not None:
        return f"caught {low.caught} of {low.planted} planted defects of the sort {low.defect}"
    passed, whole = agreed
    if whole and passed / whole < _AGREED_AT_LEAST:
        return f"agreed with {passed} of {whole} golds as they are"
    return ""


def wrong_among_chosen(wrong_before: float, missed: float, doubted: float) -> float:
    """Return the share of wrong golds among those that a reader chooses.

    It follows from the share that was wrong before, the share of these that the reader misses,
    and the share of right ones that it doubts.

    >>> round(wrong_among_chosen(0.1, 0.2, 0.0), 4)
    0.0217
    """
    chosen_wrong, chosen_right = wrong_before * missed, (1 - wrong_before) * (1 - doubted)
    return chosen_wrong / (chosen_wrong + chosen_right) if chosen_wrong + chosen_right else 1.0


def cheapest(figures: Sequence[ReaderFigures], wrong_at_most: float) -> ReaderFigures | None:
    """Return the cheapest reader that may settle and lets few enough wrong golds pass.

    `wrong_at_most` is their largest share. The reader's price must be known. Of two at the same
    price it is the more careful one. None if no reader qualifies.
    """
    good = [
        one
        for one in figures
        if not one.problem and one.most_wrong is not None and one.most_wrong <= wrong_at_most
    ]
    priced = [one for one in good if one.dollars is not None]
    return min(priced, key=lambda one: (one.dollars, one.most_wrong, one.model), default=None)
