"""The simulated user: a question is read, code decides the answer, then it is worded.

A user knows each value that a sample's gold takes from the words: where the request says it, and
what it is called. It answers exactly what is asked: it tells what it knows, repeats what it has
said, and says so if it doesn't know; it confirms by yes or no according to its goal, leads
digressions back, and ends the conversation when nothing more is asked.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count
from random import Random
from string import ascii_uppercase
from typing import Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, JsonValue

from callwright.generators.kinds import traits_of
from callwright.generators.multi_step.samples import schema_of
from callwright.language.calls.entries import value_in
from callwright.language.calls.tools import ParameterView, title_table, view_of
from callwright.language.names import deed_of, function_words
from callwright.language.numbers import find_numbers
from callwright.language.packs import LanguagePattern, of, widened, writes
from callwright.language.pages import filled, shapes_in
from callwright.language.schemas import choices_of
from callwright.language.text import capitalised
from callwright.language.values import locate, write_value
from callwright.llm.answer_schemas import narrowed
from callwright.llm.chat import ChatModel, Prompt, again
from callwright.llm.prompts import prompt_version, render
from callwright.llm.stated_schemas import Paragraph, choice_schema
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import (
    EntryRule,
    Evidence,
    Exchange,
    GoldCall,
    JsonSchema,
    Sample,
    Tool,
)

_TEXT = ("equals", "contains")
PROMPTS = "callwright.generators.users.prompts"
HEAR, SPEAK, OPEN = "hear_question", "speak_as_user", "open_as_user"
_WANTS = ("open", "confirm", "unknown", "aside", "over")
MOST_TURNS = 10  # then the user has had enough
_WORDINGS = 2
_LONGEST = 4000
_SENTENCE = re.compile(widened(r"@[^?!.\n]+@[?!.]*"))
_QUESTION = re.compile(widened(r"@[?]\s*$"))
_ASKING = LanguagePattern(r"@{asking}")
_DIGITS = re.compile(r"\d+")

Deed = Literal["tell", "again", "unknown", "yes", "no", "goal", "done"]
USER_IS_THERE = (
    "The person is there and answers you. Where something that you need was neither said nor can be"
    " found by a call, call nothing and ask the person for it in your answer; what they say stands"
    " in the history. Do not guess it. Once all is done, say so, tell what was asked for, and ask"
    " nothing more: that ends the conversation."
)


class UserFact(NamedTuple):
    """A value that the user knows for a tool's parameter, and where the request states it.

    If the value is None, the user knows what is meant only as the request describes it ("the
    cheapest one").
    """

    tool: str
    parameter: str  # the name of the argument
    path: str  # of the value in it: "legs[0].date"
    value: JsonValue
    schema: JsonSchema
    called: str
    start: int = -1
    end: int = -1
    turn: int = 0  # at which the user says it
    is_name: bool = False  # the value is the name of the thing that the parameter identifies

    def is_said(self, text: str) -> bool:
        """Whether a text states the value."""
        return self.value is not None and locate(self.value, self.schema, text) is not None

    def is_gainsaid(self, text: str) -> bool:
        """Whether a text says exactly one other choice of the parameter, and not this value."""
        options = [one for one in self.schema.get("enum") or () if one != self.value]
        return (
            not self.is_said(text)
            and sum(locate(one, {}, text) is not None for one in options) == 1
        )

    def is_offered(self, text: str) -> bool:
        """Whether a text states several of the values that the parameter allows."""
        return sum(locate(one, {}, text) is not None for one in self.schema.get("enum") or ()) > 1


def facts_of(sample: Sample, tools: Sequence[Tool]) -> list[UserFact]:
    """Return everything that the user of a sample knows, each fact once."""
    named = {tool.name: tool for tool in tools}
    due = [turn.calls for _, turn in sample.call_turns if turn.executed] or [sample.gold]
    # of a dialogue's growing call the last one
    calls = [call for made in due for call in made if call.tool in named]
    found = [fact for call in calls for fact in _facts(call, named[call.tool], sample)]
    return list({(one.parameter, str(one.value)): one for one in reversed(found)}.values())[::-1]


def _facts(call: GoldCall, tool: Tool, sample: Sample) -> Iterator[UserFact]:
    called = {one.name: one.called(sample.language) for one in view_of(tool.signature).parameters}
    for evidence in call.evidence:
        name = evidence.argument.partition("[")[0].partition(".")[0]
        fact = UserFact(
            tool.name,
            name,
            evidence.argument,
            None,
            schema_of(tool, evidence.argument),
            called.get(name, name),
        )
        if evidence.kind in ("span", "normalised") and not evidence.in_message:
            value = value_in(call.arguments, evidence.argument)
            is_first = (
                evidence.turn == 0 and evidence.start is not None and evidence.end is not None
            )
            at = (evidence.start or 0, evidence.end or 0) if is_first else (-1, -1)
            said = fact._replace(value=value, start=at[0], end=at[1], turn=evidence.turn or 0)
            yield from () if value is None else (said,)
        elif evidence.kind == "response":
            names = list(_names(evidence, sample.request))
            yield from (
                fact._replace(value=one, schema={"type": "string"}, is_name=True) for one in names
            )
            yield from () if names else (fact,)


def _names(evidence: Evidence, request: str) -> Iterator[str]:
    """Yield the names by which the request identifies the entry that a value is taken from."""
    for condition in evidence.rule.where if isinstance(evidence.rule, EntryRule) else ():
        if (
            condition.test in _TEXT
            and isinstance(condition.value, str)
            and locate(condition.value, {"type": "string"}, request)
        ):
            yield condition.value


class HeardQuestion(BaseModel):
    """What an assistant wants: letters of known values, or open, confirm, unknown, aside, over."""

    wants: list[str]


class OpeningWords(BaseModel):
    """What the user says first, without what it holds back."""

    opening: Paragraph


class UserSentence(BaseModel):
    """What the user says."""

    sentence: Paragraph


class UserAnswer(NamedTuple):
    """What the user should say, decided by code: a deed, and the facts that it states."""

    deed: Deed
    facts: tuple[UserFact, ...] = ()


class Said(NamedTuple):
    """What the user said, what it should have said, and the question before it."""

    text: str
    answer: UserAnswer
    question: str = ""


class SimulatedUser:
    """A simulated user with the goal of a sample.

    It leaves some facts out of its first words, and states them when asked.

    `chat` words its answers and reads questions that name nothing; without it, both are done by
    plain rules. `wordings` counts the wordings, `refused` those that said something else.
    """

    def __init__(
        self, sample: Sample, tools: Sequence[Tool], chat: ChatModel | None, number: int = 0
    ) -> None:
        """Begin a conversation; `number` distinguishes several over the same sample."""
        self.facts = facts_of(sample, tools)
        self.wordings = self.refused = 0
        self.turns: list[Said] = []
        self.opening, self.language = sample.request, sample.language
        self._sample, self._chat, self._number = sample, chat, number
        self._tools = {tool.name: tool for tool in tools}
        self._rng = Random(f"{sample.key} {number}")
        views = {one.name: one for tool in tools for one in view_of(tool.signature).parameters}
        self._parameters: tuple[ParameterView, ...] = tuple(views.values())
        self._table = title_table(self._parameters)
        self._told: list[UserFact] = []

    @property
    def held(self) -> list[UserFact]:
        """The facts that it knows and has not stated."""
        return [one for one in self.facts if one not in self._told]

    @property
    def apart(self) -> list[UserFact]:
        """The facts that it could leave out of its first words."""
        return [one for one in self.facts if one.start >= 0 and self._stands_apart(one)]

    async def open(self) -> str:
        """Return the user's first words: the request without up to half of its values.

        Where no model finds words without them, or none is there, the user says everything.
        """
        # it has held back what it holds back
        apart = [] if traits_of(self._sample.kind).is_live or self._chat is None else self.apart
        held_back = self._rng.sample(apart, (len(apart) + 1) // 2)
        if held_back:
            self.opening = await self._opened_without(held_back) or self.opening
        self._told = [one for one in self.facts if one.value is None or one.is_said(self.opening)]
        return self.opening

    async def _opened_without(self, held_back: Sequence[UserFact]) -> str:
        """Return a model's words for the request without these values, "" if it finds none."""
        request, tools = self._sample.request, list(self._tools.values())
        prompt = render(
            PROMPTS,
            OPEN,
            request=request,
            tools=[tool.sayable for tool in tools],
            held=[
                {
                    "tool": one.tool,
                    "parameter": one.parameter,
                    "called": one.called,
                    "value": one.value,
                }
                for one in held_back
            ],
            language=self.language,
            seed=f"{self._sample.key} {self._number}",
        )
        told = UserAnswer("tell", tuple(one for one in self.facts if one not in held_back))
        problem = partial(self._opening_problem, held_back=held_back, told=told)
        return await self._worded(prompt, OpeningWords, problem)

    def _opening_problem(self, text: str, held_back: Sequence[UserFact], told: UserAnswer) -> str:
        given = next((one for one in held_back if one.is_said(text)), None)
        if given is not None:
            return f"it says {given.value!r} for the {given.called}, which is held back."
        return self.problem_of(text, self._sample.request, told)

    def _stands_apart(self, fact: UserFact) -> bool:
        """Whether the request says a value once, apart from others, and alone for its parameter.

        If there are two colours, a question for the colour doesn't say which one is meant.
        """
        request = self._sample.request
        without = f"{request[: fact.start]}\n{request[fact.end :]}"
        others = [one for one in self.facts if one != fact]
        alone = all(
            one.end <= fact.start or fact.end <= one.start for one in others if one.start >= 0
        )
        alone = alone and all(one.parameter != fact.parameter for one in others)
        alone = alone and self._is_missed(fact)
        return alone and not isinstance(fact.value, bool) and not fact.is_said(without)

    def _is_missed(self, fact: UserFact) -> bool:
        """Whether an assistant has to ask for a value that it does not hear.

        The tool requires it, or changes nothing without it.
        """
        tool = self._tools[fact.tool]
        if fact.path != fact.parameter or fact.parameter in tool.required:
            return fact.path == fact.parameter
        calls = (call for call in self._sample.all_calls if call.tool == fact.tool)
        stated = next(
            (
                {*call.arguments}
                for call in calls
                if call.arguments.get(fact.parameter) == fact.value
            ),
            set[str](),
        )
        is_change = deed_of(function_words(fact.tool)[0]) == "change"
        return is_change and stated - {fact.parameter} <= {*tool.required}

    async def hear(self, message: str) -> str | None:
        """Return the user's answer, or None if nothing is asked any more, which ends the talk."""
        answer = (
            UserAnswer("done") if len(self.turns) >= MOST_TURNS else await self._decide(message)
        )
        if answer.deed == "done":
            return None
        text = await self._word(self._plain(answer), answer, message)
        self._told += [one for one in answer.facts if one not in self._told]
        self.turns.append(Said(text, answer, message))
        return text

    def listen(self, heard: Iterable[str]) -> None:
        """Begin after the request and these words of an assistant, for a user without a model."""
        self._told = [
            one for one in self.facts if one.value is None or one.is_said(self._sample.request)
        ]
        for message in heard:
            self.answer(message)

    def answer(self, message: str) -> str | None:
        """Return what `hear` returns, at once, for a user without a model."""
        hearing = self.hear(message)
        try:
            hearing.send(None)
        except StopIteration as done:
            return None if done.value is None else str(done.value)
        hearing.close()
        raise RuntimeError("A user who waits for a model can't answer at once.")

    async def _decide(self, message: str) -> UserAnswer:
        asking = [one for one in _SENTENCE.findall(message) if _QUESTION.search(one.strip())]
        question_text = " ".join(asking) or message
        if not any(True for _ in self._named_in(question_text)) and not any(
            one.is_said(question_text) for one in self.facts
        ):
            question_text = message  # "I would paint it white. Is that right?"
        named = set(self._named_in(question_text))
        named_facts = [one for one in self.facts if one.parameter in named]
        if not asking and not (
            _ASKING.of(message).search(message) and any(one in self.held for one in named_facts)
        ):
            return UserAnswer("done")
        stated_facts = [
            one
            for one in self.facts
            if one.is_said(question_text) and not one.is_offered(question_text)
        ]
        wrong = [
            one
            for one in named_facts
            if one not in stated_facts
            and (one.is_gainsaid(question_text) or self._is_other(one, question_text))
        ]
        wrong = [
            one
            for one in wrong
            if not any(other.parameter == one.parameter for other in stated_facts)
        ]
        settled = {one.parameter for one in (*stated_facts, *wrong)}
        left = [one for one in named_facts if one.parameter not in settled]
        if left or (named and not named_facts):
            return self._told_of(left)
        if settled:
            return UserAnswer("no", tuple(wrong)) if wrong else UserAnswer("yes")
        return await self._read(message)

    def _named_in(self, text: str) -> Iterator[str]:
        """Yield the parameters that a question mentions by their everyday names."""
        for match in self._table.pattern.finditer(text) if self._table else ():
            yield self._parameters[self._table.owner(match.group())].name if self._table else ""

    @staticmethod
    def _is_other(fact: UserFact, text: str) -> bool:
        """Whether a text that names a number's parameter states another number."""
        is_number = isinstance(fact.value, int | float) and not isinstance(fact.value, bool)
        return is_number and bool(find_numbers(text)) and not fact.is_said(text)

    def _told_of(self, facts: Sequence[UserFact]) -> UserAnswer:
        """Return the answer to a question about these facts; with none, the user does not know."""
        known_facts = [one for one in facts if one.value is not None]
        if not facts:
            return UserAnswer("unknown")
        # which is which the request alone tells
        if not known_facts or len([one for one in known_facts if one.is_name]) > 1:
            return UserAnswer("goal")
        return UserAnswer(
            "again" if all(one in self._told for one in known_facts) else "tell", tuple(known_facts)
        )

    async def _read(self, message: str) -> UserAnswer:
        """Let a model read a question that names nothing; without one, return to the goal."""
        options = [one for one in self.facts if one.value is not None][: len(ascii_uppercase)]
        letters = dict(zip(ascii_uppercase, options, strict=False))
        wants = {"ASIDE"}
        if self._chat is not None:
            shown = [
                {"option": letter, "what": f"{one.called} (for {one.tool})", "value": one.value}
                for letter, one in letters.items()
            ]
            prompt = render(
                PROMPTS,
                HEAR,
                request=self._sample.request,
                options=shown,
                says=message,
                language=self._sample.language,
            )
            try:
                named = {"type": "array", "items": choice_schema([*letters, *_WANTS])}
                answer = narrowed(HeardQuestion, {"wants": named})
                heard = await self._chat.ask(prompt, answer, sample_index=self._number)
                wants = {one.strip().upper() for one in heard.wants}
            except ReplyError:  # as if nobody had read it
                wants = {"ASIDE"}
        asked_facts = [fact for letter, fact in letters.items() if letter in wants]
        if "CONFIRM" in wants:
            return UserAnswer("no", tuple(asked_facts)) if asked_facts else UserAnswer("yes")
        if asked_facts:
            return self._told_of(asked_facts)
        if "OPEN" in wants:
            return self._told_of(self.held) if self.held else self._led_back()
        if "ASIDE" in wants:
            return self._led_back()
        return UserAnswer("unknown" if "UNKNOWN" in wants else "done")

    def _led_back(self) -> UserAnswer:
        """Return to the goal once; if the next question fails again, end the conversation."""
        return UserAnswer("done" if self.turns and self.turns[-1].answer.deed == "goal" else "goal")

    def _plain(self, answer: UserAnswer) -> str:
        """Return the answer in the plainest words."""
        plain_facts = of(self._sample.language).space.join(
            self._told_plainly(one, is_only=len(answer.facts) == 1) for one in answer.facts
        )
        match answer.deed:
            case "tell":
                return plain_facts
            case "again" | "no":
                return self._line(answer.deed, said=plain_facts)
            case deed:
                return self._line(deed)

    def _line(self, name: str, **words: str) -> str:
        return filled(self._rng.choice(shapes_in(self.language, f"user.{name}")), words)

    def _told_plainly(self, fact: UserFact, *, is_only: bool) -> str:
        rivals = [one for one in self.facts if one.parameter == fact.parameter and one != fact]
        value = fact.value
        words = value if isinstance(value, str) else str(value)
        if isinstance(value, bool | list | dict):
            words = write_value(value, fact.schema, self._sample.language, Random(0))
        purpose = " ".join(fact.tool.replace(".", "_").split("_"))
        line = "tell" if fact.is_name or is_only else "tell_of"
        line = "tell_for" if rivals and not fact.is_name else line
        said = self._line(line, called=fact.called, value=words, tool=purpose)
        keeps_letters = words == value and not choices_of(fact.schema)
        return said if keeps_letters and said.startswith(words) else capitalised(said)

    async def _word(self, plain: str, answer: UserAnswer, heard: str) -> str:
        """Return a model's words if they say exactly the same, or else the plain words."""
        prompt = render(
            PROMPTS,
            SPEAK,
            plain=plain,
            heard=heard,
            language=self._sample.language,
            seed=f"{self._sample.key} {self._number}",
        )
        problem = partial(self.problem_of, plain=plain, answer=answer)
        return await self._worded(prompt, UserSentence, problem) or plain

    async def _worded(
        self,
        prompt: Prompt,
        wording: type[OpeningWords] | type[UserSentence],
        problem_of: Callable[[str], str],
    ) -> str:
        """Return the first words of a model's without a problem, "" if there are none."""
        if self._chat is None:
            return ""
        current_prompt = prompt
        for attempt in range(_WORDINGS):
            self.wordings += 1
            try:
                reply = await self._chat.ask(
                    current_prompt, wording, sample_index=self._number * _WORDINGS + attempt
                )
            except ReplyError:
                self.refused += 1
                continue
            text = (reply.sentence if isinstance(reply, UserSentence) else reply.opening).strip()
            problem = problem_of(text)
            if not problem:
                return text
            self.refused += 1
            current_prompt = again(prompt, reply.model_dump_json(), problem)
        return ""

    def problem_of(self, text: str, plain: str, answer: UserAnswer) -> str:
        """Return why a wording can't be said, or ""; it must hold all due values and no others."""
        if not text or len(text) > _LONGEST:
            return f"it has {len(text)} characters; 1 to {_LONGEST} are allowed."
        if writes(self.language, plain) and not writes(self.language, text):
            return f"it is not in the language {self.language!r}."
        left_out = [one for one in answer.facts if one.is_said(plain) and not one.is_said(text)]
        if left_out:
            return f"it does not say {left_out[0].value!r} for the {left_out[0].called}."
        others = [
            one for one in self.facts if one not in answer.facts and not isinstance(one.value, bool)
        ]
        added = [one for one in others if one.is_said(text) and not one.is_said(plain)]
        if added:
            return f"it says {added[0].value!r} for the {added[0].called}, which is not to be said."
        return self._strange(text, plain, answer)

    def _strange(self, text: str, plain: str, answer: UserAnswer) -> str:
        """Return what a wording adds: another choice of a parameter, or figures nobody said."""
        changed = [
            one for one in self.facts if one.is_gainsaid(text) and not one.is_gainsaid(plain)
        ]
        if changed:
            return f"it says another {changed[0].called} than {changed[0].value!r}."
        figures = sorted(set(_DIGITS.findall(text)) - set(_DIGITS.findall(plain)))
        is_reworded = any(
            not isinstance(one.value, str) or _DIGITS.search(one.value) for one in answer.facts
        )
        return f"it says {figures[0]}, which nobody said." if figures and not is_reworded else ""


def user_prompts_seen() -> list[str]:
    """Return the versions of the prompts with which users hear and speak."""
    return [prompt_version(PROMPTS, one) for one in (HEAR, SPEAK, OPEN)]


class NextMove(Protocol):
    """An assistant's next move: its calls, or its words if there are none."""

    @property
    def calls(self) -> Sequence[object]:
        """The calls to make at once."""

    @property
    def answer(self) -> str:
        """The words that it says."""


Move = TypeVar("Move", bound=NextMove)


class Assistant(Protocol[Move]):
    """The assistant in a conversation: a model, and what answers its calls."""

    @property
    def is_over(self) -> bool:
        """Whether it has reached its limit."""

    async def move(self, history: Sequence[Exchange]) -> Move:
        """Return its next move, given the calls and words so far."""

    async def call(self, move: Move) -> Exchange | None:
        """Make the calls of a move; return None if the assistant sees none of their results."""

    async def say(self, move: Move, told: str | None) -> None:
        """Record its words and the user's answer, which is None after its last words."""


async def converse(
    assistant: Assistant[Move], user: SimulatedUser | None, history: list[Exchange], most: int
) -> None:
    """Continue a history with an assistant's calls and words until the conversation is over.

    The user answers what is said within the first `most` moves; without an answer, the
    conversation ends.
    """
    for number in count():
        if assistant.is_over:
            return
        move = await assistant.move(history)
        if move.calls:
            made = await assistant.call(move)
            history += [] if made is None else [made]
            continue
        user_text = await user.hear(move.answer) if user and move.answer and number < most else None
        await assistant.say(move, user_text)
        if user_text is None:
            return
        history.append(Exchange(calls=(), responses=(), said=move.answer, told=user_text))
