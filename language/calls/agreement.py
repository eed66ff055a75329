"""Values of one call that go together: the parts of a place, of a person, and of a site."""

import re
from collections.abc import Collection, Iterator, Sequence
from copy import deepcopy
from functools import cache
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.codes import code_table
from callwright.language.calls.parameters import meaning_of, meaning_row
from callwright.language.names import split_name
from callwright.language.packs import fallback, of
from callwright.language.schemas import fits, scalars
from callwright.language.text import fold
from callwright.warehouse.records import JsonSchema, Language

_Members = dict[str, JsonSchema]


class Town(NamedTuple):
    """A real town: the names of its country and region with their codes, and where it lies."""

    name: str
    country: str
    country_code: str
    country_letters: str
    region: str
    region_code: str
    postal_code: str
    latitude: float
    longitude: float


@cache
def towns(language: Language) -> tuple[Town, ...]:
    """Return the towns that are known by their names in a language, else in the fallback."""
    data = of(language).data
    table = data["towns"] if "towns" in data else of(fallback()).data["towns"]
    countries = table["countries"]
    return tuple(
        Town(name, countries[code][1], code, countries[code][0], region, letters, post, north, east)
        for name, (code, letters, region, post, north, east) in table["towns"].items()
    )


_PARTS = {
    part: re.compile(rf"(?:^| )(?:{words})$")
    for part, words in {
        "city": r"(?:city|town|locality|municipality)(?: (?:name|locality))?|location|place",
        "country": r"country(?: (?:code|name|iso))?",
        "region": r"(?:state|province|region)(?: (?:code|name|province))?",
        "postal": r"(?:zip|postal|post)(?: code)?|postcode",
        "latitude": r"lat|latitude",
        "longitude": r"lng|lon|long|longitude",
        "first": r"(?:first|given) name|firstname",
        "last": r"(?:last|family) name|surname|lastname",
        "email": r"e ?mail(?: address)?",
        "login": r"user ?name|login(?: name)?",
        "full": r"name",
    }.items()
}
_OF_PLACES = frozenset({"city", "country", "region", "postal", "latitude", "longitude"})
_SHORT = 3
_ENDING = re.compile(r"@.*\.?example(?:\.\w+)?$")
_LETTERS = re.compile(r"[a-z]+")
_LOGIN = re.compile(r"[a-z][a-z0-9._-]*")


def agreeing(
    values: dict[str, JsonValue],
    properties: _Members,
    language: Language,
    rng: Random,
    fixed: Collection[str] = (),
) -> dict[str, JsonValue]:
    """Return the values changed so that they agree: a city is in its country, a mail its owner's.

    Those under the `fixed` names stay, and so do those that would no longer fit their schema.
    """
    new = deepcopy(values)
    _agree_within(new, properties, _Drawing(towns(language), rng, frozenset(fixed)))
    _put_on_one_site(new, fixed)
    return {
        name: new[name] if fits(new[name], properties.get(name) or {}) else value
        for name, value in values.items()
    }


def _put_on_one_site(values: dict[str, JsonValue], fixed: Collection[str]) -> None:
    """Let all made-up links of a call lead to one site, which is its user's own."""
    texts = [text for name in values for text in scalars(values[name]) if isinstance(text, str)]
    known = [text for name in fixed for text in scalars(values.get(name)) if isinstance(text, str)]
    # the site of a link that is fixed, or else the domain that the call names
    ordered = [*known, *sorted(texts, key=lambda text: "/" in text)]
    found = [site for text in ordered for site in _site_pattern().findall(text)]
    for name in values if len({*found}) > 1 else ():
        if name not in fixed:
            values[name] = _moved(values[name], found[0])


def _moved(value: JsonValue, site: str) -> JsonValue:
    if isinstance(value, dict):
        return {name: _moved(one, site) for name, one in value.items()}
    if isinstance(value, list):
        return [_moved(one, site) for one in value]
    if isinstance(value, str) and "://" in value:
        return _site_pattern().sub(site, value)
    return value


@cache
def _site_pattern() -> re.Pattern[str]:
    """Return what finds the made-up sites in links."""
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, code_table('sites')))})(?=/|$)")


class _Drawing(NamedTuple):
    """What agreement draws from: the towns of a language, chance, and the names that stay."""

    towns: Sequence[Town]
    rng: Random
    fixed: frozenset[str]


def _agree_within(values: dict[str, JsonValue], properties: _Members, drawing: _Drawing) -> None:
    for name, value in values.items():
        schema = properties.get(name) or {}
        inner = schema.get("items") or {} if isinstance(value, list) else schema
        if name in drawing.fixed or not isinstance(inner, dict):
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                members = _members_of(inner, {*one})
                within = {key: members.get(key) or {} for key in one}
                _agree_within(one, within, drawing._replace(fixed=frozenset()))
    for group in _groups(values):
        places = {part: name for part, name in group.items() if part in _OF_PLACES}
        _agree_on_a_town(places, values, properties, drawing)
        if group.get("email") not in (None, *drawing.fixed):
            _agree_on_a_person(group, values, properties)


def _members_of(schema: JsonSchema, names: Collection[str]) -> _Members:
    """Return the members of an object, of the alternative that has these names if there are any."""
    own: _Members = dict(schema.get("properties") or {})
    for part in schema.get("allOf") or ():
        own |= _members_of(part, names)
    branches = (one for word in ("anyOf", "oneOf") for one in schema.get(word) or ())
    found = ({**own, **_members_of(one, names)} for one in branches)
    return next((one for one in found if one.keys() >= {*names}), own)


def _groups(values: Collection[str]) -> Iterator[dict[str, str]]:
    """Yield the names of the values that describe one thing, by the part that each is."""
    by_owner: dict[str, dict[str, str]] = {}
    for name in values:
        words = " ".join(split_name(name))
        for part, pattern in _PARTS.items():
            if found := pattern.search(words):
                by_owner.setdefault(words[: found.start()], {}).setdefault(part, name)
                break
    yield from by_owner.values()


def _agree_on_a_town(
    group: dict[str, str], values: dict[str, JsonValue], properties: _Members, drawing: _Drawing
) -> None:
    """Set the values of a group to one town's parts, where one fits; else leave them."""
    known, fixed = drawing.towns, drawing.fixed
    parts = {
        part: name
        for part, name in group.items()
        if any(_spelled(part, town, values[name], properties[name]) for town in known)
    }
    if len(parts) <= 1:
        return
    others = {fold(str(value)) for name, value in values.items() if name not in parts.values()}
    fitting = []
    for town in drawing.rng.sample(known, len(known)):
        told = {
            name: _spelled(part, town, values[name], properties[name])
            for part, name in parts.items()
        }
        kept = all(
            fold(str(told[name])) == fold(str(values[name])) for name in told if name in fixed
        )
        if kept and None not in told.values() and _are_apart(told.values(), others):
            fitting.append((town, told))
    named = values.get(parts.get("city", ""))
    chosen = next((told for town, told in fitting if town.name == named), None)
    if chosen is None and fitting:
        chosen = fitting[0][1]
    values |= {name: told for name, told in (chosen or {}).items() if name not in fixed}


def _are_apart(told: Collection[JsonValue], others: set[str]) -> bool:
    """Whether no text is also another one, or within it."""
    texts = [fold(one) for one in told if isinstance(one, str)]
    return others.isdisjoint(texts) and not any(
        one in other for at, one in enumerate(texts) for other in texts[:at] + texts[at + 1 :]
    )


def _spelled(part: str, town: Town, like: JsonValue, schema: JsonSchema) -> JsonValue:
    """Return a part of a town in the form of a value, as its schema takes it, or None."""
    forms: tuple[JsonValue, ...]
    match part:
        case "city":
            forms = (town.name,)
        case "country":
            forms = (town.country_code, town.country_letters, town.country)
        case "region":
            forms = (town.region_code, town.region)
        case "postal":
            forms = (town.postal_code,)
        case "latitude":
            forms = (town.latitude, str(town.latitude))
        case _:
            forms = (town.longitude, str(town.longitude))
    if isinstance(like, str) and len(like) > _SHORT:
        forms = forms[::-1]
    lowered = [one.lower() for one in forms if isinstance(one, str)]
    same = [one for one in forms if one == like]
    return next((one for one in (*same, *forms, *lowered) if fits(one, schema)), None)


def _agree_on_a_person(
    group: dict[str, str], values: dict[str, JsonValue], properties: _Members
) -> None:
    """Make a made-up mail address one of the person whose name or login stands beside it."""
    address = values[group["email"]]
    full = group.get("full", "")
    if full and not _is_person(full, properties[full]):
        full = ""
    first, _, last = str(values.get(full, "")).partition(" ")
    first = str(values.get(group.get("first", ""), first)).lower()
    last = str(values.get(group.get("last", ""), last)).lower().replace(" ", "")
    names = [one for one in (first, last) if _LETTERS.fullmatch(one)]
    login = str(values.get(group.get("login", ""), "")).lower()
    if not names and _LOGIN.fullmatch(login):
        names = [login]
    if not isinstance(address, str) or not names or names[-1] in address:
        return
    if domain := _ENDING.search(address):
        own = ".".join(names) + domain[0]
        if fits(own, properties[group["email"]]):
            values[group["email"]] = own


def _is_person(name: str, schema: JsonSchema) -> bool:
    row = meaning_row(name, schema)
    return row.give.get("kind") == "person" if row else meaning_of(name, schema) == "person"
