"""A local Label Studio that callwright installs, starts, finds again and stops."""

import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from callwright.annotation.studio.process import (
    HOST,
    Credentials,
    StudioPlaces,
    end,
    free_port,
    install,
    launch,
    load_credentials,
    new_credentials,
    only_one,
    save_credentials,
    serving_process,
    tail,
)
from callwright.warehouse.errors import AnnotationError
from callwright.warehouse.records import Record

_PAUSE = 0.5
_PROGRESS_EVERY = 10.0
_ANSWER_PATIENCE = 10.0
_INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH")


class StudioAddress(NamedTuple):
    """Where a local server listens, and under which address people reach it, "" where that is the same.

    Anywhere but at this machine's own address it listens only where somebody asks for that.
    """

    host: str = HOST
    port: int = 0
    public_url: str = ""


LOOPBACK = StudioAddress()


class ServerInfo(Record):
    """A Label Studio that answers: where, for whom, and whether this call started it."""

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
    """The Label Studio below `home`, started (and installed) where it does not run yet.

    `other_lock` names another version than the one that callwright comes with. Raises AnnotationError with the end of the
    log where it can't be installed or does not come up in `timeout` seconds, and where it runs already at another address.
    """
    places = StudioPlaces(home)
    places.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with only_one(places, timeout):
        known, found = load_credentials(places), serving_process(places)
        if found is not None and known is None:
            raise AnnotationError(
                f"A Label Studio serves below {places.folder}, but {places.credentials.name} is gone, and with it the way "
                "in. Restore the file, or end the server with `callwright review stop`."
            )
        credentials = known or new_credentials()
        if found is None:
            install(places, base_environment, progress, other_lock=other_lock)
            port = free_port(address.port or credentials.port, places.title, address.host)
            if address.port not in (0, port):
                raise AnnotationError(f"Port {address.port} of {address.host} is taken; choose another one.")
            credentials = credentials.with_changes(port=port, host=address.host)
            save_credentials(places, credentials)
            _launch(places, credentials, base_environment, address.public_url)
        elif address.host not in (HOST, credentials.host):
            raise AnnotationError(
                f"Label Studio runs already, and listens at {credentials.host}. To have it listen at {address.host}: "
                "callwright review stop, then start it again."
            )
        pid = _wait_until_ready(places, credentials, progress, timeout)
        return _info(pid, credentials, started=found is None)


def running(home: Path) -> ServerInfo | None:
    """The Label Studio that serves below `home` and answers, None where none does."""
    places = StudioPlaces(home)
    found, credentials = serving_process(places), load_credentials(places)
    if found is None or credentials is None or _answer(credentials) != HTTPStatus.OK:
        return None
    return _info(found[0], credentials, started=False)


def stop(home: Path) -> bool:
    """End the Label Studio below `home`; False where none ran."""
    return end(StudioPlaces(home))


def _launch(
    places: StudioPlaces, credentials: Credentials, base_environment: Mapping[str, str], public_url: str
) -> None:
    serve = [str(places.python), "-m", "label_studio.server", "start", "--no-browser", "--enable-legacy-api-token"]
    serve += ["--internal-host", credentials.host, "--port", str(credentials.port)]
    environment = _environment(places, credentials, base_environment) | _behind_proxy(public_url)
    launch(places, serve, credentials.port, environment)


def _behind_proxy(public_url: str) -> dict[str, str]:
    """What Label Studio must know where people reach it under another address: invitations lead there, forms come from there."""
    if not public_url:
        return {}
    is_encrypted = public_url.startswith("https://")
    return {
        "HOST": public_url.rstrip("/"),
        "CSRF_TRUSTED_ORIGINS": "/".join(public_url.split("/")[:3]),
        "SESSION_COOKIE_SECURE": str(int(is_encrypted)),
        "CSRF_COOKIE_SECURE": str(int(is_encrypted)),
    }


def _environment(places: StudioPlaces, credentials: Credentials, base_environment: Mapping[str, str]) -> dict[str, str]:
    """What Label Studio may know: it reads plain names such as HOST and PASSWORD, so nothing else is passed on."""
    kept = {name: base_environment[name] for name in _INHERITED if name in base_environment}
    return kept | {
        "HOME": str(places.folder),
        "PYTHONUNBUFFERED": "1",
        "LABEL_STUDIO_BASE_DATA_DIR": str(places.data),
        "LABEL_STUDIO_USERNAME": credentials.username,
        "LABEL_STUDIO_PASSWORD": credentials.password,
        "LABEL_STUDIO_USER_TOKEN": credentials.token,
        "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
        "LABEL_STUDIO_COLLECT_ANALYTICS": "false",
        "LABEL_STUDIO_LATEST_VERSION_CHECK": "false",
        "LABEL_STUDIO_SENTRY_DSN": "",
        "LABEL_STUDIO_FRONTEND_SENTRY_DSN": "",
        "LABEL_STUDIO_DEBUG": "false",
        # seconds that a task is kept for whoever opened it and left; a day by itself
        "LABEL_STUDIO_TASK_LOCK_TTL": "3600",
        "LABEL_STUDIO_AZURE_MOUNT_FIX": "true",  # sets SQLite to write-ahead logging, so that readers don't block
    }


def _wait_until_ready(
    places: StudioPlaces, credentials: Credentials, progress: Callable[[str], None], timeout: float
) -> int:
    begin = shown = time.monotonic()
    while (now := time.monotonic()) - begin < timeout:
        found = serving_process(places)
        if found is None and places.record.exists():
            raise AnnotationError(f"Label Studio ended while starting:\n{tail(places.log)}\nThe log is {places.log}.")
        status = _answer(credentials)
        if found is not None and status == HTTPStatus.OK:
            return found[0]
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            raise AnnotationError(
                f"Label Studio does not know the token in {places.credentials}: its data at {places.data} are older or "
                "newer than that file. Restore the file, or delete both to start anew without the annotations."
            )
        if now >= shown:
            progress(f"Waiting for Label Studio ({now - begin:.0f} s; the first start takes about a minute) …")
            shown += _PROGRESS_EVERY
        time.sleep(_PAUSE)
    raise AnnotationError(
        f"Label Studio did not come up in {timeout:.0f} s:\n{tail(places.log)}\nThe log is {places.log}."
    )


def _answer(credentials: Credentials) -> int:
    """The status with which the server greets the token's owner, 0 where nobody answers."""
    connection = HTTPConnection(urlsplit(credentials.url).netloc, timeout=_ANSWER_PATIENCE)
    try:
        connection.request("GET", "/api/current-user/whoami", headers={"Authorization": f"Token {credentials.token}"})
        response = connection.getresponse()
        response.read()  # a server that can't finish its answer says so in its log
        return response.status
    except (OSError, HTTPException):
        return 0
    finally:
        connection.close()


def _info(pid: int, credentials: Credentials, *, started: bool) -> ServerInfo:
    return ServerInfo(
        url=credentials.url,
        token=credentials.token,
        username=credentials.username,
        password=credentials.password,
        pid=pid,
        started=started,
    )
