"""Wording a drafted call as a user's request (HammerBench 4.2.1 and appendix D.2)."""

import re

from pydantic import BaseModel

from generators.stage_context import StageContext
from generators.tries import ATTEMPTS, PROMPTS, first_fit, made_by
from language.values import locate
from llm.prompts import render
from warehouse.records import CallTurn, DraftCall, Evidence, GoldCall, Language, Origin, Sample, Tool, UserTurn

STAGE = "requests"
TEMPLATE = "write_request"
LONGEST = 2000
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


class Mention(BaseModel):
    """Where the request states a parameter's value: the very words."""

    parameter: str
    words: str


class Wording(BaseModel):
    """A request in the user's voice, and for each parameter the words in it that state the value."""

    request: str
    mentions: list[Mention]


async def write_requests(draft: DraftCall, context: StageContext) -> list[Sample]:
    """A sample whose request states exactly the drafted arguments; asked anew until the format holds.

    Raises ReplyError where three wordings break the format; the reason is that of the last one.
    """
    assignment = draft.assignment
    tool = context.tool(assignment.tool)
    prompt = render(
        PROMPTS, TEMPLATE, tool=tool, arguments=draft.arguments, language=assignment.language, seed=assignment.seed
    )
    wording = await first_fit(
        context,
        prompt,
        Wording,
        lambda wording: wording_problem(wording, draft, tool),
        f"The request for {tool.name!r} broke the format in {ATTEMPTS} wordings",
    )
    origin = made_by(context, STAGE, TEMPLATE, parent=draft.key, seed=assignment.seed)
    return [_sample(wording, draft, tool, origin)]


def wording_problem(wording: Wording, draft: DraftCall, tool: Tool) -> str:
    """Why this wording can't stand for the draft, "" where it can: exactly the drafted parameters, each one said."""
    text = wording.request.strip()
    if not text or len(text) > LONGEST:
        return f"the request has {len(text)} characters; 1 to {LONGEST} are allowed."
    if not _is_in_language(text, draft.assignment.language):
        return f"the request is not in the language {draft.assignment.language!r}."
    named = [mention.parameter for mention in wording.mentions]
    if sorted(named) != sorted(draft.arguments):
        return f"it mentions the parameters {sorted(named)} where {sorted(draft.arguments)} were to be said."
    for mention in wording.mentions:
        if not mention.words or mention.words not in wording.request:
            return f"the words {mention.words!r} for {mention.parameter!r} do not stand in the request."
        value = draft.arguments[mention.parameter]
        if locate(value, tool.properties[mention.parameter], mention.words) is None:
            return f"the words {mention.words!r} do not say {value!r} for {mention.parameter!r}."
    return ""


def _is_in_language(text: str, language: Language) -> bool:
    has_chinese = bool(_CHINESE.search(text))
    return has_chinese if language == "zh" else not has_chinese


def _sample(wording: Wording, draft: DraftCall, tool: Tool, origin: Origin) -> Sample:
    assignment = draft.assignment
    spans = tuple(_span(mention, wording.request) for mention in wording.mentions)
    due = (
        ()
        if assignment.kind == "irrelevant"
        else (GoldCall(tool=tool.name, arguments=draft.arguments, evidence=spans),)
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


def _span(mention: Mention, request: str) -> Evidence:
    start = request.index(mention.words)
    return Evidence(
        argument=mention.parameter,
        kind="span",
        turn=0,
        start=start,
        end=start + len(mention.words),
        quote=mention.words,
    )
