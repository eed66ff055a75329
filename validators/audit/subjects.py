"""What injectors work on: a sample with its tools, its values, and what other samples hold."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple, TypeVar

from pydantic import JsonValue

from callwright.generators.families import Traits
from callwright.generators.kinds import traits_of
from callwright.language.packs import of
from callwright.warehouse.records import (
    CallTurn,
    Evidence,
    GoldCall,
    JsonSchema,
    Language,
    Message,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

Option = TypeVar("Option")
_STATED = ("span", "normalised")


class ArgumentPlace(NamedTuple):
    """An argument of a gold call that the conversation gives, and the evidence for it."""

    turn: int
    position: int
    call: GoldCall
    name: str
    evidence: Evidence
    schema: JsonSchema

    @property
    def value(self) -> JsonValue:
        """The argument's value."""
        return self.call.arguments[self.name]

    @property
    def is_stated(self) -> bool:
        """Whether the user says it in a turn; otherwise a result or a message gives it."""
        return self.evidence.kind in _STATED and not self.evidence.in_message


class StatedElsewhere(NamedTuple):
    """A value that another sample has for a parameter, and its words there."""

    value: JsonValue
    quote: str


class PooledQuestion(NamedTuple):
    """What the assistant says before the user goes on, and the arguments known only then."""

    text: str
    names: frozenset[str]


class SamplePool(NamedTuple):
    """Content of samples that can be put into others, by language; values by parameter as well."""

    values: Mapping[tuple[Language, str, str], list[StatedElsewhere]]
    values_by_name: Mapping[tuple[Language, str], list[StatedElsewhere]]
    calls: Mapping[tuple[Language, str], list[GoldCall]]
    # with the names of the tools that serve it
    requests: Mapping[Language, list[tuple[str, frozenset[str]]]]
    questions: Mapping[Language, list[PooledQuestion]]
    messages: Mapping[Language, list[Message]]
    executed: Mapping[str, list[tuple[GoldCall, JsonValue]]]  # by tool, with what each returned


class AuditSubject(NamedTuple):
    """A sample to break, its tools by key, and the contents of other samples."""

    sample: Sample
    tools: Mapping[str, Tool]
    pool: SamplePool

    @property
    def traits(self) -> Traits:
        """The traits of samples of this kind."""
        return traits_of(self.sample.kind)

    @property
    def candidates(self) -> dict[str, Tool]:
        """The candidate tools by name."""
        return {self.tools[key].name: self.tools[key] for key in self.sample.candidates}

    @property
    def call_turns(self) -> list[tuple[int, CallTurn]]:
        """The turns at which some call is due, with their indexes."""
        return [(at, turn) for at, turn in self.sample.call_turns if turn.calls]

    @property
    def user_turns(self) -> list[tuple[int, UserTurn]]:
        """The user's turns, with their indexes."""
        return [
            (at, turn) for at, turn in enumerate(self.sample.turns) if isinstance(turn, UserTurn)
        ]

    @property
    def words(self) -> str:
        """All that the user says or refers to, case-folded."""
        texts = [
            f"{turn.text}\n{turn.external.text if turn.external else ''}"
            for _, turn in self.user_turns
        ]
        return "\n".join(texts).casefold()

    @property
    def word_lists(self) -> Mapping[str, Any]:
        """The word lists of the sample's language, or an empty mapping."""
        lists: Mapping[str, Any] = of(self.sample.language).data.get("injections", {})
        return lists

    @property
    def due(self) -> set[str]:
        """The names of the tools that the sample calls."""
        return {call.tool for call in self.sample.all_calls}

    @property
    def wishes(self) -> list[int]:
        """The user's turns that ask for calls: the first; in conversations, all before calls.

        Answers to what the assistant asked are left out.
        """
        if self.traits.asked != "conversation":
            return [at for at, _ in self.user_turns[:1] if self.call_turns]
        turns = self.sample.turns
        answers = {
            at + 1
            for at, turn in enumerate(turns)
            if isinstance(turn, ReplyTurn) and "seek" in turn.acts
        }  # to what the assistant has asked
        called = [
            at
            for at, _ in self.user_turns
            if isinstance(next(iter(turns[at + 1 :]), None), CallTurn)
        ]
        return [at for at in called if at not in answers]

    def places(self) -> Iterator[ArgumentPlace]:
        """Yield each argument that the conversation gives, by snapshot, no defaults or guesses."""
        candidates = self.candidates
        for at, turn in self.call_turns:
            for position, call in enumerate(turn.calls):
                tool = candidates.get(call.tool)
                for name, evidence in first_evidence(call).items():
                    if tool is not None and name in call.arguments and name in tool.properties:
                        yield ArgumentPlace(
                            at, position, call, name, evidence, tool.properties[name]
                        )

    def stated(self) -> list[ArgumentPlace]:
        """Return the arguments that the user states for the last due calls, or all in a path."""
        stated_places = [
            place for place in self.places() if place.is_stated and self._is_quoted(place.evidence)
        ]
        if self.traits.is_executed or not stated_places:
            return stated_places
        return [place for place in stated_places if place.turn == stated_places[-1].turn]

    def _is_quoted(self, evidence: Evidence) -> bool:
        turn = self.sample.turns[evidence.turn] if evidence.turn is not None else None
        text = turn.text if isinstance(turn, UserTurn) else ""
        return bool(evidence.quote) and text[evidence.start : evidence.end] == evidence.quote

    def others(self, place: ArgumentPlace) -> list[StatedElsewhere]:
        """Return other samples' values, unsaid here, for the same parameter or else its name."""
        language, words = self.sample.language, self.words
        candidates = (
            self.pool.values.get((language, place.call.tool, place.name))
            or self.pool.values_by_name.get((language, place.name))
            or ()
        )
        return [
            one
            for one in candidates
            if type(one.value) is type(place.value)
            and str(one.value).casefold() != str(place.value).casefold()
            and str(one.value).casefold() not in words
            and one.quote.casefold() not in words
        ]


class BrokenSample(NamedTuple):
    """A sample with a defect, its additional tools, and the arguments now wrong or unstated."""

    sample: Sample
    tools: Mapping[str, Tool]
    wrong: frozenset[str] = frozenset()


Injection = Callable[[AuditSubject, Random], Sample | BrokenSample | None]


class Injector(NamedTuple):
    """A kind of defect: what it breaks, and how to make it, which gives None if it does not fit.

    `is_of_words` means that it changes the words for a value so that they no longer state it.
    """

    name: str
    breaks: str
    inject: Injection
    is_of_words: bool = False


def injects(
    name: str, breaks: str, *, is_of_words: bool = False
) -> Callable[[Injection], Injector]:
    """Declare a kind of defect by decorating the function that injects it."""
    return lambda inject: Injector(name, breaks, inject, is_of_words)


def first_evidence(call: GoldCall) -> dict[str, Evidence]:
    """Return the evidence for each whole argument, without evidence for only a part of one."""
    first_ones: dict[str, Evidence] = {}
    for evidence in call.evidence:
        if evidence.argument in call.arguments and evidence.kind in (*_STATED, "response"):
            first_ones.setdefault(evidence.argument, evidence)
    return first_ones


class UnfitError(Exception):
    """A defect finds nothing in a sample that it could break; used only within this package."""


def pick(options: Sequence[Option], rng: Random) -> Option:
    """Return one of the options. Raise UnfitError if there is none."""
    if not options:
        raise UnfitError
    return rng.choice(options)


def pick_if_any(options: Sequence[Option], rng: Random) -> Option | None:
    """Return one of the options, or None if there is none."""
    return rng.choice(options) if options else None


def gather(samples: Iterable[Sample]) -> SamplePool:
    """Return the pool of what these samples contain."""
    pool = SamplePool(*(defaultdict(list) for _ in SamplePool._fields))
    for sample in samples:
        language, due = sample.language, sample.all_calls
        if due:
            pool.requests[language].append((sample.request, frozenset(call.tool for call in due)))
        for call in due:
            pool.calls[language, call.tool].append(call)
            for name, evidence in first_evidence(call).items():
                if evidence.kind in _STATED and evidence.quote:
                    one = StatedElsewhere(call.arguments[name], evidence.quote)
                    pool.values[language, call.tool, name].append(one)
                    pool.values_by_name[language, name].append(one)
        for at, turn in enumerate(sample.turns):
            _gather_turn(pool, sample, at, turn)
    return pool


def names_answered(sample: Sample, at: int) -> frozenset[str]:
    """Return the arguments that the first calls after a turn have and those before it lack."""
    before, after = (
        [
            {name for call in turn.calls for name in call.arguments}
            for turn in turns
            if isinstance(turn, CallTurn)
        ]
        for turns in (sample.turns[:at], sample.turns[at:])
    )
    return frozenset(after[0] - (before[-1] if before else set())) if after else frozenset()


def _gather_turn(pool: SamplePool, sample: Sample, at: int, turn: Turn) -> None:
    match turn:
        case ReplyTurn(text=text) if at + 1 < len(sample.turns):
            pool.questions[sample.language].append(PooledQuestion(text, names_answered(sample, at)))
        case UserTurn(external=Message() as message):
            pool.messages[sample.language].append(message)
        case ResultTurn(results=results) if at > 0:
            for call, result in zip(sample.calls_at(at - 1), results, strict=False):
                pool.executed[call.tool].append((call, result))
        case _:
            pass
