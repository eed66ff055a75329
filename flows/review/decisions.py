"""Carrying out what people decided: the fates and acceptances that follow from it, wherever a sample has a seat.

Everything is derived from what is kept and only the difference is written. So a decision is carried out once however
often this runs, also after a crash, and a new build takes over what people said in an earlier one.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from annotation.screens import CORRECTION, DIALOGUE_ACTS, DISAMBIGUATION, SAMPLE_REVIEW
from flows.review.standings import (
    Decision,
    Seat,
    Standing,
    Step,
    is_settled_by_people,
    is_word_of_people,
    standing_of,
    steps_of,
)
from warehouse.rows import Row
from warehouse.store import Warehouse

UNCHECKED = "The edited sample has not been checked again yet."


class _Books(NamedTuple):
    """What is kept about decided samples, all of one moment."""

    decisions: dict[str, Decision]
    standings: dict[str, Standing]
    roots: set[str]
    seats: list[Seat]
    rows: dict[str, list[Row]]


def settle_decisions(warehouse: Warehouse) -> None:
    """Bring fates and acceptances to what people decided."""
    books = _read_books(warehouse)
    fates, gone = _settled_seats(books)
    fates += _settled_edits(books)
    if gone:
        warehouse.execute(_LEAVE, [[build for build, _ in gone], [subject for _, subject in gone]])
    warehouse.put_rows({"fates": fates, "acceptances": _changed_acceptances(books)}, replacing=True)


def _read_books(warehouse: Warehouse) -> _Books:
    queries: dict[str, tuple[str, list[object]]] = {
        "decisions": (_DECISIONS, [[SAMPLE_REVIEW, DISAMBIGUATION, CORRECTION, DIALOGUE_ACTS], DIALOGUE_ACTS]),
        "doubts": (_DOUBTS, [UNCHECKED]),
        "roots": (_ROOTS, []),
        "seats": (_SEATS, []),
        "independent": (_INDEPENDENT, []),
        "landed_edits": (_LANDED_EDITS, []),
        "acceptances": (_ACCEPTANCES, []),
    }
    rows = warehouse.rows_by_name(queries)
    seats = [Seat(**row) for row in rows["seats"]]
    decisions = _counting([Decision(**row | {"reasons": tuple(row["reasons"])}) for row in rows["decisions"]], seats)
    doubts = {row["subject"]: row["reason"] for row in rows["doubts"]}
    return _Books(
        decisions=decisions,
        standings={subject: standing_of(subject, decisions, doubts) for subject in decisions},
        roots={row["subject"] for row in rows["roots"]} & decisions.keys(),
        seats=seats,
        rows=rows,
    )


def _counting(decisions: Iterable[Decision], seats: Iterable[Seat]) -> dict[str, Decision]:
    """The decision that counts about each sample: the last, where it is not about nothing but dialogue acts.

    Those come after all others; they count where the others' is none or that the sample is good, and where they settle a
    seat.
    """
    found: dict[str, Decision] = {}
    for decision in decisions:
        before = found.get(decision.subject)
        counts_more = before is None or (before.decision == "accept" and decision.decision != "accept")
        if counts_more or decision.kind != DIALOGUE_ACTS:
            found[decision.subject] = decision
    settled = {seat.subject for seat in seats if seat.subject in found and _is_settled(seat, found[seat.subject])}
    return {name: one for name, one in found.items() if one.kind != DIALOGUE_ACTS or name in settled}


def _is_settled(seat: Seat, decision: Decision) -> bool:
    """Whether a decision settles a seat: acts that are right, or put right, say nothing about what a check doubts."""
    if decision.kind == DIALOGUE_ACTS and decision.decision != "reject" and seat.outcome != "passed":
        return is_word_of_people(seat.reason)
    return is_settled_by_people(seat)


def _settled_seats(books: _Books) -> tuple[list[Row], list[tuple[str, str]]]:
    """The fates that change, and the (build, sample) whose fate at landing goes because another sample has the place."""
    independent = {(row["build"], row["subject"]) for row in books.rows["independent"]}
    landed = {(row["build"], row["subject"]): row["reason"] for row in books.rows["landed_edits"]}
    fates: list[Row] = []
    gone: set[tuple[str, str]] = set()
    taken: set[tuple[str, str]] = set()
    for seat in books.seats:
        if seat.subject not in books.roots or not _is_settled(seat, books.decisions[seat.subject]):
            continue
        standing = books.standings[seat.subject]
        place = (seat.build, standing.subject)
        steps = steps_of(seat, standing, is_there=place in independent or place in taken)
        if seat.stage == "land" and steps[-1].stage != "land":
            gone.add((seat.build, seat.subject))
        fates += _fates(seat, steps)
        if standing.subject != seat.subject and steps[-1] == Step("review", "passed", standing.reason):
            taken.add(place)
            before = Seat(*place, "land", "passed", landed.get(place, ""))
            fates += _fates(before, [Step("land", "passed", standing.reason)])
    return fates, sorted(gone | (landed.keys() - taken))


def _settled_edits(books: _Books) -> list[Row]:
    """The fates of edited samples that were contradicted, and that people decided about since."""
    fates: list[Row] = []
    for seat in books.seats:
        standing = None if seat.subject in books.roots else books.standings.get(seat.subject)
        if standing is not None and seat.stage != "land" and seat.outcome in ("waiting", "rejected"):
            outcome = "passed" if standing.subject != seat.subject else standing.outcome
            fates += _fates(seat, [Step(seat.stage, outcome, standing.reason)])
    return fates


def _fates(seat: Seat, steps: Iterable[Step]) -> list[Row]:
    """The steps as rows, without the one that the seat has taken already."""
    now = datetime.now(UTC)
    return [
        {"build": seat.build, "subject": seat.subject, "made_at": now, **step._asdict()}
        for step in steps
        if step != Step(seat.stage, seat.outcome, seat.reason)
    ]


def _changed_acceptances(books: _Books) -> list[Row]:
    """The acceptances that change: what people let land does so under their name, what they took away is withdrawn."""
    standings = [books.standings[subject] for subject in books.roots]
    lands = {standing.subject: standing for standing in standings if standing.outcome == "passed"}
    changed: list[Row] = []
    for row in books.rows["acceptances"]:
        standing = lands.get(row["subject"])
        acceptance = {name: value for name, value in row.items() if not name.startswith("asked_")}
        if standing is not None:
            wanted = {
                "build": row["build"] or row["asked_build"], "recipe": row["recipe"] or row["asked_recipe"],
                "proved": row["asked_proved"], "vouched": not row["asked_proved"], "accepted_by": standing.reviewer,
                "accepted_at": standing.reviewed_at, "withdrawn_at": None,
            }  # fmt: skip
            if acceptance != acceptance | wanted:
                changed.append(acceptance | wanted)
        elif row["build"] and row["withdrawn_at"] is None:
            changed.append(acceptance | {"withdrawn_at": datetime.now(UTC)})
    return changed


# Of several review kinds the newest word counts; what was said about a whole template is the last to count, and what was
# said about dialogue acts alone comes after all that was said about the whole sample.
_DECISIONS = """
    select subject, decision, reviewer, reviewed_at, reasons, result, kind from decisions
    where list_contains(?::varchar[], kind) and subject in (select key from samples)
    order by kind = ?, kind <> 'correction', reviewed_at
"""

# A root has a seat in the funnel of its own; an edited sample sits in the seat of its root.
_ROOTS = "select distinct d.subject from decisions d join samples s on s.key = d.subject where s.stage <> 'review'"

_DOUBTS = """
    with edited as (select distinct result as subject from decisions where decision = 'edit'),
    stopped as (
        select f.subject, arg_max(f.reason, f.made_at) as reason from fates f join edited e on e.subject = f.subject
        where f.outcome in ('waiting', 'failed') group by f.subject
    )
    select e.subject, coalesce(s.reason, case when not exists (
        select 1 from verdicts v where v.subject = e.subject
    ) then ? else '' end) as reason
    from edited e left join stopped s on s.subject = e.subject
"""

_SEATS = """
    select f.build, f.subject, arg_max(f.stage, t.position) as stage, arg_max(f.outcome, t.position) as outcome,
        arg_max(f.reason, t.position) as reason
    from fates f join decisions d on d.subject = f.subject join stages t on t.name = f.stage
    group by f.build, f.subject order by f.build, f.subject
"""

_INDEPENDENT = """
    select distinct f.build, f.subject from fates f join decisions d on d.result = f.subject
    join samples s on s.key = f.subject where s.stage <> 'review'
"""

_LANDED_EDITS = """
    select f.build, f.subject, f.reason from fates f join samples s on s.key = f.subject
    where f.stage = 'land' and s.stage = 'review'
"""

_LEAVE = """
    delete from fates using (select unnest(?::varchar[]) as build, unnest(?::varchar[]) as subject) g
    where fates.stage = 'land' and fates.build = g.build and fates.subject = g.subject
"""

# Of every sample that was decided about or came of an edit: its acceptance, the build that asked, and whether the
# newest verdict of every check proves it.
_ACCEPTANCES = """
    with family as (
        select subject, subject as asked from decisions
        union select s.key, coalesce(r.subject, s.key) from samples s
            left join reviews r on r.result = s.key where s.stage = 'review'
        union select result, subject from decisions where decision = 'edit'
    ), newest as (
        select v.subject, v.check_name, arg_max(v.decision, v.made_at) as decision
        from verdicts v where v.subject in (select subject from family) group by all
    ), proofs as (
        select subject, bool_and(decision = 'proved') as proved from newest group by subject
    ), asked as (
        select y.subject, arg_max(b.key, b.started_at) as build, arg_max(b.recipe, b.started_at) as recipe
        from family y join fates f on f.subject = y.asked join builds b on b.key = f.build group by y.subject
    )
    select k.subject, a.build, a.recipe, a.accepted_by, a.accepted_at, a.withdrawn_at, a.proved, a.vouched,
        k.build as asked_build, k.recipe as asked_recipe, coalesce(p.proved, false) as asked_proved
    from asked k left join acceptances a on a.subject = k.subject left join proofs p on p.subject = k.subject
"""
