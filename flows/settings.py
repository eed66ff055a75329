"""Settings from the environment; nothing else reads it."""

import atexit
import locale
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from callwright.flows.terminal_text import visible
from callwright.warehouse.errors import ConfigurationError, StoreError
from callwright.warehouse.waiting import PATIENCE

if TYPE_CHECKING:
    from callwright.warehouse.records import Language
    from callwright.warehouse.store import Warehouse

# Nothing may phone home: price maps, telemetry, model downloads and version checks are off unless
# somebody asks.
QUIET = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",  # or it reads any .env file above itself
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
    # numpy's: on matrices as small as ours its threads wait for each other most of the time
    "OPENBLAS_NUM_THREADS": ("1"),
}
# In a process of somebody else's: their own libraries keep their network and their threads.
LIBRARY_QUIET = {
    name: value for name, value in QUIET.items() if name.startswith(("LITELLM_", "PREFECT_"))
}

_MOST_MEMORY_MB = 4000
_LEAST_MEMORY_MB = 128
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([MG]B)", re.IGNORECASE)
_RECIPE_SECRET = re.compile(r"\w+_API_KEY|CALLWRIGHT_\w+")
_FOR_RECIPES = frozenset({"TOGETHER_AI_TOKEN"})  # a provider's own
_OWN_SECRETS = frozenset({"LABEL_STUDIO_API_KEY", "PREFECT_API_KEY", "CALLWRIGHT_WEBHOOK_SECRET"})
_MEGABYTES = {"MB": 1, "GB": 1000}


def _duckdb_memory_mb() -> int:
    """Return a quarter of this machine's memory, within bounds."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1_000_000
    return max(_LEAST_MEMORY_MB, min(_MOST_MEMORY_MB, machine // 4))


class Settings(NamedTuple):
    """The settings from the environment; the defaults here apply where it sets nothing.

    `patience` is how many seconds to wait for a warehouse that another process has open. Builds
    publish at their end and every `publish_every` minutes, 0 for never. Deployed flows pull
    reviews every `review_every` minutes, 0 for never; `review_hourly_cost` is the cost of an
    hour of reviewing in US dollars, None if unknown.

    Shards are processed at `workplace`: "local", "dask" (a cluster of this machine), or "dask:"
    and a scheduler's address; `workers` is how many processes this machine provides. Dask's
    workers keep their files in their own folder `scratch`; a scheduler without TLS is used only
    if the settings say that it `trusts_scheduler`. DuckDB takes at most `duckdb_memory_mb` and
    `duckdb_threads` of this machine.
    """

    home: Path
    label_studio_url: str
    label_studio_token: str
    prefect_api_url: str
    workers: int
    ledger: Path
    review_language: "Language"
    patience: float = PATIENCE
    review_every: float = 10.0
    review_hourly_cost: float | None = None
    workplace: str = "local"
    scratch: Path = Path(tempfile.gettempdir()) / f"callwright-{os.getuid()}"
    duckdb_memory_mb: int = _duckdb_memory_mb()
    duckdb_threads: int = len(os.sched_getaffinity(0))
    trusts_scheduler: bool = False
    publish_every: float = 10.0

    def aside(self, home: Path) -> "Settings":
        """Return these settings for a temporary work folder, from which nothing is published."""
        return self._replace(home=home, publish_every=0.0)

    @property
    def warehouse(self) -> Path:
        """The DuckDB file."""
        return self.home / "warehouse.duckdb"

    @property
    def published(self) -> Path:
        """The folder of the published copies."""
        return self.home / "published"


def read_settings(
    environment: Mapping[str, str] | None = None, *, home: Path | None = None
) -> Settings:
    """Return the settings in an environment, by default that of this process.

    The work folder is `home`, else CALLWRIGHT_HOME, else `.callwright` in the current folder.
    Raises ConfigurationError for an invalid value, StoreError if the work folder can't be made.

    read_settings({}).publish_every  # 10.0, the default
    """
    from callwright.warehouse.records import DEFAULT_LANGUAGE

    variables = os.environ if environment is None else environment
    home = (home or Path(variables.get("CALLWRIGHT_HOME", ".callwright"))).absolute()
    _require_home(home)
    workplace, workers = _crew(variables.get("CALLWRIGHT_WORKERS", ""))
    usual = Settings(
        home=home,
        label_studio_url=variables.get("LABEL_STUDIO_URL", ""),
        label_studio_token=variables.get("LABEL_STUDIO_API_KEY", ""),
        prefect_api_url=variables.get("PREFECT_API_URL", ""),
        workers=workers or (os.cpu_count() or 1),
        ledger=home / "ledger.sqlite",
        review_language=variables.get("CALLWRIGHT_REVIEW_LANGUAGE") or DEFAULT_LANGUAGE,
        workplace=workplace,
        trusts_scheduler=variables.get("CALLWRIGHT_DASK_UNAUTHENTICATED", "")
        in {"1", "true", "yes"},
    )
    number, size_mb = partial(_number, variables), partial(_size_mb, variables)
    return usual._replace(
        patience=number("CALLWRIGHT_PATIENCE", usual.patience),
        review_every=number("CALLWRIGHT_REVIEW_EVERY", usual.review_every),
        review_hourly_cost=(
            number("CALLWRIGHT_REVIEW_HOURLY_COST", 0)
            if variables.get("CALLWRIGHT_REVIEW_HOURLY_COST")
            else None
        ),
        scratch=Path(variables.get("CALLWRIGHT_SCRATCH") or usual.scratch).absolute(),
        duckdb_memory_mb=size_mb("CALLWRIGHT_DUCKDB_MEMORY", usual.duckdb_memory_mb),
        duckdb_threads=int(number("CALLWRIGHT_DUCKDB_THREADS", 0)) or usual.duckdb_threads,
        publish_every=number("CALLWRIGHT_PUBLISH_EVERY", usual.publish_every),
    )


def open_warehouse(settings: Settings | None = None) -> "Warehouse":
    """Return the warehouse of the settings' work folder, by default this process's."""
    from callwright.warehouse.engine import DatabaseLimits
    from callwright.warehouse.store import Warehouse

    settings = settings or read_settings()
    limits = DatabaseLimits(settings.duckdb_memory_mb, settings.duckdb_threads)
    return Warehouse(settings.warehouse, patience=settings.patience, limits=limits, tell=_on_stderr)


@contextmanager
def reading(settings: Settings | None = None, *, live: bool = False) -> Iterator["Warehouse"]:
    """Yield a copy of the work folder's warehouse as last written, without blocking writers.

    During a build it is what was published last, and its age is said; `live` waits for the
    present state.
    """
    from callwright.warehouse.publish import is_build_under_way, published_or_copied

    settings = settings or read_settings()
    may_be_older = not live and is_build_under_way(settings.home)
    with published_or_copied(
        open_warehouse(settings), settings.published, may_be_older=may_be_older
    ) as read:
        if may_be_older:
            minutes = round((datetime.now(UTC) - read.as_of).total_seconds() / 60)
            _on_stderr(
                "A build is under way. This is the warehouse as of"
                f" {read.as_of.astimezone():%Y-%m-%d %H:%M:%S}, {minutes} min ago; --live waits for"
                " its present state."
            )
        yield read.warehouse


def _on_stderr(sentence: str) -> None:
    sys.stderr.write(visible(sentence) + "\n")


def _require_home(home: Path) -> None:
    """Raise StoreError if the work folder neither exists nor can be made."""
    place = next((one for one in (home, *home.parents) if one.exists()), Path("/"))
    if place.is_dir() and (place == home or os.access(place, os.W_OK | os.X_OK)):
        return
    problem = "may not be written to" if place.is_dir() else "is not a folder"
    raise StoreError(
        f"The work folder {str(home)!r} can't be created: {str(place)!r} {problem}. Fix that, or "
        "set CALLWRIGHT_HOME to another folder."
    )


def _crew(given: str) -> tuple[str, int]:
    """Return where shards are processed, and by how many local processes, 0 for one per core.

    Raises ConfigurationError for an invalid setting.
    """
    place, _, more = given.partition(":")
    if given.isdecimal():
        return "local", int(given)
    if place in {"", "local", "dask"} and (not more or more.isdecimal()):
        return place or "local", int(more or 0)
    if place == "dask" and "://" in more:
        return given, 0
    if place == "pool":
        raise ConfigurationError(
            f"CALLWRIGHT_WORKERS is {given!r}, but shards can only be sent to Dask"
            " ('dask:tls://host:port'). A Prefect work pool runs whole builds: callwright deploy"
            " RECIPE --pool NAME"
        )
    raise ConfigurationError(
        f"CALLWRIGHT_WORKERS is {given!r}. It must be a number of processes, 'local', 'dask', "
        "'dask:4' (four processes) or 'dask:tls://host:port'."
    )


# nobody else's: others may use this machine too


def _number(stated: Mapping[str, str], name: str, default: float) -> float:
    given_text = stated.get(name, "") or str(default)
    try:
        number = float(given_text)
    except ValueError:
        number = -1.0
    if not 0 <= number < inf:
        problem = f"The setting {name} must be a number from 0 on, not {given_text!r}."
        raise ConfigurationError(problem)
    return number


def _size_mb(stated: Mapping[str, str], name: str, default: int) -> int:
    """Return a size such as "512MB" or "2 GB" in megabytes. Raises ConfigurationError."""
    given_size = stated.get(name, "").strip()
    if not given_size:
        return default
    size = _SIZE.fullmatch(given_size)
    megabytes = int(float(size[1]) * _MEGABYTES[size[2].upper()]) if size else 0
    if megabytes < _LEAST_MEMORY_MB:
        raise ConfigurationError(
            f"The setting {name} must be a size from {_LEAST_MEMORY_MB}MB on, such as '512MB' or"
            f" '2GB', not {given_size!r}."
        )
    return megabytes


def quiet_vendors(quiet: Mapping[str, str] = MappingProxyType(QUIET)) -> None:
    """Keep libraries in this process and its children from using the network unasked.

    Also make them read texts as UTF-8: duckling takes its encoding from the locale, and ends the
    process in one such as C.
    """
    for name, value in quiet.items():
        os.environ.setdefault(name, value)
    if locale.nl_langinfo(locale.CODESET).upper() not in {"UTF-8", "UTF8"}:
        os.environ["LC_ALL"] = "C.UTF-8"


def silence_teardown() -> None:
    """Close stderr's file after all other exit handlers.

    After them, DuckDB's binding reports every object that another library still holds: pages of
    harmless output. Handlers registered first run last, so call this before anything else
    registers one.
    """
    atexit.register(_silence)


def _silence() -> None:
    sys.stderr.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def environment() -> dict[str, str]:
    """Return a copy of the environment, for child processes."""
    return dict(os.environ)


def secret(name: str) -> str:
    """Return the secret in the variable `name`; "" if it is not set."""
    return os.environ.get(name, "")


def named_secret(name: str) -> str:
    """Return the secret in a variable that a recipe names; "" if it is not set.

    Raises ConfigurationError for a variable that is not for recipes, so that a stranger's recipe
    reads nothing else of this machine.
    """
    allowed = {
        one.strip() for one in os.environ.get("CALLWRIGHT_SECRETS", "").split(",")
    } | _FOR_RECIPES
    if name not in allowed and (name in _OWN_SECRETS or not _RECIPE_SECRET.fullmatch(name)):
        raise ConfigurationError(
            f"A recipe may not read the variable {name}. Recipes can read variables named *_API_KEY"
            " or CALLWRIGHT_*, and those listed in CALLWRIGHT_SECRETS. To allow this one, set"
            f" CALLWRIGHT_SECRETS={name} (separate several with commas)."
        )
    return os.environ.get(name, "")


def private_folder(folder: Path) -> Path:
    """Return the folder, created if needed, accessible only to this user.

    Raises StoreError if it belongs to somebody else.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder_state = folder.lstat()
    if not stat.S_ISDIR(folder_state.st_mode) or folder_state.st_uid != os.getuid():
        raise StoreError(
            f"The folder {str(folder)!r} belongs to another user, who could write to it. Remove it,"
            " or set CALLWRIGHT_SCRATCH to another folder."
        )
    if stat.S_IMODE(folder_state.st_mode) & 0o077:
        folder.chmod(0o700)
    return folder


def use_prefect(api: str, home: Path) -> None:
    """Set the Prefect server of this process to `api`; call this before Prefect is imported."""
    os.environ["PREFECT_API_URL"] = api
    os.environ["PREFECT_HOME"] = str(home)


def hush_prefect() -> None:
    """Keep Prefect's log off the terminal; Prefect's server still gets it.

    The command line has its own messages.
    """
    for name in ("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "PREFECT_INTERNAL_LOGGING_LEVEL"):
        os.environ.setdefault(name, "CRITICAL")
