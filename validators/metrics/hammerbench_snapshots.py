"""One snapshot of a HammerBench log: a reply held against its label (EVALUATORS 1.4, 1.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from validators.matching.hammerbench_arguments import arguments_match, hallucinated_names, missing_names
from validators.replies.reading import Style, parse_reply

if TYPE_CHECKING:
    from pydantic import JsonValue

    from warehouse.records import Arguments, Language

REFUSAL = "sorry"
_SHOWN = 60


class LogRow(NamedTuple):
    """A reply as the model wrote it and the label: an object with `name` and `arguments`, or a refusal's text."""

    predict: JsonValue
    label: JsonValue


class SnapshotResult(NamedTuple):
    """What one reply got right; `problem` says why it could not be scored as a call, "" where it could.

    `hallucinated` are the names that the label lacks, `undefined` those that the tool's definition lacks, None where no
    definition is at hand.
    """

    tool_right: bool
    arguments_right: bool
    hallucinated: int = 0
    missing: int = 0
    refused: bool = False
    is_call: bool = True
    problem: str = ""
    undefined: int | None = None

    @property
    def names_right(self) -> bool:
        """Whether the label's tool was called with exactly the label's parameter names: the gate before a judge."""
        return self.tool_right and not self.hallucinated and not self.missing


def score_snapshot(row: LogRow, language: Language, style: Style = "default") -> SnapshotResult:
    """Hold a reply against its label; what the published code crashes on is a failure with its reason."""
    label = row.label
    if not isinstance(label, dict) or "name" not in label:
        return _failed(row, f"the label {label!r} is no call")
    wanted = label.get("arguments")
    if not isinstance(wanted, dict):
        return _failed(row, f"the label's arguments {wanted!r} are no object")
    if not isinstance(row.predict, str):
        return _failed(row, f"the reply {row.predict!r} is no text", len(wanted))
    parsed = parse_reply(row.predict, style)
    if not parsed.calls:
        problem = parsed.problem or "The reply makes no call."
        return _failed(row, f"{problem} It begins: {row.predict[:_SHOWN]!r}", len(wanted))
    call = parsed.calls[0]
    tool_right = call.tool == label["name"]
    return SnapshotResult(
        tool_right=tool_right,
        arguments_right=arguments_match(wanted, call.arguments, language),
        hallucinated=hallucinated_names(wanted, call.arguments),
        missing=missing_names(wanted, call.arguments),
        refused=not tool_right and is_refusal(_as_text(call.tool, call.arguments)),
    )


def is_refusal(reply: str) -> bool:
    """Whether HammerBench takes a reply as a refusal: it says sorry."""
    return REFUSAL in reply.lower()


def _failed(row: LogRow, problem: str, missing: int = 0) -> SnapshotResult:
    refused = isinstance(row.predict, str) and is_refusal(row.predict)
    return SnapshotResult(
        tool_right=False, arguments_right=False, missing=missing, refused=refused, is_call=False, problem=problem
    )


def _as_text(tool: JsonValue, arguments: Arguments) -> str:
    return f"{tool} {arguments}"
