"""Planning several calls at once: of one tool with different values, or of several tools, none of which needs another one.

The n-th plan of a language depends on the seed, the catalog and n alone, never on how many are asked for.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

from pydantic import JsonValue

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
from callwright.generators.parallel.wording import write_parallel
from callwright.generators.routing.making import NO_CATALOGS
from callwright.generators.routing.values import VALUES_PATH, choose_plan_values
from callwright.generators.stages import Step, in_a_row
from callwright.generators.stated_values import QUOTES_PATH
from callwright.generators.tools import (
    ToolPool,
    are_contradictory,
    are_redundant,
    enough_of,
    is_plain,
    pick_distractors,
    sayable_options,
)
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Arguments, Origin, PlannedCall, RoutingPlan, StatedValue, Tool

STAGE = "parallel_plans"
_COUNTS, _SHARES = (2, 3, 4), (70, 22, 8)
_ONE_TOOL_SHARE = 0.5
_MOST_OPTIONAL = 1
_MOST_PARAMETERS = 3  # of a call among several: a message that says more is nobody's
_TRIES = 40


def plan_parallel(order: Order) -> Iterator[RoutingPlan]:
    """The first plans of an order. Raises ConfigurationError where the catalog has too few tools in its language."""
    spoken = sorted(tools_for(order.tools, order.language), key=lambda tool: tool.key)
    usable = usable_tools(order, spoken, tool_obstacle)
    if len(usable) < 2 and order.samples:  # noqa: PLR2004 - several tools are two at least
        raise ConfigurationError(
            f"The catalog has {len(usable)} tools in {order.language!r} that may be called beside others; samples of the kind "
            f"{order.kind.name!r} need two at least, with one to {_MOST_PARAMETERS} required parameters."
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
    """Why the tool can't be called beside others: it takes nothing, too much to be stated there, or no single texts and numbers."""
    if not tool.required:
        return "It requires nothing, so its calls can't be told apart."
    if len(tool.required) > _MOST_PARAMETERS:
        return f"It requires more than {_MOST_PARAMETERS} parameters, too many to be stated beside other calls."
    if len(tool.required) + len(sayable_options(tool)) < tool.fewest:
        return "What a call of it has to give besides is an object or a list, which is not stated beside other calls."
    if any(not is_plain(tool.properties[name]) for name in tool.required):
        return "It requires an object, a list or a value without a type, which is not stated beside other calls."
    return value_obstacle(order, tool)


def _plan(order: Order, usable: Sequence[Tool], company: ToolPool, rng: Random) -> RoutingPlan:
    first = rng.choice(usable)
    count = rng.choices(_COUNTS, _SHARES)[0]
    again = _with_other_values(first, count, order, rng) if rng.random() < _ONE_TOOL_SHARE else []
    tools = [first] if again else _beside(first, count, usable, rng)
    calls = again or [(tool, order.own_values.fill(tool, _names(tool, rng), order.language, rng)) for tool in tools]
    shown = [first] if again else _shown(tools, company, order.candidates, rng)
    return RoutingPlan(
        kind=order.kind.name,
        language=order.language,
        domain=first.category,
        calls=tuple(_planned(tool, arguments) for tool, arguments in calls),
        candidates=tuple(tool.key for tool in shown),
        seed=rng.getrandbits(32),
        origin=Origin(stage=STAGE, parents=tuple(tool.key for tool in tools)),
    )


def _with_other_values(tool: Tool, count: int, order: Order, rng: Random) -> list[tuple[Tool, Arguments]]:
    """So many calls of a tool, each argument's value another one than in the calls before; nothing where there are too few."""
    found: list[Arguments] = []
    names = _names(tool, rng)
    for _ in range(_TRIES):
        if len(found) == count:
            return [(tool, arguments) for arguments in found]
        made = order.own_values.fill(tool, names, order.language, rng)
        if all(_are_apart(made, other) for other in found):
            found.append(made)
    return []


def _are_apart(one: Arguments, other: Arguments) -> bool:
    """Whether no value of one call could be taken for the other's."""
    return all(not _is_in(one[name], other[name]) and not _is_in(other[name], one[name]) for name in one)


def _is_in(part: JsonValue, whole: JsonValue) -> bool:
    return str(part).lower() in str(whole).lower()


def _beside(first: Tool, count: int, usable: Sequence[Tool], rng: Random) -> list[Tool]:
    """Tools that are asked for together, none of which could do what another one does.

    Tools of somebody's documents are of one category: who manages tasks does not ban a user of another product in one breath.
    """
    mixed = rng.sample(usable, len(usable))
    apart = set() if first.source in NO_CATALOGS else {tool.key for tool in usable if tool.category != first.category}
    chosen = [first]
    for tool in sorted(mixed, key=lambda tool: tool.key in apart):
        if len(chosen) == count or (len(chosen) > 1 and tool.key in apart):
            break
        if not any(are_redundant(tool, one) or are_contradictory(tool, one) for one in chosen):
            chosen.append(tool)
    return chosen


def _shown(tools: Sequence[Tool], company: ToolPool, candidates: int, rng: Random) -> list[Tool]:
    """The tools that are due among others that could do none of the calls."""
    beside = pick_distractors(tools[0], company, max(0, candidates - len(tools)), rng)
    fitting = [one for one in beside if not any(are_redundant(one, tool) for tool in tools)]
    shown = [*tools, *fitting]
    return rng.sample(shown, len(shown))


def _names(tool: Tool, rng: Random) -> list[str]:
    optional = [name for name in sayable_options(tool) if "default" not in tool.properties[name]]
    extra = rng.sample(optional, min(len(optional), rng.randint(0, _MOST_OPTIONAL)))
    return enough_of(tool, [*tool.required, *extra], rng)


def _planned(tool: Tool, arguments: Arguments) -> PlannedCall:
    return PlannedCall(
        tool=tool.name, arguments={name: StatedValue(value=value, element="text") for name, value in arguments.items()}
    )


_TRAITS = Traits("BFCL", calls="set", asked="plan", is_whole=True)

FAMILY = Family(
    "parallel",
    (Kind(PARALLEL, "a request for two to four calls that do not depend on each other", GROUP, _TRAITS, paper=400),),
    stages=in_a_row(
        "parallel", "RoutingPlan",
        Step("parallel_values", "Choose values that go together, and what besides is given.",
             "RoutingPlan", "BFCL v4, parallel", partial(choose_plan_values, stage="parallel_values"), (VALUES_PATH,)),
        Step("parallel_requests", "Word calls that do not depend on each other as one message.",
             "Sample", "BFCL v4, parallel", write_parallel, ("write_parallel", QUOTES_PATH),
             voiced=("write_parallel",)),
    ),
    drafts=RoutingPlan,
    plan=plan_parallel,
    tool_obstacle=tool_obstacle,
)  # fmt: skip
