"""Whether a conversation has the complexity that its scenario requires, proved by a rule of its own (CONFETTI 3.1).

All from the sample: its turns, calls, results, acts and candidates. What no rule proves is for people to see.
"""

from typing import get_args

from generators.conversational.complexities import COMPLEXITY_TAG, KIND
from generators.stage_context import StageContext
from validators.checks.complexity_rounds import Talk, read_talk
from validators.checks.complexity_rules import RULES
from validators.checks.executed import tag_of
from warehouse.records import Complexity, Sample, Verdict

CHECK = "complexity"
VERSION = "1"


def applies_to(sample: Sample) -> bool:
    """Whether the sample is a simulated conversation."""
    return sample.kind == KIND


async def check_complexity(sample: Sample, context: StageContext) -> list[Verdict]:
    """Prove that the required complexity is there; what else is there is told too."""
    talk = read_talk(sample, context.toolset(sample.candidates), [context.tool(key) for key in sample.withheld])
    return [complexity_verdict(talk)]


def complexity_verdict(talk: Talk) -> Verdict:
    """The verdict on a conversation: proved where the rule of its complexity finds it, else unproved."""
    required = tag_of(talk.sample, COMPLEXITY_TAG)
    rule = next((rule for name, rule in RULES.items() if name == required), None)
    problem = rule(talk) if rule else f"{required!r} is none of the complexities {', '.join(get_args(Complexity))}."
    others = ", ".join(name for name in found_in(talk) if name != required)
    told = f"The complexity {required!r} is there{f', beside {others}' if others else ''}."
    return Verdict(
        subject=talk.sample.key,
        check=CHECK,
        decision="unproved" if problem else "proved",
        score=0.0 if problem else 1.0,
        reason=problem or told,
        version=VERSION,
    )


def found_in(talk: Talk) -> list[Complexity]:
    """Every complexity that can be shown to be there, but the one that stands for none."""
    return [name for name, rule in RULES.items() if name != "no_target_complexity" and not rule(talk)]
