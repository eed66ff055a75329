"""A work folder at a real Label Studio, and an annotator at the keyboard who answers what it
asks.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.records import Project
from callwright.flows.progress import SilentProgress
from callwright.flows.review.pulling import Pulled, pull_reviews
from tests.support.flows.asked_site import EACH
from tests.support.flows.review_sites import ReviewSite
from tests.support.typist import ShownTask, Typist


class TypedAnswer(NamedTuple):
    """What was typed about a task."""

    subject: str
    decision: str
    reasons: tuple[str, ...] = ()
    comment: str = ""


class KeyboardSite(NamedTuple):
    """The work folder, the annotator, and the name under which reviews are kept."""

    site: ReviewSite
    studio: LabelStudio
    typist: Typist
    reviewer: str

    def project(self, kind: str) -> Project:
        found = self.studio.find_project(kind)
        assert found is not None
        return found

    def label(
        self, kind: str, answer: Callable[[ShownTask, int], TypedAnswer], count: int = EACH
    ) -> list[TypedAnswer]:
        """Label so many tasks of a kind, one after the other as Label Studio hands them out."""
        shown = self.typist.label_all(self.project(kind))
        answers = [answer(shown, 0)]
        self.typist.submit()
        for number in range(1, count):
            shown = self.typist.task_after(shown.number)
            answers.append(answer(shown, number))
            self.typist.submit()
        assert len({one.subject for one in answers}) == count
        return answers

    def pull(self) -> Pulled:
        """Pull in a thread of its own: the browser keeps event loops away from this one."""
        with ThreadPoolExecutor(1) as apart:
            return apart.submit(
                asyncio.run, pull_reviews(self.site.settings, self.studio, SilentProgress())
            ).result()

    def see_reviews(self, kind: str, answers: Sequence[TypedAnswer]) -> None:
        """See that the reviews and decisions of a kind are these answers, and nothing else."""
        wanted = sorted(answers)
        for table in ("reviews", "decisions"):
            rows = self.site.rows(
                f"select subject, decision, reasons, comment, reviewer from {table} where kind = ?",
                kind,
            )
            found = [
                TypedAnswer(row["subject"], row["decision"], tuple(row["reasons"]), row["comment"])
                for row in rows
            ]
            assert sorted(found) == wanted, table
            assert {row["reviewer"] for row in rows} == {self.reviewer}
        assert self.site.value("select min(seconds) from reviews where kind = ?", kind) > 0

    def result_of(self, answer: TypedAnswer, kind: str) -> str:
        """The key of what an edit made."""
        return str(
            self.site.value(
                "select result from decisions where kind = ? and subject = ?", kind, answer.subject
            )
        )


def accept_or_reject(
    context: KeyboardSite, kind: str, shown: ShownTask, number: int, *reasons: str
) -> TypedAnswer:
    """Accept, reject with one reason, or reject with all of these and a comment."""
    if number % 3 == 0:
        context.typist.choose(kind, "accept")
        return TypedAnswer(shown.subject, "accept")
    if number % 3 == 1:
        context.typist.choose(kind, "reject", reasons[0])
        return TypedAnswer(shown.subject, "reject", reasons[:1])
    context.typist.choose(kind, "reject", *reasons)
    context.typist.comment(f"No. {number}: not like this.")
    return TypedAnswer(shown.subject, "reject", reasons, f"No. {number}: not like this.")
