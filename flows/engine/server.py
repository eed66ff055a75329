"""A local Prefect server that callwright starts, finds again and stops; any other is named by PREFECT_API_URL."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import NamedTuple

from annotation.studio.process import HOST, Places, end, free_port, launch, only_one, serving_process, tail
from flows.settings import Settings, environment
from warehouse.errors import CallwrightError, ConfigurationError

_PAUSE = 0.5
_PATIENCE = 180.0
_OK = 200


class PrefectServer(NamedTuple):
    """A Prefect server that answers: `url` is its UI, `api` what PREFECT_API_URL wants."""

    url: str
    api: str
    pid: int


def start_prefect(settings: Settings, say: Callable[[str], None]) -> PrefectServer:
    """The Prefect server of this work folder, started where it does not run yet.

    Raises CallwrightError with the end of the log where it does not come up.
    """
    places = _places(settings)
    places.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with only_one(places, _PATIENCE):
        if serving_process(places) is None:
            say("Starting a Prefect server.")
            _launch(places)
        return _wait(places)


def running_prefect(settings: Settings) -> PrefectServer | None:
    """The Prefect server of this work folder that answers, None where none does."""
    found = serving_process(_places(settings))
    return _server(*found) if found and _answers(found[1]) else None


def stop_prefect(settings: Settings) -> bool:
    """End the Prefect server of this work folder; whether there was one."""
    return end(_places(settings))


def _own_environment(home: Path, port: int) -> dict[str, str]:
    """What the server is given besides the environment: its folder, where its own pages ask, and that nobody else is."""
    return {
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_UI_API_URL": f"http://{HOST}:{port}/api",
        "PREFECT_SERVER_UI_V2_ENABLED": "false",  # its pages ask amplitude.com, whatever is set below
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_LOGGING_LEVEL": "WARNING",
        "DO_NOT_TRACK": "1",
    }


def _places(settings: Settings) -> Places:
    return Places(settings.home / "prefect", "Prefect server")


def _launch(places: Places) -> None:
    chosen = places.folder / "port"
    last = chosen.read_text(encoding="utf-8") if chosen.exists() else ""
    port = free_port(int(last) if last.isdecimal() else 0, places.title)
    chosen.write_text(str(port), encoding="utf-8")
    serve = [sys.executable, "-m", "prefect", "server", "start", "--host", HOST, "--port", str(port)]
    inherited = {name: value for name, value in environment().items() if not name.startswith("PREFECT_")}
    launch(places, serve, port, inherited | _own_environment(places.data, port))


def _wait(places: Places) -> PrefectServer:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        found = serving_process(places)
        if found and _answers(found[1]):
            return _server(*found)
        if found is None and places.record.exists():
            break
        time.sleep(_PAUSE)
    raise CallwrightError(f"The Prefect server did not come up:\n{tail(places.log)}\nThe log is {places.log}.")


def _answers(port: int) -> bool:
    connection = HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", "/api/health")
        return connection.getresponse().status == _OK
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _server(pid: int, port: int) -> PrefectServer:
    url = f"http://{HOST}:{port}"
    return PrefectServer(url, f"{url}/api", pid)


_ANSWER_PATIENCE = 10.0
_NOT_FOUND = 404


def require_server(settings: Settings) -> str:
    """The address of the Prefect server that the environment names, once it has answered.

    Raises ConfigurationError where none is named or the address is none, CallwrightError where nobody answers there.
    """
    import httpx

    api = settings.prefect_api_url
    if not api:
        raise ConfigurationError(
            "No Prefect server is named. Start one with `prefect server start` and set PREFECT_API_URL to its address."
        )
    try:
        status = httpx.get(f"{api.rstrip('/')}/health", timeout=_ANSWER_PATIENCE).status_code
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise ConfigurationError(
            f"PREFECT_API_URL is {api!r}, which is no address. It looks like 'http://127.0.0.1:4200/api'."
        ) from error
    except httpx.TransportError as error:
        raise CallwrightError(
            f"No Prefect server answers at {api!r}, where PREFECT_API_URL points: {error}. Start it with `prefect server "
            "start`, or unset PREFECT_API_URL to build without Prefect."
        ) from error
    if status == _NOT_FOUND:
        raise ConfigurationError(
            f"PREFECT_API_URL is {api!r}, where something answers that is no Prefect API. Its address ends in '/api'."
        )
    return api


@contextmanager
def explained_errors(api: str) -> Iterator[None]:
    """Turn what Prefect's client raises into a CallwrightError; everything else passes."""
    import httpx
    from prefect.exceptions import PrefectException

    try:
        yield
    except httpx.TransportError as error:
        raise CallwrightError(
            f"The Prefect server at {api!r} stopped answering: {error!r}. What is done is kept; start the server again, "
            "and the same command goes on from there."
        ) from error
    except (httpx.HTTPStatusError, PrefectException) as error:
        raise CallwrightError(
            f"Prefect at {api!r} refused: {error}. What is done is kept; the same command goes on from there."
        ) from error
