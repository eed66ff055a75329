"""Both sides of a planned conversation: turns of user and assistant, their acts, and the goal."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from random import Random
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.language.calls.tools import ParameterView, ToolView, field_phrase, view_of
from callwright.language.names import function_words
from callwright.language.packs import LanguagePattern, of, signs, unspaced, widened
from callwright.language.pages import as_sentence, draw_line, shapes_in, without_greeting
from callwright.language.saying import say
from callwright.llm.template.questions import (
    LineWriter,
    Slot,
    in_slots,
    plain_question,
    word_answer,
    word_question,
)
from callwright.llm.template.sections import Sections
from callwright.llm.template.sentences import word_request
from callwright.llm.template.stating import lowered
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Language

_TRIES = 20
_LINKING = frozenset({"linked", "more"})  # they speak of what an earlier result gives
_ASIDES = ("called", "value", "value")


class ToolWording(NamedTuple):
    """A tool and the arguments to state for it."""

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
    """Word the user's turn that carries out the prompt's intent, with the words in their slots."""
    turn = _Turn(sections, language, rng)
    words = _intended(turn.of_user, sections, "a user")
    extra = sections.json("extra")
    if isinstance(extra, dict):
        turn.parts.append(_part_of(extra))
        words = turn.joined(words, turn.stated(len(turn.parts) - 1, "asides", rng.choice(_ASIDES)))
    names = {
        (spot["call"], spot["parameter"]): one["slot"]
        for one in sections.listed("slots")
        for spot in one["spots"]
    }
    said = [(names[one.part, one.parameter], one.words) for one in words.mentions]
    return {"text": in_slots(words.text, said)}


def word_agent_turn(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """Word the assistant's turn that carries out the prompt's intent."""
    return {
        "text": _intended(_Turn(sections, language, rng).of_agent, sections, "an assistant").text
    }


def _intended(
    deeds: Mapping[str, Callable[[], "_Words"]], sections: Sections, who: str
) -> "_Words":
    intent = sections.word("intent", "")
    if intent not in deeds:
        problem = f"template/v1 knows no intent {intent!r} of {who}; it knows {', '.join(deeds)}."
        raise ReplyError(problem)
    return deeds[intent]()


class _Turn:
    """The parts of a turn, and how either side words it according to its intent."""

    def __init__(self, sections: Sections, language: Language, rng: Random) -> None:
        self.parts = [_part_of(one) for one in sections.listed("parts")]
        self.sections, self.language, self.rng = sections, language, rng

    def line(self, name: str, **words: str) -> str:
        """Return one of the conversation lines of this name."""
        return draw_line(self.language, f"conversations.{name}", self.rng, **words)

    @property
    def space(self) -> str:
        """What separates two sentences."""
        return of(self.language).space

    @property
    def of_user(self) -> Mapping[str, Callable[[], _Words]]:
        """The function that words each intent of the user."""
        return {
            "request": self._request,
            "describe": self._describe,
            "hint": lambda: _Words(
                self.line(
                    "hints", field=self._field(*map(view_of, self.sections.listed("options")))
                )
            ),
            "answer": self._answer,
            "switch": lambda: self._call(0, "switches"),
            "ask_more": lambda: self._call(0, "more", lacking="one"),
            "approve": lambda: _Words(self.line("approvals")),
            "correct": lambda: self.stated(0, "corrections"),
            "retry": lambda: self.stated(0, "retries", "value"),
            "give_up": lambda: _Words(self.line("surrenders")),
            "thank": lambda: _Words(self.line("thanks")),
        }

    def _field(self, *views: ToolView) -> str:
        return field_phrase([view.name for view in views], self.language)

    def _request(self) -> _Words:
        first = self.parts[0].view.name
        others = [at for at, part in enumerate(self.parts) if part.view.name != first]
        again = [at for at in range(1, len(self.parts)) if at not in others]
        told = (self._call(at, "linked" if self._lacking(at) else "joints") for at in others)
        return self.joined(self._call(0), *told, *([self._again(again)] if again else []))

    def _call(self, at: int, line: str = "", *, lacking: str = "") -> _Words:
        """Word a request for one part, in one of the lines of a name."""
        part = self.parts[at]
        worded = word_request(part.view, part.arguments, self.language, self.rng)
        text = worded.request
        if line:
            called = self._lacking(at) or lacking
            if line == "switches":
                request_text = without_greeting(text)
            else:
                request_text = lowered(text, part.arguments.values())
            text = self.line(
                line, request=request_text, **({"called": called} if line in _LINKING else {})
            )
        mentions = tuple(_Mention(at, name, words) for name, words in worded.mentions.items())
        return _Words(text, mentions)

    def _lacking(self, at: int) -> str:
        """Return what people call the value that a part takes from an earlier result, or ""."""
        view, arguments = self.parts[at]
        name = next((name for name in view.required if name not in arguments), "")
        return view.parameter(name).called(self.language) if name else ""

    def _again(self, places: list[int]) -> _Words:
        """Word the same request for other values."""
        slots = [(at, *slot) for at in places for slot in self._slots(at)]
        state = partial(say, language=self.language, rng=self.rng, plain=False)
        sayings = [(at, state(one, value)) for at, one, value in slots]
        values = of(self.language).listed([one.shown for _, one in sayings])
        called = sayings[-1][1].parameter.called(self.language)
        mentions = tuple(_Mention(at, one.parameter.name, one.words) for at, one in sayings)
        return _Words(self.line("again", values=values, called=called), mentions)

    def _slots(self, at: int) -> Iterator[Slot]:
        view, arguments = self.parts[at]
        yield from ((view.parameter(name), value) for name, value in arguments.items())

    def _describe(self) -> _Words:
        view = self.parts[0].view
        situation = _Words(self.line("situations", field=self._field(view)))
        plight = _Words(self.line("plights", deed=view.does(self.language)))
        return self.joined(situation, self.stated(0, "facts"), plight)

    def stated(self, at: int, line: str, way: str = "called") -> _Words:
        """State each value of a part in one of the lines of a name."""
        statements = []
        for slot in self._slots(at):
            place = f"conversations.{'flags' if isinstance(slot[1], bool) else line}"
            writer = LineWriter(self.language, place, self.rng, plain=way == "called")
            statement = writer.say(self.parts[at].view, slot, (way, "called"))
            if statement is None:
                problem = f"template/v1 finds no words in {self.language!r} that say {slot[1]!r}."
                raise ReplyError(problem)
            statements.append(
                _Words(statement.text, (_Mention(at, slot[0].name, statement.words),))
            )
        return self.joined(*statements)

    def _answer(self) -> _Words:
        slots, view, answers = [*self._slots(0)], self.parts[0].view, []
        for slot in slots:
            is_bare = len(slots) == 1 and self.rng.random() < 0.5  # noqa: PLR2004 - a coin
            said = word_answer(view, slot, self.language, self.rng, is_bare=is_bare)
            answers.append(_Words(said.text, (_Mention(0, slot[0].name, said.words),)))
        return self.joined(*answers)

    def joined(self, *pieces: _Words) -> _Words:
        """Join pieces of a turn."""
        text = self.space.join(one.text for one in pieces if one.text)
        return _Words(text, tuple(chain(*(one.mentions for one in pieces))))

    @property
    def of_agent(self) -> Mapping[str, Callable[[], _Words]]:
        """The function that words each intent of the assistant."""
        return {
            "ask_parameters": self._ask_parameters,
            "ask_which": self._ask_which,
            "ask_approval": self._ask_approval,
            "inform": self._inform,
            "tell_error": self._tell_error,
            "refuse": lambda: _Words(self.line("refusals", deed=self._options()[0])),
            "acknowledge": lambda: _Words(self.line("nods")),
        }

    def _options(self) -> list[str]:
        return [view_of(option).does(self.language) for option in self.sections.listed("options")]

    def _ask_parameters(self) -> _Words:
        ((view, arguments),) = self.parts
        asked = [view.parameter(name) for name in self.sections.listed("asked")]
        return _Words(self.space.join(self._question(view, one, arguments) for one in asked))

    def _question(
        self, view: ToolView, parameter: ParameterView, given: dict[str, JsonValue]
    ) -> str:
        """Return a question for a parameter that ends with a question mark.

        A request such as "Let me know the date, please." is no question.
        """
        ask = partial(word_question, view, parameter, given, self.language, self.rng)
        worded = (ask() for _ in range(_TRIES))
        ending = (one for one in worded if one.endswith(tuple(signs("?"))))
        return next(ending, plain_question(parameter.called(self.language), self.language))

    def _ask_which(self) -> _Words:
        one, other = self._options()
        return _Words(self.line("which", deed=one, other=other))

    def _ask_approval(self) -> _Words:
        ((view, arguments),) = self.parts
        state = partial(say, language=self.language, rng=self.rng, plain=True)
        sayings = [state(view.parameter(name), one) for name, one in arguments.items()]
        details = [
            f"{one.parameter.called(self.language)}{self.space}{one.shown}" for one in sayings
        ]
        listed = of(self.language).clause.join(details)
        return _Words(self.line("proposals", deed=view.does(self.language), details=listed))

    def _inform(self) -> _Words:
        sentences = [self.line("done")]
        for fact in self.sections.listed("facts"):
            if isinstance(fact, dict):
                value = fact["value"]
                if isinstance(value, bool):
                    shown = self.line("yes" if value else "no").lower()
                else:
                    shown = str(value)
                sentences.append(self.line("rendered", called=str(fact["label"]), value=shown))
        return _Words(self.space.join(sentences))

    def _tell_error(self) -> _Words:
        (part,) = self.parts
        sentences = [self.line("errors", error=str(self.sections.json("error")))]
        named = map(part.view.parameter, self.sections.listed("asked"))
        asked_titles = [one.called(self.language) for one in named]
        return _Words(
            self.space.join(
                [*sentences, *(self.line("others", called=one) for one in asked_titles)]
            )
        )


def _part_of(given: Any) -> ToolWording:  # noqa: ANN401 - a member of a prompt's JSON
    """Return a part as shown in a prompt. Raise ReplyError if it is not valid."""
    if not isinstance(given, dict) or not isinstance(given.get("arguments"), dict):
        raise ReplyError("template/v1 expects parts as JSON objects with a tool and its arguments.")
    return ToolWording(view_of(given.get("tool")), given["arguments"])


def word_scenario(sections: Sections, language: Language) -> dict[str, JsonValue]:
    """Word the user's goal: what they want done, step by step."""
    step_texts = []
    for step in sections.listed("steps"):
        for part in (step.get("parts") or []) if isinstance(step, dict) else []:
            values = of(language).comma.join(map(str, part["values"].values()))
            step_texts.append(f"{_told(part)} ({values})" if values else _told(part))
    steps = of(language).semicolon.join(dict.fromkeys(step_texts))
    return {"goal": as_sentence(shapes_in(language, "conversations.goal")[0], {"steps": steps})}


def _told(tool: Mapping[str, Any]) -> str:
    """Return what a tool does: its description, else the words of its name."""
    return str(tool["description"]).rstrip(signs(".")) or " ".join(
        function_words(str(tool["name"]))
    )


_SEEKS = re.compile(widened("@[?]"))
_REJECTS = LanguagePattern("@{rejects}")
_NODS = LanguagePattern(r"^\W*(?:@{acknowledges})")
_SHORT = 40


def label_acts(sections: Sections) -> dict[str, JsonValue]:
    """Label the dialogue acts of a reply by its words."""
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
    """Return each wish of the goal with the tool that fulfils it, or null if none does."""
    tools = (tool for tool in sections.listed("tools") if isinstance(tool, dict))
    rendered = {str(tool["name"]): _told(tool) for tool in tools}
    head, *rest = _END_OF_HEAD.split(str(sections.json("goal")), maxsplit=1)
    goal, wants = rest[0] if rest else head, list[JsonValue]()
    # what is known by a whole description first, longer ones before shorter ones; then what else
    # the pieces tell
    for name, description in sorted(rendered.items(), key=lambda one: (-len(one[1]), one[0])):
        whole = f"{_BEGINS}{re.escape(description)}{_VALUES}{_ENDS}"
        if description and re.search(whole, goal):
            goal = re.sub(whole, "", goal)
            wants.append({"want": description, "tool": name})
    for piece in _PIECES.split(re.sub(_VALUES, "", goal)):
        words = _words(piece)
        if len(words) >= _LEAST_WORDS:
            likeness = ((name, _likeness(words, _words(text))) for name, text in rendered.items())
            alike = (name for name, share in likeness if share >= _ALIKE)
            wants.append({"want": piece.strip(), "tool": next(alike, None)})
    return {"wants": wants}


def _likeness(words: frozenset[str], others: frozenset[str]) -> float:
    return len(words & others) / len(words | others) if words | others else 0.0


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def word_fault(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """Word the text that the purpose of a fault asks for, from the language's own sentences."""
    error_message = sections.json("told")  # the body of an error, or the sentence in it
    while isinstance(error_message, dict):
        error_message = error_message.get("message", next(iter(error_message.values()), ""))
    field = str(sections.json("field")).replace("_", " ")
    reason = str(error_message)
    reason = f"{reason[:1].lower()}{reason[1:]}" if reason[1:2].islower() else reason
    words = {"field": field, "entry": str(sections.json("entry")), "reason": reason}
    words["deed"] = str(sections.json("deed"))
    return {"text": _purposed("faults", str(sections.json("purpose")), language, rng, words)}


def word_policy(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """Word the text that the purpose of a policy asks for, from the language's own sentences."""
    first, *more = sections.listed("issues")
    said = [_purposed("policies", str(sections.json("purpose")), language, rng, first)]
    if sections.json("purpose") in ("refusal", "again"):
        said += [_purposed("policies", "neither", language, rng, one) for one in more]
    return {"text": of(language).space.join(said)}


def _purposed(
    page: str, purpose: str, language: Language, rng: Random, words: Mapping[str, str]
) -> str:
    """Return a line for a purpose; it recites a policy only where nobody has said the reason."""
    shapes = shapes_in(language, f"{page}.{purpose}")
    other = "{policy}" if words.get("because") else "{because}"
    return as_sentence(rng.choice([one for one in shapes if other not in one]), words)
