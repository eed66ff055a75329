"""Options that are said once: from a function's parameters and their words its command, its Prefect
flow and its Python form are made.

The words stand in the function's docstring, under `Args:`. Options that several functions take are
keys of a TypedDict with such a docstring, and the functions take `**options: Unpack[...]` of it.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Annotated, Any, Literal, NamedTuple, ParamSpec, TypeVar, get_args, get_origin

from callwright.warehouse.errors import ConfigurationError

Given = ParamSpec("Given")
Result = TypeVar("Result")
Options = TypeVar("Options")
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

    def as_python(self) -> inspect.Parameter:
        """Return the parameter as pydantic reads it, which Prefect's forms are made by."""
        from annotated_types import Ge, Le

        bounds: list[Any] = [Ge(self.option.least)] if self.option.least is not None else []
        bounds += [Le(self.option.most)] if self.option.most is not None else []
        stated = Annotated[self.type, *bounds] if bounds else self.type
        return inspect.Parameter(self.name, self.kind, default=self.default, annotation=stated)


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


def described(options: Options) -> Options:
    """Take the words of a TypedDict's keys from its docstring, for TypedDicts made of it, too."""
    words = read_docstring(options.__doc__ or "")[1]
    for name, stated in options.__annotations__.items():
        one = _spelled(name, None, stated, None, words)
        options.__annotations__[name] = Annotated[one.type, one.option]
    return options


def _keys(options: Any) -> Iterator[SpelledParameter]:  # noqa: ANN401 - a TypedDict has no type
    """Return the keys of a TypedDict as parameters, those of its bases among them."""
    for name, stated in options.__annotations__.items():
        one = _spelled(name, inspect.Parameter.KEYWORD_ONLY, stated, None, {})
        default = one.option.default
        if default is inspect.Parameter.empty:
            default = _EMPTY.get(get_origin(one.type) or one.type)
        yield one._replace(default=default)


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


def with_options(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Return the function with a signature and a docstring that name every option, to be called
    with those that differ from their defaults.

    What an option does not allow is refused with a ConfigurationError that has its words.
    """
    text, parameters = spell_out(function)
    signature = inspect.Signature([one.as_python() for one in parameters])

    @wraps(function)
    def run(*given: Given.args, **named: Given.kwargs) -> Result:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        for one in parameters:
            _require_allowed(one, bound.arguments[one.name])
        return function(*bound.args, **bound.kwargs)

    listed = [f"    {one.name}: {one.option.words}" for one in parameters if one.option.words]
    run.__doc__ = "\n".join([f"{text}\n\nArgs:", *listed, ""])
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
