"""Rules of prose that nothing here reads: which sentences rule a call, and which calls they rule.

A sentence counts if it says something of the call: its subject is a parameter, or it demands one.
Whom the service lets call it, its limits and its answers are no rules about a call.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from callwright.language.calls.prose_objects import ObjectRules, clauses_of, is_marked, pattern
from callwright.language.schemas import choices_of
from callwright.warehouse.records import JsonSchema

_BOUNDS = ("range", "most", "least", "sign", "host", "places_said")
_SHAPED = frozenset(("format", "pattern", "enum", "const", "multipleOf"))
_BOUNDED = _SHAPED | {
    *("minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "minItems", "maxItems")
}
_LETTERS = re.compile(
    r"(?:y{2,4}|m{2}|d{2}|h{2}|s{2})(?:[-/.:T ]?(?:y{2,4}|mm|dd|hh|ss))+", re.IGNORECASE
)
_RUN = re.compile(r"y+|m+|d+|h+|s+|.", re.IGNORECASE)
_STANDARDS = {  # what values by a standard look like
    "email": r"\S+@\S+",
    "https": "https://.*",
    "URL": "https?://.*",
    "ISO 8601": r"\d{4}-\d\d-\d\d.*",
    "ISO 4217": "[A-Z]{3}",
    "ISO 3166": "[A-Z]{2,3}",
    "E.164": r"\+?\d{7,15}",
}

# Which calls a rule speaks of: all (`always`); those that give one of its members (`given`) or
# several (`together`); that give some, not all (`partly`); that lack all of them (`none`), or have
# none or several (`not_one`); that lack the first while another is given (`lacking`).
_When = Literal["always", "given", "together", "partly", "none", "not_one", "lacking"]


class UnreadRule(NamedTuple):
    """A sentence that may rule a call, the object that it is about ("a.b"), and which calls."""

    within: tuple[str, ...]
    sentence: str
    when: _When
    members: tuple[str, ...] = ()
    shape: str = ""  # a pattern: of values that keep it

    @property
    def is_usual(self) -> bool:
        """Whether it is a format that values are drawn in anyhow."""
        return any(map(self._fits, ("2027-05-31", "14:30", "2027-05-31T14:30:00")))

    @property
    def about(self) -> str:
        """The member that it is about ("a.b"), "" for the tool as a whole."""
        return ".".join((*self.within, *self.members[:1]))

    def speaks_of(self, arguments: Mapping[str, Any], *, is_whole: bool) -> bool:
        """Whether the rule may speak of a call. What one lacks counts if it `is_whole`."""
        return any(
            self._is_met(one, is_whole=is_whole) for one in _objects_at(arguments, self.within)
        )

    def is_idle_without(self, names: Collection[str]) -> bool:
        """Whether it speaks of no call that lacks the parameters of these names."""
        if self.within:
            return self.within[0] in names
        free = sum(one not in names for one in self.members[self.when == "lacking" :])
        return free < {"given": 1, "together": 2, "partly": 1, "lacking": 1}.get(self.when, 0)

    def _is_met(self, given: Mapping[str, Any], *, is_whole: bool) -> bool:
        present = [one for one in self.members if one in given]
        match self.when:
            case "always":
                return True
            case "given":
                return any(not self._fits(given[one]) for one in present)
            case "together":
                return len(present) > 1
            case "partly":
                return is_whole and 0 < len(present) < len(self.members)
            case "none":
                return is_whole and not present
            case "not_one":
                return len(present) > 1 or (is_whole and not present)
            case "lacking":
                return is_whole and bool(present) and self.members[0] not in present

    def _fits(self, value: object) -> bool:
        values = value if isinstance(value, list) else [value]
        return bool(self.shape) and all(re.fullmatch(self.shape, str(one)) for one in values)


def _objects_at(value: object, path: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a value at a path, those within lists too."""
    if isinstance(value, list):
        for one in value:
            yield from _objects_at(one, path)
    elif isinstance(value, Mapping) and path:
        yield from _objects_at(value.get(path[0]), path[1:])
    elif isinstance(value, Mapping):
        yield value


def find_unread(
    scope: ObjectRules, sentence: str, own: str, within: tuple[str, ...]
) -> UnreadRule | None:
    """Return the rule that a sentence about the member `own` states, or None.

    The sentence has been read before, by rules that did not fit; `own` is "" for the whole.
    """
    if not own and not within and pattern("superseded").search(sentence):
        return UnreadRule(within, sentence, "always")
    if own and (shape := _format_in(scope.properties[own], sentence)) is not None:
        return UnreadRule(within, sentence, "given", (own,), shape)
    text = scope.marked(sentence, own)
    if pattern("of_others").search(text) or not pattern("norm").search(text):
        return None
    for clause in clauses_of(text):
        found = _choice_in(scope, clause, own) or (
            _norm_of_own(scope, clause, own) if own else _norm_of_whole(scope, clause)
        )
        if found is not None:
            return UnreadRule(within, sentence, *found)
    return None


_Ruled = tuple[_When, tuple[str, ...]]


def _choice_in(scope: ObjectRules, clause: str, own: str) -> _Ruled | None:
    """Return what a clause says of members of which one is due or allowed, or all together."""
    is_due = pattern("due").search(clause) is not None
    if is_due and (found := pattern("all_of").search(clause)):
        return ("partly", tuple(scope.names(found[0])))
    found = pattern("either_of").search(clause) or pattern("unless_other").match(clause)
    names = tuple(dict.fromkeys(filter(None, (own, *scope.names(found[0] if found else "")))))
    if len(names) < 2:  # noqa: PLR2004 - a choice
        return None
    is_one = pattern("just_one").search(clause) is not None
    if is_due and not scope.required & {*names} and not pattern("in_a_case").search(clause):
        return ("not_one" if is_one else "none", names)
    return ("together", names) if is_one else None


def _norm_of_own(scope: ObjectRules, clause: str, own: str) -> _Ruled | None:
    """Return what a clause says of the member that it describes."""
    others = tuple(one for one in scope.names(clause) if one != own)
    if pattern("own_due").match(clause):
        if not others or own in scope.required or not pattern("own_case").match(clause):
            return None
        is_alternative = pattern("without_other").search(clause) is not None
        return ("none" if is_alternative else "lacking", (own, *others))
    if pattern("order").search(clause) or not pattern("own_norm").match(clause):
        return None
    if _is_in_schema(scope.properties[own], clause):
        return None
    if others and pattern("banned_with").search(clause):
        return ("together", (own, others[0]))
    return ("given", (own,))


def _norm_of_whole(scope: ObjectRules, clause: str) -> _Ruled | None:
    """Return what a clause about the whole says of members that it names."""
    found = pattern("whole_due").search(clause)
    if found is not None and not pattern("in_a_case").search(clause):
        names = tuple(scope.names(found[0]))
        return ("none", names[:1]) if names and not scope.required & {*names} else None
    found = pattern("whole_norm").search(clause)
    names = tuple(one for one in scope.names(found[0]) if is_marked(one)) if found else ()
    return ("given", names) if names and not pattern("order").search(clause) else None


def _is_in_schema(schema: JsonSchema, clause: str) -> bool:
    """Whether a clause repeats what the schema says."""
    inner = schema.get("items") if isinstance(schema.get("items"), dict) else {}
    words = {*schema, *(inner or {})}
    if any(pattern(one).fullmatch(clause) for one in _BOUNDS):
        return bool(words & _BOUNDED)
    if pattern("one_of").fullmatch(clause) or pattern("form").search(clause):
        return bool(words & _SHAPED) or bool(choices_of(schema))
    return False


def _format_in(schema: JsonSchema, sentence: str) -> str | None:
    """Return the pattern of a format that a sentence names, "" if it is not known.

    None if it names none, or if the schema says it already.
    """
    found = pattern("in_format").search(sentence.replace("`", ""))
    if found is None or schema.keys() & _SHAPED or schema.get("type") != "string":
        return None
    named = next(one for one in found.groups() if one)
    if standard := next((one for one in _STANDARDS if one.lower() in named.lower()), ""):
        return _STANDARDS[standard]
    parts = named.split(", ")
    if len(parts) > 1:
        return ", ?".join(["[^,]+"] * len(parts))
    if re.fullmatch(r"\w+(?:/\w+)+", named) and not _LETTERS.search(named):
        return "/".join([r"[^/\s]+"] * (named.count("/") + 1))
    letters = _LETTERS.search(re.sub(r"\s*:\s*", ":", named))
    if letters is None:
        return ""
    counts = (
        f"\\d{{{len(one)}}}" if one.isalpha() and one != "T" else re.escape(one)
        for one in _RUN.findall(letters[0])
    )
    return "".join(counts)
