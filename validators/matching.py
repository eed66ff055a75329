"""Comparing the call made with the call due: differences by name, typed values, Rouge-L."""

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import orjson
from pydantic import JsonValue

from callwright.language.names import humanise
from callwright.language.packs import LanguagePattern, unspaced
from callwright.language.schemas import choices_of, json_type
from callwright.language.text import fold, folded
from callwright.language.values import read_value
from callwright.warehouse.extras import require_extra
from callwright.warehouse.records import Call, DoubtedFact, DoubtKind, JsonSchema

THRESHOLD = 0.7
_CACHED = 65_536
_ANY_ORDER, _IN_ORDER = LanguagePattern("@{any_order}"), LanguagePattern("@{in_order}")
_TOKENS = re.compile(rf"[{unspaced()}]|[^\W{unspaced()}]+")


class WrongValue(NamedTuple):
    """An argument with a different value; `likeness` is the Rouge-L of the two values."""

    argument: str
    expected: JsonValue
    given: JsonValue
    likeness: float


class CallDifference(NamedTuple):
    """What differs between the due call and the made call; a tool of None means no call."""

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
        """Whether both call the same tool, or neither calls any."""
        return self.expected_tool == self.given_tool

    def sentence(self) -> str:
        """Return what differs, in words, or "" if nothing does."""
        if not self.has_same_tool:
            given_name, due = (
                "no tool" if name is None else repr(name)
                for name in (self.given_tool, self.expected_tool)
            )
            return f"calls {given_name} where {due} is due"
        parts = [f"leaves out {name!r}" for name in self.missing]
        parts += [f"adds {name!r}" for name in self.hallucinated]
        parts += [
            f"gives {value.argument!r} as {value.given!r}, not {value.expected!r} (Rouge-L"
            f" {value.likeness:.2f})"
            for value in self.wrong
        ]
        return ", ".join(parts)


# How the call of a reader, a model that did not know the gold, differs from the one that is due.
READ_OTHERWISE = {
    "adds": "The user also seems to give {name}: {other}{where}, but the call does not use it.",
    "leaves_out": "The reader leaves out {name}.",
    "gives_other": "The call has {value} for {name}, but the reader has {other}{where}.",
    "calls_other": "The reader calls {tool} instead.",
    "calls_none": "The reader makes no call.",
    "calls_needlessly": "No call is due, but {tool} may do what is asked.",
}


def doubts_of(difference: CallDifference, given: Call | None, turn: int) -> list[DoubtedFact]:
    """Return one fact per difference between the call due at `turn` and the call that was read."""
    if not difference.has_same_tool:
        kind: DoubtKind = "calls_none"
        if difference.given_tool is not None:
            kind = "calls_needlessly" if difference.expected_tool is None else "calls_other"
        return [DoubtedFact(kind=kind, turn=turn, tool=difference.given_tool or "")]
    read = given.arguments if given else {}
    return [
        *(
            DoubtedFact(kind="adds", turn=turn, argument=name, other=read.get(name))
            for name in difference.hallucinated
        ),
        *(
            DoubtedFact(
                kind="gives_other",
                turn=turn,
                argument=one.argument,
                value=one.expected,
                other=one.given,
            )
            for one in difference.wrong
        ),
        *(DoubtedFact(kind="leaves_out", turn=turn, argument=name) for name in difference.missing),
    ]


def compare_calls(
    expected: Call | None,
    given: Call | None,
    properties: Mapping[str, JsonSchema],
    *,
    threshold: float = THRESHOLD,
) -> CallDifference:
    """Compare the call made with the call due.

    `properties` are the schemas of the due tool's parameters. `score` is the share of the
    arguments of both that agree, 0 if the tools differ.
    """
    if expected is None or given is None:
        tools = (expected.tool if expected else None, given.tool if given else None)
        return CallDifference(*tools, score=float(expected is given))
    if expected.tool != given.tool:
        return CallDifference(expected.tool, given.tool, score=0.0)
    differing = [
        WrongValue(name, value, given.arguments[name], _likeness(value, given.arguments[name]))
        for name, value in expected.arguments.items()
        if name in given.arguments
        and not is_same_value(value, given.arguments[name], properties.get(name, {}))
    ]
    wrong = tuple(one for one in differing if one.likeness < threshold)
    missing = tuple(name for name in expected.arguments if name not in given.arguments)
    hallucinated = tuple(name for name in given.arguments if name not in expected.arguments)
    names = len(expected.arguments) + len(hallucinated)
    right = len(expected.arguments) - len(missing) - len(wrong)
    score = right / names if names else 1.0
    return CallDifference(expected.tool, given.tool, missing, hallucinated, wrong, score)


def _likeness(expected: JsonValue, given: JsonValue) -> float:
    return rouge_l(
        *(one if isinstance(one, str) else orjson.dumps(one).decode() for one in (expected, given))
    )


def is_same_value(expected: JsonValue, given: JsonValue, schema: JsonSchema) -> bool:
    """Whether both values state the same for a parameter of this schema."""
    if isinstance(expected, list) and isinstance(given, list):
        members = _schema_of(schema, "items")
        return len(expected) == len(given) and all(
            is_same_value(one, other, members) for one, other in zip(expected, given, strict=True)
        )
    if isinstance(expected, dict) and isinstance(given, dict):
        members = _schema_of(schema, "properties")
        return expected.keys() == given.keys() and all(
            is_same_value(value, given[name], _schema_of(members, name))
            for name, value in expected.items()
        )
    if isinstance(expected, bool) is isinstance(given, bool) and expected == given:
        return True
    if isinstance(expected, str) and isinstance(given, str) and fold(expected) == fold(given):
        return True
    return _is_read_the_same(expected, given, schema)


def free_order(name: str, schema: JsonSchema) -> str:
    """Return the word of a schema by which a list has no order, or "" if it has one.

    Members that are unique make a set, and so do choices, unless name or description speak of an
    order.
    """
    if json_type(schema) != "array":
        return ""
    description = str(schema.get("description") or "")
    if _ANY_ORDER.of(description).search(description):
        return "description"
    about = f"{humanise(name)}. {description}"
    if _IN_ORDER.of(about).search(about):
        return ""
    if schema.get("uniqueItems") is True:
        return "uniqueItems"
    items = schema.get("items")
    return "items.enum" if isinstance(items, dict) and choices_of(items) else ""


def are_same_members(one: JsonValue, other: JsonValue, schema: JsonSchema) -> bool:
    """Whether two lists have the same members, in any order."""
    if not isinstance(one, list) or not isinstance(other, list) or len(one) != len(other):
        return False
    items, left = schema.get("items"), list(other)
    member_schema = items if isinstance(items, dict) else {}
    for value in one:
        found = (at for at, given in enumerate(left) if is_same_value(value, given, member_schema))
        place = next(found, None)
        if place is None:
            return False
        del left[place]
    return True


def _is_read_the_same(expected: JsonValue, given: JsonValue, schema: JsonSchema) -> bool:
    """Whether the words of one read as the other.

    Two numbers, and words that read as no value, are not two notations of one value.
    """
    if not isinstance(expected, str) and not isinstance(given, str):
        return False
    # that of the value which is no text
    if not schema.keys() & {"type", "enum", "format", "pattern", "anyOf"}:
        plain = given if isinstance(expected, str) else expected
        if isinstance(plain, int | float):
            schema = {"type": "boolean" if isinstance(plain, bool) else "number"}
    first, second = (
        read_value(one, schema) if isinstance(one, str) else one for one in (expected, given)
    )
    return (
        first is not None
        and isinstance(first, bool) is isinstance(second, bool)
        and first == second
    )


def _schema_of(schema: JsonSchema, name: str) -> JsonSchema:
    found = schema.get(name)
    return found if isinstance(found, dict) else {}


class _Tokenizer:
    """Words of Latin and other scripts, single Chinese characters; case, width, accents folded."""

    def tokenize(self, text: str) -> list[str]:
        return _TOKENS.findall(folded(text).text)


@lru_cache(_CACHED)
def rouge_l(reference: str, hypothesis: str) -> float:
    """Return Rouge-L's F measure in 0..1; equal or disjoint texts need no scorer: 1 or 0."""
    if reference == hypothesis:
        return 1.0
    words = _Tokenizer().tokenize
    if frozenset(words(reference)).isdisjoint(words(hypothesis)):
        return 0.0
    return float(_scorer().score(reference, hypothesis)["rougeL"].fmeasure)


@cache
def _scorer() -> Any:  # noqa: ANN401 - rouge_score has no types
    require_extra("build")
    # with nltk and scipy: 85 MB, a second of a processor
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], tokenizer=_Tokenizer())


def assign(likeness: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the pairs of row and column, each used once, with the highest sum of `likeness`.

    They are sorted by row. Of several best assignments, rows and columns are taken in their
    order. A value that is not finite counts as 0.
    """
    if not likeness or not likeness[0]:
        return []
    require_extra("build")
    # scipy has no types; it takes a third of a second to import, and most turns have one call
    from scipy.optimize import linear_sum_assignment

    finite = [[value if math.isfinite(value) else 0.0 for value in row] for row in likeness]
    rows, columns = linear_sum_assignment(finite, maximize=True)
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]
