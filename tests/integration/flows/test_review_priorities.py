"""Priorities: what is asked first, and that each number can be explained by the parts in the
view.
"""

import itertools
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest

from callwright.flows.review.questions import (
    DOUBTFUL,
    GOLD_ITEM,
    RETURNED_EDIT,
    SECOND_LOOK,
    SPOT_CHECK,
    SUSPECT,
    ReviewQuestion,
    request_row,
    set_priorities,
)
from callwright.warehouse.outcomes import outcome_row
from callwright.warehouse.records import (
    CallTurn,
    DoubtedFact,
    GoldCall,
    Outcome,
    Review,
    Sample,
    UserTurn,
    Verdict,
)
from callwright.warehouse.store import Warehouse
from tests.support.flows.review_sites import ReviewSite

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Queue:
    """A warehouse with a build that plans 10 perfect and 10 imperfect samples, and questions
    about what tests put in.
    """

    def __init__(self, home: Path) -> None:
        self.warehouse = Warehouse(home / "warehouse.duckdb", patience=5)
        body = orjson.dumps({"samples": {"perfect": 10, "imperfect": 10}}).decode()
        build = {"key": "b1", "recipe": "r", "body": body, "started_at": NOW, "finished_at": NOW}
        self.warehouse.put_rows({"builds": [build]})
        self.made = 0

    def put(
        self,
        kind: str = "perfect",
        category: str = "Music",
        *,
        landed: bool = False,
        draft: str = "",
    ) -> str:
        """Make a sample of the build; its key."""
        self.made += 1
        sample = Sample(
            kind=kind,
            language="en",
            category=category,
            candidates=("t",),
            turns=(
                UserTurn(text=f"Number {self.made}."),
                CallTurn(calls=(GoldCall(tool="t", arguments={}),)),
            ),
        )
        ways = {"review": "passed", "land": "passed"} if landed else {"review": "waiting"}
        outcomes = [
            outcome_row(Outcome(build="b1", stage=stage, subject=sample.key, outcome=outcome), NOW)
            for stage, outcome in ways.items()
        ]
        accepted = {
            "subject": sample.key,
            "build": "b1",
            "recipe": "r",
            "grade": "proved",
            "judged_by": [],
            "accepted_by": "machine",
            "accepted_at": NOW,
            "withdrawn_at": None,
        }
        self.warehouse.put([sample])
        self.warehouse.put_rows(
            {
                "build_samples": [
                    {"build": "b1", "sample": sample.key, "draft": draft or f"draft {self.made}"}
                ],
                "outcomes": outcomes,
                "acceptances": [accepted] if landed else [],
            }
        )
        return sample.key

    def land(self, count: int, kind: str = "perfect", category: str = "Music") -> None:
        for _ in range(count):
            self.put(kind, category, landed=True)

    def ask(
        self, subject: str, cause: str = DOUBTFUL, kind: str = "sample_review", **row: Any
    ) -> str:
        asked = request_row(ReviewQuestion(subject, cause, "Why.", "b1", kind)) | row
        self.warehouse.put_rows({"review_requests": [asked]})
        return subject

    def doubt(
        self, decision: Any, score: float | None, *, check: str = "consistency", **sample: Any
    ) -> str:
        """A sample that a check did not prove, and the question about it."""
        subject = self.put(**sample)
        self.warehouse.put([Verdict(subject=subject, check=check, decision=decision, score=score)])
        return self.ask(subject)

    def order(self, *subjects: str) -> bool:
        """Whether these are asked about in this order, after a push has set the priorities."""
        set_priorities(self.warehouse)
        rows = self.warehouse.rows(
            "select subject, max(priority) as priority from review_queue group by subject"
        )
        places = {row["subject"]: row["priority"] for row in rows}
        mine = [places[subject] for subject in subjects]
        return mine == sorted(mine, reverse=True) and len(set(mine)) == len(mine)

    def parts(self, subject: str) -> dict[str, Any]:
        [row] = self.warehouse.rows("from review_priority where subject = ?", [subject])
        return row

    def stored(self, subject: str) -> float:
        [row] = self.warehouse.rows(
            "select priority from review_requests where subject = ?", [subject]
        )
        return float(row["priority"])


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with the build, to be copied: making its tables and views takes longer than a
    test.
    """
    return Queue(tmp_path_factory.mktemp("empty")).warehouse.path


@pytest.fixture
def queue(empty: Path, tmp_path: Path) -> Iterator[Queue]:
    """A copy of it, held open: attaching the file takes longer than what is put in and asked."""
    shutil.copy(empty, tmp_path / empty.name)
    held = Queue(tmp_path)
    with held.warehouse.together():
        yield held


def _returned(typed: str) -> dict[str, Any]:
    return {
        "subject": typed,
        "kind": "sample_review",
        "version": 2,
        "cause": RETURNED_EDIT,
        "request": "",
        "calls": "[{",
        "problem": "No JSON.",
        "reviewer": "ann",
        "made_at": NOW,
        "pushed_at": None,
        "server": None,
        "priority": 0.1,
    }


def test_what_people_will_change_comes_first_by_its_sort_before_any_answer(queue: Queue) -> None:
    unread = queue.doubt("unproved", None, check="relevance")
    contradicted = queue.doubt("contradicted", None, check="format")
    suspect, spot = (
        queue.ask(queue.put(landed=True), SUSPECT),
        queue.ask(queue.put(landed=True), SPOT_CHECK),
    )
    typed = queue.ask(queue.put())
    queue.warehouse.put_rows({"review_rounds": [_returned(typed)]})
    assert queue.order(typed, contradicted, suspect, spot)
    assert queue.order(contradicted, unread)
    parts = queue.parts(contradicted)
    assert parts["priority"] == pytest.approx(parts["probability"] * parts["stakes"], abs=1e-4)
    [row] = queue.warehouse.rows(
        "select priority, expected from review_queue where subject = ? and version = 2", [typed]
    )
    assert row["priority"] == pytest.approx(row["expected"], abs=1e-4), "all hangs on it"


def test_of_two_doubts_of_a_sort_the_one_with_more_hanging_on_it_comes_first(queue: Queue) -> None:
    queue.land(10)  # as many perfect ones as are planned
    enough = queue.doubt("unproved", None, kind="perfect")
    lacking = queue.doubt("unproved", None, kind="imperfect")
    assert queue.order(lacking, enough)


def test_a_doubt_that_readers_settled_is_no_doubt_any_more(queue: Queue) -> None:
    stages = [
        {"name": name, "position": at, "stage_group": "consistency", "source": "", "role": role}
        | {"is_left_to_readers": not role, "settles": settles}
        for at, (name, role, settles) in enumerate(
            [
                ("grounding", "", ["arguments"]),
                ("reading", "checker", ["arguments", "deed", "nothing_else", "no_call_missing"]),
            ]
        )
    ]
    queue.warehouse.put_rows({"stages": stages})
    doubt = DoubtedFact(kind="unstated", argument="day")
    subjects = [queue.ask(queue.put(landed=True), SPOT_CHECK) for _ in range(2)]
    for subject in subjects:
        open_doubt = Verdict(subject=subject, check="grounding", decision="unproved")
        queue.warehouse.put([open_doubt.with_changes(doubts=(doubt,))])
    read = Verdict(subject=subjects[0], check="reading", decision="proved", model="m")
    queue.warehouse.put([read])
    rows = queue.warehouse.rows("from question_sorts where sort <> 'spot check'")
    assert [(row["subject"], row["sort"]) for row in rows] == [(subjects[1], "grounding: unstated")]


def _answer(queue: Queue, subject: str, *, changed: bool) -> None:
    """A person's decision about a question that was pushed."""
    decision: Any = "reject" if changed else "accept"
    reasons = ("wrong_value",) if changed else ()
    review = Review(
        subject=subject,
        kind="sample_review",
        decision=decision,
        reasons=reasons,
        reviewer="ann",
        reviewed_at=datetime.now(UTC) + timedelta(minutes=1),
        annotation_id=queue.made,
    )
    queue.warehouse.put([review])


def test_fifty_answers_teach_the_queue_which_doubts_are_worth_asking_about(queue: Queue) -> None:
    """Three sorts of doubt that the priors take for alike, and which people change in 8, 3 and 1
    of 10 cases: the first twenty of the next hundred hold more that is changed than before.
    """
    rng = Random(1)
    rates = {"natural": 0.1, "composed": 0.3, "wording": 0.8}  # the priors know nothing of these
    truth: dict[str, bool] = {}

    def ask_about(count: int) -> None:
        for check in (check for _ in range(count) for check in rates):
            truth[queue.doubt("unproved", None, check=check)] = rng.random() < rates[check]

    def changed_of_first() -> int:
        rows = queue.warehouse.rows(
            "select subject from review_queue where not is_answered order by priority desc limit 20"
        )
        return sum(truth[row["subject"]] for row in rows)

    ask_about(16)
    set_priorities(queue.warehouse)
    before = changed_of_first()
    for subject, changed in list(truth.items()):
        _answer(queue, subject, changed=changed)
    set_priorities(queue.warehouse)
    assert queue.warehouse.rows("from sort_weights") == [], "48 answers are too few"
    ask_about(2)
    for subject, changed in list(truth.items())[-6:]:
        _answer(queue, subject, changed=changed)
    ask_about(34)
    set_priorities(queue.warehouse)
    assert changed_of_first() > before + 5
    weights = {row["sort"]: row["weight"] for row in queue.warehouse.rows("from doubt_sorts")}
    assert weights["wording"] > 0 > weights["natural"]
    [of_all] = queue.warehouse.rows("from review_calibration where stretch = 'all'")
    assert of_all["n_answered"] == 48, "the last six were answered before anything was expected"
    assert of_all["changed_share"] == pytest.approx(of_all["n_changed"] / 48)


def _urgent(queue: Queue, count: int) -> list[str]:
    return [queue.doubt("unproved", None) for _ in range(count)]


def _draws(queue: Queue, count: int) -> list[str]:
    causes = itertools.cycle((SPOT_CHECK, SECOND_LOOK, GOLD_ITEM))
    return [
        queue.ask(queue.put(landed=True), cause)
        for cause, _ in zip(causes, range(count), strict=False)
    ]


def _in_order(queue: Queue) -> list[str]:
    set_priorities(queue.warehouse)
    rows = queue.warehouse.rows("select subject from review_queue order by priority desc, subject")
    return [row["subject"] for row in rows]


def test_of_ten_questions_in_a_row_the_last_was_drawn_and_the_most_urgent_come_first(
    queue: Queue,
) -> None:
    urgent, drawn = _urgent(queue, 40), {*_draws(queue, 4)}
    order = _in_order(queue)
    assert [place for place, key in enumerate(order) if key in drawn] == [9, 19, 29, 39]
    assert [key for key in order if key not in drawn] == sorted(urgent)
    assert _in_order(queue) == order


def test_each_priority_is_what_its_parts_say(site: ReviewSite) -> None:
    site.warehouse.execute("update review_requests set pushed_at = null, server = null")
    set_priorities(site.warehouse)
    rows = site.rows("from review_priority")
    assert {row["cause"] for row in rows} == {DOUBTFUL, SPOT_CHECK}
    for row in rows:
        if row["cause"] == DOUBTFUL:
            assert row["priority"] == pytest.approx(row["probability"] * row["stakes"], abs=1e-4)
            parts = 0.3 * row["is_blocker"] + 0.2 * row["rarity"] + 0.1 * row["reach"]
            assert row["stakes"] == pytest.approx(0.4 + parts)
        else:
            assert row["n_before"] % 9 == 0
        assert all(0 <= row[part] <= 1 for part in ("probability", "rarity", "reach", "chance"))
    doubtful = [row for row in rows if row["cause"] == DOUBTFUL]
    stored = {
        row["subject"]: row["priority"]
        for row in site.rows("select subject, priority from review_requests")
    }
    assert {row["subject"]: row["priority"] for row in rows} == stored
    assert len({row["priority"] for row in doubtful}) > 1
