"""What changes in a world: one difference between two of its states."""

from typing import Any, Literal

from callwright.warehouse.records.base import Record


class Change(Record):
    """One difference between two states of a world: a thing that there is now, is no longer, or is otherwise.

    `kind` and `id` name the thing ("order", "7"). Of a thing that was `updated`, `field` is what differs, from `before` to
    `after`; of one that was `created` `after` holds what it was given, of one that was `deleted` `before` what is known of it,
    each as an object of fields, and `field` is "".
    """

    sort: Literal["created", "updated", "deleted"]
    kind: str
    id: str
    field: str = ""
    before: Any = None  # any JSON; JsonValue would copy and check what a world has made itself
    after: Any = None
