"""Suspects: what candidates answer in one against the gold comes back to people, with the reason
in plain words.
"""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from callwright.flows.evaluation.evaluating import evaluate_release
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate
from callwright.flows.review.asking_again import raise_suspicions
from callwright.llm.models import read_model
from callwright.warehouse.records import MultiStepRun
from callwright.warehouse.releases import create_release
from tests.support.flows.answer_boards import FOUR, NOW, ODD, OTHER, RIGHT, WRONG, Board, sample_of
from tests.support.flows.review_sites import ReviewSite
from tests.support.flows.small_builds import run_here


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with nothing but its tables and views, to be copied: making them takes longer
    than a test.
    """
    return Board(tmp_path_factory.mktemp("empty")).warehouse.path


@pytest.fixture
def board(empty: Path, tmp_path: Path) -> Iterator[Board]:
    shutil.copy(empty, tmp_path / empty.name)
    board = Board(tmp_path)
    with board.warehouse.together():
        yield board


def test_what_every_candidate_fails_comes_back_to_people(board: Board) -> None:
    sample = sample_of(FOUR)
    board.release(sample)
    board.answer(sample, WRONG, OTHER, ODD)
    found = raise_suspicions(board.warehouse, "v1")
    reason = "All 3 candidates fail it: wrong value ×2, wrong tool ×1."
    assert [(one.subject, one.reason, one.is_new) for one in found.suspects] == [
        (sample.key, reason, True)
    ]
    assert found.new == 1
    assert board.asked() == [{"subject": sample.key, "cause": "suspect", "reason": reason}]


def test_candidates_that_agree_against_the_gold_make_a_suspect_of_it(board: Board) -> None:
    sample = sample_of(FOUR)
    board.release(sample)
    board.answer(sample, WRONG, RIGHT, WRONG)
    assert board.reasons() == [
        "2 of 3 candidates answer book_table(people=5) where the gold says people=4."
    ]


def test_a_multi_step_sample_is_suspected_when_no_run_of_any_candidate_gets_through(
    board: Board,
) -> None:
    sample = sample_of(FOUR)
    board.release(sample)

    def ran(model: str, number: int, *, success: bool) -> MultiStepRun:
        return MultiStepRun(
            release="v1",
            subject=sample.key,
            candidate=model,
            mode="as_paper",
            run=number,
            success=success,
            correct_calls=0,
            total_calls=1,
            steps=1,
            shortest=1,
            turns=1,
            error_type="" if success else "value_error",
        )

    board.warehouse.put(
        [ran("a", 0, success=False), ran("b", 0, success=False), ran("b", 1, success=False)]
    )
    assert board.reasons() == ["All 2 candidates fail it: value error ×2."]
    board.warehouse.put([ran("a", 1, success=True)])
    assert board.suspects() == ()


def test_gold_that_a_person_confirmed_is_suspected_again_only_for_another_answer(
    board: Board,
) -> None:
    sample = sample_of(FOUR)
    board.release(sample)
    board.answer(sample, WRONG, OTHER)
    assert raise_suspicions(board.warehouse, "v1").new == 1
    assert raise_suspicions(board.warehouse, "v1").new == 0
    board.decide(sample, "accept", 1)
    board.answer(sample, WRONG, OTHER, ODD)
    assert [one.is_new for one in board.suspects()] == [False], (
        "one more fails, which is nothing new"
    )
    board.answer(sample, WRONG, OTHER, ODD, OTHER)
    assert raise_suspicions(board.warehouse, "v1").new == 1
    assert "2 of 4 candidates answer book_table(people=6)" in board.asked()[-1]["reason"]
    board.decide(sample, "accept", 2)
    board.answer(sample, WRONG, OTHER, ODD, OTHER, OTHER)
    assert raise_suspicions(board.warehouse, "v1").new == 0, "it is the same answer"
    assert len(board.asked()) == 2


def test_models_of_one_family_and_settings_of_one_model_are_one_candidate(board: Board) -> None:
    sample = sample_of(FOUR)
    board.release(sample)
    board.answer(sample, WRONG, WRONG, RIGHT)
    models = {"a": "openai/gpt-6-sol", "b": "azure/gpt-6-luna", "c": "anthropic/claude-haiku-5-5"}
    settings = dict.fromkeys(("settings", "prompts", "code_version"), "")
    board.warehouse.put_rows(
        {
            "candidate_settings": [
                {"release": "v1", "candidate": name, "label": name, "model": model}
                | {"options": "{}", "conditions": "{}", "first_asked_at": NOW}
                | settings
                for name, model in models.items()
            ]
        }
    )
    assert board.reasons() == []
    board.warehouse.execute(
        "update candidate_settings set model = 'lab/own-4b' where candidate = 'b'"
    )
    assert board.reasons() == [
        "2 of 3 candidates answer book_table(people=5) where the gold says people=4."
    ]


def careless(label: str, seed: int) -> Candidate:
    rates = {"wrong_argument": 0.45, "wrong_tool": 0.4}
    return Candidate(
        label=label, model=read_model("template/v1", {"seed": seed, "error_rate": rates})
    )


def test_an_evaluation_ends_with_suspects_if_its_candidates_are_independent(
    site: ReviewSite,
) -> None:
    create_release(site.warehouse, "v1")
    told: list[str] = []
    progress = SilentProgress()
    progress.say = told.append  # type: ignore[method-assign]
    candidates = [careless(label, seed) for seed, label in enumerate("abc")]
    asyncio.run(evaluate_release("v1", candidates, site.settings, progress))
    assert site.asked("suspect") == [], "three settings of one model are one candidate"
    site.warehouse.execute("update candidate_settings set model = candidate || '/' || candidate")
    asyncio.run(evaluate_release("v1", candidates, site.settings, progress))
    asked = site.asked("suspect")
    assert len(asked) > 1
    assert told[-1].startswith(
        f"In {len(asked)} accepted samples the candidates disagree with the gold call."
    )
    site.push()
    tasks = {key: site.studio.newest_task(key) for key in asked}
    assert all("candidates" in task["why"] for task in tasks.values())

    wrong, right = asked[:2]
    site.studio.annotate(wrong, "reject", reasons="wrong_value")
    site.studio.annotate(right, "accept")
    site.pull()
    assert site.accepted(wrong) is None
    assert site.accepted(right) is not None
    before = site.everything()
    asyncio.run(evaluate_release("v1", candidates, site.settings, SilentProgress()))
    assert site.everything() | {"evaluations": before["evaluations"]} == before, (
        "nobody is asked again"
    )

    shown = run_here("review", "suspects", "v1", home=site.settings.home)
    assert shown.returncode == 0, shown.stderr
    assert all(key in shown.stdout for key in asked if key != wrong)
    assert " suspects, 0 of them new." in shown.stdout
    unknown = run_here("review", "suspects", "v2", home=site.settings.home)
    assert (unknown.returncode, unknown.stdout) == (2, "")
