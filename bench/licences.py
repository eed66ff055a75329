"""Write the table of what is installed with callwright, by licence: `python -m bench.licences`.

It goes to docs/licences.md. What each package says of itself is taken from its metadata.
"""

from collections import defaultdict
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PAGE = Path(__file__).parents[1] / "docs" / "licences.md"
_SHORT = {
    "Apache License 2.0": "Apache-2.0",
    "Apache License": "Apache-2.0",
    "Apache Software License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "Artistic License": "Artistic",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "BSD License": "BSD",
    "GNU General Public License (GPL)": "GPL",
    "GNU General Public License v2 or later (GPLv2+)": "GPL-2.0-or-later",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
# Libraries that wheels carry in a folder of their own, by the beginnings of their names.
_CARRIED = {
    "libav": "LGPL-2.1-or-later (FFmpeg)",
    "libavif": "",
    "libgfortran": "GPL-3.0-or-later with the GCC runtime exception",
    "libgmp": "LGPL-3.0-or-later OR GPL-2.0-or-later",
    "libquadmath": "LGPL-2.1-or-later",
    "libsw": "LGPL-2.1-or-later (FFmpeg)",
}


def write_page() -> str:
    """Return the page of licences, for the packages that are installed in this environment."""
    core, everything = packages_of(()), packages_of(("all",))
    by_licence: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(everything):
        by_licence[licence_of(distribution(name))].append(name)
    rows = []
    for licence, names in sorted(by_licence.items(), key=lambda row: (-len(row[1]), row[0])):
        ours = ", ".join(name for name in names if name in core)
        others = ", ".join(name for name in names if name not in core)
        rows.append(f"| {licence} | {ours} | {others} |")
    carried = [
        f"| {name} | {', '.join(libraries)} | {licence} |"
        for name in sorted(everything)
        for licence, libraries in carried_by(distribution(name)).items()
    ]
    return _PAGE.format(rows="\n".join(rows), carried="\n".join(carried))


def packages_of(extras: Iterable[str]) -> set[str]:
    """Return the names of all packages that callwright needs with these extras, itself excluded."""
    found: set[tuple[str, str]] = set()
    waiting = [("callwright", extra) for extra in ("", *extras)]
    while waiting:
        if (one := waiting.pop()) in found:
            continue
        found.add(one)
        name, extra = one
        for line in distribution(name).requires or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                package = canonicalize_name(needed.name)
                waiting += [(package, asked) for asked in ("", *needed.extras)]
    return {name for name, _ in found} - {"callwright"}


def licence_of(package: Distribution) -> str:
    """Return what a package says its licence is: an SPDX expression, or alternatives with OR."""
    about = package.metadata
    if expression := about.get_all("License-Expression"):
        return str(expression[0])
    named = [line for line in about.get_all("Classifier") or () if line.startswith("License ::")]
    names = [line.rsplit(" :: ", 1)[-1] for line in named]
    names = names or (about.get_all("License") or [_licence_text(package)])[0].split("\n")[:1]
    return " OR ".join(_SHORT.get(name, name) for name in names)


def _licence_text(package: Distribution) -> str:
    """Return the text of the licence file."""
    for file in package.files or ():
        if file.name.upper().startswith("LICENSE"):
            return file.read_text(encoding="utf-8").strip()
    return "not stated"


def carried_by(package: Distribution) -> dict[str, list[str]]:
    """Return the libraries in a package's wheel that are not permissive, by licence."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for file in package.files or ():
        if file.parent.name.endswith(".libs"):
            name = file.name.split("-")[0].split(".")[0]
            [*_, licence] = "", *(_CARRIED[one] for one in sorted(_CARRIED) if name.startswith(one))
            if licence and name not in found[licence]:
                found[licence].append(name)
    return {licence: sorted(names) for licence, names in found.items() if names}


def is_copyleft(licence: str) -> bool:
    """Whether a licence leaves no choice but the GPL, LGPL or AGPL."""
    return all("GPL" in choice for choice in licence.split(" OR "))


_PAGE = """# Licences

callwright is under the Apache License 2.0 (`LICENSE`). Nothing in it is copied from elsewhere, so it has no NOTICE.

No package that it installs, in the core or with the extra `all`, is under the GPL, LGPL or AGPL; a test checks it. The
MPL-2.0 is allowed: it covers changes to the package's own files only. Where a package offers a choice, the permissive
licence is taken (text-unidecode: Artistic). Label Studio, which `callwright review serve` installs into an environment
of its own, is a separate program (Apache-2.0) and brings psycopg (LGPL-3.0).

This page is written by `python -m bench.licences` from the metadata of the installed packages (Linux, x86_64).

| licence | core | extras |
|---|---|---|
{rows}

## Libraries inside wheels

Some packages carry compiled libraries of others, which are loaded at run time and can be replaced. These are not
permissive:

| package | libraries | licence |
|---|---|---|
{carried}
"""


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
