"""Expressions of rules: values that a file states in Jinja's expressions, within its sandbox.

    "nights * room.price"                                    an expression
    "{{ street }} 5, {{ city.name }}"                        a text
    {name: hotel.name, stars: 4}                             an object of such; a list is one too
    {let: {nights: …, …}, gives: …}                          what has names of its own
    {each: hotels, as: hotel, let: {…}, where: hotel.is_free, sort: hotel.price, show: {name: hotel.name}}

`each` gives a list: of each entry what `show` says (itself unless that is said), where `where` holds, in the order of `sort`.
"""

import re
from collections import deque
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from types import FunctionType
from typing import Any

import orjson
from jinja2 import Environment, StrictUndefined, TemplateError, Undefined, pass_context
from jinja2.meta import find_undeclared_variables
from jinja2.nodes import EvalContext
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range
from pydantic import JsonValue

from callwright.warehouse.errors import CallwrightError, ConfigurationError

BUILT_IN: Mapping[str, Any] = {"range": safe_range, "dict": dict}
Values = dict[str, Any]  # the names that an expression may use: rows, functions, and what a call gives
Evaluated = Callable[[Values], Any]
EACH = frozenset({"each", "as", "let", "where", "sort", "show"})
LET = frozenset({"let", "gives"})
_IN_TEXT = re.compile(r"\{\{(.+?)\}\}")
_FAULTS = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError)


class _Sandbox(ImmutableSandboxedEnvironment):
    """The sandbox of Jinja, with a short way for what an answer does ten thousand times; all else goes the sandbox's own."""

    def getattr(self, obj: Any, attribute: str) -> Any:  # noqa: ANN401 - whatever the file states
        """A member of a row or an object, whose own attributes come first as everywhere in Jinja."""
        if not hasattr(type(obj), attribute):
            try:
                return obj[attribute]
            except (TypeError, LookupError):
                pass
        return super().getattr(obj, attribute)

    def call(__self, __context: Context, __obj: Any, *args: Any, **named: Any) -> Any:  # noqa: ANN401, N805 - as the sandbox has it
        """What a function gives: all plain functions that an expression can reach are those of rules."""
        if type(__obj) is FunctionType and not named:
            return __obj(__context, *args) if hasattr(__obj, "jinja_pass_arg") else __obj(*args)
        return super().call(__context, __obj, *args, **named)


class _Names(Context):
    """The names of one expression while it is worked out: what of a context it uses, and nothing of templates."""

    def __init__(self, sandbox: Environment, values: Values) -> None:
        self.environment, self.parent, self.vars, self.exported_vars = sandbox, values, {}, set()

    @cached_property
    def eval_ctx(self) -> EvalContext:  # type: ignore[override]
        """What some filters ask for."""
        return EvalContext(self.environment)


class ExpressionCompiler:
    """Compiles what a file states; `where` tells in its errors where in the file that stands."""

    def __init__(self, known: Collection[str], functions: Mapping[str, Callable[..., Any]]) -> None:
        """`known` are the names that all expressions may use; `functions` can be called as filters too."""
        self._known = frozenset(known)
        self._sandbox = _Sandbox(undefined=StrictUndefined)
        self._sandbox.filters = {**functions, **self._sandbox.filters}

    def compiled(self, stated: JsonValue, where: str, names: Collection[str] = ()) -> Evaluated:
        """What gives the stated value, of the `names` that are known besides. Raises ConfigurationError where it is wrong."""
        inner, names = dict[str, Evaluated](), frozenset(names)
        source = self._source(stated, where, names, inner)
        try:
            unknown = sorted(find_undeclared_variables(self._sandbox.parse(f"{{{{ {source} }}}}")))
            template = self._sandbox.from_string(f"{{% set found = {source} %}}")
        except TemplateError as error:
            raise ConfigurationError(f"{where}: {stated!r} is no expression ({error}).") from error
        unknown = [name for name in unknown if name not in {*self._known, *names, *inner}]
        if unknown:
            raise ConfigurationError(f"{where}: {unknown[0]!r} is known neither here nor everywhere.")
        calls = {name: _in_context(one) for name, one in inner.items()}

        def evaluate(values: Values) -> Any:  # noqa: ANN401 - whatever the file states
            context = _Names(self._sandbox, {**values, **calls} if calls else values)
            try:
                deque(template.root_render_func(context), maxlen=0)
                found = context.vars["found"]
                if isinstance(found, Undefined):
                    str(found)  # a strict one says what is missing
            except CallwrightError:
                raise
            except _FAULTS as error:
                raise ConfigurationError(f"{where}: it can't be worked out ({error}).") from error
            return found

        return evaluate

    def _source(self, stated: JsonValue, where: str, names: frozenset[str], inner: dict[str, Evaluated]) -> str:
        """The expression of a stated value, in which a list that is gone through is a call of what stands in `inner`."""
        match stated:
            case str() if _IN_TEXT.search(stated):
                parts = _IN_TEXT.split(stated)
                told = (f"({part})" if at % 2 else orjson.dumps(part).decode() for at, part in enumerate(parts))
                return f"({' ~ '.join(told)})"
            case str():
                return f"({stated})"
            case list():
                return f"[{', '.join(self._source(one, where, names, inner) for one in stated)}]"
            case dict() if "each" in stated or "gives" in stated:
                name = f"_part{len(inner)}"
                inner[name] = self._each(stated, where, names) if "each" in stated else self._let(stated, where, names)
                return f"{name}()"
            case dict():
                members = (
                    f"{orjson.dumps(name).decode()}: {self._source(one, f'{where}.{name}', names, inner)}"
                    for name, one in stated.items()
                )
                return f"{{{', '.join(members)}}}"
            case _:
                return {None: "none", True: "true", False: "false"}.get(stated, str(stated))  # type: ignore[arg-type]

    def lets(self, stated: Mapping[str, JsonValue], where: str, names: frozenset[str]) -> dict[str, Evaluated]:
        """The names that are stated, each of which may use those before it."""
        found: dict[str, Evaluated] = {}
        for name, one in stated.items():
            found[name] = self.compiled(one, f"{where}.let.{name}", names | found.keys())
        return found

    def _let(self, stated: Mapping[str, Any], where: str, names: frozenset[str]) -> Evaluated:
        _validate_keys(stated, LET, where)
        lets = self.lets(stated["let"], where, names)
        gives = self.compiled(stated["gives"], where, names | lets.keys())
        return lambda values: gives(with_lets(values, lets))

    def _each(self, stated: Mapping[str, Any], where: str, names: frozenset[str]) -> Evaluated:
        _validate_keys(stated, EACH, where)
        entries, name = self.compiled(stated["each"], f"{where}.each", names), str(stated.get("as", "one"))
        lets = self.lets(stated.get("let", {}), where, names | {name})
        known = names | {name} | lets.keys()
        test, order, show = (
            self.compiled(stated[key], f"{where}.{key}", known) if key in stated else None
            for key in ("where", "sort", "show")
        )

        def evaluate(values: Values) -> Any:  # noqa: ANN401 - a list of whatever the file states
            each = (with_lets({**values, name: entry}, lets) for entry in entries(values))
            kept = [inner for inner in each if test is None or test(inner)]
            if order is not None:
                kept.sort(key=order)
            return [inner[name] if show is None else show(inner) for inner in kept]

        return evaluate


def with_lets(values: Values, lets: Mapping[str, Evaluated]) -> Values:
    """The values, and what is given names besides, one after the other."""
    if not lets:
        return values
    found = dict(values)
    for name, evaluate in lets.items():
        found[name] = evaluate(found)
    return found


def _in_context(evaluate: Evaluated) -> Callable[..., Any]:
    @pass_context
    def call(context: Context) -> Any:  # noqa: ANN401 - whatever the file states
        return evaluate(context.parent)

    return call


def _validate_keys(stated: Mapping[str, JsonValue], known: Collection[str], where: str) -> None:
    unknown = sorted(set(stated) - set(known))
    if unknown:
        raise ConfigurationError(f"{where}: {unknown[0]!r} is none of {', '.join(sorted(known))}.")
