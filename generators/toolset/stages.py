"""The rows of the stages that make and check tools (HammerBench 4.2)."""

from generators.stages import Stage
from generators.toolset.steps import choose_returns, choose_tool_parameters, describe_tools, name_tools

STAGES: tuple[Stage, ...] = (
    Stage(
        "tool_names", "toolset", "Name the tools of a category, one for each thing that people want done there.",
        "ToolsetPlan", "NamedTool", "HammerBench 4.2, D.1",
        name_tools, "generator", ("generators/toolset/prompts/name_tools.j2",),
    ),
    Stage(
        "tool_descriptions", "toolset", "Describe each tool by a short command.",
        "NamedTool", "DescribedTool", "HammerBench 4.2, D.1",
        describe_tools, "generator", ("generators/toolset/prompts/describe_tool.j2",),
    ),
    Stage(
        "tool_parameters", "toolset", "Choose parameters that are simple enough to be said in a request.",
        "DescribedTool", "ParameterisedTool", "HammerBench 4.2, D.1",
        choose_tool_parameters, "generator", ("generators/toolset/prompts/choose_tool_parameters.j2",),
    ),
    Stage(
        "tool_returns", "toolset", "Choose what each tool returns.",
        "ParameterisedTool", "Tool", "HammerBench 4.2, D.1",
        choose_returns, "generator", ("generators/toolset/prompts/choose_returns.j2",),
    ),
    Stage(
        "tool_complexity", "toolset_checks", "Can the tool be called from what people say?",
        "Tool", "Verdict", "HammerBench 4.2, D.1",
    ),
    Stage(
        "tool_redundancy", "toolset_checks", "Does it do something that no tool before it in its category does?",
        "Tool", "Verdict", "HammerBench 4.2",
    ),
    Stage(
        "tool_review", "toolset_checks", "Do people accept what a check could not prove?",
        "Tool", "Review", "HammerBench 4.2",
    ),
)  # fmt: skip
