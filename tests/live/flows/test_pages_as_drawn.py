"""The pages and the report as a browser draws them: words in order, nothing over anything else
or cut off, contrast, no error.
"""

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from callwright.flows.pages.report import write_report
from callwright.flows.pages.serving import AppServer, page_app
from callwright.flows.pages.site import ADDRESSES, write_site
from callwright.warehouse.browsing import list_boards, list_builds
from callwright.warehouse.publish import published_copy
from callwright.warehouse.records import CallTurn, GoldCall, ReplyTurn, Sample, UserTurn
from callwright.warehouse.store import Warehouse
from tests.support.browsers import open_browser
from tests.support.flows.shown_site import FIRST, RELEASE, fill_shown_site
from tests.support.looking import Looker

pytestmark = [pytest.mark.browser, pytest.mark.enable_socket]
KINDS = (
    "perfect",
    "irrelevant",
    "external",
    "mSv",
    "IS",
    "parallel",
    "routing_hard",
    "multi_step",
    "conversation",
    "task",
    "live_task",
)
LONG = "https://example.com/" + "a-very-long-path/" * 12 + "x" * 300


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The copy that is shown; one of its samples holds words as long as only a machine writes
    them.
    """
    site = fill_shown_site(tmp_path_factory.mktemp("shown"), 2)
    many = {f"n{at}": at for at in range(30)}
    gold = GoldCall(tool="x" * 120, arguments={"y" * 80: LONG, "list": ["z" * 50] * 20, **many})
    turns = (
        UserTurn(text=LONG),
        CallTurn(calls=(gold, gold)),
        ReplyTurn(text=LONG, acts=("inform",)),
    )
    category = "C" * 60
    site.warehouse.put(
        [Sample(kind="extreme", language="en", category=category, candidates=(), turns=turns)]
    )
    return site.warehouse.beside(published_copy(site.warehouse, site.settings.home / "published"))


def serve(copy: Warehouse) -> Iterator[str]:
    server = AppServer(page_app(copy), 0)
    thread = threading.Thread(target=server.run)
    thread.start()
    yield server.address.rstrip("/")
    server.stop()
    thread.join(10)


@pytest.fixture(scope="module")
def served(copy: Warehouse) -> Iterator[str]:
    yield from serve(copy)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The pages of a warehouse in which nothing has happened."""
    warehouse = Warehouse(tmp_path_factory.mktemp("empty") / "warehouse.duckdb")
    with warehouse.writing():
        pass
    yield from serve(warehouse)


@pytest.fixture(scope="module")
def looker(served: str, empty: str) -> Iterator[Looker]:
    """A tab of a browser; while that is open no event loop can run here, so it comes after the
    others.
    """
    with open_browser() as browser:
        yield Looker(browser)


def paths_of(copy: Warehouse) -> list[str]:
    """Every sort of page: the shortest sample of each kind, an old and a new build, releases,
    answers and comparisons.
    """
    shortest = copy.rows(
        "select kind, arg_min(key, length(body::varchar)) as key from samples group by kind"
    )
    keys = {row["kind"]: row["key"] for row in shortest}
    builds = [row["key"] for row in list_builds(copy) if row["recipe"] in {"demo", "hammerbench"}]
    board = [row["contestant"] for row in list_boards(copy) if row["release"] == RELEASE]
    one, other = quote(board[0]), quote(board[-1])
    release = f"/evaluations/{RELEASE}"
    return [
        "/",
        "/samples",
        "/samples?words=nobody+says+this&kind=perfect",
        "/evaluations",
        "/reviews",
        "/builds",
        *(f"/samples/{keys[kind]}" for kind in (*KINDS, "extreme")),
        *(f"/builds/{key}" for key in builds),
        f"/builds/{builds[-1]}/outcomes?outcome=waiting",
        f"/builds/{builds[-1]}/outcomes?stage=land",
        release,
        f"/evaluations/{FIRST}",
        f"{release}/contents",
        f"{release}/items?verdict=wrong&contestant={other}",
        f"{release}/items?verdict=right&kind=multi_step",
        f"{release}/compare?one={one}&other={other}",
        f"/evaluations/{FIRST}/tools",
    ]


def test_each_page_is_drawn_as_it_should_be(served: str, copy: Warehouse, looker: Looker) -> None:
    paths = paths_of(copy)
    patterns = [re.compile(re.escape(one.pattern).replace(r"\*", "[^/]+")) for one in ADDRESSES]
    assert [
        one.pattern
        for one in patterns
        if not any(one.fullmatch(path.partition("?")[0]) for path in paths)
    ] == []
    found = {path: looker.look(served + path) for path in paths}
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_pages_with_nothing_to_show_and_pages_that_are_not_there_are_drawn_as_well(
    served: str, empty: str, looker: Looker
) -> None:
    found = {
        path: looker.look(empty + path)
        for path in ("/", "/samples", "/evaluations", "/reviews", "/builds")
    }
    found["/nowhere"] = looker.look(f"{served}/samples/{'x' * 80}", status=404)
    assert looker.page.locator("h1").inner_text() == "Not found"
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_the_report_and_the_written_pages_are_drawn_without_a_server(
    copy: Warehouse, looker: Looker, tmp_path: Path
) -> None:
    report = write_report(copy, tmp_path / "report.html")
    first = write_site(copy, tmp_path / "page", samples=4, most=20).first
    pages = {
        path.name: looker.look(path.as_uri())
        for path in (report, first, first.with_name("samples.html"))
    }
    assert {name: faults for name, faults in pages.items() if faults} == {}


def test_the_words_that_prove_an_argument_say_so_within_the_window(
    served: str, copy: Warehouse, looker: Looker
) -> None:
    [row] = copy.rows(
        "select arg_min(key, length(body::varchar)) as key from samples where kind = 'parallel'"
    )
    looker.look(f"{served}/samples/{row['key']}")
    marks = looker.page.locator("mark[data-tip]")
    assert marks.count() > 1
    for mark in marks.all():
        mark.focus()
        assert looker.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
