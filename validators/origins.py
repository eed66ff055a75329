"""Sources of values that nobody said: defaults, earlier results, earlier calls of the turn.

This module also splits what a call claims into the parts that have evidence of their own.
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
    """A gold call's value, its schema, and where it was worded; `name` is its path in the call.

    The generator says where.
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
    """The result that a path points into: turn, position among its results, and path inside."""

    turn: int
    position: int
    path: str


def claims_of(name: str, value: JsonValue, call: GoldCall, tool: Tool) -> Iterator[Claim]:
    """Yield the claim of an argument, or one for each part that has evidence of its own."""
    hints = {evidence.argument: evidence for evidence in call.evidence}
    parts = list(_parts(name, value, hints)) if name not in hints else []
    for part, held in parts or [(name, value)]:
        yield Claim(part, held, schema_of(tool, part), hints.get(part), call)


def root_of(argument: str) -> str:
    """Return the argument that a part belongs to: "legs" for "legs[0].fromId"."""
    return re.split(r"[.\[]", argument, maxsplit=1)[0]


def origin_of(path: str) -> ResultOrigin | None:
    """Return what a path such as "turns[2].results[0].data.id" points into, or None."""
    found = _RESULT.fullmatch(path)
    return ResultOrigin(int(found[1]), int(found[2]), found[3]) if found else None


def by_rule(claim: Claim, prefix: Sequence[Turn]) -> Evidence | None:
    """Return the claim's own evidence if its rule leads from an earlier result to the value."""
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
    """Yield the parts of a value down to those with evidence; nothing if none has any."""
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
    """Return the source of a value that nobody said: a default, or the latest result with it.

    The results are those of `prefix`. Empty values, true and false come from no result; None if
    there is no source.
    """
    value = claim.value
    for keyword in ("default", "const"):
        keyword_value = claim.schema.get(keyword)
        if (
            keyword in claim.schema
            and keyword_value == value
            and isinstance(keyword_value, bool) == isinstance(value, bool)
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
    """Return the claim's own evidence if an earlier call of the turn returns its unknown value."""
    if claim.value != UNKNOWN or claim.hint is None or claim.hint.argument != claim.name:
        return None
    return None if feed_problem(claim.name, claim.call, calls, tools) else claim.hint
