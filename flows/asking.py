"""Asking a model about many items, as many at once as it allows; what it answered is kept as it comes."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeVar

from flows.chats import FATAL
from flows.progress import Progress
from warehouse.errors import CallwrightError, TransientError
from warehouse.records import LlmCall, Record
from warehouse.store import Warehouse

CHUNK = 500
Item = TypeVar("Item")
Ask = Callable[[Item], Awaitable[Sequence[Record]]]


class Keeping(NamedTuple):
    """Where the answers go; `calls` are the model's calls since they were last kept."""

    warehouse: Warehouse
    progress: Progress
    calls: list[LlmCall]


async def ask_and_keep(  # noqa: PLR0917 - the last one has its usual value
    items: Sequence[Item], ask: Ask[Item], concurrency: int, title: str, keeping: Keeping, chunk_size: int = CHUNK
) -> None:
    """Ask about each item, and keep what comes of it in its chunk; all of it is kept before any error is raised.

    An item that the provider fails is left for the next time. Raises the gravest error that left items without answer.
    """
    if not items:
        return
    keeping.progress.begin(title, len(items))
    errors: list[CallwrightError] = []
    for start in range(0, len(items), chunk_size):
        chunk = items[start : start + chunk_size]
        made: list[Record] = []
        try:
            errors += await _ask_all(chunk, ask, concurrency, made)
        finally:  # also what was asked before somebody pressed Ctrl-C
            keeping.warehouse.put([*keeping.calls, *made])
            keeping.calls.clear()
        keeping.progress.advance(len(chunk))
        if errors and (isinstance(errors[-1], FATAL) or not made):
            break
    if errors:
        raise errors[-1]


async def _ask_all(
    items: Sequence[Item], ask: Ask[Item], concurrency: int, made: list[Record]
) -> list[CallwrightError]:
    """Add the answers to `made` as they come; the errors that left items without one, the gravest last.

    Where the provider fails as many items in a row as are asked at once, or the next one would meet the same error, the
    others are left too.
    """
    queue = list(items)[::-1]
    errors: list[CallwrightError] = []
    in_vain = 0

    async def ask_next() -> None:
        nonlocal in_vain
        while queue and in_vain < concurrency and not (errors and isinstance(errors[-1], FATAL)):
            item = queue.pop()
            try:
                made.extend(await ask(item))
            except (TransientError, *FATAL) as error:
                errors.append(error)
                errors.sort(key=lambda one: isinstance(one, FATAL))
                in_vain += 1
            else:
                in_vain = 0

    await asyncio.gather(*(ask_next() for _ in range(min(concurrency, len(items)))))
    return errors
