"""Links of OpenAPI tools: which response gives which parameter its value, by name, thing and type."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from generators.environments.endpoints import Endpoint
from generators.environments.naming import (
    Leaf,
    Subject,
    is_wrapping,
    leaves_of,
    plain,
    same_thing,
    subject_of_name,
    subject_of_parameter,
    thing_of_path,
    thing_of_title,
    words_of,
)
from warehouse.records import JsonSchema, Link

SPOKEN = frozenset({"name", "tag", "email", "username"})


class Offer(NamedTuple):
    """A value that a tool returns: the `field` of an entry of `entries`, and what it is."""

    tool: str
    entries: str
    field: str
    subject: Subject
    schema: JsonSchema


def infer_links(endpoints: Sequence[Endpoint], *, spoken: bool = False) -> tuple[Link, ...]:
    """Every link that the document's names and types speak for, in the document's order.

    Where things of the very name are offered, those whose names only end alike don't count. A thing's own id comes first.
    What a person says (a flow's name) is no link unless `spoken`; a thing that refers to another by name has one.
    """
    offers: dict[str, list[Offer]] = defaultdict(list)
    for offer in (offer for endpoint in endpoints for offer in offers_of(endpoint)):
        offers[offer.subject.attribute].append(offer)
    links = []
    for endpoint in endpoints:
        for leaf in leaves_of(endpoint.tool.parameters, through_lists=True):
            fitting = _fitting(endpoint, leaf, offers)
            links += [_link(endpoint, leaf, offer) for offer in fitting if spoken or not _is_spoken(offer)]
    return tuple(dict.fromkeys(links))


def offers_of(endpoint: Endpoint) -> Iterator[Offer]:
    """What a tool returns that identifies something; not what it was asked with, for who asks has that already."""
    leaves = leaves_of(endpoint.tool.parameters, through_lists=True)
    required = [leaf for leaf in leaves if leaf.names[0] in endpoint.tool.required]
    asked = [subject for leaf in required if (subject := subject_of_parameter(endpoint, leaf)) is not None]
    for offer in _offers(endpoint):
        if not any(_is_same(offer.subject, subject) for subject in asked):
            yield offer


def _is_same(one: Subject, other: Subject) -> bool:
    return one.attribute == other.attribute and same_thing(one.thing, other.thing)


def _offers(endpoint: Endpoint) -> Iterator[Offer]:
    for entries, schema in entry_schemas(endpoint.tool.returns or {}):
        thing = _thing(endpoint, entries, schema)
        leaves = sorted(leaves_of(schema, through_lists=False), key=lambda leaf: len(leaf.names))
        own: set[Subject] = set()
        for leaf in leaves:
            around = " ".join(words_of(leaf.names[-2])) if len(leaf.names) > 1 else thing
            subject = subject_of_name(leaf.names[-1], around) if leaf.names else None
            if subject is None or subject in own:  # deep within an entry its own id is said once more
                continue
            if subject.thing == thing and len(leaf.names) == 1:
                own.add(subject)
            yield Offer(endpoint.tool.name, entries, leaf.path, subject, leaf.schema)


def entry_schemas(returns: JsonSchema, entries: str = "", level: int = 0) -> Iterator[tuple[str, JsonSchema]]:
    """The lists of objects in a response, and the response itself where it is one object: path and schema of an entry."""
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


def _thing(endpoint: Endpoint, entries: str, schema: JsonSchema) -> str:
    titled = thing_of_title(schema.get("title"))
    named = entries.rsplit(".", maxsplit=1)[-1]
    if titled or not named or is_wrapping(named):
        return titled or thing_of_path(endpoint.path)
    return " ".join(words_of(named))


def _fitting(endpoint: Endpoint, leaf: Leaf, offers: dict[str, list[Offer]]) -> list[Offer]:
    subject = subject_of_parameter(endpoint, leaf)
    if subject is None or not subject.thing:
        return []
    known = [
        offer
        for offer in offers[subject.attribute]
        if offer.tool != endpoint.tool.name and _types_fit(leaf.schema, offer.schema)
    ]
    exact = [offer for offer in known if offer.subject.thing == subject.thing]
    alike = exact or [offer for offer in known if same_thing(offer.subject.thing, subject.thing)]
    return sorted(alike, key=lambda offer: (offer.field.count("."), len(words_of(offer.field))))


def _is_spoken(offer: Offer) -> bool:
    return offer.subject.attribute in SPOKEN and len(words_of(offer.field.rpartition(".")[2])) == 1


def _types_fit(wanted: JsonSchema, offered: JsonSchema) -> bool:
    kinds = str(wanted.get("type", "")), str(offered.get("type", ""))
    if kinds[0] != kinds[1]:
        return "" in kinds or kinds == ("number", "integer")
    formats = wanted.get("format"), offered.get("format")
    return None in formats or formats[0] == formats[1]


def _link(endpoint: Endpoint, leaf: Leaf, offer: Offer) -> Link:
    return Link(
        tool=endpoint.tool.name, parameter=leaf.path, source=offer.tool, entries=offer.entries, field=offer.field
    )
