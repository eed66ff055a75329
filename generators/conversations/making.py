"""Word a planned conversation turn by turn with its calls, and label replies (CONFETTI 3.1)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any, Literal, NamedTuple, cast, get_args

from pydantic import BaseModel, Field, JsonValue

from callwright.generators.conversations import CONVERSATION, GROUP
from callwright.generators.conversations.moves import (
    GOAL_TEMPLATE,
    GOALS,
    PLANS,
    plan_conversations,
    word_scenarios,
)
from callwright.generators.conversations.scenarios import plan_scenarios, shared_out, tool_obstacle
from callwright.generators.conversations.values import VALUES_TEMPLATE
from callwright.generators.families import Family, Kind, Order, Share, Traits, shared_evenly
from callwright.generators.slots import (
    Filled,
    Slot,
    detail_line,
    draw_manner,
    fill,
    slots_of,
    wording_problem,
)
from callwright.generators.stages import (
    ATTEMPTS,
    Leniency,
    StageContext,
    Step,
    asked_origin,
    first_fit,
    in_a_row,
)
from callwright.generators.stated_values import find_value
from callwright.generators.tools import in_a_line, titled_schema
from callwright.generators.transcripts import conversation_text, walk
from callwright.language.names import humanise
from callwright.language.packs import LanguagePattern, writes
from callwright.llm.chat import Prompt
from callwright.llm.prompts import prompt_version, render
from callwright.llm.stated_schemas import Paragraph
from callwright.warehouse.records import (
    CallTurn,
    Complexity,
    Conversation,
    DialogueAct,
    Evidence,
    GoldCall,
    JsonSchema,
    Language,
    Move,
    Origin,
    Part,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    Scenario,
    SimulatedCall,
    SpokenPart,
    Tool,
    Turn,
    UserTurn,
    WordedScenario,
)

PROMPTS = "callwright.generators.conversations.prompts"
STAGE = "conversations"
USER, AGENT = "word_user_turn", "word_agent_turn"
_ASKING = frozenset({"request", "describe", "switch", "ask_more"})


class UserWords(BaseModel):
    """A user's turn, with a slot for each value."""

    text: Paragraph


class AgentWords(BaseModel):
    """An assistant's turn."""

    text: Paragraph


class _Saying(NamedTuple):
    """A value stated for a parameter of a tool, and the place of its words."""

    tool: str
    value: JsonValue
    evidence: Evidence


async def write_conversations(worded: WordedScenario, context: StageContext) -> list[Conversation]:
    """The conversation in words, with what was stated for each argument.

    Raises ReplyError where a turn can't be worded.
    """
    writing = _Writing(worded, context)
    for number, move in enumerate(worded.plan.moves):
        await writing.add(move, worded.plan.scenario.seed + number)
    scenario = worded.plan.scenario
    origin = asked_origin(STAGE, worded, scenario.seed, context, (PROMPTS, USER, AGENT))
    facts = SampleFacts(
        complexity=scenario.complexity,
        reference_time=scenario.reference_time,
        goals=tuple(writing.goals),
        extras=tuple(writing.extras),
    )
    return [Conversation(worded=worded, turns=tuple(writing.turns), facts=facts, origin=origin)]


class _Writing:
    """The turns written so far, and the values stated in them."""

    def __init__(self, worded: WordedScenario, context: StageContext) -> None:
        scenario = worded.plan.scenario
        self._worded, self._context, self._language = worded, context, scenario.language
        self._stated: list[_Saying] = []
        self._constants = {one.name: one.constants for one in context.toolset(scenario.candidates)}
        self.turns: list[Turn] = []
        self.goals: list[SpokenPart] = []
        self.extras: list[SpokenPart] = []

    async def add(self, move: Move, seed: int) -> None:
        """Write the next move as a turn."""
        match move.speaker:
            case "user":
                await self._add_user(move, seed)
            case "agent":
                text = await self._agent_text(move, seed)
                self.turns.append(ReplyTurn(text=text, acts=move.acts))
            case "calls":
                for calls in _at_once(move.calls):
                    self._add_calls(calls)

    async def _add_user(self, move: Move, seed: int) -> None:
        slots = self._slots(move)
        words = await self._user_words(move, slots, seed)
        turn = len(self.turns)
        if move.intent in _ASKING:
            names = dict.fromkeys(self._context.tool(part.tool).name for part in move.parts)
            self.goals += [SpokenPart(turn, name) for name in names]
        for number, part in enumerate(move.parts):
            tool = self._context.tool(part.tool).name
            self._stated += [
                _Saying(tool, part.arguments[evidence.argument], evidence)
                for evidence in words.evidence(slots, number, turn)
            ]
        aside = words.evidence(slots, len(move.parts), turn)
        self.extras += [SpokenPart(turn, evidence.quote) for evidence in aside]
        self.turns.append(UserTurn(text=words.text))

    def _add_calls(self, calls: Sequence[SimulatedCall]) -> None:
        turn_calls = tuple(
            GoldCall(
                tool=call.tool,
                arguments=call.arguments,
                evidence=tuple(self._evidence(call)),
                constants=self._constants.get(call.tool, {}),
            )
            for call in calls
        )
        results = tuple(call.result for call in calls)
        self.turns += [CallTurn(calls=turn_calls, executed=True), ResultTurn(results=results)]

    def _evidence(self, call: SimulatedCall) -> Iterator[Evidence]:
        """Yield where each argument was last stated, or which result holds it."""
        own = [one for one in self._stated if one.tool == call.tool]
        for name, value in call.arguments.items():
            tool_sayings = (one.evidence for one in reversed(own) if one.value == value)
            if name in call.linked:
                yield from self._in_result(name, value)
            elif same := next((one for one in tool_sayings if one.argument == name), None):
                yield same

    def _in_result(self, name: str, value: JsonValue) -> Iterator[Evidence]:
        for index, turn in reversed(list(enumerate(self.turns))):
            for at, result in enumerate(turn.results if isinstance(turn, ResultTurn) else ()):
                path = next((path for path, held in walk(result, "") if held == value), None)
                if path is not None:
                    path = f"turns[{index}].results[{at}]{path}"
                    yield Evidence(argument=name, kind="response", turn=index, path=path)
                    return

    def _slots(self, move: Move) -> tuple[Slot, ...]:
        """Return a slot for each value of a user's turn; those of the aside come last."""
        parts = [*move.parts, *([move.extra] if move.extra else [])]
        calls = [(self._context.tool(part.tool), part.arguments) for part in parts]
        seed = self._worded.plan.scenario.seed
        manner, rng = draw_manner(Random(f"{seed}:manner")), Random(f"{seed}:{len(self.turns)}")
        return slots_of(calls, self._language, manner, rng)

    async def _user_words(self, move: Move, slots: Sequence[Slot], seed: int) -> Filled:
        known = conversation_text(self.turns)
        words = await first_fit(
            self._context,
            self._prompt(
                USER,
                move,
                seed,
                extra=move.extra and self._shown(move.extra),
                slots=[slot.marked for slot in slots],
                tasks=self._tasks(move, slots),
            ),
            UserWords,
            lambda words: wording_problem(words.text, slots, self._language, known=known),
            f"The user's turn ({move.intent}) did not fit in {ATTEMPTS} wordings",
        )
        return fill(words.text, slots)

    def _tasks(self, move: Move, slots: Sequence[Slot]) -> list[dict[str, Any]]:
        """Return what a user's turn is about: tasks with their details, and an aside."""
        has_task = move.intent in _ASKING - {"describe"} or move.intent == "hint"
        keys = move.options or tuple(part.tool for part in move.parts)
        tasks: list[dict[str, Any]] = [
            {
                "task": self._told(key) if has_task else "",
                "lines": [slot.line for slot in slots if slot.spots[0][0] == number],
            }
            for number, key in enumerate(keys)
        ]
        aside = [slot.line for slot in slots if slot.spots[0][0] == len(move.parts)]
        return [*tasks, *([{"task": "in passing:", "lines": aside}] if aside else [])]

    def _told(self, key: str) -> str:
        return in_a_line(self._context.tool(key).description)

    async def _agent_text(self, move: Move, seed: int) -> str:
        context, language = self._context, self._language
        answer = await first_fit(
            context,
            self._prompt(
                AGENT,
                move,
                seed,
                asked=move.asked,
                facts=move.facts,
                error=move.error,
                lines=self._agent_lines(move),
            ),
            AgentWords,
            lambda words: agent_problem(words.text.strip(), move, context, language),
            f"The assistant's turn ({move.intent}) did not fit in {ATTEMPTS} wordings",
            leniency=Leniency(
                goes_on=lambda words: is_agent_usable(words.text.strip(), move, context, language)
            ),
        )
        return answer.text.strip()

    def _agent_lines(self, move: Move) -> list[str]:
        """Return what the assistant's turn is about: tasks, an error, details, and values."""
        lines = [self._told(key) for key in move.options]
        lines += [f"error: {move.error}"] if move.error else []
        for part in move.parts:
            tool = self._context.tool(part.tool)
            lines += [detail_line(tool, name) for name in move.asked if name in tool.properties]
            if move.intent == "ask_approval":
                lines.append(self._told(part.tool))
                lines += [f"{humanise(name)}: {value}" for name, value in part.arguments.items()]
        return lines + [f"{fact.label}: {fact.value}" for fact in move.facts]

    def _prompt(self, template: str, move: Move, seed: int, **more: object) -> Prompt:
        return render(
            PROMPTS,
            template,
            intent=move.intent,
            parts=[self._shown(part) for part in move.parts],
            options=[self._context.tool(key).sayable for key in move.options],
            language=self._language,
            seed=seed,
            conversation=conversation_text(self.turns),
            **more,
        )

    def _shown(self, part: Part) -> dict[str, Any]:
        return {"tool": self._context.tool(part.tool).sayable, "arguments": part.arguments}


def _at_once(calls: Iterable[SimulatedCall]) -> Iterator[tuple[SimulatedCall, ...]]:
    """Batch a turn's calls for parallel execution; a call that needs an earlier result waits."""
    together: list[SimulatedCall] = []
    for call in calls:
        if call.linked and together:
            yield tuple(together)
            together = []
        together.append(call)
    yield tuple(together)


_LONGEST = 2500
_ASKING_SOMETHING = LanguagePattern(r"@[?]|@{asking}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_CLOCK = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


def agent_problem(text: str, move: Move, context: StageContext, language: Language) -> str:
    """Return why this can't be the assistant's turn, or "" if it asks and tells what it must."""
    problem = _unusable(text, move, language)
    if problem:
        return problem
    for name, value, schema in _to_state(move, context):
        if not _is_stated(name, value, schema, text=text, language=language):
            return f"{text!r} does not tell {value!r} ({name})."
    return ""


def is_agent_usable(text: str, move: Move, context: StageContext, language: Language) -> bool:
    """Whether a turn is usable even if rules find only part of its facts; a check does the rest."""
    told = [_is_stated(*one, text=text, language=language) for one in _to_state(move, context)]
    return (not told or any(told)) and not _unusable(text, move, language)


def _unusable(text: str, move: Move, language: Language) -> str:
    if not text or len(text) > _LONGEST:
        return f"the turn has {len(text)} characters; 1 to {_LONGEST} are allowed."
    if not writes(language, text):
        return f"the turn is not in the language {language!r}."
    if "seek" in move.acts and not _ASKING_SOMETHING.of(text).search(text):
        return f"{text!r} asks nothing."
    return ""


def _to_state(move: Move, context: StageContext) -> list[tuple[str, JsonValue, JsonSchema]]:
    """Return the facts of a turn and, if it asks for approval, the arguments to approve."""
    facts = [(one.label, one.value) for one in move.facts if not isinstance(one.value, bool)]
    told = [(label, value, plain_schema(value)) for label, value in facts]
    if move.intent == "ask_approval":
        told += [
            (name, value, titled_schema(context.tool(part.tool), name))
            for part in move.parts
            for name, value in part.arguments.items()
        ]
    return told


def _is_stated(
    name: str, value: JsonValue, schema: JsonSchema, *, text: str, language: Language
) -> bool:
    return str(value) in text or not find_value((name, value), schema, "", text, language).problem


def plain_schema(value: JsonValue) -> JsonSchema:
    """Return a schema for a value that has none; its form determines how it may be stated."""
    if isinstance(value, int | float):
        return {"type": "number"}
    if isinstance(value, str) and _DATE.fullmatch(value):
        return {"type": "string", "format": "date"}
    if isinstance(value, str) and _CLOCK.fullmatch(value):
        return {"type": "string", "pattern": f"^{_CLOCK.pattern}$"}
    return {"type": "string"}


ACTS_STAGE = "dialogue_acts"
ACTS_TEMPLATE = "label_acts"
_ORDER: tuple[DialogueAct, ...] = ("seek", "inform", "reject", "other")


class DialogueActs(BaseModel):
    """What a reply does, one label or more."""

    acts: list[Literal["seek", "inform", "reject", "other"]] = Field(min_length=1)


async def label_conversations(conversation: Conversation, context: StageContext) -> list[Sample]:
    """The conversation as a sample, every reply with its acts."""
    scenario = conversation.worded.plan.scenario
    turns = await label_turns(conversation.turns, context)
    origin = Origin(stage=ACTS_STAGE, parents=(conversation.key,), seed=scenario.seed)
    if turns != conversation.turns:
        origin = origin.with_changes(
            model=context.chat.name, prompt_version=prompt_version(PROMPTS, ACTS_TEMPLATE)
        )
    elif conversation.origin is not None:
        model = conversation.origin.model
        origin = origin.with_changes(model=model, prompt_version=conversation.origin.prompt_version)
    return [
        Sample(
            kind=CONVERSATION,
            language=scenario.language,
            category=scenario.category,
            candidates=scenario.candidates,
            withheld=scenario.withheld,
            turns=turns,
            facts=conversation.facts,
            origin=origin,
        )
    ]


async def label_turns(turns: tuple[Turn, ...], context: StageContext) -> tuple[Turn, ...]:
    """Return the turns with acts for every reply; works for imported conversations too."""
    labelled: list[Turn] = []
    for turn in turns:
        if isinstance(turn, ReplyTurn) and not turn.acts:
            conversation = conversation_text(labelled)
            prompt = render(PROMPTS, ACTS_TEMPLATE, reply=turn.text, conversation=conversation)
            named = set((await context.chat.ask(prompt, DialogueActs)).acts)
            acts = tuple(act for act in _ORDER if act in (named - {"other"} or named))
            labelled.append(turn.with_changes(acts=acts))
        else:
            labelled.append(turn)
    return tuple(labelled)


def share_over_complexities(
    _kind: Kind, count: int, languages: Sequence[Language], _tools: Sequence[Tool]
) -> Iterator[Share]:
    """Share conversations over complexities as in CONFETTI's Table 1, and over the languages."""
    for complexity, whole in shared_out(count).items():
        for language, share in zip(languages, shared_evenly(whole, len(languages)), strict=True):
            yield Share(language, share, complexity)


def _plan(order: Order) -> Iterator[Scenario]:
    is_known = order.place in get_args(Complexity)
    return plan_scenarios(cast("Complexity", order.place), order) if is_known else iter(())


_SPOKEN = Traits("CONFETTI", calls="set", asked="conversation", is_executed=True, is_long=True)
_TRAITS = replace(_SPOKEN, has_acts=True, spread="complexity")
_ABOUT = "user and agent turns with a required complexity, calls with simulated results"
_KIND = Kind(CONVERSATION, _ABOUT, GROUP, _TRAITS, paper=109)
_PLANS = "Plan a scenario's calls, results and dialogue acts; a model gives the values."
_GOALS = "Put into words what the user of a planned conversation wants."
_WORDS = "Word each turn, again until it says, asks or tells what is planned."
_LABELS = "Label the replies whose dialogue acts no plan knows."
_PAPER, _GOAL, _TURNS = "CONFETTI 3.1", (GOAL_TEMPLATE,), (USER, AGENT)
_STEPS = (
    Step(PLANS, _PLANS, "ConversationPlan", _PAPER, plan_conversations, (VALUES_TEMPLATE,)),
    Step(GOALS, _GOALS, "WordedScenario", _PAPER, word_scenarios, _GOAL, _GOAL),
    Step(STAGE, _WORDS, "Conversation", _PAPER, write_conversations, _TURNS, (USER,)),
    Step(ACTS_STAGE, _LABELS, "Sample", _PAPER, label_conversations, (ACTS_TEMPLATE,)),
)

FAMILY = Family(
    "conversations",
    (_KIND,),
    stages=in_a_row("conversations", "Scenario", *_STEPS, group=GROUP),
    drafts=Scenario,
    plan=_plan,
    tool_obstacle=tool_obstacle,
    shares=share_over_complexities,
    kind_at=lambda _complexity: CONVERSATION,
)
