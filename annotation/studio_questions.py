"""What Label Studio is told and asked, in its own JSON: a project, its table of tasks, a filter."""

import json
from typing import Any, Literal

from annotation.projects import description_of
from annotation.screens import Screen

Json = dict[str, Any]  # a foreign server's JSON
_STUDIOS_OWN = (
    "inner_id", "completed_at", "cancelled_annotations", "total_predictions", "annotations_results", "annotations_ids",
    "annotators", "predictions_score", "predictions_model_versions", "predictions_results", "file_upload", "storage_filename",
    "created_at", "updated_at", "updated_by", "avg_lead_time", "draft_exists",
)  # fmt: skip
_OWN_FIELDS = ("callwright_key", "subject", "version")
_WIDE = 420
_OPEN, _ANSWERED = "Default", "Answered"
KEY = "data.callwright_key"
ORDER = "place in the queue, no answer"  # stands with the score at an opened task, where a model's name would


def project_fields(screen: Screen) -> Json:
    """What a project of this screen has."""
    return {
        "label_config": screen.config,
        "expert_instruction": screen.instruction,
        "description": description_of(screen.kind, screen.config),
    }


def order_fields() -> Json:
    """How a new project chooses what is shown next: the least score of callwright's predictions, which hold nothing else.

    Nobody is shown them. Label Studio means it for the answers that a model is least sure of.
    """
    return {
        "sampling": "Uncertainty sampling",
        "model_version": ORDER,
        "show_collab_predictions": False,
        "show_annotation_history": False,
    }


def as_prediction(data: Json, order: str) -> Json:
    """The prediction by which a task stands in its project's `order`: the higher its priority, the lower the score."""
    return {"model_version": order, "score": round(1.0 - float(data["priority"]), 4), "result": []}


def tables_of(screen: Screen) -> tuple[Json, ...]:
    """The tables of tasks, the worthiest first: those that nobody has answered, and apart from them the answered ones.

    So whoever opens a task of the first table sees nobody's answer. Columns that are hidden can be switched on.
    """
    fields = [f"data.{name}" for name in (*_OWN_FIELDS, *screen.hidden_columns)]
    hidden = [f"tasks:{name}" for name in (*_STUDIOS_OWN, *fields)]
    table = {
        "type": "list",
        "target": "tasks",
        "hiddenColumns": {"explore": hidden, "labeling": hidden},
        "columnsWidth": {f"tasks:data.{name}": _WIDE for name in screen.wide_columns},
        "ordering": ["-tasks:data.priority"],
    }
    return tuple(
        {"title": title, **table, "filters": {"conjunction": "and", "items": [shown]}}
        for title, shown in ((_OPEN, UNANSWERED), (_ANSWERED, ANSWERED))
    )


def is_untouched(table: Json, wanted: Json) -> bool:
    """Whether a table is as some callwright wrote it: a page that saves a table for a person adds fields of its own."""
    return table.get("title") == wanted["title"] and {"type", "hiddenColumns"} <= set(table) <= set(wanted)


def condition(column: str, operator: str, kind: str, value: object) -> Json:
    """One condition on tasks: a `column` of theirs stands in this relation to `value`."""
    return {"filter": f"filter:tasks:{column}", "operator": operator, "type": kind, "value": value}


def filter_on(*conditions: Json, conjunction: Literal["and", "or"] = "and") -> str:
    """The query for tasks that meet these conditions."""
    return json.dumps({"filters": {"conjunction": conjunction, "items": conditions}}, separators=(",", ":"))


ANSWERED = condition("total_annotations", "greater", "Number", 0)
UNANSWERED = condition("total_annotations", "equal", "Number", 0)
SKIPPED = condition("cancelled_annotations", "greater", "Number", 0)
UNSKIPPED = condition("cancelled_annotations", "equal", "Number", 0)
TOUCHED = condition("updated_by", "empty", "String", "false")  # since it was imported, by a person or by callwright
UNTOUCHED = condition("updated_by", "empty", "String", "true")
BEGUN = condition("draft_exists", "equal", "Boolean", "true")
FOREIGN = condition(KEY, "empty", "String", "true")
