"""Give an argument another plausible value of its type, its wording, and a conversation.

(HammerBench 4.2.3) SO_case1: the user takes the value back in the turn that says it. SO_case2:
the user does so in a separate turn, while a question is open, which the assistant then asks
again. mSv: after the call the user wants it again with another value.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise
from random import Random
from typing import NamedTuple

from pydantic import BaseModel, JsonValue

from callwright.generators.families import Family, Kind, Traits
from callwright.generators.kinds import name_of
from callwright.generators.shifts import ARGUMENTS, INTENTS
from callwright.generators.shifts.changeable import (
    ChangeableArgument,
    affected,
    call_at,
    find_places,
    interruptions,
    obstacle_to,
    tool_obstacle,
)
from callwright.generators.shifts.turns import (
    call_with_value,
    moved,
    obstacle,
    shift_intents,
    shifted_facts,
    snapshots_before,
    stock_phrases,
    until_due,
    with_value,
)
from callwright.generators.slots import Slot, draw_manner, fill, slots_of, wording_problem
from callwright.generators.stages import (
    ATTEMPTS,
    StageContext,
    Step,
    asked_origin,
    first_fit,
    in_a_row,
)
from callwright.generators.stated_values import Place, span_evidence
from callwright.generators.tools import EMPTY, mended, titled_schema, tools_by_name
from callwright.generators.transcripts import conversation_text
from callwright.generators.whole_calls import made_problems
from callwright.language.calls.parameters import in_context, titles_of
from callwright.language.calls.sampling import fill_in, out_of_order
from callwright.language.names import split_name
from callwright.language.packs import of, signs
from callwright.language.schemas import kind_of
from callwright.language.text import fold
from callwright.language.values import locate, read_value
from callwright.language.wording import content_keys
from callwright.llm.prompts import render
from callwright.llm.stated_schemas import Line
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import (
    CallTurn,
    Derivation,
    Evidence,
    JsonSchema,
    Origin,
    ReplyTurn,
    Sample,
    Tool,
    Transform,
    Turn,
    UserTurn,
    ValueChange,
)

PROMPTS = "callwright.generators.shifts.prompts"
STAGE = "overriding"
TEMPLATE = "word_correction"
_ENDED = tuple(signs(".!?…\"'”’){close}"))


class OverridingText(BaseModel, title="Correction"):
    """What the user says to have another value, with a slot for it."""

    sentence: Line


class ShiftScene(NamedTuple):
    """A change to be worded: its place, the turns before, and whether to name the parameter.

    `turns` are the turns before the one that brings the change; in the same turn (SO_case1) that
    one is the last of them.
    """

    change: ValueChange
    place: ChangeableArgument
    tool: Tool
    schema: JsonSchema
    turns: tuple[Turn, ...]
    must_name: bool

    @property
    def source(self) -> Sample:
        """The part of the source that is changed."""
        derivation = self.change.derivation
        return until_due(derivation.source, derivation.transform)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The slot for the new value, said in the manner of this user."""
        seed, new = self.change.derivation.seed, {self.place.argument: self.change.new}
        manner = draw_manner(Random(f"{seed}:manner"))
        return slots_of([(self.tool, new)], self.source.language, manner, Random(f"{seed}:new"))


async def override_values(change: ValueChange, context: StageContext) -> list[Sample]:
    """Return the source with the change worded and all later snapshots corrected.

    Raises RecordError if the change doesn't fit its source, ReplyError if three wordings fail.
    """
    scene = _scene(change, context)
    correction = await _ask(scene, context)
    build = {"SO_case1": _in_same_turn, "SO_case2": _in_own_turn}.get(
        change.derivation.transform, _after_call
    )
    turns, shift = build(scene, correction)
    source = scene.source
    sample = source.with_changes(
        kind=name_of(source.kind, change.derivation.transform),
        changes=(),
        turns=turns,
        facts=shifted_facts(source, shift),
        origin=asked_origin(STAGE, change, change.derivation.seed, context, (PROMPTS, TEMPLATE)),
    )
    return [sample]


class StatedChange(NamedTuple):
    """A sentence that brings a change, and where it states the new value."""

    sentence: str
    place: Place


def correction_problem(sentence: str, scene: ShiftScene) -> str:
    """Return why this wording can't bring the change, or "".

    It must say the new value last, and of the right parameter.
    """
    new, old = scene.change.new, scene.change.old
    known = f"{conversation_text(scene.turns)} {_words(old)}"
    problem = wording_problem(sentence, scene.slots, scene.source.language, known=known)
    if problem:
        return problem
    text, place = _filled(sentence, scene)
    if not isinstance(old, bool) and locate(old, scene.schema, text[place.end :]) is not None:
        return f"It says the old value {old!r} after the new one. Say the new one last."
    if scene.must_name and not _is_named(text, text[place.start : place.end], scene):
        return (  # it could be read in two ways
            f"It does not say what is to be {new!r}, and several things could be: name the"
            f" {' '.join(split_name(scene.place.argument))}."
        )
    return ""


def _filled(sentence: str, scene: ShiftScene) -> StatedChange:
    filled = fill(sentence, scene.slots)
    return StatedChange(filled.text, next(iter(filled.places.values())))


def _scene(change: ValueChange, context: StageContext) -> ShiftScene:
    transform = change.derivation.transform
    source = until_due(change.derivation.source, transform)
    places = find_places(source, context.tools, transform)
    where = (change.turn, change.call, change.argument)
    place = next((one for one in places if (one.turn, one.call, one.argument) == where), None)
    if place is None or call_at(source, place).arguments[place.argument] != change.old:
        reason = (
            obstacle_to(transform, source, context.tools)
            or "its source has no such value there that could be changed."
        )
        message = f"The change of {change.argument!r} at turn {change.turn} can't be made: {reason}"
        raise RecordError(message)
    call, named = call_at(source, place), tools_by_name(source, context.tools)
    must_name = isinstance(change.new, bool) or _is_mistakable(change, place, named[call.tool])
    stated, turns = place.stated.turn if place.stated else None, source.turns
    if transform == "SO_case1" and stated is not None:
        turns = turns[: stated + 1]
    elif transform == "SO_case2":
        turns = turns[: context.rng.choice(interruptions(source, place, named))]
    elif not isinstance(turns[-1], ReplyTurn):
        turns = (*turns, ReplyTurn(text=context.rng.choice(stock_phrases(source.language, "done"))))
    tool = named[call.tool]
    argument = place.argument
    return ShiftScene(
        change, place, named[call.tool], titled_schema(tool, argument), turns, must_name
    )


def _is_mistakable(change: ValueChange, place: ChangeableArgument, tool: Tool) -> bool:
    """Whether the new value, said by itself, could be meant for another parameter."""
    call = call_at(change.derivation.source, place)
    others = list(call.arguments)
    match change.derivation.transform:
        case "SO_case1":  # what is taken back in the same breath was stated in it
            turn = place.stated.turn if place.stated else None
            others = [one.argument for one in call.evidence if one.turn == turn] or others
        case "SO_case2":  # it could also be the answer to the question that is open
            others = list(tool.properties)
    kinds = {
        name: kind_of(schema).replace("integer", "number")
        for name, schema in tool.properties.items()
    }
    return any(
        kinds[name] in (kinds[place.argument], "enum")
        and not made_problems(tool, {name: change.new}, partial=True)
        for name in others
        if name != place.argument and name in kinds
    )


async def _ask(scene: ShiftScene, context: StageContext) -> StatedChange:
    [slot] = scene.slots
    prompt = render(
        PROMPTS,
        TEMPLATE,
        tool=scene.tool,
        arguments=call_at(scene.source, scene.place).arguments,
        change=scene.change,
        transform=scene.change.derivation.transform,
        named="yes" if scene.must_name else "",
        slot=slot,
        conversation=conversation_text(scene.turns),
        language=scene.source.language,
        seed=scene.change.derivation.seed,
    )
    complaint = f"The change of {scene.place.argument!r} was not worded well in {ATTEMPTS} answers"
    correction = await first_fit(
        context,
        prompt,
        OverridingText,
        lambda given: correction_problem(given.sentence, scene),
        complaint,
    )
    return _filled(correction.sentence, scene)


def _is_named(text: str, words: str, scene: ShiftScene) -> bool:
    """Whether the sentence mentions the parameter, or the value that it takes back."""
    old, name = scene.change.old, scene.place.argument
    if not isinstance(old, bool) and locate(old, scene.schema, text) is not None:
        return True
    before, after = text[: text.rindex(words)], text[text.rindex(words) + len(words) :]
    # a yes or no is stated by its topic, so that the words of the value name the parameter
    remaining_text = text if isinstance(scene.change.new, bool) else f"{before} {after}"
    description = str(scene.schema.get("description", ""))
    if any(title.lower() in remaining_text.lower() for title in titles_of(name, description)):
        return True
    rendered = f"{' '.join(split_name(name))} {description}"
    return not _telling(rendered).isdisjoint(_telling(remaining_text))


def _telling(text: str) -> frozenset[str]:
    """Return what a text is about: word stems, and character pairs where there are no spaces."""
    keys = content_keys(text)
    neighbours = ((one.light, other.light) for one, other in pairwise(keys))
    pairs = (one + other for one, other in neighbours if len(one) == len(other) == 1)
    return frozenset((*(key.deep for key in keys if len(key.light) > 1), *pairs))


def _in_same_turn(scene: ShiftScene, correction: StatedChange) -> tuple[tuple[Turn, ...], int]:
    at, source = len(scene.turns) - 1, scene.source
    spoken = scene.turns[at]
    assert isinstance(spoken, UserTurn)  # the turn that says the value  # noqa: S101
    before, words = spoken.text.rstrip(), of(source.language)
    head = f"{before}{'' if before.endswith(_ENDED) or not before else words.stop}{words.space}"
    turn = spoken.with_changes(text=f"{head}{correction.sentence}")
    stated = _evidence(scene, correction, at, len(head), turn.text)
    later = (
        _with_change(scene, index, one, stated)
        for index, one in enumerate(source.turns[at + 1 :], start=at + 1)
    )
    return (*source.turns[:at], turn, *later), snapshots_before(
        source.turns, min(affected(source, scene.place))
    )


def _in_own_turn(scene: ShiftScene, correction: StatedChange) -> tuple[tuple[Turn, ...], int]:
    at, source = len(scene.turns), scene.source
    evidence = _evidence(scene, correction, at, 0, correction.sentence)
    asked, before = scene.turns[-1], scene.turns[-2]
    again = (_with_change(scene, at - 2, before, evidence),) if isinstance(before, CallTurn) else ()
    put_in: tuple[Turn, ...] = (UserTurn(text=correction.sentence), *again, asked)
    later = (
        _with_change(scene, index, moved(one, at, len(put_in)), evidence)
        for index, one in enumerate(source.turns[at:], start=at)
    )
    return (*scene.turns, *put_in, *later), snapshots_before(source.turns, at)


def _after_call(scene: ShiftScene, correction: StatedChange) -> tuple[tuple[Turn, ...], int]:
    at = len(scene.turns)
    stated = _evidence(scene, correction, at, 0, correction.sentence)
    call = call_with_value(call_at(scene.source, scene.place), scene.change.new, stated)
    turns = (*scene.turns, UserTurn(text=correction.sentence), CallTurn(calls=(call,)))
    return turns, snapshots_before(scene.turns, at)


def _evidence(
    scene: ShiftScene, correction: StatedChange, turn: int, offset: int, text: str
) -> Evidence:
    """Return where the new value is stated."""
    place = correction.place
    argument = scene.place.argument
    return span_evidence(argument, turn, Place(offset + place.start, offset + place.end), text)


def _with_change(scene: ShiftScene, index: int, turn: Turn, stated: Evidence) -> Turn:
    """Return turn `index` of the source, with the new value if the change affects it."""
    calls = affected(scene.source, scene.place).get(index, [])
    if isinstance(turn, CallTurn) and calls:
        return with_value(turn, calls, scene.change.new, stated)
    return turn


VALUES_STAGE = "new_values"
VALUE_TEMPLATE = "change_value"
_DRAWS = 12


class NewValue(BaseModel):
    """The value that the user wants instead."""

    value: JsonValue


async def change_values(derivation: Derivation, context: StageContext) -> list[ValueChange]:
    """One argument of the source, chosen by chance, with the value that the user will want instead.

    Raises RecordError where nothing can be changed, and ReplyError where neither three answers nor
    a draw give one.
    """
    source = derivation.source
    places = find_places(source, context.tools, derivation.transform)
    if not places:
        raise RecordError(obstacle_to(derivation.transform, source, context.tools))
    named = tools_by_name(source, context.tools)
    changeable = [one for one in places if not _is_stuck(one, source, named)]
    if not changeable:
        raise RecordError("No other value of its calls goes with the rest of them.")
    place = context.rng.choice(changeable)
    call = call_at(source, place)
    tool = named[call.tool]
    old = call.arguments[place.argument]
    origin = Origin(stage=VALUES_STAGE, parents=(derivation.key,), seed=derivation.seed)
    new = _only_other(old, tool.properties[place.argument])
    if new is None:  # another of the recipe's own values
        listed = context.own_values.of(tool, place.argument)
        tried = Random(f"{source.key}:own").sample(listed, min(len(listed), _DRAWS))
        new = next(
            (value for value in tried if not value_problem(value, place, source, tool)), None
        )
    if new is None:
        new = await _ask_value(derivation, place, tool, context)
        prompts = (PROMPTS, VALUE_TEMPLATE)
        origin = asked_origin(VALUES_STAGE, derivation, derivation.seed, context, prompts)
    change = ValueChange(
        derivation=derivation,
        turn=place.turn,
        call=place.call,
        argument=place.argument,
        old=old,
        new=new,
        origin=origin,
    )
    return [change]


async def _ask_value(
    derivation: Derivation, place: ChangeableArgument, tool: Tool, context: StageContext
) -> JsonValue:
    source = derivation.source
    prompt = render(
        PROMPTS,
        VALUE_TEMPLATE,
        tool=tool,
        arguments=call_at(source, place).arguments,
        parameter=place.argument,
        conversation=conversation_text(source.turns),
        language=source.language,
        seed=derivation.seed,
    )
    schema, problem = tool.properties[place.argument], ""
    for attempt in range(ATTEMPTS):
        value = mended(
            (await context.chat.ask(prompt, NewValue, sample_index=attempt)).value, schema
        )
        problem = value_problem(value, place, source, tool)
        if not problem:
            return value
    rng = Random(f"{derivation.seed}:drawn")
    schemas = in_context(tool.properties, tool.name, tool.description)
    with suppress(ReplyError):  # where no value can be drawn
        for _ in range(_DRAWS):
            value = fill_in([place.argument], schemas, source.language, rng)[place.argument]
            if not value_problem(value, place, source, tool):
                return value
    what = f"another value for {place.argument!r} of {tool.name!r}"
    raise ReplyError(f"{ATTEMPTS} answers gave no fitting {what}: {problem}")


def value_problem(new: JsonValue, place: ChangeableArgument, source: Sample, tool: Tool) -> str:
    """Return why `new` can't replace the value at the place, or "".

    It must be valid, different, and not said before.
    """
    call = call_at(source, place)
    old, schema = call.arguments[place.argument], titled_schema(tool, place.argument)
    if new in EMPTY:
        return "the value is empty."
    problems = made_problems(tool, {place.argument: new}, partial=True)
    if problems:
        return " ".join(problems)
    is_number = isinstance(new, int | float) and isinstance(old, int | float)
    if isinstance(new, bool) != isinstance(old, bool) or not (type(new) is type(old) or is_number):
        return f"{new!r} is not of the type of {old!r}."
    if means_same(new, old, schema):
        return f"{new!r} means the same as {old!r}."
    if problem := _unfitting(new, place, source, tool):
        return problem
    return "" if isinstance(new, bool) else _taken(new, place, source, schema)


def _unfitting(new: JsonValue, place: ChangeableArgument, source: Sample, tool: Tool) -> str:
    """Return why the value does not go with the others of the calls that it changes, or "".

    An end comes after its start, and what holds between several values holds as it did before.
    """
    schemas = in_context(tool.properties, tool.name, tool.description)
    changed = affected(source, place) or {place.turn: [place.call]}
    calls = [source.calls_at(turn)[at] for turn, some in changed.items() for at in some]
    for call in (one for one in calls if one.tool == tool.name):
        whole = {**call.arguments, place.argument: new}
        own = {name: value for name, value in whole.items() if name in schemas}
        pair = out_of_order(own, schemas)
        if pair and place.argument in pair:
            return f"{pair[1]!r} would come before {pair[0]!r}."
        problems = made_problems(tool, whole, partial=False)
        if problems and not made_problems(tool, call.arguments, partial=False):
            return " ".join(problems)
    return ""


def _taken(new: JsonValue, place: ChangeableArgument, source: Sample, schema: JsonSchema) -> str:
    """Return why the value already has another meaning, or "" if nobody has mentioned it."""
    for name, value in call_at(source, place).arguments.items():
        is_other = name != place.argument and not isinstance(value, bool)
        if is_other and fold(str(value)) == fold(str(new)):
            return f"{new!r} is the value of {name!r}."
    for turn in source.turns:
        texts: list[str] = []
        if isinstance(turn, UserTurn):
            texts = [turn.text, *([turn.external.text] if turn.external else [])]
        elif isinstance(turn, ReplyTurn) and "enum" not in schema:  # a reply may name the choices
            texts = [turn.text]
        text = next((one for one in texts if locate(new, schema, one) is not None), None)
        if text is not None:
            return f"{new!r} is said already, in {text!r}."
    return ""


def means_same(one: JsonValue, other: JsonValue, schema: JsonSchema) -> bool:
    """Whether two values are mistakable: equal, spelled alike, or one said within the other."""
    if one == other and isinstance(one, bool) == isinstance(other, bool):
        return True
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    if isinstance(one, int | float) and isinstance(other, int | float):
        return False  # as text -1 would hold 1
    words, others = _words(one), _words(other)
    if fold(words) == fold(others):
        return True
    read = read_value(words, schema), read_value(others, schema)
    if read[0] is not None and read[0] == read[1]:
        return True
    return locate(one, schema, others) is not None or locate(other, schema, words) is not None


def _words(value: JsonValue) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _is_stuck(place: ChangeableArgument, source: Sample, named: Mapping[str, Tool]) -> bool:
    """Whether the only other value that the schema allows does not go with the rest of the call."""
    call = call_at(source, place)
    tool = named[call.tool]
    other = _only_other(call.arguments[place.argument], tool.properties[place.argument])
    return other is not None and bool(_unfitting(other, place, source, tool))


def _only_other(old: JsonValue, schema: JsonSchema) -> JsonValue:
    """Return the single value besides `old` that the schema allows, or None if there are more."""
    if isinstance(old, bool):
        return not old
    others: list[JsonValue] = [
        choice for choice in schema.get("enum") or () if choice not in (old, None, "")
    ]
    return others[0] if len(others) == 1 else None


_LONG = Traits("HammerBench", is_long=True, is_changed=True)
_CORRECTED = replace(_LONG, has_correction=True)
_TURNED, _LATER = replace(_LONG, shift="last"), replace(_CORRECTED, shift="last")
_SAME_TURN = replace(_CORRECTED, shift="same_turn")
_OWN_TURN = replace(_CORRECTED, shift="own_turn")
_SHIFTS: tuple[tuple[Transform, str, str, Traits, int], ...] = (
    ("IS", "the user turns to something else", INTENTS, _TURNED, 1098),
    ("SO_case1", "a value is overridden in the turn that says it", ARGUMENTS, _SAME_TURN, 1067),
    ("SO_case2", "a value is overridden in a turn of its own", ARGUMENTS, _OWN_TURN, 395),
    ("mSv", "another value is wanted after the call", ARGUMENTS, _LATER, 1066),
)
_KINDS = tuple(
    Kind(name, about, group, traits, name, ("sQsA",), paper, paper, 3, borrows=name == "IS")
    for name, about, group, traits, paper in _SHIFTS
)
_PAPER, _ASKED = "HammerBench 4.2.3", (TEMPLATE,)
_SHIFT = "Let a request for another tool take the place of an answer, by code."
_CHOOSE = "Choose an argument and another value for it."
_WORD = "Word the change, and let every snapshot after it hold the new value."
_INTENT_STEPS = (Step("intent_shifts", _SHIFT, "Sample", _PAPER, shift_intents),)
_VALUE_STEPS = (
    Step("new_values", _CHOOSE, "ValueChange", _PAPER, change_values, (VALUE_TEMPLATE,)),
    Step("overriding", _WORD, "Sample", _PAPER, override_values, _ASKED, _ASKED),
)

FAMILY = Family(
    "shifts",
    _KINDS,
    stages=(
        *in_a_row("shifts", "Derivation", *_INTENT_STEPS, group=INTENTS),
        *in_a_row("shifts", "Derivation", *_VALUE_STEPS, group=ARGUMENTS),
    ),
    has_fixed_words=True,
    tool_obstacle=tool_obstacle,
    obstacles={"IS": obstacle}
    | {name: partial(obstacle_to, name) for name, *_ in _SHIFTS if name != "IS"},
    anywhere=tuple((name, group) for name, _, group, *_ in _SHIFTS),
)
