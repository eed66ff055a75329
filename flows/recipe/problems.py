"""What is wrong with a recipe: every error with its place, and what was probably meant."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import ValidationError

from callwright.flows.recipe.schema import (
    EACH,
    KEY,
    NAMED_PLACES,
    DataPath,
    meaning_of,
    nearest,
    places_of,
    settings_at,
)
from callwright.language.packs import packaged
from callwright.warehouse.plain_words import keep_words
from callwright.warehouse.yaml_text import compose_yaml

_MERGE = "tag:yaml.org,2002:merge"
_SECRET = {"api_key"}
# what these say of a place follows from what is wrong within it
_OF_ALL_AROUND = {"too_short", "value_error"}
_BY_THE_TAG = {"union_tag_invalid", "union_tag_not_found"}


class TextPlace(NamedTuple):
    """A line and a column of a file, counted from 1; 0 if there is no file."""

    line: int = 0
    column: int = 0


class LocatedYaml(NamedTuple):
    """The content of a YAML text, the places of its keys and values, and repeated keys.

    Each repeated key is given with its place and its first place.
    """

    data: Any  # parsed YAML, before anything is known of it
    keys: Mapping[DataPath, TextPlace]
    values: Mapping[DataPath, TextPlace]
    repeated: tuple[tuple[DataPath, TextPlace, TextPlace], ...] = ()

    def place_of(self, path: DataPath, *, key: bool = False) -> TextPlace:
        """Return the place of a key or value, or if missing that of the nearest one around it."""
        text_place = self.keys.get(path) if key else self.values.get(path)
        while text_place is None and path:
            path = path[:-1]
            text_place = self.keys.get(path) or self.values.get(path)
        return text_place or TextPlace()


class YamlFault(ValueError):  # noqa: N818 - it is no error of its own: whoever reads the file makes one of it
    """Raised if a text is not valid YAML, with the reason and place."""

    def __init__(self, message: str, place: TextPlace) -> None:
        super().__init__(message)
        self.place = place


def read_yaml(text: str) -> LocatedYaml:
    """Return the content of a YAML text with its places. Raises YamlFault."""
    keys: dict[DataPath, TextPlace] = {}
    values: dict[DataPath, TextPlace] = {}
    try:
        node, loader = compose_yaml(text)
        keep_words(node)
        repeated = tuple(_repeated(node, loader)) if node else ()
        data = loader.construct_document(node) if node else None
        for path, key, value in _walk(node, (), loader) if node else ():
            values[path] = _place(value.start_mark)
            if key is not None:
                keys[path] = _place(key.start_mark)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = ", ".join(part for part in (error.context, error.problem) if part)
        raise YamlFault(message, _place(mark) if mark else TextPlace(1, 1)) from error
    except (
        yaml.YAMLError,
        ValueError,
    ) as error:  # signs that no text has; a date that no calendar has
        raise YamlFault(str(error).replace("\n", " "), TextPlace(1, 1)) from error
    return LocatedYaml(data, keys, values, repeated)


class RecipeProblem(NamedTuple):
    """One error of a recipe, with its position and the dotted `place` ("" for all of it).

    `line` and `column` are 0 if there is no file. `meant` is the known name that was probably
    intended, `known` are all existing names or settings, by their `noun`. If `is_remark` it is
    not a mistake: the recipe can be built as it is.
    """

    file: str
    line: int
    column: int
    place: str
    message: str
    meant: str = ""
    noun: str = ""
    known: tuple[str, ...] = ()
    is_remark: bool = False

    def __str__(self) -> str:
        """Return the error as a line of text."""
        where = f"{self.file}:{self.line}:{self.column}: " if self.line else f"{self.file}: "
        place = f"{self.place}: " if self.place else ""
        meant = f"; did you mean {self.meant}?" if self.meant else "."
        known = f" The {self.noun} are {', '.join(self.known)}." if self.known else ""
        return f"{where}{place}{self.message}{meant}{known}"


class Located(NamedTuple):
    """A pydantic error: its path in the data, whether it is about the key, and the shapes tried."""

    path: DataPath
    is_of_key: bool
    tags: tuple[tuple[DataPath, str], ...]
    type: str
    message: str
    context: Mapping[str, Any]

    @property
    def shapes(self) -> tuple[str, ...]:
        """The names of the shapes."""
        return tuple(tag for _, tag in self.tags)


class RecipeFaults:
    """Collects the errors of the recipe in a file."""

    def __init__(self, file: str, source: LocatedYaml) -> None:
        self._file = file
        self._source = source
        self._found: dict[tuple[DataPath, str], RecipeProblem] = {}

    @property
    def problems(self) -> tuple[RecipeProblem, ...]:
        """All errors, in the order of the file."""
        return tuple(
            sorted(self._found.values(), key=lambda one: (one.line, one.column, one.place))
        )

    def add(self, path: DataPath, message: str, *, of_key: bool = False, **more: Any) -> None:  # noqa: ANN401 - a problem's fields
        """Note an error at a place."""
        place = self._source.place_of(path, key=of_key)
        self._found[path, message] = RecipeProblem(
            self._file, *place, dotted(path), message, **more
        )

    def add_repeated(self) -> None:
        """Note the keys that occur twice."""
        for path, again, first in self._source.repeated:
            problem = RecipeProblem(
                self._file, *again, dotted(path), f"occurs twice, first in line {first.line}"
            )
            self._found[path, problem.message] = problem

    def add_names(self) -> None:
        """Note unknown names of languages, kinds, formats, categories, domains and prompts."""
        for place in NAMED_PLACES:
            for path, name in _at(self._source.data, place.path):
                if not place.accepts(name):
                    known_names = tuple(place.known())
                    meant, of_key = nearest(name, known_names), place.path[-1] == KEY
                    self.add(
                        path,
                        f"there is no {place.noun} {name!r}",
                        of_key=of_key,
                        meant=meant,
                        noun=place.nouns,
                        known=known_names,
                    )

    def add_invalid(self, error: ValidationError) -> None:
        """Note what pydantic has rejected."""
        located = [
            _located(one["loc"], one["type"], one["msg"], one.get("ctx", {}), self._source.data)
            for one in error.errors(include_url=False)
        ]
        chosen = _of_one_shape(located, self._source.data)
        named = [path for path, _ in self._found]
        within = named + [one.path for one in chosen]
        meant = {
            (*one.path[:-1], nearest(str(one.path[-1]), settings_at(one.path[:-1], one.shapes)))
            for one in chosen
            if one.type == "extra_forbidden"
        }
        for located_error in chosen:
            follows = (
                located_error.type in _OF_ALL_AROUND
                and located_error.path
                and any(
                    (
                        len(path) > len(located_error.path)
                        and path[: len(located_error.path)] == located_error.path
                    )
                    for path in within
                )
            )
            is_misspelt = located_error.type == "missing" and located_error.path in meant
            if (
                not follows
                and not is_misspelt
                and (not located_error.path or located_error.path not in named)
            ):
                self._add_one(located_error)

    def _add_one(self, one: Located) -> None:
        tags = one.shapes
        path, known_settings = one.path, settings_at(one.path, tags)
        if one.type == "extra_forbidden":
            self._add_unknown(one, tags)
        elif one.type == "missing":
            meaning = meaning_of(path, tags).rstrip(".")
            self.add(
                path, f"is missing{f': {meaning[:1].lower()}{meaning[1:]}' if meaning else ''}"
            )
        elif one.type in _BY_THE_TAG:
            key = str(one.context.get("discriminator", "")).strip("'")
            known_settings = tuple(
                word.strip(" '")
                for word in str(one.context.get("expected_tags", "")).split(",")
                if word
            )
            name = str(one.context.get("tag", ""))
            meant = nearest(name, known_settings)
            self.add(
                (*path, key),
                f"there is no {key} {name!r}",
                meant=meant,
                noun=f"{key}s",
                known=known_settings,
            )
        elif one.type == "model_type":
            self.add(
                path, self._stated(one), noun=f"settings of {dotted(path)}", known=known_settings
            )
        elif one.type == "literal_error":
            value = path[-1] if one.is_of_key else _value_at(self._source.data, path)
            meant = nearest(str(value), re.findall("'([^']+)'", one.context["expected"]))
            self.add(path, self._stated(one), of_key=one.is_of_key, meant=meant)
        else:
            self.add(path, self._stated(one), of_key=one.is_of_key)

    def _add_unknown(self, one: Located, tags: Sequence[str]) -> None:
        """Note an unknown setting; if another place has it, say which."""
        name, around = str(one.path[-1]), one.path[:-1]
        known_settings = settings_at(around, tags)
        meant, elsewhere = nearest(name, known_settings), places_of(name)
        message = "there is no such setting" + (" here" if around else "")
        if not meant and elsewhere:
            message += (
                f"; it belongs to {elsewhere[0]}"
                if elsewhere[0]
                else "; it belongs to the top of the recipe"
            )
        noun = f"settings of {dotted(around)}" if around else "settings"
        self.add(one.path, message, of_key=True, meant=meant, noun=noun, known=known_settings)

    def _stated(self, one: Located) -> str:
        phrase, value = _phrase(one), _value_at(self._source.data, one.path)
        is_plain = (
            isinstance(value, (str, int, float, bool))
            and one.path[-1:]
            and one.path[-1] not in _SECRET
        )
        if not phrase.startswith("must") or not (is_plain or one.is_of_key):
            return phrase
        return f"{phrase}, not {one.path[-1] if one.is_of_key else value!r}"

    def add_absent_files(self, folder: Path) -> None:
        """Note files and folders of tools and samples that do not exist."""
        places = (("tools", EACH, "path"), ("samples", EACH, "from"), ("avoid", EACH, "from"))
        named = (
            found
            for place in places
            for more in ((), (EACH,))
            for found in _at(self._source.data, (*place, *more))
        )
        for path, name in named:
            if not (folder / name).exists():
                self.add(
                    path,
                    f"there is no file or folder {str(folder / name)!r}; paths are relative to the"
                    " recipe",
                )


def dotted(path: DataPath) -> str:
    """Return a place as people write it: tools[0].path."""
    return "".join(map(_step, path)).removeprefix(".")


def _step(step: str | int) -> str:
    if isinstance(step, bool):  # a key, as in {true: ...}
        return f".{step}".lower()
    return f"[{step}]" if isinstance(step, int) else f".{step}"


def explain(problems: Sequence[RecipeProblem]) -> str:
    """Return the problems of a recipe as the message of one error."""
    lines = [str(problem) for problem in problems]
    if len(lines) == 1:
        return lines[0]
    return "\n  ".join((f"The recipe has {len(lines)} mistakes.", *lines))


def _located(
    loc: Sequence[str | int], kind: str, message: str, context: Mapping[str, Any], data: object
) -> Located:
    """Parse the location of a pydantic error into steps into the data and the shapes it tried."""
    path: DataPath = ()
    tags: list[tuple[DataPath, str]] = []
    is_of_key = False
    for index, step in enumerate(loc):
        if (isinstance(data, dict) and step in data) or (
            isinstance(data, list) and isinstance(step, int) and step < len(data)
        ):
            path, data = (*path, step), data[step]  # type: ignore[index]
        elif step == "[key]":
            is_of_key = True
        elif kind == "missing" and index == len(loc) - 1:
            path = (*path, step)
        else:
            tags.append((path, str(step)))
    return Located(path, is_of_key, tuple(tags), kind, message, context)


def _of_one_shape(errors: Sequence[Located], data: object, depth: int = 0) -> list[Located]:
    """Return, of errors about several shapes of a place, those about the shape probably meant."""
    chosen = [one for one in errors if len(one.tags) <= depth]
    tried: dict[DataPath, dict[str, list[Located]]] = {}
    for located_error in errors:
        if len(located_error.tags) > depth:
            place, tag = located_error.tags[depth]
            tried.setdefault(place, {}).setdefault(tag, []).append(located_error)
    for place, shapes in tried.items():
        chosen += _of_one_shape(
            _nearest_shape(place, shapes, _value_at(data, place)), data, depth + 1
        )
    return chosen


def _nearest_shape(
    place: DataPath, shapes: Mapping[str, list[Located]], value: object
) -> list[Located]:
    """Return the errors of the shape nearest to a value, or one error if no shape's type fits."""

    def is_of_type(one: Located) -> bool:
        """Whether an error says that the value at this place has the wrong type."""
        is_about_type = one.type.endswith(("_type", "_parsing")) or one.type == "literal_error"
        return one.path == place and not one.is_of_key and is_about_type

    fitting = {tag: errors for tag, errors in shapes.items() if not any(map(is_of_type, errors))}
    if not fitting or not isinstance(value, (dict, list)):
        tried = [*itertools.chain(*shapes.values())]
        kind = "model_type" if all(one.type.startswith("model") for one in tried) else "shape"
        first, *others = dict.fromkeys(map(_phrase, tried))
        message = " or ".join([first, *(phrase.removeprefix("must be ") for phrase in others)])
        return [Located(place, is_of_key=False, tags=(), type=kind, message=message, context={})]
    unlikely = ("union_tag_not_found", "extra_forbidden", "missing")
    best = min(
        fitting.values(),
        key=lambda errors: [[one.type for one in errors].count(kind) for kind in unlikely],
    )
    unknown = [one for one in best if one.type == "extra_forbidden"]
    if isinstance(value, dict) and len(unknown) == len(value):  # nothing in it tells what was meant
        return [one._replace(tags=()) for one in unknown]
    return best


@cache
def _phrases() -> dict[str, str]:
    phrases: dict[str, str] = packaged("callwright.flows.recipe", "phrases.yaml")
    return phrases


def _phrase(one: Located) -> str:
    phrases = _phrases()
    if one.type in phrases:
        return phrases[one.type].format(**one.context)
    if one.type == "string_pattern_mismatch":
        return f"must match the pattern {one.context['pattern']}"
    return one.message.removeprefix("Value error, ").rstrip(".")


def _value_at(data: Any, path: DataPath) -> Any:  # noqa: ANN401 - not validated yet
    for step in path:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _at(
    data: object, pattern: Iterable[str], path: DataPath = ()
) -> Iterator[tuple[DataPath, str]]:
    """Yield the texts at all places of a pattern."""
    step, *more = [*pattern] or [""]
    if not step:
        if isinstance(data, str):
            yield path, data
    elif step == EACH and isinstance(data, list):
        for index, item in enumerate(data):
            yield from _at(item, more, (*path, index))
    elif step == KEY and isinstance(data, dict):
        yield from (((*path, key), key) for key in data if isinstance(key, str))
    elif isinstance(data, dict) and step in data:
        yield from _at(data[step], more, (*path, step))


def _place(mark: yaml.Mark) -> TextPlace:
    return TextPlace(mark.line + 1, mark.column + 1)


def _walk(
    node: yaml.Node, path: DataPath, loader: yaml.SafeLoader, key: yaml.Node | None = None
) -> Iterator[tuple[DataPath, yaml.Node | None, yaml.Node]]:
    """Yield every node with its path, and the node of its key if it has one."""
    yield path, key, node
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            yield from _walk(value, (*path, _name(name, loader)), loader, name)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _walk(value, (*path, index), loader)


def _name(node: yaml.Node, loader: yaml.SafeLoader) -> str | int:
    if node.tag == _MERGE:
        return "<<"
    name = loader.construct_object(node) if isinstance(node, yaml.ScalarNode) else ""
    return name if isinstance(name, (str, int)) else str(name)


def _repeated(
    node: yaml.Node, loader: yaml.SafeLoader
) -> Iterator[tuple[DataPath, TextPlace, TextPlace]]:
    """Yield the keys that a mapping has twice; YAML itself would silently use the last.

    This is done before `<<` merges in another mapping's keys.
    """
    for place, _, one in _walk(node, (), loader):
        if isinstance(one, yaml.MappingNode):
            first: dict[str | int, TextPlace] = {}
            for key, _ in one.value:
                name, at = _name(key, loader), _place(key.start_mark)
                if name in first and name != "<<":
                    yield (*place, name), at, first[name]
                first.setdefault(name, at)
