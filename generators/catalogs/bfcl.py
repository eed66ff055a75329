"""Tools of the Berkeley Function Calling Leaderboard: question files and multi-turn function documents."""

from pathlib import Path

from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder, ToolDraft
from callwright.generators.catalogs.catalog import Catalog, CatalogFormat, Problem
from callwright.generators.catalogs.documents import DocumentItem, files_at, read_rows
from callwright.generators.catalogs.rewriting import renaming_types
from callwright.warehouse.records import Tool

EXPECTED = "a file or folder of BFCL questions (JSON lines with 'function') or function documents"
PREFIX = "BFCL_v"
LANGUAGES = ("java", "javascript")
TYPE_WORDS: dict[str, str | None] = {
    **{word: word for word in ("object", "array", "string", "number", "integer", "boolean", "null")},
    **dict.fromkeys(("dict", "hashmap", "hashtable", "map"), "object"),
    **dict.fromkeys(("tuple", "list", "arraylist", "set", "queue", "stack"), "array"),
    **dict.fromkeys(("str", "char"), "string"),
    **dict.fromkeys(("float", "double"), "number"),
    **dict.fromkeys(("int", "long", "short", "byte", "bigint"), "integer"),
    "bool": "boolean",
    "any": None,
}


def read_bfcl(path: Path) -> Catalog:
    """The tools of all questions and documents; the same document in several questions is one tool.

    The category is that of the file. Java and JavaScript tools have the source `bfcl:java` or `bfcl:javascript`.
    """
    builder = CatalogBuilder("bfcl", change=renaming_types(TYPE_WORDS, reported=False), by_category=False)
    for file in files_at(path):
        # `simple_python` of `BFCL_v4_simple_python.json`
        stem = file.stem
        category = stem.split("_", 2)[-1] if stem.startswith(PREFIX) else stem
        language = next((name for name in LANGUAGES if category.endswith(f"_{name}")), "")
        others = sum(not _read_row(row, category, language, builder) for row in read_rows(file))
        if others:
            builder.report(str(file), "other_format", f"{others} rows of {file} state no function; left out.")
    return builder.catalog(path, EXPECTED)


def _read_row(row: DocumentItem | Problem, category: str, language: str, builder: CatalogBuilder) -> bool:
    """Put the row's functions on the builder; False where it is no row of this format."""
    if isinstance(row, Problem):
        builder.problems.append(row)
        return True
    value = row.value
    if not isinstance(value, dict):
        return False
    functions = value.get("function")
    if isinstance(functions, list):
        for index, function in enumerate(functions):
            put_function(function, f"{row.where}/function/{index}", category, language, builder)
        return True
    if "name" in value and "parameters" in value:
        put_function(value, row.where, category, language, builder)
        return True
    return "involved_classes" in value  # a multi-turn question: its functions stand in files of their own


def put_function(function: JsonValue, where: str, category: str, language: str, builder: CatalogBuilder) -> Tool | None:
    """Put a function document on the builder; None where it can't be used."""
    if not isinstance(function, dict):
        builder.refuse(where, function)
        return None
    draft = ToolDraft(
        where=where,
        category=category,
        name=function.get("name"),
        description=function.get("description"),
        parameters=function.get("parameters"),
        returns=function.get("response"),
    )
    return builder.put(draft, f"bfcl:{language}" if language else "bfcl")


FORMAT = CatalogFormat("bfcl", read_bfcl)
