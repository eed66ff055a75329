"""Tasks: goals that change a world, and the final state of a world after calls.

A task's sample is made as every path is, but its responses come from episodes of its world,
where lists are complete and reads see what was written; its `changes` say how the world has to
end, whichever calls lead there.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.episodes import (
    START,
    SeededWorld,
    StatefulWorld,
    WorldEpisode,
    diff,
    unnamed,
    unwrapped,
    world_of,
)
from callwright.generators.environments.protocol import (
    CallResponse,
    Environment,
    WrappedEnvironment,
)
from callwright.generators.environments.stored import ServerWorld
from callwright.generators.environments.vocabularies import Vocabulary, vocabulary_of
from callwright.generators.multi_step import TASKS
from callwright.generators.multi_step.resolving import strike_out
from callwright.generators.stages import StageContext
from callwright.generators.transcripts import others_of
from callwright.language.schemas import choices_of
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.records import Call, Change, Exchange, Goal, Sample, Strike, Tool


class BegunWorld(WrappedEnvironment):
    """An environment that answers each call in a new episode."""

    def __init__(self, environment: Environment, seed: int | None = None) -> None:
        """Take the world of an environment, by default that of its own seed.

        Raises ConfigurationError if calls can't change it.
        """
        super().__init__(environment)
        world = world_of(environment)
        self.is_alone = isinstance(world, ServerWorld)  # a reset leads to one beginning
        self.inner = world if seed is None or self.is_alone else SeededWorld(world, seed)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What people say in this world."""
        return vocabulary_of(self._environment, self.inner.seed)

    def at(self, seed: int) -> "BegunWorld":
        """Return the world of another seed."""
        return BegunWorld(self._environment, seed)

    async def answer(self, call: Call) -> CallResponse:
        """Return the response of a new episode; never raise."""
        return self.inner.begin().answer(call)


def environment_of(goal: Goal, context: StageContext) -> Environment:
    """Return the environment that answers a goal's calls."""
    environment = context.environment(goal.environment)
    return BegunWorld(environment, goal.world) if goal.kind in TASKS else environment


def world_of_sample(sample: Sample, context: StageContext) -> StatefulWorld:
    """Return the world that a task's calls change.

    Raises ConfigurationError if it is not available, or calls can't change it.
    """
    if sample.facts.environment not in context.environments:
        raise ConfigurationError(
            f"The task {sample.key} is judged by how the world {sample.facts.environment!r} ends,"
            " which can't be opened here; its recipe's tools have to be where they were when it was"
            " built."
        )
    return world_of(context.environments[sample.facts.environment])


def world_problem(sample: Sample, context: StageContext) -> str:
    """Return why a task can't be judged here by the end of its world, or "" if it can."""
    try:
        world_of_sample(sample, context)
    except ConfigurationError as error:
        return str(error)
    return ""


class Ending(NamedTuple):
    """The end of a world: the changes since its start, and the answer to each call."""

    changes: tuple[Change, ...]
    answers: tuple[CallResponse, ...]


def run_through(episode: WorldEpisode, calls: Iterable[Call]) -> Ending:
    """Return the end of an episode in which these calls are made, one by one."""
    answers = tuple([episode.answer(call) for call in calls])
    return Ending(diff(START, episode.state), answers)


def find_changes(
    path: Sequence[Exchange], strikes: Sequence[Strike], world: StatefulWorld
) -> tuple[Change, ...]:
    """Return the changes that the calls of a path make to the world.

    Raises RecordError if they don't form a task.

    Each writing call must change something with each of its arguments, and something else with
    those of another thing; all calls, made one by one, must get the answers that the path has. A
    world answers completely, so no entries can be struck.
    """
    if strikes:
        raise RecordError("Other entries of what the world answers fit what is wanted as well.")
    calls = [call for exchange in path for call in exchange.calls]
    ending = made_in_a_row(path, (), world)
    tools = {tool.name: tool for tool in world.tools}
    results = [response for exchange in path for response in exchange.responses]
    for at, call in enumerate(calls):
        if not world.writes(call.tool):
            continue
        rivals = (
            ([other], f"ends the same with another {name}")
            for name, other in mistaken(call, tools[call.tool], results[:at])
        )
        for replaced, problem in chain(_shortened(call), rivals):
            others = run_through(world.begin(), [*calls[:at], *replaced, *calls[at + 1 :]])
            if is_reached(ending.changes, others.changes):
                raise RecordError(f"The call of {call.tool} with {call.arguments!r} {problem}.")
    if not ending.changes:
        raise RecordError("No call changes the world.")
    return ending.changes


def _shortened(call: Call) -> Iterator[tuple[list[Call], str]]:
    """Yield what could replace a call that says too much, and what is then wrong with it."""
    yield [], "changes nothing"
    for name in call.arguments:
        rest = {other: value for other, value in call.arguments.items() if other != name}
        yield [call.with_changes(arguments=rest)], f"ends the same without its {name}"


def mistaken(call: Call, tool: Tool, results: Sequence[JsonValue]) -> Iterator[tuple[str, Call]]:
    """Yield calls that take something else for what is meant, each with the argument that differs.

    It is another choice, a text of another thing in the results, or one that is made up.
    """
    rng = Random(call.key)
    for name, given in call.arguments.items():
        schema = tool.properties[name]
        others = [one for one in choices_of(schema) if one != given]
        for value in (*others, *others_of((name, schema), given, results, tool.language, rng)):
            yield name, call.with_changes(arguments=call.arguments | {name: value})


def made_in_a_row(
    path: Sequence[Exchange], strikes: Sequence[Strike], world: StatefulWorld
) -> Ending:
    """Return the end of an episode in which the calls of a path are made.

    Raises RecordError if they then get other answers.
    """
    by_call: dict[tuple[int, int], list[Strike]] = {}
    for strike in strikes:
        by_call.setdefault((strike.step, strike.call), []).append(strike)
    ending = run_through(world.begin(), [call for exchange in path for call in exchange.calls])
    answers = iter(ending.answers)
    for step, exchange in enumerate(path):
        for at, due in enumerate(exchange.responses):
            answer = next(answers)
            if answer.problem or strike_out(answer.response, by_call.get((step, at), ())) != due:
                raise RecordError(
                    "The calls are answered otherwise once those before them have changed the"
                    " world."
                )
    return ending


def validate_path(
    path: Sequence[Exchange], strikes: Sequence[Strike], environment: Environment
) -> None:
    """Raise RecordError if a path's calls get other answers when made one after the other.

    This is for servers. A simulated world answers calls that are no task on their own; it must
    refuse none in an episode, in either order of those made at once: nothing that one of them
    deletes may be read by another.
    """
    world = unwrapped(environment)
    if isinstance(world, ServerWorld):
        made_in_a_row(path, strikes, world)
    elif isinstance(world, StatefulWorld):
        for way in (1, -1):
            calls = [call for exchange in path for call in exchange.calls[::way]]
            for call, answer in zip(calls, run_through(world.begin(), calls).answers, strict=True):
                if answer.problem:
                    raise RecordError(
                        f"{call.tool} is refused once other calls have changed the world:"
                        f" {answer.problem}"
                    )


def is_sound(
    path: Sequence[Exchange], strikes: Sequence[Strike], environment: Environment, *, as_task: bool
) -> bool:
    """Whether a path's calls make up a task or, if not `as_task`, keep their answers in a row."""
    try:
        if as_task:
            find_changes(path, strikes, world_of(environment))
        else:
            validate_path(path, strikes, environment)
    except RecordError:
        return False
    return True


def is_reached(goal: Sequence[Change], changes: Sequence[Change]) -> bool:
    """Whether a world has ended as a task wants: all that is due has changed, nothing else."""
    return unnamed(goal) == unnamed(changes)
