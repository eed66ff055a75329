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
    paths = frozenset(one.path for one in endpoints)
    found = {name: effect for name, one in tools.items() if (effect := _derived(one, kinds, paths)) is not None}
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


def _derived(endpoint: Endpoint, kinds: Kinds, paths: frozenset[str]) -> Effect | None:
    """What method, path and schemas tell; None where they tell nothing sure."""
    method = endpoint.method.upper()
    if method in SAFE:
        return Effect(reads=True)
    if not method:
        return None
    within = [one for one in kinds.references(endpoint) if one.in_path]
    target = within[-1] if within else None
    if endpoint.path.endswith("}"):
        return _done_to_item(endpoint, kinds, target) if target is not None else None
    is_action = target is not None and f"{{{target.parameter}}}" in endpoint.path.split("/")[-2:]
    if is_action and target is not None and not endpoint.entry and not _is_new(endpoint, kinds, target):
        return _done_by_action(endpoint, kinds, target)
    return _done_to_collection(endpoint, kinds, paths)


def _done_to_item(endpoint: Endpoint, kinds: Kinds, target: Reference) -> Effect:
    if endpoint.method.upper() == "DELETE":
        return Effect(deletes=target.kind, id=target.parameter)
    return Effect(
        updates=target.kind, id=target.parameter, fields=_fields(endpoint, kinds, target.kind, target.parameter)
    )


def _is_new(endpoint: Endpoint, kinds: Kinds, target: Reference) -> bool:
    """Whether what comes back is a thing of another kind with an id of its own."""
    returned = kinds.entry_of(endpoint.tool)
    if returned is None or not any(is_opaque(name) for name in returned[1]["properties"]):
        return False
    return kinds.of_schema(endpoint, *returned) != target.kind


def _done_by_action(endpoint: Endpoint, kinds: Kinds, target: Reference) -> Effect | None:
    """What a call below a thing's own path does to it: /orders/{id}/cancel sets the status that is called so."""
    verb = split_name(endpoint.path.rpartition("/")[2])[:1]
    known: Mapping[str, JsonSchema] = kinds.fields.get(target.kind, {}).get("properties", {})
    fields = {
        given: field
        for given, field in _fields(endpoint, kinds, target.kind, target.parameter).items()
        if field in known
    }
    sets = _told_by(verb[0], known, undoing=endpoint.method.upper() == "DELETE") if verb else {}
    sets = {field: value for field, value in sets.items() if field not in fields.values()}
    if not fields and not sets:
        return None
    return Effect(updates=target.kind, id=target.parameter, fields=fields, sets=sets)


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
    switched = [
        (name, verb_root == _root(verb) and not undoing)
        for name, schema in fields.items()
        if schema.get("type") == "boolean"
        for verb_root in [_root(words_of(name)[-1])]
        if _root(verb) in (verb_root, _UNDOING + verb_root)
    ]
    return dict(switched) if len(switched) == 1 else {}


def _root(word: str) -> str:
    found = stem(word.casefold())
    return found[:-1] if len(found) > 2 and found[-1] == found[-2] else found  # noqa: PLR2004 - "cancelled"


def _done_to_collection(endpoint: Endpoint, kinds: Kinds, paths: frozenset[str]) -> Effect | None:
    returned = kinds.entry_of(endpoint.tool)
    kind = (
        kinds.named(thing_at(endpoint)) if endpoint.entry or returned is None else kinds.of_schema(endpoint, *returned)
    )
    own = next((one for one in kinds.references(endpoint) if one.kind == kind and not one.in_path), None)
    method = endpoint.method.upper()
    if method in ("PUT", "PATCH"):
        return (
            Effect(updates=kind, id=own.parameter, fields=_fields(endpoint, kinds, kind, own.parameter))
            if own
            else None
        )
    if method == "DELETE":
        return Effect(deletes=kind, id=own.parameter) if own else None
    words = function_words(endpoint.tool.name)
    lists = returned is not None and (returned[0] or kinds.returned(endpoint.tool).get("type") == "array")
    if lists:
        return Effect(reads=True) if words and deed_of(words[0]) in _LOOKING else None
    has_id = returned is not None and any(is_opaque(name) for name in returned[1]["properties"])
    if not endpoint.entry and not has_id:
        return None
    id_ = own.parameter if own is not None and kinds.own_field(own) == kinds.identities.get(kind) else ""
    return Effect(creates=kind, id=id_, fields=_fields(endpoint, kinds, kind, id_))


def _fields(endpoint: Endpoint, kinds: Kinds, kind: str, own: str) -> dict[str, str]:
    """The fields of a thing that the parameters give: by name, another thing's id as "book_id"; of plumbing none."""
    schema = kinds.fields.get(kind, {"properties": {}})
    by_words = {tuple(words_of(name)): name for name in schema["properties"]}
    making = endpoint.method.upper() == "POST" and not endpoint.path.endswith("}")
    found = {}
    for name in endpoint.tool.choosable:
        field = kinds.field_of(endpoint, name, kind, schema)
        field = by_words.get(tuple(words_of(field)), field)
        if name != own and (making or f"{{{name}}}" not in endpoint.path):
            found[name] = field
    known = {name: field for name, field in found.items() if field in schema["properties"]}
    return found if making else known or found
