"""Evaluations as the page shows them: who got what right, where and how they went wrong, and two candidates item by item.

A contestant is one run of a candidate by one strategy. An item is what was asked once: a snapshot, or a whole multi-step sample;
where a run over one was scored in several ways, as the paper says and by rule counts first.
"""

from collections.abc import Sequence
from typing import NamedTuple

from callwright.warehouse.rows import Row, RowPage
from callwright.warehouse.store import Warehouse

PAGE = 20
SLICES = ("kind", "language", "category", "split")
_ANSWERS = 60


class ItemFilter(NamedTuple):
    """Which items of a release are looked for; "" asks for nothing. `verdict` is right, wrong or unjudged."""

    contestant: str = ""
    kind: str = ""
    language: str = ""
    category: str = ""
    split: str = ""
    error: str = ""
    verdict: str = ""


class ReleaseDetail(NamedTuple):
    """A release with its leaderboard (a row a contestant), the same by slices, the mistakes, and the papers' metrics.

    `passes` and `means` are of those who were asked several times: pass^k, and their metrics over all runs.
    """

    release: Row
    board: list[Row]
    slices: list[Row]
    errors: list[Row]
    metrics: list[Row]
    passes: list[Row]
    means: list[Row]


class Comparison(NamedTuple):
    """Two contestants on the samples that both answered: how many which of them passes, and by kind; the items where they differ.

    A sample is passed where each of its items is right.
    """

    counts: Row
    kinds: list[Row]
    items: list[Row]
    differing: int


def _items(releases: str = "true") -> str:
    """All items of the releases that the condition on `release` lets through."""
    of_split = """left join (select release as of_release, subject as of_sample, split from release_samples) m"""
    return f"""items as (
        select p.release, p.candidate, p.strategy, p.tools_shown, p.run,
            p.candidate || '~' || p.strategy || '~' || p.tools_shown || '~' || p.run as contestant,
            p.subject as sample, p.turn, p.key as prediction,
            case when p.error_type is null then null else p.error_type = '' end as verdict,
            coalesce(p.error_type, '') as error_type, s.kind, s.language, s.category, coalesce(m.split, '') as split
        from predictions p join samples s on s.key = p.subject {of_split} on m.of_release = p.release and m.of_sample = p.subject
        where {releases}
        union all
        select r.release, r.candidate, r.strategy, 'first', r.run,
            r.candidate || '~' || r.strategy || '~first~' || r.run,
            r.subject, -1, r.key, r.success, if(r.success, '', coalesce(nullif(r.error_type, ''), 'no_success')),
            s.kind, s.language, s.category, coalesce(m.split, '') as split
        from (
            from multi_step_runs where {releases} qualify row_number() over (
                partition by release, candidate, strategy, run, subject order by mode <> 'as_paper', judge <> '', made_at desc
            ) = 1
        ) r join samples s on s.key = r.subject {of_split} on m.of_release = r.release and m.of_sample = r.subject
    )"""


# Items of one sample depend on each other: an interval needs sums over samples of what was judged (j) and is right (r).
_SUMS = """sum(j)::bigint as judged, sum(r)::bigint as right_items, count(*) filter (j > 0) as samples, sum(r * r)::double as rr,
    sum(r * j)::double as rj, sum(j * j)::double as jj"""


def _board(releases: str = "true") -> str:
    """A row a contestant of these releases, without an order."""
    return f"""
    with {_items(releases)}, spent as (
        select release, candidate, sum(cost) as cost, quantile_cont(latency, 0.5) filter (not cached) as latency
        from llm_calls where release <> '' and candidate <> '' group by all
    ), by_sample as (
        select release, contestant, candidate, strategy, tools_shown, run, sample, count(*) as items, count(verdict) as j,
            count(*) filter (verdict) as r
        from items group by all
    ), counted as (
        select release, contestant, candidate, strategy, tools_shown, run, sum(items)::bigint as items, {_SUMS}
        from by_sample group by all
    )
    select c.*, s.cost, s.latency from counted c left join spent s using (release, candidate)
    """


_ONE = "release = $1"
_BEST_FIRST = "c.right_items / nullif(c.judged, 0) desc nulls last, c.contestant"
_COLUMNS = {name: name for name in ("contestant", *SLICES)} | {"error": "error_type"}
_VERDICTS = {"right": "verdict", "wrong": "not verdict", "unjudged": "verdict is null"}
# What is shown of an item: the calls that were due and those that were made, of a multi-step sample those of all its steps.
_SHOWN = """
    select i.prediction, i.release, i.candidate, i.strategy, i.tools_shown, i.run, i.sample, i.kind, i.language, i.category,
        i.turn, i.snapshot, i.snapshots, if(i.turn is null, to_json(json_extract(s.body, '$.turns[*].calls[*]')), i.due) as due,
        i.calls, i.text, i.problem, i.verdict, coalesce(i.error_type, '') as error_type, i.judge_agrees, i.mode, i.judge,
        coalesce(list_filter(
            json_extract(s.body, '$.turns[*]')[:i.turn], lambda one: json_extract_string(one, '$.kind') = 'user'
        )[-1] ->> 'text', s.request) as request
    from prediction_items i join samples s on s.key = i.sample
"""


def list_boards(warehouse: Warehouse) -> list[Row]:
    """The leaderboards of all releases: a row a contestant."""
    return warehouse.rows(
        f"""{_board()} left join releases r on r.name = c.release
        order by r.created_at desc nulls last, c.release, {_BEST_FIRST}"""
    )


def list_mistakes(warehouse: Warehouse) -> list[Row]:
    """How often each contestant went wrong on each release, by error type."""
    return warehouse.rows(
        f"""with {_items()} select release, contestant, error_type, count(*) as items from items
        where not verdict group by all order by all"""
    )


def list_releases_asked(warehouse: Warehouse) -> list[Row]:
    """All releases, the newest first, with the number of contestants."""
    return warehouse.rows(
        """
        select r.name, r.samples, r.created_at, r.note, r.content_hash, r.version, count(distinct p.candidate) as candidates
        from releases r left join (
            select distinct release, candidate from predictions union select distinct release, candidate from multi_step_runs
        ) p on p.release = r.name
        group by all order by r.created_at desc"""
    )


def read_release(warehouse: Warehouse, name: str) -> Row | None:
    """A release by its name, None where there is none."""
    return next(iter(warehouse.rows("select * from releases where name = ?", [name])), None)


def read_board(warehouse: Warehouse, name: str) -> list[Row]:
    """The leaderboard of one release: a row a contestant."""
    return warehouse.rows(f"{_board(_ONE)} order by {_BEST_FIRST}", [name])


def read_evaluation(warehouse: Warehouse, name: str) -> ReleaseDetail | None:
    """A release with its leaderboard, None where there is no such release."""
    slices = " union all ".join(
        f"""select '{one}' as slice_by, {one} as slice_value, contestant, {_SUMS} from (
            select {one}, contestant, sample, count(verdict) as j, count(*) filter (verdict) as r from items group by all
        ) group by all"""
        for one in SLICES
    )
    found = warehouse.rows_by_name(
        {
            "release": ("select * from releases where name = ?", [name]),
            "board": (f"{_board(_ONE)} order by {_BEST_FIRST}", [name]),
            "slices": (
                f"with {_items(_ONE)} select * from ({slices}) where judged > 0 order by slice_by, slice_value",
                [name],
            ),
            "errors": (
                f"""with {_items(_ONE)} select contestant, kind, error_type, count(*) as items from items
                where not verdict group by all order by kind""",
                [name],
            ),
            "metrics": (
                """select * exclude (value), value from scores
                where release = ? and split = '' and slice_by = 'all' and snapshots = 'all' order by metric""",
                [name],
            ),
            "passes": (
                """select * from pass_k where release = ? and split = '' and kind = 'all' and runs > 1
                order by candidate, strategy, tools_shown, mode, judge, k""",
                [name],
            ),
            "means": (
                """select * from run_means where release = ? and split = '' and slice_by = 'all' and snapshots = 'all' and runs > 1
                order by metric, candidate, strategy, tools_shown, judge""",
                [name],
            ),
        }
    )
    return ReleaseDetail(found.pop("release")[0], **found) if found["release"] else None


def find_items(warehouse: Warehouse, release: str, wanted: ItemFilter, page: int = 0, size: int = PAGE) -> RowPage:
    """The items of a release that the filter lets through."""
    given = {column: getattr(wanted, name) for name, column in _COLUMNS.items() if getattr(wanted, name)}
    clauses = [f"{column} = ${place}" for place, column in enumerate(given, 2)]
    condition = " and ".join([*clauses, _VERDICTS.get(wanted.verdict, "true")])
    found = warehouse.rows(
        f"""with {_items(_ONE)} select prediction, count(*) over () as total from items where {condition}
        order by sample, turn, contestant limit {size} offset {page * size}""",
        [release, *given.values()],
    )
    return RowPage(_shown(warehouse, [row["prediction"] for row in found]), found[0]["total"] if found else 0)


def answers_to(warehouse: Warehouse, sample: str) -> list[Row]:
    """What candidates answered to a sample, first what is wrong."""
    return warehouse.rows(
        f"{_SHOWN} where i.sample = ? order by i.verdict nulls last, i.release, i.candidate, i.turn limit {_ANSWERS}",
        [sample],
    )


def compare(warehouse: Warehouse, release: str, one: str, other: str, page: int = 0) -> Comparison:
    """Two contestants on the items of a release that both answered and that were judged."""
    paired = f"""with {_items(_ONE)}, paired as (
        select a.sample, a.turn, a.kind, a.verdict as one_right, b.verdict as other_right,
            a.prediction as one, b.prediction as other
        from items a join items b on b.sample = a.sample and b.turn = a.turn
        where a.contestant = $2 and b.contestant = $3 and a.verdict is not null and b.verdict is not null
    )"""
    counts = """count(*) as samples, count(*) filter (one_passes and other_passes) as both_pass,
        count(*) filter (one_passes and not other_passes) as only_one,
        count(*) filter (other_passes and not one_passes) as only_other,
        count(*) filter (not one_passes and not other_passes) as neither_passes
        from (
            select sample, kind, bool_and(one_right) as one_passes, bool_and(other_right) as other_passes from paired group by all
        )"""
    values = [release, one, other]
    found = warehouse.rows_by_name(
        {
            "counts": (f"{paired} select {counts}", values),
            "kinds": (f"{paired} select kind, {counts} group by kind order by kind", values),
            "differing": (f"{paired} select count(*) as items from paired where one_right <> other_right", values),
            "items": (
                f"""{paired} select * from paired where one_right <> other_right
                order by one_right, sample, turn limit {PAGE} offset {page * PAGE}""",
                values,
            ),
        }
    )
    shown = {
        row["prediction"]: row
        for row in _shown(warehouse, [row[side] for row in found["items"] for side in ("one", "other")])
    }
    items = [row | {"one": shown[row["one"]], "other": shown[row["other"]]} for row in found["items"]]
    return Comparison(found["counts"][0], found["kinds"], items, found["differing"][0]["items"])


def _shown(warehouse: Warehouse, predictions: Sequence[str]) -> list[Row]:
    """Items as they are shown, in this order."""
    if not predictions:
        return []
    places = ", ".join("?" * len(predictions))  # a list of values reaches the tables beneath the view, a query does not
    rows = warehouse.rows(f"{_SHOWN} where i.prediction in ({places})", predictions)
    by_key = {row["prediction"]: row for row in rows}
    return [by_key[key] for key in predictions if key in by_key]
