"""Webhooks of a real Label Studio."""

import asyncio
from collections.abc import Callable

import pytest

from callwright.annotation.screens import screen_for
from callwright.annotation.studio.client import LabelStudio
from callwright.flows.progress import SilentProgress
from callwright.flows.review.listening import (
    SECRET,
    Callbacks,
    ListeningAddress,
    listen,
    register_webhooks,
    remove_webhooks,
)
from callwright.flows.review.pulling import Pulled
from callwright.warehouse.errors import AnnotationError
from tests.support.flows.live_sites import LiveSite

pytestmark = [pytest.mark.labelstudio, pytest.mark.enable_socket]


@pytest.fixture(autouse=True)
def _own_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SECRET, raising=False)


async def soon(pulls: "asyncio.Queue[Pulled]", wanted: Callable[[Pulled], int]) -> Pulled:
    """The next pull that brought something of the kind."""
    async with asyncio.timeout(120):
        while True:
            pulled = await pulls.get()
            if wanted(pulled):
                return pulled


async def test_what_people_do_is_pulled_moments_later(live: LiveSite) -> None:
    live.site.push()
    settings, studio, people = live.site.settings, live.site.studio, live.people
    first, second = live.site.asked("doubtful")[:2]
    tasks = live.tasks()
    addresses: asyncio.Queue[str] = asyncio.Queue()
    pulls: asyncio.Queue[Pulled] = asyncio.Queue()
    callbacks = Callbacks(addresses.put_nowait, pulls.put_nowait)
    task = asyncio.create_task(
        listen(settings, studio, SilentProgress(), address=ListeningAddress(), callbacks=callbacks)
    )  # type: ignore[arg-type]
    address = await addresses.get()
    assert await asyncio.to_thread(register_webhooks, settings, studio, address) == 1  # type: ignore[arg-type]

    annotation = await asyncio.to_thread(people.annotate, tasks[first], "accept")
    assert (await soon(pulls, lambda pulled: pulled.reviews)).accepted == 1
    await asyncio.to_thread(people.change, annotation, "reject", reasons="other")
    assert (await soon(pulls, lambda pulled: pulled.reviews)).rejected == 1
    await asyncio.to_thread(people.take_back, annotation)
    assert (await soon(pulls, lambda pulled: pulled.withdrawn)).withdrawn == 2, "both of its words"
    await asyncio.to_thread(people.delete, tasks[second])
    assert (await soon(pulls, lambda pulled: pulled.deleted)).deleted == 1

    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    live.site.balance()


def test_a_project_tells_one_address_of_ours_until_it_is_told_to_stop(live: LiveSite) -> None:
    live.site.push()
    studio, settings = live.site.studio, live.site.settings
    project = studio.find_project("sample_review")
    assert project is not None
    webhooks = live.people.client.webhooks
    theirs = webhooks.create(project=project.id, url="http://127.0.0.1:9/theirs")

    def held() -> list[str]:
        return sorted(one.url for one in webhooks.list(project=str(project.id)))

    tell = studio.register_webhook  # type: ignore[attr-defined]
    assert tell(project, "http://127.0.0.1:9/one", "s" * 20)
    assert not tell(project, "http://127.0.0.1:9/one", "s" * 20)
    assert tell(project, "http://127.0.0.1:9/two", "s" * 20)
    assert tell(project, "http://127.0.0.1:9/two", "t" * 20)
    assert held() == ["http://127.0.0.1:9/theirs", "http://127.0.0.1:9/two"]
    assert register_webhooks(settings, studio, "http://127.0.0.1:9/three") == 1  # type: ignore[arg-type]
    assert remove_webhooks(studio) == 1  # type: ignore[arg-type]
    assert remove_webhooks(studio) == 0  # type: ignore[arg-type]
    assert held() == [theirs.url]


def test_a_server_that_tells_no_address_of_its_own_machine_says_so(
    label_studio: LabelStudio,
) -> None:
    screen = screen_for("sample_review").with_changes(kind="test_webhooks")
    project = label_studio.ensure_project(screen)
    with pytest.raises(AnnotationError, match="refused"):
        label_studio.register_webhook(project, "http://127.0.0.1:9/", "s" * 20)
