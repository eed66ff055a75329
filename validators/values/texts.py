"""Texts that somebody shall read, and lists: where one begins and ends, and whether a value is one."""

import re
from collections.abc import Sequence

from callwright.language.names import split_name
from callwright.language.packs import puts_spaces, signs, widened
from callwright.validators.values.parameters import Leaf
from callwright.validators.values.said import Said, Span, mark_words, schema_words

_TEXT_WORDS, _TEXT_SIGNS = 4, 8  # from how many words or characters on a value is a text, no name
_ANNOUNCED = re.compile(rf':(?!\w)|[{signs("{:}")}]|["“”{signs("{open}")}]')
_COLON_BEFORE = re.compile(rf":(?!\w)|[{signs('{:}')}]")
_COLON = re.compile(widened(r"@[:]"))


def is_text(leaf: Leaf, language: str) -> bool:
    """Whether a value is a text that somebody shall read, no name: by what holds it, or by its length."""
    value = str(leaf.value)
    if leaf.sort == "code":
        return False
    is_for_text = is_written(leaf)
    if puts_spaces(language) or value.isascii():
        words = value.split()
        is_long = len(words) >= _TEXT_WORDS and sum(word.islower() for word in words) * 2 > len(words)
        is_more = len(words) > 1 or (value.islower() and not is_spoken(leaf))
        return (is_for_text and is_more) or (is_long and "name" not in split_name(leaf.parameter.name))
    is_long = len(value) >= _TEXT_SIGNS and not any(character.isdigit() for character in value)
    return is_long or (is_for_text and len(value) >= _TEXT_WORDS)


def is_written(leaf: Leaf) -> bool:
    """Whether a parameter is for a text that somebody shall read."""
    return leaf.parameter.is_written


def is_whole(span: Span, said: Said) -> bool:
    """Whether a stretch is all of a quotation, or all that follows a colon or ends what was said."""
    quote = next((one for one in said.quotes if one.start <= span.start and span.end <= one.end), None)
    if quote:
        return not is_part(span, quote, said)
    before = said.text[: span.start].rstrip()
    if not is_announced(span, said) and said.clause(span) == span and (not before or not before[-1].isalnum()):
        return True
    if not puts_spaces(said.language) and before and before[-1].isalnum():
        return False
    if before.split() and mark_words(said.language)["joined"].fullmatch(before.split()[-1]):
        return False
    if puts_spaces(said.language) and not is_announced(span, said) and not is_begun(span, said):
        return False
    rest = said.text[span.end : said.own if span.end <= said.own else None]
    return not rest.strip(signs(" .!?\"'”’{.!?}{close}"))


def is_begun(span: Span, said: Said) -> bool:
    """Whether a stretch begins its clause, or stands behind a word that leads into one."""
    lead = said.text[said.clause(span).start : span.start]
    return not lead.strip() or mark_words(said.language)["leads"].search(lead) is not None


def is_announced(span: Span, said: Said) -> bool:
    """Whether a colon or an opening mark stands before a stretch in its sentence."""
    return _ANNOUNCED.search(said.text[said.sentence(span).start : span.start]) is not None


def is_listed(span: Span, said: Said, taken: Sequence[Span]) -> bool:
    """Whether a stretch stands right behind a colon, or nothing but other values of the call and what joins them between."""
    colons = [one.end() for one in _COLON_BEFORE.finditer(said.text, said.sentence(span).start, span.start)]
    if not colons:
        return False
    between = "".join(
        " " if any(one.start <= at < one.end for one in taken) else said.text[at]
        for at in range(colons[-1], span.start)
    )
    words = re.findall(r"\w+", mark_words(said.language)["joined"].sub(" ", between).lower())
    return all(word in said.little for word in words)


def goes_on(span: Span, said: Said, taken: Sequence[Span]) -> bool:
    """Whether what begins right behind a colon has more words in its clause than these and the call's other values."""
    end = said.clause(span).end
    starts = [one.start for one in taken if span.end <= one.start < end]
    rest = said.text[span.end : min([*starts, end])]
    return said.text[: span.start].rstrip().endswith(tuple(signs(":{:}"))) and bool(re.search(r"\w", rest))


def next_item(span: Span, said: Said) -> Span | None:
    """A word or two joined to a member of a list as another member would be; behind a comma alone stands "please" as well."""
    joint = mark_words(said.language)["joined"].pattern
    if not puts_spaces(said.language):
        more = re.compile(rf"(?:{joint})([^\W_])").match(said.text, span.end)
        return Span(*more.span(1)) if more and said.text[span.end] not in signs(",{,}") else None
    rest = said.text[span.end : said.sentence(span).end]
    found = re.match(rf"\s*((?:(?:{joint})\s*)+)(\w\w+(?: \w+)??)\s*(?:$|[;:]|({joint}))", rest, re.IGNORECASE)
    if found is None or (found[1].strip() == "," and found[3] is None):
        return None
    return Span(span.end + found.start(2), span.end + found.end(2))


def item_before(span: Span, said: Said, taken: Sequence[Span]) -> Span | None:
    """A member of a list behind a colon that stands before this one and that no value of the call has."""
    start = said.sentence(span).start
    begun = [match.end() for match in _COLON.finditer(said.text, start, span.start)]
    at = begun[-1] if begun else span.start
    for joint in mark_words(said.language)["joined"].finditer(said.text, at, span.start):
        item, at = Span(at, joint.start()), joint.end()
        if said.quote(item).strip() and not any(map(item.touches, taken)):
            return item
    return None


def joined_before(span: Span, said: Said, taken: Sequence[Span]) -> bool:
    """Whether another member is joined to the first one of a list, in a script without spaces, that no value has."""
    joint = mark_words(said.language)["joined"].pattern
    before = re.search(rf"[^\W_](?:{joint})$", said.text[: span.start])
    if before is None or puts_spaces(said.language) or said.text[span.start - 1] in signs(",{,}"):
        return False
    return not any(one.end == before.start() + 1 for one in taken)


def is_spoken(leaf: Leaf) -> bool:
    """Whether a value is what somebody shall read word for word, with all its sentences."""
    return any(map(schema_words("spoken").fullmatch, split_name(leaf.parameter.name)))


def is_part(span: Span, quote: Span, said: Said) -> bool:
    """Whether a quotation has more words than these."""
    rest = f"{said.text[quote.start : span.start]}{said.text[span.end : quote.end]}"
    return any(map(str.isalnum, rest))
