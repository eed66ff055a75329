"""Defects of gold arguments: a value that nobody said, one too few, one too many, two exchanged."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from itertools import pairwise
from random import Random

from pydantic import JsonValue

from callwright.validators.audit.editing import with_arguments
from callwright.validators.audit.subjects import ArgumentPlace, AuditSubject, Injection, Injector, pick, pick_if_any
from callwright.warehouse.records import Arguments, CallTurn, GoldCall, Sample

_DATE = re.compile(r"^(\d{4})-(\d\d)-(\d\d)(?=$|[ T])")
_CLOCK = re.compile(r"(?<!\d)([01]\d|2[0-3]):([0-5]\d)(?!\d)")
_NOON, _DAY, _MONTHS = 12, 24, 12

ValueChange = Callable[[ArgumentPlace, AuditSubject, Random], Sequence[JsonValue]]


def with_value(sample: Sample, place: ArgumentPlace, value: JsonValue) -> Sample:
    """The sample with another value for an argument, at every snapshot that has the old one; its evidence stays."""
    return _with_others(sample, place, lambda arguments: {**arguments, place.name: value})


def _with_others(sample: Sample, place: ArgumentPlace, changed: Callable[[Arguments], Arguments]) -> Sample:
    """The sample with other arguments at every snapshot that has the value of the place, from the same words."""

    def has(call: GoldCall) -> bool:
        is_same = call.tool == place.call.tool and place.evidence in call.evidence
        return is_same and call.arguments.get(place.name) == place.value

    return with_arguments(sample, has, changed)


def _without(arguments: Arguments, name: str) -> Arguments:
    return {one: value for one, value in arguments.items() if one != name}


def _changing(change: ValueChange) -> Injection:
    """Another value for some argument, one of those that `change` offers and nobody says."""

    def inject(subject: AuditSubject, rng: Random) -> Sample | None:
        places = list(_last_places(subject))
        rng.shuffle(places)
        for place in places:
            options = [value for value in change(place, subject, rng) if _is_stated_nowhere(value, place, subject)]
            if options:
                return with_value(subject.sample, place, rng.choice(options))
        return None

    return inject


def _last_places(subject: AuditSubject) -> Iterator[ArgumentPlace]:
    """The arguments of the calls that count in the end; of what was executed all."""
    places = list(subject.places())
    last = places[-1].turn if places else -1
    return (place for place in places if subject.traits.is_executed or place.turn == last)


def _is_stated_nowhere(value: JsonValue, place: ArgumentPlace, subject: AuditSubject) -> bool:
    if type(value) is not type(place.value) or value == place.value:
        return False
    return not isinstance(value, str) or value.casefold() not in subject.words


def _value_of_other(place: ArgumentPlace, subject: AuditSubject, _rng: Random) -> Sequence[JsonValue]:
    return [one.value for one in subject.others(place)]


def _number_off(place: ArgumentPlace, _subject: AuditSubject, _rng: Random) -> Sequence[JsonValue]:
    value = place.value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return []
    least = place.schema.get("minimum", 0)
    return [value + step for step in (1, -1) if least <= value + step]


def _magnitude_off(place: ArgumentPlace, _subject: AuditSubject, _rng: Random) -> Sequence[JsonValue]:
    value = place.value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value:
        return []
    return [value * 10] + ([value // 10] if isinstance(value, int) and value >= 10 else [])  # noqa: PLR2004


def _digit_changed(place: ArgumentPlace, _subject: AuditSubject, rng: Random) -> Sequence[JsonValue]:
    value = place.value
    if not isinstance(value, str) or _DATE.match(value) or _CLOCK.search(value):
        return []
    digits = [at for at, letter in enumerate(value) if letter.isdecimal()]
    at = pick_if_any(digits, rng)
    return [] if at is None else [f"{value[:at]}{(int(value[at]) + rng.randint(1, 9)) % 10}{value[at + 1 :]}"]


def _letters_changed(place: ArgumentPlace, _subject: AuditSubject, rng: Random) -> Sequence[JsonValue]:
    """One letter of a code that has digits and letters."""
    value = place.value
    if not isinstance(value, str) or not any(letter.isdecimal() for letter in value) or " " in value:
        return []
    capitals = [at for at, letter in enumerate(value) if "A" <= letter <= "Z"]
    at = pick_if_any(capitals, rng)
    return [] if at is None else [f"{value[:at]}{chr((ord(value[at]) - 64) % 26 + 65)}{value[at + 1 :]}"]


def _dates(place: ArgumentPlace) -> Iterator[tuple[date, str]]:
    """The day that a value begins with, and the rest of it."""
    found = _DATE.match(place.value) if isinstance(place.value, str) else None
    if found:
        yield date(int(found[1]), int(found[2]), int(found[3])), found.string[found.end() :]


def _day_shifted(place: ArgumentPlace, _subject: AuditSubject, _rng: Random) -> Sequence[JsonValue]:
    return [f"{day + timedelta(days=step)}{rest}" for day, rest in _dates(place) for step in (1, -1, 7, -7)]


def _month_and_day_exchanged(place: ArgumentPlace, _subject: AuditSubject, _rng: Random) -> Sequence[JsonValue]:
    return [
        f"{day.replace(month=day.day, day=day.month)}{rest}"
        for day, rest in _dates(place) if day.day <= _MONTHS and day.day != day.month
    ]  # fmt: skip


def _year_shifted(place: ArgumentPlace, _subject: AuditSubject, _rng: Random) -> Sequence[JsonValue]:
    """Only where the year is said."""
    found = ((day, rest) for day, rest in _dates(place) if str(day.year) in place.evidence.quote)
    return [
        f"{day.year + step}{str(day)[4:]}{rest}" for day, rest in found if str(day)[5:] != "02-29" for step in (1, -1)
    ]


def _half_day_off(place: ArgumentPlace, _subject: AuditSubject, _rng: Random) -> Sequence[JsonValue]:
    found = _CLOCK.search(place.value) if isinstance(place.value, str) else None
    if not found:
        return []
    hour = (int(found[1]) + _NOON) % _DAY
    return [f"{found.string[: found.start()]}{hour:02}:{found[2]}{found.string[found.end() :]}"]


def _hour_off(place: ArgumentPlace, _subject: AuditSubject, _rng: Random) -> Sequence[JsonValue]:
    found = _CLOCK.search(place.value) if isinstance(place.value, str) else None
    if not found:
        return []
    before, after = found.string[: found.start()], found.string[found.end() :]
    minutes = [int(found[1]) * 60 + int(found[2]) + step for step in (60, -60, 30, -30)]
    return [f"{before}{at // 60:02}:{at % 60:02}{after}" for at in minutes if 0 <= at < _DAY * 60]


def _neighbour_choice(place: ArgumentPlace, _subject: AuditSubject, _rng: Random) -> Sequence[JsonValue]:
    choices: list[JsonValue] = place.schema.get("enum", [])
    return [choice for choice in choices if choice != place.value] if place.value in choices else []


def _flag_flipped(place: ArgumentPlace, _subject: AuditSubject, _rng: Random) -> Sequence[JsonValue]:
    return [not place.value] if isinstance(place.value, bool) else []


def _cut_short(place: ArgumentPlace, _subject: AuditSubject, _rng: Random) -> Sequence[JsonValue]:
    """A free text without its last words; enums, codes and dates have no part in it."""
    value = place.value
    if not isinstance(value, str) or "enum" in place.schema or len(value.split()) < 4:  # noqa: PLR2004
        return []
    words = value.split()
    return [" ".join(words[: len(words) // 2])]


def _type_changed(subject: AuditSubject, rng: Random) -> Sample | None:
    """A number as text."""
    places = [
        place for place in _last_places(subject) if isinstance(place.value, int) and not isinstance(place.value, bool)
    ]
    place = pick(places, rng)
    return with_value(subject.sample, place, str(place.value))


def _of_lists(
    change: Callable[[list[JsonValue], ArgumentPlace, AuditSubject, Random], list[JsonValue] | None],
) -> Injection:
    """Another list for an argument that is one."""

    def inject(subject: AuditSubject, rng: Random) -> Sample | None:
        lists = [place for place in _listed(subject) if isinstance(place.value, list)]
        rng.shuffle(lists)
        for place in lists:
            changed = change(list(place.value), place, subject, rng) if isinstance(place.value, list) else None
            if changed is not None and changed != place.value:
                return with_value(subject.sample, place, changed)
        return None

    return inject


def _listed(subject: AuditSubject) -> Iterator[ArgumentPlace]:
    """The arguments that are lists at the last turn with calls; their evidence may be for members alone."""
    for at, turn in subject.call_turns[-1:]:
        for position, call in enumerate(turn.calls):
            tool = subject.candidates.get(call.tool)
            for name in call.arguments if tool else ():
                evidence = next((one for one in call.evidence if one.argument.startswith(name)), None)
                if tool and evidence and name in tool.properties:
                    yield ArgumentPlace(at, position, call, name, evidence, tool.properties[name])


def _item_dropped(
    items: list[JsonValue], _place: ArgumentPlace, _subject: AuditSubject, rng: Random
) -> list[JsonValue] | None:
    at = rng.randrange(len(items)) if len(items) > 1 else None
    return None if at is None else items[:at] + items[at + 1 :]


def _item_added(
    items: list[JsonValue], place: ArgumentPlace, subject: AuditSubject, rng: Random
) -> list[JsonValue] | None:
    other = pick_if_any(_other_items(items, place, subject), rng)
    return None if other is None else [*items, other]


def _item_exchanged(
    items: list[JsonValue], place: ArgumentPlace, subject: AuditSubject, rng: Random
) -> list[JsonValue] | None:
    other = pick_if_any(_other_items(items, place, subject), rng)
    at = rng.randrange(len(items)) if items else None
    return None if other is None or at is None else [*items[:at], other, *items[at + 1 :]]


def _other_items(items: list[JsonValue], place: ArgumentPlace, subject: AuditSubject) -> list[JsonValue]:
    """Members that other samples' lists of this parameter have, or its schema, and nobody says here."""
    listed: list[JsonValue] = list(place.schema.get("items", {}).get("enum", []))
    pooled = subject.pool.calls.get((subject.sample.language, place.call.tool), [])
    for call in pooled:
        other = call.arguments.get(place.name)
        listed += other if isinstance(other, list) else []
    return [one for one in listed if one not in items and str(one).casefold() not in subject.words]


def _dropping(*, required: bool) -> Injection:
    """A call without an argument that the conversation gives: at every snapshot of the same call."""

    def inject(subject: AuditSubject, rng: Random) -> Sample | None:
        places = [
            place for place in _last_places(subject)
            if (place.name in subject.candidates[place.call.tool].required) is required
            and place.value != place.schema.get("default")
        ]  # fmt: skip
        place = pick(places, rng)
        return _with_others(subject.sample, place, lambda arguments: _without(arguments, place.name))

    return inject


def _added(subject: AuditSubject, rng: Random) -> Sample | None:
    """An optional argument that nobody says: a value of another sample, or a choice of its schema."""
    options: list[tuple[GoldCall, str, JsonValue]] = []
    for _, turn in subject.call_turns[-1:]:
        for call in turn.calls:
            options += [(call, name, value) for name, value in _absent(call, subject)]
    call, name, value = pick(options, rng)
    return with_arguments(subject.sample, lambda one: one == call, lambda arguments: {**arguments, name: value})


def _absent(call: GoldCall, subject: AuditSubject) -> Iterator[tuple[str, JsonValue]]:
    tool = subject.candidates.get(call.tool)
    for name, schema in tool.properties.items() if tool else ():
        if name in call.arguments:
            continue
        choices = [choice for choice in schema.get("enum", []) if choice != schema.get("default")]
        pooled = subject.pool.values.get((subject.sample.language, call.tool, name), [])
        for value in choices or [one.value for one in pooled]:
            if str(value).casefold() not in subject.words:
                yield name, value


def _exchanged(subject: AuditSubject, rng: Random) -> Sample | None:
    """Two arguments of one call, of like type, have each other's values."""
    pairs: list[tuple[GoldCall, str, str]] = []
    for _, turn in subject.call_turns:
        for call in turn.calls:
            names = sorted(call.arguments)
            pairs += [
                (call, one, other)
                for at, one in enumerate(names) for other in names[at + 1 :]
                if _is_exchangeable(call, one, other, subject)
            ]  # fmt: skip
    call, one, other = pick(pairs, rng)
    first, second = call.arguments[one], call.arguments[other]

    def has(found: GoldCall) -> bool:
        return found.tool == call.tool and found.arguments.get(one) == first and found.arguments.get(other) == second

    return with_arguments(subject.sample, has, lambda arguments: {**arguments, one: second, other: first})


def _is_exchangeable(call: GoldCall, one: str, other: str, subject: AuditSubject) -> bool:
    """Whether schemas allow it: both are of one type, and neither has choices or a form of its own."""
    tool = subject.candidates.get(call.tool)
    if tool is None or one not in tool.properties or other not in tool.properties:
        return False
    first, second = tool.properties[one], tool.properties[other]
    alike = all(first.get(key) == second.get(key) for key in ("type", "enum", "format", "pattern"))
    return alike and call.arguments[one] != call.arguments[other] and not isinstance(call.arguments[one], bool)


def _of_another_user(subject: AuditSubject, rng: Random) -> Sample | None:
    """All arguments of a call are those of another sample's call of the tool."""
    options: list[tuple[GoldCall, GoldCall]] = []
    for _, turn in subject.call_turns[-1:]:
        for call in turn.calls:
            pooled = subject.pool.calls.get((subject.sample.language, call.tool), [])
            options += [
                (call, other) for other in pooled
                if other.arguments.keys() == call.arguments.keys() and other.arguments != call.arguments
                and all(str(value).casefold() not in subject.words for value in other.arguments.values())
            ]  # fmt: skip
    own, other = pick(options, rng)
    return with_arguments(subject.sample, lambda call: call == own, lambda _arguments: other.arguments)


def _behind(subject: AuditSubject, rng: Random) -> Sample | None:
    """A snapshot lacks what the turn before it gives; the next one has it."""
    turns = subject.call_turns
    options = [
        (at, name)
        for (at, turn), (_, later) in pairwise(turns)
        for name in turn.calls[0].arguments
        if _is_one(turn, later) and name in later.calls[0].arguments
    ]
    if subject.traits.is_executed:
        return None
    at, name = pick(options, rng)
    call = dict(turns)[at].calls[0]
    return with_arguments(subject.sample, lambda one: one is call, lambda arguments: _without(arguments, name))


def _ahead(subject: AuditSubject, rng: Random) -> Sample | None:
    """A snapshot has what only the turn after it gives."""
    turns = subject.call_turns
    options = [
        (turn.calls[0], name, later.calls[0].arguments[name])
        for (_, turn), (_, later) in pairwise(turns)
        if _is_one(turn, later)
        for name in later.calls[0].arguments if name not in turn.calls[0].arguments
    ]  # fmt: skip
    if subject.traits.is_executed:
        return None
    call, name, value = pick(options, rng)
    return with_arguments(subject.sample, lambda one: one is call, lambda arguments: {**arguments, name: value})


def _is_one(turn: CallTurn, later: CallTurn) -> bool:
    return len(turn.calls) == len(later.calls) == 1 and turn.calls[0].tool == later.calls[0].tool


def _taken_back(subject: AuditSubject, rng: Random) -> Sample | None:
    """The gold has a value that was taken back: that of a snapshot before, or another one that stands in the turn."""
    if not subject.traits.has_correction:
        return None
    options: list[tuple[ArgumentPlace, JsonValue]] = []
    for place in subject.places():
        earlier = [
            call.arguments[place.name] for at, turn in subject.call_turns if at < place.turn
            for call in turn.calls if place.name in call.arguments
        ]  # fmt: skip
        options += [(place, value) for value in earlier if value != place.value]
        options += [(place, value) for value in _stated_besides(place, subject)]
    return with_value(subject.sample, *pick(options, rng))


def _stated_besides(place: ArgumentPlace, subject: AuditSubject) -> Iterator[JsonValue]:
    """Values that other samples have for the parameter and that stand in the very turn of the gold value, before it."""
    evidence = place.evidence
    turn = dict(subject.user_turns).get(-1 if evidence.turn is None else evidence.turn)
    before = turn.text[: evidence.start].casefold() if turn and place.is_stated else ""
    for one in subject.pool.values_by_name.get((subject.sample.language, place.name), []):
        is_other = one.value != place.value and type(one.value) is type(place.value)
        if is_other and len(one.quote) > 1 and one.quote.casefold() in before:
            yield one.value


INJECTORS = (
    Injector("value_of_other", "a gold value is that of another sample", _changing(_value_of_other)),
    Injector("number_off_by_one", "a gold number is one too many or too few", _changing(_number_off)),
    Injector("magnitude_off", "a gold number is ten times too large or too small", _changing(_magnitude_off)),
    Injector("digit_changed", "a gold code or text has another digit", _changing(_digit_changed)),
    Injector("letter_changed", "a gold code has another letter", _changing(_letters_changed)),
    Injector("day_shifted", "a gold date is a day or a week off", _changing(_day_shifted)),
    Injector(
        "month_and_day_exchanged", "month and day of a gold date are exchanged", _changing(_month_and_day_exchanged)
    ),
    Injector("year_shifted", "a gold date is a year off though its year is said", _changing(_year_shifted)),
    Injector("half_day_off", "a gold time is twelve hours off", _changing(_half_day_off)),
    Injector("hour_off", "a gold time is an hour or half an hour off", _changing(_hour_off)),
    Injector("neighbour_choice", "the gold has another choice of the schema", _changing(_neighbour_choice)),
    Injector("flag_flipped", "a gold flag is the other way round", _changing(_flag_flipped)),
    Injector("text_cut_short", "a gold text lacks its second half", _changing(_cut_short)),
    Injector("number_as_text", "a gold number is text", _type_changed),
    Injector("item_dropped", "a gold list lacks a member", _of_lists(_item_dropped)),
    Injector("item_added", "a gold list has a member too many", _of_lists(_item_added)),
    Injector("item_exchanged", "a gold list has another member", _of_lists(_item_exchanged)),
    Injector("optional_argument_dropped", "an optional argument that is said is missing", _dropping(required=False)),
    Injector("required_argument_dropped", "a required argument that is said is missing", _dropping(required=True)),
    Injector("argument_added", "an optional argument that nobody says is there", _added),
    Injector("arguments_exchanged", "two arguments have each other's values", _exchanged),
    Injector("values_of_another_user", "all arguments are those of another sample", _of_another_user),
    Injector("snapshot_behind", "a snapshot lacks what was said before it", _behind),
    Injector("snapshot_ahead", "a snapshot has what is said only later", _ahead),
    Injector("value_taken_back", "the gold has a value that the user took back", _taken_back),
)
