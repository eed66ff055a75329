"""A preview: a few samples of each kind, through all stages, kept nowhere but in the ledger."""

import tempfile
from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple, assert_never

import orjson

from callwright.flows.build import build_dataset
from callwright.flows.catalogs import lend_catalogs, with_catalogs
from callwright.flows.progress import Progress
from callwright.flows.recipe import Recipe
from callwright.flows.settings import Settings, open_warehouse
from callwright.warehouse.records import CallTurn, ReplyTurn, ResultTurn, Sample, UserTurn


class ShownSample(NamedTuple):
    """A sample as a person looks at it; a record that never became one has its failure as `problems`."""

    kind: str
    language: str
    request: str
    gold: list[dict[str, object]]
    conversation: list[str]
    proved: list[str]
    problems: list[str]


async def preview_samples(recipe: Recipe, count: int, settings: Settings, progress: Progress) -> list[ShownSample]:
    """Make `count` samples of each kind in a work folder that is thrown away; what models answer is kept for the build."""
    with tempfile.TemporaryDirectory(prefix="callwright-preview-") as folder:
        aside = settings._replace(home=Path(folder))
        recipe = with_catalogs(recipe, open_warehouse(settings))
        lend_catalogs(recipe, open_warehouse(settings), open_warehouse(aside))
        report = await build_dataset(recipe.with_preview(count), aside, progress)
        warehouse = open_warehouse(aside)
        samples = warehouse.rows(
            """
            select s.key, s.kind, s.language, s.request, s.gold, s.body,
                list(v.check_name order by v.check_name) filter (v.decision = 'proved') as proved,
                list(v.check_name || ' ' || v.decision || ': ' || v.reason) filter (v.decision <> 'proved') as problems
            from samples s left join verdicts v on v.subject = s.key group by all order by s.kind, s.key
            """
        )
        failures = warehouse.rows("select stage, reason from failures where build = ?", [report.build])
    if report.spending is not None and report.spending.tokens:
        progress.say(
            f"This preview asked {report.spending.calls} times and cost ${report.spending.cost:.4f}; what was answered is in the "
            "ledger, so that a build does not ask it again."
        )
    shown = [row for _, same in groupby(samples, key=lambda row: row["kind"]) for row in islice(same, count)]
    return [
        ShownSample(
            kind=row["kind"],
            language=row["language"],
            request=row["request"],
            gold=orjson.loads(row["gold"]),
            conversation=list(_lines(Sample.model_validate_json(row["body"]))),
            proved=row["proved"] or [],
            problems=row["problems"] or [],
        )
        for row in shown
    ] + [ShownSample("failed", "", f"at the stage {row['stage']}", [], [], [], [row["reason"]]) for row in failures]


def sample_lines(shown: ShownSample) -> list[str]:
    """The sample as lines for a terminal."""
    rendered = shown.conversation or [shown.request]
    lines = [f"{shown.kind} {shown.language}".strip(), *(f"  {line}" for line in rendered)]
    if shown.proved:
        lines.append(f"  proved: {', '.join(shown.proved)}")
    return [*lines, *(f"  ! {problem}" for problem in shown.problems), ""]


def _lines(sample: Sample) -> Iterator[str]:
    """A line for everything said, and one for the call that is due after it."""
    for turn in sample.turns:
        match turn:
            case UserTurn(text=text, external=external):
                yield f"user: {text}"
                if external is not None:
                    yield f"message ({external.app}): {external.text}"
            case ReplyTurn(text=text):
                yield f"assistant: {text}"
            case CallTurn(calls=()):
                yield "call: none of the candidates fits"
            case CallTurn(calls=calls):
                yield from (f"call: {call.tool} {orjson.dumps(call.arguments).decode()}" for call in calls)
            case ResultTurn(results=results):
                yield from (f"result: {orjson.dumps(result).decode()}" for result in results)
            case _:
                assert_never(turn)
