"""The table of export formats, and writing one to a folder: beside it first, and into its place when it is whole."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, NamedTuple

import orjson

from warehouse.errors import ConfigurationError, RecordError
from warehouse.exports.bfcl import bfcl_files
from warehouse.exports.callnavi import APIS, QUESTIONS, callnavi_files, callnavi_question
from warehouse.exports.complexfuncbench import FILE as COMPLEXFUNCBENCH_FILE
from warehouse.exports.complexfuncbench import complexfuncbench_record, export_complexfuncbench
from warehouse.exports.confetti import ACTS_FILE, CALLS_FILE, POSSIBLE, confetti_files, validate_conversation
from warehouse.exports.hammerbench import export_hammerbench, hammerbench_file, hammerbench_record
from warehouse.exports.openai import OpenAIRow, openai_rows
from warehouse.records import CallTurn, ResultTurn, Sample, Tool
from warehouse.releases import ReleaseContent
from warehouse.rows import Stamp, rows_of
from warehouse.tables import TABLES


def record_lines(content: ReleaseContent) -> Iterator[dict[str, Any]]:
    """Each sample with its tools, those withheld included, and the responses to its executed calls."""
    for sample in content.samples:
        yield record_line(sample, content.tools)


def record_line(sample: Sample, tools: Mapping[str, Tool]) -> dict[str, Any]:
    """A sample with those of the tools that it names."""
    keys = dict.fromkeys((*sample.candidates, *sample.withheld))
    return {
        "sample": sample.model_dump(mode="json"),
        "tools": [tools[key].model_dump(mode="json") for key in keys if key in tools],
        "responses": list(_responses(sample)),
    }


def _responses(sample: Sample) -> Iterator[dict[str, Any]]:
    for turn, following in pairwise(sample.turns):
        if isinstance(turn, CallTurn) and isinstance(following, ResultTurn):
            for call, result in zip(turn.calls, following.results, strict=False):
                yield {"call": {"tool": call.tool, "arguments": call.arguments}, "response": result}


class Skipped(NamedTuple):
    """What an export leaves out of a kind of samples, how often, and why: of samples as a whole the first one's reason."""

    kind: str
    number: int
    reason: str


class Export(NamedTuple):
    """What an export wrote, how many rows, and what it left out."""

    files: list[Path]
    rows: int
    skipped: list[Skipped]


class _Written(NamedTuple):
    """What a writer wrote; `left_out` has the kind and the reason of each row that the format has no place for."""

    files: list[Path]
    rows: int
    left_out: Sequence[tuple[str, str]] = ()


class Format(NamedTuple):
    """How a format is written; `validate` raises RecordError for a sample that it can't hold."""

    write: Callable[[ReleaseContent, Path], _Written]
    validate: Callable[[Sample, ReleaseContent], object] | None = None


def export_release(content: ReleaseContent, to: str, folder: Path) -> Export:
    """Write a release in a format: samples that it can't hold are left out.

    Raises ConfigurationError that lists the formats there are, RecordError where not one sample has a place in it; then
    nothing is written.
    """
    if to not in EXPORTS:
        raise ConfigurationError(f"There is no export format {to!r}; the formats are {', '.join(sorted(EXPORTS))}.")
    kept, losses = _split(content, EXPORTS[to])
    if content.samples and not kept.samples:
        raise RecordError(losses[0][1])
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        written = EXPORTS[to].write(kept, beside)
        files = [_move(path, beside, folder) for path in written.files]
    finally:
        rmtree(beside)
    whole = Counter(kind for kind, _ in losses)
    first = dict(reversed(losses))
    parts = Counter(written.left_out).items()
    skipped = [Skipped(kind, number, first[kind]) for kind, number in whole.items()]
    return Export(files, written.rows, skipped + [Skipped(kind, number, reason) for (kind, reason), number in parts])


def _split(content: ReleaseContent, form: Format) -> tuple[ReleaseContent, list[tuple[str, str]]]:
    """The release with the samples that a format can hold, and the kind of each other one with the reason."""
    kept: list[Sample] = []
    losses: list[tuple[str, str]] = []
    for sample in content.samples:
        try:
            if form.validate is not None:
                form.validate(sample, content)
        except RecordError as error:
            losses.append((sample.kind, str(error)))
        else:
            kept.append(sample)
    return content._replace(samples=tuple(kept)), losses


def _move(path: Path, beside: Path, folder: Path) -> Path:
    place = folder / path.relative_to(beside)
    place.parent.mkdir(parents=True, exist_ok=True)
    return path.replace(place)


def _write_openai(content: ReleaseContent, folder: Path) -> _Written:
    """The rows, and beside them where each came from, line by line."""
    rows: list[dict[str, Any]] = []
    origins: list[dict[str, Any]] = []
    left_out: list[tuple[str, str]] = []
    for one in openai_rows(content):
        if isinstance(one, OpenAIRow):
            rows.append(one.row)
            origins.append(one.origin)
        else:
            left_out.append((one.sample.kind, one.reason))
    name = content.release.name
    files = [_lines(folder / f"{name}.jsonl", rows), _lines(folder / f"{name}.origins.jsonl", origins)]
    return _Written(files, len(rows), left_out)


def _write_bfcl(content: ReleaseContent, folder: Path) -> _Written:
    """A file of questions a category, and of answers where calls are due; none is empty."""
    files = bfcl_files(content)
    named = [
        ("BFCL_v4_multiple.json", files.questions),
        ("possible_answer/BFCL_v4_multiple.json", files.answers),
        ("BFCL_v4_irrelevance.json", files.irrelevant),
        ("BFCL_v4_parallel.json", files.repeated_questions),
        ("possible_answer/BFCL_v4_parallel.json", files.repeated_answers),
        ("BFCL_v4_parallel_multiple.json", files.parallel_questions),
        ("possible_answer/BFCL_v4_parallel_multiple.json", files.parallel_answers),
    ]
    asked = sum(
        len(rows) for rows in (files.questions, files.irrelevant, files.parallel_questions, files.repeated_questions)
    )
    return _Written([_lines(folder / name, rows) for name, rows in named if rows], asked)


def _write_callnavi(content: ReleaseContent, folder: Path) -> _Written:
    """A file of questions and a file of tools for each domain."""
    files = callnavi_files(content.samples, content.tools)
    asked = [_json(folder / QUESTIONS / f"{name}.json", rows) for name, rows in sorted(files.questions.items())]
    ports = [_json(folder / APIS / f"{name}.json", {"api_ports": rows}) for name, rows in sorted(files.apis.items())]
    return _Written(asked + ports, len(content.samples))


def _write_confetti(content: ReleaseContent, folder: Path) -> _Written:
    files = confetti_files(content)
    written = [
        _lines(folder / CALLS_FILE, files.questions),
        _lines(folder / POSSIBLE / CALLS_FILE, files.answers),
        _lines(folder / ACTS_FILE, files.turn_questions),
        _lines(folder / POSSIBLE / ACTS_FILE, files.turns),
    ]
    return _Written(written, len(files.questions) + len(files.turn_questions))


def _write_complexfuncbench(content: ReleaseContent, folder: Path) -> _Written:
    rows = list(export_complexfuncbench(content.samples, content.tools))
    return _Written([_lines(folder / COMPLEXFUNCBENCH_FILE, rows)], len(rows))


def _write_hammerbench(content: ReleaseContent, folder: Path) -> _Written:
    """One file a language and kind, in the folders and under the names of the published data."""
    files: dict[str, list[Sample]] = {}
    for sample in content.samples:
        files.setdefault(hammerbench_file(sample), []).append(sample)
    written = [
        _json(folder / name, list(export_hammerbench(samples, content.tools)))
        for name, samples in sorted(files.items())
    ]
    return _Written(written, len(content.samples))


def _write_parquet(content: ReleaseContent, folder: Path) -> _Written:
    """Two tables, their columns as in the warehouse: text, whole numbers, lists of text; JSON as text."""
    import pyarrow as pa
    from pyarrow import parquet

    stamp = Stamp(content.release.created_at)
    written = []
    for table, records in (("samples", content.samples), ("tools", tuple(content.tools.values()))):
        rows = [row for _, row in rows_of(records, stamp)]
        types = {"whole": pa.int64(), "texts": pa.list_(pa.string())}
        schema = pa.schema([(name, types.get(column, pa.string())) for name, column in TABLES[table].columns.items()])
        path = folder / f"{table}.parquet"
        parquet.write_table(pa.Table.from_pylist(rows, schema=schema), path)
        written.append(path)
    return _Written(written, len(content.samples))


def _write_records(content: ReleaseContent, folder: Path) -> _Written:
    return _Written([_lines(folder / "records.jsonl", record_lines(content))], len(content.samples))


def _json(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2))
    return path


def _lines(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for row in rows:
            file.write(orjson.dumps(row) + b"\n")
    return path


EXPORTS: dict[str, Format] = {
    "bfcl": Format(_write_bfcl),
    "callnavi": Format(_write_callnavi, lambda sample, _: callnavi_question(sample, "")),
    "confetti": Format(_write_confetti, lambda sample, _: validate_conversation(sample)),
    "complexfuncbench": Format(
        _write_complexfuncbench, lambda sample, content: complexfuncbench_record(sample, content.tools, "")
    ),
    "hammerbench": Format(_write_hammerbench, lambda sample, content: hammerbench_record(sample, content.tools)),
    "openai": Format(_write_openai),
    "parquet": Format(_write_parquet),
    "records": Format(_write_records),
}
