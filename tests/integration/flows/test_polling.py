"""Polling: reviews are pulled again and again, whatever happens to Label Studio meanwhile, until
somebody stops it.
"""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from socket import socket
from typing import Any

import pytest

from callwright.flows.progress import SilentProgress
from callwright.flows.review import listening
from callwright.flows.review.listening import poll_reviews
from callwright.flows.review.pulling import Pulled
from callwright.warehouse.errors import (
    AnnotationError,
    CallwrightError,
    ConfigurationError,
    StoreError,
    TransientError,
)
from tests.support.flows.review_sites import ReviewSite
from tests.support.flows.small_builds import start
from tests.support.sampling import slow

AWAY = AnnotationError("No Label Studio answers at http://127.0.0.1:1.")


class Rounds:
    """A review site that is polled: what happens in each round, and what was heard of it.

    After the last round comes Ctrl-C.
    """

    def __init__(self, site: ReviewSite, monkeypatch: pytest.MonkeyPatch) -> None:
        self.site, self.rendered, self.waited, self.stated = (
            site,
            list[Pulled](),
            list[float](),
            list[str](),
        )
        self.events: Iterator[CallwrightError | Callable[[], Any] | None] = iter(())
        monkeypatch.setattr(listening, "require_label_studio", self._open)
        monkeypatch.setattr(listening.time, "sleep", self._wait)

    def _open(self, _settings: Any) -> Any:
        event = next(self.events)
        if isinstance(event, CallwrightError):
            raise event
        if event is not None:
            event()
        return self.site.studio

    def _wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        if len(self.waited) == self.count:
            raise KeyboardInterrupt

    def poll(self, *events: CallwrightError | Callable[[], Any] | None) -> None:
        self.events, self.count = iter(events), len(events)
        progress = SilentProgress()
        progress.say = self.stated.append  # type: ignore[method-assign]
        poll_reviews(self.site.settings, progress, 60, self.rendered.append)


@pytest.fixture
def rounds(site: ReviewSite, monkeypatch: pytest.MonkeyPatch) -> Rounds:
    return Rounds(site, monkeypatch)


def test_each_pull_that_brings_something_is_told_of(rounds: Rounds) -> None:
    first, second = rounds.site.asked("doubtful")[:2]
    annotate = rounds.site.studio.annotate
    rounds.poll(
        None,
        lambda: annotate(first, "accept"),
        None,
        lambda: annotate(second, "reject", reasons="other"),
    )
    assert rounds.rendered == [Pulled(reviews=1, accepted=1), Pulled(reviews=1, rejected=1)]
    assert rounds.waited == [60] * 4
    assert rounds.stated == []
    rounds.site.balance()


@pytest.mark.parametrize(
    "trouble", [AWAY, TransientError("It answered 503."), StoreError("The warehouse is locked.")]
)
def test_a_label_studio_that_is_away_for_a_while_is_told_of_once_and_asked_again(
    rounds: Rounds, trouble: CallwrightError
) -> None:
    first = rounds.site.asked("doubtful")[0]
    rounds.poll(
        trouble, trouble, trouble, lambda: rounds.site.studio.annotate(first, "accept"), None
    )
    assert rounds.stated == [f"{trouble} Trying again every 60 s.", "Label Studio answers again."]
    assert rounds.rendered == [Pulled(reviews=1, accepted=1)]


def test_none_at_all_from_the_beginning_is_a_wrong_setting(rounds: Rounds) -> None:
    rounds.events, rounds.count = (
        iter([ConfigurationError("No Label Studio is set or running.")]),
        1,
    )
    with pytest.raises(ConfigurationError, match="No Label Studio"):
        poll_reviews(rounds.site.settings, SilentProgress(), 60, rounds.rendered.append)


class Finalized:
    """Interrupts while it is finalized: Python drops what that raises."""

    def __del__(self) -> None:
        """Press Ctrl-C."""
        signal.raise_signal(signal.SIGINT)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_within_a_finalizer_is_heard_after_the_pull(rounds: Rounds) -> None:
    def finalize() -> None:
        Finalized()

    rounds.poll(finalize, None)
    assert rounds.waited == []


@contextmanager
def nobody() -> Iterator[str]:
    """An address where nobody answers."""
    with closing(socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.mark.enable_socket
@pytest.mark.parametrize("pause", ["0.05", slow("600")], ids=["in mid-pull", "between two pulls"])
def test_ctrl_c_ends_the_command_well(tmp_path: Path, pause: str) -> None:
    with nobody() as url:
        process = start(
            "review",
            "pull",
            "--every",
            pause,
            home=tmp_path,
            LABEL_STUDIO_URL=url,
            LABEL_STUDIO_API_KEY="0" * 40,
        )
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith(f"No Label Studio answers at {url}")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (0, "", "")
