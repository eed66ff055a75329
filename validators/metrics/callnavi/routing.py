"""Whether an answer names the right tools, whatever it gives them (CallNavi 6.1): compared as texts."""

from collections.abc import Sequence

from validators.metrics.callnavi.repairing import NAMES

_DROPPED = str.maketrans("", "", "'\"[]\n `\\")


def names_text(names: object) -> str:
    """Names as the published code compares them: without quotes, brackets, spaces and case; commas stay."""
    return (names if isinstance(names, str) else str(names)).translate(_DROPPED).lower()


def is_routed(answer: object, gold: Sequence[str]) -> bool:
    """Whether the names are those of the question, in its order.

    `answer` is what a router said, a text or a list of names, or a whole answer with its names under "API".
    """
    named = answer.get(NAMES) if isinstance(answer, dict) else answer
    return isinstance(named, str | list) and names_text(named) == names_text(list(gold))
