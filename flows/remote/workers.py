"""Workers elsewhere, as the one writer sees them: parcels go out by the exchange, results come home and land once."""

import asyncio
import secrets
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from flows.groups import GroupRun, Workers
from flows.local_workers import local_workers
from flows.progress import Progress
from flows.recipe import Recipe
from flows.remote.exchange import Exchange, Members
from flows.remote.parcels import (
    ANSWERS,
    Parcel,
    content_name,
    is_paid_for,
    pack_parcel,
    share_of,
    unpack_lost,
    unpack_result,
    validate_it_can_travel,
)
from flows.remote.sending import BEAT, Sender
from flows.settings import Settings, open_warehouse
from flows.shards import Shard, ShardResult
from llm.ledger import answers_between, last_number
from warehouse.errors import TransientError

SILENCE = 10  # beats without a sign of life after which a worker counts as gone
DELIVERIES = 3  # a shard whose worker is lost goes out again so many times in all
_PACK = 20_000  # answers
_TIDIED = 64  # results whose files wait to be removed


def validate_workers_can_take(recipe: Recipe, settings: Settings) -> None:
    """Raise ConfigurationError where the settings name workers elsewhere, and the recipe can't leave this machine."""
    if settings.workplace != "local":
        validate_it_can_travel(recipe)


@contextmanager
def open_workers(recipe: Recipe, settings: Settings, progress: Progress) -> Iterator[Workers]:
    """Whoever works the shards of a recipe, as the setting CALLWRIGHT_WORKERS says."""
    if settings.workplace == "local":
        with local_workers(recipe, settings) as workers:
            yield workers
        return
    validate_workers_can_take(recipe, settings)
    exchange = Exchange(settings.exchange)
    with _sender(settings, exchange, progress) as sender:
        outpost = Outpost(settings, exchange, sender)
        try:
            yield Workers(outpost.work, sender.slots, outpost.settle)
        finally:
            outpost.close()


@contextmanager
def _sender(settings: Settings, exchange: Exchange, progress: Progress) -> Iterator[Sender]:
    place, _, name = settings.workplace.partition(":")
    if place == "pool":
        from flows.engine.pools import pool_sender

        with pool_sender(settings, name, exchange, progress) as sender:
            yield sender
        return
    from flows.remote.dask import dask_sender

    with dask_sender(settings, exchange, progress) as sender:
        yield sender


class Outpost:
    """The parcels of one work folder that are elsewhere."""

    def __init__(self, settings: Settings, exchange: Exchange, sender: Sender, *, beat: float = BEAT) -> None:
        """Nothing has gone out yet."""
        self._settings, self._exchange, self._sender, self._beat = settings, exchange, sender, beat
        self._warehouse = open_warehouse(settings)
        self._office = _office(settings.home)
        self._known: dict[str, tuple[str, ...]] = {}
        self._toolboxes: set[str] = set()
        self._collected: list[str] = []

    async def work(self, shard: Shard) -> ShardResult:
        """Let somebody work a shard. Raises TransientError where whoever takes it is lost, again and again."""
        place = await asyncio.to_thread(self._post, shard)
        for _ in range(DELIVERIES):
            await self._sender.send(place)
            result = await asyncio.to_thread(self._collect, place, shard.target)
            if result is not None:
                return result
        raise TransientError(
            f"{DELIVERIES} workers ended over the shard {place!r} without a word. Their logs say why; what is done is kept."
        )

    async def settle(self, run: GroupRun) -> None:
        """Bring home what an earlier run of the build has left: results land, workers still at it are waited for."""
        folder = run.settings.home / "shards" / run.build / "left"
        places = await asyncio.to_thread(self._places, run.build)
        if places:
            await self._wait_for(places, run)
        for place, names in (await asyncio.to_thread(self._places, run.build)).items():
            await asyncio.to_thread(self._bring_home, place, names, folder)
        self._known[run.build] = await asyncio.to_thread(self._send_known) if is_paid_for(run.recipe) else ()

    def tidy(self) -> None:
        """Remove the objects of shards that have landed."""
        asked = "select name from landed_shards where list_contains(?::varchar[], name)"
        names = [place.rpartition("/")[2] for place in self._collected]
        landed = {row["name"] for row in self._warehouse.rows(asked, [names])} if names else set()
        for place in [place for place in self._collected if place.rpartition("/")[2] in landed]:
            self._exchange.remove_folder(place)
            self._collected.remove(place)

    def close(self) -> None:
        """Remove what no worker needs any more."""
        self.tidy()
        for tools in self._toolboxes:
            build = tools.rpartition("/")[0]
            if self._exchange.names(build) == [tools]:
                self._exchange.remove_folder(build)

    def _post(self, shard: Shard) -> str:
        """Put a shard where a worker finds it; where that is."""
        if len(self._collected) >= _TIDIED:
            self.tidy()
        body = shard.toolbox.read_bytes()
        toolbox = f"tools-{blake2b(body, digest_size=16).hexdigest()}"
        at = f"{self._office}/{shard.build}/{toolbox}"
        if at not in self._toolboxes:
            self._exchange.put(at, {toolbox: body})
            self._toolboxes.add(at)
        name = content_name(shard)
        asked = "select count(*) as times from landed_shards where starts_with(name, ?)"
        [row] = self._warehouse.rows(asked, [name])
        place = f"{self._office}/{shard.build}/{name}-{row['times']}"
        sent = shard._replace(recipe=share_of(shard.recipe, self._sender.slots, shard.spent))
        parcel = Parcel(sent, toolbox, self._known.get(shard.build, ()), self._beat)
        self._exchange.put(f"{place}/parcel", pack_parcel(parcel))
        return place

    def _collect(self, place: str, target: Path) -> ShardResult | None:
        """What came of a shard, None where nobody has delivered it."""
        members = self._exchange.get(f"{place}/result")
        if members is None:
            return None
        self._collected.append(place)
        return self._unpack(place, members, target)

    def _unpack(self, place: str, members: Members, target: Path) -> ShardResult:
        _, build, name = place.split("/")
        return unpack_result(members, target, name=name, build=build, ledger=self._settings.ledger)

    def _places(self, build: str) -> dict[str, list[str]]:
        """The names of a build's objects by the shard that they belong to."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for name in self._exchange.names(f"{self._office}/{build}"):
            place, _, object_name = name.rpartition("/")
            if not object_name.startswith("tools-"):
                found[place].append(name)
        return found

    async def _wait_for(self, places: dict[str, list[str]], run: GroupRun) -> None:
        """Wait for workers that still give signs of life; what they do was begun by a run that was cut off, and is paid for."""
        beating = [place for place, names in places.items() if f"{place}/beat" in names]
        seen = await asyncio.to_thread(self._beats, beating)
        if seen:
            run.progress.say(
                f"{len(seen)} shards of an earlier run may still be at work elsewhere; they are waited for."
            )
        while seen:
            await asyncio.sleep(SILENCE * self._beat)
            now = await asyncio.to_thread(self._beats, list(seen))
            seen = {place: beat for place, beat in now.items() if beat != seen[place]}

    def _beats(self, places: Sequence[str]) -> dict[str, Members]:
        """The newest signs of life of shards that nobody has delivered."""
        waiting = [place for place in places if not self._exchange.has(f"{place}/result")]
        return {place: beat for place in waiting if (beat := self._exchange.get(f"{place}/beat"))}

    def _bring_home(self, place: str, names: list[str], folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        members = self._exchange.get(f"{place}/result")
        if members is None:
            # First the parcel: nobody begins with it from now on.
            self._exchange.remove([f"{place}/parcel"])
            notes = [note for name in names if "/notes-" in name and (note := self._exchange.get(name))]
            _, build, name = place.split("/")
            if notes:
                unpack_lost(notes, folder, name=name, build=build, ledger=self._settings.ledger)
        else:
            self._unpack(place, members, folder)
        if folder.exists():
            self._warehouse.put_files(folder)
            shutil.rmtree(folder)
        self._exchange.remove_folder(place)

    def _send_known(self) -> tuple[str, ...]:
        """Put the ledger's answers where workers find them, those of a time before in packs that are there already."""
        there = [name.rpartition("/")[2] for name in self._exchange.names(f"{self._office}/known")]
        newest, sent = last_number(self._settings.ledger), max((int(name.split("-")[1]) for name in there), default=0)
        for first in range(sent + 1, newest + 1, _PACK):
            name = f"{first}-{min(newest, first + _PACK - 1)}"
            lines = answers_between(self._settings.ledger, first, first + _PACK - 1)
            self._exchange.put(f"{self._office}/known/{name}", {ANSWERS: b"".join(lines)})
            there.append(name)
        return tuple(there)


def _office(home: Path) -> str:
    """The name of a work folder among all that use the same exchange."""
    file = home / "exchange-name"
    if not file.exists():
        home.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_suffix(f".{secrets.token_hex(4)}")
        unfinished.write_text(secrets.token_hex(8), encoding="utf-8")
        unfinished.rename(file)
    return file.read_text(encoding="utf-8")
