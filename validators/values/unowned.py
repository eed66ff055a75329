"""Names that stand in a text and that no word gives to a parameter: what keeps one from being proved.

Any word of a text can be copied into a parameter that takes texts. That it was said proves nothing then: something has to
show that it is a name at all, and one of the kind that the parameter takes.
"""

import re
from collections.abc import Iterator

from callwright.language.names import split_name
from callwright.language.packs import puts_spaces, signs
from callwright.language.readers.units import quantity_words
from callwright.validators.values.heard import Heard
from callwright.validators.values.longer_names import stands_inside
from callwright.validators.values.parameters import Leaf, is_timed, spellings
from callwright.validators.values.places import alike
from callwright.validators.values.said import Said, Span, mark_words, schema_words
from callwright.validators.values.texts import is_listed, is_text, is_written

_SMALL = re.compile(r"[a-zà-ÿ]+(?:[ -][a-zà-ÿ]+)*")
_ONE_CAPITAL = re.compile(r"[A-ZÀ-Þ][a-zà-ÿ'’]*")
_SHORTENED = re.compile(r"['’](?:m|d|ll|re|ve|s)?$")
_NEAR = 12  # characters beside an amount
_NAMES = 4  # words of a person's name at most
_BARE = re.compile(r"\d{1,3}(?:st|nd|rd|th)?")
_NOUN_BEFORE = re.compile(r"\w\W+([^\W\d_]{2,})[ #:]+$")  # no deed, with which a clause begins
_CODE = re.compile(r"(?<![\w.@/-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z-])\w[\w-]{2,}(?![\w@/-])", re.ASCII)
_ADDRESS = re.compile(r"(?<!\w)(?=[\w.:/@-]*[^\W\d])\w[\w-]*(?:[.:/@_]\w[\w-]*)+")  # a file's, a site's or a person's
_WORD = re.compile(r"[^\W\d_][\w'’]*")
_LISTED = r"(?:{})\W?\s*(.+)"


def no_name(leaf: Leaf, span: Span, heard: Heard) -> str:
    """Why words are no whole name, whoever they belong to: nothing but little words, or one at their end; "" for nothing."""
    value, said = str(leaf.value).strip(), heard.said
    if leaf.sort not in ("name", "code") or not puts_spaces(said.language):
        return ""
    if why := _other_kind(leaf, span, heard):
        return f"{said.quote(span)!r} {why}"
    if _is_set_off(leaf, span, heard):
        return ""
    joined = mark_words(said.language)["joined"]
    if _is_plain(leaf) and (why := _plain_doubt(leaf, span, heard)):
        return f"{said.quote(span)!r} {why}"
    words = [one.casefold() for one in value.split()]
    is_small = [one in said.little or one in said.small or joined.fullmatch(one) is not None for one in words]
    if words and (all(is_small) or (len(words) > 1 and words[-1] in said.little)):
        return f"{said.quote(span)!r} is no whole name"
    return f"{said.quote(span)!r} is no whole name" if _SHORTENED.search(value) else ""


def _other_kind(leaf: Leaf, span: Span, heard: Heard) -> str:
    """Why a value is of another kind than its parameter by its looks: a word for a code, a number or a sentence for a person."""
    value, own = str(leaf.value).strip(), leaf.parameter
    if any(one.start <= span.start and span.end <= one.end for one in heard.said.quotes):
        return ""
    has_digit, words = any(map(str.isdigit, value)), value.split()
    if own.is_coded and not own.is_person and not has_digit and any(map(str.islower, value)) and not _is_example(leaf):
        return "is no code"
    if own.is_person and not own.is_coded and ((has_digit and leaf.sort == "code") or len(words) > _NAMES):
        return "is no name"
    is_name = len(words) == 1 and not value.islower() and any(is_text(one, heard.said.language) for one in heard.leaves)
    return "is no text" if is_name and is_written(leaf) else ""


def _is_plain(leaf: Leaf) -> bool:
    """Whether a value is one word in small letters, as most words of a text are, that the schema does not name as a value."""
    value = str(leaf.value).strip()
    return (_SMALL.fullmatch(value) is not None or _ONE_CAPITAL.fullmatch(value) is not None) and not _is_example(leaf)


def _plain_doubt(leaf: Leaf, span: Span, heard: Heard) -> str:
    """Why a plain word is no name: a code is looked for, it names a parameter or a unit, or nothing has a name that is said."""
    said, word = heard.said, str(leaf.value).strip().casefold()
    tokens = {one for each in heard.leaves for one in split_name(each.parameter.name)}
    if word in tokens or any(span.touches(Span(one.number_end, one.end)) for one in said.quantities if one.unit):
        return "says what something else is"
    if leaf.parameter.is_person and word == str(leaf.value).strip():
        names = [one for one in heard.leaves if one.sort == "name" and not one.parameter.is_person]
        if any(str(one.value)[:1].isupper() for one in names):
            return "may be no name, as a thing has one"  # instructor: pottery, course: Rivera
    if word == str(leaf.value) and " " not in word:
        known = [*heard.taken, *heard.elsewhere]
        others = [*said.quotes, *(Span(*one.span()) for one in _ADDRESS.finditer(said.text))]
        others = [
            *alike(leaf._replace(value="A"), said, known),
            *(one for one in others if not any(map(one.touches, known))),
        ]
        other = next((said.quote(one) for one in others if not said.is_time(one)), "") or next(
            _other_codes(leaf, span, heard), ""
        )
        if other:
            return f"may be no name, as {other!r} is said as well"
        return "may be what is asked for" if mark_words(said.language)["object"].match(said.text, span.end) else ""
    return ""


def unowned_doubts(leaf: Leaf, span: Span, heard: Heard) -> Iterator[str]:
    """Why a name that no words give to its parameter need not be what the parameter has."""
    said = heard.said
    if leaf.sort not in ("name", "code"):
        return
    quote, value = said.quote(span), str(leaf.value).strip()
    yield from _kind_doubts(leaf, span, heard)
    if _is_set_off(leaf, span, heard):
        return
    is_time = is_timed(leaf.parameter) and split_name(leaf.parameter.name)[-1:] not in (("start",), ("end",))
    if is_time and not _says_time(span, said):
        yield f"{quote!r} is no time"
    if any(one.span.start <= span.start and span.end <= one.span.end for one in said.marks):
        yield f"{quote!r} may be no name"
    before = noun_before(span, said) if value.isdecimal() else ""
    if before and not (leaf.parameter.is_coded and schema_words("codes").search(before)):
        yield f"{before!r} may say what {quote!r} is"
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


def noun_before(span: Span, said: Said) -> str:
    """The word right before a place that may say what stands there, "" where none does."""
    start = said.clause(span).start
    before = _NOUN_BEFORE.search(said.text[start : span.start])
    is_role = before and said.marked(Span(start + before.start(1), start + before.end(1)), "from", "to")
    return before[1] if before and not is_role and before[1].casefold() not in said.little else ""


def _kind_doubts(leaf: Leaf, span: Span, heard: Heard) -> Iterator[str]:
    """Why words are something else than what is sought: a time, who has a thing, what names the next words, one of two codes."""
    said, quote = heard.said, heard.said.quote(span)
    takes_time = is_timed(leaf.parameter) or schema_words("times").search(leaf.parameter.description.lower())
    if quote.casefold() == str(leaf.value).strip().casefold() and said.is_time(span) and not takes_time:
        yield f"{quote!r} is a time"
    if said.text[span.end : span.end + 2] in ("'s", "’s") and not leaf.parameter.is_person:
        yield f"{quote!r} has something"
    labels = frozenset[str]().union(*(one.parameter.words for one in heard.leaves))
    is_kind = not puts_spaces(said.language) and str(leaf.value) == leaf.parameter.kind
    is_label = is_kind or (
        {str(leaf.value)} <= labels and said.text[span.end :].lstrip().startswith(tuple(signs(":{:}")))
    )
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

    What a sentence or a clause begins with is the deed that is asked for, where it is not what is looked at, and what a number
    counts is no name.
    """
    said = heard.said
    known = [*heard.taken, *(one.span for one in said.times), *(one.span for one in said.marks), span]
    known += [Span(one.start, one.end) for one in said.quantities]
    bounds = [quantity_words(said.language).patterns[name] for name in ("most", "least", "about_before")]
    for amount in said.quantities:  # "forty minutes tops"
        near = (max(0, amount.start - _NEAR), min(len(said.text), amount.end + _NEAR))
        known += [Span(*match.span()) for one in bounds for match in one.finditer(said.text.lower(), *near)]
    counted = {one.end + 1 for one in said.quantities if one.unit is None and said.text[one.end : one.end + 1] == " "}
    naming = frozenset[str]().union(*(leaf.parameter.words for leaf in heard.leaves))
    small, is_begun, article = said.small, False, mark_words(said.language)["article"]
    for match in _WORD.finditer(said.text, where.start, where.end):
        at, word = Span(*match.span()), match.group().casefold()
        is_begun &= bool(said.text[said.clause(at).start : at.start].strip())
        if word in small or spellings(word) & naming or at.start in counted or any(map(at.touches, known)):
            continue
        before = said.text[said.clause(at).start : at.start].split()
        is_deed = not said.text[said.sentence(at).start : at.start].strip()
        is_deed |= not (before and article.fullmatch(before[-1])) and bool(said.text[at.end : span.start].strip())
        if is_begun or at.start > span.start or not is_deed:
            return match.group()
        is_begun = True
    return ""


def _members(leaf: Leaf, heard: Heard) -> list[Span]:
    """Where what is beside a value in its list or its object stands, and how much of it."""
    within = leaf.path.rpartition("[")[0]
    found = [one.span for row in heard.rows if within and row[0].path.startswith(within) for one in row[1]]
    return [*found, *(Span(one.start, one.end) for one in heard.said.quantities if within)]


def _is_set_off(leaf: Leaf, span: Span, heard: Heard) -> bool:
    """Whether marks or a colon set the words off as a name or a text."""
    said = heard.said
    is_quoted = any(one.start <= span.start and span.end <= one.end for one in said.quotes)
    is_free = is_text(leaf, said.language) and " " in str(leaf.value).strip()
    return is_quoted or is_listed(span, said, _members(leaf, heard)) or is_free


def _is_example(leaf: Leaf) -> bool:
    """Whether the schema names the value among what the parameter takes."""
    listed = re.compile(_LISTED.format(schema_words("examples").pattern), re.IGNORECASE)
    named = " ".join(listed.findall(leaf.parameter.description)).casefold()
    return re.search(rf"(?<!\w){re.escape(str(leaf.value).casefold())}(?!\w)", named) is not None
