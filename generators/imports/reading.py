"""What reading published records shares: formats, samples from records, problems, and tools.

Each format of the table yields records one by one, so a file may be larger than memory. Both
`release import` and the `samples` of a recipe use this table.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson
from pydantic import JsonValue, ValidationError

from callwright.generators.catalogs.builder import CatalogBuilder
from callwright.generators.catalogs.catalog import Problem, ProblemKind, shown
from callwright.generators.catalogs.documents import DocumentItem
from callwright.language.packs import find_language
from callwright.llm.answer_schemas import without_nulls
from callwright.warehouse.errors import first_problem
from callwright.warehouse.exports.formats import MANIFEST
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
from callwright.warehouse.wire_names import NO_NAMES, WireNames

Fields = dict[str, JsonValue]
# of a record: written as text within JSON it may be twice as long, and a store reads 16 MiB at most
MOST_BYTES = 4 * 2**20
_MOST_FOLDERS = 2  # between an export's folder and its files
_IDS = ("id", "uuid", "key", "session_id")
CANARY = "canary"  # of our own exports: what marks test samples is no part of them


class Signals(NamedTuple):
    """A log's signals about a conversation: outcome, final error, user feedback ("" if none)."""

    outcome: str = ""
    error: str = ""
    feedback: str = ""


class AcceptedValues(NamedTuple):
    """All values that a data set accepts for an argument of a gold call, its own first.

    `turn` is the turn of the calls, `call` the call's place in it. `argument` is the argument's
    name, or the path of a member of its first value ("body.limit", "items[0].quantity").
    `may_lack`: the argument or member may be left out.
    """

    turn: int
    call: int
    argument: str
    values: tuple[JsonValue, ...]
    may_lack: bool = False


class ImportedRecord(NamedTuple):
    """A record as a sample with its tools; `sample` is None if unreadable, `problems` say why.

    `item` is the data set's own id of the record, "" if it has none; `accepted` lists what the
    data set accepts beside its gold, where it does. `line` is the line of the file where the record
    begins (0: unknown). `state` is what the world holds before the first call. `lacks_results`: the
    calls are made one after another, and what they return is not told, so that a value may come
    from there. `known` are all texts that may come from there, empty where nobody can list them.
    """

    where: str
    sample: Sample | None = None
    tools: tuple[Tool, ...] = ()
    problems: tuple[Problem, ...] = ()
    signals: Signals = Signals()
    item: str = ""
    accepted: tuple[AcceptedValues, ...] = ()
    line: int = 0
    state: JsonValue = None
    lacks_results: bool = False
    known: frozenset[str] = frozenset()

    @property
    def is_unreadable(self) -> bool:
        """Whether it has no sample, though its data set has gold for it."""
        return self.sample is None and any(one.kind != "no_gold" for one in self.problems)


class SampleFormat(NamedTuple):
    """A format of samples; `read` yields a path's records, the broken ones with their problems.

    `read` raises ConfigurationError if nothing is at the path.
    """

    name: str
    holds: str
    read: Callable[[Path], Iterable[ImportedRecord]]


SOURCES = Registry("sources", SampleFormat, "format of samples", "formats")


def read_source(form: SampleFormat, path: Path) -> Iterator[ImportedRecord]:
    """Yield the records of a file or folder in a format, each small enough to be kept.

    If an external reader yields something else, a broken record in its place says so. Raises
    ConfigurationError if nothing is at the path, or such a reader fails as a whole.
    """
    what = f"source {form.name!r}"
    is_large_by_key: dict[str, bool] = {}  # by the key of a tool: whether it is too large
    with guarded(what, form.read):
        for record in form.read(path):
            if not _is_record(record):
                problem_text = f"{whose(what, form.read)} gives {shown(record)}"
                yield broken(
                    str(path), f"{problem_text}; it gives an ImportedRecord for each record."
                )
                continue
            for tool in record.tools:
                is_large_by_key[tool.key] = (
                    is_large_by_key[tool.key]
                    if tool.key in is_large_by_key
                    else _is_too_large(tool)
                )
            too_large = any(is_large_by_key[tool.key] for tool in record.tools)
            if record.sample is None or not (too_large or _is_too_large(record.sample)):
                yield record
                continue
            held = "one of its tools" if too_large else "once it is read it"
            most = f"{held} is larger than {MOST_BYTES // 2**20} MiB"
            yield broken(record.where, f"It can't be kept: {most}; the record is left out.")


def read_samples(form: SampleFormat, path: Path) -> Iterator[ImportedRecord]:
    """Yield the records of `read_source`, unreadable if nobody knows what their calls return.

    They can be audited, but a conversation without its results is no sample.
    """
    for record in read_source(form, path):
        if record.sample is None or not record.lacks_results:
            yield record
            continue
        reason = "Its calls build on one another, and nobody knows what they return; it is left out"
        yield broken(record.where, f"{reason}.")


def _is_record(given: object) -> bool:
    """Whether an external reader returns a valid record."""
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
    """Return an unreadable record with its problem."""
    return ImportedRecord(problem.where, problems=(problem,), line=problem.line)


def broken(where: str, message: str) -> ImportedRecord:
    """Return an unreadable record, with the reason as a sentence."""
    return unread(Problem(where=where, kind="bad_record", message=message))


def read_each(
    rows: Iterable[DocumentItem | Problem], read: Callable[[DocumentItem], ImportedRecord]
) -> Iterator[ImportedRecord]:
    """Yield what `read` returns for each row; a broken row is an unreadable record."""
    for row in rows:
        if isinstance(row, Problem):
            yield unread(row)
        else:
            record = read(row)
            yield record._replace(line=row.line, item=record.item or item_of(row.value))


def item_of(row: JsonValue) -> str:
    """Return a row's own id, or the key of the sample that it was written of; "" if it has none."""
    fields = row if isinstance(row, dict) else {}
    return words(fields, *_IDS) or words(part(fields, "origin", "metadata"), *_IDS)


def names_beside(path: Path) -> WireNames:
    """Return the names on the wire that an export of ours says it uses; none elsewhere."""
    folders = (
        [path, *path.parents[:_MOST_FOLDERS]] if path.is_dir() else path.parents[:_MOST_FOLDERS]
    )
    manifest = next((one / MANIFEST for one in folders if (one / MANIFEST).is_file()), None)
    try:
        stated = orjson.loads(manifest.read_bytes()) if manifest else None
    except orjson.JSONDecodeError:
        stated = None
    return WireNames.read(stated.get("names")) if isinstance(stated, dict) else NO_NAMES


def add_result(turns: list[Turn], result: JsonValue) -> None:
    """Add a call's result to the last results, or as the first of new ones."""
    before = turns.pop() if turns and isinstance(turns[-1], ResultTurn) else None
    known = before.results if isinstance(before, ResultTurn) else ()
    turns.append(ResultTurn(results=(*known, result)))


class RecordReader:
    """Reads one record and collects its problems."""

    word = "record"

    def __init__(self, where: str, builder: CatalogBuilder) -> None:
        """Create a reader that adds tools to `builder` and reports problems at `where`."""
        self.where, self._builder = where, builder
        self.problems: list[Problem] = []
        self.is_readable = True

    def refuse(self, reason: str) -> None:
        """Report why the record can't be read."""
        self.is_readable = False
        self.note("bad_record", f"{reason}; the {self.word} is left out.")

    def note(self, kind: ProblemKind, message: str) -> None:
        """Report a problem of the record."""
        self.problems.append(Problem(where=self.where, kind=kind, message=message))

    def note_lost(self, fields: Iterable[str], known: Iterable[str], of: str = "") -> None:
        """Note fields that a sample can't hold, so an export would not give them back."""
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
        """Return the tools that `put` makes of a record's list; refuse it if one is unusable."""
        if not isinstance(listed, list):
            self.refuse(f"The {what} are {shown(listed)}, not a list")
            return ()
        before = len(self._builder.problems)
        built_tools = [
            put(stated, f"{self.where}/{field}/{at}") for at, stated in enumerate(listed)
        ]
        self.problems += self._builder.problems[before:]
        tools = tuple(tool for tool in built_tools if tool is not None)
        if len(tools) < len(built_tools):
            self.refuse(
                f"{len(built_tools) - len(tools)} of its {len(built_tools)} {what} can't be used"
            )
        return tools

    def calls_of(self, listed: list[JsonValue], *, closed: bool = True) -> Iterator[GoldCall]:
        """Yield the calls of a list of names with arguments, refusing anything else.

        If `closed`, further keys are refused too.
        """
        for item in listed:
            match item:
                case {"name": str(name), "arguments": dict(given), **rest} if name:
                    if not (closed and rest):
                        call = self._builder.own_call(GoldCall(tool=name, arguments=given))
                        yield self.unpadded(call, self._builder.tools_named(call.tool))
                        continue
            self.refuse(f"A call is {shown(item)}, not a name and arguments")

    def unpadded(self, call: GoldCall, tools: Sequence[Tool]) -> GoldCall:
        """Return a call without nulls that its tool does not take, and note which they were.

        Rows out of a table have them for each parameter of any other tool.
        """
        if not tools or None not in call.arguments.values():
            return call
        bare = without_padding(call, tools[-1])
        if dropped := sorted(call.arguments.keys() - bare.arguments.keys()):
            names = " and ".join(map(repr, dropped))
            self.note("unknown_field", f"Nulls that pad arguments are dropped: {names}.")
        return bare

    def imported(self, sample: Callable[[], Sample], tools: tuple[Tool, ...]) -> ImportedRecord:
        """Return the record with the sample that `sample` builds, unless it was refused."""
        sample_made = None
        if self.is_readable:
            try:
                sample_made = sample()
            except ValidationError as error:
                self.refuse(f"It can't be used: {first_problem(error)}")
        return ImportedRecord(
            self.where, sample_made, tools if sample_made else (), tuple(self.problems)
        )


def without_padding(call: GoldCall, tool: Tool) -> GoldCall:
    """Return a call without nulls that its tool does not take; what it requires stays."""
    taken = without_nulls(call.arguments, tool.parameters)
    kept = {
        name: one
        for name, one in call.arguments.items()
        if name in tool.required or (name in taken and (one is not None or name in tool.properties))
    }
    return call if len(kept) == len(call.arguments) else call.with_changes(arguments=kept)


def language_of_user(turns: Sequence[Turn]) -> Language:
    """Return the language that the user speaks."""
    return find_language(" ".join(turn.text for turn in turns if isinstance(turn, UserTurn)))


def parsed(value: JsonValue) -> JsonValue:
    """Parse a text as JSON; anything else, and text with inexact values, stays as it is."""
    if not isinstance(value, str):
        return value
    try:
        return read_json(value)
    except ValueError:
        return value


def items(value: JsonValue) -> list[JsonValue]:
    """Return the items of a list, or of its JSON text; [] if it is not a list."""
    held = parsed(value)
    return held if isinstance(held, list) else []


def objects(value: JsonValue) -> list[Fields]:
    """Return the items that are objects."""
    return [one for one in items(value) if isinstance(one, dict)]


def part(fields: Fields, *names: str) -> Fields:
    """Return the first of these fields that is an object, or its JSON text; {} if none is."""
    found = (parsed(fields.get(name)) for name in names)
    return next((one for one in found if isinstance(one, dict) and one), {})


def words(fields: Fields, *names: str) -> str:
    """Return the first of these fields that has a text or number, as text; "" if none has."""
    stated = (fields.get(name) for name in names)
    return next((str(one) for one in stated if isinstance(one, str | int | float)), "")
