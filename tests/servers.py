"""A real Label Studio for the tests that need one: started once a session, below the session's temporary folder."""

import os
from collections.abc import Iterator

import pytest

from annotation.label_studio import LabelStudio
from annotation.server import ServerInfo, start, stop


@pytest.fixture(scope="session")
def label_studio_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerInfo]:
    """The address, the token and the account of a Label Studio that the session ends with."""
    home = tmp_path_factory.mktemp("home")
    yield start(home, os.environ, timeout=600)
    stop(home)


@pytest.fixture
def label_studio(label_studio_server: ServerInfo) -> Iterator[LabelStudio]:
    """The adapter, signed in at the session's Label Studio."""
    with LabelStudio(label_studio_server.url, label_studio_server.token) as adapter:
        yield adapter
