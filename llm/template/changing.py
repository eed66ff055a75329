"""Giving an argument another value, and stating it: in the same turn, in one of its own, or after the call."""

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.parameters import CLOCKED, in_context
from callwright.language.calls.sampling import make_value
from callwright.language.calls.tools import ParameterView, ToolView
from callwright.language.names import split_name
from callwright.language.packs import of
from callwright.language.schemas import json_type
from callwright.language.text import capitalised
from callwright.language.values import locate, write_value
from callwright.llm.template.sections import Sections, Turn, is_equivalent
from callwright.llm.template.stating import StatedParameter, say
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import JsonSchema, Language


class CorrectionShapes(NamedTuple):
    """The shapes of one situation in one language."""

    named: tuple[str, ...]  # the parameter is called by its name
    taken: tuple[str, ...]  # the old value tells which parameter is meant
    bare: tuple[str, ...]  # the value alone can only mean one parameter
    framed: tuple[str, ...]  # words that speak for themselves, "with breakfast"
    plain: tuple[str, ...]  # unmistakable, for the last attempts


@cache
def corrections_in(case: str, language: Language) -> CorrectionShapes:
    """The shapes in which a value is changed in this kind of shift."""
    return CorrectionShapes(**{name: tuple(shapes) for name, shapes in of(language).data["corrections"][case].items()})


_TRIES = 40
_ATTEMPTS = 14
_BOLD_ATTEMPTS = 11
_TAKEN_SHARE = 0.2
_BARE_SHARE = 0.35
_LIMITS = frozenset({"min", "max", "minimum", "maximum", "lowest", "highest", "least", "most"})
_BARE_KINDS = frozenset({"choice"}) | CLOCKED


class ViewedCall(NamedTuple):
    """A call, and how people speak of its tool."""

    view: ToolView
    arguments: dict[str, JsonValue]


class CallChange(NamedTuple):
    """What is to be changed in a call, and when it is stated."""

    view: ToolView
    arguments: dict[str, JsonValue]
    parameter: ParameterView
    new: JsonValue
    case: str
    must_name: bool


class WordedChange(NamedTuple):
    """A correction, and the words in it that state the new value."""

    sentence: str
    words: str


def parameter_named(view: ToolView, name: JsonValue) -> ParameterView:
    """The parameter of this name; ReplyError where the tool has none."""
    found = next((one for one in view.parameters if one.name == name), None)
    if found is None:
        raise ReplyError(f"The tool {view.name!r} has no parameter {name!r} to change.")
    return found


def other_value(
    parameter: ParameterView, call: ViewedCall, turns: Sequence[Turn], language: Language, rng: Random
) -> JsonValue:
    """Another value for an argument: not yet said, unlike those of the other arguments, and in order with them."""
    view, arguments = call
    value = arguments.get(parameter.name)
    schema = in_context({parameter.name: parameter.schema}, view.name, view.description)[parameter.name]
    for _ in range(_TRIES):
        value = make_value(parameter.name, schema, language, rng)
        if not _is_taken(value, parameter, arguments, turns) and _is_in_order(value, parameter, view, arguments):
            break
    return value


def word_change(change: CallChange, language: Language, rng: Random) -> WordedChange:
    """A sentence that brings the change, put more plainly where its words don't say the value."""
    shapes, parameter = corrections_in(change.case, language), change.parameter
    for attempt in range(_ATTEMPTS):
        plain = attempt >= _BOLD_ATTEMPTS
        stated = say(parameter, change.new, language, rng, plain=plain)
        shape = rng.choice(_shapes(change, shapes, stated, rng, plain=plain))
        old = ""
        if "{o}" in shape:
            old = say(parameter, change.arguments[parameter.name], language, rng, plain=False).shown
        shape = of(language).rules.in_number(shape, stated.cue)
        sentence = shape.replace("{c}", stated.cue).replace("{C}", capitalised(stated.cue)).replace("{o}", old)
        if locate(change.new, parameter.schema, stated.words) is not None:
            return WordedChange(sentence.replace("{v}", stated.shown).replace("the my ", "my "), stated.words)
    raise ReplyError(f"template/v1 finds no words for {change.new!r} as the {parameter.name!r}.")


def _is_taken(
    value: JsonValue, parameter: ParameterView, arguments: dict[str, JsonValue], turns: Sequence[Turn]
) -> bool:
    """Whether the value was stated before, or could be taken for that of an argument."""
    words = str(value).lower()
    for name, taken in arguments.items():
        if name == parameter.name or not isinstance(taken, bool):
            others = str(taken).lower()
            is_within = isinstance(value, str) and (words in others or others in words)
            if is_within or is_equivalent(value, taken, parameter.schema):
                return True
    schema = {"title": parameter.name, **parameter.schema}
    parsed = [turn.text for turn in turns if turn.speaker != "assistant" or parameter.kind != "choice"]
    return not isinstance(value, bool) and any(locate(value, schema, text) is not None for text in parsed)


def _is_in_order(value: JsonValue, parameter: ParameterView, view: ToolView, arguments: dict[str, JsonValue]) -> bool:
    """Whether an end stays behind its start, and a least below a most."""
    old = arguments.get(parameter.name)
    for other in view.parameters:
        taken = arguments.get(other.name)
        if other.name == parameter.name or taken is None or other.kind != parameter.kind:
            continue
        if parameter.kind in CLOCKED and (str(old) < str(taken)) != (str(value) < str(taken)):
            return False
        limits = _LIMITS.intersection(split_name(parameter.name)) and _LIMITS.intersection(split_name(other.name))
        if limits and all(isinstance(one, int | float) for one in (old, taken, value)):
            before, after, bound = (float(str(one)) for one in (old, value, taken))
            if (before < bound) != (after < bound):
                return False
    return True


def _shapes(
    change: CallChange, shapes: CorrectionShapes, stated: StatedParameter, rng: Random, *, plain: bool
) -> tuple[str, ...]:
    if stated.is_frame:
        return shapes.framed
    if plain:
        return shapes.plain
    has_bare = change.parameter.is_number or change.parameter.kind in _BARE_KINDS
    if has_bare and not change.must_name and rng.random() < _BARE_SHARE:
        return shapes.bare
    simple = not isinstance(change.new, bool) and json_type(change.parameter.schema) not in ("array", "object")
    return shapes.taken if simple and rng.random() < _TAKEN_SHARE else shapes.named


def mend_request(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The request with every detail of <missing> said at its end."""
    request = sections.text("request").rstrip()
    for detail in sections.listed("missing"):
        if not isinstance(detail, dict):
            continue
        value, name = detail.get("value"), " ".join(split_name(str(detail.get("parameter", ""))))
        schema: JsonSchema = detail["schema"] if isinstance(detail.get("schema"), dict) else {}
        pattern: str = rng.choice(of(language).data["corrections"]["missing"])
        stated = pattern.format(name=name, value=write_value(value, schema, language, rng))
        # the very letters of the value where no wording of it can be read back
        is_read = locate(value, schema, stated)
        request += stated if is_read else pattern.format(name=name, value=value)
    return {"request": request}
