"""Answers to a release's samples: from candidates, from uncorrected samples, from defects.

An uncorrected sample is one before a person corrected it; defects are planted. Runs over
multi-step samples are read for what can be taught: right ones whole, of wrong ones a step that
is provably wrong. A run is right if it was a success. One that recovered from a wrong call is
not taught, because the mistake would be taught with it. Of a wrong run the first step that
differs is provable if the conversation before it equals the gold's exactly: there the gold's
calls are due, and something else was done.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice, pairwise
from math import inf, isnan
from operator import itemgetter
from typing import Literal, NamedTuple

import orjson
from pydantic import JsonValue, TypeAdapter

from callwright.warehouse.answers import untold_fields
from callwright.warehouse.batches import batches, grouped
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    RunCall,
    RunTurn,
    Sample,
    Turn,
    UserTurn,
)
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Queries, Warehouse

WRONG = "its run is wrong"
NOT_CLEAN = (
    "its run is right in the end, but a call of it went wrong, which would be taught with it"
)
NOT_TOLD = (
    "its run is right, but its last words do not tell all that was asked for: they are left out"
)
ELSEWHERE = (
    "before it errs its run goes another way than the gold, or talks with a user: which step is"
    " wrong is not proved"
)
NOT_PROVED = "its run is wrong, but nothing proves which step is"
_TURNS = TypeAdapter(tuple[RunTurn, ...])


class GivenRun(NamedTuple):
    """A candidate's run: whether it is right, and its conversation if that can be taught.

    `problem` says why it can't be.
    """

    given_by: str
    is_right: bool
    turns: tuple[Turn, ...] = ()
    problem: str = ""


class WrongStep(NamedTuple):
    """What a run did where the gold's calls were due: calls, or words."""

    turn: int
    calls: tuple[Call, ...]
    words: str


def read_run(sample: Sample, row: Row) -> tuple[GivenRun, WrongStep | None]:
    """Return a run over a sample as it can be taught, and its provably wrong step or None."""
    messages = _TURNS.validate_json(row["messages"])
    if row["success"]:
        return _right(sample, row, messages), None
    found = _first_wrong(sample, row, messages)
    problem, wrong = (found, None) if isinstance(found, str) else ("", found)
    return GivenRun(row["given_by"], is_right=False, problem=problem), wrong


def _right(sample: Sample, row: Row, messages: Sequence[RunTurn]) -> GivenRun:
    turns = _conversation(sample, row["opening"] or sample.request, messages)
    if turns is None:
        return GivenRun(row["given_by"], is_right=True, problem=NOT_CLEAN)
    last = turns[-1]
    is_short = {row["completeness"], row["correctness"]} - {None, _BEST}
    results_by_call: dict[str, list[JsonValue]] = {}  # what calls returned, by their keys
    for turn, following in pairwise(turns):
        if isinstance(turn, CallTurn) and isinstance(following, ResultTurn):
            for call, result in zip(turn.calls, following.results, strict=True):
                results_by_call.setdefault(call.bare.key, []).append(result)
    if isinstance(last, ReplyTurn) and (
        is_short or untold_fields(sample, last.text, results_by_call)
    ):
        return GivenRun(row["given_by"], is_right=True, turns=turns[:-1], problem=NOT_TOLD)
    return GivenRun(row["given_by"], is_right=True, turns=turns)


_BEST = 2  # of a judge's scores


def _conversation(
    sample: Sample, opening: str, messages: Sequence[RunTurn]
) -> tuple[Turn, ...] | None:
    """Return the conversation of a run; None if a call went wrong, or a result is unknown."""
    begun = sample.turns[: sample.fault.until] if sample.fault else (UserTurn(text=opening),)
    turns: list[Turn] = [*begun]
    recorded = [turn.results for turn in sample.turns if isinstance(turn, ResultTurn)]
    for message in messages:
        if message.problem:
            return None
        calls = tuple(GoldCall(tool=call.tool, arguments=call.arguments) for call in message.calls)
        if calls and not recorded and all(one.matched for one in message.calls):
            return (*turns, CallTurn(calls=calls))  # of a dialogue, whose call nobody carries out
        if message.calls:
            results = [_result(call, recorded) for call in message.calls]
            if any(one is _UNKNOWN or (_is_error(one) and not sample.fault) for one in results):
                return None
            turns += [CallTurn(calls=calls, executed=True), ResultTurn(results=tuple(results))]
            continue
        turns.append(ReplyTurn(text=message.text))
        turns += [UserTurn(text=message.told)] if message.told else []
    return tuple(turns)


_UNKNOWN: JsonValue = "\0"


def _result(call: RunCall, recorded: Sequence[tuple[JsonValue, ...]]) -> JsonValue:
    """Return what a call returned: what was observed, or the sample's recorded result."""
    if call.observation is not None:
        return call.observation
    if call.step is not None and call.place is not None:
        return recorded[call.step][call.place]
    return _UNKNOWN


def _is_error(result: JsonValue) -> bool:
    return isinstance(result, dict) and bool(result.get("error"))


def _first_wrong(sample: Sample, row: Row, messages: Sequence[RunTurn]) -> WrongStep | str:
    """Return the first step that differs from the gold, or why it is not proved wrong."""
    if sample.fault or row["opening"]:
        return ELSEWHERE
    due = [(at, turn) for at, turn in sample.call_turns if turn.executed]
    for number, ((at, turn), message) in enumerate(zip(due, messages, strict=False)):
        if message.problem:
            return NOT_PROVED
        if _called(message.calls) == _called(turn.calls):
            continue
        if not message.calls and message.text:  # the run ended here, with calls to be made
            return WrongStep(at, (), message.text)
        # In a task its world refuses a wrong call, otherwise no gold call is like it.
        refused = any(_is_error(one.observation) for one in message.calls)
        if not (number in row["wrong_turns"] if row["end_reached"] is None else refused):
            return ELSEWHERE
        calls = tuple(Call(tool=one.tool, arguments=one.arguments) for one in message.calls)
        return WrongStep(at, calls, "")
    return NOT_PROVED


def _stated(call: GoldCall | RunCall) -> bytes:
    return orjson.dumps([call.tool, call.arguments], option=orjson.OPT_SORT_KEYS)


def _called(calls: Sequence[GoldCall | RunCall]) -> list[bytes]:
    """Return what is called, regardless of order."""
    return sorted(map(_stated, calls))


NOT_ANSWERED = "none of the candidates has answered it"
OUT_OF_BAND = "the share of its runs that pass is not within --pass-rate"
_AT_ONCE = 500  # samples
AnswerSource = Literal["candidate", "person", "planted"]


class GivenAnswer(NamedTuple):
    """An answer at a turn: `calls` is None if it could not be read.

    `given_by` is a candidate and its strategy, or a defect.
    """

    turn: int
    source: AnswerSource
    given_by: str
    is_right: bool
    calls: tuple[Call, ...] | None
    words: str = ""
    reasoning: str = ""


class SampleAnswers(NamedTuple):
    """All answers to a sample, and the share of its runs that pass, None without runs.

    `runs` are over multi-step samples, where nothing is answered snapshot by snapshot.
    """

    given: tuple[GivenAnswer, ...] = ()
    pass_rate: float | None = None
    runs: tuple[GivenRun, ...] = ()


class PassRates(NamedTuple):
    """The wanted band of pass rates, ends included."""

    lowest: float = 0.0
    highest: float = 1.0


class Answerers(NamedTuple):
    """Whose answers are wanted: candidates with strategies, on samples in a pass-rate band."""

    candidates: tuple[tuple[str, str], ...] = ()
    band: PassRates = PassRates()


def parse_pass_rates(stated: str) -> PassRates:
    """Parse a band such as `0.2:0.8`; one end may be left out.

    Raises ConfigurationError for anything else.
    """
    low, sign, high = stated.partition(":")
    try:
        band = PassRates(float(low or 0), float(high or 1))
    except ValueError:
        band = PassRates(inf)
    if not sign or any(map(isnan, band)) or not 0 <= band.lowest <= band.highest <= 1:
        raise ConfigurationError(
            f"Pass rates are given as LOW:HIGH, both from 0 to 1, such as 0.2:0.8, not {stated!r}."
        )
    return band


class AnswerReader:
    """The answers to samples that are visited in order, read some hundreds at a time."""

    def __init__(
        self,
        warehouse: Warehouse,
        release: str,
        asked: Answerers,
        planted: Callable[[Sample], Iterable[tuple[str, Sample]]] = lambda _sample: (),
    ) -> None:
        """Read answers to a release's samples.

        `planted` gives the sample with defects in a call, each after its name; the first that
        fits is used.
        """
        self._warehouse = warehouse
        self._release = release
        self._asked = asked
        self._planted = planted
        self._given: dict[str, list[Row]] = {}
        self._runs: dict[str, list[Row]] = {}
        self._rates: dict[str, float] = {}
        self._earlier: dict[str, list[Row]] = {}

    def through(self, samples: Iterable[tuple[str, Sample]]) -> Iterator[tuple[str, Sample]]:
        """Yield the samples; `of` answers for each one until the next is taken."""
        for some in batches(samples, _AT_ONCE):
            self._read([sample.key for _, sample in some])
            yield from some

    def of(self, sample: Sample) -> SampleAnswers:
        """Return all answers to a sample.

        Raises RecordError if it was not answered, or if its pass rate is outside the band.
        """
        rate, band = self._rates.get(sample.key), self._asked.band
        if self._asked.candidates and rate is None:
            raise RecordError(NOT_ANSWERED)
        if rate is not None and not band.lowest <= rate <= band.highest:
            raise RecordError(OUT_OF_BAND)
        all_answers = list(map(_given, self._given.get(sample.key, ())))
        for row in self._earlier.get(sample.key, ()):
            earlier = Sample.model_validate_json(row["body"])
            all_answers += _differing(sample, earlier, "person", "corrected")
        broken = self._planted(sample)
        found = (_differing(sample, one, "planted", name) for name, one in broken)
        planted = chain.from_iterable(found)
        runs: list[GivenRun] = []
        for row in self._runs.get(sample.key, ()):
            run, wrong = read_run(sample, row)
            runs.append(run)
            if wrong is not None:
                whose: tuple[int, AnswerSource, str] = (wrong.turn, "candidate", run.given_by)
                all_answers.append(GivenAnswer(*whose, False, wrong.calls, wrong.words))  # noqa: FBT003
        return SampleAnswers((*all_answers, *islice(planted, 1)), rate, tuple(runs))

    def _read(self, keys: Sequence[str]) -> None:
        names = ["~".join(one) for one in self._asked.candidates]
        query_values = [self._release, names, list(keys)]
        queries: Queries = {
            "given": (sql("given_answers.answers"), query_values),
            "runs": (sql("given_answers.runs"), query_values),
            "rates": (sql("given_answers.pass_rates"), query_values),
            "earlier": (sql("given_answers.corrected"), [list(keys)]),
        }
        answer_rows = self._warehouse.rows_by_name(queries)
        self._rates = {row["sample"]: row["pass_rate"] for row in answer_rows["rates"]}
        self._given, self._runs, self._earlier = (
            grouped(answer_rows[name], itemgetter("subject"))
            for name in ("given", "runs", "earlier")
        )


def _given(row: Row) -> GivenAnswer:
    calls = None
    if row["calls"] is not None:
        calls = tuple(Call.model_validate(one) for one in orjson.loads(row["calls"]))
    words = row["text"] if not calls else ""
    # candidates that answer in a notation state the words to the user as `say`
    with suppress(orjson.JSONDecodeError):
        stated = orjson.loads(words)
        said = stated.get("say") if isinstance(stated, dict) else None
        words = said if isinstance(said, str) else words
    reasoning = row["reasoning"] or ""
    return GivenAnswer(
        row["turn"], "candidate", row["given_by"], row["is_right"], calls, words, reasoning
    )


def _differing(
    sample: Sample, other: Sample, source: AnswerSource, given_by: str
) -> Iterator[GivenAnswer]:
    """Yield another sample's calls if everything before them is the same and they differ."""
    if sample.candidates != other.candidates:
        return
    for at, (turn, changed) in enumerate(zip(sample.turns, other.turns, strict=False)):
        if _told(turn) != _told(changed):
            if isinstance(turn, CallTurn) and isinstance(changed, CallTurn) and changed.calls:
                calls = tuple(call.bare for call in changed.calls)
                yield GivenAnswer(at, source, given_by, is_right=False, calls=calls)
            return


def _told(turn: Turn) -> object:
    """Return what a turn says, without its evidence."""
    match turn:
        case CallTurn(calls=calls, executed=executed):
            return [executed, *map(_stated, calls)]
        case ReplyTurn(text=text):
            return text
        case _:
            return turn
