"""Checks of data that others bring, from Python: `check_requests` and `check_records`."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TypeVar

from callwright.flows.api.surroundings import run, settings_of
from callwright.flows.data_checks import CheckedRecordLine, CheckedRequest, Rows, find_records, find_requests

Found = TypeVar("Found")


def check_requests(rows: Rows, *, model: str = "", home: Path | str | None = None) -> list[CheckedRequest]:
    """Tell of each request whether its words prove the call, and of each argument.

    `rows` are mappings with id, language, tool, arguments, request and perhaps now; or a file of
    such lines. Without a `model` that reads what rules leave open only values are decided, never a
    whole request. `home` keeps what a model answers.

        >>> schema = {"type": "object", "properties": {"city": {"type": "string"}}}
        >>> asked = {"id": "1", "language": "en", "request": "What is the weather in Ulm?"}
        >>> asked |= {"tool": {"name": "get_weather", "parameters": schema}}
        >>> [found] = check_requests([asked | {"arguments": {"city": "Ulm"}}])
        >>> found.id, sorted(found.arguments)
        ('1', ['city'])

    A row that is no request is answered with the reason. Raises ConfigurationError where the file
    or the model can't be had.
    """
    return run(_gathered(check_requests_async(rows, model=model, home=home)))


def check_requests_async(
    rows: Rows, *, model: str = "", home: Path | str | None = None
) -> AsyncIterator[CheckedRequest]:
    """As `check_requests`, one after another as they are asked for.

    async for found in callwright.check_requests_async("requests.jsonl"):
        found.id, found.decision               # '1', 'unproved'
    """
    return find_requests(rows, model, settings_of(home))


def check_records(rows: Rows, *, model: str = "", home: Path | str | None = None) -> list[CheckedRecordLine]:
    """Run today's checks on samples, whole or broken; evidence that stands in them is found again.

    `rows` are mappings as `export --to records` writes them (`KeptSample.record` is one), or a file
    of such lines.

        [found] = callwright.check_records([sample.record])
        found.decision, found.verdicts         # 'proved', [CheckVerdict(check='format', …), …]

    A row that is no record is answered with the reason. Raises ConfigurationError where the file or
    the model can't be had.
    """
    return run(_gathered(check_records_async(rows, model=model, home=home)))


def check_records_async(
    rows: Rows, *, model: str = "", home: Path | str | None = None
) -> AsyncIterator[CheckedRecordLine]:
    """As `check_records`, one after another as they are asked for.

    async for found in callwright.check_records_async("records.jsonl"):
        found.key, found.decision              # '5c1f…', 'proved'
    """
    return find_records(rows, model, settings_of(home))


async def _gathered(found: AsyncIterator[Found]) -> list[Found]:
    return [one async for one in found]
