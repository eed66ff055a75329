"""Whether values stand in their roles: from here to there, old and new, start and end, each under its own name."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from pydantic import JsonValue

from callwright.language.cues import cue_words
from callwright.language.packs import widened
from callwright.language.plain_words import plain_words
from callwright.language.sentences import last_clause
from callwright.language.text import STOP, fold
from callwright.language.vocabulary import find_corrections
from callwright.language.wording import content_keys
from callwright.validators.readings.request_text import (
    ArgumentLeaf,
    ArgumentReading,
    RequestText,
    Span,
)
from callwright.validators.readings.value_readings import DAY_CLOCK, is_clock, is_day

Role = Literal["origin", "target"]
_ROLES: dict[Role, re.Pattern[str]] = {
    "origin": re.compile(
        "from|origin|departure|depart|source|src|sender|old|pickup|base|initial|start|origen|salida|desde"
    ),
    "target": re.compile(
        "to|target|destination|dest|arrival|recipient|receiver|new|dropoff|end|destino|llegada|hasta|destinatario"
    ),
}
_FIRST, _LAST = (
    re.compile("start|begin|from|checkin|first|depart|departure|pickup|since|inicio|desde"),
    re.compile("end|until|to|checkout|last|return|finish|dropoff|fin|hasta"),
)
_OLD, _NEW = re.compile("old|original|previous|current"), re.compile("new|target|alter|updated|changed|next")
_ROLE_BEFORE, _ROLE_AFTER, _NAME_AROUND, _UNIT_BEFORE = 40, 30, 40, 12  # characters
_WORDS_AROUND = 6  # characters
_CONTACT = re.compile("contact|caller|applicant|booker|sender|reporter|from|requester|user|username|account|nickname")
_WORDS_BEFORE, _WORD = 2, re.compile(r"\w+")
_BREAK, _JOINT = re.compile(widened(r"@[,.;!?{list}]|\band\b")), re.compile(widened(r"@[,.;:!?{list}]|\band\b"))


def read_roles(
    leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading], text: RequestText
) -> list[ArgumentReading]:
    """Hold the words around each value that is said against the role that its parameter's name gives it."""
    in_role = [_in_role(leaf, reading, leaves, text) for leaf, reading in zip(leaves, readings, strict=True)]
    kept = _by_elimination(leaves, readings, in_role)
    kept = _joined_to_others(leaves, readings, kept, text)
    kept = [_under_its_name(leaf, reading, text) for leaf, reading in zip(leaves, kept, strict=True)]
    kept = [_of_its_person(leaf, reading, text) for leaf, reading in zip(leaves, kept, strict=True)]
    return _in_order(leaves, kept, text)


def stamp_of(value: JsonValue) -> datetime | None:
    """The day, or the day and time, that a value is; None where it is neither."""
    whole = DAY_CLOCK.fullmatch(value) if isinstance(value, str) else None
    stated = f"{whole[1]}T{whole[2]}" if whole else str(value) if is_day(value) else ""
    try:
        return datetime.fromisoformat(stated).replace(tzinfo=UTC) if stated else None
    except ValueError:  # no day of the calendar
        return None


def _in_order(
    leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading], text: RequestText
) -> list[ArgumentReading]:
    """Doubt a start and an end that are both said, and in the other order."""
    kept = list(readings)
    timed = [at for at, leaf in enumerate(leaves) if is_clock(leaf.value) or stamp_of(leaf.value) is not None]
    for one in timed:
        for other in timed:
            is_pair = leaves[one].is_named(_FIRST) and leaves[other].is_named(_LAST) and not leaves[one].is_named(_LAST)
            if one == other or not is_pair or not kept[one].spans or not kept[other].spans:
                continue
            is_turned = str(leaves[one].value) > str(leaves[other].value)
            between = text.text[kept[other].spans[0].end : kept[one].spans[0].start]
            if not is_turned and re.search(r"[.!?](?:\s|$)", between):
                is_turned = True  # another sentence tells of another day
            if is_turned and kept[one].spans[0].start > kept[other].spans[0].start:
                reason = f"{leaves[one].name!r} is said after {leaves[other].name!r}."
                kept[one] = kept[one]._replace(grade="unproved", reason=reason)
    return kept


def _under_its_name(leaf: ArgumentLeaf, reading: ArgumentReading, text: RequestText) -> ArgumentReading:
    """Doubt a value before which the words name another parameter: "a duplicate of OPS-9" is what it is a duplicate of."""
    if (
        reading.grade != "proved"
        or not reading.spans
        or reading.spans[0].start >= text.own
        or isinstance(leaf.value, bool)
    ):
        return reading
    span = reading.spans[0]
    before = _JOINT.split(text.text[max(0, span.start - _NAME_AROUND) : span.start])[-1]
    keys = [
        key.deep for key in content_keys(before) if key.light != STOP and key.deep.isascii() and key.deep.isalpha()
    ][-_WORDS_BEFORE:]
    if (
        leaf.is_named(_NEW)
        and not leaf.is_named(_OLD)
        and text.has_cue("from_here", max(0, span.start - _UNIT_BEFORE), span.start)
    ):
        return reading._replace(grade="unproved", reason=f"{leaf.value!r} is what {leaf.name!r} takes the place of.")
    if is_clock(leaf.value) or stamp_of(leaf.value) is not None or not text.has_cue("names_it", 0, span.start):
        return reading
    if any(span.start - len(before) <= one.start < span.start for one in text.quantities):
        return reading
    after = {key.deep for key in content_keys(text.text[span.end : span.end + _UNIT_BEFORE]) if key.light != STOP}
    is_named = bool(leaf.naming & (after | set(keys)))
    if keys and set(keys) <= leaf.rival_names and not is_named:
        return reading._replace(
            grade="unproved", reason=f"{leaf.value!r} stands under another name than {leaf.name!r}."
        )
    return reading


def _of_its_person(leaf: ArgumentLeaf, reading: ArgumentReading, text: RequestText) -> ArgumentReading:
    """Doubt a name that the user states as their own where the wish is for somebody else, and one that owns what is meant."""
    if reading.grade != "proved" or not reading.spans or not isinstance(leaf.value, str) or leaf.is_named(_CONTACT):
        return reading
    first, last = reading.spans[0].start, reading.spans[-1].end
    is_own = text.has_cue("own_name", max(0, first - _UNIT_BEFORE), first) and text.has_cue("for_other", last)
    if is_own or text.has_cue("relative_of", last, last + _WORDS_AROUND):
        return reading._replace(grade="unproved", reason=f"{leaf.value!r} may not be the one that is meant.")
    return reading


def _in_role(
    leaf: ArgumentLeaf, reading: ArgumentReading, leaves: Sequence[ArgumentLeaf], text: RequestText
) -> ArgumentReading:
    """Hold the words around a value against the role that its parameter's name gives it: from here, to there."""
    role = _role_of(leaf)
    if role is None or reading.grade != "proved" or not reading.spans or stamp_of(leaf.value) or is_clock(leaf.value):
        return reading
    if reading.spans[0].start >= text.own:  # in a message: the words that point to it are somewhere else
        return reading
    if not any(other is not leaf and isinstance(other.value, str) and _role_of(other) for other in leaves):
        return reading
    if _is_named(leaf, reading.spans[0], text):
        return reading
    stated = _roles_stated(text, reading.spans[0])
    if role in stated or (not stated and _takes_the_place(leaf, reading.spans[0], role, text)):
        return reading
    if stated:
        reason = f"{leaf.value!r} is worded as the {next(iter(stated))}, not the {role}."
        return reading._replace(grade="contradicted", reason=reason)
    return reading._replace(grade="unproved", reason=f"Nothing says that {leaf.value!r} is the {role}.")


def _by_elimination(
    leaves: Sequence[ArgumentLeaf], before: Sequence[ArgumentReading], in_role: Sequence[ArgumentReading]
) -> list[ArgumentReading]:
    """Prove the one value of two whose role nothing says, where the other one's is said: "from euros, currency rupees"."""
    kept = list(in_role)
    with_role = [at for at, leaf in enumerate(leaves) if isinstance(leaf.value, str) and _role_of(leaf)]
    is_pair = len(with_role) == 2 and len({_role_of(leaves[at]) for at in with_role}) == 2  # noqa: PLR2004
    for mine, other in (with_role, with_role[::-1]) if is_pair else ():
        lost_role = before[mine].grade == "proved" and in_role[mine].grade == "unproved"
        if lost_role and in_role[other].grade == "proved" and in_role[other].spans:
            kept[mine] = before[mine]
    return kept


def _joined_to_others(
    leaves: Sequence[ArgumentLeaf],
    before: Sequence[ArgumentReading],
    in_role: Sequence[ArgumentReading],
    text: RequestText,
) -> list[ArgumentReading]:
    """Give a member of a list the role of the one before it that it is joined to: "to Ann and Ben"."""
    kept = list(in_role)
    for at in range(1, len(leaves)):
        is_lost = before[at].grade == "proved" and kept[at].grade == "unproved" and before[at].spans
        if (
            is_lost
            and leaves[at].argument == leaves[at - 1].argument
            and kept[at - 1].grade == "proved"
            and kept[at - 1].spans
        ):
            between = text.text[kept[at - 1].spans[-1].end : before[at].spans[0].start]
            if plain_words(text.language).listing.fullmatch(between):
                kept[at] = before[at]
    return kept


def _is_named(leaf: ArgumentLeaf, span: Span, text: RequestText) -> bool:
    """Whether the words beside a value name its parameter, by a word that no other argument's description has."""
    before = text.text[max(0, span.start - _NAME_AROUND) : span.start]
    after = text.text[span.end : span.end + _NAME_AROUND]
    beside = f"{text.question} {_BREAK.split(before)[-1]} {_BREAK.split(after)[0]}"
    return _names(leaf, beside)


def _names(leaf: ArgumentLeaf, words: str) -> bool:
    """Whether words name a parameter: by a word of its own, or by its whole description, which no other one's holds."""
    stated, whole = fold(words), fold(leaf.description).strip()
    is_own = bool(whole) and all(whole not in fold(description) for _, description in leaf.others)
    return (is_own and whole in stated) or any(key.deep in leaf.naming for key in content_keys(words))


def _takes_the_place(leaf: ArgumentLeaf, span: Span, role: Role, text: RequestText) -> bool:
    """Whether a value takes back one of its role: "to Boston; sorry, make that Seattle"."""
    mark = next((one for one in reversed(find_corrections(text.text)) if one.start < span.start), None)
    if mark is None:
        return False
    if _names(leaf, text.text[mark.start : span.start]):
        return True
    before, patterns = text.text[: mark.start], cue_words(text.language).patterns
    roles: tuple[Role, ...] = ("origin", "target")
    stated = {one for one in roles for word in _WORD.finditer(before) if patterns[one].search(before[: word.start()])}
    return stated == {role}


def _role_of(leaf: ArgumentLeaf) -> Role | None:
    return next(
        (role for role, pattern in _ROLES.items() if isinstance(leaf.value, str) and leaf.is_named(pattern)), None
    )


def _roles_stated(text: RequestText, span: Span) -> set[Role]:
    """What the words around a value make of it; the unit of an amount is what it comes from."""
    before = last_clause(text.text[max(0, span.start - _ROLE_BEFORE) : span.start])
    after = text.text[span.end : span.end + _ROLE_AFTER]
    patterns = cue_words(text.language).patterns
    if patterns["origin_place"].search(before):
        return {"origin"}
    if any(one.number_end <= span.start < one.end and one.unit for one in text.quantities):
        return {"origin"}
    stated: set[Role] = (
        {"target"} if patterns["target"].search(before) or patterns["asked_for"].search(before) else set()
    )
    return stated | (
        {"origin"} if patterns["origin"].search(before) or patterns["origin_after"].search(after) else set()
    )
