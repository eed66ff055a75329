"""Whether the gold of a sample under policies obeys them, and what is refused or asked about would break one (τ-bench 3).

All by making calls in episodes of the world. What a sample asks for without its policies is proved by the other checks, which
read it so.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from callwright.generators.environments.episodes import StatefulWorld, WorldEpisode
from callwright.generators.environments.policies import PolicyBook, Ruling, unseen_after
from callwright.generators.faults.transcripts import effect_of
from callwright.generators.multi_step.tasks import Ending, is_reached, run_through, world_of_sample
from callwright.generators.stages import StageContext
from callwright.validators.checks.declaring import rule
from callwright.validators.checks.end_state import unseen
from callwright.validators.checks.verdicts import Answer, Finding, answer_of, contradicted, unproved
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Call, CallTurn, DoubtedFact, PolicyCase, ResultTurn, Sample, UserTurn

_PROOF = "Every gold call obeys all {} policies; by {!r} what is due is to {}, and the world shows why."


@rule(
    "policy", "1", "Does the gold obey the policies, and would what it leaves out break one?",
    source="τ-bench 3",
    applies=lambda sample: sample.policy_case is not None,
    sees_whole=True,
    doubts={
        "policy_unlike": "Under the policies the world answers {tool} otherwise than the sample has it.",
        "policy_missed": "The gold calls lead to another end than the sample says.",
        "policy_broken": "The gold call of {tool} breaks the policy {other}.",
        "policy_amiss": "It is not certain what the policies make due: {other}.",
    },
)  # fmt: skip
async def check_policy(sample: Sample, context: StageContext) -> Answer:
    """Prove by making calls what policies allow, refuse and ask leave for."""
    case = sample.policy_case
    if case is None:
        return answer_of([], "There are no policies.")
    try:
        world = world_of_sample(sample, context)
        finder = _PolicyFindings(sample, case, world)
    except ConfigurationError as error:
        return unseen(error)
    return answer_of(finder.findings(), _PROOF.format(len(case.policies), case.policy, case.due))


class _PolicyFindings:
    """What speaks against a policy case, by the episodes that it was tried in."""

    def __init__(self, sample: Sample, case: PolicyCase, world: StatefulWorld) -> None:
        self._sample, self._case, self._world = sample, case, world
        self._book = PolicyBook(case.policies, world)
        self._gold = [call.bare for turn in sample.turns if isinstance(turn, CallTurn) for call in turn.calls]
        self._given = sum(len(turn.calls) for turn in sample.turns[: case.until] if isinstance(turn, CallTurn))

    def findings(self) -> Iterator[Finding]:
        """What is found; nothing more once the gold itself fails."""
        ending = self._ending(self._gold)
        results = [*chain.from_iterable(turn.results for turn in self._sample.turns if isinstance(turn, ResultTurn))]
        for call, recorded, answered in zip(self._gold, results, ending.answers, strict=False):
            if answered.problem or answered.response != recorded:
                reason = f"{call.tool} with {call.arguments!r} is answered otherwise than is recorded."
                yield contradicted(reason, DoubtedFact(kind="policy_unlike", tool=call.tool))
                return
        if len(results) != len(self._gold) or not is_reached(self._sample.changes, ending.changes):
            yield contradicted("The world ends otherwise.", DoubtedFact(kind="policy_missed"))
            return
        for at, call in enumerate(self._gold):
            leave = self._case.leave if at >= self._given else None
            for name in self._book.broken_by(call, self._after(at), leave):
                yield contradicted(
                    f"{call.tool} breaks {name!r}.", DoubtedFact(kind="policy_broken", tool=call.tool, other=name)
                )
        yield from (self._amiss(reason) for reason in self._reasons())

    def _amiss(self, reason: str) -> Finding:
        return unproved(f"It is not certain what is due: {reason}.", DoubtedFact(kind="policy_amiss", other=reason))

    def _ending(self, calls: list[Call]) -> Ending:
        return run_through(self._world.begin(self._sample.simulation_seed), calls)

    def _after(self, calls: int) -> WorldEpisode:
        """The world after so many gold calls."""
        episode = self._world.begin(self._sample.simulation_seed)
        for call in self._gold[:calls]:
            episode.answer(call)
        return episode

    def _reasons(self) -> Iterator[str]:
        """What speaks against what is due."""
        case, call = self._case, self._case.call.bare
        if call not in [one.bare for turn in case.source.turns if isinstance(turn, CallTurn) for one in turn.calls]:
            yield "the user does not want the call"
        at = self._gold.index(call) if call in self._gold else len(self._gold)
        episode = self._after(at)
        if not effect_of(episode, call):
            yield "the world would not carry it out"
        looks = self._book.looks(call, episode)
        for look in unseen_after(looks, self._gold[:at], self._world.begin(self._sample.simulation_seed)):
            yield f"nothing shows what {look.tool} tells"
        yield from self._ruled(self._book.rulings(call, episode))
        if case.sort in ("urged", "tempted") and not self._is_urged:
            yield "nobody urges"

    def _ruled(self, rulings: Sequence[Ruling]) -> Iterator[str]:
        """What of the policies speaks against what is due."""
        case, call = self._case, self._case.call.bare
        mine = [one for one in rulings if one.policy.name == case.policy]
        if not mine:
            yield f"the policy {case.policy!r} is not about it"
        if (call in self._gold) != (case.due == "call"):
            yield "the call is made" if call in self._gold else "the call is not made"
        if any(one.breaks(call, None) for one in mine) == (case.due == "call" and not case.has_leave):
            yield "the policy does not decide so"
        if case.due == "ask" and any(one.verdict == "forbidden" for one in rulings):
            yield "leave would not make it allowed"

    @property
    def _is_urged(self) -> bool:
        """Whether the user says more than in the source."""
        said = [
            [turn.text for turn in one.turns if isinstance(turn, UserTurn)] for one in (self._sample, self._case.source)
        ]
        return said[0] != said[1]
