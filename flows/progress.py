"""What a build tells whoever watches it: news in sentences, progress in counts."""

from typing import Protocol


class Progress(Protocol):
    """The ear of a build: the command line, Prefect's log, or nobody."""

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
    """Nobody listens."""

    def say(self, sentence: str) -> None:
        """Say nothing."""

    def begin(self, title: str, total: int) -> None:
        """Say nothing."""

    def advance(self, count: int) -> None:
        """Say nothing."""
