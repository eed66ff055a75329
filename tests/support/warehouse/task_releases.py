"""A release of tasks in the workshop, in splits, as exports read it."""

from pathlib import Path

from callwright.generators.environments.opening import ship_world
from callwright.generators.environments.protocol import SimulatedSettings
from callwright.warehouse.releases import ReleaseStream
from tests.support.generators.multi_step.workshop import DOCUMENT, open_workshop, painting, telling
from tests.support.warehouse.exported import release_of, stream_of

SETTINGS = SimulatedSettings.model_validate(
    {"environment": "simulated", "name": "workshop", "path": DOCUMENT}
)


def task_stream(folder: Path) -> ReleaseStream:
    """Two tasks, one in each of two splits, and their world; its store stands in a folder."""
    workshop = open_workshop(folder)
    content = release_of(
        [painting(workshop), telling(workshop)], {tool.key: tool for tool in workshop.tools}
    )
    content = content._replace(
        release=content.release.with_changes(splits={"train": 0.5, "test": 0.5})
    )
    return stream_of(content, ["train", "test"])._replace(
        worlds={"workshop": ship_world(workshop, SETTINGS)}
    )
