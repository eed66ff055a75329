"""A warehouse of made-up rows, asked what people and analysts ask: `python -m bench.warehouse_size [--samples N] [--json]`.

Each sample has 14 outcomes and 7 verdicts, every twentieth is in doubt and asked about; what landed is a release that four
candidates answered. Every command runs in a process of its own with DuckDB held to `--memory`.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

from bench.processes import cores, watch
from flows.settings import environment
from warehouse.browsing.samples import SampleFilter, find_samples
from warehouse.store import Warehouse

_BATCH = 20_000
_COMMANDS = {
    "review status": ["-m", "flows.cli", "review", "status"],
    "priorities": [
        "-c",
        "from flows.settings import open_warehouse; from flows.review.questions import set_priorities; "
        "set_priorities(open_warehouse())",
    ],
    "publish": ["-m", "flows.cli", "publish"],
    "release create": [
        "-m",
        "flows.cli",
        "release",
        "create",
        "made",
        "--splits",
        "train=0.8,validation=0.1,test=0.1",
    ],
    "release verify": ["-m", "flows.cli", "release", "verify", "made"],
    "export parquet": ["-m", "flows.cli", "export", "made", "--to", "parquet", "--out", "{home}/exported"],
}
_QUESTIONS = Path(__file__).parents[1] / "docs" / "sql.md"
_QUICK = 0.2  # seconds


def main() -> None:
    """Fill a warehouse, run the commands and print what each took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--predictions", type=int, default=100_000)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        warehouse = Warehouse(Path(folder) / "warehouse.duckdb")
        began = time.perf_counter()
        fill(warehouse, chosen.samples, chosen.predictions)
        result = {
            "samples": chosen.samples,
            "predictions": chosen.predictions,
            "memory": chosen.memory,
            "cores": cores(),
            "load": round(os.getloadavg()[0], 1),
            "file_mb": warehouse.path.stat().st_size >> 20,
            "filling": {"seconds": round(time.perf_counter() - began, 1)},
            "filters_ms": filters(warehouse),
            **measure(Path(folder), chosen.memory),
            "questions": answer_questions(warehouse.beside(Path(folder) / "published" / "warehouse.duckdb")),
        }
    if chosen.json:
        print(json.dumps(result, indent=2))
        return
    for name, value in result.items():
        print(f"{name:>20}  {value}")


def filters(warehouse: Warehouse) -> dict[str, int]:
    """Milliseconds that the page's list of samples takes by each filter, the second time that it is asked."""
    asked = [
        SampleFilter(), SampleFilter(words="number 77"), SampleFilter(tool="tool_7"), SampleFilter(check="check6"),
        SampleFilter(state="waiting"), SampleFilter(kind="perfect", language="en", category="category 7", grade="proved"),
    ]  # fmt: skip
    taken = {}
    with warehouse.reading():
        for wanted in asked:
            for _ in range(2):
                began = time.perf_counter()
                find_samples(warehouse, wanted)
                seconds = time.perf_counter() - began
            named = {name: value for name, value in wanted._asdict().items() if value}
            taken[" ".join(named) or "all"] = round(1000 * seconds)
    return taken


def measure(home: Path, memory: str) -> dict[str, dict[str, float]]:
    """Seconds and peak memory of each command."""
    settings = {**environment(), "CALLWRIGHT_HOME": str(home), "CALLWRIGHT_DUCKDB_MEMORY": memory}
    measured = {}
    for name, words in _COMMANDS.items():
        run = watch([sys.executable, *(word.format(home=home) for word in words)], settings)
        if run.code:
            sys.exit(f"{name} ended with {run.code}:\n{run.output[-2000:]}")
        measured[name] = {"seconds": round(run.seconds, 1), "peak_mb": round(run.peak_mb)}
    return measured


def answer_questions(published: Warehouse) -> dict[str, object]:
    """How many of the documented queries the published copy answers quickly, and the seconds of the others."""
    queries = re.findall(r"```sql\n(.*?)```", _QUESTIONS.read_text(encoding="utf-8"), re.DOTALL)
    slow = {}
    with published.reading() as connection:
        for query in queries:
            began = time.perf_counter()
            connection.execute(query).fetchall()
            if (seconds := time.perf_counter() - began) > _QUICK:
                slow[" ".join(query.split())[:60]] = round(seconds, 2)
    return {"documented": len(queries), "slow": slow}


def fill(warehouse: Warehouse, samples: int, predictions: int) -> None:
    """Put made-up samples with all their rows into a warehouse, and the answers of four candidates to those that landed."""
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
insert into stages select 'check' || range, range, 'checks', '', '', ['arguments'], false from range(7);
insert into stages values
    ('request', 90, 'single turn', '', '', [], false),
    ('format', 91, 'checks', '', '', [], false), ('land', 99, 'land', '', '', [], false);
insert into builds values ('b1', 'made up', '{"samples": {"perfect": 1000000, "imperfect": 2000000}}', now(), now(), false, 1);
insert into tools (key, name, category, language, source, description, parameters, returns)
    select 't' || range, 'tool_' || range, 'category ' || range % 50, 'en', 'seed', 'Does it.', '{"type": "object"}', null
    from range(1000);
insert into releases
    select 'r1', 'r1', 'hash', 0, now(), '', '1.0.0', '', '{}', '{}', '', 'migration';
insert into scores
    (release, split, candidate, strategy, tools_shown, run, judge, snapshots, metric, slice_by, slice_value, value, count)
    select 'r1', '', 'model ' || range, 'direct', 'always', 1, '', 'all', 'args_acc', 'all', 'all', 0.5, 1 from range(4)
"""
_OF_SAMPLES = """
insert into samples
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
    select md5('v' || n || '.' || s), md5('s' || n), 'check' || s, if(s = 6 and n % 20 = 0, 'unproved', 'proved'),
        if(s = 6 and n % 20 = 0, (n % 97) / 97, 1), 'Every argument is in the request.', '[]', '1', now(),
        if(s = 6 and n % 20 = 0, 'open', 'proved'), '', [], '[]'
    from range($first, $until) t(n), range(7) u(s);
insert into review_requests
    select 'b1', md5('s' || n), 'sample_review', 'doubtful', 'A check failed.', now(), null, null, 1, 1, 0.5, ''
    from range($first, $until) t(n) where n % 20 = 0;
insert into acceptances
    select md5('s' || n), 'b1', 'made up', 'machine', now(), null, 'machine', 'proved', []
    from range($first, $until) t(n) where n % 20 <> 0;
insert into release_samples (release, subject) select 'r1', md5('s' || n) from range($first, $until) t(n) where n % 20 <> 0
"""
_OF_ANSWERS = """
insert into predictions
    select md5('a' || n), 'r1', md5('s' || (n // 4 % ($samples // 20) * 20 + 1 + n // 4 // ($samples // 20) % 19)), 1,
        'model ' || n % 4, 'direct', 'always', 1, '',
        '[{"tool":"tool_' || n % 3 || '","arguments":{"a":' || n // 4 % 7 || '}}]', '', '',
        if(n % 3 = 0, '', 'args_error'), now()
    from range($first, $until) t(n)
"""


if __name__ == "__main__":
    main()
