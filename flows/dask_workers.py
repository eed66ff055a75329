"""Shards on a Dask cluster: of this machine, or of any scheduler that is named.

The only importer of distributed.

A shard goes out by value: its records, its tools, what is known already, and the files of its
environments. Its result comes back by value: facts, the ledger's new answers, and responses of live
servers. Where a worker is lost, Dask gives the shard to another one. The files that a worker keeps
stand in its own scratch folder, one a work folder.
"""

import asyncio
import fcntl
import logging
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from callwright.flows.chats import distinct_models, roles_of
from callwright.flows.environments import STORE, environments_of
from callwright.flows.progress import Progress
from callwright.flows.recipe import Recipe, Roles
from callwright.flows.runner import GroupRun, Workers, local_workers
from callwright.flows.settings import Settings, private_folder, quiet_vendors, read_settings
from callwright.flows.shards import Shard, ShardResult, carry_out
from callwright.generators.environments.protocol import (
    HttpSettings,
    RecordedSettings,
    ServerSettings,
    SimulatedSettings,
)
from callwright.generators.environments.response_store import merge_responses, pack_responses
from callwright.llm.ledger import answers_after, answers_of, keep_answers
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import CallwrightError, ConfigurationError, TransientError
from callwright.warehouse.extras import require_extra
from callwright.warehouse.paid_notes import paid_folder

if TYPE_CHECKING:
    from distributed import Client, Future


_PATIENCE = 10.0
_KEPT_SECONDS = (
    86_400.0  # after which a worker removes what is left of shards that it never finished
)
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
    """A shard by value, with what is `plain` in it.

    `files` are those of its environments, by the paths in its recipe.
    """

    name: str
    home: str
    plain: dict[str, Any]
    recipe: str
    source: bytes
    files: dict[str, bytes]


class ReturnedShard(NamedTuple):
    """What came of a shard, by value: its facts by file name, the ledger's answers as lines, a
    store of responses.
    """

    result: ShardResult
    facts: dict[str, bytes]
    answers: bytes
    responses: bytes


@contextmanager
def open_workers(recipe: Recipe, settings: Settings, progress: Progress) -> Iterator[Workers]:
    """Whoever works the shards of a recipe, as the setting CALLWRIGHT_WORKERS says."""
    waits = [model.name for _, model in roles_of(recipe) if model.path == "batch"]
    if settings.workplace != "local" and waits:
        progress.say(
            f"{waits[0]} answers in batches, so this machine does all the work instead of Dask."
        )
    if settings.workplace == "local" or waits:
        with local_workers(recipe, settings) as workers:
            yield workers
        return
    with _connected(settings, progress) as client:
        slots = sum(client.nthreads().values())
        if not slots:
            raise ConfigurationError(
                "The Dask scheduler has no workers yet. Start some with `dask worker ADDRESS`."
            )
        cluster = _Cluster(client, slots)
        yield Workers(cluster.work, slots, cluster.prepare)


@contextmanager
def _connected(settings: Settings, progress: Progress) -> Iterator["Client"]:
    """A client of the cluster.

    Raises ConfigurationError where Dask or a certificate lacks, CallwrightError where none answers.
    """
    require_extra("dask")
    from distributed import Client, LocalCluster
    from distributed.security import Security

    address = settings.workplace.partition(":")[2]
    if not address:
        progress.say(
            f"{count_of(settings.workers, 'Dask worker')} on this machine will do the work."
        )
        # With certificates of its own for as long as it lives: whoever can reach a scheduler can
        # run code on its workers.
        with (
            LocalCluster(
                settings.workers, protocol="tls://", security=Security.temporary(), **_OWN
            ) as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            yield client
        return
    validate_scheduler(address, is_trusted=settings.trusts_scheduler)
    try:
        connected: Any = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise CallwrightError(f"No Dask scheduler answers at {address!r}: {error}.") from error
    except TypeError as error:  # Dask's word for a TLS address without certificates
        raise ConfigurationError(
            f"Dask has no certificates for {address!r}: {error}. Name them as Dask reads them: "
            "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__TLS__CLIENT__CERT and …__TLS__CLIENT__KEY."
        ) from error
    with connected as client:
        yield client


def validate_scheduler(address: str, *, is_trusted: bool) -> None:
    """Raise ConfigurationError where a scheduler asks nobody who they are, unless the settings
    say that this is meant.
    """
    if address.startswith("tls://") or is_trusted:
        return
    raise ConfigurationError(
        f"The Dask scheduler {address!r} does not authenticate: whoever reaches it can run code"
        " where your keys are. Start it with TLS and name it by 'dask:tls://host:port', or set"
        " CALLWRIGHT_DASK_UNAUTHENTICATED=1 on a network that you trust."
    )


class _Cluster:
    """The builder's side: shards are sent, and what comes of them is written down."""

    def __init__(self, client: "Client", slots: int) -> None:
        """Nothing has been sent yet."""
        self._client, self._slots = client, slots
        self._answers = 0  # the number of the ledger's newest answer that was sent
        self._known: list[Future] = []
        self._toolbox: tuple[Path, Future] | None = None

    async def prepare(self, run: GroupRun) -> None:
        """Send what a group's shards may need: the ledger's new answers where answers are paid
        for, and known responses.
        """
        await asyncio.to_thread(self._send_known, run)

    async def work(self, shard: Shard) -> ShardResult:
        """Have a shard worked.

        Raises TransientError where worker after worker is lost over it, or the scheduler is.
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
        if any(model.path != "in process" for model in distinct_models(run.recipe)):
            lines, self._answers = answers_after(run.settings.ledger, self._answers)
            self._send_value("answers", lines)
        if names := _stored(run.recipe):
            self._send_value("responses", pack_responses(run.settings.ledger.parent / STORE, names))

    def _send_value(self, kind: str, body: bytes) -> None:
        if body:
            self._known.append(self._client.submit(_value, kind, body, pure=True))

    def _send(self, shard: Shard) -> "Future":
        # As a task of its own: it goes to each worker once, and Dask makes it again where a worker
        # is lost with it.
        if self._toolbox is None or self._toolbox[0] != shard.toolbox:
            self._toolbox = (
                shard.toolbox,
                self._client.submit(_value, "tools", shard.toolbox.read_bytes(), pure=True),
            )
        recipe = share_of(shard.recipe, self._slots, shard.spent)
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
    """Keep the answers before the facts appear: what was paid for is known from then on."""
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
    """The recipe for one of `slots` workers: all of them together keep the limits of its models,
    and its budget.
    """
    models = dict(roles_of(recipe))
    for role, model in models.items():
        if model.path != "in process":
            limits = {
                name: getattr(model, name)
                for name in ("concurrency", "requests_per_minute", "tokens_per_minute")
            }
            slower = {
                name: max(1, most // slots) for name, most in limits.items() if most is not None
            }
            models[role] = model.model_copy(update=slower)
    budget = None if recipe.budget is None else spent + (recipe.budget - spent) / slots
    return recipe.model_copy(update={"models": Roles(**models), "budget": budget})


def _files_of(recipe: Recipe) -> Iterator[Path]:
    for one in environments_of(recipe):
        if isinstance(one, HttpSettings | RecordedSettings) and one.path is not None:
            yield one.path
        if isinstance(one, SimulatedSettings) and one.rules is not None:
            yield one.rules
    yield from dict.fromkeys(one.file for one in recipe.extensions)


def _stored(recipe: Recipe) -> list[str]:
    """What of the response store its environments need: servers' answers, and what simulated
    ones are made of.
    """
    used = environments_of(recipe)
    servers = [one.name for one in used if isinstance(one, ServerSettings)]
    return servers + [one.described_as for one in used if isinstance(one, SimulatedSettings)]


def _value(kind: str, body: bytes) -> tuple[str, bytes]:
    return kind, body


def work_sent(
    sent: SentShard, toolbox: tuple[str, bytes], known: Iterable[tuple[str, bytes]]
) -> ReturnedShard:
    """The worker's side: work a shard in the scratch folder that this process's settings name.

    The folder bears the shard's name: a worker of the same machine that gets the shard of one that
    was killed finds there what its calls have cost, and in the ledger beside it what they were
    answered.
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
        result = asyncio.run(carry_out(shard))
        returned = _returned(result, shard, began)
    for path in folder.iterdir():
        if path.suffix != ".paid":  # kept: the worker may be lost before the result has left it
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return returned


def _unpacked(sent: SentShard, home: Path, folder: Path, toolbox: bytes) -> Shard:
    source = folder / "source.jsonl"
    source.write_bytes(sent.source)
    tools = _written(home / "files", toolbox, ".jsonl")
    files = {
        path: _written(home / "files", body, Path(path).suffix) for path, body in sent.files.items()
    }
    settings = orjson.loads(sent.recipe)
    for one in settings.get("extensions", ()):
        one["file"] = str(files[one["file"]])
    recipe = Recipe.model_validate_json(orjson.dumps(settings))
    sources = []
    for one in recipe.tools:
        sent_files = {
            name: files[str(value)]
            for name, value in one
            if isinstance(value, Path) and str(value) in files
        }
        sources.append(one.model_copy(update=sent_files))
    return Shard(
        **sent.plain,
        recipe=recipe.model_copy(update={"tools": tuple(sources)}),
        source=source,
        target=folder / "facts",
        toolbox=tools,
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
    """A file named by its content, written once."""
    path = folder / f"{blake2b(body, digest_size=16).hexdigest()}{suffix}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        unfinished.write_bytes(body)
        unfinished.replace(path)
    return path
