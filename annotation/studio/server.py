"""A local Label Studio (install, start, find, stop), and servers under a supervisor in general."""

import fcntl
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import blake2b
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit

from callwright.annotation.studio import supervisor
from callwright.language.packs import packaged
from callwright.warehouse.errors import AnnotationError, CallwrightError
from callwright.warehouse.extras import require_extra
from callwright.warehouse.records import Record

HOST = "127.0.0.1"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - only where a person asks for it
_USERNAME = "callwright@localhost.local"
_LOOK_AGAIN = 0.1
_PAUSE = 0.5
_ANSWER_PATIENCE = 10.0
_STOP_PATIENCE = 20.0
_TAIL = 2000
_STAMP = ".callwright-lock"
_TIMEOUT = 1800.0


class Places:
    """The paths below the folder of a local server; `title` is the server's name in messages."""

    def __init__(self, folder: Path, title: str) -> None:
        """Set the paths; create nothing."""
        self.title = title
        self.folder = folder.absolute()
        self.data = self.folder / "data"
        self.log = self.folder / "server.log"
        self.record = self.folder / "server.json"
        self.lock = self.folder / "start.lock"


class Credentials(Record):
    """The account that callwright made for itself, and the host and port it was last served on."""

    username: str
    password: str
    token: str
    port: int = 0
    host: str = HOST

    @property
    def url(self) -> str:
        """Return the URL of the server on this machine.

        A server that listens on every address is reached at this machine's loopback address.
        """
        return f"http://{HOST if self.host == EVERYWHERE else self.host}:{self.port}"


class StudioPlaces(Places):
    """The paths in the folder of a local Label Studio."""

    def __init__(self, home: Path) -> None:
        """Set the paths in the work folder; create nothing."""
        super().__init__(home / "label-studio", "Label Studio")
        self.env = self.folder / "env"
        self.python = self.env / "bin" / "python"
        self.install_log = self.folder / "install.log"
        self.credentials = self.folder / "credentials.json"


def load_credentials(places: StudioPlaces) -> Credentials | None:
    """Return the stored account; None before the first start.

    Raises AnnotationError if the file is damaged.
    """
    if not places.credentials.is_file():
        return None
    try:
        return Credentials.model_validate_json(places.credentials.read_bytes())
    except ValueError as error:
        raise AnnotationError(
            f"{places.credentials} is damaged ({type(error).__name__}). Restore it, or delete"
            f" {places.folder}, with its annotations, to start again."
        ) from error


def new_credentials() -> Credentials:
    """Return an account with a random password and a random token."""
    password = secrets.token_urlsafe(12)
    return Credentials(username=_USERNAME, password=password, token=secrets.token_hex(20))


def save_credentials(places: StudioPlaces, credentials: Credentials) -> None:
    """Store the account in a file that only its owner can read."""
    draft = places.credentials.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(opened, "w", encoding="utf-8") as file:
        file.write(credentials.model_dump_json(indent=2))
    draft.replace(places.credentials)


def serving_process(places: Places) -> tuple[int, int] | None:
    """Return the supervisor's process id and its port; None if none of ours is alive."""
    try:
        record = json.loads(places.record.read_bytes())
        pid, port = int(record["pid"]), int(record["port"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return (pid, port) if str(places.record) in _command_of(pid) else None


@contextmanager
def only_one(places: Places, patience: float) -> Iterator[None]:
    """Hold the start lock while the context is open.

    Raises CallwrightError if another start holds it for longer than `patience` seconds.
    """
    end = time.monotonic() + patience
    with places.lock.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > end:
                    raise CallwrightError(
                        f"Another process has been starting the {places.title} in"
                        f" {places.folder} for more than {patience:.0f} s. Look at"
                        f" {places.log}, or stop that process."
                    ) from error
                time.sleep(_LOOK_AGAIN)
        yield


def launch(
    places: Places, command: Sequence[str], port: int, environment: Mapping[str, str]
) -> None:
    """Start a server under a supervisor and return at once; the previous log is kept beside it."""
    places.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    places.record.unlink(missing_ok=True)
    if places.log.exists():
        places.log.replace(places.log.with_suffix(".log.1"))
    watched = [str(places.record), str(places.data), str(port)]
    guard = [sys.executable, "-I", supervisor.__file__, *watched]
    with places.log.open("ab") as log:
        subprocess.run(  # noqa: S603 - our own command; the supervisor detaches and returns at once
            [*guard, *command],
            env=dict(environment),
            cwd=places.folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=True,
        )


def wait_for(places: Places, answers: Callable[[int], bool], patience: float) -> tuple[int, int]:
    """Wait until a launched server answers at its port, and return its process id and port.

    Raises CallwrightError with the end of its log if it ended, or doesn't answer within
    `patience` seconds.
    """
    began = time.monotonic()
    while time.monotonic() - began < patience:
        found = serving_process(places)
        if found is not None and answers(found[1]):
            return found
        if found is None and places.record.exists():
            break
        time.sleep(_PAUSE)
    problem = f"The {places.title} did not start:\n{tail(places.log)}\nThe log is {places.log}."
    raise CallwrightError(problem)


def greeting(address: str, path: str, headers: Mapping[str, str] = MappingProxyType({})) -> int:
    """Return the status with which a local server answers; 0 if none answers."""
    connection = HTTPConnection(urlsplit(address).netloc, timeout=_ANSWER_PATIENCE)
    try:
        connection.request("GET", path, headers=dict(headers))
        response = connection.getresponse()
        response.read()  # a server that can't finish its answer says so in its log
        return response.status
    except (OSError, HTTPException):
        return 0
    finally:
        connection.close()


def end(places: Places) -> bool:
    """Stop the server and its supervisor; False if none was running."""
    process = serving_process(places)
    if process is None:
        return False
    with suppress(ProcessLookupError):  # it may end by itself at any moment
        os.kill(process[0], signal.SIGTERM)
        patience = time.monotonic() + _STOP_PATIENCE
        while serving_process(places) == process:
            if time.monotonic() > patience:
                os.kill(process[0], signal.SIGKILL)
                break
            time.sleep(_LOOK_AGAIN)
    places.record.unlink(missing_ok=True)
    return True


def free_port(wanted: int, title: str, host: str = HOST) -> int:
    """Return the wanted port if it is free, so that open pages keep working; else another one."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise CallwrightError(f"No port on {host} is free for a {title}.")


def tail(log: Path) -> str:
    """Return the end of a log file; "" if there is none."""
    return (
        log.read_text(encoding="utf-8", errors="replace")[-_TAIL:].strip() if log.is_file() else ""
    )


def _command_of(pid: int) -> str:
    """Return the command line of a process, "" if there is none: its pid may have been reused."""
    proc = Path("/proc")
    if (proc / "self").exists():
        try:
            words = (proc / str(pid) / "cmdline").read_bytes()
        except OSError:
            return ""
        return words.replace(b"\0", b" ").decode(errors="replace")
    asked = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout  # noqa: S603


def install(
    places: StudioPlaces,
    base_environment: Mapping[str, str],
    progress: Callable[[str], None],
    *,
    other_lock: Path | None = None,
) -> None:
    """Create the environment unless it exists; redo one that a crash left half made.

    `other_lock` is for another version than the one that callwright comes with.
    """
    lock = other_lock or files("callwright.annotation.studio").joinpath("label-studio.lock")
    print_of_lock = blake2b(lock.read_bytes(), digest_size=12).hexdigest()
    stamp = places.env / _STAMP
    made_of = stamp.read_text(encoding="utf-8") if stamp.is_file() else ""
    if places.python.exists() and made_of == print_of_lock:
        return
    require_extra("review")
    progress(
        "Installing Label Studio into an environment of its own (once, one to three minutes) …"
    )
    with as_file(lock) as path:
        uv = partial(_uv, places, base_environment)
        uv("venv", "--clear", "--python", sys.executable, str(places.env))
        hashed = ("--require-hashes", "-r", str(path))
        uv("pip", "install", "--python", str(places.python), *hashed)
    stamp.write_text(print_of_lock, encoding="utf-8")


def _uv(places: StudioPlaces, environment: Mapping[str, str], *arguments: str) -> None:
    import uv

    command = [uv.find_uv_bin(), *arguments]
    with places.install_log.open("ab") as log:
        try:
            done = subprocess.run(  # noqa: S603 - our own command
                command,
                env=dict(environment),
                cwd=places.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                timeout=_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise AnnotationError(
                f"Installing Label Studio took longer than {_TIMEOUT:.0f} s. Check the network,"
                f" then try again; the log is {places.install_log}."
            ) from error
    if done.returncode:
        raise AnnotationError(
            f"Label Studio could not be installed (`uv {' '.join(arguments[:2])}` ended with"
            f" {done.returncode}):\n{tail(places.install_log)}\nCheck that the package index is"
            f" reachable, then try again; the log is {places.install_log}."
        )


_INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH")


class StudioAddress(NamedTuple):
    """Where a local server listens, and the URL at which people reach it, "" if it is the same.

    It listens beyond this machine's own address only on request.
    """

    host: str = HOST
    port: int = 0
    public_url: str = ""


LOOPBACK = StudioAddress()


class ServerInfo(Record):
    """A running Label Studio: its address, its account, and whether this call started it."""

    url: str
    token: str
    username: str
    password: str
    pid: int
    started: bool = False


def start(
    home: Path,
    base_environment: Mapping[str, str],
    *,
    progress: Callable[[str], None] = lambda text: None,
    timeout: float = 300.0,
    other_lock: Path | None = None,
    address: StudioAddress = LOOPBACK,
) -> ServerInfo:
    """Return the Label Studio in `home`, after installing and starting it if needed.

    `other_lock` names another version than the one that callwright comes with. Raises
    AnnotationError with the end of the log if it can't be installed, and if it already runs at
    another address; CallwrightError as `wait_for`.
    """
    places = StudioPlaces(home)
    places.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with only_one(places, timeout):
        saved_credentials, running_server = load_credentials(places), serving_process(places)
        if running_server is not None and saved_credentials is None:
            raise AnnotationError(
                f"Label Studio is running in {places.folder}, but the file"
                f" {places.credentials.name}, which holds its password and token, is missing."
                " Restore the file, or stop the server with `callwright review stop`."
            )
        credentials = saved_credentials or new_credentials()
        if running_server is None:
            install(places, base_environment, progress, other_lock=other_lock)
            port = free_port(address.port or credentials.port, places.title, address.host)
            if address.port not in (0, port):
                problem = f"Port {address.port} of {address.host} is in use; choose another one."
                raise AnnotationError(problem)
            credentials = credentials.with_changes(port=port, host=address.host)
            save_credentials(places, credentials)
            _launch(places, credentials, base_environment, address.public_url)
        elif address.host not in (HOST, credentials.host):
            raise AnnotationError(
                f"Label Studio is already running and listens on {credentials.host}. To listen"
                f" on {address.host}, run `callwright review stop` and start it again."
            )
        tell = progress if running_server is None else lambda _: None
        pid = _wait_until_ready(places, credentials, tell, timeout)
        return _info(pid, credentials, started=running_server is None)


def running(home: Path) -> ServerInfo | None:
    """Return the Label Studio in `home` that is running and answers; None if there is none."""
    places = StudioPlaces(home)
    found, credentials = serving_process(places), load_credentials(places)
    if found is None or credentials is None or _answer(credentials) != HTTPStatus.OK:
        return None
    return _info(found[0], credentials, started=False)


def stop(home: Path) -> bool:
    """Stop the Label Studio in `home`; False if none was running."""
    return end(StudioPlaces(home))


def _launch(
    places: StudioPlaces, credentials: Credentials, given: Mapping[str, str], public_url: str
) -> None:
    address = ["--internal-host", credentials.host, "--port", str(credentials.port)]
    serve = [str(places.python), "-m", "label_studio.server", "start", "--no-browser"]
    serve += ["--enable-legacy-api-token", *address]
    fixed = packaged("callwright.annotation.studio", "label-studio.yaml")
    # It reads plain names such as HOST and PASSWORD, so nothing else is passed on.
    environment = {name: given[name] for name in _INHERITED if name in given}
    environment |= fixed["environment"] | {
        "HOME": str(places.folder),
        "LABEL_STUDIO_BASE_DATA_DIR": str(places.data),
        "LABEL_STUDIO_USERNAME": credentials.username,
        "LABEL_STUDIO_PASSWORD": credentials.password,
        "LABEL_STUDIO_USER_TOKEN": credentials.token,
    }
    if public_url:  # invitations lead there, forms come from there
        is_encrypted = str(int(public_url.startswith("https://")))
        environment |= {
            "HOST": public_url.rstrip("/"),
            "CSRF_TRUSTED_ORIGINS": "/".join(public_url.split("/")[:3]),
            "SESSION_COOKIE_SECURE": is_encrypted,
            "CSRF_COOKIE_SECURE": is_encrypted,
        }
    launch(places, serve, credentials.port, environment)


def _wait_until_ready(
    places: StudioPlaces, credentials: Credentials, progress: Callable[[str], None], timeout: float
) -> int:
    began = time.monotonic()
    progress("Waiting for Label Studio (the first start takes about a minute) …")

    def answers(_port: int) -> bool:
        status = _answer(credentials)
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            raise AnnotationError(
                f"Label Studio does not accept the token in {places.credentials}: the file and"
                f" the data in {places.data} do not belong together. Restore the file, or"
                " delete both, with the annotations, to start again."
            )
        return status == HTTPStatus.OK

    found = wait_for(places, answers, timeout)[0]
    progress(f"Label Studio is ready ({time.monotonic() - began:.0f} s).")
    return found


def _answer(credentials: Credentials) -> int:
    headers = {"Authorization": f"Token {credentials.token}"}
    return greeting(credentials.url, "/api/current-user/whoami", headers)


def _info(pid: int, credentials: Credentials, *, started: bool) -> ServerInfo:
    account = credentials.model_dump(include={"token", "username", "password"})
    return ServerInfo(url=credentials.url, pid=pid, started=started, **account)
