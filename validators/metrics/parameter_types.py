"""The types that parameters are counted by, told from their names (ComplexFuncBench 4.3.1 and appendix C, Table 4).

The paper names thirteen types by example and gives no rule; these are ours. What fits none of them is "other".
"""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

ParameterType = Literal[
    "filter", "legs", "token", "slug", "date", "location", "key", "id", "time", "sort_by", "type", "age", "people", "other",
]  # fmt: skip


class _Rule(NamedTuple):
    type: ParameterType
    words: str  # a pattern over the words of a parameter's name, joined by spaces


# The first rule that fits decides: what a name says at its end comes before what it is about.
_RULES = (
    _Rule("legs", r"legs?"),
    _Rule("filter", r"filters?|facilit(y|ies)"),
    _Rule("token", r"tokens?"),
    _Rule("slug", r"slugs?"),
    _Rule("key", r"keys?$"),
    _Rule("id", r"ids?$"),
    _Rule("sort_by", r"sort|sorted|sorter|sorting|order by"),
    _Rule("type", r"types?$"),
    _Rule("age", r"ages?"),
    _Rule("date", r"dates?|day|month|check ?in|check ?out"),
    _Rule("time", r"times?|hour|clock"),
    _Rule("people", r"people|adults?|child(ren)?|infants?|passengers?|guests?|travell?ers?|persons?"),
    _Rule(
        "location",
        r"locations?|city|country|place|address|destination|origin|latitude|longitude|lat|lon(g)?|coordinates|airport|area|query",
    ),
)
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


@lru_cache(4096)
def parameter_type(name: str) -> ParameterType:
    """The type of a parameter by its name; of a place inside one ("legs[0].fromId") by the parameter's own."""
    words = " ".join(word.lower() for word in _WORDS.findall(re.split(r"[.\[]", name)[0]))
    return next((rule.type for rule in _RULES if re.search(rf"\b(?:{rule.words})\b", words)), "other")
