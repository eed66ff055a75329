"""Measuring readers: accepted samples are read again with a defect planted in the gold, or with the gold as it is.

The prompt is that of every reading, so a reader can't tell what is planted: the place that is said to be due stands among near
misses of it. Of a defect it is known that it is wrong, since code made it; of the gold that it was accepted.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from callwright.generators.stages import Role, Stage, StageContext
from callwright.validators.blind.choosing import check_reading, check_second_reading, choose
from callwright.validators.checks.declaring import Check
from callwright.validators.judges import CHOOSE, opinion_versions
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
