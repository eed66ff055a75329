"""Checking data that others bring: requests with their calls, exported records, whole or broken, and those of HammerBench.

Each line of a file is hostile until it is parsed; a line that is no record is an answer of its own, never the end.
"""

import asyncio
import itertools
import tempfile
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
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

from callwright.flows.chats import Chats, open_chats
from callwright.flows.environments import STORE
from callwright.flows.recipe import Recipe, parse_recipe
from callwright.flows.settings import Settings
from callwright.flows.stages import stage_named
from callwright.generators.catalogs import Problem
from callwright.generators.catalogs.documents import FileLine, depth, stream_lines
from callwright.generators.environments.protocol import WORLDS, Environment, EnvironmentPart, World
from callwright.generators.imports.papers import read_hammerbench
from callwright.generators.stages import Stage, StageContext
from callwright.language.packs import of
from callwright.llm.answers import validate_text
from callwright.validators.checks.declaring import ALL, ARGUMENTS
from callwright.validators.checks.grounding import check_grounding, root_of
from callwright.validators.checks.table import all_checks, has_rest, settled_claims
from callwright.validators.checks.verdicts import read_by
from callwright.validators.values.said import hear
from callwright.validators.values.standing import STANDINGS, Standing, read_call
from callwright.warehouse.errors import ConfigurationError, RecordError, ReplyError, first_problem
from callwright.warehouse.records import (
    Arguments,
    CallTurn,
    Decision,
    GoldCall,
    JsonSchema,
    ResultTurn,
    Sample,
    SampleClaim,
    Tool,
    UserTurn,
    Verdict,
)
from callwright.warehouse.yaml_text import DEEPEST

Rows = Path | str | Iterable[Mapping[str, Any]]  # a file of JSON lines, or what stands in them
GradedDecision = Literal["proved", "judged", "unproved", "contradicted"]
_AT_ONCE = 64  # requests that are read at the same time
_FORMAT = "format"
_READING = "reading"  # the check that reads what words ask for


ClaimStanding = Literal["proved", "stated", "read", "open", "contradicted"]


class CheckedClaim(NamedTuple):
    """What a claim rests on.

    `read_by` is the model that read it, and `precision` how often such readings were right where
    that is measured: None where it is not.
    """

    standing: ClaimStanding
    read_by: str = ""
    precision: float | None = None


class Hint(NamedTuple):
    """What rules can't place, for whoever reads: a negation, a condition, a number left over, with its words."""

    kind: str
    quote: str


class RequestLine(BaseModel):
    """A request, the call that is said to be right, its tool, and when it was said."""

    model_config = ConfigDict(extra="ignore")

    class ToolLine(BaseModel):
        """The tool as a model sees it."""

        name: str = Field(min_length=1)
        description: str = ""
        parameters: JsonSchema = Field(default_factory=dict)

    id: str
    language: str
    tool: ToolLine
    arguments: Arguments = Field(default_factory=dict)
    request: str
    now: datetime | None = None


class CheckedRequest(NamedTuple):
    """What was found of a request: its decision, how each argument stands by rules, and why it is doubted.

    `values_proved` tells how many of its arguments are proved, and of how many. `claims` says what
    each claim rests on. Hints speak for or against nothing: they are for whoever reads.
    """

    id: str
    decision: GradedDecision
    arguments: dict[str, Standing]
    reasons: list[str]
    values_proved: tuple[int, int] = (0, 0)
    claims: dict[SampleClaim, CheckedClaim] = {}  # noqa: RUF012 - a line that is no request claims nothing
    hints: list[Hint] = []  # noqa: RUF012


class CheckVerdict(NamedTuple):
    """A check's answer about a record; the grade tells whether a rule or a model gave it."""

    check: str
    decision: Decision
    grade: GradedDecision
    reason: str


class CheckedRecordLine(NamedTuple):
    """The verdicts on an exported record, and as of a request how its arguments and its claims stand.

    `key` is "" where the line holds none. An argument of several calls stands as its weakest does.
    """

    key: str
    decision: GradedDecision
    verdicts: list[CheckVerdict]
    arguments: dict[str, Standing] = {}  # noqa: RUF012 - a line that is no record has none
    values_proved: tuple[int, int] = (0, 0)
    claims: dict[SampleClaim, CheckedClaim] = {}  # noqa: RUF012


async def find_requests(rows: Rows, model: str, settings: Settings) -> AsyncIterator[CheckedRequest]:
    """Read each request against its call: its values by rules, and what it asks for by `model` if there is one.

    A file is read as far as answers are asked for. Raises ConfigurationError where it can't be read.
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
        stated = RequestLine.model_validate(_loaded(line))
        validate_text(stated.request)
        _check_schema(stated.tool.parameters)
        tool = Tool(**stated.tool.model_dump(), category="")
    except (ValueError, RecursionError, ReplyError) as error:
        reason = f"Line {line.number} is no request: {_brief(error)}"
        return CheckedRequest(_id_of(line), "contradicted", {}, [reason])
    found = _read_values(stated, tool)
    if found.decision == "contradicted" or chats is None:
        return found
    verdict = await _read(stated, tool, chats)
    if verdict.decision != "proved":
        return found._replace(reasons=[*found.reasons, verdict.reason])
    read = {
        claim: one if one.standing == "proved" else CheckedClaim("read", verdict.model)
        for claim, one in found.claims.items()
    }
    return found._replace(decision="judged", reasons=[], claims=read)


def _read_values(stated: RequestLine, tool: Tool) -> CheckedRequest:
    """What rules tell: how each value stands. What the words ask for they leave open, so that no request is proved."""
    now = stated.now.replace(tzinfo=stated.now.tzinfo or UTC) if stated.now else None
    reading = read_call(tool, stated.arguments, [hear(stated.request, stated.language, now)])
    standing = {name: one.standing for name, one in reading.arguments.items()}
    lacking = [name for name in tool.required if name not in stated.arguments]
    return CheckedRequest(
        id=stated.id,
        decision="contradicted" if "contradicted" in standing.values() else "unproved",
        arguments=standing,
        reasons=[
            *(one.reason for one in reading.arguments.values() if one.standing != "proved"),
            *(f"The required parameter {name!r} has no value." for name in lacking),
        ],
        values_proved=_count_proved(standing),
        claims=claims_by_rules(standing),
        hints=[Hint(one.kind, one.quote) for one in reading.hints],
    )


def _count_proved(standing: Mapping[str, Standing]) -> tuple[int, int]:
    return sum(one == "proved" for one in standing.values()), len(standing)


async def _read(stated: RequestLine, tool: Tool, chats: Chats) -> Verdict:
    """Whether a model chooses the call among near misses of it."""
    call = GoldCall(tool=tool.name, arguments=stated.arguments)
    turns = (UserTurn(text=stated.request), CallTurn(calls=(call,)))
    language: Any = stated.language
    tags = (f"reference_time={stated.now:%Y-%m-%d %H:%M}",) if stated.now else ()
    try:
        of(stated.language)
        sample = Sample(kind="perfect", language=language, category="", candidates=(tool.key,), turns=turns, tags=tags)
    except (ValidationError, ConfigurationError) as error:
        return Verdict(subject="", check=_READING, decision="unproved", reason=_brief(error))
    stage = stage_named(_READING)
    context = _context(stage, sample, {tool.key: tool}, chats)
    verdict, *_told = read_by(context.chat.name, "", await _verdicts(stage, sample, context))
    return verdict


async def find_records(rows: Rows, model: str, settings: Settings) -> AsyncIterator[CheckedRecordLine]:
    """Run today's checks on exported records, one after another; without `model` those that need none.

    Raises ConfigurationError where a file can't be read.
    """
    async with opened_chats(model, settings) as chats:
        with tempfile.TemporaryDirectory(prefix="callwright-check-") as folder, ExitStack() as opened:
            worlds = _Worlds(Path(folder), opened)
            for line in _lines(rows):
                yield await _check_record(line, chats, worlds)


class _Worlds:
    """The simulated worlds that the calls of records are made in again, each opened once."""

    def __init__(self, folder: Path, opened: ExitStack) -> None:
        self._folder, self._opened = folder, opened
        self._known: dict[EnvironmentPart, Environment] = {}

    async def of(self, sample: Sample) -> Mapping[str, Environment]:
        """The environment that the sample names: of the settings that its name leaves open those that answer its calls alike."""
        known = WORLDS.named(sample.environment) if sample.environment in WORLDS else None
        if known is None or not known.alone:
            return {}
        recorded = [
            (call.bare, result)
            for turn, following in itertools.pairwise(sample.turns)
            if isinstance(turn, CallTurn) and isinstance(following, ResultTurn)
            for call, result in zip(turn.calls, following.results, strict=False)
        ]
        worlds = [self._opened_with(known, settings) for settings in known.alone]
        alike = [sum([(await world.answer(call)).response == result for call, result in recorded]) for world in worlds]
        return {sample.environment: worlds[alike.index(max(alike))]}

    def _opened_with(self, known: World, settings: EnvironmentPart) -> Environment:
        if settings not in self._known:
            from callwright.generators.environments.stored import StoredEnvironment

            world = known.open(settings, self._folder / STORE, str)
            if isinstance(world, StoredEnvironment):
                self._opened.enter_context(closing(world))
            self._known[settings] = world
        return self._known[settings]


async def _check_record(line: FileLine, chats: Chats | None, worlds: _Worlds) -> CheckedRecordLine:
    try:
        loaded = _loaded(line)
        sample = Sample.model_validate(loaded["sample"])
        tools = [Tool.model_validate(tool) for tool in loaded.get("tools", [])]
        for tool in tools:
            _check_schema(tool.parameters)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"Line {line.number} is no record: {_brief(error)}"
        return CheckedRecordLine("", "contradicted", [CheckVerdict(_FORMAT, "contradicted", "proved", reason)])
    environments = await worlds.of(sample)
    found = await check_sample(sample, {tool.key: tool for tool in tools}, chats, environments)
    verdicts = [
        CheckVerdict(
            one.check,
            one.decision,
            "unproved" if one.decision == "unproved" else "judged" if one.model else "proved",
            one.reason,
        )
        for one in found
    ]
    standing, grade = standing_of_arguments(found), settled_claims(found).grade
    against = any(one.decision == "contradicted" for one in found)
    decision: GradedDecision = grade if grade in ("proved", "judged") else "contradicted" if against else "unproved"
    claims = claims_of(found, standing)
    return CheckedRecordLine(sample.key, decision, verdicts, standing, _count_proved(standing), claims)


async def check_sample(
    sample: Sample, tools: Mapping[str, Tool], chats: Chats | None, environments: Mapping[str, Environment]
) -> list[Verdict]:
    """The verdicts of today's checks on a sample; without `chats` of those that need no model."""
    maker = sample.origin.model if sample.origin else ""
    verdicts: list[Verdict] = []
    for stage in all_checks():
        is_asked = chats.can_answer(stage) if chats else stage.sort == "rule"
        if is_asked and stage.applies(sample):
            context = _context(stage, sample, tools, chats, environments)
            if not await has_rest(stage, sample, context, verdicts):
                continue
            found = await _verdicts(stage, sample, context)
            verdicts += read_by(context.chat.name, maker, found) if stage.role else found
    return verdicts


def _context(
    stage: Stage,
    sample: Sample,
    tools: Mapping[str, Tool],
    chats: Chats | None,
    environments: Mapping[str, Environment] = MappingProxyType({}),
) -> StageContext:
    chat: Any = chats.of(stage, lambda _call: None) if chats is not None else None  # rules never ask it
    return StageContext(chat, Random(sample.key), tools, environments)


async def _verdicts(stage: Stage, sample: Sample, context: StageContext) -> list[Verdict]:
    """A check's verdicts; one that can't be carried out on this record says so as one of them."""
    try:
        found: list[Verdict] = await stage.function(sample, context) if stage.function else []
    except (RecordError, ReplyError) as error:
        reason = f"The check can't be carried out: {error}"
        return [Verdict(subject=sample.key, check=stage.name, decision="unproved", reason=reason)]
    return found


@asynccontextmanager
async def opened_chats(model: str, settings: Settings) -> AsyncIterator[Chats | None]:
    """A model in each role, None where none is named."""
    if not model:
        yield None
        return
    recipe = recipe_of_checks(model)
    with tempfile.TemporaryDirectory(prefix="callwright-check-") as folder:
        ledger = settings.ledger if settings.home.exists() else Path(folder) / "ledger.sqlite"
        async with open_chats(recipe, ledger, build="", spent=0.0) as chats:
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
    """What a line holds. Raises ValueError."""
    if line.problem:
        raise ValueError(line.problem)
    return orjson.loads(line.content)


def _check_schema(schema: JsonSchema) -> None:
    """Raise ValueError where parameters are no JSON Schema that can be read."""
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


def claims_by_rules(arguments: Mapping[str, Standing]) -> dict[SampleClaim, CheckedClaim]:
    """The claims where no model has read: values stand as rules found them, and what is asked for is open."""
    nothing: Standing = "proved"
    weakest = min(arguments.values(), key=STANDINGS.index, default=nothing)
    values: ClaimStanding = "open" if weakest == "unproved" else weakest
    return {one: CheckedClaim(values if one in ARGUMENTS else "open") for one in ALL}


def claims_of(verdicts: Iterable[Verdict], arguments: Mapping[str, Standing]) -> dict[SampleClaim, CheckedClaim]:
    """The claims by what checks found: code before a model that read, and that before what is only stated."""
    found = list(verdicts)
    settled = settled_claims(found)
    claims = claims_by_rules(arguments)
    settling = {check.name: check.settles for check in all_checks()}
    for claim in settled.claimed:
        if claim in settled.by_rules:
            claims[claim] = CheckedClaim("proved")
        elif claim in settled.by_models:
            reader = next(one.model for one in found if one.grade == "judged" and claim in settling.get(one.check, ()))
            claims[claim] = CheckedClaim("read", reader)
        elif claim not in ARGUMENTS or claims[claim].standing == "proved":
            claims[claim] = CheckedClaim("open")
    return claims


def standing_of_arguments(verdicts: Iterable[Verdict]) -> dict[str, Standing]:
    """For each argument how it stands by the grounding of all calls: that of its weakest place."""
    grounded = next((one for one in verdicts if one.check == check_grounding.name), None)
    if grounded is None:
        return {}
    doubted: dict[str, Standing] = {"only_stated": "stated", "other_said": "contradicted"}
    found: list[tuple[str, Standing]] = [(root_of(one.argument), "proved") for one in grounded.evidence]
    found += [(root_of(one.argument), doubted.get(one.kind, "unproved")) for one in grounded.doubts if one.argument]
    weakest: dict[str, Standing] = {}
    for name, standing in found:
        weakest[name] = min(weakest.get(name, standing), standing, key=STANDINGS.index)
    return weakest


class CheckedRecord(NamedTuple):
    """A record's verdicts, and the weakest decision among them."""

    record: str
    kind: str
    language: str
    request: str
    decision: str
    verdicts: list[Verdict]


class CheckedFile(NamedTuple):
    """All records of a file, what could not be read of it, a count of decisions by check, and the checks left out."""

    records: list[CheckedRecord]
    problems: list[Problem]
    summary: list[tuple[str, int, int, int]]
    left_out: list[str]


_ORDER = ("contradicted", "unproved", "proved")


async def check_hammerbench(path: Path, model: str, settings: Settings) -> CheckedFile:
    """Run the checks on every record of HammerBench, its label taken as gold; without a model those that need none.

    Raises ConfigurationError where the file can't be read.
    """
    records: list[CheckedRecord] = []
    problems: list[Problem] = []
    async with opened_chats(model, settings) as chats:
        for item in read_hammerbench(path):
            problems += item.problems
            if (sample := item.sample) is not None:
                verdicts = await check_sample(sample, {tool.key: tool for tool in item.tools}, chats, {})
                weakest = min((one.decision for one in verdicts), key=_ORDER.index, default="unproved")
                records.append(
                    CheckedRecord(item.where, sample.kind, sample.language, sample.request, weakest, verdicts)
                )
    left_out = [] if model else [stage.name for stage in all_checks() if stage.sort != "rule"]
    counts: Counter[tuple[str, str]] = Counter()
    for record in records:
        counts.update((verdict.check, str(verdict.decision)) for verdict in record.verdicts)
        counts["all checks", record.decision] += 1
    names = dict.fromkeys(name for name, _ in counts)
    summary = [(name, counts[name, "proved"], counts[name, "unproved"], counts[name, "contradicted"]) for name in names]
    return CheckedFile(records, problems, summary, left_out)


def recipe_of_checks(model: str) -> Recipe:
    """A recipe that makes nothing: its checks are asked of data that others bring, by `model` in each role if there is one."""
    recipe = parse_recipe({"name": "check", "tools": [{"seed": "all"}], "samples": {}}, Path(), "check")
    return recipe.as_asked(model=model)
