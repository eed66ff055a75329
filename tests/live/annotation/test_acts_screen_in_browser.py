"""What an annotator of dialogue acts does and sees, in a real Chromium at 1366 x 768, against a
real Label Studio.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from callwright.annotation.dialogue_acts import acts_task, parse_acts_review
from callwright.annotation.reviews import ParsedReview, QueuedTask, UnusableEdit
from callwright.annotation.screens import screen_for, words_in
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.records import Project
from callwright.warehouse.records import Language, ReplyTurn, ResultTurn, Sample
from tests.support.annotation.annotator_screen import AnnotatorScreen, assert_seen
from tests.support.sampling import slow

pytestmark = [pytest.mark.labelstudio, pytest.mark.browser, pytest.mark.enable_socket]


class WaitingConversation:
    """A conversation that waits in a project of its own."""

    def __init__(self, sample: Sample, project: Project, label_studio: LabelStudio) -> None:
        self.sample, self.project, self._label_studio = sample, project, label_studio

    def answer(self) -> ParsedReview:
        (annotation,) = self._label_studio.pull(self.project).annotations
        return parse_acts_review(annotation, self.sample)


@pytest.fixture
def ask(
    label_studio: LabelStudio, request: pytest.FixtureRequest, talk: Sample
) -> Callable[..., WaitingConversation]:
    def ask(
        language: Language = "en", sample: Sample = talk, returned: UnusableEdit | None = None
    ) -> WaitingConversation:
        kind = f"acts_{abs(hash(request.node.nodeid)) % 10**9}"
        project = label_studio.ensure_project(
            screen_for("dialogue_acts", language).with_changes(kind=kind)
        )
        task = acts_task(
            sample, reason="Drawn from the conversations.", language=language, returned=returned
        )
        label_studio.push(project, [QueuedTask(task.with_changes(kind=kind))])
        return WaitingConversation(sample, project, label_studio)

    return ask


def _background(context: AnnotatorScreen, number: int) -> str:
    return context.page.locator(f'[data-testid="phrase:{number}"]').evaluate(
        "row => getComputedStyle(row).backgroundColor"
    )


@pytest.mark.parametrize("language", ["en", slow("zh")])
def test_a_conversation_and_its_acts_are_seen_without_scrolling_and_accepted_with_two_keys(
    context: AnnotatorScreen, ask, language, talk, label_studio, tmp_path: Path
):
    question = ask(language)
    context.open(question.project)
    last = f'[data-testid="phrase:{len(talk.turns) - 1}"]'
    assert_seen(
        context,
        ".cw-top",
        '[data-testid="phrase:0"]',
        last,
        ".cw-why",
        ".cw-rules",
        "[name=comment]",
    )
    words = words_in(language)
    assert context.page.inner_text('[data-testid="phrase:1"]').endswith(
        f"1 [{words.act['reject']}] {talk.turns[1].text}"
    )
    assert context.page.locator("text=/00:00:00/").filter(visible=True).count() == 0
    context.page.screenshot(path=tmp_path / f"{language}.png")
    assert_the_assistant_stands_out(context, talk)
    context.page.keyboard.press("Control+Enter")
    context.page.wait_for_timeout(1500)
    assert label_studio.status(question.project).annotations == 0, "there is no verdict yet"
    context.page.keyboard.press("1")
    context.submit()
    review = question.answer().review
    assert review.decision == "accept"
    assert review.seconds > 0


def assert_the_assistant_stands_out(context: AnnotatorScreen, talk: Sample) -> None:
    marked = {at for at in range(len(talk.turns)) if _background(context, at) != "rgba(0, 0, 0, 0)"}
    assert marked == {at for at, turn in enumerate(talk.turns) if isinstance(turn, ReplyTurn)}
    dim = {
        at
        for at in range(len(talk.turns))
        if context.page.locator(f'[data-testid="phrase:{at}"]').evaluate(
            "row => getComputedStyle(row).opacity"
        )
        != "1"
    }
    assert dim == {at for at, turn in enumerate(talk.turns) if turn.kind in ("calls", "result")}


@pytest.mark.slow
def test_long_results_are_folded_and_a_long_conversation_leaves_the_verdict_in_reach(
    context: AnnotatorScreen, ask, talk
):
    notes = {"notes": "Breakfast is served from seven. " * 200}
    turns = [
        turn.with_changes(results=(notes,)) if isinstance(turn, ResultTurn) else turn
        for turn in talk.turns
    ]
    long = talk.with_changes(
        turns=(*turns, *turns[:-1], talk.turns[-2].with_changes(text="W" * 3000), *talk.turns[-1:])
    )
    context.open(ask(sample=long).project)
    assert context.page.locator('[data-testid="phrase:6"]').bounding_box()["height"] < 40
    panel = context.page.get_by_text("What came back, in full")
    text = context.page.locator(".cw-right").get_by_text("Breakfast is served").first
    assert not text.is_visible()
    panel.click()
    text.wait_for()
    last = context.page.locator(f'[data-testid="phrase:{len(long.turns) - 1}"]')
    last.scroll_into_view_if_needed()
    assert_seen(context, ".cw-top")
    widths = context.page.evaluate(
        "[document.documentElement.scrollWidth, document.querySelector('.cw').scrollWidth]"
    )
    assert max(widths) <= 1366
