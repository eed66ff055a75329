"""Contamination: what a release has in common with published data sets, and what recipes avoid."""

import time
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from callwright.flows.progress import Progress
from callwright.flows.recipe import AvoidedSource
from callwright.flows.sources import files_key
from callwright.generators.imports.reading import SOURCES, read_source
from callwright.validators.checks.duplicates import CHECK, VERSION
from callwright.validators.overlap import (
    AT_ONCE,
    COMMON,
    LIKENESS,
    WORDS,
    Common,
    Match,
    OverlapIndex,
    PlacedSample,
)
from callwright.warehouse.batches import batches
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Sample, Verdict
from callwright.warehouse.releases import read_tools
from callwright.warehouse.store import Warehouse

_BETWEEN = 15.0  # seconds between two sentences on how far reading is


class CommonSample(NamedTuple):
    """A sample of a release, and the nearest sample of a data set that shares something with it."""

    how: Common
    sample: str
    place: str
    likeness: float
    request: str
    other_request: str


class Overlap(NamedTuple):
    """What a release and a data set have in common: counts for both sides by `how`, and pairs.

    There is one pair for each sample and `how`.
    """

    name: str
    samples: int
    others: int
    unreadable: int
    shared: dict[Common, int]
    shared_others: dict[Common, int]
    pairs: list[CommonSample]


def parse_with(stated: str) -> tuple[str, Path]:
    """Parse a data set stated as FORMAT:PATH.

    Raises ConfigurationError that lists the formats, or if there is nothing at the path.
    """
    form, _, path = stated.partition(":")
    if not path:
        problem = f"A dataset is given as FORMAT:PATH, such as bfcl:data/bfcl, not {stated!r}."
        raise ConfigurationError(problem)
    SOURCES.named(form)
    if not Path(path).exists():
        raise ConfigurationError(f"There is no file or folder {path!r}.")
    return form, Path(path)


def find_overlap(
    samples: Iterable[PlacedSample],
    stated: Sequence[str],
    progress: Progress,
    likeness: float = LIKENESS,
) -> list[Overlap]:
    """Return what samples have in common with each data set.

    The samples are kept in memory, the data sets are streamed.

    Raises ConfigurationError for an unknown format, or if a data set holds no sample.
    """
    named = [(one, *parse_with(one)) for one in stated]
    own = OverlapIndex(samples, likeness)
    return [_overlap(own, name, form, path, progress) for name, form, path in named]


def _overlap(own: OverlapIndex, name: str, form: str, path: Path, progress: Progress) -> Overlap:
    nearest: dict[tuple[Common, int], tuple[float, str, str]] = {}
    shared_others: dict[Common, int] = dict.fromkeys(COMMON, 0)
    others = unreadable = 0
    told_at = time.monotonic()
    for records in batches(read_source(SOURCES.named(form), path), AT_ONCE):
        read = [
            PlacedSample(one.where, one.sample, one.tools)
            for one in records
            if one.sample is not None
        ]
        unreadable += len(records) - len(read)
        others += len(read)
        for placed_sample, matches in zip(read, own.find(read), strict=True):
            for how in {match.how for match in matches}:
                shared_others[how] += 1
            for match in matches:
                known = nearest.get((match.how, match.place), (0.0, "", ""))
                if match.likeness > known[0]:
                    nearest[match.how, match.place] = (
                        match.likeness,
                        placed_sample.place,
                        placed_sample.sample.request,
                    )
        if time.monotonic() > told_at + _BETWEEN:
            told_at = time.monotonic()
            progress.say(f"{count_of(others, 'sample')} of {name} read so far.")
    if not others:
        raise ConfigurationError(f"{str(path)!r} holds no samples in the format {form!r}.")
    pairs = [
        CommonSample(how, own.places[at], place, likeness, own.requests[at], request)
        for (how, at), (likeness, place, request) in sorted(nearest.items())
    ]
    shared: dict[Common, int] = {how: sum(pair.how == how for pair in pairs) for how in COMMON}
    return Overlap(name, len(own), others, unreadable, shared, shared_others, pairs)


class Avoided:
    """The samples of a build that repeat what its recipe avoids; `found` maps keys to verdicts."""

    def __init__(self, sources: Sequence[AvoidedSource], warehouse: Warehouse) -> None:
        """Read nothing until samples are looked for."""
        self._sources = sources
        self._warehouse = warehouse
        self.found: dict[str, Verdict] = {}

    def look(self, samples: Iterable[Sample]) -> Iterator[Sample]:
        """Yield the samples as they come, after looking for each in the data sets."""
        if not self._sources:
            yield from samples
            return
        for some in batches(samples, AT_ONCE):
            self._look(some)
            yield from some

    def kept_out(self, verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
        """Yield the verdicts on novelty, those against avoided samples replacing others."""
        return (self.found.get(one.subject, one) for one in verdicts)

    def _look(self, samples: Sequence[Sample]) -> None:
        tools = read_tools(
            self._warehouse, sorted({key for sample in samples for key in sample.candidates})
        )
        placed = [
            PlacedSample(
                sample.key, sample, [tools[key] for key in sample.candidates if key in tools]
            )
            for sample in samples
        ]
        for source in self._sources:
            index = _index(source, files_key(source.paths))
            for sample, matches in zip(samples, index.find(placed), strict=True):
                if matches and sample.key not in self.found:
                    self.found[sample.key] = Verdict(
                        subject=sample.key,
                        check=CHECK,
                        version=VERSION,
                        decision="contradicted",
                        score=matches[0].likeness,
                        reason=_sentence(source, index, matches[0]),
                    )


def _sentence(source: AvoidedSource, index: OverlapIndex, match: Match) -> str:
    alike = ""
    if match.how == "request" and match.likeness < 1:
        alike = f" in other words, {match.likeness:.0%} alike"
    place = Path(index.places[match.place]).name
    return f"{source.format} has {WORDS[match.how]}{alike}, at {place}, and the recipe avoids it."


@lru_cache(4)
def _index(source: AvoidedSource, _content: str) -> OverlapIndex:
    """Return the index of a source, cached while its files stay the same."""
    records = (
        one for path in source.paths for one in read_source(SOURCES.named(source.format), path)
    )
    read: Iterable[PlacedSample] = (
        PlacedSample(one.where, one.sample, one.tools) for one in records if one.sample
    )
    index = OverlapIndex(read, source.likeness, source.by)
    if not len(index):
        raise ConfigurationError(
            f"{str(source.paths[0])!r} holds no samples in the format {source.format!r}, so nothing"
            " would be avoided."
        )
    return index
