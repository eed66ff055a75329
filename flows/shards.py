"""Shards: a share of a group's records, worked in one process, read from one file and written to
one folder.

A shard names its files only, so it can be carried out anywhere that sees them; the one writer lands
what comes back. A record's facts are kept when its whole chain is done, so a shard that is cut off
leaves nothing half done: what was paid for is in the ledger, and the next build asks for the rest.
"""

import asyncio
import shutil
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple, Self

import orjson

from callwright.flows.chats import FATAL, Chats, SharedChats
from callwright.flows.environments import open_environments
from callwright.flows.plugins import add_all
from callwright.flows.recipe import UNTOLD, Recipe
from callwright.flows.stages import stages_of
from callwright.generators.environments.protocol import Environment
from callwright.generators.kinds import FAMILIES
from callwright.generators.own_values import OwnValues
from callwright.generators.stages import Stage, StageContext
from callwright.generators.toolset import GROUP as TOOLSET
from callwright.generators.voices import SILENT, UserVoice, VoicedChat, marked, speaker_of, voice_of
from callwright.llm.ledger import known_keys
from callwright.llm.models import reads_language
from callwright.llm.prompts import own_prompts
from callwright.validators.checks.declaring import Check
from callwright.validators.checks.table import has_rest
from callwright.validators.checks.verdicts import outcome_of, read_by
from callwright.warehouse import records
from callwright.warehouse.errors import CallwrightError, RecordError, ReplyError, TransientError
from callwright.warehouse.outcomes import outcome_row
from callwright.warehouse.paid_notes import PaidNotes, paid_folder
from callwright.warehouse.records import (
    Draft,
    Failure,
    LlmCall,
    Origin,
    Outcome,
    ReasonCode,
    Record,
    Sample,
    StageOutcome,
    Tool,
    Verdict,
)
from callwright.warehouse.registry import is_ours, whose
from callwright.warehouse.rows import Row, rows_of

# What no record is to blame for: it ends the shard.
NOT_OF_A_RECORD = (CallwrightError, OSError, MemoryError)
OUR_BUG = "A bug, to be reported:"
_SHOWN, _FRAMES, _TRACE = (
    200,
    12,
    6_000,
)  # characters of a bug's message, frames and characters of its traceback


class Shard(NamedTuple):
    """What one worker is to do: `source` holds the records as JSON lines, `target` is the folder it
    will write.

    It is number `number`, from 0, of about `of` shards. What the group `group` makes goes on
    through the group `then`.
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
    then: str = ""


class ShardResult(NamedTuple):
    """What came of a shard: records done and left undone, the gravest error that left one undone,
    "" where none did, and its cost.

    `raises` is the class of that error. Of the records done, `bugs` failed by a bug; `bug` is the
    first of them.
    """

    target: Path
    done: int
    undone: int
    error: str = ""
    raises: type[CallwrightError] = TransientError
    cost: float = 0.0
    bugs: int = 0
    bug: str = ""

    @property
    def is_fatal(self) -> bool:
        """Whether other records would fare no better."""
        return bool(self.error) and issubclass(self.raises, FATAL)


def result_of(
    target: Path,
    done: int,
    records: int,
    error: CallwrightError | None,
    *,
    cost: float = 0.0,
    bugs: Sequence[Failure] = (),
) -> ShardResult:
    """The result of work of which so many records are done; `error` is the gravest that left one
    undone.
    """
    return ShardResult(
        target,
        done,
        records - done,
        str(error or ""),
        type(error) if error else TransientError,
        cost,
        len(bugs),
        bugs[0].reason.partition("\n")[0] if bugs else "",
    )


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
    types = vars(records) | {family.drafts.__name__: family.drafts for family in FAMILIES.rows()}
    with path.open("rb") as file:
        for line in file:
            name, body = orjson.loads(line)
            yield types[name].model_validate(body)


def failure_by_bug(
    error: Exception, stage: str, subject: str, build: str = "", whose: str = OUR_BUG
) -> Failure:
    """The failure of a record at which a stage broke down; its reason is one line, and the
    traceback below it.

    `whose` code broke down begins that line.
    """
    line = f"{whose} {type(error).__name__}: {str(error)[:_SHOWN]}".replace("\n", " ")
    trace = "".join(traceback.format_exception(error, limit=-_FRAMES, chain=False))
    return Failure(
        stage=stage,
        subject=subject,
        error=type(error).__name__,
        reason=f"{line}\n{trace[-_TRACE:]}".encode(errors="replace").decode(),
        build=build,
    )


def _whose_bug(stage: Stage, error: Exception) -> str:
    """Whose code broke down, and where in it, for who wrote a stage of their own; that it is
    ours where it is.
    """
    function = stage.function
    if function is None or is_ours(function):
        return OUR_BUG
    return f"{whose(f'stage {stage.name!r}', function, error)} raised"


def _outputs_of(stage: Stage, given: object) -> list[Any]:
    """What a stage gave. Raises TypeError where it is not a list of what its row says."""
    outputs = [*given] if isinstance(given, list | tuple) else None
    for one in [given] if outputs is None else outputs:
        if outputs is None or type(one).__name__ != stage.yields:
            raise TypeError(
                f"it gave a {type(one).__name__}; the stage {stage.name!r} must give a list of"
                f" {stage.yields}"
            )
    return outputs or []


def run_shard(shard: Shard) -> ShardResult:
    """Work a shard in an event loop of its own."""
    return asyncio.run(carry_out(shard))


async def carry_out(shard: Shard, shared: SharedChats | None = None) -> ShardResult:
    """Work a shard and write what came of it; its models may be `shared` with other shards of
    this process.
    """
    add_all(shard.recipe.extensions)
    models = shared or SharedChats()
    own = own_prompts(shard.recipe.own_prompts)
    with own, PaidNotes(paid_folder(shard.target)) as paid, FactFiles(shard.target) as files:
        work = _Work(shard, paid, files)
        with open_environments(shard.recipe, shard.ledger.parent) as environments:
            work.environments = environments
            spent = shard.spent + work.cost
            async with models.of(
                shard.recipe, shard.ledger, build=shard.build, spent=spent
            ) as chats:
                await work.carry_all(chats)
    return work.result()


class Facts:
    """The facts of one record and of all that it becomes."""

    def __init__(self, build: str, now: datetime) -> None:
        """Nothing is known yet."""
        self.rows: dict[str, list[Row]] = defaultdict(list)
        self._verdicts: dict[str, list[Verdict]] = defaultdict(list)
        self._build = build
        self._now = now

    def keep(self, records: Iterable[Record]) -> None:
        """Keep records, each in its table."""
        records = [*records]
        for record in records:
            if isinstance(record, Verdict):
                self._verdicts[record.subject].append(record)
        for table, row in [
            *rows_of(records, self._now)
        ]:  # all of them, or none where one can't be a row
            self.rows[table].append(row)

    def verdicts_on(self, record: Record) -> list[Verdict]:
        """What checks said of a record on its way."""
        return self._verdicts[record.key]

    def note(
        self,
        stage: str,
        record: Record,
        outcome: StageOutcome,
        reason: str = "",
        code: ReasonCode = "none",
    ) -> None:
        """What became of a record at a stage, why in a sentence, and as a code."""
        kept = Outcome(
            build=self._build,
            stage=stage,
            subject=record.key,
            outcome=outcome,
            reason_code=code,
            reason=reason,
        )
        self.rows["outcomes"].append(outcome_row(kept, self._now))

    def fail(self, stage: str, record: Record, error: CallwrightError) -> None:
        """A record goes no further, and why."""
        kind = type(error).__name__
        self.keep(
            [
                Failure(
                    stage=stage,
                    subject=record.key,
                    error=kind,
                    reason=str(error),
                    build=self._build,
                )
            ]
        )
        self.note(stage, record, "failed", str(error), "error")

    def link(self, draft: Record, outputs: Iterable[Record]) -> None:
        """Which samples and tools were made of a draft."""
        for output in outputs:
            if isinstance(output, Sample):
                self.rows["build_samples"].append(
                    {"build": self._build, "sample": output.key, "draft": draft.key}
                )
            elif isinstance(output, Tool):
                self.rows["made_tools"].append(
                    {"toolset": self._build, "tool": output.key, "draft": draft.key}
                )


class FactFiles:
    """A folder with a batch for each table, written as facts come in; it appears whole, at the
    end, or not at all.
    """

    def __init__(self, folder: Path) -> None:
        """Begin anew; what a try before this one left is removed."""
        self._folder = folder
        self._unfinished = folder.with_name(f"{folder.name}.unfinished")
        self._files: dict[str, BinaryIO] = {}
        self._open = ExitStack()
        for stale in (folder, self._unfinished):
            shutil.rmtree(stale, ignore_errors=True)
        self._unfinished.mkdir(parents=True)

    def add(self, facts: Mapping[str, Iterable[Row]]) -> None:
        """Write rows, each to its table's batch."""
        for table, rows in facts.items():
            lines = b"".join([orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows])
            if lines:
                if table not in self._files:
                    self._files[table] = self._open.enter_context(
                        (self._unfinished / f"{table}.jsonl").open("wb")
                    )
                self._files[table].write(lines)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._open.close()
        if kind is None:
            self._unfinished.rename(self._folder)


class _Work:
    """The state of one shard under way."""

    def __init__(self, shard: Shard, paid: "PaidNotes", files: FactFiles) -> None:
        self.shard = shard
        self.paid = paid
        self.files = files
        self.now = datetime.now(UTC)
        self.stages = stages_of(shard.group) + (stages_of(shard.then) if shard.then else ())
        recipe = shard.recipe
        self.voices = (recipe.spoken_personas, recipe.styles) if recipe.is_voiced else None
        self.own_values = OwnValues(recipe.own_values)
        self.examples = recipe.shown_examples
        self.tools = _toolbox(shard.toolbox)
        self.environments: Mapping[str, Environment] = MappingProxyType({})
        self.done = 0
        self.error: CallwrightError | None = None
        self.bugs: list[Failure] = []
        self.cost = sum(row["cost"] for row in paid.earlier(partial(known_keys, shard.ledger)))

    async def carry_all(self, chats: Chats) -> None:
        """Carry the shard's records, as many at once as there are places."""
        self.error = await chats.in_flight.carry(
            read_records(self.shard.source), partial(self._carry_one, chats=chats)
        )

    async def _carry_one(self, record: Record, chats: Chats) -> None:
        facts = Facts(self.shard.build, self.now)
        try:
            if isinstance(record, Draft):  # samples were kept by the stage that made them
                facts.keep([record])
        except RecordError as error:
            facts.fail(self.stages[0].name, record, error)
        else:
            await self._carry(record, self.stages, chats, facts)
        self.files.add(facts.rows)
        self.done += 1

    async def _carry(
        self, record: Record, stages: tuple[Stage, ...], chats: Chats, facts: Facts
    ) -> None:
        """Carry a record through the stages, and whatever it becomes on the way."""
        for at, stage in enumerate(stages):
            outputs = await self._work(stage, record, chats, facts)
            if outputs is None:
                return
            if outputs:
                for output in outputs:
                    await self._carry(output, stages[at + 1 :], chats, facts)
                return

    async def _work(
        self, stage: Stage, record: Record, chats: Chats, facts: Facts
    ) -> list[Record] | None:
        """What the record becomes: new records, [] for itself, None where it goes no further."""
        if stage.function is None or not stage.applies(record) or not chats.can_answer(stage):
            facts.note(
                stage.name,
                record,
                "passed",
                "The stage does not apply to this kind, or its model.",
                "not_applicable",
            )
            return []
        calls: list[LlmCall] = []
        chat = chats.of(stage, partial(self._note_call, calls, record.key))
        # Nobody speaks in checks, and where the recipe names none.
        voice = voice_of(record, *self.voices) if self.voices and not stage.is_check else SILENT
        rng = Random(f"{self.shard.recipe.seed}:{stage.name}:{record.key}")
        # A check reads what is there, and a tool is nobody's: neither has circumstances or a voice.
        is_plain = stage.is_check or stage.group == TOOLSET or not reads_language(chat.name)
        asked = (
            chat
            if is_plain
            else VoicedChat(chat, stage.voiced, voice, self.examples, speaker_of(record))
        )
        recipe = self.shard.recipe
        context = StageContext(
            asked,
            rng,
            self.tools,
            self.environments,
            self.own_values,
            recipe.checks.rouge_l,
            recipe.consistency,
            chats.assistant_of(stage, partial(self._note_call, calls, record.key)),
            chats.settler_of(stage, partial(self._note_call, calls, record.key)),
            recipe.policies,
        )
        try:
            if isinstance(record, Sample) and not await has_rest(
                stage, record, context, facts.verdicts_on(record)
            ):
                facts.note(
                    stage.name,
                    record,
                    "passed",
                    "Nothing is left that a model may settle.",
                    "not_applicable",
                )
                return []
            outputs = _outputs_of(stage, await stage.carry_out(record, context))
            if not stage.is_check:
                outputs = [_with_planted(self._finished(one, voice), calls) for one in outputs]
            elif stage.role:
                outputs = read_by(chat.name, recipe.models.generator.name, outputs)
            facts.keep(outputs)
        except (ReplyError, RecordError) as error:
            facts.fail(stage.name, record, error)
            return None
        except NOT_OF_A_RECORD:
            raise
        except Exception as error:  # noqa: BLE001 - the one boundary: a bug ends its record and never the build
            failure = failure_by_bug(
                error, stage.name, record.key, self.shard.build, _whose_bug(stage, error)
            )
            facts.keep([failure])
            facts.note(stage.name, record, "failed", failure.reason.partition("\n")[0], "error")
            self.bugs.append(failure)
            return None
        if stage.is_check:
            must_prove = isinstance(stage, Check) and stage.sort == "gate"
            outcome, code, reason = outcome_of(outputs, must_prove=must_prove)
            facts.note(stage.name, record, outcome, reason, code)
            return [] if outcome == "passed" else None
        facts.note(stage.name, record, "passed")
        facts.link(record, outputs)
        return outputs

    def _finished(self, record: Record, voice: UserVoice) -> Record:
        """A sample with who speaks in it, and with the recipe's system message, or one of its
        messages.
        """
        if not isinstance(record, Sample):
            return record
        sample = record if voice == SILENT else marked(record, voice)
        stated = self.shard.recipe.system_message
        messages = (stated,) if isinstance(stated, str) else stated
        if messages in (("",), (UNTOLD,)):
            return sample
        return sample.with_changes(system_message=Random(sample.request).choice(messages))

    def _note_call(self, calls: list[LlmCall], subject: str, call: LlmCall) -> None:
        """Note a call about a record whatever comes of it: money is spent also on what fails."""
        calls.append(call)
        [(_, row)] = rows_of([call], self.now)
        self.cost += call.cost
        self.paid.note(row | {"subject": subject})

    def result(self) -> ShardResult:
        """What came of the shard."""
        shard = self.shard
        return result_of(
            shard.target, self.done, shard.records, self.error, cost=self.cost, bugs=self.bugs
        )


def _with_planted(record: Record, calls: list[LlmCall]) -> Record:
    """Say in the record's origin which defect the template model put into the reply that it was
    made of, if any.
    """
    planted = calls[-1].planted if calls else ""
    origin: Origin | None = getattr(record, "origin", None)
    if not planted or origin is None:
        return record
    return record.with_changes(origin=origin.with_changes(planted=planted))


@lru_cache(4)
def _toolbox(path: Path) -> Mapping[str, Tool]:
    return MappingProxyType(
        {tool.key: tool for tool in read_records(path) if isinstance(tool, Tool)}
    )
