"""What a build reports while it runs: messages in sentences, progress in counts."""

from typing import Protocol


class Progress(Protocol):
    """Receives what a build reports: the command line, Prefect's log, or nobody."""

    def say(self, sentence: str) -> None:
        """One event worth a line."""
        ...

    def begin(self, title: str, total: int) -> None:
        """A stretch of work with `total` items begins."""
        ...

    def advance(self, count: int) -> None:
        """So many more items of the present stretch are done."""
        ...


class SilentProgress:
    """Reports nothing."""

    def say(self, sentence: str) -> None:
        """Say nothing."""

    def begin(self, title: str, total: int) -> None:
        """Say nothing."""

    def advance(self, count: int) -> None:
        """Say nothing."""
