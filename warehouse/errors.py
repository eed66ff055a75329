"""The errors of callwright: one tree, divided first by how the runner reacts to each."""

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError  # `callwright --help` does without pydantic


class CallwrightError(Exception):
    """Anything callwright can explain in a sentence; a bug is never one of these."""


class ConfigurationError(CallwrightError):
    """A setting, a name or a recipe is wrong: the command stops with exit code 2."""


class TransientError(CallwrightError):
    """A rate limit, a time-out or a server fault that a retry may cure; the only retried error."""

    def __init__(
        self, message: str, retry_after: float | None = None, *, may_be_charged: bool = False
    ) -> None:
        """Keep the wait that the server asked for in `retry_after` (seconds), or None.

        A request that was not answered in time `may_be_charged` nevertheless.
        """
        super().__init__(message)
        self.retry_after = retry_after
        self.may_be_charged = may_be_charged


class UnavailableError(TransientError):
    """The whole model is away or asks to be left alone (refused connections, 429, 502, 503)."""


class ReplyError(CallwrightError):
    """A model's answer is unusable: the record becomes a Failure and the run continues."""

    def __init__(self, message: str, *, may_be_charged: bool = False) -> None:
        """Create the error; an answer that was withheld `may_be_charged` nevertheless."""
        super().__init__(message)
        self.may_be_charged = may_be_charged


class RecordError(CallwrightError):
    """A record breaks an invariant: it becomes a Failure and the run goes on."""


class BudgetError(CallwrightError):
    """The budget is spent: the build stops cleanly and continues from here next time."""


class AnnotationError(CallwrightError):
    """Label Studio refused, or its data do not fit: the command stops with exit code 1."""


class StoreError(CallwrightError):
    """The warehouse refused: the command stops with exit code 1."""


_UNWRITABLE = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.EEXIST,
    errno.ENAMETOOLONG,
}


def store_error_of(error: OSError) -> StoreError | None:
    """Return the error of a disk or folder that can't be written to; None for any other."""
    if error.errno not in _UNWRITABLE:
        return None
    place = f"{error.filename!r} can't be written" if error.filename else "A file can't be written"
    return StoreError(
        f"{place} ({error.strerror}). Check that the disk has room and that you may write to the"
        " folder, then run the same command again. Finished work is kept."
    )


def first_problem(error: "ValidationError") -> str:
    """Return pydantic's first error with its place: "tools.0.name: Field required"."""
    first = error.errors(include_url=False, include_input=False)[0]
    return (
        f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg'].removeprefix('Value error, ')}"
    )
