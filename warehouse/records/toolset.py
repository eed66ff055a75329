"""The records on the way from a functional category to its tools (HammerBench 4.2 and appendix D.1)."""

from pydantic import Field

from warehouse.records.drafts import Draft
from warehouse.records.tools import JsonSchema, Language


class ToolsetPlan(Draft):
    """What is to be made: `count` tools of a category, for these everyday goals and these things people keep there.

    Tool names are English in every language: `english_goals` and `english_resources` say the same as `goals` and
    `resources`, in the same order; both are empty where the plan is in English.
    """

    category: str = Field(pattern=r"^[A-Z][A-Za-z]*$")
    description: str = Field(min_length=1)
    goals: tuple[str, ...] = Field(min_length=1)
    resources: tuple[str, ...] = ()
    english_goals: tuple[str, ...] = ()
    english_resources: tuple[str, ...] = ()
    language: Language
    count: int = Field(ge=1)
    seed: int


class NamedTool(Draft):
    """A tool that has a name, `Category.SubArea.functionName`, and the goal that it serves."""

    plan: ToolsetPlan
    name: str = Field(min_length=1)
    goal: str = Field(min_length=1)


class DescribedTool(Draft):
    """A named tool with its description: a short command in the plan's language."""

    named: NamedTool
    description: str = Field(min_length=1)


class ParameterisedTool(Draft):
    """A described tool with its parameters, an object schema."""

    described: DescribedTool
    parameters: JsonSchema
