"""Measure imports of documents: `python -m bench.documents FOLDER [--json]`.

Each document is imported into a new work folder by the command itself. Documents are the files
of the folder, or of each folder in it that has a `MAIN` file with the name of its document.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.processes import watch

_ENDINGS = frozenset({".json", ".yaml", ".yml"})
_COLUMNS = ("document", "MB", "entries", "tools", "problems", "seconds", "CPU seconds", "peak MB")


def documents_in(folder: Path) -> Iterator[Path]:
    """Yield the documents of a folder, the largest first."""
    found = [path for path in folder.iterdir() if path.is_file() and path.suffix in _ENDINGS]
    found += [
        main.parent / main.read_text(encoding="utf-8").strip() for main in folder.glob("*/MAIN")
    ]
    yield from sorted(found, key=lambda path: -path.stat().st_size)


def measured(path: Path) -> dict[str, Any]:
    """Import one document, and return its result and what it cost."""
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as home:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [
            sys.executable,
            "-m",
            "callwright",
            "tools",
            "import",
            "openapi",
            str(path),
            "--json",
        ]
        run = watch(command, {**os.environ, "CALLWRIGHT_HOME": home})  # noqa: TID251 - a command of its own needs all of it
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    known: dict[str, Any] = {"entries": 0, "tools": 0, "problems": []}
    if run.code == 0:
        known = json.loads(run.output[run.output.index("{") :])
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    figures = (
        path.name,
        round(path.stat().st_size / 1e6, 2),
        known["entries"],
        known["tools"],
        len(known["problems"]),
    )
    return dict(
        zip(
            _COLUMNS,
            (*figures, round(run.seconds, 1), round(cpu, 1), round(run.peak_mb)),
            strict=True,
        )
    )


def main() -> None:
    """Print a row for each document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    rows = [measured(path) for path in documents_in(asked.folder)]
    if asked.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}")
    for row in rows:
        print(f"| {' | '.join(str(value) for value in row.values())} |")


if __name__ == "__main__":
    main()
