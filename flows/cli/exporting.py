"""`export`: a release in a format that others read."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callwright.flows.cli.screen import AsJson, Live, say, show, show_json

if TYPE_CHECKING:
    from callwright.warehouse.exports.formats import Export, Skipped
    from callwright.warehouse.store import Warehouse


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("export", epilog="Example: callwright export v1 --to openai --kind sQsA --out exported")(export)


def export(  # noqa: PLR0917 - typer reads each option from a parameter
    release: Annotated[str, typer.Argument(help="A release.")],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="For training: hf, nemo-gym, openai, sharegpt or trl. For measuring: bfcl, callnavi, complexfuncbench,"
            " confetti, hammerbench or inspect. Samples whole: parquet or records.",
        ),
    ],
    kind: Annotated[list[str] | None, typer.Option(help="Only samples of this kind; may be given again.")] = None,
    out: Annotated[Path | None, typer.Option(help="The folder to write; exports/RELEASE-FORMAT unless given.")] = None,
    live: Live = False,
    as_json: AsJson = False,
) -> None:
    """Write a release in a format that others read, with its card; what has no place there is counted.

    A release with splits makes a file or folder a split. The folder is the export's own: it is written beside and moved into
    place whole, and an older export in the same format goes.
    """
    from callwright.flows.settings import reading
    from callwright.warehouse.exports.formats import EXPORTS

    EXPORTS.named(to)  # before anything is read
    kinds = tuple(kind or ())
    with reading(live=live) as warehouse:
        counts = _counts(warehouse, release, kinds)
        written = _export(warehouse, release, to, out, counts)
    samples = sum(number for is_asked, number in counts.values() if is_asked)
    if as_json:
        found = written._asdict() | {"skipped": [one._asdict() for one in written.skipped]}
        show_json({"release": release, "format": to, "samples": samples, "rows": written.rows} | found)
        return
    for path in written.files:
        show(str(path))
    say(f"{written.rows} rows of {samples} samples{_split_words(written.splits)}.")
    for line in _skipped_lines(written.skipped):
        say(line)


def _counts(warehouse: "Warehouse", release: str, kinds: Sequence[str]) -> dict[str, tuple[bool, int]]:
    """Of each kind of a release whether it is asked for, and how many samples it has. Raises ConfigurationError."""
    from callwright.warehouse.errors import ConfigurationError
    from callwright.warehouse.releases import count_kinds

    known = count_kinds(warehouse, release)
    strange = [kind for kind in kinds if kind not in known]
    if strange:
        raise ConfigurationError(
            f"No sample of this release is of the kind {strange[0]!r}; the kinds are {', '.join(known)}."
        )
    return {kind: (not kinds or kind in kinds, number) for kind, number in known.items()}


def _export(
    warehouse: "Warehouse", release: str, to: str, out: Path | None, counts: dict[str, tuple[bool, int]]
) -> "Export":
    """Write what is asked for of a release that is as it was frozen."""
    from callwright.language.phrasebook import refusals
    from callwright.warehouse.cards import card_facts, render_card
    from callwright.warehouse.exports.formats import EXPORTS, export_release, export_tables
    from callwright.warehouse.exports.writing import TableFormat
    from callwright.warehouse.releases import require_intact, stream_release

    frozen = require_intact(warehouse, release)
    folder = out or Path("exports") / f"{frozen.file_name}-{to}"
    card = render_card(card_facts(warehouse, release))
    if isinstance(EXPORTS.named(to), TableFormat):
        kinds = [kind for kind, (is_asked, _) in counts.items() if is_asked]
        return export_tables(warehouse, frozen, folder, card, kinds)
    others = [kind for kind, (is_asked, _) in counts.items() if not is_asked]
    return export_release(stream_release(warehouse, release, without=others, refusals=refusals()), to, folder, card)


def _split_words(splits: dict[str, int]) -> str:
    named = [f"{split} {rows}" for split, rows in splits.items() if split]
    return f" ({', '.join(named)})" if named else ""


def _skipped_lines(skipped: "Sequence[Skipped]") -> Iterator[str]:
    """What an export leaves out, a line a reason: how many of which kinds."""
    by_reason: dict[str, list[Skipped]] = {}
    for one in skipped:
        by_reason.setdefault(one.reason, []).append(one)
    for reason, ones in by_reason.items():
        kinds = ", ".join(f"{one.kind} {one.number}" for one in sorted(ones))
        yield f"Left out {sum(one.number for one in ones)} ({kinds}): {reason.rstrip('.')}."
