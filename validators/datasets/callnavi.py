"""Faults of CallNavi's data: in its questions, its gold answers, its tools, and against its paper's Table 2."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.catalogs.callnavi import read_callnavi
from callwright.generators.catalogs.catalog import Catalog
from callwright.generators.catalogs.documents import read_json
from callwright.validators.datasets.callnavi_requests import RequestFault, check_values, fault_kinds, leaves
from callwright.validators.metrics.callnavi.files import read_questions
from callwright.validators.metrics.callnavi.matching import UNKNOWN
from callwright.validators.metrics.callnavi.scores import GoldQuestion
from callwright.warehouse.records import JsonSchema, Tool

Tools = dict[str, JsonSchema]


class CheckedDataset(NamedTuple):
    """All faults of a dataset, and of how many questions and tools."""

    findings: list[RequestFault]
    questions: int
    tools: int

    @property
    def summary(self) -> list[tuple[str, int, int, str]]:
        """Each kind that was found: how many faults, in how many questions, and what it means."""
        faults = Counter(finding.kind for finding in self.findings)
        asked = Counter(kind for kind, question in {(one.kind, one.question) for one in self.findings} if question)
        return [(kind, faults[kind], asked[kind], text) for kind, text in fault_kinds().items() if faults[kind]]


def check_callnavi(folder: Path) -> CheckedDataset:
    """Check a folder with Questions, APIs and, where there are any, APISchema.

    Raises ConfigurationError where there are no questions, or one has another form.
    """
    questions, catalog = read_questions(folder), read_callnavi(folder)
    tools: dict[str, Tools] = {}
    for tool in catalog.tools:
        tools.setdefault(tool.category, {})[tool.name] = tool.parameters
    findings = [finding for question in questions for finding in check_question(question, tools)]
    findings += _repeated(questions)
    findings += check_counts(questions, {domain: len(named) for domain, named in tools.items()})
    findings += check_tools(folder, catalog)
    order = list(fault_kinds())
    findings.sort(key=lambda finding: (order.index(finding.kind), finding.domain))
    return CheckedDataset(findings, len(questions), len(catalog.tools))


def check_question(question: GoldQuestion, tools: dict[str, Tools]) -> Iterator[RequestFault]:
    """What is wrong with a question, given the tools of all domains."""
    gold = question.gold
    known = tools.get(question.domain, {})
    yield from _check_shape(question)
    for at, name in enumerate(gold.names):
        schema = known.get(name)
        if schema is None:
            yield _fault(question, "unknown_tool", _unknown(name, question.domain, tools), name)
        if at >= len(gold.parameters):
            continue
        if schema is not None:
            yield from _check_names(question, at, schema)
        yield from check_values(question, at, schema or {})


def _check_shape(question: GoldQuestion) -> Iterator[RequestFault]:
    names, parameters, level = question.gold.names, question.gold.parameters, question.difficulty
    if len(names) != len(parameters):
        yield _fault(question, "wrong_count", f"There are {len(names)} calls, and parameters for {len(parameters)}.")
    unknown = sum(value == UNKNOWN for one in parameters for _, value, _ in leaves(one, "", {}))
    if (level == "easy") != (len(names) == 1):
        yield _fault(question, "wrong_difficulty", f"The question is {level!r} and has {len(names)} call(s).")
    if unknown and level in {"easy", "medium"}:
        yield _fault(question, "unexpected_placeholder", f"The question is {level!r} and has {unknown} placeholder(s).")
    if not unknown and level == "hard":
        yield _fault(question, "missing_placeholder", "The question is 'hard', and no value waits for a response.")


def _check_names(question: GoldQuestion, at: int, schema: JsonSchema) -> Iterator[RequestFault]:
    given, name = question.gold.parameters[at], question.gold.names[at]
    declared = schema.get("properties") or {}
    undeclared = [one for one in given if one not in declared]
    missing = [one for one in declared if one not in given]
    for one in undeclared:
        instead = f"; {', '.join(map(repr, missing))} is not given" if missing else ""
        message = f"{name!r} declares {sorted(declared)}, not {one!r}{instead}."
        yield RequestFault("undeclared_parameter", question.domain, question.id, message, name, one)
    if not undeclared:
        for one in missing:
            message = f"{name!r} declares {one!r}, which is not given."
            yield RequestFault("missing_parameter", question.domain, question.id, message, name, one)


def _unknown(name: str, domain: str, tools: dict[str, Tools]) -> str:
    near = [one for one in tools.get(domain, {}) if one.lower() == name.lower()]
    elsewhere = [other for other, known in tools.items() if name in known]
    hint = f" It has {near[0]!r}." if near else f" It is a tool of {', '.join(elsewhere)}." if elsewhere else ""
    return f"{domain} has no tool {name!r}.{hint}"


def _repeated(questions: Sequence[GoldQuestion]) -> Iterator[RequestFault]:
    ids = Counter(question.id for question in questions)
    requests = Counter(question.request for question in questions)
    for question in questions:
        if ids[question.id] > 1:
            yield _fault(question, "repeated_id", f"{ids[question.id]} questions have the id {question.id!r}.")
        if requests[question.request] > 1:
            yield _fault(question, "repeated_question", f"{requests[question.request]} questions ask the very same.")


def _fault(question: GoldQuestion, kind: str, message: str, tool: str = "") -> RequestFault:
    return RequestFault(kind, question.domain, question.id, message, tool)


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
_STATED_IN = {"duplicate_name", "assumed_type", "unknown_type", "duplicate_content", "bad_json", "other_format"}


def check_counts(questions: Sequence[GoldQuestion], tools: Mapping[str, int]) -> Iterator[RequestFault]:
    """Where a domain of Table 2 has another number of tools, or of questions of a difficulty."""
    found = Counter((question.domain, question.difficulty) for question in questions)
    for domain in dict.fromkeys(question.domain for question in questions):
        for what, published in zip(_COUNTED, TABLE_2.get(domain, ()), strict=False):
            here = tools.get(domain, 0) if what == "tools" else found[domain, what]
            if here != published:
                message = (
                    f"{domain} has {here} {what if what == 'tools' else what + ' questions'}; Table 2 has {published}."
                )
                yield RequestFault("other_count", domain, "", message)


def check_tools(folder: Path, catalog: Catalog) -> Iterator[RequestFault]:
    """What is odd about the tools: as our import tells it, and against the folder APISchema."""
    domain_of = {tool.name: tool.category for tool in catalog.tools}
    for problem in catalog.problems:
        if problem.kind in _STATED_IN:
            domain = problem.where.rpartition("/APIs/")[2].partition(".json")[0] or domain_of.get(problem.tool, "")
            yield RequestFault("tool_declaration", domain, "", problem.message, problem.tool)
    untyped = Counter(problem.where.partition("#")[0] for problem in catalog.problems if _is_untyped(problem.kind))
    for file, count in untyped.items():
        domain = file.rpartition("/")[2].removesuffix(".json")
        yield RequestFault("unnamed_types", domain, "", f"{count} tools declare their parameters by name alone.")
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


def _compare(tool: Tool, schema: JsonValue) -> Iterator[RequestFault]:
    declared = tool.parameters.get("properties") or {}
    if not isinstance(schema, dict) or not isinstance(schema.get("properties", {}), dict):
        return
    if schema.get("type") != "object" and declared:
        message = f"APISchema declares the parameters of {tool.name!r} as {schema.get('type')}, without their names."
        yield RequestFault("schema_differs", tool.category, "", message, tool.name)
        return
    members = schema.get("properties") or {}
    for name, own in declared.items():
        other = members.get(name) if isinstance(members, dict) else None
        kind = other.get("type") if isinstance(other, dict) else None
        if own.get("type") and kind != own["type"]:
            message = f"{name!r} of {tool.name!r} is {own['type']} in APIs, and {kind or 'missing'} in APISchema."
            yield RequestFault("schema_differs", tool.category, "", message, tool.name, name)
