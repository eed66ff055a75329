"""Acting the user of a planned conversation: turns, with the words in them that state each value."""

from collections.abc import Callable, Mapping
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from language.calls.stating import say
from language.calls.tools import ParameterView, ToolView, view_of
from language.names import humanise
from llm.template.conversing_talk import Part, Talk, listed, lowered, part_of
from llm.template.sections import Sections
from llm.template.slot_answers import word_answer
from llm.template.wording import word_call
from warehouse.errors import ReplyError
from warehouse.records import Language


class _Mention(NamedTuple):
    part: int
    parameter: str
    words: str


class _Words(NamedTuple):
    """A piece of a turn and the values that it states."""

    text: str
    mentions: tuple[_Mention, ...] = ()


def word_user_turn(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The user's turn that does what the prompt's intent says, with the words of each value."""
    talk = Talk([part_of(one) for one in listed(sections, "parts")], sections, language, rng)
    intent = sections.word("intent", "")
    if intent not in _USER:
        raise ReplyError(f"template/v1 knows no intent {intent!r} of a user; it knows {', '.join(_USER)}.")
    words = _USER[intent](talk)
    extra = sections.json("extra")
    if isinstance(extra, dict):
        words = _joined(talk, words, _aside(talk, part_of(extra)))
    mentions: list[JsonValue] = [dict(one._asdict()) for one in words.mentions]
    return {"text": words.text, "mentions": mentions}


def _request(talk: Talk) -> _Words:
    first, *rest = talk.parts
    words = _call(talk, 0, first)
    again = [(number, part) for number, part in enumerate(rest, start=1) if part.view.name == first.view.name]
    for number, part in enumerate(rest, start=1):
        if part.view.name != first.view.name:
            request = _call(talk, number, part)
            lacking = _lacking(talk, part)
            shapes = talk.book.linked if lacking else talk.book.joints
            text = talk.pick(shapes, r=lowered(request.text), c=lacking)
            words = _joined(talk, words, request._replace(text=text))
    return _joined(talk, words, _again(talk, again)) if again else words


def _lacking(talk: Talk, part: Part) -> str:
    """What a part leaves for an earlier result to give, as people call it; "" where it leaves nothing."""
    name = next((name for name in part.view.required if name not in part.arguments), "")
    cues = part.view.parameter(name).cues if name else None
    return (cues.chinese if talk.language == "zh" else cues.english) if cues else ""


def _again(talk: Talk, parts: list[tuple[int, Part]]) -> _Words:
    mentions, shown, cue = [], [], ""
    for number, part in parts:
        ((name, value),) = part.arguments.items()
        said = say(part.view.parameter(name), value, talk.language, talk.rng, plain=True)
        cue = said.cue
        shown.append(said.shown)
        mentions.append(_Mention(number, name, said.words))
    comma, last = (", ", " and ") if talk.language == "en" else ("、", "和")
    told = comma.join(shown[:-1]) + last + shown[-1] if len(shown) > 1 else shown[0]
    return _Words(talk.pick(talk.book.again, l=told, c=cue), tuple(mentions))


def _call(talk: Talk, number: int, part: Part) -> _Words:
    worded = word_call(part.view, part.arguments, talk.language, talk.rng)
    return _Words(worded.request, tuple(_Mention(number, name, words) for name, words in worded.mentions.items()))


def _describe(talk: Talk) -> _Words:
    (part,) = talk.parts
    words = _Words(talk.pick(talk.book.situations, f=_field(part.view, talk.language)))
    for name, value in part.arguments.items():
        words = _joined(talk, words, _stated(talk, 0, part.view.parameter(name), value, talk.book.facts))
    return _joined(talk, words, _Words(talk.pick(talk.book.plights)))


def _stated(talk: Talk, number: int, parameter: ParameterView, value: JsonValue, shapes: tuple[str, ...]) -> _Words:
    """A value in one of the shapes."""
    said = say(parameter, value, talk.language, talk.rng, plain=True)
    if isinstance(value, bool):
        answer = talk.book.answers[value]
        text = talk.pick(talk.book.flags, c=said.cue, v=answer)
        return _Words(
            text, (_Mention(number, parameter.name, said.words if said.words in text else text.rstrip(".。")),)
        )
    text = talk.pick(shapes, c=said.cue, v=said.shown)
    return _Words(text, (_Mention(number, parameter.name, said.words),))


def _hint(talk: Talk) -> _Words:
    first = view_of(listed(talk.sections, "options")[0])
    return _Words(talk.pick(talk.book.hints, f=_field(first, talk.language)))


def _answer(talk: Talk) -> _Words:
    (part,) = talk.parts
    words = _Words("")
    for name, value in part.arguments.items():
        parameter = part.view.parameter(name)
        bare = len(part.arguments) == 1 and talk.rng.random() < 0.5  # noqa: PLR2004 - a coin
        answered = word_answer(part.view, (parameter, value), talk.language, talk.rng, is_bare=bare)
        piece = _Words(answered.answer, (_Mention(0, name, answered.words),))
        words = _joined(talk, words, piece) if words.text else piece
    return words


def _switch(talk: Talk) -> _Words:
    request = _call(talk, 0, talk.parts[0])
    return request._replace(text=talk.pick(talk.book.switches, r=request.text))


def _changed(talk: Talk, shapes: tuple[str, ...]) -> _Words:
    (part,) = talk.parts
    ((name, value),) = part.arguments.items()
    return _stated(talk, 0, part.view.parameter(name), value, shapes)


def _more(talk: Talk) -> _Words:
    request = _call(talk, 0, talk.parts[0])
    return request._replace(
        text=talk.pick(talk.book.more, r=lowered(request.text), c=_lacking(talk, talk.parts[0]) or "one")
    )


def _aside(talk: Talk, part: Part) -> _Words:
    ((name, value),) = part.arguments.items()
    return _stated(talk, len(talk.parts), part.view.parameter(name), value, talk.book.asides)


def _joined(talk: Talk, one: _Words, other: _Words) -> _Words:
    return _Words(f"{one.text}{talk.book.space}{other.text}", (*one.mentions, *other.mentions))


def _field(view: ToolView, language: Language) -> str:
    """What a tool is about, more loosely than its action: the category that its name begins with."""
    field = humanise(view.name.split(".")[0]) if "." in view.name else ""
    if language == "zh":
        return "手机"
    return f"my {field}" if field else "my phone"


_USER: Mapping[str, Callable[[Talk], _Words]] = {
    "request": _request, "describe": _describe, "hint": _hint, "answer": _answer, "switch": _switch, "ask_more": _more,
    "approve": lambda talk: _Words(talk.pick(talk.book.approvals)),
    "correct": lambda talk: _changed(talk, talk.book.corrections),
    "retry": lambda talk: _changed(talk, talk.book.retries),
    "give_up": lambda talk: _Words(talk.pick(talk.book.surrenders)),
    "thank": lambda talk: _Words(talk.pick(talk.book.thanks)),
}  # fmt: skip
