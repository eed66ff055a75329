"""Find the requests in a log that another one continues: one record a conversation.

Whoever logs an assistant's requests has a conversation as often as a model was asked in it. Such
a payload is part of another one that has all its messages, its answer among them, and goes on.
"""

import json
from array import array
from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from pydantic import JsonValue

from callwright.generators.imports.answers import Called, UnreadableChat
from callwright.generators.imports.messages import Spoken, events_of
from callwright.generators.imports.reading import items


class Continued:
    """The conversations, by number, that some payload continues; 8 bytes of memory each."""

    def __init__(self, payloads: Iterable[JsonValue]) -> None:
        """Read the messages of payloads, each with the answer at its end."""
        numbers = array("Q")
        for messages in payloads:
            numbers.extend(_numbers(messages)[:-1])
        self._sorted = np.unique(np.array(numbers, dtype=np.uint64))

    def __bool__(self) -> bool:
        """Whether there is any."""
        return len(self._sorted) > 0

    def goes_on(self, messages: JsonValue) -> bool:
        """Whether another payload has all of these messages, and more behind them."""
        numbers = _numbers(messages)
        if not numbers or not self:
            return False
        at = int(np.searchsorted(self._sorted, np.uint64(numbers[-1])))
        return at < len(self._sorted) and int(self._sorted[at]) == numbers[-1]


def _numbers(messages: JsonValue) -> list[int]:
    """Return a number for a conversation up to each of the assistant's messages, in any notation.

    The system message does not count, as it may hold the time, and neither do words beside calls,
    which some clients do not send again. A conversation that can't be read has none.
    """
    known, numbers = blake2b(digest_size=8), list[int]()
    for message in items(messages):
        try:
            events = [*events_of(message)]
        except UnreadableChat:
            return []
        calls = [one for one in events if isinstance(one, Called)]
        for event in calls or events:
            match event:
                case Called(tool=tool, arguments=arguments):
                    told: JsonValue = ["call", tool, arguments]
                case Spoken(side=side, text=text):
                    told = [] if side == "system" else [side, text.strip()]
                case _:
                    told = ["result", event.value]
            known.update(json.dumps(told, sort_keys=True).encode() if told else b"")
        if calls or any(isinstance(one, Spoken) and one.side == "assistant" for one in events):
            numbers.append(int.from_bytes(known.digest()))
    return numbers
