"""Tasks in the world of the bicycle workshop that a recipe of ours simulates, written by hand:
their ends are those of the gold.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from pydantic import BaseModel

from callwright.generators.environments.episodes import StatefulWorld, world_of
from callwright.generators.environments.opening import open_environment
from callwright.generators.environments.protocol import Environment, SimulatedSettings
from callwright.generators.multi_step.samples import add_evidence
from callwright.generators.multi_step.tasks import run_through
from callwright.generators.stages import StageContext
from callwright.llm.chat import ChatModel, Prompt
from callwright.warehouse.records import (
    AskedField,
    Call,
    CallTurn,
    Condition,
    EntryRule,
    GoldCall,
    Language,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    Turn,
    UserTurn,
)

REQUEST = (
    "Please paint my bicycle called {name} with colour {colour}, and create a repair of its part"
    " chain."
)
DOCUMENT = Path(__file__).parents[4] / "recipes" / "documents" / "workshop.yaml"
Step = Sequence[tuple[str, dict[str, Any]]]


def open_workshop(folder: Path) -> Environment:
    """The workshop, its answers kept in a folder."""
    settings = SimulatedSettings.model_validate(
        {"environment": "simulated", "name": "workshop", "path": DOCUMENT}
    )
    return open_environment(settings, store=folder / "responses.sqlite", secret=str)


def context_of(environment: Environment, chat: ChatModel) -> StageContext:
    """What a stage has at hand in the workshop."""
    tools = {tool.key: tool for tool in environment.tools}
    return StageContext(chat, Random(1), tools, {environment.name: environment})


def bicycles(world: StatefulWorld) -> list[dict[str, Any]]:
    """The bicycles that the world has at first."""
    listed: Any = world.begin().answer(Call(tool="list_bicycles")).response
    return list(listed)


def repairs(world: StatefulWorld, bicycle: str) -> list[dict[str, Any]]:
    """The repairs that a bicycle has at first."""
    listed: Any = (
        world.begin().answer(Call(tool="list_repairs", arguments={"bicycle_id": bicycle})).response
    )
    return list(listed)


def task(
    environment: Environment,
    *steps: Step,
    asked: Sequence[AskedField] = (),
    reply: str = "It is done.",
) -> Sample:
    """A task of these gold steps, with what the world answers to them, how it ends and what the
    user wants to be told.
    """
    world = world_of(environment)
    calls = [[Call(tool=tool, arguments=arguments) for tool, arguments in step] for step in steps]
    ending = run_through(world.begin(), [call for step in calls for call in step])
    answers = iter(ending.answers)
    turns: list[Turn] = [UserTurn(text="Please see to my bicycle as I said.")]
    for step in calls:
        gold = tuple(GoldCall(tool=call.tool, arguments=call.arguments) for call in step)
        turns.append(CallTurn(calls=gold, executed=True))
        turns.append(ResultTurn(results=tuple(next(answers).response for _ in step)))
    turns.append(ReplyTurn(text=reply))
    return Sample(
        kind="task",
        language="en",
        category="workshop",
        candidates=tuple(tool.key for tool in environment.tools),
        turns=tuple(turns),
        facts=SampleFacts(environment=environment.name, simulation=world.seed, asked=tuple(asked)),
        changes=ending.changes,
    )


def painting(environment: Environment) -> Sample:
    """The first bicycle is found, painted in another colour, and gets a repair of its chain."""
    first = bicycles(world_of(environment))[0]
    colour = "white" if first["colour"] != "white" else "black"
    return task(
        environment,
        [("list_bicycles", {})],
        [
            ("update_bicycle", {"bicycle_id": first["id"], "colour": colour}),
            ("create_repair", {"bicycle_id": first["id"], "part": "chain"}),
        ],
    )


def telling(environment: Environment) -> Sample:
    """The first bicycle is painted in another colour, and the user wants to know name and gears
    of the second one.
    """
    first, second, *_ = bicycles(world_of(environment))
    colour = "white" if first["colour"] != "white" else "black"
    return task(
        environment,
        [
            ("update_bicycle", {"bicycle_id": first["id"], "colour": colour}),
            ("get_bicycle", {"bicycle_id": second["id"]}),
        ],
        asked=(AskedField(0, 1, "name"), AskedField(0, 1, "gears")),
        reply=f"Painted. The other one is {second['name']} with {second['gears']} gears.",
    )


def shown(prompt: Prompt, tag: str) -> Any:
    """What a prompt shows within a tag."""
    text = "\n".join(message.content for message in prompt.messages)
    return json.loads(text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0])


class Plain:
    """Says whatever it is to say in the plain words that it is shown."""

    name = "plain"

    async def ask(self, prompt: Prompt, answer: type[BaseModel], *, sample_index: int = 0) -> Any:
        (field,) = answer.model_fields
        return answer.model_validate({field: shown(prompt, "plain")})


def opening_of(prompt: Prompt) -> str:
    """The request that a prompt shows, without the words for what is held back."""
    request: str = shown(prompt, "request")
    for held in shown(prompt, "held"):
        request = request.replace(held["value"], "")
    return request


def request_to_paint(workshop: Environment, language: Language = "en") -> Sample:
    """A request that says colour, part and the bicycle's name."""
    first = bicycles(world_of(workshop))[0]
    steps = [
        [("list_bicycles", {})],
        [
            ("update_bicycle", {"bicycle_id": first["id"], "colour": "white"}),
            ("create_repair", {"bicycle_id": first["id"], "part": "chain"}),
        ],
    ]
    sample = task(workshop, *steps)
    text = REQUEST.format(name=first["name"], colour="white")
    turns = add_evidence(
        (UserTurn(text=text), *sample.turns[1:]), {tool.name: tool for tool in workshop.tools}
    )
    named = Condition(test="equals", field="name", value=first["name"])
    rule = EntryRule(entries="", field="id", where=(named,))
    return sample.with_changes(turns=tuple(_ruled(one, rule) for one in turns), language=language)


def _ruled(turn: Turn, rule: EntryRule) -> Turn:
    """The turn, what its calls take out of a list told by a rule."""
    if not isinstance(turn, CallTurn):
        return turn
    calls = (
        call.with_changes(
            evidence=tuple(
                one.with_changes(rule=rule) if one.kind == "response" else one
                for one in call.evidence
            )
        )
        for call in turn.calls
    )
    return turn.with_changes(calls=tuple(calls))
