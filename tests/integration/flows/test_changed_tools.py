"""The same samples with the tools in other words: what is asked, what is kept, and how both
sides are compared.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from starlette.testclient import TestClient
from statsmodels.stats.contingency_tables import mcnemar

import callwright
from callwright.flows.api.surroundings import settings_of
from callwright.flows.pages.serving import page_app
from callwright.warehouse.publish import published_copy
from tests.support.flows.small_builds import run_here, warehouse_of

SUN, FORECAST = "Weather.Sky.getSunTimes", "Weather.Forecast.getForecast"
CHANGES = {
    SUN: {
        "name": "Sky.lookup",
        "description": "Get the weather forecast for a coming day.",
    },  # misleads
    FORECAST: {"parameters": {"date": {"name": "day"}}},
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work folder with the release v1, not asked about yet, and a file of changes."""
    folder = tmp_path_factory.mktemp("changed")
    samples = {"perfect": 14, "imperfect": 2}
    callwright.build(
        callwright.make_recipe("small", tools=[{"seed": ["Weather"]}], samples=samples), home=folder
    )
    callwright.create_release("v1", home=folder)
    (folder / "words.yaml").write_text(yaml.safe_dump({"tools": CHANGES}), encoding="utf-8")
    return folder


def asked(home: Path, *words: str) -> Any:
    return run_here(
        "evaluate",
        "v1",
        "--model",
        "template/v1",
        "--tools",
        str(home / "words.yaml"),
        *words,
        home=home,
    )


def rows(home: Path, sql: str) -> list[dict[str, Any]]:
    return warehouse_of(settings_of(home)).rows(sql)


class Told(NamedTuple):
    """What commands printed: before anybody was asked, with the changed tools alone, and with
    both.
    """

    home: Path
    foreseen: dict[str, Any]
    alone: str
    both: list[dict[str, Any]]


@pytest.fixture(scope="module")
def told(home: Path) -> Told:
    foreseen = json.loads(asked(home, "--dry-run", "--json").stdout)
    assert rows(home, "from predictions") == []
    alone = asked(home).stdout
    [made] = rows(home, "select count(*) as n from predictions")
    assert made["n"] == foreseen["requests"]
    return Told(home, foreseen, alone, json.loads(asked(home, "--both", "--json").stdout))


def test_a_change_is_foreseen_asked_and_compared(told: Told) -> None:
    home, foreseen = told.home, told.foreseen
    assert {row["tool"]: row["changed"] for row in foreseen["changed"]} == {
        SUN: "name, description",
        FORECAST: "parameter date: name",
    }
    assert 0 < foreseen["touched"] <= foreseen["samples"]

    assert "has not been asked with the original tools" in told.alone
    [found] = [one for row in told.both for one in row["changed_tools"]]
    sides = [
        {
            row["subject"]: row["passed"]
            for row in rows(
                home,
                "select subject, bool_and(error_type = '') as passed from predictions"
                f" where strategy {sign} 'direct' group by all",
            )
        }
        for sign in ("=", "<>")
    ]
    better, worse = (
        sum(one[key] and not other[key] for key in one) for one, other in (sides[::-1], sides)
    )
    whole, *by_tool = found["effects"]
    assert worse > 0, "the words that mislead do mislead"
    assert (whole["samples"], whole["better"], whole["worse"]) == (len(sides[0]), better, worse)
    assert whole["p_value"] == pytest.approx(mcnemar([[0, better], [worse, 0]], exact=True).pvalue)
    worsened = {row["tool"]: row["changed"] for row in by_tool if row["worse"]}
    assert worsened[SUN] == ["description", "name"]
    assert sum(row["worse"] for row in by_tool) == worse, "one tool is due in each sample"
    assert any(
        row["due_tool"] == SUN and row["after"] > row["before"] for row in found["confusions"]
    )
    [args] = [row for row in found["metrics"] if row["metric"] == "args_acc"]
    assert args["low"] <= args["difference"] <= args["high"] <= 0
    printed = asked(home).stdout
    assert "unlikely to be chance" in printed or "may well be chance" in printed


def test_answers_are_kept_in_the_release_s_names_and_the_change_beside_them(told: Told) -> None:
    home = told.home
    called = rows(
        home,
        "select distinct unnest(json_extract_string(calls, '$[*].tool')) as tool from predictions",
    )
    assert {row["tool"] for row in called} <= {
        row["name"] for row in rows(home, "select name from tools")
    }
    right = rows(
        home,
        f"""select calls, text from predictions where strategy <> 'direct'
        and json_extract_string(calls, '$[0].tool') = '{FORECAST}' and contains(text, '"day"')""",
    )
    assert right
    assert all("date" in json.loads(row["calls"])[0]["arguments"] for row in right)
    kept = rows(
        home,
        "select tool, shown_name, plain_strategy, shown, words from tool_changes order by tool",
    )
    assert [(row["tool"], row["shown_name"], row["plain_strategy"]) for row in kept] == [
        (FORECAST, FORECAST, "direct"),
        (SUN, "Sky.lookup", "direct"),
    ]
    assert json.loads(kept[1]["shown"])["description"] == CHANGES[SUN]["description"]


def test_the_page_tells_what_was_changed_beside_what_came_of_it(told: Told) -> None:
    home = told.home
    warehouse = warehouse_of(settings_of(home))
    copy = warehouse.beside(published_copy(warehouse, home / "published"))
    client = TestClient(page_app(copy), base_url="http://127.0.0.1")
    assert "/evaluations/v1/tools?" in client.get("/evaluations/v1").text
    strategy = rows(
        home, "select distinct strategy from tool_changes where shown_name = 'Sky.lookup'"
    )[0]["strategy"]
    query = {"candidate": "template/v1", "strategy": strategy, "shown": "first"}
    page = client.get("/evaluations/v1/tools", params=query)
    assert page.status_code == 200
    assert f"<del>{SUN}</del> <ins>Sky.lookup</ins>" in page.text
    assert "right only with the changed tools" in page.text
    assert (
        client.get("/evaluations/v1/tools", params=query | {"candidate": "nobody"}).status_code
        == 404
    )
    assert client.get("/evaluations/v9/tools").status_code == 404
