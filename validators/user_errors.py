"""How often a simulated user errs: wordings that were refused, and answers that other rules, reading them anew, do not bear out."""

from collections.abc import Sequence
from typing import Any

from callwright.generators.users.user import Fact, Said, SimulatedUser
from callwright.validators.values.said import hear
from callwright.validators.values.standing import read_call
from callwright.warehouse.records import Tool


def user_figures(user: SimulatedUser, tools: Sequence[Tool]) -> dict[str, Any]:
    """A conversation's figures by the names of `MultiStepRun`."""
    named = {tool.name: tool for tool in tools}
    amiss = [
        said
        for said in user.turns
        if any(is_amiss(fact, said, user.language, named[fact.tool]) for fact in said.answer.facts)
    ]
    return {
        "opening": user.opening,
        "user_turns": len(user.turns),
        "user_wordings": user.wordings,
        "user_refused": user.refused,
        "user_errors": len(amiss),
    }


def is_amiss(fact: Fact, said: Said, language: str, tool: Tool) -> bool:
    """Whether the words of a turn do not state a fact that it was to tell, or state another value in its place."""
    if not fact.is_said(said.text):
        return True
    if fact.is_name or fact.path != fact.parameter:
        return False
    heard = hear(said.text, language, None, question=said.question)
    return any(
        one.standing == "contradicted" for one in read_call(tool, {fact.parameter: fact.value}, [heard]).readings
    )
