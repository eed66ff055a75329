"""Both sides of a planned conversation: the user's turns, the assistant's, the acts in them, and the scenario's goal."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from random import Random
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.language.calls.tools import ParameterView, ToolView, field_phrase, name_phrase, view_of
from callwright.language.names import function_words
from callwright.language.packs import COMMON_SCRIPT, LanguagePattern, of, signs, unspaced, widened, writes
from callwright.language.text import capitalised
from callwright.llm.template.questions import word_answer, word_question
from callwright.llm.template.sections import Sections
from callwright.llm.template.stating import say
from callwright.llm.template.wording import word_call
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Language

_GREETING = LanguagePattern(r"^(?:@{salutation})@[,!]?\s*(?=\S)")
_TRIES = 20
_CODED = re.compile(r"\{(\w+)\}")


class ConversationBook(NamedTuple):
    """The shapes of one language."""

    joints: tuple[str, ...]  # a second request in one turn
    linked: tuple[str, ...]  # a second request for what the first one finds
    again: tuple[str, ...]  # the same for other values
    hints: tuple[str, ...]
    situations: tuple[str, ...]  # what opens a description
    plights: tuple[str, ...]  # and what ends it
    facts: tuple[str, ...]
    flags: tuple[str, ...]
    asides: tuple[str, ...]
    approvals: tuple[str, ...]
    switches: tuple[str, ...]
    corrections: tuple[str, ...]
    retries: tuple[str, ...]
    more: tuple[str, ...]
    surrenders: tuple[str, ...]
    thanks: tuple[str, ...]
    which: tuple[str, ...]
    proposals: tuple[str, ...]
    done: tuple[str, ...]
    rendered: tuple[str, ...]
    errors: tuple[str, ...]
    others: tuple[str, ...]  # whether another value would do
    refusals: tuple[str, ...]
    nods: tuple[str, ...]
    answers: tuple[str, str]  # no and yes
    joint: str
    space: str
    field: str  # what a tool is about, by its category
    anything: str  # and where its name tells none
    goal: str  # of a scenario
    goal_joint: str  # between the steps of a goal


@cache
def _book_in(language: Language) -> ConversationBook:
    shapes = of(language).data["conversations"]
    read: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in shapes.items()}
    return ConversationBook(**read)


class ToolWording(NamedTuple):
    """A tool and what is stated for it."""

    view: ToolView
    arguments: dict[str, JsonValue]


class TurnParts(NamedTuple):
    """What a turn is made of."""

    parts: list[ToolWording]
    sections: Sections
    language: Language
    rng: Random

    @property
    def book(self) -> ConversationBook:
        """The shapes of the language."""
        return _book_in(self.language)

    def pick(self, shapes: tuple[str, ...], **words: str) -> str:
        """One of the shapes, filled in; `{C}` is `{c}` with a capital."""
        shape = self.rng.choice(shapes)
        if "c" in words:
            words["C"] = capitalised(words["c"])
        return _CODED.sub(lambda match: words[match[1]], shape)


def part_of(given: Any) -> ToolWording:  # noqa: ANN401 - a member of a prompt's JSON
    """A part as a prompt shows it; ReplyError where it is none."""
    if not isinstance(given, dict) or not isinstance(given.get("arguments"), dict):
        raise ReplyError("template/v1 expects parts as JSON objects with a tool and its arguments.")
    return ToolWording(view_of(given.get("tool")), given["arguments"])


def action_of(view: ToolView, language: Language) -> str:
    """What a tool does, as people say it."""
    if not writes(language, view.actions[0]) and of(language).script == COMMON_SCRIPT:
        return name_phrase(view.name)
    return view.actions[0]


def lowered(text: str) -> str:
    """A sentence as it goes on behind a colon or comma; a name or "I" stays as it is."""
    text = _GREETING.of(text).sub("", text)
    second = text[1:2]
    return text[:1].lower() + text[1:] if second.islower() and not text.startswith("I'") else text


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
    content = TurnParts([part_of(one) for one in sections.listed("parts")], sections, language, rng)
    intent = sections.word("intent", "")
    if intent not in _USER:
        raise ReplyError(f"template/v1 knows no intent {intent!r} of a user; it knows {', '.join(_USER)}.")
    words = _USER[intent](content)
    extra = sections.json("extra")
    if isinstance(extra, dict):
        words = _joined(content, words, _aside(content, part_of(extra)))
    mentions: list[JsonValue] = [dict(one._asdict()) for one in words.mentions]
    return {"text": words.text, "mentions": mentions}


def _request(content: TurnParts) -> _Words:
    first, *rest = content.parts
    words = _call(content, 0, first)
    again = [(number, part) for number, part in enumerate(rest, start=1) if part.view.name == first.view.name]
    for number, part in enumerate(rest, start=1):
        if part.view.name != first.view.name:
            request = _call(content, number, part)
            lacking = _lacking(content, part)
            shapes = content.book.linked if lacking else content.book.joints
            text = content.pick(shapes, r=lowered(request.text), c=lacking)
            words = _joined(content, words, request._replace(text=text))
    return _joined(content, words, _again(content, again)) if again else words


def _lacking(content: TurnParts, part: ToolWording) -> str:
    """What a part leaves for an earlier result to give, as people call it; "" where it leaves nothing."""
    name = next((name for name in part.view.required if name not in part.arguments), "")
    cues = part.view.parameter(name).cues if name else None
    return cues.among(content.language) if cues else ""


def _again(content: TurnParts, parts: list[tuple[int, ToolWording]]) -> _Words:
    mentions, shown, cue = [], [], ""
    for number, part in parts:
        ((name, value),) = part.arguments.items()
        stated = say(part.view.parameter(name), value, content.language, content.rng, plain=True)
        cue = stated.cue
        shown.append(stated.shown)
        mentions.append(_Mention(number, name, stated.words))
    comma, last = of(content.language).comma, of(content.language).last
    rendered = comma.join(shown[:-1]) + last + shown[-1] if len(shown) > 1 else shown[0]
    return _Words(content.pick(content.book.again, l=rendered, c=cue), tuple(mentions))


def _call(content: TurnParts, number: int, part: ToolWording) -> _Words:
    worded = word_call(part.view, part.arguments, content.language, content.rng)
    return _Words(worded.request, tuple(_Mention(number, name, words) for name, words in worded.mentions.items()))


def _describe(content: TurnParts) -> _Words:
    (part,) = content.parts
    words = _Words(content.pick(content.book.situations, f=field_phrase(part.view.name, content.language)))
    for name, value in part.arguments.items():
        words = _joined(content, words, _stated(content, 0, part.view.parameter(name), value, content.book.facts))
    return _joined(content, words, _Words(content.pick(content.book.plights)))


def _stated(
    content: TurnParts, number: int, parameter: ParameterView, value: JsonValue, shapes: tuple[str, ...]
) -> _Words:
    """A value in one of the shapes."""
    stated = say(parameter, value, content.language, content.rng, plain=True)
    if isinstance(value, bool):
        answer = content.book.answers[value]
        text = content.pick(content.book.flags, c=stated.cue, v=answer)
        return _Words(
            text, (_Mention(number, parameter.name, stated.words if stated.words in text else text.rstrip(signs("."))),)
        )
    text = content.pick(shapes, c=stated.cue, v=stated.shown)
    return _Words(text, (_Mention(number, parameter.name, stated.words),))


def _hint(content: TurnParts) -> _Words:
    first = view_of(content.sections.listed("options")[0])
    return _Words(content.pick(content.book.hints, f=field_phrase(first.name, content.language)))


def _answer(content: TurnParts) -> _Words:
    (part,) = content.parts
    words = _Words("")
    for name, value in part.arguments.items():
        parameter = part.view.parameter(name)
        bare = len(part.arguments) == 1 and content.rng.random() < 0.5  # noqa: PLR2004 - a coin
        answered = word_answer(part.view, (parameter, value), content.language, content.rng, is_bare=bare)
        piece = _Words(answered.answer, (_Mention(0, name, answered.words),))
        words = _joined(content, words, piece) if words.text else piece
    return words


def _switch(content: TurnParts) -> _Words:
    request = _call(content, 0, content.parts[0])
    return request._replace(text=content.pick(content.book.switches, r=request.text))


def _changed(content: TurnParts, shapes: tuple[str, ...]) -> _Words:
    (part,) = content.parts
    ((name, value),) = part.arguments.items()
    return _stated(content, 0, part.view.parameter(name), value, shapes)


def _more(content: TurnParts) -> _Words:
    request = _call(content, 0, content.parts[0])
    return request._replace(
        text=content.pick(content.book.more, r=lowered(request.text), c=_lacking(content, content.parts[0]) or "one")
    )


def _aside(content: TurnParts, part: ToolWording) -> _Words:
    ((name, value),) = part.arguments.items()
    return _stated(content, len(content.parts), part.view.parameter(name), value, content.book.asides)


def _joined(content: TurnParts, one: _Words, other: _Words) -> _Words:
    return _Words(f"{one.text}{content.book.space}{other.text}", (*one.mentions, *other.mentions))


_USER: Mapping[str, Callable[[TurnParts], _Words]] = {
    "request": _request, "describe": _describe, "hint": _hint, "answer": _answer, "switch": _switch, "ask_more": _more,
    "approve": lambda content: _Words(content.pick(content.book.approvals)),
    "correct": lambda content: _changed(content, content.book.corrections),
    "retry": lambda content: _changed(content, content.book.retries),
    "give_up": lambda content: _Words(content.pick(content.book.surrenders)),
    "thank": lambda content: _Words(content.pick(content.book.thanks)),
}  # fmt: skip


_SEEKS = re.compile(widened("@[?]"))
_REJECTS = LanguagePattern("@{rejects}")
_NODS = LanguagePattern(r"^\W*(?:@{acknowledges})")
_SHORT = 40


def word_agent_turn(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The assistant's turn that does what the prompt's intent says."""
    content = TurnParts([part_of(one) for one in sections.listed("parts")], sections, language, rng)
    intent = sections.word("intent", "")
    if intent not in _AGENT:
        raise ReplyError(f"template/v1 knows no intent {intent!r} of an assistant; it knows {', '.join(_AGENT)}.")
    return {"text": _AGENT[intent](content)}


def word_scenario(sections: Sections, language: Language) -> dict[str, JsonValue]:
    """The user's goal in words: what they want done, step by step."""
    book, rendered = _book_in(language), []
    for step in sections.listed("steps"):
        for part in (step.get("parts") or []) if isinstance(step, dict) else []:
            values = of(language).comma.join(map(str, part["values"].values()))
            described = _told(part)
            rendered.append(f"{described} ({values})" if values else described)
    return {"goal": book.goal.format(l=book.goal_joint.join(dict.fromkeys(rendered)))}


def _told(tool: Mapping[str, Any]) -> str:
    """What a tool does: its description, else the words of its name."""
    return str(tool["description"]).rstrip(signs(".")) or " ".join(function_words(str(tool["name"])))


def label_acts(sections: Sections) -> dict[str, JsonValue]:
    """What a reply does, known by its words."""
    reply = str(sections.json("reply"))
    acts: list[JsonValue] = []
    if _SEEKS.search(reply):
        acts.append("seek")
    if _REJECTS.of(reply).search(reply):
        acts.append("reject")
    if not acts:
        acts.append("other" if _NODS.of(reply).match(reply) and len(reply) < _SHORT else "inform")
    return {"acts": acts}


def _ask_parameters(content: TurnParts) -> str:
    (part,) = content.parts
    asked = [part.view.parameter(name) for name in content.sections.listed("asked")]
    return content.book.space.join(_question(part.view, one, part.arguments, content) for one in asked)


def _question(view: ToolView, parameter: ParameterView, given: dict[str, JsonValue], content: TurnParts) -> str:
    """A question for a parameter that ends as one, not as a request for it ("Let me know the date, please.")."""
    worded = ""
    for _ in range(_TRIES):
        worded = word_question(view, parameter, given, content.language, content.rng)
        if _SEEKS.search(worded):
            return worded
    return f"{worded.rstrip(signs('.'))}{of(content.language).question}"


def _ask_which(content: TurnParts) -> str:
    one, other = (view_of(option) for option in content.sections.listed("options"))
    return content.pick(content.book.which, a=action_of(one, content.language), b=action_of(other, content.language))


def _ask_approval(content: TurnParts) -> str:
    (part,) = content.parts
    rendered = []
    for name, value in part.arguments.items():
        stated = say(part.view.parameter(name), value, content.language, content.rng, plain=True)
        rendered.append(f"{stated.cue}{of(content.language).space}{stated.shown}")
    return content.pick(
        content.book.proposals, a=action_of(part.view, content.language), l=content.book.joint.join(rendered)
    )


def _inform(content: TurnParts) -> str:
    rendered = [content.pick(content.book.done)]
    for fact in content.sections.listed("facts"):
        if not isinstance(fact, dict):
            continue
        value = fact["value"]
        shown = content.book.answers[value] if isinstance(value, bool) else str(value)
        rendered.append(content.pick(content.book.rendered, c=str(fact["label"]), v=shown))
    return content.book.space.join(rendered)


def _tell_error(content: TurnParts) -> str:
    (part,) = content.parts
    rendered = [content.pick(content.book.errors, e=str(content.sections.json("error")))]
    for name in content.sections.listed("asked"):
        cues = part.view.parameter(name).cues
        rendered.append(content.pick(content.book.others, c=cues.among(content.language)))
    return content.book.space.join(rendered)


def _refuse(content: TurnParts) -> str:
    return content.pick(
        content.book.refusals, a=action_of(view_of(content.sections.listed("options")[0]), content.language)
    )


_AGENT: Mapping[str, Callable[[TurnParts], str]] = {
    "ask_parameters": _ask_parameters, "ask_which": _ask_which, "ask_approval": _ask_approval, "inform": _inform,
    "tell_error": _tell_error, "refuse": _refuse, "acknowledge": lambda content: content.pick(content.book.nods),
}  # fmt: skip


_WORD = re.compile(rf"[a-z0-9]+|[{unspaced()}]")
_END_OF_HEAD = re.compile(widened("@[:]"))
_PIECES = re.compile(widened(r"@[;.!?\n]"))
_VALUES = r"(?: ?\((?:[^()]|\([^()]*\))*\))?"
_BEGINS, _ENDS = widened(r"(?:^|(?<=@[;]))\s*"), widened(r"\s*(?=@[;.]|$)")
_ALIKE = 0.8  # of the words: two descriptions that share so many tell of the same
_LEAST_WORDS = 2


def read_scenario(sections: Sections) -> dict[str, JsonValue]:
    """Each wish of the goal with the tool that does it, null where none does."""
    rendered = {str(tool["name"]): _told(tool) for tool in sections.listed("tools") if isinstance(tool, dict)}
    head, *rest = _END_OF_HEAD.split(str(sections.json("goal")), maxsplit=1)
    return {"wants": [{"want": want, "tool": tool} for want, tool in _wishes(rest[0] if rest else head, rendered)]}


def _wishes(goal: str, rendered: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    """What is known by a whole description first, longer ones before shorter ones; then what else the pieces tell."""
    for name, description in sorted(rendered.items(), key=lambda one: (-len(one[1]), one[0])):
        whole = f"{_BEGINS}{re.escape(description)}{_VALUES}{_ENDS}"
        if description and re.search(whole, goal):
            goal = re.sub(whole, "", goal)
            yield description, name
    for piece in _PIECES.split(re.sub(_VALUES, "", goal)):
        words = _words(piece)
        if len(words) >= _LEAST_WORDS:
            yield (
                piece.strip(),
                next((name for name, text in rendered.items() if _likeness(words, text) >= _ALIKE), None),
            )


def _likeness(words: frozenset[str], description: str) -> float:
    others = _words(description)
    return len(words & others) / len(words | others) if words | others else 0.0


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def word_fault(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The text that the purpose of a fault asks for."""
    field, entry = _plain(str(sections.json("field"))), sections.json("entry")
    return _out_of_words(
        sections, of(language).data["faults"], rng, field=field, entry=entry, reason=_reason(sections.json("told"))
    )


def word_policy(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The text that the purpose of a policy asks for."""
    return _out_of_words(sections, of(language).data["policies"], rng, policy=sections.json("policy"))


def _out_of_words(
    sections: Sections, words: Mapping[str, Any], rng: Random, **values: JsonValue
) -> dict[str, JsonValue]:
    tool = sections.json("tool")
    arguments = words["and"].join(f"{_plain(name)} {value}" for name, value in sections.object("arguments").items())
    called = _plain(str(tool.get("name", ""))) if isinstance(tool, dict) else ""
    deed = words["deed"].format(tool=called, arguments=arguments)
    return {"text": rng.choice(words[str(sections.json("purpose"))]).format(deed=deed, **values)}


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _reason(told: JsonValue) -> str:
    """The sentence in the body of an error."""
    while isinstance(told, dict):
        told = told.get("message", next(iter(told.values()), ""))
    return str(told)
