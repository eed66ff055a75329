"""Names in a text: which words are a name's, and whether a name that is sought goes on beside the words that were found."""

import re
from collections.abc import Sequence

from callwright.language.calls.parameters import chinese_names
from callwright.language.packs import puts_spaces
from callwright.language.readers.segmenter import (
    begins_name,
    counts_things,
    ends_name,
    follows_noun,
    has_content,
    has_edges,
    is_framed,
    is_known_place,
    is_word,
    person_likeness,
    says_something,
)
from callwright.language.text import deep_stem, words_named, words_of
from callwright.validators.values.parameters import Leaf, Parameter, is_timed, spellings
from callwright.validators.values.said import MARKS, Said, Span, mark_words, schema_words

_PRONOUN = re.compile(r"I(?:['’]\w+)?")
_LOWER_AFTER = re.compile(r" ([a-zà-ÿ'-]{3,})")
_LINKS = r"(?:(?:of|in|and|&|the|de|del|la|y|von|van) ){0,2}"  # within a name: Blue in Green, Bank of the West
_WORD_AFTER = re.compile(rf"[ -]+{_LINKS}([A-ZÀ-Þ][\w'’-]*)")
_WORD_BEFORE = re.compile(rf"([A-ZÀ-Þ][\w'’-]*)[ -]+{_LINKS}$")
_GROUP_AFTER, _LETTERED = re.compile(r" ([A-Z\d]{2,})(?![\w])"), re.compile(r"[A-Z]")
_DIGIT = re.compile(r"\d")
_GROUPS, _DIGITS_BEHIND, _DIGITS_BEFORE = re.compile(r"\d[\d -]*"), re.compile(r"[ -](\d+)"), re.compile(r"(\d+)[ -]$")
_NUMBER_BEFORE, _NUMBER_BEHIND = re.compile(r"(?<![\d.,:])(\d+) $"), re.compile(r" (\d+)(?![\d.,:]*\d|\w)")
_UNSIGNED, _NEXT = re.compile(r"\W"), 5  # signs that follow a name
_BEFORE = 300  # letters in which what goes before a value is looked for
_LONG = 4  # letters and digits that are a code by themselves
_LONG_CODE = re.compile(rf"(?=[A-Za-z-]*[\d._])[A-Za-z\d._-]{{{_LONG}}}")
_GIVEN = 2  # signs of a given name at most
_LATIN_BEFORE, _LATIN_BEHIND = re.compile(r"[A-Za-z\d] ?$"), re.compile(r" ?([A-Za-z\d])")


def more_of_name(leaf: Leaf, span: Span, said: Said) -> Span | None:
    """A word next to a name which may be part of it."""
    value = said.quote(span)
    if value.islower() and value.replace(" ", "").isalpha():
        return _more_of_small(value, span, said) or _noun_behind(leaf, span, said)
    if _GROUPS.fullmatch(value):
        group = _DIGITS_BEHIND.match(said.text, span.end) or _DIGITS_BEFORE.search(
            said.text, max(0, span.start - _BEFORE), span.start
        )
        return Span(*group.span(1)) if group else None  # 0170 555 of 0170 555 2020
    if not any(map(str.isupper, value)) and not _DIGIT.search(value):
        return None
    after = _WORD_AFTER.match(said.text, span.end) if " " in value or not _DIGIT.search(value) else None
    if after and is_name(after[1], said):
        return Span(*after.span(1))  # 60 Baker of 60 Baker Street
    if _DIGIT.search(value):
        place = _WORD_BEFORE.search(said.text, max(0, span.start - _BEFORE), span.start)
        if place and not spellings(place[1].lower()) & leaf.parameter.words and stands_inside(place.start(1), said):
            return Span(*place.span(1))  # B6789X of Guangdong B6789X
        group = _GROUP_AFTER.match(said.text, span.end) if _LETTERED.search(value) else None
        return Span(*group.span(1)) if group else None  # AB12 of AB12 CDE
    before = _WORD_BEFORE.search(said.text, max(0, span.start - _BEFORE), span.start)
    if before and is_name(before[1], said) and stands_inside(before.start(1), said):
        return Span(*before.span(1))
    number = _NUMBER_BEFORE.search(said.text, max(0, span.start - _BEFORE), span.start) or _NUMBER_BEHIND.match(
        said.text, span.end
    )
    behind = _noun_behind(leaf, span, said) if value[:1].isupper() else None
    return Span(*number.span(1)) if number else behind


def _noun_behind(leaf: Leaf, span: Span, said: Said) -> Span | None:
    """A word with a content of its own right behind a name, which may be the thing that has it: Imjin war, drunk driving."""
    after = _LOWER_AFTER.match(said.text, span.end)
    if leaf.parameter.is_person or after is None or _is_small(after[1], said):
        return None
    more, known = Span(*after.span(1)), frozenset(one.text for one in words_of(leaf.told).row)
    is_other = said.marked(more, *MARKS) or any(more.touches(Span(one.start, one.end)) for one in said.quantities)
    leads = mark_words(said.language)["leads"].search(f"{after[1]} ") is not None
    is_known = bool(({after[1], deep_stem(after[1])} & known) | (spellings(after[1]) & leaf.parameter.words))
    return None if is_other or leads or is_known or said.is_time(more) else more


def has_open_edge(leaf: Leaf, span: Span, said: Said, taken: Sequence[Span]) -> bool:
    """Whether a name in a script without spaces may begin earlier or end later than the words that were found.

    An edge is closed by the end of a clause, a quotation mark, what is read as a value, an amount or a time, a word that has
    no content of its own, a verb, or words by which the tool's schema tells what it does.
    """
    if span.end - span.start == 1 and not said.text[span.start].isascii() and not is_word(said.text, span.start):
        return True  # one sign is a part of a word nearly everywhere
    is_listed = re.search(rf"(?<!\w){re.escape(said.quote(span))}(?!\w)", leaf.parameter.description) is not None
    # what is read as a time has its own edges, and so has an amount in figures: in words it may be a part of a name
    amounts = [Span(one.start, one.end) for one in said.quantities]
    numbers = [*amounts, *(Span(one.start, one.number_end) for one in said.quantities)]
    is_amount = any(one.start == span.start for one in numbers) and any(one.end == span.end for one in numbers)
    times = [one.span for one in said.times]
    is_timed_whole = is_timed(leaf.parameter) and {span.start, span.end} <= {at for one in times for at in one}
    is_read = is_timed_whole or said.is_time(span) or (is_amount and said.text[span.start].isdigit())
    if is_read or is_listed or is_whole_name(leaf, span, said):
        return False
    # a number with such a word behind it may be a part of the name
    known_times = [one.span for one in said.times if not _is_house(said.quote(one.span), said)]
    bare = [Span(one.start, one.end) for one in said.quantities if one.unit is None]
    counted = [one for one in amounts if one not in bare or one in taken or counts_things(said.text, one.end)]
    known_amounts = [one for one in counted if not _is_house(said.text[one.start : one.end + 1], said)]
    roles = [one.span for one in said.marks if one.kind in ("from", "to")]
    known = [*taken, *known_times, *known_amounts, *roles]
    is_closed = _begins(leaf, span, said, [one for one in known if one not in bare or one in taken])
    is_quoted = Span(span.start - 1, span.end + 1) in said.quotes or said.clause(span) == span
    is_person = schema_words("persons").search(leaf.parameter.told) and said.text[span.start] in chinese_names()[0]
    return (is_framed(said.text, *span) and not (is_quoted or is_person)) or not (
        is_closed and _ends(leaf, span, said, known, taken)
    )


def _is_house(quote: str, said: Said) -> bool:
    """Whether a number has a word behind it with which names end as well: a house's, a street's, a line's."""
    return mark_words(said.language)["numbered"].fullmatch(quote) is not None


def is_whole_name(leaf: Leaf, span: Span, said: Said) -> bool:
    """Whether a person's name has as many signs as names in a script without spaces have: more of it would be another name."""
    if puts_spaces(said.language):
        return False
    if not schema_words("persons").search(leaf.parameter.told):
        return False
    families, name = chinese_names()[0], said.quote(span)
    family = next((name[:length] for length in (2, 1) if name[:length] in families), "")
    return bool(family) and len(name) == len(family) + _GIVEN and has_edges(said.text, *span)


def is_told_apart(one: Leaf, other: Leaf) -> bool:
    """Whether two names of a script without spaces are of different kinds, each of that which its parameter takes."""
    gains = _gains(one, other)
    return max(gains) > 0 <= min(gains) and not (one.parameter.role and other.parameter.role)


def suit_each_other(one: Leaf, other: Leaf) -> bool:
    """Whether each of two names looks more like what the other's parameter takes."""
    gains = _gains(one, other)
    persons = [bool(schema_words("persons").search(leaf.parameter.told)) for leaf in (one, other)]
    return min(gains) < 0 >= max(gains) and persons[0] != persons[1]


def _gains(one: Leaf, other: Leaf) -> list[int]:
    first, second = str(one.value), str(other.value)
    return [
        _suits(leaf.parameter, mine) - _suits(leaf.parameter, theirs)
        for leaf, mine, theirs in ((one, first, second), (other, second, first))
    ]


def _suits(parameter: Parameter, name: str) -> int:
    """How far a name looks like what a parameter takes: a person's, a place's, one that says what it is called in the schema."""
    if schema_words("persons").search(parameter.told):
        return person_likeness(name, chinese_names()[0])
    if parameter.is_written:
        return int(says_something(name))
    is_place = schema_words("places").search(parameter.told) is not None
    is_called = 1 < len(parameter.kind) < len(name) and parameter.kind in name
    return max(
        2 * is_called, is_place * (2 * bool(_DIGIT.search(name) and not name[0].isascii()) + is_known_place(name))
    )


def _lacks_family(before: str, first: str) -> bool:
    """Whether a family name may stand right before a person's name that begins with none."""
    families = chinese_names()[0]
    return before[-1:] in families and first not in families and has_content(before)


def _begins(leaf: Leaf, span: Span, said: Said, known: Sequence[Span]) -> bool:
    words, text = mark_words(said.language), said.text

    def is_edge(at: int) -> bool:
        is_closed = not text[:at][-1:].isalnum() or any(at == one.end for one in known)
        return is_closed or begins_name(text, at, {one.span.end for one in said.times})

    before = text[: span.start]
    if schema_words("persons").search(leaf.parameter.told):
        if _lacks_family(before, text[span.start]):
            return False
        if text[span.start] in chinese_names()[0] and follows_noun(text, span.start):
            return True  # who somebody is stands before the name
    if text[span.start].isascii() and _LATIN_BEFORE.search(before):
        return any(span.start == one.end for one in known)
    is_plate = words["plate"].search(text, 0, span.start + 1) is not None and _LONG_CODE.match(text, span.start + 1)
    if is_edge(span.start) or is_plate or before[-2:] in leaf.told:
        return True
    if _LONG_CODE.match(text, span.start, span.end):
        return not words["plate"].search(before)
    return before[-1] in leaf.told and is_edge(span.start - 1)


def _ends(leaf: Leaf, span: Span, said: Said, known: Sequence[Span], taken: Sequence[Span]) -> bool:
    text, behind = said.text, said.text[span.end :]
    starts = [one.start for one in known]
    leads = {one.span.start for one in said.marks if one.kind in ("from", "to")}
    if text[span.end - 1].isascii() and (more := _LATIN_BEHIND.match(behind)):
        return span.end + more.start(1) in starts
    if span.end in starts or not behind[:1].isalnum() or ends_name(text, *span, {one.start for one in taken}, leads):
        return True
    if _LONG_CODE.match(text, max(span.start, span.end - _LONG), span.end):
        return True
    # the noun that says what the parameter is may be the last of the name: a hotel's, a bank's
    return behind[:2] in leaf.told and not leaf.parameter.kind.endswith(behind[:2])


def _is_small(word: str, said: Said) -> bool:
    """Whether a word behind a name is none of it, as it has no content of its own."""
    return word in said.small or word in words_named("ordered")


def _more_of_small(value: str, span: Span, said: Said) -> Span | None:
    """What may belong to a name in small letters: its object, or a word behind it and an article, or behind several."""
    article = mark_words(said.language)["article"].pattern
    object_of = re.compile(rf" ({article}) ", re.IGNORECASE).match(said.text, span.end)
    if object_of:  # "water the ficus"
        return Span(*object_of.span(1))
    has_article = re.search(rf"(?i:\b{article}) $", said.text[: span.start])
    after = _LOWER_AFTER.match(said.text, span.end) if " " in value or has_article else None
    if after is None or _is_small(after[1], said):
        return None
    more = Span(*after.span(1))  # "the lentil curry"
    is_other = said.marked(more, *MARKS) or any(more.touches(Span(one.start, one.end)) for one in said.quantities)
    return None if is_other or said.is_time(more) else more


def stands_inside(at: int, said: Said) -> bool:
    """Whether a word with a capital does not begin its sentence."""
    lead = said.text[max(0, at - _BEFORE) : at]
    before = lead.rstrip()
    end = at - len(lead) + len(before)
    return said.sentence(Span(at, at + 1)).start < end and before[-1:] not in '.!?:;\n"“'


def is_name(word: str, said: Said) -> bool:
    """Whether a word with a capital may be a name's: neither a pronoun nor another word without content of its own."""
    return not _PRONOUN.fullmatch(word) and word.casefold() not in said.little


_NAME_GOES_ON = re.compile(r"[.@\\_-]\w")
_PATH_GOES_ON = re.compile(r"[./]\w")
_NAME_BEGAN = re.compile(r"(?:\w[.@\\_-]|(?:^|(?<=[\s(\"'“‘]))[~.]?/(?:[^\s/]+/)*|://\S*)$")


def is_in_longer_name(span: Span, text: str) -> bool:
    """Whether words stand within a file's name, a path or an address: `notes` in notes.txt, /srv/notes, notes@example.org."""
    is_path = "/" in text[span.start : span.end]
    goes_on = (
        [_PATH_GOES_ON] if text.startswith("/", span.start) else [_NAME_GOES_ON, *([_PATH_GOES_ON] if is_path else [])]
    )
    return bool(
        any(one.match(text, span.end) for one in goes_on)
        or _NAME_BEGAN.search(text, max(0, span.start - _BEFORE), span.start)
    )
