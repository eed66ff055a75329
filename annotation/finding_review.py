"""The review of a finding: whether it holds against the gold of a data set."""

from typing import NamedTuple

from pydantic import JsonValue

from callwright.annotation.calls import shortened, write_value
from callwright.annotation.prediction_audit import visible
from callwright.annotation.rendering import Line
from callwright.annotation.reviews import (
    ParsedReview,
    ReviewTask,
    UnusableEdit,
    parse_verdict,
    version_after,
    why_asked,
)
from callwright.annotation.screens import FINDING_REVIEW, finding_words_in, words_in
from callwright.annotation.studio.records import PulledAnnotation
from callwright.warehouse.records import DEFAULT_LANGUAGE, Language

_LONGEST = 4_000


class FindingTask(ReviewTask):
    """One task about a finding: what the user said, the document, the gold and what it should be.

    `reason` says what is found, `place` where the record stands.
    """

    kind: str = FINDING_REVIEW
    conversation: tuple[Line, ...]
    reason: str
    gold: str
    expected: str
    document: str
    place: str


class AskedFinding(NamedTuple):
    """A finding as people see it; `gold` and `expected` are None where nothing is stated."""

    key: str
    sort: str
    severity: str
    called: str
    said: str
    reason: str
    gold: JsonValue
    expected: JsonValue
    document: str
    place: str


def finding_task(
    finding: AskedFinding,
    *,
    reason: str,
    language: Language = DEFAULT_LANGUAGE,
    returned: UnusableEdit | None = None,
) -> FindingTask:
    """Return the task that asks people whether a finding holds."""
    words, general = finding_words_in(language), words_in(language)

    def value(one: JsonValue) -> str:
        return words.unknown if one is None else shortened(write_value(one), _LONGEST)

    said = visible(shortened(finding.said, _LONGEST))

    return FindingTask(
        subject=finding.key,
        version=version_after(returned),
        title=" · ".join(filter(None, (finding.sort, finding.severity, finding.called))),
        why=why_asked(reason, returned, words.returned),
        conversation=(Line(author=general.user, text=said or words.unknown),),
        reason=visible(shortened(finding.reason, _LONGEST)),
        gold=visible(value(finding.gold)),
        expected=visible(value(finding.expected)),
        document=visible(shortened(finding.document, _LONGEST)) or words.unknown,
        place=finding.place,
    )


def parse_finding_review(pulled: PulledAnnotation, finding: str) -> ParsedReview:
    """Return the review in an annotation of the finding with this key.

    Raises AnnotationError if the annotation doesn't fit the finding or our screen.
    """
    return parse_verdict(pulled, finding, "findings", finding_words_in(DEFAULT_LANGUAGE).reason)
