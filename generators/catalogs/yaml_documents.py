"""Reading YAML as the JSON it stands for: no dates, no octal numbers, no `on` for true, and no alias bombs."""

import re
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from generators.catalogs.catalog import Problem, shown
from generators.catalogs.documents import DEEPEST, parse, read_text

MOST_NODES = 2_000_000
INTEGERS = range(-(2**63), 2**64)
_PLAIN = (  # the scalars of YAML 1.2's core schema; all else is text
    ("tag:yaml.org,2002:null", r"(?:~|null|Null|NULL|)", "~nN\0"),
    ("tag:yaml.org,2002:bool", r"(?:true|True|TRUE|false|False|FALSE)", "tTfF"),
    ("tag:yaml.org,2002:int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("tag:yaml.org,2002:float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("tag:yaml.org,2002:float", r"[-+]?[1-9][0-9]*[eE][-+]?[0-9]+", "-+0123456789"),
    ("tag:yaml.org,2002:merge", r"<<", "<"),
)


class _NotJsonError(Exception):
    """A YAML value that JSON can't hold; never leaves this module."""


def read_json_or_yaml(path: Path) -> JsonValue | Problem:
    """The value of a JSON or a YAML file, or why there is none."""
    text = read_text(path)
    if isinstance(text, Problem):
        return text
    value = parse(text, str(path))
    if not isinstance(value, Problem) or text.lstrip().startswith(("{", "[")):
        return value
    return parse_yaml(text, str(path))


def parse_yaml(text: str, where: str) -> JsonValue | Problem:
    """The JSON value of a YAML text, or why there is none."""
    import yaml

    try:
        loaded = yaml.load(text, _loader())  # noqa: S506 - a safe loader, with fewer kinds of scalar
        return _Plain().value(loaded, 0)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
    except RecursionError:
        reason = f"it is nested more than {DEEPEST} levels deep"
    except (_NotJsonError, ValueError, OverflowError, TypeError) as error:
        reason = str(error)
    return Problem(where=where, kind="bad_json", message=f"{where} is neither JSON nor usable YAML ({reason}).")


def _loader() -> Any:  # noqa: ANN401 - PyYAML's C loader has no types
    import yaml

    class CoreLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc] # chosen when it runs
        yaml_implicit_resolvers: dict[str, list[Any]] = {}  # noqa: RUF012 - PyYAML's own way

    for tag, pattern, first in _PLAIN:
        CoreLoader.add_implicit_resolver(tag, re.compile(rf"{pattern}\Z"), ["" if c == "\0" else c for c in first])
    return CoreLoader


class _Plain:
    """Turns loaded YAML into a JSON tree; counts nodes, so that aliases of aliases can't grow without end."""

    def __init__(self) -> None:
        self._nodes = 0

    def value(self, loaded: object, level: int) -> JsonValue:
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise _NotJsonError(f"its aliases unfold to more than {MOST_NODES} values")
        if level > DEEPEST:
            raise _NotJsonError(f"it is nested more than {DEEPEST} levels deep")
        if isinstance(loaded, dict):
            return {_key(key): self.value(item, level + 1) for key, item in loaded.items()}
        if isinstance(loaded, list):
            return [self.value(item, level + 1) for item in loaded]
        return _scalar(loaded)


def _key(key: object) -> str:
    """Keys are text in JSON: a response code 200 is "200"."""
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise _NotJsonError(f"the key {shown(key)} is not text")
    return str(_scalar(str(key)))


def _scalar(loaded: object) -> JsonValue:
    if isinstance(loaded, str):
        if any("\ud800" <= character <= "\udfff" for character in loaded):
            raise _NotJsonError(f"the text {shown(loaded)} holds half a character")
        return loaded
    if isinstance(loaded, float) and loaded not in (float("inf"), float("-inf")) and loaded == loaded:  # noqa: PLR0124
        return loaded
    if loaded is None or (isinstance(loaded, int) and loaded in INTEGERS):
        return loaded
    raise _NotJsonError(f"the value {shown(loaded)} is nothing that JSON knows")
