"""Making a tool step by step: its name, its description, its parameters, what it returns
(HammerBench 4.2, D.1).
"""

import re
from collections.abc import Callable

from pydantic import BaseModel

from callwright.generators.stages import (
    ATTEMPTS,
    Reply,
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
from callwright.llm.chat import Prompt
from callwright.llm.prompts import render
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
LONGEST_NAME = 100
LONGEST_GOAL = 120
_NAME = re.compile(r"([A-Z][A-Za-z]*)\.[A-Z][A-Za-z]{1,40}\.[a-z][A-Za-z]{1,60}")
DESCRIPTIONS_STAGE = "tool_descriptions"
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

    name: str
    goal: str


class ToolNames(BaseModel):
    """The tools of a category, by name."""

    tools: list[NamedGoal]


async def name_tools(plan: ToolsetPlan, context: StageContext) -> list[NamedTool]:
    """`plan.count` tool names, each with the goal that it serves; ReplyError where three answers
    are unusable.
    """
    what = f"The tool names for {plan.category!r}"
    prompt = render(PROMPTS, "name_tools", plan=plan)
    answer = await _usable(
        context, prompt, ToolNames, lambda given: names_problem(given, plan), what
    )
    origin = asked_origin(NAMES_STAGE, plan, plan.seed, context, (PROMPTS, "name_tools"))
    return [
        NamedTool(plan=plan, name=one.name, goal=one.goal.strip(), origin=origin)
        for one in answer.tools
    ]


async def _usable(
    context: StageContext,
    prompt: Prompt,
    answer: type[Reply],
    problem_of: Callable[[Reply], str],
    what: str,
) -> Reply:
    return await first_fit(
        context, prompt, answer, problem_of, f"{what} were unusable in {ATTEMPTS} answers"
    )


def names_problem(answer: ToolNames, plan: ToolsetPlan) -> str:
    """Why these names can't be used, "" where they can: as many as planned, well formed, no two
    alike.
    """
    if len(answer.tools) != plan.count:
        return (
            f"{count_of(len(answer.tools), 'tool was', 'tools were')} named where {plan.count} were"
            " asked for."
        )
    functions: set[str] = set()
    goals: set[str] = set()
    for one in answer.tools:
        problem = _problem(one, plan)
        if problem:
            return problem
        function, goal = one.name.rpartition(".")[2].casefold(), one.goal.strip().casefold()
        if function in functions or goal in goals:
            return (
                f"the tool {one.name!r} for {one.goal.strip()!r} has the name or the goal of"
                " another."
            )
        functions.add(function)
        goals.add(goal)
    return ""


def _problem(one: NamedGoal, plan: ToolsetPlan) -> str:
    match, goal = (
        _NAME.fullmatch(one.name) if len(one.name) <= LONGEST_NAME else None,
        one.goal.strip(),
    )
    if match is None or match[1] != plan.category:
        return (
            f"the name {one.name[:LONGEST_NAME]!r} is not of the form"
            f" '{plan.category}.SubArea.functionName'."
        )
    if not goal or len(goal) > LONGEST_GOAL or "\n" in goal:
        return f"the goal of {one.name!r} has not 1 to {LONGEST_GOAL} characters on one line."
    if not in_language(goal, plan.language):
        return f"the goal of {one.name!r}, {goal!r}, is not in the language {plan.language!r}."
    return ""


class ToolDescription(BaseModel):
    """What a tool does, as a short command."""

    description: str


async def describe_tools(named: NamedTool, context: StageContext) -> list[DescribedTool]:
    """The tool with its description in the plan's language; ReplyError where three answers are
    unusable.
    """
    plan = named.plan
    prompt = render(PROMPTS, "describe_tool", named=named, plan=plan)
    what = f"The descriptions of {named.name!r}"
    answer = await _usable(
        context,
        prompt,
        ToolDescription,
        lambda given: description_problem(given.description.strip(), plan.language),
        what,
    )
    origin = asked_origin(DESCRIPTIONS_STAGE, named, plan.seed, context, (PROMPTS, "describe_tool"))
    return [DescribedTool(named=named, description=answer.description.strip(), origin=origin)]


def description_problem(description: str, language: Language) -> str:
    """Why these words can't describe a tool, "" where they can: one short sentence in the
    language.
    """
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
    """The tool with its parameters; ReplyError where three answers are unusable or too complex
    to be stated.
    """
    named = described.named
    plan = named.plan
    prompt = render(
        PROMPTS,
        "choose_tool_parameters",
        described=described,
        named=named,
        plan=plan,
        most=MOST_PARAMETERS,
    )
    what = f"The parameters of {named.name!r}"
    answer = await _usable(
        context,
        prompt,
        ToolParameters,
        lambda given: parameters_problem(given, plan.language),
        what,
    )
    origin = asked_origin(
        PARAMETERS_STAGE, described, plan.seed, context, (PROMPTS, "choose_tool_parameters")
    )
    return [
        ParameterisedTool(described=described, parameters=parameters_schema(answer), origin=origin)
    ]


def parameters_problem(answer: ToolParameters, language: Language) -> str:
    """Why a tool can't have these parameters, "" where it can."""
    if len(answer.parameters) > MOST_PARAMETERS:
        return (
            f"{len(answer.parameters)} parameters were given; at most {MOST_PARAMETERS} can be said"
            " in a request."
        )
    problem = sketches_problem(answer.parameters, language, shown=True) or _needless(
        [one.name for one in answer.parameters]
    )
    if not problem:
        try:
            value_validator(parameters_schema(answer))
        except RecordError as error:
            return str(error)
    return problem


def parameters_schema(answer: ToolParameters) -> JsonSchema:
    """The object schema of these parameters."""
    return object_schema(answer.parameters, [one.name for one in answer.parameters if one.required])


def _needless(names: list[str]) -> str:
    for name in names:
        if _NEEDLESS_ID.fullmatch(name):
            return f"{name!r} is known of whoever is signed in; leave it out."
        thing = name.removesuffix("_id").removesuffix("_number")
        duplicates = [
            other for other in names if other != name and other in (thing, f"{thing}_name")
        ]
        if name.endswith("_id") and duplicates:
            return f"{name!r} says the same as {duplicates[0]!r}; leave one of them out."
    return ""


class ToolReturns(BaseModel):
    """What a tool returns."""

    returns: list[ResultSketch]


async def choose_returns(parameterised: ParameterisedTool, context: StageContext) -> list[Tool]:
    """The finished tool, of the source "generated"; ReplyError where three answers are unusable."""
    described = parameterised.described
    named = described.named
    plan = named.plan
    prompt = render(
        PROMPTS,
        "choose_returns",
        parameterised=parameterised,
        described=described,
        named=named,
        plan=plan,
    )
    what = f"The returns of {named.name!r}"
    answer = await _usable(
        context, prompt, ToolReturns, lambda given: returns_problem(given, named), what
    )
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
    """Why the tool can't return this, "" where it can; whoever changes something hears whether
    it went well.
    """
    if not 1 <= len(answer.returns) <= MOST_RETURNS:
        return (
            f"{count_of(len(answer.returns), 'value is', 'values are')} returned; 1 to"
            f" {MOST_RETURNS} are allowed."
        )
    if changes_something(named.name) and not any(one.name in _STATUS for one in answer.returns):
        return f"{named.name!r} changes something, but returns none of {list(_STATUS)}."
    return sketches_problem(answer.returns, named.plan.language, shown=False)


def changes_something(name: str) -> bool:
    """Whether a tool of this name creates, changes or deletes something, by its verb."""
    return _CHANGING.match(name.rpartition(".")[2]) is not None


STAGES: tuple[Stage, ...] = (
    *in_a_row(
        GROUP,
        "ToolsetPlan",
        Step(
            "tool_names",
            "Name the tools of a category, one for each thing that people want done there.",
            "NamedTool",
            "HammerBench 4.2, D.1",
            name_tools,
            ("name_tools",),
        ),
        Step(
            "tool_descriptions",
            "Describe each tool by a short command.",
            "DescribedTool",
            "HammerBench 4.2, D.1",
            describe_tools,
            ("describe_tool",),
        ),
        Step(
            "tool_parameters",
            "Choose parameters that are simple enough to be said in a request.",
            "ParameterisedTool",
            "HammerBench 4.2, D.1",
            choose_tool_parameters,
            ("choose_tool_parameters",),
        ),
        Step(
            "tool_returns",
            "Choose what each tool returns.",
            "Tool",
            "HammerBench 4.2, D.1",
            choose_returns,
            ("choose_returns",),
        ),
    ),
    Stage(
        "tool_complexity",
        "toolset_checks",
        "Can the tool be called from what people say?",
        "Tool",
        "Verdict",
        "HammerBench 4.2, D.1",
    ),
    Stage(
        "tool_redundancy",
        "toolset_checks",
        "Does it do something that no tool before it in its category does?",
        "Tool",
        "Verdict",
        "HammerBench 4.2",
    ),
    Stage(
        "tool_review",
        "toolset_checks",
        "Do people accept what a check could not prove?",
        "Tool",
        "Review",
        "HammerBench 4.2",
    ),
)
