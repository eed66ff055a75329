"""Time the usual queries on a warehouse of made-up rows.

Usage: `python -m bench.warehouse_size [--samples N] [--json]`. Each sample has 14 outcomes, 7
verdicts and a request to a model; every twentieth is in doubt and under review; the accepted
samples are a release that four candidates answered. Every command runs in its own process with
DuckDB limited to `--memory`. `--filled FILE` keeps the filled warehouse for the next time; each
run works on a copy of it. Measurements are printed to stderr as they come.
"""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from bench.processes import cores, watch
from callwright.flows.settings import environment
from callwright.warehouse.browsing import SampleFilter, find_samples
from callwright.warehouse.comments import list_views
from callwright.warehouse.engine import Connection
from callwright.warehouse.store import Warehouse

_BATCH = 20_000
_COMMANDS = {
    "review status": ["-m", "callwright", "review", "status"],
    "priorities": [
        "-c",
        (
            "from callwright.flows.settings import open_warehouse; from"
            " callwright.flows.review.questions import set_priorities;"
            " set_priorities(open_warehouse())"
        ),
    ],
    "publish": ["-m", "callwright", "publish"],
    "release create": [
        "-m",
        "callwright",
        "release",
        "create",
        "made",
        "--splits",
        "train=0.8,validation=0.1,test=0.1",
    ],
    "release verify": ["-m", "callwright", "release", "verify", "made"],
    "export parquet": [
        "-m",
        "callwright",
        "export",
        "made",
        "--to",
        "parquet",
        "--out",
        "{home}/exported",
    ],
}
_QUESTIONS = Path(__file__).parents[1] / "docs" / "sql.md"
_QUICK = 0.2  # seconds


def main() -> None:
    """Fill a warehouse, run the commands and print their time and memory."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--predictions", type=int, default=100_000)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument(
        "--filled", type=Path, metavar="FILE", help="fill this file where it is absent, and keep it"
    )
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(
        prefix="callwright-bench-", dir=chosen.filled.parent if chosen.filled else None
    ) as folder:
        warehouse = Warehouse(Path(folder) / "warehouse.duckdb")
        result: dict[str, object] = {"memory": chosen.memory, "cores": cores()}
        for name, value in measured(warehouse, chosen):
            print(f"{name:>20}  {value}", file=sys.stderr, flush=True)
            result[name] = value
    if chosen.json:
        print(json.dumps(result, indent=2))


def measured(warehouse: Warehouse, chosen: argparse.Namespace) -> Iterator[tuple[str, object]]:
    """Yield the measurements, one after the other."""
    began = time.perf_counter()
    if chosen.filled and chosen.filled.exists():
        shutil.copy2(chosen.filled, warehouse.path)
    else:
        fill(warehouse, chosen.samples, chosen.predictions)
        yield "filling", {"seconds": round(time.perf_counter() - began, 1)}
        if chosen.filled:
            shutil.copy2(warehouse.path, chosen.filled)
    for table in ("samples", "predictions"):
        yield (table, warehouse.rows(f"select count(*) as n from {table}")[0]["n"])  # noqa: S608 - names of our own
    yield "file_mb", warehouse.path.stat().st_size >> 20
    yield "load", round(os.getloadavg()[0], 1)
    yield "filters_ms", filters(warehouse)
    yield from commands(warehouse.path.parent, chosen.memory)
    published = warehouse.beside(warehouse.path.parent / "published" / "warehouse.duckdb")
    queries = re.findall(r"```sql\n(.*?)```", _QUESTIONS.read_text(encoding="utf-8"), re.DOTALL)
    yield "questions", ask(published, {" ".join(query.split())[:60]: query for query in queries})
    views = published.rows(
        "select view_name from duckdb_views() where not internal union select unnest(?)",
        [list_views("answered_ahead")],
    )
    yield (
        "views",
        ask(published, {row["view_name"]: f"from {row['view_name']} limit 100" for row in views}),
    )


def filters(warehouse: Warehouse) -> dict[str, int]:
    """Return the best time, in milliseconds, of the page's list of samples for each filter."""
    asked = [
        SampleFilter(),
        SampleFilter(words="number 77"),
        SampleFilter(tool="tool_7"),
        SampleFilter(check="check6"),
        SampleFilter(state="waiting"),
        SampleFilter(kind="perfect", language="en", category="category 7", grade="proved"),
    ]
    taken = {}
    with warehouse.reading():
        for wanted in asked:
            named = {name: value for name, value in wanted._asdict().items() if value}
            seconds = _quickest(partial(find_samples, warehouse, wanted))
            taken[" ".join(named) or "all"] = round(1000 * seconds)
    return taken


def _quickest(work: Callable[[], object]) -> float:
    """Return the shortest of three run times in seconds, as other processes may use the CPU."""
    taken = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken)


def commands(home: Path, memory: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the seconds and peak memory of each command."""
    settings = {**environment(), "CALLWRIGHT_HOME": str(home), "CALLWRIGHT_DUCKDB_MEMORY": memory}
    for name, words in _COMMANDS.items():
        run = watch([sys.executable, *(word.format(home=home) for word in words)], settings)
        if run.code:
            sys.exit(f"{name} ended with {run.code}:\n{run.output[-2000:]}")
        yield (
            name,
            {
                "seconds": round(run.seconds, 1),
                "cpu_seconds": round(run.cpu_seconds, 1),
                "peak_mb": round(run.peak_mb),
            },
        )


def ask(published: Warehouse, queries: Mapping[str, str]) -> dict[str, object]:
    """Return how many queries were asked of the published copy, and the seconds of slow ones."""
    slow: dict[str, object] = {}
    with published.reading() as connection:
        for name, query in queries.items():
            if (seconds := _quickest(partial(_answer, connection, query))) > _QUICK:
                slow[name] = round(seconds, 2)
                print(f"{name:>60}  {seconds:.2f} s", file=sys.stderr, flush=True)
    return {"asked": len(queries), "slow": slow}


def _answer(connection: Connection, query: str) -> None:
    connection.execute(query).fetchall()


def fill(warehouse: Warehouse, samples: int, predictions: int) -> None:
    """Fill a warehouse with made-up samples, and four candidates' answers to those that landed."""
    _execute(warehouse, _ONCE)
    for first in range(0, samples, _BATCH):
        _execute(warehouse, _OF_SAMPLES, {"first": first, "until": min(samples, first + _BATCH)})
    for first in range(0, predictions, _BATCH):
        spread = {"first": first, "until": min(predictions, first + _BATCH), "samples": samples}
        _execute(warehouse, _OF_ANSWERS, spread)


def _execute(warehouse: Warehouse, script: str, parameters: dict[str, int] | None = None) -> None:
    with warehouse.writing() as connection:
        for statement in script.split(";"):
            if statement.strip():
                connection.execute(statement, parameters or {})


_ONCE = """
insert into stages (name, position, stage_group, source, role, settles, is_left_to_readers)
    select 'check' || range, range, 'checks', '', '', ['arguments'], false from range(7);
insert into stages (name, position, stage_group, source, role, settles, is_left_to_readers) values
    ('request', 90, 'single turn', '', '', [], false),
    ('format', 91, 'checks', '', '', [], false), ('land', 99, 'land', '', '', [], false);
insert into builds (key, recipe, body, started_at, finished_at, is_trial, sequence) values
    ('b1', 'made up', '{"samples": {"perfect": 1000000, "imperfect": 2000000}, "models": {"generator": {"name": "template/v1"}},'
        || '"checks": {"largest_opening": 0.1, "largest_skeleton": 0.05}, "description": "' || repeat('As long as a recipe. ', 200)
        || '"}', now(), now(), false, 1);
insert into tools (key, name, category, language, source, description, parameters, returns)
    select 't' || range, 'tool_' || range, 'category ' || range % 50, 'en', 'seed', 'Does it.', '{"type": "object"}', null
    from range(1000);
insert into releases (name, key, content_hash, samples, created_at, note, version, follows, selection, splits, manifest_hash)
    select 'r1', 'r1', 'hash', 0, now(), '', '1.0.0', '', '{}', '{}', '';
insert into scores
    (release, split, candidate, strategy, tools_shown, run, judge, snapshots, metric, slice_by, slice_value, value, count)
    select 'r1', '', 'model ' || range, 'direct', 'always', 1, '', 'all', 'args_acc', 'all', 'all', 0.5, 1 from range(4)
"""
_OF_SAMPLES = """
insert into samples
    (key, kind, language, category, request, gold, body, stage, parents, seed, model, prompt_version, planted, call_turns, calls)
    with said as (
        select n, 'Please ' || list_aggregate(list_transform(
            [n % 1000, n // 7 % 5003, n // 3 % 997, n * 31 % 10007, n // 11 % 3001, n * 17 % 101],
            lambda number, place: translate(substr(md5(place || '.' || number), 1, 7), '0123456789', 'ghijklmnop')
        ), 'string_agg', ' ') || ' number ' || n as text
        from range($first, $until) t(n)
    )
    select md5('s' || n), if(n % 3 = 0, 'imperfect', 'perfect'), 'en', 'category ' || n % 50, text,
        '[{"tool":"tool_' || n % 1000 || '","arguments":{"a":' || n || '}}]',
        '{"kind":"perfect","language":"en","category":"made up","candidates":["t' || n % 1000 || '"],"withheld":[],'
            || '"turns":[{"kind":"user","text":"' || text || '"},{"kind":"calls","calls":[{"tool":"tool_' || n % 1000
            || '","arguments":{"a":' || n || '},"evidence":[{"argument":"a","kind":"span","turn":0,"quote":"' || n
            || '"}]}]}],"system_message":"' || repeat(md5('p' || n), 30) || '"}',
        'request', [md5('d' || n)], n, 'template/v1', '', '', 1, 1
    from said;
insert into drafts
    select md5('d' || n), 'Draft', '{}', 'request', ['t' || n % 1000], 'template/v1', '', '' from range($first, $until) t(n);
insert into build_samples select 'b1', md5('s' || n), md5('d' || n) from range($first, $until) t(n);
insert into outcomes
    select 'b1', case s when 12 then 'format' when 13 then 'land' else 'check' || s end, md5('s' || n),
        if(s = 13 and n % 20 = 0, 'waiting', 'passed'), 'none', 'Every argument is in the request.', 'machine', '', '', now()
    from range($first, $until) t(n), range(14) u(s);
insert into verdicts
    (key, subject, check_name, decision, score, reason, evidence, version, made_at, grade, model, open_arguments, doubts, readings)
    select md5('v' || n || '.' || s), md5('s' || n), 'check' || s, if(s = 6 and n % 20 = 0, 'unproved', 'proved'),
        if(s = 6 and n % 20 = 0, (n % 97) / 97, 1), 'Every argument is in the request.', '[]', '1', now(),
        if(s = 6 and n % 20 = 0, 'open', 'proved'), '', [], '[]', '[]'
    from range($first, $until) t(n), range(7) u(s);
insert into llm_calls
    (id, request, build, stage, model, prompt_version, sample_index, prompt_tokens, completion_tokens, cost, latency, cached,
        planted, error, made_at, subject, release, candidate)
    select md5('c' || n), md5('r' || n), 'b1', 'request', 'openai/a-model', 'p1', 0, 500, 100, 0.0001, 0.5, false, '', '',
        now(), md5('d' || n), '', ''
    from range($first, $until) t(n);
insert into review_requests
    (build, subject, kind, cause, reason, requested_at, pushed_at, server, reviewers, overlap, priority, against, expected)
    select 'b1', md5('s' || n), 'sample_review', 'doubtful', 'A check failed.', now(), null, null, 1, 1, 0.5, '', null
    from range($first, $until) t(n) where n % 20 = 0;
insert into acceptances
    (subject, build, recipe, accepted_by, accepted_at, withdrawn_at, decided_by, grade, judged_by)
    select md5('s' || n), 'b1', 'made up', 'machine', now(), null, 'machine', 'proved', []
    from range($first, $until) t(n) where n % 20 <> 0;
insert into release_samples (release, subject) select 'r1', md5('s' || n) from range($first, $until) t(n) where n % 20 <> 0
"""
_OF_ANSWERS = """
insert into predictions
    (key, release, subject, turn, candidate, strategy, tools_shown, run, text, calls, problem, settings, error_type, made_at,
        reasoning, matched)
    select md5('a' || n), 'r1', md5('s' || (n // 4 % ($samples // 20) * 20 + 1 + n // 4 // ($samples // 20) % 19)), 1,
        'model ' || n % 4, 'direct', 'always', 1, '',
        '[{"tool":"tool_' || n % 3 || '","arguments":{"a":' || n // 4 % 7 || '}}]', '', '',
        if(n % 3 = 0, '', 'args_error'), now(), '', if(n % 3 = 0, 'gold', '')
    from range($first, $until) t(n)
"""


if __name__ == "__main__":
    main()
