"""Nothing phones home: a build, an evaluation and a report speak to nobody at all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.flows.small_builds import one_start

TOP = Path(__file__).parents[2]

# Python runs this at the start of every process, workers and their server included.
LISTENER = """
import os, sys
def _note(event, details):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"):
        with open(os.environ["ASKED"], "a") as file:
            file.write(f"{event} {details[1:] if event == 'socket.connect' else details}\\n")
sys.addaudithook(_note)
"""
RECIPE = """
name: quiet
tools: [{seed: [Weather, Clock]}]
languages: [en, zh]
samples: {perfect: 3, imperfect: 2, irrelevant: 1}
shard_size: 3
"""


@pytest.fixture
def listened_workers(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "listener").mkdir()
    (tmp_path / "listener" / "sitecustomize.py").write_text(LISTENER)
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return kept | {
        "HOME": str(tmp_path),
        "CALLWRIGHT_HOME": str(tmp_path / "home"),
        "CALLWRIGHT_WORKERS": "2",
        "PYTHONPATH": str(tmp_path / "listener"),
        "ASKED": str(tmp_path / "asked.txt"),
    }


def strangers(environment: dict[str, str]) -> list[str]:
    """What was asked for beyond this machine; a socket of this machine's own file system is a
    path, not a host.
    """
    asked = Path(environment["ASKED"])
    lines = asked.read_text().splitlines() if asked.exists() else []
    return [
        line
        for line in lines
        if "127.0.0.1" not in line and "'/" not in line and "b'\\x00" not in line
    ]


def test_the_listener_hears(listened_workers: dict[str, str]) -> None:
    code = (
        "import socket\ntry: socket.create_connection(('203.0.113.1', 9), 0.01)\nexcept OSError:"
        " pass"
    )
    subprocess.run([sys.executable, "-c", code], env=listened_workers, check=True)
    assert strangers(listened_workers)


def test_a_build_an_evaluation_and_a_report_ask_nobody(
    listened_workers: dict[str, str], tmp_path: Path
) -> None:
    recipe = tmp_path / "quiet.yaml"
    recipe.write_text(RECIPE)
    building, releasing = ["build", str(recipe)], ["release", "create", "v1"]
    commands = (
        building,
        releasing,
        ["evaluate", "v1", "--model", "template/v1"],
        ["report"],
        ["publish"],
    )
    words = one_start(sys.executable, *commands)
    done = subprocess.run(
        words, env=listened_workers, cwd=TOP, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert strangers(listened_workers) == []
