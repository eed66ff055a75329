"""The files of a local Label Studio: who may sign in, which process serves, and who may start it."""

import fcntl
import json
import os
import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warehouse.errors import AnnotationError
from warehouse.records import Record

_USERNAME = "callwright@localhost.local"
_LOCK_PAUSE = 0.2


class Credentials(Record):
    """The account that callwright made for itself, and the port that it was served on last."""

    username: str
    password: str
    token: str
    port: int = 0


class Places:
    """Where things lie below the folder of a local Label Studio."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.env = self.folder / "env"
        self.data = self.folder / "data"
        self.log = self.folder / "server.log"
        self.install_log = self.folder / "install.log"
        self.credentials = self.folder / "credentials.json"
        self.record = self.folder / "server.json"
        self.lock = self.folder / "start.lock"

    @property
    def python(self) -> Path:
        """The interpreter of the environment that Label Studio runs in."""
        return self.env / "bin" / "python"


def load_credentials(places: Places) -> Credentials | None:
    """The account kept on disk, None before the first start."""
    if not places.credentials.is_file():
        return None
    try:
        return Credentials.model_validate_json(places.credentials.read_bytes())
    except ValueError as error:
        raise AnnotationError(
            f"{places.credentials} is damaged ({type(error).__name__}). Restore it, or delete {places.folder} to start "
            "anew without the annotations in it."
        ) from error


def new_credentials() -> Credentials:
    """An account with a random password and a random token."""
    return Credentials(username=_USERNAME, password=secrets.token_urlsafe(12), token=secrets.token_hex(20))


def save_credentials(places: Places, credentials: Credentials) -> None:
    """Keep the account where only its owner can read it."""
    draft = places.credentials.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(credentials.model_dump_json(indent=2))
    draft.replace(places.credentials)


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
    """Hold the start lock; AnnotationError where another start holds it for longer than `patience` seconds."""
    end = time.monotonic() + patience
    with places.lock.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > end:
                    raise AnnotationError(
                        f"Another start of the Label Studio below {places.folder} has not finished in {patience:.0f} "
                        f"s. Look at {places.log}, or end that start."
                    ) from error
                time.sleep(_LOCK_PAUSE)
        yield


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
