"""What annotators of multi-step samples do and see, in a real Chromium at 1366 x 768, against a
real Label Studio.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from callwright.annotation.multi_step_review import (
    correction_task,
    disambiguation_task,
    parse_correction_review,
)
from callwright.annotation.reviews import QueuedTask
from callwright.annotation.sample_review import review_task
from callwright.annotation.screens import screen_for
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.records import Project, PulledAnnotation
from callwright.warehouse.records import GoalPath, Language, Sample
from tests.support.annotation.annotator_screen import assert_seen
from tests.support.annotation.paths import TOOLS, doubt, goal_path, hotels, path_sample
from tests.support.sampling import slow

pytestmark = [pytest.mark.labelstudio, pytest.mark.browser, pytest.mark.enable_socket]

SAMPLE = path_sample(hotels(40, (4, 9, 17), prose=3))
PATH = goal_path(hotels(40, (), prose=3))


@pytest.fixture
def ask(label_studio: LabelStudio, request: pytest.FixtureRequest) -> Callable[..., Project]:
    def ask(
        screen: str, language: Language = "en", sample: Sample = SAMPLE, path: GoalPath = PATH
    ) -> Project:
        tasks = {
            "sample_review": lambda: review_task(
                sample, TOOLS, [doubt(sample)], reason="-", language=language
            ),
            "correction": lambda: correction_task(
                path, TOOLS, [], reason="Drawn from the corrected paths.", language=language
            ),
            "disambiguation": lambda: disambiguation_task(
                sample, [doubt(sample)], reason="-", language=language
            ),
        }
        kind = f"paths_{abs(hash(request.node.nodeid)) % 10**9}"
        project = label_studio.ensure_project(screen_for(screen, language).with_changes(kind=kind))
        label_studio.push(project, [QueuedTask(tasks[screen]().with_changes(kind=kind))])
        return project

    return ask


def _pulled(label_studio: LabelStudio, project: Project) -> PulledAnnotation:
    (annotation,) = label_studio.pull(project).annotations
    return annotation


@pytest.mark.parametrize("language", ["en", slow("zh")])
def test_steps_picks_and_rivals_are_seen_without_scrolling(context, ask, language, tmp_path: Path):
    context.open(ask("sample_review", language))
    assert_seen(
        context,
        ".cw-top",
        '[data-testid="phrase:0"]',
        '[data-testid="phrase:4"]',
        ".cw-calls",
        ".cw-failed",
    )
    shown = context.page.inner_text(".cw-left")
    assert "▶ [2] price: 70" in shown
    assert shown.count("≈") == 2 + 3
    assert "Quiet rooms" not in shown
    context.page.screenshot(path=tmp_path / f"{language}.png")


@pytest.mark.parametrize("language", ["en", slow("zh")])
def test_both_paths_are_seen_without_scrolling_and_a_correction_is_accepted_with_two_keys(
    context, ask, label_studio, language, tmp_path: Path
):
    project = ask("correction", language)
    context.open(project)
    assert_seen(context, ".cw-top", ".cw-request", ".cw-why", ".cw-before", ".cw-after")
    assert "✗ Find_Place(query = Old Lyon)" in context.page.inner_text(".cw-before")
    assert "✓ Hotel_Reviews" in context.page.inner_text(".cw-after")
    context.page.screenshot(path=tmp_path / f"{language}.png")
    context.page.keyboard.press("1")
    context.submit()
    assert (
        parse_correction_review(_pulled(label_studio, project), PATH.key).review.decision
        == "accept"
    )
