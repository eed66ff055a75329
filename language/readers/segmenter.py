"""Words of a script without spaces, by the dictionary and the tags of jieba: where a name may begin and where it may end.

The one adapter of the package that wraps rjieba. A name is not in the dictionary, or only its parts are: so what stands on
either side of it is read without it.
"""

from collections.abc import Collection
from functools import lru_cache
from unicodedata import numeric

from callwright.language.packs import LanguagePattern

# Tags: words without a content of their own; numbers and measure words; verbs; what joins a word to the noun that it tells of.
_FUNCTION = frozenset(
    ["p", "c", "d", "r", "y", "e", "o", "t", "u", "ad", "df", "k", "ul", "uz", "ug", "ud", "uv"],
)
_COUNT, _VERB, _OF, _NONE = frozenset({"m", "mq", "q"}), frozenset({"v", "vq", "vi", "vg"}), "uj", "x"
_FOLLOWING = _FUNCTION | _COUNT | {"zg"}  # what follows a verb that has a name for its subject
_LEADING = frozenset({"p", "c", "ul", "u", _OF})  # what stands before a name and is no part of it
_TRAILING = _LEADING | {"d"}
_COUNTED = 2  # a numeral and a measure word
_GIVEN = 2  # signs of a given name at most
_ONE = chr(0x4E00)  # the numeral
_INSIDE, _THERE_IS = LanguagePattern("@{inside}"), LanguagePattern("(?:@{there_is})$")


def begins_name(text: str, at: int, times: Collection[int] = ()) -> bool:
    """Whether the words before a place end there, so that a name may begin: a verb, a measure word, a word without content.

    `times` are places where times of day and days end, which look as if they counted what follows.
    """
    row = _tagged(text[:at])
    if at not in _boundaries(text) or not row:
        return False
    (word, kind), before = row[-1], row[-2][1] if len(row) > 1 else _NONE
    if kind in _COUNT:
        is_counted = kind == "q" or len(word) > 1
        return is_counted and numeric(word[-1], None) is None and not (kind == "q" and before.startswith("n"))
    # behind a measure word, or what says that there is something, a verb tells of what sort it is: a portion of fried rice
    is_free = before not in _COUNT or at - len(word) in times
    is_deed = kind in _VERB and is_free and not _THERE_IS.of(text).search(text[: at - len(word)])
    return kind in _FUNCTION or kind in (_OF, "f") or is_deed


def ends_name(text: str, start: int, at: int, known: Collection[int] = (), leads: Collection[int] = ()) -> bool:
    """Whether other words begin where a name would end; values of the call begin at `known`, what leads to them at `leads`."""
    row = _tagged(text[at:])
    if at not in _boundaries(text) or not row:
        return False
    (word, kind), rest = row[0], [kind for _, kind in row[1:3]] + [_NONE, _NONE]
    if kind == "f":  # a side, or a place in it, may be a part of its name
        return len(word) > 1 or _INSIDE.of(text).fullmatch(word) is not None
    if kind in ("l", "i"):
        kind = _tagged(word[0])[0][1]
    if kind not in _VERB:
        return kind in _FUNCTION or kind == _OF
    is_short, behind = len(word) == 1, at + len(word)
    if not is_short and _tagged(word[0])[0][1] == "f":
        return False
    if rest[0] == _NONE:  # a verb of one sign may be the last of a noun
        return not is_short or [kind for _, kind in _tagged(text[start:at])] == ["ns"]
    is_known = behind in known or behind in leads or (not is_short and behind + len(row[1][0]) in known)
    is_followed = is_known or rest[0] in _FOLLOWING
    # a verb of several signs may be a noun as well: that what follows is another verb tells nothing
    return is_followed or rest[:2] == [_OF, _NONE]


def is_framed(text: str, start: int, end: int) -> bool:
    """Whether a name may as well begin or end within the words that were found: go to the station, the station sends."""
    row = _tagged(text[start:end])
    if len(row) == 1:
        return False
    (first, lead), (word, last) = row[0], row[-1]
    is_doubled = last in _VERB and len(word) > 1 and len({*word}) == 1
    is_inside = last != "t" and _INSIDE.of(text).fullmatch(word[-1]) is not None
    is_short = end - start - len(first) > 1 and (lead in _LEADING or (lead in _VERB and len(first) == 1))
    is_led = is_short and begins_name(text, start + len(first))
    is_short = end - start - len(word) > 1 and (last in _TRAILING or (last in _VERB and len(word) == 1))
    is_followed = (
        is_short and ends_name(text, start, end - len(word)) and [kind for _, kind in _tagged(text[end:])[:1]] != ["p"]
    )
    return is_doubled or is_inside or is_led or is_followed or last == "y"


def has_edges(text: str, start: int, end: int) -> bool:
    """Whether no word of the dictionary lies across the ends of a stretch."""
    return {start, end} <= _boundaries(text)


def follows_noun(text: str, at: int) -> bool:
    """Whether a noun of several signs stands right before a place, which is no name of a person."""
    row = _tagged(text[:at])
    return at in _boundaries(text) and bool(row) and row[-1][1] == "n" and len(row[-1][0]) > 1


def has_content(text: str) -> bool:
    """Whether the last word of a text has a content of its own."""
    row = _tagged(text)
    return bool(row) and row[-1][1] not in _FUNCTION and not (row[-1][1] in _COUNT and len(row[-1][0]) == _COUNTED)


def leads_to_noun(text: str, at: int) -> bool:
    """Whether a noun stands at a place, or behind a pronoun there: his mother."""
    kinds = [kind for _, kind in _tagged(text[at:])[:2]] + [_NONE, _NONE]
    return kinds[0].startswith("n") or (kinds[0] == "r" and kinds[1].startswith("n"))


def says_something(text: str) -> bool:
    """Whether a text has a word that names nothing: a verb, an adjective, an adverb."""
    kinds = [kind for _, kind in _tagged(text)]
    return kinds[-1] == "a" or any(kind in _VERB or kind in {"d", "ad", "y", "p"} for kind in kinds)


def is_word(text: str, at: int) -> bool:
    """Whether the one sign at a place is a noun by itself, and no name of a person."""
    places = {at, at + 1}
    kind = _tagged(text[at])[0][1]
    return places <= _boundaries(text) and kind.startswith("n") and kind != "nr"


def is_known_place(name: str) -> bool:
    """Whether a name is, or begins with, one of a place that the dictionary has."""
    return _tagged(name)[0][1] == "ns"


def person_likeness(name: str, families: Collection[str]) -> int:
    """How much a name looks like a person's: 0 without a family name, 1 with one, 2 where it is no other word."""
    family = next((name[:length] for length in (2, 1) if name[:length] in families), "")
    row = _tagged(name)
    if not family or not 0 < len(name) - len(family) <= _GIVEN:
        return 2 * (len(row) == 1 and row[0][1] == "nr")
    return 1 + ((len(row) == 1 and row[0][1] == "nr") or row[0][0] == family)


def counts_things(text: str, at: int) -> bool:
    """Whether a measure word stands behind a number that ends at a place."""
    return text[at : at + 1].isalpha() and [kind for _, kind in _tagged(f"{_ONE}{text[at]}")] == ["m"]


def is_thing(text: str, at: int) -> bool:
    """Whether a noun of one sign stands at a place: the thing whose number stands before it, which is no day."""
    word, kind = (_tagged(text[at:]) or (("", ""),))[0]
    return len(word) == 1 and kind.startswith("n") and kind != "nr"


@lru_cache(4096)
def _tagged(text: str) -> tuple[tuple[str, str], ...]:
    import rjieba

    return tuple(rjieba.tag(text, hmm=False))


@lru_cache(1024)
def _boundaries(text: str) -> frozenset[int]:
    """Where no word of the dictionary lies across."""
    import rjieba

    places, at = {0}, 0
    for word in rjieba.cut(text, hmm=False):
        at += len(word)
        places.add(at)
    return frozenset(places)
