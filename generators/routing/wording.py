"""Choose consistent values for simultaneous calls, and word their question (CallNavi 4.1)."""

import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel, JsonValue

from callwright.generators.given_values import value_problem
from callwright.generators.kinds import traits_of
from callwright.generators.routing.tool_graph import UNKNOWN, unknown_evidence
from callwright.generators.stages import ATTEMPTS, Leniency, StageContext, asked_origin, first_fit
from callwright.generators.stated_values import (
    Expected,
    Spot,
    Stated,
    ask_for_quotes,
    find_values,
    value_evidence,
)
from callwright.generators.tools import mended, outlined_tools, sayable_options
from callwright.language.packs import writes
from callwright.language.text import fold
from callwright.llm.answer_schemas import narrowed, slots_schema
from callwright.llm.chat import again
from callwright.llm.prompts import render
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Arguments,
    CallTurn,
    Evidence,
    GoldCall,
    Picked,
    PlannedCall,
    RoutingPlan,
    Sample,
    SampleFacts,
    StatedValue,
    Tool,
    UserTurn,
    ValueSource,
)

PROMPTS = "callwright.generators.routing.prompts"
VALUES_TEMPLATE = "plan_values"
VALUES_PATH = "routing/prompts/plan_values"
_ATTEMPTS = 2


class PlanValue(BaseModel):
    """The value of a parameter of a call; calls are counted from 0."""

    call: int
    parameter: str
    value: JsonValue


class PlanValues(BaseModel):
    """What the calls of one message are given."""

    values: list[PlanValue]


async def choose_plan_values(
    plan: RoutingPlan, context: StageContext, *, stage: str
) -> list[RoutingPlan]:
    """Fill the plan with a model's values and optional parameters; the user's own values stay.

    A value that the schema refuses, or that is missing in two answers, is drawn; the second
    prompt says which and why. If two calls of a tool could then be mistaken for each other, all
    are drawn.
    """
    tools = {tool.name: tool for tool in context.toolset(plan.candidates)}
    slots = [_Slots(plan, at, tools[call.tool], context) for at, call in enumerate(plan.calls)]
    if not any(one.need or one.may for one in slots):
        return [plan]
    used = outlined_tools((tools[one.call.tool], {*one.need, *one.may}) for one in slots)
    shown = [one.shown for one in slots]
    prompt = render(
        PROMPTS, VALUES_TEMPLATE, tools=used, calls=shown, language=plan.language, seed=plan.seed
    )
    open_slots = [
        (at, name, tools[one.call.tool])
        for at, one in enumerate(slots)
        for name in (*one.need, *one.may)
    ]
    wanted = slots_schema(open_slots, at_least=sum(len(one.need) for one in slots))
    answer_type = narrowed(PlanValues, {"values": wanted})
    values_given: list[Arguments] = [{} for _ in slots]
    current_prompt = prompt
    for attempt in range(_ATTEMPTS):
        answer = await context.chat.ask(current_prompt, answer_type, sample_index=attempt)
        new_values = [one.taken(answer) for one in slots]
        values_given = [{**new, **old} for new, old in zip(new_values, values_given, strict=True)]
        lacking = " ".join(
            one.told_lacking(answer, values)
            for one, values in zip(slots, values_given, strict=True)
        ).strip()
        if not any(new_values) or not lacking:
            break
        current_prompt = again(prompt, answer.model_dump_json(), lacking)
    if not any(values_given):  # whoever has no opinion leaves what was drawn
        return [plan]
    calls = tuple(
        _with_shared(
            [one.filled(values) for one, values in zip(slots, values_given, strict=True)], slots
        )
    )
    pairs = [
        (one, other)
        for at, one in enumerate(calls)
        for other in calls[:at]
        if one.tool == other.tool
    ]
    if not all(_are_apart(*pair) for pair in pairs):
        return [plan]
    origin = asked_origin(stage, plan, plan.seed, context, (PROMPTS, VALUES_TEMPLATE))
    return [plan.with_changes(calls=calls, origin=origin)]


class _Slots:
    """What a planned call needs and may have; values that an earlier call says are said once."""

    def __init__(self, plan: RoutingPlan, at: int, tool: Tool, context: StageContext) -> None:
        self.call, self._tool, self._at = plan.calls[at], tool, at
        earlier_values = {
            (name, _key(one)) for call in plan.calls[:at] for name, one in call.arguments.items()
        }
        own = {name for name in tool.properties if context.own_values.of(tool, name)}
        stated = [name for name, one in self.call.arguments.items() if isinstance(one, StatedValue)]
        self.shared = [
            name for name in stated if (name, _key(self.call.arguments[name])) in earlier_values
        ]
        free = [name for name in stated if name not in own and name not in self.shared]
        if tool.fewest > len(tool.required):
            wanted = {*tool.required, *self.call.arguments}
        else:
            wanted = {*tool.required}
        self.need = [name for name in free if name in wanted]
        others = [name for name in sayable_options(tool) if "default" not in tool.properties[name]]
        self.may = [name for name in others if name not in {*own, *self.call.arguments}]
        self.may += [name for name in free if name not in wanted]

    @property
    def shown(self) -> dict[str, JsonValue]:
        found = [
            name for name, one in self.call.arguments.items() if not isinstance(one, StatedValue)
        ]
        return {"tool": self.call.tool, "need": [*self.need], "may": [*self.may], "found": [*found]}

    def taken(self, answer: PlanValues) -> Arguments:
        """Return the values of an answer that this call may have."""
        values = self._named(answer)
        return {
            name: value
            for name, value in values.items()
            if not value_problem(self._tool, name, value)
        }

    def told_lacking(self, answer: PlanValues, values: Arguments) -> str:
        """Return what an answer lacks beyond `values`, a sentence for each parameter, or ""."""
        named = self._named(answer)
        problems = (
            (
                value_problem(self._tool, name, named[name])
                if name in named
                else f"{name!r} has no value."
            )
            for name in self.need
            if name not in values
        )
        return " ".join(f"Call {self._at}: {one}" for one in problems)

    def _named(self, answer: PlanValues) -> Arguments:
        open_names = {*self.need, *self.may}
        named = {
            one.parameter: one.value
            for one in answer.values
            if one.call == self._at and one.parameter in open_names
        }
        return {name: mended(value, self._tool.properties[name]) for name, value in named.items()}

    def filled(self, values: Arguments) -> PlannedCall:
        """Return the call with these values in place of drawn ones, without unused options."""
        kept = {name: one for name, one in self.call.arguments.items() if name not in self.may}
        new = {name: StatedValue(value=value, element="text") for name, value in values.items()}
        arguments: dict[str, ValueSource] = {**kept, **new}
        return self.call.with_changes(
            arguments={name: arguments[name] for name in self._tool.properties if name in arguments}
        )


def _key(source: ValueSource) -> str:
    return source.model_dump_json()


def _with_shared(calls: Sequence[PlannedCall], slots: Sequence[_Slots]) -> Iterator[PlannedCall]:
    """Yield the calls; a value that several share is that of the first."""
    shared_sources: dict[str, ValueSource] = {}
    for call, slot in zip(calls, slots, strict=True):
        arguments = {
            name: shared_sources.get(name, one) if name in slot.shared else one
            for name, one in call.arguments.items()
        }
        shared_sources = {**arguments, **shared_sources}
        yield call.with_changes(arguments=arguments)


def _are_apart(one: PlannedCall, other: PlannedCall) -> bool:
    """Whether a shared value differs, and no different value contains the other's."""
    values = [
        {
            name: fold(str(stated.value))
            for name, stated in call.arguments.items()
            if isinstance(stated, StatedValue)
        }
        for call in (one, other)
    ]
    changed = [
        (left, values[1][name])
        for name, left in values[0].items()
        if values[1].get(name, left) != left
    ]
    return bool(changed) and not any(left in right or right in left for left, right in changed)


STAGE = "routing_requests"
TEMPLATE = "word_routing"
LONGEST = 2500
_CODE = re.compile(r"\b[a-z]+(?:[A-Z][a-z0-9]*)+\b|\b\w+_\w+\b")


class RoutingWording(BaseModel):
    """A question in the person's voice."""

    request: str


async def word_routing(plan: RoutingPlan, context: StageContext) -> list[Sample]:
    """Write a sample whose request says all of the plan's values and no unknown ones.

    Raises ReplyError if three wordings in a row fail.
    """
    tools = {tool.name: tool for tool in context.toolset(plan.candidates)}
    used = outlined_tools((tools[call.tool], call.arguments) for call in plan.calls)
    picked = (
        one for call in plan.calls for one in call.arguments.values() if isinstance(one, Picked)
    )
    asked_for = {plan.calls[one.call].tool for one in picked}
    prompt = render(
        PROMPTS,
        TEMPLATE,
        tools=[
            one | ({"returns": tools[one["name"]].returns} if one["name"] in asked_for else {})
            for one in used
        ],
        calls=[call.model_dump(mode="json", include={"tool", "arguments"}) for call in plan.calls],
        language=plan.language,
        seed=plan.seed,
    )
    quotes: dict[Spot, str] = {}
    wording = await first_fit(
        context,
        prompt,
        RoutingWording,
        lambda wording: routing_problem(wording.request.strip(), plan, tools, quotes),
        f"The question for {plan.domain!r} broke its rules in {ATTEMPTS} wordings",
        leniency=Leniency(
            look_closer=lambda wording: ask_for_quotes(
                context, wording.request.strip(), expected_of(plan, tools), quotes
            )
        ),
    )
    request = wording.request.strip()
    stated = find_values(expected_of(plan, tools), quotes, request, plan.language)
    calls = gold_calls(plan, tools, stated, request)
    return [
        Sample(
            kind=plan.kind,
            language=plan.language,
            category=plan.domain,
            candidates=plan.candidates,
            turns=(UserTurn(text=request), CallTurn(calls=calls)),
            facts=SampleFacts(difficulty=traits_of(plan.kind).difficulty),
            origin=asked_origin(STAGE, plan, plan.seed, context, (PROMPTS, TEMPLATE)),
        )
    ]


def routing_problem(
    request: str, plan: RoutingPlan, tools: dict[str, Tool], quotes: Mapping[Spot, str]
) -> str:
    """Return why this request can't stand for the plan, or "".

    It must state all that is required and nothing unknown. `quotes` are the words in which a
    model found values that no reader finds.
    """
    if not request or len(request) > LONGEST:
        return f"the request has {len(request)} characters; 1 to {LONGEST} are allowed."
    if not writes(plan.language, request):
        return f"the request is not in the language {plan.language!r}."
    statements = find_values(expected_of(plan, tools), quotes, request, plan.language).values()
    problem = next((one.problem for one in statements if one.problem), "")
    if problem:
        return problem
    named = next(
        (name for name in (*tools, UNKNOWN) if name in request and not name.islower()), None
    )
    # an iPhone is none
    of_code = {*tools, *(name for tool in tools.values() for name in tool.properties)}
    named = named or next((name for name in _CODE.findall(request) if name in of_code), None)
    if named:
        return f"it says a name as code has it: {named}."
    stated_texts = {
        str(source.value)
        for call in plan.calls
        for source in call.arguments.values()
        if isinstance(source, StatedValue)
    }
    for call in plan.calls:
        for name, source in call.arguments.items():
            pattern = (
                str(tools[call.tool].properties[name].get("pattern", ""))
                .removeprefix("^")
                .removesuffix("$")
            )
            if isinstance(source, Picked) and pattern:
                alike = re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", request)
                if given := {found.group() for found in alike} - stated_texts:
                    return f"it gives {name!r} of {call.tool} away: {min(given)!r}."
    return ""


def expected_of(plan: RoutingPlan, tools: Mapping[str, Tool]) -> Expected:
    """Return what the request states of the plan, by the number of the call and its parameter."""
    return {
        (number, name): (source.value, tools[call.tool].properties[name])
        for number, call in enumerate(plan.calls)
        for name, source in call.arguments.items()
        if isinstance(source, StatedValue)
    }


def gold_calls(
    plan: RoutingPlan, tools: Mapping[str, Tool], stated: Mapping[Spot, Stated], request: str
) -> tuple[GoldCall, ...]:
    """Return the plan's calls, with evidence of stated values and of the feeds of unknown ones."""
    return tuple(
        _gold(number, call, tools[call.tool], stated, request)
        for number, call in enumerate(plan.calls)
    )


def _gold(
    number: int, call: PlannedCall, tool: Tool, stated: Mapping[Spot, Stated], request: str
) -> GoldCall:
    arguments: dict[str, JsonValue] = {}
    evidence: list[Evidence] = []
    for name, source in call.arguments.items():
        if isinstance(source, StatedValue):
            arguments[name] = source.value
            place = stated[number, name].place
            evidence += (
                [value_evidence(name, source.value, tool.properties[name], place, request)]
                if place
                else []
            )
        elif isinstance(source, Picked):
            arguments[name] = UNKNOWN
            evidence.append(unknown_evidence(name, source.call, source.field))
        else:
            raise RecordError(
                f"A plan for routing holds {source.kind!r} for {name!r}; it can hold 'said' and"
                " 'picked'."
            )
    return GoldCall(
        tool=call.tool, arguments=arguments, evidence=tuple(evidence), constants=tool.constants
    )
