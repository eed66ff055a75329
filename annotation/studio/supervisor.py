"""Supervise one server process: pass on its exit, and end it on request or without its data.

Without its data means that its data folder is gone. Run as a script with the standard library
only: `python -I supervisor.py RECORD DATA PORT COMMAND…`. It detaches itself, so the server
survives a closed terminal and the end of the process that started it.
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
    """Return the identity of the folder at this path; None if there is none."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _die_with_parent() -> None:
    """Ask Linux to end the server if the supervisor is killed; do nothing on other systems."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGTERM)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
