"""Evidence: where the values of a call were said, or what they were derived from.

It is found, not proved: readers judge the words.

Each value of a call has one standing. It is `said` if the user's words contain it, exactly or by
a named normalisation; `derived` if code can tell where it comes from: a result, a default, the
system message, an earlier call; `contradicted` if the words name exactly one day, time or amount
of its kind, and it is another one in every reading; else `not_said`. For "A table for two on
Friday, please":

    people = 2             said (normalised: number)
    date = "2027-06-04"    said if that is a Friday (normalised: weekday), else contradicted
    currency = "EUR"       derived if it is the parameter's default, else not_said
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.generators.multi_step.samples import schema_of
from callwright.language.dates import find_dates, find_moment, find_times, says_date, says_time
from callwright.language.names import split_name
from callwright.language.numbers import PERCENT, find_numbers
from callwright.language.packs import packs_of, signs
from callwright.language.readers.counted_days import find_counted_day, find_steps
from callwright.language.readers.mentions import (
    Amount,
    Moment,
    converted,
    dimension_of,
    find_amounts,
    find_moments,
    is_about,
    says_with_unit,
    unit_of,
    words_around,
)
from callwright.language.text import (
    STOP,
    VERBATIM,
    FoldedWord,
    Found,
    empty,
    fold,
    folded,
    stem,
    words_of,
)
from callwright.language.values import ANSWERED, locate
from callwright.language.values import is_about as is_asked_about
from callwright.language.wording import GROUPING, find_phrase
from callwright.validators.origins import (
    Claim,
    by_earlier_call,
    by_rule,
    claims_of,
    find_elsewhere,
    root_of,
)
from callwright.warehouse.records import (
    DEFAULT_LANGUAGE,
    Evidence,
    GoldCall,
    Language,
    ReplyTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

Standing = Literal["said", "derived", "not_said", "contradicted"]
# the weakest first
STANDINGS: tuple[Standing, ...] = ("contradicted", "not_said", "derived", "said")
# the evidence of what is said; any other tells what a value is derived from
SAID = ("span", "normalised")
TOPIC, WORDS, CODE, UNIT = "topic", "words", "spacing of a code", "unit conversion"
LIST, TURNS, TIME = "list", "list over several turns", "time of day"
COUNTED = "counted from a day"
_DAY_RULES = {
    "dated": "date",
    "yearless": "date without a year",
    "monthless": "day of the month",
    "weekday": "weekday",
    "counted": "relative day",
    "loose": "day",
}
_MOMENT = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)?(?:(?<=\d)[T"
    r" ](?=\d))?(?P<clock>\d\d:\d\d)?(?:(?<=:\d\d):00(?:\.0+)?)?(?P<zone>Z|[+-]\d\d:?\d\d)?"
)
_NOW = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2})?")
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_FEW_WORDS = re.compile(r"\W*(?:\w+\W+){0,2}")  # what may stand between "today" and its date
_GAP_IN_CODE = r"[\s\-‐‑–—./()_·]{0,2}"
_INTERNATIONAL = re.compile(r"(?:\+|00)[\d\s().-]{8,20}")
_COUNTRY_CODES = (1, 2, 3)  # digits
_SHORTEST_NATIONAL = 7
_THOUSAND = 1000
_DAY_FIRST = re.compile(r"(?P<day>\d{1,2})(?P<sign>[./-])(?P<month>\d{1,2})[./-](?P<year>\d{4})")
_CLAUSE_END = re.compile(rf"[.!?;,](?=\s|$)|[\n{signs('{.!?,}{list}')}]")
_MOST_WORDS_BESIDE = 4  # of a clause that says which day it is
_CYRILLIC = re.compile("[\u0430-\u0457]")  # whose words are declined
_LONGEST_ENDING = 3
_HANGUL = re.compile("[\u1100-\u11ff]")  # its words take endings; folding takes them apart
_FINAL_CONSONANT = re.compile("[\u11a8-\u11ff]")  # what closes a syllable
_SHORTEST_CODE = 4  # letters and digits; a shorter one stands in other words by chance
_CODE_CHARACTER = re.compile(r"[A-Za-z_]")
_HALF = 0.5
_WORD_BEFORE, _WORD_BEHIND = re.compile(r"\w+\W{0,2}\Z"), re.compile(r"\W{0,2}\w+")
_LETTERS = re.compile(r"[^\W\d_]+")
_ROUNDING = 1e-6
_MOST_CHARACTERS_BETWEEN = 20  # for words that say a value together


class UserText(NamedTuple):
    """A text by the user, a turn's words or its external message, and the question it answers."""

    turn: int
    text: str
    in_message: bool = False
    question: str = ""


class Scene(NamedTuple):
    """What precedes calls: turns, system message, time and tools; `calls` are made together."""

    turns: Sequence[Turn]
    calls: Sequence[GoldCall]
    tools: Mapping[str, Tool]
    language: Language
    system: str = ""
    now: datetime | None = None

    def with_reference_day(self) -> "Scene":
        """Return the scene with the day that it is, as the user or the system message says.

        Such words are "today is May 5th", or a short clause of the system message with its only
        date and that date's weekday or a label before it.
        """
        for text in (*(one.text for one in stated_in(self.turns)), self.system):
            if text and words_around("reference_day").search(text):
                for day, start, end in _dated(text, self):
                    if _is_reference(start, end, text):
                        now = datetime.fromisoformat(day).replace(tzinfo=UTC)
                        # "today is Monday" of a Wednesday: nobody knows which day it is
                        is_sure = not _has_other_weekday(day, start, end, text, self.language)
                        return self._replace(now=now if is_sure else None)
        labelled = _labelled_day(self)
        return self._replace(now=labelled) if labelled and self.now is None else self


class ValueFound(NamedTuple):
    """How a value of a call stands, with its evidence or a sentence that speaks against it.

    `is_undeclared`: its tool has no such parameter. `against` are the words that contradict it.
    """

    claim: Claim
    standing: Standing
    evidence: Evidence | None = None
    reason: str = ""
    is_undeclared: bool = False
    against: "Contradiction | None" = None


class Contradiction(NamedTuple):
    """The words that say another value: of another unit, or another day, time or amount.

    `expected` is the value that they say, None where it is not sure.
    """

    sort: Literal["unit", "day", "time", "amount"]
    words: str
    expected: JsonValue = None


def find_in_sample(sample: Sample, tools: Sequence[Tool]) -> Iterator[tuple[int, ValueFound]]:
    """Yield how each value of each snapshot's calls stands, with the turn of the calls.

    An unknown tool has no values.
    """
    whole = scene_of(sample, tools)
    for snapshot in sample.snapshots():
        scene = whole._replace(turns=snapshot.prefix, calls=snapshot.calls)
        yield from ((snapshot.turn, found) for found in find_in_calls(scene))


def scene_of(sample: Sample, tools: Sequence[Tool]) -> Scene:
    """Return the scene of a whole conversation, without a due call."""
    stated = sample.facts.reference_time
    now = datetime.fromisoformat(stated).replace(tzinfo=UTC) if _NOW.fullmatch(stated) else None
    return Scene(
        sample.turns,
        (),
        {tool.name: tool for tool in tools},
        sample.language,
        sample.system_message,
        now,
    )


def find_in_calls(scene: Scene) -> Iterator[ValueFound]:
    """Yield the standing of each value in the calls of a scene.

    A parameter that its tool does not declare counts as contradicted.
    """
    scene = scene.with_reference_day()
    for call in scene.calls:
        tool = scene.tools.get(call.tool)
        if tool is None:
            continue
        for name, value in call.arguments.items():
            if name in tool.properties:
                for claim in claims_of(name, value, call, tool):
                    yield from _find_standing(claim, scene)
            else:
                reason = f"The tool {call.tool!r} declares no parameter {name!r}."
                yield ValueFound(
                    Claim(name, value, {}, None, call),
                    "contradicted",
                    reason=reason,
                    is_undeclared=True,
                )


def weakest_standings(found: Iterable[ValueFound]) -> dict[str, Standing]:
    """Return for each argument the standing of its weakest value."""
    return weakest_of((root_of(one.claim.name), one.standing) for one in found)


def weakest_of(standings: Iterable[tuple[str, Standing]]) -> dict[str, Standing]:
    """Return the weakest standing of each name."""
    weakest: dict[str, Standing] = {}
    for name, standing in standings:
        weakest[name] = min(weakest.get(name, standing), standing, key=STANDINGS.index)
    return weakest


def _find_standing(claim: Claim, scene: Scene) -> Iterator[ValueFound]:
    texts = stated_in(scene.turns)
    # The first source that explains the value counts: what its generator declared and code can
    # follow, then the user's words, and only then what may hold the same value by chance.
    evidence = (
        by_earlier_call(claim, scene.calls, scene.tools)
        or by_rule(claim, scene.turns)
        or find_said(claim, texts, scene)
        or find_elsewhere(claim, scene.turns)
        or _find_in_context(claim, scene)
    )
    members = [*_members(claim)] if evidence is None else []
    if evidence:
        standing: Standing = "said" if evidence.kind in SAID else "derived"
        yield ValueFound(claim, standing, evidence)
    elif members:
        for member in members:
            yield from _find_standing(member, scene)
    elif against := _find_contradiction(claim, texts, scene):
        reason = f"{against.words!r} says another value than {claim.name} = {claim.value!r}."
        yield ValueFound(claim, "contradicted", reason=reason, against=against)
    else:
        yield ValueFound(claim, "not_said", reason=f"Nothing says {claim.name} = {claim.value!r}.")


# --- what was said


def stated_in(turns: Sequence[Turn]) -> list[UserText]:
    """Return everything that the user said or handed over, latest first."""
    texts: list[UserText] = []
    question = ""
    for index, turn in enumerate(turns):
        if isinstance(turn, ReplyTurn):
            question = turn.text
        elif isinstance(turn, UserTurn):
            texts.append(UserText(index, turn.text, question=question))
            if turn.external:
                texts.append(UserText(index, turn.external.text, in_message=True))
    return texts[::-1]


def find_said(claim: Claim, texts: Sequence[UserText], scene: Scene) -> Evidence | None:
    """Return where one of these texts says a value, first where its generator put it, or None."""
    for one in sorted(texts, key=lambda text: not _is_hinted(claim, text)):
        found = _find_hinted(claim, one) or _find(claim, one, scene)
        if found:
            return _evidence(claim.name, found, one)
    members = [find_said(member, texts, scene) for member in _members(claim)]
    found_members = [one for one in members if one is not None]
    if not found_members or len(found_members) < len(members):
        return None
    last = max(found_members, key=lambda one: one.turn or 0)
    return last.with_changes(argument=claim.name, kind="normalised", rule=TURNS)


def _evidence(name: str, found: Found, text: UserText) -> Evidence:
    """Return the evidence for an argument from where its value was found in a text."""
    return Evidence(
        argument=name,
        kind="span" if found.rule == VERBATIM else "normalised",
        turn=text.turn,
        start=found.start,
        end=found.end,
        quote=text.text[found.start : found.end],
        in_message=text.in_message,
        rule=found.rule,
    )


def _is_hinted(claim: Claim, text: UserText) -> bool:
    hint = claim.hint
    return hint is not None and (hint.turn, hint.in_message) == (text.turn, text.in_message)


def _find_hinted(claim: Claim, text: UserText) -> Found | None:
    """Return where the generator put the value, if the text there says it by any reading."""
    hint = claim.hint
    if hint is None or not _is_hinted(claim, text) or hint.start is None or hint.end is None:
        return None
    if not 0 <= hint.start < hint.end <= len(text.text):
        return None
    mention = locate(claim.value, claim.schema, text.text[hint.start : hint.end])
    if mention is None or (
        mention.rule == ANSWERED and not is_asked_about(claim.schema, text.question)
    ):
        return None
    return mention._replace(start=mention.start + hint.start, end=mention.end + hint.start)


def _members(claim: Claim) -> Iterator[Claim]:
    """Yield the values within a list or an object as separate claims."""
    value, schema = claim.value, claim.schema
    if isinstance(value, list):
        items = {"description": schema.get("description", ""), **(schema.get("items") or {})}
        yield from (
            claim._replace(name=f"{claim.name}[{at}]", value=one, schema=items, hint=None)
            for at, one in enumerate(value)
        )
    elif isinstance(value, dict):
        known = schema.get("properties") or {}
        for name, member in value.items():
            yield claim._replace(
                name=f"{claim.name}.{name}", value=member, schema=known.get(name) or {}, hint=None
            )


def _find(claim: Claim, text: UserText, scene: Scene) -> Found | None:
    """Return where a text says a value, exactly or by a named normalisation."""
    value = claim.value
    if isinstance(value, bool):
        return _find_topic(claim, text)
    if isinstance(value, int | float):
        return _find_number(float(value), claim, text.text, scene)
    if isinstance(value, str) and value.strip():
        return _find_text(value, claim, text.text, scene)
    hits = [_find(member, text, scene) for member in _members(claim)]
    mentions = [one for one in hits if one is not None]
    if not mentions or len(mentions) < len(hits):
        return None
    rule = mentions[0].rule if len(mentions) == 1 else LIST
    return Found(value, min(one.start for one in mentions), max(one.end for one in mentions), rule)


def _find_topic(claim: Claim, text: UserText) -> Found | None:
    """Return where a text speaks of a boolean, by its name or in an answer about it, or None."""
    topic_stems = [
        stem(one)
        for one in split_name(claim.parameter)
        if one not in empty(packs_of(claim.parameter))
    ]
    hits = [word for word in words_of(text.text).row if stem(word.text) in topic_stems]
    if hits and len({stem(one.text) for one in hits}) >= _HALF * len(topic_stems):
        return Found(claim.value, hits[0].start, hits[0].end, TOPIC)
    found = locate(claim.value, claim.schema, text.text)
    if found and found.rule == ANSWERED and is_asked_about(claim.schema, text.question):
        return found
    return None


def _find_number(value: float, claim: Claim, text: str, scene: Scene) -> Found | None:
    """Return where a text states a number, as an amount in the parameter's unit or by itself."""
    unit = _unit_of_parameter(claim, scene)
    amounts = find_amounts(text, scene.language)
    for amount in amounts:
        if rule := _amount_rule(value, amount, unit, text):
            is_verbatim = text[amount.start : amount.end] == str(claim.value)
            return Found(claim.value, amount.start, amount.end, VERBATIM if is_verbatim else rule)
    # The 2 of "2 hours" is not 2 minutes: a number in an amount of that dimension has its unit.
    taken = [one for one in amounts if unit and dimension_of(one.unit) == dimension_of(unit)]
    for number in find_numbers(text):
        stated = float(str(number.value))
        is_free = not any(one.start <= number.start < one.end for one in taken)
        if is_free and (
            stated == value or (number.rule == PERCENT and is_about(value, stated / 100))
        ):
            return number._replace(value=claim.value)
    if value.is_integer() and value >= _THOUSAND:
        grouped = f"{int(value):,}".replace(",", r"[ \u00a0\u202f'’]")
        if found := re.search(rf"(?<![\d.,]){grouped}(?![.,]?\d)", text):
            return Found(claim.value, *found.span(), GROUPING)
    return None


def _unit_of_parameter(claim: Claim, scene: Scene) -> str:
    """Return the unit of a claim's parameter, by its name and description, or ""."""
    return unit_of(claim.parameter, str(claim.schema.get("description", "")), scene.language)


def _amount_rule(value: float, amount: Amount, unit: str, text: str) -> str:
    """Return the rule by which a stated amount means a number in the parameter's unit, or "".

    "2 hours" is 120 of a parameter in minutes (unit conversion), "5%" is 0.05 (percent).
    """
    said, wanted = dimension_of(amount.unit), dimension_of(unit)
    if said and wanted and said == wanted:
        return UNIT if is_about(value, converted(amount.value, amount.unit, unit)) else ""
    if value == amount.value and not (said and wanted):
        return "number"
    if not amount.unit and unit == "cent":
        return UNIT if is_about(value, converted(amount.value, "money", unit)) else ""
    if not amount.unit and words_around("percent", r"\s?{0}").match(text, amount.end):
        return PERCENT if is_about(value, amount.value / 100) and value <= 1 else ""
    return ""


def _find_text(value: str, claim: Claim, text: str, scene: Scene) -> Found | None:
    """Return where a text has a value: by letter, as moment, number or code, or by its words.

    A code may be spaced differently. None if the text does not have it.
    """
    mention = find_phrase(value, text)
    if mention:
        return mention
    typed = _MOMENT.fullmatch(value)
    if typed and (typed["day"] or typed["clock"]):
        day, clock = typed["day"] or "", typed["clock"] or ""
        return _find_moment(value, day, clock, text, scene) or _find_by_rules(
            value, day, clock, text
        )
    if re.fullmatch(r"\d+(?:\.\d+)?", value):
        return _find_code(value, text) or _find_number(float(value), claim, text, scene)
    mention = (
        _find_code(value, text)
        or _find_other_spelling(value, text, scene)
        or _find_words(value, text)
    )
    return mention or _find_pieces(value, claim, text, scene)


def _find_pieces(value: str, claim: Claim, text: str, scene: Scene) -> Found | None:
    """Find a comma-separated text whose pieces are all said."""
    pieces: list[JsonValue] = [piece.strip() for piece in value.split(",") if piece.strip()]
    listed = claim._replace(value=pieces, schema={})
    found = _find(listed, UserText(0, text), scene) if len(pieces) > 1 else None
    return found and found._replace(value=value)


def _find_moment(value: str, day: str, clock: str, text: str, scene: Scene) -> Found | None:
    """Return where a text says a day, a time of day or both, together or in two places."""
    moments = find_moments(text, scene.language, scene.now)
    days = [one for one in moments if day and one.may_be_day(day)]
    clocks = [one for one in moments if clock and clock in one.clocks]
    if day and not days and (clocks or not clock):
        counted = find_counted_day(day, text, scene.language, _named_days(scene))
        if counted:
            return Found(value, counted.start, counted.end, COUNTED)
    if (day and not days) or (clock and not clocks):
        return None
    both = next((one for one in days if one in clocks), None)
    found = [both] if both else [*days[:1], *clocks[:1]]
    rule = TIME if clock else _DAY_RULES.get(found[0].sort, "day")
    return Found(value, min(one.start for one in found), max(one.end for one in found), rule)


def _named_days(scene: Scene) -> Iterator[Moment]:
    """Yield all moments that the conversation names before the calls."""
    replies = (turn.text for turn in scene.turns if isinstance(turn, ReplyTurn))
    for text in (*(one.text for one in stated_in(scene.turns)), *replies, scene.system):
        yield from find_moments(text, scene.language, scene.now)


def _find_by_rules(value: str, day: str, clock: str, text: str) -> Found | None:
    """Return where our own rules find a moment, if Duckling is missing or reads another one."""
    if day and clock:
        mention = find_moment(f"{day} {clock}", text)
    elif day:
        mention = next((one for one in find_dates(text) if says_date(day, one)), None)
    else:
        mention = next((one for one in find_times(text) if says_time(clock, one)), None)
    return mention and mention._replace(value=value, rule=mention.rule or "date")


def _find_other_spelling(value: str, text: str, scene: Scene) -> Found | None:
    """Return where a text states the moment or amount that the whole value is, or None.

    Such values are "10:30 AM", "$45" and "04/05/2026".
    """
    if not re.search(r"\d", value):
        return None
    for own_moment in find_moments(value, scene.language, scene.now):
        if (own_moment.start, own_moment.end) == (0, len(value)) and not own_moment.is_range:
            for text_moment in find_moments(text, scene.language, scene.now):
                is_day = (
                    any(text_moment.may_be_day(day) for day in own_moment.days)
                    or not own_moment.days
                )
                if is_day and (not own_moment.clocks or own_moment.clocks & text_moment.clocks):
                    return Found(
                        value,
                        text_moment.start,
                        text_moment.end,
                        TIME if own_moment.clocks else _DAY_RULES.get(text_moment.sort, "day"),
                    )
    for own in find_amounts(value, scene.language):
        if (own.start, own.end) == (0, len(value)):
            for other in find_amounts(text, scene.language):
                if rule := _amount_rule(own.value, other, own.unit, text):
                    return Found(value, other.start, other.end, rule)
    return None


def _find_code(value: str, text: str) -> Found | None:
    """Find a code or a phone number, ignoring spaces and dashes."""
    signs = re.findall(r"[^\W_]", folded(value).text)
    if len(signs) < _SHORTEST_CODE or not any(map(str.isdecimal, signs)):
        return None
    plain = folded(text)
    searched = "".join(str(int(one)) if one.isdecimal() else one for one in plain.text)
    for pattern in (_GAP_IN_CODE.join(map(re.escape, signs)), *_as_national_number(value)):
        if found := re.search(rf"(?<![a-z\d]){pattern}(?![a-z\d])", searched):
            return Found(value, *plain.span(*found.span()), CODE)
    return None


def _as_national_number(value: str) -> Iterator[str]:
    """Yield patterns of an international phone number without the country's code, as people say it.

    A zero, or in some countries an eight or a one, may stand before it.
    """
    if not _INTERNATIONAL.fullmatch(value):
        return
    digits = re.sub(r"\D", "", value).removeprefix("00")
    for length in _COUNTRY_CODES:
        national = digits[length:]
        if len(national) >= _SHORTEST_NATIONAL:
            yield rf"(?:\(?[018]\)?{_GAP_IN_CODE})?" + _GAP_IN_CODE.join(national)


def _find_words(value: str, text: str) -> Found | None:
    """Return where all content words of a value are close together, in any form or order."""
    skipped = empty(packs_of(value))
    wanted = [
        one.text
        for one in words_of(fold(value)).row
        if one.text != STOP and one.text not in skipped
    ]
    left = [word for word in words_of(text).row if not _is_in_code(word, text)]
    matched_words: list[FoldedWord] = []
    for wanted_word in wanted:
        after = [word for word in left if matched_words and word.start >= matched_words[-1].end]
        hit = next((word for word in (*after, *left) if _is_form(word.text, wanted_word)), None)
        if hit is None:
            return None
        left.remove(hit)
        matched_words.append(hit)
    start, end = (
        min((one.start for one in matched_words), default=0),
        max((one.end for one in matched_words), default=0),
    )
    # Each sign of a script without spaces is a word here; scattered ones say nothing.
    in_place = sum(one.end == other.start for one, other in pairwise(matched_words))
    are_signs = all(len(one) == 1 for one in wanted)
    if (
        not matched_words
        or end - start > _MOST_CHARACTERS_BETWEEN + 2 * len(value)
        or (are_signs and in_place <= len(matched_words) * _HALF)
    ):
        return None
    return Found(value, start, end, WORDS)


def _is_in_code(word: FoldedWord, text: str) -> bool:
    """Whether a word is the digits of a code: the 88 of RX88."""
    return word.text.isdecimal() and bool(
        _CODE_CHARACTER.search(
            text[max(0, word.start - 1) : word.start] + text[word.end : word.end + 1]
        )
    )


def _is_form(said: str, wanted: str) -> bool:
    """Whether a word is a form of the wanted one: the same stem, or its root with an ending."""
    if stem(said) == stem(wanted):
        return True
    if _CYRILLIC.match(wanted) and len(wanted) >= _SHORTEST_CODE:
        root = wanted.rstrip("аяеиоуыэюьй")
        return said.startswith(root) and len(said) - len(root) <= _LONGEST_ENDING
    return (
        bool(_HANGUL.match(wanted))
        and said.startswith(wanted)
        and not _FINAL_CONSONANT.match(said, len(wanted))
    )


# --- what speaks against it


def _dated(text: str, scene: Scene) -> Iterator[tuple[str, int, int]]:
    """Yield the days that a text names with their year, by our own rules first."""
    for found in find_dates(text):
        if _ISO_DAY.fullmatch(str(found.value)):
            yield str(found.value), found.start, found.end
    for moment in find_moments(text, scene.language, scene.now):
        if moment.sort == "dated":
            yield _likeliest_day(moment, text, scene.language), moment.start, moment.end


def _likeliest_day(moment: Moment, text: str, language: Language) -> str:
    """Return the day that words mean; of figures the day is first, but in English with slashes."""
    figures = _DAY_FIRST.fullmatch(text, moment.start, moment.end)
    if figures and (figures["sign"] == "." or language != DEFAULT_LANGUAGE):
        stated = f"{figures['year']}-{int(figures['month']):02}-{int(figures['day']):02}"
        if stated in moment.days:
            return stated
    return min(moment.days)


def _labelled_day(scene: Scene) -> datetime | None:
    """Return the only day that a system message names, if its clause says little else.

    "It is currently Wednesday 16 September 2026." and "Date du jour : 2026-08-21" are such
    clauses; None otherwise.
    """
    days = {day: (start, end) for day, start, end in _dated(scene.system, scene)}
    if len(days) != 1:
        return None
    [(day, (start, end))] = days.items()
    before = _CLAUSE_END.split(scene.system[:start].rstrip(signs(" ,{list}")))[-1]
    behind = _CLAUSE_END.split(scene.system[end:].lstrip(signs(" ,{list}")))[0]
    now = datetime.fromisoformat(day).replace(tzinfo=UTC)
    beside = _LETTERS.findall(f"{before} {behind}")
    weekdays = [
        one
        for word in (*beside, *_LETTERS.findall(scene.system[start:end]))
        for one in find_moments(word, scene.language, now)
        if one.sort == "weekday"
    ]
    is_told = ":" in before or bool(weekdays) or not beside
    is_short = len(beside) <= _MOST_WORDS_BESIDE
    return now if is_short and is_told and all(day in one.days for one in weekdays) else None


def _has_other_weekday(day: str, start: int, end: int, text: str, language: str) -> bool:
    """Whether a word in or beside a date at `start`..`end` names a weekday that it is not."""
    now = datetime.fromisoformat(day).replace(tzinfo=UTC)
    before, behind = _WORD_BEFORE.search(text, 0, start), _WORD_BEHIND.match(text, end)
    around = text[before.start() if before else start : behind.end() if behind else end]
    moments = (find_moments(word, language, now) for word in _LETTERS.findall(around))
    return any(one.sort == "weekday" and day not in one.days for some in moments for one in some)


def _is_reference(start: int, end: int, text: str) -> bool:
    """Whether words say of a day at `start`..`end` that it is today."""
    for cue in words_around("reference_day").finditer(text):
        if start < cue.end() and cue.start() < end:
            return True
        if start >= cue.end() and _FEW_WORDS.fullmatch(text, cue.end(), start):
            return True
    return False


def _find_contradiction(
    claim: Claim, texts: Sequence[UserText], scene: Scene
) -> Contradiction | None:
    """Return what is said in place of a day, a time or an amount, if it is clearly another.

    It must be the only one of its kind, and differ by every reading; None otherwise.
    """
    if len(texts) != 1 or len(scene.calls) != 1:
        return None  # another text, or another call, may have what is missing
    value = claim.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _contradicting_amount(float(value), claim, texts[0].text, scene)
    typed = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    if typed is None or typed["zone"]:
        return None
    return _contradicting_moment(typed, claim, texts[0].text, scene)


def _contradicting_amount(
    value: float, claim: Claim, text: str, scene: Scene
) -> Contradiction | None:
    """Return the text's only amount of the parameter's dimension, if it is another one.

    None if another argument has that dimension, or the value stands elsewhere in the text.
    """
    unit = _unit_of_parameter(claim, scene)
    dimension = dimension_of(unit)
    amounts = find_amounts(text, scene.language)
    of_kind = [one for one in amounts if unit and dimension_of(one.unit) == dimension]
    units = [_unit_of_parameter(one, scene) for one in _leaves(claim, scene)]
    is_alone = [dimension_of(one) for one in units].count(dimension) == 1
    if len(of_kind) != 1 or not of_kind[0].is_sure or not is_alone:
        return None
    [only] = of_kind
    is_elsewhere = any(one.value == value for one in amounts if one is not only)
    if is_elsewhere or says_with_unit(value, unit, text, scene.language):
        return None
    sort: Literal["unit", "amount"] = "unit" if only.value == value else "amount"
    whole = converted(only.value, only.unit, unit)
    expected = round(whole) if abs(whole - round(whole)) < _ROUNDING else whole
    return Contradiction(sort, text[only.start : only.end], expected)


def _contradicting_moment(
    typed: re.Match[str], claim: Claim, text: str, scene: Scene
) -> Contradiction | None:
    """Return the text's only day, or only time of day, if the typed one differs, or None.

    Ranges, counted and loose days ("in three days", "next week") may mean several and contradict
    nothing.
    """
    moments = [
        one
        for one in find_moments(text, scene.language, scene.now)
        if not _is_reference(one.start, one.end, text)
    ]
    others = [
        other for one in _leaves(claim, scene) if (other := _MOMENT.fullmatch(str(one.value)))
    ]
    for part in ("day", "clock"):
        of_kind = [
            one for one in moments if (one.days or one.sort if part == "day" else one.clocks)
        ]
        is_alone = sum(bool(one[part]) for one in others) == 1
        if not typed[part] or len(of_kind) != 1 or not is_alone:
            continue
        [only_moment] = of_kind
        is_counted = any(
            dimension_of(amount.unit) in ("duration", "months")
            for amount in find_amounts(text, scene.language)
        ) or bool(find_steps(text, scene.language))
        is_loose = (
            only_moment.is_range
            or only_moment.is_from_now
            or (part == "day" and only_moment.sort == "loose")
            or is_counted
        )
        if part == "day":
            means = only_moment.may_be_day(typed["day"])
        else:
            means = typed["clock"] in only_moment.clocks
        if not means and not is_loose:
            said = only_moment.days if part == "day" else only_moment.clocks
            expected = next(iter(said)) if len(said) == 1 and typed.group() == typed[part] else None
            return Contradiction(
                "day" if part == "day" else "time",
                text[only_moment.start : only_moment.end],
                expected,
            )
    return None


def _leaves(claim: Claim, scene: Scene) -> list[Claim]:
    """Return the scalar values of a claim's call."""
    tool = scene.tools[claim.call.tool]
    left = [
        Claim(name, value, schema_of(tool, name), None, claim.call)
        for name, value in claim.call.arguments.items()
    ]
    leaf_claims: list[Claim] = []
    while left:
        one = left.pop()
        members = [*_members(one)]
        left += members
        leaf_claims += [] if members else [one]
    return leaf_claims


def _find_in_context(claim: Claim, scene: Scene) -> Evidence | None:
    """Return where the assistant was told a value: in the system message, or as today's date."""
    found = _find(claim, UserText(0, scene.system), scene) if scene.system else None
    if found:
        return _evidence(claim.name, found, UserText(0, scene.system)).with_changes(
            kind="context", turn=None
        )
    if scene.now and claim.value == scene.now.date().isoformat():
        return Evidence(argument=claim.name, kind="context", rule="reference time")
    return None
