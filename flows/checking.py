"""Checking samples that others made: HammerBench records, their labels taken as gold."""

import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import NamedTuple

from callwright.flows.chats import Chats, open_chats
from callwright.flows.recipe import Recipe, parse_recipe
from callwright.flows.settings import Settings
from callwright.flows.stages import stages_of
from callwright.generators.catalogs import Problem
from callwright.generators.imports.hammerbench import read_hammerbench
from callwright.generators.imports.reading import ImportedRecord
from callwright.generators.stages import Stage, StageContext
from callwright.validators.checks.table import has_rest
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import LlmCall, Sample, Verdict


class CheckedRecord(NamedTuple):
    """A record's verdicts, and the weakest decision among them."""

    record: str
    kind: str
    language: str
    request: str
    decision: str
    verdicts: list[Verdict]


class CheckedFile(NamedTuple):
    """All records of a file, what could not be read of it, a count of decisions by check, and the checks left out."""

    records: list[CheckedRecord]
    problems: list[Problem]
    summary: list[tuple[str, int, int, int]]
    left_out: list[str]


_ORDER = ("contradicted", "unproved", "proved")


async def check_hammerbench(path: Path, model: str, settings: Settings) -> CheckedFile:
    """Run the checks on every record; without a model those that need none.

    Raises ConfigurationError where the file can't be read.
    """
    recipe = recipe_of_checks(model)
    checks = stages_of("consistency")
    stages = [stage for stage in checks if model or stage.role is None]
    records: list[CheckedRecord] = []
    problems: list[Problem] = []
    with tempfile.TemporaryDirectory(prefix="callwright-check-") as folder:
        ledger = settings.ledger if model else Path(folder) / "ledger.sqlite"
        async with open_chats(recipe, ledger, build="", spent=0.0) as chats:
            for item in read_hammerbench(path):
                problems += item.problems
                if item.sample is not None:
                    records.append(await _check_record(item, item.sample, stages, chats))
    return CheckedFile(records, problems, _summary(records), [stage.name for stage in checks if stage not in stages])


def recipe_of_checks(model: str) -> Recipe:
    """A recipe that makes nothing: its checks are asked of data that others bring, by `model` in each role if there is one."""
    recipe = parse_recipe({"name": "check", "tools": [{"seed": "all"}], "samples": {}}, Path(), "check")
    return recipe.as_asked(model=model)


async def _check_record(item: ImportedRecord, sample: Sample, stages: list[Stage], chats: Chats) -> CheckedRecord:
    tools = {tool.key: tool for tool in item.tools}
    verdicts: list[Verdict] = []
    unrecorded: list[LlmCall] = []
    for stage in stages:
        if stage.function is None or not stage.applies(sample) or not chats.can_answer(stage):
            continue
        context = StageContext(chats.of(stage, unrecorded.append), Random(sample.key), tools)
        try:
            if await has_rest(stage, sample, context, verdicts):
                verdicts += await stage.function(sample, context)
        except (RecordError, ReplyError) as error:
            reason = f"The check could not be carried out: {error}"
            verdicts.append(Verdict(subject=sample.key, check=stage.name, decision="unproved", reason=reason))
    decisions = [verdict.decision for verdict in verdicts]
    return CheckedRecord(
        record=item.where,
        kind=sample.kind,
        language=sample.language,
        request=sample.request,
        decision=min(decisions, key=_ORDER.index, default="unproved"),
        verdicts=verdicts,
    )


def _summary(records: list[CheckedRecord]) -> list[tuple[str, int, int, int]]:
    counts: Counter[tuple[str, str]] = Counter()
    for record in records:
        counts.update((verdict.check, str(verdict.decision)) for verdict in record.verdicts)
        counts["all checks", record.decision] += 1
    names = dict.fromkeys(name for name, _ in counts)
    return [(name, counts[name, "proved"], counts[name, "unproved"], counts[name, "contradicted"]) for name in names]
