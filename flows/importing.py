"""Samples that others made, frozen as a release of their own: as they are, and unchecked."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from generators.catalogs.catalog import Problem
from generators.imports.callnavi import CallNaviRecord, read_callnavi_samples
from generators.imports.confetti import ConfettiRecord, read_confetti_samples
from generators.imports.hammerbench import HammerBenchRecord, read_hammerbench
from warehouse.errors import ConfigurationError
from warehouse.records import Release, Sample, Tool
from warehouse.releases import freeze, list_releases
from warehouse.store import Warehouse

Reader = Callable[[Path], Iterable[CallNaviRecord | ConfettiRecord | HammerBenchRecord]]
READERS: dict[str, Reader] = {
    "callnavi": read_callnavi_samples,
    "confetti": read_confetti_samples,
    "hammerbench": read_hammerbench,
}


class ImportedRelease(NamedTuple):
    """The release, how many records can't be samples, and all that was found odd."""

    release: Release
    left_out: int
    problems: list[Problem]


def import_release(warehouse: Warehouse, name: str, form: str, path: Path) -> ImportedRelease:
    """Keep the samples of a file or folder with their tools, and freeze them under a name.

    Raises ConfigurationError for an unknown format, a name that is taken, or where there is no sample.
    """
    if form not in READERS:
        raise ConfigurationError(f"Samples can't be read from {form!r}; the formats are {', '.join(READERS)}.")
    samples: dict[str, Sample] = {}
    tools: dict[str, Tool] = {}
    problems: list[Problem] = []
    left_out = 0
    for record in READERS[form](path):
        problems += record.problems
        if record.sample is None:
            left_out += 1
            continue
        samples[record.sample.key] = record.sample
        tools.update((tool.key, tool) for tool in record.tools)
    if not samples:
        raise ConfigurationError(f"{str(path)!r} holds no sample in the format {form!r}.")
    keys = sorted(samples)
    if not any(one.name == name for one in list_releases(warehouse)):
        warehouse.put([*tools.values(), *samples.values()])
    return ImportedRelease(freeze(warehouse, name, keys, f"Imported from {form}."), left_out, problems)
