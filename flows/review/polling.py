"""Pulling again and again: for those who have no Prefect that does it on a schedule."""

import asyncio
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from flows.progress import Progress
from flows.review.deciding import Pulled, pull_reviews
from flows.review.servers import require_label_studio
from flows.settings import Settings
from warehouse.errors import AnnotationError, ConfigurationError, StoreError, TransientError


def poll_reviews(settings: Settings, progress: Progress, every: float, tell: Callable[[Pulled], None]) -> None:
    """Pull every so many seconds, until somebody interrupts; `tell` hears of each pull that brought something.

    A Label Studio that is away, or a warehouse that is locked, is told of once and asked again. Raises ConfigurationError where
    no Label Studio is named or running at the first pull: one that ends later may come back.
    """
    trouble, has_begun = "", False
    while True:
        found = _pull(settings, progress, has_begun=has_begun)
        now = found if isinstance(found, str) else ""
        if now and now != trouble:
            progress.say(f"{now} It is asked again every {every:g} s.")
        if trouble and not now:
            progress.say("Label Studio answers again.")
        if isinstance(found, Pulled) and found != Pulled():
            tell(found)
        trouble, has_begun = now, True
        time.sleep(every)


def _pull(settings: Settings, progress: Progress, *, has_begun: bool) -> Pulled | str:
    """What a pull brought, or why there was none."""
    try:
        with require_label_studio(settings) as studio:
            return asyncio.run(pull_reviews(settings, studio, progress))
    except ConfigurationError as error:
        if not has_begun:
            raise
        return str(error)
    except (AnnotationError, TransientError, StoreError) as error:
        return str(error)


@contextmanager
def interrupts() -> Iterator[None]:
    """Let Ctrl-C interrupt whatever is under way in here.

    The handler that asyncio puts in place of Python's own only cancels the task, and where that ends in an error by itself
    nobody hears of the interrupt. It leaves another handler alone.
    """
    before = signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt
