"""Whether the answer to several calls tells what was asked for: the fields that the goal names, of all entries meant."""

from collections.abc import Iterator

from callwright.generators.multi_step.samples import field_words
from callwright.generators.stages import StageContext
from callwright.validators.checks.declaring import rule
from callwright.validators.checks.verdicts import Finding, contradicted, unproved
from callwright.warehouse.answers import untold_fields
from callwright.warehouse.records import DoubtedFact, ReplyTurn, Sample


def tells_results(sample: Sample) -> bool:
    """Whether the sample ends with a reply after results that were asked for; a task may ask to be told nothing."""
    is_due = sample.asked or (sample.wanted and not sample.changes)
    return bool(is_due) and isinstance(next(reversed(sample.turns), None), ReplyTurn)


@rule(
    "answers_request", "1",
    "Does the answer tell what was asked for?",
    source="ComplexFuncBench 3.3",
    applies=tells_results,
    settles=("replies",),
    left_to="readers",
    proof="The answer tells every field that the goal names.",
    doubts={
        "answer_lacks": "The user asks for {name}, and the answer does not tell it.",
        "not_asked": "The sample does not name what the user wants to be told.",
    },
)  # fmt: skip
def check_answers(sample: Sample, _context: StageContext) -> Iterator[Finding]:
    """Look for the value of each field asked for; where none is named, a reader is asked."""
    at = len(sample.turns) - 1
    if not sample.asked:
        yield unproved("The sample names no field that is asked for.", DoubtedFact(kind="not_asked", turn=at))
    for field in untold_fields(sample):
        name = field_words(field.path) or field.path
        fact = DoubtedFact(kind="answer_lacks", turn=at, argument=name)
        yield contradicted(f"The answer does not tell {name!r} ({field.path}) of all that the call returned.", fact)
