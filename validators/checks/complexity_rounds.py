"""A conversation as rounds: what the user says, the calls made for it with their results, and the reply."""

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from pydantic import JsonValue

from generators.conversational.complexities import EXTRA_TAG, GOAL_TAG
from generators.environments.simulated import error_of
from language.calls.choosing import rank_by_words
from language.calls.tools import ToolView
from language.thesaurus import weigh_words
from language.values import locate
from validators.checks.statements import view_tool
from warehouse.records import CallTurn, GoldCall, JsonSchema, ReplyTurn, ResultTurn, Sample, Tool, UserTurn

_SPOKEN_SHARE, _SPOKEN_SHARE_WHOLE = 0.75, 0.9  # the latter where the verb can't be told apart


class Made(NamedTuple):
    """A call that was made, with its result."""

    call: GoldCall
    result: JsonValue

    @property
    def failed(self) -> bool:
        """Whether the result is an error."""
        return bool(error_of(self.result))


class Round(NamedTuple):
    """A turn of the user's and what came of it; `asked` is the reply before it, `goals` what tools it asks for."""

    turn: int
    text: str
    goals: tuple[str, ...]
    asked: ReplyTurn | None
    made: tuple[Made, ...]
    reply: ReplyTurn | None

    @property
    def seeks(self) -> bool:
        """Whether the reply wants something from the user."""
        return self.reply is not None and "seek" in self.reply.acts

    @property
    def was_sought(self) -> bool:
        """Whether the user was asked something before."""
        return self.asked is not None and "seek" in self.asked.acts


class Talk(NamedTuple):
    """A conversation with the tools that it may call, and those that were withheld, by name."""

    sample: Sample
    rounds: tuple[Round, ...]
    tools: Mapping[str, Tool]
    withheld: Mapping[str, Tool]

    def view(self, name: str) -> ToolView:
        """How people speak of a tool."""
        return view_tool(self.tools[name] if name in self.tools else self.withheld[name])

    def schema(self, tool: str, parameter: str) -> JsonSchema:
        """The schema of a parameter, titled by its name."""
        known = self.tools.get(tool)
        return {"title": parameter, **(known.properties.get(parameter, {}) if known else {})}

    def says(self, text: str, call: GoldCall, parameter: str) -> bool:
        """Whether a text says the value that a call has for a parameter."""
        return locate(call.arguments[parameter], self.schema(call.tool, parameter), text) is not None

    def made(self) -> list[Made]:
        """Every call of the conversation."""
        return [made for one in self.rounds for made in one.made]

    def extras(self) -> list[tuple[int, str]]:
        """What is said beside the point, by the turn that says it."""
        return [(int(turn), words) for turn, words in _pairs(self.sample, EXTRA_TAG)]


def read_talk(sample: Sample, tools: Sequence[Tool], withheld: Sequence[Tool]) -> Talk:
    """The rounds of a conversation."""
    goals: dict[int, list[str]] = {}
    for turn, name in _pairs(sample, GOAL_TAG):
        goals.setdefault(int(turn), []).append(name)
    starts = [index for index, turn in enumerate(sample.turns) if isinstance(turn, UserTurn)]
    rounds: list[Round] = []
    for start, end in zip(starts, [*starts[1:], len(sample.turns)], strict=True):
        asked = rounds[-1].reply if rounds else None
        rounds.append(_round(sample, start, end, tuple(goals.get(start, ())), asked))
    return Talk(sample, tuple(rounds), {one.name: one for one in tools}, {one.name: one for one in withheld})


def _round(sample: Sample, start: int, end: int, goals: tuple[str, ...], asked: ReplyTurn | None) -> Round:
    made: list[Made] = []
    reply = None
    text = ""
    for index in range(start, end):
        turn = sample.turns[index]
        if isinstance(turn, UserTurn):
            text = turn.text
        elif isinstance(turn, CallTurn):
            after = sample.turns[index + 1] if index + 1 < end else None
            results = after.results if isinstance(after, ResultTurn) else ()
            made += [Made(call, result) for call, result in zip(turn.calls, results, strict=False)]
        elif isinstance(turn, ReplyTurn):
            reply = turn
    return Round(start, text, goals, asked, tuple(made), reply)


def _pairs(sample: Sample, tag: str) -> list[tuple[str, str]]:
    """The tags "goal=4:Some.tool" as ("4", "Some.tool"); those that are none such are left out."""
    told = [one.removeprefix(tag).partition(":") for one in sample.tags if one.startswith(tag)]
    return [(turn, rest) for turn, _, rest in told if turn.isdecimal() and rest]


def speaks_of(view: ToolView, text: str) -> bool:
    """Whether a text has the words of what a tool does: most of those of one way to say it, its verb among them."""
    said = weigh_words(text).keys()
    return any(_has_words(phrase, said) for phrase in view.actions)


def _has_words(phrase: str, said: Set[str]) -> bool:
    words = weigh_words(phrase)
    verb = weigh_words(phrase.split(maxsplit=1)[0]).keys() if " " in phrase else frozenset()
    known = sum(weight for word, weight in words.items() if word in said)
    share = _SPOKEN_SHARE if verb else _SPOKEN_SHARE_WHOLE
    return bool(words) and known >= share * sum(words.values()) and (not verb or bool(verb & said))


def best_fit(views: Sequence[ToolView], text: str) -> str:
    """The tool for which the words of a text speak most, "" where none is told by any."""
    ranked = rank_by_words(views, text)
    return ranked[0][1].name if ranked and ranked[0][0] > 0 else ""
