"""Cheats: ways to play a task without doing it, and what each of them gets.

    for cheat in callwright.cheats(tasks[0], tasks):
        assert play(tasks[0], cheat) <= cheat.deserves

Exports test their environments with them, and a release's card prints what they get.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from pydantic import JsonValue

from callwright.flows.evaluation.rewards import ids_in
from callwright.flows.evaluation.tasks import Episode, Task
from callwright.generators.environments.episodes import diff
from callwright.warehouse.answers import fields_of
from callwright.warehouse.exports.writing import json_text
from callwright.warehouse.records import Call, Change

_TURNS, _ROUNDS, _NUMBERS, _OTHERS = 200, 3, 200, 100
_LONG = 100_000
_JUNK: tuple[JsonValue, ...] = ("x" * _LONG, None, -1, [[[[]]]], {"a": {"b": []}}, True, 1e308, "")


class Cheat(NamedTuple):
    """Calls, words between them and a last word that do not do a task, and what they deserve.

    `turns` are as in `Task.solution`; `deserves` is the most reward.
    """

    name: str
    turns: tuple[Call | str, ...]
    text: str
    deserves: float = 0.0


class CheatFigure(NamedTuple):
    """What a cheat gets on average in the tasks where it is possible."""

    name: str
    tasks: int
    mean_reward: float
    most_deserved: float


def cheats(task: Task, tasks: Sequence[Task]) -> Iterator[Cheat]:
    """Yield the cheats that are possible in a task; `tasks` are where other golds come from.

    A task in which nothing is to change has none: there it is right to do nothing.
    """
    if not task.sample.changes:
        return
    gold, said, solution = task.gold, task.reply, task.solution
    reads = [call for call in gold if not _writes(task, call)]
    writes = tuple(call for call in gold if _writes(task, call))
    yield Cheat("nothing", (), "")
    yield Cheat("answer without calls", (), said)
    yield Cheat("only reads", tuple(reads), said)
    if any(value not in task.given_ids for call in writes for _, value in _unshown(task, call)):
        yield Cheat("writes from memory", writes, said)
    others = [one for one in tasks if one.key != task.key and one.world.name == task.world.name]
    other = next((one for one in others if one.gold and one.goal != task.goal), None)
    if other is not None:
        yield Cheat("gold of another task", other.solution, other.reply)
    yield Cheat("every tool once", tuple(_every_tool(task, others)), said)
    yield Cheat("junk arguments", tuple(_junk(task)), said)
    yield Cheat(f"{_TURNS} turns", tuple([*reads, *gold[:1]][:1] * _TURNS), said)
    yield from _churns(task, others[:_OTHERS])
    if task.sample.facts.asked:
        yield Cheat("no last word", solution, "")
        yield Cheat("request echoed", solution, task.request)
        yield Cheat("word dump", solution, _word_dump(task))
        yield from (Cheat(name, solution, text) for name, text in _shown_dumps(task))


def play(task: Task, cheat: Cheat) -> float:
    """Return the reward that a cheat gets in a new episode."""
    with task.begin() as episode:
        episode.play(cheat.turns)
        return episode.reward(cheat.text)


def figures_of_cheats(tasks: Sequence[Task]) -> list[CheatFigure]:
    """Return what each cheat gets in these tasks, in the order in which they are listed above."""
    rewards: dict[str, list[tuple[float, float]]] = {}
    for task in tasks:
        for cheat in cheats(task, tasks):
            rewards.setdefault(cheat.name, []).append((play(task, cheat), cheat.deserves))
    return [
        CheatFigure(
            name,
            len(got),
            sum(reward for reward, _ in got) / len(got),
            max(deserved for _, deserved in got),
        )
        for name, got in rewards.items()
    ]


def _writes(task: Task, call: Call) -> bool:
    return task.world.writes(task.own_names.get(call.tool, call.tool))


def _unshown(task: Task, call: Call) -> Iterator[tuple[str, str]]:
    """Yield the ids of a call that the request does not say."""
    said = "\n".join(message["content"] for message in task.messages)
    yield from ((name, value) for name, value in ids_in(call.arguments) if value not in said)


def _every_tool(task: Task, others: Iterable[Task]) -> Iterator[Call]:
    own = {call.key for call in task.gold if _writes(task, call)}
    known = {call.tool: call for one in others for call in one.gold if call.key not in own}
    for name in task.candidates:
        shown = task.names.get(name, name)
        yield known.get(shown, Call(tool=shown))


def _junk(task: Task) -> Iterator[Call]:
    for call in task.gold:
        for value in _JUNK:
            yield call.with_changes(arguments=dict.fromkeys(call.arguments, value))


class _Deed(NamedTuple):
    """A call and the one change that it makes; `named` is the parameter with the thing's id."""

    call: Call
    change: Change
    named: str


def _churns(task: Task, others: Iterable[Task]) -> Iterator[Cheat]:
    """Yield golds before which things are made and unmade, so that the world is as it was."""
    creates, deletes = _deeds(task, others, "created"), _deeds(task, others, "deleted")
    for kind in creates.keys() & deletes.keys():
        made, gone = creates[kind], deletes[kind]
        with task.begin() as episode:
            before: list[Call] = []
            for _ in range(_ROUNDS):
                before += _made_and_unmade(episode, made, gone)
            if before and not episode.changes:
                yield Cheat("churn", (*before, *task.solution), task.reply)
        fields = gone.change.before if isinstance(gone.change.before, dict) else {}
        own = task.own_names.get(made.call.tool, made.call.tool)
        takes = {name for tool in task.world.tools if tool.name == own for name in tool.properties}
        again = {name: value for name, value in fields.items() if name in takes}
        calls = (gone.call, made.call.with_changes(arguments={**made.call.arguments, **again}))
        yield Cheat("delete and recreate", (*task.gold[:1], *calls, *task.solution), task.reply)
        return


def _made_and_unmade(episode: Episode, made: _Deed, gone: _Deed) -> list[Call]:
    known = {(one.kind, one.id) for one in episode.changes}
    episode.step(made.call.tool, made.call.arguments)
    new = [one for one in episode.changes if (one.kind, one.id) not in known]
    if len(new) != 1 or new[0].sort != "created":
        return []
    unmade = gone.call.with_changes(arguments={**gone.call.arguments, gone.named: new[0].id})
    episode.step(unmade.tool, unmade.arguments)
    return [made.call, unmade]


def _deeds(task: Task, others: Iterable[Task], sort: str) -> Mapping[str, _Deed]:
    """Return a call for each kind of thing that creates or deletes one in this task's world."""
    found: dict[str, _Deed] = {}
    tried: set[str] = set()
    for call in chain(task.gold, (call for one in others for call in one.gold)):
        if call.tool in tried or not _writes(task, call):
            continue
        world = task.begun()
        world.answer(call.with_changes(tool=task.own_names.get(call.tool, call.tool)))
        changes = diff(task.begun().state, world.state)
        tried |= {call.tool} if changes else set()
        if len(changes) == 1 and changes[0].sort == sort:
            named = (name for name, value in call.arguments.items() if str(value) == changes[0].id)
            found.setdefault(changes[0].kind, _Deed(call, changes[0], next(named, "")))
    return found


def _word_dump(task: Task) -> str:
    listed = [str(value) for values in task.kinds.values() for value in values]
    return " ".join([task.reply, *dict.fromkeys(listed), *map(str, range(_NUMBERS))])


def _shown_dumps(task: Task) -> Iterator[tuple[str, str]]:
    """Yield all that was shown, where that is about more things than the user's."""
    with task.begin() as episode:
        responses = [answer.response for answer in episode.play(task.solution)]
    if not any(map(_has_several, responses)):
        return
    shown = [value for one in responses for _, value in fields_of(one)]
    yield "dump of what was shown", " ".join(dict.fromkeys(map(str, shown)))
    yield "all responses pasted", "\n".join(map(json_text, responses))


def _has_several(value: JsonValue) -> bool:
    """Whether a list of several things stands somewhere in a response."""
    if isinstance(value, dict):
        return any(map(_has_several, value.values()))
    return isinstance(value, list) and (len(value) > 1 or any(map(_has_several, value)))
