"""A preview: a few samples of each kind, through all stages, kept nowhere but in the ledger."""

import tempfile
from pathlib import Path
from typing import NamedTuple

import orjson

from flows.build import build_dataset
from flows.news import News
from flows.recipe import Recipe
from flows.settings import Settings
from warehouse.rows import Row
from warehouse.store import Warehouse


class ShownSample(NamedTuple):
    """A sample as a person looks at it; a record that never became one has its failure as `problems`."""

    kind: str
    language: str
    request: str
    gold: list[dict[str, object]]
    proved: list[str]
    problems: list[str]


async def preview_samples(recipe: Recipe, settings: Settings, news: News) -> list[ShownSample]:
    """Make the recipe's samples in a work folder that is thrown away; what models answer is kept, so a build asks less."""
    with tempfile.TemporaryDirectory(prefix="callwright-preview-") as folder:
        aside = settings._replace(home=Path(folder))
        report = await build_dataset(recipe, aside, news)
        warehouse = Warehouse(aside.warehouse)
        samples = warehouse.rows(
            """
            select s.kind, s.language, s.request, s.gold,
                list(v.check_name order by v.check_name) filter (v.decision = 'proved') as proved,
                list(v.check_name || ' ' || v.decision || ': ' || v.reason) filter (v.decision <> 'proved') as problems
            from samples s left join verdicts v on v.subject = s.key group by all order by s.kind, s.language, s.request
            """
        )
        failures = warehouse.rows("select stage, reason from failures where build = ?", [report.build])
    return [_shown(row) for row in samples] + [
        ShownSample("failed", "", f"at the stage {row['stage']}", [], [], [row["reason"]]) for row in failures
    ]


def _shown(row: Row) -> ShownSample:
    return ShownSample(
        kind=row["kind"],
        language=row["language"],
        request=row["request"],
        gold=orjson.loads(row["gold"]),
        proved=row["proved"] or [],
        problems=row["problems"] or [],
    )


def sample_lines(shown: ShownSample) -> list[str]:
    """The sample as lines for a terminal."""
    lines = [f"{shown.kind} {shown.language}".strip(), f"  user: {shown.request}"]
    lines += (f"  call: {call['tool']} {orjson.dumps(call['arguments']).decode()}" for call in shown.gold)
    if shown.kind == "irrelevant":
        lines.append("  call: none of the candidates fits")
    if shown.proved:
        lines.append(f"  proved: {', '.join(shown.proved)}")
    return [*lines, *(f"  ! {problem}" for problem in shown.problems), ""]
