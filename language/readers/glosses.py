"""What a schema's description says its codes mean: "COOL: cool air, HEAT: warm air", "1=male 2=female", "pick-up (P)".

People state the meaning and never the code.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from callwright.language.cues import cue_words, has_cues
from callwright.language.packs import known, unspaced, widened
from callwright.language.schemas import choices_of
from callwright.warehouse.records import JsonSchema

_LONGEST = 40  # characters of a gloss
_LINK = re.compile(widened(r"\s*(?:@[:=(]|->|=>|-(?=\s))\s*"))
_END = re.compile(widened(r"@[,.;()|{list}/\n]|\s[-–—]\s"))
_UNSPACED = re.compile(rf"\s*(?=[{unspaced()}])")
_WORDED = re.compile(rf"[A-Za-z{unspaced()}]")
_BEFORE, _CLOSED = re.compile(widened(rf"([A-Za-z{unspaced()} ]+)@[(]$")), re.compile(widened("@[)]"))
_INTEGERS = re.compile(r"(?<![\w.\-])(\d{1,2})(?![\d.])")


def glosses_of(schema: JsonSchema) -> Mapping[str, str]:
    """What the description of `schema` says each of its codes means; empty where it says it of fewer than two."""
    description = str(schema.get("description", ""))
    codes = [str(one) for one in choices_of(schema)]
    if not codes and schema.get("type") in ("integer", "string"):
        numbers = sorted({int(one) for one in _INTEGERS.findall(description)})
        is_counted = numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else False
        codes = [str(one) for one in numbers] if is_counted else []
    return _read_glosses(description, tuple(codes))


@lru_cache(1024)
def _read_glosses(description: str, codes: tuple[str, ...]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for code in codes:
        places = re.finditer(rf"(?<![A-Za-z0-9_.]){re.escape(code)}(?![A-Za-z0-9_.])", description)
        glosses = (_gloss_beside(description, match, codes) for match in places)
        found[code] = next(filter(None, glosses), "")
    found = {code: gloss for code, gloss in found.items() if gloss}
    is_unambiguous = len(set(found.values())) == len(found) == len(codes) > 1
    return found if is_unambiguous else {}


def _gloss_beside(description: str, code: re.Match[str], codes: Sequence[str]) -> str:
    """The gloss behind a code, or before it where the code stands in brackets."""
    before = _BEFORE.search(description[: code.start()])
    if before and _CLOSED.match(description, code.end()):
        return before[1].strip()
    after = description[code.end() : code.end() + _LONGEST]
    link = _LINK.match(after) or _worded_link().match(after) or _UNSPACED.match(after)
    if link is None:
        return ""
    rest = _END.split(after[link.end() :])[0]
    for other in codes:
        rest = re.split(rf"(?<![A-Za-z0-9_]){re.escape(other)}(?![A-Za-z0-9_])", rest)[0]
    return rest.strip() if _WORDED.search(rest) else ""


@lru_cache(1)
def _worded_link() -> re.Pattern[str]:
    words = "|".join(cue_words(one).patterns["gloss_link"].pattern for one in known() if has_cues(one))
    return re.compile(rf"\s*(?:{words})\s*")
