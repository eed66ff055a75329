"""Multi-step samples on a real API: built on a running Prefect server, and built again from its
recorded responses.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from callwright.flows.recipe import Recipe, parse_recipe
from callwright.flows.settings import Settings
from callwright.generators.environments.response_store import ResponseStore
from tests.support.flows.small_builds import build, one, settings_of, warehouse_of
from tests.support.generators.environments.prefect_world import Api, fill
from tests.support.servers import HeardPrefect

pytestmark = [pytest.mark.prefect, pytest.mark.enable_socket]

RECIPE = Path(__file__).parents[3] / "recipes" / "prefect_api.yaml"
ENOUGH = 30


def recipe_with(**tools: Any) -> Recipe:
    """The recipe as it stands, with other settings of its environment."""
    loaded = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))
    loaded["tools"] = [
        tools if tools["environment"] == "recorded" else {**loaded["tools"][0], **tools}
    ]
    return parse_recipe(loaded, RECIPE.parent, str(RECIPE))


def bodies(settings: Settings) -> list[str]:
    return [
        row["body"] for row in warehouse_of(settings).rows("select body from samples order by key")
    ]


@pytest.mark.slow
def test_a_prefect_server_yields_thirty_samples_without_people_and_so_do_its_recorded_responses(
    prefect_server: HeardPrefect, tmp_path: Path
) -> None:
    url = prefect_server.server.api
    fill(url)
    path = Api(url).document(tmp_path / "prefect.json")
    live = settings_of(tmp_path / "live")
    build(recipe_with(environment="http", path=str(path), base_url=url), live)
    landed = one(live, "select count(*) from acceptances where grade <> 'vouched'")
    assert landed >= ENOUGH
    assert one(live, "select count(distinct request) from samples") >= ENOUGH

    store = ResponseStore(live.home / "responses.sqlite")
    stored = len(list(store.stored("prefect")))
    store.close()
    assert stored > landed
    assert one(live, "select count(*) from responses where environment = 'prefect'") == stored

    replayed = settings_of(tmp_path / "replayed")
    build(
        recipe_with(
            environment="recorded", name="prefect", path=str(live.home / "responses.sqlite")
        ),
        replayed,
    )
    assert one(replayed, "select count(*) from acceptances where grade <> 'vouched'") == landed
    assert bodies(replayed) == bodies(live)
