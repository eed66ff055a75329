"""What is wrong with a page as a browser draws it: words out of order, text over text or cut
off, contrast, and its complaints.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from axe_playwright_python.sync_playwright import Axe

WIDTHS = (1440, 390)
SCHEMES = ("light", "dark")
COLOURS = ("color-contrast",)
SERIOUS = {"serious", "critical"}
_UNFOLD = "for (const fold of document.querySelectorAll('details')) fold.open = true"
_OK = 400


class Fault(NamedTuple):
    """Something that is wrong with a page: at which width, in which colours, and what."""

    width: int
    scheme: str
    what: str


class Looker:
    """Opens pages in one tab of a browser and says what is wrong with each."""

    def __init__(self, browser: Any) -> None:
        """Open the tab; it is told of what fails while a page loads."""
        self.page = browser.new_page(viewport={"width": WIDTHS[0], "height": 900})
        self._heard: list[str] = []
        page = self.page
        page.set_default_timeout(120_000)
        page.on(
            "console",
            lambda one: self._heard.append(f"console: {one.text}") if one.type == "error" else None,
        )
        page.on("pageerror", lambda error: self._heard.append(f"error: {error}"))
        page.on(
            "requestfailed",
            lambda one: self._heard.append(f"{one.url} can't be loaded: {one.failure}"),
        )
        page.on(
            "response",
            lambda one: (
                self._heard.append(f"{one.url}: {one.status}") if one.status >= _OK else None
            ),
        )
        page.on(
            "dialog",
            lambda dialog: (self._heard.append(f"a dialog: {dialog.message}"), dialog.dismiss()),
        )

    def look(self, address: str, *, status: int = 200) -> list[Fault]:
        """What is wrong with the page at an address, which answers with this status."""
        self._heard.clear()
        self.page.goto(address)
        told = [one for one in self._heard if status < _OK or str(status) not in one]
        return [Fault(0, "", one) for one in told] + faults_of(self.page)


def faults_of(page: Any) -> list[Fault]:
    """What is wrong with what a tab shows: as it is, and with all that is folded unfolded; wide
    and light, narrow and dark.
    """
    found: list[Fault] = []
    for width in WIDTHS:
        found += _layout(page, width, SCHEMES[0])
    page.evaluate(_UNFOLD)
    for width, scheme in zip(WIDTHS, SCHEMES, strict=True):
        found += _layout(page, width, scheme)
        found += [
            Fault(width, scheme, what)
            for what in _seriously(page, rules=() if width == WIDTHS[-1] else COLOURS)
        ]
    return list(dict.fromkeys(found))


def _layout(page: Any, width: int, scheme: str) -> list[Fault]:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    return [Fault(width, scheme, what) for what in page.evaluate(_script())]


def _seriously(page: Any, rules: Sequence[str]) -> list[str]:
    """What axe finds serious or critical, by these rules or by all of them."""
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{one['id']}: {node['html'][:160]} {' '.join(node['failureSummary'].split())[:200]}"
        for one in found
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


@cache
def _script() -> str:
    return Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
