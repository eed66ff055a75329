"""Tables whose rows come from entry points: callwright's, other packages', and a file's.

A table is a group of entry points, for example `callwright.exports`. Names are read without
importing anything, and a row is loaded when it is first asked for. A row of another package that
can't be used is skipped and reported; one of ours is an error.
"""

import ast
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property, partial
from hashlib import blake2b
from importlib.machinery import SourceFileLoader
from importlib.metadata import Distribution, EntryPoint, entry_points
from itertools import takewhile
from pathlib import Path
from types import CodeType, ModuleType, UnionType
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from callwright.warehouse.errors import CallwrightError, ConfigurationError

OWN = "callwright"  # the package whose rows are ours


class Named(Protocol):
    """A row of a table: anything with the name by which it is requested."""

    @property
    def name(self) -> str:
        """The name, which is also the name of its entry point."""


class Plugin(NamedTuple):
    """A row from another package; `problem` says why it cannot be used, or "" if it can."""

    table: str
    name: str
    package: str
    problem: str = ""


class PluginError(ConfigurationError):
    """A row from an entry point or a file cannot be used."""


Row = TypeVar("Row", bound=Named)


class Source(NamedTuple):
    """Where a row comes from if not from a package: `path.py:name`, and its file's content key."""

    place: str
    digest: str


class Registry(Generic[Row]):
    """A table of rows by name: ours by `first`, then by name; then packages', then files'.

    >>> EXPORTS = Registry("exports", Format, "export format", "formats")
    >>> EXPORTS.named("openai").holds
    'rows for fine-tuning, …'
    """

    def __init__(
        self,
        table: str,
        form: type[Row] | UnionType,
        noun: str,
        nouns: str,
        *,
        first: Sequence[str] = (),
        problem_of: Callable[[Row, Sequence[Row]], str] = lambda _row, _others: "",
    ) -> None:
        """Read the entry points `callwright.{table}`, whose rows are of the class `form`.

        `problem_of` says why a row cannot follow those before it, or "" if it can.
        """
        self.table, self.form = table, form
        self._noun, self._nouns, self._first = noun, nouns, tuple(first)
        self._problem_beside = problem_of
        self._loaded: dict[str, Row] = {}
        self._all: tuple[Row, ...] = ()  # all rows, () where one was added since
        self.version = 0  # another one when a row was added
        self._added: dict[str, tuple[Source, Row]] = {}
        self._broken: dict[tuple[str, str], str] = {}  # by name and package

    @cached_property
    def _entries(self) -> dict[str, EntryPoint]:
        """Return the entry points by name; the first one with a name keeps it."""
        entries_by_name: dict[str, EntryPoint] = {}
        for entry in sorted(entry_points(group=f"{OWN}.{self.table}"), key=self._position):
            if entry.name not in entries_by_name:
                entries_by_name[entry.name] = entry
            elif entries_by_name[entry.name].value != entry.value:
                taken = (
                    "callwright itself"
                    if _is_own(entries_by_name[entry.name])
                    else package_of(entries_by_name[entry.name])
                )
                self._pass_over(
                    entry, f"{taken} has one of this name, so that it needs another name"
                )
        return entries_by_name

    def _position(self, entry: EntryPoint) -> tuple[bool, int, str, str]:
        at = self._first.index(entry.name) if entry.name in self._first else len(self._first)
        return not _is_own(entry), at, entry.name, package_of(entry)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the rows, loading none; loaded ones that can't be used are left out."""
        sound = [
            name
            for name, one in self._entries.items()
            if (name, package_of(one)) not in self._broken
        ]
        return tuple(dict.fromkeys((*sound, *self._added)))

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self.names)

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        """Whether there is a row of this name."""
        return name in self.names

    def is_own(self, name: str) -> bool:
        """Whether callwright itself provides the row of this name."""
        return name not in self._added and name in self._entries and _is_own(self._entries[name])

    def named(self, name: str) -> Row:
        """Return the row of this name.

        Raises ConfigurationError that lists the known names, or says what is wrong with it.
        """
        if name in self._added:
            return self._added[name][1]
        entry = self._entries.get(name)
        if entry is None:
            known = ", ".join(self.names)
            raise ConfigurationError(
                f"There is no {self._noun} {name!r}; the {self._nouns} are {known}."
            )
        row = self._load(entry)
        if row is None:
            raise PluginError(self._broken[name, package_of(entry)])
        return row

    def rows(self) -> tuple[Row, ...]:
        """Return all rows, in order, skipping those that cannot be used."""
        if not self._all:
            for entry in self._entries.values():
                self._load(entry)
            self._all = tuple(self.named(name) for name in self.names)
        return self._all

    def plugins(self) -> tuple[Plugin, ...]:
        """Return the rows from other packages; each is loaded to check that it can be used."""
        self.rows()
        others = (
            (name, package_of(entry)) for name, entry in self._entries.items() if not _is_own(entry)
        )
        sound = [Plugin(self.table, *one) for one in others if one not in self._broken]
        return (
            *sound,
            *(Plugin(self.table, *one, problem) for one, problem in self._broken.items()),
        )

    def add(self, row: Row, source: "Source") -> None:
        """Add a row for this process, replacing one from the same place or of the same content.

        Raises ConfigurationError if the name is taken, or the row can't stand beside others.
        """
        taken = package_of(self._entries.get(row.name))
        if row.name in self._added:
            before, known = self._added[row.name]
            if known is row:
                return
            taken = (
                ""
                if before.place == source.place or before.digest == source.digest
                else before.place
            )
        if taken:
            raise PluginError(
                f"{source.place}: its name {row.name!r} is taken: there is the {self._noun} of"
                f" {taken}. Give it another name."
            )
        others = [one for one in self.rows() if one.name != row.name]
        if problem := self._problem_beside(row, others):
            raise PluginError(
                f"{source.place}: the {self._noun} {row.name!r} can't be used: {problem}."
            )
        self._added[row.name] = (source, row)
        self._change()

    def source_of(self, name: str) -> "Source | None":
        """Return the source of a row from a file, or None for other rows."""
        return self._added[name][0] if name in self._added else None

    def clear(self) -> None:
        """Remove all rows that were added."""
        if self._added:
            self._added = {}
            self._change()

    @contextmanager
    def including(self, row: Row) -> Iterator[None]:
        """Add a row to the table, or replace the one with its name, while a block runs."""
        before = self._added.get(row.name)
        self._added[row.name] = (Source("a block of code", ""), row)
        self._change()
        try:
            yield
        finally:
            self._added.pop(row.name)
            if before:
                self._added[row.name] = before
            self._change()

    def _change(self) -> None:
        self._all, self.version = (), self.version + 1

    def _load(self, entry: EntryPoint) -> Row | None:
        """Return the row of an entry point, or None if another package's cannot be used.

        Raises PluginError if callwright's own cannot.
        """
        if entry.name in self._loaded or (entry.name, package_of(entry)) in self._broken:
            return self._loaded.get(entry.name)
        try:
            self._loaded[entry.name] = self._checked(entry)
        except PluginError as error:
            if _is_own(entry):
                raise PluginError(
                    f"callwright's own {self._noun} {entry.name!r} can't be used: {error}. Install"
                    " callwright again."
                ) from error
            self._pass_over(entry, str(error))
        return self._loaded.get(entry.name)

    def _pass_over(self, entry: EntryPoint, wrong: str) -> None:
        self._broken[entry.name, package_of(entry)] = (
            f"The {self._noun} {entry.name!r} of the package {package_of(entry)} can't be used:"
            f" {wrong}. Update or remove that package; callwright goes on without it."
        )

    def _checked(self, entry: EntryPoint) -> Row:
        try:
            row: Any = importlib.import_module(entry.module)
        except (Exception, SystemExit) as error:  # - others' code may raise anything
            if _is_own(entry):
                raise
            missing = error.name if isinstance(error, ModuleNotFoundError) else None
            if missing and f"{entry.module}.".startswith(f"{missing}."):
                raise PluginError(f"there is no module {missing!r} for `{entry.value}`") from error
            raise PluginError(f"importing {entry.module!r} raised {raised(error)}") from error
        for part in entry.attr.split("."):
            if not hasattr(row, part):
                raise PluginError(f"there is no {part!r} in the module {entry.module!r}")
            row = getattr(row, part)
        problem = self._problem_of(row)
        if not problem and row.name != entry.name:
            problem = f"it calls itself {row.name!r}, and must bear the name of its entry point"
        before = takewhile(lambda name: name != entry.name, self._entries)
        problem = problem or self._problem_beside(
            row, [self._loaded[one] for one in before if one in self._loaded]
        )
        if problem:
            raise PluginError(f"`{entry.value}`: {problem}")
        loaded: Row = row
        return loaded

    def _problem_of(self, row: object) -> str:
        if isinstance(row, self.form):
            return ""
        description = (
            f"it is the class {row.__name__} itself"
            if isinstance(row, type)
            else f"it is a {type(row).__name__}"
        )
        wanted = " or ".join(
            f"{one.__module__}.{one.__qualname__}" for one in classes_of(self.form)
        )
        return f"{description}, and must be an object of {wanted}"


@cache
def _name_and_version(package: Distribution) -> tuple[str, str]:
    """Return a package's name and version, read once because reading metadata is slow."""
    return package.name, package.version


def _is_own(entry: EntryPoint) -> bool:
    return entry.dist is not None and _name_and_version(entry.dist)[0] == OWN


def package_of(entry: EntryPoint | None) -> str:
    """Return the package of an entry point, with its version, or "" if there is none."""
    return (
        " ".join(_name_and_version(entry.dist))
        if entry is not None and entry.dist is not None
        else ""
    )


def classes_of(form: "type[Any] | UnionType") -> tuple[type[Any], ...]:
    """Return the classes that rows may have."""
    return form.__args__ if isinstance(form, UnionType) else (form,)


def raised(error: BaseException, file: str = "") -> str:
    """Return an error's type and message with the line that raised it, for looking it up.

    If `file` is given, it is the last line in that file.

    >>> raised(error)
    "ZeroDivisionError: division by zero (/home/me/plugin.py:3)"
    """
    frames = [
        one
        for one in traceback.extract_tb(error.__traceback__)
        if not one.filename.startswith("<frozen")
    ]
    if isinstance(error, SyntaxError) and error.filename:
        where, message = f"{error.filename}:{error.lineno}", error.msg
    else:
        last = next(
            (one for one in reversed(frames) if one.filename == file),
            frames[-1] if frames else None,
        )
        where, message = (f"{last.filename}:{last.lineno}" if last else ""), str(error)
    return f"{type(error).__name__}: {message}".removesuffix(": ") + (
        f" ({where})" if where else ""
    )


def is_ours(function: object) -> bool:
    """Whether a function is callwright's own, not another package's or a file's."""
    return str(getattr(function, "__module__", "")).partition(".")[0] == OWN


def whose(what: str, function: object, error: BaseException | None = None) -> str:
    """Return the start of a sentence to a function's author: what it is, with its file and line.

    The line is the last one in its file that `error` came through, else the function's first.

    >>> whose("source 'mine'", read)
    "Your source 'mine' (/home/me/my_log.py:7)"
    """
    while isinstance(function, partial):
        function = function.func
    function = inspect.unwrap(function) if callable(function) else function
    code = getattr(function, "__code__", None)
    frames = traceback.extract_tb(error.__traceback__) if error else ()
    if code is None:
        return (
            f"Your {what} ({frames[-1].filename}:{frames[-1].lineno})" if frames else f"Your {what}"
        )
    lines = [one.lineno for one in frames if one.filename == code.co_filename]
    return f"Your {what} ({code.co_filename}:{lines[-1] if lines else code.co_firstlineno})"


def blame(what: str, function: object, error: BaseException) -> str:
    """Return what a user's function raised, in a sentence to its author.

    >>> blame("source 'mine'", read, error)
    "Your source 'mine' (/home/me/my_log.py:7) raised KeyError: 'chat'"
    """
    return f"{whose(what, function, error)} raised {type(error).__name__}: {error}"


@contextmanager
def guarded(what: str, function: object) -> Iterator[None]:
    """Turn what another package's row raises in this block into a ConfigurationError.

    It names the file and line. If a row of ours raises, that is a bug, and the error passes
    through.
    """
    try:
        yield
    except (CallwrightError, OSError):
        raise
    except Exception as error:
        if is_ours(function):
            raise
        raise ConfigurationError(f"{blame(what, function, error)}.") from error


class FileRow(NamedTuple):
    """A row from a file: its source, the line, and the object under that name in the file."""

    source: Source
    line: int
    row: object


class _SourceAlone(SourceFileLoader):
    """A loader that reads a file in its current state and neither uses nor leaves compiled code."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


_modules: dict[Path, tuple[str, ModuleType]] = {}  # the files that were run, by what they held then


def file_of(reference: str, folder: Path) -> tuple[Path, str]:
    """Return the file and the name in `path.py:name`, with the path relative to `folder`.

    Raises PluginError if it is not of that form.
    """
    path, colon, name = reference.rpartition(":")
    if not (colon and path.endswith(".py") and name.isidentifier()):
        raise PluginError(
            f"{reference!r} must be a file and a name in it, such as 'my_kind.py:FAMILY'"
        )
    return (folder / path).absolute(), name


def row_in_file(path: Path, name: str) -> FileRow:
    """Return the object under a name in a file, which runs once while its content is unchanged.

    Raises PluginError, with the file and the line, if there is no such file or name, or if
    running it raises.
    """
    module = _run(path)
    if not hasattr(module, name):
        names = [one for one in vars(module) if one.isupper() and not one.startswith("_")]
        there = f"; the names in capitals there are {', '.join(names)}" if names else ""
        raise PluginError(f"{path}: there is no {name!r} in this file{there}")
    line = (
        1  # where the name is last given a value at the top of the file, 1 where it is hard to tell
    )
    for node in ast.parse(path.read_bytes()).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if getattr(node, "name", "") == name or any(
            isinstance(one, ast.Name) and one.id == name for one in targets
        ):
            line = node.lineno
    return FileRow(Source(f"{path}:{name}", digest_of(path)), line, getattr(module, name))


def digest_of(path: Path) -> str:
    """Return the key of a file's content. Raise PluginError if it cannot be read."""
    try:
        return blake2b(path.read_bytes(), digest_size=16).hexdigest()
    except OSError as error:
        raise PluginError(f"{str(path)!r} can't be read: {error.strerror}") from error


def _run(path: Path) -> ModuleType:
    digest = digest_of(path)
    before, module = _modules.get(path, ("", None))
    if module is not None and before == digest:
        return module
    name = f"_callwright_file_{path.stem}_{blake2b(bytes(path), digest_size=8).hexdigest()}"
    loader = _SourceAlone(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader, origin=str(path))
    if spec is None:  # never, for a loader that is given
        raise PluginError(f"{str(path)!r} can't be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # classes of the file are found by it
    try:
        loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise PluginError(f"{path}: running this file raised {raised(error, str(path))}") from error
    _modules[path] = (digest, module)
    return module
