"""How the records of a shard go through stages: their models, budgets, facts and result.

A shard names its files only, so it can be worked anywhere that sees them. A record's facts are kept
when its whole chain is done, so a shard that is cut off leaves nothing half done: what was paid for
is in the ledger, and the next build asks for the rest.
"""

import asyncio
import shutil
import traceback
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
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
    """Items under way, at most `places` at once; none begins once the next would fare no better."""

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

    async def carry(
        self, items: Iterable[Item], work: Callable[[Item], Awaitable[None]]
    ) -> CallwrightError | None:
        """Work the items, each read when its turn comes; return the gravest error that left one."""
        errors: list[CallwrightError] = []

        async def carry_one(item: Item) -> None:
            try:
                await work(item)
            except (TransientError, *FATAL) as error:
                errors.append(error)
                self._in_vain += 1
                self.error = self.error if isinstance(self.error, FATAL) else error
            else:
                self._in_vain = 0
            finally:
                self._places.release()

        with explained_alone():
            async with asyncio.TaskGroup() as group, self._turn:
                for number, item in enumerate(items):
                    if number % _BEGUN_AT_ONCE == 0:
                        await asyncio.sleep(0)  # the first ones ask while others are made ready
                    await self._places.acquire()
                    if self.is_in_vain:
                        self._places.release()
                        errors += [self.error] if self.error else []
                        break
                    group.create_task(carry_one(item))
        return max(errors, key=lambda error: isinstance(error, FATAL), default=None)


@contextmanager
def explained_alone() -> Iterator[None]:
    """Within, a group of errors that can all be explained becomes the first of them."""
    try:
        yield
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
        """Take opened chats; they send `concurrency` requests at once and spend of `budget`."""
        self._chats = chats
        self.budget = budget
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
                    opening = self._open(recipe, ledger, build, budget)
                    self._chats = await self._opened.enter_async_context(opening)
            yield self._chats
        finally:
            self._users -= 1
            if not self._users and self._chats is not None:
                self._spent[build] = self._chats.budget.spent
                opened, self._opened, self._chats = self._opened, AsyncExitStack(), None
                await opened.aclose()

    @asynccontextmanager
    async def _open(
        self, recipe: Recipe, path: Path, build: str, budget: Budget
    ) -> AsyncIterator[Chats]:
        """Open the recipe's models; roles with the same settings share one and its limits."""
        ledger = await asyncio.to_thread(Ledger, path)  # its disk may be slow
        models = distinct_models(recipe)
        ready = Readiness(map(with_secret, models), self._there)
        opened: list[LedgeredChat] = []
        unlogged: list[LlmCall] = []
        try:
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
                opened.append(chat)
            by_role = {name: opened[models.index(model)] for name, model in roles_of(recipe)}
            yield Chats(by_role, concurrency_of(recipe), budget)
        finally:
            for chat in opened:
                await chat.close()
            await ledger.close()


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
            error = await chats.in_flight.carry(read_records(shard.source), work.carry)
    undone, cost = shard.records - work.done, earlier + work.cost
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

    async def carry(self, record: Record) -> None:
        """Carry a record through the stages, and whatever it becomes on the way."""
        facts = Facts(self._shard.build, self._now)
        to_do = [(record, 0)]
        try:
            if isinstance(record, Draft):  # samples were kept by the stage that made them
                facts.keep([record])
        except RecordError as error:
            facts.fail(self._stages[0].name, record, error)
            to_do.clear()
        while to_do:
            current, at = to_do.pop()
            outputs = await self._pass(self._stages[at], current, facts)
            if outputs is not None and at + 1 < len(self._stages):
                to_do += [(output, at + 1) for output in reversed(outputs or [current])]
        self._files.add(facts.rows)
        self.done += 1

    async def _pass(self, stage: Stage, record: Record, facts: "Facts") -> list[Record] | None:
        """Return what it becomes: new records, [] for itself, None where it goes no further."""
        chats = self._chats
        if stage.function is None or not stage.applies(record) or not chats.can_answer(stage):
            reason = "The stage does not apply to this kind, or its model."
            facts.note(stage.name, record, "passed", reason, "not_applicable")
            return []
        calls: list[LlmCall] = []
        # Nobody speaks in checks, and where the recipe names none.
        voice = voice_of(record, *self._voices) if self._voices and not stage.is_check else SILENT
        context = self._context(stage, record, voice, calls)
        try:
            if isinstance(record, Sample) and not await has_rest(
                stage, record, context, facts.verdicts_on(record)
            ):
                reason = "Nothing is left that a model may settle."
                facts.note(stage.name, record, "passed", reason, "not_applicable")
                return []
            outputs = _outputs_of(stage, await stage.carry_out(record, context))
            if not stage.is_check:
                outputs = [self._finished(output, voice, calls) for output in outputs]
            elif stage.role:
                generator = self._recipe.models.generator.name
                outputs = read_by(context.chat.name, generator, outputs)
            facts.keep(outputs)
        except (ReplyError, RecordError) as error:
            facts.fail(stage.name, record, error)
            return None
        except NOT_OF_A_RECORD:
            raise
        except Exception as error:  # noqa: BLE001 - the one boundary: a bug ends its record and never the build
            blamed = _blamed_for(stage, error)
            failure = failure_by_bug(error, stage.name, record.key, self._shard.build, blamed)
            facts.keep([failure])
            facts.note(stage.name, record, "failed", failure.reason.partition("\n")[0], "error")
            self.bugs, self.bug = self.bugs + 1, self.bug or failure.reason
            return None
        if not stage.is_check:
            facts.note(stage.name, record, "passed")
            facts.link(record, outputs)
            return outputs
        must_prove = isinstance(stage, Check) and stage.sort == "gate"
        outcome, code, reason = outcome_of(outputs, must_prove=must_prove)
        facts.note(stage.name, record, outcome, reason, code)
        return [] if outcome == "passed" else None

    def _context(
        self, stage: Stage, record: Record, voice: UserVoice, calls: list[LlmCall]
    ) -> StageContext:
        """Return what the stage has at hand; calls are noted whatever comes of the record."""
        recipe, of = self._recipe, self._chats.of
        note = partial(self._note_call, calls, record.key)
        chat = of(stage, note)
        # A check reads what is there, and a tool is nobody's: neither has circumstances or a voice.
        is_plain = stage.is_check or stage.group == TOOLSET or not reads_language(chat.name)
        return StageContext(
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
        )

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


def _blamed_for(stage: Stage, error: Exception) -> str:
    """Say whose code broke down, and where in it, for authors of stages; or that it is ours."""
    function = stage.function
    if function is None or is_ours(function):
        return OUR_BUG
    return f"{whose(f'stage {stage.name!r}', function, error)} raised"


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

    def link(self, draft: Record, outputs: Iterable[Record]) -> None:
        """Note which samples and tools were made of a draft."""
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
