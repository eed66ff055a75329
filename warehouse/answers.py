"""Whether a reply tells what the user asked for: all values, of the right thing, and no others.

Code reads the reply, without a model. A value is found as a row of words, numbers, dates and
times, however they are written (`in_progress` as "in progress", 1250.5 as "$1,250.50", 14:30 as
"2:30 PM"). Which values belong together is read from the order in which they are mentioned within
a line, a sentence, a paragraph or the whole reply: each after its thing ("tyres: finished"), each
before it ("finished: tyres, chain"), or one list after the other ("tyres and chain are finished
and waiting respectively"). A reply is right if one of these readings says what is so.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from types import MappingProxyType
from typing import NamedTuple

from pydantic import JsonValue

from callwright.warehouse.pairing import Entered, Pair, read_pairs
from callwright.warehouse.records import (
    AskedField,
    CallTurn,
    Change,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    UserTurn,
)
from callwright.warehouse.said import (
    DayOfYear,
    Form,
    Level,
    Part,
    ReadText,
    SaidForm,
    TimeOfDay,
    fits,
    forms_of,
)

_UNAVAILABLE = ("available", "free")  # an entry that says no to one of them is none that can be had
_NOTHING: Mapping[str, Sequence[JsonValue]] = MappingProxyType({})
Kinds = Mapping[str, Collection[JsonValue]]


def is_available(entry: JsonValue) -> bool:
    """Whether an entry of a list is available, as far as it says."""
    return not isinstance(entry, dict) or all(entry.get(name) is not False for name in _UNAVAILABLE)


def values_at(value: JsonValue, path: str) -> Iterator[JsonValue]:
    """Yield the values at a dotted path, of each available entry for "[]", nothing if none."""
    head, is_list, rest = path.partition("[]")
    for piece in filter(None, head.split(".")):
        if not isinstance(value, dict) or piece not in value:
            return
        value = value[piece]
    if not is_list:
        yield from [] if value is None or value == "" else [value]
        return
    for entry in value if isinstance(value, list) else ():
        if is_available(entry):
            yield from values_at(entry, rest)


class AnswerReading(NamedTuple):
    """What a reply lacks, and what it says that is not so, as it stands there."""

    untold: tuple[AskedField, ...] = ()
    false_told: tuple[str, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether all is told that was asked for, and nothing else in its place."""
        return not self.untold and not self.false_told


def untold_fields(
    sample: Sample, text: str | None = None, answers: Mapping[str, Sequence[JsonValue]] = _NOTHING
) -> list[AskedField]:
    """Return the requested fields that a text, by default the last reply, does not tell in full.

    `answers` are what calls, by key, returned to the author of the text: telling all values of
    one of them is enough.
    """
    last = sample.turns[-1] if sample.turns else None
    if text is None:
        if not isinstance(last, ReplyTurn):
            return []
        text = last.text
    return _untold(sample, ReadText(text), answers)


def _untold(
    sample: Sample, said: ReadText, answers: Mapping[str, Sequence[JsonValue]]
) -> list[AskedField]:
    return [
        field
        for field in sample.facts.asked
        if not any(
            all(map(said.has, values_at(one, field.path)))
            for one in _returned(sample, field.step, field.place, answers)
        )
    ]


def read_answer(
    sample: Sample,
    text: str,
    answers: Mapping[str, Sequence[JsonValue]] = _NOTHING,
    *,
    kinds: Kinds = _NOTHING,
    seen: Container[str] | None = None,
) -> AnswerReading:
    """Return what a text lacks of what was asked for, and what it says that is not so.

    `answers` are as for `untold_fields`. `kinds` are values that fields of a name can have,
    besides those in the sample's results. A value that was never `seen` (as text) was guessed and
    counts as untold; None takes all as seen.
    """
    asked = sample.facts.asked
    if not asked:
        return AnswerReading()
    if len(text) > _CHARACTERS:
        return AnswerReading(asked, (f"{len(text)} characters where {_CHARACTERS} are read",))
    places = dict.fromkeys((one.step, one.place) for one in asked)
    returned = {place: [*_returned(sample, *place, answers)] for place in places}
    said, false_told = ReadText(text), tuple[str, ...]()
    untold = set(_untold(sample, said, answers))
    if seen is not None:
        untold |= {one for one in asked if not _is_seen(one, returned[one.step, one.place], seen)}
    for chosen in islice(product(*returned.values()), _MOST_CHOICES):
        scene = _Scene(sample, dict(zip(places, chosen, strict=True)), kinds)
        false_told = scene.false_in(said)
        if not false_told:
            break
    return AnswerReading(tuple(one for one in asked if one in untold), false_told)


def kinds_of(tools: Iterable[Tool]) -> Mapping[str, list[JsonValue]]:
    """Return the values that tools' documents list for fields and parameters, by name."""
    found: dict[str, list[JsonValue]] = {}
    for tool in tools:
        for name, values in _listed({**tool.parameters}, ""):
            found.setdefault(name, []).extend(values)
        for name, values in _listed(tool.returns, ""):
            found.setdefault(name, []).extend(values)
    return found


def _listed(schema: JsonValue, name: str) -> Iterator[tuple[str, list[JsonValue]]]:
    if isinstance(schema, list):
        for one in schema:
            yield from _listed(one, name)
    if not isinstance(schema, dict):
        return
    if isinstance(values := schema.get("enum"), list):
        yield name, values
    for word, inner in schema.items():
        if word == "properties" and isinstance(inner, dict):
            for field, one in inner.items():
                yield from _listed(one, field)
        elif word in ("items", "anyOf", "oneOf", "allOf"):
            yield from _listed(inner, name)


_CHARACTERS = 100_000
_MOST_CHOICES = 16  # of what one call returned with what another did


def _is_seen(field: AskedField, returned: Iterable[JsonValue], seen: Container[str]) -> bool:
    return any(
        all(
            isinstance(value, bool | dict | list) or str(value) in seen
            for value in values_at(one, field.path)
        )
        for one in returned
    )


def _returned(
    sample: Sample, step: int, place: int, answers: Mapping[str, Sequence[JsonValue]]
) -> Iterator[JsonValue]:
    """Yield what a call returned, here (None without such a call) and to others.

    Each is followed by what it would be after all changes, if they are to what it is about.
    """
    for one in _answered(sample, step, place, answers):
        yield one
        if (now := _after(one, sample.changes)) != one:
            yield now


def _answered(
    sample: Sample, step: int, place: int, answers: Mapping[str, Sequence[JsonValue]]
) -> Iterator[JsonValue]:
    steps = [at for at, turn in sample.call_turns if turn.executed]
    after = steps[step] if step < len(steps) else len(sample.turns)
    calls, results = [*sample.turns[after : after + 2], None, None][:2]
    has_call = isinstance(calls, CallTurn) and isinstance(results, ResultTurn)
    own = results.results if has_call and isinstance(results, ResultTurn) else ()
    first = own[place] if place < len(own) else None
    yield first
    if isinstance(calls, CallTurn) and place < len(calls.calls):
        yield from (one for one in answers.get(calls.calls[place].bare.key, ()) if one != first)


def _after(value: JsonValue, changes: Sequence[Change]) -> JsonValue:
    """Return a response as it would be after changes to the things in it."""
    if isinstance(value, list):
        gone = {one.id for one in changes if one.sort == "deleted"}
        return [_after(one, changes) for one in value if _own_id(one) not in gone]
    if not isinstance(value, dict):
        return value
    now, own = {name: _after(one, changes) for name, one in value.items()}, _own_id(value)
    for one in changes:
        if one.sort == "updated" and one.id == own and one.field in now:
            now[one.field] = one.after
    return now


def _own_id(entry: JsonValue) -> str | None:
    """Return the id of a thing: its field `id`, else its first that ends in `_id`."""
    if not isinstance(entry, dict):
        return None
    named = [name for name in entry if name == "id" or name.endswith("_id")]
    own = "id" if "id" in named else next(iter(named), None)
    return None if own is None else str(entry[own])


_NAMES = "\0names"  # the column of the names of things
_NAMING = frozenset({"name", "title", "label"})
_NEGATIONS = frozenset({"no", "not", "non", "never", "without", "cannot", "t", "false"})
_YES, _NO = frozenset({"yes", "true"}), frozenset({"no", "false"})
_ASKING = frozenset({"is", "has", "are", "was", "can"})  # in the names of fields: `is_open`
_TRUTHS: Mapping[bool, Form] = {True: ("\0true",), False: ("\0false",)}
_NEAR, _FEW_WORDS, _LONG_WORD = 3, 4, 4
_MOST_NUMBERS = 10
_MOST_STRAYS = 3  # other values of the world that an answer may happen to say
_WORDS, _WORDS_A_VALUE = 300, 60  # of the longest answer that is read


def _is_negated(said: ReadText, mention: SaidForm) -> bool:
    """Whether a mention stands in a sentence that says no."""
    here = said.stretch(mention.begin, "sentence")
    return bool(_NEGATIONS & {said.tokens[at].part for at in here})


class _Thing(NamedTuple):
    """A thing's fields by path, and what it is called."""

    columns: Mapping[str, Form]
    names: frozenset[Form]


class _Scene:
    """What an answer is about: the things asked for, and what else it may mention."""

    def __init__(
        self, sample: Sample, due: Mapping[tuple[int, int], JsonValue], kinds: Kinds
    ) -> None:
        self._sample = sample
        results = [
            one for turn in sample.turns if isinstance(turn, ResultTurn) for one in turn.results
        ]
        self._names = _names_by_id(results)
        self._things: list[_Thing] = []
        entries: list[JsonValue] = []
        for place, response in due.items():
            paths = [one.path for one in sample.facts.asked if one[:2] == place]
            for prefix in dict.fromkeys(map(_prefix, paths)):
                rests = [path.removeprefix(prefix) for path in paths if _prefix(path) == prefix]
                for entry in values_at(response, prefix) if prefix else [response]:
                    entries.append(entry)
                    self._things.append(self._thing(entry, rests))
        self._columns = [*dict.fromkeys(path for one in self._things for path in one.columns)]
        asked = [
            value
            for field in sample.facts.asked
            for value in values_at(due[field.step, field.place], field.path)
        ]
        self._due = _forms(asked)
        self._truths = {
            path
            for one in self._things
            for path, form in one.columns.items()
            if form in _TRUTHS.values()
        }
        others = [one for one in results if isinstance(one, dict)]
        spoken = [turn.text for turn in sample.turns if isinstance(turn, UserTurn)]
        written = [
            {change.field or "": value} if not isinstance(value, dict) else value
            for change in sample.changes
            for value in (change.before, change.after)
        ]
        given = [dict(call.arguments) for _, turn in sample.call_turns for call in turn.calls]
        after = [_after(one, sample.changes) for one in entries]
        context: list[JsonValue] = [*others, *written, *given, *after]
        self._context = [self._thing(one, self._columns) for one in context]
        self._free = self._due | _forms(_scalars([*context, *entries], is_deep=False))
        self._request = ReadText("\n".join(spoken))
        case = sample.policy_case
        rules = [
            text for one in (case.policies if case else ()) for text in (one.says, one.because)
        ]
        self._rules = ReadText("\n".join(filter(None, rules)))
        self._counts = max(map(_longest, results), default=0)
        known: dict[str, list[JsonValue]] = {}
        for name, value in fields_of(results):
            known.setdefault(name, []).append(value)
        self._others: dict[Form, str] = {}  # others of the kinds of values that are asked for
        for name in {_last(path) for path in self._columns}:
            for value in (*known.get(name, ()), *kinds.get(name, ())):
                self._others |= {form: str(value) for form in forms_of(value)}
        for form in [*self._others]:
            if form in self._free or self._request.says(form):
                del self._others[form]
        listed = (value for value in _scalars(results) if isinstance(value, str))
        strays = _forms(listed) - self._free
        self._strays = {form for form in strays if not self._request.says(form)}
        self._labels = {path: _label(path) for path in self._truths}

    def _thing(self, entry: JsonValue, paths: Iterable[str]) -> _Thing:
        columns: dict[str, Form] = {}
        for path in paths:
            for value in values_at(entry, path.lstrip(".")):
                forms = (_TRUTHS[value],) if isinstance(value, bool) else forms_of(value)
                if forms:
                    columns[path] = forms[0]
        held = [str(one) for one in _scalars([entry], is_deep=False)]
        names = [name for one in held for name in self._names.get(one, ())]
        return _Thing(columns, frozenset(form for name in names for form in forms_of(name)))

    def false_in(self, said: ReadText) -> tuple[str, ...]:
        """Return what a text says that is not so."""
        most = _WORDS + _WORDS_A_VALUE * len(self._due)
        if len(said.tokens) > most:
            return (f"{len(said.tokens)} words where {most} are read",)
        names = {form for one in (*self._things, *self._context) for form in one.names}
        mentions = [*said.find({*self._due, *self._free, *self._others, *names})]
        truths = [one for path in self._truths for one in self._said_truths(said, path)]
        found = [*self._false_numbers(said, mentions), *self._false_words(said, mentions)]
        found += self._false_truths(truths)
        found += self._dumped(said)
        if found:
            return tuple(dict.fromkeys(found))
        if self._rules.tokens:  # a refusal names what it is about and the rule, and tells no pair
            mentions = [one for one in mentions if not _is_negated(said, one)]
        return (*self._false_pairs(said, mentions, truths),)

    def _false_numbers(self, said: ReadText, mentions: Sequence[SaidForm]) -> Iterator[str]:
        """Yield numbers, dates and times that are none of this scene, where one is asked for."""
        inside = {at for one in mentions if one.end - one.begin > 1 for at in range(*one[1:])}
        free = self._free_numbers()
        for sort in (float, DayOfYear, TimeOfDay):
            if not any(isinstance(form[0], sort) for form in self._due):
                continue
            in_digits = {token.part for token in said.tokens if not token.is_weak}
            has_words = any(form[0] not in in_digits for form in self._due if len(form) == 1)
            for at, token in enumerate(said.tokens):
                part = token.part
                if not isinstance(part, sort) or at in inside or (token.is_weak and not has_words):
                    continue
                is_count = isinstance(part, float) and part in range(self._counts + 1)
                is_no_value = token.is_weak or (part,) not in self._others
                if (is_count and is_no_value) or any(fits(part, one) for one in free):
                    continue
                yield str(part) if isinstance(part, float) else "-".join(map(str, part))

    def _free_numbers(self) -> list[Part]:
        """Return the numbers, dates and times that an answer may say, with sums of those due."""
        free = [form[0] for form in self._free if len(form) == 1]
        free += [token.part for token in self._request.tokens]
        for path in self._columns:
            numbers = [one.columns[path][0] for one in self._things if path in one.columns]
            free.append(sum(one for one in numbers if isinstance(one, float)))
        return free

    def _dumped(self, said: ReadText) -> Iterator[str]:
        """Yield how much stands in a text that is about nothing that was asked or done."""
        strays = {one.form for one in said.find(self._strays | self._free)} - self._free
        if len(strays) > _MOST_STRAYS:
            yield f"{len(strays)} values of things that nobody asked about"
        numbers = {token.part for token in said.tokens if isinstance(token.part, float)}
        others = numbers - {*self._free_numbers()}
        if len(others) > _MOST_NUMBERS + self._counts:
            yield f"{len(others)} numbers that nobody asked about"

    def _false_words(self, said: ReadText, mentions: Sequence[SaidForm]) -> Iterator[str]:
        """Yield others of the kinds of values asked for; one may be a word of its own ("Done!")."""
        excused = 0
        for mention in mentions:
            other = self._others.get(mention.form)
            if other is None or not isinstance(mention.form[0], str):
                continue
            if self._is_denied(said, mention, mentions):
                continue
            if not excused and self._is_word_of_its_own(said, mention, mentions):
                excused += 1
                continue
            yield other

    def _is_denied(self, said: ReadText, mention: SaidForm, mentions: Sequence[SaidForm]) -> bool:
        """Whether a sentence says what is not so or can't be: "I haven't done it".

        One that also tells a value asked for denies only with words of a rule: "a delivery can only
        be cancelled while it is planned".
        """
        if not _is_negated(said, mention):
            return False
        here = said.stretch(mention.begin, "sentence")
        tells = any(one.begin in here and one.form in self._due for one in mentions)
        return not tells or self._rules.says(mention.form)

    def _is_word_of_its_own(
        self, said: ReadText, mention: SaidForm, mentions: Sequence[SaidForm]
    ) -> bool:
        """Whether a word is none of the values: an opening ("Done!"), or said of another thing."""
        labels = {word for path in self._columns for word in _label(path)}
        asked = {word for one in self._things for form in one.names for word in form}
        asked_or_told = labels | asked
        levels: tuple[Level, ...] = ("sentence", "clause")
        for level in levels:
            here = said.stretch(mention.begin, level)
            words = {said.tokens[at].part for at in here}
            if words & labels or any(
                one.begin in here and one.form in self._due for one in mentions
            ):
                continue
            if here[0] == 0 and len(here) <= _FEW_WORDS:
                after = here[-1] + 1
                is_listed = level == "clause" and any(one.begin == after for one in mentions)
                return not is_listed or said.places[after]["sentence"] > 0
            spoken = {token.part for token in self._request.tokens}
            about = {
                one for one in words & spoken if isinstance(one, str) and len(one) >= _LONG_WORD
            }
            if about and not words & asked_or_told:
                return True
        return False

    def _said_truths(self, said: ReadText, path: str) -> Iterator[Entered]:
        """Yield where the name of a field that is true or false stands, and what is said of it."""
        label = self._labels[path]
        if not label or self._sample.language != "en":
            return
        negated = (f"un{label[0]}", *label[1:])
        for one in said.find([label, negated]):
            here = said.stretch(one.begin, "clause")
            before = [said.tokens[at].part for at in here if at < one.begin][-_NEAR:]
            after = {token.part for token in said.tokens[one.end : one.end + 1]}
            if after & (_YES | _NO):
                is_so = bool(after & _YES)
            else:
                is_so = one.form != negated and not _NEGATIONS.intersection(before)
            yield Entered(_TRUTHS[is_so], is_first=False, at=one.begin, column=path)

    def _false_truths(self, truths: Iterable[Entered]) -> Iterator[str]:
        for one in truths:
            if not any(thing.columns.get(one.column) == one.form for thing in self._things):
                yield f"{_last(one.column)}: {one.form[0]}".replace("\0", "")

    def _false_pairs(
        self, said: ReadText, mentions: Sequence[SaidForm], truths: Sequence[Entered]
    ) -> Iterator[str]:
        """Yield columns whose values do not stand with those of the same thing."""
        columns = [_NAMES, *self._columns]
        for first, second in combinations(columns, 2):
            due = {*_pairs(self._things, first, second)}
            if any(len({pair[side] for pair in due}) == 1 for side in (0, 1)) or not due:
                continue
            allowed = due | {*_pairs(self._context, first, second)}
            entered = [
                *self._entered(said, mentions, truths, first, is_first=True),
                *self._entered(said, mentions, truths, second, is_first=False),
            ]
            entered.sort(key=lambda one: one.at)
            reading = read_pairs(said, entered, due, allowed)
            is_needed = first != _NAMES and not self._truths & {first, second}
            if reading == "wrong" or (reading == "untold" and is_needed):
                names = " and ".join(_last(one) for one in (first, second)).replace("\0", "")
                yield f"{names} of one thing with another"

    def _entered(
        self,
        said: ReadText,
        mentions: Sequence[SaidForm],
        truths: Sequence[Entered],
        column: str,
        *,
        is_first: bool,
    ) -> list[Entered]:
        if column in self._truths:
            return [one._replace(is_first=is_first) for one in truths if one.column == column]
        forms = {
            form
            for one in (*self._things, *self._context)
            for form in (one.names if column == _NAMES else [one.columns.get(column)])
        }
        found = [one for one in mentions if one.form in forms]
        in_digits = {one.form for one in found if not said.tokens[one.begin].is_weak}
        return [
            Entered(one.form, is_first, one.begin, column)
            for one in found
            if not (said.tokens[one.begin].is_weak and one.form in in_digits)
        ]


def _pairs(things: Iterable[_Thing], first: str, second: str) -> Iterator[Pair]:
    for thing in things:
        firsts = thing.names if first == _NAMES else [thing.columns.get(first)]
        for form in firsts:
            other = thing.columns.get(second)
            if form is not None and other is not None:
                yield form, other


def _prefix(path: str) -> str:
    """Return the part of a path that leads to the entry a field belongs to."""
    head, is_list, _ = path.rpartition("[]")
    return head + is_list


def _last(path: str) -> str:
    return path.rpartition(".")[2].removesuffix("[]")


def _label(path: str) -> Form:
    """Return the words of a field's name, without the one that asks (`is_open`)."""
    words = [one for form in forms_of(_last(path)) for one in form]
    return tuple(words[1:] if len(words) > 1 and words[0] in _ASKING else words)


def _forms(values: Iterable[JsonValue]) -> set[Form]:
    return {form for value in values for form in forms_of(value)}


def fields_of(value: JsonValue, name: str = "") -> Iterator[tuple[str, JsonValue]]:
    """Yield the scalars in a value, each after the name of the field that it stands in."""
    if isinstance(value, dict):
        for field, member in value.items():
            yield from fields_of(member, field)
    elif isinstance(value, list):
        for one in value:
            yield from fields_of(one, name)
    else:
        yield name, value


def _scalars(values: Iterable[JsonValue], *, is_deep: bool = True) -> Iterator[JsonValue]:
    """Yield the scalars in values; lists of objects within them only if `is_deep`."""
    for value in values:
        if isinstance(value, dict):
            yield from _scalars(value.values(), is_deep=is_deep)
        elif isinstance(value, list):
            kept = value if is_deep else [one for one in value if not isinstance(one, dict | list)]
            yield from _scalars(kept, is_deep=is_deep)
        elif value is not None:
            yield value


def _longest(value: JsonValue) -> int:
    """Return the length of the longest list in a value."""
    if isinstance(value, dict):
        return max(map(_longest, value.values()), default=0)
    return max([len(value), *map(_longest, value)]) if isinstance(value, list) else 0


def _names_by_id(results: Sequence[JsonValue]) -> dict[str, list[str]]:
    """Return what things are called, by their ids: those of the first field that ends in "id"."""
    named: dict[str, list[str]] = {}
    for entry in _entries(results):
        ids = [value for name, value in entry.items() if name.casefold().endswith("id")][:1]
        names = [value for name, value in entry.items() if name.casefold() in _NAMING]
        for one in ids:
            named.setdefault(str(one), []).extend(filter(None, map(str, names)))
    return named


def _entries(value: JsonValue | Sequence[JsonValue]) -> Iterator[dict[str, JsonValue]]:
    if isinstance(value, dict):
        yield value
        value = [*value.values()]
    if isinstance(value, list | tuple):
        for one in value:
            yield from _entries(one)
