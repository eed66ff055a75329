"""Read LangSmith's runs: a run a line, nested runs, lists of them, or rows of its bulk export.

The messages of a model's run are LangChain's in any of its forms, or those of a provider.
"""

from collections.abc import Iterator

from pydantic import JsonValue

from callwright.generators.imports.answers import UnreadableChat, messages_of_reply
from callwright.generators.imports.reading import (
    Fields,
    SampleFormat,
    items,
    objects,
    parsed,
    part,
    words,
)
from callwright.generators.imports.traces import Span, TraceFormat, trace_reader

# of a model's run, that LangChain calls by either name
_MODELS = ("llm", "chat_model")
_ROLES = {
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
}
_CHUNK = "Chunk"  # behind the name of a message that was streamed


def _runs_in(value: JsonValue) -> Iterator[Fields]:
    """Yield the runs of a row, those within others too."""
    waiting = objects(value if isinstance(value, list) else [value])
    while waiting:
        run = waiting.pop(0)
        if "runs" in run:  # a page of the server's answer
            waiting += objects(run["runs"])
            continue
        within: Fields = {"trace_id": _trace_of(run)}
        waiting += [{**within, **one} for one in objects(run.get("child_runs"))]
        yield run


def _trace_of(run: Fields) -> str:
    return words(run, "trace_id", "traceId") or words(run, "id")


def _span_of(run: Fields) -> Span:
    stats = part(run, "feedback_stats").values()
    marks = (words(one, "avg", "score") for one in stats if isinstance(one, dict))
    span = Span(
        words(run, "start_time", "startTime"),
        error=words(run, "error")[:200],
        feedback=next(filter(None, marks), ""),
    )
    told, answer = part(run, "inputs"), part(run, "outputs")
    if run.get("run_type") == "tool":
        returned = _plain(answer.get("output"))
        is_result = isinstance(returned, dict) and bool(words(returned, "tool_call_id"))
        return span._replace(returned=_result(returned)) if is_result else span
    if run.get("run_type") not in _MODELS:
        return span
    asked = told.get("messages", told.get("input"))
    listed = [{"role": "user", "content": asked}] if _is_said(asked) else items(asked)
    if len(listed) == 1 and isinstance(listed[0], list):  # LangChain asks several at once
        listed = listed[0]
    given = part(part(run, "extra"), "invocation_params", "options")
    tools = told.get("tools") or given.get("tools") or given.get("functions")
    system = "\n".join(words(one, "text") for one in objects(told.get("system")))
    span = span._replace(
        messages=tuple(map(_plain, listed)),
        tools=tools,
        system=system or words(told, "system", "instructions"),
    )
    try:
        return span._replace(answers=tuple(map(_plain, _answers(answer))))
    except UnreadableChat as error:
        return span._replace(unreadable=str(error))


def _is_said(value: JsonValue) -> bool:
    """Whether a value is the user's words, and no JSON text of messages."""
    return isinstance(value, str) and not items(value)


def _answers(outputs: Fields) -> list[JsonValue]:
    """Return the messages of a model's output. Raises UnreadableChat for any other output."""
    if not outputs:
        return []
    generations = items(outputs.get("generations"))
    while generations and isinstance(generations[0], list):
        generations = generations[0]
    for one in objects(generations):
        return [part(one, "message") or {"role": "assistant", "content": one.get("text")}]
    messages = items(outputs.get("messages"))
    if messages:
        return messages
    message = part(outputs, "message", "output")
    if message or "content" in outputs or "role" in outputs:
        return [{"role": "assistant", **(message or outputs)}]
    if isinstance(outputs.get("output"), str):
        return [{"role": "assistant", "content": outputs["output"]}]
    return messages_of_reply(outputs)


def _plain(stated: JsonValue) -> JsonValue:
    """Return LangChain's message as a message with its role; any other value as it is."""
    message = parsed(stated)
    if not isinstance(message, dict):
        return message
    named = items(message.get("id"))[-1:] if "kwargs" in message else []
    inner = part(message, "kwargs", "data") or message
    kind = str(named[0]).removesuffix(_CHUNK) if named else message.get("type", inner.get("type"))
    role = inner.get("role") or _ROLES.get(str(kind), kind)
    kept = {name: one for name, one in inner.items() if name not in ("type", "id")}
    calls = part(inner, "additional_kwargs")
    if not inner.get("tool_calls"):
        kept |= {name: calls[name] for name in ("tool_calls", "function_call") if calls.get(name)}
    return {**kept, "role": role}


def _result(message: JsonValue) -> JsonValue:
    """Return a tool's message with the id of its call as traces look for it."""
    return (
        {**message, "role": "tool", "id": message["tool_call_id"]}
        if isinstance(message, dict)
        else None
    )


LANGSMITH = SampleFormat(
    "langsmith",
    "LangSmith's runs: a line each, nested, or rows of its bulk export",
    trace_reader("langsmith", TraceFormat(_runs_in, _trace_of, _span_of)),
)
