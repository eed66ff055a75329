"""Expressions of rules: values that a file states in Jinja's expressions, within its sandbox; and
what they can call.

    "nights * room.price"                                    an expression
    "{{ street }} 5, {{ city.name }}"                        a text
    {name: hotel.name, stars: 4}                             an object of such; a list is one too
    {let: {nights: …, …}, gives: …}                          what has names of its own
    {each: hotels, as: hotel, let: {…}, where: hotel.is_free, sort: hotel.price, show: {name:
    hotel.name}}

`each` gives a list: of each entry what `show` says (itself unless that is said), where `where`
holds, in the order of `sort`.
"""

import base64
import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import product
from math import asin, ceil, cos, prod, radians, sin, sqrt
from operator import itemgetter
from random import Random
from types import BuiltinFunctionType, FunctionType
from typing import Any, NoReturn, TypeVar

import orjson
from jinja2 import TemplateError, Undefined, pass_context
from jinja2.meta import find_undeclared_variables
from jinja2.nodes import EvalContext
from jinja2.runtime import Context
from jinja2.sandbox import safe_range
from pydantic import JsonValue

from callwright.generators.environments.episodes import RefusalError
from callwright.language.text import fold
from callwright.warehouse.errors import CallwrightError, ConfigurationError
from callwright.warehouse.templates import (
    LARGEST,
    BoundedSandbox,
    BoundError,
    added_up,
    bounded,
    rounded,
    weighed,
)

Entry = TypeVar("Entry")
Point = Sequence[float]  # latitude and longitude
_EARTH = 6371.0
_PRIME = 9_999_991  # numbers of things have up to seven digits
_FIRST = 1_000_003
_SIGN = 8  # bytes of the signature that tells a token of this world from an invented one
_WORD = re.compile(r"[^\W_]+")
_NO_SLUG = re.compile(r"[^a-z0-9]+")
_SMALL_WORDS = frozenset({"the", "of", "in", "at", "near", "and", "city"})
BUILT_IN: Mapping[str, Any] = {"range": safe_range, "dict": dict}
Values = dict[
    str, Any
]  # the names that an expression may use: rows, functions, and what a call gives
Evaluated = Callable[[Values], Any]
EACH = frozenset({"each", "as", "let", "where", "sort", "show"})
LET = frozenset({"let", "gives"})
_SHOWN = 200
_STEPS = 4  # that an expression takes by itself
_IN_TEXT = re.compile(r"\{\{(.+?)\}\}")
_FAULTS = (
    TemplateError,
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    RecursionError,
)


# What is called with what stands between the brackets, and with the context where it is marked so.
# The sandbox refuses no builtin: those that an expression must not reach it can't read.
_CALLED_PLAINLY = frozenset({FunctionType, BuiltinFunctionType, type(lru_cache(len))})


class _Sandbox(BoundedSandbox):
    """The bounded sandbox, with a short way for what an answer does ten thousand times."""

    def getattr(self, obj: Any, attribute: str) -> Any:  # noqa: ANN401 - whatever the file states
        """A member of a row or an object, whose own attributes come first as everywhere in
        Jinja.
        """
        if not hasattr(type(obj), attribute):
            try:
                return obj[attribute]
            except (TypeError, LookupError):
                pass
        return super().getattr(obj, attribute)

    def call(__self, __context: Context, __obj: Any, *args: Any, **named: Any) -> Any:  # noqa: ANN401, N805 - as the sandbox has it
        """What a function gives: all plain functions that an expression can reach are those of
        rules.
        """
        if type(__obj) in _CALLED_PLAINLY and not named:
            return __self.counted(__context, _plainly, __obj, *args)
        return super().call(__context, __obj, *args, **named)


def _plainly(context: Context, function: Any, *args: Any) -> Any:  # noqa: ANN401 - whatever the file states
    return function(context, *args) if hasattr(function, "jinja_pass_arg") else function(*args)


class _Names(Context):
    """The names of one expression while it is worked out: what of a context it uses, and nothing
    of templates.
    """

    def __init__(self, sandbox: BoundedSandbox, values: Values) -> None:
        self.environment, self.parent, self.vars, self.exported_vars = sandbox, values, {}, set()

    @cached_property
    def eval_ctx(self) -> EvalContext:  # type: ignore[override]
        """What some filters ask for."""
        return EvalContext(self.environment)


class ExpressionCompiler:
    """Compiles what a file states; `where` tells in its errors where in the file that stands."""

    def __init__(self, known: Collection[str]) -> None:
        """`known` are the names that all expressions may use, besides PLAIN, which can be called
        as filters too.
        """
        self._known = frozenset({*BUILT_IN, *PLAIN, *known})
        self._sandbox = _Sandbox()
        self._sandbox.filters = {**PLAIN, **self._sandbox.filters}

    def compiled(self, stated: JsonValue, where: str, names: Collection[str] = ()) -> Evaluated:
        """What gives the stated value, of the `names` that are known besides.

        Raises ConfigurationError where it is wrong.
        """
        inner, names = dict[str, Evaluated](), frozenset(names)
        source = self._source(stated, where, names, inner)
        named = repr(stated) if len(repr(stated)) <= _SHOWN else f"{repr(stated)[:_SHOWN]}…"
        try:
            unknown = sorted(find_undeclared_variables(self._sandbox.parse(f"{{{{ {source} }}}}")))
            template = self._sandbox.from_string(f"{{% set found = {source} %}}")
        except TemplateError as error:
            raise ConfigurationError(f"{where}: {named} is no expression ({error}).") from error
        unknown = [name for name in unknown if name not in {*self._known, *names, *inner}]
        if unknown:
            raise ConfigurationError(
                f"{where}: {unknown[0]!r} is known neither here nor everywhere."
            )
        calls = {name: _in_context(one) for name, one in inner.items()}

        def evaluate(values: Values) -> Any:  # noqa: ANN401 - whatever the file states
            context = _Names(self._sandbox, {**values, **calls} if calls else values)
            try:
                with bounded:
                    bounded.step(_STEPS)
                    deque(template.root_render_func(context), maxlen=0)
                found = context.vars["found"]
                if isinstance(found, Undefined):
                    str(found)  # a strict one says what is missing
            except CallwrightError:
                raise
            except _FAULTS as error:
                reason = (
                    "it calls itself without end" if isinstance(error, RecursionError) else error
                )
                raise ConfigurationError(
                    f"{where}: {named} can't be worked out ({reason})."
                ) from error
            return found

        return evaluate

    def _source(
        self, stated: JsonValue, where: str, names: frozenset[str], inner: dict[str, Evaluated]
    ) -> str:
        """The expression of a stated value, in which a list that is gone through is a call of
        what stands in `inner`.
        """
        match stated:
            case str() if _IN_TEXT.search(stated):
                parts = _IN_TEXT.split(stated)
                told = (
                    f"({part})" if at % 2 else orjson.dumps(part).decode()
                    for at, part in enumerate(parts)
                )
                return f"({' ~ '.join(told)})"
            case str():
                return f"({stated})"
            case list():
                return f"[{', '.join(self._source(one, where, names, inner) for one in stated)}]"
            case dict() if "each" in stated or "gives" in stated:
                name = f"_part{len(inner)}"
                inner[name] = (
                    self._each(stated, where, names)
                    if "each" in stated
                    else self._let(stated, where, names)
                )
                return f"{name}()"
            case dict():
                members = (
                    f"{orjson.dumps(name).decode()}:"
                    f" {self._source(one, f'{where}.{name}', names, inner)}"
                    for name, one in stated.items()
                )
                return f"{{{', '.join(members)}}}"
            case _:
                return {None: "none", True: "true", False: "false"}.get(stated, str(stated))  # type: ignore[arg-type]

    def lets(
        self, stated: Mapping[str, JsonValue], where: str, names: frozenset[str]
    ) -> dict[str, Evaluated]:
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
        entries, name = (
            self.compiled(stated["each"], f"{where}.each", names),
            str(stated.get("as", "one")),
        )
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
            return weighed([inner[name] if show is None else show(inner) for inner in kept])

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


# What rules can call: chance that depends on what it is for, ids and tokens that lead back, days,
# places, texts


def chance(*parts: JsonValue) -> Random:
    """A generator that is seeded by `parts` alone, the same in every process."""
    return Random(blake2b(orjson.dumps(parts), digest_size=8).digest())


def share(*parts: JsonValue) -> float:
    """A number from 0 to 1 (never 1) for `parts`: cheaper than a generator where one number is
    all that is needed.
    """
    return int.from_bytes(blake2b(orjson.dumps(parts), digest_size=6).digest()) / (1 << 48)


def number_for(index: int, sort: str, seed: int) -> int:
    """The number of the `index`th thing of a sort: looks like any number, and leads back to the
    index.
    """
    factor, shift = _scramble(sort, seed)
    return _FIRST + (index * factor + shift) % _PRIME


def index_of(number: str | int, sort: str, seed: int) -> int:
    """The index that a number was made for; for one that was never made it is far beyond any,
    for what is none -1.
    """
    if isinstance(number, str) and not number.isdecimal():
        return -1
    factor, shift = _scramble(sort, seed)
    return (int(number) - _FIRST - shift) * pow(factor, -1, _PRIME) % _PRIME


@lru_cache(256)
def _scramble(sort: str, seed: int) -> tuple[int, int]:
    rng = chance("identifiers", sort, seed)
    return rng.randrange(1_000_000, _PRIME), rng.randrange(_PRIME)


def write_token(content: JsonValue, sort: str, seed: int, padding: int = 0) -> str:
    """An opaque token that holds `content` and `padding` bytes of noise."""
    if padding > LARGEST:
        raise BoundError(f"it makes a token of more than {LARGEST:,} bytes")
    body = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    noise = chance("padding", sort, seed, body.hex()).randbytes(padding)
    packed = len(body).to_bytes(2) + body + noise
    return base64.urlsafe_b64encode(_signature(packed, sort, seed) + packed).decode().rstrip("=")


def read_token(token: str, sort: str, seed: int) -> JsonValue | None:
    """What a token holds; None where this world never made it."""
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return None
    packed = raw[_SIGN:]
    if len(packed) < 2 or raw[:_SIGN] != _signature(packed, sort, seed):  # noqa: PLR2004 - two bytes say the length
        return None
    content: JsonValue = orjson.loads(packed[2 : 2 + int.from_bytes(packed[:2])])
    return content


def _signature(packed: bytes, sort: str, seed: int) -> bytes:
    return blake2b(packed, digest_size=_SIGN, key=f"{sort}:{seed}".encode()).digest()


def distance_km(one: Point, other: Point) -> float:
    """The way between two points over the globe."""
    south, north = radians(one[0]), radians(other[0])
    lift = sin((north - south) / 2) ** 2
    turn = sin(radians(other[1] - one[1]) / 2) ** 2
    return 2 * _EARTH * asin(sqrt(lift + cos(south) * cos(north) * turn))


def beside(point: Point, reach: float, *seeds: str | int) -> tuple[float, float]:
    """A point within `reach` degrees of another, always the same for the same seeds."""
    rng = chance("beside", *seeds)
    return (
        round(point[0] + rng.uniform(-reach, reach), 6),
        round(point[1] + rng.uniform(-reach, reach) / max(cos(radians(point[0])), 0.2), 6),
    )


@lru_cache(16384)
def words_in(text: str) -> frozenset[str]:
    """The words that count in a text, folded."""
    words = frozenset(_WORD.findall(fold(text)))
    return words - _SMALL_WORDS or words


def named_by(
    query: str, entries: Iterable[Any], names: str = "names", around: str = "around"
) -> list[Any]:
    """The entries that somebody may mean who types `query`, best first; refused where it has no
    words.

    An entry has `names` (sets of words), what lies `around` it (words that may be typed besides, or
    left out), and says by `loose` whether it is found in a longer text too.
    """
    wanted = words_in(query)
    if not wanted:
        refuse("query must not be empty.")
    ranked = [
        (rank, one) for one in entries if (rank := _rank(wanted, one, names, around)) is not None
    ]
    return [one for _, one in sorted(ranked, key=itemgetter(0))]


def _rank(wanted: frozenset[str], entry: Any, names: str, around: str) -> int | None:  # noqa: ANN401 - any row
    known: Sequence[frozenset[str]] = entry[names]
    if wanted in known:
        return 0
    is_within = any(name <= wanted for name in known)
    if any(name and wanted <= name | entry[around] and name & wanted for name in known):
        return 1 if is_within else 3
    return 4 if is_within and entry["loose"] else None


def sentences(pool: Sequence[str], count: int, rng: Random) -> str:
    """So many sentences out of a pool, none of them again before all have been."""
    if not pool or count > LARGEST:
        raise BoundError(f"it makes {count:,} sentences of {len(pool)}")
    stated: list[str] = []
    while len(stated) < count:
        stated += rng.sample(pool, len(pool))
    return " ".join(stated[:count])


def shuffled(entries: Iterable[Entry], rng: Random) -> list[Entry]:
    """The entries in an order of chance."""
    found = list(entries)
    rng.shuffle(found)
    return found


def pairs(*pools: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Each entry of one pool with each of the others."""
    if prod(map(len, pools)) > LARGEST:
        raise BoundError(f"it makes more than {LARGEST:,} pairs")
    return weighed(list(product(*pools)))


def merged(*objects: Mapping[str, Any]) -> dict[str, Any]:
    """The members of all objects, those of later ones in the place of others."""
    return {name: value for one in objects for name, value in one.items()}


@lru_cache(4096)
def day(text: str, name: str) -> date:
    """The date that a parameter gives; refused where it is none."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007 - a calendar day has no zone
    except ValueError:
        refuse(f"{name} must be a date like 2027-03-14, not {text!r}.")


@lru_cache(4096)
def moment(text: str, name: str) -> datetime:
    """The date and time of day that a parameter gives, local to a place; refused where it is
    none.
    """
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M")  # noqa: DTZ007 - local to the place
    except ValueError:
        refuse(f"{name} must be a date and time like 2027-03-14 09:30, not {text!r}.")


def midnight(on: date) -> datetime:
    """The moment at which a day begins."""
    return datetime.combine(on, datetime.min.time())


def listed(text: str | None) -> list[str]:
    """What stands between the commas of a text, nothing where there is none."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def slug(text: str) -> str:
    """A text as an address has it."""
    return _NO_SLUG.sub("-", fold(text)).strip("-")


def refuse(message: str, error: str = "invalid_value") -> NoReturn:
    """Refuse the call; the message says why."""
    raise RefusalError("not_found" if error == "not_found" else "invalid_value", message)


PLAIN: Mapping[str, Callable[..., Any]] = {
    "round": rounded,
    "min": min,
    "max": max,
    "int": int,
    "float": float,
    "abs": abs,
    "sum": added_up,
    "any": any,
    "text": str,
    "sorted": sorted,
    "up": ceil,
    "quoted": repr,
    "chance": chance,
    "distance_km": distance_km,
    "beside": beside,
    "words_in": words_in,
    "named_by": named_by,
    "sentences": sentences,
    "shuffled": shuffled,
    "day": day,
    "moment": moment,
    "midnight": midnight,
    "listed": listed,
    "slug": slug,
    "refuse": refuse,
    "share": share,
    "pairs": pairs,
    "days": lambda count: timedelta(days=count),
    "minutes": lambda count: timedelta(minutes=count),
    "merged": merged,
}


def seeded(seed: int) -> dict[str, Callable[..., Any]]:
    """The functions that depend on the seed of a world."""
    return {
        "number_for": lambda index, sort: number_for(index, sort, seed),
        "index_of": lambda number, sort: index_of(number, sort, seed),
        "write_token": lambda content, sort, padding=0: write_token(content, sort, seed, padding),
        "read_token": lambda token, sort: read_token(token, sort, seed),
    }
