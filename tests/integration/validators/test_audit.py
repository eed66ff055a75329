"""Injectors: each changes what it says of a sample and nothing else, and no check knows them."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from callwright.flows.auditing import AuditPlan, read_subjects
from callwright.flows.settings import open_warehouse
from callwright.validators.audit import turns, wordings
from callwright.validators.audit.defects import (
    INJECTORS,
    OF_ARGUMENTS,
    OF_CALLS,
    inject,
    injectors_named,
)
from callwright.validators.audit.subjects import AuditSubject, BrokenSample
from callwright.warehouse.records import CallTurn, Sample, UserTurn
from tests.support.flows.small_builds import TOOLS, build, settings_of, unmeasured_recipe

TOP = Path(__file__).parents[3]
KINDS = {
    "perfect": 6,
    "imperfect": 10,
    "irrelevant": 3,
    "sQsA": 6,
    "mQsA": 2,
    "SO_case1": 2,
    "SO_case2": 2,
    "mSv": 2,
    "IS": 2,
    "external": 4,
    "sQsA_external": 2,
    "routing_medium": 4,
    "routing_hard": 4,
    "conversation": 8,
    "multi_step": 4,
    "parallel": 4,
}


@pytest.fixture(scope="module")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> list[AuditSubject]:
    """Samples of every family, as builds land them."""
    settings = settings_of(tmp_path_factory.mktemp("audited"))
    tools = {"routing": [{"domains": ["Airline"]}], "multi_step": [{"environment": "travel"}]}
    for name, source in {"small": TOOLS, **tools}.items():
        kinds = {kind: count for kind, count in KINDS.items() if _source_of(kind) == name}
        languages = ["en", "zh"] if name == "small" else ["en"]
        build(
            unmeasured_recipe(
                name=name.replace("_", "-"),
                tools=source,
                samples=kinds,
                languages=languages,
                variants=2,
            ),
            settings,
        )
    return read_subjects(open_warehouse(settings), AuditPlan(per_kind=6))


def _source_of(kind: str) -> str:
    return next((name for name in ("routing", "multi_step") if kind.startswith(name)), "small")


def broken_ones(
    subjects: list[AuditSubject], name: str
) -> Iterator[tuple[AuditSubject, BrokenSample]]:
    [injector] = injectors_named([name])
    for subject in subjects:
        made = inject(injector, subject, Random(f"{name}:{subject.sample.key}"))
        if made is not None:
            yield subject, made


def without_evidence(sample: Sample) -> list[object]:
    """What is due at each call turn."""
    return [
        [(call.tool, call.arguments) for call in snapshot.calls] for snapshot in sample.snapshots()
    ]


def texts(sample: Sample) -> list[object]:
    """All that is not due: what user, assistant and tools say."""
    return [turn for turn in sample.turns if not isinstance(turn, CallTurn)]


def names_of(injectors: tuple) -> list[str]:
    return [injector.name for injector in injectors]


def test_every_family_meets_many_kinds_of_defects(subjects: list[AuditSubject]) -> None:
    met: dict[str, set[str]] = defaultdict(set)
    fits: Counter[str] = Counter()
    for name in names_of(INJECTORS):
        for subject, _ in broken_ones(subjects, name):
            met[subject.traits.paper].add(name)
            fits[name] += 1
    assert {paper: len(names) >= 25 for paper, names in met.items()} == dict.fromkeys(
        ("HammerBench", "ComplexFuncBench", "CallNavi", "CONFETTI", "BFCL"), True
    )
    assert len(fits) >= 70, sorted(set(names_of(INJECTORS)) - fits.keys())


@pytest.mark.parametrize("name", names_of(OF_ARGUMENTS))
def test_a_defect_of_arguments_changes_no_word(subjects: list[AuditSubject], name: str) -> None:
    for subject, made in broken_ones(subjects, name):
        before, after = without_evidence(subject.sample), without_evidence(made.sample)
        assert texts(made.sample) == texts(subject.sample)
        assert [[tool for tool, _ in due] for due in after] == [
            [tool for tool, _ in due] for due in before
        ]
        assert after != before
        assert (made.sample.candidates, made.sample.facts) == (
            subject.sample.candidates,
            subject.sample.facts,
        )


@pytest.mark.parametrize("name", names_of(wordings.INJECTORS))
def test_a_defect_of_words_changes_one_turn_of_the_user(
    subjects: list[AuditSubject], name: str
) -> None:
    for subject, made in broken_ones(subjects, name):
        pairs = list(zip(subject.sample.turns, made.sample.turns, strict=True))
        changed = [(old, new) for old, new in pairs if not isinstance(old, CallTurn) and old != new]
        assert without_evidence(made.sample) == without_evidence(subject.sample)
        assert len(changed) == 1
        [(old, new)] = changed
        assert isinstance(old, UserTurn)
        assert old.external == new.external


@pytest.mark.parametrize("name", names_of(OF_CALLS))
def test_a_defect_of_calls_leaves_the_user_alone(subjects: list[AuditSubject], name: str) -> None:
    for subject, made in broken_ones(subjects, name):
        if name != "served_request":
            assert [turn for turn in made.sample.turns if isinstance(turn, UserTurn)] == [
                turn for turn in subject.sample.turns if isinstance(turn, UserTurn)
            ]


@pytest.mark.parametrize("injector", turns.INJECTORS, ids=lambda injector: injector.name)
def test_the_same_seed_breaks_the_same(subjects: list[AuditSubject], injector: object) -> None:
    for subject in subjects[:10]:
        first, second = (inject(injector, subject, Random(3)) for _ in range(2))
        assert first == second


def test_no_check_and_no_reader_knows_the_words_that_break_samples() -> None:
    readers = [
        path
        for folder in ("language", "validators/checks", "llm")
        for path in (TOP / folder).rglob("*.py")
    ]
    assert [str(path) for path in readers if "injections" in path.read_text(encoding="utf-8")] == []
