"""Rules about a call's parameters that descriptions state in English prose and no schema does.

A sentence is read with its parameters marked, by few patterns: a demand or a ban, the parameters
that it is about, and a condition on others. What is read becomes JSON Schema, for making samples
alone: a sentence that is read wrongly must not make a right call wrong (docs/decisions/0076).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from callwright.language.calls.prose_clauses import READERS
from callwright.language.calls.prose_objects import (
    ObjectRules,
    is_marked,
    members_of,
    pattern,
    ruling_sentences,
    sentences_of,
    without_contractions,
)
from callwright.language.calls.unread_rules import UnreadRule, find_unread
from callwright.language.names import function_words, singular
from callwright.warehouse.records import JsonSchema

_DEEPEST = 6
_BRANCHES = ("allOf", "anyOf", "oneOf")


class ProseRule(NamedTuple):
    """A sentence that states a rule, and the member that it describes ("a.b"; "" for the tool).

    If it is not `is_read`, no schema says it.
    """

    about: str
    sentence: str
    is_read: bool = True


class ReadProse(NamedTuple):
    """The schema of parameters with the rules in it that were read, and all rules found.

    `unread` are the members that rules concern which no schema says, each with its sentence.
    Inside of parameters such members are taken out, unless their object requires them.
    """

    schema: JsonSchema
    rules: tuple[ProseRule, ...]
    open: tuple[UnreadRule, ...]  # what may rule a call, and shapes nothing that is made
    unread: Mapping[str, str]
    is_plain: bool  # the schema says no more than before


def read_rules(description: str, parameters: JsonSchema) -> ReadProse:
    """Return the rules that a tool's description and those of its parameters state.

    >>> schema = {"properties": {"mail": {"type": "string"}, "phone": {"type": "string"}}}
    >>> read_rules("Either mail or phone is required.", schema).schema["allOf"]
    [{'anyOf': [{'required': ['mail']}, {'required': ['phone']}]}]
    """
    rules = _Found()
    texts = [description, str(parameters.get("description") or "")]
    schema, unread = _with_rules(parameters, texts, (), frozenset(), rules)
    return ReadProse(schema, tuple(rules.rules), tuple(rules.open), unread, schema is parameters)


class _Found:
    """The rules found so far, each once."""

    def __init__(self) -> None:
        self.rules: dict[ProseRule, None] = {}
        self.open: dict[UnreadRule, None] = {}


_Read = tuple[JsonSchema, Mapping[str, str]]


def state_rule(name: str, description: str, parameters: JsonSchema) -> str:
    """Return the sentence by which a tool works in some states of its things only, or "".

    Sentences about the tool's parameters say nothing of the kind.
    """
    scope = ObjectRules(parameters.get("properties") or {}, frozenset(), frozenset(), description)
    things = {singular(word) for word in function_words(name)}
    for sentence in sentences_of(description):
        if scope.speaks_of_members(sentence):
            continue
        plain = without_contractions(sentence)
        named = pattern("state_of").fullmatch(plain)
        is_of_tool = named is not None and singular(named["thing"].lower()) in things
        if is_of_tool or pattern("state").search(plain):
            return sentence
    return ""


def _with_rules(
    schema: JsonSchema,
    texts: Sequence[str],
    path: tuple[str, ...],
    outer: frozenset[str],
    rules: _Found,
) -> _Read:
    """Return an object's schema with the rules of its members, and the members of unread ones.

    `texts` describe the object as a whole, `outer` are names of parameters around it.
    """
    properties = schema.get("properties")
    if not isinstance(properties, dict) or len(path) > _DEEPEST:
        return schema, {}
    required = frozenset(schema.get("required") or ())
    scope = ObjectRules(properties, required, outer, " ".join(texts))
    told = [("", text) for text in dict.fromkeys(texts)]
    told += [(name, text) for name, one in members_of(properties) for text in _texts_of(one)]
    for name, text in told:
        _read_text(scope, text, name, path, rules)
    scope.tell_kinds(is_inside=bool(path))
    inside = outer | {one for one in properties if is_marked(one)}
    for name, one in members_of(dict(scope.properties)):
        scope.properties[name], unread = _with_members(one, (*path, name), inside, rules)
        scope.unread |= dict.fromkeys([name] * bool(unread), next(iter(unread.values()), ""))
    if path:
        for name in {*scope.unread} - required:
            del scope.properties[name]
    unread = {name: said for name, said in scope.unread.items() if name in required or not path}
    is_same = len(scope.properties) == len(properties) and not scope.rules
    if is_same and all(one is properties[name] for name, one in scope.properties.items()):
        return schema, unread
    whole = {**schema, "properties": scope.properties}
    if scope.rules:
        whole["allOf"] = [*schema.get("allOf", ()), *scope.rules]
    return whole, unread


def _read_text(
    scope: ObjectRules, text: str, own: str, path: tuple[str, ...], rules: _Found
) -> None:
    """Read the sentences that describe the member `own` of an object, "" for the object."""
    for sentence in ruling_sentences(text):
        if (is_read := scope.read(sentence, own, READERS)) is not None:
            about = ".".join((*path, own) if own else path)
            rules.rules[ProseRule(about, sentence, is_read)] = None
        if not is_read and (unread := find_unread(scope, sentence, own, path)) is not None:
            rules.open[unread] = None


def _with_members(
    schema: JsonSchema, path: tuple[str, ...], outer: frozenset[str], rules: _Found
) -> _Read:
    """Return a value's schema with the rules of the objects in it, and what is unread there."""
    if isinstance(schema.get("properties"), dict):
        return _with_rules(schema, [str(schema.get("description") or "")], path, outer, rules)
    changed: JsonSchema = {}
    unread: dict[str, str] = {}
    if isinstance(items := schema.get("items"), dict):
        inner, lost = _with_members(items, path, outer, rules)
        changed |= {} if inner is items else {"items": inner}
        unread |= lost
    for word in (one for one in _BRANCHES if isinstance(schema.get(one), list)):
        branches = [one for one in schema[word] if isinstance(one, dict)]
        read = [_with_members(one, path, outer, rules) for one in branches]
        if any(new is not old for (new, _), old in zip(read, branches, strict=True)):
            changed[word] = [new for new, _ in read]
        if word == "allOf" or all(lost for _, lost in read):  # else another alternative does
            unread |= {name: said for _, lost in read for name, said in lost.items()}
    return {**schema, **changed} if changed else schema, unread


def _texts_of(schema: JsonSchema) -> list[str]:
    """Return the descriptions of a value, those of its alternatives too."""
    branches = (one for word in _BRANCHES for one in schema.get(word) or ())
    texts = [one.get("description") for one in (schema, *branches) if isinstance(one, dict)]
    return [*dict.fromkeys(text for text in texts if isinstance(text, str) and text)]
