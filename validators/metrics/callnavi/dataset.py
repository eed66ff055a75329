"""Faults of CallNavi's data: questions, gold answers, tools, and deviations from its Table 2."""

import re
from calendar import month_name
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Catalog
from callwright.generators.catalogs.documents import read_json
from callwright.generators.catalogs.papers import read_callnavi
from callwright.language.dates import find_dates
from callwright.language.packs import packaged
from callwright.language.schemas import leaves
from callwright.language.text import fold
from callwright.language.values import locate
from callwright.validators.metrics.callnavi.answers import UNKNOWN, GoldQuestion, read_questions
from callwright.warehouse.counts import count_of
from callwright.warehouse.records import JsonSchema, Tool


class RequestFault(NamedTuple):
    """A fault: its kind, where it is, and a sentence.

    `question`, `tool` and `parameter` are empty if they do not apply.
    """

    kind: str
    domain: str
    question: str
    message: str
    tool: str = ""
    parameter: str = ""


_PACKAGE, _FILE = "callwright.validators.metrics.callnavi", "dataset.yaml"
_CODE = r"(?=[\w-]*\d)\w[\w-]*"
_MEANS = (
    r"(VISA|MasterCard|Mastercard|AMEX|American Express|[Pp]ay[Pp]al|[Cc]redit [Cc]ard|[Dd]ebit"
    r" [Cc]ard|[Cc]ash)\b"
)
_PLACE = r"([A-Z]\w*(?: [A-Z]\w*)*)"
_DATES = re.compile(r"\bdate\b")
_DATE_WORDS = re.compile(r"\b(?:birth|expiry|deadline)\b")
_TEXTUAL = re.compile(
    r"\b(?:query|title|type|reason|comments?|description|name|review|text|message|subject)$"
)
_QUOTED = re.compile(r"'([^'$]+)'(?!\w)|\"([^\"$]+)\"")
_ENDS = ("end ", "return ", "to ", "check out", "checkout")  # the second of two dates is meant
_IDENTIFIED = re.compile(r"^(?P<head>[\w ]+?) (?P<kind>id|number|code)$")
_MONTH = re.compile(r"\d{4}-\d{2}(?:-\d{2})?$")
_MONTH_STATED = re.compile(rf"\b(?:{'|'.join(month_name[1:])}) \d{{4}}\b")
_GENDER_STATED = re.compile(r"\b(?:man|woman|male|female)\b", re.IGNORECASE)
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}
_COUNTED = ("tools", "easy", "medium", "hard")
_STATED_IN = {
    "duplicate_name",
    "assumed_type",
    "unknown_type",
    "duplicate_content",
    "bad_json",
    "other_format",
}
Tools = dict[str, JsonSchema]


def fault_kinds() -> dict[str, str]:
    """Return what each kind of fault means, in the order of listing."""
    kinds: dict[str, str] = packaged(_PACKAGE, _FILE)["kinds"]
    return kinds


@cache
def _known() -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    """Return patterns for a parameter's folded name and for its value in a request."""
    rows = packaged(_PACKAGE, _FILE)["stated"]
    filled = [
        (name, value.replace("@place", _PLACE).replace("@means", _MEANS)) for name, value in rows
    ]
    return [
        (re.compile(name), re.compile(value, re.IGNORECASE if value.islower() else 0))
        for name, value in filled
    ]


def find_stated(parameter: str, request: str, stated: Sequence[str]) -> str:
    """Return the words of a request that state a parameter's value, or "" if none do.

    `stated` are values that the answer already has; no second parameter can mean them.
    """
    name = fold(parameter)
    place = int(_DATES.search(name) is not None and name.startswith(_ENDS))
    taken = {fold(value) for value in stated}
    found = [words for words in dict.fromkeys(_stated(name, request)) if fold(words) not in taken]
    return found[place] if place < len(found) else ""


def _stated(name: str, request: str) -> Iterator[str]:
    if _DATES.search(name) or _DATE_WORDS.search(name):
        yield from (request[found.start : found.end] for found in find_dates(request))
        return
    for pattern, spoken in _known():
        if pattern.search(name):
            yield from _groups(spoken, request)
    # a code stands right behind what it identifies: "order ID 77" for `orderId`
    if identified := _IDENTIFIED.search(name):
        word = re.escape(identified["head"].rsplit(maxsplit=1)[-1])
        behind = (
            rf"(?:\s+(?:{identified['kind']}|no\.?))?(?:\s+(?:is|with|:))?\s*[(:#]?\s*({_CODE})"
        )
        yield from _groups(re.compile(rf"\b{word}\b{behind}", re.IGNORECASE), request)
    if _TEXTUAL.search(name):
        yield from _groups(_QUOTED, request)


def _groups(pattern: re.Pattern[str], request: str) -> Iterator[str]:
    for match in pattern.finditer(request):
        yield next(group for group in match.groups() if group)


def check_values(question: GoldQuestion, at: int, schema: JsonSchema) -> Iterator[RequestFault]:
    """Yield what is wrong with a gold call's values; `schema` is what its tool declares."""
    parameters, tool = question.gold.parameters[at], question.gold.names[at]
    stated_texts = [
        str(value)
        for one in question.gold.parameters
        for _, value, _ in leaves(one, {})
        if value != UNKNOWN
    ]
    for at_path, value, declared in leaves(parameters, schema):
        path = ".".join(one for one in at_path if isinstance(one, str))
        for fault in (
            _judge(question, at, path, value, stated_texts),
            _mistyped(path, value, declared),
        ):
            if fault is not None:
                yield RequestFault(fault[0], question.domain, question.id, fault[1], tool, path)
    for name, value in parameters.items():
        declared = (schema.get("properties") or {}).get(name) or {}
        if isinstance(value, dict | list) and value and (wrong := _mistyped(name, value, declared)):
            yield RequestFault(wrong[0], question.domain, question.id, wrong[1], tool, name)


def _judge(
    question: GoldQuestion, at: int, path: str, value: JsonValue, stated: list[str]
) -> tuple[str, str] | None:
    name, request = path.rpartition(".")[2], question.request
    if value == UNKNOWN:
        if spoken := find_stated(name, request, stated):
            return (
                "needless_placeholder",
                f"{path!r} is {UNKNOWN}, and the request says {spoken!r}.",
            )
        message = (
            f"{path!r} is {UNKNOWN} in the first call; our rules find no value in the request."
        )
        return None if at else ("placeholder_without_source", message)
    if value == {} and path:
        return (
            "accepts_anything",
            f"{path!r} is an empty object: the published scoring takes any value for it.",
        )
    if path and not isinstance(value, dict | list) and not is_stated(value, name, request):
        return "invented_value", f"{path!r} is {value!r}, which the request does not state."
    return None


def is_stated(value: JsonValue, name: str, request: str) -> bool:
    """Whether a request states a value, in any notation."""
    schema: JsonSchema = {"title": name}
    if isinstance(value, str) and (_MONTH.match(value) and _MONTH_STATED.search(request)):
        return True  # worked out of a month that is stated
    if name.lower() == "gender" and _GENDER_STATED.search(request):
        return True
    if (
        isinstance(value, str)
        and value.replace(".", "", 1).isdigit()
        and len(value) < len("1000000")
    ):
        number = float(value)  # amounts are given as text here, with and without a point
        return bool(locate(value, schema, request) or locate(number, schema, request))
    return locate(value, schema, request) is not None


def _mistyped(
    path: str, value: JsonValue, declared: Mapping[str, JsonValue]
) -> tuple[str, str] | None:
    if value == UNKNOWN:
        return None
    choices, kind = declared.get("enum"), declared.get("type")
    if isinstance(choices, list) and isinstance(value, str):
        if value.lower() not in {str(choice).lower() for choice in choices}:
            return (
                "not_a_choice",
                f"{path!r} is {value!r}; declared are {', '.join(map(str, choices))}.",
            )
        return None
    wanted = _TYPES.get(str(kind))
    if wanted and (
        not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted)
    ):
        return "wrong_type", f"{path!r} is {value!r}, which is no {kind} as declared."
    return None


class CheckedDataset(NamedTuple):
    """All faults of a dataset, with its number of questions and tools."""

    findings: list[RequestFault]
    questions: int
    tools: int

    @property
    def summary(self) -> list[tuple[str, int, int, str]]:
        """Return each kind found: how many faults, in how many questions, and its meaning."""
        faults = Counter(finding.kind for finding in self.findings)
        question_counts = Counter(
            kind
            for kind, question in {(one.kind, one.question) for one in self.findings}
            if question
        )
        return [
            (kind, faults[kind], question_counts[kind], text)
            for kind, text in fault_kinds().items()
            if faults[kind]
        ]


def check_callnavi(folder: Path) -> CheckedDataset:
    """Check a folder with Questions, APIs and, if present, APISchema.

    Raises ConfigurationError if there are no questions, or if one has another form.
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
    """Yield what is wrong with a question, given the tools of all domains."""
    gold = question.gold
    domain_tools = tools.get(question.domain, {})
    yield from _check_shape(question)
    for at, name in enumerate(gold.names):
        schema = domain_tools.get(name)
        if schema is None:
            near = [one for one in domain_tools if one.lower() == name.lower()]
            elsewhere = ", ".join(other for other, own in tools.items() if name in own)
            if near:
                hint = f" It has {near[0]!r}."
            else:
                hint = f" It is a tool of {elsewhere}." if elsewhere else ""
            yield _fault(
                question, "unknown_tool", f"{question.domain} has no tool {name!r}.{hint}", name
            )
        if at < len(gold.parameters):
            yield from _check_names(question, at, schema) if schema is not None else ()
            yield from check_values(question, at, schema or {})


def _check_shape(question: GoldQuestion) -> Iterator[RequestFault]:
    names, parameters, level = question.gold.names, question.gold.parameters, question.difficulty
    if len(names) != len(parameters):
        yield _fault(
            question,
            "wrong_count",
            f"{count_of(len(names), 'call')} named, and parameters for {len(parameters)}.",
        )
    unknown = sum(value == UNKNOWN for one in parameters for _, value, _ in leaves(one, {}))
    if (level == "easy") != (len(names) == 1):
        yield _fault(
            question, "wrong_difficulty", f"The question is {level!r} and has {len(names)} call(s)."
        )
    if unknown and level in {"easy", "medium"}:
        yield _fault(
            question,
            "unexpected_placeholder",
            f"The question is {level!r} and has {unknown} placeholder(s).",
        )
    if not unknown and level == "hard":
        yield _fault(
            question,
            "missing_placeholder",
            "The question is 'hard', and no value waits for a response.",
        )


def _check_names(question: GoldQuestion, at: int, schema: JsonSchema) -> Iterator[RequestFault]:
    given, name = question.gold.parameters[at], question.gold.names[at]
    declared = schema.get("properties") or {}
    undeclared = [one for one in given if one not in declared]
    missing = [one for one in declared if one not in given]
    for parameter in undeclared:
        instead = f"; {', '.join(map(repr, missing))} is not given" if missing else ""
        message = f"{name!r} declares {sorted(declared)}, not {parameter!r}{instead}."
        yield RequestFault(
            "undeclared_parameter", question.domain, question.id, message, name, parameter
        )
    if not undeclared:
        for parameter in missing:
            message = f"{name!r} declares {parameter!r}, which is not given."
            yield RequestFault(
                "missing_parameter", question.domain, question.id, message, name, parameter
            )


def _repeated(questions: Sequence[GoldQuestion]) -> Iterator[RequestFault]:
    ids = Counter(question.id for question in questions)
    requests = Counter(question.request for question in questions)
    for question in questions:
        if ids[question.id] > 1:
            yield _fault(
                question,
                "repeated_id",
                f"{ids[question.id]} questions have the id {question.id!r}.",
            )
        if requests[question.request] > 1:
            yield _fault(
                question,
                "repeated_question",
                f"{requests[question.request]} questions ask the very same.",
            )


def _fault(question: GoldQuestion, kind: str, message: str, tool: str = "") -> RequestFault:
    return RequestFault(kind, question.domain, question.id, message, tool)


def check_counts(
    questions: Sequence[GoldQuestion], tools: Mapping[str, int]
) -> Iterator[RequestFault]:
    """Yield differences from Table 2 in a domain's tools, or its questions of a difficulty."""
    counts = Counter((question.domain, question.difficulty) for question in questions)
    table = packaged(_PACKAGE, _FILE)["table_2"]
    for domain in dict.fromkeys(question.domain for question in questions):
        for what, published in zip(_COUNTED, table.get(domain, ()), strict=False):
            here = tools.get(domain, 0) if what == "tools" else counts[domain, what]
            if here != published:
                counted = f"{here} {what}" if what == "tools" else f"{here} {what} questions"
                yield RequestFault(
                    "other_count", domain, "", f"{domain} has {counted}; Table 2 has {published}."
                )


def check_tools(folder: Path, catalog: Catalog) -> Iterator[RequestFault]:
    """Yield what is odd about the tools, from the import and from the folder APISchema."""
    domain_of = {tool.name: tool.category for tool in catalog.tools}
    for problem in catalog.problems:
        if problem.kind in _STATED_IN:
            domain = problem.where.rpartition("/APIs/")[2].partition(".json")[0] or domain_of.get(
                problem.tool, ""
            )
            yield RequestFault("tool_declaration", domain, "", problem.message, problem.tool)
    untyped = Counter(
        problem.where.partition("#")[0]
        for problem in catalog.problems
        if problem.kind == "untyped_parameter"
    )
    for file, count in untyped.items():
        domain = file.rpartition("/")[2].removesuffix(".json")
        yield RequestFault(
            "unnamed_types", domain, "", f"{count} tools declare their parameters by name alone."
        )
    for domain in dict.fromkeys(tool.category for tool in catalog.tools):
        declared = folder / "APISchema" / f"{domain}.json"
        rows = read_json(declared) if declared.is_file() else []
        schemas = {
            str(row["name"]): row.get("parameters")
            for row in (rows if isinstance(rows, list) else [])
            if isinstance(row, dict) and "name" in row
        }
        for tool in catalog.tools:
            if tool.category == domain and tool.name in schemas:
                yield from _compare(tool, schemas[tool.name])


def _compare(tool: Tool, schema: JsonValue) -> Iterator[RequestFault]:
    declared = tool.parameters.get("properties") or {}
    if not isinstance(schema, dict) or not isinstance(schema.get("properties", {}), dict):
        return
    if schema.get("type") != "object" and declared:
        message = (
            f"APISchema declares the parameters of {tool.name!r} as {schema.get('type')}, without"
            " their names."
        )
        yield RequestFault("schema_differs", tool.category, "", message, tool.name)
        return
    members = schema.get("properties") or {}
    for name, own in declared.items():
        other = members.get(name) if isinstance(members, dict) else None
        kind = other.get("type") if isinstance(other, dict) else None
        if own.get("type") and kind != own["type"]:
            message = (
                f"{name!r} of {tool.name!r} is {own['type']} in APIs, and {kind or 'missing'} in"
                " APISchema."
            )
            yield RequestFault("schema_differs", tool.category, "", message, tool.name, name)
