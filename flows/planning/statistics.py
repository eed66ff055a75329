"""What a build's landed samples are like: comparison with the papers, repetition, readers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from callwright.flows.recipe import AcceptanceRules
from callwright.flows.run.carry import GroupRun
from callwright.generators.conversations.scenarios import PAPER
from callwright.generators.multi_step.making import PAPER as PATHS_OF_PAPER
from callwright.generators.multi_step.making import Shape
from callwright.language.packs import of
from callwright.warehouse.counts import count_of
from callwright.warehouse.queries import sql
from callwright.warehouse.records import CallTurn, ReplyTurn, Sample, Turn, UserTurn
from callwright.warehouse.store import Warehouse

_PAPER_PATHS = {**PATHS_OF_PAPER, "Total": Shape(3.26, 5.07)}
_MANY = 3
_SHOWN = 5  # kinds of defects that a sentence names
_TABLES: dict[str, float] = {
    "conversations": 109,
    "APIs": 86,
    "user turns with calls": 313,
    "with 1 action": 220,
    "with 2 actions": 46,
    "with 3 and more actions": 47,
    "turns in a conversation, in the mean": 8.8,
    "calls": 506,
    "replies that inform": 331,
    "replies that seek information": 110,
    "replies that reject": 32,
    "other replies": 25,
}


class ConversationRow(NamedTuple):
    """A figure of the landed conversations, beside the paper's (CONFETTI, Tables 1 to 3)."""

    figure: str
    ours: float
    paper: float


def conversation_rows(run: GroupRun) -> Iterator[ConversationRow]:
    """Yield the statistics of a build's landed conversations; nothing if there are none."""
    bodies = run.warehouse.stream(sql("statistics.conversations"), [run.build])
    yield from count_conversations(Sample.model_validate_json(body) for (body,) in bodies)


def count_conversations(samples: Iterable[Sample]) -> Iterator[ConversationRow]:
    """Yield the figures of Tables 2 and 3, then Table 1's; nothing if there is no conversation."""
    chains, acts, tools, required = Counter[int](), Counter[str](), Counter[str](), Counter[str]()
    conversations = spoken = 0
    for conversation in samples:
        conversations += 1
        chains.update(min(length, _MANY) for length in _chains(conversation.turns))
        acts.update(
            act for turn in conversation.turns if isinstance(turn, ReplyTurn) for act in turn.acts
        )
        tools.update(
            call.tool
            for turn in conversation.turns
            if isinstance(turn, CallTurn)
            for call in turn.calls
        )
        required.update([conversation.facts.complexity] if conversation.facts.complexity else [])
        spoken += sum(isinstance(turn, UserTurn | ReplyTurn) for turn in conversation.turns)
    if not conversations:
        return
    ours = (
        conversations,
        len(tools),
        chains.total(),
        chains[1],
        chains[2],
        chains[_MANY],
        round(spoken / conversations, 1),
        tools.total(),
        acts["inform"],
        acts["seek"],
        acts["reject"],
        acts["other"],
    )
    for (figure, paper), value in zip(_TABLES.items(), ours, strict=True):
        yield ConversationRow(figure, value, paper)
    for complexity, count in PAPER.items():
        yield ConversationRow(f"complexity={complexity}", required[complexity], count)


def _chains(turns: Iterable[Turn]) -> Iterator[int]:
    """Yield, for each chain, how many calls are made before control returns to the user."""
    length = 0
    for turn in turns:
        if isinstance(turn, CallTurn):
            length += len(turn.calls)
        elif isinstance(turn, ReplyTurn) and length:
            yield length
            length = 0
    if length:
        yield length


class PathRow(NamedTuple):
    """The mean lengths of a domain's landed paths, and the paper's (ComplexFuncBench, Table 3)."""

    domain: str
    samples: int
    steps: float
    calls: float
    paper_steps: float | None
    paper_calls: float | None


def path_rows(run: GroupRun) -> Iterator[PathRow]:
    """Yield a row for each domain of a build's landed paths, and a total if there are several."""
    rows = run.warehouse.rows(sql("statistics.paths"), [run.build])
    for row in rows if len(rows) > 2 else rows[:1]:  # noqa: PLR2004 - one domain is the total
        paper = _PAPER_PATHS.get(row["domain"])
        yield PathRow(**row, paper_steps=paper and paper.steps, paper_calls=paper and paper.calls)


class FailureRow(NamedTuple):
    """The number of records that failed at a stage for one kind of reason, with an example."""

    stage: str
    records: int
    reason: str

    @property
    def sentence(self) -> str:
        """A sentence on how many failed where, with the first line of the reason."""
        reason = self.reason.partition("\n")[0]
        why = "because" if self.records == 1 else "for example because"
        return f"{self.stage}: {self.records} failed, {why}: {reason}"


def failure_rows(warehouse: Warehouse, build: str) -> tuple[FailureRow, ...]:
    """Return what failed in a build, stage by stage."""
    return tuple(FailureRow(**row) for row in warehouse.rows(sql("statistics.failures"), [build]))


class RepeatedWords(NamedTuple):
    """Words that too many requests of a build start with, or consist of apart from values.

    A row of the view `repeated_words`.
    """

    language: str
    what: str
    words: str
    requests: int
    of_requests: int
    share: float
    allowed: float

    @property
    def sentence(self) -> str:
        """A sentence on what was found, and which setting limits it."""
        alike = "differ only in numbers and quoted words from"
        if self.what == "opening":
            alike = "begin with"
        return (
            f"{self.share:.1%} of the requests in {of(self.language).name} ({self.requests} of"
            f" {self.of_requests}) {alike} {self.words!r}. checks.largest_{self.what} allows"
            f" {self.allowed:.1%}."
        )


class ReaderRow(NamedTuple):
    """How a reader read what was planted, by language and family; `defect` "" is all defects.

    A row of the view `reader_precision`. Shares lie between `_low` and `_high` with 95 %
    confidence. None if nothing was planted.
    """

    reader: str
    language: str
    family: str
    defect: str
    n_read: int
    n_doubted: int
    n_planted: int
    n_caught: int
    n_missed: int
    caught_share: float | None
    caught_low: float | None
    caught_high: float | None
    n_doubles: int
    n_doubted_doubles: int
    false_doubt_share: float | None
    false_doubt_low: float | None
    false_doubt_high: float | None
    precision: float | None
    precision_low: float | None


class TrustRow(NamedTuple):
    """Whether a reader may settle anything: planted defects caught, and golds it agreed with.

    A row of the view `reader_trust`; shares are None if nothing was planted.
    """

    reader: str
    n_read: int
    n_planted: int
    n_caught: int
    caught_share: float | None
    worst_defect: str | None
    n_worst_planted: int | None
    worst_share: float | None
    worst_high: float | None
    agreed_share: float | None

    def problem(self, caught_at_least: float, agreed_at_least: float) -> str:
        """Return a sentence on why the reader settles nothing; "" if it may settle."""
        if self.caught_share is not None and self.caught_share < caught_at_least:
            shortfall = (
                f"it caught {self.n_caught} of {self.n_planted} planted defects, and"
                f" {caught_at_least:.0%} are asked for"
            )
        elif self.worst_high is not None and self.worst_high < caught_at_least:
            shortfall = (
                f"of {self.n_worst_planted} planted defects of the sort {self.worst_defect} it"
                f" caught {self.worst_share or 0:.0%}, and {caught_at_least:.0%} are asked for"
            )
        elif self.agreed_share is not None and self.agreed_share < agreed_at_least:
            shortfall = (
                f"it agreed with {self.agreed_share:.0%} of {count_of(self.n_read, 'gold')}, and"
                f" {agreed_at_least:.0%} are asked for: it reads badly, or the golds are bad"
            )
        else:
            return ""
        return (
            f"{self.reader} settles nothing: {shortfall} (accept). What it reads waits for people."
        )


def told_of_trust(warehouse: Warehouse, build: str, accept: AcceptanceRules) -> Iterator[str]:
    """Yield a sentence for each reader of a build that settles nothing, with the reason."""
    for row in rows_of_view(warehouse, "reader_trust", TrustRow, build):
        if problem := row.problem(accept.caught_at_least, accept.agreed_at_least):
            yield problem


class UserRow(NamedTuple):
    """How simulated users did in a build's live tasks, by language: refused wordings, errors.

    Both are shares, of wordings and of answers. A row of the view `live_users`.
    """

    language: str
    conversations: int
    user_turns: float
    user_wordings: int
    user_refused: float | None
    user_errors: float | None


Found = TypeVar("Found", ReaderRow, TrustRow)


def rows_of_view(
    warehouse: Warehouse, view: str, kind: type[Found], build: str
) -> tuple[Found, ...]:
    """Return a view's rows for a build; empty if there are none."""
    rows = warehouse.rows(f"select {', '.join(kind._fields)} from {view} where build = ?", [build])  # noqa: S608 - our names
    return tuple(kind(**row) for row in rows)


def told_of_readers(rows: Sequence[ReaderRow], wrong_at_most: float | None) -> Iterator[str]:
    """Yield which readers are unmeasured, which defects others missed, and who is rejected.

    The defects that were missed most come first.
    """
    for reader in dict.fromkeys(row.reader for row in rows):
        mine = [row for row in rows if row.reader == reader]
        if not any(row.n_planted or row.n_doubles for row in mine):
            yield (
                f"How well {reader} reads was not measured, because readers.planted in the recipe "
                "plants no defects for it."
            )
            continue
        missed, planted = Counter[str](), Counter[str]()
        for row in mine:
            missed[row.defect] += row.n_missed
            planted[row.defect] += row.n_planted
        kinds = sorted(
            (name for name in missed if name and missed[name]),
            key=lambda name: -missed[name] / planted[name],
        )
        if kinds:
            told = ", ".join(f"{name} {missed[name]} of {planted[name]}" for name in kinds[:_SHOWN])
            yield f"{reader} missed {missed['']} of {planted['']} planted defects: {told}."
    if wrong_at_most is None:
        return
    waiting: dict[str, list[str]] = {}
    for row in rows:
        if not row.defect and (row.precision_low is None or row.precision_low < 1 - wrong_at_most):
            known = "not measured" if row.precision_low is None else f"{row.precision_low:.1%}"
            waiting.setdefault(row.reader, []).append(f"{row.family} in {row.language} ({known})")
    for reader, groups in waiting.items():
        yield (
            f"Samples that {reader} judged wait for reviewers where it is not known to be right in"
            f" {1 - wrong_at_most:.1%} (accept.wrong_at_most): {', '.join(groups)}. A larger"
            " readers.planted measures it better."
        )
