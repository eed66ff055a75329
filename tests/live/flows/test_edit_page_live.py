"""Samples are edited by form: from a task in Label Studio to the page, back in the reviewer's
own name, and landed by a pull.
"""

import asyncio
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.server import ServerInfo
from callwright.flows.pages.serving import AppServer
from callwright.flows.progress import SilentProgress
from callwright.flows.review.editing import served_edit_page
from callwright.flows.review.pulling import Pulled, pull_reviews
from callwright.flows.review.servers import edit_page_address, serve_label_studio, stop_label_studio
from tests.support.browsers import open_browser
from tests.support.flows.live_sites import People, site_at
from tests.support.flows.review_sites import ReviewSite
from tests.support.flows.small_builds import build, settings_of, unmeasured_recipe
from tests.support.looking import faults_of
from tests.support.studio_template import copy_studio, studio_template
from tests.support.studio_users import StudioUser, invite
from tests.support.typist import Typist

pytestmark = [pytest.mark.labelstudio, pytest.mark.browser, pytest.mark.enable_socket]
SAMPLES = {"perfect": 6, "imperfect": 4, "sQsA": 4}
HOSTILE = "</textarea><script>alert(1)</script>"


class EditSite(NamedTuple):
    """A work folder whose samples were pushed, the page for edits beside it, and a person of the
    team.
    """

    site: ReviewSite
    studio: LabelStudio
    address: str
    person: StudioUser
    task_of: dict[str, int]

    def ask(
        self, method: str, subject: str, *, headers: dict[str, str] | None = None, **fields: str
    ) -> httpx.Response:
        """What the page answers the person's browser."""
        cookies = {"sessionid": self.person._http.cookies["sessionid"]}
        with httpx.Client(trust_env=False, timeout=60, cookies=cookies, headers=headers) as http:
            return http.request(method, f"{self.address}edit/{subject}", data=fields or None)


@contextmanager
def running(server: AppServer) -> Iterator[None]:
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield
    finally:
        server.stop()
        thread.join()


@pytest.fixture(scope="module")
def edit_site(
    label_studio_server: ServerInfo, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EditSite]:
    home = tmp_path_factory.mktemp("edited")
    build(
        unmeasured_recipe(seed=11, samples=SAMPLES, review={"spot_checks": 14}), settings_of(home)
    )
    people = People(label_studio_server.url, label_studio_server.token)
    people.remove_projects()
    with LabelStudio(label_studio_server.url, label_studio_server.token, name="local") as studio:
        site = site_at(home, studio)
        site.push()
        tasks = {task.data["subject"]: task.id for task in people.tasks()}
        people.close()
        person = invite(label_studio_server, f"form{abs(hash(str(home))) % 10**6}")
        with served_edit_page(site.settings, studio, port=0) as server, running(server):
            yield EditSite(site, studio, server.address, person, tasks)
        person.close()
        assert "edit/$subject" not in config_of(studio), (
            "the link stays where the page is served no more"
        )
        assert not (home / "edit-page").exists()


def pull(edit_site: EditSite) -> Pulled:
    return asyncio.run(pull_reviews(edit_site.site.settings, edit_site.studio, SilentProgress()))


def config_of(studio: LabelStudio) -> str:
    project = studio.find_project("sample_review")
    assert project is not None
    return str(studio.client.projects.get(project.id).label_config)


def subjects(edit_site: EditSite, kind: str) -> list[str]:
    return [
        key for key in edit_site.site.asked("spot check") if edit_site.site.sample(key).kind == kind
    ]


def token_of(page: str) -> str:
    found = re.search(r'name="token" value="([0-9a-f]+)"', page)
    assert found
    return found[1]


PROVED = (
    "select subject from newest_verdicts where check_name = 'grounding' and decision = 'proved'"
)


def test_a_sample_is_edited_by_form_and_lands_in_the_name_of_whoever_did(
    edit_site: EditSite,
) -> None:
    proved = {row["subject"] for row in edit_site.site.rows(PROVED)}
    subject = next(one for one in subjects(edit_site, "perfect") if one in proved)
    project = edit_site.studio.find_project("sample_review")
    assert project is not None
    edit_site.site.push()  # another process pushes meanwhile: the link stays
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.set_default_timeout(30_000)
        person = Typist(page, edit_site.person.url)
        server = ServerInfo(
            url="",
            token="",
            username=edit_site.person.email,
            password=edit_site.person.password,
            pid=0,
        )
        person.sign_in(server)
        page.goto(f"{project.url}?task={edit_site.task_of[subject]}")
        page.wait_for_selector(".cw-form a")
        page.keyboard.press("2")  # what was begun in Label Studio is a draft there
        link = page.locator(".cw-form a")
        assert link.inner_text() == "Edit by form"
        shoot(page, "link")
        link.focus()
        with page.context.expect_page() as opened:
            page.keyboard.press("Shift+Enter")  # Label Studio keeps Enter to itself
        page = opened.value
        page.wait_for_selector("form.edits")
        assert edit_site.person.email in page.inner_text(".head")
        page.locator("[id='t0.text']:focus").wait_for()  # autofocus comes with the first frame
        page.keyboard.press("Control+End")
        page.keyboard.type(" Great, thank you!")
        page.keyboard.press("Tab")
        page.wait_for_selector("#checked >> text=The rules find nothing wrong")
        shoot(page, "form")
        assert faults_of(page) == []
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("text=Your edit is submitted")
        page.locator("#onward:focus").wait_for()
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: "labeling" in url)
    pulled = pull(edit_site)
    assert (pulled.edited, pulled.returned, pulled.problems) == (1, 0, ())
    [decided] = edit_site.site.rows("select * from decisions where subject = ?", subject)
    assert (decided["reviewer"], decided["decision"]) == (edit_site.person.email, "edit")
    assert (
        edit_site.site.sample(decided["result"]).request
        == f"{edit_site.site.sample(subject).request} Great, thank you!"
    )
    accepted = edit_site.site.accepted(decided["result"])
    assert accepted is not None
    assert accepted["accepted_by"] == edit_site.person.email


def shoot(page, name: str) -> None:
    """Keep a picture where one is asked for."""
    if folder := os.environ.get("CALLWRIGHT_SHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def test_a_conversation_is_edited_snapshot_by_snapshot_and_a_second_edit_replaces_the_first(
    edit_site: EditSite,
) -> None:
    subject, *_ = subjects(edit_site, "sQsA")
    sample = edit_site.site.sample(subject)
    first = edit_site.ask("GET", subject)
    assert first.status_code == 200
    assert "Drawn from the accepted samples, to see how good they are.</p>" in first.text
    token = token_of(first.text)
    at = next(index for index, turn in enumerate(sample.turns) if turn.kind == "reply")
    for text in ("What else?", "And what else do you need?"):
        told = edit_site.ask(
            "POST",
            subject,
            act="submit",
            token=token,
            opened="1",
            comment="Too curt.",
            **{f"t{at}.text": text},
        )
        assert told.status_code == 200, told.text
        assert edit_site.person.email in told.text
    task = edit_site.person.ask("GET", f"/api/tasks/{edit_site.task_of[subject]}/")
    assert len(task["annotations"]) == 1
    pulled = pull(edit_site)
    assert (pulled.reviews, pulled.returned) == (1, 0)
    [decided] = edit_site.site.rows("select * from decisions where subject = ?", subject)
    assert decided["result"]
    assert decided["comment"] == "Too curt."
    edited = edit_site.site.sample(decided["result"])
    assert edited.turns[at].text == "And what else do you need?"
    assert [one for one in edited.turns if one.kind == "calls"] == [
        one for one in sample.turns if one.kind == "calls"
    ]


def test_nothing_is_submitted_but_by_the_page_itself_for_somebody_signed_in(
    edit_site: EditSite,
) -> None:
    subject = subjects(edit_site, "perfect")[1]
    page = edit_site.ask("GET", subject)
    edit = {"act": "submit", "t0.text": HOSTILE, "opened": str(int(time.time()))}
    forged = edit_site.ask("POST", subject, token="0" * 64, **edit)
    assert forged.status_code == 422
    assert "open for too long" in forged.text
    assert HOSTILE not in forged.text
    unread = edit_site.ask(
        "POST", subject, token=token_of(page.text), **edit | {"t1.c0": "no_such_tool"}
    )
    assert unread.status_code == 422
    assert "not an offered tool" in unread.text
    assert edit_site.ask("GET", subject, headers={"Host": "evil.example"}).status_code == 400
    assert edit_site.ask("POST", subject, **{"t0.text": "x" * 3_000_000}).status_code == 413
    for strange in ("..%2f..%2fetc%2fpasswd", "zz", "0" * 16, subject + "0"):
        assert edit_site.ask("GET", strange).status_code == 404
    with httpx.Client(trust_env=False, timeout=60) as nobody:
        unknown = nobody.get(f"{edit_site.address}edit/{subject}")
    assert unknown.status_code == 401
    assert "Sign in to Label Studio" in unknown.text
    assert "frame-ancestors 'none'" in unknown.headers["Content-Security-Policy"]
    assert (
        edit_site.person.ask("GET", f"/api/tasks/{edit_site.task_of[subject]}/")["annotations"]
        == []
    )


def test_the_local_label_studio_comes_with_the_page_and_ends_with_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    copy_studio(studio_template(), home)
    settings = settings_of(home)
    try:
        serve_label_studio(settings, lambda _: None)
        address = edit_page_address(settings)
        assert (
            "Label Studio"
            in httpx.get(f"{address}0123456789abcdef", trust_env=False, timeout=60).text
        )
        serve_label_studio(settings, lambda _: None)
        assert edit_page_address(settings) == address, "it serves already"
    finally:
        assert stop_label_studio(settings)
    assert edit_page_address(settings) == ""
    with pytest.raises(httpx.ConnectError):
        httpx.get(address, trust_env=False)
