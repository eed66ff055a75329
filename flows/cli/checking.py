"""`check`: the checks on samples that others made, and `doctor`: the checks on this machine."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from callwright.flows.cli.screen import AsJson, JsonList, say, show, show_json, show_table

if TYPE_CHECKING:
    from callwright.flows.data_checks import CheckedRecordLine, CheckedRequest
    from callwright.generators.catalogs import Problem

_Line = TypeVar("_Line", "CheckedRequest", "CheckedRecordLine")


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    check = typer.Typer(help="Check other people's data.", no_args_is_help=True, rich_markup_mode=None)
    check.command("hammerbench", epilog="Example: callwright check hammerbench en/single-turn/ST_Perfect.json")(
        hammerbench
    )
    check.command("callnavi", epilog="Example: callwright check callnavi data/callnavi --kind needless_placeholder")(
        callnavi
    )
    check.command("requests", epilog="Example: callwright check requests wordings.jsonl --json")(requests)
    check.command("records", epilog="Example: callwright check records exports/v1/records.jsonl --json")(records)
    check.callback()(lambda: None)
    app.add_typer(check, name="check")
    app.command("doctor", epilog="Example: callwright doctor --json")(doctor)


def hammerbench(
    path: Annotated[Path, typer.Argument(help="A file of HammerBench records.")],
    model: Annotated[str, typer.Option(help="The model that checks and judges; none: rules alone.")] = "",
    failures: Annotated[bool, typer.Option("--failures", help="Show only what is not proved.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run the checks on each record, its label taken as gold, and print the verdicts."""
    from callwright.flows.checking import check_hammerbench
    from callwright.flows.settings import read_settings

    checked = asyncio.run(check_hammerbench(path, model, read_settings()))
    shown = [one for one in checked.records if not failures or one.decision != "proved"]
    if as_json:
        show_json(
            {"records": shown, "problems": checked.problems, "summary": checked.summary, "left_out": checked.left_out}
        )
    else:
        for one in shown:
            show(f"{_short(one.record, path)}  {one.decision}  {one.request}")
            for verdict in one.verdicts:
                if verdict.decision != "proved":
                    show(f"    {verdict.check}: {verdict.decision}: {verdict.reason}")
        _show_oddities(checked.problems, path)
        show_table(("check", "proved", "unproved", "contradicted"), checked.summary)
    if checked.left_out:
        say(f"Without a model these checks were left out: {', '.join(checked.left_out)}. Give one with --model.")
    if not checked.records:
        say(f"There is no record to check in {str(path)!r}.")
        raise typer.Exit(1)


def callnavi(
    folder: Annotated[Path, typer.Argument(help="The folder with CallNavi's Questions, APIs and APISchema.")],
    kind: Annotated[list[str] | None, typer.Option("--kind", help="Only faults of this kind; may be repeated.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the faults of CallNavi's data: unknown tools, undeclared parameters, needless placeholders and more."""
    from callwright.validators.datasets.callnavi import check_callnavi
    from callwright.validators.datasets.callnavi_requests import fault_kinds
    from callwright.warehouse.errors import ConfigurationError

    unknown = set(kind or ()) - set(fault_kinds())
    if unknown:
        raise ConfigurationError(
            f"There is no kind of fault {min(unknown)!r}; the kinds are {', '.join(fault_kinds())}."
        )
    checked = check_callnavi(folder)
    shown = [finding for finding in checked.findings if not kind or finding.kind in kind]
    if as_json:
        counted = {name: {"findings": faults, "questions": asked} for name, faults, asked, _ in checked.summary}
        show_json(
            {
                "findings": [finding._asdict() for finding in shown],
                "summary": counted,
                "questions": checked.questions,
                "tools": checked.tools,
            }
        )
        return
    for finding in shown:
        show(f"{finding.question or finding.domain}  {finding.kind}  {finding.message}")
    show_table(("kind", "faults", "questions", "what it is"), checked.summary)
    show(f"{checked.questions} questions, {checked.tools} tools")


def requests(
    path: Annotated[Path, typer.Argument(help="JSON lines: id, language, tool, arguments, request, and now if known.")],
    model: Annotated[str, typer.Option(help="The model that reads what words ask for; none: values alone.")] = "",
    as_json: AsJson = False,
) -> None:
    """Tell of each request which values its words prove and, with a model, whether it chooses the call among near misses."""
    from callwright.flows.api.checking import check_requests_async

    asyncio.run(_show_each(check_requests_async(path, model=model), _show_request, as_json=as_json))


def _show_request(one: "CheckedRequest") -> None:
    proved, of = one.values_proved
    show(f"{one.id}  {one.decision}  {proved} of {of} values proved  {' '.join(one.reasons)}".rstrip())
    for hint in one.hints:
        show(f"    look at {hint.quote!r} ({hint.kind.replace('_', ' ')})")


def records(
    path: Annotated[Path, typer.Argument(help="JSON lines as `export --to records` writes them.")],
    model: Annotated[str, typer.Option(help="The model that checks and judges; none: rules alone.")] = "",
    as_json: AsJson = False,
) -> None:
    """Run today's checks on exported records, whole or broken; evidence that stands in them is found again."""
    from callwright.flows.api.checking import check_records_async

    asyncio.run(_show_each(check_records_async(path, model=model), _show_record, as_json=as_json))


def _show_record(one: "CheckedRecordLine") -> None:
    show(f"{one.key}  {one.decision}")
    for verdict in one.verdicts:
        if verdict.decision != "proved":
            show(f"    {verdict.check}: {verdict.decision}: {verdict.reason}")


async def _show_each(checked: AsyncIterator[_Line], show_one: Callable[[_Line], None], *, as_json: bool) -> None:
    """Print each answer as it comes, and at the end how many there are of each decision."""
    if as_json:
        with JsonList() as printed:
            async for one in checked:
                printed.add(_as_json(one))
        return
    counts: Counter[str] = Counter()
    async for one in checked:
        show_one(one)
        counts[one.decision] += 1
    show(", ".join(f"{counts[name]} {name}" for name in ("proved", "judged", "unproved", "contradicted")))


def _as_json(one: "CheckedRequest | CheckedRecordLine") -> dict[str, object]:
    fields = one._asdict()
    for name in ("verdicts", "hints"):
        if name in fields:
            fields[name] = [each._asdict() for each in fields[name]]
    fields["claims"] = {name: each._asdict() for name, each in one.claims.items()}
    return fields


def _short(where: str, path: Path) -> str:
    """A record's place without the path that was given: "#/5", or "ST_Perfect.json#/5" for a folder."""
    return where.removeprefix(str(path)).lstrip("/") or where


def _show_oddities(problems: "list[Problem]", path: Path) -> None:
    """What was odd in the file, one line a kind with its first place."""
    kinds: dict[str, list[Problem]] = {}
    for problem in problems:
        kinds.setdefault(problem.kind, []).append(problem)
    for kind, found in kinds.items():
        show(f"{kind} ({len(found)} times, first at {_short(found[0].where, path)}): {found[0].message}")


def doctor(
    recipe: Annotated[
        Path | None, typer.Argument(help="A recipe, to look at its models: keys, servers, prices.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what this machine has of all that callwright can use, and what to do about the rest."""
    from callwright.flows.doctor import examine

    findings = examine(recipe)
    if as_json:
        show_json([finding._asdict() for finding in findings])
    else:
        show_table(("part", "state", "what to do"), [(one.part, one.state, one.advice) for one in findings])
    if any(one.state == "broken" for one in findings):
        raise typer.Exit(1)
