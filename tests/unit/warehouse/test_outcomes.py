"""Outcomes: what a warehouse of before told in sentences is typed after its migration, and says
the same numbers.
"""

from importlib.resources import files
from pathlib import Path

import duckdb

from callwright.warehouse.store import Warehouse

EDIT, OTHER = "e" * 24, "f" * 24
OLD = [
    ("format", "a", "passed", ""),
    ("consistency", "a", "passed", "Accepted by ann@example.com."),
    ("review", "b", "rejected", "Rejected by bob: wrong_value, invented."),
    ("review", "c", "passed", f"Edited by ann. b as {EDIT}."),
    ("land", EDIT, "passed", f"Edited by ann. b as {EDIT}."),
    ("review", "d", "rejected", f"Edited by ann as {OTHER}. Rejected by bob: no reason given."),
    (
        "review",
        "g",
        "rejected",
        f"Edited by ann as {OTHER}. Accepted by bob. That sample is there already.",
    ),
    ("review", "h", "waiting", "consistency: Accepted by is what the request says."),
    ("meaning", "i", "waiting", "Nothing fits."),
    ("duplicates", "j", "rejected", "Says the same as k."),
    ("request", "l", "rejected", "Another draft had already become this very sample."),
    ("request", "m", "failed", "No reply."),
    ("external", "n", "passed", "The stage does not apply to this kind."),
    ("meaning", "o", "passed", "Not sure."),
    ("path", "p", "rejected", "No way."),
]
TYPED = {
    ("format", "a"): ("none", "machine", "", ""),
    ("consistency", "a"): ("accepted", "person", "ann@example.com", ""),
    ("review", "b"): ("rejected", "person", "bob", ""),
    ("review", "c"): ("edited", "person", "ann. b", EDIT),
    ("land", EDIT): ("edited", "person", "ann. b", "c"),
    ("review", "d"): ("rejected", "person", "bob", OTHER),
    ("review", "g"): ("taken", "person", "bob", OTHER),
    ("review", "h"): ("unproved", "machine", "", ""),
    ("meaning", "i"): ("contradicted", "machine", "", ""),
    ("duplicates", "j"): ("duplicate", "machine", "", ""),
    ("request", "l"): ("duplicate", "machine", "", ""),
    ("request", "m"): ("error", "machine", "", ""),
    ("external", "n"): ("not_applicable", "machine", "", ""),
    ("meaning", "o"): ("unproved", "machine", "", ""),
    ("path", "p"): ("unproved", "machine", "", ""),
}
FUNNEL = "select stage, entered, passed, rejected, failed, waiting from funnel order by all"


def old_warehouse(path: Path) -> None:
    """A warehouse as of migration 0011."""
    scripts = sorted(
        files("callwright.warehouse").joinpath("migrations").iterdir(), key=lambda file: file.name
    )
    with duckdb.connect(str(path)) as old:
        old.execute(
            "create table migrations (name varchar primary key, made_at timestamptz default now())"
        )
        for script in scripts:
            if script.name.endswith(".sql") and script.name < "0012":
                old.execute(script.read_text(encoding="utf-8"))
                old.execute("insert into migrations (name) values (?)", [script.name])
        for row in OLD:
            old.execute("insert into fates values ('b', ?, ?, ?, ?, now())", list(row))
        old.execute("insert into builds values ('b', 'r', '{}', now(), now())")
        old.execute(
            "insert into verdicts values ('v', 'o', 'meaning', 'unproved', null, 'Not sure.', '[]',"
            " '1', now()), ('w', 'h', 'meaning', 'proved', null, '', '[]', '1', now())"
        )
        old.execute(
            "insert into reviews values ('k', 'c', 'sample_review', 'edit', 'ann. b', now(), [],"
            " '', 1, ?, 1, 1, 's', null)",
            [EDIT],
        )
        comment = f"Decided about the correction of its path, {OTHER}."
        old.execute(
            "insert into reviews values ('q', 'c', 'correction', 'accept', 'ann', now(), [], ?, 0,"
            " null, 0, 0, '', null)",
            [comment],
        )
        reason = (
            "2 of 3 candidates answer at call turn 1 of 2 book(people=5) where the gold says"
            " people=4."
        )
        old.execute(
            "insert into review_requests values ('b', 'a', 'sample_review', 'suspect', ?, now(),"
            " null, null, 1, 1, 0.5)",
            [reason],
        )
        old.execute(
            "insert into acceptances values ('a', 'b', 'r', true, 'machine', false, now(), null),"
            " ('z', 'b', 'r', true, 'ann', true, now(), null)"
        )


def test_sentences_of_before_become_columns(tmp_path: Path) -> None:
    old_warehouse(tmp_path / "warehouse.duckdb")
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    rows = warehouse.rows("from outcomes")
    found = {
        (row["stage"], row["subject"]): tuple(
            row[name] for name in ("reason_code", "decided_by", "decided_who", "carried_from")
        )
        for row in rows
    }
    assert found == TYPED
    assert {(row["stage"], row["subject"], row["outcome"], row["reason"]) for row in rows} == set(
        OLD
    )


def test_a_warehouse_of_before_says_the_same_numbers(tmp_path: Path) -> None:
    old_warehouse(tmp_path / "warehouse.duckdb")
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    counts = {row["stage"]: row for row in warehouse.rows(FUNNEL)}
    assert counts["review"]["entered"] == 5
    assert (
        counts["review"]["passed"],
        counts["review"]["rejected"],
        counts["review"]["waiting"],
    ) == (1, 3, 1)
    assert warehouse.rows("select subject, decided_by from acceptances order by subject") == [
        {"subject": "a", "decided_by": "machine"},
        {"subject": "z", "decided_by": "person"},
    ]
    assert warehouse.rows("select carried_from from reviews order by key") == [
        {"carried_from": ""},
        {"carried_from": OTHER},
    ]
    [asked] = warehouse.rows("select against from review_requests")
    assert asked["against"] == "book(people=5) where the gold says people=4"
