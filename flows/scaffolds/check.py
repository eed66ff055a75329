"""A check of one's own: whether the user says please."""

from collections.abc import Iterator

from callwright.generators.stages import StageContext
from callwright.validators.checks.declaring import rule
from callwright.validators.checks.verdicts import Finding, unproved
from callwright.warehouse.records import DoubtedFact, Sample, UserTurn


@rule(
    "example",
    "1",
    "Does the user say please?",
    applies=lambda sample: sample.language == "en",
    proof="The user says please.",
    doubts={"impolite": "The user does not say please{where}: “{words}”."},
)
def check(sample: Sample, _context: StageContext) -> Iterator[Finding]:
    """Look for the word in what the user says first."""
    first = next(turn for turn in sample.turns if isinstance(turn, UserTurn))
    if "please" not in first.text.lower():
        doubt = DoubtedFact(kind="impolite", quote=first.text)
        yield unproved("The first request has no please.", doubt)
