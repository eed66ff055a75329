"""Make single-turn requests (HammerBench 4.2): plan, choose parameters, draw values, word.

A plan says which tool, which kind, how many parameters, and which other candidates. The n-th
assignment of a kind depends only on the seed, the catalog and n, not on how many are wanted, so
raising a count costs only the difference.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from random import Random

from pydantic import BaseModel

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
from callwright.generators.kinds import traits_of
from callwright.generators.single_turn import GROUP, IMPERFECT, IRRELEVANT, PERFECT
from callwright.generators.slots import about
from callwright.generators.stages import StageContext, Step, asked_origin, in_a_row
from callwright.generators.stated_values import QUOTES_PATH
from callwright.generators.tools import ToolPool, fewest_of, pick_distractors
from callwright.generators.wording import FREE, ONE, AskedCall, Speaker, word_calls
from callwright.llm.answer_schemas import narrowed
from callwright.llm.prompts import render
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.records import (
    Assignment,
    CallTurn,
    DraftCall,
    GoldCall,
    JsonSchema,
    Origin,
    ParameterChoice,
    Sample,
    Tool,
    UserTurn,
)

PROMPTS = "callwright.generators.single_turn.prompts"
PARAMETERS_STAGE = "parameters"
PARAMETERS_TEMPLATE = "choose_parameters"


class ParameterNames(BaseModel):
    """The parameters chosen, by name."""

    parameters: list[str]


async def choose_parameters(assignment: Assignment, context: StageContext) -> list[ParameterChoice]:
    """Choose `parameter_count` parameters: all required ones, or fewer for imperfect requests.

    Raises RecordError if an imperfect request is planned for a tool that requires nothing.
    """
    tool = context.tool(assignment.tool)
    fixed = () if traits_of(assignment.kind).is_partial else tool.required
    unknown = context.own_values.unknown(tool, tool.optional)
    offered = tuple(name for name in tool.choosable if name not in (*fixed, *unknown))
    wanted = max(0, assignment.parameter_count - len(fixed))
    if not fixed:  # what a call holds at least, the answers to come among them
        wanted = max(wanted, min(fewest_of(tool), len(offered)))
    if wanted == 0 or wanted >= len(offered):
        chosen = offered[:wanted]
        origin = Origin(stage=PARAMETERS_STAGE, parents=(assignment.key,), seed=assignment.seed)
    else:
        seed = assignment.seed
        prompt = render(
            PROMPTS,
            PARAMETERS_TEMPLATE,
            tool=tool,
            task=AskedCall(tool, {}).task,
            offered=offered,
            lines=[f"{name}: {about(name, tool.properties[name])}" for name in offered],
            count=wanted,
            seed=seed,
        )
        chosen_names: JsonSchema = {
            "type": "array",
            "items": {"type": "string", "enum": [*offered]},
            "minItems": 1,
            "maxItems": wanted,
        }
        answer = await context.chat.ask(
            prompt, narrowed(ParameterNames, {"parameters": chosen_names})
        )
        chosen = as_many(answer.parameters, offered, wanted, tool)
        origin = asked_origin(
            PARAMETERS_STAGE, assignment, seed, context, (PROMPTS, PARAMETERS_TEMPLATE)
        )
    if traits_of(assignment.kind).is_partial and set(tool.required) <= set(chosen):
        if not tool.required:
            raise RecordError(
                f"The tool {tool.name!r} requires no parameter, so that no imperfect request can be"
                " made of it; plan another kind, or take it out of the tools."
            )
        dropped = [name for name in chosen if name in tool.required][-1]
        chosen = tuple(name for name in chosen if name != dropped)
    names = set(fixed) | set(chosen)
    ordered = tuple(name for name in tool.properties if name in names)
    return [ParameterChoice(assignment=assignment, parameters=ordered, origin=origin)]


def as_many(
    named: Sequence[str], offered: Sequence[str], wanted: int, tool: Tool
) -> tuple[str, ...]:
    """Return `wanted` of the offered parameters: named ones first, required before optional.

    Fewer are enough if they include all required ones: nobody has to say what everyday users
    don't.
    """
    known_names = [name for name in dict.fromkeys(named) if name in offered]
    if len(known_names) == wanted or (
        known_names
        and len(known_names) < wanted
        and {*tool.required} & {*offered} <= {*known_names}
    ):
        return tuple(known_names)
    rest = [name for name in offered if name not in known_names]
    ordered = sorted(
        [*known_names, *rest], key=lambda name: (name not in known_names, name not in tool.required)
    )
    return tuple(ordered[:wanted])


VALUES_STAGE = "values"


async def draw_values(choice: ParameterChoice, context: StageContext) -> list[DraftCall]:
    """Draw a call with exactly the chosen parameters; the recipe's own values go first.

    Raises ReplyError if nothing fits a parameter's schema.
    """
    assignment = choice.assignment
    rng = Random(f"{assignment.seed}:{assignment.value_set}:values")
    tool, language = context.tool(assignment.tool), assignment.language
    return [
        DraftCall(
            assignment=assignment,
            arguments=context.own_values.fill(tool, choice.parameters, language, rng),
            origin=Origin(stage=VALUES_STAGE, parents=(choice.key,), seed=assignment.seed),
        )
    ]


REQUESTS_STAGE = "requests"


async def write_requests(draft: DraftCall, context: StageContext) -> list[Sample]:
    """Write a sample whose request states the drafted arguments and no other values.

    Optional ones that the model leaves out are no part of its gold.

    Raises ReplyError if three wordings don't fit, with the reason of the last one.
    """
    assignment = draft.assignment
    tool = context.tool(assignment.tool)
    speaker = Speaker(assignment.language, assignment.seed, assignment.value_set)
    worded = await word_calls(
        [AskedCall(tool, draft.arguments)], speaker, draft, REQUESTS_STAGE, context
    )
    due = GoldCall(
        tool=tool.name,
        arguments=worded.said[0],
        evidence=worded.evidence[0],
        constants=tool.constants,
    )
    is_due = not traits_of(assignment.kind).is_idle
    return [
        Sample(
            kind=assignment.kind,
            language=assignment.language,
            category=assignment.category,
            candidates=assignment.candidates,
            withheld=assignment.withheld,
            turns=(UserTurn(text=worded.text), CallTurn(calls=(due,) if is_due else ())),
            origin=worded.origin,
        )
    ]


PLANS_STAGE = "assignments"
MOST_OPTIONAL = 2


def plan_assignments(order: Order) -> Iterator[Assignment]:
    """Yield the first assignments of an order; tools take turns, category by category.

    Raises ConfigurationError, after those, if too few tools of the catalog allow its kind in its
    language.
    """
    kind, language = order.kind.name, order.language
    spoken = sorted(tools_for(order.tools, language), key=lambda tool: tool.key)
    first = _in_turn(
        usable_tools(order, spoken, tool_obstacle), Random(f"{order.seed}:{kind}:{language}")
    )
    # the kind can be made of these again and again without duplicates
    is_partial = traits_of(kind).is_partial
    later = [tool for tool in first if (len(tool.required) > 1 if is_partial else tool.choosable)]
    company = ToolPool(spoken)

    def tool_at(number: int) -> Tool:
        turn = number - len(first)
        return first[number] if turn < 0 else later[turn % len(later)]

    def assign(number: int) -> Assignment:
        tool, rng = tool_at(number), Random(f"{order.seed}:{kind}:{language}:{number}")
        assigned = _assign(kind, tool, company, order.candidates, rng, is_first=number < len(first))
        return assigned if tool.language == language else assigned.with_changes(language=language)

    sets = order.value_sets if later else 1

    def assign_set(number: int) -> Assignment:
        wording, value_set = divmod(number, sets)
        assigned = assign(wording)
        if value_set and not assigned.parameter_count:  # it says no value that could be another
            return assign(len(first) + number)
        return assigned.with_changes(value_set=value_set) if value_set else assigned

    count = order.samples if later else min(order.samples, len(first))
    yield from plan_each(
        order._replace(samples=count), lambda number: tool_at(number // sets).name, assign_set
    )
    if spoken and not first:
        raise ConfigurationError(
            f"None of the catalog's {len(spoken)} tools in {language!r} can be used for samples of"
            f" the kind {kind!r}. The first, {spoken[0].name!r}: {tool_obstacle(order, spoken[0])}"
        )
    if count < order.samples:
        raise ConfigurationError(
            f"The catalog's {len(spoken)} tools in {language!r} allow {len(first)} samples of the"
            f" kind {kind!r}, but {order.samples} are asked for. Import tools with more parameters,"
            " or ask for fewer."
        )


def tool_obstacle(order: Order, tool: Tool) -> str:
    """Return why no sample of the order's kind can be about the tool, or "" if one can."""
    if order.kind.traits.is_partial and not tool.required:
        return "It requires nothing, so no request can lack anything."
    if order.kind.traits.is_partial and (others := _described_alike(order, tool)):
        return (
            f"{count_of(others, 'other tool has', 'other tools have')} its description, so a"
            " request that lacks a value does not tell which of them it asks for."
        )
    return value_obstacle(order, tool)


def _described_alike(order: Order, tool: Tool) -> int:
    """Return how many other tools have the very description of this one, if it has any."""
    if not tool.description:
        return 0
    named = {one.name for one in order.tools if one.description == tool.description}
    return len(named - {tool.name})


def _in_turn(tools: list[Tool], rng: Random) -> list[Tool]:
    """Return tools in random order, one of each category before the second of any."""
    shuffled = rng.sample(tools, len(tools))
    categories: dict[str, list[Tool]] = {}
    for tool in shuffled:
        categories.setdefault(tool.category, []).append(tool)
    return [
        tool for tool in chain.from_iterable(zip_longest(*categories.values())) if tool is not None
    ]


def _assign(
    kind: str, tool: Tool, company: ToolPool, candidates: int, rng: Random, *, is_first: bool
) -> Assignment:
    withheld = traits_of(kind).is_idle
    chosen = pick_distractors(tool, company, candidates if withheld else candidates - 1, rng)
    if not withheld:
        chosen.insert(rng.randint(0, len(chosen)), tool)
    return Assignment(
        kind=kind,
        language=tool.language,
        category=tool.category,
        tool=tool.key,
        candidates=tuple(one.key for one in chosen),
        withheld=(tool.key,) if withheld else (),
        parameter_count=_parameter_count(kind, tool, rng, is_first=is_first),
        seed=rng.getrandbits(32),
        origin=Origin(stage=PLANS_STAGE, parents=(tool.key,)),
    )


def _parameter_count(kind: str, tool: Tool, rng: Random, *, is_first: bool) -> int:
    """Return how many parameters the request gives; most requests are short (HammerBench 4.2.1).

    An imperfect request may give none, as in HammerBench's dialogues; a second one like that for
    the same tool would be a duplicate.
    """
    required, optional = len(tool.required), len(tool.optional)
    if traits_of(kind).is_partial:
        return rng.randint(0 if is_first else min(1, required - 1), max(0, required - 1))
    extra = rng.randint(0, min(MOST_OPTIONAL, optional))
    return max(required + extra, tool.fewest, min(1, len(tool.choosable)))


_PERFECT = Traits("HammerBench", is_whole=True)
_IMPERFECT = Traits("HammerBench", is_partial=True, is_open=True)
_IRRELEVANT = Traits("HammerBench", is_idle=True)


FAMILY = Family(
    "single_turn",
    (
        Kind(
            PERFECT,
            "a request with every required argument",
            GROUP,
            _PERFECT,
            paper=2116,
            scale=2116,
            is_decided_by_tool=True,
        ),
        Kind(
            IMPERFECT,
            "a request that lacks required arguments",
            GROUP,
            _IMPERFECT,
            paper=3240,
            scale=3240,
            is_decided_by_tool=True,
        ),
        Kind(
            IRRELEVANT, "a request that no candidate tool can serve", GROUP, _IRRELEVANT, scale=1098
        ),
    ),
    stages=in_a_row(
        "single_turn",
        "Assignment",
        Step(
            "parameters",
            "Choose the parameters that everyday users give.",
            "ParameterChoice",
            "HammerBench 4.2.1, D.3",
            choose_parameters,
            ("choose_parameters",),
        ),
        Step(
            "values",
            "Draw a value for each chosen parameter that its schema allows.",
            "DraftCall",
            "HammerBench 4.2.1, D.2",
            draw_values,
            (),
        ),
        Step(
            "requests",
            "Word the request with a slot for each value, and put the values in.",
            "Sample",
            "HammerBench 4.2.1, D.2",
            write_requests,
            (ONE, FREE, QUOTES_PATH),
            voiced=(ONE, FREE),
        ),
    ),
    drafts=Assignment,
    plan=plan_assignments,
    tool_obstacle=tool_obstacle,
)
