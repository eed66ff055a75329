"""Names that stand in a text and that no word gives to a parameter: what keeps one from being proved.

Any word of a text can be copied into a parameter that takes texts. That it was said proves nothing then: something has to
show that it is a name at all, and one of the kind that the parameter takes.
"""

import re
from collections.abc import Iterator

from callwright.language.names import split_name
from callwright.language.packs import of, puts_spaces, signs
from callwright.language.text import empty
from callwright.validators.values.heard import Heard
from callwright.validators.values.longer_names import stands_inside
from callwright.validators.values.parameters import Leaf, is_timed, spellings
from callwright.validators.values.said import Said, Span, mark_words, schema_words
from callwright.validators.values.texts import is_announced, is_text

_SMALL = re.compile(r"[a-zà-ÿ]+(?:[ -][a-zà-ÿ]+)*")
_ONE_CAPITAL = re.compile(r"[A-ZÀ-Þ][a-zà-ÿ'’]*")
_SHORTENED = re.compile(r"['’](?:m|d|ll|re|ve|s)?$")
_BARE = re.compile(r"\d{1,3}(?:st|nd|rd|th)?")
_NOUN_BEFORE = re.compile(r"\w\W+([^\W\d_]{2,})[ #:]+$")  # no deed, with which a clause begins
_CODE = re.compile(r"(?<![\w.@/-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z-])\w[\w-]{2,}(?![\w@/-])", re.ASCII)
_WORD = re.compile(r"[^\W\d_][\w'’]*")
_LISTED = r"(?:{})\W?\s*(.+)"


def no_name(leaf: Leaf, span: Span, said: Said) -> str:
    """Why words are no whole name, whoever they belong to: nothing but little words, or one at their end; "" for nothing."""
    value = str(leaf.value).strip()
    if leaf.sort not in ("name", "code") or not puts_spaces(said.language) or _is_set_off(leaf, span, said):
        return ""
    little = empty((of(said.language),))
    words = [one.casefold() for one in value.split()]
    if words and (all(one in little for one in words) or (len(words) > 1 and words[-1] in little)):
        return f"{said.quote(span)!r} is no whole name"
    return f"{said.quote(span)!r} is no whole name" if _SHORTENED.search(value) else ""


def unowned_doubts(leaf: Leaf, span: Span, heard: Heard) -> Iterator[str]:
    """Why a name that no words give to its parameter need not be what the parameter has."""
    said = heard.said
    if leaf.sort not in ("name", "code"):
        return
    quote, value = said.quote(span), str(leaf.value).strip()
    yield from _kind_doubts(leaf, span, heard)
    if _is_set_off(leaf, span, said):
        return
    is_time = is_timed(leaf.parameter) and split_name(leaf.parameter.name)[-1:] not in (("start",), ("end",))
    if is_time and not _says_time(span, said):
        yield f"{quote!r} is no time"
    if any(one.span.start <= span.start and span.end <= one.span.end for one in said.marks):
        yield f"{quote!r} may be no name"
    before = _NOUN_BEFORE.search(said.text[said.clause(span).start : span.start])
    if value.isdecimal() and before and before[1].casefold() not in empty((of(said.language),)):
        yield f"{before[1]!r} may say what {quote!r} is"
    if _BARE.fullmatch(value):
        yield f"{quote!r} may count something"
    if not puts_spaces(said.language):
        return
    is_first = _ONE_CAPITAL.fullmatch(quote) is not None and not stands_inside(span.start, said)
    is_small = _SMALL.fullmatch(value) is not None and not _is_example(leaf)
    where = said.sentence(span) if is_first else said.clause(span)
    is_loose = (is_first and not _is_joined(span, heard)) or (is_small and not _is_counted(leaf, span, heard))
    if is_loose and (other := _left_over(span, where, heard)):
        yield f"{quote!r} may be no name, as {other!r} is said as well"


def _kind_doubts(leaf: Leaf, span: Span, heard: Heard) -> Iterator[str]:
    """Why words are something else than what is sought: a time, who has a thing, what names the next words, one of two codes."""
    said, quote = heard.said, heard.said.quote(span)
    takes_time = is_timed(leaf.parameter) or schema_words("times").search(leaf.parameter.description.lower())
    if quote.casefold() == str(leaf.value).strip().casefold() and said.is_time(span) and not takes_time:
        yield f"{quote!r} is a time"
    if said.text[span.end : span.end + 2] in ("'s", "’s") and not schema_words("persons").search(leaf.parameter.told):
        yield f"{quote!r} has something"
    labels = frozenset[str]().union(*(one.parameter.words for one in heard.leaves))
    is_label = {str(leaf.value)} <= labels and said.text[span.end :].lstrip().startswith(tuple(signs(":{:}")))
    if is_label:
        yield f"{quote!r} says what follows it"
    if leaf.sort == "code" and (other := next(_other_codes(leaf, span, heard), "")):
        yield f"{other!r} is said, too"


def _other_codes(leaf: Leaf, span: Span, heard: Heard) -> Iterator[str]:
    """Codes of any form that no value of the call has: which of them is meant nobody says."""
    said = heard.said
    known = [*heard.taken, span, *(one.span for one in said.times)]
    amounts = [Span(one.start, one.end) for one in said.quantities]
    for at in (Span(*match.span()) for match in _CODE.finditer(said.text)):
        is_amount = any(one.start <= at.start and at.end <= one.end for one in amounts)
        if not is_amount and not any(map(at.touches, known)):
            yield said.quote(at)


def _says_time(span: Span, said: Said) -> bool:
    """Whether days and times are all that a stretch says, one beside the other or not."""
    inside = [at for at in range(span.start, span.end) if said.text[at].isalnum()]
    return all(any(one.span.start <= at < one.span.end for one in said.times) for at in inside)


def _is_counted(leaf: Leaf, span: Span, heard: Heard) -> bool:
    """Whether a value of the same object says how many, right before: "four hinges", "two bowls of rice"."""
    said, within = heard.said, leaf.path.rpartition(".")[0]
    counts = [row[1] for row in heard.rows if row[0].sort == "number" and row[0].path.rpartition(".")[0] == within]
    of = mark_words(said.language)["of"].pattern
    gaps = [said.text[one.span.end : span.start] for places in counts for one in places if one.span.end <= span.start]
    return any(re.fullmatch(rf"\s*(?:\w+{of})?\s*", gap) for gap in gaps)


def _is_joined(span: Span, heard: Heard) -> bool:
    """Whether another value of the call is joined to it: "Brighton or Torquay"."""
    said, joint = heard.said, mark_words(heard.said.language)["joined"]
    gaps = [said.text[span.end : one.start].strip() for one in heard.taken if span.end < one.start]
    return any(joint.fullmatch(gap) for gap in gaps)


def _left_over(span: Span, where: Span, heard: Heard) -> str:
    """A word of a stretch that could be meant as well: it has content, names nothing of the call, and is no value of it.

    What a sentence begins with is the deed that is asked for, where it is not what is looked at.
    """
    said = heard.said
    little = empty((of(said.language),))
    known = [*heard.taken, *(one.span for one in said.times), *(one.span for one in said.marks), span]
    known += [Span(one.start, one.end) for one in said.quantities]
    naming = frozenset[str]().union(*(leaf.parameter.words for leaf in heard.leaves))
    for match in _WORD.finditer(said.text, where.start, where.end):
        at, word = Span(*match.span()), match.group().casefold()
        is_deed = not said.text[said.sentence(at).start : at.start].strip()
        if not is_deed and word not in little and not spellings(word) & naming and not any(map(at.touches, known)):
            return match.group()
    return ""


def _is_set_off(leaf: Leaf, span: Span, said: Said) -> bool:
    """Whether marks or a colon set the words off as a name or a text."""
    is_quoted = any(one.start <= span.start and span.end <= one.end for one in said.quotes)
    return is_quoted or is_announced(span, said) or is_text(leaf, said.language)


def _is_example(leaf: Leaf) -> bool:
    """Whether the schema names the value among what the parameter takes."""
    listed = re.compile(_LISTED.format(schema_words("examples").pattern), re.IGNORECASE)
    named = " ".join(listed.findall(leaf.parameter.description)).casefold()
    return re.search(rf"(?<!\w){re.escape(str(leaf.value).casefold())}(?!\w)", named) is not None
