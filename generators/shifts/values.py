"""Choosing which argument the user will change, and to what: of the same type, plausible, and new (HammerBench 4.2.3)."""

from collections.abc import Iterable
from random import Random

from pydantic import BaseModel, JsonValue

from callwright.generators.shifts.changeable import ChangeableArgument, call_at, find_places, obstacle_to, schema_of
from callwright.generators.shifts.turns import tools_by_name
from callwright.generators.stages import ATTEMPTS, StageContext
from callwright.generators.tools import argument_problems, mended
from callwright.generators.transcripts import conversation_text
from callwright.language.calls.meanings import in_context
from callwright.language.calls.sampling import fill_in
from callwright.language.text import fold
from callwright.language.values import locate, read_value
from callwright.llm.prompts import prompt_version, render
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import Derivation, JsonSchema, Origin, ReplyTurn, Sample, Tool, UserTurn, ValueChange

PROMPTS = "callwright.generators.shifts.prompts"
STAGE = "new_values"
TEMPLATE = "change_value"
_DRAWS = 12


class NewValue(BaseModel):
    """The value that the user wants instead."""

    value: JsonValue


async def change_values(derivation: Derivation, context: StageContext) -> list[ValueChange]:
    """One argument of the source, chosen by chance, with the value that the user will want instead.

    Raises RecordError where nothing can be changed, and ReplyError where neither three answers nor a draw give one.
    """
    source = derivation.source
    places = find_places(source, context.tools, derivation.transform)
    if not places:
        raise RecordError(obstacle_to(derivation.transform, source, context.tools))
    place = context.rng.choice(places)
    call = call_at(source, place)
    tool = tools_by_name(source, context.tools)[call.tool]
    old = call.arguments[place.argument]
    origin = Origin(stage=STAGE, parents=(derivation.key,), seed=derivation.seed)
    only = _only_other(old, tool.properties[place.argument])
    if only is None:
        only = _own_other(place, source, tool, context)
    if only is None:
        new = await _ask(derivation, place, tool, context)
        origin = origin.with_changes(model=context.chat.name, prompt_version=prompt_version(PROMPTS, TEMPLATE))
    else:
        new = only
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


def _own_other(place: ChangeableArgument, source: Sample, tool: Tool, context: StageContext) -> JsonValue:
    """Another of the recipe's own values for the argument, None where it has none that does."""
    listed = context.own_values.of(tool, place.argument)
    tried = Random(f"{source.key}:own").sample(listed, min(len(listed), _DRAWS))
    return next((value for value in tried if not value_problem(value, place, source, tool)), None)


async def _ask(derivation: Derivation, place: ChangeableArgument, tool: Tool, context: StageContext) -> JsonValue:
    source = derivation.source
    call = call_at(source, place)
    prompt = render(
        PROMPTS,
        TEMPLATE,
        tool=tool,
        arguments=call.arguments,
        parameter=place.argument,
        conversation=conversation_text(source.turns),
        language=source.language,
        seed=derivation.seed,
    )
    schema, problem = tool.properties[place.argument], ""
    for attempt in range(ATTEMPTS):
        value = mended((await context.chat.ask(prompt, NewValue, sample_index=attempt)).value, schema)
        problem = value_problem(value, place, source, tool)
        if not problem:
            return value
    drawn = _drawn(place, source, tool, derivation.seed)
    if drawn is None:
        raise ReplyError(
            f"Another value for {place.argument!r} of {tool.name!r} was asked for, but {ATTEMPTS} answers did not do: {problem}"
        )
    return drawn


def _drawn(place: ChangeableArgument, source: Sample, tool: Tool, seed: int) -> JsonValue:
    """A value that takes the place of what no answer gave, None where no draw does."""
    rng = Random(f"{seed}:drawn")
    schemas = in_context(tool.properties, tool.name, tool.description)
    for _ in range(_DRAWS):
        try:
            value = fill_in([place.argument], schemas, source.language, rng)[place.argument]
        except ReplyError:
            return None
        if not value_problem(value, place, source, tool):
            return value
    return None


def value_problem(new: JsonValue, place: ChangeableArgument, source: Sample, tool: Tool) -> str:
    """Why `new` can't replace the value at the place, "" where it can: valid, different, and not said before."""
    call = call_at(source, place)
    old, schema = call.arguments[place.argument], schema_of(call, place.argument, {tool.name: tool})
    if new in (None, "", [], {}):
        return "the value is empty."
    problems = argument_problems(tool, {place.argument: new}, partial=True)
    if problems:
        return " ".join(problems)
    if not _is_of_type(new, old):
        return f"{new!r} is not of the type of {old!r}."
    if means_same(new, old, schema):
        return f"{new!r} means the same as {old!r}."
    return "" if isinstance(new, bool) else _taken(new, place, source, schema)


def _taken(new: JsonValue, place: ChangeableArgument, source: Sample, schema: JsonSchema) -> str:
    """Why the value stands for something already, "" where nobody has spoken of it."""
    for name, value in call_at(source, place).arguments.items():
        if name != place.argument and not isinstance(value, bool) and fold(str(value)) == fold(str(new)):
            return f"{new!r} is the value of {name!r}."
    stated = (
        text for text in _texts(source, with_replies="enum" not in schema) if locate(new, schema, text) is not None
    )
    text = next(stated, None)
    return "" if text is None else f"{new!r} is said already, in {text!r}."


def means_same(one: JsonValue, other: JsonValue, schema: JsonSchema) -> bool:
    """Whether two values could be taken for each other: equal, spelled alike, or one said within the other."""
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


def _is_of_type(new: JsonValue, old: JsonValue) -> bool:
    numbers = (int, float)
    if isinstance(new, bool) or isinstance(old, bool):
        return isinstance(new, bool) and isinstance(old, bool)
    return type(new) is type(old) or (isinstance(new, numbers) and isinstance(old, numbers))


def _only_other(old: JsonValue, schema: JsonSchema) -> JsonValue:
    """The one value that the schema allows besides `old`, None where there are more."""
    if isinstance(old, bool):
        return not old
    others: list[JsonValue] = [choice for choice in schema.get("enum") or () if choice not in (old, None, "")]
    return others[0] if len(others) == 1 else None


def _texts(sample: Sample, *, with_replies: bool) -> Iterable[str]:
    """All that was stated; replies may name the options of a choice, which is no reason against any."""
    for turn in sample.turns:
        if isinstance(turn, UserTurn):
            yield turn.text
            if turn.external is not None:
                yield turn.external.text
        elif isinstance(turn, ReplyTurn) and with_replies:
            yield turn.text
