"""Every build measures its readers: what is planted, drawn by seed, kept, and never paid twice."""

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.auditing import readers_named
from callwright.flows.evaluation.evaluation_run import choose_candidates, label_of
from callwright.flows.pages.look import Look
from callwright.flows.pages.report import build_page, write_report
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate, Recipe, parse_recipe
from callwright.flows.run.land import BuildReport
from callwright.flows.run.plan import find_unchanged
from callwright.flows.settings import Settings
from callwright.llm.models import PROVIDERS
from callwright.warehouse.cards import card_facts, render_card
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Review
from callwright.warehouse.releases import create_release
from callwright.warehouse.store import Warehouse
from tests.support.flows.small_builds import (
    build,
    run_here,
    settings_of,
    unmeasured_recipe,
    unmeasured_settings_in_recipe,
    warehouse_of,
)

NOW = datetime(2026, 11, 23, tzinfo=UTC)
FEW: dict[str, Any] = {
    "languages": ["en"],
    "samples": {"perfect": 14, "irrelevant": 2},
    "readers": {"at_most": 1.0},
}
# Writes the gold, by a list of requests with their calls; of requests of an odd length it calls
# nothing, and finds neither right.
READER = """
import json
import re
from pathlib import Path

from callwright.llm.chat import RawReply
from callwright.llm.models import Provider

GOLD = json.loads(Path("FOLDER/gold.json").read_text())


class Reader:
    async def send(self, request):
        said = request.messages[-1].content
        [(words, calls)] = [(words, calls) for words, calls in GOLD.items() if words in said]
        is_even = len(words) % 2 == 0
        answer = {"calls": calls if is_even else [], "instead": None if is_even else "none"}
        ways = [json.loads(one) for one in re.findall("^<(?:first|second)>(.*)</(?:first|second)>$", said, re.M)]
        if ways:
            right = [name for name, way in zip(("first", "second"), ways) if way == calls and is_even]
            answer = {"reason": "", "right": right[0] if right else "neither"}
        return RawReply(json.dumps(answer), prompt_tokens=1, completion_tokens=1)

    async def close(self):
        pass


PROVIDER = Provider("scripted", lambda settings: Reader())
"""


@pytest.fixture(autouse=True)
def as_they_were() -> Iterator[None]:
    """Rows stay until the process ends: other tests of this one must not meet them."""
    yield
    PROVIDERS.clear()


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return settings_of(tmp_path_factory.mktemp("measured"))


@pytest.fixture(scope="module")
def not_measured(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work folder whose build did not measure its readers."""
    report = build(unmeasured_recipe(**FEW | {"readers": {"planted": 0}}), settings)
    assert "How well template/v1 reads was not measured" in " ".join(report.remarks)
    return Path(shutil.copytree(settings.home, tmp_path_factory.mktemp("not") / "home"))


@pytest.fixture(scope="module")
def measured(settings: Settings, not_measured: Path) -> BuildReport:
    """What was built before is measured now."""
    return build(unmeasured_recipe(**FEW), settings)


@pytest.fixture
def warehouse(settings: Settings, measured: BuildReport) -> Warehouse:
    return warehouse_of(settings)


def test_what_a_reader_settled_is_planted_once_each_and_the_build_tells_how_it_was_read(
    measured: BuildReport, warehouse: Warehouse
) -> None:
    settled = "select key from accepted_samples where grade = 'judged' and kind = 'perfect'"
    drawn = warehouse.rows("select subject as key from planted_readings")
    assert {row["key"] for row in drawn} == {row["key"] for row in warehouse.rows(settled)}
    [row] = [one for one in measured.readers if not one.defect]
    assert (row.reader, row.language, row.family) == ("template/v1", "en", "single_turn")
    assert row.n_planted + row.n_doubles == len(drawn) == row.n_read >= 10
    assert row.n_planted > row.n_doubles > 0
    assert row.precision_low is not None
    assert 0 < row.precision_low < 1


def test_what_was_lost_is_asked_of_the_ledger_and_comes_out_alike(
    warehouse: Warehouse, settings: Settings
) -> None:
    before = warehouse.rows("select * exclude (made_at) from planted_readings order by subject")
    warehouse.execute(
        "delete from planted_readings where subject in (select subject from planted_readings"
        " limit 5)"
    )
    assert find_unchanged(unmeasured_recipe(**FEW), settings, SilentProgress()) is None
    build(unmeasured_recipe(**FEW), settings)
    assert (
        warehouse.rows("select * exclude (made_at) from planted_readings order by subject")
        == before
    )
    asked = (
        "select cached from llm_calls where stage = 'planted_reading' order by made_at desc limit 5"
    )
    assert all(row["cached"] for row in warehouse.rows(asked))


def test_a_recipe_says_how_much_is_planted_and_more_may_come_later(not_measured: Path) -> None:
    settings = settings_of(not_measured)
    counted = []
    for rules in (
        {"planted": 0.05, "at_least": 3},
        {"planted": 0.4, "at_least": 3},
        {"planted": 0.1, "at_least": 0},
    ):
        build(unmeasured_recipe(**FEW | {"readers": rules}), settings)
        counted.append(
            {
                row["subject"]
                for row in warehouse_of(settings).rows("select subject from planted_readings")
            }
        )
    assert len(counted[0]) == 3
    assert 5 <= len(counted[1]) <= 6
    assert counted[0] < counted[1] == counted[2]  # what was planted stays


def test_what_a_reader_settled_waits_where_more_of_it_may_be_wrong_than_the_recipe_accepts(
    tmp_path: Path,
) -> None:
    settings = settings_of(tmp_path)
    strict = build(unmeasured_recipe(**FEW, accept={"wrong_at_most": 0.001}), settings)
    assert strict.landed == 0
    [told] = [one for one in strict.remarks if "accept.wrong_at_most" in one]
    assert told.startswith(
        "Samples that template/v1 judged wait for reviewers where it is not known to be right in"
        " 99.9%"
    )
    assert "single_turn in en (" in told
    reasons = {
        row["kind"]: row["reason"] for row in warehouse_of(settings).rows(WAITING, [strict.build])
    }
    assert "is known to be right in" in reasons["perfect"]
    assert "has not been measured" in reasons["irrelevant"]  # the readings by choice alone are
    lenient = build(unmeasured_recipe(**FEW, accept={"wrong_at_most": 0.6}), settings)
    waiting = {row["kind"] for row in warehouse_of(settings).rows(WAITING, [lenient.build])}
    assert (lenient.build != strict.build, lenient.landed >= 12, waiting) == (
        True,
        True,
        {"irrelevant"},
    )


WAITING = """
    select s.kind, string_agg(r.reason, ' ') as reason from outcomes o join samples s on s.key = o.subject
    join review_requests r on r.subject = s.key
    where o.build = ? and o.stage = 'review' and o.outcome = 'waiting' group by s.kind
"""


def test_what_waits_since_nothing_is_known_lands_once_enough_is(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    bar = {"accept": {"wrong_at_most": 0.6}}
    unmeasured = build(unmeasured_recipe(**FEW | bar | {"readers": {"planted": 0}}), settings)
    assert unmeasured.landed == 0
    known = build(unmeasured_recipe(**FEW | bar), settings)
    assert (known.build, known.landed >= 12) == (unmeasured.build, True)
    assert build(unmeasured_recipe(**FEW | bar), settings).landed == known.landed


def with_reader(folder: Path, gold: dict[str, Any]) -> Recipe:
    (folder / "reader.py").write_text(READER.replace("FOLDER", str(folder)), encoding="utf-8")
    (folder / "gold.json").write_text(json.dumps(gold), encoding="utf-8")
    models = {"checker": "scripted/reader"}
    stated = unmeasured_settings_in_recipe(**FEW, models=models, extensions=["reader.py:PROVIDER"])
    return parse_recipe(stated, folder, "small")


def test_the_errors_of_each_reader_are_found_as_they_are(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    """A checker that doubts what is of an odd length."""
    rows = warehouse.rows("select request, gold from samples")
    settings = settings_of(tmp_path / "home")
    report = build(
        with_reader(tmp_path, {row["request"]: json.loads(row["gold"]) for row in rows}), settings
    )
    read = warehouse_of(settings).rows(
        "select p.*, length(s.request) % 2 = 1 as is_odd from planted_readings p join samples s on"
        " s.key = p.subject"
    )
    by_checker = [row for row in read if row["check_name"] == "reading"]
    assert {row["reader"] for row in by_checker} == {"scripted/reader"}
    assert {row["outcome"] for row in by_checker if row["defect"]} == {"caught"}
    doubles = [(row["outcome"], row["is_odd"]) for row in by_checker if not row["defect"]]
    assert doubles
    assert all(
        outcome == ("falsely_doubted" if is_odd else "passed") for outcome, is_odd in doubles
    )
    [checker, *_] = [
        row for row in report.readers if row.reader == "scripted/reader" and not row.defect
    ]
    assert (checker.caught_share, checker.n_doubted_doubles) == (
        1.0,
        sum(is_odd for _, is_odd in doubles),
    )


def test_the_pages_and_the_card_show_the_figures(
    measured: BuildReport, warehouse: Warehouse, settings: Settings, tmp_path: Path
) -> None:
    warehouse.put(
        [
            Review(
                subject=row["key"],
                kind="sample_review",
                decision="accept",
                reviewer="ann",
                reviewed_at=NOW,
            )
            for row in warehouse.rows(
                "select key from accepted_samples where kind = 'perfect' order by key limit 2"
            )
        ]
    )
    page = build_page(Look(warehouse, NOW, lambda path, _query: path), {}, measured.build) or ""
    report = write_report(warehouse, tmp_path / "report.html").read_text(encoding="utf-8")
    for text in (page, report):
        assert "Accuracy of readers" in text
        assert '<th class="n">at least</th>' in text
        assert "Readers and people on the same samples" in text
    assert "<th>recipe</th><th>reader</th>" in report
    create_release(warehouse, "measured")
    card = render_card(card_facts(warehouse, "measured"))
    assert "| template/v1 | en | single_turn |" in card
    assert "golds as they are" in card


def test_readers_are_compared_on_the_same_places_before_money_is_spent(
    warehouse: Warehouse, settings: Settings
) -> None:
    before = warehouse.rows("select count(*) as n from planted_readings")
    words = ("audit", "readers", "--model", "template/v1", "--limit", "10")
    first = run_here(*words, "--wrong-at-most", "0.5", "--json", home=settings.home)
    told = json.loads(first.stdout)
    row, *baselines = told["readers"]
    assert [one["model"] for one in baselines] == [
        "baseline: matches strings",
        "baseline: does not read",
    ]
    assert (told["samples"], row["doubles"], row["dollars"]) == (10, 10, 0.0)
    assert row["planted"] > 10
    assert row["tokens"] > 100
    assert told["chosen"] == "template/v1"
    assert (
        json.loads(run_here(*words, "--wrong-at-most", "0.5", "--json", home=settings.home).stdout)
        == told
    )
    assert (
        warehouse.rows("select count(*) as n from planted_readings") == before
    )  # a build's measure is its own
    asked = warehouse.rows("select n_requests, build from costs where purpose = 'auditing'")
    assert [(row["n_requests"] > 20, row["build"]) for row in asked] == [(True, "")]
    shown = run_here(*words, "--wrong-at-most", "0.0", home=settings.home).stdout
    assert "No model with a known price is known to let at most 0.0% of wrong samples pass" in shown


def test_readers_and_candidates_take_their_settings_from_a_recipe(tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text(
        "name: models\ntools: [{seed: all}]\nsamples: {}\n"
        "models: {generator: template/v1, checker: {name: template/v1, seed: 7},"
        " judge: template/v1}\n"
        "candidates:\n"
        "- {label: careless, model: {name: template/v1, error_rate: {wrong_argument: 0.2}}}\n"
        "- {label: small, model: {name: local_openai/small, api_base: 'http://127.0.0.1:1/v1'}}\n",
        encoding="utf-8",
    )
    recipe = tmp_path / "recipe.yaml"

    small, careless = readers_named(("small", "careless"), recipe)
    by_model = readers_named(("local_openai/small",), recipe)
    [other] = readers_named(("local/other.gguf",), recipe)
    candidates = choose_candidates(("small",), recipe)

    assert small.api_base == "http://127.0.0.1:1/v1"
    assert by_model == (small,)
    assert careless.error_rate == {"wrong_argument": 0.2}
    assert other.name == "local/other.gguf"
    assert [one.name for one in readers_named((), recipe)] == ["template/v1", "local_openai/small"]
    assert [(label_of(one), one.model) for one in candidates if isinstance(one, Candidate)] == [
        ("small", small),
        ("careless", careless),
    ]
    with pytest.raises(ConfigurationError, match="Name each with --model"):
        readers_named((), None)
