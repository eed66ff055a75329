"""Measuring readers: accepted samples are read again with a defect planted in the gold, or with the gold as it is.

The prompt is that of every reading, so a reader can't tell what is planted: the place that is said to be due stands among near
misses of it. Of a defect it is known that it is wrong, since code made it; of the gold that it was accepted.
`figures_of` says of a reader what it caught and doubted, at what price, and `cheapest` whom it pays to ask.
"""

from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

from callwright.generators.stages import Role, Stage, StageContext
from callwright.validators.blind.choosing import check_reading, check_second_reading, choose
from callwright.validators.checks.declaring import Check
from callwright.validators.judges import CHOOSE, opinion_versions
from callwright.validators.metrics.ratios import share_interval
from callwright.validators.near_misses.due import Due, acting_points
from callwright.validators.near_misses.table import near_misses
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import PlantedReading, ReadingOutcome, Sample, Tool

GROUP = "measuring"
DEFECTS = 0.75  # the share of what is planted that is a defect; the rest are golds as they are
_VERSION = "1"  # raised where other places would be planted
_OUTCOMES: dict[tuple[bool, bool], ReadingOutcome] = {  # by whether a defect is planted, and whether it is doubted
    (True, True): "caught", (True, False): "missed", (False, True): "falsely_doubted", (False, False): "passed",
}  # fmt: skip


class PlantedPlace(NamedTuple):
    """A place where something is said to be due, and the kind of defect that this has, "" where it is the gold."""

    due: Due
    defect: str


def plant(sample: Sample, tools: Sequence[Tool], rng: Random) -> PlantedPlace:
    """A place of the sample with a near miss in the place of the gold, or with the gold itself.

    Near misses that nothing is called at all are planted only where there is no other: they are easily told.
    Raises RecordError where the sample has no place at which anything is due.
    """
    places = acting_points(sample, tools)
    if not places:
        raise RecordError("Nothing is due in the sample.")
    rng.shuffle(places)
    if rng.random() < DEFECTS:
        for due in places:
            made = near_misses(due, rng)
            if made:
                defect, option = rng.choice([one for one in made if one.option.act == "call"] or made)
                return PlantedPlace(due.with_option(option), defect)
    return PlantedPlace(places[0], "")


async def read_planted(sample: Sample, context: StageContext, check: Check[Sample]) -> PlantedReading:
    """Let the context's model choose at a planted place as it chooses in the check."""
    read = sample.underlying  # as the check reads it
    place = plant(read, context.toolset(read.candidates), context.rng)
    try:
        found = await choose(place.due, read, context, check.name, planted=True)
        is_doubted, reason = found.decision != "proved", found.reason
    except ReplyError as error:  # what can't be read leaves a sample to people, as a doubt does
        is_doubted, reason = True, str(error)
    return PlantedReading(
        subject=sample.key,
        check=check.name,
        reader=context.chat.name,
        turn=place.due.turn,
        defect=place.defect,
        outcome=_OUTCOMES[bool(place.defect), is_doubted],
        reason=reason,
        version=planting_version(check),
    )


def planting_version(check: Check[Sample]) -> str:
    """The version of what is planted and of what is asked: readings of another one are made anew."""
    return "+".join((_VERSION, check.version, *opinion_versions(CHOOSE)))


def _stage(check: Check[Sample], role: Role, about: str) -> Stage:
    async def read(sample: Sample, context: StageContext) -> list[PlantedReading]:
        return [await read_planted(sample, context, check)]

    name, source, prompts = f"planted_{check.name}", check.source, check.templates
    return Stage(name, GROUP, about, "Sample", "PlantedReading", source, read, role, prompts)


# The stage that measures the model of a reader, by the reader's check.
MEASURED = {
    check_reading.name: _stage(check_reading, "checker", "How often does the checker choose wrong calls, or doubt right ones?"),
    check_second_reading.name: _stage(
        check_second_reading, "judge", "The same of the judge, if it is another model and was asked."
    ),
}  # fmt: skip
STAGES = tuple(MEASURED.values())


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
