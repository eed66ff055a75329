"""Requests with slots: the same sentences as with values, which code puts in later.

A prompt's `<calls>` has the slots of each call, and the values of those that a sentence bends to.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from callwright.language.calls.sampling import make_value
from callwright.language.calls.tools import ToolView, view_of
from callwright.language.packs import of
from callwright.language.pages import filled, shapes_in
from callwright.language.sentences import Sentence
from callwright.language.text import capitalised
from callwright.llm.template.defects import (
    MISSING_ARGUMENT,
    WRONG_TOOL,
    Proposal,
    asides,
    spoil_call,
)
from callwright.llm.template.plain_sentences import head_of
from callwright.llm.template.sections import Sections
from callwright.llm.template.sentences import ToolSentences, read_sentence, say_slot, sentences_of
from callwright.llm.template.stating import lowered, opened
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Arguments, Language

_TRIES = 12
_TRIALS = 4  # of a sentence, since a day or an hour is said in several ways


class SlottedCall(NamedTuple):
    """A call to word: its tool, the slot of each argument, and values that a sentence bends to.

    `found` are parameters whose values an earlier call finds.
    """

    view: ToolView
    slots: Mapping[str, str]
    values: Arguments
    found: Sequence[str] = ()


def word_slotted(
    sections: Sections, language: Language, rng: Random, defect: str, flaws: Random
) -> tuple[str, str]:
    """Return a message for the `<calls>` of a prompt, and the defect in it or ""."""
    calls = [_call(number, call) for number, call in enumerate(sections.listed("calls"))]
    if len(calls) > 1:
        return _word_several(calls, language, rng), ""
    spoilt = _spoil(defect, calls[0], language, flaws) if defect else None
    return (spoilt or word_slots(calls[0], language, rng)), defect if spoilt else ""


def _call(number: int, call: Mapping[str, Any]) -> SlottedCall:
    own = {
        str(spot["parameter"]): slot
        for slot in call["slots"]
        for spot in slot["spots"]
        if spot["call"] == number
    }
    return SlottedCall(
        view_of(call["tool"]),
        {name: str(slot["slot"]) for name, slot in own.items()},
        {name: slot["value"] for name, slot in own.items() if "value" in slot},
        call["found"],
    )


def word_slots(call: SlottedCall, language: Language, rng: Random, *, title: str = "") -> str:
    """Return a request with each slot of a call: in the tool's own sentence, else plainly.

    It begins with what the tool does, unless another `title` is given.
    """
    own = None if title else sentences_of(call.view, language)
    ones = frozenset(
        name for name, one in call.values.items() if one == 1 and not isinstance(one, bool)
    )
    drawn = [
        (one, one.draw(frozenset(call.slots), rng, ones)) for one in (own.requests if own else ())
    ]
    ways = [(sentence, text) for sentence, text in drawn if text is not None]
    if own is None or not ways:
        return _word_plainly(call, language, rng, title)
    way = next(
        (
            way
            for way in rng.sample(ways, len(ways))
            if all(_is_read_back(call, way, own, language, rng) for _ in range(_TRIALS))
        ),
        None,
    )
    if way is None:
        return _word_plainly(call, language, rng, title)
    sentence, text = way
    said = filled(text, {name: _mark(call, name, own) for name in call.slots})
    return opened(said, language, rng) if sentence.is_bare else capitalised(said)


def _is_read_back(
    call: SlottedCall,
    way: tuple[Sentence, str],
    own: ToolSentences,
    language: Language,
    rng: Random,
) -> bool:
    """Whether a sentence is read as it is meant, tried with values that might stand in it."""
    view = call.view
    try:
        values = {
            name: call.values.get(name) or make_value(name, view.properties[name], language, rng)
            for name in call.slots
        }
    except ReplyError:
        return True
    said = {
        name: say_slot(view.parameter(name), one, own, language, rng).shown
        for name, one in values.items()
    }
    sentence, text = way
    request = filled(text, said)
    request = opened(request, language, rng) if sentence.is_bare else capitalised(request)
    read = read_sentence(view, request, language)
    return read is not None and read.arguments.keys() == values.keys() and not read.rest


def _mark(call: SlottedCall, name: str, own: ToolSentences) -> str:
    """Return a slot as a sentence of the tool's own has it: with its phrase, or behind its noun."""
    value, thing = call.values.get(name), own.things.get(name)
    phrase = own.says.get(name, {}).get(value) if isinstance(value, bool | str) else None
    if phrase is not None:
        return f"[{call.slots[name]}: {phrase}]"
    return f"{thing} [{call.slots[name]}]" if thing else f"[{call.slots[name]}]"


def _word_plainly(call: SlottedCall, language: Language, rng: Random, title: str) -> str:
    view, pack, details = call.view, of(language), []
    for parameter in (one for one in view.parameters if one.name in call.slots):
        slot, value = call.slots[parameter.name], call.values.get(parameter.name)
        mark = f"[{slot}: {pack.answers[value]}]" if isinstance(value, bool) else f"[{slot}]"
        details.append(f"{parameter.called(language)}{pack.colon}{mark}")
    listed = capitalised(pack.semicolon.join(details))
    head = head_of(view, title or view.does(language), language, rng)
    return head + (f"{pack.space}{listed}{pack.stop}" if listed else "")


def _spoil(defect: str, call: SlottedCall, language: Language, rng: Random) -> str | None:
    """Return a request that asks for another call than this one, or None if that can't be."""
    if defect == WRONG_TOOL:
        title = rng.choice(shapes_in(language, "defects.other_actions"))
        return word_slots(call, language, rng, title=title)
    if defect == MISSING_ARGUMENT:
        if not call.slots:
            return None
        left_out = rng.choice([*call.slots])
        kept = {name: slot for name, slot in call.slots.items() if name != left_out}
        return word_slots(call._replace(slots=kept), language, rng)
    # what its values are is not known here, so that any other one will do
    unknown: Arguments = {name: call.values.get(name, "") for name in call.slots}
    spoilt = spoil_call(defect, Proposal(call.view.name, unknown), [call.view], language, rng)
    if spoilt is None or not spoilt.arguments.keys() <= call.view.properties.keys():
        return None
    more = asides(call.view, unknown, spoilt.arguments, language, rng)
    right = word_slots(call, language, rng)
    return of(language).space.join((right, *more)) if more else None


def _word_several(calls: Sequence[SlottedCall], language: Language, rng: Random) -> str:
    """Return one message: a request for each call, led into from the one before."""
    leads, begins, ends = (
        shapes_in(language, f"parallel.{name}") for name in ("leads", "begins", "ends")
    )
    if not leads:
        problem = f"template/v1 has no phrases for several requests in the language {language!r}."
        raise ReplyError(problem)
    last, linked = len(calls) - 1, shapes_in(language, "conversations.linked")
    parts: list[str] = []
    for at, (call, lead) in enumerate(zip(calls, ["", *rng.sample(leads, last)], strict=True)):
        text = ""
        for _ in range(_TRIES):
            text = word_slots(call, language, rng)
            # nobody greets in the middle of a message nor thanks before its end
            if (at == 0 or not text.startswith(begins)) and (at == last or not text.endswith(ends)):
                break
        if not at:
            parts.append(text)
            continue
        titles = of(language).last.join(
            call.view.parameter(name).called(language) for name in call.found
        )
        shape = rng.choice(linked) if titles else lead
        parts.append(filled(shape, {"called": titles, "request": lowered(text)}))
    return of(language).space.join(parts)
