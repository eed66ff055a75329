"""The table of export formats, and writing one to a folder."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import orjson

from warehouse.errors import ConfigurationError
from warehouse.exports.bfcl import bfcl_files
from warehouse.exports.callnavi import APIS, QUESTIONS, callnavi_files
from warehouse.exports.complexfuncbench import FILE as COMPLEXFUNCBENCH_FILE
from warehouse.exports.complexfuncbench import export_complexfuncbench
from warehouse.exports.confetti import ACTS_FILE, CALLS_FILE, POSSIBLE, confetti_files
from warehouse.exports.hammerbench import export_hammerbench, hammerbench_file
from warehouse.exports.openai import openai_lines
from warehouse.records import Sample
from warehouse.releases import ReleaseContent
from warehouse.rows import Stamp, rows_of
from warehouse.tables import TABLES

Writer = Callable[[ReleaseContent, Path], list[Path]]


def export_release(content: ReleaseContent, to: str, folder: Path) -> list[Path]:
    """Write a release in a format; the files written. Raises ConfigurationError that lists the formats there are."""
    if to not in EXPORTS:
        raise ConfigurationError(f"There is no export format {to!r}; the formats are {', '.join(sorted(EXPORTS))}.")
    folder.mkdir(parents=True, exist_ok=True)
    return EXPORTS[to](content, folder)


def _write_openai(content: ReleaseContent, folder: Path) -> list[Path]:
    return [_lines(folder / f"{content.release.name}.jsonl", openai_lines(content))]


def _write_bfcl(content: ReleaseContent, folder: Path) -> list[Path]:
    files = bfcl_files(content)
    answers = folder / "possible_answer"
    answers.mkdir(exist_ok=True)
    written = [
        _lines(folder / "BFCL_v4_multiple.json", files.questions),
        _lines(answers / "BFCL_v4_multiple.json", files.answers),
        _lines(folder / "BFCL_v4_irrelevance.json", files.irrelevant),
    ]
    if files.parallel_questions:
        written += [
            _lines(folder / "BFCL_v4_parallel_multiple.json", files.parallel_questions),
            _lines(answers / "BFCL_v4_parallel_multiple.json", files.parallel_answers),
        ]
    return written


def _write_callnavi(content: ReleaseContent, folder: Path) -> list[Path]:
    """A file of questions and a file of tools for each domain."""
    files = callnavi_files(content.samples, content.tools)
    named = [(QUESTIONS, domain, rows) for domain, rows in sorted(files.questions.items())]
    written = [_json(folder / place / f"{domain}.json", rows) for place, domain, rows in named]
    return written + [
        _json(folder / APIS / f"{domain}.json", {"api_ports": rows}) for domain, rows in sorted(files.apis.items())
    ]


def _write_confetti(content: ReleaseContent, folder: Path) -> list[Path]:
    files = confetti_files(content)
    (folder / POSSIBLE).mkdir(exist_ok=True)
    return [
        _lines(folder / CALLS_FILE, files.questions),
        _lines(folder / POSSIBLE / CALLS_FILE, files.answers),
        _lines(folder / ACTS_FILE, files.turn_questions),
        _lines(folder / POSSIBLE / ACTS_FILE, files.turns),
    ]


def _write_complexfuncbench(content: ReleaseContent, folder: Path) -> list[Path]:
    return [_lines(folder / COMPLEXFUNCBENCH_FILE, export_complexfuncbench(content.samples, content.tools))]


def _write_hammerbench(content: ReleaseContent, folder: Path) -> list[Path]:
    """One file a language and kind, in the folders and under the names of the published data."""
    files: dict[str, list[Sample]] = {}
    for sample in content.samples:
        files.setdefault(hammerbench_file(sample), []).append(sample)
    written = []
    for name, samples in sorted(files.items()):
        path = folder / name
        written.append(_json(path, list(export_hammerbench(samples, content.tools))))
    return written


def _write_parquet(content: ReleaseContent, folder: Path) -> list[Path]:
    """Two tables, their columns as in the warehouse: text, whole numbers, lists of text; JSON as text."""
    import pyarrow as pa
    from pyarrow import parquet

    stamp = Stamp(content.release.created_at)
    written = []
    for table, records in (("samples", content.samples), ("tools", tuple(content.tools.values()))):
        rows = [row for _, row in rows_of(records, stamp)]
        types = {"whole": pa.int64(), "texts": pa.list_(pa.string())}
        schema = pa.schema([(name, types.get(column, pa.string())) for name, column in TABLES[table].items()])
        path = folder / f"{table}.parquet"
        parquet.write_table(pa.Table.from_pylist(rows, schema=schema), path)
        written.append(path)
    return written


def _json(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2))
    return path


def _lines(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    with path.open("wb") as file:
        for row in rows:
            file.write(orjson.dumps(row) + b"\n")
    return path


EXPORTS: dict[str, Writer] = {
    "bfcl": _write_bfcl,
    "callnavi": _write_callnavi,
    "confetti": _write_confetti,
    "complexfuncbench": _write_complexfuncbench,
    "hammerbench": _write_hammerbench,
    "openai": _write_openai,
    "parquet": _write_parquet,
}
