"""Label Studio counts the annotations of a task beside them; where a busy server missed one, the
pull still finds it.
"""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from callwright.annotation.reviews import QueuedTask
from callwright.annotation.sample_review import review_task
from callwright.annotation.screens import screen_for
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.server import StudioPlaces
from tests.support.flows.paper_studio import control_result

pytestmark = [pytest.mark.labelstudio, pytest.mark.enable_socket]


@pytest.mark.parametrize("is_first", [True, False])
def test_an_annotation_that_label_studio_does_not_count_is_pulled(
    is_first: bool, label_studio: LabelStudio, label_studio_home: Path, make_sample, tools
) -> None:
    kind = f"miscounted_{is_first}".lower()
    project = label_studio.ensure_project(screen_for("sample_review").with_changes(kind=kind))
    task = review_task(make_sample(), tools, [], reason="-").with_changes(kind=kind)
    [number] = label_studio.push(project, [QueuedTask(task)]).task_ids.values()
    since = None if is_first else datetime.now(UTC)
    label_studio.client.annotations.create(
        id=number, result=[control_result("verdict", ["accept"])]
    )
    _forget_the_count(label_studio_home, number)
    [annotation] = label_studio.pull(project, since).annotations
    assert annotation.task_id == number


def _forget_the_count(home: Path, task: int) -> None:
    """What two writes at once leave behind now and then."""
    database = sqlite3.connect(StudioPlaces(home).data / "label_studio.sqlite3", timeout=60)
    with database:
        changed = database.execute(
            "update task set total_annotations = 0, is_labeled = 0 where id = ?", [task]
        )
        assert changed.rowcount == 1
    database.close()
