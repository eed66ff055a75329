"""What reading a published record shares: the sample that comes of it, what was found wrong, and the tools it brings."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pydantic import JsonValue, ValidationError

from callwright.generators.catalogs.builder import CatalogBuilder
from callwright.generators.catalogs.catalog import Problem, ProblemKind, shown
from callwright.language.packs import main_language
from callwright.warehouse.records import Language, Sample, Tool, Turn, UserTurn

Fields = dict[str, JsonValue]
CANARY = "canary"  # of our own exports: what marks test samples is no part of them


class Signals(NamedTuple):
    """What a log tells of how a conversation went: its outcome, the error that ended it, its user's feedback; "" for nothing."""

    outcome: str = ""
    error: str = ""
    feedback: str = ""


class ImportedRecord(NamedTuple):
    """A record as a sample with its candidate tools; `sample` is None where it can't be read: `problems` say why."""

    where: str
    sample: Sample | None = None
    tools: tuple[Tool, ...] = ()
    problems: tuple[Problem, ...] = ()
    signals: Signals = Signals()


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
        """Note the fields that a sample has no place for, so that an export would not give them back."""
        if extra := sorted(set(fields) - {*known, CANARY}):
            self.note(
                "unknown_field", f"{of or f'The {self.word}'} has the fields {extra}, which a sample does not keep."
            )

    def tools_of(
        self, listed: JsonValue, field: str, put: Callable[[JsonValue, str], Tool | None], what: str = "functions"
    ) -> tuple[Tool, ...]:
        """The tools that `put` makes of a record's list of them; refused where one can't be used."""
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

    def imported(self, sample: Callable[[], Sample], tools: tuple[Tool, ...]) -> ImportedRecord:
        """The record as `sample` makes one of it, unless it was refused."""
        made = None
        if self.is_readable:
            try:
                made = sample()
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                self.refuse(f"Its {'.'.join(map(str, first['loc']))} can't be used: {first['msg']}")
        return ImportedRecord(self.where, made, tools if made else (), tuple(self.problems))


def language_of_user(turns: Sequence[Turn]) -> Language:
    """The language that the user speaks."""
    return main_language(" ".join(turn.text for turn in turns if isinstance(turn, UserTurn)))
