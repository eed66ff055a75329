"""What calls do to a world: derived from method, path and schemas, or said by hand where these do not tell."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from pydantic import JsonValue

from callwright.generators.environments.endpoints import SAFE, Endpoint
from callwright.generators.environments.linking import is_opaque, thing_at, words_of
from callwright.generators.environments.protocol import Effect
from callwright.generators.environments.things import Kinds, Reference
from callwright.language.names import deed_of, function_words, split_name
from callwright.language.schemas import fits
from callwright.language.vocabulary import stem
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import JsonSchema

_LOOKING = frozenset({"list", "search", "look"})
_UNDOING = "un"


def find_effects(
    endpoints: Sequence[Endpoint], kinds: Kinds, stated: Mapping[str, Effect] | None = None
) -> dict[str, Effect]:
    """The effect of each tool by its name: the one that is stated, else the one that its document tells.

    Tools whose effect neither says are left out. Raises ConfigurationError, which names the tool, where what is stated
    contradicts the document.
    """
    stated = stated or {}
    tools = {one.tool.name: one for one in endpoints}
    for name in stated:
        if name not in tools:
            near = get_close_matches(name, tools, 3)
            meant = f" Did you mean {' or '.join(near)}?" if near else ""
            raise ConfigurationError(f"`effects` names the tool {name!r}, which there is not.{meant}")
    found = {name: effect for name, one in tools.items() if (effect := _derived(one, kinds)) is not None}
    whole = found | {name: _completed(effect, tools[name], kinds) for name, effect in stated.items()}
    known = {*kinds.in_paths, *kinds.fields, *(one.creates for one in whole.values())}
    for name, effect in stated.items():
        if effect.deed != "reads" and tools[name].method.upper() in SAFE:
            raise ConfigurationError(
                f"`effects` of {name!r}: {tools[name].method} changes nothing, yet it {effect.deed}."
            )
        _validate(whole[name], tools[name], kinds, known)
    return whole


def _completed(effect: Effect, endpoint: Endpoint, kinds: Kinds) -> Effect:
    """What is stated, with the parameter that says which thing where only one can."""
    if effect.id or effect.deed in ("reads", "creates"):
        return effect
    own = [one.parameter for one in kinds.references(endpoint) if one.kind == kinds.named(effect.kind)]
    return effect.model_copy(update={"id": own[-1]}) if own else effect


def _validate(effect: Effect, endpoint: Endpoint, kinds: Kinds, known: set[str]) -> None:
    name, parameters = endpoint.tool.name, endpoint.tool.properties
    if effect.deed in ("updates", "deletes") and not effect.id:
        raise ConfigurationError(
            f"`effects` of {name!r}: which {effect.kind} it {effect.deed} is not told; `id` names the parameter, one of"
            f" {', '.join(parameters) or 'none'}."
        )
    if effect.kind and effect.kind not in known:
        raise ConfigurationError(
            f"`effects` of {name!r}: nothing lists or creates things of the kind {effect.kind!r}; there are"
            f" {', '.join(sorted(filter(None, known))) or 'none'}."
        )
    for parameter in (*filter(None, [effect.id]), *effect.fields):
        if parameter not in parameters:
            raise ConfigurationError(
                f"`effects` of {name!r}: it has no parameter {parameter!r}; it has {', '.join(parameters) or 'none'}."
            )
    fields: Mapping[str, JsonSchema] = kinds.fields.get(effect.kind, {}).get("properties", {})
    for field, value in effect.sets.items():
        if field in fields and not fits(value, fields[field]):
            raise ConfigurationError(
                f"`effects` of {name!r}: it sets {field} to {value!r}, which the {effect.kind}'s schema does not allow."
            )
        if field in effect.fields.values():
            raise ConfigurationError(f"`effects` of {name!r}: {field} is set and is given by a parameter as well.")


def _derived(endpoint: Endpoint, kinds: Kinds) -> Effect | None:
    """What method, path and schemas tell; None where they tell nothing sure."""
    method = endpoint.method.upper()
    if method in SAFE:
        return Effect(reads=True)
    if not method:
        return None
    target = next(reversed([one for one in kinds.references(endpoint) if one.in_path]), None)
    segments = endpoint.path.split("/")
    if target is not None and segments[-1] == f"{{{target.parameter}}}":
        if method == "DELETE":
            return Effect(deletes=target.kind, id=target.parameter)
        return _update(endpoint, kinds, target)
    is_below = target is not None and segments[-2:-1] == [f"{{{target.parameter}}}"]
    if target is not None and is_below and not endpoint.entry and not _is_new(endpoint, kinds, target):
        return _update(endpoint, kinds, target, verb=segments[-1])
    return None if segments[-1].startswith("{") else _done_to_collection(endpoint, kinds)


def _update(endpoint: Endpoint, kinds: Kinds, target: Reference, verb: str = "") -> Effect | None:
    """A change of what the call gives, and of what the verb below a thing's path names: /orders/{id}/cancel sets its status."""
    known: Mapping[str, JsonSchema] = kinds.fields.get(target.kind, {}).get("properties", {})
    fields = {
        name: field
        for name, field in _fields(endpoint, kinds, target.kind).items()
        if f"{{{name}}}" not in endpoint.path
        and field != kinds.identities.get(target.kind)
        and (field in known or not known)
    }
    words = split_name(verb)
    sets = _told_by(words[0], known, undoing=endpoint.method.upper() == "DELETE") if words else {}
    sets = {field: value for field, value in sets.items() if field not in fields.values()}
    return Effect(updates=target.kind, id=target.parameter, fields=fields, sets=sets) if fields or sets else None


def _is_new(endpoint: Endpoint, kinds: Kinds, target: Reference) -> bool:
    """Whether what comes back is a thing of another kind with an id of its own."""
    returned = kinds.entry_of(endpoint.tool)
    if returned is None or not any(is_opaque(name) for name in returned[1]["properties"]):
        return False
    return kinds.of_schema(endpoint, *returned) != target.kind


def _told_by(verb: str, fields: Mapping[str, JsonSchema], *, undoing: bool) -> dict[str, JsonValue]:
    """The one field that a verb sets: the choice of its own name (cancel: "cancelled"), or the switch (archive: archived)."""
    chosen: list[tuple[str, JsonValue]] = [
        (name, choice)
        for name, schema in fields.items()
        for choice in schema.get("enum") or ()
        if isinstance(choice, str) and _root(choice) == _root(verb)
    ]
    if not undoing and len({name for name, _ in chosen}) == 1:
        return dict(chosen[:1])
    switches = {name: _root(words_of(name)[-1]) for name, schema in fields.items() if schema.get("type") == "boolean"}
    switched = [
        (name, root == _root(verb) and not undoing)
        for name, root in switches.items()
        if _root(verb) in (root, _UNDOING + root)
    ]
    return dict(switched) if len(switched) == 1 else {}


def _root(word: str) -> str:
    found = stem(word.casefold())
    return found[:-1] if len(found) > 2 and found[-1] == found[-2] else found  # noqa: PLR2004 - "cancelled"


def _done_to_collection(endpoint: Endpoint, kinds: Kinds) -> Effect | None:
    """What a call of a path that names no thing does: POST makes one, all else is done to the one whose id is given besides."""
    returned, method = kinds.entry_of(endpoint.tool), endpoint.method.upper()
    kind = kinds.named(thing_at(endpoint))
    own = next((one for one in kinds.references(endpoint) if one.kind == kind and not one.in_path), None)
    if method != "POST":
        if own is None:
            return None
        return Effect(deletes=kind, id=own.parameter) if method == "DELETE" else _update(endpoint, kinds, own)
    words = function_words(endpoint.tool.name)
    if returned is not None and (returned[0] or kinds.returned(endpoint.tool).get("type") == "array"):
        return Effect(reads=True) if words and deed_of(words[0]) in _LOOKING else None
    is_one = returned is not None and kinds.of_schema(endpoint, *returned) == kind
    if not endpoint.entry and not (is_one and returned is not None and any(map(is_opaque, returned[1]["properties"]))):
        return None
    id_ = own.parameter if own is not None and kinds.own_field(own) == kinds.identities.get(kind) else ""
    fields, known = _fields(endpoint, kinds, kind), kinds.fields.get(kind, {}).get("properties", {})
    fields.pop(id_, None)
    if known and fields and not known.keys() & fields.values():
        return None  # such as a list of things to be made
    return Effect(creates=kind, id=id_, fields=fields)


def _fields(endpoint: Endpoint, kinds: Kinds, kind: str) -> dict[str, str]:
    """The fields of a thing that the parameters give: by name, another thing's id as "book_id"; of plumbing none."""
    schema = kinds.fields.get(kind, {"properties": {}})
    by_words = {tuple(words_of(name)): name for name in schema["properties"]}
    fields = {name: kinds.field_of(endpoint, name, kind, schema) for name in endpoint.tool.choosable}
    return {name: by_words.get(tuple(words_of(field)), field) for name, field in fields.items()}
