"""The page and the report over a build with an evaluation: served, as files, and drawn by a real
browser.
"""

import asyncio
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from starlette.testclient import TestClient

import callwright
from callwright.flows.evaluation.evaluating import evaluate_release
from callwright.flows.evaluation.evaluation_run import Conditions
from callwright.flows.evaluation.predictions import PromptingStrategy
from callwright.flows.evaluation.tool_changes import read_changes
from callwright.flows.pages.report import write_report
from callwright.flows.pages.serving import AppServer, page_app
from callwright.flows.pages.site import ADDRESSES, write_site
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate, parse_recipe
from callwright.flows.run.plan import build_dataset
from callwright.llm.models import read_model
from callwright.warehouse.browsing import ERROR_TYPES
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.publish import published_copy
from callwright.warehouse.records import CallTurn, GoldCall, Origin, Review, Sample, UserTurn
from callwright.warehouse.releases import Selection, Terms, make_release
from callwright.warehouse.store import Warehouse
from callwright.warehouse.wire_names import wire_names
from tests.support.browsers import open_browser
from tests.support.flows.small_builds import settings_of

RECIPE = {
    "name": "small",
    "tools": [{"seed": ["Weather", "Clock"]}],
    "languages": ["en", "zh"],
    "samples": {"perfect": 8, "imperfect": 4, "irrelevant": 4, "sQsA": 4},
}
HOSTILE = '</script><script>alert("x")</script><img src=x onerror=alert(1)>'


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    settings = settings_of(tmp_path_factory.mktemp("pages"))
    asyncio.run(build_dataset(parse_recipe(RECIPE, Path(), "small"), settings, SilentProgress()))
    warehouse = Warehouse(settings.warehouse)
    make_release(warehouse, "v0", Selection(kinds=("perfect",)), Terms())
    make_release(
        warehouse, "v1", Selection(), Terms(shares={"train": 0.7, "test": 0.3}, follows="v0")
    )
    careless = read_model("template/v1", {"error_rate": {"wrong_argument": 0.5, "refusal": 0.3}})
    candidates = [
        Candidate(label="plain", model=read_model("template/v1")),
        Candidate(label="<b>careless</b>", model=careless),
    ]
    asyncio.run(evaluate_release("v1", candidates, settings, SilentProgress(), Conditions(runs=2)))
    shown = read_changes(
        warehouse,
        "v0",
        {"tools": {"Weather.Forecast.getForecast": {"name": "<b>Weather.Forecast.getForecast"}}},
    )
    changed = Conditions(shown=shown, prompting=PromptingStrategy(tools=shown.label))
    for conditions in (Conditions(), changed):
        asyncio.run(evaluate_release("v0", candidates[:1], settings, SilentProgress(), conditions))
    warehouse.put(_reviews(warehouse))
    gold = GoldCall(tool=HOSTILE, arguments={HOSTILE: HOSTILE})
    turns = (UserTurn(text=HOSTILE), CallTurn(calls=(gold,)))
    origin = Origin(stage=HOSTILE, model=HOSTILE, parents=(HOSTILE,))
    warehouse.put(
        [
            Sample(
                kind=HOSTILE,
                language="en",
                category=HOSTILE,
                candidates=(),
                turns=turns,
                origin=origin,
            )
        ]
    )
    return warehouse


def _reviews(warehouse: Warehouse) -> list[Review]:
    """Two people on the same four samples, of which they see the last one differently; 20 s
    each, 30 s apart.
    """
    keys = [
        row["key"]
        for row in warehouse.rows(
            "select key from samples where kind = 'perfect' order by key limit 4"
        )
    ]
    return [
        Review(
            subject=key,
            kind="sample_review",
            decision="reject" if bad else "accept",
            reviewer=reviewer,
            reviewed_at=datetime(2026, 11, 20, 9, tzinfo=UTC)
            + timedelta(hours=hour, seconds=30 * place),
            reasons=("wrong value",) if bad else (),
            seconds=20,
            annotation_id=10 * hour + place + 1,
        )
        for hour, reviewer, rejected in ((0, "ana", {0}), (1, "<i>ben</i>", {0, 3}))
        for place, key in enumerate(keys)
        for bad in [place in rejected]
    ]


@pytest.fixture(scope="module")
def copy(built: Warehouse) -> Warehouse:
    return built.beside(published_copy(built, built.path.parent / "published"))


@pytest.fixture
def client(copy: Warehouse) -> TestClient:
    return TestClient(page_app(copy), base_url="http://127.0.0.1")


def links_of(page: str) -> list[str]:
    return [
        unescape(one) for one in re.findall(r'href="([^"#]+)', page) if not one.startswith("data:")
    ]


PATTERNS = [re.compile(re.escape(one.pattern).replace(r"\*", "[^/]+")) for one in ADDRESSES]


def kind_of(address: str) -> int:
    """Which sort of page an address is of."""
    return next(
        (place for place, one in enumerate(PATTERNS) if one.fullmatch(address.partition("?")[0])),
        -1,
    )


def crawl(client: TestClient, start: str, each: int = 4) -> dict[str, str]:
    """Pages that can be reached by links, some of each sort, all of which must be there."""
    pages: dict[str, str] = {}
    kinds = Counter[int]()
    waiting = [start]
    while waiting:
        address = waiting.pop(0)
        if address in pages or kinds[kind_of(address)] >= each:
            continue
        kinds[kind_of(address)] += 1
        answer = client.get(address)
        assert answer.status_code == 200, address
        pages[address] = answer.text
        waiting += [one for one in links_of(answer.text) if one not in pages]
    return pages


def test_an_empty_warehouse_is_reported_with_what_to_do(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    page = write_report(warehouse, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "There are no builds yet" in page
    assert "callwright evaluate" in page
    with warehouse.writing():
        pass
    empty = TestClient(page_app(warehouse), base_url="http://127.0.0.1")
    for path in ("/", "/samples", "/evaluations", "/reviews", "/builds"):
        assert empty.get(path).status_code == 200
    for path in (
        "/samples/x",
        "/builds/x",
        "/evaluations/x/items",
        "/evaluations/x/contents",
        "/nowhere",
    ):
        assert empty.get(path).status_code == 404


def test_links_lead_to_pages_and_no_text_of_a_sample_is_code(
    client: TestClient, built: Warehouse
) -> None:
    compare = (
        "/evaluations/v1/compare?one=plain~direct~first~0&other=<b>careless</b>~direct~first~0"
    )
    pages = crawl(client, compare)
    assert {kind_of(address) for address in pages} == {
        -1,
        *range(len(ADDRESSES)),
    }  # -1: the style and the script
    hostile = built.rows("select key from samples where contains(kind, '<script>')")[0]["key"]
    pages["hostile"] = client.get(f"/samples/{hostile}").text
    for address, page in pages.items():
        assert "<script>alert" not in page, address
        assert "onerror=alert(1)>" not in page.replace("&lt;img src=x onerror=alert(1)&gt;", ""), (
            address
        )
    assert any("&lt;script&gt;alert" in page for page in pages.values())


def test_the_numbers_of_the_leaderboard_are_those_of_the_items_behind_them(
    client: TestClient, built: Warehouse
) -> None:
    board = client.get("/evaluations/v1").text
    wrong = re.findall(r'href="([^"]*verdict=wrong[^"]*)" class="rejected">(\d+)<', board)
    for address, number in wrong:
        page = client.get(unescape(address)).text
        assert f'<p class="found">{number} item' in page
    counted = {
        row["candidate"]: row["n"]
        for row in built.rows(
            "select candidate || run as candidate, count(*) as n from prediction_items"
            " where release = 'v1' and not is_right group by all"
        )
    }
    assert sorted(int(number) for _, number in wrong) == sorted(counted.values())


def test_a_confusion_of_two_tools_leads_to_its_items_and_the_worst_come_first(
    client: TestClient, built: Warehouse
) -> None:
    board = client.get("/evaluations/v1").text
    confusions = re.findall(
        r'href="(/evaluations/v1/items\?[^"]*due=[^"]*called=[^"]*)">(\d+)<', board
    )
    assert confusions
    for address, number in confusions:
        page = client.get(unescape(address)).text
        asked = dict(parse_qsl(urlsplit(unescape(address)).query))
        assert f'<p class="found">{number} item' in page
        assert f"<code>{asked['called']}</code> in place of <code>{asked['due']}</code>" in page
    refused = built.rows(
        "select count(distinct run || subject || turn) as n from predictions where error_type ="
        " 'refused'"
    )
    assert (
        sum(int(number) for address, number in confusions if "called=no" in address)
        >= refused[0]["n"]
        > 0
    )
    worst = re.findall(
        r'class="badge wrong">([^<]*)<', client.get("/evaluations/v1/items?verdict=wrong").text
    )
    places = [ERROR_TYPES.index(one.replace(" ", "_")) for one in worst]
    assert places == sorted(places)
    assert len(set(places)) > 1
    by_sample = client.get("/evaluations/v1/items?verdict=wrong&order=sample").text
    assert re.findall(r'class="badge wrong">([^<]*)<', by_sample) != worst


def test_two_candidates_stand_beside_each_other_with_what_differs_marked(
    client: TestClient,
) -> None:
    compare = "/evaluations/v1/compare?one=plain~direct~first~0&other=%3Cb%3Ecareless%3C/b%3E~direct~first~0"
    whole = client.get(compare).text
    assert whole.count('<table class="pair beside">') > 1
    assert 'class="wrong"' in whole
    sides = {}
    for passed in ("one", "other", "both", "neither"):
        page = client.get(f"{compare}&passed={passed}").text
        [sides[passed]] = re.findall(r'<span class="count">(\d+) items?</span>', page)
    [differing] = re.findall(r'<span class="count">(\d+) items?</span>', whole)
    assert int(sides["one"]) + int(sides["other"]) == int(differing)
    assert int(sides["one"]) > int(sides["other"])
    links = re.findall(r'href="(/evaluations/v1/compare[^"]*kind=[^"#]*)#items">', whole)
    assert {dict(parse_qsl(urlsplit(unescape(one)).query))["kind"] for one in links} <= set(
        RECIPE["samples"]
    )  # type: ignore[arg-type]
    for link in links:
        assert client.get(unescape(link)).status_code == 200


def test_a_sample_is_taken_along_as_a_record_and_as_a_test_that_runs(
    client: TestClient, built: Warehouse, tmp_path: Path
) -> None:
    kept = {one.key: one for one in callwright.samples(home=built.path.parent)}
    for kind in ("sQsA", "irrelevant"):
        sample = next(one for one in kept.values() if one.sample.kind == kind)
        page = client.get(f"/samples/{sample.key}").text
        [record] = re.findall(r'<pre id="as-json"[^>]*>(.*?)</pre>', page, re.DOTALL)
        assert json.loads(unescape(record)) == json.loads(json.dumps(sample.record))
        [text] = re.findall(r'<pre id="as-test"[^>]*>(.*?)</pre>', page, re.DOTALL)
        path = tmp_path / f"test_{kind}.py"
        path.write_text(unescape(text), encoding="utf-8")
        spec = spec_from_file_location(f"sample_as_test_{kind}", path)
        assert spec
        assert spec.loader
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        test = getattr(module, f"test_sample_{sample.key[:12]}")
        names = wire_names(sample.tools)
        due = [
            {"name": names.tool(call.tool), "arguments": names.arguments(call.tool, call.arguments)}
            for call in sample.calls
        ]

        def answer(messages: Any, tools: Any, sample: Any = sample, due: Any = due) -> Any:
            assert (messages, tools) == (sample.prompt, sample.openai_tools)
            assert messages[-1]["role"] == "user"
            return due[::-1]

        test(answer)
        with pytest.raises(AssertionError):
            test(lambda _messages, _tools, due=due: [*due, {"name": "other", "arguments": {}}])


def test_the_leaderboard_is_sliced_by_split_each_number_leading_to_its_items(
    client: TestClient, built: Warehouse
) -> None:
    board = client.get("/evaluations/v1").text
    addresses = sorted(set(re.findall(r'href="(/evaluations/v1/items\?[^"]*split=[^"]*)"', board)))
    assert addresses
    for address in map(unescape, addresses):
        asked = dict(parse_qsl(urlsplit(address).query))
        [row] = built.rows(
            """select count(*) as n from prediction_items i join release_samples r on r.subject = i.sample and r.release = i.release
            where r.release = 'v1' and r.split = ? and i.is_right = ?
            and concat_ws('~', candidate, strategy, tools_shown, run) = ?""",
            [asked["split"], asked["verdict"] == "right", asked["contestant"]],
        )
        page = client.get(address).text
        assert f'<p class="found">{row["n"]} item' in page
        assert f"split {asked['split']}" in page


def test_managers_read_the_figures_of_reviews_that_a_count_by_hand_gives(
    client: TestClient,
) -> None:
    page = client.get("/reviews").text
    [ana] = re.findall(r"<tr><th[^>]*><a[^>]*>ana</a>.*", page)
    answers, accepted, edited, rejected, median, an_hour, time, *_ = re.findall(
        r"<td[^>]*>([^<]*)</td>", ana
    )
    assert (answers, accepted, edited, rejected, median) == ("4", "3", "0", "1", "20.0 s")
    assert (an_hour, time) == (
        "131",
        "2 min",
    )  # 20 s for the first answer, then 30 s for each of the others
    assert re.search(
        r'<td>all</td><td class="n">4</td><td class="n">2</td><td class="n">0.75</td>', page
    )
    [(address, things)] = re.findall(r'href="(/samples\?reason=[^"]*)">(\d+)<', page)
    assert things == "2"
    for shown in (page, client.get("/").text):
        assert f'href="{address}">{things}<' in shown
    assert f'<span id="shown">{things}</span>' in client.get(unescape(address)).text


def test_what_a_release_holds_is_counted_by_split_and_compared_with_the_one_before(
    client: TestClient, built: Warehouse
) -> None:
    page = client.get("/evaluations/v1/contents").text
    tiles = re.findall(r'href="(/samples\?release=v1[^"]*)"><b>(\d+)</b>', page)
    assert [int(number) for _, number in tiles] == [
        row["n"]
        for row in built.rows("""select count(*) as n from release_samples where release = 'v1'
            group by grouping sets ((), (split)) order by n desc""")
    ]
    for address, number in tiles:
        assert f'<span id="shown">{number}</span>' in client.get(unescape(address)).text, address
    assert "as it was frozen" in page
    assert re.search(r"\d+ samples? added, 0 removed, 0 changed and \d+ unchanged", page)
    assert "pass^k" in client.get("/evaluations/v1").text


def test_filters_find_what_a_query_finds(client: TestClient, built: Warehouse) -> None:
    tool = built.rows(
        "select gold -> 0 ->> 'tool' as tool from samples where kind = 'perfect' limit 1"
    )[0]["tool"]
    asked: dict[str, str] = {
        "kind=perfect": "kind = 'perfect'",
        "language=zh&state=landed": "language = 'zh' and key in (select subject from acceptances)",
        f"tool={tool}": f'body::varchar like \'%"tool":"{tool}"%\'',
        "check=grounding": (
            "key in (select subject from verdicts where check_name = 'grounding' and decision <>"
            " 'proved')"
        ),
        "release=v1&grade=proved": (
            "key in (select subject from acceptances where grade = 'proved')"
        ),
        "words=nobody+says+this": "false",
    }
    for query, condition in asked.items():
        count = built.rows(f"select count(*) as n from samples where {condition}")[0]["n"]
        assert f'<span id="shown">{count}</span>' in client.get(f"/samples?{query}").text, query


def test_the_page_answers_only_by_its_own_name_and_allows_nothing_from_elsewhere(
    client: TestClient,
) -> None:
    answer = client.get("/samples")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert client.get("/samples", headers={"host": "evil.example"}).status_code == 400
    assert client.post("/samples").status_code == 405
    assert not re.findall(r"https?://", answer.text)
    assert " style=" not in answer.text


def test_a_copy_that_is_replaced_is_shown_from_the_next_page_on(
    built: Warehouse, tmp_path: Path
) -> None:
    folder = tmp_path / "published"
    copy = published_copy(built, folder)
    shown = TestClient(page_app(built.beside(copy)), base_url="http://127.0.0.1")
    before = shown.get("/samples").text
    stamp = copy.stat().st_mtime_ns
    assert published_copy(built, folder).stat().st_mtime_ns == stamp, "nothing has changed"
    turns = (UserTurn(text="A sample that came later."),)
    built.put([Sample(kind="perfect", language="en", category="Clock", candidates=(), turns=turns)])
    published_copy(built, folder)
    after = shown.get("/samples?words=came+later").text
    assert "came later" not in before
    assert '<span id="shown">1</span>' in after


def test_files_link_to_each_other_and_to_nothing_else(copy: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "page"
    written = write_site(copy, folder, samples=6, most=40)
    files = {path.name for path in folder.iterdir()}
    pages = [path.read_text(encoding="utf-8") for path in folder.glob("*.html")]
    assert written.pages == len(pages)
    assert written.samples == 6
    assert sum(name.startswith("samples-") for name in files) == 6
    assert {link for page in pages for link in links_of(page)} <= files
    assert "data-facets" in (folder / "samples.html").read_text(encoding="utf-8")
    assert len(pages) == 40
    (tmp_path / "mine.txt").touch()
    with pytest.raises(ConfigurationError, match="holds other files"):
        write_site(copy, tmp_path)


@pytest.fixture(scope="module")
def served(copy: Warehouse) -> Iterator[str]:
    server = AppServer(page_app(copy), 0)
    thread = threading.Thread(target=server.run)
    thread.start()
    yield server.address
    server.stop()
    thread.join(10)


class Watched:
    """A page of a browser, and what it complained of or asked for."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.elsewhere: list[str] = []
        page.on(
            "console",
            lambda message: (
                self.complaints.append(message.text) if message.type == "error" else None
            ),
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (self.complaints.append("a dialog"), dialog.dismiss()))
        page.on(
            "request",
            lambda one: (
                None if one.url.startswith((address, "data:")) else self.elsewhere.append(one.url)
            ),
        )


@pytest.mark.browser
@pytest.mark.enable_socket
def test_a_person_finds_the_way_through_pages_and_files_by_keyboard(
    served: str, built: Warehouse, copy: Warehouse, tmp_path: Path
) -> None:
    files = write_site(copy, tmp_path / "page", samples=6, most=40).first.as_uri()
    key = built.rows("select key from samples where kind = 'sQsA' limit 1")[0]["key"]
    with open_browser() as browser:
        _look_by_keyboard(browser, served)
        _come_back_to_what_was_shown(browser, f"{served}samples/{key}")
        _look_through_files(browser, files)


def _look_by_keyboard(browser: Any, served: str) -> None:
    """From some numbers of the leaderboard to a sample, and through the list of samples, without
    a mouse.
    """
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    watched = Watched(page, served)
    page.goto(f"{served}evaluations/v1")
    numbers = [link.get_attribute("href") for link in page.locator(".board td a").all()]
    assert len(numbers) >= 5
    for number in numbers[:: len(numbers) // 5]:
        page.goto(served.rstrip("/") + number)
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"/samples/"))
        assert page.locator("h2#conversation").count() == 1, number
    page.goto(f"{served}samples")
    page.keyboard.press("/")
    page.keyboard.type("weather")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("words=weather"))
    for key in ("j", "j", "k", "Enter"):
        page.keyboard.press(key)
    page.wait_for_url(re.compile(r"/samples/.*words=weather"))
    first = page.url
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: url != first)
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(first)
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    page.wait_for_url(re.compile(r"/samples\?words=weather"))
    page.select_option("select[name=language]", "zh")
    page.wait_for_url(re.compile("language=zh"))
    assert (watched.complaints, watched.elsewhere) == ([], [])
    page.close()


def _come_back_to_what_was_shown(browser: Any, sample: str) -> None:
    """A turn is chosen, its call unfolded, and the sample copied by keyboard; the address brings
    it back.
    """
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
    )
    page = context.new_page()
    page.goto(sample)
    first = page.locator("#turn-1 details.call")
    assert first.get_attribute("open") is None
    for key in ("j", "j", "Enter"):
        page.keyboard.press(key)
    page.wait_for_url(re.compile("#row=1&folds="))
    assert first.get_attribute("open") is not None
    for key, name in (("c", "as-json"), ("t", "as-test")):
        page.keyboard.press(key)
        page.locator("#copied", has_text="Copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == page.locator(f"#{name}").evaluate(
            "one => one.textContent"
        )
        page.evaluate("document.getElementById('copied').textContent = ''")
    page.keyboard.press("y")
    page.locator("#copied", has_text="link").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    other = context.new_page()
    other.goto(link)
    assert other.locator("#turn-1.at").count() == 1
    assert other.locator("#turn-1 details.call").get_attribute("open") is not None
    mark = other.locator("mark[data-tip]").first
    mark.focus()
    told = mark.evaluate("one => getComputedStyle(one, '::after').content")
    assert mark.get_attribute("data-tip")
    assert " = " in told
    other.keyboard.press("o")
    assert other.locator("main details[open]").count() == 0
    other.keyboard.press("g")
    other.keyboard.press("e")
    other.wait_for_url(re.compile("/evaluations$"))
    other.keyboard.press("j")
    assert "row=0" in other.url
    context.close()


def _look_through_files(browser: Any, files: str) -> None:
    """The list of samples is filtered where nobody answers."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(files.replace("index.html", "samples.html"))
    assert page.locator("#shown").inner_text() == "6"
    page.select_option("select[name=language]", "zh")
    shown = page.locator("[data-facets]:visible")
    assert 0 < shown.count() < 6
    assert page.locator("#shown").inner_text() == str(shown.count())
    page.close()
