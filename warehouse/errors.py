"""The errors of callwright: one tree, cut first by what the runner does about each."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError  # `callwright --help` does without pydantic


class CallwrightError(Exception):
    """Anything callwright can explain in a sentence; a bug is never one of these."""


class ConfigurationError(CallwrightError):
    """A setting, a name or a recipe is wrong: the command stops with exit code 2."""


class TransientError(CallwrightError):
    """A rate limit, a time-out or a server fault that another try may cure; the only one that is
    retried.
    """

    def __init__(
        self, message: str, retry_after: float | None = None, *, may_be_charged: bool = False
    ) -> None:
        """Keep the server's own wish in `retry_after` (seconds), None where it named none.

        What was sent and not answered in time `may_be_charged` for all the same.
        """
        super().__init__(message)
        self.retry_after = retry_after
        self.may_be_charged = may_be_charged


class UnavailableError(TransientError):
    """The whole model is away or wants to be left alone (refused connections, 429, 502, 503): no
    single request is to blame.
    """


class ReplyError(CallwrightError):
    """A model answered, but unusably: this record becomes a Failure and the run goes on."""

    def __init__(self, message: str, *, may_be_charged: bool = False) -> None:
        """What was answered and withheld `may_be_charged` for all the same."""
        super().__init__(message)
        self.may_be_charged = may_be_charged


class RecordError(CallwrightError):
    """A record breaks an invariant: it becomes a Failure and the run goes on."""


class BudgetError(CallwrightError):
    """The money set aside is spent: the build stops cleanly and goes on from here next time."""


class AnnotationError(CallwrightError):
    """Label Studio refused, or its data do not fit: the command stops with exit code 1."""


class StoreError(CallwrightError):
    """The warehouse refused: the command stops with exit code 1."""


def first_problem(error: "ValidationError") -> str:
    """Where the first thing stands that pydantic finds wrong, and what is wrong with it:
    "tools.0.name: Field required".
    """
    first = error.errors(include_url=False, include_input=False)[0]
    return (
        f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg'].removeprefix('Value error, ')}"
    )
