"""An edit of a sample as rows in its task: one for each value of its calls, and for each text.

Label Studio repeats a row over the list `rows` of the task; each holds one control, whose name
ends with the row's number. Which row stands for what follows from the sample alone, so that
nothing of it is kept: the n-th row is the n-th place of the sample.

A call turn that goes on from the one before has rows for what is new in it, and an edited value
holds in the turns after it. Evidence, checks and the kind follow the edit elsewhere.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.annotation.calls import (
    changes,
    check_arguments,
    check_storable,
    goes_on,
    is_same,
    leaves_out,
    plain_lines,
    read_json,
    read_name,
    read_value,
    same_calls,
    shortened,
    tool_named,
    write_name,
    write_value,
)
from callwright.annotation.dialogue_acts import read_acts
from callwright.annotation.rendering import MESSAGE, is_dialogue, type_name, user_name, write_acts
from callwright.annotation.reviews import read_control, typed_into
from callwright.annotation.screens import SampleScreenWords, words_in
from callwright.annotation.studio.records import PulledAnnotation
from callwright.generators.kinds import traits_of
from callwright.generators.shifts.turns import is_path
from callwright.language.packs import plain_signs, signs
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    DEFAULT_LANGUAGE,
    Arguments,
    Call,
    CallTurn,
    GoldCall,
    JsonSchema,
    Reading,
    Record,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

Control = Literal["line", "choice", "text", "words"]
Role = Literal["argument", "tool", "said", "message", "more"]
Entered = Mapping[str, str]  # by control and number: "line_2"; "" where a box was emptied
_SCALARS = ("string", "integer", "number", "boolean")
_MOST_CHOICES = 8  # of more the name or value is typed
_MOST_OPEN = 20  # rows of parameters that a call does not give; others are added by lines
_SHOWN = 80  # characters of a value beside its field
_STANDS, _NONE = "=", "0"  # the aliases of what stands and of nothing; others count from 1
_CALL, _NO_CALL = "->", "--"
_GONE = "-"  # what takes an argument away; a value that is this sign stands in quotation marks
_MARKS = ("⟦", "⟧")


class Filled(Record):
    """A box and what stands in it at first."""

    value: str


class Option(Record):
    """One value to choose; Label Studio gives its `alias` back."""

    value: str
    alias: str
    selected: bool = False


class Options(Record):
    """The values to choose from; the first is the one that stands."""

    values: tuple[Option, ...]


class EditRow(Record):
    """One row: a heading where a group begins, its name, and one control.

    `was` is the gold's value, so that an edit stands beside what it replaces, and `read` what a
    reader wrote otherwise.
    """

    heading: str = ""
    name: str = ""
    was: str = ""
    read: str = ""
    line: tuple[Filled, ...] = ()
    choice: tuple[Options, ...] = ()
    text: tuple[Filled, ...] = ()
    words: tuple[Filled, ...] = ()


class _Place(NamedTuple):
    """What a row stands for in the turn with the index `turn`.

    `options` are the values of a choice, `schema` is that of an argument, and `value` what the
    gold has, None if nothing. `is_gone`: the turn takes the argument away.
    """

    role: Role
    control: Control
    turn: int
    call: int = 0
    argument: str = ""
    options: tuple[JsonValue, ...] = ()
    schema: JsonSchema = {}  # noqa: RUF012 - never changed
    value: JsonValue = None
    is_given: bool = True
    is_gone: bool = False


_Named = tuple[str, _Place]  # a place with the name of its control


def edit_rows(
    sample: Sample,
    tools: Sequence[Tool],
    readings: Sequence[Reading],
    words: SampleScreenWords,
    entered: Entered,
) -> tuple[EditRow, ...]:
    """Return the rows of a sample in the order of the screen, with what was `entered` before."""
    written = {reading.turn: reading.calls for reading in readings}
    rows: list[EditRow] = []
    heading = ""
    for control, place in _named(sample, tools):
        above = _heading(place, sample, words)
        row = EditRow(
            heading=above if above != heading else "",
            name=_name(place, sample, tools, words),
            was=_was(place, words),
            read=_read(place, sample, written.get(place.turn, ()), words),
        )
        heading = above
        if place.control == "choice":
            held = (Options(values=_options(place, words, entered.get(control, _STANDS))),)
            rows.append(row.with_changes(choice=held))
        else:
            first = _acts(place, sample, words) + _write(place)
            box = Filled(value=entered.get(control, first))
            rows.append(row.with_changes(**{place.control: (box,)}))
    return tuple(rows)


def read_entered(pulled: PulledAnnotation, sample: Sample, tools: Sequence[Tool]) -> Entered:
    """Return what stands in the rows of an annotation, by control and number.

    Raises RecordError if boxes that held something are all empty.
    """
    entered: dict[str, str] = {}
    touched = False
    for control, place in _named(sample, tools):
        if place.control == "choice":
            chosen = read_control(pulled, control, "choices")
            entered |= {control: chosen[-1]} if chosen else {}
            continue
        text = typed_into(pulled, control)
        touched = touched or text is not None
        entered[control] = (text or "").replace("\r\n", "\n")
    if not touched:
        raise RecordError(
            "All fields are empty. Where no call is due, choose so for its tool; where nothing is"
            " right, reject the sample."
        )
    return entered


def write_entered(entered: Entered) -> str:
    """Return what was entered as the text that a returned edit keeps."""
    return json.dumps(dict(entered), ensure_ascii=False)


def entered_before(kept: str) -> Entered:
    """Return what a returned edit kept of its rows; nothing if it is of an earlier version."""
    try:
        found = json.loads(kept) if kept else {}
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: text for name, text in found.items() if isinstance(text, str)}


def entered_turns(entered: Entered, sample: Sample, tools: Sequence[Tool]) -> tuple[Turn, ...]:
    """Return the turns that the rows hold. Raises RecordError that names each unread row.

    A turn that nobody edited is the same object as in `sample`.
    """
    check_storable(dict(entered), "What was entered")
    return _Edit(entered, sample, tools).turns()


def _named(sample: Sample, tools: Sequence[Tool]) -> Iterator[_Named]:
    """Yield each place with the name of its control, in the order of the screen."""
    for number, place in enumerate(_places(sample, tools)):
        yield f"{place.control}_{number}", place


def _places(sample: Sample, tools: Sequence[Tool]) -> Iterator[_Place]:
    """Yield all values, the tools, what is said, and a box for more calls of each turn."""
    before: CallTurn | None = None
    last = max((at for at, _ in sample.call_turns), default=-1)
    of_calls: list[_Place] = []
    for at, turn in sample.call_turns:
        is_open = at == last and not turn.executed
        of_calls += _call_places(at, turn, before, tools, is_open=is_open)
        before = turn
    yield from sorted(of_calls, key=lambda place: place.role == "tool")
    for at, told in enumerate(sample.turns):
        if isinstance(told, UserTurn | ReplyTurn):
            yield _Place("said", "words", at, value=told.text)
        if isinstance(told, UserTurn) and told.external is not None:
            yield _Place("message", "words", at, value=told.external.text)
    yield from (_Place("more", "text", at, is_given=False) for at, _ in sample.call_turns)


def _call_places(
    at: int, turn: CallTurn, before: CallTurn | None, tools: Sequence[Tool], *, is_open: bool
) -> Iterator[_Place]:
    """Yield what is new in a call turn; if `is_open`, what its calls do not give as well."""
    former = before if before is not None and goes_on(before, turn) else None
    for number, call in enumerate(turn.calls):
        schemas = next((tool.properties for tool in tools if tool.name == call.tool), {})
        names, gone = [*call.arguments], list[str]()
        if former is not None:
            found = changes(former.calls[number], call)
            gone = [one.name for one in found if one.sign == "-"]
            names = [one.name for one in found]
        if is_open:
            left = (name for name in schemas if name not in call.arguments and name not in gone)
            names += [*left][:_MOST_OPEN]
        for name in names:
            place = _argument_place(at, number, call, name, schemas.get(name, {}))
            yield place._replace(is_gone=name in gone)
        if is_open or former is None:
            others = tuple(tool.name for tool in tools if tool.name != call.tool)
            is_few = len(others) < _MOST_CHOICES and not turn.executed
            control: Control = "choice" if is_few else "line"
            yield _Place("tool", control, at, number, options=others, value=call.tool)


def _argument_place(at: int, number: int, call: GoldCall, name: str, schema: JsonSchema) -> _Place:
    value, options = call.arguments.get(name), _choosable(schema)
    is_nested = isinstance(value, list | dict)
    control: Control = "line"
    if options and not is_nested:
        control = "choice"
    elif is_nested or schema.get("type") in ("array", "object"):
        control = "text"
    is_given = name in call.arguments
    return _Place("argument", control, at, number, name, options, schema, value, is_given)


def _choosable(schema: JsonSchema) -> tuple[JsonValue, ...]:
    """Return the values of a schema that are few enough to choose from."""
    if schema.get("type") == "boolean":
        return (True, False)
    listed = schema.get("enum")
    if not isinstance(listed, list) or len(listed) > _MOST_CHOICES:
        return ()
    plain = all(one is None or isinstance(one, str | int | float) for one in listed)
    return tuple(listed) if plain else ()


def _options(place: _Place, words: SampleScreenWords, chosen: str) -> tuple[Option, ...]:
    """Return the values of a choice: what stands first, then the others, and nothing last."""
    none = words.no_call if place.role == "tool" else words.not_given
    values = [(_STANDS, write_value(place.value) if place.is_given else none)]
    values += [
        (str(number), write_value(one))
        for number, one in enumerate(place.options, 1)
        if not (place.is_given and is_same(one, place.value))
    ]
    values += [(_NONE, none)] if place.is_given else []
    known = chosen if chosen in dict(values) else _STANDS
    return tuple(Option(value=one, alias=alias, selected=alias == known) for alias, one in values)


def _heading(place: _Place, sample: Sample, words: SampleScreenWords) -> str:
    if place.role == "more":
        return words.more_lines
    if place.role in ("said", "message"):
        return words.edit_words
    named = _call_name(place, sample, words)
    return words.tool_called if named and place.role == "tool" else named


def _call_name(place: _Place, sample: Sample, words: SampleScreenWords) -> str:
    """Return which call a place is of, "" if the sample has but one."""
    calls = sample.calls_at(place.turn)
    where = _turn_name(place.turn, sample, words)
    if not where and len(calls) == 1:
        return ""
    number = f"{place.call + 1}. " if len(calls) > 1 else ""
    tool = shortened(write_name(calls[place.call].tool), _SHOWN)
    return " · ".join(filter(None, [where, f"{number}{tool}"]))


def _turn_name(at: int, sample: Sample, words: SampleScreenWords) -> str:
    """Return when the calls of a turn are due: after which user turn, or at which step."""
    if not is_dialogue(sample):
        return ""
    if is_path(sample):
        return words.step.format(number=[one for one, _ in sample.call_turns].index(at) + 1)
    return user_name(_users_until(at, sample), words)


def _users_until(at: int, sample: Sample) -> int:
    return sum(isinstance(turn, UserTurn) for turn in sample.turns[: at + 1])


def _name(place: _Place, sample: Sample, tools: Sequence[Tool], words: SampleScreenWords) -> str:
    match place.role:
        case "more":
            return _turn_name(place.turn, sample, words)
        case "tool":
            return _call_name(place, sample, words) or words.tool_called
        case "message":
            turn = sample.turns[place.turn]
            message = turn.external if isinstance(turn, UserTurn) else None
            return f"{MESSAGE} {message.app if message else ''}".strip()
        case "said" if isinstance(sample.turns[place.turn], ReplyTurn):
            return words.assistant
        case "said":
            number = _users_until(place.turn, sample)
            return user_name(number, words) if is_dialogue(sample) else words.user
        case "argument":
            called = sample.calls_at(place.turn)[place.call].tool
            tool = next((one for one in tools if one.name == called), None)
            kind = type_name(tool.properties.get(place.argument, {})) if tool is not None else ""
            name = shortened(write_name(place.argument), _SHOWN)
            return f"{name} ({kind})" if kind else name


def _was(place: _Place, words: SampleScreenWords) -> str:
    """Return what stood in a row; a choice shows it first, and the conversation what is said."""
    if place.control in ("choice", "words") or place.role == "more":
        return ""
    return shortened(write_value(place.value), _SHOWN) if place.is_given else words.not_given


def _read(place: _Place, sample: Sample, written: Sequence[Call], words: SampleScreenWords) -> str:
    """Return what a reader wrote in the place of a value or tool, "" if the same."""
    if not written or place.role not in ("argument", "tool"):
        return ""
    called = sample.calls_at(place.turn)[place.call].tool
    read = next((one for one in written if one.tool == called), None)
    other = ""
    if place.role == "tool" and read is None:
        other = ", ".join(one.tool for one in written)
    elif place.role == "argument" and read is not None:
        has = place.argument in read.arguments
        if has != place.is_given:
            other = _shown(read.arguments[place.argument]) if has else words.not_given
        elif has and not is_same(read.arguments[place.argument], place.value):
            other = _shown(read.arguments[place.argument])
    return f"{_MARKS[0]}{words.reader}: {other}{_MARKS[1]}" if other else ""


def _shown(value: JsonValue) -> str:
    return shortened(write_value(value), _SHOWN)


def _write(place: _Place) -> str:
    """Return what stands in a box at first."""
    if not place.is_given:
        return ""
    if place.control == "words":
        return str(place.value)
    if place.role == "tool":
        return write_name(str(place.value))
    if isinstance(place.value, list) and _is_plain_list(place):
        return "\n".join(map(write_value, place.value)) or "[]"
    if isinstance(place.value, list | dict):
        return json.dumps(place.value, ensure_ascii=False, indent=2)
    return json.dumps(_GONE) if place.value == _GONE else write_value(place.value)


def _acts(place: _Place, sample: Sample, words: SampleScreenWords) -> str:
    """Return the dialogue acts before an assistant's words, where the sample has any."""
    turn = sample.turns[place.turn]
    if place.role == "said" and isinstance(turn, ReplyTurn) and _has_acts(sample):
        return write_acts(turn.acts, words)
    return ""


def _has_acts(sample: Sample) -> bool:
    return any(isinstance(turn, ReplyTurn) and turn.acts for turn in sample.turns)


def _is_plain_list(place: _Place) -> bool:
    """Whether a list is written with a line for each item."""
    items = place.schema.get("items")
    values = place.value if isinstance(place.value, list) else []
    is_typed = isinstance(items, dict) and items.get("type") in _SCALARS
    return is_typed and all(isinstance(one, str | int | float) for one in values)


class _Edit:
    """Reads the rows of a sample turn by turn, and collects what can't be read."""

    def __init__(self, entered: Entered, sample: Sample, tools: Sequence[Tool]) -> None:
        self._entered, self._sample, self._tools = entered, sample, tools
        self._words = words_in(DEFAULT_LANGUAGE)
        self._places = [*_named(sample, tools)]
        self._problems: list[str] = []
        self._before: CallTurn | None = None
        self._now: Sequence[GoldCall] = ()

    def turns(self) -> tuple[Turn, ...]:
        turns = tuple(self._turn(at, turn) for at, turn in enumerate(self._sample.turns))
        if self._problems:
            raise RecordError(" ".join(self._problems))
        return turns

    def _turn(self, at: int, turn: Turn) -> Turn:
        mine = [(control, place) for control, place in self._places if place.turn == at]
        if isinstance(turn, CallTurn):
            now: Sequence[GoldCall] = turn.calls
            try:
                now = self._calls(at, turn, mine)
            except RecordError as error:
                self._problems.append(f"{self._where(at)}{error}")
            self._before, self._now = turn, now
            return turn if same_calls(now, turn.calls) else turn.with_changes(calls=tuple(now))
        if isinstance(turn, ResultTurn):
            return turn
        for control, place in mine:
            turn = self._said(turn, place, self._entered.get(control, ""))
        return turn

    def _where(self, at: int) -> str:
        name = _turn_name(at, self._sample, self._words)
        return f"{name}: " if name else ""

    def _said(self, turn: UserTurn | ReplyTurn, place: _Place, typed: str) -> UserTurn | ReplyTurn:
        """Return the turn with the text of one box."""
        try:
            if isinstance(turn, ReplyTurn) and _has_acts(self._sample):
                acts, typed = read_acts(typed, turn)
                turn = turn if acts == turn.acts else turn.with_changes(acts=acts)
            text = _reworded(str(place.value), typed)
        except RecordError as error:
            name = _name(place, self._sample, self._tools, self._words)
            self._problems.append(f"{name}: {error}")
            return turn
        if text == place.value:
            return turn
        if isinstance(turn, UserTurn) and place.role == "message" and turn.external:
            return turn.with_changes(external=turn.external.with_changes(text=text))
        return turn.with_changes(text=text)

    def _calls(self, at: int, turn: CallTurn, mine: Sequence[_Named]) -> list[GoldCall]:
        """Return the calls of a turn as entered. Raises RecordError naming what can't be read."""
        carried: Sequence[GoldCall] = turn.calls
        if goes_on(self._before, turn) and len(self._now) == len(turn.calls):
            carried = self._now
        calls: list[GoldCall] = []
        problems: list[str] = []
        for number, (was, start) in enumerate(zip(turn.calls, carried, strict=True)):
            own = [one for one in mine if one[1].call == number]
            try:
                calls += self._call(was, start, own)
            except RecordError as error:
                problems.append(str(error))
        more = next(control for control, place in mine if place.role == "more")
        try:
            calls = read_lines(calls, self._entered.get(more, ""), self._tools)
        except RecordError as error:
            problems.append(str(error))
        if problems:
            raise RecordError(" ".join(problems))
        if not same_calls(calls, turn.calls):
            may_leave_out = self._may_leave_out(at, turn)
            for call in calls:
                tool = tool_named(call.tool, self._tools)
                check_arguments(tool, call.arguments, may_leave_out=may_leave_out)
        return calls

    def _may_leave_out(self, at: int, turn: CallTurn) -> bool:
        """Whether required arguments may be missing: on the way, or if they were before."""
        lacks = leaves_out(turn.calls, self._tools)
        if not is_dialogue(self._sample):
            return lacks or traits_of(self._sample.kind).is_partial
        is_last = at == max(one for one, _ in self._sample.call_turns)
        return lacks or not turn.calls or not (turn.executed or is_last)

    def _call(self, was: GoldCall, start: GoldCall, mine: Sequence[_Named]) -> list[GoldCall]:
        """Return the call that `start` becomes, or none.

        Of another tool it has the arguments that are named alike. Raises RecordError that names
        each row that can't be read.
        """
        tool = _tool(mine, start.tool, self._entered)
        if not tool:
            return []
        schemas = tool_named(tool, self._tools).properties if tool != was.tool else {}
        is_other = tool != was.tool
        arguments: Arguments = dict(start.arguments)
        problems: list[str] = []
        for control, place in mine:
            if place.role != "argument" or _is_left(place, self._entered.get(control)):
                continue
            schema = schemas.get(place.argument, {}) if is_other else place.schema
            arguments.pop(place.argument, None)
            try:
                arguments |= _argument(place, self._entered.get(control), schema)
            except RecordError as error:
                problems.append(f"{place.argument}: {error}")
        if problems:
            raise RecordError(" ".join(problems))
        if is_other:
            typed = {place.argument for _, place in mine if place.role == "argument"}
            arguments = {
                name: value
                for name, value in arguments.items()
                if name in schemas
                or (name in typed and not is_same(value, was.arguments.get(name)))
            }
        return [GoldCall(tool=tool, arguments=arguments)]


def _reworded(before: str, typed: str) -> str:
    """Return the typed text, or the one before if they differ in outer spaces and line ends only.

    Raises RecordError for an empty text.
    """
    text = plain_lines(typed)
    if text == plain_lines(before):
        return before
    if not text:
        raise RecordError("This turn has no text.")
    return text


def _is_left(place: _Place, entered: str | None) -> bool:
    """Whether a row of an argument that the call does not give was left as it is."""
    is_empty = (entered or "").strip() in ("", _STANDS)
    return is_empty and not place.is_given and not place.is_gone


def _tool(mine: Sequence[_Named], stands: str, entered: Entered) -> str:
    """Return the tool of a call as entered, "" where there shall be no call."""
    for control, place in mine:
        if place.role != "tool":
            continue
        typed = entered.get(control, "").strip()
        if place.control == "line":
            return stands if typed == _write(place) else read_name(typed)[0]
        if typed == _NONE:
            return ""
        return stands if typed in ("", _STANDS) else str(_chosen(place, typed))
    return stands


def _chosen(place: _Place, alias: str) -> JsonValue:
    """Return the option of an alias. Raises RecordError for one that was not offered."""
    if not (alias.isascii() and alias.isdecimal() and 0 < int(alias) <= len(place.options)):
        raise RecordError(f"The choice {alias[:20]!r} was not offered.")
    return place.options[int(alias) - 1]


def _argument(place: _Place, entered: str | None, schema: JsonSchema) -> Arguments:
    """Return the argument that a row holds, nothing where it is not given."""
    text = (entered or "").strip()
    if place.control == "choice":
        if text in ("", _STANDS):
            return {place.argument: place.value} if place.is_given else {}
        return {} if text == _NONE else {place.argument: _chosen(place, text)}
    if text in ("", _GONE):
        return {}
    if place.is_given and text == _write(place).strip():
        return {place.argument: place.value}
    if place.control == "line":
        return {place.argument: read_value(text, schema)}
    items = schema.get("items")
    if text.startswith(("[", "{")) or not isinstance(items, dict):
        return {place.argument: read_json(text, f"The value {text[:60]}")}
    return {place.argument: [read_value(line.strip(), items) for line in text.split("\n")]}


def read_lines(calls: list[GoldCall], lines: str, tools: Sequence[Tool]) -> list[GoldCall]:
    """Return the calls after more lines.

    `-> tool` begins a call, `name = value` and `- name` change the last one, `--` takes all away.
    """
    for line in filter(None, map(str.strip, lines.split("\n"))):
        mark = line[:2].translate(plain_signs())
        if mark == _NO_CALL:
            calls = []
        elif mark == _CALL:
            name, _ = read_name(line[len(_CALL) :].strip())
            calls = [*calls, GoldCall(tool=tool_named(name, tools).name, arguments={})]
        elif not calls:
            raise RecordError(f"The line {line[:60]!r} belongs to no call; begin with `-> tool`.")
        else:
            calls = [*calls[:-1], _with_line(calls[-1], line, tools)]
    return calls


def _with_line(call: GoldCall, line: str, tools: Sequence[Tool]) -> GoldCall:
    """Return the call with one argument set or taken away."""
    sign = line[0].translate(plain_signs())
    name, rest = read_name(line[1:].strip() if sign in "+~-" else line)
    arguments: Arguments = {one: value for one, value in call.arguments.items() if one != name}
    if sign == _GONE and not rest:
        if name not in call.arguments:
            raise RecordError(f"The call has no argument {name!r} to take away.")
        return GoldCall(tool=call.tool, arguments=arguments)
    if not rest.startswith(tuple(signs("="))):
        raise RecordError(f"The line {line[:60]!r} is no `name = value` and no `-> tool`.")
    schema = tool_named(call.tool, tools).properties.get(name, {})
    return GoldCall(
        tool=call.tool, arguments={**arguments, name: read_value(rest[1:].strip(), schema)}
    )
