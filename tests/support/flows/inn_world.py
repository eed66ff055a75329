"""A little world that answers calls, multi-step samples over it, and candidates who know the way
and err as told.
"""

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue

from callwright.generators.environments.protocol import CallResponse
from callwright.llm.asking import parse_answer
from callwright.llm.chat import Completion, Prompt
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    Link,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    Tool,
    Turn,
    UserTurn,
)
from callwright.warehouse.releases import freeze
from callwright.warehouse.store import Warehouse

NAME = "paths"
CITIES = {
    "New York": "c-11",
    "Rome": "c-12",
    "Porto": "c-13",
    "Lyon": "c-14",
    "Ghent": "c-15",
    "Oslo": "c-16",
}
ALSO_KNOWN_AS = {"NYC": "New York", "Roma": "Rome"}


def _tool(
    name: str, description: str, required: Sequence[str], properties: Mapping[str, JsonValue]
) -> Tool:
    schema = {"type": "object", "required": list(required), "properties": dict(properties)}
    return Tool(name=name, description=description, parameters=schema, category="Hotels")


TEXT = {"type": "string"}
TOOLS = (
    _tool("Find_City", "Find a city by its name.", ["query"], {"query": TEXT}),
    _tool(
        "Search_Inns",
        "Inns with a free room.",
        ["dest_id", "arrival_date"],
        {
            "dest_id": TEXT,
            "arrival_date": {"type": "string", "format": "date"},
            "adults": {"type": "integer", "default": 1},
            "sort_by": {"type": "string", "enum": ["price", "rating"]},
        },
    ),
    _tool(
        "Search_Tours",
        "Tours through a city.",
        ["dest_id"],
        {"dest_id": TEXT, "page": {"type": "integer", "default": 1}},
    ),
    _tool(
        "Inn_Details",
        "What an inn offers.",
        ["inn_id"],
        {"inn_id": TEXT, "currency": {"type": "string", "default": "EUR"}},
    ),
    _tool("Tour_Details", "What a tour shows.", ["slug"], {"slug": TEXT}),
    _tool("Ferry_Times", "When ferries leave.", ["port"], {"port": TEXT}),
)


class Inns:
    """Cities with inns and tours; a city is found by its name, and by another name where
    `knows_names`.
    """

    name = "inns"
    tools = TOOLS
    links: tuple[Link, ...] = ()

    def __init__(self, *, knows_names: bool = True) -> None:
        self.asked: list[Call] = []
        self._knows_names = knows_names

    async def answer(self, call: Call) -> CallResponse:
        self.asked.append(call)
        response = respond(call, knows_names=self._knows_names)
        return (
            CallResponse(response)
            if response is not None
            else CallResponse(problem="404 Not Found")
        )


def respond(call: Call, *, knows_names: bool = True, words: int = 2) -> JsonValue:
    """What a call returns; `words` make responses long."""
    given = call.arguments
    match call.tool:
        case "Find_City":
            asked = str(given.get("query"))
            city = ALSO_KNOWN_AS.get(asked, asked) if knows_names else asked
            return {"data": [{"dest_id": CITIES[city], "name": city}]} if city in CITIES else None
        case "Search_Inns":
            key = [
                given.get("dest_id"),
                given.get("arrival_date"),
                given.get("adults", 1),
                given.get("sort_by", "rating"),
            ]
            rng = Random(str(key))
            inns = [
                {
                    "inn_id": f"{given.get('dest_id')}-i{n}",
                    "price": 60 + 7 * n,
                    "about": _prose(rng, words),
                }
                for n in range(3)
            ]
            return {"data": {"inns": inns, "search": str(rng.random())}}
        case "Search_Tours":
            rng = Random(str([given.get("dest_id"), given.get("page", 1)]))
            tours = [
                {"slug": f"{given.get('dest_id')}-tour-{n}", "about": _prose(rng, words)}
                for n in range(2)
            ]
            return {"data": {"tours": tours}}
        case "Inn_Details":
            return {
                "data": {
                    "inn_id": given.get("inn_id"),
                    "currency": given.get("currency", "EUR"),
                    "rooms": 12,
                }
            }
        case "Tour_Details":
            return {"data": {"slug": given.get("slug"), "hours": 3}}
    return None


def _prose(rng: Random, words: int) -> str:
    return " ".join(
        rng.choice(("quiet", "court", "garden", "roof", "river", "stairs", "bread", "linen"))
        for _ in range(words)
    )


def inn_sample(
    city: str, *, date: str = "2026-05-01", words: int = 2, extra: Sequence[Tool] = ()
) -> Sample:
    """Three steps in one domain: the city, its inns, the cheapest one."""
    steps = _steps(city, date, tours=False)
    request = f"I come to {city} on {date}, the two of us. What does the cheapest inn offer?"
    return _sample("multi_step", "Hotels", request, steps, words, extra)


def inn_and_tour_sample(city: str, *, date: str = "2026-05-01", words: int = 2) -> Sample:
    """Three steps over two domains: the city, its inns and tours at once, the first of each."""
    request = (
        f"I come to {city} on {date}, the two of us. What does the cheapest inn offer, and the"
        " first tour?"
    )
    return _sample("multi_step_cross", "Cross", request, _steps(city, date, tours=True), words, ())


def _steps(city: str, date: str, *, tours: bool) -> list[list[Call]]:
    place = CITIES[city]
    steps = [
        [Call(tool="Find_City", arguments={"query": city})],
        [
            Call(
                tool="Search_Inns",
                arguments={"dest_id": place, "arrival_date": date, "adults": 2, "sort_by": "price"},
            )
        ],
        [Call(tool="Inn_Details", arguments={"inn_id": f"{place}-i0"})],
    ]
    if tours:
        steps[1].append(Call(tool="Search_Tours", arguments={"dest_id": place, "page": 1}))
        steps[2].append(Call(tool="Tour_Details", arguments={"slug": f"{place}-tour-0"}))
    return steps


def _sample(
    kind: str,
    category: str,
    request: str,
    steps: Sequence[Sequence[Call]],
    words: int,
    extra: Sequence[Tool],
) -> Sample:
    turns: list[Turn] = [UserTurn(text=request)]
    for calls in steps:
        golden = tuple(GoldCall(tool=call.tool, arguments=call.arguments) for call in calls)
        turns.append(CallTurn(calls=golden, executed=True))
        turns.append(ResultTurn(results=tuple(respond(call, words=words) for call in calls)))
    turns.append(ReplyTurn(text="The cheapest inn has 12 rooms."))
    return Sample(
        kind=kind,
        language="en",
        category=category,
        candidates=tuple(tool.key for tool in (*TOOLS, *extra)),
        turns=tuple(turns),
        facts=SampleFacts(environment="inns"),
    )


def gold_steps(sample: Sample) -> list[list[dict[str, JsonValue]]]:
    """The gold calls, step by step, as a candidate writes them."""
    return [
        [{"name": call.tool, "arguments": copy.deepcopy(call.arguments)} for call in turn.calls]
        for turn in sample.turns
        if turn.kind == "calls"
    ]


def release_paths(
    warehouse: Warehouse, samples: Sequence[Sample], tools: Sequence[Tool] = TOOLS, name: str = NAME
) -> None:
    """Freeze the samples under a name."""
    warehouse.put([*tools, *samples])
    freeze(warehouse, name, sorted(one.key for one in samples))


Err = Callable[[int, list[dict[str, Any]], int], list[dict[str, Any]]]
Answered = TypeVar("Answered", bound=BaseModel)


class Guide:
    """Answers prompts for the next calls: gold step after gold step, then a last word.

    `err` changes the calls of a turn.

    `err` is given the step, its calls and how often the step was tried; what it returns is called.
    """

    name = "guide"

    def __init__(
        self, samples: Sequence[Sample], err: Err | None = None, *, stop_after: int | None = None
    ) -> None:
        self._steps = {sample.request: gold_steps(sample) for sample in samples}
        self._words = {
            one.request: next((t.text for t in one.turns[-1:] if t.kind == "reply"), "")
            for one in samples
        }
        self._err = err
        self._stop_after = stop_after
        self.prompts: list[str] = []
        self.tools_given: list[Tool] = []

    async def ask(
        self, prompt: Prompt, answer: type[Answered], *, sample_index: int = 0
    ) -> Answered:
        """The reply as the class that is asked for."""
        return parse_answer(self.reply([message.content for message in prompt.messages]), answer)

    async def complete(
        self, prompt: Prompt, tools: Sequence[Tool] = (), *, sample_index: int = 0
    ) -> Completion:
        """The same by native calls, or in words."""
        self.tools_given = list(tools)
        said = json.loads(self.reply([message.content for message in prompt.messages]))
        calls = tuple(
            Call(tool=call["name"], arguments=call["arguments"]) for call in said["calls"]
        )
        return Completion(said["answer"], calls or None)

    def reply(self, messages: Sequence[str]) -> str:
        """What it says to a prompt."""
        asked = messages[-1]
        self.prompts.append(asked)
        request, history = (json.loads(_between(asked, name)) for name in ("request", "history"))
        steps = self._steps[request]
        told = [[is_response(one) for one in exchange["responses"]] for exchange in history]
        number = sum(any(exchange) for exchange in told)
        if number >= (len(steps) if self._stop_after is None else self._stop_after):
            return json.dumps({"calls": [], "answer": self._words[request]})
        calls = copy.deepcopy(steps[number])
        tries = len(history) - number
        return json.dumps(
            {"calls": self._err(number, calls, tries) if self._err else calls, "answer": ""}
        )


def is_response(told: object) -> bool:
    """Whether a call was answered by a response, not by an error."""
    return not isinstance(told, dict) or "error" not in told


def _between(text: str, tag: str) -> str:
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
