"""When HammerBench counts arguments as right, and how it counts their names (EVALUATORS 1.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from validators.matching.hammerbench_rouge import hammerbench_rouge_l

if TYPE_CHECKING:
    from collections.abc import Collection

    from pydantic import JsonValue

    from warehouse.records import Arguments, Language

THRESHOLD = 0.7
CATCH_ALL = "kwargs"


def arguments_match(label: Arguments, given: JsonValue, language: Language) -> bool:
    """Whether `given` says what `label` says: no name beyond the label's, each value equal or close by Rouge-L."""
    if not isinstance(given, dict):
        return False
    wanted, said = _as_texts(label), _as_texts(given)
    if not said.keys() <= wanted.keys():
        return False
    if wanted == said:
        return True
    wanted.pop(CATCH_ALL, None)
    said.pop(CATCH_ALL, None)
    if wanted == said:
        return True
    return bool(wanted) and all(
        name in said and hammerbench_rouge_l(value, said[name], language) >= THRESHOLD for name, value in wanted.items()
    )


def hallucinated_names(label: Collection[str], given: Collection[str]) -> int:
    """How many of the names given are not the label's (PN_HR as published: a valid optional name counts too)."""
    return sum(name not in label for name in given)


def missing_names(label: Collection[str], given: Collection[str]) -> int:
    """How many of the label's names were not given (PN_MR)."""
    return sum(name not in given for name in label)


def _as_texts(arguments: Arguments) -> dict[str, str]:
    return {name: value if isinstance(value, str) else str(value) for name, value in arguments.items() if value != ""}
