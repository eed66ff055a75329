"""Whatever stands in a file, a reader gives a record for it or says why there is none; nothing
of it comes out as a bug.
"""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.imports.reading import SOURCES, ImportedRecord
from tests.unit.generators import test_sessions as sessions
from tests.unit.generators.test_sources import ASKED as ASKED_SAMPLE
from tests.unit.generators.test_sources import ROWS, TRAINS, WEATHER
from tests.unit.generators.test_traces import (
    ASKED,
    FIRST,
    LAST,
    MADE,
    OTHER,
    TOOL,
    TRAJECTORY,
    otlp,
)

WORDS = st.sampled_from(
    [
        "messages",
        "role",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "user",
        "assistant",
        "tool",
        "system",
        "type",
        "text",
        "tool_use",
        "function_call",
        "conversations",
        "from",
        "value",
        "gpt",
        "human",
        "tools",
        "parameters",
        "properties",
        "input",
        "output",
        "steps",
        "source",
        "message",
        "observation",
        "results",
        "query",
        "answers",
        "question",
        "resourceSpans",
        "scopeSpans",
        "spans",
        "attributes",
        "key",
        "stringValue",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "observations",
        "GENERATION",
        "samples",
        "target",
        "metadata",
        "snapshots",
        "after",
        "calls",
        "id",
        "ground_truth",
        "parts",
        "f",
        "expected_action",
        "responses_create_params",
        "sample",
        "turns",
        "traceId",
        "events",
        "system_instructions",
        "agent",
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 2**70)
    | st.floats(allow_nan=False)
    | WORDS
    | st.text(max_size=8)
    | st.sampled_from(
        [
            "[f(a=1)]",
            "<tool_call>{}</tool_call>",
            "<tools>[",
            '[{"name": 1}]',
            "{}",
            "[]",
            "\ud800".encode("utf-8", "replace").decode(),
        ]
    )
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=25,
)
TOLD = {"language": "en", "category": "c"}
FUNCTION = {"name": "f", "parameters": {"type": "dict", "properties": {"a": {"type": "integer"}}}}
LOGGED = {
    "messages": [*ASKED, MADE],
    "events": [{"tools": [{"name": "get_weather"}]}],
    "scores": {"a": {"value": "C"}},
}
GENERATION = {"type": "GENERATION", "input": {"messages": ASKED, "tools": []}, "output": MADE}
HUB = {
    "kind": "a",
    "messages": [{"role": "user", "content": "Hi", "tool_calls": "[]"}],
    "tools": "[]",
    **TOLD,
    "snapshots": [{"after": 1, "calls": "[]", "executed": False}],
}
RECORD = {
    "sample": ASKED_SAMPLE.model_dump(mode="json"),
    "tools": [one.model_dump(mode="json") for one in (WEATHER, TRAINS)],
}
GOOD: dict[str, list[Any]] = {
    **{form: [row] for form, row in ROWS.items()},
    "trl": [{"messages": [*ASKED, MADE], "tools": "[]", "origin": TOLD}],
    "otel": [FIRST, otlp(OTHER, TOOL), LAST],
    "langfuse": [{"id": "t", "observations": [GENERATION], "scores": [{"value": 1}]}],
    "atif": [TRAJECTORY],
    "claude-code": sessions.CLAUDE,
    "codex": sessions.CODEX,
    "langsmith": [sessions.FIRST, sessions.CALLED, sessions.LAST, sessions.ROOT],
    "inspect": [
        {"samples": [LOGGED]},
        {"input": ASKED, "target": "[]", "metadata": {**TOLD, "words": "No.", "tools": []}},
    ],
    "bfcl": [{"id": "a", "question": [ASKED], "function": [FUNCTION]}],
    "records": [RECORD],
    "hf": [HUB],
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for step, one in inner:
        yield from places(one, (*path, step))


def replaced(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    if not path:
        return other
    step, *rest = path
    if isinstance(value, dict):
        return {**value, step: replaced(value[step], tuple(rest), other)}
    return [
        replaced(one, tuple(rest), other) if at == step else one for at, one in enumerate(value)
    ]


def read_all(form: str, rows: list[Any]) -> list[ImportedRecord]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        return list(SOURCES.named(form).read(path))


@pytest.mark.parametrize("form", GOOD)
@given(st.data())
def test_a_row_with_anything_in_the_place_of_one_of_its_values_is_a_record_or_a_reason(
    form: str, data: Any
) -> None:
    rows = GOOD[form]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(rows) - 1))
        path = data.draw(st.sampled_from([*places(rows[at])]))
        rows = replaced(rows, (at, *path), data.draw(JSON))
    assert all(record.sample is not None or record.problems for record in read_all(form, rows))


def test_a_part_of_a_result_whose_type_is_a_list_is_read_as_what_was_returned() -> None:
    told = {"role": "tool", "content": [{"type": []}]}
    [record] = read_all("openai", [{"messages": [{"role": "user", "content": "Hello."}, told]}])
    assert record.sample is not None or record.problems


def test_a_snapshot_with_a_yes_or_no_in_the_place_of_its_turn_is_passed_over() -> None:
    [record] = read_all(
        "hf", [{**HUB, "snapshots": [{"after": False, "calls": "[]", "executed": False}]}]
    )
    assert record.sample is not None or record.problems
