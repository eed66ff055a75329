"""Live tasks: conversations of a simulated user and an assistant in a proved task's world.

The user holds back some of what it knows, the assistant asks and calls, code answers questions,
and the world answers calls. The result is kept if the calls are those of the task and the world
ended as it should; its gold is what was called.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from callwright.generators.environments.episodes import START, diff
from callwright.generators.families import Family, Kind, Traits
from callwright.generators.kinds import name_of
from callwright.generators.multi_step import TASK
from callwright.generators.multi_step.answers import RESULT_PLACE, with_worded_answer
from callwright.generators.multi_step.correction import (
    MOST_TURNS,
    NextCalls,
    abridged,
    next_calls_prompt,
)
from callwright.generators.multi_step.samples import find_stated, moved_facts, place_of
from callwright.generators.multi_step.tasks import is_reached, world_of_sample
from callwright.generators.stages import ATTEMPTS, StageContext, Step, asked_origin, in_a_row
from callwright.generators.stated_values import found_evidence
from callwright.generators.users import LIVE_TASK
from callwright.generators.users.user import PROMPTS, SPEAK, USER_IS_THERE, SimulatedUser, converse
from callwright.language.calls.entries import value_in
from callwright.llm.prompts import led_by
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import (
    CallTurn,
    Change,
    Derivation,
    Evidence,
    Exchange,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
    UserWordings,
)

STAGE = "live_conversations"


def obstacle(sample: Sample, tools: Mapping[str, Tool]) -> str:
    """Return why nobody can talk about a sample live, or "" if somebody can."""
    candidate_tools = [tools[key] for key in sample.candidates if key in tools]
    if not sample.changes or sample.fault is not None:
        return "Only what is to change a world can be talked about live."
    if SimulatedUser(sample, candidate_tools, None).apart:
        return ""
    return "Its user says nothing that could be asked for instead."


class _Assistant:
    """An assistant in an episode of a task's world, and the turns of the conversation so far."""

    def __init__(self, source: Sample, opening: str, context: StageContext, number: int) -> None:
        """Begin after the user's first words; `number` distinguishes several tries."""
        self.turns: list[Turn] = [UserTurn(text=opening)]
        self._opening = opening
        self._episode = world_of_sample(source, context).begin(source.simulation_seed)
        self._source, self._number = source, number
        self._chat, self._tools = (
            context.assistant or context.chat,
            context.toolset(source.candidates),
        )

    @property
    def changes(self) -> tuple[Change, ...]:
        """The differences between the world now and at first."""
        return diff(START, self._episode.state)

    @property
    def is_over(self) -> bool:
        """Whether it has made more calls than any task needs."""
        return sum(isinstance(turn, CallTurn) for turn in self.turns) >= MOST_TURNS

    async def move(self, history: Sequence[Exchange]) -> NextCalls:
        """Return its model's next move. Raises ReplyError if the reply can't be read."""
        shown = [one.with_changes(responses=tuple(map(abridged, one.responses))) for one in history]
        briefing = "\n".join(filter(None, (self._source.briefing, USER_IS_THERE)))
        prompt = next_calls_prompt(self._opening, self._tools, shown, self._source.language)
        return await self._chat.ask(led_by(briefing, prompt), NextCalls, sample_index=self._number)

    async def call(self, move: NextCalls) -> Exchange:
        """Make its calls in the world, one by one.

        Raises RecordError if one is refused.
        """
        calls = tuple(GoldCall(tool=one.name, arguments=one.arguments) for one in move.calls)
        answers = [self._episode.answer(call.bare) for call in calls]
        refused = next((one.problem for one in answers if one.problem), "")
        if refused:
            raise RecordError(f"A call of the assistant was refused: {refused}")
        results = tuple(one.response for one in answers)
        self.turns += [CallTurn(calls=calls, executed=True), ResultTurn(results=results)]
        return Exchange(calls=tuple(call.bare for call in calls), responses=results)

    async def say(self, move: NextCalls, told: str | None) -> None:
        """Record what it says, and the user's answer."""
        self.turns += [
            ReplyTurn(text=move.answer),
            *([] if told is None else [UserTurn(text=told)]),
        ]


async def hold_conversations(derivation: Derivation, context: StageContext) -> list[Sample]:
    """The first conversation over a task in which it is done as it should be.

    Raises RecordError where none of three is one.
    """
    problem = ""
    for number in range(ATTEMPTS):
        try:
            return [await _hold_one(derivation, context, number)]
        except (ReplyError, RecordError) as error:
            problem = str(error)
    raise RecordError(
        f"None of {ATTEMPTS} conversations did the task as it should be done. In the last one:"
        f" {problem}"
    )


async def _hold_one(derivation: Derivation, context: StageContext, number: int) -> Sample:
    source, tools = derivation.source, context.toolset(derivation.source.candidates)
    user = SimulatedUser(source, tools, context.chat, number)
    assistant = _Assistant(source, await user.open(), context, number)
    await converse(assistant, user, [], MOST_TURNS)
    problem = _problem(assistant, user, source)
    if problem:
        raise RecordError(problem)
    talked = source.with_changes(
        kind=name_of(source.kind, derivation.transform),
        turns=_with_evidence(assistant.turns, source, {tool.name: tool for tool in tools}),
        facts=moved_facts(
            source, [turn.calls for turn in assistant.turns if isinstance(turn, CallTurn)]
        ).with_changes(user=UserWordings(user.wordings, user.refused)),
        changes=assistant.changes,
        origin=asked_origin(STAGE, derivation, derivation.seed, context, (PROMPTS, SPEAK)),
    )
    # As in every path code tells what was asked for: an assistant's last word is proved by nothing.
    return await with_worded_answer(talked.with_changes(turns=talked.turns[:-1]), context)


def _problem(assistant: _Assistant, user: SimulatedUser, source: Sample) -> str:
    """Return why a finished conversation is not kept, or "" if it is."""
    last = assistant.turns[-1]
    if not isinstance(last, ReplyTurn) or not last.text.strip():
        return "The assistant said no last word."
    if not user.turns:
        return "The assistant asked for nothing."
    due, calls_made = (
        {one.call.bare.key: one.call for one in _placed(turns)}
        for turns in (source.turns, assistant.turns)
    )
    for calls, others, what in (
        (due, calls_made, "not made"),
        (calls_made, due, "made, and the task does not need it"),
    ):
        lacking = next((call for key, call in calls.items() if key not in others), None)
        if lacking is not None:
            return f"The call of {lacking.tool} with {lacking.arguments!r} was {what}."
    if len([*_placed(assistant.turns)]) > len(calls_made):
        return "A call was made twice."
    if is_reached(source.changes, assistant.changes):
        return ""
    return "The world did not end as the task wants it."


class _PlacedCall(NamedTuple):
    """A call with its step, its position there, and the turn of the step."""

    step: int
    place: int
    turn: int
    call: GoldCall


def _placed(turns: Sequence[Turn]) -> Iterator[_PlacedCall]:
    steps = ((at, turn.calls) for at, turn in enumerate(turns) if isinstance(turn, CallTurn))
    for step, (at, calls) in enumerate(steps):
        yield from (_PlacedCall(step, place, at, call) for place, call in enumerate(calls))


def _with_evidence(
    turns: Sequence[Turn], source: Sample, tools: Mapping[str, Tool]
) -> tuple[Turn, ...]:
    """Give each call its evidence from the task, found again at its present place.

    Raises RecordError if a call has a value that nobody had said by then.
    """
    gold = {(one.step, one.place): one.call for one in _placed(source.turns)}
    due = {call.bare.key: call for call in gold.values()}
    calls_made = {one.call.bare.key: one for one in _placed(turns)}

    def found(evidence: Evidence, call: GoldCall, at: int) -> Evidence:
        place = place_of(evidence)
        if place is not None:
            answered = calls_made[gold[place].bare.key]
            start = f"turns[{answered.turn + 1}].results[{answered.place}]"
            return evidence.with_changes(
                turn=answered.turn + 1, path=RESULT_PLACE.sub(start, evidence.path, count=1)
            )
        if evidence.turn is None:
            return evidence
        value = value_in(call.arguments, evidence.argument)
        for index, turn in enumerate(turns[:at]):
            span = None
            if turn.kind == "user":
                span = find_stated(evidence.argument, value, tools[call.tool], turn.text)
            if span is not None and isinstance(turn, UserTurn):
                return found_evidence(evidence.argument, span, turn.text, index)
        problem = f"Nobody had said {evidence.argument!r} = {value!r} when {call.tool} was called."
        raise RecordError(problem)

    def kept(call: GoldCall, at: int) -> GoldCall:
        known = due[call.bare.key]
        return known.with_changes(evidence=tuple(found(one, known, at) for one in known.evidence))

    return tuple(
        (
            turn.with_changes(calls=tuple(kept(call, at) for call in turn.calls))
            if isinstance(turn, CallTurn)
            else turn
        )
        for at, turn in enumerate(turns)
    )


_TRAITS = Traits(calls="set", asked="path", is_executed=True, is_long=True, is_task=True)

FAMILY = Family(
    "users",
    (
        Kind(
            LIVE_TASK,
            "a task whose user holds something back, and is asked for it on the way",
            "live",
            _TRAITS,
            LIVE_TASK,
            (TASK,),
        ),
    ),
    stages=in_a_row(
        "users",
        "Derivation",
        Step(
            STAGE,
            "Let an assistant talk with a simulated user and call in the task's world, until it is"
            " done as it should be.",
            "Sample",
            "τ-bench",
            hold_conversations,
            (
                "speak_as_user",
                "open_as_user",
                "hear_question",
                "multi_step/prompts/call_next",
                "multi_step/prompts/word_answer",
            ),
            voiced=("speak_as_user", "open_as_user"),
        ),
        group="live",
    ),
    obstacles={LIVE_TASK: obstacle},
    has_fixed_words=True,
)
