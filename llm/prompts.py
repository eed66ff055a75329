"""Prompts are Jinja files, one a stage, with `--- system` and `--- user` lines between messages.

Text below a `--- template` line is not a message: it tells template/v1 what is wanted, and no
other model sees it.

A recipe may replace some texts with its own: within `own_prompts` these are rendered, and their
versions count.
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
    """Return the prompt `name`.j2 of `package`, filled with `values`.

    A name that the template lacks is an error. Raises ConfigurationError if a recipe's own text
    can't be filled or exceeds a bound.
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
    """Return a message's text, cached if the part depends on strings only, as the first does."""
    variable_names = _asked_words(part)
    words = tuple(values.get(name) for name in variable_names)
    if not all(type(word) is str for word in words):
        return _compiled(part).render(**values).strip()
    return _said_with(part, tuple(zip(variable_names, cast("tuple[str, ...]", words), strict=True)))


@lru_cache(256)
def _said_with(part: str, words: tuple[tuple[str, str], ...]) -> str:
    return _compiled(part).render(dict(words)).strip()


@cache
def _asked_words(part: str) -> tuple[str, ...]:
    """Return the variables that a part of a template uses."""
    return tuple(sorted(_variables(part)))


def led_by(briefing: str, prompt: Prompt) -> Prompt:
    """Return the prompt with `briefing` at the start of its system message, if it is not empty."""
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
    """Return the version of a template: a hash of its text."""
    return _load(package, name).version


class KeptPrompt(NamedTuple):
    """A prompt as stored; `version` is the hash of its text, which identifies its answers."""

    version: str
    package: str
    name: str
    text: str


def prompt_texts(packages: Iterable[str]) -> Iterator[KeptPrompt]:
    """Yield all prompts of these packages and their subpackages, with their current texts."""
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
    """Return the version of a template by its path.

    For example 'generators/single_turn/prompts/write_request.j2'.
    """
    return prompt_version(*_at(path))


@contextmanager
def own_prompts(texts: Mapping[str, str]) -> Iterator[None]:
    """Use these texts for these prompts in the block, for this task and those it starts."""
    token = _own.set(texts)
    try:
        yield
    finally:
        _own.reset(token)


def validate_own_prompt(path: str, text: str) -> None:
    """Raise ValueError unless `text` parses and uses only values of the prompt at `path`."""
    offered = _variables(_shipped(*_at(path)))
    try:
        variables = _variables(text)
        for _, part in _parse(text).parts:
            _compiled(part)
    except TemplateSyntaxError as error:
        raise ValueError(f"line {error.lineno} is not Jinja: {error.message}") from error
    strange = sorted(variables - offered)
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
    """Parse the text of a prompt. Raise ValueError if it has no message to send."""
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
    """Return a sandboxed and bounded environment, because recipes may bring their own prompts."""
    environment = BoundedSandbox(trim_blocks=True, lstrip_blocks=True)
    environment.filters["json"] = lambda value: orjson.dumps(value, default=_plain).decode()
    environment.filters["language_name"] = lambda code: of(code).name
    environment.filters["examples"] = _examples
    environment.filters["given"] = lambda code, name, case="": _example(code, name, case)[0]
    environment.filters["answered"] = lambda code, name, case="": _example(code, name, case)[1]
    return environment


def _examples(code: str, name: str, case: str = "") -> str:
    """Return a prompt's worked examples in a language, or the one of a case if it has one."""
    examples = of(code).data["examples"][name]
    if case:
        examples = [examples[case]] if case in examples else []
    return "\n".join(f"<example>\n{one}\n</example>" for one in examples)


def _example(code: str, name: str, case: str = "") -> tuple[str, str]:
    """Return a prompt's worked example as two turns: what is given, and the answer.

    A prompt of several cases has one for each.
    """
    examples = of(code).data["examples"][name]
    given, _, answer = (examples[case] if case else examples[0]).rpartition("\n")
    return given, answer


@cache
def _compiled(text: str) -> Template:
    """Return a message's template, compiled at first rendering, since most are never rendered."""
    template = _environment().from_string(text)
    # a chain of maps, which would be unrolled at every rendering
    template.globals = dict(template.globals)
    return template


def _plain(value: Any) -> Any:  # noqa: ANN401 - orjson's hook takes what it cannot write itself
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} has no JSON form")
