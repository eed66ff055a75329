"""Options are said once: a command, a Prefect flow and a Python function have the same words."""

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, Unpack

import pytest
import typer
from pydantic import TypeAdapter

import callwright
from callwright.flows.api.building import PythonBuildOptions
from callwright.flows.api.evaluating import PythonEvaluationOptions
from callwright.flows.api.options import ExportOptions, ReleaseOptions
from callwright.flows.cli.main import app
from callwright.flows.engine import prefect_flows
from callwright.flows.options import (
    Option,
    described,
    read_docstring,
    spell_out,
    type_and_option,
    with_options,
)
from callwright.warehouse.errors import ConfigurationError

VERBS: dict[str, tuple[Any, Any]] = {
    "build": (callwright.build, prefect_flows.build_dataset),
    "evaluate": (callwright.evaluate, prefect_flows.evaluate_models),
    "release create": (callwright.create_release, prefect_flows.freeze_release),
    "export": (callwright.LoadedRelease.export, None),
}


def helps_of(command: str) -> dict[str, str]:
    found: Any = typer.main.get_command(app)
    for word in command.split():
        found = found.commands[word]
    return {one.name: one.help for one in found.params}


@pytest.mark.parametrize("verb", VERBS)
def test_a_command_a_flow_and_a_function_say_the_same(verb: str) -> None:
    function, flow = VERBS[verb]
    said = read_docstring(inspect.getdoc(function) or "")[1]
    own = {"release", "recipe", "name", "to"}
    shared = helps_of(verb).keys() & said.keys() - own
    assert shared
    assert {name: helps_of(verb)[name] for name in shared} == {name: said[name] for name in shared}
    for name in shared if flow else ():
        stated = flow.parameters.properties[name]
        assert stated["description"] == said[name]
        assert stated["default"] in (inspect.signature(function).parameters[name].default, [])


@pytest.mark.parametrize(
    "options", [PythonBuildOptions, PythonEvaluationOptions, ReleaseOptions, ExportOptions]
)
def test_every_option_has_words_and_a_default_of_its_type(options: Any) -> None:
    def taking(**given: Any) -> None: ...

    taking.__annotations__["given"] = Unpack[options]
    _, parameters = spell_out(taking)
    for one in parameters:
        stated, option = type_and_option(one.annotation)
        assert option.words, one.name
        if one.name != "progress":
            assert TypeAdapter(stated).validate_python(one.default) in (one.default, [])


@described
class Shape(TypedDict, total=False):
    """A shape.

    Args:
        sides: The number of
            sides.
        colour: Its colour.
    """

    sides: Annotated[int, Option(4, least=3, most=9)]
    colour: Annotated[Literal["red", "blue"], Option("red")]
    names: Sequence[str]
    place: Path | str | Mapping[str, float] | None


@with_options
def draw(where: str, **shape: Unpack[Shape]) -> tuple[str, dict[str, object]]:
    """Draw a shape.

    Args:
        where: The place.

    Raises nothing.
    """
    return where, dict(shape)


def test_a_function_is_called_with_all_its_options() -> None:
    drawn = ("here", {"sides": 5, "colour": "red", "names": (), "place": None})
    assert draw("here", sides=5) == drawn
    assert [*inspect.signature(draw).parameters] == ["where", "sides", "colour", "names", "place"]
    text, words = read_docstring(draw.__doc__ or "")
    assert text == "Draw a shape.\n\nRaises nothing."
    assert words == {
        "where": "The place.",
        "sides": "The number of sides.",
        "colour": "Its colour.",
    }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sides": 2}, "sides is 2; it is at least 3. The number of sides."),
        ({"sides": 10}, "sides is 10; it is at most 9. The number of sides."),
        ({"colour": "green"}, "colour is 'green'; it is one of 'red', 'blue'. Its colour."),
    ],
)
def test_what_an_option_does_not_allow_is_refused_in_its_words(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        draw("here", **given)
    assert str(raised.value) == said
