"""The pictures of the annotator's guide: the review screens in their languages, from real builds at
a real Label Studio.

`make images` writes docs/images/review-<kind>.<language>.png; look at them before you keep them.
"""

import io
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from callwright.annotation.reviews import QueuedTask
from callwright.annotation.screens import (
    CORRECTION,
    DIALOGUE_ACTS,
    DISAMBIGUATION,
    FINDING_REVIEW,
    PREDICTION_AUDIT,
    SAMPLE_REVIEW,
    TOOL_REVIEW,
    screen_for,
)
from callwright.annotation.studio import server
from callwright.annotation.studio.client import LabelStudio
from callwright.flows.review.pushing import tasks_for
from callwright.warehouse.records import DEFAULT_LANGUAGE, Language
from tests.live.annotation.test_screen_in_browser import AnnotatorScreen
from tests.support.browsers import open_browser
from tests.support.flows.asked_site import ask_about_samples, fill_site
from tests.support.flows.paper_studio import PaperStudio
from tests.support.flows.review_sites import ReviewSite, open_site
from tests.support.pictures import take_by_command

OUT = Path(__file__).parents[2] / "docs" / "images"
SIZE = {"width": 1366, "height": 768}
COLOURS = 256  # as many as keep the letters smooth and a picture below 150 KB

Task = Mapping[str, Any]


class Picture(NamedTuple):
    """Which question is shown, the one with the greatest `worth`, and what is pressed before.

    With `parts` there is a picture of each of these places of the screen besides, by its name.
    """

    kind: str
    worth: Callable[[Task], Any]
    keys: Sequence[str] = ()
    name: str = ""
    parts: Mapping[str, str] = {}


def _is_conversation(task: Task) -> bool:
    return len(task["conversation"]) > 2 and "▶" not in str(task["conversation"])


def _near(length: int, *fields: str) -> Callable[[Task], Any]:
    """The task that comes nearest to a length of what is shown, so that a picture is neither
    empty nor cut.
    """
    return lambda task: -abs(sum(len(str(task[field])) for field in fields) - length)


PICTURES = (
    Picture(SAMPLE_REVIEW, lambda task: (_is_conversation(task), len(task["failed"])), ["3", "5"]),
    Picture(
        SAMPLE_REVIEW,
        lambda task: (
            len(task["conversation"]) <= 2 and len(task["rows"]) > 4,
            task["readings"].count("⟦"),
            len(task["failed"]),
        ),
        ["2", "w"],
        "sample_review-edit",
        {
            "question": ".cw-question",
            "doubt": ".cw-failed",
            "gold": ".cw-calls",
            "reading": ".cw-readings",
            "tools": ".cw-tools",
        },
    ),
    Picture(TOOL_REVIEW, _near(500, "tool", "twin"), ["2"]),
    Picture(
        CORRECTION,
        lambda task: ("✗" in str(task["before"]), _near(1_500, "before", "after")(task)),
        ["1"],
    ),
    Picture(DISAMBIGUATION, lambda task: len(task["strikes"]), ["2", "q", "e"]),
    Picture(DIALOGUE_ACTS, _near(1_450, "conversation"), ["2"]),
    Picture(
        PREDICTION_AUDIT,
        lambda task: ("≠" in task["answer"], len(task["conversation"])),
        ["1"],
        parts={"candidate": ".cw-answer"},
    ),
    Picture(FINDING_REVIEW, lambda task: len(task["reason"]), ["1"]),
)
LANGUAGES: tuple[Language, ...] = ("en", "zh")
SEEDS_IN_ALL = [
    "Music",
    "Restaurants",
    "Rides",
    "Weather",
]  # categories that have tools in every language
SAMPLES_ONLY: tuple[Language, ...] = ("es",)


def main() -> None:
    """Take the pictures."""
    take_by_command(
        "tests.support.screenshots", take_pictures, OUT, kept="Label Studio and the builds"
    )


def take_pictures(home: Path, out: Path) -> None:
    """Build what there is to see below `home`, and write the pictures to `out`."""
    out.mkdir(parents=True, exist_ok=True)
    sites = {
        language: _site(home / f"site-{language}", language)
        for language in (*LANGUAGES, *SAMPLES_ONLY)
    }
    info = server.start(home, os.environ, timeout=600)
    try:
        with LabelStudio(info.url, info.token) as studio, open_browser() as browser:
            page = browser.new_page(viewport=SIZE)
            page.set_default_timeout(60_000)
            context = AnnotatorScreen(page, info.url)
            context.sign_in(info)
            for language, site in sites.items():
                for picture in PICTURES[:1] if language in SAMPLES_ONLY else PICTURES:
                    _take(picture, language, site, studio, context, out)
    finally:
        if info.started:
            server.stop(home)


def _site(home: Path, language: Language) -> ReviewSite:
    if language in SAMPLES_ONLY and not home.exists():
        site = open_site(home, PaperStudio())
        ask_about_samples(site, language, tools=[{"seed": SEEDS_IN_ALL}])
        return site
    return open_site(home, PaperStudio()) if home.exists() else fill_site(home, language)


def _take(
    picture: Picture,
    language: Language,
    site: ReviewSite,
    studio: LabelStudio,
    context: AnnotatorScreen,
    out: Path,
) -> None:
    screen = screen_for(picture.kind, language)
    name = picture.name or picture.kind
    kind = f"picture_{name}_{language}".replace("-", "_")
    project = studio.ensure_project(screen.with_changes(kind=kind))
    rows = site.rows("select * from review_queue where kind = ? order by subject", picture.kind)
    tasks = tasks_for(picture.kind, site.warehouse, language, rows)
    best = max(tasks, key=lambda task: picture.worth(task.data()))
    studio.push(project, [QueuedTask(best.with_changes(kind=kind))])
    context.open(project)
    for key in picture.keys:
        context.page.keyboard.press(key)
    context.page.wait_for_timeout(500)  # until what the keys open is drawn
    _write(context.page.screenshot(), out / f"review-{name}.{language}.png")
    if not picture.parts or language != DEFAULT_LANGUAGE:
        return
    context.page.set_viewport_size(SIZE | {"height": 2 * SIZE["height"]})  # all parts whole
    context.page.wait_for_timeout(500)
    for part, place in picture.parts.items():
        _write(context.page.locator(place).first.screenshot(), out / f"word-{part}.png")
    context.page.set_viewport_size(SIZE)


def _write(shot: bytes, path: Path) -> None:
    from PIL import Image

    picture = Image.open(io.BytesIO(shot)).convert("RGB")
    picture.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        path, optimize=True
    )


if __name__ == "__main__":
    main()
