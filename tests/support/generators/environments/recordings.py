"""Recordings as files."""

from collections.abc import Iterable
from pathlib import Path

import orjson
from pydantic import JsonValue

from callwright.generators.environments.response_store import Description, Stored, call_key


def write_recording(path: Path, description: Description, stored: Iterable[Stored]) -> int:
    """Write a recording as JSON lines, the newest answer to each call; how many answers there
    are.
    """
    newest = {one.key: one for one in stored}
    known = {call_key(call): number for number, call in enumerate(description.calls)}
    with path.open("wb") as file:
        for kind, records in (("tool", description.tools), ("link", description.links)):
            for record in records:
                file.write(
                    orjson.dumps(
                        {kind: record.model_dump(mode="json")}, option=orjson.OPT_APPEND_NEWLINE
                    )
                )
        for one in sorted(newest.values(), key=lambda one: known.get(one.key, len(known))):
            row: dict[str, JsonValue] = {
                "call": one.call.model_dump(mode="json"),
                "response": one.answer.response,
            }
            if one.key in known:
                row["known"] = True
            if one.answer.problem:
                row["problem"] = one.answer.problem
            file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
    return len(newest)
