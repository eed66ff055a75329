"""Giving an argument another value, and stating it: in the same turn, in one of its own, or after the call."""

import re
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from language.calls.parameters import CLOCKED
from language.calls.parsing import read_conversation
from language.calls.sampling import make_value
from language.calls.stating import Said, say
from language.calls.tools import ParameterView, ToolView
from language.calls.turns import Turn, is_equivalent
from language.names import split_name
from language.schemas import json_type
from language.values import locate, write_value
from llm.template.sections import Sections
from warehouse.errors import ReplyError
from warehouse.records import JsonSchema, Language


class CorrectionShapes(NamedTuple):
    """The shapes of one situation in one language."""

    named: tuple[str, ...]  # the parameter is called by its name
    taken: tuple[str, ...]  # the old value tells which parameter is meant
    bare: tuple[str, ...]  # the value alone can only mean one parameter
    framed: tuple[str, ...]  # words that speak for themselves, "with breakfast"
    plain: tuple[str, ...]  # unmistakable, for the last attempts


_SAME_TURN_EN = CorrectionShapes(
    named=(
        "Sorry, the {c} is {v}.", "No wait, the {c} should be {v}.", "Actually, make the {c} {v}.",
        "Oh no, I meant {v} as the {c}.", "Scratch that, use {v} as the {c}.", "Correction: the {c} is {v}.",
        "Hmm no, the {c} has to be {v}.", "I mean, the {c} is {v}.", "Sorry, I got the {c} wrong, it is {v}.",
        "Wait, let me change the {c} to {v}.", "On second thought, the {c} should be {v}.",
    ),
    taken=(
        "Sorry, not {o}: the {c} is {v}.", "Wait, I said {o}, but the {c} should be {v}.",
        "No, scratch {o}. The {c} is {v}.",
    ),
    bare=(
        "Sorry, I mean {v}.", "No, {v}.", "Actually, make it {v}.", "I mean {v}.", "No wait, make that {v}.",
        "Sorry, {v}.", "Scratch that, {v}.", "Actually, {v}.", "On second thought, make it {v}.",
    ),
    framed=(
        "Sorry, I meant {v}.", "No wait, {v}.", "Actually, {v}.", "On second thought, {v}.", "I mean {v}.", "Scratch that: {v}.",
    ),
    plain=("Sorry, the {c} is {v}.", "I mean, {c}: {v}."),
)  # fmt: skip
_OWN_TURN_EN = CorrectionShapes(
    named=(
        "I was wrong before: the {c} should be {v}.", "Wait, I got the {c} wrong, it is {v}.",
        "Hold on, please change the {c} to {v}.", "Sorry, I need to correct something first: the {c} is {v}.",
        "One correction first. The {c} should be {v}.", "Actually, can we make the {c} {v}?",
        "Oh, I made a mistake earlier. The {c} is {v}.", "Before I answer that, set the {c} to {v} instead.",
        "Hang on, what I said was wrong. The {c} is {v}.", "I changed my mind about the {c}: make it {v}.",
        "Could you use {v} as the {c} instead?", "Sorry, the {c} I gave you is wrong. It should be {v}.",
    ),
    taken=(
        "Sorry, I said {o} before, but the {c} is {v}.", "Wait, not {o}. The {c} should be {v}.",
        "Let me take {o} back: the {c} is {v}.",
    ),
    bare=("Actually, make that {v}.", "Sorry, I meant {v} before.", "Wait, I meant {v}.", "I said that wrong, I mean {v}."),
    framed=(
        "I was wrong before: {v}, please.", "One correction first: {v}.", "Oh, wait. I'd rather have it {v}.",
        "Actually, I changed my mind: {v}.", "Sorry, before that: {v}, please.",
    ),
    plain=("I was wrong before. The {c} is {v}.", "Sorry, {c}: {v}."),
)  # fmt: skip
_AFTER_CALL_EN = CorrectionShapes(
    named=(
        "Do the same with {v} as the {c}.", "Now the same again, but the {c} is {v}.", "And what if the {c} is {v}?",
        "I'd also like that with {v} as the {c}.", "Same thing once more, this time the {c} is {v}.",
        "Could you do that again with the {c} set to {v}?", "Once more, please, only make the {c} {v}.",
        "Thanks. Now again, but the {c} should be {v}.", "Great, and the same where the {c} is {v}.",
        "Can you repeat that with {v} as the {c}?", "And again with another {c}: {v}.",
        "I need that a second time, with {v} as the {c}.",
    ),
    taken=(
        "Now the same, but instead of {o} the {c} is {v}.", "And once more, not with {o}: the {c} should be {v}.",
    ),
    bare=("And now with {v}?", "Same again, but make it {v}.", "And the same for {v}, please."),
    framed=(
        "Now the same again, but {v}.", "And once more {v}, please.", "Do that again, {v} this time.",
        "Thanks. I'd also like that {v}.",
    ),
    plain=("The same again, please. The {c} is {v}.", "Once more. {C}: {v}."),
)  # fmt: skip
_SAME_TURN_ZH = CorrectionShapes(
    named=(
        "不对，{c}是{v}。", "抱歉，{c}应该是{v}。", "说错了，{c}是{v}。", "哦不，{c}改成{v}。", "更正一下，{c}是{v}。",
        "不好意思，{c}是{v}。", "等等，{c}改为{v}。", "哎呀，{c}搞错了，是{v}。", "我是说，{c}是{v}。", "口误，{c}应该是{v}。",
    ),
    taken=("不对，不是{o}，{c}是{v}。", "说错了，不是{o}，{c}应该是{v}。"),
    bare=("不对，是{v}。", "哦不，{v}。", "说错了，是{v}。", "我是说{v}。", "抱歉，应该是{v}。", "不对不对，是{v}。"),
    framed=("不对，{v}。", "说错了，{v}。", "哦不，还是{v}。", "我是说{v}。", "抱歉，{v}。"),
    plain=("抱歉，{c}是{v}。", "不对，{c}：{v}。"),
)  # fmt: skip
_OWN_TURN_ZH = CorrectionShapes(
    named=(
        "刚才说错了，{c}应该是{v}。", "等一下，{c}要改成{v}。", "先更正一下，{c}是{v}。", "抱歉，前面的{c}不对，应该是{v}。",
        "我前面弄错了，{c}是{v}。", "对了，{c}改为{v}。", "先等等，{c}改成{v}。", "我改主意了，{c}用{v}。",
        "不好意思，我之前说的{c}有误，应该是{v}。", "先别急，{c}我记错了，是{v}。", "麻烦把{c}改成{v}。",
    ),
    taken=("刚才说的{o}不对，{c}应该是{v}。", "等等，不是{o}，{c}是{v}。"),
    bare=("刚才说错了，应该是{v}。", "等等，改成{v}。", "前面不对，是{v}。"),
    framed=("我改主意了，{v}。", "刚才说错了，{v}。", "先更正一下，{v}。", "等一下，还是{v}。"),
    plain=("刚才说错了，{c}是{v}。", "更正一下，{c}：{v}。"),
)  # fmt: skip
_AFTER_CALL_ZH = CorrectionShapes(
    named=(
        "再来一次，{c}改成{v}。", "同样的再办一次，这次{c}是{v}。", "照刚才的再做一遍，{c}用{v}。", "还要再来一遍，{c}是{v}。",
        "那{c}是{v}的话呢？", "其他不变，{c}改成{v}再来一次。", "谢谢。再弄一个，{c}改为{v}。", "另外再来一个，{c}为{v}。",
        "好的，那再帮我来一次，{c}应该是{v}。", "还想要一个，{c}填{v}。",
    ),
    taken=("再来一次，这回不是{o}，{c}是{v}。", "同样的，把{o}去掉，{c}改成{v}。"),
    bare=("再来一次，改成{v}。", "那{v}呢？", "同样的再来一次，这次{v}。"),
    framed=("再来一次，这次{v}。", "同样的再办一次，{v}。", "另外再来一个，{v}。"),
    plain=("再来一次，{c}是{v}。", "再来一次，{c}：{v}。"),
)  # fmt: skip
CORRECTIONS: dict[tuple[str, Language], CorrectionShapes] = {
    ("SO_case1", "en"): _SAME_TURN_EN,
    ("SO_case2", "en"): _OWN_TURN_EN,
    ("mSv", "en"): _AFTER_CALL_EN,
    ("SO_case1", "zh"): _SAME_TURN_ZH,
    ("SO_case2", "zh"): _OWN_TURN_ZH,
    ("mSv", "zh"): _AFTER_CALL_ZH,
}


_TRIES = 40
_ATTEMPTS = 14
_BOLD_ATTEMPTS = 11
_TAKEN_SHARE = 0.2
_BARE_SHARE = 0.35
_PLURAL = re.compile(r"(?<!speci)(?<!seri)(?<!\bne)[^sui]s$")
_IS = re.compile(r"(?<=\{c\}) is (?=\{v\})")
_LIMITS = frozenset({"min", "max", "minimum", "maximum", "lowest", "highest", "least", "most"})
_BARE_KINDS = frozenset({"choice"}) | CLOCKED


class ViewedCall(NamedTuple):
    """A call, and how people speak of its tool."""

    view: ToolView
    arguments: dict[str, JsonValue]


class Change(NamedTuple):
    """What is to be changed in a call, and when it is said."""

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
    for _ in range(_TRIES):
        value = make_value(parameter.name, parameter.schema, language, rng)
        if not _is_taken(value, parameter, arguments, turns) and _is_in_order(value, parameter, view, arguments):
            break
    return value


def word_change(change: Change, turns: Sequence[Turn], language: Language, rng: Random) -> WordedChange:
    """A sentence that brings the change; read over, and put more plainly, until it can only mean that."""
    wanted = {**read_conversation(change.view, turns), change.parameter.name: change.new}
    best: WordedChange | None = None
    for attempt in range(_ATTEMPTS):
        worded = _word(change, language, rng, plain=attempt >= _BOLD_ATTEMPTS)
        if locate(change.new, change.parameter.schema, worded.words) is None:
            continue
        best = best or worded
        if read_conversation(change.view, _with(turns, worded.sentence, change.case, language)) == wanted:
            return worded
    if best is None:
        raise ReplyError(f"template/v1 finds no words for {change.new!r} as the {change.parameter.name!r}.")
    return best


def _is_taken(
    value: JsonValue, parameter: ParameterView, arguments: dict[str, JsonValue], turns: Sequence[Turn]
) -> bool:
    """Whether the value was said before, or could be taken for that of an argument."""
    for name, taken in arguments.items():
        if name == parameter.name or not isinstance(taken, bool):
            words, others = str(value), str(taken)
            if is_equivalent(value, taken, parameter.schema) or (isinstance(value, str) and _within(words, others)):
                return True
    schema = {"title": parameter.name, **parameter.schema}
    heard = [turn.text for turn in turns if turn.speaker != "assistant" or parameter.kind != "choice"]
    return not isinstance(value, bool) and any(locate(value, schema, text) is not None for text in heard)


def _within(words: str, others: str) -> bool:
    return words.lower() in others.lower() or others.lower() in words.lower()


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
            before, after = float(str(old)) < float(str(taken)), float(str(value)) < float(str(taken))
            if before != after:
                return False
    return True


def _word(change: Change, language: Language, rng: Random, *, plain: bool) -> WordedChange:
    shapes = CORRECTIONS[change.case, language]
    said = say(change.parameter, change.new, language, rng, plain=plain)
    shape = rng.choice(_shapes(change, shapes, said, rng, plain=plain))
    old = ""
    if "{o}" in shape:
        old = say(change.parameter, change.arguments[change.parameter.name], language, rng, plain=False).shown
    if _PLURAL.search(said.cue) and said.cue.isascii():
        shape = _IS.sub(" are ", shape)
    capital = said.cue[:1].upper() + said.cue[1:]
    filled = shape.replace("{c}", said.cue).replace("{C}", capital).replace("{o}", old).replace("{v}", said.shown)
    return WordedChange(filled.replace("the my ", "my "), said.words)


def _shapes(change: Change, shapes: CorrectionShapes, said: Said, rng: Random, *, plain: bool) -> tuple[str, ...]:
    if said.is_frame:
        return shapes.framed
    if plain:
        return shapes.plain
    has_bare = change.parameter.is_number or change.parameter.kind in _BARE_KINDS
    if has_bare and not change.must_name and rng.random() < _BARE_SHARE:
        return shapes.bare
    simple = not isinstance(change.new, bool) and json_type(change.parameter.schema) not in ("array", "object")
    return shapes.taken if simple and rng.random() < _TAKEN_SHARE else shapes.named


def _with(turns: Sequence[Turn], sentence: str, case: str, language: Language) -> list[Turn]:
    """The conversation with the correction: behind what was said last, or as a turn of its own."""
    said = list(turns)
    if case == "SO_case1" and said:
        at = max(index for index, turn in enumerate(said) if turn.speaker == "user")
        said[at] = Turn("user", f"{said[at].text}{'' if language == 'zh' else ' '}{sentence}")
        return said
    return [*said, Turn("user", sentence)]


_SENTENCES = {
    "en": (" The {name} should be {value}.", " As for the {name}: {value}.", " For the {name}, please take {value}."),
    "zh": ("{name}要{value}。", "{name}是{value}。", "另外，{name}：{value}。"),
}


def mend_request(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The request with every detail of <missing> said at its end."""
    request, missing = sections.json("request"), sections.json("missing")
    if not isinstance(request, str) or not isinstance(missing, list):
        raise ReplyError("template/v1 expects a text in <request> and a list of details in <missing>.")
    added = "".join(_sentence(detail, language, rng) for detail in missing if isinstance(detail, dict))
    return {"request": request.rstrip() + added}


def _sentence(detail: dict[str, JsonValue], language: Language, rng: Random) -> str:
    value, name = detail.get("value"), " ".join(split_name(str(detail.get("parameter", ""))))
    schema = detail.get("schema")
    shape: JsonSchema = schema if isinstance(schema, dict) else {}
    pattern = rng.choice(_SENTENCES[language])
    said = pattern.format(name=name, value=write_value(value, shape, language, rng))
    # the very letters of the value where no wording of it can be read back
    return said if locate(value, shape, said) else pattern.format(name=name, value=value)
