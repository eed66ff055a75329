"""What people are shown: the tasks of each review kind, made of what the warehouse keeps."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType

import orjson

from annotation.correction_task import correction_task
from annotation.disambiguation_task import disambiguation_task
from annotation.screens import CORRECTION, DISAMBIGUATION, SAMPLE_REVIEW, TOOL_REVIEW
from annotation.task import Returned, Task, review_task
from annotation.tool_task import Company, tool_task
from flows.path_reviews import read_paths, samples_of_paths
from flows.reading_reviews import read_samples
from flows.tool_checking import tools_of
from validators.toolset.gaps import find_gaps
from warehouse.records import Evidence, Language, Tool, Verdict
from warehouse.releases import read_tools
from warehouse.rows import Row
from warehouse.store import Warehouse

_VERDICTS = """
    select subject, check_name, arg_max(decision, made_at) as decision, arg_max(score, made_at) as score,
        arg_max(reason, made_at) as reason, arg_max(evidence, made_at) as evidence, arg_max(version, made_at) as version
    from verdicts where list_contains(?::varchar[], subject) group by subject, check_name order by check_name
"""


def sample_tasks(
    warehouse: Warehouse, language: Language, waiting: Sequence[Row], returned: Sequence[Row]
) -> list[Task]:
    """The tasks that ask about samples, then those that hand edits back."""
    keys = _keys(waiting, returned)
    samples, tools = read_samples(warehouse, keys)
    verdicts = _verdicts(warehouse, keys)
    return [
        review_task(
            samples[row["subject"]],
            [tools[key] for key in samples[row["subject"]].candidates],
            verdicts[row["subject"]],
            reason=row["reason"],
            language=language,
            returned=edit,
        )
        for row, edit in _with_edits(waiting, returned)
    ]


def tool_tasks(warehouse: Warehouse, language: Language, waiting: Sequence[Row], returned: Sequence[Row]) -> list[Task]:
    """The tasks that ask about tools, then those that hand edits back."""
    keys = _keys(waiting, returned)
    tools = read_tools(warehouse, keys)
    verdicts = _verdicts(warehouse, keys)
    made = cache(lambda toolset: tools_of(warehouse, toolset))
    return [
        tool_task(
            tools[row["subject"]],
            _company(tools[row["subject"]], made(row["build"])),
            verdicts[row["subject"]],
            reason=row["reason"],
            language=language,
            returned=edit,
        )
        for row, edit in _with_edits(waiting, returned)
    ]


def disambiguation_tasks(
    warehouse: Warehouse, language: Language, waiting: Sequence[Row], returned: Sequence[Row]
) -> list[Task]:
    """The tasks that ask about competing entries, then those that hand answers back."""
    keys = _keys(waiting, returned)
    samples, _ = read_samples(warehouse, keys)
    verdicts = _verdicts(warehouse, keys)
    return [
        disambiguation_task(
            samples[row["subject"]], verdicts[row["subject"]], reason=row["reason"], language=language, returned=edit
        )
        for row, edit in _with_edits(waiting, returned)
    ]


def correction_tasks(
    warehouse: Warehouse, language: Language, waiting: Sequence[Row], returned: Sequence[Row]
) -> list[Task]:
    """The tasks that ask about corrections, then those that hand answers back; the first doubt about a path is shown."""
    keys = _keys(waiting, returned)
    paths, made = read_paths(warehouse, keys), samples_of_paths(warehouse, keys)
    verdicts = _verdicts(warehouse, sorted({sample for samples in made.values() for sample in samples}))
    return [
        correction_task(
            paths[row["subject"]],
            _doubts(verdicts, made.get(row["subject"], ())),
            reason=row["reason"],
            language=language,
            returned=edit,
        )
        for row, edit in _with_edits(waiting, returned)
    ]


def _doubts(verdicts: Mapping[str, list[Verdict]], samples: Sequence[str]) -> list[Verdict]:
    found = [one for sample in samples for one in verdicts[sample] if one.check == "path" and one.decision != "proved"]
    return found[:1]


TaskMaker = Callable[[Warehouse, Language, Sequence[Row], Sequence[Row]], list[Task]]
TASKS: Mapping[str, TaskMaker] = MappingProxyType(
    {
        SAMPLE_REVIEW: sample_tasks,
        TOOL_REVIEW: tool_tasks,
        CORRECTION: correction_tasks,
        DISAMBIGUATION: disambiguation_tasks,
    }
)


def _company(tool: Tool, made: Sequence[Tool]) -> Company:
    near = [one for one in made if (one.category, one.language) == (tool.category, tool.language)]
    return Company(near, [problem.message for problem in find_gaps(near)])


def _keys(waiting: Sequence[Row], returned: Sequence[Row]) -> list[str]:
    return sorted({row["subject"] for row in (*waiting, *returned)})


def _with_edits(waiting: Sequence[Row], returned: Sequence[Row]) -> list[tuple[Row, Returned | None]]:
    fields = ("request", "calls", "problem", "version")
    edits = [Returned(**{name: row[name] for name in fields}) for row in returned]
    return [*((row, None) for row in waiting), *zip(returned, edits, strict=True)]


def _verdicts(warehouse: Warehouse, keys: Sequence[str]) -> Mapping[str, list[Verdict]]:
    verdicts: defaultdict[str, list[Verdict]] = defaultdict(list)
    for row in warehouse.rows(_VERDICTS, [list(keys)]):
        verdicts[row["subject"]].append(_verdict(row["subject"], row))
    return verdicts


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
