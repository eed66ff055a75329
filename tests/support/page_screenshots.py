"""The pictures of docs/viewing.md and README, taken of the same work folder that the tests look at,
with more samples in it.

`make images` writes docs/images/view-<name>.png; look at them before you keep them.
"""

import threading
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from callwright.flows.pages.serving import AppServer, page_app
from callwright.warehouse.browsing import SampleFilter, find_samples, list_boards, list_builds
from callwright.warehouse.publish import published_copy
from callwright.warehouse.store import Warehouse
from tests.support.browsers import open_browser
from tests.support.flows.paper_studio import PaperStudio
from tests.support.flows.review_sites import open_site
from tests.support.flows.shown_site import RELEASE, fill_shown_site
from tests.support.pictures import take_by_command
from tests.support.screenshots import OUT, _write

OK = 200
EACH = 5  # samples of each kind


class PagePicture(NamedTuple):
    """A picture: its name, the page, the size of the window, and the colours that its user
    likes.
    """

    name: str
    path: str
    width: int = 1280
    height: int = 860
    scheme: str = "light"
    top: str = ""


def main() -> None:
    """Take the pictures."""
    take_by_command("tests.support.page_screenshots", take_pictures, OUT, kept="the work folder")


def take_pictures(home: Path, out: Path) -> None:
    """Fill a work folder below `home` where there is none yet, and write the pictures to `out`."""
    site = (
        open_site(home / "shown", PaperStudio())
        if (home / "shown").exists()
        else fill_shown_site(home / "shown", EACH)
    )
    copy = site.warehouse.beside(published_copy(site.warehouse, site.settings.published))
    pictures = _pictures(copy)
    server = AppServer(page_app(copy), 0)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    with open_browser() as browser:
        for picture in pictures:
            size = {"width": picture.width, "height": picture.height}
            context = browser.new_context(viewport=size, color_scheme=picture.scheme)  # type: ignore[attr-defined]
            page = context.new_page()
            if page.goto(server.address.rstrip("/") + picture.path, timeout=120_000).status != OK:
                raise SystemExit(f"{picture.path} is not shown.")
            if picture.top:
                page.locator(picture.top).first.evaluate(
                    "place => scrollTo(0, place.getBoundingClientRect().top - 70)"
                )
            _write(page.screenshot(), out / f"view-{picture.name}.png")
            context.close()
    server.stop()
    thread.join()


def _pictures(warehouse: Warehouse) -> list[PagePicture]:
    boards = [row["contestant"] for row in list_boards(warehouse) if row["release"] == RELEASE]
    release = f"/evaluations/{RELEASE}"
    one, other = (quote(boards[place]) for place in (0, -1))
    build = next(row["key"] for row in list_builds(warehouse) if row["recipe"] == "demo")
    external, dialogue = (
        find_samples(warehouse, SampleFilter(kind=kind, language="en"), size=1).rows[0]["key"]
        for kind in ("external", "mSv")
    )
    return [
        PagePicture("samples", "/samples?language=en&words=hotel"),
        PagePicture("sample", f"/samples/{external}"),
        PagePicture("conversation", f"/samples/{dialogue}"),
        PagePicture("sample-narrow", f"/samples/{dialogue}", width=400, scheme="dark"),
        PagePicture("evaluation", release),
        PagePicture("confusions", release, top='summary:has-text("Confused tools")'),
        PagePicture("items", f"{release}/items?verdict=wrong&contestant={other}"),
        PagePicture("compare", f"{release}/compare?one={one}&other={other}", scheme="dark"),
        PagePicture("beside", f"{release}/compare?one={one}&other={other}", top="#items"),
        PagePicture("reviews", "/reviews"),
        PagePicture("contents", f"{release}/contents"),
        PagePicture("build", f"/builds/{build}", width=1024),
        PagePicture("overview", "/"),
    ]


if __name__ == "__main__":
    main()
