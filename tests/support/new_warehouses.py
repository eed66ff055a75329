"""New warehouses of the tests are copies of one that was migrated once: migrating takes half a
second, a copy none.

Those of other processes are made whole, unless a test puts one there for them (`begin_warehouse`).
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock

import pytest

from callwright.warehouse.store import Warehouse

_open_for_writing = Warehouse._open_for_writing


class _Copies:
    """Puts a copy of `template`, which is made when it is first needed, where a warehouse is
    about to be made.
    """

    def __init__(self, template: Path) -> None:
        self.template = template
        self._one = Lock()

    def put(self, path: Path) -> None:
        with self._one:
            self._put(path)

    def _put(self, path: Path) -> None:
        if not self.template.exists():
            draft = self.template.with_suffix(".draft")
            _open_for_writing(Warehouse(draft)).close()
            draft.rename(self.template)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
        shutil.copyfile(self.template, draft)
        try:
            os.link(draft, path)  # not where another process has made one by now
        finally:
            draft.unlink()


_made: list[_Copies] = []  # the session's


def begin_warehouse(path: Path) -> None:
    """Put a new warehouse where there is none, for a process that would begin it."""
    if not path.exists():
        _made[-1].put(path)


@pytest.fixture(scope="session", autouse=True)
def _copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Copies]:
    copies = _Copies(tmp_path_factory.mktemp("migrated") / "warehouse.duckdb")
    _made.append(copies)

    def open_for_writing(warehouse: Warehouse) -> object:
        if not warehouse.path.exists():
            with suppress(OSError):  # then it says itself what is wrong with the place
                copies.put(warehouse.path)
        return _open_for_writing(warehouse)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Warehouse, "_open_for_writing", open_for_writing)
        yield copies
