"""The page of an audit of a data set: a file of its own, with filters and marked words."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

import orjson
from pydantic import JsonValue

from callwright.flows.pages.look import asset, render
from callwright.validators.audit.findings import SEVERITIES

if TYPE_CHECKING:  # the reports import this page
    from callwright.flows.data_audit.reports import SortCount
    from callwright.flows.data_audit.running import DataAudit

_MOST = 2000  # findings on a page


def audit_page(
    audit: "DataAudit", counts: "Sequence[SortCount]", words: Mapping[str, Mapping[str, str]]
) -> str:
    """Render an audit; of more than 2,000 findings the gravest are shown."""
    return render(
        "data_audit.html",
        audit=audit,
        counts=counts,
        findings=[*islice(audit.findings(), _MOST)],
        total=sum(one.findings for one in counts),
        severities=[one for one in SEVERITIES if any(row.severity == one for row in counts)],
        sorts=list(dict.fromkeys(one.sort for one in counts)),
        sort_words=words,
        shown_json=_shown_json,
        made_at=datetime.now(UTC),
        style=asset("page.css"),
    )


def _shown_json(value: JsonValue) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
