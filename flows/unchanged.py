"""Builds that have nothing to do: recipe, tools, models and prompts are as they were when the build ended."""

from datetime import datetime
from typing import NamedTuple

from flows.build import BuildReport, build_key, reopen_build, report_build
from flows.environments import environment_tools
from flows.importing import gather_tools
from flows.progress import Progress
from flows.recipe import Recipe
from flows.settings import Settings, open_warehouse
from flows.toolmaking import made_tools
from warehouse.errors import ConfigurationError


class Unchanged(NamedTuple):
    """A build that ended, and of which nothing has changed since: what it made, and when it ended."""

    report: BuildReport
    finished_at: datetime

    @property
    def sentence(self) -> str:
        """Why there is nothing to do."""
        return (
            f"Nothing to do: recipe, tools, models and prompts are as they were when the build {self.report.build} ended, "
            f"{self.finished_at:%Y-%m-%d %H:%M}."
        )


def find_unchanged(recipe: Recipe, settings: Settings, progress: Progress) -> Unchanged | None:
    """The finished build that this recipe names as things stand now; None where there is something to do."""
    warehouse = open_warehouse(settings)
    ended = {
        row["key"]: row["finished_at"]
        for row in warehouse.rows(
            "select key, finished_at from builds where recipe = ? and finished_at is not null", [recipe.name]
        )
    }
    if not ended:
        return None
    try:
        toolbox = gather_tools(recipe, made_tools(recipe, settings), environment_tools(recipe, settings))
    except ConfigurationError:  # tools that are not made yet, or what the build itself will tell better
        return None
    key = build_key(recipe, toolbox.tools)
    if key not in ended:
        return None
    return Unchanged(report_build(reopen_build(key, settings, progress)), ended[key])
