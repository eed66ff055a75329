"""template/v1: a seeded model without weights, that words calls by grammar and parses requests by inverting it."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from random import Random

from callwright.llm.chat import ChatMessage, ChatRequest, RawReply
from callwright.llm.template.candidate import as_native_calls, candidate_reply, dumped, with_tools
from callwright.llm.template.defects import MALFORMED_JSON, REFUSAL, apology, break_json, error_rates
from callwright.llm.template.sections import Sections, read_sections
from callwright.llm.template.tasks import task_named


def rng_for(seed: int, request: ChatRequest, sections: Sections, purpose: str) -> Random:
    """A generator for this model seed, task, data and sample index; apart for each purpose.

    The instructions of a prompt and the rest of its schema are no part of it: whoever edits those gets the same draws.
    """
    title = "" if request.schema is None else str(request.schema.get("title", ""))
    digest = blake2b(f"{seed}|{purpose}|{request.sample_index}|{title}".encode(), digest_size=8)
    for part in (*_data(sections), *_later(request.messages)):
        digest.update(b"\x00")
        digest.update(part.encode("utf-8", "surrogatepass"))
    return Random(int.from_bytes(digest.digest(), "big"))


def _data(sections: Sections) -> Iterator[str]:
    for tag, value in sorted(sections.tagged.items()):
        yield f"{tag}\x01{value}"
    yield sections.conversation or ""


def _later(messages: Sequence[ChatMessage]) -> Sequence[str]:
    """What was said after the prompt: replies, and why they were refused."""
    spoken = [message.content for message in messages if message.role != "system"]
    return spoken[1:]


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
        rng = rng_for(self._seed, request, sections, "answer")
        flaws = rng_for(self._seed, request, sections, "defect")
        defect = self._rates.draw(flaws)
        if request.schema is None:
            sections = with_tools(sections, request.tools)
            text, planted = candidate_reply(request.messages, sections, (rng, flaws), defect)
            calls = as_native_calls(text) if request.tools else None
            return _replied(request, "" if calls else text, planted)._replace(calls=calls)
        task = task_named(str(request.schema.get("title", "")))
        if defect == REFUSAL:
            return _replied(request, apology(flaws), REFUSAL)
        answer = task(sections, rng, flaws, defect)
        text = dumped(answer.value)
        if defect == MALFORMED_JSON:
            return _replied(request, break_json(text, flaws), MALFORMED_JSON)
        return _replied(request, text, answer.planted)

    async def close(self) -> None:
        """Nothing to give back."""


def _replied(request: ChatRequest, text: str, planted: str) -> RawReply:
    asked = sum(len(message.content) // _CHARACTERS_PER_TOKEN + 1 for message in request.messages)
    return RawReply(text, None, asked, len(text) // _CHARACTERS_PER_TOKEN + 1, 0.0, planted)
