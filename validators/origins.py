"""Where a value of a call comes from that nobody said: a default, a result before it, the call
before it in its turn.

What a call claims is taken apart here, into the parts that have evidence of their own.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.picking import value_at
from callwright.generators.multi_step.resolving import JOINT, as_text, shifted
from callwright.generators.multi_step.samples import schema_of
from callwright.generators.routing.tool_graph import UNKNOWN, feed_problem
from callwright.generators.transcripts import walk
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    EntryRule,
    Evidence,
    GoldCall,
    JsonSchema,
    ResultTurn,
    Tool,
    Turn,
)

_RESULT = re.compile(r"turns\[(\d+)\]\.results\[(\d+)\]\.?(.*)", re.DOTALL)


class Claim(NamedTuple):
    """A value of a gold call, what its schema says, and where the generator says it was worded;
    `name` is its path in the call.
    """

    name: str
    value: JsonValue
    schema: JsonSchema
    hint: Evidence | None
    call: GoldCall

    @property
    def parameter(self) -> str:
        """The name of the parameter, or of the member of one, that has the value."""
        return re.sub(r"(\[\d+\])+$", "", self.name).rpartition(".")[2]


class ResultOrigin(NamedTuple):
    """The result that a path points into, and the rest of the path: turn, place among its
    results, path in the result.
    """

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


def origin_of(path: str) -> ResultOrigin | None:
    """What a path such as "turns[2].results[0].data.id" points into, None where it is no such
    path.
    """
    found = _RESULT.fullmatch(path)
    return ResultOrigin(int(found[1]), int(found[2]), found[3]) if found else None


def by_rule(claim: Claim, prefix: Sequence[Turn]) -> Evidence | None:
    """The claim's own evidence where the rule it names leads from a result before the call to
    the value.
    """
    hint = claim.hint
    if hint is None or hint.kind != "response" or not isinstance(hint.rule, EntryRule):
        return None
    origin = origin_of(hint.path)
    if origin is None or origin.turn >= len(prefix):
        return None
    results = prefix[origin.turn]
    if not isinstance(results, ResultTurn) or origin.position >= len(results.results):
        return None
    try:
        held = value_at(results.results[origin.position], origin.path)
        value = shifted(held, hint.rule.later_by)
    except RecordError:
        return None
    return hint if value == claim.value or as_text(value) == claim.value else None


def _parts(
    name: str, value: JsonValue, hints: dict[str, Evidence]
) -> Iterator[tuple[str, JsonValue]]:
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


def find_elsewhere(claim: Claim, prefix: Sequence[Turn]) -> Evidence | None:
    """Where a value comes from that nobody said: a default, or the latest result of `prefix` that
    has it.

    What is empty, or only true or false, comes from no result.
    """
    value = claim.value
    for keyword in ("default", "const"):
        given = claim.schema.get(keyword)
        if (
            keyword in claim.schema
            and given == value
            and isinstance(given, bool) == isinstance(value, bool)
        ):
            return Evidence(argument=claim.name, kind="default", rule=keyword)
    if value in (None, "", [], {}) or isinstance(value, bool):
        return None
    for index, turn in reversed([*enumerate(prefix)]):
        for number, result in enumerate(turn.results if isinstance(turn, ResultTurn) else ()):
            for path, held in walk(result, f"turns[{index}].results[{number}]"):
                if held == value and not isinstance(held, bool):
                    return Evidence(argument=claim.name, kind="response", turn=index, path=path)
    return None


def by_earlier_call(
    claim: Claim, calls: Sequence[GoldCall], tools: Mapping[str, Tool]
) -> Evidence | None:
    """The claim's own evidence where its value is unknown and an earlier call of the same turn
    returns it.
    """
    if claim.value != UNKNOWN or claim.hint is None or claim.hint.argument != claim.name:
        return None
    return None if feed_problem(claim.name, claim.call, calls, tools) else claim.hint
