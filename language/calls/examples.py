"""The examples of a document: which of them are values that people give."""

import re

from callwright.language.names import names_one, split_name
from callwright.language.packs import LanguagePattern
from callwright.language.schemas import json_type
from callwright.warehouse.records import JsonSchema

# "such as T-1042": a code is known by its digits, words may mean anything
_TOLD_CODE = LanguagePattern(
    r"(?:@{shows_example})[\s:\"'`(]*(?P<code>(?=(?:[\w-]*\d){2})\w[\w-]{2,40})(?![\w-])"
)
# escapes, alternatives, brackets of code, a quoted value of a field
_PROGRAM_TEXT = re.compile(r"%[0-9A-Fa-f]{2}|\||[{}<>]|\w[:=]['\"]|\(\(")
# bytes in base64 (an id may be as long, in hex digits), and lines of a file
_FOR_NO_CHAT = re.compile(
    r"(?![0-9a-f]{40,64}$)[A-Za-z0-9+/]{40,}={0,2}|(?:[^\n]*\S[^\n]*\n){3,}.*", re.DOTALL
)
# seconds or milliseconds since 1970
_EPOCH, _CLOCKED = re.compile(r"1\d{9}(\d{3})?"), frozenset({"at", "time", "date", "timestamp"})
_SAYS_EPOCH = re.compile(r"\b(?:unix|epoch|timestamp)\b", re.IGNORECASE)
_THOUSAND = 1000
# what a writer of documents puts where a value goes: the word for it, brackets, dots, "your-…"
_PLACEHOLDER = re.compile(
    r"(?:string|foo|bar|baz|foo ?bar|example|sample|placeholder|lorem ipsum.*|null|todo|tbd)\d*"
    r"|<[^<>]+>|\$?\{\{?[^{}]+\}\}?|\[[a-z _-]+\]|.*\[(?-i:[A-Z]+(?:[ _-][A-Z]+)*)\].*"
    r"|(?:unique|example|sample|dummy)[ _.-].*|(?:\S+ )+example(?: \S+)*"
    r"|your\b.*|(?-i:My(?: [A-Z]\w*)+)|(?:my|your|some)[-_.]\S+|.*(?:\.\.\.|…|x{4,}|\*{3,}).*",
    re.IGNORECASE | re.DOTALL,
)
_WORD_FOR_ID = re.compile(r"(?:[a-z]+[ _-])*(?:identifier|id|uid|uuid)", re.IGNORECASE)
_SLUG = re.compile(r"[a-z]+(?:-[a-z]+)+")
_SITE_OF_NOBODY = re.compile(
    r"(?:(?:https?|wss?)://(?:[\w-]+\.)*(?:example|domain)|(?:\w+://)?(?:\S+@)?(?:[\w-]+\.)*"
    r"(?:(?:my|your)[\w-]*|some-?(?:domain|site|url)|foo|bar))\.[\w.-]+(?::\d+)?(?:[/?#]\S*)?",
    re.IGNORECASE,
)


def is_placeholder(example: str, name: str) -> bool:
    """Whether an example only holds the place of a value.

    It is a word for one ("app-identifier"), the address of a site that is nobody's, or the name of
    its own parameter.
    """
    if _PLACEHOLDER.fullmatch(example) or _SITE_OF_NOBODY.fullmatch(example):
        return True
    if names_one(name) and _WORD_FOR_ID.fullmatch(example):
        return True
    if _SLUG.fullmatch(example) and split_name(example)[-1] in split_name(name)[:-1]:
        return True  # "cool-new-feature" for a feature flag
    words = [word for word in split_name(example) if not word.isdecimal()]
    is_numbered = any(map(str.isdecimal, example))
    return words == [*split_name(name)] and (len(words) > 1 or not is_numbered)


def usable_examples(name: str, schema: JsonSchema) -> list[str]:
    """Return the texts among a schema's examples that a person might give, without quotes.

    Nobody gives bytes or the lines of a file in a sentence; an id is copied whatever its length.
    """
    texts = (one for one in schema.get("examples") or () if isinstance(one, str))
    is_id = names_one(name)
    stated = (one for one in texts if is_id or not _FOR_NO_CHAT.fullmatch(one.strip()))
    bare = (" ".join(one.split()).strip() for one in stated)
    told = (one[1:-1].strip() if one[:1] == one[-1:] and one[:1] in "\"'" else one for one in bare)
    return [one for one in told if one.strip("\"'") and not is_placeholder(one, name)]


def without_placeholders(name: str, schema: JsonSchema) -> JsonSchema:
    """Return a text's schema without examples if a person might give none of them."""
    if "examples" not in schema or usable_examples(name, schema):
        return schema
    return {key: value for key, value in schema.items() if key != "examples"}


def with_told_example(schema: JsonSchema) -> JsonSchema:
    """Return a text's schema with the code that its description gives as an example."""
    described = schema.get("description")
    shown = {"enum", "const", "examples", "pattern", "format"} & schema.keys()
    if schema.get("type") != "string" or shown or not isinstance(described, str):
        return schema
    told = _TOLD_CODE.of(described).search(described)
    return {**schema, "examples": [told["code"]]} if told else schema


def is_for_programs(name: str, schema: JsonSchema) -> bool:
    """Whether all examples are written as programs do: filters, escapes, seconds since 1970."""
    if ticks_in_a_second(name, schema):
        return True
    examples = schema.get("examples") or ()
    if json_type(schema) != "string" or schema.keys() & {"enum", "const", "pattern"}:
        return False
    texts = usable_examples(name, schema) if all(isinstance(one, str) for one in examples) else []
    return bool(texts) and all(map(_PROGRAM_TEXT.search, texts))


def ticks_in_a_second(name: str, schema: JsonSchema) -> int:
    """Return 1 or 1000 for a moment that examples show as seconds or thousandths since 1970, or 0.

    Such a moment is known by its name ("created_at_after") or its description.
    """
    found = [_EPOCH.fullmatch(str(one)) for one in schema.get("examples") or ()]
    told = str(schema.get("description") or "")
    is_told = not _CLOCKED.isdisjoint(split_name(name)) or _SAYS_EPOCH.search(told) is not None
    if not found or None in found or not is_told:
        return 0
    return _THOUSAND if any(one and one[1] for one in found) else 1
