"""Arguments made of several values, and values that a rule takes from a result: what grounding looks at one by one."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from generators.multi_step.picking import read_rule, value_at
from generators.multi_step.samples import schema_of
from generators.multi_step.sources import JOINT, as_text, shifted
from validators.checks.evidence import Claim
from warehouse.errors import RecordError
from warehouse.records import Evidence, GoldCall, ResultTurn, Tool, Turn

_RESULT = re.compile(r"turns\[(\d+)\]\.results\[(\d+)\]\.?(.*)", re.DOTALL)


class Origin(NamedTuple):
    """The result that a path points into, and the rest of the path: turn, place among its results, path in the result."""

    turn: int
    position: int
    path: str


def claims_of(name: str, value: JsonValue, call: GoldCall, tool: Tool) -> Iterator[Claim]:
    """The claim that an argument makes, or one for each part of it that has evidence of its own."""
    hints = {evidence.argument: evidence for evidence in call.evidence}
    parts = list(_parts(name, value, hints)) if name not in hints else []
    for part, held in parts or [(name, value)]:
        yield Claim(part, held, schema_of(tool, part), hints.get(part), call)


def root_of(argument: str) -> str:
    """The argument that a part belongs to: "legs" for "legs[0].fromId"."""
    return re.split(r"[.\[]", argument, maxsplit=1)[0]


def origin_of(path: str) -> Origin | None:
    """What a path such as "turns[2].results[0].data.id" points into, None where it is no such path."""
    found = _RESULT.fullmatch(path)
    return Origin(int(found[1]), int(found[2]), found[3]) if found else None


def by_rule(claim: Claim, prefix: Sequence[Turn]) -> Evidence | None:
    """The claim's own evidence where the rule it names leads from a result before the call to the value."""
    hint = claim.hint
    origin = origin_of(hint.path) if hint and hint.kind == "response" and hint.rule else None
    if hint is None or origin is None or origin.turn >= len(prefix):
        return None
    results = prefix[origin.turn]
    if not isinstance(results, ResultTurn) or origin.position >= len(results.results):
        return None
    try:
        picked = read_rule(hint.rule, 0)
        value = shifted(value_at(results.results[origin.position], origin.path), picked.later_by)
    except RecordError:
        return None
    return hint if value == claim.value or as_text(value) == claim.value else None


def _parts(name: str, value: JsonValue, hints: dict[str, Evidence]) -> Iterator[tuple[str, JsonValue]]:
    """The parts of a value down to those that have evidence; nothing where none of them has."""
    if not any(hint.startswith((f"{name}.", f"{name}[")) for hint in hints):
        return
    if isinstance(value, dict):
        members = [(f"{name}.{key}", member) for key, member in value.items()]
    elif isinstance(value, list):
        members = [(f"{name}[{index}]", member) for index, member in enumerate(value)]
    else:
        pieces = str(value).split(JOINT)
        members = [(f"{name}[{index}]", piece) for index, piece in enumerate(pieces)]
    for part, member in members:
        inner = list(_parts(part, member, hints)) if part not in hints else []
        yield from inner or [(part, member)]
