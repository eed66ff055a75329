"""What a tool's descriptions demand of values in words: formats, choices and bounds.

A description shows a format as a mask ('YYYY-MM-DD', 'City, State') with examples ('Paris, FR'),
lists its choices in quotes, or names a range. Only what it demands counts; an example alone
("such as 'New York, NY'") demands nothing.
"""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.language.dates import DATE, find_dates
from callwright.language.schemas import choices_of
from callwright.warehouse.records import JsonSchema

DemandSort = Literal["format", "enum", "range"]
_QUOTED = re.compile(r"(?<!\w)['\"`‘“](?P<text>[^'\"`’”\n]{1,60})['\"`’”](?!\w)")
_CUE = re.compile(r"format(?:ted)?\W+(?:(?:of|as|is|in|string|like)\W+)*\Z", re.IGNORECASE)
_EXAMPLES = re.compile(
    r"(?:such as|e\.?g\.?|for example|for instance|examples?|like)\W+\Z", re.IGNORECASE
)
_NEXT = re.compile(r"\W*(?:or|and)?\W*")
_PIECE = r"[A-Z][a-z]+(?: [A-Za-z]+)*(?: \([a-z]+\))?"
_PIECES = re.compile(rf"{_PIECE}(?:, {_PIECE})+")
_TOKEN = re.compile(r"YYYY|yyyy|MM|DD|dd|HH|hh|mm|SS|ss")
_STAMP = re.compile(
    rf"(?<![A-Za-z])(?:{_TOKEN.pattern})(?:(?:[-/:. T]|\s?to\s?)*(?:{_TOKEN.pattern}))+"
    r"Z?(?![-/:.]?[A-Za-z])"
)
_CODE = re.compile(r"[A-Z]{2,3}")
_WITH_CODES = frozenset({"State", "Country", "Province"})  # what two letters may name
_EVERYDAY_CODES = frozenset({"UK", "US", "USA"})  # names that people write as well
_PARTS = re.compile(
    r",|/|\b(?:and|state|country|region|province|address|format|full|place)\b", re.IGNORECASE
)
_NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
_RANGE = re.compile(
    r"\b(?:between|from|range:|(?:with)?in the range(?: of)?)"
    rf"\s+(?P<low>{_NUMBER})\s*(?:and|to|-|–)\s*(?P<high>{_NUMBER})(?![\d:/%-])",
    re.IGNORECASE,
)
_CHOICES = re.compile(
    r"\b(?:one of|either|choose from|can be|(?:options|(?:allowed|valid|possible) values)"
    r"(?: are| include)?)\b[^.]*",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:such as|e\.?g|for example|like|etc|includ\w+|any|formats?)\b", re.IGNORECASE
)


class Demand(NamedTuple):
    """What a description demands and a value breaks, in the description's words.

    `expected` is the value in the demanded form, where code can write it. `is_mild`: people write
    such a value otherwise, as a place abroad has no state.
    """

    sort: DemandSort
    words: str
    expected: str | None = None
    is_mild: bool = False


class _Mask(NamedTuple):
    """A format as a description writes it; a value has as many pieces, `codes` upper-case."""

    text: str
    pattern: re.Pattern[str]

    @property
    def is_of_state(self) -> bool:
        """Whether it is the name of a place with its state alone."""
        return self.text.count(", ") == 1 and _last_piece(self.text) == "State"


def _last_piece(mask: str) -> str:
    return mask.rpartition(", ")[2].partition(" (")[0]


@lru_cache(8192)
def _masks_of(description: str) -> tuple[_Mask, ...]:
    """Return the formats that a description demands."""
    masks: list[str] = []
    examples: list[str] = []
    kind, end = masks, 0
    for found in _QUOTED.finditer(description):
        lead = description[end : found.start()]
        is_next = end > 0 and _NEXT.fullmatch(lead)
        if not is_next:
            kind = masks if _CUE.search(lead) else examples if _EXAMPLES.search(lead) else []
        kind.append(found["text"].strip())
        end = found.end()
    cued = [one for one in masks if _PIECES.fullmatch(one)]
    firsts = {one.partition(", ")[0] for one in cued}
    # 'City, Country' elsewhere in the words is a way to write it too
    others = (re.compile(rf"\b{re.escape(first)}(?:, {_PIECE})+") for first in firsts)
    cued += [one for one in masks if one in firsts]
    cued += [one.group() for other in others for one in other.finditer(description)]
    shown = [one.split(", ") for one in examples]
    is_exact = "exact" in description.lower()
    pieced = [
        _Mask(mask, _pieces_pattern(mask, shown if len(shown) > at else [], is_exact=is_exact))
        for at, mask in enumerate(dict.fromkeys(cued))
    ]
    stamps = dict.fromkeys(found.group() for found in _STAMP.finditer(description))
    return (*pieced, *(_Mask(stamp, _stamp_pattern(stamp)) for stamp in stamps))


def _pieces_pattern(mask: str, shown: list[list[str]], *, is_exact: bool) -> re.Pattern[str]:
    """Return a pattern of at least as many pieces as a mask has, or of as many if `is_exact`.

    The last one is a code if it is one in all examples.
    """
    count = mask.count(", ") + 1
    ends = [one[-1] for one in shown if len(one) > 1]
    is_code = bool(ends) and all(map(_CODE.fullmatch, ends)) and _EVERYDAY_CODES.isdisjoint(ends)
    last = _CODE.pattern if is_code and count > 1 and _last_piece(mask) in _WITH_CODES else r"[^,]+"
    before = f"{{{count - 1}}}" if is_exact or count == 1 else f"{{{count - 1},}}"
    # "Washington D.C." has its code without a comma
    return re.compile(rf"(?:[^,]+,\s*){before}{last}|[^,]+\s(?:[A-Z]\.){{2}}")


def _stamp_pattern(stamp: str) -> re.Pattern[str]:
    digits = {"YYYY": r"\d{4}", "yyyy": r"\d{4}"}
    pattern, end = "", 0
    for token in _TOKEN.finditer(stamp):
        pattern += re.escape(stamp[end : token.start()]) + digits.get(token.group(), r"\d{2}")
        end = token.end()
    rest = stamp[end:]  # "Z", which goes without saying
    return re.compile(f"{pattern}{re.escape(rest)}{'?' if rest else ''}")


def broken_demand(value: JsonValue, schema: JsonSchema) -> Demand | None:
    """Return what a parameter's description demands and a value breaks, or None."""
    description = str(schema.get("description") or "")
    if isinstance(value, bool) or value is None or not description or _is_named(value, schema):
        return None
    if isinstance(value, int | float):
        return _broken_range(value, description)
    if isinstance(value, str) and value:
        return _broken_format(value, description) or _broken_choice(value, description)
    return None


def is_single(description: str) -> bool:
    """Whether a description tells what a value is, and neither a form nor a part besides."""
    return bool(description) and not _PARTS.search(description)


def _is_named(value: JsonValue, schema: JsonSchema) -> bool:
    """Whether the document itself names the value: a choice, the default, a word in quotes."""
    if value == schema.get("default") or value in choices_of(schema):
        return True
    quoted = (found["text"] for found in _QUOTED.finditer(str(schema.get("description"))))
    return isinstance(value, str) and (
        value.casefold() in map(str.casefold, quoted) or bool(_TOKEN.search(value))
    )


def _broken_range(value: float, description: str) -> Demand | None:
    for found in _RANGE.finditer(description):
        low, high = (float(found[edge].replace(",", "")) for edge in ("low", "high"))
        if low < high and not low <= value <= high:
            return Demand("range", found.group())
    return None


def _broken_format(value: str, description: str) -> Demand | None:
    masks = _masks_of(description)
    if not masks or any(mask.pattern.fullmatch(value) for mask in masks):
        return None
    words = " or ".join(repr(mask.text) for mask in masks)
    is_day = [mask.text for mask in masks] == ["YYYY-MM-DD"]
    days = [str(found.value) for found in find_dates(value) if found.rule == DATE] if is_day else []
    # a state is asked for that there may be none of, or a code for what is a name
    counts = {mask.text.count(", ") for mask in masks}
    is_mild = all(mask.is_of_state for mask in masks) or 0 < value.count(", ") in counts
    return Demand("format", words, days[0] if len(days) == 1 else None, is_mild)


def _broken_choice(value: str, description: str) -> Demand | None:
    for sentence in _CHOICES.finditer(description):
        quoted = [found["text"] for found in _QUOTED.finditer(sentence.group())]
        if (
            len(quoted) > 1
            and not _OPEN.search(sentence.group())
            and value.casefold() not in map(str.casefold, quoted)
        ):
            return Demand("enum", sentence.group())
    return None
