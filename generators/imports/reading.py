"""What reading published records shares: the formats, the samples that come of records, what was
found wrong, their tools.

Each format of the table gives records one after another, so that a file may be larger than memory.
`release import` and the `samples` of a recipe read by this one table.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue, ValidationError

from callwright.generators.catalogs.builder import CatalogBuilder
from callwright.generators.catalogs.catalog import Problem, ProblemKind, shown
from callwright.generators.catalogs.documents import DocumentItem
from callwright.language.packs import main_language
from callwright.warehouse.errors import first_problem
from callwright.warehouse.json_text import read_json
from callwright.warehouse.records import (
    GoldCall,
    Language,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)
from callwright.warehouse.registry import Registry, guarded, whose

Fields = dict[str, JsonValue]
# of a record: written as text within JSON it may be twice as long, and a store reads 16 MiB at most
MOST_BYTES = 4 * 2**20
CANARY = "canary"  # of our own exports: what marks test samples is no part of them


class Signals(NamedTuple):
    """What a log tells of how a conversation went: its outcome, the error that ended it, its
    user's feedback; "" for nothing.
    """

    outcome: str = ""
    error: str = ""
    feedback: str = ""


class ImportedRecord(NamedTuple):
    """A record as a sample with its candidate tools; `sample` is None where it can't be read:
    `problems` say why.
    """

    where: str
    sample: Sample | None = None
    tools: tuple[Tool, ...] = ()
    problems: tuple[Problem, ...] = ()
    signals: Signals = Signals()


class SampleFormat(NamedTuple):
    """A format that samples are read from; `read` gives the records of a file or folder, the broken
    ones with what is wrong.

    It raises ConfigurationError where nothing is at the path.
    """

    name: str
    holds: str
    read: Callable[[Path], Iterable[ImportedRecord]]


SOURCES = Registry("sources", SampleFormat, "format of samples", "formats")


def read_source(form: SampleFormat, path: Path) -> Iterator[ImportedRecord]:
    """The records of a file or folder in a format, each of a size that can be kept.

    What is no record, where somebody else's reader gives that, says so in the place of one. Raises
    ConfigurationError where nothing is at the path, or such a reader breaks down as a whole.
    """
    what = f"source {form.name!r}"
    known: dict[str, bool] = {}  # by the key of a tool: whether it is too large
    with guarded(what, form.read):
        for record in form.read(path):
            if not _is_record(record):
                told = f"{whose(what, form.read)} gives {shown(record)}"
                yield broken(str(path), f"{told}; it gives an ImportedRecord for each record.")
                continue
            for tool in record.tools:
                known[tool.key] = known[tool.key] if tool.key in known else _is_too_large(tool)
            too_large = any(known[tool.key] for tool in record.tools)
            if record.sample is None or not (too_large or _is_too_large(record.sample)):
                yield record
                continue
            held = "one of its tools" if too_large else "once it is read it"
            most = f"{held} is larger than {MOST_BYTES // 2**20} MiB"
            yield broken(record.where, f"It can't be kept: {most}; the record is left out.")


def _is_record(given: object) -> bool:
    """Whether a reader of somebody else's gives what it should."""
    return (
        isinstance(given, ImportedRecord)
        and isinstance(given.where, str)
        and isinstance(given.sample, Sample | None)
        and isinstance(given.signals, Signals)
        and all(isinstance(one, str) for one in given.signals)
        and all(isinstance(one, Tool) for one in given.tools)
        and all(isinstance(one, Problem) for one in given.problems)
    )


def _is_too_large(record: Sample | Tool) -> bool:
    return len(record.model_dump_json()) > MOST_BYTES


def unread(problem: Problem) -> ImportedRecord:
    """A record that can't be read, with what is wrong."""
    return ImportedRecord(problem.where, problems=(problem,))


def broken(where: str, message: str) -> ImportedRecord:
    """A record that can't be read, with why in a sentence."""
    return unread(Problem(where=where, kind="bad_record", message=message))


def read_each(
    rows: Iterable[DocumentItem | Problem], read: Callable[[DocumentItem], ImportedRecord]
) -> Iterator[ImportedRecord]:
    """What `read` makes of each row; a broken one is a record that can't be read."""
    for row in rows:
        yield unread(row) if isinstance(row, Problem) else read(row)


def add_result(turns: list[Turn], result: JsonValue) -> None:
    """Add what a call returned: to the results that stand last, or as the first of new ones."""
    before = turns.pop() if turns and isinstance(turns[-1], ResultTurn) else None
    known = before.results if isinstance(before, ResultTurn) else ()
    turns.append(ResultTurn(results=(*known, result)))


class RecordReader:
    """Reads one record, and gathers what is wrong with it."""

    word = "record"

    def __init__(self, where: str, builder: CatalogBuilder) -> None:
        """Tools go to `builder`; what is noted is noted at `where`."""
        self.where, self._builder = where, builder
        self.problems: list[Problem] = []
        self.is_readable = True

    def refuse(self, reason: str) -> None:
        """Note why the record can't be read."""
        self.is_readable = False
        self.note("bad_record", f"{reason}; the {self.word} is left out.")

    def note(self, kind: ProblemKind, message: str) -> None:
        """Note what is odd about the record."""
        self.problems.append(Problem(where=self.where, kind=kind, message=message))

    def note_lost(self, fields: Iterable[str], known: Iterable[str], of: str = "") -> None:
        """Note the fields that a sample has no place for, so that an export would not give them
        back.
        """
        if extra := sorted(set(fields) - {*known, CANARY}):
            told = of or f"The {self.word}"
            self.note(
                "unknown_field", f"{told} has the fields {extra}, which a sample does not keep."
            )

    def tools_of(
        self,
        listed: JsonValue,
        field: str,
        put: Callable[[JsonValue, str], Tool | None],
        what: str = "functions",
    ) -> tuple[Tool, ...]:
        """The tools that `put` makes of a record's list of them; refused where one can't be
        used.
        """
        if not isinstance(listed, list):
            self.refuse(f"The {what} are {shown(listed)}, not a list")
            return ()
        before = len(self._builder.problems)
        made = [put(stated, f"{self.where}/{field}/{at}") for at, stated in enumerate(listed)]
        self.problems += self._builder.problems[before:]
        tools = tuple(tool for tool in made if tool is not None)
        if len(tools) < len(made):
            self.refuse(f"{len(made) - len(tools)} of its {len(made)} {what} can't be used")
        return tools

    def calls_of(self, listed: list[JsonValue], *, closed: bool = True) -> Iterator[GoldCall]:
        """The calls of a list of names with arguments; refused where one is none, or has more
        than these if `closed`.
        """
        for stated in listed:
            match stated:
                case {"name": str(name), "arguments": dict(given), **rest} if name:
                    if not (closed and rest):
                        yield GoldCall(tool=name, arguments=given)
                        continue
            self.refuse(f"A call is {shown(stated)}, not a name and arguments")

    def imported(self, sample: Callable[[], Sample], tools: tuple[Tool, ...]) -> ImportedRecord:
        """The record as `sample` makes one of it, unless it was refused."""
        made = None
        if self.is_readable:
            try:
                made = sample()
            except ValidationError as error:
                self.refuse(f"It can't be used: {first_problem(error)}")
        return ImportedRecord(self.where, made, tools if made else (), tuple(self.problems))


def language_of_user(turns: Sequence[Turn]) -> Language:
    """The language that the user speaks."""
    return main_language(" ".join(turn.text for turn in turns if isinstance(turn, UserTurn)))


def parsed(value: JsonValue) -> JsonValue:
    """The JSON that a text states; anything else as it is, a text as well of which the values
    would not stay exact.
    """
    if not isinstance(value, str):
        return value
    try:
        return read_json(value)
    except ValueError:
        return value


def items(value: JsonValue) -> list[JsonValue]:
    """The items of a list, or of the JSON text of one; [] where it is none."""
    held = parsed(value)
    return held if isinstance(held, list) else []


def objects(value: JsonValue) -> list[Fields]:
    """The items that are objects."""
    return [one for one in items(value) if isinstance(one, dict)]


def part(fields: Fields, *names: str) -> Fields:
    """The first of these fields that is an object, or the JSON text of one; {} where none is."""
    found = (parsed(fields.get(name)) for name in names)
    return next((one for one in found if isinstance(one, dict) and one), {})


def words(fields: Fields, *names: str) -> str:
    """The first of these fields that says something, as text; "" where none does."""
    stated = (fields.get(name) for name in names)
    return next((str(one) for one in stated if isinstance(one, str | int | float)), "")
