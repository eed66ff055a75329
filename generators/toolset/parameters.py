"""Choosing the parameters of a described tool, simple enough to be said in a request (HammerBench 4.2 and D.1)."""

import re

from pydantic import BaseModel

from generators.stages import ATTEMPTS, StageContext, first_fit, made_by
from generators.tools import value_validator
from generators.toolset.sketches import ParameterSketch, object_schema, sketches_problem
from llm.prompts import render
from warehouse.errors import RecordError
from warehouse.records import DescribedTool, JsonSchema, Language, ParameterisedTool

PROMPTS = "generators.toolset.prompts"
STAGE = "tool_parameters"
TEMPLATE = "choose_tool_parameters"
MOST_PARAMETERS = 6
# who is signed in has one account, one profile, one cart: their ids tell nothing (D.1, additional request 5)
_NEEDLESS_ID = re.compile(
    r"(?:(?:user|account|customer|profile|session|cart|device|request|client)_?(?:id|uuid|token|key)|login|username"
    r"|access_token|api_key|auth_token|user_password)"
)


class ToolParameters(BaseModel):
    """The parameters of a tool, the most important first."""

    parameters: list[ParameterSketch]


async def choose_tool_parameters(described: DescribedTool, context: StageContext) -> list[ParameterisedTool]:
    """The tool with its parameters; ReplyError where three answers are unusable or too complex to be said."""
    named = described.named
    plan = named.plan
    prompt = render(PROMPTS, TEMPLATE, described=described, named=named, plan=plan, most=MOST_PARAMETERS)
    answer = await first_fit(
        context,
        prompt,
        ToolParameters,
        lambda given: parameters_problem(given, plan.language),
        f"The parameters of {named.name!r} were unusable in {ATTEMPTS} answers",
    )
    origin = made_by(context, STAGE, prompt, parent=described.key, seed=plan.seed)
    return [ParameterisedTool(described=described, parameters=parameters_schema(answer), origin=origin)]


def parameters_problem(answer: ToolParameters, language: Language) -> str:
    """Why a tool can't have these parameters, "" where it can."""
    if len(answer.parameters) > MOST_PARAMETERS:
        return f"{len(answer.parameters)} parameters were given; at most {MOST_PARAMETERS} can be said in a request."
    problem = sketches_problem(answer.parameters, language, shown=True) or _needless(
        [one.name for one in answer.parameters]
    )
    return problem or _schema_problem(parameters_schema(answer))


def parameters_schema(answer: ToolParameters) -> JsonSchema:
    """The object schema of these parameters."""
    return object_schema(answer.parameters, [one.name for one in answer.parameters if one.required])


def _needless(names: list[str]) -> str:
    for name in names:
        if _NEEDLESS_ID.fullmatch(name):
            return f"{name!r} is known of whoever is signed in; leave it out."
        thing = name.removesuffix("_id").removesuffix("_number")
        twins = [other for other in names if other != name and other in (thing, f"{thing}_name")]
        if name.endswith("_id") and twins:
            return f"{name!r} says the same as {twins[0]!r}; leave one of them out."
    return ""


def _schema_problem(schema: JsonSchema) -> str:
    try:
        value_validator(schema)
    except RecordError as error:
        return str(error)
    return ""
