"""Check data from elsewhere: requests with calls, exported records, HammerBench's records.

Each line of a file is hostile until it is parsed; a line that is not a record gets an answer of
its own and never ends the run.
"""

import asyncio
import itertools
import tempfile
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import orjson
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from callwright.flows.environments import STORE
from callwright.flows.recipe import Recipe, Roles, parse_recipe
from callwright.flows.run.work import Chats, SharedChats, check_keys
from callwright.flows.settings import Settings
from callwright.flows.stages import stage_named
from callwright.generators.catalogs import Problem
from callwright.generators.catalogs.documents import FileLine, stream_lines
from callwright.generators.environments.protocol import WORLDS, Environment, EnvironmentPart, World
from callwright.generators.imports.papers import read_hammerbench
from callwright.generators.stages import Stage, StageContext
from callwright.generators.tools import argument_problems
from callwright.language.packs import of
from callwright.llm.answers import validate_text
from callwright.llm.models import ModelSettings
from callwright.validators.checks.grounding import standings_told
from callwright.validators.checks.table import all_checks, has_rest, settled_claims
from callwright.validators.checks.verdicts import read_by
from callwright.validators.evidence import Scene, Standing, find_in_calls, weakest_standings
from callwright.warehouse.errors import ConfigurationError, RecordError, ReplyError, first_problem
from callwright.warehouse.extras import require_extra
from callwright.warehouse.json_text import DEEPEST, depth, read_json
from callwright.warehouse.records import (
    Arguments,
    Call,
    CallTurn,
    Decision,
    GoldCall,
    JsonSchema,
    ResultTurn,
    Sample,
    SampleFacts,
    Tool,
    UserTurn,
    Verdict,
)

Rows = Path | str | Iterable[Mapping[str, Any]]  # a file of JSON lines, or what stands in them
RequestDecision = Literal["judged", "open", "doubted", "contradicted"]
RecordDecision = Literal["proved", "judged", "open", "doubted", "contradicted"]
GradedDecision = Literal["proved", "judged", "unproved", "contradicted"]
_AT_ONCE = 64  # requests that are read at the same time
_FORMAT = "format"
_READING = "reading"  # the check that reads what words ask for
_UNREAD = ("unread", "not_read")  # doubts of whoever gave no usable answer


class RequestLine(BaseModel):
    """A request and the call claimed to be right: its tool or its name in `tools`, and context."""

    model_config = ConfigDict(extra="ignore")

    class ToolLine(BaseModel):
        """The tool as a model sees it."""

        name: str = Field(min_length=1)
        description: str = ""
        parameters: JsonSchema = Field(default_factory=dict)

    id: str
    language: str
    tool: ToolLine | str = ""
    tools: list[ToolLine] = Field(default_factory=list)
    arguments: Arguments = Field(default_factory=dict)
    request: str
    system: str = ""
    now: datetime | None = None

    @property
    def shown(self) -> list[ToolLine]:
        """The tools that the model sees."""
        alone = [] if isinstance(self.tool, str) else [self.tool]
        return [
            *(one for one in alone if one.name not in {each.name for each in self.tools}),
            *self.tools,
        ]

    @property
    def called(self) -> str:
        """The name of the called tool; a single tool needs no name."""
        named = self.tool if isinstance(self.tool, str) else self.tool.name
        return named or (self.tools[0].name if len(self.tools) == 1 else "")

    @property
    def reference_time(self) -> datetime | None:
        """The time of the request; None if unknown."""
        return self.now.replace(tzinfo=self.now.tzinfo or UTC) if self.now else None


class CheckedRequest(NamedTuple):
    """The result for a request: its decision, the grade of each argument, and any doubts.

    It is `judged` if a model that reads it writes the same call (`written`), `doubted` if it
    writes another one, `contradicted` if its words or the tool's schema contradict the call, and
    `open` otherwise.
    """

    id: str
    decision: RequestDecision
    arguments: dict[str, Standing]
    written: Call | None
    reasons: list[str]


class CheckVerdict(NamedTuple):
    """A check's verdict on a record; the grade says whether a rule or a model gave it."""

    check: str
    decision: Decision
    grade: GradedDecision
    reason: str


class CheckedRecordLine(NamedTuple):
    """The verdicts on an exported record, and the grade of each argument as for a request.

    `key` is "" if the line has none. An argument of several calls gets its weakest grade. A
    record is `proved` if code settles everything in it.
    """

    key: str
    decision: RecordDecision
    verdicts: list[CheckVerdict]
    arguments: dict[str, Standing] = {}  # noqa: RUF012 - a line that is no record has none


async def find_requests(
    rows: Rows, model: str, settings: Settings
) -> AsyncIterator[CheckedRequest]:
    """Find what each request says of its call, and let `model`, if given, read the request.

    A file is read only as far as answers are asked for. Raises ConfigurationError if it cannot
    be read.
    """
    waiting: deque[asyncio.Task[CheckedRequest]] = deque()
    async with opened_chats(model, settings) as chats:
        try:
            for line in _lines(rows):
                waiting.append(asyncio.create_task(_check_request(line, chats)))
                if len(waiting) == _AT_ONCE:
                    yield await waiting.popleft()
            while waiting:
                yield await waiting.popleft()
        finally:
            for task in waiting:
                task.cancel()


async def _check_request(line: FileLine, chats: Chats | None) -> CheckedRequest:
    try:
        request_line = RequestLine.model_validate(_loaded(line))
        validate_text(request_line.request)
        names = [one.name for one in request_line.shown]
        if names.count(request_line.called) != 1:
            raise ValueError(f"the tools are {names}, and `tool` has to name one of them")
        for shown_tool in request_line.shown:
            _check_schema(shown_tool.parameters)
        tools = [Tool(**one.model_dump(), category="") for one in request_line.shown]
        checked_request = _find_values(request_line, tools)
    except (ValueError, RecursionError, ReplyError, RecordError) as error:
        reason = f"Line {line.number} is no request: {_brief(error)}"
        return CheckedRequest(_id_of(line), "contradicted", {}, None, [reason])
    if checked_request.decision == "contradicted" or chats is None:
        return checked_request
    verdict = await _read(request_line, tools, chats)
    written = next((call for reading in verdict.readings for call in reading.calls), None)
    checked_request = checked_request._replace(written=written)
    if verdict.decision == "proved":
        contested = [verdict.reason] if any(reading.votes for reading in verdict.readings) else []
        return checked_request._replace(decision="judged", reasons=contested)
    is_unread = not verdict.doubts or any(one.kind in _UNREAD for one in verdict.doubts)
    return checked_request._replace(
        decision="open" if is_unread else "doubted",
        reasons=[*checked_request.reasons, verdict.reason],
    )


def _find_values(stated: RequestLine, tools: Sequence[Tool]) -> CheckedRequest:
    """Find where each value of a request's call is said, and which values break the schema."""
    call = GoldCall(tool=stated.called, arguments=stated.arguments)
    [tool] = [one for one in tools if one.name == stated.called]
    turns = (UserTurn(text=stated.request),)
    known = {one.name: one for one in tools}
    value_findings = [
        *find_in_calls(
            Scene(turns, (call,), known, stated.language, stated.system, stated.reference_time)
        )
    ]
    problems = argument_problems(
        tool.with_changes(parameters=_without_formats(tool.parameters)),
        stated.arguments,
        partial=True,
    )
    lacking = [name for name in tool.required if name not in stated.arguments]
    is_against = bool(problems) or any(one.standing == "contradicted" for one in value_findings)
    return CheckedRequest(
        id=stated.id,
        decision="contradicted" if is_against else "open",
        arguments=weakest_standings(value_findings),
        written=None,
        reasons=[
            *dict.fromkeys([*problems, *(one.reason for one in value_findings if one.reason)]),
            *(f"The required parameter {name!r} has no value." for name in lacking),
        ],
    )


def _without_formats(schema: JsonSchema) -> JsonSchema:
    """Return the schema without its text formats: people leave out a date-time's zone."""
    return {
        name: _without_formats(one) if isinstance(one, dict) else one
        for name, one in schema.items()
        if name != "format" or isinstance(one, dict)
    }


async def _read(stated: RequestLine, tools: Sequence[Tool], chats: Chats) -> Verdict:
    """Return the verdict of a model that reads the request and writes the call anew."""
    call = GoldCall(tool=stated.called, arguments=stated.arguments)
    turns = (UserTurn(text=stated.request), CallTurn(calls=(call,)))
    language: Any = stated.language
    now = f"{stated.now:%Y-%m-%d %H:%M}" if stated.now else ""
    keys = tuple(tool.key for tool in tools)
    try:
        of(stated.language)
        sample = Sample(
            kind="perfect",
            language=language,
            category="",
            candidates=keys,
            turns=turns,
            facts=SampleFacts(reference_time=now),
            system_message=stated.system,
        )
    except (ValidationError, ConfigurationError) as error:
        return Verdict(subject="", check=_READING, decision="unproved", reason=_brief(error))
    stage = stage_named(_READING)
    context = context_for(stage, sample, {tool.key: tool for tool in tools}, chats)
    [verdict] = read_by(context.chat.name, "", await _verdicts(stage, sample, context))
    return verdict


async def find_records(
    rows: Rows, model: str, settings: Settings
) -> AsyncIterator[CheckedRecordLine]:
    """Run today's checks on exported records, one by one; without `model`, those that need none.

    Raises ConfigurationError if a file cannot be read.
    """
    async with opened_chats(model, settings) as chats:
        with (
            tempfile.TemporaryDirectory(prefix="callwright-check-") as folder,
            ExitStack() as opened,
        ):
            worlds = _WorldsByName(Path(folder), opened)
            for line in _lines(rows):
                yield await _check_record(line, chats, worlds)


class _WorldsByName:
    """The simulated worlds that records' calls are repeated in, each opened once."""

    def __init__(self, folder: Path, opened: ExitStack) -> None:
        self._folder, self._opened = folder, opened
        self._known: dict[EnvironmentPart, Environment] = {}

    async def of(self, sample: Sample) -> Mapping[str, Environment]:
        """Return the sample's environment, with the settings that answer its calls alike.

        Only settings that the environment's name leaves open are tried. {} if it is unknown or
        cannot run alone.
        """
        name = sample.facts.environment
        world_kind = WORLDS.named(name) if name in WORLDS else None
        if world_kind is None or not world_kind.alone:
            return {}
        recorded = [
            (call.bare, result)
            for turn, following in itertools.pairwise(sample.turns)
            if isinstance(turn, CallTurn) and isinstance(following, ResultTurn)
            for call, result in zip(turn.calls, following.results, strict=False)
        ]
        worlds = [self._opened_with(world_kind, settings) for settings in world_kind.alone]
        alike = [
            sum([(await world.answer(call)).response == result for call, result in recorded])
            for world in worlds
        ]
        return {name: worlds[alike.index(max(alike))]}

    def _opened_with(self, known: World, settings: EnvironmentPart) -> Environment:
        if settings not in self._known:
            from callwright.generators.environments.stored import StoredEnvironment

            world = known.open(settings, self._folder / STORE, str)
            if isinstance(world, StoredEnvironment):
                self._opened.enter_context(closing(world))
            self._known[settings] = world
        return self._known[settings]


async def _check_record(
    line: FileLine, chats: Chats | None, worlds: _WorldsByName
) -> CheckedRecordLine:
    try:
        loaded = _loaded(line)
        sample = Sample.model_validate(loaded["sample"])
        tools = [Tool.model_validate(tool) for tool in loaded.get("tools", [])]
        for tool in tools:
            _check_schema(tool.parameters)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"Line {line.number} is no record: {_brief(error)}"
        return CheckedRecordLine(
            "", "contradicted", [CheckVerdict(_FORMAT, "contradicted", "proved", reason)]
        )
    environments = await worlds.of(sample)
    check_verdicts = await check_sample(
        sample, {tool.key: tool for tool in tools}, chats, environments
    )
    verdicts = [
        CheckVerdict(
            one.check,
            one.decision,
            "unproved" if one.decision == "unproved" else "judged" if one.model else "proved",
            one.reason,
        )
        for one in check_verdicts
    ]
    return CheckedRecordLine(
        sample.key, _decision_on(check_verdicts), verdicts, standings_told(check_verdicts)
    )


def _decision_on(verdicts: Sequence[Verdict]) -> RecordDecision:
    """Return what the verdicts add up to.

    What a reading model doubts, or a rule leaves to people, is doubted.
    """
    settled = settled_claims(verdicts)
    if settled.grade == "proved" or settled.grade == "judged":  # noqa: PLR1714 - so that types follow
        return settled.grade
    if any(one.decision == "contradicted" for one in verdicts):
        return "contradicted"
    is_doubted = settled.is_doubted or any(
        one.decision == "unproved" and one.model for one in verdicts
    )
    return "doubted" if is_doubted else "open"


async def check_sample(
    sample: Sample,
    tools: Mapping[str, Tool],
    chats: Chats | None,
    environments: Mapping[str, Environment],
) -> list[Verdict]:
    """Return the verdicts of today's checks on a sample; without `chats`, of rule checks only."""
    maker = sample.origin.model if sample.origin else ""
    verdicts: list[Verdict] = []
    for stage in all_checks():
        is_asked = chats.can_answer(stage) if chats else stage.sort == "rule"
        if is_asked and stage.applies(sample):
            context = context_for(stage, sample, tools, chats, environments)
            if not await has_rest(stage, sample, context, verdicts):
                continue
            found = await _verdicts(stage, sample, context)
            verdicts += read_by(context.chat.name, maker, found) if stage.role else found
    return verdicts


def context_for(
    stage: Stage,
    sample: Sample,
    tools: Mapping[str, Tool],
    chats: Chats | None,
    environments: Mapping[str, Environment] = MappingProxyType({}),
) -> StageContext:
    """Return the context in which a check reads a sample; `tools` are by key."""
    # rules never ask it
    chat: Any = chats.of(stage, chats.calls.append) if chats is not None else None
    return StageContext(chat, Random(sample.key), tools, environments)


async def _verdicts(stage: Stage, sample: Sample, context: StageContext) -> list[Verdict]:
    """Return a check's verdicts; if it can't be carried out, one that says so."""
    try:
        stage_verdicts = await stage.function(sample, context) if stage.function else []
    except (RecordError, ReplyError) as error:
        reason = f"The check can't be carried out: {error}"
        return [Verdict(subject=sample.key, check=stage.name, decision="unproved", reason=reason)]
    return [one for one in stage_verdicts if isinstance(one, Verdict)]


@asynccontextmanager
async def opened_chats(model: str, settings: Settings) -> AsyncIterator[Chats | None]:
    """Yield the chats with the model in each role; None if no model is named.

    Raises ConfigurationError if the extra with which checks are made is missing.
    """
    require_extra("build")
    if not model:
        yield None
        return
    recipe = recipe_of_checks(model)
    check_keys(recipe)
    with tempfile.TemporaryDirectory(prefix="callwright-check-") as folder:
        ledger = settings.ledger if settings.home.exists() else Path(folder) / "ledger.sqlite"
        async with SharedChats().of(recipe, ledger) as chats:
            yield chats


def _lines(rows: Rows) -> Iterator[FileLine]:
    if isinstance(rows, Path | str):
        try:
            yield from stream_lines(Path(rows))
        except OSError as error:
            raise ConfigurationError(f"The file {str(rows)!r} can't be read: {error}.") from error
        return
    for number, row in enumerate(rows, 1):
        try:
            line = FileLine(number, orjson.dumps(row))
        except TypeError as error:
            line = FileLine(number, b"", f"it is no JSON: {error}")
        yield line


def _loaded(line: FileLine) -> Any:  # noqa: ANN401 - not validated yet
    """Return the value in a line. Raises ValueError if it can't be read."""
    if line.problem:
        raise ValueError(line.problem)
    return read_json(line.content.decode())


def _check_schema(schema: JsonSchema) -> None:
    """Raise ValueError if parameters are not a valid JSON Schema."""
    if depth(schema) > DEEPEST:
        raise ValueError(f"the parameters are nested more than {DEEPEST} levels deep")
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"the parameters are no JSON Schema: {error.message[:200]}") from error


def _id_of(line: FileLine) -> str:
    with suppress(ValueError):
        loaded = _loaded(line)
        if isinstance(loaded, dict):
            return str(loaded.get("id", line.number))
    return str(line.number)


def _brief(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return f"{first_problem(error)}."
    return f"{error or type(error).__name__}."


class CheckedRecord(NamedTuple):
    """A record's verdicts, and the weakest decision among them."""

    record: str
    kind: str
    language: str
    request: str
    decision: str
    verdicts: list[Verdict]


class CheckedFile(NamedTuple):
    """A file's records, unreadable parts, counts of decisions by check, and omitted checks."""

    records: list[CheckedRecord]
    problems: list[Problem]
    summary: list[tuple[str, int, int, int]]
    left_out: list[str]


_ORDER = ("contradicted", "unproved", "proved")


async def check_hammerbench(path: Path, model: str, settings: Settings) -> CheckedFile:
    """Check every record of HammerBench with its label as gold; without a model, by rules only.

    Raises ConfigurationError if the file cannot be read.
    """
    records: list[CheckedRecord] = []
    problems: list[Problem] = []
    async with opened_chats(model, settings) as chats:
        for item in read_hammerbench(path):
            problems += item.problems
            if (sample := item.sample) is not None:
                verdicts = await check_sample(
                    sample, {tool.key: tool for tool in item.tools}, chats, {}
                )
                weakest = min(
                    (one.decision for one in verdicts), key=_ORDER.index, default="unproved"
                )
                records.append(
                    CheckedRecord(
                        item.where, sample.kind, sample.language, sample.request, weakest, verdicts
                    )
                )
    left_out = [] if model else [stage.name for stage in all_checks() if stage.sort != "rule"]
    counts: Counter[tuple[str, str]] = Counter()
    for record in records:
        counts.update((verdict.check, str(verdict.decision)) for verdict in record.verdicts)
        counts["all checks", record.decision] += 1
    names = dict.fromkeys(name for name, _ in counts)
    summary = [
        (name, counts[name, "proved"], counts[name, "unproved"], counts[name, "contradicted"])
        for name in names
    ]
    return CheckedFile(records, problems, summary, left_out)


def recipe_of_checks(model: str | ModelSettings) -> Recipe:
    """Return a recipe that makes nothing, for checks of others' data by `model`, if given.

    The model has every role.
    """
    recipe = parse_recipe(
        {"name": "check", "tools": [{"seed": "all"}], "samples": {}}, Path(), "check"
    )
    if isinstance(model, str):
        return recipe.as_asked(model=model)
    roles = Roles(**dict.fromkeys(recipe.models.named, model))
    return recipe.model_copy(update={"models": roles})
