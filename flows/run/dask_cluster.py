"""Shards on a Dask cluster: of this machine, or of any scheduler that is named.

The only importer of distributed. A shard goes out by value: its records, its tools, what is known
already, and the files of its environments. Its result comes back by value: facts, the ledger's new
answers, and responses of live servers. Where a worker is lost, Dask gives the shard to another one.
The files that a worker keeps stand in its own scratch folder, one a work folder.
"""

import asyncio
import fcntl
import logging
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from callwright.flows.environments import STORE, environments_of
from callwright.flows.progress import Progress
from callwright.flows.recipe import Recipe
from callwright.flows.run.carry import Carrier, GroupRun
from callwright.flows.run.work import Shard, ShardResult, distinct_models, with_models, work_alone
from callwright.flows.settings import Settings, private_folder, quiet_vendors, read_settings
from callwright.generators.environments.protocol import (
    HttpSettings,
    RecordedSettings,
    ServerSettings,
    SimulatedSettings,
)
from callwright.generators.environments.response_store import merge_responses, pack_responses
from callwright.llm.ledger import answers_after, answers_of, keep_answers
from callwright.llm.models import ModelSettings
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import CallwrightError, ConfigurationError, TransientError
from callwright.warehouse.extras import require_extra
from callwright.warehouse.paid_notes import paid_folder

if TYPE_CHECKING:
    from distributed import Client, Future


_PATIENCE = 10.0
# After so many a worker removes what is left of shards that it never finished.
_KEPT_SECONDS = 86_400.0
_CALLS = "llm_calls.jsonl"
_BY_VALUE = {"recipe", "source", "target", "toolbox", "ledger"}
# Logs at CRITICAL: what the workers of a cluster that ends report of each other's ends is for
# nobody.
_OWN: dict[str, Any] = {
    "threads_per_worker": 1,
    "host": "127.0.0.1",
    "dashboard_address": None,
    "silence_logs": logging.CRITICAL,
}


class SentShard(NamedTuple):
    """A shard by value: what is `plain` in it, and its environments' files by their paths."""

    name: str
    home: str
    plain: dict[str, Any]
    recipe: str
    source: bytes
    files: dict[str, bytes]


class ReturnedShard(NamedTuple):
    """A shard's result by value: facts by file name, answers as lines, a store of responses."""

    result: ShardResult
    facts: dict[str, bytes]
    answers: bytes
    responses: bytes


@contextmanager
def open_cluster(settings: Settings, progress: Progress) -> Iterator["DaskCluster"]:
    """Connect with the cluster that the settings name, or one of this machine.

    Raises ConfigurationError where Dask, a certificate or workers lack, CallwrightError where no
    scheduler answers.
    """
    require_extra("dask")
    from distributed import Client, LocalCluster
    from distributed.security import Security

    with ExitStack() as opened:
        named: Any = settings.workplace.partition(":")[2]
        patience = {"timeout": _PATIENCE} if named else {}
        if named:
            validate_scheduler(named, is_trusted=settings.trusts_scheduler)
        else:
            progress.say(
                f"{count_of(settings.workers, 'Dask worker')} on this machine will do the work."
            )
            # With certificates of its own for as long as it lives: whoever can reach a scheduler
            # can run code on its workers.
            own = LocalCluster(
                settings.workers, protocol="tls://", security=Security.temporary(), **_OWN
            )
            named = opened.enter_context(own)
        try:
            client: Any = Client(named, **patience, set_as_default=False)
        except (OSError, ValueError) as error:
            raise CallwrightError(f"No Dask scheduler answers at {named!r}: {error}.") from error
        except TypeError as error:  # Dask's word for a TLS address without certificates
            raise ConfigurationError(
                f"Dask has no certificates for {named!r}: {error}. Name them as Dask reads them: "
                "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__TLS__CLIENT__CERT and"
                " …__TLS__CLIENT__KEY."
            ) from error
        opened.enter_context(client)
        slots = sum(client.nthreads().values())
        if not slots:
            raise ConfigurationError(
                "The Dask scheduler has no workers yet. Start some with `dask worker ADDRESS`."
            )
        yield DaskCluster(client, slots)


def validate_scheduler(address: str, *, is_trusted: bool) -> None:
    """Raise ConfigurationError where a scheduler authenticates nobody and is not trusted."""
    if address.startswith("tls://") or is_trusted:
        return
    raise ConfigurationError(
        f"The Dask scheduler {address!r} does not authenticate: whoever reaches it can run code"
        " where your keys are. Start it with TLS and name it by 'dask:tls://host:port', or set"
        " CALLWRIGHT_DASK_UNAUTHENTICATED=1 on a network that you trust."
    )


class DaskCluster(Carrier):
    """The builder's side: shards are sent, and what comes of them is written down."""

    def __init__(self, client: "Client", slots: int) -> None:
        """Start without having sent anything."""
        self._client, self.slots, self.processes = client, slots, slots
        self._answers = 0  # the number of the ledger's newest answer that was sent
        self._known: list[Future] = []
        self._toolbox: tuple[Path, Future] | None = None

    async def prepare(self, run: GroupRun) -> None:
        """Send the ledger's new answers, where answers are paid for, and known responses."""
        await asyncio.to_thread(self._send_known, run)

    async def work(self, shard: Shard) -> ShardResult:
        """Have a worker process a shard.

        Raises TransientError if worker after worker is lost over it, or the scheduler is lost.
        """
        future = await asyncio.to_thread(self._send, shard)
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(ended.set))
        try:
            await ended.wait()
            returned = await asyncio.to_thread(_result_of, future)
        finally:
            future.cancel()  # of one that has ended it only lets go
        return await asyncio.to_thread(_write_down, returned, shard)

    def _send_known(self, run: GroupRun) -> None:
        known, names = dict[str, bytes](), _stored(run.recipe)
        if any(model.path != "in process" for model in distinct_models(run.recipe)):
            known["answers"], self._answers = answers_after(run.settings.ledger, self._answers)
        if names:
            known["responses"] = pack_responses(run.settings.ledger.parent / STORE, names)
        submit = self._client.submit
        self._known += [
            submit(_value, kind, body, pure=True) for kind, body in known.items() if body
        ]

    def _send(self, shard: Shard) -> "Future":
        # As a task of its own: it goes to each worker once, and Dask makes it again where a worker
        # is lost with it.
        if self._toolbox is None or self._toolbox[0] != shard.toolbox:
            tools = self._client.submit(_value, "tools", shard.toolbox.read_bytes(), pure=True)
            self._toolbox = shard.toolbox, tools
        recipe = share_of(shard.recipe, self.slots, shard.spent)
        sent = SentShard(
            name=secrets.token_hex(8),
            home=blake2b(str(shard.ledger).encode(), digest_size=8).hexdigest(),
            plain={name: value for name, value in shard._asdict().items() if name not in _BY_VALUE},
            # Its keys are masked: workers read theirs from their environment.
            recipe=recipe.model_dump_json(by_alias=True),
            source=shard.source.read_bytes(),
            files={str(path): path.read_bytes() for path in _files_of(recipe)},
        )
        return self._client.submit(work_sent, sent, self._toolbox[1], self._known, pure=False)


def _result_of(future: "Future") -> ReturnedShard:
    from distributed.scheduler import KilledWorker

    try:
        returned: ReturnedShard = future.result()
    except (KilledWorker, CancelledError, OSError) as error:
        raise TransientError(
            f"The Dask cluster lost a part of the work: {error}. See the logs of the workers."
            " Finished work is kept."
        ) from error
    return returned


def _write_down(returned: ReturnedShard, shard: Shard) -> ShardResult:
    """Store the answers before the facts appear, so that paid work is known by then."""
    keep_answers(shard.ledger, returned.answers.splitlines())
    if returned.responses:
        merge_responses(shard.ledger.parent / STORE, returned.responses)
    unfinished = shard.target.with_name(f"{shard.target.name}.unfinished")
    unfinished.mkdir(parents=True)
    for name, body in returned.facts.items():
        (unfinished / Path(name).name).write_bytes(body)
    unfinished.rename(shard.target)
    return returned.result._replace(target=shard.target)


def share_of(recipe: Recipe, slots: int, spent: float) -> Recipe:
    """Return the recipe for one of `slots` workers, which together keep its limits and budget."""
    limits = ("concurrency", "requests_per_minute", "tokens_per_minute")

    def share(model: ModelSettings) -> dict[str, int]:
        if model.path == "in process":
            return {}
        stated = {name: most for name in limits if (most := getattr(model, name)) is not None}
        return {name: max(1, most // slots) for name, most in stated.items()}

    budget = None if recipe.budget is None else spent + (recipe.budget - spent) / slots
    return with_models(recipe, share).model_copy(update={"budget": budget})


def _files_of(recipe: Recipe) -> Iterator[Path]:
    for source in environments_of(recipe):
        if isinstance(source, HttpSettings | RecordedSettings) and source.path is not None:
            yield source.path
        if isinstance(source, SimulatedSettings) and source.rules is not None:
            yield source.rules
    yield from dict.fromkeys(one.file for one in recipe.extensions)


def _stored(recipe: Recipe) -> list[str]:
    """Return whose stored responses its environments need: those of servers, and of catalogs."""
    used = environments_of(recipe)
    servers = [one.name for one in used if isinstance(one, ServerSettings)]
    return servers + [one.described_as for one in used if isinstance(one, SimulatedSettings)]


def _value(kind: str, body: bytes) -> tuple[str, bytes]:
    return kind, body


def work_sent(
    sent: SentShard, toolbox: tuple[str, bytes], known: Iterable[tuple[str, bytes]]
) -> ReturnedShard:
    """Work a shard on a worker, in the scratch folder that this process's settings name.

    The folder bears the shard's name: a worker of the same machine that gets the shard of one that
    was killed finds there what its calls cost, and in the ledger beside it their answers.
    """
    quiet_vendors()
    home = private_folder(read_settings().scratch) / sent.home
    folder = home / "shards" / sent.name
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for old in folder.parent.iterdir():
        if old.stat().st_mtime < time.time() - _KEPT_SECONDS:
            shutil.rmtree(old, ignore_errors=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a worker that Dask took for lost may still be at it
        for kind, body in known:
            mark = home / f"known-{blake2b(body, digest_size=16).hexdigest()}"
            if not mark.exists():
                if kind == "answers":
                    keep_answers(home / "ledger.sqlite", body.splitlines())
                else:
                    merge_responses(home / STORE, body)
                mark.touch()
        shard = _unpacked(sent, home, folder, toolbox[1])
        began = time.time()
        returned = _returned(work_alone(shard), shard, began)
    for path in folder.iterdir():
        if path.suffix != ".paid":  # kept: the worker may be lost before the result has left it
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return returned


def _unpacked(sent: SentShard, home: Path, folder: Path, toolbox: bytes) -> Shard:
    source = folder / "source.jsonl"
    source.write_bytes(sent.source)
    tools_file = _written(home / "files", toolbox, ".jsonl")
    files = {
        path: _written(home / "files", body, Path(path).suffix) for path, body in sent.files.items()
    }
    settings = orjson.loads(sent.recipe)
    for settings_part in settings.get("extensions", ()):
        settings_part["file"] = str(files[settings_part["file"]])
    recipe = Recipe.model_validate_json(orjson.dumps(settings))
    tools = []
    for part in recipe.tools:
        paths = {name: str(value) for name, value in part if isinstance(value, Path)}
        sent_files = {name: files[path] for name, path in paths.items() if path in files}
        tools.append(part.model_copy(update=sent_files))
    return Shard(
        **sent.plain,
        recipe=recipe.model_copy(update={"tools": tuple(tools)}),
        source=source,
        target=folder / "facts",
        toolbox=tools_file,
        ledger=home / "ledger.sqlite",
    )


def _returned(result: ShardResult, shard: Shard, began: float) -> ReturnedShard:
    folders = (result.target, paid_folder(result.target))
    facts = {
        file.name: file.read_bytes()
        for folder in folders
        for file in sorted(folder.glob("*.jsonl"))
    }
    calls = map(orjson.loads, facts.get(_CALLS, b"").splitlines())
    answers = b"".join(
        answers_of(shard.ledger, (call["request"] for call in calls if not call["error"]))
    )
    names = _stored(shard.recipe)
    responses = pack_responses(shard.ledger.parent / STORE, names, since=began) if names else b""
    return ReturnedShard(result._replace(target=Path()), facts, answers, responses)


def _written(folder: Path, body: bytes, suffix: str) -> Path:
    """Write a file named by its content, unless it exists, and return its path."""
    path = folder / f"{blake2b(body, digest_size=16).hexdigest()}{suffix}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        unfinished.write_bytes(body)
        unfinished.replace(path)
    return path
