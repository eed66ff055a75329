"""Documents of several files read as one: references to files beside a document are followed, inside its folder only.

Each file that is referred to is kept once, under `x-files` of the document, and each reference to it becomes a local one; so
whatever reads the document needs no file any more. Nothing is fetched over the network, and nothing outside of the folder is read,
by no `..` and no link of the file system. What can't be followed stays as it is, and is reported.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote, unquote

from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Problem, shown
from callwright.generators.catalogs.documents import LARGEST, parse_json_or_yaml, read_text
from callwright.warehouse.errors import ConfigurationError

FILES = "x-files"
MOST_FILES = 5_000
_OUTSIDE = re.compile(r"""\$ref["']?\s*:\s*["']?[^#"'\s]""")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
Fields = dict[str, JsonValue]


class Bundle(NamedTuple):
    """A document with all that it refers to, the files that it was read from, and what could not be followed."""

    document: JsonValue
    files: tuple[Path, ...]
    problems: tuple[Problem, ...]


def read_bundle(path: Path) -> Bundle:
    """The document at `path` with the files that it refers to. Raises ConfigurationError where it can't be read itself."""
    text = read_text(path)
    document = text if isinstance(text, Problem) else parse_json_or_yaml(text, str(path))
    if isinstance(document, Problem):
        raise ConfigurationError(document.message)
    if not isinstance(document, dict) or isinstance(text, Problem) or not _OUTSIDE.search(text):
        return Bundle(document, (path,), ())
    bundling = _Bundling(path, len(text))
    bundling.follow_all(document, path)
    whole = {**document, FILES: bundling.kept} if bundling.kept else document
    return Bundle(whole, (path, *bundling.files), tuple(bundling.problems))


class _UnfollowedError(Exception):
    """Why a reference is not followed; never leaves this module."""


class _Bundling:
    """One document's files: those read so far, by their place in the folder, and those yet to be looked through."""

    def __init__(self, path: Path, size: int) -> None:
        self.kept: Fields = {}
        self.files: list[Path] = []
        self.problems: list[Problem] = []
        self._folder = path.absolute().parent.resolve()
        self._root = path.resolve()
        self._left = LARGEST - size
        self._unfollowed: set[tuple[str, str]] = set()
        self._waiting: list[tuple[JsonValue, Path]] = []

    def follow_all(self, document: JsonValue, path: Path) -> None:
        """Make every reference of the document, and of the files that it leads to, a local one."""
        self._waiting.append((document, path))
        while self._waiting:
            value, file = self._waiting.pop()
            for owner in _referring(value):
                self._follow(owner, file)

    def _follow(self, owner: Fields, file: Path) -> None:
        stated = str(owner["$ref"])
        is_root = file.resolve() == self._root
        if stated.startswith("#"):
            owner["$ref"] = stated if is_root else f"#/{FILES}/{self._name(file.resolve())}{stated[1:]}"
            return
        name, _, pointer = stated.partition("#")
        try:
            target = self._target(name, file)
        except _UnfollowedError as error:
            if (str(file), stated) not in self._unfollowed:
                self._unfollowed.add((str(file), stated))
                message = f"The reference {shown(stated)} is not followed: {error}."
                self.problems.append(Problem(where=str(file), kind="unresolvable_reference", message=message))
            return
        owner["$ref"] = f"#{pointer}" if target == self._root else f"#/{FILES}/{self._name(target)}{pointer}"

    def _target(self, name: str, file: Path) -> Path:
        """The file that a reference names, read if it was not yet."""
        if _ADDRESS.match(name):
            raise _UnfollowedError("nothing is fetched over the network")
        try:
            target = (file.resolve().parent / unquote(name)).resolve()
            if not target.is_relative_to(self._folder):
                raise _UnfollowedError("it leads out of the document's folder")
            if not target.is_file():
                raise _UnfollowedError("there is no such file")
        except (
            OSError,
            RuntimeError,
            ValueError,
        ) as error:  # a name that no system allows, or links that go in a circle
            raise _UnfollowedError(f"it can't be looked at ({error})") from error
        if target != self._root and self._place(target) not in self.kept:
            self._read(target)
        return target

    def _read(self, target: Path) -> None:
        if len(self.files) >= MOST_FILES:
            raise _UnfollowedError(f"the document has more than {MOST_FILES} files")
        text = read_text(target)
        value = text if isinstance(text, Problem) else parse_json_or_yaml(text, str(target))
        if isinstance(value, Problem) or isinstance(text, Problem):
            raise _UnfollowedError(value.message.rstrip(".") if isinstance(value, Problem) else "it can't be read")
        self._left -= len(text)
        if self._left < 0:
            raise _UnfollowedError(f"the document's files are larger than {LARGEST // 2**20} MiB")
        self.files.append(target)
        self.kept[self._place(target)] = value
        self._waiting.append((value, target))

    def _place(self, target: Path) -> str:
        return str(PurePosixPath(target.relative_to(self._folder)))

    def _name(self, target: Path) -> str:
        """A file's place as a step of a JSON pointer in a reference."""
        return quote(self._place(target).replace("~", "~0").replace("/", "~1"))


def _referring(value: JsonValue) -> Iterator[Fields]:
    """Every object inside `value` that is a reference, found without recursion."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            waiting += found.values()
            if isinstance(found.get("$ref"), str):
                yield found
        elif isinstance(found, list):
            waiting += found
