"""The rules of one object's members as they are read: names marked in sentences, then JSON Schema.

The grammar is in language/prose.yaml; `prose_clauses` reads clauses by it into these rules.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, combinations, permutations, product
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.language.names import split_name
from callwright.language.packs import packaged
from callwright.language.schemas import choices_of, fits, json_type
from callwright.warehouse.records import JsonSchema

_LONGEST_SENTENCE = 600  # characters
_LONGEST_TEXT = 20_000
# A marked parameter has its number between two signs, a quoted text between two others.
_OPEN, _CLOSE, _QUOTE, _UNQUOTE = "\ue000", "\ue001", "\ue002", "\ue003"
_SIGNS = re.compile("[\ue000-\ue003]")
_MARK = re.compile(rf"{_OPEN}(\d+){_CLOSE}")
_WORD = re.compile(r"\$([A-Z_]+)")
_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)[.!?](?=[\s)]|$)\)?\s*|\n\s*\n|\n\s*(?=[-*|•])")
_SHORT_NOT = re.compile(r"\b(ca)n['’]t\b|(?<=[a-z])n['’]t\b")
_BRACKETS = re.compile(r"\(([^()]*)\)")
_SLASHED = re.compile(r"(?<![\w/.-])([\w-]+)/([\w-]+)(?![\w/-])")
_PAIR = re.compile(r"[\w.-]+ ?[=:] ?[\w.-]+")  # `name=value`
_QUOTATION = re.compile(
    r"`([^`\n]+)`|\"([^\"\n]{1,60})\"|“([^”\n]{1,60})”|‘([^’\n]{1,60})’|(?<!\w)'([^'\n]{1,40})'(?!\w)"
)
# what relates parameters, in a description of the whole
# the order of times and numbers is seen to where values are drawn
# a member that only a state of the world allows is left out rather than given for nothing


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return a line of the grammar as a pattern."""
    return re.compile(_written(name), re.IGNORECASE)


@cache
def _written(name: str) -> str:
    signs = {"NAME": rf"{_OPEN}\d+{_CLOSE}", "QUOTED": rf"{_QUOTE}\d+{_UNQUOTE}"}
    if name in signs:
        return signs[name]
    stated: str = packaged("callwright.language", "prose.yaml")[name]
    return _WORD.sub(lambda found: _written(found[1]), stated)


def members_of(properties: Mapping[str, Any]) -> Iterator[tuple[str, JsonSchema]]:
    """Yield the members of an object that have a schema."""
    yield from ((name, one) for name, one in properties.items() if isinstance(one, dict))


def ruling_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a description that may state a rule."""
    if pattern("ruling").search(text):
        yield from filter(pattern("ruling").search, sentences_of(text))


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a description that are no longer than people write them."""
    whole = (" ".join(part.split()) for part in _END.split(text[:_LONGEST_TEXT]))
    yield from (one for one in whole if one and len(one) <= _LONGEST_SENTENCE)


def without_contractions(sentence: str) -> str:
    """Return a sentence with "cannot" and " not" for "can't" and "n't"."""
    return _SHORT_NOT.sub(lambda found: "cannot" if found[1] else " not", sentence)


def is_marked(name: str) -> bool:
    """Whether a name is no word of English by its form."""
    return len(split_name(name)) > 1


class Condition(NamedTuple):
    """A parameter is given (with one of `values`, if there are any), or, `is_negated`, it isn't.

    Of several `parts` all hold, or one at least if `is_any`.
    """

    name: str
    values: tuple[JsonValue, ...] = ()
    is_negated: bool = False
    parts: "tuple[Condition, ...]" = ()
    is_any: bool = False

    @property
    def names(self) -> frozenset[str]:
        """The parameters that it is about."""
        return frozenset(one.name for one in self.parts or (self,))


class ObjectRules:
    """The members of one object, and what sentences say of them."""

    def __init__(
        self,
        properties: Mapping[str, Any],
        required: frozenset[str],
        outer: frozenset[str],
        text: str,
    ) -> None:
        self.properties, self.required = dict(properties), required
        self.rules: list[JsonSchema] = []
        self.unread: dict[str, str] = {}
        self._names, self._outer = [*properties], outer
        self._pattern = _names_pattern(tuple(self._names))
        self._outside = _names_pattern(tuple(sorted(outer - {*properties})))
        self._text = text
        self._own, self._quoted = "", list[str]()

    def read(
        self, sentence: str, own: str, readers: "Sequence[Callable[[ObjectRules, str], bool]]"
    ) -> bool | None:
        """Read a sentence that describes the member `own`, or the object if that is "".

        Return True for a rule that is kept now, False for one that no schema says, whose members
        are in `unread` now, and None for no rule.
        """
        text = self.marked(sentence, own)
        found = False
        for clause in clauses_of(text):
            found |= any(reads(self, clause) for reads in readers)
        if found:
            return True
        concerned = self._concerned(sentence, text)
        self.unread |= dict.fromkeys(concerned, sentence)
        return False if concerned else None

    def marked(self, sentence: str, own: str) -> str:
        """Return a sentence that describes `own` with its parameters and quoted texts marked."""
        self._own, self._quoted = own, []
        plain = without_contractions(_SIGNS.sub("", sentence))
        return self._marked(pattern("lead").sub("", plain).rstrip(" .:;"))

    def speaks_of_members(self, sentence: str) -> bool:
        """Whether a sentence names members that are no words of English by their form."""
        return any(map(is_marked, self.names(self.marked(sentence, ""))))

    def _marked(self, sentence: str) -> str:
        """Return the sentence with its parameters and quoted texts marked."""

        def quoted(found: re.Match[str]) -> str:
            said = next(one for one in found.groups() if one is not None)
            if (named := said.removesuffix("[]")) in self.properties:
                return f"{_OPEN}{self._names.index(named)}{_CLOSE}"
            if _PAIR.fullmatch(said):
                return said
            self._quoted.append(said)
            return f"{_QUOTE}{len(self._quoted) - 1}{_UNQUOTE}"

        text = _QUOTATION.sub(quoted, sentence.replace("**", "").replace("__", ""))
        text = _SLASHED.sub(self._apart, text)
        if self._own and text.lower().startswith(f"{_spoken(self._own)} "):  # a capital begins it
            text = self._own + text[len(_spoken(self._own)) :]
        if self._pattern is not None:
            text = self._pattern.sub(self._mark, text)
        if self._own:
            text = pattern("itself").sub(f"{_OPEN}{self._names.index(self._own)}{_CLOSE}", text)
        return pattern("named").sub(r"\1", text)

    def _apart(self, found: re.Match[str]) -> str:
        """Return `a/b` as `a / b` where both are members, so that each is found."""
        both = self.properties.keys() >= {found[1], found[2]}
        return f"{found[1]} / {found[2]}" if both else found[0]

    def _mark(self, found: re.Match[str]) -> str:
        said = found[0].removesuffix("[]")
        exact = next((at for at, name in enumerate(self._names) if name == said), None)
        if exact is None:
            forms = (said.lower(), said.lower().removesuffix("s"))
            exact = next(at for at, name in enumerate(self._names) if _spoken(name) in forms)
        return f"{_OPEN}{exact}{_CLOSE}"

    def _concerned(self, sentence: str, text: str) -> tuple[str, ...]:
        """Return the members that an unread sentence rules, if it does."""
        if self._own and self._own not in self.required and self._is_read_only(text):
            return (self._own,)
        if not pattern("strong").search(text):
            return ()
        marked = {self._names[int(at)] for at in _MARK.findall(text)}
        others = {name for name in marked if name != self._own and is_marked(name)}
        outside = self._outside is not None and self._outside.search(sentence) is not None
        if self._own:
            if held := pattern("holding").fullmatch(text):  # of what is in a list
                is_own = self.subject(held["who"]) == self._own
                return (self._own,) if is_own and self._is_list(self._own) else ()
            is_own = pattern("own_rule").match(text) is not None or self._own in marked
            is_ruled = (others or outside) and not pattern("order").search(text)
            is_free = self._own not in self.required
            is_bound = is_free and pattern("bound_to").match(text) is not None
            return (self._own,) if is_own and (is_ruled or is_bound) else ()
        return tuple(sorted(others - self.required)) if pattern("relating").search(text) else ()

    def _is_read_only(self, text: str) -> bool:
        """Whether a sentence says of the described member that nobody but the server sets it."""
        told = [one for one in clauses_of(text) if {*self.names(one)} <= {self._own}]
        is_flag = json_type(self.properties[self._own]) == "boolean"  # of what it turns on
        is_told = any(pattern("read_only").fullmatch(one) for one in told)
        return is_told and not is_flag

    def _is_list(self, name: str) -> bool:
        schema = self.properties[name]
        parts = [schema, *(schema.get("allOf") or ())] if isinstance(schema, dict) else []
        return any(isinstance(one, dict) and json_type(one) == "array" for one in parts)

    # ---- what is read of clauses ----

    def name(self, mark: str) -> str:
        """Return the member of a mark."""
        found = _MARK.search(mark)
        return self._names[int(found[1])] if found else ""

    def names(self, text: str) -> list[str]:
        """Return the members marked in a text, in order."""
        return [*dict.fromkeys(self._names[int(at)] for at in _MARK.findall(text))]

    def subject(self, mark: str | None) -> str:
        """Return the member that a clause is about: the marked one, else the described one."""
        return self.name(mark) if mark else self._own

    def values(self, text: str, name: str, *, is_sure: bool = False) -> tuple[JsonValue, ...]:
        """Return the values of a member that a text lists, () if they may be other words.

        They are choices, the example or the default; or, if `is_sure`, whatever has their type.
        """
        schema = self.properties[name]
        if not isinstance(schema, dict):
            return ()
        inner = schema.get("items") if json_type(schema) == "array" else schema
        inner = inner if isinstance(inner, dict) else {}
        said = self._said(text, {str(one) for one in _choices_in(inner)})
        is_sure = is_sure or any(self._is_shown(name, one) for one in said)
        found = [self._value(one, name, inner, is_sure=is_sure) for one in said]
        return () if None in found else tuple(found)

    def _said(self, text: str, choices: Collection[str]) -> list[str]:
        """Return the texts of a list of values; `a/b` is two where both are choices."""
        found = (one for one in pattern("VALUE").findall(text) if one.lower() not in ("or", "and"))
        parts = [self.name(one) if one.startswith(_OPEN) else one for one in found]
        return [
            one
            for part in parts
            for one in (part.split("/") if len({*part.split("/")} & {*choices}) > 1 else [part])
        ]

    def _is_shown(self, name: str, said: str) -> bool:
        """Whether the text shows a parameter with this very value, as `name=value`."""
        shown = rf"(?<![\w.-]){re.escape(name)}[\"'`]? ?[=:] ?[\"'`]?{re.escape(said)}(?![\w-])"
        return re.search(shown, self._text) is not None

    def _value(self, part: str, name: str, inner: JsonSchema, *, is_sure: bool) -> JsonValue:
        is_quoted = part.startswith(_QUOTE)
        said = self._quoted[int(part[1:-1])] if is_quoted else part.strip(".:")
        choices = [*_choices_in(inner)]
        schema = self.properties[name]
        known = [*choices, *(schema.get("examples") or ()), schema.get("default")]
        for one in known:
            if isinstance(one, str | int | float) and str(one).lower() == said.lower():
                return one
        if choices:
            return None
        match json_type(inner):
            case "boolean":
                return {"true": True, "false": False, "1": True, "0": False}.get(said.lower())
            case "integer" | "number" if re.fullmatch(r"-?\d+(\.\d+)?", said):
                return float(said) if "." in said else int(said)
            case "string" if is_quoted or is_sure or re.search(r"[\d_A-Z]", said[1:]):
                return said if fits(said, inner) else None
            case _:
                return None

    def condition(self, text: str) -> Condition | None:
        """Return what a whole text says of one member, or None if it says something else."""
        text = text.strip(" .,")
        if found := pattern("lacking_one").fullmatch(text):
            return Condition(self.name(found[0]), is_negated=True)
        if found := pattern("given").fullmatch(text):
            return Condition(self.name(found[0]), is_negated="not " in found[0].lower())
        if found := pattern("equality").fullmatch(text):
            name = self.name(found["name"])
            values = self.values(found["values"], name, is_sure=True)
            is_other = bool(found["not"]) or "other than" in text
            return Condition(name, values, is_other) if values else None
        if found := pattern("reversed").fullmatch(text):
            name = self.name(found["name"] or found["kind"])
            values = self.values(found["values"] or found["other"], name)
            return Condition(name, values, bool(found["not"])) if values else None
        if (chosen := self._chosen(text)) is not None:
            return chosen
        if found := pattern("given_several").fullmatch(text):
            is_absent = bool(found["neither"] or found["not"] or found["absent"])
            parts = [Condition(one, is_negated=is_absent) for one in self.names(found["names"])]
            is_any = re.search(r"\bor\b", found["names"]) is not None and not found["neither"]
            return Condition("", parts=tuple(parts), is_any=is_any)
        found = pattern("own_value").fullmatch(text) if self._own else None
        values = self.values(found["values"], self._own) if found else ()
        return Condition(self._own, values) if values else self._joined(text)

    def _joined(self, text: str) -> Condition | None:
        """Return several conditions joined by "and" or "or", or None if a part is none."""
        for joint in ("and", "or"):
            split = re.split(rf",? {joint} (?!{_QUOTE})", text)
            told = [self.condition(one) for one in split] if len(split) > 1 else []
            parts = [one for one in told if one is not None and not one.parts]
            if parts and len(parts) == len(told):
                return Condition("", parts=tuple(parts), is_any=joint == "or")
        return None

    def _chosen(self, text: str) -> Condition | None:
        """Return the condition that a text makes by naming only choices of another member."""
        found = pattern("choices").fullmatch(text)
        if found is None:
            return None
        owners: list[Condition] = []
        for name, schema in members_of(self.properties):
            choices = {one for one in _choices_in(schema) if isinstance(one, str)}
            parts = self._said(found["values"], choices)
            said = [self._quoted[int(one[1:-1])] if one[0] == _QUOTE else one for one in parts]
            if name != self._own and choices and choices.issuperset(said):
                owners.append(Condition(name, tuple(said)))
        return owners[0] if len(owners) == 1 else None

    # ---- what becomes of it ----

    def holds(self, condition: Condition) -> JsonSchema:
        """Return the schema of an object in which a condition holds, without its negation."""
        if condition.parts:
            word = "anyOf" if condition.is_any else "allOf"
            held = ((one, self.holds(one)) for one in condition.parts)
            return {word: [{"not": told} if one.is_negated else told for one, told in held]}
        if not condition.values:
            return {"required": [condition.name]}
        values = [*condition.values]
        value: JsonSchema = {"const": values[0]} if len(values) == 1 else {"enum": values}
        if json_type(self.properties[condition.name]) == "array":
            value = {"contains": value}
        return {"properties": {condition.name: value}, "required": [condition.name]}

    def add(self, rule: JsonSchema) -> bool:
        """Keep a rule about several members."""
        if rule not in self.rules:
            self.rules.append(rule)
        return True

    def demand(self, names: Sequence[str], condition: Condition | None = None) -> bool:
        """Require members, under a condition if there is one."""
        missing = [one for one in names if one not in self.required]
        if condition is None:
            return bool(missing) and self.add({"required": missing})
        if not condition.names.isdisjoint(names):
            return False
        branch = "else" if condition.is_negated else "then"
        needed = {"required": [*names]}
        return not missing or self.add({"if": self.holds(condition), branch: needed})

    def bind(self, name: str, condition: Condition) -> bool:
        """Let a member be given only under a condition."""
        if condition.is_negated:
            return self.ban(name, condition._replace(is_negated=False))
        held = self.holds(condition)
        if name in condition.names:
            return False
        if name in self.required:
            return self.add(held)
        return self.add({"anyOf": [_without(name), held]})

    def ban(self, name: str, condition: Condition) -> bool:
        """Let a member not be given under a condition."""
        if condition.is_negated:
            return self.bind(name, condition._replace(is_negated=False))
        if name in condition.names or {name, *condition.names} <= self.required:
            return False
        is_plain = not condition.values and not condition.parts
        other = _without(condition.name) if is_plain else {"not": self.holds(condition)}
        return self.add({"anyOf": [_without(name), other]})

    def tell_kinds(self, *, is_inside: bool) -> None:
        """Hold a kind to the object beside it that is called like it: {"type": "card", "card": {}}.

        No document says so in words where the names do. Of a tool's own parameters the schema of
        the whole call says it.
        """
        for name, schema in members_of(self.properties if is_inside else {}):
            choices = [one for one in choices_of(schema) if isinstance(one, str)]
            for own in choices if len(choices) > 1 else ():
                member = self.properties.get(own)
                if not isinstance(member, dict) or json_type(member) != "object" or own == name:
                    continue
                mine = Condition(name, (own,))
                if own in self.unread:  # it is not given, so its kind isn't
                    self.add({"not": self.holds(mine)})
                    continue
                self.demand([own], mine)
                self.ban(own, Condition(name, tuple(one for one in choices if one != own)))

    def exclude(self, units: Sequence[Sequence[str]]) -> bool:
        """Let members of one unit at most be given; those of a unit go together."""
        for one, other in combinations(units, 2):
            for first, second in product(one, other):
                self.ban(first, Condition(second))
        for first, second in chain.from_iterable(permutations(unit, 2) for unit in units):
            self.bind(first, Condition(second))
        return len(units) > 1

    def group(self, names: Sequence[str], *, least: int, most: int | None) -> bool:
        """Require one of several members at least, or at most, or both."""
        if len(names) < 2:  # noqa: PLR2004 - one is no choice
            return False
        if most is not None:
            for one, other in combinations(names, 2):
                self.ban(one, Condition(other))
        if least and not self.required & {*names}:
            self.add({"anyOf": [{"required": [one]} for one in names]})
        return True

    def limit(self, name: str, words: JsonSchema) -> bool:
        """Narrow a member's own schema, unless its example or default says otherwise."""
        schema = self.properties.get(name)
        if not isinstance(schema, dict) or not words or "$ref" in schema:
            return False
        shown = [
            *(schema.get("examples") or ()),
            *([schema["default"]] if schema.get("default") else []),
        ]
        narrowed = {**schema, **words}
        if shown and not any(fits(one, narrowed) for one in shown):
            return False
        if "enum" in words:
            narrowed["examples"] = words["enum"]
        self.properties[name] = narrowed
        return True


def clauses_of(text: str) -> Iterator[str]:
    """Yield a marked sentence's clauses: whole, without what is in brackets, and that."""
    for part in re.split(
        rf"; | while (?={_OPEN})| and (?=ignored|not allowed)| [-—–] (?=only |required )", text
    ):
        yield part.strip()
        yield from re.split(r", (?=(?:and )?(?:required|only|ignored|mandatory) )", part)[1:]
        if "(" in part and not pattern("required_lead").match(part):
            yield " ".join(_BRACKETS.sub(" ", part).split())
            yield from (one.strip() for one in _BRACKETS.findall(part))


def _choices_in(schema: JsonSchema) -> list[object]:
    """Return a schema's choices, or those of its alternatives."""
    branches = [one for word in ("anyOf", "oneOf") for one in schema.get(word) or ()]
    inner = (one for branch in branches if isinstance(branch, dict) for one in choices_of(branch))
    return [*choices_of(schema)] or [*inner]


def _without(name: str) -> JsonSchema:
    return {"not": {"required": [name]}}


@lru_cache(4096)
def _names_pattern(names: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return a pattern that finds the names, or those of several words as people say them."""
    if not names:
        return None
    exact = [re.escape(name) for name in sorted(names, key=len, reverse=True)]
    spoken = [f"{re.escape(_spoken(name))}s?" for name in names if is_marked(name)]
    parts = "|".join((*exact, *(f"(?i:{one})" for one in sorted(spoken, key=len, reverse=True))))
    return re.compile(rf"(?<![\w.$/-])(?:{parts})(?:\[\])?(?![\w$/-]|\.\w|\[\w)")


@lru_cache(65536)
def _spoken(name: str) -> str:
    return " ".join(split_name(name))
