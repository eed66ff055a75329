"""What a build will cost is told before it asks anything, and what it has cost afterwards."""

import json
from pathlib import Path

import pytest

from callwright.flows.api.building import preview_samples
from tests.support.flows.model_server import MODEL, PRICED, ModelServer
from tests.support.flows.small_builds import (
    TOOLS,
    run_here,
    settings_of,
    stub_roles,
    stub_settings,
    unmeasured_recipe,
    warehouse_of,
    write_unmeasured_recipe,
)
from tests.support.llm.names import ANOTHER, IN, OUT

ONE = {"tools": TOOLS, "languages": ["en"], "samples": {"perfect": 8}}


def test_an_estimate_asks_nobody_and_grows_with_the_plan(
    model_server: ModelServer, tmp_path: Path
) -> None:
    roles = stub_roles(model_server, name=PRICED)
    found = {}
    for count in (8, 40):
        recipe = write_unmeasured_recipe(
            tmp_path, **ONE | {"models": roles, "samples": {"perfect": count}}
        )
        ended = run_here("estimate", str(recipe), "--json", home=tmp_path / "home")
        assert ended.returncode == 0, ended.stderr
        found[count] = json.loads(ended.stdout)

    assert model_server.requests == 0
    assert found[40]["calls"] == pytest.approx(5 * found[8]["calls"], rel=0.25)
    assert found[40]["dollars"] == pytest.approx(5 * found[8]["dollars"], rel=0.25)
    assert {row["role"] for row in found[8]["rows"]} == {"generator", "checker", "judge"}
    assert found[8]["earlier"] is None
    for row in found[8]["rows"]:
        known = row["prompt_tokens"] * IN + row["reply_tokens"] * OUT
        assert row["dollars"] == pytest.approx(known, rel=0.02)


def test_an_estimate_is_near_what_the_build_asks_and_knows_it_afterwards(
    model_server: ModelServer, tmp_path: Path
) -> None:
    roles = stub_roles(model_server, name=PRICED) | {
        "checker": stub_settings(model_server, name=ANOTHER)
    }
    recipe = write_unmeasured_recipe(tmp_path, **ONE | {"models": roles})
    before = json.loads(run_here("estimate", str(recipe), "--json", home=tmp_path / "home").stdout)

    ended = run_here("build", str(recipe), "--no-review", home=tmp_path / "home")

    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.startswith("Estimate for ")
    assert "cost_per_accepted" in ended.stdout
    assert "seconds" in ended.stdout
    assert before["calls"] == pytest.approx(model_server.requests, rel=0.25)
    after = json.loads(run_here("estimate", str(recipe), "--json", home=tmp_path / "home").stdout)
    assert after["earlier"]["made"] > 0
    assert after["calls"] == pytest.approx(model_server.requests, rel=0.3)
    assert after["dollars_per_accepted"] > 0


def test_a_model_without_a_price_asks_for_one_and_one_with_its_own_is_counted(
    model_server: ModelServer, tmp_path: Path
) -> None:
    for price, is_known in (
        (None, False),
        ({"input": 1.0, "output": 2.0}, True),
        ({"input": 0.0, "output": 0.0}, True),
    ):
        roles = stub_roles(model_server, name=MODEL, **({"price": price} if price else {}))
        recipe = write_unmeasured_recipe(tmp_path, **ONE | {"models": roles})
        ended = run_here("estimate", str(recipe), home=tmp_path / "home")
        assert ("price: {input" in ended.stdout) != is_known
        assert ("an unknown amount for openai/stub" in ended.stdout) != is_known
        assert "Four bytes are counted as one token" in ended.stdout


def test_time_is_told_at_the_pace_that_the_server_was_measured_at(
    model_server: ModelServer, tmp_path: Path
) -> None:
    small = stub_settings(model_server, name="local_openai/small")
    roles = dict.fromkeys(("generator", "checker", "judge"), small)
    recipe = write_unmeasured_recipe(tmp_path, **ONE | {"models": roles})
    home = tmp_path / "home"
    before = run_here("estimate", str(recipe), home=home).stdout
    assert "The pace of local_openai/small is unknown. `callwright build RECIPE" in before
    assert "measured pace" not in before
    assert run_here("build", str(recipe), "--no-review", "--limit", "2", home=home).returncode == 0

    told = json.loads(run_here("estimate", str(recipe), "--json", home=home).stdout)

    assert told["dollars"] == 0
    assert 0 < told["seconds"] < 600
    [pace] = [note for note in told["notes"] if "was measured at" in note]
    assert pace.startswith("local_openai/small was measured at ")
    assert pace.endswith(" tokens a second for each request, with 2 at once.")
    warehouse_of(settings_of(home)).execute(
        "update llm_calls set prompt_tokens = 0, completion_tokens = 0"
    )
    uncounted = json.loads(run_here("estimate", str(recipe), "--json", home=home).stdout)
    assert uncounted["seconds"] is None, "a server that counts no tokens has no pace"


class Sayings:
    """What a build says."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, sentence: str) -> None:
        self.said.append(sentence)

    def begin(self, title: str, total: int) -> None:
        """Not looked at."""

    def advance(self, count: int) -> None:
        """Not looked at."""


async def test_a_preview_says_what_it_cost_and_the_build_does_not_ask_again(
    model_server: ModelServer, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    settings, heard = settings_of(tmp_path / "home"), Sayings()
    recipe = unmeasured_recipe(
        **ONE | {"models": stub_roles(model_server, name=PRICED), "samples": {"perfect": 2}}
    )

    await preview_samples(recipe, 2, settings, heard)

    asked = model_server.requests
    [cost] = [one for one in heard.said if one.startswith("This preview made")]
    assert f"made {asked} calls for $0.0" in cost
