"""What a parameter holds and is called: meaning, cues, entity kind and source of values.

A parameter gets a value only where something fits it: examples or choices of its schema, a row
of the table language/meanings.yaml, a pattern, or a kind whose phrases suit anything with a name
of that kind.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from callwright.language.calls.codes import PHRASED, code_table, phrase, shaped
from callwright.language.calls.examples import (
    is_for_programs,
    with_told_example,
    without_placeholders,
)
from callwright.language.names import (
    deed_of,
    function_words,
    has_words,
    humanise,
    names_one,
    split_name,
)
from callwright.language.packs import (
    COMMON_SCRIPT,
    LanguagePattern,
    known,
    of,
    own_letters,
    packaged,
    script_of,
    signs,
    writes,
)
from callwright.language.schemas import choices_of, json_type, kind_of
from callwright.warehouse.extras import require_extra
from callwright.warehouse.records import DEFAULT_LANGUAGE, EntityKind, JsonSchema, Language

if TYPE_CHECKING:
    from faker import Faker


_LIMITING = re.compile(
    r"^(?:limits?|filters?|restricts?) (?:the )?(?:results?|response) (?:to|by|on) "
)
_PURPOSE = re.compile(
    r"(?<=\w),? (?:to|for|that|which|who|whose|whether|when|where|if|from|via|used) .*"
)
# what a description says of a parameter is no name of it: "Filters records by name", "id parameter"
_NO_NOUN = re.compile(
    r"^(?:filters?|limits?|restricts?|returns?|sets?|specif(?:y|ies)|indicates?|determines?|defines?)\b"
    r"|\b(?:parameters?|params?)$",
    re.IGNORECASE,
)
_LINK = re.compile(r"\]\([^)\s]*\)|https?://\S+|\buser-(?=friendly\b)", re.IGNORECASE)
_CLAUSE = LanguagePattern(r"@[.,;:(?{list}\n]|!|@{description_end}")
_ARTICLE = LanguagePattern("^(?:@{with_article})", re.RegexFlag(0))
_MARKED = re.compile(r"[`*<>{}\[\]|/\\_=#]")
_MOST_WORDS, _MOST_CHARACTERS = 6, 12


@lru_cache(16384)
def titles_of(name: str, description: str) -> tuple[str, ...]:
    """Return what people call a parameter: a short description, without article, and its name."""
    named = own_letters(name) or humanise(name)
    described = description.strip().rstrip(signs("."))
    glued = script_of(described) != COMMON_SCRIPT
    most, length = _MOST_WORDS, len(described.split())
    if glued:
        most, length = _MOST_CHARACTERS, len(described)
    is_prose = _CLAUSE.of(described).search(described) or _MARKED.search(described)
    is_prose = is_prose or _NO_NOUN.search(described)
    if not described or length > most or is_prose:
        return (named,)
    lowered = described
    if not glued and not described[:2].isupper():
        lowered = described[0].lower() + described[1:]
    return tuple(dict.fromkeys((_ARTICLE.of(lowered).sub("", lowered) or lowered, named)))


def title_of(name: str, schema: JsonSchema, language: Language) -> str:
    """Return the parameter's first title in the language, or else its name in words."""
    return title_among(titles_of(name, str(schema.get("description") or "")), language)


def title_among(titles: Sequence[str], language: Language) -> str:
    """Return the first title in the given language, else the last title, a name in words."""
    return next((one for one in titles if writes(language, one)), titles[-1])


def short_forms(name: str) -> tuple[str, ...]:
    """Return other short names: the last word, or a code without its "ID" or "number"."""
    words = split_name(name)
    if len(words) == 1:
        return ()
    if words[-1] in ("id", "ids", "number", "no", "code"):
        lead, last = humanise("_".join(words[:-1])), "ID" if words[-1] == "id" else words[-1]
        return (f"{lead} ID", f"{lead} number", f"{lead} code", lead, last)
    return (humanise(words[-1]),)


_FILE = "parameters"
NUMERIC = frozenset(
    {"number", "money", "quantity", "percent", "year", "rating", "age", "measure", "duration"}
)
PLACES = frozenset({"origin", "destination", "place", "country", "address", "airport"})
CLOCKED = frozenset({"date", "time", "moment", "birthday", "month"})
CODED = frozenset(
    {"code", "phone", "email", "link", "card", "airport", "currency", "plate", "file"}
    | {"pin", "uuid"}
)

_ON_KNOWN = frozenset({"look", "change", "drop", "switch", "restore"})
_DECIDING = frozenset({"place", "country", "email", "phone", "currency"})
# "The ID of the email": what is described as an identifier holds no words, and is no address
_SAYS_ID = re.compile(
    r"(?:(?!or\b|and\b|e-?mail\b|names?\b|with\b|by\b)[\w'’-]+ ){0,3}?"
    r"(?:ids?|identifiers?|uuids?|guids?|sids?)\b(?! (?:documents?|cards?|photos?)\b)",
    re.IGNORECASE,
)
# "The label of the tag, which also acts as its identifier": some ids are words
_SAYS_NAME = re.compile(r"(?:the |an? )?(?:labels?|names?|titles?) (?:of|for)\b", re.IGNORECASE)
_SPELLED_KINDS = frozenset({"text", "email", "address"}) | PLACES | {"person", "company", "product"}
_NOT_IDS = frozenset({"link", "card", "plate", "airport", "file", "details", "category"})
_FORMATS = {
    "date": "date",
    "date-time": "moment",
    "time": "time",
    "email": "email",
    "idn-email": "email",
    "uri": "link",
    "uuid": "uuid",
}


@lru_cache(16384)
def meaning_by_words(name: str, description: str) -> str:
    """Return the kind that the name's words tell, or else the description's; "text" by default."""
    first = _LIMITING.sub("", without_links(description).lower()).split(". ", maxsplit=1)[0]
    # "user to get info on" is a user, and no info
    first = _PURPOSE.split(first, maxsplit=1)[0] or first
    words = split_name(name)
    # the city of an address is a city
    last = next((kind for kind, rule in _rules("kinds") if rule.search(words[-1])), "")
    kinds = (
        kind
        for told in (" ".join(words), first[:60])
        for kind, rule in _rules("kinds")
        if rule.search(told)
    )
    kind = next(kinds, "text")
    if last in _DECIDING and kind not in ("origin", "destination"):
        kind = last
    if kind == "code" and says_name(description):
        return "text"
    # the ID of a link is no link
    is_id = kind in _NOT_IDS and words[-1] in ("id", "ids")
    return "code" if is_id or (kind in _SPELLED_KINDS and _says_id(description)) else kind


def _says_id(description: str) -> bool:
    """Whether a description begins by saying that a value is an identifier."""
    return _SAYS_ID.match(description) is not None


def says_name(description: str) -> bool:
    """Whether a description begins by saying that a value is the name of a thing."""
    return _SAYS_NAME.match(description) is not None


def without_links(description: str) -> str:
    """Return a description without what tells no value: links, and the user of "user-friendly"."""
    return _LINK.sub("", description)


def meaning_of(name: str, schema: JsonSchema) -> str:
    """Return the kind of thing that a parameter of this name and schema holds."""
    declared, pattern = json_type(schema), str(schema.get("pattern", ""))
    if "const" in schema or schema.get("enum"):
        return "choice"
    if declared in ("boolean", "array", "object"):
        return declared
    described = meaning_by_words(name, str(schema.get("description", "")))
    if described == "text" and _is_its_thing(name, schema):
        described = "code"
    if declared in ("integer", "number"):
        return described if described in NUMERIC else "number"
    if not pattern:
        told = _FORMATS.get(str(schema.get("format")), described)
        return described if (told, described) == ("date", "birthday") else told
    has_day = "\\d{4}-\\d{2}" in pattern or "[0-9]{4}-[0-9]{2}" in pattern
    if "[0-5]\\d" in pattern or "[0-5][0-9]" in pattern:
        return "moment" if has_day else "time"
    if has_day:
        return "date" if pattern.count("-") - pattern.count("0-9") > 1 else "month"
    return "pattern"


def _is_its_thing(name: str, schema: JsonSchema) -> bool:
    """Whether a parameter that nothing describes is the thing that its tool reads or changes.

    `charge` of `get_charge` is the charge's ID.
    """
    tool = function_words(str(schema.get(ASKED_OF, "")).partition(" ")[0])
    things = {word.removesuffix("s") for word in tool[1:]}
    is_on_known = deed_of(next(iter(tool), "")) in _ON_KNOWN
    return is_on_known and not schema.get("description") and "_".join(split_name(name)) in things


@cache
def _rules(section: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return a section's rules in every parameters.yaml, in the order of the names' language."""
    packs = sorted(map(of, known()), key=lambda pack: pack.code != DEFAULT_LANGUAGE)
    listed = [pack.data[_FILE][section] for pack in packs if _FILE in pack.data]
    return tuple(
        (name.split()[0], re.compile("|".join(rules[name] for rules in listed if name in rules)))
        for name in listed[0]
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
}
_CODES = frozenset({"code", "pattern"})
_NO_ENTITY = frozenset(
    {"pin", "phone", "email", "link", "file", "money", "year", "month", "country"}
)


def entity_of(name: str, schema: JsonSchema) -> EntityKind | None:
    """Return the kind of entity that a parameter holds, or None."""
    if json_type(schema) != "string" or schema.get("enum") or "const" in schema:
        return None
    if kind_of(schema) in _TYPED:
        return "time"
    words = " ".join(split_name(name))
    described = f"{words} {str(schema.get('description') or '')[:60].lower()}"
    kind = meaning_of(name, schema)
    if kind in _NO_ENTITY or meaning_by_words(name, "") in _NO_ENTITY:
        return None
    rules = _rules("entities") if kind not in _CODES else ()
    told = next((entity for entity, pattern in rules if pattern.search(described)), None)
    return cast("EntityKind", told) if told else _BY_KIND.get(kind)


_SPELLED_FAKERS = frozenset({"safe_email", "user_name", "first_name", "last_name"})
_TABLES = ("texts", "numbers", "clocks", "plumbing")
_LOCALE = "en_US"
_CHINESE = ("zh_CN", "zh_TW")
_SEED_BITS = 48
_LONGEST_HEAD = 60
# a schema's note of the tool whose parameter it is, for parameters that say little by themselves
ASKED_OF = "x-asked-of"
_STATED = r"[`'\"]?[A-Za-z][\w-]*[`'\"]?"
_CHOICES = re.compile(
    r"\b(?:(?:can be|must be|values(?: are)?):|(?:one of|either):?)\s*"
    rf"((?:{_STATED}, )*{_STATED}(?:,?"
    rf" (?:or|and) |, ){_STATED})(?=[.,;]|$)(?!,? (?:but )?not both)",
    re.IGNORECASE,
)
# "When set to true, only …", "true or false": a yes or a no in writing
_FLAG = re.compile(
    r"(?:^|[.!?:]\s+)(?:if|when|set)(?: (?:set|this|it))* (?:to )?[`*]*true\b|\btrue[`*]*"
    r" ?(?:or|/|[|]) ?[`*]*false\b",
    re.IGNORECASE,
)
_EXPLAINED = re.compile(
    r"(?<![\w.])(-?\d{1,4})\s*(?:for|=|is|means|:|–|-)\s+[\"'`]?[A-Za-z][\w'\" -]{0,40}?"
    r"(?=\s*(?:[,;.)<]|\bor\b|\band\b|$))"
)
_LISTED = re.compile(r"\benum\b\]?:?\s*\[([^\]]+)\]", re.IGNORECASE)
_JOINT = re.compile(r",? (?:or|and) |, ")
# the only value there is, behind what it is of ("the type of this resource")
_CONSTANT = re.compile(
    rf"(?:^|[.!?]\s+)(?:the )?(?:[\w-]+ ){{1,3}}of this [\w -]{{2,40}}: ({_STATED})\.?\s*$",
    re.IGNORECASE,
)


_BARE_NAME = re.compile(r"(?:(?:new|full|display) )?name")
_NAME_OF = re.compile(
    r"\b(?:names?|labels?|titles?) (?:of|for|to) (?:(?:an?|the|this|that|your|new|existing) )*"
    r"([\w-]+(?: [\w-]+)??)"
    r"(?=[^\w\s'’]|\s?$| (?:to|that|which|for|in|on|with|of|as|by|from|is|will|should|must)\b)"
    r"|\b([\w-]+)['’]s (?:(?:new|full|display) )?name\b|^(?!(?:the|an?|new|full|display|your)"
    r" )([\w-]+) name\b"
)


def names_a_thing(name: str, schema: JsonSchema) -> bool:
    """Whether a bare "name" belongs to a known thing that the table does not list as a person."""
    is_bare = _BARE_NAME.fullmatch(" ".join(split_name(name))) is not None
    return is_bare and any(bearers(schema)) and meaning_row(name, schema) is None


class Meaning(NamedTuple):
    """A row of the table: how to recognise a parameter, and where its values come from."""

    name: re.Pattern[str]
    about: re.Pattern[str] | None
    where: re.Pattern[str] | None
    give: dict[str, Any]  # what the YAML file holds

    @property
    def is_unknown(self) -> bool:
        """Whether nobody can say a value of this meaning."""
        return bool(self.give.get("unknown"))

    @property
    def is_spelled(self) -> bool:
        """Whether its values are names, words or addresses, which identify nothing."""
        return (
            bool({"kind", "table"} & self.give.keys()) or self.give.get("faker") in _SPELLED_FAKERS
        )


def meaning_row(name: str, schema: JsonSchema, table: str = "texts") -> Meaning | None:
    """Return the table row that applies to a parameter, or None."""
    words, is_clocked = " ".join(split_name(name)), meaning_by_words(name, "") in CLOCKED
    if _BARE_NAME.fullmatch(words):
        rows = (_row(table, words, named, is_told=False) for named in bearers(schema))
        return next(filter(None, rows), None)
    stated = without_links(schema.get("description") or "")
    row = _row(
        table, words, f"{stated} {schema.get(ASKED_OF, '')}".strip().lower(), is_told=is_clocked
    )
    return None if row is not None and row.is_spelled and _says_id(stated) else row


def is_plumbing(name: str, schema: JsonSchema) -> bool:
    """Whether programs send a parameter and nobody says it: a key, a signature, a name of signs."""
    if not has_words(name) and not name.strip().isdecimal():
        return True
    is_text = json_type(schema) == "string" and not schema.keys() & {"enum", "const"}
    return is_text and meaning_row(name, schema, "plumbing") is not None


def made_constant(name: str, schema: JsonSchema) -> str:
    """Return the text that stands for a parameter of the plumbing, always the same, or ""."""
    row = meaning_row(name, schema, "plumbing")
    return text_of(row, DEFAULT_LANGUAGE, Random(name)) if row else ""


_SHOWING = ("enum", "const", "examples", "default", "pattern")
_OF_A_FORM = CODED | CLOCKED | NUMERIC | PLACES | {"person", "choice", "pattern"}
# objects whose keys are anybody's own
_FREE_KEYS = frozenset(
    {"metadata", "meta", "labels", "tags", "annotations", "attributes", "properties", "variables"}
    | {"fields", "env", "environment", "dimensions", "extra", "custom"}
)
_OF_FILES = ("byte", "binary")
_NAMING = ("name", "names")
_DEEPEST = 6  # members within members that are looked at
_MANY_MEMBERS = 6  # that an object names, without saying which it needs


def tells_values(name: str, schema: JsonSchema, level: int = 0) -> bool:
    """Whether name and schema tell what people would give for a parameter.

    They do if the schema shows values, a row of the table or a kind of meaning holds, or the type
    leaves little choice; of an object, all required members have to tell theirs.
    """
    schema = with_told_example(schema)
    row = meaning_row(name, schema) if json_type(schema) == "string" else None
    is_written = row is not None and row.give.get("unknown") == "always"
    for_programs = schema.get("format") in _OF_FILES or is_for_programs(name, schema)
    for_programs = for_programs or _is_encoded(name, schema)
    if for_programs or (is_written and not choices_of(schema)):
        return False
    if json_type(schema) == "string":
        schema = without_placeholders(name, schema)
    if any(schema.get(word) not in (None, []) for word in _SHOWING) or stated_choices(schema):
        return True
    branches = [
        {ASKED_OF: schema.get(ASKED_OF, ""), "description": schema.get("description", ""), **one}
        for word in ("anyOf", "oneOf")
        for one in schema.get(word) or ()
        if one.get("type") != "null"
    ]
    if level > _DEEPEST:
        return True  # whoever makes values says how deep is too deep
    if branches:
        is_unknown = row is not None and row.is_unknown  # a "value" that may be of any type
        return not is_unknown and any(tells_values(name, one, level + 1) for one in branches)
    declared = json_type(schema)
    if declared in ("array", "object"):
        return _tell_values(schema, name, level)
    if declared != "string":
        row = meaning_row(name, schema, "numbers")
        return declared == "boolean" or row is None or not row.is_unknown
    if row is not None:
        return not row.is_unknown
    return bool(
        meaning_of(name, schema) != "text" or schema.get("format") or has_a_name(name, schema)
    )


def _is_encoded(name: str, schema: JsonSchema) -> bool:
    """Whether a text is a file in base64, by its description or, of a link, by what its tool does.

    What may be an address as well is none.
    """
    if json_type(schema) != "string" or schema.keys() & {"enum", "const"}:
        return False
    told = str(schema.get("description") or "")
    if _ENCODED.search(told):
        return _OR_LINK.search(told) is None
    asked = str(schema.get(ASKED_OF, ""))
    return meaning_of(name, schema) in ("link", "file") and _ENCODED.search(asked) is not None


_ENCODED = re.compile(r"\bbase ?-?64\b", re.IGNORECASE)
_OR_LINK = re.compile(r"\b(?:urls?|links?|uris?|address)\b", re.IGNORECASE)


def _tell_values(schema: JsonSchema, name: str, level: int) -> bool:
    """Whether the items of a list, or the members that an object needs, tell their values."""
    if json_type(schema) == "array":
        about = {"description": schema.get("description", "")}
        listed = schema.get("prefixItems") or [{**about, **(schema.get("items") or {})}]
        return all(tells_values(name, one, level + 1) for one in listed)
    members, required = schema.get("properties") or {}, schema.get("required") or ()
    needed = [one for one in required if one in members]
    # which of a shipment's twenty details a label needs, only those know who have read all of them
    if not needed and len(members) >= _MANY_MEMBERS and "examples" not in schema:
        return False
    told = (tells_values(one, members[one], level + 1) for one in needed or members)
    if not members:
        has_free_keys = isinstance(schema.get("additionalProperties"), dict)
        is_keyed = not schema.keys().isdisjoint(("propertyNames", "patternProperties"))
        return is_keyed or not has_free_keys or not _FREE_KEYS.isdisjoint(split_name(name))
    return all(told) if needed else any(told)


def is_free(name: str, schema: JsonSchema) -> bool:
    """Whether people fill a parameter with words or figures of their own, of which code knows few.

    Values with a form of their own (codes, days, addresses, choices) are not; neither are figures
    within bounds, or at the ends of a range. Of an id in letters whose form nothing shows, a
    service's own users know more than code does.
    """
    if choices_of(schema) or stated_choices(schema) or "pattern" in schema:
        return False
    if json_type(schema) in ("integer", "number"):
        words, starts = {*split_name(name)}, range_starts()
        is_range = words & {*starts, *starts.values()}
        is_bounded = {"minimum", "maximum"} <= schema.keys() or is_range
        is_known = meaning_row(name, schema, "numbers") is not None or numbered_choices(schema)
        return bool(schema.get("description")) and not is_bounded and not is_known
    if json_type(schema) != "string" or "format" in schema:
        return False
    if names_one(name) and not schema.keys() & {"example", "examples", "default"}:
        return True
    row = meaning_row(name, schema)
    if row is not None:
        kind = str(row.give.get("kind", "")).partition(" ")[0]
        return bool(kind) and kind not in _OF_A_FORM
    return names_a_thing(name, schema) or meaning_of(name, schema) not in _OF_A_FORM


def range_starts() -> Mapping[str, str]:
    """Return the words of names that end a range, each with the word that starts it."""
    starts: Mapping[str, str] = packaged("callwright.language", "meanings.yaml")["ranges"]
    return starts


def has_a_name(name: str, schema: JsonSchema) -> bool:
    """Whether a parameter takes the name of a thing, by its own name or its description."""
    described = without_links(schema.get("description") or "").lower()
    is_named = split_name(name)[-1] in _NAMING or _NAME_OF.search(described) is not None
    return is_named or names_a_thing(name, schema)


def bearers(schema: JsonSchema) -> list[str]:
    """Return what a "name" may be the name of, likeliest first, by description or by the tool."""
    described = without_links(schema.get("description") or "").lower()
    tool, _, does = str(schema.get(ASKED_OF, "")).partition(" ")
    if found := _NAME_OF.search(described):
        return [next(filter(None, found.groups()))]
    words = function_words(tool)
    # one word is a verb
    nouns = [word for word in words if deed_of(word) == "other"] if len(words) > 1 else []
    about = " ".join(nouns).partition(" by ")[0]
    return [about, described] if about else [f"{described} {does.lower()}".strip()]


@lru_cache(16384)
def _row(table: str, words: str, description: str, *, is_told: bool) -> Meaning | None:
    """Return the first row that matches the name, or else the first to match the description.

    With `is_told` the name already gives the meaning, so the description is not tried; None if
    no row matches.
    """
    rows, head = _rows()[table], description[:_LONGEST_HEAD]
    for row in rows:
        if row.name.search(words) and (row.where is None or row.where.search(description)):
            return row
    if is_told:
        return None
    return next((row for row in rows if row.about and row.about.search(head)), None)


@cache
def _rows() -> dict[str, tuple[Meaning, ...]]:
    def read(row: Mapping[str, Any]) -> Meaning:
        about, where = (re.compile(row[key]) if key in row else None for key in ("about", "where"))
        give = {key: row[key] for key in row if key not in ("name", "about", "where")}
        return Meaning(re.compile(row["name"]), about, where, give)

    tables = packaged("callwright.language", "meanings.yaml")
    return {table: tuple(map(read, tables[table])) for table in _TABLES}


def text_of(meaning: Meaning, language: Language, rng: Random) -> str:
    """Return a value of a meaning, or "" if the language has no words for it."""
    give = meaning.give
    if "faker" in give:
        return fake(give["faker"], rng)
    if "pick" in give:
        return str(rng.choice(give["pick"]))
    if "table" in give:
        return str(rng.choice(code_table(give["table"])))
    if "shape" in give:
        return shaped(give["shape"], rng)
    return (
        phrase(give["kind"], language, rng) if _has_phrases(give.get("kind", ""), language) else ""
    )


def stated_choices(schema: JsonSchema) -> list[str]:
    """Return the choices that only the description of a text parameter names.

    For example "Can be: inbound, outbound or both." or "When set to true, …"; the only one of "The
    type of this resource: tags". Empty if there are none.
    """
    if json_type(schema) != "string" or schema.get("enum"):
        return []
    description = str(schema.get("description") or "")
    searched = (one.search(description) for one in (_LISTED, _CHOICES, _CONSTANT))
    found = next(filter(None, searched), None)
    if found is None and _FLAG.search(description):
        return ["true", "false"]
    return [choice.strip("`'\" ") for choice in _JOINT.split(found[1])] if found else []


def numbered_choices(schema: JsonSchema) -> list[int]:
    """Return the numbers that a description explains one by one ("1 for Gold, 2 for Silver").

    A single one is an example, and gives an empty list.
    """
    if json_type(schema) not in ("integer", "number") or schema.get("enum"):
        return []
    explained = _EXPLAINED.findall(str(schema.get("description") or ""))
    numbers = [*dict.fromkeys(map(int, explained))]
    return numbers if len(numbers) > 1 else []


def in_context(
    properties: Mapping[str, JsonSchema], tool: str, description: str
) -> dict[str, JsonSchema]:
    """Return the schemas of a tool's parameters, each with a note of what the tool does.

    The note decides between meanings: a "path" is a folder's path in a tool that makes folders.
    """
    note = f"{tool} {description.partition('. ')[0]}"
    return {
        name: {**with_told_example(schema), ASKED_OF: note} for name, schema in properties.items()
    }


def _has_phrases(kind: str, language: Language) -> bool:
    templates = of(language).data["values"]["templates"]
    return kind in PHRASED | CODED or (kind != "text" and kind in templates)


def fake(provider: str, rng: Random, *, alone: bool = False) -> str:
    """Return a value of the named Faker provider; the same state of `rng` gives the same value.

    With `alone`, load only this provider, which saves the time to load all the others.
    """
    faker = _faker((f"faker.providers.{provider}",) if alone else None)
    faker.seed_instance(rng.getrandbits(_SEED_BITS))
    return str(faker.format(provider))


@cache
def _faker(modules: tuple[str, ...] | None) -> "Faker":
    require_extra("build")
    from faker import Faker  # half a second that only those pay who draw such a value

    return Faker(_LOCALE, providers=[*modules] if modules else None)


@cache
def chinese_names() -> tuple[frozenset[str], frozenset[str]]:
    """Return the family names and the given names that Faker has in Chinese characters."""
    families = frozenset(_names_of(_CHINESE, "last_names"))
    return families, frozenset(_names_of(_CHINESE, "first_names"))


def _names_of(locales: Iterable[str], field: str) -> Iterator[str]:
    require_extra("build")
    from importlib import import_module

    for locale in locales:
        provider = import_module(f"faker.providers.person.{locale}").Provider
        for listed in (field, f"{field}_male", f"{field}_female"):
            yield from getattr(provider, listed, ())
