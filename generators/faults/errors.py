"""Planted tool errors: which can happen in a task, and which calls its world proves due then.

Each maker tries the calls of the task in random order, and yields what can be proved about them.
"""

import string
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.episodes import is_in, replaced, unnamed
from callwright.generators.faults.transcripts import (
    FaultPlan,
    GoldStep,
    PlacedCall,
    Planting,
    effect_of,
    kept_of,
    until_turn,
)
from callwright.generators.multi_step.samples import place_of
from callwright.language.text import fold
from callwright.warehouse.records import (
    Change,
    Evidence,
    Fault,
    FaultDue,
    FaultSort,
    GoldCall,
    JsonSchema,
)

_STATED = ("span", "normalised")
_TIMEOUTS = (
    "No answer came within 30 seconds.",
    "The request timed out.",
    "The server closed the connection before it answered.",
)
_OUTAGES = ("The service is not available.", "This operation is switched off for maintenance.")
Maker = Callable[[Planting], Iterator[FaultPlan]]


def _error(status: int, code: str, message: str) -> JsonValue:
    return {"error": {"code": code, "status": status, "message": message}}


def time_out(planting: Planting) -> Iterator[FaultPlan]:
    """Yield faults in which a call gets no answer; a read or repeatable call is due again."""
    for placed in planting.calls():
        reads = not planting.world.writes(placed.call.tool)
        if planting.is_needed(placed) and (reads or planting.is_repeatable(placed)):
            error_reply = _error(504, "timeout", planting.rng.choice(_TIMEOUTS))
            yield _before(
                planting,
                placed,
                [placed.call],
                _fault(planting, "timeout", "retry", placed, told=error_reply),
            )


def lose_answer(planting: Planting) -> Iterator[FaultPlan]:
    """Lose the answer of an unrepeatable call, which may have worked; a look must come first."""
    for placed in planting.calls():
        if not planting.world.writes(placed.call.tool) or planting.is_repeatable(placed):
            continue
        for look, shown in _looks(planting, placed):
            takes_effect = planting.rng.random() < 0.5  # noqa: PLR2004 - as often as not
            error_reply = _error(504, "timeout", planting.rng.choice(_TIMEOUTS))
            fault = _fault(
                planting,
                "unsure",
                "look",
                placed,
                told=error_reply,
                takes_effect=takes_effect,
                value=shown if takes_effect else None,
            )
            done = {look.bare.key, *([placed.call.bare.key] if takes_effect else [])}
            step, *later = planting.steps[placed.step :]
            rest = kept_of([step], lambda call: call.bare.key not in done)  # noqa: B023 - used at once
            steps = (*planting.steps[: placed.step], (placed.call,), (look,), *rest, *later)
            yield FaultPlan(fault, steps)


def _looks(planting: Planting, placed: PlacedCall) -> Iterator[tuple[GoldCall, str]]:
    """Yield calls that show whether something was created, with the id that they then show."""
    episode = planting.episode(placed.step)
    start = episode.snapshot()
    created = [one.id for one in effect_of(episode, placed.call.bare) if one.sort == "created"]
    for tool in planting.tools.values():
        required_values = {
            name: value for name, value in placed.call.arguments.items() if name in tool.required
        }
        if (
            not created
            or planting.world.writes(tool.name)
            or len(required_values) < len(tool.required)
        ):
            continue
        look = GoldCall(tool=tool.name, arguments=required_values, constants=tool.constants)
        earlier = episode.answer(look.bare)
        episode.answer(placed.call.bare)
        later = episode.answer(look.bare)
        episode.restore(start)
        if (
            not later.problem
            and is_in(created[0], later.response)
            and not is_in(created[0], earlier.response)
        ):
            yield look, created[0]


def make_invalid(planting: Planting) -> Iterator[FaultPlan]:
    """Make a call with an invalid value that the world reports; the request has the right one."""
    for placed, name, schema in _stated(planting):
        value = placed.call.arguments[name]
        for wrong_value in _unfit(value, schema, planting.rng):
            wrong = _changed(placed.call, name, wrong_value)
            answered = planting.episode(placed.step).answer(wrong.bare)
            error_reply = answered.response
            is_named = fold(name) in fold(f"{answered.problem} {error_reply}")
            if (
                answered.error == "invalid_value"
                and is_named
                and error_reply is not None
                and not _is_said(planting, wrong_value)
            ):
                fault = _fault(
                    planting, "validation", "repair", placed, told=error_reply, call=wrong
                )
                yield _before(planting, placed, [wrong], fault)
                break


def find_nothing(planting: Planting) -> Iterator[FaultPlan]:
    """Search for a value that nobody asked for and find nothing; the request has the right one."""
    for placed, name, schema in _stated(planting):
        if planting.world.writes(placed.call.tool):
            continue
        for wrong_value in (
            *schema.get("enum", ()),
            _misspelt(str(placed.call.arguments[name]), planting.rng),
        ):
            wrong = _changed(placed.call, name, wrong_value)
            episode = planting.episode(placed.step)
            answered = episode.answer(wrong.bare)
            full_answer = episode.answer(placed.call.bare)
            is_lost = (
                not answered.problem
                and is_empty(answered.response)
                and not is_empty(full_answer.response)
            )
            if is_lost and not _is_said(planting, wrong_value):
                fault = _fault(
                    planting, "empty", "repair", placed, told=answered.response, call=wrong
                )
                yield _before(planting, placed, [wrong], fault)
                break


def is_empty(response: JsonValue) -> bool:
    """Whether a response is an empty list, or has lists that are all empty."""
    if isinstance(response, dict):
        lists = [member for member in response.values() if isinstance(member, list)]
        return bool(lists) and not any(lists)
    return response == []


def go_stale(planting: Planting) -> Iterator[FaultPlan]:
    """Let an id from a search expire before its use; a fresh search returns the current one."""
    for placed in planting.calls():
        for evidence in placed.call.evidence:
            source = _source(planting, evidence)
            value = placed.call.arguments.get(evidence.argument)
            others = {
                at
                for one in placed.call.evidence
                if (at := place_of(one)) and at != place_of(evidence)
            }
            if (
                source is None
                or not planting.is_needed(placed)
                or not isinstance(value, str | int)
                or isinstance(value, bool)
                or others
            ):
                continue
            stale = _other_id(value, planting.rng)
            used = _changed(placed.call, evidence.argument, stale)
            episode = planting.episode(source.step)
            searched = episode.answer(source.call.bare)
            answered = episode.answer(used.bare)
            if answered.error not in ("not_found", "invalid_value") or not is_in(
                value, searched.response
            ):
                continue
            fault = _fault(
                planting,
                "stale_id",
                "search",
                source,
                told=answered.response,
                call=used,
                value=value,
                instead=stale,
            )
            yield _before(planting, source, [source.call, used], fault)
            break


def go_missing(planting: Planting) -> Iterator[FaultPlan]:
    """Lose what a call changes for all tools: the rest is done, and the loss reported."""
    for placed in planting.calls():
        for evidence in placed.call.evidence if planting.world.writes(placed.call.tool) else ():
            value = placed.call.arguments.get(evidence.argument)
            if (
                evidence.kind != "response"
                or not isinstance(value, str | int)
                or isinstance(value, bool)
            ):
                continue
            unknown = _other_id(value, planting.rng)
            answered = planting.episode(placed.step).answer(
                _changed(placed.call, evidence.argument, unknown).bare
            )
            if answered.error != "not_found":
                continue
            told = replaced(answered.response, _renamed(unknown, value))
            fault = _fault(planting, "gone", "tell", placed, told=told, value=value)
            yield from _without(planting, placed, fault, lambda call: is_in(value, call.arguments))  # noqa: B023
            break


def go_down(planting: Planting) -> Iterator[FaultPlan]:
    """Take down a tool: one with the same effect is used or, without one, the rest is done.

    In the second case the outage is reported.
    """
    for placed in planting.calls():
        tool = placed.call.tool
        later = [
            call for step in planting.steps[placed.step :] for call in step if call.tool == tool
        ]
        if not planting.world.writes(tool):
            continue
        error_reply = _error(503, "unavailable", planting.rng.choice(_OUTAGES))
        substitute = next(same_effect(planting, placed), None)
        if substitute is None:
            fault = _fault(planting, "unavailable", "tell", placed, told=error_reply)
            yield from _without(planting, placed, fault, lambda call: call.tool == tool)  # noqa: B023
        elif len(later) == 1:
            fault = _fault(planting, "unavailable", "other_tool", placed, told=error_reply)
            rest = [
                tuple(substitute if call is placed.call else call for call in step)
                for step in planting.steps[placed.step :]
            ]
            steps = (*planting.steps[: placed.step], (placed.call,), *rest)
            yield FaultPlan(fault, steps, (planting.tools[substitute.tool].key,))


def same_effect(planting: Planting, placed: PlacedCall) -> Iterator[GoldCall]:
    """Yield calls of other tools with the same effect, from values that the call has or writes."""
    wanted = planting.effect(placed)
    known = {**_given(wanted), **placed.call.arguments}
    for tool in planting.tools.values():
        arguments = {name: known[name] for name in tool.properties if name in known}
        if (
            tool.name == placed.call.tool
            or not planting.world.writes(tool.name)
            or not arguments.keys() >= {*tool.required}
        ):
            continue
        other = GoldCall(tool=tool.name, arguments=arguments, constants=tool.constants)
        if unnamed(effect_of(planting.episode(placed.step), other.bare)) == unnamed(wanted):
            yield other


def _given(changes: tuple[Change, ...]) -> dict[str, JsonValue]:
    """Return the values that changes write to fields."""
    given: dict[str, JsonValue] = {}
    for one in changes:
        given |= {one.field: one.after} if one.sort == "updated" else one.after or {}
    return given


def _without(
    planting: Planting, placed: PlacedCall, fault: Fault, is_lost: Callable[[GoldCall], bool]
) -> Iterator[FaultPlan]:
    """Yield the task without what became impossible, if an independent rest is left to do."""
    behind, ahead = planting.steps[: placed.step], planting.steps[placed.step :]
    lost = {
        (at, place)
        for at, step in enumerate(planting.steps)
        for place, call in enumerate(step)
        if at >= placed.step and is_lost(call)
    }
    rest = kept_of(ahead, lambda call: not is_lost(call))
    needs_lost = any(
        place_of(one) in lost for step in rest for call in step for one in call.evidence
    )
    touched = any(
        planting.world.writes(call.tool) and is_lost(call) for step in behind for call in step
    )
    if planting.writes(rest) and not needs_lost and not touched:
        yield FaultPlan(fault, (*behind, (placed.call,), *rest))


class _StatedError(NamedTuple):
    placed: PlacedCall
    name: str
    schema: JsonSchema


def _stated(planting: Planting) -> Iterator[_StatedError]:
    """Yield the arguments that the request states."""
    for placed in planting.calls():
        for evidence in placed.call.evidence:
            schema = planting.tools[placed.call.tool].properties.get(evidence.argument)
            if evidence.kind in _STATED and schema is not None and planting.is_needed(placed):
                yield _StatedError(placed, evidence.argument, schema)


def _unfit(value: JsonValue, schema: JsonSchema, rng: Random) -> list[JsonValue]:
    """Return nearly right values that the schema does not accept; None means no value."""
    unfit_values: list[JsonValue] = [None]
    if schema.get("enum") and isinstance(value, str):
        unfit_values.append(_misspelt(value, rng))
    elif isinstance(value, bool):
        unfit_values.append("yes" if value else "no")
    elif isinstance(value, int | float):
        unfit_values.append(f"about {value}")
    return rng.sample(unfit_values, len(unfit_values))


def _misspelt(text: str, rng: Random) -> str:
    """Return a text with two letters swapped, or else with an extra letter."""
    places = [
        at
        for at in range(len(text) - 1)
        if text[at] != text[at + 1] and text[at : at + 2].isalpha()
    ]
    if not places:
        return f"{text}{rng.choice(string.ascii_lowercase)}"
    at = rng.choice(places)
    return f"{text[:at]}{text[at + 1]}{text[at]}{text[at + 2 :]}"


def _renamed(one: JsonValue, other: JsonValue) -> Callable[[JsonValue, str], JsonValue]:
    return lambda value, _: value.replace(str(one), str(other)) if isinstance(value, str) else value


def _other_id(value: str | int, rng: Random) -> str | int:
    """Return an id of the same form that nothing is likely to have."""
    if isinstance(value, int):
        return value + rng.randint(10**6, 10**7)
    alphabets = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
    drawn = [
        next((rng.choice(one) for one in alphabets if letter in one), letter) for letter in value
    ]
    return "".join(drawn)


def _is_said(planting: Planting, value: JsonValue) -> bool:
    return value is not None and fold(str(value)) in fold(planting.source.request)


def _changed(call: GoldCall, name: str, value: JsonValue) -> GoldCall:
    """Return a call with another value for an argument, or without it for None."""
    arguments = {known: one for known, one in call.arguments.items() if known != name}
    evidence = tuple(one for one in call.evidence if one.argument != name)
    return call.with_changes(
        arguments=arguments if value is None else arguments | {name: value}, evidence=evidence
    )


def _source(planting: Planting, evidence: Evidence) -> PlacedCall | None:
    place = place_of(evidence)
    return PlacedCall(place[0], planting.steps[place[0]][place[1]]) if place else None


def _fault(
    planting: Planting, sort: FaultSort, due: FaultDue, placed: PlacedCall, **given: object
) -> Fault:
    """Return a fault that begins with the calls of a step."""
    fields = {"call": placed.call, "until": until_turn(placed.step + 1), **given}
    return Fault.model_validate(
        {
            "sort": sort,
            "due": due,
            "at": planting.before(placed.step),
            "source": planting.source,
            **fields,
        }
    )


def _before(
    planting: Planting, placed: PlacedCall, calls: list[GoldCall], fault: Fault
) -> FaultPlan:
    """Return the task with calls inserted one by one before a step."""
    inserted: list[GoldStep] = [(call,) for call in calls]
    steps = (*planting.steps[: placed.step], *inserted, *planting.steps[placed.step :])
    return FaultPlan(fault.with_changes(until=until_turn(placed.step + len(calls))), steps)


# Those that befall few tasks come first.
ERRORS: Mapping[FaultSort, Maker] = {
    "gone": go_missing,
    "unsure": lose_answer,
    "empty": find_nothing,
    "unavailable": go_down,
    "validation": make_invalid,
    "timeout": time_out,
    "stale_id": go_stale,
}
