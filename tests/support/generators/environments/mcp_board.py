"""An MCP server of boards with notes, without the library: `python mcp_board.py` speaks over its
input and output.

What it holds stands in the file that BOARD_FILE names, board.json of where it runs unless set; with
`memory` in its process alone. `silent` makes its tool `clear_board`, which resets it, answer
nothing.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

FIRST = {
    "boards": [
        {"board_id": "b-7f3", "title": "Garden"},
        {"board_id": "b-2c9", "title": "Kitchen"},
        {"board_id": "b-5d1", "title": "Office"},
    ],
    "notes": [
        {"note_id": "n-11a", "board_id": "b-7f3", "title": "Water the roses", "status": "open"},
        {"note_id": "n-12b", "board_id": "b-7f3", "title": "Cut the hedge", "status": "open"},
        {"note_id": "n-21c", "board_id": "b-2c9", "title": "Descale the kettle", "status": "open"},
        {"note_id": "n-22d", "board_id": "b-2c9", "title": "Sharpen the knives", "status": "open"},
        {"note_id": "n-31e", "board_id": "b-5d1", "title": "Order paper", "status": "open"},
    ],
}
TEXT = {"type": "string"}
NOTE = {"note_id": TEXT, "board_id": TEXT, "title": TEXT, "status": TEXT}
BOARDS = {
    "boards": {
        "type": "array",
        "items": {"type": "object", "properties": {"board_id": TEXT, "title": TEXT}},
    }
}
NOTES = {"notes": {"type": "array", "items": {"type": "object", "properties": NOTE}}}
READS = {"readOnlyHint": True}
FILE = Path(os.environ.get("BOARD_FILE", "board.json"))


def tool(
    name: str, description: str, takes: tuple[str, ...], gives: dict[str, Any], **hints: Any
) -> dict[str, Any]:
    schema = {"type": "object", "properties": dict.fromkeys(takes, TEXT), "required": list(takes)}
    returns = {"type": "object", "properties": gives}
    return {
        "name": name,
        "description": description,
        "inputSchema": schema,
        "outputSchema": returns,
        "annotations": hints,
    }


TOOLS = [
    tool("list_boards", "List the boards.", (), BOARDS, **READS),
    tool("list_notes", "List the notes of a board.", ("board_id",), NOTES, **READS),
    tool("read_note", "Read a note.", ("note_id",), NOTE, **READS),
    tool("list_all", "List all boards and all notes.", (), BOARDS | NOTES, **READS),
    tool("create_note", "Create a note on a board.", ("board_id", "title"), NOTE),
    tool(
        "archive_note",
        "Archive a note.",
        ("note_id",),
        NOTE,
        destructiveHint=False,
        idempotentHint=True,
    ),
    tool("delete_note", "Delete a note.", ("note_id",), NOTE, destructiveHint=True),
    tool("clear_board", "Make everything what it was at first.", (), {"done": {"type": "boolean"}}),
]


def first() -> Any:
    return json.loads(json.dumps(FIRST))


kept: dict[str, Any] = first()


def read() -> dict[str, Any]:
    if "memory" in sys.argv:
        return kept
    return json.loads(FILE.read_text()) if FILE.exists() else first()


def told(name: str, given: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    if name == "list_notes":
        return {"notes": [one for one in now["notes"] if one["board_id"] == given["board_id"]]}
    if name == "read_note":
        return next(one for one in now["notes"] if one["note_id"] == given["note_id"])
    return now if name == "list_all" else {"boards": now["boards"]}


def done(name: str, given: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    if name == "clear_board":
        now |= first()
        return {"done": True}
    if name == "create_note":
        new = {"note_id": f"n-{len(now['notes'])}x", **given, "status": "open"}
        now["notes"].append(new)
        return new
    found = next(one for one in now["notes"] if one["note_id"] == given["note_id"])
    if name == "archive_note":
        found["status"] = "archived"
    else:
        now["notes"].remove(found)
    return found


def answer(name: str, given: dict[str, Any]) -> dict[str, Any]:
    now = read()
    if name.startswith(("list_", "read_")):
        return told(name, given, now)
    found = done(name, given, now)
    if "memory" not in sys.argv:
        FILE.write_text(json.dumps(now))
    return found


def reply(asked: dict[str, Any]) -> dict[str, Any]:
    method, params = asked["method"], asked.get("params") or {}
    if method == "initialize":
        info = {"name": "board", "version": "1"}
        return {
            "result": {
                "protocolVersion": "2025-03-26",
                "capabilities": {"tools": {}},
                "serverInfo": info,
            }
        }
    if method == "tools/list":
        return {"result": {"tools": TOOLS}}
    if method != "tools/call":
        return {"error": {"code": -32601, "message": "Method not found"}}
    if log := os.environ.get("BOARD_LOG"):
        with Path(log).open("a") as file:
            file.write(
                f"{os.getpid()} {params['name']} {json.dumps(params.get('arguments') or {})}\n"
            )
    try:
        found = answer(params["name"], params.get("arguments") or {})
    except StopIteration:
        return {
            "result": {
                "content": [{"type": "text", "text": "There is no such note."}],
                "isError": True,
            }
        }
    return {
        "result": {
            "content": [{"type": "text", "text": json.dumps(found)}],
            "structuredContent": found,
        }
    }


for line in sys.stdin:
    said = json.loads(line)
    if "id" not in said or (
        "silent" in sys.argv and (said.get("params") or {}).get("name") == "clear_board"
    ):
        continue
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": said["id"], **reply(said)}) + "\n")
    sys.stdout.flush()
