"""Text that satisfies a simple regular expression: classes, groups, alternatives and counts; no look-arounds."""

from functools import lru_cache
from random import Random
from typing import NamedTuple

_UPPER = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_LOWER = "abcdefghijkmnopqrstuvwxyz"
_DIGITS = "0123456789"
_ESCAPES = {"d": _DIGITS, "w": _UPPER + _DIGITS, "s": " "}
_CATCH_ALL = _LOWER
_OPEN_ENDED = 3  # how many more than the least a `+`, `*` or `{n,}` may give
_LONGEST = 64


class UnsupportedPatternError(ValueError):
    """The expression uses something that cannot be generated."""


class _Node(NamedTuple):
    """Alternatives of sequences of (what, least, most); what is a string of characters to choose from, or a group."""

    branches: tuple[tuple[tuple["str | _Node", int, int], ...], ...]


def matching_text(pattern: str, rng: Random) -> str:
    """Text that matches the whole pattern; UnsupportedPatternError where it asks for more than this can generate."""
    return _write(_parsed(pattern), rng)


def _write(node: _Node, rng: Random) -> str:
    return "".join(
        rng.choice(what) if isinstance(what, str) else _write(what, rng)
        for what, least, most in rng.choice(node.branches)
        for _ in range(rng.randint(least, most))
    )


@lru_cache(1024)
def _parsed(pattern: str) -> _Node:
    reader = _Reader(pattern)
    node = reader.alternatives()
    if reader.at != len(pattern):
        raise UnsupportedPatternError(f"The pattern {pattern!r} has a ')' too many.")
    return node


class _Reader:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def alternatives(self) -> _Node:
        branches = [self._sequence()]
        while self._peek() == "|":
            self.at += 1
            branches.append(self._sequence())
        return _Node(tuple(branches))

    def _sequence(self) -> tuple[tuple[str | _Node, int, int], ...]:
        items: list[tuple[str | _Node, int, int]] = []
        while self._peek() not in ("", "|", ")"):
            what = self._atom()
            if what is not None:
                items.append((what, *self._count()))
        return tuple(items)

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _take(self) -> str:
        character = self._peek()
        if not character:
            raise UnsupportedPatternError(f"The pattern {self.pattern!r} ends too soon.")
        self.at += 1
        return character

    def _atom(self) -> str | _Node | None:
        character = self._take()
        if character in "^$":
            return None
        if character == "(":
            return self._group()
        if character == "[":
            return self._character_class()
        if character == "\\":
            return self._escape()
        return _CATCH_ALL if character == "." else character

    def _group(self) -> _Node:
        if self._peek() == "?":
            if self.pattern[self.at + 1 : self.at + 2] != ":":
                raise UnsupportedPatternError(f"The pattern {self.pattern!r} has a look-around or a named group.")
            self.at += 2
        node = self.alternatives()
        if self._peek() != ")":
            raise UnsupportedPatternError(f"The pattern {self.pattern!r} lacks a ')'.")
        self.at += 1
        return node

    def _escape(self) -> str:
        character = self._take()
        if character in _ESCAPES:
            return _ESCAPES[character]
        if character.isalnum():
            raise UnsupportedPatternError(f"The pattern {self.pattern!r} uses \\{character}.")
        return character

    def _character_class(self) -> str:
        if self._peek() == "^":
            raise UnsupportedPatternError(f"The pattern {self.pattern!r} has a negated class.")
        allowed: list[str] = []
        while self._peek() != "]":
            character = self._take()
            if character == "\\":
                allowed.append(self._escape())
            elif self._peek() == "-" and self.pattern[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                allowed.append("".join(map(chr, range(ord(character), ord(self._take()) + 1))))
            else:
                allowed.append(character)
        self.at += 1
        return "".join(allowed)

    def _count(self) -> tuple[int, int]:
        mark = self._peek()
        if mark not in ("?", "*", "+", "{") or not mark:
            return 1, 1
        self.at += 1
        if mark == "{":
            inside = self.pattern[self.at : self.pattern.find("}", self.at)]
            self.at += len(inside) + 1
            least, comma, most = inside.partition(",")
            if not least.isdecimal() or (most and not most.isdecimal()) or int(most or least) > _LONGEST:
                raise UnsupportedPatternError(f"The pattern {self.pattern!r} counts {inside!r}.")
            low = int(least)
            counts = (low, int(most) if most else low + _OPEN_ENDED) if comma else (low, low)
        else:
            counts = {"?": (0, 1), "*": (0, _OPEN_ENDED), "+": (1, 1 + _OPEN_ENDED)}[mark]
        if self._peek() in ("?", "+") and self._peek():
            self.at += 1
        return counts
