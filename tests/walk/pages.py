"""What the pages tell people to run: their shell blocks, command by command, and the files that
they show by name.
"""

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).parents[2]
# In the order of somebody who begins; a page may use what those before it have made.
PAGES = (
    "README.md",
    "docs/first-dataset.md",
    "docs/reviewing.md",
    "docs/annotating.md",
    "docs/evaluating.md",
    "docs/sources.md",
    "docs/exports.md",
    "docs/environments.md",
    "docs/viewing.md",
)
_BLOCK = re.compile(
    r"(?:<!-- not run: (?P<reason>[^>]+?) -->\n+)?^```(?P<language>\w*)(?:"
    r' title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$',
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """A fenced block of a page; `title` is the file that it shows, `reason` why it is not run."""

    page: str
    language: str
    title: str
    text: str
    reason: str


def blocks_of(page: str) -> list[Block]:
    text = (TOP / page).read_text(encoding="utf-8")
    return [
        Block(page, found["language"], found["title"] or "", found["text"], found["reason"] or "")
        for found in _BLOCK.finditer(text)
    ]


def commands_of(block: Block) -> list[str]:
    """The commands of a shell block: lines, joined as far as the shell needs them to be."""
    commands: list[str] = []
    pending = ""
    for line in block.text.splitlines():
        pending += line + "\n"
        if pending.strip() and not pending.rstrip().endswith("\\") and _is_whole(pending):
            commands.append(pending.strip())
            pending = ""
    assert not pending.strip(), f"{block.page}: the shell waits for the end of {pending!r}"
    return commands


def _is_whole(text: str) -> bool:
    return (
        subprocess.run(["bash", "-n", "-c", text], capture_output=True, check=False).returncode == 0
    )


def without_comment(command: str) -> str:
    """The command without what it says to readers."""
    return re.sub(r"\s{2,}# .*", "", command)
