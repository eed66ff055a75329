"""How far reviewers agree: computed over what they said, and kept as rows of the table `agreement`."""

from collections import defaultdict
from datetime import UTC, datetime

from annotation.agreement import Word, measure_agreement
from flows.settings import Settings, open_warehouse
from warehouse.rows import Row
from warehouse.store import Warehouse


def note_agreement(warehouse: Warehouse) -> None:
    """Compute anew how far people agree, of each review kind, and keep that in the place of what was known."""
    words: defaultdict[str, list[Word]] = defaultdict(list)
    for row in warehouse.rows(_WORDS):
        words[row["kind"]].append(Word(row["subject"], row["reviewer"], row["decision"], tuple(row["reasons"])))
    now = datetime.now(UTC)
    rows = [
        {"kind": kind, **found._asdict(), "computed_at": now}
        for kind, said in words.items()
        for found in measure_agreement(said)
    ]
    warehouse.put_rows({"agreement": rows})
    warehouse.execute("delete from agreement where computed_at <> ?", [now])


def agreement_report(settings: Settings) -> dict[str, list[Row]]:
    """How far reviewers agree, how they do on gold items, and what share of what was drawn is usable."""
    warehouse = open_warehouse(settings)
    note_agreement(warehouse)
    return warehouse.rows_by_name({name: (sql, []) for name, sql in _REPORT.items()})


# The words about each thing of the newest round in which two or more spoke. Who was asked only because the others did not
# agree does not count: such words come only where others differ, and would bend the figures. So of each thing only as many
# words count, the first ones, as the recipe asks for, or as the least that was answered in full has.
_WORDS = """
    with said as (
        select w.kind, w.subject, w.reviewer, w.decision, w.reasons, w.round, coalesce(q.cause, '') as cause,
            coalesce(q.reviewers, 1) as reviewers, coalesce(
                try_cast(b.body ->> '$.review.reviewers' as integer),
                try_cast(json_extract_string(b.body -> '$.review.reviewers', '$."' || q.cause || '"') as integer), 1
            ) as by_rule,
            count(*) over same as speakers, row_number() over (same order by w.spoke_at, w.reviewer) as place
        from review_words w
        left join review_requests q on q.subject = w.subject and q.kind = w.kind
        left join builds b on b.key = q.build
        where w.annotation_id > 0
            and not exists (select 1 from gold_items g where g.subject = w.subject and g.kind = w.kind)
        window same as (partition by w.subject, w.kind, w.round)
    ), several as (
        select * from said where speakers > 1
        qualify round = max(round) over (partition by subject, kind)
    ), counted as (
        select *, least(greatest(by_rule, 2), coalesce(
            min(speakers) filter (speakers >= reviewers) over (partition by kind, cause), 9
        )) as wanted
        from several
    )
    select kind, subject, reviewer, decision, reasons from counted where place <= wanted order by kind, subject, place
"""
_REPORT = {
    "agreement": "from agreement order by kind, slice_by, slice_value, measure",
    "gold_items": "from annotator_accuracy",
    "usable": "from usable_share",
}
