"""Real servers for the tests that need them: each started once a session, below the session's
temporary folder.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.server import ServerInfo, start, stop
from callwright.flows.engine.deploying import PrefectServer, start_prefect, stop_prefect
from callwright.flows.settings import read_settings
from tests.support.killable_studio import KillableStudio
from tests.support.studio_template import copy_studio, studio_template


@pytest.fixture(scope="session")
def label_studio_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The work folder of the session's Label Studio."""
    home = tmp_path_factory.mktemp("home")
    copy_studio(studio_template(), home)
    return home


@pytest.fixture(scope="session")
def label_studio_server(label_studio_home: Path) -> Iterator[ServerInfo]:
    """The address, the token and the account of a Label Studio that the session ends with."""
    yield start(label_studio_home, os.environ, timeout=600)
    stop(label_studio_home)


@pytest.fixture(scope="session")
def killable_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KillableStudio]:
    """A Label Studio that tests may kill; whoever kills it starts it again."""
    made = KillableStudio(tmp_path_factory.mktemp("killable"), studio_template())
    yield made
    made.stop()


@pytest.fixture
def label_studio(label_studio_server: ServerInfo) -> Iterator[LabelStudio]:
    """The adapter, signed in at the session's Label Studio."""
    with LabelStudio(label_studio_server.url, label_studio_server.token) as adapter:
        yield adapter


# Every Python process that starts with this on its path writes down whom it looks up or connects
# to.
_EAVESDROPPER = """
import os, sys
def note(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        address = arguments[1][0]
    elif event == "socket.getaddrinfo":
        address = arguments[0]
    else:
        return
    with open(os.environ["HEARD"], "a") as file:
        file.write(f"{address}\\n")
sys.addaudithook(note)
"""


class HeardPrefect(NamedTuple):
    """A Prefect server, and the file that names whom it and those started with `environment`
    have spoken to.
    """

    server: PrefectServer
    heard: Path
    environment: dict[str, str]

    def addresses(self) -> set[str]:
        """All of them so far."""
        return set(self.heard.read_text(encoding="utf-8").split())


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HeardPrefect]:
    """A Prefect server that the session ends with, listened to."""
    home = tmp_path_factory.mktemp("prefect")
    (home / "sitecustomize.py").write_text(_EAVESDROPPER, encoding="utf-8")
    paths = [str(home), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {"PYTHONPATH": os.pathsep.join(paths), "HEARD": str(home / "heard")}
    settings = read_settings(home=home)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        server = start_prefect(settings, print)
    yield HeardPrefect(server, home / "heard", environment)
    stop_prefect(settings)
