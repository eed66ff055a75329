"""Make a tool step by step: name, description, parameters, returns (HammerBench 4.2, D.1)."""

import re

from pydantic import BaseModel

from callwright.generators.stages import (
    ATTEMPTS,
    Stage,
    StageContext,
    Step,
    asked_origin,
    first_fit,
    in_a_row,
)
from callwright.generators.tools import value_validator
from callwright.generators.toolset import GROUP
from callwright.generators.toolset.sketches import (
    ParameterSketch,
    ResultSketch,
    in_language,
    object_schema,
    sketches_problem,
)
from callwright.language.packs import of, widened
from callwright.llm.prompts import render
from callwright.llm.stated_schemas import Line
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    DescribedTool,
    JsonSchema,
    Language,
    NamedTool,
    ParameterisedTool,
    Tool,
    ToolsetPlan,
)

PROMPTS = "callwright.generators.toolset.prompts"
NAMES_STAGE = "tool_names"
_UNUSABLE = f"{{}} were unusable in {ATTEMPTS} answers"
LONGEST_NAME = 100
LONGEST_GOAL = 120
_NAME = re.compile(r"([A-Z][A-Za-z]*)\.[A-Z][A-Za-z]{1,40}\.[a-z][A-Za-z]{1,60}")
DESCRIPTIONS_STAGE = "tool_descriptions"
_NAMES, _DESCRIPTION = "name_tools", "describe_tool"
_PARAMETERS, _RETURNS = "choose_tool_parameters", "choose_returns"
_SENTENCE_ENDS = re.compile(widened(r"[.!?](?:\s|$)|@[{.!?}]"))
PARAMETERS_STAGE = "tool_parameters"
MOST_PARAMETERS = 6
# who is signed in has one account, one profile, one cart: their ids tell nothing (D.1, additional
# request 5)
_NEEDLESS_ID = re.compile(
    r"(?:(?:user|account|customer|profile|session|cart|device|request|client)_?(?:id|uuid|token|key)|login|username"
    r"|access_token|api_key|auth_token|user_password)"
)
SOURCE = "generated"
MOST_RETURNS = 6
_STATUS = ("success", "status")
_CHANGING = re.compile(
    r"(?:add|create|new|save|set|change|update|edit|rename|move|delete|remove|cancel|book|reserve|order|buy|send|post"
    r"|publish|schedule|share|upload|register|enroll|subscribe|unsubscribe|block|mute|turn|lock|unlock|pay|transfer)(?=[A-Z]|$)"
)


class NamedGoal(BaseModel):
    """A tool's name and the goal that it serves."""

    name: Line
    goal: Line


class ToolNames(BaseModel):
    """The tools of a category, by name."""

    tools: list[NamedGoal]


async def name_tools(plan: ToolsetPlan, context: StageContext) -> list[NamedTool]:
    """Name `plan.count` tools with their goals; ReplyError if three answers are unusable."""
    what = f"The tool names for {plan.category!r}"
    prompt, complaint = render(PROMPTS, _NAMES, plan=plan), _UNUSABLE.format(what)

    def problem(given: ToolNames) -> str:
        return names_problem(given, plan)

    answer = await first_fit(context, prompt, ToolNames, problem, complaint)
    origin = asked_origin(NAMES_STAGE, plan, plan.seed, context, (PROMPTS, _NAMES))
    named = ((one.name, one.goal.strip()) for one in answer.tools)
    return [NamedTool(plan=plan, name=name, goal=goal, origin=origin) for name, goal in named]


def names_problem(answer: ToolNames, plan: ToolsetPlan) -> str:
    """Return why these names can't be used, or "".

    There must be as many as planned, well formed, no two alike.
    """
    if len(answer.tools) != plan.count:
        named = count_of(len(answer.tools), "tool was", "tools were")
        return f"{named} named where {plan.count} were asked for."
    taken: set[tuple[str, str]] = set()
    for named_tool in answer.tools:
        if problem := _problem(named_tool, plan):
            return problem
        function, goal = named_tool.name.rpartition(".")[2].casefold(), named_tool.goal.strip()
        own = {("name", function), ("goal", goal.casefold())}
        if own & taken:
            return f"the tool {named_tool.name!r} has the name or the goal of another: {goal!r}."
        taken |= own
    return ""


def _problem(one: NamedGoal, plan: ToolsetPlan) -> str:
    match, goal = _NAME.fullmatch(one.name[: LONGEST_NAME + 1]), one.goal.strip()
    if match is None or match[1] != plan.category or len(one.name) > LONGEST_NAME:
        form = f"{plan.category}.SubArea.functionName"
        return f"the name {one.name[:LONGEST_NAME]!r} is not of the form {form!r}."
    if not goal or len(goal) > LONGEST_GOAL or "\n" in goal:
        return f"the goal of {one.name!r} has not 1 to {LONGEST_GOAL} characters on one line."
    if not in_language(goal, plan.language):
        return f"the goal of {one.name!r}, {goal!r}, is not in the language {plan.language!r}."
    return ""


class ToolDescription(BaseModel):
    """What a tool does, as a short command."""

    description: Line


async def describe_tools(named: NamedTool, context: StageContext) -> list[DescribedTool]:
    """Describe the tool in the plan's language; ReplyError if three answers are unusable."""
    plan = named.plan
    prompt = render(PROMPTS, _DESCRIPTION, named=named, plan=plan)
    complaint = _UNUSABLE.format(f"The descriptions of {named.name!r}")

    def problem(given: ToolDescription) -> str:
        return description_problem(given.description.strip(), plan.language)

    answer = await first_fit(context, prompt, ToolDescription, problem, complaint)
    origin = asked_origin(DESCRIPTIONS_STAGE, named, plan.seed, context, (PROMPTS, _DESCRIPTION))
    return [DescribedTool(named=named, description=answer.description.strip(), origin=origin)]


def description_problem(description: str, language: Language) -> str:
    """Return why this can't describe a tool, or ""; it must be one short sentence."""
    longest = of(language).lengths["description"]
    if not description or len(description) > longest or "\n" in description:
        return f"{len(description)} characters were given; one line of 1 to {longest} is allowed."
    if not in_language(description, language):
        return f"{description!r} is not in the language {language!r}."
    if len(_SENTENCE_ENDS.findall(description)) > 1:
        return f"{description!r} is more than one sentence."
    return ""


class ToolParameters(BaseModel):
    """The parameters of a tool, the most important first."""

    parameters: list[ParameterSketch]


async def choose_tool_parameters(
    described: DescribedTool, context: StageContext
) -> list[ParameterisedTool]:
    """Choose the tool's parameters; ReplyError if three answers are unusable or too complex."""
    named = described.named
    plan = named.plan
    known = {"described": described, "named": named, "plan": plan}
    prompt = render(PROMPTS, _PARAMETERS, **known, most=MOST_PARAMETERS)
    complaint = _UNUSABLE.format(f"The parameters of {named.name!r}")

    def problem(given: ToolParameters) -> str:
        return parameters_problem(given, plan.language)

    answer = await first_fit(context, prompt, ToolParameters, problem, complaint)
    origin = asked_origin(PARAMETERS_STAGE, described, plan.seed, context, (PROMPTS, _PARAMETERS))
    parameters = parameters_schema(answer)
    return [ParameterisedTool(described=described, parameters=parameters, origin=origin)]


def parameters_problem(answer: ToolParameters, language: Language) -> str:
    """Return why a tool can't have these parameters, or "" if it can."""
    if len(answer.parameters) > MOST_PARAMETERS:
        count = len(answer.parameters)
        return f"{count} parameters were given; at most {MOST_PARAMETERS} can be said in a request."
    names = [one.name for one in answer.parameters]
    problem = sketches_problem(answer.parameters, language, shown=True) or _needless(names)
    try:
        if not problem:
            value_validator(parameters_schema(answer))
    except RecordError as error:
        return str(error)
    return problem


def parameters_schema(answer: ToolParameters) -> JsonSchema:
    """Return the object schema of these parameters."""
    return object_schema(answer.parameters, [one.name for one in answer.parameters if one.required])


def _needless(names: list[str]) -> str:
    for name in names:
        if _NEEDLESS_ID.fullmatch(name):
            return f"{name!r} is known of whoever is signed in; leave it out."
        thing = name.removesuffix("_id").removesuffix("_number")
        same = [one for one in names if one != name and one in (thing, f"{thing}_name")]
        if name.endswith("_id") and same:
            return f"{name!r} says the same as {same[0]!r}; leave one of them out."
    return ""


class ToolReturns(BaseModel):
    """What a tool returns."""

    returns: list[ResultSketch]


async def choose_returns(parameterised: ParameterisedTool, context: StageContext) -> list[Tool]:
    """The finished tool, of the source "generated"; ReplyError where three answers are unusable."""
    described = parameterised.described
    named = described.named
    plan = named.plan
    known = {"parameterised": parameterised, "described": described, "named": named, "plan": plan}
    complaint = _UNUSABLE.format(f"The returns of {named.name!r}")

    def problem(given: ToolReturns) -> str:
        return returns_problem(given, named)

    prompt = render(PROMPTS, _RETURNS, **known)
    answer = await first_fit(context, prompt, ToolReturns, problem, complaint)
    tool = Tool(
        name=named.name,
        description=described.description,
        parameters=parameterised.parameters,
        returns=object_schema(answer.returns, [one.name for one in answer.returns]),
        category=plan.category,
        language=plan.language,
        source=SOURCE,
    )
    return [tool]


def returns_problem(answer: ToolReturns, named: NamedTool) -> str:
    """Return why the tool can't return this, or ""; a change must report its success."""
    if not 1 <= len(answer.returns) <= MOST_RETURNS:
        returned = count_of(len(answer.returns), "value is", "values are")
        return f"{returned} returned; 1 to {MOST_RETURNS} are allowed."
    if changes_something(named.name) and not any(one.name in _STATUS for one in answer.returns):
        return f"{named.name!r} changes something, but returns none of {list(_STATUS)}."
    return sketches_problem(answer.returns, named.plan.language, shown=False)


def changes_something(name: str) -> bool:
    """Whether the verb in a tool's name says that it creates, changes or deletes something."""
    return _CHANGING.match(name.rpartition(".")[2]) is not None


_NAME_THEM = "Name the tools of a category, one for each thing that people want done there."
_DESCRIBE = "Describe each tool by a short command."
_CHOOSE = "Choose parameters that are simple enough to be said in a request."
_RETURN = "Choose what each tool returns."
_PAPER, _MADE = "HammerBench 4.2", "HammerBench 4.2, D.1"
_STEPS = (
    Step(NAMES_STAGE, _NAME_THEM, "NamedTool", _MADE, name_tools, (_NAMES,)),
    Step(DESCRIPTIONS_STAGE, _DESCRIBE, "DescribedTool", _MADE, describe_tools, (_DESCRIPTION,)),
    Step(
        PARAMETERS_STAGE,
        _CHOOSE,
        "ParameterisedTool",
        _MADE,
        choose_tool_parameters,
        (_PARAMETERS,),
    ),
    Step("tool_returns", _RETURN, "Tool", _MADE, choose_returns, (_RETURNS,)),
)
_CHECKS = (
    ("tool_complexity", "Can the tool be called from what people say?", "Verdict", _MADE),
    (
        "tool_redundancy",
        "Does it do something that no tool before it in its category does?",
        "Verdict",
        _PAPER,
    ),
    ("tool_review", "Do people accept what a check could not prove?", "Review", _PAPER),
)
STAGES: tuple[Stage, ...] = (
    *in_a_row(GROUP, "ToolsetPlan", *_STEPS),
    *(Stage(name, "toolset_checks", about, "Tool", made, by) for name, about, made, by in _CHECKS),
)
