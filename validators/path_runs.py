"""Driving a candidate through a multi-step sample, turn by turn, until it answers or its run ends (ComplexFuncBench 3)."""

from collections.abc import Sequence
from typing import NamedTuple

from generators.stage_context import StageContext
from llm.chat import ChatModel
from validators.metrics.complexeval.calls import chain_of
from validators.metrics.complexeval.outcomes import Outcome
from validators.metrics.complexeval.rules import TURN_LIMIT, Rules
from validators.metrics.complexeval.runs import Run
from validators.metrics.complexeval.turns import JudgedCall
from validators.metrics.parameter_types import parameter_type
from validators.path_counts import call_errors, parameter_counts
from validators.path_judging import score_completeness, score_correctness
from validators.path_matching import matchers_of
from validators.path_replies import Asking, Strategy, as_exchange, as_turn, ask_next
from warehouse.records import EvalMode, Exchange, MultiStepRun, Record, RunTurn, Sample


class PathRun(NamedTuple):
    """What a run is kept under, and how many replies it may take."""

    release: str
    model: str
    strategy: Strategy = "direct"
    mode: EvalMode = "as_paper"
    run: int = 0
    judge: str = ""
    settings: str = ""
    turn_limit: int = TURN_LIMIT


class _Drive(NamedTuple):
    """What a run left behind: how it ended, what was said, how calls were judged, what the candidate saw of it."""

    outcome: Outcome
    turns: tuple[RunTurn, ...]
    judged: tuple[tuple[JudgedCall, ...], ...]
    history: tuple[Exchange, ...]
    answer: str


class _Scores(NamedTuple):
    completeness: int | None = None
    correctness: int | None = None


async def run_path(
    sample: Sample, context: StageContext, *, run: PathRun, judge: ChatModel | None = None
) -> list[Record]:
    """The candidate's run, the mistakes in its calls, and what they were about.

    The environment that the sample names answers for response matching; without it, or without a judge, that matching
    finds no call equal. Only a judge scores the final answer.
    """
    chain = chain_of(sample)
    matchers = matchers_of(sample, context, judge)
    machine = Run(chain, context.toolset(sample.candidates), run.mode, matchers, Rules(turn_limit=run.turn_limit))
    drive = await _drive(machine, sample, context, run)
    # The published code shows the judge the gold's way to the answer, the paper the candidate's own (EVALUATORS 2.5).
    heard = chain if run.mode == "as_published_code" else drive.history
    scores = await _score_answer(sample.request, drive.answer, heard, judge)
    kept = _as_record(sample, run, drive, scores)
    return [kept, *call_errors(kept.key, drive.judged), *parameter_counts(kept.key, chain, drive.judged)]


async def _drive(machine: Run, sample: Sample, context: StageContext, run: PathRun) -> _Drive:
    asking = Asking(sample.request, context.toolset(sample.candidates), sample.language, run.run)
    history: list[Exchange] = []
    turns: list[RunTurn] = []
    judged: list[tuple[JudgedCall, ...]] = []
    answer = ""
    while machine.outcome is None:
        reply = await ask_next(asking, history, context.chat, run.strategy)
        if not reply.calls:
            answer = reply.answer
            turns.append(as_turn(reply, ()))
            return _Drive(await machine.finish(answer or None), tuple(turns), tuple(judged), tuple(history), answer)
        taken = await machine.take(reply.calls)
        judged.append(taken)
        turns.append(as_turn(reply, taken))
        if taken:
            history.append(as_exchange(reply, taken))
    return _Drive(machine.outcome, tuple(turns), tuple(judged), tuple(history), answer)


async def _score_answer(request: str, answer: str, history: Sequence[Exchange], judge: ChatModel | None) -> _Scores:
    """The judge's scores of a final answer; none where there is no judge, or no answer."""
    if judge is None or not answer.strip():
        return _Scores()
    return _Scores(
        await score_completeness(request, answer, judge), await score_correctness(request, history, answer, judge)
    )


def _as_record(sample: Sample, run: PathRun, drive: _Drive, scores: _Scores) -> MultiStepRun:
    outcome, error = drive.outcome, drive.outcome.error
    parameter = error.parameter if error else ""
    identity = run._asdict()
    del identity["turn_limit"]  # one of the settings
    return MultiStepRun(
        **identity,
        subject=sample.key,
        success=outcome.success,
        correct_calls=outcome.correct_calls,
        total_calls=outcome.total_calls,
        steps=outcome.real_turns,
        shortest=outcome.total_turns,
        turns=len(drive.turns),
        error_type=error.error_type if error else "",
        error_parameter=parameter,
        parameter_type=parameter_type(parameter) if parameter else "",
        completeness=scores.completeness,
        correctness=scores.correctness,
        messages=drive.turns,
    )
