"""Which entry of a list is meant, in words: "the cheapest hotel", "the inn called Swan Inn", "that flight"."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from language.calls.entries import FAMILIES, name_paths, named, rank_fields, rank_words, read_rank, text_at, value_in
from language.names import humanise
from language.text import fold

_WITHIN = re.compile(r" with (?P<part>.+?) in its name\b")


class Rule(NamedTuple):
    """How an entry is meant: "rank" by a phrase with {} for the noun, "called" or "contains" a name, "only", "query"."""

    kind: str
    text: str = ""


def write_pick(where: Sequence[Mapping[str, JsonValue]], noun: str) -> str:
    """The words for the entry that meets the conditions."""
    for condition in where:
        if condition["test"] == "contains":
            noun = f"{noun} with {condition['value']} in its name"
    for condition in where:
        test, field = str(condition["test"]), str(condition.get("field", ""))
        if test == "only":
            return f"the only {noun}"
        if test == "equals":
            return f"the {noun} called {condition['value']}"
        if test != "contains":
            words = rank_words(test, field)
            pattern = words or f"{{}} with the {test} {humanise(field.rpartition('.')[2])}"
            return f"the {pattern.format(noun)}"
    return f"the {noun}"


def read_pick(words: str, noun: str) -> tuple[Rule, ...] | None:
    """The rules that `words` state for an entry called `noun`, () for the entry meant before, None where they state none."""
    text = words.strip()
    within = _WITHIN.search(text)
    rules: list[Rule] = []
    if within:
        rules.append(Rule("contains", within["part"]))
        text = text[: within.start()] + text[within.end() :]
    if text.lower() in {f"that {noun}".lower(), f"that same {noun}".lower(), "it"}:
        return ()
    rule = _read_rule(text, noun)
    if rule is not None:
        return (*rules, rule)
    return tuple(rules) if rules and text.lower() == f"the {noun}".lower() else None


def _read_rule(text: str, noun: str) -> Rule | None:
    lower = text.lower()
    if lower == f"the only {noun}".lower():
        return Rule("only")
    called = re.fullmatch(rf"the {re.escape(noun)} (?:called|named) (?P<name>.+)", text, re.IGNORECASE)
    if called:
        return Rule("called", called["name"])
    patterns = [pattern for family in FAMILIES for pattern in (family.low, family.high)]
    ranked = next((pattern for pattern in patterns if lower == f"the {pattern.format(noun)}".lower()), None)
    if ranked:
        return Rule("rank", ranked)
    other = re.fullmatch(
        rf"the {re.escape(noun)} with the (?P<rank>lowest|highest|earliest|latest) (?P<field>.+)", text
    )
    return Rule(other["rank"], other["field"]) if other else None


def pick(entries: Sequence[JsonValue], rules: Sequence[Rule]) -> JsonValue | None:
    """The entry that the rules mean, None where there is none such."""
    left = list(entries)
    for rule in rules:
        left = _left(left, rule)
    return left[0] if left else None


def _left(entries: list[JsonValue], rule: Rule) -> list[JsonValue]:
    if not entries or rule.kind == "only":
        return entries
    if rule.kind == "contains":
        paths = name_paths(entries)
        return [entry for entry in entries if any(fold(rule.text) in fold(text_at(entry, path)) for path in paths)]
    if rule.kind in {"called", "query"}:
        found = named(entries, rule.text)
        return [entries[found[0]]] if found else (entries[:1] if rule.kind == "query" else [])
    ranked = read_rank(rule.text, entries[0]) if rule.kind == "rank" else _named_field(entries[0], rule)
    return _best(entries, *ranked) if ranked else []


def _named_field(entry: JsonValue, rule: Rule) -> tuple[str, str] | None:
    paths = [path for path in rank_fields(entry).values() if humanise(path.rpartition(".")[2]) == rule.text]
    return (rule.kind, paths[0]) if paths else None


def _best(entries: list[JsonValue], test: str, path: str) -> list[JsonValue]:
    held = [(value_in(entry, path), entry) for entry in entries]
    numbers = [
        (value, entry) for value, entry in held if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    if numbers:
        best = (min if test in {"lowest", "earliest"} else max)(value for value, _ in numbers)
        return [entry for value, entry in numbers if value == best]
    texts = [(value, entry) for value, entry in held if isinstance(value, str)]
    if not texts:
        return []
    first = (min if test in {"lowest", "earliest"} else max)(value for value, _ in texts)
    return [entry for value, entry in texts if value == first]
