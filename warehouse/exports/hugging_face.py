"""A data set for the Hugging Face hub: a Parquet file a split, README and Croissant metadata.

The head of the README names the files. A row is a sample. What has a different shape in each row
(schemas, arguments, results) is JSON text, so that any version of `datasets` reads it; messages
and snapshots are lists of records of text.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, assert_never

import orjson
from pydantic import JsonValue

from callwright.warehouse.engine import write_parquet
from callwright.warehouse.exports.examples import one_by_one
from callwright.warehouse.exports.writing import (
    Format,
    ReleaseSplit,
    Write,
    hash_of,
    json_text,
    tool_document,
    user_text,
    write_json,
)
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)
from callwright.warehouse.yaml_text import read_yaml

COLUMNS = {
    "key": "The sample, by the hash of its content.",
    "kind": "What kind of sample it is.",
    "language": "The language of the conversation.",
    "category": "What the tools are about.",
    "request": "The first thing that the user says.",
    "messages": "What is said, called and returned; calls are JSON text.",
    "snapshots": (
        "The calls that are due after so many messages, as JSON text; [] where no tool fits."
    ),
    "tools": "The candidate tools with their JSON schemas, as JSON text.",
    "withheld": "The names of tools that would have fitted and were taken away.",
    "canary": "A string that marks test samples, empty elsewhere.",
}
CROISSANT = "croissant.json"
_ABOUT = "Function-calling samples with gold calls, content hash"


def hugging_face_row(
    sample: Sample, by_key: Mapping[str, Tool], *, one_call_at_a_time: bool = False
) -> dict[str, Any]:
    """Return a sample as a row, with parallel calls that were made one after another if asked."""
    tools = [tool_document(by_key[key]) for key in sample.candidates]
    messages = [_message("system", sample.briefing)] if sample.briefing else []
    snapshots: list[dict[str, Any]] = []
    placed = one_by_one(sample.turns) if one_call_at_a_time else enumerate(sample.turns)
    for _, turn in placed:
        if isinstance(turn, CallTurn):
            due = {"calls": _calls_text(turn.calls), "executed": turn.executed}
            snapshots.append({"after": len(messages), **due})
        messages.extend(_messages(turn))
    return {
        "key": sample.key,
        "kind": sample.kind,
        "language": sample.language,
        "category": sample.category,
        "request": sample.request,
        "messages": messages,
        "snapshots": snapshots,
        "tools": json_text(tools),
        "withheld": [by_key[key].name for key in sample.withheld if key in by_key],
    }


def _messages(turn: Turn) -> Iterator[dict[str, str]]:
    match turn:
        case UserTurn():
            yield _message("user", user_text(turn))
        case ReplyTurn(text=text):
            yield _message("assistant", text)
        case CallTurn(calls=calls, executed=executed):
            if executed and calls:
                yield _message("assistant", "", _calls_text(calls))
        case ResultTurn(results=results):
            yield from (_message("tool", json_text(result)) for result in results)
        case _:
            assert_never(turn)


def _message(role: str, content: str, calls: str = "[]") -> dict[str, str]:
    return {"role": role, "content": content, "tool_calls": calls}


def _calls_text(calls: Sequence[GoldCall]) -> str:
    return json_text([{"name": call.tool, "arguments": call.arguments} for call in calls])


_MESSAGE = "struct(role varchar, content varchar, tool_calls varchar)"
_TYPES = {
    "messages": f"{_MESSAGE}[]",
    "snapshots": "struct(after integer, calls varchar, executed boolean)[]",
    "withheld": "varchar[]",
}


def _begin(part: ReleaseSplit) -> Write:
    """Collect rows as JSON in a file of their own, and convert it to Parquet after the last one."""
    path = part.path(_file(part))
    rows = path.with_suffix(".jsonl")
    rows.unlink(missing_ok=True)

    def add(sample: Sample) -> int:
        with rows.open("ab") as file:
            in_turn = part.source.one_call_at_a_time
            row = hugging_face_row(sample, part.source.tools, one_call_at_a_time=in_turn)
            text = orjson.dumps(row | part.mark)
            file.write(text + b"\n")
        part.note(_file(part), "opaque", text)
        return 1

    def end() -> None:
        rows.touch()
        write_parquet(rows, path, {name: _TYPES.get(name, "varchar") for name in COLUMNS})
        rows.unlink()

    part.at_end.append(end)
    return add


def _split(part: ReleaseSplit) -> str:
    """Return the split that readers ask for; a part without one is `train`."""
    return part.split or "train"


def _file(part: ReleaseSplit) -> str:
    return f"data/{_split(part)}.parquet"


def _header(parts: Sequence[ReleaseSplit]) -> dict[str, JsonValue]:
    files: list[JsonValue] = [{"split": _split(part), "path": _file(part)} for part in parts]
    return {"configs": [{"config_name": "default", "data_files": files}]}


def _write_croissant(parts: Sequence[ReleaseSplit], folder: Path) -> list[Path]:
    """Write Croissant 1.0: each file with its hash, and the text columns of each split."""
    release = parts[0].source.release
    context = files("callwright.warehouse.exports").joinpath("croissant.yaml").read_text("utf-8")
    described: dict[str, JsonValue] = {
        "@context": read_yaml(context),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": release.name,
        "version": release.version,
        "datePublished": f"{release.created_at:%Y-%m-%d}",
        "description": f"{_ABOUT} {release.content_hash}.",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": (name := _file(part)),
                "name": name,
                "contentUrl": name,
                "encodingFormat": "application/x-parquet",
                "sha256": hash_of(folder / name),
            }
            for part in parts
        ],
        "recordSet": [_record_set(part) for part in parts],
    }
    return [write_json(folder / CROISSANT, described)]


def _record_set(part: ReleaseSplit) -> dict[str, JsonValue]:
    split = _split(part)
    fields: list[JsonValue] = [
        {
            "@type": "cr:Field",
            "@id": f"{split}/{name}",
            "name": name,
            "description": words,
            "dataType": "sc:Text",
            "source": {"fileObject": {"@id": _file(part)}, "extract": {"column": name}},
        }
        for name, words in COLUMNS.items()
        if name not in _TYPES
    ]
    told = f"Samples: {split}."
    head = {"@type": "cr:RecordSet", "@id": split, "name": split, "description": told}
    return {**head, "field": fields}


FORMAT = Format(
    name="hf",
    holds=(
        "a Parquet file a split, a row a sample, schemas and arguments as JSON text; the card as"
        " README; Croissant metadata"
    ),
    readers='`datasets` 3 and newer: `load_dataset("FOLDER")`; the hub; readers of Croissant',
    begin=_begin,
    complete=_write_croissant,
    header=_header,
    is_for_training=True,
    is_chat=True,
)
