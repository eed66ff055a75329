"""Asking people: what waits becomes tasks in Label Studio, a project per kind, by priority.

A training round is a separate push: items with known answers, after which a new person learns
what was right.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import orjson

from callwright.annotation.calls import write_value
from callwright.annotation.dialogue_acts import acts_task
from callwright.annotation.finding_review import AskedFinding, finding_task
from callwright.annotation.multi_step_review import correction_task, disambiguation_task
from callwright.annotation.prediction_audit import AuditCase, audit_task
from callwright.annotation.reviews import QueuedTask, ReviewTask, UnusableEdit
from callwright.annotation.sample_review import review_task
from callwright.annotation.screens import (
    CORRECTION,
    DIALOGUE_ACTS,
    DISAMBIGUATION,
    FINDING_REVIEW,
    PREDICTION_AUDIT,
    REVIEW_KINDS,
    SAMPLE_REVIEW,
    TOOL_REVIEW,
    TRAINING,
    screen_for,
    screen_words,
)
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.tool_review import ToolSurroundings, tool_task
from callwright.flows.data_audit.running import finding_of
from callwright.flows.progress import Progress
from callwright.flows.recipe import Recipe
from callwright.flows.review.asking_again import read_audited
from callwright.flows.review.gold_items import gold_rows, make_training_items, verdicts_shown
from callwright.flows.review.questions import (
    DRAWN,
    DRAWN_CAUSES,
    GOLD_ITEM,
    RETURNED_EDIT,
    new_states,
    read_paths,
    read_samples,
    samples_of_paths,
    set_priorities,
)
from callwright.flows.review.resolutions import tools_of
from callwright.flows.review.servers import LOCAL, find_label_studio, review_turn
from callwright.flows.review.status import chosen_by, queues_of, read_team, subjects_of
from callwright.flows.settings import Settings, open_warehouse
from callwright.validators.checks.table import in_english, settled_checks, told_in_english
from callwright.validators.toolset.complexity import gap_facts
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import (
    DoubtedFact,
    Evidence,
    GoldCall,
    Language,
    Reading,
    Sample,
    Tool,
    Verdict,
)
from callwright.warehouse.releases import read_tools
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

_AT_ONCE = 500
_FEW_AT_ONCE = 20  # of records with long responses
Worded = Callable[..., ReviewTask]  # a task, but for why it is asked and in which language
Shown = Callable[[Row], Worded]


class Pushed(NamedTuple):
    """How many tasks a push created, how many already existed, and where people find them."""

    created: int
    already_there: int
    url: str


def waiting_reviews(settings: Settings) -> int:
    """Return how many tasks wait to be pushed."""
    server = settings.label_studio_url.rstrip("/") or LOCAL
    return sum(
        map(len, open_warehouse(settings).rows_by_name(_to_push(server, again=False)).values())
    )


def push_what_waits(settings: Settings, progress: Progress) -> Pushed | None:
    """Push what waits after a build to Label Studio.

    Returns None if nothing waits, or there is no Label Studio yet.
    """
    waiting = waiting_reviews(settings)
    if not waiting:
        return None
    studio = find_label_studio(settings)
    if studio is None:
        progress.say(
            f"{count_of(waiting, 'question waits', 'questions wait')} for reviewers. Start Label "
            "Studio with `callwright review serve`, then send them with `callwright review push`."
        )
        return None
    with studio:
        return push_reviews(settings, studio, progress)


def push_reviews(
    settings: Settings, studio: LabelStudio, progress: Progress, *, again: bool = False
) -> Pushed:
    """Push all that waits for people, each review kind to its project, by priority.

    Nothing is pushed twice, except with `again`: then what was pushed before and is still
    undecided is pushed once more, for a Label Studio that lost its data.
    """
    with review_turn(settings, progress):
        return _push(settings, studio, progress, again=again)


def _push(settings: Settings, studio: LabelStudio, progress: Progress, *, again: bool) -> Pushed:
    warehouse = open_warehouse(settings)
    set_priorities(warehouse)
    rows = warehouse.rows_by_name(_to_push(studio.name, again=again))
    there = {row["kind"] for row in warehouse.rows(sql("pushing.there"), [studio.name])}
    ask_more_people(warehouse, studio)
    if not there and not any(rows.values()):
        studio.signed_in_as()  # a dead address or a wrong token is reported also when nothing waits
        return Pushed(0, 0, studio.url)
    pushed = [
        _push_kind(kind, asked, settings, studio, progress)
        for kind, asked in rows.items()
        if asked or kind in there
    ]
    made = [one for one in pushed if one.created or one.already_there]
    url = made[0].url if len(made) == 1 else studio.url
    return Pushed(sum(one.created for one in made), sum(one.already_there for one in made), url)


def _push_kind(
    kind: str, asked: Sequence[Row], settings: Settings, studio: LabelStudio, progress: Progress
) -> Pushed:
    warehouse = open_warehouse(settings)
    about = subjects_of(warehouse, _keys(asked))
    languages = {row["language"] for row in about.values()}
    queues = queues_of(kind, languages, read_team(settings))
    project = studio.ensure_project(screen_for(kind, settings.review_language), queues)
    if project.changed_by_hand:
        progress.say(
            f"The labeling interface of {project.url} was changed by hand and is not updated."
        )
    if project.is_renewed:  # tasks of another version get what the screen shows now
        asked = warehouse.rows(*_to_push(studio.name, again=True)[kind])
        about = subjects_of(warehouse, _keys(asked))
    if not asked:
        return Pushed(0, 0, project.url)
    progress.begin(f"{kind} push".replace("_", " "), len(asked))
    created = there = 0
    at_once = _FEW_AT_ONCE if kind in (CORRECTION, DISAMBIGUATION) else _AT_ONCE
    for start in range(0, len(asked), at_once):
        some = asked[start : start + at_once]
        with warehouse.together():
            review_tasks = tasks_for(kind, warehouse, settings.review_language, some)
        tasks = [
            QueuedTask(
                task, row["priority"], row["n_reviewers"], **chosen_by(about.get(row["subject"]))
            )
            for task, row in zip(review_tasks, some, strict=True)
        ]
        result = studio.push(project, tasks)
        ids = [result.task_ids.get(task.callwright_key) for task in tasks]
        _note_pushed(warehouse, studio.name, some, ids, is_found=result.already_there > 0)
        created, there = created + result.created, there + result.already_there
        progress.advance(len(some))
    return Pushed(created, there, project.url)


def ask_more_people(warehouse: Warehouse, studio: LabelStudio) -> None:
    """Ask one more person about each disagreement, and tell Label Studio the new numbers."""
    with warehouse.together():
        warehouse.execute(sql("pushing.one_more"))
        rows = warehouse.rows(sql("pushing.more_wanted"), [studio.name])
    studio.ask_several({row["task_id"]: row["reviewers"] for row in rows})
    requested = [row | {"overlap": row["reviewers"]} for row in rows]
    warehouse.put_rows({"review_requests": requested}, replacing=True)


def _to_push(server: str, *, again: bool) -> dict[str, tuple[str, list[object]]]:
    """Return the queries for the tasks that `server` should have of each review kind."""
    return {kind: (sql("pushing.to_push"), [kind, server, again]) for kind in REVIEW_KINDS}


def _note_pushed(
    warehouse: Warehouse,
    server: str,
    asked: Sequence[Row],
    task_ids: Sequence[int | None],
    *,
    is_found: bool,
) -> None:
    """Record all pushed tasks at once; a task without an ID was deleted and still waits.

    A task that was found there, of another work folder or of an interrupted push, may have been
    answered before anybody here pulls it, so the next pull reads everything.
    """
    there = [(row, task) for row, task in zip(asked, task_ids, strict=True) if task is not None]
    pushed = {"pushed_at": datetime.now(UTC), "server": server}
    tables: dict[str, list[Row]] = {
        "review_requests": [
            row | pushed | {"reviewers": row["n_reviewers"], "overlap": row["n_reviewers"]}
            for row, _ in there
            if row["version"] == 1
        ],
        "review_rounds": [
            row | pushed | {"made_at": row["requested_at"]}
            for row, _ in there
            if row["version"] != 1
        ],
        # What was seen there since the first push stays.
        "task_states": new_states(
            warehouse,
            server,
            [(task, row["kind"], row["subject"], row["version"]) for row, task in there],
        ),
    }
    if is_found and tables["task_states"]:
        warehouse.execute(
            "delete from review_cursors where server = ? and kind = ?", [server, asked[0]["kind"]]
        )
    warehouse.put_rows(tables, replacing=True)


def _sample_tasks(warehouse: Warehouse, keys: Sequence[str]) -> Shown:
    samples, tools = read_samples(warehouse, keys)
    verdicts = _verdicts(warehouse, keys) | _lent_verdicts(warehouse, samples, tools)

    def shown(row: Row) -> Worded:
        sample = samples[row["subject"]]
        candidates, found = [tools[key] for key in sample.candidates], verdicts[sample.key]
        asked = partial(review_task, sample, candidates, told_in_english(found))
        return partial(asked, settled=settled_checks(found))

    return shown


def _tool_tasks(warehouse: Warehouse, keys: Sequence[str]) -> Shown:
    tools, verdicts = read_tools(warehouse, keys), _verdicts(warehouse, keys)
    tools_of_set = cache(lambda toolset: tools_of(warehouse, toolset))

    def shown(row: Row) -> Worded:
        tool = tools[row["subject"]]
        near = [
            one
            for one in tools_of_set(row["build"])
            if (one.category, one.language) == (tool.category, tool.language)
        ]
        company = ToolSurroundings(near, in_english(gap_facts(near)))
        return partial(tool_task, tool, company, told_in_english(verdicts[tool.key]))

    return shown


def _disambiguation_tasks(warehouse: Warehouse, keys: Sequence[str]) -> Shown:
    samples, verdicts = read_samples(warehouse, keys)[0], _verdicts(warehouse, keys)
    return lambda row: partial(
        disambiguation_task, samples[row["subject"]], told_in_english(verdicts[row["subject"]])
    )


def _acts_tasks(warehouse: Warehouse, keys: Sequence[str]) -> Shown:
    samples, _ = read_samples(warehouse, keys)
    return lambda row: partial(acts_task, samples[row["subject"]])


def _correction_tasks(warehouse: Warehouse, keys: Sequence[str]) -> Shown:
    """Return what makes the tasks for corrected paths; they show a path's first doubt."""
    paths, samples_by_path = read_paths(warehouse, keys), samples_of_paths(warehouse, keys)
    candidates = {key: path.traced.worded.goal.candidates for key, path in paths.items()}
    tools = read_tools(warehouse, sorted({tool for one in candidates.values() for tool in one}))
    verdicts = _verdicts(
        warehouse, sorted({sample for samples in samples_by_path.values() for sample in samples})
    )

    def shown(row: Row) -> Worded:
        found = (
            one
            for sample in samples_by_path.get(row["subject"], ())
            for one in verdicts[sample]
            if one.check == "path"
        )
        doubts = [one for one in found if one.decision != "proved"]
        shown_tools = [tools[key] for key in candidates[row["subject"]] if key in tools]
        return partial(
            correction_task, paths[row["subject"]], shown_tools, told_in_english(doubts[:1])
        )

    return shown


def _audit_tasks(warehouse: Warehouse, keys: Sequence[str]) -> Shown:
    audited = read_audited(warehouse, keys)
    samples, tools = read_samples(
        warehouse, sorted({one.prediction.subject for one in audited.values()})
    )

    def shown(row: Row) -> Worded:
        prediction, error_type = audited[row["subject"]]
        sample = samples[prediction.subject]
        return partial(
            audit_task,
            AuditCase(prediction, sample, [tools[key] for key in sample.candidates], error_type),
        )

    return shown


def _finding_tasks(warehouse: Warehouse, keys: Sequence[str]) -> Shown:
    rows = warehouse.rows(sql("data_audits.asked"), [list(keys)])
    findings = {row["key"]: finding_of(row) for row in rows}

    def shown(row: Row) -> Worded:
        one = findings[row["subject"]]
        file, mark, place = one.where.partition("#")
        return partial(
            finding_task,
            AskedFinding(
                one.key,
                one.sort,
                one.severity,
                f"{one.tool}.{one.argument}" if one.argument else one.tool,
                one.request or one.words,
                one.reason,
                one.gold,
                one.expected,
                one.document,
                f"{one.item}\n{Path(file).name}{mark}{place}",
            ),
        )

    return shown


_MAKERS: Mapping[str, Callable[[Warehouse, Sequence[str]], Shown]] = MappingProxyType(
    {
        SAMPLE_REVIEW: _sample_tasks,
        TOOL_REVIEW: _tool_tasks,
        CORRECTION: _correction_tasks,
        DISAMBIGUATION: _disambiguation_tasks,
        DIALOGUE_ACTS: _acts_tasks,
        PREDICTION_AUDIT: _audit_tasks,
        FINDING_REVIEW: _finding_tasks,
    }
)


def tasks_for(
    kind: str, warehouse: Warehouse, language: Language, asked: Sequence[Row]
) -> list[ReviewTask]:
    """Return the tasks of a review kind for rows of the view review_queue, one each, in order."""
    keys = _keys(asked)
    shown = _MAKERS[kind](warehouse, keys)
    editors = {
        row["result"]: row["reviewer"] for row in warehouse.rows(sql("pushing.editors"), [keys])
    }
    return [
        shown(row)(
            reason=reason_of(row, language, editors.get(row["subject"], "")),
            language=language,
            returned=edit_of(row),
        ).with_changes(version=row["version"])
        for row in asked
    ]


def reason_of(row: Row, language: Language, editor: str = "") -> str:
    """Return why people are asked; a later problem replaces the first reason.

    Samples drawn at random have one sentence in the language of the screen, and so do samples
    that `editor` edited and that are in doubt.
    """
    is_later = row["version"] > 1 and row["cause"] != RETURNED_EDIT
    cause, reason = (
        (row["cause"], row["problem"]) if is_later else (row["first_cause"], row["reason"])
    )
    words = screen_words(row["kind"], language)
    if cause in DRAWN_CAUSES and words.drawn:
        return words.drawn
    if editor and words.edited and not is_later:
        return words.edited.format(reviewer=editor)
    return str(reason)


def edit_of(row: Row) -> UnusableEdit | None:
    """Return the edit that a question hands back; None if it hands back none."""
    if row["cause"] != RETURNED_EDIT:
        return None
    fields = {name: row[name] for name in ("request", "calls", "problem")}
    return UnusableEdit(version=row["version"] - 1, **fields)


def _keys(asked: Sequence[Row]) -> list[str]:
    return sorted({row["subject"] for row in asked})


def _verdicts(warehouse: Warehouse, keys: Sequence[str]) -> defaultdict[str, list[Verdict]]:
    verdicts: defaultdict[str, list[Verdict]] = defaultdict(list)
    for row in warehouse.rows(sql("pushing.verdicts"), [list(keys)]):
        verdicts[row["subject"]].append(
            Verdict(
                subject=row["subject"],
                check=row["check_name"],
                evidence=tuple(
                    Evidence.model_validate(proof) for proof in orjson.loads(row["evidence"])
                ),
                doubts=tuple(
                    DoubtedFact.model_validate(doubt) for doubt in orjson.loads(row["doubts"])
                ),
                readings=tuple(
                    Reading.model_validate(one) for one in orjson.loads(row["readings"])
                ),
                **{name: row[name] for name in ("decision", "score", "reason", "version")},
            )
        )
    return verdicts


def _lent_verdicts(
    warehouse: Warehouse, samples: Mapping[str, Sample], tools: Mapping[str, Tool]
) -> dict[str, list[Verdict]]:
    """Return the verdicts to show with the gold items among these samples, by key.

    They are those of the samples that the items are made of.
    """
    gold = gold_rows(warehouse, sorted(samples))
    verdicts = _verdicts(warehouse, sorted({row["made_of"] for row in gold}))
    shown = {}
    for row in gold:
        item = samples[row["subject"]]
        candidates = [tools[key] for key in item.candidates]
        shown[item.key] = verdicts_shown(item, row["defect"], candidates, verdicts[row["made_of"]])
    return shown


_EVERYBODY = 1000  # people that answer each item, so that it is never done


class TrainingAnswer(NamedTuple):
    """A trainee's answer to an item, whether it was right, and the right calls.

    `defect` is the defect in the calls shown, "" for none.
    """

    reviewer: str
    subject: str
    request: str
    decision: str
    is_right: bool
    defect: str
    right: str


def push_training(
    settings: Settings, studio: LabelStudio, progress: Progress, items: int
) -> Pushed:
    """Push `items` training items to their own project, where everybody answers each once.

    Pushing again adds what is missing. Raises ConfigurationError if no build has landed samples
    to make them from.
    """
    with review_turn(settings, progress):
        warehouse = open_warehouse(settings)
        _make(warehouse, items)
        item_rows = warehouse.rows(sql("training.items"), [TRAINING, items])
        if not item_rows:
            raise ConfigurationError(
                "There are no training items yet. They are made from accepted samples that are "
                "proved: run a build first."
            )
        screen = screen_for(SAMPLE_REVIEW, settings.review_language)
        project = studio.ensure_project(
            screen.with_changes(kind=TRAINING, title="callwright: Training")
        )
        training_tasks = tasks_for(
            SAMPLE_REVIEW,
            warehouse,
            settings.review_language,
            [_question(row) for row in item_rows],
        )
        tasks = [
            QueuedTask(
                task.with_changes(kind=TRAINING),
                0.5,
                _EVERYBODY,
                row["language"],
                row["sample_kind"],
            )
            for task, row in zip(training_tasks, item_rows, strict=True)
        ]
        result = studio.push(project, tasks)
        ids = ((result.task_ids.get(task.callwright_key), task.task.subject) for task in tasks)
        states = [(number, TRAINING, subject, 1) for number, subject in ids if number is not None]
        warehouse.put_rows({"task_states": new_states(warehouse, studio.name, states)})
        return Pushed(result.created, result.already_there, project.url)


def training_answers(warehouse: Warehouse, reviewer: str = "") -> list[TrainingAnswer]:
    """Return the answers to training items, of one person or all, with the right answers."""
    return [
        TrainingAnswer(
            row["reviewer"],
            row["subject"],
            row["request"],
            row["decision"],
            row["is_right"],
            row["defect"],
            _calls(Sample.model_validate_json(row["body"]).gold),
        )
        for row in warehouse.rows(sql("training.answers"), [TRAINING, reviewer, reviewer])
    ]


def _make(warehouse: Warehouse, items: int) -> None:
    """Make the missing items, from the newest build of one recipe after the other."""
    for row in warehouse.rows(sql("training.builds")):
        [item_count] = warehouse.rows(
            "select count(*) as items from gold_items where kind = ?", [TRAINING]
        )
        if item_count["items"] >= items:
            return
        make_training_items(
            warehouse,
            row["build"],
            Recipe.model_validate_json(row["body"]),
            items - item_count["items"],
        )


def _question(row: Row) -> Row:
    """Return the row for the task, as for any spot check."""
    return {
        "subject": row["subject"],
        "kind": SAMPLE_REVIEW,
        "version": 1,
        "cause": GOLD_ITEM,
        "first_cause": GOLD_ITEM,
        "reason": DRAWN,
        "problem": "",
    }


def _calls(calls: Sequence[GoldCall]) -> str:
    named = (
        f"{call.tool}({', '.join(f'{name}={write_value(value)}' for name, value in call.arguments.items())})"  # noqa: E501
        for call in calls
    )
    return "; ".join(named) or "no call"
