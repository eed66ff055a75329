"""What a build is: its name by what goes into it, its tools, and its kinds made wave by wave.

The command line, the Python API, Prefect's flows and the tests all call this.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from callwright.flows.catalogs import gather_tools, with_catalogs
from callwright.flows.environments import environment_tools, environments_of, told_of_policies
from callwright.flows.planning.demands import told_of_brought, validate_it_can_be_planned, waves
from callwright.flows.planning.planner import Planner, keep_left_out
from callwright.flows.planning.statistics import told_of_trust
from callwright.flows.planning.value_pools import collect_pools, with_pools
from callwright.flows.progress import Phase, PhasedProgress, Progress, tell_models
from callwright.flows.recipe import Checks, GeneratedTools, Recipe
from callwright.flows.recipe.own_sentences import told_of_sentences, with_checked_sentences
from callwright.flows.recipe.own_words import validate_own_words
from callwright.flows.run.carry import Carrier, GroupRun, open_carrier, run_group
from callwright.flows.run.land import (
    BuildReport,
    decide_duplicates,
    has_undecided,
    land,
    report_build,
)
from callwright.flows.run.work import check_keys, record_line, roles_of, write_lines
from callwright.flows.settings import Settings, open_warehouse
from callwright.flows.sources import files_key, source_key, taken_tools
from callwright.flows.stages import (
    LANDING,
    all_stages,
    prompt_rows,
    stage_rows,
    stages_of,
    todays_checks,
    version_of,
)
from callwright.flows.toolmaking import made_tools, prepare_tools
from callwright.generators.environments.protocol import ServerSettings, SimulatedSettings
from callwright.generators.kinds import family_of, kind_named, kind_rows
from callwright.generators.toolset import GROUP as TOOLSET
from callwright.llm.models import open_adapter, reads_language
from callwright.llm.prompts import own_prompts
from callwright.validators.checks.declaring import GROUP as CHECKS
from callwright.validators.checks.table import CHECKS as CHECK_TABLE
from callwright.validators.metrics.table import METRICS
from callwright.validators.reading.planting import GROUP as MEASURING
from callwright.validators.reading.planting import PLANTED_READING, planting_version
from callwright.validators.reading.writing import check_reading
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.outcomes import (
    lacking_checks,
    meet_checks,
    met_checks,
    reject_repeated,
    remove_outcomes,
    samples_lacking,
    take_back,
)
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Record, Sample, Tool, content_key
from callwright.warehouse.releases import read_tools
from callwright.warehouse.rows import Row, body_of
from callwright.warehouse.store import Warehouse

BUILD_VERSION = 2  # raised when the same recipe, tools and prompts would make other samples
_FIRST = 12  # samples of each kind and language made first: they tell a reader's worth in minutes


async def build_dataset(recipe: Recipe, settings: Settings, progress: Progress) -> BuildReport:
    """Build a recipe, going on where its last build stopped, carried as the settings say.

    Kinds are made wave by wave: single turns first, then what is made of those that passed. With
    `spare` what did not pass is replaced, as long as anything can be planned for it.
    """
    with open_carrier(recipe, settings, progress) as carrier:
        check_keys(recipe)
        if isinstance(progress, PhasedProgress):
            progress.plan("Build", [*phases_of(recipe)])
        tell_models(roles_of(recipe), progress)
        await prepare_tools(recipe, settings, progress, lambda _run: nullcontext(carrier))
        await collect_pools(recipe, settings, progress)
        run = open_build(recipe, settings, progress)
        for kinds in waves(recipe):
            is_more = True
            while is_more:
                planned = await make_samples(run, carrier, kinds)
                await check_samples(run, carrier)
                is_more = bool(planned and recipe.spare)
        if recipe.readers.planted:
            await measure_readers(run, carrier)
    return land(run)  # without the carrier: landing takes memory


def phases_of(recipe: Recipe) -> Iterator[Phase]:
    """Yield the phases of a build in order, by the groups of stages that do the work."""
    if any(isinstance(source, GeneratedTools) for source in recipe.tools):
        yield Phase(TOOLSET)
    for names in waves(recipe):
        groups: dict[str, Phase] = {}
        for name in names:
            group, variants = kind_named(name).group, family_of(name).has_variants
            samples = recipe.samples.get(name, 0) + groups.get(group, Phase(group)).samples
            groups[group] = Phase(group, samples, recipe.variants if variants else 1)
        yield from (phase for phase in groups.values() if phase.samples or recipe.sources)
    if recipe.readers.planted:
        yield Phase(MEASURING)
    yield Phase("landing")


async def make_samples(run: GroupRun, carrier: Carrier, kinds: Sequence[str]) -> int:
    """Make and check what the build lacks of these kinds; return how much was planned.

    What a build that was cut off has made is checked first: what did not pass decides how much is
    planned. Where a model that costs time or money reads, it is measured on the first few.
    """
    await check_samples(run, carrier)
    recipe, warehouse, planned = run.recipe, run.warehouse, 0

    def counted(records: Iterable[Record]) -> Iterator[bytes]:
        nonlocal planned
        for record in records:
            planned += 1
            yield record_line(type(record).__name__, body_of(record))

    is_read = recipe.consistency == "blind" and reads_language(recipe.models.checker.name)
    is_measured = not (recipe.readers.planted and is_read) or bool(
        warehouse.rows(sql("measuring.any_planted"), [run.build])
    )
    for at_most in (None,) if is_measured else (_FIRST, None):
        before, planner = planned, Planner(run, kinds, at_most=at_most)
        for group in dict.fromkeys(kind_named(name).group for name in kinds):
            drafts = counted(await planner.drafts(group, stages_of(group)[0]))
            await run_group(run, group, drafts, carrier, then=CHECKS)
        with warehouse.together():
            keep_left_out(warehouse, run.build, planner)
            if planned > before:
                makers = [stage.name for stage in all_stages() if stage.yields == "Sample"]
                reject_repeated(warehouse, run.build, makers, "sample")
        if at_most is not None:
            await check_samples(run, carrier)
            await measure_readers(run, carrier)
            for sentence in told_of_trust(warehouse, run.build, recipe.accept):
                run.progress.say(sentence)
    return planned


async def check_samples(run: GroupRun, carrier: Carrier) -> None:
    """Run the checks that this build's samples lack; then look for duplicates.

    An existing build may lack a check that is new or has changed: then its samples go through
    that check alone.
    """
    warehouse, build, todays = run.warehouse, run.build, todays_checks(run.recipe.own_prompts)
    checks = [*todays]

    def conclude() -> bool:
        """Take back what checks stopped; whether there is something to find duplicates among."""
        take_back(warehouse, build, checks, review=LANDING.review, land=LANDING.land)
        return has_undecided(run)

    with warehouse.together():
        new = meet_checks(warehouse, build, todays)
        lacking_groups = lacking_checks(warehouse, build, checks)
        is_undecided = not lacking_groups and conclude()
    if new and lacking_groups:
        samples = sum(lacking.samples for lacking in lacking_groups)
        run.progress.say(
            f"These checks are new or have changed: {', '.join(new)}. "
            f"{count_of(samples, 'sample goes', 'samples go')} through them."
        )
    for lacking in lacking_groups:
        bodies = samples_lacking(warehouse, build, checks, lacking.mask)
        lines = (record_line("Sample", body) for body in bodies)
        await run_group(run, CHECKS, lines, carrier, only=lacking.checks)
    if lacking_groups:
        with warehouse.together():
            is_undecided = conclude()
    if is_undecided:
        decide_duplicates(run)


async def check_edited(run: GroupRun, carrier: Carrier, edited: Sequence[Sample]) -> None:
    """Put edited samples through all checks, including those behind a check that stops them.

    Those behind it give their verdicts only, so that whoever reviews such an edit sees all that
    speaks for and against it, and so does its row once it lands.
    """
    lines = {sample.key: record_line("Sample", body_of(sample)) for sample in edited}
    await run_group(run, CHECKS, lines.values(), carrier)
    names = [stage.name for stage in stages_of(CHECKS)]
    behind: list[tuple[str, str, str]] = []
    for at, name in enumerate(names[:-1]):
        rows = run.warehouse.rows(sql("build_checks.stopped"), [run.build, [*lines]])
        here = {key for row in rows if row["stage"] == name for key in row["subjects"]}
        if here:
            stopped = [line for key, line in lines.items() if key in here]
            await run_group(run, CHECKS, stopped, carrier, only=names[at + 1 :])
            behind += [(run.build, later, key) for later in names[at + 1 :] for key in here]
    remove_outcomes(run.warehouse, behind)


async def measure_readers(run: GroupRun, carrier: Carrier) -> None:
    """Plant the defects that the recipe wants and the build lacks; earlier ones stay."""
    bodies = _lacking_readings(run.warehouse, run.build, run.recipe)
    lines = [record_line("Sample", body) for body in bodies]
    await run_group(run, MEASURING, lines, carrier, only=[PLANTED_READING.name])


def _lacking_readings(warehouse: Warehouse, build: str, recipe: Recipe) -> list[str]:
    """Return the bodies of the samples to plant in for the build's reader, by language and family.

    They are drawn by the recipe's seed from what the reader read, one reading a sample at most.
    """
    readers = recipe.readers
    if not readers.planted:
        return []
    with own_prompts(recipe.own_prompts):
        version = planting_version()
    wanted = [readers.planted, readers.at_least, str(recipe.seed), recipe.most_planted]
    asked = [build, check_reading.name, version, *wanted]
    return [row["body"] for row in warehouse.rows(sql("measuring.lacking"), asked)]


def open_build(recipe: Recipe, settings: Settings, progress: Progress) -> GroupRun:
    """Gather the tools, name the build by its inputs, and store both."""
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
    recipe = with_pools(recipe, toolbox.tools, warehouse)
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
    # Samples are made of the recipe's own tools; what is taken from files brings others.
    tools = (*toolbox.tools, *taken_tools(recipe, settings))
    key, now = build_key(recipe, tools), datetime.now(UTC)
    path = _write_toolbox(settings, key, tools)
    build: Row = {
        "key": key,
        "recipe": recipe.name,
        "body": recipe.model_dump_json(by_alias=True),
        "started_at": now,
        "finished_at": None,
        "is_trial": recipe.trial,
        "run": recipe.run,
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
    return GroupRun(key, recipe, settings, warehouse, toolbox.tools, path, progress, now)


def reopen_build(key: str, settings: Settings, progress: Progress) -> GroupRun:
    """Open a build again as it was. Raises ConfigurationError where the warehouse lacks it."""
    warehouse = open_warehouse(settings)
    rows = warehouse.rows("select body from builds where key = ?", [key])
    if not rows:
        raise ConfigurationError(
            f'No build has the key {key!r}. List the builds with `callwright query "from builds"`.'
        )
    recipe = Recipe.model_validate_json(rows[0]["body"])
    named = warehouse.rows("select tool from build_tools where build = ?", [key])
    tools = tuple(read_tools(warehouse, [row["tool"] for row in named]).values())
    path = _write_toolbox(settings, key, tools)
    return GroupRun(key, recipe, settings, warehouse, tools, path, progress, datetime.now(UTC))


def _write_toolbox(settings: Settings, key: str, tools: Sequence[Tool]) -> Path:
    """Write the build's tools to a file for its shards, once."""
    path = settings.home / "builds" / f"{key}.tools.jsonl"
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        write_lines(unfinished, (record_line("Tool", body_of(tool)) for tool in tools))
        unfinished.replace(path)
    return path


_NAMED = {
    "name",
    "seed",
    "languages",
    "samples",
    "spare",
    "candidates_per_sample",
    "variants",
    "wording",
    "value_sets",
}


def build_key(recipe: Recipe, tools: Sequence[Tool]) -> str:
    """Return the name of a build: the same for the same recipe, models, tools and prompts.

    Checks have no part in it: they make nothing. Which versions of them a build has met stands in
    `build_checks`.
    """
    body = recipe.model_dump(mode="json", include=_NAMED)
    body |= {"checks": _thresholds_of(recipe.checks)} | _landing_of(recipe)
    if recipe.is_voiced:
        body["voices"] = {"personas": [*recipe.spoken_personas], "styles": [*recipe.styles]}
    if any(kind_named(name).traits.is_task for wave in waves(recipe) for name in wave):
        body["worlds"] = recipe.worlds
    if recipe.values:
        body["values"] = recipe.own_values
    if recipe.shown_examples:
        body["examples"] = recipe.shown_examples
    judging = (CHECK_TABLE.table, METRICS.table)
    if making := [one for one in recipe.extensions if one.table not in judging]:
        body["extensions"] = sorted([one.name, one.digest] for one in making)
    if recipe.sources:
        body["sources"] = [[source_key(recipe, one), one.take, *one.by] for one in recipe.sources]
    if recipe.avoid:
        body["avoid"] = [
            [one.format, files_key(one.paths), one.likeness, *one.by] for one in recipe.avoid
        ]
    if message := recipe.system_message:
        body["system_message"] = message if isinstance(message, str) else [*message]
    if recipe.policies:
        body["policies"] = [one.model_dump(mode="json") for one in recipe.policies]
    groups = {kind_named(name).group for wave in waves(recipe) for name in wave}
    with own_prompts(recipe.own_prompts):
        versions = [version_of(stage) for stage in all_stages() if stage.group in groups]
    models = {name: [model.name, *map(list, model.options)] for name, model in roles_of(recipe)}
    as_stated = ServerSettings | SimulatedSettings
    environments = [
        one.stated if isinstance(one, as_stated) else one.model_dump(mode="json")
        for one in environments_of(recipe)
    ]
    body = {
        "version": BUILD_VERSION,
        "recipe": body,
        "models": models,
        "tools": sorted(tool.key for tool in tools),
        "environments": environments,
        "stages": versions,
    }
    return content_key(body)


def _thresholds_of(checks: Checks) -> dict[str, JsonValue]:
    """Return the thresholds that make a difference to what a build makes."""
    thresholds: dict[str, JsonValue] = checks.model_dump(mode="json")
    if checks.repeated == "tell":
        del thresholds["largest_opening"], thresholds["largest_skeleton"], thresholds["repeated"]
    if checks.reworded_duplicate == Checks.model_fields["reworded_duplicate"].default:
        # builds from before this was a setting keep their name
        del thresholds["reworded_duplicate"]
    return thresholds


def _landing_of(recipe: Recipe) -> dict[str, JsonValue]:
    """Return what lands without people, where the recipe says it.

    What has landed stays, so a build that asks for more is another one.
    """
    landing_settings: dict[str, JsonValue] = {}
    if recipe.land != Recipe.model_fields["land"].default:
        landing_settings["land"] = recipe.land
    if accept := recipe.accept.model_dump(exclude_defaults=True):
        landing_settings["accept"] = (
            accept["wrong_at_most"] if [*accept] == ["wrong_at_most"] else accept
        )
    return landing_settings


class Unchanged(NamedTuple):
    """A build that ended, and of which nothing has changed since: what it made, and when."""

    report: BuildReport
    finished_at: datetime

    @property
    def sentence(self) -> str:
        """A sentence that says why there is nothing to do."""
        return (
            "Nothing to do: recipe, tools, models, prompts and checks have not changed since build "
            f"{self.report.build} finished, {self.finished_at:%Y-%m-%d %H:%M}."
        )


def find_unchanged(recipe: Recipe, settings: Settings, progress: Progress) -> Unchanged | None:
    """Return the finished build that this recipe names as things stand now, None where none is."""
    warehouse = open_warehouse(settings)
    query = (
        "select key, finished_at from builds where recipe = ? and finished_at is not null and (? or"
        " not is_trial)"
    )
    rows = warehouse.rows(query, [recipe.name, recipe.trial])
    ended = {row["key"]: row["finished_at"] for row in rows}
    if not ended:
        return None
    try:
        recipe = with_catalogs(recipe, warehouse)
        toolbox = gather_tools(
            recipe, warehouse, made_tools(recipe, settings), environment_tools(recipe, settings)
        )
        tools = (*toolbox.tools, *taken_tools(recipe, settings))
    except ConfigurationError:  # tools are not made yet, or the build itself will tell it better
        return None
    key = build_key(with_pools(recipe, toolbox.tools, warehouse), tools)
    has_ended = key in ended and met_checks(warehouse, key) == todays_checks(recipe.own_prompts)
    if not has_ended or _lacking_readings(warehouse, key, recipe):
        return None
    return Unchanged(report_build(reopen_build(key, settings, progress)), ended[key])
