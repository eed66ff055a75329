"""The inputs of an evaluation: candidates, names, conditions, models and warehouse.

An evaluation can be resumed.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import orjson
from pydantic import JsonValue

from callwright.flows.evaluation.predictions import STRATEGIES, PromptingStrategy
from callwright.flows.evaluation.tool_changes import AS_THEY_ARE, ShownTools
from callwright.flows.plugins import function_named
from callwright.flows.progress import Progress, Work
from callwright.flows.recipe import Candidate, Recipe, read_recipe
from callwright.flows.run.carry import Pieces, ShardSizing
from callwright.flows.run.work import (
    NOT_OF_A_RECORD,
    InFlight,
    ShardResult,
    failure_by_bug,
    gravest,
    task_group,
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
from callwright.warehouse.errors import CallwrightError, ConfigurationError
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
    """A candidate of a release."""

    name: str  # the name that its answers and scores are stored under
    label: str  # the name on the leaderboard
    model: ModelSettings
    settings: str  # the hash of its settings


Item = TypeVar("Item")
# The sample that a model is being asked about. Each item is asked about in a task of its own, so a
# call that the model records finds the right one.
_SUBJECT: ContextVar[str] = ContextVar("subject", default="")
_MOST_ASKED = 500  # items whose answers are kept at once
Ask = Callable[[Item], Awaitable[Sequence[Record]]]


class Conditions(NamedTuple):
    """How candidates are asked and judged."""

    runs: int = 1
    # US dollars for all candidates; None: no limit
    budget: float | None = None
    # at which snapshots of a conversation candidates see every candidate tool
    tools_shown: ToolsShown = "first"
    # None: arguments are compared by rule only
    judge: ModelSettings | None = None
    # multi-step samples are run as ComplexEval's paper or as its published code does
    complexeval: EvalMode = "as_paper"
    # the most replies in a multi-step sample
    turn_limit: int = TURN_LIMIT
    # what answers calls, by name; others are those that the samples were made in
    environments: Mapping[str, Environment] = MappingProxyType({})
    prompting: PromptingStrategy = PromptingStrategy()
    # chooses the tools for the candidate; None: the candidate does
    router: ModelSettings | None = None
    # words what a simulated user says; with it, only live conversations are asked about
    user: ModelSettings | None = None
    # only samples of this split; "": all
    split: str = ""
    # candidates that are Python functions, by the names of their models
    functions: Mapping[str, AnswerFunction] = MappingProxyType({})
    # how the tools are changed, as the label of `prompting` says too
    shown: ShownTools = AS_THEY_ARE
    # answers are held against the single gold, as the papers do; False: against all accepted ones
    as_published: bool = False


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
        pieces = Pieces(
            work=Work(title, len(items), 1, concurrency),
            sizing=ShardSizing(most=_MOST_ASKED, workers=1, concurrency=concurrency),
            progress=self.progress,
            traffic=self.traffic,
            left=lambda: len(items) - cut,
            undone=(
                f"answers of {title} are not there; what was answered is kept, and the next"
                " evaluation asks for the rest."
            ),
        )
        in_flight, cut = InFlight(concurrency, concurrency), 0
        async with pieces.under_way():
            async for _, size in pieces.cut():  # they stay in this process, as the models do
                chunk, cut = items[cut : cut + size], cut + size
                pieces.begin(self._ask_chunk(chunk, ask, in_flight))

    async def _ask_chunk(
        self, chunk: Sequence[Item], ask: Ask[Item], in_flight: InFlight
    ) -> ShardResult:
        made: list[Record] = []
        bugs: list[Failure] = []
        errors: list[CallwrightError] = []
        done = 0

        async def ask_about_one(item: Item) -> None:
            nonlocal done
            _SUBJECT.set(_sample_of(item))
            with in_flight.place(errors):
                try:
                    made.extend(await ask(item))
                except NOT_OF_A_RECORD:
                    raise
                except Exception as error:  # noqa: BLE001 - as in a shard: a bug ends its item and never the evaluation
                    subject = item.key if isinstance(item, Record) else str(item)
                    bugs.append(failure_by_bug(error, "evaluation", subject))
                done += 1

        try:
            async with task_group() as tasks:
                async for item in in_flight.admit(chunk, errors):
                    tasks.create_task(ask_about_one(item))
        finally:  # also what was asked before somebody pressed Ctrl-C
            self.warehouse.put([*self.calls, *made, *bugs])
            self.calls.clear()
        bug = bugs[0].reason if bugs else ""
        left = len(chunk) - done
        return ShardResult(Path(), done, left, gravest(errors), bugs=len(bugs), bug=bug)


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
    """Return the named candidates, models or functions (`agent.py:answer`), and a recipe's.

    A model that the recipe has settings for gets them.
    """
    return candidates_of(models, read_recipe(recipe) if recipe else None)


def candidates_of(
    models: Sequence[str], brought: Recipe | None
) -> list[Candidate | AnswerFunction]:
    """Return candidates as `choose_candidates` does, with a recipe that was read."""
    named_model = brought.model_named if brought else read_model
    named = [
        function_named(name) or Candidate(label=name, model=named_model(name)) for name in models
    ]
    more = brought.candidates if brought else ()
    return [*named, *(one for one in more if one.label not in models)]


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


_MODELS = ("judge", "router", "user")
# Not stored: what exists only during the evaluation, and what each command may spend.
_NOT_STORED = ("environments", "functions", "budget")


class EvaluationRequest(NamedTuple):
    """The candidates of an evaluation, and the conditions."""

    candidates: list[Candidate]
    conditions: Conditions


@contextmanager
def record_evaluation(
    warehouse: Warehouse, release: str, candidates: Sequence[Candidate], conditions: Conditions
) -> Iterator[None]:
    """Store what an evaluation is asked for and, unless an error ends the block, that it finished.

    The row holds no keys of providers.
    """
    condition_values = {
        name: value for name, value in conditions._asdict().items() if name not in _NOT_STORED
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


def unfinished_evaluation(
    warehouse: Warehouse, release: str, budget: float | None = None
) -> EvaluationRequest:
    """Return what the newest evaluation of a release was asked for, which must be unfinished.

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
        # None also for a model that the version which stored the row did not know
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
    return EvaluationRequest(candidates, USUAL._replace(**condition_values, budget=budget))
