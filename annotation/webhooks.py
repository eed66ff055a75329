"""Label Studio's webhooks: it tells an address of ours at once when people did something."""

from collections.abc import Mapping
from types import MappingProxyType

from annotation.projects import Project
from annotation.studio_connection import StudioConnection
from annotation.studio_questions import Json

SECRET_HEADER = "X-Callwright-Secret"  # noqa: S105 - the name of the header
ACTIONS = ("ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_DELETED", "TASKS_DELETED")
_MARK: Mapping[str, str] = MappingProxyType(
    {"X-Callwright": "review listen"}
)  # by which ours are told from other people's


def tell_of_changes(connection: StudioConnection, project: Project, url: str, secret: str) -> bool:
    """Have Label Studio tell `url` of what people do in a project; whether anything was changed for that.

    A project has one webhook of callwright: another address takes the place of the one before.
    """
    wanted: Json = {
        "url": url, "headers": {**_MARK, SECRET_HEADER: secret}, "is_active": True, "send_payload": False,
        "send_for_all_actions": False, "actions": list(ACTIONS),
    }  # fmt: skip
    webhooks = connection.client.webhooks
    held = _ours(connection, project)
    if not held:
        connection.ask(webhooks.create, project=project.id, **wanted)
        return True
    first, *others = held
    for other in others:
        connection.ask(webhooks.delete, other["id"])
    if all(_comparable(first.get(name)) == _comparable(value) for name, value in wanted.items()):
        return bool(others)
    connection.ask(webhooks.update, first["id"], **wanted)
    return True


def tell_no_more(connection: StudioConnection, project: Project) -> int:
    """Take callwright's webhooks away from a project; how many there were."""
    held = _ours(connection, project)
    for one in held:
        connection.ask(connection.client.webhooks.delete, one["id"])
    return len(held)


def _ours(connection: StudioConnection, project: Project) -> list[Json]:
    listed = connection.ask(connection.client.webhooks.list, project=str(project.id))
    held = [one.model_dump(mode="json") for one in listed]
    return [one for one in held if one["project"] == project.id and _MARK.items() <= (one["headers"] or {}).items()]


def _comparable(value: object) -> object:
    return sorted(value) if isinstance(value, list) else value
