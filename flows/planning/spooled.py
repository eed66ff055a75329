"""Records kept in a file and read one at a time: lists that grow with a build, and need not be held in memory."""

import tempfile
from array import array
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar, overload

from warehouse.records import Record

Held = TypeVar("Held", bound=Record)


class Spooled(Sequence[Held], Generic[Held]):
    """Records of a kind, by their position; of each, where it is in the file stays in memory, and no more.

    The file has no name: it is gone when it is closed, and when the process is killed.
    """

    def __init__(self, kind: type[Held], folder: Path) -> None:
        """There is none yet; the file takes its room in the folder."""
        self._kind = kind
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed when this is
        self._offsets = array("q", [0])

    def add(self, body: str) -> None:
        """Keep one more record, given as its JSON text."""
        self._offsets.append(self._file.seek(self._offsets[-1]) + self._file.write(body.encode()))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, position: int) -> Held: ...

    @overload
    def __getitem__(self, position: slice) -> list[Held]: ...

    def __getitem__(self, position: int | slice) -> Held | list[Held]:
        if isinstance(position, slice):
            return [self[at] for at in range(len(self))[position]]
        begin, end = (self._offsets[range(len(self))[position] + more] for more in (0, 1))
        self._file.seek(begin)
        return self._kind.model_validate_json(self._file.read(end - begin))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
