"""What Label Studio sends of the rows of an edit, as somebody fills them in."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from callwright.annotation.calls import write_name, write_value
from callwright.warehouse.records import Call, GoldCall

Rows = Sequence[Mapping[str, Any]]  # as they stand in the data of a task
_BOXES = ("line", "text", "words")


def as_sent(rows: Rows) -> dict[str, str]:
    """What is sent of rows that nobody touched; an empty box sends nothing."""
    sent: dict[str, str] = {}
    for number, row in enumerate(rows):
        for control in _BOXES:
            sent |= {f"{control}_{number}": box["value"] for box in row[control] if box["value"]}
        for choice in row["choice"]:
            chosen = [one["alias"] for one in choice["values"] if one["selected"]]
            sent |= {f"choice_{number}": alias for alias in chosen}
    return sent


def named(rows: Rows, name: str, which: int = 0) -> str:
    """The control of a row by its name, the argument's without its type."""
    found = [
        f"{control}_{number}"
        for number, row in enumerate(rows)
        for control in (*_BOXES, "choice")
        if row[control] and row["name"].partition(" (")[0] == name
    ]
    return found[which]


def more_of(rows: Rows) -> str:
    """The box for more lines of the last call turn, which is the last row."""
    return f"text_{len(rows) - 1}"


def edited(
    rows: Rows, request: str | None = None, calls: Iterable[Call | GoldCall] | None = None
) -> dict[str, str]:
    """What is sent of a single request with other words, or with these calls in place of all."""
    sent = as_sent(rows)
    if request is not None:
        sent[next(control for control in sent if control.startswith("words"))] = request
    if calls is not None:
        lines = ["--"]
        for call in calls:
            lines.append(f"-> {write_name(call.tool)}")
            lines += [f"+ {write_name(k)} = {write_value(v)}" for k, v in call.arguments.items()]
        sent[more_of(rows)] = "\n".join(lines)
    return {control: text for control, text in sent.items() if text}
