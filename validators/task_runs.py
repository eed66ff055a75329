"""A run over a task: the world answers what the candidate calls, and how it ends and what the user is told says whether it is done.

Beside it the same calls are held against the gold's as ComplexEval does, which counts those that are right and names mistakes.
"""

from collections import Counter
from collections.abc import Sequence

from pydantic import JsonValue

from callwright.generators.environments.episodes import START, WorldEpisode, diff, unnamed
from callwright.validators.metrics.complexeval.calls import CandidateCall, read_call
from callwright.validators.metrics.complexeval.golden import MatchedCall
from callwright.validators.metrics.complexeval.rules import Mistake
from callwright.validators.metrics.complexeval.runs import RunOutcome, SampleRun
from callwright.warehouse.answers import untold_fields
from callwright.warehouse.records import Sample, Tool


class TaskRun:
    """The state of a run in an episode; driven as `SampleRun` is, which it asks for the figures beside.

    A run is a success where the candidate ended it, the world is as the task wants it, and what the user asked for is told.
    """

    def __init__(
        self, sample: Sample, episode: WorldEpisode, tools: Sequence[Tool], beside: SampleRun, turn_limit: int
    ) -> None:
        """Begin with a new episode, and a run of the same sample that nothing was taken by."""
        self.outcome: RunOutcome | None = None
        self._goal, self._episode, self._beside = Counter(unnamed(sample.changes)), episode, beside
        self._sample, self._answers = sample, dict[str, list[JsonValue]]()
        self._tools = {tool.name: tool for tool in tools}
        self.untold: int | None = len(sample.asked) if sample.asked else None
        self._turn_limit, self._taken = turn_limit, 0

    @property
    def end_reached(self) -> bool:
        """Whether the world is as the task wants it now."""
        return self._ended == self._goal

    @property
    def needless_changes(self) -> int:
        """How many things or fields are otherwise now that the task does not want so."""
        return (self._ended - self._goal).total()

    @property
    def _ended(self) -> Counter[str]:
        return Counter(unnamed(diff(START, self._episode.state)))

    async def take(self, made: Sequence[CandidateCall]) -> tuple[MatchedCall, ...]:
        """Make the calls of one turn in the world, one after the other."""
        self._taken += 1
        judged: tuple[MatchedCall, ...] = ()
        if self._beside.outcome is None:
            judged = await self._beside.take(made)
        if len(judged) != len(made):
            judged = (MatchedCall(None),) * len(made)
        answered = tuple(self._answered(*pair) for pair in zip(made, judged, strict=True))
        if self._taken >= self._turn_limit:
            await self._end(Mistake("turn_limit", "", f"The model was still calling after {self._taken} turns."))
        return answered

    def _answered(self, made: CandidateCall, judged: MatchedCall) -> MatchedCall:
        call = read_call(made, self._tools)
        if isinstance(call, str):
            return judged._replace(answered=({"error": call},))
        found = self._episode.answer(call)
        told: JsonValue = found.response
        if found.problem and told is None:
            told = {"error": found.problem}
        else:
            self._answers.setdefault(call.key, []).append(told)
        return judged._replace(call=call, answered=(told,))

    async def finish(self, text: str | None) -> RunOutcome:
        """End the run with the model's last word; None says that it gave none."""
        if text is None:
            return await self._end(Mistake("unknown_error", "", "The model neither called nor answered."))
        if self.untold is not None:
            self.untold = len(untold_fields(self._sample, text, self._answers))
        return await self._end(None)

    async def _end(self, problem: Mistake | None) -> RunOutcome:
        beside = self._beside.outcome or await self._beside.finish("" if problem is None else None)
        if problem is None and self.end_reached and self.untold:
            problem = Mistake("stop_early", "", "The user was not told all that was asked for.")
        elif problem is None and not self.end_reached:
            missed = Mistake("stop_early", "", "The world did not end as the task wants it.")
            problem = next((one for one in (beside.problem, *beside.mistakes) if one is not None), missed)
        self.outcome = beside._replace(problem=problem, mistakes=(), real_turns=self._taken)
        return self.outcome
