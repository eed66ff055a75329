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
from flows.recipe import Candidate, read_recipe
from flows.settings import Settings
from generators.desk import Desk
from llm.asking import LedgeredChat
from llm.budget import Budget
from llm.ledger import Ledger
from llm.models import open_chat, read_model
from validators.metrics.errors import error_type
from validators.metrics.predictions import score_predictions
from validators.predictions import predict
from validators.runs import CandidateRun
from warehouse.errors import ConfigurationError
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
    """The candidates named, and those of a recipe. Raises ConfigurationError where there are none."""
    named = [Candidate(label=name, model=read_model(name)) for name in models]
    of_recipe = list(read_recipe(recipe).candidates) if recipe else []
    if not named and not of_recipe:
        raise ConfigurationError("No candidate is named. Give --model NAME, or --recipe FILE with candidates in it.")
    return named + of_recipe


async def evaluate_release(
    release: str, candidates: Sequence[Candidate], settings: Settings, news: News, *, runs: int = 1
) -> None:
    """Ask each candidate for every call that is due, score the answers, and keep both.

    What was predicted before is not asked again. Raises ConfigurationError for an unknown release, and what a model's
    adapter raises; the predictions made until then are kept.
    """
    warehouse = Warehouse(settings.warehouse, patience=settings.patience)
    content = read_release(warehouse, release)
    for candidate in candidates:
        async with AsyncExitStack() as stack:
            ledger = Ledger(settings.ledger)
            stack.push_async_callback(ledger.close)
            calls: list[LlmCall] = []
            chat = open_chat(with_secret(candidate.model), ledger=ledger, budget=Budget(None), record=calls.append)
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
    for start in range(0, len(missing), CHUNK):
        chunk = missing[start : start + CHUNK]
        try:
            records: list[Record] = [*await _predict_all(asking, chunk)]
        finally:
            warehouse.put(calls)
            calls.clear()
        warehouse.put(records)
        news.advance(len(chunk))


async def _predict_all(asking: _Asking, samples: Sequence[Sample]) -> list[Prediction]:
    slots = asyncio.Semaphore(asking.concurrency)

    async def one(sample: Sample) -> list[Prediction]:
        async with slots:
            desk = Desk(asking.chat, Random(sample.key), asking.content.tools)
            return await predict(sample, desk, run=asking.run)

    return [prediction for made in await asyncio.gather(*(one(sample) for sample in samples)) for prediction in made]


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
    warehouse = Warehouse(settings.warehouse, patience=settings.patience)
    return warehouse.rows("select * from leaderboard where release = ?", [release])
