"""What Label Studio is told and asked, in its own JSON: a project, its table of tasks, a filter."""

import json
from typing import Any

from annotation.projects import description_of
from annotation.screens import Screen

Json = dict[str, Any]  # a foreign server's JSON
_STUDIOS_OWN = (
    "inner_id", "completed_at", "cancelled_annotations", "total_predictions", "annotations_results", "annotations_ids",
    "predictions_score", "predictions_model_versions", "predictions_results", "file_upload", "storage_filename",
    "created_at", "updated_at", "updated_by", "avg_lead_time", "draft_exists",
)  # fmt: skip
_OWN_FIELDS = ("callwright_key", "subject", "version")
_WIDE = 420


def project_fields(screen: Screen) -> Json:
    """What a project of this screen has."""
    return {
        "label_config": screen.config,
        "expert_instruction": screen.instruction,
        "description": description_of(screen.kind, screen.config),
    }


def table_of(screen: Screen) -> Json:
    """The table of tasks, with what a person can read in it; all other columns can be switched on again."""
    fields = [f"data.{name}" for name in (*_OWN_FIELDS, *screen.hidden_columns)]
    hidden = [f"tasks:{name}" for name in (*_STUDIOS_OWN, *fields)]
    return {
        "title": "Default",
        "type": "list",
        "target": "tasks",
        "hiddenColumns": {"explore": hidden, "labeling": hidden},
        "columnsWidth": {f"tasks:data.{name}": _WIDE for name in screen.wide_columns},
    }


def filter_on(column: str, operator: str, kind: str, value: object) -> str:
    """The query for tasks whose `column` stands in this relation to `value`."""
    item = {"filter": column, "operator": operator, "type": kind, "value": value}
    return json.dumps({"filters": {"conjunction": "and", "items": [item]}}, separators=(",", ":"))
