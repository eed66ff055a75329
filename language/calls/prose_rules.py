"""Rules about a call's parameters that descriptions state in English prose and no schema does.

A sentence is read with its parameters marked, by few patterns: a demand or a ban, the parameters
that it is about, and a condition on others. What is read becomes JSON Schema, for making samples
alone: a sentence that is read wrongly must not make a right call wrong (docs/decisions/0076).
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.language.names import split_name
from callwright.language.schemas import choices_of, fits, json_type
from callwright.warehouse.records import JsonSchema

_DEEPEST = 6
_LONGEST_SENTENCE = 600  # characters
_LONGEST_TEXT = 20_000


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
    unread: Mapping[str, str]
    is_plain: bool  # the schema says no more than before


def read_rules(description: str, parameters: JsonSchema) -> ReadProse:
    """Return the rules that a tool's description and those of its parameters state.

    >>> schema = {"properties": {"mail": {"type": "string"}, "phone": {"type": "string"}}}
    >>> read_rules("Either mail or phone is required.", schema).schema["allOf"]
    [{'anyOf': [{'required': ['mail']}, {'required': ['phone']}]}]
    """
    rules: dict[ProseRule, None] = {}
    texts = [description, str(parameters.get("description") or "")]
    schema, unread = _with_rules(parameters, texts, (), frozenset(), rules)
    return ReadProse(schema, tuple(rules), unread, schema is parameters)


_Read = tuple[JsonSchema, Mapping[str, str]]


def _with_rules(
    schema: JsonSchema,
    texts: Sequence[str],
    path: tuple[str, ...],
    outer: frozenset[str],
    rules: dict[ProseRule, None],
) -> _Read:
    """Return an object's schema with the rules of its members, and the members of unread ones.

    `texts` describe the object as a whole, `outer` are names of parameters around it.
    """
    properties = schema.get("properties")
    if not isinstance(properties, dict) or len(path) > _DEEPEST:
        return schema, {}
    required = frozenset(schema.get("required") or ())
    scope = _Scope(properties, required, outer, " ".join(texts))
    told = [("", text) for text in dict.fromkeys(texts)]
    told += [(name, str(one.get("description") or "")) for name, one in _dicts(properties)]
    for name, text in told:
        for sentence in _sentences(text):
            if (is_read := scope.read(sentence, name)) is not None:
                rules[ProseRule(".".join((*path, name) if name else path), sentence, is_read)] = (
                    None
                )
    inside = outer | {one for one in properties if _is_marked(one)}
    for name, one in _dicts(dict(scope.properties)):
        scope.properties[name], unread = _with_members(one, (*path, name), inside, rules)
        scope.unread |= {name: sentence for sentence in unread.values()}
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


def _with_members(
    schema: JsonSchema, path: tuple[str, ...], outer: frozenset[str], rules: dict[ProseRule, None]
) -> _Read:
    """Return a value's schema with the rules of the objects in it, and what is unread there."""
    if isinstance(schema.get("properties"), dict):
        return _with_rules(schema, [str(schema.get("description") or "")], path, outer, rules)
    items = schema.get("items")
    if not isinstance(items, dict) or len(path) > _DEEPEST:
        return schema, {}
    inner, unread = _with_members(items, (*path, "items"), outer, rules)
    return schema if inner is items else {**schema, "items": inner}, unread


def _dicts(properties: Mapping[str, Any]) -> Iterator[tuple[str, JsonSchema]]:
    yield from ((name, one) for name, one in properties.items() if isinstance(one, dict))


# ---- sentences ----

_RULING = re.compile(
    r"\b(?:must|shall|should|requires?|required|mandatory|need(?:s|ed)?|ha(?:s|ve) to|only|cannot|can not"
    r"|may not|not|ignored|unless|exclusive|incompatible|either|one of|both|at least|at most|max|maximum|min"
    r"|minimum|up to|between|accepts?|decimals?|decimal|read-only|together|conjunction)\b",
    re.IGNORECASE,
)
_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)[.!?](?=[\s)]|$)\)?\s*|\n\s*\n|\n\s*(?=[-*|•])")
_LEAD = re.compile(
    r"^(?:[\s>*\-•|]|__|note(?: that)?\b|important\b|warning\b|[:,]|however,|currently,|please)+",
    re.IGNORECASE,
)


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a description that may state a rule."""
    if not _RULING.search(text):
        return
    for part in _END.split(text[:_LONGEST_TEXT]):
        sentence = " ".join(part.split())
        if len(sentence) <= _LONGEST_SENTENCE and _RULING.search(sentence):
            yield sentence


def _is_marked(name: str) -> bool:
    """Whether a name is no word of English by its form."""
    return len(split_name(name)) > 1


# A marked parameter is NAME, with its number; a quoted text is QUOTED. Neither is in any document.
_OPEN, _CLOSE, _QUOTE, _UNQUOTE = "\ue000", "\ue001", "\ue002", "\ue003"
_MARK = rf"{_OPEN}(\d+){_CLOSE}"
_NAME = rf"{_OPEN}\d+{_CLOSE}"
_NOUN = (
    r"(?:(?:query|request|body|optional|input) )*(?:parameters?|params?|fields?|propert(?:y|ies)|attributes?|arguments?"
    r"|args?|values?|flags?|filters?|options?|inputs?|objects?|arrays?|lists?|headers?|string|settings?)"
)
_TIDY = re.compile(
    rf"(?:\b(?:the|a|an|any|your) )?(?:\bvalues? (?:for|of) )?(?:\b(?:the|a|an) )?(?:\b{_NOUN} )?({_NAME})(?: {_NOUN}\b){{0,2}}"
)
_SELF = re.compile(
    rf"(?:^|(?<=, )|(?<=; )|(?<=either )|(?<=to use )|(?<=and ))(?:(?:this|these|the) {_NOUN}|it|this)\b",
    re.IGNORECASE,
)
_VALUE = rf"(?:{_QUOTE}\d+{_UNQUOTE}|{_NAME}|[\w$][\w$./:+-]*)"
_JOINT = r"(?:,? (?:and/or|or|and) |, ?)"
_VALUES = rf"{_VALUE}(?:{_JOINT}{_VALUE})*"
_NAMES = rf"{_NAME}(?:(?:{_JOINT}| ?/ ?){_NAME})*"
_SEVERAL = rf"{_NAME}(?:(?:{_JOINT}| ?/ ?){_NAME})+"
_GIVEN = r"(?:provided|specified|set|present|given|included|supplied|passed(?: in)?|used|defined|sent|populated|submitted|enabled)"
_GIVE = r"(?:provid|specify|specif|suppl|includ|pass|us|giv|sett|set|send|submit|omitt|add)(?:y|e|ing|es)?"
_ABSENT = r"(?:omitted|missing|absent|empty|blank|null|left (?:out|empty|blank)|unset|unspecified)"
_BE = r"(?:is|are|was|were|be|being)"
_FILLER = r"(?: (?:as well|too|also|in (?:the|this|your) (?:request(?: body)?|body|query|call)|at the same time))?"
_MUST = r"(?:must|shall|should|has to|have to|needs? to)"
_IF = r"(?:if|when|whenever|for|with|where|in case|while|to)"
_BAN = (
    rf"(?:(?:cannot|can not|may not|must not|should not) be (?:{_GIVEN}|combined|mixed)"
    r"|(?:is |are )?(?:not (?:allowed|supported|valid|applicable|permitted|accepted|considered)|disallowed|prohibited|forbidden"
    r"|ignored|not used)|(?:will be|gets|are|be) ignored"
    rf"|{_MUST} (?:not be {_GIVEN}|be {_ABSENT}))"
)
_SOLE = (
    r"(?:valid|applicable|used|allowed|accepted|supported|considered|relevant|available|permitted|usable|effective|honou?red"
    r"|meaningful|respected|specified|set|provided|present|included|applied|passed|possible|specify|use|apply|applies)"
)
_ONLY = (
    rf"(?:(?:(?:is|are|can be|may be|will be|{_MUST} be) )?(?:only {_SOLE}|{_SOLE} only)"
    rf"|only(?= (?:if|when|for|with) )|(?:can|may|{_MUST}|will) only be {_SOLE}|(?:only )?applies(?: only)?|(?:use|for use|valid) only|exclusively {_SOLE})"
)
_NEED = rf"(?:(?:is |are )?(?:also |only )?(?:required|mandatory|needed)|{_MUST} (?:also |only )?be (?:{_GIVEN}|non-empty|not empty)|{_MUST} not be empty)"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


class _Condition(NamedTuple):
    """A parameter is given (with one of `values`, if there are any), or, `is_negated`, it isn't."""

    name: str
    values: tuple[JsonValue, ...] = ()
    is_negated: bool = False


class _Scope:
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

    def read(self, sentence: str, own: str) -> bool | None:
        """Read a sentence that describes the member `own`, or the object if that is "".

        Return True for a rule that is kept now, False for one that no schema says, whose members
        are in `unread` now, and None for no rule.
        """
        self._own, self._quoted = own, []
        plain = _SHORT_NOT.sub(lambda found: "cannot" if found[1] else " not", sentence)
        text = self._marked(_LEAD.sub("", plain).rstrip(" .:;"))
        found = False
        for clause in _clauses(text):
            found |= any(reads(self, clause) for reads in _READERS)
        if found:
            return True
        concerned = self._concerned(sentence, text)
        self.unread |= dict.fromkeys(concerned, sentence)
        return False if concerned else None

    def _marked(self, sentence: str) -> str:
        """Return the sentence with its parameters and quoted texts marked."""

        def quoted(found: re.Match[str]) -> str:
            said = next(one for one in found.groups() if one is not None)
            if said in self.properties:
                return f"{_OPEN}{self._names.index(said)}{_CLOSE}"
            self._quoted.append(said)
            return f"{_QUOTE}{len(self._quoted) - 1}{_UNQUOTE}"

        text = _QUOTATION.sub(quoted, sentence.replace("**", "").replace("__", ""))
        if self._own and text.lower().startswith(f"{_spoken(self._own)} "):  # a capital begins it
            text = self._own + text[len(_spoken(self._own)) :]
        if self._pattern is not None:
            text = self._pattern.sub(self._mark, text)
        if self._own:
            text = _SELF.sub(f"{_OPEN}{self._names.index(self._own)}{_CLOSE}", text)
        return _TIDY.sub(r"\1", text)

    def _mark(self, found: re.Match[str]) -> str:
        said = found[0].removesuffix("[]")
        exact = next((at for at, name in enumerate(self._names) if name == said), None)
        if exact is None:
            forms = (said.lower(), said.lower().removesuffix("s"))
            exact = next(at for at, name in enumerate(self._names) if _spoken(name) in forms)
        return f"{_OPEN}{exact}{_CLOSE}"

    def _concerned(self, sentence: str, text: str) -> tuple[str, ...]:
        """Return the members that an unread sentence rules, if it does."""
        if not _STRONG.search(text):
            return ()
        marked = {self._names[int(at)] for at in re.findall(_MARK, text)}
        others = {name for name in marked if name != self._own and _is_marked(name)}
        outside = self._outside is not None and self._outside.search(sentence) is not None
        if self._own:
            is_own = _OWN_RULE.match(text) is not None or self._own in marked
            is_ruled = (others or outside) and not _ORDER.search(text)
            is_bound = self._own not in self.required and _BOUND_TO.match(text) is not None
            return (self._own,) if is_own and (is_ruled or is_bound) else ()
        return tuple(sorted(others - self.required)) if _RELATING.search(text) else ()

    # ---- what is read of clauses ----

    def name(self, mark: str) -> str:
        """Return the member of a mark."""
        found = re.search(_MARK, mark)
        return self._names[int(found[1])] if found else ""

    def names(self, text: str) -> list[str]:
        """Return the members marked in a text, in order."""
        return [*dict.fromkeys(self._names[int(at)] for at in re.findall(_MARK, text))]

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
        said = self._said(text, {str(one) for one in choices_of(inner)})
        is_sure = is_sure or any(self._is_shown(name, one) for one in said)
        found = [self._value(one, name, inner, is_sure=is_sure) for one in said]
        return () if None in found else tuple(found)

    def _said(self, text: str, choices: Collection[str]) -> list[str]:
        """Return the texts of a list of values; `a/b` is two where both are choices."""
        found = (one for one in re.findall(_VALUE, text) if one.lower() not in ("or", "and"))
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
        choices = [*choices_of(inner)]
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

    def condition(self, text: str) -> _Condition | None:
        """Return what a whole text says of one member, or None if it says something else."""
        text = text.strip(" .,")
        for pattern, is_negated in _PRESENCES:
            if found := pattern.fullmatch(text):
                name = self.name(found[0])
                return _Condition(name, (), is_negated or "not " in found[0].lower())
        if found := _EQUALITY.fullmatch(text):
            name = self.name(found["name"])
            values = self.values(found["values"], name, is_sure=True)
            is_plain = not re.fullmatch(rf"{_GIVEN}|{_ABSENT}", found["values"])
            is_other = bool(found["not"]) or "other than" in text
            return _Condition(name, values, is_other) if values and is_plain else None
        if found := _REVERSED.fullmatch(text):
            name = self.name(found["name"] or found["kind"])
            values = self.values(found["values"] or found["other"], name)
            return _Condition(name, values, bool(found["not"])) if values else None
        if self._own and (found := _OWN_VALUE.fullmatch(text)):
            values = self.values(found["values"], self._own)
            return _Condition(self._own, values) if values else None
        return self._chosen(text)

    def _chosen(self, text: str) -> _Condition | None:
        """Return the condition that a text makes by naming only choices of another member."""
        found = _CHOICES.fullmatch(text)
        if found is None:
            return None
        owners: list[_Condition] = []
        for name, schema in _dicts(self.properties):
            choices = {one for one in choices_of(schema) if isinstance(one, str)}
            parts = self._said(found["values"], choices)
            said = [self._quoted[int(one[1:-1])] if one[0] == _QUOTE else one for one in parts]
            if name != self._own and choices and choices.issuperset(said):
                owners.append(_Condition(name, tuple(said)))
        return owners[0] if len(owners) == 1 else None

    # ---- what becomes of it ----

    def holds(self, condition: _Condition) -> JsonSchema:
        """Return the schema of an object in which a condition holds, without its negation."""
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

    def demand(self, names: Sequence[str], condition: _Condition | None = None) -> bool:
        """Require members, under a condition if there is one."""
        missing = [one for one in names if one not in self.required]
        if condition is None:
            return bool(missing) and self.add({"required": missing})
        if condition.name in names:
            return False
        branch = "else" if condition.is_negated else "then"
        needed = {"required": [*names]}
        return not missing or self.add({"if": self.holds(condition), branch: needed})

    def bind(self, name: str, condition: _Condition) -> bool:
        """Let a member be given only under a condition."""
        if condition.is_negated:
            return self.ban(name, condition._replace(is_negated=False))
        held = self.holds(condition)
        if name == condition.name:
            return False
        if name in self.required:
            return self.add(held)
        return self.add({"anyOf": [_without(name), held]})

    def ban(self, name: str, condition: _Condition) -> bool:
        """Let a member not be given under a condition."""
        if condition.is_negated:
            return self.bind(name, condition._replace(is_negated=False))
        if name == condition.name or {name, condition.name} <= self.required:
            return False
        absent = _without(condition.name)
        other = {"not": self.holds(condition)} if condition.values else absent
        return self.add({"anyOf": [one for one in (_without(name), other)]})

    def group(self, names: Sequence[str], *, least: int, most: int | None) -> bool:
        """Require one of several members at least, or at most, or both."""
        if len(names) < 2:  # noqa: PLR2004 - one is no choice
            return False
        if most is not None:
            for one, other in combinations(names, 2):
                self.ban(one, _Condition(other))
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


def _clauses(text: str) -> Iterator[str]:
    """Yield a marked sentence's clauses: whole, without what is in brackets, and that."""
    for part in re.split(r"; | and (?=ignored|not allowed)| [-—–] (?=only |required )", text):
        yield part.strip()
        yield from re.split(r", (?=(?:and )?(?:required|only|ignored|mandatory) )", part)[1:]
        if "(" in part and not _REQUIRED_LEAD.match(part):
            yield " ".join(_BRACKETS.sub(" ", part).split())
            yield from (one.strip() for one in _BRACKETS.findall(part))


_SHORT_NOT = re.compile(r"\b(ca)n['’]t\b|(?<=[a-z])n['’]t\b")
_BRACKETS = re.compile(r"\(([^()]*)\)")


def _without(name: str) -> JsonSchema:
    return {"properties": {name: False}}


@lru_cache(4096)
def _names_pattern(names: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return a pattern that finds the names, as they are or as people say those of several words."""
    if not names:
        return None
    exact = [re.escape(name) for name in sorted(names, key=len, reverse=True)]
    spoken = [f"{re.escape(_spoken(name))}s?" for name in names if _is_marked(name)]
    parts = "|".join((*exact, *(f"(?i:{one})" for one in sorted(spoken, key=len, reverse=True))))
    return re.compile(rf"(?<![\w.$/-])(?:{parts})(?:\[\])?(?![\w$/-]|\.\w|\[\w)")


@lru_cache(65536)
def _spoken(name: str) -> str:
    return " ".join(split_name(name))


_QUOTATION = re.compile(
    r"`([^`\n]+)`|\"([^\"\n]{1,60})\"|“([^”\n]{1,60})”|‘([^’\n]{1,60})’|(?<!\w)'([^'\n]{1,40})'(?!\w)"
)
_STRONG = _compiled(
    r"\b(?:must|required|requires|mandatory|cannot|can not|may not|not allowed|only|ignored|unless|exclusive|either|incompatible)\b"
)
# what relates parameters, in a description of the whole
_RELATING = _compiled(
    rf"\b(?:mutually exclusive|(?:cannot|can not|may not|must not) be (?:{_GIVEN}|combined)"
    rf"|required (?:if|when|unless)|must (?:also )?be {_GIVEN}|ignored (?:if|when|unless)|only {_SOLE} (?:if|when|with))\b"
)
_OWN_RULE = _compiled(
    rf"(?:only|ignored|required|requires|mandatory|must|cannot|can not|may not|not (?:allowed|valid|supported|applicable)"
    rf"|{_ONLY}|{_BAN}|{_NEED}|either|mutually)\b"
)
# the order of times and numbers is seen to where values are drawn
_ORDER = _compiled(
    rf"\b(?:after|before|later|earlier|greater|less|larger|smaller|higher|lower)\b.*{_NAME}"
)
# a member that only a state of the world allows is left out rather than given for nothing
_BOUND_TO = _compiled(
    rf"(?:{_NAME} )?(?:(?:{_ONLY}|{_BAN}) (?:if|when|for|with|to|on|by)\b|ignored (?:if|when|for|unless|on)\b|.*\bread-only\b(?! access))"
)
_PRESENCES = (
    (_compiled(rf"(?:both )?{_NAME} (?:{_BE} )?(?:also )?(?:not )?{_GIVEN}{_FILLER}"), False),
    (
        _compiled(
            rf"(?:no )?{_NAME} {_BE} {_ABSENT}{_FILLER}|no {_NAME}(?: {_BE} {_GIVEN})?|without {_NAME}"
        ),
        True,
    ),
    (_compiled(rf"(?:you (?:are )?)?(?:not )?{_GIVE} {_NAME}{_FILLER}"), False),
    (_compiled(rf"(?:you )?do not {_GIVE} {_NAME}{_FILLER}|omitting {_NAME}"), True),
    (_compiled(rf"{_NAME}{_FILLER}"), False),
)
_EQUALITY = _compiled(
    rf"(?:you set |setting )?(?:the (?:\w+ )?)?(?P<name>{_NAME}) ?(?:(?:{_BE}|equals?|has|=|==|:|of|to)(?: |(?<=[=:]))|(?=set to ))"
    rf"(?P<not>not )?(?:(?:set|equal) to |(?:the |a )?values?(?: of)? |one of |either |of type |other than |anything other than )*"
    rf"(?P<values>{_VALUES}){_FILLER}"
)
_REVERSED = _compiled(
    rf"(?:an? |the )?(?P<values>{_VALUES}) (?P<name>{_NAME})|(?P<not>all|any) (?P<kind>{_NAME}) (?:except|but|other than) (?P<other>{_VALUES})"
)
_OWN_VALUE = _compiled(rf"(?:(?:it is |this is )?(?:set|equal) to )?(?P<values>{_VALUES})")
_CHOICES = _compiled(rf"(?:the )?(?:type |types |mode )?(?P<values>{_VALUES})(?: types?| mode)?")


# ---- readers: each reads one shape of clause, and says whether it did ----

_REQUIRED = _compiled(
    rf"\(?required\)?(?: (?:field|parameter|property))?|(?P<who>{_NAME}) (?:is|are) (?:always )?required"
)
_REQUIRED_LEAD = re.compile(r"\((?:required|mandatory)\)", re.IGNORECASE)
_REQUIRED_NAMES = _compiled(
    rf"(?:you |the request |the body |requests |the request body )(?:must|need to|have to) (?:also )?(?:include|specify|provide|pass|contain|supply|set)"
    rf"(?: both| at least)? (?P<names>{_NAMES})|(?P<both>{_SEVERAL}) (?:are|must)(?: both| all)? (?:required|be {_GIVEN})"
)


def _reads_required(scope: _Scope, clause: str) -> bool:
    if found := _REQUIRED.fullmatch(clause):
        name = scope.subject(found["who"])
        return bool(name) and scope.demand([name])
    if found := _REQUIRED_NAMES.fullmatch(clause):
        listed = found["names"] or found["both"]
        if re.search(r"\bor\b|/", listed):
            return scope.group(scope.names(listed), least=1, most=None)
        return scope.demand(scope.names(listed))
    return False


_NEEDED_IF = _compiled(
    rf"(?:(?P<who>{_NAME}) )?(?P<need>{_NEED})(?P<and> and (?:only )?allowed)? (?P<if>(?:only )?(?:if and only if|{_IF}|unless)) (?P<condition>.+?)"
    rf"(?:[,(] ?(?:and )?(?P<tail>(?:otherwise|not|is not|optional|ignored|it).*))?"
)


_LACKING = _compiled(
    rf"(?:neither )?{_NAME}(?:(?:{_JOINT}| nor ){_NAME})+ (?:{_BE} not|{_BE} {_ABSENT}|{_BE}) ?(?:{_GIVEN})?"
)


def _reads_needed_if(scope: _Scope, clause: str) -> bool:
    found = _NEEDED_IF.fullmatch(clause)
    name = scope.subject(found["who"]) if found else ""
    if found and name and (lacking := _LACKING.fullmatch(found["condition"])):
        return scope.group([name, *scope.names(lacking[0])], least=1, most=None)
    condition = scope.condition(found["condition"]) if found else None
    if found is None or not name or condition is None:
        return False
    if found["if"].lower() in ("with", "to", "for") and condition.name == name:
        return False
    if found["if"].lower() == "unless":
        condition = condition._replace(is_negated=not condition.is_negated)
    tail = (found["tail"] or "").lower()
    if (
        "only if" in found["if"].lower()
        or found["and"]
        or re.match(r"(otherwise|not|ignored)\b.*", tail)
    ):
        scope.bind(name, condition)
    return scope.demand([name], condition)


_BOUND = _compiled(
    rf"(?:(?P<who>{_NAME}) )?(?P<kind>{_ONLY}|{_BAN}) (?P<if>{_IF}|unless|on|alongside|together with|in combination with|along with|in conjunction with)"
    rf" (?P<condition>.+?)(?:[,(] ?(?:and )?(?P<tail>(?:otherwise|else|required).*))?"
)
_BANS = _compiled(_BAN)


def _reads_bound(scope: _Scope, clause: str) -> bool:
    found = _BOUND.fullmatch(clause)
    name = scope.subject(found["who"]) if found else ""
    if found is None or not name:
        return False
    is_ban = _BANS.fullmatch(found["kind"]) is not None
    several = re.fullmatch(_SEVERAL, found["condition"], re.IGNORECASE)
    conditions = (
        [_Condition(one) for one in scope.names(found["condition"])]
        if several and is_ban
        else [scope.condition(found["condition"])]
    )
    if found["if"].lower() == "unless":
        conditions = [one and one._replace(is_negated=not one.is_negated) for one in conditions]
    known = [one for one in conditions if one is not None and one.name != name]
    return bool(known) and all([(scope.ban if is_ban else scope.bind)(name, one) for one in known])


_LED = _compiled(r"(?P<if>if|when|whenever|unless) (?P<condition>.+?), (?:then )?(?P<rest>.+)")
_NEEDS = _compiled(
    rf"(?:(?:you )?{_MUST} (?:also )?(?:provide|specify|include|pass|set|supply|use|send) )?(?P<names>{_NAMES})"
    rf"(?: (?:is|are) (?:also )?(?:required|mandatory)| {_MUST} (?:also )?be {_GIVEN}(?! to))?(?P<more>(?:,? (?:and|as)|,) .*)?{_FILLER}"
)
_BANNED = _compiled(
    rf"(?P<names>{_NAMES})(?: and \w+)? {_BAN}(?: .*)?|do not {_GIVE} (?P<others>{_NAMES})"
)
_SET_TO = _compiled(
    rf"(?P<name>{_NAME}) (?:{_MUST}|can only|may only) (?:be|equal) (?:set to |one of |either )?(?P<values>{_VALUES})"
)


def _reads_led(scope: _Scope, clause: str) -> bool:
    """Read a condition with its consequence behind a comma."""
    found = _LED.fullmatch(clause)
    condition = scope.condition(found["condition"]) if found else None
    if found is None or condition is None:
        return False
    if found["if"].lower() == "unless":
        condition = condition._replace(is_negated=not condition.is_negated)
    rest = found["rest"]
    if banned := _BANNED.fullmatch(rest):
        return all([scope.ban(one, condition) for one in scope.names(banned[0])])
    if stated := _SET_TO.fullmatch(rest):
        return _set_if(scope, stated, condition)
    needs = _NEEDS.fullmatch(rest)
    if (
        needs is None
        or rest.strip() == needs["names"]
        or not _compiled(rf"\b(?:{_MUST}|required|mandatory)\b").search(rest)
    ):
        return False
    names = scope.names(needs["names"])
    if re.search(r"\bor\b", needs["names"]):
        branch = "else" if condition.is_negated else "then"
        any_of = {"anyOf": [{"required": [one]} for one in names]}
        return scope.add({"if": scope.holds(condition), branch: any_of})
    return scope.demand(names, condition)


_SET_IF = _compiled(rf"{_SET_TO.pattern} (?:if|when|for|whenever) (?P<condition>.+)")


def _set_if(scope: _Scope, found: re.Match[str], condition: _Condition) -> bool:
    name = scope.name(found["name"])
    values = [*scope.values(found["values"], name)]
    if not values or name == condition.name or json_type(scope.properties[name]) == "array":
        return False
    stated: JsonSchema = {"const": values[0]} if len(values) == 1 else {"enum": values}
    branch = "else" if condition.is_negated else "then"
    return scope.add({"if": scope.holds(condition), branch: {"properties": {name: stated}}})


def _reads_set_if(scope: _Scope, clause: str) -> bool:
    found = _SET_IF.fullmatch(clause)
    condition = scope.condition(found["condition"]) if found else None
    return found is not None and condition is not None and _set_if(scope, found, condition)


_ASKING = r"(?:you |callers |the request |requests )?(?:must|should|need to|needs to|have to|has to)? ?(?:provide|specify|include|pass|set|supply|contain|use|submit|send|give)"
_COUNT = r"(?:at least one(?: of)?|exactly one(?: of)?|one and only one of|only one of|one of either|one or more of|any one of|one of|either|any of|at most one of)"
_GROUP = _compiled(
    rf"(?P<asked>(?:{_ASKING}) )?(?P<count>{_COUNT})?(?: the following)?(?: {_NOUN})?:? ?(?P<names>{_SEVERAL})(?P<both>,? or both|,? \(or both\))?"
    rf"(?P<not>,? (?:but )?not both)? ?(?P<demand>(?:also )?(?:is|are) (?:always )?required|{_MUST} (?:also )?be {_GIVEN}|{_MUST} {_GIVE} be"
    rf"|(?:can|may) (?:only )?be {_GIVEN}|is mandatory)?(?P<but>,? (?:but )?not both)?{_FILLER}(?: to .*| for .*| in order .*)?"
)


def _reads_group(scope: _Scope, clause: str) -> bool:
    """Read a choice of parameters, one of which is due."""
    found = _GROUP.fullmatch(clause)
    if found is None or not re.search(r"\bor\b|/|,", found["names"]):
        return False
    count, demand = (found["count"] or "").lower(), (found["demand"] or "").lower()
    names = scope.names(found["names"])
    if re.search(r"\band\b", found["names"]) and count in ("", "either"):
        return False
    is_one = bool(found["not"] or found["but"]) or count.startswith(("exactly", "one and only"))
    is_most = count.startswith(("only", "at most"))
    is_due = bool(re.search(rf"required|mandatory|{_MUST}", demand)) or bool(
        found["asked"] and re.search(_MUST, found["asked"], re.IGNORECASE)
    )
    if is_most:
        return scope.group(names, least=int(is_due and "only" in count), most=1)
    if is_one and (is_due or found["asked"]):
        return scope.group(names, least=1, most=1)
    return is_due and scope.group(names, least=1, most=1 if is_one else None)


_EXCLUSIVE = _compiled(
    rf"(?:.{{0,60}}[(,] ?)?(?:(?P<who>{_NAME}) (?:is )?)?(?:mutually exclusive|incompatible|not compatible|exclusive) (?:with|to) (?P<names>{_NAMES})\)?"
    rf"|(?P<several>{_SEVERAL}) (?:are|is) (?:mutually )?exclusive|(?P<never>{_SEVERAL}) (?:cannot|can not|may not|must not|should not)"
    rf" (?:both )?be (?:{_GIVEN}|combined)(?: both)?(?: together| at the same time| simultaneously| in the same request| at once)?"
)


def _reads_exclusive(scope: _Scope, clause: str) -> bool:
    found = _EXCLUSIVE.fullmatch(clause)
    if found is None:
        return False
    several = found["several"] or found["never"]
    if several:
        return scope.group(scope.names(several), least=0, most=1)
    name = scope.subject(found["who"])
    others = [one for one in scope.names(found["names"]) if one != name]
    return bool(name and others) and all([scope.ban(name, _Condition(one)) for one in others])


_WITH = _compiled(
    rf"(?:(?P<who>{_NAME}) )?(?:(?:can only|may only|{_MUST}) be (?:{_GIVEN}|qualified|combined|accompanied|paired)|requires|depends on)"
    rf" ?(?:together with|in conjunction with|in combination with|combined with|along with|alongside|by providing|by specifying|with|by)?"
    rf" (?P<condition>{_NAME}.*?)(?: to be {_GIVEN})?(?:,? (?:or )?otherwise .*)?"
)
_ALSO = _compiled(
    rf"(?P<name>{_NAME}) (?:{_MUST} (?:also )?be {_GIVEN}|is (?:also )?required) (?:to|in order to|when|if|for) (?:us|specify|sett|set|provid|pass)\w* (?:this.*|it|(?P<self>{_NAME}).*)"
)
_JOINTLY = _compiled(rf"(?P<names>{_SEVERAL}) {_MUST} (?:both |all )?be {_GIVEN} together")


def _reads_with(scope: _Scope, clause: str) -> bool:
    """Read that a parameter goes with another one."""
    if found := _JOINTLY.fullmatch(clause):
        names = scope.names(found["names"])
        return all(
            [scope.bind(one, _Condition(other)) for one in names for other in names if one != other]
        )
    if found := _ALSO.fullmatch(clause):
        own, name = scope.subject(found["self"]), scope.name(found["name"])
        return bool(own) and own != name and scope.bind(own, _Condition(name))
    found = _WITH.fullmatch(clause)
    name = scope.subject(found["who"]) if found else ""
    condition = scope.condition(found["condition"]) if found else None
    if not name or condition is None or condition.name == name:
        return False
    return scope.bind(name, condition)


_ONE_OF = _compiled(
    rf"(?:(?P<who>{_NAME}) )?(?:values? )?(?:{_MUST}|can only|may only) (?:always )?(?:be|equal)(?: set)?(?: to)? ?(?:one of(?: the following)?:? ?|either )?(?P<values>{_VALUES})"
    rf"|(?:accepts )?either (?P<either>{_VALUES})|(?:currently )?only (?P<only>{_VALUES}) (?:(?:is|are) (?:currently )?(?:supported|accepted|allowed|valid|permitted|available)|(?:may|can) be \w+)"
    rf"(?: here| currently| through the api| at this time| at the moment)?(?:[,—-].*)?"
)


def _reads_values(scope: _Scope, clause: str) -> bool:
    """Read which values a parameter takes."""
    found = _ONE_OF.fullmatch(clause)
    name = scope.subject(found["who"]) if found else ""
    if found is None or not name or not isinstance(scope.properties.get(name), dict):
        return False
    schema = scope.properties[name]
    stated = found["values"] or found["either"] or found["only"]
    values = [*scope.values(stated, name)]
    is_list = json_type(schema) == "array"
    if not values or (found["either"] and len(values) < 2) or json_type(schema) == "object":  # noqa: PLR2004
        return False
    if len({*choices_of(schema)} & {*map(_hashable, values)}) == len(choices_of(schema)) > 0:
        return False  # it repeats the schema
    if is_list:
        items = schema.get("items")
        return isinstance(items, dict) and scope.limit(name, {"items": {**items, "enum": values}})
    return scope.limit(name, {"enum": values})


def _hashable(value: JsonValue) -> str | int | float | bool | None:
    return value if not isinstance(value, dict | list) else None


_COUNTED = {
    word: at
    for at, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
}
_NUMBER = r"(?:-?\d[\d,]*(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten)"
_UNIT = r"(?P<unit>(?: (?:items?|elements?|entries|values?|unique|characters?|chars|letters|[\w-]+s))?)(?P<after>\)?(?:,? ?\(?(?:both )?inclusive\)?| per request| at a time| (?:can|may) be \w+| (?:is|are) (?:required|allowed|accepted|supported)| long| in length)*)"
_START = rf"(?:.*\b(?:and|but) )?(?:(?P<who>{_NAME}) |the |a |an )*"
_RANGE = _compiled(
    rf"{_START}(?:values? )?(?:{_MUST}|can|may|limits?|should|accepts?)?(?: contain| have| include)? ?(?:be )?(?:an? (?:\w+ )?(?:number|integer|value) )?(?:limits )?"
    rf"between (?P<least>{_NUMBER}) ?(?:and|to|-|–) ?(?P<most>{_NUMBER}){_UNIT}(?: are accepted)?"
)
_MOST = _compiled(
    rf"{_START}(?:(?:default is \S+,? and (?:the )?)?(?:max(?:imum)?|at most|up to|no more than|limited to|{_MUST} not exceed|cannot exceed|must be less than or equal to"
    rf"|{_MUST} be (?:at most|no (?:larger|greater|more|longer) than|(?P<under>less|fewer|shorter) than)|(?:can|may) (?:include|contain|have|be)(?: at most| up to)|currently only))"
    rf"(?: (?:of|value|number|allowed|length|size|is|are|count|permitted))*:? ?(?P<most>{_NUMBER})(?P<named> {_NAME})?{_UNIT}"
)
_LEAST = _compiled(
    rf"{_START}(?:min(?:imum)?|at least|{_MUST} (?:be |contain |have |include )?(?:at least|no (?:less|fewer|shorter) than))"
    rf"(?: (?:of|value|number|allowed|length|size|is|are|count))*:? ?(?P<least>{_NUMBER})(?P<named> {_NAME})?{_UNIT}"
)
_SIGN = _compiled(
    rf"(?:(?P<who>{_NAME}) )?(?:values? )?{_MUST} (?:(?P<not>not be (?:negative|less than (?:0|zero)))|be (?:a )?(?P<plus>positive|greater than (?:0|zero))(?: (?:integer|number|whole number))?)"
)


def _number(text: str) -> float | int:
    plain = text.replace(",", "").lower()
    if plain in _COUNTED:
        return _COUNTED[plain]
    return float(plain) if "." in plain else int(plain)


def _reads_bounds(scope: _Scope, clause: str) -> bool:
    """Read how much or how many a parameter takes."""
    if found := _SIGN.fullmatch(clause):
        name = scope.subject(found["who"])
        is_number = bool(name) and json_type(scope.properties[name]) in ("integer", "number")
        words: JsonSchema = {"exclusiveMinimum": 0} if found["plus"] else {"minimum": 0}
        return is_number and "minimum" not in scope.properties[name] and scope.limit(name, words)
    for pattern in (_RANGE, _MOST, _LEAST):
        found = pattern.fullmatch(clause)
        if found:
            stated = found.groupdict()
            named = stated.get("named")
            name = scope.name(named) if named else scope.subject(found["who"])
            numbers = [stated.get("least"), stated.get("most")]
            if stated.get("under"):
                numbers[1] = str(_number(numbers[1] or "") - 1)
            return bool(name) and _bounded(scope, name, numbers, found["unit"].strip().lower())
    return False


_BOUNDS: Mapping[str, tuple[str, str]] = {
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "array": ("minItems", "maxItems"),
    "string": ("minLength", "maxLength"),
}


def _bounded(scope: _Scope, name: str, numbers: Sequence[str | None], unit: str) -> bool:
    schema = scope.properties[name]
    kind = json_type(schema) if isinstance(schema, dict) else ""
    is_of_text = unit.startswith(("char", "letter"))
    if (
        kind not in _BOUNDS
        or is_of_text != (kind == "string")
        or (unit and kind in ("integer", "number"))
    ):
        return False
    bounds = zip(_BOUNDS[kind], numbers, strict=True)
    words = {word: _number(one) for word, one in bounds if one is not None and word not in schema}
    return scope.limit(name, words)


_PLACES_SAID = _compiled(
    rf"(?:.* )?(?P<count>{_NUMBER})[ -](?:decimal (?:places?|digits?)|decimals|digits? (?:of precision|after the (?:decimal )?point))\b.*"
)


def _reads_decimals(scope: _Scope, clause: str) -> bool:
    found = _PLACES_SAID.fullmatch(clause)
    schema = scope.properties.get(scope.subject(None)) if found else None
    if found is None or not isinstance(schema, dict):
        return False
    places = int(_number(found["count"]))
    if json_type(schema) == "number" and "multipleOf" not in schema:
        return scope.limit(scope.subject(None), {"multipleOf": 10**-places})
    if json_type(schema) == "string" and not schema.keys() & {"pattern", "format", "enum"}:
        digits = rf"^(0|[1-9][0-9]{{0,3}})\.[0-9]{{{places}}}$"
        return scope.limit(scope.subject(None), {"pattern": digits})
    return False


def _reads_lead(scope: _Scope, clause: str) -> bool:
    """Read "(Required)" before a description."""
    own = scope.subject(None)
    return bool(own) and bool(_REQUIRED_LEAD.match(clause)) and scope.demand([own])


_READERS: tuple[Callable[[_Scope, str], bool], ...] = (
    _reads_lead,
    _reads_required,
    _reads_exclusive,
    _reads_group,
    _reads_led,
    _reads_needed_if,
    _reads_bound,
    _reads_with,
    _reads_set_if,
    _reads_values,
    _reads_bounds,
    _reads_decimals,
)
