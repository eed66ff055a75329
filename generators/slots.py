"""Slots: a model words a text around `[booking_code]`, and code puts the value in.

The model sees what each slot is about, and never a value that it could get wrong. Code checks
that each slot stands once, fills it as people say such a value, and so knows the span of each.

A slot may bring words of its own, `[gift_wrap: as a present]`, where a language bends them or a
choice needs a phrase. Words that say another value are put right.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from pydantic import BaseModel, JsonValue

from callwright.generators.stated_values import Place, Spot, value_evidence
from callwright.language.calls.tools import parameter_views
from callwright.language.names import humanise, split_name
from callwright.language.packs import has_folder, of, signs, widened, writes
from callwright.language.saying import MANNERS, Manner, say_as
from callwright.language.schemas import choices_of, kind_of
from callwright.language.text import capitalised
from callwright.language.values import locate, read_value
from callwright.language.wording import content_keys, is_cut
from callwright.llm.stated_schemas import Paragraph
from callwright.warehouse.records import Arguments, Evidence, JsonSchema, Language, Tool

# any text in brackets: a slot's name, and words of its own behind a colon
_BRACKETS = re.compile(
    widened(r"@[\[{]{1,2}\s*(@[^\[\]{}:\n]+?)\s*(?:@[:]\s*(@[^\[\]{}\n]+?)\s*)?@[\]}]{1,2}")
)
_LOOSE = re.compile(widened(r"@[\[\]{}]"))
_NOT_NAME = re.compile(r"[\W_]+")
_ABOUT_END = re.compile(widened(r"@[.;:(\n]") + r"|,? e\.g\.|,? (?:as|in) (?:YYYY|HH|ISO)")
_MOST_ABOUT = 90  # characters of what a slot is about
_SENTENCE_BEGINS = re.compile(rf"(?:^|[.!?]\s+|[{''.join(map(signs, ('{.}', '{!}', '{?}')))}])$")
_OPEN, _CLOSE = signs("\"'“‘«{open}"), signs("\"'”’»{close}")
_OWN_NAME = re.compile(r"(?<=[\w,;:] )[A-Z]\w+")  # in capitals within a sentence
_LONGEST = 2000
_FEW_CHOICES = 6
_WORDED = frozenset({"boolean", "enum"})  # kinds whose words decide the sentence around them


class Slot(NamedTuple):
    """A value that a text has to say, once for all the arguments (`spots`) that it is meant for.

    `words` say it, `shown` has quotation marks around them where they would be unclear.
    """

    name: str
    about: str
    value: JsonValue
    schema: JsonSchema
    words: str
    shown: str
    spots: tuple[Spot, ...]

    @property
    def mark(self) -> str:
        """The slot as it stands in a wording."""
        return f"[{self.name}]"

    @property
    def line(self) -> str:
        """The slot in a prompt's list of details; with its words where a sentence bends to them."""
        mark = f"[{self.name}: {self.words}]" if self.bends else self.mark
        return f"{mark}: {self.about}"

    @property
    def bends(self) -> bool:
        """Whether the words around the slot depend on its value: on a yes, a choice or a one."""
        return kind_of(self.schema) in _WORDED or self.value == 1

    @property
    def marked(self) -> dict[str, JsonValue]:
        """The slot as template/v1 is told of it: for which arguments it is, as {call, parameter}.

        It has the value only where the prompt shows it to other models as well.
        """
        spots: list[JsonValue] = [{"call": call, "parameter": name} for call, name in self.spots]
        return {"slot": self.name, "spots": spots, **({"value": self.value} if self.bends else {})}


class SlottedRequest(BaseModel):
    """A request with slots."""

    request: Paragraph


class Filled(NamedTuple):
    """A text with its slots filled, and where it says the value of each argument."""

    text: str
    places: Mapping[Spot, Place]

    def evidence(self, slots: Iterable[Slot], call: int = 0, turn: int = 0) -> tuple[Evidence, ...]:
        """Return the evidence of a call's arguments, of the text as this turn, in their order."""
        return tuple(
            value_evidence(
                name, slot.value, slot.schema, self.places[number, name], self.text, turn
            )
            for slot in slots
            for number, name in slot.spots
            if number == call and (number, name) in self.places
        )


def draw_manner(rng: Random) -> Manner:
    """Return how a speaker says values, the same in all that the speaker says."""
    return rng.choices(MANNERS, (1, 3, 2))[0]


def slots_of(
    calls: Sequence[tuple[Tool, Arguments]],
    language: Language,
    manner: Manner,
    rng: Random,
    *,
    is_shared: bool = False,
) -> tuple[Slot, ...]:
    """Return a slot for each of these arguments of calls, with names that differ.

    With `is_shared`, arguments of one name and value are one slot: what two calls take is said
    once.
    """
    slots: list[Slot] = []
    is_known = has_folder(language)
    for number, (tool, arguments) in enumerate(calls):
        for name, value in arguments.items():
            spot, schema = (number, name), tool.properties[name]
            same = [one for one in slots if one.spots[0][1] == name and one.value == value]
            if is_shared and same:
                at = slots.index(same[0])
                slots[at] = same[0]._replace(spots=(*same[0].spots, spot))
                continue
            [parameter] = parameter_views({"properties": {name: schema}})
            # without rules of a language, only what stands in the call is known to be said in it
            said = say_as(manner if is_known else "bare", parameter, value, language, rng)
            if isinstance(value, list) and not is_known:
                listed = ", ".join(map(str, value))
                said = said._replace(words=listed, shown=listed)
            taken = {one.name for one in slots}
            slots.append(
                Slot(
                    _named(name, taken),
                    about(name, schema),
                    value,
                    schema,
                    said.words,
                    said.shown,
                    (spot,),
                )
            )
    return tuple(slots)


def _named(name: str, taken: Collection[str]) -> str:
    """Return a slot's name: the parameter's in small letters, numbered if it is taken."""
    plain = "_".join(word.lower() for word in split_name(name)) or "value"
    plain = _NOT_NAME.sub("_", plain).strip("_") or "value"
    others = (f"{plain}_{number}" for number in range(2, len(taken) + 3))
    return plain if plain not in taken else next(one for one in others if one not in taken)


def about(name: str, schema: JsonSchema) -> str:
    """Return what a parameter is, in a few words: its description up to the first clause's end."""
    described = str(schema.get("description") or schema.get("title") or "").strip()
    clause = _ABOUT_END.split(described, maxsplit=1)[0].strip()
    if not clause or len(clause) > _MOST_ABOUT:
        return humanise(name)
    return clause


def detail_line(tool: Tool, name: str) -> str:
    """Return a parameter for a prompt that asks for it: what it is, and its choices if few."""
    schema = tool.properties[name]
    choices = [str(one) for one in choices_of(schema)]
    listed = f" ({', '.join(choices)})" if 0 < len(choices) <= _FEW_CHOICES else ""
    return f"{humanise(name)}: {about(name, schema)}{listed}"


def wording_problem(
    text: str,
    slots: Sequence[Slot],
    language: Language,
    *,
    known: str = "",
    may_lack: Collection[str] = (),
) -> str:
    """Return why a text can't be filled, or "": what was wanted, what came, and what is missing.

    Slots named in `may_lack` may be left out. Digits must be those of `known`, what the prompt
    tells besides the slots: any others are a value that nobody gave.
    """
    if not text.strip() or len(text) > _LONGEST:
        return f"The text has {len(text)} characters; write 1 to {_LONGEST}."
    repaired = _repaired(text, slots)
    found = Counter(name for name, _ in _marks(repaired))
    wanted = {one.name: one for one in slots}
    missing = [one.mark for one in slots if not found[one.name] and one.name not in may_lack]
    # what two calls take may be said for each
    most = {one.name: len(one.spots) for one in slots}
    twice = [f"[{name}]" for name, count in found.items() if count > most.get(name, count)]
    strange = [f"[{name}]" for name in found if name not in wanted]
    if missing or twice or strange:
        parts = (("Missing", missing), ("More than once", twice), ("Not in the list", strange))
        told = " ".join(f"{what}: {', '.join(names)}." for what, names in parts if names)
        marks = ", ".join(one.mark for one in slots) or "no placeholder"
        came = ", ".join(f"[{name}]" for name in found.elements()) or "none"
        return f"Wanted: {marks}, each once. Found: {came}. {told}"
    return _glued_problem(repaired, wanted) or _text_problem(repaired, language, known)


def unsaid(text: str, slots: Sequence[Slot], task: str) -> list[Slot]:
    """Return the slots that a wording neither holds nor says in words of its own.

    It is taken to say them all where it has a name that is none of the task's.
    """
    repaired = _repaired(text, slots)
    held, own = {name for name, _ in _marks(repaired)}, around_slots(repaired)
    if any(name not in task for name in _OWN_NAME.findall(own)):
        return []
    told = _stems(own) - _stems(task)
    return [
        slot
        for slot in slots
        if slot.name not in held
        and not told & _stems(f"{slot.name} {slot.words if slot.bends else ''}")
    ]


def _stems(text: str) -> set[str]:
    return {key.light for key in content_keys(text)}


def _glued_problem(text: str, wanted: Mapping[str, Slot]) -> str:
    """Return which slot is a part of a word, or ""."""
    for match in _BRACKETS.finditer(text):
        slot = wanted[match[1]]
        filled = f"{text[: match.start()]}{slot.words}{text[match.end() :]}"
        if is_cut(filled, match.start(), match.start() + len(slot.words)):
            return f"{slot.mark} has to stand apart from other letters and digits."
    return ""


def _may_say(slot: Slot, words: str) -> bool:
    """Whether words may stand for the slot's value; any phrase may for a choice, but another's."""
    if locate(slot.value, slot.schema, words) is not None:
        return True
    is_choice = kind_of(slot.schema) in _WORDED
    return is_choice and read_value(words, slot.schema) in {None, slot.value}


def _text_problem(text: str, language: Language, known: str) -> str:
    own = around_slots(text)
    if any(map(str.isalpha, own)) and not writes(language, own):
        return f"Write it in {of(language).name}."
    if loose := _LOOSE.search(own):
        return f"It has a {loose[0]!r} that belongs to no placeholder. Leave it out."
    digits = [run for run in re.findall(r"\d+", own) if run not in re.findall(r"\d+", known)]
    if digits:
        return f"It says {digits[0]!r}, which is none of the details. Leave it out."
    return ""


def around_slots(text: str) -> str:
    """Return a wording without its slots."""
    return _BRACKETS.sub(" ", text)


def _marks(text: str) -> list[tuple[str, str]]:
    return [(match[1], match[2] or "") for match in _BRACKETS.finditer(text)]


def _repaired(text: str, slots: Sequence[Slot]) -> str:
    """Return the text with the slots as they are named.

    Other spellings and brackets are those of the slot, a bare name as code has it is a slot, and
    the only strange one stands for the only missing one if they share a word.
    """
    names = {_squeezed(one.name): one.name for one in slots}

    def spelled(match: re.Match[str]) -> str:
        name = names.get(_squeezed(match[1]), match[1])
        return f"[{name}: {match[2]}]" if match[2] else f"[{name}]"

    text = _BRACKETS.sub(spelled, text)
    found = {name for name, _ in _marks(text)}
    missing = [one.name for one in slots if one.name not in found]
    for name in (one for one in missing if "_" in one):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w|\s*[:=])", f"[{name}]", text, count=1)
    found = {name for name, _ in _marks(text)}
    missing = [name for name in missing if name not in found]
    strange = [name for name in found if name not in names.values()]
    if len(missing) == len(strange) == 1 and _shares_word(missing[0], strange[0]):
        text = text.replace(f"[{strange[0]}", f"[{missing[0]}")
    return text


def _squeezed(name: str) -> str:
    return _NOT_NAME.sub("", name).casefold()


def _shares_word(one: str, other: str) -> bool:
    first, second = ({*map(str.lower, split_name(name))} for name in (one, other))
    return bool(first & second)


def fill(text: str, slots: Sequence[Slot]) -> Filled:
    """Return the text with the value of each slot in its place; it must have no problem."""
    wanted, said = {one.name: one for one in slots}, ""
    left = {one.name: one.spots for one in slots}
    places: dict[Spot, Place] = {}
    text, end = _repaired(text, slots).strip(), 0
    for match in _BRACKETS.finditer(text):
        said += text[end : match.start()]
        slot = wanted[match[1]]
        words = match[2] if match[2] and _may_say(slot, match[2]) else slot.words
        is_quoted = said[-1:] in _OPEN and text[match.end() : match.end() + 1] in _CLOSE
        shown = slot.shown if words == slot.words and not (is_quoted and said[-1:]) else words
        if words != str(slot.value) and _SENTENCE_BEGINS.search(said):
            words, shown = capitalised(words), capitalised(shown)
        start = len(said) + max(0, shown.find(words))
        places |= dict.fromkeys(left[slot.name], Place(start, start + len(words)))
        left[slot.name] = left[slot.name][1:]  # said again, it is said for the next call
        said, end = said + shown, match.end()
    return Filled(said + text[end:], places)
