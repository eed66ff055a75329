"""What the tests of flows share."""

import copy
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from callwright.flows.recipe import Recipe
from tests.support.flows.live_sites import LiveSite, live_site
from tests.support.flows.model_server import ModelServer, serve_model
from tests.support.flows.paper_studio import PaperStudio
from tests.support.flows.prefect_api import PrefectRecords
from tests.support.flows.review_sites import ReviewSite, erring_recipe, open_site, trusting_recipe
from tests.support.flows.small_builds import build, run, settings_of, write_recipe
from tests.support.killable_studio import KillableStudio
from tests.support.servers import HeardPrefect


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A fresh model across a wire."""
    with serve_model() as server:
        yield server


class ShownBuild(NamedTuple):
    """A build that Prefect shows: its recipe, its work folder, and what the command printed."""

    recipe: Path
    home: Path
    done: "subprocess.CompletedProcess[str]"


def _shown_from(server: HeardPrefect, home: Path) -> dict[str, str]:
    return server.environment | {"PREFECT_API_URL": server.server.api, "HOME": str(home)}


@pytest.fixture
def known(prefect_server: HeardPrefect) -> PrefectRecords:
    return PrefectRecords(prefect_server)


@pytest.fixture
def shown(prefect_server: HeardPrefect, tmp_path: Path) -> dict[str, str]:
    """The environment of a command line whose builds Prefect shows."""
    return _shown_from(prefect_server, tmp_path)


@pytest.fixture(scope="session")
def shown_build(
    prefect_server: HeardPrefect, tmp_path_factory: pytest.TempPathFactory
) -> ShownBuild:
    """One that makes its tools and samples of two kinds; nobody is asked about them."""
    folder = tmp_path_factory.mktemp("shown")
    tools = [{"generate": ["Clock", "Hotels", "Notes", "Weather"], "tools_per_category": 5}]
    recipe = write_recipe(
        folder, name="alike", tools=tools, samples={"perfect": 6, "irrelevant": 4}, shard_size=5
    )
    shown = _shown_from(prefect_server, folder)
    done = run("build", str(recipe), "--no-review", home=folder / "home", **shown)
    return ShownBuild(recipe, folder / "home", done)


def _pushed(recipe: Recipe, home: Path) -> ReviewSite:
    build(recipe, settings_of(home))
    site = open_site(home, PaperStudio())
    site.push()
    return site


def _copied(site: ReviewSite, folder: Path) -> ReviewSite:
    shutil.copytree(site.settings.home, folder / "home")
    return open_site(folder / "home", copy.deepcopy(site.studio))


@pytest.fixture(scope="session")
def pushed_site(tmp_path_factory: pytest.TempPathFactory) -> ReviewSite:
    """A work folder with a build in it, its tasks in a drawer; the others are copies of it."""
    return _pushed(erring_recipe(), tmp_path_factory.mktemp("site"))


@pytest.fixture
def site(pushed_site: ReviewSite, tmp_path: Path) -> ReviewSite:
    """A review site of the test's own."""
    return _copied(pushed_site, tmp_path)


@pytest.fixture(scope="session")
def built_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small work folder of which nothing was pushed yet; live sites are copies of it."""
    home = tmp_path_factory.mktemp("built")
    build(erring_recipe(seed=11, samples={"perfect": 12, "imperfect": 4}), settings_of(home))
    return home


@pytest.fixture
def live(built_site: Path, tmp_path: Path, killable_studio: KillableStudio) -> Iterator[LiveSite]:
    """A work folder at a Label Studio without any of our projects, behind a door that misbehaves
    as told.
    """
    with live_site(built_site, tmp_path / "home", killable_studio) as found:
        yield found


@pytest.fixture(scope="session")
def pushed_trust_site(tmp_path_factory: pytest.TempPathFactory) -> ReviewSite:
    """A work folder where two people answer each doubt, and gold items are mixed in."""
    return _pushed(trusting_recipe(), tmp_path_factory.mktemp("trust"))


@pytest.fixture
def trust_site(pushed_trust_site: ReviewSite, tmp_path: Path) -> ReviewSite:
    """A copy of it, the test's own."""
    return _copied(pushed_trust_site, tmp_path)
