"""The effects of calls on a world: read from method, path and schemas, or stated by hand.

    DELETE /projects/{project_id}              deletes the project
    POST   /projects/{project_id}/tasks        creates a task
    POST   /orders/{order_id}/cancel           sets the order's status to "cancelled"
    PUT    /users/{user_id}/groups/{group_id}  links the group to the user

Paths also show how things are related: which things are deleted along with their owner (only a
project lists its tasks), and which are linked to others by calls (a user's groups).
"""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.endpoints import SAFE, Endpoint
from callwright.generators.environments.episodes import ThingKey
from callwright.generators.environments.linking import is_opaque, plain, thing_at, words_of
from callwright.generators.environments.protocol import Effect
from callwright.generators.environments.things import Kinds, Reference, given_besides, listed_things
from callwright.language.names import deed_of, function_words, split_name
from callwright.language.schemas import fits
from callwright.language.text import stem
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import JsonSchema

_LOOKING = frozenset({"list", "search", "look"})
_DEEDS = {"make": "creates", "change": "updates", "drop": "deletes"}
_BY_METHOD = {"POST": "creates", "PATCH": "updates", "DELETE": "deletes"}
_UNDOING = "un"  # "unarchive" sets `archived` to false
_MANY = "bulk"  # in a path such as /tasks/bulk, what is before it names the things


class OwnedThings(NamedTuple):
    """A kind of things that are deleted with their owner; `field` holds the owner's id."""

    kind: str
    field: str


class Ownership(NamedTuple):
    """Ownership that calls create and end, apart from the things' own fields: a user's groups.

    A link between two things is itself a thing, of the kind `kind` ("group user").
    """

    kind: str
    owner: str
    target: str

    def link(self, owner: str, target: str) -> tuple[ThingKey, dict[str, JsonValue]]:
        """Return the key and fields of the link between two ids, the same from either side."""
        ids: dict[str, JsonValue] = {_id_of(self.owner): owner, _id_of(self.target): target}
        return ThingKey(self.kind, ":".join(str(ids[name]) for name in sorted(ids))), ids

    def ends(self, fields: Mapping[str, JsonValue]) -> tuple[ThingKey, ThingKey]:
        """Return the owner and the target of a link."""
        owner, target = (
            ThingKey(kind, str(fields.get(_id_of(kind)))) for kind in (self.owner, self.target)
        )
        return owner, target


def _id_of(kind: str) -> str:
    return f"{kind.replace(' ', '_')}_id"


class Effects:
    """The effects of a document's tools (`by_tool`, where known), and relations of its things."""

    def __init__(self, kinds: Kinds, stated: Mapping[str, Effect]) -> None:
        """Take the stated effect of each tool, or else the one that its document implies.

        Raises ConfigurationError, which names the tool, if a stated effect contradicts the
        document.
        """
        self.kinds = kinds
        tools = {one.tool.name: one for one in kinds.endpoints}
        for name in stated:
            if name not in tools:
                near = get_close_matches(name, tools, 3)
                meant = f" Did you mean {' or '.join(near)}?" if near else ""
                problem = f"`effects` names the tool {name!r}, which does not exist.{meant}"
                raise ConfigurationError(problem)
        implied = {name: _ImpliedEffect(kinds, one).effect for name, one in tools.items()}
        self.by_tool = {name: effect for name, effect in implied.items() if effect is not None}
        self.by_tool |= {
            name: self._completed(effect, tools[name]) for name, effect in stated.items()
        }
        for name in stated:
            for why in self._contradictions(self.by_tool[name], tools[name]):
                raise ConfigurationError(f"`effects` of {name!r}: {why}")
        # What is an owner is known only now, when all effects are.
        for name, effect in self.by_tool.items():
            if effect.deletes and not effect.parts and effect.kind in self.parts:
                refuses = any(one.status == "409" for one in tools[name].errors)
                self.by_tool[name] = effect.model_copy(
                    update={"parts": "refuses" if refuses else "deletes"}
                )

    def relation(self, effect: Effect, endpoint: Endpoint) -> Ownership | None:
        """Return the relation that a call adds to or removes from, or None."""
        owner = self.kinds.reference(endpoint, effect.to) if effect.to else None
        if owner is not None:
            return self.relations.get((owner.kind, effect.under or effect.kind))
        return None

    @cached_property
    def relations(self) -> Mapping[tuple[str, str], Ownership]:
        """Return relations by owner kind and list name: ("user", "group"), ("channel", "pin")."""
        relations_by_name: dict[tuple[str, str], Ownership] = {}
        for endpoint in self.kinds.endpoints:
            effect = self.by_tool.get(endpoint.tool.name)
            owner = None
            if effect is not None and effect.to:
                owner = self.kinds.reference(endpoint, effect.to)
            if effect is None or owner is None:
                continue
            under = effect.under or effect.kind
            if under.split()[-1:] == effect.kind.split()[-1:]:
                name = " ".join(sorted((owner.kind, effect.kind)))
                relations_by_name.setdefault(
                    (effect.kind, owner.kind), Ownership(name, effect.kind, owner.kind)
                )
            else:
                name = f"{owner.kind} {under}"
            relations_by_name.setdefault(
                (owner.kind, under), Ownership(name, owner.kind, effect.kind)
            )
        return relations_by_name

    @cached_property
    def parts(self) -> Mapping[str, tuple[OwnedThings, ...]]:
        """Map kinds to their parts: kinds that only they list, with a field for the owner's id."""
        parts_by_owner: dict[str, tuple[OwnedThings, ...]] = {}
        for kind in dict.fromkeys(self.kinds.lists.values()):
            owners = {
                owner
                for (owner, _), listed in self.kinds.lists.items()
                if listed == kind != owner and (owner, kind) not in self.relations
            }
            if len(owners) == 1:  # with two of them, neither owns it alone
                owner = owners.pop()
                field = self.kinds.field_naming(kind, owner) or self._field_made_below(kind, owner)
                if field:
                    known = parts_by_owner.get(owner, ())
                    parts_by_owner[owner] = (*known, OwnedThings(kind, field))
        return parts_by_owner

    def _field_made_below(self, kind: str, owner: str) -> str:
        """Return the field that holds the owner's id when things are created below it, or ""."""
        for endpoint in self.kinds.endpoints:
            effect, above = self.by_tool.get(endpoint.tool.name), self.kinds.owner(endpoint)
            if (
                effect is not None
                and above is not None
                and (effect.creates, above.kind) == (kind, owner)
            ):
                return effect.fields.get(above.parameter, "")
        return ""

    def _completed(self, effect: Effect, endpoint: Endpoint) -> Effect:
        """Fill in the parameters for the thing and its owner where only one can be meant."""
        references, kind = self.kinds.references(endpoint), self.kinds.named(effect.kind)
        own = [one.parameter for one in references if one.kind == kind]
        if not effect.id and not effect.each and own and effect.deed not in ("reads", "creates"):
            effect = effect.model_copy(update={"id": own[-1]})
        others = [one.parameter for one in references if one.in_path and one.parameter != effect.id]
        if (effect.links or effect.unlinks) and not effect.to and others:
            effect = effect.model_copy(update={"to": others[-1]})
        return effect

    def _contradictions(self, effect: Effect, endpoint: Endpoint) -> Iterator[str]:
        """Yield the ways in which an effect contradicts the document."""
        if effect.deed != "reads" and endpoint.method.upper() in SAFE:
            yield f"{endpoint.method} changes nothing, yet it {effect.deed}."
        parameters: dict[str, JsonSchema] = dict(endpoint.tool.properties)
        item: JsonSchema = {}
        if effect.each:
            item = plain(plain(parameters.get(effect.each, {})).get("items") or {})
            parameters |= item.get("properties") or {}
        listed = ", ".join(parameters) or "none"
        if effect.each and not item:
            yield f"`each` names {effect.each!r}, which is not a list; its parameters are {listed}."
        if effect.deed not in ("reads", "creates") and not (effect.id or effect.each):
            yield (
                f"it is not known which {effect.kind} it {effect.deed}; name the parameter with"
                f" `id`, one of {listed}."
            )
        known_kinds = {
            *self.kinds.in_paths,
            *self.kinds.fields,
            *(one.creates for one in self.by_tool.values()),
        }
        if effect.kind and effect.kind not in known_kinds:
            there = ", ".join(sorted(filter(None, known_kinds))) or "none"
            yield f"nothing lists or creates things of the kind {effect.kind!r}; kinds are {there}."
        unknown = [
            one for one in (effect.id, effect.to, *effect.fields) if one and one not in parameters
        ]
        yield from (f"it has no parameter {one!r}; its parameters are {listed}." for one in unknown)
        yield from self._contradictions_of_kind(effect, endpoint, listed)

    def _contradictions_of_kind(
        self, effect: Effect, endpoint: Endpoint, listed: str
    ) -> Iterator[str]:
        if (effect.links or effect.unlinks) and self.relation(effect, endpoint) is None:
            yield (
                f"it is not known whose {effect.kind} it {effect.deed}; name the parameter with"
                f" the owner's id with `to`, one of {listed}."
            )
        if effect.parts and effect.kind not in self.parts:
            yield f"`parts` is set, but no path shows that a {effect.kind} has parts."
        fields = self.kinds.fields.get(effect.kind, {})
        for field, value in effect.sets.items():
            if field in fields and not fits(value, fields[field]):
                yield (
                    f"it sets {field} to {value!r}, which the {effect.kind}'s schema does not"
                    " allow."
                )
            if field in effect.fields.values():
                yield f"{field} is set by `sets` and by a parameter."


class _ImpliedEffect:
    """The effect that the method, path and schemas of one tool imply."""

    def __init__(self, kinds: Kinds, endpoint: Endpoint) -> None:
        self._kinds, self._endpoint = kinds, endpoint
        self._method, self._segments = endpoint.method.upper(), endpoint.path.split("/")
        self._references = kinds.references(endpoint)
        self._parameters = given_besides(endpoint)

    @property
    def effect(self) -> Effect | None:
        """The effect, or None if nothing certain is implied.

        The ending of the path decides: the id of a thing, a verb below a thing, or a collection.
        """
        if self._method in SAFE:
            return Effect(reads=True)
        if not self._method:
            return None
        if not self._kinds.is_told_by_methods:
            return self._by_verb_of_path()
        in_path = [one for one in self._references if one.in_path]
        target = in_path[-1] if in_path else None
        if target is not None and self._segments[-1] == f"{{{target.parameter}}}":
            owner = self._other_owner_of(target)
            if owner is None:
                return self._on_target(target)
            under, undone = " ".join(words_of(self._segments[-2])), self._method == "DELETE"
            link = self._link(owner, target.kind, target.parameter, under, undone=undone)
            return None if self._parameters else link  # a link has no fields to set
        found = self._link_below_owner() or self._on_each_entry()
        if found is not None or self._segments[-1].startswith("{") or self._noun:
            return found
        is_below = target is not None and self._segments[-2:-1] == [f"{{{target.parameter}}}"]
        if (
            target is not None
            and is_below
            and not self._endpoint.entry
            and not self._is_new(target)
        ):
            return self._update(target, verb=self._segments[-1])
        return self._on_collection()

    def _on_target(self, target: Reference) -> Effect | None:
        """Return the effect on the thing that a path names."""
        if self._method != "DELETE":
            return self._update(target)
        path, named = self._endpoint.path, f"/{{{target.parameter}}}"
        homes = self._kinds.homes.get(target.kind, frozenset()) - {path}
        above = [path.removesuffix(home.rpartition("/")[0] + named) for home in homes]
        if any(one and "{" not in one and one != path for one in above):
            return None  # taken from a list of one's own, such as /me/guilds/{guild_id}
        return Effect(deletes=target.kind, id=target.parameter)

    # Links between two things

    def _other_owner_of(self, target: Reference) -> Reference | None:
        """Return the owner in a path to a thing that lives elsewhere, or None.

        An example is /users/{id}/groups/{group_id}.
        """
        before, path = self._segments[-3:-2], self._endpoint.path
        owners = (
            one
            for one in self._references
            if [f"{{{one.parameter}}}"] == before and one.kind != target.kind
        )
        owner = next(owners, None)
        homes = self._kinds.homes.get(target.kind, frozenset()) - {path}
        if owner is None or not homes or self._method not in ("PUT", "POST", "DELETE"):
            return None
        is_named = words_of(self._segments[-2])[-1:] == target.kind.split()[-1:]
        return owner if not is_named or path in self._kinds.joining else None

    def _link_below_owner(self) -> Effect | None:
        """Return the link made by a path below an owner, from a lone id or a verb, or None.

        Examples are /users/{id}/groups and addTag.
        """
        owner, given_names = self._kinds.owner(self._endpoint), self._parameters
        if owner is None or not given_names or self._method not in ("PUT", "POST", "DELETE"):
            return None
        if self._noun:
            under = words_of("_".join(self._noun))
            undone = deed_of(split_name(self._segments[-1])[0]) == "drop"
        elif len(given_names) > 1:
            return None
        else:
            under, undone = words_of(self._segments[-1]), self._method == "DELETE"
        kind = self._kinds.named(" ".join(under))
        named = [one for one in given_names if _names_of(one) in (under, kind.split())]
        needed = [one for one in given_names if one in self._endpoint.tool.required]
        if (
            kind == owner.kind
            or not self._kinds.homes.get(kind)
            or len(named) != 1
            or not {*needed} <= {*named}
        ):
            return None
        is_list = isinstance(plain(self._endpoint.tool.properties[named[0]]).get("items"), dict)
        if not is_list and not is_opaque(named[0]) and not self._noun:
            return None
        return self._link(
            owner, kind, named[0], " ".join(under), undone=undone, each=named[0] if is_list else ""
        )

    @property
    def _noun(self) -> tuple[str, ...]:
        """Return what a verb at the end of a path adds or removes: "tag" of /tasks/{id}/addTag."""
        verb, *noun = split_name(self._segments[-1]) or ("",)
        is_below = self._kinds.owner(self._endpoint) is not None
        return tuple(noun) if is_below and deed_of(verb) in ("make", "drop") else ()

    def _link(
        self,
        owner: Reference,
        kind: str,
        parameter: str,
        under: str,
        *,
        undone: bool,
        each: str = "",
    ) -> Effect | None:
        """Return the effect that sets or removes a link that a list or field of the owner shows."""
        shown = self._kinds.lists.get((owner.kind, under))
        names = self._kinds.fields.get(owner.kind, {})
        if shown != kind and (
            shown or not any(" ".join(words_of(name)) == under for name in names)
        ):
            return None
        stated: dict[str, Any] = {"unlinks" if undone else "links": kind}
        stated |= {"under": under} if under != kind else {}
        return Effect(**stated, id=parameter, to=owner.parameter, each=each)

    # Effects on many things

    def _on_each_entry(self) -> Effect | None:
        """Return the effect on each entry of a list, or None.

        Entries are things to create or change, or ids of things to change or delete.
        """
        listed, path = listed_things(self._endpoint), self._endpoint.path
        if path not in self._kinds.collections or (
            _MANY in words_of(self._segments[-1]) and listed
        ):
            path = path.rpartition("/")[0]
        kind = self._kinds.named(thing_at(self._endpoint._replace(path=path)))
        own, kind_fields = self._kinds.identities.get(kind, ""), self._kinds.fields.get(kind, {})
        if len(listed) != 1 or not own or path not in self._kinds.collections:
            return None
        (parameter, item), deed = listed[0], self._deed_on_many()
        members = item.get("properties")
        is_of_things = isinstance(members, dict)
        if not is_of_things and _names_of(parameter) not in ([], kind.split(), kind.split()[-1:]):
            return None
        if isinstance(members, dict):
            names = [*members]
        else:
            names = [one for one in self._parameters if one != parameter]
        id_ = parameter
        if is_of_things:
            id_ = next((name for name in names if own in (name, self._field(name, kind))), "")
        fields = {
            name: field
            for name in names
            if (field := self._field(name, kind)) in kind_fields and field != own
        }
        if deed == "creates" and is_of_things and fields:
            owners = {name: field for name, field in self._fields(kind).items() if is_opaque(name)}
            return Effect(creates=kind, each=parameter, id=id_, fields=fields | owners)
        if deed == "updates" and fields and id_:
            return Effect(updates=kind, each=parameter, id=id_, fields=fields)
        return Effect(deletes=kind, each=parameter, id=id_) if deed == "deletes" and id_ else None

    def _deed_on_many(self) -> str:
        """Return the deed on many: by the method or, for POST, by a verb of the path or name.

        PUT has none, because it replaces a whole list.
        """
        by_method = _BY_METHOD.get(self._method, "")
        words = (*split_name(self._segments[-1]), *function_words(self._endpoint.tool.name))
        by_verb = next((_DEEDS[deed] for one in words if (deed := deed_of(one)) in _DEEDS), "")
        return (by_verb or by_method) if self._method == "POST" else by_method

    # Effects on one thing

    def _by_verb_of_path(self) -> Effect | None:
        """Return the effect of a verb that ends a path, if methods imply none: /wallets/create."""
        verb = next(iter(split_name(self._segments[-1])), "")
        kind = self._kinds.named(thing_at(self._endpoint))
        own = next((one.parameter for one in self._references if one.kind == kind), "")
        if own and (sets := _set_by_verb(verb, self._kinds.fields.get(kind, {}), undoing=False)):
            return Effect(updates=kind, id=own, sets=sets)
        fields = {name: field for name, field in self._fields(kind).items() if name != own}
        match deed_of(verb):
            case "list" | "search" | "look":
                return Effect(reads=True)
            case "make":
                return Effect(creates=kind, fields=self._fields(kind))
            case "change" if own and fields:
                return Effect(updates=kind, id=own, fields=fields)
            case "drop" if own:
                return Effect(deletes=kind, id=own)
        return None

    def _update(self, target: Reference, verb: str = "") -> Effect | None:
        """Return an update from parameters and verb (/orders/{id}/cancel sets status), or None."""
        kind_fields = self._kinds.fields.get(target.kind, {})
        fields = {
            name: field
            for name, field in self._fields(target.kind).items()
            if f"{{{name}}}" not in self._endpoint.path
            and field != self._kinds.identities.get(target.kind)
            and (field in kind_fields or not kind_fields)
        }
        words = split_name(verb)
        sets = (
            _set_by_verb(words[0], kind_fields, undoing=self._method == "DELETE") if words else {}
        )
        sets = {field: value for field, value in sets.items() if field not in fields.values()}
        if fields or sets:
            return Effect(updates=target.kind, id=target.parameter, fields=fields, sets=sets)
        return None

    def _entry(self) -> tuple[str, JsonSchema] | None:
        """Return the schema of the returned thing, even if wrapped, or else of the first list."""
        wrapped = self._kinds.wrapped(self._kinds.returned(self._endpoint.tool))
        return self._kinds.entry_of(self._endpoint.tool) if wrapped is None else ("", wrapped)

    def _is_new(self, target: Reference) -> bool:
        """Whether the call returns a thing of another kind with its own id."""
        returned = self._entry()
        if returned is None or not any(map(is_opaque, returned[1]["properties"])):
            return False
        return self._kinds.of_schema(self._endpoint, *returned) != target.kind

    def _on_collection(self) -> Effect | None:
        """Return the effect of a path without an id, or None.

        POST creates or, by its verb and response, reads; other methods act on the thing whose id
        is a parameter.
        """
        endpoint, kinds, returned = self._endpoint, self._kinds, self._entry()
        kind = kinds.named(thing_at(endpoint))
        own = next((one for one in self._references if one.kind == kind and not one.in_path), None)
        if self._method != "POST":
            if own is None:
                return None
            if self._method == "DELETE":
                return Effect(deletes=kind, id=own.parameter)
            return self._update(own)
        words = function_words(endpoint.tool.name)
        if returned is not None and (returned[0] or kinds.returns_list(endpoint.tool)):
            return Effect(reads=True) if words and deed_of(words[0]) in _LOOKING else None
        is_one = returned is not None and kinds.of_schema(endpoint, *returned) == kind
        has_id = returned is not None and any(map(is_opaque, returned[1]["properties"]))
        if not endpoint.entry and not (is_one and has_id):
            return None
        id_ = ""
        if own is not None and kinds.own_field(own) == kinds.identities.get(kind):
            id_ = own.parameter
        fields, known = self._fields(kind), kinds.fields.get(kind, {})
        fields.pop(id_, None)
        if known and fields and not known.keys() & fields.values():
            return None
        return Effect(creates=kind, id=id_, fields=fields)

    # The fields that parameters set

    def _field(self, name: str, kind: str) -> str:
        return next(
            (one for one in self._kinds.fields.get(kind, {}) if words_of(one) == words_of(name)),
            name,
        )

    def _fields(self, kind: str) -> dict[str, str]:
        """Map parameters to the thing's fields by name, other things' ids as "book_id".

        Plumbing is left out.
        """
        known = self._kinds.fields.get(kind, {})
        by_words = {tuple(words_of(name)): name for name in known}
        names = self._endpoint.tool.choosable
        fields = {name: self._kinds.field_of(self._endpoint, name, kind, known) for name in names}
        return {name: by_words.get(tuple(words_of(field)), field) for name, field in fields.items()}


def _names_of(parameter: str) -> list[str]:
    """Return the words for what a parameter of ids names: "tag" for "tag_ids", none for "ids"."""
    words = words_of(parameter)
    return words[:-1] if is_opaque(parameter) else words


def _set_by_verb(
    verb: str, fields: Mapping[str, JsonSchema], *, undoing: bool
) -> dict[str, JsonValue]:
    """Return the one field that a verb sets: a choice (cancel: "cancelled") or a boolean."""
    root = _root(verb)
    chosen: list[tuple[str, JsonValue]] = [
        (name, choice)
        for name, schema in fields.items()
        for choice in schema.get("enum") or ()
        if isinstance(choice, str) and _root(choice) == root
    ]
    if not undoing and len({name for name, _ in chosen}) == 1:
        return dict(chosen[:1])
    switches = {
        name: _root(words_of(name)[-1])
        for name, schema in fields.items()
        if schema.get("type") == "boolean"
    }
    switched = {
        name: own == root and not undoing
        for name, own in switches.items()
        if root in (own, _UNDOING + own)
    }
    return {**switched} if len(switched) == 1 else {}


def _root(word: str) -> str:
    """Return the stem without a doubled last letter: "cancel" for "cancelled" as for "cancel"."""
    root = stem(word.casefold())
    is_doubled = len(root) > 2 and root[-1] == root[-2]  # noqa: PLR2004 - a root of two letters stays
    return root[:-1] if is_doubled else root
