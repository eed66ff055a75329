"""What was answered to the samples of a release: by candidates, by a sample before a person corrected it, by a planted defect."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import inf, isnan
from typing import Literal, NamedTuple

import orjson

from callwright.warehouse.batches import batches
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Call, CallTurn, GoldCall, ReplyTurn, Sample, Turn
from callwright.warehouse.releases.runs import GivenRun, read_run
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

NOT_ANSWERED = "none of the candidates has answered it"
OUT_OF_BAND = "the share of its runs that pass is not within --pass-rate"
_AT_ONCE = 500  # samples
AnswerSource = Literal["candidate", "person", "planted"]


class GivenAnswer(NamedTuple):
    """An answer at a turn: `calls` is None where it could not be read. `given_by` is a candidate and its strategy, or a defect."""

    turn: int
    source: AnswerSource
    given_by: str
    is_right: bool
    calls: tuple[Call, ...] | None
    words: str = ""
    reasoning: str = ""


class SampleAnswers(NamedTuple):
    """All that was answered to a sample, and the share of its runs that pass, None where there are none.

    `runs` are over multi-step samples, where nothing is answered snapshot by snapshot.
    """

    given: tuple[GivenAnswer, ...] = ()
    pass_rate: float | None = None
    runs: tuple[GivenRun, ...] = ()


class PassRates(NamedTuple):
    """The band of pass rates that is wanted, its ends within."""

    lowest: float = 0.0
    highest: float = 1.0


class Answerers(NamedTuple):
    """Whose answers are wanted: candidates, each with its strategy, on samples whose pass rate lies in a band."""

    candidates: tuple[tuple[str, str], ...] = ()
    band: PassRates = PassRates()


def parse_pass_rates(stated: str) -> PassRates:
    """A band as `0.2:0.8`; one end may be left out. Raises ConfigurationError for what is no such thing."""
    low, sign, high = stated.partition(":")
    try:
        band = PassRates(float(low or 0), float(high or 1))
    except ValueError:
        band = PassRates(inf)
    if not sign or any(map(isnan, band)) or not 0 <= band.lowest <= band.highest <= 1:
        raise ConfigurationError(
            f"A band of pass rates is LOW:HIGH, such as 0.2:0.8, both from 0 to 1, and not {stated!r}."
        )
    return band


class AnswerReader:
    """What was answered to samples that are gone through in order: read for some hundreds at a time."""

    def __init__(
        self,
        warehouse: Warehouse,
        release: str,
        asked: Answerers,
        planted: Callable[[Sample], Iterable[tuple[str, Sample]]] = lambda _sample: (),
    ) -> None:
        """`planted` gives the sample with defects in a call, each behind its name; the first that fits is taken."""
        self._warehouse = warehouse
        self._release = release
        self._asked = asked
        self._planted = planted
        self._given: dict[str, list[GivenAnswer]] = {}
        self._runs: dict[str, list[Row]] = {}
        self._rates: dict[str, float] = {}
        self._earlier: dict[str, list[Sample]] = {}

    def through(self, samples: Iterable[tuple[str, Sample]]) -> Iterator[tuple[str, Sample]]:
        """The samples as they come; of each one `of` tells until the next is taken."""
        for some in batches(samples, _AT_ONCE):
            self._read([sample.key for _, sample in some])
            yield from some

    def of(self, sample: Sample) -> SampleAnswers:
        """All that was answered to a sample. Raises RecordError where it was not answered, or its pass rate is out of the band."""
        rate, band = self._rates.get(sample.key), self._asked.band
        if self._asked.candidates and rate is None:
            raise RecordError(NOT_ANSWERED)
        if rate is not None and not band.lowest <= rate <= band.highest:
            raise RecordError(OUT_OF_BAND)
        given = list(self._given.get(sample.key, ()))
        for earlier in self._earlier.get(sample.key, ()):
            given += _differing(sample, earlier, "person", "corrected")
        planted = (one for name, broken in self._planted(sample) for one in _differing(sample, broken, "planted", name))
        runs: list[GivenRun] = []
        for row in self._runs.get(sample.key, ()):
            run, wrong = read_run(sample, row)
            runs.append(run)
            if wrong is not None:
                given.append(
                    GivenAnswer(
                        wrong.turn, "candidate", run.given_by, is_right=False, calls=wrong.calls, words=wrong.words
                    )
                )
        return SampleAnswers((*given, *islice(planted, 1)), rate, tuple(runs))

    def _read(self, keys: Sequence[str]) -> None:
        names = ["~".join(one) for one in self._asked.candidates]
        asked = [self._release, names, list(keys)]
        found = self._warehouse.rows_by_name(
            {
                "given": (sql("given_answers.answers"), asked),
                "runs": (sql("given_answers.runs"), asked),
                "rates": (sql("given_answers.pass_rates"), asked),
                "earlier": (sql("given_answers.corrected"), [list(keys)]),
            }
        )
        self._given, self._earlier, self._runs = {}, {}, {}
        self._rates = {row["sample"]: row["pass_rate"] for row in found["rates"]}
        for row in found["given"]:
            self._given.setdefault(row["subject"], []).append(_given(row))
        for row in found["runs"]:
            self._runs.setdefault(row["subject"], []).append(row)
        for row in found["earlier"]:
            self._earlier.setdefault(row["subject"], []).append(Sample.model_validate_json(row["body"]))


def _given(row: Row) -> GivenAnswer:
    calls = None if row["calls"] is None else tuple(Call.model_validate(one) for one in orjson.loads(row["calls"]))
    words = row["text"] if not calls else ""
    return GivenAnswer(
        row["turn"], "candidate", row["given_by"], row["is_right"], calls, _spoken(words), row["reasoning"] or ""
    )


def _spoken(text: str) -> str:
    """The words to the user in a text: candidates that answer in a notation state them as `say`."""
    try:
        stated = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    said = stated.get("say") if isinstance(stated, dict) else None
    return said if isinstance(said, str) else text


def _differing(sample: Sample, other: Sample, source: AnswerSource, given_by: str) -> Iterator[GivenAnswer]:
    """What another sample calls where all before it is the same, and what is called is not."""
    if sample.candidates != other.candidates:
        return
    for at, (turn, changed) in enumerate(zip(sample.turns, other.turns, strict=False)):
        if _said(turn) != _said(changed):
            if isinstance(turn, CallTurn) and isinstance(changed, CallTurn) and changed.calls:
                calls = tuple(call.bare for call in changed.calls)
                yield GivenAnswer(at, source, given_by, is_right=False, calls=calls)
            return


def _said(turn: Turn) -> object:
    """What a turn says, without its evidence."""
    match turn:
        case CallTurn(calls=calls, executed=executed):
            return [executed, *map(_bare, calls)]
        case ReplyTurn(text=text):
            return text
        case _:
            return turn


def _bare(call: GoldCall) -> object:
    return (call.tool, orjson.dumps(call.arguments, option=orjson.OPT_SORT_KEYS))
