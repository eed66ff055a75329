"""What a candidate's answers are kept under."""

from typing import NamedTuple


class CandidateRun(NamedTuple):
    """One run of one candidate over one release; `run` counts repetitions of the same."""

    release: str
    model: str
    strategy: str = "direct"
    run: int = 0
