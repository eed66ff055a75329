"""Choose the parameters of a tool that people would mention, and values for them."""

import re
from collections.abc import Mapping, Sequence
from random import Random

from pydantic import JsonValue

from callwright.language.calls.parameters import in_context, meaning_of, tells_values
from callwright.language.calls.sampling import fill_in, make_plain
from callwright.language.calls.tools import ToolView
from callwright.language.names import split_name, words
from callwright.language.schemas import json_type
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import JsonSchema, Language

_EVERYDAY = frozenset(
    words(
        "date time moment origin destination place person quantity money choice title task product"
        " food music film book query message duration address"
    )
)
_SELDOM = frozenset({"boolean", "link", "uuid", "object", "pin", "file", "details"})
_NESTED = frozenset({"object", "array"})
_TECHNICAL = re.compile(
    r"page|limit|offset|cursor|sort|order_?by|token|format|locale|lang|verbose|debug|version",
    re.IGNORECASE,
)
_NEVER = 9.0
_IDENTIFIES = frozenset({"id", "gid", "uid"})
_SHOWN = frozenset({"enum", "examples", "default", "const", "pattern", "format"})


def choose_names(offered: Sequence[str], count: int, view: ToolView, rng: Random) -> list[str]:
    """Return `count` of the offered names, in the order offered; likely ones are preferred.

    A name is likely if people would state it, with some chance added. The result is shorter if
    the rest takes what nobody says in a sentence.
    """
    schemas = in_context(view.properties, view.name, view.description)
    # what nothing tells, nobody gives unless it is required
    told = [
        name
        for name in offered
        if name in view.required or name not in schemas or tells_values(name, schemas[name])
    ]
    flat = [name for name in told if json_type(view.properties.get(name, {})) not in _NESTED]
    able = flat or told
    weights = {
        name: (
            _weight(name, view.properties.get(name, {}), required=name in view.required)
            + rng.random()
        )
        for name in able
    }
    chosen = set(sorted(able, key=lambda name: -weights[name])[:count])
    return [name for name in able if name in chosen]


def _weight(name: str, schema: JsonSchema, *, required: bool) -> float:
    kind = meaning_of(name, schema)
    weight = (2.0 if required else 0.0) + (kind in _EVERYDAY) - 0.5 * (kind in _SELDOM)
    if schema.get("format") == "date-time":  # nobody speaks of seconds and zones
        weight -= _NEVER
    return weight - 1.5 if _TECHNICAL.search(name) else weight


def draw_values(
    view: ToolView,
    names: Sequence[str],
    language: Language,
    rng: Random,
    known: Mapping[str, JsonValue],
) -> dict[str, JsonValue]:
    """Return a value for each parameter in `names`: by example, choice or meaning, or made up.

    Values are made up by schema. Raises ReplyError, naming tool and parameter, if a schema takes
    none that can be made.
    """
    properties = in_context(view.properties, view.name, view.description)
    values: dict[str, JsonValue] = {}
    for name in names:
        schema = properties[name]
        is_id = (
            split_name(name)[-1:]
            and split_name(name)[-1] in _IDENTIFIES
            and json_type(schema) == "string"
        )
        # nobody has an ID that reads "cook spicy noodles"
        if is_id and not _SHOWN.intersection(schema):
            values[name] = _made_up(name, view, language, rng)
            continue
        try:
            values |= fill_in([name], properties, language, rng, {**known, **values})
        except ReplyError:
            values[name] = _made_up(name, view, language, rng)
    return values


def _made_up(name: str, view: ToolView, language: Language, rng: Random) -> JsonValue:
    try:
        return make_plain(name, view.properties[name], language, rng)
    except ReplyError as error:
        raise ReplyError(f"A call of {view.name!r} can't be filled in: {error}") from error
