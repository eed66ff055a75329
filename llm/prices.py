"""What requests use and cost: prices from the recipe or litellm's map, and counted tokens.

tiktoken counts for the models that it knows: offline, like litellm, which is slow to load. For
others, four bytes count as a token.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from pydantic import Field

from callwright.llm.chat import ChatRequest, RawReply
from callwright.llm.known_models import known_model, litellm_folder
from callwright.warehouse.extras import EXTRAS
from callwright.warehouse.records import Record

if TYPE_CHECKING:
    from tiktoken import Encoding

_MILLION = 1e6
_IN_BATCHES = 0.5  # of the price, where the map has none for batches
_MOST_TOKENS = 1e9  # in one request; more is nonsense

logger = logging.getLogger(__name__)


class OwnPrice(Record):
    """A model's price as a recipe states it, in US dollars for a million tokens; 0 if free."""

    input: float = Field(ge=0, description="Dollars for a million tokens of prompts.")
    output: float = Field(ge=0, description="Dollars for a million tokens of replies.")


class Price(NamedTuple):
    """US dollars per token, whether the model is known to take JSON schemas, and longest reply.

    `longest_reply` is None if unknown. A price that is not `is_known` counts nothing.
    """

    prompt: float
    cached: float
    completion: float
    takes_schemas: bool
    longest_reply: int | None = None
    is_known: bool = True

    def of(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """Return the cost of so many tokens; `cached_tokens` of the prompt's were cached."""
        asked = (prompt_tokens - cached_tokens) * self.prompt + cached_tokens * self.cached
        return asked + completion_tokens * self.completion


FREE = Price(0.0, 0.0, 0.0, takes_schemas=False, is_known=False)


def read_price(name: str, *, own: OwnPrice | None = None, in_batches: bool = False) -> Price:
    """Return the recipe's `own` price of the model PROVIDER/MODEL, or else the map's.

    FREE if neither has one, with one warning per process. In batches it is the map's batch
    price, or half the normal one; a recipe's own price counts as it stands.
    """
    price = find_price(name, own=own, in_batches=in_batches)
    if not price.is_known:
        say_unpriced(name)
    return price


def find_price(name: str, *, own: OwnPrice | None = None, in_batches: bool = False) -> Price:
    """Return the price as read_price does, but without a warning."""
    mapped_price = _mapped_price(name, in_batches=in_batches)
    if own is None:
        return mapped_price
    prompt, completion = own.input / _MILLION, own.output / _MILLION
    return mapped_price._replace(prompt=prompt, cached=prompt, completion=completion, is_known=True)


@cache
def _mapped_price(name: str, *, in_batches: bool) -> Price:
    entry = known_model(name)
    if not entry:
        return FREE
    prices: list[float | None] = []
    for part in ("input_cost_per_token", "cache_read_input_token_cost", "output_cost_per_token"):
        price = entry.get(part)
        if in_batches and price is not None:
            stated = entry.get(f"{part}_batches")
            price = price * _IN_BATCHES if stated is None else stated
        prices.append(price)
    prompt, cached, completion = prices[0] or 0.0, prices[1], prices[2] or 0.0
    longest = entry.get("max_output_tokens")
    is_stated = isinstance(longest, int) and longest > 0
    takes_schemas = bool(entry.get("supports_response_schema"))
    cheaper = prompt if cached is None else min(prompt, cached)
    return Price(prompt, cheaper, completion, takes_schemas, longest if is_stated else None)


_said: set[str] = set()  # the models of which this process has said it


def say_unpriced(name: str, say: Callable[[str], object] = logger.warning) -> None:
    """Warn once per process that a model's price is unknown, however many shards open it."""
    if name not in _said:
        _said.add(name)
        say(unpriced_sentence(name))


def unpriced_sentence(name: str) -> str:
    """Return what to do about a model whose price is unknown."""
    return (
        f"The price of {name} is unknown, so its requests count as free and no budget limits them."
        " Set the price in its settings, in dollars per million tokens: price: {input: 0.15,"
        " output: 0.60} (0 for both if it is free)."
    )


class Usage(NamedTuple):
    """The tokens that a provider reports for a request; all 0 if it reports none or nonsense."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0


def read_usage(stated: Mapping[str, Any]) -> Usage:
    """Return the usage that a provider states as `usage` in OpenAI's format."""
    prompt = _count(stated.get("prompt_tokens"))
    completion = _count(stated.get("completion_tokens"))
    if not prompt or completion is None:
        return Usage()
    details = stated.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    return Usage(prompt, completion, min(prompt, cached or 0))


def _count(stated: object) -> int | None:
    """Return a token count, or None if the value is not one."""
    try:
        counted = float(str(stated or 0))
    except ValueError:
        return None
    return int(counted) if 0 <= counted < _MOST_TOKENS else None


BYTES_PER_TOKEN = 4
_FEWEST_BYTES = 1  # of a token, whatever the tokenizer
_OF_A_MESSAGE = 4  # tokens that frame one
_MOST_EXCESS = 8.0  # a provider that counts more is not to be believed
_OF_ANTHROPIC = "cl100k_base"  # nobody has theirs; litellm counts by this one, too
# tokens, where neither the settings nor the price map say how long a reply may be
_UNKNOWN_REPLY = 4096
# what `extra` may hold in the place of max_tokens
_LONGEST = ("max_completion_tokens", "max_output_tokens")


class TokenCounts(NamedTuple):
    """Tokens of a prompt and its reply; the tokenizer found `counted` of the prompt's."""

    prompt: int
    reply: int
    counted: int = 0


class TokenEstimates:
    """Estimates of a model's token use, which learn if providers count more than tokenizers."""

    def __init__(self, name: str) -> None:
        """Estimate for the model PROVIDER/MODEL."""
        self._name = name
        self._excess = 1.0  # how many times more tokens than ours the provider counted, at most

    async def most(self, request: ChatRequest) -> TokenCounts:
        """Return the most tokens that a request may take."""
        counted = await self._counted(_prompt_text(request), _FEWEST_BYTES)
        framed = counted + _OF_A_MESSAGE * (len(request.messages) + 1)
        return TokenCounts(int(framed * self._excess) + 1, longest_reply(request), framed)

    async def of(self, request: ChatRequest, reply: RawReply) -> TokenCounts:
        """Return an estimate of the tokens of a request whose provider states no usage."""
        prompt = await self._counted(_prompt_text(request), BYTES_PER_TOKEN)
        calls = ""
        if reply.calls:
            calls = orjson.dumps([call.arguments for call in reply.calls or ()]).decode()
        framed = prompt + _OF_A_MESSAGE * (len(request.messages) + 1)
        return TokenCounts(framed, await self._counted(reply.text + calls, BYTES_PER_TOKEN) + 1)

    def learn(self, counted: int, stated: int) -> None:
        """Learn from the tokens of a prompt: the provider `stated` these, we `counted` those."""
        self._excess = min(_MOST_EXCESS, max(self._excess, stated / max(1, counted)))

    async def _counted(self, text: str, bytes_per_token: int) -> int:
        if not knows_tokenizer(self._name):
            return size(text) // bytes_per_token
        if not _encoding.cache_info().currsize:  # the first look takes half a second
            await asyncio.to_thread(_encoding, _encoding_name(self._name))
        return count_tokens(self._name, text)


def longest_reply(request: ChatRequest) -> int:
    """Return the most tokens that the reply may have, by the settings or else by the price map."""
    options = dict(request.options)
    extra = options.get("extra") or {}
    named = (extra[name] for name in _LONGEST if extra.get(name))
    stated = options.get("max_tokens") or next(named, None)
    return int(stated or find_price(request.model).longest_reply or _UNKNOWN_REPLY)


def size(text: str) -> int:
    """Return the size of a text in UTF-8 bytes."""
    return len(text) if text.isascii() else len(text.encode(errors="replace"))


def knows_tokenizer(name: str) -> bool:
    """Whether a tokenizer for the model PROVIDER/MODEL, or a close one, is available offline."""
    return bool(_encoding_name(name))


def count_tokens(name: str, text: str) -> int:
    """Return the number of tokens in a text; without a tokenizer, one for each four bytes."""
    if not knows_tokenizer(name):
        return size(text) // BYTES_PER_TOKEN
    return len(_encoding(_encoding_name(name)).encode(text, disallowed_special=()))


@cache
def _encoding_name(name: str) -> str:
    """Return tiktoken's name for the encoding of a model, or "" if it is unknown.

    tiktoken and its files come with litellm: without it, every encoding is unknown.
    """
    if not EXTRAS["litellm"].is_installed:
        return ""
    from tiktoken.model import encoding_name_for_model

    provider, _, model = name.partition("/")
    if provider == "anthropic":
        return _OF_ANTHROPIC
    if provider not in {"openai", "azure"}:
        return ""
    try:
        return encoding_name_for_model(model)
    except KeyError:
        return ""


@cache
def _encoding(encoding: str) -> "Encoding":
    """Return an encoding from the files shipped with litellm, which tiktoken would download."""
    from tiktoken import get_encoding

    brought = litellm_folder() / "litellm_core_utils" / "tokenizers"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(brought)  # noqa: TID251 - litellm sets the same; tiktoken has no argument for it
    return get_encoding(encoding)


@cache
def say_unstated(name: str) -> None:
    """Warn once per process that a provider states no usage."""
    logger.warning(
        "%s states no usable count of tokens (usage): they are counted by our own estimate, and so"
        " is their cost",
        name,
    )


def _prompt_text(request: ChatRequest) -> str:
    """Return all text that a provider counts as the prompt: messages, tools and schema."""
    parts = [message.text for message in request.messages]
    parts += [orjson.dumps(tool.signature).decode() for tool in request.tools]
    if request.schema is not None:
        parts.append(orjson.dumps(request.schema).decode())
    return "\n".join(parts)
