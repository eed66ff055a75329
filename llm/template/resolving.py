"""Putting what a message says in the place of the phrase that points at it, so that a turn reads as if it had said it."""

import re
from collections.abc import Sequence

from llm.template.messaging import find_told
from llm.template.names import is_chinese
from llm.template.phrasebook import PHRASEBOOKS
from llm.template.pointing import NAME, find_pointer, noun_class
from llm.template.saying import CAREFUL, in_quotes
from llm.template.sections import Turn

# places stand bare behind these, as in "from the airport to Denver"; elsewhere quotation marks tell where a name ends
_PREPOSITION = re.compile(
    r"(?:\b(?:from|in|near|around)|\bfrom [^.!?]{1,80} to|(?:^|[.,] )(?:to|at))\s+$|[从在往]$|(?:^|从[^，。]{1,30})[到去]$",
    re.IGNORECASE,
)


def resolve_pointers(turns: Sequence[Turn]) -> list[Turn]:
    """The turns with each message read into the user's turn before it; a message that nobody points at stays."""
    resolved: list[Turn] = []
    for turn in turns:
        if turn.speaker == "message" and resolved and resolved[-1].speaker == "user":
            text = resolve(resolved[-1].text, turn.text)
            if text:
                resolved[-1] = Turn("user", text)
                continue
        resolved.append(turn)
    return resolved


def resolve(said: str, message: str) -> str:
    """What the user would have said without the message, "" where no phrase points at it or it tells nothing."""
    pointer = find_pointer(said)
    told = find_told(message, pointer.noun) if pointer else ""
    if not pointer or not told:
        return ""
    is_all = not re.search(r"\w", said[: pointer.start] + said[pointer.end :])
    is_clear = is_all or (_PREPOSITION.search(said, 0, pointer.start) and not CAREFUL.search(told))
    if noun_class(pointer.noun) == NAME and not is_clear:
        told = in_quotes(told, PHRASEBOOKS["zh" if is_chinese(told) else "en"])
    return said[: pointer.start] + told + said[pointer.end :]
