"""Whether a conversation has its scenario's complexity, proved by one rule each (CONFETTI 3.1).

The proof uses the sample alone: its turns, calls, results, acts and candidates. What no rule
proves is left to people.

Before a conversation is made, its scenario is checked for being fit to act out. By code: its
APIs are at hand or withheld as its episodes need them, its complexity is possible with them, it
has one reference time, and its plan has the turns that it asks for. By the judge: the goal in
words wants what the APIs of the plan do and, where something is to be refused, what none of them
does. What is not proved makes no conversation.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise, zip_longest
from typing import NamedTuple, get_args

from pydantic import JsonValue

from callwright.generators.conversations.scenarios import SHAPES, changeable
from callwright.generators.environments.simulated import error_of, links_between
from callwright.generators.kinds import traits_of
from callwright.generators.stages import StageContext
from callwright.generators.tools import are_redundant
from callwright.language.schemas import scalars
from callwright.language.values import locate, read_boolean
from callwright.llm.answer_schemas import closed, narrowed
from callwright.llm.stated_schemas import choice_schema
from callwright.validators.checks.declaring import gate, rule
from callwright.validators.checks.verdicts import Answer, Finding, answer_of
from callwright.validators.judges import SCENARIO, ScenarioReading, ask_opinion
from callwright.validators.reading.one_call import find_duplicate_tool
from callwright.warehouse.records import (
    CallTurn,
    Complexity,
    ConversationPlan,
    DoubtedFact,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    Scenario,
    Tool,
    UserTurn,
    WordedScenario,
)


class CallWithResult(NamedTuple):
    """A call with its result; a call that was due but not made has None."""

    call: GoldCall
    result: JsonValue

    @property
    def failed(self) -> bool:
        """Whether the result is an error."""
        return bool(error_of(self.result))


class Round(NamedTuple):
    """A user's turn and what came of it.

    `asked` is the reply before it, `goals` the tools that it asks for. A message that comes with
    the turn stands in `text` after the user's own words.
    """

    turn: int
    text: str
    goals: tuple[str, ...]
    asked: ReplyTurn | None
    made: tuple[CallWithResult, ...]
    reply: ReplyTurn | None

    @property
    def seeks(self) -> bool:
        """Whether the reply asks the user for something."""
        return self.reply is not None and "seek" in self.reply.acts

    @property
    def was_sought(self) -> bool:
        """Whether the user was asked for something before."""
        return self.asked is not None and "seek" in self.asked.acts


class ConversationWithTools(NamedTuple):
    """A conversation with the tools that it may call, and those that were withheld, by name."""

    sample: Sample
    rounds: tuple[Round, ...]
    tools: Mapping[str, Tool]
    withheld: Mapping[str, Tool]

    def says(self, text: str, call: GoldCall, parameter: str) -> bool:
        """Whether a text states the value that a call has for a parameter."""
        known = self.tools.get(call.tool)
        schema = {"title": parameter, **(known.properties.get(parameter, {}) if known else {})}
        return locate(call.arguments[parameter], schema, text) is not None

    def made(self) -> list[CallWithResult]:
        """Every call of the conversation."""
        return [made for one in self.rounds for made in one.made]


@rule(
    "complexity",
    "2",
    "Is the complexity that the scenario requires really there?",
    source="CONFETTI 3.1",
    applies=lambda sample: traits_of(sample.kind).has_acts,
    doubts={"complexity_absent": "What should make this conversation hard ({value}) is not there."},
)
def check_complexity(sample: Sample, context: StageContext) -> Answer:
    """Prove that the required complexity is there; what else is there is reported too."""
    withheld = [context.tool(key) for key in sample.withheld]
    conversation = read_conversation(sample, context.toolset(sample.candidates), withheld)
    required = sample.facts.complexity
    problems = {name: rule(conversation) for name, rule in RULES.items()}
    unknown = f"{required!r} is none of the complexities {', '.join(get_args(Complexity))}."
    problem = next((found for name, found in problems.items() if name == required), unknown)
    beside = (
        name
        for name, found in problems.items()
        if not found and name not in ("no_target_complexity", required)
    )
    others = ", ".join(beside)
    reason = f"The complexity {required!r} is there{f', beside {others}' if others else ''}."
    return Answer(
        decision="unproved" if problem else "proved",
        doubts=(DoubtedFact(kind="complexity_absent", value=required),) if problem else (),
        score=0.0 if problem else 1.0,
        reason=problem or reason,
    )


_FEWEST = 2


def _exception(conversation: ConversationWithTools) -> str:
    is_told = any(
        one.reply and any(made.failed for made in one.made) for one in conversation.rounds
    )
    return "" if is_told else "No call has an error as its result and a reply that tells of it."


def _failed(conversation: ConversationWithTools) -> str:
    tools = {made.call.tool for made in conversation.made() if made.failed}
    served = {made.call.tool for made in conversation.made() if not made.failed}
    if not tools:
        return "No call went wrong, so no goal was missed by one."
    if not tools - served:
        return f"{min(tools)!r} went wrong, but was called again with success."
    return ""


def _confirmed(conversation: ConversationWithTools) -> str:
    problem = "No call follows upon a question for approval that the user answers with yes."
    for dialogue_round in conversation.rounds:
        if not (
            dialogue_round.made
            and dialogue_round.was_sought
            and dialogue_round.asked
            and read_boolean(dialogue_round.text, {}) is True
        ):
            continue
        call = dialogue_round.made[0].call
        untold = [
            name
            for name in call.arguments
            if not conversation.says(dialogue_round.asked.text, call, name)
        ]
        if not untold:
            return ""
        problem = f"The question for approval does not say {untold[0]!r} of the call that follows."
    return problem


def _switched(conversation: ConversationWithTools) -> str:
    called = {made.call.tool for made in conversation.made()}
    for before, after in pairwise(conversation.rounds):
        dropped = [name for name in before.goals if name not in called]
        if before.made or not dropped or not before.seeks or not after.goals:
            continue
        if not any(_is_of(made, name) for made in after.made for name in after.goals):
            return f"What the user turns to, {after.goals[0]!r}, is not called."
        return ""
    return "No goal is dropped for another while it is still being asked about."


def _plain(conversation: ConversationWithTools) -> str:
    failed = next((made.call.tool for made in conversation.made() if made.failed), "")
    if failed:
        return f"{failed!r} went wrong."
    served = {made.call.tool for made in conversation.made() if not made.failed}
    unserved = next(
        (name for one in conversation.rounds for name in one.goals if name not in served), ""
    )
    if unserved:
        return f"{unserved!r} was asked for, but not called."
    if any(one.reply and "reject" in one.reply.acts for one in conversation.rounds):
        return "A request is rejected."
    return "" if conversation.made() else "Nothing is called."


def _corrected(conversation: ConversationWithTools) -> str:
    problem = "No call is made again with another value that the user gives for it."
    for index, dialogue_round in enumerate(conversation.rounds):
        for called in dialogue_round.made:
            earlier = (
                other
                for each in conversation.rounds[:index]
                for other in each.made
                if not other.failed
            )
            for before in (other.call for other in earlier):
                changed = _changes(before, called.call)
                if (
                    before.tool != called.call.tool
                    or not changed
                    or dialogue_round.goals
                    or dialogue_round.was_sought
                ):
                    continue
                new = (name for name in changed if name in called.call.arguments)
                if sum(
                    conversation.says(dialogue_round.text, called.call, name) for name in new
                ) == len(changed):
                    return ""
                problem = (
                    f"The turn before the second call of {before.tool!r} does not say its new"
                    " value."
                )
    return problem


def _stacked(conversation: ConversationWithTools) -> str:
    problem = "No turn of the user's asks for several things."
    for dialogue_round in conversation.rounds:
        if len(dialogue_round.goals) < _FEWEST:
            continue
        stated = [
            made
            for made in dialogue_round.made
            if _has_stated(conversation, dialogue_round, made.call)
        ]
        if (
            sum(any(_is_of(made, name) for made in stated) for name in dialogue_round.goals)
            >= _FEWEST
        ):
            return ""
        problem = (
            "Of several things that one turn asks for, not two are called with what that turn says."
        )
    return problem


def _ambiguous(conversation: ConversationWithTools) -> str:
    pairs = pairwise(conversation.rounds)
    is_asked = any(
        one.seeks and after.made and not one.made and not one.goals for one, after in pairs
    )
    return "" if is_asked else "No question asks which of several things is meant."


def _followed(conversation: ConversationWithTools) -> str:
    problem = "No turn goes on from what was told before."
    for before, after in pairwise(conversation.rounds):
        if not before.made or before.seeks or not after.made:
            continue
        call = after.made[0].call
        carried = [name for name in call.arguments if not conversation.says(after.text, call, name)]
        if carried and all(_was_known(before, call, name) for name in carried):
            return ""
        problem = f"The call of {call.tool!r} takes nothing from the results or calls before it."
    return problem


def _implicit(conversation: ConversationWithTools) -> str:
    problem = "Every call follows upon a question that the assistant asks."
    for dialogue_round in conversation.rounds:
        if not dialogue_round.made or dialogue_round.was_sought or not dialogue_round.goals:
            continue
        call = dialogue_round.made[0].call
        if _has_stated(conversation, dialogue_round, call):
            return ""
        problem = f"The turn that {call.tool!r} follows upon says nothing of its arguments."
    return problem


def _overfilled(conversation: ConversationWithTools) -> str:
    problem = "Nothing is noted that the user says beside the point."
    for turn, words in conversation.sample.facts.extras:
        one = next((each for each in conversation.rounds if each.turn == turn), None)
        if one is None or words not in one.text or not one.made:
            problem = f"{words!r} does not stand in a turn that a call follows upon."
        elif _is_used(conversation, one, words):
            problem = f"{words!r} is an argument of a call, so it is not beside the point."
        else:
            return ""
    return problem


def _underfilled(conversation: ConversationWithTools) -> str:
    problem = "No call waits for a required argument that the assistant asks for."
    for before, after in pairwise(conversation.rounds):
        if before.made or not before.goals or not before.seeks or not after.made:
            continue
        call = after.made[0].call
        tool = conversation.tools.get(call.tool)
        if tool is None or call.tool not in before.goals:
            continue
        answered_names = [
            name
            for name in tool.required
            if name in call.arguments and conversation.says(after.text, call, name)
        ]
        if not all(conversation.says(before.text, call, name) for name in answered_names):
            return ""
        problem = f"What {call.tool!r} lacked is not asked for and given."
    return problem


def _unsupported(conversation: ConversationWithTools) -> str:
    if not conversation.withheld:
        return "No tool was withheld, so it is not known what can't be done."
    is_rejected = any(
        one.reply and "reject" in one.reply.acts and not one.made for one in conversation.rounds
    )
    return "" if is_rejected else "No request is rejected without a call."


def _is_of(made: CallWithResult, tool: str) -> bool:
    return made.call.tool == tool and not made.failed


def _has_stated(conversation: ConversationWithTools, one: Round, call: GoldCall) -> bool:
    return any(conversation.says(one.text, call, name) for name in call.arguments)


def _changes(before: GoldCall, after: GoldCall) -> list[str]:
    """Return the arguments in which two calls of a tool differ, empty if nothing agrees."""
    names = [*before.arguments, *(name for name in after.arguments if name not in before.arguments)]
    changed = [name for name in names if before.arguments.get(name) != after.arguments.get(name)]
    return changed if len(changed) < len(names) or len(names) == 1 else []


def _was_known(before: Round, call: GoldCall, name: str) -> bool:
    """Whether the previous round had the value, in a result or in a call."""
    value = call.arguments[name]
    held = [leaf for made in before.made for leaf in scalars(made.result)]
    return value in held or any(value in made.call.arguments.values() for made in before.made)


def _is_used(conversation: ConversationWithTools, one: Round, words: str) -> bool:
    """Whether these words state an argument of a call made in this round or later."""
    calls = [
        made.call for other in conversation.rounds if other.turn >= one.turn for made in other.made
    ]
    named = [
        (call, name)
        for call in calls
        for name, value in call.arguments.items()
        if not isinstance(value, bool)
    ]
    return any(conversation.says(words, call, name) for call, name in named)


RULES: Mapping[Complexity, Callable[[ConversationWithTools], str]] = {
    "exception_in_execution": _exception,
    "failed_conversation": _failed,
    "confirmation": _confirmed,
    "goal_switching": _switched,
    "no_target_complexity": _plain,
    "goal_correction": _corrected,
    "goal_stacking": _stacked,
    "ambiguous_goal": _ambiguous,
    "follow_up_question": _followed,
    "implicit_descriptive_goal": _implicit,
    "overfill": _overfilled,
    "underfill": _underfilled,
    "goal_not_supported": _unsupported,
}


def read_conversation(
    sample: Sample, tools: Sequence[Tool], withheld: Sequence[Tool]
) -> ConversationWithTools:
    """Return a conversation divided into rounds."""
    goals: dict[int, list[str]] = {}
    for turn, name in sample.facts.goals:
        goals.setdefault(turn, []).append(name)
    starts = [index for index, turn in enumerate(sample.turns) if isinstance(turn, UserTurn)]
    rounds: list[Round] = []
    for start, end in zip(starts, [*starts[1:], len(sample.turns)], strict=False):
        asked = rounds[-1].reply if rounds else None
        rounds.append(_round(sample, start, end, tuple(goals.get(start, ())), asked))
    known, hidden = ({one.name: one for one in each} for each in (tools, withheld))
    return ConversationWithTools(sample, tuple(rounds), known, hidden)


def _round(
    sample: Sample, start: int, end: int, goals: tuple[str, ...], asked: ReplyTurn | None
) -> Round:
    called: list[CallWithResult] = []
    reply = None
    text = ""
    for index in range(start, end):
        turn = sample.turns[index]
        if isinstance(turn, UserTurn):
            text = f"{turn.text}\n{turn.external.text}" if turn.external else turn.text
        elif isinstance(turn, CallTurn):
            after = sample.turns[index + 1] if index + 1 < end else None
            results = after.results if isinstance(after, ResultTurn) else ()
            called += [
                CallWithResult(call, result)
                for call, result in zip_longest(turn.calls, results)
                if call
            ]
        elif isinstance(turn, ReplyTurn):
            reply = turn
    return Round(start, text, goals, asked, tuple(called), reply)


_TIME = "%Y-%m-%d %H:%M"
_MOST_TURNS = 20
Need = Callable[[Sequence[Tool]], str]


@gate(
    "scenario",
    "1",
    "Does the goal want what its APIs do, and is the complexity possible with them?",
    group="conversational",
    source="CONFETTI 3.1",
    prompts=(SCENARIO,),
)
async def check_scenario(worded: WordedScenario, context: StageContext) -> Answer:
    """Prove that a scenario can be acted out: by code first, then by the judge's reading."""
    scenario, code_finding = worded.plan.scenario, next(_by_code(worded.plan, context), None)
    if code_finding is None:
        shown = [
            {"name": tool.name, "description": tool.description}
            for tool in context.toolset(scenario.candidates)
        ]
        named = choice_schema([one["name"] for one in shown], or_none=True)
        want = closed({"want": {"type": "string", "maxLength": 300}, "tool": named})
        answer = narrowed(ScenarioReading, {"wants": {"type": "array", "items": want}})
        reading = await ask_opinion(context.chat, SCENARIO, answer, tools=shown, goal=worded.goal)
        problem = _reading_problem(reading, worded.plan, context)
        code_finding = Finding("unproved", problem) if problem else None
    complexity = scenario.complexity
    proof = f"The goal wants what its APIs do, and {complexity!r} is possible with them."
    return answer_of([code_finding] if code_finding else [], proof)


def _by_code(plan: ConversationPlan, context: StageContext) -> Iterator[Finding]:
    scenario, problems = plan.scenario, list[str]()
    written_time, least = scenario.reference_time, scenario.minimum_turns
    turns = sum(move.speaker == "user" for move in plan.moves)
    try:
        moment = datetime.strptime(written_time, _TIME)  # noqa: DTZ007 - a wall clock, of no zone
    except ValueError:
        problems.append(
            f"The reference time {written_time!r} is none; it is written like 2026-11-02 08:15."
        )
    else:
        if f"{moment:{_TIME}}" != written_time:
            problems.append(
                f"The reference time {written_time!r} is not written like 2026-11-02 08:15."
            )
    if least > _MOST_TURNS:
        problems.append(
            f"It asks for {least} turns of the user; nobody plays more than {_MOST_TURNS}."
        )
    elif turns < least:
        problems.append(f"It asks for {least} turns of the user, and its plan has {turns}.")
    problems.append(_apis_problem(scenario, context))
    yield from (Finding("contradicted", problem) for problem in problems if problem)
    shape = SHAPES[scenario.complexity]
    own = [episode for episode in scenario.episodes if episode.shape == shape]
    if not own:
        yield Finding(
            "contradicted",
            f"No episode has the shape {shape!r} that {scenario.complexity!r} takes.",
        )
    # Episodes before and after the scenario's own may have its shape too: one that is possible is
    # enough.
    need = _NEEDS[scenario.complexity]
    found = [need([context.tool(key) for key in episode.tools]) for episode in own]
    if found and all(found):
        yield Finding(
            "contradicted", f"{scenario.complexity!r} is not possible with its APIs: {found[0]}"
        )


def _apis_problem(scenario: Scenario, context: StageContext) -> str:
    both = set(scenario.candidates) & set(scenario.withheld)
    if both:
        return f"{context.tool(min(both)).name!r} is at hand and withheld at once."
    for episode in scenario.episodes:
        refused = episode.shape == "unsupported"
        here = scenario.withheld if refused else scenario.candidates
        missing = next((key for key in episode.tools if key not in here), None)
        if missing is not None:
            where = "withheld" if refused else "at hand"
            return (
                f"{context.tool(missing).name!r}, which an episode of the shape {episode.shape!r}"
                f" takes, is not {where}."
            )
    duplicate = find_duplicate_tool(
        context.toolset(scenario.withheld), context.toolset(scenario.candidates)
    )
    return f"What no API shall do, one does: {duplicate}." if duplicate else ""


def _reading_problem(
    reading: ScenarioReading, plan: ConversationPlan, context: StageContext
) -> str:
    """Return how the goal, as the judge reads it, differs from what the plan serves, or ""."""
    users = [move for move in plan.moves if move.speaker == "user"]
    withheld = set(plan.scenario.withheld)
    asked_tools = {part.tool for move in users for part in move.parts}
    due = {context.tool(key).name for key in asked_tools - withheld}
    offered = {context.tool(key).name for move in users for key in move.options}
    named = {want.tool for want in reading.wants if want.tool is not None}
    beyond = [want.want for want in reading.wants if want.tool is None]
    if due - named:
        return f"The judge finds no wish in the goal that {min(due - named)!r} does."
    if named - due - offered:
        return (
            f"The judge reads a wish for {min(named - due - offered)!r} in the goal, which the plan"
            " does not call."
        )
    if asked_tools & withheld and not beyond:
        return (
            "The judge finds no wish in the goal that none of the APIs does, and one is to be"
            " refused."
        )
    if beyond and not asked_tools & withheld:
        return f"The judge reads a wish in the goal that none of the APIs does: {beyond[0]!r}."
    return ""


def _can_vary(tools: Sequence[Tool]) -> str:
    if changeable(tools[0]):
        return ""
    return f"{tools[0].name!r} requires no text or number that could be another one."


def _can_ask(tools: Sequence[Tool]) -> str:
    return "" if tools[0].required else f"{tools[0].name!r} requires nothing that could be said."


def _are_two(tools: Sequence[Tool]) -> str:
    if len(tools) > 1 and not are_redundant(tools[0], tools[1]):
        return ""
    return f"it takes two APIs that differ, not {' and '.join(repr(tool.name) for tool in tools)}."


def _are_linked(tools: Sequence[Tool]) -> str:
    if _are_two(tools) or links_between(tools[0], tools[1]):
        return _are_two(tools)
    return f"nothing that {tools[0].name!r} returns is required by {tools[1].name!r}."


def _have_something_beside(tools: Sequence[Tool]) -> str:
    if _are_two(tools) or any(name not in tools[0].properties for name in changeable(tools[1])):
        return _are_two(tools)
    return f"whatever {tools[1].name!r} requires is of use for {tools[0].name!r} too."


_NEEDS: Mapping[Complexity, Need] = {
    "exception_in_execution": _can_vary,
    "failed_conversation": _can_vary,
    "confirmation": _can_ask,
    "goal_switching": _are_two,
    "no_target_complexity": _can_ask,
    "goal_correction": _can_vary,
    "goal_stacking": _are_two,
    "ambiguous_goal": _are_two,
    "follow_up_question": _are_linked,
    "implicit_descriptive_goal": _can_ask,
    "overfill": _have_something_beside,
    "underfill": _can_vary,
    "goal_not_supported": _can_ask,
}
