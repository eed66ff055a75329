"""Replies of models in the result files that others published, read as an evaluation reads them.

A file is one of BFCL's results (`result`), a log of HammerBench or predictions of CallNavi
(`predict`), messages in OpenAI's form (`role`, `content`, `tool_calls`), a table with a column
`raw_output`, or answers that are an object (`raw_message_text`).
"""

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from callwright.flows.evaluation.predictions import parse_calls
from callwright.llm.answers import read_object
from callwright.llm.chat import Completion
from callwright.llm.wire_format import WireCall, read_reply
from callwright.warehouse.errors import ConfigurationError, ReplyError
from callwright.warehouse.records import Call

Outcome = Literal["calls", "no call", "object", "refused"]
_TEXTS = ("result", "predict", "raw_output")
_OBJECTS = ("raw_message_text",)
_CATEGORIES = {  # of BFCL's results before they had a version, as its data have them now
    "simple": "simple_python",
    "multiple_function": "multiple",
    "parallel_function": "parallel",
    "parallel_multiple_function": "parallel_multiple",
}


class Reply(NamedTuple):
    """A reply: its text, the calls its provider extracted, and its question, "" if unknown."""

    text: str
    written: tuple[WireCall, ...] = ()
    question: str = ""
    is_object: bool = False


class Read(NamedTuple):
    """What reading a reply gives: the outcome, the problem if refused, and its calls."""

    outcome: Outcome
    problem: str = ""
    calls: tuple[Call, ...] = ()


def replies_in(value: Any, question: str = "") -> Iterator[Reply]:  # noqa: ANN401 - a document of any form
    """Yield the replies in a document, wherever they stand in it."""
    if isinstance(value, list):
        for member in value:
            yield from replies_in(member, question)
    if not isinstance(value, dict):
        return
    if value.get("role") == "assistant":
        yield _message(value)
        return
    question = str(value.get("id", question))
    for name, inner in value.items():
        if name in _TEXTS:
            yield from _results(inner, question)
        elif name in _OBJECTS and isinstance(inner, str):
            yield Reply(inner, question=question, is_object=True)
        else:
            yield from replies_in(inner, question)


def _message(message: Mapping[str, Any]) -> Reply:
    functions = [call.get("function", call) for call in message.get("tool_calls") or ()]
    content = message.get("content") or ""
    parts = content if isinstance(content, list) else [{"text": content}]
    text = "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
    return Reply(text, tuple(_written(one["name"], one.get("arguments")) for one in functions))


def _results(value: Any, question: str) -> Iterator[Reply]:  # noqa: ANN401 - a text, calls, or the replies of several turns
    if isinstance(value, str):
        yield Reply(value, question=question)
    elif isinstance(value, list) and all(isinstance(one, dict) and len(one) == 1 for one in value):
        calls = [_written(name, given) for one in value for name, given in one.items()]
        yield Reply("", tuple(calls), question)
    elif isinstance(value, list):
        for member in value:
            yield from _results(member, "")


def _written(name: str, arguments: Any) -> WireCall:  # noqa: ANN401 - a text, or what it would say
    return WireCall(name, arguments if isinstance(arguments, str) else json.dumps(arguments))


def read(reply: Reply) -> Read:
    """Read a reply as a build or an evaluation does."""
    if reply.is_object:
        try:
            read_object(reply.text)
        except ReplyError as error:
            return Read("refused", str(error))
        return Read("object")
    text, native = read_reply(reply.text, reply.written)
    parsed = parse_calls(Completion(text, native or (() if not text.strip() else None)), "json")
    if parsed.calls is None:
        return Read("refused", parsed.problem)
    calls = tuple(Call(tool=str(call.tool), arguments=call.arguments) for call in parsed.calls)
    return Read("calls" if calls else "no call", "", calls)


def documents(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the documents of a file or a folder, each with the name of its source.

    A source is a folder below the path, or the file. Raises ConfigurationError for a file that is
    no JSON.
    """
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        inner = file.relative_to(path).parts[:-1] or (file.stem,)
        if file.suffix in {".json", ".jsonl"}:
            try:
                yield inner[0], _documents(file.read_text(encoding="utf-8"))
            except ValueError as error:
                raise ConfigurationError(f"{str(file)!r} is no JSON: {error}.") from error
        elif file.suffix == ".csv":
            with file.open(encoding="utf-8", newline="") as lines:
                yield inner[0], list(csv.DictReader(lines))


def _documents(text: str) -> Any:  # noqa: ANN401 - one document, or one on each line
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def named_now(question: str) -> str:
    """Return a question's id as BFCL's data of today have it."""
    category, _, number = question.rpartition("_")
    return f"{_CATEGORIES.get(category, category)}_{number}"
