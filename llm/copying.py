"""Whether a reply repeats a worked example of its prompt in place of an answer."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

import orjson
from pydantic import JsonValue

from callwright.language.packs import own_letters
from callwright.language.text import fold
from callwright.llm.chat import REFUSED, ChatMessage, Prompt

_EXAMPLE = re.compile(r"^<example>\s*(.+?)\s*</example>$", re.MULTILINE | re.DOTALL)
_SLOT = re.compile(r"\[[^\[\]]*\]")
_WORD = re.compile(r"\w+")
_RUN = 5  # words, or pairs of ideographs: fewer may be said by chance
_TELLING = 12  # characters
_Run = tuple[str, ...]


def copied_words(prompt: Prompt, reply: JsonValue) -> str:
    """Return words that a reply took from a worked example, or "".

    Slots don't count, since a copy puts its own in. Words that the prompt says elsewhere too, as
    its task, are no copy.
    """
    answers, task = _example_and_task(prompt.messages)
    copied = next((run for run in _runs_in(reply) if run in answers), ())
    if not copied or f" {' '.join(copied)} " in f" {' '.join(_words(task))} ":
        return ""
    return ("" if own_letters(copied[0]) else " ").join(copied)


def _example_and_task(messages: Sequence[ChatMessage]) -> tuple[frozenset[_Run], str]:
    """Return the runs of words in worked examples, and the message that has the task.

    Examples stand in the instructions, or before the task as a message with its answer. Behind
    the task stand replies, and why they were refused.
    """
    first, *later = messages
    shown = _answers(first.content) if first.role == "system" else frozenset()
    roles = [one.role for one in later[:3]]
    if roles == ["user", "assistant", "user"] and not later[2].content.startswith(REFUSED):
        return shown | _answers(f"<example>\n{later[1].content}\n</example>"), _task_in(later[2])
    return shown, _task_in(later[0]) if later else ""


def _task_in(message: ChatMessage) -> str:
    """Return a message without why a reply to it was refused, which may quote the copy."""
    return message.content.partition(REFUSED)[0]


@lru_cache(512)
def _answers(text: str) -> frozenset[_Run]:
    """Return the runs of words in the answers of examples; it is the last line of each."""
    runs: set[_Run] = set()
    for example in _EXAMPLE.findall(text):
        try:
            answer = orjson.loads(example.rpartition("\n")[2])
        except orjson.JSONDecodeError:
            continue  # a recipe's own example may be prose
        runs |= {*_runs_in(answer)}
    return frozenset(runs)


def _runs_in(reply: JsonValue) -> Iterator[_Run]:
    return chain.from_iterable(map(_runs, _texts(reply)))


def _runs(text: str) -> Iterator[_Run]:
    """Yield the runs of words in a text, or the whole of one that is short and yet telling."""
    words = _words(text)
    run = 2 * _RUN if own_letters(text) else _RUN
    if len(words) < run and len(text) >= _TELLING:
        yield words
    yield from (words[at : at + run] for at in range(len(words) - run + 1))


def _words(text: str) -> _Run:
    """Return the words of a text without its slots; each ideograph is one."""
    found = _WORD.findall(fold(_SLOT.sub(" ", text)))
    return tuple(chain.from_iterable(word if own_letters(word) else (word,) for word in found))


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _texts(member)
