"""Comparing readers before money is spent on a build: each reads the same accepted samples, some with planted defects."""

from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

from callwright.flows.auditing import NEWEST_BUILDS, AuditPlan, read_samples
from callwright.flows.chats import open_chats
from callwright.flows.checking import recipe_of_checks
from callwright.flows.progress import Progress
from callwright.flows.settings import Settings, open_warehouse
from callwright.generators.kinds import family_of
from callwright.generators.stages import StageContext
from callwright.llm.ledger import Ledger
from callwright.llm.models import ModelSettings
from callwright.llm.stand_in import price_of
from callwright.validators.blind.choosing import check_reading, has_calls
from callwright.validators.blind.planting import MEASURED, read_planted
from callwright.validators.metrics.intervals import share_interval
from callwright.validators.metrics.readers import ReaderFigures, cheapest, figures_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import LlmCall, PlantedReading, Sample, Tool
from callwright.warehouse.store import Warehouse

_THOUSAND = 1000
_UNKNOWN = 0.1  # of what is read, the share that is taken for wrong where no build has read anything


class ComparisonPlan(NamedTuple):
    """Which models read, how many samples of each family and language, of which release, and how many may be wrong."""

    models: tuple[str, ...]
    release: str = ""
    limit: int = 40
    seed: int = 0
    wrong_before: float | None = None
    wrong_at_most: float | None = None


class ReaderComparison(NamedTuple):
    """How the models read the same places, side by side; `chosen` is the cheapest that meets the bar, "" where none does."""

    source: str
    samples: int
    wrong_before: float
    wrong_at_most: float | None
    readers: list[ReaderFigures]
    chosen: str


async def compare_readers(plan: ComparisonPlan, settings: Settings, progress: Progress) -> ReaderComparison:
    """Let each model read the same planted places. Raises ConfigurationError where nothing with calls has been accepted."""
    warehouse = open_warehouse(settings)
    samples, tools = _drawn(warehouse, plan)
    wrong_before = plan.wrong_before if plan.wrong_before is not None else _doubted_before(warehouse)
    readers = [
        await _figures(model, samples, tools, plan.seed, settings, progress, wrong_before)
        for model in dict.fromkeys(plan.models)
    ]
    best = cheapest(readers, plan.wrong_at_most) if plan.wrong_at_most is not None else None
    return ReaderComparison(
        plan.release or NEWEST_BUILDS, len(samples), wrong_before, plan.wrong_at_most, readers, best.model if best else "",
    )  # fmt: skip


def _drawn(warehouse: Warehouse, plan: ComparisonPlan) -> tuple[list[Sample], dict[str, Tool]]:
    """Samples at which calls are due, as many of each family and language as are asked for, and their tools."""
    found, tools = read_samples(warehouse, AuditPlan(plan.release, plan.limit, plan.seed))
    kept: dict[tuple[str, str], list[Sample]] = {}
    for one in filter(has_calls, found):
        kept.setdefault((family_of(one.kind).name, one.language), []).append(one)
    for group in kept.values():
        Random(plan.seed).shuffle(group)
    samples = [one for group in kept.values() for one in group[: plan.limit]]
    if not samples:
        raise ConfigurationError("No accepted sample has calls, so there is nothing to read.")
    return samples, tools


def _doubted_before(warehouse: Warehouse) -> float:
    """As much of what readers of the newest builds read as they doubted, by the upper bound: no more of it was wrong, it seems."""
    [row] = warehouse.rows(sql("measuring.doubted"))
    return share_interval(row["doubted"], row["read"]).high if row["read"] else _UNKNOWN


async def _figures(  # noqa: PLR0913, PLR0917 - what each model has in common with the others
    model: str,
    samples: Sequence[Sample],
    tools: dict[str, Tool],
    seed: int,
    settings: Settings,
    progress: Progress,
    wrong_before: float,
) -> ReaderFigures:
    recipe = recipe_of_checks(model)
    calls: list[LlmCall] = []
    readings: list[PlantedReading] = []
    async with open_chats(recipe, settings.ledger, build="", spent=0.0) as chats:
        chat = chats.of(MEASURED[check_reading.name], calls.append)

        async def read(sample: Sample) -> None:
            context = StageContext(chat, Random(f"{seed}:{sample.key}"), tools)
            readings.append(await read_planted(sample, context, check_reading))
            progress.advance(1)

        progress.begin(model, len(samples))
        error = await chats.in_flight.carry(samples, read)
    if error is not None:
        raise error
    prompt, reply = await _tokens(settings, {one.request for one in calls})
    dollars = _dollars(recipe.models.checker, prompt, reply)
    return figures_of(
        model, readings, wrong_before, tokens=(prompt + reply) / len(samples),
        dollars=None if dollars is None else dollars / len(samples) * _THOUSAND,
    )  # fmt: skip


async def _tokens(settings: Settings, requests: Iterable[str]) -> tuple[int, int]:
    """How many tokens prompts and replies took, also of those that the ledger knew and nobody pays for again."""
    async with Ledger(settings.ledger) as ledger:
        replies = [reply for one in requests if (reply := await ledger.get(bytes.fromhex(one))) is not None]
    return sum(one.prompt_tokens for one in replies), sum(one.completion_tokens for one in replies)


def _dollars(model: ModelSettings, prompt: int, reply: int) -> float | None:
    """What so many tokens cost, whoever has paid them; None where nobody knows."""
    if model.path == "in process":
        return 0.0
    price = price_of(model)
    return price.of(prompt, reply) if price.is_known else None
