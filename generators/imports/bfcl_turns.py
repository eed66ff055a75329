"""Read BFCL's questions of several turns: what is said, and the calls that are due at each turn.

The calls stand as Python text and are read, never run. What they return only BFCL's simulators
know: a record has the state in which its world begins, and no results. Functions that come at a
later turn stand beside the others from the beginning, because a sample has one list of tools, and
the calls that wait for them follow the words that ask for them.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder
from callwright.generators.catalogs.catalog import shown
from callwright.generators.catalogs.documents import DocumentItem, read_rows
from callwright.generators.catalogs.papers import put_bfcl_function
from callwright.generators.imports.reading import (
    Fields,
    ImportedRecord,
    RecordReader,
    items,
    language_of_user,
    objects,
    part,
    words,
)
from callwright.generators.taken import STAGE, kind_of_turns
from callwright.llm.written_calls import parse_python, python_value
from callwright.warehouse.json_text import keepable
from callwright.warehouse.records import CallTurn, GoldCall, Origin, Sample, Tool, Turn, UserTurn
from callwright.warehouse.wire_names import WireNames

DOCUMENTS = "multi_turn_func_doc"
_FILES = {  # of the documents of each class
    "GorillaFileSystem": "gorilla_file_system.json",
    "MathAPI": "math_api.json",
    "MessageAPI": "message_api.json",
    "TwitterAPI": "posting_api.json",
    "TicketAPI": "ticket_api.json",
    "TradingBot": "trading_bot.json",
    "TravelAPI": "travel_booking.json",
    "VehicleControlAPI": "vehicle_control.json",
}


def beside(file: Path, folder: str, name: str) -> Path | None:
    """Return the file `name` in a folder beside a file of questions or beside its folder."""
    places = (above / folder / name for above in (file.parent, file.parent.parent))
    return next((one for one in places if one.is_file()), None)


class TurnsReader:
    """Reads the questions of a file; the documents of each class are read once."""

    def __init__(self, file: Path, names: WireNames) -> None:
        """Create a reader of questions of `file`."""
        self._file = file
        self._builder = CatalogBuilder("bfcl", types_are_told=False, by_category=False, names=names)
        self._tools: dict[str, tuple[Tool, ...]] = {}

    def record(self, where: str, fields: Fields, truth: JsonValue) -> ImportedRecord:
        """Return a question's record."""
        reader = _QuestionReader(where, self._builder)
        tools: list[Tool] = []
        for name in map(str, items(fields.get("involved_classes"))):
            found = self._tools_of(name)
            if not found:
                reader.refuse(f"The folder {DOCUMENTS!r} has no document of {name!r}")
            tools += found
        excluded = items(fields.get("excluded_function"))
        return reader.record(
            fields, truth, tuple(tool for tool in tools if tool.name not in excluded)
        )

    def _tools_of(self, name: str) -> tuple[Tool, ...]:
        if name not in self._tools:
            file = beside(self._file, DOCUMENTS, _FILES.get(name, ""))
            rows = read_rows(file) if file else ()
            tools = (
                put_bfcl_function(row.value, row.where, name, "", self._builder)
                for row in rows
                if isinstance(row, DocumentItem)
            )
            self._tools[name] = tuple(tool for tool in tools if tool is not None)
        return self._tools[name]


class _QuestionReader(RecordReader):
    word = "question"

    def record(self, fields: Fields, truth: JsonValue, tools: tuple[Tool, ...]) -> ImportedRecord:
        by_name = {tool.name: tool for tool in tools}
        turns = [*self._turns(fields, truth, by_name)]
        record = self.imported(
            lambda: Sample(
                kind=kind_of_turns(turns),
                language=language_of_user(turns),
                category=" ".join(map(str, items(fields.get("involved_classes")))),
                candidates=tuple(tool.key for tool in tools),
                turns=tuple(turns),
                origin=Origin(stage=STAGE),
            ),
            tools,
        )
        return record._replace(state=fields.get("initial_config"), lacks_results=True)

    def _turns(self, fields: Fields, truth: JsonValue, tools: dict[str, Tool]) -> Iterator[Turn]:
        question, gold = items(fields.get("question")), items(truth)
        later = part(fields, "missed_function")
        if not question or len(question) != len(gold):
            self.refuse(f"It has {len(question)} turns and the gold of {len(gold)}")
        for number, (said, due) in enumerate(zip(question, gold, strict=False)):
            if str(number) in later:
                names = f"The functions {shown(later[str(number)])} come at turn {number + 1}"
                self.note("unknown_field", f"{names}, and stand beside the others here.")
            text = "\n".join(words(one, "content") for one in objects(said))
            if text:
                yield UserTurn(text=text)
            calls = tuple(self._call(str(one), tools) for one in items(due))
            if calls or str(number + 1) not in later:
                yield CallTurn(calls=calls)

    def _call(self, text: str, tools: dict[str, Tool]) -> GoldCall:
        """Return the call that a text is; values without a name have the order of the document."""
        match parse_python(text):
            case [ast.Expr(value=ast.Call(func=ast.Name(id=name)) as node)]:
                pass
            case _:
                self.refuse(f"The gold {text!r} is no call")
                return GoldCall(tool="-")
        order = tools[name].properties if name in tools else {}
        named: Fields = {}
        try:
            named |= zip(order, map(python_value, node.args), strict=False)
            named |= {str(one.arg): python_value(one.value) for one in node.keywords if one.arg}
            keepable(named)
        except (ValueError, RecursionError) as error:
            self.refuse(f"The gold {text!r} can't be read: {error}")
            return GoldCall(tool=name)
        if len(named) < len(node.args) + len(node.keywords):
            self.refuse(f"The gold {text!r} gives a value without a name, or one twice")
        return GoldCall(tool=name, arguments=named)
