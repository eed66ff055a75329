"""A persona and a style for each sample, drawn by its seed, that colour its words.

They are shown in prompts that word what a user says, and kept with the sample, so that their
effect can be measured. A derived sample keeps the voice of its source.
"""

import re
from collections.abc import Collection, Sequence
from datetime import timedelta
from functools import lru_cache
from random import Random
from string import ascii_uppercase
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.language.calls.parameters import fake
from callwright.language.calls.sampling import FIRST_DAY, LAST_DAY
from callwright.llm.chat import Answer, ChatMessage, ChatModel, Completion, Prompt
from callwright.warehouse.records import Derivation, Draft, Origin, Record, Sample, Tool
from callwright.warehouse.records.samples import PLAIN

_SEED = re.compile(r"^<(seed|speaker|voice|names)>(-?\d+)</\1>$", re.MULTILINE)
_SPOKEN = "Words are chosen as by whom <circumstances> names, and tell nothing of them."
_MADE = "Values fit <circumstances>, and tell nothing of them."
_PLACES = (
    "at a desk, between two calls",
    "on a crowded train",
    "in the kitchen, hands busy",
    "in bed, half asleep",
    "in a queue",
    "walking, out of breath",
    "in a meeting, unnoticed",
    "in a parked car",
    "abroad, for the first time",
    "with children around",
    "at a friend's table",
    "in a workshop, it is loud",
    "in a waiting room",
    "at the end of a long day",
    "before anyone else is up",
)
_OPENINGS = (
    "with what is to be done",
    "with the thing that it is about",
    "with a question",
    "with the reason",
    "with a greeting",
    "with a bare command",
    "with what went before",
    "in the middle of a thought",
    "with a wish",
)
_LETTERS = 3
_AGES = (17, 82)
_TEMPERAMENTS = (
    "patient",
    "impatient",
    "cheerful",
    "anxious",
    "blunt",
    "polite",
    "absent-minded",
    "precise",
    "talkative",
    "shy",
    "ironic",
    "easy-going",
    "stressed",
    "formal",
    "curious",
    "tired",
    "confident",
    "grumpy",
)


def circumstances_of(
    seed: int, speaker: int | None = None, *, speaks: bool, is_somebody: bool = True
) -> str:
    """Draw who speaks, where and when by the `speaker`'s seed, and the rest by `seed`.

    Words (`speaks`) have an opening. Values have letters, with which names begin. Without
    `is_somebody`, the person is left out, because it is already given.
    """
    day, person, place = _speaker(seed if speaker is None else speaker)
    rng = Random(f"{seed}:circumstances")
    how = f"begins {rng.choice(_OPENINGS)}" if speaks else _names(rng)
    return ", ".join([*([person] if is_somebody else []), place, f"{day}; {how}"])


_DEEDS = (
    "asks",
    "asks briefly",
    "greets and asks",
    "demands",
    "hopes",
    "wishes",
    "explains and asks",
    "hesitates and asks",
)


def speaker_line(seed: int, speaker: int | None = None, *, is_somebody: bool = True) -> str:
    """Return a line about who speaks and how, drawn as circumstances are: "A blunt … asks:"."""
    deed = Random(f"{seed}:speaker_line").choice(_DEEDS)
    return f"{_called(seed if speaker is None else speaker) if is_somebody else 'Somebody'} {deed}:"


def _called(seed: int) -> str:
    person = _speaker(seed)[1]
    return f"{'An' if person[0] in 'aeiou' else 'A'} {person}"


@lru_cache(4096)
def _speaker(seed: int) -> tuple[str, str, str]:
    """Return the day, person and place of a speaker, shared by several prompts of a sample."""
    rng = Random(f"{seed}:speaker")
    day = FIRST_DAY + timedelta(days=rng.randrange((LAST_DAY - FIRST_DAY).days + 1))
    return f"{day:%A}, {day.isoformat()}", _person(rng), rng.choice(_PLACES)


def in_circumstances(
    prompt: Prompt, voiced: Collection[str], speaker: int | None = None, *, is_somebody: bool = True
) -> Prompt:
    """Return the prompt with its seed replaced by what is drawn by it; unchanged if it has none.

    In its place stand circumstances, who speaks (`<voice>`), or letters (`<names>`).
    """
    first, *others = prompt.messages
    at, seed_match = next(
        ((at, found) for at, one in enumerate(others) if (found := _SEED.search(one.content))),
        (0, None),
    )
    if seed_match is None:
        return prompt
    speaks, text, seed = prompt.name in voiced, others[at].content, int(seed_match[2])
    framed = first
    match seed_match[1]:
        case "voice":  # words around slots take a manner, and nothing that could be told
            by = seed if speaker is None else speaker
            shown = f"{_called(by) if is_somebody else 'Somebody'} says:"
        case "speaker":
            shown = speaker_line(seed, speaker, is_somebody=is_somebody)
        case "names":
            shown = _names(Random(f"{seed}:circumstances"))
        case _:
            drawn = circumstances_of(seed, speaker, speaks=speaks, is_somebody=is_somebody)
            shown = f"<circumstances>{drawn}</circumstances>"
            framed = _longer(first, _SPOKEN if speaks else _MADE)
    content = f"{text[: seed_match.start()]}{shown}{text[seed_match.end() :]}"
    others[at] = ChatMessage(role=others[at].role, content=content)
    return prompt.with_changes(messages=(framed, *others))


def _names(rng: Random) -> str:
    return f"names begin with {', '.join(sorted(rng.sample(ascii_uppercase, _LETTERS)))}"


def draw_personas(count: int, seed: int) -> tuple[str, ...]:
    """Return `count` different people; the first ones are the same for any count."""
    rng = Random(f"{seed}:personas")
    drawn: dict[str, None] = {}
    while len(drawn) < count:
        drawn[_person(rng)] = None
    return tuple(drawn)


def _person(rng: Random) -> str:
    temperament, age = rng.choice(_TEMPERAMENTS), rng.randint(*_AGES)
    # "Engineer, civil (consulting)": a civil engineer
    head, _, kind = fake("job", rng, alone=True).partition(" (")[0].partition(", ")
    return f"{temperament} {f'{kind} {head}'.strip().lower()} of {age}"


_WISHES = {
    "persona": "Speak as <persona> would, and tell nothing of them.",
    "style": "Say it in the way that <style> names.",
}
_EXAMPLES = "Speak as in these requests, and repeat nothing of them."


class UserVoice(NamedTuple):
    """A persona and a style; each is "" if there is none."""

    persona: str = ""
    style: str = ""

    @property
    def parts(self) -> dict[str, str]:
        """The parts that are not empty, by name."""
        return {name: text for name, text in self._asdict().items() if text}


SILENT = UserVoice()


def voice_of(record: Record, personas: Sequence[str], styles: Sequence[str]) -> UserVoice:
    """Return the voice of a record's sample: its source's, or else one drawn by its seed."""
    source = _source_of(record)
    known = UserVoice(source.facts.persona, source.facts.style) if source else SILENT
    if known != SILENT:
        return known
    seed = _seed_of(record)
    if seed is None:
        return SILENT
    lists = (("persona", personas), ("style", styles))
    return UserVoice(
        *(Random(f"{seed}:{name}").choice(texts) if texts else "" for name, texts in lists)
    )


def speaker_of(record: Record) -> int | None:
    """Return the seed of a record's speaker: that of its source sample, or else its own."""
    source = _source_of(record)
    return (
        source.origin.seed if source is not None and source.origin is not None else _seed_of(record)
    )


def _source_of(record: Record) -> Sample | None:
    """Return the sample that the record is, or that it is derived from, directly or not."""
    if isinstance(record, Sample):
        return record
    if isinstance(record, Derivation):
        return record.source
    inner = (value for value in vars(record).values() if type(value) not in PLAIN)
    return next((_source_of(value) for value in inner if isinstance(value, Draft)), None)


def _seed_of(record: Record) -> int | None:
    """Return the seed planned for the sample, kept in the origins of all intermediate records."""
    fields = vars(record)
    seed: int | None = fields.get("seed")
    origin: Origin | None = fields.get("origin")
    return origin.seed if seed is None and origin is not None else seed


def in_voice(prompt: Prompt, voice: UserVoice) -> Prompt:
    """Add the voice to a prompt; what all voices share is added to its fixed part."""
    parts = voice.parts
    if not parts:
        return prompt
    wishes = " ".join(_WISHES[name] for name in parts)
    shown = "\n".join(f"<{name}>{text}</{name}>" for name, text in parts.items())
    first, *others = prompt.messages
    # an example may stand before what is asked; what was refused, and why, may stand behind it
    at = next((at for at, one in enumerate(others) if _SEED.search(one.content)), 0)
    others[at] = _longer(others[at], shown)
    return prompt.with_changes(messages=(_longer(first, wishes), *others))


def with_examples(prompt: Prompt, examples: Sequence[JsonValue]) -> Prompt:
    """Add requests of the user's own domain and their calls to a prompt."""
    if not examples:
        return prompt
    shown = "\n".join(f"<example>{orjson.dumps(one).decode()}</example>" for one in examples)
    first, *others = prompt.messages
    return prompt.with_changes(messages=(_longer(first, f"{_EXAMPLES}\n{shown}"), *others))


def _longer(message: ChatMessage, text: str) -> ChatMessage:
    return ChatMessage(role=message.role, content=f"{message.content}\n{text}")


def marked(sample: Sample, voice: UserVoice) -> Sample:
    """The sample with its voice among its facts."""
    return sample.with_changes(facts=sample.facts.with_changes(**voice._asdict()))


class VoicedChat:
    """A ChatModel that sees circumstances instead of a seed, and a voice when it words a user."""

    def __init__(
        self,
        chat: ChatModel,
        prompts: Collection[str],
        voice: UserVoice,
        examples: Sequence[JsonValue] = (),
        speaker: int | None = None,
    ) -> None:
        """Wrap `chat`, with `voice` for the `prompts` named, and `examples` of requests.

        `speaker` is the seed of the sample's user, whose circumstances stay the same in all that
        is made from it.
        """
        self._chat = chat
        self._prompts = prompts
        self._voice = voice
        self._examples = examples
        self._speaker = speaker

    @property
    def name(self) -> str:
        """The model's name in the recipe."""
        return self._chat.name

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        """Return the model's answer."""
        return await self._chat.ask(self._framed(prompt), answer, sample_index=sample_index)

    async def complete(
        self, prompt: Prompt, tools: Sequence[Tool] = (), *, sample_index: int = 0
    ) -> Completion:
        """Return the model's reply in free text."""
        return await self._chat.complete(self._framed(prompt), tools, sample_index=sample_index)

    def _framed(self, prompt: Prompt) -> Prompt:
        if prompt.name in self._prompts:
            prompt = in_voice(with_examples(prompt, self._examples), self._voice)
        return in_circumstances(
            prompt, self._prompts, self._speaker, is_somebody=not self._voice.persona
        )
