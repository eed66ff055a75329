"""Policies over a world: code decides which calls an assistant may make in which state.

    book = PolicyBook(recipe.policies, world)
    book.rulings(call, episode)      # (Ruling(policy="cancel_planned", verdict="forbidden",
    looks=(…)),)

A policy reads the state only through the world's own reading tools, which its expressions call
by name: `get_order(order_id=given.order_id).status != 'shipped'`. So it can depend on nothing
that an assistant could not look up, and its reads (`looks`) are what an assistant must have seen
before it decides.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple

from jinja2 import TemplateSyntaxError, nodes
from pydantic import JsonValue

from callwright.generators.environments.episodes import StatefulWorld, WorldEpisode
from callwright.generators.environments.expressions import (
    BUILT_IN,
    PLAIN,
    Evaluated,
    ExpressionCompiler,
    Values,
    with_lets,
)
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.exports.tasks import names_in_episodes
from callwright.warehouse.records import Call, Policy, Tool
from callwright.warehouse.templates import sandbox

_GIVEN = "given"
_PARSER = sandbox()
Verdict = Literal["allowed", "forbidden", "unknown"]


class Ruling(NamedTuple):
    """A policy's verdict on a call in a state; "unknown" if the world knows nothing about it."""

    policy: Policy
    verdict: Verdict
    looks: tuple[Call, ...] = ()  # the reads that it takes

    def breaks(self, call: Call, leave: Call | None) -> bool:
        """Whether the call breaks the policy, given the one call the user has approved, if any."""
        is_unasked = self.policy.ask_first and (leave is None or not is_like(call, leave))
        return self.verdict == "forbidden" or (self.verdict == "allowed" and is_unasked)


class _NothingKnownError(RecordError):
    """The world refused a read of a policy."""


class _Compiled(NamedTuple):
    policy: Policy
    lets: Mapping[str, Evaluated]
    test: Evaluated | None


class PolicyBook:
    """The policies of a world, compiled once."""

    def __init__(self, policies: Sequence[Policy], world: StatefulWorld) -> None:
        """Compile policies; ConfigurationError names policy and tool of anything unknown."""
        self._tools = {tool.name: tool for tool in world.tools}
        names = names_in_episodes(world.tools)
        self._reads = {
            names[name]: tool for name, tool in self._tools.items() if not world.writes(name)
        }
        compiler = ExpressionCompiler({*self._reads, _GIVEN})
        self._policies = [self._compiled(one, compiler) for one in policies]

    def _compiled(self, policy: Policy, compiler: ExpressionCompiler) -> _Compiled:
        where = f"the policy {policy.name!r}"
        for name in policy.tools:
            if name not in self._tools:
                near = " or ".join(get_close_matches(name, self._tools, 3))
                raise ConfigurationError(
                    f"{where} is about {name!r}, and there is no such"
                    f" tool.{near and f' Is it {near}?'}"
                )
        stated = {**policy.let, **({"only_if": policy.only_if} if policy.only_if else {})}
        if not stated and not policy.ask_first:
            raise ConfigurationError(f"{where} forbids nothing: say `only_if` or `ask_first`.")
        for name, expression in stated.items():
            for problem in self._problems(expression, policy):
                raise ConfigurationError(f"{where}, {name}: {problem}")
        try:
            lets = compiler.lets(policy.let, where, frozenset())
            test = None
            if policy.only_if:
                test = compiler.compiled(policy.only_if, f"{where}, only_if", lets)
        except ConfigurationError as error:
            message = f"{error} Reading tools are {', '.join(self._reads) or 'none'}."
            raise ConfigurationError(message) from error
        return _Compiled(policy, lets, test)

    def _problems(self, expression: str, policy: Policy) -> Iterator[str]:
        """Yield what is wrong with an expression's calls and with the arguments that it takes."""
        tree = _tree(expression)
        for call in tree.find_all(nodes.Call):
            tool = self._reads.get(call.node.name) if isinstance(call.node, nodes.Name) else None
            if tool is not None:
                named = [one.key for one in call.kwargs]
                unfit = [name for name in named if name not in tool.properties]
                lacking = [name for name in tool.required if name not in named]
                if call.args or unfit or lacking:
                    shown = ", ".join(f"{name}=…" for name in tool.required)
                    yield (
                        f"{tool.name} is called with {', '.join(named) or 'nothing'}; write"
                        f" {tool.name}({shown})."
                    )
        for name in taken_of(policy):
            for tool_name in policy.tools:
                if name not in self._tools[tool_name].properties:
                    yield f"{tool_name} has no parameter {name!r}."

    def rulings(self, call: Call, episode: WorldEpisode) -> tuple[Ruling, ...]:
        """Return what each policy about a call says of it now; the episode does not change.

        Raises ConfigurationError if an expression can't be evaluated.
        """
        return tuple(
            self._ruling(one, call, episode)
            for one in self._policies
            if call.tool in one.policy.tools
        )

    def looks(self, call: Call, episode: WorldEpisode) -> tuple[Call, ...]:
        """Return the reads that policies make for a call now."""
        return tuple(look for ruling in self.rulings(call, episode) for look in ruling.looks)

    def broken_by(self, call: Call, episode: WorldEpisode, leave: Call | None) -> tuple[str, ...]:
        """Return the names of the policies that a call would break now."""
        return tuple(
            one.policy.name for one in self.rulings(call, episode) if one.breaks(call, leave)
        )

    def _ruling(self, one: _Compiled, call: Call, episode: WorldEpisode) -> Ruling:
        if one.test is None:
            return Ruling(one.policy, "allowed")
        looks: list[Call] = []
        start = episode.snapshot()
        try:
            holds = bool(one.test(with_lets(self._values(call, episode, looks), one.lets)))
        except _NothingKnownError:
            return Ruling(one.policy, "unknown", tuple(looks))
        finally:
            episode.restore(start)
        return Ruling(one.policy, "allowed" if holds else "forbidden", tuple(looks))

    def _values(self, call: Call, episode: WorldEpisode, looks: list[Call]) -> Values:
        """Return an expression's names: the call's arguments, and reading tools, which log use."""

        def reading(tool: Tool) -> Any:  # noqa: ANN401 - a function of whatever an expression gives
            def read(**arguments: JsonValue) -> JsonValue:
                asked = Call(tool=tool.name, arguments=arguments)
                answered = episode.answer(asked)
                if answered.problem:
                    raise _NothingKnownError(answered.problem)
                looks.append(asked)
                return answered.response

            return read

        schemas = self._tools[call.tool].properties
        argument_values = {
            name: call.arguments.get(name, schema.get("default"))
            for name, schema in schemas.items()
        }
        reads = {name: reading(tool) for name, tool in self._reads.items()}
        return {**BUILT_IN, **PLAIN, **reads, _GIVEN: argument_values}


def taken_of(policy: Policy) -> set[str]:
    """Return the arguments of the call that a policy uses: `given.NAME`."""
    attribute_nodes = (
        one
        for text in (*policy.let.values(), policy.only_if)
        for one in _tree(text).find_all(nodes.Getattr)
    )
    return {
        one.attr
        for one in attribute_nodes
        if isinstance(one.node, nodes.Name) and one.node.name == _GIVEN
    }


def _tree(expression: str) -> nodes.Template:
    """Parse an expression; an invalid one counts as empty, because compiling it reports it."""
    try:
        return _PARSER.parse(f"{{{{ {expression} }}}}" if expression else "")
    except TemplateSyntaxError:
        return _PARSER.parse("")


def is_like(call: Call, other: Call) -> bool:
    """Whether a call equals another, or has more arguments."""
    return call.tool == other.tool and other.arguments.items() <= call.arguments.items()


def unseen_after(
    looks: Iterable[Call], calls: Iterable[Call], episode: WorldEpisode
) -> tuple[Call, ...]:
    """Return the looks whose content no response to these calls, made in turn, tells.

    Each look is compared as it is at the time of the call.
    """
    left = tuple({look.key: look for look in looks}.values())
    for call in calls:
        left = unseen_in(left, episode.answer(call).response, episode)
    return left


def unseen_in(
    looks: tuple[Call, ...], response: JsonValue, episode: WorldEpisode
) -> tuple[Call, ...]:
    """Return the looks that a response doesn't tell at present; the episode is restored."""
    start = episode.snapshot()
    left = tuple(look for look in looks if not shows(response, episode.answer(look).response))
    episode.restore(start)
    return left


def shows(told: JsonValue, wanted: JsonValue) -> bool:
    """Whether a response contains another one, as an entry of a list contains its details."""
    if told == wanted or (
        isinstance(told, dict) and isinstance(wanted, dict) and wanted.items() <= told.items()
    ):
        return True
    members = told.values() if isinstance(told, dict) else told if isinstance(told, list) else ()
    return any(shows(one, wanted) for one in members)
