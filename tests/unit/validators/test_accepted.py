"""Accepted answers: what is right besides the gold, why, and what cheats get by it."""

from collections.abc import Callable
from typing import Any

import pytest

from callwright.testing import make_sample, make_tool
from callwright.validators.accepted import AcceptedAnswers, allowances_of
from callwright.validators.metrics.mistakes import mistakes_of
from callwright.validators.toolset.redundancy import are_equal_tools
from callwright.warehouse.records import Call, Prediction, Sample, Tool

NAMES = ("restaurant", "people", "day")
BOOK = make_tool("book_table", required=NAMES, restaurant=None, people="integer", day=None)
UNIT = {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"}
DAYS = {"type": "array", "items": {"type": "string", "enum": ["mon", "tue", "wed"]}}


def tool_with(name: str, *required: str, **properties: dict[str, Any]) -> Tool:
    schema = {"type": "object", "properties": properties, "required": [*required]}
    return make_tool(name).with_changes(parameters=schema)


TEXT = {"type": "string"}
WEATHER = tool_with("get_weather", "city", city=TEXT, unit=UNIT)
ALARM = tool_with("set_alarm", "time", time=TEXT, days=DAYS)


def imperfect(**arguments: Any) -> Sample:
    return make_sample(
        [BOOK, WEATHER], "Book a table.", {"book_table": arguments}, kind="imperfect"
    )


def read(sample: Sample, tools: list[Tool], *calls: Call, text: str = "") -> tuple[str, str]:
    """The mistake of an answer, "" if it is right, and how it is right."""
    by_key = {tool.key: tool for tool in tools}
    given = Prediction(
        release="v1", subject=sample.key, turn=1, candidate="m", text=text, calls=calls
    )
    found = AcceptedAnswers(sample, by_key).read(given)
    assert found.prediction.key == given.key, "judges know it by its key"
    [mistake] = mistakes_of([found.prediction], {sample.key: sample})
    return str(mistake), found.sort


@pytest.mark.parametrize(
    "text",
    [
        "For which day shall I book the table?",
        "How many people will there be at Lindenhof, and on which day?",
        "Could you tell me the day, please?",
        "When would you like to come? And for how many people?",
    ],
)
def test_a_question_for_what_is_missing_is_right(text: str) -> None:
    assert read(imperfect(restaurant="Lindenhof"), [BOOK, WEATHER], text=text) == ("", "question")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Could you tell me more?",
        "Which restaurant would you like?",  # it was said
        "Please tell me the restaurant, the number of people and the day.",  # a part of it was said
        "I can't do that.",
        "The table is booked for that day.",
    ],
)
def test_a_question_for_nothing_or_for_what_was_said_is_wrong(text: str) -> None:
    assert read(imperfect(restaurant="Lindenhof"), [BOOK, WEATHER], text=text)[0] == "refused"


def test_the_partial_call_stays_right_and_a_question_beside_a_call_is_none() -> None:
    sample, tools = imperfect(restaurant="Lindenhof"), [BOOK, WEATHER]
    gold = Call(tool="book_table", arguments={"restaurant": "Lindenhof"})
    assert read(sample, tools, gold) == ("", "gold")
    invented = Call(tool="book_table", arguments={"restaurant": "Lindenhof", "people": 2})
    assert read(sample, tools, invented, text="On which day?")[0] == "hallucinated_argument"


def test_nothing_may_be_asked_where_nothing_is_missing() -> None:
    sample = make_sample([WEATHER], "Weather in Ulm?", {"get_weather": {"city": "Ulm"}})
    assert read(sample, [WEATHER], text="In which unit would you like it?")[0] == "refused"


@pytest.mark.parametrize(
    ("gold", "given", "expected"),
    [
        ({"city": "Ulm"}, {"city": "Ulm", "unit": "celsius"}, ("", "default")),
        ({"city": "Ulm", "unit": "celsius"}, {"city": "Ulm"}, ("", "default")),
        ({"city": "Ulm"}, {"city": "Ulm", "unit": "fahrenheit"}, ("hallucinated_argument", "gold")),
        ({"city": "Ulm", "unit": "fahrenheit"}, {"city": "Ulm"}, ("missing_argument", "gold")),
        ({"city": "Ulm", "unit": "celsius"}, {}, ("missing_argument", "default")),
    ],
)
def test_a_default_may_be_said_or_left_out(
    gold: dict[str, Any], given: dict[str, Any], expected: tuple[str, str]
) -> None:
    sample = make_sample([WEATHER], "Weather in Ulm?", {"get_weather": gold})
    assert read(sample, [WEATHER], Call(tool="get_weather", arguments=given)) == expected


@pytest.mark.parametrize(
    ("schema", "is_free"),
    [
        (DAYS, True),
        ({"type": "array", "items": TEXT, "uniqueItems": True}, True),
        ({"type": "array", "items": TEXT, "description": "The tags, in any order."}, True),
        ({"type": "array", "items": TEXT}, False),
        (DAYS | {"description": "The days, by priority."}, False),
    ],
)
def test_lists_without_an_order_are_right_in_any(schema: dict[str, Any], is_free: bool) -> None:
    tool = tool_with("set_alarm", "time", time=TEXT, days=schema)
    gold, given = (
        {"time": "07:00", "days": days} for days in (["mon", "wed", "mon"], ["wed", "mon", "mon"])
    )
    sample = make_sample([tool], "Wake me.", {"set_alarm": gold})
    expected = ("", "order") if is_free else ("wrong_value", "gold")
    assert read(sample, [tool], Call(tool="set_alarm", arguments=given)) == expected
    short = Call(tool="set_alarm", arguments={"time": "07:00", "days": ["mon", "wed"]})
    assert read(sample, [tool], short)[0] == "wrong_value"


ALLOW = make_tool("allowlist", required=["ip"], ip=None).with_changes(
    description="Allow an address to connect."
)
WHITE = ALLOW.with_changes(name="whitelist")
DENY = ALLOW.with_changes(name="blocklist", description="Forbid an address to connect.")


def test_an_equal_tool_may_be_called_in_place_of_the_due_one() -> None:
    sample = make_sample(
        [ALLOW, WHITE, DENY], "Let 10.0.0.7 in.", {"allowlist": {"ip": "10.0.0.7"}}
    )
    tools = [ALLOW, WHITE, DENY]

    def called(name: str, ip: str = "10.0.0.7") -> tuple[str, str]:
        return read(sample, tools, Call(tool=name, arguments={"ip": ip}))

    assert called("whitelist") == ("", "equal_tool")
    assert called("whitelist", "10.0.0.8")[0] == "wrong_value"
    assert called("blocklist")[0] == "wrong_tool"
    assert not are_equal_tools(ALLOW, WHITE.with_changes(parameters=BOOK.parameters))


def test_renamed_words_make_equal_tools() -> None:
    one, other = (
        make_tool(f"add_to_{name}", required=["ip"], ip=None).with_changes(
            description=f"Add an address to the {name}."
        )
        for name in ("allowlist", "whitelist")
    )
    assert are_equal_tools(one, other)
    blocked = other.with_changes(
        name="add_to_blocklist", description="Add an address to the blocklist."
    )
    assert not are_equal_tools(one, blocked)


def test_what_is_allowed_is_listed_with_its_evidence() -> None:
    sample = make_sample(
        [ALARM, WEATHER],
        "Wake me.",
        {"set_alarm": {"days": ["mon", "tue"]}, "get_weather": {"city": "Ulm"}},
        kind="parallel",
    )
    allowed = [*allowances_of(sample, 1, {tool.key: tool for tool in (ALARM, WEATHER)})]
    assert [(one.sort, one.call, one.argument, one.evidence) for one in allowed] == [
        ("question", 0, "time", "required.time"),
        ("order", 0, "days", "properties.days.items.enum"),
        ("default", 1, "unit", "properties.unit.default"),
    ]


Cheat = Callable[[Sample], tuple[tuple[Call, ...], str]]
SAMPLES = [
    make_sample([BOOK, WEATHER], "Weather in Ulm?", {"get_weather": {"city": "Ulm"}}),
    make_sample(
        [BOOK, WEATHER],
        "Weather in Ulm in fahrenheit?",
        {"get_weather": {"city": "Ulm", "unit": "fahrenheit"}},
    ),
    make_sample([ALARM], "Wake me.", {"set_alarm": {"time": "07:00", "days": ["mon", "tue"]}}),
    make_sample([ALLOW, WHITE], "Let 10.0.0.7 in.", {"allowlist": {"ip": "10.0.0.7"}}),
    imperfect(restaurant="Lindenhof"),
    imperfect(restaurant="Lindenhof", people=4),
]
TOOLS = [BOOK, WEATHER, ALARM, ALLOW, WHITE]


def called_with_everything(sample: Sample) -> tuple[tuple[Call, ...], str]:
    given = {"restaurant": "Lindenhof", "people": 2, "day": "today"}
    values = {**given, "city": "Ulm", "unit": "celsius", "time": "07:00", "ip": "10.0.0.7"}
    by_key = {tool.key: tool for tool in TOOLS}
    tools = [by_key[key] for key in sample.candidates]
    calls = (Call(tool=one.name, arguments=values | {"days": ["mon"]}) for one in tools)
    return tuple(calls), ""


def asks_for_all(sample: Sample) -> tuple[tuple[Call, ...], str]:
    by_key = {tool.key: tool for tool in TOOLS}
    names = dict.fromkeys(name for key in sample.candidates for name in by_key[key].properties)
    return (), f"Please tell me the {', the '.join(names)}."


CHEATS: dict[str, Cheat] = {
    "asks for more": lambda _: ((), "Could you tell me more about it?"),
    "asks for everything": asks_for_all,
    "asks when": lambda _: ((), "When?"),
    "calls everything": called_with_everything,
    "leaves out all": lambda sample: ((Call(tool=sample.gold[0].tool),), ""),
    "refuses": lambda _: ((), "Sorry, I can't do that."),
}


@pytest.mark.parametrize(("name", "right"), [(name, 2 * (name == "asks when")) for name in CHEATS])
def test_a_cheat_gets_no_more_than_what_it_does_right(name: str, right: int) -> None:
    """Who asks for the day in every sample is right where the day is missing, and nowhere else."""
    found = [
        (read(one, TOOLS, *calls, text=text))
        for one in SAMPLES
        for calls, text in [CHEATS[name](one)]
    ]
    assert sum(not mistake for mistake, _ in found) == right
    assert {sort for mistake, sort in found if not mistake} <= {"question"}
