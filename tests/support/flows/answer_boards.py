"""Warehouses with a release in which tests write what candidates answered, for the tests of
suspects.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from callwright.flows.review.asking_again import Suspect, raise_suspicions
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    Prediction,
    ReplyTurn,
    Review,
    Sample,
    Score,
    Tool,
    UserTurn,
)
from callwright.warehouse.releases import freeze
from callwright.warehouse.store import Warehouse
from tests.support.validators.scoring_at_once import name_errors

TOOL = Tool(
    name="book_table",
    description="Book a table.",
    parameters={"type": "object"},
    category="Restaurants",
)
FOUR = {"people": 4, "name": "Ann"}
FIVE = {"people": 5, "name": "Ann"}
SIX = {"people": 6, "name": "Ann"}
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def book(arguments: dict[str, Any], tool: str = "book_table") -> tuple[Call, ...]:
    return (Call(tool=tool, arguments=arguments),)


RIGHT, WRONG, OTHER, ODD = book(FOUR), book(FIVE), book(SIX), book({}, "cancel_table")


def sample_of(*gold: dict[str, Any], text: str = "A table for four.") -> Sample:
    turns: list[Any] = []
    for arguments in gold or ({},):
        call = (GoldCall(tool="book_table", arguments=arguments),) if arguments else ()
        turns += [UserTurn(text=text), CallTurn(calls=call), ReplyTurn(text="Done.")]
    kind = "perfect" if gold else "irrelevant"
    return Sample(
        kind=kind,
        language="en",
        category="Restaurants",
        candidates=(TOOL.key,),
        turns=tuple(turns[:-1]),
    )


class Board:
    """A warehouse with a release, in which tests write what candidates answered."""

    def __init__(self, home: Path) -> None:
        self.warehouse = Warehouse(home / "warehouse.duckdb", patience=5)
        self.warehouse.put([TOOL])

    def release(self, *samples: Sample, landed: bool = True, release: str = "v1") -> None:
        self.warehouse.put(samples)
        accepted = {
            "build": "b",
            "recipe": "r",
            "grade": "proved",
            "judged_by": [],
            "accepted_by": "machine",
            "accepted_at": NOW,
            "withdrawn_at": None,
        }
        rows = {
            "acceptances": (
                [accepted | {"subject": sample.key} for sample in samples] if landed else []
            )
        }
        self.warehouse.put_rows(rows)
        freeze(self.warehouse, release, sorted(sample.key for sample in samples))

    def answer(
        self,
        sample: Sample,
        *calls: tuple[Call, ...] | None,
        turn: int = 1,
        run: int = 0,
        scored: bool = True,
    ) -> list[Prediction]:
        """What candidates a, b, c… answer at a turn, and what the metric says of it."""
        made = [
            Prediction(
                release="v1",
                subject=sample.key,
                turn=turn,
                candidate=model,
                run=run,
                text=f"{turn} {run} {model}",
                calls=call,
            )
            for model, call in zip("abcdefgh", calls, strict=False)
        ]
        self.warehouse.put(made)
        if scored:
            self.warehouse.put(
                [
                    Score(
                        release="v1",
                        candidate=one.candidate,
                        run=run,
                        metric="args_acc",
                        value=0.5,
                        count=2,
                    )
                    for one in made
                ]
            )
            self.warehouse.mark_errors(dict(name_errors(made, {sample.key: sample})))
        return made

    def suspects(self) -> tuple[Suspect, ...]:
        return raise_suspicions(self.warehouse, "v1").suspects

    def reasons(self) -> list[str]:
        return [one.reason for one in self.suspects()]

    def asked(self) -> list[dict[str, Any]]:
        return self.warehouse.rows(
            "select subject, cause, if(version = 1, reason, problem) as reason from review_queue"
            " order by version"
        )

    def decide(self, sample: Sample, decision: Any, minutes: int) -> None:
        self.warehouse.put(
            [
                Review(
                    subject=sample.key,
                    decision=decision,
                    reviewer="ann",
                    kind="sample_review",
                    reviewed_at=datetime.now(UTC) + timedelta(minutes=minutes),
                    annotation_id=minutes + 1,
                )
            ]
        )
