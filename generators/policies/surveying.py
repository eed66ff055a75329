"""Try a recipe's policies in its worlds before a build, with calls of each tool.

A call that a policy is about is made from what the world's links lead to (the ids in a list) and
from choices. Calls that need a value only people say are not tried.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice, product
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.episodes import StatefulWorld, is_changeable, world_of
from callwright.generators.environments.picking import entries_of, value_at
from callwright.generators.environments.policies import PolicyBook, Ruling, taken_of
from callwright.generators.environments.protocol import Environment
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Call, Link, Policy

_CALLS = 60  # of a tool, drawn among many
_MANY = 5000
_DEEPEST = 3  # calls that lead to a value


class PolicyProblem(NamedTuple):
    """A problem of a policy, or just something odd if `is_remark`; `at` is its index."""

    at: int
    message: str
    is_remark: bool = False


def survey_policies(
    policies: Sequence[Policy], environments: Iterable[Environment]
) -> Iterator[PolicyProblem]:
    """Yield problems and oddities of policies in a recipe's worlds; each concerns one world."""
    worlds = [one for one in environments if is_changeable(one)]
    names = Counter(policy.name for policy in policies)
    for at, policy in enumerate(policies):
        if names[policy.name] > 1:
            yield PolicyProblem(at, f"two policies are named {policy.name!r}")
    known = [{tool.name for tool in one.tools} for one in worlds]
    for number, environment in enumerate(worlds):
        own = [(at, one) for at, one in enumerate(policies) if _world_of(one, known) == number]
        sound: list[tuple[int, Policy]] = []
        for at, policy in own:
            try:
                PolicyBook([policy], world_of(environment))
            except ConfigurationError as error:
                yield PolicyProblem(at, str(error).rstrip("."))
            else:
                sound.append((at, policy))
        yield from _tried(sound, environment)
    if not worlds:
        yield from (
            PolicyProblem(at, "calls change none of the recipe's environments")
            for at in range(len(policies))
        )


def _world_of(policy: Policy, known: Sequence[Collection[str]]) -> int:
    """Return the index of the world that has the policy's tools; 0 if none, which reports it."""
    return next(
        (
            number
            for number, names in enumerate(known)
            if any(tool in names for tool in policy.tools)
        ),
        0,
    )


def _tried(
    policies: Sequence[tuple[int, Policy]], environment: Environment
) -> Iterator[PolicyProblem]:
    """Yield the policies that forbid nothing, or everything, among the calls that can be tried."""
    world, places = world_of(environment), {policy.name: at for at, policy in policies}
    book, verdict_counts = (
        PolicyBook([policy for _, policy in policies], world),
        dict[str, Counter[str]](),
    )
    for tool in dict.fromkeys(tool for _, policy in policies for tool in policy.tools):
        try:
            taken = set().union(
                *(taken_of(policy) for _, policy in policies if tool in policy.tools)
            )
            tried = [
                book.rulings(call, world.begin())
                for call in _calls(tool, world, environment.links, taken)
            ]
        except ConfigurationError as error:
            yield PolicyProblem(
                next(at for at, one in policies if tool in one.tools), str(error).rstrip(".")
            )
            continue
        decided = [
            one for one in tried if one and all(ruling.verdict != "unknown" for ruling in one)
        ]
        for ruling in (ruling for one in decided for ruling in one):
            verdict_counts.setdefault(ruling.policy.name, Counter())[ruling.verdict] += 1
        if decided and all(any(ruling.verdict == "forbidden" for ruling in one) for one in decided):
            yield _never(decided, tool, places)
    for name, verdicts in verdict_counts.items():
        policy = policies[[*places].index(name)][1]
        if policy.only_if and not verdicts["forbidden"]:
            tried_of = (
                f"none of {verdicts.total()} calls of {', '.join(policy.tools)} that were tried is"
                " forbidden"
            )
            yield PolicyProblem(
                places[name], f"{name!r} refuses nothing in this world: {tried_of}", is_remark=True
            )


def _never(known: Sequence[tuple[Ruling, ...]], tool: str, places: dict[str, int]) -> PolicyProblem:
    """Return why no call of a tool is ever allowed: one policy, or several that conflict."""
    names = {
        ruling.policy.name: None for one in known for ruling in one if ruling.verdict == "forbidden"
    }
    alone = [
        name
        for name in names
        if all(
            any(ruling.policy.name == name and ruling.verdict == "forbidden" for ruling in one)
            for one in known
        )
    ]
    if alone:
        return PolicyProblem(
            places[alone[0]],
            f"{alone[0]!r} allows no call of {tool}: all {len(known)} that were tried are"
            " forbidden",
        )
    named = " and ".join(map(repr, names))
    return PolicyProblem(
        places[[*names][-1]],
        f"{named} contradict each other: together they allow no call of {tool}",
    )


def _calls(
    tool: str,
    world: StatefulWorld,
    links: Sequence[Link],
    taken: Iterable[str] = (),
    depth: int = 0,
) -> list[Call]:
    """Return calls of a tool with its required and `taken` arguments; [] if one must be said."""
    definition = next(one for one in world.tools if one.name == tool)
    names = dict.fromkeys((*definition.required, *sorted(taken)))
    values = []
    for name in names:
        choices = definition.properties[name].get("enum")
        values.append([*choices] if choices else _linked(tool, name, world, links, depth))
    every = [dict(zip(names, one, strict=True)) for one in islice(product(*values), _MANY)]
    drawn = Random(tool).sample(every, min(len(every), _CALLS))
    return [Call(tool=tool, arguments=arguments) for arguments in drawn]


def _linked(
    tool: str, name: str, world: StatefulWorld, links: Sequence[Link], depth: int
) -> list[JsonValue]:
    linked_values: dict[str, JsonValue] = {}
    for link in links:
        if (
            (link.tool, link.parameter) == (tool, name)
            and depth < _DEEPEST
            and not world.writes(link.source)
        ):
            for call in _calls(link.source, world, links, depth=depth + 1):
                response = world.begin().answer(call).response
                for entry in entries_of(response, link.entries):
                    value = value_at(entry.value, link.field)
                    linked_values.setdefault(str(value), value)
            if linked_values:
                break
    return list(linked_values.values())
