"""Audits of the metric: answers of candidates are drawn, and people say whether the metric is right about them.

A review of this kind changes no sample. Who finds that the gold is wrong makes its sample a suspect.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from random import Random
from typing import NamedTuple

import orjson

from callwright.annotation.prediction_audit import GOLD_WRONG
from callwright.annotation.screens import PREDICTION_AUDIT, SAMPLE_REVIEW
from callwright.flows.review.questions import AUDIT, SUSPECT, ReviewQuestion, ask, ask_again
from callwright.flows.settings import Settings, open_warehouse
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Call, Prediction
from callwright.warehouse.releases import release_named
from callwright.warehouse.store import Warehouse

AUDITED = 50  # answers of a release, unless given
DRAWN = "Drawn from the answers to {release}, to see how often the metric is right."


class AuditablePrediction(NamedTuple):
    """What a draw knows of a prediction: its snapshot, whose it is, and what the metric says, "" where it is right."""

    key: str
    subject: str
    turn: int
    candidate: str
    error_type: str


class AuditDraw(NamedTuple):
    """What was drawn: how many in all, how many of them now, out of how many, and how many of each error type."""

    release: str
    drawn: int
    new: int
    answers: int
    by_error_type: dict[str, int]


def draw_audits(release: str, settings: Settings, models: Sequence[str] = (), count: int = AUDITED) -> AuditDraw:
    """Draw answers to a release until `count` are drawn, and ask people about them; what was drawn before stays so.

    With `models` only their answers are drawn, and counted. Raises ConfigurationError for a release or a model that has no
    scored answers.
    """
    warehouse = open_warehouse(settings)
    release_named(warehouse, release)
    known = [AuditablePrediction(**row) for row in warehouse.rows(sql("prediction_audits.answers"), [release])]
    _check_models(release, models, known)
    answers = [one for one in known if not models or one.candidate in models]
    keys = {one.key for one in answers}
    before = [
        AuditablePrediction(**row)
        for row in warehouse.rows(sql("prediction_audits.drawn"), [release])
        if not models or row["candidate"] in models
    ]
    taken = {one.key for one in before}
    new = choose([one for one in answers if one.key not in taken], before, count - len(before), Random(release))
    now = datetime.now(UTC)
    rows = [
        {
            "prediction": one.key,
            "release": release,
            "candidate": one.candidate,
            "error_type": one.error_type,
            "drawn_at": now,
        }
        for one in new
    ]
    warehouse.put_rows({"audit_draws": rows})
    drawn = [*before, *new]
    reason = DRAWN.format(release=release)
    # Those drawn before as well: a crash between the two may have left them unasked.
    ask(warehouse, [ReviewQuestion(one.key, AUDIT, reason, kind=PREDICTION_AUDIT) for one in drawn if one.key in keys])
    return AuditDraw(release, len(drawn), len(new), len(answers), dict(Counter(one.error_type for one in drawn)))


def choose(
    answers: Iterable[AuditablePrediction], drawn: Iterable[AuditablePrediction], count: int, rng: Random
) -> list[AuditablePrediction]:
    """So many more answers, of each error type as many as of any other, and within it of each model, as far as they go.

    Of a type and a model those come first on whose snapshot nothing is drawn yet. What is `drawn` counts.
    """
    cells: defaultdict[str, dict[str, deque[AuditablePrediction]]] = defaultdict(dict)
    waiting = sorted(answers)
    rng.shuffle(waiting)
    for one in waiting:
        cells[one.error_type].setdefault(one.candidate, deque()).append(one)
    found: list[AuditablePrediction] = []
    types: Counter[str] = Counter()
    models: Counter[tuple[str, str]] = Counter()
    seen: set[tuple[str, int]] = set()
    for one in drawn:
        _note(one, types, models, seen)
    while len(found) < count and cells:
        error = min(cells, key=lambda name: (types[name], name))
        model = min(cells[error], key=lambda name: (models[error, name], name))
        one = _next(cells[error][model], seen)
        found.append(one)
        _note(one, types, models, seen)
        if not cells[error][model]:
            del cells[error][model]
        if not cells[error]:
            del cells[error]
    return found


def _note(
    one: AuditablePrediction, types: Counter[str], models: Counter[tuple[str, str]], seen: set[tuple[str, int]]
) -> None:
    types[one.error_type] += 1
    models[one.error_type, one.candidate] += 1
    seen.add((one.subject, one.turn))


def _next(waiting: deque[AuditablePrediction], seen: set[tuple[str, int]]) -> AuditablePrediction:
    """Take the first answer of a snapshot that is not seen yet, else the first."""
    for _ in range(len(waiting)):
        if (waiting[0].subject, waiting[0].turn) not in seen:
            break
        waiting.rotate(-1)
    return waiting.popleft()


def _check_models(release: str, models: Sequence[str], known: Sequence[AuditablePrediction]) -> None:
    if not known:
        raise ConfigurationError(
            f"There is no scored answer to the release {release!r}, so nothing can be audited. Run `callwright evaluate {release} "
            "--model NAME` to its end first; runs over multi-step samples are not audited."
        )
    labels = sorted({one.candidate for one in known})
    strange = [model for model in models if model not in labels]
    if strange:
        raise ConfigurationError(
            f"There is no scored answer of {strange[0]!r} to the release {release!r}; the models are {', '.join(labels)}."
        )


class AuditedAnswer(NamedTuple):
    """A prediction, and what the metric said of it when it was drawn."""

    prediction: Prediction
    error_type: str


def read_audited(warehouse: Warehouse, keys: Sequence[str]) -> dict[str, AuditedAnswer]:
    """The predictions with these keys that the warehouse has."""
    return {one.key: AuditedAnswer(one, stated) for one, stated in _read_audited(warehouse, keys)} if keys else {}


def _read_audited(warehouse: Warehouse, keys: Sequence[str]) -> Iterator[tuple[Prediction, str]]:
    for row in warehouse.rows(sql("prediction_audits.audited"), [list(keys)]):
        calls = orjson.loads(row["calls"]) if row["calls"] is not None else None
        made = None if calls is None else tuple(Call.model_validate(call) for call in calls)
        fields = {name: row[name] for name in Prediction.model_fields}
        yield Prediction(**fields | {"calls": made}), row["said"]


def suspects_of_audits(warehouse: Warehouse) -> int:
    """Ask people about the samples whose gold an audit finds wrong; how many questions are new.

    An audit that somebody has answered with a review of the sample since does not ask again.
    """
    questions = [
        ReviewQuestion(row["subject"], SUSPECT, _suspicion(row["turn"], row["comment"]), row["build"], SAMPLE_REVIEW)
        for row in warehouse.rows(sql("prediction_audits.suspects"), [PREDICTION_AUDIT, GOLD_WRONG, SAMPLE_REVIEW])
    ]
    return ask_again(warehouse, questions) if questions else 0


def _suspicion(turn: int, comment: str) -> str:
    stated = f": {comment}" if comment else "."
    return f"Who audited a model's answer to turn {turn} finds that the gold is wrong{stated}"
