"""Wording a planned conversation turn by turn, calls and results in between (CONFETTI 3.1)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel, JsonValue

from generators.conversational.complexities import COMPLEXITY_TAG, EXTRA_TAG, GOAL_TAG, TIME_TAG
from generators.conversational.fitting import agent_problem, expected_mentions, user_problem
from generators.conversations import conversation_text
from generators.responses import walk
from generators.stage_context import StageContext
from generators.tries import ATTEMPTS, PROMPTS, first_fit
from llm.prompts import prompt_version, render
from warehouse.records import (
    CallTurn,
    Conversation,
    Evidence,
    GoldCall,
    Move,
    Origin,
    Part,
    ReplyTurn,
    ResultTurn,
    SimulatedCall,
    Tool,
    Turn,
    UserTurn,
    WordedScenario,
)

STAGE = "conversations"
USER, AGENT = "word_user_turn", "word_agent_turn"
_ASKING = frozenset({"request", "describe", "switch", "ask_more"})


class UserMention(BaseModel):
    """Where a turn states a value: the number of the part, the parameter, and the very words."""

    part: int
    parameter: str
    words: str


class UserWords(BaseModel):
    """A user's turn, and for each value the words in it that state it."""

    text: str
    mentions: list[UserMention]


class AgentWords(BaseModel):
    """An assistant's turn."""

    text: str


class _Saying(NamedTuple):
    """A value that was said for a parameter of a tool, and where."""

    tool: str
    value: JsonValue
    evidence: Evidence


async def write_conversations(worded: WordedScenario, context: StageContext) -> list[Conversation]:
    """The conversation in words, with what was said for each argument. Raises ReplyError where a turn can't be worded."""
    writing = _Writing(worded, context)
    for number, move in enumerate(worded.plan.moves):
        await writing.add(move, worded.plan.scenario.seed + number)
    scenario = worded.plan.scenario
    origin = Origin(
        stage=STAGE,
        parents=(worded.key,),
        seed=scenario.seed,
        model=context.chat.name,
        prompt_version="+".join(prompt_version(PROMPTS, name) for name in (USER, AGENT)),
    )
    tags = (f"{COMPLEXITY_TAG}{scenario.complexity}", f"{TIME_TAG}{scenario.reference_time}", *writing.tags)
    return [Conversation(worded=worded, turns=tuple(writing.turns), tags=tags, origin=origin)]


class _Writing:
    """The turns worded until now, and what was said in them."""

    def __init__(self, worded: WordedScenario, context: StageContext) -> None:
        self._worded = worded
        self._context = context
        self._said: list[_Saying] = []
        self.turns: list[Turn] = []
        self.tags: list[str] = []

    async def add(self, move: Move, seed: int) -> None:
        """Word the next move."""
        match move.speaker:
            case "user":
                await self._add_user(move, seed)
            case "agent":
                text = await self._agent_text(move, seed)
                self.turns.append(ReplyTurn(text=text, acts=move.acts))
            case "calls":
                for call in move.calls:
                    self._add_call(call)

    async def _add_user(self, move: Move, seed: int) -> None:
        words = await self._user_words(move, seed)
        turn = len(self.turns)
        if move.intent in _ASKING:
            names = dict.fromkeys(self._context.tool(part.tool).name for part in move.parts)
            self.tags += [f"{GOAL_TAG}{turn}:{name}" for name in names]
        for mention in words.mentions:
            start = words.text.index(mention.words)
            evidence = Evidence(
                argument=mention.parameter,
                kind="span",
                turn=turn,
                start=start,
                end=start + len(mention.words),
                quote=mention.words,
            )
            if mention.part == len(move.parts):
                self.tags.append(f"{EXTRA_TAG}{turn}:{mention.words}")
                continue
            part = move.parts[mention.part]
            tool = self._context.tool(part.tool).name
            self._said.append(_Saying(tool, part.arguments[mention.parameter], evidence))
        self.turns.append(UserTurn(text=words.text))

    def _add_call(self, call: SimulatedCall) -> None:
        evidence = tuple(self._evidence(call))
        gold = GoldCall(tool=call.tool, arguments=call.arguments, evidence=evidence)
        self.turns += [CallTurn(calls=(gold,), executed=True), ResultTurn(results=(call.result,))]

    def _evidence(self, call: SimulatedCall) -> Iterator[Evidence]:
        """Where each argument was said last, or which result holds it."""
        for name, value in call.arguments.items():
            said = [one for one in self._said if one.tool == call.tool and one.evidence.argument == name]
            same = [one.evidence for one in said if one.value == value]
            if name in call.linked:
                yield from self._in_result(name, value)
            elif same:
                yield same[-1]

    def _in_result(self, name: str, value: JsonValue) -> Iterator[Evidence]:
        for index in range(len(self.turns) - 1, -1, -1):
            turn = self.turns[index]
            if isinstance(turn, ResultTurn):
                path = next((path for path, held in walk(turn.results[0], "") if held == value), None)
                if path is not None:
                    yield Evidence(argument=name, kind="response", turn=index, path=f"turns[{index}].results[0]{path}")
                    return

    async def _user_words(self, move: Move, seed: int) -> UserWords:
        extra = move.extra and self._shown(move.extra)
        prompt = render(
            PROMPTS,
            USER,
            intent=move.intent,
            parts=[self._shown(part) for part in move.parts],
            extra=extra,
            options=[_described(self._context.tool(key)) for key in move.options],
            goal=self._worded.goal,
            language=self._worded.plan.scenario.language,
            seed=seed,
            conversation=conversation_text(self.turns),
        )
        expected = expected_mentions(move, self._context)

        def problem_of(words: UserWords) -> str:
            told = [(one.part, one.parameter, one.words) for one in words.mentions]
            return user_problem(words.text, told, expected, self._worded.plan.scenario.language)

        return await first_fit(
            self._context,
            prompt,
            UserWords,
            problem_of,
            f"The user's turn ({move.intent}) did not fit in {ATTEMPTS} wordings",
        )

    async def _agent_text(self, move: Move, seed: int) -> str:
        prompt = render(
            PROMPTS,
            AGENT,
            intent=move.intent,
            parts=[self._shown(part) for part in move.parts],
            asked=move.asked,
            options=[_described(self._context.tool(key)) for key in move.options],
            facts=move.facts,
            error=move.error,
            language=self._worded.plan.scenario.language,
            seed=seed,
            conversation=conversation_text(self.turns),
        )
        language = self._worded.plan.scenario.language
        answer = await first_fit(
            self._context,
            prompt,
            AgentWords,
            lambda words: agent_problem(words.text.strip(), move, self._context, language),
            f"The assistant's turn ({move.intent}) did not fit in {ATTEMPTS} wordings",
        )
        return answer.text.strip()

    def _shown(self, part: Part) -> dict[str, Any]:
        return {"tool": _described(self._context.tool(part.tool)), "arguments": part.arguments}


def _described(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
