"""Evaluations from Python: `evaluate` and `evaluate_async`, of models or functions."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Unpack
from uuid import uuid4

from pydantic import JsonValue

from callwright.flows.api.options import EvaluationOptions
from callwright.flows.api.surroundings import ProgressReceiver, opened_progress, run, settings_of
from callwright.flows.evaluation.evaluating import (
    ForeseenEvaluation,
    answer_board,
    domain_board,
    evaluate_release,
    foresee,
    leaderboard,
)
from callwright.flows.evaluation.evaluation_run import (
    Conditions,
    EvaluationRequest,
    label_of,
    unfinished_evaluation,
)
from callwright.flows.evaluation.gate import (
    AnsweredItem,
    Demands,
    GateResult,
    Scope,
    hold,
    read_figures,
    read_items,
)
from callwright.flows.evaluation.predictions import IN_MESSAGES, PromptingStrategy, prompting_by
from callwright.flows.evaluation.tool_changes import AS_THEY_ARE, read_changes
from callwright.flows.options import Option, described, with_options
from callwright.flows.plugins import function_named
from callwright.flows.recipe import Candidate
from callwright.flows.settings import Settings, open_warehouse
from callwright.llm.function_model import AnswerFunction
from callwright.llm.models import ModelSettings, read_model
from callwright.warehouse.browsing import ToolComparison, compare_tools, list_changes
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.rows import Row

CandidateLike = str | Candidate | AnswerFunction
Candidates = CandidateLike | Sequence[CandidateLike]


class Evaluation:
    """The results of an evaluation: boards, and the first candidate's figures and answers.

    found = callwright.evaluate("v1", agent)
    found.figures["args_acc"]              # 0.93, a fraction
    len(found.failures), found.failures[0].problem
    """

    def __init__(
        self, release: str, candidates: Sequence[str], conditions: Conditions, settings: Settings
    ) -> None:
        """Store what was evaluated; results are read when they are asked for."""
        self.release = release
        self.candidates = tuple(candidates)
        self.strategy = conditions.prompting.label
        self.split = conditions.split
        self._scope = Scope(
            release,
            self.split,
            self.strategy,
            conditions.tools_shown,
            conditions.complexeval,
            conditions.judge.name if conditions.judge else "",
        )
        self._settings = settings

    @property
    def candidate(self) -> str:
        """The first candidate's name on the leaderboard: 'agent', or 'agent#2' if asked again."""
        return self.candidates[0]

    @cached_property
    def leaderboard(self) -> list[Row]:
        """The rows of the view leaderboard for all candidates of this release."""
        return leaderboard(self.release, self._settings, self.split)

    @cached_property
    def domains(self) -> list[Row]:
        """The rows of the view domain_board: the results on multi-step samples."""
        return domain_board(self.release, self._settings, self.split)

    @cached_property
    def answers(self) -> list[Row]:
        """The rows of the view answer_board: the results on plans and conversations."""
        return answer_board(self.release, self._settings, self.split)

    @cached_property
    def figures(self) -> dict[str, float]:
        """The first candidate's figures by metric, as fractions; a judge's replace the rule's.

        {'args_acc': 0.93, 'func_acc': 0.97, 'pass_rate': 0.91, …}; docs/scoring.md explains each
        one.
        """
        return read_figures(open_warehouse(self._settings), self._scope, self.candidate)

    @cached_property
    def samples(self) -> list[AnsweredItem]:
        """All answers of the first candidate, in the order of samples and turns."""
        return read_items(open_warehouse(self._settings), self._scope, self.candidate)

    @property
    def failures(self) -> list[AnsweredItem]:
        """The answers that are wrong or can't be read, including exceptions of a function."""
        return [item for item in self.samples if item.is_failure]

    @cached_property
    def changed_tools(self) -> tuple[ToolComparison, ...]:
        """The effect of changed tools (`tools=`), per candidate; () if the tools were unchanged.

        [one] = found.changed_tools
        one.whole["difference"], one.whole["p_value"]      # 0.08, 0.03
        one.by_tool[0]["tool"], one.by_tool[0]["changed"]  # 'get_weather', ['description']
        one.confusions, one.metrics
        """
        warehouse = open_warehouse(self._settings)
        return tuple(
            compare_tools(warehouse, self.release, change, self.split)
            for change in list_changes(warehouse, self.release)
            if change.candidate in self.candidates
            and (change.strategy, change.tools_shown) == self._scope[2:4]
        )

    def gate(
        self,
        fail_under: Mapping[str, float] = MappingProxyType({}),
        *,
        fail_over: Mapping[str, float] = MappingProxyType({}),
        against: str = "",
        worse_by: float = 0.0,
        p: float = 0.05,
    ) -> GateResult:
        """Check every candidate against bounds, and against another candidate of the release.

            gate = found.gate({"args_acc": 0.9}, against="agent", worse_by=0.02)
            gate.passed, gate.demands          # False, (Demand(candidate='agent#2', …), …)
            gate.write_junit(Path("gate.xml"))
            gate.write_summary(Path("gate.md"))

        With `against` (a name, or NAME~STRATEGY) a candidate fails if the share it passes is
        smaller by `worse_by` or more, and McNemar's exact test gives a p value of at most `p`.

        Raises ConfigurationError that lists the metrics or candidates to choose from.
        """
        demands = Demands(fail_under, fail_over, against, worse_by, p)
        return hold(open_warehouse(self._settings), self._scope, self.candidates, demands)


@described
class PythonEvaluationOptions(EvaluationOptions, total=False):
    """More options of `evaluate` in Python.

    Args:
        name: The candidate's name on the leaderboard.
        version: The version of a function. What the same version answered is kept; without one the
            function is asked anew each time, as agent, agent#2, ….
        concurrency: How many calls of a function run at once.
        home: The work folder. Default: CALLWRIGHT_HOME or .callwright.
        progress: A function that is given each `ProgressStep`, or "terminal".
    """

    name: str
    version: str
    concurrency: Annotated[int, Option(1, least=1)]
    home: Path | str | None
    progress: ProgressReceiver


@with_options
def evaluate(
    release: str, candidate: Candidates = (), **options: Unpack[PythonEvaluationOptions]
) -> Evaluation:
    """Ask a candidate for the calls that are due in a release; score and keep its answers.

    A function takes `(messages, tools)` in OpenAI's form and gives calls, as (name, arguments) or
    OpenAI's dicts, a text, or None for no call; it may be async. What it raises or gives that is no
    call is scored as a failure, with the reason.

        def agent(messages, tools):
            return [("get_weather", {"city": "Ulm"})]
        found = callwright.evaluate("v1", agent)
        found.figures["func_acc"], found.failures

    Args:
        release: The release to evaluate on.
        candidate: A model's name, a `Candidate`, a Python function, or several of them.

    Raises ConfigurationError for an unknown release or option, TransientError or BudgetError where
    it stopped before its end.
    """
    return run(evaluate_async(release, candidate, **options))


@with_options
async def evaluate_async(
    release: str, candidate: Candidates = (), **options: Unpack[PythonEvaluationOptions]
) -> Evaluation:
    """Evaluate as `evaluate` does, on this event loop; async functions are called in it.

        found = await callwright.evaluate_async("v1", agent, concurrency=8)

    Raises what `evaluate` raises.
    """
    settings = settings_of(options["home"])
    evaluation_request = _asked(settings, release, candidate, options)
    conditions = evaluation_request.conditions
    with opened_progress(options["progress"]) as reporting:
        names = await evaluate_release(
            release, evaluation_request.candidates, settings, reporting, conditions
        )
        if options["both"] and conditions.shown.tools:
            plain = conditions._replace(
                shown=AS_THEY_ARE, prompting=conditions.prompting._replace(tools="")
            )
            await evaluate_release(
                release, evaluation_request.candidates, settings, reporting, plain
            )
    return Evaluation(release, names, conditions, settings)


@with_options
def foresee_evaluation(
    release: str, candidate: Candidates = (), **options: Unpack[PythonEvaluationOptions]
) -> ForeseenEvaluation:
    """Return what `evaluate` would ask with these options, without asking anybody.

    Raises what it raises before it asks.
    """
    settings = settings_of(options["home"])
    asked = _asked(settings, release, candidate, options)
    return foresee(open_warehouse(settings), release, len(asked.candidates), asked.conditions)


def _asked(
    settings: Settings, release: str, candidate: Candidates, given: PythonEvaluationOptions
) -> EvaluationRequest:
    """Return the candidates and conditions of these options. Raises TypeError if one is unknown."""
    tools, judge = given["tools"] or None, given["judge"]
    router, live = given["router"], given["live"]
    if isinstance(candidate, str | Candidate) or callable(candidate):
        listed = [candidate]
    else:
        listed = [*candidate]
    if given["resume"]:
        if listed:
            raise ConfigurationError(
                "A resumed evaluation has the candidates that it had before. Leave out --model and"
                " --recipe."
            )
        return unfinished_evaluation(open_warehouse(settings), release, given["budget"])
    if given["both"] and tools is None:
        message = "--both needs changed tools. Name them with --tools FILE (tools= in Python)."
        raise ConfigurationError(message)
    chosen = [_chosen(one, given) for one in listed]
    functions = {one.model.name: function for one, function in chosen if function is not None}
    labels = [one.label for one, _ in chosen]
    if not labels:
        raise ConfigurationError(
            "There is no candidate to evaluate. Name a model such as template/v1 with --model, or "
            "a recipe with candidates with --recipe (in Python, also a function)."
        )
    if len(set(labels)) < len(labels):
        raise ConfigurationError(
            f"Two candidates have the same name: {', '.join(sorted(labels))}. Name each candidate"
            " once."
        )
    if functions and len(functions) < len(chosen):
        problem = "Functions and models need different strategies. Evaluate them separately."
        raise ConfigurationError(problem)
    shown = AS_THEY_ARE
    if tools is not None:
        shown = read_changes(
            open_warehouse(settings), release, Path(tools) if isinstance(tools, str) else tools
        )
    by_words = PromptingStrategy(IN_MESSAGES)
    prompting = by_words if functions else prompting_by(given["strategy"], given["format"], router)
    conditions = Conditions(
        given["runs"],
        given["budget"],
        given["tools_shown"],
        read_model(judge) if judge else None,
        given["complexeval"],
        given["turns"],
        prompting=prompting._replace(user=live, tools=shown.label),
        router=read_model(router) if router else None,
        user=read_model(live) if live else None,
        split=given["split"],
        functions=functions,
        shown=shown,
        as_published=given["as_published"],
    )
    return EvaluationRequest([one for one, _ in chosen], conditions)


def _chosen(
    candidate: CandidateLike, given: PythonEvaluationOptions
) -> tuple[Candidate, AnswerFunction | None]:
    """Return a candidate, and its function if it is one."""
    name = given["name"]
    if isinstance(candidate, str):
        candidate = function_named(candidate) or candidate
    if isinstance(candidate, Candidate):
        return candidate, None
    if isinstance(candidate, str):
        return Candidate(label=name or candidate, model=read_model(candidate)), None
    if not callable(candidate):
        raise ConfigurationError(
            f"{candidate!r} is not a candidate. A candidate is the name of a "
            "model, or a function of messages and tools."
        )
    label = name or label_of(candidate)
    # Without a version nobody knows what else a function's answers depend on.
    extra: dict[str, JsonValue] = {"version": given["version"] or uuid4().hex}
    settings = ModelSettings(
        name=f"python/{label}",
        extra=extra,
        concurrency=given["concurrency"],
        timeout=float(given["timeout"]),
    )
    return Candidate(label=label, model=settings), candidate
