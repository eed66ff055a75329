"""A server of an older protocol, without the library: its tools come page by page.

`python mcp_paged.py circle` gives the same cursor for ever, `silent` answers nothing but the
handshake, `leave` ends when it is asked for its tools, `break` when it is asked for the second
page, and `stay` goes on when its input ends.
"""

import json
import sys
import time
from typing import Any

PAGES: dict[str | None, str | None] = {None: "second", "second": "third", "third": None}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        info = {"name": "paged", "version": "1"}
        return {"protocolVersion": "2025-03-26", "capabilities": {"tools": {}}, "serverInfo": info}
    if method != "tools/list" or "silent" in sys.argv:
        return None
    if "leave" in sys.argv:
        sys.exit(3)
    cursor = params.get("cursor")
    if "break" in sys.argv and cursor:
        sys.exit(3)
    tool = {
        "name": f"read_{cursor or 'first'}",
        "description": "Read a page.",
        "inputSchema": {"type": "object"},
    }
    after = "second" if "circle" in sys.argv else PAGES[cursor]
    return {"tools": [tool], **({"nextCursor": after} if after else {})}


for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "server/discover":
        reply = {"error": {"code": -32601, "message": "Method not found"}}
    else:
        found = answer(asked["method"], asked.get("params") or {})
        if found is None:
            continue
        reply = {"result": found}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **reply}) + "\n")
    sys.stdout.flush()
if "stay" in sys.argv:
    time.sleep(600)
