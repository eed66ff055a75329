"""Opening the SQLite files of the work folder: the ledger, and the store of responses."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

from warehouse.errors import StoreError

PATIENCE = 60.0  # seconds to wait for another process's commit


def open_file(
    path: Path,
    set_up: Callable[[sqlite3.Connection, Path], None],
    damage: Callable[[Path, sqlite3.Error], str],
    unopened: str,
) -> sqlite3.Connection:
    """A connection to the file at `path`, made where it lacks, after `set_up` has seen to its tables.

    Raises StoreError: `unopened` (with `path` and `error` in braces) where no file can be, `damage` where it is none of ours.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(unopened.format(path=path, error=error)) from error
    try:
        set_up(connection, path)
    except sqlite3.Error as error:
        connection.close()
        raise StoreError(damage(path, error)) from error
    except StoreError:
        connection.close()
        raise
    return connection
