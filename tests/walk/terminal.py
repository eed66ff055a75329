"""A terminal of its own for one command: what it says and when, the processor time that it
takes, and ctrl-C.
"""

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

import psutil

_SIZE = struct.pack("HHHH", 50, 200, 0, 0)  # rows and columns
_MARKS = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\r(?=\n)")
_TICK = 0.02
# seconds after which a command is killed: the machine may be busy, so that only processor time is
# held to limits
WALL = 240.0

Signal = Literal["ctrl-C", "SIGTERM"]


class Ran(NamedTuple):
    """How a command went: seconds of the wall and of processors, how much of both until it said
    something, and after a signal.

    Processor time is that of the command and all that it started; until the first word, its own.
    """

    code: int | None  # None where it had to be killed
    seconds: float
    cpu: float
    first_seconds: float | None
    first_cpu: float | None
    ending_seconds: float | None
    ending_cpu: float | None
    said: str

    @property
    def first_words(self) -> str:
        """The first line that it said."""
        return next((line.strip() for line in re.split(r"[\r\n]+", self.said) if line.strip()), "")


class When(NamedTuple):
    """A signal to a command, once it has said something, or taken so much processor time, and
    `is_due`.
    """

    signal: Signal
    cpu: float = 0.0
    is_due: Callable[[str], bool] = lambda _said: True


class _Command:
    """One that runs in a terminal."""

    def __init__(self, words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self.terminal, inner = os.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, _SIZE)
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            words,
            cwd=folder,
            env=dict(environment),
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - this process has one thread that starts others
        )
        os.close(inner)
        self.said = b""
        self.first: tuple[float, float] | None = None
        self.code: int | None = None
        self.used = 0.0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def cpu(self) -> float:
        """Of the command and of all that it started and that is still its child, in seconds."""
        found = 0.0
        with suppress(psutil.Error):
            whole = psutil.Process(self.process.pid)
            for one in (whole, *whole.children(recursive=True)):
                with suppress(psutil.Error):
                    found += sum(one.cpu_times()[:4])
        self.used = max(self.used, found)
        return self.used

    def _own_cpu(self) -> float:
        """Of the command alone: what it starts beside itself takes another core, and nobody
        waits for it yet.
        """
        with suppress(psutil.Error):
            used = psutil.Process(self.process.pid).cpu_times()
            return used.user + used.system
        return self.used

    def listen(self) -> None:
        """Take in what it says within a tick."""
        ready, _, _ = select.select([self.terminal], [], [], _TICK)
        if not ready:
            return
        try:
            heard = os.read(self.terminal, 65536)
        except OSError:  # nobody has the other end any more
            time.sleep(_TICK)
            return
        self.said += heard
        if self.first is None and heard.strip():
            self.first = (self.seconds, self._own_cpu())

    def has_ended(self) -> bool:
        pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
        if pid:
            self.code = self.process.returncode = os.waitstatus_to_exitcode(status)
            self.used = max(self.used, used.ru_utime + used.ru_stime)
        return bool(pid)

    def end(self, by: Signal) -> None:
        if by == "ctrl-C":
            os.write(
                self.terminal, b"\x03"
            )  # the terminal makes the signal of it, for all in its foreground
        else:
            with suppress(
                ProcessLookupError
            ):  # Popen's own way would take the exit code away from `has_ended`
                os.kill(self.process.pid, signal.SIGTERM)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        _, _, used = os.wait4(self.process.pid, 0)
        self.process.returncode = -signal.SIGKILL
        self.used = max(self.used, used.ru_utime + used.ru_stime)

    def text(self) -> str:
        return _MARKS.sub(b"", self.said).decode(errors="replace")


def run(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], when: When | None = None
) -> Ran:
    """Run a command to its end, or to that which a signal makes."""
    command = _Command(words, folder, environment)
    signalled: tuple[float, float] | None = None
    killed = False
    while not command.has_ended():
        command.listen()
        since = command.seconds if signalled is None else command.seconds - signalled[0]
        if since > WALL:
            command.kill()
            killed = True
            break
        if when is not None and signalled is None and _is_time(command, when):
            signalled = (command.seconds, command.cpu())
            command.end(when.signal)
    if not killed:
        command.listen()  # the last words
    os.close(command.terminal)
    ending = (
        None if signalled is None else (command.seconds - signalled[0], command.used - signalled[1])
    )
    first = command.first or (None, None)
    return Ran(
        None if killed else command.code,
        command.seconds,
        command.used,
        first[0],
        first[1],
        *(ending or (None, None)),
        command.text(),
    )


def _is_time(command: _Command, when: When) -> bool:
    return (
        (command.first is not None or when.cpu > 0)
        and command.cpu() >= when.cpu
        and when.is_due(command.text())
    )
