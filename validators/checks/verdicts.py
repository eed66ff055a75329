"""What a check's rules find, the decision for all parts, and the outcome from verdicts."""

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

SHOWN = 4  # reasons that a verdict gives
_GRAVEST_FIRST: tuple[Decision, ...] = ("contradicted", "unproved")


class Finding(NamedTuple):
    """A result of a check: something holds, a rule is broken, or a rule can't be applied.

    `reason` is a sentence for tables and logs; `doubt` holds the same facts for the review screens,
    which word them in the reviewer's language.
    """

    decision: Decision
    reason: str
    doubt: DoubtedFact | None = None


def contradicted(reason: str, doubt: DoubtedFact) -> Finding:
    """Return the finding that a rule is broken."""
    return Finding("contradicted", reason, doubt)


def unproved(reason: str, doubt: DoubtedFact) -> Finding:
    """Return the finding that a rule cannot decide."""
    return Finding("unproved", reason, doubt)


def proved(reason: str) -> Finding:
    """Return the finding that what was examined holds.

    A check that settles claims reports its findings this way; without any it claims nothing.
    """
    return Finding("proved", reason)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a check answers about one record; its verdict adds the check and the record."""

    decision: Decision
    reason: str
    score: float | None = None
    evidence: tuple[Evidence, ...] = ()
    open_arguments: tuple[str, ...] = ()
    doubts: tuple[DoubtedFact, ...] = ()
    readings: tuple[Reading, ...] = ()


def answer_of(findings: Iterable[Finding], proof: str, *, most: int | None = SHOWN) -> Answer:
    """Return the answer that findings lead to: the gravest decision, or `proof` if none objects.

    Contradicted outweighs unproved, which outweighs proved; what a graver finding outweighs is
    left out. The answer states `most` reasons (None: all) and all facts, each once.
    """
    all_findings = list(findings)
    for decision in _GRAVEST_FIRST:
        grave = [finding for finding in all_findings if finding.decision == decision]
        if grave:
            reasons = list(dict.fromkeys(finding.reason for finding in grave))
            doubts: list[DoubtedFact] = []
            for doubt in (finding.doubt for finding in grave):
                # compared, not hashed: a fact's value may be a list
                if doubt is not None and doubt not in doubts:
                    doubts.append(doubt)
            return Answer(decision=decision, reason=" ".join(reasons[:most]), doubts=tuple(doubts))
    shown = dict.fromkeys(finding.reason for finding in all_findings)
    return Answer(decision="proved", reason=proof or " ".join([*shown][:most]))


def weakest(decisions: Collection[Decision]) -> Decision:
    """Return the decision for a whole by those for its parts; without parts it is unproved.

    weakest(["proved", "unproved"])        # "unproved"
    weakest(["unproved", "contradicted"])  # "contradicted"
    """
    if "contradicted" in decisions:
        return "contradicted"
    return "unproved" if "unproved" in decisions or not decisions else "proved"


def read_by(model: str, maker: str, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts that `model` gave about what `maker` made.

    The template model may read its own wording: its samples say so.
    """
    is_maker = model == maker and model != TEMPLATE
    return [verdict.with_changes(model=model, by_maker=is_maker) for verdict in verdicts]


class VerdictOutcome(NamedTuple):
    """What happens to a record because of its verdicts, and why."""

    outcome: StageOutcome
    code: ReasonCode = "none"
    reason: str = ""


def outcome_of(verdicts: Sequence[Verdict], *, must_prove: bool = False) -> VerdictOutcome:
    """Return what happens to a record at a check.

    A contradicted record goes to people at once; an unproved one goes to the next check, and
    then to people. If a check `must_prove` before anything is made, whatever it does not prove
    is rejected.
    """
    first = {verdict.decision: verdict.reason for verdict in reversed(verdicts)}
    if "contradicted" in first:
        outcome: StageOutcome = "rejected" if must_prove else "waiting"
        return VerdictOutcome(outcome, "contradicted", first["contradicted"])
    if "unproved" in first:
        outcome = "rejected" if must_prove else "passed"
        return VerdictOutcome(outcome, "unproved", first["unproved"])
    return VerdictOutcome("passed")
