"""Sums over answers, of which their scores are made: they can be added up again, and grow by a few bytes a turn."""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from statistics import fmean

from validators.metrics.callnavi.scores import DIFFICULTIES
from validators.metrics.plans import BY_DIFFICULTY
from validators.metrics.talks import ChainScore, TalkScores

FIELDS = ("kind", "category", "language", "difficulty")


class ChainSums:
    """The chains of conversations: their soft scores as they are, for an exact mean, and how many are right strictly."""

    def __init__(self) -> None:
        """Nothing is counted yet."""
        self.soft = array("d")
        self.strict = 0.0

    def add(self, chain: ChainScore) -> None:
        """Count a chain."""
        self.soft.append(chain.soft)
        self.strict += chain.strict

    def add_all(self, other: "ChainSums") -> None:
        """Count what another one has counted."""
        self.soft.extend(other.soft)
        self.strict += other.strict

    def values(self) -> Iterator[tuple[str, float, int]]:
        """The metrics of what was counted."""
        if self.soft:
            yield "ast_soft_chains", fmean(self.soft), len(self.soft)
            yield "ast_strict_chains", self.strict / len(self.soft), len(self.soft)


class AnswerSums:
    """Answers of one run: how many invent a tool, and what is right of plans, turns, chains and dialogue acts.

    `plans` are counted by their difficulty and the verdicts on them.
    """

    def __init__(self) -> None:
        """Nothing is counted yet."""
        self.answers = self.invented = 0
        self.plans: Counter[tuple[str, tuple[bool, ...]]] = Counter()
        self.chains = ChainSums()
        self.turns = array("d")
        self.strict = 0.0
        self.acts = self.acts_right = 0

    def add_talk(self, talk: TalkScores) -> None:
        """Count the answers to a conversation."""
        self.turns.extend(turn.soft for turn in talk.turns)
        self.strict += sum(turn.strict for turn in talk.turns)
        for chain in talk.chains:
            self.chains.add(chain)
        self.acts += len(talk.acts)
        self.acts_right += sum(not due.isdisjoint(said) for due, said in talk.acts)

    def add(self, other: "AnswerSums") -> None:
        """Count what another one has counted."""
        self.answers += other.answers
        self.invented += other.invented
        self.plans.update(other.plans)
        self.chains.add_all(other.chains)
        self.turns.extend(other.turns)
        self.strict += other.strict
        self.acts += other.acts
        self.acts_right += other.acts_right

    def values(self) -> Iterator[tuple[str, float, int]]:
        """The metrics of what was counted."""
        yield "invented", self.invented / self.answers, self.answers
        yield from self._of_plans()
        if self.turns:
            yield "ast_soft", fmean(self.turns), len(self.turns)
            yield "ast_strict", self.strict / len(self.turns), len(self.turns)
            yield from self.chains.values()
        if self.acts:
            yield "act_accuracy", self.acts_right / self.acts, self.acts

    def _of_plans(self) -> Iterator[tuple[str, float, int]]:
        if not self.plans:
            return
        whole = self.plans.total()
        for metric, share in zip(BY_DIFFICULTY, _shares(self.plans), strict=True):
            yield metric, share, whole
        levels = [
            _shares(of_level)
            for name in DIFFICULTIES
            if (of_level := {one: times for one, times in self.plans.items() if one[0] == name})
        ]
        if levels:
            for at, metric in enumerate(BY_DIFFICULTY):
                yield f"{metric}_macro", fmean(level[at] for level in levels), whole


def _shares(plans: Mapping[tuple[str, tuple[bool, ...]], int]) -> list[float]:
    """The share of the plans that is right by each metric."""
    whole = sum(plans.values())
    return [sum(times for (_, right), times in plans.items() if right[at]) / whole for at in range(len(BY_DIFFICULTY))]
