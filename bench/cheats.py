"""What cheats get in the tasks of a release: a table of rewards.

Usage: `python -m bench.cheats HOME RELEASE [--tasks N] [--json]`, HOME being a work folder. Beside
today's reward stands what only the end of the world and the mere mention of each value earn.
"""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from callwright.flows.api.tasks import load_tasks
from callwright.flows.evaluation.cheats import Cheat, cheats
from callwright.flows.evaluation.tasks import Episode, Task
from callwright.warehouse.answers import untold_fields


class CheatRow(NamedTuple):
    """What a cheat gets on average in the tasks where it is possible."""

    cheat: str
    tasks: int
    end_and_mention: float
    reward: float


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("release")
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    tasks = [*load_tasks(chosen.release, home=chosen.home)][: chosen.tasks]
    rows = table(tasks)
    if chosen.json:
        print(json.dumps([row._asdict() for row in rows]))
        return
    print("| cheat | tasks | end and mention | reward |\n|---|---:|---:|---:|")
    for row in rows:
        print(f"| {row.cheat} | {row.tasks} | {row.end_and_mention:.2f} | {row.reward:.2f} |")


def table(tasks: list[Task]) -> list[CheatRow]:
    """Return a row for the gold and one for each cheat, in the order of their first use."""
    got: dict[str, list[tuple[float, float]]] = {}
    for task in tasks:
        for cheat in (Cheat("the gold", task.solution, task.reply), *cheats(task, tasks)):
            with task.begin() as episode:
                episode.play(cheat.turns)
                rewards = _end_and_mention(episode, cheat.text), episode.reward(cheat.text)
            got.setdefault(cheat.name, []).append(rewards)
    return [
        CheatRow(name, len(some), *(_mean(one[at] for one in some) for at in (0, 1)))
        for name, some in got.items()
    ]


def _end_and_mention(episode: Episode, text: str) -> float:
    told = episode.snapshot().told
    return float(
        episode.end_reached
        and not episode.broken
        and not episode.unseen
        and not untold_fields(episode.task.sample, text, told)
    )


def _mean(values: Iterable[float]) -> float:
    listed = [*values]
    return sum(listed) / len(listed)


if __name__ == "__main__":
    main()
