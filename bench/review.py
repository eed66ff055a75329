"""Measure the review loop's traffic with a real Label Studio.

Usage: `python -m bench.review [--push N] [--many N] [--runs N] [--json]`. With LABEL_STUDIO_URL
and LABEL_STUDIO_API_KEY that server is used, else one is started in its own folder. Every run
creates a project and deletes it.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from bench.processes import cores
from callwright.annotation.reviews import QueuedTask
from callwright.annotation.sample_review import SampleTask
from callwright.annotation.screens import screen_for
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.records import Project
from callwright.annotation.studio.server import start, stop
from callwright.flows.settings import environment

_FILL = (
    "Could you get us a table at Trattoria Verde on the 3rd of May at half past seven in the"
    " evening? "
)
_SHARE = {"request": 2, "calls": 4, "calls_shown": 4, "tools": 6}  # about 2 KB in all


def main() -> None:
    """Measure and print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--push", type=int, default=1000)
    parser.add_argument("--many", type=int, default=0, help="also push so many in one call, once")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with studio() as (adapter, server):
        runs = [measure(adapter, server, chosen.push, run) for run in range(chosen.runs)]
        many = push_many(adapter, chosen.many) if chosen.many else None
    result: dict[str, Any] = {
        "tasks": chosen.push,
        "runs": chosen.runs,
        "cores": cores(),
        "load": round(os.getloadavg()[0], 1),
    }
    for name in runs[0]:
        result[name] = round(statistics.median(run[name] for run in runs), 2)
    result["pushed_per_second"] = round(chosen.push / result["push"])
    if many is not None:
        result |= {"many": chosen.many, "push_many": round(many, 1)}
    if chosen.json:
        print(json.dumps(result, indent=2))
        return
    for name, value in result.items():
        print(f"{name:>30}  {value}")


@contextmanager
def studio() -> Iterator[tuple[LabelStudio, int]]:
    """Yield the adapter and the server's process id (0 for an external server)."""
    given = environment()
    url, token = given.get("LABEL_STUDIO_URL", ""), given.get("LABEL_STUDIO_API_KEY", "")
    if url:
        with LabelStudio(url, token) as adapter:
            yield adapter, 0
        return
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        server = start(Path(folder), given, timeout=900)
        try:
            with LabelStudio(server.url, server.token) as adapter:
                yield adapter, server.pid
        finally:
            stop(Path(folder))


def measure(adapter: LabelStudio, server: int, count: int, run: int) -> dict[str, float]:
    """Return the seconds of each step, and the CPU time of client and server together."""
    screen = screen_for("sample_review").with_changes(kind=f"bench_{os.getpid()}_{run}")
    tasks = [
        QueuedTask(_task(number, screen.kind), priority=1 - number / count)
        for number in range(count)
    ]
    project = adapter.ensure_project(screen)
    seconds: dict[str, float] = {}

    def clock(name: str, action: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever was asked for
        began, worked = time.perf_counter(), _worked(server)
        found = action()
        seconds[name] = time.perf_counter() - began
        seconds[f"{name}_cpu"] = _worked(server) - worked
        return found

    try:
        pushed = clock("push", lambda: adapter.push(project, tasks))
        clock("push_again", lambda: adapter.push(project, tasks))
        clock("look_for_deleted", lambda: adapter.gone(project, pushed.task_ids.values()))
        clock(
            "ask_100_for_second_person",
            lambda: adapter.ask_several(dict.fromkeys(list(pushed.task_ids.values())[:100], 2)),
        )
        answered = _answer(adapter, screen.kind, min(count, 1000))
        pulled = clock("pull_1000_annotated", lambda: adapter.pull(answered))
        assert len(pulled.annotations) == min(count, 1000), len(pulled.annotations)  # noqa: S101 - a bench that measures nothing is none
        later = pulled.cursor + timedelta(minutes=3)
        clock("pull_nothing_new", lambda: adapter.pull(answered, later))
    finally:
        for kind in (screen.kind, f"{screen.kind}_answered"):
            found = adapter.find_project(kind)
            if found is not None:
                adapter.client.projects.delete(found.id)
    return seconds


def push_many(adapter: LabelStudio, count: int) -> float:
    """Return the seconds that one push of `count` tasks takes."""
    screen = screen_for("sample_review").with_changes(kind=f"bench_many_{os.getpid()}")
    project = adapter.ensure_project(screen)
    tasks = [
        QueuedTask(_task(number, screen.kind), priority=1 - number / count)
        for number in range(count)
    ]
    began = time.perf_counter()
    try:
        pushed = adapter.push(project, tasks)
        assert (pushed.created, adapter.status(project).tasks) == (count, count)  # noqa: S101
        return time.perf_counter() - began
    finally:
        adapter.client.projects.delete(project.id)


def _task(number: int, kind: str) -> SampleTask:
    texts = {name: f"{number}: {_FILL * share}" for name, share in _SHARE.items()}
    return SampleTask(
        subject=f"{number:032x}",
        kind=kind,
        title="dining · perfect",
        why="A check failed: grounding.",
        conversation=(),
        other_tools="-",
        failed="-",
        passed="-",
        **texts,
    )


def _answer(adapter: LabelStudio, kind: str, count: int) -> Project:
    """Return a project whose tasks came with their annotations."""
    screen = screen_for("sample_review").with_changes(kind=f"{kind}_answered")
    project = adapter.ensure_project(screen)
    verdict = {
        "from_name": "verdict",
        "to_name": "conversation",
        "type": "choices",
        "value": {"choices": ["accept"]},
    }
    body = [
        {
            "data": QueuedTask(_task(number, screen.kind)).data(),
            "annotations": [{"result": [verdict], "ground_truth": False, "lead_time": 4.5}],
        }
        for number in range(count)
    ]
    adapter.client.projects.import_tasks(project.id, request=body)
    return project


def _worked(server: int) -> float:
    """Return the CPU seconds that this process and the server's have used."""
    return time.process_time() + sum(_cpu(pid) for pid in _family(server))


def _family(server: int) -> list[int]:
    if not server:
        return []
    children = Path(f"/proc/{server}/task/{server}/children").read_text(encoding="utf-8").split()
    return [server, *map(int, children)]


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
