"""Tests for promptfoo: what an assistant should do next, held against its trajectory, the calls that its traces tell of.

A test shows the conversation as messages and hands the tools to the provider; assertions ask for each due call with just its
arguments, and for no call besides.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import yaml
from pydantic import JsonValue

from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.examples import ExampleFormat, TrainingExample
from callwright.warehouse.exports.writing import TEST, Format, ReleaseSplit, json_text

CONFIG = "promptfooconfig.yaml"
PORT = 4318  # of the protocol: promptfoo listens there for the spans of the agent
_TEMPLATES = {"{{": "{\\u007b", "{%": "{\\u0025", "{#": "{\\u0023"}


def promptfoo_row(example: TrainingExample) -> dict[str, Any]:
    """An example as a test. Messages are JSON text, in which nothing is left that promptfoo would take for a template."""
    due = [call["function"] for call in example.last.get("tool_calls", ())]
    if any(sign in call["arguments"] for call in due for sign in _TEMPLATES):
        raise RecordError("an argument that is due has braces that promptfoo takes for a template")
    tools = [{"type": "function", "function": tool} for tool in example.tools]
    made: list[dict[str, Any]] = [
        {
            "type": "trajectory:tool-args-match",
            "value": {"name": call["name"], "args": orjson.loads(call["arguments"]), "mode": "exact"},
        }
        for call in due
    ]
    counted = {"type": "trajectory:step-count", "value": {"type": "tool", "min": len(due), "max": len(due)}}
    return {
        "description": f"{example.sample.key}-{example.turn}",
        "vars": {"messages": _untemplated(json_text(example.before))},
        "options": {"tools": tools},
        "assert": [*made, counted],
        "metadata": {**example.origin, "words": example.last.get("content", "")},
    }


def _untemplated(text: str) -> str:
    """JSON text whose braces begin no template: within strings `{{` and `{%` are written as escapes."""
    for sign, escaped in _TEMPLATES.items():
        text = text.replace(sign, escaped)
    return text


def _write_config(parts: Sequence[ReleaseSplit], folder: Path) -> list[Path]:
    """The configuration, which takes the test split, or the only file there is."""
    stems = [part.stem for part in parts]
    config: dict[str, JsonValue] = {
        "description": f"{parts[0].source.release.name}: calls that are due",
        "prompts": ["{{ messages }}"],
        "tracing": {"enabled": True, "otlp": {"http": {"enabled": True, "host": "127.0.0.1", "port": PORT}}},
        "tests": f"file://{TEST if TEST in stems else stems[-1]}.jsonl",
    }
    path = folder / CONFIG
    path.write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return [path]


FORMAT = Format(
    name="promptfoo",
    holds=f"`{CONFIG}` and its tests: the conversation so far, and assertions about the trajectory",
    readers="promptfoo: `promptfoo eval --providers PROVIDER`, of an agent that traces its calls",
    begin=ExampleFormat(promptfoo_row).begin,
    complete=_write_config,
)
