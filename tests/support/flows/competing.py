"""Samples in whose responses other entries fit as well, put where a build would have left them."""

import copy
from datetime import UTC, datetime, timedelta
from typing import Any

from callwright.annotation.picks import Contest, contests_of
from callwright.warehouse.records import ResultTurn, Sample, UserTurn, Verdict
from callwright.warehouse.rows import rows_of
from tests.support.flows.review_sites import ReviewSite


def can_have_a_twin(sample: Sample) -> bool:
    """Whether an entry of a response is picked by what it holds, so that another one could be
    picked as well.
    """
    return any(_is_pick_of_an_entry(one) for one in contests_of(sample))


def with_twins(sample: Sample, count: int = 1) -> Sample:
    """The sample with copies of an entry that is picked, which differ in what is picked of it
    alone.
    """
    contest = next(one for one in contests_of(sample) if _is_pick_of_an_entry(one))
    turn = sample.turns[contest.turn]
    assert isinstance(turn, ResultTurn)
    found = copy.deepcopy(turn.results[contest.result])
    held: Any = found
    for piece in contest.entries.split("."):
        held = held[piece]
    chosen = held[contest.chosen[0]]
    field = contest.picks[0].rule.field
    held += [
        {**copy.deepcopy(chosen), field: _other(chosen[field], number)}
        for number in range(1, count + 1)
    ]
    results = tuple(
        found if number == contest.result else one for number, one in enumerate(turn.results)
    )
    turns = list(sample.turns)
    turns[contest.turn] = turn.with_changes(results=results)
    asked = turns[0]
    assert isinstance(asked, UserTurn)
    turns[0] = asked.with_changes(
        text=f"{asked.text} Many thanks."
    )  # so that what is left is another sample
    return sample.with_changes(turns=tuple(turns))


def let_wait(site: ReviewSite, sample: Sample, like: str) -> None:
    """Let a sample wait for people in the seat of one that landed."""
    [(_, row)] = rows_of([sample], datetime.now(UTC))
    outcomes = site.rows("select * from outcomes where subject = ? and stage <> 'land'", like)
    seats = site.rows("select * from build_samples where sample = ?", like)
    changed = [
        one
        | {"subject": sample.key}
        | (
            {"outcome": "waiting", "reason_code": "unproved", "reason": "path: -"}
            if one["stage"] == "review"
            else {}
        )
        for one in outcomes
    ]
    site.warehouse.execute("delete from outcomes where subject = ?", [like])
    site.warehouse.execute("delete from acceptances where subject = ?", [like])
    site.warehouse.put_rows(
        {
            "samples": [row],
            "outcomes": changed,
            "build_samples": [one | {"sample": sample.key} for one in seats],
        }
    )


def doubt_the_path(site: ReviewSite, key: str, reason: str = "Another path is as short.") -> None:
    """Let the newest word about the path of a sample be a doubt."""
    verdict = Verdict(subject=key, check="path", decision="unproved", reason=reason)
    [(table, row)] = rows_of([verdict], datetime.now(UTC) + timedelta(minutes=1))
    site.warehouse.put_rows({table: [row]})


def _other(value: Any, number: int) -> Any:
    """Another value of the same form."""
    if isinstance(value, int | float):
        return value + number
    return (
        f"{value[:-1]}{(int(value[-1]) + number) % 10}"
        if value[-1:].isdigit()
        else f"{value}{number}"
    )


def _is_pick_of_an_entry(contest: Contest) -> bool:
    rule = contest.picks[0].rule
    return bool(rule.where and rule.entries and rule.field.isidentifier())
