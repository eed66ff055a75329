"""Shards: a share of a group's records, worked in one process, read from one file and written to one folder.

A shard names its files only, so it can be carried out anywhere that sees them; the one writer lands what comes back.
A record's facts are kept when its whole chain is done, so a shard that is cut off leaves nothing half done: what was
paid for is in the ledger, and the next build asks for the rest.
"""

import asyncio
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import NamedTuple

import orjson

import warehouse.records
from flows.chats import Chats, open_chats
from flows.environments import open_environments
from flows.recipe import Recipe
from flows.spending import note_paid, paid_folder, read_paid
from flows.stages import Stage, stages_of
from generators.desk import Desk
from generators.environments.protocol import Environment
from warehouse.batches import write_batch
from warehouse.errors import BudgetError, CallwrightError, ConfigurationError, RecordError, ReplyError, TransientError
from warehouse.records import Draft, Failure, LlmCall, Origin, Record, Sample, Tool, Verdict
from warehouse.rows import Row, Stamp, rows_of

Facts = dict[str, list[Row]]
FATAL = (BudgetError, ConfigurationError)  # the next record would meet the same


class Shard(NamedTuple):
    """What one worker is to do: `source` holds the records as JSON lines, `target` is the folder it will write.

    It is number `number`, from 0, of `of` shards.
    """

    build: str
    group: str
    number: int
    recipe: Recipe
    records: int
    source: Path
    target: Path
    toolbox: Path
    ledger: Path
    spent: float
    of: int = 1


class ShardResult(NamedTuple):
    """What came of a shard: records done and left undone, and the first error that left one undone, "" where none did."""

    target: Path
    done: int
    undone: int
    error: str = ""
    is_configuration: bool = False
    is_fatal: bool = False


def record_line(name: str, body: str) -> bytes:
    """A record as a line of a shard's source: the name of its type, and its JSON."""
    return f'["{name}",{body}]\n'.encode()


def write_lines(path: Path, lines: Iterable[bytes]) -> int:
    """Write lines to a new file; how many there were."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with path.open("wb") as file:
        for line in lines:
            file.write(line)
            written += 1
    return written


def read_records(path: Path) -> Iterator[Record]:
    """The records in a file of lines."""
    with path.open("rb") as file:
        for line in file:
            name, body = orjson.loads(line)
            yield getattr(warehouse.records, name).model_validate(body)


def run_shard(shard: Shard) -> ShardResult:
    """Work a shard in an event loop of its own."""
    return asyncio.run(carry_out(shard))


async def carry_out(shard: Shard) -> ShardResult:
    """Work a shard and write what came of it."""
    work = _Work(shard)
    with open_environments(shard.recipe, shard.ledger.parent) as environments:
        work.environments = environments
        async with open_chats(shard.recipe, shard.ledger, build=shard.build, spent=work.spent) as chats:
            await work.carry_all(chats)
    _write_facts(shard.target, work.facts)
    return work.result()


class _Work:
    """The state of one shard under way."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self.now = datetime.now(UTC)
        self.facts: Facts = defaultdict(list)
        self.stages = stages_of(shard.group)
        self.tools = _toolbox(shard.toolbox)
        self.environments: Mapping[str, Environment] = MappingProxyType({})
        self.queue = list(read_records(shard.source))[::-1]
        self.paid = paid_folder(shard.target)
        self.facts["llm_calls"] = read_paid(self.paid)
        self.spent = shard.spent + sum(row["cost"] for row in self.facts["llm_calls"])
        self.done = 0
        self.undone = 0
        self.in_vain = 0  # records in a row that no try helped: the provider is away, not the record ill
        self.error: CallwrightError | None = None

    async def carry_all(self, chats: Chats) -> None:
        """Carry every record of the shard, as many at once as the models allow."""
        async with asyncio.TaskGroup() as group:
            for _ in range(min(chats.concurrency, len(self.queue))):
                group.create_task(self._carry_next(chats))

    async def _carry_next(self, chats: Chats) -> None:
        while self.queue:
            record = self.queue.pop()
            if isinstance(self.error, FATAL) or self.in_vain >= chats.concurrency:
                self.undone += 1
                continue
            facts: Facts = defaultdict(list)
            if isinstance(record, Draft):  # samples were kept by the stage that made them
                self._keep(facts, [record])
            try:
                await self._carry(record, self.stages, chats, facts)
            except (TransientError, BudgetError, ConfigurationError) as error:
                self.error = self.error if isinstance(self.error, FATAL) else error
                self.undone += 1
                self.in_vain += 1
                continue
            self.done += 1
            self.in_vain = 0
            for table, rows in facts.items():
                self.facts[table] += rows

    async def _carry(self, record: Record, stages: tuple[Stage, ...], chats: Chats, facts: Facts) -> None:
        """Carry a record through the stages, and whatever it becomes on the way."""
        for at, stage in enumerate(stages):
            outputs = await self._work(stage, record, chats, facts)
            if outputs is None:
                return
            if outputs:
                for output in outputs:
                    await self._carry(output, stages[at + 1 :], chats, facts)
                return

    async def _work(self, stage: Stage, record: Record, chats: Chats, facts: Facts) -> list[Record] | None:
        """What the record becomes: new records, [] for itself, None where it goes no further."""
        if stage.function is None or not stage.applies(record):
            self._note(facts, stage, record, "passed", "The stage does not apply to this kind.")
            return []
        calls: list[LlmCall] = []
        chat = chats.of(stage, partial(self._note_call, calls))
        desk = Desk(chat, Random(f"{self.shard.recipe.seed}:{stage.name}:{record.key}"), self.tools, self.environments)
        try:
            outputs = await stage.function(record, desk, **self._threshold(stage))
        except (ReplyError, RecordError) as error:
            self._fail(facts, stage, record, error)
            return None
        finally:
            # What was asked is noted whatever came of it: money is spent also on what fails.
            self._keep(self.facts, calls)
        if not stage.is_check:
            outputs = [_with_planted(output, calls) for output in outputs]
        self._keep(facts, outputs)
        if not stage.is_check:
            self._note(facts, stage, record, "passed", "")
            facts["build_samples"] += (
                {"build": self.shard.build, "sample": output.key, "draft": record.key}
                for output in outputs
                if isinstance(output, Sample)
            )
            facts["made_tools"] += (
                {"toolset": self.shard.build, "tool": output.key, "draft": record.key}
                for output in outputs
                if isinstance(output, Tool)
            )
            return outputs
        return self._judge(facts, stage, record, outputs)

    def _note_call(self, calls: list[LlmCall], call: LlmCall) -> None:
        calls.append(call)
        if call.cost:
            [(_, row)] = rows_of([call], Stamp(self.now))
            note_paid(self.paid, row)

    def _threshold(self, stage: Stage) -> dict[str, float]:
        return {"threshold": getattr(self.shard.recipe.checks, stage.threshold)} if stage.threshold else {}

    def _judge(self, facts: Facts, stage: Stage, record: Record, verdicts: list[Verdict]) -> list[Record] | None:
        """What is contradicted goes to people at once; what is unproved goes on to the next check, and then to people.

        Where a stage must prove before anything is made, what it does not prove goes no further.
        """
        if stage.must_prove and (doubts := [one for one in verdicts if one.decision != "proved"]):
            self._note(facts, stage, record, "rejected", doubts[0].reason)
            return None
        against = [verdict for verdict in verdicts if verdict.decision == "contradicted"]
        if against:
            self._note(facts, stage, record, "waiting", against[0].reason)
            return None
        self._note(
            facts, stage, record, "passed", next((one.reason for one in verdicts if one.decision == "unproved"), "")
        )
        return []

    def _note(self, facts: Facts, stage: Stage, record: Record, outcome: str, reason: str) -> None:
        facts["fates"].append(
            {
                "build": self.shard.build,
                "stage": stage.name,
                "subject": record.key,
                "outcome": outcome,
                "reason": reason,
                "made_at": self.now,
            }
        )

    def _fail(self, facts: Facts, stage: Stage, record: Record, error: CallwrightError) -> None:
        failure = Failure(
            stage=stage.name, subject=record.key, error=type(error).__name__, reason=str(error), build=self.shard.build
        )
        self._keep(facts, [failure])
        self._note(facts, stage, record, "failed", str(error))

    def _keep(self, facts: Facts, records: Sequence[Record]) -> None:
        for table, row in rows_of(records, Stamp(self.now)):
            facts[table].append(row)

    def result(self) -> ShardResult:
        """What came of the shard."""
        return ShardResult(
            self.shard.target,
            self.done,
            self.undone,
            str(self.error or ""),
            isinstance(self.error, ConfigurationError),
            isinstance(self.error, FATAL),
        )


def _with_planted(record: Record, calls: list[LlmCall]) -> Record:
    """Say in the record's origin which defect the template model put into the reply that it was made of, if any."""
    planted = calls[-1].planted if calls else ""
    origin: Origin | None = getattr(record, "origin", None)
    if not planted or origin is None:
        return record
    return record.with_changes(origin=origin.with_changes(planted=planted))


@lru_cache(4)
def _toolbox(path: Path) -> Mapping[str, Tool]:
    return MappingProxyType({tool.key: tool for tool in read_records(path) if isinstance(tool, Tool)})


def _write_facts(folder: Path, facts: Facts) -> None:
    """Write each table's rows as a batch; the folder appears whole or not at all."""
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    for stale in (folder, unfinished):  # of a try before this one
        shutil.rmtree(stale, ignore_errors=True)
    unfinished.mkdir(parents=True)
    for table, rows in facts.items():
        if rows:
            write_batch(unfinished / f"{table}.jsonl", rows)
    unfinished.rename(folder)
