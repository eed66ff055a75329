"""What sets one path apart from another, as corrections that people can read."""

from collections.abc import Sequence
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from generators.paths.sources import as_text
from warehouse.records import Call, Correction, CorrectionKind, Exchange

_ABSENT = ""


class _Placed(NamedTuple):
    step: int
    call: Call


def compare_paths(before: Sequence[Exchange], after: Sequence[Exchange]) -> list[Correction]:
    """The corrections that lead from the one path to the other, in the order of their steps."""
    made, due = _placed(before), _placed(after)
    found: list[Correction] = []
    for own in [one for one in made if one in due]:
        if own in due:
            _pair(own, own, made, due)
    for own in list(made):
        equal = [one for one in due if one.call == own.call]
        if equal:
            found.append(_order(own, equal[0]))
            _pair(own, equal[0], made, due)
    for own in list(made):
        alike = [one for one in due if one.call.tool == own.call.tool]
        if alike:
            nearest = _nearest(own, alike)
            found += _arguments(own, nearest)
            _pair(own, nearest, made, due)
    return sorted(found + _tools(made, due), key=lambda one: (one.step or 0, one.kind))


def _pair(own: _Placed, match: _Placed, made: list[_Placed], due: list[_Placed]) -> None:
    made.remove(own)
    due.remove(match)


def _placed(path: Sequence[Exchange]) -> list[_Placed]:
    return [_Placed(step, call) for step, exchange in enumerate(path) for call in exchange.calls]


def _order(own: _Placed, match: _Placed) -> Correction:
    name = _written(own.call)
    return Correction(
        kind="order", step=match.step, before=f"step {own.step + 1}: {name}", after=f"step {match.step + 1}: {name}"
    )


def _nearest(own: _Placed, others: Sequence[_Placed]) -> _Placed:
    """The call that shares most arguments with `own`, of several the one at the nearest step."""

    def likeness(other: _Placed) -> tuple[int, int]:
        same = sum(own.call.arguments.get(name) == value for name, value in other.call.arguments.items())
        return same, -abs(own.step - other.step)

    return max(others, key=likeness)


def _arguments(own: _Placed, match: _Placed) -> list[Correction]:
    """What differs in two calls of one tool, and in when they are made."""
    found: list[Correction] = []
    for name in dict.fromkeys((*match.call.arguments, *own.call.arguments)):
        told = [_value(call.arguments, name) for call in (own.call, match.call)]
        if told[0] != told[1]:
            kind = _kind(own.call.arguments.get(name), match.call.arguments.get(name))
            before, after = (f"{match.call.tool}.{name} = {one}" if one else _ABSENT for one in told)
            found.append(Correction(kind=kind, step=match.step, before=before, after=after))
    return found + ([_order(own, match)] if own.step != match.step else [])


def _value(arguments: dict[str, JsonValue], name: str) -> str:
    return orjson.dumps(arguments[name]).decode() if name in arguments else _ABSENT


def _kind(own: JsonValue, other: JsonValue) -> CorrectionKind:
    """A value of another JSON type that reads the same is a matter of type."""
    if own is None or other is None or type(own) is type(other):
        return "value"
    return "type" if as_text(own) == as_text(other) else "value"


def _tools(made: Sequence[_Placed], due: Sequence[_Placed]) -> list[Correction]:
    """Calls of tools that only one path has: at the same step one stands for the other."""
    left, found = list(due), []
    for own in made:
        match = next((one for one in left if one.step == own.step), None)
        if match is None:
            found.append(Correction(kind="needless", step=own.step, before=_written(own.call)))
            continue
        left.remove(match)
        found.append(
            Correction(kind="function", step=match.step, before=_written(own.call), after=_written(match.call))
        )
    return found + [Correction(kind="missing", step=one.step, after=_written(one.call)) for one in left]


def _written(call: Call) -> str:
    return f"{call.tool}({', '.join(f'{name}={_value(call.arguments, name)}' for name in call.arguments)})"
