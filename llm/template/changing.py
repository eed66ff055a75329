"""Giving an argument another value, and stating it: in the same turn, in one of its own, or
after the call.
"""

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


def other_value(
    parameter: ParameterView,
    call: ViewedCall,
    turns: Sequence[Turn],
    language: Language,
    rng: Random,
) -> JsonValue:
    """Another value for an argument: not yet said, unlike those of the other arguments, and in
    order with them.
    """
    view, arguments = call
    value = arguments.get(parameter.name)
    schema = in_context({parameter.name: parameter.schema}, view.name, view.description)[
        parameter.name
    ]
    for _ in range(_TRIES):
        value = make_value(parameter.name, schema, language, rng)
        if not _is_taken(value, parameter, arguments, turns) and _is_in_order(
            value, parameter, view, arguments
        ):
            break
    return value


def word_change(change: CallChange, language: Language, rng: Random) -> ValueLine:
    """A sentence that brings the change, put more plainly where its words don't say the value.

    It names the parameter only where neither words of the tool's own nor the old value tell what is
    meant.
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
    """Whether the new value alone tells what it changes: it is of a type of its own, or stands
    right behind the old one.
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
    """What a correction without the parameter's name changes of the arguments that were told: the
    only one that it may mean.

    Where something is asked for, the new value alone could be the answer: the old one or words of
    the tool's own are needed.
    """
    parameters = [view.parameter(name) for name in told]

    @cache
    def values(slot: str, words: str) -> dict[str, JsonValue]:
        if slot not in _NAMELESS:
            return {}
        said = (
            (one, _value_in(view, one, slot, words.strip(_QUOTES), language)) for one in parameters
        )
        return {
            one.name: value
            for one, value in said
            if value is not None and (slot != "old" or value == told[one.name])
        }

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
    """Whether not just any words would do as a value."""
    return (
        parameter.kind in CLOCKED or parameter.is_number or parameter.kind in ("choice", "boolean")
    )


def _is_taken(
    value: JsonValue,
    parameter: ParameterView,
    arguments: dict[str, JsonValue],
    turns: Sequence[Turn],
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
    parsed = [
        turn.text for turn in turns if turn.speaker != "assistant" or parameter.kind != "choice"
    ]
    return not isinstance(value, bool) and any(
        locate(value, schema, text) is not None for text in parsed
    )


def _is_in_order(
    value: JsonValue, parameter: ParameterView, view: ToolView, arguments: dict[str, JsonValue]
) -> bool:
    """Whether an end stays behind its start, and a least below a most."""
    old = arguments.get(parameter.name)
    for other in view.parameters:
        taken = arguments.get(other.name)
        if other.name == parameter.name or taken is None or other.kind != parameter.kind:
            continue
        if parameter.kind in CLOCKED and (str(old) < str(taken)) != (str(value) < str(taken)):
            return False
        limits = _LIMITS.intersection(split_name(parameter.name)) and _LIMITS.intersection(
            split_name(other.name)
        )
        if limits and all(isinstance(one, int | float) for one in (old, taken, value)):
            before, after, bound = (float(str(one)) for one in (old, value, taken))
            if (before < bound) != (after < bound):
                return False
    return True


def mend_request(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The request with every detail of <missing> said at its end."""
    request = sections.text("request").rstrip()
    for detail in sections.listed("missing"):
        if not isinstance(detail, dict):
            continue
        value, name = detail.get("value"), " ".join(split_name(str(detail.get("parameter", ""))))
        schema: JsonSchema = detail["schema"] if isinstance(detail.get("schema"), dict) else {}
        shape = rng.choice(shapes_in(language, "corrections.missing"))
        words = {"called": name, "value": write_value(value, schema, language, rng)}
        stated = as_sentence(shape, words)
        # the very letters of the value where no wording of it can be read back
        is_read = locate(value, schema, stated) is not None
        said = stated if is_read else as_sentence(shape, {"called": name, "value": str(value)})
        request = f"{request}{of(language).space}{said}"
    return {"request": request}
