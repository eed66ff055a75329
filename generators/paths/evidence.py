"""Why each argument of a path has its value: said in the request, by default, or picked out of an earlier response."""

from collections.abc import Mapping

from pydantic import JsonValue

from generators.paths.resolving import PickedPlace, Resolved
from generators.paths.rules import write_rule
from generators.paths.sources import Leaf, leaves_of
from llm.language.found import VERBATIM, Found
from llm.language.locating import locate
from warehouse.records import Evidence, Goal, JsonSchema, Picked, Said, Tool

TURNS_A_STEP = 2  # a turn with the calls, and one with their results; the request is turn 0


def result_turn(step: int) -> int:
    """The turn at which the responses of a step stand."""
    return TURNS_A_STEP * (step + 1)


def schema_of(tool: Tool, argument: str) -> JsonSchema:
    """The schema of an argument or of a part of one ("legs[0].fromId"); an empty one where the tool has none for it."""
    pieces = argument.replace("]", "").replace("[", ".").split(".")
    schema: JsonSchema = {**tool.properties.get(pieces[0], {}), "title": pieces[0]}
    for piece in pieces[1:]:
        inner = schema.get("items") if piece.isdecimal() else (schema.get("properties") or {}).get(piece)
        schema = {**(inner or {}), "title": piece if not piece.isdecimal() else schema.get("title", "")}
    return schema


def find_said(argument: str, value: JsonValue, tool: Tool, request: str) -> Found | None:
    """Where a request says the value of an argument or a part of one."""
    return locate(value, schema_of(tool, argument), request)


def unsaid(goal: Goal, request: str, tools: Mapping[str, Tool]) -> list[Leaf]:
    """What the user has to say for the goal, and the request does not; `tools` by name."""
    return [
        leaf
        for index, planned in enumerate(goal.calls)
        for leaf in leaves_of(index, planned.arguments)
        if isinstance(leaf.source, Said)
        and find_said(leaf.argument, leaf.source.value, tools[planned.tool], request) is None
    ]


def evidence_of(call: int, goal: Goal, resolved: Resolved, request: str, tool: Tool) -> tuple[Evidence, ...]:
    """The evidence for every argument of a call of the goal, part by part; a value that is not said has none."""
    places = {place.leaf.argument: place for place in resolved.places if place.leaf.call == call}
    found: list[Evidence] = []
    for leaf in leaves_of(call, goal.calls[call].arguments):
        if isinstance(leaf.source, Picked):
            found.append(_picked(places[leaf.argument], leaf.source))
        elif isinstance(leaf.source, Said):
            span = find_said(leaf.argument, leaf.source.value, tool, request)
            found += [_said(leaf.argument, span, request)] if span else []
        else:
            found.append(Evidence(argument=leaf.argument, kind="default"))
    return tuple(found)


def _picked(place: PickedPlace, source: Picked) -> Evidence:
    turn = result_turn(place.step)
    start = f"turns[{turn}].results[{place.call}]"
    path = start + place.path if place.path.startswith("[") else f"{start}.{place.path}" if place.path else start
    return Evidence(argument=place.leaf.argument, kind="response", turn=turn, path=path, rule=write_rule(source))


def _said(argument: str, found: Found, request: str) -> Evidence:
    return Evidence(
        argument=argument,
        kind="span" if found.rule == VERBATIM else "normalised",
        turn=0,
        start=found.start,
        end=found.end,
        quote=request[found.start : found.end],
        rule=found.rule,
    )
