"""Work folders with a build in them, for the tests of the review loop: what is in the books, and
what people write.
"""

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Recipe
from callwright.flows.review.pulling import Pulled, pull_reviews
from callwright.flows.review.pushing import push_reviews
from callwright.flows.settings import Settings, open_warehouse
from callwright.warehouse.records import Sample
from callwright.warehouse.store import Warehouse
from callwright.warehouse.tables import tables
from tests.support.annotation.editing import edited
from tests.support.flows.paper_studio import PaperStudio
from tests.support.flows.small_builds import settings_of, small_recipe

NOTHING_NEW = Pulled()
OFF_TOPIC = (  # no check finds a call in it, and a Chinese sample must not say it
    "Never mind, it is nothing."
)
RATES = dict.fromkeys(
    ("extra_argument", "wrong_argument", "hallucinated_value", "wrong_tool"), 0.15
)


def erring_recipe(**changes: Any) -> Recipe:
    """A recipe whose generator is told to err, so that there is something to decide."""
    planted = {
        "samples": {"perfect": 24, "imperfect": 6, "irrelevant": 4},
        "models": {"generator": {"name": "template/v1", "error_rate": RATES}},
        "review": {"spot_checks": 5},
        "seed": 2,
        "accept": {
            "caught_at_least": 0.5,
            "agreed_at_least": 0.3,
        },  # most of its golds are wrong, and doubted rightly
        "shard_size": 50,
    }
    return small_recipe(**planted | changes)


def trusting_recipe(**review: Any) -> Recipe:
    """The same with more samples, where two people answer each doubt, and gold items are mixed
    in.
    """
    samples = {"perfect": 44, "imperfect": 6, "irrelevant": 4}
    asked = {"spot_checks": 6, "reviewers": {"doubtful": 2}, "gold_items": 40}
    return erring_recipe(samples=samples, review=asked | review)


class ReviewSite(NamedTuple):
    """A work folder, its warehouse, its drawer of tasks, and what is usually done with them."""

    settings: Settings
    studio: PaperStudio
    warehouse: Warehouse

    def rows(self, sql: str, *parameters: Any) -> list[dict[str, Any]]:
        return self.warehouse.rows(sql, parameters)

    def value(self, sql: str, *parameters: Any) -> Any:
        [row] = self.rows(sql, *parameters)
        [value] = row.values()
        return value

    def push(self, **options: bool) -> tuple[int, int]:
        return push_reviews(self.settings, self.studio, SilentProgress(), **options)[:2]  # type: ignore[arg-type]

    def pull(self) -> Pulled:
        """Pull, and see that the books are balanced."""
        pulled = asyncio.run(pull_reviews(self.settings, self.studio, SilentProgress()))  # type: ignore[arg-type]
        self.balance()
        return pulled

    def balance(self) -> None:
        """Whatever enters a stage is accounted for, the next one meets what it passed on, and
        the landed are accepted.
        """
        books = self.warehouse.rows_by_name(
            {
                "funnel": ("from funnel order by build, position", []),
                "landed": (
                    (
                        "select distinct subject from outcomes where stage = 'land' and outcome ="
                        " 'passed' order by 1"
                    ),
                    [],
                ),
                "accepted": ("select key as subject from accepted_samples order by 1", []),
                "reasonless": ("from outcomes where outcome <> 'passed' and reason = ''", []),
            }
        )
        for row in books["funnel"]:
            assert (
                row["n_entered"]
                == row["n_passed"] + row["n_rejected"] + row["n_failed"] + row["n_waiting"]
            ), row
        for before, after in pairwise(books["funnel"]):
            if before["build"] == after["build"]:
                assert after["n_entered"] == before["n_passed"], (before, after)
        assert books["landed"] == books["accepted"]
        assert books["reasonless"] == []

    def asked(self, cause: str, outcome: str = "") -> list[str]:
        """The samples that people are asked about for this cause."""
        return [
            row["subject"]
            for row in self.rows(
                """select subject from review_requests where cause = ?
                and (? = '' or subject in (select subject from outcomes where outcome = ?)) order by subject""",
                cause,
                outcome,
                outcome,
            )
        ]

    def sample(self, key: str) -> Sample:
        return Sample.model_validate_json(self.value("select body from samples where key = ?", key))

    def accepted(self, key: str) -> dict[str, Any] | None:
        rows = self.rows(
            "select grade = 'proved' as proved, grade = 'vouched' as vouched, accepted_by"
            " from accepted_samples where key = ?",
            key,
        )
        return rows[0] if rows else None

    def standing(self, key: str) -> tuple[str, str]:
        """The last stage of a sample, and what happened there."""
        [row] = self.rows(
            """select arg_max(f.stage, t.position) as stage, arg_max(f.outcome, t.position) as outcome
            from outcomes f join stages t on t.name = f.stage where f.subject = ?""",
            key,
        )
        return row["stage"], row["outcome"]

    def everything(self) -> dict[str, list[dict[str, Any]]]:
        return self.warehouse.rows_by_name(
            {table: (f"from {table} order by all", []) for table in tables()}
        )

    def polite(self, key: str) -> str:
        """A change to the request that no check minds."""
        sample = self.sample(key)
        return sample.request + (" Thanks a lot." if sample.language == "en" else "谢谢。")


def open_site(home: Path, studio: PaperStudio) -> ReviewSite:
    settings = settings_of(home)
    return ReviewSite(settings, studio, open_warehouse(settings))


def edit(site: ReviewSite, key: str, request: str, *, by: str = "ann", change: int = 0) -> int:
    typed = edited(site.studio.newest_task(key)["rows"], request)
    return site.studio.annotate(key, "edit", by=by, change=change, **typed)


def spot_check_with_a_call(site: ReviewSite) -> str:
    """A Chinese one: what is wrong with an edit of it that says OFF_TOPIC is certain."""
    asked = (site.sample(key) for key in site.asked("spot check"))
    return next(sample.key for sample in asked if sample.gold and sample.language == "zh")
