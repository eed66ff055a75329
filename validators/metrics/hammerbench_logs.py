"""Reading the files that HammerBench's own runs left: conversations, a judge's flags, snapshot lists, flat rows."""

import json
from pathlib import Path
from typing import Any

from validators.metrics.hammerbench import Conversation, SnapshotChoice
from validators.metrics.hammerbench_snapshots import LogRow
from warehouse.errors import ConfigurationError

CONVERSATIONS = "MT_res.json"
FLAGS = "turn_flags_res.json"
SNAPSHOTS = "snapshot_id.json"
UNCHANGED = "MT0"
INSERTED_TURN = "SO_case2"


def read_conversations(folder: Path) -> list[Conversation]:
    """The conversations of a log. Raises ConfigurationError where the file is missing or is none."""
    return parse_conversations(_read(folder / CONVERSATIONS), str(folder / CONVERSATIONS))


def parse_conversations(value: Any, source: str) -> list[Conversation]:  # noqa: ANN401 - a foreign file's content
    """The conversations in a log's JSON value. Raises ConfigurationError, naming `source`, where it is none."""
    if not isinstance(value, list) or not all(isinstance(one, dict) and "FC_res" in one for one in value):
        raise ConfigurationError(f'{source} is not a list of objects with "FC_res", as HammerBench logs are.')
    return [parse_rows(one["FC_res"], source) for one in value]


def parse_rows(value: Any, source: str) -> list[LogRow]:  # noqa: ANN401 - a foreign file's content
    """The rows in a list of predictions and labels. Raises ConfigurationError where one has another form."""
    if not isinstance(value, list) or not all(
        isinstance(row, dict) and {"predict", "label"} <= row.keys() for row in value
    ):
        raise ConfigurationError(f'{source} is not a list of objects with "predict" and "label".')
    return [LogRow(row["predict"], row["label"]) for row in value]


def read_rows(file: Path) -> list[LogRow]:
    """The rows of a file of flat predictions. Raises ConfigurationError where it is none."""
    return parse_rows(_read(file), str(file))


def read_flags(folder: Path) -> list[list[bool]]:
    """The judge's flags of a log. Raises ConfigurationError where the file is missing or is none."""
    value = _read(folder / FLAGS)
    if not isinstance(value, list) or not all(isinstance(one, list) for one in value):
        raise ConfigurationError(f"{folder / FLAGS} is not a list of lists of flags, one a conversation.")
    return [[bool(flag) for flag in one] for one in value]


def read_snapshot_choice(file: Path, folder: Path) -> SnapshotChoice:
    """The snapshots that a list names for the log in `folder`, where an inserted turn counts with the one after it.

    Raises ConfigurationError where the file is no list of indices.
    """
    value = _read(file)
    if not isinstance(value, list) or not all(
        isinstance(one, list) and all(isinstance(at, int) for at in one) for one in value
    ):
        raise ConfigurationError(f"{file} is not a list of lists of snapshot indices, one a conversation.")
    if INSERTED_TURN in folder.name:
        return [[at for index in one for at in (index, index + 1)] for one in value]
    return value


def snapshot_file(folder: Path) -> Path:
    """Where the snapshot list of a log lies: beside it, or beside the changed log that it is the original of."""
    return folder.parent / SNAPSHOTS if folder.name == UNCHANGED else folder / SNAPSHOTS


def _read(file: Path) -> Any:  # noqa: ANN401 - a foreign file's content
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{file} can't be read: {error.strerror}. Is it the folder of a log?") from error
    try:
        # not orjson: models break emoji in two, and such halves stand in their logs
        return json.loads(content)
    except ValueError as error:
        raise ConfigurationError(f"{file} is not valid JSON: {error}.") from error
