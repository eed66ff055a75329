"""Traces of agents: spans of OpenTelemetry's conventions for generative AI, Langfuse's observations, trajectories in ATIF.

The spans of a trace may lie anywhere in a file, so a file is read twice: once for which trace each line belongs to, once trace by
trace. Memory holds three numbers of a line. Of a trace's calls of models those count whose conversation no later one goes on with.
"""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Problem
from callwright.generators.catalogs.documents import DocumentItem, FileLine, read_rows, row_of, stream_lines
from callwright.generators.imports.chats import ChatReader, ChatRow, reader_of_rows, sample_files
from callwright.generators.imports.messages import Fields, parsed
from callwright.generators.imports.reading import ImportedRecord, Signals
from callwright.generators.imports.rows import part, words
from callwright.generators.imports.table import SampleFormat

_KEPT_LINES = 64  # of a file that is read trace by trace: batches of exporters hold spans of several traces
_OTLP = ("stringValue", "boolValue", "intValue", "doubleValue")
_INPUT, _OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
_ERRORS = frozenset({"ERROR", "STATUS_CODE_ERROR", "2"})


class Span(NamedTuple):
    """What a span or an observation tells: when it began, the messages of a call of a model, and what a tool returned."""

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


class _Format(NamedTuple):
    """How spans stand in a row: which ones there are, the trace of each, and what one tells."""

    spans_in: Callable[[JsonValue], Iterator[Fields]]
    trace_of: Callable[[Fields], str]
    read: Callable[[Fields], Span]


def _reader(name: str, form: _Format) -> Callable[[Path], Iterator[ImportedRecord]]:
    def read(path: Path) -> Iterator[ImportedRecord]:
        chats = ChatReader(name)
        for file in sample_files(path):
            for trace in _traces(file, form):
                if isinstance(trace, Problem):
                    yield ImportedRecord(trace.where, problems=(trace,))
                else:
                    yield from _records(trace, chats)

    return read


class _Trace(NamedTuple):
    where: str
    spans: Sequence[Span]


def _traces(file: Path, form: _Format) -> Iterator[_Trace | Problem]:
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
    """Where the spans of each trace stand in a file of lines."""

    def __init__(self, file: Path, form: _Format) -> None:
        self._file, self._form = file, form
        self.problems: list[Problem] = []
        self._traces, self._lines, self._offsets = array("Q"), array("Q"), array("Q")
        self._kept: dict[int, list[Fields]] = {}

    @classmethod
    def of(cls, file: Path, form: _Format) -> "_Index | None":
        """The index of a file of JSON lines, None of another file."""
        index, is_first = cls(file, form), True
        for line in stream_lines(file):
            row = row_of(line, file)
            if isinstance(row, Problem):
                if is_first and not line.problem:
                    return None  # a document over several lines
                index.problems.append(row)
                continue
            is_first = False
            index._add(line, row.value)
        return index if len(index._lines) or index.problems else None

    def _add(self, line: FileLine, value: JsonValue) -> None:
        for trace in dict.fromkeys(map(self._form.trace_of, self._form.spans_in(value))):
            self._traces.append(int.from_bytes(blake2b(trace.encode(), digest_size=8).digest()))
            self._lines.append(line.number)
            self._offsets.append(line.offset)

    def traces(self) -> Iterator[_Trace]:
        """The traces, in the order in which they begin."""
        traces = np.frombuffer(self._traces, dtype=np.uint64)
        _, firsts, places = np.unique(traces, return_index=True, return_inverse=True)
        order = np.lexsort((np.arange(len(traces)), firsts[places]))
        ends = np.flatnonzero(np.diff(firsts[places][order])) + 1
        with self._file.open("rb") as file:
            for group in np.split(order, ends) if len(order) else ():
                wanted, spans = int(traces[group[0]]), list[Span]()
                for at in group:
                    spans += [self._form.read(one) for one in self._spans(file, int(at)) if self._is_of(one, wanted)]
                yield _Trace(f"{self._file}:{self._lines[int(group[0])]}", spans)

    def _is_of(self, span: Fields, trace: int) -> bool:
        return int.from_bytes(blake2b(self._form.trace_of(span).encode(), digest_size=8).digest()) == trace

    def _spans(self, file: BinaryIO, at: int) -> list[Fields]:
        offset = self._offsets[at]
        if offset not in self._kept:
            if len(self._kept) >= _KEPT_LINES:
                self._kept.pop(next(iter(self._kept)))
            file.seek(offset)
            row = row_of(FileLine(self._lines[at], file.readline().removeprefix(b"\xef\xbb\xbf")), self._file)
            self._kept[offset] = [*self._form.spans_in(row.value)] if isinstance(row, DocumentItem) else []
        return self._kept[offset]


def _records(trace: _Trace, chats: ChatReader) -> Iterator[ImportedRecord]:
    """The conversations of a trace: a call of a model that a later one goes on with is a part of that one."""
    spans = sorted(trace.spans, key=lambda span: span.began)
    asked = [span for span in spans if span.messages or span.answers]
    if not asked:
        message = "No span of this trace holds messages: the conventions leave them out unless content is captured."
        problem = Problem(where=trace.where, kind="bad_record", message=message)
        yield ImportedRecord(trace.where, problems=(problem,))
        return
    returned = [span.returned for span in spans if span.returned is not None]
    error = next((span.error for span in spans if span.error), "")
    feedback = next((span.feedback for span in spans if span.feedback), "")
    for at, span in enumerate(asked):
        whole = [*span.messages, *span.answers]
        if any(_goes_on(later, span) for later in asked[at + 1 :]):
            continue
        tools = span.tools or next((one.tools for one in reversed(asked) if one.tools), None)
        row = ChatRow([*whole, *_after(whole, returned)], tools, span.system, span.language, span.category)
        yield chats.chat(trace.where, row._replace(signals=Signals("error" if error else "ok", error, feedback)))


def _goes_on(later: Span, span: Span) -> bool:
    """Whether a later call was asked with all the messages of this one, and more."""
    known = len(span.messages)
    return len(later.messages) > known and later.messages[:known] == span.messages


def _after(messages: Sequence[JsonValue], returned: Sequence[JsonValue]) -> list[JsonValue]:
    """What the calls of the last message returned, where spans of tools tell it by the ids of the calls."""
    last = str(messages[-1]) if messages else ""
    return [one for one in returned if isinstance(one, dict) and one.get("id") and str(one["id"]) in last]


def _otel_spans(value: JsonValue) -> Iterator[Fields]:
    """The spans of a row: one span by itself, or a request of the OpenTelemetry protocol with many."""
    if isinstance(value, list):
        for one in value:
            yield from _otel_spans(one)
    elif isinstance(value, dict):
        resources = value.get("resourceSpans", value.get("resource_spans"))
        if not isinstance(resources, list):
            yield value
            return
        for resource in _objects(resources):
            for scope in _objects(resource.get("scopeSpans", resource.get("scope_spans"))):
                yield from _objects(scope.get("spans"))


def _otel_trace(span: Fields) -> str:
    return (
        words(span, "traceId", "trace_id")
        or words(part(span, "context"), "trace_id", "traceId")
        or words(span, "spanId", "span_id")
    )


def _otel_span(span: Fields) -> Span:
    told = _attributes(span.get("attributes"))
    for event in _objects(span.get("events")):
        told |= _attributes(event.get("attributes"))
    status = part(span, "status")
    failed = words(told, "error.type") or (
        words(status, "message", "description") or "error" if _is_error(status) else ""
    )
    began = words(span, "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")
    feedback = words(told, "gen_ai.evaluation.score.label", "gen_ai.evaluation.score.value")
    span_of = Span(began.zfill(20) if began.isdigit() else began, error=failed, feedback=feedback)
    if told.get("gen_ai.operation.name") == "execute_tool":
        value, identity = parsed(told.get("gen_ai.tool.call.result")), words(told, "gen_ai.tool.call.id")
        if value is None or not identity:
            return span_of
        name = words(told, "gen_ai.tool.name")
        return span_of._replace(returned={"role": "tool", "id": identity, "name": name, "content": value})
    messages = _list(told.get(_INPUT)) or [*_flat(told, "gen_ai.prompt"), *_flat(told, "llm.input_messages")]
    answers = _list(told.get(_OUTPUT)) or [*_flat(told, "gen_ai.completion"), *_flat(told, "llm.output_messages")]
    system = "\n".join(words(one, "content", "text") for one in _objects(told.get("gen_ai.system_instructions")))
    tools = told.get("gen_ai.tool.definitions") or _flat(told, "llm.request.functions") or _flat(told, "llm.tools")
    return span_of._replace(messages=tuple(messages), answers=tuple(answers), tools=_bare(tools), system=system)


def _is_error(status: Fields) -> bool:
    return words(status, "code", "status_code").upper() in _ERRORS


def _bare(tools: JsonValue) -> JsonValue:
    """The documents of tools; OpenInference keeps each as JSON text in a field of its own."""
    listed: list[JsonValue] = [
        parsed(inner["json_schema"]) if (inner := part(one, "tool")) and "json_schema" in inner else dict(one)
        for one in _objects(tools)
    ]
    return listed or None


def _attributes(stated: JsonValue) -> Fields:
    """Attributes as a mapping: they are one already, or the protocol's list of keys and typed values."""
    if isinstance(stated, Mapping):
        return dict(stated)
    return {words(one, "key"): _otlp_value(one.get("value")) for one in _objects(stated)}


def _otlp_value(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        return value
    for word in _OTLP:
        if word in value:
            return value[word]
    if "arrayValue" in value:
        return [_otlp_value(one) for one in _list(part(value, "arrayValue").get("values"))]
    return _attributes(part(value, "kvlistValue").get("values"))


def _flat(told: Fields, prefix: str) -> list[JsonValue]:
    """The list that older instrumentations write flat: `gen_ai.prompt.0.role`, `llm.input_messages.0.message.content`."""
    items: dict[str, Fields] = {}
    for name, value in told.items():
        if name.startswith(f"{prefix}."):
            number, _, path = name.removeprefix(f"{prefix}.").partition(".")
            _put(items.setdefault(number, {}), path.removeprefix("message."), value)
    ordered = sorted(items, key=lambda number: (len(number), number))
    return [_relisted(items[number]) for number in ordered]


def _put(fields: Fields, path: str, value: JsonValue) -> None:
    step, _, rest = path.partition(".")
    if not rest:
        fields[step] = value
        return
    inner = fields.setdefault(step, {})
    if isinstance(inner, dict):
        _put(inner, rest, value)


def _relisted(value: JsonValue) -> JsonValue:
    """A mapping whose keys are all numbers is a list; calls lose the word that OpenInference puts around them."""
    if not isinstance(value, dict):
        return value
    inner = {name: _relisted(one) for name, one in value.items()}
    if inner and all(name.isdigit() for name in inner):
        listed = [inner[name] for name in sorted(inner, key=int)]
        return [one.get("tool_call", one) if isinstance(one, dict) else one for one in listed]
    return inner


def _langfuse_spans(value: JsonValue) -> Iterator[Fields]:
    """The observations of a row: one by itself, or a trace with those of its own; its scores go along."""
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, dict):
            continue
        trace = part(one, "trace") or one
        inner = _list(one.get("observations")) or _list(trace.get("observations"))
        scores = _list(one.get("scores")) or _list(trace.get("scores"))
        if not inner:
            yield one
        named: Fields = {"traceId": words(trace, "id"), "scores": scores}
        yield from ({**named, **found} for found in _objects(inner))


def _langfuse_trace(span: Fields) -> str:
    return words(span, "traceId", "trace_id") or words(span, "id")


def _langfuse_span(span: Fields) -> Span:
    feedback = next((words(one, "stringValue", "string_value", "value") for one in _objects(span.get("scores"))), "")
    failed = words(span, "statusMessage", "status_message") or "error" if words(span, "level") == "ERROR" else ""
    found = Span(words(span, "startTime", "start_time"), error=failed[:200], feedback=feedback)
    if words(span, "type").upper() not in {"GENERATION", ""}:
        return found
    given, answer = parsed(span.get("input")), parsed(span.get("output") or span.get("expectedOutput"))
    fields = given if isinstance(given, dict) else {}
    messages = _list(fields.get("messages")) if fields else _list(given)
    if not messages and isinstance(given, str):
        messages = [{"role": "user", "content": given}]
    tools = fields.get("tools") or part(span, "metadata").get("tools") or parsed(span.get("tool_definitions"))
    told = part(span, "metadata")
    found = found._replace(language=words(told, "language"), category=words(told, "category"))
    return found._replace(messages=tuple(messages), answers=tuple(_answers(answer)), tools=tools)


def _answers(answer: JsonValue) -> list[JsonValue]:
    if isinstance(answer, list):
        return answer
    if isinstance(answer, dict):
        return [{"role": "assistant", **answer}]
    return [{"role": "assistant", "content": answer}] if isinstance(answer, str) else []


def _objects(value: JsonValue) -> list[Fields]:
    return [one for one in _list(value) if isinstance(one, dict)]


def _list(value: JsonValue) -> list[JsonValue]:
    held = parsed(value)
    return held if isinstance(held, list) else []


def _atif(fields: Fields) -> ChatRow | None:
    """A trajectory: each step of the agent with its calls, and what they returned beside them."""
    steps = fields.get("steps")
    if not isinstance(steps, list) or not str(fields.get("schema_version", "ATIF")).startswith("ATIF"):
        return None
    messages: list[JsonValue] = []
    for step in steps:
        if isinstance(step, dict):
            said = {"role": step.get("source"), "content": step.get("message"), "tool_calls": step.get("tool_calls")}
            messages.append(said)
            messages += [{"role": "tool", **one} for one in _objects(part(step, "observation").get("results"))]
    agent = part(fields, "agent")
    return ChatRow(messages, agent.get("tool_definitions"), category=words(agent, "name"))


OTEL = SampleFormat(
    "otel", "spans of OpenTelemetry's conventions for generative AI: JSON or the protocol's own, a line each or a document",
    _reader("otel", _Format(_otel_spans, _otel_trace, _otel_span)), is_traffic=True,
)  # fmt: skip
LANGFUSE = SampleFormat(
    "langfuse", "Langfuse's exports: traces with their observations, observations, or items of a dataset",
    _reader("langfuse", _Format(_langfuse_spans, _langfuse_trace, _langfuse_span)), is_traffic=True,
)  # fmt: skip
ATIF = SampleFormat("atif", "trajectories of agents in ATIF", reader_of_rows("atif", _atif), is_traffic=True)
