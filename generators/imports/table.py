"""The table of what samples are read from: our own exports, published data sets, and the logs of assistants that work.

Each format gives records one after another, so that a file may be larger than memory. `release import` and the `samples` of a
recipe read by this one table.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from callwright.generators.imports.reading import ImportedRecord
from callwright.warehouse.registry import Registry


class SampleFormat(NamedTuple):
    """A format that samples are read from; `read` gives the records of a file or folder, the broken ones with what is wrong.

    It raises ConfigurationError where nothing is at the path. `is_traffic` says that its conversations took place: what the
    assistant called there is what it did, not what was due.
    """

    name: str
    holds: str
    read: Callable[[Path], Iterable[ImportedRecord]]
    is_traffic: bool = False


SOURCES = Registry("sources", SampleFormat, "format of samples", "formats")
