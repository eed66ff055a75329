"""Read the parts of an API operation: body fields, plumbing parameters, and links.

The fields of a body are listed beside the other parameters where possible.

Plumbing is formatting, paging, field masks and what every request carries, which no user
mentions. A parameter is recognised by its place and by what its schema allows: headers and
cookies; lists of choices that are fields of the response; a choice of serialisations; a page
size beside a position to continue from; what nearly all operations take in the same place. Names
count only for the few common spellings of paging and masks.

An OpenAPI 3 link says which place in an operation's response supplies which parameter of another
operation. It names that operation by `operationId` or a local `operationRef`, and takes the
values of parameters from runtime expressions. Those of the form `$response.body#/…` become links
between tools; values that a link repeats from the request are skipped, because the caller knows
them. Links that lead nowhere are noted.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.catalogs.api_documents import Fields
from callwright.generators.catalogs.catalog import Note, StatedLink, shown
from callwright.generators.catalogs.descriptions import plain_text
from callwright.generators.catalogs.rewriting import parts_of
from callwright.language.calls.prose_rules import read_rules
from callwright.language.names import names_one, split_name
from callwright.language.schemas import choices_of, json_type
from callwright.warehouse.records import JsonSchema

_PLAIN = frozenset(
    {"type", "properties", "required", "title", "description", "examples", "additionalProperties"}
)
_BRANCHES = ("anyOf", "oneOf", "allOf")
_BESIDE = frozenset(
    {"default", "deprecated", "readOnly", "writeOnly", "minProperties", "maxProperties"}
)
_READ = _PLAIN | _BESIDE | frozenset(_BRANCHES)
_SPREAD = "The body {what}; its fields stand side by side as parameters."
_MASKS = frozenset({"fields", "expand", "select", "embed", "pretty"})  # a name of this word alone
_ARRANGING = frozenset({"sort", "order", "group"})  # people say by which fields
_POSITIONS = frozenset(
    {"cursor", "offset", "page", "skip", "marker", "after", "before", "token", "continue"}
)
_SIZES = frozenset(
    {"limit", "size", "count", "max", "top", "first", "last", "results", "items", "page"}
)
_OF_A_TOKEN = frozenset({"page", "next", "continuation", "pagination"})
_SERIALISATIONS = frozenset({"json", "xml"})
_UNSEEN = frozenset({"header", "cookie"})
_SHARE, _FEWEST = 0.75, 12  # of the operations that could take it
_SHARE_OF_BODIES, _FEWEST_BODIES = 0.9, 20
_HALF = 0.5
_FEWEST_FIELDS = 3  # of a thing; fewer are an envelope
_NUMBERS = frozenset({"integer", "number"})
_BETWEEN = re.compile(r"\W+")
_MOST_RETURNED = 2_000
_SIDES = ("after", "before")
_BODY = "$response.body"
_ANY_ENTRY = frozenset({"*", "-"})


class BodyFields(NamedTuple):
    """A body's fields, the required ones, and notes on what is lost by passing them one by one."""

    properties: Mapping[str, JsonValue]
    required: tuple[str, ...]
    notes: tuple[Note, ...] = ()


def fields_of(schema: JsonSchema) -> BodyFields | None:
    """Return the fields of a body that is an object or a combination of objects, or else None.

    None also if the body names no fields, unless it is a plain empty object.
    """
    body_fields = _fields(schema)
    is_plain = (
        set(schema) <= _PLAIN
        and schema.get("type", "object") == "object"
        and isinstance(schema.get("properties"), dict)
        and not schema.get("additionalProperties")
    )
    return body_fields if body_fields is not None and (body_fields.properties or is_plain) else None


def wrapped_in(fields: BodyFields) -> tuple[str, BodyFields] | None:
    """Return the only member of a body, such as `data`, with the fields inside it, or None."""
    if len(fields.properties) != 1:
        return None
    name, schema = next(iter(fields.properties.items()))
    inner = fields_of(schema) if isinstance(schema, dict) else None
    if inner and inner.properties:
        return (name, inner._replace(notes=(*fields.notes, *inner.notes)))
    return None


def rules_stated(texts: Iterable[JsonValue], schema: JsonSchema) -> str:
    """Return the sentences of a body's descriptions that state rules about the parameters."""
    told = "\n\n".join(plain_text(one) for one in texts if isinstance(one, str))
    members = mapping_of(schema.get("properties")).items()
    bare = {name: {**mapping_of(one), "description": ""} for name, one in members}
    if not told:
        return ""
    prose = read_rules(told, {**schema, "properties": bare})
    sentences = [rule.sentence for rule in prose.rules if not rule.about]
    sentences += [rule.sentence for rule in prose.open if not rule.within]
    return " ".join(f"{one}." for one in dict.fromkeys(sentences))


def _fields(schema: JsonSchema) -> BodyFields | None:
    kind, required = schema.get("type", "object"), schema.get("required")
    properties = schema.get("properties", {})
    kinds = set(map(str, kind)) if isinstance(kind, list) else set()
    is_object = kind == "object" or kinds == {"object", "null"}
    if set(schema) - _READ or not is_object or not isinstance(properties, dict):
        return None
    listed = required if isinstance(required, list) else []
    names = tuple(name for name in listed if isinstance(name, str))
    what = "takes fields that it does not name, which are dropped"
    is_open = schema.get("additionalProperties") and properties
    notes = (Note("flattened_body", _SPREAD.format(what=what)),) if is_open else ()
    whole: BodyFields | None = BodyFields(dict(properties), names, notes)
    for key in _BRANCHES:
        if key in schema and whole is not None:
            whole = _joined(whole, key, schema[key])
    return whole


def _joined(whole: BodyFields, key: str, stated: JsonValue) -> BodyFields | None:
    """Merge an object's fields with those of its branches, or return None if a branch has none.

    All branches of `allOf` apply; of the other keywords, one or some.
    """
    branches = stated if isinstance(stated, list) else []
    schemas = [one for one in branches if not isinstance(one, dict) or one.get("type") != "null"]
    parts = (_fields(one) for one in schemas if isinstance(one, dict))
    branch_fields = [part for part in parts if part is not None]
    if not branch_fields or len(branch_fields) < len(schemas):
        return None
    properties = dict(whole.properties)
    for part in branch_fields:
        for name, schema in part.properties.items():
            properties[name] = _either(properties[name], schema) if name in properties else schema
    sets = [set(part.required) for part in branch_fields]
    everywhere = set.union(*sets) if key == "allOf" else set.intersection(*sets)
    required = dict.fromkeys(
        (*whole.required, *(name for name in properties if name in everywhere))
    )
    notes = [note for part in branch_fields for note in part.notes]
    if key != "allOf" and len(branch_fields) > 1:
        what = f"is {'one' if key == 'oneOf' else 'any'} of {len(branch_fields)} objects"
        message = _SPREAD.format(what=f"{what}, and which fields go together is not kept")
        notes.append(Note("flattened_body", message))
    return BodyFields(properties, tuple(required), tuple(dict.fromkeys((*whole.notes, *notes))))


def _either(one: JsonValue, other: JsonValue) -> JsonValue:
    """Return the schema of a field that two branches describe: either of the two."""
    if one == other:
        return one
    known = one.get("anyOf") if isinstance(one, dict) and set(one) == {"anyOf"} else None
    listed = known if isinstance(known, list) else [one]
    return {"anyOf": listed if other in listed else [*listed, other]}


class PlacedParameter(NamedTuple):
    """A parameter as plumbing checks see it: tool name, place in the request, and schema."""

    parameter: str
    part: str
    name: str
    schema: JsonSchema


class PlacedParameters(NamedTuple):
    """The parameters of an operation, and what the operation returns."""

    method: str
    parameters: tuple[PlacedParameter, ...]
    returns: JsonSchema | None


def find_plumbing(operations: Sequence[PlacedParameters]) -> list[tuple[str, ...]]:
    """Return the plumbing parameters of each operation, in the order of the document."""
    shared = _shared(operations)
    placed = [one for operation in operations for one in operation.parameters]
    sent = {one.name.lower() for one in placed if one.part in _UNSEEN}

    def is_plumbing(one: PlacedParameter, operation: PlacedParameters) -> bool:
        is_sent = one.part != "path" and one.name.lower() in sent  # a token is one anywhere
        is_shared = (operation.method, one.part, one.name) in shared
        return is_shared or is_sent or _is_plumbing(one, operation)

    return [
        tuple(one.parameter for one in operation.parameters if is_plumbing(one, operation))
        for operation in operations
    ]


def _shared(operations: Sequence[PlacedParameters]) -> set[tuple[str, str, str]]:
    """Return what nearly all operations of a method with parameters in a place take there."""
    takers: Counter[tuple[str, str]] = Counter()
    taken: Counter[tuple[str, str, str]] = Counter()
    for operation in operations:
        takers.update({(operation.method, placed.part) for placed in operation.parameters})
        taken.update(
            {(operation.method, placed.part, placed.name) for placed in operation.parameters}
        )
    shared: set[tuple[str, str, str]] = set()
    for (method, part, name), count in taken.items():
        is_body = part == "body"
        fewest, share = (_FEWEST_BODIES, _SHARE_OF_BODIES) if is_body else (_FEWEST, _SHARE)
        if part != "path" and count >= fewest and count / takers[method, part] >= share:
            shared.add((method, part, name))
    return shared


def _is_plumbing(one: PlacedParameter, operation: PlacedParameters) -> bool:
    if one.part != "query":
        return _repeats_the_path(one, operation)
    formats = _SERIALISATIONS & {str(choice).lower() for choice in choices_of(one.schema)}
    is_technical = _is_mask(one, operation.returns) or _pages(one, operation)
    return bool(formats) or is_technical or _repeats_the_path(one, operation)


def _repeats_the_path(one: PlacedParameter, operation: PlacedParameters) -> bool:
    """Whether a parameter takes the id that the path has already, which nobody says twice.

    The only member of a body is another id: the one to put in the place of that in the path.
    """
    if one.part == "body" and sum(other.part == "body" for other in operation.parameters) == 1:
        return False
    in_path = (split_name(other.name) for other in operation.parameters if other.part == "path")
    return one.part != "path" and names_one(one.name) and split_name(one.name) in in_path


def _is_mask(one: PlacedParameter, returns: JsonSchema | None) -> bool:
    words = _words(one)
    kind = json_type(one.schema)
    if len(words) == 1 and words[0] in _MASKS:
        return kind in ("string", "array") or words[0] == "pretty"
    if kind != "array" or returns is None or _ARRANGING & set(words):
        return False
    items = one.schema.get("items")
    choices = {str(choice) for choice in choices_of(items if isinstance(items, dict) else {})}
    things: list[set[str]] = []  # the names of the fields of each object that the response holds
    layer, met = [returns], 0
    while layer and met < _MOST_RETURNED:
        met += len(layer)
        things += [set(schema.get("properties") or ()) for schema in layer]
        layer = [part for schema in layer for part in parts_of(schema)]
    whole = set().union(*things)
    named = {choice for choice in choices if set(choice.replace("/", ".").split(".")) <= whole}
    is_of_fields = bool(choices) and len(named) >= _HALF * len(choices)
    return is_of_fields and any(
        len(named & one) >= _HALF * len(one) for one in things if len(one) >= _FEWEST_FIELDS
    )


def _words(one: PlacedParameter) -> tuple[str, ...]:
    return split_name(_BETWEEN.sub("_", one.name))


def _pages(one: PlacedParameter, operation: PlacedParameters) -> bool:
    """Whether a parameter is a paging position or a page size.

    A position counts with a page size beside it, as a number, or if the response returns the
    next one. A size counts only beside a position.
    """
    queried = (other for other in operation.parameters if other.part == "query")
    others = [other for other in queried if other.parameter != one.parameter]
    if _is_position(one):
        is_counted = json_type(one.schema) in _NUMBERS and _words(one)[-1] not in _SIDES
        is_sized = any(map(_is_size, others))
        return is_sized or is_counted or _is_given_back(one, operation.returns)
    return _is_size(one) and any(map(_is_position, others))


def _is_given_back(one: PlacedParameter, returns: JsonSchema | None) -> bool:
    """Whether the response lists items and also gives a next position, such as "next_cursor"."""
    members = mapping_of((returns or {}).get("properties"))
    is_listing = any(json_type(mapping_of(member)) == "array" for member in members.values())
    return is_listing and any(split_name(name)[-1:] == _words(one)[-1:] for name in members)


def _is_position(one: PlacedParameter) -> bool:
    words = _words(one)
    last = words[-1] if words else ""
    is_plain = json_type(one.schema) in ("string", *_NUMBERS) and not choices_of(one.schema)
    is_moment = str(one.schema.get("format", "")).startswith(("date", "time"))
    is_named = last in _POSITIONS and (last != "token" or bool(_OF_A_TOKEN & set(words)))
    return is_named and is_plain and not is_moment


def _is_size(one: PlacedParameter) -> bool:
    words = _words(one)
    return bool(words) and words[-1] in _SIZES and json_type(one.schema) in _NUMBERS


class LinkTarget(NamedTuple):
    """A possible target of links; `parameters` maps link names ("id", "path.id") to parameters."""

    method: str
    path: str
    parameters: Mapping[str, str]


def links_in(
    responses: Iterator[Fields],
    returns: JsonSchema | None,
    resolved: Callable[[JsonValue], Fields],
    targets: Mapping[str, LinkTarget],
) -> tuple[tuple[StatedLink, ...], tuple[Note, ...]]:
    """Return the links of an operation's responses, and notes on those that can't be read.

    `targets` has operations by operationId and by reference (`#/paths/~1users/get`); `resolved`
    follows references.
    """
    stated_links: dict[StatedLink, None] = {}
    notes: dict[Note, None] = {}
    for response in responses:
        for name, stated in mapping_of(response.get("links")).items():
            for link_part in _read_link(name, resolved(stated), returns, targets):
                if isinstance(link_part, Note):
                    notes[link_part] = None
                else:
                    stated_links[link_part] = None
    return tuple(stated_links), tuple(notes)


def _read_link(
    name: str, link: Fields, returns: JsonSchema | None, targets: Mapping[str, LinkTarget]
) -> Iterator[StatedLink | Note]:
    named = link.get("operationId", link.get("operationRef"))
    target = targets.get(named) if isinstance(named, str) else None
    if target is None:
        message = f"The link {name!r} leads to {shown(named)}, which is no operation; left out."
        yield Note("dead_link", message)
        return
    for parameter_name, expression in mapping_of(link.get("parameters")).items():
        parameter = target.parameters.get(parameter_name)
        if parameter is None:
            message = (
                f"The link {name!r} names {shown(parameter_name)}, no parameter of it; left out."
            )
            yield Note("dead_link", message)
        elif isinstance(expression, str) and expression.startswith(_BODY):
            place = _place_of(expression.removeprefix(_BODY), returns)
            if place is None:
                what = "which the response is not said to have; left out."
                yield Note("dead_link", f"The link {name!r} takes {shown(expression)}, {what}")
            else:
                yield StatedLink(target.method, target.path, parameter, *place)


def _place_of(pointer: str, returns: JsonSchema | None) -> tuple[str, str] | None:
    """Return the list and the entry field that a JSON pointer leads to, or None.

    An index stands for any entry.
    """
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
    is_value = not any(isinstance(schema.get(word), dict) for word in ("properties", "items"))
    return (entries, ".".join(names)) if names and is_value and lists < 2 else None  # noqa: PLR2004 - a list in a list


def mapping_of(value: JsonValue) -> Fields:
    """Return the value if it is an object, else an empty object."""
    return value if isinstance(value, dict) else {}
