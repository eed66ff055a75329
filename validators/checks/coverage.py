"""What the words of a request say of the values of its call, read by rules and readers alone."""

from datetime import datetime
from typing import NamedTuple

from callwright.language.cues import has_cues
from callwright.validators.checks.verdicts import Finding, unproved
from callwright.validators.readings.request_reading import merge_readings, read_leaves
from callwright.validators.readings.request_text import (
    ArgumentReading,
    Grade,
    leaves_of,
    parse_request,
)
from callwright.warehouse.records import (
    Arguments,
    DoubtedFact,
    Tool,
)


class RequestReading(NamedTuple):
    """What rules and readers make of a request: each argument's grade, and doubts about the rest of its words."""

    arguments: tuple[ArgumentReading, ...]
    doubts: tuple[Finding, ...]

    @property
    def decision(self) -> Grade:
        """Proved where every argument is, and nothing is left over."""
        if any(one.grade == "contradicted" for one in self.arguments):
            return "contradicted"
        is_open = self.doubts or any(one.grade != "proved" for one in self.arguments)
        return "unproved" if is_open else "proved"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not proved, one sentence a fact."""
        of_arguments = (one.reason for one in self.arguments if one.grade != "proved")
        return (*of_arguments, *dict.fromkeys(one.reason for one in self.doubts))


def read_request(tool: Tool, arguments: Arguments, request: str, language: str, now: datetime | None) -> RequestReading:
    """Read `request` against the call of `tool` with `arguments`; `now` is when it was stated, None where nobody knows."""
    if not has_cues(language):
        unknown = f"No rules know the language {language!r}."
        unread = tuple(ArgumentReading(name, "unproved", (), unknown) for name in arguments)
        return RequestReading(unread, (unproved(unknown, DoubtedFact(kind="not_read")),))
    text = parse_request(request, language, now)
    leaves = leaves_of(tool, arguments)
    readings = read_leaves(leaves, text)
    doubts = [
        *(
            unproved(f"The required parameter {name!r} has no value.", _lacking(tool, name))
            for name in tool.required
            if name not in arguments
        ),
    ]
    return RequestReading(merge_readings(arguments, leaves, readings), tuple(doubts))


def _lacking(tool: Tool, name: str) -> DoubtedFact:
    return DoubtedFact(kind="required_missing", tool=tool.name, argument=name)
