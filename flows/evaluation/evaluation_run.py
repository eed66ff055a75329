"""What an evaluation of one release is done with: its conditions, its candidates, the models and the warehouse."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from flows.chats import with_secret
from flows.recipe import Candidate, read_recipe
from flows.runner import Keeping
from generators.environments.protocol import Environment
from llm.asking import LedgeredChat
from llm.ledger import Ledger
from llm.limits import Budget
from llm.models import ModelSettings, open_chat, read_model
from validators.metrics.complexeval.rules import TURN_LIMIT
from validators.path_runs import PathStrategy
from validators.predictions import CandidateRun
from validators.strategies import PromptingStrategy
from warehouse.errors import ConfigurationError
from warehouse.records import EvalMode, ToolsShown


class Conditions(NamedTuple):
    """How candidates are asked and judged; `budget` is what all of it may cost now, in US dollars.

    `tools_shown` says at which snapshots of a conversation they see every candidate tool. Without a `judge` their
    arguments are compared by rule only. In multi-step samples they may reply `turn_limit` times; ComplexEval goes as
    its paper or as its published code says, and asks the environments that the samples were made in, or `environments`
    by these names, what a call returns. Their calls are JSON, or by the "native" strategy those of their provider.
    Everywhere else they are asked as `prompting` says; `router` chooses their tools, None lets each choose its own.
    """

    runs: int = 1
    budget: float | None = None
    tools_shown: ToolsShown = "first"
    judge: ModelSettings | None = None
    complexeval: EvalMode = "as_paper"
    turn_limit: int = TURN_LIMIT
    strategy: PathStrategy = "direct"
    environments: Mapping[str, Environment] = MappingProxyType({})
    prompting: PromptingStrategy = PromptingStrategy()
    router: ModelSettings | None = None


USUAL = Conditions()


class EvaluationRun(NamedTuple):
    """The evaluation of one release: how it is done, what answers are kept in, what all of it may cost."""

    release: str
    conditions: Conditions
    ledger: Ledger
    budget: Budget
    keeping: Keeping

    def open(self, settings: ModelSettings, stage: str) -> LedgeredChat:
        """A model; to be closed."""
        kept = self.keeping
        chat = open_chat(
            with_secret(settings),
            ledger=self.ledger,
            budget=self.budget,
            record=kept.calls.append,
            traffic=kept.traffic,
        )
        return chat.for_stage(stage)

    def first_run_of(self, candidate: Candidate) -> CandidateRun:
        """The first of a candidate's runs."""
        conditions = self.conditions
        return CandidateRun(self.release, candidate.label, conditions.prompting.label, conditions.tools_shown)


def choose_candidates(models: Sequence[str], recipe: Path | None) -> list[Candidate]:
    """The candidates named, and those of a recipe. Raises ConfigurationError where there are none, or two of one name."""
    named = [Candidate(label=name, model=read_model(name)) for name in models]
    of_recipe = list(read_recipe(recipe).candidates) if recipe else []
    if not named and not of_recipe:
        raise ConfigurationError("No candidate is named. Give --model NAME, or --recipe FILE with candidates in it.")
    labels = [candidate.label for candidate in named + of_recipe]
    if len(set(labels)) < len(labels):
        raise ConfigurationError(f"Two candidates have the same name: {', '.join(sorted(labels))}. Name each one once.")
    return named + of_recipe
