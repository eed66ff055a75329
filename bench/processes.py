"""Measures the time and memory of a command, with all its child processes."""

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_LEAST = 0.1  # seconds between two looks
# times as long as a look took: the kernel walks all pages of the tree for it, on cores that are
# measured
_REST = 40
_KILO = 1024


class ProcessRun(NamedTuple):
    """One run: `peak_mb` is the process tree's peak by PSS, `resident_mb` its peak by RSS.

    Both are the largest sum over the tree; PSS counts shared pages once. `cpu_seconds` is the
    processor time of the tree, which on a shared machine is less noisy than the clock.
    """

    code: int
    seconds: float
    cpu_seconds: float
    peak_mb: float
    output: str
    resident_mb: float = 0.0


def watch(command: Sequence[str], environment: Mapping[str, str]) -> ProcessRun:
    """Run a command to its end and measure it."""
    began = time.perf_counter()
    with subprocess.Popen(
        command, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as child:
        peaks = {"Pss": 0.0, "Rss": 0.0}
        cpu: dict[int, float] = {}
        watcher = threading.Thread(target=_watch_tree, args=(child, peaks, cpu), daemon=True)
        watcher.start()
        output = child.stdout.read() if child.stdout else ""
        code = child.wait()
    seconds = time.perf_counter() - began
    watcher.join()
    return ProcessRun(code, seconds, sum(cpu.values()), peaks["Pss"], output, peaks["Rss"])


def _watch_tree(
    child: "subprocess.Popen[str]", peaks: dict[str, float], cpu: dict[int, float]
) -> None:
    while child.poll() is None:
        began = time.perf_counter()
        tree = _tree(child.pid)
        held = [_memory_mb(pid) for pid in tree]
        peaks.update(
            {
                sort: max(peak, sum(one.get(sort, 0.0) for one in held))
                for sort, peak in peaks.items()
            }
        )
        cpu.update({pid: seconds for pid in tree if (seconds := _cpu_seconds(pid))})
        time.sleep(max(_LEAST, _REST * (time.perf_counter() - began)))


def _cpu_seconds(pid: int) -> float:
    """Return the CPU time of one process, even if nobody waits for it."""
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


def _memory_mb(pid: int) -> dict[str, float]:
    """Return the memory of a process in MB, by measure."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return {}
    return {
        line.split(":")[0]: int(line.split()[1]) / _KILO
        for line in lines
        if line.startswith(("Pss:", "Rss:"))
    }


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))
