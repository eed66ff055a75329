"""Samples that still validate, but of which any part may be broken: what checks must have an
answer to.
"""

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

from pydantic import ValidationError

from callwright.warehouse.records import Sample

_WILD: tuple[Any, ...] = (0, -1, 99, "", "turns[0]", "x", [], {}, None, True)


def mutants(sample: Sample, rng: Random, number: int) -> Iterator[Sample]:
    """So many broken versions of a sample, each changed at one to three places."""
    while number:
        body = sample.model_dump(mode="json")
        for _ in range(rng.randint(1, 3)):
            _mutate(body, rng)
        try:
            yield Sample.model_validate(body)
        except ValidationError:
            continue
        number -= 1


def _mutate(body: dict[str, Any], rng: Random) -> None:
    places = list(_places(body, ()))
    *path, last = rng.choice(places)
    holder: Any = body
    for step in path:
        holder = holder[step]
    match rng.randrange(5):
        case 0:
            del holder[last]
        case 1:
            holder[last] = copy.deepcopy(rng.choice(_WILD))
        case 2:
            holder[last] = copy.deepcopy(_at(body, rng.choice(places)))
        case 3 if isinstance(holder, list):
            holder.insert(rng.randrange(len(holder) + 1), copy.deepcopy(holder[last]))
        case _ if isinstance(holder, list):
            rng.shuffle(holder)
        case _ if isinstance(holder[last], int):
            holder[last] += rng.choice((-1, 1, 7))


def _places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    members = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, member in members:
        yield (*path, key)
        yield from _places(member, (*path, key))


def _at(body: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        body = body[step]
    return body
