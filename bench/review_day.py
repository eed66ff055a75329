"""A day of review: two accounts work a real queue by the keyboard alone, in Chromium.

Usage: `python -m bench.review_day [--tasks 60] [--folder DIR] [--pictures DIR] [--json]`. It builds
small data sets whose generator errs, pushes what people are asked to a Label Studio of its own,
answers, pulls, and prints for each kind of question how many keys and seconds an answer took. The
seconds are a script's, which reads nothing: from a task drawn to the next one drawn.

Of a sample the script knows whether a defect was planted, so it changes those and accepts the
others, but for a few conversations that it changes all the same; of everything else it rejects each
third. How it changes rotates among what the screen offers: to take the reading, to edit, to reject.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import yaml
from playwright.sync_api import Page, Response, ViewportSize, sync_playwright

from callwright.annotation.screens import REVIEW_KINDS, SAMPLE_REVIEW, screen_for
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.server import ServerInfo, running, start, stop
from callwright.flows.settings import environment, read_settings

SIZE: ViewportSize = {"width": 1366, "height": 768}
MOST_TABS = 80
FIRST = 20  # tasks of the queue of which it is told how many were changed
OF_SAMPLES = 0.5  # the part of the day that goes to samples; the other kinds share the rest
_REJECT_EACH = 3
_COMMAND = Path(sys.executable).with_name("callwright")
_ERRS = {"extra_argument": 0.04, "wrong_argument": 0.04, "missing_argument": 0.02}
_STRAYS = {"omitted_call": 0.3, "wrong_type": 0.2, "wrong_argument": 0.2}
_RECIPES: Mapping[str, Mapping[str, Any]] = {
    "day": {
        "tools": [{"seed": "all"}],
        "samples": {"perfect": 120, "imperfect": 60, "irrelevant": 30}
        | {"sQsA": 40, "SO_case2": 20, "conversation": 12},
        "models": {"generator": {"name": "template/v1", "error_rate": _ERRS}},
        "review": {"spot_checks": 20, "dialogue_acts": 10},
    },
    "paths": {
        "tools": [{"environment": "travel"}],
        "samples": {"multi_step": 24},
        "variants": 1,
        "models": {"generator": {"name": "template/v1", "error_rate": _STRAYS}},
        "review": {"spot_checks": 10},
    },
    "own": {"tools": [{"generate": "all", "tools_per_category": 8}], "samples": {"perfect": 1}},
}
# What is below the fold, of the task and of whatever scrolls within it.
_HIDDEN = """() => {
    const task = document.querySelector(".cw");
    const all = [...document.querySelectorAll("*")];
    return all.filter(one => (one.contains(task) || task.contains(one))
        && ["auto", "scroll"].includes(getComputedStyle(one).overflowY))
        .reduce((sum, one) => sum + Math.max(0, one.scrollHeight - one.clientHeight), 0);
}"""
# The name of the first box in which the user's words stand.
_WORDS = """[...document.querySelectorAll(".cw textarea, .cw input[type=text]")]
    .map(one => one.name).find(name => name === "edited_request" || name.startsWith("words"))"""


class Answer(NamedTuple):
    """An answer: the kind of question, how it was given, keys, seconds, pixels below the fold."""

    kind: str
    reviewer: str
    subject: str
    way: str
    keys: int
    seconds: float
    hidden: int
    is_wrong: bool


class Known(NamedTuple):
    """What is known of the samples: what each is, and those whose gold is wrong."""

    sorts: Mapping[str, str]
    wrong: frozenset[str]


def main() -> None:
    """Work the day, and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=60)
    parser.add_argument("--folder", type=Path, help="a work folder that is kept")
    parser.add_argument("--pictures", type=Path, help="where pictures of each kind's first task go")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if chosen.pictures:
        chosen.pictures.mkdir(parents=True, exist_ok=True)
    with _work_folder(chosen.folder) as home:
        asked = fill(home)
        with _label_studio(home) as server:
            _run(home, "review", "push")
            known = read_known(home)
            answers = work(server, known, plan(asked, chosen.tasks), chosen.pictures)
            pulled = json.loads(_run(home, "review", "pull", "--json"))
        report = {"kinds": figures(answers), "pulled": pulled}
        report["first"] = share_of_first(answers, asked[SAMPLE_REVIEW], len(known.wrong))
        report |= kept_as_given(home, answers)
    print(json.dumps(report, indent=2) if chosen.json else written(report))


def fill(home: Path) -> dict[str, int]:
    """Build what people can be asked about; return the open questions by kind."""
    for name, recipe in _RECIPES.items():
        path = home / f"{name}.yaml"
        path.write_text(yaml.safe_dump({"name": name, "seed": 2026, "languages": ["en"], **recipe}))
        _run(home, *(("tools", "make") if name == "own" else ("build",)), str(path))
    _run(home, "audit", "data", str(_wrong_units(home)), "--name", "units", "--fail-on", "never")
    _run(home, "audit", "judge", "units")
    rows = _rows(home, "select kind, count(*) as n from review_queue where is_current group by 1")
    return {row["kind"]: row["n"] for row in rows}


def _wrong_units(home: Path) -> Path:
    """Write ten golds in another unit than their parameter wants, in BFCL's form."""
    path = home / "bfcl" / "BFCL_v4_day.json"
    golds = path.parent / "possible_answer" / path.name
    golds.parent.mkdir(parents=True, exist_ok=True)
    amount = {"type": "integer", "description": "The amount in cents."}
    parameters = {"type": "dict", "properties": {"amount": amount}, "required": ["amount"]}
    tool = {"name": "refund", "description": "Refund a payment.", "parameters": parameters}
    questions, due = [], []
    for at in range(10):
        said = {"role": "user", "content": f"Please refund ${at + 40}."}
        questions.append({"id": f"day_{at}", "question": [[said]], "function": [tool]})
        due.append({"id": f"day_{at}", "ground_truth": [{"refund": {"amount": [at + 40]}}]})
    for file, rows in ((path, questions), (golds, due)):
        file.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return path


def plan(asked: Mapping[str, int], tasks: int) -> dict[str, int]:
    """Return how many tasks of each kind are worked: half samples, the others alike."""
    others = [kind for kind in REVIEW_KINDS if asked.get(kind) and kind != SAMPLE_REVIEW]
    planned = {SAMPLE_REVIEW: min(asked.get(SAMPLE_REVIEW, 0), round(tasks * OF_SAMPLES))}
    for kind in sorted(others, key=asked.__getitem__):
        left = tasks - sum(planned.values())
        planned[kind] = min(asked[kind], round(left / (len(others) - len(planned) + 1)))
    planned[SAMPLE_REVIEW] += min(
        tasks - sum(planned.values()), asked.get(SAMPLE_REVIEW, 0) - planned[SAMPLE_REVIEW]
    )
    return planned


def work(
    server: ServerInfo, known: Known, planned: Mapping[str, int], pictures: Path | None
) -> list[Answer]:
    """Answer so many tasks of each kind, two people in turns; return the answers in order."""
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    answers: list[Answer] = []
    with LabelStudio(server.url, server.token) as studio, sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        lead, other = (
            Reviewer(browser.new_context(viewport=SIZE).new_page(), server, known, pictures)
            for _ in range(2)
        )
        lead.sign_in(server.username, server.password)
        other.sign_up("second@localhost.local")
        for kind, count in planned.items():
            project = studio.find_project(kind)
            if project is None or not count:
                continue
            for reviewer in (lead, other)[:count]:
                reviewer.open(kind, project.url)
            for _, reviewer in zip(range(count), cycle((lead, other)), strict=False):
                if reviewer.has_task:
                    answers.append(reviewer.answer())
        browser.close()
    return answers


class Reviewer:
    """Somebody at the keyboard, signed in; counts keys and seconds."""

    def __init__(self, page: Page, server: ServerInfo, known: Known, pictures: Path | None) -> None:
        self._page, self._server, self._known = page, server, known
        self._pictures = pictures
        self._ways = cycle(("reading", "edit", "reject"))
        self._kind, self._keys, self._number, self._count, self._shown = "", 0, 0, 0, 0
        self._hotkeys: dict[str, str] = {}
        self._reason = ""
        self.name = ""
        page.set_default_timeout(60_000)

    @property
    def has_task(self) -> bool:
        """Whether a task is on the screen."""
        return self._number > 0

    def sign_in(self, name: str, password: str) -> None:
        """Sign in with an account that there is."""
        self.name = name
        self._page.goto(f"{self._server.url}/user/login/")
        self._enter(name, password)

    def sign_up(self, name: str) -> None:
        """Make an account by the link of an invitation."""
        self.name = name
        headers = {"Authorization": f"Token {self._server.token}"}
        invitation = self._page.request.get(f"{self._server.url}/api/invite", headers=headers)
        self._page.goto(f"{self._server.url}{invitation.json()['invite_url']}")
        self._enter(name, "a-long-enough-1")

    def _enter(self, name: str, password: str) -> None:
        self._page.fill("input[name=email]", name)
        self._page.fill("input[name=password]", password)
        self._page.press("input[name=password]", "Enter")
        self._page.wait_for_url(lambda url: "login" not in url and "signup" not in url)

    def open(self, kind: str, url: str) -> None:
        """Open a project's table and label all of its tasks."""
        self._kind, self._number, self._count = kind, 0, 0
        tree = ET.fromstring(screen_for(kind, "en").config)  # noqa: S314 - our own file
        keys = [
            {one.get("alias", ""): one.get("hotkey", "") for one in choices.iter("Choice")}
            for choices in tree.iter("Choices")
            if choices.get("name") in ("verdict", "reasons")
        ]
        self._hotkeys, reasons = keys
        self._reason = next(iter(reasons.values()))
        self._page.goto(url)
        self._page.wait_for_selector("text=Label All Tasks")
        self._picture("table")
        self._page.click("text=Label All Tasks")
        self._page.wait_for_selector("text=Labeling Instructions")
        self._page.keyboard.press("Escape")
        self._page.wait_for_selector("text=Labeling Instructions", state="hidden")
        self._wait_for_task()

    def answer(self) -> Answer:
        """Answer the task on the screen, and wait for the next one."""
        data = json.loads(self._page.evaluate("Htx.task.data"))
        subject = str(data["subject"])
        sort = self._known.sorts.get(subject, "") if self._kind == SAMPLE_REVIEW else self._kind
        self._picture(sort)
        hidden = int(self._page.evaluate(_HIDDEN))
        self._keys, began = 0, time.perf_counter()
        way = self._decide(subject, data)
        if way == "reading":
            self._press(self._hotkeys["reading"])
        elif way == "edit":
            self._edit()
        elif way == "reject":
            self._press(self._hotkeys["reject"])
            self._page.locator(".cw-row").nth(1).wait_for()
            self._press(self._reason)
        else:
            self._press(self._hotkeys["accept"])
        if self._count < len(_WAYS):
            self._picture(f"{sort}-{way}")
        with self._page.expect_response(_is_an_answer) as told:
            self._press("Control+Enter")
        if not told.value.ok:
            raise RuntimeError(f"Label Studio refused {way} of {subject}: {told.value.text()}")
        self._count += 1
        self._wait_for_task()
        seconds = time.perf_counter() - began
        return Answer(
            sort.replace("_", " "),
            self.name,
            subject,
            way,
            self._keys,
            seconds,
            hidden,
            subject in self._known.wrong,
        )

    def _decide(self, subject: str, data: Mapping[str, Any]) -> str:
        if self._kind != SAMPLE_REVIEW:
            return "accept" if (self._count + 1) % _REJECT_EACH else "reject"
        if subject not in self._known.wrong:
            is_for_show = self._known.sorts[subject] == "conversation" and self._shown < len(_WAYS)
            if not is_for_show:
                return "accept"
            self._shown += 1
        offered = {"edit", "reject"} | ({"reading"} if "⟦" in data.get("readings", "") else set())
        return next(way for way in self._ways if way in offered & self._hotkeys.keys())

    def _edit(self) -> None:
        """Say it in other words: thanks, at the end of what the user says first."""
        self._press(self._hotkeys["edit"])
        words = self._page.wait_for_function(_WORDS).json_value()
        for _ in range(MOST_TABS):
            self._press("Tab")
            self._page.wait_for_timeout(20)  # Label Studio moves the focus on by itself
            if self._page.evaluate("document.activeElement?.name") == words:
                break
        else:
            raise RuntimeError(f"{MOST_TABS} tabs do not lead to {words!r}.")
        self._press("Control+Home", "End", *" Thanks.", "Shift+Enter")

    def _press(self, *keys: str) -> None:
        for key in keys:
            self._page.keyboard.press("Space" if key == " " else key)
        self._keys += len(keys)

    def _wait_for_task(self) -> None:
        """Wait until another task is drawn, or until there is none."""
        self._page.wait_for_function(
            f"(window.Htx?.task && Htx.task.id !== {self._number} && document.querySelector('.cw'))"
            " || /no more|all done|nothing to label/i.test(document.body.innerText)"
        )
        found = self._page.evaluate("window.Htx?.task?.id || 0")
        self._number = 0 if found == self._number else int(found)
        if self._number:
            self._page.wait_for_selector("text=/Submit/")

    def _picture(self, name: str) -> None:
        if self._pictures is None:
            return
        path = self._pictures / f"{self._kind}-{name}.png"
        if not path.exists():
            self._page.screenshot(path=path)


_WAYS = ("accept", "reading", "edit", "reject")


def _is_an_answer(response: Response) -> bool:
    return "/annotations" in response.url and response.request.method == "POST"


def figures(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Return a row for each kind of question, and one for each way to answer about samples."""
    groups: defaultdict[str, list[Answer]] = defaultdict(list)
    for one in answers:
        groups[one.kind].append(one)
    for way in _WAYS:
        groups[f"any, {way}"] = [one for one in answers if one.way == way]
    return [
        {
            "kind": kind,
            "tasks": len(mine),
            "keys": statistics.median(one.keys for one in mine),
            "seconds": round(statistics.median(one.seconds for one in mine), 2),
            "changed": sum(one.way != "accept" for one in mine),
            "below the fold": round(statistics.median(one.hidden for one in mine)),
            "at most": max(one.hidden for one in mine),
        }
        for kind, mine in groups.items()
        if mine
    ]


def share_of_first(answers: Sequence[Answer], asked: int, wrong: int) -> dict[str, float]:
    """Return how many of the first samples had a wrong gold, of all asked, and so many by chance."""
    first = [one for one in answers if one.kind in _SORTS][:FIRST]
    return {
        "first": len(first),
        "wrong": sum(one.is_wrong for one in first),
        "asked": asked,
        "wrong of all": wrong,
        "by chance": round(len(first) * wrong / asked, 1),
    }


def kept_as_given(home: Path, answers: Sequence[Answer]) -> dict[str, Any]:
    """Return how many answers the warehouse has as they were given, the others, and what came back."""
    kept = {
        (row["subject"], row["reviewer"]): row["decision"]
        for row in _rows(home, "select subject, reviewer, decision from reviews")
    }
    came_back = _rows(home, "select subject, problem from review_rounds where problem <> ''")
    back = {row["subject"] for row in came_back}
    wanted = {"reading": "edit"}
    lost = [
        one._asdict()
        for one in answers
        if kept.get((one.subject, one.reviewer)) != wanted.get(one.way, one.way)
        and one.subject not in back
    ]
    people = dict.fromkeys(sorted({one.reviewer for one in answers}), 0)
    for one in answers:
        people[one.reviewer] += 1
    return {"came back": came_back, "lost": lost, "people": people}


def written(report: Mapping[str, Any]) -> str:
    """Return the figures as text."""
    columns = list(report["kinds"][0])
    lines = [f"| {' | '.join(columns)} |", f"|---|{'---:|' * (len(columns) - 1)}"]
    lines += [f"| {' | '.join(str(row[name]) for name in columns)} |" for row in report["kinds"]]
    first = report["first"]
    lines.append(
        f"Of the first {first['first']} samples {first['wrong']} were wrong and changed; of all"
        f" {first['asked']} asked {first['wrong of all']} are, so {first['by chance']} by chance."
    )
    lines += [f"{name}: {json.dumps(report[name])}" for name in ("people", "pulled", "lost")]
    lines += [f"came back: {row['subject']}: {row['problem']}" for row in report["came back"]]
    return "\n".join(lines)


_SORTS = ("single request", "conversation", "path")


def read_known(home: Path) -> Known:
    """Read what is known of the samples that people are asked about."""
    rows = _rows(
        home,
        """select s.key, s.planted <> '' and json_array_length(s.gold) > 0 as is_wrong,
        case when k.asked = 'path' then 'path' when k.family = 'single_turn' then 'single request'
            else 'conversation' end as sort
        from review_queue q join samples s on s.key = q.subject join kinds k on k.name = s.kind
        where q.kind = 'sample_review'""",
    )
    wrong = frozenset(row["key"] for row in rows if row["is_wrong"])
    return Known({row["key"]: row["sort"] for row in rows}, wrong)


def _rows(home: Path, query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(_run(home, "query", query, "--json"))
    return found


def _run(home: Path, *arguments: str) -> str:
    given = {**environment(), "CALLWRIGHT_HOME": str(home)}
    done = subprocess.run(
        [str(_COMMAND), *arguments], env=given, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"callwright {' '.join(arguments)}: {done.stderr or done.stdout}")
    return done.stdout


@contextmanager
def _work_folder(kept: Path | None) -> Iterator[Path]:
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="callwright-day-") as folder:
        yield Path(folder)


@contextmanager
def _label_studio(home: Path) -> Iterator[ServerInfo]:
    settings = read_settings(home=home)
    try:
        yield running(settings.home) or start(settings.home, environment(), timeout=900)
    finally:
        stop(settings.home)


if __name__ == "__main__":
    main()
