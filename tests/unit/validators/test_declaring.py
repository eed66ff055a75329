"""What a check may claim, and what it has to show for it."""

from collections.abc import Iterator

import pytest

from callwright.generators.stages import StageContext
from callwright.testing import ScriptedModel, make_sample, make_tool, run_check
from callwright.validators.checks.declaring import ALL, MEANING, Check, reader, rule
from callwright.validators.checks.table import all_checks
from callwright.validators.checks.verdicts import (
    Answer,
    Finding,
    answer_of,
    contradicted,
    outcome_of,
    proved,
    unproved,
)
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.records import Decision, DoubtedFact, Sample, StageOutcome, Verdict

TABLE = make_tool("book_table", people="integer")
SAMPLE = make_sample([TABLE], "A table for 4, please.", {"book_table": {"people": 4}})


def check_that_finds(*found: Finding) -> Check[Sample]:
    @reader("mine", "1", "Is it right?", role="judge", settles=ALL, proof="All is right.")
    def find(_sample: Sample, _context: StageContext) -> list[Finding]:
        return list(found)

    return find


def test_a_check_that_settles_and_shows_nothing_proves_nothing() -> None:
    verdict = run_check(check_that_finds(), SAMPLE, [TABLE], ScriptedModel({}))
    assert (verdict.decision, [one.kind for one in verdict.doubts]) == ("unproved", ["not_read"])
    assert (
        verdict.reason
        == "mine shows nothing, so it proves nothing of what it settles: arguments, deed,"
        " nothing_else, no_call_missing, rules."
    )


def test_a_check_that_settles_proves_what_it_shows() -> None:
    verdict = run_check(check_that_finds(proved("It says 4.")), SAMPLE, [TABLE], ScriptedModel({}))
    assert (verdict.decision, verdict.reason) == ("proved", "All is right.")


def test_what_speaks_against_a_sample_outweighs_what_is_shown() -> None:
    check = check_that_finds(
        proved("It says 4."), unproved("It is odd.", DoubtedFact(kind="not_read"))
    )
    assert run_check(check, SAMPLE, [TABLE], ScriptedModel({})).decision == "unproved"


def test_a_contradiction_outweighs_what_can_not_be_told() -> None:
    doubt = DoubtedFact(kind="not_read")
    found = [unproved("It is odd.", doubt), contradicted("It is wrong.", doubt)]
    assert answer_of(found, "").reason == "It is wrong."


@pytest.mark.parametrize(
    ("decisions", "outcome", "where_it_must_prove"),
    [
        (["proved"], "passed", "passed"),
        (["proved", "unproved"], "passed", "rejected"),
        (["unproved", "contradicted"], "waiting", "rejected"),
    ],
)
def test_what_a_gate_does_not_prove_is_rejected_and_what_a_check_contradicts_waits(
    decisions: list[Decision], outcome: StageOutcome, where_it_must_prove: StageOutcome
) -> None:
    verdicts = [Verdict(subject="s", check="mine", decision=one) for one in decisions]
    assert outcome_of(verdicts).outcome == outcome
    assert outcome_of(verdicts, must_prove=True).outcome == where_it_must_prove


def test_without_a_proof_of_its_own_what_is_shown_is_the_reason() -> None:
    @rule("mine", "1", "Is it right?", settles=("arguments",))
    def find(_sample: Sample, _context: StageContext) -> Iterator[Finding]:
        yield proved("It says 4.")
        yield proved("It says 4.")

    assert run_check(find, SAMPLE, [TABLE]).reason == "It says 4."


def test_a_rule_that_claims_nothing_may_find_nothing() -> None:
    @rule("mine", "1", "Is it right?", proof="It is.")
    def find(_sample: Sample, _context: StageContext) -> list[Finding]:
        return []

    assert run_check(find, SAMPLE, [TABLE]).decision == "proved"


@pytest.mark.parametrize("claim", MEANING)
def test_a_rule_can_not_settle_what_words_mean(claim: str) -> None:
    with pytest.raises(
        ConfigurationError, match=f"'mine' is a rule and settles {claim}. What words mean is read"
    ):

        @rule("mine", "1", "Is it right?", settles=("arguments", claim))
        def find(_sample: Sample, _context: StageContext) -> list[Finding]:
            return []


def test_no_check_of_our_own_claims_without_a_finding() -> None:
    """A check whose function gives findings has no proof without them; the others give an
    Answer.
    """
    assert {one.name for one in all_checks() if one.settles and one.proof} == set()


def test_a_doubt_that_a_check_does_not_declare_is_refused_with_those_that_there_are() -> None:
    @rule("mine", "1", "Is it right?", doubts={"impolite": "No please."})
    def find(_sample: Sample, _context: StageContext) -> Iterator[Finding]:
        yield unproved("x", DoubtedFact(kind="t1"))

    @rule("mine", "1", "Is it right?", doubts={"impolite": "No please."})
    def answer(_sample: Sample, _context: StageContext) -> Answer:
        return Answer(decision="unproved", reason="x", doubts=(DoubtedFact(kind="t1"),))

    for check in (find, answer):
        with pytest.raises(
            RecordError,
            match=r"Your check 'mine' .+ has no sentence for its doubt 't1'; add .+ are impolite;",
        ):
            run_check(check, SAMPLE, [TABLE])


def test_a_misspelt_field_of_a_fact_is_told_in_a_sentence() -> None:
    @rule("mine", "1", "Is it right?", doubts={"impolite": "No please."})
    def find(_sample: Sample, _context: StageContext) -> Iterator[Finding]:
        yield unproved("x", DoubtedFact(kind="impolite", quot="please"))  # type: ignore[call-arg]

    with pytest.raises(RecordError) as refused:
        run_check(find, SAMPLE, [TABLE])
    assert "gives a DoubtedFact the field 'quot', which there is not; did you mean 'quote'?" in str(
        refused.value
    )
    assert "Its fields are kind, turn, tool, argument, value, other, quote, sentence." in str(
        refused.value
    )
    assert "pydantic" not in str(refused.value)


def test_a_fact_that_can_not_be_made_is_told_in_a_sentence() -> None:
    @rule("mine", "1", "Is it right?")
    def find(_sample: Sample, _context: StageContext) -> Iterator[Finding]:
        yield unproved("x", DoubtedFact(kind="Not A Kind"))

    with pytest.raises(
        RecordError, match="makes a DoubtedFact that can't be used: kind: "
    ) as refused:
        run_check(find, SAMPLE, [TABLE])
    assert "errors.pydantic.dev" not in str(refused.value)
