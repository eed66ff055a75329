"""Which tools a candidate is shown at a snapshot (HammerBench's runs; EVALUATORS 1.5)."""

from warehouse.records import Sample, ToolsShown


def has_one_tool(sample: Sample) -> bool:
    """Whether a sample is a conversation as HammerBench's are: about calls of one tool, none of which is carried out."""
    turns = [turn for turn in sample.turns if turn.kind == "calls"]
    return not any(turn.executed for turn in turns) and len({call.tool for turn in turns for call in turn.calls}) == 1


def narrows_to(sample: Sample, number: int, tools_shown: ToolsShown) -> str:
    """The name of the one tool that is shown at the snapshot `number`, "" where all candidates are.

    In the paper's runs every later snapshot has the conversation's tool only, that of an intent shift too: the model is
    to say that the one tool it has does not fit. Other conversations always have all candidates.
    """
    if tools_shown == "always" or not number or not has_one_tool(sample):
        return ""
    return next(call.tool for turn in sample.turns if turn.kind == "calls" for call in turn.calls)
