"""Samples as CallNavi's questions: the names of all calls, the parameters of each, and which of them nobody knows yet.

The placeholder for what only an earlier call's result can tell is the same there and here. The tools of a domain stand in one file.
"""

import re
from collections.abc import Iterator

from pydantic import JsonValue

from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.writing import (
    UNKNOWN,
    Fields,
    Format,
    ReleaseSplit,
    Write,
    stated_id,
    user_text,
    write_json,
)
from callwright.warehouse.records import CallTurn, JsonSchema, ReplyTurn, Sample, Tool, UserTurn

QUESTIONS, APIS = "Questions", "APIs"
DIFFICULTIES = ("easy", "medium", "hard")
_FILE_NAME = re.compile(r"[^\w-]+")


def callnavi_question(sample: Sample, name: str) -> Fields:
    """One sample as a question; one that was imported keeps its id. Raises RecordError where the format has no place."""
    spoken = list(_stated(sample))
    calls = sample.gold
    names: list[JsonValue] = [call.tool for call in calls]
    parameters: list[JsonValue] = [call.arguments for call in calls]
    stated = stated_id(sample, "callnavi_id")
    is_chained = any(UNKNOWN in call.arguments.values() for call in calls)
    by_calls = "easy" if len(calls) < 2 else "hard" if is_chained else "medium"  # noqa: PLR2004 - one call is easy
    return {
        "id": name if stated is None else str(stated),
        "question": spoken,
        "ground_truth": {"API": names, "parameters": parameters},
        "difficulty": sample.difficulty or by_calls,
    }


def _stated(sample: Sample) -> Iterator[JsonValue]:
    """What is stated before the last calls that are due. Raises RecordError at calls that were carried out."""
    last = max((index for index, turn in enumerate(sample.turns) if isinstance(turn, CallTurn)), default=None)
    for turn in sample.turns[:last]:
        match turn:
            case UserTurn():
                yield {"role": "user", "content": user_text(turn)}
            case ReplyTurn(text=text):
                yield {"role": "assistant", "content": text}
            case CallTurn(executed=False):
                continue
            case _:
                raise RecordError("CallNavi's questions have no place for calls that were carried out.")


def _port(tool: Tool) -> Fields:
    declared: Fields = {
        **tool.signature,
        "parameters": {name: _word(schema) for name, schema in tool.properties.items()},
    }
    if tool.returns is not None:
        members = tool.returns.get("properties")
        declared["returnParameter"] = (
            {name: _word(schema) for name, schema in members.items()}
            if isinstance(members, dict)
            else _word(tool.returns)
        )
    return declared


def _word(schema: JsonSchema) -> JsonValue:
    """A type as CallNavi writes it: a word, the choices with slashes, or a mapping of members."""
    members = schema.get("properties")
    if isinstance(members, dict) and members:
        return {name: _word(member) for name, member in members.items()}
    choices = schema.get("enum")
    if (
        isinstance(choices, list)
        and len(choices) > 1
        and all(isinstance(one, str) and "/" not in one for one in choices)
    ):
        return "/".join(str(one) for one in choices)
    declared = schema.get("type")
    return declared if isinstance(declared, str) else "string"


def _begin(part: ReleaseSplit) -> Write:
    """A file of questions and a file of tools for each domain."""
    shown: dict[str, dict[str, Tool]] = {}  # by domain and name
    tools = part.source.tools

    def write(sample: Sample) -> int:
        domain = _FILE_NAME.sub("_", sample.category) or "samples"
        file = f"{QUESTIONS}/{domain}.json"
        part.add_item(file, callnavi_question(sample, f"{domain}{part.lines[file] + 1:03d}") | part.mark_of_tests)
        shown.setdefault(domain, {}).update((tools[key].name, tools[key]) for key in sample.candidates if key in tools)
        return 1

    def write_tools() -> None:
        for domain, of_domain in shown.items():
            ports = [_port(tool) for _, tool in sorted(of_domain.items())]
            write_json(part.path(f"{APIS}/{domain}.json"), {"api_ports": ports})

    part.at_end.append(write_tools)
    return write


FORMAT = Format(
    name="callnavi",
    holds="requests whose calls were not carried out: `Questions/DOMAIN.json` and `APIs/DOMAIN.json`",
    readers="CallNavi's evaluation, and `release import callnavi`",
    begin=_begin,
    has_folders=True,
)
