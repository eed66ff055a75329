"""What method, path and schemas of a tool tell of what its calls do to a world; nothing where they tell nothing sure."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from callwright.generators.environments.endpoints import SAFE, Endpoint
from callwright.generators.environments.linking import is_opaque, plain, thing_at, words_of
from callwright.generators.environments.nesting import Nesting, given_besides, listed_things
from callwright.generators.environments.protocol import Effect
from callwright.generators.environments.things import Reference
from callwright.language.names import deed_of, function_words, split_name
from callwright.language.vocabulary import stem
from callwright.warehouse.records import JsonSchema

_LOOKING = frozenset({"list", "search", "look"})
_UNDOING = "un"
_MANY = "bulk"


def told_effect(nesting: Nesting, endpoint: Endpoint) -> Effect | None:
    """The effect that a document tells of one of its tools, None where it tells nothing sure."""
    return _ToldEffect(nesting, endpoint).effect


class _ToldEffect:
    """What method, path and schemas of one tool tell."""

    def __init__(self, nesting: Nesting, endpoint: Endpoint) -> None:
        self._nesting, self._kinds, self._endpoint = nesting, nesting.kinds, endpoint
        self._method, self._segments = endpoint.method.upper(), endpoint.path.split("/")
        self._references = nesting.references(endpoint)

    @property
    def effect(self) -> Effect | None:
        """The effect, None where nothing sure is told."""
        if self._method in SAFE:
            return Effect(reads=True)
        if not self._method:
            return None
        if not self._nesting.is_told_by_methods:
            return self._told_by_path()
        target = next(reversed([one for one in self._references if one.in_path]), None)
        if target is not None and self._segments[-1] == f"{{{target.parameter}}}":
            return self._joined(target) if self._is_of_another(target) else self._done_to(target)
        found = self._joined_by_id() or self._done_to_each()
        if found is not None or self._segments[-1].startswith("{") or self._noun:
            return found
        is_below = target is not None and self._segments[-2:-1] == [f"{{{target.parameter}}}"]
        if target is not None and is_below and not self._endpoint.entry and not self._is_new(target):
            return self._update(target, verb=self._segments[-1])
        return self._done_to_collection()

    def _done_to(self, target: Reference) -> Effect | None:
        """What is done to the thing that a path names."""
        if self._method != "DELETE":
            return self._update(target)
        named = f"/{{{target.parameter}}}"
        homes = [
            home.rpartition("/")[0] for home in self._nesting.homes.get(target.kind, ()) if home != self._endpoint.path
        ]
        above = [self._endpoint.path.removesuffix(home + named) for home in homes]
        if any(one and "{" not in one and one != self._endpoint.path for one in above):
            return None  # taken from a list of one's own, such as /me/guilds/{guild_id}
        return Effect(deletes=target.kind, id=target.parameter)

    # What belongs to another

    def _is_of_another(self, target: Reference) -> bool:
        """Whether a path names a thing as one of another's, while it lives elsewhere: /users/{id}/groups/{group_id}."""
        homes = self._nesting.homes.get(target.kind, frozenset()) - {self._endpoint.path}
        owner = self._owner_of(target)
        if owner is None or not homes or self._method not in ("PUT", "POST", "DELETE"):
            return False
        is_named = words_of(self._segments[-2])[-1:] == target.kind.split()[-1:]
        return not is_named or self._endpoint.path in self._nesting.joining

    def _owner_of(self, target: Reference) -> Reference | None:
        before = self._segments[-3:-2]
        return next(
            (one for one in self._references if [f"{{{one.parameter}}}"] == before and one.kind != target.kind), None
        )

    def _joined(self, target: Reference) -> Effect | None:
        owner = self._owner_of(target)
        if owner is None or given_besides(self._endpoint):
            return None
        return self._link(owner, target.kind, target.parameter, " ".join(words_of(self._segments[-2])))

    def _joined_by_id(self) -> Effect | None:
        """Of a path that ends below an owner: what is given is an id alone (/users/{id}/groups), or a verb says it (addTag)."""
        owner, given = self._nesting.owner(self._endpoint), given_besides(self._endpoint)
        if owner is None or not given or self._method not in ("PUT", "POST", "DELETE"):
            return None
        if self._noun:
            under, undone = words_of("_".join(self._noun)), deed_of(split_name(self._segments[-1])[0]) == "drop"
        else:
            under, undone = words_of(self._segments[-1]), self._method == "DELETE"
            if len(given) > 1:
                return None
        kind = self._kinds.named(" ".join(under))
        named = [one for one in given if _names_of(one) in (under, kind.split())]
        needed = [one for one in given if one in self._endpoint.tool.required]
        if kind == owner.kind or not self._nesting.homes.get(kind) or len(named) != 1 or not {*needed} <= {*named}:
            return None
        is_list = isinstance(plain(self._endpoint.tool.properties[named[0]]).get("items"), dict)
        if not is_list and not is_opaque(named[0]) and not self._noun:
            return None
        return self._link(owner, kind, named[0], " ".join(under), undone=undone, each=named[0] if is_list else "")

    @property
    def _noun(self) -> tuple[str, ...]:
        """What a verb at the end of a path, below a thing, adds or removes: the tag of /tasks/{id}/addTag."""
        verb, *noun = split_name(self._segments[-1]) or ("",)
        is_below = self._nesting.owner(self._endpoint) is not None
        return tuple(noun) if is_below and deed_of(verb) in ("make", "drop") else ()

    def _link(
        self, owner: Reference, kind: str, parameter: str, under: str, *, undone: bool | None = None, each: str = ""
    ) -> Effect | None:
        """A link or its end, where a list or a field of the owner shows it."""
        shown = self._nesting.lists.get((owner.kind, under))
        fields = self._kinds.fields.get(owner.kind, {}).get("properties", {})
        if shown != kind and (shown or not any(" ".join(words_of(name)) == under for name in fields)):
            return None
        if undone is None:
            undone = self._method == "DELETE"
        stated: dict[str, Any] = {"unlinks" if undone else "links": kind}
        stated |= {"under": under} if under != kind else {}
        return Effect(**stated, id=parameter, to=owner.parameter, each=each)

    # What is done to many

    def _done_to_each(self) -> Effect | None:
        """What is done to each entry of a list: things to be made or changed, or ids of those to be deleted or changed."""
        listed = listed_things(self._endpoint)
        path = self._endpoint.path
        if path not in self._nesting.collections or (_MANY in words_of(self._segments[-1]) and listed):
            path = path.rpartition("/")[0]
        kind = self._kinds.named(thing_at(self._endpoint._replace(path=path)))
        own, known = self._kinds.identities.get(kind, ""), self._kinds.fields.get(kind, {}).get("properties", {})
        if len(listed) != 1 or not own or path not in self._nesting.collections:
            return None
        (parameter, item), deed = listed[0], self._deed()
        members = item.get("properties")
        if isinstance(members, dict):
            fields = {name: field for name in members if (field := self._field(name, kind)) in known and field != own}
            id_ = next((name for name in members if name == own or self._field(name, kind) == own), "")
            if deed == "creates" and fields:
                return Effect(creates=kind, each=parameter, id=id_, fields={**fields, **self._owners(kind)})
            if deed == "updates" and fields and id_:
                return Effect(updates=kind, each=parameter, id=id_, fields=fields)
            return Effect(deletes=kind, each=parameter, id=id_) if deed == "deletes" and id_ else None
        if _names_of(parameter) not in ([], kind.split(), kind.split()[-1:]):
            return None
        if deed == "deletes":
            return Effect(deletes=kind, each=parameter, id=parameter)
        fields = {name: field for name in given_besides(self._endpoint) if (field := self._field(name, kind)) in known}
        fields = {name: field for name, field in fields.items() if name != parameter and field != own}
        return (
            Effect(updates=kind, each=parameter, id=parameter, fields=fields) if deed == "updates" and fields else None
        )

    def _deed(self) -> str:
        """What is done to many: by a verb of the path or the name, else by the method; of a list that is put in place nothing."""
        words = (*split_name(self._segments[-1]), *function_words(self._endpoint.tool.name))
        deeds = [deed for one in words if (deed := deed_of(one)) in ("make", "change", "drop")]
        by_method = {"POST": "creates", "PATCH": "updates", "DELETE": "deletes"}.get(self._method, "")
        said = {"make": "creates", "change": "updates", "drop": "deletes"}.get(next(iter(deeds), ""), by_method)
        return said if self._method == "POST" else by_method

    def _field(self, name: str, kind: str) -> str:
        schema = self._kinds.fields.get(kind, {"properties": {}})
        return next((one for one in schema["properties"] if words_of(one) == words_of(name)), name)

    def _owners(self, kind: str) -> dict[str, str]:
        """The parameters beside a list that say whose a new thing is, and the fields that say so of it."""
        return {name: field for name, field in self._fields(kind).items() if is_opaque(name)}

    # What is done to one

    def _told_by_path(self) -> Effect | None:
        """What a verb at the end of a path says, where methods tell nothing: /wallets/create."""
        verb = next(iter(split_name(self._segments[-1])), "")
        kind = self._kinds.named(thing_at(self._endpoint))
        own = next((one.parameter for one in self._references if one.kind == kind), "")
        known = self._kinds.fields.get(kind, {}).get("properties", {})
        if own and (sets := _told_by(verb, known, undoing=False)):
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
        """A change of what the call gives, and of what the verb below a path names: /orders/{id}/cancel sets its status."""
        known: Mapping[str, JsonSchema] = self._kinds.fields.get(target.kind, {}).get("properties", {})
        fields = {
            name: field
            for name, field in self._fields(target.kind).items()
            if f"{{{name}}}" not in self._endpoint.path
            and field != self._kinds.identities.get(target.kind)
            and (field in known or not known)
        }
        words = split_name(verb)
        sets = _told_by(words[0], known, undoing=self._method == "DELETE") if words else {}
        sets = {field: value for field, value in sets.items() if field not in fields.values()}
        return Effect(updates=target.kind, id=target.parameter, fields=fields, sets=sets) if fields or sets else None

    def _entry(self) -> tuple[str, JsonSchema] | None:
        """What comes back: the thing itself, also where it is wrapped, else the first list."""
        wrapped = self._kinds.wrapped(self._kinds.returned(self._endpoint.tool))
        return self._kinds.entry_of(self._endpoint.tool) if wrapped is None else ("", wrapped)

    def _is_new(self, target: Reference) -> bool:
        """Whether what comes back is a thing of another kind with an id of its own."""
        returned = self._entry()
        if returned is None or not any(is_opaque(name) for name in returned[1]["properties"]):
            return False
        return self._kinds.of_schema(self._endpoint, *returned) != target.kind

    def _done_to_collection(self) -> Effect | None:
        """What a call of a path that names no thing does: POST makes one, all else is done to the one whose id is given besides."""
        endpoint, kinds, returned = self._endpoint, self._kinds, self._entry()
        kind = kinds.named(thing_at(endpoint))
        own = next((one for one in self._references if one.kind == kind and not one.in_path), None)
        if self._method != "POST":
            if own is None:
                return None
            return Effect(deletes=kind, id=own.parameter) if self._method == "DELETE" else self._update(own)
        words = function_words(endpoint.tool.name)
        if returned is not None and (returned[0] or kinds.returned(endpoint.tool).get("type") == "array"):
            return Effect(reads=True) if words and deed_of(words[0]) in _LOOKING else None
        is_one = returned is not None and kinds.of_schema(endpoint, *returned) == kind
        if not endpoint.entry and not (
            is_one and returned is not None and any(map(is_opaque, returned[1]["properties"]))
        ):
            return None
        id_ = own.parameter if own is not None and kinds.own_field(own) == kinds.identities.get(kind) else ""
        fields, known = self._fields(kind), kinds.fields.get(kind, {}).get("properties", {})
        fields.pop(id_, None)
        if known and fields and not known.keys() & fields.values():
            return None
        return Effect(creates=kind, id=id_, fields=fields)

    def _fields(self, kind: str) -> dict[str, str]:
        """The fields of a thing that the parameters give: by name, another thing's id as "book_id"; of plumbing none."""
        schema = self._kinds.fields.get(kind, {"properties": {}})
        by_words = {tuple(words_of(name)): name for name in schema["properties"]}
        names = self._endpoint.tool.choosable
        fields = {name: self._kinds.field_of(self._endpoint, name, kind, schema) for name in names}
        return {name: by_words.get(tuple(words_of(field)), field) for name, field in fields.items()}


def _names_of(parameter: str) -> list[str]:
    """The thing that a parameter of ids is called by: "tag_ids" and "tags" are of tags, "ids" of nothing in particular."""
    words = words_of(parameter)
    return words[:-1] if is_opaque(parameter) else words


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
