"""What the tests of flows share."""

import copy
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fault_proxy import fault_proxy
from tests.support.flows.live_offices import LiveOffice, People, local, office_at
from tests.support.flows.model_server import ModelServer, serve_model
from tests.support.flows.offices import TRUSTING, Office, erring_recipe, open_office
from tests.support.flows.paper_studio import PaperStudio
from tests.support.flows.small_builds import build, settings_of
from tests.support.killable_studio import KillableStudio


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A fresh model across a wire."""
    with serve_model() as server:
        yield server


@pytest.fixture(scope="session")
def pushed_office(tmp_path_factory: pytest.TempPathFactory) -> Office:
    """A work folder with a build in it, its tasks in a drawer; the others are copies of it."""
    home = tmp_path_factory.mktemp("office")
    build(erring_recipe(), settings_of(home))
    office = open_office(home, PaperStudio())
    office.push()
    return office


@pytest.fixture
def office(pushed_office: Office, tmp_path: Path) -> Office:
    """An office of the test's own."""
    shutil.copytree(pushed_office.settings.home, tmp_path / "home")
    return open_office(tmp_path / "home", copy.deepcopy(pushed_office.studio))


@pytest.fixture(scope="session")
def built_office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small work folder of which nothing was pushed yet; live offices are copies of it."""
    home = tmp_path_factory.mktemp("built")
    build(erring_recipe(seed=11, samples={"perfect": 12, "imperfect": 4}), settings_of(home))
    return home


@pytest.fixture
def live(built_office: Path, tmp_path: Path, killable_studio: KillableStudio) -> Iterator[LiveOffice]:
    """A work folder at a Label Studio without any of our projects, behind a door that misbehaves as told."""
    server = killable_studio.start()
    people = People(server.url, server.token)
    people.remove_projects()
    shutil.copytree(built_office, tmp_path / "home")
    with fault_proxy(server.url) as proxy, local(proxy.url, server.token, timeout=10) as studio:
        yield LiveOffice(office_at(tmp_path / "home", studio), proxy, people, killable_studio)
    people.close()


@pytest.fixture(scope="session")
def pushed_trust_office(tmp_path_factory: pytest.TempPathFactory) -> Office:
    """A work folder where two people answer each doubt, and gold items are mixed in."""
    home = tmp_path_factory.mktemp("trust")
    build(erring_recipe(review=TRUSTING), settings_of(home))
    office = open_office(home, PaperStudio())
    office.push()
    return office


@pytest.fixture
def trust_office(pushed_trust_office: Office, tmp_path: Path) -> Office:
    """A copy of it, the test's own."""
    shutil.copytree(pushed_trust_office.settings.home, tmp_path / "home")
    return open_office(tmp_path / "home", copy.deepcopy(pushed_trust_office.studio))
