"""Tools of the CallNavi dataset: one domain a file, parameters as type words, or as a mere list of names."""

import re
from pathlib import Path

from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder, ToolDraft
from callwright.generators.catalogs.catalog import Catalog, CatalogFormat, Note, Problem, shown
from callwright.generators.catalogs.documents import existing, files_at, read_json
from callwright.warehouse.records import DEFAULT_LANGUAGE, JsonSchema

EXPECTED = "a CallNavi folder with APIs/*.json, or one file with the key 'api_ports',"
TYPE_WORDS = {
    "string": "string",
    "number": "number",
    "integer": "integer",
    "int": "integer",
    "float": "number",
    "boolean": "boolean",
    "bool": "boolean",
    "object": "object",
    "dict": "object",
    "array": "array",
    "list": "array",
}
UNKNOWN_VALUE = "$$$"  # the dataset's own sign for "not known yet"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def read_callnavi(path: Path) -> Catalog:
    """The tools of all domains; a name that two domains share stays a tool of each (587 items, 575 names)."""
    builder = CatalogBuilder("callnavi")
    folder = existing(path) / "APIs"
    for file in files_at(folder if folder.is_dir() else path):
        _read_domain(file, builder)
    return builder.catalog(path, EXPECTED)


def _read_domain(file: Path, builder: CatalogBuilder) -> None:
    loaded = read_json(file)
    if isinstance(loaded, Problem):
        builder.problems.append(loaded)
        return
    ports = loaded.get("api_ports") if isinstance(loaded, dict) else None
    if not isinstance(ports, list):
        builder.report(str(file), "other_format", f"{file} has no list 'api_ports'; left out.")
        return
    if ports:
        message = "The format marks no parameter as required; all are taken as required, as its APISchema files do."
        builder.report(str(file), "assumed_required", message)
    for index, port in enumerate(ports):
        where = f"{file}#/api_ports/{index}"
        if isinstance(port, dict):
            builder.put(_draft(port, where, file.stem))
        else:
            builder.refuse(where, port)


def _draft(port: dict[str, JsonValue], where: str, domain: str) -> ToolDraft:
    notes: list[Note] = []
    parameters, returned = port.get("parameters"), port.get("returnParameter")
    return ToolDraft(
        where=where,
        category=domain,
        name=port.get("name"),
        description=port.get("description"),
        parameters=_parameters(parameters, notes),
        returns=_returns(returned, notes),
        language=DEFAULT_LANGUAGE,
        notes=tuple(notes),
    )


def _parameters(declared: JsonValue, notes: list[Note]) -> JsonValue | JsonSchema:
    """The object schema of a mapping or a list of names; anything else is handed on to be refused."""
    if isinstance(declared, dict):
        return _object(declared, notes, "")
    if isinstance(declared, list) and all(isinstance(name, str) for name in declared):
        names = list(dict.fromkeys(str(name) for name in declared))
        return _members({name: {} for name in names})
    return declared


def _returns(returned: JsonValue, notes: list[Note]) -> JsonValue:
    """The result as an object of named values; a bare name has no type."""
    if returned is None or returned == "":
        return None
    if isinstance(returned, dict):
        schema = _object(returned, notes, "result ")
        return {"type": "object", "properties": schema["properties"]}
    names = returned if isinstance(returned, list) else [returned]
    if not all(isinstance(name, str) for name in names):
        return returned
    listed = ", ".join(repr(name) for name in names)
    notes.append(Note("untyped_return", f"No type is given for the result {listed}; any value is taken."))
    return {"type": "object", "properties": {str(name): {} for name in names}}


def _object(declared: dict[str, JsonValue], notes: list[Note], what: str) -> JsonSchema:
    return _members({name: _value(name, value, notes, what) for name, value in declared.items()})


def _members(properties: JsonSchema) -> JsonSchema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _value(name: str, declared: JsonValue, notes: list[Note], what: str) -> JsonSchema:
    """The schema that a type word, a list of choices, a nested mapping or a literal in a type's place stands for."""
    if isinstance(declared, dict):
        return _object(declared, notes, f"{what}{name}.")
    if isinstance(declared, str):
        return _from_word(name, declared, notes, what)
    if isinstance(declared, bool) or not isinstance(declared, int | float):
        notes.append(Note("unknown_type", f"{what}{name!r} has {shown(declared)} for a type; any value is taken."))
        return {}
    message = f"{what}{name!r} has {declared!r} in its type's place; read as a number, {declared!r} being an example."
    notes.append(Note("assumed_type", message))
    return {"type": "number", "examples": [declared]}


def _from_word(name: str, word: str, notes: list[Note], what: str) -> JsonSchema:
    if word in TYPE_WORDS:
        return {"type": TYPE_WORDS[word]}
    if word == UNKNOWN_VALUE or not word.strip():
        notes.append(Note("unknown_type", f"{what}{name!r} has {word!r} for a type; any value is taken."))
        return {}
    choices = [choice.strip() for choice in word.split("/")]
    named = [choice for choice in choices if choice.strip(". …")]
    stated = f"{what}{name!r} has the type {word!r}"
    if len(named) > 1 and named == choices:
        notes.append(Note("assumed_type", f"{stated}; read as these choices and no others."))
        return {"type": "string", "enum": list(dict.fromkeys(choices))}
    if len(choices) > 1:
        notes.append(Note("assumed_type", f"{stated}; read as text, {named} being examples."))
        return {"type": "string", "examples": list(named)}
    literal = f"{what}{name!r} has {word!r} in its type's place; read as text, {word!r} being an example."
    notes.append(Note("assumed_type", literal))
    extra = {"format": "date"} if _DATE.fullmatch(word) else {}
    return {"type": "string", **extra, "examples": [word]}


FORMAT = CatalogFormat("callnavi", read_callnavi)
