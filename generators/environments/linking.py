"""Find links between OpenAPI tools by name, thing and type, and write them as hints for models."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from callwright.generators.environments.endpoints import Endpoint
from callwright.language.names import ID_ENDINGS, singular
from callwright.warehouse.records import JsonSchema, Link, Tool
from callwright.warehouse.tool_notes import ToolNote

SPOKEN = frozenset({"name", "tag", "email", "username"})
IDENTIFYING = (
    ID_ENDINGS
    | {"key", "name", "slug", "code", "token", "handle", "reference", "ref", "number", "checksum"}
    | {"tag", "sku", "isbn", "iata", "iso", "username", "email"}
)
_OPAQUE = ID_ENDINGS | {"token"}
DEEPEST = 4  # levels of objects that are looked into, for parameters and for entries
# "id.any_" compares with what stands before it
_LISTS = frozenset({"any", "in", "eq", "equals", "is", "one"})
_WRAPPING = frozenset(
    {
        "response",
        "result",
        "model",
        "schema",
        "dto",
        "read",
        "out",
        "detail",
        "details",
        "item",
        "entry",
        "object",
    }
    | {
        "data",
        "info",
        "record",
        "records",
        "items",
        "results",
        "output",
        "summary",
        "value",
        "values",
        "content",
    }
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_GAP = re.compile(r"[^A-Za-z0-9]+")
_REMARK = re.compile(r"\([^()]*\)")  # "User (Full)" is a user
MOST_HINTS = 4


class ValueMeaning(NamedTuple):
    """What a value is: an `attribute` of a thing in the singular ("flow run", "" if unknown)."""

    thing: str
    attribute: str


class SchemaLeaf(NamedTuple):
    """A place for a plain value: its path ("legs[].fromId"), the names along it, and its schema."""

    path: str
    names: tuple[str, ...]
    schema: JsonSchema


class ReturnedValue(NamedTuple):
    """A value that a tool returns: the `field` of an entry of `entries`, and its meaning."""

    tool: str
    entries: str
    field: str
    subject: ValueMeaning
    schema: JsonSchema
    is_own: bool  # whether it identifies the entry itself


def find_links(endpoints: Sequence[Endpoint], *, spoken: bool = False) -> tuple[Link, ...]:
    """List the links that the document states, then those inferred from names and types.

    Both are in document order. If things of the exact name are offered, things whose names only
    end the same don't count. A thing's own id comes first. A value that people say (a flow's
    name) makes a link only if `spoken`, or if a thing refers to another by name.
    """
    by_place = {(one.method.upper(), one.path): one.tool for one in endpoints}
    stated_links = [
        Link(
            tool=taking.name,
            parameter=link.parameter,
            source=one.tool.name,
            entries=link.entries,
            field=link.field,
        )
        for one in endpoints
        for link in one.links
        if (taking := by_place.get((link.method.upper(), link.path))) is not None
        and link.parameter in taking.properties
        and taking.name != one.tool.name
    ]
    paths = {one.tool.name: one.path for one in endpoints}
    offers: dict[str, list[ReturnedValue]] = defaultdict(list)
    for offer in (offer for endpoint in endpoints for offer in offers_of(endpoint)):
        offers[offer.subject.attribute].append(offer)
    things = frozenset(filter(None, map(thing_at, endpoints)))
    inferred_links = [
        Link(
            tool=one.tool.name,
            parameter=leaf.path,
            source=offer.tool,
            entries=offer.entries,
            field=offer.field,
        )
        for one in endpoints
        for leaf in leaves_of(one.tool.parameters, through_lists=True)
        for offer in _fitting(one, leaf, offers)
        if not _is_of_its_like(one, leaf, offer, paths[offer.tool])
        and (
            spoken
            or offer.subject.attribute not in SPOKEN
            or _names_another(one, leaf, offer, things)
        )
    ]
    return tuple(dict.fromkeys((*stated_links, *inferred_links)))


def offers_of(endpoint: Endpoint) -> Iterator[ReturnedValue]:
    """Yield the identifying values that a tool returns, but not those it was called with."""
    given = leaves_of(endpoint.tool.parameters, through_lists=True)
    required = [leaf for leaf in given if leaf.names[0] in endpoint.tool.required]
    asked_subjects = [
        subject
        for leaf in required
        if (subject := subject_of_parameter(endpoint, leaf)) is not None
    ]
    for entries, schema in entry_schemas(endpoint.tool.returns or {}):
        thing, named = thing_of_title(schema.get("title")), entries.rsplit(".", maxsplit=1)[-1]
        if not thing:
            thing = (
                thing_at(endpoint) if not named or is_wrapping(named) else " ".join(words_of(named))
            )
        own: set[ValueMeaning] = set()
        for leaf in sorted(
            leaves_of(schema, through_lists=False), key=lambda leaf: len(leaf.names)
        ):
            around = " ".join(words_of(leaf.names[-2])) if len(leaf.names) > 1 else thing
            subject = subject_of_name(leaf.names[-1], around) if leaf.names else None
            # deep within an entry its own id is stated once more
            if subject is None or subject in own:
                continue
            is_own = subject.thing == thing and len(leaf.names) == 1
            own |= {subject} if is_own else set()
            # an entry of /addresses is an address, whatever its schema is called
            resource = _resource_of(endpoint, named) if is_own else ""
            for thing_named in dict.fromkeys((subject.thing, resource)):
                if thing_named and not any(
                    subject.attribute == one.attribute and same_thing(thing_named, one.thing)
                    for one in asked_subjects
                ):
                    meaning = ValueMeaning(thing_named, subject.attribute)
                    yield ReturnedValue(
                        endpoint.tool.name, entries, leaf.path, meaning, leaf.schema, is_own
                    )


def _resource_of(endpoint: Endpoint, named: str) -> str:
    """Return what a collection's path says its entries are, "" if it is no collection of them.

    `named` is the list in the response that holds them.
    """
    at_entry = endpoint.path.endswith(f"{{{endpoint.entry}}}")
    thing = thing_at(endpoint) if endpoint.entry and not at_entry else ""
    is_main = not named or is_wrapping(named) or same_thing(" ".join(words_of(named)), thing)
    return thing if is_main else ""


def entry_schemas(
    returns: JsonSchema, entries: str = "", level: int = 0
) -> Iterator[tuple[str, JsonSchema]]:
    """Yield path and entry schema of a response's lists of objects, and of an object response."""
    schema = plain(returns)
    if schema.get("type") == "array":
        item = schema.get("items")
        if isinstance(item, dict) and isinstance(plain(item).get("properties"), dict):
            yield entries, plain(item)
        return
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return
    if level == 0:
        yield "", schema
    for name, member in properties.items():
        if isinstance(member, dict) and (level == 0 or plain(member).get("type") == "array"):
            yield from entry_schemas(member, f"{entries}.{name}" if entries else name, level + 1)


def _fitting(
    endpoint: Endpoint, leaf: SchemaLeaf, offers: dict[str, list[ReturnedValue]]
) -> list[ReturnedValue]:
    subject = subject_of_parameter(endpoint, leaf)
    if subject is None or not subject.thing:
        return []
    others = (one for one in offers[subject.attribute] if one.tool != endpoint.tool.name)
    known = [one for one in others if _types_fit(leaf.schema, one.schema)]
    exact = [one for one in known if one.subject.thing == subject.thing]
    alike = exact or [one for one in known if same_thing(one.subject.thing, subject.thing)]
    # a carrier's services state its id once more, in the same response
    owners = {one.tool for one in alike if one.is_own}
    return sorted(
        (one for one in alike if one.is_own or one.tool not in owners),
        key=lambda offer: (not offer.is_own, offer.field.count("."), len(words_of(offer.field))),
    )


def _names_another(
    endpoint: Endpoint, leaf: SchemaLeaf, offer: ReturnedValue, things: Iterable[str]
) -> bool:
    """Whether a spoken value names another thing known from addresses.

    A `display_name` doesn't, nor does the name of the thing that is created.
    """
    if len(words_of(offer.field.rpartition(".")[2])) == 1:
        return False
    if f"{{{leaf.names[0]}}}" in endpoint.path:
        return True
    thing = offer.subject.thing
    return not same_thing(thing, thing_at(endpoint)) and any(
        same_thing(thing, one) for one in things
    )


def _is_of_its_like(endpoint: Endpoint, leaf: SchemaLeaf, offer: ReturnedValue, path: str) -> bool:
    """Whether a value offered for a thing's body is the number or code of another such thing.

    A new bank account has a number of its own, though the list of bank accounts has some. It may
    well refer to another one by its id.
    """
    if f"{{{leaf.names[0]}}}" in endpoint.path or offer.subject.attribute == "id":
        return False
    own = (endpoint.path, endpoint.path.rpartition("/{")[0])
    return path in own or same_thing(offer.subject.thing, thing_at(endpoint))


def _types_fit(wanted: JsonSchema, offered: JsonSchema) -> bool:
    kinds = str(wanted.get("type", "")), str(offered.get("type", ""))
    if kinds[0] != kinds[1]:
        return "" in kinds or kinds == ("number", "integer")
    formats = wanted.get("format"), offered.get("format")
    return None in formats or formats[0] == formats[1]


def words_of(name: str) -> list[str]:
    """Return the words of a name in the singular, whatever its letter case."""
    return list(_split(name))


@lru_cache(65536)
def _split(name: str) -> tuple[str, ...]:
    words = tuple(map(singular, _spoken_words(name)))
    before, either, alternative = words[:-3], words[-3:-2], words[-2:]
    # what a thing is known by in one way or another ("issueIdOrKey") is known by the first
    if alternative[:1] == ("or",) and IDENTIFYING.issuperset((*either, *alternative[1:])):
        return (*before, *either)
    return words


def _spoken_words(name: str) -> list[str]:
    return [word.lower() for word in _GAP.split(_HUMP.sub(" ", name)) if word]


def leaves_of(
    schema: JsonSchema, *, through_lists: bool, path: str = "", names: tuple[str, ...] = ()
) -> Iterator[SchemaLeaf]:
    """Yield the places of plain values in a schema, down to DEEPEST; into lists only if asked.

    `path` and `names` lead to the schema.
    """
    schema = plain(schema)
    if len(names) <= DEEPEST and isinstance(schema.get("properties"), dict):
        for name, member in schema["properties"].items():
            inner = f"{path}.{name}" if path else name
            if isinstance(member, dict):
                yield from leaves_of(
                    member, through_lists=through_lists, path=inner, names=(*names, name)
                )
    elif schema.get("type") == "array":
        if through_lists and isinstance(schema.get("items"), dict):
            yield from leaves_of(schema["items"], through_lists=True, path=f"{path}[]", names=names)
    elif schema.get("type") != "object":
        yield SchemaLeaf(path, names, schema)


def plain(schema: JsonSchema) -> JsonSchema:
    """Reduce a schema to non-null values: its type as one word, its alternatives without null.

    Of several kinds of objects ("an American or another address") it is the first.
    """
    for key in ("anyOf", "oneOf"):
        choices = [
            one
            for one in schema.get(key) or ()
            if isinstance(one, dict) and one.get("type") != "null"
        ]
        are_objects = "properties" not in schema and all(map(_has_members, choices))
        if len(choices) == 1 or (choices and are_objects):
            return plain(
                {**{name: value for name, value in schema.items() if name != key}, **choices[0]}
            )
    kind = schema.get("type")
    if isinstance(kind, list):
        kinds = [one for one in kind if one != "null"]
        return {**schema, "type": kinds[0]} if len(kinds) == 1 else schema
    return schema


def _has_members(schema: JsonSchema) -> bool:
    return isinstance(schema.get("properties"), dict)


def subject_of_parameter(endpoint: Endpoint, leaf: SchemaLeaf) -> ValueMeaning | None:
    """Return what a parameter's value identifies; None if its name does not say."""
    names = list(leaf.names)
    if len(names) > 1 and set(words_of(names[-1])) <= _LISTS:
        names.pop()
    place = next((place for place in endpoint.places if place.parameter == leaf.names[0]), None)
    if place is not None and place.part == "path":
        around = _before(endpoint.path, place.name)
    else:
        around = " ".join(words_of(names[-2])) if len(names) > 1 else thing_at(endpoint)
    return subject_of_name(names[-1], around)


def subject_of_name(name: str, around: str) -> ValueMeaning | None:
    """Return what a name inside `around` identifies; None if it identifies nothing."""
    words = words_of(name)
    if not words or words[-1] not in IDENTIFYING:
        return None
    return ValueMeaning(_spelled_out(" ".join(words[:-1]), around), words[-1])


def _spelled_out(thing: str, around: str) -> str:
    """Return a thing's name, or that of what it is within if it only shortens that.

    >>> _spelled_out("adr", "address"), _spelled_out("bg", "billing group")
    ('address', 'billing group')
    >>> _spelled_out("order", "order line"), _spelled_out("", "address")
    ('order', 'address')
    """
    if not thing or thing in around.split():
        return thing or around
    letters = iter(around)
    is_short = thing[0] == around[:1] and all(letter in letters for letter in thing)
    return around if is_short else thing


def is_told(name: str) -> bool:
    """Whether people may know what a parameter of this name takes: an id, but no token."""
    return bool(ID_ENDINGS & set(words_of(name)[-1:]))


def names_thing(name: str) -> bool:
    """Whether a parameter's name says whose id it takes: "accountId" does, "id" doesn't."""
    return is_told(name) and len(words_of(name)) > 1


def is_opaque(name: str) -> bool:
    """Whether a parameter of this name takes an id that only a response can give, not people."""
    return bool(_OPAQUE & set(words_of(name)[-1:]))


def thing_at(endpoint: Endpoint) -> str:
    """Return what an endpoint's path is about, by the parameter of one entry or by its words."""
    named = f"{{{endpoint.entry}}}"
    path = endpoint.path if named in endpoint.path else f"{endpoint.path}/{named}"
    entry = subject_of_name(endpoint.entry, _before(path, endpoint.entry))
    return thing_of_path(endpoint.path) if entry is None else entry.thing


def thing_of_path(path: str) -> str:
    """Return what a path is about: its last fixed segment in the plural, else the first."""
    named = [segment for segment in path.split("/") if segment and not segment.startswith("{")]
    # "findByTags" finds no tags
    fixed = [segment for segment in named if "by" not in words_of(segment)] or named
    plurals = [
        segment for segment in fixed if words_of(segment)[-1:] != _spoken_words(segment)[-1:]
    ]
    return " ".join(words_of((plurals or fixed[:1] or [""])[-1]))


def thing_of_title(title: object) -> str:
    """Return the thing that a schema's title names, without words that mark it as a response."""
    words = words_of(_REMARK.sub("", title)) if isinstance(title, str) else []
    # a title made of the operation's name says nothing of the thing
    if not words or words[0] == "response":
        return ""
    while words and words[-1] in _WRAPPING:
        words.pop()
    return " ".join(words)


def is_wrapping(name: str) -> bool:
    """Whether a name says only that it contains something."""
    return set(words_of(name)) <= {*_WRAPPING, *map(singular, _WRAPPING)}


def same_thing(one: str, other: str) -> bool:
    """Whether two names mean one thing: the longer ends with the shorter ("parent flow run")."""
    longer, shorter = sorted((one.split(), other.split()), key=len, reverse=True)
    return bool(shorter) and longer[len(longer) - len(shorter) :] == shorter


def _before(path: str, name: str) -> str:
    """Return the thing before a path's parameter: "/flows/name/{name}" names a flow."""
    head = path.split(f"{{{name}}}", maxsplit=1)[0]
    fixed = [segment for segment in head.split("/") if segment and not segment.startswith("{")]
    while len(fixed) > 1 and words_of(fixed[-1]) == words_of(name):
        fixed.pop()
    return " ".join(words_of(fixed[-1])) if fixed else ""


def likeliest_links(tools: Iterable[Tool], links: Iterable[Link]) -> tuple[Link, ...]:
    """Keep up to MOST_HINTS links of each parameter: those that descriptions have room to name.

    Goals are planned by links and read by what descriptions name, so both must be the same.
    Sources of the parameter's own domain come first, and of these the lists.
    """
    by_name = {tool.name: tool for tool in tools}
    of_parameter: dict[tuple[str, str], list[Link]] = defaultdict(list)
    for link in links:
        if {link.tool, link.source} <= by_name.keys():
            of_parameter[link.tool, link.parameter].append(link)

    def rank(link: Link) -> tuple[bool, bool]:
        source = by_name[link.source]
        return by_name[link.tool].category != source.category, not _is_listed(link, source)

    return tuple(
        link for some in of_parameter.values() for link in sorted(some, key=rank)[:MOST_HINTS]
    )


def _is_listed(link: Link, source: Tool) -> bool:
    return bool(link.entries) or plain(source.returns or {}).get("type") == "array"


def with_hints(tools: Sequence[Tool], links: Iterable[Link]) -> tuple[Tool, ...]:
    """Add to each linked parameter's description the sources of its value.

    Sources that are not among the tools are left out.
    """
    by_name = {tool.name: tool for tool in tools}
    hints: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for link in links:
        if link.source in by_name:
            hints[link.tool][link.parameter].append(hint_of(link, by_name[link.source]))
    hinted_tools = []
    for tool in tools:
        schema = tool.parameters
        for parameter, stated in hints[tool.name].items():
            schema = _with_hint(schema, parameter.split("."), " ".join(stated))
        hinted_tools.append(
            tool if schema is tool.parameters else tool.with_changes(parameters=schema)
        )
    return tuple(hinted_tools)


def hint_of(link: Link, source: Tool) -> str:
    """Return how a description states a link; `source` is the tool that returns the value."""
    return str(ToolNote(link.source, link.entries, link.field, _is_listed(link, source)))


def _with_hint(schema: JsonSchema, path: list[str], hint: str) -> JsonSchema:
    """Append a sentence to the description at `path` (["legs[]", "fromId"]) of a schema."""
    if not path:
        return {**schema, "description": f"{schema.get('description') or ''} {hint}".strip()}
    name, is_list = path[0].removesuffix("[]"), path[0].endswith("[]")
    for key in ("anyOf", "oneOf"):
        if "properties" not in schema and isinstance(schema.get(key), list):
            holding = [one for one in schema[key] if name in (one.get("properties") or {})]
            return {
                **schema,
                key: [
                    _with_hint(one, path, hint) if one in holding else one for one in schema[key]
                ],
            }
    if name not in (schema.get("properties") or {}):
        return schema
    member = schema["properties"][name]
    if is_list and len(path) > 1:
        member = {**member, "items": _with_hint(member.get("items") or {}, path[1:], hint)}
    else:
        member = _with_hint(member, path[1:], hint)
    return {**schema, "properties": {**schema["properties"], name: member}}
