"""Tools without sentences are asked for in one plain form, which says each value behind its name
and is read back as that call.
"""

from datetime import date
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.language.calls.tools import ToolView, view_of
from callwright.language.schemas import fits
from callwright.llm.template.plain_sentences import read_plainly, word_plainly
from callwright.llm.template.sentences import read_sentence
from callwright.llm.template.values import choose_names, draw_values
from callwright.warehouse.errors import ReplyError

TEXT: dict[str, Any] = {"type": "string"}
SCHEMAS: tuple[dict[str, Any], ...] = (
    TEXT,
    {"type": "integer", "minimum": 3, "maximum": 40},
    {"type": "number"},
    {"type": "boolean", "description": "Provides pretty output."},
    {"type": "string", "enum": ["OPEN_NOW", "CLOSED"]},
    {"type": "string", "pattern": r"^(0|[1-9][0-9]*)$"},
    {"type": "string", "format": "uuid"},
    {"type": "string", "format": "date"},
    {"type": ["integer", "null"], "maximum": 12},
    {"oneOf": [{"type": "null"}, {"oneOf": [{"const": 0}, {"const": 1}], "type": "integer"}]},
    {"type": "array", "items": {"type": "string", "enum": ["DE", "FR", "PL"]}, "minItems": 2},
    {"type": "object", "properties": {"street": TEXT, "zip": TEXT}, "required": ["zip"]},
)
NAMES = (
    "team_gid",
    "client-secret",
    "status",
    "limit",
    "BankAccountID",
    "opt_pretty",
    "due_on",
    "where",
    "body",
)


def tool(name: str, description: str, **properties: dict[str, Any]) -> ToolView:
    return view_of(
        {
            "name": name,
            "description": description,
            "parameters": {"type": "object", "properties": properties},
        }
    )


def worded(view: ToolView, arguments: dict[str, Any], seed: int = 0, language: str = "en") -> str:
    return word_plainly(view, arguments, language, Random(seed)).request


unknown_tools = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(SCHEMAS), max_size=5).map(
    lambda properties: tool("getTeams", "Get the teams of a team", **properties)
)


@given(unknown_tools, st.integers(0, 2**32))
def test_what_is_made_up_fits_and_is_said_behind_its_name(view: ToolView, seed: int) -> None:
    values = draw_values(view, [*view.properties], "en", Random(seed), {})
    assert all(fits(value, view.properties[name]) for name, value in values.items())
    request = word_plainly(view, values, "en", Random(seed))
    assert set(request.mentions) == set(values)
    assert set(read_plainly(view, request.request, "en") or ()) == set(values)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "title": st.text("ab \"';:.,?!“”", min_size=1, max_size=20).filter(str.strip),
            "limit": st.integers(0, 10**6),
            "closed": st.booleans(),
            "day": st.dates(date(2020, 1, 1), date(2060, 1, 1)).map(str),
            "labels": st.lists(
                st.sampled_from(["red", "old", "to do"]), min_size=1, max_size=3, unique=True
            ),
            "owner": st.fixed_dictionaries(
                {"name": st.sampled_from(["Ida Berg", "Mr. Wu"]), "phone": st.just("555-0164")}
            ),
        },
    ),
    st.integers(0, 2**32),
)
def test_the_form_is_read_back_as_that_call_or_as_none(
    arguments: dict[str, Any], seed: int
) -> None:
    view = tool(
        "createTask",
        "Create a task.",
        title=TEXT,
        limit={"type": "integer"},
        closed={"type": "boolean"},
        day={"type": "string", "format": "date"},
        labels={"type": "array", "items": TEXT},
        owner={"type": "object", "properties": {"name": TEXT, "phone": TEXT}, "required": ["name"]},
    )
    try:
        request = worded(view, arguments, seed)
    except ReplyError:
        return  # a text of nothing but signs can't be pointed at
    read = read_sentence(view, request, "en")
    assert read is None or read.rest or set(read.arguments) <= set(arguments)
    if not set("\"“”;'") & set(str(arguments.get("title", ""))):
        assert read is not None
        said = {name: value for name, value in read.arguments.items() if name != "title"}
        assert said == {name: value for name, value in arguments.items() if name != "title"}


def test_values_exchanged_are_other_words() -> None:
    view = tool("moveMoney", "Move money", source_id=TEXT, target_id=TEXT)
    read = read_sentence(view, worded(view, {"source_id": "A1", "target_id": "B2"}), "en")
    assert read is not None
    assert read.arguments == {"source_id": "A1", "target_id": "B2"}


@pytest.mark.parametrize(
    ("name", "description", "title"),
    [
        ("get_active_guild_threads", "", "get active guild threads"),
        ("walletGet", "Fetch an e-wallet", "wallet get"),
        ("createUser", "Creates a user. Then tells its id.", "create a user"),
        ("findPets", "Search for pets, by status", "search for pets, by status"),
        ("pets", "Returns all pets that are sold", "pets"),
        ("Clock.Alarms.setAlarm", "", "set alarm"),
        ("stelle", "查询余额。", "查询余额"),
    ],
)
def test_a_tool_is_called_by_its_description_where_that_is_a_deed_else_by_its_name(
    name: str, description: str, title: str
) -> None:
    assert tool(name, description).title == title


def test_what_may_be_no_deed_stands_alone() -> None:
    view = tool("goalSeek", "", days={"type": "integer"})
    assert {worded(view, {"days": 3}, seed) for seed in range(9)} == {
        "Goal seek. Days: 3.",
        "Goal seek. Days: three.",
    }


def test_chinese_and_spanish_have_the_form_as_well() -> None:
    balance = tool("getBalance", "查询余额。", card={"type": "string", "description": "卡号"})
    assert "卡号：" in worded(balance, {"card": "C12"}, language="zh")
    task = tool(
        "crearTarea",
        "Crear una tarea.",
        day={"type": "string", "format": "date", "description": "El día"},
    )
    request = worded(task, {"day": "2027-05-03"}, language="es")
    assert "crear una tarea" in request.lower()
    assert "Día: " in request


def test_a_parameter_is_called_by_its_description_where_that_is_short() -> None:
    view = tool(
        "getTask",
        "Get a task",
        opt_pretty={"type": "boolean", "description": "Provides pretty output, if wanted."},
        due={"type": "string", "description": "The day it is due"},
        x={"type": "string", "description": "The part that turns"},
    )
    assert [one.called("en") for one in view.parameters] == ["opt pretty", "day it is due", "x"]


def test_optional_objects_and_lists_are_left_out_where_there_is_something_else() -> None:
    view = tool(
        "getTask", "Get a task", data={"type": "object"}, fields={"type": "array"}, title=TEXT
    )
    assert choose_names(["data", "fields", "title"], 2, view, Random(1)) == ["title"]


def test_what_no_value_can_be_made_up_of_is_told_with_its_tool() -> None:
    view = tool(
        "getTask", "Get a task", code={"type": "string", "pattern": "(?=a)b", "maxLength": 0}
    )
    with pytest.raises(ReplyError, match=r"A call of 'getTask' can't be filled in: .*'code'"):
        draw_values(view, ["code"], "en", Random(0), {})


def test_a_parameter_that_the_tool_lacks_is_told() -> None:
    with pytest.raises(ReplyError, match=r"'getTask' has no parameters \['colour'\] to word"):
        worded(tool("getTask", "Get a task"), {"colour": "red"})
