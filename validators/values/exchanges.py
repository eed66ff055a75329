"""Names of a call that could be exchanged by their looks, and what tells them apart."""

import re
from itertools import pairwise

from callwright.language.names import split_name
from callwright.language.packs import puts_spaces, signs
from callwright.validators.values.heard import Heard, is_in_turn, owner_of
from callwright.validators.values.longer_names import is_told_apart, is_whole_name
from callwright.validators.values.parameters import Leaf, is_timed
from callwright.validators.values.said import Place, Said, mark_words
from callwright.validators.values.texts import is_announced, is_written

_CODE = re.compile(r"(?=.*\d)[^\W\d_]?[a-z\d -]+", re.ASCII | re.IGNORECASE)


def exchanged(leaf: Leaf, place: Place, heard: Heard) -> str:
    """The parameter of another name that looks like this one, "" for none: where nothing is said of either, each may be meant."""
    said = heard.said
    has_spaces = puts_spaces(said.language)
    is_led = is_written(leaf) and (has_spaces or _is_led(place, said))
    if leaf.sort not in ("name", "code") or is_led or said.is_time(place.span):
        return ""
    for other, places in heard.rows:
        persons = [
            any(is_whole_name(row, one.span, said) for one in at) for row, at in ((leaf, [place]), (other, places))
        ]
        is_settled = (other.parameter.parent, other.parameter.name) in heard.settled
        if (
            persons[0] != persons[1]
            or (not has_spaces and (is_told_apart(leaf, other) or _is_listed(leaf, other, heard)))
            or is_settled
            or not places
            or not _are_alike(leaf, other, heard)
            or is_in_turn(leaf, place, other, places)
        ):
            continue

        def is_told(one: Place, other: Leaf = other) -> bool:
            # two names may be the parts of one, in the order of their parameters: a make and its model
            (first, begins), (last, ends) = sorted([(place.span, leaf), (one.span, other)], key=lambda each: each[0])
            is_joined = not said.text[first.end : last.start].strip()
            is_one_name = (
                is_joined
                and (has_spaces or bool(leaf.parameter.parent))
                and heard.leaves.index(begins) < heard.leaves.index(ends)
            )
            return said.is_time(one.span) or is_one_name or owner_of(other, one, heard) == "own"

        if not any(map(is_told, places)):
            return other.parameter.name
    return ""


def _is_led(place: Place, said: Said) -> bool:
    """Whether what shall be written is quoted, or stands right behind a colon or a word that leads to it."""
    before = said.text[: place.span.start].rstrip()
    is_led = mark_words(said.language)["leads"].search(before) is not None
    return is_led or before[-1:] in (*signs(":"), *signs("{:}")) or is_announced(place.span, said)


def _is_listed(leaf: Leaf, other: Leaf, heard: Heard) -> bool:
    """Whether one of two names is a member of a list whose members are joined in the text, and the other is none."""
    lists = [one for one in (leaf, other) if one.path.endswith("]") and leaf.argument != other.argument]
    return any(is_joined(one, heard) for one in lists)


def is_joined(leaf: Leaf, heard: Heard) -> bool:
    """Whether nothing but what joins them stands between the members of a list of several."""
    rows = [row for row in heard.rows if row[0].argument == leaf.argument]
    spans = sorted(places[0].span for _, places in rows if places)
    joint, text = mark_words(heard.said.language)["joined"], heard.said.text
    gaps = [text[one.end : after.start].strip() for one, after in pairwise(spans)]
    return bool(gaps) and len(spans) == len(rows) and all(not gap or joint.fullmatch(gap) for gap in gaps)


def _are_alike(leaf: Leaf, other: Leaf, heard: Heard) -> bool:
    """Whether each could stand for the other by its looks: both with a capital or none, or a code where none is looked for."""
    if leaf.parameter.name == other.parameter.name or other.sort not in ("name", "code"):
        return False
    if is_written(other) and leaf.sort == "code":
        return False
    if is_written(other):
        places = next(places for row, places in heard.rows if row.path == other.path)
        return not puts_spaces(heard.said.language) and not any(_is_led(one, heard.said) for one in places)
    values = [str(one.value) for one in (leaf, other)]
    codes = [bool(_CODE.fullmatch(one)) for one in values]
    if codes[0] != codes[1]:
        # a code is what is called a number, a code or a time, where the other is not
        told = [one.parameter for one in (leaf, other)]
        return codes != [one.is_coded or is_timed(one) or "year" in split_name(one.name) for one in told]
    are_words = not any(codes) or all(one.islower() and " " not in one for one in values)
    article = mark_words(heard.said.language)["article"].pattern
    values = [re.sub(rf"^{article}\s+", "", one) for one in values]  # the Harpers
    has_case = all(one[:1].isupper() or one[:1].islower() for one in values)
    return are_words and (not has_case or values[0][:1].isupper() == values[1][:1].isupper())
