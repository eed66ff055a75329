"""An annotator at Label Studio's pages in a browser."""

from callwright.annotation.studio.records import Project
from callwright.annotation.studio.server import ServerInfo


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


def assert_seen(context: AnnotatorScreen, *selectors: str) -> None:
    """Assert that each of these stands above the bar at the foot of the page."""
    for selector in selectors:
        box = context.page.locator(selector).last.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 768 - 50, f"{selector} ends below the fold"
