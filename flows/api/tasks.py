"""Tasks from Python: `load_tasks` reads them from a release or an exported folder."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

import orjson

from callwright.flows.api.releases import KeptSample, kept_in_folder, load_release
from callwright.flows.api.surroundings import settings_of
from callwright.flows.environments import open_world, ship_worlds
from callwright.flows.evaluation.cheats import figures_of_cheats
from callwright.flows.evaluation.tasks import Task, play_freely
from callwright.flows.progress import Progress
from callwright.flows.recipe import read_recipe
from callwright.flows.settings import reading
from callwright.generators.environments.episodes import StatefulWorld
from callwright.generators.environments.opening import open_shipped
from callwright.generators.kinds import kinds_with
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.exports.tasks import WORLDS_FILE, problem_of_task


class Tasks(Sequence[Task]):
    """Tasks in order, each with its world; access them by index, or by key with `of_key`."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        """Store the tasks."""
        self._tasks = tuple(tasks)
        self._by_key = {task.key: task for task in self._tasks}

    @overload
    def __getitem__(self, at: int) -> Task: ...
    @overload
    def __getitem__(self, at: slice) -> "Tasks": ...
    def __getitem__(self, at: int | slice) -> "Task | Tasks":
        return Tasks(self._tasks[at]) if isinstance(at, slice) else self._tasks[at]

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits; empty if there are none."""
        return tuple(dict.fromkeys(task.split for task in self if task.split))

    def of_split(self, split: str) -> "Tasks":
        """Return the tasks of one split, "" for all.

        Raises ConfigurationError that lists the splits.
        """
        if split and split not in self.splits:
            problem = (
                f"No split is named {split!r}. The splits are {', '.join(self.splits) or 'none'}."
            )
            raise ConfigurationError(problem)
        return Tasks(task for task in self if split in ("", task.split))

    def of_key(self, key: str) -> Task:
        """Return the task whose key begins with `key`.

        Raises ConfigurationError unless there is exactly one.
        """
        if key in self._by_key:
            return self._by_key[key]
        matching_tasks = [task for task in self if key and task.key.startswith(key)]
        if len(matching_tasks) != 1:
            known = ", ".join(task.key for task in self[:3])
            raise ConfigurationError(
                f"{len(matching_tasks)} tasks have a key that begins with {key!r}; keys are"
                f" {known}, …"
            )
        return matching_tasks[0]


def load_tasks(place: str | Path, *, home: Path | str | None = None) -> Tasks:
    """Return the tasks of a release of the work folder, by its name, or of an exported folder.

        tasks = callwright.load_tasks(Path("exports/v1-verifiers"))
        tasks[0].request, tasks.splits         # 'Please cancel my order …', ('train', 'test')

    Raises ConfigurationError if there is no such release or folder, it has no tasks, or a world
    can't be opened.
    """
    tasks = Tasks(_in_folder(place) if isinstance(place, Path) else _of_release(place, home))
    if not tasks:
        problem = f"{str(place)!r} has no tasks. Samples of the kind `task` are tasks, for example."
        raise ConfigurationError(problem)
    return tasks


def world_of_recipe(path: Path, seed: int | None = None) -> Tasks:
    """Return the world of a recipe as the only task, to be played freely without a request."""
    return Tasks([play_freely(open_world(read_recipe(path), settings_of(None)), seed)])


def cheats_in_release(
    kinds: Iterable[str], name: str, *, progress: Progress, home: Path | str | None = None
) -> list[dict[str, Any]]:
    """Return what cheats earn in some tasks of a release with samples of these kinds, for its card.

    Without tasks, or if a world of them can't be opened any more, there is nothing.
    """
    if not {*kinds} & {*kinds_with(lambda traits: traits.is_task)}:
        return []
    progress.say(f"Playing cheats in up to {_PLAYED} tasks, for the card.")
    try:
        tasks = load_tasks(name, home=home)
    except ConfigurationError:
        return []
    drawn = tasks[:: -(-len(tasks) // _PLAYED)]
    return [figure._asdict() for figure in figures_of_cheats(drawn)]


_PLAYED = 40  # tasks, for a card


def _of_release(name: str, home: Path | str | None) -> Iterable[Task]:
    settings = settings_of(home)
    with reading(settings) as warehouse:
        shipped = ship_worlds(warehouse, name, settings.ledger.parent)
    worlds = {
        world: open_shipped(_with_rows_that_are_there(one.document), Path())
        for world, one in shipped.items()
    }
    return _played(load_release(name, home=home), worlds)


def _with_rows_that_are_there(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a world without its extension, whose file was already read."""
    remaining = {word: value for word, value in document.items() if word != "extension"}
    if "worlds" in remaining:
        return remaining | {"worlds": [*map(_with_rows_that_are_there, remaining["worlds"])]}
    return remaining


def _played(kept: Iterable[KeptSample], worlds: Mapping[str, StatefulWorld]) -> Iterator[Task]:
    for kept_sample in kept:
        if not problem_of_task(kept_sample.sample):
            world = worlds.get(kept_sample.sample.facts.environment)
            if world is None:
                raise ConfigurationError(
                    f"The task {kept_sample.key} needs the world"
                    f" {kept_sample.sample.facts.environment!r}, which is missing. The worlds"
                    f" are {', '.join(worlds) or 'none'}."
                )
            yield Task(kept_sample.sample, world, kept_sample.candidates, split=kept_sample.split)


def _in_folder(folder: Path) -> Iterable[Task]:
    world_files = sorted(folder.rglob(WORLDS_FILE))
    if len(world_files) != 1:
        raise ConfigurationError(
            f"{str(folder)!r} has {len(world_files)} files named {WORLDS_FILE}; it needs"
            " exactly one."
        )
    try:
        stated = orjson.loads(world_files[0].read_bytes())
        worlds = {
            name: open_shipped(document, world_files[0].parent) for name, document in stated.items()
        }
    except (ValueError, AttributeError) as error:
        raise RecordError(f"{str(world_files[0])!r} can't be read: {error}.") from error
    return _played(kept_in_folder(world_files[0].parent), worlds)
