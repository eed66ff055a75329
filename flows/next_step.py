"""What to do next in a work folder: one command, by what is there."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from callwright.flows.settings import Settings, reading
from callwright.warehouse.queries import sql

RECIPE = "recipe.yaml"  # what `callwright init` writes


class NextStep(NamedTuple):
    """What there is by now, the command that comes next, and what it is good for."""

    found: str
    command: str
    purpose: str


def next_step(folder: Path, settings: Settings) -> NextStep:
    """The next sensible step of whoever stands in `folder`, whose work folder the settings name.

    next_step(Path("empty"), settings).command  # 'callwright demo'
    """
    recipe = RECIPE if (folder / RECIPE).is_file() else ""
    if settings.warehouse.is_file():
        with reading(settings) as warehouse:
            [counts] = warehouse.rows(sql("next_step.counts"))
        return step_for(counts, recipe or "RECIPE")
    if recipe:
        purpose, found = "shows five samples of each kind and keeps none", f"{recipe} is there, and nothing was built."
        return NextStep(found, f"callwright build {recipe} --preview 5", purpose)
    purpose = "builds, reviews and evaluates a small dataset; `callwright init` writes a recipe of your own"
    return NextStep("There is no work folder here yet.", "callwright demo", purpose)


def step_for(counts: Mapping[str, int | str | None], recipe: str) -> NextStep:
    """The step that follows from a row of next_step.sql."""
    released = f"the newest release is {counts['newest']}" if counts["releases"] else "nothing is released"
    found = f"{counts['landed']} samples have landed, {counts['waiting']} questions wait for people, {released}."
    if counts["unfinished"]:
        found = f"The build of {counts['unfinished']!r} has not ended. {found}"
        command, purpose = f"build {recipe}", "goes on where it stopped; nothing is paid twice"
    elif not counts["landed"] and not counts["waiting"]:
        command, purpose = f"build {recipe}", "makes samples"
    elif counts["unpushed"]:
        command, purpose = "review serve", "starts Label Studio; then `callwright review push` asks people"
    elif not counts["releases"] or counts["is_newer"]:
        purpose = "freezes what has landed" + (" since the newest release" if counts["releases"] else "")
        command = "release create NAME"
    elif not counts["evaluated"]:
        command, purpose = f"evaluate {counts['newest']} --model NAME", "scores a model on the newest release"
    elif counts["waiting"]:
        command, purpose = "review pull", "takes back what people have decided by now"
    else:
        command, purpose = "view", "shows samples, evaluations and builds in the browser"
    return NextStep(found, f"callwright {command}", purpose)
