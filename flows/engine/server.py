"""A local Prefect server that callwright starts, finds again and stops; any other is named by PREFECT_API_URL."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import NamedTuple

from annotation import keeper
from annotation.server_files import Places, only_one, serving_process
from annotation.server_install import tail
from flows.settings import Settings, environment
from warehouse.errors import CallwrightError

_HOST = "127.0.0.1"
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
    places.data.mkdir(parents=True, exist_ok=True)
    with only_one(places, _PATIENCE):
        if serving_process(places) is None:
            say("Starting a Prefect server.")
            _launch(places, _last_port(places))
        return _wait(places)


def running_prefect(settings: Settings) -> PrefectServer | None:
    """The Prefect server of this work folder that answers, None where none does."""
    found = serving_process(_places(settings))
    return _server(*found) if found and _answers(found[1]) else None


def stop_prefect(settings: Settings) -> bool:
    """End the Prefect server of this work folder; whether there was one."""
    places = _places(settings)
    found = serving_process(places)
    if found is None:
        return False
    os.kill(found[0], signal.SIGTERM)
    end = time.monotonic() + _PATIENCE
    while serving_process(places) == found and time.monotonic() < end:
        time.sleep(_PAUSE / 5)
    return True


def _own_environment(home: Path, port: int) -> dict[str, str]:
    """What the server is told besides the environment: its folder, where its own pages ask, and that nobody else is."""
    return {
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_UI_API_URL": f"http://{_HOST}:{port}/api",
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_LOGGING_LEVEL": "WARNING",
        "DO_NOT_TRACK": "1",
    }


def _places(settings: Settings) -> Places:
    return Places(settings.home / "prefect")


def _launch(places: Places, port: int) -> None:
    guard = [sys.executable, "-I", keeper.__file__, str(places.record), str(places.data), str(port)]
    serve = [sys.executable, "-m", "prefect", "server", "start", "--host", _HOST, "--port", str(port)]
    inherited = {name: value for name, value in environment().items() if not name.startswith("PREFECT_")}
    with places.log.open("wb") as log:
        subprocess.run(  # noqa: S603 - our own command; the keeper detaches and returns at once
            [*guard, *serve],
            env=inherited | _own_environment(places.data, port),
            cwd=places.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=True,
        )


def _last_port(places: Places) -> int:
    """The port served last where it is free, so that open pages stay good; else any free one."""
    wanted = places.folder / "port"
    for port in (int(wanted.read_text()) if wanted.exists() else 0, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((_HOST, port))
            except OSError:
                continue
            chosen = int(probe.getsockname()[1])
            wanted.write_text(str(chosen))
            return chosen
    raise CallwrightError(f"No port on {_HOST} is free for a Prefect server.")


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
    connection = HTTPConnection(_HOST, port, timeout=5)
    try:
        connection.request("GET", "/api/health")
        return connection.getresponse().status == _OK
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _server(pid: int, port: int) -> PrefectServer:
    url = f"http://{_HOST}:{port}"
    return PrefectServer(url, f"{url}/api", pid)
