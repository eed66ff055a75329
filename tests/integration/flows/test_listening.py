"""Hearing webhooks: the secret, sizes, bursts, and pulls that fail; without a Label Studio."""

import asyncio
import signal
import stat
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import ClientSession, ClientTimeout

from callwright.annotation.studio.projects import SECRET_HEADER
from callwright.flows.review import listening
from callwright.flows.review.listening import (
    LARGEST_BODY,
    SECRET,
    Burst,
    Callbacks,
    ListeningAddress,
    listen,
    serve_webhooks,
    webhook_secret,
)
from callwright.flows.review.pulling import Pulled
from callwright.flows.settings import Settings
from callwright.warehouse.errors import ConfigurationError, TransientError
from tests.support.flows.small_builds import settings_of, start
from tests.support.sampling import slow

KEY = "a secret of some length"


class SimulatedClock:
    """Time that passes only while somebody sleeps; what is planned happens on the way."""

    def __init__(self) -> None:
        self.now = 0.0
        self.plans: list[tuple[float, Any]] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        end = self.now + seconds
        while due := sorted((at, plan) for at, plan in self.plans if at <= end):
            self.now, plan = due[0]
            self.plans.remove(due[0])
            plan()
        self.now = end


class ListeningProgress:
    """Progress and pulls as they were told."""

    def __init__(self) -> None:
        self.stated: list[str] = []
        self.pulled: list[Pulled] = []
        self.address: asyncio.Queue[str] = asyncio.Queue()
        self.came = asyncio.Event()

    def say(self, sentence: str) -> None:
        self.stated.append(sentence)

    def begin(self, title: str, total: int) -> None: ...

    def advance(self, count: int) -> None: ...

    def brought(self, pulled: Pulled) -> None:
        self.pulled.append(pulled)
        self.came.set()


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.delenv(SECRET, raising=False)
    return settings_of(tmp_path / "home")


def test_a_secret_is_made_once_and_only_its_owner_reads_it(settings: Settings) -> None:
    made = webhook_secret(settings)
    assert len(made) >= 32
    assert webhook_secret(settings) == made
    [file] = [path for path in settings.home.iterdir() if path.is_file()]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "weak", ["short", "a" * 15, "ein Geheimnis mit ö" * 2, "two\nlines and a few words"]
)
def test_a_secret_that_is_none_is_refused_without_being_shown(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, weak: str
) -> None:
    monkeypatch.setenv(SECRET, weak)
    with pytest.raises(ConfigurationError, match=SECRET) as refusal:
        webhook_secret(settings)
    assert weak not in str(refusal.value)


async def test_a_burst_of_changes_is_one_reason_to_pull() -> None:
    clock = SimulatedClock()
    burst = Burst(clock, clock.sleep)
    clock.plans = [(moment, burst.add) for moment in (0.5, 1.0, 1.9, 3.5)]
    burst.add()
    await burst.end()
    assert clock.now == 5.5, "two seconds after the last one"
    clock.plans = [(9.0, burst.add)]
    await clock.sleep(5)
    await burst.end()
    assert clock.now == 11.0


@pytest.fixture
def heard() -> list[int]:
    return []


async def post(address: str, key: str | None = KEY, **options: Any) -> int:
    headers = {} if key is None else {SECRET_HEADER: key}
    async with (
        ClientSession(timeout=ClientTimeout(total=10)) as session,
        session.post(address, headers=headers, **options) as response,
    ):
        return response.status


@pytest.mark.enable_socket
async def test_who_knows_the_secret_is_heard(heard: list[int]) -> None:
    async with serve_webhooks("127.0.0.1", 0, KEY, lambda: heard.append(1)) as address:
        assert await post(address, json={"action": "ANNOTATION_CREATED"}) == 202
        assert await post(address, data=b"\xff no JSON at all") == 202
        assert await post(address, data=BytesIO(b"x" * LARGEST_BODY)) == 202
    assert len(heard) == 3


@pytest.mark.enable_socket
@pytest.mark.parametrize("key", [None, "", KEY + "x", KEY.upper()])
async def test_who_does_not_know_it_is_not(heard: list[int], key: str | None) -> None:
    async with serve_webhooks("127.0.0.1", 0, KEY, lambda: heard.append(1)) as address:
        assert await post(address, key, json={"action": "ANNOTATION_CREATED"}) == 401
        assert await post(f"{address}?secret={KEY}", key) == 401
    assert heard == []


async def long_story():
    for _ in range(40):
        yield b"x" * (LARGEST_BODY // 32)


@pytest.mark.enable_socket
async def test_a_body_too_large_is_refused_whether_it_tells_its_length_or_not(
    heard: list[int],
) -> None:
    async with serve_webhooks("127.0.0.1", 0, KEY, lambda: heard.append(1)) as address:
        assert await post(address, data=BytesIO(b"x" * (LARGEST_BODY + 1))) == 413
        assert await post(address, data=long_story()) == 413
    assert heard == []


@pytest.mark.enable_socket
async def test_other_doors_are_shut(heard: list[int]) -> None:
    async with serve_webhooks("127.0.0.1", 0, KEY, lambda: heard.append(1)) as address:
        assert await post(f"{address}elsewhere") == 404
        async with (
            ClientSession() as session,
            session.get(address, headers={SECRET_HEADER: KEY}) as response,
        ):
            assert response.status == 405
        port = int(address.rstrip("/").rpartition(":")[2])
        with pytest.raises(ConfigurationError, match=f"127.0.0.1:{port}"):
            async with serve_webhooks("127.0.0.1", port, KEY, lambda: None):
                pass
    assert heard == []


@pytest.mark.enable_socket
async def test_a_pull_that_fails_is_told_and_made_up_for(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "_QUIET", 0.05)
    ear, left = ListeningProgress(), [TransientError("The Label Studio is away.")]

    async def pull(*_: object) -> Pulled:
        if left:
            raise left.pop()
        return Pulled(reviews=1)

    monkeypatch.setattr(listening, "pull_reviews", pull)
    callbacks = Callbacks(ear.address.put_nowait, ear.brought)
    task = asyncio.create_task(
        listen(settings, None, ear, address=ListeningAddress(), callbacks=callbacks, again=0.1)
    )  # type: ignore[arg-type]
    address = await ear.address.get()
    await asyncio.wait_for(ear.came.wait(), 10)
    assert "The Label Studio is away." in ear.stated[0]
    ear.came.clear()
    for _ in range(5):
        assert await post(address, webhook_secret(settings)) == 202
    await asyncio.wait_for(ear.came.wait(), 10)
    await asyncio.sleep(0.2)
    assert ear.pulled == [Pulled(reviews=1)] * 2, "five at once are one pull"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(OSError, match="Cannot connect"):
        await post(address, webhook_secret(settings))


@pytest.mark.enable_socket
@pytest.mark.parametrize("number", [signal.SIGINT, slow(signal.SIGTERM)])
def test_the_command_listens_though_label_studio_is_away_and_ends_in_order(
    settings: Settings, number: int
) -> None:
    away = {"LABEL_STUDIO_URL": "http://127.0.0.1:9", "LABEL_STUDIO_API_KEY": "a" * 40}
    process = start("review", "listen", "--json", home=settings.home, **away)
    assert process.stdout is not None
    assert process.stderr is not None
    address = orjson.loads(process.stdout.readline())["address"]
    assert asyncio.run(post(address, webhook_secret(settings))) == 202
    told = process.stderr.readline()
    assert "This pull failed" in told
    assert "No Label Studio answers at http://127.0.0.1:9" in told
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "Server stopped.\n")
