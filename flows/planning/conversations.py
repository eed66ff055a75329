"""Planning simulated conversations, and their statistics beside the paper's (CONFETTI, Tables 1 to 3)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, cast, get_args

from flows.runner import GroupRun
from generators.conversations.scenarios import PAPER, plan_scenarios, shared_out
from generators.kinds import CONVERSATION
from warehouse.records import CallTurn, Complexity, Language, ReplyTurn, Sample, Scenario, Tool, Turn, UserTurn

_MANY = 3
_TABLES: dict[str, float] = {
    "conversations": 109, "APIs": 86, "user turns with calls": 313, "with 1 action": 220, "with 2 actions": 46,
    "with 3 and more actions": 47, "turns in a conversation, in the mean": 8.8, "calls": 506, "replies that inform": 331,
    "replies that seek information": 110, "replies that reject": 32, "other replies": 25,
}  # fmt: skip


class ConversationRow(NamedTuple):
    """A figure of the landed conversations, beside the paper's (CONFETTI, Tables 1 to 3)."""

    figure: str
    ours: float
    paper: float


def complexity_shares(count: int, languages: Sequence[Language]) -> Iterator[tuple[Language, Complexity, int]]:
    """How many conversations of each complexity: as Table 1 has them, shared out over the languages."""
    for complexity, share in shared_out(count).items():
        for position, language in enumerate(languages):
            yield language, complexity, share // len(languages) + (position < share % len(languages))


def plan_complexity(run: GroupRun, complexity: str, language: Language, until: int) -> Iterator[Scenario]:
    """The first `until` scenarios of a complexity."""
    if complexity not in get_args(Complexity):
        return iter(())
    return plan_scenarios(cast("Complexity", complexity), language, until, run.tools, seed=run.recipe.seed)


def validate_scenarios_can_be_planned(
    count: int, languages: Sequence[Language], tools: Sequence[Tool], *, seed: int
) -> None:
    """Raise ConfigurationError where the tools allow no conversation of a complexity that is asked for."""
    for language, complexity, share in complexity_shares(count, languages):
        if share:
            next(plan_scenarios(complexity, language, share, tools, seed=seed), None)


def conversation_rows(run: GroupRun) -> Iterator[ConversationRow]:
    """The statistics of a build's landed conversations; nothing where there are none."""
    bodies = run.warehouse.stream(
        """
        select s.body from samples s join outcomes f on f.subject = s.key
        where f.build = ? and f.stage = 'land' and f.outcome = 'passed' and s.kind = ?
        """,
        [run.build, CONVERSATION],
    )
    yield from count_conversations(Sample.model_validate_json(body) for (body,) in bodies)


def count_conversations(samples: Iterable[Sample]) -> Iterator[ConversationRow]:
    """The figures of Tables 2 and 3, then Table 1's; nothing where there is no conversation."""
    chains, acts, tools, required = Counter[int](), Counter[str](), Counter[str](), Counter[str]()
    conversations = spoken = 0
    for one in samples:
        conversations += 1
        chains.update(min(length, _MANY) for length in _chains(one.turns))
        acts.update(act for turn in one.turns if isinstance(turn, ReplyTurn) for act in turn.acts)
        tools.update(call.tool for turn in one.turns if isinstance(turn, CallTurn) for call in turn.calls)
        required.update(one.trait_values("complexity"))
        spoken += sum(isinstance(turn, UserTurn | ReplyTurn) for turn in one.turns)
    if not conversations:
        return
    ours = (
        conversations, len(tools), chains.total(), chains[1], chains[2], chains[_MANY],
        round(spoken / conversations, 1), tools.total(), acts["inform"], acts["seek"], acts["reject"], acts["other"],
    )  # fmt: skip
    for (figure, paper), value in zip(_TABLES.items(), ours, strict=True):
        yield ConversationRow(figure, value, paper)
    for complexity, count in PAPER.items():
        yield ConversationRow(f"complexity={complexity}", required[complexity], count)


def _chains(turns: Iterable[Turn]) -> Iterator[int]:
    """How many calls are made before control returns to the user, chain by chain."""
    length = 0
    for turn in turns:
        if isinstance(turn, CallTurn):
            length += len(turn.calls)
        elif isinstance(turn, ReplyTurn) and length:
            yield length
            length = 0
    if length:
        yield length
