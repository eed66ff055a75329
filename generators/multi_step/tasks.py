"""Tasks: goals that are a change of a world, and how a world ends that calls were made in.

A task's sample is made as every path is, but its responses are those of episodes of its world,
where lists have all that there is and what was written is read; it says by `changes` how the world
has to end, whichever calls lead there.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from callwright.generators.environments.episodes import (
    START,
    StatefulWorld,
    WorldEpisode,
    diff,
    unnamed,
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
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.records import Call, Change, Exchange, Goal, Sample, Strike


class BegunWorld(WrappedEnvironment):
    """An environment that answers each call as an episode that has just begun does."""

    def __init__(self, environment: Environment) -> None:
        """Take the world of an environment.

        Raises ConfigurationError where calls can't change it.
        """
        super().__init__(environment)
        self.inner = world_of(environment)

    @property
    def vocabulary(self) -> Vocabulary:
        """What people say in it."""
        return vocabulary_of(self._environment)

    async def answer(self, call: Call) -> CallResponse:
        """The response of a new episode, never an exception."""
        return self.inner.begin().answer(call)


def environment_of(goal: Goal, context: StageContext) -> Environment:
    """What answers the calls of a goal."""
    environment = context.environment(goal.environment)
    return BegunWorld(environment) if goal.kind in TASKS else environment


def world_of_sample(sample: Sample, context: StageContext) -> StatefulWorld:
    """The world that a task's calls change.

    Raises ConfigurationError where it is not at hand, or calls can't change it.
    """
    if sample.facts.environment not in context.environments:
        raise ConfigurationError(
            f"The task {sample.key} is judged by how the world {sample.facts.environment!r} ends,"
            " which can't be opened here; its recipe's tools have to be where they were when it was"
            " built."
        )
    return world_of(context.environments[sample.facts.environment])


def world_problem(sample: Sample, context: StageContext) -> str:
    """Why a task can't be judged here by how its world ends, "" where it can."""
    try:
        world_of_sample(sample, context)
    except ConfigurationError as error:
        return str(error)
    return ""


class Ending(NamedTuple):
    """How a world has ended: what has changed since its start, and what each call was answered."""

    changes: tuple[Change, ...]
    answers: tuple[CallResponse, ...]


def run_through(episode: WorldEpisode, calls: Iterable[Call]) -> Ending:
    """The end of an episode in which these calls are made, one after the other."""
    answers = tuple([episode.answer(call) for call in calls])
    return Ending(diff(START, episode.state), answers)


def find_changes(
    path: Sequence[Exchange], strikes: Sequence[Strike], world: StatefulWorld
) -> tuple[Change, ...]:
    """What the calls of a path make of the world.

    Raises RecordError where they don't make up a task.

    Each that writes has to change something, by each of its arguments, and all have to be answered
    as the path has it when they are made one after the other; a world answers whole, so that
    nothing can be struck.
    """
    if strikes:
        raise RecordError("Other entries of what the world answers fit what is wanted as well.")
    calls = [call for exchange in path for call in exchange.calls]
    ending = made_in_a_row(path, (), world)
    for at, call in enumerate(calls):
        for shorter, problem in _shortened(call) if world.writes(call.tool) else ():
            others = run_through(world.begin(), [*calls[:at], *shorter, *calls[at + 1 :]])
            if is_reached(ending.changes, others.changes):
                raise RecordError(f"The call of {call.tool} with {call.arguments!r} {problem}.")
    if not ending.changes:
        raise RecordError("No call changes the world.")
    return ending.changes


def _shortened(call: Call) -> Iterator[tuple[list[Call], str]]:
    """What could be called in place of a call that says too much, and what is wrong with it
    then.
    """
    yield [], "changes nothing"
    for name in call.arguments:
        rest = {other: value for other, value in call.arguments.items() if other != name}
        yield [call.with_changes(arguments=rest)], f"ends the same without its {name}"


def made_in_a_row(
    path: Sequence[Exchange], strikes: Sequence[Strike], world: StatefulWorld
) -> Ending:
    """The end of an episode in which the calls of a path are made.

    Raises RecordError where they are answered otherwise then.
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
    """Raise RecordError where a server would answer the calls of a path otherwise when they are
    made one after the other.

    A world that is simulated answers those that are no task for themselves; it may refuse none in
    an episode, in whichever order those made at once come: what one of them deletes is not looked
    at by another.
    """
    within = getattr(environment, "inner", environment)
    if isinstance(within, ServerWorld):
        made_in_a_row(path, strikes, within)
    elif isinstance(within, StatefulWorld):
        for way in (1, -1):
            calls = [call for exchange in path for call in exchange.calls[::way]]
            for call, answer in zip(calls, run_through(within.begin(), calls).answers, strict=True):
                if answer.problem:
                    raise RecordError(
                        f"{call.tool} is refused once other calls have changed the world:"
                        f" {answer.problem}"
                    )


def is_sound(
    path: Sequence[Exchange], strikes: Sequence[Strike], environment: Environment, *, as_task: bool
) -> bool:
    """Whether the calls of a path make up a task, or else are answered as it has them when made
    one after the other.
    """
    try:
        if as_task:
            find_changes(path, strikes, world_of(environment))
        else:
            validate_path(path, strikes, environment)
    except RecordError:
        return False
    return True


def is_reached(goal: Sequence[Change], changes: Sequence[Change]) -> bool:
    """Whether a world has ended as a task wants it: all that is due has changed, and nothing
    else.
    """
    return unnamed(goal) == unnamed(changes)
