"""What the report says, read from the warehouse's views."""

from typing import NamedTuple

from warehouse.rows import Row
from warehouse.store import Warehouse

FUNNEL_OUTCOMES = ("passed", "rejected", "failed", "waiting")


class ReportFacts(NamedTuple):
    """The rows behind each section."""

    builds: list[Row]
    funnel: list[Row]
    accepted: list[Row]
    categories: list[Row]
    checks: list[Row]
    waiting: list[Row]
    leaderboard: list[Row]
    kinds: list[Row]
    scores: list[Row]
    errors: list[Row]
    answers: list[Row]
    domains: list[Row]
    parameter_types: list[Row]
    steps: list[Row]
    cost: list[Row]


def read_facts(warehouse: Warehouse) -> ReportFacts:
    """Read every section's rows, each by one query."""
    return ReportFacts(**{name: warehouse.rows(sql) for name, sql in _QUERIES.items()})


_METRICS = ("func_acc", "args_acc", "pn_hr", "pn_mr", "pr", "sr")
# One run of a model in one context, named as shortly as it can be told from the others.
_NAME = (
    "model || if(strategy not in ('direct', 'native'), ' by ' || strategy, '')"
    " || if(tools_shown = 'always', ' (all tools always)', '') || if(run > 0, ' run ' || (run + 1), '')"
)
_CANDIDATE = f"{_NAME} as candidate"
# And the way that it went through multi-step samples, where that is told apart.
_WAY = "if(judge <> '', ' judged by ' || judge, '') || if(mode = 'as_published_code', ' (published code)', '')"
_QUERIES = {
    "builds": """
        select l.recipe, l.build, l.started_at, count(*) filter (f.stage = 'parameters') as planned,
            count(*) filter (f.stage = 'land' and f.outcome = 'passed') as landed,
            count(*) filter (f.outcome = 'waiting') as waiting, count(*) filter (f.outcome = 'failed') as failed,
            count(*) filter (f.outcome = 'rejected') as rejected
        from latest_builds l join fates f on f.build = l.build group by all order by l.started_at desc""",
    "funnel": """
        select stage, min(position) as position, sum(entered) as entered, sum(passed) as passed, sum(rejected) as rejected,
            sum(failed) as failed, sum(waiting) as waiting
        from funnel where is_latest group by stage order by position""",
    "accepted": """
        select kind, language, count(*) as samples, count(*) filter (proved) as proved, count(*) filter (vouched) as vouched
        from accepted_samples group by all order by kind, language""",
    "categories": "select category, count(*) as samples from accepted_samples group by all order by samples desc, category",
    "checks": "select * from check_precision",
    "waiting": """
        select cause, count(*) as samples, count(*) filter (pushed_at is not null) as pushed,
            count(*) filter (exists (select 1 from reviews v where v.subject = r.subject and v.kind = r.kind)) as reviewed
        from review_requests r group by cause order by cause""",
    "leaderboard": "select * from leaderboard",
    "kinds": f"""
        select release, {_CANDIDATE}, judge, slice_value as kind, max(conversations) as conversations,
            {", ".join(f"max({name}) filter (snapshots = 'all') as {name}" for name in _METRICS)},
            max(args_acc) filter (snapshots = 'shift') as args_acc_at_shift, max(coalesce(irrelevant, intent_shift)) as stopped
        from metrics_by_slice where slice_by = 'kind' group by all having count(func_acc) + count(no_call) > 0
        order by release, kind, candidate, judge""",  # noqa: S608 - our own names
    "scores": f"""
        select release, {_CANDIDATE}, metric, slice_by, slice_value, value, count from scores
        where slice_by <> 'all' and snapshots = 'all' and judge = ''
        order by release, candidate, metric, slice_by, slice_value""",  # noqa: S608
    "errors": f"""
        select release, {_NAME} || {_WAY} as candidate, error_type, sum(predictions) as predictions from error_types
        group by all order by all""",  # noqa: S608
    "answers": """
        select * from answer_board where slice_by in ('all', 'difficulty')
        order by release, model, strategy, tools_shown, run, slice_by, slice_value""",
    "domains": "select * from domain_board",
    "parameter_types": """
        select release, model, mode, judge, parameter_type, sum(due) as due, sum(wrong) as wrong,
            sum(wrong) / sum(due) as error_rate
        from parameter_type_errors group by all order by release, model, mode, judge, error_rate desc, parameter_type""",
    "steps": """
        select release, model, mode, judge, extra_steps, sum(runs) as runs, sum(successes) as successes
        from step_distribution group by all order by release, model, mode, judge, extra_steps""",
    "cost": "select * from cost_per_accepted where build in (select build from latest_builds)",
}
