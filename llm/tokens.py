"""Counting tokens before and beside a provider: what a request takes at most, and what one took whose usage nobody states.

tiktoken counts for the models that it knows, offline, as litellm would, which is slow to load; for others four bytes are a
token, as a rule.
"""

import asyncio
import logging
import os
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import orjson

from callwright.llm.chat import ChatRequest, RawReply
from callwright.llm.known_models import litellm_folder
from callwright.llm.prices import find_price

if TYPE_CHECKING:
    from tiktoken import Encoding

BYTES_PER_TOKEN = 4
_FEWEST_BYTES = 1  # of a token, whatever the tokenizer
_OF_A_MESSAGE = 4  # tokens that frame one
_MOST_EXCESS = 8.0  # a provider that counts more is not to be believed
_OF_ANTHROPIC = "cl100k_base"  # nobody has theirs; litellm counts by this one, too
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
        if not _encoding.cache_info().currsize:  # the first look takes half a second
            await asyncio.to_thread(_encoding, _encoding_name(self._name))
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


def knows_tokenizer(name: str) -> bool:
    """Whether there is a tokenizer of the model PROVIDER/MODEL, or one that comes near its own, without a network."""
    return bool(_encoding_name(name))


def count_tokens(name: str, text: str) -> int:
    """How many tokens the tokenizer makes of a text; four bytes each where there is none for the model."""
    if not knows_tokenizer(name):
        return size(text) // BYTES_PER_TOKEN
    return len(_encoding(_encoding_name(name)).encode(text, disallowed_special=()))


@cache
def _encoding_name(name: str) -> str:
    """tiktoken's name for what a model reads its text by, "" where it knows none."""
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
    """An encoding, from the files that litellm brings along: tiktoken would fetch them."""
    from tiktoken import get_encoding

    brought = litellm_folder() / "litellm_core_utils" / "tokenizers"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(brought)  # noqa: TID251 - litellm sets the same; tiktoken has no argument for it
    return get_encoding(encoding)


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
