"""What travellers may say: values of each kind, fitting the parameters that take them."""

from random import Random

import pytest

from callwright.generators.environments.travel import open_travel
from callwright.generators.environments.vocabularies import vocabulary_of
from callwright.generators.tools import value_validator
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import ElementKind, Tool
from tests.support.generators.environments.travel_calls import city_named, scope_of

WORLD = open_travel()
SCOPE, SAID = scope_of(WORLD), vocabulary_of(WORLD)
UNSAID = {"identifier", "text"}
TYPED = {"age", "count", "currency", "date", "distance", "language", "number", "people", "price"}


@pytest.mark.parametrize("kind", sorted(UNSAID))
def test_nobody_says_an_identifier(kind: ElementKind) -> None:
    with pytest.raises(ConfigurationError, match=kind):
        SCOPE.said(kind, Random(1), None)


@pytest.mark.parametrize("tool", WORLD.tools, ids=lambda tool: tool.name)
def test_what_is_said_fits_the_parameters_that_take_it(tool: Tool) -> None:
    for parameter, schema in tool.properties.items():
        if parameter == "legs":
            continue
        element = SAID.element(tool.name, parameter)
        if element in TYPED and schema["type"] != "string" and "enum" not in schema:
            said = SCOPE.said(element, Random(3), city_named(WORLD, "Rome"))
            assert value_validator(schema).is_valid(said), (parameter, said)
    assert "legs" not in tool.properties or SAID.element(tool.name, "legs[].date") == "date"
