"""Watching a command as a tree of processes: seconds, and the memory of all of it together."""

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_EVERY = 0.2
_KILO = 1024


class ProcessRun(NamedTuple):
    """One run: `peak_mb` is the largest sum over the tree, shared pages counted once (PSS).

    `cpu_seconds` is what the tree had of the processors: on a machine that is shared, less noisy than the clock.
    """

    code: int
    seconds: float
    cpu_seconds: float
    peak_mb: float
    output: str


def watch(command: Sequence[str], environment: Mapping[str, str]) -> ProcessRun:
    """Run a command to its end and measure it."""
    began = time.perf_counter()
    with subprocess.Popen(
        command, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as child:
        peak = [0.0]
        cpu: dict[int, float] = {}
        watcher = threading.Thread(target=_watch_tree, args=(child, peak, cpu), daemon=True)
        watcher.start()
        output = child.stdout.read() if child.stdout else ""
        code = child.wait()
    seconds = time.perf_counter() - began
    watcher.join()
    return ProcessRun(code, seconds, sum(cpu.values()), peak[0], output)


def _watch_tree(child: "subprocess.Popen[str]", peak: list[float], cpu: dict[int, float]) -> None:
    while child.poll() is None:
        tree = _tree(child.pid)
        peak[0] = max(peak[0], sum(_pss_mb(pid) for pid in tree))
        cpu.update({pid: seconds for pid in tree if (seconds := _cpu_seconds(pid))})
        time.sleep(_EVERY)


def _cpu_seconds(pid: int) -> float:
    """What a process has had by itself, also one that nobody waits for."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _tree(root: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += parents.get(pid, [])
    return found


def _pss_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / _KILO for line in lines if line.startswith("Pss:")), 0.0)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))
