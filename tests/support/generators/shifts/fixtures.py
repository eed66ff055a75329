"""Conversations of every shape, in both languages, and a context whose model is template/v1."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pytest

from callwright.generators.stages import StageContext
from callwright.llm.chat import Answer, ChatModel, ChatRequest, Completion, Prompt
from callwright.llm.template.model import TemplateModel
from callwright.warehouse.records import (
    CallTurn,
    Evidence,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)
from tests.support.llm.template.fixtures import text, tool

TOOLS = (
    tool(
        "Air.Search.findFlights",
        "Find flights between two cities.",
        "en",
        ["origin", "destination", "date"],
        origin=text("Departure city", "Rome", "Oslo", "Lisbon", "Dublin"),
        destination=text("Destination city", "Boston", "Seattle", "Lima", "Cairo"),
        date={"type": "string", "format": "date", "description": "Travel date"},
        passengers={
            "type": "integer",
            "minimum": 1,
            "maximum": 9,
            "description": "Number of passengers",
        },
        cabin={"type": "string", "enum": ["economy", "business"], "description": "Cabin class"},
        direct={"type": "boolean", "description": "Whether only direct flights are shown"},
    ),
    tool(
        "Weather.Days.tellForecast",
        "Tell the weather forecast of a city.",
        "en",
        ["city"],
        city=text("City", "Rome", "Oslo", "Lisbon", "Dublin"),
        date={"type": "string", "format": "date", "description": "Day"},
    ),
    tool(
        "Pharmacy.Orders.refillPrescription",
        "Refill a prescription at the pharmacy.",
        "en",
        ["prescription_number"],
        prescription_number={
            "type": "string",
            "pattern": r"^RX\d{5}$",
            "description": "Prescription number",
        },
    ),
    tool(
        "Trains.Search.findTrains",
        "查询两个城市之间的列车",
        "zh",
        ["origin", "destination", "date"],
        origin=text("出发城市", "北京", "上海", "广州", "成都"),
        destination=text("到达城市", "杭州", "西安", "武汉", "南京"),
        date={"type": "string", "format": "date", "description": "出发日期"},
        passengers={"type": "integer", "minimum": 1, "maximum": 9, "description": "乘车人数"},
    ),
    tool(
        "Pharmacy.Orders.refillPrescription",
        "在药店续配处方药",
        "zh",
        ["prescription_number"],
        prescription_number={"type": "string", "pattern": r"^RX\d{5}$", "description": "处方编号"},
    ),
)
BY_KEY: Mapping[str, Tool] = {tool.key: tool for tool in TOOLS}
AIR, WEATHER, PHARMACY, TRAINS, DRUGSTORE = TOOLS


def _call(tool: Tool, turns: list[Turn], **arguments: Any) -> GoldCall:
    """A call with evidence, where a user turn says the value word for word."""
    evidence = []
    for name, value in arguments.items():
        for index in range(len(turns) - 1, -1, -1):
            turn = turns[index]
            if isinstance(turn, UserTurn) and str(value) in turn.text:
                start, words = turn.text.index(str(value)), str(value)
                found = Evidence(
                    argument=name,
                    kind="span",
                    turn=index,
                    start=start,
                    end=start + len(words),
                    quote=words,
                )
                evidence.append(found)
                break
    return GoldCall(tool=tool.name, arguments=arguments, evidence=tuple(evidence))


def _sample(kind: str, tools: tuple[Tool, ...], turns: list[Turn], language: Any = "en") -> Sample:
    keys = tuple(tool.key for tool in tools)
    return Sample(
        kind=kind, language=language, category="test", candidates=keys, turns=tuple(turns)
    )


def asked() -> Sample:
    turns: list[Turn] = [UserTurn(text="Find flights between two cities from Rome, please.")]
    turns.append(CallTurn(calls=(_call(AIR, turns, origin="Rome"),)))
    turns += [ReplyTurn(text="Where would you like to go?"), UserTurn(text="To Boston.")]
    turns.append(CallTurn(calls=(_call(AIR, turns, origin="Rome", destination="Boston"),)))
    turns += [ReplyTurn(text="Which day?"), UserTurn(text="On 2027-03-04.")]
    turns.append(
        CallTurn(calls=(_call(AIR, turns, origin="Rome", destination="Boston", date="2027-03-04"),))
    )
    return _sample("sQsA", (AIR, WEATHER), turns)


def asked_in_chinese() -> Sample:
    turns: list[Turn] = [UserTurn(text="帮我查询两个城市之间的列车，从北京出发。")]
    turns.append(CallTurn(calls=(_call(TRAINS, turns, origin="北京"),)))
    turns += [ReplyTurn(text="请问到哪里？"), UserTurn(text="到达城市是杭州。")]
    turns.append(CallTurn(calls=(_call(TRAINS, turns, origin="北京", destination="杭州"),)))
    turns += [ReplyTurn(text="请问哪一天出发？"), UserTurn(text="2027-03-04。")]
    turns.append(
        CallTurn(
            calls=(_call(TRAINS, turns, origin="北京", destination="杭州", date="2027-03-04"),)
        )
    )
    return _sample("sQsA", (TRAINS,), turns, "zh")


def single() -> Sample:
    turns: list[Turn] = [
        UserTurn(
            text="Find flights between two cities from Rome to Boston on 2027-03-04 for 5 people."
        )
    ]
    call = _call(AIR, turns, origin="Rome", destination="Boston", date="2027-03-04", passengers=5)
    return _sample("perfect", (AIR, WEATHER), [*turns, CallTurn(calls=(call,))])


def imperfect() -> Sample:
    turns: list[Turn] = [UserTurn(text="Find flights between two cities from Rome.")]
    return _sample(
        "imperfect", (AIR, WEATHER), [*turns, CallTurn(calls=(_call(AIR, turns, origin="Rome"),))]
    )


def irrelevant() -> Sample:
    return _sample(
        "irrelevant", (WEATHER,), [UserTurn(text="Find flights from Rome to Boston."), CallTurn()]
    )


def executed() -> Sample:
    """Steps that are carried out one after the other, as ComplexFuncBench has them."""
    turns: list[Turn] = [
        UserTurn(text="Find flights from Rome to Boston on 2027-03-04, and the weather there.")
    ]
    first = _call(AIR, turns, origin="Rome", destination="Boston", date="2027-03-04")
    turns += [
        CallTurn(calls=(first,), executed=True),
        ResultTurn(results=({"flights": ["XJ 11"]},)),
    ]
    second = _call(WEATHER, turns, city="Boston", date="2027-03-04")
    turns += [CallTurn(calls=(second,), executed=True), ResultTurn(results=({"sky": "clear"},))]
    return _sample(
        "multi_step",
        (AIR, WEATHER),
        [*turns, ReplyTurn(text="You can take XJ 11; the sky will be clear.")],
    )


def executed_in_turns() -> Sample:
    """Executed calls in two user turns, with a question between them."""
    turns: list[Turn] = [UserTurn(text="What will the weather be in Oslo?")]
    turns += [
        CallTurn(calls=(_call(WEATHER, turns, city="Oslo"),), executed=True),
        ResultTurn(results=("rain",)),
    ]
    turns += [
        ReplyTurn(text="Rain. Do you need anything else?"),
        UserTurn(text="Flights from Lima to Cairo on 2027-03-04."),
    ]
    call = _call(AIR, turns, origin="Lima", destination="Cairo", date="2027-03-04")
    turns += [
        CallTurn(calls=(call,), executed=True),
        ResultTurn(results=({"flights": []},)),
        ReplyTurn(text="None."),
    ]
    return _sample("multi_turn", (AIR, WEATHER), turns)


def asked_without_snapshots() -> Sample:
    """The question comes before any call, as conversations of CONFETTI have it; the call is not
    carried out.
    """
    turns: list[Turn] = [
        UserTurn(text="I'm looking for flights from Rome to Boston."),
        ReplyTurn(text="On which day?"),
    ]
    turns.append(UserTurn(text="On 2027-03-04."))
    call = _call(AIR, turns, origin="Rome", destination="Boston", date="2027-03-04")
    return _sample("confetti", (AIR, WEATHER), [*turns, CallTurn(calls=(call,))])


def parallel() -> Sample:
    """Two calls of one tool in one turn."""
    turns: list[Turn] = [
        UserTurn(text="What is the weather forecast for Rome and for Oslo on 2027-03-04?")
    ]
    calls = (
        _call(WEATHER, turns, city="Rome", date="2027-03-04"),
        _call(WEATHER, turns, city="Oslo", date="2027-03-04"),
    )
    return _sample("parallel", (AIR, WEATHER), [*turns, CallTurn(calls=calls)])


def several() -> Sample:
    """Calls of two tools in one turn, with no word in common."""
    turns: list[Turn] = [
        UserTurn(text="Find flights from Rome to Boston, and refill my prescription RX12345.")
    ]
    calls = (
        _call(AIR, turns, origin="Rome", destination="Boston"),
        _call(PHARMACY, turns, prescription_number="RX12345"),
    )
    return _sample("several", (AIR, PHARMACY), [*turns, CallTurn(calls=calls)])


def replies_only() -> Sample:
    turns: list[Turn] = [
        UserTurn(text="Hello!"),
        ReplyTurn(text="Hello. What can I do?", acts=("seek",)),
    ]
    turns += [UserTurn(text="Nothing yet."), ReplyTurn(text="Tell me when.", acts=("other",))]
    return _sample("acts", (AIR, WEATHER), turns)


ALL: Mapping[str, Callable[[], Sample]] = {
    made.__name__: made
    for made in (
        asked,
        asked_in_chinese,
        single,
        imperfect,
        irrelevant,
        executed,
        executed_in_turns,
        asked_without_snapshots,
        parallel,
        several,
        replies_only,
    )
}


class ShiftTemplateChat:
    """template/v1 without a ledger."""

    name = "template/v1"

    def __init__(self) -> None:
        self._model = TemplateModel(seed=1)

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        schema = answer.model_json_schema()
        reply = await self._model.send(
            ChatRequest(self.name, prompt.messages, schema, (), (), sample_index, prompt.marks)
        )
        return answer.model_validate_json(reply.text)

    async def complete(
        self, prompt: Prompt, tools: Any = (), *, sample_index: int = 0
    ) -> Completion:
        raise NotImplementedError  # nobody asks for free text here


@pytest.fixture(params=list(ALL))
def conversation(request: pytest.FixtureRequest) -> Sample:
    return ALL[request.param]()


@pytest.fixture(scope="session")
def conversations() -> Mapping[str, Callable[[], Sample]]:
    return ALL


@pytest.fixture(scope="session")
def catalog() -> Mapping[str, Tool]:
    """The tools by key."""
    return BY_KEY


@pytest.fixture(scope="session")
def context_for() -> Callable[..., StageContext]:
    """A context with a generator of this seed, template/v1 or another model, and these tools."""

    def build(
        seed: int | str = 1, chat: ChatModel | None = None, tools: Mapping[str, Tool] = BY_KEY
    ) -> StageContext:
        return StageContext(chat or ShiftTemplateChat(), Random(seed), tools)

    return build
