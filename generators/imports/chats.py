"""Turn conversations into samples, reducing any row to messages, tools and signals.

Below are the formats whose rows are conversations, with where each keeps its messages, tools and
other information.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import unescape
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue, ValidationError

from callwright.generators.catalogs.builder import CatalogBuilder, ToolDraft
from callwright.generators.catalogs.catalog import Problem, shown
from callwright.generators.catalogs.documents import DocumentItem, files_at, read_rows
from callwright.generators.imports.answers import (
    UnreadableChat,
    calls_due,
    messages_of_reply,
    trace_of_call,
)
from callwright.generators.imports.messages import read_chat
from callwright.generators.imports.payloads import Continued
from callwright.generators.imports.reading import (
    Fields,
    ImportedRecord,
    RecordReader,
    SampleFormat,
    Signals,
    broken,
    items,
    language_of_user,
    names_beside,
    objects,
    parsed,
    part,
    read_each,
    unread,
    words,
)
from callwright.generators.taken import STAGE, kind_of_turns
from callwright.warehouse.exports.formats import MANIFEST
from callwright.warehouse.exports.hugging_face import CROISSANT
from callwright.warehouse.exports.tasks import ENVIRONMENT, WORLDS_FILE
from callwright.warehouse.exports.training import INFO as SHAREGPT_INFO
from callwright.warehouse.exports.trl import CALLING
from callwright.warehouse.exports.verify_certificate import CERTIFICATE, SCHEMA
from callwright.warehouse.json_text import REPLY_DECODER
from callwright.warehouse.records import (
    NO_FACTS,
    TIME_SENTENCE,
    CallTurn,
    GoldCall,
    Origin,
    Sample,
    SampleFacts,
    Tool,
    Turn,
    UserTurn,
)
from callwright.warehouse.registry import blame, is_ours, whose
from callwright.warehouse.wire_names import NO_NAMES, WireNames

SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet")
_TIME = re.compile(
    rf"(?:^|\n){re.escape(TIME_SENTENCE.format(''))}(\d{{4}}-\d{{2}}-\d{{2}}(?: \d{{2}}:\d{{2}})?)$"
)
_TOOLS_IN_TEXT = ("<tools>", "</tools>")
_OPENING = re.compile(r"\[\s*\{")
_OPTIONAL = "optional"
_SCHEMAS = ("parameters", "input_schema", "inputSchema")
_BESIDE = ".origins.jsonl"  # what our own export for OpenAI writes beside its rows
_ABOUT = frozenset(  # files that tell of others
    {MANIFEST, SHAREGPT_INFO, CROISSANT, WORLDS_FILE, "dataset_infos.json", "state.json"}
    | {CERTIFICATE, SCHEMA}
)
_FEEDBACK = ("feedback", "user_feedback", "rating", "score", "thumbs")
_BODIES = ("body", "request", "requestBody", "request_body", "kwargs")
_UNWANTED = frozenset({"false", "0"})
_ANSWERS = ("response", "completion", "responseBody", "response_body")


class ChatRow(NamedTuple):
    """The content of a row: messages in any notation, tools, and a separate `system` message.

    The last message is the assistant's answer, unless `is_idle` says that the row states that no
    call is due. `is_logged`: it is a request as it was logged with its answer, so that another row
    may go on from there.
    """

    messages: JsonValue
    tools: JsonValue = None
    system: str = ""
    language: str = ""
    category: str = ""
    signals: Signals = Signals()
    is_idle: bool = False
    is_logged: bool = False


# None for a row that is none of the format; UnreadableChat where its answer can't be read.
RowReader = Callable[[Fields], ChatRow | None]


def reader_of_rows(name: str, find: RowReader) -> Callable[[Path], Iterator[ImportedRecord]]:
    """Return a reader of files with one conversation a row, whose parts `find` locates.

    Logs of requests are read twice: a request that another one continues is part of that.
    """

    def read(path: Path) -> Iterator[ImportedRecord]:
        chats, files = ChatReader(name, names_beside(path)), sample_files(path)
        continued = Continued(_payloads(_rows(files), find))
        rows = (row for row in _rows(files) if not _goes_on(row, find, continued))
        return read_each(rows, lambda row: chats.record(row, find))

    return read


def _rows(files: Iterable[Path]) -> Iterator[DocumentItem | Problem]:
    return chain.from_iterable(map(read_rows, files))


def _payloads(rows: Iterable[DocumentItem | Problem], find: RowReader) -> Iterator[JsonValue]:
    """Yield the messages of logged requests; none if the first row that can be read is none."""
    for row in rows:
        found = _found(row, find)
        if found is not None and not found.is_logged:
            return
        if found is not None:
            yield found.messages


def _goes_on(row: DocumentItem | Problem, find: RowReader, continued: Continued) -> bool:
    found = _found(row, find) if continued else None
    return found is not None and found.is_logged and continued.goes_on(found.messages)


def _found(row: DocumentItem | Problem, find: RowReader) -> ChatRow | None:
    """Return what `find` finds in a row; None where that is nothing, or can't be read."""
    if isinstance(row, Problem) or not isinstance(row.value, dict):
        return None
    try:
        found = find(row.value)
    except UnreadableChat:
        return None
    except Exception:
        if is_ours(find):
            raise
        return None  # an external reader's error is told where its record is read
    return found if isinstance(found, ChatRow) else None


def sample_files(path: Path) -> list[Path]:
    """Return the file at a path, or the sample files below a folder, sorted.

    Raises ConfigurationError if there are none.
    """
    if path.is_dir():
        files = (one for one in sorted(path.rglob("*")) if one.suffix in SUFFIXES and one.is_file())
        sample_paths = [
            one for one in files if not one.name.endswith(_BESIDE) and one.name not in _ABOUT
        ]
        if (path / MANIFEST).is_file():  # an export of ours: its tasks are the same samples again
            sample_paths = [
                file for file in sample_paths if ENVIRONMENT not in file.relative_to(path).parts
            ]
        if sample_paths:
            return sample_paths
    return files_at(path, ".jsonl")


class ChatReader:
    """Makes records from rows; tools that many rows share are read once."""

    def __init__(self, source: str, names: WireNames = NO_NAMES) -> None:
        """Create a reader whose tools have `source` as their source, and `names` on the wire."""
        self.builder = CatalogBuilder(source, types_are_told=False, by_category=False, names=names)
        self._source = source

    def record(self, row: DocumentItem, find: RowReader) -> ImportedRecord:
        """Return a row's record, which says why if it can't be read or an external `find` fails."""
        problem = ""
        try:
            chat_row = find(row.value) if isinstance(row.value, dict) else None
        except UnreadableChat as error:
            problem = f"It can't be read: {error}"
        except Exception as error:
            if is_ours(find):
                raise
            problem = blame(f"source {self._source!r}", find, error)
        else:
            if chat_row is None:
                known = sorted(row.value)[:8] if isinstance(row.value, dict) else shown(row.value)
                message = f"This is no row of the format: {known}."
                return unread(Problem(where=row.where, kind="other_format", message=message))
            if _is_row(chat_row):
                return self.chat(row.where, chat_row)
            reader = whose(f"source {self._source!r}", find)
            problem = f"{reader} gives {shown(chat_row)}; it gives a ChatRow, or None"
        return broken(row.where, f"{problem}; the conversation is left out.")

    def chat(self, where: str, row: ChatRow) -> ImportedRecord:
        """Return the record of a conversation."""
        return _ChatRecord(where, self.builder).record(row)._replace(signals=row.signals)


def _is_row(found: object) -> bool:
    """Whether an external reader returns a valid row."""
    return (
        isinstance(found, ChatRow)
        and all(isinstance(one, str) for one in (found.system, found.language, found.category))
        and isinstance(found.signals, Signals)
        and all(isinstance(one, str) for one in found.signals)
    )


class _ChatRecord(RecordReader):
    word = "conversation"

    def record(self, row: ChatRow) -> ImportedRecord:
        try:
            chat = read_chat(row.messages, is_idle=row.is_idle)
        except (UnreadableChat, ValidationError, UnicodeError) as error:
            self.refuse(f"It can't be read: {error}".rstrip("."))
            return ImportedRecord(self.where, problems=tuple(self.problems))
        system, stated = _apart(row.system or chat.system, row.tools)
        for sentence in chat.lost:
            self.note("unknown_field", sentence)
        tools = self._tools(stated, row.category)
        by_name = {tool.name: tool for tool in tools}
        said = "\n".join(turn.text for turn in chat.turns if isinstance(turn, UserTurn))
        turns = tuple(self._own_turn(turn, by_name, said) for turn in chat.turns)
        made = (turn.calls for turn in turns if isinstance(turn, CallTurn))
        called = {call.tool for calls in made for call in calls}
        if by_name and (strange := sorted(called - by_name.keys())):
            self.refuse(
                f"It calls {', '.join(map(repr, strange[:3]))}, and its tools have no document"
            )
        if trace := trace_of_call(turns, by_name):
            self.refuse(f"The words {shown(trace)} look like a call, and none can be read there")
        moment = _TIME.search(system)
        return self.imported(
            lambda: Sample(
                kind=kind_of_turns(turns),
                language=row.language or language_of_user(turns),
                category=row.category or next((tool.category for tool in tools), ""),
                candidates=tuple(tool.key for tool in tools),
                turns=turns,
                facts=SampleFacts(reference_time=moment[1]) if moment else NO_FACTS,
                system_message=_TIME.sub("", system) if moment else system,
                origin=Origin(stage=STAGE),
            ),
            tools,
        )

    def _own_turn(self, turn: Turn, tools: Mapping[str, Tool], said: str) -> Turn:
        if not isinstance(turn, CallTurn):
            return turn
        own = map(self._builder.own_call, turn.calls)
        kept = (self.unpadded(one, [tools[one.tool]] if one.tool in tools else []) for one in own)
        return turn.with_changes(calls=tuple(self._as_said(one, said) for one in kept))

    def _as_said(self, call: GoldCall, said: str) -> GoldCall:
        """Return a call with plain characters for escapes of HTML, where the user says them so."""
        read: dict[str, str] = {}

        def plain(value: JsonValue) -> JsonValue:
            if isinstance(value, dict):
                return {name: plain(one) for name, one in value.items()}
            if isinstance(value, list):
                return [plain(one) for one in value]
            if not isinstance(value, str) or value in said or unescape(value) not in said:
                return value
            read[value] = unescape(value)
            return read[value]

        arguments = {name: plain(one) for name, one in call.arguments.items()}
        if not read:
            return call
        meant = " and ".join(f"{value!r} is {one!r}" for value, one in read.items())
        self.note("escaped_text", f"Escapes of HTML are read as the user has them: {meant}.")
        return call.with_changes(arguments=arguments)

    def _tools(self, stated: JsonValue, category: str) -> tuple[Tool, ...]:
        listed = parsed(stated)
        if listed in (None, "", []):
            return ()
        if not isinstance(listed, list):
            self.refuse(f"The tools are {shown(stated)}, not a list")
            return ()
        before = len(self._builder.problems)
        by_name: dict[str, Tool] = {}
        for at, one in enumerate(listed):
            draft = _draft(one, f"{self.where}/tools/{at}", category)
            if (tool := self._builder.put(draft) if draft else None) is not None:
                by_name.setdefault(tool.name, tool)  # some data sets list a tool twice
        self.problems += self._builder.problems[before:]
        return tuple(by_name.values())


def _draft(stated: JsonValue, where: str, category: str) -> ToolDraft | None:
    """Return a tool's document, however it is wrapped; None if it is no tool."""
    inner = (stated.get("function") or stated) if isinstance(stated, dict) else None
    if not isinstance(inner, dict):
        return None
    nothing: JsonValue = {"type": "object", "properties": {}}
    schema = next((inner[word] for word in _SCHEMAS if inner.get(word) is not None), nothing)
    parameters = _object_schema(parsed(schema))
    return ToolDraft(where, category, inner.get("name"), inner.get("description"), parameters)


def _object_schema(stated: JsonValue) -> JsonValue:
    """Return the parameters as an object schema; some data sets list them with Python types."""
    if not isinstance(stated, dict) or isinstance(stated.get("type"), str):
        return stated
    listed = {name: one for name, one in stated.items() if isinstance(one, dict)}
    if len(listed) < len(stated) or "properties" in stated:
        return stated
    open_to = {
        name for name, one in listed.items() if _OPTIONAL in str(one.get("type", "")).lower()
    }
    without = (name for name, one in listed.items() if "default" not in one)
    required: JsonValue = [name for name in without if name not in open_to]
    properties: Fields = {
        name: {key: value for key, value in one.items() if key != "required"}
        for name, one in listed.items()
    }
    return {"type": "object", "properties": properties, "required": required}


def _apart(system: str, tools: JsonValue) -> tuple[str, JsonValue]:
    """Return system message and tools; a message that contains the tools is dropped."""
    opening, closing = _TOOLS_IN_TEXT
    _, is_opened, rest = system.partition(opening)
    inner, is_closed, _ = rest.partition(closing)
    if is_opened and is_closed:  # Hermes' tags, around one list or a document a line
        lines = (parsed(line.strip()) for line in inner.splitlines())
        return "", tools or items(inner.strip()) or [one for one in lines if isinstance(one, dict)]
    begin = _OPENING.search(system) if tools in (None, "", []) else None
    if begin:
        try:
            tool_documents, _ = REPLY_DECODER.raw_decode(system, begin.start())
        except (ValueError, RecursionError):
            return system, tools
        named = [one for one in objects(tool_documents) if one.keys() & {"name", "function"}]
        if tool_documents and len(named) == len(tool_documents):
            return "", tool_documents
    return system, tools


def signals_of(fields: Fields) -> Signals:
    """Return how a row says that it went, in the terms that logs use."""
    error = fields.get("error") or fields.get("error_str") or ""
    named = error.get("type", error.get("message", "error")) if isinstance(error, dict) else error
    status = words(fields, "status", "outcome")
    feedback = words(fields, *_FEEDBACK) or words(part(fields, "metadata"), *_FEEDBACK)
    return Signals(status or ("error" if named else ""), str(named)[:200], feedback)


def _answer_beside(fields: Fields, messages: Sequence[JsonValue]) -> list[JsonValue]:
    """Return the messages of an answer beside `messages`, or [] if the answer is among them.

    Raises UnreadableChat if it can't be read, or if its field is there but empty.
    """
    answer_fields = {name: fields[name] for name in _ANSWERS if name in fields}
    given = next((one for one in answer_fields.values() if one is not None), None)
    if given is not None:
        return messages_of_reply(given)
    if "choices" in fields:
        return messages_of_reply(fields)
    last = messages[-1] if messages else None
    if answer_fields and not (isinstance(last, dict) and last.get("role") == "assistant"):
        failed = fields.get("error")
        raise UnreadableChat(f"it has no answer{f': {shown(failed)}' if failed else ''}")
    return []


def _named(row: ChatRow, fields: Fields) -> ChatRow:
    """Return the row with the language and category of its sample, as in our own exports."""
    origin = part(fields, "origin", "metadata")
    return row._replace(language=words(origin, "language"), category=words(origin, "category"))


def _openai(fields: Fields) -> ChatRow | None:
    """Read a chat completions row, for training or as logged with request and reply apart."""
    body = fields if "messages" in fields else part(fields, *_BODIES)
    messages = items(body.get("messages"))
    if not messages:
        return None
    tools = body.get("tools") or body.get("functions") or fields.get("tools")
    answer = _answer_beside(fields, messages)
    row = ChatRow([*messages, *answer], tools, signals=signals_of(fields), is_logged=bool(answer))
    return _named(row, fields)


def _trl(fields: Fields) -> ChatRow | None:
    """Read a TRL row: messages, or a prompt with its chosen or due answer; None if rejected."""
    prompt = items(fields.get("prompt"))
    if not prompt:
        return _openai(fields)
    if str(fields.get("label")).lower() in _UNWANTED:
        return None
    told = prompt[0].get("content") if isinstance(prompt[0], dict) else None
    if isinstance(told, str) and CALLING in told:  # the tools, as our rows for GRPO tell them
        briefing = told.partition(CALLING)[0].strip()
        prompt = [{"role": "system", "content": briefing}, *prompt[1:]] if briefing else prompt[1:]
    row = ChatRow(prompt, fields.get("tools"))
    chosen = fields.get("chosen")
    wanted = parsed(fields.get("completion") if chosen is None else chosen)
    if wanted is None:
        return _named(_with_calls(row, fields.get("gold"), words(fields, "words")), fields)
    if not isinstance(wanted, list) or not wanted:
        raise UnreadableChat(f"the answer is {shown(wanted)}, not a list of messages")
    return _named(row._replace(messages=[*prompt, *wanted]), fields)


def _responses(fields: Fields) -> ChatRow | None:
    """Read a responses API row: input and output or, in NeMo Gym rows, the expected action."""
    body = part(fields, "responses_create_params", *_BODIES) or fields
    input_items = body.get("input")
    if input_items is None:
        return None
    if earlier := body.get("previous_response_id"):
        raise UnreadableChat(f"it goes on from the response {shown(earlier)}, which is not in it")
    before = _asked(input_items)
    messages = [*before, *_expected(fields, before)]
    row = ChatRow(messages, body.get("tools"), words(body, "instructions"))
    is_logged = "expected_action" not in fields
    return _named(row._replace(signals=signals_of(fields), is_logged=is_logged), fields)


def _asked(given: JsonValue) -> list[JsonValue]:
    """The messages of an input, which may be the user's words alone."""
    return [{"role": "user", "content": given}] if isinstance(given, str) else items(given)


def _expected(fields: Fields, before: Sequence[JsonValue]) -> list[JsonValue]:
    """Return what follows the input of a responses API row. Raises UnreadableChat."""
    if "expected_action" not in fields:
        return messages_of_reply(fields) if "output" in fields else _answer_beside(fields, before)
    action = part(fields, "expected_action")
    match action:
        case {"type": "function_call_batch", "calls": [*calls]} if calls:
            return calls
        case {"type": "message", "content": str(text)}:
            return [{"role": "assistant", "content": text}]
        case {"type": "function_call"}:
            return [action]
        case _:
            raise UnreadableChat(f"the expected action is {shown(fields['expected_action'])}")


def _sharegpt(fields: Fields) -> ChatRow | None:
    """Read a ShareGPT row with tools, which Hermes and ToolACE keep in the system message."""
    messages = items(fields.get("conversations", fields.get("conversation")))
    row = ChatRow(messages, fields.get("tools"), words(fields, "system"))
    return _named(row, fields) if messages else None


def _xlam(fields: Fields) -> ChatRow | None:
    """Read a row of xLAM's data: a query, its tools, and the calls that answer it."""
    query, answers = fields.get("query"), fields.get("answers")
    if not isinstance(query, str) or answers is None:
        return None
    return _with_calls(ChatRow([{"role": "user", "content": query}], fields.get("tools")), answers)


def _with_calls(row: ChatRow, due: JsonValue, said: str = "") -> ChatRow:
    """Return the row with the calls due at its end, or with the words `said` if none is.

    Raises UnreadableChat if `due` is not a list.
    """
    calls, before = calls_due(due), items(row.messages)
    if calls:
        answer: Fields = {"role": "assistant", "content": None, "tool_calls": calls}
        return row._replace(messages=[*before, answer])
    if said:
        return row._replace(messages=[*before, {"role": "assistant", "content": said}])
    return row._replace(messages=before, is_idle=True)


def _toucan(fields: Fields) -> ChatRow | None:
    """Read a row of Toucan, without the system message, which repeats the row's tools."""
    listed = items(fields.get("messages"))
    messages = [one for one in listed if not isinstance(one, dict) or one.get("role") != "system"]
    tools = fields.get("available_tools", fields.get("tools"))
    return ChatRow(messages, tools, category=words(fields, "subset_name")) if messages else None


def _litellm(fields: Fields) -> ChatRow | None:
    """Read a line of litellm's log (standard payload), with tools among the model's parameters."""
    payload = part(fields, "standard_logging_object") or fields
    given_messages = _asked(payload.get("messages")) or items(
        part(payload, "messages").get("messages")
    )
    if not given_messages:
        return None
    request = part(payload, "proxy_server_request")
    asked = [part(payload, "model_parameters", "optional_params"), part(request, "body"), request]
    listed = (one.get("tools") or one.get("functions") for one in asked)
    tools = next((one for one in listed if one), None)
    error = words(part(payload, "error_information"), "error_class") or words(payload, "error_str")
    signals = Signals(words(payload, "status"), error[:200], signals_of(payload).feedback)
    if payload.get("response") is None:
        raise UnreadableChat(f"it has no answer{f': {error}' if error else ''}")
    messages = [*given_messages, *messages_of_reply(payload["response"])]
    return ChatRow(messages, tools, signals=signals, is_logged=True)


def _promptfoo(fields: Fields) -> ChatRow | None:
    """Read a test of our promptfoo export: calls due by assertions, or words by metadata.

    Raises UnreadableChat if there is neither.
    """
    messages, asserted = items(part(fields, "vars").get("messages")), objects(fields.get("assert"))
    if not messages or not asserted:
        return None
    calls = (one for one in asserted if one.get("type") == "trajectory:tool-args-match")
    values = (part(one, "value") for one in calls)
    due: list[JsonValue] = [
        {"name": one.get("name"), "arguments": one.get("args")} for one in values
    ]
    reply_words = words(part(fields, "metadata"), "words")
    if not due and not reply_words:
        raise UnreadableChat("no assertion is about a call, and nothing tells what is said")
    tools = part(fields, "options").get("tools")
    return _named(_with_calls(ChatRow(messages, tools), due, reply_words), fields)


def inspect_row(fields: Fields) -> ChatRow | None:
    """Read a sample of our export for Inspect; the target is what is due after the input."""
    row_metadata = part(fields, "metadata")
    if "target" not in fields or not isinstance(fields.get("input"), list):
        return None
    row = ChatRow(items(fields["input"]), row_metadata.get("tools"))
    return _named(_with_calls(row, fields["target"], words(row_metadata, "words")), fields)


def _format(name: str, holds: str, find: RowReader) -> SampleFormat:
    return SampleFormat(name, holds, reader_of_rows(name, find))


OPENAI = _format(
    "openai", "rows of OpenAI's chat completions, for training or as they were logged", _openai
)
TRL = _format("trl", "rows for TRL: messages, and tools as JSON text", _trl)
DPO = _format(
    "trl-dpo",
    "rows for TRL's DPOTrainer: a prompt, and of its answers the one that is chosen",
    _trl,
)
GRPO = _format(
    "trl-grpo", "our rows for TRL's GRPOTrainer: a prompt and the calls that are due", _trl
)
KTO = _format(
    "trl-kto", "rows for TRL's KTOTrainer: a prompt and its completion, where that is wanted", _trl
)
PROMPTFOO = _format(
    "promptfoo", "tests of our export for promptfoo: messages, tools and assertions", _promptfoo
)
RESPONSES = _format(
    "responses",
    "rows of OpenAI's responses API: input and output, or the whole exchange",
    _responses,
)
NEMO_GYM = _format(
    "nemo-gym", "rows of NeMo Gym: a request and the action that is expected", _responses
)
SHAREGPT = _format(
    "sharegpt", "ShareGPT with tools, and Hermes' and ToolACE's ways of it", _sharegpt
)
TOOLACE = _format("toolace", "ToolACE: tools in the system message, calls as Python", _sharegpt)
XLAM = _format("xlam", "xLAM's data: query, tools and answers", _xlam)
TOUCAN = _format("toucan", "Toucan: conversations with MCP servers", _toucan)
LITELLM = _format("litellm", "litellm's own log: a line a request", _litellm)
