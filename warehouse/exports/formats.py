"""The table of export formats, and writing a release in one: complete, then moved into place."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson
import yaml
from pydantic import JsonValue

from callwright.warehouse.comments import literal
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.exports.certificates import VERIFIER, Certificate, CertificateWriter
from callwright.warehouse.exports.verify_certificate import CERTIFICATE
from callwright.warehouse.exports.writing import (
    TEST,
    Format,
    LeftOutRow,
    ReleaseSplit,
    TableFormat,
    Write,
    WrittenRow,
    canary,
    hash_of,
    in_order,
    write_json,
)
from callwright.warehouse.queries import sql
from callwright.warehouse.records import CallTurn, Release, ResultTurn, Sample, Tool
from callwright.warehouse.registry import Registry, file_of, guarded, row_in_file
from callwright.warehouse.releases import ReleaseStream
from callwright.warehouse.store import Warehouse
from callwright.warehouse.wire_schemas import wire_schema
from callwright.warehouse.yaml_text import read_yaml

TOOLS_FILE = "tools.parquet"


def record_line(sample: Sample, tools: Mapping[str, Tool]) -> dict[str, Any]:
    """Return a sample with the tools that it names, and the responses to its calls."""
    keys = dict.fromkeys((*sample.candidates, *sample.withheld))
    answered = [
        pair
        for turn, following in pairwise(sample.turns)
        if isinstance(turn, CallTurn) and isinstance(following, ResultTurn)
        for pair in zip(turn.calls, following.results, strict=False)
    ]
    given = ((call.bare.model_dump(mode="json"), result) for call, result in answered)
    responses = [{"call": call, "response": result} for call, result in given]
    listed = [tools[key].model_dump(mode="json") for key in keys if key in tools]
    return {"sample": sample.model_dump(mode="json"), "tools": listed, "responses": responses}


def _begin_records(part: ReleaseSplit) -> Write:
    def write(sample: Sample) -> int:
        name = f"{part.split or 'records'}.jsonl"
        part.add_line(name, record_line(sample, part.source.tools) | part.mark)
        return 1

    return write


def _copy_rows(warehouse: Warehouse, sql: str, parameters: Sequence[object], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with warehouse.reading() as connection:
        connection.execute(f"copy ({sql}) to {literal(str(path))} (format parquet)", parameters)


RECORDS = Format(
    name="records",
    holds="each sample with its evidence, its tools and the responses to its calls, one a line",
    readers="`callwright check records`, and programs of your own",
    begin=_begin_records,
)
PARQUET = TableFormat(
    name="parquet",
    holds=(
        "the samples of each split and the tools, with the columns of the warehouse, JSON as text"
    ),
    readers="DuckDB, pandas, Polars, Spark",
)


EXPORTS: Registry[Format | TableFormat] = Registry(
    "exports", Format | TableFormat, "export format", "formats"
)
OF_TEMPLATE = (
    "the template model worded them or alone judged them, so that they are for trying out, not for"
    " training; `--with-template` takes them as well"
)
MANIFEST, README = "export.json", "README.md"


def format_of(to: str) -> Format | TableFormat:
    """Return the format of this name, or one from a user's file: `path.py:name`.

    Raises ConfigurationError that lists the known names, or says what is wrong with the file.
    """
    if not (path := to.rpartition(":")[0]).endswith(".py"):
        return EXPORTS.named(to)
    own_format = row_in_file(*file_of(to, Path())).row
    if not isinstance(own_format, Format | TableFormat):
        problem = f"{to!r} is not an export format. {path} must define a Format of that name."
        raise ConfigurationError(problem)
    return own_format


class Skipped(NamedTuple):
    """What an export leaves out of a kind of samples: why, and how many samples or rows."""

    kind: str
    reason: str
    number: int


class Export(NamedTuple):
    """What an export wrote, its rows by split ("" if there are none), and what it left out.

    `names` are those that are others than in the release, by kind ("tools", "parameters") and by
    the name in the export. `mended` counts the tools whose schemas are written otherwise for
    readers, by how.
    """

    files: list[Path]
    splits: dict[str, int]
    skipped: list[Skipped]
    names: dict[str, dict[str, str]]
    mended: dict[str, int]

    @property
    def rows(self) -> int:
        """The number of rows in all splits."""
        return sum(self.splits.values())


def export_release(source: ReleaseStream, to: str, folder: Path, card: str = "") -> Export:
    """Write a release in a format, with its card as README.

    Samples that the format can't hold are left out. The folder is the export's own: it may be
    missing, empty, or hold an older export in the same format, which is replaced. Raises
    ConfigurationError for an unknown format or a folder of other things, RecordError if nothing
    fits the format; then nothing is written.
    """
    form = format_of(to)
    if isinstance(form, TableFormat):
        problem = f"The format {to!r} is copied out of the warehouse by `export_tables`."
        raise ConfigurationError(problem)
    return _put(source.release, form, folder, card, lambda beside: _write(source, form, beside))


def export_tables(
    warehouse: Warehouse,
    source: ReleaseStream,
    folder: Path,
    card: str = "",
    kinds: Sequence[str] = (),
) -> Export:
    """Copy a release's tables, all or of some kinds, into Parquet files like `export_release`.

    The samples of the `source` are certified.
    """
    release = source.release

    def make(beside: Path) -> _WrittenBeside:
        """Write a file per split, with "" if there are no splits.

        The store writes it, so that a million samples take seconds.
        """
        asked, files, counts, mark = [release.name, list(kinds)], list[Path](), dict[str, int](), ""
        with warehouse.together():
            for row in warehouse.rows(sql("whole.counted"), asked):
                split, path = row["split"], beside / row["split"] / "samples.parquet"
                own = canary(release) if split == TEST else ""
                rows = sql("whole.samples", split=literal(split), canary=literal(own))
                _copy_rows(warehouse, rows, asked, path)
                counts[split], mark = row["samples"], mark or own
                files.append(path)
            _copy_rows(warehouse, sql("whole.tools"), [release.name], beside / TOOLS_FILE)
        files += [beside / TOOLS_FILE]
        certificate = _certified(source, beside, files)
        export = Export([*files, *certificate.files], counts, [], {}, {})
        return _WrittenBeside(export, counts, mark, certificate.counts)

    return _put(release, PARQUET, folder, card, make)


def _certified(source: ReleaseStream, folder: Path, files: Sequence[Path]) -> Certificate:
    """Write the certificate of copied tables, with what it speaks of as a copy of each row."""
    numbers = Counter[str]()
    with closing(CertificateWriter(source, folder)) as certificate:
        for split, sample in source.samples:
            called = {call.tool for call in sample.all_calls}
            tools = {key: one for key, one in source.tools.items() if one.name in called}
            name = f"{split}/samples.parquet".lstrip("/")
            text = orjson.dumps(record_line(sample, tools))
            mark = canary(source.release) if split == TEST else ""
            row = WrittenRow(name, numbers[name], "opaque", text)
            certificate.add(sample, split, [row], canary=mark)
            numbers[name] += 1
        return certificate.finish(PARQUET.name, files, None)


class _WrittenBeside(NamedTuple):
    """What was written beside the folder, and what its README says of it."""

    export: Export
    samples: dict[str, int]
    canary: str
    certified: Mapping[str, int]
    header: Mapping[str, JsonValue] = MappingProxyType({})


def _put(
    release: Release,
    form: Format | TableFormat,
    folder: Path,
    card: str,
    make: Callable[[Path], _WrittenBeside],
) -> Export:
    """Make an export beside its folder, with README and manifest, and move it into place whole."""
    _require_place(folder, form.name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        output = make(beside)
        readme = beside / README
        text = _readme(card, output.header, _account(release, form, output, beside))
        readme.write_text(text, encoding="utf-8")
        written = sorted([*output.export.files, readme])
        # what the README says, for programs, with the hash of each file
        manifest: dict[str, Any] = {
            "format": form.name,
            "release": release.name,
            "content_hash": release.content_hash,
            "rows": output.export.splits,
            "skipped": [one._asdict() for one in output.export.skipped],
            "names": output.export.names,
            "mended": output.export.mended,
            "canary": output.canary,
            "files": {path.relative_to(beside).as_posix(): hash_of(path) for path in written},
        }
        everything = (*output.export.files, readme, write_json(beside / MANIFEST, manifest))
        files = [folder / path.relative_to(beside) for path in everything]
        _move(beside, folder)
    finally:
        rmtree(beside, ignore_errors=True)
    return output.export._replace(files=files)


def _require_place(folder: Path, to: str) -> None:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    manifest = folder / MANIFEST
    if not manifest.is_file():
        problem = f"{folder} holds files that are not an export. Name another folder with --out."
        raise ConfigurationError(problem)
    other = orjson.loads(manifest.read_bytes()).get("format")
    if other != to:
        raise ConfigurationError(
            f"{folder} holds an export in the format {other!r}. Name another folder with --out."
        )


def _write(source: ReleaseStream, form: Format, folder: Path) -> _WrittenBeside:
    """Write sample by sample, each into the part of its split."""
    parts: dict[str, ReleaseSplit] = {}
    with ExitStack() as opened:
        certificate = opened.enter_context(closing(CertificateWriter(source, folder)))
        for split, sample in source.samples:
            with guarded(f"export format {form.name!r}", form.begin):
                if split not in parts:
                    parts[split] = opened.enter_context(ReleaseSplit(source, split, form, folder))
                part = parts[split]
                part.take(sample)
            part.certified += certificate.add(sample, split, part.written, part.names, part.canary)
        for part in parts.values():
            part.finish()
    listed = [parts[split] for split in in_order(parts)]
    written = [part for part in listed if part.rows]
    made = source.of_template.items()
    lost = Counter({LeftOutRow(kind, OF_TEMPLATE): number for kind, number in made})
    lost = sum((part.left_out for part in listed), lost)
    if lost and not written:
        reason = lost.most_common(1)[0][0].reason
        raise RecordError(f"Nothing is left to export: {reason.rstrip('.')}.")
    files = [path for part in written for path in part.files]
    files += form.complete(written, folder) if form.complete else []
    splits = {part.split: part.rows for part in written}
    names = next((part.names for part in listed if part.names is not None), None)
    certified = certificate.finish(form.name, files, names)
    files += certified.files
    mended = Counter[str]()
    for tool in source.tools.values() if any(part.is_mended for part in listed) else ():
        mended.update(wire_schema(tool).changes)
    return _WrittenBeside(
        Export(
            files,
            splits,
            [Skipped(*one, lost[one]) for one in sorted(lost)],
            names.document if names is not None else {},
            dict(sorted(mended.items())),
        ),
        {part.split: part.samples for part in written},
        next((part.canary for part in written if part.canary), ""),
        certified.counts,
        form.header(written) if form.header else {},
    )


def _readme(card: str, header: Mapping[str, JsonValue], account: str) -> str:
    """Return the card with the format's header fields, followed by a description of the export."""
    fields: dict[str, JsonValue] = {}
    body = card
    if card.startswith("---\n"):
        head, _, body = card.removeprefix("---\n").partition("\n---\n")
        fields = read_yaml(head) or {}
    fields |= header
    shown = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False)
    top = f"---\n{shown}---\n" if fields else ""
    return f"{top}{body.strip()}\n\n{account}".lstrip("\n")


def _account(
    release: Release, form: Format | TableFormat, made: _WrittenBeside, folder: Path
) -> str:
    """Return a description of the export: format, rows and files, omissions, the canary."""
    export = made.export
    names = ", ".join(_listed([path.relative_to(folder) for path in export.files]))
    about = f"Release `{release.name}` as `{form.name}`: {form.holds}. Read by {form.readers}."
    lines = ["## This export", "", about, "", "| split | samples | rows |", "|---|---:|---:|"]
    for split, rows in export.splits.items():
        lines.append(f"| {split or 'all'} | {made.samples[split]} | {rows} |")
    lines += ["", f"Files: {names}."]
    if made.certified["samples"]:
        told = ", ".join(f"{number} {name}" for name, number in made.certified.items())
        lines += ["", f"`{CERTIFICATE}` has what each sample claims and where it stands ({told})."]
        lines += [f"`python {VERIFIER} .` checks it; that needs jsonschema and not callwright."]
    if export.skipped:
        lines += ["", "| left out | of the kind | because |", "|---:|---|---|"]
        lines += [f"| {one.number} | {one.kind} | {one.reason} |" for one in export.skipped]
    if export.mended:
        lines += [
            "",
            "| tools | whose parameters are written otherwise, for readers |",
            "|---:|---|",
        ]
        lines += [f"| {number} | {change} |" for change, number in export.mended.items()]
    for word, renamed in export.names.items():
        if renamed:
            lines += ["", f"| {word} here | in the release |", "|---|---|"]
            lines += [f"| `{wire}` | `{own}` |" for wire, own in [*renamed.items()][:_MANY]]
            more = len(renamed) - _MANY
            lines += [f"| {more} more in `{MANIFEST}` | |"] * (more > 0)
    if made.canary:
        told = "Test samples are for measuring, never for training. This string marks them:"
        lines += ["", f"{told} `{made.canary}`"]
    return "\n".join(lines) + "\n"


_MANY = 20  # files of one folder that are not named one by one


def _listed(files: Sequence[Path]) -> list[str]:
    """Return files as a README names them: many of one folder as the folder and their number."""
    numbers = Counter(path.parent for path in files)
    names = [
        f"`{path.as_posix()}`"
        if numbers[path.parent] <= _MANY
        else f"`{path.parent.as_posix()}/` ({numbers[path.parent]} files)"
        for path in files
    ]
    return list(dict.fromkeys(names))


def _move(beside: Path, folder: Path) -> None:
    """Put a whole export into its place, and remove an older one once the new one is there."""
    beside.chmod(0o755)
    if not folder.exists():
        beside.replace(folder)
        return
    old = Path(mkdtemp(prefix=f".{folder.name}-old-", dir=folder.parent))
    for entry in list(folder.iterdir()):
        entry.replace(old / entry.name)
    for entry in sorted(beside.iterdir(), key=lambda one: one.name == MANIFEST):
        entry.replace(folder / entry.name)
    rmtree(old)
