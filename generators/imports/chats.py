"""Conversations as samples: whatever a row is like, its messages, its tools and its signals come to the same record.

Below stand the formats in which a row is a conversation: where each keeps its messages, its tools, and what else it tells.
"""

import json
import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import orjson
from pydantic import JsonValue, ValidationError

from callwright.generators.catalogs.builder import CatalogBuilder, ToolDraft
from callwright.generators.catalogs.catalog import Problem, shown
from callwright.generators.catalogs.documents import DocumentItem, files_at, read_rows
from callwright.generators.catalogs.papers import BFCL_WORDS
from callwright.generators.catalogs.rewriting import renaming_types
from callwright.generators.imports.messages import UnreadableChat, read_chat
from callwright.generators.imports.reading import (
    Fields,
    ImportedRecord,
    RecordReader,
    SampleFormat,
    Signals,
    items,
    language_of_user,
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
from callwright.warehouse.records import TIME_SENTENCE, CallTurn, Origin, Sample, Tool, trait_tag

SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet")
_TIME = re.compile(rf"(?:^|\n){re.escape(TIME_SENTENCE.format(''))}(\d{{4}}-\d{{2}}-\d{{2}}(?: \d{{2}}:\d{{2}})?)$")
_TOOLS_IN_TEXT = re.compile(r"<tools>(.*?)</tools>", re.DOTALL)
_OPENING = re.compile(r"\[\s*\{")
_WORD = re.compile(r"[A-Za-z]+")
_OPTIONAL = "optional"
_SCHEMAS = ("parameters", "input_schema", "inputSchema")
_BESIDE = ".origins.jsonl"  # what our own export for OpenAI writes beside its rows
_ABOUT = frozenset(  # files that tell of others
    {MANIFEST, SHAREGPT_INFO, CROISSANT, WORLDS_FILE, "dataset_infos.json", "state.json"}
)
_FEEDBACK = ("feedback", "user_feedback", "rating", "score", "thumbs")
_BODIES = ("body", "request", "requestBody", "request_body", "kwargs")
_ANSWERS = ("response", "completion", "responseBody", "response_body")


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
        return read_each(chain.from_iterable(map(read_rows, sample_files(path))), lambda row: chats.record(row, find))

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


class ChatReader:
    """Makes records of rows; what many rows have in common is one tool."""

    def __init__(self, source: str) -> None:
        """Tools say that they come from `source`."""
        change = renaming_types(BFCL_WORDS, reported=False)
        self.builder = CatalogBuilder(source, change=change, by_category=False)

    def record(self, row: DocumentItem, find: RowReader) -> ImportedRecord:
        """The record of a row; one that can't be read says why."""
        found = find(row.value) if isinstance(row.value, dict) else None
        if found is None:
            known = sorted(row.value)[:8] if isinstance(row.value, dict) else shown(row.value)
            message = f"This is no row of the format: {known}."
            return unread(Problem(where=row.where, kind="other_format", message=message))
        return self.chat(row.where, found)

    def chat(self, where: str, row: ChatRow) -> ImportedRecord:
        """The record of a conversation."""
        return _ChatRecord(where, self.builder).record(row)._replace(signals=row.signals)


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
        known = {tool.name for tool in tools}
        called = {call.tool for turn in chat.turns if isinstance(turn, CallTurn) for call in turn.calls}
        if known and (strange := sorted(called - known)):
            self.refuse(f"It calls {', '.join(map(repr, strange[:3]))}, of which its tools have no usable document")
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
    listed = {name: one for name, one in stated.items() if isinstance(one, dict)}
    if len(listed) < len(stated):
        return stated
    required: JsonValue = [
        name
        for name, one in listed.items()
        if "default" not in one and _OPTIONAL not in str(one.get("type", "")).lower()
    ]
    return {
        "type": "object",
        "properties": {name: _typed(one) for name, one in listed.items()},
        "required": required,
    }


def _typed(parameter: Fields) -> Fields:
    """A parameter whose type is a Python annotation, in JSON Schema's word: "List[int], optional" is an array."""
    written = str(parameter.get("type", ""))
    word = next((found for found in _WORD.findall(written) if found.lower() not in {_OPTIONAL, "union"}), "")
    typed = {key: value for key, value in parameter.items() if key not in {"type", "required"}}
    return {"type": word, **typed} if word.lower() in BFCL_WORDS else typed


def _apart(system: str, tools: JsonValue) -> tuple[str, JsonValue]:
    """The system message and the tools; a message that holds the tools says nothing else that belongs to the conversation."""
    tagged = _TOOLS_IN_TEXT.search(system)
    if tagged:  # Hermes' tags, around one list or a document a line
        lines = (parsed(line.strip()) for line in tagged[1].splitlines())
        return "", tools or items(tagged[1].strip()) or [one for one in lines if isinstance(one, dict)]
    opening = _OPENING.search(system) if tools in (None, "", []) else None
    if opening:
        text = system[opening.start() :]
        try:
            _, end = json.JSONDecoder().raw_decode(text)
            found = orjson.loads(text[:end])
        except (ValueError, RecursionError):
            return system, tools
        if found and all(isinstance(one, dict) and one.keys() & {"name", "function"} for one in found):
            return "", found
    return system, tools


def signals_of(fields: Fields) -> Signals:
    """What a row tells of how it went, in the words that logs have for it."""
    error = fields.get("error") or fields.get("error_str") or ""
    named = error.get("type", error.get("message", "error")) if isinstance(error, dict) else error
    status = words(fields, "status", "outcome")
    feedback = words(fields, *_FEEDBACK) or words(part(fields, "metadata"), *_FEEDBACK)
    return Signals(status or ("error" if named else ""), str(named)[:200], feedback)


def _answer_messages(answer: Fields) -> list[JsonValue]:
    """The messages of a reply of a provider: of the chat completions API, of the responses API, or a message by itself."""
    inner = part(answer, "body") or answer
    choices = items(inner.get("choices"))
    if choices:
        return [one["message"] for one in choices[:1] if isinstance(one, dict) and isinstance(one.get("message"), dict)]
    if isinstance(inner.get("output"), list):
        return items(inner["output"])
    return [inner] if inner.get("role") == "assistant" else []


def _named(row: ChatRow, fields: Fields) -> ChatRow:
    """The row with the language and the category that a row of our own exports tells of its sample."""
    origin = part(fields, "origin", "metadata")
    return row._replace(language=words(origin, "language"), category=words(origin, "category"))


def _openai(fields: Fields) -> ChatRow | None:
    """A row of chat completions: for training, or as it was logged, with the request and the reply apart."""
    body = fields if "messages" in fields else part(fields, *_BODIES)
    messages = items(body.get("messages"))
    if not messages:
        return None
    answered = part(fields, *_ANSWERS) or (fields if "choices" in fields else {})
    tools = body.get("tools") or body.get("functions") or fields.get("tools")
    return _named(ChatRow([*messages, *_answer_messages(answered)], tools, signals=signals_of(fields)), fields)


def _trl(fields: Fields) -> ChatRow | None:
    """A row for TRL: messages, or a prompt with the answer that is wanted or due; one that is not wanted is no sample."""
    prompt = items(fields.get("prompt"))
    if not prompt:
        return _openai(fields)
    if fields.get("label") is False:
        return None
    told = prompt[0].get("content") if isinstance(prompt[0], dict) else None
    if isinstance(told, str) and CALLING in told:  # the tools, as our rows for GRPO tell them
        briefing = told.partition(CALLING)[0].strip()
        prompt = [{"role": "system", "content": briefing}, *prompt[1:]] if briefing else prompt[1:]
    said: list[JsonValue] = [{"role": "assistant", "content": words(fields, "words")}]
    wanted = items(fields.get("chosen")) or items(fields.get("completion")) or _made(fields.get("gold")) or said
    return _named(ChatRow([*prompt, *wanted], fields.get("tools")), fields)


def _responses(fields: Fields) -> ChatRow | None:
    """A row of the responses API: its input and output; of NeMo Gym's rows the action that is expected."""
    body = part(fields, "responses_create_params", *_BODIES) or fields
    given = body.get("input")
    if given is None:
        return None
    before: list[JsonValue] = [{"role": "user", "content": given}] if isinstance(given, str) else items(given)
    after: list[JsonValue]
    action = part(fields, "expected_action")
    match action:
        case {"type": "function_call_batch", "calls": list(calls)}:
            after = calls
        case {"type": "message", "content": str(text)}:
            after = [{"role": "assistant", "content": text}]
        case _:
            after = [action] if action else _answer_messages(part(fields, *_ANSWERS) or fields)
    row = ChatRow([*before, *after], body.get("tools"), words(body, "instructions"), signals=signals_of(fields))
    return _named(row, fields)


def _sharegpt(fields: Fields) -> ChatRow | None:
    """A row of ShareGPT with tools, Hermes' and ToolACE's among them: these have their tools in the system message."""
    messages = items(fields.get("conversations", fields.get("conversation")))
    row = ChatRow(messages, fields.get("tools"), words(fields, "system"))
    return _named(row, fields) if messages else None


def _xlam(fields: Fields) -> ChatRow | None:
    """A row of xLAM's data: a query, its tools, and the calls that answer it."""
    query, answers = fields.get("query"), fields.get("answers")
    if not isinstance(query, str) or answers is None:
        return None
    return ChatRow([{"role": "user", "content": query}, *_made(answers)], fields.get("tools"))


def _made(calls: JsonValue) -> list[JsonValue]:
    """A message that makes these calls; none where none is due."""
    listed = items(calls)
    return [{"role": "assistant", "content": None, "tool_calls": listed}] if listed else []


def _toucan(fields: Fields) -> ChatRow | None:
    """A row of Toucan: its system message declares the tools that stand beside it, too."""
    listed = items(fields.get("messages"))
    messages = [one for one in listed if not (isinstance(one, dict) and one.get("role") == "system")]
    tools = fields.get("available_tools", fields.get("tools"))
    return ChatRow(messages, tools, category=words(fields, "subset_name")) if messages else None


def _litellm(fields: Fields) -> ChatRow | None:
    """A line of litellm's own log, its standard payload; the tools stand among the parameters of the model."""
    payload = part(fields, "standard_logging_object") or fields
    messages = payload.get("messages")
    given: list[JsonValue] = [{"role": "user", "content": messages}] if isinstance(messages, str) else items(messages)
    given = given or items(part(payload, "messages").get("messages"))
    if not given:
        return None
    request = part(payload, "proxy_server_request")
    asked = [part(payload, "model_parameters", "optional_params"), part(request, "body"), request]
    tools = next((found for one in asked if (found := one.get("tools") or one.get("functions"))), None)
    error = words(part(payload, "error_information"), "error_class") or words(payload, "error_str")
    signals = Signals(words(payload, "status"), error[:200], signals_of(payload).feedback)
    return ChatRow([*given, *_answer_messages(part(payload, "response"))], tools, signals=signals)


def _promptfoo(fields: Fields) -> ChatRow | None:
    """A test of our export for promptfoo: what its assertions ask for is what is due, else its metadata have the words."""
    messages, asserted = items(part(fields, "vars").get("messages")), objects(fields.get("assert"))
    if not messages or not asserted:
        return None
    values = [part(one, "value") for one in asserted if one.get("type") == "trajectory:tool-args-match"]
    due: list[JsonValue] = [{"name": one.get("name"), "arguments": one.get("args")} for one in values]
    said: list[JsonValue] = [{"role": "assistant", "content": words(part(fields, "metadata"), "words")}]
    return _named(ChatRow([*messages, *(_made(due) or said)], part(fields, "options").get("tools")), fields)


def inspect_row(fields: Fields) -> ChatRow | None:
    """A sample of our export for Inspect: the target is what is due after the input."""
    told = part(fields, "metadata")
    if "target" not in fields or not isinstance(fields.get("input"), list):
        return None
    due = _made(fields["target"]) or [{"role": "assistant", "content": words(told, "words")}]
    return _named(ChatRow([*items(fields["input"]), *due], told.get("tools")), fields)


def _format(name: str, holds: str, find: RowReader) -> SampleFormat:
    return SampleFormat(name, holds, reader_of_rows(name, find))


OPENAI = _format("openai", "rows of OpenAI's chat completions, for training or as they were logged", _openai)
TRL = _format("trl", "rows for TRL: messages, and tools as JSON text", _trl)
DPO = _format("trl-dpo", "rows for TRL's DPOTrainer: a prompt, and of its answers the one that is chosen", _trl)
GRPO = _format("trl-grpo", "our rows for TRL's GRPOTrainer: a prompt and the calls that are due", _trl)
KTO = _format("trl-kto", "rows for TRL's KTOTrainer: a prompt and its completion, where that is wanted", _trl)
PROMPTFOO = _format("promptfoo", "tests of our export for promptfoo: messages, tools and assertions", _promptfoo)
RESPONSES = _format("responses", "rows of OpenAI's responses API: input and output, or the whole exchange", _responses)
NEMO_GYM = _format("nemo-gym", "rows of NeMo Gym: a request and the action that is expected", _responses)
SHAREGPT = _format("sharegpt", "ShareGPT with tools, and Hermes' and ToolACE's ways of it", _sharegpt)
TOOLACE = _format("toolace", "ToolACE: tools in the system message, calls as Python", _sharegpt)
XLAM = _format("xlam", "xLAM's data: query, tools and answers", _xlam)
TOUCAN = _format("toucan", "Toucan: conversations with MCP servers", _toucan)
LITELLM = _format("litellm", "litellm's own log: a line a request", _litellm)
