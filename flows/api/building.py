"""Recipes, builds, previews and checks from Python: `make_recipe`, `build`, `preview` and more."""

import re
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from itertools import groupby, islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar, Unpack, assert_never

import orjson
from pydantic import BaseModel

from callwright.flows.api.options import BuildOptions
from callwright.flows.api.surroundings import (
    ProgressReceiver,
    opened_progress,
    run,
    run_aside,
    settings_of,
)
from callwright.flows.catalogs import lend_catalogs, with_catalogs
from callwright.flows.data_checks import (
    CheckedRecordLine,
    CheckedRequest,
    Rows,
    find_records,
    find_requests,
)
from callwright.flows.options import Option, described, with_options
from callwright.flows.planning.estimating import tell_costs
from callwright.flows.progress import Progress
from callwright.flows.recipe import Recipe, parse_recipe, read_recipe_to_build
from callwright.flows.run.land import BuildReport
from callwright.flows.run.plan import build_dataset
from callwright.flows.run.work import check_keys
from callwright.flows.settings import Settings, open_warehouse
from callwright.generators.catalogs.python_tools import ToolSeed
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import CallTurn, ReplyTurn, ResultTurn, Sample, Tool, UserTurn

RecipeFile = Recipe | Path | str
_OPENAPI = re.compile(
    r'^\s*"?(?:openapi|swagger)"?\s*:|[{,]\s*"(?:openapi|swagger)"\s*:', re.MULTILINE
)


def make_recipe(
    name: str,
    *,
    tools: Iterable[ToolSeed | Path | Mapping[str, Any]],
    samples: Mapping[str, int],
    **settings: Any,  # noqa: ANN401
) -> Recipe:
    """A recipe made of objects; `settings` are those of a recipe's file, such as `models`.

    A tool is a function with annotations, a pydantic model, a `Tool`, OpenAI's document of one, the
    path of a file of tools (OpenAPI, MCP or OpenAI's list), or a source as a file has it: `{"seed":
    ["Weather"]}`. `samples` counts each kind.

        >>> def get_weather(city: str) -> str:
        ...     '''Tell the weather of a city.'''
        >>> own = [get_weather, {"seed": "all"}]
        >>> recipe = make_recipe("mine", tools=own, samples={"perfect": 9})
        >>> recipe.samples, recipe.tools[0].own[0].name
        ({'perfect': 9}, 'get_weather')

    Raises ConfigurationError that names everything that is wrong, as `callwright recipe check` does
    for a file.
    """
    stated = {"name": name, "tools": _sources(tools), "samples": dict(samples)}
    return parse_recipe(
        stated | {key: _plain(value) for key, value in settings.items()},
        Path.cwd(),
        f"recipe {name}",
    )


def _sources(tools: Iterable[ToolSeed | Path | Mapping[str, Any]]) -> list[object]:
    """Return the sources of a recipe; the tools given directly form one, at the first's place."""
    sources: list[object] = []
    own: list[object] = []
    for tool_source in tools:
        if isinstance(tool_source, Path):
            sources.append({"import": _form_of(tool_source), "path": str(tool_source)})
        elif (
            isinstance(tool_source, Tool)
            or callable(tool_source)
            or (isinstance(tool_source, Mapping) and _is_tool(tool_source))
        ):
            if not own:
                sources.append({"own": own})
            own.append(tool_source)
        else:
            sources.append(_plain(tool_source))
    return sources


def _is_tool(document: Mapping[str, Any]) -> bool:
    return "function" in document or ("name" in document and "environment" not in document)


def _form_of(path: Path) -> str:
    """Return the format of a file of tools. Raises ConfigurationError if it can't be read."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        problem = f"The tools in {str(path)!r} can't be read: {error.strerror}."
        raise ConfigurationError(problem) from error
    return "openapi" if _OPENAPI.search(text) else "mcp" if '"inputSchema"' in text else "openai"


def _plain(value: object) -> object:
    """Return a part of a recipe as its file holds it."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return value


def read_recipe(path: Path | str) -> Recipe:
    """Read a recipe from a YAML file, and check that the files of its tools exist.

        recipe = callwright.read_recipe("mine/recipe.yaml")
        recipe.samples                         # {'perfect': 20}

    Raises ConfigurationError that names each mistake with its line, and what was probably meant.
    """
    return read_recipe_to_build(Path(path))


@described
class PythonBuildOptions(BuildOptions, total=False):
    """Where a build takes place, and who is told of its progress.

    Args:
        home: The work folder. Default: CALLWRIGHT_HOME or .callwright.
        workers: The number of processes. Several run a script again, so such a call stands under
            `if __name__ == "__main__":`. None: as the environment says.
        progress: A function that is given each `ProgressStep`, or "terminal".
    """

    home: Path | str | None
    workers: Annotated[int | None, Option(1)]
    progress: ProgressReceiver


@with_options
def build(recipe: RecipeFile, **options: Unpack[PythonBuildOptions]) -> BuildReport:
    """Build a recipe's samples, going on where its last build stopped, and count what came of it.

        report = callwright.build("recipe.yaml", limit=5)
        report.landed, report.asked            # 14, 15
        report.funnel[0]                       # FunnelRow(stage='parameters', entered=15, …)

    Args:
        recipe: A recipe that was made or read, or its file.

    Raises ConfigurationError where the recipe or the environment is wrong, TransientError or
    BudgetError where it stopped before its end: what is done is kept, and the same call goes on
    from there. Money is in US dollars.
    """
    return run(_build(recipe, options))


@with_options
async def build_async(recipe: RecipeFile, **options: Unpack[PythonBuildOptions]) -> BuildReport:
    """Build as `build` does, without blocking the event loop; cancelling it stops the build.

        report = await callwright.build_async("recipe.yaml", progress=print)

    Raises what `build` raises.
    """
    return await run_aside(_build(recipe, options))


async def _build(recipe: RecipeFile, options: PythonBuildOptions) -> BuildReport:
    settings = settings_of(options["home"], workers=options["workers"])
    chosen = _read(recipe).as_asked(
        model=options["model"], limit=options["limit"], run=options["run"]
    )
    check_keys(chosen)
    with opened_progress(options["progress"]) as reporting:
        await tell_costs(chosen, settings, reporting)
        return await build_dataset(chosen, settings, reporting)


def _read(recipe: RecipeFile) -> Recipe:
    return recipe if isinstance(recipe, Recipe) else read_recipe(recipe)


class ShownSample(NamedTuple):
    """A sample for people to read; if it failed on the way, `problems` says why."""

    kind: str
    language: str
    request: str
    gold: list[dict[str, object]]
    conversation: list[str]
    proved: list[str]
    problems: list[str]


def preview(
    recipe: RecipeFile,
    count: int = 5,
    *,
    home: Path | str | None = None,
    model: str = "",
    workers: int | None = 1,
    progress: ProgressReceiver = None,
) -> list[ShownSample]:
    """Make `count` samples of each kind, keep none, but keep models' answers for the build.

        for shown in callwright.preview("recipe.yaml", 2):
            shown.kind, shown.request          # 'perfect', 'What is the weather in Ulm?'

    Raises what `build` raises.
    """
    settings = settings_of(home, workers=workers)
    return run(preview_async(_read(recipe).as_asked(model=model), count, settings, progress))


async def preview_async(
    recipe: Recipe, count: int, settings: Settings, progress: ProgressReceiver = None
) -> list[ShownSample]:
    """Make samples as `preview` does, on this event loop."""
    check_keys(recipe)
    with opened_progress(progress) as reporting:
        await tell_costs(recipe.with_preview(count), settings, reporting)
        return await preview_samples(recipe, count, settings, reporting)


Found = TypeVar("Found")


def check_requests(
    rows: Rows, *, model: str = "", home: Path | str | None = None
) -> list[CheckedRequest]:
    """Find what each request says of its call: values are said, derived, not_said, contradicted.

    `rows` are mappings with id, language, tool (or tools), arguments, request and optionally
    system and now; or a file of such lines. Without a `model` that reads it, a request is open
    or contradicted, never more. `home` keeps a model's answers.

        >>> schema = {"type": "object", "properties": {"city": {"type": "string"}}}
        >>> asked = {"id": "1", "language": "en", "request": "What is the weather in Ulm?"}
        >>> asked |= {"tool": {"name": "get_weather", "parameters": schema}}
        >>> [found] = check_requests([asked | {"arguments": {"city": "Ulm"}}])
        >>> found.decision, found.arguments
        ('open', {'city': 'said'})

    A row that is not a request is answered with the reason. Raises ConfigurationError if the
    file or the model is not available.
    """
    return run(_gathered(check_requests_async(rows, model=model, home=home)))


def check_requests_async(
    rows: Rows, *, model: str = "", home: Path | str | None = None
) -> AsyncIterator[CheckedRequest]:
    """Check requests as `check_requests` does, and yield each result as it is asked for.

    async for found in callwright.check_requests_async("requests.jsonl"):
        found.id, found.decision               # '1', 'open'
    """
    return find_requests(rows, model, settings_of(home))


def check_records(
    rows: Rows, *, model: str = "", home: Path | str | None = None
) -> list[CheckedRecordLine]:
    """Run today's checks on samples, whole or broken; their evidence is searched for again.

    `rows` are mappings as `export --to records` writes them (`KeptSample.record` is one), or a
    file of such lines.

        [found] = callwright.check_records([sample.record])
        found.decision, found.verdicts         # 'proved', [CheckVerdict(check='format', …), …]

    A row that is not a record gets a result with the reason. Raises ConfigurationError if the
    file can't be read or the model can't be used.
    """
    return run(_gathered(check_records_async(rows, model=model, home=home)))


def check_records_async(
    rows: Rows, *, model: str = "", home: Path | str | None = None
) -> AsyncIterator[CheckedRecordLine]:
    """Check records as `check_records` does, and yield each result as it is asked for.

    async for found in callwright.check_records_async("records.jsonl"):
        found.key, found.decision              # '5c1f…', 'proved'
    """
    return find_records(rows, model, settings_of(home))


async def _gathered(found: AsyncIterator[Found]) -> list[Found]:
    return [one async for one in found]


async def preview_samples(
    recipe: Recipe, count: int, settings: Settings, progress: Progress
) -> list[ShownSample]:
    """Make `count` samples of each kind in a temporary folder; model answers stay for the build."""
    with tempfile.TemporaryDirectory(prefix="callwright-preview-") as folder:
        aside = settings.aside(Path(folder))
        recipe = with_catalogs(recipe, open_warehouse(settings))
        warehouse = open_warehouse(aside)
        with warehouse.together():  # a file of its own, so nobody waits
            lend_catalogs(recipe, open_warehouse(settings), warehouse)
            report = await build_dataset(recipe.with_preview(count), aside, progress)
            samples = warehouse.rows(sql("previews.samples"))
            failures = warehouse.rows(
                "select stage, reason from failures where build = ?", [report.build]
            )
    if report.spending is not None and report.spending.tokens:
        progress.say(
            f"This preview made {count_of(report.spending.calls, 'call')} for"
            f" ${report.spending.cost:.4f}. A build reuses the answers and does not pay for them"
            " again."
        )
    shown = [
        row
        for _, same in groupby(samples, key=lambda row: row["kind"])
        for row in islice(same, count)
    ]
    whole = [
        ShownSample(
            row["kind"],
            row["language"],
            row["request"],
            orjson.loads(row["gold"]),
            list(_lines(Sample.model_validate_json(row["body"]))),
            row["proved"] or [],
            row["problems"] or [],
        )
        for row in shown
    ]
    lost = [
        ShownSample("failed", "", f"at the stage {row['stage']}", [], [], [], [row["reason"]])
        for row in failures
    ]
    return whole + lost


def sample_lines(shown: ShownSample) -> list[str]:
    """Return the sample as lines for a terminal."""
    rendered = shown.conversation or [shown.request]
    lines = [f"{shown.kind} {shown.language}".strip(), *(f"  {line}" for line in rendered)]
    if shown.proved:
        lines.append(f"  proved: {', '.join(shown.proved)}")
    return [*lines, *(f"  ! {problem}" for problem in shown.problems), ""]


def _lines(sample: Sample) -> Iterator[str]:
    """Yield a line for everything said, and one for the call that is due after it."""
    for turn in sample.turns:
        match turn:
            case UserTurn(text=text, external=external):
                yield f"user: {text}"
                if external is not None:
                    yield f"message ({external.app}): {external.text}"
            case ReplyTurn(text=text):
                yield f"assistant: {text}"
            case CallTurn(calls=()):
                yield "call: none (no tool fits)"
            case CallTurn(calls=calls):
                yield from (
                    f"call: {call.tool} {orjson.dumps(call.arguments).decode()}" for call in calls
                )
            case ResultTurn(results=results):
                yield from (f"result: {orjson.dumps(result).decode()}" for result in results)
            case _:
                assert_never(turn)
