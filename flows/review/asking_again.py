"""Asking again: random second looks, suspects by candidate models, and audits of the metric.

An audit changes no sample. An auditor who finds that the gold is wrong makes its sample a
suspect.
"""

import json
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from random import Random
from typing import Literal, NamedTuple

import orjson
from pydantic import JsonValue

from callwright.annotation.calls import shortened
from callwright.annotation.prediction_audit import GOLD_WRONG
from callwright.annotation.screens import PREDICTION_AUDIT, SAMPLE_REVIEW
from callwright.flows.progress import Progress
from callwright.flows.recipe import Recipe
from callwright.flows.review.gold_items import mix_gold_items
from callwright.flows.review.questions import (
    AUDIT,
    DRAWN,
    SECOND_LOOK,
    SPOT_CHECK,
    SUSPECT,
    ReviewQuestion,
    ask,
    ask_again,
)
from callwright.flows.settings import Settings, open_warehouse
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Arguments, Call, Prediction
from callwright.warehouse.releases import list_releases, release_named
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

PAPER = 100  # as many as HammerBench's authors looked at


class Draw(NamedTuple):
    """What was drawn of the accepted samples of a recipe, a release or all.

    `drawn` of `samples` were drawn; `asked` counts the questions that nobody was asked before.
    """

    scope: Literal["recipe", "release", "all"]
    name: str
    samples: int
    drawn: int
    asked: int


def recheck(settings: Settings, name: str = "", *, draw: int = PAPER, seed: int = 0) -> Draw:
    """Ask people a second time, blind, about samples drawn by the seed (HammerBench 5).

    The same draw asks nobody twice. `name` is a release or a recipe, a release if both have it.
    Raises ConfigurationError if there is neither.
    """
    warehouse = open_warehouse(settings)
    scope = _scope(warehouse, name)
    rows = warehouse.rows(sql(f"asking_again.of_{scope}"), [name] if name else [])
    rows.sort(key=lambda row: blake2b(f"{seed}:{row['subject']}".encode(), digest_size=8).digest())
    drawn = [row for row in rows if not row["is_out"]][:draw]
    builds = [sorted({row["build"] for row in drawn})]
    made = warehouse.rows(
        "select key, body from builds where list_contains(?::varchar[], key)", builds
    )
    recipes = {row["key"]: Recipe.model_validate_json(row["body"]) for row in made}
    asked = ask_again(warehouse, [_question(row, recipes.get(row["build"])) for row in drawn])
    for build, recipe in recipes.items():
        mix_gold_items(warehouse, build, recipe)
    return Draw(scope, name, len(rows), len(drawn), asked)


def _scope(warehouse: Warehouse, name: str) -> Literal["recipe", "release", "all"]:
    if not name:
        return "all"
    releases = [release.name for release in list_releases(warehouse)]
    recipes = [
        row["recipe"] for row in warehouse.rows("select distinct recipe from builds order by 1")
    ]
    if name in releases:
        return "release"
    if name in recipes:
        return "recipe"
    raise ConfigurationError(
        f"No release or recipe is named {name!r}. Releases: {', '.join(releases) or 'none yet'}. "
        f"Recipes that were built: {', '.join(recipes) or 'none yet'}."
    )


def _question(row: Row, recipe: Recipe | None) -> ReviewQuestion:
    """Return the question of a spot check; it does not show that somebody has looked before."""
    reviewers = recipe.review.reviewers_of(SPOT_CHECK) if recipe else 1
    return ReviewQuestion(row["subject"], SECOND_LOOK, DRAWN, row["build"], reviewers=reviewers)


_MOST_OF_CALLS = 160  # characters of an answer that a reason shows
_MOST_OF_VALUE = 60


class Suspect(NamedTuple):
    """A suspect sample, with the reason in plain words.

    `is_new`: nobody has been asked about it for that reason yet.
    """

    subject: str
    kind: str
    category: str
    request: str
    candidates: int
    failing: int
    agreeing: int
    answer: str
    reason: str
    against: str
    build: str
    has_landed: bool
    is_new: bool


class Suspicions(NamedTuple):
    """The suspects of a release, most agreed on first; `new` is the number of new questions."""

    release: str
    suspects: tuple[Suspect, ...]
    new: int


def raise_suspicions(warehouse: Warehouse, release: str) -> Suspicions:
    """Find the suspects of a release and ask people about those that have landed.

    Each answer that candidates agree on is asked about once, and a sample without one once.
    Raises ConfigurationError if there is no such release.
    """
    with warehouse.together():
        release_named(warehouse, release)
        suspects = tuple(
            _suspect(row) for row in warehouse.rows(sql("asking_again.suspects"), [release])
        )
        questions = [
            ReviewQuestion(one.subject, SUSPECT, one.reason, one.build, against=one.against)
            for one in suspects
            if one.is_new
        ]
        return Suspicions(release, suspects, ask_again(warehouse, questions))


def tell_suspicions(warehouse: Warehouse, release: str, progress: Progress) -> None:
    """Raise the suspicions of a release, and report how many samples people are asked about."""
    new = raise_suspicions(warehouse, release).new
    if new:
        progress.say(
            f"In {count_of(new, 'accepted sample')} the candidates disagree with the gold call."
            " Send them to reviewers with `callwright review push`. See why with `callwright"
            f" review suspects {release}`."
        )


def _suspect(row: Row) -> Suspect:
    made = _calls(row["calls"])
    gold = _calls(row["gold"])
    against = _against(made, gold) if row["agreeing"] else ""
    is_known = row["asked_before"] and (not against or against in row["asked_against"])
    fields = {name: row[name] for name in Suspect._fields if name in row}
    candidates = row["candidates"]
    has_turns = row["turn"] is not None and row["call_turns"] > 1
    at = f" at call turn {row['place']} of {row['call_turns']}" if has_turns else ""
    sentences = []
    if row["failing"] == candidates:
        sentences.append(f"All {candidates} candidates fail it{at}: {row['errors']}.")
    if against:
        where = at if not sentences else ""
        sentences.append(f"{row['agreeing']} of {candidates} candidates answer{where} {against}.")
    reason = " ".join(sentences)
    return Suspect(
        **fields, reason=reason, against=against, is_new=row["has_landed"] and not is_known
    )


def _against(made: Sequence[Call], gold: Sequence[Call]) -> str:
    """Return how an answer differs from the gold.

    For example "book_table(people=5) where the gold says people=4".
    """
    if len(made) != 1 or len(gold) != 1 or made[0].tool != gold[0].tool:
        return (
            f"{_rendered(made)} where the gold"
            f" {f'calls {_rendered(gold)}' if gold else 'calls nothing'}"
        )
    answer_values, due = made[0].arguments, gold[0].arguments
    differing_values = {
        name: value
        for name, value in answer_values.items()
        if name not in due or not _is_alike(value, due[name])
    }
    gold_values = {
        name: value
        for name, value in due.items()
        if name not in answer_values or name in differing_values
    }
    left_out = [name for name in gold_values if name not in answer_values]
    if differing_values:
        call = f"{made[0].tool}({_named(differing_values)})"
    else:
        call = f"{made[0].tool} without {', '.join(left_out)}"
    if gold_values:
        return f"{call} where the gold says {_named(gold_values)}"
    return f"{call} where the gold says nothing of it"


def _is_alike(one: JsonValue, other: JsonValue) -> bool:
    return _value(one).strip().lower() == _value(other).strip().lower()


def _rendered(calls: Sequence[Call]) -> str:
    return shortened(
        "; ".join(f"{call.tool}({_named(call.arguments)})" for call in calls), _MOST_OF_CALLS
    )


def _named(arguments: Arguments) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in arguments.items())


def _value(value: JsonValue) -> str:
    rendered = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shortened(" ".join(rendered.split()), _MOST_OF_VALUE)


def _calls(body: str | None) -> list[Call]:
    if body is None:
        return []
    return [Call(tool=call["tool"], arguments=call["arguments"]) for call in orjson.loads(body)]


AUDITED = 50  # answers of a release, unless given
DRAWN_ANSWER = "Drawn from the answers to {release}, to see how often the metric is right."


class AuditablePrediction(NamedTuple):
    """A prediction to draw from: its snapshot, candidate and error type, "" if it is right."""

    key: str
    subject: str
    turn: int
    candidate: str
    error_type: str


class AuditDraw(NamedTuple):
    """What was drawn: in all, new, out of how many answers, and by error type."""

    release: str
    drawn: int
    new: int
    answers: int
    by_error_type: dict[str, int]


def draw_audits(
    release: str, settings: Settings, models: Sequence[str] = (), count: int = AUDITED
) -> AuditDraw:
    """Draw answers to a release until `count` are drawn, and ask people about them.

    Earlier draws stay. With `models` only their answers are drawn and counted. Raises
    ConfigurationError for a release or a model that has no scored answers.
    """
    warehouse = open_warehouse(settings)
    release_named(warehouse, release)
    known_answers = [
        AuditablePrediction(**row)
        for row in warehouse.rows(sql("prediction_audits.answers"), [release])
    ]
    _check_models(release, models, known_answers)
    answers = [one for one in known_answers if not models or one.candidate in models]
    keys = {one.key for one in answers}
    before = [
        AuditablePrediction(**row)
        for row in warehouse.rows(sql("prediction_audits.drawn"), [release])
        if not models or row["candidate"] in models
    ]
    taken = {one.key for one in before}
    new = choose(
        [one for one in answers if one.key not in taken],
        before,
        count - len(before),
        Random(release),
    )
    now = datetime.now(UTC)
    shared = {"release": release, "drawn_at": now}
    rows = [
        {"prediction": one.key, "candidate": one.candidate, "error_type": one.error_type} | shared
        for one in new
    ]
    warehouse.put_rows({"audit_draws": rows})
    drawn = [*before, *new]
    reason = DRAWN_ANSWER.format(release=release)
    # Those drawn before as well: a crash between the two may have left them unasked.
    ask(
        warehouse,
        [
            ReviewQuestion(one.key, AUDIT, reason, kind=PREDICTION_AUDIT)
            for one in drawn
            if one.key in keys
        ],
    )
    return AuditDraw(
        release, len(drawn), len(new), len(answers), dict(Counter(one.error_type for one in drawn))
    )


def choose(
    answers: Iterable[AuditablePrediction],
    drawn: Iterable[AuditablePrediction],
    count: int,
    rng: Random,
) -> list[AuditablePrediction]:
    """Choose `count` more answers, balanced by error type and then by model as far as possible.

    Within a type and model, answers whose snapshot has no draw yet come first. What is `drawn`
    counts.
    """
    cells: defaultdict[str, dict[str, deque[AuditablePrediction]]] = defaultdict(dict)
    waiting = sorted(answers)
    rng.shuffle(waiting)
    for prediction in waiting:
        cells[prediction.error_type].setdefault(prediction.candidate, deque()).append(prediction)
    chosen_answers: list[AuditablePrediction] = []
    types: Counter[str] = Counter()
    models: Counter[tuple[str, str]] = Counter()
    seen: set[tuple[str, int]] = set()
    for prediction in drawn:
        _note(prediction, types, models, seen)
    while len(chosen_answers) < count and cells:
        error = min(cells, key=lambda name: (types[name], name))
        model = min(cells[error], key=lambda name: (models[error, name], name))
        prediction = _next(cells[error][model], seen)
        chosen_answers.append(prediction)
        _note(prediction, types, models, seen)
        if not cells[error][model]:
            del cells[error][model]
        if not cells[error]:
            del cells[error]
    return chosen_answers


def _note(
    one: AuditablePrediction,
    types: Counter[str],
    models: Counter[tuple[str, str]],
    seen: set[tuple[str, int]],
) -> None:
    types[one.error_type] += 1
    models[one.error_type, one.candidate] += 1
    seen.add((one.subject, one.turn))


def _next(waiting: deque[AuditablePrediction], seen: set[tuple[str, int]]) -> AuditablePrediction:
    """Remove and return the first answer whose snapshot is not seen yet, else the first."""
    for _ in range(len(waiting)):
        if (waiting[0].subject, waiting[0].turn) not in seen:
            break
        waiting.rotate(-1)
    return waiting.popleft()


def _check_models(
    release: str, models: Sequence[str], known: Sequence[AuditablePrediction]
) -> None:
    if not known:
        raise ConfigurationError(
            f"The release {release!r} has no scored answers to audit. Run `callwright evaluate "
            f"{release} --model NAME` first. Runs of multi-step samples are not audited."
        )
    labels = sorted({one.candidate for one in known})
    strange = [model for model in models if model not in labels]
    if strange:
        raise ConfigurationError(
            f"{strange[0]!r} has no scored answers to the release {release!r}. Models that have:"
            f" {', '.join(labels)}."
        )


class AuditedAnswer(NamedTuple):
    """A prediction, and the metric's verdict when it was drawn."""

    prediction: Prediction
    error_type: str


def read_audited(warehouse: Warehouse, keys: Sequence[str]) -> dict[str, AuditedAnswer]:
    """Return the predictions with these keys that the warehouse has."""
    audited_answers: dict[str, AuditedAnswer] = {}
    for row in warehouse.rows(sql("prediction_audits.audited"), [list(keys)]) if keys else ():
        answer_calls = None
        if row["calls"] is not None:
            answer_calls = tuple(map(Call.model_validate, orjson.loads(row["calls"])))
        prediction = Prediction(
            **{name: row[name] for name in Prediction.model_fields} | {"calls": answer_calls}
        )
        audited_answers[prediction.key] = AuditedAnswer(prediction, row["said"])
    return audited_answers


def suspects_of_audits(warehouse: Warehouse) -> int:
    """Ask about samples whose gold an audit finds wrong; return how many questions are new.

    An audit that somebody has answered with a review of the sample since does not ask again.
    """
    questions: list[ReviewQuestion] = []
    for row in warehouse.rows(
        sql("prediction_audits.suspects"), [PREDICTION_AUDIT, GOLD_WRONG, SAMPLE_REVIEW]
    ):
        stated = f": {row['comment']}" if row["comment"] else "."
        reason = (
            f"A reviewer who audited a model's answer to turn {row['turn']} says that the gold"
            f" is wrong{stated}"
        )
        questions.append(
            ReviewQuestion(row["subject"], SUSPECT, reason, row["build"], SAMPLE_REVIEW)
        )
    return ask_again(warehouse, questions)
