"""Carrying out what people decided: the outcomes and acceptances that follow from it, wherever a sample has a seat.

Everything is derived from what is kept and only the difference is written. So a decision is carried out once however
often this runs, also after a crash, and a new build takes over what people said in an earlier one.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from annotation.screens import CORRECTION, DIALOGUE_ACTS, DISAMBIGUATION, SAMPLE_REVIEW
from flows.review.standings import (
    Decision,
    Resolution,
    Seat,
    is_settled_by_people,
    outcomes_of,
    resolution_of,
    settled,
)
from warehouse.outcomes import outcome_row, remove_outcomes
from warehouse.records import Outcome
from warehouse.rows import Row
from warehouse.store import Warehouse

UNCHECKED = "The edited sample has not been checked again yet."


class _Books(NamedTuple):
    """What is kept about decided samples, all of one moment."""

    decisions: dict[str, Decision]
    resolutions: dict[str, Resolution]
    roots: set[str]
    seats: list[Seat]
    rows: dict[str, list[Row]]


def settle_decisions(warehouse: Warehouse) -> None:
    """Bring outcomes and acceptances to what people decided."""
    books = _read_books(warehouse)
    outcomes, gone = _settled_seats(books)
    outcomes += _settled_edits(books)
    remove_outcomes(warehouse, [(build, "land", subject) for build, subject in gone])
    warehouse.put_rows({"outcomes": outcomes, "acceptances": _changed_acceptances(books)}, replacing=True)


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
        resolutions={subject: resolution_of(subject, decisions, doubts) for subject in decisions},
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
        return seat.decided_by == "person"
    return is_settled_by_people(seat)


def _settled_seats(books: _Books) -> tuple[list[Row], list[tuple[str, str]]]:
    """The outcomes that change, and the (build, sample) whose outcome at landing goes because another sample has the place."""
    independent = {(row["build"], row["subject"]) for row in books.rows["independent"]}
    landed = {(row["build"], row["subject"]): Seat(**row) for row in books.rows["landed_edits"]}
    outcomes: list[Row] = []
    gone: set[tuple[str, str]] = set()
    taken: set[tuple[str, str]] = set()
    for seat in books.seats:
        if seat.subject not in books.roots or not _is_settled(seat, books.decisions[seat.subject]):
            continue
        resolution = books.resolutions[seat.subject]
        place = (seat.build, resolution.subject)
        found = outcomes_of(seat, resolution, is_there=place in independent or place in taken)
        if seat.stage == "land" and found[-1].stage != "land":
            gone.add((seat.build, seat.subject))
        outcomes += _changed(seat, found)
        if resolution.subject != seat.subject and (found[-1].stage, found[-1].outcome) == ("review", "passed"):
            taken.add(place)
            edited = seat._replace(subject=resolution.subject)
            lands = settled(edited, "land", resolution).with_changes(carried_from=seat.subject)
            outcomes += _changed(landed.get(place), [lands])
    return outcomes, sorted(gone | (landed.keys() - taken))


def _settled_edits(books: _Books) -> list[Row]:
    """The outcomes of edited samples that were contradicted, and that people decided about since."""
    outcomes: list[Row] = []
    for seat in books.seats:
        resolution = None if seat.subject in books.roots else books.resolutions.get(seat.subject)
        if resolution is not None and seat.stage != "land" and seat.outcome in ("waiting", "rejected"):
            is_itself = resolution.subject == seat.subject
            decided = resolution if is_itself else resolution._replace(outcome="passed")
            outcomes += _changed(seat, [settled(seat, seat.stage, decided)])
    return outcomes


def _changed(seat: Seat | None, outcomes: Iterable[Outcome]) -> list[Row]:
    """The outcomes as rows, without the one that the seat has already; None is a seat that is not taken yet."""
    before = None if seat is None else Outcome(**seat._asdict())
    return [outcome_row(outcome) for outcome in outcomes if outcome != before]


def _changed_acceptances(books: _Books) -> list[Row]:
    """The acceptances that change: what people let land does so under their name, what they took away is withdrawn."""
    resolutions = [books.resolutions[subject] for subject in books.roots]
    lands = {one.subject: one for one in resolutions if one.outcome == "passed"}
    changed: list[Row] = []
    for row in books.rows["acceptances"]:
        resolution = lands.get(row["subject"])
        acceptance = {name: value for name, value in row.items() if not name.startswith("asked_")}
        if resolution is not None:
            wanted = {
                "build": row["build"] or row["asked_build"], "recipe": row["recipe"] or row["asked_recipe"],
                "proved": row["asked_proved"], "vouched": not row["asked_proved"], "accepted_by": resolution.reviewer,
                "decided_by": "person", "accepted_at": resolution.reviewed_at, "withdrawn_at": None,
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
        select f.subject, arg_max(f.reason, f.made_at) as reason from outcomes f join edited e on e.subject = f.subject
        where f.outcome in ('waiting', 'failed') group by f.subject
    )
    select e.subject, coalesce(s.reason, ?) as reason
    from edited e left join stopped s on s.subject = e.subject
    where s.subject is not null or not exists (select 1 from verdicts v where v.subject = e.subject)
"""

_SEATS = """
    select f.* exclude (made_at) from outcomes f join stages t on t.name = f.stage
    where f.subject in (select subject from decisions)
    qualify row_number() over (partition by f.build, f.subject order by t.position desc) = 1
    order by f.build, f.subject
"""

_INDEPENDENT = """
    select distinct f.build, f.subject from outcomes f join decisions d on d.result = f.subject
    join samples s on s.key = f.subject where s.stage <> 'review'
"""

_LANDED_EDITS = """
    select f.* exclude (made_at) from outcomes f join samples s on s.key = f.subject
    where f.stage = 'land' and s.stage = 'review'
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
        from family y join outcomes f on f.subject = y.asked join builds b on b.key = f.build group by y.subject
    )
    select k.subject, a.build, a.recipe, a.accepted_by, a.decided_by, a.accepted_at, a.withdrawn_at, a.proved, a.vouched,
        k.build as asked_build, k.recipe as asked_recipe, coalesce(p.proved, false) as asked_proved
    from asked k left join acceptances a on a.subject = k.subject left join proofs p on p.subject = k.subject
"""
