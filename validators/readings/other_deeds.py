"""Where a request asks for another deed than the tool does, for none at all, or only quotes what somebody asked for."""

import re
from collections.abc import Iterator, Sequence

from callwright.language.cues import Deed, cue_words, deeds_of_tool, deeds_stated, find_cues, harmless_uses
from callwright.language.names import split_name
from callwright.language.packs import of, widened
from callwright.language.plain_words import clauses_of, is_context, plain_words, vocabulary
from callwright.language.schemas import choices_of
from callwright.language.sentences import count_words, quotations
from callwright.language.wording import content_keys
from callwright.validators.checks.verdicts import Finding, unproved
from callwright.validators.readings.leftover_words import described, document_of, own_phrases
from callwright.validators.readings.request_text import (
    ArgumentLeaf,
    ArgumentReading,
    RequestText,
    Span,
    content_words,
    spans_of,
    touches,
)
from callwright.warehouse.records import DoubtedFact, Tool

_TAKEN_DOWN = frozenset({
    "log", "record", "report", "request", "issue", "ticket", "complain", "complaint", "review", "feedback", "rate", "claim",
    "appeal", "block", "dispute", "return", "note", "memo", "submit",
})  # fmt: skip
_ENDING: frozenset[Deed] = frozenset({"cancel", "off", "pay"})  # what people ask for because something is settled
_COLON = re.compile(widened("@[:](?=\\s|\\D)"))
_FEWEST_FRAMING = 4  # words, or characters of a script without spaces
_QUOTATION_MARKS = 4  # characters by which a quotation may be longer than the value in it
_UNDOING, _SHORTEST_TURNED = re.compile("^(?:un|de(?=activ)|dis(?=able|connect|mount))"), 4  # letters
_FEWEST_QUOTED = 4  # words, or characters of a script without spaces


def other_deeds(
    tool: Tool, text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> Iterator[str]:
    """Where the words ask for another deed than the tool does, or for none that can be determined."""
    spans = [*spans_of(readings), *own_phrases(tool, text)]
    chosen = [str(leaf.value) for leaf in leaves if choices_of(leaf.schema)]
    by_choice = frozenset[Deed]().union(*(deeds_of_tool(one, text.language) for one in chosen))
    deeds = by_choice or deeds_of_tool(tool.name, text.language)
    stated = {
        deed
        for deed, start, end in deeds_stated(text.text[: text.own], text.language)
        if not touches(spans, start, end)
    }
    yield from _not_asked_for(tool, text, deeds, stated)
    yield from _of_own_deed(tool, text, leaves, spans)
    if not leaves and of(text.language).space and not own_phrases(tool, text) and not _speaks_of(tool, text):
        yield "No word of the request is of what the tool is about."
    if "ask" not in deeds and (text.has_cue("howto", 0, text.own) or (deeds and text.has_cue("asking"))):
        yield "The words ask for something, and the tool does something."
    if deeds and not deeds & {"ask"} and not _wishes(tool, text):
        yield "The words tell of something, and wish nothing."
    if _says_opposite(tool, text, leaves, spans):
        yield "The words ask for the opposite of what the tool or its parameter does."
    ends = {deed for deed in stated & {"cancel"} if not cue_words(text.language).deeds[deed].search(described(tool))}
    if ends - deeds:
        yield "The words call something off, and the tool does not."
    elif deeds and stated and not deeds & stated:
        clashes = cue_words(text.language).clashes
        others = sorted(deed for deed in stated if any(frozenset({mine, deed}) in clashes for mine in deeds))
        if others:
            yield f"The words speak of another deed ({', '.join(others)})."


def _speaks_of(tool: Tool, text: RequestText) -> bool:
    """Whether the words have one of the tool's document, or of the same topic, that not every request has."""
    spoken, plain = vocabulary(document_of(tool, ())), plain_words(text.language).words
    keys = [key for key in content_keys(text.text[: text.own]) if key.light not in plain]
    return any(spoken & {key.light, key.deep, key.sense} for key in keys)


def _of_own_deed(tool: Tool, text: RequestText, leaves: Sequence[ArgumentLeaf], spans: Sequence[Span]) -> Iterator[str]:
    """Verbs at the head of a sentence that are a deed of their own, which is none of the tool's: "rate", "translate"."""
    spoken = vocabulary(document_of(tool, leaves))
    for match in cue_words(text.language).patterns["own_deed"].finditer(text.text[: text.own]):
        keys = content_keys(match[1])
        is_known = any(spoken & {key.light, key.deep, key.sense} for key in keys)
        if keys and not is_known and not touches(spans, *match.span(1)):
            yield f"{match[1]!r} asks for another deed."


def _not_asked_for(tool: Tool, text: RequestText, deeds: frozenset[Deed], stated: set[Deed]) -> Iterator[str]:
    """Where the deed is done already, or a tool calls something off and no words say that anything is to end."""
    if not deeds & _ENDING and text.has_cue("settled", 0, text.own):
        yield "The words tell of something that is settled."
    is_ended = stated & {"cancel", "off"} or own_phrases(tool, text) or _tells_end(text)
    if deeds == {"cancel"} and not is_ended:
        yield "The words do not say that something is to end."


def framed_request(tool: Tool, text: RequestText, readings: Sequence[ArgumentReading]) -> Iterator[Finding]:
    """Words before a colon that wish nothing and name nothing, behind which the whole request stands: they may turn it."""
    own = text.text[: text.own]
    colon = _COLON.search(own)
    frame = own[: colon.start()] if colon else ""
    framed = DoubtedFact(kind="framed", quote=frame)
    spans = [*spans_of(readings), *own_phrases(tool, text)]
    if colon is None or count_words(frame) < _FEWEST_FRAMING or touches(spans, 0, colon.end()):
        return
    if text.has_cue("framing", 0, colon.start()):
        yield unproved(f"{frame!r} stands before the request, and may turn it.", framed)
        return
    if touches(text.mentions, 0, colon.end()):
        return
    deeds = deeds_of_tool(tool.name, text.language)
    is_stated = any(deed in deeds and start < colon.end() for deed, start, _ in deeds_stated(own, text.language))
    is_wished = plain_words(text.language).wish.search(frame) is not None or text.has_cue("lacking", 0, colon.start())
    named = content_words(" ".join((*split_name(tool.name), tool.description, *tool.properties)))
    if not is_stated and not is_wished and not content_words(frame) & named:
        yield unproved(f"{frame!r} stands before the request, and may turn it.", framed)


def _tells_end(text: RequestText) -> bool:
    """Whether a negation says that something is not to be, or no longer: "I can't make it to my appointment"."""
    return (
        any(cue.kind == "negation" for cue in find_cues(text.text, text.language))
        or text.has_cue("no_more")
        or any(True for _ in harmless_uses(text.text, text.language))
    )


def requests_quoted(tool: Tool, text: RequestText, readings: Sequence[ArgumentReading]) -> Iterator[Finding]:
    """Quotations that hold more than a value, or all that is wished: then somebody's request is told of, and none is made."""
    values = spans_of(readings)
    for start, end in quotations(text.text[: text.own]):
        if _is_quoted_whole(text, values, start, end) or _is_all_that_is_wished(tool, text, values, start, end):
            fact = DoubtedFact(kind="quoted", quote=text.text[start:end])
            yield unproved(f"{text.text[start:end]!r} is quoted.", fact)


def _is_quoted_whole(text: RequestText, values: Sequence[Span], start: int, end: int) -> bool:
    """Whether a quotation is a sentence most of which no value accounts for."""
    inner = [at for at in range(start + 1, end - 1) if text.text[at].isalpha()]
    free = [at for at in inner if not touches(values, at, at + 1)]
    is_long = count_words(text.without(values, start, end)) >= _FEWEST_QUOTED
    return is_long and len(free) * 2 > len(inner) and not touches(text.replaced, start, end)


def _is_all_that_is_wished(tool: Tool, text: RequestText, values: Sequence[Span], start: int, end: int) -> bool:
    """Whether all that the call takes stands within a quotation, among other words, and nothing around it wishes."""
    own = text.text[: text.own]
    around = f"{own[:start]} {own[end:]}"
    spans = [*values, *own_phrases(tool, text)]
    is_whole = any(one.end - one.start >= end - start - _QUOTATION_MARKS for one in spans)
    is_within = bool(spans) and all(start <= one.start and one.end <= end for one in spans)
    if not is_within or is_whole or not re.search(r"\w", around):
        return False
    deeds = deeds_of_tool(tool.name, text.language)
    is_wished = plain_words(text.language).wish.search(around) is not None
    return not is_wished and not any(deed in deeds for deed, *_ in deeds_stated(around, text.language))


def _wishes(tool: Tool, text: RequestText) -> bool:
    """Whether a clause wishes something, or the tool takes down what is told."""
    own = text.text[: text.own]
    clauses = [own[clause.start : clause.end] for clause in clauses_of(own, text.language)]
    is_noted = any(word in _TAKEN_DOWN for word in split_name(tool.name))
    is_spaced = bool(of(text.language).space)  # elsewhere no word tells where a clause has its subject
    return is_noted or not is_spaced or not clauses or any(not is_context(one, text.language) for one in clauses)


def _says_opposite(tool: Tool, text: RequestText, leaves: Sequence[ArgumentLeaf], spans: Sequence[Span]) -> bool:
    names = " | ".join(" ".join(split_name(name)) for name in (tool.name, *(leaf.name for leaf in leaves)))
    chosen = [str(leaf.value).replace("_", " ") for leaf in leaves if choices_of(leaf.schema)]
    names = f"{names} | {' | '.join(chosen)}"
    own = text.without(spans, 0, text.own)
    opposites = cue_words(text.language).opposites
    if any(words.search(one) for words, _ in opposites for one in chosen):
        names = " | ".join(chosen)  # what is chosen says which of a tool's deeds is meant
    return any(
        words.search(names) and not others.search(names) and others.search(own) and not words.search(own)
        for words, others in opposites
    ) or _undoes(split_name(tool.name), own)


def _undoes(names: Sequence[str], own: str) -> bool:
    """Whether the words have a word of the tool's name with "un" before it, or without: "unfreeze" for a tool that freezes."""
    spoken = own.lower()
    for word in (name.lower() for name in names):
        turned = _UNDOING.sub("", word)
        is_undoing = turned != word
        undone = "(?:un|de(?=activ)|dis(?=abl|connect|mount|engag|allow))-?"
        other = rf"(?<![\w-]){turned}" if is_undoing else rf"\b{undone}{re.escape(word)}"
        mine = rf"\b{re.escape(word)}"
        if len(turned) >= _SHORTEST_TURNED and re.search(other, spoken) and not re.search(mine, spoken):
            return True
    return False
