"""A training round: items with known answers that somebody who is new answers first, and then is told of each what was right."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from callwright.annotation.calls import write_value
from callwright.annotation.reviews import QueuedTask
from callwright.annotation.screens import SAMPLE_REVIEW, TRAINING, screen_for
from callwright.annotation.studio.client import LabelStudio
from callwright.flows.progress import Progress
from callwright.flows.recipe import Recipe
from callwright.flows.review.gold_items import make_training_items
from callwright.flows.review.pushing import Pushed, tasks_for
from callwright.flows.review.questions import DRAWN, GOLD_ITEM
from callwright.flows.review.reading_reviews import NOTHING_YET
from callwright.flows.review.servers import review_turn
from callwright.flows.settings import Settings, open_warehouse
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import GoldCall, Sample
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

_EVERYBODY = 1000  # people that answer each item, so that it is never done


class TrainingAnswer(NamedTuple):
    """What somebody said of an item, whether it was right, and what was: the calls, and the defect in those shown, "" for none."""

    reviewer: str
    subject: str
    request: str
    decision: str
    is_right: bool
    defect: str
    right: str


def push_training(settings: Settings, studio: LabelStudio, progress: Progress, items: int) -> Pushed:
    """Push `items` to learn on to a project of their own, where everybody answers each once; again, it pushes what is lacking.

    Raises ConfigurationError where no build has landed samples to make them of.
    """
    with review_turn(settings, progress):
        warehouse = open_warehouse(settings)
        _make(warehouse, items)
        asked = warehouse.rows(sql("training.items"), [TRAINING, items])
        if not asked:
            raise ConfigurationError(
                "There is nothing to learn on yet: training items are made of proved samples that have landed. Build first."
            )
        screen = screen_for(SAMPLE_REVIEW, settings.review_language)
        project = studio.ensure_project(screen.with_changes(kind=TRAINING, title="callwright: Training"))
        made = tasks_for(SAMPLE_REVIEW, warehouse, settings.review_language, [_question(row) for row in asked])
        tasks = [
            QueuedTask(task.with_changes(kind=TRAINING), 0.5, _EVERYBODY, row["language"], row["sample_kind"])
            for task, row in zip(made, asked, strict=True)
        ]
        result = studio.push(project, tasks)
        now = datetime.now(UTC)
        states: list[Row] = [
            {"server": studio.name, "task_id": number, "kind": TRAINING, "subject": task.task.subject, "version": 1}
            | {"seen_at": now, **NOTHING_YET}
            for task in tasks
            if (number := result.task_ids.get(task.callwright_key)) is not None
        ]
        warehouse.put_rows({"task_states": states})
        return Pushed(result.created, result.already_there, project.url)


def training_answers(warehouse: Warehouse, reviewer: str = "") -> list[TrainingAnswer]:
    """What people said of the items to learn on, of one person or of all, with what was right."""
    return [
        TrainingAnswer(
            row["reviewer"], row["subject"], row["request"], row["decision"], row["is_right"], row["defect"],
            _calls(Sample.model_validate_json(row["body"]).gold),
        )
        for row in warehouse.rows(sql("training.answers"), [TRAINING, reviewer, reviewer])
    ]  # fmt: skip


def _make(warehouse: Warehouse, items: int) -> None:
    """Make what is lacking, of the newest build of one recipe after the other."""
    for row in warehouse.rows(sql("training.builds")):
        [held] = warehouse.rows("select count(*) as items from gold_items where kind = ?", [TRAINING])
        if held["items"] >= items:
            return
        make_training_items(warehouse, row["build"], Recipe.model_validate_json(row["body"]), items - held["items"])


def _question(row: Row) -> Row:
    """The row by which the task is made, as of any spot check."""
    return {
        "subject": row["subject"], "kind": SAMPLE_REVIEW, "version": 1, "cause": GOLD_ITEM, "first_cause": GOLD_ITEM,
        "reason": DRAWN, "problem": "",
    }  # fmt: skip


def _calls(calls: Sequence[GoldCall]) -> str:
    """Calls on one line, as they stand on the screen."""
    named = (
        f"{call.tool}({', '.join(f'{name}={write_value(value)}' for name, value in call.arguments.items())})"
        for call in calls
    )
    return "; ".join(named) or "no call"
