"""Stages: a row of their table, a stage's context, and asking until an answer fits.

Families of samples, stages of tools, and checks each provide rows; flows/stages.py joins them.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from random import Random
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Never, Protocol, TypeVar

from pydantic import BaseModel

from callwright.generators.environments.protocol import Environment
from callwright.generators.own_values import NO_VALUES, OwnValues
from callwright.llm.chat import ChatModel, Prompt, again
from callwright.llm.prompts import prompt_version
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import Origin, Policy, Record, Tool

Role = Literal["generator", "checker", "judge"]
# How it is read what a sample's words ask for: calls written blind, or HammerBench's own readings.
Consistency = Literal["blind", "hammerbench"]
# How requests are worded: with slots that code fills, or with the values in the model's own words.
Wording = Literal["slots", "free"]
Read_contra = TypeVar("Read_contra", bound=Record, contravariant=True)


class StageFunction(Protocol[Read_contra]):
    """What a stage does: it makes records of the type that its row names of one that it reads."""

    def __call__(
        self, record: Read_contra, context: "StageContext", /
    ) -> Awaitable[Sequence[Record]]:
        """Return what is made; raise ReplyError or RecordError where nothing can be."""


@dataclass(frozen=True, eq=False)
class Stage:
    """One stage.

    One without a function works on a whole build or toolset at once (flows/run,
    flows/toolmaking.py).
    """

    name: str
    group: str
    about: str
    reads: str
    yields: str
    source: str
    # Any: the table erases the one type of record that it reads
    function: StageFunction[Any] | None = None
    role: Role | None = None
    templates: tuple[str, ...] = ()
    applies: Callable[[Any], bool] = lambda _record: True
    # the prompts that word what a user says: a recipe's personas and styles speak there
    voiced: tuple[str, ...] = ()

    def described(self) -> dict[str, object]:
        """Return the stage's fields, except its functions."""
        told = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in told.items() if not callable(value)}

    @property
    def is_check(self) -> bool:
        """Whether the stage judges its record instead of making a new one."""
        return self.yields == "Verdict"


class Step(NamedTuple):
    """A stage of a family; `prompts` from the family's folder are for the generator."""

    name: str
    about: str
    yields: str
    source: str
    function: StageFunction[Never]
    prompts: tuple[str, ...] = ()
    voiced: tuple[str, ...] = ()  # those of them that word what a user says


def in_a_row(family: str, reads: str, *steps: Step, group: str = "") -> tuple[Stage, ...]:
    """Chain the stages of a family's group; each reads what the one before it yields.

    The first one reads `reads`. A group has its family's name unless `group` is given. A prompt
    of another family is named by its path in generators/.
    """
    stages: list[Stage] = []
    for step in steps:
        paths = (one if "/" in one else f"{family}/prompts/{one}" for one in step.prompts)
        stages.append(
            Stage(
                step.name,
                group or family,
                step.about,
                reads,
                step.yields,
                step.source,
                step.function,
                "generator" if step.prompts else None,
                tuple(f"generators/{path}.j2" for path in paths),
                voiced=step.voiced,
            )
        )
        reads = step.yields
    return tuple(stages)


class StageContext(NamedTuple):
    """A stage's model, random generator seeded per record, tools by key, environments by name.

    `assistant` is the model that talks with simulated users, or None. `settler` is the judge's
    model, which settles where a reader differs from the gold; None if the reader does so itself.
    `rouge_l` is how similar free text must be for two calls to agree; `policies` are those that
    the recipe's assistants follow.
    """

    chat: ChatModel
    rng: Random
    tools: Mapping[str, Tool]
    environments: Mapping[str, Environment] = MappingProxyType({})
    own_values: OwnValues = NO_VALUES
    rouge_l: float = 0.7
    consistency: Consistency = "blind"
    assistant: ChatModel | None = None
    settler: ChatModel | None = None
    policies: tuple[Policy, ...] = ()
    wording: Wording = "slots"

    def tool(self, key: str) -> Tool:
        """Return the tool with this key. Raises RecordError if the catalog lacks it."""
        if key not in self.tools:
            raise RecordError(f"The catalog has no tool with the key {key!r}.")
        return self.tools[key]

    def toolset(self, keys: tuple[str, ...]) -> list[Tool]:
        """Return the tools with these keys, in the same order."""
        return [self.tool(key) for key in keys]

    def environment(self, name: str) -> Environment:
        """Return the environment of this name. Raises RecordError if the build has none."""
        if name not in self.environments:
            raise RecordError(f"The build has no environment {name!r}.")
        return self.environments[name]


ATTEMPTS = 3
Reply = TypeVar("Reply", bound=BaseModel)


class Leniency(NamedTuple):
    """What to do before giving up an answer: look closer, or let it pass after all attempts.

    With `forgets`, a new prompt says what was wrong without the answer, which would be copied.
    """

    goes_on: Callable[[Any], bool] = lambda _answer: False
    look_closer: Callable[[Any], Awaitable[object]] | None = None
    forgets: bool = False


_STRICT = Leniency()


async def first_fit(
    context: StageContext,
    prompt: Prompt,
    answer: type[Reply],
    problem_of: Callable[[Reply], str],
    complaint: str,
    *,
    leniency: Leniency = _STRICT,
) -> Reply:
    """Return the first of three answers without a problem, or the first that may pass anyway.

    Each new prompt says what was wrong, and shows the answer unless it came before. Raises
    ReplyError if there is neither, with `complaint` and the problem of the last answer.
    """
    current_prompt, problem, second_best = prompt, "", None
    refused: set[str] = set()
    for attempt in range(ATTEMPTS):
        reply = await context.chat.ask(current_prompt, answer, sample_index=attempt)
        problem = problem_of(reply)
        if problem and leniency.look_closer is not None:
            await leniency.look_closer(reply)
            problem = problem_of(reply)
        if not problem:
            return reply
        if second_best is None and leniency.goes_on(reply):
            second_best = reply
        text = reply.model_dump_json()
        is_hidden = leniency.forgets or text in refused
        current_prompt = again(prompt, "" if is_hidden else text, problem)
        refused.add(text)
    if second_best is None:
        raise ReplyError(f"{complaint}: {problem}")
    return second_best


def asked_origin(
    stage: str, parent: Record, seed: int, context: StageContext, prompts: tuple[str, ...]
) -> Origin:
    """Return the origin of an answer to `prompts`: a package, then names of prompts in it."""
    package, *names = prompts
    version = "+".join(prompt_version(package, name) for name in names)
    return Origin(
        stage=stage,
        parents=(parent.key,),
        seed=seed,
        model=context.chat.name,
        prompt_version=version,
    )
