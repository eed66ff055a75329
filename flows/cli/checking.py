"""Checks of others' data (`check`), this machine (`doctor`), and checks and readers (`audit`)."""

import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import orjson
import typer

from callwright.flows.api.options import DataAuditOptions
from callwright.flows.cli.screen import (
    AsJson,
    CheckingModel,
    CommandResult,
    JsonList,
    Terminal,
    TextTable,
    command,
    commands,
    say,
    share_with_bounds,
    show,
    table_of,
)
from callwright.flows.loops import run_loop
from callwright.flows.options import Option
from callwright.flows.settings import open_warehouse, read_settings
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError

if TYPE_CHECKING:
    from callwright.flows.auditing import AuditReport, ReaderComparison
    from callwright.flows.data_audit.reports import SortCount
    from callwright.flows.data_audit.running import DataAudit
    from callwright.flows.data_checks import (
        CheckedFile,
        CheckedRecordLine,
        CheckedRequest,
        CheckVerdict,
    )
    from callwright.validators.audit.findings import Finding
    from callwright.warehouse.records import Verdict

app = commands()
check = commands("Check datasets made by others.")
audit = commands("Audit the gold of data sets, and measure how good checks and readers are.")
app.add_typer(check, name="check")
app.add_typer(audit, name="audit")
FromRelease = Annotated[
    str,
    Option(
        words="The release to take samples from. Default: accepted samples of the newest builds."
    ),
]
Seed = Annotated[int, Option(words="The seed that draws the samples and their defects.")]
_GRAVEST = 20  # findings that are shown
_SHOWN = 160  # characters of a value or of the user's words
_DECISIONS = ("proved", "judged", "open", "doubted", "contradicted")
_FIGURES = (
    "broken",
    "still_proved",
    "still_judged",
    "recall",
    "recall_low",
    "recall_high",
    "intact",
    "false_alarms",
    "precision",
)


@command(check, "hammerbench", "check hammerbench en/single-turn/ST_Perfect.json")
def hammerbench(path: Path, *, model: CheckingModel = "", failures: bool = False) -> CommandResult:
    """Run the checks on HammerBench records, with their labels as gold, and print the verdicts.

    Args:
        path: A file of HammerBench records.
        failures: Show only records that are not proved.
    """
    from callwright.flows.data_checks import check_hammerbench

    checked = run_loop(check_hammerbench(path, model, read_settings()))
    if checked.left_out:
        say(
            f"These checks need a model and were skipped: {', '.join(checked.left_out)}. Name one"
            " with --model."
        )
    if not checked.records:
        say(f"{str(path)!r} holds no records to check.")
    shown = checked._replace(
        records=[one for one in checked.records if not failures or one.decision != "proved"]
    )
    return CommandResult(shown, _hammerbench_text(shown, path), 0 if checked.records else 1)


def _hammerbench_text(checked: "CheckedFile", path: Path) -> Iterator[str | TextTable]:
    def short(where: str) -> str:
        """Return a record's place without the given path: "#/5", or "ST_Perfect.json#/5".

        The second form is for a folder.
        """
        return where.removeprefix(str(path)).lstrip("/") or where

    for one in checked.records:
        yield f"{short(one.record)}  {one.decision}  {one.request}"
        yield from _doubts(one.verdicts)
    counts = Counter(problem.kind for problem in checked.problems)
    first = {problem.kind: problem for problem in reversed(checked.problems)}
    for kind, count in counts.items():
        yield (
            f"{kind} ({count_of(count, 'time')}, first at {short(first[kind].where)}):"
            f" {first[kind].message}"
        )
    yield TextTable(("check", "proved", "unproved", "contradicted"), checked.summary)


def _doubts(verdicts: "Sequence[Verdict | CheckVerdict]") -> Iterator[str]:
    return (
        f"    {one.check}: {one.decision}: {one.reason}"
        for one in verdicts
        if one.decision != "proved"
    )


@command(check, "callnavi", "check callnavi data/callnavi --kind needless_placeholder")
def callnavi(folder: Path, *, kind: Sequence[str] = ()) -> CommandResult:
    """List the faults of CallNavi's data, such as unknown tools and undeclared parameters.

    Args:
        folder: The folder with CallNavi's Questions, APIs and APISchema.
        kind: Only faults of this kind. Repeatable.
    """
    from callwright.validators.metrics.callnavi.dataset import check_callnavi, fault_kinds

    if unknown := set(kind) - set(fault_kinds()):
        known = ", ".join(fault_kinds())
        problem = f"No kind of fault is named {min(unknown)!r}. The kinds are {known}."
        raise ConfigurationError(problem)
    checked = check_callnavi(folder)
    shown = [finding for finding in checked.findings if not kind or finding.kind in kind]
    counted = {
        name: {"findings": faults, "questions": asked} for name, faults, asked, _ in checked.summary
    }
    whole = {"questions": checked.questions, "tools": checked.tools}
    lines = [
        f"{finding.question or finding.domain}  {finding.kind}  {finding.message}"
        for finding in shown
    ]
    table = TextTable(("kind", "faults", "questions", "what it is"), checked.summary)
    counts = f"{count_of(checked.questions, 'question')}, {count_of(checked.tools, 'tool')}"
    return CommandResult({"findings": shown, "summary": counted, **whole}, [*lines, table, counts])


@command(check, "requests", "check requests wordings.jsonl --json")
def requests(path: Path, *, model: str = "", as_json: AsJson = False) -> None:
    """Find which argument values each request says.

    With a model, also check whether it writes the same call from the request alone.

    Args:
        path: A file of JSON lines with id, language, tool or tools, arguments, request and, if
            known, system and now.
        model: The model that reads the requests. Default: look only for the values.
    """
    from callwright.flows.api.building import check_requests_async

    run_loop(_show_each(check_requests_async(path, model=model), as_json=as_json))


@command(
    check,
    "records",
    "check records exports/v1-records/records.jsonl --json",
    begins="Checking the records",
)
def records(path: Path, *, model: CheckingModel = "", as_json: AsJson = False) -> None:
    """Run the current checks on exported records.

    The evidence is found anew, not taken from the records.

    Args:
        path: A file of JSON lines, as `export --to records` writes it.
    """
    from callwright.flows.api.building import check_records_async

    run_loop(_show_each(check_records_async(path, model=model), as_json=as_json))


async def _show_each(
    checked: "AsyncIterator[CheckedRequest] | AsyncIterator[CheckedRecordLine]", *, as_json: bool
) -> None:
    """Print each result as it comes, and at the end the number of each decision."""
    if as_json:
        with JsonList() as printed:
            async for checked_record in checked:
                printed.add(checked_record)
        return
    counts = Counter[str]()
    async for checked_record in checked:
        show(_checked_text(checked_record))
        counts[checked_record.decision] += 1
    show(
        ", ".join(
            f"{counts[name]} {name}" for name in _DECISIONS if counts[name] or name != "proved"
        )
    )


def _checked_text(one: "CheckedRequest | CheckedRecordLine") -> Iterator[str]:
    from callwright.flows.data_checks import CheckedRecordLine

    if isinstance(one, CheckedRecordLine):
        yield f"{one.key}  {one.decision}"
        yield from _doubts(one.verdicts)
        return
    stand = ", ".join(
        f"{name} {standing.replace('_', ' ')}" for name, standing in one.arguments.items()
    )
    yield f"{one.id}  {one.decision}  {stand}  {' '.join(one.reasons)}".rstrip()


@command(app, "doctor", "doctor --json")
def doctor(recipe: Path | None = None) -> CommandResult:
    """Check what this machine has, and how to add what is missing.

    Args:
        recipe: A recipe whose models to check too: keys, servers, prices.
    """
    from callwright.flows.doctor import examine

    findings = examine(recipe)
    table = TextTable(("part", "state", "what to do"), findings)
    return CommandResult(findings, [table], int(any(one.state == "broken" for one in findings)))


@command(audit, "checks", "audit checks --release v1 --limit 10", begins="Reading the samples")
def audit_checks(
    *,
    release: FromRelease = "",
    wordings: Path | None = None,
    model: CheckingModel = "",
    limit: int = 10,
    seed: Seed = 0,
    defect: Sequence[str] = (),
    survivors: Path | None = None,
    out: Path | None = None,
) -> CommandResult:
    """Inject defects into accepted samples and count how many each check finds.

    Intact samples that a check doubts are counted, too.

    Args:
        wordings: Measure on these requests instead: JSON lines as for `check requests`, with label
            and defect.
        limit: The number of samples of each kind and language.
        defect: Only this kind of defect. Repeatable.
        survivors: Write the defective samples that are still proved to this file, as `check
            records` reads them.
        out: Write the figures to this file as Markdown tables.
    """
    from callwright.flows import auditing

    plan = auditing.AuditPlan(release, limit, seed, model, tuple(defect), survivors)
    with Terminal() as screen:
        settings = read_settings()
        broken, labelled = auditing.audit_checks, auditing.audit_wordings
        report = run_loop(
            labelled(wordings, plan, settings) if wordings else broken(plan, settings, screen)
        )
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(auditing.audit_page(report), encoding="utf-8")
    return CommandResult(report, _audit_text(report))


def _audit_text(report: "AuditReport") -> Iterator[str | TextTable]:
    by_check = [row for row in report.figures if row["slice_by"] == "all"]
    yield table_of(by_check, ("check_name", *_FIGURES), ("check", *_FIGURES))
    together = [
        row for row in report.figures if by_check and row["check_name"] == by_check[0]["check_name"]
    ]
    for sliced in ("family", "kind", "language", "defect"):
        yield ""
        rows = [row for row in together if row["slice_by"] == sliced]
        yield table_of(rows, ("slice_value", *_FIGURES), (sliced, *_FIGURES))
    if report.arguments:
        columns = ("language", "grade", "wrong", "wrong_landed", "correct", "precision")
        yield ""
        yield table_of(report.arguments, columns, ("language", "argument's grade", *columns[2:]))


@command(
    audit,
    "readers",
    "audit readers --model template/v1 --model hosted_vllm/MINE --wrong-at-most 0.02",
    begins="Reading the samples",
)
def audit_readers(
    *,
    model: Sequence[str] = (),
    recipe: Path | None = None,
    release: FromRelease = "",
    limit: Annotated[int, Option(least=1)] = 40,
    seed: Seed = 0,
    wrong_at_most: Annotated[float | None, Option(least=0, most=1)] = None,
    wrong_before: Annotated[float | None, Option(least=0, most=1)] = None,
) -> CommandResult:
    """Compare models as readers of the same accepted samples.

    The figures are what they catch, what they wrongly doubt, and their cost.

    Args:
        model: A model to compare, by its name or by what --recipe calls it. Repeatable.
        recipe: Read the settings of the models from this recipe; compare its candidates if no
            model is named.
        limit: The number of samples of each family and language.
        wrong_at_most: Name the cheapest model that is known to let at most this share of wrong
            samples pass.
        wrong_before: The share of samples that is wrong before reading. Default: the share that
            readers of the newest builds doubted.
    """
    from callwright.flows.auditing import ComparisonPlan, compare_readers, readers_named

    models = readers_named(model, recipe)
    plan = ComparisonPlan(models, release, limit, seed, wrong_before, wrong_at_most)
    with Terminal() as screen:
        report = run_loop(compare_readers(plan, read_settings(), screen))
    return CommandResult(report, _comparison_text(report))


def _comparison_text(report: "ReaderComparison") -> Iterator[str | TextTable]:
    yield table_of(
        [
            {
                "reader": one.model,
                "defects": one.planted,
                "caught": share_with_bounds(one.catch_rate, one.catch_low, one.catch_high),
                "as they are": one.doubles,
                "doubted": share_with_bounds(one.false_doubts, one.doubts_low, one.doubts_high),
                "wrong": (
                    "" if one.wrong is None else f"{one.wrong:.1%} (at most {one.most_wrong:.1%})"
                ),
                "tokens": round(one.tokens),
                "dollars for 1,000": "unknown" if one.dollars is None else f"{one.dollars:.2f}",
            }
            for one in report.readers
        ]
    )
    yield (
        f"All models read the same {count_of(report.samples, 'sample')} of {report.source}. The"
        " column wrong: the share of what a model accepts that is wrong, if"
        f" {report.wrong_before:.1%} of what it reads is."
    )
    sorts = [
        (one.model, sort.defect, sort.planted, share_with_bounds(sort.rate, sort.low, sort.high))
        for one in report.readers
        for sort in one.sorts
    ]
    if sorts:
        yield TextTable(("reader", "sort of defect", "defects", "caught"), sorts)
    for reader_row in report.readers:
        if reader_row.problem:
            yield f"By default {reader_row.model} settles nothing: it {reader_row.problem}."
    bar = f"{report.wrong_at_most or 0:.1%}"
    if report.chosen:
        yield (
            f"The cheapest model known to let at most {bar} of wrong samples pass: {report.chosen}."
        )
    elif report.wrong_at_most is not None:
        yield (
            f"No model with a known price is known to let at most {bar} of wrong samples pass."
            " Try a larger --limit."
        )


@command(
    audit,
    "data",
    "audit data bfcl/BFCL_v4_simple_python.json --out findings.html",
    begins="Reading the data",
)
def audit_data(
    paths: Sequence[Path] = (),
    *,
    out: Path | None = None,
    as_json: AsJson = False,
    **options: Unpack[DataAuditOptions],
) -> None:
    """Find what speaks against the gold calls of a data set.

    Nothing is built and nothing lands; the findings are kept in the warehouse.

    Args:
        paths: Files or folders of one format, or the name of a release.
        out: Write the findings to this file: .html, .json, .jsonl, .sarif or .xml (JUnit).
    """
    from callwright.flows.api.auditing import audit_async
    from callwright.flows.data_audit.reports import check_report, json_parts, write_report

    if out is not None:
        check_report(out)
    with Terminal() as screen:
        found = run_loop(audit_async(paths, **options, progress=screen))
    if out is not None:
        write_report(found, out)
    if as_json:
        sys.stdout.writelines(json_parts(found))
    else:
        show(_findings_text(found, out))
    sys.stdout.flush()
    if found.failed:
        raise typer.Exit(1)


def _findings_text(audit: "DataAudit", out: Path | None) -> Iterator[str | TextTable]:
    """Yield the counts, the gravest findings in two lines each, and where the others are."""
    from callwright.flows.data_audit.reports import counts_of

    counts = counts_of(audit)
    if counts:
        rows = [(one.severity, one.sort, one.findings, _precision_text(one)) for one in counts]
        yield TextTable(("severity", "sort", "findings", "precision"), rows)
        yield ""
    for finding in islice(audit, _GRAVEST):
        yield from _finding_text(finding)
    total = sum(one.findings for one in counts)
    yield (
        f"{count_of(audit.records, 'record')} of {audit.source}, {audit.unreadable} unreadable:"
        f" {count_of(total, 'finding')}."
    )
    if out is not None:
        yield f"All of them: {out}"
    elif total > _GRAVEST:
        yield (
            f'The other {total - _GRAVEST}: --out findings.html, or callwright query "from findings'
            f" where audit = '{audit.key}'\""
        )


def _finding_text(finding: "Finding") -> Iterator[str]:
    argument = f"{finding.tool}.{finding.argument}" if finding.argument else finding.tool
    gold = "" if finding.gold is None else f" = {_short_json(finding.gold)}"
    item = "" if finding.item == finding.where else f"{finding.item}  "
    yield f"{finding.where}  {item}{finding.severity}: {finding.sort}  {argument}{gold}".rstrip()
    words = f"'{finding.words[:_SHOWN]}': " if finding.words else ""
    right = "" if finding.expected is None else f" It should be {_short_json(finding.expected)}."
    yield f"    {words}{finding.reason}{right}"


def _short_json(value: object) -> str:
    text = orjson.dumps(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _precision_text(count: "SortCount") -> str:
    one = count.precision
    if one is None:
        return "not measured"
    bounds = share_with_bounds(one.precision, one.low, one.high)
    return f"{bounds} of {one.judged} judged ({one.where})"


@command(audit, "judge", "audit judge mine judgements.jsonl")
def audit_judge(name: str, path: Path | None = None) -> CommandResult:
    """Keep what people say of an audit's findings, from a file; without a file, ask reviewers.

    A line has `finding`, the key of a finding, and `verdict`: confirmed, refused or noted; perhaps
    `note` and `person`.

    Args:
        name: The audit's name or key.
        path: A file of JSON lines or CSV. Default: `callwright review push` asks about all errors
            and warnings that nobody has judged.
    """
    from callwright.flows.data_audit.judgements import (
        FINDING_VERDICTS,
        ask_about_findings,
        judge_findings,
    )
    from callwright.flows.data_audit.running import audit_named

    found = audit_named(open_warehouse(read_settings()), name)
    if path is None:
        asked = ask_about_findings(found)
        told = f"{count_of(asked, 'new question')}. `callwright review push` sends what waits."
        return CommandResult({"asked": asked}, told)
    counts = judge_findings(found, path)
    told = ", ".join(f"{counts[one]} {one}" for one in FINDING_VERDICTS)
    return CommandResult(counts, f"{count_of(counts.total(), 'new judgement')}: {told}.")


@command(audit, "patch", "audit patch mine --out patch.jsonl")
def audit_patch(name: str, *, out: Path) -> CommandResult:
    """Write confirmed findings as corrected rows of the data set.

    Rows of bfcl, callnavi, hammerbench, openai and records are written as they should be, those
    of other formats as JSON Patches (RFC 6902) of the row.

    Args:
        name: The audit's name or key.
        out: Write the lines to this file.
    """
    from callwright.flows.data_audit.patches import write_patch
    from callwright.flows.data_audit.running import audit_named

    patches = write_patch(audit_named(open_warehouse(read_settings()), name), out)
    problems = [one.problem for one in patches if one.problem]
    written = f"{count_of(len(patches) - len(problems), 'row')} corrected: {out}"
    return CommandResult(patches, "\n".join([*problems, written]), 1 if problems else 0)
