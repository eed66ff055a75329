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
from callwright.validators.audit.editing import Replacement, kept_turns, rebuilt, with_words
from callwright.validators.audit.subjects import AuditSubject, BrokenSample
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import (
    NO_FACTS,
    CallPlace,
    CallTurn,
    Evidence,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    SpokenPart,
    UserTurn,
)
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


def test_there_are_enough_kinds_of_defects_and_each_has_one_name() -> None:
    names = names_of(INJECTORS)
    assert len(names) >= 40
    assert len(set(names)) == len(names)
    assert all(injector.breaks for injector in INJECTORS)


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


@pytest.mark.parametrize("name", names_of(INJECTORS))
def test_evidence_goes_on_standing_where_it_says(subjects: list[AuditSubject], name: str) -> None:
    for subject, made in broken_ones(subjects, name):
        if all(stands(subject.sample, one) for one in evidence_of(subject.sample)):
            assert [one for one in evidence_of(made.sample) if not stands(made.sample, one)] == []


def evidence_of(sample: Sample) -> list[Evidence]:
    return [
        one for snapshot in sample.snapshots() for call in snapshot.calls for one in call.evidence
    ]


def stands(sample: Sample, evidence: Evidence) -> bool:
    if evidence.turn is None or evidence.kind == "response":
        turn = sample.turns[evidence.turn] if evidence.turn is not None else None
        return turn is None or isinstance(turn, ResultTurn)
    turn = sample.turns[evidence.turn]
    text = turn.external.text if evidence.in_message and turn.external else turn.text
    return text[evidence.start : evidence.end] == evidence.quote


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


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("fact_changed", ReplyTurn),
        ("act_changed", ReplyTurn),
        ("response_altered", ResultTurn),
        ("app_changed", UserTurn),
    ],
)
def test_a_defect_of_turns_changes_one_turn(
    subjects: list[AuditSubject], name: str, kind: type
) -> None:
    found = list(broken_ones(subjects, name))
    assert found
    for subject, made in found:
        [(old, _)] = [
            (a, b) for a, b in zip(subject.sample.turns, made.sample.turns, strict=True) if a != b
        ]
        assert isinstance(old, kind)


@pytest.mark.parametrize(
    "name",
    [
        "user_turn_removed",
        "result_turn_removed",
        "reply_removed",
        "exchange_removed",
        "step_dropped",
    ],
)
def test_what_is_left_out_leaves_the_rest(subjects: list[AuditSubject], name: str) -> None:
    found = list(broken_ones(subjects, name))
    assert found
    for subject, made in found:
        whole = iter(texts(subject.sample))
        assert all(turn in whole for turn in texts(made.sample))  # in the same order
        assert len(made.sample.turns) < len(subject.sample.turns)


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


def test_an_unknown_kind_of_defect_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"no kind of defect 'rust'.*number_beside"):
        injectors_named(["rust"])


def test_no_check_and_no_reader_knows_the_words_that_break_samples() -> None:
    readers = [
        path
        for folder in ("language", "validators/checks", "llm")
        for path in (TOP / folder).rglob("*.py")
    ]
    assert [str(path) for path in readers if "injections" in path.read_text(encoding="utf-8")] == []


def sample_of(
    *kept: UserTurn | CallTurn | ResultTurn | ReplyTurn, facts: SampleFacts = NO_FACTS
) -> Sample:
    return Sample(
        kind="perfect", language="en", category="", candidates=("a",), turns=kept, facts=facts
    )


def quoted(argument: str, turn: int, text: str, quote: str) -> Evidence:
    start = text.index(quote)
    return Evidence(
        argument=argument, kind="span", turn=turn, start=start, end=start + len(quote), quote=quote
    )


def test_other_words_carry_their_evidence() -> None:
    text = "From Oslo to Bergen"
    evidence = (quoted("one", 0, text, "Oslo"), quoted("other", 0, text, "Bergen"))
    call = GoldCall(tool="t", arguments={"one": "Oslo", "other": "Bergen"}, evidence=evidence)
    sample = sample_of(UserTurn(text=text), CallTurn(calls=(call,)))
    swapped = with_words(sample, 0, [Replacement(5, 9, "Bergen"), Replacement(13, 19, "Oslo")])
    assert swapped.request == "From Bergen to Oslo"
    assert [one.quote for one in swapped.gold[0].evidence] == ["Bergen", "Oslo"]
    framed = with_words(
        sample, 0, [Replacement(0, 0, "No. "), Replacement(0, 1, "f"), Replacement(19, 19, "!")]
    )
    assert framed.request == "No. from Oslo to Bergen!"
    assert all(stands(framed, one) for one in framed.gold[0].evidence)
    cut = with_words(sample, 0, [Replacement(7, 19, "")])
    assert [one.argument for one in cut.gold[0].evidence] == []


def test_turns_that_go_take_what_points_at_them() -> None:
    call = GoldCall(tool="t", arguments={"x": 1})
    picked = Evidence(argument="x", kind="response", turn=4, path="turns[4].results[0].id")
    later = GoldCall(tool="u", arguments={"x": 1}, evidence=(picked,))
    sample = sample_of(
        UserTurn(text="a"),
        CallTurn(calls=(call,), executed=True),
        ResultTurn(results=(1,)),
        CallTurn(calls=(call,), executed=True),
        ResultTurn(results=({"id": 1},)),
        CallTurn(calls=(later,), executed=True),
        facts=SampleFacts(wanted=(CallPlace(0, 0), CallPlace(2, 0)), goals=(SpokenPart(0, "t"),)),
    )
    left = rebuilt(sample, [one for one in kept_turns(sample) if one.old not in (1, 2)])
    [moved] = left.gold[0].evidence
    assert (moved.turn, moved.path) == (2, "turns[2].results[0].id")
    assert left.facts.wanted == ((1, 0),)
    assert left.facts.goals == ((0, "t"),)
    assert rebuilt(sample, kept_turns(sample)).turns == sample.turns
