"""A request of one turn (HammerBench 4.2.1, D.2, D.3): its parameters are chosen, then valued and worded in one."""

from collections.abc import Sequence
from random import Random

from pydantic import BaseModel

from callwright.generators.given_values import ArgumentValues, WantedValues, collect_values, given_values
from callwright.generators.kinds import traits_of
from callwright.generators.own_values import beside_known
from callwright.generators.stages import ATTEMPTS, StageContext, first_fit, made_by
from callwright.generators.stated_values import Stated, find_value, span_evidence
from callwright.generators.tools import as_outlined
from callwright.language.packs import writes
from callwright.llm.prompts import prompt_version, render
from callwright.warehouse.errors import RecordError
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
    """Choose `parameter_count` parameters; a perfect request gets all required ones, an imperfect one never does.

    Raises RecordError where an imperfect request is planned for a tool that requires nothing.
    """
    tool = context.tool(assignment.tool)
    fixed = () if traits_of(assignment.kind).is_partial else tool.required
    offered = tuple(name for name in tool.choosable if name not in fixed)
    wanted = max(0, assignment.parameter_count - len(fixed))
    if wanted == 0 or wanted >= len(offered):
        chosen, model = offered[:wanted], ""
    else:
        chosen, model = await _ask(assignment, tool, offered, wanted, context), context.chat.name
    if traits_of(assignment.kind).is_partial and set(tool.required) <= set(chosen):
        chosen = _without_one_required(chosen, tool)
    names = set(fixed) | set(chosen)
    origin = Origin(
        stage=PARAMETERS_STAGE,
        parents=(assignment.key,),
        seed=assignment.seed,
        model=model,
        prompt_version=prompt_version(PROMPTS, PARAMETERS_TEMPLATE) if model else "",
    )
    ordered = tuple(name for name in tool.properties if name in names)
    return [ParameterChoice(assignment=assignment, parameters=ordered, origin=origin)]


async def _ask(
    assignment: Assignment, tool: Tool, offered: tuple[str, ...], wanted: int, context: StageContext
) -> tuple[str, ...]:
    prompt = render(
        PROMPTS, PARAMETERS_TEMPLATE, tool=as_outlined(tool, ()), offered=offered, count=wanted, seed=assignment.seed
    )
    answer = await context.chat.ask(prompt, ParameterNames)
    return as_many(answer.parameters, offered, wanted, tool)


def as_many(named: Sequence[str], offered: Sequence[str], wanted: int, tool: Tool) -> tuple[str, ...]:
    """So many of the parameters that are offered: those named, required ones first; where they are too few, others in order.

    Fewer are enough where all required ones are among them: nobody has to say what everyday users don't.
    """
    known = [name for name in dict.fromkeys(named) if name in offered]
    if len(known) == wanted or (known and len(known) < wanted and {*tool.required} & {*offered} <= {*known}):
        return tuple(known)
    rest = [name for name in offered if name not in known]
    first = sorted(known, key=lambda name: name not in tool.required) + sorted(
        rest, key=lambda name: name not in tool.required
    )
    return tuple(first[:wanted])


def _without_one_required(chosen: tuple[str, ...], tool: Tool) -> tuple[str, ...]:
    """Drop the last required parameter, so that the request really is imperfect."""
    if not tool.required:
        raise RecordError(
            f"The tool {tool.name!r} requires no parameter, so that no imperfect request can be made of it; plan another "
            "kind, or take it out of the tools."
        )
    dropped = [name for name in chosen if name in tool.required][-1]
    return tuple(name for name in chosen if name != dropped)


LONGEST = 2000


class Mention(BaseModel):
    """Where the request states a parameter's value: the very words."""

    parameter: str
    words: str


class Wording(BaseModel):
    """A request in the user's voice, and for each parameter the words in it that state the value."""

    request: str
    mentions: list[Mention]


class DraftedRequest(ArgumentValues, Wording):
    """Values for the parameters asked for, and the request that states them."""


VALUES_STAGE = "values"
DRAFT_TEMPLATE = "draft_request"


async def draft_requests(choice: ParameterChoice, context: StageContext) -> list[DraftCall]:
    """A draft call with exactly the chosen parameters, each value valid by the tool's schema, and the words that came with them.

    Where nothing is left to choose, or the values are of several answers, nothing words them yet. Raises ReplyError where
    neither three answers nor a draw give a value that is valid.
    """
    assignment = choice.assignment
    tool = context.tool(assignment.tool)
    own = context.own_values.draw(tool, choice.parameters, Random(f"{assignment.seed}:own"))
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
    given, last = await collect_values(context.chat, prompt, DraftedRequest, wanted)
    worded = last if given_values(last, wanted) == given else Wording(request="", mentions=[])
    return [
        DraftCall(
            assignment=assignment,
            arguments={name: own[name] if name in own else given[name] for name in choice.parameters},
            request=worded.request,
            mentions={one.parameter: one.words for one in worded.mentions if one.parameter in choice.parameters},
            origin=made_by(context, VALUES_STAGE, prompt, parent=choice.key, seed=assignment.seed),
        )
    ]


REQUESTS_STAGE = "requests"
REQUEST_TEMPLATE = "write_request"


async def write_requests(draft: DraftCall, context: StageContext) -> list[Sample]:
    """A sample whose request states the drafted arguments; asked anew where the words say another value, or do not say one.

    What no rule can read goes on: checks are strict. Raises ReplyError where three wordings do not fit; the reason is that of
    the last one.
    """
    assignment = draft.assignment
    tool = context.tool(assignment.tool)
    drafted = Wording(
        request=draft.request,
        mentions=[Mention(parameter=name, words=words) for name, words in draft.mentions.items()],
    )
    if draft.origin and draft.request and not wording_problem(drafted, draft, tool):
        origin = draft.origin.with_changes(stage=REQUESTS_STAGE, parents=(draft.key,))
        return [_sample(drafted, draft, tool, origin)]
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
    origin = made_by(context, REQUESTS_STAGE, prompt, parent=draft.key, seed=assignment.seed)
    return [_sample(wording, draft, tool, origin)]


def wording_problem(wording: Wording, draft: DraftCall, tool: Tool) -> str:
    """Why this wording can't stand for the draft, "" where it can: in its language, no value left out and no other one said."""
    text = wording.request.strip()
    if not text or len(text) > LONGEST:
        return f"the request has {len(text)} characters; 1 to {LONGEST} are allowed."
    if not writes(draft.assignment.language, text):
        return f"the request is not in the language {draft.assignment.language!r}."
    return next((one.problem for one in _stated(wording, draft, tool).values() if one.problem), "")


def _stated(wording: Wording, draft: DraftCall, tool: Tool) -> dict[str, Stated]:
    """Where the request states each drafted argument, in the order in which the model told of them."""
    quotes = {mention.parameter: mention.words for mention in wording.mentions if mention.parameter in draft.arguments}
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


def _sample(wording: Wording, draft: DraftCall, tool: Tool, origin: Origin) -> Sample:
    assignment = draft.assignment
    stated = _stated(wording, draft, tool).items()
    spans = tuple(span_evidence(name, 0, one.place, wording.request) for name, one in stated if one.place is not None)
    due = (
        ()
        if traits_of(assignment.kind).is_idle
        else (GoldCall(tool=tool.name, arguments=draft.arguments, evidence=spans, constants=tool.constants),)
    )
    return Sample(
        kind=assignment.kind,
        language=assignment.language,
        category=assignment.category,
        candidates=assignment.candidates,
        withheld=assignment.withheld,
        turns=(UserTurn(text=wording.request), CallTurn(calls=due)),
        origin=origin,
    )
