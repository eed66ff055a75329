"""An annotator who uses nothing but the keyboard, in a real Chromium, against a real Label
Studio.
"""

import json
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from callwright.annotation.screens import screen_for
from callwright.annotation.studio.records import Project
from callwright.warehouse.records import Language
from tests.support.annotation.annotator_screen import AnnotatorScreen

MOST_TABS = 60
FOCUS = "(document.activeElement.name || document.activeElement.innerText || '').trim()"


class ShownTask(NamedTuple):
    """The task that is on the screen: its number at Label Studio, and what it shows."""

    number: int
    data: dict[str, Any]

    @property
    def subject(self) -> str:
        return str(self.data["subject"])


class Typist(AnnotatorScreen):
    """Signs in, opens a project and labels; no mouse, no click."""

    def label_all(self, project: Project) -> ShownTask:
        """Open the table of a project, walk to "Label All Tasks", and close the instructions
        that come first.
        """
        self.page.goto(project.url)
        self.page.wait_for_selector("text=Label All Tasks")
        self._walk_to("Label All Tasks")
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("text=Labeling Instructions")
        self.page.keyboard.press("Escape")
        self.page.wait_for_selector("text=Labeling Instructions", state="hidden")
        return self.task_after(0)

    def task_after(self, number: int) -> ShownTask:
        """The task on the screen, when it is another one than this, and drawn."""
        self.page.wait_for_function(f"window.Htx?.task && Htx.task.id !== {number}")
        self.page.wait_for_selector(".cw")
        self.page.wait_for_selector("text=/Submit/")
        found, data = self.page.evaluate("[Htx.task.id, Htx.task.data]")
        return ShownTask(found, json.loads(data))

    def submit(self) -> None:
        """Submit, and see that Label Studio has taken it."""
        with self.page.expect_response(_is_an_answer) as told:
            self.press("Control+Enter")
        assert told.value.ok, told.value.text()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def choose(self, kind: str, verdict: str, *reasons: str) -> None:
        """Press the keys that stand beside a verdict and its reasons."""
        keys = hotkeys(kind)
        self.press(keys[verdict])
        if reasons:
            self.page.locator(".cw-row").nth(1).wait_for()  # the reasons come with the verdict
        self.press(*(keys[reason] for reason in reasons))

    def tab_to(self, name: str) -> str:
        """Walk into the box of this name; what it holds."""
        self._walk_to(name)
        return str(self.page.evaluate("document.activeElement.value"))

    def replace(self, old: str, new: str) -> None:
        """In the box that has the focus: walk to the first `old`, mark it, and type over it."""
        text = self.page.evaluate("document.activeElement.value")
        start = text.index(old)
        self.press("Control+Home", *["ArrowRight"] * start, *["Shift+ArrowRight"] * len(old))
        self.page.keyboard.type(new)

    def replace_all(self, old: str, new: str) -> None:
        """The same wherever it stands; `new` must not hold `old`."""
        while old in self.page.evaluate("document.activeElement.value"):
            self.replace(old, new)

    def append(self, text: str) -> None:
        self.press("Control+End")
        self.page.keyboard.type(text)

    def leave_box(self) -> None:
        self.press("Shift+Enter")

    def comment(self, text: str) -> None:
        self.tab_to("comment")
        self.page.keyboard.type(text)
        self.press("Enter")

    def tick_first(self) -> None:
        """Walk to the first box to tick, and tick it."""
        self._walk_until("document.activeElement.type === 'checkbox'")
        self.press("Space")

    def _walk_to(self, name: str) -> None:
        """Press Tab until what has the focus is called so."""
        self._walk_until(f"{FOCUS} === {json.dumps(name)}")

    def _walk_until(self, condition: str) -> None:
        for _ in range(MOST_TABS):
            self.press("Tab")
            self.page.wait_for_timeout(20)  # Label Studio moves the focus on by itself
            if self.page.evaluate(condition):
                return
        raise AssertionError(f"{MOST_TABS} tabs do not lead to where {condition}")


def _is_an_answer(response: Any) -> bool:
    return "/annotations" in response.url and response.request.method == "POST"


def hotkeys(kind: str, language: Language = "en") -> dict[str, str]:
    """The keys of a screen that stand beside its choices, by what they mean."""
    tree = ET.fromstring(screen_for(kind, language).config)  # noqa: S314 - our own file
    return {choice.get("alias", ""): choice.get("hotkey", "") for choice in tree.iter("Choice")}
