"""What the rules of a check find, the decision that holds for all parts, and the outcome that
follows from verdicts.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from callwright.llm.models import TEMPLATE
from callwright.warehouse.records import (
    Decision,
    DoubtedFact,
    Evidence,
    Reading,
    ReasonCode,
    StageOutcome,
    Verdict,
)

SHOWN = 4  # reasons that a verdict states
_GRAVEST_FIRST: tuple[Decision, ...] = ("contradicted", "unproved")


class Finding(NamedTuple):
    """What a check found: that something holds, a broken rule, or one that can't be applied;
    `doubt` says that for the screens.
    """

    decision: Decision
    reason: str
    doubt: DoubtedFact | None = None


def contradicted(reason: str, doubt: DoubtedFact) -> Finding:
    """A rule is broken."""
    return Finding("contradicted", reason, doubt)


def unproved(reason: str, doubt: DoubtedFact) -> Finding:
    """A rule can't tell."""
    return Finding("unproved", reason, doubt)


def proved(reason: str) -> Finding:
    """What was looked at holds.

    A check that settles claims shows so what it found; with no finding at all it claims nothing.
    """
    return Finding("proved", reason)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a check answers about one record; its verdict says besides whose answer it is, and
    about what.
    """

    decision: Decision
    reason: str
    score: float | None = None
    evidence: tuple[Evidence, ...] = ()
    open_arguments: tuple[str, ...] = ()
    doubts: tuple[DoubtedFact, ...] = ()
    readings: tuple[Reading, ...] = ()


def answer_of(findings: Iterable[Finding], proof: str, *, most: int | None = SHOWN) -> Answer:
    """The answer that findings come to: contradicted before unproved before proved, and `proof`
    where none speaks against it.

    It states `most` reasons (None: every one) and all facts, each once; what a graver finding
    outweighs is left out.
    """
    found = list(findings)
    for decision in _GRAVEST_FIRST:
        grave = [finding for finding in found if finding.decision == decision]
        if grave:
            reasons = list(dict.fromkeys(finding.reason for finding in grave))
            doubts: list[DoubtedFact] = []
            for doubt in (finding.doubt for finding in grave):
                # a value may be a list, so that they have no hash
                if doubt is not None and doubt not in doubts:
                    doubts.append(doubt)
            return Answer(decision=decision, reason=" ".join(reasons[:most]), doubts=tuple(doubts))
    shown = dict.fromkeys(finding.reason for finding in found)
    return Answer(decision="proved", reason=proof or " ".join([*shown][:most]))


def weakest(decisions: Collection[Decision]) -> Decision:
    """The decision that holds for all parts: one contradiction contradicts; what has no parts is
    not proved.
    """
    if "contradicted" in decisions:
        return "contradicted"
    return "unproved" if "unproved" in decisions or not decisions else "proved"


def read_by(model: str, maker: str, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts that `model` gave about what `maker` made.

    The template model reads what it worded: its samples say so.
    """
    is_maker = model == maker and model != TEMPLATE
    return [verdict.with_changes(model=model, by_maker=is_maker) for verdict in verdicts]


class VerdictOutcome(NamedTuple):
    """What becomes of a record by its verdicts, and why."""

    outcome: StageOutcome
    code: ReasonCode = "none"
    reason: str = ""


def outcome_of(verdicts: Sequence[Verdict], *, must_prove: bool = False) -> VerdictOutcome:
    """What becomes of a record at a check.

    What is contradicted goes to people at once; what is unproved goes on to the next check, and
    then to people. Where a check `must_prove` before anything is made, what it does not prove is
    rejected.
    """
    for decision in _GRAVEST_FIRST:
        found = next((verdict for verdict in verdicts if verdict.decision == decision), None)
        if found is not None:
            outcome: StageOutcome = "waiting" if decision == "contradicted" else "passed"
            code: ReasonCode = "contradicted" if decision == "contradicted" else "unproved"
            return VerdictOutcome("rejected" if must_prove else outcome, code, found.reason)
    return VerdictOutcome("passed")
