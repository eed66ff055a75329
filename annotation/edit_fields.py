"""The calls of a single request as fields in its task: one for each tool and argument.

Label Studio repeats its controls over three lists of the task: `fields` of one line, `choices`,
and `texts` of several lines. Which field stands for what follows from the sample alone, so that
nothing of it is kept: the n-th control of a list is read as the n-th place of the sample.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.annotation.calls import (
    is_same,
    read_json,
    read_name,
    read_value,
    shortened,
    tool_named,
    write_name,
    write_value,
)
from callwright.annotation.rendering import is_dialogue, type_name
from callwright.annotation.reviews import read_control, typed_into
from callwright.annotation.screens import SampleScreenWords
from callwright.annotation.studio.records import PulledAnnotation
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Arguments,
    Call,
    GoldCall,
    JsonSchema,
    Reading,
    Record,
    Sample,
    Tool,
)

Control = Literal["field", "choice", "text"]
Entered = Mapping[str, str]  # by control and number: "field_2"; "" where a field was emptied
_SCALARS = ("string", "integer", "number", "boolean")
_MOST_CHOICES = 8  # of more the name or value is typed
_MOST_OPEN = 20  # fields of parameters that a call does not give; others are added by lines
_SHOWN = 80  # characters of a value in a label
_NONE = "0"  # the alias of the choice that there is none; others count from 1
_CALLS = "->"
_GONE = "-"  # what takes an argument away; a value that is this sign stands in quotation marks
_MARKS = ("⟦", "⟧")


class EditField(Record):
    """A field of the task: its label and what stands in it."""

    name: str
    value: str


class Option(Record):
    """One value to choose; Label Studio gives its `alias` back."""

    value: str
    alias: str


class EditChoice(Record):
    """A field of the task whose values are chosen; nothing chosen leaves it as it is."""

    name: str
    values: tuple[Option, ...]


class EditFields(NamedTuple):
    """The three lists of a task over which Label Studio repeats its controls."""

    fields: tuple[EditField, ...] = ()
    choices: tuple[EditChoice, ...] = ()
    texts: tuple[EditField, ...] = ()


class _Place(NamedTuple):
    """What a field stands for: the tool of a call (`argument` is ""), an argument, or more lines.

    `options` are the values of a choice. `schema` is that of an argument, and `value` the gold's,
    None if it has none.
    """

    control: Control
    call: int
    argument: str = ""
    options: tuple[JsonValue, ...] = ()
    schema: JsonSchema = {}  # noqa: RUF012 - never changed
    value: JsonValue = None
    is_given: bool = False
    is_more: bool = False


def edit_fields(
    sample: Sample,
    tools: Sequence[Tool],
    readings: Sequence[Reading],
    words: SampleScreenWords,
    entered: Entered,
) -> EditFields:
    """Return the fields of a single request, with what was `entered` before; none else.

    Each label says the gold's value, so that an edit stands beside what it replaces, and what a
    reader wrote otherwise, in ⟦ ⟧.
    """
    if is_dialogue(sample):
        return EditFields()
    written = next((reading.calls for reading in readings), ())
    lists: dict[Control, list[EditField | EditChoice]] = {"field": [], "choice": [], "text": []}
    for control, place in _named(sample, tools):
        label = " · ".join(_label(place, sample, tools, written, words))
        if place.control == "choice":
            chosen = entered.get(control, "")
            options = _options(place, words)
            before = [one.value for one in options if one.alias == chosen]
            label = f"{label} → {before[0]}" if before else label
            lists["choice"].append(EditChoice(name=label, values=options))
        else:
            value = entered.get(control, _write(place))
            lists[place.control].append(EditField(name=label, value=value))
    return EditFields(*(tuple(found) for found in lists.values()))  # type: ignore[arg-type] # by control


def read_entered(pulled: PulledAnnotation, sample: Sample, tools: Sequence[Tool]) -> Entered:
    """Return what stands in the fields of an annotation, by control and number.

    Raises RecordError if fields that held something are all empty.
    """
    entered: dict[str, str] = {}
    held = touched = False
    for control, place in _named(sample, tools):
        if place.control == "choice":
            chosen = read_control(pulled, control, "choices")
            entered |= {control: chosen[-1]} if chosen else {}
            continue
        text = typed_into(pulled, control)
        held, touched = held or bool(_write(place)), touched or text is not None
        entered[control] = (text or "").replace("\r\n", "\n")
    if held and not touched:
        raise RecordError(
            "All fields of the calls are empty. Where no call is due, choose so for its tool."
        )
    return entered


def write_entered(entered: Entered) -> str:
    """Return what was entered as the text that a returned edit keeps."""
    return json.dumps(dict(entered), ensure_ascii=False)


def entered_before(kept: str) -> Entered:
    """Return what a returned edit kept of its fields; nothing where it kept calls as JSON."""
    try:
        found = json.loads(kept) if kept else {}
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: text for name, text in found.items() if isinstance(text, str)}


def entered_calls(entered: Entered, sample: Sample, tools: Sequence[Tool]) -> list[GoldCall]:
    """Return the calls that the fields hold. Raises RecordError that names each unread field."""
    places = [*_named(sample, tools)]
    calls: list[GoldCall] = []
    problems: list[str] = []
    for at, was in enumerate(sample.gold):
        mine = [(control, place) for control, place in places if place.call == at]
        try:
            tool = _tool(mine, was.tool, entered)
            calls += [_call(tool, was, mine, entered, tools)] if tool else []
        except RecordError as error:
            problems.append(str(error))
    more = next((entered.get(control, "") for control, place in places if place.is_more), "")
    try:
        calls = _with_lines(calls, more, tools)
    except RecordError as error:
        problems.append(str(error))
    if problems:
        raise RecordError(" ".join(problems))
    return calls


def _named(sample: Sample, tools: Sequence[Tool]) -> Iterator[tuple[str, _Place]]:
    """Yield each place with the name of its control, in the order of the screen."""
    counts: dict[Control, int] = {"field": 0, "choice": 0, "text": 0}
    for place in _places(sample, tools):
        yield f"{place.control}_{counts[place.control]}", place
        counts[place.control] += 1


def _places(sample: Sample, tools: Sequence[Tool]) -> Iterator[_Place]:
    for at, call in enumerate(sample.gold):
        schemas = next((tool.properties for tool in tools if tool.name == call.tool), {})
        left = [name for name in schemas if name not in call.arguments]
        for argument in (*call.arguments, *left[:_MOST_OPEN]):
            is_given = argument in call.arguments
            schema, value = schemas.get(argument, {}), call.arguments.get(argument)
            options = _choosable(schema)
            is_nested = isinstance(value, list | dict)
            control: Control = "field"
            if options and not is_nested:
                control = "choice"
            elif is_nested or schema.get("type") in ("array", "object"):
                control = "text"
            yield _Place(control, at, argument, options, schema, value, is_given)
        others = tuple(tool.name for tool in tools if tool.name != call.tool)
        is_few = len(others) < _MOST_CHOICES
        yield _Place("choice" if is_few else "field", at, options=others, value=call.tool)
    yield _Place("text", max(0, len(sample.gold) - 1), is_more=True)


def _choosable(schema: JsonSchema) -> tuple[JsonValue, ...]:
    """Return the values of a schema that are few enough to choose from."""
    if schema.get("type") == "boolean":
        return (True, False)
    listed = schema.get("enum")
    if not isinstance(listed, list) or len(listed) > _MOST_CHOICES:
        return ()
    plain = all(one is None or isinstance(one, str | int | float) for one in listed)
    return tuple(listed) if plain else ()


def _options(place: _Place, words: SampleScreenWords) -> tuple[Option, ...]:
    none = [Option(value=words.not_given, alias=_NONE)] if place.is_given else []
    if not place.argument:
        none = [Option(value=words.no_call, alias=_NONE)]
    values = [
        Option(value=write_value(one), alias=str(number))
        for number, one in enumerate(place.options, 1)
        if not (place.is_given and is_same(one, place.value))
    ]
    return (*values, *none)


def _label(
    place: _Place,
    sample: Sample,
    tools: Sequence[Tool],
    written: Sequence[Call],
    words: SampleScreenWords,
) -> Iterator[str]:
    number = f"{place.call + 1}. " if len(sample.gold) > 1 else ""
    if place.is_more:
        yield words.more_lines
        return
    was = sample.gold[place.call]
    read = next((one for one in written if one.tool == was.tool), None)
    if not place.argument:
        yield f"{number}{words.tool_called}"
        yield shortened(write_name(was.tool), _SHOWN)
        if written and read is None:
            yield _marked(f"{words.reader}: {', '.join(one.tool for one in written)}")
        return
    tool = next((one for one in tools if one.name == was.tool), None)
    kind = type_name(tool.properties.get(place.argument, {})) if tool is not None else ""
    yield f"{number}{shortened(write_name(place.argument), _SHOWN)}{f' ({kind})' if kind else ''}"
    yield _shown(place.value) if place.is_given else words.not_given
    if read is None:
        return
    has = place.argument in read.arguments
    if has != place.is_given or (has and not is_same(read.arguments[place.argument], place.value)):
        other = _shown(read.arguments[place.argument]) if has else words.not_given
        yield _marked(f"{words.reader}: {other}")


def _shown(value: JsonValue) -> str:
    return shortened(write_value(value), _SHOWN)


def _marked(text: str) -> str:
    return f"{_MARKS[0]}{text}{_MARKS[1]}"


def _write(place: _Place) -> str:
    """Return what stands in a field at first."""
    if place.is_more or (place.argument and not place.is_given):
        return ""
    if not place.argument:
        return write_value(place.value)
    if isinstance(place.value, list) and _is_plain_list(place):
        return "\n".join(map(write_value, place.value)) or "[]"
    if isinstance(place.value, list | dict):
        return json.dumps(place.value, ensure_ascii=False, indent=2)
    return json.dumps(_GONE) if place.value == _GONE else write_value(place.value)


def _is_plain_list(place: _Place) -> bool:
    """Whether a list is written with a line for each item."""
    items = place.schema.get("items")
    values = place.value if isinstance(place.value, list) else []
    is_typed = isinstance(items, dict) and items.get("type") in _SCALARS
    return is_typed and all(isinstance(one, str | int | float) for one in values)


def _tool(mine: Sequence[tuple[str, _Place]], was: str, entered: Entered) -> str:
    """Return the tool of a call as entered, "" where there shall be no call."""
    for control, place in mine:
        if place.argument or place.is_more:
            continue
        if place.control == "field":
            return entered.get(control, was).strip()
        chosen = entered.get(control, "")
        if chosen == _NONE:
            return ""
        return str(_chosen(place, chosen)) if chosen else was
    return was


def _chosen(place: _Place, alias: str) -> JsonValue:
    """Return the option of an alias. Raises RecordError for one that was not offered."""
    if not (alias.isascii() and alias.isdecimal() and 0 < int(alias) <= len(place.options)):
        raise RecordError(f"The choice {alias[:20]!r} was not offered.")
    return place.options[int(alias) - 1]


def _call(
    tool: str,
    was: GoldCall,
    mine: Sequence[tuple[str, _Place]],
    entered: Entered,
    tools: Sequence[Tool],
) -> GoldCall:
    """Return a call as entered; of another tool it has the arguments that are named alike.

    Raises RecordError that names each field that can't be read.
    """
    is_other = tool != was.tool
    schemas = tool_named(tool, tools).properties if is_other else {}
    arguments: Arguments = {}
    problems: list[str] = []
    for control, place in mine:
        if not place.argument or (is_other and place.argument not in schemas):
            continue
        schema = schemas[place.argument] if is_other else place.schema
        try:
            arguments |= _argument(place, entered.get(control), schema)
        except RecordError as error:
            problems.append(f"{place.argument}: {error}")
    if problems:
        raise RecordError(" ".join(problems))
    return GoldCall(tool=tool, arguments=arguments)


def _argument(place: _Place, entered: str | None, schema: JsonSchema) -> Arguments:
    """Return the argument that a field holds, nothing where it is not given."""
    if place.control == "choice":
        if not entered:
            return {place.argument: place.value} if place.is_given else {}
        return {} if entered == _NONE else {place.argument: _chosen(place, entered)}
    text = (entered or "").strip()
    if text in ("", _GONE):
        return {}
    if place.is_given and text == _write(place).strip():
        return {place.argument: place.value}
    if place.control == "field":
        return {place.argument: read_value(text, schema)}
    items = schema.get("items")
    if text.startswith(("[", "{")) or not isinstance(items, dict):
        return {place.argument: read_json(text, f"The value {text[:60]}")}
    return {place.argument: [read_value(line.strip(), items) for line in text.split("\n")]}


def _with_lines(calls: list[GoldCall], lines: str, tools: Sequence[Tool]) -> list[GoldCall]:
    """Return the calls with those of the lines: `-> tool` begins one, `name = value` goes on."""
    for line in filter(None, map(str.strip, lines.split("\n"))):
        if line.startswith(_CALLS):
            name, _ = read_name(line.removeprefix(_CALLS).strip())
            calls = [*calls, GoldCall(tool=tool_named(name, tools).name, arguments={})]
            continue
        if not calls:
            raise RecordError(f"The line {line[:60]!r} belongs to no call; begin with `-> tool`.")
        name, rest = read_name(line.lstrip("+~ "))
        if not rest.lstrip().startswith("="):
            raise RecordError(f"The line {line[:60]!r} is no `name = value` and no `-> tool`.")
        schema = tool_named(calls[-1].tool, tools).properties.get(name, {})
        value = read_value(rest.lstrip().removeprefix("=").strip(), schema)
        arguments = {**calls[-1].arguments, name: value}
        calls = [*calls[:-1], GoldCall(tool=calls[-1].tool, arguments=arguments)]
    return calls
