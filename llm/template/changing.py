"""Giving an argument another value and stating it: at once, in a later turn, or after the call."""

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.parameters import CLOCKED, in_context
from callwright.language.calls.sampling import make_value
from callwright.language.calls.tools import ParameterView, ToolView
from callwright.language.names import split_name
from callwright.language.packs import of, signs
from callwright.language.pages import as_sentence, read_line, shapes_in
from callwright.language.schemas import json_type
from callwright.language.values import locate, write_value
from callwright.llm.template.questions import LineWriter, ValueLine
from callwright.llm.template.sections import Sections, Turn, is_equivalent
from callwright.llm.template.sentences import read_answer, value_of
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import JsonSchema, Language

_TRIES = 40
_ATTEMPTS = 14
_BOLD_ATTEMPTS = 11
_OWN_SHARE = 0.6
_AT_ONCE = "SO_case1"
_LIMITS = frozenset({"min", "max", "minimum", "maximum", "lowest", "highest", "least", "most"})
_NAMELESS = frozenset({"value", "old", "phrase"})
_QUOTES = signs("\"'“”«»{open}{close}")


class ViewedCall(NamedTuple):
    """A call and the view of its tool, which says what people call it."""

    view: ToolView
    arguments: dict[str, JsonValue]


class CallChange(NamedTuple):
    """A change to one argument of a call, and when it is stated."""

    view: ToolView
    arguments: dict[str, JsonValue]
    parameter: ParameterView
    new: JsonValue
    case: str
    must_name: bool


def other_value(
    parameter: ParameterView,
    call: ViewedCall,
    turns: Sequence[Turn],
    language: Language,
    rng: Random,
) -> JsonValue:
    """Return another value for an argument, one that has not been said yet.

    It differs from the other arguments and keeps their order (an end after its start), if one is
    found in `_TRIES`.
    """
    view, arguments = call
    value = arguments.get(parameter.name)
    schemas = in_context({parameter.name: parameter.schema}, view.name, view.description)
    for _ in range(_TRIES):
        value = make_value(parameter.name, schemas[parameter.name], language, rng)
        is_free = not _is_taken(value, parameter, arguments, turns)
        if is_free and _is_in_order(value, parameter, view, arguments):
            break
    return value


def word_change(change: CallChange, language: Language, rng: Random) -> ValueLine:
    """Word a sentence that states the change, more plainly if its words do not say the value.

    It names the parameter only if neither the tool's own words nor the old value make clear what
    is meant.
    """
    view, arguments, parameter, new = change[:4]
    slot, is_own = (parameter, new), not change.must_name and rng.random() < _OWN_SHARE
    for attempt in range(_ATTEMPTS):
        plain = attempt >= _BOLD_ATTEMPTS
        writer = LineWriter(language, f"corrections.{change.case}", rng, plain)
        own = writer.say(view, slot, ("own",)) if is_own and not plain else None
        if own and read_correction(view, own.text, arguments, language) == {parameter.name: new}:
            return own
        ways = (
            ("called",) if plain else ("value",) if _is_plain_to_see(change) else ("old", "called")
        )
        if said := writer.say(view, slot, ("frame", *ways), arguments.get(parameter.name)):
            return said
    raise ReplyError(f"template/v1 finds no words for {new!r} as the {parameter.name!r}.")


def _is_plain_to_see(change: CallChange) -> bool:
    """Whether the new value alone shows what it changes.

    It does by a type of its own, or by its place right after the old one.
    """
    parameter = change.parameter
    is_simple = json_type(change.parameter.schema) not in ("object", "boolean")
    told = is_typed(parameter) or parameter.is_identifier or (is_simple and change.case == _AT_ONCE)
    return told and not change.must_name


def read_correction(
    view: ToolView,
    text: str,
    told: dict[str, JsonValue],
    language: Language,
    *,
    is_asked: bool = False,
) -> dict[str, JsonValue]:
    """Return the arguments that a correction changes when it does not name the parameter.

    It must be the only one of the arguments `told` that it can mean. If something is being asked
    for (`is_asked`), the new value alone could be the answer, so the correction needs the old
    value or words of the tool's own.
    """
    parameters = [view.parameter(name) for name in told]

    @cache
    def values(slot: str, words: str) -> dict[str, JsonValue]:
        if slot not in _NAMELESS:
            return {}
        bare = words.strip(_QUOTES)
        said = {one.name: _value_in(view, one, slot, bare, language) for one in parameters}
        known = {name: value for name, value in said.items() if value is not None}
        return {name: one for name, one in known.items() if slot != "old" or one == told[name]}

    found = read_line(language, "corrections", text, lambda slot, words: bool(values(slot, words)))
    for line in sorted(found, key=lambda one: sum(map(len, one.values()))):
        if is_asked and not {"phrase", "old"} & line.keys():
            continue
        slot = "phrase" if "phrase" in line else "value"
        before = values("old", line["old"]) if "old" in line else told
        able = {name: value for name, value in values(slot, line[slot]).items() if name in before}
        typed = {name: value for name, value in able.items() if is_typed(view.parameter(name))}
        if one := next((some for some in (able, typed) if len(some) == 1), None):
            return one
    return {}


def _value_in(
    view: ToolView, parameter: ParameterView, slot: str, words: str, language: Language
) -> JsonValue:
    own = (
        read_answer(view, parameter, words, language, is_asked=False) if slot == "phrase" else None
    )
    if own is None and (slot != "phrase" or parameter.kind == "boolean"):
        return value_of(parameter, words)
    return own


def is_typed(parameter: ParameterView) -> bool:
    """Whether a value must have a certain form, so that not just any words would do."""
    return (
        parameter.kind in CLOCKED or parameter.is_number or parameter.kind in ("choice", "boolean")
    )


def _is_taken(
    value: JsonValue,
    parameter: ParameterView,
    arguments: dict[str, JsonValue],
    turns: Sequence[Turn],
) -> bool:
    """Whether the value was stated before, or could be confused with that of an argument."""
    words = str(value).lower()
    for name, taken in arguments.items():
        if name == parameter.name or not isinstance(taken, bool):
            others = str(taken).lower()
            is_within = isinstance(value, str) and (words in others or others in words)
            if is_within or is_equivalent(value, taken, parameter.schema):
                return True
    schema = {"title": parameter.name, **parameter.schema}
    skipped = "assistant" if parameter.kind == "choice" else ""
    parsed = (turn.text for turn in turns if turn.speaker != skipped)
    is_said = any(locate(value, schema, text) for text in parsed)
    return is_said and not isinstance(value, bool)


def _is_in_order(
    value: JsonValue, parameter: ParameterView, view: ToolView, arguments: dict[str, JsonValue]
) -> bool:
    """Whether an end stays after its start, and a minimum below its maximum."""
    old = arguments.get(parameter.name)
    for neighbour in view.parameters:
        taken = arguments.get(neighbour.name)
        if neighbour.name == parameter.name or taken is None or neighbour.kind != parameter.kind:
            continue
        if parameter.kind in CLOCKED and (str(old) < str(taken)) != (str(value) < str(taken)):
            return False
        named = (split_name(one.name) for one in (parameter, neighbour))
        limits = all(_LIMITS.intersection(words) for words in named)
        if limits and all(isinstance(one, int | float) for one in (old, taken, value)):
            before, after, bound = (float(str(one)) for one in (old, value, taken))
            if (before < bound) != (after < bound):
                return False
    return True


def mend_request(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """Return the request with every detail of <missing> added at its end."""
    request = sections.text("request").rstrip()
    for detail in sections.listed("missing"):
        if not isinstance(detail, dict):
            continue
        value, name = detail.get("value"), " ".join(split_name(str(detail.get("parameter", ""))))
        schema: JsonSchema = detail["schema"] if isinstance(detail.get("schema"), dict) else {}
        shape = rng.choice(shapes_in(language, "corrections.missing"))
        words = {"called": name, "value": write_value(value, schema, language, rng)}
        sentence = as_sentence(shape, words)
        # the very letters of the value where no wording of it can be read back
        is_read = locate(value, schema, sentence) is not None
        said = sentence if is_read else as_sentence(shape, {"called": name, "value": str(value)})
        request = f"{request}{of(language).space}{said}"
    return {"request": request}
