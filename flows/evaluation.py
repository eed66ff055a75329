"""Evaluating candidate models on a release: what they answer, how they score, how they went wrong."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import NamedTuple

import orjson

from flows.chats import with_secret
from flows.news import News
from flows.places import open_warehouse
from flows.recipe import Candidate, read_recipe
from flows.settings import Settings
from flows.shards import FATAL
from generators.desk import Desk
from llm.asking import LedgeredChat
from llm.budget import Budget
from llm.ledger import Ledger
from llm.models import open_chat, read_model
from validators.metrics.errors import error_type
from validators.metrics.predictions import score_predictions
from validators.predictions import predict
from validators.runs import CandidateRun
from warehouse.errors import CallwrightError, ConfigurationError, TransientError
from warehouse.records import Call, LlmCall, Prediction, Record, Sample
from warehouse.releases import ReleaseContent, read_release
from warehouse.rows import Row
from warehouse.store import Warehouse

CHUNK = 500
STAGE = "predict"


class _Asking(NamedTuple):
    chat: LedgeredChat
    run: CandidateRun
    content: ReleaseContent
    concurrency: int


def choose_candidates(models: Sequence[str], recipe: Path | None) -> list[Candidate]:
    """The candidates named, and those of a recipe. Raises ConfigurationError where there are none, or two of one name."""
    named = [Candidate(label=name, model=read_model(name)) for name in models]
    of_recipe = list(read_recipe(recipe).candidates) if recipe else []
    if not named and not of_recipe:
        raise ConfigurationError("No candidate is named. Give --model NAME, or --recipe FILE with candidates in it.")
    labels = [candidate.label for candidate in named + of_recipe]
    if len(set(labels)) < len(labels):
        raise ConfigurationError(f"Two candidates have the same name: {', '.join(sorted(labels))}. Name each one once.")
    return named + of_recipe


async def evaluate_release(
    release: str,
    candidates: Sequence[Candidate],
    settings: Settings,
    news: News,
    *,
    runs: int = 1,
    budget: float | None = None,
) -> None:
    """Ask each candidate for every call that is due, score the answers, and keep both.

    What was predicted before is not asked again; `budget` is what all of it may cost now, in US dollars. Raises
    ConfigurationError for an unknown release, and what a model's adapter raises; the predictions made until then are
    kept.
    """
    money = Budget(budget)
    warehouse = open_warehouse(settings)
    content = read_release(warehouse, release)
    for candidate in candidates:
        async with AsyncExitStack() as stack:
            ledger = Ledger(settings.ledger)
            stack.push_async_callback(ledger.close)
            calls: list[LlmCall] = []
            chat = open_chat(with_secret(candidate.model), ledger=ledger, budget=money, record=calls.append)
            stack.push_async_callback(chat.close)
            for run in range(runs):
                key = CandidateRun(release, candidate.label, "direct", run)
                asking = _Asking(chat.for_stage(STAGE), key, content, candidate.model.concurrency)
                await _predict_missing(asking, warehouse, news, calls)
        _score(warehouse, content, candidate.label)


async def _predict_missing(asking: _Asking, warehouse: Warehouse, news: News, calls: list[LlmCall]) -> None:
    rows = warehouse.rows(
        "select distinct subject from predictions where release = ? and model = ? and strategy = ? and run = ?",
        list(asking.run),
    )
    known = {row["subject"] for row in rows}
    missing = [sample for sample in asking.content.samples if sample.key not in known]
    if not missing:
        return
    news.begin(f"{asking.run.model} on {asking.run.release}", len(missing))
    errors: list[CallwrightError] = []
    for start in range(0, len(missing), CHUNK):
        chunk = missing[start : start + CHUNK]
        made: list[Record] = []
        try:
            errors += await _predict_all(asking, chunk, made)
        finally:  # also what was asked before somebody pressed Ctrl-C
            warehouse.put([*calls, *made])
            calls.clear()
        news.advance(len(chunk))
        if errors and (isinstance(errors[-1], FATAL) or not made):
            break
    if errors:
        raise errors[-1]


async def _predict_all(asking: _Asking, samples: Sequence[Sample], made: list[Record]) -> list[CallwrightError]:
    """Add the predictions to `made` as they come; the errors that left samples without one, the gravest last.

    A sample that the provider fails is left for the next time. Where it fails as many in a row as are asked at once, or
    the next one would meet the same error, the others are left too.
    """
    queue = list(samples)[::-1]
    errors: list[CallwrightError] = []
    in_vain = 0

    async def predict_next() -> None:
        nonlocal in_vain
        while queue and in_vain < asking.concurrency and not (errors and isinstance(errors[-1], FATAL)):
            sample = queue.pop()
            desk = Desk(asking.chat, Random(sample.key), asking.content.tools)
            try:
                made.extend(await predict(sample, desk, run=asking.run))
            except (TransientError, *FATAL) as error:
                errors.append(error)
                errors.sort(key=lambda one: isinstance(one, FATAL))
                in_vain += 1
            else:
                in_vain = 0

    await asyncio.gather(*(predict_next() for _ in range(min(asking.concurrency, len(samples)))))
    return errors


def _score(warehouse: Warehouse, content: ReleaseContent, label: str) -> None:
    predictions = list(read_predictions(warehouse, content.release.name, label))
    samples = {sample.key: sample for sample in content.samples}
    mistakes = {one.key: str(error_type(one, samples[one.subject])) for one in predictions}
    warehouse.put(score_predictions(predictions, content.samples, content.tools))
    warehouse.mark_errors(mistakes)


def read_predictions(warehouse: Warehouse, release: str, label: str) -> Iterator[Prediction]:
    """What a candidate answered on a release."""
    columns = "release, subject, turn, model, strategy, run, text, calls, problem"
    sql = f"select {columns} from predictions where release = ? and model = ?"  # noqa: S608 - our own names
    for row in warehouse.rows(sql, [release, label]):
        calls = (
            None if row["calls"] is None else tuple(Call.model_validate(call) for call in orjson.loads(row["calls"]))
        )
        yield Prediction(**row | {"calls": calls})


def leaderboard(release: str, settings: Settings) -> list[Row]:
    """The release's leaderboard."""
    warehouse = open_warehouse(settings)
    return warehouse.rows("select * from leaderboard where release = ?", [release])
