"""The differential: what strong models answer alike and otherwise than the gold of a record.

The answers are others' published result files. Who writes the gold of most records counts as
strong; nothing else is known of a model.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from callwright.flows.data_audit.differences import are_alike, finding_of_difference, with_gold
from callwright.flows.evaluation.result_files import Reply, documents, named_now, read, replies_in
from callwright.generators.imports.reading import ImportedRecord
from callwright.validators.audit.findings import Finding
from callwright.validators.reading.points import Calls, DuePoint, due_points
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Call, Sample

_STRONG = 0.7  # of the records that it answers, the share of which a strong model writes the gold
_ALIKE = 2 / 3  # of the strong models that answer
_FEWEST = 3  # models that answer alike


class _Answers(NamedTuple):
    """Who answers a record in which way otherwise than its gold, and who answers it at all."""

    record: ImportedRecord
    point: DuePoint
    others: list[tuple[Calls, list[str]]]
    models: list[str]


def find_in_replies(
    records: Iterable[ImportedRecord], folders: Sequence[Path]
) -> Iterator[Finding]:
    """Yield what strong models answer alike and otherwise than the gold, once all is read.

    Each folder has a folder of result files for each model. Raises ConfigurationError if there is
    no reply in them.
    """
    replies = _replies_by_item(folders)
    right, answered, differing = Counter[str](), Counter[str](), list[_Answers]()
    for record in records:
        given, point = replies.get(record.item, {}), _point(record)
        if point is None or not given:
            continue
        answers = _Answers(record, point, [], [])
        for model, reply in given.items():
            calls = _calls(reply, point)
            if calls is None:
                continue
            calls = with_gold(calls, point, record.accepted)
            answered[model] += 1
            answers.models.append(model)
            if are_alike(point.calls, calls, point):
                right[model] += 1
            else:
                _add(answers.others, calls, model, point)
        if any(len(models) >= _FEWEST for _, models in answers.others):
            differing.append(answers)
    strong = {model for model, count in answered.items() if right[model] >= _STRONG * count}
    for answers in differing:
        yield from _findings(answers, strong)


def _replies_by_item(folders: Sequence[Path]) -> Mapping[str, Mapping[str, Reply]]:
    """Return the replies by item and model; a model's first reply to an item counts."""
    replies: defaultdict[str, dict[str, Reply]] = defaultdict(dict)
    for folder in folders:
        if not folder.is_dir():
            raise ConfigurationError(f"There is no folder {str(folder)!r} with replies.")
        for model, document in documents(folder):
            for reply in replies_in(document):
                if reply.question:
                    replies[named_now(reply.question)].setdefault(model, reply)
    if not replies:
        where = ", ".join(map(str, folders))
        raise ConfigurationError(f"No reply of a model is found in {where}.")
    return replies


def _point(record: ImportedRecord) -> DuePoint | None:
    """Return the only point at which a record's assistant acts; None if there are several."""
    sample = record.sample
    if sample is None or record.lacks_results:
        return None
    points = due_points(sample, record.tools)
    return points[0] if len(points) == 1 else None if points else _idle(sample, record)


def _idle(sample: Sample, record: ImportedRecord) -> DuePoint | None:
    """Return the point at which no call is due, if there is one."""
    named = {tool.name: tool for tool in record.tools}
    idle = [
        DuePoint(one.turn, one.prefix, (), (), named, sample.language) for one in sample.snapshots()
    ]
    return idle[0] if len(idle) == 1 else None


def _calls(reply: Reply, point: DuePoint) -> Calls | None:
    """Return a reply's calls under the tools' own names; None if they can't be read.

    Providers that allow no dot in a name write another character in its place.
    """
    found = read(reply)
    if found.outcome not in ("calls", "no call"):
        return None
    own = {re.sub(r"\W", "_", name): name for name in point.tools}
    return tuple(
        Call(tool=own.get(re.sub(r"\W", "_", one.tool), one.tool), arguments=one.arguments)
        for one in found.calls
    )


def _add(others: list[tuple[Calls, list[str]]], calls: Calls, model: str, point: DuePoint) -> None:
    for known, models in others:
        if are_alike(known, calls, point):
            models.append(model)
            return
    others.append((calls, [model]))


def _findings(answers: _Answers, strong: set[str]) -> Iterator[Finding]:
    asked = len(strong.intersection(answers.models))
    for calls, models in answers.others:
        alike = len(strong.intersection(models))
        if alike >= _FEWEST and alike >= _ALIKE * asked:
            yield finding_of_difference(
                answers.record,
                answers.point,
                calls,
                f"{alike} of {asked} models that write most golds of this data wrote",
                sort="replies_differ",
                support=alike,
            )
