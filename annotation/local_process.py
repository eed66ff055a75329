"""A server process of our own on this machine: its files, whether it runs, who may start it, how it starts and ends."""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from annotation import keeper
from warehouse.errors import CallwrightError

HOST = "127.0.0.1"
_PAUSE = 0.1
_STOP_PATIENCE = 20.0
_TAIL = 2000


class Places:
    """Where things lie below the folder of a local server; `title` is what people call the server."""

    def __init__(self, folder: Path, title: str) -> None:
        """Name the places; nothing is made."""
        self.title = title
        self.folder = folder.absolute()
        self.data = self.folder / "data"
        self.log = self.folder / "server.log"
        self.record = self.folder / "server.json"
        self.lock = self.folder / "start.lock"


def serving_process(places: Places) -> tuple[int, int] | None:
    """The keeper's process and the port it serves, None where none of ours is alive."""
    try:
        record = json.loads(places.record.read_bytes())
        pid, port = int(record["pid"]), int(record["port"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return (pid, port) if str(places.record) in _command_of(pid) else None


@contextmanager
def only_one(places: Places, patience: float) -> Iterator[None]:
    """Hold the start lock; CallwrightError where another start holds it for longer than `patience` seconds."""
    end = time.monotonic() + patience
    with places.lock.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > end:
                    raise CallwrightError(
                        f"Another start of the {places.title} below {places.folder} has not finished in {patience:.0f} "
                        f"s. Look at {places.log}, or end that start."
                    ) from error
                time.sleep(_PAUSE)
        yield


def launch(places: Places, command: Sequence[str], port: int, environment: Mapping[str, str]) -> None:
    """Start a server under a keeper and return at once; what the one before it wrote to its log is kept beside it."""
    places.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    places.record.unlink(missing_ok=True)
    if places.log.exists():
        places.log.replace(places.log.with_suffix(".log.1"))
    guard = [sys.executable, "-I", keeper.__file__, str(places.record), str(places.data), str(port)]
    with places.log.open("ab") as log:
        subprocess.run(  # noqa: S603 - our own command; the keeper detaches and returns at once
            [*guard, *command],
            env=dict(environment),
            cwd=places.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=True,
        )


def end(places: Places) -> bool:
    """End the server and its keeper; False where none ran."""
    found = serving_process(places)
    if found is None:
        return False
    with suppress(ProcessLookupError):  # it may end by itself at any moment
        os.kill(found[0], signal.SIGTERM)
        patience = time.monotonic() + _STOP_PATIENCE
        while serving_process(places) == found:
            if time.monotonic() > patience:
                os.kill(found[0], signal.SIGKILL)
                break
            time.sleep(_PAUSE)
    places.record.unlink(missing_ok=True)
    return True


def free_port(wanted: int, title: str) -> int:
    """The wanted port where it is free, so that open pages stay good; else another free one."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise CallwrightError(f"No port on {HOST} is free for a {title}.")


def tail(log: Path) -> str:
    """The end of a log file, "" where there is none."""
    return log.read_text(encoding="utf-8", errors="replace")[-_TAIL:].strip() if log.is_file() else ""


def _command_of(pid: int) -> str:
    """The command line of a process, "" where there is no such process: a pid alone may by now be somebody else's."""
    proc = Path("/proc")
    if (proc / "self").exists():
        try:
            return (proc / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
    found = subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False)  # noqa: S603, S607 - a number
    return found.stdout
