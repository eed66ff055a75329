"""Make a value fit a schema as a whole: members that go together are added, changed or dropped.

A drawn value fits member by member; `oneOf`, `if`, `dependentRequired` and recursion speak of
several at once. What a validator says is wrong is mended step by step: a missing member is drawn,
one alternative is chosen and completed, a constant is set, a member too many is dropped.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator, ValidationError
from pydantic import JsonValue

from callwright.language.schemas import MOST_REPEATED, expanded, matches, replaced_at, resolved
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import JsonSchema

Path = tuple[str | int, ...]
Draw = Callable[[str, JsonSchema], JsonValue]
_STEPS = 40
_TRIES = 12
_BRANCHES = ("oneOf", "anyOf")
_NEEDING = frozenset({"required", "dependentRequired", "minProperties"})
_TOO_MANY = frozenset({"additionalProperties", "unevaluatedProperties", "maxProperties", "not"})
_PATTERNS = "patternProperties"
_LONGEST = 160


class Fixed(NamedTuple):
    """What a completion leaves alone: the paths in `kept` stay, and only `free` ones are added.

    With None for `free` any member may be added, except at a path in `barred`.
    """

    kept: frozenset[Path] = frozenset()
    free: frozenset[Path] | None = None
    barred: frozenset[Path] = frozenset()


NOTHING_FIXED = Fixed()


def completed(
    value: JsonValue,
    validator: Draft202012Validator,
    draw: Draw,
    rng: Random,
    fixed: Fixed = NOTHING_FIXED,
) -> JsonValue:
    """Return `value` changed as little as needed to satisfy the validator's schema.

    `draw` gives a value for a member by its name and schema. Raises ReplyError with the reason if
    none is found.
    """
    reason = ""
    for _ in range(_TRIES):
        completion = _Completion(value, validator, draw, rng, fixed)
        try:
            return completion.run()
        except _StuckError as error:
            reason = reason or str(error)
        except ReplyError as error:
            reason = reason or str(error)
    raise ReplyError(reason)


def told_of(error: ValidationError) -> str:
    """Return what is wrong in a short sentence without a full stop, with the place if inside."""
    place = ".".join(map(str, error.absolute_path))
    at = f"at {place!r}, " if place else ""
    found: Any = error  # jsonschema types what is always set as if it might not be
    if found.validator in _BRANCHES:
        count = len(found.validator_value)
        fitting = "none" if error.context else "more than one"
        return f"{at}{fitting} of the {count} alternatives that the schema offers fits"
    said = error.message if len(error.message) <= _LONGEST else f"{error.message[:_LONGEST]}…"
    return f"{at}{said}"


class _Breach(NamedTuple):
    """What a validator says is wrong: the keyword and its value, what is held, and where.

    `inside` are the faults of alternatives, `branch` the number of the alternative that one is of.
    """

    word: str
    wanted: Any  # the value of a keyword
    held: Any  # a part of a JSON value
    schema: Any  # the schema of that part, with the keyword
    path: Path
    message: str
    inside: "tuple[_Breach, ...]"
    branch: int = 0


def _breach_of(error: ValidationError, *, inside: bool = False) -> _Breach:
    found: Any = error
    context = tuple(_breach_of(one, inside=True) for one in found.context)
    branch = found.schema_path[0] if inside else 0
    return _Breach(
        str(found.validator or ""),
        found.validator_value,
        found.instance,
        found.schema,
        tuple(found.absolute_path),
        told_of(error),
        context,
        branch if isinstance(branch, int) else 0,
    )


class _StuckError(Exception):
    """Nothing can be changed that would mend the value; never leaves this module."""


class _Completion:
    """One try at a value: its state, and the alternative chosen at each place."""

    def __init__(
        self,
        value: JsonValue,
        validator: Draft202012Validator,
        draw: Draw,
        rng: Random,
        fixed: Fixed,
    ) -> None:
        self._value, self._validator, self._draw = value, validator, draw
        self._rng, self._fixed = rng, fixed
        self._root: JsonSchema = validator.schema  # type: ignore[assignment] # never a boolean
        self._chosen: dict[tuple[Path, str, int], int] = {}
        self._redrawn: dict[Path, int] = {}

    def run(self) -> JsonValue:
        error: _Breach | None = None
        for _ in range(_STEPS):
            found = next(self._validator.iter_errors(self._value), None)
            if found is None:
                if any(map(self._has, self._fixed.barred)):
                    raise _StuckError("what fits needs a parameter that nobody says")
                return self._value
            error = _breach_of(found)
            self._mend(error)
        raise _StuckError(error.message if error else "")

    def _mend(self, error: _Breach) -> None:
        if error.word in _BRANCHES:
            self._choose(error)
        elif error.word in _NEEDING:
            self._add(error)
        elif error.word in _TOO_MANY:
            self._drop(error)
        else:
            self._change(error)

    def _choose(self, error: _Breach) -> None:
        """Mend the value towards one alternative: the one begun, or the one that lacks least."""
        if not error.inside:
            self._exclude(error)
            return
        by_branch: dict[int, list[_Breach]] = {}
        for inner in error.inside:
            by_branch.setdefault(inner.branch, []).append(inner)
        open_to_all = {
            at: errors for at, errors in by_branch.items() if not any(map(self._is_barred, errors))
        }
        by_branch = open_to_all or by_branch
        place = (error.path, error.word, id(error.schema))
        branch = self._chosen.get(place)
        if branch not in by_branch:
            costs = {at: sum(map(_cost, errors)) for at, errors in by_branch.items()}
            least = min(costs.values())
            branch = self._rng.choice([at for at, cost in costs.items() if cost == least])
            self._chosen[place] = branch
        self._mend(by_branch[branch][0])

    def _exclude(self, error: _Breach) -> None:
        """Drop optional members until only one alternative of several that fit is left."""
        path = error.path
        branches = [resolved(self._root, one) for one in error.wanted]
        kept = self._rng.choice(branches)
        others = {name for one in branches if one is not kept for name in _named(one)}
        self._remove(path, [name for name in others if name not in _named(kept)], error)

    def _add(self, error: _Breach) -> None:
        path, held = error.path, error.held
        if error.word == "required":
            missing = [name for name in error.wanted if name not in held]
        elif error.word == "dependentRequired":
            needed = (names for name, names in error.wanted.items() if name in held)
            missing = [name for names in needed for name in names if name not in held]
        else:
            known = {name for one in self._declared(path) for name in one.get("properties") or ()}
            missing = self._rng.sample(sorted(known - set(held)), min(1, len(known - set(held))))
        if not missing:
            raise _StuckError(error.message)
        for name in missing:
            self._give((*path, name), name, [error.schema, *self._declared(path)], error)

    def _give(self, path: Path, name: str, schemas: Sequence[Any], error: _Breach) -> None:
        free = self._fixed.free
        if free is not None and not any(path[: len(one)] == one for one in free):
            raise _StuckError(error.message)
        found = (
            (one.get("properties") or {}).get(name) for one in schemas if isinstance(one, Mapping)
        )
        schema = next((one for one in found if isinstance(one, dict)), None)
        if schema is None:
            raise _StuckError(f"nothing says what {name!r} is")
        self._set(path, self._draw(name, expanded(self._root, schema)))

    def _drop(self, error: _Breach) -> None:
        path, held = error.path, error.held
        if not isinstance(held, dict):
            raise _StuckError(error.message)
        if error.word == "not":
            excluded = error.wanted
            names = [
                *(excluded.get("required") or ()),
                *(one for part in excluded.get("anyOf") or () for one in part.get("required", ())),
            ]
        elif error.word == "maxProperties":
            names = [*held][error.wanted :]
        else:
            known, patterns = error.schema.get("properties") or {}, error.schema.get(_PATTERNS, ())
            strange = (name for name in held if name not in known)
            names = [name for name in strange if not any(matches(one, name) for one in patterns)]
        self._remove(path, names, error)

    def _remove(self, path: Path, names: Sequence[str], error: _Breach) -> None:
        held = error.held
        gone = [name for name in names if name in held and not self._is_kept((*path, name))]
        if not gone:
            raise _StuckError(error.message)
        self._set(path, {name: one for name, one in held.items() if name not in gone})

    def _change(self, error: _Breach) -> None:
        """Set a value to what the schema says, or draw another one."""
        path = error.path
        if not path or self._is_kept(path):
            raise _StuckError(error.message)
        if not error.word:  # the schema `false`: nothing may stand there
            owner = self._at(path[:-1])
            if not isinstance(owner, dict):
                raise _StuckError(error.message)
            rest = {name: one for name, one in owner.items() if name != path[-1]}
            self._value = replaced_at(self._value, path[:-1], rest)
            return
        if error.word == "const":
            self._set(path, error.wanted)
        elif error.word == "enum" and error.wanted:
            self._set(path, self._rng.choice(error.wanted))
        else:
            self._redrawn[path] = self._redrawn.get(path, 0) + 1
            if self._redrawn[path] > MOST_REPEATED:
                raise _StuckError(error.message)
            name = next((one for one in reversed(path) if isinstance(one, str)), "")
            drawn = self._draw(name, expanded(self._root, dict(error.schema)))
            self._set(path, drawn)

    def _set(self, path: Path, new: JsonValue) -> None:
        *inside, last = path or ("",)
        if path and isinstance(last, str):
            owner = self._at(tuple(inside))
            whole: dict[str, JsonValue] = {**owner, last: new} if isinstance(owner, dict) else {}
            self._value = replaced_at(self._value, inside, whole)
        else:
            self._value = replaced_at(self._value, path, new)

    def _at(self, path: Path) -> JsonValue:
        value: Any = self._value
        for step in path:
            value = value[step]
        return value  # type: ignore[no-any-return] # a part of a JSON value

    def _is_barred(self, error: _Breach) -> bool:
        """Whether only a member that may not be added would mend this."""
        if error.word != "required":
            return False
        missing = (name for name in error.wanted if name not in error.held)
        return any((*error.path, name) in self._fixed.barred for name in missing)

    def _has(self, path: Path) -> bool:
        held: Any = self._value
        for step in path:
            held = held.get(step) if isinstance(held, dict) else None
        return held is not None

    def _is_kept(self, path: Path) -> bool:
        return any(path[: len(one)] == one or one[: len(path)] == path for one in self._fixed.kept)

    def _declared(self, path: Path) -> Iterator[JsonSchema]:
        """Yield every object schema that says something about the value at a path."""
        layer = [*_alternatives(self._root, self._root)]
        for step in path:
            inner: list[Any] = []
            for one in layer:
                if isinstance(step, int):
                    inner.append(one.get("items"))
                else:
                    inner.append((one.get("properties") or {}).get(step))
            layer = [
                part
                for one in inner
                if isinstance(one, dict)
                for part in _alternatives(self._root, one)
            ]
        yield from layer


def _cost(error: _Breach) -> int:
    """Return how much an error costs to mend: a member too many or another type is much."""
    if error.word in _BRANCHES and error.inside:
        branches: dict[object, int] = {}
        for inner in error.inside:
            at = inner.branch
            branches[at] = branches.get(at, 0) + _cost(inner)
        return min(branches.values())
    if error.word == "required":
        return 2
    return 10 if error.word in {"const", "enum", *_TOO_MANY} else 5


def _named(schema: JsonSchema) -> set[str]:
    return {*(schema.get("properties") or ()), *(schema.get("required") or ())}


def _alternatives(root: JsonSchema, schema: JsonSchema, level: int = 0) -> Iterator[JsonSchema]:
    """Yield a schema with its reference followed, and all schemas in it of the same value."""
    if level > _TRIES:
        return
    plain = resolved(root, schema)
    yield plain
    listed = [one for word in ("allOf", *_BRANCHES) for one in plain.get(word) or ()]
    listed += [plain.get(word) for word in ("then", "else")]
    listed += [*(plain.get("dependentSchemas") or {}).values()]
    for one in listed:
        if isinstance(one, dict):
            yield from _alternatives(root, one, level + 1)
