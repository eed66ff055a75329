"""How Prefect carries out a build: a task a shard, again where a provider is away, within shared
limits; and what it shows.
"""

import asyncio
import signal
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast
from uuid import UUID

import orjson
from prefect import get_run_logger, task
from prefect.artifacts import (
    acreate_markdown_artifact,
    acreate_progress_artifact,
    acreate_table_artifact,
    aupdate_progress_artifact,
)
from prefect.runtime import flow_run
from prefect.states import Failed, aget_state_exception

from callwright.flows.api.evaluating import Evaluation
from callwright.flows.build import BuildReport
from callwright.flows.chats import distinct_models, roles_of
from callwright.flows.dask_workers import open_workers
from callwright.flows.pages.report import write_report
from callwright.flows.progress import LiveProgress, Progress, SilentProgress
from callwright.flows.recipe import Recipe, Roles
from callwright.flows.review.pulling import Pulled
from callwright.flows.review.pushing import Pushed
from callwright.flows.runner import GroupRun, Workers, money_spent, put_results
from callwright.flows.settings import Settings, open_warehouse
from callwright.flows.shards import Shard, ShardResult, read_records, write_lines
from callwright.warehouse.errors import CallwrightError, TransientError
from callwright.warehouse.records import Release
from callwright.warehouse.releases import MadeRelease, count_kinds
from callwright.warehouse.rows import Row

SHARD_RETRIES = 2
RETRY_SECONDS = 5


@contextmanager
def task_workers(run: GroupRun, progress: "FlowProgress") -> Iterator[Workers]:
    """The workers that the settings name, each shard a task; `progress` is the run's own, by
    which its progress is shown.
    """
    under_way: dict[str, _Tries] = {}
    shared = Shared({}, 1)
    artifact = ProgressArtifact(progress)

    @task(
        name="work-shard",
        task_run_name="{group}, shard {number} of {of}",
        retries=SHARD_RETRIES,
        retry_delay_seconds=RETRY_SECONDS,
        retry_condition_fn=_is_transient,
        persist_result=False,
    )
    async def work_shard(group: str, number: int, of: int, source: str) -> ShardResult:
        async with shared.within():
            return await under_way[source].once_more()

    with open_workers(run.recipe, run.settings, progress) as workers:

        async def work(shard: Shard) -> ShardResult:
            # A task's parameters are shown and stored: the path names the shard, the rest stays
            # here.
            source = str(shard.source)
            under_way[source] = _Tries(run, workers, shard._replace(recipe=shared.of(shard.recipe)))
            try:
                result = await work_shard(shard.group, shard.number + 1, shard.of, source)
            finally:
                del under_way[source]
            await artifact.show(result.done)
            return result

        async def prepare(prepared: GroupRun) -> None:
            nonlocal shared
            # Shards that share a process share its clients, too: the first takes the whole limit,
            # the next one waits for it.
            shared = await shared_limits(prepared.recipe, 1 if workers.in_one else workers.slots)
            if workers.prepare is not None:
                await workers.prepare(prepared)

        yield Workers(work, workers.slots, prepare, workers.in_one)


class _Tries:
    """A shard that may be tried several times: what a try did is landed before the next one
    takes the rest.
    """

    def __init__(self, run: GroupRun, workers: Workers, shard: Shard) -> None:
        self._run, self._workers, self._shard = run, workers, shard
        self._tries, self._done, self._cost = 0, 0, 0.0

    async def once_more(self) -> ShardResult:
        """Work what is left. Raises TransientError where another try may do more."""
        spent = await asyncio.to_thread(money_spent, self._run)
        result = await self._workers.work(self._shard._replace(spent=spent))
        self._tries += 1
        if not result.undone or result.is_fatal or self._tries > SHARD_RETRIES:
            return result._replace(done=result.done + self._done, cost=result.cost + self._cost)
        self._done += result.done
        self._cost += result.cost
        self._shard = await asyncio.to_thread(self._keep, result)
        raise TransientError(f"{result.undone} records are not done yet: {result.error}")

    def _keep(self, result: ShardResult) -> Shard:
        """Land what was done; the records that have no outcome in it, as the shard of the next
        try.
        """
        shard, outcomes, done = self._shard, self._shard.target / "outcomes.jsonl", set[str]()
        if outcomes.is_file():
            with outcomes.open("rb") as file:
                done = {orjson.loads(line)["subject"] for line in file}
        name = f"{shard.group}-{shard.number:05}-try-{self._tries + 1}"
        source = shard.source.with_name(f"{name}.jsonl")
        with shard.source.open("rb") as lines:
            both = zip(lines, read_records(shard.source), strict=True)
            records = write_lines(source, (line for line, record in both if record.key not in done))
        put_results(self._run.warehouse, [result])
        return shard._replace(source=source, target=shard.target.with_name(name), records=records)


async def _is_transient(_task: Any, _run: Any, state: Any) -> bool:  # noqa: ANN401 - Prefect's own types
    return isinstance(await aget_state_exception(state), TransientError)


_FORBIDDEN = str.maketrans(dict.fromkeys("/%&><", ":"))  # in the names of Prefect's limits


def limit_name(model: str) -> str:
    """The name of the limit that holds for a model in all flows: `openai:MODEL` for
    openai/MODEL.
    """
    return model.translate(_FORBIDDEN)


class Shared(NamedTuple):
    """What a flow keeps to besides its recipe: so many requests of a model in flight at most, by
    the model's name.

    Each of `shards` that may be under way takes its part of a limit, and asks no faster than that.
    """

    limits: dict[str, int]
    shards: int

    def of(self, recipe: Recipe) -> Recipe:
        """The recipe with no model faster than a shard's part of its limit."""
        models = {
            name: (
                model.model_copy(update={"concurrency": self._part(model.name)})
                if model.name in self.limits
                else model
            )
            for name, model in roles_of(recipe)
        }
        return recipe.model_copy(update={"models": Roles(**models)})

    @asynccontextmanager
    async def within(self) -> AsyncIterator[None]:
        """Take a shard's part of each limit as soon as it is free; always in one order, so that
        no two wait for each other.
        """
        from prefect.concurrency.asyncio import concurrency

        async with AsyncExitStack() as taken:
            for model in sorted(self.limits):
                await taken.enter_async_context(
                    concurrency(limit_name(model), occupy=self._part(model))
                )
            yield

    def _part(self, model: str) -> int:
        return max(1, self.limits[model] // self.shards)


async def shared_limits(recipe: Recipe, shards: int) -> Shared:
    """The limits that Prefect has for a recipe's models, none higher than the recipe's own, for
    so many shards at once.
    """
    from prefect import get_client
    from prefect.exceptions import ObjectNotFound

    found: dict[str, int] = {}
    async with get_client() as client:
        for model in distinct_models(recipe):
            try:
                limit = await client.read_global_concurrency_limit_by_name(limit_name(model.name))
            except ObjectNotFound:
                continue
            if limit.active:
                found[model.name] = min(
                    limit.limit, max(model.concurrency, found.get(model.name, 1))
                )
    return Shared(found, shards)


Result = TypeVar("Result")
Given = ParamSpec("Given")
_listener: ContextVar[Progress | None] = ContextVar("listener", default=None)
_ending: ContextVar[Any] = ContextVar("ending", default=None)  # what `signal.getsignal` gives


@contextmanager
def run_by_the_command_line(progress: Progress) -> Iterator[None]:
    """Let `progress` hear what flows that are run in here tell, besides their logs; SIGTERM ends
    them as it ends the command.
    """
    tokens = _listener.set(progress), _ending.set(signal.getsignal(signal.SIGTERM))
    try:
        yield
    finally:
        _listener.reset(tokens[0])
        _ending.reset(tokens[1])


class FlowProgress:
    """Progress of a flow, in its log and to whoever started it here."""

    def __init__(self) -> None:
        """Nothing is under way."""
        self.title, self.total, self.done = "", 0, 0
        self._also: Progress = _listener.get() or SilentProgress()

    def say(self, sentence: str) -> None:
        """One event worth a line."""
        get_run_logger().info("%s", sentence)
        self._also.say(sentence)

    @property
    def is_live(self) -> bool:
        """Whether whoever started the flow sees it change."""
        return isinstance(self._also, LiveProgress) and self._also.is_live

    def show(self, state: str) -> None:
        """What is under way by now, for whoever started the flow; the log has sentences."""
        if isinstance(self._also, LiveProgress):
            self._also.show(state)

    def note(self, sentence: str) -> None:
        """A line of the log alone: who started the flow is told otherwise."""
        get_run_logger().info("%s", sentence)

    def begin(self, title: str, total: int) -> None:
        """A stretch of work begins."""
        self.title, self.total, self.done = title, total, 0
        get_run_logger().info("%s: %d to do", title, total)
        self._also.begin(title, total)

    def advance(self, count: int) -> None:
        """So many more are done; the log has the tasks for that."""
        self.done += count
        self._also.advance(count)


def explained(
    work: Callable[Given, Awaitable[Result]],
) -> Callable[Given, Coroutine[Any, Any, Result]]:
    """Work of a flow or task of which what callwright can explain becomes a Failed state of that
    one sentence.

    Prefect raises the error itself at whoever called the flow, so no caller meets the state.
    """

    @wraps(work)
    async def explaining(*given: Given.args, **named: Given.kwargs) -> Result:
        if (
            _ending.get() is not None
        ):  # each flow takes SIGTERM for itself, and raises where it finds the event loop
            signal.signal(signal.SIGTERM, _ending.get())
        try:
            return await work(*given, **named)
        except CallwrightError as error:
            return cast("Result", Failed(message=str(error), data=error))

    return explaining


def run_name() -> str:
    """The name of a flow's run: what it is about, by its parameters."""
    given = {name: value for name, value in flow_run.parameters.items() if value}
    about = given.pop("release", "") or Path(str(given.pop("recipe", ""))).stem
    extras = [" and ".join(given["kinds"])] if "kinds" in given else []
    extras += [f"at most {given['limit']} a kind"] if "limit" in given else []
    extras += [str(given["model"])] if "model" in given else []
    return ", ".join([about or "all recipes", *extras])


_ALL = 100.0


class ProgressArtifact:
    """How far a group is, as a bar on its flow run's page."""

    def __init__(self, progress: FlowProgress) -> None:
        """Show the progress that `progress` hears of."""
        self._progress, self._bar, self._done = progress, cast("UUID | None", None), 0

    async def show(self, count: int) -> None:
        """So many more records are done."""
        self._done += count
        share = _ALL * self._done / max(1, self._progress.total)
        text = f"{self._progress.title}: {self._done} of {self._progress.total} records"
        if self._bar is None:
            self._bar = await acreate_progress_artifact(share, description=text)
        else:
            await aupdate_progress_artifact(self._bar, share, description=text)


async def show_build(report: BuildReport, review: str, database: Path) -> None:
    """Show what each stage did with what came to it, what came of each kind, what it cost, and
    where to look at it.
    """
    remarks = "".join(f" {remark}" for remark in report.remarks)
    await acreate_table_artifact(
        table=[row._asdict() for row in report.worked],
        key=_key("funnel", report.recipe),
        description=(
            f"{report.sentence} At each stage, entered = passed + rejected + failed +"
            f" waiting.{remarks}"
        ),
    )
    kinds = _markdown(
        [row._asdict() for row in report.composition],
        ("kind", "asked", "landed", "proved", "judged", "waiting"),
    )
    spent = _markdown([report.spending._asdict()] if report.spending else [])
    people = f"What waits for people is at [{review}]({review}).\n" if review else ""
    await acreate_markdown_artifact(
        key=_key("build", report.recipe),
        markdown=(
            f"## Kinds\n\n{kinds}\n\n## Spent\n\n{spent or 'Nothing.'}\n\n{people}\n`callwright"
            f" view` opens the build's page (`/builds/{report.build}`); its warehouse is"
            f" `{database}`.\n"
        ),
        description=report.sentence,
    )


def tell_stages(report: BuildReport, progress: "FlowProgress") -> None:
    """A line of the log for each stage that had something to do."""
    for row in report.worked:
        ended = ((name, getattr(row, name)) for name in ("rejected", "failed", "waiting"))
        rest = "".join(f", {count} {name}" for name, count in ended if count)
        progress.note(
            f"{row.stage}: {row.entered - row.not_applicable} in, {row.passed - row.not_applicable}"
            f" passed{rest}{f', {row.personal_data} personal values' if row.personal_data else ''}"
        )


async def show_result(found: object, settings: Settings) -> None:
    """Show what a run gives: a release with its kinds, the scores of an evaluation, what was
    pushed or pulled.
    """
    match found:
        case Release() | MadeRelease():
            made = found if isinstance(found, Release) else found.release
            counts = count_kinds(open_warehouse(settings), made.name)
            kinds = _markdown([{"kind": kind, "samples": count} for kind, count in counts.items()])
            sentence = (
                f"{made.name}: version {made.version}, {made.samples} samples, content hash"
                f" {made.content_hash}"
            )
            await acreate_markdown_artifact(
                key=_key("release", made.name),
                markdown=f"# {sentence}\n\n{kinds}\n",
                description=sentence,
            )
        case Evaluation():
            report = write_report(open_warehouse(settings), settings.home / "report.html")
            await show_scores(found.release, found.leaderboard, report)
        case Pushed(created=created, already_there=there, url=url):
            sentence = f"{created} tasks pushed, {there} were there already"
            await acreate_markdown_artifact(
                key="push", markdown=f"{sentence}: [{url}]({url})\n", description=sentence
            )
        case Pulled():
            await show_reviews(
                {name: count for name, count in found._asdict().items() if name != "problems"},
                found.problems,
            )


async def show_scores(release: str, board: Iterable[Row], report: Path) -> None:
    """Show how candidates scored on a release, and where the report with its plots lies."""
    lines = _markdown(
        [{name: value for name, value in row.items() if name != "release"} for row in board]
    )
    # A path and no link: browsers follow none from a served page to a file.
    await acreate_markdown_artifact(
        key=_key("scores", release),
        markdown=(
            f"# Scores on {release}\n\n{lines}\n\nThe report with its plots opens from the file"
            f" `{report}`.\n"
        ),
        description=f"HammerBench's metrics on the release `{release}`, as fractions.",
    )


_PULLED = {
    "reviews": "new reviews",
    "returned": "edits that can't be used, back with people",
    "contradicted": "edits that wait for a second person",
    "withdrawn": "earlier reviews that count no more",
    "deleted": "tasks that were deleted",
    "elsewhere": "annotations that another work folder asked for",
    "resumed": "edits checked that an earlier pull had left",
    "before": "accepted samples before",
    "now": "accepted samples now",
    "pushed": "further tasks pushed",
}


async def show_reviews(counts: Mapping[str, int], problems: Sequence[str]) -> None:
    """Show what people decided since the last pull, and what of it does not fit; each count in
    words.
    """
    lines = "".join(f"\n| {_PULLED.get(name, name)} | {count} |" for name, count in counts.items())
    listed = "".join(f"\n- {problem}" for problem in problems)
    decided = ", ".join(f"{counts[name]} {name}" for name in ("accepted", "edited", "rejected"))
    await acreate_markdown_artifact(
        key="reviews",
        markdown=f"| since the last pull | |\n|---|---:|{lines}\n{listed}",
        description=f"{counts['reviews']} new reviews: {decided}.",
    )


def _markdown(rows: Sequence[Mapping[str, object]], columns: Sequence[str] = ()) -> str:
    """Rows as a table of Markdown, "" where there are none; of the `columns` named, those that
    the rows have.
    """
    if not rows:
        return ""
    shown = [name for name in columns or rows[0] if name in rows[0]]
    values = ([row[name] for name in shown] for row in rows)
    cells = (
        [str(round(one, 4) if isinstance(one, float) else one) for one in row] for row in values
    )
    return "\n".join(f"| {' | '.join(line)} |" for line in (shown, ["---"] * len(shown), *cells))


def _key(kind: str, name: str) -> str:
    """An artifact's key: Prefect allows lower-case letters, digits and dashes."""
    words = "".join(
        sign if sign.isalnum() and sign.isascii() else " " for sign in name.lower()
    ).split()
    return "-".join([kind, *words])
