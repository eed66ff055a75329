"""How the records of a shard go through stages: their models, budgets, facts and result.

A shard names its files only, so it can be worked anywhere that sees them. A record's facts are kept
when its whole chain is done, so a shard that is cut off leaves nothing half done: what was paid for
is in the ledger, and the next build asks for the rest.
"""

import asyncio
import shutil
import traceback
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple, Self, TypeVar

import orjson
from pydantic import SecretStr

from callwright.flows.environments import open_environments
from callwright.flows.plugins import add_all
from callwright.flows.recipe import UNTOLD, Recipe, Roles
from callwright.flows.settings import named_secret
from callwright.flows.stages import stages_of
from callwright.generators.environments.protocol import Environment
from callwright.generators.kinds import FAMILIES
from callwright.generators.own_values import OwnValues
from callwright.generators.stages import Stage, StageContext
from callwright.generators.toolset import GROUP as TOOLSET
from callwright.generators.voices import SILENT, UserVoice, VoicedChat, marked, speaker_of, voice_of
from callwright.llm.asking import LedgeredChat
from callwright.llm.ledger import Ledger, known_keys
from callwright.llm.limits import Budget, Traffic
from callwright.llm.models import ModelSettings, Readiness, check_key, open_chat, reads_language
from callwright.llm.prompts import own_prompts
from callwright.llm.refusals import header_variables
from callwright.validators.checks.declaring import Check
from callwright.validators.checks.table import has_rest
from callwright.validators.checks.verdicts import outcome_of, read_by
from callwright.warehouse import records
from callwright.warehouse.errors import (
    BudgetError,
    CallwrightError,
    ConfigurationError,
    RecordError,
    ReplyError,
    TransientError,
    UnavailableError,
)
from callwright.warehouse.extras import require_extra
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

FATAL = (BudgetError, ConfigurationError, UnavailableError)  # the next record would meet the same
# No record is to blame for these: they end the shard.
NOT_OF_A_RECORD = (CallwrightError, OSError, MemoryError)
# Records under way for each slot: while one waits for the ledger's disk, another one asks.
AHEAD = 2
_BEGUN_AT_ONCE = 2  # items
OUR_BUG = "A bug, to be reported:"
# Characters of a bug's message, frames of its traceback, and characters of that.
_SHOWN, _FRAMES, _TRACE = 200, 12, 6_000
Item = TypeVar("Item")


class StagePart(NamedTuple):
    """Stages that records go through: those of a group, then those of the group `then`.

    `only` names some stages of the group, () for all; `then` is "" for none.
    """

    group: str
    only: tuple[str, ...] = ()
    then: str = ""

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages in order."""
        own = stages_of(self.group, self.only)
        return (*own, *stages_of(self.then)) if self.then else own


class Shard(NamedTuple):
    """A share of a group's records: `source` holds them as lines, facts go to the folder `target`.

    It is number `number`, from 0, of about `of` shards, and goes through the stages of `part`. The
    build had `spent` so many US dollars when the shard was cut.
    """

    build: str
    part: StagePart
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
    """Counts of records done and left undone, the gravest error that left one undone, and the cost.

    Of the records done, `bugs` failed by a bug; `bug` is the first of them.
    """

    target: Path
    done: int
    undone: int
    error: CallwrightError | None = None
    cost: float = 0.0
    bugs: int = 0
    bug: str = ""

    @property
    def is_fatal(self) -> bool:
        """Whether other records would fail too."""
        return isinstance(self.error, FATAL)


def record_line(name: str, body: str) -> bytes:
    """Return a record as a line of a shard's source: the name of its type, and its JSON."""
    return f'["{name}",{body}]\n'.encode()


def write_lines(path: Path, lines: Iterable[bytes]) -> int:
    """Write lines to a new file and return how many there were."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with path.open("wb") as file:
        for line in lines:
            file.write(line)
            written += 1
    return written


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a file of lines."""
    types = vars(records) | {family.drafts.__name__: family.drafts for family in FAMILIES.rows()}
    with path.open("rb") as file:
        for line in file:
            name, body = orjson.loads(line)
            yield types[name].model_validate(body)


def roles_of(recipe: Recipe) -> Iterator[tuple[str, ModelSettings]]:
    """Yield each role with its model; template/v1 gets the sentences that the recipe brings."""
    own = {"sentences": recipe.sentence_files} if recipe.sentence_files else {}
    for name, model in recipe.models.named.items():
        yield name, model.with_changes(**own) if own and not reads_language(model.name) else model


def distinct_models(recipe: Recipe) -> list[ModelSettings]:
    """Return the recipe's models; roles with the same settings share one."""
    models: list[ModelSettings] = []
    for _, settings in roles_of(recipe):
        if settings not in models:
            models.append(settings)
    return models


def with_models(recipe: Recipe, changes: Callable[[ModelSettings], dict[str, int]]) -> Recipe:
    """Return the recipe, each role's model with its `changes`."""
    models = {role: model.model_copy(update=changes(model)) for role, model in roles_of(recipe)}
    return recipe.model_copy(update={"models": Roles(**models)})


def concurrency_of(recipe: Recipe) -> int:
    """Return how many requests the recipe's models take at once, all together."""
    return sum(settings.concurrency for settings in distinct_models(recipe))


def check_keys(recipe: Recipe) -> None:
    """Raise ConfigurationError where a model's key or file, or an extra that builds, is missing.

    No model is asked.
    """
    require_extra("build")
    for settings in distinct_models(recipe):
        check_key(with_secret(settings), named_secret)


def with_secret(settings: ModelSettings) -> ModelSettings:
    """Return the settings with the secrets of the variables that they name."""
    key = named_secret(settings.key_variable) if settings.key_variable else ""
    values = {name: SecretStr(named_secret(name)) for name in header_variables(settings.extra)}
    for name, value in values.items():
        if not value.get_secret_value():
            raise ConfigurationError(
                f"The environment variable {name} is not set. The extra_headers of {settings.name}"
                " use it."
            )
    changes = {"api_key": SecretStr(key)} if key else {}
    return settings.with_changes(**changes, header_values=values) if changes or values else settings


class InFlight:
    """Items under way, at most `places` at once; none begins once the next would fare no better.

    They are tasks of whoever has `admit` let them in, and each is worked in a `place`.
    """

    def __init__(self, places: int, patience: int) -> None:
        """Begin no item after `patience` of them in a row that no try helped."""
        self.error: CallwrightError | None = None
        self._places = asyncio.Semaphore(places)
        # What is begun first ends first, and lands while the next ones are asked about.
        self._turn = asyncio.Lock()
        self._patience = patience
        self._in_vain = 0  # in a row: the provider is away, not the item ill

    @property
    def is_in_vain(self) -> bool:
        """Whether the next item would fail too."""
        return isinstance(self.error, FATAL) or self._in_vain >= self._patience

    async def admit(
        self, items: Iterable[Item], errors: list[CallwrightError]
    ) -> AsyncIterator[Item]:
        """Yield each item when there is a place for it; add to `errors` why the rest has none."""
        async with self._turn:
            for number, item in enumerate(items):
                if number % _BEGUN_AT_ONCE == 0:
                    await asyncio.sleep(0)  # the first ones ask while others are made ready
                await self._places.acquire()
                if self.is_in_vain:
                    self._places.release()
                    errors += [self.error] if self.error else []
                    return
                yield item

    @contextmanager
    def place(self, errors: list[CallwrightError]) -> Iterator[None]:
        """Work an admitted item inside; what a provider refuses is added to `errors`."""
        try:
            yield
        except (TransientError, *FATAL) as error:
            errors.append(error)
            self._in_vain += 1
            self.error = self.error if isinstance(self.error, FATAL) else error
        else:
            self._in_vain = 0
        finally:
            self._places.release()


def gravest(errors: Iterable[CallwrightError]) -> CallwrightError | None:
    """Return the first error that others would meet too, else the first; None of none."""
    return max(errors, key=lambda error: isinstance(error, FATAL), default=None)


@asynccontextmanager
async def task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """Yield a group of tasks; if all their errors can be explained, only the first is raised."""
    try:
        async with asyncio.TaskGroup() as tasks:
            yield tasks
    except ExceptionGroup as errors:
        explained, bugs = errors.split((CallwrightError, OSError))  # a full disk is no bug
        if bugs is not None or explained is None:
            raise
        error: Exception = explained
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        raise error from errors


class Chats:
    """A chat for each role, and what all that is carried with them shares: places and budget."""

    def __init__(self, chats: dict[str, LedgeredChat], concurrency: int, budget: Budget) -> None:
        """Take opened chats; they send `concurrency` requests at once and spend of `budget`.

        `calls` holds those that were made outside of a build, for whoever keeps them.
        """
        self._chats = chats
        self.budget = budget
        self.calls = list[LlmCall]()
        self.in_flight = InFlight(AHEAD * concurrency, concurrency)

    def can_answer(self, stage: Stage) -> bool:
        """Whether the stage's model can: template/v1 has no opinion of how people speak."""
        is_opinion = isinstance(stage, Check) and stage.sort == "opinion"
        return not is_opinion or reads_language(self._chats[stage.role or "generator"].name)

    def of(
        self, stage: Stage, record: Callable[[LlmCall], object], role: str | None = None
    ) -> LedgeredChat:
        """Return the chat of `role`, or of the stage's own, each call given to `record`.

        The generator's where nobody has the role: a stage without one does not use its chat.
        """
        chat = self._chats.get(role or stage.role or "generator") or self._chats["generator"]
        return chat.for_stage(stage.name, record)


class SharedChats:
    """The models of the shards under way in this process: a model's limits hold for all of them."""

    def __init__(
        self, traffic: Traffic | None = None, *, open_one: Callable[..., LedgeredChat] = open_chat
    ) -> None:
        """Count the requests of all in `traffic`; `open_one` opens a model."""
        self.traffic = traffic
        self._open_one = open_one
        self._users = 0
        self._door = asyncio.Lock()
        self._opened = AsyncExitStack()
        self._chats: Chats | None = None
        self._spent: dict[str, float] = {}  # by build
        self._there: list[ModelSettings] = []  # servers that were looked at already

    @asynccontextmanager
    async def of(
        self, recipe: Recipe, ledger: Path, *, build: str = "", spent: float = 0.0
    ) -> AsyncIterator[Chats]:
        """Yield the chats, opened for the first shard and closed after the last of those under way.

        Budget and error are those of all between. Shards that end at the same moment may not have
        stated yet what they spent, so what was seen here counts too.
        """
        if not self._users:
            self._door = asyncio.Lock()  # one of this event loop
        self._users += 1
        try:
            async with self._door:
                if self._chats is None:
                    budget = Budget(recipe.budget, spent=max(spent, self._spent.get(build, 0.0)))
                    self._chats = await self._open(recipe, ledger, build, budget)
            yield self._chats
        finally:
            self._users -= 1
            if not self._users:
                if self._chats is not None:
                    self._spent[build] = self._chats.budget.spent
                opened, self._opened, self._chats = self._opened, AsyncExitStack(), None
                await opened.aclose()

    async def _open(self, recipe: Recipe, path: Path, build: str, budget: Budget) -> Chats:
        """Open the recipe's models; roles with the same settings share one and its limits."""
        ledger = await asyncio.to_thread(Ledger, path)  # its disk may be slow
        self._opened.push_async_callback(ledger.close)
        models, opened = distinct_models(recipe), list[LedgeredChat]()
        ready, unlogged = Readiness(map(with_secret, models), self._there), list[LlmCall]()
        for settings in models:
            chat = self._open_one(
                with_secret(settings),
                ledger=ledger,
                budget=budget,
                record=unlogged.append,
                build=build,
                traffic=self.traffic,
                ready=ready.check,
            )
            self._opened.push_async_callback(chat.close)
            opened.append(chat)
        by_role = {name: opened[models.index(model)] for name, model in roles_of(recipe)}
        return Chats(by_role, concurrency_of(recipe), budget)


async def work_shard(shard: Shard, shared: SharedChats | None = None) -> ShardResult:
    """Work a shard and write what came of it; its models may be `shared` with other shards."""
    add_all(shard.recipe.extensions)
    with (
        own_prompts(shard.recipe.own_prompts),
        PaidNotes(paid_folder(shard.target)) as paid,
        FactFiles(shard.target) as files,
        open_environments(shard.recipe, shard.ledger.parent) as environments,
    ):
        earlier = sum(row["cost"] for row in paid.earlier(partial(known_keys, shard.ledger)))
        opening = (shared or SharedChats()).of(
            shard.recipe, shard.ledger, build=shard.build, spent=shard.spent + earlier
        )
        async with opening as chats:
            work = _Work(shard, chats, environments, paid, files)
            async with task_group() as tasks:
                records = read_records(shard.source)
                async for record in chats.in_flight.admit(records, work.errors):
                    tasks.create_task(work.carry(record))
    undone, cost, error = shard.records - work.done, earlier + work.cost, gravest(work.errors)
    return ShardResult(shard.target, work.done, undone, error, cost, work.bugs, work.bug)


def work_alone(shard: Shard) -> ShardResult:
    """Work a shard in an event loop of its own."""
    return asyncio.run(work_shard(shard))


class _Work:
    """A shard under way."""

    def __init__(
        self,
        shard: Shard,
        chats: Chats,
        environments: Mapping[str, Environment],
        paid: PaidNotes,
        files: "FactFiles",
    ) -> None:
        self._shard, self._recipe, self._chats = shard, shard.recipe, chats
        self._environments, self._paid, self._files = environments, paid, files
        self._now = datetime.now(UTC)
        self._stages = shard.part.stages
        recipe = shard.recipe
        self._voices = (recipe.spoken_personas, recipe.styles) if recipe.is_voiced else None
        self._own_values, self._examples = OwnValues(recipe.own_values), recipe.shown_examples
        self._tools = _toolbox(shard.toolbox)
        self.done, self.cost = 0, 0.0
        self.bugs, self.bug = 0, ""
        self.errors: list[CallwrightError] = []  # that left records undone

    async def carry(self, record: Record) -> None:
        """Carry a record through the stages, and whatever it becomes on the way."""
        with self._chats.in_flight.place(self.errors):
            facts = Facts(self._shard.build, self._now)
            to_do = [(record, 0)]
            while to_do:
                current, at = to_do.pop()
                stage, calls = self._stages[at], list[LlmCall]()
                become: list[Record] = []  # what goes on to the next stage
                with self._failing_alone(stage, current, facts):
                    if at == 0 and isinstance(record, Draft):  # a sample was kept by its maker
                        facts.keep([record])
                    # Nobody speaks in checks, and where the recipe names none.
                    voices = None if stage.is_check else self._voices
                    voice = voice_of(current, *voices) if voices else SILENT
                    context = await self._context(stage, current, voice, calls, facts)
                    if stage.function is None or context is None:
                        become = [current]
                    else:
                        outputs = _outputs_of(stage, await stage.function(current, context))
                        if stage.is_check:
                            reader = context.chat.name
                            become = self._judge(stage, current, outputs, reader, facts)
                        else:
                            made = [self._finished(output, voice, calls) for output in outputs]
                            facts.make(stage.name, current, made)
                            become = made or [current]
                if at + 1 < len(self._stages):
                    to_do += [(output, at + 1) for output in reversed(become)]
            self._files.add(facts.rows)
            self.done += 1

    @contextmanager
    def _failing_alone(self, stage: Stage, record: Record, facts: "Facts") -> Iterator[None]:
        """Within, an unusable reply, a broken record or a bug ends the record and not the build."""
        try:
            yield
        except (ReplyError, RecordError) as error:
            facts.fail(stage.name, record, error)
        except NOT_OF_A_RECORD:
            raise
        except Exception as error:  # noqa: BLE001 - the one boundary: a bug ends its record and never the build
            function, blamed = stage.function, OUR_BUG
            if function is not None and not is_ours(function):  # its author is told where in it
                blamed = f"{whose(f'stage {stage.name!r}', function, error)} raised"
            failure = failure_by_bug(error, stage.name, record.key, self._shard.build, blamed)
            facts.keep([failure])
            facts.note(stage.name, record, "failed", failure.reason.partition("\n")[0], "error")
            self.bugs, self.bug = self.bugs + 1, self.bug or failure.reason

    async def _context(
        self, stage: Stage, record: Record, voice: UserVoice, calls: list[LlmCall], facts: "Facts"
    ) -> StageContext | None:
        """Return what the stage has at hand; note where it has nothing to do, and return None.

        Calls are noted whatever comes of the record.
        """
        recipe, of = self._recipe, self._chats.of
        if stage.function is None or not stage.applies(record) or not self._chats.can_answer(stage):
            reason = "The stage does not apply to this kind, or its model."
            facts.note(stage.name, record, "passed", reason, "not_applicable")
            return None
        note = partial(self._note_call, calls, record.key)
        chat = of(stage, note)
        # A check reads what is there, and a tool is nobody's: neither has circumstances or a voice.
        is_plain = stage.is_check or stage.group == TOOLSET or not reads_language(chat.name)
        context = StageContext(
            chat
            if is_plain
            else VoicedChat(chat, stage.voiced, voice, self._examples, speaker_of(record)),
            Random(f"{recipe.seed}:{stage.name}:{record.key}"),
            self._tools,
            self._environments,
            self._own_values,
            recipe.checks.rouge_l,
            recipe.consistency,
            assistant=of(stage, note, "assistant"),
            settler=of(stage, note, "judge"),
            policies=recipe.policies,
            wording=recipe.wording,
        )
        known = facts.verdicts_on(record)
        if isinstance(record, Sample) and not await has_rest(stage, record, context, known):
            reason = "Nothing is left that a model may settle."
            facts.note(stage.name, record, "passed", reason, "not_applicable")
            return None
        return context

    def _judge(
        self, stage: Stage, record: Record, verdicts: list[Any], reader: str, facts: "Facts"
    ) -> list[Record]:
        """Keep a check's verdicts, and return the record if it passed."""
        if stage.role:
            verdicts = read_by(reader, self._recipe.models.generator.name, verdicts)
        facts.keep(verdicts)
        must_prove = isinstance(stage, Check) and stage.sort == "gate"
        outcome, code, reason = outcome_of(verdicts, must_prove=must_prove)
        facts.note(stage.name, record, outcome, reason, code)
        return [record] if outcome == "passed" else []

    def _note_call(self, calls: list[LlmCall], subject: str, call: LlmCall) -> None:
        calls.append(call)
        [(_, row)] = rows_of([call], self._now)
        self.cost += call.cost
        self._paid.note(row | {"subject": subject})

    def _finished(self, record: Record, voice: UserVoice, calls: list[LlmCall]) -> Record:
        """Return what was made with all that it tells: who speaks, the system message of a sample.

        And which defect the template model put into the last reply that it was made of, if any.
        """
        if isinstance(record, Sample):
            record = record if voice == SILENT else marked(record, voice)
            stated = self._recipe.system_message
            messages = (stated,) if isinstance(stated, str) else stated
            if messages not in (("",), (UNTOLD,)):
                chosen = Random(record.request).choice(messages)
                record = record.with_changes(system_message=chosen)
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


def _outputs_of(stage: Stage, given: object) -> list[Any]:
    """Return what a stage gave. Raises TypeError where it is not a list of what its row says."""
    outputs = [*given] if isinstance(given, list | tuple) else None
    for output in [given] if outputs is None else outputs:
        if outputs is None or type(output).__name__ != stage.yields:
            raise TypeError(
                f"it gave a {type(output).__name__}; the stage {stage.name!r} must give a list of"
                f" {stage.yields}"
            )
    return outputs or []


def failure_by_bug(
    error: Exception, stage: str, subject: str, build: str = "", blamed: str = OUR_BUG
) -> Failure:
    """Return a record's failure by a bug: a line that begins with `blamed`, and a traceback."""
    line = f"{blamed} {type(error).__name__}: {str(error)[:_SHOWN]}".replace("\n", " ")
    trace = "".join(traceback.format_exception(error, limit=-_FRAMES, chain=False))
    reason = f"{line}\n{trace[-_TRACE:]}".encode(errors="replace").decode()
    kind = type(error).__name__
    return Failure(stage=stage, subject=subject, error=kind, reason=reason, build=build)


class Facts:
    """The facts of one record and of all that it becomes, as rows by table."""

    def __init__(self, build: str, now: datetime) -> None:
        """Start without any facts."""
        self.rows: dict[str, list[Row]] = defaultdict(list)
        self._verdicts: dict[str, list[Verdict]] = defaultdict(list)
        self._build, self._now = build, now

    def keep(self, records: Iterable[Record]) -> None:
        """Keep records, each in its table; all of them, or none where one can't be a row."""
        records = [*records]
        for record in records:
            if isinstance(record, Verdict):
                self._verdicts[record.subject].append(record)
        for table, row in [*rows_of(records, self._now)]:
            self.rows[table].append(row)

    def verdicts_on(self, record: Record) -> list[Verdict]:
        """Return what checks said of a record on its way."""
        return self._verdicts[record.key]

    def note(
        self,
        stage: str,
        record: Record,
        outcome: StageOutcome,
        reason: str = "",
        code: ReasonCode = "none",
    ) -> None:
        """Note what became of a record at a stage, why in a sentence, and as a code."""
        stage_outcome = Outcome(
            build=self._build,
            stage=stage,
            subject=record.key,
            outcome=outcome,
            reason_code=code,
            reason=reason,
        )
        self.rows["outcomes"].append(outcome_row(stage_outcome, self._now))

    def fail(self, stage: str, record: Record, error: CallwrightError) -> None:
        """Note that a record goes no further, and why."""
        kind, reason = type(error).__name__, str(error)
        failure = Failure(
            stage=stage, subject=record.key, error=kind, reason=reason, build=self._build
        )
        self.keep([failure])
        self.note(stage, record, "failed", reason, "error")

    def make(self, stage: str, draft: Record, outputs: Sequence[Record]) -> None:
        """Keep what a stage made of a draft, and which samples and tools came of it."""
        self.keep(outputs)
        self.note(stage, draft, "passed")
        for output in outputs:
            if isinstance(output, Sample):
                row = {"build": self._build, "sample": output.key, "draft": draft.key}
                self.rows["build_samples"].append(row)
            elif isinstance(output, Tool):
                row = {"toolset": self._build, "tool": output.key, "draft": draft.key}
                self.rows["made_tools"].append(row)


class FactFiles:
    """A folder with a batch for each table; it appears whole at the end, or not at all."""

    def __init__(self, folder: Path) -> None:
        """Start over; remove what an earlier attempt has left."""
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
                    file = (self._unfinished / f"{table}.jsonl").open("wb")
                    self._files[table] = self._open.enter_context(file)
                self._files[table].write(lines)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._open.close()
        if kind is None:
            self._unfinished.rename(self._folder)
