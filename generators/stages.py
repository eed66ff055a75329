"""A row of the table of stages: what a stage reads and yields, who does it, and which paper asks for it.

Families of samples, the stages of tools and the checks each give their rows; flows/stages.py joins them.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Literal, NamedTuple

from warehouse.records import Record

Role = Literal["generator", "checker", "judge"]
# Any record type goes in: the table erases the types that each function names.
StageFunction = Callable[..., Awaitable[list[Any]]]


def _always(_record: Record) -> bool:
    return True


class Stage(NamedTuple):
    """One stage. One without a function works on a whole build or toolset at once (flows/build.py, flows/tool_checking.py)."""

    name: str
    group: str
    about: str
    reads: str
    yields: str
    source: str
    function: StageFunction | None = None
    role: Role | None = None
    templates: tuple[str, ...] = ()
    applies: Callable[[Any], bool] = _always
    threshold: str = ""  # the recipe's check setting that the function takes as `threshold`
    must_prove: bool = False  # a check before anything is made: what it doesn't prove is rejected

    @property
    def is_check(self) -> bool:
        """Whether the stage judges its record instead of making a new one."""
        return self.yields == "Verdict"
