"""Text of others on a terminal: no command lets it clear the screen, set a title or turn the
writing direction.
"""

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.support.flows.small_builds import run_here
from tests.unit.generators.test_sources import WEATHER

EVIL = "\x1b[2J\x1b]0;title\x07\x9b31m\u202egnp\u2066\x00\x08\r[bold]"
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
TOOL = {**WEATHER.signature, "name": f"get{EVIL}", "description": f"Tell the weather{EVIL}."}


def row(text: str, tool: str) -> dict[str, object]:
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": tool, "arguments": json.dumps({"city": f"Ulm{EVIL}"})},
    }
    messages = [
        {"role": "user", "content": text},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    return {"messages": messages, "tools": [{"type": "function", "function": TOOL}]}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a work folder in it, a build of hostile rows, its release, and files of
    tools and records.
    """
    folder = tmp_path_factory.mktemp("evil")
    rows = [
        row(f"What is the weather in Ulm{EVIL}?", TOOL["name"]),
        row(f"Unknown {EVIL}", "nothing"),
    ]
    (folder / "rows.jsonl").write_text(
        "".join(f"{json.dumps(one)}\n" for one in rows), encoding="utf-8"
    )
    (folder / "tools.json").write_text(
        json.dumps([TOOL, {"name": EVIL, "parameters": EVIL}]), encoding="utf-8"
    )
    asked = {
        "id": EVIL,
        "language": "en",
        "tool": TOOL,
        "arguments": {"city": "Ulm"},
        "request": f"Weather in Ulm{EVIL}?",
    }
    (folder / "asked.jsonl").write_text(f"{json.dumps(asked)}\n", encoding="utf-8")
    recipe = {"name": "evil", "samples": [{"from": str(folder / "rows.jsonl"), "format": "openai"}]}
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe), encoding="utf-8")
    (folder / "wrong.yaml").write_text(
        yaml.safe_dump(recipe | {f"sam{EVIL}": EVIL, "tools": [{"seed": EVIL}]}), encoding="utf-8"
    )
    for words in (
        ("build", str(folder / "recipe.yaml"), "--no-review"),
        ("release", "create", "v1", "--note", EVIL),
    ):
        done = run_here(*words, home=folder / "home")
        assert not OBEYED.search(done.stdout + done.stderr), words
    return folder


COMMANDS = (
    ("query", f'select body, request, gold as "a{EVIL}[/]" from samples'),
    ("query", "from failures"),
    ("query", f"select {EVIL}"),
    ("release", "list"),
    ("release", "card", "v1"),
    ("release", "card", EVIL),
    ("release", "diff", "v1", EVIL),
    ("release", "create", f"v{EVIL}"),
    ("release", "create", "v2", "--where", f"request = '{EVIL}'"),
    ("release", "import", "other", "openai", "FOLDER/rows.jsonl"),
    ("review", "status"),
    ("review", "suspects", "v1"),
    ("recipe", "check", "FOLDER/wrong.yaml"),
    ("recipe", "check", "FOLDER/recipe.yaml"),
    ("build", "FOLDER/wrong.yaml"),
    ("build", "FOLDER/recipe.yaml", "--preview", "2"),
    ("tools", "check", "FOLDER/tools.json"),
    ("tools", "import", "openai", "FOLDER/tools.json", "--name", "evil"),
    ("tools", "list"),
    ("tools", "show", "evil"),
    ("check", "requests", "FOLDER/asked.jsonl"),
    ("check", "records", "FOLDER/asked.jsonl"),
    ("evaluate", "v1", "--model", EVIL),
    ("doctor",),
)


@pytest.mark.parametrize(
    "words",
    COMMANDS,
    ids=[" ".join(words[:2]).encode("unicode_escape").decode() for words in COMMANDS],
)
@pytest.mark.parametrize("columns", ["40", "400"])
def test_no_command_prints_what_a_terminal_would_obey(
    home: Path, words: tuple[str, ...], columns: str
) -> None:
    words = tuple(word.replace("FOLDER", str(home)).replace("\x00", "") for word in words)
    done = run_here(*words, home=home / "home", COLUMNS=columns)
    assert not OBEYED.search(done.stdout), done.stdout
    assert not OBEYED.search(done.stderr), done.stderr
    assert done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_json_says_the_same_without_what_a_terminal_would_obey(home: Path) -> None:
    done = run_here("query", "select distinct request from samples", "--json", home=home / "home")
    assert not OBEYED.search(done.stdout)
    assert json.loads(done.stdout) == [{"request": f"What is the weather in Ulm{EVIL}?"}]
