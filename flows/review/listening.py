"""Pulling automatically after Label Studio's webhooks, many changes at once, or repeatedly."""

import asyncio
import hmac
import logging
import os
import secrets
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from callwright.annotation.screens import REVIEW_KINDS
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.projects import SECRET_HEADER
from callwright.annotation.studio.records import Project
from callwright.flows.loops import run_loop
from callwright.flows.progress import Progress
from callwright.flows.review.pulling import Pulled, pull_reviews
from callwright.flows.review.servers import require_label_studio
from callwright.flows.settings import Settings, secret
from callwright.warehouse.errors import (
    AnnotationError,
    CallwrightError,
    ConfigurationError,
    StoreError,
    TransientError,
)

if TYPE_CHECKING:
    from aiohttp import web


SECRET = "CALLWRIGHT_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable
_QUIET = 2.0  # seconds without a further change before a pull
_LONGEST = 20.0  # seconds that a change waits at most while others keep coming
_AGAIN = 30.0  # seconds after a pull that failed
_SHORTEST_SECRET = 16

Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]
_log = logging.getLogger(__name__)
LARGEST_BODY = 1 << 20  # bytes


class Burst:
    """Changes close together, combined into one reason to pull.

    They end after a quiet period, or after a longer time if they never stop.
    """

    def __init__(self, clock: Clock, sleep: Sleep) -> None:
        """Start without a change."""
        self._clock, self._sleep = clock, sleep
        self._any = asyncio.Event()
        self._first = self._last = 0.0

    def add(self) -> None:
        """Note a change."""
        self._last = self._clock()
        if not self._any.is_set():
            self._first = self._last
            self._any.set()

    async def end(self) -> None:
        """Wait until something has changed and quiet has followed.

        Later changes belong to the next burst.
        """
        await self._any.wait()
        while (wait := min(self._last + _QUIET, self._first + _LONGEST) - self._clock()) > 0:
            await self._sleep(wait)
        self._any.clear()


def webhook_secret(settings: Settings) -> str:
    """Return the webhook secret from the environment, else the work folder's, created if needed.

    Raises ConfigurationError if that of the environment is too short or not plain characters.
    """
    given_secret = secret(SECRET)
    if given_secret:
        if (
            len(given_secret) < _SHORTEST_SECRET
            or not given_secret.isascii()
            or not given_secret.isprintable()
        ):
            raise ConfigurationError(
                f"{SECRET} has {len(given_secret)} characters. It needs at least {_SHORTEST_SECRET}"
                " plain characters, because anyone who guesses it can start pulls. If you unset"
                " it, callwright creates one."
            )
        return given_secret
    path = _secret_file(settings)
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(FileExistsError):
        draft = path.with_suffix(f".{os.getpid()}")
        with os.fdopen(
            os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii"
        ) as file:
            file.write(secrets.token_urlsafe(32))
        try:
            os.link(draft, path)  # the first one made is the one, and it is never seen half written
        finally:
            draft.unlink()
    return path.read_text(encoding="ascii").strip()


def secret_place(settings: Settings) -> str:
    """Return where the secret is kept, for setting up a webhook by hand."""
    return SECRET if secret(SECRET) else str(_secret_file(settings))


def _secret_file(settings: Settings) -> Path:
    return settings.home / "webhook.secret"


def register_webhooks(settings: Settings, studio: LabelStudio, url: str) -> int:
    """Register `url` as webhook of our projects; return how many projects call it from now on.

    Raises ConfigurationError unless it begins with http:// or https://.
    """
    if not url.startswith(("http://", "https://")):
        raise ConfigurationError(
            f"The address {url!r} must begin with http:// or https://, because Label Studio"
            " sends requests to it."
        )
    known = webhook_secret(settings)
    projects = _projects(studio)
    for project in projects:
        studio.register_webhook(project, url, known)
    return len(projects)


def remove_webhooks(studio: LabelStudio) -> int:
    """Remove our webhooks from all projects, and return how many there were."""
    return sum(studio.unregister_webhooks(project) for project in _projects(studio))


def _projects(studio: LabelStudio) -> list[Project]:
    return [project for kind, project in studio.find_projects().items() if kind in REVIEW_KINDS]


class ListeningAddress(NamedTuple):
    """Where to listen; port 0 is a free one."""

    host: str = "127.0.0.1"
    port: int = 0


class Callbacks(NamedTuple):
    """Callbacks: `ready` gets the address once it is reachable, `brought` each pull's result."""

    ready: Callable[[str], None] = lambda address: None
    brought: Callable[[Pulled], None] = lambda pulled: None


async def listen(
    settings: Settings,
    studio: LabelStudio,
    progress: Progress,
    *,
    address: ListeningAddress,
    callbacks: Callbacks,
    again: float = _AGAIN,
) -> None:
    """Pull whenever Label Studio reports changes, until cancelled.

    A failed pull is repeated after `again` seconds.
    """
    loop = asyncio.get_running_loop()
    burst = Burst(loop.time, asyncio.sleep)
    async with serve_webhooks(*address, webhook_secret(settings), burst.add) as url:
        burst.add()  # what people did while nobody listened
        callbacks.ready(url)
        while True:
            await burst.end()
            try:
                pulled = await asyncio.to_thread(_pull, settings, studio, progress)
            except CallwrightError as error:
                progress.say(
                    f"This pull failed. The next one is in {again:g} s at the latest. {error}"
                )
                loop.call_later(again, burst.add)
            else:
                callbacks.brought(pulled)


def _pull(settings: Settings, studio: LabelStudio, progress: Progress) -> Pulled:
    """Pull in a thread, so that webhooks are answered within the second that they wait."""
    return run_loop(pull_reviews(settings, studio, progress))


def knows_secret(given: str, secret: str) -> bool:
    """Whether a header holds the secret, in constant time."""
    return bool(secret) and hmac.compare_digest(given.encode(errors="replace"), secret.encode())


@asynccontextmanager
async def serve_webhooks(
    host: str, port: int, secret: str, on_change: Callable[[], None]
) -> AsyncIterator[str]:
    """Serve on `host` and `port` (0: a free one), yield the address; webhooks call `on_change`.

    Bodies are ignored: anyone who can post learns nothing and changes nothing, but that people's
    answers are pulled sooner.
    """
    from aiohttp import web

    async def take(request: "web.Request") -> "web.Response":
        if not knows_secret(request.headers.get(SECRET_HEADER, ""), secret):
            _log.warning(
                "A webhook without the secret came from %s; it is refused.", request.remote
            )
            raise web.HTTPUnauthorized(text=f"The header {SECRET_HEADER} must hold the secret.\n")
        if (request.content_length or 0) > LARGEST_BODY:
            raise web.HTTPRequestEntityTooLarge(LARGEST_BODY, request.content_length or 0)
        await request.read()  # raises the same for a body without a length
        on_change()
        return web.Response(status=202, text="Noted.\n")

    application = web.Application(client_max_size=LARGEST_BODY)
    application.router.add_post("/", take)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise ConfigurationError(
                f"The server cannot listen on {host}:{port} ({error.strerror}). Choose another port"
                " with --port, or 0 for a free one."
            ) from error
        _, taken = runner.addresses[0][:2]
        yield f"http://{f'[{host}]' if ':' in host else host}:{taken}/"
    finally:
        await runner.cleanup()


def poll_reviews(
    settings: Settings, progress: Progress, every: float, report: Callable[[Pulled], None]
) -> None:
    """Pull every `every` seconds until Ctrl-C; `report` gets each pull that brought something.

    If Label Studio is unavailable, or the warehouse is locked, this is reported once and
    retried. Raises ConfigurationError if no Label Studio is named or running at the first pull;
    one that ends later may come back.
    """
    trouble, has_begun = "", False
    with suppress(KeyboardInterrupt), interrupts() as is_interrupted:
        while not is_interrupted():
            pull_result = _try_pull(settings, progress, has_begun=has_begun)
            now = pull_result if isinstance(pull_result, str) else ""
            if now and now != trouble:
                progress.say(f"{now} Trying again every {every:g} s.")
            if trouble and not now:
                progress.say("Label Studio answers again.")
            if isinstance(pull_result, Pulled) and pull_result != Pulled():
                report(pull_result)
            trouble, has_begun = now, True
            if not is_interrupted():
                time.sleep(every)


def _try_pull(settings: Settings, progress: Progress, *, has_begun: bool) -> Pulled | str:
    try:
        with require_label_studio(settings) as studio:
            return run_loop(pull_reviews(settings, studio, progress))
    except ConfigurationError as error:
        if not has_begun:
            raise
        return str(error)
    except (AnnotationError, TransientError, StoreError) as error:
        return str(error)


@contextmanager
def interrupts() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C interrupt the block; yield a function that tells whether it was pressed.

    asyncio's handler in place of Python's only cancels the task, and if that ends in an error of
    its own the interrupt is lost. Python itself drops what is raised while a finalizer runs, so
    callers that go on should ask. Another handler is left alone.
    """
    pressed: list[bool] = []

    def interrupt(*_: object) -> NoReturn:
        pressed.append(True)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)
