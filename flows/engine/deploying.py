"""Prefect servers: register recipes and the review loop, build with one, and start a local one."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast
from uuid import UUID

import callwright.flows
from callwright.annotation.studio.server import (
    HOST,
    Places,
    end,
    free_port,
    greeting,
    launch,
    only_one,
    serving_process,
    wait_for,
)
from callwright.flows.api.options import BuildOptions
from callwright.flows.loops import run_loop
from callwright.flows.progress import Progress, SilentProgress
from callwright.flows.recipe import Recipe, read_recipe
from callwright.flows.settings import (
    QUIET,
    Settings,
    environment,
    hush_prefect,
    read_settings,
    use_prefect,
)
from callwright.warehouse.errors import CallwrightError, ConfigurationError
from callwright.warehouse.extras import require_extra

if TYPE_CHECKING:
    from callwright.flows.run.land import BuildReport
    from callwright.flows.scheduled_runs import Grown

_FLOWS = "flows/engine/prefect_flows.py"
PROCESS = "process"  # the type of the pools that are made here
Result = TypeVar("Result")


class Deployed(NamedTuple):
    """A deployment: its full name, its schedule ("" if none), and the URL of its page."""

    name: str
    schedule: str
    timezone: str
    url: str


def build_with_prefect(
    recipe: Path, options: BuildOptions, progress: Progress | None = None
) -> "BuildReport":
    """Run the build as a Prefect flow in this process.

    Raises what the plain build raises, and CallwrightError if the Prefect server does not
    answer.
    """
    hush_prefect()
    api = require_server(read_settings())
    with explained_errors(api):
        from callwright.flows.engine.prefect_flows import build_dataset
        from callwright.flows.engine.running import run_by_the_command_line

        with run_by_the_command_line(progress or SilentProgress()):
            return run_loop(build_dataset(str(recipe.absolute()), review=False, **options))


def grow_with_prefect(recipe: Path, due: datetime, progress: Progress) -> "Grown":
    """Carry out a run of a recipe's schedule as a Prefect flow in this process.

    Raises what the run itself raises, and CallwrightError if the Prefect server does not answer.
    """
    hush_prefect()
    api = require_server(read_settings())
    with explained_errors(api):
        from callwright.flows.engine.prefect_flows import grow_dataset
        from callwright.flows.engine.running import run_by_the_command_line

        with run_by_the_command_line(progress):
            return run_loop(grow_dataset(str(recipe.absolute()), due=due, review=False))


def in_a_run(
    settings: Settings,
    flow: str,
    about: str,
    work: Callable[[Progress], Result],
    progress: Progress,
) -> Result:
    """Do some work as a Prefect run in this process if the settings name a server.

    `work` is given its progress. Its result is shown in the run as deployed flows of that name
    show it. Raises what the work raises, and CallwrightError if the server does not answer.
    """
    if not settings.prefect_api_url:
        return work(progress)
    hush_prefect()
    api = require_server(settings)
    with explained_errors(api):
        import prefect
        from prefect.states import Failed

        from callwright.flows.engine.later_tries import tell_failure
        from callwright.flows.engine.running import (
            FlowProgress,
            run_by_the_command_line,
            show_result,
        )

        @prefect.flow(
            name=flow, flow_run_name=about.replace("{", "(").replace("}", ")"), persist_result=False
        )
        def carried_out() -> Any:  # noqa: ANN401 - the work's own result, which Prefect must not check
            try:
                found = work(FlowProgress())
            except CallwrightError as error:
                # Prefect raises the error itself at the caller.
                return Failed(message=run_loop(tell_failure(error, again=None)), data=error)
            run_loop(show_result(found, settings))
            return found

        with run_by_the_command_line(progress):
            return cast("Result", carried_out())


def deploy_recipes(recipes: Sequence[Path], pool: str) -> list[Deployed]:
    """Register one deployment per recipe on a work pool, scheduled by its cron line.

    Doing so again updates it. The last deployment is that of the review loop, which pulls at the
    settings' interval in minutes. Without PREFECT_API_URL they go to the work folder's own server,
    if it is running. Raises ConfigurationError if there is no Prefect server or two recipes share a
    name, CallwrightError if the server does not answer.
    """
    settings = read_settings()
    if not settings.prefect_api_url and (local := running_prefect(settings)) is not None:
        use_prefect(local.api, client_folder(settings))
        settings = read_settings()
    read = [(path.absolute(), read_recipe(path)) for path in recipes]
    names = Counter(recipe.name for _, recipe in read)
    doubled = sorted(name for name, count in names.items() if count > 1)
    if doubled:
        raise ConfigurationError(
            f"Several of these recipes are named {', '.join(map(repr, doubled))}. Deployments are "
            "named after their recipes, so give each recipe its own name."
        )
    hush_prefect()
    api = require_server(settings)
    with explained_errors(api):
        return run_loop(_deploy(read, pool, settings))


async def _deploy(
    recipes: Sequence[tuple[Path, Recipe]], pool: str, settings: Settings
) -> list[Deployed]:
    from prefect.schedules import Cron
    from prefect.utilities.urls import url_for

    await _process_pool(pool)
    deployed = []
    for path, recipe in recipes:
        cron, timezone = (
            (recipe.schedule.cron, recipe.schedule.timezone) if recipe.schedule else ("", "")
        )
        parameters: dict[str, object] = {"recipe": str(path), "review": True}
        grows = recipe.schedule is not None and recipe.schedule.each is not None
        verb, other = ("grow", "build") if grows else ("build", "grow")
        if not grows:
            parameters |= {"limit": 0, "model": ""}
        name = f"{verb}-{recipe.name}"
        # none takes away what was there before
        identifier = await _apply(
            f"{_FLOWS}:{verb}_dataset",
            pool,
            settings,
            name=name,
            parameters=parameters,
            concurrency_limit=1,
            schedules=([Cron(cron, timezone=timezone)] if cron else []),
            description=recipe.description,
        )
        # Another rule of the schedule, or an earlier callwright, has deployed it by another name.
        await _remove(f"{other}-dataset/{other}-{recipe.name}", f"build-dataset/{recipe.name}")
        url = url_for("deployment", identifier) or ""
        deployed.append(Deployed(f"{verb}-dataset/{name}", cron, timezone, url))
    return [*deployed, await _deploy_pulling(pool, settings)]


async def _deploy_pulling(pool: str, settings: Settings) -> Deployed:
    """Deploy this work folder's review loop: pull decisions, then push what waits by then."""
    from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
    from prefect.schedules import Interval
    from prefect.utilities.urls import url_for

    # It bears the work folder's name; of one that is hidden in a project's folder, the project's.
    named = next((part for part in reversed(settings.home.parts) if not part.startswith(".")), "")
    folder, every = named.strip("/"), settings.review_every
    name = f"pull-reviews-of-{folder}" if folder else "pull-reviews"
    # A pull takes what the ones before it missed: after a night without a worker one is enough.
    one_run = ConcurrencyLimitConfig(
        limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW
    )
    identifier = await _apply(
        f"{_FLOWS}:pull_reviews",
        pool,
        settings,
        name=name,
        parameters={"required": False},
        concurrency_limit=one_run,
        schedules=[Interval(timedelta(minutes=every))] if every else [],
        description="What people decided in Label Studio, and what they are asked next.",
    )
    await _remove(f"pull-reviews/{folder or 'reviews'}")
    when = f"every {every:g} minutes" if every else ""
    return Deployed(f"pull-reviews/{name}", when, "", url_for("deployment", identifier) or "")


async def _apply(entrypoint: str, pool: str, settings: Settings, **options: Any) -> UUID:  # noqa: ANN401 - Prefect's own options
    """Create or update a deployment of the flow at `entrypoint`."""
    from prefect import Flow

    source = str(Path(callwright.flows.__file__).parent.parent)
    settings.home.mkdir(parents=True, exist_ok=True)
    # its type hides that it can be awaited
    loading: Any = Flow.from_source(source=source, entrypoint=entrypoint)
    flow = await loading
    # Not `flow.deploy`: it also asks for the pool's workers, in a way that newer servers refuse.
    # A run starts in the work folder: beside our folders, `import llm` would find ours for
    # anybody's. It is given this besides the worker's own environment; keys and tokens stay there.
    own = {"CALLWRIGHT_HOME": str(settings.home), "DO_NOT_TRACK": QUIET["DO_NOT_TRACK"]}
    variables = {"env": own, "working_dir": str(settings.home)}
    making: Any = flow.to_deployment(
        tags=["callwright"], job_variables=variables, work_pool_name=pool, **options
    )
    applying: Any = (await making).apply()
    identifier: UUID = await applying
    return identifier


async def _remove(*names: str) -> None:
    """Remove deployments by their full names, where there are any."""
    from prefect import get_client
    from prefect.exceptions import ObjectNotFound

    async with get_client() as client:
        for name in names:
            with suppress(ObjectNotFound):
                found = await client.read_deployment_by_name(name)
                await client.delete_deployment(found.id)


async def _process_pool(name: str) -> None:
    """Create a process pool unless it exists.

    Raises ConfigurationError if the pool is of another type.
    """
    from prefect import get_client
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.exceptions import ObjectAlreadyExists
    from prefect.workers.process import ProcessWorker

    async with get_client() as client:
        with suppress(ObjectAlreadyExists):
            # With its template at hand, nobody has to look it up in a registry on the network.
            template = ProcessWorker.get_default_base_job_template()
            await client.create_work_pool(
                WorkPoolCreate(name=name, type=PROCESS, base_job_template=template)
            )
        found = await client.read_work_pool(name)
    if found.type != PROCESS:
        raise ConfigurationError(
            f"The work pool {name!r} is of the type {found.type!r}, and a build runs on a"
            f" {PROCESS!r} pool. Name another with --pool; one that does not exist is made."
        )


_PATIENCE = 180.0
_OK = 200


class PrefectServer(NamedTuple):
    """A running Prefect server: `url` is its UI, `api` the value for PREFECT_API_URL."""

    url: str
    api: str
    pid: int


def start_prefect(settings: Settings, say: Callable[[str], None]) -> PrefectServer:
    """Return the Prefect server of this work folder, after starting it if needed.

    Raises CallwrightError with the end of the log if it doesn't start.
    """
    places = _places(settings)
    places.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with only_one(places, _PATIENCE):
        if serving_process(places) is None:
            say("Starting a Prefect server.")
            chosen = places.folder / "port"
            last = chosen.read_text(encoding="utf-8") if chosen.exists() else ""
            port = free_port(int(last) if last.isdecimal() else 0, places.title)
            chosen.write_text(str(port), encoding="utf-8")
            serve = [
                sys.executable,
                "-m",
                "prefect",
                "server",
                "start",
                "--host",
                HOST,
                "--port",
                str(port),
            ]
            inherited = {
                name: value
                for name, value in environment().items()
                if not name.startswith("PREFECT_")
            }
            launch(places, serve, port, inherited | _own_environment(places.data, port))
        return _server(*wait_for(places, _answers, _PATIENCE))


def client_folder(settings: Settings) -> Path:
    """Return where Prefect's client keeps its files when it speaks to the folder's own server."""
    return settings.home / "prefect" / "client"


def running_prefect(settings: Settings) -> PrefectServer | None:
    """Return the Prefect server of this work folder if it answers, else None."""
    found = serving_process(_places(settings))
    return _server(*found) if found and _answers(found[1]) else None


def stop_prefect(settings: Settings) -> bool:
    """Stop the Prefect server of this work folder; whether there was one."""
    return end(_places(settings))


def _own_environment(home: Path, port: int) -> dict[str, str]:
    """Return the server's own environment: its folder, its pages' API URL, no outside services."""
    # its pages ask amplitude.com, whatever is set below
    return {
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_UI_API_URL": f"http://{HOST}:{port}/api",
        "PREFECT_SERVER_UI_V2_ENABLED": ("false"),
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_LOGGING_LEVEL": "WARNING",
        "DO_NOT_TRACK": "1",
    }


def _places(settings: Settings) -> Places:
    return Places(settings.home / "prefect", "Prefect server")


def _answers(port: int) -> bool:
    return greeting(f"http://{HOST}:{port}", "/api/health") == _OK


def _server(pid: int, port: int) -> PrefectServer:
    url = f"http://{HOST}:{port}"
    return PrefectServer(url, f"{url}/api", pid)


_ANSWER_PATIENCE = 10.0
_NOT_FOUND = 404


def require_server(settings: Settings) -> str:
    """Return the address of the Prefect server in the environment, once it has answered.

    Raises ConfigurationError if Prefect is not installed, or no valid address is set;
    CallwrightError if no server answers there.
    """
    require_extra("flows")
    import httpx

    api = settings.prefect_api_url
    if not api:
        raise ConfigurationError(
            "No Prefect server is set, and this work folder has none running. Start one with"
            " `prefect server start`, and set PREFECT_API_URL to its address."
        )
    try:
        status = httpx.get(f"{api.rstrip('/')}/health", timeout=_ANSWER_PATIENCE).status_code
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise ConfigurationError(
            f"PREFECT_API_URL is {api!r}, which is not a valid address. An example:"
            " 'http://127.0.0.1:4200/api'"
        ) from error
    except httpx.TransportError as error:
        raise CallwrightError(
            f"No Prefect server answers at {api!r}, the value of PREFECT_API_URL: {error}. Start it"
            " with `prefect server start`, or unset PREFECT_API_URL to build without Prefect."
        ) from error
    if status == _NOT_FOUND:
        raise ConfigurationError(
            f"PREFECT_API_URL is {api!r}, where something answers that is no Prefect API. Its"
            " address ends in '/api'."
        )
    return api


@contextmanager
def explained_errors(api: str) -> Iterator[None]:
    """Turn the errors of Prefect's client into CallwrightError; others pass unchanged."""
    import httpx
    from prefect.exceptions import PrefectException

    try:
        yield
    except httpx.TransportError as error:
        raise CallwrightError(
            f"The Prefect server at {api!r} stopped answering: {error!r}. Start it again, then run "
            "the same command again. Finished work is kept."
        ) from error
    except (httpx.HTTPStatusError, PrefectException) as error:
        raise CallwrightError(
            f"Prefect at {api!r} refused the request: {error}. Finished work is kept; run the same "
            "command again to continue."
        ) from error
