"""Workers that share no disk with the builder, in this process: a folder in memory is all that lies between them."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from flows.build import BuildReport, close_build, land, open_build
from flows.groups import Workers
from flows.making import make_and_check
from flows.progress import Silence
from flows.recipe import Recipe
from flows.remote.exchange import Exchange
from flows.remote.sending import Sender
from flows.remote.work import work_parcel
from flows.remote.workers import Outpost
from flows.settings import Settings
from llm.ledger import last_number
from tests.support.flows.small_builds import settings_of, warehouse_of
from warehouse.tables import TABLES

BEAT = 0.05
Mishap = Callable[[str], Awaitable[None]]


class Distant(NamedTuple):
    """A builder's settings, the exchange, and where workers keep their files."""

    settings: Settings
    exchange: Exchange
    scratch: Path

    def build(self, recipe: Recipe, send: Mishap | None = None, *, slots: int = 2) -> BuildReport:
        """Build with the workers elsewhere; `send` stands for what happens to a parcel on its way."""
        return asyncio.run(self._build(recipe, Sender(send or self.work, slots)))

    async def work(self, place: str) -> None:
        """A worker takes a parcel and delivers."""
        await work_parcel(self.exchange, place, self.scratch)

    async def _build(self, recipe: Recipe, sender: Sender) -> BuildReport:
        outpost = Outpost(self.settings, self.exchange, sender, beat=BEAT)
        run = open_build(recipe, self.settings, Silence())
        try:
            await make_and_check(run, Workers(outpost.work, sender.slots, outpost.settle))
        finally:
            outpost.close()
        land(run)
        return close_build(run)

    def left(self) -> list[str]:
        """What is left on the exchange, but for the answers that anybody may use."""
        return [name for name in self.exchange.names("") if "/known/" not in name]


def distant(folder: Path, *, worker: str = "worker") -> Distant:
    """A builder, and a worker with a scratch folder of its own."""
    url = f"memory://{uuid4()}"
    return Distant(settings_of(folder / "builder")._replace(exchange=url), Exchange(url), folder / worker)


def counts(settings: Settings) -> dict[str, int]:
    """How many rows each table has, and the ledger."""
    warehouse = warehouse_of(settings)
    found = warehouse.rows_by_name({table: (f"select count(*) as n from {table}", []) for table in TABLES})
    return {table: row["n"] for table, [row] in found.items()} | {"answers": last_number(settings.ledger)}
