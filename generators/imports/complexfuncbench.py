"""ComplexFuncBench's records as multi-step samples, with evidence for each gold argument where it can be found.

A record's id becomes a tag, its domain the category. What the export of a sample gives is the record it came from.
"""

from collections.abc import Iterator
from pathlib import Path

import orjson
from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder, ToolDraft
from callwright.generators.catalogs.catalog import Problem, shown
from callwright.generators.catalogs.documents import files_at, read_rows
from callwright.generators.imports.reading import (
    Fields,
    ImportedRecord,
    RecordReader,
    SampleFormat,
    language_of_user,
    unread,
)
from callwright.generators.multi_step.making import kind_of_domain
from callwright.generators.multi_step.samples import add_evidence
from callwright.warehouse.records import (
    CallTurn,
    Language,
    Origin,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
    trait_tag,
)

STAGE = "import_complexfuncbench"
RECORD_FIELDS = frozenset({"id", "functions", "conversations"})
SUFFIX = ".jsonl"


def read_complexfuncbench(path: Path, language: Language | None = None) -> Iterator[ImportedRecord]:
    """Every record of a file, or of the .jsonl files of a folder; raises ConfigurationError where nothing is there.

    The language, unless given, is known by the request.
    """
    # cross-domain records do not say whose a function is
    builder = CatalogBuilder("complexfuncbench", by_category=False)
    for file in files_at(path, SUFFIX):
        for row in read_rows(file):
            if isinstance(row, Problem):
                yield unread(row)
            else:
                yield _ComplexFuncBenchReader(row.where, builder).record(row.value, language)


class _ComplexFuncBenchReader(RecordReader):
    def record(self, value: JsonValue, language: Language | None) -> ImportedRecord:
        fields = value if isinstance(value, dict) else {}
        identity = fields.get("id")
        if not isinstance(identity, str) or not identity:
            self.refuse(f"The id is {shown(identity)}, not a domain and a number")
        domain = str(identity).rpartition("-")[0] or str(identity)
        turns = self._turns(fields.get("conversations"))
        spoken = language or language_of_user(turns)
        category = domain.replace("-", " ")

        def put(stated: JsonValue, where: str) -> Tool | None:
            if not isinstance(stated, dict):
                self._builder.refuse(where, stated)
                return None
            name, description, parameters = (stated.get(field) for field in ("name", "description", "parameters"))
            return self._builder.put(ToolDraft(where, category, name, description, parameters, language=spoken))

        tools = self.tools_of(fields.get("functions"), "functions", put)
        self.note_lost(fields, RECORD_FIELDS)
        return self.imported(
            lambda: Sample(
                kind=kind_of_domain(domain),
                language=spoken,
                category=category,
                candidates=tuple(tool.key for tool in tools),
                turns=add_evidence(turns, {tool.name: tool for tool in tools}),
                tags=(trait_tag("complexfuncbench_id", orjson.dumps(identity).decode()),),
                origin=Origin(stage=STAGE),
            ),
            tools,
        )

    def _turns(self, messages: JsonValue) -> list[Turn]:
        if not isinstance(messages, list) or not messages:
            self.refuse(f"The conversation is {shown(messages)}, not a list of messages")
            return []
        turns: list[Turn] = []
        for index, message in enumerate(messages):
            fields = message if isinstance(message, dict) else {}
            turns += self._turn(fields, turns[-1] if turns else None)
            self.note_lost(fields, {"role", "content", "function_call"}, f"Message {index}")
        if turns and isinstance(turns[-1], CallTurn):
            self.refuse("The last calls have no observation")
        if turns and not isinstance(turns[0], UserTurn):
            self.refuse("The conversation does not begin with the user")
        return turns

    def _turn(self, message: Fields, before: Turn | None) -> list[Turn]:
        """The turn of one message; calls must be followed by an observation with a response for each."""
        expected = len(before.calls) if isinstance(before, CallTurn) else None
        match message:
            case {"role": "observation", "content": list(content)} if len(content) == expected:
                return [ResultTurn(results=tuple(content))]
            case {"role": "assistant", "function_call": list(listed)} if expected is None and listed:
                if message.get("content"):
                    self.note("unknown_field", "A message with calls has a content too, which a sample does not keep.")
                return [CallTurn(calls=tuple(self.calls_of(listed)), executed=True)]
            case {"role": "user", "content": str(text)} if expected is None:
                return [UserTurn(text=text)]
            case {"role": "assistant", "content": str(text)} if expected is None:
                return [ReplyTurn(text=text)]
            case _:
                after = "" if expected is None else f" after {expected} calls"
                self.refuse(f"A message of the role {shown(message.get('role'))}{after} is {shown(message)}")
        return []


FORMAT = SampleFormat("complexfuncbench", "ComplexFuncBench's records", read_complexfuncbench)
