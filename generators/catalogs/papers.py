"""Read tools from the papers' data sets: BFCL, CallNavi and HammerBench."""

import re
from pathlib import Path

from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder, ToolDraft
from callwright.generators.catalogs.catalog import Catalog, CatalogFormat, Note, Problem, shown
from callwright.generators.catalogs.documents import (
    DocumentItem,
    existing,
    files_at,
    read_json,
    read_rows,
)
from callwright.generators.catalogs.schema_words import KINDS
from callwright.language.packs import known, main_language
from callwright.warehouse.records import DEFAULT_LANGUAGE, JsonSchema, Language, Tool

BFCL_EXPECTED = (
    "a file or folder of BFCL questions (JSON lines with 'function') or function documents"
)
LANGUAGES = ("java", "javascript")


def read_bfcl(path: Path) -> Catalog:
    """Read the tools of all BFCL questions and multi-turn documents, each document once.

    The category is that of the file. Java and JavaScript tools have the source `bfcl:java` or
    `bfcl:javascript`.
    """
    builder = CatalogBuilder("bfcl", types_are_told=False, by_category=False)
    for file in files_at(path):
        # `simple_python` of `BFCL_v4_simple_python.json`
        category = file.stem.split("_", 2)[-1] if file.stem.startswith("BFCL_v") else file.stem
        language = next((name for name in LANGUAGES if category.endswith(f"_{name}")), "")
        read = [_read_question(row, category, language, builder) for row in read_rows(file)]
        if others := read.count(False):
            message = f"{others} rows of {file} state no function; left out."
            builder.report(str(file), "other_format", message)
    return builder.catalog(path, BFCL_EXPECTED)


def _read_question(
    row: DocumentItem | Problem, category: str, language: str, builder: CatalogBuilder
) -> bool:
    """Add the row's functions to the builder; return False if the row has another format."""
    if isinstance(row, Problem):
        builder.problems.append(row)
        return True
    if not isinstance(row.value, dict):
        return False
    functions = row.value.get("function")
    if isinstance(functions, list):
        for index, function in enumerate(functions):
            where = f"{row.where}/function/{index}"
            put_bfcl_function(function, where, category, language, builder)
        return True
    if "name" in row.value and "parameters" in row.value:
        put_bfcl_function(row.value, row.where, category, language, builder)
        return True
    return "involved_classes" in row.value  # a multi-turn question: its functions stand elsewhere


def put_bfcl_function(
    function: JsonValue, where: str, category: str, language: str, builder: CatalogBuilder
) -> Tool | None:
    """Add a function document to the builder; return None if it can't be used."""
    if not isinstance(function, dict):
        builder.refuse(where, function)
        return None
    name, description, parameters = (
        function.get(field) for field in ("name", "description", "parameters")
    )
    returns = function.get("response")
    draft = ToolDraft(where, category, name, description, parameters, returns=returns)
    return builder.put(draft, f"bfcl:{language}" if language else "bfcl")


BFCL = CatalogFormat("bfcl", read_bfcl)


CALLNAVI_EXPECTED = "a CallNavi folder with APIs/*.json, or one file with the key 'api_ports',"
CALLNAVI_WORDS = {
    **{word: word for word in KINDS if word != "null"},
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "dict": "object",
    "list": "array",
}
UNKNOWN_VALUE = "$$$"  # CallNavi's own sign for "not known yet"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def read_callnavi(path: Path) -> Catalog:
    """Read the tools of all domains, one file each; shared names stay separate tools.

    CallNavi has 587 items with 575 names.
    """
    builder = CatalogBuilder("callnavi")
    folder = existing(path) / "APIs"
    for file in files_at(folder if folder.is_dir() else path):
        loaded = read_json(file)
        if isinstance(loaded, Problem):
            builder.problems.append(loaded)
            continue
        ports = loaded.get("api_ports") if isinstance(loaded, dict) else None
        if not isinstance(ports, list):
            builder.report(str(file), "other_format", f"{file} has no list 'api_ports'; left out.")
            continue
        if ports:
            message = "The format marks no parameter as required; all are taken as required."
            builder.report(str(file), "assumed_required", message)
        for index, port in enumerate(ports):
            where = f"{file}#/api_ports/{index}"
            if isinstance(port, dict):
                builder.put(_callnavi_draft(port, where, file.stem))
            else:
                builder.refuse(where, port)
    return builder.catalog(path, CALLNAVI_EXPECTED)


def _callnavi_draft(port: dict[str, JsonValue], where: str, domain: str) -> ToolDraft:
    """Return the draft of a port, whose parameters are type words or a list of names.

    Anything else is passed on, for the builder to refuse.
    """
    notes: list[Note] = []
    parameters = port.get("parameters")
    if isinstance(parameters, dict):
        parameters = _object(parameters, notes, "")
    elif isinstance(parameters, list) and all(isinstance(name, str) for name in parameters):
        parameters = _members({str(name): {} for name in parameters})
    returns = _returns(port.get("returnParameter"), notes)
    name, description = port.get("name"), port.get("description")
    return ToolDraft(
        where, domain, name, description, parameters, returns, DEFAULT_LANGUAGE, tuple(notes)
    )


def _returns(returned: JsonValue, notes: list[Note]) -> JsonValue:
    """Return the result as an object of named values; a bare name gets no type."""
    if returned is None or returned == "":
        return None
    if isinstance(returned, dict):
        return {"type": "object", "properties": _object(returned, notes, "result ")["properties"]}
    names = returned if isinstance(returned, list) else [returned]
    if not all(isinstance(name, str) for name in names):
        return returned
    listed = ", ".join(repr(name) for name in names)
    message = f"No type is given for the result {listed}; any value is taken."
    notes.append(Note("untyped_return", message))
    return {"type": "object", "properties": {str(name): {} for name in names}}


def _object(declared: dict[str, JsonValue], notes: list[Note], what: str) -> JsonSchema:
    return _members({name: _value(name, value, notes, what) for name, value in declared.items()})


def _members(properties: JsonSchema) -> JsonSchema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _value(name: str, declared: JsonValue, notes: list[Note], what: str) -> JsonSchema:
    """Return the schema for a type word, list of choices, nested mapping or literal value."""
    if isinstance(declared, dict):
        return _object(declared, notes, f"{what}{name}.")
    if isinstance(declared, str) and declared in CALLNAVI_WORDS:
        return {"type": CALLNAVI_WORDS[declared]}
    if isinstance(declared, str) and declared != UNKNOWN_VALUE and declared.strip():
        return _of_words(f"{what}{name!r}", declared, notes)
    if isinstance(declared, bool) or not isinstance(declared, int | float):
        message = f"{what}{name!r} has {shown(declared)} for a type; any value is taken."
        notes.append(Note("unknown_type", message))
        return {}
    message = f"{what}{name!r} has {declared!r} for a type; read as a number, with this example."
    notes.append(Note("assumed_type", message))
    return {"type": "number", "examples": [declared]}


def _of_words(name: str, words: str, notes: list[Note]) -> JsonSchema:
    """Return the schema for choices or an example that stand in place of a type."""
    choices = [choice.strip() for choice in words.split("/")]
    named = [choice for choice in choices if choice.strip(". …")]
    if len(named) > 1 and named == choices:
        message = f"{name} has the type {words!r}; read as these choices and no others."
        notes.append(Note("assumed_type", message))
        return {"type": "string", "enum": list(dict.fromkeys(choices))}
    if len(choices) > 1:
        message = f"{name} has the type {words!r}; read as text, {named} being examples."
        notes.append(Note("assumed_type", message))
        return {"type": "string", "examples": list(named)}
    message = f"{name} has {words!r} in its type's place; read as text, {words!r} being an example."
    notes.append(Note("assumed_type", message))
    extra = {"format": "date"} if _DATE.fullmatch(words) else {}
    return {"type": "string", **extra, "examples": [words]}


CALLNAVI = CatalogFormat("callnavi", read_callnavi)


HAMMERBENCH_EXPECTED = "a file or folder of HammerBench records with 'multiple_tools'"


def hammerbench_builder() -> CatalogBuilder:
    """Return a builder for HammerBench type words (only `float` is not in JSON Schema)."""
    return CatalogBuilder("hammerbench")


def read_hammerbench_tools(path: Path) -> Catalog:
    """Read the candidate tools of all records; folder `en` or `zh` sets the language.

    Elsewhere the language is inferred from the descriptions.
    """
    builder = hammerbench_builder()
    for file in files_at(path):
        others, language = 0, language_of_folder(file)
        for row in read_rows(file):
            if isinstance(row, Problem):
                builder.problems.append(row)
            elif isinstance(row.value, dict) and isinstance(row.value.get("multiple_tools"), list):
                for key in ("multiple_tools", "single_tool"):
                    listed = row.value.get(key)
                    for index, stated in enumerate(listed if isinstance(listed, list) else []):
                        where = f"{row.where}/{key}/{index}"
                        put_hammerbench_tool(stated, where, language, builder)
            else:
                others += 1
        if others:
            message = f"{others} items of {file} have no 'multiple_tools'; left out."
            builder.report(str(file), "other_format", message)
    tools = builder.tools
    is_all = all(set(tool.required) == set(tool.properties) for tool in tools)
    if is_all and any(tool.properties for tool in tools):
        what = f"All {len(tools)} tools require every parameter they declare"
        message = f"{what}, which HammerBench's own calls do not heed; it is kept as stated."
        builder.report(str(path), "all_required", message)
    return builder.catalog(path, HAMMERBENCH_EXPECTED)


def language_of_folder(file: Path) -> Language | None:
    """Return the language of the nearest folder named `en` or `zh`, or None."""
    return next((folder for folder in reversed(file.parent.parts) if folder in known()), None)


def put_hammerbench_tool(
    stated: JsonValue, where: str, language: Language | None, builder: CatalogBuilder
) -> Tool | None:
    """Put a record's tool (`Category.SubCategory.function`) on the builder; None if unusable."""
    if not isinstance(stated, dict):
        builder.refuse(where, stated)
        return None
    name, description = stated.get("name"), stated.get("description")
    category = name.rpartition(".")[0] if isinstance(name, str) else ""
    language = language or main_language(description if isinstance(description, str) else "")
    draft = ToolDraft(where, category, name, description, stated.get("parameters"))
    return builder.put(draft._replace(language=language))


HAMMERBENCH = CatalogFormat("hammerbench", read_hammerbench_tools)
