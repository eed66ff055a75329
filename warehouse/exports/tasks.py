"""Tasks as environments for trainers: samples and worlds, a module to play them, and its tests.

A folder gets `tasks/`, which `callwright.load_tasks` reads, and files that are rendered from
templates. They come beside a format's rows of every sample, or in place of them.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import dropwhile
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from jinja2 import PackageLoader

from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.datasheets import counted, described
from callwright.warehouse.exports.formats import record_line
from callwright.warehouse.exports.writing import (
    Format,
    ReleaseSplit,
    Write,
    tool_document,
    write_json,
)
from callwright.warehouse.records import ReplyTurn, Sample, Tool, UserTurn
from callwright.warehouse.releases import ReleaseStream
from callwright.warehouse.templates import sandbox
from callwright.warehouse.wire_names import wire_names

TASKS = "tasks"
WORLDS_FILE = "worlds.json"
DATASHEET = "DATASHEET.md"
# the folder of what plays tasks, where rows of other samples stand beside
ENVIRONMENT = "environment"
NO_TASK = "it is no task: nothing in a world is to change"
RESET, REWARD = "reset_episode", "episode_reward"  # tools of a server besides those of a world
# The tool for words, where a library hands an environment nothing but calls.
REPLY = "reply_to_user"
REPLY_TOOL: Mapping[str, Any] = {
    "name": REPLY,
    "description": (
        "Say something to the user: ask for what only they can tell or allow, or give the final"
        " answer. The result is what the user answers, or that the conversation is over."
    ),
    "parameters": {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The words to the user."}},
        "required": ["text"],
    },
}
# What methods, paths and tools of environments are called that are none of a world.
_TAKEN = frozenset(
    {"aggregate_metrics", "close", "get_reward", "mcp", "reset", "seed_session", "state"}
    | {"step", "verify", RESET, REWARD, REPLY}
)


def names_in_episodes(tools: Iterable[Tool]) -> dict[str, str]:
    """Return a world's tool names in episodes: identifiers that no library uses otherwise."""
    listed = list(tools)
    plain = wire_names(listed, python=True)
    shown = {tool.name: plain.tool(tool.name) for tool in listed}
    return {
        own: f"tool_{name}" if name in _TAKEN or name.startswith("_") else name
        for own, name in shown.items()
    }


def problem_of_task(sample: Sample) -> str:
    """Return why no environment can begin with a sample, or "" if one can."""
    return "" if sample.changes or sample.policy_case else NO_TASK


def is_spoken(sample: Sample) -> bool:
    """Whether the user of a sample answers what an assistant says after the request."""
    later = dropwhile(lambda turn: isinstance(turn, UserTurn), sample.turns)
    return any(isinstance(turn, UserTurn) for turn in later)


class TaskFormat(NamedTuple):
    """How tasks are handed to a library: its files by path, each with its template.

    `root` is the folder of the module, named by the release's word. `row_of` makes the library's
    own row of a task from the sample and the documents of its tools, `words_of` more words for
    the templates. `probe` is the file of what a validator of servers does with a task, if any.
    """

    files: Mapping[str, str]
    root: str = f"{ENVIRONMENT}/"
    row_of: Callable[[Sample, list[dict[str, Any]]], Mapping[str, Any]] | None = None
    words_of: Callable[[ReleaseStream], Mapping[str, Any]] | None = None
    probe: str = ""

    def alone(self, name: str, holds: str, readers: str) -> Format:
        """Return a training format that consists only of these environments."""
        form = Format(name, holds, readers, self.begin, complete=self.complete)
        return form._replace(is_for_training=True, has_worlds=True)

    def added_to(self, form: Format) -> Format:
        """Return a format that also has environments if there are tasks."""

        def begin(part: ReleaseSplit) -> Write:
            write, write_task = form.begin(part), self.begin(part)
            return lambda one: write(one) + (0 if problem_of_task(one) else write_task(one))

        def complete(parts: Sequence[ReleaseSplit], folder: Path) -> list[Path]:
            others = form.complete(parts, folder) if form.complete else ()
            return [*others, *self.complete(parts, folder)]

        return form._replace(begin=begin, complete=complete, has_worlds=True)

    def begin(self, part: ReleaseSplit) -> Write:
        """Return the function that writes a task into a part. It raises RecordError for no task."""
        root, tools = self.root.format(word=word_of(part.source)), part.source.tools

        def write(sample: Sample) -> int:
            if problem := problem_of_task(sample):
                raise RecordError(problem)
            row = record_line(sample, tools) | part.mark
            part.add_line(f"{root}{TASKS}/{part.stem}.jsonl", row)
            part.counted.update(counted(sample))
            if self.row_of is not None:
                names = part.source.worlds[sample.facts.environment].names
                listed = (tools[key] for key in sample.candidates)
                shown = [tool_document(tool, names[tool.name]) for tool in listed]
                name = f"{root}data/{part.stem}.jsonl"
                part.add_line(name, {**self.row_of(sample, shown), **part.mark})
            return 1

        return write

    def complete(self, parts: Sequence[ReleaseSplit], folder: Path) -> list[Path]:
        """Write worlds, modules and tests, or nothing if no task was written."""
        source = parts[0].source
        word = word_of(source)
        root = self.root.format(word=word)
        place = folder / root / TASKS
        if not place.is_dir():
            return []
        held = (one.files.items() for one in source.worlds.values())
        texts = {f"{root}{TASKS}/{name}": text for some in held for name, text in some}
        stems = [part.stem for part in parts if (place / f"{part.stem}.jsonl").is_file()]
        splits = [stem for stem in stems if stem in source.release.splits]
        first, last = (splits[0], splits[-1]) if splits else ("", "")
        words = {"release": source.release.name, "word": word, "stems": stems, "splits": splits}
        words |= {"reply": REPLY, "first": first, "last": last}
        words |= described(parts)
        words |= {**(self.words_of(source) if self.words_of else {})}
        for name, template in self.files.items():
            texts[name.format(word=word)] = _TEMPLATES.get_template(template).render(words)
        texts[DATASHEET] = _TEMPLATES.get_template("datasheet.md.j2").render(words)
        worlds = {name: dict(one.document) for name, one in source.worlds.items()}
        written = [_written(folder / name, text) for name, text in texts.items()]
        if self.probe:
            with (place / f"{stems[0]}.jsonl").open("rb") as file:
                sample = Sample.model_validate(orjson.loads(file.readline())["sample"])
            names = source.worlds[sample.facts.environment].names
            written.append(write_json(folder / self.probe, _probe_of(sample, names)))
        return [write_json(place / WORLDS_FILE, worlds), *written]


_MOST_ACTIONS = 100  # of a plan for OpenEnv's validator


def _probe_of(sample: Sample, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the plan by which OpenEnv's validator tries a server: the gold of a task."""
    last = sample.turns[-1]
    said = last.text if isinstance(last, ReplyTurn) else ""
    made = [(names[call.tool], call.arguments) for call in sample.all_calls]
    actions = [
        {"type": "call_tool", "tool_name": name, "arguments": arguments}
        for name, arguments in [*made[: _MOST_ACTIONS - 1], (REPLY, {"text": said})]
    ]
    reset = {"episode_id": "probe", "seed": 7, "options": {"task": sample.key}}
    return {"plan_schema_version": "1", "reset": reset, "actions": actions}


def word_of(source: ReleaseStream) -> str:
    """Return a release's name as an identifier."""
    return re.sub(r"\W", "_", source.release.name, flags=re.ASCII).lower()


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


_TEMPLATES = sandbox(  # of Python and YAML
    loader=PackageLoader("callwright.warehouse.exports", "environments"),
    keep_trailing_newline=True,
    trim_blocks=True,
)
_TEMPLATES.filters["repr"] = repr


OPENENV = TaskFormat(
    {
        "server.py": "openenv_server.py.j2",
        "openenv.yaml": "openenv.yaml.j2",
        "Dockerfile": "openenv_dockerfile.j2",
        "validation/oracle.py": "openenv_oracle.py.j2",
        "test_server.py": "openenv_tests.py.j2",
    },
    root="",
    probe="validation/runtime.json",
).alone(
    "openenv",
    "a server of the tasks, each in its world, and its tests",
    "OpenEnv: `uvicorn server:app`",
)
VERIFIERS = TaskFormat(
    {
        "pyproject.toml": "verifiers_project.toml.j2",
        "callwright_{word}/__init__.py": "verifiers_init.py.j2",
        "callwright_{word}/taskset.py": "verifiers_taskset.py.j2",
        "test_taskset.py": "verifiers_tests.py.j2",
    },
    root="callwright_{word}/",
).alone(
    "verifiers",
    "a taskset of the tasks, each in its world, and its tests",
    "verifiers 0.4 and newer (`verifiers.v1`), once the folder is installed",
)
