"""Rules of a world: what its document can't say about its things, search and calculations.

A file beside the document, `WorldRules`, states kinds of things with their rows, functions, and
what tools answer, each value as an expression (expressions.py). Tools that it doesn't mention
are answered as in any document's world. Everything depends on the seed, the call and, for things
that calls have changed, their state.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml
from jinja2 import pass_context
from jinja2.runtime import Context
from pydantic import Field, JsonValue, ValidationError

from callwright.generators.environments.endpoints import Endpoint
from callwright.generators.environments.episodes import Overlaid, ThingKey
from callwright.generators.environments.expressions import (
    BUILT_IN,
    PLAIN,
    Evaluated,
    ExpressionCompiler,
    Values,
    refuse,
    seeded,
    with_lets,
)
from callwright.generators.environments.linking import find_links, leaves_of
from callwright.generators.environments.protocol import EnvironmentPart
from callwright.warehouse.errors import ConfigurationError, first_problem
from callwright.warehouse.records import Arguments, ElementKind, Link, Tool, content_key
from callwright.warehouse.yaml_text import read_yaml

_SIGNATURE = re.compile(r"(\w+)\(([\w, ]*)\)")
_GIVEN = "given"  # the arguments of the call
MADE_FROM = 10**9  # numbers of what calls make


class KindRules(EnvironmentPart):
    """The things of a kind: `rows` lists them, for each thing of the kind they are `of`, if any.

    They are numbered from 0; those of a kind that is `of` another start at the other's number
    times `stride`, the most that one has.
    """

    rows: JsonValue = Field(description="A list of objects, one for each thing.")
    of: str = Field(default="", description="The kind that has things of this one.")
    id: str = Field(
        default="id", description="The field that things are known by, where calls change them."
    )
    stride: int = Field(
        default=0,
        ge=0,
        description="The most things of this kind that one has; 0 where all are counted.",
    )
    fields: Mapping[str, JsonValue] = Field(
        default_factory=dict, description="What is reckoned of a thing besides."
    )


class ToolRules(EnvironmentPart):
    """What a tool answers; `let` gives names to what is reckoned on the way."""

    let: Mapping[str, JsonValue] = Field(
        default_factory=dict, description="Names for what is reckoned on the way."
    )
    answer: JsonValue = Field(description="The answer, before it is framed.")
    asked: tuple[str, ...] = Field(
        default=(), description="The fields of its response that it is asked for."
    )


class ParameterRules(EnvironmentPart):
    """What people say of a parameter (PARAMETER or TOOL.PARAMETER), and its value's sources."""

    element: ElementKind = Field(description="What its value is about.")
    fixed: bool = Field(
        default=False, description="Whether all variants of a sample have the same value."
    )
    sources: tuple[str, ...] = Field(
        default=(), alias="from", description="Names of `sources` that give its value."
    )


class TripRules(EnvironmentPart):
    """Where goals go: to `places`, of which people name what `local` lists, each with a `name`."""

    element: ElementKind = Field(default="city", description="What the places are called by.")
    places: str = Field(
        description="The places that goals go to; a row has a name and `other_names`."
    )
    ends: str = Field(description="Those of the places that a trip leads between.")
    local: Mapping[ElementKind, str] = Field(
        description="By element, what lies in a place, which is `place` here."
    )


class WorldRules(EnvironmentPart):
    """A file of rules."""

    data: Mapping[str, JsonValue] = Field(
        default_factory=dict, description="Values that all rules may use."
    )
    sizes: Mapping[str, Mapping[str, JsonValue]] = Field(
        default_factory=dict,
        description="How much a response holds, by the name of a size: what `size` is.",
    )
    kinds: Mapping[str, KindRules] = Field(default_factory=dict)
    functions: Mapping[str, JsonValue] = Field(
        default_factory=dict, description="By NAME(PARAMETER, …)."
    )
    refuses: Mapping[str, str] = Field(
        default_factory=dict, description="Messages, by when any call is refused so."
    )
    frame: JsonValue = Field(default="answer", description="What stands around each `answer`.")
    tools: Mapping[str, ToolRules] = Field(default_factory=dict)
    sources: Mapping[str, tuple[tuple[str, str, str], ...]] = Field(
        default_factory=dict,
        description="Where values come from: [tool, list of entries, field], by a name.",
    )
    parameters: Mapping[str, ParameterRules] = Field(default_factory=dict)
    says: Mapping[ElementKind, str] = Field(
        default_factory=dict, description="What people say, by element."
    )
    trip: TripRules | None = None


class Row:
    """A thing as expressions see it: its data, its kind's fields, and the things it belongs to."""

    __slots__ = ("_around", "_fields", "_known", "number", "own")

    def __init__(
        self,
        number: int,
        own: int,
        known: Mapping[str, Any],
        fields: Mapping[str, Evaluated],
        around: Values,
    ) -> None:
        """Create a row: `number` is unique in its kind, `own` among its owner's things."""
        self.number, self.own = number, own
        self._known, self._fields, self._around = {**known}, fields, around

    def with_changes(self, kind: str, changes: Mapping[str, JsonValue]) -> "Row":
        """Return the thing as calls have left it."""
        around = {**self._around}
        fields = {name: one for name, one in self._fields.items() if name not in changes}
        known = {name: one for name, one in self._known.items() if name not in self._fields}
        around[kind] = Row(self.number, self.own, {**known, **changes}, fields, around)
        return around[kind]  # type: ignore[no-any-return]

    def __contains__(self, name: str) -> bool:
        return name in self._known or name in self._fields

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - whatever the file states
        if name not in self._known:
            self._known[name] = self._fields[name](self._around)
        return self._known[name]


class _Function(NamedTuple):
    parameters: tuple[str, ...]
    evaluate: Evaluated


class CompiledRules:
    """Rules that have been read: every expression is compiled, and every name in it is known.

    `key` is the key of their content.
    """

    def __init__(self, stated: WorldRules, where: str) -> None:
        """Compile the rules. Raises ConfigurationError, naming the place in the file `where`."""
        self.stated, self._where = stated, where
        self.size: Mapping[str, JsonValue] = {}
        self.key = content_key(stated.model_dump(mode="json"))
        for one in (one for said in stated.parameters.values() for one in said.sources):
            if one not in stated.sources:
                raise ConfigurationError(f"{where}: parameters: {one!r} is none of `sources`.")
        named: dict[str, tuple[str, tuple[str, ...]]] = {}
        for one in stated.functions:
            signature = _SIGNATURE.fullmatch(one)
            if signature is None:
                raise ConfigurationError(
                    f"{where}: functions: {one!r} is not called as NAME(PARAMETER, …)."
                )
            named[signature[1]] = one, tuple(filter(None, re.split(r",\s*", signature[2])))
        own = {"seed", "size", "rows", "row", "find", _GIVEN}
        compiler = ExpressionCompiler({*stated.data, *seeded(0), *named, *own})

        def compiled(said: JsonValue, place: str, names: Collection[str] = ()) -> Evaluated:
            return compiler.compiled(said, f"{where}: {place}", names)

        self.functions = {
            name: _Function(
                parameters, compiled(stated.functions[one], f"functions.{one}", parameters)
            )
            for name, (one, parameters) in named.items()
        }
        self.rows: dict[str, Evaluated] = {}
        self.fields: dict[str, dict[str, Evaluated]] = {}
        for name, kind in stated.kinds.items():
            place, above = f"kinds.{name}", [*self._above(kind.of)]
            self.rows[name] = compiled(kind.rows, f"{place}.rows", above)
            around = {name, "data", *above}
            self.fields[name] = {
                key: compiled(one, f"{place}.fields.{key}", around)
                for key, one in kind.fields.items()
            }
        self.refuses = {
            compiled(when, "refuses"): compiled(say, "refuses")
            for when, say in stated.refuses.items()
        }
        self.frame = compiled(stated.frame, "frame", {"answer"})
        self.tools: dict[str, tuple[Mapping[str, Evaluated], Evaluated]] = {}
        for name, tool in stated.tools.items():
            lets = compiler.lets(tool.let, f"{where}: tools.{name}", frozenset())
            self.tools[name] = lets, compiled(tool.answer, f"tools.{name}.answer", lets)
        self.says = {
            name: compiled(one, f"says.{name}", {"rng"}) for name, one in stated.says.items()
        }
        trip = stated.trip
        self.places = compiled(trip.places, "trip.places") if trip else None
        self.ends = compiled(trip.ends, "trip.ends") if trip else None
        local = trip.local.items() if trip else ()
        self.local = {name: compiled(one, f"trip.local.{name}", {"place"}) for name, one in local}

    def _above(self, kind: str) -> Iterator[str]:
        while kind:
            if kind not in self.stated.kinds:
                raise ConfigurationError(
                    f"kinds: things are of {kind!r}, which is no kind; there are"
                    f" {', '.join(self.stated.kinds)}."
                )
            yield kind
            kind = self.stated.kinds[kind].of

    def sized(self, size: str) -> "CompiledRules":
        """Return the rules with responses of a size.

        Raises ConfigurationError if there is no such size.
        """
        if self.stated.sizes and size not in self.stated.sizes:
            known = ", ".join(self.stated.sizes)
            raise ConfigurationError(f"There is no response size {size!r}; the sizes are {known}.")
        found = copy(self)
        found.size = self.stated.sizes.get(size, {})
        return found

    def validate(self, tools: Sequence[Tool]) -> None:
        """Raise ConfigurationError if the rules name a tool or parameter that `tools` lack."""
        leaves = {tool.name: leaves_of(tool.parameters, through_lists=True) for tool in tools}
        known_leaves = {
            (name, leaf.path.rpartition("[].")[2])
            for name, found in leaves.items()
            for leaf in found
        }
        parameters = {name for _, name in known_leaves} | {
            f"{tool}.{name}" for tool, name in known_leaves
        }
        sources = {tool for found in self.stated.sources.values() for tool, *_ in found}
        for named_things, there in (
            ({*self.tools, *sources}, {*leaves}),
            ({*self.stated.parameters}, parameters),
        ):
            for name in sorted(named_things - there):
                near = " or ".join(get_close_matches(name, there, 3))
                raise ConfigurationError(
                    f"{self._where}: {name!r} is nothing in the"
                    f" document.{f' Is it {near}?' if near else ''}"
                )

    def parameter(self, tool: str, path: str) -> ParameterRules | None:
        """Return the rules of a parameter by its path ("legs[].fromId"), or None."""
        name = path.rpartition("[].")[2]
        return self.stated.parameters.get(f"{tool}.{name}") or self.stated.parameters.get(name)

    def links(self, endpoints: Sequence[Endpoint]) -> tuple[Link, ...]:
        """Return links as the rules state them, and for other parameters as they are found."""
        inferred_links, names = find_links(endpoints), {one.tool.name for one in endpoints}
        stated_links = (
            Link(
                tool=one.tool.name, parameter=leaf.path, source=source, entries=entries, field=field
            )
            for one in endpoints
            for leaf in leaves_of(one.tool.parameters, through_lists=True)
            if (known := self.parameter(one.tool.name, leaf.path)) is not None
            for name in known.sources
            for source, entries, field in self.stated.sources[name]
        )
        others = (
            link for link in inferred_links if self.parameter(link.tool, link.parameter) is None
        )
        return tuple(
            dict.fromkeys(link for link in (*stated_links, *others) if link.source in names)
        )


class RuleScope:
    """Rules in the world of one seed."""

    def __init__(
        self,
        rules: CompiledRules,
        seed: int,
        changed: Mapping[ThingKey, Overlaid] = MappingProxyType({}),
    ) -> None:
        """Compute nothing until it is needed; `changed` are the things that calls have changed."""
        self.rules, self._changed = rules, changed
        self._rows: dict[tuple[str, int], tuple[Row, ...]] = {}
        self._found: dict[tuple[str, str], dict[JsonValue, Row]] = {}
        functions = {name: self._called(one) for name, one in rules.functions.items()}
        own = {
            "seed": seed,
            "size": rules.size,
            "rows": self.rows,
            "row": self.row,
            "find": self.find,
        }
        own[_GIVEN] = {}
        self._base: Values = {
            **BUILT_IN,
            **rules.stated.data,
            **PLAIN,
            **seeded(seed),
            **functions,
            **own,
        }

    def _called(self, function: _Function) -> Callable[..., Any]:
        @pass_context
        def call(context: Context, *given: Any) -> Any:  # noqa: ANN401 - whatever the file states
            named = dict(zip(function.parameters, given, strict=True))
            return function.evaluate({**self._base, _GIVEN: context[_GIVEN], **named})

        return call

    def rows(self, kind: str, of: Row | None = None) -> tuple[Row, ...]:
        """Return all things of a kind, or those that belong to one thing."""
        place = (kind, -1 if of is None else of.number)
        if place not in self._rows:
            above = self.rules.stated.kinds[kind].of
            everything = (
                (one for owner in self.rows(above) for one in self.rows(kind, owner))
                if above
                else ()
            )
            found = everything if above and of is None else self._made(kind, of)
            self._rows[place] = (
                (*found, *self._created(kind)) if of is None and self._changed else tuple(found)
            )
        return self._rows[place]

    def _created(self, kind: str) -> Iterator[Row]:
        """Yield the things that calls have created, which the list of their kind includes."""
        for number, (key, overlaid) in enumerate(sorted(self._changed.items()), MADE_FROM):
            if key.kind == kind and overlaid.before is None and overlaid.after is not None:
                around = {**self._base, "data": overlaid.after}
                around[kind] = Row(
                    number,
                    number,
                    {**overlaid.after, "data": overlaid.after},
                    self.rules.fields[kind],
                    around,
                )
                yield around[kind]

    def _made(self, kind: str, of: Row | None) -> Iterator[Row]:
        kind_rules, fields = self.rules.stated.kinds[kind], self.rules.fields[kind]
        above = {} if of is None else self._owners(kind_rules.of, of)
        first = 0 if of is None else of.number * kind_rules.stride
        if of is not None and not kind_rules.stride:
            first = sum(
                len(self.rows(kind, other)) for other in self.rows(kind_rules.of)[: of.number]
            )
        for own, data in enumerate(self.rules.rows[kind]({**self._base, **above})):
            known = {name: value for name, value in data.items() if name not in fields}
            around = {**self._base, **above, "data": data}
            row = around[kind] = Row(
                first + own, own, {**known, "data": data, **above}, fields, around
            )
            overlaid = (
                self._changed.get(ThingKey(kind, str(row[kind_rules.id])))
                if self._changed
                else None
            )
            if overlaid is None or overlaid.after is not None:
                yield row if overlaid is None else row.with_changes(kind, overlaid.after or {})

    def _owners(self, kind: str, owner: Row) -> dict[str, Row]:
        above = self.rules.stated.kinds[kind].of
        return {kind: owner} | (self._owners(above, owner[above]) if above else {})

    def row(self, kind: str, number: int) -> Row | None:
        """Return the thing of a kind with a number, or None if there is none."""
        kind_rules = self.rules.stated.kinds[kind]
        if not kind_rules.stride:
            everything = self.rows(kind)
            return everything[number] if 0 <= number < len(everything) else None
        at, own = divmod(number, kind_rules.stride)
        owners = self.rows(kind_rules.of)
        known = self.rows(kind, owners[at]) if 0 <= at < len(owners) else ()
        return known[own] if own < len(known) else None

    def find(self, kind: str, field: str, value: JsonValue) -> Row | None:
        """Return the thing of a kind that has a value in a field, or None if there is none."""
        if (kind, field) not in self._found:
            self._found[kind, field] = {one[field]: one for one in self.rows(kind)}
        return self._found[kind, field].get(value)

    def answer(self, tool: Tool, arguments: Arguments) -> JsonValue:
        """Return a tool's answer to a valid call. Raises RefusalError if the rules refuse it."""
        given_arguments = {
            name: arguments.get(name, schema.get("default"))
            for name, schema in tool.properties.items()
        }
        values = {**self._base, _GIVEN: given_arguments}
        for when, say in self.rules.refuses.items():
            if when(values):
                refuse(say(values))
        lets, answer = self.rules.tools[tool.name]
        found = answer(with_lets(values, lets))
        framed: JsonValue = self.rules.frame({**values, "answer": found})
        return framed

    # What people say

    @cached_property
    def places(self) -> tuple[Row, ...]:
        """The places that goals can go to."""
        return tuple(self.rules.places(self._base)) if self.rules.places else ()

    @cached_property
    def ends(self) -> tuple[Row, ...]:
        """The places between which a trip leads."""
        return tuple(self.rules.ends(self._base)) if self.rules.ends else ()

    def inside(self, element: ElementKind, place: Row) -> list[str]:
        """Return the names of the things in a place."""
        return [one["name"] for one in self.rules.local[element]({**self._base, "place": place})]

    @property
    def place_element(self) -> ElementKind | None:
        """The element kind of the places' names, or None if goals go nowhere."""
        return self.rules.stated.trip.element if self.rules.stated.trip else None

    @cached_property
    def whereabouts(self) -> Mapping[str, tuple[ElementKind, Row]]:
        """Map each name of a place, or of a thing in one, to its element and the place."""
        local_places = {
            name: (one, place)
            for place in self.places
            for one in self.rules.local
            for name in self.inside(one, place)
        }
        element = self.place_element
        named = (
            (name, place)
            for place in self.places
            for name in (place["name"], *place["other_names"])
        )
        return local_places | ({name: (element, place) for name, place in named} if element else {})

    def said(self, element: ElementKind, rng: Random, place: Row | None) -> JsonValue:
        """Return a value that a person might say, from `place` if its kind belongs to places.

        Raises ConfigurationError for elements that nobody says because they come from responses.
        """
        if element in self.rules.says:
            found: JsonValue = self.rules.says[element]({**self._base, "rng": rng})
            return found
        if element in self.rules.local:
            return rng.choice(self.inside(element, place or rng.choice(self.places)))
        raise ConfigurationError(
            f"Nobody says a value of the kind {element!r}; it comes out of a response."
        )


def read_rules(path: Path) -> CompiledRules:
    """Read the rules in a file.

    Raises ConfigurationError, which names the place, if they can't be read.
    """
    try:
        rules_data = read_yaml(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise ConfigurationError(f"The rules {str(path)!r} can't be read ({error}).") from error
    if not isinstance(rules_data, dict):
        raise ConfigurationError(f"The rules {str(path)!r} are no object.")
    return rules_of(rules_data, str(path))


def rules_of(stated: object, where: str) -> CompiledRules:
    """Read the rules stated in `where`.

    Raises ConfigurationError, which names the place, if they are wrong.
    """
    try:
        rules = WorldRules.model_validate(stated)
    except ValidationError as error:
        raise ConfigurationError(
            f"The rules {where!r} are wrong at {first_problem(error)}."
        ) from error
    return CompiledRules(rules, where)
