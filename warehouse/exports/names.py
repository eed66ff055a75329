"""Tool names as other formats allow them."""

import re
from collections.abc import Iterable

from warehouse.records import Tool

_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST = 64


def plain_names(tools: Iterable[Tool]) -> dict[str, str]:
    """For each tool name one of letters, digits, _ and - (at most 64), distinct where the names are distinct."""
    taken: dict[str, str] = {}
    for name in sorted({tool.name for tool in tools}):
        plain = _NOT_ALLOWED.sub("_", name)[-_LONGEST:] or "_"
        number = 1
        while plain in taken.values():
            number += 1
            suffix = f"_{number}"
            plain = plain[: _LONGEST - len(suffix)] + suffix
        taken[name] = plain
    return taken
