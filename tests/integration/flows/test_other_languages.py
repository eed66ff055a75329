"""Requests in languages other than the document's, by a model: what no rule knows lands as
judged, and nothing of it is proved.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest

from callwright.flows.planning.demands import shares
from callwright.flows.run.land import BuildReport
from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.generators.families import LeftOut
from callwright.generators.stages import StageContext
from callwright.language.packs import writes
from callwright.testing import ScriptedModel
from callwright.validators.checks.table import all_checks, settled_claims
from callwright.warehouse.records import Sample, UserTurn
from callwright.warehouse.releases import read_tools
from tests.support.flows.model_server import ModelServer, serve_model
from tests.support.flows.small_builds import (
    build,
    settings_of,
    stub_settings,
    unmeasured_recipe,
    warehouse_of,
)
from tests.support.flows.wording_model import CHINESE, WordingModel

KINDS = {"perfect": 6, "imperfect": 4, "irrelevant": 2, "sQsA": 2}
TOOLS = [{"seed": ["Weather", "Banking", "Trains"]}]


def three_models(server: ModelServer) -> dict[str, Any]:
    """A model for each role, so that what is read was not worded by the reader."""
    names = {"generator": "openai/stub", "checker": "openai/checker", "judge": "openai/judge"}
    return {role: stub_settings(server, name=name) for role, name in names.items()}


class FrenchBuild:
    def __init__(self, home: Path, server: ModelServer) -> None:
        server.behaviour = WordingModel(slips=True)
        self.settings, self.models = settings_of(home), three_models(server)
        recipe = unmeasured_recipe(languages=["fr"], samples=KINDS, models=self.models, tools=TOOLS)
        self.report: BuildReport = build(recipe, self.settings)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return warehouse_of(self.settings).rows(sql)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrenchBuild]:
    with serve_model() as server:
        yield FrenchBuild(tmp_path_factory.mktemp("french"), server)


def test_samples_land_as_judged_and_none_as_proved(built: FrenchBuild) -> None:
    why = built.rows("select stage, outcome, reason from outcomes where outcome <> 'passed'")
    found = {row.kind: (row.landed, row.proved, row.judged) for row in built.report.composition}
    assert found == {kind: (count, 0, count) for kind, count in KINDS.items()}, why


def test_requests_are_french_and_a_wording_in_the_language_of_the_document_is_asked_for_again(
    built: FrenchBuild,
) -> None:
    rows = built.rows("select language, request from accepted_samples")
    assert {row["language"] for row in rows} == {"fr"}
    assert not [row["request"] for row in rows if row["request"].startswith("Please")]


def test_kinds_with_words_of_our_own_are_left_out_in_a_language_that_has_none() -> None:
    samples = {"imperfect": 2, "sQsA": 2, "IS": 4}
    models = {"generator": "openai/x"}
    recipe = unmeasured_recipe(languages=["en", "fr"], samples=samples, models=models)
    left_out: list[LeftOut] = []
    demands = list(shares(recipe, seed_tools(["en"]), left_out.append))
    [refused] = left_out
    assert (refused.kind, refused.language, refused.samples) == ("IS", "fr", 2)
    assert refused.reason.startswith(
        "The kinds of the family 'shifts' hold turns in words of callwright's own"
    )
    assert [one.asked for one in demands if (one.kind.name, one.language) == ("IS", "en")] == [2]


def test_english_tools_give_chinese_requests_and_keep_the_values_that_their_schemas_fix(
    tmp_path: Path,
) -> None:
    tool = {
        "name": "set_light",
        "description": "Sets a lamp to a colour.",
        "parameters": {
            "type": "object",
            "properties": {
                "lamp": {
                    "type": "string",
                    "description": "The code of the lamp.",
                    "pattern": "^L-[0-9]{4}$",
                },
                "colour": {
                    "type": "string",
                    "enum": ["warm_white", "deep_blue"],
                    "description": "The colour.",
                },
            },
            "required": ["lamp", "colour"],
        },
    }
    path = tmp_path / "tools.json"
    path.write_bytes(orjson.dumps([{"type": "function", "function": tool}]))
    settings = settings_of(tmp_path)
    with serve_model() as server:
        server.behaviour = WordingModel(CHINESE)
        sources = [{"import": "openai", "path": str(path)}]
        recipe = unmeasured_recipe(
            languages=["zh"], samples={"perfect": 3}, models=three_models(server), tools=sources
        )
        build(recipe, settings)
    rows = warehouse_of(settings).rows("select body from samples")
    samples = [Sample.model_validate_json(row["body"]) for row in rows]
    assert [sample.language for sample in samples] == ["zh"] * 3
    assert all(
        call.arguments["colour"] in {"warm_white", "deep_blue"}
        for sample in samples
        for call in sample.gold
    )
    assert all(
        writes("zh", sample.turns[0].text)
        for sample in samples
        if isinstance(sample.turns[0], UserTurn)
    )


SHIFTED = {
    "perfect": 2,
    "imperfect": 4,
    "irrelevant": 1,
    "sQsA": 3,
    "mQmA": 1,
    "IS": 1,
    "SO_case1": 1,
    "SO_case2": 1,
    "mSv": 1,
    "external": 1,
    "parallel": 2,
    "conversation": 4,
}


def test_every_rule_has_an_answer_about_every_kind_in_a_language_that_it_does_not_know(
    tmp_path: Path,
) -> None:
    settings = settings_of(tmp_path)
    build(unmeasured_recipe(languages=["en"], samples=SHIFTED, tools=[{"seed": "all"}]), settings)
    warehouse = warehouse_of(settings)
    samples = [
        Sample.model_validate_json(row["body"])
        for row in warehouse.rows("select body from samples")
    ]
    assert {sample.kind for sample in samples} == set(SHIFTED)
    tools = read_tools(
        warehouse, {key for one in samples for key in (*one.candidates, *one.withheld)}
    )
    context = StageContext(ScriptedModel({}), Random(0), tools, {})
    for sample in samples:
        for code in ("fr", "ja"):
            foreign = sample.with_changes(language=code)
            verdicts = [
                verdict
                for check in all_checks()
                if check.role is None and check.applies(foreign)
                for verdict in asyncio.run(check(foreign, context))
            ]
            assert settled_claims(verdicts).grade != "proved"
