"""Episodes of a simulated document on one core: seconds and memory.

Usage: `python -m bench.worlds [--episodes N] [--parallel N] [--runs N] [--tasks FOLDER] [--json]`.
With the folder of an export of tasks it also plays their gold, state and reward: each in its world
for the first time, and again. An episode is a start, five calls (a search, a new order, a change, a cancellation, a read), and the difference
to its start. State and reward are those of a task of three of them, through the API that
trainers use (`callwright.Episode`), and so are the parallel episodes. Times are processor times,
so other work on the machine has little effect.
"""

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from bench.processes import cores
from callwright.flows.api.tasks import load_tasks
from callwright.flows.evaluation.tasks import Episode, Task
from callwright.generators.environments.document_world import DocumentEpisode, DocumentWorld
from callwright.generators.environments.endpoints import endpoints_of
from callwright.generators.environments.episodes import START, diff
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    JsonSchema,
    ReplyTurn,
    Sample,
    Tool,
    UserTurn,
)

TEXT: JsonSchema = {"type": "string"}
ORDER: JsonSchema = {
    "type": "object",
    "title": "Order",
    "properties": {
        "id": {"type": "string", "examples": ["b4Kf92"]},
        "customer_id": {"type": "integer"},
        "item": TEXT,
        "note": TEXT,
        "quantity": {"type": "integer", "minimum": 1, "maximum": 90},
        "status": {"type": "string", "enum": ["open", "shipped", "cancelled"]},
        "due": {"type": "string", "format": "date"},
        "address": {"type": "object", "properties": {"city": TEXT, "street": TEXT, "code": TEXT}},
    },
}
FIELDS = {name: ORDER["properties"][name] for name in ("item", "quantity", "note")}
OPERATIONS: tuple[tuple[str, str, str, JsonSchema, dict[str, JsonSchema]], ...] = (
    (
        "search_orders",
        "get",
        "/orders",
        {"type": "array", "items": ORDER},
        {"status": ORDER["properties"]["status"]},
    ),
    ("add_order", "post", "/orders", ORDER, FIELDS),
    ("read_order", "get", "/orders/{id}", ORDER, {"id": TEXT}),
    ("change_order", "patch", "/orders/{id}", ORDER, {"id": TEXT, **FIELDS}),
    ("cancel_order", "post", "/orders/{id}/cancel", ORDER, {"id": TEXT}),
)


def main() -> None:
    """Measure and print the medians of the runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=2_000)
    parser.add_argument("--parallel", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tasks", type=Path, help="the folder of an export of tasks")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    world = make_world()
    calls = _calls(world)
    _run(world, calls)  # what the world holds at first is made up once
    seconds = [_seconds(lambda: _run(world, calls), chosen.episodes) for _ in range(chosen.runs)]
    episode = _run(world, calls)
    state = episode.snapshot()
    task = _task(world, calls[1:4])
    result = {
        "cores": cores(),
        "runs": chosen.runs,
        "episodes": chosen.episodes,
        "calls_per_episode": len(calls),
        "episodes_per_second": round(1 / statistics.median(seconds)),
        "state_and_reward_per_second": round(
            1 / _median(lambda: _rewarded(task, calls[1:4]), chosen)
        ),
        "snapshot_and_restore_us": round(
            1e6 * _median(lambda: episode.restore(episode.snapshot()), chosen), 2
        ),
        "diff_us": round(1e6 * _median(lambda: diff(START, state), chosen), 1),
        "parallel": chosen.parallel,
        **_memory(task, calls[1:4], chosen.parallel),
    }
    result |= _exported(chosen.tasks, chosen.runs) if chosen.tasks else {}
    if chosen.json:
        print(json.dumps(result, indent=2))
        return
    for name, value in result.items():
        print(f"{name:>28}  {value}")


def make_world() -> DocumentWorld:
    """Return the world of a shop with orders."""
    tools = [
        Tool(
            name=name,
            description=name.replace("_", " "),
            parameters={
                "type": "object",
                "properties": parameters,
                "required": ["id"] if "id" in parameters else [],
            },
            returns=returns,
            category="shop",
        )
        for name, _, _, returns, parameters in OPERATIONS
    ]
    return DocumentWorld("shop", endpoints_of(tools, [(one[1], one[2]) for one in OPERATIONS]), ())


def _calls(world: DocumentWorld) -> list[Call]:
    found = world.begin().answer(Call(tool="search_orders", arguments={"status": "open"})).response
    if not isinstance(found, list):
        raise TypeError(f"The search brought {found!r}.")
    first, second, *_ = [str(one["id"]) for one in found if isinstance(one, dict)]
    return [
        Call(tool="search_orders", arguments={"status": "open"}),
        Call(tool="add_order", arguments={"item": "Lamp", "quantity": 2}),
        Call(tool="change_order", arguments={"id": first, "quantity": 7}),
        Call(tool="cancel_order", arguments={"id": second}),
        Call(tool="read_order", arguments={"id": second}),
    ]


def _run(world: DocumentWorld, calls: list[Call]) -> DocumentEpisode:
    episode = world.begin()
    for call in calls:
        episode.answer(call)
    return episode


def _task(world: DocumentWorld, calls: list[Call]) -> Task:
    """Return the task whose gold these calls are."""
    made, changes = (
        tuple(GoldCall(tool=one.tool, arguments=one.arguments) for one in calls),
        _run(world, calls).state,
    )
    ids = [str(one.arguments["id"]) for one in calls if "id" in one.arguments]
    turns = (
        UserTurn(text=f"Please see to it: {', '.join(ids)}."),
        CallTurn(calls=made, executed=True),
        ReplyTurn(text="Done."),
    )
    keys = tuple(tool.key for tool in world.tools)
    sample = Sample(
        kind="task",
        language="en",
        category="shop",
        candidates=keys,
        turns=turns,
        changes=diff(START, changes),
    )
    return Task(sample, world, world.tools)


def _played(task: Task, calls: list[Call]) -> Episode:
    episode = task.begin()
    episode.play(calls)
    return episode


def _rewarded(task: Task, calls: list[Call]) -> None:
    """Run an episode of writes that does the task. Raises ValueError if it gets no full reward."""
    with _played(task, calls) as episode:
        if episode.reward() != 1.0:
            raise ValueError("The gold does not do the task.")


def _exported(folder: Path, runs: int) -> dict[str, int]:
    """Return how many exported tasks are played by their gold in a second, at first and again."""
    tasks = load_tasks(folder)

    def played() -> None:
        for task in tasks:
            with _played(task, list(task.gold)) as episode:
                if episode.reward(task.reply) != 1.0:
                    raise ValueError(f"The gold does not do the task {task.key}.")

    first, *again = [_seconds(played, 1) / len(tasks) for _ in range(runs + 1)]
    return {
        "tasks": len(tasks),
        "first_tasks_per_second": round(1 / first),
        "tasks_per_second_again": round(1 / statistics.median(again)),
    }


def _median(done: Callable[[], object], chosen: argparse.Namespace) -> float:
    return statistics.median(_seconds(done, chosen.episodes) for _ in range(chosen.runs))


def _seconds(done: Callable[[], object], times: int) -> float:
    started = time.process_time()
    for _ in range(times):
        done()
    return (time.process_time() - started) / times


def _memory(task: Task, calls: list[Call], parallel: int) -> dict[str, float]:
    """Return the memory of parallel episodes with three writes each, and what is left after."""
    gc.collect()
    before = _resident()
    episodes = [_played(task, calls) for _ in range(parallel)]
    during = _resident()
    del episodes
    gc.collect()
    return {
        "parallel_mb": round(during - before, 1),
        "process_mb": round(during, 1),
        "left_mb": round(_resident() - before, 1),
    }


def _resident() -> float:
    """Return the memory that this process holds, in MB."""
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 - a file of the kernel
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


if __name__ == "__main__":
    main()
