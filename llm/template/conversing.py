"""Both sides of a planned conversation: the user's turns, the assistant's, the acts in them, and the scenario's goal."""

import re
from collections.abc import Callable, Mapping
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
from callwright.llm.template.stating import StatedParameter, say
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
    turn = _UserTurn(sections, language, rng)
    intent = sections.word("intent", "")
    if intent not in turn.intents:
        raise ReplyError(f"template/v1 knows no intent {intent!r} of a user; it knows {', '.join(turn.intents)}.")
    words = turn.intents[intent]()
    extra = sections.json("extra")
    if isinstance(extra, dict):
        part = _part_of(extra)
        ((name, value),) = part.arguments.items()
        aside = turn.stated(len(turn.parts), part.view.parameter(name), value, turn.book.asides)
        words = turn.joined(words, aside)
    return {"text": words.text, "mentions": [{**one._asdict()} for one in words.mentions]}


def word_agent_turn(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The assistant's turn that does what the prompt's intent says."""
    turn = _AgentTurn(sections, language, rng)
    intent = sections.word("intent", "")
    if intent not in turn.intents:
        raise ReplyError(f"template/v1 knows no intent {intent!r} of an assistant; it knows {', '.join(turn.intents)}.")
    return {"text": turn.intents[intent]()}


class _TurnParts:
    """What a turn is made of."""

    def __init__(self, sections: Sections, language: Language, rng: Random) -> None:
        self.parts = [_part_of(one) for one in sections.listed("parts")]
        self.sections, self.language, self.rng = sections, language, rng
        self.book = _book_in(language)

    def pick(self, shapes: tuple[str, ...], **words: str) -> str:
        """One of the shapes, filled in; `{C}` is `{c}` with a capital."""
        shape = self.rng.choice(shapes)
        if "c" in words:
            words["C"] = capitalised(words["c"])
        return _CODED.sub(lambda match: words[match[1]], shape)

    def say(self, view: ToolView, name: str, value: JsonValue) -> StatedParameter:
        """The plain words for a value."""
        return say(view.parameter(name), value, self.language, self.rng, plain=True)

    def action_of(self, view: ToolView) -> str:
        """What a tool does, as people say it."""
        is_spoken = writes(self.language, view.actions[0]) or of(self.language).script != COMMON_SCRIPT
        return view.actions[0] if is_spoken else name_phrase(view.name)


def _part_of(given: Any) -> ToolWording:  # noqa: ANN401 - a member of a prompt's JSON
    """A part as a prompt shows it; ReplyError where it is none."""
    if not isinstance(given, dict) or not isinstance(given.get("arguments"), dict):
        raise ReplyError("template/v1 expects parts as JSON objects with a tool and its arguments.")
    return ToolWording(view_of(given.get("tool")), given["arguments"])


class _UserTurn(_TurnParts):
    """The user's words, by what they are to do."""

    @property
    def intents(self) -> Mapping[str, Callable[[], _Words]]:
        """What words do what a user may have in mind."""
        book = self.book
        return {
            "request": self._request,
            "describe": self._describe,
            "hint": self._hint,
            "answer": self._answer,
            "switch": self._switch,
            "ask_more": lambda: self._call(0, book.more, lacking="one"),
            "approve": lambda: _Words(self.pick(book.approvals)),
            "correct": lambda: self._changed(book.corrections),
            "retry": lambda: self._changed(book.retries),
            "give_up": lambda: _Words(self.pick(book.surrenders)),
            "thank": lambda: _Words(self.pick(book.thanks)),
        }

    def _request(self) -> _Words:
        first, book = self.parts[0].view.name, self.book
        words = self._call(0)
        others = [at for at, part in enumerate(self.parts) if part.view.name != first]
        for at in others:
            lacking = self._lacking(at)
            words = self.joined(words, self._call(at, book.linked if lacking else book.joints))
        again = [at for at in range(1, len(self.parts)) if at not in others]
        return self.joined(words, self._again(again)) if again else words

    def _call(self, at: int, shapes: tuple[str, ...] = (), *, lacking: str = "") -> _Words:
        """A request for one part, in one of the shapes."""
        part = self.parts[at]
        worded = word_call(part.view, part.arguments, self.language, self.rng)
        text = worded.request
        if shapes:
            text = self.pick(shapes, r=_lowered(text), c=self._lacking(at) or lacking)
        return _Words(text, tuple(_Mention(at, name, words) for name, words in worded.mentions.items()))

    def _lacking(self, at: int) -> str:
        """What a part leaves for an earlier result to give, as people call it; "" where it leaves nothing."""
        view, arguments = self.parts[at]
        name = next((name for name in view.required if name not in arguments), "")
        cues = view.parameter(name).cues if name else None
        return cues.among(self.language) if cues else ""

    def _again(self, places: list[int]) -> _Words:
        """The same request for other values."""
        mentions, shown, cue = [], [], ""
        for at in places:
            view, arguments = self.parts[at]
            ((name, value),) = arguments.items()
            stated = self.say(view, name, value)
            cue = stated.cue
            shown.append(stated.shown)
            mentions.append(_Mention(at, name, stated.words))
        comma, last = of(self.language).comma, of(self.language).last
        rendered = comma.join(shown[:-1]) + last + shown[-1] if len(shown) > 1 else shown[0]
        return _Words(self.pick(self.book.again, l=rendered, c=cue), tuple(mentions))

    def _describe(self) -> _Words:
        (part,) = self.parts
        words = _Words(self.pick(self.book.situations, f=field_phrase(part.view.name, self.language)))
        for name, value in part.arguments.items():
            words = self.joined(words, self.stated(0, part.view.parameter(name), value, self.book.facts))
        return self.joined(words, _Words(self.pick(self.book.plights)))

    def stated(self, at: int, parameter: ParameterView, value: JsonValue, shapes: tuple[str, ...]) -> _Words:
        """A value in one of the shapes."""
        stated = say(parameter, value, self.language, self.rng, plain=True)
        words = stated.words
        if isinstance(value, bool):
            text = self.pick(self.book.flags, c=stated.cue, v=self.book.answers[value])
            words = words if words in text else text.rstrip(signs("."))
        else:
            text = self.pick(shapes, c=stated.cue, v=stated.shown)
        return _Words(text, (_Mention(at, parameter.name, words),))

    def _hint(self) -> _Words:
        first = view_of(self.sections.listed("options")[0])
        return _Words(self.pick(self.book.hints, f=field_phrase(first.name, self.language)))

    def _answer(self) -> _Words:
        (part,) = self.parts
        words = _Words("")
        for name, value in part.arguments.items():
            bare = len(part.arguments) == 1 and self.rng.random() < 0.5  # noqa: PLR2004 - a coin
            slot = (part.view.parameter(name), value)
            answered = word_answer(part.view, slot, self.language, self.rng, is_bare=bare)
            piece = _Words(answered.answer, (_Mention(0, name, answered.words),))
            words = self.joined(words, piece) if words.text else piece
        return words

    def _switch(self) -> _Words:
        words = self._call(0)
        return words._replace(text=self.pick(self.book.switches, r=words.text))

    def _changed(self, shapes: tuple[str, ...]) -> _Words:
        (part,) = self.parts
        ((name, value),) = part.arguments.items()
        return self.stated(0, part.view.parameter(name), value, shapes)

    def joined(self, one: _Words, other: _Words) -> _Words:
        """Two pieces of a turn behind each other."""
        return _Words(f"{one.text}{self.book.space}{other.text}", (*one.mentions, *other.mentions))


def _lowered(text: str) -> str:
    """A sentence as it goes on behind a colon or comma; a name or "I" stays as it is."""
    text = _GREETING.of(text).sub("", text)
    return text[:1].lower() + text[1:] if text[1:2].islower() and not text.startswith("I'") else text


_SEEKS = re.compile(widened("@[?]"))
_REJECTS = LanguagePattern("@{rejects}")
_NODS = LanguagePattern(r"^\W*(?:@{acknowledges})")
_SHORT = 40


class _AgentTurn(_TurnParts):
    """The assistant's words, by what they are to do."""

    @property
    def intents(self) -> Mapping[str, Callable[[], str]]:
        """What words do what an assistant may have in mind."""
        return {
            "ask_parameters": self._ask_parameters,
            "ask_which": self._ask_which,
            "ask_approval": self._ask_approval,
            "inform": self._inform,
            "tell_error": self._tell_error,
            "refuse": lambda: self.pick(self.book.refusals, a=self._options()[0]),
            "acknowledge": lambda: self.pick(self.book.nods),
        }

    def _options(self) -> list[str]:
        return [self.action_of(view_of(option)) for option in self.sections.listed("options")]

    def _ask_parameters(self) -> str:
        ((view, arguments),) = self.parts
        asked = [view.parameter(name) for name in self.sections.listed("asked")]
        return self.book.space.join(self._question(view, one, arguments) for one in asked)

    def _question(self, view: ToolView, parameter: ParameterView, given: dict[str, JsonValue]) -> str:
        """A question for a parameter that ends as one, not as a request for it ("Let me know the date, please.")."""
        worded = ""
        for _ in range(_TRIES):
            worded = word_question(view, parameter, given, self.language, self.rng)
            if _SEEKS.search(worded):
                return worded
        return f"{worded.rstrip(signs('.'))}{of(self.language).question}"

    def _ask_which(self) -> str:
        one, other = self._options()
        return self.pick(self.book.which, a=one, b=other)

    def _ask_approval(self) -> str:
        ((view, arguments),) = self.parts
        said = [self.say(view, name, value) for name, value in arguments.items()]
        rendered = [f"{stated.cue}{of(self.language).space}{stated.shown}" for stated in said]
        return self.pick(self.book.proposals, a=self.action_of(view), l=self.book.joint.join(rendered))

    def _inform(self) -> str:
        rendered = [self.pick(self.book.done)]
        for fact in self.sections.listed("facts"):
            if isinstance(fact, dict):
                value = fact["value"]
                shown = self.book.answers[value] if isinstance(value, bool) else str(value)
                rendered.append(self.pick(self.book.rendered, c=str(fact["label"]), v=shown))
        return self.book.space.join(rendered)

    def _tell_error(self) -> str:
        (part,) = self.parts
        rendered = [self.pick(self.book.errors, e=str(self.sections.json("error")))]
        cues = [part.view.parameter(name).cues for name in self.sections.listed("asked")]
        rendered += [self.pick(self.book.others, c=one.among(self.language)) for one in cues]
        return self.book.space.join(rendered)


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
    goal, wants = rest[0] if rest else head, list[JsonValue]()
    # what is known by a whole description first, longer ones before shorter ones; then what else the pieces tell
    for name, description in sorted(rendered.items(), key=lambda one: (-len(one[1]), one[0])):
        whole = f"{_BEGINS}{re.escape(description)}{_VALUES}{_ENDS}"
        if description and re.search(whole, goal):
            goal = re.sub(whole, "", goal)
            wants.append({"want": description, "tool": name})
    for piece in _PIECES.split(re.sub(_VALUES, "", goal)):
        words = _words(piece)
        if len(words) >= _LEAST_WORDS:
            alike = (name for name, text in rendered.items() if _likeness(words, _words(text)) >= _ALIKE)
            wants.append({"want": piece.strip(), "tool": next(alike, None)})
    return {"wants": wants}


def _likeness(words: frozenset[str], others: frozenset[str]) -> float:
    return len(words & others) / len(words | others) if words | others else 0.0


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def word_fault(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The text that the purpose of a fault asks for, out of a language's own sentences."""
    told = sections.json("told")  # the body of an error, or the sentence in it
    while isinstance(told, dict):
        told = told.get("message", next(iter(told.values()), ""))
    field = str(sections.json("field")).replace("_", " ")
    values = {"field": field, "entry": sections.json("entry"), "reason": str(told)}
    return _out_of_words(sections, of(language).data["faults"], rng, **values)


def word_policy(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The text that the purpose of a policy asks for, out of a language's own sentences."""
    return _out_of_words(sections, of(language).data["policies"], rng, policy=sections.json("policy"))


def _out_of_words(
    sections: Sections, words: Mapping[str, Any], rng: Random, **values: JsonValue
) -> dict[str, JsonValue]:
    tool, arguments = sections.json("tool"), sections.object("arguments").items()
    stated = words["and"].join(f"{name.replace('_', ' ')} {value}" for name, value in arguments)
    called = str(tool.get("name", "")).replace("_", " ") if isinstance(tool, dict) else ""
    deed = words["deed"].format(tool=called, arguments=stated)
    return {"text": rng.choice(words[str(sections.json("purpose"))]).format(deed=deed, **values)}
