"""Builds that have landed samples, made up row by row."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from callwright.warehouse.outcomes import outcome_row
from callwright.warehouse.records import Outcome
from callwright.warehouse.releases import Selection, select_samples
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def started(
    key: str, hour: int, recipe: str = "small", *, is_trial: bool = False, is_done: bool = True
) -> Row:
    at = NOON + timedelta(hours=hour)
    ended = at + timedelta(minutes=1) if is_done else None
    return {
        "key": key,
        "recipe": recipe,
        "body": "{}",
        "started_at": at,
        "finished_at": ended,
        "is_trial": is_trial,
    }


def sample_row(key: str, kind: str, language: str) -> Row:
    return {
        "key": key,
        "kind": kind,
        "language": language,
        "category": "Weather",
        "request": f"Rain in {key}?",
        "gold": "[]",
        "body": "{}",
        "stage": "request",
        "parents": [],
        "seed": 1,
        "model": "template/v1",
        "prompt_version": "1",
        "planted": "",
    }


class Landed:
    """A warehouse with builds and what each of them has landed."""

    def __init__(self, folder: Path) -> None:
        self.warehouse = Warehouse(folder / "warehouse.duckdb")

    def add(self, build: Row, *keys: str) -> None:
        """A build whose samples' keys tell their kind and language: "perfect-en-1"."""
        outcomes = [
            outcome_row(Outcome(build=build["key"], stage="land", subject=key, outcome="passed"))
            for key in keys
        ]
        self.warehouse.put_rows(
            {
                "builds": [build],
                "samples": [sample_row(key, *(*key.split("-"), "en")[:2]) for key in keys],
                "outcomes": outcomes,
                "acceptances": [
                    {
                        "subject": key,
                        "build": build["key"],
                        "recipe": build["recipe"],
                        "grade": "proved",
                        "judged_by": [],
                        "accepted_by": "machine",
                        "decided_by": "machine",
                        "accepted_at": NOON,
                        "withdrawn_at": None,
                    }
                    for key in keys
                ],
            }
        )

    def latest(self) -> dict[str, str]:
        return {row["recipe"]: row["build"] for row in self.warehouse.rows("from latest_builds")}

    def taken(self, **asked: object) -> tuple[tuple[str, ...], dict[str, tuple[int, str]]]:
        """The keys that a selection takes, and of each build how many and why not the others."""
        selected = select_samples(self.warehouse, Selection(**asked))  # type: ignore[arg-type]
        return selected.keys, {
            share.build: (share.taken, share.left_out) for share in selected.builds
        }
