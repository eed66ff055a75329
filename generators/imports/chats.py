"""Conversations as samples: whatever a row is like, its messages, its tools and its signals come to the same record."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import orjson
from pydantic import JsonValue, ValidationError

from callwright.generators.catalogs.bfcl import TYPE_WORDS
from callwright.generators.catalogs.builder import CatalogBuilder, ToolDraft
from callwright.generators.catalogs.catalog import Problem, shown
from callwright.generators.catalogs.documents import DocumentItem, files_at, read_rows
from callwright.generators.catalogs.rewriting import renaming_types
from callwright.generators.imports.messages import Fields, UnreadableChat, parsed, read_chat
from callwright.generators.imports.reading import ImportedRecord, RecordReader, Signals, language_of_user
from callwright.generators.taken import STAGE, kind_of_turns
from callwright.warehouse.exports.formats import MANIFEST
from callwright.warehouse.exports.hugging_face import CROISSANT
from callwright.warehouse.exports.tasks import ENVIRONMENT, WORLDS_FILE
from callwright.warehouse.exports.training import INFO as SHAREGPT_INFO
from callwright.warehouse.records import (
    TIME_SENTENCE,
    CallTurn,
    Origin,
    Sample,
    Tool,
    Turn,
    trait_tag,
)

SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet")
_TIME = re.compile(rf"(?:^|\n){re.escape(TIME_SENTENCE.format(''))}(\d{{4}}-\d{{2}}-\d{{2}}(?: \d{{2}}:\d{{2}})?)$")
_TOOLS_IN_TEXT = re.compile(r"<tools>(.*?)</tools>", re.DOTALL)
_OPENING = re.compile(r"\[\s*\{")
_WORD = re.compile(r"[A-Za-z]+")
_OPTIONAL = "optional"
_SCHEMAS = ("parameters", "input_schema", "inputSchema")
_BESIDE = ".origins.jsonl"  # what our own export for OpenAI writes beside its rows


class ChatRow(NamedTuple):
    """What a row holds: messages in any writing, and the documents of tools; `system` is what stands apart from the messages."""

    messages: JsonValue
    tools: JsonValue = None
    system: str = ""
    language: str = ""
    category: str = ""
    signals: Signals = Signals()


RowReader = Callable[[Fields], ChatRow | None]  # None for a row that is none of the format


def reader_of_rows(name: str, find: RowReader) -> Callable[[Path], Iterator[ImportedRecord]]:
    """What reads the rows of files, one conversation each, where `find` knows where a row has what."""

    def read(path: Path) -> Iterator[ImportedRecord]:
        chats = ChatReader(name)
        for file in sample_files(path):
            for row in read_rows(file):
                if isinstance(row, Problem):
                    yield ImportedRecord(row.where, problems=(row,))
                else:
                    yield chats.record(row, find)

    return read


def sample_files(path: Path) -> list[Path]:
    """The file at a path, or the files of samples below a folder, sorted. Raises ConfigurationError where there are none."""
    if path.is_dir():
        found = [file for file in sorted(path.rglob("*")) if file.suffix in SUFFIXES and file.is_file()]
        found = [file for file in found if not file.name.endswith(_BESIDE) and file.name not in _ABOUT]
        if (path / MANIFEST).is_file():  # an export of ours, whose tasks are the same samples once more
            found = [file for file in found if ENVIRONMENT not in file.relative_to(path).parts]
        if found:
            return found
    return files_at(path, ".jsonl")


_ABOUT = frozenset(
    {MANIFEST, SHAREGPT_INFO, CROISSANT, WORLDS_FILE, "dataset_infos.json", "state.json"}
)  # files that tell of others


class ChatReader:
    """Makes records of rows; what many rows have in common is one tool."""

    def __init__(self, source: str) -> None:
        """Tools say that they come from `source`."""
        change = renaming_types(TYPE_WORDS, reported=False)
        self.builder = CatalogBuilder(source, change=change, by_category=False)

    def record(self, row: DocumentItem, find: RowReader) -> ImportedRecord:
        """The record of a row; one that can't be read says why."""
        found = find(row.value) if isinstance(row.value, dict) else None
        if found is None:
            known = sorted(row.value)[:8] if isinstance(row.value, dict) else shown(row.value)
            problem = Problem(where=row.where, kind="other_format", message=f"This is no row of the format: {known}.")
            return ImportedRecord(row.where, problems=(problem,))
        return self.chat(row.where, found)

    def chat(self, where: str, row: ChatRow) -> ImportedRecord:
        """The record of a conversation."""
        reader = _ChatRecord(where, self.builder)
        return reader.record(row)._replace(signals=row.signals)


class _ChatRecord(RecordReader):
    word = "conversation"

    def record(self, row: ChatRow) -> ImportedRecord:
        try:
            chat = read_chat(row.messages)
        except (UnreadableChat, ValidationError, UnicodeError) as error:
            self.refuse(f"It can't be read: {error}".rstrip("."))
            return ImportedRecord(self.where, problems=tuple(self.problems))
        system, stated = _apart(row.system or chat.system, row.tools)
        for sentence in chat.lost:
            self.note("unknown_field", sentence)
        tools = self._tools(stated, row.category)
        self._known(chat.turns, tools)
        moment = _TIME.search(system)
        return self.imported(
            lambda: Sample(
                kind=kind_of_turns(chat.turns),
                language=row.language or language_of_user(chat.turns),
                category=row.category or next((tool.category for tool in tools), ""),
                candidates=tuple(tool.key for tool in tools),
                turns=chat.turns,
                tags=(trait_tag("reference_time", moment[1]),) if moment else (),
                system_message=_TIME.sub("", system) if moment else system,
                origin=Origin(stage=STAGE),
            ),
            tools,
        )

    def _tools(self, stated: JsonValue, category: str) -> tuple[Tool, ...]:
        listed = parsed(stated)
        if listed in (None, "", []):
            return ()
        if not isinstance(listed, list):
            self.refuse(f"The tools are {shown(stated)}, not a list")
            return ()
        before = len(self._builder.problems)
        drafts = (_draft(one, f"{self.where}/tools/{at}", category) for at, one in enumerate(listed))
        made = [self._builder.put(one) if one else None for one in drafts]
        self.problems += self._builder.problems[before:]
        by_name: dict[str, Tool] = {}
        for tool in made:
            if tool is not None:
                by_name.setdefault(tool.name, tool)  # some data sets list a tool twice
        return tuple(by_name.values())

    def _known(self, turns: Iterable[Turn], tools: Iterable[Tool]) -> None:
        """Refuse calls of tools that the row itself does not have among its tools."""
        names = {tool.name for tool in tools}
        called = {call.tool for turn in turns if isinstance(turn, CallTurn) for call in turn.calls}
        if names and (strange := sorted(called - names)):
            self.refuse(f"It calls {', '.join(map(repr, strange[:3]))}, of which its tools have no usable document")


def _draft(stated: JsonValue, where: str, category: str) -> ToolDraft | None:
    """The document of a tool, in whichever wrapping. None where it is none."""
    inner = stated.get("function", stated) if isinstance(stated, dict) else None
    if not isinstance(inner, dict):
        return None
    nothing: JsonValue = {"type": "object", "properties": {}}
    schema = next((inner[word] for word in _SCHEMAS if inner.get(word) is not None), nothing)
    return ToolDraft(where, category, inner.get("name"), inner.get("description"), _object_schema(parsed(schema)))


def _object_schema(stated: JsonValue) -> JsonValue:
    """The parameters as an object schema: some data sets list them by name, with Python's types."""
    if not isinstance(stated, dict) or isinstance(stated.get("type"), str) or "properties" in stated:
        return stated
    if not all(isinstance(one, dict) for one in stated.values()):
        return stated
    properties: JsonValue = {name: _typed(one) for name, one in stated.items() if isinstance(one, dict)}
    required: JsonValue = [
        name for name, one in stated.items()
        if isinstance(one, dict) and "default" not in one and _OPTIONAL not in str(one.get("type", "")).lower()
    ]  # fmt: skip
    return {"type": "object", "properties": properties, "required": required}


def _typed(parameter: Fields) -> Fields:
    """A parameter whose type is a Python annotation, in JSON Schema's word: "List[int], optional" is an array."""
    written = str(parameter.get("type", ""))
    word = next((found for found in _WORD.findall(written) if found.lower() not in {_OPTIONAL, "union"}), "")
    typed = {key: value for key, value in parameter.items() if key not in {"type", "required"}}
    return {"type": word, **typed} if word.lower() in TYPE_WORDS else typed


def _apart(system: str, tools: JsonValue) -> tuple[str, JsonValue]:
    """The system message and the tools; a message that holds the tools says nothing else that belongs to the conversation."""
    tagged = _TOOLS_IN_TEXT.search(system)
    if tagged:
        return "", tools or _listed(tagged[1])
    if tools in (None, "", []):
        opening = _OPENING.search(system)
        if opening and (found := _leading_list(system[opening.start() :])):
            return "", found
    return system, tools


def _listed(text: str) -> JsonValue:
    """The documents between Hermes' tags: one list, or one a line."""
    whole = parsed(text.strip())
    if isinstance(whole, list):
        return whole
    return [one for line in text.splitlines() if isinstance(one := parsed(line.strip()), dict)]


def _leading_list(text: str) -> list[JsonValue]:
    """The list of tools that a text begins with, [] where it is none."""
    import json

    try:
        _, end = json.JSONDecoder().raw_decode(text)
        found = orjson.loads(text[:end])
    except (ValueError, RecursionError):
        return []
    return found if all(isinstance(one, dict) and one.keys() & {"name", "function"} for one in found) else []
