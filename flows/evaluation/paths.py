"""Driving candidates through multi-step samples, in memory those that are on their way and a few
that come next.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from random import Random
from typing import NamedTuple

from pydantic import ValidationError

from callwright.flows.environments import open_environments
from callwright.flows.evaluation.answers import runs_by_split
from callwright.flows.evaluation.evaluation_run import EvaluationRun, NamedCandidate
from callwright.flows.progress import Progress
from callwright.flows.recipe import Recipe
from callwright.flows.settings import Settings
from callwright.generators.environments.protocol import Environment
from callwright.generators.kinds import kinds_with, traits_of
from callwright.generators.multi_step.tasks import world_problem
from callwright.generators.stages import StageContext
from callwright.llm.chat import ChatModel
from callwright.validators.metrics.multi_step import RunResult, RunsOf, metric_names, score_runs
from callwright.validators.path_runs import PATH_STRATEGIES, PathRun, run_path
from callwright.warehouse.errors import ConfigurationError, StoreError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Failure, Record, Sample, Tool
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
_AHEAD = 20  # samples that are read at once


def live_kinds() -> tuple[str, ...]:
    """The kinds over which candidates can talk with a simulated user: paths, and dialogues in
    which slots are asked for.
    """
    return (*MULTI_STEP, *DIALOGUES)


class _Chats(NamedTuple):
    """The models of a run: the candidate, who judges, and who words what the user says."""

    candidate: ChatModel
    judge: ChatModel | None = None
    user: ChatModel | None = None


async def evaluate_paths(
    evaluation: EvaluationRun,
    candidate: NamedCandidate,
    judge: ChatModel | None,
    keys: Mapping[str, str],
) -> None:
    """Drive a candidate through the release's multi-step samples that it has not been through, and
    score all its runs.

    `keys` are those of these samples, each with its split.
    """
    warehouse = evaluation.warehouse
    conditions = evaluation.conditions
    if not keys or conditions.prompting._replace(user="", tools="").label not in PATH_STRATEGIES:
        return
    of = RunsOf(
        release=evaluation.release,
        candidate=candidate.name,
        mode=conditions.complexeval,
        judge=judge.name if judge else "",
        strategy=conditions.prompting.label,
        tools_shown=conditions.tools_shown,
    )
    wanted = {key for key, split in keys.items() if conditions.split in ("", split)}
    chat, lacking = evaluation.open(candidate.model, STAGE, candidate.name), dict[str, str]()
    user = evaluation.open(conditions.user, USER) if conditions.user else None
    try:
        for number in range(conditions.runs):
            known = {
                row["subject"]
                for row in warehouse.rows(sql("path_runs.known"), [*_shared(of), number])
            }
            missing = sorted(wanted - known)
            if not missing:
                continue
            run = PathRun(
                of.release,
                of.candidate,
                conditions.prompting.strategy,
                of.mode,
                number,
                of.judge,
                candidate.settings,
                conditions.turn_limit,
                conditions.prompting.user,
                conditions.shown,
            )
            lacking |= await _drive(evaluation, candidate, missing, run, _Chats(chat, judge, user))
    finally:
        await chat.close()
        if user is not None:
            await user.close()
    _tell_of_worlds(evaluation, lacking, len(wanted))
    sizes = Counter(split for key, split in keys.items() if key not in lacking)
    with warehouse.together():
        _score(warehouse, of, sizes)


def _score(warehouse: Warehouse, of: RunsOf, sizes: Mapping[str, int]) -> None:
    """Score the complete runs; the scores take the place of those that the candidate had in this
    mode with this judge.
    """
    rows = warehouse.rows(sql("path_runs.counted"), _shared(of))
    complete = runs_by_split({(row["run"], row["split"]): row["runs"] for row in rows}, sizes)
    for split, runs in complete.items():
        scores = score_runs(
            (one for one in read_results(warehouse, of, split) if one.run in runs), of
        )
        held = [
            of.release,
            of.candidate,
            of.strategy,
            of.tools_shown,
            of.judge,
            split,
            list(metric_names(of.mode)),
        ]
        warehouse.execute(sql("path_runs.remove_scores"), held)
        warehouse.put_rows({"scores": [one.model_dump() | {"split": split} for one in scores]})


async def _drive(
    evaluation: EvaluationRun,
    candidate: NamedCandidate,
    keys: Sequence[str],
    run: PathRun,
    chats: _Chats,
) -> dict[str, str]:
    """Drive a candidate through the samples with these keys; a few are read when their turn comes,
    and let go.

    Gives the tasks whose world is not at hand, each with the reason: they are failures, and the
    others go on.
    """
    warehouse = evaluation.warehouse
    tools: dict[str, Tool] = {}
    ahead: dict[str, Sample] = {}
    lacking: dict[str, str] = {}

    def read(key: str) -> Sample:
        """A sample; those that follow are read with it, and the tools of them all."""
        if key not in ahead:
            at = keys.index(key)
            with warehouse.reading_together():
                ahead.update(samples_by_key(warehouse, keys[at : at + _AHEAD]))
                unknown = {
                    one for sample in ahead.values() for one in sample.candidates
                } - tools.keys()
                tools.update(read_tools(warehouse, [*unknown]) if unknown else {})
        if key not in ahead:
            raise StoreError(
                f"The warehouse has no sample {key!r}. Was it made in another work folder?"
            )
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


def _tell_of_worlds(evaluation: EvaluationRun, lacking: Mapping[str, str], asked: int) -> None:
    """Say how many samples can't be judged.

    Raises ConfigurationError where these are all that were asked for.
    """
    if lacking and len(lacking) == asked:
        raise ConfigurationError(next(iter(lacking.values())))
    if lacking:
        evaluation.progress.say(
            f"{len(lacking)} of {asked} multi-step samples can't be judged, and no figure counts"
            f" them: {next(iter(lacking.values()))} Each is a row of `failures`."
        )


def read_results(warehouse: Warehouse, of: RunsOf, split: str = "") -> Iterator[RunResult]:
    """How a candidate's runs over a split ended, those that ended alike as one; what was stated
    in them stays where it is.
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
    """The builds that made these kinds of samples of a release, each with its recipe, the oldest
    first.
    """
    return warehouse.rows(sql("path_runs.builds"), [release, list(kinds)])


@contextmanager
def open_environments_of(
    builds: Sequence[Row], settings: Settings, progress: Progress
) -> Iterator[Mapping[str, Environment]]:
    """The environments of these builds, by name; of one name, the newest build's.

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
