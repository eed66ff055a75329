"""How a document's paths nest: whose lists stand below which things, and where the things of a kind live and are made."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from callwright.generators.environments.endpoints import SAFE, Endpoint
from callwright.generators.environments.linking import is_opaque, plain, thing_at, words_of
from callwright.generators.environments.things import Kinds, Reference
from callwright.language.names import split_name
from callwright.warehouse.records import JsonSchema

_NEARLY_ALL = 10  # one in so many is an exception


class Nesting:
    """What the paths of a document tell of its things."""

    def __init__(self, endpoints: Sequence[Endpoint], kinds: Kinds) -> None:
        """`kinds` are those of the document."""
        self.endpoints, self.kinds = tuple(endpoints), kinds
        self._references: dict[str, tuple[Reference, ...]] = {}

    def references(self, endpoint: Endpoint) -> tuple[Reference, ...]:
        """The parameters of a tool that name things."""
        if endpoint.tool.name not in self._references:
            self._references[endpoint.tool.name] = self.kinds.references(endpoint)
        return self._references[endpoint.tool.name]

    def reference(self, endpoint: Endpoint, parameter: str) -> Reference | None:
        """What a parameter names, None where it names no thing."""
        return next((one for one in self.references(endpoint) if one.parameter == parameter), None)

    @cached_property
    def lists(self) -> Mapping[tuple[str, str], str]:
        """The kind of the things that are listed below one of another, by its kind and the path's last word."""
        found: dict[tuple[str, str], str] = {}
        for endpoint in self.endpoints:
            entries = self.kinds.entry_of(endpoint.tool)
            owner = self.owner(endpoint)
            is_list = entries is not None and (entries[0] or self.kinds.returned(endpoint.tool).get("type") == "array")
            if endpoint.method.upper() in SAFE and owner is not None and entries is not None and is_list:
                found.setdefault(
                    (owner.kind, last_words(endpoint)), self.kinds.of_schema(endpoint, entries[0], entries[1])
                )
        return found

    def owner(self, endpoint: Endpoint) -> Reference | None:
        """The thing that the path names right before its last segment: the user of /users/{id}/groups."""
        before = endpoint.path.split("/")[-2:-1]
        return next((one for one in self.references(endpoint) if [f"{{{one.parameter}}}"] == before), None)

    @cached_property
    def homes(self) -> Mapping[str, frozenset[str]]:
        """The paths that name one thing of each kind, under its own name: /groups/{group_id}."""
        found: dict[str, set[str]] = {}
        for endpoint in self.endpoints:
            segments = endpoint.path.split("/")
            for one in self.references(endpoint):
                is_last = segments[-1] == f"{{{one.parameter}}}"
                if one.in_path and is_last and words_of(segments[-2])[-1:] == one.kind.split()[-1:]:
                    found.setdefault(one.kind, set()).add(endpoint.path)
        return {kind: frozenset(paths) for kind, paths in found.items()}

    @cached_property
    def collections(self) -> frozenset[str]:
        """The paths below which one thing is named, and those where one is made."""
        below = {one.path.rpartition("/")[0] for one in self.endpoints if one.path.endswith("}")}
        made = {one.path for one in self.endpoints if one.method.upper() == "POST" and not listed_things(one)}
        return frozenset(below | made)

    @cached_property
    def joining(self) -> frozenset[str]:
        """The paths of two things at which they are put together: by a call that says nothing else, where no thing is looked at."""
        methods = {
            one.path: {other.method.upper() for other in self.endpoints if other.path == one.path}
            for one in self.endpoints
        }
        return frozenset(
            one.path
            for one in self.endpoints
            if one.method.upper() in ("PUT", "POST")
            and not given_besides(one)
            and methods[one.path].isdisjoint((*SAFE, "PATCH"))
        )

    @cached_property
    def is_told_by_methods(self) -> bool:
        """Whether methods tell anything: where nearly all are POST they do not, and verbs in paths have to."""
        others = sum(one.method.upper() not in ("POST", "") for one in self.endpoints)
        return others * _NEARLY_ALL >= len(self.endpoints)


def last_words(endpoint: Endpoint) -> str:
    """The words of a path's last segment, in the singular."""
    return " ".join(words_of(endpoint.path.rpartition("/")[2]))


def given_besides(endpoint: Endpoint) -> list[str]:
    """The parameters that say more than the path does."""
    return [name for name in endpoint.tool.choosable if f"{{{name}}}" not in endpoint.path]


def listed_things(endpoint: Endpoint) -> list[tuple[str, JsonSchema]]:
    """The parameters that are lists of things or of their ids, with the schema of an entry."""
    given = given_besides(endpoint)
    found = [(name, plain(endpoint.tool.properties[name])) for name in given]
    items = [(name, plain(one["items"])) for name, one in found if isinstance(one.get("items"), dict)]
    words = {name: words_of(name) for name, _ in items}
    return [
        (name, item)
        for name, item in items
        if (isinstance(item.get("properties"), dict) and all(one == name or is_opaque(one) for one in given))
        or (item.get("type") in ("string", "integer") and is_opaque(name) and words[name] != list(split_name(name)))
        or (item.get("type") in ("string", "integer") and words[name] == words_of(thing_at(endpoint)))
    ]
