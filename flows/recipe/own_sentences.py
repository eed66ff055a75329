"""Sentences that a recipe brings for its tools: files by tool, checked against the tools.

The language is part of a file's name: `shop.en.yaml`. Errors are those of a recipe, with the
file's own lines. All errors of a file are found at once.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

from callwright.flows.recipe.parts import Recipe
from callwright.flows.recipe.problems import (
    LocatedYaml,
    RecipeProblem,
    TextPlace,
    YamlFault,
    dotted,
    explain,
    read_yaml,
)
from callwright.flows.recipe.schema import DataPath, nearest
from callwright.generators.families import tools_for
from callwright.language.packs import known, of, signs
from callwright.language.schemas import json_type
from callwright.language.sentences import Sentence
from callwright.llm.models import reads_language
from callwright.llm.tool_sentences import FIELDS, SentenceFile, tools_without_sentences
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.plain_words import read_with_words
from callwright.warehouse.records import JsonSchema, Language, Tool
from callwright.warehouse.yaml_text import bounded_events

MOST_BYTES = 2_000_000
LONGEST = 500  # characters of a sentence
_MARKS = "".join(signs(".?!{.!?}"))
_PARTS = ("requests", "says", "questions", "answers", "noun", "called", "things", "facts", "parts")
_FEW = 8  # parameters of which all combinations are tried
_VALUE = "Zq7"  # stands for any value where sentences are compared
_DRAWS = 2
_BRANCHES = ("anyOf", "oneOf", "allOf")
_NARROWING = frozenset({"enum", "const", "format", "pattern", "$ref", *_BRANCHES})
_NAMED = 3
_NONE: Mapping[str, str] = MappingProxyType({})


def language_in(path: Path) -> str:
    """Return the language in the name of a file of sentences; "" if it has none."""
    name, _, ending = path.name.rpartition(".")
    return name.rpartition(".")[2] if ending.lower() in ("yaml", "yml") and "." in name else ""


def read_sentence_file(path: Path) -> SentenceFile:
    """Read a file of sentences without checking it. Raises ValueError if it can't be read."""
    language = language_in(path)
    if language not in known():
        raise ValueError(
            f"{str(path)!r} must have the language of its sentences in its name, as in"
            f" NAME.en.yaml; the languages are {', '.join(known())}"
        )
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(
                f"{str(path)!r} has more than {MOST_BYTES:,} bytes; split it into several files"
            )
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise ValueError(f"{str(path)!r} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        problem = f"{str(path)!r} is not in UTF-8: {error.reason} at byte {error.start}"
        raise ValueError(problem) from error
    return SentenceFile(file=str(path), language=language, text=text)


def check_sentences(
    files: Sequence[SentenceFile], tools: Sequence[Tool], *, is_all: bool = True
) -> tuple[RecipeProblem, ...]:
    """Return all errors in files of sentences for these tools, by file and line.

    A sentence for an unknown tool is an error if `tools` are all that there are.
    """
    by_name: dict[str, list[Tool]] = defaultdict(list)
    for tool in tools:
        by_name[tool.name].append(tool)
    checks = [_FileCheck(one, by_name, is_all=is_all) for one in files]
    for file_check in checks:
        file_check.run()
    _refuse_second_sets(checks)
    for language in languages_of(files):
        _compare([said for one in checks if one.file.language == language for said in one.said])
    return tuple(problem for one in checks for problem in one.problems)


def with_checked_sentences(recipe: Recipe, tools: Sequence[Tool]) -> Recipe:
    """Return a recipe whose sentences know their tools.

    Raises ConfigurationError that lists all that is wrong with them.
    """
    if not recipe.sentence_files:
        return recipe
    if problems := check_sentences(recipe.sentence_files, tools):
        raise ConfigurationError(explain(problems))
    files = tuple(
        one.with_changes(parameters=_parameters(one, tools)) for one in recipe.sentence_files
    )
    return recipe.model_copy(update={"sentence_files": files})


def _parameters(
    file: SentenceFile, tools: Sequence[Tool]
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return the parameters that prompts show, for the tools that a file has sentences for."""
    parameter_sets: dict[str, dict[tuple[str, ...], None]] = defaultdict(dict)
    entries = read_with_words(file.text)
    for tool in tools:
        if (
            tool.name in entries
            and {*tool.choosable} == Sentence(entries[tool.name]["requests"][0]).slots
        ):
            parameter_sets[tool.name] |= dict.fromkeys([tool.choosable, tuple(tool.properties)])
    return {name: tuple(sets) for name, sets in parameter_sets.items()}


def told_of_sentences(recipe: Recipe, tools: Sequence[Tool]) -> Iterator[str]:
    """Yield how many tools template/v1 words plainly, for lack of sentences.

    Nothing is yielded if another model words requests.
    """
    if reads_language(recipe.models.generator.name):
        return
    for language in recipe.languages:
        mine = tools_for(tools, language)
        lacking = tools_without_sentences(mine, language, recipe.sentence_files)
        if lacking:
            named = ", ".join(dict.fromkeys(one.name for one in lacking[:_NAMED]))
            more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
            is_foreign = all(one.language != language for one in mine)
            so = "so template/v1 words their requests plainly"
            so = "and template/v1 can't word requests for them" if is_foreign else so
            yield (
                f"{len(lacking)} of {count_of(len(mine), 'tool')} have no sentences in"
                f" {of(language).name}, {so}: {named}{more}. `callwright tools sentences CATALOG`"
                " drafts some."
            )


class _Said(NamedTuple):
    """A usable sentence, and its place."""

    check: "_FileCheck"
    tool: str
    path: DataPath
    sentence: Sentence
    things: Mapping[str, str]  # what stands before a bare ID, by slot


class _FileCheck:
    def __init__(self, file: SentenceFile, tools: dict[str, list[Tool]], *, is_all: bool) -> None:
        self.file = file
        self.said: list[_Said] = []
        # of the tools whose sentences can be used, by name
        self.slots: dict[str, frozenset[str]] = {}
        self._tools, self._is_all = tools, is_all
        self._source = LocatedYaml(None, {}, {})
        self._found: dict[tuple[DataPath, str], RecipeProblem] = {}

    @property
    def problems(self) -> list[RecipeProblem]:
        """The errors, in the order of the lines."""
        return sorted(self._found.values(), key=lambda one: (one.line, one.column, one.place))

    def line_of(self, path: DataPath, *, key: bool = False) -> int:
        """Return the line of a value, or of its key."""
        return self._source.place_of(path, key=key).line

    def add(self, path: DataPath, message: str, *, of_key: bool = False, **more: Any) -> None:  # noqa: ANN401 - a problem's fields
        """Note an error at a place."""
        place = self._source.place_of(path, key=of_key)
        self._found[path, message] = RecipeProblem(
            self.file.file, *place, dotted(path), message, **more
        )

    def run(self) -> None:
        """Find all errors except those between tools."""
        try:
            _refuse_aliases(self.file.text)
            self._source = read_yaml(self.file.text)
        except YamlFault as error:
            self._found[(), ""] = RecipeProblem(
                self.file.file, *error.place, "", f"is not valid YAML: {error}"
            )
            return
        for path, again, first in self._source.repeated:
            message = f"occurs twice, first in line {first.line}"
            self._found[path, message] = RecipeProblem(
                self.file.file, *again, dotted(path), message
            )
        data = self._source.data
        if not isinstance(data, dict) or not data:
            message = (
                "must be a mapping from tools to sentences, such as `get_weather:"
                " {requests: [...]}`"
            )
            self._found[(), ""] = RecipeProblem(self.file.file, 1, 1, "", message)
            return
        for name, entry in data.items():
            self._check_tool(name, entry)

    def _check_tool(self, name: object, entry: object) -> None:
        path: DataPath = (name if isinstance(name, str | int) else str(name),)
        candidates = self._tools.get(str(name), [])
        if not candidates and self._is_all:
            meant = nearest(str(name), self._tools)
            self.add(path, f"there is no tool {str(name)!r}", of_key=True, meant=meant)
        if not isinstance(entry, dict):
            self.add(
                path,
                "must be a mapping with `requests` and, optionally, `says`, `questions` and"
                " `answers`",
            )
            return
        for part in entry:
            if part not in _PARTS:
                more = {
                    "meant": nearest(str(part), _PARTS),
                    "noun": "settings of a tool",
                    "known": _PARTS,
                }
                self.add((*path, part), "there is no such setting", of_key=True, **more)
        things = {
            one: words
            for one, words in _mapping(entry.get("things")).items()
            if isinstance(words, str)
        }
        requests = [*self._sentences((*path, "requests"), entry.get("requests"), things)]
        tool = _closest(candidates, requests)
        for request_sentence in requests:
            self._check_slots(request_sentence, tool)
            if tool is not None and (pair := _side_by_side(request_sentence.sentence, tool)):
                self.add(
                    request_sentence.path,
                    f"it is unclear where {{{pair[0]}}} ends and {{{pair[1]}}} begins; put"
                    " words between them",
                )
        if tool is not None:
            self._check_first(requests, tool)
        self._check_says((*path, "says"), entry.get("says"), tool)
        self._check_questions((*path, "questions"), entry.get("questions"), tool)
        self._check_answers((*path, "answers"), entry.get("answers"), tool)
        self._check_words(path, entry, tool)
        self.said += [*requests, *self._pointing(path, entry, tool, things)]

    def _sentences(
        self, path: DataPath, stated: object, things: Mapping[str, str] = _NONE
    ) -> Iterator[_Said]:
        """Yield the sentences of a list that can be parsed; note errors for the others."""
        if not isinstance(stated, list) or not stated:
            lacks = "is missing" if stated is None else "must be a list"
            self.add(
                path,
                f'{lacks}; list the sentences that people say, such as ["book [a table at'
                f' {{restaurant}}]"]',
            )
            return
        before: dict[str, int] = {}
        for number, text in enumerate(stated):
            place = (*path, number)
            if isinstance(text, str) and text in before:
                self.add(place, f"repeats the sentence in line {before[text]}")
                continue
            before[str(text)] = self.line_of(place)
            yield from self._sentence(place, text, things)

    def _sentence(
        self, place: DataPath, text: object, things: Mapping[str, str] = _NONE
    ) -> Iterator[_Said]:
        """Yield the sentence at a place; if it can't be parsed, note an error instead."""
        if not isinstance(text, str):
            self.add(place, f"must be text, not {text!r}; put it in quotation marks")
            return
        try:
            sentence = _parsed(text)
        except (ConfigurationError, ValueError) as error:
            self.add(place, str(error).rstrip("."))
            return
        for slot in sentence.repeated:
            self.add(place, f"{{{slot}}} occurs twice")
        yield _Said(self, str(place[0]), place, sentence, things)

    def _check_slots(
        self, said: _Said, tool: Tool | None, only: str = "", more: Sequence[str] = ()
    ) -> None:
        if tool is None:
            return
        names = (only,) if only else (*tool.choosable, *more)
        for slot in sorted(said.sentence.slots.difference(names)):
            if not only:
                complaint = f"{tool.name} has no parameter {slot!r}"
            else:
                complaint = f"an answer may contain only {{{only}}}, not {slot!r}"
            self.add(
                said.path, complaint, meant=nearest(slot, names), noun="parameters", known=names
            )

    def _check_first(self, requests: Sequence[_Said], tool: Tool) -> None:
        """Check that the first sentence can say every value of a tool; the others may say less."""
        if not requests or requests[0].path[-1] != 0:
            return  # it was not parsed
        first = requests[0]
        strange = first.sentence.slots.difference(tool.choosable)
        meant = {nearest(slot, tool.choosable) for slot in strange}
        lacking = [
            one for one in tool.choosable if one not in first.sentence.slots and one not in meant
        ]
        if lacking:
            named = ", ".join(f"[… {{{one}}}]" for one in lacking)
            optional = [one for one in lacking if one not in tool.required]
            hint = (
                f"; if no request mentions it, mark it under tools: plumbing: {{{optional[0]}:"
                " true}"
                if optional
                else ""
            )
            self.add(
                first.path,
                f"the first sentence must have a place for each parameter; it lacks {named}{hint}",
            )
            return
        if first.sentence.repeated or strange:
            return
        if unsaid := next(_unsaid(first.sentence), None):
            stated, others = (", ".join(sorted(part)) for part in unsaid)
            if stated:
                cant = f"say {stated}{f' without {others}' if others else ''}"
            else:
                cant = f"be said without {others}"
            message = (
                "the first sentence must be able to say each parameter alone, so put each in"
                " brackets of its own"
            )
            self.add(first.path, f"{message}; it can't {cant}")
            return
        self.slots[tool.name] = first.sentence.slots

    def _by_parameter(
        self, path: DataPath, stated: object, tool: Tool | None
    ) -> Iterator[tuple[str, Any]]:
        if stated is None:
            return
        if not isinstance(stated, dict):
            self.add(path, "must be a mapping with parameters as keys")
            return
        for name, entry in stated.items():
            if tool is not None and name not in tool.choosable:
                names = tool.choosable
                more = {"meant": nearest(str(name), names), "noun": "parameters", "known": names}
                self.add(
                    (*path, name), f"{tool.name} has no parameter {name!r}", of_key=True, **more
                )
            else:
                yield name, entry

    def _check_says(self, path: DataPath, stated: object, tool: Tool | None) -> None:
        phrases_by_parameter = dict(self._by_parameter(path, stated, tool))
        for name, phrases in phrases_by_parameter.items():
            place = (*path, name)
            if not isinstance(phrases, dict) or not phrases:
                self.add(
                    place,
                    "must be a mapping from values to words, such as"
                    " {true: with breakfast, false: without breakfast}",
                )
                continue
            self._check_phrases(place, phrases)
            if tool is not None:
                self._check_choices(place, phrases, tool)
        for name in tool.choosable if tool else ():
            if _is_flag(tool.properties[name]) and name not in phrases_by_parameter:  # type: ignore[union-attr] # there is one
                at = path if isinstance(stated, dict) else path[:1]
                self.add(
                    at,
                    f"`says` needs words for the flag {name}: {{{name}: {{true: …, false: …}}}}",
                    of_key=True,
                )

    def _check_phrases(self, path: DataPath, phrases: dict[Any, Any]) -> None:
        before: dict[str, object] = {}
        for value, phrase in phrases.items():
            place = (*path, value)
            if not isinstance(phrase, str) or not phrase.strip() or len(phrase) > LONGEST:
                self.add(place, "must be the words for a value")
            elif phrase.lower() in before:
                self.add(place, f"the same words stand for {_shown(before[phrase.lower()])}")
            else:
                before[phrase.lower()] = value

    def _check_choices(self, path: DataPath, phrases: dict[Any, Any], tool: Tool) -> None:
        """Note errors unless a flag or a choice has words for exactly its values."""
        choices = _choices(tool.properties[str(path[-1])])
        if not choices:
            self.add(
                path,
                f"{path[-1]} is neither a choice nor a flag, so its values need no words",
                of_key=True,
            )
            return
        shown = tuple(map(_shown, choices))
        for value in phrases:
            if not any(type(value) is type(one) and value == one for one in choices):
                more = {"meant": nearest(str(value), shown), "noun": "values", "known": shown}
                self.add((*path, value), f"{path[-1]} has no value {value!r}", of_key=True, **more)
        lacking = [name for one, name in zip(choices, shown, strict=True) if one not in phrases]
        if lacking:
            self.add(path, f"has no words for {', '.join(lacking)}", of_key=True)

    def _check_questions(self, path: DataPath, stated: object, tool: Tool | None) -> None:
        before: dict[str, str] = {}
        for name, questions in self._by_parameter(path, stated, tool):
            place = (*path, name)
            if not isinstance(questions, list) or not questions:
                self.add(place, "must be a list of questions")
                continue
            for number, question in enumerate(questions):
                if not isinstance(question, str) or not question.strip() or len(question) > LONGEST:
                    self.add((*place, number), "must be a question")
                elif question.strip() in before:
                    self.add(
                        (*place, number),
                        f"the same question already asks for {before[question.strip()]}",
                    )
                else:
                    before[question.strip()] = name

    def _check_answers(self, path: DataPath, stated: object, tool: Tool | None) -> None:
        for name, answers in self._by_parameter(path, stated, tool):
            for said in self._sentences((*path, name), answers):
                self._check_slots(said, tool, only=name)
                if name not in said.sentence.slots:
                    self.add(said.path, f"an answer must contain its value, {{{name}}}")

    def _check_words(self, path: DataPath, entry: dict[str, Any], tool: Tool | None) -> None:
        """Check the words around slots: those before a name, and before a bare ID."""
        words = [((*path, "called"), entry["called"])] if "called" in entry else []
        things = self._by_parameter((*path, "things"), entry.get("things"), tool)
        for place, one in (*words, *(((*path, "things", name), thing) for name, thing in things)):
            if not isinstance(one, str) or not one.strip() or len(one) > LONGEST:
                self.add(place, f"must be text of 1 to {LONGEST} characters")

    def _pointing(
        self, path: DataPath, entry: dict[str, Any], tool: Tool | None, things: Mapping[str, str]
    ) -> Iterator[_Said]:
        """Check the wordings for multi-step requests; yield the sentences that ask for fields."""
        for shape_sentence in (
            self._sentence((*path, "noun"), entry["noun"]) if "noun" in entry else ()
        ):
            self._check_slots(shape_sentence, tool)
        for name, shape in self._by_parameter((*path, "parts"), entry.get("parts"), tool):
            for shape_sentence in self._sentence((*path, "parts", name), shape):
                items = tool.properties[name].get("items") if tool else None
                entry_fields = tuple(items.get("properties", ())) if isinstance(items, dict) else ()
                for slot in (
                    sorted(shape_sentence.sentence.slots.difference(entry_fields)) if tool else ()
                ):
                    self.add(
                        shape_sentence.path,
                        f"the entries of {name} have no field {slot!r}",
                        meant=nearest(slot, entry_fields),
                    )
        for shape_sentence in (
            self._sentences((*path, "facts"), entry["facts"], things) if "facts" in entry else ()
        ):
            self._check_slots(shape_sentence, tool, more=(FIELDS,))
            if FIELDS not in shape_sentence.sentence.slots:
                self.add(
                    shape_sentence.path, f"a sentence that asks for facts must contain {{{FIELDS}}}"
                )
            yield shape_sentence


def _mapping(stated: object) -> dict[str, Any]:
    return stated if isinstance(stated, dict) else {}


def _refuse_aliases(text: str) -> None:
    """Raise YamlFault if a text has aliases, which can make a small text huge.

    Invalid YAML is left to the reader, which reports it with its place.
    """
    try:
        for event in bounded_events(text):
            if isinstance(event, yaml.AliasEvent):
                mark = event.start_mark
                place = TextPlace(mark.line + 1, mark.column + 1) if mark else TextPlace(1, 1)
                raise YamlFault(
                    "aliases are not allowed; write out what this one stands for", place
                )
    except yaml.YAMLError:
        return  # told when it is read, with its place


def _parsed(text: str) -> Sentence:
    """Parse a sentence. Raises ConfigurationError or ValueError if it can't be used."""
    if len(text) > LONGEST:
        message = f"a sentence may have at most {LONGEST} characters; this one has {len(text)}"
        raise ValueError(message)
    if "<" in text:
        problem = "rules in <…> are not supported; write a parameter as {…}"
        raise ValueError(problem)
    if ";" in text:
        raise ValueError(
            "a sentence can't contain a semicolon; use a comma, or write two sentences"
        )
    if re.search(r"\{[^{}]*:[^{}]*\}", text):
        raise ValueError("braces may hold only the name of a parameter, without a colon")
    return Sentence(text)


def _closest(candidates: Sequence[Tool], requests: Sequence[_Said]) -> Tool | None:
    """Return the tool of a name that the sentences are probably for, by the slots they share.

    None if there are no candidates.
    """
    slots = requests[0].sentence.slots if requests else frozenset[str]()
    return min(
        candidates, key=lambda one: len(slots.symmetric_difference(one.choosable)), default=None
    )


def _side_by_side(sentence: Sentence, tool: Tool) -> tuple[str, str] | None:
    """Return two slots for free text that may stand side by side in a sentence, or None."""
    free = [name for name in sorted(sentence.slots) if _is_free(tool.properties.get(name, {}))]
    for stated in combinations(free, 2):
        text = (
            sentence.draw(frozenset(stated), Random(0))
            or sentence.draw(sentence.slots, Random(0))
            or ""
        )
        if found := re.search(r"\{([^{}]+)\}\s*\{([^{}]+)\}", text):
            pair = (found[1], found[2])
            if {*pair} <= {*free}:
                return pair
    return None


def _is_free(schema: JsonSchema) -> bool:
    return json_type(schema) == "string" and not schema.keys() & _NARROWING


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shapes(schema: JsonSchema) -> Iterator[JsonSchema]:
    """Yield a schema, and its alternatives or parts."""
    yield schema
    for key in _BRANCHES:
        branches = schema.get(key)
        yield from (
            (one for one in branches if isinstance(one, dict)) if isinstance(branches, list) else ()
        )


def _is_flag(schema: JsonSchema) -> bool:
    return any(json_type(one) == "boolean" for one in _shapes(schema))


def _choices(schema: JsonSchema) -> tuple[bool | str, ...]:
    """Return the values of a flag or a choice that words may stand for; () if it has none."""
    if _is_flag(schema):
        return (True, False)
    items = schema.get("items")
    shapes = [*_shapes(schema), *(_shapes(items) if isinstance(items, dict) else ())]
    stated = (value for one in shapes if isinstance(one.get("enum"), list) for value in one["enum"])
    return tuple(dict.fromkeys(value for value in stated if isinstance(value, str)))


def _unsaid(sentence: Sentence) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield the slot combinations that a sentence cannot say, each with the remaining slots.

    If a sentence has many slots, only some combinations are tried.
    """
    slots = sorted(sentence.slots)
    counts = range(len(slots) + 1)
    tried = counts if len(slots) <= _FEW else {0, 1, 2, len(slots) - 1, len(slots)}
    for some in chain.from_iterable(combinations(slots, count) for count in tried):
        if not sentence.draw(frozenset(some), Random(0)):
            yield frozenset(some), sentence.slots.difference(some)


def _compare(said: Sequence[_Said]) -> None:
    """Note sentences of two tools that are the same without their values."""
    by_word: dict[str, list[tuple[int, Sentence]]] = defaultdict(list)
    for number, said_sentence in enumerate(said):
        bare = said_sentence.sentence.text.rstrip(_MARKS + " ")
        is_whole = bare == said_sentence.sentence.text or not bare or bare.endswith("\\")
        read = said_sentence.sentence if is_whole else Sentence(bare)
        by_word[max(read.words, key=len, default="")].append((number, read))
    told_pairs: set[tuple[int, int]] = set()
    for number, said_sentence in enumerate(said):
        for text in _forms(said_sentence):
            spoken = text.lower()
            for other_number, sentence in chain.from_iterable(
                group for word, group in by_word.items() if word in spoken
            ):
                pair = (min(number, other_number), max(number, other_number))
                is_value = partial(_is_any_value, said[other_number].things)
                if (
                    said[other_number].tool != said_sentence.tool
                    and pair not in told_pairs
                    and sentence.read(text, is_value) is not None
                ):
                    told_pairs.add(pair)
                    earlier, later = said[pair[0]], said[pair[1]]
                    line = earlier.check.line_of(earlier.path)
                    if earlier.check is later.check:
                        where = f"line {line}"
                    else:
                        where = f"{earlier.check.file.file}:{line}"
                    later.check.add(
                        later.path, f"it reads the same as a sentence of {earlier.tool} in {where}"
                    )


def _refuse_second_sets(checks: Sequence[_FileCheck]) -> None:
    """Note an error if two files have sentences for the same tool in the same language."""
    before: dict[tuple[Language, str, frozenset[str]], _FileCheck] = {}
    for check in checks:
        for name, slots in check.slots.items():
            first = before.setdefault((check.file.language, name, slots), check)
            if first is not check:
                where = f"{first.file.file}:{first.line_of((name,), key=True)}"
                check.add((name,), f"this tool already has sentences in {where}", of_key=True)


def _is_any_value(things: Mapping[str, str], slot: str, words: str) -> bool:
    return words == _value_in(slot, things)


def _value_in(slot: str, things: Mapping[str, str]) -> str:
    return f"{things[slot]} {_VALUE}" if slot in things else _VALUE


def _forms(said: _Said) -> Iterable[str]:
    """Return how a sentence reads with all of its values, with each one alone, and with none."""
    sentence_forms: dict[str, None] = {}
    sentence = said.sentence
    for stated_slots in (
        sentence.slots,
        frozenset[str](),
        *(frozenset([one]) for one in sentence.slots),
    ):
        for seed in range(_DRAWS):
            text = sentence.draw(stated_slots, Random(seed))
            if text is not None:
                for slot in stated_slots:
                    text = text.replace(f"{{{slot}}}", _value_in(slot, said.things))
                sentence_forms[text.rstrip(_MARKS + " ")] = None
    return sentence_forms


def languages_of(files: Iterable[SentenceFile]) -> set[Language]:
    """Return the languages that files have sentences in."""
    return {one.language for one in files}
