"""The lexicon of parameters: which a function of a category has, by the words of its name, in either language."""

import re
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import yaml
from pydantic import JsonValue

from warehouse.errors import ReplyError
from warehouse.records import Language

FOLDER = "llm.template.lexicon"
KINDS_FILE = "kinds.yaml"
ROW_FILES = ("home.yaml", "life.yaml", "media.yaml", "phone.yaml", "travel.yaml")  # the folder holds other lists too
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN = {"date": "date", "time": "time", "moment": "date_time", "flag": "boolean"}
_SHAPED = ("phone", "email")
_SIDES: dict[Language, int] = {"en": 0, "zh": 1}


class Row(NamedTuple):
    """A parameter of the lexicon: its name, whether it must be given, and its description and values by language."""

    name: str
    is_required: bool
    descriptions: tuple[str, str]
    kind: str
    values: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    limits: tuple[int, int] | None = None

    @property
    def names_thing(self) -> bool:
        """Whether a value of it can tell one thing from another: words, not a number, a day or a choice."""
        return self.kind in ("text", "phone", "email")

    def sketch(self, language: Language) -> dict[str, JsonValue]:
        """The parameter as an answer writes it, without whether it is required."""
        side = _SIDES[language]
        sketch: dict[str, JsonValue] = {"name": self.name, "kind": self.kind, "description": self.descriptions[side]}
        if self.values[side]:
            sketch["choices" if self.kind == "choice" else "examples"] = list(self.values[side])
        if self.limits:
            sketch |= {"minimum": self.limits[0], "maximum": self.limits[1]}
        return sketch


def row(name: str, descriptions: str, kind: str, *values: str | int) -> Row:
    """A row as the lexicon writes it: `name!` is required, descriptions and values are English | Chinese."""
    english, _, chinese = descriptions.partition("|")
    told = (english, chinese)
    plain = name.rstrip("!")
    required = name.endswith("!")
    if kind in _PLAIN:
        return Row(plain, required, told, _PLAIN[kind])
    if kind == "int":
        return Row(plain, required, told, "integer", limits=(int(values[0]), int(values[1])))
    words = (_listed(values[0]), _listed(values[1])) if values else _shared()[kind]
    shape = {"pick": "choice", "list": "list"}.get(kind, kind if kind in _SHAPED else "text")
    return Row(plain, required, told, shape, words)


def rows_for(category: str, function: str) -> list[Row]:
    """The rows of a category whose pattern the function's words match, in the order written, one of each name."""
    found: dict[str, Row] = {}
    told: set[str] = set()
    for pattern, candidate in _categories().get(category, ()):
        if candidate.name not in found and candidate.descriptions[1] not in told and pattern.search(function):
            found[candidate.name] = candidate
            told.add(candidate.descriptions[1])
    return list(found.values())


@lru_cache(1)
def _categories() -> dict[str, tuple[tuple[re.Pattern[str], Row], ...]]:
    return {
        category: tuple((re.compile(pattern, re.IGNORECASE), row(*parts)) for pattern, *parts in rows)
        for name in ROW_FILES
        for category, rows in _loaded(name).items()
    }


@lru_cache(1)
def _shared() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    return {kind: (_listed(english), _listed(chinese)) for kind, (english, chinese) in _loaded(KINDS_FILE).items()}


def _loaded(name: str) -> dict[str, Any]:  # our own YAML, whose shape the tests keep
    content = yaml.load(files(FOLDER).joinpath(name).read_text(encoding="utf-8"), _LOADER)  # noqa: S506 - a safe loader
    if not isinstance(content, dict):
        raise ReplyError(f"The lexicon {name} of template/v1 holds {type(content).__name__}, not a mapping.")
    return content


def _listed(words: str | int) -> tuple[str, ...]:
    return tuple(str(words).split("|"))
