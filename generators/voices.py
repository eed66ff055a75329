"""Who speaks, and how: a persona and a style for each sample, drawn by its seed, that colour the words of its user.

They are shown in the prompts that word what a user says, and kept with the sample, so that it can be told what they change.
A sample that is made of another one goes on in its voice.
"""

from collections.abc import Collection, Sequence
from random import Random
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.generators.circumstances import in_circumstances
from callwright.llm.chat import Answer, ChatMessage, ChatModel, Completion, Prompt
from callwright.warehouse.records import (
    Derivation,
    Draft,
    Record,
    Sample,
    Tool,
    Trait,
    trait_tag,
    without_traits,
)

_TRAITS: tuple[Trait, ...] = ("persona", "style")
_WISHES = {
    "persona": "The person is the one that <persona> describes: choose words as this person would, but do not describe them.",
    "style": "Say it in the way that <style> names.",
}
_EXAMPLES = (
    "Requests as people make them here, with their calls. Speak as they do, but repeat none of them, nor their values."
)
_LIMIT = "Neither changes what is said: every value stays exactly the one that is given, and none is added."


class UserVoice(NamedTuple):
    """A persona and a style; "" where there is none."""

    persona: str = ""
    style: str = ""

    @property
    def parts(self) -> dict[str, str]:
        """What there is of it, by name."""
        return {name: text for name, text in self._asdict().items() if text}


SILENT = UserVoice()


def voice_of(record: Record, personas: Sequence[str], styles: Sequence[str]) -> UserVoice:
    """The voice of the sample that a record becomes: that of the sample it is made of, else drawn by its seed."""
    source = _source_of(record)
    known = UserVoice(source.trait("persona"), source.trait("style")) if source else SILENT
    if known != SILENT:
        return known
    seed = _seed_of(record)
    if seed is None:
        return SILENT
    return UserVoice(*(_drawn(name, texts, seed) for name, texts in zip(_TRAITS, (personas, styles), strict=True)))


def speaker_of(record: Record) -> int | None:
    """The seed of who speaks in the sample that a record becomes: that of the sample it is made of, else its own."""
    source = _source_of(record)
    return source.origin.seed if source is not None and source.origin is not None else _seed_of(record)


def _drawn(name: str, texts: Sequence[str], seed: int) -> str:
    return Random(f"{seed}:{name}").choice(texts) if texts else ""


def _source_of(record: Record) -> Sample | None:
    """The sample that the record is, or that it, or what it was made of, is derived from."""
    if isinstance(record, Sample):
        return record
    if isinstance(record, Derivation):
        return record.source
    return next((_source_of(value) for _, value in record if isinstance(value, Draft)), None)


def _seed_of(record: Record) -> int | None:
    """The seed that was planned for the sample, which all that it becomes on its way keeps with its origin."""
    seed: int | None = getattr(record, "seed", None)
    origin = getattr(record, "origin", None)
    return int(origin.seed) if seed is None and origin is not None else seed


def in_voice(prompt: Prompt, voice: UserVoice) -> Prompt:
    """The prompt with the voice in it; what all voices share stands with the fixed part."""
    parts = voice.parts
    if not parts:
        return prompt
    wishes = " ".join((*(_WISHES[name] for name in parts), _LIMIT))
    shown = "\n".join(f"<{name}>{text}</{name}>" for name, text in parts.items())
    first, told, *later = prompt.messages  # what was refused, and why, may stand behind them
    return prompt.with_changes(messages=(_longer(first, wishes), _longer(told, shown), *later))


def with_examples(prompt: Prompt, examples: Sequence[JsonValue]) -> Prompt:
    """The prompt with requests of the user's own domain and their calls."""
    if not examples:
        return prompt
    shown = "\n".join(f"<example>{orjson.dumps(one).decode()}</example>" for one in examples)
    first, *others = prompt.messages
    return prompt.with_changes(messages=(_longer(first, f"{_EXAMPLES}\n{shown}"), *others))


def _longer(message: ChatMessage, text: str) -> ChatMessage:
    return message.with_changes(content=f"{message.content}\n{text}")


def marked(sample: Sample, voice: UserVoice) -> Sample:
    """The sample with its voice among its traits."""
    traits = (trait_tag(name, text) for name, text in zip(_TRAITS, voice, strict=True) if text)
    return sample.with_changes(tags=(*without_traits(sample.tags, *_TRAITS), *traits))


class VoicedChat:
    """A ChatModel that is shown circumstances in the place of a seed, and a voice wherever it words what a user says."""

    def __init__(
        self,
        chat: ChatModel,
        prompts: Collection[str],
        voice: UserVoice,
        examples: Sequence[JsonValue] = (),
        speaker: int | None = None,
    ) -> None:
        """Ask `chat` by the `prompts` of these names in the `voice`, and show it `examples` of requests.

        `speaker` is the seed of the sample's user, whose circumstances stay the same in all that is made of it.
        """
        self._chat = chat
        self._prompts = prompts
        self._voice = voice
        self._examples = examples
        self._speaker = speaker

    @property
    def name(self) -> str:
        """The model's name as the recipe gives it."""
        return self._chat.name

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        """The model's answer."""
        return await self._chat.ask(self._framed(prompt), answer, sample_index=sample_index)

    async def complete(self, prompt: Prompt, tools: Sequence[Tool] = (), *, sample_index: int = 0) -> Completion:
        """The model's reply in free text."""
        return await self._chat.complete(self._framed(prompt), tools, sample_index=sample_index)

    def _framed(self, prompt: Prompt) -> Prompt:
        situated = in_circumstances(prompt, self._prompts, self._speaker, is_somebody=not self._voice.persona)
        if prompt.name not in self._prompts:
            return situated
        return in_voice(with_examples(situated, self._examples), self._voice)
