"""Measure the checks and reading models on samples broken on purpose and on labelled wordings."""

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

import orjson
from jinja2 import PackageLoader

from callwright.flows.data_checks import check_sample, find_requests, opened_chats, recipe_of_checks
from callwright.flows.environments import open_environments
from callwright.flows.progress import Progress
from callwright.flows.recipe import Recipe, read_recipe
from callwright.flows.run.work import (
    SharedChats,
    check_keys,
    distinct_models,
    gravest,
    task_group,
    with_secret,
)
from callwright.flows.settings import Settings, open_warehouse
from callwright.generators.environments.protocol import (
    Environment,
    ServerSettings,
    SimulatedSettings,
)
from callwright.generators.kinds import family_of
from callwright.generators.stages import StageContext
from callwright.llm.ledger import Ledger
from callwright.llm.models import ModelSettings, Readiness, read_model
from callwright.llm.stand_in import price_of
from callwright.validators.audit.defects import broken_variants, injectors_named
from callwright.validators.audit.subjects import AuditSubject, BrokenSample, gather
from callwright.validators.checks.grounding import standings_told
from callwright.validators.checks.table import settled_claims
from callwright.validators.metrics.ratios import share_interval
from callwright.validators.reading.baselines import BASELINES
from callwright.validators.reading.planting import (
    PLANTED_READING,
    PlantedPoint,
    ReaderFigures,
    cheapest,
    figures_of,
    plant_each,
    read_planted,
)
from callwright.validators.reading.writing import BlindReader, has_calls
from callwright.warehouse.batches import grouped
from callwright.warehouse.errors import CallwrightError, ConfigurationError
from callwright.warehouse.exports.formats import record_line
from callwright.warehouse.queries import sql
from callwright.warehouse.records import (
    Decision,
    LlmCall,
    PlantedReading,
    Sample,
    Tool,
    Verdict,
    content_key,
)
from callwright.warehouse.releases import read_tools, release_named, samples_by_key
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse
from callwright.warehouse.templates import sandbox

AuditDecision = Literal["proved", "judged", "open", "unproved", "contradicted"]
ALL_CHECKS = "all checks"
LANDING: tuple[AuditDecision, ...] = ("proved", "judged")  # without people
RULES = "rules"  # stands where no model was asked
NEWEST_BUILDS = "newest builds"
WORDING = "wording"  # the kind of a labelled request
_DEFECTS = 3  # sorts of defects that are planted in each sample where readers are compared
_GIVING = 60  # samples of each kind and language whose values may be put into others


class AuditPlan(NamedTuple):
    """What to audit: a release or what the newest builds landed, and how many per kind.

    `per_kind` counts samples of each kind and language.
    """

    release: str = ""
    per_kind: int = 10
    seed: int = 0
    model: str = ""
    defects: tuple[str, ...] = ()
    survivors: Path | None = None  # a file for the broken samples that are still proved


class DefectCase(NamedTuple):
    """A sample, intact (`defect` is "") or with a defect, and what today's checks decide."""

    subject: str
    defect: str
    is_broken: bool
    kind: str
    language: str
    decision: AuditDecision
    verdicts: Sequence[Verdict]
    wrong: frozenset[str] = frozenset()  # the arguments that the defect made wrong


class AuditReport(NamedTuple):
    """A stored audit with its figures, as the views have them."""

    audit: str
    source: str
    model: str
    figures: list[Row]
    grades: list[Row]
    arguments: list[Row]


async def audit_checks(plan: AuditPlan, settings: Settings, progress: Progress) -> AuditReport:
    """Break accepted samples in every way that fits, run today's checks, and keep the result.

    The intact samples are checked as well. Raises ConfigurationError if nothing has been
    accepted, or for an unknown release or defect.
    """
    injectors = injectors_named(plan.defects)
    warehouse = open_warehouse(settings)
    subjects = read_subjects(warehouse, plan)
    cases: list[DefectCase] = []
    with ExitStack() as opened:
        environments = opened.enter_context(_open_environments(warehouse))
        survivors = opened.enter_context(plan.survivors.open("wb")) if plan.survivors else None
        async with opened_chats(plan.model, settings) as chats:
            progress.begin("Samples", len(subjects))
            for subject in subjects:
                as_it_is = ("", BrokenSample(subject.sample, {}))
                for defect, variant in (as_it_is, *broken_variants(subject, injectors, plan.seed)):
                    tools = {**subject.tools, **variant.tools}
                    verdicts = await check_sample(variant.sample, tools, chats, environments)
                    one, decision = subject.sample, _weakest_decision(verdicts)
                    about = (one.key, defect, bool(defect), one.kind, one.language)
                    case = DefectCase(*about, decision, verdicts, variant.wrong)
                    cases.append(case)
                    if survivors is not None and case.is_broken and case.decision in LANDING:
                        line = {
                            **record_line(variant.sample, tools),
                            "defect": defect,
                            "made_of": subject.sample.key,
                        }
                        survivors.write(orjson.dumps(line) + b"\n")
                progress.advance(1)
            warehouse.put(chats.calls if chats else ())
    return keep_audit(warehouse, plan.release or NEWEST_BUILDS, plan, cases)


def read_subjects(warehouse: Warehouse, plan: AuditPlan) -> list[AuditSubject]:
    """Return the samples to audit, drawn by seed, and data of other samples of their kinds."""
    with warehouse.reading_together():
        groups = _accepted(warehouse, plan)
        giving = [key for keys in groups.values() for key in keys[: max(plan.per_kind, _GIVING)]]
        samples = samples_by_key(warehouse, giving)
        drawn = (samples[key] for keys in groups.values() for key in keys[: plan.per_kind])
        # Checks read the others without what was laid over them, so that no defect would be seen.
        audited = [sample for sample in drawn if sample.underlying is sample]
        named = sorted(
            {key for sample in audited for key in (*sample.candidates, *sample.withheld)}
        )
        tools = read_tools(warehouse, named)
    pool = gather(samples.values())
    return [
        AuditSubject(
            sample,
            {key: tools[key] for key in (*sample.candidates, *sample.withheld) if key in tools},
            pool,
        )
        for sample in audited
    ]


def read_samples(warehouse: Warehouse, plan: AuditPlan) -> tuple[list[Sample], dict[str, Tool]]:
    """Return `per_kind` accepted samples of each kind and language, by seed, and their tools."""
    drawn = [key for keys in _accepted(warehouse, plan).values() for key in keys[: plan.per_kind]]
    samples = list(samples_by_key(warehouse, drawn).values())
    return samples, read_tools(
        warehouse, sorted({key for sample in samples for key in sample.candidates})
    )


def _accepted(warehouse: Warehouse, plan: AuditPlan) -> dict[tuple[str, str], list[str]]:
    """Return the keys of a release, or of what the newest builds landed, by kind and language.

    The order depends on the seed. Raises ConfigurationError if there are none.
    """
    if plan.release:
        release_named(warehouse, plan.release)
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    if plan.release:
        query = (sql("auditing.of_release"), [plan.release])
    else:
        query = (sql("auditing.landed"), [])
    for row in warehouse.rows(*query):
        groups[row["kind"], row["language"]].append(row["key"])
    if not groups:
        raise ConfigurationError(
            "There are no accepted samples to inject defects into. Run `callwright build RECIPE`"
            " first."
        )
    for keys in groups.values():
        Random(plan.seed).shuffle(keys)
    return groups


@contextmanager
def _open_environments(warehouse: Warehouse) -> Iterator[Mapping[str, Environment]]:
    """Yield the newest builds' environments by name, without servers.

    Servers must not receive broken calls.
    """
    rows = warehouse.rows(
        "select body from builds where key in (select build from latest_builds) order by started_at"
    )
    environments: dict[str, Environment] = {}
    with tempfile.TemporaryDirectory(prefix="callwright-audit-") as folder, ExitStack() as opened:
        for row in rows:
            recipe = Recipe.model_validate_json(row["body"])
            harmless = []
            for source_settings in recipe.tools:
                is_looked_up = isinstance(source_settings, SimulatedSettings) and bool(
                    source_settings.catalog
                )  # by a build only
                harmless += (
                    []
                    if isinstance(source_settings, ServerSettings) or is_looked_up
                    else [source_settings]
                )
            changed = recipe.model_copy(update={"tools": tuple(harmless)})
            environments |= opened.enter_context(open_environments(changed, Path(folder)))
        yield environments


def _weakest_decision(verdicts: Sequence[Verdict]) -> AuditDecision:
    """Return what the verdicts decide about a sample: its grade, or else the weakest decision.

    It is `open` if no check doubts it, but none that ran settles its claims either.
    """
    grade = settled_claims(verdicts).grade
    if grade == "proved" or grade == "judged":  # noqa: PLR1714 - so that types follow
        return grade
    decisions = {one.decision for one in verdicts}
    if "contradicted" in decisions:
        return "contradicted"
    return "unproved" if "unproved" in decisions else "open"


async def audit_wordings(path: Path, plan: AuditPlan, settings: Settings) -> AuditReport:
    """Let the readers judge requests labelled right or wrong, a JSON line each; keep the result.

    Raises ConfigurationError if the file cannot be read, or a line has no label.
    """
    checked = [one async for one in find_requests(path, plan.model, settings)]
    cases = []
    for number, (label, checked_request) in enumerate(zip(_labels(path), checked, strict=True), 1):
        audit_decision: AuditDecision = (
            "unproved" if checked_request.decision == "doubted" else checked_request.decision
        )
        decision: Decision = "proved" if audit_decision in ("judged", "open") else audit_decision  # type: ignore[assignment]
        verdict = Verdict(
            subject=checked_request.id,
            check="request",
            decision=decision,
            reason=" ".join(checked_request.reasons),
        )
        at = f"{number}:{checked_request.id}"
        cases.append(
            DefectCase(
                at,
                label.defect,
                label.is_broken,
                WORDING,
                label.language,
                audit_decision,
                [verdict],
            )
        )
    return keep_audit(open_warehouse(settings), path.name, plan, cases)


class WordingLabel(NamedTuple):
    """A line's label for its own call: whether it is right, and if not, what is wrong."""

    is_broken: bool
    defect: str
    language: str


def _labels(path: Path) -> Iterator[WordingLabel]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                labelled = orjson.loads(line)
                label = labelled.get("label") if isinstance(labelled, dict) else None
                if label not in ("right", "wrong"):
                    raise ConfigurationError(
                        f"Line {number} of {str(path)!r} has the label {label!r}. It must be right"
                        " or wrong."
                    )
                defect = str(labelled.get("defect") or "unnamed") if label == "wrong" else ""
                yield WordingLabel(label == "wrong", defect, str(labelled.get("language", "")))


def keep_audit(
    warehouse: Warehouse, source: str, plan: AuditPlan, cases: Sequence[DefectCase]
) -> AuditReport:
    """Store an audit with all of its cases, and return it with its counts."""
    made_at = datetime.now(UTC)
    model = plan.model or RULES
    key = content_key([source, model, plan.seed, plan.per_kind, made_at.isoformat()])
    audit = {
        "key": key,
        "source": source,
        "model": model,
        "seed": plan.seed,
        "per_kind": plan.per_kind,
        "made_at": made_at,
    }
    rows = [case._asdict() | {"audit": key} for case in cases]
    verdicts = [
        {
            "audit": key,
            "subject": case.subject,
            "defect": case.defect,
            "check_name": one.check,
            "decision": one.decision,
            "grade": one.grade,
            "reason": one.reason,
        }
        for case in cases
        for one in case.verdicts
    ]
    for row in rows:
        del row["verdicts"], row["wrong"]
    arguments = [{"audit": key, **row} for case in cases for row in _argument_rows(case)]
    tables = {
        "audits": [audit],
        "audit_cases": rows,
        "audit_verdicts": verdicts,
        "audit_arguments": arguments,
    }
    queries = {
        "figures": (sql("auditing.figures"), [key]),
        "grades": (sql("auditing.grades"), [source, model]),
        "arguments": (sql("auditing.arguments"), [source, model]),
    }
    with warehouse.together():
        warehouse.put_rows(tables)
        found = warehouse.rows_by_name(queries)
    return AuditReport(key, source, model, found["figures"], found["grades"], found["arguments"])


def _argument_rows(case: DefectCase) -> Iterator[Row]:
    """Yield the grade of each argument of an intact sample, and of each that a defect broke."""
    if case.is_broken and not case.wrong:
        return
    for name, standing in standings_told(case.verdicts).items():
        if not case.is_broken or name in case.wrong:
            same = {"subject": case.subject, "defect": case.defect, "argument": name}
            yield {**same, "is_wrong": case.is_broken, "grade": standing}


def audit_page(report: AuditReport) -> str:
    """Return the figures as Markdown tables.

    They are by check, family, kind, language and grade, and give how many of each defect are
    still proved.
    """
    together = [row for row in report.figures if row["check_name"] == ALL_CHECKS]
    slices = defaultdict(list, grouped(together, itemgetter("slice_by")))
    slices["defect"].sort(
        key=lambda row: (-row["still_proved"] / row["broken"], row["slice_value"])
    )
    within = {row["slice_value"]: row for row in slices["defect and family"]}
    by_check = [row for row in report.figures if row["slice_by"] == "all"]
    templates = sandbox(
        loader=PackageLoader("callwright.flows", "."), trim_blocks=True, lstrip_blocks=True
    )
    page = templates.get_template("audit.md.j2").render(
        report=report, by_check=by_check, slices=slices, within=within
    )
    return page.strip() + "\n"


_THOUSAND = 1000
# of what is read, the share that is taken for wrong where no build has read anything
_UNKNOWN = 0.1


class ComparisonPlan(NamedTuple):
    """The models to compare as readers, and the samples that they read.

    `limit` is the number of samples of each family and language. `wrong_before` is the share of
    samples that is wrong before reading, None for the share that readers of the newest builds
    doubted; `wrong_at_most` is the bar for the share that is wrong afterwards.
    """

    models: tuple[ModelSettings, ...]
    release: str = ""
    limit: int = 40
    seed: int = 0
    wrong_before: float | None = None
    wrong_at_most: float | None = None


def readers_named(names: Sequence[str], recipe: Path | None) -> tuple[ModelSettings, ...]:
    """Return the models to compare: those named, with a recipe's settings, or its candidates.

    Raises ConfigurationError if there are none.
    """
    brought = read_recipe(recipe) if recipe else None
    named = [brought.model_named(name) if brought else read_model(name) for name in names]
    if not named and brought:
        named = [one.model for one in brought.candidates]
    if not named:
        raise ConfigurationError(
            "No model is named. Name each with --model, or a recipe that has candidates with"
            " --recipe."
        )
    return tuple({one.model_dump_json(): one for one in named}.values())


class ReaderComparison(NamedTuple):
    """How the models read the same places; `chosen` is the cheapest that meets the bar, else ""."""

    source: str
    samples: int
    wrong_before: float
    wrong_at_most: float | None
    readers: list[ReaderFigures]
    chosen: str


async def compare_readers(
    plan: ComparisonPlan, settings: Settings, progress: Progress
) -> ReaderComparison:
    """Let each model read the same samples with planted defects.

    Raises ConfigurationError if no sample with calls has been accepted.
    """
    await _look_at_models(plan.models)
    warehouse = open_warehouse(settings)
    samples, tools = _drawn(warehouse, plan)
    wrong_before = plan.wrong_before
    if wrong_before is None:
        # As much of what readers of the newest builds read as they doubted, by the upper bound: no
        # more of it was wrong, it seems.
        [row] = warehouse.rows(sql("measuring.doubted"))
        wrong_before = share_interval(row["doubted"], row["read"]).high if row["read"] else _UNKNOWN
    readers = [
        await _figures(model, samples, tools, plan.seed, settings, progress, wrong_before)
        for model in plan.models
    ]
    readers += [
        await _of_baseline(one, samples, tools, plan.seed, wrong_before) for one in BASELINES
    ]
    best = None
    if plan.wrong_at_most is not None:
        best = cheapest(readers[: -len(BASELINES)], plan.wrong_at_most)
    return ReaderComparison(
        plan.release or NEWEST_BUILDS,
        len(samples),
        wrong_before,
        plan.wrong_at_most,
        readers,
        best.model if best else "",
    )


async def _look_at_models(models: Sequence[ModelSettings]) -> None:
    """Check these models before any is asked.

    Raises ConfigurationError, or UnavailableError if a server cannot be reached.
    """
    recipes = [recipe_of_checks(model) for model in models]
    for recipe in recipes:
        check_keys(recipe)
    await Readiness(
        with_secret(model) for recipe in recipes for model in distinct_models(recipe)
    ).check()


def _drawn(warehouse: Warehouse, plan: ComparisonPlan) -> tuple[list[Sample], dict[str, Tool]]:
    """Return samples with due calls, `limit` of each family and language, and their tools."""
    found, tools = read_samples(warehouse, AuditPlan(plan.release, plan.limit, plan.seed))
    kept = grouped(filter(has_calls, found), lambda one: (family_of(one.kind).name, one.language))
    samples = []
    for group in kept.values():
        Random(plan.seed).shuffle(group)
        samples += group[: plan.limit]
    if not samples:
        raise ConfigurationError("No accepted sample has calls, so there is nothing to read.")
    return samples, tools


def _planted_in(sample: Sample, tools: Mapping[str, Tool], seed: int) -> list[PlantedPoint]:
    """Return what every reader reads of a sample: the gold as it is, and various defects."""
    read = sample.underlying
    toolset = [tools[key] for key in read.candidates if key in tools]
    return plant_each(read, toolset, Random(f"{seed}:{sample.key}"), defects=_DEFECTS)


async def _of_baseline(
    baseline: BlindReader,
    samples: Sequence[Sample],
    tools: Mapping[str, Tool],
    seed: int,
    wrong_before: float,
) -> ReaderFigures:
    nobody: Any = None  # code reads, and asks no model
    context = StageContext(nobody, Random(), tools)
    readings = [
        await read_planted(sample.underlying, planted, context, baseline)
        for sample in samples
        for planted in _planted_in(sample, tools, seed)
    ]
    return figures_of(baseline.name, readings, wrong_before, dollars=0.0)


async def _figures(  # noqa: PLR0913, PLR0917 - what each model has in common with the others
    model: ModelSettings,
    samples: Sequence[Sample],
    tools: dict[str, Tool],
    seed: int,
    settings: Settings,
    progress: Progress,
    wrong_before: float,
) -> ReaderFigures:
    recipe = recipe_of_checks(model)
    calls: list[LlmCall] = []
    readings: list[PlantedReading] = []
    errors: list[CallwrightError] = []
    async with SharedChats().of(recipe, settings.ledger) as chats:
        chat = chats.of(PLANTED_READING, calls.append)

        async def read(sample: Sample) -> None:
            context = StageContext(chat, Random(), tools)
            places = _planted_in(sample, tools, seed)
            with chats.in_flight.place(errors):
                readings.extend(
                    [await read_planted(sample.underlying, planted, context) for planted in places]
                )
                progress.advance(1)

        progress.begin(model.name, len(samples))
        async with task_group() as tasks:
            async for sample in chats.in_flight.admit(samples, errors):
                tasks.create_task(read(sample))
    open_warehouse(settings).put(calls)
    if (error := gravest(errors)) is not None:
        raise error
    # Tokens also of those that the ledger knew and nobody pays for again; and what so many cost,
    # whoever has paid them.
    async with Ledger(settings.ledger) as ledger:
        asked = [await ledger.get(bytes.fromhex(one)) for one in {one.request for one in calls}]
    replies = [one for one in asked if one is not None]
    prompt, reply = (
        sum(one.prompt_tokens for one in replies),
        sum(one.completion_tokens for one in replies),
    )
    price, is_free = price_of(recipe.models.checker), recipe.models.checker.path == "in process"
    dollars = 0.0 if is_free else price.of(prompt, reply) if price.is_known else None
    return figures_of(
        model.name,
        readings,
        wrong_before,
        tokens=(prompt + reply) / len(samples),
        dollars=None if dollars is None else dollars / len(samples) * _THOUSAND,
    )
