"""What a candidate's answers are kept under."""

from typing import NamedTuple

from warehouse.records import Prediction, ToolsShown


class CandidateRun(NamedTuple):
    """One run of one candidate over one release; `run` counts repetitions of the same."""

    release: str
    model: str
    strategy: str = "direct"
    tools_shown: ToolsShown = "first"
    run: int = 0


def run_of(prediction: Prediction) -> CandidateRun:
    """The run that a prediction belongs to."""
    return CandidateRun(
        prediction.release, prediction.model, prediction.strategy, prediction.tools_shown, prediction.run
    )
