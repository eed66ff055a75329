"""Scores of answers beyond HammerBench's: plans of calls, conversations, and how steady answers are
over several runs.

`invented` is the share of answers that call a tool which is no candidate. `election_stability` and
`levenshtein_stability` compare the calls, not how they are written; they are means over samples, of
all runs together, and kept with the first (CallNavi 5.3). A metric ending in `_macro` is the mean
of the difficulties (CallNavi 5.1).

Of a judge's grades, `judge_score` is a mean over plans (CallNavi 5.2); `parameter_validity` is the
share of valid parameters in calls with the right name, as CONFETTI's text has it (4.1), `…_of_all`
in all predicted calls, as its formula has it. What the judge's reply could not be read for counts
in none of them.

In a conversation each turn is predicted after the true history. A call turn is worth the product of
its calls, each held against the call that was made for it; a chain, all call turns before control
returns to the user, is worth the product of its turns. Surplus calls make a turn worth 0 (CONFETTI
4, 5).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from math import prod
from statistics import fmean
from typing import Literal, NamedTuple, get_args

import orjson
from pydantic import JsonValue

from callwright.generators.kinds import traits_of
from callwright.validators.metrics.callnavi.answers import (
    PARAMETERS,
    GoldAnswer,
    Stability,
    is_routed,
    match_answer,
    measure_stability,
)
from callwright.validators.metrics.confetti.bfcl import OPTIONAL, DecodedCall
from callwright.validators.metrics.confetti.scores import bucket_of, read_acts
from callwright.validators.metrics.confetti.soft import (
    Combining,
    StringScorer,
    foresee,
    score_call,
    score_exactly,
    score_meaning,
    score_value,
    texts_to_compare,
)
from callwright.validators.metrics.ratios import Addend, Cell, Ratios, scores_of
from callwright.validators.metrics.snapshots import ErrorType, error_type, pair_calls, plan_error
from callwright.validators.predictions import CandidateRun, format_of, run_of
from callwright.validators.replies import NAMES, is_valid, join_replies, read_value
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    Grade,
    Prediction,
    ReplyTurn,
    Sample,
    Score,
    Tool,
)

ACTS = "acts"
_CALLING = frozenset({"call"})
_PLAIN = (str, int, float, bool)


class TurnScore(NamedTuple):
    """One call turn: its strict and its soft score."""

    strict: float
    soft: float


_RIGHT, _WRONG = TurnScore(1.0, 1.0), TurnScore(0.0, 0.0)


class ChainScore(NamedTuple):
    """One chain: how many calls it has, how often the user spoke before it, its strict and its
    soft score.
    """

    length: int
    user_turns: int
    strict: float
    soft: float

    def slices(self, tools: int) -> Iterator[tuple[str, str]]:
        """What the paper's figures tell chains apart by (CONFETTI 5.2); `tools` is how many
        candidates there are.
        """
        for what, number in (
            ("chain_length", self.length),
            ("user_turns", self.user_turns),
            ("tools", tools),
        ):
            yield what, bucket_of(number, what)


class ConversationScores(NamedTuple):
    """What is right about the answers to one conversation; `acts` are pairs of annotated and
    predicted ones.
    """

    turns: tuple[TurnScore, ...]
    chains: tuple[ChainScore, ...]
    acts: tuple[tuple[frozenset[str], frozenset[str]], ...]


class GoldConversation:
    """A conversation, against which the answers of any number of runs are held; what was seen
    before is known.
    """

    def __init__(self, sample: Sample, scorer: StringScorer) -> None:
        """The chains of the conversation are found once."""
        self._scorer = scorer
        self._chains = list(_chains(sample))
        self._gold = {at: turn for chain, _ in self._chains for at, turn in chain}
        self._acts = dict(_gold_acts(sample))
        # a score holds on to the calls that it is of: no others can then be taken for them
        self._turns: dict[tuple[int, int], tuple[TurnScore, object]] = {}
        self._stated: dict[tuple[str, str], frozenset[str]] = {}

    def score(self, predictions: Sequence[Prediction]) -> ConversationScores:
        """Hold one run's answers against what was done in the conversation."""
        by_turn = {one.turn: one for one in predictions}
        turns: list[TurnScore] = []
        chains: list[ChainScore] = []
        for calling, spoken in self._chains:
            scored = [self._score_turn(by_turn.get(at), at) for at, _ in calling]
            turns += scored
            length = sum(len(turn.calls) for _, turn in calling)
            chains.append(
                ChainScore(
                    length,
                    spoken,
                    prod(one.strict for one in scored),
                    prod(one.soft for one in scored),
                )
            )
        acts = tuple(
            (due, self._predicted_acts(by_turn[at]))
            for at, due in self._acts.items()
            if at in by_turn
        )
        return ConversationScores(tuple(turns), tuple(chains), acts)

    def texts_to_compare(self, predictions: Iterable[Prediction]) -> Iterator[tuple[str, str]]:
        """The due and the given texts that a scorer will be asked about, and few others."""
        different = {(one.turn, id(one.calls)): one for one in predictions if one.calls}
        for one in different.values():
            gold = self._gold.get(one.turn)
            if (
                gold is None
                or len(one.calls or ()) != len(gold.calls)
                or _is_plainly_same(one, gold.calls)
            ):
                continue
            made = _made(one)
            # a call that lacks a parameter, an empty one aside, is worth nothing whatever its
            # values
            for due in gold.calls:
                needed = {name for name, value in due.arguments.items() if value != OPTIONAL}
                complete = [call for call in made if needed <= call.arguments.keys()]
                yield from (
                    pair for call in complete for pair in texts_to_compare(call, _answer(due))
                )

    def _score_turn(self, prediction: Prediction | None, at: int) -> TurnScore:
        if prediction is None:
            return _WRONG
        seen = (at, id(prediction.calls))
        if seen not in self._turns:
            self._turns[seen] = (
                _score_turn(prediction, self._gold[at].calls, self._scorer),
                prediction.calls,
            )
        return self._turns[seen][0]

    def _predicted_acts(self, prediction: Prediction) -> frozenset[str]:
        """A call is one by its form, words have those that the candidate states."""
        if prediction.calls:
            return _CALLING
        seen = (prediction.text, prediction.strategy)
        if seen not in self._stated:
            value = read_value(prediction.text, format_of(prediction.strategy) or "json")
            stated = value.get(ACTS) if isinstance(value, dict) else None
            self._stated[seen] = (read_acts(stated) if stated is not None else None) or frozenset()
        return self._stated[seen]


def _chains(sample: Sample) -> Iterator[tuple[list[tuple[int, CallTurn]], int]]:
    """The call turns that follow each other without a word of anybody, with their places; how
    often the user spoke before.
    """
    spoken = [(at, turn) for at, turn in enumerate(sample.turns) if turn.kind != "result"]
    for is_call, group in groupby(spoken, key=lambda one: isinstance(one[1], CallTurn)):
        if is_call:
            chain = [(at, turn) for at, turn in group if isinstance(turn, CallTurn)]
            yield chain, sum(turn.kind == "user" for turn in sample.turns[: chain[0][0]])


def _score_turn(
    prediction: Prediction, gold: Sequence[GoldCall], scorer: StringScorer
) -> TurnScore:
    if not gold:  # the turn is right where nothing is called
        return _RIGHT if prediction.calls == () else _WRONG
    if len(prediction.calls or ()) != len(gold):
        return _WRONG
    if _is_plainly_same(prediction, gold):
        return _RIGHT
    made = _made(prediction)
    if len(made) > 1:
        strictly = _product(made, gold, score_exactly, Combining("least"))
        return TurnScore(float(strictly == 1), _product(made, gold, scorer, Combining()))
    answer = _answer(
        gold[0]
    )  # of one call the scorer is asked only about values that are not accepted
    strict = score_call(made, answer, score_exactly, Combining("least"))
    if strict.problem or strict.score == 1:
        return TurnScore(strict.score, strict.score)
    accepted = next(iter(answer.values()))
    soft = [
        worth if worth == 1 else score_value(made[0].arguments[name], accepted[name], scorer)
        for name, worth in strict.parameters.items()
    ]
    return TurnScore(0.0, fmean(soft))


def _made(prediction: Prediction) -> list[DecodedCall]:
    return [DecodedCall(call.tool, dict(call.arguments)) for call in prediction.calls or ()]


def _is_plainly_same(prediction: Prediction, gold: Sequence[GoldCall]) -> bool:
    """Whether the calls are the due ones, to the letter and in their order, with no value but
    texts and numbers.
    """
    return all(
        made.tool == due.tool
        and made.arguments == due.arguments
        and all(
            type(value) in _PLAIN and type(due.arguments[name]) is type(value)
            for name, value in made.arguments.items()
        )
        for made, due in zip(prediction.calls or (), gold, strict=True)
    )


def _product(
    made: Sequence[DecodedCall],
    gold: Sequence[GoldCall],
    scorer: StringScorer,
    combining: Combining,
) -> float:
    """Each due call takes the best of the calls that are left, in any order; what is taken is
    not given back.
    """
    left, scores = list(made), []
    for due in gold:
        answer = _answer(due)
        worth = [score_call([one], answer, scorer, combining).score for one in left]
        best = max(range(len(left)), key=worth.__getitem__)
        scores.append(worth[best])
        del left[best]
    return prod(scores)


def _answer(due: GoldCall) -> dict[str, dict[str, list[JsonValue]]]:
    """The call as BFCL's check compares it: the members of objects in lists of their own."""

    def wrapped(value: JsonValue) -> JsonValue:
        return (
            {name: [member] for name, member in value.items()} if isinstance(value, dict) else value
        )

    return {
        due.tool: {
            name: [list(map(wrapped, value)) if isinstance(value, list) else wrapped(value)]
            for name, value in due.arguments.items()
        }
    }


def _gold_acts(sample: Sample) -> Iterator[tuple[int, frozenset[str]]]:
    """The acts of every agent turn that has any, by its place; a turn that calls does nothing
    else.
    """
    for at, turn in enumerate(sample.turns):
        if isinstance(turn, CallTurn) and turn.calls:
            yield at, _CALLING
        elif isinstance(turn, ReplyTurn) and turn.acts:
            yield at, frozenset(turn.acts)


PlanMetric = Literal["syntax_validity", "syntax_validity_repaired", "routing", "structure", "ast"]


def score_plan(prediction: Prediction, gold: Sequence[GoldCall]) -> dict[PlanMetric, bool]:
    """What is right about an answer, by metric, held against the calls that are due."""
    wanted = GoldAnswer([call.tool for call in gold], [call.arguments for call in gold])
    calls = prediction.calls or ()
    made = {NAMES: [call.tool for call in calls], PARAMETERS: [call.arguments for call in calls]}
    notation = format_of(prediction.strategy)
    valid = is_valid(prediction.text, notation) if notation else bool(calls)
    match = match_answer(made if prediction.calls is not None else None, wanted)
    return {
        "syntax_validity": valid,
        "syntax_validity_repaired": valid or bool(calls),
        "routing": prediction.calls is not None and is_routed(made, wanted.names),
        "structure": match.structure,
        "ast": match.ast,
    }


METRICS = (
    "invented",
    "ast_soft",
    "ast_strict",
    "ast_soft_chains",
    "ast_strict_chains",
    "act_accuracy",
    *get_args(PlanMetric),
    "judge_score",
    "parameter_validity",
    "parameter_validity_of_all",
    *(f"{name}_stability" for name in Stability._fields),
)
Traits = tuple[str, ...]  # the values of FIELDS
Answered = tuple[Sample, Sequence[Prediction]]  # a sample, with what runs have answered to it
FIELDS = ("kind", "category", "language", "difficulty")


def _count_chain(ratios: Ratios, one: ChainScore) -> None:
    ratios.count("ast_soft_chains", one.soft)
    ratios.count("ast_strict_chains", one.strict)


class AnswerScores:
    """The scores of any number of runs, gathered from some samples after others: what is kept
    are sums.
    """

    def __init__(self, tools: Mapping[str, Tool], scorer: StringScorer = score_meaning) -> None:
        """`tools` by key tell which calls are invented."""
        self._tools = tools
        self._scorer = scorer
        self._ratios: dict[tuple[CandidateRun, Traits], Ratios] = defaultdict(Ratios)
        self._chains: dict[Cell, Ratios] = defaultdict(Ratios)
        # by the first of the runs, and by how many runs have answered a sample
        self._steady: dict[tuple[CandidateRun, int, Traits], Ratios] = defaultdict(Ratios)
        self._runs: set[CandidateRun] = set()

    def add(self, answered: Sequence[Answered]) -> None:
        """Count what was answered to some samples; all answers of all runs to a sample come at
        once.
        """
        conversations = {
            sample.key: GoldConversation(sample, self._scorer)
            for sample, _ in answered
            if traits_of(sample.kind).asked == "conversation"
        }
        spoken = (
            (conversations[sample.key], given)
            for sample, given in answered
            if sample.key in conversations
        )
        foresee(
            self._scorer,
            (
                pair
                for conversation, given in spoken
                for pair in conversation.texts_to_compare(given)
            ),
        )
        for sample, given in answered:
            families: dict[CandidateRun, list[str]] = defaultdict(list)
            of_runs: dict[CandidateRun, list[Prediction]] = defaultdict(list)
            for one in given:
                of_runs[run_of(one)].append(one)
            self._add_runs(sample, of_runs, conversations.get(sample.key))
            for run, of_run in sorted(of_runs.items(), key=lambda one: one[0]):
                families[run._replace(run=0)].append(_answer_text(sample, of_run))
            for first, texts in families.items():
                if len(texts) > 1:
                    steady = self._steady[first, len(texts), _traits(sample)]
                    for metric, value in measure_stability(texts)._asdict().items():
                        steady.count(f"{metric}_stability", value)

    def _add_runs(
        self,
        sample: Sample,
        of_runs: Mapping[CandidateRun, Sequence[Prediction]],
        conversation: GoldConversation | None,
    ) -> None:
        names = {self._tools[key].name for key in sample.candidates if key in self._tools}
        plans = _GoldPlans(sample) if traits_of(sample.kind).asked == "plan" else None
        traits = _traits(sample)
        self._runs.update(of_runs)
        for run, of_run in of_runs.items():
            ratios = self._ratios[run, traits]
            invented = sum(
                any(call.tool not in names for call in one.calls or ()) for one in of_run
            )
            ratios.count("invented", invented, len(of_run))
            if conversation is not None:
                scored = conversation.score(of_run)
                if scored.turns:
                    ratios.count(
                        "ast_soft", sum(turn.soft for turn in scored.turns), len(scored.turns)
                    )
                    ratios.count(
                        "ast_strict", sum(turn.strict for turn in scored.turns), len(scored.turns)
                    )
                for one in scored.chains:
                    _count_chain(ratios, one)
                    for where in one.slices(len(sample.candidates)):
                        _count_chain(self._chains[Cell(run, *where)], one)
                agreeing = sum(not due.isdisjoint(stated) for due, stated in scored.acts)
                ratios.count("act_accuracy", agreeing, len(scored.acts))
            elif plans is not None:
                for metric, is_right in chain.from_iterable(map(plans.verdicts, of_run)):
                    ratios.count(metric, is_right, level=sample.facts.difficulty)

    def addends(self) -> dict[str, Addend]:
        """What all that was gathered adds to each metric."""
        added: dict[str, Addend] = {}
        for metric, levels in (
            row for ratios in self._ratios.values() for row in ratios.parts.items()
        ):
            parts = [
                (met * n, whole * n)
                for level in levels.values()
                for (met, whole), n in level.items()
            ]
            added[metric] = Addend(sum(met for met, _ in parts), sum(whole for _, whole in parts))
        return added

    def scores(self) -> list[Score]:
        """Every score of every run: of plans and conversations, and over runs the stability of
        all answers, sorted.
        """
        cells: dict[Cell, Ratios] = defaultdict(Ratios)
        for (run, traits), ratios in self._ratios.items():
            for where in _slices(traits):
                cells[Cell(run, *where)].add(ratios)
        runs = Counter(run._replace(run=0) for run in self._runs)
        for (first, answered, traits), steady in self._steady.items():
            if answered == runs[first]:  # only samples that every run has answered count
                for where in _slices(traits):
                    cells[Cell(first, *where)].add(steady)
        return [*scores_of({**cells, **self._chains})]


def addends_of(
    sample: Sample, predictions: Sequence[Prediction], tools: Mapping[str, Tool]
) -> dict[str, Addend]:
    """What one run's answers to a plan or a conversation add to each of their metrics."""
    scores = AnswerScores(tools)
    scores.add([(sample, predictions)])
    return scores.addends()


def mistakes_of(
    predictions: Iterable[Prediction], samples: Mapping[str, Sample]
) -> Iterator[ErrorType | None]:
    """The mistake of each prediction, "" where there is none, None where no call could have been
    one.
    """
    known: dict[tuple[str, int, int], tuple[ErrorType, object]] = {}
    for one in predictions:
        sample = samples[one.subject]
        traits = traits_of(sample.kind)
        turn = sample.turns[one.turn] if 0 <= one.turn < len(sample.turns) else None
        if not isinstance(turn, CallTurn) and traits.asked != "call":
            yield None
            continue
        seen = (one.subject, one.turn, id(one.calls))
        if seen not in known:
            is_set = traits.asked == "call" or (traits.asked == "plan" and traits.calls == "set")
            due = turn.calls if isinstance(turn, CallTurn) else ()
            known[seen] = (
                error_type(one, sample) if is_set else plan_error(one, due, sample.language),
                one.calls,
            )
        yield known[seen][0]


def has_one_call(sample: Sample) -> bool:
    """Whether a sample is one of those that HammerBench's metrics are about: at most one call is
    due at a snapshot.
    """
    return traits_of(sample.kind).asked == "call"


def _traits(sample: Sample) -> Traits:
    return sample.kind, sample.category, sample.language, sample.facts.difficulty


def _slices(traits: Traits) -> Iterator[tuple[str, str]]:
    yield "all", ""
    for field, value in zip(FIELDS, traits, strict=True):
        if value or field != "difficulty":
            yield field, value


class _GoldPlans:
    """The plans due in a sample, against which the answers of any number of runs are held."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._gold = {at: turn.calls for at, turn in sample.call_turns}
        # a score holds on to the calls that it is of: no others can then be taken for them
        self._known: dict[
            tuple[int, int, str, str | None], tuple[dict[PlanMetric, bool], object]
        ] = {}

    def verdicts(self, one: Prediction) -> Iterable[tuple[PlanMetric, bool]]:
        """What is right about an answer; nothing where no plan is due."""
        if one.turn not in self._gold:
            return ()
        seen = (one.turn, id(one.calls), one.text, format_of(one.strategy))
        if seen not in self._known:
            gold, ordered = self._gold[one.turn], one
            if (
                one.calls and traits_of(self._sample.kind).calls == "set"
            ):  # in the order of those that they are paired with
                made = (pair.made for pair in pair_calls(gold, one.calls, self._sample.language))
                ordered = one.with_changes(calls=tuple(filter(None, made)))
            self._known[seen] = (score_plan(ordered, gold), one.calls)
        return self._known[seen][0].items()


def _answer_text(sample: Sample, predictions: Sequence[Prediction]) -> str:
    """The calls of a run's answers to a sample, written alike where they are alike; replies as
    they are where they call nothing.
    """
    in_order = traits_of(sample.kind).calls == "sequence"
    speaks = traits_of(sample.kind).asked == "conversation"
    texts: list[str] = []
    for one in sorted(predictions, key=lambda one: one.turn):
        calls = [[call.tool, call.arguments] for call in one.calls or ()]
        written = [orjson.dumps(call, option=orjson.OPT_SORT_KEYS).decode() for call in calls]
        says_words = one.calls is None or (speaks and not written)
        texts.append(one.text if says_words else ",".join(written if in_order else sorted(written)))
    return join_replies(texts)


class GradeScores:
    """The scores of any number of runs by one judge's grades, gathered sample by sample."""

    def __init__(self, grades: Mapping[str, Grade], judge: str) -> None:
        """`grades` are given by the keys of the predictions."""
        self._grades = grades
        self._judge = judge
        self._cells: dict[Cell, Ratios] = defaultdict(Ratios)

    def add(self, sample: Sample, predictions: Iterable[Prediction]) -> None:
        """Count what the judge says of answers to a sample."""
        slices = list(_slices(_traits(sample)))
        for one in predictions:
            run, grade = run_of(one), self._grades.get(one.key)
            for where in slices:
                _count(self._cells[Cell(run, *where)], sample, one, grade)

    def scores(self) -> list[Score]:
        """Every score of every run, sorted."""
        return [*scores_of(self._cells, judge=self._judge)]


def _count(ratios: Ratios, sample: Sample, prediction: Prediction, grade: Grade | None) -> None:
    """Count a prediction, with what the judge says of it: of no call with a due name it has said
    anything.
    """
    if grade is not None and grade.metric == "judge_score" and grade.count:
        ratios.count("judge_score", grade.value, level=sample.facts.difficulty)
    if traits_of(sample.kind).asked != "conversation" or (grade is not None and not grade.count):
        return
    judged, valid = (grade.count, round(grade.value)) if grade is not None else (0, 0)
    ratios.count("parameter_validity", valid, judged)
    ratios.count(
        "parameter_validity_of_all",
        valid,
        sum(len(call.arguments) for call in prediction.calls or ()),
    )
