"""Numbers said in a larger unit than the parameter counts in: 1 km for 1000 metres, two hours for 120 minutes."""

import re
from functools import lru_cache

from llm.language.folding import folded
from llm.language.found import Found
from llm.language.numbers import find_numbers, same_number
from warehouse.records import JsonSchema

CONVERTED = "unit conversion"

# the unit said, what the schema must speak of, and how many of the schema's unit one of the said unit is
_CONVERSIONS = (
    (
        r"km\b|kilomet(?:er|re)s?\b|公里|千米",
        r"\bmet(?:er|re)s?\b|\(m\)|\bradius\b|\bdistance\b|\brange\b|米|半径|距离|范围",
        1000,
    ),
    (r"kg\b|kilo(?:gram)?s?\b|公斤|千克", r"\bgrams?\b|\(g\)|[^千]克", 1000),
    (r"hours?\b|hrs?\b|h\b|个?小时|个?钟头", r"\bminutes?\b|\bmins?\b|分钟", 60),
    (r"min(?:ute)?s?\b|分钟", r"\bseconds?\b|\bsecs?\b|秒", 60),
    (r"days?\b|天", r"\bhours?\b|小时", 24),
    (r"weeks?\b|个?周|个?星期", r"\bdays?\b|天数|天", 7),
    (r"years?\b|年", r"\bmonths?\b|月", 12),
)  # fmt: skip
_HALF_HOUR = re.compile(r"half\s+an?\s+hour|半个?小时")


def find_converted(value: float, schema: JsonSchema, text: str) -> Found | None:
    """Where `text` says `value` in a larger unit than the schema's description names."""
    factors = _factors(f"{schema.get('title', '')} {schema.get('description', '')}".lower())
    if not factors:
        return None
    plain = folded(text)
    for number in find_numbers(text):
        for unit, factor in factors:
            if not same_number(float(str(number.value)) * factor, value):
                continue
            match = unit.search(plain.text, number.end) if plain.text is text else unit.search(text.lower(), number.end)
            if match and not text[number.end : match.start()].strip(" -"):
                return Found(value, number.start, match.end(), CONVERTED)
    return None


@lru_cache(4096)
def _factors(topic: str) -> tuple[tuple[re.Pattern[str], int], ...]:
    return tuple((re.compile(unit), factor) for unit, meant, factor in _CONVERSIONS if re.search(meant, topic))
