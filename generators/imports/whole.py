"""Read back exports with whole samples: records, Parquet tables, and Hugging Face folders."""

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import JsonValue, ValidationError

from callwright.generators.catalogs.catalog import shown
from callwright.generators.catalogs.documents import DocumentItem, read_rows
from callwright.generators.imports.chats import ChatReader, ChatRow, sample_files
from callwright.generators.imports.reading import (
    ImportedRecord,
    RecordReader,
    SampleFormat,
    add_result,
    broken,
    objects,
    parsed,
    read_each,
)
from callwright.generators.taken import kind_of_turns
from callwright.warehouse.errors import ConfigurationError, first_problem
from callwright.warehouse.exports.formats import TOOLS_FILE
from callwright.warehouse.records import CallTurn, ReplyTurn, Sample, Tool, Turn, UserTurn

_AS_TEXT = ("parameters", "returns", "constants", "original")  # columns of JSON text


def read_record_lines(path: Path) -> Iterator[ImportedRecord]:
    """Yield the samples of a `records` export with all their stored data.

    Raises ConfigurationError if nothing is there.
    """
    return read_each(chain.from_iterable(map(read_rows, sample_files(path))), _record)


def _record(row: DocumentItem) -> ImportedRecord:
    fields = row.value if isinstance(row.value, dict) else {}
    listed = fields.get("tools")
    try:
        sample = Sample.model_validate(fields.get("sample"))
        tools = tuple(map(Tool.model_validate, listed if isinstance(listed, list) else []))
        for tool in tools:
            Draft202012Validator.check_schema(tool.parameters)
    except (ValidationError, SchemaError, RecursionError) as error:
        return _no_record(row.where, error)
    lacking = {*sample.candidates, *sample.withheld} - {tool.key for tool in tools}
    if lacking:
        message = f"It is no record: it names {len(lacking)} tools that do not stand beside it."
        return broken(row.where, message)
    return ImportedRecord(row.where, sample, tools, item=sample.key)


def _no_record(where: str, error: Exception) -> ImportedRecord:
    why = str(error).partition("\n")[0] or type(error).__name__
    if isinstance(error, ValidationError):
        why = first_problem(error)
    return broken(where, f"It is no record: {why}.")


def read_tables(path: Path) -> Iterator[ImportedRecord]:
    """Yield the samples of a `parquet` export.

    Raises ConfigurationError if its file of tools is missing.
    """
    if not (path / TOOLS_FILE).is_file():
        message = f"{str(path)!r} is no export to parquet: it has no {TOOLS_FILE!r}."
        raise ConfigurationError(message)
    tools: dict[str, Tool] = {}
    for row in read_rows(path / TOOLS_FILE):
        fields = row.value if isinstance(row, DocumentItem) and isinstance(row.value, dict) else {}
        tool_fields = {
            name: fields[name] for name in Tool.model_fields if fields.get(name) is not None
        }
        parsed_fields = {
            name: parsed(tool_fields[name]) for name in _AS_TEXT if name in tool_fields
        }
        try:
            tool = Tool.model_validate(tool_fields | parsed_fields)
        except ValidationError as error:
            yield _no_record(row.where, error)
        else:
            tools[tool.key] = tool
    rows = chain.from_iterable(map(read_rows, sorted(path.rglob("samples.parquet"))))
    yield from read_each(rows, lambda row: _sample_of_table(row, tools))


def _sample_of_table(row: DocumentItem, tools: Mapping[str, Tool]) -> ImportedRecord:
    try:
        value = row.value.get("body") if isinstance(row.value, dict) else None
        sample = Sample.model_validate(parsed(value))
    except ValidationError as error:
        return _no_record(row.where, error)
    keys = [key for key in (*sample.candidates, *sample.withheld) if key in tools]
    named = tuple(tools[key] for key in keys)
    return ImportedRecord(row.where, sample, named, item=sample.key)


def read_hub_folder(path: Path) -> Iterator[ImportedRecord]:
    """Read rows of a Hugging Face export: what is said, and the calls due after some messages."""
    chats = ChatReader("hf")
    rows = chain.from_iterable(map(read_rows, sample_files(path)))
    return read_each(rows, lambda row: _HubReader(row.where, chats).record(row.value))


class _HubReader(RecordReader):
    word = "row"

    def __init__(self, where: str, chats: ChatReader) -> None:
        super().__init__(where, chats.builder)
        self._chats = chats

    def record(self, value: JsonValue) -> ImportedRecord:
        fields = value if isinstance(value, dict) else {}
        messages, snapshots = fields.get("messages"), fields.get("snapshots")
        if not isinstance(messages, list) or not isinstance(snapshots, list):
            self.refuse(
                f"It has the fields {sorted(fields)[:8]}, and messages and snapshots are expected"
            )
            return ImportedRecord(self.where, problems=tuple(self.problems))
        openers: JsonValue = [
            one for one in objects(messages) if one.get("role") in ("system", "user")
        ]
        language, category = str(fields.get("language", "")), str(fields.get("category", ""))
        row = ChatRow(openers, fields.get("tools"), "", language, category, is_idle=True)
        chat_record = self._chats.chat(self.where, row)
        if chat_record.sample is None:
            return chat_record
        turns = self._turns(messages, snapshots)
        if not snapshots:
            self.refuse("It has no snapshots, so that nobody knows what is due")
        if fields.get("withheld"):
            message = (
                f"Of the withheld tools {shown(fields['withheld'])} a row has the names alone."
            )
            self.note("unknown_field", message)
        sample = chat_record.sample.with_changes(kind=str(fields.get("kind", kind_of_turns(turns))))
        return self.imported(lambda: sample.with_changes(turns=turns), chat_record.tools)

    def _turns(self, messages: list[JsonValue], snapshots: list[JsonValue]) -> list[Turn]:
        due: dict[int, list[Turn]] = {}
        for snapshot in snapshots:
            fields = snapshot if isinstance(snapshot, dict) else {}
            after, due_calls = fields.get("after"), parsed(fields.get("calls"))
            if (
                isinstance(after, bool)
                or not isinstance(after, int)
                or not isinstance(due_calls, list)
            ):
                self.refuse(f"A snapshot is {shown(snapshot)}, not a number of messages with calls")
                continue
            calls = tuple(self.calls_of(due_calls, closed=False))
            call_turn = CallTurn(calls=calls, executed=bool(fields.get("executed")))
            due.setdefault(after, []).append(call_turn)
        turns: list[Turn] = []
        for at, message in enumerate(messages):
            turns += due.get(at, [])
            self._add(message, turns)
        return [*turns, *due.get(len(messages), [])]

    def _add(self, message: JsonValue, turns: list[Turn]) -> None:
        match message:
            case {"role": "user", "content": str(text)}:
                turns.append(UserTurn(text=text))
            case {"role": "assistant", "content": str(text)} if text:
                turns.append(ReplyTurn(text=text))
            case {"role": "tool", "content": str(text)}:
                add_result(turns, parsed(text))
            case {"role": "system"} | {"role": "assistant"}:
                return
            case _:
                self.refuse(f"A message is {shown(message)}")


RECORDS = SampleFormat(
    "records",
    "our own records: samples with their evidence and tools, one a line",
    read_record_lines,
)
PARQUET = SampleFormat("parquet", "our own tables of samples and tools", read_tables)
HUGGING_FACE = SampleFormat("hf", "our own folders for the Hugging Face hub", read_hub_folder)
