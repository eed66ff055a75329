"""Under which conditions candidates are evaluated, and what all of an evaluation is done with."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from flows.asking import Keeping
from flows.chats import with_secret
from generators.environments.protocol import Environment
from llm.asking import LedgeredChat
from llm.ledger import Ledger
from llm.limits import Budget
from llm.models import ModelSettings, open_chat
from validators.metrics.complexeval.rules import TURN_LIMIT
from validators.path_runs import PathStrategy
from validators.strategies import PromptingStrategy
from warehouse.records import EvalMode, ToolsShown

JUDGING = "judge_prediction"


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


class Office(NamedTuple):
    """What all of an evaluation of one release is done with."""

    release: str
    conditions: Conditions
    ledger: Ledger
    money: Budget
    keeping: Keeping

    def open(self, settings: ModelSettings, stage: str) -> LedgeredChat:
        """A model; to be closed."""
        record = self.keeping.calls.append
        chat = open_chat(with_secret(settings), ledger=self.ledger, budget=self.money, record=record)
        return chat.for_stage(stage)
