"""The page on which a sample is edited by form, with fields instead of JSON.

Fields are checked as they change, and submitted in the reviewer's name. The page identifies a
reviewer by their browser session at Label Studio, whose cookies a host sends to all its ports.
It asks Label Studio with that session only, and stores nothing of it.
"""

import hmac
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from callwright.annotation.doubts import doubt_sentences
from callwright.annotation.edit_forms import annotation_result, edit_form, parse_form
from callwright.annotation.reviews import ParsedReview
from callwright.annotation.screens import SAMPLE_REVIEW, edit_form_words_in, screen_for, words_in
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.connection import (
    SESSION_COOKIE,
    MissingError,
    ReviewerSession,
    SignedOutError,
    TaskForReviewer,
)
from callwright.flows.pages.look import asset, render
from callwright.flows.pages.serving import HEADERS, LOCAL, AppServer, app_for
from callwright.flows.review.questions import read_samples
from callwright.flows.review.servers import EDIT_PAGE, EDIT_PORT, edit_page_address
from callwright.flows.settings import Settings, open_warehouse
from callwright.validators.checks.format import SampleWithTools, format_verdict
from callwright.validators.checks.grounding import ground
from callwright.validators.checks.table import told_in_english
from callwright.warehouse.errors import CallwrightError
from callwright.warehouse.records import Sample, Tool
from callwright.warehouse.releases import read_tools

_SUBJECT = re.compile(r"[0-9a-f]{8,64}")
_MOST_BYTES = 2_000_000
_MOST_FIELDS = 5_000
_LONGEST_SECONDS = 3_600
_MOST_CHOICES = 60  # tools in a list to choose from; of more the name is entered, with suggestions
_HEADERS = HEADERS | {
    "Content-Security-Policy": f"{HEADERS['Content-Security-Policy']}; connect-src 'self'"
}
_ASSETS = {"page.css": "text/css", "edit.js": "text/javascript"}
_TASK = """
    select arg_max(task_id, version) as task_id from task_states
    where kind = ? and subject = ? and server = ? and deleted_at is null having count(*) > 0
"""


class _AskedSample(NamedTuple):
    """A sample under review: its candidates, withheld tools, and newest task at Label Studio."""

    sample: Sample
    tools: Sequence[Tool]
    withheld: dict[str, Tool]
    task_id: int


class _ShownPage(NamedTuple):
    page: str
    status: int = 200


class EditPage:
    """The edit page of one work folder and its Label Studio."""

    def __init__(self, settings: Settings, studio: LabelStudio, seen_at: str = "") -> None:
        """`studio` names the server; reviewers see it at `seen_at` if that address differs.

        Requests to it use a reviewer's session.
        """
        self._settings = settings
        self._url, self._name = studio.url, studio.name
        self._seen_at = seen_at.rstrip("/") or studio.url
        self._secret = secrets.token_bytes(32)
        self._words = words_in(settings.review_language)
        self._form_words = edit_form_words_in(settings.review_language)

    def show(self, subject: str, cookie: str, entered: Mapping[str, str]) -> _ShownPage:
        """Return the form of a sample with what was entered, submitted if requested and valid.

        Without such a sample, task or login, it is a page that says so.
        """
        asked_sample = self._asked(subject)
        if asked_sample is None:
            return self._message(self._form_words.gone, 404)
        try:
            with ReviewerSession(self._url, cookie) as session:
                return self._of_reviewer(
                    asked_sample, session, session.task(asked_sample.task_id), entered
                )
        except SignedOutError:
            return self._message(
                self._form_words.sign_in.format(address=self._seen_at), 401, link=self._seen_at
            )
        except MissingError:
            return self._message(self._form_words.gone, 404)

    def _of_reviewer(
        self,
        asked: _AskedSample,
        session: ReviewerSession,
        task: TaskForReviewer,
        entered: Mapping[str, str],
    ) -> _ShownPage:
        form = edit_form(asked.sample, asked.tools, self._words, entered)
        parsed = None if form.problems else parse_form(form, asked.sample, asked.tools)
        # Another site's form comes with the cookie, but without this, which only a page of ours
        # knows.
        token = hmac.new(
            self._secret, f"{session.reviewer} {asked.sample.key}".encode(), sha256
        ).hexdigest()
        is_known = hmac.compare_digest(entered.get("token", "").encode(), token.encode())
        problems = [problem.sentence for problem in form.problems] or (
            [parsed.returned.problem] if parsed is not None and parsed.returned is not None else []
        )
        wants = entered.get("act") == "submit"
        if wants and is_known and not problems:
            result = annotation_result(form.boxes, entered.get("comment", ""))
            session.submit(task, result, _seconds_since(entered.get("opened", "")))
            onward = f"{self._seen_at}/projects/{task.project}/data?labeling=1"
            return self._message(
                self._form_words.saved.format(reviewer=session.reviewer),
                link=onward,
                label=self._form_words.onward,
            )
        asked_reasons = [str(task.data.get(name, "")) for name in ("why", "failed")]
        page = render(
            "edit.html",
            **self._shared(),
            form=form,
            asked=asked,
            names=[tool.name for tool in asked.tools],
            most=_MOST_CHOICES,
            why="\n".join(one for one in asked_reasons if one not in ("", self._words.none)),
            reviewer=session.reviewer,
            comment=entered.get("comment", ""),
            problems=([self._form_words.stale] if wants and not is_known else []) + problems,
            wrong={problem.turn for problem in form.problems},
            doubts=self._doubts(parsed, asked),
            is_changed=parsed is not None and parsed.edited is not None,
            token=token,
            opened=entered.get("opened") or str(int(time.time())),
        )
        return _ShownPage(page, 422 if wants else 200)

    def _doubts(self, parsed: ParsedReview | None, asked: _AskedSample) -> list[str]:
        """Return the objections of the first checks of a pull to the edited sample."""
        edited = parsed.edited if parsed is not None else None
        if not isinstance(edited, Sample):
            return []
        known = SampleWithTools(edited, {tool.key: tool for tool in asked.tools}, asked.withheld)
        found = told_in_english([format_verdict(known), ground(edited, asked.tools)])
        return doubt_sentences(edited.turns, found, self._words)

    def _asked(self, subject: str) -> _AskedSample | None:
        warehouse = open_warehouse(self._settings)
        with warehouse.together():
            rows = warehouse.rows(_TASK, [SAMPLE_REVIEW, subject, self._name])
            samples, tools = read_samples(warehouse, [subject]) if rows else ({}, {})
            withheld = read_tools(
                warehouse, [key for sample in samples.values() for key in sample.withheld]
            )
        if subject not in samples:
            return None
        sample = samples[subject]
        return _AskedSample(sample, [tools[key] for key in sample.candidates], withheld, **rows[0])

    def _message(
        self, text: str, status: int = 200, *, link: str = "", label: str = ""
    ) -> _ShownPage:
        return _ShownPage(
            render("edit.html", **self._shared(), form=None, text=text, link=link, label=label),
            status,
        )

    def _shared(self) -> dict[str, object]:
        return {
            "to": lambda path: f"/edit{path}",
            "form_words": self._form_words,
            "screen_words": self._words,
            "language_of_page": self._settings.review_language,
        }


def _seconds_since(opened: str) -> float:
    """Return how long the page was open in seconds, within plausible bounds."""
    since = (
        time.time() - int(opened)
        if opened.isascii() and opened.isdecimal() and len(opened) < 12  # noqa: PLR2004
        else 0.0
    )
    return max(0.0, min(since, _LONGEST_SECONDS))


def edit_app(page: EditPage, hosts: Sequence[str]) -> Starlette:
    """Return the application for the page; it answers only requests addressed to `hosts`."""

    async def answer(request: Request) -> Response:
        name = request.path_params["name"]
        if name in _ASSETS:
            return PlainTextResponse(asset(name), media_type=_ASSETS[name], headers=_HEADERS)
        if not _SUBJECT.fullmatch(name):
            return PlainTextResponse("There is no such page.", 404, headers=_HEADERS)
        entered = await _entered(request) if request.method == "POST" else {}
        if entered is None:
            return PlainTextResponse("The submitted form is too large.", 413, headers=_HEADERS)
        try:
            found = await run_in_threadpool(
                page.show, name, request.cookies.get(SESSION_COOKIE, ""), entered
            )
        except (
            CallwrightError
        ) as error:  # Label Studio or the warehouse can't be reached: said on the page
            return PlainTextResponse(str(error), 503, headers=_HEADERS)
        return HTMLResponse(found.page, found.status, headers=_HEADERS)

    return app_for(hosts, Route("/edit/{name}", answer, methods=["GET", "POST"]))


async def _entered(request: Request) -> dict[str, str] | None:
    """Return the submitted fields; None if they are larger than any form."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST_BYTES:
            return None
    try:
        return dict(
            parse_qsl(
                body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS
            )
        )
    except ValueError:
        return None


@contextmanager
def served_edit_page(
    settings: Settings,
    studio: LabelStudio,
    *,
    host: str = LOCAL,
    port: int = EDIT_PORT,
    url: str = "",
) -> Iterator[AppServer]:
    """Yield a server of the page, to be run; tasks link to it meanwhile, under `url` if given."""
    known = {host, LOCAL, "localhost"} | {
        urlsplit(one).hostname or LOCAL for one in (studio.url, url) if one
    }
    server = AppServer(edit_app(EditPage(settings, studio, url), sorted(known)), port, host)
    place = settings.home / EDIT_PAGE  # for pushes by other processes
    place.write_text(
        f"{(url or server.address).rstrip('/')}/edit/\n{server.address}\n", encoding="utf-8"
    )
    try:
        link_edit_page(settings, studio)
        yield server
    finally:
        server.close()
        place.unlink(missing_ok=True)
        # where Label Studio has ended before, the next push takes the link away
        with suppress(CallwrightError):
            link_edit_page(settings, studio)


def link_edit_page(settings: Settings, studio: LabelStudio) -> None:
    """Make the screen of samples link to the edit page if it is served, else remove the link."""
    if studio.find_project(SAMPLE_REVIEW) is not None:
        studio.ensure_project(
            screen_for(SAMPLE_REVIEW, settings.review_language, edit_page_address(settings))
        )
