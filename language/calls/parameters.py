"""What a parameter holds and what people call it: its meaning by schema and name, its cues, and the kind of entity."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple, cast

from callwright.language.names import humanise, split_name
from callwright.language.packs import COMMON_SCRIPT, known, language_of, of, own_letters, script_of
from callwright.language.schemas import json_type, kind_of
from callwright.warehouse.records import DEFAULT_LANGUAGE, EntityKind, JsonSchema, Language


class Cues(NamedTuple):
    """How to call a parameter when speaking of it, by script, and all phrases by which it is recognised."""

    by_script: Mapping[str, str]
    spoken: tuple[str, ...]

    def among(self, language: Language) -> str:
        """What to call it in this language."""
        return self.by_script.get(of(language).script) or self.by_script[COMMON_SCRIPT]


_LIMITING = re.compile(r"^(?:limits?|filters?|restricts?) (?:the )?(?:results?|response) (?:to|by|on) ")
_LINK = re.compile(r"\]\([^)\s]*\)|https?://\S+")
_IN_FULL = {
    "q": "search query", "repo": "repository", "org": "organization", "lat": "latitude", "lng": "longitude", "lon": "longitude",
    "dir": "directory", "desc": "description", "qty": "quantity", "addr": "address", "msg": "message", "tz": "time zone",
    "per page": "number of results per page", "tel": "phone number", "dob": "date of birth", "lang": "language",
}  # fmt: skip


@lru_cache(16384)
def cues_of(name: str, description: str) -> Cues:
    """The cues of a parameter; the name is always one, the description's head noun where it has a short one."""
    named = humanise(name)
    head = of(language_of(description)).rules.cue_of(description)
    by_script = {COMMON_SCRIPT: _IN_FULL.get(named, named)}
    for described in (own_letters(name), head):
        if described:
            by_script[script_of(described)] = described
    common = by_script[COMMON_SCRIPT]
    others = [described for script, described in by_script.items() if script != COMMON_SCRIPT]
    return Cues(by_script, tuple(dict.fromkeys(filter(None, (common, named, *others)))))


def short_forms(name: str) -> tuple[str, ...]:
    """Other short ways to speak of a parameter: its last word, and a code without its "ID" or "number"."""
    words = split_name(name)
    if len(words) == 1:
        return ()
    if words[-1] in ("id", "ids", "number", "no", "code"):
        lead = humanise("_".join(words[:-1]))
        return (f"{lead} ID", f"{lead} number", f"{lead} code", lead, "ID" if words[-1] == "id" else words[-1])
    return (humanise(words[-1]),)


_FILE = "parameters"
NUMERIC = frozenset({"number", "money", "quantity", "percent", "year", "rating", "age", "measure", "duration"})
PLACES = frozenset({"origin", "destination", "place", "country", "address", "airport"})
CLOCKED = frozenset({"date", "time", "moment", "birthday", "month"})
CODED = frozenset({"code", "phone", "email", "link", "card", "airport", "currency", "plate", "file", "pin", "uuid"})

_FORMATS = {
    "date": "date", "date-time": "moment", "time": "time", "email": "email", "idn-email": "email", "uri": "link",
    "uuid": "uuid",
}  # fmt: skip


@lru_cache(16384)
def meaning_by_words(name: str, description: str) -> str:
    """The kind that the words of a name tell, else those of the description; "text" where neither tells any."""
    words = " ".join(split_name(name))
    first = _LIMITING.sub("", without_links(description).lower()).split(". ", maxsplit=1)[0]
    return _by_rules(words) or _by_rules(first[:60]) or "text"


def without_links(description: str) -> str:
    """A description without the addresses that it links to: they tell where to read more, not what a value is."""
    return _LINK.sub("", description) if "://" in description else description


def meaning_of(name: str, schema: JsonSchema) -> str:
    """The kind of thing that a parameter of this name and schema holds."""
    kind = _by_schema(schema)
    described = meaning_by_words(name, str(schema.get("description", "")))
    if kind == "number":
        return described if described in NUMERIC else "number"
    return kind or described


def _by_schema(schema: JsonSchema) -> str:
    if "const" in schema or schema.get("enum"):
        return "choice"
    declared = json_type(schema)
    if declared in ("boolean", "array", "object"):
        return declared
    if declared in ("integer", "number"):
        return "number"
    pattern = str(schema.get("pattern", ""))
    if pattern:
        return _by_pattern(pattern)
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    return ""


def _by_pattern(pattern: str) -> str:
    clock = "[0-5]\\d" in pattern or "[0-5][0-9]" in pattern
    day = "\\d{4}-\\d{2}" in pattern or "[0-9]{4}-[0-9]{2}" in pattern
    if clock:
        return "moment" if day else "time"
    if day:
        return "date" if pattern.count("-") - pattern.count("0-9") > 1 else "month"
    return "pattern"


def _by_rules(words: str) -> str:
    return next((kind for kind, rule in _rules("kinds") if rule.search(words)), "")


@cache
def _rules(section: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The rules of a section of the parameters.yaml of all languages, in the order of the language that names are in."""
    packs = sorted(map(of, known()), key=lambda pack: pack.code != DEFAULT_LANGUAGE)
    listed = [pack.data[_FILE][section] for pack in packs if _FILE in pack.data]
    return tuple(
        (name.split()[0], re.compile("|".join(rules[name] for rules in listed if name in rules))) for name in listed[0]
    )


_TYPED = frozenset({"date", "time", "date-time"})
_BY_KIND: dict[str, EntityKind] = {
    "person": "person",
    "company": "company",
    "product": "product",
    "plate": "plate",
    "code": "id_number",
    "pattern": "id_number",
    "card": "id_number",
    **dict.fromkeys(CLOCKED, "time"),
    **dict.fromkeys(PLACES, "location"),
}  # fmt: skip
_CODES = frozenset({"code", "pattern"})
_NO_ENTITY = frozenset({"pin", "phone", "email", "link", "file", "money", "year", "month", "country"})


def entity_of(name: str, schema: JsonSchema) -> EntityKind | None:
    """The kind of entity that a parameter of this name and schema holds, None where it holds none."""
    if json_type(schema) != "string" or schema.get("enum") or "const" in schema:
        return None
    if kind_of(schema) in _TYPED:
        return "time"
    words = " ".join(split_name(name))
    described = f"{words} {str(schema.get('description') or '')[:60].lower()}"
    kind = meaning_of(name, schema)
    if kind in _NO_ENTITY or meaning_by_words(name, "") in _NO_ENTITY:
        return None
    if kind not in _CODES:
        for entity, pattern in _rules("entities"):
            if pattern.search(described):
                return cast("EntityKind", entity)
    return _BY_KIND.get(kind)
