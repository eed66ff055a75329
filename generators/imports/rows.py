"""Formats in which a row is a conversation: where each keeps its messages, its tools, and what else it tells."""

from pydantic import JsonValue

from callwright.generators.imports.chats import ChatRow, RowReader, reader_of_rows
from callwright.generators.imports.messages import Fields, parsed
from callwright.generators.imports.reading import Signals
from callwright.generators.imports.table import SampleFormat
from callwright.warehouse.exports.trl import CALLING

_FEEDBACK = ("feedback", "user_feedback", "rating", "score", "thumbs")
_BODIES = ("body", "request", "requestBody", "request_body", "kwargs")
_ANSWERS = ("response", "completion", "responseBody", "response_body")


def part(fields: Fields, *names: str) -> Fields:
    """The first of these fields that is an object, or the JSON text of one; {} where none is."""
    found = (parsed(fields.get(name)) for name in names)
    return next((one for one in found if isinstance(one, dict) and one), {})


def words(fields: Fields, *names: str) -> str:
    """The first of these fields that says something, as text; "" where none does."""
    return next((str(fields[name]) for name in names if isinstance(fields.get(name), str | int | float)), "")


def signals_of(fields: Fields) -> Signals:
    """What a row tells of how it went, in the words that logs have for it."""
    error = fields.get("error") or fields.get("error_str") or ""
    named = error.get("type", error.get("message", "error")) if isinstance(error, dict) else error
    status = words(fields, "status", "outcome")
    feedback = words(fields, *_FEEDBACK) or words(part(fields, "metadata"), *_FEEDBACK)
    return Signals(status or ("error" if named else ""), str(named)[:200], feedback)


def _listed(value: JsonValue) -> list[JsonValue]:
    held = parsed(value)
    return held if isinstance(held, list) else []


def answer_messages(answer: Fields) -> list[JsonValue]:
    """The messages of a reply of a provider: of the chat completions API, of the responses API, or a message by itself."""
    inner = part(answer, "body") or answer
    choices = _listed(inner.get("choices"))
    if choices:
        return [one["message"] for one in choices[:1] if isinstance(one, dict) and isinstance(one.get("message"), dict)]
    if isinstance(inner.get("output"), list):
        return _listed(inner["output"])
    return [inner] if inner.get("role") == "assistant" else []


def _named(row: ChatRow, fields: Fields) -> ChatRow:
    """The row with the language and the category that a row of our own exports tells of its sample."""
    origin = part(fields, "origin", "metadata")
    return row._replace(language=words(origin, "language"), category=words(origin, "category"))


def _openai(fields: Fields) -> ChatRow | None:
    """A row of chat completions: for training, or as it was logged, with the request and the reply apart."""
    body = fields if "messages" in fields else part(fields, *_BODIES)
    messages = _listed(body.get("messages"))
    if not messages:
        return None
    answered = part(fields, *_ANSWERS) or (fields if "choices" in fields else {})
    tools = body.get("tools") or body.get("functions") or fields.get("tools")
    return _named(ChatRow([*messages, *answer_messages(answered)], tools, signals=signals_of(fields)), fields)


def _trl(fields: Fields) -> ChatRow | None:
    """A row for TRL: messages, or a prompt with the answer that is wanted or due; one that is not wanted is no sample."""
    prompt = _listed(fields.get("prompt"))
    if not prompt:
        return _openai(fields)
    if fields.get("label") is False:
        return None
    said: list[JsonValue] = [{"role": "assistant", "content": words(fields, "words")}]
    wanted = _listed(fields.get("chosen")) or _listed(fields.get("completion")) or _made(fields.get("gold")) or said
    return _named(ChatRow([*_without_tools(prompt), *wanted], fields.get("tools")), fields)


def _without_tools(prompt: list[JsonValue]) -> list[JsonValue]:
    """A prompt without the tools that our rows for GRPO tell in its system message."""
    first = prompt[0]
    content = first.get("content") if isinstance(first, dict) else None
    if not isinstance(content, str) or CALLING not in content:
        return prompt
    briefing = content.partition(CALLING)[0].strip()
    told: list[JsonValue] = [{"role": "system", "content": briefing}] if briefing else []
    return [*told, *prompt[1:]]


def _responses(fields: Fields) -> ChatRow | None:
    """A row of the responses API: its input and output; of NeMo Gym's rows the action that is expected."""
    body = part(fields, "responses_create_params", *_BODIES) or fields
    given = body.get("input")
    if given is None:
        return None
    before: list[JsonValue] = [{"role": "user", "content": given}] if isinstance(given, str) else _listed(given)
    answered = part(fields, *_ANSWERS) or fields
    action = part(fields, "expected_action")
    after = _actions(action) if action else answer_messages(answered)
    row = ChatRow([*before, *after], body.get("tools"), words(body, "instructions"), signals=signals_of(fields))
    return _named(row, fields)


def _actions(action: Fields) -> list[JsonValue]:
    match action:
        case {"type": "function_call_batch", "calls": list(calls)}:
            return calls
        case {"type": "message", "content": str(text)}:
            return [{"role": "assistant", "content": text}]
        case _:
            return [action]


def _sharegpt(fields: Fields) -> ChatRow | None:
    """A row of ShareGPT with tools, Hermes' and ToolACE's among them: these have their tools in the system message."""
    messages = _listed(fields.get("conversations", fields.get("conversation")))
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
    listed = _listed(calls)
    return [{"role": "assistant", "content": None, "tool_calls": listed}] if listed else []


def _toucan(fields: Fields) -> ChatRow | None:
    """A row of Toucan: its system message declares the tools that stand beside it, too."""
    messages = [
        one for one in _listed(fields.get("messages")) if not (isinstance(one, dict) and one.get("role") == "system")
    ]
    tools = fields.get("available_tools", fields.get("tools"))
    return ChatRow(messages, tools, category=words(fields, "subset_name")) if messages else None


def _litellm(fields: Fields) -> ChatRow | None:
    """A line of litellm's own log, its standard payload; the tools stand among the parameters of the model."""
    payload = part(fields, "standard_logging_object") or fields
    messages = payload.get("messages")
    given: list[JsonValue] = [{"role": "user", "content": messages}] if isinstance(messages, str) else _listed(messages)
    given = given or _listed(part(payload, "messages").get("messages"))
    if not given:
        return None
    request = part(payload, "proxy_server_request")
    asked = [part(payload, "model_parameters", "optional_params"), part(request, "body"), request]
    tools = next((found for one in asked if (found := one.get("tools") or one.get("functions"))), None)
    error = words(part(payload, "error_information"), "error_class") or words(payload, "error_str")
    signals = Signals(words(payload, "status"), error[:200], signals_of(payload).feedback)
    return ChatRow([*given, *answer_messages(part(payload, "response"))], tools, signals=signals)


def _promptfoo(fields: Fields) -> ChatRow | None:
    """A test of our export for promptfoo: what its assertions ask for is what is due, else its metadata have the words."""
    messages = _listed(part(fields, "vars").get("messages"))
    asserted = [one for one in _listed(fields.get("assert")) if isinstance(one, dict)]
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
    return _named(ChatRow([*_listed(fields["input"]), *due], told.get("tools")), fields)


def _format(name: str, holds: str, find: RowReader, *, is_traffic: bool = True) -> SampleFormat:
    return SampleFormat(name, holds, reader_of_rows(name, find), is_traffic)


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
