"""Tools of Python functions and pydantic models: schemas by annotations, texts by docstrings,
errors that name what is amiss.
"""

import doctest
import functools
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field

from callwright.generators.catalogs import python_tools
from callwright.generators.catalogs.python_tools import tool_from
from callwright.warehouse.errors import ConfigurationError


class Unit(Enum):
    CELSIUS = "celsius"
    FAHRENHEIT = "fahrenheit"


class Place(BaseModel):
    """Where somebody is.

    Attributes:
        city: The city's name.
    """

    city: str
    title: str = Field(default="", description="What it is called.")


class Unreadable:
    pass


def google(city: str, days: int = 3) -> str:
    """Tell the weather.

    Of any city.

    Args:
        city: The city's name,
            such as Ulm.
        days: How many days.

    Returns:
        Words.
    """
    return f"{city} {days}"


def numpy_style(city: str, days: int = 3) -> str:
    """Tell the weather.

    Of any city.

    Parameters
    ----------
    city : str
        The city's name,
        such as Ulm.
    days
        How many days.
    """
    return f"{city} {days}"


def sphinx(city: str, days: int = 3) -> str:
    """Tell the weather.

    Of any city.

    :param city: The city's name,
        such as Ulm.
    :param days: How many days.
    """
    return f"{city} {days}"


@pytest.mark.parametrize("function", [google, numpy_style, sphinx])
def test_docstrings_of_three_styles_say_the_same(function: Callable[..., str]) -> None:
    tool = tool_from(function, name="weather")
    assert tool == tool_from(google, name="weather")
    assert tool.description == "Tell the weather.\nOf any city."
    assert tool.properties == {
        "city": {"type": "string", "description": "The city's name, such as Ulm."},
        "days": {"type": "integer", "default": 3, "description": "How many days."},
    }
    assert (tool.required, tool.returns) == (("city",), {"type": "string"})


def test_annotations_become_a_schema_that_stands_for_itself() -> None:
    def go(
        to: Place,
        by: Literal["train", "bus"],
        seats: Annotated[int, Field(ge=1, le=9, description="How many.")] = 1,
        unit: Unit = Unit.CELSIUS,
        via: Optional[Place] = None,  # noqa: UP045 - as many still write it
        notes: "list[str] | None" = None,
    ) -> None:
        """Go.

        Args:
            seats: Not used, since the annotation says it.
            via: On the way.
        """

    tool = tool_from(go)
    place = {
        "type": "object",
        "description": "Where somebody is.\n\nAttributes:\n    city: The city's name.",
        "properties": {
            "city": {"type": "string"},
            "title": {"type": "string", "default": "", "description": "What it is called."},
        },
        "required": ["city"],
    }
    assert tool.properties == {
        "to": place,
        "by": {"type": "string", "enum": ["train", "bus"]},
        "seats": {
            "type": "integer",
            "default": 1,
            "minimum": 1,
            "maximum": 9,
            "description": "How many.",
        },
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
        "via": place | {"description": "On the way."},
        "notes": {"type": "array", "items": {"type": "string"}},
    }
    assert (tool.required, tool.returns) == (("to", "by"), None)


def test_a_model_is_a_tool_by_its_fields() -> None:
    tool = tool_from(Place, category="places")
    assert (tool.name, tool.description, tool.category) == ("Place", "Where somebody is.", "places")
    assert tool.properties["city"] == {"type": "string", "description": "The city's name."}
    assert tool.properties["title"]["description"] == "What it is called."


def test_what_is_written_of_a_tool_is_read_back() -> None:
    tool = tool_from(google)
    document = {"type": "function", "function": tool.signature | {"returns": tool.returns}}
    assert tool_from(tool) is tool
    assert tool_from(document) == tool == tool_from(tool.model_dump(mode="json"))


def _any_number(*numbers: int) -> None: ...
def _any_name(**options: int) -> None: ...
def _by_place(number: int, /) -> None: ...
def _untyped(city) -> None: ...  # type: ignore[no-untyped-def]
def _of_no_type(city: Unreadable) -> None: ...
def _of_nothing(city: "Nowhere") -> None: ...  # type: ignore[name-defined] # noqa: F821
def _of_no_default(city: object = Unreadable()) -> None: ...


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (_any_number, "'*numbers' of _any_number is variadic positional"),
        (_any_name, "'**options' of _any_name is variadic keyword"),
        (_by_place, "'number' of _by_place is positional-only"),
        (_untyped, "'city' of _untyped has no annotation; write its type, as in 'city: str'"),
        (_of_no_type, "_of_no_type has a parameter of no JSON type"),
        (_of_nothing, "An annotation of _of_nothing can't be read: name 'Nowhere' is not defined"),
        (_of_no_default, "_of_no_default has a parameter of no JSON type: Default value"),
        (functools.partial(google, "Ulm"), "is no tool; a tool is a function, a pydantic model"),
        (int, "is no tool"),
        (3, "3 is no tool"),
        ({"description": "Nameless."}, "is no tool"),
        ({"name": "go", "arguments": {}}, "The tool 'go' has no 'arguments'"),
        (
            {"name": "go", "parameters": {"type": "array"}},
            "The tool 'go' can't be used: The parameters are of type 'array'",
        ),
        ({"name": "", "parameters": {"type": "object"}}, "The tool '' can't be used"),
        ({"name": "go", "category": "x", "source": "y"}, "is no record of a tool"),
    ],
)
def test_what_is_no_tool_is_refused_in_a_sentence(source: Any, words: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        tool_from(source)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_examples_of_the_docstring_are_true() -> None:
    assert doctest.testmod(python_tools) == (0, 6)
