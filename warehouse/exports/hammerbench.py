"""Samples as HammerBench records: the shapes of its published files, so that its tools can read ours."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.writing import Fields, Format, ReleaseSplit, Write, stated_id, tool_document
from callwright.warehouse.records import CallTurn, ReplyTurn, Sample, Tool, UserTurn


class PublishedFile(NamedTuple):
    """A file of a language folder: whether a record of it is one request, one that no tool fits, and how its fields are ordered."""

    path: str
    is_single: bool = False
    is_idle: bool = False
    has_single_tool_first: bool = False


FILES: Mapping[str, PublishedFile] = {  # the kind of the samples that a file holds
    "perfect": PublishedFile("single-turn/ST_Perfect.json", is_single=True),
    "imperfect": PublishedFile("single-turn/ST_Imperfect.json", is_single=True),
    "external": PublishedFile("single-turn/ST_External.json", is_single=True),
    "irrelevant_perfect": PublishedFile("single-turn/ir_ST_Perfect.json", is_single=True, is_idle=True),
    "irrelevant_imperfect": PublishedFile("single-turn/ir_ST_Imperfect.json", is_single=True, is_idle=True),
    "irrelevant_external": PublishedFile("single-turn/ir_ST_External.json", is_single=True, is_idle=True),
    "sQsA": PublishedFile("multi-turn/HammerBench_Based.json"),
    "mQmA": PublishedFile("multi-turn/HammerBench_mQmA.json"),
    "mQsA": PublishedFile("multi-turn/HammerBench_mQsA.json"),
    "sQmA": PublishedFile("multi-turn/HammerBench_sQmA.json"),
    "SO_case1": PublishedFile("multi-turn/HammerBench_SO_case1.json"),
    "SO_case2": PublishedFile("multi-turn/HammerBench_SO_case2.json"),
    "mSv": PublishedFile("multi-turn/HammerBench_mSv.json"),
    "sQsA_external": PublishedFile("multi-turn/HammerBench_External.json"),
    "IS": PublishedFile("multi-turn/HammerBench_IS.json", has_single_tool_first=True),
}
ALIASES: Mapping[str, str] = {"irrelevant": "irrelevant_perfect"}  # kinds of our own that have no file of their own
MESSAGE_FIRST = "EK:"  # single turn: the message, then the query
MESSAGE_FIRST_QUERY = "\nquery:"
MESSAGE_LAST = "<EK>:"  # multi turn: what the user says, then the message


def hammerbench_record(sample: Sample, tools: Mapping[str, Tool], number: int = 0) -> Fields:
    """One sample as a record; `number` is its id where it brings none. Raises RecordError.

    The app of an external message, the evidence and what tools return have no place in the format.
    """
    kind, candidates = kind_of_file(sample), [_tool(key, tools) for key in sample.candidates]
    messages: list[JsonValue] = [dict(message) for message in _messages(sample, kind, tools)]
    listed: list[JsonValue] = [_document(tool) for tool in candidates]
    if FILES[kind].is_single:
        return {"messages": messages, "multiple_tools": listed}
    due = {call.tool for turn in sample.turns if isinstance(turn, CallTurn) for call in turn.calls}
    single: list[JsonValue] = [_document(tool) for tool in candidates if tool.name in due]
    stated = stated_id(sample, "hammerbench_id")
    identity: JsonValue = number if stated is None else stated
    if isinstance(identity, str):  # the newest published form: one record a snapshot, its id first
        return {"id": identity, "messages": messages, "multiple_tools": listed, "single_tool": single}
    if FILES[kind].has_single_tool_first:
        return {"messages": messages, "single_tool": single, "multiple_tools": listed, "id": identity}
    return {"messages": messages, "multiple_tools": listed, "single_tool": single, "id": identity}


def hammerbench_file(sample: Sample) -> str:
    """The file that holds such records: `en/single-turn/ST_Perfect.json`. Raises RecordError."""
    return f"{sample.language}/{FILES[kind_of_file(sample)].path}"


def kind_of_file(sample: Sample) -> str:
    """The kind of FILES that a sample belongs to; RecordError where HammerBench has none."""
    kind = ALIASES.get(sample.kind, sample.kind)
    if kind not in FILES:
        raise RecordError(f"HammerBench has no file for this kind; it has {', '.join((*FILES, *ALIASES))}.")
    return kind


def _messages(sample: Sample, kind: str, tools: Mapping[str, Tool]) -> Iterator[Fields]:
    labels = iter([orjson.loads(label) for label in sample.trait_values("hammerbench_label")])
    for index, turn in enumerate(sample.turns):
        match turn:
            case UserTurn():
                yield {"role": "user", "content": _stated(turn, kind)}
            case ReplyTurn(text=text):
                yield {"role": "assistant", "content": text}
            case CallTurn(calls=()):
                refused = index + 1 < len(sample.turns) and isinstance(sample.turns[index + 1], ReplyTurn)
                label = None if refused else next(labels, _withheld(sample, tools))
                if label is not None:
                    yield {"role": "function call", "content": label}
            case CallTurn(calls=(call,)):
                label = {"name": call.tool, "arguments": call.arguments}
                yield {"role": "function call", "content": label}
            case _:
                raise RecordError("HammerBench's records hold one call a snapshot and no results.")


def _stated(turn: UserTurn, kind: str) -> str:
    if turn.external is None:
        return turn.text
    if FILES[kind].is_single:
        return f"{MESSAGE_FIRST}{turn.external.text}{MESSAGE_FIRST_QUERY}{turn.text}"
    return f"{turn.text}{MESSAGE_LAST}{turn.external.text}"


def _withheld(sample: Sample, tools: Mapping[str, Tool]) -> JsonValue:
    """The label of an irrelevant request of our own: the tool that was taken away, whose arguments nobody kept."""
    withheld = next((tools[key] for key in sample.withheld if key in tools), None)
    return None if withheld is None else {"name": withheld.name, "arguments": {}}


def _tool(key: str, tools: Mapping[str, Tool]) -> Tool:
    if key not in tools:
        raise RecordError(f"The candidate {key!r} is no tool that was given.")
    return tools[key]


def _document(tool: Tool) -> Fields:
    return tool_document(tool) | {"parameters": _with_floats(tool.parameters)}


def _with_floats(schema: JsonValue) -> JsonValue:
    """A schema with HammerBench's word `float` for `number`."""
    if not isinstance(schema, dict):
        return schema
    written: Fields = {}
    for key, value in schema.items():
        if key == "type":
            words = value if isinstance(value, list) else [value]
            renamed: list[JsonValue] = ["float" if word == "number" else word for word in words]
            written[key] = renamed if isinstance(value, list) else renamed[0]
        elif key == "properties" and isinstance(value, dict):
            written[key] = {name: _with_floats(member) for name, member in value.items()}
        elif key in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(value, list):
            written[key] = [_with_floats(member) for member in value]
        else:
            written[key] = _with_floats(value) if key in ("items", "additionalProperties") else value
    return written


def _begin(part: ReleaseSplit) -> Write:
    """One file a language and kind, in the folders and under the names of the published data, each numbered."""

    def write(sample: Sample) -> int:
        file = hammerbench_file(sample)
        part.add_item(file, hammerbench_record(sample, part.source.tools, part.lines[file]) | part.mark_of_tests)
        return 1

    return write


FORMAT = Format(
    name="hammerbench",
    holds="requests and dialogues of single calls, a file a language and kind, under the published names",
    readers="HammerBench's evaluation, and `release import hammerbench`",
    begin=_begin,
    has_folders=True,
)
