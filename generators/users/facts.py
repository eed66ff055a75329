"""What a user knows: each value that a sample's gold takes from what is said, where the request says it, what it is called."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.picking import read_rule
from callwright.generators.multi_step.samples import schema_of
from callwright.language.calls.entries import value_in
from callwright.language.calls.tools import view_of
from callwright.language.values import locate
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import CallTurn, Evidence, GoldCall, JsonSchema, Sample, Tool

_TEXT = ("equals", "contains")


class Fact(NamedTuple):
    """A value that the user knows for a parameter of a tool, and where the request says it.

    None as the value: the user knows which thing is meant by how the request puts it alone ("the cheapest one").
    """

    tool: str
    parameter: str  # the name of the argument
    path: str  # of the value in it: "legs[0].date"
    value: JsonValue
    schema: JsonSchema
    called: str
    start: int = -1
    end: int = -1
    turn: int = 0  # at which the user says it
    is_name: bool = False  # the value is the name of the thing that the parameter identifies

    def is_said(self, text: str) -> bool:
        """Whether a text says the value."""
        return self.value is not None and locate(self.value, self.schema, text) is not None

    def is_gainsaid(self, text: str) -> bool:
        """Whether a text says one of the other values that the parameter has to choose among, and not this one."""
        options = [one for one in self.schema.get("enum") or () if one != self.value]
        return not self.is_said(text) and sum(locate(one, {}, text) is not None for one in options) == 1

    def is_offered(self, text: str) -> bool:
        """Whether a text says several of the values that the parameter has to choose among."""
        return sum(locate(one, {}, text) is not None for one in self.schema.get("enum") or ()) > 1


def facts_of(sample: Sample, tools: Sequence[Tool]) -> list[Fact]:
    """All that the user of a sample knows, each once."""
    named = {tool.name: tool for tool in tools}
    due = [turn.calls for turn in sample.turns if isinstance(turn, CallTurn) and turn.executed] or [sample.gold]
    calls = [call for made in due for call in made if call.tool in named]  # of a dialogue's growing call the last one
    found = [fact for call in calls for fact in _facts(call, named[call.tool], sample)]
    return list({(one.parameter, str(one.value)): one for one in reversed(found)}.values())[::-1]


def _facts(call: GoldCall, tool: Tool, sample: Sample) -> Iterator[Fact]:
    called = {one.name: one.cues.among(sample.language) for one in view_of(tool.signature).parameters}
    for evidence in call.evidence:
        name = evidence.argument.partition("[")[0].partition(".")[0]
        fact = Fact(
            tool.name, name, evidence.argument, None, schema_of(tool, evidence.argument), called.get(name, name)
        )
        if evidence.kind in ("span", "normalised") and not evidence.in_message:
            value = value_in(call.arguments, evidence.argument)
            is_first = evidence.turn == 0 and evidence.start is not None and evidence.end is not None
            at = (evidence.start or 0, evidence.end or 0) if is_first else (-1, -1)
            said = fact._replace(value=value, start=at[0], end=at[1], turn=evidence.turn or 0)
            yield from () if value is None else (said,)
        elif evidence.kind == "response":
            names = list(_names(evidence, sample.request))
            yield from (fact._replace(value=one, schema={"type": "string"}, is_name=True) for one in names)
            yield from () if names else (fact,)


def _names(evidence: Evidence, request: str) -> Iterator[str]:
    """The names by which the request tells the entry that a value is taken from."""
    try:
        where = read_rule(evidence.rule, 0).where
    except RecordError:  # another rule than that of a choice among entries
        return
    for one in where:
        if one.test in _TEXT and isinstance(one.value, str) and locate(one.value, {"type": "string"}, request):
            yield one.value
