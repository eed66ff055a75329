"""Candidates that are functions of somebody else's: they may hang, end the process or never give
the loop back.
"""

import asyncio
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import callwright
from callwright.warehouse.releases import create_release
from tests.support.flows.small_builds import (
    build,
    environment,
    run_here,
    settings_of,
    small_recipe,
    warehouse_of,
)
from tests.support.sampling import slow

SAMPLES = {"perfect": 4, "irrelevant": 2}
ALL = sum(SAMPLES.values())
ANSWERED = "select count(*) as n from predictions"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work folder with a release v1."""
    settings = settings_of(tmp_path_factory.mktemp("frozen"))
    build(small_recipe(samples=SAMPLES), settings)
    create_release(warehouse_of(settings), "v1")
    return settings.home


def hang(_messages: object, _tools: object) -> None:
    while True:
        pass


def sleep(_messages: object, _tools: object) -> None:
    time.sleep(600)


async def wait(_messages: object, _tools: object) -> None:
    await asyncio.sleep(600)


@pytest.mark.parametrize("function", [hang, sleep, wait])
def test_a_call_that_takes_too_long_is_a_failure_with_the_reason(
    home: Path, function: Callable[..., object]
) -> None:
    calls = 0

    def once(messages: object, tools: object) -> object:
        nonlocal calls
        calls += 1
        return function(messages, tools) if calls == 1 else "No tool does that."

    found = callwright.evaluate("v1", once, home=home, timeout=0.2)
    assert len(found.samples) == ALL
    reasons = [one.problem for one in found.samples if "gave no answer within 0.2 s" in one.problem]
    assert len(reasons) == 1


def test_a_loop_without_end_is_ended_and_takes_no_time_from_those_after_it(home: Path) -> None:
    before = {*threading.enumerate()}
    callwright.evaluate("v1", hang, home=home, timeout=0.1)
    deadline = time.monotonic() + 30
    while any(one.name == "candidate" for one in {*threading.enumerate()} - before):
        assert time.monotonic() < deadline
        time.sleep(0.05)


AGENT = """
import time
from pathlib import Path

calls = 0

def answer(messages, tools):
    global calls
    calls += 1
    if calls > 2:
        Path("hangs").touch()
        {hang}
    return "No tool does that."

def quick(messages, tools):
    return "No tool does that."

number = 3
"""
SCRIPT = """
import callwright
from agent import answer
callwright.evaluate("v1", answer)
"""
WAITING, BUSY = "time.sleep(600)", "while True: pass"


def ended(process: "subprocess.Popen[str]", folder: Path, number: int) -> int:
    """The exit code of a process that is sent a signal once its candidate hangs."""
    deadline = time.monotonic() + 60
    try:
        while not (folder / "hangs").exists():
            assert time.monotonic() < deadline
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        process.send_signal(number)
        process.communicate(timeout=15)
    finally:
        process.kill()
    return process.returncode


@pytest.mark.parametrize(
    ("how", "number", "code", "hanging"),
    [
        ("command", signal.SIGINT, 130, WAITING),
        ("command", signal.SIGTERM, 130, BUSY),
        ("python", signal.SIGINT, -signal.SIGINT, BUSY),
        ("python", signal.SIGTERM, 143, WAITING),
        slow("command", signal.SIGINT, 130, BUSY),
        slow("command", signal.SIGTERM, 130, WAITING),
        slow("python", signal.SIGINT, -signal.SIGINT, WAITING),
        slow("python", signal.SIGTERM, 143, BUSY),
    ],
)
def test_a_candidate_that_hangs_can_be_stopped_and_what_was_answered_is_kept(
    home: Path, tmp_path: Path, how: str, number: int, code: int, hanging: str
) -> None:
    (tmp_path / "agent.py").write_text(AGENT.format(hang=hanging), encoding="utf-8")
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    before = warehouse_of(settings_of(home)).rows(ANSWERED)[0]["n"]
    words = (
        ["-m", "callwright", "evaluate", "v1", "--model", "agent:answer"]
        if how == "command"
        else ["script.py"]
    )
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=tmp_path,
        env=environment(home),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )
    assert ended(process, tmp_path, number) == code
    assert warehouse_of(settings_of(home)).rows(ANSWERED)[0]["n"] == before + 2


def test_a_function_is_named_by_its_file_or_its_module(home: Path, tmp_path: Path) -> None:
    agent = tmp_path / "my_agent.py"
    agent.write_text(AGENT.format(hang="pass"), encoding="utf-8")
    done = run_here("evaluate", "v1", "--model", f"{agent}:quick", home=home)
    assert done.returncode == 0, done.stderr
    assert "quick" in done.stdout
    missing = run_here("evaluate", "v1", "--model", f"{agent}:quack", home=home)
    assert (missing.returncode, "quack" in missing.stderr) == (2, True)
    number = run_here("evaluate", "v1", "--model", f"{agent}:number", home=home)
    assert (number.returncode, "There is no function 'number'" in number.stderr) == (2, True)
    unknown = run_here("evaluate", "v1", "--model", "no_such_module:answer", home=home)
    assert (unknown.returncode, "'no_such_module' can't be imported" in unknown.stderr) == (2, True)
