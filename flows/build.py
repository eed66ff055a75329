"""A build: from a recipe to landed samples.

The command line, Prefect and the tests all call this.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from callwright.flows.catalogs import gather_tools, with_catalogs
from callwright.flows.chats import check_keys, roles_of
from callwright.flows.dask_workers import open_workers
from callwright.flows.environments import (
    environment_tools,
    environments_of,
    responses_of,
    told_of_policies,
)
from callwright.flows.making import (
    Landing,
    check_duplicates,
    check_samples,
    is_measured,
    land_samples,
    make_samples,
    measure_readers,
    route_review,
)
from callwright.flows.planning.demands import told_of_brought, validate_it_can_be_planned, waves
from callwright.flows.planning.planner import planned_by_kind, read_left_out, told_of_left_out
from callwright.flows.planning.statistics import (
    ConversationRow,
    FailureRow,
    PathRow,
    ReaderRow,
    RepeatedWords,
    UserRow,
    conversation_rows,
    failure_rows,
    path_rows,
    rows_of_view,
    told_of_readers,
    told_of_trust,
)
from callwright.flows.progress import Phase, PhasedProgress, Progress, tell_models
from callwright.flows.recipe import Checks, GeneratedTools, Recipe
from callwright.flows.recipe.own_sentences import told_of_sentences, with_checked_sentences
from callwright.flows.recipe.own_words import validate_own_words
from callwright.flows.runner import GroupRun, Workers, publish_or_say
from callwright.flows.settings import Settings, open_warehouse
from callwright.flows.shards import record_line, write_lines
from callwright.flows.sources import (
    files_key,
    known_sources,
    source_key,
    taken_tools,
    told_of_sources,
)
from callwright.flows.stages import (
    LANDING,
    all_stages,
    prompt_rows,
    stage_rows,
    todays_checks,
    version_of,
)
from callwright.flows.toolmaking import made_tools, prepare_tools
from callwright.generators.environments.protocol import ServerSettings, SimulatedSettings
from callwright.generators.families import LeftOut
from callwright.generators.kinds import all_kinds, family_of, kind_named, kind_rows, traits_of
from callwright.generators.toolset import GROUP as TOOLSET
from callwright.llm.models import open_adapter
from callwright.llm.prompts import own_prompts
from callwright.validators.checks.table import CHECKS
from callwright.validators.embeddings import close_encoder
from callwright.validators.metrics.table import METRICS
from callwright.validators.reading.planting import GROUP as MEASURING
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.outcomes import met_checks
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Tool, content_key
from callwright.warehouse.releases import read_tools
from callwright.warehouse.rows import Row, body_of

# Of so many samples the encoder's 100 MB weigh more than the half second that opening it again
# takes, once they are made: while they are made, each round would open it.
_MANY = 5000
_REASONS = 3
BUILD_VERSION = 2  # raised when the same recipe, tools and prompts would make other samples


class FunnelRow(NamedTuple):
    """What a stage did with what came to it: entered = passed + rejected + failed + waiting.

    `not_applicable` is how many of the passed ones it had nothing to do with, `personal_data` how
    many personal values stood in what it took from files.
    """

    stage: str
    entered: int
    passed: int
    rejected: int
    failed: int
    waiting: int
    not_applicable: int = 0
    personal_data: int = 0


class CompositionRow(NamedTuple):
    """How many samples of a kind a recipe asks for and what became of them; `paper` is None where
    the paper tells none.

    Of those that `landed`, `proved` rest on rules alone and `judged` on a model's blind reading;
    people vouched for the others.
    """

    kind: str
    asked: int
    made: int
    landed: int
    proved: int
    judged: int
    waiting: int
    tools: int
    paper: int | None


class SpendingRow(NamedTuple):
    """What a build has asked and paid until now: `calls` went out, `known` ones the ledger
    answered. Money is in US dollars.
    """

    calls: int
    known: int
    tokens: int
    cost: float
    cost_per_accepted: float | None


class BuildReport(NamedTuple):
    """What a build made of what was asked for: its funnel, what landed, how many of each kind,
    and what was left out and why.
    """

    build: str
    recipe: str
    asked: int
    planned: int
    landed: int
    funnel: tuple[FunnelRow, ...]
    composition: tuple[CompositionRow, ...] = ()
    paths: tuple[PathRow, ...] = ()
    conversations: tuple[ConversationRow, ...] = ()
    is_trial: bool = False
    spending: SpendingRow | None = None
    repeated: tuple[RepeatedWords, ...] = ()
    failures: tuple[FailureRow, ...] = ()
    readers: tuple[ReaderRow, ...] = ()
    users: tuple[UserRow, ...] = ()
    wrong_at_most: float | None = None
    untrusted: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    taken: tuple[str, ...] = ()

    @property
    def worked(self) -> tuple[FunnelRow, ...]:
        """The stages that had anything to do."""
        return tuple(row for row in self.funnel if row.not_applicable < row.entered)

    @property
    def sentence(self) -> str:
        """How many of the samples that were asked for have landed."""
        planned = "" if self.planned == self.asked else f"{self.planned} planned, "
        return (
            f"{self.recipe}: {self.landed} of {count_of(self.asked, 'sample')} accepted"
            f" ({planned}build {self.build})."
        )

    @property
    def emptiness(self) -> str:
        """Why nothing of what was asked for has landed, "" where something has or waits for
        people.
        """
        if self.landed or not self.asked or any(row.waiting for row in self.composition):
            return ""
        if not self.planned:
            return (
                f"None of the {self.asked} samples could be planned; `callwright recipe check` says"
                " why."
            )
        lost = Counter(
            {
                (row.stage, word): getattr(row, word)
                for row in self.funnel
                for word in ("rejected", "failed")
            }
        )
        reasons = [
            f"{count} {word} at {stage}"
            for (stage, word), count in lost.most_common(_REASONS)
            if count
        ]
        return (
            f"None of the {self.asked} samples asked for has landed:"
            f' {", ".join(reasons) or "none came through all stages"}. `callwright query "from'
            ' failures"` has the reasons of those that failed, `from verdicts` of the rejected'
            " ones."
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What people should know of beside the counts."""
        told = [one.sentence for one in self.failures] + [one.sentence for one in self.repeated]
        left_out, readers = (
            told_of_left_out(self.left_out),
            told_of_readers(self.readers, self.wrong_at_most),
        )
        return (*self.taken, *left_out, *told, *readers, *self.untrusted)


class BuildSteps(NamedTuple):
    """What a build does, step by step; whoever runs it carries the steps out: this process, or
    flows of Prefect's.

    `make` makes what lacks of some kinds, and gives how much was planned; `check` checks what no
    check has seen; `measure` measures who read it; `land` ends it.
    """

    make: Callable[[Sequence[str]], Awaitable[int]]
    check: Callable[[], Awaitable[object]]
    measure: Callable[[], Awaitable[object]]
    land: Callable[[], Awaitable[BuildReport]]


def steps_of(
    run: GroupRun, workers: Workers, land: Callable[[], Awaitable[BuildReport]]
) -> BuildSteps:
    """The steps of a build that this process carries out with its workers."""
    making, checking = partial(make_samples, run, workers), partial(check_samples, run, workers)
    return BuildSteps(making, checking, partial(measure_readers, run, workers), land)


async def carry_out_build(recipe: Recipe, steps: BuildSteps) -> BuildReport:
    """Make and check a recipe's kinds wave by wave: single turns first, then what is made of those
    that passed.

    Then the readers are measured, and it lands.

    With `spare` what did not pass is replaced, as long as anything can be planned for it.
    """
    for kinds in waves(recipe):
        again = True
        while again:
            planned = await steps.make(kinds)
            await steps.check()
            again = bool(planned and recipe.spare)
    if recipe.readers.planted:
        await steps.measure()
    return await steps.land()


def phases_of(recipe: Recipe) -> Iterator[Phase]:
    """Return the phases of a build in order, by the groups of stages that do the work."""
    if any(isinstance(one, GeneratedTools) for one in recipe.tools):
        yield Phase(TOOLSET)
    for names in waves(recipe):
        groups: dict[str, Phase] = {}
        for name in names:
            group = kind_named(name).group
            samples = recipe.samples.get(name, 0) + groups.get(group, Phase(group)).samples
            groups[group] = Phase(
                group, samples, recipe.variants if family_of(name).has_variants else 1
            )
        yield from (one for one in groups.values() if one.samples or recipe.sources)
    if recipe.readers.planted:
        yield Phase(MEASURING)
    yield Phase("landing")


async def build_dataset(recipe: Recipe, settings: Settings, progress: Progress) -> BuildReport:
    """Build a recipe with the workers that the settings name, going on where the last build of
    it stopped.
    """
    with ExitStack() as opened:
        workers = opened.enter_context(open_workers(recipe, settings, progress))
        check_keys(recipe)
        if isinstance(progress, PhasedProgress):
            progress.plan("Build", [*phases_of(recipe)])
        tell_models(roles_of(recipe), progress)
        await prepare_tools(recipe, settings, progress, lambda _run: nullcontext(workers))
        run = open_build(recipe, settings, progress)

        async def land_all() -> BuildReport:
            opened.close()  # the workers are done, and landing takes memory
            return land(run)

        return await carry_out_build(recipe, steps_of(run, workers, land_all))


def open_build(recipe: Recipe, settings: Settings, progress: Progress) -> GroupRun:
    """Gather the tools, name the build by what goes into it, and write both down."""
    for _, model in roles_of(recipe):
        open_adapter(model)  # connects nowhere, but knows whether the settings make sense
    warehouse = open_warehouse(settings)
    recipe = with_catalogs(recipe, warehouse)
    toolbox = gather_tools(
        recipe, warehouse, made_tools(recipe, settings), environment_tools(recipe, settings)
    )
    if toolbox.problems:
        progress.say(
            f"{count_of(len(toolbox.problems), 'problem')} in the catalogs. `callwright tools"
            " import` lists them."
        )
    generator = recipe.models.generator.name
    if (recipe.personas or recipe.styles) and not recipe.is_voiced:
        progress.say(f"{generator} cannot use personas and styles. This build ignores them.")
    if recipe.examples and not recipe.shown_examples:
        progress.say(f"{generator} cannot use examples. This build ignores them.")
    validate_own_words(
        recipe.values, recipe.examples.read if recipe.examples else (), toolbox.tools
    )
    recipe = with_checked_sentences(recipe, toolbox.tools)
    validate_it_can_be_planned(recipe, toolbox.tools)
    said_plainly = told_of_sentences(recipe, toolbox.tools)
    for said in (*told_of_brought(recipe), *told_of_policies(recipe, settings), *said_plainly):
        progress.say(said)
    tools = (
        *toolbox.tools,
        *taken_tools(recipe, settings),
    )  # what is made is made of the recipe's own
    key = build_key(recipe, tools)
    path = _write_toolbox(settings, key, tools)
    build: Row = {
        "key": key,
        "recipe": recipe.name,
        "body": recipe.model_dump_json(by_alias=True),
        "started_at": datetime.now(UTC),
        "finished_at": None,
        "is_trial": recipe.trial,
    }
    with warehouse.together():
        warehouse.put(tools)
        warehouse.put_rows(
            {
                "stages": stage_rows(),
                "prompts": prompt_rows(recipe.own_prompts),
                "kinds": kind_rows(recipe.samples),
                "builds": [build],
                "build_tools": [{"build": key, "tool": tool.key} for tool in tools],
            }
        )
        if not recipe.trial:  # what was tried out before is what is asked for now
            warehouse.execute(
                "update builds set is_trial = false where key = ? and is_trial", [key]
            )
    return GroupRun(
        key, recipe, settings, warehouse, toolbox.tools, path, progress, datetime.now(UTC)
    )


def reopen_build(key: str, settings: Settings, progress: Progress) -> GroupRun:
    """A build that was opened before, as it was.

    Raises ConfigurationError where the warehouse lacks it.
    """
    warehouse = open_warehouse(settings)
    rows = warehouse.rows("select body from builds where key = ?", [key])
    if not rows:
        raise ConfigurationError(
            f'No build has the key {key!r}. List the builds with `callwright query "from builds"`.'
        )
    named = warehouse.rows("select tool from build_tools where build = ?", [key])
    tools = tuple(read_tools(warehouse, [row["tool"] for row in named]).values())
    path = _write_toolbox(settings, key, tools)
    recipe = Recipe.model_validate_json(rows[0]["body"])
    return GroupRun(key, recipe, settings, warehouse, tools, path, progress, datetime.now(UTC))


def _write_toolbox(settings: Settings, key: str, tools: Sequence[Tool]) -> Path:
    """The build's tools as a file for its shards."""
    path = settings.home / "builds" / f"{key}.tools.jsonl"
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        write_lines(unfinished, (record_line("Tool", body_of(tool)) for tool in tools))
        unfinished.replace(path)
    return path


def build_key(recipe: Recipe, tools: Sequence[Tool]) -> str:
    """The name of a build: the same for the same recipe, tools and prompts, however often it is
    run.

    Checks have no part in it: they make nothing. Which versions of them a build has met stands in
    `build_checks`.
    """
    body = recipe.model_dump(
        mode="json",
        include={
            "name",
            "seed",
            "languages",
            "samples",
            "spare",
            "candidates_per_sample",
            "variants",
        },
    )
    body |= {"checks": _thresholds_of(recipe.checks)} | _landing_of(recipe)
    if recipe.is_voiced:
        body["voices"] = {"personas": [*recipe.spoken_personas], "styles": [*recipe.styles]}
    if recipe.values:
        body["values"] = recipe.own_values
    if recipe.shown_examples:
        body["examples"] = recipe.shown_examples
    if making := [
        one for one in recipe.extensions if one.table not in (CHECKS.table, METRICS.table)
    ]:
        body["extensions"] = sorted([one.name, one.digest] for one in making)
    taken: list[JsonValue] = [
        [source_key(recipe, one), one.take, *one.by] for one in recipe.sources
    ]
    avoided: list[JsonValue] = [
        [one.format, files_key(one.paths), one.likeness, *one.by] for one in recipe.avoid
    ]
    stated: dict[str, JsonValue] = {"sources": taken, "avoid": avoided}
    body |= {name: files for name, files in stated.items() if files}
    if recipe.system_message:
        body["system_message"] = (
            recipe.system_message
            if isinstance(recipe.system_message, str)
            else [*recipe.system_message]
        )
    if recipe.policies:
        body["policies"] = [one.model_dump(mode="json") for one in recipe.policies]
    groups = {kind_named(name).group for wave in waves(recipe) for name in wave}
    with own_prompts(recipe.own_prompts):
        versions: list[JsonValue] = [
            version_of(stage) for stage in all_stages() if stage.group in groups
        ]
    ingredients: dict[str, JsonValue] = {
        "version": BUILD_VERSION,
        "recipe": body,
        "models": {
            name: [model.name, *map(list, model.options)] for name, model in roles_of(recipe)
        },
        "tools": [*sorted(tool.key for tool in tools)],
        "environments": [
            (
                one.stated
                if isinstance(one, ServerSettings | SimulatedSettings)
                else one.model_dump(mode="json")
            )
            for one in environments_of(recipe)
        ],
        "stages": versions,
    }
    return content_key(ingredients)


def _thresholds_of(checks: Checks) -> dict[str, JsonValue]:
    """The thresholds that make a difference to what a build makes."""
    stated: dict[str, JsonValue] = checks.model_dump(mode="json")
    if checks.repeated == "tell":
        del stated["largest_opening"], stated["largest_skeleton"], stated["repeated"]
    if checks.reworded_duplicate == Checks.model_fields["reworded_duplicate"].default:
        del stated["reworded_duplicate"]  # builds from before this was a setting keep their name
    return stated


def _landing_of(recipe: Recipe) -> dict[str, JsonValue]:
    """What lands without people, where the recipe says it: what has landed stays, so a build
    that asks for more is another one.
    """
    stated: dict[str, JsonValue] = {}
    if recipe.land != Recipe.model_fields["land"].default:
        stated["land"] = recipe.land
    accept = recipe.accept.model_dump(exclude_defaults=True)
    if accept:
        stated["accept"] = accept["wrong_at_most"] if [*accept] == ["wrong_at_most"] else accept
    return stated


def land(run: GroupRun) -> BuildReport:
    """Sort out duplicates, ask people about what is in doubt, accept the rest, note that the build
    is done, and count.

    It is published where the settings say so.
    """
    landing = Landing(run.build, run.recipe, run.warehouse)
    with run.warehouse.together():
        check_duplicates(landing)  # only where the last checks were cut off before they came to it
        if sum(run.recipe.samples.values()) > _MANY:
            close_encoder()
        route_review(landing)
        land_samples(landing)
        run.warehouse.put_rows(responses_of(run.recipe, run.settings))
        run.warehouse.execute(sql("builds.end"), [run.build])
        report = report_build(run)
    if run.settings.publish_every:
        publish_or_say(run)
    return report


def report_build(run: GroupRun) -> BuildReport:
    """The funnel and the composition of a build as they stand."""
    with run.warehouse.reading_together():
        return _count_build(run)


def _count_build(run: GroupRun) -> BuildReport:
    warehouse, build = run.warehouse, run.build
    rows = warehouse.rows(
        f"select {', '.join(FunnelRow._fields)} from funnel where build = ? order by position",  # noqa: S608 - our own names
        [build],
    )
    funnel = tuple(FunnelRow(**row) for row in rows)
    landed = next((row.passed for row in funnel if row.stage == LANDING.land), 0)
    [row] = run.warehouse.rows(sql("statistics.spent"), [run.build])
    return BuildReport(
        build=build,
        recipe=run.recipe.name,
        asked=sum(run.recipe.samples.values())
        + sum(one.asked for one in known_sources(run.recipe, run.settings)),
        planned=sum(planned_by_kind(run).values()),
        landed=landed,
        funnel=funnel,
        composition=tuple(_composition(run)),
        paths=tuple(path_rows(run)),
        conversations=tuple(conversation_rows(run)),
        is_trial=warehouse.rows("select is_trial from builds where key = ?", [build])[0][
            "is_trial"
        ],
        spending=SpendingRow(**row, cost_per_accepted=row["cost"] / landed if landed else None),
        repeated=rows_of_view(warehouse, "too_frequent", RepeatedWords, build),
        failures=failure_rows(warehouse, build) if any(row.failed for row in funnel) else (),
        readers=rows_of_view(warehouse, "reader_precision", ReaderRow, build),
        users=rows_of_view(warehouse, "live_users", UserRow, build),
        wrong_at_most=run.recipe.accept.wrong_at_most,
        left_out=read_left_out(warehouse, build),
        untrusted=tuple(told_of_trust(warehouse, build, run.recipe.accept)),
        taken=tuple(told_of_sources(run.recipe, run.settings)),
    )


def _composition(run: GroupRun) -> Iterator[CompositionRow]:
    rows = run.warehouse.rows(sql("statistics.composition"), [run.build])
    made = {row.pop("kind"): row for row in rows}
    known = all_kinds()
    for name in dict.fromkeys((*run.recipe.samples, *made)):
        counts = made.get(name) or dict.fromkeys(
            ("made", "landed", "proved", "judged", "waiting", "tools"), 0
        )
        paper = known[name].paper if name in known else None
        taken = (
            counts["made"] if traits_of(name).is_taken else 0
        )  # what is taken is what was asked for
        yield CompositionRow(
            kind=name, asked=run.recipe.samples.get(name, taken), **counts, paper=paper
        )


class Unchanged(NamedTuple):
    """A build that ended, and of which nothing has changed since: what it made, and when it
    ended.
    """

    report: BuildReport
    finished_at: datetime

    @property
    def sentence(self) -> str:
        """Why there is nothing to do."""
        return (
            "Nothing to do: recipe, tools, models, prompts and checks have not changed since build "
            f"{self.report.build} finished, {self.finished_at:%Y-%m-%d %H:%M}."
        )


def find_unchanged(recipe: Recipe, settings: Settings, progress: Progress) -> Unchanged | None:
    """The finished build that this recipe names as things stand now; None where there is
    something to do.
    """
    warehouse = open_warehouse(settings)
    asked = (
        "select key, finished_at from builds where recipe = ? and finished_at is not null and (? or"
        " not is_trial)"
    )
    ended = {
        row["key"]: row["finished_at"] for row in warehouse.rows(asked, [recipe.name, recipe.trial])
    }
    if not ended:
        return None
    try:
        recipe = with_catalogs(recipe, warehouse)
        toolbox = gather_tools(
            recipe, warehouse, made_tools(recipe, settings), environment_tools(recipe, settings)
        )
        tools = (*toolbox.tools, *taken_tools(recipe, settings))
    except (
        ConfigurationError
    ):  # tools that are not made yet, or what the build itself will tell better
        return None
    key = build_key(recipe, tools)
    has_ended = key in ended and met_checks(warehouse, key) == todays_checks(recipe.own_prompts)
    if not has_ended or not is_measured(warehouse, key, recipe):
        return None
    return Unchanged(report_build(reopen_build(key, settings, progress)), ended[key])
