"""Links that an OpenAPI 3 document states: which place in an operation's response gives which parameter of another its value.

A link names its operation by `operationId` or by a local `operationRef`, and takes the values of parameters from runtime
expressions. Those of the form `$response.body#/…` are links between tools; what a link repeats of the request is known to
whoever made the request, and is passed over. What leads nowhere is noted.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Note, StatedLink, shown
from callwright.warehouse.records import JsonSchema

BODY = "$response.body"
_EXPRESSION = "$"
_ANY_ENTRY = frozenset({"*", "-"})
Fields = dict[str, JsonValue]


class LinkTarget(NamedTuple):
    """An operation that links may lead to; `parameters` has each under the names that links give it ("id", "path.id")."""

    method: str
    path: str
    parameters: Mapping[str, str]


def links_in(
    responses: Iterator[Fields],
    returns: JsonSchema | None,
    resolved: Callable[[JsonValue], Fields],
    targets: Mapping[str, LinkTarget],
) -> tuple[tuple[StatedLink, ...], tuple[Note, ...]]:
    """The links of an operation's responses, and what could not be read of them.

    `targets` has operations by operationId and by reference (`#/paths/~1users/get`); `resolved` follows references.
    """
    found: dict[StatedLink, None] = {}
    notes: dict[Note, None] = {}
    for response in responses:
        for name, stated in mapping_of(response.get("links")).items():
            for one in _read_link(name, resolved(stated), returns, targets):
                if isinstance(one, Note):
                    notes[one] = None
                else:
                    found[one] = None
    return tuple(found), tuple(notes)


def _read_link(
    name: str, link: Fields, returns: JsonSchema | None, targets: Mapping[str, LinkTarget]
) -> Iterator[StatedLink | Note]:
    named = link.get("operationId", link.get("operationRef"))
    target = targets.get(named) if isinstance(named, str) else None
    if target is None:
        yield Note(
            "dead_link",
            f"The link {name!r} leads to {shown(named)}, which is no operation of the document; left out.",
        )
        return
    for stated, expression in mapping_of(link.get("parameters")).items():
        parameter = target.parameters.get(stated)
        if parameter is None:
            message = f"The link {name!r} names {shown(stated)}, which is no parameter of {shown(named)}; left out."
            yield Note("dead_link", message)
        elif isinstance(expression, str) and expression.startswith(BODY):
            place = _place_of(expression.removeprefix(BODY), returns)
            if place is None:
                message = (
                    f"The link {name!r} takes {shown(expression)}, which the response is not said to have; left out."
                )
                yield Note("dead_link", message)
            else:
                yield StatedLink(target.method, target.path, parameter, *place)


def _place_of(pointer: str, returns: JsonSchema | None) -> tuple[str, str] | None:
    """The list and the field of its entries that a JSON pointer leads to; an index stands for any entry."""
    entries, names, schema, lists = "", list[str](), returns or {}, 0
    for step in pointer.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        members, items = schema.get("properties"), schema.get("items")
        if isinstance(members, dict) and isinstance(members.get(name), dict):
            names.append(name)
            schema = members[name]
        elif isinstance(items, dict) and (name.isdecimal() or name in _ANY_ENTRY):
            entries, names, schema, lists = ".".join(names), [], items, lists + 1
        else:
            return None
    is_value = not isinstance(schema.get("properties"), dict) and not isinstance(schema.get("items"), dict)
    return (entries, ".".join(names)) if names and is_value and lists < 2 else None  # noqa: PLR2004 - a list in a list


def mapping_of(value: JsonValue) -> Fields:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}
