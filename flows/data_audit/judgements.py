"""Judgements: what people say of findings, in a file or in Label Studio."""

import csv
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from callwright.annotation.screens import FINDING_REVIEW
from callwright.flows.data_audit.running import DataAudit
from callwright.flows.review.questions import AUDIT, ReviewQuestion, ask
from callwright.generators.catalogs.documents import DocumentItem, read_rows
from callwright.warehouse.errors import ConfigurationError, first_problem
from callwright.warehouse.queries import sql
from callwright.warehouse.rows import Row

FindingVerdict = Literal["confirmed", "refused", "noted"]
FINDING_VERDICTS: tuple[FindingVerdict, ...] = get_args(FindingVerdict)


class FindingJudgement(BaseModel):
    """A line of a file of judgements: the key of a finding, what somebody says of it, and who."""

    model_config = ConfigDict(extra="ignore")

    finding: str
    verdict: FindingVerdict
    note: str = ""
    person: str = ""


def judge_findings(audit: DataAudit, path: Path) -> Counter[str]:
    """Keep the judgements of a JSON lines or CSV file; return how many are new, by verdict.

    A person's newest judgement of a finding counts. Raises ConfigurationError, and keeps none, if
    a line is no judgement or names no finding of the audit.
    """
    warehouse = audit.warehouse
    rows = warehouse.rows(sql("data_audits.last_judgements"), [audit.key])
    last = {(row["finding"], row["person"]): (row["verdict"], row["note"]) for row in rows}
    keys = {row["key"] for row in warehouse.rows(sql("data_audits.keys"), [audit.key])}
    now = datetime.now(UTC)
    judged: dict[tuple[str, str], Row] = {}
    for where, one in _judgements(path):
        if one.finding not in keys:
            raise ConfigurationError(
                f"{where}: The audit {audit.name or audit.key!r} has no finding {one.finding!r}."
            )
        judged[one.finding, one.person] = {**one.model_dump(), "audit": audit.key, "judged_at": now}
    new = [row for name, row in judged.items() if last.get(name) != (row["verdict"], row["note"])]
    warehouse.put_rows({"finding_judgements": new})
    return Counter(row["verdict"] for row in new)


def ask_about_findings(audit: DataAudit) -> int:
    """Ask reviewers about an audit's findings above notes that nobody has judged.

    Return how many questions are new; `callwright review push` sends them.
    """
    rows = audit.warehouse.rows(sql("data_audits.unjudged"), [audit.key, audit.source])
    why = f"An audit found this in data of the format {audit.form}."
    return ask(
        audit.warehouse,
        [ReviewQuestion(row["key"], AUDIT, why, kind=FINDING_REVIEW) for row in rows],
    )


def _judgements(path: Path) -> Iterator[tuple[str, FindingJudgement]]:
    """Yield the judgements of a file with their places."""
    for where, row in _rows(path):
        try:
            yield where, FindingJudgement.model_validate(row)
        except ValidationError as error:
            problem = f"{where} is no judgement of a finding: {first_problem(error)}."
            raise ConfigurationError(problem) from error


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    if not path.is_file():
        raise ConfigurationError(f"There is no file {str(path)!r}.")
    if path.suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as lines:
            yield from ((f"{path}:{at}", row) for at, row in enumerate(csv.DictReader(lines), 2))
        return
    for row in read_rows(path):
        if not isinstance(row, DocumentItem):
            raise ConfigurationError(row.message)
        yield row.where, row.value
