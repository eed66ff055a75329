"""The table of checks, in the order in which samples pass them.

Each check is described at its function. An existing build gets a new check by passing what it
has through that check alone; the same holds for a new version of a check, or of a prompt that a
check asks with.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from callwright.generators.kinds import FAMILIES
from callwright.generators.stages import Stage, StageContext
from callwright.llm.models import reads_language
from callwright.validators.checks.declaring import ARGUMENTS, MEANING, RULES, SHARED_DOUBTS, Check
from callwright.validators.toolset.complexity import TOOL_DOUBTS
from callwright.validators.toolset.redundancy import TWIN_DOUBTS
from callwright.warehouse.records import ClaimGrade, DoubtedFact, Sample, SampleClaim, Verdict
from callwright.warehouse.registry import Registry

_ORDER = (
    "format",
    "unread_rules",
    "wording",
    "grounding",
    "traced",
    "dialogue",
    "path",
    "end_state",
    "fault",
    "user",
    "policy",
    "routing",
    "complexity",
    "facts",
    "replies",
    "answers_request",
    "relevance",
    "consistency",
    "meaning",
    "reading",
    "faithfulness",
    "message_fit",
    "composed",
    "results",
    "natural",
)


def _problem_beside(check: Check[Sample], others: Sequence[Check[Sample]]) -> str:
    """Return why a check cannot follow others in the table, or "" if it can."""
    if check.reads != "Sample":
        return f"it reads a {check.reads}; a check in this table reads samples"
    stages = {stage.name for family in FAMILIES.rows() for stage in family.stages}
    if check.name in stages | _OTHER_STAGES or not check.name.isidentifier():
        return f"{check.name!r} can't be its name: it is a plain word that no stage has"
    sentences_by_kind = _sentences_of(others)
    differs = next(
        (kind for kind, told in check.doubts.items() if sentences_by_kind.get(kind, told) != told),
        "",
    )
    if differs:
        return f"the doubt {differs!r} has another sentence already: {sentences_by_kind[differs]!r}"
    return ""


CHECKS: Registry[Check[Sample]] = Registry(
    "checks", Check, "check", "checks", first=_ORDER, problem_of=_problem_beside
)
_OTHER_STAGES = {"scenario", "planted_reading", "duplicates", "review", "land"}


def all_checks() -> tuple[Check[Sample], ...]:
    """Return the checks in running order: ours, then those of packages, then a recipe's own."""
    return CHECKS.rows()


def doubt_sentences() -> dict[str, str]:
    """Return the English sentence of each kind of doubt from checks of samples and tools."""
    return _sentences_of(all_checks())


def _sentences_of(checks: Iterable[Check[Sample]]) -> dict[str, str]:
    declared = (TOOL_DOUBTS, TWIN_DOUBTS, SHARED_DOUBTS, *(check.doubts for check in checks))
    return {kind: told for each in declared for kind, told in each.items()}


def in_english(facts: Iterable[DoubtedFact]) -> tuple[DoubtedFact, ...]:
    """Return the facts, each with the English sentence of its kind if a check declares one."""
    sentences = doubt_sentences()
    return tuple(one.with_changes(sentence=sentences.get(one.kind, "")) for one in facts)


def told_in_english(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return the verdicts as screens show them: each doubt with its English sentence."""
    return [one.with_changes(doubts=in_english(one.doubts)) for one in verdicts]


# what it looks at has arguments: it finds where they are said, and settles nothing
_OF_ARGUMENTS = "grounding"


class SettledClaims(NamedTuple):
    """What a sample's claims rest on: those `claimed`, and those settled by rules and by models.

    They follow from the verdicts seen.
    """

    is_doubted: bool
    claimed: frozenset[SampleClaim]
    by_rules: frozenset[SampleClaim]
    by_models: frozenset[SampleClaim]

    @property
    def open(self) -> frozenset[SampleClaim]:
        """The claims that nothing settles yet."""
        return self.claimed - self.by_rules - self.by_models

    @property
    def grade(self) -> ClaimGrade:
        """The weakest grade of the claims."""
        if self.is_doubted or self.open:
            return "open"
        return "proved" if self.by_rules >= self.claimed else "judged"


def settled_claims(verdicts: Iterable[Verdict]) -> SettledClaims:
    """Return what a sample's claims rest on by these checks' verdicts.

    The view `sample_grades` says the same of stored verdicts.
    """
    checks = {check.name: check for check in all_checks()}
    claimed: set[SampleClaim] = {*MEANING}
    by_rules: set[SampleClaim] = set()
    left_open: set[SampleClaim] = set()
    by_models: set[SampleClaim] = set()
    is_doubted = is_ruled = False
    for verdict in verdicts:
        check = checks.get(verdict.check)
        if check is None:  # one that is gone settles nothing, and what it doubts is for people
            is_doubted |= verdict.decision != "proved"
            continue
        claimed.update(ARGUMENTS if check.name == _OF_ARGUMENTS else check.settles)
        is_ruled |= check.sort == "rule" and {*RULES} <= {*check.settles}
        is_doubted |= verdict.decision == "contradicted" or (
            verdict.decision == "unproved" and check.left_to == "people"
        )
        if verdict.grade == "proved":
            by_rules.update(check.settles)
        elif verdict.grade == "judged":
            reads = reads_language(verdict.model)  # else its own wording, and no document
            by_models.update(one for one in check.settles if reads or one not in RULES)
        if verdict.grade != "proved" and check.sort == "rule":
            left_open.update(check.settles)
    if not is_ruled:  # claimed only where the document's rules were looked for
        claimed.difference_update(RULES)
    return SettledClaims(
        is_doubted, frozenset(claimed), frozenset(by_rules - left_open), frozenset(by_models)
    )


def settled_checks(verdicts: Sequence[Verdict]) -> frozenset[str]:
    """Return the checks whose doubts about a sample were settled by a reader since.

    The view `question_sorts` says the same of stored verdicts.
    """
    checks = {check.name: check for check in all_checks()}
    still_open = settled_claims(verdicts).open
    return frozenset(
        one.check
        for one in verdicts
        if one.decision == "unproved"
        and one.check in checks
        and checks[one.check].left_to == "readers"
        and checks[one.check].settles
        and not still_open & set(checks[one.check].settles)
    )


async def has_rest(
    stage: Stage, sample: Sample, context: StageContext, verdicts: Sequence[Verdict]
) -> bool:
    """Whether a stage has anything to do for a sample.

    A check for the rest alone has if it may settle what is left open; any other stage always
    has. If only people can settle something, no model is asked. `verdicts` are those known of
    the sample; rules without one are run again, because they cost nothing.
    """
    if not isinstance(stage, Check) or stage.way not in (None, context.consistency):
        return not isinstance(stage, Check)
    known_checks = {one.check for one in verdicts}
    if not stage.only_rest:
        return True
    all_verdicts = list(verdicts)
    checks = all_checks()
    for rule in checks[: checks.index(stage)]:
        if rule.name not in known_checks and rule.sort == "rule" and rule.applies(sample):
            all_verdicts += await rule(sample, context)
    settled = settled_claims(all_verdicts)
    return not settled.is_doubted and bool(settled.open & set(stage.settles))
