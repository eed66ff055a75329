"""Hostile input by the hundred thousand: from models, people and files come texts, and out come
values or the house's errors.

Each input is drawn from a seed that is printed. CALLWRIGHT_FUZZ sets how many there are,
CALLWRIGHT_FUZZ_SEED which.
"""

import os
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, JsonValue

from callwright.annotation.calls import read_name, read_value
from callwright.annotation.edit_rows import read_lines
from callwright.annotation.studio.records import read_tasks
from callwright.flows.evaluation.predictions import parse_calls
from callwright.flows.recipe.problems import YamlFault, read_yaml
from callwright.flows.recipe.reading import parse_recipe
from callwright.generators.catalogs.documents import parse_json_or_yaml
from callwright.language.schemas import choices_of, fits, kind_of
from callwright.llm.answers import parse_answer, validate_calls, validate_text
from callwright.llm.chat import Completion
from callwright.llm.wire_format import WireCall, read_reply
from callwright.validators.metrics.hammerbench.scores import parse_reply
from callwright.warehouse.errors import CallwrightError
from callwright.warehouse.records import Tool

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("CALLWRIGHT_FUZZ", "100000"))
SEED = int(os.environ.get("CALLWRIGHT_FUZZ_SEED", "16"))
SECONDS = 1.0  # of processor time for one input
TOOL = Tool(
    name="book",
    description="Books a room.",
    category="hotels",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "guests": {"type": "integer"}},
    },
)
SEEDS = (
    '[{"name": "book", "arguments": {"city": "Paris", "guests": 2}}]',
    '{"API": ["book"], "parameters": [{"city": "Paris"}]}',
    "- name: book\n  arguments: {city: Paris, guests: 2}\n",
    '<tool_call>{"name": "book", "arguments": {"city": "Paris"}}</tool_call>',
    "[book(city='Paris', guests=2)]",
    '```json\n{"value": [1, 2.5, null, true]}\n```',
    (
        "name: mine\nseed: 1\nlanguages: [en]\nsamples: {perfect: 3}\ntools: [{seed: all}]\nmodels:"
        " {author: {name: template/v1}}\n"
    ),
    (
        '{"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a|a)*$", "enum":'
        ' ["x"]}}, "required": ["a"]}'
    ),
    (
        '{"id": 1, "data": {"callwright_key": "sample_review:abc:1"}, "updated_at":'
        ' "2026-01-01T00:00:00Z", "annotations": [{"id": 2, "completed_by": 1, "result": [],'
        ' "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "lead_time":'
        ' 3.5, "was_cancelled": false}], "drafts": []}'
    ),
    "User 1: Book a room\nCall 1\n  book\n    city: Paris\n    guests: 2\n",
)
PIECES = (
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    '"',
    "'",
    "\\",
    ",",
    ":",
    "\n",
    "\t",
    "\0",
    "\ud800",
    "\u202e",
    "😀",
    "一千",
    "NaN",
    "Infinity",
    "-",
    "1e999",
    "9" * 50,
    "9" * 5000,
    "[" * 90,
    "[" * 600,
    '{"a":' * 90,
    '{"a":' * 600,
    "(" * 300,
    "null",
    "true",
    "&a [*a]",
    "*a",
    "<<: *a",
    "!!python/object:os.system",
    "2026-99-99",
    "? ",
    "- " * 400,
    "```",
    "```json",
    "<tool_call>",
    "${X}",
    "../",
    "a" * 3000,
    "aaaaaaaaaaaaaaaaaaaaaaaa!",
    '{"$ref": "#"}',
    '"pattern": "(a+)+$"',
    '"minLength": 1000000000',
    "\x85",
    "\u2028",
    "-0",
    "0x1F",
    "1_000",
)


class _Answer(BaseModel):
    """An answer as a stage asks for it."""

    value: list[int | str] = []
    note: str = ""


def hostile_text(rng: Random) -> str:
    """A text that is nearly right, or nothing like it."""
    text = rng.choice(SEEDS) if rng.random() < 0.85 else ""
    for _ in range(rng.choice((0, 1, 1, 2, 3, 5, 9))):
        at = rng.randint(0, len(text))
        match rng.randrange(4):
            case 0:
                text = text[:at] + rng.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + rng.randint(1, 9) :]
            case 2:
                text = (
                    text[:at]
                    + chr(rng.choice((rng.randrange(128), rng.randrange(0x110000))))
                    + text[at + 1 :]
                )
            case _:
                end = rng.randint(at, len(text))
                text = text[:end] + text[at:end] * rng.choice((1, 2, 20)) + text[end:]
    return text[:20_000]


def hostile_json(rng: Random, text: str) -> Any:
    """A value that is nearly right: one of a seed's members is another one."""
    with suppress(ValueError):
        return orjson.loads(text)
    value = orjson.loads(rng.choice([seed for seed in SEEDS if seed.startswith("{")]))
    holder = value
    while isinstance(holder, dict | list) and holder:
        place = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
        if rng.random() < 0.4 or not isinstance(holder[place], dict | list) or not holder[place]:
            holder[place] = rng.choice(
                (None, -1, 1.5, "", "x", [], {}, [[]], {"a": None}, 2**70, True, text[:50])
            )
            return value
        holder = holder[place]
    return value


def _from_a_model(reader: Callable[[str], object], rng: Random, text: str) -> None:
    del rng
    validate_text(text)
    reader(text)


def _native(rng: Random, text: str) -> None:
    _, calls = read_reply(rng.choice(("", text)), [WireCall(rng.choice(("book", text[:40])), text)])
    validate_calls(calls or ())


def _recipe(rng: Random, text: str) -> None:
    del rng
    try:
        data = read_yaml(text).data
    except YamlFault:
        return
    if isinstance(data, dict):
        parse_recipe(data, Path("/nowhere"), "a recipe")


def _schema(rng: Random, text: str) -> None:
    schema = hostile_json(rng, text)
    if isinstance(schema, dict) and Draft202012Validator(Draft202012Validator.META_SCHEMA).is_valid(
        schema
    ):
        values: list[JsonValue] = ["a" * 40 + "!", 1, {"a": "x"}, [1], None]
        fits(rng.choice(values), schema)
        kind_of(schema)
        choices_of(schema)


def _tasks(rng: Random, text: str) -> None:
    task = hostile_json(rng, text)
    read_tasks([task] if isinstance(task, dict) else [], {1: "ann"}, "server")


READERS: dict[str, Callable[[Random, str], object]] = {
    **{
        f"reply {style}": partial(_from_a_model, partial(parse_reply, style=style))
        for style in ("lenient", "default", "mistral", "xlam", "toolace")
    },
    "calls json": partial(_from_a_model, lambda text: parse_calls(Completion(text, None), "json")),
    "calls yaml": partial(_from_a_model, lambda text: parse_calls(Completion(text, None), "yaml")),
    "answer": partial(_from_a_model, partial(parse_answer, answer=_Answer)),
    "cut answer": partial(_from_a_model, partial(parse_answer, answer=_Answer, is_cut=True)),
    "native calls": _native,
    "typed value": lambda _, text: read_value(text, {"type": "integer"}),
    "typed name": lambda _, text: read_name(text),
    "typed lines": lambda _, text: read_lines([], text, [TOOL]),
    "annotations": _tasks,
    "catalog": lambda _, text: parse_json_or_yaml(text, "a document"),
    "recipe": _recipe,
    "schema": _schema,
}


def test_nothing_but_the_houses_errors_comes_out_each_within_a_second() -> None:
    found: Counter[str] = Counter()
    first: dict[str, str] = {}
    slowest = 0.0
    for number in range(COUNT):
        rng = Random(f"{SEED} {number}")
        name = rng.choice(list(READERS))
        text = hostile_text(rng)
        began = time.process_time()
        try:
            READERS[name](rng, text)
        except CallwrightError:
            pass
        except Exception as error:  # noqa: BLE001 - this is what is looked for
            kind = f"{name}: {type(error).__name__}: {str(error)[:60]}"
            found[kind] += 1
            first.setdefault(kind, f"number {number}: {text[:200]!r}")
        took = time.process_time() - began
        slowest = max(slowest, took)
        if took > SECONDS:
            found[f"{name}: slow"] += 1
            first.setdefault(f"{name}: slow", f"number {number}, {took:.1f} s: {text[:200]!r}")
    print(f"{COUNT} inputs of seed {SEED}; the slowest took {slowest:.2f} s")  # noqa: T201 - the figures
    assert not found, "\n".join(
        f"{count} x {kind}\n    {first[kind]}" for kind, count in found.most_common()
    )
