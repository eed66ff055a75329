"""What of a conversation gold may come from, and how prompts show it."""

from collections.abc import Iterable

from generators.conversations import conversation_text
from warehouse.records import Turn, UserTurn

__all__ = ["conversation_text", "said_texts"]


def said_texts(turns: Iterable[Turn]) -> list[str]:
    """What the user said and the messages leant on: all that a gold value may come from, in order."""
    texts: list[str] = []
    for turn in turns:
        if isinstance(turn, UserTurn):
            texts.append(turn.text)
            if turn.external is not None:
                texts.append(turn.external.text)
    return texts
