"""Samples as the page looks for them: by words and filters, page by page, and one with all that is known of it."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from callwright.warehouse.rows import Row, RowPage
from callwright.warehouse.store import Warehouse

SampleState = Literal["landed", "waiting", "rejected", "withdrawn", "other"]
PAGE = 50
_MOST_CHOICES = 400


class SampleFilter(NamedTuple):
    """What is looked for; "" asks for nothing. `words` must all stand in the sample, or begin its key.

    `tool` is called by the sample, `check` doubts it, `reviewer` has spoken about it, and somebody for a `reason`; `build` is a
    key, or NEWEST for the newest of each recipe; `release` is a name, or name:split.
    """

    words: str = ""
    kind: str = ""
    language: str = ""
    category: str = ""
    tool: str = ""
    grade: str = ""
    state: str = ""
    check: str = ""
    build: str = ""
    reviewer: str = ""
    release: str = ""
    reason: str = ""


class SampleDetail(NamedTuple):
    """One sample with the rows that speak of it; `ancestors` and `children` are one row for each link."""

    sample: Row
    tools: list[Row]
    verdicts: list[Row]
    outcomes: list[Row]
    reviews: list[Row]
    ancestors: list[Row]
    children: list[Row]
    releases: list[Row]
    calls: list[Row]
    prompts: list[Row]


_WITH_STATE = """
    select p.*, a.grade, a.judged_by, a.build, case
        when a.subject is not null then if(a.withdrawn_at is null, 'landed', 'withdrawn')
        when exists (select 1 from outcomes o where o.subject = p.key and o.outcome = 'waiting') then 'waiting'
        when exists (select 1 from outcomes o where o.subject = p.key and o.outcome = 'rejected') then 'rejected'
        else 'other' end as state
    from p left join acceptances a on a.subject = p.key
"""
NEWEST = "newest"
_LANDED = "s.key in (select subject from acceptances where withdrawn_at is null)"
_STATES: dict[str, str] = {
    one: f"s.key in (select subject from outcomes where outcome = '{one}') and s.key not in (select subject from acceptances)"
    for one in ("waiting", "rejected")
} | {
    "landed": _LANDED,
    "withdrawn": "s.key in (select subject from acceptances where withdrawn_at is not null)",
}
# Why somebody turned down what they were not tested with.
_REASONS = """
    select subject, reasons from standing_reviews r
    where not exists (select 1 from gold_items g where g.subject = r.subject and g.kind = r.kind)
"""
_CLAUSES: dict[str, str] = {
    "kind": "s.kind = ?",
    "language": "s.language = ?",
    "category": "s.category = ?",
    # Of most samples the last calls are all there are: only the others are looked through.
    "tool": "(contains(s.gold::varchar, $) or (coalesce(s.call_turns, 2) > 1 and contains(s.body::varchar, $)))",
    "grade": "s.key in (select subject from acceptances where withdrawn_at is null and grade = ?)",
    "check": "s.key in (select subject from newest_verdicts where check_name = ? and decision <> 'proved')",
    "build": f"""s.key in (
        select sample from build_samples m join (select ? as asked) on m.build = asked
            or (asked = '{NEWEST}' and m.build in (select build from latest_builds))
    )""",
    "reviewer": "s.key in (select subject from standing_reviews where reviewer = ?)",
    "release": "s.key in (select subject from release_samples where ? in (release, release || ':' || split))",
    "reason": f"s.key in (select subject from ({_REASONS}) where list_contains(reasons, ?))",
}
_CHOICES = f"""
    select 'kind' as field, kind as value, count(*) as samples from samples group by kind
    union all select 'language', language, count(*) from samples group by language
    union all select 'category', category, count(*) from samples group by category
    union all (
        select 'tool', tool, count(*) as samples
        from (select unnest(json_extract_string(gold, '$[*].tool')) as tool from samples)
        group by tool order by samples desc, tool limit {_MOST_CHOICES}
    )
    union all select 'grade', grade, count(*) from acceptances where withdrawn_at is null group by grade
    union all select 'check', check_name, count(*) from newest_verdicts where decision <> 'proved' group by check_name
    union all (
        select 'build', b.key, count(*) from builds b join build_samples m on m.build = b.key
        group by b.key, b.started_at order by b.started_at desc limit {_MOST_CHOICES}
    )
    union all select 'reviewer', reviewer, count(distinct subject) from standing_reviews group by reviewer
    union all select 'release', release, count(*) from release_samples group by release
    union all select 'release', release || ':' || split, count(*) from release_samples where split <> '' group by release, split
    union all select 'reason', reason, count(distinct subject)
        from (select subject, unnest(reasons) as reason from ({_REASONS})) group by reason
"""


def find_samples(warehouse: Warehouse, wanted: SampleFilter, page: int = 0, size: int = PAGE) -> RowPage:
    """The samples that `wanted` lets through, in the order of their keys, which is no order at all."""
    condition, values = _where(wanted)
    found = warehouse.rows_by_name(
        {
            "rows": (
                f"""with p as (
                    select key, kind, language, category, request, gold, call_turns, calls from samples s
                    where {condition} order by key limit ? offset ?
                ) {_WITH_STATE} order by p.key""",
                [*values, size, page * size],
            ),
            "total": (f"select count(*) as samples from samples s where {condition}", values),
        }
    )
    return RowPage(found["rows"], found["total"][0]["samples"])


def choose_samples(warehouse: Warehouse, most: int) -> list[str]:
    """The keys of at most so many samples, spread over kinds and languages.

    First come those that candidates got wrong or people were asked about.
    """
    rows = warehouse.rows(
        """
        with asked as (
            select subject from review_requests
            union select subject from predictions where error_type <> ''
            union select subject from multi_step_runs where not success
        )
        select s.key from samples s left join asked a on a.subject = s.key
        order by row_number() over (partition by s.kind, s.language order by a.subject is null, s.key), s.key limit ?""",
        [most],
    )
    return [row["key"] for row in rows]


def samples_of(warehouse: Warehouse, keys: Sequence[str]) -> list[Row]:
    """These samples as a list shows them, each with the values of all filters that let it through (`facets`)."""
    return warehouse.rows(
        f"""
        with wanted as (select unnest(?::varchar[]) as key), p as (
            select key, kind, language, category, request, gold, call_turns, calls, body from samples where key in (from wanted)
        ), q as ({_WITH_STATE}), found as (
            select subject, 'check=' || check_name as facet from newest_verdicts
            where subject in (from wanted) and decision <> 'proved'
            union select sample, 'build=' || build from build_samples where sample in (from wanted)
            union select subject, 'reviewer=' || reviewer from standing_reviews where subject in (from wanted)
            union select subject, 'release=' || unnest([release, release || ':' || split])
            from release_samples where subject in (from wanted)
            union select subject, 'reason=' || unnest(reasons) from ({_REASONS}) where subject in (from wanted)
            union select key, 'tool=' || unnest(json_extract_string(body, '$.turns[*].calls[*].tool')) from p
        )
        select q.* exclude (body), list_concat(
            ['kind=' || kind, 'language=' || language, 'category=' || category, 'state=' || state, 'grade=' || coalesce(grade, '')],
            coalesce((select list(facet order by facet) from found where subject = q.key and facet <> ''), [])
        ) as facets
        from q order by q.key""",
        [list(keys)],
    )


def neighbours(warehouse: Warehouse, wanted: SampleFilter, key: str) -> tuple[str, str]:
    """The keys before and after `key` among the samples that `wanted` lets through, "" at the ends."""
    condition, values = _where(wanted)
    row = warehouse.rows(
        f"""select
            (select max(key) from samples s where {condition} and key < ?) as before,
            (select min(key) from samples s where {condition} and key > ?) as after""",
        [*values, key, *values, key],
    )[0]
    return row["before"] or "", row["after"] or ""


def count_samples(warehouse: Warehouse) -> int:
    """How many samples there are."""
    return int(warehouse.rows("select count(*) as samples from samples")[0]["samples"])


def filter_choices(warehouse: Warehouse) -> dict[str, list[Row]]:
    """What each filter can be set to, with the number of samples."""
    choices: dict[str, list[Row]] = {}
    for row in warehouse.rows(f"select * from ({_CHOICES}) where value <> '' order by field, samples desc, value"):
        choices.setdefault(row["field"], []).append(row)
    return choices


def read_sample(warehouse: Warehouse, key: str) -> SampleDetail | None:
    """A sample with all that is known of it, None where there is none."""
    found = warehouse.rows_by_name({name: (sql, [key]) for name, sql in _OF_A_SAMPLE.items()})
    if not found["sample"]:
        return None
    versions = sorted({one for row in found["ancestors"] for one in row["prompt_version"].split("+")})
    found["prompts"] = warehouse.rows("select * from prompts where list_contains(?::varchar[], version)", [versions])
    return SampleDetail(found["sample"][0], **{name: rows for name, rows in found.items() if name != "sample"})


_OF_A_SAMPLE = {
    "sample": f"with p as (select * from samples where key = ?) {_WITH_STATE}",
    "tools": """
        select t.* from samples s, unnest(json_extract_string(s.body, '$.candidates[*]')) with ordinality as c(tool, place)
        join tools t on t.key = c.tool where s.key = ? order by c.place""",
    "verdicts": """
        select v.check_name, t.position, v.decision, v.grade, v.reason, v.evidence, v.open_arguments, v.model, v.version, v.score
        from newest_verdicts v left join stages t on t.name = v.check_name where v.subject = ?
        order by t.position, v.check_name""",
    "outcomes": """
        select o.build, b.recipe, o.stage, o.outcome, o.reason_code, o.reason, o.decided_by, o.decided_who, o.carried_from
        from outcomes o left join builds b on b.key = o.build left join stages t on t.name = o.stage
        where o.subject = ? and (o.outcome <> 'passed' or o.stage = 'land') order by t.position""",
    "reviews": """
        select kind, decision, reviewer, reviewed_at, reasons, comment, seconds, result, round
        from standing_reviews where subject = ? order by reviewed_at""",
    "ancestors": """
        with recursive links as (
            select key, parents from samples
            union all select key, parents from drafts
            union all select tool, list(draft) from made_tools group by tool
        ), up as (
            select ?::varchar as key, 0 as distance
            union
            select unnest(l.parents), up.distance + 1 from up join links l on l.key = up.key where up.distance < 32
        )
        select u.key, u.distance, coalesce(s.parents, d.parents, []) as parents,
            coalesce(d.type, if(s.key is not null, 'Sample', if(t.key is not null, 'Tool', ''))) as type,
            coalesce(s.stage, d.stage, t.source, '') as stage, coalesce(s.model, d.model, '') as model,
            coalesce(s.prompt_version, d.prompt_version, '') as prompt_version, coalesce(s.request, t.name, '') as title, d.body
        from (select key, max(distance) as distance from up group by key) u
        left join samples s on s.key = u.key left join drafts d on d.key = u.key left join tools t on t.key = u.key
        order by u.distance, type, title""",
    "children": """
        select key, kind, language, request, stage from samples where list_contains(parents, ?)
        order by stage, kind, key limit 50""",
    "releases": """
        select r.release, n.created_at from release_samples r left join releases n on n.name = r.release
        where r.subject = ? order by n.created_at""",
    "calls": """
        select stage, model, count(*) as calls, count(*) filter (cached) as cached, sum(cost) as cost
        from llm_calls where subject = ? group by all order by min(made_at)""",
}


def _where(wanted: SampleFilter) -> tuple[str, Sequence[Any]]:
    """The condition on `samples s` and its values."""
    clauses, values = ["true"], list[Any]()
    for name, clause in _CLAUSES.items():
        value = getattr(wanted, name)
        if value:
            clauses.append(clause.replace("$", "?"))
            values += [f'"tool":"{value}"'] * 2 if name == "tool" else [value]
    if wanted.state:
        clauses.append(_STATES.get(wanted.state, f"not ({_LANDED})"))
    for word in wanted.words.split():
        clauses.append(
            "(contains(lower(s.request), ?) or starts_with(s.key, ?) or contains(lower(s.gold::varchar), ?))"
        )
        values += [word.lower()] * 3
    return " and ".join(clauses), values
