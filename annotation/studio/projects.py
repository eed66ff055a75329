"""The projects of callwright in Label Studio, found by a mark, created and updated.

People's own changes to a project stay.
"""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any, Literal

from callwright.annotation.reviews import TaskQueue
from callwright.annotation.screens import Screen
from callwright.annotation.studio.connection import StudioConnection
from callwright.annotation.studio.records import (
    Project,
    ProjectStatus,
    config_print,
    description_of,
    is_changed_by_hand,
    kind_of,
)
from callwright.language.packs import packaged
from callwright.warehouse.errors import AnnotationError

Json = dict[str, Any]  # a foreign server's JSON
_OWN_FIELDS = ("callwright_key", "subject", "version", "sample_kind")
_WIDE = 420
_NOBODY: Mapping[str, int] = MappingProxyType({})
KEY = "data.callwright_key"
# stands with the score at an opened task, where a model's name would; a longer one is cut there
ORDER = "queue place"
_log = logging.getLogger(__name__)
_PROJECTS_A_PAGE = 500
_LOOKED_AT = "id,title,description,label_config"
SECRET_HEADER = "X-Callwright-Secret"  # noqa: S105 - the name of the header
ACTIONS = (
    "ANNOTATION_CREATED",
    "ANNOTATIONS_CREATED",
    "ANNOTATION_UPDATED",
    "ANNOTATIONS_DELETED",
    "TASKS_DELETED",
)
# by which ours are distinguished from other people's
_MARK: Mapping[str, str] = MappingProxyType({"X-Callwright": "review listen"})


def project_fields(screen: Screen) -> Json:
    """Return the fields of a project for this screen."""
    return {
        "label_config": screen.config,
        "expert_instruction": screen.instruction,
        "description": description_of(screen.kind, screen.config, screen.description),
    }


def as_prediction(data: Json, order: str) -> Json:
    """Return the prediction that sorts a task by `order`: higher priority, lower score."""
    return {"model_version": order, "score": round(1.0 - float(data["priority"]), 6), "result": []}


def tables_of(
    screen: Screen, queues: Sequence[TaskQueue] = (), accounts: Mapping[str, int] = _NOBODY
) -> tuple[Json, ...]:
    """Return the task tables: unanswered, answered, and `queues`, each sorted by priority.

    Unanswered tasks have a table of their own, so that nobody who opens one sees another
    person's answer. Hidden columns can be switched on. A queue whose person is not in `accounts`
    (user IDs) gets no table.
    """
    shown = [*zip(screen.tables, ([UNANSWERED], [ANSWERED]), strict=True)]
    for queue in queues:
        if not queue.account or queue.account in accounts:
            left = [UNANSWERED]
            # what not enough people have answered, and this one is not among them
            if queue.account:
                left = [
                    condition("completed_at", "empty", "Datetime", "true"),
                    condition("annotators", "not_contains", "List", accounts[queue.account]),
                ]
            # A table knows no list of texts, but patterns.
            chosen = {"language": queue.languages, "sample_kind": queue.sample_kinds}
            for field, values in ((field, values) for field, values in chosen.items() if values):
                pattern = f"^({'|'.join(map(re.escape, values))})$"
                left.append(condition(f"data.{field}", "regex", "String", pattern))
            shown.append((queue.title, left))
    fields = (f"data.{name}" for name in (*_OWN_FIELDS, *screen.hidden_columns))
    usual = packaged("callwright.annotation.studio", "label-studio.yaml")["columns"]
    hidden = [f"tasks:{name}" for name in (*usual, *fields)]
    table = {
        "type": "list",
        "target": "tasks",
        "hiddenColumns": {"explore": hidden, "labeling": hidden},
        "columnsWidth": {f"tasks:data.{name}": _WIDE for name in screen.wide_columns},
        "ordering": ["-tasks:data.priority"],
    }
    return tuple(
        {"title": title, **table, "filters": {"conjunction": "and", "items": conditions}}
        for title, conditions in shown
    )


def is_untouched(table: Json, wanted: Json, screen: Screen) -> bool:
    """Whether a table is as callwright wrote it, in any language.

    A table that a person saved has more fields.
    """
    names = {wanted["title"]}
    for place, title in enumerate(screen.tables):
        if title == wanted["title"]:
            names.update(known[place] for known in screen.known_tables)
    return table.get("title") in names and {"type", "hiddenColumns"} <= set(table) <= set(wanted)


def condition(column: str, operator: str, kind: str, value: object) -> Json:
    """Return one condition on tasks: how `column` relates to `value`."""
    return {"filter": f"filter:tasks:{column}", "operator": operator, "type": kind, "value": value}


def filter_on(*conditions: Json, conjunction: Literal["and", "or"] = "and") -> str:
    """Return the query for tasks that meet these conditions."""
    filters = {"conjunction": conjunction, "items": conditions}
    return json.dumps({"filters": filters}, separators=(",", ":"))


ANSWERED = condition("total_annotations", "greater", "Number", 0)
UNANSWERED = condition("total_annotations", "equal", "Number", 0)
SKIPPED = condition("cancelled_annotations", "greater", "Number", 0)
UNSKIPPED = condition("cancelled_annotations", "equal", "Number", 0)
# since it was imported, by a person or by callwright
TOUCHED = condition("updated_by", "empty", "String", "false")
UNTOUCHED = condition("updated_by", "empty", "String", "true")
BEGUN = condition("draft_exists", "equal", "Boolean", "true")
FOREIGN = condition(KEY, "empty", "String", "true")


def find_projects(connection: StudioConnection) -> dict[str, Project]:
    """Return callwright's projects by review kind, found by its mark; the oldest of each kind."""
    asked = {"page_size": _PROJECTS_A_PAGE, "include": _LOOKED_AT}
    listed = connection.ask(lambda: list(connection.client.projects.list(**asked)))
    ours = [(kind, project) for project in listed if (kind := kind_of(project.description))]
    return {
        kind: Project(
            id=found.id,
            kind=kind,
            title=found.title or "",
            url=f"{connection.url}/projects/{found.id}/data",
            changed_by_hand=is_changed_by_hand(found.description, found.label_config),
        )
        for kind, found in sorted(ours, key=lambda one: -int(one[1].id))
    }


def find_project(connection: StudioConnection, kind: str) -> Project | None:
    """Return the project of a review kind; None if the server has none."""
    return find_projects(connection).get(kind)


def ensure_project(
    connection: StudioConnection, screen: Screen, queues: Sequence[TaskQueue] = ()
) -> Project:
    """Return the project of a screen, created or updated; people's changes to it stay."""
    project = find_project(connection, screen.kind)
    if project is None:
        return _create_project(connection, screen, queues)
    if project.changed_by_hand:
        _log.warning(
            "The labeling interface of %s was changed by hand; callwright does not update it.",
            project.url,
        )
    else:
        held = connection.ask(connection.client.projects.get, project.id)
        is_renewed = config_print(held.label_config or "") != config_print(screen.config)
        # not what a person called it
        title = screen.title if project.title in screen.titles else project.title
        project = project.with_changes(is_renewed=is_renewed, title=title)
        connection.ask(
            connection.client.projects.update, project.id, title=title, **project_fields(screen)
        )
    _arrange_tables(connection, project.id, screen, queues)
    return project


def status_of(connection: StudioConnection, project: Project) -> ProjectStatus:
    """Return how many tasks a project has and how many of them are finished."""
    studio_project = connection.ask(connection.client.projects.get, project.id)
    return ProjectStatus(
        project=project,
        tasks=studio_project.task_number or 0,
        finished=studio_project.finished_task_number or 0,
        annotations=studio_project.total_annotations_number or 0,
        skipped=studio_project.skipped_annotations_number or 0,
    )


def accounts_of(connection: StudioConnection) -> dict[str, int]:
    """Return the ids of all accounts, by e-mail address."""
    users = connection.ask(lambda: list(connection.client.users.list()))
    return {str(user.email or user.username or user.id): int(user.id) for user in users}


def _create_project(
    connection: StudioConnection, screen: Screen, queues: Sequence[TaskQueue]
) -> Project:
    new_project = connection.ask(
        connection.client.projects.create,
        title=screen.title,
        show_instruction=True,
        **project_fields(screen),
        # What is shown next is what has the least score of callwright's predictions, which hold
        # nothing else, and which nobody is shown. Label Studio means it for the answers that a
        # model is least sure of.
        sampling="Uncertainty sampling",
        model_version=ORDER,
        show_collab_predictions=False,
        show_annotation_history=False,
    )
    first = find_project(connection, screen.kind)
    if first is None:
        raise AnnotationError(
            f"The Label Studio at {connection.url} created project {new_project.id} but does"
            " not list it."
        )
    if first.id != new_project.id:  # somebody else was first; theirs is the one
        connection.ask(connection.client.projects.delete, new_project.id)
    else:
        _arrange_tables(connection, new_project.id, screen, queues)
    return first


def _arrange_tables(
    connection: StudioConnection, project: int, screen: Screen, queues: Sequence[TaskQueue]
) -> None:
    """Create a project's task tables, or update those of an older callwright.

    A queue is added only if no table has its title: a table that a person renamed is theirs.
    """
    accounts = accounts_of(connection) if any(queue.account for queue in queues) else {}
    wanted = tables_of(screen, queues, accounts)
    usual, further = wanted[: len(screen.tables)], wanted[len(screen.tables) :]
    present_tables = connection.ask(connection.client.views.list, project=project)
    pairs = product(present_tables, wanted)
    ours = [(table, one) for table, one in pairs if is_untouched(table.data or {}, one, screen)]
    for table, table_data in ours:
        if table.data != table_data:
            connection.ask(
                connection.client.views.update, str(table.id), project=project, data=table_data
            )
    # Of the usual ones those are lacking in a new project, or in one of a callwright that had fewer
    # tables.
    new = usual[sum(one in usual for _, one in ours) :] if len(ours) == len(present_tables) else ()
    titles = {(table.data or {}).get("title") for table in present_tables}
    for table_data in (*new, *(one for one in further if one["title"] not in titles)):
        connection.ask(connection.client.views.create, project=project, data=table_data)


def register_webhook(connection: StudioConnection, project: Project, url: str, secret: str) -> bool:
    """Make Label Studio report a project's events to `url`; return whether anything changed.

    A project has one webhook of callwright: a new address replaces the old one.
    """
    wanted: Json = {
        "url": url,
        "headers": {**_MARK, SECRET_HEADER: secret},
        "is_active": True,
        "send_payload": False,
        "send_for_all_actions": False,
        "actions": list(ACTIONS),
    }
    webhooks = connection.client.webhooks
    own_webhooks = _ours(connection, project)
    if not own_webhooks:
        connection.ask(webhooks.create, project=project.id, **wanted)
        return True
    first, *others = own_webhooks
    for other in others:
        connection.ask(webhooks.delete, other["id"])
    if all(_comparable(first.get(name)) == _comparable(value) for name, value in wanted.items()):
        return bool(others)
    connection.ask(webhooks.update, first["id"], **wanted)
    return True


def unregister_webhooks(connection: StudioConnection, project: Project) -> int:
    """Remove callwright's webhooks from a project, and return how many there were."""
    held = _ours(connection, project)
    for one in held:
        connection.ask(connection.client.webhooks.delete, one["id"])
    return len(held)


def _ours(connection: StudioConnection, project: Project) -> list[Json]:
    listed = connection.ask(connection.client.webhooks.list, project=str(project.id))
    held = (one.model_dump(mode="json") for one in listed)
    own = (one for one in held if one["project"] == project.id)
    return [one for one in own if _MARK.items() <= (one["headers"] or {}).items()]


def _comparable(value: object) -> object:
    return sorted(value) if isinstance(value, list) else value
