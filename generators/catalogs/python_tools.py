"""Tools of Python objects: functions, pydantic models, and OpenAI's documents."""

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.json_schema import PydanticJsonSchemaWarning

from callwright.generators.catalogs.builder import CatalogBuilder, ToolDraft
from callwright.generators.catalogs.catalog import Note, shown
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.extras import require_extra
from callwright.warehouse.records import JsonSchema, Tool

OWN = "own"  # the category of tools of which nobody says another, and the source of all of them
ToolSeed = Tool | Callable[..., Any] | type[BaseModel] | Mapping[str, Any]
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_OF_DOCUMENTS = {"name", "description", "parameters", "returns", "category", "strict"}
_NULL = {"type": "null"}
_OPTIONAL = 2  # shapes: one and null
_NO_FORM = "a tool is a function, a pydantic model, a Tool, or a mapping with a name and parameters"


def tool_from(
    source: ToolSeed, *, name: str = "", description: str = "", category: str = ""
) -> Tool:
    """Return the tool for a Python function, a pydantic model or an OpenAI tool document.

    Parameters and the result come from annotations (also `Literal`, `Enum`, `Optional`, nested
    models, `Annotated` with pydantic's `Field`), texts from the docstring in Google's, NumPy's
    or Sphinx's style.

        >>> from typing import Literal
        >>> def get_weather(city: str, unit: Literal["celsius", "fahrenheit"] = "celsius") -> str:
        ...     '''Tell the weather of a city.
        ...
        ...     Args:
        ...         city: The city's name, such as Ulm.
        ...     '''
        >>> tool = tool_from(get_weather)
        >>> tool.name, tool.description, tool.required
        ('get_weather', 'Tell the weather of a city.', ('city',))
        >>> tool.properties["city"]
        {'type': 'string', 'description': "The city's name, such as Ulm."}
        >>> tool.properties["unit"]
        {'default': 'celsius', 'enum': ['celsius', 'fahrenheit'], 'type': 'string'}

    Raises ConfigurationError, which names the parameter, for `*args`, a parameter without
    annotation, or one that is not of a JSON type.
    """
    if isinstance(source, Tool):
        plain_tool = source
    elif isinstance(source, Mapping):
        plain_tool = _of_document(source)
    elif isinstance(source, type) and issubclass(source, BaseModel):
        plain_tool = _of_model(source)
    elif inspect.isroutine(source):
        plain_tool = _of_function(source)
    else:
        raise ConfigurationError(f"{shown(source)} is no tool; {_NO_FORM}.")
    changes = {"name": name, "description": description, "category": category}
    changes = {field: value for field, value in changes.items() if value}
    return plain_tool.with_changes(**changes) if changes else plain_tool


def _of_document(document: Mapping[str, Any]) -> Tool:
    if {"category", "source"} <= document.keys():  # a record, as recipes are kept with a build
        try:
            return Tool.model_validate(document)
        except ValidationError as error:
            message = f"{shown(document)} is no record of a tool: {_first_line(error)}"
            raise ConfigurationError(message) from error
    function = document.get("function", document)
    if not isinstance(function, Mapping) or "name" not in function:
        raise ConfigurationError(f"{shown(document)} is no tool; {_NO_FORM}.")
    strange = sorted(map(str, function.keys() - _OF_DOCUMENTS))
    if strange:
        message = f"The tool {shown(function['name'])} has no {strange[0]!r}; {_NO_FORM}."
        raise ConfigurationError(message)
    parameters = function.get("parameters", {"type": "object", "properties": {}})
    stated = parameters, function.get("returns"), function.get("category")
    return _built(function["name"], function.get("description") or "", *stated)


def _of_model(model: type[BaseModel]) -> Tool:
    schema = _schema_of(model, model.__name__)
    schema.pop("description", None)
    said = _describe(schema, inspect.cleandoc(model.__doc__ or ""))
    return _built(model.__name__, said, schema)


def _of_function(function: Callable[..., Any]) -> Tool:
    """Return the tool of a function.

    Raises ConfigurationError if callers can't name a parameter, or it has no annotation.
    """
    name = function.__name__
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in _NAMED:
            stated = f"The parameter {str(parameter).split(':')[0]!r} of {name}"
            kind = f"is {parameter.kind.description}; a tool's parameters are given by name"
            raise ConfigurationError(f"{stated} {kind}: write each of them out.")
        if parameter.annotation is parameter.empty:
            stated = f"The parameter {parameter.name!r} of {name} has no annotation"
            raise ConfigurationError(f"{stated}; write its type, as in '{parameter.name}: str'.")
    schema = _schema_of(function, name)
    del schema["additionalProperties"]
    said = _describe(schema, inspect.getdoc(function) or "")
    return _built(name, said, schema, _returns(function))


def _schema_of(source: Any, name: str) -> JsonSchema:  # noqa: ANN401 - a function or a class
    """Return the JSON Schema of what a caller gives. Raises ConfigurationError if there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", PydanticJsonSchemaWarning)
            return TypeAdapter(source).json_schema(mode="validation")
    except NameError as error:
        raise ConfigurationError(f"An annotation of {name} can't be read: {error}.") from error
    except (PydanticUserError, PydanticJsonSchemaWarning) as error:
        message = f"{name} has a parameter of no JSON type: {_first_line(error)}"
        raise ConfigurationError(message) from error


def _returns(function: Callable[..., Any]) -> JsonSchema | None:
    """Return the schema of what a function returns; None if it is not stated or not JSON."""
    returned = get_type_hints(function, include_extras=True).get("return")
    if returned in (None, type(None), Any):
        return None
    try:
        return TypeAdapter(returned).json_schema(mode="serialization")
    except PydanticUserError:
        return None


def _describe(schema: JsonSchema, text: str) -> str:
    """Fill in missing parameter descriptions from a docstring, and return the rest of its text."""
    require_extra("build")
    from docstring_parser import parse as parse_docstring

    properties, docstring = schema.get("properties", {}), parse_docstring(text)
    for parameter in docstring.params:
        if parameter.description and parameter.arg_name in properties:
            properties[parameter.arg_name].setdefault(
                "description", " ".join(parameter.description.split())
            )
    said = (docstring.short_description, docstring.long_description)
    return "\n".join(part for part in said if part)


def _built(
    name: JsonValue,
    description: JsonValue,
    parameters: JsonValue,
    returns: JsonValue = None,
    category: object = None,
) -> Tool:
    """Return a tool with a self-contained schema. Raises ConfigurationError if it can't be used."""
    builder = CatalogBuilder(OWN, change=_plain)
    tool = builder.put(ToolDraft(OWN, str(category or OWN), name, description, parameters, returns))
    if tool is None:
        message = f"The tool {shown(name)} can't be used: {builder.problems[-1].message}"
        raise ConfigurationError(message)
    return tool


def _plain(schema: JsonSchema, _notes: list[Note]) -> JsonSchema:
    """Remove pydantic's titles from a node; a value that may be None by default is optional."""
    plain = {key: value for key, value in schema.items() if key != "title"}
    shapes = plain.get("anyOf", [])
    if plain.get("default", "") is None and _NULL in shapes and len(shapes) == _OPTIONAL:
        [shape] = [one for one in shapes if one != _NULL]
        del plain["anyOf"], plain["default"]
        return {**shape, **plain}
    return plain


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".") + "."
