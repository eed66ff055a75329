"""The tools for agents: what the command line does, by the same functions, in one folder.

A tool's docstring is what a model reads of it. Its keyword parameters are those of its schema.
"""

from collections.abc import Callable, Coroutine, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from callwright.flows.agents.answers import (
    AgentAnswer,
    AuditedSource,
    BuiltSamples,
    EstimatedBuild,
    EvaluatedModels,
    FoundProblem,
    FoundRows,
    FoundSample,
    FoundSamples,
    FrozenRelease,
    KindTrial,
    PreviewedSample,
    PreviewedSamples,
    RecipeFindings,
    ToolFindings,
    WrittenExport,
    WrongAnswer,
    plain,
)
from callwright.flows.agents.folder import AgentFolder
from callwright.flows.api.surroundings import ProgressStep, opened_progress, settings_of
from callwright.flows.options import Option
from callwright.flows.settings import reading
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql


class AgentWork(NamedTuple):
    """What a tool works with: the agent's folder, and who is told of progress."""

    folder: AgentFolder
    tell: Callable[[ProgressStep], object]


_SECONDS = 60.0  # that a query may take
_FEW, _MANY = 20, 1000
Rows = Annotated[int, Option(least=1, most=_MANY)]


async def check_tools(
    work: AgentWork, *, files: Sequence[str], try_samples: bool = True
) -> ToolFindings:
    """Find out which kinds of samples tools allow, and what is wrong with the tools.

    The first step with a new API. It makes a sample of each kind aside, with a template model that
    needs no key, and keeps none.

    Args:
        files: Files of tools below the folder (OpenAPI, MCP's or OpenAI's list of tools), or the
            name of a catalog, or "seed" for the tools that come with callwright.
        try_samples: Make a sample of each kind. false is faster.
    """
    from callwright.flows.planning import checking_tools
    from callwright.generators.catalogs.catalog import weightiest_first

    settings = settings_of(None)
    words = [work.folder.path_or_name(one) for one in files]
    recipe = checking_tools.recipe_of_tools(words, settings)
    with opened_progress(work.tell) as progress:
        found = await checking_tools.check_tools(
            recipe, settings, progress, with_samples=try_samples
        )
    tried = {one.kind: one for one in found.tried}
    names = dict.fromkeys(tool.name for tool in found.survey.tools)
    return ToolFindings(
        tools=[*names],
        kinds=[
            KindTrial(
                kind=row.kind,
                usable_tools=row.usable,
                tools=row.tools,
                has_landed=bool(tried[row.kind].landed) if row.kind in tried else None,
                reason=(tried[row.kind].reason if row.kind in tried else "") or row.reason,
            )
            for row in found.kinds
        ],
        values_to_fill=[f"{one.parameter}: {one.description}" for one in found.values],
        constants_to_fix=[one.sentence(len(names)) for one in found.constants],
        problems=[f"{one.where}: {one.message}" for one in weightiest_first(found.problems)],
    )


async def check_recipe(work: AgentWork, *, recipe: str) -> RecipeFindings:
    """List every mistake of a recipe with its line, and what its tools do not allow.

    Args:
        recipe: The recipe, a YAML file below the folder.
    """
    return await _findings(work.folder, recipe)


async def _findings(folder: AgentFolder, recipe: str) -> RecipeFindings:
    from callwright.flows.planning.possible import problems_of_recipe

    checked = folder.check_recipe(recipe)
    problems = await problems_of_recipe(folder.path(recipe), checked, settings_of(None))
    mistakes = [str(one) for one in problems if not one.is_remark]
    remarks = [str(one) for one in problems if one.is_remark]
    return RecipeFindings(is_valid=not mistakes, mistakes=mistakes, remarks=remarks)


async def write_recipe(work: AgentWork, *, recipe: str, text: str) -> RecipeFindings:
    """Write a recipe, which says what to build, and list what is wrong with it.

    A recipe is YAML. It needs a name, tools and samples, and names models for real use:

        name: shop
        tools:
          - {environment: simulated, import: openapi, path: api.yaml}
        samples: {perfect: 20, imperfect: 10, irrelevant: 5, sQsA: 5, parallel: 5, multi_step: 5}
        models: {generator: PROVIDER/MODEL, checker: PROVIDER/OTHER, judge: PROVIDER/OTHER}

    `check_tools` lists the kinds of samples. Without `models` a template words all requests, which
    is for trying out. Paths are relative to the recipe.

    Args:
        recipe: The file to write, .yaml or .yml, below the folder. An older recipe is replaced.
        text: The recipe.
    """
    path = work.folder.path(recipe)
    if path.suffix not in (".yaml", ".yml"):
        raise ConfigurationError(f"{recipe!r} is no name of a recipe: it ends in .yaml.")
    old = _text_of(path)
    if old and "\nsamples:" not in f"\n{old}":
        raise ConfigurationError(f"{recipe!r} is no recipe. Name another file.")
    work.folder.require_plain(text, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return await _findings(work.folder, recipe)


def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


async def estimate(
    work: AgentWork, *, recipe: str, limit: int = 0, model: str = ""
) -> EstimatedBuild:
    """Estimate the calls, tokens, cost and time of a build. No model is asked.

    Args:
        recipe: The recipe, a YAML file below the folder.
    """
    from callwright.flows.planning.estimating import estimate_build

    chosen = work.folder.recipe(recipe).as_asked(limit=limit, model=model)
    found = await estimate_build(chosen, settings_of(None))
    return EstimatedBuild(
        sentence=found.sentence,
        planned=found.planned,
        calls=found.calls,
        prompt_tokens=found.prompt_tokens,
        reply_tokens=found.reply_tokens,
        dollars=found.dollars,
        seconds=found.seconds,
        notes=[*found.notes],
    )


async def preview(
    work: AgentWork, *, recipe: str, count: int = 2, model: str = ""
) -> PreviewedSamples:
    """Make and show samples of each kind, and keep none. Look at them before you build.

    Models are asked, which costs what `estimate` says for so many; a build pays for none of it
    again.

    Args:
        recipe: The recipe, a YAML file below the folder.
        count: How many samples of each kind.
    """
    from callwright.flows.api.building import preview_async

    chosen = work.folder.recipe(recipe).as_asked(model=model)
    shown = await preview_async(chosen, count, settings_of(None), work.tell)
    return PreviewedSamples(
        samples=[
            PreviewedSample(
                kind=one.kind,
                language=one.language,
                conversation=one.conversation or [one.request],
                proved=one.proved,
                problems=one.problems,
            )
            for one in shown
        ]
    )


async def build(work: AgentWork, *, recipe: str, limit: int = 0, model: str = "") -> BuiltSamples:
    """Build the samples of a recipe and check each. What lands is accepted.

    It may take long and cost what `estimate` says. A build that was stopped goes on where it
    stopped when it is called again. Samples that wait need people: the user sends them to
    reviewers with `callwright review push`.

    Args:
        recipe: The recipe, a YAML file below the folder.
    """
    from callwright.flows.api.building import build_async

    chosen = work.folder.recipe(recipe)
    report = await build_async(chosen, limit=limit, model=model, workers=None, progress=work.tell)
    return BuiltSamples(
        build=report.build,
        recipe=report.recipe,
        asked=report.asked,
        planned=report.planned,
        accepted=report.landed,
        waiting=report.waiting,
        is_trial=report.is_trial,
        sentence=report.emptiness or report.sentence,
        remarks=[*report.remarks],
        kinds=plain(report.composition),
        funnel=plain(report.worked),
    )


async def funnel(work: AgentWork, *, recipe: str = "") -> FoundRows:
    """Show what each stage of the newest builds did with what came to it.

    entered = passed + rejected + failed + waiting. The reasons stand in the views failures and
    rejections: query "select stage, reason, count(*) from failures group by all".

    Args:
        recipe: The `name` that the recipe states. Default: all recipes.
    """
    with reading(settings_of(None)) as warehouse:
        rows = warehouse.rows(sql("agents.funnel"), [recipe, recipe])
    if not rows:
        named = f"the recipe {recipe!r}" if recipe else "any recipe"
        raise ConfigurationError(f"There is no build of {named} yet.")
    columns = [*rows[0]]
    return FoundRows(columns=columns, rows=plain([[*one.values()] for one in rows]), has_more=False)


async def samples(work: AgentWork, *, where: str = "", limit: Rows = _FEW) -> FoundSamples:
    """Show accepted samples: the request, the calls that are due, and how they are proved.

    Args:
        where: An SQL condition on the view accepted_samples, such as kind = 'perfect' and
            grade = 'judged'.
        limit: At most so many.
    """
    from callwright.flows.api.releases import samples as accepted

    found = [*islice(accepted(where), limit + 1)]
    return FoundSamples(
        samples=[
            FoundSample(
                key=one.key,
                kind=one.sample.kind,
                language=one.sample.language,
                grade=one.grade,
                request=one.request,
                calls=[{"tool": call.tool, "arguments": call.arguments} for call in one.calls],
                tools=[tool.name for tool in one.candidates],
            )
            for one in found[:limit]
        ],
        has_more=len(found) > limit,
    )


async def query(
    work: AgentWork,
    *,
    sql: str,
    limit: Rows = 100,
    timeout: Annotated[float, Option(least=0.1, most=300)] = _SECONDS,
) -> FoundRows:
    """Run a query in DuckDB's SQL on all that was built, reviewed and evaluated. Read only.

    Begin with `show tables`, then `describe accepted_samples`. Useful views: accepted_samples,
    funnel, failures, rejections, review_queue, findings, leaderboard, costs.

    Args:
        sql: One query. It can change nothing and read no other file.
        limit: At most so many rows.
        timeout: Stop it after so many seconds.
    """
    with reading(settings_of(None)) as warehouse:
        columns, rows = warehouse.query(sql, timeout, limit + 1)
    return FoundRows(columns=columns, rows=plain(rows[:limit]), has_more=len(rows) > limit)


async def audit(
    work: AgentWork,
    *,
    files: Sequence[str],
    format: str = "",  # noqa: A002 - the option's name
    model: Sequence[str] = (),
    limit: int = 0,
    show: Rows = _FEW,
) -> AuditedSource:
    """Find what speaks against the gold calls of a data set: files, or a release.

    Code looks at types, choices, amounts, units and days; models named in `model` also read each
    request without knowing the gold, which costs. Findings are kept: query the view findings.

    Args:
        files: Files or folders of one format below the folder, or the name of one release.
        show: How many findings are shown, the gravest first.
    """
    from callwright.flows.api.auditing import audit_async
    from callwright.flows.data_audit.reports import counts_of
    from callwright.generators.imports.reading import SOURCES

    if format:
        SOURCES.named(format)
    paths = [Path(work.folder.path_or_name(one)) for one in files]
    found = await audit_async(
        paths, format=format, model=work.folder.models(model), limit=limit, progress=work.tell
    )
    return AuditedSource(
        audit=found.key,
        source=found.source,
        format=found.form,
        records=found.records,
        unreadable=found.unreadable,
        has_failed=found.failed,
        counts=plain([one._asdict() | {"precision": None} for one in counts_of(found)]),
        findings=[
            FoundProblem(**{name: getattr(one, name) for name in FoundProblem.model_fields})
            for one in islice(found, show)
        ],
    )


async def releases(work: AgentWork) -> FoundRows:
    """List the releases, newest first, with their sizes and content hashes."""
    from callwright.warehouse.releases import list_releases

    columns = ["name", "version", "samples", "content_hash", "created_at", "note"]
    with reading(settings_of(None)) as warehouse:
        rows = [[getattr(one, name) for name in columns] for one in list_releases(warehouse)]
    return FoundRows(columns=columns, rows=plain(rows), has_more=False)


async def create_release(
    work: AgentWork,
    *,
    name: str,
    recipes: Sequence[str] = (),
    kinds: Sequence[str] = (),
    languages: Sequence[str] = (),
    where: str = "",
    splits: str = "",
    note: str = "",
) -> FrozenRelease:
    """Freeze the accepted samples of the newest whole builds under a name.

    Later builds do not change it.

    Args:
        name: The name of the release, such as v1.
        recipes: Only samples of recipes with these names.
    """
    from callwright.flows.api import releases as api

    made = api.create_release(
        name,
        recipes=recipes,
        kinds=kinds,
        languages=languages,
        where=where,
        splits=splits,
        note=note,
    )
    frozen = made.created
    return FrozenRelease(
        name=frozen.release.name,
        version=frozen.release.version,
        samples=frozen.release.samples,
        content_hash=frozen.release.content_hash,
        kinds=made.count_kinds(),
        splits=dict(frozen.splits),
        left_out=[
            f"{one.landed - one.taken} of build {one.build}: {one.left_out}"
            for one in frozen.selected.builds
            if one.left_out
        ],
    )


async def evaluate(
    work: AgentWork,
    *,
    release: str,
    model: Sequence[str] = (),
    recipe: str = "",
    strategy: str = "direct",
    split: str = "",
    runs: int = 1,
    budget: float | None = None,
    show: Rows = 10,
) -> EvaluatedModels:
    """Ask models for the calls that are due in a release, and score their answers.

    It costs what the models cost: name a budget in dollars.

    Args:
        release: The name of the release.
        model: Candidates, by litellm's names of models. template/v1 needs no key.
        recipe: Evaluate the candidates of this recipe, a YAML file below the folder.
        show: How many wrong answers are shown.
    """
    from callwright.flows.api.evaluating import evaluate_async
    from callwright.flows.evaluation.evaluation_run import candidates_of

    candidates = candidates_of(
        work.folder.models(model), work.folder.recipe(recipe) if recipe else None
    )
    found = await evaluate_async(
        release,
        candidates,
        strategy=strategy,
        split=split,
        runs=runs,
        budget=budget,
        progress=work.tell,
    )
    asked = {*found.candidates}
    boards = [*found.leaderboard, *found.domains, *found.answers]
    rows = [row for row in boards if row["candidate"] in asked]
    return EvaluatedModels(
        sentence=f"{', '.join(found.candidates)} on {release}, {len(found.failures)} failures.",
        candidates=[*found.candidates],
        leaderboard=plain(
            [{name: one for name, one in row.items() if one is not None} for row in rows]
        ),
        failures=[
            WrongAnswer(**{name: getattr(one, name) for name in WrongAnswer.model_fields})
            for one in found.failures[:show]
        ],
    )


async def export(
    work: AgentWork,
    *,
    release: str,
    to: str,
    out: str = "",
    kinds: Sequence[str] = (),
    with_template: bool = False,
) -> WrittenExport:
    """Write a release in the format of those who train on it or evaluate with it.

    Args:
        release: The name of the release.
        to: The format: atif, bfcl, hf, inspect, openai, parquet, promptfoo, records, sharegpt, trl,
            trl-dpo, verifiers or another one; a wrong name is answered with all of them.
        out: The folder to write, below the folder. Default: exports/RELEASE-FORMAT.
    """
    from callwright.flows.api.releases import load_release
    from callwright.warehouse.exports.formats import EXPORTS

    EXPORTS.named(to)
    target = work.folder.path(out or f"exports/{release}-{to}")
    written = load_release(release).export(
        to, target, kinds=kinds, with_template=with_template, progress=work.tell
    )
    return WrittenExport(
        files=[str(one) for one in written.files],
        rows=written.rows,
        splits={name or "all": rows for name, rows in written.splits.items()},
        left_out=[f"{one.number} {one.kind}: {one.reason}" for one in written.skipped],
    )


class AgentTool(NamedTuple):
    """A tool: what it runs, whether it changes anything, and whose options it takes.

    What `changes` writes to the folder or asks models, which may cost.
    """

    run: Callable[..., Coroutine[Any, Any, AgentAnswer]]
    changes: bool = False
    options: type | None = None

    @property
    def name(self) -> str:
        """The name that a model calls it by."""
        return self.run.__name__


def agent_tools() -> tuple[AgentTool, ...]:
    """Return all tools, in the order of a data set's way."""
    from callwright.flows.api.options import (
        BuildOptions,
        DataAuditOptions,
        EvaluationOptions,
        ExportOptions,
        ReleaseOptions,
    )

    return (
        AgentTool(check_tools),
        AgentTool(write_recipe, changes=True),
        AgentTool(check_recipe),
        AgentTool(estimate, options=BuildOptions),
        AgentTool(preview, changes=True, options=BuildOptions),
        AgentTool(build, changes=True, options=BuildOptions),
        AgentTool(funnel),
        AgentTool(samples),
        AgentTool(query),
        AgentTool(create_release, changes=True, options=ReleaseOptions),
        AgentTool(releases),
        AgentTool(evaluate, changes=True, options=EvaluationOptions),
        AgentTool(export, changes=True, options=ExportOptions),
        AgentTool(audit, changes=True, options=DataAuditOptions),
    )
