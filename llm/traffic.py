"""What is under way between a run and its models, counted while it happens: so that a slow model is seen to work."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Traffic:
    """Requests of one run, over all of its models: how many were sent, how they ended, and how long an answer takes."""

    def __init__(self) -> None:
        """Nothing is sent yet."""
        self.sent = 0  # tries: what is asked again counts again
        self.answered = 0
        self.failed = 0
        self.cost = 0.0  # US dollars
        self.last = ""  # the stage and the model that were asked last
        self._seconds = 0.0  # all answers together
        self._began: dict[int, float] = {}

    @property
    def under_way(self) -> int:
        """Requests that wait for their answer."""
        return len(self._began)

    @property
    def seconds_an_answer(self) -> float:
        """How long an answer takes: the mean of those that came, or the longest wait by now where none did."""
        if self.answered:
            return self._seconds / self.answered
        return max(0.0, time.monotonic() - min(self._began.values(), default=time.monotonic()))

    @contextmanager
    def request(self, asked: str) -> Iterator[None]:
        """Count one request of `asked`, from when it is sent to its end."""
        self.sent += 1
        number, self.last = self.sent, asked
        self._began[number] = time.monotonic()
        is_answered = False
        try:
            yield
            is_answered = True
        finally:
            seconds = time.monotonic() - self._began.pop(number)
            if is_answered:
                self.answered += 1
                self._seconds += seconds
            else:
                self.failed += 1
