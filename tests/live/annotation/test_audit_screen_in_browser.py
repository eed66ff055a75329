"""What an auditor of the metric does and sees, in a real Chromium at 1366 x 768, against a real
Label Studio.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from callwright.annotation.prediction_audit import AuditCase, audit_task, parse_audit
from callwright.annotation.reviews import QueuedTask
from callwright.annotation.screens import PREDICTION_AUDIT, screen_for
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.records import Project
from callwright.warehouse.records import Call, Prediction, Review, Sample
from tests.support.annotation.annotator_screen import assert_seen
from tests.support.sampling import slow

pytestmark = [pytest.mark.labelstudio, pytest.mark.browser, pytest.mark.enable_socket]

ANSWER = {
    "restaurant": "Trattoria Verde",
    "date": "2026-05-03",
    "time": "7:30 pm",
    "people": 4,
    "seating": "inside",
}


@pytest.fixture
def ask(label_studio: LabelStudio, tools, request: pytest.FixtureRequest) -> Callable[..., Project]:
    def ask(
        answer: Prediction, sample: Sample, error_type: str = "wrong_value", language: str = "en"
    ) -> Project:
        kind = f"audit_{abs(hash(request.node.nodeid)) % 10**9}"
        project = label_studio.ensure_project(
            screen_for(PREDICTION_AUDIT, language).with_changes(kind=kind)
        )
        task = audit_task(
            AuditCase(answer, sample, tools, error_type), reason="Drawn.", language=language
        )
        label_studio.push(project, [QueuedTask(task.with_changes(kind=kind))])
        return project

    return ask


def answer_to(sample: Sample, *calls: Call, turn: int = 1, text: str = "") -> Prediction:
    return Prediction(
        release="v1",
        subject=sample.key,
        turn=turn,
        candidate="openai/secret",
        text=text,
        calls=calls,
    )


@pytest.fixture
def answer(sample: Sample) -> Prediction:
    return answer_to(sample, Call(tool="book_table", arguments=ANSWER))


def pulled(label_studio: LabelStudio, project: Project, answer: Prediction) -> Review:
    (annotation,) = label_studio.pull(project).annotations
    return parse_audit(annotation, answer.key).review


@pytest.mark.parametrize("language", ["en", slow("zh")])
def test_all_that_the_verdict_needs_is_seen_without_scrolling_and_the_metric_is_found_right_with_two_keys(
    context, ask, label_studio, dialogue, language: str, tmp_path: Path
) -> None:
    answer = answer_to(
        dialogue,
        Call(tool="book_table", arguments={"restaurant": "Blue Boat", "people": "4"}),
        turn=10,
    )
    project = ask(answer, dialogue, language=language)
    context.open(project)
    assert_seen(
        context,
        ".cw-top",
        '[data-testid="phrase:0"]',
        '[data-testid="phrase:9"]',
        ".cw-metric",
        ".cw-gold",
        ".cw-answer",
        ".cw-why",
    )
    assert context.page.inner_text(".cw-gold").count("−   date = 2026-05-03") == 1
    assert '≠   people = "4"' in context.page.inner_text(".cw-answer")
    assert "secret" not in context.page.inner_text("body")
    context.page.screenshot(path=tmp_path / f"{language}.png")
    context.page.keyboard.press("1")
    context.submit()
    review = pulled(label_studio, project, answer)
    assert (review.decision, review.reasons) == ("accept", ())
