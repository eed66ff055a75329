"""The inputs of an evaluation: candidates, names, conditions, models and warehouse.

An evaluation can be resumed.
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

import orjson
from pydantic import JsonValue

from callwright.flows.evaluation.predictions import STRATEGIES, PromptingStrategy
from callwright.flows.evaluation.tool_changes import AS_THEY_ARE, ShownTools
from callwright.flows.plugins import function_named
from callwright.flows.progress import Progress, Work
from callwright.flows.recipe import Candidate, read_recipe
from callwright.flows.run.carry import Pieces, ShardSizing
from callwright.flows.run.work import (
    NOT_OF_A_RECORD,
    InFlight,
    ShardResult,
    failure_by_bug,
    with_secret,
)
from callwright.flows.settings import named_secret
from callwright.generators.environments.protocol import Environment
from callwright.llm.chat import OpenedChat
from callwright.llm.function_model import AnswerFunction, FunctionModel
from callwright.llm.ledger import Ledger
from callwright.llm.limits import Budget, Traffic
from callwright.llm.models import ModelSettings, Readiness, check_key, open_chat, read_model
from callwright.validators.metrics.complexeval.rules import TURN_LIMIT
from callwright.validators.metrics.ratios import CandidateRun
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.extras import require_extra
from callwright.warehouse.paid_notes import PaidNotes
from callwright.warehouse.records import (
    EvalMode,
    Failure,
    LlmCall,
    Prediction,
    Record,
    Sample,
    ToolsShown,
    content_key,
)
from callwright.warehouse.rows import Row, rows_of
from callwright.warehouse.store import Warehouse


class NamedCandidate(NamedTuple):
    """A candidate of a release: the name for its answers and scores, model, settings hash."""

    name: str
    label: str
    model: ModelSettings
    settings: str


Item = TypeVar("Item")
# the sample that a model is being asked about
_SUBJECT: ContextVar[str] = ContextVar("subject", default="")
_MOST_ASKED = 500  # items whose answers are kept at once
Ask = Callable[[Item], Awaitable[Sequence[Record]]]


class Conditions(NamedTuple):
    """How candidates are asked and judged; `budget` limits the cost of it all in US dollars.

    `tools_shown` says at which snapshots of a conversation they see every candidate tool.
    Without a `judge` their arguments are compared by rule only. In multi-step samples they may
    reply `turn_limit` times; ComplexEval goes as its paper or as its published code says, and
    asks the environments that the samples were made in, or `environments` by these names, what a
    call returns. They are asked as `prompting` says; `router` chooses their tools, None lets
    each choose its own. A `user` model words what a simulated user says: then only live
    conversations are asked about. Only the samples of `split` are asked about, "" asks about
    all. `functions` are the candidates that are Python functions, by the names of their models.
    `shown` says how the tools are changed, as the label of `prompting` does too.
    """

    runs: int = 1
    budget: float | None = None
    tools_shown: ToolsShown = "first"
    judge: ModelSettings | None = None
    complexeval: EvalMode = "as_paper"
    turn_limit: int = TURN_LIMIT
    environments: Mapping[str, Environment] = MappingProxyType({})
    prompting: PromptingStrategy = PromptingStrategy()
    router: ModelSettings | None = None
    user: ModelSettings | None = None
    split: str = ""
    functions: Mapping[str, AnswerFunction] = MappingProxyType({})
    shown: ShownTools = AS_THEY_ARE


USUAL = Conditions()


class EvaluationRun(NamedTuple):
    """The evaluation of one release: its conditions, where answers are kept, and its budget.

    `calls` are the models' calls since they were last kept; those that cost money are in `paid`
    at once, and `traffic` counts them as they are made. `ready` is awaited before anything is
    sent to any model: `readiness_of` all of them.
    """

    release: str
    conditions: Conditions
    ledger: Ledger
    budget: Budget
    warehouse: Warehouse
    progress: Progress
    calls: list[LlmCall]
    paid: PaidNotes
    traffic: Traffic
    ready: Callable[[], Awaitable[None]]

    def open(self, settings: ModelSettings, stage: str, candidate: str = "") -> OpenedChat:
        """Return a model asked as this candidate, or about all for ""; the caller must close it.

        The model is checked before its first request.
        """
        function = self.conditions.functions.get(settings.name)
        if function is not None:
            record = partial(self._keep_call, candidate)
            return FunctionModel(settings.name, function, record, stage, settings.timeout)
        chat = open_chat(
            with_secret(settings),
            ledger=self.ledger,
            budget=self.budget,
            record=partial(self._note_call, candidate),
            traffic=self.traffic,
            ready=self.ready,
        )
        return chat.for_stage(stage)

    def _note_call(self, candidate: str, call: LlmCall) -> None:
        """Note a call before its answer is kept."""
        [(_, row)] = rows_of([self._keep_call(candidate, call)], datetime.now(UTC))
        self.paid.note(row)

    def _keep_call(self, candidate: str, call: LlmCall) -> LlmCall:
        """Note a call so that it is stored with its results, and return it."""
        strategy = self.conditions.prompting.label if candidate else ""
        call = call.with_changes(
            release=self.release, candidate=candidate, strategy=strategy, subject=_SUBJECT.get()
        )
        self.calls.append(call)
        return call

    def first_run_of(self, candidate: NamedCandidate) -> CandidateRun:
        """Return the first of a candidate's runs."""
        conditions = self.conditions
        return CandidateRun(
            self.release, candidate.name, conditions.prompting.label, conditions.tools_shown
        )

    async def ask_about(
        self, items: Sequence[Item], ask: Ask[Item], concurrency: int, title: str
    ) -> None:
        """Ask about each item and keep the results; all are kept before any error is raised.

        An item that fails at the provider is left for the next time. Raises the gravest error
        that left items without answer.
        """
        await _Chunks(self, items, ask, concurrency, title).carry_all()


def readiness_of(
    candidates: Sequence[Candidate], conditions: Conditions
) -> Callable[[], Awaitable[None]]:
    """Return a function that checks once whether all models of an evaluation can be asked.

    It looks at key, file, extra and server. Raises ConfigurationError, or UnavailableError if a
    server cannot be reached, before any model is asked; at once if the extra `build` is missing.
    """
    require_extra("build")
    model_settings = [
        *(one.model for one in candidates),
        conditions.judge,
        conditions.router,
        conditions.user,
    ]
    models = [
        one for one in model_settings if one is not None and one.name not in conditions.functions
    ]
    readiness = Readiness(map(with_secret, models))

    async def ready() -> None:
        for model in models:
            check_key(model, named_secret)
        await readiness.check()

    return ready


def choose_candidates(
    models: Sequence[str], recipe: Path | None
) -> list[Candidate | AnswerFunction]:
    """Return the named candidates, models or functions (`agent.py:answer`), and a recipe's."""
    named = [
        function_named(name) or Candidate(label=name, model=read_model(name)) for name in models
    ]
    return [*named, *(read_recipe(recipe).candidates if recipe else ())]


def label_of(candidate: Candidate | AnswerFunction) -> str:
    """Return a candidate's default name on the leaderboard."""
    if isinstance(candidate, Candidate):
        return candidate.label
    return getattr(candidate, "__name__", type(candidate).__name__)


def _sample_of(item: object) -> str:
    match item:
        case Prediction(subject=subject):
            return subject
        case Sample(key=key):
            return key
        case _:
            return str(item)


class _Chunks(Pieces, Generic[Item]):
    """The items of an evaluation in chunks: they stay in this process, as the models do."""

    def __init__(
        self,
        run: EvaluationRun,
        items: Sequence[Item],
        ask: Ask[Item],
        concurrency: int,
        title: str,
    ) -> None:
        sizing = ShardSizing(most=_MOST_ASKED, workers=1, concurrency=concurrency)
        work = Work(title, len(items), 1, concurrency)
        super().__init__(work, sizing, run.progress, run.traffic)
        self.undone = (
            f"answers of {title} are not there; what was answered is kept, and the next evaluation"
            " asks for the rest."
        )
        self._run, self._items, self._ask, self._cut = run, items, ask, 0
        self._in_flight = InFlight(concurrency, concurrency)

    @property
    def left(self) -> int:
        return len(self._items) - self._cut

    def begin(self, number: int, size: int) -> Coroutine[Any, Any, ShardResult]:
        self._cut += size
        return self._work(self._items[self._cut - size : self._cut])

    async def _work(self, chunk: Sequence[Item]) -> ShardResult:
        made: list[Record] = []
        bugs: list[Failure] = []
        done = 0

        async def ask(item: Item) -> None:
            nonlocal done
            _SUBJECT.set(_sample_of(item))
            try:
                made.extend(await self._ask(item))
            except NOT_OF_A_RECORD:
                raise
            except Exception as error:  # noqa: BLE001 - as in a shard: a bug ends its item and never the evaluation
                bugs.append(
                    failure_by_bug(
                        error, "evaluation", item.key if isinstance(item, Record) else str(item)
                    )
                )
            done += 1

        try:
            error = await self._in_flight.carry(chunk, ask)
        finally:  # also what was asked before somebody pressed Ctrl-C
            self._run.warehouse.put([*self._run.calls, *made, *bugs])
            self._run.calls.clear()
        bug = bugs[0].reason if bugs else ""
        return ShardResult(Path(), done, len(chunk) - done, error, bugs=len(bugs), bug=bug)


_MODELS = ("judge", "router", "user")
# what is there only while it runs, and what each command may spend
_LEFT_OUT = ("environments", "functions", "budget")


class AskedFor(NamedTuple):
    """The candidates that an evaluation asks, and the conditions."""

    candidates: list[Candidate]
    conditions: Conditions


@contextmanager
def noting(
    warehouse: Warehouse, release: str, candidates: Sequence[Candidate], conditions: Conditions
) -> Iterator[None]:
    """Record what an evaluation was asked for, and that it ended unless it is cut off within."""
    # Keys of providers are nowhere in it.
    condition_values = {
        name: value for name, value in conditions._asdict().items() if name not in _LEFT_OUT
    }
    for name in _MODELS:
        condition_values[name] = (
            condition_values[name].model_dump(mode="json") if condition_values[name] else None
        )
    condition_values["prompting"] = conditions.prompting._asdict()
    condition_values["shown"] = conditions.shown.model_dump(mode="json")
    candidate_values: list[JsonValue] = [one.model_dump(mode="json") for one in candidates]
    row: Row = {
        "key": content_key([release, candidate_values, condition_values]),
        "release": release,
        "candidates": orjson.dumps(candidate_values).decode(),
        "conditions": orjson.dumps(condition_values).decode(),
        "started_at": datetime.now(UTC),
        "finished_at": None,
    }
    warehouse.put_rows({"evaluations": [row]})
    yield
    warehouse.put_rows({"evaluations": [row | {"finished_at": datetime.now(UTC)}]})


def cut_off(warehouse: Warehouse, release: str, budget: float | None = None) -> AskedFor:
    """Return the newest evaluation of a release, which must be unfinished.

    Raises ConfigurationError if there is none to resume.
    """
    rows = warehouse.rows(
        "select candidates, conditions, finished_at from evaluations where release = ? order by"
        " started_at desc limit 1",
        [release],
    )
    if not rows:
        raise ConfigurationError(
            f"The release {release!r} has not been evaluated yet. Name candidates with --model"
            " NAME."
        )
    if rows[0]["finished_at"] is not None:
        problem = f"The last evaluation of {release!r} is complete, so there is nothing to resume."
        raise ConfigurationError(problem)
    condition_values = orjson.loads(rows[0]["conditions"])
    if not condition_values.keys() <= {*Conditions._fields}:
        raise ConfigurationError(
            f"The last evaluation of {release!r} was started by an earlier version with other "
            "options. Name its candidates again with --model NAME. Their answers are kept."
        )
    for name in _MODELS:
        # what was asked for by an earlier version knows of no user
        held = condition_values.get(name)
        condition_values[name] = (
            ModelSettings.model_validate_json(orjson.dumps(held)) if held else None
        )
    condition_values["prompting"] = PromptingStrategy(**condition_values["prompting"])
    condition_values["shown"] = ShownTools.model_validate(condition_values.get("shown", {}))
    if not STRATEGIES[condition_values["prompting"].strategy].is_for_models:
        raise ConfigurationError(
            f"The last evaluation of {release!r} was of a Python function. Evaluate it from Python"
            " again."
        )
    candidates = [
        Candidate.model_validate_json(orjson.dumps(one))
        for one in orjson.loads(rows[0]["candidates"])
    ]
    return AskedFor(candidates, USUAL._replace(**condition_values, budget=budget))
