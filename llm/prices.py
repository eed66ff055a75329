"""What tokens cost: a recipe's own price, or the one of the map that litellm brings along."""

import logging
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from pydantic import Field

from callwright.llm.known_models import known_model
from callwright.warehouse.records import Record

_MILLION = 1e6
_IN_BATCHES = 0.5  # of the price, where the map has none for batches
_MOST_TOKENS = 1e9  # in one request; more is nonsense

logger = logging.getLogger(__name__)


class OwnPrice(Record):
    """A model's price as a recipe states it, in US dollars for a million tokens; 0 where it costs nothing."""

    input: float = Field(ge=0, description="Dollars for a million tokens of prompts.")
    output: float = Field(ge=0, description="Dollars for a million tokens of replies.")


class Price(NamedTuple):
    """US dollars a token, whether the model is known to take JSON schemas, and its longest reply, None where nobody knows.

    One that is not `is_known` counts nothing.
    """

    prompt: float
    cached: float
    completion: float
    takes_schemas: bool
    longest_reply: int | None = None
    is_known: bool = True

    def of(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """What so many tokens cost; `cached_tokens` are those of the prompt that the provider still knew."""
        asked = (prompt_tokens - cached_tokens) * self.prompt + cached_tokens * self.cached
        return asked + completion_tokens * self.completion


FREE = Price(0.0, 0.0, 0.0, takes_schemas=False, is_known=False)


def read_price(name: str, *, own: OwnPrice | None = None, in_batches: bool = False) -> Price:
    """The recipe's `own` price of the model PROVIDER/MODEL, else the map's; FREE, and said so once a process, where it has none.

    In batches it is the map's price of batches, or half of the other; a recipe's own price counts as it stands.
    """
    price = find_price(name, own=own, in_batches=in_batches)
    if not price.is_known:
        say_unpriced(name)
    return price


def find_price(name: str, *, own: OwnPrice | None = None, in_batches: bool = False) -> Price:
    """As read_price, and nothing is said."""
    known = _mapped_price(name, in_batches=in_batches)
    if own is None:
        return known
    prompt, completion = own.input / _MILLION, own.output / _MILLION
    return known._replace(prompt=prompt, cached=prompt, completion=completion, is_known=True)


@cache
def _mapped_price(name: str, *, in_batches: bool) -> Price:
    entry = known_model(name)
    if not entry:
        return FREE
    prompt, cached, completion = (
        _price(entry, part, in_batches=in_batches)
        for part in ("input_cost_per_token", "cache_read_input_token_cost", "output_cost_per_token")
    )
    prompt = prompt or 0.0
    cheaper = prompt if cached is None else min(prompt, cached)
    longest = entry.get("max_output_tokens")
    return Price(
        prompt,
        cheaper,
        completion or 0.0,
        bool(entry.get("supports_response_schema")),
        longest if isinstance(longest, int) and longest > 0 else None,
    )


def _price(entry: Mapping[str, Any], part: str, *, in_batches: bool) -> float | None:
    price: float | None = entry.get(part)
    if not in_batches or price is None:
        return price
    stated: float | None = entry.get(f"{part}_batches")
    return price * _IN_BATCHES if stated is None else stated


@cache
def say_unpriced(name: str) -> None:
    """Warn once a process, however many shards open the model."""
    logger.warning("%s", unpriced_sentence(name))


def unpriced_sentence(name: str) -> str:
    """What to do about a model whose price nobody knows."""
    return (
        f"There is no price for {name}: its requests count as free, and no budget stops them. Give it one in its settings, "
        "in dollars for a million tokens: price: {input: 0.15, output: 0.60}, both 0 where it costs nothing."
    )


class Usage(NamedTuple):
    """The tokens that a provider says a request took; all 0 where it says none, or what can't be."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0


def read_usage(stated: Mapping[str, Any]) -> Usage:
    """What a provider's `usage` says, as OpenAI writes it."""
    prompt, completion = _count(stated.get("prompt_tokens")), _count(stated.get("completion_tokens"))
    if not prompt or completion is None:
        return Usage()
    details = stated.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    return Usage(prompt, completion, min(prompt, cached or 0))


def _count(stated: object) -> int | None:
    """A count of tokens, None where it is none."""
    try:
        counted = float(str(stated or 0))
    except ValueError:
        return None
    return int(counted) if 0 <= counted < _MOST_TOKENS else None
