"""The things of a document's tools: kinds, fields, parameters that name them, path nesting."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.endpoints import SAFE, Endpoint
from callwright.generators.environments.linking import (
    IDENTIFYING,
    SchemaLeaf,
    entry_schemas,
    is_opaque,
    is_wrapping,
    leaves_of,
    plain,
    same_thing,
    subject_of_parameter,
    thing_at,
    thing_of_title,
    words_of,
)
from callwright.language.names import split_name
from callwright.warehouse.records import JsonSchema, Tool

_NEARLY_ALL = 10  # one in so many is an exception


class Reference(NamedTuple):
    """A parameter that names a thing: kind and attribute, and whether it is in the path."""

    parameter: str
    kind: str
    attribute: str
    in_path: bool
    schema: JsonSchema


class Kinds:
    """The kinds of things in a document, one name each, and which lists are below which kind."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        """Read the kinds from paths and results; those that paths name a thing of are certain."""
        self.endpoints = tuple(endpoints)
        self._returned: dict[str, JsonSchema] = {}
        self._names: dict[str, str] = {}
        self._referring: dict[str, tuple[Reference, ...]] = {}
        self.in_paths: frozenset[str] = frozenset()  # none is known by another's name yet
        self.in_paths = frozenset(
            one.kind for one in self._all_references() if one.in_path and one.kind
        )
        self._referring.clear()
        self._names = self._other_names()
        self._referring.clear()

    def _other_names(self) -> dict[str, str]:
        """Map schema names of things to path names: what /env/{key} returns is an "env var"."""
        kinds_by_title: dict[str, str] = {}
        for endpoint in self.endpoints:
            titled = thing_of_title(self.returned(endpoint.tool).get("title"))
            last = endpoint.path.rpartition("/")[2]
            target = next(
                (one.kind for one in self.references(endpoint) if last == f"{{{one.parameter}}}"),
                "",
            )
            if (
                endpoint.method.upper() in SAFE
                and target
                and titled
                and self._named(titled) not in self.in_paths
            ):
                kinds_by_title.setdefault(titled, target)
        return kinds_by_title

    def named(self, thing: str) -> str:
        """Return the kind of a thing's name: "flow run" for "parent flow run", if in a path."""
        if thing not in self._names:
            self._names[thing] = self._named(thing)
        return self._names[thing]

    def _named(self, thing: str) -> str:
        if thing in self.in_paths:
            return thing
        ends = [one for one in self.in_paths if same_thing(one, thing)]
        shorter = [one for one in ends if len(one) < len(thing)]
        if shorter:
            return max(shorter, key=len)
        return ends[0] if len(ends) == 1 else thing.rpartition(" ")[2]

    def of_schema(self, endpoint: Endpoint, entries: str, schema: JsonSchema) -> str:
        """Return the kind of the things that the part of a result at `entries` describes."""
        listed = entries.rpartition(".")[2]
        titled = thing_of_title(schema.get("title"))
        if titled or not listed or is_wrapping(listed):
            return self.named(
                titled or thing_at(endpoint) or " ".join(words_of(endpoint.tool.name))
            )
        return self.named(" ".join(words_of(listed)))

    # What tools return

    def returned(self, tool: Tool) -> JsonSchema:
        """Return the simplified result schema of a tool, always the same object; {} if missing."""
        if tool.name not in self._returned:
            self._returned[tool.name] = _plainly(tool.returns or {})
        return self._returned[tool.name]

    def returns_list(self, tool: Tool) -> bool:
        """Whether a tool's result is itself a list."""
        return self.returned(tool).get("type") == "array"

    def entry_of(self, tool: Tool) -> tuple[str, JsonSchema] | None:
        """Return what a tool returns: the thing if it has an id, else the first list of objects."""
        returns = self.returned(tool)
        members = returns.get("properties")
        if isinstance(members, dict) and any(is_opaque(name) for name in members):
            return "", returns
        lists = [one for one in entry_schemas(returns) if one[0] or self.returns_list(tool)]
        # "order" says how they are sorted
        known = [one for one in lists if any(map(is_opaque, one[1]["properties"]))]
        return next(iter(known or lists), ("", returns) if isinstance(members, dict) else None)

    def wrapped(self, schema: JsonSchema) -> JsonSchema | None:
        """Return the thing that a result only wraps ("data", or its only member), or None.

        The thing has an id of its own.
        """
        members = schema.get("properties") or {}
        if any(is_opaque(name) for name in members):
            return None
        within = [
            one
            for name, one in members.items()
            if (is_wrapping(name) or len(members) == 1) and isinstance(one.get("properties"), dict)
        ]
        return (
            within[0] if len(within) == 1 and any(map(is_opaque, within[0]["properties"])) else None
        )

    # What parameters name

    def references(self, endpoint: Endpoint) -> tuple[Reference, ...]:
        """Return the tool's parameters that name things; those in the path come first, in order."""
        known = self._referring.get(endpoint.tool.name)
        if known is not None:
            return known
        tool_references = []
        for leaf in leaves_of(endpoint.tool.parameters, through_lists=False):
            subject = subject_of_parameter(endpoint, leaf) if len(leaf.names) == 1 else None
            if subject is not None and subject.thing:
                name = leaf.names[0]
                in_path = f"{{{name}}}" in endpoint.path
                # "ids" names several
                if in_path or split_name(name)[-1:] == tuple(words_of(name)[-1:]):
                    tool_references.append(
                        Reference(
                            name, self.named(subject.thing), subject.attribute, in_path, leaf.schema
                        )
                    )
        tool_references.sort(
            key=lambda one: endpoint.path.find(f"{{{one.parameter}}}") if one.in_path else 10**6
        )
        self._referring[endpoint.tool.name] = tuple(tool_references)
        return self._referring[endpoint.tool.name]

    def _all_references(self) -> Iterator[Reference]:
        return (one for endpoint in self.endpoints for one in self.references(endpoint))

    def reference(self, endpoint: Endpoint, parameter: str) -> Reference | None:
        """Return what a parameter names, or None if it names no thing."""
        return next((one for one in self.references(endpoint) if one.parameter == parameter), None)

    def other(self, endpoint: Endpoint, parameter: str, kind: str) -> str:
        """Return the kind of the thing, other than `kind`, whose id a parameter is, or ""."""
        if parameter not in endpoint.tool.properties or not is_opaque(parameter):
            return ""
        leaf = SchemaLeaf(parameter, (parameter,), plain(endpoint.tool.properties[parameter]))
        subject = subject_of_parameter(endpoint, leaf)
        other = self.named(subject.thing) if subject is not None else ""
        return other if other != kind else ""

    # What things have

    def field_of(
        self, endpoint: Endpoint, parameter: str, kind: str, fields: Mapping[str, JsonSchema]
    ) -> str:
        """Return the field for a parameter's value: "book_id" for another thing, else its name."""
        other_kind = self.other(endpoint, parameter, kind)
        if not other_kind:
            return parameter
        attribute = words_of(parameter)[-1]
        return _naming(fields, other_kind, attribute) or "_".join([*other_kind.split(), attribute])

    def field_naming(self, kind: str, other: str) -> str:
        """Return the field of a kind's things that holds the id of another kind, or ""."""
        return _naming(
            self.fields.get(kind, {}), other, words_of(self.identities.get(other, "id"))[-1]
        )

    @cached_property
    def fields(self) -> Mapping[str, Mapping[str, JsonSchema]]:
        """Map kinds to the schemas of their fields; the first result with a field counts."""
        fields_by_kind: dict[str, dict[str, JsonSchema]] = {}
        for endpoint in self.endpoints:
            for entries, schema in entry_schemas(self.returned(endpoint.tool)):
                told = schema if entries else self.wrapped(schema) or schema
                known = fields_by_kind.setdefault(self.of_schema(endpoint, entries, schema), {})
                for name, member in told["properties"].items():
                    known.setdefault(name, member)
        return fields_by_kind

    @cached_property
    def unique(self) -> Mapping[str, tuple[str, ...]]:
        """The fields by which paths name things of each kind; no two things share a value."""
        fields_by_kind: dict[str, tuple[str, ...]] = {}
        for reference in self._all_references():
            if (
                reference.in_path
                and (field := self.own_field(reference))
                and field not in fields_by_kind.get(reference.kind, ())
            ):
                fields_by_kind[reference.kind] = (*fields_by_kind.get(reference.kind, ()), field)
        return fields_by_kind

    @cached_property
    def identities(self) -> Mapping[str, str]:
        """The field that identifies each kind: the one that paths use, or else its id."""
        identity_fields = {kind: names[0] for kind, names in self.unique.items()}
        for kind, names in self.fields.items():
            own = next(filter(is_opaque, names), "")
            if own:
                identity_fields.setdefault(kind, own)
        return identity_fields

    def own_field(self, reference: Reference) -> str:
        """Return the field of a thing whose value a reference gives, or "" if its kind has none."""
        known_fields = self.fields.get(reference.kind, {})
        wanted = [*reference.kind.split(), reference.attribute]
        names = [reference.parameter, reference.attribute]
        names += [
            name for name in known_fields if words_of(name) in (wanted, [reference.attribute])
        ]
        return next((name for name in names if name in known_fields), "")

    @cached_property
    def identifying(self) -> Mapping[tuple[str, str, str], JsonSchema]:
        """Map kind, last word of the name, and type to the schemas of identifying fields."""
        own = [
            (kind, name, one)
            for kind, fields in self.fields.items()
            for name, one in fields.items()
        ]
        told = [(one.kind, one.attribute, one.schema) for one in self._all_references()]
        schemas_by_place: dict[tuple[str, str, str], JsonSchema] = {}
        for kind, name, schema in (*(one for one in own if self._is_own(*one[:2])), *told):
            if IDENTIFYING & set(words_of(name)[-1:]):
                schemas_by_place.setdefault(place_of(kind, name, schema), schema)
        return schemas_by_place

    def _is_own(self, kind: str, field: str) -> bool:
        """Whether a field of a kind identifies the thing itself, not another thing."""
        words = words_of(field)
        return len(words) == 1 or not is_opaque(field) or self.named(" ".join(words[:-1])) == kind

    @cached_property
    def example_ids(self) -> Mapping[str, list[JsonValue]]:
        """The example ids of each kind, from the parameters that take them."""
        ids_by_kind: dict[str, list[JsonValue]] = {}
        for one in self._all_references():
            if is_opaque(one.attribute) and one.schema.get("examples"):
                ids_by_kind.setdefault(one.kind, list(one.schema["examples"]))
        return ids_by_kind

    # How paths nest

    @cached_property
    def owners(self) -> Mapping[str, tuple[str, ...]]:
        """Map kinds to the kinds that they are listed by ("loan": a book's), sorted by name."""
        owners_by_kind: dict[str, set[str]] = {}
        for endpoint in self.endpoints:
            for entries, schema in entry_schemas(self.returned(endpoint.tool)):
                if entries or self.returns_list(endpoint.tool):
                    kind = self.of_schema(endpoint, entries, schema)
                    others = (self.other(endpoint, name, kind) for name in endpoint.tool.properties)
                    owners_by_kind.setdefault(kind, set()).update(filter(None, others))
        return {kind: tuple(sorted(others)) for kind, others in owners_by_kind.items()}

    def owner(self, endpoint: Endpoint) -> Reference | None:
        """Return the thing right before a path's last segment: the user in /users/{id}/groups."""
        before = endpoint.path.split("/")[-2:-1]
        return next(
            (one for one in self.references(endpoint) if [f"{{{one.parameter}}}"] == before), None
        )

    @cached_property
    def lists(self) -> Mapping[tuple[str, str], str]:
        """Map an owner's kind and the path's last word to the kind of things listed there."""
        listed_kinds: dict[tuple[str, str], str] = {}
        for endpoint in self.endpoints:
            entries, owner = self.entry_of(endpoint.tool), self.owner(endpoint)
            if endpoint.method.upper() not in SAFE or owner is None or entries is None:
                continue
            if entries[0] or self.returns_list(endpoint.tool):
                listed_kinds.setdefault(
                    (owner.kind, last_words(endpoint)), self.of_schema(endpoint, *entries)
                )
        return listed_kinds

    @cached_property
    def homes(self) -> Mapping[str, frozenset[str]]:
        """The paths that name one thing of each kind under its own name: /groups/{group_id}."""
        paths_by_kind: dict[str, frozenset[str]] = {}
        for endpoint in self.endpoints:
            *_, above, last = ["", *endpoint.path.split("/")]
            for one in self.references(endpoint):
                if last == f"{{{one.parameter}}}" and words_of(above)[-1:] == one.kind.split()[-1:]:
                    paths_by_kind[one.kind] = paths_by_kind.get(one.kind, frozenset()) | {
                        endpoint.path
                    }
        return paths_by_kind

    @cached_property
    def collections(self) -> frozenset[str]:
        """The paths below which one thing is named, and those where one is created."""
        below = {one.path.rpartition("/")[0] for one in self.endpoints if one.path.endswith("}")}
        creating_paths = {
            one.path
            for one in self.endpoints
            if one.method.upper() == "POST" and not listed_things(one)
        }
        return frozenset(below | creating_paths)

    @cached_property
    def joining(self) -> frozenset[str]:
        """Return the paths where two things are linked: bare PUT or POST calls, and no reading."""
        looked_at = {one.path for one in self.endpoints if one.method.upper() in (*SAFE, "PATCH")}
        bare = [
            one
            for one in self.endpoints
            if one.method.upper() in ("PUT", "POST") and not given_besides(one)
        ]
        return frozenset(one.path for one in bare) - looked_at

    @cached_property
    def is_told_by_methods(self) -> bool:
        """Whether methods are telling: if nearly all are POST, verbs in paths have to be used."""
        others = sum(one.method.upper() not in ("POST", "") for one in self.endpoints)
        return others * _NEARLY_ALL >= len(self.endpoints)


def place_of(kind: str, attribute: str, schema: JsonSchema) -> tuple[str, str, str]:
    """Return a key for a kind's identifying values: "id" and "order_id" share one, names don't."""
    words = words_of(attribute) or [attribute]
    is_own = is_opaque(attribute) or " ".join(words[:-1]) in ("", kind, kind.rpartition(" ")[2])
    return kind, words[-1] if is_own else " ".join(words), str(schema.get("type"))


def _naming(fields: Mapping[str, JsonSchema], other: str, attribute: str) -> str:
    own = [*other.split(), attribute]
    return next((name for name in fields if words_of(name)[-len(own) :] == own), "")


def _plainly(schema: JsonSchema) -> JsonSchema:
    """Return a schema simplified together with everything inside it."""
    plain_copy = dict(plain(schema))
    if isinstance(plain_copy.get("properties"), dict):
        members = {
            name: one for name, one in plain_copy["properties"].items() if isinstance(one, dict)
        }
        plain_copy["properties"] = {name: _plainly(one) for name, one in members.items()}
    if isinstance(plain_copy.get("items"), dict):
        plain_copy["items"] = _plainly(plain_copy["items"])
    return plain_copy


def last_words(endpoint: Endpoint) -> str:
    """Return the words of a path's last segment, in the singular."""
    return " ".join(words_of(endpoint.path.rpartition("/")[2]))


def given_besides(endpoint: Endpoint) -> list[str]:
    """Return the parameters that the path does not contain."""
    return [name for name in endpoint.tool.choosable if f"{{{name}}}" not in endpoint.path]


def listed_things(endpoint: Endpoint) -> list[tuple[str, JsonSchema]]:
    """Return the parameters that list things or their ids, with the schema of an entry."""
    given_names = given_besides(endpoint)
    list_parameters: list[tuple[str, JsonSchema]] = []
    for name in given_names:
        listed, words = plain(endpoint.tool.properties[name]), words_of(name)
        if not isinstance(listed.get("items"), dict):
            continue
        item = plain(listed["items"])
        are_things = isinstance(item.get("properties"), dict) and all(
            one == name or is_opaque(one) for one in given_names
        )
        are_named = (is_opaque(name) and words != list(split_name(name))) or words == words_of(
            thing_at(endpoint)
        )
        if are_things or (item.get("type") in ("string", "integer") and are_named):
            list_parameters.append((name, item))
    return list_parameters
