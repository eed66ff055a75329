"""What people are shown: the tasks of each review kind, made of what the warehouse keeps."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType

import orjson

from annotation.correction import CorrectionTask, correction_task
from annotation.dialogue_acts import ActsTask, acts_task
from annotation.disambiguation import DisambiguationTask, disambiguation_task
from annotation.prediction_audit import AuditCase, AuditTask, audit_task
from annotation.screens import (
    CORRECTION,
    DIALOGUE_ACTS,
    DISAMBIGUATION,
    PREDICTION_AUDIT,
    SAMPLE_REVIEW,
    TOOL_REVIEW,
    screen_words,
)
from annotation.task import Returned, ReviewTask, review_task
from annotation.tool_review import Company, ToolTask, tool_task
from flows.review.gold_items import gold_rows, verdicts_shown
from flows.review.path_reviews import read_paths, samples_of_paths
from flows.review.prediction_audits import read_audited
from flows.review.questions import AUDIT, GOLD_ITEM, RETURNED_EDIT, SECOND_LOOK, SPOT_CHECK
from flows.review.reading_reviews import read_samples
from flows.tool_checking import tools_of
from validators.toolset.complexity import find_gaps
from warehouse.records import Evidence, Language, Sample, Tool, Verdict
from warehouse.releases import read_tools
from warehouse.rows import Row
from warehouse.store import Warehouse

_DRAWN = frozenset({SPOT_CHECK, SECOND_LOOK, GOLD_ITEM, AUDIT})  # the causes that are no doubt about what is shown
_VERDICTS = """
    select subject, check_name, arg_max(decision, made_at) as decision, arg_max(score, made_at) as score,
        arg_max(reason, made_at) as reason, arg_max(evidence, made_at) as evidence, arg_max(version, made_at) as version
    from verdicts where list_contains(?::varchar[], subject) group by subject, check_name order by check_name
"""


def sample_tasks(warehouse: Warehouse, language: Language, asked: Sequence[Row]) -> list[ReviewTask]:
    """The tasks that ask about samples."""
    keys = _keys(asked)
    samples, tools = read_samples(warehouse, keys)
    verdicts = _verdicts(warehouse, keys) | _lent_verdicts(warehouse, samples, tools)
    return [
        review_task(
            samples[row["subject"]],
            [tools[key] for key in samples[row["subject"]].candidates],
            verdicts[row["subject"]],
            reason=reason_of(row, language),
            language=language,
            returned=edit_of(row),
        )
        for row in asked
    ]


def tool_tasks(warehouse: Warehouse, language: Language, asked: Sequence[Row]) -> list[ToolTask]:
    """The tasks that ask about tools."""
    keys = _keys(asked)
    tools = read_tools(warehouse, keys)
    verdicts = _verdicts(warehouse, keys)
    made = cache(lambda toolset: tools_of(warehouse, toolset))
    return [
        tool_task(
            tools[row["subject"]],
            _company(tools[row["subject"]], made(row["build"])),
            verdicts[row["subject"]],
            reason=reason_of(row, language),
            language=language,
            returned=edit_of(row),
        )
        for row in asked
    ]


def disambiguation_tasks(warehouse: Warehouse, language: Language, asked: Sequence[Row]) -> list[DisambiguationTask]:
    """The tasks that ask about competing entries."""
    keys = _keys(asked)
    samples, _ = read_samples(warehouse, keys)
    verdicts = _verdicts(warehouse, keys)
    return [
        disambiguation_task(
            samples[row["subject"]],
            verdicts[row["subject"]],
            reason=reason_of(row, language),
            language=language,
            returned=edit_of(row),
        )
        for row in asked
    ]


def acts_tasks(warehouse: Warehouse, language: Language, asked: Sequence[Row]) -> list[ActsTask]:
    """The tasks that ask about dialogue acts."""
    samples, _ = read_samples(warehouse, _keys(asked))
    return [
        acts_task(samples[row["subject"]], reason=reason_of(row, language), language=language, returned=edit_of(row))
        for row in asked
    ]


def correction_tasks(warehouse: Warehouse, language: Language, asked: Sequence[Row]) -> list[CorrectionTask]:
    """The tasks that ask about corrections; the first doubt about a path is shown."""
    keys = _keys(asked)
    paths, made = read_paths(warehouse, keys), samples_of_paths(warehouse, keys)
    verdicts = _verdicts(warehouse, sorted({sample for samples in made.values() for sample in samples}))
    return [
        correction_task(
            paths[row["subject"]],
            _doubts(verdicts, made.get(row["subject"], ())),
            reason=reason_of(row, language),
            language=language,
            returned=edit_of(row),
        )
        for row in asked
    ]


def _doubts(verdicts: Mapping[str, list[Verdict]], samples: Sequence[str]) -> list[Verdict]:
    found = [one for sample in samples for one in verdicts[sample] if one.check == "path" and one.decision != "proved"]
    return found[:1]


def audit_tasks(warehouse: Warehouse, language: Language, asked: Sequence[Row]) -> list[AuditTask]:
    """The tasks that ask whether the metric is right about answers."""
    audited = read_audited(warehouse, _keys(asked))
    samples, tools = read_samples(warehouse, sorted({one.prediction.subject for one in audited.values()}))
    tasks = []
    for row in asked:
        prediction, error_type = audited[row["subject"]]
        sample = samples[prediction.subject]
        case = AuditCase(prediction, sample, [tools[key] for key in sample.candidates], error_type)
        tasks.append(audit_task(case, reason=reason_of(row, language), language=language, returned=edit_of(row)))
    return tasks


AnyTask = ReviewTask | ToolTask | CorrectionTask | DisambiguationTask | ActsTask | AuditTask
TaskMaker = Callable[[Warehouse, Language, Sequence[Row]], Sequence[AnyTask]]
_MAKERS: Mapping[str, TaskMaker] = MappingProxyType(
    {
        SAMPLE_REVIEW: sample_tasks,
        TOOL_REVIEW: tool_tasks,
        CORRECTION: correction_tasks,
        DISAMBIGUATION: disambiguation_tasks,
        DIALOGUE_ACTS: acts_tasks,
        PREDICTION_AUDIT: audit_tasks,
    }
)


def tasks_for(kind: str, warehouse: Warehouse, language: Language, asked: Sequence[Row]) -> list[AnyTask]:
    """The tasks of a review kind that rows of the view review_queue ask for, one each, in their order."""
    made = _MAKERS[kind](warehouse, language, asked)
    return [task.with_changes(version=row["version"]) for task, row in zip(made, asked, strict=True)]


def reason_of(row: Row, language: Language) -> str:
    """Why people are asked: what came up since the first question is told in its place."""
    is_new = row["version"] > 1 and row["cause"] != RETURNED_EDIT
    cause = row["first_cause"] if row["cause"] == RETURNED_EDIT else row["cause"]
    drawn = screen_words(row["kind"], language).drawn
    return drawn if drawn and cause in _DRAWN else str(row["problem"] if is_new else row["reason"])


def edit_of(row: Row) -> Returned | None:
    """The edit that a question hands back, if it does."""
    if row["cause"] != RETURNED_EDIT:
        return None
    fields = {name: row[name] for name in ("request", "calls", "problem")}
    return Returned(version=row["version"] - 1, **fields)


def _company(tool: Tool, made: Sequence[Tool]) -> Company:
    near = [one for one in made if (one.category, one.language) == (tool.category, tool.language)]
    return Company(near, [problem.message for problem in find_gaps(near)])


def _keys(asked: Sequence[Row]) -> list[str]:
    return sorted({row["subject"] for row in asked})


def _verdicts(warehouse: Warehouse, keys: Sequence[str]) -> defaultdict[str, list[Verdict]]:
    verdicts: defaultdict[str, list[Verdict]] = defaultdict(list)
    for row in warehouse.rows(_VERDICTS, [list(keys)]):
        verdicts[row["subject"]].append(_verdict(row["subject"], row))
    return verdicts


def _lent_verdicts(
    warehouse: Warehouse, samples: Mapping[str, Sample], tools: Mapping[str, Tool]
) -> dict[str, list[Verdict]]:
    """What gold items among these samples show of checks: what the samples that they are made of would."""
    gold = gold_rows(warehouse, sorted(samples))
    verdicts = _verdicts(warehouse, sorted({row["made_of"] for row in gold}))
    shown = {}
    for row in gold:
        item = samples[row["subject"]]
        candidates = [tools[key] for key in item.candidates]
        shown[item.key] = verdicts_shown(item, row["defect"], candidates, verdicts[row["made_of"]])
    return shown


def _verdict(subject: str, row: Row) -> Verdict:
    return Verdict(
        subject=subject,
        check=row["check_name"],
        decision=row["decision"],
        score=row["score"],
        reason=row["reason"],
        evidence=tuple(Evidence.model_validate(proof) for proof in orjson.loads(row["evidence"])),
        version=row["version"],
    )
