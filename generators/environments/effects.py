"""What calls do to a world: as method, path and schemas tell (told_effects.py), or said by hand where these do not.

Besides what single calls do, paths tell how things hang together: what goes with a thing that is deleted (the tasks of a project,
which nothing but a project lists), and which things belong to another by calls of their own (a user's groups).
"""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.endpoints import SAFE, Endpoint
from callwright.generators.environments.episodes import ThingKey
from callwright.generators.environments.linking import plain
from callwright.generators.environments.nesting import Nesting
from callwright.generators.environments.protocol import Effect
from callwright.generators.environments.things import Kinds
from callwright.generators.environments.told_effects import told_effect
from callwright.language.schemas import fits
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import JsonSchema


class Part(NamedTuple):
    """Things of a kind that are gone with another: `field` has the id of the one that they are of."""

    kind: str
    field: str


class Relation(NamedTuple):
    """Which things belong to which others by calls of their own, whatever the things themselves say: a user's groups.

    What links two of them is a thing as well, of the kind `kind` ("group user").
    """

    kind: str
    owner: str
    target: str

    def link(self, owner: str, target: str) -> tuple[ThingKey, dict[str, JsonValue]]:
        """The link between two things of these ids: its key and its fields; the same from either side."""
        ids: dict[str, JsonValue] = {_id_of(self.owner): owner, _id_of(self.target): target}
        return ThingKey(self.kind, ":".join(str(ids[name]) for name in sorted(ids))), ids

    def ends(self, fields: Mapping[str, JsonValue]) -> tuple[str, str]:
        """The ids of owner and target that a link has."""
        return str(fields.get(_id_of(self.owner))), str(fields.get(_id_of(self.target)))


class Effects(Nesting):
    """What the calls of a document's tools do: by tool, and how its things hang together."""

    def __init__(self, endpoints: Sequence[Endpoint], kinds: Kinds) -> None:
        """What method, path and schemas tell."""
        super().__init__(endpoints, kinds)
        self.by_tool = {one.tool.name: effect for one in endpoints if (effect := told_effect(self, one)) is not None}

    def relation(self, effect: Effect, endpoint: Endpoint) -> Relation | None:
        """The relation that a call adds to or takes from, None where it does neither."""
        owner = self.reference(endpoint, effect.to) if effect.to else None
        return self.relations.get((owner.kind, effect.under or effect.kind)) if owner is not None else None

    @cached_property
    def relations(self) -> Mapping[tuple[str, str], Relation]:
        """Relations by the kind of the owner and the name of the list: ("user", "group"), ("channel", "pin")."""
        found: dict[tuple[str, str], Relation] = {}
        for endpoint in self.endpoints:
            effect = self.by_tool.get(endpoint.tool.name)
            owner = self.reference(endpoint, effect.to) if effect is not None and effect.to else None
            if effect is None or owner is None:
                continue
            under = effect.under or effect.kind
            if under.split()[-1:] == effect.kind.split()[-1:]:
                name = " ".join(sorted((owner.kind, effect.kind)))
                found.setdefault((effect.kind, owner.kind), Relation(name, effect.kind, owner.kind))
            else:
                name = f"{owner.kind} {under}"
            found.setdefault((owner.kind, under), Relation(name, owner.kind, effect.kind))
        return found

    @cached_property
    def parts(self) -> Mapping[str, tuple[Part, ...]]:
        """The parts of things by their kind: what one kind alone lists below it, and that tells whose it is or is made there."""
        found: dict[str, tuple[Part, ...]] = {}
        for kind in dict.fromkeys(self.lists.values()):
            owners = {owner for (owner, _), listed in self.lists.items() if listed == kind != owner}
            owners = {owner for owner in owners if (owner, kind) not in self.relations}
            if len(owners) != 1:
                continue
            owner = owners.pop()
            field = self.kinds.field_naming(kind, owner) or self._field_made_below(kind, owner)
            if field:
                found[owner] = (*found.get(owner, ()), Part(kind, field))
        return found

    def _field_made_below(self, kind: str, owner: str) -> str:
        """The field by which things of a kind are told whose they are where they are made below the one, "" where none are."""
        for endpoint in self.endpoints:
            effect, above = self.by_tool.get(endpoint.tool.name), self.owner(endpoint)
            if effect is not None and above is not None and (effect.creates, above.kind) == (kind, owner):
                return effect.fields.get(above.parameter, "")
        return ""


def find_effects(endpoints: Sequence[Endpoint], kinds: Kinds, stated: Mapping[str, Effect] | None = None) -> Effects:
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
    effects = Effects(endpoints, kinds)
    effects.by_tool |= {name: _completed(effect, tools[name], effects) for name, effect in stated.items()}
    known = {*kinds.in_paths, *kinds.fields, *(one.creates for one in effects.by_tool.values())}
    for name, effect in stated.items():
        wrong = _contradictions(effects.by_tool[name], tools[name], effects, known)
        if effect.deed != "reads" and tools[name].method.upper() in SAFE:
            wrong = iter([f"{tools[name].method} changes nothing, yet it {effect.deed}."])
        for why in wrong:
            raise ConfigurationError(f"`effects` of {name!r}: {why}")
    for name, effect in effects.by_tool.items():
        if effect.deletes and not effect.parts and effect.kind in effects.parts:
            refuses = any(one.status == "409" for one in tools[name].errors)
            effects.by_tool[name] = effect.model_copy(update={"parts": "refuses" if refuses else "deletes"})
    return effects


def _id_of(kind: str) -> str:
    return f"{kind.replace(' ', '_')}_id"


def _completed(effect: Effect, endpoint: Endpoint, effects: Effects) -> Effect:
    """What is stated, with the parameters that say which thing, and whose, where only one can."""
    references, kind = effects.references(endpoint), effects.kinds.named(effect.kind)
    own = [one.parameter for one in references if one.kind == kind]
    if not effect.id and not effect.each and own and effect.deed not in ("reads", "creates"):
        effect = effect.model_copy(update={"id": own[-1]})
    others = [one.parameter for one in references if one.in_path and one.parameter != effect.id]
    if (effect.links or effect.unlinks) and not effect.to and others:
        effect = effect.model_copy(update={"to": others[-1]})
    return effect


def _contradictions(effect: Effect, endpoint: Endpoint, effects: Effects, known: set[str]) -> Iterator[str]:
    """What of an effect contradicts the document."""
    parameters: dict[str, JsonSchema] = dict(endpoint.tool.properties)
    item: JsonSchema = {}
    if effect.each:
        item = plain(plain(parameters.get(effect.each, {})).get("items") or {})
        parameters |= item.get("properties") or {}
    listed = ", ".join(parameters) or "none"
    if effect.each and not item:
        yield f"`each` names {effect.each!r}, which is no list; it has {listed}."
    if effect.deed not in ("reads", "creates") and not (effect.id or effect.each):
        yield f"which {effect.kind} it {effect.deed} is not told; `id` names the parameter, one of {listed}."
    if effect.kind and effect.kind not in known:
        there = ", ".join(sorted(filter(None, known))) or "none"
        yield f"nothing lists or creates things of the kind {effect.kind!r}; there are {there}."
    unknown = [one for one in (effect.id, effect.to, *effect.fields) if one and one not in parameters]
    yield from (f"it has no parameter {one!r}; it has {listed}." for one in unknown)
    if (effect.links or effect.unlinks) and effects.relation(effect, endpoint) is None:
        yield f"whose {effect.kind} it {effect.deed} is not told; `to` names the parameter with the id, one of {listed}."
    yield from _contradictions_of_kind(effect, effects)


def _contradictions_of_kind(effect: Effect, effects: Effects) -> Iterator[str]:
    if effect.parts and effect.kind not in effects.parts:
        yield f"it says what becomes of the parts of a {effect.kind}, of which paths tell none."
    fields: Mapping[str, JsonSchema] = effects.kinds.fields.get(effect.kind, {}).get("properties", {})
    for field, value in effect.sets.items():
        if field in fields and not fits(value, fields[field]):
            yield f"it sets {field} to {value!r}, which the {effect.kind}'s schema does not allow."
        if field in effect.fields.values():
            yield f"{field} is set and is given by a parameter as well."
