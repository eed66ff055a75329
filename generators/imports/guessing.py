"""The format of a file or folder of samples, told by who can read it."""

from itertools import islice
from pathlib import Path

from callwright.generators.imports.reading import SOURCES, read_source
from callwright.warehouse.errors import ConfigurationError

_FIRST = 5  # records


def format_of(path: Path) -> str:
    """Return the name of the format that reads the first records of a path best.

    Of formats that read them alike the first of the table is meant. Raises ConfigurationError if
    none reads any of them, or if nothing is at the path.
    """
    if not path.exists():
        raise ConfigurationError(f"There is no file or folder {str(path)!r}.")
    fitting = {name: read for name in SOURCES.names if (read := _count_read(name, path)) > (0,)}
    if not fitting:
        known = ", ".join(SOURCES.names)
        raise ConfigurationError(
            f"The format of {str(path)!r} can't be told from its first records. Name it with"
            f" --format; the formats are {known}."
        )
    return max(fitting, key=lambda name: fitting[name])


def _count_read(name: str, path: Path) -> tuple[int, ...]:
    """Return how many samples, tools and problems (negative) of the first records are read."""
    try:
        records = [*islice(read_source(SOURCES.named(name), path), _FIRST)]
    except ConfigurationError:  # nothing of this format is there
        return (0,)
    read = sum(record.sample is not None for record in records)
    tools = sum(len(record.tools) for record in records)
    problems = sum(len(record.problems) for record in records)
    return (read, tools, -problems) if read else (0,)
