"""An agent whose calls are written down, over `callwright mcp`: from an OpenAPI file to a release.

Run as a module it prints what docs/agents.md shows.
"""

import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from tests.support.flows.small_builds import TOP

API = TOP / "docs" / "first-dataset" / "library.yaml"
RECIPE = """\
name: library
tools:
  - {environment: simulated, import: openapi, path: api.yaml, constants: {branch: harbour}}
samples: {perfect: 6, imperfect: 3, multi_step: 3}
readers: {planted: 0}
"""
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("check_tools", {"files": ["api.yaml"], "try_samples": False}),
    ("write_recipe", {"recipe": "recipe.yaml", "text": RECIPE}),
    ("estimate", {"recipe": "recipe.yaml"}),
    ("preview", {"recipe": "recipe.yaml", "count": 1}),
    ("build", {"recipe": "recipe.yaml"}),
    ("funnel", {"recipe": "library"}),
    ("samples", {"where": "kind = 'multi_step'", "limit": 1}),
    (
        "query",
        {"sql": "select kind, count(*) as n from accepted_samples group by all order by all"},
    ),
    ("create_release", {"name": "v1", "splits": "train=0.8,test=0.2"}),
    ("evaluate", {"release": "v1", "model": ["template/v1"]}),
    ("export", {"release": "v1", "to": "records"}),
]
_FIELDS = {  # of each answer, what the page shows
    "check_tools": ("constants_to_fix",),
    "write_recipe": ("is_valid",),
    "estimate": ("sentence",),
    "preview": (),
    "build": ("sentence",),
    "funnel": ("columns",),
    "samples": (),
    "query": ("rows",),
    "create_release": ("samples", "splits"),
    "evaluate": ("sentence",),
    "export": ("rows",),
}
_SHOWN, _ITEMS = 130, 2  # characters of a text, and items of a list


def server_process(folder: Path, *words: str) -> StdioServerParameters:
    """The server of a folder, as an agent's program starts it."""
    own = {name: one for name, one in os.environ.items() if not name.startswith("CALLWRIGHT_")}
    start = ["-m", "callwright", "mcp", str(folder), *words]
    return StdioServerParameters(
        command=sys.executable, args=start, env=own | {"CALLWRIGHT_WORKERS": "1"}
    )


async def transcript(folder: Path) -> list[tuple[str, dict[str, Any], dict[str, Any], list[str]]]:
    """Each call with its arguments, its answer, and the progress that was told meanwhile."""
    shutil.copy(API, folder / "api.yaml")
    made = []
    async with Client(server_process(folder, "--allow-writes")) as client:
        for tool, arguments in CALLS:
            told: list[str] = []

            async def hear(_at: float, _of: float | None, message: str | None) -> None:
                told.append(message or "")  # noqa: B023 - of this call

            answer = await client.call_tool(tool, arguments, progress_callback=hear)
            assert not answer.is_error, answer.content
            made.append((tool, arguments, answer.structured_content, told))
    return made


def shown(tool: str, arguments: dict[str, Any], answer: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that the page shows of a call and its answer."""
    stated = {name: "…" if name == "text" else one for name, one in arguments.items()}
    yield f"> {tool} {json.dumps(stated, ensure_ascii=False)}"
    yield from (f"    {line}" for line in arguments.get("text", "").splitlines())
    for name in _FIELDS[tool]:
        yield f"< {name}: {_short(answer[name])}"


def _short(value: Any) -> str:
    if isinstance(value, list):
        items = [_short(one) for one in value[:_ITEMS]]
        more = f", … {len(value) - _ITEMS} more" if len(value) > _ITEMS else ""
        return f"[{', '.join(items)}{more}]"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def page(made: list[tuple[str, dict[str, Any], dict[str, Any], list[str]]]) -> str:
    return "\n".join(line for tool, given, answer, _ in made for line in shown(tool, given, answer))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        sys.stdout.write(page(asyncio.run(transcript(Path(place)))) + "\n")
