"""Other calls for those that are due: an argument too few or too many, roles exchanged, another tool, a call twice, none."""

from collections.abc import Iterator
from itertools import combinations
from random import Random

from pydantic import JsonValue

from callwright.generators.routing.tool_graph import UNKNOWN
from callwright.generators.tools import are_redundant
from callwright.language.calls.sampling import make_value
from callwright.language.schemas import choices_of, json_type, kind_of
from callwright.validators.near_misses.due import Due, Option, leaves, with_call, with_leaf
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Arguments, Call, JsonSchema, Tool

_FORM = ("type", "enum", "format", "pattern")


def arguments_exchanged(due: Due, _rng: Random) -> Iterator[Option]:
    """Two values of one form have each other's place, in one call or in two calls of a set."""
    for one, other in combinations(leaves(due), 2):
        if _have_one_form(one.schema, other.schema) and one.value != other.value:
            if one.call != other.call and one.path != other.path:
                continue
            first = with_leaf(due.option, one, other.value)
            yield with_leaf(first, other, one.value)


def _have_one_form(one: JsonSchema, other: JsonSchema) -> bool:
    """Whether a value of the one may stand for the other by their schemas."""
    is_open = json_type(one) in ("string", "integer", "number") and not choices_of(one)
    return is_open and all(one.get(word) == other.get(word) for word in _FORM)


def optional_argument_dropped(due: Due, _rng: Random) -> Iterator[Option]:
    """An argument that the tool does not require is left out."""
    for place, call in enumerate(due.calls):
        required = _required(due, call)
        for name in call.arguments:
            if name not in required:
                yield with_call(due.option, place, _without(call, name))


def required_argument_dropped(due: Due, _rng: Random) -> Iterator[Option]:
    """An argument that the tool requires is left out where another one is missing already: nobody has asked for it yet."""
    for place, call in enumerate(due.calls):
        required = _required(due, call)
        if not required <= call.arguments.keys():
            for name in call.arguments:  # in their order: a prompt must not differ from run to run
                if name in required:
                    yield with_call(due.option, place, _without(call, name))


def _required(due: Due, call: Call) -> frozenset[str]:
    tool = due.tools.get(call.tool)
    return frozenset(tool.required if tool else ())


def _without(call: Call, name: str) -> Call:
    return call.with_changes(arguments={one: value for one, value in call.arguments.items() if one != name})


def argument_added(due: Due, rng: Random) -> Iterator[Option]:
    """An argument stands there that nobody stated."""
    for place, call in enumerate(due.calls):
        tool = due.tools.get(call.tool)
        absent = [name for name in tool.properties if name not in call.arguments] if tool else []
        for name in rng.sample(absent, len(absent)):
            value = _made(name, tool, due, rng) if tool else None
            if value is not None:
                yield with_call(due.option, place, call.with_changes(arguments={**call.arguments, name: value}))


def _made(name: str, tool: Tool, due: Due, rng: Random) -> JsonValue:
    """A value that a parameter may have and does not have by itself, None where none can be made."""
    schema = tool.properties[name]
    if kind_of(schema) == "boolean":
        return not schema.get("default", False)
    try:
        return make_value(name, schema, due.language, rng)
    except ReplyError:
        return None


def item_dropped(due: Due, rng: Random) -> Iterator[Option]:
    """A list lacks a member."""
    for place, name, items in _lists(due):
        at = rng.randrange(len(items))
        yield _with_argument(due.option, place, name, items[:at] + items[at + 1 :])


def item_added(due: Due, rng: Random) -> Iterator[Option]:
    """A list has a member too many."""
    for place, name, items in _lists(due):
        tool = due.tools.get(due.calls[place].tool)
        made = _made(name, tool, due, rng) if tool else None
        more = [one for one in made if one not in items] if isinstance(made, list) else []
        if more:
            yield _with_argument(due.option, place, name, [*items, more[0]])


def _lists(due: Due) -> Iterator[tuple[int, str, list[JsonValue]]]:
    for place, call in enumerate(due.calls):
        for name, value in call.arguments.items():
            if isinstance(value, list) and len(value) > 1:
                yield place, name, value


def _with_argument(option: Option, place: int, name: str, value: JsonValue) -> Option:
    call = option.calls[place]
    return with_call(option, place, call.with_changes(arguments={**call.arguments, name: value}))


def other_tool(due: Due, rng: Random) -> Iterator[Option]:
    """Another candidate is called, with what of the arguments it takes; those first that take most of them."""
    for place, call in enumerate(due.calls):
        gold = due.tools.get(call.tool)
        siblings = [one for one in due.tools.values() if gold and not are_redundant(one, gold)]
        siblings = rng.sample(siblings, len(siblings))
        siblings.sort(key=lambda one: -len(one.properties.keys() & call.arguments.keys()))
        for tool in siblings:
            arguments = _fitted(call, gold, tool, due, rng) if gold else None
            if arguments is not None:
                yield with_call(due.option, place, Call(tool=tool.name, arguments=arguments))


def _fitted(call: Call, gold: Tool, tool: Tool, due: Due, rng: Random) -> Arguments | None:
    """Arguments for another tool: of the same name, else of the same form; what it requires besides is made up."""
    given = {
        name: value
        for name, value in call.arguments.items()
        if name in tool.properties and json_type(tool.properties[name]) == json_type(gold.properties.get(name, {}))
    }
    left = {name: value for name, value in call.arguments.items() if name not in given}
    for name in tool.required:
        if name in given:
            continue
        taken = next(
            (one for one in left if _have_one_form(gold.properties.get(one, {}), tool.properties.get(name, {}))), None
        )
        value = left.pop(taken) if taken is not None else _made(name, tool, due, rng)
        if value is None:
            return None
        given[name] = value
    return {name: given[name] for name in tool.properties if name in given}


def call_repeated(due: Due, _rng: Random) -> Iterator[Option]:
    """A call is made twice."""
    for place, call in enumerate(due.calls):
        yield with_call(due.option, place, call, call)


def call_dropped(due: Due, _rng: Random) -> Iterator[Option]:
    """One of several calls is missing."""
    if len(due.calls) > 1:
        for place in range(len(due.calls)):
            yield with_call(due.option, place)


def call_unasked(due: Due, rng: Random) -> Iterator[Option]:
    """A call is made besides that nobody asked for."""
    called = {call.tool for call in due.calls}
    others = [tool for tool in due.tools.values() if tool.name not in called]
    for tool in rng.sample(others, len(others)):
        made = {name: _made(name, tool, due, rng) for name in tool.required}
        if all(value is not None for value in made.values()):
            yield Option((*due.calls, Call(tool=tool.name, arguments=made)))


def calls_reordered(due: Due, _rng: Random) -> Iterator[Option]:
    """A call that takes what another one returns stands before it."""
    if due.is_ordered:
        for place, call in enumerate(due.calls[1:], 1):
            if UNKNOWN in call.arguments.values():
                before = due.calls[place - 1]
                yield Option((*due.calls[: place - 1], call, before, *due.calls[place + 1 :]))


def unknown_guessed(due: Due, rng: Random) -> Iterator[Option]:
    """A value that only an earlier call returns is made up."""
    for place, call in enumerate(due.calls):
        tool = due.tools.get(call.tool)
        for name, value in call.arguments.items():
            if value == UNKNOWN and tool and name in tool.properties:
                made = _made(name, tool, due, rng)
                if made is not None:
                    yield _with_argument(due.option, place, name, made)


def unknown_for_known(due: Due, _rng: Random) -> Iterator[Option]:
    """A value that is said is left to an earlier call that does not return it."""
    if any(UNKNOWN in call.arguments.values() for call in due.calls):
        for leaf in leaves(due):
            if len(leaf.path) == 1:
                yield with_leaf(due.option, leaf, UNKNOWN)


def no_call(due: Due, _rng: Random) -> Iterator[Option]:
    """Nothing is called, as if no tool did what is wanted."""
    if due.calls:
        yield Option(act="none")


def question(due: Due, _rng: Random) -> Iterator[Option]:
    """Something is asked first though all is known that the tools require."""
    if due.calls and all(_required(due, call) <= call.arguments.keys() for call in due.calls):
        yield Option(act="ask")
