"""Options that are written once, for the command, the Prefect flow and the Python function.

The words stand in the function's docstring, under `Args:`. Options that several functions take are
keys of a TypedDict with such a docstring, and the functions take `**options: Unpack[...]` of it.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Parameter
from typing import Annotated, Any, ClassVar, Literal, ParamSpec, TypeVar, get_args, get_origin

from callwright.warehouse.errors import ConfigurationError

Given = ParamSpec("Given")
Result = TypeVar("Result")
Options = TypeVar("Options")
_EMPTY = {bool: False, str: "", Sequence: ()}


@dataclass(frozen=True)
class Option:
    """What an option has besides its type, in `Annotated`; pydantic reads its bounds.

    `default` is that of a key of a TypedDict: without one the empty value of its type. `flag` is
    its name on the command line where that is not its own. `least` and `most` are its bounds.
    """

    default: Any = Parameter.empty
    flag: str = ""
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    words: str = ""
    __is_annotated_types_grouped_metadata__: ClassVar[Literal[True]] = True

    def __iter__(self) -> Iterator[object]:
        from annotated_types import Ge, Le

        yield from [Ge(self.least)] if self.least is not None else []
        yield from [Le(self.most)] if self.most is not None else []


def type_and_option(annotation: Any) -> tuple[Any, Option]:  # noqa: ANN401 - types are values here
    """Return the type that an annotation states, and its option."""
    if get_origin(annotation) is not Annotated:
        return annotation, Option()
    stated, *more = get_args(annotation)
    return stated, next((one for one in more if isinstance(one, Option)), Option())


def spell_out(function: Callable[..., object]) -> tuple[str, list[Parameter]]:
    """Return what a docstring says of its function, and the parameters, annotated with options."""
    text, words = read_docstring(function.__doc__ or "")
    found: list[Parameter] = []
    for one in inspect.signature(function).parameters.values():
        if one.kind is one.VAR_KEYWORD:
            [options] = get_args(one.annotation)
            found += [_key(name, stated) for name, stated in options.__annotations__.items()]
        else:
            found.append(one.replace(annotation=_with_words(one.name, one.annotation, words)))
    return text, found


def described(options: Options) -> Options:
    """Take the words of a TypedDict's keys from its docstring, for TypedDicts made of it, too."""
    words = read_docstring(options.__doc__ or "")[1]
    for name, stated in options.__annotations__.items():
        options.__annotations__[name] = _with_words(name, stated, words)
    return options


def _key(name: str, annotation: object) -> Parameter:
    stated, option = type_and_option(annotation)
    empty = _EMPTY.get(get_origin(stated) or stated)
    default = empty if option.default is Parameter.empty else option.default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _with_words(name: str, annotation: object, words: Mapping[str, str]) -> object:
    stated, option = type_and_option(annotation)
    return Annotated[stated, replace(option, words=words.get(name) or option.words)]


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
    """Return the function with a signature and a docstring that name every option.

    Callers give those that differ from their defaults.

    What an option does not allow is refused with a ConfigurationError that has its words.
    """
    text, parameters = spell_out(function)
    signature = inspect.Signature(parameters)
    known = {one.name: type_and_option(one.annotation) for one in parameters}

    @wraps(function)
    def run(*given: Given.args, **named: Given.kwargs) -> Result:
        bound = signature.bind(*given, **named)
        for name, value in bound.arguments.items():
            _require_allowed(name, value, *known[name])
        bound.apply_defaults()
        return function(*bound.args, **bound.kwargs)

    listed = [f"    {name}: {option.words}" for name, (_, option) in known.items() if option.words]
    run.__doc__ = "\n".join([f"{text}\n\nArgs:", *listed, ""])
    run.__signature__ = signature  # type: ignore[attr-defined]
    return run


def _require_allowed(name: str, value: Any, stated: object, option: Option) -> None:  # noqa: ANN401
    choices = get_args(stated) if get_origin(stated) is Literal else ()
    if choices and value not in choices:
        allowed = f"one of {', '.join(map(repr, choices))}"
    elif value is not None and option.least is not None and value < option.least:
        allowed = f"at least {option.least:g}"
    elif value is not None and option.most is not None and value > option.most:
        allowed = f"at most {option.most:g}"
    else:
        return
    raise ConfigurationError(f"{name} is {value!r}; it is {allowed}. {option.words}")
