"""In which order people are shown what waits, in a real Chromium."""

from collections.abc import Iterator

import pytest

from callwright.annotation.reviews import QueuedTask
from callwright.annotation.sample_review import review_task
from callwright.annotation.screens import screen_for
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.projects import tables_of
from callwright.annotation.studio.records import Project
from callwright.annotation.studio.server import ServerInfo
from tests.support.browsers import open_browser

pytestmark = [pytest.mark.labelstudio, pytest.mark.browser, pytest.mark.enable_socket]
EARLIER, LATER = (0.3, 0.5), (0.9, 0.4)  # the priorities of two pushes


@pytest.fixture(scope="module")
def page(label_studio_server: ServerInfo) -> Iterator[object]:
    with open_browser() as browser:
        opened = browser.new_page(viewport={"width": 1366, "height": 768})
        opened.set_default_timeout(60_000)
        opened.goto(f"{label_studio_server.url}/user/login/")
        opened.fill("input[name=email]", label_studio_server.username)
        opened.fill("input[name=password]", label_studio_server.password)
        opened.press("input[name=password]", "Enter")
        opened.wait_for_url(lambda url: "login" not in url)
        yield opened


@pytest.fixture
def project(
    label_studio: LabelStudio, make_sample, tools, request: pytest.FixtureRequest
) -> Project:
    kind = f"order_{abs(hash(request.node.nodeid)) % 10**9}"
    found = label_studio.ensure_project(screen_for("sample_review").with_changes(kind=kind))
    for start, priorities in ((0, EARLIER), (10, LATER)):
        label_studio.push(
            found,
            [
                QueuedTask(
                    review_task(
                        make_sample(number=start + number), tools, [], reason="-"
                    ).with_changes(kind=kind),
                    priority,
                )
                for number, priority in enumerate(priorities)
            ],
        )
    return found


def next_shown(page, click) -> str:
    """The priority of the task that is shown after this click."""
    with page.expect_response(lambda answer: "id=next_task" in answer.url) as found:
        click()
    page.wait_for_selector(".cw")
    return found.value.json()["data"]["priority"]


def open_table(page, project: Project) -> None:
    page.goto(project.url)
    page.wait_for_selector("text=Label All Tasks")


def test_all_ways_to_label_follow_the_priority_and_a_table_that_a_person_arranged_is_told_from_one_only_looked_at(
    page, project, label_studio
):
    assert next_shown(page, lambda: page.goto(f"{project.url}?labeling=1")) == "0.900000"
    open_table(page, project)
    page.locator("button[aria-label='Toggle open']").click()
    assert (
        next_shown(page, lambda: page.get_by_text("Label Tasks As Displayed").click()) == "0.900000"
    )
    open_table(page, project)
    shown = [next_shown(page, lambda: page.get_by_text("Label All Tasks").click())]
    page.keyboard.press("Escape")
    for _ in range(3):  # whoever submits is shown the next
        page.keyboard.press("1")
        shown.append(next_shown(page, lambda: page.keyboard.press("Control+Enter")))
    assert shown == ["0.900000", "0.500000", "0.400000", "0.300000"], "whenever a task was pushed"

    screen = screen_for("sample_review").with_changes(kind=project.kind)
    views = label_studio.client.views.list(project=project.id)
    assert tuple(view.data for view in views) == tables_of(screen)
    open_table(page, project)
    with page.expect_response(
        lambda answer: "/api/dm/views" in answer.url and answer.request.method == "PATCH"
    ):
        page.locator("button[aria-label='Sort ascending']").click()
    label_studio.ensure_project(screen)
    view, _ = label_studio.client.views.list(project=project.id)
    assert view.data["ordering"] == ["tasks:data.priority"]
