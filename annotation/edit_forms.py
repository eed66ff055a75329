"""A sample as a form: a typed field for each argument, and the entries as review box text.

The form has no parser of its own: entries are written into the boxes and read from there like
every other edit.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.annotation.calls import (
    read_json,
    read_value,
    same_calls,
    tool_named,
    write_calls,
    write_result,
    write_value,
)
from callwright.annotation.dialogue_editing import write_dialogue
from callwright.annotation.rendering import is_dialogue
from callwright.annotation.reviews import ParsedReview
from callwright.annotation.sample_review import Boxes, parse_review
from callwright.annotation.screens import SAMPLE_REVIEW, SampleScreenWords
from callwright.annotation.studio.records import PulledAnnotation
from callwright.generators.kinds import traits_of
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Arguments,
    CallTurn,
    GoldCall,
    JsonSchema,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

FieldKind = Literal["choice", "integer", "number", "date", "text", "list", "json"]
# what a person entered, by the name of the field; a field that is not there was not touched
Entered = Mapping[str, str]
MOST_CALLS = 30  # of one turn
_NUMBERS: dict[FieldKind, re.Pattern[str]] = {
    "integer": re.compile(r"-?\d{1,30}", re.ASCII),
    "number": re.compile(r"-?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,3})?", re.ASCII),
    "date": re.compile(r"\d{4}-\d\d-\d\d", re.ASCII),
}
_KINDS: dict[str, FieldKind] = {
    "integer": "integer",
    "number": "number",
    "object": "json",
    "array": "json",
}
_SCALARS = ("string", "integer", "number", "boolean")


class ArgumentField(NamedTuple):
    """The form field of one argument: its `name` in the form and its text, "" if not given."""

    name: str
    argument: str
    kind: FieldKind
    entered: str
    choices: tuple[str, ...]
    description: str
    required: bool


class CallPart(NamedTuple):
    """One call of a turn, or room for one more if `tool` is ""."""

    name: str
    tool: str
    fields: tuple[ArgumentField, ...]


class TurnPart(NamedTuple):
    """One turn of the form: its `text` and `message`, None if it has none, or its calls."""

    name: str
    kind: str
    text: str | None = None
    message: str | None = None
    app: str = ""
    calls: tuple[CallPart, ...] = ()
    fixed: str = ""
    is_changed: bool = False


class FormProblem(NamedTuple):
    """A turn's input that can't be read, by field name."""

    turn: str
    sentence: str


class EditForm(NamedTuple):
    """A filled-in form for a sample; `boxes` hold everything except what the problems name."""

    turns: tuple[TurnPart, ...]
    boxes: Boxes
    problems: tuple[FormProblem, ...]


def edit_form(
    sample: Sample, tools: Sequence[Tool], words: SampleScreenWords, entered: Entered
) -> EditForm:
    """Return the form of `sample` with a person's entries; without entries, the sample itself.

    `tools` are the sample's candidates. Snapshots build on one another, as in the boxes: an
    untouched snapshot takes over the changes made before it.
    """
    plain = {name: text.replace("\r\n", "\n").replace("\r", "\n") for name, text in entered.items()}
    read = [_read_turn(f"t{index}", turn, tools, plain) for index, turn in enumerate(sample.turns)]
    turns = [one.turn for one in read]
    pairs = [*zip(sample.turns, turns, strict=True)]
    changed = {}
    for index, (was, now) in enumerate(pairs):
        if isinstance(was, CallTurn) and isinstance(now, CallTurn) and was != now:
            changed[index] = now.calls
    if is_dialogue(sample):
        shown_turns = [was if isinstance(was, CallTurn) else now for was, now in pairs]
        boxes = Boxes(
            write_dialogue(sample.with_changes(turns=tuple(shown_turns)), words, changed), ""
        )
    else:
        request = turns[0].text if isinstance(turns[0], UserTurn) else sample.request
        boxes = Boxes(request, write_calls(changed.get(1, sample.gold)))
    found = (FormProblem(one.part.name, sentence) for one in read for sentence in one.problems)
    problems = tuple(found)
    parts = tuple(one.part for one in read)
    if traits_of(sample.kind).is_partial:  # nothing has to be there that nobody said
        parts = tuple(map(_without_required, parts))
    return EditForm(parts, boxes, problems)


def _without_required(part: TurnPart) -> TurnPart:
    """Return the part with none of its fields marked as required."""
    calls = (
        call._replace(fields=tuple(field._replace(required=False) for field in call.fields))
        for call in part.calls
    )
    return part._replace(calls=tuple(calls))


class _ReadTurn(NamedTuple):
    """A turn as entered: the part of the form, and what could not be read."""

    turn: Turn
    part: TurnPart
    problems: Sequence[str] = ()


def _read_turn(name: str, turn: Turn, tools: Sequence[Tool], entered: Entered) -> _ReadTurn:
    match turn:
        case CallTurn():
            return _read_calls(name, turn, tools, entered)
        case ResultTurn():
            return _ReadTurn(turn, TurnPart(name, turn.kind, fixed=write_result(turn)))
        case UserTurn() | ReplyTurn():
            return _read_text(name, turn, entered)


def _read_text(name: str, turn: UserTurn | ReplyTurn, entered: Entered) -> _ReadTurn:
    external = turn.external if isinstance(turn, UserTurn) else None
    text = entered.get(f"{name}.text", turn.text)
    message = None if external is None else entered.get(f"{name}.message", external.text)
    now: Turn = turn.with_changes(text=_unless_blank(text, turn.text))
    if external is not None and message is not None:
        held = external.with_changes(text=_unless_blank(message, external.text))
        now = now.with_changes(external=held)
    typed_texts = [text] if message is None else [text, message]
    app = external.app if external else ""
    part = TurnPart(name, turn.kind, text, message, app, is_changed=now != turn)
    return _ReadTurn(
        now, part, ["This turn has no text."] * any(not one.strip() for one in typed_texts)
    )


def _unless_blank(text: str, before: str) -> str:
    return text if text.strip() else before


def _read_calls(name: str, turn: CallTurn, tools: Sequence[Tool], entered: Entered) -> _ReadTurn:
    """Read the calls of a turn, with room for one more; a call without a tool is dropped."""
    count = max(len(turn.calls), sum(f"{name}.c{at}" in entered for at in range(MOST_CALLS)))
    parts, calls, problems = [], [], []
    for at in range(min(count, MOST_CALLS)):
        was = turn.calls[at] if at < len(turn.calls) else None
        tool = entered.get(f"{name}.c{at}", was.tool if was else "").strip()
        former_call = was if was and was.tool == tool else None
        fields = tuple(_fields(f"{name}.c{at}", tool, former_call, tools, entered))
        parts.append(CallPart(f"{name}.c{at}", tool, fields))
        if tool:
            arguments, unread = _arguments(fields, former_call, _schemas(tool, tools))
            calls.append(GoldCall(tool=tool, arguments=arguments))
            problems += [*unread, *_unknown(tool, former_call, tools)]
    if len(parts) < MOST_CALLS and (not parts or parts[-1].tool):
        parts.append(CallPart(f"{name}.c{len(parts)}", "", ()))
    is_changed = not same_calls(calls, turn.calls)
    part = TurnPart(name, turn.kind, calls=tuple(parts), is_changed=is_changed)
    return _ReadTurn(turn.with_changes(calls=tuple(calls)) if is_changed else turn, part, problems)


def _unknown(tool: str, known: GoldCall | None, tools: Sequence[Tool]) -> Iterator[str]:
    try:
        if known is None:
            tool_named(tool, tools)
    except RecordError as error:
        yield str(error)


def _schemas(tool: str, tools: Sequence[Tool]) -> dict[str, JsonSchema]:
    return next((one.properties for one in tools if one.name == tool), {})


def _fields(
    call: str, tool: str, known: GoldCall | None, tools: Sequence[Tool], entered: Entered
) -> Iterator[ArgumentField]:
    """Yield a field for each parameter, required ones first, and for each unknown argument."""
    required = next((set(one.required) for one in tools if one.name == tool), set())
    schemas, former_arguments = _schemas(tool, tools), known.arguments if known else {}
    names = dict.fromkeys((*schemas, *former_arguments))
    for argument in sorted(names, key=lambda name: name not in required):
        schema = schemas.get(argument, {})
        kind = _kind(schema, [former_arguments[argument]] if argument in former_arguments else [])
        before = (
            write_field(former_arguments[argument], kind) if argument in former_arguments else ""
        )
        name = f"{call}.{argument}"
        now = entered.get(name, before)
        choices = tuple(_choices(schema))
        is_number = kind not in _NUMBERS or not now.strip() or _NUMBERS[kind].fullmatch(now.strip())
        if not is_number or (kind == "choice" and now not in ("", *choices)):
            kind = "text"  # shown as it is, and said to be wrong
        told = schema.get("description")
        about = told if isinstance(told, str) else ""
        yield ArgumentField(name, argument, kind, now, choices, about, argument in required)


def _choices(schema: JsonSchema) -> Iterator[str]:
    if schema.get("type") == "boolean":
        yield from ("true", "false")
    elif isinstance(schema.get("enum"), list):
        plain = (one for one in schema["enum"] if one is None or isinstance(one, str | int | float))
        yield from map(write_value, plain)


def _kind(schema: JsonSchema, given: Sequence[JsonValue]) -> FieldKind:
    """Return how to enter values of a schema; given values of another kind become JSON or text."""
    items, is_nested = schema.get("items"), any(isinstance(value, list | dict) for value in given)
    if [*_choices(schema)] and not is_nested:
        return "choice"
    if schema.get("type") == "array" and isinstance(items, dict) and items.get("type") in _SCALARS:
        members = (one for value in given for one in (value if isinstance(value, list) else [None]))
        return "list" if all(isinstance(one, str | int | float) for one in members) else "json"
    if is_nested:
        return "json"
    if schema.get("format") == "date":
        return "date"
    if given and isinstance(given[0], str):
        return "text"
    return _KINDS.get(str(schema.get("type")), "text")


def write_field(value: JsonValue, kind: FieldKind) -> str:
    """Return a value as its field shows it: a list has one line for each item."""
    if kind == "list" and isinstance(value, list):
        return "\n".join(map(write_value, value)) or "[]"
    return json.dumps(value, ensure_ascii=False, indent=2) if kind == "json" else write_value(value)


def read_field(entered: str, kind: FieldKind, schema: JsonSchema) -> JsonValue:
    """Return the value of a field. Raises RecordError if it can't be read."""
    text = entered.strip()
    if kind == "json":
        return read_json(text, f"The value {text[:60]}")
    if kind != "list" or text == "[]":
        return [] if kind == "list" else read_value(text, schema)
    items = schema.get("items")
    inner = items if isinstance(items, dict) else {}
    return [read_value(line.strip(), inner) for line in text.split("\n") if line.strip()]


def _arguments(
    fields: Sequence[ArgumentField], known: GoldCall | None, schemas: Mapping[str, JsonSchema]
) -> tuple[Arguments, list[str]]:
    """Return the arguments in the fields, and a sentence for each field that cannot be read.

    Untouched fields keep their old value.
    """
    arguments: Arguments = {}
    problems: list[str] = []
    before = known.arguments if known else {}
    for field in fields:
        schema = schemas.get(field.argument, {})
        if not field.entered.strip():
            continue
        if field.argument in before:
            value = before[field.argument]
            if field.entered.strip() == write_field(value, _kind(schema, [value])).strip():
                arguments[field.argument] = value
                continue
        try:
            arguments[field.argument] = read_field(field.entered, field.kind, schema)
        except RecordError as error:
            problems.append(f"{field.argument}: {error}")
    ordered = {name: arguments[name] for name in before if name in arguments}
    return ordered | arguments, problems


def parse_form(form: EditForm, sample: Sample, tools: Sequence[Tool]) -> ParsedReview:
    """Return what a pull will read once the form is submitted."""
    annotation = PulledAnnotation(
        server="",
        task_id=0,
        annotation_id=0,
        kind=SAMPLE_REVIEW,
        subject=sample.key,
        version=1,
        reviewer="",
        reviewed_at=datetime.now(UTC),
        seconds=0,
        result=tuple(annotation_result(form.boxes)),
    )
    return parse_review(annotation, sample, tools)


def annotation_result(boxes: Boxes, comment: str = "") -> list[dict[str, JsonValue]]:
    """Return the annotation that the review screen makes of these boxes for the verdict "edit"."""
    box_texts = {"edited_request": boxes.request, "edited_calls": boxes.calls}
    box_texts["comment"] = comment.strip()
    typed = {name: text for name, text in box_texts.items() if text or name == "edited_request"}
    shared: dict[str, JsonValue] = {"to_name": "conversation", "origin": "manual"}
    verdict: dict[str, JsonValue] = {
        "from_name": "verdict",
        "type": "choices",
        "value": {"choices": ["edit"]},
    }
    texts: list[dict[str, JsonValue]] = [
        {**shared, "id": name, "from_name": name, "type": "textarea", "value": {"text": [text]}}
        for name, text in typed.items()
    ]
    return [{**shared, "id": "verdict", **verdict}, *texts]
