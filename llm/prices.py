"""What tokens cost: the price map that litellm brings along, read without litellm, which takes seconds to load."""

import logging
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import orjson

_MAP = "model_prices_and_context_window_backup.json"

logger = logging.getLogger(__name__)


class Price(NamedTuple):
    """US dollars a token, and whether the model is known to take JSON schemas."""

    prompt: float
    cached: float
    completion: float
    takes_schemas: bool

    def of(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """What so many tokens cost; `cached_tokens` are those of the prompt that the provider still knew."""
        asked = (prompt_tokens - cached_tokens) * self.prompt + cached_tokens * self.cached
        return asked + completion_tokens * self.completion


FREE = Price(0.0, 0.0, 0.0, takes_schemas=False)


@cache
def read_price(name: str, *, in_batches: bool = False) -> Price:
    """The price of the model PROVIDER/MODEL; FREE, and said so once a process, where the map lacks it.

    In batches it is the batches' price, where the map has one.
    """
    provider, _, model = name.partition("/")
    known = orjson.loads(_map().read_bytes())
    entry = known.get(name) or known.get(model, {})
    if not entry or entry.get("litellm_provider") != provider:
        say_unpriced(name)
        return FREE
    prompt, cached, completion = (
        _price(entry, part, in_batches=in_batches)
        for part in ("input_cost_per_token", "cache_read_input_token_cost", "output_cost_per_token")
    )
    prompt = prompt or 0.0
    known = prompt if cached is None else min(prompt, cached)
    return Price(prompt, known, completion or 0.0, bool(entry.get("supports_response_schema")))


def _price(entry: Mapping[str, Any], part: str, *, in_batches: bool) -> float | None:
    price = entry.get(f"{part}_batches") if in_batches else None
    return entry.get(part) if price is None else price


@cache
def say_unpriced(name: str) -> None:
    """Warn once a process, however many shards open the model."""
    logger.warning("litellm has no price for %s: its requests count as free, and no budget stops them", name)


def _map() -> Path:
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("litellm, which callwright depends on, is not installed")
    return Path(spec.origin).with_name(_MAP)
