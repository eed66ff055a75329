"""Gates for an evaluation in CI: bounds on figures, comparison with another candidate, reports."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from html import escape
from itertools import groupby
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import orjson

from callwright.validators.metrics.ratios import paired_test
from callwright.validators.metrics.table import METRICS
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import EvalMode, ToolsShown
from callwright.warehouse.releases import release_named
from callwright.warehouse.store import Warehouse

_SEPARATOR = "~"  # between a candidate and its strategy, as in the addresses of the page
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKS = re.compile(r"([\\`*_\[\]|~#@!$])")
_SHOWN, _LONGEST = 20, 200  # failures in a summary, and characters of each text of them


class Scope(NamedTuple):
    """The answers to a release that are meant; `split` "" is all of it.

    `mode` and `judge` are those of multi-step runs, too.
    """

    release: str
    split: str
    strategy: str
    tools_shown: ToolsShown
    mode: EvalMode
    judge: str


class AnsweredItem(NamedTuple):
    """A candidate's answer where calls were due, or a whole run over a multi-step sample.

    `due` and `calls` are lists of {'tool': …, 'arguments': {…}}; `calls` is None if the answer
    can't be read, and `problem` says why. `verdict` is by rule, None if nothing was judged;
    `error_type` names the mistake, `matched` how a right answer is right: as the gold has it, or
    otherwise (`AnswerSort`).

        item.sample, item.turn, item.due       # '5c1f…', 1, [{'tool': 'get_weather', …}]
        item.calls, item.problem               # None, 'python/agent raised KeyError: …'
        item.verdict, item.error_type          # False, 'unreadable'
    """

    sample: str
    kind: str
    turn: int | None
    run: int
    due: list[dict[str, Any]] | None
    calls: list[dict[str, Any]] | None
    text: str
    problem: str
    verdict: bool | None
    error_type: str | None
    matched: str | None = None
    request: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether the answer is wrong or can't be read."""
        return self.verdict is False or bool(self.problem)


class Demands(NamedTuple):
    """Bounds for candidates: figures by metric, and how much worse than `against` they may be.

    `p` is the p value at which a difference counts.
    """

    fail_under: Mapping[str, float] = MappingProxyType({})
    fail_over: Mapping[str, float] = MappingProxyType({})
    against: str = ""
    worse_by: float = 0.0
    p: float = 0.05

    def require_sound(self) -> None:
        """Raise ConfigurationError for bounds that are out of range."""
        for metric, bound in [*self.fail_under.items(), *self.fail_over.items()]:
            if not isfinite(bound):
                message = f"The bound of {metric!r} is {bound!r}. It must be a number."
                raise ConfigurationError(message)
        for name in ("worse_by", "p"):
            if not 0 <= getattr(self, name) <= 1:
                problem = f"{name} is {getattr(self, name)!r}. It must be between 0 and 1."
                raise ConfigurationError(problem)


class GateBound(NamedTuple):
    """One bound for a candidate: whether `value` passes at `bound`.

    `p_value` is that of a comparison, else None.
    """

    candidate: str
    strategy: str
    demand: str
    value: float
    bound: float
    p_value: float | None
    passed: bool


class GateResult:
    """The result of a gate: whether each demand is met, with reports.

    gate = found.gate(fail_under={"args_acc": 0.9}, against="agent", worse_by=0.02)
    gate.passed, gate.demands[0].value     # False, 0.87
    gate.write_junit(Path("gate.xml"))
    """

    def __init__(
        self,
        scope: Scope,
        demands: Sequence[GateBound],
        figures: Mapping[str, Mapping[str, float]],
        read: Callable[[str], list[AnsweredItem]],
    ) -> None:
        """Take each candidate's figures by metric; `read` returns the answers of one on demand."""
        self.scope = scope
        self.demands = tuple(demands)
        self.figures = figures
        self._read = read

    @property
    def passed(self) -> bool:
        """Whether all demands are met."""
        return all(one.passed for one in self.demands)

    def write_junit(self, path: Path) -> None:
        """Write JUnit XML: a suite of the demands, and one per candidate with a case per sample."""
        top = ET.Element("testsuites", name=_xml(f"callwright {self.scope.release}"))
        if self.demands:
            _add_suite(top, "gate", (_demand_case(one) for one in self.demands))
        for candidate in self.figures:
            cases = (
                _sample_case(self.scope.release, items)
                for items in _by_sample(self._read(candidate))
            )
            _add_suite(top, f"{candidate} {self.scope.strategy}", cases)
        path.parent.mkdir(parents=True, exist_ok=True)
        ET.ElementTree(top).write(path, encoding="utf-8", xml_declaration=True)

    def write_summary(self, path: Path) -> None:
        """Write a Markdown page for GITHUB_STEP_SUMMARY: demands, figures, the worst failures."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(self._summary()), encoding="utf-8")

    def _summary(self) -> Iterator[str]:
        scope = self.scope
        of = _md(f"{scope.release}, split {scope.split}" if scope.split else scope.release)
        yield f"## Evaluation of {of}{': ' + _word(passed=self.passed) if self.demands else ''}\n"
        if self.demands:
            yield _table(
                ("candidate", "demand", "value", "p", ""),
                (
                    (one.candidate, one.demand, one.value, one.p_value, _word(passed=one.passed))
                    for one in self.demands
                ),
            )
        metrics = sorted({metric for figures in self.figures.values() for metric in figures})
        yield _table(
            ("metric", *self.figures),
            (
                [metric, *(figures.get(metric) for figures in self.figures.values())]
                for metric in metrics
            ),
        )
        for candidate in self.figures:
            yield from _worst(candidate, [*_by_sample(self._read(candidate))])


def read_bounds(stated: Iterable[str], option: str) -> dict[str, float]:
    """Return bounds by metric, parsed from options such as `args_acc=0.9`.

    Raises ConfigurationError if one can't be parsed.
    """
    bounds: dict[str, float] = {}
    for bound_text in stated:
        metric, _, bound = bound_text.partition("=")
        try:
            bounds[metric.strip()] = float(bound)
        except ValueError as error:
            problem = f"{option} takes METRIC=NUMBER, such as args_acc=0.9, not {bound_text!r}."
            raise ConfigurationError(problem) from error
    return bounds


def read_figures(warehouse: Warehouse, scope: Scope, candidate: str) -> dict[str, float]:
    """Return a candidate's figures by metric, as means over its runs.

    Figures are those by the judge if there are any, else those by rule.
    """
    rows = warehouse.rows(sql("gate.figures"), [*scope, candidate])
    return {row["metric"]: row["value"] for row in rows}


def read_items(warehouse: Warehouse, scope: Scope, candidate: str) -> list[AnsweredItem]:
    """Return all answers of a candidate, in the order of samples and turns."""
    rows = warehouse.rows(sql("gate.items"), [*scope, candidate])
    return [
        AnsweredItem(**row | {name: _loaded(row[name]) for name in ("due", "calls")})
        for row in rows
    ]


def _loaded(text: object) -> Any:  # noqa: ANN401 - JSON
    return orjson.loads(text) if isinstance(text, str) else text


def hold(
    warehouse: Warehouse, scope: Scope, candidates: Sequence[str], demands: Demands
) -> GateResult:
    """Check candidates against demands.

    Raises ConfigurationError for an unknown metric or candidate, or if none can be compared.
    """
    demands.require_sound()
    with warehouse.reading_together():
        figures = {candidate: read_figures(warehouse, scope, candidate) for candidate in candidates}
    demand_results = [
        one
        for candidate in candidates
        for one in _bounded(scope, candidate, figures[candidate], demands)
    ]
    if demands.against:
        rival = find_contestant(warehouse, scope.release, demands.against, scope.strategy)
        compared = [candidate for candidate in candidates if (candidate, scope.strategy) != rival]
        if not compared:
            raise ConfigurationError(
                f"{demands.against!r} is the candidate itself. Name another candidate to compare"
                " with."
            )
        demand_results += [
            _compared(warehouse, scope, candidate, rival, demands) for candidate in compared
        ]
    return GateResult(
        scope, demand_results, figures, lambda candidate: read_items(warehouse, scope, candidate)
    )


def _bounded(
    scope: Scope, candidate: str, figures: Mapping[str, float], demands: Demands
) -> Iterator[GateBound]:
    for bounds, sign, words in (
        (demands.fail_under, 1, "at least"),
        (demands.fail_over, -1, "at most"),
    ):
        for metric, bound in bounds.items():
            if metric not in figures:
                raise ConfigurationError(
                    f"{candidate!r} has no metric {metric!r} on {scope.release}. It has "
                    f"{', '.join(sorted(figures)) or 'none'}. The answers are kept."
                )
            passed = sign * figures[metric] >= sign * bound
            told = (f"{metric} {words} {bound:g}", figures[metric], bound, None, passed)
            yield GateBound(candidate, scope.strategy, *told)


def known_metrics() -> list[str]:
    """Return the names of all figures that a candidate may have on a release."""
    by_name = {"pass_rate", *(figure for row in METRICS.rows() for figure in row.figures)}
    return sorted(by_name | {f"{name}_macro" for name in by_name})


def require_metrics(stated: Iterable[str]) -> None:
    """Raise ConfigurationError if no release can have such a figure, before any model is asked."""
    metrics = known_metrics()
    for metric in stated:
        if metric not in metrics:
            near = get_close_matches(metric, metrics) or [
                name for name in metrics if not name.endswith("_macro")
            ]
            problem = f"There is no metric {metric!r}. Did you mean one of {', '.join(near)}?"
            raise ConfigurationError(problem)


def require_known(warehouse: Warehouse, release: str, stated: str, labels: Sequence[str]) -> None:
    """Raise ConfigurationError if the candidate to compare with is unknown.

    `labels` are the candidates that are about to be asked.
    """
    release_named(warehouse, release)
    name, _, strategy = stated.rpartition(_SEPARATOR)
    known = _contestants(warehouse, release)
    is_known = stated in {one for one, _ in known} or (name, strategy) in known
    if not is_known and not {stated, name} & {*labels}:
        raise _unknown(warehouse, release, stated)


def find_contestant(
    warehouse: Warehouse, release: str, stated: str, strategy: str = ""
) -> tuple[str, str]:
    """Return the candidate and strategy that NAME or NAME~STRATEGY means.

    For NAME it is `strategy`, or the only one that the candidate was asked by. Raises
    ConfigurationError that lists those that exist.
    """
    contestants = _contestants(warehouse, release)
    name, _, said = stated.rpartition(_SEPARATOR)
    by_name = [one for one in contestants if one[0] == stated]
    for found in ((name, said), (stated, strategy), *(by_name if len(by_name) == 1 else [])):
        if found in contestants:
            return found
    if not by_name:
        raise _unknown(warehouse, release, stated)
    problem = f"{stated!r} was asked with several strategies. Name one of them: {_listed(by_name)}."
    raise ConfigurationError(problem)


def _contestants(warehouse: Warehouse, release: str) -> list[tuple[str, str]]:
    rows = warehouse.rows(sql("gate.contestants"), [release])
    return [(row["candidate"], row["strategy"]) for row in rows]


def _unknown(warehouse: Warehouse, release: str, stated: str) -> ConfigurationError:
    known = _listed(_contestants(warehouse, release)) or "none"
    return ConfigurationError(
        f"No candidate {stated!r} has answered {release!r}. Candidates that have: {known}."
    )


def _listed(contestants: Iterable[tuple[str, str]]) -> str:
    return ", ".join(map(_SEPARATOR.join, contestants))


def _compared(
    warehouse: Warehouse, scope: Scope, candidate: str, other: tuple[str, str], demands: Demands
) -> GateBound:
    """Return the demand that a candidate passes no fewer shared samples than another.

    It fails only for a difference beyond chance. Shared samples are those that both have
    answered. Raises ConfigurationError if there are none.
    """
    [row] = warehouse.rows(sql("gate.compared"), [*scope, candidate, *other])
    name = _SEPARATOR.join(other)
    if not row["samples"]:
        raise ConfigurationError(
            f"{candidate!r} and {name!r} have no samples in common, so they can't be compared."
        )
    difference = (row["only_one"] - row["only_other"]) / row["samples"]
    chance = paired_test(row["only_one"], row["only_other"]).p_value
    is_worse = difference < 0 and difference <= -demands.worse_by and chance <= demands.p
    words = f"not worse than {name} by {demands.worse_by:g} (p {demands.p:g})"
    return GateBound(
        candidate, scope.strategy, words, difference, -demands.worse_by, chance, not is_worse
    )


def _by_sample(items: Iterable[AnsweredItem]) -> Iterator[list[AnsweredItem]]:
    return (list(of_one) for _, of_one in groupby(items, key=lambda item: item.sample))


def _add_suite(top: ET.Element, name: str, cases: Iterable[ET.Element]) -> None:
    suite = ET.SubElement(top, "testsuite", name=_xml(name))
    suite.extend(cases)
    suite.set("tests", str(len(suite)))
    for attribute, tag in (("failures", "failure"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))


def _demand_case(demand: GateBound) -> ET.Element:
    case = ET.Element(
        "testcase", classname="gate", name=_xml(f"{demand.candidate}: {demand.demand}")
    )
    if not demand.passed:
        chance = "" if demand.p_value is None else f", p = {demand.p_value:.4g}"
        ET.SubElement(
            case, "failure", type="gate", message=_xml(f"It is {demand.value:.6g}{chance}.")
        )
    return case


def _sample_case(release: str, items: Sequence[AnsweredItem]) -> ET.Element:
    """Return a test case for a sample with all its turns and runs.

    It fails if one of them fails, and is skipped if none was judged.
    """
    first = items[0]
    name = f"{first.sample} {_short(first.request)}"
    case = ET.Element("testcase", classname=_xml(f"{release}.{first.kind}"), name=_xml(name))
    wrong = [item for item in items if item.is_failure]
    if wrong:
        failure = ET.SubElement(
            case, "failure", type=_xml(_mistake(wrong[0])), message=_xml(_short(_told(wrong[0])))
        )
        failure.text = _xml("\n\n".join(map(_told, wrong)))
    elif all(item.verdict is None for item in items):
        ET.SubElement(case, "skipped", message="No answer to it was judged.")
    return case


def _mistake(item: AnsweredItem) -> str:
    return item.error_type or ("unparseable" if item.problem else "wrong")


def _told(item: AnsweredItem) -> str:
    where = "whole run" if item.turn is None else f"turn {item.turn}"
    lines = [
        f"{_mistake(item)} ({where}, run {item.run})",
        f"request: {item.request}",
        f"due: {_json(item.due)}",
        f"made: {_made(item)}",
    ]
    return "\n".join([*lines, f"problem: {item.problem}"] if item.problem else lines)


def _made(item: AnsweredItem) -> str:
    return item.text if item.calls is None else _json(item.calls)


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _xml(text: str) -> str:
    """Return a text with a replacement for characters that XML can't hold, such as controls."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _worst(candidate: str, samples: list[list[AnsweredItem]]) -> Iterator[str]:
    """Yield the failures of a candidate: samples with the most wrong answers first."""
    wrong = [failed for items in samples if (failed := [item for item in items if item.is_failure])]
    if not wrong:
        return
    wrong.sort(key=lambda failed: (-len(failed), failed[0].sample))
    yield f"### {_md(candidate)}: {len(wrong)} of {len(samples)} samples failed\n"
    columns = ("sample", "kind", "request", "due", "made", "mistake", "wrong answers")
    yield _table(columns, (_failed_row(failed[0], len(failed)) for failed in wrong[:_SHOWN]))


def _failed_row(one: AnsweredItem, times: int) -> tuple[object, ...]:
    made, due = one.problem or _made(one), _json(one.due)
    return one.sample, one.kind, one.request, due, made, _mistake(one), times


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [map(_md, columns), ["---"] * len(columns), *(map(_md, row) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def _md(value: object) -> str:
    """Return a value as one line of plain Markdown text, without markup, links or HTML."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4f}"
    return _MARKS.sub(r"\\\1", escape(_short(_xml(str(value))), quote=False))


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"


def _word(*, passed: bool) -> str:
    return "passed" if passed else "failed"
