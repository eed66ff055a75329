"""What an annotator does and sees, in a real Chromium at 1366 x 768."""

from collections.abc import Callable, Iterator

import pytest

from callwright.annotation.reviews import ParsedReview, QueuedTask
from callwright.annotation.sample_review import parse_review, review_task
from callwright.annotation.screens import screen_for
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.records import Project
from callwright.annotation.studio.server import ServerInfo
from callwright.warehouse.records import Call, Reading, Sample, Verdict
from tests.support.browsers import open_browser
from tests.support.sampling import slow

pytestmark = [pytest.mark.labelstudio, pytest.mark.browser, pytest.mark.enable_socket]

HOSTILE = (
    '<script>alert(1)</script><img src="http://127.0.0.1:9/x" onerror="alert(2)">'
    " <View><Choices/></View> {{7*7}}"
)


class AnnotatorScreen:
    """An annotator's screen, and what went on behind it."""

    def __init__(self, page, url: str) -> None:
        self.page, self.url = page, url
        self.dialogs: list[str] = []
        self.strangers: list[str] = []
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self._note(request.url))

    def _note(self, url: str) -> None:
        if not url.startswith((self.url, "data:", "blob:")):
            self.strangers.append(url)

    def sign_in(self, server: ServerInfo) -> None:
        self.page.goto(f"{self.url}/user/login/")
        self.page.fill("input[name=email]", server.username)
        self.page.fill("input[name=password]", server.password)
        self.page.press("input[name=password]", "Enter")
        self.page.wait_for_url(lambda url: "login" not in url)

    def open(self, project: Project) -> None:
        self.page.goto(f"{project.url}?labeling=1")
        self.page.wait_for_selector(".cw")
        self.page.wait_for_selector("text=Labeling Instructions")
        self.page.keyboard.press("Escape")
        self.page.wait_for_selector("text=Labeling Instructions", state="hidden")
        self.page.wait_for_selector("text=/Submit/")

    def submit(self) -> None:
        with self.page.expect_response(
            lambda answer: "/annotations" in answer.url and answer.request.method == "POST"
        ):
            self.page.keyboard.press("Control+Enter")


@pytest.fixture(scope="module")
def signed_in(label_studio_server: ServerInfo) -> Iterator[AnnotatorScreen]:
    """One page for all tests of this module: what Label Studio's pages consist of is loaded
    once.
    """
    with open_browser() as opened:
        page = opened.new_page(viewport={"width": 1366, "height": 768})
        page.set_default_timeout(30_000)
        made = AnnotatorScreen(page, label_studio_server.url)
        made.sign_in(label_studio_server)
        yield made


@pytest.fixture
def context(signed_in: AnnotatorScreen) -> AnnotatorScreen:
    signed_in.page.goto("about:blank")  # what the test before left open may ask whether to leave
    signed_in.dialogs.clear()
    signed_in.strangers.clear()
    return signed_in


@pytest.fixture
def pushed(label_studio: LabelStudio, tools, request) -> Callable[..., Project]:
    def push(
        sample: Sample,
        language: str = "en",
        reason: str = "A check failed: grounding.",
        readings: tuple[Reading, ...] = (),
    ) -> Project:
        kind = f"browser_{abs(hash(request.node.nodeid)) % 10**9}"
        project = label_studio.ensure_project(
            screen_for("sample_review", language).with_changes(kind=kind)
        )
        verdicts = [
            Verdict(subject=sample.key, check="grounding", decision="contradicted", reason=reason),
            Verdict(subject=sample.key, check="format", decision="proved"),
            Verdict(subject=sample.key, check="reading", decision="unproved", readings=readings),
        ][: 3 if readings else 2]
        task = review_task(
            sample, tools, verdicts, reason=f"Look: {reason}", language=language
        ).with_changes(kind=kind)
        label_studio.push(project, [QueuedTask(task)])
        return project

    return push


def pulled(label_studio: LabelStudio, project: Project, sample: Sample, tools) -> ParsedReview:
    (annotation,) = label_studio.pull(project).annotations
    return parse_review(annotation, sample, tools)


def assert_seen(context: AnnotatorScreen, *selectors: str) -> None:
    """Assert that each of these stands above the bar at the foot of the page."""
    for selector in selectors:
        box = context.page.locator(selector).last.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 768 - 50, f"{selector} ends below the fold"


def test_without_a_verdict_nothing_is_submitted_and_a_sample_is_accepted_with_two_keys(
    context, pushed, sample, tools, label_studio
):
    project = pushed(sample)
    context.open(project)
    assert_verdict_request_and_calls_are_seen(context)
    context.page.keyboard.press("Control+Enter")
    context.page.wait_for_timeout(1500)
    assert label_studio.status(project).annotations == 0
    context.page.keyboard.press("1")
    context.submit()
    parsed = pulled(label_studio, project, sample, tools)
    assert parsed.review.decision == "accept"
    assert parsed.review.reviewer == context.page.evaluate("window.APP_SETTINGS.user.email")
    assert parsed.review.seconds > 0


def assert_a_fold_is_opened_and_closed_by_keys_alone(context: AnnotatorScreen) -> None:
    keys = context.page.keyboard
    fold = context.page.locator(".cw .ant-collapse-header").last
    for _ in range(20):
        keys.press("Tab")
        if fold.evaluate("fold => fold === document.activeElement"):
            break
    for is_open in ("true", "false"):
        keys.press("Shift+Enter")  # Label Studio keeps Enter to itself
        assert fold.get_attribute("aria-expanded") == is_open


def test_no_screen_is_longer_than_three_heights_of_a_small_display(context, pushed, dialogue):
    endless = dialogue.with_changes(turns=dialogue.turns * 20)
    context.open(pushed(endless, reason="A long reason. " * 400))
    for fold in context.page.locator(".cw .ant-collapse-header").all():
        fold.click()
    height = context.page.locator(".cw").first.evaluate(
        "screen => screen.getBoundingClientRect().height"
    )
    assert 768 < height <= 3 * 768


def test_all_is_seen_without_scrolling_in_chinese_too_and_a_fold_is_opened_and_closed_by_keys_alone(
    context, pushed, sample, tmp_path
):
    context.open(pushed(sample, "zh"))
    assert_verdict_request_and_calls_are_seen(context)
    context.page.screenshot(path=tmp_path / "zh.png")
    assert_a_fold_is_opened_and_closed_by_keys_alone(context)


def assert_verdict_request_and_calls_are_seen(context: AnnotatorScreen) -> None:
    assert_seen(context, ".cw-top", '[data-testid="phrase:0"]', ".cw-calls", ".cw-failed")
    assert context.page.locator("text=/00:00:00/").filter(visible=True).count() == 0


@pytest.mark.parametrize("language", ["en", slow("zh")])
def test_a_conversation_of_four_turns_is_seen_without_scrolling_and_edited_in_fields(
    language, context, pushed, dialogue, tools, label_studio, tmp_path
):
    project = pushed(dialogue, language)
    context.open(project)
    last = f'[data-testid="phrase:{len(dialogue.turns)}"]'
    assert "~ people: 3 → 4" in context.page.inner_text(last)
    assert_seen(
        context, ".cw-top", '[data-testid="phrase:0"]', last, ".cw-calls", ".cw-failed", ".cw-tools"
    )
    assert context.page.inner_text(".cw-calls").count("←") == 3
    assert context.page.inner_text(".cw-left").count("book_table") == 1
    context.page.screenshot(path=tmp_path / f"{language}.png")
    keys = context.page.keyboard
    for key in ("2", "Tab"):
        keys.press(key)
    context.page.wait_for_function("document.activeElement.name === 'line_0'")
    keys.type("Red Boat")
    keys.press("Shift+Enter")
    said = context.page.locator("[name=words_8]")
    said.focus()
    keys.press("Control+A")
    keys.insert_text("A table at Red Boat, please.")
    keys.press("Shift+Enter")
    assert_edited(context, 2)
    context.page.screenshot(path=tmp_path / f"{language}-edited.png", full_page=True)
    context.submit()
    parsed = pulled(label_studio, project, dialogue, tools)
    assert parsed.edited.request == "A table at Red Boat, please."
    assert [calls[0].arguments["restaurant"] for _, _, calls in parsed.edited.snapshots()] == [
        "Red Boat"
    ] * 4
    assert parsed.edited.facts == dialogue.facts


def assert_edited(context: AnnotatorScreen, count: int) -> None:
    """Assert that so many rows are marked as edited, and that the screen says so."""
    marked = context.page.evaluate(
        "[...document.querySelectorAll('.cw-field')].filter(row =>"
        " getComputedStyle(row).counterIncrement.startsWith('edited')).length"
    )
    told = context.page.evaluate(
        "getComputedStyle(document.querySelector('.cw-edited'), '::after').content"
    )
    assert marked == count
    assert ("counter(edited)" in told) == (count > 0), told


def test_what_is_edited_is_marked_until_it_is_taken_back_and_nothing_else_is(
    context, pushed, dialogue, tools, label_studio
):
    project = pushed(dialogue)
    context.open(project)
    keys = context.page.keyboard
    keys.press("2")
    assert_edited(context, 0)
    keys.press("Tab")
    context.page.wait_for_function("document.activeElement.name === 'line_0'")
    keys.type("Red Boat")
    keys.press("Tab")  # left without a further key
    assert_edited(context, 1)
    context.page.evaluate("document.activeElement.blur()")
    seating = context.page.locator(".cw-field").nth(5)
    assert seating.locator("input:checked").count() == 1, "what stands is chosen"
    seating.locator("label").nth(1).click()
    assert_edited(context, 2)
    seating.locator("label").nth(0).click()
    assert_edited(context, 1)
    context.submit()
    parsed = pulled(label_studio, project, dialogue, tools)
    assert [calls[0].arguments.get("seating") for _, _, calls in parsed.edited.snapshots()] == [
        None
    ] * 4
    (annotation,) = label_studio.pull(project).annotations
    context.page.goto(f"{project.url}?task={annotation.task_id}")
    context.page.wait_for_selector(".cw-field")
    assert context.page.locator('.cw-fields [data-testid="textarea-region"]').count() > 9
    assert_edited(context, 0)  # an answer does not say which of its boxes somebody touched


def test_the_last_value_of_a_conversation_is_changed_with_eight_keys(
    context, pushed, dialogue, tools, label_studio
):
    project = pushed(dialogue)
    context.open(project)
    pressed = ["2", *["Tab"] * 4, "5", "Shift+Enter", "Control+Enter"]
    keys = context.page.keyboard
    for key in pressed[:-3]:
        keys.press(key)
    context.page.wait_for_function("document.activeElement.name === 'line_3'")
    for key in pressed[-3:-1]:
        keys.press(key)
    context.submit()
    assert len(pressed) <= 8
    parsed = pulled(label_studio, project, dialogue, tools)
    assert [calls[0].arguments.get("people") for _, _, calls in parsed.edited.snapshots()] == [
        None,
        None,
        3,
        5,
    ]


def test_a_value_is_changed_in_its_field_with_few_keys_and_both_stand_there_before_submitting(
    context, pushed, sample, tools, label_studio, tmp_path
):
    project = pushed(sample)
    context.open(project)
    keys = context.page.keyboard
    pressed = ["2", *["Tab"] * 2]
    for key in pressed:
        keys.press(key)
    context.page.wait_for_function("document.activeElement.name === 'line_1'")
    assert context.page.evaluate("document.activeElement.value") == "2026-05-03"
    keys.type("2026-05-04")  # what has the focus by Tab is marked
    keys.press("Shift+Enter")
    shown = context.page.inner_text(".cw-fields")
    assert {"date (date)", "2026-05-03", "2026-05-04"} <= {*shown.split("\n")}
    assert_edited(context, 1)
    context.page.screenshot(path=tmp_path / "edited.png", full_page=True)
    context.submit()
    assert len([*pressed, "Shift+Enter", "Control+Enter"]) <= 8
    parsed = pulled(label_studio, project, sample, tools)
    assert parsed.edited.gold[0].arguments == sample.gold[0].arguments | {"date": "2026-05-04"}
    assert parsed.edited.request == sample.request


def test_a_choice_is_made_by_its_key_and_a_value_is_taken_away(
    context, pushed, sample, tools, label_studio
):
    project = pushed(sample)
    context.open(project)
    keys = context.page.keyboard
    for key in ("2", "w", "Tab"):
        keys.press(key)
    context.page.wait_for_function("document.activeElement.name === 'line_0'")
    for key in ("-", "Shift+Enter"):
        keys.press(key)
    context.submit()
    (annotation,) = label_studio.pull(project).annotations
    returned = parse_review(annotation, sample, tools).returned
    assert "'restaurant' is a required property" in returned.problem
    assert '"choice_4": "1"' in returned.calls
    assert '"line_0": "-"' in returned.calls


def test_a_reading_is_offered_only_where_one_differs(context, pushed, sample):
    context.open(pushed(sample))
    assert context.page.locator("text=Accept with edits").is_visible()
    assert not context.page.locator("text=Take the reading").is_visible()
    assert not context.page.locator(".cw-readings").is_visible()


@pytest.mark.parametrize(("key", "takes"), [("1", "gold"), ("0", "reading")])
def test_either_reading_is_taken_with_two_keys(
    key, takes, context, pushed, sample, tools, label_studio
):
    written = Call(tool="book_table", arguments=sample.gold[0].arguments | {"people": 2})
    reading = Reading(turn=1, calls=(written,), votes=("neither",))
    project = pushed(sample, readings=(reading,))
    context.open(project)
    assert "⟦people = 2⟧" in context.page.inner_text(".cw-readings")
    context.page.keyboard.press(key)
    context.submit()
    (annotation,) = label_studio.pull(project).annotations
    parsed = parse_review(annotation, sample, tools, [reading])
    assert parsed.review.decision == ("accept" if takes == "gold" else "edit")
    if takes == "reading":
        assert parsed.edited.gold[0].arguments == written.arguments


def test_the_table_of_tasks_is_readable(context, pushed, dialogue):
    project = pushed(dialogue)
    context.page.goto(project.url)
    context.page.wait_for_selector("text=A table at Blue Boat, please.")
    shown = context.page.inner_text("body")
    assert "sQsA_SO_case2" in shown
    assert '{"author"' not in shown
    assert "callwright_key" not in shown
