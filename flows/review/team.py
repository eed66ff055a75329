"""Who of a team reviews what: the file team.yaml of a work folder, the tables of tasks that follow from it, and who kept to it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

import yaml
from pydantic import AfterValidator, TypeAdapter, ValidationError

from callwright.annotation.screens import REVIEW_KINDS
from callwright.annotation.task import TaskQueue
from callwright.flows.settings import Settings
from callwright.generators.kinds import kind_named
from callwright.language.packs import of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Record
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

FILE = "team.yaml"


def _language(code: str) -> str:
    try:
        return of(code).code
    except ConfigurationError as error:
        raise ValueError(str(error)) from error


def _question(kind: str) -> str:
    if kind not in REVIEW_KINDS:
        raise ValueError(f"there is no kind of question {kind!r}; the kinds are {', '.join(REVIEW_KINDS)}.")
    return kind


def _sample_kind(name: str) -> str:
    try:
        return kind_named(name).name
    except ConfigurationError as error:
        raise ValueError(str(error)) from error


class Reviewer(Record):
    """What one person reviews: these kinds of questions, about samples of these languages and kinds; all where none is named."""

    languages: tuple[Annotated[str, AfterValidator(_language)], ...] = ()
    questions: tuple[Annotated[str, AfterValidator(_question)], ...] = ()
    kinds: tuple[Annotated[str, AfterValidator(_sample_kind)], ...] = ()

    def is_for(self, row: Row) -> bool:
        """Whether a review, with its kind and with the language and kind of what it is about, is this person's to give."""
        wanted = ((self.questions, row["kind"]), (self.languages, row["language"]), (self.kinds, row["sample_kind"]))
        return all(not chosen or not given or given in chosen for chosen, given in wanted)


Team = Mapping[str, Reviewer]  # by the e-mail address of the account
_TEAM: TypeAdapter[dict[str, Reviewer]] = TypeAdapter(dict[str, Reviewer])


def read_team(settings: Settings) -> Team:
    """The team of a work folder, nobody where there is no file. Raises ConfigurationError with the place that is wrong."""
    file = settings.home / FILE
    if not file.is_file():
        return {}
    try:
        return _TEAM.validate_python(yaml.safe_load(file.read_text(encoding="utf-8")) or {})
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{file} is no YAML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = " > ".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"{file}, at {place}: {first['msg'].removeprefix('Value error, ')}") from error


def queues_of(kind: str, languages: Iterable[str], team: Team) -> list[TaskQueue]:
    """The tables of tasks of a kind of question: one for each language, and one for each person who reviews it."""
    by_language = [TaskQueue(of(code).name.capitalize(), (code,)) for code in sorted(languages) if code]
    people = [
        TaskQueue(account, reviewer.languages, reviewer.kinds, account)
        for account, reviewer in team.items()
        if not reviewer.questions or kind in reviewer.questions
    ]
    return [*by_language, *people]


def subjects_of(warehouse: Warehouse, keys: Sequence[str]) -> dict[str, Row]:
    """The language and the kind of sample that questions about these are about, as far as they have one."""
    return {row["key"]: row for row in warehouse.rows(sql("team.subjects"), [list(keys)])}


def chosen_by(about: Row | None) -> dict[str, str]:
    """The fields of a task that tables choose it by."""
    return {name: about[name] if about else "" for name in ("language", "sample_kind")}


def outside_reviews(warehouse: Warehouse, team: Team) -> dict[str, int]:
    """How many reviews people of the team gave that were not theirs to give: Label Studio lets everybody answer everything."""
    rows = warehouse.rows(sql("team.given"), [list(team)]) if team else []
    counts = dict.fromkeys(team, 0)
    for row in rows:
        counts[row["reviewer"]] += 0 if team[row["reviewer"]].is_for(row) else row["reviews"]
    return counts
