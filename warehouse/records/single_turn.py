"""The records on the way from a tool to a single-turn sample (HammerBench 4.2)."""

from typing import Literal

from warehouse.records.drafts import Draft
from warehouse.records.tools import Arguments, Language

SingleTurnKind = Literal["perfect", "imperfect", "irrelevant"]


class Assignment(Draft):
    """What is to be made: a kind of sample about one tool, with the tools that will stand beside it."""

    kind: SingleTurnKind
    language: Language
    category: str
    tool: str
    candidates: tuple[str, ...]
    withheld: tuple[str, ...] = ()
    parameter_count: int
    seed: int


class ParameterChoice(Draft):
    """An assignment with the parameters that everyday users would give."""

    assignment: Assignment
    parameters: tuple[str, ...]


class DraftCall(Draft):
    """A choice with a value for each parameter: the gold call, before anybody words it."""

    assignment: Assignment
    arguments: Arguments
