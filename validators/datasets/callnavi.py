"""Faults of CallNavi's data: in its questions, its gold answers, its tools, and against its paper's Table 2."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from generators.catalogs.callnavi import read_callnavi
from validators.datasets.callnavi_findings import KINDS, Finding
from validators.datasets.callnavi_tools import check_counts, check_tools
from validators.datasets.callnavi_values import check_values, leaves
from validators.metrics.callnavi.files import read_questions
from validators.metrics.callnavi.matching import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from validators.metrics.callnavi.scores import Question
    from warehouse.records import JsonSchema

    Tools = dict[str, JsonSchema]


class CheckedDataset(NamedTuple):
    """All faults of a dataset, and of how many questions and tools."""

    findings: list[Finding]
    questions: int
    tools: int

    @property
    def summary(self) -> list[tuple[str, int, int, str]]:
        """Each kind that was found: how many faults, in how many questions, and what it means."""
        faults = Counter(finding.kind for finding in self.findings)
        asked = Counter(kind for kind, question in {(one.kind, one.question) for one in self.findings} if question)
        return [(kind, faults[kind], asked[kind], text) for kind, text in KINDS.items() if faults[kind]]


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
    order = list(KINDS)
    findings.sort(key=lambda finding: (order.index(finding.kind), finding.domain))
    return CheckedDataset(findings, len(questions), len(catalog.tools))


def check_question(question: Question, tools: dict[str, Tools]) -> Iterator[Finding]:
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


def _check_shape(question: Question) -> Iterator[Finding]:
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


def _check_names(question: Question, at: int, schema: JsonSchema) -> Iterator[Finding]:
    given, name = question.gold.parameters[at], question.gold.names[at]
    declared = schema.get("properties") or {}
    undeclared = [one for one in given if one not in declared]
    missing = [one for one in declared if one not in given]
    for one in undeclared:
        instead = f"; {', '.join(map(repr, missing))} is not given" if missing else ""
        message = f"{name!r} declares {sorted(declared)}, not {one!r}{instead}."
        yield Finding("undeclared_parameter", question.domain, question.id, message, name, one)
    if not undeclared:
        for one in missing:
            message = f"{name!r} declares {one!r}, which is not given."
            yield Finding("missing_parameter", question.domain, question.id, message, name, one)


def _unknown(name: str, domain: str, tools: dict[str, Tools]) -> str:
    near = [one for one in tools.get(domain, {}) if one.lower() == name.lower()]
    elsewhere = [other for other, known in tools.items() if name in known]
    hint = f" It has {near[0]!r}." if near else f" It is a tool of {', '.join(elsewhere)}." if elsewhere else ""
    return f"{domain} has no tool {name!r}.{hint}"


def _repeated(questions: Sequence[Question]) -> Iterator[Finding]:
    ids = Counter(question.id for question in questions)
    requests = Counter(question.request for question in questions)
    for question in questions:
        if ids[question.id] > 1:
            yield _fault(question, "repeated_id", f"{ids[question.id]} questions have the id {question.id!r}.")
        if requests[question.request] > 1:
            yield _fault(question, "repeated_question", f"{requests[question.request]} questions ask the very same.")


def _fault(question: Question, kind: str, message: str, tool: str = "") -> Finding:
    return Finding(kind, question.domain, question.id, message, tool)
