"""Make single-turn requests (HammerBench 4.2): plan, choose parameters, draft, word.

A plan says which tool, which kind, how many parameters, and which other candidates. The n-th
assignment of a kind depends only on the seed, the catalog and n, not on how many are wanted, so
raising a count costs only the difference.
"""

from collections.abc import Iterator, Mapping, Sequence
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
from callwright.generators.given_values import (
    ArgumentValues,
    WantedValues,
    collect_values,
    given_values,
)
from callwright.generators.kinds import traits_of
from callwright.generators.own_values import beside_known
from callwright.generators.single_turn import GROUP, IMPERFECT, IRRELEVANT, PERFECT
from callwright.generators.stages import (
    ATTEMPTS,
    StageContext,
    Step,
    asked_origin,
    first_fit,
    in_a_row,
)
from callwright.generators.stated_values import Stated, find_value, span_evidence
from callwright.generators.tools import ToolPool, as_outlined, pick_distractors
from callwright.language.packs import writes
from callwright.llm.prompts import render
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.records import (
    Assignment,
    CallTurn,
    DraftCall,
    GoldCall,
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
    offered = tuple(name for name in tool.choosable if name not in fixed)
    wanted = max(0, assignment.parameter_count - len(fixed))
    if wanted == 0 or wanted >= len(offered):
        chosen = offered[:wanted]
        origin = Origin(stage=PARAMETERS_STAGE, parents=(assignment.key,), seed=assignment.seed)
    else:
        shown, seed = as_outlined(tool, ()), assignment.seed
        prompt = render(
            PROMPTS, PARAMETERS_TEMPLATE, tool=shown, offered=offered, count=wanted, seed=seed
        )
        answer = await context.chat.ask(prompt, ParameterNames)
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


LONGEST = 2000


class Mention(BaseModel):
    """Where the request states a parameter's value: the very words."""

    parameter: str
    words: str


class Wording(BaseModel):
    """A request in the user's voice, and for each parameter the words that state the value."""

    request: str
    mentions: list[Mention]


class DraftedRequest(ArgumentValues, Wording):
    """Values for the parameters asked for, and the request that states them."""


VALUES_STAGE = "values"
DRAFT_TEMPLATE = "draft_request"


async def draft_requests(choice: ParameterChoice, context: StageContext) -> list[DraftCall]:
    """Draft a call with exactly the chosen parameters, valid values, and words that state them.

    If no value is left to choose, or the values come from several answers, there are no words
    yet. Raises ReplyError if neither three answers nor a draw give a valid value.
    """
    assignment = choice.assignment
    tool = context.tool(assignment.tool)
    lists = context.own_values
    own = (
        lists.draw(tool, choice.parameters, Random(f"{assignment.seed}:own")) if lists.lists else {}
    )
    left = tuple(name for name in choice.parameters if name not in own)
    if not left:
        origin = Origin(stage=VALUES_STAGE, parents=(choice.key,), seed=assignment.seed)
        return [DraftCall(assignment=assignment, arguments=own, origin=origin)]
    prompt = render(
        PROMPTS,
        DRAFT_TEMPLATE,
        tool=as_outlined(tool, choice.parameters),
        parameters=left,
        language=assignment.language,
        seed=assignment.seed,
    )
    prompt = beside_known(prompt, own)
    wanted = WantedValues(tool, left, assignment.language, assignment.seed, own)
    given_arguments, last = await collect_values(context.chat, prompt, DraftedRequest, wanted)
    worded = (
        last if given_values(last, wanted) == given_arguments else Wording(request="", mentions=[])
    )
    return [
        DraftCall(
            assignment=assignment,
            arguments={
                name: given[name]
                for name in tool.properties
                if name in (given := {**given_arguments, **own})
            },
            request=worded.request,
            mentions={
                one.parameter: one.words
                for one in worded.mentions
                if one.parameter in choice.parameters
            },
            origin=asked_origin(
                VALUES_STAGE, choice, assignment.seed, context, (PROMPTS, DRAFT_TEMPLATE)
            ),
        )
    ]


REQUESTS_STAGE = "requests"
REQUEST_TEMPLATE = "write_request"


async def write_requests(draft: DraftCall, context: StageContext) -> list[Sample]:
    """Write a sample whose request states the drafted arguments and no other values.

    Values that no rule can read are accepted, because checks are strict. Raises ReplyError if
    three wordings don't fit, with the reason of the last one.
    """
    assignment = draft.assignment
    tool = context.tool(assignment.tool)
    mentions = [Mention(parameter=name, words=words) for name, words in draft.mentions.items()]
    drafted = Wording(request=draft.request, mentions=mentions)
    if draft.origin and draft.request and not _form_problem(drafted, draft):
        stated = _stated(drafted, draft, tool)
        if not _stated_problem(stated):
            origin = draft.origin.with_changes(stage=REQUESTS_STAGE, parents=(draft.key,))
            return [_sample(drafted.request, draft, tool, stated, origin)]
    prompt = render(
        PROMPTS,
        REQUEST_TEMPLATE,
        tool=as_outlined(tool, draft.arguments),
        arguments=draft.arguments,
        language=assignment.language,
        seed=assignment.seed,
    )
    wording = await first_fit(
        context,
        prompt,
        Wording,
        lambda wording: wording_problem(wording, draft, tool),
        f"The request for {tool.name!r} broke the format in {ATTEMPTS} wordings",
    )
    origin = asked_origin(
        REQUESTS_STAGE, draft, assignment.seed, context, (PROMPTS, REQUEST_TEMPLATE)
    )
    return [_sample(wording.request, draft, tool, _stated(wording, draft, tool), origin)]


def wording_problem(wording: Wording, draft: DraftCall, tool: Tool) -> str:
    """Return why this wording can't stand for the draft, or "".

    It must be in the draft's language, state all values and no others.
    """
    return _form_problem(wording, draft) or _stated_problem(_stated(wording, draft, tool))


def _form_problem(wording: Wording, draft: DraftCall) -> str:
    text = wording.request.strip()
    if not text or len(text) > LONGEST:
        return f"the request has {len(text)} characters; 1 to {LONGEST} are allowed."
    if not writes(draft.assignment.language, text):
        return f"the request is not in the language {draft.assignment.language!r}."
    return ""


def _stated_problem(stated: Mapping[str, Stated]) -> str:
    return next((one.problem for one in stated.values() if one.problem), "")


def _stated(wording: Wording, draft: DraftCall, tool: Tool) -> dict[str, Stated]:
    """Return where the request states each drafted argument, in the order of its mentions."""
    quotes = {
        mention.parameter: mention.words
        for mention in wording.mentions
        if mention.parameter in draft.arguments
    }
    language = draft.assignment.language
    return {
        name: find_value(
            (name, draft.arguments[name]),
            tool.properties[name],
            quotes.get(name, ""),
            wording.request,
            language,
            by_name=False,  # other names are for the checks, which read the request as a whole
        )
        for name in dict.fromkeys((*quotes, *draft.arguments))
    }


def _sample(
    request: str, draft: DraftCall, tool: Tool, stated: Mapping[str, Stated], origin: Origin
) -> Sample:
    assignment = draft.assignment
    spans = tuple(
        span_evidence(name, 0, one.place, request)
        for name, one in stated.items()
        if one.place is not None
    )
    due = GoldCall(
        tool=tool.name, arguments=draft.arguments, evidence=spans, constants=tool.constants
    )
    is_due = not traits_of(assignment.kind).is_idle
    return Sample(
        kind=assignment.kind,
        language=assignment.language,
        category=assignment.category,
        candidates=assignment.candidates,
        withheld=assignment.withheld,
        turns=(UserTurn(text=request), CallTurn(calls=(due,) if is_due else ())),
        origin=origin,
    )


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

    count = order.samples if later else min(order.samples, len(first))
    yield from plan_each(order._replace(samples=count), lambda number: tool_at(number).name, assign)
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
    return value_obstacle(order, tool)


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
            "Give each chosen parameter a value that its schema allows, and word the request with"
            " them.",
            "DraftCall",
            "HammerBench 4.2.1, D.2",
            draft_requests,
            ("draft_request",),
            voiced=("draft_request",),
        ),
        Step(
            "requests",
            "Keep the words that say exactly the arguments; word the call again where they do not.",
            "Sample",
            "HammerBench 4.2.1, D.2",
            write_requests,
            ("write_request",),
            voiced=("write_request",),
        ),
    ),
    drafts=Assignment,
    plan=plan_assignments,
    tool_obstacle=tool_obstacle,
)
