"""Driving candidates through multi-step samples turn by turn (ComplexFuncBench 3).

`evaluate_paths` asks one candidate about all samples of a release that it has not run yet, and
scores its runs. `run_path` is one run: it goes on until the candidate answers or makes a mistake
that ends it. `ask_next` is one turn of it, in one of the `PATH_STRATEGIES`.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from random import Random
from typing import Any, NamedTuple

import orjson
from pydantic import JsonValue, ValidationError

from callwright.flows.environments import open_environments
from callwright.flows.evaluation.answers import runs_by_split
from callwright.flows.evaluation.evaluation_run import Conditions, EvaluationRun, NamedCandidate
from callwright.flows.evaluation.predictions import (
    IN_MESSAGES,
    MOST_NATIVE,
    PromptingStrategy,
    Question,
    as_chat,
    name_tools,
    parse_completion,
    require_function,
    storable,
)
from callwright.flows.evaluation.task_runs import TaskRun
from callwright.flows.evaluation.tasks import Task
from callwright.flows.evaluation.tool_changes import AS_THEY_ARE, ShownTools
from callwright.flows.progress import Progress
from callwright.flows.recipe import Recipe
from callwright.flows.settings import Settings
from callwright.generators.environments.protocol import Environment
from callwright.generators.kinds import kinds_with, traits_of
from callwright.generators.multi_step.correction import (
    CALL_TEMPLATE,
    NextCalls,
    next_calls_prompt,
    shown_past,
)
from callwright.generators.multi_step.tasks import BegunWorld, world_of_sample, world_problem
from callwright.generators.multi_step.wording import PROMPTS
from callwright.generators.stages import StageContext
from callwright.generators.transcripts import chat_messages, conversation_text
from callwright.generators.users.user import (
    USER_IS_THERE,
    SimulatedUser,
    converse,
    user_prompts_seen,
)
from callwright.llm.chat import ChatModel, Completion
from callwright.llm.prompts import led_by, prompt_version, render
from callwright.validators.checks.wording import user_figures
from callwright.validators.embeddings import likeness
from callwright.validators.judges import PROMPTS as OWN_PROMPTS
from callwright.validators.judges import (
    SAME_ON_PATH,
    agreed,
    judge_calls,
    score_completeness,
    score_correctness,
)
from callwright.validators.metrics.complexeval.calls import CandidateCall, chain_of
from callwright.validators.metrics.complexeval.results import parameter_type
from callwright.validators.metrics.complexeval.rules import TURN_LIMIT, UNORDERED, RunRules
from callwright.validators.metrics.complexeval.runs import (
    MatchedCall,
    Matchers,
    RunOutcome,
    SampleRun,
    wrong_arguments,
)
from callwright.validators.metrics.table import RunResult, RunsOf, run_figures, score_all_runs
from callwright.warehouse.errors import ConfigurationError, ReplyError, StoreError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import (
    Call,
    CallError,
    CallTurn,
    EvalMode,
    Exchange,
    Failure,
    GoldCall,
    Language,
    MultiStepRun,
    ParameterCount,
    Record,
    ReplyTurn,
    ResultTurn,
    RunCall,
    RunTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)
from callwright.warehouse.releases import read_tools, samples_by_key
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

MULTI_STEP = kinds_with(lambda traits: traits.asked == "path")
DIALOGUES = kinds_with(
    lambda traits: (
        traits.asked == "call" and traits.is_long and not (traits.shift or traits.has_correction)
    )
)
STAGE, USER = "run_path", "simulate_user"
_AHEAD = 20  # samples that are read at once; no more of a release is kept in memory
NATIVELY = "call_next_natively"


class NextReply(NamedTuple):
    """A candidate's next reply: calls, or an answer.

    `problem` says why the reply cannot be read as either.
    """

    calls: tuple[CandidateCall, ...] = ()
    answer: str = ""
    problem: str = ""


class RunPrompts(NamedTuple):
    """What all prompts of a run share; `number` is the run's, so that runs give several answers.

    `briefing` is what the candidate is told first. The tools have the names in `shown`, a
    history has the release's names.
    """

    request: str
    tools: Sequence[Tool]
    language: Language
    number: int = 0
    briefing: str = ""
    shown: ShownTools = AS_THEY_ARE


class PathRun(NamedTuple):
    """The key of a run, how the candidate is asked, and how many replies it may take.

    In a live run a simulated user answers the candidate, in words of the model `user`. The
    candidate sees the tools as `shown`; its calls are stored under their original names.
    """

    release: str
    candidate: str
    strategy: str = "direct"
    mode: EvalMode = "as_paper"
    run: int = 0
    judge: str = ""
    settings: str = ""
    turn_limit: int = TURN_LIMIT
    user: str = ""
    shown: ShownTools = AS_THEY_ARE

    @property
    def identity(self) -> dict[str, Any]:
        """What a run is stored under.

        The turn limit is part of the settings, and the strategy's label names the user's model.
        """
        label = PromptingStrategy(self.strategy, user=self.user, tools=self.shown.label).label
        run_fields = {
            name: value
            for name, value in self._asdict().items()
            if name not in ("turn_limit", "user", "shown")
        }
        return {**run_fields, "strategy": label}


def live_kinds() -> tuple[str, ...]:
    """Return the kinds on which candidates can talk with a simulated user: paths and dialogues.

    The dialogues are those in which slots are asked for.
    """
    return (*MULTI_STEP, *DIALOGUES)


class _Chats(NamedTuple):
    """The models of a run: the candidate, the judge, and the one that words the user's turns."""

    candidate: ChatModel
    judge: ChatModel | None = None
    user: ChatModel | None = None


async def evaluate_paths(
    evaluation: EvaluationRun,
    candidate: NamedCandidate,
    judge: ChatModel | None,
    keys: Mapping[str, str],
) -> None:
    """Drive a candidate through its missing multi-step samples and score all its runs.

    `keys` are those of the release's multi-step samples, each with its split.
    """
    warehouse, conditions = evaluation.warehouse, evaluation.conditions
    asked = conditions.prompting
    if not keys or asked._replace(user="", tools="").label not in PATH_STRATEGIES:
        return
    of = RunsOf(
        release=evaluation.release,
        candidate=candidate.name,
        mode=conditions.complexeval,
        judge=judge.name if judge else "",
        strategy=asked.label,
        tools_shown=conditions.tools_shown,
    )
    wanted = {key for key, split in keys.items() if conditions.split in ("", split)}
    lacking: dict[str, str] = {}  # the reason why a sample has no world, by its key
    chat = evaluation.open(candidate.model, STAGE, candidate.name)
    user = evaluation.open(conditions.user, USER) if conditions.user else None
    try:
        for number in range(conditions.runs):
            known = warehouse.rows(sql("path_runs.known"), [*_shared(of), number])
            if missing := sorted(wanted - {row["subject"] for row in known}):
                run = _run_of(of, candidate, conditions, number)
                chats = _Chats(chat, judge, user)
                lacking |= await _drive(evaluation, candidate, missing, run, chats)
    finally:
        await chat.close()
        if user is not None:
            await user.close()
    _report_missing_worlds(evaluation, lacking, len(wanted))
    sizes = Counter(split for key, split in keys.items() if key not in lacking)
    with warehouse.together():
        problems = _score(warehouse, of, sizes)
    for problem in problems:
        evaluation.progress.say(problem)


def _run_of(of: RunsOf, candidate: NamedCandidate, conditions: Conditions, number: int) -> PathRun:
    return PathRun(
        release=of.release,
        candidate=of.candidate,
        strategy=conditions.prompting.strategy,
        mode=of.mode,
        run=number,
        judge=of.judge,
        settings=candidate.settings,
        turn_limit=conditions.turn_limit,
        user=conditions.prompting.user,
        shown=conditions.shown,
    )


def _score(warehouse: Warehouse, of: RunsOf, sizes: Mapping[str, int]) -> list[str]:
    """Score the complete runs and return why metrics of others have no score.

    The scores replace those that the candidate had in this mode with this judge.
    """
    rows = warehouse.rows(sql("path_runs.counted"), _shared(of))
    complete = runs_by_split({(row["run"], row["split"]): row["runs"] for row in rows}, sizes)
    problems: dict[str, str] = {}
    for split, runs in complete.items():
        scores = score_all_runs(
            (one for one in read_results(warehouse, of, split) if one.run in runs), of, problems
        )
        query_values = (of.release, of.candidate, of.strategy, of.tools_shown, of.judge, split)
        warehouse.execute(sql("path_runs.remove_scores"), [*query_values, run_figures(of.mode)])
        warehouse.put_rows({"scores": [one.model_dump() | {"split": split} for one in scores]})
    return [*problems.values()]


async def _drive(
    evaluation: EvaluationRun,
    candidate: NamedCandidate,
    keys: Sequence[str],
    run: PathRun,
    chats: _Chats,
) -> dict[str, str]:
    """Drive a candidate through the samples with these keys, reading a few at a time.

    Returns the tasks whose world is not available, each with the reason: they are failures, and
    the others go on.
    """
    warehouse = evaluation.warehouse
    tools: dict[str, Tool] = {}
    ahead: dict[str, Sample] = {}
    lacking: dict[str, str] = {}

    def read(key: str) -> Sample:
        """Return a sample; reads the next ones and all their tools as well."""
        if key not in ahead:
            at = keys.index(key)
            with warehouse.reading_together():
                ahead.update(samples_by_key(warehouse, keys[at : at + _AHEAD]))
                unknown = {
                    one for sample in ahead.values() for one in sample.candidates
                } - tools.keys()
                tools.update(read_tools(warehouse, [*unknown]) if unknown else {})
        if key not in ahead:
            problem = f"The warehouse has no sample {key!r}. Was it made in another work folder?"
            raise StoreError(problem)
        return ahead.pop(key)

    async def drive(key: str) -> Sequence[Record]:
        sample = read(key)
        context = StageContext(
            chats.candidate, Random(key), tools, evaluation.conditions.environments
        )
        problem = world_problem(sample, context) if traits_of(sample.kind).is_task else ""
        if problem:
            lacking[key] = problem
            return [
                Failure(stage=STAGE, subject=key, error=ConfigurationError.__name__, reason=problem)
            ]
        return await run_path(sample, context, run=run, judge=chats.judge, user_chat=chats.user)

    title = f"{run.candidate} through the multi-step samples of {run.release}"
    await evaluation.ask_about(keys, drive, candidate.model.concurrency, title)
    return lacking


def _report_missing_worlds(
    evaluation: EvaluationRun, lacking: Mapping[str, str], asked: int
) -> None:
    """Report how many samples can't be judged.

    Raises ConfigurationError if none of the samples asked for can be.
    """
    if lacking and len(lacking) == asked:
        raise ConfigurationError(next(iter(lacking.values())))
    if lacking:
        evaluation.progress.say(
            f"{len(lacking)} of {asked} multi-step samples can't be judged, and no figure counts"
            f" them: {next(iter(lacking.values()))} Each is a row of `failures`."
        )


def read_results(warehouse: Warehouse, of: RunsOf, split: str = "") -> Iterator[RunResult]:
    """Yield the results of a candidate's runs over a split, with equal results grouped.

    What was said in them is not read.
    """
    columns = ", ".join(name for name in RunResult._fields if name != "times")
    return (
        RunResult(**row)
        for row in warehouse.rows(
            sql("path_runs.results", columns=columns), [*_shared(of), split, split]
        )
    )


def _shared(of: RunsOf) -> list[str]:
    return [of.release, of.candidate, of.mode, of.judge, of.strategy]


def builds_of(warehouse: Warehouse, release: str, kinds: Sequence[str]) -> list[Row]:
    """Return the builds that made these kinds of a release's samples, oldest first.

    Each has its recipe.
    """
    return warehouse.rows(sql("path_runs.builds"), [release, list(kinds)])


@contextmanager
def open_environments_of(
    builds: Sequence[Row], settings: Settings, progress: Progress
) -> Iterator[Mapping[str, Environment]]:
    """Yield the environments of these builds by name; for equal names, the newest build's.

    One that can't be opened any more is reported and left out: its samples are evaluated without
    response matching.
    """
    environments: dict[str, Environment] = {}
    with ExitStack() as opened:
        for row in builds:
            try:
                recipe = Recipe.model_validate_json(row["body"])
                environments |= opened.enter_context(
                    open_environments(recipe, settings.ledger.parent)
                )
            except (ConfigurationError, ValidationError) as error:
                progress.say(
                    f"The environments of the recipe {row['recipe']!r} can't be opened ({error});"
                    " calls that differ from the gold are not compared by what they return."
                )
        yield environments


async def run_path(
    sample: Sample,
    context: StageContext,
    *,
    run: PathRun,
    judge: ChatModel | None = None,
    user_chat: ChatModel | None = None,
) -> list[Record]:
    """Run the candidate; return the run, the mistakes in its calls, and what they concern.

    The sample's environment answers for response matching; without it, or without a judge, that
    matching finds no calls equal. A task's calls are made in its world, and the end state
    decides. Only a judge scores the final answer. `user_chat` words the user's turns in a live
    run; without it, code does.
    """
    tools = context.toolset(sample.candidates)
    is_task = traits_of(sample.kind).is_task
    task = Task(sample, world_of_sample(sample, context), tools) if is_task else None
    chain = task.due if task else chain_of(sample) or _whole_call(sample)
    matchers = matchers_of(sample, context, judge)
    by_calls = SampleRun(chain, tools, run.mode, matchers, RunRules(turn_limit=run.turn_limit))
    by_end = TaskRun(task.resume(), by_calls, run.turn_limit) if task else None
    # Elsewhere the user has said all there is to say.
    is_live = (run.user or traits_of(sample.kind).is_live) and sample.underlying is sample
    user = SimulatedUser(sample, tools, user_chat, run.run) if is_live else None
    asking = await _start_asking(sample, tools, context.chat, run, user)
    driven = _Driven(by_end or by_calls, asking, context.chat, run.strategy)
    history = [*task.history] if task else []
    await converse(driven, user, history, run.turn_limit)
    # The published code shows the judge the gold's way to the answer, the paper the candidate's own
    # (EVALUATORS 2.5).
    parsed = chain if run.mode == "as_published_code" else [one for one in history if one.calls]
    run_record = _as_record(sample, run, driven, by_end)
    if judge is not None and driven.answer.strip():
        run_record = run_record.with_changes(
            completeness=await score_completeness(
                judge, sample.request, driven.answer, sample.time_sentence
            ),
            correctness=await score_correctness(
                judge, sample.request, parsed, driven.answer, sample.time_sentence
            ),
        )
    if user is not None:
        run_record = run_record.with_changes(**user_figures(user, tools))
    return [
        run_record,
        *call_errors(run_record.key, driven.judged),
        *parameter_counts(run_record.key, chain, driven.judged),
    ]


def _whole_call(sample: Sample) -> tuple[Exchange, ...]:
    """Return the path of a dialogue that nobody executes: its last call, which succeeds."""
    calls = tuple(call.bare for call in sample.gold)
    return (Exchange(calls=calls, responses=({"success": True},) * len(calls)),) if calls else ()


class _Driven:
    """A candidate on its way through a sample, as `converse` drives it.

    `turns` are what it has done so far, and `judged` the judgements of each turn's calls.
    """

    def __init__(
        self, machine: SampleRun | TaskRun, asking: RunPrompts, chat: ChatModel, strategy: str
    ) -> None:
        self.machine = machine
        self.turns: list[RunTurn] = []
        self.judged: list[tuple[MatchedCall, ...]] = []
        self.answer = ""
        self._asking, self._chat, self._strategy = asking, chat, strategy
        self._said: list[str] = []

    @property
    def outcome(self) -> RunOutcome:
        """The outcome of the run. Raises ValueError before it has ended."""
        if self.machine.outcome is None:
            raise ValueError("The run is under way.")
        return self.machine.outcome

    @property
    def is_over(self) -> bool:
        return self.machine.outcome is not None

    async def move(self, history: Sequence[Exchange]) -> NextReply:
        """Return the candidate's next reply after these exchanges."""
        return await ask_next(self._asking, history, self._chat, self._strategy)

    async def call(self, move: NextReply) -> Exchange | None:
        """Make a reply's calls and return what the candidate sees of them, None if nothing."""
        taken = await self.machine.take(move.calls)
        self.judged.append(taken)
        self.turns.append(as_turn(move, taken))
        return as_exchange(move, taken) if taken else None

    async def say(self, move: NextReply, told: str | None) -> None:
        """Record a reply in words and the user's answer, which is None after the last words."""
        self._said.append(move.answer)
        self.turns.append(as_turn(move, ()).with_changes(told=told or ""))
        if told is None:
            self.answer = move.answer
            await self.machine.finish("\n".join(filter(None, self._said)) or None)
        else:
            self.judged.append(())  # a turn without calls, so that places go on counting turns


async def _start_asking(
    sample: Sample, tools: Sequence[Tool], chat: ChatModel, run: PathRun, user: SimulatedUser | None
) -> RunPrompts:
    """Return the start of asking a candidate, with the user's first words."""
    seen, language = run.shown.toolset(tools), sample.language
    asking = RunPrompts(sample.request, seen, language, run.run, sample.briefing, run.shown)
    if user is not None:
        briefing = "\n".join(filter(None, (asking.briefing, USER_IS_THERE)))
        asking = asking._replace(request=await user.open(), briefing=briefing)
    if run.strategy != "native" or len(tools) <= MOST_NATIVE:
        return asking
    # Providers do not take this many tools, so the candidate first names those that it needs.
    text = conversation_text([UserTurn(text=asking.request)])
    try:
        named = await name_tools(
            Question(asking.tools, text, "plan", asking.number, asking.briefing), chat, "json"
        )
    except ReplyError:  # an unusable answer names none
        return asking._replace(tools=())
    return asking._replace(
        tools=[tool for tool in asking.tools if tool.name in named.names][:MOST_NATIVE]
    )


def _as_record(
    sample: Sample, run: PathRun, driven: _Driven, by_end: TaskRun | None
) -> MultiStepRun:
    outcome = driven.outcome
    error = outcome.error
    parameter = error.parameter if error else ""
    case = sample.policy_case
    return MultiStepRun(
        **run.identity,
        subject=sample.key,
        success=outcome.success,
        correct_calls=outcome.correct_calls,
        total_calls=outcome.total_calls,
        steps=outcome.real_turns,
        shortest=outcome.total_turns,
        turns=len(driven.turns),
        error_type=error.error_type if error else "",
        error_parameter=parameter,
        parameter_type=parameter_type(parameter) if parameter else "",
        fault=sample.fault.sort if sample.fault else "",
        policy=case.policy if case else "",
        policy_sort=case.sort if case else "",
        messages=tuple(driven.turns),
        **(by_end.figures if by_end else {}),
    )


async def ask_next(
    asking: RunPrompts, history: Sequence[Exchange], chat: ChatModel, strategy: str
) -> NextReply:
    """Return the candidate's next reply as JSON ("direct") or native calls ("native").

    An unreadable reply calls nothing.
    """
    try:
        seen = [asking.shown.exchange(one) for one in history] if asking.shown.tools else history
        reply = await PATH_STRATEGIES[strategy].ask(asking, seen, chat)
        orjson.dumps([call.arguments for call in reply.calls])
    except ReplyError as error:  # a mistake of the candidate or of its provider counts against it
        return _unreadable(str(error))
    except TypeError as error:
        return _unreadable(f"A call has a value that can't be kept: {error}.")
    return reply._replace(
        calls=tuple(CandidateCall(*asking.shown.read(*call)) for call in reply.calls)
    )


async def _ask_directly(
    asking: RunPrompts, history: Sequence[Exchange], chat: ChatModel
) -> NextReply:
    prompt = next_calls_prompt(asking.request, asking.tools, history, asking.language)
    reply = await chat.ask(led_by(asking.briefing, prompt), NextCalls, sample_index=asking.number)
    return NextReply(
        tuple(CandidateCall(call.name, call.arguments) for call in reply.calls), reply.answer
    )


async def _ask_natively(
    asking: RunPrompts, history: Sequence[Exchange], chat: ChatModel
) -> NextReply:
    prompt = render(
        OWN_PROMPTS,
        NATIVELY,
        request=asking.request,
        history=shown_past(history),
        language=asking.language,
    )
    said = chat_messages(_turns_of(asking.request, history))
    completion = await chat.complete(
        as_chat(led_by(asking.briefing, prompt), [*said]), asking.tools, sample_index=asking.number
    )
    return _as_next(completion)


def _as_next(completion: Completion) -> NextReply:
    parsed = parse_completion(completion)
    if parsed.calls is None:
        return _unreadable(parsed.problem)
    calls = tuple(CandidateCall(str(call.tool), call.arguments) for call in parsed.calls)
    return NextReply(calls, "" if calls else completion.text.strip())


async def _ask_in_messages(
    asking: RunPrompts, history: Sequence[Exchange], chat: ChatModel
) -> NextReply:
    require_function(chat)
    return await _ask_natively(asking, history, chat)


def _turns_of(request: str, history: Sequence[Exchange]) -> list[Turn]:
    """Return a run so far as the turns of a conversation."""
    turns: list[Turn] = [UserTurn(text=request)]
    for exchange in history:
        if exchange.told:
            turns += [ReplyTurn(text=exchange.said), UserTurn(text=exchange.told)]
            continue
        calls = tuple(
            GoldCall.model_construct(tool=call.tool, arguments=call.arguments)
            for call in exchange.calls
        )
        turns += [
            CallTurn(calls=calls, executed=True),
            ResultTurn.model_construct(results=exchange.responses),
        ]
    return turns


class PathStrategy(NamedTuple):
    """A way to ask for the next calls of a run: the function and its prompt."""

    ask: Callable[[RunPrompts, Sequence[Exchange], ChatModel], Awaitable[NextReply]]
    package: str
    prompt: str


PATH_STRATEGIES: Mapping[str, PathStrategy] = {  # by the names that strategies have everywhere
    "direct": PathStrategy(_ask_directly, PROMPTS, CALL_TEMPLATE),
    "native": PathStrategy(_ask_natively, OWN_PROMPTS, NATIVELY),
    IN_MESSAGES: PathStrategy(_ask_in_messages, OWN_PROMPTS, NATIVELY),
}


def path_prompts_seen() -> list[str]:
    """Return the versions of the prompts that candidates see in runs, by any strategy."""
    seen = dict.fromkeys((one.package, one.prompt) for one in PATH_STRATEGIES.values())
    return [prompt_version(package, prompt) for package, prompt in seen]


def live_prompts_seen() -> list[str]:
    """Return what candidates are told in live runs, and the versions of their users' prompts."""
    return [USER_IS_THERE, *user_prompts_seen()]


def _unreadable(problem: str) -> NextReply:
    return NextReply(calls=(CandidateCall("", ""),), problem=problem)


def as_exchange(reply: NextReply, judged: Sequence[MatchedCall]) -> Exchange:
    """Return a turn as the candidate later sees it: its calls, and what it is shown of each.

    Recorded responses were checked when they were made and may be long, so they are neither
    checked again nor copied.
    """
    if reply.problem:
        return Exchange.model_construct(calls=(), responses=({"error": reply.problem},))
    calls = tuple(_shown(made, one) for made, one in zip(reply.calls, judged, strict=True))
    return Exchange.model_construct(calls=calls, responses=tuple(one.observation for one in judged))


def as_turn(reply: NextReply, judged: Sequence[MatchedCall]) -> RunTurn:
    """Return a turn as stored: a response recorded in the sample is replaced by its place there."""
    if reply.problem:
        return RunTurn(problem=storable(reply.problem))
    calls: list[RunCall] = []
    # a run that ends at once judges nothing
    all_judged = [*judged, *[MatchedCall(None)] * (len(reply.calls) - len(judged))]
    for made, judged_call in zip(reply.calls, all_judged, strict=True):
        call = _shown(made, judged_call)
        golden = judged_call.golden if judged_call.matched else None
        is_new = judged_call.answered or (judged_call.mistake and not golden)
        run_call = RunCall(
            tool=storable(call.tool),
            arguments=call.arguments,
            matched=judged_call.matched,
            step=golden.step if golden else None,
            place=golden.place if golden else None,
            observation=judged_call.observation if is_new else None,
        )
        calls.append(run_call)
    return RunTurn(text=storable(reply.answer), calls=tuple(calls))


def _shown(made: CandidateCall, judged: MatchedCall) -> Call:
    if judged.call is not None:
        return judged.call
    given: JsonValue = made.arguments
    return Call.model_construct(tool=made.tool, arguments=given if isinstance(given, dict) else {})


def matchers_of(sample: Sample, context: StageContext, judge: ChatModel | None) -> Matchers:
    """Return the matchers for a sample.

    Without its environment, or without a judge, that matching finds no call equal.
    """
    environment = context.environments.get(sample.facts.environment)
    if environment is not None and traits_of(sample.kind).is_task:
        environment = BegunWorld(environment, sample.simulation_seed)
    tools = {tool.name: tool for tool in context.toolset(sample.candidates)}
    turns, briefing = [UserTurn(text=sample.request)], sample.time_sentence

    async def respond(call: Call) -> JsonValue:
        answer = None if environment is None else await environment.answer(call)
        return None if answer is None or answer.problem else answer.response

    async def agree(made: Call, due: Call) -> bool:
        if judge is None or made.tool != due.tool or due.tool not in tools:
            return False
        judgement = judge_calls(
            judge, SAME_ON_PATH, [tools[due.tool]], turns, (due, made), briefing=briefing
        )
        return (await agreed(judgement)).agree

    return Matchers(
        likeness, None if environment is None else respond, None if judge is None else agree
    )


Judged = Sequence[Sequence[MatchedCall]]


class _Argument(NamedTuple):
    """An argument of a gold call, by the step of the path and the call's place in it."""

    step: int
    place: int
    name: str


def call_errors(run: str, judged: Judged) -> list[CallError]:
    """Return a row for each incorrect call of a run, named by its key."""
    return [
        CallError(
            run=run,
            turn=turn,
            call=place,
            tool=one.call.tool if one.call else "",
            error_type=one.mistake.error_type,
            parameter=one.mistake.parameter,
            parameter_type=parameter_type(one.mistake.parameter) if one.mistake.parameter else "",
            reason=one.mistake.reason,
        )
        for turn, calls in enumerate(judged)
        for place, one in enumerate(calls)
        if one.mistake is not None
    ]


def parameter_counts(run: str, chain: Sequence[Exchange], judged: Judged) -> list[ParameterCount]:
    """Return gold arguments by type, and how many were wrong at least once.

    A call of another function says nothing about arguments.
    """
    wrong = {argument for calls in judged for one in calls for argument in _wrong_in(one, chain)}
    due = Counter(parameter_type(argument.name) for argument in _arguments(chain))
    missed = Counter(parameter_type(argument.name) for argument in wrong)
    return [
        ParameterCount(run=run, parameter_type=kind, due=due[kind], wrong=missed[kind])
        for kind in sorted(due)
    ]


def _arguments(chain: Sequence[Exchange]) -> Iterator[_Argument]:
    for step, exchange in enumerate(chain):
        for place, call in enumerate(exchange.calls):
            yield from (_Argument(step, place, name) for name in call.arguments)


def _wrong_in(judged: MatchedCall, chain: Sequence[Exchange]) -> list[_Argument]:
    """Return the gold arguments that a judged call has wrong; none if it calls another function."""
    call, mistake, golden = judged.call, judged.mistake, judged.golden
    if call is None or mistake is None:
        return []
    if golden is not None:
        names = (
            wrong_arguments(call, golden.call, UNORDERED) if call.tool == golden.call.tool else ()
        )
        return [_Argument(golden.step, golden.place, name) for name in names]
    # The format check comes before the mapping: the first gold call of that function is the one
    # that was tried.
    tried = (one for one in _arguments(chain) if chain[one.step].calls[one.place].tool == call.tool)
    return [one for one in tried if one.name == mistake.parameter][:1]
