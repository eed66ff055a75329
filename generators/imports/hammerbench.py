"""HammerBench's published records as samples, with their labels as gold.

The kinds are those of `callwright.warehouse.exports.papers.FILES`. Nothing of a record is lost: labels stay as the data have
them (empty strings and lists too); a record's id, and the label of an irrelevant request (whose tool is not among the
candidates, so that no call is due), become tags. What the export of a sample gives is the record it came from.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import orjson
from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder
from callwright.generators.catalogs.catalog import Problem, shown
from callwright.generators.catalogs.documents import DocumentItem, files_at, read_rows
from callwright.generators.catalogs.papers import hammerbench_builder, language_of_folder, put_hammerbench_tool
from callwright.generators.imports.reading import (
    Fields,
    ImportedRecord,
    RecordReader,
    SampleFormat,
    language_of_user,
    objects,
    unread,
)
from callwright.warehouse.exports.papers import (
    ALIASES,
    FILES,
    MESSAGE_FIRST,
    MESSAGE_FIRST_QUERY,
    MESSAGE_LAST,
)
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    Language,
    Message,
    Origin,
    ReplyTurn,
    Sample,
    Turn,
    UserTurn,
    trait_tag,
)

STAGE = "import_hammerbench"
KINDS: Mapping[str, str] = {  # file names, theirs and ours
    **{PurePosixPath(file.path).stem: kind for kind, file in FILES.items()},
    **{kind: kind for kind in FILES},
    **ALIASES,
}
RECORD_FIELDS = frozenset({"id", "messages", "multiple_tools", "single_tool"})


def read_hammerbench(path: Path, language: Language | None = None) -> Iterator[ImportedRecord]:
    """Every record of a file or folder tree, in order; raises ConfigurationError where nothing is at the path.

    The kind is known by the file's name or the record's id (`Based_0_3`); the language, unless given, by the nearest
    folder named `en` or `zh`, or else by the request.
    """
    builder = hammerbench_builder()
    files = files_at(path)
    return (record for file in files for record in _read_file(file, language, builder))


def _read_file(file: Path, language: Language | None, builder: CatalogBuilder) -> Iterator[ImportedRecord]:
    rows = list(read_rows(file))
    if not any(
        isinstance(row, DocumentItem) and isinstance(row.value, dict) and "messages" in row.value for row in rows
    ):
        problem = next((row for row in rows if isinstance(row, Problem)), None)
        message = f"{file} holds no records with 'messages'; left out."
        found = problem or Problem(where=str(file), kind="other_format", message=message)
        yield unread(found)._replace(where=str(file))
        return
    rendered = language or language_of_folder(file)
    for row in rows:
        if isinstance(row, Problem):
            yield unread(row)
        else:
            yield _HammerBenchReader(row.where, builder).record(row.value, file, rendered)


class _HammerBenchReader(RecordReader):
    """Reads one record; besides what is wrong with it, the labels that no call is due for."""

    def __init__(self, where: str, builder: CatalogBuilder) -> None:
        super().__init__(where, builder)
        self._labels: list[GoldCall] = []

    def record(self, value: JsonValue, file: Path, language: Language | None) -> ImportedRecord:
        fields = value if isinstance(value, dict) else {}
        kind = _kind(file, fields)
        if kind is None:
            known = ", ".join(KINDS)
            self.refuse(f"Neither the file's name {file.stem!r} nor the id {shown(fields.get('id'))} is of {known}")
        turns = self._turns(fields.get("messages"), kind or "")
        rendered = language or language_of_user(turns)
        tools = self.tools_of(
            fields.get("multiple_tools"),
            "multiple_tools",
            lambda stated, at: put_hammerbench_tool(stated, at, rendered, self._builder),
            "candidate tools",
        )
        self.note_lost(fields, RECORD_FIELDS)
        if "single_tool" in fields and fields["single_tool"] != _due_tools(fields):
            message = "'single_tool' is not the candidate that the labels call; an export will write that one instead."
            self.note("unknown_field", message)
        gold = next((call for turn in turns if isinstance(turn, CallTurn) for call in turn.calls), None)
        first = gold or next(iter(self._labels), None)
        labels = [orjson.dumps({"name": call.tool, "arguments": call.arguments}) for call in self._labels]
        tags = [trait_tag("hammerbench_id", orjson.dumps(fields["id"]).decode())] if "id" in fields else []
        tags += [trait_tag("hammerbench_label", label.decode()) for label in labels]
        return self.imported(
            lambda: Sample(
                kind=kind or "",
                language=rendered,
                category=first.tool.rpartition(".")[0] if first else "",
                candidates=tuple(tool.key for tool in tools),
                turns=tuple(turns),
                tags=tuple(tags),
                origin=Origin(stage=STAGE),
            ),
            tools,
        )

    def _turns(self, messages: JsonValue, kind: str) -> list[Turn]:
        if not isinstance(messages, list) or not messages:
            self.refuse(f"The messages are {shown(messages)}, not a list of messages")
            return []
        roles = [message.get("role") if isinstance(message, dict) else None for message in messages]
        turns: list[Turn] = []
        for index, message in enumerate(messages):
            content = message.get("content") if isinstance(message, dict) else None
            following = roles[index + 1] if index + 1 < len(roles) else None
            turns += self._turn(roles[index], content, following, kind)
            self.note_lost(message if isinstance(message, dict) else (), {"role", "content"}, f"Message {index}")
        return turns

    def _turn(self, role: JsonValue, content: JsonValue, following: JsonValue, kind: str) -> list[Turn]:
        """The turns of one message; a user's message that no label follows is one that no tool fits."""
        match role, content:
            case "user", str(text):
                if following == "function call":
                    return [_user_turn(text, kind)]
                if following == "assistant":
                    return [_user_turn(text, kind), CallTurn()]
                self.refuse(f"After the user's message {shown(text)} there is no label")
            case "assistant", str(text):
                return [ReplyTurn(text=text)]
            case "function call", {"name": str(name), "arguments": dict(arguments), **rest} if name and not rest:
                call = GoldCall(tool=name, arguments=arguments)
                if kind not in FILES or not FILES[kind].is_idle:
                    return [CallTurn(calls=(call,))]
                self._labels.append(call)
                return [CallTurn()]
            case _:
                self.refuse(f"A message of the role {shown(role)} has the content {shown(content)}")
        return []


def _kind(file: Path, fields: Fields) -> str | None:
    """The kind that the file's name tells, or else the record's id; None where neither does."""
    identity = fields.get("id")
    prefix = identity.rsplit("_", 2)[0] if isinstance(identity, str) else ""
    names = (file.stem, f"HammerBench_{file.stem}", prefix, f"HammerBench_{prefix}")
    return next((KINDS[name] for name in names if name in KINDS), None)


def _user_turn(text: str, kind: str) -> UserTurn:
    """What the user says, apart from the message it leans on."""
    if kind in FILES and FILES[kind].is_single:
        message, found, query = text.removeprefix(MESSAGE_FIRST).rpartition(MESSAGE_FIRST_QUERY)
        if found and text.startswith(MESSAGE_FIRST):
            return UserTurn(text=query, external=Message(app="", text=message))
        return UserTurn(text=text)
    stated, found, message = text.partition(MESSAGE_LAST)
    return UserTurn(text=stated, external=Message(app="", text=message)) if found else UserTurn(text=text)


def _due_tools(fields: Fields) -> list[JsonValue]:
    """The candidates that the record's labels call."""
    contents = [message.get("content") for message in objects(fields.get("messages"))]
    called = [content.get("name") for content in contents if isinstance(content, dict)]
    return [tool for tool in objects(fields.get("multiple_tools")) if tool.get("name") in called]


FORMAT = SampleFormat("hammerbench", "HammerBench's records", read_hammerbench)
