"""Tools out of HammerBench's records: the candidates that stand beside each conversation."""

from pathlib import Path

from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder, ToolDraft
from callwright.generators.catalogs.catalog import Catalog, CatalogFormat, Problem
from callwright.generators.catalogs.documents import files_at, read_rows
from callwright.generators.catalogs.rewriting import renaming_types
from callwright.language.packs import known, main_language
from callwright.warehouse.records import Language, Tool

EXPECTED = "a file or folder of HammerBench records with 'multiple_tools'"
TYPE_WORDS: dict[str, str | None] = {
    **{word: word for word in ("object", "array", "string", "number", "integer", "boolean", "null")},
    "float": "number",
}
TOOL_LISTS = ("multiple_tools", "single_tool")


def hammerbench_builder() -> CatalogBuilder:
    """A builder that knows HammerBench's type words (its only word that JSON Schema lacks is `float`)."""
    return CatalogBuilder("hammerbench", change=renaming_types(TYPE_WORDS, reported=True))


def read_hammerbench_tools(path: Path) -> Catalog:
    """The tools of all records; the folder `en` or `zh` tells the language, else the descriptions do."""
    builder = hammerbench_builder()
    for file in files_at(path):
        others = 0
        for row in read_rows(file):
            if isinstance(row, Problem):
                builder.problems.append(row)
            elif isinstance(row.value, dict) and isinstance(row.value.get("multiple_tools"), list):
                _put_tools(row.value, row.where, file, builder)
            else:
                others += 1
        if others:
            builder.report(str(file), "other_format", f"{others} items of {file} have no 'multiple_tools'; left out.")
    catalog = builder.catalog(path, EXPECTED)
    return catalog.with_changes(problems=(*catalog.problems, *_all_required(path, catalog.tools)))


def language_of_folder(file: Path) -> Language | None:
    """The language that the nearest folder named `en` or `zh` tells, None where there is none."""
    for folder in reversed(file.parent.parts):
        if folder in known():
            return folder
    return None


def put_hammerbench_tool(
    stated: JsonValue, where: str, language: Language | None, builder: CatalogBuilder
) -> Tool | None:
    """Put one tool document of a record on the builder: its name is `Category.SubCategory.function`; None if unusable."""
    if not isinstance(stated, dict):
        builder.refuse(where, stated)
        return None
    name, description = stated.get("name"), stated.get("description")
    draft = ToolDraft(
        where=where,
        category=name.rpartition(".")[0] if isinstance(name, str) else "",
        name=name,
        description=description,
        parameters=stated.get("parameters"),
        language=language or main_language(description if isinstance(description, str) else ""),
    )
    return builder.put(draft)


def _put_tools(record: dict[str, JsonValue], where: str, file: Path, builder: CatalogBuilder) -> None:
    language = language_of_folder(file)
    for key in TOOL_LISTS:
        listed = record.get(key)
        for index, stated in enumerate(listed if isinstance(listed, list) else []):
            put_hammerbench_tool(stated, f"{where}/{key}/{index}", language, builder)


def _all_required(path: Path, tools: tuple[Tool, ...]) -> list[Problem]:
    """HammerBench's `required` lists every parameter, so it does not tell which ones a user must give."""
    if not any(tool.properties for tool in tools) or any(set(tool.required) != set(tool.properties) for tool in tools):
        return []
    message = (
        f"All {len(tools)} tools require every parameter they declare, which HammerBench's own calls do not heed;"
        " 'required' is kept as stated, but tells nothing here."
    )
    return [Problem(where=str(path), kind="all_required", message=message)]


FORMAT = CatalogFormat("hammerbench", read_hammerbench_tools)
