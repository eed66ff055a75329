"""Samples in the formats of CallNavi, ComplexFuncBench and HammerBench, for their own tools."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from pydantic import JsonValue

from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.writing import (
    UNKNOWN,
    Fields,
    Format,
    ReleaseSplit,
    Write,
    stated_id,
    tool_document,
    user_text,
    write_json,
)
from callwright.warehouse.records import (
    CallTurn,
    JsonSchema,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

QUESTIONS, APIS = "Questions", "APIs"
DIFFICULTIES = ("easy", "medium", "hard")
_FILE_NAME = re.compile(r"[^\w-]+")


def callnavi_question(sample: Sample, name: str) -> Fields:
    """Return one sample as a question: names of all calls, their parameters, and unknown ones.

    The placeholder for what only an earlier call's result can tell is the same as here. An
    imported question keeps its id. Raises RecordError if the format has no place for the sample.
    """
    spoken: list[JsonValue] = []
    last = max((at for at, _ in sample.call_turns), default=None)
    for turn in sample.turns[:last]:
        match turn:
            case UserTurn():
                spoken.append({"role": "user", "content": user_text(turn)})
            case ReplyTurn(text=text):
                spoken.append({"role": "assistant", "content": text})
            case CallTurn(executed=False):
                continue
            case _:
                problem = "CallNavi's questions have no place for calls that were carried out."
                raise RecordError(problem)
    calls = sample.gold
    names: list[JsonValue] = [call.tool for call in calls]
    parameters: list[JsonValue] = [call.arguments for call in calls]
    own_id = stated_id(sample, "callnavi")
    is_chained = any(UNKNOWN in call.arguments.values() for call in calls)
    by_calls = "easy" if len(calls) < 2 else "hard" if is_chained else "medium"  # noqa: PLR2004 - one call is easy
    return {
        "id": name if own_id is None else str(own_id),
        "question": spoken,
        "ground_truth": {"API": names, "parameters": parameters},
        "difficulty": sample.facts.difficulty or by_calls,
    }


def _port(tool: Tool) -> Fields:
    parameters: Fields = {name: _word(one) for name, one in tool.properties.items()}
    if tool.returns is None:
        return {**tool.signature, "parameters": parameters}
    members = tool.returns.get("properties")
    # of an object without members nothing is told
    is_object = isinstance(members, dict) and not members
    return {
        **tool.signature,
        "parameters": parameters,
        "returnParameter": {} if is_object else _word(tool.returns),
    }


def _word(schema: JsonSchema) -> JsonValue:
    """Return a type in CallNavi's form: a word, choices with slashes, or a mapping of members."""
    members = schema.get("properties")
    if isinstance(members, dict) and members:
        return {name: _word(member) for name, member in members.items()}
    choices = schema.get("enum")
    listed = choices if isinstance(choices, list) else []
    if len(listed) > 1 and all(isinstance(one, str) and "/" not in one for one in listed):
        return "/".join(listed)
    declared = schema.get("type")
    return declared if isinstance(declared, str) else "string"


def _begin_questions(part: ReleaseSplit) -> Write:
    """Write a file of questions and a file of tools for each domain."""
    shown: dict[str, dict[str, Tool]] = {}  # by domain and name
    tools = part.source.tools

    def write(sample: Sample) -> int:
        domain = _FILE_NAME.sub("_", sample.category) or "samples"
        file = f"{QUESTIONS}/{domain}.json"
        row = callnavi_question(sample, f"{domain}{part.lines[file] + 1:03d}") | part.mark_of_tests
        part.add_item(file, row)
        listed = (tools[key] for key in sample.candidates if key in tools)
        shown.setdefault(domain, {}).update((tool.name, tool) for tool in listed)
        return 1

    def write_tools() -> None:
        for domain, of_domain in shown.items():
            ports = [_port(tool) for _, tool in sorted(of_domain.items())]
            write_json(part.path(f"{APIS}/{domain}.json"), {"api_ports": ports})

    part.at_end.append(write_tools)
    return write


CALLNAVI = Format(
    name="callnavi",
    holds=(
        "requests whose calls were not carried out: `Questions/DOMAIN.json` and `APIs/DOMAIN.json`"
    ),
    readers="CallNavi's evaluation, and `release import callnavi`",
    begin=_begin_questions,
    has_folders=True,
)


PATHS_FILE = "ComplexFuncBench.jsonl"


def complexfuncbench_record(sample: Sample, tools: Mapping[str, Tool], identity: str) -> Fields:
    """Return one sample as a record.

    Raises RecordError: there is no place for calls that were not made or external messages.

    Evidence, what tools return and which tools were removed are not kept.
    """
    _require_path(sample)
    missing = next((key for key in sample.candidates if key not in tools), None)
    if missing is not None:
        raise RecordError(f"The candidate {missing!r} is no tool that was given.")
    functions: list[JsonValue] = [tool_document(tools[key]) for key in sample.candidates]
    return {"id": identity, "functions": functions, "conversations": list(_path_messages(sample))}


def _require_path(sample: Sample) -> None:
    turns = sample.turns
    has_results = any(isinstance(turn, ResultTurn) for turn in turns)
    if not has_results or not isinstance(turns[0], UserTurn):
        raise RecordError(
            "ComplexFuncBench's records are paths of calls that were made, and this is no path of"
            " calls that were made."
        )
    for turn, following in pairwise((*turns, None)):
        match turn:
            case CallTurn(calls=calls) if _results_of(following) != len(calls):
                raise RecordError(
                    "ComplexFuncBench's records need a result for each call, and calls here have"
                    " none."
                )
            case UserTurn(external=message) if message is not None:
                problem = "ComplexFuncBench's records have no place for an external message."
                raise RecordError(problem)


def _results_of(turn: Turn | None) -> int:
    """How many results a turn has, -1 where it is not of results."""
    return len(turn.results) if isinstance(turn, ResultTurn) else -1


def _path_messages(sample: Sample) -> Iterator[Fields]:
    for turn in sample.turns:
        match turn:
            case UserTurn(text=text):
                yield {"role": "user", "content": text}
            case ReplyTurn(text=text):
                yield {"role": "assistant", "content": text}
            case CallTurn(calls=calls):
                given = ((call.tool, call.arguments) for call in calls)
                made: list[JsonValue] = [{"name": one, "arguments": other} for one, other in given]
                yield {"role": "assistant", "function_call": made}
            case ResultTurn(results=results):
                yield {"role": "observation", "content": list(results)}


def _begin_paths(part: ReleaseSplit) -> Write:
    """Write each sample as a record; those without an id are numbered by domain."""
    taken: set[str] = set()
    counted: Counter[str] = Counter()

    def write(sample: Sample) -> int:
        _require_path(sample)
        stated = stated_id(sample, "complexfuncbench")
        domain = sample.category.replace(" ", "-") or "Samples"
        identity = None if stated is None else str(stated)
        while identity is None or (stated is None and identity in taken):
            identity = f"{domain}-{counted[domain]}"
            counted[domain] += 1
        row = complexfuncbench_record(sample, part.source.tools, identity) | part.mark_of_tests
        part.add_line(PATHS_FILE, row)
        taken.add(identity)
        return 1

    return write


COMPLEXFUNCBENCH = Format(
    name="complexfuncbench",
    holds=(
        "paths of calls that were made: a request, steps of calls with what they returned, an"
        " answer"
    ),
    readers="ComplexFuncBench's evaluation, and `release import complexfuncbench`",
    begin=_begin_paths,
    has_folders=True,
)


class PublishedFile(NamedTuple):
    """A file of a language folder: whether a record is one request, or one that no tool fits.

    It also gives the order of a record's fields.
    """

    path: str
    is_single: bool = False
    is_idle: bool = False
    has_single_tool_first: bool = False


FILES: Mapping[str, PublishedFile] = {  # the kind of the samples that a file holds
    "perfect": PublishedFile("single-turn/ST_Perfect.json", is_single=True),
    "imperfect": PublishedFile("single-turn/ST_Imperfect.json", is_single=True),
    "external": PublishedFile("single-turn/ST_External.json", is_single=True),
    "irrelevant_perfect": PublishedFile(
        "single-turn/ir_ST_Perfect.json", is_single=True, is_idle=True
    ),
    "irrelevant_imperfect": PublishedFile(
        "single-turn/ir_ST_Imperfect.json", is_single=True, is_idle=True
    ),
    "irrelevant_external": PublishedFile(
        "single-turn/ir_ST_External.json", is_single=True, is_idle=True
    ),
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
# kinds of our own that have no file of their own
ALIASES: Mapping[str, str] = {"irrelevant": "irrelevant_perfect"}
MESSAGE_FIRST = "EK:"  # single turn: the message, then the query
MESSAGE_FIRST_QUERY = "\nquery:"
MESSAGE_LAST = "<EK>:"  # multi turn: what the user says, then the message


def hammerbench_record(sample: Sample, tools: Mapping[str, Tool], number: int = 0) -> Fields:
    """Return a sample as a record; `number` is its id if it has none. Raises RecordError.

    The app of an external message, evidence and what tools return have no place in the format.
    """
    kind = kind_of_file(sample)
    missing = next((key for key in sample.candidates if key not in tools), None)
    if missing is not None:
        raise RecordError(f"The candidate {missing!r} is no tool that was given.")
    candidates = [tools[key] for key in sample.candidates]
    messages: list[JsonValue] = [*map(dict, _snapshot_messages(sample, kind, tools))]
    listed: list[JsonValue] = [_document(tool) for tool in candidates]
    if FILES[kind].is_single:
        return {"messages": messages, "multiple_tools": listed}
    due = {call.tool for call in sample.all_calls}
    single: list[JsonValue] = [_document(tool) for tool in candidates if tool.name in due]
    stated = stated_id(sample, "hammerbench")
    identity: JsonValue = number if stated is None else stated
    record: Fields = {"messages": messages, "multiple_tools": listed, "single_tool": single}
    if isinstance(identity, str):  # the newest published form: one record a snapshot, its id first
        return {"id": identity, **record}
    if FILES[kind].has_single_tool_first:
        record = {"messages": messages, "single_tool": single, "multiple_tools": listed}
    return {**record, "id": identity}


def hammerbench_file(sample: Sample) -> str:
    """Return the file for such records: `en/single-turn/ST_Perfect.json`. Raises RecordError."""
    return f"{sample.language}/{FILES[kind_of_file(sample)].path}"


def kind_of_file(sample: Sample) -> str:
    """Return the kind of FILES for a sample. Raise RecordError if HammerBench has none."""
    kind = ALIASES.get(sample.kind, sample.kind)
    if kind not in FILES:
        problem = f"HammerBench has no file for this kind; it has {', '.join((*FILES, *ALIASES))}."
        raise RecordError(problem)
    return kind


def _snapshot_messages(sample: Sample, kind: str, tools: Mapping[str, Tool]) -> Iterator[Fields]:
    labels: Iterator[JsonValue] = iter(
        {"name": one.tool, "arguments": one.arguments} for one in sample.facts.hammerbench_labels
    )
    # The label of an irrelevant request of our own: the tool that was taken away, whose arguments
    # nobody kept.
    withheld: list[JsonValue] = [
        {"name": tools[key].name, "arguments": {}} for key in sample.withheld if key in tools
    ]
    for index, turn in enumerate(sample.turns):
        match turn:
            case UserTurn():
                text = turn.text
                if turn.external and FILES[kind].is_single:
                    text = f"{MESSAGE_FIRST}{turn.external.text}{MESSAGE_FIRST_QUERY}{turn.text}"
                elif turn.external:
                    text = f"{turn.text}{MESSAGE_LAST}{turn.external.text}"
                yield {"role": "user", "content": text}
            case ReplyTurn(text=text):
                yield {"role": "assistant", "content": text}
            case CallTurn(calls=()):
                refused = any(isinstance(one, ReplyTurn) for one in sample.turns[index + 1 :][:1])
                label = None if refused else next(labels, withheld[0] if withheld else None)
                if label is not None:
                    yield {"role": "function call", "content": label}
            case CallTurn(calls=(call,)):
                label = {"name": call.tool, "arguments": call.arguments}
                yield {"role": "function call", "content": label}
            case _:
                raise RecordError("HammerBench's records hold one call a snapshot and no results.")


def _document(tool: Tool) -> Fields:
    document = tool_document(tool)
    return document | {"parameters": _with_floats(document["parameters"])}


def _with_floats(schema: JsonValue) -> JsonValue:
    """Return a schema with HammerBench's word `float` for `number`."""
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
            written[key] = (
                _with_floats(value) if key in ("items", "additionalProperties") else value
            )
    return written


def _begin_published(part: ReleaseSplit) -> Write:
    """Begin one file per language and kind, in folders and with names of the published data.

    The records of each file are numbered.
    """

    def write(sample: Sample) -> int:
        file = hammerbench_file(sample)
        row = hammerbench_record(sample, part.source.tools, part.lines[file]) | part.mark_of_tests
        part.add_item(file, row)
        return 1

    return write


HAMMERBENCH = Format(
    name="hammerbench",
    holds=(
        "requests and dialogues of single calls, a file a language and kind, under the published"
        " names"
    ),
    readers="HammerBench's evaluation, and `release import hammerbench`",
    begin=_begin_published,
    has_folders=True,
)
