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
from callwright.llm.template.plain_sentences import word_plainly
from callwright.llm.template.sentences import read_sentence
from callwright.llm.template.values import choose_names, draw_values
from callwright.warehouse.errors import ReplyError

TEXT: dict[str, Any] = {"type": "string"}


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
