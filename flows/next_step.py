"""Suggests the next command for a work folder, by what it contains.

The command works as printed, in that folder.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from callwright.flows.settings import Settings, reading
from callwright.warehouse.counts import count_of
from callwright.warehouse.queries import sql

if TYPE_CHECKING:
    from callwright.warehouse.store import Warehouse

RECIPE = "recipe.yaml"  # what `callwright init` writes
FIRST_FOLDER = "mine"  # where the first one goes, as README has it
_MOST_NAMED = 4
_HEAD = 65_536  # bytes of a file that are searched for a recipe's settings
_NAME = re.compile(r"^name:\s*[\"']?([a-z0-9][a-z0-9_-]*)", re.MULTILINE)
_COUNTS = re.compile(r"^(samples|scale):", re.MULTILINE)


class RecipeFile(NamedTuple):
    """A recipe in a folder or one level below: its path from there, and its builds' name."""

    path: Path
    name: str


class NextStep(NamedTuple):
    """The current state, the next command, and its purpose."""

    found: str
    command: str
    purpose: str


def command_line(*words: object) -> str:
    """Return a command as a person types it, quoted where a shell needs it.

    >>> command_line("build", Path("my data/recipe.yaml"), "--preview", 5)
    "callwright build 'my data/recipe.yaml' --preview 5"
    """
    return shlex.join(["callwright", *map(str, words)])


def next_step(folder: Path, settings: Settings) -> NextStep:
    """Return the next sensible step in `folder`, whose work folder the settings name.

    next_step(Path("empty"), settings).command  # 'callwright init mine'
    """
    recipes = [*find_recipes(folder)]
    if settings.warehouse.is_file():
        with reading(settings) as warehouse:
            return step_in(warehouse, recipes)
    if recipes:
        found = f"{_named(recipes)} Nothing has been built yet."
        return NextStep(found, command_line("build", recipes[0].path, "--preview", 5), _LOOK)
    return NextStep("There is no recipe here yet.", command_line("init", FIRST_FOLDER), _FIRST)


_LOOK = "makes 5 samples of each kind, shows them and keeps none"
_FIRST = "writes a first recipe; `callwright demo` shows every part at work instead"


def find_recipes(folder: Path) -> Iterator[RecipeFile]:
    """Yield the recipes in a folder and one level below it: those of `init`, then the nearest."""
    folders = [folder, *sorted(one for one in folder.glob("[!.]*") if one.is_dir())]
    files = [path for one in folders for path in sorted(one.glob("*.y*ml"))]
    for path in sorted(files, key=lambda one: (one.name != RECIPE, one.parent != folder)):
        text = _head_of(path)
        name = _NAME.search(text)
        if name and _COUNTS.search(text):
            yield RecipeFile(path.relative_to(folder), name[1])


def _head_of(path: Path) -> str:
    """Return the beginning of a file; "" if it can't be read."""
    try:
        with path.open("rb") as file:
            return file.read(_HEAD).decode("utf-8", "replace")
    except OSError:
        return ""


def _named(recipes: Sequence[RecipeFile]) -> str:
    shown = ", ".join(str(one.path) for one in recipes[:_MOST_NAMED])
    more = f" and {len(recipes) - _MOST_NAMED} more" if len(recipes) > _MOST_NAMED else ""
    return f"{'Recipe' if len(recipes) == 1 else 'Recipes'}: {shown}{more}."


def step_in(warehouse: "Warehouse", recipes: Sequence[RecipeFile]) -> NextStep:
    """Return the step that follows from what a warehouse holds."""
    [counts] = warehouse.rows(sql("next_step.counts"))
    return step_for(
        counts, recipes, [row["name"] for row in warehouse.rows("select name from releases")]
    )


def step_for(
    counts: Mapping[str, int | str | None],
    recipes: Sequence[RecipeFile],
    releases: Sequence[str] = (),
) -> NextStep:
    """Return the step that follows from a row of next_step.sql, the recipes and the releases.

    `releases` are names.
    """
    newest, landed, waiting = (
        counts["newest"],
        int(counts["landed"] or 0),
        int(counts["waiting"] or 0),
    )
    status_texts = [_named(recipes)] if recipes else []
    status_texts.append(
        f"{count_of(landed, 'sample')} accepted,"
        f" {count_of(waiting, 'question waits', 'questions wait')} for reviewers,"
    )
    status_texts.append(f"newest release: {newest}." if counts["releases"] else "no release yet.")
    words: tuple[object, ...]
    unfinished = next((one for one in recipes if one.name == counts["unfinished"]), None)
    if counts["unfinished"]:
        status_texts.insert(0, f"The build of {counts['unfinished']!r} has not finished.")
    if unfinished:
        words, purpose = ("build", unfinished.path), "continues it; nothing is paid twice"
    elif not landed and not waiting and recipes:
        words, purpose = ("build", recipes[0].path), "makes samples"
    elif not landed and not waiting:
        words, purpose = ("init", FIRST_FOLDER), _FIRST
    elif counts["unpushed"]:
        words, purpose = (
            ("review", "serve"),
            "starts Label Studio; then send the questions with `callwright review push`",
        )
    elif not counts["releases"] or counts["is_newer"]:
        since = " since the newest release" if counts["releases"] else ""
        words, purpose = (
            ("release", "create", _free_name(releases)),
            f"freezes the samples accepted{since}",
        )
    elif not counts["evaluated"]:
        words, purpose = (
            ("evaluate", newest, "--model", "template/v1"),
            "scores a model on the newest release",
        )
    elif waiting:
        words, purpose = ("review", "pull"), "takes back the reviewers' decisions"
    else:
        words, purpose = ("view",), "shows samples, evaluations and builds in the browser"
    return NextStep(" ".join(status_texts), command_line(*words), purpose)


def _free_name(releases: Sequence[str]) -> str:
    """Return the first of v1, v2, … that no release has."""
    return next(
        name for number in range(1, len(releases) + 2) if (name := f"v{number}") not in releases
    )
