"""Attractions that can be booked: which a city has (the same under every seed)."""

import re
from functools import lru_cache
from typing import NamedTuple

from generators.environments.travel.chance import chance, index_of, number_for
from generators.environments.travel.frame import RequestError, World
from generators.environments.travel.geography import Place, cities
from generators.environments.travel.prose import words
from language.text import fold

PER_CITY = 26
_CITY_STRIDE = 100
_TOURS_OF_A_SIGHT = 6
_UNFIT = re.compile(r"[^a-z0-9]+")


class Product(NamedTuple):
    """An attraction. `sight` is the place it belongs to."""

    city: int
    number: int
    name: str
    sight: Place
    category: str
    dollars: int
    minutes: int

    @property
    def serial(self) -> int:
        """Its index among all attractions."""
        return self.city * _CITY_STRIDE + self.number


@lru_cache(256)
def products_in(city_index: int) -> tuple[Product, ...]:
    """The attractions of a city."""
    city = cities()[city_index]
    rng = chance("attractions", city_index)
    named = [
        (f"{opening} {sight.name}", sight, category)
        for sight in city.landmarks
        for _, opening, category in rng.sample(words()["tours"], _TOURS_OF_A_SIGHT)
    ]
    named += [(f"{show} {city.name}", rng.choice(city.landmarks), "Shows") for show in rng.sample(words()["shows"], 5)]
    rng.shuffle(named)
    return tuple(
        Product(city_index, number, name, sight, category, 5 * rng.randint(2, 30), 30 * rng.randint(1, 9))
        for number, (name, sight, category) in enumerate(named[:PER_CITY])
    )


def slug_of(product: Product, world: World) -> str:
    """The text that an attraction is addressed by."""
    number = number_for(product.serial, "slugs", world.seed)
    return f"pr{number:x}-{_UNFIT.sub('-', fold(product.name)).strip('-')}"


def product_with_slug(slug: str, world: World) -> Product:
    """The attraction with a slug; refused where there is none."""
    number = re.match(r"pr([0-9a-f]{5,7})-", slug)
    product = product_at(index_of(int(number[1], 16), "slugs", world.seed)) if number else None
    if product is None or slug_of(product, world) != slug:
        raise RequestError(f"There is no attraction with the slug {slug!r}.")
    return product


def product_at(index: int) -> Product | None:
    """The attraction with an index among all, None where there is none."""
    city_index, own = divmod(index, _CITY_STRIDE)
    if not 0 <= city_index < len(cities()) or own >= len(products_in(city_index)):
        return None
    return products_in(city_index)[own]
