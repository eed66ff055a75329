"""Facts: what is to be kept of a record's way through its stages, gathered as rows and written to a shard's folder."""

import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import orjson

from warehouse.errors import CallwrightError
from warehouse.outcomes import outcome_row
from warehouse.records import Failure, Outcome, ReasonCode, Record, Sample, StageOutcome, Tool
from warehouse.rows import Row, Stamp, rows_of


class Facts:
    """The facts of one record and of all that it becomes."""

    def __init__(self, build: str, now: datetime) -> None:
        """Nothing is known yet."""
        self.rows: dict[str, list[Row]] = defaultdict(list)
        self._build = build
        self._now = now

    def keep(self, records: Iterable[Record]) -> None:
        """Keep records, each in its table."""
        for table, row in [*rows_of(records, Stamp(self._now))]:  # all of them, or none where one can't be a row
            self.rows[table].append(row)

    def note(
        self, stage: str, record: Record, outcome: StageOutcome, reason: str = "", code: ReasonCode = "none"
    ) -> None:
        """What became of a record at a stage, why in a sentence, and as a code."""
        kept = Outcome(
            build=self._build, stage=stage, subject=record.key, outcome=outcome, reason_code=code, reason=reason
        )
        self.rows["outcomes"].append(outcome_row(kept, self._now))

    def fail(self, stage: str, record: Record, error: CallwrightError) -> None:
        """A record goes no further, and why."""
        failure = Failure(
            stage=stage, subject=record.key, error=type(error).__name__, reason=str(error), build=self._build
        )
        self.keep([failure])
        self.note(stage, record, "failed", str(error), "error")

    def link(self, draft: Record, outputs: Iterable[Record]) -> None:
        """Which samples and tools were made of a draft."""
        for output in outputs:
            if isinstance(output, Sample):
                self.rows["build_samples"].append({"build": self._build, "sample": output.key, "draft": draft.key})
            elif isinstance(output, Tool):
                self.rows["made_tools"].append({"toolset": self._build, "tool": output.key, "draft": draft.key})


class FactFiles:
    """A folder with a batch for each table, written as facts come in; it appears whole, at the end, or not at all."""

    def __init__(self, folder: Path) -> None:
        """Begin anew; what a try before this one left is removed."""
        self._folder = folder
        self._unfinished = folder.with_name(f"{folder.name}.unfinished")
        self._files: dict[str, BinaryIO] = {}
        self._open = ExitStack()
        for stale in (folder, self._unfinished):
            shutil.rmtree(stale, ignore_errors=True)
        self._unfinished.mkdir(parents=True)

    def add(self, facts: Mapping[str, Iterable[Row]]) -> None:
        """Write rows, each to its table's batch."""
        for table, rows in facts.items():
            lines = b"".join(orjson.dumps(row) + b"\n" for row in rows)
            if lines:
                self._file(table).write(lines)

    def _file(self, table: str) -> BinaryIO:
        if table not in self._files:
            self._files[table] = self._open.enter_context((self._unfinished / f"{table}.jsonl").open("wb"))
        return self._files[table]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
        if kind is None:
            self._unfinished.rename(self._folder)
