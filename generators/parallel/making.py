"""Make several independent calls at once, of one tool with different values or of several.

They are planned, then worded as one message, with evidence for each argument in the part about
its call. The n-th plan of a language depends only on the seed, the catalog and n, not on how
many are wanted.
"""

from collections.abc import Iterator, Sequence
from random import Random

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
from callwright.generators.routing.making import NO_CATALOGS, with_other_values
from callwright.generators.routing.wording import gold_calls, word_plan
from callwright.generators.stages import StageContext, Step, in_a_row
from callwright.generators.stated_values import QUOTES_PATH
from callwright.generators.tools import (
    ToolPool,
    are_contradictory,
    are_redundant,
    enough_of,
    is_plain,
    pick_distractors,
    sayable_options,
    tells_target,
)
from callwright.generators.wording import FREE, ONE, PATHS, SEVERAL
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.records import (
    Arguments,
    CallTurn,
    Origin,
    PlannedCall,
    RoutingPlan,
    Sample,
    StatedValue,
    Tool,
    UserTurn,
)

STAGE = "parallel_requests"


async def write_parallel(plan: RoutingPlan, context: StageContext) -> list[Sample]:
    """Write a sample whose request asks for all calls with all values.

    Raises ReplyError if three wordings in a row fail, RecordError if a call takes what another one
    returns.
    """
    given = (one for call in plan.calls for one in call.arguments.values())
    if not all(isinstance(one, StatedValue) for one in given):
        raise RecordError("A call that is due beside others can take nothing from their results.")
    tools = {tool.name: tool for tool in context.toolset(plan.candidates)}
    worded = await word_plan(plan, tools, STAGE, context)
    return [
        Sample(
            kind=plan.kind,
            language=plan.language,
            category=plan.domain,
            candidates=plan.candidates,
            turns=(UserTurn(text=worded.text), CallTurn(calls=gold_calls(plan, tools, worded))),
            origin=worded.origin,
        )
    ]


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

    def plan_set(number: int) -> RoutingPlan:
        wording, value_set = divmod(number, order.value_sets)
        planned = _plan(order, usable, company, rng(wording))
        return with_other_values(planned, spoken, order, value_set) if value_set else planned

    yield from plan_each(
        order,
        lambda number: rng(number // order.value_sets).choice(usable).name,  # drawn first of all
        plan_set,
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
    if not tells_target(tool, names):
        return []
    for _ in range(_TRIES):
        if len(argument_sets) == count:
            return [(tool, arguments) for arguments in argument_sets]
        values = order.own_values.fill(tool, names, order.language, rng)
        texts = {name: str(value).lower() for name, value in values.items()}
        before = (
            (name, str(value).lower()) for other in argument_sets for name, value in other.items()
        )
        met = ((texts[name], one) for name, one in before if name in texts)
        if not any(text in one or one in text for text, one in met):
            argument_sets.append(values)
    return []


def _names(tool: Tool, rng: Random) -> list[str]:
    optional = [name for name in sayable_options(tool) if "default" not in tool.properties[name]]
    extra = rng.sample(optional, min(len(optional), rng.randint(0, _MOST_OPTIONAL)))
    return enough_of(tool, [*tool.required, *extra], rng)


_TRAITS = Traits("BFCL", calls="set", asked="plan", is_whole=True)
_ABOUT = "a request for two to four calls that do not depend on each other"
_KIND = Kind(PARALLEL, _ABOUT, GROUP, _TRAITS, paper=400)
_WORD = "Word calls that do not depend on each other as one message."
_STEPS = (
    Step(
        STAGE,
        _WORD,
        "Sample",
        "BFCL v4, parallel",
        write_parallel,
        (*PATHS, QUOTES_PATH),
        (ONE, SEVERAL, FREE),
    ),
)

FAMILY = Family(
    "parallel",
    (_KIND,),
    stages=in_a_row("parallel", "RoutingPlan", *_STEPS),
    drafts=RoutingPlan,
    plan=plan_parallel,
    tool_obstacle=tool_obstacle,
)
