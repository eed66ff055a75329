"""Hearing Label Studio's webhooks: what people do is pulled moments later, many changes in one pull."""

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from annotation.screens import REVIEW_KINDS
from annotation.studio.client import LabelStudio
from flows.progress import Progress
from flows.review.deciding import Pulled, pull_reviews
from flows.review.webhook_server import hear_webhooks
from flows.settings import Settings, secret
from warehouse.errors import CallwrightError, ConfigurationError

SECRET = "CALLWRIGHT_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable
_QUIET = 2.0  # seconds without a further change before a pull
_LONGEST = 20.0  # seconds that a change waits at most while others keep coming
_AGAIN = 30.0  # seconds after a pull that failed
_SHORTEST_SECRET = 16

Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]


class Burst:
    """Changes as they are heard: after a while of quiet, or when they never stop, they are one reason to pull."""

    def __init__(self, clock: Clock, sleep: Sleep) -> None:
        """Nothing was heard yet."""
        self._clock, self._sleep = clock, sleep
        self._any = asyncio.Event()
        self._first = self._last = 0.0

    def hear(self) -> None:
        """Something changed."""
        self._last = self._clock()
        if not self._any.is_set():
            self._first = self._last
            self._any.set()

    async def end(self) -> None:
        """Wait until something has changed and quiet has followed; what is heard later belongs to the next burst."""
        await self._any.wait()
        while (wait := min(self._last + _QUIET, self._first + _LONGEST) - self._clock()) > 0:
            await self._sleep(wait)
        self._any.clear()


def webhook_secret(settings: Settings) -> str:
    """The secret that the environment names, else the work folder's own, made where there is none."""
    given = secret(SECRET)
    if given:
        if len(given) < _SHORTEST_SECRET or not given.isascii() or not given.isprintable():
            raise ConfigurationError(
                f"{SECRET} has {len(given)} characters; it must be at least {_SHORTEST_SECRET} plain ones, because whoever "
                "guesses it can start pulls. Unset it, and callwright makes one."
            )
        return given
    path = _secret_file(settings)
    settings.home.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        draft = path.with_suffix(f".{os.getpid()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(32))
        try:
            os.link(draft, path)  # the first one made is the one, and it is never seen half written
        finally:
            draft.unlink()
    return path.read_text(encoding="ascii").strip()


def secret_place(settings: Settings) -> str:
    """Where the secret is kept, for whoever sets a webhook up by hand."""
    return SECRET if secret(SECRET) else str(_secret_file(settings))


def _secret_file(settings: Settings) -> Path:
    return settings.home / "webhook.secret"


def announce(settings: Settings, studio: LabelStudio, url: str) -> int:
    """Have Label Studio tell `url` of what people do in our projects; how many projects do so from now on."""
    if not url.startswith(("http://", "https://")):
        raise ConfigurationError(
            f"The address {url!r} must begin with http:// or https://, as Label Studio reaches it."
        )
    known = webhook_secret(settings)
    projects = [found for found in map(studio.find_project, REVIEW_KINDS) if found is not None]
    for project in projects:
        studio.tell_of_changes(project, url, known)
    return len(projects)


def withdraw_announcement(studio: LabelStudio) -> int:
    """Have Label Studio tell nobody any more; how many webhooks were taken away."""
    projects = [found for found in map(studio.find_project, REVIEW_KINDS) if found is not None]
    return sum(studio.tell_no_more(project) for project in projects)


class Door(NamedTuple):
    """Where to listen; port 0 is a free one."""

    host: str = "127.0.0.1"
    port: int = 0


class Told(NamedTuple):
    """Whom to tell: `ready` of the address, as soon as it can be reached, and `brought` of each pull."""

    ready: Callable[[str], None] = lambda address: None
    brought: Callable[[Pulled], None] = lambda pulled: None


async def listen(
    settings: Settings,
    studio: LabelStudio,
    progress: Progress,
    *,
    door: Door,
    told: Told,
    again: float = _AGAIN,
) -> None:
    """Pull whenever Label Studio tells of changes, until this is cancelled; what fails comes again after `again` seconds."""
    loop = asyncio.get_running_loop()
    burst = Burst(loop.time, asyncio.sleep)
    async with hear_webhooks(*door, webhook_secret(settings), burst.hear) as address:
        burst.hear()  # what people did while nobody listened
        told.ready(address)
        while True:
            await burst.end()
            try:
                pulled = await asyncio.to_thread(_pull, settings, studio, progress)
            except CallwrightError as error:
                progress.say(
                    f"This pull failed; the next one, {again:g} s from now at the latest, makes up for it. {error}"
                )
                loop.call_later(again, burst.hear)
            else:
                told.brought(pulled)


def _pull(settings: Settings, studio: LabelStudio, progress: Progress) -> Pulled:
    """A pull in a thread of its own: webhooks that come meanwhile are answered within the second that they wait."""
    return asyncio.run(pull_reviews(settings, studio, progress))
