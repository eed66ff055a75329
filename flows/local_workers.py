"""Workers of shards on this machine: this process itself, or a pool of processes."""

import asyncio
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children, get_context, parent_process
from threading import Thread

from flows.chats import SharedChats
from flows.groups import Workers
from flows.recipe import Recipe
from flows.settings import Settings
from flows.shards import Shard, ShardResult, carry_out, run_shard
from warehouse.errors import TransientError

_AT_ONCE = 2  # shards of one process under way at the same time: while one runs out of records, the next one begins


@contextmanager
def local_workers(recipe: Recipe, settings: Settings) -> Iterator[Workers]:
    """Workers on this machine: processes for models that compute here, this one for models across a network.

    A network model's limits hold for one process, and its time is spent waiting; an embedded one needs the cores.
    """
    if not _computes_here(recipe):
        yield Workers(partial(carry_out, shared=SharedChats()), _AT_ONCE, in_one=True)
    elif settings.workers == 1:
        yield Workers(carry_out, 1)
    else:
        pool = _Pool(settings.workers)
        with pool.executor:
            yield Workers(pool.work, settings.workers)


class _Pool:
    """Processes that work shards; where one shard is called off, all are, for then its whole build is."""

    def __init__(self, slots: int) -> None:
        # Workers are forked from a server that has imported what they need: they start at once and share its memory.
        context = get_context("forkserver")
        context.set_forkserver_preload(["flows.shards", "llm.template.model", "rouge_score.rouge_scorer"])
        self._others = active_children()
        self.executor = ProcessPoolExecutor(slots, mp_context=context, initializer=_settle_in)

    async def work(self, shard: Shard) -> ShardResult:
        """Work a shard in one of the processes. Raises TransientError where that was ended from outside."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self.executor, run_shard, shard)
        except BrokenProcessPool as error:
            raise TransientError(
                "A worker process was ended from outside, perhaps because memory ran out. Build again, with fewer workers "
                "(CALLWRIGHT_WORKERS=1) if it happens again; what is done is kept."
            ) from error
        except asyncio.CancelledError:  # Ctrl-C, or another shard failed
            self._end()
            raise

    def _end(self) -> None:
        """Nobody waits for these shards any more; and whoever clears their files away must find nobody who writes them."""
        ours = [process for process in active_children() if process not in self._others]
        for process in ours:
            process.terminate()
        for process in ours:
            process.join()


def _settle_in() -> None:
    """Leave Ctrl-C to the process that this worker belongs to, and end when that one does, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _computes_here(recipe: Recipe) -> bool:
    roles = recipe.models
    return all(model.name.startswith("template/") for model in (roles.generator, roles.checker, roles.judge))
