"""Read agent logs: OpenTelemetry spans (generative AI), Langfuse observations, ATIF, Inspect.

The spans of a trace may be anywhere in a file, so a file is read twice: once for the trace of
each line, once trace by trace. Memory holds three numbers per line. Model calls of a trace count
only if no other one continues their conversation.
"""

import zipfile
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Problem, shown
from callwright.generators.catalogs.documents import (
    LONGEST_LINE,
    DocumentItem,
    FileLine,
    has_json_lines,
    left_out,
    parse,
    read_rows,
    row_of,
    stream_lines,
)
from callwright.generators.imports.answers import UnreadableChat, messages_of_reply
from callwright.generators.imports.chats import (
    ChatReader,
    ChatRow,
    inspect_row,
    reader_of_rows,
    sample_files,
)
from callwright.generators.imports.reading import (
    Fields,
    ImportedRecord,
    SampleFormat,
    Signals,
    broken,
    items,
    names_beside,
    objects,
    parsed,
    part,
    read_each,
    unread,
    words,
)
from callwright.generators.imports.span_events import read_events
from callwright.warehouse.json_text import DEEPEST

# of a file that is read trace by trace: batches of exporters hold spans of several traces
_KEPT_LINES = 64
_OTLP = ("stringValue", "boolValue", "intValue", "doubleValue")
_INPUT, _OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
_RESULT = "gen_ai.tool.call.result"
_LISTED = ("events", "all_messages_events")  # of a span, events as JSON text in an attribute
_ERRORS = frozenset({"ERROR", "STATUS_CODE_ERROR", "2"})
_ARCHIVE = ".eval"
_LONGEST_PLACE = 9  # digits of a place in a list


class Span(NamedTuple):
    """A span or observation: when it began, a model call's messages, and a tool's result."""

    began: str
    messages: tuple[JsonValue, ...] = ()
    answers: tuple[JsonValue, ...] = ()
    tools: JsonValue = None
    system: str = ""
    returned: JsonValue = None  # a message of a tool
    error: str = ""
    feedback: str = ""
    language: str = ""  # these as our own export tells them
    category: str = ""
    unreadable: str = ""  # why its answer can't be read
    id: str = ""  # of the span; records of a log have that of the span that they tell of


class TraceFormat(NamedTuple):
    """How rows hold spans: which spans there are, the trace of each, and its content."""

    spans_in: Callable[[JsonValue], Iterator[Fields]]
    trace_of: Callable[[Fields], str]
    read: Callable[[Fields], Span]


def trace_reader(name: str, form: TraceFormat) -> Callable[[Path], Iterator[ImportedRecord]]:
    """Return a reader of files with spans, trace by trace."""

    def read(path: Path) -> Iterator[ImportedRecord]:
        chats = ChatReader(name, names_beside(path))
        for file in sample_files(path):
            for trace in _traces(file, form):
                if isinstance(trace, Problem):
                    yield unread(trace)
                else:
                    yield from _records(trace, chats)

    return read


class _Trace(NamedTuple):
    where: str
    spans: Sequence[Span]


def _traces(file: Path, form: TraceFormat) -> Iterator[_Trace | Problem]:
    if file.suffix != ".parquet" and (index := _Index.of(file, form)) is not None:
        yield from index.problems
        yield from index.traces()
        return
    spans: dict[str, list[tuple[str, Span]]] = {}  # one document: it fits into memory
    for row in read_rows(file):
        if isinstance(row, Problem):
            yield row
            continue
        for one in form.spans_in(row.value):
            spans.setdefault(form.trace_of(one), []).append((row.where, form.read(one)))
    for found in spans.values():
        yield _Trace(found[0][0], [one for _, one in found])


class _Index:
    """The places of each trace's spans in a file of lines."""

    def __init__(self, file: Path, form: TraceFormat) -> None:
        self._file, self._form = file, form
        self.problems: list[Problem] = []
        self._traces, self._lines, self._offsets = array("Q"), array("Q"), array("Q")
        self._kept: dict[int, list[Fields]] = {}

    @classmethod
    def of(cls, file: Path, form: TraceFormat) -> "_Index | None":
        """Return the index of a file of JSON lines; None for any other file."""
        if not has_json_lines(file):
            return None
        index = cls(file, form)
        for line in stream_lines(file):
            row = row_of(line, file)
            if isinstance(row, Problem):
                index.problems.append(row)
                continue
            for trace in dict.fromkeys(map(index._number, form.spans_in(row.value))):
                index._traces.append(trace)
                index._lines.append(line.number)
                index._offsets.append(line.offset)
        return index

    def traces(self) -> Iterator[_Trace]:
        """Yield the traces in the order in which they begin."""
        traces = np.frombuffer(self._traces, dtype=np.uint64)
        _, firsts, places = np.unique(traces, return_index=True, return_inverse=True)
        order = np.lexsort((np.arange(len(traces)), firsts[places]))
        ends = np.flatnonzero(np.diff(firsts[places][order])) + 1
        with self._file.open("rb") as file:
            for group in np.split(order, ends) if len(order) else ():
                wanted, spans = int(traces[group[0]]), list[Span]()
                for at in group:
                    found = self._spans(file, int(at))
                    spans += [self._form.read(one) for one in found if self._number(one) == wanted]
                yield _Trace(f"{self._file}:{self._lines[int(group[0])]}", spans)

    def _number(self, span: Fields) -> int:
        return int.from_bytes(blake2b(self._form.trace_of(span).encode(), digest_size=8).digest())

    def _spans(self, file: BinaryIO, at: int) -> list[Fields]:
        offset = self._offsets[at]
        if offset not in self._kept:
            if len(self._kept) >= _KEPT_LINES:
                self._kept.pop(next(iter(self._kept)))
            file.seek(offset)
            line = FileLine(self._lines[at], file.readline().removeprefix(b"\xef\xbb\xbf"))
            row = row_of(line, self._file)
            self._kept[offset] = (
                [*self._form.spans_in(row.value)] if isinstance(row, DocumentItem) else []
            )
        return self._kept[offset]


def _records(trace: _Trace, chats: ChatReader) -> Iterator[ImportedRecord]:
    """Yield a trace's conversations; a model call that another one continues is part of it."""
    spans = _joined(sorted(trace.spans, key=lambda span: span.began))
    model_spans = [span for span in spans if span.messages or span.answers]
    if not model_spans:
        message = (
            "No span of this trace holds messages: let the exporter see that content is captured."
        )
        yield broken(trace.where, message)
        return
    returned = [span.returned for span in spans if span.returned is not None]
    error = next((span.error for span in spans if span.error), "")
    feedback = next((span.feedback for span in spans if span.feedback), "")
    signals = Signals("error" if error else "ok", error, feedback)
    for span in model_spans:
        whole, known = [*span.messages, *span.answers], len(span.messages)
        others = (one.messages for one in model_spans)
        if any(len(messages) > known and messages[:known] == span.messages for messages in others):
            continue
        if span.unreadable or not span.answers:
            reason = span.unreadable or "its span has no answer"
            message = f"It can't be read: {reason}; the conversation is left out."
            yield broken(trace.where, message)._replace(signals=signals)
            continue
        tools = span.tools or next((one.tools for one in reversed(model_spans) if one.tools), None)
        # what its calls returned tell spans of tools, by the ids of the calls
        last = str(whole[-1])
        identified = [one for one in returned if isinstance(one, dict) and one.get("id")]
        after = [one for one in identified if str(one["id"]) in last]
        row = ChatRow([*whole, *after], tools, span.system, span.language, span.category, signals)
        yield chats.chat(trace.where, row)


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Return the spans, each with the messages that records of a log tell of it."""
    joined: list[Span] = []
    places: dict[str, int] = {}
    for span in spans:
        at = places.setdefault(span.id, len(joined)) if span.id else len(joined)
        if at == len(joined):
            joined.append(span)
            continue
        first = joined[at]
        if span == first:  # exported twice
            continue
        joined[at] = first._replace(
            messages=first.messages + span.messages,
            answers=first.answers + span.answers,
            tools=first.tools or span.tools,
            system=first.system or span.system,
            error=first.error or span.error,
        )
    return joined


_LOGGED = (("scopeLogs", "scope_logs"), ("logRecords", "log_records"))
_TRACED = (("scopeSpans", "scope_spans"), ("spans",))


def _otel_spans(value: JsonValue) -> Iterator[Fields]:
    """Yield the spans of a row: a single span, or those of an OpenTelemetry protocol request.

    Of a request that logs events, those too: each is told as a span with that event.
    """
    if isinstance(value, list):
        for one in value:
            yield from _otel_spans(one)
    elif isinstance(value, dict):
        logged = value.get("resourceLogs", value.get("resource_logs"))
        resources = value.get("resourceSpans", value.get("resource_spans"))
        if not isinstance(resources, list) and not isinstance(logged, list):
            yield value
            return
        yield from _inner(resources, *_TRACED)
        for record in _inner(logged, *_LOGGED):
            attributes = _attributes(record.get("attributes"))
            body = _otlp_value(record.get("body"))
            began = words(record, "timeUnixNano", "time_unix_nano", "observedTimeUnixNano")
            yield {
                "traceId": words(record, "traceId", "trace_id"),
                "spanId": words(record, "spanId", "span_id"),
                "startTimeUnixNano": began,
                "events": [{**record, "attributes": attributes, "body": body}],
            }


def _inner(resources: JsonValue, scopes: Sequence[str], names: Sequence[str]) -> Iterator[Fields]:
    for resource in objects(resources):
        for scope in (one for name in scopes for one in objects(resource.get(name))):
            yield from (one for name in names for one in objects(scope.get(name)))


def _otel_trace(span: Fields) -> str:
    return (
        words(span, "traceId", "trace_id")
        or words(part(span, "context"), "trace_id", "traceId")
        or words(span, "spanId", "span_id")
    )


def _otel_span(span: Fields) -> Span:
    attributes = _attributes(span.get("attributes"))
    events: list[Fields] = [
        {**event, "attributes": _attributes(event.get("attributes"))}
        for event in objects(span.get("events"))
    ]
    told = read_events(
        [*events, *(one for name in _LISTED for one in objects(attributes.get(name)))]
    )
    for event in events:
        attributes |= part(event, "attributes")
    status, failed = part(span, "status"), words(attributes, "error.type")
    if not failed and words(status, "code", "status_code").upper() in _ERRORS:
        failed = words(status, "message", "description") or "error"
    began = words(span, "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")
    feedback = words(attributes, "gen_ai.evaluation.score.label", "gen_ai.evaluation.score.value")
    identity = words(span, "spanId", "span_id") or words(part(span, "context"), "span_id", "spanId")
    found = Span(
        began.zfill(20) if began.isdigit() else began, error=failed, feedback=feedback, id=identity
    )
    if attributes.get("gen_ai.operation.name") == "execute_tool":
        value, identity = parsed(attributes.get(_RESULT)), words(attributes, "gen_ai.tool.call.id")
        answer = told.answered[0] if told.answered else None
        if value is None and isinstance(answer, dict):
            value = answer.get("content")
        if value is None or not identity:
            return found
        returned: Fields = {"role": "tool", "id": identity, "content": value}
        return found._replace(returned={**returned, "name": words(attributes, "gen_ai.tool.name")})

    def listed(name: str, *older: str) -> list[JsonValue]:
        return items(attributes.get(name)) or [
            one for prefix in older for one in _flat(attributes, prefix)
        ]

    output = parsed(attributes.get(_OUTPUT))
    is_list = isinstance(output, list) or not output
    tools = attributes.get("gen_ai.tool.definitions") or _flat(attributes, "llm.request.functions")
    documents: list[JsonValue] = [  # OpenInference keeps each as JSON text in a field of its own
        parsed(inner["json_schema"]) if "json_schema" in (inner := part(one, "tool")) else dict(one)
        for one in objects(tools or _flat(attributes, "llm.tools"))
    ]
    system = objects(attributes.get("gen_ai.system_instructions"))
    return found._replace(
        messages=tuple(listed(_INPUT, "gen_ai.prompt", "llm.input_messages")) or told.asked,
        answers=tuple(listed(_OUTPUT, "gen_ai.completion", "llm.output_messages")) or told.answered,
        tools=documents or None,
        system="\n".join(words(one, "content", "text") for one in system),
        unreadable="" if is_list else f"its answer is {shown(output)}, not a list of messages",
    )


def _attributes(stated: JsonValue) -> Fields:
    """Return attributes as a mapping; the protocol may list them as keys and typed values."""
    if isinstance(stated, Mapping):
        return dict(stated)
    return {words(one, "key"): _otlp_value(one.get("value")) for one in objects(stated)}


def _otlp_value(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        return value
    for word in _OTLP:
        if word in value:
            return value[word]
    if "arrayValue" in value:
        return [_otlp_value(one) for one in items(part(value, "arrayValue").get("values"))]
    return _attributes(part(value, "kvlistValue").get("values"))


def _flat(told: Fields, prefix: str) -> list[JsonValue]:
    """Return the list that older instrumentations write flat, such as `gen_ai.prompt.0.role`.

    Another form is `llm.input_messages.0.message.content`.
    """
    items: dict[str, Fields] = {}
    for name, value in told.items():
        if name.startswith(f"{prefix}."):
            number, _, path = name.removeprefix(f"{prefix}.").partition(".")
            _put(items.setdefault(number, {}), path.removeprefix("message."), value)
    ordered = sorted(items, key=lambda number: (len(number), number))
    return [_relisted(items[number]) for number in ordered]


def _put(fields: Fields, path: str, value: JsonValue) -> None:
    *steps, last = path.split(".", DEEPEST)
    for step in steps:
        inner = fields.setdefault(step, {})
        if not isinstance(inner, dict):
            return
        fields = inner
    fields[last] = value


def _relisted(value: JsonValue) -> JsonValue:
    """Turn mappings with only numeric keys into lists, and unwrap OpenInference's calls."""
    if not isinstance(value, dict):
        return value
    inner = {name: _relisted(one) for name, one in value.items()}
    if inner and all(name.isdecimal() and len(name) <= _LONGEST_PLACE for name in inner):
        listed = [inner[name] for name in sorted(inner, key=int)]
        return [one.get("tool_call", one) if isinstance(one, dict) else one for one in listed]
    return inner


def _langfuse_spans(value: JsonValue) -> Iterator[Fields]:
    """Yield the observations of a row, one or a trace's own, together with the trace's scores."""
    for observation in value if isinstance(value, list) else [value]:
        if not isinstance(observation, dict):
            continue
        trace = part(observation, "trace") or observation
        inner = items(observation.get("observations")) or items(trace.get("observations"))
        scores = items(observation.get("scores")) or items(trace.get("scores"))
        if not inner:
            yield observation
        named: Fields = {"traceId": words(trace, "id"), "scores": scores}
        yield from ({**named, **found} for found in objects(inner))


def _langfuse_trace(span: Fields) -> str:
    return words(span, "traceId", "trace_id") or words(span, "id")


def _langfuse_span(span: Fields) -> Span:
    value = span.get("scores")
    scores = (words(one, "stringValue", "string_value", "value") for one in objects(value))
    failed = ""
    if words(span, "level") == "ERROR":
        failed = words(span, "statusMessage", "status_message") or "error"
    began = words(span, "startTime", "start_time")
    record = Span(began, error=failed[:200], feedback=next(scores, ""))
    if words(span, "type").upper() not in {"GENERATION", ""}:
        return record
    request, answer = (
        parsed(span.get("input")),
        parsed(span.get("output") or span.get("expectedOutput")),
    )
    fields = request if isinstance(request, dict) else {}
    messages = items(fields.get("messages")) if fields else items(request)
    if not messages and isinstance(request, str):
        messages = [{"role": "user", "content": request}]
    try:
        answers = _langfuse_answer(answer)
    except UnreadableChat as error:
        answers, record = [], record._replace(unreadable=str(error))
    told = part(span, "metadata")
    tools = fields.get("tools") or told.get("tools") or parsed(span.get("tool_definitions"))
    record = record._replace(language=words(told, "language"), category=words(told, "category"))
    return record._replace(messages=tuple(messages), answers=tuple(answers), tools=tools)


def _langfuse_answer(answer: JsonValue) -> list[JsonValue]:
    """Return the messages of an output: a text, one or more messages, or a provider's reply.

    Raises UnreadableChat for any other output.
    """
    match answer:
        case None:
            return []
        case str():
            return [{"role": "assistant", "content": answer}]
        case dict() if "choices" not in answer and not isinstance(answer.get("output"), list):
            return [{"role": "assistant", **answer}]
        case list() if not any("choices" in one or "delta" in one for one in objects(answer)):
            return answer
    return messages_of_reply(answer)


def _atif(fields: Fields) -> ChatRow | None:
    """Read a trajectory: each step of the agent with its calls, and their results beside them."""
    steps, version = fields.get("steps"), str(fields.get("schema_version", "ATIF"))
    if not isinstance(steps, list) or not version.startswith("ATIF"):
        return None
    messages: list[JsonValue] = []
    for step in steps:
        if isinstance(step, dict):
            message = {"content": step.get("message"), "tool_calls": step.get("tool_calls")}
            messages.append({"role": step.get("source"), **message})
            value = part(step, "observation").get("results")
            messages += [{"role": "tool", **one} for one in objects(value)]
    agent = part(fields, "agent")
    return ChatRow(messages, agent.get("tool_definitions"), category=words(agent, "name"))


def read_inspect(path: Path) -> Iterator[ImportedRecord]:
    """Yield the samples of a log, or of all logs below a folder.

    Raises ConfigurationError if there is no file.
    """
    chats = ChatReader("inspect", names_beside(path))
    archives = [path] if path.suffix == _ARCHIVE else sorted(path.rglob(f"*{_ARCHIVE}"))
    for file in archives or sample_files(path):
        rows = _archived(file) if file.suffix == _ARCHIVE else _written(file)
        yield from read_each(rows, lambda row: chats.record(row, _inspect))


def _written(file: Path) -> Iterator[DocumentItem | Problem]:
    """Yield the samples of a JSON log, or the rows of a data set."""
    for row in read_rows(file):
        value = row.value if isinstance(row, DocumentItem) else None
        logged = value.get("samples") if isinstance(value, dict) else None
        if not isinstance(logged, list):
            yield row
            continue
        for at, one in enumerate(logged):
            yield DocumentItem(f"{row.where}/samples/{at}", one, row.line)


def _archived(file: Path) -> Iterator[DocumentItem | Problem]:
    """Yield the samples of an archive; newer versions of Inspect compress them with Zstandard."""
    with suppress(ImportError):  # teaches the zipfile of older Pythons, as Inspect itself does
        import_module("zipfile_zstd")
    try:
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                where = f"{file}:{entry.filename}"
                if not entry.filename.startswith("samples/"):
                    continue
                if entry.file_size > LONGEST_LINE:
                    yield left_out(
                        where, f"can't be read: it is longer than {LONGEST_LINE // 2**20} MiB"
                    )
                    continue
                value = parse(archive.read(entry).decode("utf-8", "replace"), where)
                yield value if isinstance(value, Problem) else DocumentItem(where, value)
    except NotImplementedError as error:
        advice = "`pip install zipfile-zstd`, or write it anew with `inspect log convert --to json`"
        yield left_out(str(file), f"can't be read: {error}; {advice}")
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        why = f"can't be read: {error}; `inspect log convert --to json` writes it anew"
        yield left_out(str(file), why)


def _inspect(fields: Fields) -> ChatRow | None:
    """Read a log's sample; its tools are those of the last model call among the events."""
    messages, events = fields.get("messages"), fields.get("events")
    if not isinstance(messages, list) or not messages:
        return inspect_row(fields)
    error = part(fields, "error")
    first = next((one for one in part(fields, "scores").values() if isinstance(one, dict)), {})
    value = words(first, "value")
    outcome = {"C": "correct", "I": "incorrect", "P": "partial"}.get(value, value)
    listed = (one.get("tools") for one in reversed(objects(events)))
    tools = next((one for one in listed if isinstance(one, list) and one), None)
    signals = Signals("error" if error else outcome, words(error, "message")[:200])
    return ChatRow(messages, tools, signals=signals)


OTEL = SampleFormat(
    "otel",
    "spans of OpenTelemetry's conventions for generative AI, a line each or a document",
    trace_reader("otel", TraceFormat(_otel_spans, _otel_trace, _otel_span)),
)
LANGFUSE = SampleFormat(
    "langfuse",
    "Langfuse's exports: traces with their observations, observations, or items of a dataset",
    trace_reader("langfuse", TraceFormat(_langfuse_spans, _langfuse_trace, _langfuse_span)),
)
ATIF = SampleFormat("atif", "trajectories of agents in ATIF", reader_of_rows("atif", _atif))
INSPECT = SampleFormat("inspect", "Inspect's logs, and our own data sets for it", read_inspect)
