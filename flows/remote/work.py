"""What a worker elsewhere does: it fetches a parcel, works the shard in a folder of its own, and puts the result back."""

import asyncio
import logging
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from threading import Event, Thread

from flows.remote.exchange import Exchange
from flows.remote.parcels import ANSWERS, PAID, Parcel, is_paid_for, pack_result, unpack_parcel
from flows.settings import quiet_vendors, read_settings
from flows.shards import Shard, carry_out
from flows.spending import paid_folder
from llm.ledger import answers_between, keep_answers, last_number
from warehouse.errors import CallwrightError, TransientError

logger = logging.getLogger(__name__)


def run_parcel(exchange: str, place: str) -> str:
    """Work the parcel at `place`, with the scratch folder that this process's settings name; what came of it as a sentence."""
    quiet_vendors()
    return asyncio.run(work_parcel(Exchange(exchange), place, read_settings().scratch))


async def work_parcel(exchange: Exchange, place: str, scratch: Path) -> str:
    """Work the parcel at `place`, with files below `scratch` only; what came of it as a sentence."""
    members = await asyncio.to_thread(exchange.get, f"{place}/parcel")
    if members is None:
        return "Nobody wants this shard any more."
    if await asyncio.to_thread(exchange.get, f"{place}/result") is not None:
        return "Another worker has delivered this shard."
    office, _, _ = place.partition("/")
    home = scratch / blake2b(f"{exchange.url} {office}".encode(), digest_size=8).hexdigest()
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = Path(tempfile.mkdtemp(prefix="shard-", dir=home))
    try:
        parcel = unpack_parcel(members, folder, toolboxes=home / "toolboxes", ledger=home / "ledger.sqlite")
        courier = _Courier(exchange, place, parcel)
        await asyncio.to_thread(_fetch, exchange, place, parcel)
        with courier.travelling():
            result = await carry_out(parcel.shard)
        await asyncio.to_thread(exchange.put, f"{place}/result", pack_result(result, parcel.shard.ledger))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return f"{result.done} of {parcel.shard.records} records of the group {parcel.shard.group!r} are done."


def _fetch(exchange: Exchange, place: str, parcel: Parcel) -> None:
    """Fetch the tools, what the ledger at home knows, and what a worker before this one had paid for. Raises TransientError."""
    shard = parcel.shard
    office, build, _ = place.split("/")
    _fetch_file(exchange, f"{office}/{build}/{parcel.toolbox}", shard.toolbox)
    for pack in parcel.known:
        mark = shard.ledger.with_name(f"known-{pack}")
        known = None if mark.exists() else exchange.get(f"{office}/known/{pack}")
        if known is not None:
            keep_answers(shard.ledger, known[ANSWERS].splitlines())
            mark.touch()
    paid = paid_folder(shard.target)
    for name in exchange.names(place):
        notes = exchange.get(name) if "/notes-" in name else None
        if notes is not None:
            keep_answers(shard.ledger, notes[ANSWERS].splitlines())
            paid.mkdir(exist_ok=True)
            with (paid / PAID).open("ab") as file:
                file.write(notes[PAID])


def _fetch_file(exchange: Exchange, name: str, path: Path) -> None:
    if path.exists():
        return
    members = exchange.get(name)
    if members is None:
        raise TransientError(f"The exchange {exchange.url} has no whole {name!r}; build again.")
    path.parent.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(members[path.name])
    Path(file.name).replace(path)


class _Courier:
    """Tells every few seconds that the worker lives, and carries home what it paid for meanwhile: a machine can be lost whole."""

    def __init__(self, exchange: Exchange, place: str, parcel: Parcel) -> None:
        self._exchange, self._place = exchange, place
        self._shard: Shard = parcel.shard
        self._seconds = parcel.beat
        self._is_paid_for = is_paid_for(parcel.shard.recipe)
        self._answers = 0
        self._paid = 0  # bytes of the notes of paid calls that have been carried
        self._is_over = Event()

    @contextmanager
    def travelling(self) -> Iterator[None]:
        """Go to and fro while the shard is worked, in a thread: work that computes would let nobody else have a turn."""
        if self._is_paid_for:
            self._answers = last_number(self._shard.ledger)
            self._paid = len(self._paid_for())
        self._go()
        thread = Thread(target=self._until_over, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            thread.join()

    def _until_over(self) -> None:
        while not self._is_over.wait(self._seconds):
            try:
                self._go()
            except CallwrightError as error:  # the way may be free again next time
                logger.warning("%s", error)

    def _go(self) -> None:
        if self._is_paid_for:
            self._carry_notes()
        self._exchange.put(f"{self._place}/beat", {"at": datetime.now(UTC).isoformat().encode()})

    def _carry_notes(self) -> None:
        last = last_number(self._shard.ledger)
        paid = self._paid_for()[self._paid :]
        paid = paid[: paid.rfind(b"\n") + 1]  # a line may be half written
        if last == self._answers and not paid:
            return
        answers = b"".join(answers_between(self._shard.ledger, self._answers + 1, last))
        name = blake2b(answers + paid, digest_size=8).hexdigest()
        self._exchange.put(f"{self._place}/notes-{name}", {ANSWERS: answers, PAID: paid})
        self._answers, self._paid = last, self._paid + len(paid)

    def _paid_for(self) -> bytes:
        notes = paid_folder(self._shard.target) / PAID
        return notes.read_bytes() if notes.exists() else b""
