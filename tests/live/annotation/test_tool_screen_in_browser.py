"""What an annotator of tools does and sees, in a real Chromium at 1366 x 768, against a real
Label Studio.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from callwright.annotation.reviews import ParsedReview, QueuedTask
from callwright.annotation.screens import screen_for
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.records import Project
from callwright.annotation.studio.server import ServerInfo
from callwright.annotation.tool_review import ToolSurroundings, parse_tool_review, tool_task
from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.validators.checks.table import in_english, told_in_english
from callwright.warehouse.records import DoubtedFact, Evidence, Language, Tool, Verdict
from tests.support.annotation.annotator_screen import AnnotatorScreen, assert_seen
from tests.support.browsers import open_browser
from tests.support.sampling import slow

pytestmark = [pytest.mark.labelstudio, pytest.mark.browser, pytest.mark.enable_socket]


class WaitingTool(NamedTuple):
    """A tool that waits in a project of its own."""

    tool: Tool
    project: Project
    label_studio: LabelStudio

    def answer(self) -> ParsedReview:
        (annotation,) = self.label_studio.pull(self.project).annotations
        return parse_tool_review(annotation, self.tool)


class ToolContext(AnnotatorScreen):
    """An annotator of tools at the keyboard: each key waits until the page is ready for the
    next.
    """

    def open(self, project: Project) -> None:
        super().open(project)
        self._wait_for(
            "document.activeElement.dataset.testid === 'phrase:0'"
        )  # the tool itself has the focus

    def tab_to(self, name: str) -> str:
        """Press Tab, see that it leads into this box, and read what the box holds."""
        self.page.keyboard.press("Tab")
        self._wait_for(f"document.activeElement.name === '{name}'")
        return self.page.evaluate("document.activeElement.value")

    def _wait_for(self, condition: str) -> None:
        self.page.wait_for_function(condition, timeout=15_000)


@pytest.fixture(scope="module")
def page(label_studio_server: ServerInfo) -> Iterator[ToolContext]:
    with open_browser() as opened:
        tab = opened.new_page(viewport={"width": 1366, "height": 768})
        tab.set_default_timeout(30_000)
        context = ToolContext(tab, label_studio_server.url)
        context.sign_in(label_studio_server)
        yield context


@pytest.fixture
def ask(label_studio: LabelStudio, request: pytest.FixtureRequest):
    def ask(language: Language = "en") -> WaitingTool:
        company = [tool for tool in seed_tools([language]) if tool.category == "Messages"]
        twin, tool = (
            next(one for one in company if one.name.endswith(name))
            for name in ("sendMessage", "scheduleMessage")
        )
        proof = Evidence(
            argument="twin", kind="normalised", quote=twin.name, path=twin.key, rule="twin"
        )
        doubt = Verdict(
            subject=tool.key,
            check="tool_redundancy",
            decision="unproved",
            evidence=(proof,),
            reason=(
                f"May do the same as {twin.name!r} ({twin.description}): names 100% alike,"
                " descriptions 73%."
            ),
            doubts=(DoubtedFact(kind="tools_near", tool=tool.name, other=twin.name),),
        )
        kind = f"tools_{abs(hash(request.node.nodeid)) % 10**9}"
        project = label_studio.ensure_project(
            screen_for("tool_review", language).with_changes(kind=kind)
        )
        gaps = [DoubtedFact(kind="unmanaged", tool="Messages.Groups.createGroup", argument="group")]
        task = tool_task(
            tool,
            ToolSurroundings(company, in_english(gaps)),
            told_in_english([doubt]),
            reason="-",
            language=language,
        )
        label_studio.push(project, [QueuedTask(task.with_changes(kind=kind))])
        return WaitingTool(tool, project, label_studio)

    return ask


@pytest.mark.parametrize("language", ["en", slow("zh")])
def test_a_tool_with_its_doubt_is_seen_without_scrolling_and_edited_by_keys_alone(
    page: ToolContext, ask, language, tmp_path: Path
) -> None:
    question = ask(language)
    page.open(question.project)
    assert_seen(page, ".cw-top", ".cw-why", ".cw-twin")
    assert question.tool.name in page.page.inner_text(".cw-left")
    assert "sendMessage" in page.page.inner_text(".cw-twin")
    page.page.screenshot(path=tmp_path / f"{language}.png")
    keys = page.page.keyboard
    keys.press("2")
    assert page.tab_to("edited_name") == question.tool.name
    assert_seen(page, ".cw-top", "textarea[name=edited_name]", "textarea[name=edited_description]")
    page.page.screenshot(path=tmp_path / f"{language}-edit.png")
    page.tab_to("edited_description")
    keys.press("Control+A")
    keys.insert_text("Send a text message later.")
    schema = page.tab_to("edited_parameters")
    assert json.loads(schema) == question.tool.parameters
    changed = json.loads(schema) | {"required": []}
    keys.press("Control+A")
    keys.insert_text(json.dumps(changed, indent=2))
    keys.press("Shift+Enter")
    page.submit()
    parsed = question.answer()
    assert parsed.edited == question.tool.with_changes(
        description="Send a text message later.", parameters=changed
    )
