"""Prompts are Jinja files: one a stage, `--- system` and `--- user` lines between its messages.

What stands below a `--- template` line is no message: it tells template/v1 what is wanted, and no
other model sees it.

A recipe may bring texts of its own in place of some: within `own_prompts` these are rendered, and
their versions count.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple, cast

import orjson
from jinja2 import Template, TemplateError, TemplateSyntaxError
from jinja2.meta import find_referenced_templates, find_undeclared_variables
from pydantic import BaseModel

from callwright.language.packs import of
from callwright.llm.chat import ChatMessage, Prompt, Role
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.templates import BoundedSandbox

_ROLE_LINE = re.compile(r"^--- (system|user|assistant|template)$", re.MULTILINE)
_MARKS = "template"  # the part that is no message
_VERSION_BYTES = 6
_PACKAGE = "callwright"
_FAULTS = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
_own: ContextVar[Mapping[str, str]] = ContextVar("own_prompts", default={})  # noqa: B039 - never changed, only replaced


class _Template(NamedTuple):
    version: str
    parts: tuple[tuple[str, str], ...]  # a role, and the text of its message


def render(package: str, name: str, **values: Any) -> Prompt:  # noqa: ANN401 - templates take any record
    """The prompt `name`.j2 of `package`, filled with `values`; a name the template lacks is an
    error.

    Raises ConfigurationError where a recipe's own text can't be filled, or goes past a bound.
    """
    template = _load(package, name)
    try:
        messages = tuple(
            ChatMessage.model_construct(role=cast("Role", role), content=_said(part, values))
            for role, part in template.parts
            if role != _MARKS
        )
        marks = "\n".join(_said(part, values) for role, part in template.parts if role == _MARKS)
    except _FAULTS as error:
        if name not in _own.get():
            raise
        problem = f"The recipe's own prompt {name!r} can't be filled: {error}."
        raise ConfigurationError(problem) from error
    return Prompt.model_construct(
        name=name, version=template.version, messages=messages, marks=marks
    )


def _said(part: str, values: Mapping[str, object]) -> str:
    """A message's text; that of a part which differs by a few words alone, as the first does, is
    remembered.
    """
    asked = _asked_words(part)
    words = tuple(values.get(name) for name in asked)
    if not all(type(word) is str for word in words):
        return _compiled(part).render(**values).strip()
    return _said_with(part, tuple(zip(asked, cast("tuple[str, ...]", words), strict=True)))


@lru_cache(256)
def _said_with(part: str, words: tuple[tuple[str, str], ...]) -> str:
    return _compiled(part).render(dict(words)).strip()


@cache
def _asked_words(part: str) -> tuple[str, ...]:
    """The values that a part of a template asks for."""
    return tuple(sorted(_variables(part)))


def led_by(briefing: str, prompt: Prompt) -> Prompt:
    """The prompt with what is told before all else in its system message; "" is nothing."""
    if not briefing:
        return prompt
    first, *others = prompt.messages
    if first.role != "system":
        return prompt.with_changes(
            messages=(ChatMessage(role="system", content=briefing), *prompt.messages)
        )
    messages = (first.with_changes(content=f"{briefing}\n\n{first.content}"), *others)
    return prompt.with_changes(messages=messages)


def prompt_version(package: str, name: str) -> str:
    """The version of a template: a hash of its text."""
    return _load(package, name).version


class KeptPrompt(NamedTuple):
    """A prompt as it can be kept: `version` is the hash of its text by which answers are known."""

    version: str
    package: str
    name: str
    text: str


def prompt_texts(packages: Iterable[str]) -> Iterator[KeptPrompt]:
    """All prompts of these packages and those within them, in the texts that they have now."""
    for package in packages:
        for path in _templates(files(package)):
            inner = ".".join([package, *path[:-1]])
            text = _own.get().get(path[-1]) or _shipped(inner, path[-1])
            yield KeptPrompt(_parse(text).version, inner, path[-1], text)


def _templates(folder: Traversable, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            yield from _templates(entry, (*before, entry.name))
        elif before and before[-1] == "prompts" and entry.name.endswith(".j2"):
            yield (*before, entry.name.removesuffix(".j2"))


def version_at(path: str) -> str:
    """The version of the template in a file such as
    'generators/single_turn/prompts/write_request.j2'.
    """
    return prompt_version(*_at(path))


@contextmanager
def own_prompts(texts: Mapping[str, str]) -> Iterator[None]:
    """Within, the prompts of these names have these texts, for whatever the present task does
    and begins.
    """
    token = _own.set(texts)
    try:
        yield
    finally:
        _own.reset(token)


def validate_own_prompt(path: str, text: str) -> None:
    """Raise ValueError unless `text` can stand in place of the prompt at `path`: it parses, and
    asks for no other values.
    """
    offered = _variables(_shipped(*_at(path)))
    try:
        asked = _variables(text)
        for _, part in _parse(text).parts:
            _compiled(part)
    except TemplateSyntaxError as error:
        raise ValueError(f"line {error.lineno} is not Jinja: {error.message}") from error
    strange = sorted(asked - offered)
    if strange:
        problem = f"it asks for {', '.join(strange)}; its values are {', '.join(sorted(offered))}"
        raise ValueError(problem)


def _at(path: str) -> tuple[str, str]:
    package, _, name = path.removesuffix(".j2").rpartition("/")
    return f"{_PACKAGE}.{package.replace('/', '.')}", name


def _variables(text: str) -> set[str]:
    return find_undeclared_variables(_environment().parse(text))


def _load(package: str, name: str) -> _Template:
    return _parse(_own.get().get(name) or _shipped(package, name))


@cache
def _shipped(package: str, name: str) -> str:
    path = files(package).joinpath(f"{name}.j2")
    if not path.is_file():
        raise ConfigurationError(f"There is no prompt {name!r} in {package}.")
    return path.read_text(encoding="utf-8")


@cache
def _parse(text: str) -> _Template:
    """A prompt of its text. Raises ValueError where it has no message to send."""
    pieces = _ROLE_LINE.split(text)
    environment = _environment()
    parts = tuple((pieces[at], pieces[at + 1]) for at in range(1, len(pieces), 2))
    if not any(role == "user" for role, _ in parts):
        raise ValueError("it has no '--- user' line")
    tree = environment.parse(text)
    if any(True for _ in find_referenced_templates(tree)):
        raise ValueError("it includes another text, and a prompt is whole by itself")
    version = blake2b(text.encode(), digest_size=_VERSION_BYTES).hexdigest()
    return _Template(version, parts)


@cache
def _environment() -> BoundedSandbox:
    """Sandboxed and bounded, as recipes bring prompts of their own."""
    environment = BoundedSandbox(trim_blocks=True, lstrip_blocks=True)
    environment.filters["json"] = lambda value: orjson.dumps(value, default=_plain).decode()
    environment.filters["language_name"] = lambda code: of(code).name
    environment.filters["examples"] = lambda code, name: "\n".join(
        f"<example>\n{one}\n</example>" for one in of(code).data["examples"][name]
    )
    return environment


@cache
def _compiled(text: str) -> Template:
    """A message's template: compiled when it is first rendered, as most prompts are only looked
    at for their versions.
    """
    template = _environment().from_string(text)
    # a chain of maps, which would be unrolled at every rendering
    template.globals = dict(template.globals)
    return template


def _plain(value: Any) -> Any:  # noqa: ANN401 - orjson's hook takes what it cannot write itself
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} has no JSON form")
