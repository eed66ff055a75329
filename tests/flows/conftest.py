"""What the tests of flows share."""

import copy
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.model_server import ModelServer, serve_model
from tests.flows.offices import Office, erring_recipe, open_office
from tests.flows.paper_studio import PaperStudio
from tests.flows.small_builds import build, settings_of


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
