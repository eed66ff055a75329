"""The supervisor is tried on a command that only sleeps."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from callwright.annotation.studio import supervisor

SLEEPER = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(60)"


class Kept:
    """A supervisor and the process it supervises."""

    def __init__(self, folder: Path) -> None:
        self.data, record, child = folder / "data", folder / "server.json", folder / "child"
        self.data.mkdir()
        command = [sys.executable, "-c", SLEEPER, str(child)]
        subprocess.run(
            [
                sys.executable,
                "-I",
                supervisor.__file__,
                str(record),
                str(self.data),
                "80",
                *command,
            ],
            check=True,
        )
        written = comes_true(
            lambda: record.exists() and child.exists() and child.read_text(encoding="utf-8") != ""
        )
        assert written, "the supervisor started nothing"
        self.record = json.loads(record.read_text(encoding="utf-8"))
        self.pid, self.child = self.record["pid"], int(child.read_text(encoding="utf-8"))


def comes_true(condition: Callable[[], bool], patience: float = 10) -> bool:
    """Whether `condition` holds before long."""
    end = time.monotonic() + patience
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def is_alive(pid: int) -> bool:
    try:
        return (
            "Z"
            not in Path(f"/proc/{pid}/stat")
            .read_text(encoding="utf-8")
            .rpartition(")")[2]
            .split()[0]
        )
    except OSError:
        return False


def alive(kept: Kept) -> set[int]:
    """Which of the two still run."""
    return {pid for pid in (kept.pid, kept.child) if is_alive(pid)}


@pytest.fixture
def kept(tmp_path):
    kept = Kept(tmp_path)
    yield kept
    for pid in alive(kept):
        os.kill(pid, signal.SIGKILL)


def test_the_supervisor_detaches_and_leaves_its_number_and_the_port(kept):
    assert is_alive(kept.pid)
    assert is_alive(kept.child)
    assert kept.record["port"] == 80
    assert os.getsid(kept.pid) == kept.pid


def test_while_its_data_folder_stands_the_process_is_kept(kept):
    time.sleep(supervisor._PAUSE * 1.5)
    assert alive(kept) == {kept.pid, kept.child}


def test_the_supervised_process_ends_when_its_data_folder_is_gone(kept):
    shutil.rmtree(kept.data)
    assert comes_true(lambda: not alive(kept)), alive(kept)


def test_the_supervised_process_ends_when_another_folder_stands_in_its_place(kept):
    kept.data.rename(kept.data.with_name("old"))
    kept.data.mkdir()
    assert comes_true(lambda: not alive(kept)), alive(kept)


def test_the_supervisor_that_is_asked_to_end_takes_the_supervised_process_along(kept):
    os.kill(kept.pid, signal.SIGTERM)
    assert comes_true(lambda: not alive(kept)), alive(kept)


@pytest.mark.skipif(sys.platform != "linux", reason="Only Linux ends a child with its parent.")
def test_a_supervisor_that_is_killed_outright_takes_the_supervised_process_along(kept):
    os.kill(kept.pid, signal.SIGKILL)
    assert comes_true(lambda: not alive(kept)), alive(kept)


def test_the_supervisor_ends_with_the_process_it_supervises(kept):
    os.kill(kept.child, signal.SIGTERM)
    assert comes_true(lambda: not alive(kept)), alive(kept)
