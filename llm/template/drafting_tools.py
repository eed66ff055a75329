"""Drafting tools, from a category's goals and words: names, descriptions, parameters, results."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from random import Random
from typing import Any, NamedTuple, TypeVar

from pydantic import JsonValue

from callwright.language.names import (
    CHANGES,
    Deed,
    deed_of,
    function_words,
    plural,
    split_name,
    with_article,
    words,
)
from callwright.language.packs import in_folders, is_packaged, known, of, packaged, signs
from callwright.llm.template.sections import Sections
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE, Language

# what parameters of an everyday category hold lies beside its goals
FOLDER = "callwright.generators.toolset.everyday"
_SHARED = f"{FOLDER}.shared"
_WITHOUT_VALUES = frozenset({"date", "time", "date_time", "boolean", "integer"})
_SHAPES = {
    "date": "date",
    "time": "time",
    "moment": "date_time",
    "flag": "boolean",
    "int": "integer",
    "pick": "choice",
    "list": "list",
    "phone": "phone",
    "email": "email",
}
_Stated = TypeVar("_Stated")


class ParameterWords(NamedTuple):
    """The words that a language has for a parameter."""

    description: str
    values: tuple[str, ...] = ()


class LexiconParameter(NamedTuple):
    """A parameter of the lexicon: name, whether required, what it holds, and words by language."""

    name: str
    is_required: bool
    kind: str
    words: Mapping[Language, ParameterWords]
    limits: tuple[int, int] | None = None

    @property
    def names_thing(self) -> bool:
        """Whether its values can tell things apart: text, not a number, a day or a choice."""
        return self.kind in ("text", "phone", "email")

    def sketch(self, language: Language) -> dict[str, JsonValue]:
        """Return the parameter as an answer writes it, without whether it is required."""
        words = _in_language(self.words, language)
        sketch: dict[str, JsonValue] = {
            "name": self.name,
            "kind": self.kind,
            "description": words.description,
        }
        if words.values:
            sketch["choices" if self.kind == "choice" else "examples"] = list(words.values)
        if self.limits:
            sketch |= {"minimum": self.limits[0], "maximum": self.limits[1]}
        return sketch


def _in_language(words: Mapping[Language, _Stated], language: Language) -> _Stated:
    if language not in words:
        raise ReplyError(
            f"template/v1 drafts tools in {', '.join(words)}, not in {language}; use another model."
        )
    return words[language]


# `name!` is required; its description, what it holds, and values or limits
_Row = tuple[str | int, ...]


def _parameter(row: _Row, others: Mapping[Language, Sequence[str]]) -> LexiconParameter:
    """Return the parameter of a lexicon row; `others` are its texts in other languages."""
    name, description, kind, *values = (str(row[0]), row[1], str(row[2]), *row[3:])
    limits = (int(values[0]), int(values[1])) if kind == "int" else None
    shape = _SHAPES.get(kind, "text")
    words_by_language: dict[Language, ParameterWords] = {}
    for language, (text, *more) in {
        DEFAULT_LANGUAGE: [str(description), *map(str, values[:1])],
        **others,
    }.items():
        choices_text = more[0] if more else ""
        if shape not in _WITHOUT_VALUES and not values:
            choices_text = _kinds(language)[kind]
        is_plain = shape in _WITHOUT_VALUES or not choices_text
        words_by_language[language] = ParameterWords(
            text, () if is_plain else tuple(choices_text.split("|"))
        )
    return LexiconParameter(name.rstrip("!"), name.endswith("!"), shape, words_by_language, limits)


def rows_for(category: str, function: str) -> list[LexiconParameter]:
    """Return a category's rows that match the function's words, in order, one per name.

    Rows that repeat a description are left out as well.
    """
    matching_rows: dict[str, LexiconParameter] = {}
    texts: set[str] = set()
    for pattern, candidate in _categories().get(category, ()):
        described = {words.description for words in candidate.words.values()}
        if (
            candidate.name not in matching_rows
            and not described & texts
            and pattern.search(function)
        ):
            matching_rows[candidate.name] = candidate
            texts |= described
    return list(matching_rows.values())


@cache
def _categories() -> dict[str, tuple[tuple[re.Pattern[str], LexiconParameter], ...]]:
    # the description and the values that a language has for each row, by category, pattern and name
    own = {
        code: {
            (category, row[0], row[1]): row[2:]
            for group in in_folders(FOLDER, f"{code}.yaml")
            for category, entry in group.items()
            for row in entry.get("parameters", ())
        }
        for code in _lexicons()
    }
    read: dict[str, tuple[tuple[re.Pattern[str], LexiconParameter], ...]] = {}
    for entry in (one for group in in_folders(FOLDER, "categories.yaml") for one in group):
        patterned_rows = []
        for pattern, *row in entry["parameters"]:
            others = {
                code: texts[entry["name"], pattern, row[0].rstrip("!")]
                for code, texts in own.items()
            }
            patterned_rows.append(
                (re.compile(pattern, re.IGNORECASE), _parameter(tuple(row), others))
            )
        read[entry["name"]] = tuple(patterned_rows)
    return read


def _kinds(language: Language) -> Mapping[str, str]:
    if language == DEFAULT_LANGUAGE:
        kinds: Mapping[str, str] = packaged(_SHARED, "kinds.yaml")
    else:
        kinds = _lexicons()[language]["kinds"]
    return kinds


@cache
def _lexicons() -> dict[Language, Mapping[str, Any]]:
    """Return the words of the other languages for all categories, by language."""
    held = (code for code in known() if is_packaged(_SHARED, f"{code}.yaml"))
    return {code: packaged(_SHARED, f"{code}.yaml") for code in held}


def _texts_of(english: str, section: str) -> dict[Language, str]:
    """Return an English text of this module with its translation in every language that has one."""
    return {DEFAULT_LANGUAGE: english} | {
        code: lexicon[section][english] for code, lexicon in _lexicons().items()
    }


class Result(NamedTuple):
    """A return value with its description in English."""

    name: str
    kind: str
    description: str

    def sketch(self, language: Language, members: Sequence["Result"] = ()) -> dict[str, JsonValue]:
        """Return the value as an answer writes it."""
        description = _in_language(_texts_of(self.description, "results"), language)
        texts: dict[str, JsonValue] = {
            "name": self.name,
            "kind": self.kind,
            "description": description,
        }
        if members:
            return {**texts, "members": [member.sketch(language) for member in members]}
        return texts


def _functions(name: str) -> Mapping[str, Any]:
    """Return one of the tables of what functions do, take and return."""
    table: Mapping[str, Any] = packaged(_SHARED, "functions.yaml")[name]
    return table


def _result(name: str) -> Result:
    return Result(name, *_functions("results")[name])


def result_sketches(sections: Sections, language: Language) -> list[JsonValue]:
    """Return the results of the tool that the prompt names."""
    function = function_words(sections.word("name", ""))
    function_text, deed = " ".join(function), deed_of(function[0]) if function else "other"

    def first(table: str, otherwise: str) -> Result:
        rows = _functions(table).items()
        found = (one for pattern, one in rows if re.search(rf"\b(?:{pattern})\b", function_text))
        return _result(next(found, otherwise))

    if deed in ("list", "search"):
        members = (_result("title"), _result("summary"))
        return [_result("results").sketch(language, members), _result("total").sketch(language)]
    if deed == "look":
        return [first("looked_up", "answer").sketch(language), _result("as_of").sketch(language)]
    made = first("made", "done_at" if deed in CHANGES else "message")
    return [_result("success").sketch(language), made.sketch(language)]


_NO_LETTERS = re.compile("[^A-Za-z]+")
_SMALL = frozenset(words("a an the my"))


class Wanted(NamedTuple):
    """Something that people want done, in the tool's language and in English."""

    goal: str
    english: str


def name_all(sections: Sections, language: Language, rng: Random) -> list[JsonValue]:
    """Return as many names as asked for, or as many as there are reasons for.

    Goals come first, in a random selection. Raises ReplyError without a category or a count.
    """
    category, count = sections.word("category", ""), sections.json("count")
    if not category or not isinstance(count, int):
        problem = "template/v1 expects a category's name in <category> and a number in <count>."
        raise ReplyError(problem)
    goals = _paired(sections, "goals", language)
    resources = _paired(sections, "resources", language)
    named: dict[str, Wanted] = {}
    for at in sorted(rng.sample(range(len(goals)), min(count, len(goals)))):
        named.setdefault(function_name(goals[at].english), goals[at])
    known_gists = {_gist(wanted.english) for wanted in goals}
    texts = {wanted.goal for wanted in named.values()}
    for wanted in _upkeep(resources, language):
        if len(named) >= count:
            break
        if _gist(wanted.english) not in known_gists and wanted.goal not in texts:
            named.setdefault(function_name(wanted.english), wanted)
            texts.add(wanted.goal)
    things = [resource.english for resource in resources]
    return [
        {"name": f"{category}.{_area(wanted.english, things)}.{function}", "goal": wanted.goal}
        for function, wanted in list(named.items())[:count]
    ]


def function_name(goal: str) -> str:
    """Return a goal as a function name in camelCase: "set an alarm" gives setAlarm."""
    words = (word for word in goal.replace("-", " ").split() if word not in _SMALL)
    plain_words = [_NO_LETTERS.sub("", word).lower() for word in words]
    first, *rest = [word for word in plain_words if word] or ["run"]
    return first + "".join(word.capitalize() for word in rest)


def _paired(sections: Sections, tag: str, language: Language) -> list[Wanted]:
    """Return the goals or resources with their English names; ReplyError if some are missing."""
    tags = (tag, tag if language == DEFAULT_LANGUAGE else f"english{tag}")
    texts, english = (
        [str(text) for text in sections.listed(one)] if one in sections.tagged else []
        for one in tags
    )
    if len(texts) != len(english):
        raise ReplyError(
            f"template/v1 makes names of English words, but <english{tag}> has {len(english)} of"
            f" {len(texts)} {tag}."
        )
    return [Wanted(goal, words) for goal, words in zip(texts, english, strict=True)]


def _upkeep(resources: Sequence[Wanted], language: Language) -> Iterator[Wanted]:
    """Yield functions to add, list, change and delete each thing, then further ones.

    Those are to search, restore, export and rename.
    """
    for table, resource in product(("upkeep", "further"), resources):
        singular, many = with_article(resource.english), plural(resource.english)
        for english in _functions(table):
            shape = _in_language(_texts_of(english, "texts"), language)
            stated = english.format(one=singular, many=many, r=resource.english)
            yield Wanted(shape.format(one=singular, many=many, r=resource.goal), stated)


def _gist(goal: str) -> tuple[str, ...]:
    """Return the action and its objects: to set an alarm and to add a new one are the same."""
    verb, *rest = [word for word in goal.split() if word not in _SMALL and word != "new"]
    deed = deed_of(verb)
    return (deed if deed != "other" else verb, *(word.removesuffix("s") for word in rest))


def _area(goal: str, things: Sequence[str]) -> str:
    """Return the area of the category that a goal belongs to: its object, else its action."""
    stated = {word.removesuffix("s") for word in split_name(function_name(goal))}
    parts = {thing: {word.removesuffix("s") for word in thing.split()} for thing in things}
    about = [thing for thing, words in parts.items() if words <= stated]
    if about:
        chosen = plural(max(about, key=len))
        return "".join(_NO_LETTERS.sub("", word).capitalize() for word in chosen.split())
    return str(_functions("areas").get(deed_of(goal.split(maxsplit=1)[0]), "Actions"))


MOST_PARAMETERS = 4
_FEWEST = 2
_NAMED = frozenset(words("add create change update delete remove rename restore"))
_LABELLED = 3


def describe(sections: Sections, language: Language) -> str:
    """Return the goal as a sentence."""
    goal = sections.word("goal", "").strip(signs(" ."))
    return f"{goal[:1].upper()}{goal[1:]}{of(language).stop}"


def parameter_sketches(sections: Sections, language: Language) -> list[JsonValue]:
    """Return the parameters of the tool that the prompt names, required ones first."""
    rows = parameter_rows(sections.word("category", ""), function_words(sections.word("name", "")))
    return [{**one.sketch(language), "required": one.is_required} for one in rows]


def parameter_rows(category: str, function: Sequence[str]) -> list[LexiconParameter]:
    """Return a function's parameters: by its words in the lexicon, or else by what it does."""
    deed = deed_of(function[0]) if function else "other"
    known_rows = rows_for(category, " ".join(function))
    is_vague = function[-1:] in (("keyword",), ("file",))
    if function[:1] == ("list",):
        known_rows = []
    elif deed in ("search", "export") and is_vague and not _is_required(known_rows):
        known_rows = [_row("keyword")] if deed == "search" else [_row("format"), _row("since")]
    elif function[:1] and function[0] in _NAMED:
        known_rows = _of_kept(deed, function, known_rows)
    filled = list(known_rows)
    # at least two, by what goes with the deed
    for filler in _functions("fillers").get(deed, ("remark", "detail")):
        if len(filled) < _FEWEST:
            filled.append(_row(filler))
    if known_rows and deed != "list" and not _is_required(filled) and filled[0].kind != "boolean":
        filled[0] = filled[0]._replace(is_required=True)
    return sorted(filled, key=lambda one: not one.is_required)[:MOST_PARAMETERS]


def _of_kept(
    deed: Deed, function: Sequence[str], found: list[LexiconParameter]
) -> list[LexiconParameter]:
    """Return the parameters for adding, changing, renaming, restoring or deleting a kept thing."""
    texts = [one for one in found if one.names_thing]
    if texts:
        thing_row = texts[0]._replace(is_required=True)
    else:
        thing, label = " ".join(function[1:][-_LABELLED:]), _row("label")
        words = {}
        for code, one in label.words.items():
            words[code] = one._replace(description=one.description.format(thing=thing))
        thing_row = label._replace(words=words)
    if function[0] == "rename":
        return [thing_row, _row("new_label")]
    if deed in ("drop", "restore"):
        # pages deleted from a document are not the document
        is_kept = texts and "from" not in function
        return [thing_row] if is_kept or not _is_required(found) else found
    if deed == "change" and len(found) < _FEWEST and (texts or not found):
        return [thing_row, _row("new_label")]
    return found or [thing_row]


def _is_required(rows: Sequence[LexiconParameter]) -> bool:
    return any(one.is_required for one in rows)


def _row(name: str) -> LexiconParameter:
    """Return a parameter that goes with an action."""
    row: _Row = tuple(_functions("parameters")[name])
    # the description, and the values
    texts = [str(part) for part in row[1::2] if isinstance(part, str)]
    others = {
        code: [lexicon["texts"][text] for text in texts] for code, lexicon in _lexicons().items()
    }
    return _parameter(row, others)
