"""Whether a conversation is in its language, and in a person's words rather than a programmer's."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from validators.checks.findings import Finding, contradicted, unproved
from validators.conversations import said_texts
from warehouse.records import Sample, Tool

_CHINESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_.]*[A-Za-z0-9]")
_HUMP = re.compile(r"[a-z][A-Z]")


def language_findings(sample: Sample, tools: Iterable[Tool]) -> Iterator[Finding]:
    """What speaks against the language of what the user says."""
    said = " ".join(turn.text for turn in sample.turns if turn.kind == "user")
    chinese, latin = len(_CHINESE.findall(said)), len(_LATIN.findall(said))
    if not chinese and not latin:
        yield unproved("The user says nothing in letters, so the language can't be told.")
    elif sample.language == "zh" and not chinese:
        yield contradicted("The sample is Chinese, but the user says nothing in Chinese.")
    elif sample.language == "en" and chinese > latin:
        yield contradicted(f"The sample is English, but {chinese} characters of what the user says are Chinese.")
    elif sample.language == "en" and chinese:
        yield unproved(f"The sample is English, but {chinese} characters of what the user says are Chinese.")
    yield from _raw_names(sample, tools)


def _raw_names(sample: Sample, tools: Iterable[Tool]) -> Iterator[Finding]:
    """Names as code has them, of tools and parameters: a fault where a model worded it, odd where a person did."""
    words = {word for text in said_texts(sample.turns) for word in _words_like_code(text)}
    if not words:
        return
    due = [call for snapshot in sample.snapshots() for call in snapshot.calls]
    values = " ".join(str(value) for call in due for value in call.arguments.values())
    raw = sorted({name for tool in tools for name in _raw_names_of(tool) if name in words and name not in values})
    for name in raw:
        reason = f"The user says {name!r}, a name as code has it."
        yield contradicted(reason) if sample.origin is not None and sample.origin.model else unproved(reason)


def _words_like_code(text: str) -> list[str]:
    return [word for word in _IDENTIFIER.findall(text) if "_" in word or _HUMP.search(word)]


def _raw_names_of(tool: Tool) -> frozenset[str]:
    return _like_code((tool.name, *tool.properties))


@lru_cache(8192)
def _like_code(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for name in names if "_" in name or _HUMP.search(name))
