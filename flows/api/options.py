"""Options that are said once: from a function's parameters and their words its command, its Prefect
flow and its Python form are made.

The words stand in the function's docstring, under `Args:`. Options that several functions take are
keys of a TypedDict with such a docstring, and the functions take `**options: Unpack[...]` of it.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from callwright.warehouse.errors import ConfigurationError

Given = ParamSpec("Given")
Result = TypeVar("Result")
_EMPTY = {bool: False, str: "", Sequence: ()}


class Option(NamedTuple):
    """What an option has besides its type, in `Annotated`.

    `default` is that of a key of a TypedDict: without one the empty value of its type. `flag` is
    its name on the command line where that is not its own. `least` and `most` are its bounds.
    """

    default: Any = inspect.Parameter.empty
    flag: str = ""
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    words: str = ""


class SpelledParameter(NamedTuple):
    """A parameter of a verb; one without a default is required."""

    name: str
    kind: Any  # as `inspect` has it, whose type is private
    type: Any
    default: Any
    option: Option


def spell_out(function: Callable[..., object]) -> tuple[str, list[SpelledParameter]]:
    """Return what a function's docstring says of it, and its parameters with their words."""
    text, words = read_docstring(function.__doc__ or "")
    found: list[SpelledParameter] = []
    for one in inspect.signature(function).parameters.values():
        if one.kind is one.VAR_KEYWORD:
            found += _keys(*get_args(one.annotation))
        else:
            found.append(_spelled(one.name, one.kind, one.annotation, one.default, words))
    return text, found


def _keys(options: Any) -> Iterator[SpelledParameter]:  # noqa: ANN401 - a TypedDict has no type
    """Return the keys of a TypedDict as parameters, those of its bases among them."""
    words: dict[str, str] = {}
    for one in (*options.__orig_bases__, options):
        words |= read_docstring(one.__doc__ or "")[1]
    for name, stated in get_type_hints(options, include_extras=True).items():
        one = _spelled(name, inspect.Parameter.KEYWORD_ONLY, stated, inspect.Parameter.empty, words)
        empty = _EMPTY.get(get_origin(one.type) or one.type)
        is_stated = one.option.default is not inspect.Parameter.empty
        yield one._replace(default=one.option.default if is_stated else empty)


def _spelled(
    name: str, kind: object, stated: object, default: object, words: dict[str, str]
) -> SpelledParameter:
    kept, option = stated, Option()
    if get_origin(stated) is Annotated:
        kept, *more = get_args(stated)
        option = next((one for one in more if isinstance(one, Option)), option)
    option = option._replace(words=words.get(name) or option.words)
    return SpelledParameter(name, kind, kept, default, option)


def read_docstring(docstring: str) -> tuple[str, dict[str, str]]:
    """Return a docstring without its section `Args:`, and the words of that by parameter."""
    text, _, section = f"\n{inspect.cleandoc(docstring)}".partition("\nArgs:\n")
    listed, _, rest = section.partition("\n\n")
    words: dict[str, str] = {}
    name = ""
    for line in listed.splitlines():
        if not line.startswith(" " * 8):
            name, _, said = line.strip().partition(": ")
            words[name] = said
        else:
            words[name] += f" {line.strip()}"
    return f"{text.strip()}\n\n{rest.strip()}".strip(), words


def complete(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Return the function with a signature and a docstring that name every option, and called with
    the defaults of those that are not given.

    What is not allowed is refused with a ConfigurationError in the words of the option.
    """
    text, parameters = spell_out(function)
    signature = inspect.Signature(
        [
            inspect.Parameter(one.name, one.kind, default=one.default, annotation=one.type)
            for one in parameters
        ]
    )

    @wraps(function)
    def run(*given: Given.args, **named: Given.kwargs) -> Result:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        for one in parameters:
            _require_allowed(one, bound.arguments[one.name])
        return function(*bound.args, **bound.kwargs)

    listed = "\n".join(f"    {one.name}: {one.option.words}" for one in parameters)
    run.__doc__ = f"{text}\n\nArgs:\n{listed}\n"
    run.__signature__ = signature  # type: ignore[attr-defined]
    return run


def _require_allowed(one: SpelledParameter, value: Any) -> None:  # noqa: ANN401 - of any type
    least, most = one.option.least, one.option.most
    if value is None or value == one.default:
        return
    if get_origin(one.type) is Literal and value not in get_args(one.type):
        known = ", ".join(map(repr, get_args(one.type)))
        raise ConfigurationError(
            f"{one.name} is {value!r}; it is one of {known}. {one.option.words}"
        )
    if (least is not None and value < least) or (most is not None and value > most):
        bounds = [f"at least {least:g}"] if least is not None else []
        bounds += [f"at most {most:g}"] if most is not None else []
        allowed = " and ".join(bounds)
        raise ConfigurationError(f"{one.name} is {value!r}; it is {allowed}. {one.option.words}")
