"""Faults of CallNavi's tools, and what differs from its paper's Table 2."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pydantic import JsonValue

from generators.catalogs.documents import read_json
from validators.datasets.callnavi_findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from generators.catalogs.catalog import Catalog
    from validators.metrics.callnavi.scores import Question
    from warehouse.records import Tool

TABLE_2 = {  # tools, easy, medium, hard (CallNavi, Table 2)
    "bank": (91, 70, 28, 17),
    "shopping": (81, 41, 17, 7),
    "logistics": (46, 40, 17, 8),
    "aviation": (48, 44, 24, 12),
    "hospital": (20, 31, 10, 6),
    "gov": (82, 50, 27, 8),
    "hr": (20, 21, 13, 1),
    "hotel": (49, 40, 19, 6),
    "insurance": (42, 40, 11, 9),
    "telecommunications": (100, 79, 22, 11),
}
_COUNTED = ("tools", "easy", "medium", "hard")
_TOLD = {"duplicate_name", "assumed_type", "unknown_type", "duplicate_content", "bad_json", "other_format"}


def check_counts(questions: Sequence[Question], tools: Mapping[str, int]) -> Iterator[Finding]:
    """Where a domain of Table 2 has another number of tools, or of questions of a difficulty."""
    found = Counter((question.domain, question.difficulty) for question in questions)
    for domain in dict.fromkeys(question.domain for question in questions):
        for what, told in zip(_COUNTED, TABLE_2.get(domain, ()), strict=False):
            here = tools.get(domain, 0) if what == "tools" else found[domain, what]
            if here != told:
                message = f"{domain} has {here} {what if what == 'tools' else what + ' questions'}; Table 2 has {told}."
                yield Finding("other_count", domain, "", message)


def check_tools(folder: Path, catalog: Catalog) -> Iterator[Finding]:
    """What is odd about the tools: as our import tells it, and against the folder APISchema."""
    domain_of = {tool.name: tool.category for tool in catalog.tools}
    for problem in catalog.problems:
        if problem.kind in _TOLD:
            domain = problem.where.rpartition("/APIs/")[2].partition(".json")[0] or domain_of.get(problem.tool, "")
            yield Finding("tool_declaration", domain, "", problem.message, problem.tool)
    untyped = Counter(problem.where.partition("#")[0] for problem in catalog.problems if _is_untyped(problem.kind))
    for file, count in untyped.items():
        domain = file.rpartition("/")[2].removesuffix(".json")
        yield Finding("unnamed_types", domain, "", f"{count} tools declare their parameters by name alone.")
    for domain in dict.fromkeys(tool.category for tool in catalog.tools):
        schemas = _schemas(folder / "APISchema" / f"{domain}.json")
        for tool in catalog.tools:
            if tool.category == domain and tool.name in schemas:
                yield from _compare(tool, schemas[tool.name])


def _is_untyped(kind: str) -> bool:
    return kind == "untyped_parameter"


def _schemas(file: Path) -> dict[str, JsonValue]:
    loaded = read_json(file) if file.is_file() else []
    rows = loaded if isinstance(loaded, list) else []
    return {str(row["name"]): row.get("parameters") for row in rows if isinstance(row, dict) and "name" in row}


def _compare(tool: Tool, schema: JsonValue) -> Iterator[Finding]:
    declared = tool.parameters.get("properties") or {}
    if not isinstance(schema, dict) or not isinstance(schema.get("properties", {}), dict):
        return
    if schema.get("type") != "object" and declared:
        message = f"APISchema declares the parameters of {tool.name!r} as {schema.get('type')}, without their names."
        yield Finding("schema_differs", tool.category, "", message, tool.name)
        return
    members = schema.get("properties") or {}
    for name, own in declared.items():
        other = members.get(name) if isinstance(members, dict) else None
        kind = other.get("type") if isinstance(other, dict) else None
        if own.get("type") and kind != own["type"]:
            message = f"{name!r} of {tool.name!r} is {own['type']} in APIs, and {kind or 'missing'} in APISchema."
            yield Finding("schema_differs", tool.category, "", message, tool.name, name)
