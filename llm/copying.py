"""Whether a reply repeats a worked example of its prompt in place of an answer."""

import re
from collections.abc import Iterator
from functools import lru_cache

import orjson
from pydantic import JsonValue

from callwright.language.text import fold
from callwright.llm.chat import Prompt

_EXAMPLE = re.compile(r"^<example>\s*(.+?)\s*</example>$", re.MULTILINE | re.DOTALL)
_SHORTEST = 12  # characters: shorter words may be said by chance


def copied_words(prompt: Prompt, reply: JsonValue) -> str:
    """Return words that a reply took from a worked example, or "".

    Words that the prompt says elsewhere too, as its task, are no copy.
    """
    system, *later = prompt.messages
    examples = _answers(system.content) if system.role == "system" else ()
    if not examples:
        return ""
    replied = [fold(text) for text in _texts(reply)]
    task: str | None = None
    for words in examples:
        folded = fold(words)
        if folded and any(folded in text for text in replied):
            # behind the task stand replies, and why they were refused
            task = fold(later[0].content if later else "") if task is None else task
            if folded not in task:
                return words
    return ""


@lru_cache(512)
def _answers(system: str) -> tuple[str, ...]:
    """Return the texts in the answers of the examples; the answer is an example's last line."""
    texts = []
    for example in _EXAMPLE.findall(system):
        try:
            answer = orjson.loads(example.rpartition("\n")[2])
        except orjson.JSONDecodeError:
            continue  # a recipe's own example may be prose
        texts += [text for text in _texts(answer) if len(text) >= _SHORTEST]
    return tuple(dict.fromkeys(texts))


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _texts(member)
