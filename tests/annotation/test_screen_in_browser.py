"""What an annotator does and sees, in a real Chromium at 1366 x 768."""

import json
from collections.abc import Callable, Iterator

import pytest

from annotation.label_studio import LabelStudio
from annotation.projects import Project
from annotation.review import ParsedReview, parse_review
from annotation.screens import screen_for
from annotation.server import ServerInfo
from annotation.task import review_task
from tests.browsers import open_browser
from warehouse.records import Sample, Verdict

pytestmark = [
    pytest.mark.labelstudio,
    pytest.mark.browser,
    pytest.mark.enable_socket,
    pytest.mark.xdist_group("labelstudio"),
]

HOSTILE = '<script>alert(1)</script><img src="http://127.0.0.1:9/x" onerror="alert(2)"> <View><Choices/></View> {{7*7}}'


class Desk:
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
        with self.page.expect_response(lambda answer: "/annotations" in answer.url and answer.request.method == "POST"):
            self.page.keyboard.press("Control+Enter")


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def desk(browser, label_studio_server: ServerInfo) -> Iterator[Desk]:
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.set_default_timeout(30_000)
    desk = Desk(page, label_studio_server.url)
    desk.sign_in(label_studio_server)
    yield desk
    page.close()


@pytest.fixture
def pushed(label_studio: LabelStudio, tools, request) -> Callable[..., Project]:
    def push(sample: Sample, language: str = "en", reason: str = "A check failed: grounding.") -> Project:
        kind = f"browser_{abs(hash(request.node.nodeid)) % 10**9}"
        project = label_studio.ensure_project(screen_for("sample_review", language).with_changes(kind=kind))
        verdicts = [
            Verdict(subject=sample.key, check="grounding", decision="contradicted", reason=reason),
            Verdict(subject=sample.key, check="format", decision="proved"),
        ]
        task = review_task(sample, tools, verdicts, reason=f"Look: {reason}", language=language).with_changes(kind=kind)
        label_studio.push(project, [task])
        return project

    return push


def pulled(label_studio: LabelStudio, project: Project, sample: Sample, tools) -> ParsedReview:
    (annotation,) = label_studio.pull(project).annotations
    return parse_review(annotation, sample, tools)


def test_a_sample_is_accepted_with_two_keys(desk, pushed, sample, tools, label_studio):
    project = pushed(sample)
    desk.open(project)
    desk.page.keyboard.press("1")
    desk.submit()
    parsed = pulled(label_studio, project, sample, tools)
    assert parsed.review.decision == "accept"
    assert parsed.review.reviewer == desk.page.evaluate("window.APP_SETTINGS.user.email")
    assert parsed.review.seconds > 0


def test_a_sample_is_rejected_with_reasons_by_keys_alone(desk, pushed, sample, tools, label_studio):
    project = pushed(sample)
    desk.open(project)
    for key in ("3", "5", "7"):
        desk.page.keyboard.press(key)
    desk.submit()
    assert pulled(label_studio, project, sample, tools).review.reasons == ("wrong_value", "invented")


def test_calls_and_request_are_edited_by_keys_alone(desk, pushed, sample, tools, label_studio):
    project = pushed(sample)
    desk.open(project)
    keys = desk.page.keyboard
    keys.press("2")
    keys.press("Tab")
    assert desk.page.evaluate("document.activeElement.name") == "edited_request"
    keys.press("Control+End")
    keys.type(" Outside, please.")
    keys.press("Tab")
    box = desk.page.evaluate("document.activeElement.value")
    assert box == json.dumps(json.loads(box), indent=2, ensure_ascii=False)
    keys.press("Control+A")
    keys.insert_text(box.replace('"people": 4', '"people": 4,\n      "seating": "outside"'))
    keys.press("Shift+Enter")
    shown = desk.page.locator(".lsf-textarea__region").last.inner_text()
    assert '\n      "seating": "outside"' in shown, "the JSON lost its indentation"
    desk.submit()
    edited = pulled(label_studio, project, sample, tools).edited
    assert edited.request == sample.request + " Outside, please."
    assert edited.gold[0].arguments == {**sample.gold[0].arguments, "seating": "outside"}
    assert edited.origin.parents == (sample.key,)


def test_json_that_was_broken_in_the_browser_comes_back(desk, pushed, sample, tools, label_studio):
    project = pushed(sample)
    desk.open(project)
    keys = desk.page.keyboard
    keys.press("2")
    keys.press("Tab")
    keys.press("Tab")
    keys.press("Control+A")
    keys.insert_text("[{ no json")
    keys.press("Shift+Enter")
    desk.submit()
    parsed = pulled(label_studio, project, sample, tools)
    assert parsed.outcome == "returned"
    assert parsed.returned.calls == "[{ no json"


def test_without_a_verdict_nothing_is_submitted(desk, pushed, sample, label_studio):
    project = pushed(sample)
    desk.open(project)
    desk.page.keyboard.press("Control+Enter")
    desk.page.wait_for_timeout(1500)
    assert label_studio.status(project).annotations == 0


@pytest.mark.parametrize("language", ["en", "zh"])
def test_verdict_request_and_calls_are_seen_without_scrolling(language, desk, pushed, sample, tmp_path):
    desk.open(pushed(sample, language))
    for selector in (".cw-top", '[data-testid="phrase:0"]', ".cw-json", ".cw-failed"):
        box = desk.page.locator(selector).last.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 768 - 50, f"{selector} ends below the fold"
    assert desk.page.locator("text=/00:00:00/").filter(visible=True).count() == 0
    desk.page.screenshot(path=tmp_path / f"{language}.png")


def test_hostile_text_is_shown_as_text(desk, pushed, make_sample):
    sample = make_sample(HOSTILE)
    desk.open(pushed(sample, reason=HOSTILE))
    desk.page.keyboard.press("2")
    shown = desk.page.inner_text(".cw")
    assert shown.count("<script>alert(1)</script>") >= 3
    assert "{{7*7}}" in shown
    assert desk.page.input_value("textarea[name=edited_request]") == HOSTILE
    desk.page.wait_for_timeout(500)
    assert desk.dialogs == []
    assert desk.strangers == []
    assert desk.page.locator(".cw script, .cw img").count() == 0
