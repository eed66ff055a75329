"""Counting tokens before and beside a provider: what a request takes at most, and what one took whose usage nobody states.

litellm's own tokenizer counts for the models that it knows, offline; for others four bytes are a token, as a rule.
"""

import asyncio
import logging
from functools import cache
from typing import Any, NamedTuple

import orjson

from callwright.llm.chat import ChatRequest, RawReply
from callwright.llm.prices import find_price

BYTES_PER_TOKEN = 4
_FEWEST_BYTES = 1  # of a token, whatever the tokenizer
_OF_A_MESSAGE = 4  # tokens that frame one
_MOST_EXCESS = 8.0  # a provider that counts more is not to be believed
_UNKNOWN_REPLY = 4096  # tokens, where neither the settings nor the price map say how long a reply may be
_LONGEST = ("max_completion_tokens", "max_output_tokens")  # what `extra` may hold in the place of max_tokens

logger = logging.getLogger(__name__)


class TokenCounts(NamedTuple):
    """Tokens of a prompt and of its reply; `counted` of the prompt's were found by the tokenizer."""

    prompt: int
    reply: int
    counted: int = 0


class TokenEstimates:
    """What the requests of one model take; it learns where the provider counts more than the tokenizer."""

    def __init__(self, name: str) -> None:
        """For the model PROVIDER/MODEL."""
        self._name = name
        self._excess = 1.0  # how many times more tokens than ours the provider counted, at most

    async def most(self, request: ChatRequest) -> TokenCounts:
        """The most that a request may take."""
        counted = await self._counted(_prompt_text(request), _FEWEST_BYTES)
        framed = counted + _OF_A_MESSAGE * (len(request.messages) + 1)
        return TokenCounts(int(framed * self._excess) + 1, longest_reply(request), framed)

    async def of(self, request: ChatRequest, reply: RawReply) -> TokenCounts:
        """What a request took whose usage nobody states."""
        prompt = await self._counted(_prompt_text(request), BYTES_PER_TOKEN)
        calls = orjson.dumps([call.arguments for call in reply.calls or ()]).decode() if reply.calls else ""
        framed = prompt + _OF_A_MESSAGE * (len(request.messages) + 1)
        return TokenCounts(framed, await self._counted(reply.text + calls, BYTES_PER_TOKEN) + 1)

    def learn(self, counted: int, stated: int) -> None:
        """The provider `stated` so many tokens of a prompt of which the tokenizer `counted` so many."""
        self._excess = min(_MOST_EXCESS, max(self._excess, stated / max(1, counted)))

    async def _counted(self, text: str, bytes_per_token: int) -> int:
        if not knows_tokenizer(self._name):
            return size(text) // bytes_per_token
        if not is_loaded():
            await asyncio.to_thread(_tokenizer)
        return count_tokens(self._name, text)


def longest_reply(request: ChatRequest) -> int:
    """The most tokens that the reply may have: as the settings say, else as the price map says of the model."""
    options = dict(request.options)
    extra = options.get("extra") or {}
    stated = options.get("max_tokens") or next((extra[name] for name in _LONGEST if extra.get(name)), None)
    return int(stated or find_price(request.model).longest_reply or _UNKNOWN_REPLY)


def size(text: str) -> int:
    """How many bytes a text has."""
    return len(text) if text.isascii() else len(text.encode(errors="replace"))


@cache
def knows_tokenizer(name: str) -> bool:
    """Whether litellm has the tokenizer of the model PROVIDER/MODEL, or one that its maker gave, without a network."""
    provider, _, model = name.partition("/")
    if provider == "anthropic":
        return True
    if provider not in {"openai", "azure"}:
        return False
    from tiktoken.model import encoding_name_for_model

    try:
        encoding_name_for_model(model)
    except KeyError:
        return False
    return True


def count_tokens(name: str, text: str) -> int:
    """How many tokens litellm's tokenizer makes of a text; four bytes each where it does not know the model."""
    if not knows_tokenizer(name):
        return size(text) // BYTES_PER_TOKEN
    return int(_tokenizer().token_counter(model=name.partition("/")[2], text=text))


@cache
def _tokenizer() -> Any:  # noqa: ANN401 - a module without types
    from callwright.llm.litellm_model import load_litellm

    litellm: Any = load_litellm()
    litellm.disable_hf_tokenizer_download = True  # no tokenizer is fetched over the network
    return litellm


def is_loaded() -> bool:
    """Whether the tokenizer is at hand: the first look takes seconds."""
    return bool(_tokenizer.cache_info().currsize)


@cache
def say_unstated(name: str) -> None:
    """Warn once a process that a provider states no usage."""
    logger.warning(
        "%s states no usable count of tokens (usage): they are counted by our own estimate, and so is their cost", name
    )


def _prompt_text(request: ChatRequest) -> str:
    """All that a provider counts as the prompt: what is said, the tools, and the schema."""
    parts = [message.content for message in request.messages]
    parts += [orjson.dumps(tool.signature | {"parameters": tool.parameters}).decode() for tool in request.tools]
    if request.schema is not None:
        parts.append(orjson.dumps(request.schema).decode())
    return "\n".join(parts)
