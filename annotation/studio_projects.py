"""The projects of callwright in a Label Studio: found by its mark, made, brought up to date; people's changes stay."""

import logging
from typing import Any

from annotation.projects import Project, ProjectStatus, is_changed_by_hand, kind_of
from annotation.screens import Screen
from annotation.studio_connection import StudioConnection
from annotation.studio_questions import is_untouched, order_fields, project_fields, tables_of
from warehouse.errors import AnnotationError

_log = logging.getLogger(__name__)
_PROJECTS_A_PAGE = 500
_LOOKED_AT = "id,title,description,label_config"


def find_project(connection: StudioConnection, kind: str) -> Project | None:
    """The project of a review kind, found by callwright's mark; None where the server has none."""
    listed = connection.ask(
        lambda: list(connection.client.projects.list(page_size=_PROJECTS_A_PAGE, include=_LOOKED_AT))
    )
    found = [project for project in listed if kind_of(project.description) == kind]
    return _project(connection, min(found, key=lambda project: int(project.id)), kind) if found else None


def ensure_project(connection: StudioConnection, screen: Screen) -> Project:
    """The project of a screen, made or brought up to date; what a person changed in it stays as it is."""
    project = find_project(connection, screen.kind)
    if project is None:
        return _create_project(connection, screen)
    if project.changed_by_hand:
        _log.warning("The labeling interface of %s was changed by hand; callwright leaves it so.", project.url)
    else:
        connection.ask(connection.client.projects.update, project.id, **project_fields(screen))
    _arrange_tables(connection, project.id, screen)
    return project


def status_of(connection: StudioConnection, project: Project) -> ProjectStatus:
    """How many tasks a project has and how many of them people have finished."""
    found = connection.ask(connection.client.projects.get, project.id)
    return ProjectStatus(
        project=project,
        tasks=found.task_number or 0,
        finished=found.finished_task_number or 0,
        annotations=found.total_annotations_number or 0,
        skipped=found.skipped_annotations_number or 0,
    )


def _create_project(connection: StudioConnection, screen: Screen) -> Project:
    made = connection.ask(
        connection.client.projects.create,
        title=screen.title,
        show_instruction=True,
        **project_fields(screen),
        **order_fields(),
    )
    first = find_project(connection, screen.kind)
    if first is None:
        raise AnnotationError(f"The Label Studio at {connection.url} made project {made.id} but does not show it.")
    if first.id != made.id:  # somebody else was first; theirs is the one
        connection.ask(connection.client.projects.delete, made.id)
    else:
        _arrange_tables(connection, made.id, screen)
    return first


def _arrange_tables(connection: StudioConnection, project: int, screen: Screen) -> None:
    """Give a project its tables of tasks, or bring those of an older callwright up to date."""
    wanted = tables_of(screen)
    held = connection.ask(connection.client.views.list, project=project)
    ours = [(table, one) for table in held for one in wanted if is_untouched(table.data or {}, one)]
    for table, one in ours:
        if table.data != one:
            connection.ask(connection.client.views.update, str(table.id), project=project, data=one)
    if len(ours) == len(held) < len(wanted):  # a new project, or one of a callwright that had fewer tables
        for one in wanted[len(held) :]:
            connection.ask(connection.client.views.create, project=project, data=one)


def _project(connection: StudioConnection, found: Any, kind: str) -> Project:  # noqa: ANN401 - the vendor's project
    return Project(
        id=found.id,
        kind=kind,
        title=found.title or "",
        url=f"{connection.url}/projects/{found.id}/data",
        changed_by_hand=is_changed_by_hand(found.description, found.label_config),
    )
