"""Samples about a tool that are as plain as can be: they show, before a build, what can be made
of samples about that tool.
"""

from collections.abc import Sequence
from random import Random

from pydantic import JsonValue

from callwright.generators.families import Order
from callwright.warehouse.records import Arguments, CallTurn, GoldCall, Sample, Tool, Turn


def plain_values(order: Order, tool: Tool) -> Arguments:
    """Return a value for each required argument. Raises ReplyError where a schema allows none."""
    return order.own_values.fill(tool, tool.required, order.language, Random(tool.key))


def plain_call(tool: Tool, arguments: Arguments) -> CallTurn:
    """Return the turn in which one call with these arguments is due."""
    return CallTurn(calls=(GoldCall(tool=tool.name, arguments=arguments),))


def plain_sample(kind: str, order: Order, tool: Tool, turns: Sequence[Turn]) -> Sample:
    """Return a sample of these turns that offers the tool alone."""
    return Sample(
        kind=kind,
        language=order.language,
        category=tool.category,
        candidates=(tool.key,),
        turns=tuple(turns),
    )


def in_plain_words(value: JsonValue) -> str:
    """Return a value as a user might type it: a list separated by commas, a boolean as yes or
    no.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(in_plain_words, value)) if isinstance(value, list) else str(value)
