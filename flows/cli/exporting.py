"""`export`: a release in a format that others read."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callwright.flows.cli.screen import AsJson, Live, say, show, show_json

if TYPE_CHECKING:
    from callwright.warehouse.exports.formats import Skipped


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("export", epilog="Example: callwright export v1 --to openai --kind sQsA --out exported")(export)


def export(  # noqa: PLR0913, PLR0917 - typer reads each option from a parameter
    release: Annotated[str, typer.Argument(help="A release.")],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="For training: hf, nemo-gym, openai, sharegpt or trl. For measuring: bfcl, callnavi, complexfuncbench,"
            " confetti, hammerbench or inspect. Samples whole: parquet or records. One of your own: FILE.py:NAME.",
        ),
    ],
    kind: Annotated[list[str] | None, typer.Option(help="Only samples of this kind; may be given again.")] = None,
    out: Annotated[Path | None, typer.Option(help="The folder to write; exports/RELEASE-FORMAT unless given.")] = None,
    with_template: Annotated[
        bool, typer.Option("--with-template", help="In a format for training, also what template/v1 worded.")
    ] = False,
    live: Live = False,
    as_json: AsJson = False,
) -> None:
    """Write a release in a format that others read, with its card; what has no place there is counted.

    What the template model worded, or alone judged, is left out of formats for training: it is for trying out.
    A release with splits makes a file or folder a split. The folder is the export's own: it is written beside and moved into
    place whole, and an older export in the same format goes.
    """
    from callwright.flows.api.releases import WorkFolder, load_from
    from callwright.flows.api.surroundings import settings_of
    from callwright.warehouse.exports.formats import format_of

    format_of(to)  # before anything is read
    folder = WorkFolder(settings_of(None), live=live)
    with folder.opened():  # one copy for all that is read
        loaded = load_from(folder, release)
        written = loaded.export(to, out, kinds=kind or (), with_template=with_template)
        samples = sum(number for name, number in loaded.count_kinds().items() if not kind or name in kind)
    if as_json:
        found = written._asdict() | {"skipped": [one._asdict() for one in written.skipped]}
        show_json({"release": release, "format": to, "samples": samples, "rows": written.rows} | found)
        return
    for path in written.files:
        show(str(path))
    say(f"{written.rows} rows of {samples} samples{_split_words(written.splits)}.")
    for line in _skipped_lines(written.skipped):
        say(line)


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
