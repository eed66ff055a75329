"""Comparing a call that was made with the call that was due: what differs, by name."""

from collections.abc import Mapping
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from validators.matching.rouge import rouge_l
from validators.matching.values import is_same_value
from warehouse.records import Arguments, Call, JsonSchema

THRESHOLD = 0.7


class WrongValue(NamedTuple):
    """An argument whose value says something else; `likeness` is the Rouge-L of the two."""

    argument: str
    expected: JsonValue
    given: JsonValue
    likeness: float


class CallDifference(NamedTuple):
    """What differs between the call due and the call made; None for a tool says that no call is."""

    expected_tool: str | None
    given_tool: str | None
    missing: tuple[str, ...] = ()
    hallucinated: tuple[str, ...] = ()
    wrong: tuple[WrongValue, ...] = ()
    score: float = 1.0

    @property
    def is_same(self) -> bool:
        """Whether nothing differs."""
        return self.has_same_tool and not (self.missing or self.hallucinated or self.wrong)

    @property
    def has_same_tool(self) -> bool:
        """Whether the same tool is called, or none by both."""
        return self.expected_tool == self.given_tool

    def sentence(self) -> str:
        """What differs, in words; "" where nothing does."""
        if not self.has_same_tool:
            return f"calls {_tool(self.given_tool)} where {_tool(self.expected_tool)} is due"
        parts = [f"leaves out {name!r}" for name in self.missing]
        parts += [f"adds {name!r}" for name in self.hallucinated]
        parts += [
            f"gives {value.argument!r} as {value.given!r}, not {value.expected!r} (Rouge-L {value.likeness:.2f})"
            for value in self.wrong
        ]
        return ", ".join(parts)


def compare_calls(
    expected: Call | None,
    given: Call | None,
    properties: Mapping[str, JsonSchema],
    *,
    threshold: float = THRESHOLD,
) -> CallDifference:
    """Hold the call made against the call due; `properties` are the schemas of the due tool's parameters.

    `score` is the share of the arguments of both that agree, 0 where the tools differ.
    """
    if expected is None or given is None:
        return CallDifference(
            expected.tool if expected else None, given.tool if given else None, score=float(expected is given)
        )
    if expected.tool != given.tool:
        return CallDifference(expected.tool, given.tool, score=0.0)
    wrong = tuple(_wrong_values(expected.arguments, given.arguments, properties, threshold))
    missing = tuple(name for name in expected.arguments if name not in given.arguments)
    hallucinated = tuple(name for name in given.arguments if name not in expected.arguments)
    names = len(expected.arguments) + len(hallucinated)
    right = len(expected.arguments) - len(missing) - len(wrong)
    return CallDifference(
        expected.tool, given.tool, missing, hallucinated, wrong, score=right / names if names else 1.0
    )


def _wrong_values(
    expected: Arguments, given: Arguments, properties: Mapping[str, JsonSchema], threshold: float
) -> list[WrongValue]:
    wrong = []
    for name, value in expected.items():
        if name not in given or is_same_value(value, given[name], properties.get(name, {})):
            continue
        likeness = _likeness(value, given[name])
        if likeness < threshold:
            wrong.append(WrongValue(name, value, given[name], likeness))
    return wrong


def _likeness(expected: JsonValue, given: JsonValue) -> float:
    return rouge_l(_as_text(expected), _as_text(given))


def _as_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _tool(name: str | None) -> str:
    return "no tool" if name is None else repr(name)
