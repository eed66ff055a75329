"""Reading HammerBench's run files: conversations, judge's flags, snapshot lists, flat rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from callwright.language.packs import fallback, letters_of
from callwright.validators.metrics.hammerbench.scores import Conversation, LogRow
from callwright.warehouse.errors import ConfigurationError

if TYPE_CHECKING:
    from callwright.warehouse.records import Language


CONVERSATIONS = "MT_res.json"
FLAGS = "turn_flags_res.json"
SNAPSHOTS = "snapshot_id.json"
UNCHANGED = "MT0"
INSERTED_TURN = "SO_case2"
KINDS = ("Based", "mQmA", "mQsA", "sQmA", "SO_case1", INSERTED_TURN, "mSv", "External")


class Log(NamedTuple):
    """A run's conversations, their folder, and their language."""

    folder: Path
    conversations: list[Conversation]
    language: Language


def read_log(place: Path) -> Log:
    """Return the log in a folder, or from its file.

    Raises ConfigurationError if there is none, and names those nearby.
    """
    folder = place.parent if place.name == CONVERSATIONS else place
    if not (folder / CONVERSATIONS).is_file():
        raise ConfigurationError(f"{place} is no folder with a {CONVERSATIONS}.{_nearby(folder)}")
    value = _read(folder / CONVERSATIONS)
    conversations = parse_conversations(value, str(folder / CONVERSATIONS))
    own = Counter(letters_of(str(one["FC_res"])) for one in value)
    most, number = own.most_common(1)[0] if own else (fallback(), 0)
    return Log(folder, conversations, most if number > len(value) / 2 else fallback())


def _nearby(folder: Path) -> str:
    """Return a sentence about logs nearby that may have been meant."""
    log_folders = sorted(
        str(file.parent.relative_to(folder)) for file in folder.glob(f"*/**/{CONVERSATIONS}")
    )
    if log_folders:
        return f" There are logs in its folders {', '.join(log_folders)}."
    return " Is it the folder of a log?"


def parse_conversations(value: Any, source: str) -> list[Conversation]:  # noqa: ANN401 - a foreign file's content
    """Return the conversations in a log's JSON value.

    Raises ConfigurationError, naming `source`, if it is not a log.
    """
    if not isinstance(value, list) or not all(
        isinstance(one, dict) and "FC_res" in one for one in value
    ):
        problem = f'{source} is not a list of objects with "FC_res", as HammerBench logs are.'
        raise ConfigurationError(problem)
    return [parse_rows(one["FC_res"], source) for one in value]


def parse_rows(value: Any, source: str) -> list[LogRow]:  # noqa: ANN401 - a foreign file's content
    """Return the rows in a list of predictions and labels.

    Raises ConfigurationError if one has another form.
    """
    if not isinstance(value, list) or not all(
        isinstance(row, dict) and {"predict", "label"} <= row.keys() for row in value
    ):
        raise ConfigurationError(f'{source} is not a list of objects with "predict" and "label".')
    return [LogRow(row["predict"], row["label"]) for row in value]


def read_rows(file: Path) -> list[LogRow]:
    """Return the rows of a file of flat predictions. Raise ConfigurationError if it is not one."""
    return parse_rows(_read(file), str(file))


def read_flags(folder: Path) -> list[list[bool]]:
    """Return the judge's flags of a log.

    Raises ConfigurationError if the file is missing or holds no flags.
    """
    value = _read(folder / FLAGS)
    if not isinstance(value, list) or not all(
        isinstance(one, list) and all(isinstance(flag, bool | int) for flag in one) for one in value
    ):
        problem = f"{folder / FLAGS} is not a list of lists of flags, one a conversation."
        raise ConfigurationError(problem)
    return [[bool(flag) for flag in one] for one in value]


def read_snapshot_choice(
    file: Path, folder: Path, conversations: Sequence[Conversation] = ()
) -> list[list[int]]:
    """Return the snapshots that a list names for the log in `folder`.

    An inserted turn counts together with the one after it. The kind of conversations is known by
    the names of the folders, or else by the labels of `conversations`. Raises ConfigurationError
    if the file is no list of indices.
    """
    value = _read(file)
    if not isinstance(value, list) or not all(
        isinstance(one, list)
        and all(isinstance(at, int) and not isinstance(at, bool) for at in one)
        for one in value
    ):
        problem = f"{file} is not a list of lists of snapshot indices, one a conversation."
        raise ConfigurationError(problem)
    if _has_inserted_turns(folder, conversations, value):
        return [[at for index in one for at in (index, index + 1)] for one in value]
    return value


def snapshot_file(folder: Path) -> Path:
    """Return the path of a log's snapshot list, beside it or beside its changed log."""
    return folder.parent / SNAPSHOTS if folder.name == UNCHANGED else folder / SNAPSHOTS


def _has_inserted_turns(
    folder: Path, conversations: Sequence[Conversation], picks: Sequence[Sequence[int]]
) -> bool:
    place = folder.resolve()
    if UNCHANGED in place.name:
        return False
    names = [kind for part in (place.name, place.parent.name) for kind in KINDS if kind in part]
    if names:
        return INSERTED_TURN in names
    picked = [
        (rows, at)
        for rows, one in zip(conversations, picks, strict=False)
        for at in one
        if 0 < at < len(rows)
    ]
    return bool(picked) and all(_is_overriding(rows, at) for rows, at in picked)


def _is_overriding(rows: Conversation, at: int) -> bool:
    """Whether the label at `at` has the same parameters as the one before, but another value."""
    before, here = (
        row.label.get("arguments") if isinstance(row.label, dict) else None
        for row in rows[at - 1 : at + 1]
    )
    return (
        isinstance(before, dict)
        and isinstance(here, dict)
        and before.keys() == here.keys()
        and before != here
    )


_REPLY_COLUMNS = (
    "predict",
    "prediction",
    "pred",
    "reply",
    "response",
    "output",
    "answer",
    "result",
)


def read_replies(file: Path, column: str = "") -> list[str]:
    """Return the replies to requests that no tool fits.

    They are a CSV's column, or a JSON list of texts or objects. Raises ConfigurationError if the
    file is neither, or it is unclear which column is meant.
    """
    rows = list(_csv_rows(file)) if file.suffix.lower() == ".csv" else _read(file)
    if isinstance(rows, list) and rows and all(isinstance(row, str) for row in rows):
        return rows
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        problem = f"{file} holds no replies: a CSV with a header is read, or a JSON list."
        raise ConfigurationError(problem)
    name = column or _reply_column(list(rows[0]), file)
    if not all(isinstance(row.get(name, 0), str | None) for row in rows):
        raise ConfigurationError(
            f"{file} has no text under {name!r} in every row; the first row has {list(rows[0])}."
        )
    return [row[name] or "" for row in rows]


def _reply_column(columns: Sequence[str], file: Path) -> str:
    by_word = {name.strip().lower(): name for name in columns}
    named = [by_word[word] for word in _REPLY_COLUMNS if word in by_word] or (
        columns if len(columns) == 1 else []
    )
    if not named:
        raise ConfigurationError(
            f"{file} has the columns {list(columns)}. Say which one holds the replies: --column"
            " NAME."
        )
    return named[0]


def _csv_rows(file: Path) -> Iterator[dict[str, str]]:
    import csv

    return csv.DictReader(_text(file).splitlines(keepends=True))


def sorry_labels(conversations: Iterable[Conversation]) -> list[LogRow]:
    """Return the rows whose label is a refusal: the user asked for something that no tool fits."""
    return [row for rows in conversations for row in rows if isinstance(row.label, str)]


def _read(file: Path) -> Any:  # noqa: ANN401 - a foreign file's content
    try:
        # not orjson: models break emoji in two, and such halves stand in their logs
        return json.loads(_text(file))
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file} is not valid JSON: {error}.") from error


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig", "surrogatepass")
    except OSError as error:
        raise ConfigurationError(f"{file} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file} is not UTF-8 text: {error}.") from error
