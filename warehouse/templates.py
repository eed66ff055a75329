"""The only place that makes Jinja environments: all sandboxed, other people's bounded as well.

    sandbox(loader=…)         for templates that are part of callwright
    BoundedSandbox(loader=…)  for those that others may write: prompts of recipes,
                              expressions of worlds and policies

Bounded work takes at most MOST_STEPS: calls, operations, loop iterations, and more for large
values. A text or a list that it makes is at most LARGEST, and a whole number has at most
MOST_BITS. Beyond a bound it raises BoundError, which is one of Jinja's own errors, so that
nothing can take endless time or memory.
"""

import operator
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from random import Random
from types import BuiltinMethodType, MethodType
from typing import Any, TypeVar, cast

from jinja2 import (
    Environment,
    StrictUndefined,
    Template,
    TemplateSyntaxError,
    nodes,
    pass_context,
    pass_environment,
)
from jinja2.exceptions import SecurityError
from jinja2.filters import do_round, make_attrgetter
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment
from jinja2.visitor import NodeTransformer

MOST_STEPS = 1_000_000
LARGEST = 1_000_000  # characters of a text; entries of a list, with those of all lists in it
MOST_SAID = 20_000_000  # characters that a template writes in all
MOST_BITS = 4_096
LONGEST_SOURCE = 400_000
_MOST_PLACES = 400
_PER_CALL = 3  # steps
_PER_STEP = 8  # entries, or characters, that one step goes through
_PER_WEIGHT = 64  # characters that weigh as much as an entry
# a width that no text has, or one that is a value itself
_WIDE = re.compile(r"\d{5,}|\*|:[^{}]*\{")
_CHARACTERS = str | bytes
_SIZED = (str, bytes, list, tuple, dict, set, frozenset)
_LISTED = (*_SIZED, range)
_GLOBALS = ("range", "dict", "namespace")
_FILTERS = frozenset(
    {"abs", "attr", "capitalize", "count", "d", "default", "dictsort", "e", "escape"}
    | {"first", "float", "format", "groupby", "int", "items", "join", "last", "length"}
    | {"list", "lower", "map", "max", "min", "reject", "rejectattr", "replace", "reverse"}
    | {"round", "safe", "select", "selectattr", "sort", "string", "sum", "title", "trim"}
    | {"truncate", "unique", "upper", "wordcount"}
)
_LOST = {  # what makes much of little, and nobody needs
    str: frozenset({"expandtabs", "translate", "maketrans", "encode"}),
    int: frozenset({"to_bytes", "from_bytes"}),
    Random: frozenset({"randbytes", "getrandbits", "choices", "seed", "setstate", "getstate"}),
}
_METHODS = frozenset({BuiltinMethodType, MethodType})
_FAULTS_OF_SOURCE = (RecursionError, MemoryError, SyntaxError, ValueError, OverflowError)
Value = TypeVar("Value")


class BoundError(SecurityError):
    """A template or an expression exceeds a bound."""


def sandbox(**options: Any) -> SandboxedEnvironment:  # noqa: ANN401 - Jinja's own options
    """Return an environment for callwright's own templates; an undefined name is an error."""
    return SandboxedEnvironment(undefined=StrictUndefined, **{"autoescape": False, **options})


class _Spent(threading.local):
    """What the current rendering has left."""

    rendering = 0
    steps = 0
    characters = 0

    def __enter__(self) -> None:
        if not self.rendering:
            self.steps, self.characters = MOST_STEPS, MOST_SAID
        self.rendering += 1

    def __exit__(self, *_: object) -> None:
        self.rendering -= 1

    def step(self, count: int = 1) -> None:
        """Count steps. Raises BoundError past the bound."""
        self.steps -= count
        if self.steps < 0:
            raise BoundError(f"it takes more than {MOST_STEPS:,} steps")

    def say(self, count: int) -> None:
        """Count the characters written. Raise BoundError past the bound."""
        self.characters -= count
        if self.characters < 0:
            raise BoundError(f"it writes more than {MOST_SAID:,} characters")


_spent = bounded = _Spent()  # `with bounded:` has one measure for all that is rendered within


def weighed(value: Value) -> Value:
    """Return the value. Raise BoundError if it is too large, including everything in it."""
    weight, waiting = 0, [cast("Any", value)]
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind is list or kind is tuple:
            weight += len(item)
            waiting += item
        elif kind is dict:
            weight += len(item)
            waiting += item.values()
        elif kind is str:
            weight += len(item) // _PER_WEIGHT
        if weight > LARGEST:
            raise BoundError(f"it makes a list or an object of more than {LARGEST:,} entries")
    if weight > _PER_STEP:
        _spent.step(weight // _PER_STEP)
    return value


def _fits(size: int) -> None:
    if size > LARGEST:
        raise BoundError(f"it makes a text or a list of more than {LARGEST:,}")


def _few_bits(bits: int) -> None:
    if bits > MOST_BITS:
        raise BoundError(f"it makes a number of more than {MOST_BITS:,} bits")


def _multiplied(left: Any, right: Any) -> Any:  # noqa: ANN401 - whatever the template states
    for factor, operand in ((left, right), (right, left)):
        if isinstance(factor, int) and isinstance(operand, _SIZED[:4]):
            _fits(len(operand) * max(factor, 0))
            made = factor * operand
            return weighed(made) if isinstance(made, list | tuple) else _charged(made)
    if isinstance(left, int) and isinstance(right, int):
        _few_bits(left.bit_length() + right.bit_length())
    return left * right


def _to_the_power(left: Any, right: Any) -> Any:  # noqa: ANN401 - whatever the template states
    if isinstance(left, int) and isinstance(right, int):
        _few_bits(left.bit_length() * max(right, 0))
    return left**right


def _added(left: Any, right: Any) -> Any:  # noqa: ANN401 - whatever the template states
    if isinstance(left, _SIZED) and isinstance(right, _SIZED):
        _fits(len(left) + len(right))
        both = operator.add(left, right)
        return weighed(both) if isinstance(both, list | tuple) else _charged(both)
    return left + right


def _remainder(left: Any, right: Any) -> Any:  # noqa: ANN401 - whatever the template states
    if not isinstance(left, _CHARACTERS):
        return left % right
    text = left if isinstance(left, str) else left.decode(errors="replace")
    values = right.values() if isinstance(right, dict) else right
    _validate_form(text, "%", values if isinstance(right, tuple | list | dict) else [right])
    return _charged(left % right)


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "*": _multiplied,
    "**": _to_the_power,
    "+": _added,
    "%": _remainder,
}


def _validate_form(form: str, sign: str, values: Iterable[Any]) -> None:
    """Raise BoundError for a format string whose result would be much larger than its input."""
    if _WIDE.search(form) and sign in form:
        raise BoundError(f"the form {form[:80]!r} has a width that is too large, or a value itself")
    longest = max((len(str(weighed(value))) for value in values), default=0)
    _fits(len(form) + form.count(sign) * longest)


def _format(form: str, *args: Any, **named: Any) -> str:  # noqa: ANN401 - as Jinja's filter
    """Apply Jinja's filter, within the bounds."""
    return str(_remainder(str(form), named or args))


def _looked_through(value: Value) -> Value:
    """Return the value; a large one costs steps."""
    if isinstance(value, _SIZED) and len(value) > _PER_STEP:
        _spent.step(len(value) // _PER_STEP)
    return value


def _charged(value: Value) -> Value:
    """Return a new value; a large one costs steps. Raise BoundError if it is too large."""
    if isinstance(value, _SIZED):
        _fits(len(value))
    return _looked_through(value)


class BoundedSandbox(ImmutableSandboxedEnvironment):
    """Jinja's sandbox with limits on work and size, for others' templates and expressions."""

    intercepted_binops = frozenset(_OPERATIONS)
    template_class: type[Template]  # below

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - Jinja's own options
        """Make missing values errors, escape nothing, and compute nothing before rendering."""
        super().__init__(undefined=StrictUndefined, autoescape=False, optimized=False, **options)
        self.finalize = _said
        self.binop_table.update(_OPERATIONS)
        self.globals = {name: self.globals[name] for name in _GLOBALS}
        own = {"format": _format, "join": _join, "replace": _replace, "round": _round, "sum": _sum}
        known = {name: self.filters[name] for name in _FILTERS}
        self.filters = {name: own.get(name, filter_) for name, filter_ in known.items()} | _COUNTING
        self.tests["in"] = lambda value, within: value in _looked_through(within)
        self._safe: dict[tuple[type, str], bool] = {}

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:  # noqa: ANN401 - whatever the template states
        """Return the sandbox's answer, cached by type and name, which alone decide it."""
        place = (type(obj), attr)
        if place not in self._safe:
            is_lost = any(isinstance(obj, kind) and attr in names for kind, names in _LOST.items())
            self._safe[place] = not is_lost and super().is_safe_attribute(obj, attr, value)
        return self._safe[place]

    def call(__self, __context: Context, __obj: Any, *args: Any, **named: Any) -> Any:  # noqa: ANN401, N805 - as the sandbox has it
        """Return the result of a function."""
        return __self.counted(__context, super().call, __obj, *args, **named)

    def counted(
        __self,  # noqa: N805
        __context: Context,
        __call: Any,  # noqa: ANN401
        __obj: Any,  # noqa: ANN401
        *args: Any,  # noqa: ANN401
        **named: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Return the result of a function called through `call`, within the bounds."""
        _spent.step(_PER_CALL)
        for value in args:
            _looked_through(value)
        if type(__obj) in _METHODS:
            args = _validated_arguments(__obj, args, named)
        given = __call(__context, __obj, *args, **named)
        return weighed(given) if __obj is dict else _charged(given)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:  # noqa: ANN401 - whatever the template states
        """Return the sandbox's own `format`, within the bounds."""
        form = super().wrap_str_format(value)
        if form is None:
            return None

        def filled(*args: Any, **named: Any) -> str:  # noqa: ANN401 - whatever the template states
            inner = (one.values() if isinstance(one, Mapping) else [one] for one in args)
            values = [value for some in inner for value in some]
            _validate_form(value.__self__, "{", [*values, *named.values()])
            return _charged(form(*args, **named))

        return filled

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """Return the syntax tree of a source, with counters where work is done.

        Raises TemplateSyntaxError, also if Python gives up.
        """
        if len(source) > LONGEST_SOURCE:
            raise TemplateSyntaxError(f"it has more than {LONGEST_SOURCE:,} characters", 1)
        try:
            return cast("nodes.Template", _Counting().visit(super()._parse(source, name, filename)))
        except TemplateSyntaxError:
            raise
        except _FAULTS_OF_SOURCE as error:
            raise TemplateSyntaxError(f"it can't be read ({_reason(error)})", 1) from error

    def compile(self, *args: Any, **named: Any) -> Any:  # noqa: ANN401 - Jinja's own
        """Return the code of a source. Raise TemplateSyntaxError, also if Python gives up."""
        try:
            return super().compile(*args, **named)
        except TemplateSyntaxError:
            raise
        except _FAULTS_OF_SOURCE as error:
            raise TemplateSyntaxError(f"it can't be read ({_reason(error)})", 1) from error


def _reason(error: BaseException) -> str:
    return (
        "it is nested too deeply" if isinstance(error, RecursionError | MemoryError) else str(error)
    )


class _BoundedTemplate(Template):
    """A template whose rendering has a limited number of steps."""

    def render(self, *args: Any, **named: Any) -> str:  # noqa: ANN401 - Jinja's own
        with bounded:
            try:
                return super().render(*args, **named)
            except RecursionError as error:
                raise BoundError("it calls itself without end") from error


BoundedSandbox.template_class = _BoundedTemplate


def _validated_arguments(
    method: Any,  # noqa: ANN401
    args: tuple[Any, ...],
    named: Mapping[str, Any],
) -> tuple[Any, ...]:
    """Return the arguments of a builtin method, checked against the size of its result.

    Raises BoundError if a text, or a generator of numbers, would make something too large of
    them.
    """
    owner, name = method.__self__, method.__name__
    if name == "join" and len(args) == 1 and not isinstance(args[0], _SIZED):
        args = (list(args[0]),)
    if isinstance(owner, str | bytes):
        if name in ("rjust", "ljust", "center", "zfill") and args and isinstance(args[0], int):
            _fits(args[0])
        elif name == "join" and args:
            _validate_join(args[0], owner)
        elif name == "replace" and len(args) > 1:
            _validate_replace(owner, args[0], args[1])
    elif isinstance(owner, Random):
        for value in (*args, *named.values()):
            if name == "sample" and isinstance(value, int):
                _fits(value)
    return args


def _validate_join(parts: Any, between: Any) -> None:  # noqa: ANN401 - whatever the template states
    if isinstance(parts, list | tuple | dict | str | set | frozenset):
        held = sum(len(one) for one in parts if isinstance(one, _CHARACTERS))
        _fits(held + len(between) * len(parts))


def _validate_replace(text: Any, old: Any, new: Any) -> None:  # noqa: ANN401 - whatever the template states
    if isinstance(old, _CHARACTERS) and isinstance(new, _CHARACTERS) and len(new) > len(old):
        _fits(len(text) + (text.count(old) if old else len(text) + 1) * len(new))


@pass_environment
def _join(
    environment: Environment,
    value: Any,  # noqa: ANN401
    d: str = "",
    attribute: str | int | None = None,
) -> str:
    """Apply Jinja's filter, within the bounds."""
    texts = [str(weighed(one)) for one in _members(environment, value, attribute)]
    _validate_join(texts, d)
    return _charged(str(d).join(texts))


def _members(
    environment: Environment, values: Iterable[Any], attribute: str | int | None
) -> Iterable[Any]:
    return values if attribute is None else map(make_attrgetter(environment, attribute), values)


def _replace(text: Any, old: str, new: str, count: int = -1) -> str:  # noqa: ANN401 - as Jinja's filter
    """Apply Jinja's filter, within the bounds."""
    whole = str(text)
    _validate_replace(whole, old, new)
    return _charged(whole.replace(str(old), str(new), -1 if count is None else count))


def rounded(number: Any, places: int | None = None) -> Any:  # noqa: ANN401 - as `round`
    """Round like `round`. Raise BoundError for more places than a number has."""
    if isinstance(places, int) and abs(places) > _MOST_PLACES:
        raise BoundError(f"it rounds to {places} places")
    return round(number) if places is None else round(number, places)


def _round(value: Any, precision: int = 0, method: str = "common") -> float:  # noqa: ANN401 - as Jinja's filter
    """Apply Jinja's filter, within the bounds."""
    rounded(0, precision)
    return float(do_round(value, precision, cast("Any", method)))


def added_up(values: Iterable[Any], start: Any = 0) -> Any:  # noqa: ANN401 - as `sum`
    """Add up like `sum`; lists are joined in one go, within the bounds."""
    if not isinstance(start, list | tuple):
        return sum(values, start)
    together = [*start]
    for one in values:
        together += one
        _fits(len(together))
    return weighed(together)


@pass_environment
def _sum(
    environment: Environment,
    values: Iterable[Any],
    attribute: str | int | None = None,
    start: Any = 0,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Apply Jinja's filter to numbers."""
    return added_up(_members(environment, values, attribute), start)


@pass_context
def _said(_: Context, value: Any) -> str:  # noqa: ANN401 - whatever the template states
    """Return what a template writes, and count it."""
    text = value if isinstance(value, str) else str(value)
    _spent.step()
    _spent.say(len(text))
    return text


def _concatenated(parts: list[Any]) -> str:
    texts = [one if isinstance(one, str) else str(one) for one in parts]
    _fits(sum(map(len, texts)))
    _spent.step()
    return _charged("".join(texts))


def _gone_through(values: Any, characters: int = 0) -> Any:  # noqa: ANN401 - whatever the template states
    """Return what a loop iterates over; each turn is a step and writes at least `characters`."""
    if isinstance(values, _LISTED):
        _spent.step(len(values))
        _spent.say(len(values) * characters)
        return values
    return _turns(values, characters)


def _turns(values: Iterable[Value], characters: int) -> Iterator[Value]:
    for value in values:
        _spent.step()
        _spent.say(characters)
        yield value


_COUNTING: dict[str, Callable[..., Any]] = {
    "__weighed": weighed,
    "__concatenated": _concatenated,
    "__gone_through": _gone_through,
    "__looked_through": _looked_through,
}


class _Counting(NodeTransformer):
    """Adds counting of loops, lists, objects, joined texts and searches to a syntax tree."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - Jinja's names
        if node.recursive:
            raise TemplateSyntaxError("a loop that calls itself is not allowed", node.lineno)
        self.generic_visit(node)
        characters = sum(len(one.data) for part in node.body for one in _data_in(part))
        node.iter = _filtered(node.iter, "__gone_through", [nodes.Const(characters)])
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), "__concatenated")

    def visit_List(self, node: nodes.List) -> nodes.Node:  # noqa: N802
        return _filtered(self.generic_visit(node), "__weighed")

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:  # noqa: N802
        return _filtered(self.generic_visit(node), "__weighed")

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filtered(node, "__weighed") if node.ctx == "load" else node

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.expr = _filtered(node.expr, "__looked_through")
        for one in node.ops:
            one.expr = _filtered(one.expr, "__looked_through")
        return node


def _data_in(node: nodes.Node) -> Iterator[nodes.TemplateData]:
    if isinstance(node, nodes.TemplateData):
        yield node
    yield from node.find_all(nodes.TemplateData)


def _filtered(node: nodes.Node, name: str, args: list[nodes.Expr] | None = None) -> nodes.Filter:
    return nodes.Filter(
        cast("nodes.Expr", node), name, args or [], [], None, None, lineno=node.lineno
    )
