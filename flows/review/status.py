"""Review status: progress, speed, agreement, what is left, and who of a team reviews what."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, NamedTuple

import yaml
from pydantic import AfterValidator, TypeAdapter, ValidationError

from callwright.annotation.agreement import ItemRating, measure_agreement
from callwright.annotation.reviews import TaskQueue
from callwright.annotation.screens import (
    CORRECTION,
    DISAMBIGUATION,
    REVIEW_KINDS,
    SAMPLE_REVIEW,
    TOOL_REVIEW,
)
from callwright.flows.review.questions import DOUBTFUL
from callwright.flows.review.servers import require_label_studio
from callwright.flows.settings import Settings, open_warehouse
from callwright.generators.kinds import kind_named
from callwright.language.packs import of
from callwright.warehouse.errors import ConfigurationError, first_problem
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Record
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse
from callwright.warehouse.yaml_text import read_yaml

ASSUMED_SECONDS = 60.0  # what a question takes, until somebody has answered one of its kind
NEXT_SHOWN = 5
MEASURES = ("observed", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha")
_SLICES = ("all", "reviewer", "pair", "reason")

Status = dict[str, list[Row]]


def review_status(settings: Settings, *, ask_server: bool = False) -> Status:
    """Return what waits, what was pushed, who decided what how fast, and what is left.

    With `ask_server` it includes Label Studio's own count. Each title has rows; `whole` has one.
    `outside` is how many reviews were not this person's by the team's rule, None for people who
    are not in the team.
    """
    more: dict[str, tuple[str, Sequence[object]]] = {
        title: (sql(f"review_status.{name}"), [kind]) for title, (kind, name) in _OF_KINDS.items()
    }
    more["next"] = sql("review_status.next"), [NEXT_SHOWN]
    warehouse = open_warehouse(settings)
    status = read_progress(warehouse, settings.review_hourly_cost, more)
    outside = outside_reviews(warehouse, read_team(settings))
    status["people"] = [row | {"outside": outside.get(row["reviewer"])} for row in status["people"]]
    if ask_server:
        with require_label_studio(settings) as studio:
            projects = studio.find_projects()
            status["label_studio"] = [
                studio.status(projects[kind]).model_dump(exclude={"project"})
                | {"project": projects[kind].url}
                for kind in REVIEW_KINDS
                if kind in projects
            ]
    return status


def read_progress(
    warehouse: Warehouse,
    hourly_cost: float | None = None,
    more: Mapping[str, tuple[str, Sequence[object]]] | None = None,
) -> Status:
    """Return what waits, who decided how much and how fast, disagreements, and what is left.

    The answers to `more` queries are included.
    """
    status = warehouse.rows_by_name(
        {
            "queue": (sql("review_status.queue"), []),
            "people": ("from reviewer_figures", []),
            "work_left": (sql("review_status.work_left"), [ASSUMED_SECONDS]),
            "unsettled": (sql("review_status.unsettled"), [DOUBTFUL]),
            "differing": (sql("review_status.differing"), []),
            **(more or {}),
        }
    )
    status["whole"] = [_whole(status, hourly_cost)]
    return status


def _whole(status: Status, hourly_cost: float | None) -> Row:
    """Return the hours of people and their cost, so far and left; cost is None without a rate."""
    left = sum(row["hours"] for row in status["work_left"])
    so_far = sum(row["active_hours"] for row in status["people"])
    return {
        "questions": sum(row["questions"] for row in status["work_left"]),
        "answers": sum(row["answers"] for row in status["work_left"]),
        "hours_so_far": round(so_far, 3),
        "hours_left": round(left, 3),
        "assumed_seconds": ASSUMED_SECONDS,
        "hourly_cost": hourly_cost,
        "cost_so_far": None if hourly_cost is None else round(so_far * hourly_cost, 2),
        "cost_left": None if hourly_cost is None else round(left * hourly_cost, 2),
        "unsettled": len(status["unsettled"]),
    }


_OF_KINDS = {
    "samples": (SAMPLE_REVIEW, "queue_of_kind"),
    "reviewers": (SAMPLE_REVIEW, "reviewers"),
    "tools": (TOOL_REVIEW, "queue_of_kind"),
    "tool_reviewers": (TOOL_REVIEW, "reviewers"),
    "corrections": (CORRECTION, "queue_of_kind"),
    "correction_reviewers": (CORRECTION, "reviewers"),
    "disambiguations": (DISAMBIGUATION, "queue_of_kind"),
    "disambiguation_reviewers": (DISAMBIGUATION, "reviewers"),
}


def note_agreement(warehouse: Warehouse) -> None:
    """Compute how far people agree, by review kind, and replace the stored figures."""
    now = datetime.now(UTC)
    with warehouse.together():
        warehouse.put_rows(
            {"agreement": [{**row, "computed_at": now} for row in read_agreement(warehouse)]}
        )
        warehouse.execute("delete from agreement where computed_at <> ?", [now])


def read_agreement(warehouse: Warehouse) -> list[Row]:
    """Return agreement rows by review kind and measure: overall, by reviewer, pair and reason."""
    words: defaultdict[str, list[ItemRating]] = defaultdict(list)
    for row in warehouse.rows(sql("review_status.words")):
        words[row["kind"]].append(
            ItemRating(row["subject"], row["reviewer"], row["label"], tuple(row["reasons"]))
        )
    return [
        {"kind": kind, **one._asdict()}
        for kind, stated in words.items()
        for one in measure_agreement(stated)
    ]


class AgreementLine(NamedTuple):
    """Agreement on a kind by each measure: overall, or of a person, a pair or a reason."""

    kind: str
    slice_by: str
    who: str
    items: int
    reviewers: int
    values: list[float | None]


def agreement_lines(rows: Sequence[Row]) -> list[AgreementLine]:
    """Return a line for each slice, with its measures side by side, those over all first."""
    slices: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in rows:
        slices.setdefault((row["kind"], row["slice_by"], row["slice_value"]), {})[
            row["measure"]
        ] = row
    lines = []
    for (kind, slice_by, who), by_measure in slices.items():
        one = next(iter(by_measure.values()))
        values = [by_measure[name]["value"] if name in by_measure else None for name in MEASURES]
        lines.append(AgreementLine(kind, slice_by, who, one["items"], one["reviewers"], values))
    return sorted(lines, key=lambda line: (line.kind, _SLICES.index(line.slice_by), line.who))


def agreement_report(settings: Settings) -> dict[str, list[Row]]:
    """Return how far reviewers agree, and models with them, gold item results, and usable share."""
    warehouse = open_warehouse(settings)
    note_agreement(warehouse)
    return warehouse.rows_by_name({name: (query, []) for name, query in _REPORT.items()})


_REPORT = {
    "agreement": "from agreement order by kind, slice_by, slice_value, measure",
    "readers": "select * exclude (cause) from reader_agreement where cause = ''",
    "gold_items": "from annotator_accuracy",
    "usable": "from usable_share",
}
FILE = "team.yaml"


def _named(find: Callable[[str], str]) -> AfterValidator:
    def check(name: str) -> str:
        try:
            return find(name)
        except ConfigurationError as error:
            raise ValueError(str(error)) from error

    return AfterValidator(check)


def _question(kind: str) -> str:
    if kind not in REVIEW_KINDS:
        problem = f"no kind of question is named {kind!r}; the kinds are {', '.join(REVIEW_KINDS)}."
        raise ValueError(problem)
    return kind


class Reviewer(Record):
    """What one person reviews: kinds of questions, languages and kinds of samples; empty is all."""

    languages: tuple[Annotated[str, _named(lambda code: of(code).code)], ...] = ()
    questions: tuple[Annotated[str, AfterValidator(_question)], ...] = ()
    kinds: tuple[Annotated[str, _named(lambda name: kind_named(name).name)], ...] = ()

    def is_for(self, row: Row) -> bool:
        """Whether a review is this person's, by its kind and its sample's language and kind."""
        wanted = (
            (self.questions, row["kind"]),
            (self.languages, row["language"]),
            (self.kinds, row["sample_kind"]),
        )
        return all(not chosen or not given or given in chosen for chosen, given in wanted)


Team = Mapping[str, Reviewer]  # by the e-mail address of the account
_TEAM: TypeAdapter[dict[str, Reviewer]] = TypeAdapter(dict[str, Reviewer])


def read_team(settings: Settings) -> Team:
    """Return the team of a work folder; empty if there is no file.

    Raises ConfigurationError with the place of the error.
    """
    file = settings.home / FILE
    if not file.is_file():
        return {}
    try:
        return _TEAM.validate_python(read_yaml(file.read_text(encoding="utf-8")) or {})
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{file} is not valid YAML: {error}") from error
    except ValidationError as error:
        raise ConfigurationError(f"{file}, at {first_problem(error)}") from error


def queues_of(kind: str, languages: Iterable[str], team: Team) -> list[TaskQueue]:
    """Return the task tables of a kind of question: one per language, and one per reviewer."""
    by_language = [
        TaskQueue(of(code).name.capitalize(), (code,)) for code in sorted(languages) if code
    ]
    people = [
        TaskQueue(account, reviewer.languages, reviewer.kinds, account)
        for account, reviewer in team.items()
        if not reviewer.questions or kind in reviewer.questions
    ]
    return [*by_language, *people]


def subjects_of(warehouse: Warehouse, keys: Sequence[str]) -> dict[str, Row]:
    """Return the sample language and kind that these questions are about, as far as known."""
    return {row["key"]: row for row in warehouse.rows(sql("team.subjects"), [list(keys)])}


def chosen_by(about: Row | None) -> dict[str, str]:
    """Return the fields of a task that its tables filter by."""
    return {name: about[name] if about else "" for name in ("language", "sample_kind")}


def outside_reviews(warehouse: Warehouse, team: Team) -> dict[str, int]:
    """Return by person the reviews that were not theirs: Label Studio lets everybody answer."""
    rows = warehouse.rows(sql("team.given"), [list(team)]) if team else []
    counts = dict.fromkeys(team, 0)
    for row in rows:
        counts[row["reviewer"]] += 0 if team[row["reviewer"]].is_for(row) else row["reviews"]
    return counts
