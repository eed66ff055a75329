"""Keep one server process: pass its end on, end it when asked, and end it when its data folder is
gone.

Run as a script with the standard library only: `python -I supervisor.py RECORD DATA PORT COMMAND…`.
It detaches itself, so that neither a closed terminal nor the end of the process that started it
takes the server down.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

_PAUSE = 1.0
_GRACE = 10.0
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def main(arguments: list[str]) -> int:
    """Detach, write the record {pid, port}, and watch the command until it ends."""
    record, data = map(Path, arguments[:2])
    port, command = int(arguments[2]), arguments[3:]
    if os.fork():
        return 0
    os.setsid()
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    draft = record.with_suffix(".draft")
    draft.write_text(json.dumps({"pid": os.getpid(), "port": port}), encoding="utf-8")
    draft.replace(record)
    home = _identity(data)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=_die_with_parent)  # noqa: S603, PLW1509 - our own command; one thread
    try:
        while child.poll() is None and _identity(data) == home:
            time.sleep(_PAUSE)
    finally:
        _end(child)
    return child.returncode


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(_GRACE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _identity(folder: Path) -> tuple[int, int] | None:
    """Which folder stands at this path, None where none does."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _die_with_parent() -> None:
    """Ask Linux to end the server should the supervisor be killed outright; elsewhere nothing is
    asked.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGTERM)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
