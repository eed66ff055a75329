"""Expressions of rules, written in Jinja's sandbox, and the functions that they can call.

    "nights * room.price"                                    an expression
    "{{ street }} 5, {{ city.name }}"                        a text
    {name: hotel.name, stars: 4}                             an object of such; a list is one too
    {let: {nights: …, …}, gives: …}                          what has names of its own
    {each: hotels, as: hotel, let: {…}, where: hotel.is_free, sort: hotel.price, show: {name:
    hotel.name}}

`each` gives a list: for each entry for which `where` holds, the value of `show` (by default the
entry), in the order of `sort`.
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
# the names that an expression may use: rows, functions, and what a call gives
Values = dict[str, Any]
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
    """The bounded sandbox, with a shortcut for what an answer does ten thousand times."""

    def getattr(self, obj: Any, attribute: str) -> Any:  # noqa: ANN401 - whatever the file states
        """Return a member of a row or object; Python attributes take precedence, as in Jinja."""
        if not hasattr(type(obj), attribute):
            try:
                return obj[attribute]
            except (TypeError, LookupError):
                pass
        return super().getattr(obj, attribute)

    def call(__self, __context: Context, __obj: Any, *args: Any, **named: Any) -> Any:  # noqa: ANN401, N805 - as the sandbox has it
        """Call a function; the plain functions that an expression can reach are those of rules."""
        if type(__obj) in _CALLED_PLAINLY and not named:
            return __self.counted(__context, _plainly, __obj, *args)
        return super().call(__context, __obj, *args, **named)


def _plainly(context: Context, function: Any, *args: Any) -> Any:  # noqa: ANN401 - whatever the file states
    return function(context, *args) if hasattr(function, "jinja_pass_arg") else function(*args)


class _ExpressionNames(Context):
    """The names of one expression during evaluation: the context it uses, nothing of templates."""

    def __init__(self, sandbox: BoundedSandbox, values: Values) -> None:
        self.environment, self.parent, self.vars, self.exported_vars = sandbox, values, {}, set()

    @cached_property
    def eval_ctx(self) -> EvalContext:  # type: ignore[override]
        """The context that some filters require."""
        return EvalContext(self.environment)


class ExpressionCompiler:
    """Compiles a file's expressions; its errors name the place in the file as `where`."""

    def __init__(self, known: Collection[str]) -> None:
        """Set the names for all expressions: `known`, and PLAIN, which also work as filters."""
        self._known = frozenset({*BUILT_IN, *PLAIN, *known})
        self._sandbox = _Sandbox()
        self._sandbox.filters = {**PLAIN, **self._sandbox.filters}

    def compiled(self, stated: JsonValue, where: str, names: Collection[str] = ()) -> Evaluated:
        """Compile an expression that may use `names` besides those always known.

        Raises ConfigurationError if it is wrong.
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
            message = f"{where}: {unknown[0]!r} is known neither here nor everywhere."
            raise ConfigurationError(message)
        calls = {name: _in_context(one) for name, one in inner.items()}

        def evaluate(values: Values) -> Any:  # noqa: ANN401 - whatever the file states
            context = _ExpressionNames(self._sandbox, {**values, **calls} if calls else values)
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
                problem = f"{where}: {named} can't be worked out ({reason})."
                raise ConfigurationError(problem) from error
            return found

        return evaluate

    def _source(
        self, stated: JsonValue, where: str, names: frozenset[str], inner: dict[str, Evaluated]
    ) -> str:
        """Return the Jinja source of a value; loops over lists become calls of parts in `inner`."""
        match stated:
            case str() if _IN_TEXT.search(stated):
                parts = _IN_TEXT.split(stated)
                text_parts = (
                    f"({part})" if at % 2 else orjson.dumps(part).decode()
                    for at, part in enumerate(parts)
                )
                return f"({' ~ '.join(text_parts)})"
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
        """Compile the stated names; each may use the names before it."""
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
    """Return the values extended by the names that `lets` evaluates, in order."""
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
    """Return a random generator seeded by `parts` alone, the same in every process."""
    return Random(blake2b(orjson.dumps(parts), digest_size=8).digest())


def share(*parts: JsonValue) -> float:
    """Return a number in [0, 1) for `parts`, cheaper than from a generator if one is enough."""
    return int.from_bytes(blake2b(orjson.dumps(parts), digest_size=6).digest()) / (1 << 48)


def number_for(index: int, sort: str, seed: int) -> int:
    """Return a random-looking number for the `index`th thing of a sort; `index_of` inverts it."""
    factor, shift = _scramble(sort, seed)
    return _FIRST + (index * factor + shift) % _PRIME


def index_of(number: str | int, sort: str, seed: int) -> int:
    """Return the index of a number: huge if it was never made, -1 if it is not a number."""
    if isinstance(number, str) and not number.isdecimal():
        return -1
    factor, shift = _scramble(sort, seed)
    return (int(number) - _FIRST - shift) * pow(factor, -1, _PRIME) % _PRIME


@lru_cache(256)
def _scramble(sort: str, seed: int) -> tuple[int, int]:
    rng = chance("identifiers", sort, seed)
    return rng.randrange(1_000_000, _PRIME), rng.randrange(_PRIME)


def write_token(content: JsonValue, sort: str, seed: int, padding: int = 0) -> str:
    """Return an opaque token that holds `content` and `padding` bytes of noise."""
    if padding > LARGEST:
        raise BoundError(f"it makes a token of more than {LARGEST:,} bytes")
    body = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    noise = chance("padding", sort, seed, body.hex()).randbytes(padding)
    packed = len(body).to_bytes(2) + body + noise
    return base64.urlsafe_b64encode(_signature(packed, sort, seed) + packed).decode().rstrip("=")


def read_token(token: str, sort: str, seed: int) -> JsonValue | None:
    """Return the content of a token, or None if this world never created it."""
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
    """Return the distance between two points on the globe in km."""
    south, north = radians(one[0]), radians(other[0])
    lift = sin((north - south) / 2) ** 2
    turn = sin(radians(other[1] - one[1]) / 2) ** 2
    return 2 * _EARTH * asin(sqrt(lift + cos(south) * cos(north) * turn))


def beside(point: Point, reach: float, *seeds: str | int) -> tuple[float, float]:
    """Return a point within `reach` degrees of another; the same seeds give the same point."""
    rng = chance("beside", *seeds)
    return (
        round(point[0] + rng.uniform(-reach, reach), 6),
        round(point[1] + rng.uniform(-reach, reach) / max(cos(radians(point[0])), 0.2), 6),
    )


@lru_cache(16384)
def words_in(text: str) -> frozenset[str]:
    """Return the significant words of a text, folded."""
    words = frozenset(_WORD.findall(fold(text)))
    return words - _SMALL_WORDS or words


def named_by(
    query: str, entries: Iterable[Any], names: str = "names", around: str = "around"
) -> list[Any]:
    """Return the entries that a user may mean by `query`, best first; refuses one without words.

    An entry has `names` (sets of words) and words `around` it, which users may add or leave out.
    Its `loose` says whether it is also found in a longer text.
    """
    wanted = words_in(query)
    if not wanted:
        refuse("query must not be empty.")
    ranked = [
        (rank, one) for one in entries if (rank := _rank(wanted, one, names, around)) is not None
    ]
    return [one for _, one in sorted(ranked, key=itemgetter(0))]


def _rank(wanted: frozenset[str], entry: Any, names: str, around: str) -> int | None:  # noqa: ANN401 - any row
    known_names: Sequence[frozenset[str]] = entry[names]
    if wanted in known_names:
        return 0
    is_within = any(name <= wanted for name in known_names)
    if any(name and wanted <= name | entry[around] and name & wanted for name in known_names):
        return 1 if is_within else 3
    return 4 if is_within and entry["loose"] else None


def sentences(pool: Sequence[str], count: int, rng: Random) -> str:
    """Return `count` sentences from a pool; none repeats before all have been used."""
    if not pool or count > LARGEST:
        raise BoundError(f"it makes {count:,} sentences of {len(pool)}")
    stated: list[str] = []
    while len(stated) < count:
        stated += rng.sample(pool, len(pool))
    return " ".join(stated[:count])


def shuffled(entries: Iterable[Entry], rng: Random) -> list[Entry]:
    """Return the entries in random order."""
    found = list(entries)
    rng.shuffle(found)
    return found


def pairs(*pools: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return each combination of one entry from every pool."""
    if prod(map(len, pools)) > LARGEST:
        raise BoundError(f"it makes more than {LARGEST:,} pairs")
    return weighed(list(product(*pools)))


def merged(*objects: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of all objects; later objects replace those of earlier ones."""
    return {name: value for one in objects for name, value in one.items()}


@lru_cache(4096)
def day(text: str, name: str) -> date:
    """Return the date that a parameter gives; refuse the call if it is not a date."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007 - a calendar day has no zone
    except ValueError:
        refuse(f"{name} must be a date like 2027-03-14, not {text!r}.")


@lru_cache(4096)
def moment(text: str, name: str) -> datetime:
    """Parse a parameter's local date and time of day; refuses anything else."""
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M")  # noqa: DTZ007 - local to the place
    except ValueError:
        refuse(f"{name} must be a date and time like 2027-03-14 09:30, not {text!r}.")


def midnight(on: date) -> datetime:
    """Return the moment when a day begins."""
    return datetime.combine(on, datetime.min.time())


def listed(text: str | None) -> list[str]:
    """Return the parts of a text between its commas; an empty list for no text."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def slug(text: str) -> str:
    """Return a text in the form that web addresses use."""
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
    """Return the functions that depend on the seed of a world."""
    return {
        "number_for": lambda index, sort: number_for(index, sort, seed),
        "index_of": lambda number, sort: index_of(number, sort, seed),
        "write_token": lambda content, sort, padding=0: write_token(content, sort, seed, padding),
        "read_token": lambda token, sort: read_token(token, sort, seed),
    }
