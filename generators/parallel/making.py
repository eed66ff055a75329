"""Make several independent calls at once, of one tool with different values or of several.

They are planned, then worded as one message, with evidence for each argument in the part about
its call. The n-th plan of a language depends only on the seed, the catalog and n, not on how
many are wanted.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from random import Random

from pydantic import BaseModel, JsonValue

from callwright.generators.families import (
    Family,
    Kind,
    Order,
    Traits,
    plan_each,
    tools_for,
    usable_tools,
    value_obstacle,
)
from callwright.generators.parallel import GROUP, PARALLEL
from callwright.generators.routing.making import NO_CATALOGS
from callwright.generators.routing.wording import (
    VALUES_PATH,
    choose_plan_values,
    expected_of,
    gold_calls,
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
from callwright.generators.stated_values import (
    QUOTES_PATH,
    Expected,
    Place,
    Spot,
    Stated,
    ask_for_quotes,
    find_quote,
    find_values,
)
from callwright.generators.tools import (
    ToolPool,
    are_contradictory,
    are_redundant,
    enough_of,
    is_plain,
    outlined_tools,
    pick_distractors,
    sayable_options,
)
from callwright.llm.prompts import render
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.records import (
    Arguments,
    CallTurn,
    Language,
    Origin,
    PlannedCall,
    RoutingPlan,
    Sample,
    StatedValue,
    Tool,
    UserTurn,
)

PROMPTS = "callwright.generators.parallel.prompts"
STAGE = "parallel_requests"
TEMPLATE = "write_parallel"
LONGEST = 2500


class ParallelWording(BaseModel):
    """A message in the person's voice, and the stretch of it about each call, in call order."""

    request: str
    parts: list[str]


async def write_parallel(plan: RoutingPlan, context: StageContext) -> list[Sample]:
    """Write a sample whose request states every value of every call and no other values.

    Raises ReplyError if three wordings in a row fail, RecordError if a call needs another's
    result.
    """
    given = (one for call in plan.calls for one in call.arguments.values())
    if not all(isinstance(one, StatedValue) for one in given):
        raise RecordError("A call that is due beside others can take nothing from their results.")
    tools, language = {tool.name: tool for tool in context.toolset(plan.candidates)}, plan.language
    expected = expected_of(plan, tools)
    calls = [(call.tool, dict[str, JsonValue]()) for call in plan.calls]
    for (number, name), (value, _) in expected.items():
        calls[number][1][name] = value
    outlined = outlined_tools((tools[call.tool], call.arguments) for call in plan.calls)
    told: dict[str, object] = {"language": language, "seed": plan.seed}
    told["calls"] = [{"tool": tool, "arguments": given} for tool, given in calls]
    prompt = render(PROMPTS, TEMPLATE, tools=outlined, **told)
    quotes: dict[Spot, str] = {}
    wording = await first_fit(
        context,
        prompt,
        ParallelWording,
        lambda wording: wording_problem(wording, expected, language, quotes),
        f"The request for {len(plan.calls)} calls broke its rules in {ATTEMPTS} wordings",
        leniency=Leniency(
            look_closer=lambda wording: ask_for_quotes(context, wording.request, expected, quotes)
        ),
    )
    stated = stated_values(wording, expected, language, quotes)
    due = CallTurn(calls=gold_calls(plan, tools, stated, wording.request))
    return [
        Sample(
            kind=plan.kind,
            language=language,
            category=plan.domain,
            candidates=plan.candidates,
            turns=(UserTurn(text=wording.request), due),
            origin=asked_origin(STAGE, plan, plan.seed, context, (PROMPTS, TEMPLATE)),
        )
    ]


def wording_problem(
    wording: ParallelWording, expected: Expected, language: Language, quotes: Mapping[Spot, str]
) -> str:
    """Return why this wording can't stand for the calls, or ""; it must state all values.

    No other value may be stated for one of them.
    """
    if not wording.request.strip() or len(wording.request) > LONGEST:
        return f"the request has {len(wording.request)} characters; 1 to {LONGEST} are allowed."
    stated = stated_values(wording, expected, language, quotes).values()
    return next((one.problem for one in stated if one.problem), "")


def stated_values(
    wording: ParallelWording, expected: Expected, language: Language, quotes: Mapping[Spot, str]
) -> dict[Spot, Stated]:
    """Return where the request states each value, in its call's stretch if stretches are known."""
    placed: dict[Spot, Stated] = {}
    calls = len({number for number, _ in expected})
    for number, (start, end) in enumerate(call_stretches(wording, calls)):
        own = {spot: one for spot, one in expected.items() if spot[0] == number}
        quoted = {spot: words for spot, words in quotes.items() if spot[0] == number}
        for spot, stated in find_values(own, quoted, wording.request[start:end], language).items():
            place = stated.place and Place(stated.place.start + start, stated.place.end + start)
            placed[spot] = Stated(place, stated.problem)
    return placed


def call_stretches(wording: ParallelWording, calls: int) -> list[Place]:
    """Return each call's stretch of the request, up to the next; all of it if parts fail."""
    starts: list[int] = []
    end = 0
    for part in wording.parts:
        found = find_quote(part, wording.request[end:])
        if found is not None:
            starts.append(found.start + end)
            end += found.end
    whole = Place(0, len(wording.request))
    if len(starts) != calls:
        return [whole] * calls
    return [Place(start, stop) for start, stop in pairwise([0, *starts[1:], whole.end])]


PLANS_STAGE = "parallel_plans"
_COUNTS, _SHARES = (2, 3, 4), (70, 22, 8)
_ONE_TOOL_SHARE = 0.5
_MOST_OPTIONAL = 1
_MOST_PARAMETERS = 3  # of a call among several: a message that says more is nobody's
_TRIES = 40


def plan_parallel(order: Order) -> Iterator[RoutingPlan]:
    """Yield the first plans of an order.

    Raises ConfigurationError if the catalog has too few tools in its language.
    """
    spoken = sorted(tools_for(order.tools, order.language), key=lambda tool: tool.key)
    usable = usable_tools(order, spoken, tool_obstacle)
    if len(usable) < 2 and order.samples:  # noqa: PLR2004 - several tools are two at least
        raise ConfigurationError(
            f"The catalog has {len(usable)} tools in {order.language!r} that may be called beside"
            f" others; samples of the kind {order.kind.name!r} need two at least, with one to"
            f" {_MOST_PARAMETERS} required parameters."
        )
    company = ToolPool(spoken)

    def rng(number: int) -> Random:
        return Random(f"{order.seed}:{order.kind.name}:{order.language}:{number}")

    yield from plan_each(
        order,
        lambda number: rng(number).choice(usable).name,  # drawn first of all
        lambda number: _plan(order, usable, company, rng(number)),
    )


def tool_obstacle(order: Order, tool: Tool) -> str:
    """Return why the tool can't be called beside others, or "".

    It requires nothing, too much to state, or other values than single texts and numbers.
    """
    if not tool.required:
        return "It requires nothing, so its calls can't be told apart."
    if len(tool.required) > _MOST_PARAMETERS:
        return f"It requires more than {_MOST_PARAMETERS} parameters, too many beside other calls."
    if len(tool.required) + len(sayable_options(tool)) < tool.fewest:
        return "Its calls need an object or a list besides, which is not said beside other calls."
    if any(not is_plain(tool.properties[name]) for name in tool.required):
        return "It requires an object, a list or an untyped value, not said beside other calls."
    return value_obstacle(order, tool)


def _plan(order: Order, usable: Sequence[Tool], company: ToolPool, rng: Random) -> RoutingPlan:
    first = rng.choice(usable)
    count = rng.choices(_COUNTS, _SHARES)[0]
    again = _with_other_values(first, count, order, rng) if rng.random() < _ONE_TOOL_SHARE else []
    tools = [first]
    if not again:  # others beside it, none of which could do what another one does
        mixed = rng.sample(usable, len(usable))
        # Tools of a document are of one category: who manages tasks does not ban another product's
        # user in one breath.
        is_catalog = first.source not in NO_CATALOGS
        apart = {one.key for one in usable if is_catalog and one.category != first.category}
        for tool in sorted(mixed, key=lambda tool: tool.key in apart):
            if len(tools) == count or (len(tools) > 1 and tool.key in apart):
                break
            if not any(are_redundant(tool, one) or are_contradictory(tool, one) for one in tools):
                tools.append(tool)
        if len(tools) < _COUNTS[0]:
            again = _with_other_values(first, count, order, rng)
        if len(tools) < _COUNTS[0] and not again:
            raise RecordError(
                f"No other tool may be called beside {first.name!r}, and its own values don't"
                " allow a second call."
            )
    calls = again or [
        (tool, order.own_values.fill(tool, _names(tool, rng), order.language, rng))
        for tool in tools
    ]
    shown = [first]
    if not again:  # others stand beside them that could do none of the calls
        beside = pick_distractors(first, company, max(0, order.candidates - len(tools)), rng)
        others = [one for one in beside if not any(are_redundant(one, tool) for tool in tools)]
        shown = rng.sample([*tools, *others], len(tools) + len(others))
    return RoutingPlan(
        kind=order.kind.name,
        language=order.language,
        domain=first.category,
        calls=tuple(_planned(tool, arguments) for tool, arguments in calls),
        candidates=tuple(tool.key for tool in shown),
        seed=rng.getrandbits(32),
        origin=Origin(stage=PLANS_STAGE, parents=tuple(tool.key for tool in tools)),
    )


def _planned(tool: Tool, arguments: Arguments) -> PlannedCall:
    stated = {name: StatedValue(value=one, element="text") for name, one in arguments.items()}
    return PlannedCall(tool=tool.name, arguments=stated)


def _with_other_values(
    tool: Tool, count: int, order: Order, rng: Random
) -> list[tuple[Tool, Arguments]]:
    """Return `count` calls of a tool with entirely different values, or [] if impossible."""
    argument_sets: list[Arguments] = []
    names = _names(tool, rng)
    for _ in range(_TRIES):
        if len(argument_sets) == count:
            return [(tool, arguments) for arguments in argument_sets]
        values = order.own_values.fill(tool, names, order.language, rng)
        texts = {name: str(value).lower() for name, value in values.items()}
        before = (
            (name, str(value).lower()) for other in argument_sets for name, value in other.items()
        )
        if not any(texts[name] in one or one in texts[name] for name, one in before):
            argument_sets.append(values)
    return []


def _names(tool: Tool, rng: Random) -> list[str]:
    optional = [name for name in sayable_options(tool) if "default" not in tool.properties[name]]
    extra = rng.sample(optional, min(len(optional), rng.randint(0, _MOST_OPTIONAL)))
    return enough_of(tool, [*tool.required, *extra], rng)


_TRAITS = Traits("BFCL", calls="set", asked="plan", is_whole=True)
_ABOUT = "a request for two to four calls that do not depend on each other"
_KIND = Kind(PARALLEL, _ABOUT, GROUP, _TRAITS, paper=400)
_CHOOSE = "Choose values that go together, and what besides is given."
_WORD = "Word calls that do not depend on each other as one message."
_PAPER, _WORDED = "BFCL v4, parallel", (TEMPLATE, QUOTES_PATH)
_choose_values = partial(choose_plan_values, stage="parallel_values")
_STEPS = (
    Step("parallel_values", _CHOOSE, "RoutingPlan", _PAPER, _choose_values, (VALUES_PATH,)),
    Step("parallel_requests", _WORD, "Sample", _PAPER, write_parallel, _WORDED, (TEMPLATE,)),
)

FAMILY = Family(
    "parallel",
    (_KIND,),
    stages=in_a_row("parallel", "RoutingPlan", *_STEPS),
    drafts=RoutingPlan,
    plan=plan_parallel,
    tool_obstacle=tool_obstacle,
)
