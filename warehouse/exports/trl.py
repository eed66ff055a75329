"""TRL's conversational formats: supervised fine-tuning, preferences (DPO, KTO), GRPO prompts.

The prompts for GRPO come with gold. TRL trains on everything that the assistant says in a row of
`messages`, so a row that is the beginning of a longer one is left out. Arguments are objects, as
chat templates write them; the tools are JSON text, which TRL's trainers read. GRPO's trainer has
the same tools for all rows, so there a system message names those of the row.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
from pydantic import JsonValue

from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.answered import (
    NO_WRONG,
    labelled,
    pairs,
    rated,
    right_answers,
    right_runs,
    unproved_runs,
)
from callwright.warehouse.exports.examples import (
    ExampleFormat,
    Message,
    TrainingExample,
    names_by_call,
)
from callwright.warehouse.exports.tasks import REPLY_TOOL, TaskFormat
from callwright.warehouse.exports.writing import Format, ReleaseSplit, json_text
from callwright.warehouse.records import JsonSchema, Tool
from callwright.warehouse.releases import ReleaseStream
from callwright.warehouse.shown_tools import as_shown
from callwright.warehouse.wire_names import wire_names

CALLING = (
    "You can call tools. They are listed below in JSON, one a line. To call one, write its name and"
    ' its arguments as JSON in a block of their own, one block a call: <tool_call>{"name": "…",'
    ' "arguments": {…}}</tool_call>. Where no call is due, answer in words.'
)


def trl_row(example: TrainingExample) -> dict[str, Any]:
    """Return an example as a row; fields that TRL does not read say where the row comes from."""
    return {"messages": _messages(example), **_tools(example)}


def dpo_row(example: TrainingExample) -> dict[str, Any]:
    """Return an example with a worse answer as a row. Raise RecordError if there is none."""
    *prompt, chosen = _messages(example)
    if example.rejected is None:
        raise RecordError(NO_WRONG)
    rejected = [_message(example.rejected, {})]
    return {"prompt": prompt, "chosen": [chosen], "rejected": rejected, **_tools(example)}


def kto_row(example: TrainingExample) -> dict[str, Any]:
    """Return an example as a row whose completion is wanted or unwanted."""
    *prompt, completion = _messages(example)
    label = not example.is_wrong
    return {"prompt": prompt, "completion": [completion], "label": label, **_tools(example)}


def grpo_row(example: TrainingExample) -> dict[str, Any]:
    """Return an example as a prompt, with the due calls as JSON text: `[]` if words are due."""
    *prompt, last = _messages(example)
    listed = "\n".join(json_text({"type": "function", "function": tool}) for tool in example.tools)
    system = [one["content"] for one in prompt if one["role"] == "system"]
    system_text = "\n\n".join([*system, f"{CALLING}\n<tools>\n{listed}\n</tools>"])
    spoken = [one for one in prompt if one["role"] != "system"]
    due = [call["function"] for call in last.get("tool_calls", ())]
    asked = [{"role": "system", "content": system_text}, *spoken]
    gold = json_text(due)
    return {"prompt": asked, "gold": gold, "words": last["content"], **_tools(example)}


def _tools(example: TrainingExample) -> dict[str, str]:
    listed = [{"type": "function", "function": tool} for tool in example.tools]
    return {"tools": json_text(listed), "origin": json_text(example.origin)}


def _messages(example: TrainingExample) -> list[Message]:
    called = names_by_call(example)
    return [_message(one, called) for one in example.messages]


def _message(message: Message, called: Mapping[str, str]) -> Message:
    """Return a message without call ids, since these templates match results to calls by order."""
    role, content = message["role"], message.get("content", "")
    if role == "tool":
        return {"role": role, "name": called[message["tool_call_id"]], "content": content}
    function_calls = []
    for call in (call["function"] for call in message.get("tool_calls", ())):
        function = {"name": call["name"], "arguments": orjson.loads(call["arguments"])}
        function_calls.append({"type": "function", "function": function})
    thought = {name: message[name] for name in ("reasoning_content",) if name in message}
    return {
        "role": role,
        "content": content,
        **({"tool_calls": function_calls} if function_calls else {}),
        **thought,
    }


def _header(
    lists: Sequence[str], texts: Sequence[str]
) -> Callable[[Sequence[ReleaseSplit]], dict[str, JsonValue]]:
    """Return a function for the README's head, which tells `datasets` the column types."""

    def head(parts: Sequence[ReleaseSplit]) -> dict[str, JsonValue]:
        named = ((part.split or "train", f"{part.stem}.jsonl") for part in parts)
        files: list[JsonValue] = [{"split": split, "path": path} for split, path in named]
        features: list[JsonValue] = [{"name": name, "list": "json"} for name in lists]
        types = {"label": "bool"} if "completion" in lists else {}
        types |= dict.fromkeys((*texts, "origin", "canary"), "string")
        features += [{"name": name, "dtype": kind} for name, kind in types.items()]
        if any(part.source.answers for part in parts):
            features.append({"name": "pass_rate", "dtype": "float64"})
        info: JsonValue = {"config_name": "default", "features": features}
        configs: JsonValue = [{"config_name": "default", "data_files": files}]
        return {"configs": configs, "dataset_info": info}

    return head


_HINTS = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "object": "dict",
    "array": "list",
}
_SCALARS = (str, int, bool, type(None))


def _worlds(source: ReleaseStream) -> dict[str, Any]:
    """Return the classes of a module: each world's tools as methods, signatures and docstrings."""
    renamed: dict[str, dict[str, str]] = {}
    worlds = []
    for name, world in source.worlds.items():
        title = "World" + "".join(word.capitalize() for word in re.findall(r"[A-Za-z0-9]+", name))
        own = {f"environment:{one}" for one in world.parts or (name,)}
        tools = [tool for tool in source.tools.values() if tool.source in own]
        plain = wire_names(tools, python=True)
        methods = []
        for tool in tools:
            shown = {own: plain.parameter(own) for own in tool.properties}
            shown = {own: "self_" if name == "self" else name for own, name in shown.items()}
            if others := {new: own for own, new in shown.items() if new != own}:
                renamed[world.names[tool.name]] = others
            methods.append(_method(tool, world.names[tool.name], shown))
        worlds.append({"name": name, "title": title, "tools": methods})
    (text,) = REPLY_TOOL["parameters"]["properties"].values()
    doc = f"{REPLY_TOOL['description']}\n\nArgs:\n    text: {text['description']}"
    return {"worlds": worlds, "renamed": renamed, "reply_doc": repr(doc)}


def _method(tool: Tool, name: str, shown: Mapping[str, str]) -> dict[str, Any]:
    tool = as_shown(tool)
    required = [own for own in shown if own in tool.required]
    ordered = [*required, *(own for own in shown if own not in required)]
    parameters, described = [], ""
    for own in ordered:
        schema = tool.properties[own]
        parameters.append({"name": shown[own], "hint": _hint(schema), "required": own in required})
        described += f"\n    {shown[own]}: {_line(schema.get('description') or own)}"
    doc = _line(tool.description or name) + (f"\n\nArgs:{described}" if ordered else "")
    return {"name": name, "parameters": parameters, "doc": repr(doc)}


def _line(text: str) -> str:
    """Return a text on one line without what docstring parsers read as heads or choices."""
    plain = re.sub(r"\s*\(choices:.*\)$", "", " ".join(text.split()))
    return re.sub(r"\b(Args|Returns|Raises):", r"\1", plain)


def _hint(schema: JsonSchema) -> str:
    """Return the Python type of a parameter, or Any if there is none."""
    allowed = schema.get("enum")
    if isinstance(allowed, list) and allowed and all(isinstance(one, _SCALARS) for one in allowed):
        return f"Literal[{', '.join(map(repr, allowed))}]"
    kind = schema.get("type")
    if kind == "array" and isinstance(schema.get("items"), dict):
        return f"list[{_hint(schema['items'])}]"
    if isinstance(kind, list):
        return " | ".join("None" if one == "null" else _HINTS.get(one, "Any") for one in kind)
    return _HINTS.get(str(kind), "Any")


_WORLDS = TaskFormat(
    {
        "environment/environment.py": "trl_environment.py.j2",
        "environment/test_environment.py": "trl_tests.py.j2",
    },
    words_of=_worlds,
)
FORMAT = _WORLDS.added_to(
    Format(
        name="trl",
        holds=(
            "conversations as far as the assistant should take them: `messages`, and `tools` as"
            " JSON text; tasks in their worlds as an `environment_factory` in `environment`"
        ),
        readers=(
            "TRL's SFTTrainer and GRPOTrainer, and what else reads messages and tools, with"
            " `datasets` 4.7 or newer"
        ),
        begin=ExampleFormat(
            trl_row, are_whole=True, is_templated=True, answered=right_answers, of_runs=right_runs
        ).begin,
        header=_header(["messages"], ["tools"]),
        is_for_training=True,
        is_chat=True,
        answers="may",
    )
)
DPO = Format(
    name="trl-dpo",
    holds="pairs: `prompt`, a `chosen` and a `rejected` answer, and `tools` as JSON text",
    readers="TRL's DPOTrainer, with `datasets` 4.7 or newer",
    begin=ExampleFormat(dpo_row, is_templated=True, answered=pairs, of_runs=unproved_runs).begin,
    header=_header(["prompt", "chosen", "rejected"], ["tools"]),
    is_for_training=True,
    answers="must",
)
KTO = Format(
    name="trl-kto",
    holds="`prompt`, a `completion` and as `label` whether it is wanted, and `tools` as JSON text",
    readers="TRL's KTOTrainer, with `datasets` 4.7 or newer",
    begin=ExampleFormat(kto_row, is_templated=True, answered=labelled, of_runs=unproved_runs).begin,
    header=_header(["prompt", "completion"], ["tools"]),
    is_for_training=True,
    answers="must",
)
GRPO = Format(
    name="trl-grpo",
    holds=(
        "prompts, which tell their tools, and as `gold` the calls that are due, `[]` where"
        " `words` are"
    ),
    readers="TRL's GRPOTrainer, with a reward function of your own, and `datasets` 4.7 or newer",
    begin=ExampleFormat(grpo_row, is_templated=True, answered=rated).begin,
    header=_header(["prompt"], ["gold", "words", "tools"]),
    is_for_training=True,
    is_chat=True,
    answers="may",
)
