"""Randomness that is a function of what was asked: the same request draws the same, in any process."""

from hashlib import blake2b
from random import Random

import orjson

from llm.chat import ChatRequest


def rng_for(seed: int, request: ChatRequest, purpose: str) -> Random:
    """A generator for this model seed, messages, schema and sample index; apart for each purpose."""
    digest = blake2b(digest_size=8)
    digest.update(f"{seed}|{purpose}|{request.sample_index}".encode())
    for message in request.messages:
        digest.update(f"\x00{message.role}\x01{message.content}".encode("utf-8", "surrogatepass"))
    if request.schema is not None:
        digest.update(orjson.dumps(request.schema, option=orjson.OPT_SORT_KEYS))
    return Random(int.from_bytes(digest.digest(), "big"))
