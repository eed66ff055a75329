"""template/v1: a seeded model without weights, that words calls by grammar and parses requests by inverting it."""

from collections.abc import Mapping
from hashlib import blake2b
from random import Random

import orjson
from pydantic import JsonValue

from language.calls.defects import MALFORMED_JSON, REFUSAL, apology, break_json, error_rates
from llm.chat import ChatRequest, RawReply
from llm.template.candidate import candidate_reply
from llm.template.sections import read_sections
from llm.template.tasks import task_named
from warehouse.errors import ReplyError


def rng_for(seed: int, request: ChatRequest, purpose: str) -> Random:
    """A generator for this model seed, messages, schema and sample index; apart for each purpose."""
    digest = blake2b(digest_size=8)
    digest.update(f"{seed}|{purpose}|{request.sample_index}".encode())
    for message in request.messages:
        digest.update(f"\x00{message.role}\x01{message.content}".encode("utf-8", "surrogatepass"))
    if request.schema is not None:
        digest.update(orjson.dumps(request.schema, option=orjson.OPT_SORT_KEYS))
    return Random(int.from_bytes(digest.digest(), "big"))


NAME = "template/v1"
_CHARACTERS_PER_TOKEN = 4
_NONE: Mapping[str, float] = {}


class TemplateModel:
    """An Adapter that answers by grammar: seeded, deterministic, instant; it errs only as often as it is instructed to."""

    def __init__(self, *, seed: int = 0, error_rate: Mapping[str, float] = _NONE) -> None:
        """`error_rate` gives the share of replies for each of DEFECTS; ConfigurationError where it is no such table."""
        self._seed = seed
        self._rates = error_rates(error_rate)

    async def send(self, request: ChatRequest) -> RawReply:
        """Answer by the task that the schema's title names; ReplyError where the title or the prompt is unknown."""
        sections = read_sections(request.messages)
        rng = rng_for(self._seed, request, "answer")
        flaws = rng_for(self._seed, request, "defect")
        defect = self._rates.draw(flaws)
        if request.schema is None:
            return _replied(request, *candidate_reply(request.messages, sections, (rng, flaws), defect))
        task = task_named(str(request.schema.get("title", "")))
        if defect == REFUSAL:
            return _replied(request, apology(flaws), REFUSAL)
        answer = task(sections, rng, flaws, defect)
        text = _dumped(answer.value)
        if defect == MALFORMED_JSON:
            return _replied(request, break_json(text, flaws), MALFORMED_JSON)
        return _replied(request, text, answer.planted)

    async def close(self) -> None:
        """Nothing to give back."""


def _dumped(value: JsonValue) -> str:
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError as error:
        raise ReplyError(f"template/v1 read a value that JSON can't hold: {error}.") from error


def _replied(request: ChatRequest, text: str, planted: str) -> RawReply:
    asked = sum(len(message.content) // _CHARACTERS_PER_TOKEN + 1 for message in request.messages)
    return RawReply(text, None, asked, len(text) // _CHARACTERS_PER_TOKEN + 1, 0.0, planted)
